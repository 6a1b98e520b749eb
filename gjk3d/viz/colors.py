"""The colours of pictures: of bodies, markers, text and backgrounds."""

from __future__ import annotations

import re
from typing import Any

from gjk3d.wording import nearest

#: Colours of A and B: orange and bluish green of Okabe and Ito, which are distinct for all kinds of colour vision.
#: ``gjk3d/templates/page.css`` has them too.
COLORS = ("#E69F00", "#009E73")
#: Colours of bodies in turn. Blue and vermilion are reserved for markers.
PALETTE = (*COLORS, "#56B4E9", "#CC79A7", "#F0E442", "#8C8C8C")
#: Colours of normals, of separating translations, of text and lines, and of objects without a colour of their own.
NORMAL, SEPARATION, INK, GREY = "#0072B2", "#D55E00", "#202124", "#A8B2BD"
#: Colour of text and lines on a dark background.
PALE = "#E8EAED"
#: Colours of the x, y and z axes.
AXES = (SEPARATION, COLORS[1], NORMAL)
#: The value of ``background`` for a transparent background.
TRANSPARENT = "transparent"


def hex_rgb(color: str) -> str:
    """Return a hex colour or a colour name of pyvista as ``#RRGGBB``. "transparent" is returned unchanged."""
    if (color.startswith("#") and len(color) == 7) or color == "transparent":
        return color
    import pyvista

    return str(pyvista.Color(color).hex_rgb)


def is_dark(color: str) -> bool:
    """Return whether light text has more contrast on a colour than dark text."""
    red, green, blue = (int(hex_rgb(color)[k : k + 2], 16) for k in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128.0


def darker(color: str, by: float = 0.5) -> str:
    """Return a colour, ``#rrggbb`` or a colour name of pyvista, with red, green and blue multiplied by ``by``."""
    color = hex_rgb(color)
    return "#" + "".join(f"{round(by * int(color[k : k + 2], 16)):02X}" for k in (1, 3, 5))


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
