"""Poses as pictures: their axes, and the way through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import PoseError
from gjk3d.viz.bodies import add_axes, evenly, matrices
from gjk3d.viz.drawing import GREY, Drawing, Style

#: Poses whose axes are drawn; of more, so many evenly.
_MOST = 60


def draw(x: Any, style: Style, *, size: float | None = None) -> Drawing:
    """Draw one pose or a stack: x is red-orange, y green, z blue.

    Parameters
    ----------
    size : float
        Length of the arrows.
    """
    if isinstance(x, np.ndarray) and x.shape[-2:] != (4, 4):
        raise TypeError(
            f"an array of shape {x.shape} cannot be drawn: poses are (4, 4) or (n, 4, 4), points a gjk3d.PointCloud"
        )
    try:
        stack = matrices(x)
    except PoseError as error:
        raise TypeError(f"this array cannot be drawn: {error}") from None
    drawing = Drawing()
    shown = evenly(len(stack), _MOST)
    places = stack[:, :3, 3]
    if len(stack) > 1:
        drawing.lines(np.stack([places[:-1], places[1:]], axis=1), GREY, width=2.5)
    add_axes(drawing, stack[shown], size)
    drawing.words = ["1 pose" if len(stack) == 1 else f"{len(stack)} poses"]
    if len(shown) < len(stack):
        drawing.words.append(f"the axes of {len(shown)} of them")
    return drawing
