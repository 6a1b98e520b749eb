"""Figures in notebooks: a still picture, which is saved with the notebook, and over it the interactive offline page.

The page is in a sandboxed frame and starts by a click. A notebook may have more figures than a browser has WebGL
contexts, and the mouse wheel must scroll past a figure that is not in use. Notebooks that are not trusted remove the
frame and show the still. An output has less than a million bytes. A larger page is left out, and a note reports this.
"""

from __future__ import annotations

import gzip
import html
import io
import re
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gjk3d.errors import RenderingUnavailableError
from gjk3d.viz.colors import COLORS, COMMON, GREY, INK, NORMAL, SEPARATION
from gjk3d.viz.drawing import Drawing, darker
from gjk3d.viz.image_files import palette

#: Greatest number of bytes of an output with all its formats.
MOST = 990_000
#: Width in pixels of a still, and of a smaller still that leaves room for a large page.
WIDTHS = (800, 480)
_COLORS = 256

#: The page is compressed, since three.js alone takes more than half of the limit of an output. Base64 data is stored as
#: bytes, and equal data only once, since the triangles of ghosts are too far apart for gzip. In the text, the number of
#: the data between two characters 1 (ASCII) replaces it.
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
    """Return the text alternative of a drawing: its captions and its legend."""
    keys = "; ".join(" ".join(text.split()) for text, _ in drawing.keys)
    return ". ".join([*drawing.words, *([f"Legend: {keys}"] if keys else [])])


def figure(text: str, words: str, still: Callable[[Path], Any], page: Callable[[Path], Any]) -> Bundle:
    """Return text, still and page as a bundle for Jupyter. ``words`` is the text alternative of the still.

    ``still`` writes a .png, which may need OpenGL, and ``page`` an .html, each into a given file. ``text`` is for front
    ends without pictures.
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
    """Return a compressed page, and the sizes in bytes of its text and of its base64 strings, which are stored once."""
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
    # the median cut gives the gradient of the background enough colours, but loses those of small items such as arrows
    from PIL import Image

    small = (*COLORS, COMMON, GREY, INK, NORMAL, SEPARATION)
    fixed = [darker(color, share) for color in small for share in (1.0, 0.85, 0.7)]
    colors = palette([image], (*fixed, "#ffffff"), _COLORS)
    return _bytes(image.quantize(palette=colors, dither=Image.Dither.NONE), "PNG", optimize=True)


def _html(words: str, still: Any, packed: Packed | None) -> str:
    """Return the HTML of a figure: the still with the page's frame over it, the frame, or the still with a note."""
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
