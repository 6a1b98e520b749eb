"""A sphere: a point with a radius."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, number
from gjk3d.shapes.base import Curved, Shape
from gjk3d.typing import Array, FactorsLike


class Sphere(Curved):
    """The solid ball round the origin.

    Parameters
    ----------
    radius : float
        More than 0; in the unit of all lengths.

    Raises
    ------
    ShapeError
        Where the radius is not a finite number above 0.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> apart = np.eye(4); apart[0, 3] = 5
    >>> gk.signed_distance(gk.Sphere(1), gk.Sphere(2), None, apart).distance
    2.0
    """

    __slots__ = ("radius",)
    radius: float

    def __init__(self, radius: float) -> None:
        self._set(radius=number(radius, "Sphere: radius", cure="; without a radius it is a Point"))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.POINT, np.zeros(3), np.empty(0)

    def _rounding(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        """4/3 pi radius^3."""
        return 4.0 / 3.0 * pi * self.radius**3

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return 0.0, 0.0

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), self.radius

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return rings of triangles; see `Shape.surface`."""
        return surfaces.sphere(self.radius, resolution)

    def inflated(self, radius: float) -> Shape:
        """Return the larger ball; see `Shape.inflated`."""
        return Sphere(self.radius + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a sphere for equal factors, else an ellipsoid; see `Shape.scaled`."""
        from gjk3d.shapes.ellipsoid import Ellipsoid

        f = np.abs(factors3(factors))
        return Sphere(self.radius * f[0]) if np.all(f == f[0]) else Ellipsoid(self.radius * f)

    def _bare(self) -> Shape:
        from gjk3d.shapes.simplices import Point

        return Point()
