"""Self-contained pages: templates with text, three.js, data and scripts, under a policy without network access."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gjk3d import __version__

SHELL = "gjk3d"  #: the package whose templates are shared by all pages
_KINDS = (".html", ".css", ".js")


def write_page(
    path: str | os.PathLike[str],
    room: str,
    names: Sequence[str],
    *,
    text: Mapping[str, str],
    markup: Mapping[str, str],
    blocks: Mapping[str, str] = MappingProxyType({}),
    own_server: bool = False,
) -> Path:
    """Write one page that works offline in any browser, and return its path.

    The page does not use the network, and its own policy forbids it.

    Parameters
    ----------
    path : path
        Where to write.
    room : str
        The package whose folder ``templates`` contains the page's files.
    names : sequence of str
        Names of these files, joined in this order: one .html with the body, the styles and the scripts. The shell of
        all pages surrounds the body. Its style precedes the styles, three.js and the viewer precede the scripts.
    text, markup : mapping of str
        Values for the names between two ``@`` in the template: plain text, and finished HTML, CSS or JSON. ``scene`` is
        the JSON that the scripts read.
    blocks : mapping of str
        Long base64 texts for the scripts, by name.
    own_server : bool
        Whether the page may connect to the server that it comes from. It may never connect to another server.
    """
    body, style, script = ("".join(template(room, name) for name in names if name.endswith(end)) for end in _KINDS)
    style, scripts = template(SHELL, "page.css") + style, [three_js(), template(SHELL, "viewer.js") + script]
    pieces = {name: html.escape(words) for name, words in text.items()} | dict(markup)
    pieces["made"] = f"made with gjk3d {__version__}"
    pieces |= {
        "body": fill(body, pieces),
        "policy": policy(scripts, style) + ("; connect-src 'self'" if own_server else ""),
        "style": style,
        "blocks": "".join(f'\n<script type="text/plain" id="{name}">{text}</script>' for name, text in blocks.items()),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    target = Path(path)
    # a file name that is not text in the system's encoding cannot be encoded in UTF-8 either
    target.write_bytes(fill(template(SHELL, "page.html"), pieces).encode("utf-8", "replace"))
    return target


@cache
def template(room: str, name: str) -> str:
    """Return the text of one file in the folder ``templates`` of a package."""
    return files(room).joinpath("templates", name).read_text(encoding="utf-8")


def color_key(words: str, color: str, box: str = "") -> str:
    """Return a coloured square with its meaning, as HTML that a policy without inline styles accepts."""
    return f"<label>{box}{color_chip(color)} {html.escape(words)}</label>"


def color_chip(color: str) -> str:
    """Return a coloured square as HTML."""
    tint = html.escape(color)
    return f'<svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="{tint}"></rect></svg>'


@cache
def three_js() -> str:
    """Return three.js and its trackball controls from the viewer in the trimesh package."""
    from trimesh import resources, util

    archive = util.decompress(resources.get_bytes("templates/viewer.zip"), file_type="zip")
    viewer: str = archive["viewer.html.template"].read().decode("utf-8").replace("\r\n", "\n")
    end = "THREE.TrackballControls=TrackballControls;})();"
    start, stop = viewer.find("<script>"), viewer.find(end)
    text = viewer[start + len("<script>") : stop + len(end)]
    if start < 0 or stop < start or "</script" in text:
        raise RuntimeError("trimesh contains no three.js viewer that gjk3d supports. Run pip install -U trimesh.")
    return text


def fill(template: str, pieces: Mapping[str, str]) -> str:
    """Return the template with its names between two ``@`` replaced; replaced text is not searched again."""
    return "".join(pieces[text] if i % 2 else text for i, text in enumerate(template.split("@")))


def policy(scripts: Iterable[str], style: str) -> str:
    """Return a policy that allows these scripts and this style by their hashes, and nothing else."""
    allowed = " ".join(_hash(text) for text in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def to_json(value: Any) -> str:
    """Return JSON in which no text can close the surrounding script element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_base64(array: Any, kind: str) -> str:
    """Return the bytes of an array of this type as base64 text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def deflated(data: bytes) -> str:
    """Return bytes as text, compressed for the DecompressionStream of browsers."""
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
