"""Pictures whose words stay words: SVG and PDF of what is seen, with its words over it as text.

VTK's own writer of these, GL2PS, does this too; now and then it took the whole process with it.
"""

from __future__ import annotations

import base64
import io
import re
import threading
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
#: Matplotlib's settings are those of all threads: two that change them at once would put back each other's.
_SETTINGS = threading.Lock()


class Row(NamedTuple):
    """Words side by side."""

    text: str
    left: float
    low: float  #: the line that the letters stand on
    long: float | None  #: how wide it is, None where VTK's font lacks letters, which takes no room for these


class Words(NamedTuple):
    """Rows of words in a picture, in pixels from its upper left corner."""

    rows: list[Row]
    size: int  #: of letters
    ink: tuple[str, float]  #: colour and opacity of letters
    panel: tuple[float, float, float, float]  #: left, top, width and height of where they end
    box: tuple[float, float, float, float]  #: the same of what is behind them
    behind: tuple[str, float]  #: its colour and opacity


@contextmanager
def without_words(plotter: pyvista.Plotter) -> Iterator[list[Words]]:
    """Hide plain words while the rest is drawn, and tell what they are."""
    from vtkmodules.vtkRenderingCore import vtkTextActor

    found = [
        (renderer, actor)
        for renderer in plotter.renderers
        for actor in renderer.actors.values()
        if isinstance(actor, vtkTextActor) and actor.GetVisibility() and (actor.GetInput() or "").strip()
        if _is_plain(actor)
    ]
    words = [_words(renderer, actor, plotter.window_size) for renderer, actor in found]
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


def _is_plain(actor: Any) -> bool:
    """Return whether words look the same as text of SVG and PDF: what is turned, framed or a formula does not."""
    from vtkmodules.vtkRenderingCore import vtkTextRenderer

    look, renderer = actor.GetTextProperty(), vtkTextRenderer.GetInstance()
    special = look.GetOrientation(), look.GetBold(), look.GetItalic(), look.GetShadow(), look.GetFrame()
    letters = renderer.DetectBackend(actor.GetInput()) == vtkTextRenderer.FreeType
    return letters and not any(special) and look.GetFontFamilyAsString() == "Arial"


def _words(renderer: Any, actor: Any, window: tuple[int, int]) -> Words:
    import pyvista

    look, text = actor.GetTextProperty(), actor.GetInput()
    x, y = actor.GetActualPositionCoordinate().GetComputedDoubleDisplayValue(renderer)
    left, right, low, high = extent(look, text)
    rows = text.split("\n")
    edges = [extent(look, row) for row in rows]
    (wide, tall), size = (right - left, high - low), look.GetFontSize()
    step = (tall - (edges[0][3] - edges[0][2])) / max(len(rows) - 1, 1)
    rim = _RIM if look.GetBackgroundOpacity() else 0.0
    bottom = window[1] - y - low
    (begin, base), (across, up) = renderer.GetOrigin(), renderer.GetSize()
    return Words(
        [
            Row(
                _NO_LETTERS.sub("", unescaped(row)),
                x + edge[0] + rim,  # rows of several are on a side, or in the middle, by themselves too
                bottom - rim - _DESCENT * size - step * (len(rows) - 1 - k),
                edge[1] - edge[0] - 2.0 * rim if _has_letters(look, row, rim) else None,
            )
            for k, (row, edge) in enumerate(zip(rows, edges, strict=True))
        ],
        size,
        (str(pyvista.Color(look.GetColor()).hex_rgb), look.GetOpacity()),
        (begin, window[1] - base - up, across, up),
        (x + left, bottom - tall, wide, tall),
        (str(pyvista.Color(look.GetBackgroundColor()).hex_rgb), look.GetBackgroundOpacity()),
    )


def _has_letters(look: Any, row: str, rim: float) -> bool:
    """Return whether VTK's font has all letters of a row: others are no wider than a pixel."""
    edges = [extent(look, letter) for letter in set(row) if not letter.isascii()]
    return all(right - left > 2.0 * rim + 1.0 for left, right, _, _ in edges)


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
        (color, opacity), (ink, strength) = each.behind, each.ink
        lines += [
            f'<svg {_place(each.panel)} viewBox="{" ".join(f"{edge:g}" for edge in each.panel)}">',
            f'<rect {_place(each.box)} fill="{color}" fill-opacity="{opacity:g}"/>',
        ]
        for text, left, low, long in each.rows:
            fit = "" if long is None else f' textLength="{long:g}" lengthAdjust="spacingAndGlyphs"'
            lines += [
                f'<text x="{left:g}" y="{low:.5g}" font-family="Helvetica, Arial, sans-serif" font-size="{each.size}" '
                f'fill="{ink}" fill-opacity="{strength:g}" xml:space="preserve"{fit}>{escape(text)}</text>'
            ] * bool(text.strip())
        lines.append("</svg>")
    return "\n".join([*lines, "</svg>\n"])


def _place(box: tuple[float, float, float, float]) -> str:
    return 'x="{:g}" y="{:g}" width="{:g}" height="{:g}"'.format(*box)


def _write_pdf(image: Image.Image, words: list[Words], window: tuple[int, int], target: Path) -> None:
    """Write a page of an image and text over it, whose letters are as large as makes each row as wide as it was."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    look = rc_context({"pdf.fonttype": 42, "text.usetex": False, "font.family": "DejaVu Sans"})
    with _SETTINGS, look, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that this font does not have: they are boxes here
        wide, tall = window
        page = Figure(figsize=(wide / 72.0, tall / 72.0), dpi=72)
        canvas = FigureCanvasPdf(page)
        whole = page.add_axes((0.0, 0.0, 1.0, 1.0))
        whole.axis("off")
        whole.imshow(np.asarray(image), aspect="auto", interpolation="none")
        for each in words:
            (color, opacity), (ink, strength) = each.behind, each.ink
            panel, box = (
                Rectangle((x, tall - y - height), width, height, transform=None, lw=0.0, fc=color, alpha=opacity)
                for x, y, width, height in (each.panel, each.box)
            )
            page.add_artist(box).set_clip_path(panel)
            for row, left, low, long in each.rows:
                text = page.text(left / wide, 1.0 - low / tall, row, size=each.size, color=ink, parse_math=False)
                text.set(alpha=strength, va="baseline", clip_on=True)
                text.set_clip_path(panel)
                if long is not None:
                    text.set_fontsize(each.size * long / max(text.get_window_extent().width, 1.0))
        canvas.print_pdf(target)  # type: ignore[no-untyped-call]
