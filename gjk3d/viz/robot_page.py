"""The page of a robot: a slider for each joint, and the distance that the page computes from convex pieces."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.bodies.bvh import boxes_at
from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.mesh import Mesh
from gjk3d.geometry.morton import morton_order
from gjk3d.robot import Checker, Robot
from gjk3d.robot.kinematics import TURNING
from gjk3d.robot.playback import State, state_of
from gjk3d.shapes.curved import Capsule, Sphere
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.shapes.surfaces import sphere
from gjk3d.typing import Array, Row
from gjk3d.viz import triangles
from gjk3d.viz.colors import hex_rgb
from gjk3d.viz.drawing import MARK, Drawing, Style, ball_of
from gjk3d.viz.kinds.robots import HIT, add_things, labels_of, parts_of, slider_range, words_for
from gjk3d.viz.layout import placed, ready
from gjk3d.viz.page import camera_data, item_data, write_viewer
from gjk3d.webpage import color_key, to_base64
from gjk3d.wording import count, format_vector

#: Greatest number of points of a convex piece. Of more points, the farthest in this number of directions are used.
_FILES = ("robot.css", "vectors.js", "support.js", "simplex.js", "gjk.js", "robot.js")
_MOST_POINTS = 162
_MOST_BLOCKS = 64  #: boxes that stand for a cloud
_CORNERS = np.array([[k & 1, k & 2, k & 4] for k in range(8)], dtype=bool)  #: whether a corner is high, by axis
#: Level of the tree of a non-convex mesh whose boxes are its pieces.
_LEVEL = 5
#: Greatest number of pieces of a body, and of pairs of pieces that the page compares.
_MOST_PIECES, _MOST_ROWS = 64, 20_000
#: Segments of a full turn of curved pieces.
_SIDES = 24


def write_robot(x: Robot | Checker, drawing: Drawing, q: Row | None, path: Path) -> Path:
    """Write the page of a robot at one configuration and return its path.

    The page has the drawing's captions, legend and camera. Its sliders move the joints. The distance at the start is
    computed by gjk3d. After a slider moves, the page computes an approximate distance from convex pieces.
    """
    robot, checker = (x.robot, x) if isinstance(x, Checker) else (x, None)
    start = np.array(robot.configurations(np.zeros(robot.dof) if q is None else q)[0][0])
    state = None if checker is None else state_of(checker, start)
    told = "" if state is None else words_for(state)
    scene = _items(x, drawing) | {"robot": _robot_data(x, start, state, drawing)}
    at = f", at {format_vector(start, 3)}"  # the sliders have the present numbers
    head, *lines = [line.removesuffix(at) for line in drawing.words if line != told]
    box = '<input type="checkbox" checked value="{}">'
    shown = [key for key in drawing.keys if key[1] not in (drawing.ink, HIT)]
    keys = [color_key(text, color, box.format(html.escape(color))) for text, color in shown]
    if checker is not None:
        keys += [color_key("closest points", drawing.ink), color_key("colliding links", HIT)]
    live = "" if checker is None else _LIVE.format("hit" if state and state.pairs else "", html.escape(told))
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
    """Return the items of a page: the parts in the frames of their links, and the obstacles."""
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
    ]  # numbers of other joints are lengths, or have no unit of their own
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
        points = np.unique(triangles.surface_of(shape, _SIDES)[0], axis=0)
        if len(points) > _MOST_POINTS:
            points = ConvexHull(points).support(sphere(1.0, 18).vertices)
        sets = [points]
    else:
        surface = shape if isinstance(shape, Mesh) else Mesh(*triangles.surface_of(shape, _SIDES))
        sets = list(boxes_at(surface, _LEVEL))
    return [{"points": placed(points, (), pose).vertices, "radius": radius} for points in sets]


Pieces = dict[str, list[dict[str, Any]]]


def _limited(pieces: Pieces, pairs: list[tuple[str, str]], poses: Array) -> tuple[Pieces, list[tuple[str, str]], str]:
    """Return pieces and pairs that a page compares in time, and a text about what it simplifies.

    Neighbouring pieces of a body are replaced by the box around them. If there are still too many pairs, the nearest
    ones at the start remain.
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
    """Return at most ``most`` pieces of a body, and its half-spaces. Boxes replace neighbours."""
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
    """Return balls (n, 4) around the pieces of a body, with infinite radii for half-spaces."""
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
