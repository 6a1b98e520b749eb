"""`PointCloud`: balls of one radius, as scanners measure the world."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import parted_points
from gjk3d.bodies.parts import Copies
from gjk3d.convex.rows import arena
from gjk3d.errors import ShapeError
from gjk3d.shapes.arguments import number, rows
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.simplices import Point
from gjk3d.shapes.sphere import Sphere
from gjk3d.typing import Array, Ints, RowsLike

_LEAF = 4  #: balls in a leaf, at most


class Balls(Copies):
    """Balls of one radius: the tree is over their middles, and its boxes have a rim."""

    __slots__ = ("_nodes", "_radius")

    def __init__(self, places: Array, radius: float, hull: Callable[[], Shape]) -> None:
        self._places, order, links, self._nodes = parted_points(places, _LEAF)
        self._shapes, self._radius = [Sphere(radius) if radius > 0.0 else Point()], radius
        self._arena, self._hull = arena(self._shapes), cache(hull)
        self._which = np.zeros(len(places), dtype=np.int64)
        low, high = self._nodes[0, :3] - self._nodes[0, 3:6], self._nodes[0, :3] + self._nodes[0, 3:6]
        self._set(order, links, np.concatenate([low - self._half(low), high + self._half(high)]))

    def _half(self, places: Array) -> Array:
        """Return half the widths of boxes round balls."""
        half: Array = self._radius + 4.0 * 2.0**-52 * (np.abs(places) + self._radius)
        return half

    def boxes(self, which: Ints) -> Array:
        """See `Parts`."""
        places = self._places[which]
        half = self._half(places)
        return np.hstack([places - half, places + half])

    def _boxes_of_nodes(self) -> tuple[Array, float]:
        return self._nodes, self._radius


class PointCloud(Body):
    """Points, each standing for a ball about it.

    `gjk3d.collide`, `distance`, `contact` and their like take it on either side; the answers are those of the balls,
    exact.
    In overlap the depth comes with bounds, as a `Compound` has it.

    Parameters
    ----------
    points : (n, 3) float
        The middles of the balls.
    radius : float
        Their radius, at least 0: half of what lies between neighbours, or more, leaves no gaps in a surface.

    Raises
    ------
    ShapeError
        Where there is no point, or one is not finite; naming which.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> x, y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))
    >>> ground = gk.PointCloud(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]), radius=0.05)
    >>> pose = np.eye(4); pose[2, 3] = 1
    >>> ground, round(gk.distance(ground, gk.Sphere(0.5), None, pose).distance, 9)
    (<PointCloud of 1681 points, radius 0.05>, 0.45)
    """

    __slots__ = ("points", "radius")
    points: Array
    radius: float

    def __init__(self, points: RowsLike, radius: float) -> None:
        places = rows(points, "PointCloud: points")
        if not len(places):
            raise ShapeError("PointCloud: points is empty, expected (n, 3) with at least one row")
        self._set(points=places, radius=number(radius, "PointCloud: radius", zero=True))

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<PointCloud of {len(self)} points, radius {self.radius:g}>"

    def hull(self) -> Shape:
        """Return the convex hull of all balls, a shape that every query takes."""
        return self._as_parts().hull()

    def _as_parts(self) -> Copies:
        return self._cached("parts", self._build_parts)

    def _build_parts(self) -> Copies:
        return Balls(self.points, self.radius, self._find_hull)

    def _find_hull(self) -> Shape:
        hull = ConvexHull(self.points)
        return hull.inflated(self.radius) if self.radius > 0.0 else hull
