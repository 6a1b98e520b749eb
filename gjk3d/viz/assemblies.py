"""Models and assemblies as pictures: each part, or each body, in a colour; hulls as glass; the boxes of their trees."""

from __future__ import annotations

import numpy as np

from gjk3d.clash.assembly import Assembly
from gjk3d.clash.formats.bcf import upward
from gjk3d.errors import Gjk3dError
from gjk3d.viz.bodies import add
from gjk3d.viz.drawing import GREY, PALETTE, Drawing, Style
from gjk3d.viz.scenes import merged
from gjk3d.viz.volumes import add_levels
from gjk3d.wording import number

#: Parts that are named, and that are drawn one by one.
_MOST_NAMES, _MOST_SINGLE = 8, 40


def draw(x: Assembly, style: Style, *, hull: bool = False, bodies: bool = False, level: int | None = None) -> Drawing:
    """Draw the parts of an assembly, or one model.

    Parameters
    ----------
    hull : bool
        Put the convex hull of each part round it, as glass.
    bodies : bool
        A colour for each body of a part: what hangs together.
    level : int
        Draw the boxes at this level of each part's tree too; level 0 is the box round all of it.
    """
    drawing = Drawing(up=np.array(upward(x)))
    meshes = [(part.name, part.mesh) for part in x.parts if part.mesh is not None]
    things = [
        (f"{name} {k + 1}" if len(pieces) > 1 else name, piece)
        for name, mesh in meshes
        for pieces in [mesh.bodies() if bodies else [mesh]]
        for k, piece in enumerate(pieces)
    ]
    for k, (name, mesh) in enumerate(things):
        color = style.color(k, PALETTE if level is None else (GREY,))
        add(drawing, mesh, None, color, style.alpha(k, 1.0), outline=False, name=name)
        if len(things) <= _MOST_NAMES and level is None:
            drawing.key(style.name(k, name), color)
    if len(things) > _MOST_SINGLE:
        drawing.items = merged(drawing.items)
    if hull:
        for k, (_, mesh) in enumerate(things):
            try:
                shell = mesh.hull()
            except Gjk3dError:
                continue
            add(drawing, shell, None, style.color(k), 0.25, outline=len(things) <= _MOST_SINGLE)
    _tell(drawing, x, len(meshes), len(things) if bodies else 0)
    if level is not None:
        before = len(drawing.words)
        for _, mesh in meshes:
            add_levels(drawing, mesh, np.eye(4), level)
        if len(meshes) > 1:
            drawing.words[before:] = [f"level {level} of each part's tree"]
        drawing.items = merged(drawing.items)
    return drawing


def _tell(drawing: Drawing, x: Assembly, parts: int, bodies: int) -> None:
    triangles = sum(len(part.mesh.faces) for part in x.parts if part.mesh is not None)
    words = ["1 part" if parts == 1 else f"{parts} parts"]
    if bodies:
        words.append("1 body" if bodies == 1 else f"{bodies} bodies")
    words.append(f"{triangles} triangles")
    points = drawing.framed
    if len(points):
        sizes = " x ".join(number(float(size), 4) for size in np.ptp(points, axis=0))
        words.append(f"{sizes}{f' {x.unit}' if x.unit else ''}")
    drawing.words = [", ".join(words)]
    broken = sum(bool(part.reason) for part in x.parts)
    if broken:
        drawing.words.append(f"{broken} more could not be read")
