"""A time of impact as a picture: where the bodies are when they meet, their ways there as ghosts, and the ways on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gjk3d.query.motion import Impact, ImpactStatus, Motion
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.bodies import add
from gjk3d.viz.drawing import COLORS, INK, NORMAL, Drawing, Style, darker
from gjk3d.viz.layout import called, side_view
from gjk3d.viz.marks import arrow, ball, rod
from gjk3d.wording import below, moment

_BEYOND = "#6B7785"


def draw(x: Impact, style: Style, *, ghosts: int = 6) -> Drawing:
    """Draw an answer of `gjk3d.time_of_impact` or `shapecast`.

    Parameters
    ----------
    ghosts : int
        How many poses are drawn between the start and the contact, the start being one of them.
    """
    if x.time.ndim == 2:
        raise TypeError(f"this impact is of {len(x)} motions, and one can be drawn: take a row, impact[0]")
    until = float(x.free_until)
    drawing = Drawing(words=_words(x))
    sides = [(x.shape_a, x.motion_a), (x.shape_b, x.motion_b)]
    planes = []
    for k, (shape, motion) in enumerate(sides):
        color = style.color(k, COLORS)
        drawing.key(f"{'AB'[k]}  {style.name(k, called(shape))}", color)
        if isinstance(shape, Halfspace):
            planes.append((shape, motion.at(until), color))
            continue
        if _moves(motion) and until > 0.0:
            for i, time in enumerate(np.linspace(0.0, until, max(ghosts, 1), endpoint=False)):
                add(drawing, shape, motion.at(time), color, 0.10 + 0.15 * i / max(ghosts - 1, 1))
        add(drawing, shape, motion.at(until), color, style.alpha(k, 0.85))
    for shape, pose, color in planes:
        add(drawing, shape, pose, color, 1.0, around=drawing.ball)
    size = drawing.ball[1]
    for k, (shape, motion) in enumerate(sides):
        if not isinstance(shape, Halfspace) and _moves(motion):
            _track(drawing, shape, motion, until, darker(style.color(k, COLORS)), size)
    if x.status != ImpactStatus.FREE:
        drawing.marks(arrow(x.point_a, x.normal, 0.28 * size, 0.008 * size), NORMAL)
        drawing.marks([ball((x.point_a + x.point_b) / 2, 0.02 * size)], INK)
        drawing.key("first contact, and the normal from A to B", NORMAL)
    drawing.view = side_view(_way(x))
    return drawing


def _track(drawing: Drawing, shape: Any, motion: Motion, until: float, color: str, size: float) -> None:
    """Add the way of a body's middle: a rod up to the contact, a thin line beyond."""
    middle = np.append(_middle(shape), 1.0)
    points = (motion.at(np.linspace(0.0, until, 49)) @ middle)[:, :3]
    for a, b in itertools.pairwise(points):
        if not np.array_equal(a, b):
            drawing.marks([rod(a, b, 0.005 * size, 12)], color)
    drawing.marks([ball(points[-1], 0.012 * size, 24)], color)
    if until < 1.0:
        points = (motion.at(np.linspace(until, 1.0, 33)) @ middle)[:, :3]
        drawing.lines(np.stack([points[:-1:2], points[1::2]], axis=1), _BEYOND, width=4.0, framed=False)


def _middle(shape: Any) -> Array:
    from gjk3d.query.bounding import bounding_sphere

    return np.asarray(bounding_sphere(shape).center)


def _moves(motion: Motion) -> bool:
    poses = motion.at(np.array([0.0, 0.31, 1.0]))
    return bool(np.ptp(poses, axis=0).max() > 0.0)


def _way(x: Impact) -> Array:
    """Return the way B goes seen from A, else the normal."""
    way = np.zeros(3)
    for shape, motion, sign in ((x.shape_a, x.motion_a, -1.0), (x.shape_b, x.motion_b, 1.0)):
        if not isinstance(shape, Halfspace):
            middle = np.append(_middle(shape), 1.0)
            way += sign * ((motion.at(1.0) - motion.at(0.0)) @ middle)[:3]
    length = float(np.linalg.norm(way))
    return way / length if length > 0.0 else np.asarray(x.normal)


def _words(x: Impact) -> list[str]:
    if x.status == ImpactStatus.HIT:
        low, high = x.time
        return [f"First contact {moment(low, high)} of the motion", f"proven: first contact {moment(low, high, 10)}"]
    if x.status == ImpactStatus.FREE:
        return ["Free during the whole motion", "proven: no contact at any time from 0 to 1"]
    if x.status == ImpactStatus.OVERLAPPING:
        return ["Too close from the start", "proven: closer than the clearance at time 0"]
    until = below(x.free_until, 8)
    return [f"Free until {until}, then undecided", f"proven: no contact before {until}"]
