"""Half-spaces and planes. They are unbounded, do not have a core, and all their queries have closed forms."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.shapes import measure
from gjk3d.shapes.base import Kind, Shape, factors3, number, vector
from gjk3d.typing import Array, Bools, FactorsLike, Ints, Rows, VectorLike


class Halfspace(Shape):
    """All points with ``normal . x <= offset``: solid on the side away from its normal.

    Parameters
    ----------
    normal : (3,) float
        The outward normal, of any length except zero.
    offset : float
        Greatest value of ``normal . x``. The shape stores ``normal`` and ``offset`` divided by the length of the
        normal, so the stored offset is the signed distance of the surface from the origin.

    Raises
    ------
    ShapeError
        If the normal is zero, or a number is not finite.
    UnboundedShapeError
        For properties of bounded shapes: bounds, surface, bounding sphere, oriented box, support.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> floor = gk.Halfspace((0, 0, 1), 0)
    >>> above = np.eye(4); above[2, 3] = 3
    >>> gk.signed_distance(floor, gk.Sphere(1), None, above).distance
    2.0
    """

    __slots__ = ("normal", "offset")
    normal: Array
    offset: float
    _kind = Kind.HALFSPACE
    _sides = 1.0  #: number of sides of the surface that are outside the shape

    def __init__(self, normal: VectorLike, offset: float = 0.0) -> None:
        name = type(self).__name__
        n = vector(normal, f"{name}: normal", lengths=False)
        scale = float(np.abs(n).max())
        if scale == 0.0:
            raise ShapeError(f"{name}: normal is [0, 0, 0], expected a vector such as [0, 0, 1]")
        length = scale * float(np.linalg.norm(n / scale))
        distance = number(offset, f"{name}: offset", positive=False)
        self._set(normal=n / length, offset=number(distance / length, f"{name}: offset / |normal|", positive=False))

    def _unbounded(self, what: str) -> UnboundedShapeError:
        name = type(self).__name__
        return UnboundedShapeError(f"a {name} does not have {what}, because it is unbounded. Use a large Box instead.")

    @property
    def _packed(self) -> Any:
        """Raise an error, since a half-space lacks a core."""
        raise self._unbounded("a core")

    def _faces(self) -> tuple[Ints, Array]:
        return np.array([-1], dtype=np.int64), self.normal.copy()

    def support(self, directions: Rows) -> Array:
        """Raise UnboundedShapeError, since most directions have no farthest point; see `Shape.support`."""
        raise self._unbounded("support points")

    @property
    def bounds(self) -> Array:
        """Raise UnboundedShapeError, so ``hasattr(shape, "bounds")`` is False."""
        raise self._unbounded("bounds")

    @property
    def volume(self) -> float:
        """Volume, which is infinite."""
        return inf

    def _contains(self, points: Array, workers: int) -> Bools:
        height, slack = self._heights(points)
        inside: Bools = height <= slack
        return inside

    def _heights(self, points: Array) -> tuple[Array, Array]:
        """Return the signed heights of (n, 3) points above the surface, and the rounding error of each height."""
        # roundings of three products, two sums and a difference
        slack = 4.0 * UNIT_ROUNDOFF * (np.abs(points) @ np.abs(self.normal) + abs(self.offset))
        return points @ self.normal - self.offset, slack

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Raise UnboundedShapeError, since the surface is unbounded; see `Shape.surface`."""
        raise self._unbounded("a surface mesh")

    def _ball(self) -> tuple[Array, float]:
        raise self._unbounded("a bounding sphere")

    def _box(self) -> tuple[Array, Array]:
        raise self._unbounded("an oriented box")

    def inflated(self, radius: float) -> Shape:
        """Return the half-space with its surface moved outward by the radius; see `Shape.inflated`."""
        return Halfspace(self.normal, self.offset + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the half-space or plane of the scaled points; see `Shape.scaled`."""
        return type(self)(self.normal / factors3(factors), self.offset)

    def _moved(self, rotation: Array, translation: Array) -> Shape:
        normal = rotation @ self.normal
        return type(self)(normal, self.offset + float(normal @ translation))


class Plane(Halfspace):
    """All points with ``normal . x == offset``: infinitely thin, without an inside.

    Every query that accepts a `Halfspace` accepts a plane too, with the other shape on either side. A shape that
    crosses the plane overlaps it, and the depth is the least translation to either side.

    Parameters
    ----------
    normal : (3,) float
        A normal of the plane, of any length except zero.
    offset : float
        Value of ``normal . x`` on the plane. The shape stores ``normal`` and ``offset`` divided by the length of the
        normal, so the stored offset is the signed distance of the plane from the origin.

    Raises
    ------
    ShapeError
        If the normal is zero, or a number is not finite.
    UnboundedShapeError
        For properties of bounded shapes: bounds, surface, bounding sphere, oriented box, support. `inflated` raises it
        too. Use a large `Box` for a plate with a thickness.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> wall, under = gk.Plane((0, 0, 1), 0), np.eye(4)
    >>> under[2, 3] = -3
    >>> gk.signed_distance(wall, gk.Sphere(1), None, under)
    Distance: separated, 2 along (0, 0, -1)
    >>> under[2, 3] = -0.25
    >>> gk.signed_distance(wall, gk.Sphere(1), None, under).distance
    -0.75
    """

    __slots__ = ()
    normal: Array
    offset: float
    _kind = Kind.PLANE
    _sides = 2.0

    def support(self, directions: Rows) -> Array:
        """Raise UnboundedShapeError, since most directions have no farthest point; see `Shape.support`."""
        return super().support(directions)

    @property
    def bounds(self) -> Array:
        """Raise UnboundedShapeError, so ``hasattr(shape, "bounds")`` is False."""
        return super().bounds

    @property
    def volume(self) -> float:
        """Volume, which is 0."""
        return 0.0

    def _contains(self, points: Array, workers: int) -> Bools:
        height, slack = self._heights(points)
        inside: Bools = np.abs(height) <= slack
        return inside

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Raise UnboundedShapeError, since the plane is unbounded; see `Shape.surface`."""
        return super().surface(resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the plane of the scaled points; see `Shape.scaled`."""
        return super().scaled(factors)

    def inflated(self, radius: float) -> Shape:
        """Return the plane for a radius of 0. A positive radius raises UnboundedShapeError; see `Shape.inflated`."""
        if number(radius, "inflated: radius", zero=True) > 0.0:
            raise UnboundedShapeError("inflated: a Plane with a thickness is unbounded. Use a large Box instead.")
        return self
