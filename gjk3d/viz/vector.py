"""Pictures whose words stay words: SVG and PDF of what is seen, with its words over it as text.

VTK's own writer of these, GL2PS, does this too; now and then it took the whole process with it.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d.viz.words import extent, unescaped

if TYPE_CHECKING:
    import pyvista
    from PIL import Image

#: From a row's lower edge up to the line that its letters stand on, in heights of letters.
_DESCENT = 0.21
#: Of what is behind words beyond them, in pixels, as VTK has it.
_RIM = 2.0
#: What may not be in an XML file in any form.
_NO_LETTERS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Words(NamedTuple):
    """Rows of words in a picture, in pixels from its upper left corner."""

    rows: list[tuple[str, float]]  #: with how wide each is
    left: float
    lows: list[float]  #: the line that the letters of each row stand on
    size: int  #: of letters
    color: str
    box: tuple[float, float, float, float]  #: left, top, width and height of what is behind them
    behind: tuple[str, float]  #: its colour and opacity


@contextmanager
def without_words(plotter: pyvista.Plotter) -> Iterator[list[Words]]:
    """Hide level words while the rest is drawn, and tell what they are."""
    from vtkmodules.vtkRenderingCore import vtkTextActor

    found = [
        (renderer, actor)
        for renderer in plotter.renderers
        for actor in renderer.actors.values()
        if isinstance(actor, vtkTextActor) and actor.GetVisibility() and (actor.GetInput() or "").strip()
        if not actor.GetTextProperty().GetOrientation()
    ]
    words = [_words(renderer, actor, plotter.window_size[1]) for renderer, actor in found]
    for _, actor in found:
        actor.VisibilityOff()
    try:
        yield words
    finally:
        for _, actor in found:
            actor.VisibilityOn()
        plotter.render()


def write_vector(image: Image.Image, words: list[Words], size: tuple[int, int], target: Path) -> None:
    """Write ``.svg`` or ``.pdf``, of as many pixels or points as the window has, whatever the image has."""
    if target.suffix.lower() == ".svg":
        target.write_text(_svg(image, words, size), encoding="utf-8")
    else:
        _write_pdf(image, words, size, target)


def _words(renderer: Any, actor: Any, window: int) -> Words:
    import pyvista

    look, text = actor.GetTextProperty(), actor.GetInput()
    x, y = actor.GetActualPositionCoordinate().GetComputedDoubleDisplayValue(renderer)
    left, right, low, high = extent(look, text)
    rows = text.split("\n")
    edges = [extent(look, row) for row in rows]
    (wide, tall), size = (right - left, high - low), look.GetFontSize()
    step = (tall - (edges[0][3] - edges[0][2])) / max(len(rows) - 1, 1)
    opacity = look.GetBackgroundOpacity()
    rim = _RIM if opacity else 0.0
    bottom = window - y - low
    return Words(
        [
            (_NO_LETTERS.sub("", unescaped(row)), edge[1] - edge[0] - 2.0 * rim)
            for row, edge in zip(rows, edges, strict=True)
        ],
        x + left + rim,
        [bottom - rim - _DESCENT * size - step * (len(rows) - 1 - k) for k in range(len(rows))],
        size,
        str(pyvista.Color(look.GetColor()).hex_rgb),
        (x + left, bottom - tall, wide, tall),
        (str(pyvista.Color(look.GetBackgroundColor()).hex_rgb), opacity),
    )


def _svg(image: Image.Image, words: list[Words], window: tuple[int, int]) -> str:
    """Return an SVG in which rows are as wide as they were here: a viewer has fonts of its own."""
    wide, tall = window
    pixels = io.BytesIO()
    image.save(pixels, "png")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}">',
        f'<image width="{wide}" height="{tall}" '
        f'href="data:image/png;base64,{base64.b64encode(pixels.getvalue()).decode("ascii")}"/>',
    ]
    for each in words:
        x, y, width, height = each.box
        color, opacity = each.behind
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'fill="{color}" fill-opacity="{opacity:g}"/>'
        )
        lines += [
            f'<text x="{each.left:g}" y="{low:.5g}" font-family="Helvetica, Arial, sans-serif" font-size="{each.size}" '
            f'fill="{each.color}" xml:space="preserve" textLength="{long:g}" lengthAdjust="spacingAndGlyphs">'
            f"{escape(row)}</text>"
            for (row, long), low in zip(each.rows, each.lows, strict=True)
            if row.strip()
        ]
    return "\n".join([*lines, "</svg>\n"])


def _write_pdf(image: Image.Image, words: list[Words], window: tuple[int, int], target: Path) -> None:
    """Write a page of an image and text over it, whose letters are as large as makes each row as wide as it was."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    look = rc_context({"pdf.fonttype": 42, "text.usetex": False, "font.family": "DejaVu Sans"})
    with look, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that this font does not have: they are boxes here
        wide, tall = window
        page = Figure(figsize=(wide / 72.0, tall / 72.0), dpi=72)
        canvas = FigureCanvasPdf(page)
        whole = page.add_axes((0.0, 0.0, 1.0, 1.0))
        whole.axis("off")
        whole.imshow(np.asarray(image), aspect="auto", interpolation="none")
        for each in words:
            x, y, width, height = each.box
            color, opacity = each.behind
            behind = Rectangle((x, tall - y - height), width, height, transform=None, lw=0.0, fc=color, alpha=opacity)
            page.add_artist(behind)
            for (row, long), low in zip(each.rows, each.lows, strict=True):
                text = page.text(
                    each.left / wide,
                    1.0 - low / tall,
                    row,
                    size=each.size,
                    color=each.color,
                    parse_math=False,
                    va="baseline",
                )
                text.set_fontsize(each.size * long / max(text.get_window_extent().width, 1.0))
        canvas.print_pdf(target)  # type: ignore[no-untyped-call]
