"""Self-contained web pages: HTML files with text, data, scripts and three.js. They forbid network access."""

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

SHELL = "gjk3d"  #: the package with the templates that all pages share
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

    The content security policy of the page forbids network access.

    Parameters
    ----------
    path : path
        The file to write.
    room : str
        The package whose folder ``templates`` contains the templates of the page.
    names : sequence of str
        File names of the templates: the body (.html), styles (.css) and scripts (.js). Files of one type are joined in
        this order, after the style and the viewer script that all pages share.
    text, markup : mapping of str
        Values of the placeholders in the body, which are names between two ``@``. Values of ``text`` are escaped.
        Values of ``markup`` are inserted as HTML, CSS or JSON. ``scene`` is the JSON that the scripts read.
    blocks : mapping of str
        Long base64 texts for the scripts, by the id of their script element.
    own_server : bool
        Whether the page may connect to the server that it comes from. It can never connect to another server.
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
    """Return the text of a file in the folder ``templates`` of the package ``room``."""
    return files(room).joinpath("templates", name).read_text(encoding="utf-8")


def color_key(words: str, color: str, box: str = "") -> str:
    """Return the HTML of a legend entry: a coloured square and the text ``words``, after the HTML ``box``.

    ``box`` is a checkbox, or empty.
    """
    return f"<label>{box}{color_chip(color)} {html.escape(words)}</label>"


def color_chip(color: str) -> str:
    """Return the HTML of a coloured square without inline styles, which the policy of a page forbids."""
    tint = html.escape(color)
    return f'<svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="{tint}"></rect></svg>'


@cache
def three_js() -> str:
    """Return the script of three.js and its trackball controls. It is part of the viewer in the trimesh package."""
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
    """Return a template in which ``pieces`` replace the names between two ``@``. Pieces may contain ``@``."""
    return "".join(pieces[text] if i % 2 else text for i, text in enumerate(template.split("@")))


def policy(scripts: Iterable[str], style: str) -> str:
    """Return a content security policy that allows only these scripts and this style, by their hashes."""
    allowed = " ".join(_hash(text) for text in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def to_json(value: Any) -> str:
    """Return JSON with escaped <, > and &, so that no text can close the script element around it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_base64(array: Any, kind: str) -> str:
    """Return an array as base64 text. ``kind`` is the dtype of its bytes."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def deflated(data: bytes) -> str:
    """Return bytes as base64 text, compressed with zlib for the DecompressionStream of browsers."""
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
