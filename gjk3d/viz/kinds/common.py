"""What two solids both fill, and where their surfaces cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.clash import contacts
from gjk3d.errors import Gjk3dError
from gjk3d.query.faces import intersection_curve
from gjk3d.query.overlap import overlap
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.typing import Array
from gjk3d.viz.drawing import INK, Drawing

#: Of what both fill.
_BOTH = "#D6408F"
#: Corners of a hull that is cut without a library for it.
_MOST_CORNERS = 400
#: Triangles of two meshes that are cut for a picture.
_MOST_TRIANGLES = 400_000


def add_common(drawing: Drawing, surfaces: list[tuple[Array, Any]], convex: bool, size: float) -> bool:
    """Add what two closed surfaces in world axes both enclose, and the curve they cut in; say whether it is had."""
    try:
        meshes = [Mesh(*surface) for surface in surfaces]
        if sum(len(mesh.faces) for mesh in meshes) > _MOST_TRIANGLES:
            return False
        both = _common(meshes, convex)
        curve = np.zeros((0, 2, 3)) if convex else intersection_curve(meshes[0], meshes[1])
    except Gjk3dError:
        return False
    if both is not None and len(both[1]):
        drawing.marks([both], _BOTH, opacity=0.75)
        drawing.key("what both fill", _BOTH)
    if len(curve):
        drawing.rods(curve[:, 0], curve[:, 1], 0.004 * size, INK, 8)
        drawing.key("where the surfaces cut", INK)
    return both is not None


def _common(meshes: list[Mesh], convex: bool) -> tuple[Array, Any] | None:
    a, b = meshes
    solids = contacts.solid(a), contacts.solid(b)
    if None not in solids:
        found = contacts.overlap(*solids)
        return None if found is None else (found.vertices, found.faces)
    if not convex or len(a.vertices) + len(b.vertices) > _MOST_CORNERS:
        return None
    hull = overlap(ConvexHull(a.vertices), ConvexHull(b.vertices))
    return None if hull is None else hull.surface()
