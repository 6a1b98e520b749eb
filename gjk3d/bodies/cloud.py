"""`PointCloud`: balls of equal radius around measured points."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import parted_points
from gjk3d.bodies.parts import Copies
from gjk3d.bodies.wide_tree import WideTree, wide_tree
from gjk3d.convex.batch import pack_shapes
from gjk3d.errors import ShapeError
from gjk3d.shapes.base import Kind, Shape, number, rows
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.polytopes import ConvexHull, Point
from gjk3d.typing import Array, Ints, RowsLike
from gjk3d.wording import count

_LEAF = 4  #: greatest number of balls in a leaf
_MOST_CELLS = 2.0**19  #: greatest number of cells from the origin along an axis, so that a cell has an integer number
_ROUNDED = 16.0 * 2.0**-53


class Balls(Copies):
    """Balls of equal radius. The tree is over their centres, and its boxes are enlarged by the radius (``rim``)."""

    __slots__ = ("_nodes", "_radius")

    def __init__(self, places: Array, radius: float, hull: Callable[[], Shape]) -> None:
        self._places, order, links, self._nodes = parted_points(places, _LEAF)
        self._shapes, self._radius = [Sphere(radius) if radius > 0.0 else Point()], radius
        self._arena, self._hull = pack_shapes(self._shapes), cache(hull)
        self._which, self._pieces, self.grid = np.zeros(len(places), dtype=np.int64), None, None
        low, high = self._nodes[0, :3] - self._nodes[0, 3:6], self._nodes[0, :3] + self._nodes[0, 3:6]
        self._set(order, links, np.concatenate([low - self._half(low), high + self._half(high)]))

    def _half(self, places: Array) -> Array:
        """Return half the widths of axis-aligned boxes around balls."""
        half: Array = self._radius + 4.0 * 2.0**-52 * (np.abs(places) + self._radius)
        return half

    def boxes(self, which: Ints) -> Array:
        """Return the boxes of some parts, (k, 6)."""
        places = self._places[which]
        half = self._half(places)
        return np.hstack([places - half, places + half])

    def _boxes_of_nodes(self) -> tuple[Array, float]:
        return self._nodes, self._radius


class PointCloud(Body):
    """Points as a union of balls.

    `gjk3d.collide`, `distance`, `contact` and similar queries accept it as either argument. Results are exact for the
    balls. The depth of an overlap has bounds, as for a `Compound`.

    Parameters
    ----------
    points : (n, 3) float
        The centres of the balls.
    radius : float
        Radius of the balls, at least 0. Half the distance between neighbours gives a surface without gaps.

    Raises
    ------
    ShapeError
        The list of points is empty, or a point is not finite. The message has the first such point and their number.
        `from_sensor` omits such points.

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
    _kind = Kind.CLOUD
    points: Array
    radius: float

    def __init__(self, points: RowsLike, radius: float) -> None:
        places = rows(points, "PointCloud: points", cure=". Use gk.PointCloud.from_sensor(points, radius) to omit them")
        if not len(places):
            raise ShapeError("PointCloud: points is empty, expected (n, 3) with at least one row")
        self._set(points=places, radius=number(radius, "PointCloud: radius", zero=True))

    @classmethod
    def from_sensor(cls, points: Any, radius: float) -> tuple[PointCloud, int]:
        """Return the cloud of a sensor's points, and the number of omitted points.

        Cameras and scanners mark missing measurements by numbers that are not finite. These points are omitted. The
        space at them is unknown, not free.

        Parameters
        ----------
        points : (n, 3) or (h, w, 3) float
            Points, or an image of points, of any real type.
        radius : float
            See `PointCloud`.

        Returns
        -------
        PointCloud, int
            The cloud, and the number of omitted points.

        Raises
        ------
        ShapeError
            No point is finite, or the array has another shape or type.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> seen = np.array([(0, 0, 1), (np.nan, 0, 0), (0, 0, np.inf)], dtype=np.float32)
        >>> gk.PointCloud.from_sensor(seen, 0.01)
        (<PointCloud of 1 point, radius 0.01>, 2)
        """
        try:
            raw = np.asarray(points)
        except ValueError:
            raw = np.empty(0, dtype=object)
        if raw.ndim not in (2, 3) or raw.shape[-1] != 3 or raw.dtype.kind not in "fiu":
            raise ShapeError(
                f"from_sensor: points has shape {raw.shape} and dtype {raw.dtype}, expected real numbers, (n, 3) or "
                "(h, w, 3)"
            )
        every = raw.reshape(-1, 3)
        finite = np.isfinite(every).all(axis=1)
        if not finite.any():
            raise ShapeError(
                f"from_sensor: none of the {len(every)} points is finite, expected at least one. Skip this frame of "
                "the sensor."
            )
        return cls(every[finite], radius), int(len(every) - finite.sum())

    def thinned(self, pitch: float) -> PointCloud:
        """Return a cloud of one point in each cell of a grid, with a larger radius, that contains this cloud.

        Each cell retains the point nearest to the mean of its points. The radius grows by the greatest distance of an
        omitted point from the retained one, which is less than ``pitch * sqrt(3)``. Objects that touch this cloud touch
        the new cloud too, and distances decrease by at most the growth of the radius.

        Parameters
        ----------
        pitch : float
            Edge of the cells, in the unit of the points. The cells begin at multiples of the edge.

        Returns
        -------
        PointCloud
            Its distances may be too small by at most ``thinned.radius - cloud.radius``.

        Raises
        ------
        ShapeError
            The pitch is not a number above 0, or so small that cells cannot be counted.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> many = gk.PointCloud(np.random.default_rng(0).uniform(0, 1, (20_000, 3)) * (1, 1, 0), 0.01)
        >>> few = many.thinned(0.05)
        >>> len(few), round(few.radius - many.radius, 3)
        (400, 0.042)
        """
        step, reach = number(pitch, "thinned: pitch"), float(np.abs(self.points).max())
        if not reach < _MOST_CELLS * step:
            raise ShapeError(
                f"thinned: pitch is {step:g}, expected more than {reach / _MOST_CELLS:.3g} for points up to {reach:.3g}"
                " from the origin. Move the cloud nearer to the origin, or increase pitch."
            )
        cells = np.floor(self.points / step).astype(np.int64)
        cells -= cells.min(axis=0)
        wide = cells.max(axis=0) + 1
        key = (cells[:, 0] * wide[1] + cells[:, 1]) * wide[2] + cells[:, 2]
        order = np.argsort(key, kind="stable")
        places, fresh = self.points[order], np.diff(key[order], prepend=-1) != 0
        begins = np.flatnonzero(fresh)
        cell, counts = np.cumsum(fresh) - 1, np.diff(begins, append=len(places))
        middles = np.add.reduceat(places, begins) / counts[:, None]
        off = ((places - middles[cell]) ** 2).sum(axis=1)
        nearest = np.flatnonzero(off == np.minimum.reduceat(off, begins)[cell])
        centers = places[nearest[np.diff(cell[nearest], prepend=-1) != 0]]
        far = float(np.linalg.norm(places - centers[cell], axis=1).max())
        more = far + _ROUNDED * (far + reach) if far > 0.0 else 0.0
        return PointCloud(centers, self.radius + more)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<PointCloud of {count(len(self), 'point')}, radius {self.radius:g}>"

    def hull(self) -> Shape:
        """Return the convex hull of all balls, a shape that every query accepts."""
        return self._as_parts().hull()

    def _as_parts(self) -> Copies:
        return self._cached("parts", self._build_parts)

    def _build_parts(self) -> Copies:
        return Balls(self.points, self.radius, self._find_hull)

    @property
    def _wide_tree(self) -> WideTree:
        """The wide tree of the points as triangles of three equal corners. It has the nodes of the binary tree."""

        def build() -> WideTree:
            parts, every = self._as_parts(), np.arange(len(self.points))
            return wide_tree(self.points, np.column_stack([every] * 3), (parts._order, parts._links))

        return self._cached("wide tree", build)

    def _find_hull(self) -> Shape:
        hull = ConvexHull(self.points)
        return hull.inflated(self.radius) if self.radius > 0.0 else hull
