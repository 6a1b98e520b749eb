"""Lists of things as one picture, each in a colour of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.query.volume import Volume
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.viz.bodies import add, matrices, words_for
from gjk3d.viz.drawing import GREY, NORMAL, PALETTE, SEPARATION, Drawing, Style

#: Names that are told; of more bodies only the number is.
MOST_KEYS = 8
#: Bounding volumes in a row take these in turn: what they bound has those of bodies.
_VOLUMES = (NORMAL, SEPARATION, *PALETTE[3:])


def draw(x: Any, style: Style) -> Drawing:
    """Draw a list of solids, or of pairs of a solid and its pose; of other things one after another."""
    from gjk3d.viz.kinds import drawing_of, is_solid

    if type(x) not in (list, tuple):
        raise TypeError(f"{type(x).__name__} cannot be drawn")  # an answer with fields is no list
    entries = [_split(entry) for entry in ([x] if _is_pair(x) else x)]
    if not entries:
        raise ValueError("there is nothing to draw: the list is empty")
    drawing = Drawing()
    named = len(entries) <= MOST_KEYS
    planes: list[tuple[int, str]] = []
    volumes = 0
    for k, (thing, pose) in enumerate(entries):
        plane = isinstance(thing, Halfspace)
        color = GREY if plane and style.colors is None else style.color(k - len(planes) if style.colors is None else k)
        if not is_solid(thing):
            colors = style.colors
            if isinstance(thing, Volume):
                colors = (style.color(volumes, _VOLUMES),)
                volumes += 1
            drawing.take(drawing_of(thing, Style(pose, colors, style.opacity)))
            continue
        if plane:
            planes.append((k, color))
        else:
            stack = matrices(pose)
            for i, at in enumerate(stack):
                fade = 1.0 if i == len(stack) - 1 else 0.3
                add(drawing, thing, at, color, fade * style.alpha(k, 1.0))
        if named:
            drawing.key(style.name(k, words_for(thing)), color)
    around = drawing.ball
    for k, color in planes:
        for at in matrices(entries[k][1]):
            add(drawing, entries[k][0], at, color, style.alpha(k, 1.0), around=around)
    if not named:
        drawing.words.append(f"{len(entries)} bodies")
    return drawing


def _split(entry: Any) -> tuple[Any, Any]:
    return (entry[0], entry[1]) if _is_pair(entry) else (entry, None)


def _is_pair(entry: Any) -> bool:
    """Tell whether this is a thing and its pose or poses, rather than two things."""
    if not (type(entry) is tuple and len(entry) == 2):
        return False
    pose = entry[1]
    return pose is None or hasattr(pose, "as_matrix") or (np.ndim(pose) in (2, 3) and np.shape(pose)[-2:] == (4, 4))
