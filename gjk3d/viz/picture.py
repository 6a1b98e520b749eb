"""Pictures on screen, in files and in notebooks.

A figure in a notebook is a still picture, which is saved with the notebook, and an interactive offline page over it.
The page is in a sandboxed frame and starts by a click. A notebook may have more figures than a browser has WebGL
contexts, and the mouse wheel must scroll past a figure that is not in use. Notebooks that are not trusted remove the
frame and show the still picture. An output has less than a million bytes. A larger page is left out, and a note reports
this.
"""

from __future__ import annotations

import gzip
import html
import io
import os
import re
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gjk3d.bodies.compound import PointCloud
from gjk3d.clash import Report
from gjk3d.errors import Gjk3dError, RenderingUnavailableError
from gjk3d.results import Distance
from gjk3d.robot import Checker, Robot
from gjk3d.scene import Scene
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import VectorLike
from gjk3d.viz.colors import COLORS, GREY, INK, NORMAL, PALETTE, SEPARATION, TRANSPARENT, check_color, darker
from gjk3d.viz.drawing import (
    COMMON,
    RESOLUTION,
    USUAL,
    Drawing,
    Look,
    Style,
    aim_at,
    check_flag,
    check_text,
    half_space,
    placed,
    ready,
    set_background,
)
from gjk3d.viz.image_files import (
    PAGES,
    check_alpha,
    check_rendering,
    free_name,
    has_display,
    palette,
    save,
    shot,
    target_file,
)
from gjk3d.viz.kinds import bodies_in, drawing_of, is_solid
from gjk3d.viz.kinds.bodies import matrices
from gjk3d.viz.kinds.scenes import facts_of
from gjk3d.viz.page import write_drawing, write_result, write_robot
from gjk3d.viz.paint import drawn_in, mesh_of, paint, polydata, prepare

if TYPE_CHECKING:
    import pyvista
from numbers import Integral, Real

from gjk3d.wording import count, kind_of

# --- notebooks -------------------------------------------------------------------------------------------------------


#: Greatest number of bytes of an output with all its formats.
MOST = 990_000
#: Width in pixels of a still picture, and of a smaller one that leaves room for a large page.
WIDTHS = (800, 480)
_COLORS = 256

#: The page is compressed, since three.js alone takes more than half of the limit of an output. Base64 data is stored as
#: bytes, and equal data only once, since equal triangles are too far apart for gzip. In the text of the page, each data
#: string is replaced by its number between two bytes 0x01.
_LOADER = r"""<!DOCTYPE html><html lang="en"><title>{title}</title>
<style>html,body,button{{margin:0;width:100%;height:100%;overflow:hidden;background:none;border:0;cursor:pointer}}
span{{position:absolute;top:8px;right:8px;padding:2px 10px;font:13px system-ui,sans-serif;color:#202124;
background:#fffc;border:1px solid #5f6368;border-radius:5px}}</style>
<button type="button" aria-label="turn in 3D"><span>turn in 3D</span></button>
<script>document.querySelector("button").addEventListener("click",async()=>{{
const packed=Uint8Array.from(atob("{packed}"),(c)=>c.charCodeAt(0));
const stream=new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const all=new Uint8Array(await new Response(stream).arrayBuffer());
let at=0;
const [text,...blobs]={sizes}.map((size)=>all.subarray(at,at+=size));
const letters=blobs.map((blob)=>{{let s="";
for(let i=0;i<blob.length;i+=8192)s+=String.fromCharCode(...blob.subarray(i,i+8192));return btoa(s);}});
const page=new TextDecoder().decode(text).replace(/\x01(\d+)\x01/g,(_,k)=>letters[k]);
document.open();document.write(page);document.close();}});</script></html>"""

_LONG = re.compile(r'"((?:[A-Za-z0-9+/]{4}){100,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)"')

Packed = tuple[str, list[int]]
Bundle = tuple[dict[str, str], dict[str, Any]]


def is_open() -> bool:
    """Return whether this runs in a notebook or another Jupyter front end that shows pictures."""
    shell = _shell()
    return shell is not None and "text/html" in shell.display_formatter.active_types


def is_terminal() -> bool:
    """Return whether this runs in an IPython shell that shows only text."""
    return _shell() is not None and not is_open()


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def describe(drawing: Drawing) -> str:
    """Return the captions and the legend of a drawing as one text, for readers who do not see the picture."""
    keys = "; ".join(" ".join(text.split()) for text, _ in drawing.keys)
    return ". ".join([*drawing.words, *([f"Legend: {keys}"] if keys else [])])


def figure(text: str, words: str, still: Callable[[Path], Any], page: Callable[[Path], Any]) -> Bundle:
    """Return the output of a Jupyter cell: a text, a still picture and an interactive page.

    ``text`` is for front ends without pictures, and ``words`` describe the picture. ``still`` writes a .png file, which
    may need OpenGL. ``page`` writes an .html file.
    """
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        page(Path(folder) / "page.html")
        packed = _packed((Path(folder) / "page.html").read_text(encoding="utf-8"))
        try:
            still(Path(folder) / "still.png")
        except RenderingUnavailableError:
            return {"text/plain": text, "text/html": _html(words, None, packed)}, {}
        with Image.open(Path(folder) / "still.png") as file:
            image = file.convert("RGB")
    for width, content in (*((width, packed) for width in WIDTHS), (WIDTHS[0], None)):
        width = min(width, image.width)
        small = image.resize((width, max(1, image.height * width // image.width)), Image.Resampling.LANCZOS)
        data = {"text/plain": text, "image/png": _png(small), "text/html": _html(words, small, content)}
        if sum(map(len, data.values())) < MOST:
            break
    return data, {"image/png": {"alt": words}}


def _packed(page: str) -> Packed:
    """Return a compressed page as base64, and the size in bytes of each part of the decompressed data.

    The parts are the text of the page and the binary data in it. A script in the notebook joins them to the page.
    """
    blobs: dict[bytes, int] = {}

    def out(match: re.Match[str]) -> str:
        blob = b64decode(match[1])
        return f'"\x01{blobs.setdefault(blob, len(blobs))}\x01"' if b64encode(blob).decode() == match[1] else match[0]

    text = _LONG.sub(out, page).encode()
    return b64encode(gzip.compress(text + b"".join(blobs), 9)).decode(), [len(text), *map(len, blobs)]


def _bytes(image: Any, kind: str, **options: Any) -> str:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return b64encode(file.getvalue()).decode()


def _png(image: Any) -> str:
    # the median cut keeps the colour gradient of the background, but loses the colours of small items such as arrows
    from PIL import Image

    small = (*COLORS, COMMON, GREY, INK, NORMAL, SEPARATION)
    fixed = [darker(color, share) for color in small for share in (1.0, 0.85, 0.7)]
    colors = palette([image], (*fixed, "#ffffff"), _COLORS)
    return _bytes(image.quantize(palette=colors, dither=Image.Dither.NONE), "PNG", optimize=True)


def _html(words: str, still: Any, packed: Packed | None) -> str:
    """Return the HTML of a figure: the frame of the page over the still picture, or the still picture with a note.

    Without a still picture, the HTML contains only the frame.
    """
    picture, height, width = "", "height:600px;", WIDTHS[0]
    if still is not None:
        source = f"data:image/webp;base64,{_bytes(still, 'WEBP', quality=75)}"
        width = WIDTHS[0] if still.width in WIDTHS else still.width  # a smaller still is enlarged
        picture, height = f'<img src="{source}" alt="{html.escape(words)}" style="display:block;width:100%">', ""
    if packed is None:
        more = "<small>too large for an interactive view. gjk3d.viz.show(…, path='figure.html') writes a page</small>"
    else:
        loader = _LOADER.format(title=html.escape(words[:200]), packed=packed[0], sizes=packed[1])
        more = (
            f'<iframe srcdoc="{html.escape(loader)}" sandbox="allow-scripts" title="{html.escape(words[:200])}" '
            'style="position:absolute;inset:0;width:100%;height:100%;border:0"></iframe>'
        )
    return f'<div style="position:relative;max-width:{width}px;{height}">{picture}{more}</div>'


def display(data: Bundle) -> None:
    """Show a figure below the running cell."""
    from IPython.display import display as put

    put(data[0], metadata=data[1], raw=True)


def display_still(image: Any, words: str) -> None:
    """Show an image with its text alternative."""
    display(({"text/plain": words, "image/png": _png(image)}, {"image/png": {"alt": words}}))


# --- pictures --------------------------------------------------------------------------------------------------------


T = TypeVar("T")
_SIZE = (1000, 750)


def show(
    x: Any,
    *,
    pose: Any = None,
    plotter: pyvista.Plotter | None = None,
    colors: str | Sequence[str] | None = None,
    opacity: float | Sequence[float] | None = None,
    path: str | os.PathLike[str] | None = None,
    size: tuple[int, int] = _SIZE,
    off_screen: bool | None = None,
    title: str | None = None,
    names: str | Sequence[str] | None = None,
    view: VectorLike | str | None = None,
    up: VectorLike | None = None,
    focus: tuple[VectorLike, float] | None = None,
    background: str | None = None,
    transparent_background: bool = False,
    **options: Any,
) -> pyvista.Plotter | Path | None:
    """Show a shape, result, scene, assembly, report or robot.

    A is orange and B green. In the picture of a result the blue arrow is the normal from A to B. In overlap, the
    vermilion arrow is the separating translation of B.

    Parameters
    ----------
    x : object that can be drawn, or a list of such objects
        A list may contain pairs of a solid and its pose or poses. An inner list has one colour and one name. A result
        of many pairs is drawn one row at a time. Objects of pyvista and trimesh are drawn too.
    pose : (4, 4) float, (n, 4, 4) float or RigidTransform, optional
        Pose or poses of a solid. At several poses, the last is opaque and the others are ghosts.
    plotter : pyvista.Plotter, optional
        The plotter to draw into. It is returned without opening a window. The camera then shows everything in it, and a
        second object has the next colours.
    colors : str or sequence of str, optional
        Colours of A and B, or of the bodies in turn.
    opacity : float or sequence of float, optional
        Opacity of A and B, or of the bodies in turn.
    path : path, optional
        The image file or .html page to write instead of opening a window. A .svg or .pdf stores captions as text. A
        page is written without OpenGL.
    off_screen : bool, optional
        True returns an off-screen plotter, ready for ``screenshot()``. By default a notebook shows a still picture
        and, after a click, the interactive page. Otherwise a window opens. Without a display the picture is saved as
        ``path``, or as gjk3d.png, gjk3d-2.png and so on in the current folder, and stderr names the file.
    title : str, optional
        Title above the caption. The title may have several lines.
    names : str or sequence of str, optional
        Names of the bodies. By default they are the kinds of shape.
    view : (3,) float or str, optional
        Direction from the middle of the picture to the camera, or "xy", "xz", "yz", "yx", "zx", "zy" or "iso" as in
        pyvista: "xy" has x to the right and y up.
    up : (3,) float, optional
        Direction that is up in the picture, usually z by default.
    focus : ((3,) float, float), optional
        Centre and radius of the ball that the picture shows. The default depends on the kind of ``x``.
    background : str, optional
        Colour of the background. On a dark colour the text is light.
    transparent_background : bool
        Whether the picture has no background. The file must be .png, .tif, .svg, .pdf or .html.
    size : (int, int)
        Width and height of the window or image in pixels.
    **options
        Options that depend on the kind of ``x``. The error for any other option lists the options of the kind.

        - solid: ``axes``, ``slice``. A Mesh also has ``level`` and ``self_intersections``.
        - poses: ``length``
        - Distance: ``unit``, ``surfaces``. ``surfaces`` is the pair of models whose hulls were compared, each a Mesh or
          None.
        - Axis, Gradient, RayHit, PointDistances, SweptVolume, bounding volume: ``of``, the object or pair of objects
          that ``x`` was computed from
        - RayHit of a camera: ``image``
        - Impact: ``ghosts``
        - Scene: ``margin``, ``contacts``
        - Assembly: ``hull``, ``bodies``, ``level``
        - Report: ``clash``
        - Robot, Checker: ``q``, ``labels``

    Returns
    -------
    pyvista.Plotter, Path or None
        The path of a written file, None in a notebook, or the plotter.

    Raises
    ------
    RenderingUnavailableError
        No OpenGL library works. The message names the packages to install.
    FileError
        The folder of ``path`` does not exist, or ``path`` is a folder.
    ShapeError
        ``view`` or ``up`` is not a direction, or ``focus`` is not a ball.
    TypeError
        ``x`` cannot be drawn, its kind does not have such an option, or an option has a value of another type.
    ValueError
        A colour is unknown, an opacity or a size is out of range, or there are more names or colours than bodies.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.viz.show(result, path=pathlib.Path(folder) / "distance.html").name
    'distance.html'
    """
    check_size(size)
    check_flag(transparent_background, "transparent_background")
    target = None if path is None else target_file(path)
    look = Look(view, up, focus, TRANSPARENT if transparent_background else background)
    drawing = drawing_as_asked(x, pose, colors, opacity, title, names, look, plotter, **options)
    if look.background == TRANSPARENT:
        check_alpha(target, "transparent_background")
    write: Callable[[Path], Path] = partial(_write_page, x, drawing, title=title, names=names, **options)
    if target is not None and target.suffix.lower() in PAGES:
        return write(target)
    if plotter is None and target is None and off_screen is None and is_open():
        text = repr(x) if hasattr(x, "_repr_mimebundle_") else describe(drawing)
        display(figure_of(drawing, text, write, size))
        return None
    return _painted(drawing, plotter, off_screen, target, size)


def _painted(
    drawing: Drawing, plotter: pyvista.Plotter | None, off_screen: bool | None, path: Path | None, size: tuple[int, int]
) -> pyvista.Plotter | Path:
    drawn, saved = in_window(partial(paint, drawing), "", plotter, off_screen, path, size=size)
    if saved is not None and plotter is None:
        drawn.close()
    return saved or drawn


def plot(
    x: Any,
    plotter: pyvista.Plotter | None = None,
    *,
    pose: Any = None,
    colors: str | Sequence[str] | None = None,
    opacity: float | Sequence[float] | None = None,
    path: str | os.PathLike[str] | None = None,
    size: tuple[int, int] | None = None,
    off_screen: bool | None = None,
    title: str | None = None,
    names: str | Sequence[str] | None = None,
    view: VectorLike | str | None = None,
    up: VectorLike | None = None,
    focus: tuple[VectorLike, float] | None = None,
    background: str | None = None,
    **options: Any,
) -> pyvista.Plotter:
    """Draw an object into a plotter and return the plotter. Several calls make one picture.

    The camera shows everything that was drawn. The bodies of a second object have the next colours, and a second pair
    has the letters C and D.

    Parameters
    ----------
    x, pose, colors, opacity, title, names, view, up, focus, background, **options
        As in `show`.
    plotter : pyvista.Plotter, optional
        The plotter to draw into, by default a new one.
    path : path, optional
        The file to write after drawing: an image of the whole plotter, or an .html page of the current panel.
    size : (int, int), optional
        Width and height of the new plotter in pixels.
    off_screen : bool, optional
        Whether a new plotter is off-screen. By default it has a window if there is a display. The plotter's ``show()``
        opens the window.

    Returns
    -------
    pyvista.Plotter
        The plotter, whose camera shows everything that `plot` and `show` have drawn into it.

    Raises
    ------
    ShapeError
        As in `show`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> plotter = gk.viz.plot(gk.Sphere(1), off_screen=True)
    >>> plotter is gk.viz.plot(gk.Point((2, 0, 0)), plotter)
    True
    >>> plotter.close()
    """
    check_plotter(plotter)
    if plotter is not None and size is not None:
        raise TypeError(
            "size= is for a new plotter, and plotter= is given. Leave size= out, or set plotter.window_size"
        )
    check_size(_SIZE if size is None else size)
    target = None if path is None else target_file(path)
    drawing = drawing_as_asked(
        x, pose, colors, opacity, title, names, Look(view, up, focus, background), plotter, **options
    )
    if plotter is None:
        plotter = new_plotter(off_screen=_off_screen(off_screen) or target is not None, size=size or _SIZE)
    paint(drawing, plotter)
    if target is not None and target.suffix.lower() in PAGES:
        write_drawing(drawn_in(plotter), target)
    elif target is not None:
        save(plotter, target)
    return plotter


def to_pyvista(
    x: Any,
    pose: Any = None,
    *,
    resolution: int = RESOLUTION,
    around: tuple[Any, float] = ((0.0, 0.0, 0.0), 1.0),
    **options: Any,
) -> pyvista.PolyData | pyvista.MultiBlock:
    """Return an object as pyvista's PolyData or MultiBlock.

    A point becomes a vertex, a segment a line, a flat shape its two sides, and a point cloud its points. An object that
    is not a single solid becomes a `pyvista.MultiBlock` of the items of its picture. Each block has the field data
    ``color`` ("#rrggbb") and ``opacity``.

    Parameters
    ----------
    x : shape, Mesh, Compound, VoxelGrid, PointCloud, HeightField, Surface, PolyData, or a result
        The object to convert.
    pose : (4, 4) float, optional
        Pose of ``x``.
    resolution : int
        Segments per full turn of curved shapes.
    around : (center, radius)
        A half-space becomes a square slab near this ball. The top of the slab is on the surface of the half-space.
    **options
        Options of `show` for an object that is not a single solid.

    Returns
    -------
    pyvista.PolyData or pyvista.MultiBlock
        PolyData for a single solid, MultiBlock for other objects.

    Raises
    ------
    TypeError
        ``x`` has neither a surface nor a picture, or its kind does not have such an option.
    PoseError
        ``pose`` is not a rigid transform.
    ShapeError
        ``resolution`` is too small for a curved shape.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.viz.to_pyvista(gk.Box((1, 2, 3))).bounds[:4]
    (-0.5, 0.5, -1.0, 1.0)
    """
    import pyvista

    if not is_solid(x):
        blocks = pyvista.MultiBlock()
        for k, item in enumerate(drawing_of(x, Style(pose), **options).items):
            block = mesh_of(item)
            block.field_data["color"], block.field_data["opacity"] = [item.color], [item.opacity]
            name = item.name or f"{item.look} {k}"
            blocks.append(block, name if name not in blocks.keys() else f"{name} {k}")  # noqa: SIM118 - keys are names
        return blocks
    if options:
        raise TypeError(
            f"to_pyvista of a {type(x).__name__} does not have the option {next(iter(options))!r}. Leave the option out"
        )
    matrix = None if pose is None else matrices(pose)[0]
    if isinstance(x, pyvista.PolyData):
        return x.copy() if matrix is None else x.transform(matrix, inplace=False)
    if isinstance(x, PointCloud):
        return pyvista.PolyData(placed(x.points, (), matrix).vertices)
    if isinstance(x, Halfspace):
        center, radius = np.asarray(around[0], dtype=np.float64), float(around[1])
        (item,) = ready([half_space(x, matrix, GREY, 1.0)], center, radius)
        return polydata(item.vertices, item.faces)
    surface = x.surface(resolution) if hasattr(x, "surface") else x
    return polydata(*placed(surface.vertices, surface.faces, matrix))


def plotter(
    shape: tuple[int, int] = (1, 1), size: tuple[int, int] = _SIZE, *, off_screen: bool | None = None
) -> pyvista.Plotter:
    """Return an empty plotter with the light and background of gjk3d, for several pictures side by side.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of panels. ``plotter.subplot(row, column)`` selects the panel to draw into.
    size : (int, int)
        Width and height of all panels together in pixels.
    off_screen : bool, optional
        As in `plot`.

    Returns
    -------
    pyvista.Plotter
        The plotter, for `plot` and for the methods of pyvista.

    Raises
    ------
    RenderingUnavailableError
        No OpenGL library works. The message names the packages to install.

    Examples
    --------
    >>> import gjk3d as gk
    >>> both = gk.viz.plotter((1, 2), (1000, 400), off_screen=True)
    >>> for column, shape in enumerate((gk.Sphere(1), gk.Box((1, 1, 1)))):
    ...     both.subplot(0, column)
    ...     _ = gk.viz.plot(shape, both)
    >>> both.screenshot(None, return_img=True).shape
    (400, 1000, 3)
    >>> both.close()
    """
    return new_plotter(off_screen=_off_screen(off_screen), shape=shape, size=size)


def _off_screen(wanted: bool | None) -> bool:
    """Return whether a new plotter is off-screen. Raise RenderingUnavailableError without OpenGL."""
    check_rendering()
    return not has_display() if wanted is None else wanted


def new_plotter(
    *, off_screen: bool, shape: tuple[int, int] = (1, 1), size: tuple[int, int] = _SIZE, **layout: Any
) -> pyvista.Plotter:
    """Return a plotter as `plotter` does, with pyvista's options for panels. Call `check_rendering` before."""
    import pyvista

    options: Any = {"lighting": "none", "border": False, **layout}
    new = pyvista.Plotter(off_screen=off_screen, window_size=list(size), shape=shape, **options)
    for panel in np.ndindex(*shape):
        new.subplot(*panel)
        prepare(new)
    new.subplot(0, 0)
    return new


def in_window(
    make: Callable[[pyvista.Plotter], T],
    what: str,
    plotter: pyvista.Plotter | None,
    off_screen: bool | None,
    path: str | os.PathLike[str] | None,
    *,
    size: tuple[int, int] = _SIZE,
    begin: Callable[[T], None] = lambda drawn: None,
) -> tuple[T, Path | None]:
    """Return the result of ``make``, called with the given plotter or a new window, and the path of a written file.

    Without a display the picture is saved, and stderr names the file if ``path`` is None. A notebook shows the picture
    instead. ``what`` is the purpose of the window in these texts, for example " to drag in". ``begin`` is called with
    the result before the window opens.
    """
    windowless = plotter is not None or _off_screen(off_screen) or path is not None
    target = new_plotter(off_screen=windowless, size=size) if plotter is None else plotter
    drawn = make(target)
    if path is not None:
        return drawn, save(target, Path(path), transparent=drawn_in(target).background == TRANSPARENT)
    if not windowless:
        begin(drawn)
        target.show()
    elif plotter is None and off_screen is None:
        if not is_open():
            saved = save(target, free_name())
            sys.stderr.write(f"gjk3d: no display{what}, so the picture is saved as {saved}\n")
            return drawn, saved
        display_still(shot(target), f"the start of a window{what}")
    return drawn, None


def drawing_as_asked(
    x: Any,
    pose: Any = None,
    colors: Any = None,
    opacity: Any = None,
    title: str | None = None,
    names: Any = None,
    look: Look = USUAL,
    plotter: pyvista.Plotter | None = None,
    **options: Any,
) -> Drawing:
    """Return the drawing for the arguments of `show`. Colours that ``plotter`` does not use are preferred."""
    for name in options:
        if name in UNKNOWN_OPTIONS:
            raise TypeError(f"the option {name!r} does not exist. Use {UNKNOWN_OPTIONS[name]}")
    check_text(title, "title")
    check_plotter(plotter)
    bodies = bodies_in(x)
    colors, opacity = texts(colors, "colors", "a colour"), opacities(opacity)
    names = texts(names, "names", "a name")
    for option, values in (("colors", colors), ("opacity", opacity), ("names", names)):
        check_count(values, bodies, option)
    for color in colors or ():
        check_color(color, "colors")
    used = set() if plotter is None else {item.color for item in drawn_in(plotter).items}
    palette = tuple(sorted(PALETTE, key=lambda color: color in used))  # stable, so the order is that of the palette
    drawing = drawing_of(x, Style(pose, colors, opacity, names, palette), **options)
    if title:
        drawing.words[:0] = title.splitlines()
    aim_at(drawing, look)
    set_background(drawing, look.background)
    return drawing


def _write_page(x: Any, drawing: Drawing, file: Path, title: str | None = None, names: Any = None, **more: Any) -> Path:
    """Write the page of a drawing and return its path. Results and reports have special pages with more content."""
    if isinstance(x, Distance):
        notes = tuple(title.splitlines()) if title else ()
        return write_result(
            file, x, drawing, names=(names, "B") if isinstance(names, str) else names, notes=notes, **more
        )
    if isinstance(x, (Robot, Checker)) and np.ndim(more.get("q", 0.0)) < 2 and drawing.items:
        return write_robot(x, drawing, more.get("q"), file)
    if isinstance(x, Scene):
        return write_drawing(drawing, file, facts_of(x, more.get("margin", 0.0)))
    return x.to_html(file) if isinstance(x, Report) else write_drawing(drawing, file)


def figure_of(drawing: Drawing, text: str, write: Callable[[Path], Any], size: tuple[int, int] = _SIZE) -> Bundle:
    """Return the figure of a drawing for a notebook. ``write`` writes the page of the drawing to a file."""
    shrink = min(1.0, WIDTHS[0] / size[0])  # letters are not smaller than in a picture of this width
    size = round(shrink * size[0]), max(1, round(shrink * size[1]))
    words = describe(drawing)
    return figure(text, words, lambda path: _painted(drawing, None, True, path, size), write)


def bundle(x: Any) -> Bundle:
    """Return the figure of an object for a notebook, or only its repr if the object cannot be drawn.

    Every class with a picture calls this function through `gjk3d.frozen`.
    """
    if is_terminal():
        return {}, {}
    try:
        if hasattr(x, "_figure"):  # an explanation
            return x._figure()  # type: ignore[no-any-return]
        drawing = drawing_of(x)
        return figure_of(drawing, repr(x), partial(_write_page, x, drawing))
    except (TypeError, ValueError, ImportError, Gjk3dError):
        return {"text/plain": repr(x)}, {}


# --- checks of options -----------------------------------------------------------------------------------------------


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
    """Raise ValueError if ``option`` has more values than the picture has bodies. ``bodies`` None allows any number."""
    if rows is not None and bodies is not None and len(rows) > bodies:
        raise ValueError(f"{option} has {len(rows)} values, expected at most {count(bodies, 'value')}, one per body")
