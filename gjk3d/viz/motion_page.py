"""Motions of robots as a page to play them in: opens in any browser, offline, and needs no OpenGL to be written."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.typing import Array
from gjk3d.viz import robots
from gjk3d.viz.animation import frame
from gjk3d.viz.drawing import COLORS, INK
from gjk3d.viz.marks import shade
from gjk3d.viz.page_files import read, script_with
from gjk3d.viz.paint import camera_of
from gjk3d.viz.surfacing import surface_of
from gjk3d.webpage import fill, made_with, policy, three_js, to_base64, to_json

if TYPE_CHECKING:
    from gjk3d.viz.motions import Travel


def write_page(file: Path, there: Travel, title: str, fps: float) -> Path:
    """Write a motion as one self-contained page, to be played and turned.

    Nothing in the page reaches for the network, and its own policy forbids it. ``#12`` behind its address shows the
    12th configuration, and does not play.
    """
    style, script, three = read("drawn.css") + read("motion.css"), script_with("motion.js"), three_js()
    keys = [(title, robots.LINKS[0]), ("who collides", robots.HIT)]
    if there.checker.objects:
        keys.insert(1, ("around it", robots.THINGS))
    parts = {
        "policy": policy([three, script], style),
        "title": html.escape(title),
        "style": style,
        "verdict": html.escape(there.verdict),
        "keys": "\n".join(_key(text, color) for text, color in keys),
        "last": str(len(there.q) - 1),
        "made": html.escape(made_with()),
        "scene": to_json(_scene(there, fps)),
        "three": three,
        "script": script,
    }
    file.write_text(fill(read("motion.html"), parts), encoding="utf-8", newline="\n")
    return file


def _key(text: str, color: str) -> str:
    # a filled square that a policy without inline styles lets through
    chip = f'<svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill="{color}"></rect></svg>'
    return f"<label>{chip} {html.escape(text)}</label>"


def _scene(there: Travel, fps: float) -> dict[str, Any]:
    """Return all that is drawn, in units of the picture about its middle, where float32 serves any scale."""
    checker, whole = there.checker, frame(there)
    camera, (center, size) = camera_of(whole), whole.ball
    bodies = [
        _body(item.name, item.color if item.color != robots.HIT else robots.THINGS, item.vertices - center, item.faces,
              size, opacity=item.opacity)
        for item in whole.items
        if item.name in checker.objects
    ]  # fmt: skip
    for k, (vertices, faces) in enumerate(robots.link_surfaces(checker.robot)):
        if len(vertices):
            frames = _frames(there.poses[:, k], center, size)
            bodies.append(_body(checker.robot.links[k], robots.LINKS[k % 2], vertices, faces, size, frames=frames))
    for name, link in checker.attached.items():
        vertices, faces = surface_of(checker.shape(name))
        frames = _frames(there.poses[:, checker.robot.link_number(link)] @ checker.pose(name), center, size)
        bodies.append(_body(name, COLORS[1], vertices, faces, size, frames=frames))
    states = [
        {
            "words": robots.words_for(state),
            "hit": sorted(state.hit),
            "ends": None
            if state.closest is None or not np.isfinite(state.distance)
            else [((point - center) / size).tolist() for point in state.points],
        }
        for state in there.states
    ]
    reach = float(np.linalg.norm(whole.framed - center, axis=1).max()) / size
    return {
        "bodies": bodies,
        "states": states,
        "trace": to_base64((there.trace - center) / size, "<f4"),
        "colors": {"hit": robots.HIT, "free": COLORS[1], "ink": INK},
        "fps": float(fps),
        "center": ((camera.center - center) / size).tolist(),
        "eye": ((camera.eye - center) / size).tolist(),
        "up": camera.up.tolist(),
        "angle": camera.angle,
        "reach": max(2.0, 1.2 * reach),
    }


def _body(
    name: str, color: str, vertices: Array, faces: Any, size: float, *, frames: str | None = None, opacity: float = 1.0
) -> dict[str, Any]:
    shaded = shade(vertices / size, faces)
    entry: dict[str, Any] = {
        "name": name,
        "color": color,
        "opacity": opacity,
        "positions": to_base64(shaded.vertices, "<f4"),
        "normals": to_base64(shaded.normals, "<f4"),
        "indices": to_base64(shaded.faces, "<u4"),
    }
    if len(shaded.edges):
        entry["edges"] = to_base64(shaded.edges, "<f4")
    return entry if frames is None else entry | {"frames": frames}


def _frames(poses: Array, center: Array, size: float) -> str:
    """Return matrices column after column, as three.js has them."""
    moved = poses.copy()
    moved[:, :3, 3] = (poses[:, :3, 3] - center) / size
    return to_base64(np.swapaxes(moved, 1, 2), "<f4")
