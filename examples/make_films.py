"""Make a short film of GJK, EPA, separating axes and conservative advancement, for pages and talks."""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyvista
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont

import gjk3d as gk

FOLDER = Path(__file__).parent / "pictures"
ORANGE, GREEN, BLUE, RED, YELLOW, SKY, PINK, GREY, INK = (
    "#E69F00", "#009E73", "#0072B2", "#D55E00", "#F0E442", "#56B4E9", "#CC79A7", "#8FA3B0", "#222222",
)  # fmt: skip
WIDE, HIGH, TOP, FOOT = 900, 560, 44, 126  #: pixels of the film, of its title, and of the text below the views
RATE, GLIDE = 20, 0.75  #: pictures in a second of motion, and seconds of each motion
BALL, ROD = 0.05, 0.014
#: a tetrahedron and a box, placed apart for GJK and overlapping for EPA
TETRAHEDRON, BOX = gk.ConvexHull([(0, 0, 0), (1.6, 0, 0.2), (0.3, 1.5, 0), (0.4, 0.5, 1.4)]), gk.Box((1.2, 0.9, 0.8))
APART, DEEP = ((-1.4, -1.2, -1.3), (1.94, 1.26, 0.5)), ((1.1, 0.3, -0.5), (0.62, 0.13, 0.51))


# --- what is drawn ----------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A body, ball, rod, arrow, face or label. Two pieces with one name in successive beats are one moving piece."""

    kind: str
    points: np.ndarray
    color: str
    opacity: float = 1.0
    size: float = ROD
    text: str = ""
    body: object = None


class Beat(NamedTuple):
    """A sentence, the pieces of both views, bounds, and the time for which they are held."""

    text: str
    views: tuple
    bounds: tuple = (None, None)
    seconds: float = 2.0


def body(shape, color, opacity=0.35, at=(0, 0, 0)):
    """Return a shape, which moves with `at`."""
    return Piece("body", np.array([at], float), color, opacity, body=gk.viz.to_pyvista(shape))


def mover(shape, color, motion, time, opacity=0.45):
    """Return a shape at a time of its motion."""
    return Piece("mover", np.array([(time, 0, 0)], float), color, opacity, body=(shape, motion))


def ball(point, color, size=BALL):
    """Return a point."""
    return Piece("ball", np.array([point], float), color, size=size)


def rod(start, end, color, size=ROD, opacity=1.0):
    """Return a line."""
    return Piece("rod", np.array([start, end], float), color, opacity, size)


def arrow(start, along, color):
    """Return an arrow."""
    return Piece("arrow", np.array([start, np.add(start, along)], float), color)


def face(points, color, opacity=0.45):
    """Return a polygon."""
    return Piece("face", np.array(points, float), color, opacity)


def label(point, text, color=INK):
    """Return a word next to a point."""
    return Piece("label", np.array([point], float), color, text=text)


def between(before, after, t):
    """Return a piece on its way from one beat to the next. A piece that appears or ends grows or fades."""
    if before and after and before.points.shape == after.points.shape:
        points = (1 - t) * before.points + t * after.points
        opacity, size = ((1 - t) * x + t * y for x, y in ((before.opacity, after.opacity), (before.size, after.size)))
        return after._replace(points=points, opacity=opacity, size=size)
    piece, t = (after, t) if after else (before, 1 - t)
    grown = piece._replace(opacity=piece.opacity * t)
    if piece.kind in ("rod", "arrow"):
        return grown._replace(points=piece.points[0] + max(t, 0.02) * (piece.points - piece.points[0]))
    if piece.kind == "face":
        middle = piece.points.mean(axis=0)
        return grown._replace(points=middle + (0.4 + 0.6 * t) * (piece.points - middle))
    return grown._replace(size=piece.size * max(t, 0.02)) if piece.kind == "ball" else grown


# --- the film ---------------------------------------------------------------------------------------------------------


def mesh_of(piece):
    """Return the mesh of a piece."""
    if piece.kind == "body":
        return piece.body.translate(piece.points[0], inplace=False)
    if piece.kind == "mover":
        return gk.viz.to_pyvista(piece.body[0]).transform(piece.body[1].at(float(piece.points[0, 0])), inplace=False)
    if piece.kind == "ball":
        return pyvista.Sphere(radius=piece.size, center=piece.points[0], theta_resolution=24, phi_resolution=24)
    start, end = piece.points[0], piece.points[-1]
    length = float(np.linalg.norm(end - start))
    if piece.kind == "rod":
        return pyvista.Cylinder(
            center=(start + end) / 2, direction=end - start, radius=piece.size, height=max(length, 1e-6), resolution=20
        )
    if piece.kind == "arrow":
        tip = min(0.14, 0.5 * length)
        look = {"tip_length": tip / length, "tip_radius": 0.045 / length, "shaft_radius": 0.019 / length}
        return pyvista.Arrow(start=start, direction=end - start, scale=length, **look)
    return pyvista.PolyData(piece.points, [len(piece.points), *range(len(piece.points))])


def font(size, weight="normal"):
    """Return a font with mathematical signs."""
    return ImageFont.truetype(findfont(f"DejaVu Sans:weight={weight}"), size)


class Film:
    """A film of beats, in one or two views."""

    def __init__(self, title, headings, quantity, span):
        self.title, self.headings, self.quantity, self.span = title, headings, quantity, span
        self.plotter = gk.viz.plotter((1, len(headings)), (WIDE, HIGH - TOP - FOOT), off_screen=True)
        self.beats, self.images, self.times = [], [], []

    def aim(self, column, points, view, up=(0, 0, 1), zoom=1.0):
        """Aim the camera of a view so that it shows some points."""
        points = np.asarray(points, float)
        center = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = np.linalg.norm(points - center, axis=1).max()
        way = np.asarray(view, float) / np.linalg.norm(view)
        self.plotter.subplot(0, column)
        self.plotter.camera.view_angle = 24
        self.plotter.camera_position = [center + way * radius * zoom / np.sin(np.radians(12)), center, up]

    def add(self, text, *views, bounds=(None, None), seconds=2.0):
        """Add a beat."""
        self.beats.append(Beat(text, views, bounds, seconds))

    def shoot(self, views, text, bounds):
        """Return one picture."""
        for column, pieces in enumerate(views):
            self.plotter.subplot(0, column)
            self.plotter.renderer.RemoveAllViewProps()
            for piece in sorted(pieces, key=lambda piece: piece.kind == "face"):
                if piece.kind != "label":
                    self.draw(piece)
        self.plotter.render()
        drawn = Image.fromarray(self.plotter.screenshot(return_img=True))
        image = Image.new("RGB", (WIDE, HIGH), "white")
        image.paste(drawn, (0, TOP))
        brush = ImageDraw.Draw(image, "RGBA")
        for column, pieces in enumerate(views):
            self.write_labels(brush, column, [piece for piece in pieces if piece.kind == "label"])
        self.write_text(brush, text, bounds)
        return image

    def draw(self, piece):
        """Draw a piece, and the edges of a body or a face."""
        mesh, flat = mesh_of(piece), piece.kind == "face"
        look = {"color": piece.color, "reset_camera": False, "render": False}
        light = {
            "lighting": not flat,
            "ambient": 0.35,
            "diffuse": 0.75,
            "smooth_shading": piece.kind in ("ball", "rod"),
        }
        self.plotter.add_mesh(mesh, opacity=piece.opacity, **look, **light)
        if flat or piece.kind in ("body", "mover"):
            rim = pyvista.lines_from_points(piece.points[[*range(len(piece.points)), 0]]) if flat else None
            lines = rim if flat else mesh.extract_feature_edges(20)
            self.plotter.add_mesh(lines, opacity=min(1.0, 2 * piece.opacity), line_width=1.8, **look)

    def write_labels(self, brush, column, labels):
        """Write labels next to their points."""
        renderer = self.plotter.renderers[column]
        for piece in labels:
            renderer.SetWorldPoint(*piece.points[0], 1.0)
            renderer.WorldToDisplay()
            x, y, _ = renderer.GetDisplayPoint()
            place = x + 9, TOP + self.plotter.window_size[1] - y - 21
            shade = round(255 * piece.opacity)
            color = ImageDraw.ImageColor.getrgb(piece.color) + (shade,)
            brush.text(place, piece.text, color, font(15, "bold"), stroke_width=3, stroke_fill=(255, 255, 255, shade))

    def write_text(self, brush, text, bounds):
        """Write the title, the headings, the sentence and the bounds."""
        brush.text((WIDE / 2, TOP / 2), self.title, INK, font(21, "bold"), anchor="mm")
        for column, heading in enumerate(self.headings):
            brush.text((14 + column * WIDE / len(self.headings), TOP + 8), heading, "#5F6368", font(14))
        low = HIGH - FOOT
        rows, line = [], ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if brush.textlength(longer, font(20)) > WIDE - 60:
                rows.append(line)
                longer = word
            line = longer
        for k, row in enumerate([*rows, line]):
            brush.text((30, low + 12 + 29 * k), row, INK, font(20))
        if bounds[0] is not None:
            self.write_bounds(brush, bounds, HIGH - 34)

    def write_bounds(self, brush, bounds, y):
        """Draw the interval of the bounds on a line of numbers."""
        left, right = 300, WIDE - 40
        place = [left + (right - left) * (x - self.span[0]) / (self.span[1] - self.span[0]) for x in (0.0, *bounds)]
        zero, low, high = (min(max(x, left), right) for x in place)
        brush.line([(left, y), (right, y)], "#BDC1C6", 2)
        brush.line([(zero, y - 9), (zero, y + 9)], "#5F6368", 2)
        brush.text((zero, y + 11), "0", "#5F6368", font(13), anchor="ma")
        brush.rectangle([low - 1.5, y - 7, high + 1.5, y + 7], BLUE)
        brush.text((30, y), self.words(*bounds), INK, font(17, "bold"), anchor="lm")

    def words(self, low, high):
        """Return the bounds as text. A time that B is free until has no upper bound."""
        if high == np.inf:
            return f"{low:.3f} ≤ {self.quantity}"
        low, high = f"{low:.3f}", f"{high:.3f}"
        return (
            f"{self.quantity} = {high}"
            if low == high or "free" in self.quantity
            else f"{low} ≤ {self.quantity} ≤ {high}"
        )

    def save(self, path):
        """Draw all beats and the motions between them."""
        for k, beat in enumerate(self.beats):
            before = self.beats[k - 1] if k else beat
            moves = k > 0 and any(self.differs(*pair) for pair in zip(before.views, beat.views, strict=True))
            for i in range(1, round(RATE * GLIDE)) if moves else ():
                t = i / round(RATE * GLIDE)
                t = t * t * (3 - 2 * t)
                views = [self.mixed(first, second, t) for first, second in zip(before.views, beat.views, strict=True)]
                bounds = beat.bounds
                if None not in (*before.bounds, *beat.bounds):
                    bounds = tuple((1 - t) * x + t * y for x, y in zip(before.bounds, beat.bounds, strict=True))
                self.images.append(self.shoot(views, beat.text, bounds))
                self.times.append(round(1000 / RATE))
            self.images.append(self.shoot([list(view.values()) for view in beat.views], beat.text, beat.bounds))
            self.times.append(round(1000 * beat.seconds))
        self.plotter.close()
        options = {"save_all": True, "append_images": self.images[1:], "duration": self.times, "loop": 0}
        self.images[0].save(path, quality=80, method=4, **options)
        print(f"film: {path}, {sum(self.times) / 1000:.1f} s, {path.stat().st_size / 1000:.0f} kB", file=sys.stderr)

    @staticmethod
    def differs(before, after):
        """Return whether anything moves between two views."""
        return set(before) != set(after) or any(
            not np.array_equal(before[name].points, after[name].points) or before[name].opacity != after[name].opacity
            for name in before
        )

    @staticmethod
    def mixed(before, after, t):
        """Return the pieces at a moment between two beats."""
        return [between(before.get(name), after.get(name), t) for name in before | after]


# --- GJK and EPA ------------------------------------------------------------------------------------------------------


def pair(turn, at):
    """Return the pose of the box, and both shapes in the world with their difference."""
    pose = gk.Motion(None, at).at(1)
    pose[:3, :3] = rotation(turn)
    moved = gk.ConvexHull(BOX.vertices @ pose[:3, :3].T + pose[:3, 3])
    return pose, moved, gk.ConvexHull((TETRAHEDRON.vertices[:, None] - moved.vertices[None]).reshape(-1, 3))


def rotation(turn):
    """Return the matrix of a rotation vector."""
    angle = np.linalg.norm(turn)
    x, y, z = np.asarray(turn) / angle
    cross = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def still(moved, difference):
    """Return the pieces of every step: both shapes, their difference and the origin."""
    left = {"a": body(TETRAHEDRON, ORANGE), "b": body(moved, GREEN)}
    right = {"difference": body(difference, GREY, 0.2), "origin": ball((0, 0, 0), INK)}
    return left, right | {"origin name": label((0, 0, 0), "origin")}


def nearest(step):
    """Return the nearest points of a step in both views."""
    left = {"near a": ball(step.witness_a, ORANGE), "near b": ball(step.witness_b, GREEN)}
    left["gap"] = rod(step.witness_a, step.witness_b, INK)
    return left, {"v": ball(step.nearest, INK, 0.7 * BALL), "away": rod((0, 0, 0), step.nearest, INK)}


def query(step, name=""):
    """Return the pieces of a support query in both views."""
    d, size = step.direction, 0.55
    left = {"d": arrow(step.support_a, size * d, BLUE), "-d": arrow(step.support_b, -size * d, BLUE)}
    left |= {"p": ball(step.support_a, RED), "q": ball(step.support_b, RED)}
    right = {"d": arrow(step.point if step.nearest is None else step.nearest, size * d, BLUE)}
    point = name or step.point_name
    return left, right | {f"ball {point}": ball(step.point, RED), f"name {point}": label(step.point, point, "#A84B00")}


def plane(step):
    """Return a square of the plane at the support point, beyond which no point of A - B is."""
    d = step.direction
    u = np.cross(d, (0.3, 0.2, 1.0))
    u /= np.linalg.norm(u)
    v, foot = np.cross(d, u), d * (d @ step.point)
    return {"plane": face([foot + 1.1 * (x * u + y * v) for x, y in ((1, 1), (1, -1), (-1, -1), (-1, 1))], BLUE, 0.16)}


def simplex(names, points):
    """Return the pieces of a simplex."""
    out = {f"ball {name}": ball(p, "#A3608E") for name, p in zip(names, points, strict=True)}
    out |= {f"name {name}": label(p, name, "#7E4169") for name, p in zip(names, points, strict=True)}
    for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
        out[" ".join(sorted((names[i], names[j])))] = rod(points[i], points[j], PINK, 1.5 * ROD)
    if len(names) == 3:
        out["face " + " ".join(sorted(names))] = face(points, PINK, 0.5)
    return out


def gjk_film():
    """Return the film of GJK."""
    pose, moved, difference = pair(*APART)
    result = gk.distance(TETRAHEDRON, BOX, None, pose, trace=True)
    start, *steps, end = gk.viz.explain(result).steps
    film = Film(
        "GJK: the distance of two convex shapes", ["A and B", "A − B, all differences a − b"], "distance", (0, 1)
    )
    left, right = still(moved, difference)
    view = (0.95, -0.42, 0.6)
    film.aim(0, np.vstack([TETRAHEDRON.vertices, moved.vertices]), view)
    film.aim(1, np.vstack([difference.vertices, np.zeros((1, 3))]), view)
    text = "A − B is the set of all differences. Its distance from the origin is that of A and B."
    film.add(text, left, right, seconds=3.4)
    more = query(start)
    text = f"A’s point farthest along d, minus B’s along −d, is {start.point_name}, the farthest point of A − B."
    film.add(text, left | more[0], right | more[1], seconds=3.0)
    dropped, lower = (), 0.0
    for k, step in enumerate(steps):
        near, held = nearest(step), simplex(step.names, step.simplex)
        text = f"{step.names[0]} is the first corner. It is {step.upper:.3f} from the origin."
        if k:
            where = f"{('', 'corner', 'edge', 'triangle')[len(step.names)]} {' '.join(step.names)}"
            text = f"The origin is nearest to {where}" + (
                f", so GJK drops {' and '.join(dropped)}." if dropped else "."
            )
        film.add(text, left | near[0], right | held | near[1], bounds=(lower, step.upper), seconds=1.5)
        known, lower, dropped, more = lower, max(0.0, step.lower), step.dropped, query(step)
        text = f"From there towards the origin, A − B reaches {step.point_name}, no farther than the plane."
        if lower > known:
            text = f"No point of A − B is beyond the plane at {step.point_name}: the distance is at least {lower:.3f}."
        views = left | near[0] | more[0], right | more[1] | held | near[1] | plane(step)
        film.add(text, *views, bounds=(lower, step.upper), seconds=1.5 + (k == len(steps) - 1))
    left = left | nearest(end)[0]
    text = f"Both bounds agree. The distance is {result.distance:.3f}, with the nearest points of A and B."
    right = right | simplex(step.names, step.simplex) | nearest(end)[1]
    film.add(text, left, right, bounds=(result.distance, result.distance), seconds=3.5)
    return film


def polytope(step, removed=()):
    """Return the pieces of EPA's polytope. The face nearest to the origin is yellow, the faces to remove are orange."""
    out, names = {}, step.names
    for corners in step.faces:
        called = " ".join(sorted(names[i] for i in corners))
        near = set(corners) == set(step.closest)
        color, opacity = ((YELLOW, 0.85) if near else ("#F3B58A", 0.7)) if called in removed or near else (SKY, 0.28)
        out[f"face {called}"] = face(step.vertices[corners], color, opacity)
        for i, j in zip(corners, np.roll(corners, -1), strict=True):
            edge = " ".join(sorted((names[i], names[j])))
            out[edge] = rod(step.vertices[i], step.vertices[j], "#2E7FB0", 0.7 * ROD)
    for i in np.unique(step.faces):
        out |= {f"ball {names[i]}": ball(step.vertices[i], "#2E7FB0", 0.8 * BALL)}
        out |= {f"name {names[i]}": label(step.vertices[i], names[i], "#1F5C82")}
    return out


def epa_film():
    """Return the film of EPA."""
    pose, moved, difference = pair(*DEEP)
    result = gk.signed_distance(TETRAHEDRON, BOX, None, pose, trace=True, depth="epa")
    steps = [step for step in gk.viz.explain(result).steps if step.phase == "EPA"]
    film = Film("EPA: the depth of an overlap", ["A and B", "A − B contains the origin"], "depth", (0, 1))
    left, right = still(moved, difference)
    shift = result.depth * np.asarray(result.normal)
    film.aim(0, np.vstack([TETRAHEDRON.vertices, moved.vertices, moved.vertices + shift]), (0.9, -1.3, 0.7))
    film.aim(1, np.vstack([difference.vertices, np.zeros((1, 3))]), (0.9, -1.3, 0.7))
    blank = steps[0]._replace(closest=np.empty(0, np.int64))
    text = "GJK ends with a tetrahedron around the origin, so the shapes overlap. EPA finds the depth."
    film.add(text, left, right | polytope(blank), seconds=3.2)
    added, bounds = "", (0.0, np.inf)
    for step in steps:
        near, more = nearest(step), query(step)
        called = " ".join(step.names[i] for i in step.closest)
        distance = np.linalg.norm(step.nearest)
        text = f"New faces close the hole. The nearest is {called}." if added else f"Take the nearest face, {called}."
        text += f" It is {distance:.3f} from the origin."
        bounds = max(bounds[0], distance), bounds[1]
        film.add(text, left, right | polytope(step) | near[1], bounds=bounds, seconds=1.75)
        bounds, seen = (bounds[0], -step.lower), len(step.removed)
        removed = [" ".join(sorted(step.names[i] for i in corners)) for corners in step.removed]
        rim = {f"rim {i} {j}": rod(step.vertices[i], step.vertices[j], RED, 1.4 * ROD) for i, j in step.horizon}
        faces = "1 face" if seen == 1 else f"{seen} faces"
        text = f"Along its normal, A − B reaches {step.point_name}. It sees {faces}, inside the red horizon."
        if not seen:
            text = "Along its normal, no point of A − B is farther. The face is on the surface of A − B."
        views = left | more[0], right | polytope(step, removed) | near[1] | more[1] | rim
        film.add(text, *views, bounds=bounds, seconds=1.75)
        added = step.point_name
    depth = result.depth, result.depth
    text = f"Its distance, {result.depth:.3f}, is the depth. Its normal is the direction of separation."
    way = {"way": arrow(result.point_b, shift, RED)}
    film.add(text, left | way, right | polytope(step) | near[1], bounds=depth, seconds=2.2)
    left = left | way | {"b": body(moved, GREEN, at=shift)}
    right = right | {"difference": body(difference, GREY, 0.2, at=-shift)}
    text = "B moves by this depth along the normal. The origin is on the surface."
    film.add(text, left, right, bounds=depth, seconds=3.5)
    return film


# --- separating axes --------------------------------------------------------------------------------------------------


def shadow(a, b, axis, view):
    """Return the pieces of the projections of two shapes on an axis, which is drawn next to the shapes."""
    n = axis / np.linalg.norm(axis)
    side = np.cross(n, view)
    side /= np.linalg.norm(side)
    side = -side if side[2] > 0 else side
    place = lambda x: 1.75 * side + x * n  # noqa: E731
    ends = [(-(a.support(-n) @ n), a.support(n) @ n), (-(b.support(-n) @ n), b.support(n) @ n)]
    ends = [(-low, high) for low, high in ends]
    out = {"axis": rod(place(-1.9), place(2.6), GREY, 0.7 * ROD)}
    for name, color, shape, (low, high), lift in (("a", ORANGE, a, ends[0], 0.07), ("b", GREEN, b, ends[1], -0.07)):
        out[f"shadow {name}"] = rod(place(low) + lift * side, place(high) + lift * side, color, 3.2 * ROD)
        for end, d, x in (("low", -n, low), ("high", n, high)):
            out[f"{end} {name}"] = rod(shape.support(d), place(x) + lift * side, color, 0.35 * ROD, 0.6)
    return out, ends[0][1] - ends[1][0], ends[1][1] - ends[0][0]


def sat_film():
    """Return the film of the separating axis test for two boxes."""
    first = gk.ConvexHull(gk.Box((1.6, 1.1, 0.9)).vertices)
    turn = rotation((0.5, -0.4, 0.7))
    boxes = [
        gk.ConvexHull(gk.Box((1.2, 1.0, 0.9)).vertices @ turn.T + at) for at in ((2.15, 0.25, 0.2), (0.95, 0.5, 0.4))
    ]
    view = np.array([0.35, -1.0, 0.45])
    film = Film(
        "Separating axes: do two boxes overlap?",
        ["A, B and their shadows on an axis", "overlap of the shadows"],
        "depth",
        (0, 2.5),
    )
    film.aim(0, [(-1.6, 0, -2.1), (2.9, 0, 1.3)], view, zoom=1.0)
    film.aim(1, [(0, 0, 0), (8, 0, 2)], (0, -1, 0), zoom=0.86)
    far, near = ({"a": body(first, ORANGE), "b": body(each, GREEN)} for each in boxes)
    axes_a, axes_b = np.eye(3), turn.T
    pieces = shadow(first, boxes[0], axes_a[0], view)[0]
    text = "If the shadows on one axis have a gap, the shapes are apart."
    film.add(text, far | pieces, {}, seconds=3.6)
    crossed = [np.cross(x, y) for x in axes_a for y in axes_b]
    kinds = [
        (axes_a, "No gap here. Try the normals of the faces of A.", 0.7),
        (axes_b, "No gap yet. Try the normals of the faces of B.", 0.6),
        (crossed, "Try each edge of A crossed with each edge of B. These 15 axes suffice for boxes.", 0.25),
    ]
    least, best, bars, zero = np.inf, None, [], {"zero": rod((0, 0, 0), (8, 0, 0), GREY)}
    for (axes, text, seconds), color in zip(kinds, (ORANGE, GREEN, GREY), strict=True):
        for axis in axes:
            pieces, forth, back = shadow(first, boxes[1], axis, view)
            if min(forth, back) < least:
                least, best = min(forth, back), axis if forth < back else -np.asarray(axis)
            bars.append((0.25 + 0.53 * len(bars), min(forth, back), color))
            chart = zero | {f"bar {x}": rod((x, 0, 0), (x, 0, z), RED if z == least else c, 0.17) for x, z, c in bars}
            film.add(text, near | pieces, chart, bounds=(0.0, least), seconds=seconds)
    exact = gk.separating_axis(first, boxes[1])
    assert abs(exact.gap + least) < 1e-9
    n = best / np.linalg.norm(best)
    pieces = shadow(first, boxes[1], best, view)[0]
    text = f"No axis has a gap, so the boxes overlap. The least overlap, {least:.3f}, is the depth."
    film.add(text, near | pieces, chart, bounds=(least, least), seconds=3.2)
    moved = gk.ConvexHull(boxes[1].vertices + least * n)
    pieces = shadow(first, moved, best, view)[0]
    text = "B moves by this length along the axis. Then the boxes just touch."
    near = near | {"b": body(boxes[1], GREEN, at=least * n)}
    film.add(text, near | pieces, chart, bounds=(least, least), seconds=3.5)
    return film


# --- conservative advancement -----------------------------------------------------------------------------------------


def impact_film():
    """Return the film of conservative advancement, which finds the time of impact."""
    plate, dart = gk.Box((0.1, 1.7, 1.7)), gk.Box((0.9, 0.24, 0.24))
    travel, turn = np.array([4.2, 0.2, 0.1]), np.array([0.3, 0.4, 2.6])
    motion = gk.Motion(gk.Motion(None, (-2.1, -0.15, -0.1)).at(1), travel, turn)
    hit = gk.time_of_impact(plate, dart, None, motion)
    film = Film(
        "Conservative advancement: when does B hit A?", ["A is a thin plate, B flies and turns"], "free until t", (0, 1)
    )
    film.aim(0, [(-2.4, -0.9, -0.85), (2.4, 0.9, 0.85)], (-0.5, -1.0, 0.4), zoom=0.55)
    scene = {"a": body(plate, ORANGE, 0.5)}
    ghosts = {f"sample {k}": mover(dart, GREEN, motion, k / 3, 0.25) for k in range(4)}
    text = "Samples of the motion can jump over the plate: none of these four touches it."
    film.add(text, scene | ghosts, seconds=3.4)
    fastest = np.linalg.norm(travel) + np.linalg.norm(turn) * np.linalg.norm((0.45, 0.12, 0.12))
    text = f"No point of B moves farther than L = {fastest:.2f} in the time from 0 to 1."
    film.add(text, scene | {"b": mover(dart, GREEN, motion, 0.0)}, bounds=(0.0, 0.0), seconds=3.0)
    time, trail = 0.0, {}
    for k in range(6):
        apart = gk.distance(plate, dart, None, motion.at(time))
        line = {"gap": rod(apart.point_a, apart.point_b, INK, 1.5 * ROD), "p": ball(apart.point_a, ORANGE)}
        line |= {
            "q": ball(apart.point_b, GREEN),
            "g": label((apart.point_a + apart.point_b) / 2, f"{apart.distance:.3f}"),
        }
        gap, free = f"{apart.distance:.3f}", apart.distance / fastest
        text = f"GJK finds the gap {gap}. B cannot cross it in less than {gap} / L = {free:.3f}."
        if k > 1:
            text = f"The gap is {gap}, so B is free for another {free:.3f}."
        now = {"b": mover(dart, GREEN, motion, time)}
        film.add(text, scene | trail | now | line, bounds=(0.0, time), seconds=2.6 if k < 2 else 1.3)
        trail = trail | {f"ghost {k}": mover(dart, GREEN, motion, time, 0.12)}
        time += free
    assert time <= hit.time[1]
    text = f"The gaps shrink to 0: B touches A at t = {hit.time[1]:.3f}, and at no time before."
    now = {"b": mover(dart, GREEN, motion, hit.time[1]), "p": ball(hit.point_a, RED)}
    film.add(text, scene | trail | now, bounds=(0.0, hit.time[1]), seconds=4.0)
    return film


if __name__ == "__main__":
    films = {"gjk": gjk_film, "epa": epa_film, "sat": sat_film, "impact": impact_film}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*films, []], help="films to make, by default all")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the films")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or films:
        films[name]().save(arguments.out / f"film_{name}.webp")
