"""Image files: the check that pictures can be drawn, and the writing of pixels, vector graphics and films.

Rendering is checked in a child process, because a missing OpenGL library kills the interpreter. SVG and PDF contain the
rendered picture, and its captions as text. VTK's own writer of these formats, GL2PS, is not used, because it
sometimes ended the process.
"""

from __future__ import annotations

import base64
import functools
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gjk3d.errors import FileError, RenderingUnavailableError
from gjk3d.viz.paint import HALO, extent, unescaped

if TYPE_CHECKING:
    import pyvista
    from PIL import Image


_VARIABLE = "VTK_DEFAULT_OPENGL_WINDOW"
_EGL, _OSMESA = "vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"
_ON_SCREEN = ("vtkXOpenGLRenderWindow", "vtkWin32OpenGLRenderWindow", "vtkCocoaRenderWindow")
_SECONDS = 120.0
_CURE = (
    "no OpenGL library can draw pictures on this computer. On Debian and Ubuntu run "
    "apt-get install -y --no-install-recommends libegl1 libgl1-mesa-dri (a display is not needed)"
)

# draws one red frame, and prints the kind of its window
_PROBE = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow
window, renderer, pixels = vtkRenderWindow(), vtkRenderer(), vtkUnsignedCharArray()
window.SetOffScreenRendering(1)
window.SetSize(8, 8)
renderer.SetBackground(1, 0, 0)
window.AddRenderer(renderer)
window.Render()
window.GetPixelData(0, 0, 7, 7, 1, pixels, 0)
print("drawn in", window.GetClassName() if pixels.GetTuple3(9) == (255.0, 0.0, 0.0) else "nothing", flush=True)
"""


def check_rendering() -> str:
    """Return the kind of window that VTK can draw in, and raise an error if it cannot draw.

    The first call checks in a child process (about half a second) and caches the result. Without a display, the
    environment variable VTK_DEFAULT_OPENGL_WINDOW is set for off-screen rendering, unless it is set already.

    Returns
    -------
    str
        VTK's name of the window, for example ``vtkEGLRenderWindow``.

    Raises
    ------
    RenderingUnavailableError
        No OpenGL library works. The message names the packages to install.
    ImportError
        pyvista is not installed or does not load.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.viz.check_rendering().startswith("vtk")
    True
    """
    window = _probed()
    if window in (_EGL, _OSMESA):
        os.environ.setdefault(_VARIABLE, window)  # avoids VTK's search, its warnings, and a crash without libX11
    try:
        import pyvista  # noqa: F401 - without it the probe fails too, and OpenGL is not the reason
    except ImportError as reason:
        raise ImportError(f"pictures need pyvista, which does not load: {reason}. Run pip install pyvista") from reason
    if window is None:
        raise RenderingUnavailableError(_CURE)
    return window


def has_display() -> bool:
    """Return whether a window can be shown on a display."""
    return check_rendering() in _ON_SCREEN


@functools.cache
def _probed() -> str | None:
    """Return VTK's name of the first kind of window that can draw in a child process, or None."""
    if os.environ.get(_VARIABLE) or not sys.platform.startswith("linux"):
        wishes = [os.environ.get(_VARIABLE)]
    elif os.environ.get("DISPLAY"):
        wishes = [None, _EGL, _OSMESA]
    else:
        wishes = [_EGL, _OSMESA]  # without libX11, VTK's own search crashes
    return next(filter(None, map(_draw, wishes)), None)


def _draw(wish: str | None) -> str | None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {_VARIABLE: wish} if wish else {}
    try:
        call, none = [sys.executable, "-P", "-c", _PROBE], subprocess.DEVNULL
        child = subprocess.run(call, env=environment, stdin=none, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    name = child.stdout.decode(errors="replace").rpartition("drawn in ")[2].strip()
    return name if child.returncode == 0 and name.startswith("vtk") else None


#: Formats of pixels. The others store captions as text.
_PIXELS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
IMAGES = (*_PIXELS, ".svg", ".pdf")
_ALPHA = (".png", ".tif", ".tiff", ".svg", ".pdf")
PAGES = (".html", ".htm")


def shot(plotter: pyvista.Plotter, *, transparent: bool = False) -> Image.Image:
    """Return the picture that a plotter shows, without its background if ``transparent`` is True."""
    from PIL import Image

    plotter.render()  # without it, screenshot() may return the frame before a move of the camera
    pixels = plotter.screenshot(None, return_img=True, transparent_background=transparent)
    return Image.fromarray(np.asarray(pixels))


def check_alpha(target: Path | None, option: str) -> None:
    """Raise ValueError if the argument ``option`` needs transparency and the format of the file lacks it."""
    if target is not None and target.suffix.lower() not in (*_ALPHA, *PAGES):
        cure = f"Use one of {' '.join(_ALPHA)}, or leave {option}= out"
        raise ValueError(f"{target}: {option}= needs a format with transparency. {cure}")


def save(plotter: pyvista.Plotter, target: Path, *, transparent: bool = False) -> Path:
    """Write the picture of a plotter to an image file. Raise RenderingUnavailableError if the picture is blank."""
    pixels = target.suffix.lower() in _PIXELS
    words: list[Words] = []
    if pixels:
        image = shot(plotter, transparent=transparent)
    else:
        with without_words(plotter) as words:
            image = shot(plotter, transparent=transparent)
    if float(np.std(image)) < 1.0:
        raise RenderingUnavailableError(f"{target} would be blank, since the OpenGL driver does not draw. Try xvfb-run")
    if pixels:
        image.save(target)
    else:
        write_vector(image, words, (plotter.window_size[0], plotter.window_size[1]), target)
    return target


def free_name(suffix: str = ".png") -> Path:
    """Return an unused file name for a picture, in the current folder if it is writable."""
    folder = Path() if os.access(".", os.W_OK) else Path(tempfile.mkdtemp(prefix="gjk3d-"))
    names = itertools.chain(["gjk3d"], (f"gjk3d-{k}" for k in itertools.count(2)))
    return next(folder / f"{name}{suffix}" for name in names if not (folder / f"{name}{suffix}").exists())


def target_file(path: str | os.PathLike[str], endings: tuple[str, ...] = (*IMAGES, *PAGES)) -> Path:
    """Return the path of a file to write, after a check that its folder exists and its extension is in ``endings``."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"{target}: the folder {target.parent} does not exist. Make it first")
    if target.is_dir():
        raise FileError(f"{target} is a folder. Name a file in it")
    if target.suffix.lower() not in endings:
        raise ValueError(f"{target} has the unknown extension {target.suffix!r}, expected one of {' '.join(endings)}")
    return target


#: Height of the baseline above the lower edge of a row, in heights of letters.
_DESCENT = 0.21
#: Width of the margin of the background around a text in VTK, in pixels.
_RIM = 2.0
#: Characters that an XML file may not contain in any form.
_NO_LETTERS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Matplotlib's settings are shared by all threads, so only one thread at a time may change and restore them.
_SETTINGS = threading.Lock()


class Row(NamedTuple):
    """One line of a text."""

    text: str
    left: float
    low: float  #: baseline of the letters
    long: float | None  #: width; None if VTK's font lacks some letters, since their width is unknown


class Words(NamedTuple):
    """A text in a picture. Positions and sizes are in pixels. The origin is the upper left corner of the picture."""

    rows: list[Row]
    size: int  #: height of letters
    ink: tuple[str, float]  #: colour and opacity of letters
    panel: tuple[float, float, float, float]  #: left, top, width and height of the panel that clips the text
    box: tuple[float, float, float, float]  #: left, top, width and height of the background
    behind: tuple[str, float]  #: colour and opacity of the background
    halo: str  #: colour of a line around the letters, empty without one


@contextmanager
def without_words(plotter: pyvista.Plotter) -> Iterator[list[Words]]:
    """Yield the texts that SVG and PDF can store as text. They are hidden in the plotter until the context ends."""
    from vtkmodules.vtkRenderingCore import vtkTextActor

    actors = [
        (renderer, name, actor)
        for renderer in plotter.renderers
        for name, actor in renderer.actors.items()
        if isinstance(actor, vtkTextActor) and actor.GetVisibility() and (actor.GetInput() or "").strip()
        if _is_plain(actor)
    ]
    words = [
        _words(renderer, actor, renderer.actors.get(f"{HALO}{name} 0"), plotter.window_size)
        for renderer, name, actor in actors
        if not name.startswith(HALO)
    ]
    for *_, actor in actors:
        actor.VisibilityOff()
    try:
        yield words
    finally:
        for *_, actor in actors:
            actor.VisibilityOn()
        plotter.render()


def write_vector(image: Image.Image, words: list[Words], size: tuple[int, int], target: Path) -> None:
    """Write an SVG or a PDF. A pixel of the window is a pixel of the SVG or a point of the PDF."""
    if target.suffix.lower() == ".svg":
        target.write_text(_svg(image, words, size), encoding="utf-8")
    else:
        _write_pdf(image, words, size, target)


def _is_plain(actor: Any) -> bool:
    """Return whether SVG and PDF can show a text as VTK does: it is not rotated, not framed and not a formula."""
    from vtkmodules.vtkRenderingCore import vtkTextRenderer

    style, renderer = actor.GetTextProperty(), vtkTextRenderer.GetInstance()
    special = style.GetOrientation(), style.GetBold(), style.GetItalic(), style.GetShadow(), style.GetFrame()
    letters = renderer.DetectBackend(actor.GetInput()) == vtkTextRenderer.FreeType
    return letters and not any(special) and style.GetFontFamilyAsString() == "Arial"


def _words(renderer: Any, actor: Any, halo: Any, window: tuple[int, int]) -> Words:
    import pyvista

    style, text = actor.GetTextProperty(), actor.GetInput()
    x, y = actor.GetActualPositionCoordinate().GetComputedDoubleDisplayValue(renderer)
    left, right, low, high = extent(style, text)
    rows = text.split("\n")
    edges = [extent(style, row) for row in rows]
    (wide, tall), size = (right - left, high - low), style.GetFontSize()
    step = (tall - (edges[0][3] - edges[0][2])) / max(len(rows) - 1, 1)
    rim = _RIM if style.GetBackgroundOpacity() else 0.0
    bottom = window[1] - y - low
    (begin, base), (across, up) = renderer.GetOrigin(), renderer.GetSize()
    return Words(
        [
            Row(
                _NO_LETTERS.sub("", unescaped(row)),
                x + edge[0] + rim,  # each row is aligned by itself
                bottom - rim - _DESCENT * size - step * (len(rows) - 1 - k),
                edge[1] - edge[0] - 2.0 * rim if _has_letters(style, row, rim) else None,
            )
            for k, (row, edge) in enumerate(zip(rows, edges, strict=True))
        ],
        size,
        (str(pyvista.Color(style.GetColor()).hex_rgb), style.GetOpacity()),
        (begin, window[1] - base - up, across, up),
        (x + left, bottom - tall, wide, tall),
        (str(pyvista.Color(style.GetBackgroundColor()).hex_rgb), style.GetBackgroundOpacity()),
        "" if halo is None else str(pyvista.Color(halo.GetTextProperty().GetColor()).hex_rgb),
    )


def _has_letters(style: Any, row: str, rim: float) -> bool:
    """Return whether VTK's font has all letters of a row. ``rim`` is the margin around the row in pixels.

    VTK draws a missing letter at most one pixel wide.
    """
    edges = [extent(style, letter) for letter in set(row) if not letter.isascii()]
    return all(right - left > 2.0 * rim + 1.0 for left, right, _, _ in edges)


def _svg(image: Image.Image, words: list[Words], window: tuple[int, int]) -> str:
    """Return an SVG whose rows of text have the same width as in VTK, since the fonts of viewers differ."""
    wide, tall = window
    pixels = io.BytesIO()
    image.save(pixels, "png")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}">',
        f'<image width="{wide}" height="{tall}" '
        f'href="data:image/png;base64,{base64.b64encode(pixels.getvalue()).decode("ascii")}"/>',
    ]
    for block in words:
        (color, opacity), (ink, strength) = block.behind, block.ink
        lines += [
            f'<svg {_place(block.panel)} viewBox="{" ".join(f"{edge:g}" for edge in block.panel)}">',
            f'<rect {_place(block.box)} fill="{color}" fill-opacity="{opacity:g}"/>',
        ]
        for text, left, low, long in block.rows:
            rim = f'stroke="{block.halo}" stroke-width="4" paint-order="stroke" ' if block.halo else ""
            fit = "" if long is None else f' textLength="{long:g}" lengthAdjust="spacingAndGlyphs"'
            lines += [
                f'<text x="{left:g}" y="{low:.5g}" font-family="Helvetica, Arial, sans-serif" font-size="{block.size}" '
                f'fill="{ink}" fill-opacity="{strength:g}" {rim}xml:space="preserve"{fit}>{escape(text)}</text>'
            ] * bool(text.strip())
        lines.append("</svg>")
    return "\n".join([*lines, "</svg>\n"])


def _place(box: tuple[float, float, float, float]) -> str:
    return 'x="{:g}" y="{:g}" width="{:g}" height="{:g}"'.format(*box)


def _write_pdf(image: Image.Image, words: list[Words], window: tuple[int, int], target: Path) -> None:
    """Write a PDF page of an image with text over it. Letters are scaled so that rows keep their widths."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    settings = rc_context({"pdf.fonttype": 42, "text.usetex": False, "font.family": "DejaVu Sans"})
    with _SETTINGS, settings, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about letters that this font does not have, which become boxes
        wide, tall = window
        page = Figure(figsize=(wide / 72.0, tall / 72.0), dpi=72)
        canvas = FigureCanvasPdf(page)
        axes = page.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.axis("off")
        axes.imshow(np.asarray(image), aspect="auto", interpolation="none")
        for block in words:
            (color, opacity), (ink, strength) = block.behind, block.ink
            panel, box = (
                Rectangle((x, tall - y - height), width, height, transform=None, lw=0.0, fc=color, alpha=opacity)
                for x, y, width, height in (block.panel, block.box)
            )
            page.add_artist(box).set_clip_path(panel)
            for row, left, low, long in block.rows:
                text = page.text(left / wide, 1.0 - low / tall, row, size=block.size, color=ink, parse_math=False)
                text.set(alpha=strength, va="baseline", clip_on=True)
                if block.halo:
                    text.set_path_effects([withStroke(linewidth=4.0, foreground=block.halo)])
                text.set_clip_path(panel)
                if long is not None:
                    text.set_fontsize(block.size * long / max(text.get_window_extent().width, 1.0))
        canvas.print_pdf(target)  # type: ignore[no-untyped-call]


T = TypeVar("T")
_SILENT, _BETWEEN = 2.0, (0.2, 5.0)  #: seconds before the first message, and between two on a terminal and in a file


def telling(what: str, rows: Iterable[T], total: int) -> Iterator[T]:
    """Yield the items of ``rows``, and print progress on stderr if the loop takes more than two seconds."""
    terminal = sys.stderr.isatty()
    begin, end = ("\r", "") if terminal else ("", "\n")
    is_reported, due = False, monotonic() + _SILENT
    for k, row in enumerate(rows):
        if monotonic() > due:
            is_reported, due = True, monotonic() + _BETWEEN[0 if terminal else 1]
            sys.stderr.write(f"{begin}gjk3d: {what} {k + 1} of {total}{end}")
            sys.stderr.flush()
        yield row
    if is_reported and terminal:
        sys.stderr.write("\r\x1b[K")


def write_frames(file: Path, frames: list[Image.Image], times: list[int], colors: Image.Image) -> Path:
    """Write a .webp or a .gif that plays in a loop, and return its path. Times are in milliseconds."""
    from PIL import Image

    options: dict[str, Any] = {"quality": 85, "method": 4}
    if file.suffix.lower() != ".webp":
        options = {"disposal": 1, "optimize": False}
        frames = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, **options)
    return file


def palette(frames: Sequence[Image.Image], fixed: Iterable[str], most: int = 256) -> Image.Image:
    """Return one palette for all frames. It contains the colours ``fixed``, written ``#rrggbb``, exactly."""
    from PIL import Image

    sample = np.concatenate([np.asarray(frame)[::3, ::3].reshape(-1, 3) for frame in frames])
    colors = sorted(set(fixed))
    fixed_values = [int(color[k : k + 2], 16) for color in colors for k in (1, 3, 5)]
    common = Image.fromarray(sample[None]).quantize(most - len(colors), Image.Quantize.MEDIANCUT).getpalette() or []
    image = Image.new("P", (1, 1))
    image.putpalette(fixed_values + common[: 3 * (most - len(colors))])
    return image
