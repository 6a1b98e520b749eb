"""Any drawing as one HTML page: opens in any browser, offline, and needs no OpenGL to be written."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz.drawing import DOTS, LINES, Drawing, Item
from gjk3d.viz.marks import shade
from gjk3d.viz.page_files import read, script_with
from gjk3d.viz.paint import camera_of, thickened
from gjk3d.webpage import fill, made_with, policy, three_js, to_base64, to_json

#: Triangles of a page; of more, the last items are left out and the page says so.
MAX_TRIANGLES = 1_500_000


def write_page(drawing: Drawing, path: Path, title: str = "gjk3d") -> Path:
    """Write a drawing as one self-contained page, in which what is of one colour can be hidden.

    Nothing in the page reaches for the network, and its own policy forbids it. The 3D code (three.js) is taken from the
    installed trimesh.
    """
    style, script, three = read("drawn.css"), script_with("drawn.js"), three_js()
    words = list(drawing.words)
    scene = _scene(drawing, words)
    head, *rest = words or [title]
    parts = {
        "policy": policy([three, script], style),
        "title": html.escape(head),
        "style": style,
        "words": f"<h1>{html.escape(head)}</h1>" + "".join(f"<p>{html.escape(line)}</p>" for line in rest),
        "keys": "\n".join(_key(text, color) for text, color in drawing.keys),
        "made": html.escape(made_with()),
        "scene": to_json(scene),
        "three": three,
        "script": script,
    }
    path.write_text(fill(read("drawn.html"), parts), encoding="utf-8", newline="\n")
    return path


def _key(text: str, color: str) -> str:
    tint = html.escape(color)
    # a filled square that a policy without inline styles lets through
    chip = f'<svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="{tint}"></rect></svg>'
    return f'<label><input type="checkbox" checked value="{tint}">{chip} {html.escape(text)}</label>'


def _scene(drawing: Drawing, words: list[str]) -> dict[str, Any]:
    """Return all that is drawn, in units of the picture about its middle, where float32 serves any scale."""
    camera = camera_of(drawing)
    center, size = drawing.ball
    items, left, out = [], MAX_TRIANGLES, 0
    for item in thickened(drawing.items, size):
        if len(item.faces) > left:
            out += 1
            continue
        left -= len(item.faces)
        if len(item.vertices):
            items.append(_item(item, center, size))
    if out:
        words.append(f"{out} of the bodies left out: a page holds {MAX_TRIANGLES} triangles")
    reach = max((float(np.linalg.norm(i.vertices - center, axis=1).max()) for i in drawing.items), default=size) / size
    return {
        "items": items,
        "labels": [{"point": ((x.point - center) / size).tolist(), "text": x.text} for x in drawing.labels],
        "keys": [color for _, color in drawing.keys],
        "sorted": drawing.sorted,
        "center": ((camera.center - center) / size).tolist(),
        "eye": ((camera.eye - center) / size).tolist(),
        "up": camera.up.tolist(),
        "angle": camera.angle,
        "reach": max(2.0, 1.2 * reach),
    }


def _item(item: Item, center: Array, size: float) -> dict[str, Any]:
    points = (item.vertices - center) / size
    entry: dict[str, Any] = {
        "look": item.look,
        "color": item.color,
        "opacity": item.opacity,
        "width": item.width,
        "framed": item.framed,
        "middle": points.mean(axis=0).tolist(),
    }
    if item.look in (LINES, DOTS):
        return entry | {"positions": to_base64(points, "<f4")}
    shaded = shade(points, item.faces)
    entry |= {
        "positions": to_base64(shaded.vertices, "<f4"),
        "normals": to_base64(shaded.normals, "<f4"),
        "indices": to_base64(shaded.faces, "<u4"),
    }
    if len(shaded.edges) and item.look != "mark":
        entry["edges"] = to_base64(shaded.edges, "<f4")
    return entry
