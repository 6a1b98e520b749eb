"""An ellipsoid, aligned with its frame."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, vector
from gjk3d.shapes.base import Curved, Shape
from gjk3d.typing import Array, FactorsLike, VectorLike


@inlined
def support_ellipsoid(f: Array, d: Vec3) -> Vec3:
    """Return the surface point with outward normal d of the ellipsoid with radii f[:3]."""
    x, y, z = f[0] * d[0], f[1] * d[1], f[2] * d[2]
    n = sqrt(x * x + y * y + z * z)
    if not n > NO_LENGTH:
        return (f[0], 0.0, 0.0)
    return (f[0] * (x / n), f[1] * (y / n), f[2] * (z / n))


class Ellipsoid(Curved):
    """The solid ellipsoid round the origin.

    Parameters
    ----------
    radii : (3,) float
        Half axes along x, y, z.

    Raises
    ------
    ShapeError
        Where the radii are not three finite numbers above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Ellipsoid((1, 2, 3)).support((0, 0, -1)).tolist()
    [0.0, 0.0, -3.0]
    """

    __slots__ = ("radii",)
    radii: Array

    def __init__(self, radii: VectorLike) -> None:
        r = vector(radii, "Ellipsoid: radii")
        if not min(r.tolist()) > 0.0:
            raise ShapeError(f"Ellipsoid: radii are {r.tolist()}, expected more than 0 each")
        self._set(radii=r)

    def _core(self) -> tuple[int, Any, Any]:
        if self._rounding() > 0.0:
            return layout.POINT, np.zeros(3), np.empty(0)
        return layout.ELLIPSOID, np.zeros(3), self.radii

    def _rounding(self) -> float:
        return float(self.radii[0]) if np.all(self.radii == self.radii[0]) else 0.0  # a ball is a point with a radius

    def _bare(self) -> Shape:
        from gjk3d.shapes.simplices import Point

        return Point() if self._rounding() > 0.0 else self

    def _core_volume(self) -> float:
        if self._rounding() > 0.0:
            return 0.0
        return float(4.0 / 3.0 * pi * self.radii.prod())

    def _core_area_and_curvature(self) -> tuple[float, float]:
        if self._rounding() > 0.0:
            return 0.0, 0.0
        # Carlson's R_G is the mean of the square root of a quadratic form over the sphere
        from scipy.special import elliprg

        a, b, c = self.radii**2
        return float(4 * pi * elliprg(a * b, b * c, c * a)), float(4 * pi * elliprg(a, b, c))

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(self.radii.max())

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return rings of triangles; see `Shape.surface`."""
        return surfaces.ellipsoid(self.radii, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the ellipsoid with its radii multiplied; see `Shape.scaled`."""
        return Ellipsoid(self.radii * np.abs(factors3(factors)))
