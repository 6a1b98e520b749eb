"""What an object shows of itself in a notebook: every class that has a picture asks here, through `gjk3d.shown`."""

from __future__ import annotations

from typing import Any

from gjk3d.errors import Gjk3dError
from gjk3d.viz import notebook
from gjk3d.viz.explanation import Explanation
from gjk3d.viz.kinds import drawing_of
from gjk3d.viz.page import write_drawing
from gjk3d.viz.picture import figure_of, own_page


def bundle(x: Any) -> notebook.Bundle:
    """Return what an object shows of itself; its text alone where it has no picture, or nothing can draw one."""
    if notebook.is_terminal():
        return {}, {}
    try:
        if isinstance(x, Explanation):
            return x._figure()
        drawing = drawing_of(x)
        return figure_of(drawing, repr(x), lambda to: own_page(x, to) or write_drawing(drawing, to))
    except (TypeError, ValueError, ImportError, Gjk3dError):
        return {"text/plain": repr(x)}, {}
