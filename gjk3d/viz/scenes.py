"""A scene as a picture: what collides in orange, the rest in grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.scene import Scene
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.viz.bodies import add
from gjk3d.viz.drawing import INK, NORMAL, SEPARATION, Drawing, Item, Label, Style, ball_of
from gjk3d.viz.marks import arrow, ball

_FREE = "#9DB4C8"
#: Objects that are called by their names, and that have outlines and are drawn one by one.
_MOST_NAMES, _MOST_SINGLE = 16, 40


def draw(x: Scene, style: Style, *, margin: float = 0.0, contacts: bool = True) -> Drawing:
    """Draw a scene.

    Parameters
    ----------
    margin : float
        As in `Scene.collisions`: pairs this close count.
    contacts : bool
        Mark where the pairs touch or overlap, with the normals, where all of them are convex.
    """
    drawing = Drawing()
    names = x.names
    pairs = x.collisions(margin=margin)
    hit = {name for pair in pairs for name in pair}
    single = len(names) <= _MOST_SINGLE
    planes = []
    for name in names:
        shape, pose, met = x.shape(name), x.pose(name), name in hit
        color = style.color(0, (SEPARATION,)) if met else style.color(1, (_FREE,))
        if isinstance(shape, Halfspace):
            planes.append((name, shape, pose, color))
            continue
        resolution = 96 if single else 32 if len(names) < 500 else 16
        add(
            drawing, shape, pose, color, _alpha(style, met, bool(hit)), outline=single, name=name, resolution=resolution
        )
        if len(names) <= _MOST_NAMES and len(drawing.items):
            top = drawing.items[-1].vertices
            drawing.labels.append(Label(np.append(ball_of(top)[0][:2], top[:, 2].max()), name))
    for name, shape, pose, color in planes:
        add(drawing, shape, pose, color, 1.0, around=drawing.ball, name=name)
    if not single:
        drawing.items = merged(drawing.items)
    if hit:
        drawing.key("collides", style.color(0, (SEPARATION,)))
    if len(hit) < len(names):
        drawing.key("free", style.color(1, (_FREE,)))
    if contacts and pairs:
        _add_contacts(drawing, x, margin)
    drawing.words = _words(pairs, names)
    return drawing


def merged(items: list[Item]) -> list[Item]:
    """Join bodies of one colour and opacity: a plotter draws few large things far faster than many small ones."""
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault((item.color, item.opacity, item.look, item.framed, item.outline, item.width), []).append(item)
    out = []
    for (color, opacity, look, framed, outline, width), members in groups.items():
        starts = np.cumsum([0, *(len(item.vertices) for item in members)])
        vertices = np.concatenate([item.vertices for item in members])
        faces = np.concatenate([item.faces + start for item, start in zip(members, starts[:-1], strict=True)])
        out.append(Item(vertices, faces, color, opacity, look, width, framed, outline))
    return out


def _alpha(style: Style, met: bool, any_met: bool) -> float:
    return style.alpha(0, 0.8) if met else style.alpha(1, 0.35 if any_met else 1.0)


def _add_contacts(drawing: Drawing, x: Scene, margin: float) -> None:
    try:
        found = x.contacts(within=max(margin, 0.0))
    except UnsupportedPair:
        return
    size = drawing.ball[1]
    for _, _, row in found:
        if row.count == 0:
            continue
        for point in row.points:
            drawing.marks([ball(point, 0.009 * size, 24)], INK)
        drawing.marks(arrow(row.points.mean(axis=0), row.normal, 0.12 * size, 0.005 * size), NORMAL)
    drawing.key("normals, from the first name to the second", NORMAL)


def _words(pairs: list[Any], names: list[str]) -> list[str]:
    if not pairs:
        return [f"Nothing collides among {len(names)} objects"]
    told = ", ".join(f"{a} – {b}" for a, b in pairs[:4]) + (", …" if len(pairs) > 4 else "")
    count = "1 pair collides" if len(pairs) == 1 else f"{len(pairs)} pairs collide"
    return [f"{count} among {len(names)} objects", told]
