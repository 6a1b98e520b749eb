"""What a motion meets, and when; what rays meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.query.motion import Motion
from gjk3d.query.raycast import RayHit
from gjk3d.query.time_of_impact import Impact, ImpactStatus
from gjk3d.query.wording import impact_words
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import COLORS, GREY, INK, NORMAL, PALETTE, SEPARATION, Drawing, Style, ball_of, darker
from gjk3d.viz.kinds.answers import key_pair
from gjk3d.viz.kinds.bodies import add
from gjk3d.viz.layout import side_view
from gjk3d.viz.triangles import solid_surface

_BEYOND = "#6B7785"


def draw_impact(x: Impact, style: Style, *, ghosts: int = 6) -> Drawing:
    """Draw an answer of `gjk3d.time_of_impact` or `shapecast`.

    Parameters
    ----------
    ghosts : int
        How many poses are drawn between the start and the contact, the start being one of them.
    """
    if x.time.ndim == 2:
        raise TypeError(f"this impact is of {len(x)} motions, and one can be drawn: take a row, impact[0]")
    until = float(x.free_until)
    drawing = Drawing(words=impact_words(x))
    sides = [(x.shape_a, x.motion_a), (x.shape_b, x.motion_b)]
    key_pair(drawing, (x.shape_a, x.shape_b), style)
    for k, (shape, motion) in enumerate(sides):
        color = style.color(k, COLORS)
        plane = isinstance(shape, Halfspace)
        if not plane and moves(motion) and until > 0.0:
            for i, time in enumerate(np.linspace(0.0, until, max(ghosts, 1), endpoint=False)):
                add(drawing, shape, motion.at(time), color, 0.10 + 0.15 * i / max(ghosts - 1, 1))
        add(drawing, shape, motion.at(until), color, 1.0 if plane else style.alpha(k, 0.85))
    size = drawing.ball[1]
    for k, (shape, motion) in enumerate(sides):
        color = darker(style.color(k, COLORS))
        if not isinstance(shape, Halfspace) and moves(motion):
            drawing.key(f"way of the middle of {'AB'[k]}", color)
            _track(drawing, shape, motion, until, color, size)
    drawing.take(contact_signs(x, size))
    drawing.view = side_view(_way(x))
    return drawing


def contact_signs(x: Impact, size: float) -> Drawing:
    """Draw where two first meet, and the normal there; nothing of two that do not."""
    signs = Drawing()
    if x.status != ImpactStatus.FREE:
        key = "first contact, and the normal from A to B"
        signs.arrows(x.point_a, x.normal, 0.28 * size, 0.008 * size, NORMAL, key=key)
        signs.balls((x.point_a + x.point_b) / 2, 0.02 * size, INK)
    return signs


def _track(drawing: Drawing, shape: Any, motion: Motion, until: float, color: str, size: float) -> None:
    """Add the way of a body's middle: a rod up to the contact, and dashes a third as far beyond."""
    points = track(shape, motion, np.linspace(0.0, until, 49))
    drawing.rods(points[:-1], points[1:], 0.005 * size, color, 12)
    drawing.balls(points[-1], 0.012 * size, color, 24)
    if 0.0 < until < 1.0:
        points = track(shape, motion, np.linspace(until, min(1.0, 4.0 / 3.0 * until), 17))
        drawing.lines(np.stack([points[:-1:2], points[1::2]], axis=1), _BEYOND, width=4.0, key="the way it would go on")


def track(shape: Any, motion: Motion, times: Array) -> Array:
    """Return where the middle of a body is at some times."""
    found: Array = (motion.at(times) @ np.append(ball_of(solid_surface(shape)[0])[0], 1.0))[:, :3]
    return found


def moves(motion: Motion) -> bool:
    """Return whether a motion goes anywhere."""
    poses = motion.at(np.array([0.0, 0.31, 1.0]))
    return bool(np.ptp(poses, axis=0).max() > 0.0)


def _way(x: Impact) -> Array:
    """Return the way B goes seen from A, else the normal."""
    way = np.zeros(3)
    for shape, motion, sign in ((x.shape_a, x.motion_a, -1.0), (x.shape_b, x.motion_b, 1.0)):
        if not isinstance(shape, Halfspace):
            start, end = track(shape, motion, np.array([0.0, 1.0]))
            way += sign * (end - start)
    length = float(np.linalg.norm(way))
    return way / length if length > 0.0 else np.asarray(x.normal)


#: Rays drawn as rods with arrows; more are lines.
_MOST_RODS = 60
#: Colours of rays that hit, and of where: the first that is not in what they were cast at.
_HITS, _WHERE = (NORMAL, COLORS[1], PALETTE[3]), (SEPARATION, COLORS[0], INK)


def draw_rays(x: RayHit, style: Style, *, of: Drawing | None = None) -> Drawing:
    """Draw an answer of `gjk3d.raycast` or `Scene.raycast`.

    Parameters
    ----------
    of : Drawing, optional
        Of what the rays were cast at.
    """
    drawing = Drawing()
    if of is not None:
        drawing.take(of)
        drawing.words = []
    points = np.reshape(x.point, (-1, 3))
    starts, ways = (np.broadcast_to(np.reshape(rows, (-1, 3)), points.shape) for rows in (x.origin, x.direction))
    ways = ways / np.linalg.norm(ways, axis=1)[:, None]
    hit, inside = np.reshape(x.hit, -1), np.reshape(x.inside, -1)
    size = ball_of(np.concatenate([drawing.framed, starts, points[hit]]))[1]
    # those that miss are drawn past the middle of what they were cast at
    middle = ((drawing.ball[0] - starts) * ways).sum(axis=1) if drawing.items else np.full(len(starts), -np.inf)
    beyond = np.clip(middle + 0.8 * size, 0.6 * size, 3.0 * size)
    ends = np.where(hit[:, None], points, starts + beyond[:, None] * ways)
    taken = {item.color for item in drawing.items}
    colors = [next((color for color in wished if color not in taken), wished[-1]) for wished in (_HITS, _WHERE)]
    colors.append("#5F6368" if drawing.keys else GREY)  # what is free in a scene is light
    _add_rays(drawing, starts, ends, hit, size, colors)
    out = hit & ~inside
    if len(points) <= _MOST_RODS:
        drawing.arrows(points[out], np.reshape(x.normal, (-1, 3))[out], 0.12 * size, 0.006 * size, colors[1])
    single = repr(x).replace("RayHit: ", "Hit " if hit.all() else "Hit: ")
    drawing.words.insert(0, f"{int(hit.sum())} of {len(hit)} rays hit" if len(hit) > 1 else single)
    drawing.key("rays that hit", colors[0])
    if not hit.all():
        drawing.key("rays that miss", colors[2])
    if hit.any():
        drawing.key("where, and the normal there", colors[1])
    return drawing


def _add_rays(drawing: Drawing, starts: Any, ends: Any, hit: Any, size: float, colors: list[str]) -> None:
    if len(hit) <= _MOST_RODS:
        for rows, color in ((hit, colors[0]), (~hit, colors[2])):
            drawing.rods(starts[rows], ends[rows], 0.0045 * size, color, 12, framed=color == colors[0])
            drawing.balls(starts[rows], 0.009 * size, color, 16)
        drawing.balls(ends[hit], 0.012 * size, colors[1], 24)
    else:
        segments = np.stack([starts, ends], axis=1)
        drawing.lines(segments[hit], colors[0], width=1.2)
        drawing.lines(segments[~hit], colors[2], width=1.2, framed=False)
        drawing.dots(starts, colors[2], width=2.0)
        drawing.dots(ends[hit], colors[1], width=7.0)
