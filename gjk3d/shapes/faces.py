"""The faces that a shape's core shows to contact queries, in plain arrays; see `gjk3d.geometry.polygon.face_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

_NONE = np.zeros(1, dtype=np.int64)
_UNBOUNDED = np.array([-1], dtype=np.int64)


def faces_of(shape: Shape) -> tuple[Ints, Array]:
    """Return the faces of a hull; the normal of a half-space; nothing of what the kernels know by its kind."""
    return shape._cached("loops", lambda: _faces(shape))


def _faces(shape: Shape) -> tuple[Ints, Array]:
    if isinstance(shape, Halfspace):
        return _UNBOUNDED, shape.normal.copy()
    core: Any = shape
    if core._packed[0][layout.KIND] != layout.HULL:
        return _NONE, np.empty(0)
    while not isinstance(core, Polytope):
        core = core._bare()
    from gjk3d.geometry.polygon import face_loops

    hull = core._hull()
    ints, normals = face_loops(hull)
    if not np.array_equal(hull.vertices, core.vertices):  # of a degenerate tetrahedron only some are corners
        ints[2 + ints[0] :] = hull.indices[ints[2 + ints[0] :]]
    return ints, normals
