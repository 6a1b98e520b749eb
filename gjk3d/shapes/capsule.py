"""A capsule: a segment with a radius."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gjk3d.shapes import layout, surfaces
from gjk3d.shapes.arguments import factors3, number
from gjk3d.shapes.base import Curved, Shape
from gjk3d.shapes.simplices import Point, Segment
from gjk3d.typing import Array, FactorsLike


class Capsule(Curved):
    """All points within ``radius`` of a segment along z.

    Parameters
    ----------
    radius : float
        More than 0.
    height : float
        At least 0. Between the centres of the caps, as in FCL and trimesh; tip to tip is ``height + 2 radius``.

    Raises
    ------
    ShapeError
        Where the radius is not a finite number above 0, or the height not one of at least 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Capsule(0.5, 2).bounds[1].tolist()
    [0.5, 0.5, 1.5]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(
            radius=number(radius, "Capsule: radius"),
            height=number(height, "Capsule: height", zero=True),
        )

    def _core(self) -> tuple[int, Any, Any]:
        if self.height == 0.0:
            return layout.POINT, np.zeros(3), np.zeros(0)
        return layout.SEGMENT, np.zeros(3), np.array([0.0, 0.0, self.height / 2])

    def _rounding(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        """A cylinder and a ball."""
        return pi * self.radius**2 * (self.height + 4.0 / 3.0 * self.radius)

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), self.height / 2 + self.radius

    def surface(self, resolution: int = 32) -> surfaces.Surface:
        """Return rings of triangles; see `Shape.surface`."""
        return surfaces.capsule(self.radius, self.height, resolution)

    def inflated(self, radius: float) -> Shape:
        """Return the thicker capsule; see `Shape.inflated`."""
        return Capsule(self.radius + number(radius, "inflated: radius", zero=True), self.height)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a capsule for factors of one size, else a segment plus an ellipsoid; see `Shape.scaled`."""
        f = np.abs(factors3(factors))
        return Capsule(self.radius * f[0], self.height * f[0]) if np.all(f == f[0]) else super().scaled(f)

    def _bare(self) -> Shape:
        return Segment((0, 0, -self.height / 2), (0, 0, self.height / 2)) if self.height > 0.0 else Point()
