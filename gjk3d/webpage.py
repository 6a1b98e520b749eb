"""What every self-contained page needs: three.js, a policy without a network, JSON and arrays as text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np


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


def made_with() -> str:
    """Say which gjk3d made the page."""
    try:
        return f"made with gjk3d {version('gjk3d')}"
    except PackageNotFoundError:
        return "made with gjk3d"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
