"""Offline pages of results, drawings and robots.

A page is one HTML file, which opens in any browser and is written without OpenGL. The page of a robot has a slider for
each joint. Its script computes the shown distance from convex pieces.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from copy import copy
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.bodies.bvh import boxes_at
from gjk3d.bodies.compound import Compound, PointCloud
from gjk3d.bodies.mesh import Mesh
from gjk3d.geometry.points import morton_order
from gjk3d.query.distance import distance
from gjk3d.query.wording import headline, unit_of, verdict
from gjk3d.results import Distance, Status
from gjk3d.robot import Checker, Robot
from gjk3d.robot.kinematics import TURNING
from gjk3d.shapes.curved import Capsule, Sphere
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.measure import sphere
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Ints, Row
from gjk3d.viz import drawing
from gjk3d.viz.colors import hex_rgb
from gjk3d.viz.drawing import (
    DOTS,
    FIELD,
    LINES,
    MARK,
    MODEL,
    PART,
    Drawing,
    Item,
    Style,
    ball_of,
    camera_of,
    kind,
    models_of,
    placed,
    ready,
    shade,
)
from gjk3d.viz.kinds.answers import draw_distance
from gjk3d.viz.kinds.robots import HIT, State, add_things, labels_of, parts_of, slider_range, state_of, words_for
from gjk3d.webpage import color_chip, color_key, to_base64, to_json
from gjk3d.wording import above, below, count, format_bounds, format_depth, format_vector, number, widened, with_unit

# --- results and drawings --------------------------------------------------------------------------------------------


ROOM = "gjk3d.viz"  #: package with the templates of the pages
FILES = ("picture.html", "picture.css", "picture.js")
_SLIDE = (
    '<label id="label-slide"><input type="range" id="slide" min="0" max="1" step="0.025" value="0">'
    " <span>{}</span></label>"
)
#: Number of steps of the slider.
_POSITIONS = 40
#: Number of digits that distinguish a float from its neighbours, rounded up or down.
_EVERY = 18
#: Number of triangles of the largest model that a page contains in addition to its hull.
MAX_TRIANGLES = 300_000


def write_html(
    path: str | os.PathLike[str],
    result: Distance,
    *,
    names: tuple[str, str] = ("A", "B"),
    notes: tuple[str, ...] = (),
    unit: str | None = None,
    surfaces: tuple[Any, Any] | None = None,
) -> Path:
    """Write a self-contained page with the bodies of a result in 3D and a table of numbers, and return its path.

    The page does not use the network, and its content security policy forbids requests. The 3D code (three.js) comes
    from the installed trimesh.

    Parameters
    ----------
    path : path
        The file to write.
    result : Distance
        Result of one pair, for example a row of a stack.
    names : (str, str)
        Names of A and B.
    notes : tuple of str
        Sentences above the table, for example that hulls were compared.
    unit : str, optional
        Unit of length.
    surfaces : (mesh, mesh), optional
        The models whose hulls were compared, each None or with ``vertices`` and ``faces`` in the frame of its hull.
        They are drawn inside their hulls.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    TypeError
        ``result`` is not a result of one pair.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gk.viz.write_html(pathlib.Path(folder) / "a.html", result, unit="mm")
    ...     "Apart by 1.5 mm" in page.read_text()
    True
    """
    drawing = draw_distance(result, Style(), surfaces=surfaces, unit=unit)
    return write_result(path, result, drawing, names=names, notes=notes, unit=unit, surfaces=surfaces)


def write_result(
    path: str | os.PathLike[str], result: Distance, drawing: Drawing, *, names: Sequence[str] | None = None,
    notes: tuple[str, ...] = (), unit: str | None = None, surfaces: tuple[Any, Any] | None = None,
) -> Path:  # fmt: skip
    """Write the page of a result and of its drawing, and return its path. See `write_html`."""
    names = tuple(pair or letter for pair, letter in zip_longest(names or (), "AB"))
    bodies = models_of(result, surfaces)
    sizes = {k: len(body.faces) for k, body in enumerate(bodies) if body is not None}
    large = {k: size for k, size in sizes.items() if size > MAX_TRIANGLES}
    more = [
        f"Only the hull of {'AB'[k]} is drawn, because the model has {count} triangles." for k, count in large.items()
    ]
    if large:
        drawing = copy(drawing)
        drawing.items = [item for item in drawing.items if not (_is_model(item) and len(item.faces) > MAX_TRIANGLES)]
    drawn = len(sizes) > len(large)
    unit = unit or unit_of(result)
    colors = [drawing.keys[k][1] for k in (0, 1)]
    scene = _pair_scene(drawing, result, colors[1])
    if result.distance != 0.0:
        positions = (_moved(result, k / _POSITIONS) for k in range(_POSITIONS + 1))
        scene["readings"] = [[headline(x, unit), x.status.name.lower(), _rows(x, unit)] for x in positions]
    out = "just touches" if result.tight else "is free"
    slide = "move B until it touches A" if result.distance > 0.0 else f"move B out until it {out}"
    who = []
    for k, name, shape in zip("AB", names, (result.shape_a, result.shape_b), strict=True):
        shape_name = name if name != k else getattr(shape, "name", None) or _shape(shape)
        who.append(f"{color_chip(colors['AB'.index(k)])} <b>{k}</b> {html.escape(shape_name)}")
    rows = "\n".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in _rows(result, unit))
    layers = [("A", colors[0]), ("B", colors[1])]
    legend = [color_key(*key) for key in drawing.keys[2:]]  # A and B are in the heading
    if drawn:
        layers += [("hulls", "hulls"), ("models", "models")]
        legend.append("opaque: the models. Transparent: their convex hulls, which were compared")
    box = '<label id="label-{0}"><input type="checkbox" checked value="{1}"> {0}</label>'
    answer = (
        '<section id="answer" aria-label="answer">\n'
        f'<h1 class="{result.status.name.lower()}">{html.escape(headline(result, unit))}</h1>'
        + f'\n<p id="between">{"<br>".join(who)}</p>\n'
        + "\n".join(f'<p class="note">{html.escape(note)}</p>' for note in (*notes, *more))
        + f'\n<table>\n{rows}\n</table>\n<p id="legend">{"<br>".join(legend)}</p>\n</section>'
    )
    title, keys = f"{names[0]} and {names[1]}: {verdict(result, unit)}", [*layers, ("points, arrows", "marks")]
    tools = _SLIDE.format(html.escape(slide)) if result.distance != 0.0 else ""
    return write_viewer(path, title, scene, [box.format(*layer) for layer in keys], tools=tools, aside=answer)


def write_viewer(
    path: str | os.PathLike[str], title: str, scene: Any, keys: list[str], *, words: list[str] | None = None,
    tools: str = "", aside: str = "", help: str = "", more: tuple[str, ...] = (),
) -> Path:  # fmt: skip
    """Write the page of an interactive picture with captions above and legend and tools below, and return its path.

    ``words`` are the captions. ``keys`` (the legend), ``tools`` and ``aside`` are HTML. ``more`` are the names of
    further style and script files.
    """
    lines = [f"<p>{html.escape(line)}</p>" for line in words or ()]
    over = "" if words is None else f'<h1>{html.escape(title)}</h1>{"".join(lines)}<p id="state"></p>'
    markup = {"words": over, "keys": "\n".join(keys), "tools": tools, "aside": aside, "scene": to_json(scene)}
    return webpage.write_page(path, ROOM, (*FILES, *more), text={"title": title, "help": help}, markup=markup)


def _moved(result: Distance, share: float) -> Distance:
    """Return the result after B moved along the normal by a fraction ``share`` of the signed distance.

    With tight bounds, the bodies touch at ``share`` 1. The distance and its bounds change by the length of the move.
    The nearest points move with the bodies. If the bounds are wide, the bodies may be separated before the end, so the
    distance is queried again.
    """
    by = -share * float(result.distance)
    if share == 0.0:
        return result
    moved = copy(result)
    moved.distance, moved.point_b = result.distance + by, result.point_b + by * result.normal
    moved.lower, moved.upper = (_outward(bound, by, way) for bound, way in ((result.lower, -1), (result.upper, 1)))
    if not result.tight:
        pose = np.eye(4) if result.pose_b is None else np.array(result.pose_b, dtype=np.float64)
        pose[:3, 3] += by * result.normal
        queried = distance(result.shape_a, result.shape_b, result.pose_a, pose)
        if queried.status != Status.OVERLAPPING:
            return queried
        moved.upper = min(moved.upper, 0.0)
    elif share == 1.0:
        moved.status = Status.TOUCHING
    return moved


def _outward(bound: float, by: float, way: int) -> float:
    """Return the sum of a bound and a length, rounded down for ``way`` -1 and up for 1, unless the sum is 0."""
    total = float(bound) + by
    return float(np.nextafter(total, way * np.inf)) if total else 0.0


def _rows(result: Distance, unit: str | None) -> list[tuple[str, str]]:
    more = ", where the search stopped" if result.upper == np.inf else ""
    low, high = widened(float(result.lower), float(result.upper))
    measured = ("Distance", format_bounds(low, high, 9, unit) + more)
    if low < 0.0:
        measured = ("Signed distance", f"{format_bounds(low, high, 9, unit)}, negative in overlap")
    if result.status == Status.OVERLAPPING and result.depth > 0.0:
        measured = ("Depth", format_depth(low, high, 9, unit))
        low, high = max(-high, 0.0), -low
    rows = [
        ("Status", result.status.name.lower()),
        measured,
        ("Proven at least", below(low, _EVERY) if np.isfinite(low) else "not bounded"),
        ("Proven at most", above(high, _EVERY) if np.isfinite(high) else "not bounded"),
    ]
    if not result.tight:
        rows.append(("", "a wider interval than usual, which contains the true value"))
    if result.depth > 0.0:
        long = -result.lower if np.isfinite(result.lower) else result.depth  # proven to separate the bodies
        sure = number(long, 9) == number(-result.upper, 9) or not np.isfinite(result.lower)
        text = with_unit(number(long, 9) if sure else above(long, 9), unit)
        rows.append(("To separate", f"move B by {format_vector(long * result.normal, 9)}, length {text}"))
    elif result.distance > 0.0 and result.status != Status.BEYOND:
        rows.append(("To touch", f"move B by {format_vector(-result.distance * result.normal, 9)}"))
    rows += [
        ("Point on A", format_vector(result.point_a, 9)),
        ("Point on B", format_vector(result.point_b, 9)),
        ("Normal", f"{format_vector(result.normal, 9)}, from A to B"),
        ("Unit", unit or "not stated"),
        ("A is", _shape(result.shape_a)),
        ("B is", _shape(result.shape_b)),
    ]
    if result.iterations:  # 0 for non-convex bodies
        rows.append(("Steps", str(result.iterations)))
    return rows


def _shape(shape: Any) -> str:
    points = getattr(shape, "points", None)
    return f"{kind(shape)} of {len(points)} points" if points is not None else kind(shape)


def _is_model(item: Item) -> bool:
    """Return whether an item is the mesh of a model inside its transparent hull."""
    return item.look == MODEL and not item.name


def _pair_scene(drawing: Drawing, result: Distance, color: str) -> dict[str, Any]:
    """Return the data of a page on which B can be moved and layers of items can be hidden. ``color`` is that of B."""
    scene, (center, size) = _scene_of(drawing, []), drawing.ball
    for entry, item in zip(scene["items"], drawing.items, strict=True):
        entry["moves"] = item.name in ("B", "point_b") or (_is_model(item) and item.color == color)
        entry["layer"] = "marks" if item.look == MARK else "models" if _is_model(item) else "hulls"
    ends = [((point - center) / size).tolist() for point in (result.point_a, result.point_b)]
    scene["apart"] = {"a": ends[0], "b": ends[1], "normal": result.normal.tolist()}
    scene["slide"] = (-float(result.distance) / size * result.normal).tolist() if result.distance else None
    return scene | {"table": True}


def mesh_data(vertices: Array, faces: Ints, copies: int = 1) -> dict[str, str]:
    """Return a shaded surface in the format of the page's scripts. Without faces it is a point or a segment."""
    if not len(faces):
        return {"positions": to_base64(vertices, "<f4")}
    shaded = shade(vertices, faces, copies)
    return {
        "positions": to_base64(shaded.vertices, "<f4"),
        "indices": to_base64(shaded.faces, "<u2" if len(shaded.vertices) < 65536 else "<u4"),
        "edges": to_base64(shaded.edges, "<f4"),
    }


def camera_data(drawing: Drawing, points: Array) -> dict[str, Any]:
    """Return the camera of a page that shows ``points``. Lengths are relative to the middle and size of the drawing."""
    camera, (center, size) = camera_of(drawing), drawing.ball
    reach = float(np.linalg.norm(points - center, axis=1).max(initial=size)) / size
    return {
        "center": ((camera.center - center) / size).tolist(),
        "eye": ((camera.eye - center) / size).tolist(),
        "up": camera.up.tolist(),
        "angle": camera.angle,
        "reach": max(2.0, 1.2 * reach),
    }


#: Greatest number of triangles of a page. Further items are left out, and a caption states this.
MAX_DRAWN = 1_500_000


#: Greatest number of names in the list of a page.
_MOST_LISTED = 2000
_PICK = (
    '<label id="label-pick">object <select id="pick"><option value="">none</option>{}</select></label>'
    '<p id="fact" role="status"></p>'
)


def write_drawing(drawing: Drawing, path: Path, facts: Mapping[str, str] | None = None) -> Path:
    """Write a self-contained page of a drawing, on which items can be hidden by colour, and return its path.

    ``facts`` has a text for each object by name. The page shows the name and the text of the object under the mouse, or
    of the object that is selected in a list.
    """
    words = list(drawing.words or [", ".join(text for text, _ in drawing.keys) or "gjk3d"])
    scene = _scene_of(drawing, words)
    head, *lines = words
    box, shown = '<input type="checkbox" checked value="{}">', {item.color for item in drawing.items}
    keys = [
        color_key(text, color, box.format(html.escape(color)) if color in shown else "") for text, color in drawing.keys
    ]
    if facts is None:
        return write_viewer(path, head, scene, keys, words=lines)
    scene["facts"] = facts
    ranked = sorted(facts, key=lambda name: not facts[name])[:_MOST_LISTED]  # objects with a text first
    options = "".join(f'<option value="{html.escape(name)}">{html.escape(name)}</option>' for name in ranked)
    return write_viewer(path, head, scene, keys, words=lines, tools=_PICK.format(options), more=("names.js",))


def _scene_of(drawing: Drawing, words: list[str]) -> dict[str, Any]:
    """Return a drawing as data for a page. Positions are float32, relative to the middle and size of the drawing.

    If items are left out, a text about them is added to ``words``.
    """
    center, size = drawing.ball
    items, left, out = [], MAX_DRAWN, 0
    for item in ready(drawing.items, center, size):
        if len(item.faces) > left:
            out += 1
            continue
        left -= len(item.faces)
        if len(item.vertices):
            items.append(item_data(item, center, size))
    if out:
        words.append(f"Bodies left out: {out}, because a page has at most {MAX_DRAWN} triangles")
    return {
        "items": items,
        "labels": [{"point": ((x.point - center) / size).tolist(), "text": x.text} for x in drawing.labels],
        "keys": [color for _, color in drawing.keys],
        "sorted": drawing.sorted,
        "background": drawing.background and hex_rgb(drawing.background),
        **camera_data(drawing, np.concatenate([np.zeros((0, 3)), *(item.vertices for item in drawing.items)])),
    }


def item_data(item: Item, center: Array, size: float) -> dict[str, Any]:
    """Return an item in the format of the viewer of pages, with lengths relative to ``center`` and ``size``."""
    points = (item.vertices - center) / size
    entry = {name: getattr(item, name) for name in ("look", "name", "color", "opacity", "width", "framed")}
    entry["middle"] = points.mean(axis=0).tolist()
    if item.parts:
        entry["parts"] = item.parts
    if item.colors is not None:
        entry["colors"] = to_base64(item.colors, "u1")
    if item.look in (LINES, DOTS):
        return entry | {"positions": to_base64(points, "<f4")}
    if item.look == FIELD:
        kind = "<u2" if len(points) < 65536 else "<u4"
        return entry | {"positions": to_base64(points, "<f4"), "indices": to_base64(item.faces, kind)}
    entry |= mesh_data(points, item.faces, item.copies)
    if item.look in (MARK, PART):
        del entry["edges"]
    return entry


# --- robots ----------------------------------------------------------------------------------------------------------


_FILES = ("robot.css", "vectors.js", "support.js", "simplex.js", "gjk.js", "robot.js")
#: Greatest number of points of a convex piece. A piece with more points is replaced by support points.
_MOST_POINTS = 162
_MOST_BLOCKS = 64  #: greatest number of boxes that replace a point cloud
_CORNERS = np.array([[k & 1, k & 2, k & 4] for k in range(8)], dtype=bool)  #: whether a corner is high, by axis
#: Level of the tree of a non-convex mesh whose boxes are its pieces.
_LEVEL = 5
#: Greatest number of pieces of a body, and of pairs of pieces that the page compares.
_MOST_PIECES, _MOST_ROWS = 64, 20_000
#: Segments of a full turn of curved pieces.
_SIDES = 24


def write_robot(x: Robot | Checker, drawing: Drawing, q: Row | None, path: Path) -> Path:
    """Write the page of a robot at the configuration ``q`` and return its path.

    The page has the captions, legend and camera of the drawing. Sliders move the joints. gjk3d computes the distance at
    ``q``. After a slider moves, the page computes an approximate distance from convex pieces.
    """
    robot, checker = (x.robot, x) if isinstance(x, Checker) else (x, None)
    start = np.array(robot.configurations(np.zeros(robot.dof) if q is None else q)[0][0])
    state = None if checker is None else state_of(checker, start)
    state_text = "" if state is None else words_for(state)
    scene = _items(x, drawing) | {"robot": _robot_data(x, start, state, drawing)}
    at = f", at {format_vector(start, 3)}"  # left out, since the sliders show the present values
    head, *lines = [line.removesuffix(at) for line in drawing.words if line != state_text]
    box = '<input type="checkbox" checked value="{}">'
    shown = [key for key in drawing.keys if key[1] not in (drawing.ink, HIT)]
    keys = [color_key(text, color, box.format(html.escape(color))) for text, color in shown]
    if checker is not None:
        keys += [color_key("closest points", drawing.ink), color_key("colliding links", HIT)]
    live = "" if checker is None else _LIVE.format("hit" if state and state.pairs else "", html.escape(state_text))
    labels = labels_of(robot, robot.joint_names)
    sliders = "\n".join(_slider(robot, name, column, start) for name, column in labels.items())
    aside = _ASIDE.format(live=live, sliders=sliders)
    return write_viewer(path, head, scene, keys, words=lines, aside=aside, more=_FILES)


_LIVE = '<p id="live" role="status" class="{}">{}</p>\n<p id="source">computed by gjk3d, with proven bounds</p>'
_ASIDE = """<section id="answer" class="robot" aria-label="joints">
{live}
<h2>Joints</h2>
<form id="joints">
{sliders}
</form>
<p><button type="button" id="home">reset joints</button></p>
<p>q = <code id="q"></code></p>
</section>"""


def _slider(robot: Robot, name: str, column: int, start: Array) -> str:
    low, high = slider_range(robot, column, float(start[column]))
    text = html.escape(name)
    return (
        f'<label for="joint-{column}">{text}</label><output for="joint-{column}"></output>\n'
        f'<input type="range" id="joint-{column}" min="{low!r}" max="{high!r}" step="any" '
        f'value="{float(start[column])!r}" data-column="{column}">'
    )


def _items(x: Robot | Checker, drawing: Drawing) -> dict[str, Any]:
    """Return the items of a robot's page: moving parts in the frames of their links, and obstacles in the world."""
    center, size = drawing.ball
    drawn = {item.name: item for item in drawing.items if item.look != MARK}
    items = []
    for part in parts_of(x, Style()):
        like = drawn[part.name]
        color = part.color if like.color == HIT else like.color
        for item in ready(part.items, center, size):
            moved = item.moved(part.local, color=color, opacity=like.opacity)
            items.append(item_data(moved, np.zeros(3), size) | {"link": part.link, "moves": True})
    things = Drawing()
    if isinstance(x, Checker):
        add_things(things, x, frozenset())
    items += [item_data(item, center, size) for item in ready(things.items, center, size)]
    camera = camera_data(drawing, np.concatenate([item.vertices for item in drawing.items]))
    background = drawing.background and hex_rgb(drawing.background)
    return {"items": items, "background": background} | camera | {"reach": max(4.0, camera["reach"])}


def _robot_data(x: Robot | Checker, start: Array, state: State | None, drawing: Drawing) -> dict[str, Any]:
    """Return the kinematics of a robot, the convex pieces of links and objects, and the checked pairs."""
    robot, (center, size) = (x.robot if isinstance(x, Checker) else x), drawing.ball
    chain = robot._chain
    turning = [
        column for column in range(robot.dof) if any((chain.kind == TURNING) & (chain.source == column))
    ]  # joints whose values are angles
    data = {
        "q": start.tolist(), "turning": turning, "parent": chain.parent.tolist(), "kind": chain.kind.tolist(),
        "axis": chain.axis.tolist(), "origin": chain.origin.reshape(-1, 16).tolist(), "source": chain.source.tolist(),
        "multiplier": chain.multiplier.tolist(), "offset": chain.offset.tolist(), "center": center.tolist(),
        "size": size, "hit": HIT, "ink": drawing.ink, "pieces": [], "pairs": [], "ends": None, "note": "",
    }  # fmt: skip
    if not isinstance(x, Checker) or state is None:
        return data
    cell, margins = x._cell(), dict[tuple[str, str], float]()
    for pair, margin in zip(cell.names, cell.margins.tolist(), strict=True):
        margins[pair] = max(margin, margins.get(pair, margin))
    used = {name for pair in margins for name in pair}
    bodies = [(robot.links[body.link], body.link, body.shape, body.pose) for body in robot.bodies]
    bodies += [(name, robot.link_number(link), x.shape(name), x.pose(name)) for name, link in x.attached.items()]
    bodies += [(name, -1, x.shape(name), x.pose(name)) for name in x.objects]
    pieces: dict[str, list[dict[str, Any]]] = {}
    for name, link, shape, pose in bodies:
        if name in used:
            more = [{"name": name, "link": link} | piece for piece in _pieces(shape, pose)]
            pieces[name] = pieces.get(name, []) + more
    limited, pairs, data["note"] = _limited(pieces, list(margins), robot.link_poses(start))
    data["pieces"] = [
        piece | ({"points": to_base64(piece["points"], "<f4")} if "points" in piece else {})
        for group in limited.values()
        for piece in group
    ]
    data["pairs"] = [[*pair, margins[pair]] for pair in pairs]
    if state.closest is not None and np.isfinite(state.distance):
        data["ends"] = [((point - center) / size).tolist() for point in state.points]
    return data


def _pieces(shape: Any, pose: Any) -> list[dict[str, Any]]:
    """Return convex pieces of a shape at a pose: points and the radius around them, or a plane and its offset."""
    if isinstance(shape, Compound):
        return [piece for part, at in shape.parts for piece in _pieces(part, pose @ (np.eye(4) if at is None else at))]
    if isinstance(shape, Halfspace):
        normal = pose[:3, :3] @ shape.normal
        return [{"plane": normal.tolist(), "offset": float(shape.offset + normal @ pose[:3, 3]), "radius": 0.0}]
    radius = 0.0
    if isinstance(shape, Sphere):
        sets, radius = [np.zeros((1, 3))], shape.radius
    elif isinstance(shape, Capsule):
        half = (0.0, 0.0, 0.5 * shape.height)
        sets, radius = [np.array([np.negative(half), half])], shape.radius
    elif isinstance(shape, PointCloud):  # boxes around neighbours
        near = np.array_split(shape.points[morton_order(shape.points)], min(_MOST_BLOCKS, len(shape.points)))
        sets, radius = [np.where(_CORNERS, block.max(axis=0), block.min(axis=0)) for block in near], shape.radius
    elif getattr(shape, "is_convex", hasattr(shape, "support")) is True:
        points = np.unique(drawing.surface_of(shape, _SIDES)[0], axis=0)
        if len(points) > _MOST_POINTS:
            points = ConvexHull(points).support(sphere(1.0, 18).vertices)
        sets = [points]
    else:
        surface = shape if isinstance(shape, Mesh) else Mesh(*drawing.surface_of(shape, _SIDES))
        sets = list(boxes_at(surface, _LEVEL))
    return [{"points": placed(points, (), pose).vertices, "radius": radius} for points in sets]


Pieces = dict[str, list[dict[str, Any]]]


def _limited(pieces: Pieces, pairs: list[tuple[str, str]], poses: Array) -> tuple[Pieces, list[tuple[str, str]], str]:
    """Return pieces and pairs that are few enough for a page, and a text about the simplification.

    Neighbouring pieces of a body are replaced by the box around them. If there are still too many pairs, only the pairs
    that are nearest at the start remain.
    """
    most, few = _MOST_PIECES, pieces
    while most:
        few = {name: _boxed(group, most) for name, group in pieces.items()}
        if sum(len(few[a]) * len(few[b]) for a, b in pairs) <= _MOST_ROWS:
            break
        most //= 2
    simpler = sum(len(few[name]) < len(group) for name, group in pieces.items())
    notes = [f"boxes for the pieces of {count(simpler, 'shape')}"] if simpler else []
    balls = {name: _balls(group, poses) for name, group in few.items()}
    near = sorted(pairs, key=lambda pair: _least_gap(*(balls[name] for name in pair)))
    sizes = np.cumsum([len(few[a]) * len(few[b]) for a, b in near])
    kept = set(near[: max(1, int(np.searchsorted(sizes, _MOST_ROWS, side="right")))])
    if len(kept) < len(pairs):
        notes.append(f"only the {len(kept):,} pairs of {len(pairs):,} that are nearest at the start")
    return few, [pair for pair in pairs if pair in kept], ", ".join(notes)


def _boxed(group: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return at most ``most`` pieces of a body, and its half-spaces. A box replaces several neighbouring pieces."""
    planes, solids = [piece for piece in group if "plane" in piece], [piece for piece in group if "points" in piece]
    if len(solids) <= most:
        return group
    middles = np.array([piece["points"].mean(axis=0) for piece in solids])
    boxes = []
    for near in np.array_split(morton_order(middles), most):
        low = np.min([solids[k]["points"].min(axis=0) - solids[k]["radius"] for k in near], axis=0)
        high = np.max([solids[k]["points"].max(axis=0) + solids[k]["radius"] for k in near], axis=0)
        boxes.append(solids[near[0]] | {"points": np.where(_CORNERS, high, low), "radius": 0.0})
    return planes + boxes


def _balls(group: list[dict[str, Any]], poses: Array) -> Array:
    """Return balls around the pieces of a body in the world, (n, 4) centre and radius, infinite for half-spaces."""
    balls = np.full((len(group), 4), np.inf)
    for row, piece in zip(balls, group, strict=True):
        if "points" in piece:
            pose = np.eye(4) if piece["link"] < 0 else poses[piece["link"]]
            center, radius = ball_of(placed(piece["points"], (), pose).vertices)
            row[:] = *center, radius + piece["radius"]
    return balls


def _least_gap(a: Array, b: Array) -> float:
    if np.isinf(a).any() or np.isinf(b).any():
        return -np.inf  # half-spaces are always compared
    gaps = np.linalg.norm(a[:, None, :3] - b[None, :, :3], axis=2) - a[:, None, 3] - b[None, :, 3]
    return float(gaps.min())
