"""A box, aligned with its frame."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, vector
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.typing import Array, FactorsLike, VectorLike


@inlined
def support_box(f: Array, d: Vec3) -> Vec3:
    """Return the corner along d of the box with half extents f[:3]."""
    return (
        f[0] if d[0] >= 0.0 else -f[0],
        f[1] if d[1] >= 0.0 else -f[1],
        f[2] if d[2] >= 0.0 else -f[2],
    )


class Box(Polytope):
    """The box of these full lengths round the origin.

    Parameters
    ----------
    extents : (3,) float
        Full edge lengths, not half ones.

    Raises
    ------
    ShapeError
        Where the extents are not three finite numbers above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Box((1, 2, 3)).volume
    6.0
    """

    __slots__ = ("extents",)
    extents: Array

    def __init__(self, extents: VectorLike) -> None:
        e = vector(extents, "Box: extents")
        x, y, z = e.tolist()
        if not (x > 0.0 and y > 0.0 and z > 0.0):
            raise ShapeError(
                f"Box: extents are {[x, y, z]}, expected more than 0 each; a flat box is a ConvexHull of its corners"
            )
        self._set(extents=e)

    @property
    def vertices(self) -> Array:
        """The eight corners, (8, 3) float."""
        signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return signs * self.extents

    def _core(self) -> tuple[int, Any, Any]:
        return layout.BOX, np.zeros(3), self.extents / 2

    @property
    def volume(self) -> float:
        """Product of the extents."""
        return float(self.extents.prod())

    def _core_volume(self) -> float:
        return self.volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        a, b, c = self.extents
        return float(2 * (a * b + b * c + c * a)), float(pi * (a + b + c))

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(np.linalg.norm(self.extents) / 2)

    def _box(self) -> tuple[Array, Array]:
        return np.eye(4), self.extents.copy()

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return twelve triangles; see `Shape.surface`."""
        return surfaces.box(self.extents)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the box with its extents multiplied; see `Shape.scaled`."""
        return Box(self.extents * np.abs(factors3(factors)))
