"""The colours of pictures and pages: A, B and other bodies, and markers."""

from __future__ import annotations

#: Orange and bluish green of Okabe and Ito, whose colours are distinct for all kinds of colour vision.
COLORS = ("#E69F00", "#009E73")
#: Colours of bodies in turn. Blue and vermilion are reserved for markers.
PALETTE = (*COLORS, "#56B4E9", "#CC79A7", "#F0E442", "#8C8C8C")
NORMAL, SEPARATION, INK, GREY = "#0072B2", "#D55E00", "#202124", "#A8B2BD"
COMMON = "#D6408F"  #: colour of the overlap volume
#: Ink on a dark background.
PALE = "#E8EAED"
#: Colours of the x, y and z axes.
AXES = (SEPARATION, COLORS[1], NORMAL)


def hex_rgb(color: str) -> str:
    """Return a colour as ``#RRGGBB``, or "transparent". The names of pyvista are accepted too."""
    if (color.startswith("#") and len(color) == 7) or color == "transparent":
        return color
    import pyvista

    return str(pyvista.Color(color).hex_rgb)


def is_dark(color: str) -> bool:
    """Return whether light text has more contrast on a colour than dark text."""
    red, green, blue = (int(hex_rgb(color)[k : k + 2], 16) for k in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128.0
