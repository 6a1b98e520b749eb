"""The options of pictures that apply to all kinds of objects, and their checks.

Every error names the option, its value and the accepted values.
"""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.shapes.base import number, vector
from gjk3d.viz.drawing import INK, PALE, TRANSPARENT, Drawing, direction, is_dark
from gjk3d.wording import count, expected_names, kind_of, nearest


class Look(NamedTuple):
    """The options of a picture for its camera and its background."""

    view: Any = None
    up: Any = None
    focus: Any = None
    background: str | None = None


USUAL = Look()
#: Directions to the camera and up, by pyvista's name of the view.
_VIEWS = {
    "xy": ((0, 0, 1), (0, 1, 0)),
    "xz": ((0, -1, 0), (0, 0, 1)),
    "yz": ((1, 0, 0), (0, 0, 1)),
    "yx": ((0, 0, -1), (1, 0, 0)),
    "zx": ((0, 1, 0), (1, 0, 0)),
    "zy": ((-1, 0, 0), (0, 1, 0)),
    "iso": ((1, 1, 1), (0, 0, 1)),
}
#: The option of `show` for options of other libraries.
UNKNOWN_OPTIONS = {
    **dict.fromkeys(("filename", "file", "save", "savefig", "screenshot", "output", "out", "target"), "path="),
    **dict.fromkeys(("color", "colour", "colours", "c"), "colors="),
    **dict.fromkeys(("alpha", "transparency", "opacities"), "opacity="),
    **dict.fromkeys(("name", "label", "legend"), "names="),
    **dict.fromkeys(("text", "caption"), "title="),
    **dict.fromkeys(("window_size", "figsize", "resolution"), "size="),
    **dict.fromkeys(("camera", "camera_position", "cpos", "camera_direction", "azimuth"), "view="),
    **dict.fromkeys(("bg", "background_color"), "background="),
    "transparent": "transparent_background=",
    "poses": "pose=",
    "transform": "pose=",
    "zoom": "focus=(point, radius)",
    "unit_of_length": "unit=",
}
#: Greatest width and height of a picture, in pixels, which OpenGL drivers support.
_MOST_PIXELS = 16384


def check_plotter(plotter: Any) -> None:
    """Raise TypeError for an object that is neither a pyvista Plotter nor None."""
    if plotter is not None and not hasattr(plotter, "renderer"):
        raise TypeError(f"plotter is {kind_of(plotter)}, expected a pyvista Plotter. Pass several objects as one list")


def check_size(size: Any) -> None:
    """Raise ValueError for a size that is not a width and a height in pixels."""
    sides = size if isinstance(size, (tuple, list)) else ()
    if len(sides) != 2 or not all(isinstance(side, Integral) and 1 <= int(side) <= _MOST_PIXELS for side in sides):
        raise ValueError(f"size is {size!r:.80}, expected (width, height) in pixels, each from 1 to {_MOST_PIXELS}")


def check_color(value: Any, option: str) -> None:
    """Raise TypeError or ValueError for a value of ``option`` that is not a colour."""
    expected = "expected a colour such as 'navy' or '#102040'"
    if not isinstance(value, str):
        raise TypeError(f"{option} is {value!r:.80}, {expected}")
    if re.fullmatch("#[0-9a-fA-F]{6}", value):
        return
    from pyvista import Color
    from pyvista.plotting import colors

    try:
        Color(value)
    except ValueError:
        names = getattr(colors, "hex_colors", None) or colors.hexcolors  # before pyvista 0.46
        raise ValueError(f"{option} is {value!r:.80}, {expected}.{nearest(value, names)}") from None


def texts(value: Any, option: str, what: str) -> tuple[str, ...] | None:
    """Return the value of ``option``, one text or a sequence of texts, as a tuple. ``what`` names a text in errors."""
    rows = (value,) if isinstance(value, str) else value
    if rows is None:
        return None
    if not isinstance(rows, (tuple, list, np.ndarray)) or not all(isinstance(row, str) for row in rows):
        raise TypeError(f"{option} is {value!r:.80}, expected {what}, or one for each body")
    return tuple(map(str, rows))


def opacities(value: Any) -> tuple[float, ...] | None:
    """Return the value of the option ``opacity``, one number or a sequence of numbers, as a tuple."""
    if value is None:
        return None
    rows = (value,) if isinstance(value, (Real, str)) else value
    valid = isinstance(rows, (tuple, list, np.ndarray)) and len(rows) > 0
    if not valid or not all(isinstance(row, Real) and 0.0 <= float(row) <= 1.0 for row in rows):
        raise ValueError(f"opacity is {value!r:.80}, expected a number from 0 to 1, or one for each body")
    return tuple(map(float, rows))


def check_count(rows: tuple[Any, ...] | None, bodies: int | None, option: str) -> None:
    """Raise ValueError if ``option`` has more values than the picture has bodies. None is any number of bodies."""
    if rows is not None and bodies is not None and len(rows) > bodies:
        raise ValueError(f"{option} has {len(rows)} values, expected at most {count(bodies, 'value')}, one per body")


def check_title(title: Any) -> None:
    """Raise TypeError for a title that is neither a text nor None."""
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title is {title!r:.80}, expected a text")


def aim_at(drawing: Drawing, look: Look) -> None:
    """Set the camera of a drawing from the options ``view``, ``up`` and ``focus`` of `show`."""
    view, up = look.view, look.up
    if isinstance(view, str):
        if view not in _VIEWS:
            raise ShapeError(f"view is {view!r}, {expected_names(view, _VIEWS)} A direction (x, y, z) is accepted too")
        view, default = _VIEWS[view]
        up = default if up is None else up
    if look.focus is not None:
        if not isinstance(look.focus, (tuple, list)) or len(look.focus) != 2:
            raise ShapeError(f"focus is {look.focus!r:.80}, expected a point and a radius, such as ((0, 0, 0), 1)")
        drawing.focus = vector(look.focus[0], "focus center"), number(look.focus[1], "focus radius")
        drawing.aimed = True
    drawing.view = drawing.view if view is None else direction(view, "view")
    drawing.up = drawing.up if up is None else direction(up, "up")
    given = look.up if look.view is not None and not isinstance(look.view, str) else None
    if given is not None and np.linalg.norm(np.cross(direction(look.view, "view"), direction(given, "up"))) < 1e-9:
        raise ShapeError(f"up is {given!r:.80}, which is parallel to view {look.view!r:.80}. Choose another up=")
    if any(value is not None for value in look[:3]):
        drawing.camera = None


def set_background(drawing: Drawing, background: str | None) -> None:
    """Set the background of a drawing. On a dark background, text and lines in the colour `INK` become light."""
    if background is None:
        return
    if background != TRANSPARENT:
        check_color(background, "background")
        if is_dark(background):
            drawing.recolor(INK, PALE)
    drawing.background = background
