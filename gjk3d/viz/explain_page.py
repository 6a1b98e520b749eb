"""Steps as one HTML page: both views turn, a slider and keys lead from step to step; offline, without OpenGL."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.results import Distance
from gjk3d.viz.drawing import darker
from gjk3d.viz.explain_curve import labels, limits, ticks
from gjk3d.viz.explain_scene import OVER, PALETTE, Piece, Scene, View
from gjk3d.viz.explain_words import HEADINGS, bounds, legend, legends
from gjk3d.viz.layout import called, verdict
from gjk3d.viz.marks import shade
from gjk3d.viz.page_files import read, script_with
from gjk3d.viz.steps import Step
from gjk3d.webpage import fill, made_with, policy, three_js, to_base64, to_json

#: on dark paper, where the others are not seen well
_DARK = {"ink": "#E8EAED", "direction": "#4C9FE0", "difference": "#B5C4CE", "dropped": "#A5ABB3", "new": "#FF7A33"}


def write_page(
    path: str | os.PathLike[str], result: Distance, steps: list[Step], scene: Scene, names: tuple[str, str] | None
) -> Path:
    """Write the page; nothing in it reaches for the network, and its own policy forbids it."""
    style, script, three = read("explain.css"), script_with("explain.js"), three_js()
    both = names or (called(result.shape_a), called(result.shape_b))
    headline = verdict(result)
    parts = {
        "policy": policy([three, script], style),
        "title": html.escape(f"{both[0]} and {both[1]}, explained: {headline}"),
        "style": style,
        "name_a": html.escape(both[0]),
        "name_b": html.escape(both[1]),
        "headline": html.escape(headline[:1].upper() + headline[1:]),
        "status": result.status.name.lower(),
        "left": html.escape(HEADINGS[0]),
        "right": html.escape(HEADINGS[1]),
        "last": str(len(steps) - 1),
        "first_title": html.escape(steps[0].title),
        "first_sentence": html.escape(steps[0].sentence),
        "all": "\n".join(f"<li><b>{html.escape(s.title)}.</b> {html.escape(s.sentence)}</li>" for s in steps),
        "made": html.escape(made_with()),
        "scene": to_json(_data(steps, scene)),
        "three": three,
        "script": script,
    }
    target = Path(path)
    target.write_text(fill(read("explain.html"), parts), encoding="utf-8", newline="\n")
    return target


def _data(steps: list[Step], scene: Scene) -> dict[str, Any]:
    """Return all that is drawn, in units of each view."""
    values = ticks(*limits(steps))
    return {
        "colors": {
            role: {
                "light": color,
                "dark": _DARK.get(role, color),
                "line": darker(color),
                "rod": darker(color, 0.8) if role in ("simplex", "polytope") else color,
                "over": role in OVER,
            }
            for role, color in PALETTE.items()
        },
        "view": scene.view.tolist(),
        "up": scene.up.tolist(),
        "views": [_view(scene.left), _view(scene.right)],
        "legend": legends(steps),
        "limits": limits(steps),
        "ticks": [[value, label] for value, label in zip(values, labels(values), strict=True)],
        "steps": [
            {
                "title": step.title,
                "sentence": step.sentence,
                "phase": step.phase,
                "bounds": bounds(step),
                "lower": step.lower if np.isfinite(step.lower) else None,
                "upper": step.upper if np.isfinite(step.upper) else None,
                "legend": legend(step),
                "pieces": [[_piece(piece) for piece in pieces] for pieces in both],
            }
            for step, both in zip(steps, scene.steps, strict=True)
        ],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "focus": view.focus.tolist(),
        "width": view.width,
        "height": view.height,
        "still": [_piece(piece) for piece in view.still],
    }


def _piece(piece: Piece) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": piece.kind, "role": piece.role}
    if piece.kind in ("glass", "ghost") and len(piece.faces):
        shaded = shade(piece.points, piece.faces)
        edges = shaded.edges if piece.kind == "glass" else np.empty((0, 2, 3))
        return entry | {
            "positions": to_base64(shaded.vertices, "<f4"),
            "normals": to_base64(shaded.normals, "<f4"),
            "indices": to_base64(shaded.faces, "<u4"),
            "edges": to_base64(edges, "<f4"),
            "opacity": piece.opacity,
        }
    entry["points"] = np.round(piece.points, 6).tolist()
    if piece.kind == "faces":
        entry |= {"faces": piece.faces.tolist(), "opacity": piece.opacity}
    elif piece.kind == "label":
        entry["text"] = piece.text
    else:
        entry["size"] = piece.size or 0.014
    return entry
