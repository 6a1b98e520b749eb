"""A cylinder along z."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, number
from gjk3d.shapes.base import Curved, Shape
from gjk3d.typing import Array, FactorsLike


@inlined
def support_cylinder(f: Array, d: Vec3) -> Vec3:
    """Return the rim point along d of the cylinder with radius f[0], half height f[1].

    The cap's centre where all of it ties.
    """
    z = f[1] if d[2] >= 0.0 else -f[1]
    r = sqrt(d[0] * d[0] + d[1] * d[1])
    if not r > NO_LENGTH:
        return (0.0, 0.0, z)
    s = f[0] / r
    return (s * d[0], s * d[1], z)


class Cylinder(Curved):
    """The solid cylinder round the z axis, centred.

    Parameters
    ----------
    radius : float
        More than 0.
    height : float
        Full length along z; 0 for a disc, which is flat and has two sides.

    Raises
    ------
    ShapeError
        Where the radius is not a finite number above 0, or the height not one of at least 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Cylinder(1, 4).bounds.tolist()
    [[-1.0, -1.0, -2.0], [1.0, 1.0, 2.0]]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(radius=number(radius, "Cylinder: radius"), height=number(height, "Cylinder: height", zero=True))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.CYLINDER, np.zeros(3), np.array([self.radius, self.height / 2])

    def _core_volume(self) -> float:
        return pi * self.radius**2 * self.height

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return 2 * pi * self.radius * (self.radius + self.height), pi * self.height + pi**2 * self.radius

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(np.hypot(self.radius, self.height / 2))

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return a prism with the rims on the cylinder's; see `Shape.surface`."""
        return surfaces.cylinder(self.radius, self.height, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a cylinder where x and y have factors of one size, else an elliptic one; see `Shape.scaled`."""
        f = np.abs(factors3(factors))
        return Cylinder(self.radius * f[0], self.height * f[2]) if f[0] == f[1] else super().scaled(f)
