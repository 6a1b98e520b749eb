"""Drawings of scenes, assemblies of parts, and the clashes of a report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from gjk3d.clash.detection.assembly import Assembly, upward
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.parts import hex_of, order
from gjk3d.clash.report import Report, wording
from gjk3d.clash.report.baseline import converted
from gjk3d.errors import Gjk3dError, UnsupportedPair
from gjk3d.query.contact import Contact
from gjk3d.query.distance import signed_distance
from gjk3d.scene import Scene
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.colors import COLORS, GREY, INK, NORMAL, SEPARATION
from gjk3d.viz.drawing import (
    BOX_FACES,
    MODEL,
    Drawing,
    Item,
    Steps,
    Style,
    ball_of,
    box_lines,
    camera_at,
    joined,
    placed,
    upright,
)
from gjk3d.viz.image_files import telling
from gjk3d.viz.kinds.answers import add_common, label_depth
from gjk3d.viz.kinds.bodies import add, add_levels, check_level, extent_words
from gjk3d.wording import count, format_bounds, format_depth, nearest, number

#: Colour of free objects, and colour of colliding objects if most objects collide and the contacts are marked.
_FREE, _CROWD = "#9DB4C8", "#F2D3B3"
#: Greatest number of objects or parts with outlines. More are drawn as one item per colour.
_MOST_SINGLE = 40
#: Greatest number of pairs whose normals are drawn. With more pairs, only the contacts are marked.
_MOST_NORMALS = 60
#: Greatest numbers of objects with labels, and of parts in the legend.
_MOST_NAMES, _MOST_PARTS = 16, 8
#: Greatest number of pairs in the line about an object.
_MOST_LISTED = 4


def draw_scene(x: Scene, style: Style, *, margin: float = 0.0, contacts: bool = True) -> Drawing:
    """Draw a scene.

    Parameters
    ----------
    margin : float
        Pairs up to this distance apart count as colliding, as in `Scene.collisions`.
    contacts : bool
        Whether contact points and normals of these pairs are drawn. None are drawn if an object of the pairs is not
        convex.
    """
    wishes: dict[str, Any] = {"colors": style.colors, "opacity": style.opacity}
    for option, values in wishes.items():
        if np.size(values) > 2:
            rule = "expected at most 2: one for objects that collide and one for the others"
            raise ValueError(f"{option} has {np.size(values)} values, {rule}")
    drawing, names = Drawing(), x.names
    pairs = x.collisions(margin=margin)
    hit = {name for pair in pairs for name in pair}
    planes = [name for name in names if isinstance(x.shape(name), Halfspace)]
    single = len(names) <= _MOST_SINGLE
    contacts_found = _contacts(x, margin) if contacts and pairs else None
    crowded = not single and 3 * len(hit) > len(names) and contacts_found is not None
    usual = {True: _CROWD if crowded else SEPARATION, False: _FREE}
    # a single colour is that of the objects that collide
    wished = dict(zip((True, False), style.colors or (), strict=False))
    colors = usual | wished
    alphas = {True: style.alpha(0, 0.8 if single else 1.0), False: style.alpha(1, 0.35 if hit and not crowded else 1.0)}
    alike: dict[Any, list[str]] = {}  # equal objects of the same colour are drawn together
    for name in names:
        if name not in planes:
            alike.setdefault(name if single else (x.shape(name), name in hit), []).append(name)
    for members in telling("drawing group of objects", alike.values(), len(alike)):
        name, is_hit = members[0], members[0] in hit
        stack = np.array([x.pose(member) for member in members])
        add(drawing, x.shape(name), stack, colors[is_hit], alphas[is_hit], outline=single, name=name if single else "",
            resolution=96 if single else 32 if len(names) < 500 else 22)  # fmt: skip
        if not single and drawing.items:
            last = drawing.items[-1]
            parts = tuple((member, len(last.faces) // len(members)) for member in members)
            drawing.items[-1] = replace(last, parts=parts)
        if len(names) <= _MOST_NAMES and len(drawing.items):
            top = drawing.items[-1].vertices
            drawing.label(np.append(ball_of(top)[0][:2], top[:, 2].max()), name)
    if not single:
        drawing.items = merged(drawing.items)
    for name in planes:
        _add_plane(drawing, name, x.shape(name), x.pose(name), SEPARATION if name in hit else INK)
    if hit:
        drawing.key(f"within {number(margin)}" if margin > 0.0 else "collides", colors[True])
    if len(hit) < len(names):
        drawing.key("free", colors[False])
    if contacts_found is not None:
        _add_contacts(drawing, contacts_found)
    drawing.words = _scene_words(pairs, names, margin)
    return drawing


def merged(items: list[Item]) -> list[Item]:
    """Return items in which bodies of equal look, colour and opacity are joined."""
    # a plotter draws few large items far faster than many small ones
    groups: dict[Any, list[Item]] = {}
    for item in items:
        alike = item.color, item.opacity, item.look, item.framed, item.outline, item.width
        groups.setdefault(alike if item.copies == 1 and len(item.faces) else id(item), []).append(item)
    out = []
    for members in groups.values():
        vertices, faces = joined([(item.vertices, item.faces) for item in members])
        parts = tuple(part for item in members for part in item.parts or ((item.name, len(item.faces)),))
        out.append(replace(members[0], vertices=vertices, faces=faces, name="", parts=parts))
    return out


def _add_plane(drawing: Drawing, name: str, plane: Any, pose: Array, color: str) -> None:
    """Add a half-space and its label. The half-space is grey, so that objects on it remain visible."""
    center, radius = drawing.ball
    corner = center + 0.8 * radius * np.array([0.7, -0.7, 0.0])  # the corner nearest to the camera
    add(drawing, plane, pose, GREY, 1.0, name=name)
    normal = pose[:3, :3] @ plane.normal
    height = float(normal @ (corner - pose[:3, 3])) - plane.offset
    drawing.label(corner - height * normal, name, color)


def _contacts(x: Scene, margin: float) -> Contact[Array] | None:
    """Return the contacts of all pairs within the margin; None if there are none or an object is not convex."""
    try:
        result = x.contacts(within=max(margin, 0.0)).result
    except UnsupportedPair:
        return None
    return result if np.any(result.count) else None


def _add_contacts(drawing: Drawing, result: Contact[Array]) -> None:
    size, points = drawing.ball[1], result.points[result.count > 0]
    middles = np.nanmean(points, axis=1)
    if len(points) > _MOST_NORMALS:  # small balls with few faces
        drawing.balls(middles, 0.006 * size, SEPARATION, 12, framed=False, key="contacts")
    else:
        drawing.balls(points[~np.isnan(points)], 0.009 * size, INK, 24)
        key = "normals from the first name to the second"
        drawing.arrows(middles, result.normal[result.count > 0], 0.12 * size, 0.005 * size, NORMAL, key=key)
        drawing.key("contact points", INK)


#: Greatest number of pairs for which a page has depths.
_MOST_DEPTHS = 500


def facts_of(x: Scene, margin: float = 0.0) -> dict[str, str]:
    """Return a dictionary from the name of each object to one line of text.

    The line has the depths or gaps of the object's pairs within ``margin``, the worst pair first.
    """
    pairs, unit = x.collisions(margin=margin), x._objects.unit
    facts: dict[str, list[tuple[float, str]]] = {name: [] for name in x.names}
    for a, other in pairs:
        b = str(other)  # without a target, both are objects of the scene
        worst, text = 0.0, "collides"
        if len(pairs) <= _MOST_DEPTHS:
            result = signed_distance(x.shape(a), x.shape(b), x.pose(a), x.pose(b))
            worst, deep = float(result.lower), result.distance <= 0.0
            bounds = (format_depth if deep else format_bounds)(result.lower, result.upper, 4, unit)
            text = f"depth {bounds}" if deep else f"{bounds} apart"
        facts[a].append((worst, f"{text} with {b}"))
        facts[b].append((worst, f"{text} with {a}"))
    most = _MOST_LISTED
    return {
        name: ", ".join(text for _, text in sorted(rows)[:most])
        + (f" and {len(rows) - most} more" * (len(rows) > most))
        for name, rows in facts.items()
    }


def _scene_words(pairs: list[Any], names: list[str], margin: float) -> list[str]:
    among = f"among {count(len(names), 'object')}"
    if not pairs:
        return [f"No pair is within {number(margin)} {among}" if margin > 0.0 else f"Nothing collides {among}"]
    rows = sorted((sorted(pair, key=order) for pair in pairs), key=lambda pair: [order(name) for name in pair])
    listed = ", ".join(f"{a} – {b}" for a, b in rows[:4]) + (", …" if len(pairs) > 4 else "")
    single = len(pairs) == 1
    what = f"{'is' if single else 'are'} within {number(margin)}" if margin > 0.0 else f"collide{'s' * single}"
    return [f"{count(len(pairs), 'pair')} {what} {among}", listed]


def draw_assembly(
    x: Assembly, style: Style, *, hull: bool = False, bodies: bool = False, level: int | None = None
) -> Drawing:
    """Draw the parts of an assembly, or one model, in the colours of their files if the files have colours.

    Parameters
    ----------
    hull : bool
        Whether the transparent convex hull of each part is drawn.
    bodies : bool
        Whether each connected body of a part has a separate colour.
    level : int
        The level of each part's tree of boxes that is drawn. Level 0 is the box around the part.
    """
    if level is not None:
        check_level(level)
    drawing = Drawing(up=np.array(upward(x)))
    meshes = [(part.name, mesh, part.colour) for part in x.parts if (mesh := part.mesh) is not None]
    things = [
        (f"{name} {k + 1}" if len(pieces) > 1 else name, piece, () if bodies or colour is None else (hex_of(colour),))
        for name, mesh, colour in meshes
        for pieces in [mesh.bodies() if bodies else [mesh]]
        for k, piece in enumerate(pieces)
    ]
    for k, (name, mesh, colour) in enumerate(things):
        color = style.color(k, colour if level is None else (GREY,))
        add(drawing, mesh, None, color, style.alpha(k, 1.0), outline=False, name=name)
        if len(things) <= _MOST_PARTS and level is None:
            drawing.key(style.name(k, name), color)
    if len(things) > _MOST_SINGLE:
        drawing.items = merged(drawing.items)
    if hull:
        for k, (_, mesh, _) in enumerate(things):
            with suppress(Gjk3dError):  # a flat part does not have a hull
                add(drawing, mesh.hull(), None, style.color(k), 0.25, outline=len(things) <= _MOST_SINGLE)
    _assembly_words(drawing, x, len(meshes), len(things) if bodies else 0)
    if level is not None:
        before = len(drawing.words)
        for _, mesh, _ in meshes:
            add_levels(drawing, mesh, np.eye(4), level)
        if len(meshes) > 1:
            drawing.words[before:] = [f"level {level} of each part's tree"]
        drawing.items = merged(drawing.items)
    return drawing


def _assembly_words(drawing: Drawing, x: Assembly, parts: int, bodies: int) -> None:
    triangles = sum(len(part.shape.faces) for part in x.parts if part.shape is not None)
    words = [count(parts, "part")]
    if bodies:
        words.append("1 body" if bodies == 1 else f"{bodies} bodies")
    words.append(f"{triangles} triangles")
    points = drawing.framed
    if len(points):
        words.append(extent_words(np.ptp(points, axis=0), x.unit))
    drawing.words = [", ".join(words)]
    broken = sum(bool(part.reason) for part in x.parts)
    if broken:
        drawing.words.append(f"{count(broken, 'more part')} could not be read")


_WORDS = {
    "hard": "overlap",
    "contained": "one inside the other",
    "duplicate": "the same part twice",
    "unchecked": "undecided",
    "clearance": "too close",
    "touch": "touching",
}
#: Radius of a close-up, and of the largest picture that shows both parts, in radii of the smaller part.
_ROOM, _ROOM_OF_BOTH = 2.5, 3.5
#: Candidate directions to the camera around the up axis, from a little above.
_VIEWS = np.array([(np.sin(a), -np.cos(a), 0.45) for a in np.radians(28.0 + 45.0 * np.arange(8))]) / np.hypot(1.0, 0.45)


def draw_report(x: Report, style: Style, *, clash: int | str = 0, up: str = "") -> Drawing:
    """Draw a report of `gjk3d.clash.check`.

    Parameters
    ----------
    clash : int or str
        The clash to draw: its index in the list of open clashes (the worst first), its id, or the name of a part. For a
        part, its worst clash is drawn.
    up : {"", "x", "y", "z"}
        The axis that points up. The default is y for glTF, and z for all other formats.
    """
    rows = [row for row in x.clashes if row.is_open] or list(x.clashes)
    parts = _parts(x)
    ghost = Item(*joined(list(parts.values())), style.color(2, (*COLORS, GREY)), 0.16, MODEL, framed=not rows)
    if not rows:
        return Drawing([ghost], [f"No clashes among {len(x.parts)} parts"], up=np.array(upward(x, up)))
    make, at = partial(_add_finding, x, rows, parts, ghost, style, np.array(upward(x, up))), _place(rows, clash)
    drawing = make(at)
    drawing.steps = Steps(len(rows), at, make)
    return drawing


def _add_finding(
    x: Report, rows: list[Clash], parts: dict[str, tuple[Array, Any]], ghost: Item, style: Style, up: Array, k: int
) -> Drawing:
    row = rows[k]
    drawing = Drawing([ghost], sorted=True)
    pair = [(name, parts[name]) for name in (row.a, row.b) if name in parts]
    if x.motion is not None and row.time is not None:  # both parts at the time of the clash
        poses = [x.motion.pose(name, row.time) for name, _ in pair]
        pair = [(name, placed(*surface, pose)) for (name, surface), pose in zip(pair, poses, strict=True)]
    sizes = [ball_of(vertices)[1] for _, (vertices, _) in pair]
    for i, (name, _) in enumerate(pair):
        drawing.key(f"{'AB'[i]}  {name}", style.color(i, COLORS))
    for i in sorted(range(len(pair)), key=lambda i: -sizes[i]):  # the larger part is more transparent
        name, (vertices, faces) = pair[i]
        color = style.color(i, COLORS)
        drawing.body(vertices, faces, color, style.alpha(i, 0.85 if sizes[i] == min(sizes) else 0.4), name=name)
    points = np.concatenate([v for _, (v, _) in pair]) if pair else ghost.vertices
    center, size = ball_of(points)
    radius, least = 1.15 * size, min(sizes, default=size)
    if row.overlap_box is not None:
        points = _box(row.overlap_box)
    if radius > _ROOM_OF_BOTH * least:  # a close-up
        radius = _ROOM * least
        if row.overlap_box is not None:
            center = points.mean(axis=0)
        elif row.point is not None:
            center = np.array(row.point)
    drawing.focus = (center, radius)
    drawing.camera = _camera(row, center, radius, ball_of(ghost.vertices)[0], up)
    has_solids = x.assembly is not None and row.kind == "hard" and len(pair) == 2
    if not (has_solids and add_common(drawing, [surface for _, surface in pair], False, radius)) and row.overlap_box:
        drawing.lines(box_lines(points), INK, width=2.0, key="box around the overlap volume")
    unit, factor = x.reading
    read = converted(row, factor, x.unit)
    _add_signs(drawing, row, radius, wording.depth(read, unit, wording.noise(read, x)))
    drawing.words = [f"{k + 1} of {len(rows)}: {_headline(read, unit, wording.noise(read, x))}", f"{row.a}  –  {row.b}"]
    return drawing


def _camera(row: Clash, center: Array, radius: float, middle: Array, up: Array) -> Any:
    """Return a camera that sees a clash from the side of its normal and from outside the assembly."""
    out = center - middle
    out /= float(np.linalg.norm(out)) or 1.0
    normal = np.zeros(3) if row.normal is None else np.array(row.normal)
    views = _VIEWS @ upright(up).T
    view = min(views, key=lambda direction: round(float(direction @ normal) ** 2 - 0.5 * float(direction @ out), 9))
    return camera_at(center, radius, view, up)


def _add_signs(drawing: Drawing, row: Clash, size: float, depth: str) -> None:
    """Add the nearest points, and either the separating translation with its depth, or the normal."""
    if row.point_a is not None and row.point_b is not None:
        drawing.ends(np.array(row.point_a), np.array(row.point_b), size, COLORS)
    if row.depth and row.mtv is not None and any(row.mtv):
        start, translation = np.array(row.point if row.point_b is None else row.point_b), np.array(row.mtv)
        length = float(np.linalg.norm(translation))
        shown = max(length, 0.12 * size)
        key = "separation of B" if shown == length else "separation of B (not to scale)"
        drawing.arrows(start, translation / length, shown, min(0.014 * size, 0.12 * shown), SEPARATION, key=key)
        label_depth(drawing, start, translation, depth)
    elif row.normal is not None and row.point is not None:
        drawing.arrows(
            np.array(row.point), np.array(row.normal), 0.25 * size, 0.009 * size, NORMAL, key="normal from A to B"
        )


def _headline(row: Clash, unit: str | None, error: float) -> str:
    what = _WORDS.get(row.kind, row.kind)
    if row.kind == "hard" and row.depth:
        return f"{what} by {wording.depth(row, unit, error)}"
    if row.kind == "clearance" and row.distance is not None:
        return f"{what}, {wording.gap(row, unit, error)} apart"
    return what


def _parts(x: Report) -> dict[str, tuple[Array, Any]]:
    """Return the vertices and faces of each part by name, or those of its box if the report does not contain meshes."""
    if x.assembly is not None:
        meshes = {part.name: part.mesh for part in x.assembly.parts}
        return {name: (mesh.vertices, mesh.faces) for name, mesh in meshes.items() if mesh is not None}
    return {part.name: (_box(part.bounds), BOX_FACES) for part in x.parts if part.bounds is not None}


def _box(bounds: Any) -> Array:
    """Return the corners of a box, (8, 3), from its lowest and highest corner. z changes fastest, and x slowest."""
    return np.array([*product(*zip(*bounds, strict=True))])


def _place(rows: list[Clash], wanted: int | str) -> int:
    if isinstance(wanted, str):
        places = [k for k, row in enumerate(rows) if wanted in (row.id, row.a, row.b)]
        if not places:
            hint = nearest(wanted, {name for row in rows for name in (row.id, row.a, row.b)})
            raise ValueError(f"clash is {wanted!r}, expected the id of a clash or the full name of a part.{hint}")
        return places[0]
    if not -len(rows) <= wanted < len(rows):
        raise ValueError(f"clash is {wanted}, expected an index from 0 (the worst clash) to {len(rows) - 1}")
    return wanted % len(rows)
