"""Self-contained pages: templates filled with text, three.js, data and scripts, under a policy without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

SHELL = "gjk3d"  #: whose templates all pages share
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
    """Write one page that needs nothing but a browser, offline, and return its path.

    Nothing in it reaches for the network, and its own policy forbids it.

    Parameters
    ----------
    path : path
        Where to write.
    room : str
        The package whose folder ``templates`` has what the page is made of.
    names : sequence of str
        Of those files, joined in this order: one .html, which is its body, the styles and the scripts. The shell of
        all pages is around the first, its style before theirs, three.js and the viewer before the scripts.
    text, markup : mapping of str
        What goes where the template names it between two ``@``: words, and what is HTML, CSS or JSON already;
        ``scene`` is the JSON that the scripts read.
    blocks : mapping of str
        Long texts in base64 that scripts read too, by their names.
    own_server : bool
        Whether the page may talk to the server that it comes from; to no other in any case.
    """
    body, style, script = ("".join(template(room, name) for name in names if name.endswith(end)) for end in _KINDS)
    style, scripts = template(SHELL, "page.css") + style, [three_js(), template(SHELL, "viewer.js") + script]
    pieces = {**{name: html.escape(words) for name, words in text.items()}, **markup, "made": html.escape(made_with())}
    pieces |= {
        "body": fill(body, pieces),
        "policy": policy(scripts, style) + ("; connect-src 'self'" if own_server else ""),
        "style": style,
        "blocks": "".join(f'\n<script type="text/plain" id="{name}">{text}</script>' for name, text in blocks.items()),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    target = Path(path)
    # a file name that is no text in its system's code has no code in UTF-8 either
    target.write_bytes(fill(template(SHELL, "page.html"), pieces).encode("utf-8", "replace"))
    return target


def template(room: str, name: str) -> str:
    """Return one of the files in the folder ``templates`` of a package."""
    return files(room).joinpath("templates", name).read_text(encoding="utf-8")


def color_key(words: str, color: str, box: str = "") -> str:
    """Return a square of a colour and what it means, as HTML; a policy without inline styles lets it through."""
    tint = html.escape(color)
    chip = f'<svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="{tint}"></rect></svg>'
    return f"<label>{box}{chip} {html.escape(words)}</label>"


def three_js() -> str:
    """Return three.js and its trackball controls, out of the viewer that trimesh brings."""
    from trimesh import resources, util

    archive = util.decompress(resources.get_bytes("templates/viewer.zip"), file_type="zip")
    viewer: str = archive["viewer.html.template"].read().decode("utf-8").replace("\r\n", "\n")
    end = "THREE.TrackballControls=TrackballControls;})();"
    start, stop = viewer.find("<script>"), viewer.find(end)
    text = viewer[start + len("<script>") : stop + len(end)]
    if start < 0 or stop < start or "</script" in text:
        raise RuntimeError("the installed trimesh brings no three.js viewer that gjk3d knows: pip install -U trimesh")
    return text


def fill(template: str, pieces: Mapping[str, str]) -> str:
    """Put the pieces where the template names them between two ``@``; what a piece holds is not looked at again."""
    return "".join(pieces[text] if i % 2 else text for i, text in enumerate(template.split("@")))


def policy(scripts: Iterable[str], style: str) -> str:
    """Allow these scripts and this style by their hashes, and nothing else: no network, no other script."""
    allowed = " ".join(_hash(text) for text in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def to_json(value: Any) -> str:
    """Write JSON that no text in it can end the script element around it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_base64(array: Any, kind: str) -> str:
    """Write the bytes of an array of this kind as text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def deflated(data: bytes) -> str:
    """Write bytes as text, compressed as the DecompressionStream of browsers unpacks it."""
    return base64.b64encode(zlib.compress(data, 6)).decode()


def made_with() -> str:
    """Say which gjk3d made the page."""
    try:
        return f"made with gjk3d {version('gjk3d')}"
    except PackageNotFoundError:
        return "made with gjk3d"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
