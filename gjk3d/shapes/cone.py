"""A cone along z."""

from __future__ import annotations

from math import atan2, hypot, pi, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, number
from gjk3d.shapes.base import Curved, Shape
from gjk3d.typing import Array, FactorsLike


@inlined
def support_cone(f: Array, d: Vec3) -> Vec3:
    """Return the apex, or the rim point along d, of the cone with radius f[0] and half height f[1]."""
    r = sqrt(d[0] * d[0] + d[1] * d[1])
    if 2.0 * f[1] * d[2] >= f[0] * r:
        return (0.0, 0.0, f[1])
    if not r > NO_LENGTH:
        return (0.0, 0.0, -f[1])
    s = f[0] / r
    return (s * d[0], s * d[1], -f[1])


class Cone(Curved):
    """The solid cone round the z axis: base at ``-height/2``, apex at ``+height/2``, as in FCL.

    Parameters
    ----------
    radius : float
        Of the base.
    height : float
        From base to apex.

    Raises
    ------
    ShapeError
        Where the radius or the height is not a finite number above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Cone(1, 2).support((0, 0, 1)).tolist()
    [0.0, 0.0, 1.0]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(radius=number(radius, "Cone: radius"), height=number(height, "Cone: height"))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.CONE, np.zeros(3), np.array([self.radius, self.height / 2])

    def _core_volume(self) -> float:
        return pi * self.radius**2 * self.height / 3

    def _core_area_and_curvature(self) -> tuple[float, float]:
        r, h = self.radius, self.height
        return pi * r * (r + hypot(r, h)), pi * h + pi * r * (pi - atan2(h, r))

    def _ball(self) -> tuple[Array, float]:
        r, h = self.radius, self.height
        if h <= r:
            return np.array([0.0, 0.0, -h / 2]), r
        radius = (r * r / h + h) / 2  # through the apex and the rim
        return np.array([0.0, 0.0, h / 2 - radius]), radius

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return a pyramid with its rim on the cone's; see `Shape.surface`."""
        return surfaces.cone(self.radius, self.height, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a cone where x and y have factors of one size and z a positive one; see `Shape.scaled`."""
        f = factors3(factors)
        if abs(f[0]) == abs(f[1]) and f[2] > 0:
            return Cone(self.radius * abs(f[0]), self.height * f[2])
        return super().scaled(f)
