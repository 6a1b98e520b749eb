"""What rays meet of a convex shape: its core, and the planes of a solid hull."""

from __future__ import annotations

import numpy as np

from gjk3d.convex.solve import plane_core
from gjk3d.geometry.points import farthest
from gjk3d.narrow.pairs import SIDES
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

_NO_PLANES = np.empty((0, 4))


def ray_core(shape: Shape) -> tuple[Ints, Array]:
    """Return a shape as kernels of rays take it."""
    return plane_core(shape) if isinstance(shape, Halfspace) else shape._packed


def planes_of(shape: Shape) -> Array:
    """Return the planes of a solid hull, about its core's centre, rows of a unit normal and its limit.

    A half-space has its normal and offset, a plane those of both sides.
    """
    ints, floats = ray_core(shape)
    if isinstance(shape, Halfspace):
        one = floats[None, layout.FLOAT_HEAD : SIDES]
        return one if shape._sides == 1.0 else np.concatenate([one, -one])
    if ints[layout.KIND] != layout.HULL or not isinstance(shape, Polytope):
        return _NO_PLANES
    if "planes" not in shape._cache:
        hull = shape._hull()
        planes = _NO_PLANES
        if hull.dimension == 3:
            normals = shape._gauss_map()[0]
            corners = shape.vertices - floats[layout.CENTER : layout.CENTER + 3]
            planes = np.ascontiguousarray(np.column_stack([normals, farthest(corners, normals)[0]]))
        shape._cache["planes"] = planes
    kept: Array = shape._cache["planes"]
    return kept
