"""The content of a picture: bodies, markers, lines and dots with their colours, and the camera.

The content consists of plain arrays and colours, and pages are made from it without OpenGL. Balls, rods and arrows are
computed here in float64, since pyvista's are float32 and inexact at the scales 1e-9 and 1e6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from gjk3d.bodies.compound import Compound, PointCloud
from gjk3d.bodies.topology import edges_of, merged_places
from gjk3d.errors import Gjk3dError, ShapeError
from gjk3d.geometry.polygon import connected
from gjk3d.results import Distance
from gjk3d.shapes import measure
from gjk3d.shapes.base import number, vector
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Ints
from gjk3d.viz.colors import (
    COLORS,
    INK,
    PALE,
    PALETTE,
    TRANSPARENT,
    check_color,
    darker,
    is_dark,
)
from gjk3d.wording import expected_names, kind_of

# --- triangles -------------------------------------------------------------------------------------------------------


#: Segments of a full turn of curved shapes.
RESOLUTION = 96
#: Greatest number of faces of a hull that is drawn exactly. Others are drawn by support points in some directions.
MAX_FACES = 150_000
#: Greatest number of balls of a point cloud that are drawn as balls. Larger clouds are drawn as dots.
MOST_BALLS = 1500
#: Segments of each of many balls: the fewest for which neighbouring faces are shaded smoothly, without edges.
_SMALL = 22
_MANY_PARTS = 50  #: greatest number of parts of a compound with fine curved surfaces
#: Corners of a box, with the last axis fastest, and its faces.
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX_FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                   [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


class Solid(NamedTuple):
    """The vertices and triangles of a solid. Without faces, the vertices are the ends of a segment, or a point."""

    vertices: Array
    faces: Ints


def surface_of(x: Any, resolution: int = RESOLUTION) -> tuple[Array, Ints]:
    """Return a solid's vertices and faces in its local frame. Raise TypeError for objects without a surface."""
    if isinstance(x, PointCloud):
        points = np.asarray(x.points)
        if x.radius <= 0.0:
            return points, np.zeros((0, 3), dtype=np.int64)
        return ball(points, x.radius, _SMALL if len(points) > 200 else 32)
    if not hasattr(x, "surface"):
        if hasattr(x, "regular_faces"):  # PolyData
            surface = x.triangulate()
            return np.asarray(surface.points, dtype=np.float64), np.asarray(surface.regular_faces, dtype=np.int64)
        if hasattr(x, "vertices") and hasattr(x, "faces"):
            return np.asarray(x.vertices, dtype=np.float64), np.asarray(x.faces, dtype=np.int64)
        raise TypeError(f"the object is {kind_of(x)}, expected a shape, a Mesh, a Surface or PolyData")
    if isinstance(x, Compound) and len(x.parts) > _MANY_PARTS:
        resolution = min(resolution, _SMALL)
    try:
        surface = x.surface(resolution)
        if len(surface.faces) > MAX_FACES and hasattr(x, "support"):
            surface = ConvexHull(x.support(measure.sphere(1.0, RESOLUTION).vertices)).surface()
    except Gjk3dError as error:
        raise TypeError(f"{x!r} cannot be drawn: {error}") from error
    return surface.vertices, surface.faces


def solid_surface(x: Any) -> tuple[Array, Ints]:
    """Return the surface of a body in a result. A cloud that is drawn as dots becomes small octahedra."""
    if not is_dots(x):
        return surface_of(x)
    points = np.asarray(x.points)
    radius = x.radius or 0.004 * float(np.linalg.norm(np.ptp(points, axis=0)))
    return ball(points, radius, 4) if radius > 0.0 else (points[:1], surface_of(x)[1])


def is_dots(x: Any) -> bool:
    """Return whether an object is a point cloud that is drawn as dots, since its radius is 0 or it has many points."""
    return isinstance(x, PointCloud) and (x.radius <= 0.0 or len(x.points) > MOST_BALLS)


def repeated(faces: Ints, copies: int, vertices: int) -> Ints:
    """Return the faces of ``copies`` equal bodies, body by body. Each body has ``vertices`` vertices."""
    every: Ints = (faces + vertices * np.arange(copies)[:, None, None]).reshape(-1, 3)
    return every


def ball(center: Array, radius: float, resolution: int = 40) -> Solid:
    """Return a ball at a point, or balls at (k, 3) points."""
    unit, points = measure.sphere(radius, resolution), np.reshape(center, (-1, 3))
    vertices = (points[:, None] + unit.vertices).reshape(-1, 3)
    return Solid(vertices, repeated(unit.faces, len(points), len(unit.vertices)))


def slab(point: Array, normal: Array, center: Array, half: float, thick: float) -> Solid:
    """Return a square slab of width ``2 * half`` and thickness ``thick * half``.

    Its top is in the plane through ``point`` with the unit normal ``normal``. The middle of the top is ``center``,
    projected onto this plane.
    """
    axes = np.array([*across(normal), normal])
    top = center + float(normal @ (point - center)) * normal
    return Solid(top + half * (CORNERS * (1.0, 1.0, thick / 2) - (0.0, 0.0, thick / 2)) @ axes, BOX_FACES)


def rod(start: Array, end: Array, radius: float, resolution: int = 32) -> Solid:
    """Return the triangles of a round bar between two points, or of k bars between k pairs of points."""
    return turned(measure.cylinder(1.0, 1.0, resolution), start, end, radius)


def arrow(start: Array, direction: Array, length: float, thickness: float) -> list[Solid]:
    """Return the shaft and the head of an arrow, or of arrows from (k, 3) points.

    The direction is a unit vector. The thickness is the radius of the shaft.
    """
    end = start + length * direction
    neck = end - min(6.0 * thickness, 0.5 * length) * direction
    return [rod(start, neck, thickness), turned(measure.cone(1.0, 1.0, 40), neck, end, 2.3 * thickness)]


def box_lines(corners: Array) -> Array:
    """Return the 12 edges of each of n boxes as segments, (12 n, 2, 3). The corners are in the order of `CORNERS`."""
    pairs = [(i, i | 1 << bit) for bit in range(3) for i in range(8) if not i >> bit & 1]
    return np.asarray(corners).reshape(-1, 8, 3)[:, np.array(pairs)].reshape(-1, 2, 3)


def joined(solids: Sequence[tuple[Array, Ints]]) -> Solid:
    """Return the triangles of several solids as one solid."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in solids)])
    faces = [faces + start for (_, faces), start in zip(solids, starts, strict=False)]
    points = np.concatenate([np.zeros((0, 3)), *(vertices for vertices, _ in solids)])
    return Solid(points, np.concatenate([np.zeros((0, 3), dtype=np.int64), *faces]))


def turned(surface: measure.Surface, start: Array, end: Array, radius: float) -> Solid:
    """Return a solid of revolution between two points, or a solid between each of k pairs of points.

    ``surface`` is the same solid with height 1 and radius 1 around the z axis.
    """
    start, end = np.reshape(start, (-1, 3)), np.reshape(end, (-1, 3))
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    first, second = across((end - start) / np.where(length > 0.0, length, 1.0))
    frames = np.stack([radius * first, radius * second, end - start], axis=1)
    vertices = ((start + end) / 2)[:, None] + surface.vertices @ frames
    return Solid(vertices.reshape(-1, 3), repeated(surface.faces, len(start), len(surface.vertices)))


def across(axis: Array) -> tuple[Array, Array]:
    """Return two unit vectors that are orthogonal to ``axis`` and to each other, as rows (k, 3) for k axes."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=-1)])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    return side, np.cross(axis, side)


def is_sheet(vertices: Array, faces: Ints) -> bool:
    """Return whether a surface does not enclose a volume, like the two coincident sides of a flat body."""
    a, b, c = (vertices[faces[:, k]] - vertices[0] for k in range(3))
    areas = np.cross(b - a, c - a)
    most = 1e-9 * float(np.abs(areas).sum())
    return bool(0.0 < most >= np.abs(areas.sum(axis=0)).max() and abs(np.vdot(a, areas)) <= most * np.abs(a).max())


#: Faces with a smaller angle between their normals, in degrees, belong to one smooth patch.
CREASE = 18.0


class Shaded(NamedTuple):
    """A mesh whose vertices are duplicated along its sharp edges."""

    vertices: Array
    normals: Array
    faces: Ints
    edges: Array  #: (k, 2, 3), sharp and open edges


def shade(vertices: Array, faces: Ints, copies: int = 1) -> Shaded:
    """Return a mesh split into smooth patches, each with separate normals.

    The mesh consists of ``copies`` bodies with equal faces, one after another. The sharp edges of the largest body are
    used for all bodies.
    """
    every = np.reshape(vertices, (copies, -1, 3)).astype(np.float64, copy=False)
    sizes = np.ptp(every, axis=1).max(axis=1) if every.size else np.ones(copies)
    chief = int(np.argmax(sizes))
    mesh = edges_of(merged_places(every[chief]), faces[: len(faces) // copies])
    corners = mesh.corners
    points = np.empty((copies, mesh.places.max() + 1 if len(mesh.places) else 0, 3))
    points[:, mesh.places] = every
    unit = (points - points[:, :1]) / np.where(sizes > 0.0, sizes, 1.0)[:, None, None]  # no underflow at any scale
    a, b, c = (unit[:, corners[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    lengths = np.linalg.norm(areas[chief], axis=1)
    normals = areas[chief] / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    owner = np.argsort(mesh.numbers, axis=None, kind="stable") // 3  # the triangles at each edge, sorted by edges
    count = np.bincount(mesh.numbers.ravel(), minlength=len(mesh.ends))
    begin = np.cumsum(count) - count
    first, second = owner[begin], owner[begin + count - 1]
    smooth = (count == 2) & (np.einsum("ij,ij->i", normals[first], normals[second]) > np.cos(np.radians(CREASE)))
    shown = (count <= 2) & ~smooth
    # an edge of more than two triangles, as on a flat body with two sides, is shown unless all are in one plane
    for k in np.flatnonzero(count > 2):
        fan = normals[owner[begin[k] : begin[k] + count[k]]]
        shown[k] = np.ptp(np.abs(fan @ fan[0])) > 1e-3
    patch = connected(first[smooth], second[smooth], len(corners))
    keys, split = np.unique(corners.ravel() * (len(corners) + 1) + np.repeat(patch, 3), return_inverse=True)
    around = coo_array((np.ones(split.size), (split.ravel(), np.repeat(np.arange(len(corners)), 3))),
                       shape=(len(keys), len(corners))).tocsr()  # fmt: skip
    sums = (around @ np.moveaxis(areas, 0, 1).reshape(len(corners), 3 * copies)).reshape(len(keys), copies, 3)
    sums = np.moveaxis(sums, 1, 0).reshape(-1, 3)
    norm = np.linalg.norm(sums, axis=1)
    sums[norm == 0.0] = (0.0, 0.0, 1.0)
    sums /= np.where(norm > 0.0, norm, 1.0)[:, None]
    doubled, sharp = points[:, keys // (len(corners) + 1)].reshape(-1, 3), points[:, mesh.ends[shown]].reshape(-1, 2, 3)
    return Shaded(doubled, sums, repeated(split.reshape(-1, 3), copies, len(keys)), sharp)


COMMON = "#D6408F"  #: colour of the overlap volume


# --- drawings --------------------------------------------------------------------------------------------------------


#: The look of an item: a solid with sharp edges and an outline, a solid of an opaque model without an outline, a marker
#: that shows through everything, a marker among the bodies, line segments (vertices are ends in pairs), dots, or a
#: surface with a colour at each vertex.
BODY, MODEL, MARK, PART, LINES, DOTS, FIELD = "body", "model", "mark", "part", "lines", "dots", "field"


@dataclass(frozen=True, slots=True)
class Style:
    """The options of a picture that apply to every kind of object."""

    pose: Any = None  #: a pose or a stack, for an object without a pose
    colors: tuple[str, ...] | None = None  #: None for the colours of the kind
    opacity: float | tuple[float, ...] | None = None  #: None for the opacity of the kind
    names: tuple[str, ...] | None = None
    palette: tuple[str, ...] = PALETTE  #: colours of bodies in turn, first those that the plotter does not contain yet

    def color(self, k: int, default: Sequence[str] = ()) -> str:
        """Return the colour of the k-th body from ``colors``, or else from ``default``, or else from the palette."""
        colors = self.colors or (default if default != COLORS else ()) or self.palette
        return colors[k % len(colors)]

    def alpha(self, k: int, default: float) -> float:
        """Return the opacity of the k-th body from ``opacity``, or ``default``."""
        every = np.atleast_1d(default if self.opacity is None else self.opacity)
        return float(every[k % len(every)])

    def name(self, k: int, default: str) -> str:
        """Return the name of the k-th body from ``names``, or ``default``."""
        return self.names[k] if self.names is not None and k < len(self.names) else default


@dataclass(frozen=True, slots=True)
class Item:
    """A body, marker, set of lines or set of dots in a drawing."""

    vertices: Array
    faces: Ints
    color: str
    opacity: float = 1.0
    look: str = BODY
    width: float = 1.6  #: width of lines and dots, in pixels
    framed: bool = True  #: whether the camera has to show it
    outline: bool = False  #: whether a body has an outline
    even: bool = False  #: whether a transparent body is lit evenly and without edges
    name: str = ""
    parts: tuple[tuple[str, int], ...] = ()  #: names and numbers of faces of joined bodies
    copies: int = 1  #: number of equal bodies, one after another in vertices and faces
    colors: Array | None = None  #: colours of the vertices, (n, 3) uint8
    slab: float | None = None  #: thickness of a half-space; its vertices are a point on the plane and a point above it

    def moved(self, pose: Array, **more: Any) -> Item:
        """Return the item at a pose, (4, 4) float, with the fields in ``more`` changed."""
        return replace(self, vertices=self.vertices @ pose[:3, :3].T + pose[:3, 3], **more)


class Label(NamedTuple):
    """A text next to a point of the world."""

    point: Array
    text: str
    color: str = INK
    free: Array | Sequence[Array] = ()  #: points that the text should not hide


ANGLE = 30.0  #: vertical angle of view, in degrees


class Camera(NamedTuple):
    """A camera: the point that it looks at, its position ``eye``, its up direction and its vertical angle of view."""

    center: Array
    eye: Array
    up: Array
    angle: float = ANGLE


class Steps(NamedTuple):
    """Several drawings that are shown one at a time. The keys n and p show the next and the previous drawing."""

    total: int
    at: int
    make: Callable[[int], Drawing]


@dataclass
class Drawing:
    """Items, captions, legend, labels and the view of a picture."""

    items: list[Item] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)  #: text and colour of each legend entry
    labels: list[Label] = field(default_factory=list)
    view: Array | None = None  #: direction from the middle to the eye
    up: Array | None = None  #: direction that is up in the picture, None for z
    focus: tuple[Array, float] | None = None  #: centre and radius of the ball to show, None for everything
    camera: Camera | None = None  #: exact camera, None to derive it from the view
    steps: Steps | None = None
    sorted: bool = False  #: whether transparent bodies are sorted from far to near
    headline: str = ""  #: the caption of a result of a pair
    aimed: bool = False  #: whether the caller chose ``focus``
    background: str | None = None  #: colour, "transparent", or None for the usual background
    ink: str = INK  #: colour of captions

    def body(self, vertices: Any, faces: Any, color: str, opacity: float = 1.0, *, key: str = "", **more: Any) -> None:
        """Add a solid and its legend entry ``key``. Without faces the vertices are a point, or the ends of a segment.

        ``more`` are other fields of `Item`.
        """
        corners = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        self.items.append(Item(np.asarray(vertices, dtype=np.float64), corners, color, opacity, **more))
        if key:
            self.key(key, color)

    def marks(self, solids: Any, color: str, **more: Any) -> None:
        """Add markers, each a pair of vertices and faces. They are drawn over all bodies, except with ``look=PART``."""
        for vertices, faces in solids:
            self.body(vertices, faces, color, **{"look": MARK, **more})

    def balls(self, points: Any, radius: float, color: str, resolution: int = 40, **more: Any) -> None:
        """Add balls of one size at (k, 3) points as markers."""
        copies = np.size(points) // 3
        if copies:
            self.marks([ball(points, radius, resolution)], color, copies=copies, **more)

    def rods(self, starts: Any, ends: Any, radius: float, color: str, resolution: int = 32, **more: Any) -> None:
        """Add round bars between k pairs of points, (k, 3) each, as markers. Bars of length 0 are left out."""
        starts, ends = np.reshape(starts, (-1, 3)), np.reshape(ends, (-1, 3))
        long = (starts != ends).any(axis=1)
        if long.any():
            solid = rod(starts[long], ends[long], radius, resolution)
            self.marks([solid], color, copies=int(long.sum()), **more)

    def arrows(self, starts: Any, directions: Any, length: float, thickness: float, color: str, **more: Any) -> None:
        """Add arrows from (k, 3) points along unit vectors. The thickness is the radius of the shaft."""
        copies, name = np.size(starts) // 3, more.pop("name", "")
        if copies:
            shaft, head = arrow(starts, directions, length, thickness)
            self.marks([shaft], color, copies=copies, name=name, **more)
            self.marks([head], color, copies=copies, name=name and f"{name} head", **more)

    def ends(
        self, a: Any, b: Any, size: float, colors: Sequence[str], bar: str | None = INK,
        names: Sequence[str] = ("point_a", "point_b", "gap"), **more: Any,
    ) -> None:  # fmt: skip
        """Add balls at two points, in darker shades of ``colors``, and a bar of the colour ``bar`` between them.

        ``size`` determines the radii. ``names`` has the names of both balls and of the bar.
        """
        gap = float(np.linalg.norm(b - a))
        if bar is not None:
            self.rods(a, b, 0.005 * size, bar, name=names[2], **more)
        for point, color, name in zip((a, b), colors, names[:2], strict=True):
            self.balls(point, min(0.022 * size, max(0.2 * gap, 0.012 * size)), darker(color), 24, name=name, **more)

    def lines(self, ends: Any, color: str, **more: Any) -> None:
        """Add line segments, (k, 2, 3) float."""
        if np.size(ends):
            self.body(np.reshape(ends, (-1, 3)), (), color, look=LINES, **more)

    def dots(self, points: Any, color: str, **more: Any) -> None:
        """Add points drawn as dots, (n, 3) float."""
        self.body(np.reshape(points, (-1, 3)), (), color, look=DOTS, **more)

    def label(self, point: Array, text: str, color: str = INK, free: Array | Sequence[Array] = ()) -> None:
        """Add a text next to a point. The text should not hide the points ``free``."""
        self.labels.append(Label(point, text, color, free))

    def key(self, text: str, color: str) -> None:
        """Add a text and its colour to the legend, unless the legend has this entry."""
        if (text, color) not in self.keys:
            self.keys.append((text, color))

    def take(self, drawing: Drawing) -> None:
        """Add the items, captions, labels and legend of another drawing, and its up direction if there is none yet."""
        self.items += drawing.items
        self.words += drawing.words
        self.labels += drawing.labels
        self.up = drawing.up if self.up is None else self.up
        for text, color in drawing.keys:
            self.key(text, color)

    def join(self, drawing: Drawing) -> None:
        """Add another drawing to the panel. The bodies A and B of a second pair are renamed to C and D.

        The camera shows both drawings, unless the caller has chosen its focus.
        """
        if self.items:
            for each in (self, drawing):
                if not each.keys and each.words and each.items:
                    each.key(each.words[0], each.items[-1].color)
            _name_pairs(self, drawing)
        first = not self.items
        self.take(drawing)
        if first or drawing.aimed:
            self.focus, self.camera = drawing.focus, drawing.camera
        elif not self.aimed:
            self.focus = self.camera = None
        self.aimed |= drawing.aimed
        self.view = self.view if drawing.view is None else drawing.view
        self.up = self.up if drawing.up is None else drawing.up
        self.steps, self.headline = drawing.steps, self.headline or drawing.headline

    def recolor(self, old: str, new: str) -> None:
        """Replace a colour of items, legend and text."""
        self.items = [replace(item, color=new) if item.color == old else item for item in self.items]
        self.keys = [(text, new if color == old else color) for text, color in self.keys]
        self.labels = [label._replace(color=new) if label.color == old else label for label in self.labels]
        self.ink = new if self.ink == old else self.ink

    @property
    def framed(self) -> Array:
        """The points that the camera has to show."""
        return np.concatenate([np.zeros((0, 3)), *(item.vertices for item in self.items if item.framed)])

    @property
    def ball(self) -> tuple[Array, float]:
        """The centre and the radius of the ball that the camera shows."""
        return self.focus or ball_of(self.framed)


_PAIR = re.compile("^[A-Z](?=  )")  #: the letter of a body in the legend of a pair


def _name_pairs(drawn: Drawing, drawing: Drawing) -> None:
    """Rename A and B in ``drawing`` to the next letters, so that the second pair in a panel is C and D."""
    letters = [text[0] for text, _ in drawn.keys if _PAIR.match(text)]
    if not drawing.headline or len(letters) < 2 or len(letters) > 24:
        return
    if drawn.headline in drawn.words:
        at = drawn.words.index(drawn.headline)
        drawn.words[at] = f"A and B: {drawn.headline[:1].lower()}{drawn.headline[1:]}"
    pair = dict(zip("AB", (chr(65 + len(letters)), chr(66 + len(letters))), strict=True))
    at = drawing.words.index(drawing.headline)
    drawing.words[at] = f"{pair['A']} and {pair['B']}: {drawing.headline[:1].lower()}{drawing.headline[1:]}"

    def renamed(text: str) -> str:
        if _PAIR.match(text):
            return pair[text[0]] + text[1:]
        return re.sub(r"\b[AB]\b", lambda found: pair[found[0]], text)

    drawing.keys = [(renamed(text), color) for text, color in drawing.keys]


def ball_of(points: Array) -> tuple[Array, float]:
    """Return the centre and radius of a ball around points. It has the centre of their box, and a radius above 0."""
    if not len(points):
        return np.zeros(3), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    center = low + (high - low) / 2
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return center, radius or max(1.0, float(np.abs(center).max())) * 1e-3


# --- bodies and camera -----------------------------------------------------------------------------------------------


UP = np.array([0.0, 0.0, 1.0])
#: Default direction to the camera: from the front, a little from the right and from above.
VIEW = np.array([0.42, -0.80, 0.43]) / np.linalg.norm([0.42, -0.80, 0.43])
#: Largest size of the picture relative to the smaller body. Beyond it, part of the larger body is not shown.
_ZOOM = 5.0


class Layout(NamedTuple):
    """The two bodies of a result, and the view of them."""

    bodies: tuple[Solid, Solid]  #: in world axes, without vertices for a half-space
    center: Array  #: centre of the ball that is shown
    radius: float
    view: Array  #: unit vector from the centre to the camera


def lay_out(result: Distance) -> Layout:
    """Return the bodies of a result in world axes and a view of them. Raise TypeError for a result of many pairs."""
    if result.normal.ndim == 2:
        raise TypeError(f"the result has {len(result)} pairs, expected one pair. Draw one row, for example result[0]")
    sides = ((result.shape_a, result.pose_a), (result.shape_b, result.pose_b))
    none = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    a, b = (placed(*(none if isinstance(s, Halfspace) else solid_surface(s)), p) for s, p in sides)
    center, radius = _focus([a.vertices, b.vertices], result)
    return Layout((a, b), center, radius, side_view(np.asarray(result.normal)))


def placed(vertices: Array, faces: Any, pose: Array | None) -> Solid:
    """Return a surface in world axes, at a pose or at each pose of a stack."""
    points, faces = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    if pose is None:
        return Solid(points, faces)
    poses = np.reshape(pose, (-1, 4, 4))
    moved = points @ np.swapaxes(poses[:, :3, :3], 1, 2) + poses[:, None, :3, 3]
    return Solid(moved.reshape(-1, 3), repeated(faces, len(poses), len(points)))


def half_space(shape: Halfspace, pose: Array | None, color: str, opacity: float, **more: Any) -> Item:
    """Return an item for a half-space. `ready` gives the item its size, which depends on the picture."""
    thick = 0.04 if shape._sides == 1.0 else 0.0
    ends = np.outer([shape.offset, shape.offset + 1.0], shape.normal)
    return Item(*placed(ends, (), pose), color, opacity, framed=False, slab=thick, **more)


def _focus(bodies: list[Array], result: Distance) -> tuple[Array, float]:
    """Return the centre and radius of the ball to show: around both bodies, or near the smaller one if it is tiny."""
    witness = np.array([result.point_a, result.point_b])
    ball = ball_of(np.concatenate([*bodies, witness]))
    sizes = [0.5 * float(np.ptp(points, axis=0).max()) for points in bodies if len(points)]
    if len(sizes) == 2:
        small = int(np.argmin(sizes))
        room = _ZOOM * sizes[small] if sizes[small] > 1e-3 * max(sizes) else 0.1 * max(sizes)  # a point has no size
        limit = max(room, 1.5 * float(np.linalg.norm(witness[1] - witness[0])))
        if ball[1] > limit > 0.0:
            return ball_of(np.concatenate([bodies[small], witness]))[0], limit
    return ball


def direction(value: Any, what: str) -> Array:
    """Return a value as a unit vector. Errors call the value ``what``."""
    direction_vector = vector(value, what)
    length = float(np.linalg.norm(direction_vector))
    if length == 0.0:
        raise ShapeError(f"{what} is (0, 0, 0), expected a direction such as (1, -2, 1)")
    return direction_vector / length


def upright(up: Array) -> Array:
    """Return the rotation, (3, 3), that turns a view with z up to one with y up. It is the identity if ``up`` is z."""
    if up[2] > 0.5:
        return np.eye(3)
    return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # y is up, as in glTF, and z to the camera


def side_view(n: Array) -> Array:
    """Return the direction to a camera that sees a unit vector from its side, and a little from above."""
    if abs(n[2]) > 0.9:  # n is along z, so the view is from the front
        side = np.array([0.35, -1.0, 0.0])
    else:
        side = np.cross(n, UP)
        side *= 1.0 if side[1] <= 0.0 else -1.0  # from the front rather than from behind
        side += 0.35 * np.linalg.norm(side) * n
    side -= (side @ UP) * UP
    view = side / np.linalg.norm(side) + 0.42 * UP
    return np.asarray(view / np.linalg.norm(view))


def stand_back(points: Array, center: Array, radius: float, view: Array, up: Array) -> tuple[Array, Array]:
    """Return the target and position of the nearest camera whose 4:3 picture shows all points that are in a ball."""
    right = np.cross(up, view)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(view, right), view])
    local = (points - center) @ axes.T / radius
    length = np.linalg.norm(local, axis=1)
    local /= np.maximum(length, 1.0)[:, None]  # points outside the ball may be outside the picture
    half = np.tan(np.radians(ANGLE / 2))
    plus, minus = half * np.array([1.2, 0.70]), half * np.array([1.2, 0.90])  # sideways, up, down: captions are above
    # the tightest pyramid around the points: opposite sides determine its axis, the wider pair of sides the distance
    high = (local[:, :2] + plus * local[:, 2:]).max(axis=0)
    low = (local[:, :2] - minus * local[:, 2:]).min(axis=0)
    away = max(float(((high - low) / (plus + minus)).max()), 1.0)
    middle = center + radius * (axes[:2].T @ ((high - plus * away + low + minus * away) / 2))
    return middle, middle + radius * away * view


def ready(items: list[Item], center: Array, size: float) -> list[Item]:
    """Return the items, with points, segments and half-spaces replaced by solids.

    The sizes of these solids fit the ball that the camera shows, with the given centre and the radius ``size``.
    """
    out = []
    for item in items:
        if item.look in (BODY, MODEL) and not len(item.faces):
            every = item.vertices.reshape(item.copies, -1, 3)
            first, last, form = every[:, 0], every[:, -1], MODEL
            if item.slab is not None:
                solid, form = slab(first[0], last[0] - first[0], center, 1.4 * size, item.slab), BODY
            else:
                solid = ball(first, 0.03 * size) if every.shape[1] == 1 else rod(first, last, 0.015 * size)
            item = replace(item, vertices=solid[0], faces=solid[1], look=form)
        out.append(item)
    return out


def camera_at(center: Array, radius: float, view: Array, up: Array) -> Camera:
    """Return the camera for which a ball fills the height of the picture."""
    return Camera(center, center + radius / np.sin(np.radians(ANGLE / 2)) * view, up)


def camera_of(drawing: Drawing) -> Camera:
    """Return the camera of a drawing."""
    if drawing.camera is not None:
        return drawing.camera
    center, radius = drawing.ball
    points = drawing.framed
    up = UP if drawing.up is None else drawing.up
    view = upright(up) @ VIEW if drawing.view is None else drawing.view
    if abs(float(view @ up)) >= 0.99:
        up = upright(up) @ np.array([0.0, 1.0, 0.0])
    if not len(points):
        return camera_at(center, radius, view, up)
    return Camera(*stand_back(points, center, radius, view, up), up)


def models_of(result: Distance, models: tuple[Any, Any] | None) -> list[Solid | None]:
    """Return the two models whose hulls were compared, in world axes. A convex or missing model is None."""
    poses = (result.pose_a, result.pose_b)
    valid = models is None or (isinstance(models, (tuple, list)) and len(models) == 2)
    if not valid or not all(model is None or hasattr(model, "faces") for model in models or ()):
        raise TypeError(f"surfaces is {models!r:.80}, expected a pair, each a Mesh or None")
    return [
        None if model is None or getattr(model, "is_convex", False) else placed(model.vertices, model.faces, pose)
        for model, pose in zip(models or (None, None), poses, strict=True)
    ]


def kind(shape: Any) -> str:
    """Return the class name of a shape in lower case, for example "convex hull"."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in type(shape).__name__).strip()


def called(shape: Any) -> str:
    """Return the name of a shape, or its `kind` if it has no name."""
    name = getattr(shape, "name", None)
    return name if isinstance(name, str) and name else kind(shape)


# --- options of the camera and the background ------------------------------------------------------------------------


class Look(NamedTuple):
    """The options of a picture for its camera and its background."""

    view: Any = None
    up: Any = None
    focus: Any = None
    background: str | None = None


USUAL = Look()


#: Directions to the camera and up, by pyvista's name of the view.
_VIEWS = {
    "xy": ((0, 0, 1), (0, 1, 0)),
    "xz": ((0, -1, 0), (0, 0, 1)),
    "yz": ((1, 0, 0), (0, 0, 1)),
    "yx": ((0, 0, -1), (1, 0, 0)),
    "zx": ((0, 1, 0), (1, 0, 0)),
    "zy": ((-1, 0, 0), (0, 1, 0)),
    "iso": ((1, 1, 1), (0, 0, 1)),
}


def aim_at(drawing: Drawing, look: Look) -> None:
    """Set the camera of a drawing from the options ``view``, ``up`` and ``focus`` of `show`."""
    view, up = look.view, look.up
    if isinstance(view, str):
        if view not in _VIEWS:
            raise ShapeError(f"view is {view!r}, {expected_names(view, _VIEWS)} A direction (x, y, z) is accepted too")
        view, default = _VIEWS[view]
        up = default if up is None else up
    if look.focus is not None:
        if not isinstance(look.focus, (tuple, list)) or len(look.focus) != 2:
            raise ShapeError(f"focus is {look.focus!r:.80}, expected a point and a radius, such as ((0, 0, 0), 1)")
        drawing.focus = vector(look.focus[0], "focus center"), number(look.focus[1], "focus radius")
        drawing.aimed = True
    drawing.view = drawing.view if view is None else direction(view, "view")
    drawing.up = drawing.up if up is None else direction(up, "up")
    given = look.up if look.view is not None and not isinstance(look.view, str) else None
    if given is not None and np.linalg.norm(np.cross(direction(look.view, "view"), direction(given, "up"))) < 1e-9:
        raise ShapeError(f"up is {given!r:.80}, which is parallel to view {look.view!r:.80}. Choose another up=")
    if any(value is not None for value in look[:3]):
        drawing.camera = None


def check_text(value: Any, option: str) -> None:
    """Raise TypeError for a value of ``option`` that is neither a text nor None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{option} is {value!r:.80}, expected a text")


def check_flag(value: Any, option: str) -> None:
    """Raise TypeError for a value of ``option`` that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{option} is {value!r:.80}, expected True or False")


def set_background(drawing: Drawing, background: str | None) -> None:
    """Set the background of a drawing. On a dark background, text and lines in the colour `INK` become light."""
    if background is None:
        return
    if background != TRANSPARENT:
        check_color(background, "background")
        if is_dark(background):
            drawing.recolor(INK, PALE)
    drawing.background = background
