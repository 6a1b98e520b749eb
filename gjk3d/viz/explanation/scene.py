"""What each step looks like, as simple pieces in two views; nothing here draws.

Both views are laid out in units of their own picture, about its middle, so that any scale is drawn alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.results import Distance
from gjk3d.typing import Array, Ints
from gjk3d.viz.drawing import darker
from gjk3d.viz.explanation.steps import Difference, Step
from gjk3d.viz.layout import lay_out

#: What is drawn in which colour: those of Okabe and Ito, which all kinds of colour vision tell apart.
PALETTE = {
    "a": "#E69F00",
    "b": "#009E73",
    "difference": "#8FA3B0",
    "polytope": "#56B4E9",
    "simplex": "#CC79A7",
    "closest": "#F0E442",
    "removed": "#F3B58A",
    "new": "#D55E00",
    "direction": "#0072B2",
    "ink": "#202124",
    "dropped": "#80868B",
    "region": "#7B3FA0",
}
#: what shows through everything before it
OVER = ("a", "b", "ink", "direction", "new")
_BALL, _ROD, _ARROW = 0.026, 0.008, 0.011
_ASKED, _TOWARDS = 0.26, 0.36  #: lengths of the arrows at the support points, and in A - B
_STRAIGHT = 0.8  #: cosine of the angle to the viewer from which on an arrow is too short to be seen
_NONE, _NO_FACES = np.empty((0, 3)), np.empty((0, 3), np.int64)


def rod_color(role: str) -> str:
    """Return the colour of balls, rods and arrows: darker than the faces that they border."""
    return darker(PALETTE[role], 0.8) if role in ("simplex", "polytope") else PALETTE[role]


class Piece(NamedTuple):
    """One thing to draw: a glassy body, a ghost (one of samples), faces, a ball, a rod, an arrow or a label."""

    kind: str
    role: str  #: a name in PALETTE
    points: Array
    faces: Ints = _NO_FACES
    size: float = 0.0  #: radius of a ball, a rod or an arrow's shaft
    opacity: float = 1.0
    text: str = ""


class View(NamedTuple):
    """One of the two pictures: where its middle is, how large it is, and what the camera has to see."""

    center: Array  #: in the world
    unit: float  #: this long in the world is 1 in the picture
    still: list[Piece]  #: what is there in every step
    focus: Array  #: what the camera looks at, in the picture
    width: float  #: half of what it sees, to the sides and up and down
    height: float


class Scene(NamedTuple):
    """Both views, seen along one direction, and the pieces of every step in each."""

    left: View
    right: View
    view: Array  #: unit vector towards the camera
    up: Array
    steps: list[tuple[list[Piece], list[Piece]]]


def arrange(result: Distance, steps: list[Step], difference: Difference, view: Any, up: Any) -> Scene:
    """Lay out both views and the pieces of every step."""
    layout = lay_out(result)
    toward, top = _look(_slanted(layout.view, steps) if view is None else view, layout.up if up is None else up)
    bodies = [(body.vertices, body.faces) for body in layout.bodies]
    core, whole = difference.core(), difference.whole()
    tips = [_support_arrows(step, layout.radius) for step in steps]
    seen = np.concatenate([v for v, _ in bodies])
    left = _view(layout.center, layout.radius, seen, toward, top, np.concatenate(tips))
    points = np.concatenate([whole[0], np.zeros((1, 3))])
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    radius = float(np.linalg.norm(points - center, axis=1).max()) or 1.0
    asked = [_asked_in_difference(step, radius) for step in steps]
    right = _view(center, radius, points, toward, top, np.concatenate(asked))
    for (vertices, faces), role in zip(bodies, "ab", strict=True):
        left.still.append(Piece("glass", role, _local(left, vertices), faces, opacity=0.4))
    if sum(difference.radii) > 0.0:
        right.still.append(Piece("ghost", "difference", _local(right, whole[0]), whole[1], opacity=0.12))
    kind = "ghost" if difference.sampled else "glass"
    right.still.append(Piece(kind, "difference", _local(right, core[0]), core[1], opacity=0.22))
    return Scene(left, right, toward, top, [(_workspace(left, s), _differences(right, s)) for s in steps])


def _look(view: Any, up: Any) -> tuple[Array, Array]:
    toward, top = np.array(view, dtype=np.float64), np.array(up, dtype=np.float64)
    toward /= np.linalg.norm(toward)
    top -= (top @ toward) * toward
    if np.linalg.norm(top) < 1e-6:
        top = np.eye(3)[np.argmin(np.abs(toward))]
        top -= (top @ toward) * toward
    return toward, top / np.linalg.norm(top)


def _slanted(view: Array, steps: list[Step]) -> Array:
    """Return a direction near to that of the layout along which no arrow of a step points at the viewer, or few."""
    arrows = np.array([step.direction for step in steps if step.direction is not None])
    z, turn = np.meshgrid(np.linspace(-0.2, 0.7, 7), np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False))
    flat = np.sqrt(1.0 - z * z)
    ways = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=-1).reshape(-1, 3)
    ways = np.concatenate([view[None] / np.linalg.norm(view), ways])
    straight = np.maximum(np.abs(ways @ arrows.T) - _STRAIGHT, 0.0).sum(axis=1) / (1.0 - _STRAIGHT)
    return np.asarray(ways[np.argmin(4.0 * straight - ways @ ways[0])])


def _asked_in_difference(step: Step, unit: float) -> Array:
    """Return the ends of the arrow that shows in which direction A - B was asked."""
    if step.nearest is None or step.direction is None or step.phase == "answer":
        return _NONE
    return np.array([step.nearest, step.nearest + _TOWARDS * unit * step.direction])


def _support_arrows(step: Step, unit: float) -> Array:
    """Return the ends of the arrows that show in which direction both shapes were asked."""
    if step.support_a is None or step.support_b is None or step.direction is None:
        return _NONE
    along = _ASKED * unit * step.direction
    return np.array([step.support_a, step.support_a + along, step.support_b, step.support_b - along])


def _view(center: Array, unit: float, points: Array, toward: Array, up: Array, always: Array) -> View:
    local = (points - center) / unit
    length = np.linalg.norm(local, axis=1)
    local /= np.maximum(length, 1.0)[:, None]  # what is outside the ball may stay outside the picture
    local = np.concatenate([local, (always - center) / unit])
    axes = np.array([np.cross(up, toward), up, toward])
    flat = local @ axes.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    width, height = (np.maximum(high - low, 0.2) / 2)[:2].tolist()
    return View(center, unit, [], axes.T @ ((low + high) / 2), width, height)


def _local(view: View, points: Any) -> Array:
    return np.atleast_2d((np.asarray(points, dtype=np.float64) - view.center) / view.unit)


# --- the workspace ----------------------------------------------------------------------------------------------------


def _workspace(view: View, step: Step) -> list[Piece]:
    pieces = []
    if step.witness_a is not None and step.witness_b is not None:
        ends = _local(view, [step.witness_a, step.witness_b])
        if step.phase == "answer":
            pieces += _answer(step, ends)
        elif np.linalg.norm(ends[1] - ends[0]) > _ROD:
            pieces.append(Piece("rod", "ink", ends, size=_ROD))
        pieces += [Piece("ball", role, ends[i : i + 1], size=_BALL) for i, role in enumerate("ab")]
    if step.support_a is not None and step.support_b is not None and step.direction is not None:
        ends = _local(view, _support_arrows(step, view.unit))
        for at, tip in (ends[:2], ends[2:]):
            pieces.append(Piece("arrow", "direction", np.array([at, tip]), size=_ARROW))
            pieces.append(Piece("ball", "new", at[None], size=1.25 * _BALL))
    return pieces


def _answer(step: Step, ends: Array) -> list[Piece]:
    assert step.direction is not None
    if step.upper < 0.0 and np.linalg.norm(ends[1] - ends[0]) > 2.0 * _ARROW:  # the way out, for B
        return [Piece("arrow", "new", ends[::-1], size=_ARROW)]
    pieces = []
    if np.linalg.norm(ends[1] - ends[0]) > _ROD:
        pieces.append(Piece("rod", "ink", ends, size=_ROD))
    start = ends.mean(axis=0) - 0.15 * step.direction
    pieces.append(Piece("arrow", "direction", np.array([start, start + 0.3 * step.direction]), size=_ARROW))
    return pieces


# --- the configuration space ------------------------------------------------------------------------------------------


def _differences(view: View, step: Step) -> list[Piece]:
    pieces = _polytope(view, step) if len(step.faces) else _simplex(view, step)
    origin = _local(view, np.zeros(3))
    pieces += [Piece("ball", "ink", origin, size=_BALL), Piece("label", "ink", origin, text="origin")]
    if step.nearest is not None:
        near = _local(view, step.nearest)
        line = np.concatenate([origin, near])
        if np.linalg.norm(line[1] - line[0]) > _ROD:
            pieces.append(Piece("rod", "ink", line, size=0.75 * _ROD))
        pieces.append(Piece("ball", "ink", near, size=0.7 * _BALL))
    if step.phase == "answer":
        return pieces
    arrow = _asked_in_difference(step, view.unit)
    if len(arrow):
        pieces.append(Piece("arrow", "direction", _local(view, arrow), size=_ARROW))
    if step.point is not None:
        at = _local(view, step.point)
        pieces.append(Piece("ball", "new", at, size=1.25 * _BALL))
        pieces.append(Piece("label", "new", at, text=step.point_name))
    return pieces


def _simplex(view: View, step: Step) -> list[Piece]:
    corners = _local(view, step.simplex) if len(step.simplex) else _NONE
    pieces = []
    if len(corners) >= 3:
        faces = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)][: 1 if len(corners) == 3 else 4])
        pieces.append(Piece("faces", "simplex", corners, faces, opacity=0.45))
    pairs = [(i, j) for i in range(len(corners)) for j in range(i)]
    pieces += [Piece("rod", "simplex", corners[[i, j]], size=1.4 * _ROD) for i, j in pairs]
    if step.joins and step.point is not None:  # the edges that it brings
        new = _local(view, step.point)
        kept = [c for c, name in zip(corners, step.names, strict=False) if name not in step.dropped]
        pieces += [Piece("rod", "simplex", np.array([c, new[0]]), size=0.5 * _ROD) for c in kept]
    for corner, name in zip(corners, step.names, strict=False):
        role = "dropped" if name in step.dropped else "simplex"
        pieces.append(Piece("ball", role, corner[None], size=1.1 * _BALL))
        if name != step.point_name:
            text = f"{name} (drop)" if name in step.dropped else name
            pieces.append(Piece("label", role, corner[None], text=text))
    return pieces


def _polytope(view: View, step: Step) -> list[Piece]:
    vertices = _local(view, step.vertices)
    gone = {tuple(face) for face in step.removed.tolist()}
    near = tuple(step.closest.tolist())
    kept = np.array([f for f in step.faces.tolist() if tuple(f) not in gone and tuple(f) != near], dtype=np.int64)
    seen = np.array([f for f in step.removed.tolist() if tuple(f) != near], dtype=np.int64)
    pieces = []
    if len(kept):
        pieces.append(Piece("faces", "polytope", vertices, kept, opacity=0.3))
    if len(seen):
        pieces.append(Piece("faces", "removed", vertices, seen, opacity=0.6))
    pieces.append(Piece("faces", "closest", vertices, step.closest[None], opacity=0.9))
    edges = {tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))) for f in step.faces for i in range(3)}
    rim = {tuple(sorted(map(int, edge))) for edge in step.horizon}
    thin = 0.6 * _ROD if len(step.faces) < 60 else 0.3 * _ROD
    pieces += [Piece("rod", "polytope", vertices[list(edge)], size=thin) for edge in sorted(edges - rim)]
    pieces += [Piece("rod", "new", vertices[list(edge)], size=1.2 * _ROD) for edge in sorted(rim)]
    used = np.unique(step.faces)
    named = (used if len(used) <= 9 else np.unique(step.closest)).tolist()
    for i in used if len(used) <= 40 else named:
        pieces.append(Piece("ball", "polytope", vertices[i : i + 1], size=0.7 * _BALL))
    named = [i for i in named if step.names[i] != step.point_name or step.phase == "answer"]
    pieces += [Piece("label", "polytope", vertices[i : i + 1], text=step.names[i]) for i in named]
    return pieces
