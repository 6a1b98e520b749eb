"""Rays and what they meet as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.query.raycast import RayHit
from gjk3d.viz.drawing import COLORS, GREY, INK, NORMAL, PALETTE, SEPARATION, Drawing, Style, ball_of
from gjk3d.viz.marks import arrow, ball, rod

#: Rays drawn as rods with arrows; more are lines.
_MOST_RODS = 60
#: Colours of rays that hit, and of where: the first that is not in what they were cast at.
_HITS, _WHERE = (NORMAL, COLORS[1], PALETTE[3]), (SEPARATION, COLORS[0], INK)


def draw(x: RayHit, style: Style, *, origins: Any = None, directions: Any = None, of: Any = None) -> Drawing:
    """Draw an answer of `gjk3d.raycast` or `Scene.raycast`.

    Parameters
    ----------
    origins, directions : (3,) float or (n, 3) float, optional
        The rays, where they are to be drawn otherwise than they were cast.
    of : anything that can be drawn
        What the rays were cast at; ``pose`` is its pose.
    """
    drawing = Drawing()
    if of is not None:
        from gjk3d.viz.kinds import drawing_of

        target = drawing_of(of, Style(style.pose, style.colors, 0.45 if style.opacity is None else style.opacity))
        drawing.take(target)
        drawing.words = []
    points = np.reshape(x.point, (-1, 3))
    given = (x.origin if origins is None else origins, x.direction if directions is None else directions)
    starts, ways = (np.asarray(rows, dtype=np.float64).reshape(-1, 3) for rows in given)
    starts, ways = np.broadcast_to(starts, points.shape), np.broadcast_to(ways, points.shape)
    ways = ways / np.linalg.norm(ways, axis=1)[:, None]
    hit, inside = np.reshape(x.hit, -1), np.reshape(x.inside, -1)
    size = ball_of(np.concatenate([drawing.framed, starts, points[hit]]))[1]
    beyond = 0.6 * size if len(drawing.items) == 0 else _reach(starts, ways, drawing, size)
    ends = np.where(hit[:, None], points, starts + np.reshape(beyond, (-1, 1)) * ways)
    taken = {item.color for item in drawing.items}
    colors = [next((color for color in wished if color not in taken), wished[-1]) for wished in (_HITS, _WHERE)]
    colors.append("#5F6368" if drawing.keys else GREY)  # what is free in a scene is light
    _add_rays(drawing, starts, ends, hit, size, colors)
    for point, normal in zip(points[hit & ~inside], np.reshape(x.normal, (-1, 3))[hit & ~inside], strict=True):
        if len(points) <= _MOST_RODS:
            drawing.marks(arrow(point, normal, 0.12 * size, 0.006 * size), colors[1])
    drawing.words.insert(0, f"{int(hit.sum())} of {len(hit)} rays hit" if len(hit) > 1 else _single(x))
    drawing.key("rays that hit", colors[0])
    if not hit.all():
        drawing.key("rays that miss", colors[2])
    if hit.any():
        drawing.key("where, and the normal there", colors[1])
    return drawing


def _add_rays(drawing: Drawing, starts: Any, ends: Any, hit: Any, size: float, colors: list[str]) -> None:
    few = len(hit) <= _MOST_RODS
    for a, b, met in zip(starts, ends, hit, strict=True):
        if few:
            color = colors[0] if met else colors[2]
            drawing.marks([rod(a, b, 0.0045 * size, 12)], color, framed=bool(met))
            drawing.marks([ball(a, 0.009 * size, 16)], color)
            if met:
                drawing.marks([ball(b, 0.012 * size, 24)], colors[1])
    if not few:
        segments = np.stack([starts, ends], axis=1)
        drawing.lines(segments[hit], colors[0], width=1.2)
        drawing.lines(segments[~hit], colors[2], width=1.2, framed=False)
        drawing.dots(starts, colors[2], width=2.0)
        drawing.dots(ends[hit], colors[1], width=7.0)


def _reach(starts: Any, ways: Any, drawing: Drawing, size: float) -> Any:
    """Return how far to draw rays that miss: past the middle of what they were cast at."""
    center = drawing.ball[0]
    return np.clip(((center - starts) * ways).sum(axis=1) + 0.8 * size, 0.6 * size, 3.0 * size)


def _single(x: RayHit) -> str:
    return repr(x).replace("RayHit: ", "Hit " if bool(np.reshape(x.hit, -1)[0]) else "Hit: ")
