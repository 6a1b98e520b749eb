"""Drawings of each step, in two views.

The coordinates of a view are relative to its middle and in units of its size, so pictures do not depend on the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gjk3d.query.overlap import Difference
from gjk3d.results import Distance
from gjk3d.typing import Array
from gjk3d.viz.drawing import (
    COLORS,
    INK,
    NORMAL,
    PART,
    SEPARATION,
    UP,
    Drawing,
    Item,
    across,
    ball_of,
    camera_of,
    darker,
    direction,
    lay_out,
)
from gjk3d.viz.explanation.narration import Step


class Role(NamedTuple):
    """The legend and colours (Okabe and Ito) of a kind of item, distinct for all kinds of colour vision."""

    meaning: str
    light: str
    dark: str  #: colour on a dark background
    over: bool = False  #: whether it shows through items in front of it


#: in the order of the legend
ROLES = {
    "a": Role("A", COLORS[0], COLORS[0], over=True),
    "b": Role("B", COLORS[1], COLORS[1], over=True),
    "difference": Role("A - B", "#8FA3B0", "#B5C4CE"),
    "simplex": Role("simplex", "#CC79A7", "#CC79A7"),
    "dropped": Role("corner to drop", "#80868B", "#A5ABB3"),
    "polytope": Role("EPA's polytope, inside A - B", "#56B4E9", "#56B4E9"),
    "closest": Role("its face nearest to the origin", "#F0E442", "#F0E442"),
    "removed": Role("other replaced faces", "#F3B58A", "#F3B58A"),
    "fan": Role("new faces around the horizon", "#E07B39", "#FF9A5C"),
    "bound": Role("plane of the lower bound", "#5F7D95", "#93AFC4"),
    "new": Role("new point and its horizon", SEPARATION, "#FF7A33", over=True),
    "direction": Role("support direction", NORMAL, "#4C9FE0", over=True),
    "ink": Role("nearest points so far", INK, "#E8EAED", over=True),
    "region": Role("Voronoi region of the new simplex", "#7B3FA0", "#B58BE0"),
}
PALETTE = {name: role.light for name, role in ROLES.items()}
#: other legend entries of the last step, for overlap and for separation
ANSWERED = {
    "deep": {"new": "separation of B", "ink": "the depth, from the origin to the surface of A - B"},
    "apart": {"direction": "normal from A to B", "ink": "nearest points"},
}
HEADINGS = ("The two shapes", "Minkowski difference A - B")
_BALL, _ROD, _ARROW = 0.026, 0.008, 0.011
_SUPPORT_ARROW, _TOWARDS = 0.26, 0.36  #: lengths of the arrows at the support points, and in A - B
_STRAIGHT = 0.8  #: cosine of the angle to the viewer above which an arrow appears too short
_TETRAHEDRON = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)])


def rod_color(name: str, roles: Mapping[str, Role] = ROLES) -> str:
    """Return the colour of balls, rods and arrows, which are darker than their faces."""
    return darker(roles[name].light, 0.8) if name in ("simplex", "polytope") else roles[name].light


class View(NamedTuple):
    """One of the two pictures: its middle, its unit and its items."""

    center: Array  #: middle in the world
    unit: float  #: length in the world that is 1 in the picture
    still: list[Item]  #: items of every step, each named by its role in PALETTE
    steps: list[Drawing]

    def local(self, points: Any) -> Array:
        """Return points of the world in units of the picture, (n, 3)."""
        return np.reshape((np.asarray(points, dtype=np.float64) - self.center) / self.unit, (-1, 3))


class Scene(NamedTuple):
    """Both views, seen from the same direction."""

    left: View
    right: View
    view: Array  #: unit vector towards the camera
    up: Array


def arrange(result: Distance, steps: list[Step], difference: Difference, view: Any, up: Any) -> Scene:
    """Return both views with the drawings of every step."""
    layout = lay_out(result)
    toward, top = _axes(_slanted(layout.view, steps) if view is None else view, UP if up is None else up)
    core, difference_drawing = difference.core(), difference.whole()
    left = View(layout.center, layout.radius, [], [])
    right = View(*ball_of(np.concatenate([difference_drawing[0], np.zeros((1, 3))])), [], [])
    shown = Drawing(left.still)  # adds its items to left.still
    for body, role in zip(layout.bodies, "ab", strict=True):
        shown.body(left.local(body.vertices), body.faces, PALETTE[role], 0.4, name=role, outline=False)
    shown = Drawing(right.still)
    solids = [(difference_drawing, 0.12, True)] if sum(difference.radii) > 0.0 else []
    for (vertices, faces), opacity, even in [*solids, (core, 0.22, difference.sampled)]:
        places = right.local(vertices)
        shown.body(places, faces, PALETTE["difference"], opacity, name="difference", outline=even, even=even)
    for at, draw, heading in zip((left, right), (_workspace, _differences), HEADINGS, strict=True):
        at.steps.extend(draw(at, step) for step in steps)
        arrows = [item for step_items in at.steps for item in step_items.items if item.color == PALETTE["direction"]]
        extent = Drawing([*at.still, *arrows], view=toward, up=top)
        if at is right:
            extent.dots(at.local(np.zeros(3)), PALETTE["ink"])
        camera = camera_of(extent)
        for drawing in at.steps:
            drawing.items[:0] = at.still
            drawing.camera, drawing.sorted, drawing.words = camera, True, [heading]
    return Scene(left, right, toward, top)


def _axes(view: Any, up: Any) -> tuple[Array, Array]:
    toward, top = direction(view, "view"), direction(up, "up")
    top -= (top @ toward) * toward
    length = float(np.linalg.norm(top))
    return toward, top / length if length > 1e-6 else across(toward)[1]


def _slanted(view: Array, steps: list[Step]) -> Array:
    """Return a direction near ``view`` from which few or no arrows of the steps point at the viewer."""
    arrows = np.array([step.direction for step in steps if step.direction is not None])
    z, turn = np.meshgrid(np.linspace(-0.2, 0.7, 7), np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False))
    flat = np.sqrt(1.0 - z * z)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=-1).reshape(-1, 3)
    directions = np.concatenate([view[None] / np.linalg.norm(view), directions])
    straight = np.maximum(np.abs(directions @ arrows.T) - _STRAIGHT, 0.0).sum(axis=1) / (1.0 - _STRAIGHT)
    return np.asarray(directions[np.argmin(4.0 * straight - directions @ directions[0])])


# --- the workspace ----------------------------------------------------------------------------------------------------


def _workspace(view: View, step: Step) -> Drawing:
    drawing = Drawing()
    if step.witness_a is not None and step.witness_b is not None:
        ends = view.local([step.witness_a, step.witness_b])
        separation = ends[0] - ends[1]
        gap = float(np.linalg.norm(separation))
        if step.phase == "answer" and step.upper < 0.0 and gap > 2.0 * _ARROW:  # the separating translation of B
            drawing.arrows(ends[1], separation / gap, gap, _ARROW, PALETTE["new"])
        else:
            if gap > _ROD:
                drawing.rods(ends[0], ends[1], _ROD, PALETTE["ink"])
            if step.phase == "answer" and step.direction is not None:
                middle = ends.mean(axis=0) - 0.15 * step.direction
                drawing.arrows(middle, step.direction, 0.3, _ARROW, PALETTE["direction"])
        for end, role in zip(ends, "ab", strict=True):
            drawing.balls(end, _BALL, PALETTE[role])
    if step.support_a is not None and step.support_b is not None and step.direction is not None:
        supports = view.local([step.support_a, step.support_b])
        drawing.arrows(supports, np.outer([1.0, -1.0], step.direction), _SUPPORT_ARROW, _ARROW, PALETTE["direction"])
        drawing.balls(supports, 1.25 * _BALL, PALETTE["new"])
    return drawing


# --- the configuration space ------------------------------------------------------------------------------------------


def _differences(view: View, step: Step) -> Drawing:
    drawing = Drawing()
    (_add_polytope if len(step.faces) else _add_simplex)(drawing, view, step)
    origin = view.local(np.zeros(3))[0]
    drawing.balls(origin, _BALL, PALETTE["ink"])
    drawing.label(origin, "origin", PALETTE["ink"])
    if step.nearest is not None:
        near = view.local(step.nearest)[0]
        if np.linalg.norm(near - origin) > _ROD:
            drawing.rods(origin, near, 0.75 * _ROD, PALETTE["ink"])
        drawing.balls(near, 0.7 * _BALL, PALETTE["ink"])
        if step.direction is not None and step.phase != "answer":
            drawing.arrows(near, step.direction, _TOWARDS, _ARROW, PALETTE["direction"])
    if step.point is not None and step.phase != "answer":
        at = view.local(step.point)[0]
        drawing.balls(at, 1.25 * _BALL, PALETTE["new"])
        drawing.label(at, step.point_name, PALETTE["new"])
    return drawing


def _add_simplex(drawing: Drawing, view: View, step: Step) -> None:
    corners, color = view.local(step.simplex), rod_color("simplex")
    is_kept = np.array([name not in step.dropped for name in step.names], dtype=bool)
    if len(corners) >= 3:
        faces = _TETRAHEDRON[: 1 if len(corners) == 3 else 4]
        drawing.body(corners, faces, PALETTE["simplex"], 0.45, outline=False)
    pairs = np.array([(i, j) for i in range(len(corners)) for j in range(i)], dtype=np.int64).reshape(-1, 2)
    drawing.rods(corners[pairs[:, 0]], corners[pairs[:, 1]], 1.4 * _ROD, color, look=PART)
    if step.joins and step.point is not None:  # the new edges
        new = np.broadcast_to(view.local(step.point), corners[is_kept].shape)
        drawing.rods(corners[is_kept], new, 0.5 * _ROD, color, look=PART)
    drawing.balls(corners[is_kept], 1.1 * _BALL, color, look=PART)
    drawing.balls(corners[~is_kept], 1.1 * _BALL, PALETTE["dropped"], look=PART)
    for corner, name in zip(corners, step.names, strict=True):
        if name in step.dropped:
            drawing.label(corner, f"{name} (drop)", darker(PALETTE["dropped"], 0.62))
        elif name != step.point_name:
            drawing.label(corner, name, darker(PALETTE["simplex"], 0.62))


def _add_polytope(drawing: Drawing, view: View, step: Step) -> None:
    vertices, color = view.local(step.vertices), rod_color("polytope")
    removed, near = {tuple(face) for face in step.removed.tolist()}, tuple(step.closest.tolist())
    remaining = [face for face in step.faces.tolist() if tuple(face) not in removed and tuple(face) != near]
    visible = [face for face in step.removed.tolist() if tuple(face) != near]
    for faces, role, opacity in ((remaining, "polytope", 0.3), (visible, "removed", 0.6), ([near], "closest", 0.9)):
        if faces:
            drawing.body(vertices, faces, PALETTE[role], opacity, outline=False, even=role != "polytope")
    edges = {tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))) for f in step.faces for i in range(3)}
    rim = {tuple(sorted(map(int, edge))) for edge in step.horizon}
    thin = 0.6 * _ROD if len(step.faces) < 60 else 0.3 * _ROD
    for every, radius, tone in ((edges - rim, thin, color), (rim, 1.2 * _ROD, PALETTE["new"])):
        pairs = np.array(sorted(every), dtype=np.int64).reshape(-1, 2)
        drawing.rods(vertices[pairs[:, 0]], vertices[pairs[:, 1]], radius, tone, 16, look=PART)
    used = np.unique(step.faces)
    named = used if len(used) <= 9 else np.unique(step.closest)
    drawing.balls(vertices[used if len(used) <= 40 else named], 0.7 * _BALL, color, look=PART)
    for i in named.tolist():
        if step.names[i] != step.point_name or step.phase == "answer":
            drawing.label(vertices[i], step.names[i], darker(PALETTE["polytope"], 0.62))
