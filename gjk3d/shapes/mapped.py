"""A convex shape given by its support mapping alone: a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.addresses import call_function, callback, raise_pending
from gjk3d._kernels.decorators import kernel
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape, number, vector
from gjk3d.shapes.layout import Part, Term
from gjk3d.shapes.measure import Measures, measured
from gjk3d.typing import Array, Ints, VectorLike
from gjk3d.wording import kind_of

#: random directions for the check of a new mapping, in addition to the axes
TRIED = 94
#: tolerated errors of its points, relative to the radius
_CLOSE, _SLACK = 1e-7, 1e-13


@kernel
def support_mapped(address: int, f: Array, d: Vec3) -> Vec3:
    """Return the farthest point along d by the user's function at ``address``, relative to the centre f[:3]."""
    length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    if not length > NO_LENGTH:
        length = 1.0
    p = call_function(address, d[0] / length, d[1] / length, d[2] / length)
    return (p[0] - f[0], p[1] - f[1], p[2] - f[2])


class Support(Shape):
    """A convex shape given by its support mapping.

    Parameters
    ----------
    function : callable
        A function of a unit direction, (3,) float. It returns the shape's farthest point along this direction: an array
        or a tuple of three. It must depend on the direction only. The function is compiled if numba can compile it.
        Else `compiled` is False, and each call costs some microseconds. The shape can be pickled if the function is
        importable by its name.
    center : (3,) float
        A point inside the shape.
    radius : float
        All points of the shape are within this distance of ``center``.

    Raises
    ------
    ShapeError
        If the function, checked for 100 directions, does not return three finite numbers, returns a point outside the
        ball, or returns a point that is less far along its direction than the point of another direction.

    Notes
    -----
    Bounds are valid for a correct mapping, to 1e-13 of the radius. `gjk3d.verify` reports such a shape as unprovable.
    Errors of the function are raised by the query.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> def octahedron(d):
    ...     k = np.argmax(np.abs(d))
    ...     p = np.zeros(3)
    ...     p[k] = np.sign(d[k])
    ...     return p
    >>> shape = gk.Support(octahedron, (0, 0, 0), 1.0)
    >>> shape.compiled, round(gk.distance(shape, gk.Point((1, 1, 1))).distance, 9) == round(2 / 3**0.5, 9)
    (True, True)
    """

    __slots__ = ("center", "function", "radius")
    _kind = Kind.MAPPED
    function: Callable[[Any], Any]
    center: Array
    radius: float

    def __init__(self, function: Callable[[Any], Any], center: VectorLike, radius: float) -> None:
        if not callable(function):
            raise ShapeError(f"Support: function is {kind_of(function)}, expected a callable")
        middle, reach = vector(center, "Support: center"), number(radius, "Support: radius")
        self._set(function=function, center=middle, radius=reach)
        _check_mapping(self)

    @property
    def compiled(self) -> bool:
        """Whether the function runs as machine code."""
        return callback(self.function).compiled

    def _core(self) -> tuple[int, Any, Any]:
        return layout.SUPPORT, self.center, np.array([*self.center, self.radius])

    def _slack(self) -> float:
        return _SLACK * self.radius

    def _terms(self) -> list[Term]:
        kind, center, numbers = self._core()
        return [[Part(kind, callback(self.function).address, numbers, np.eye(3), np.array(center))]]

    def _pack(self) -> tuple[Ints, Array]:
        ints, floats = super()._pack()
        ints[layout.VERTICES] = callback(self.function).address
        return ints, floats

    @property
    def _order(self) -> tuple[bytes, bytes]:
        """Return the sort key of `Shape._order`, with the function's name instead of its address in this process."""
        name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', '')}"
        return bytes([layout.SUPPORT]) * 8 + name.encode(), np.append(self.center, self.radius).tobytes()

    def _core_volume(self) -> float:
        return self._measures().volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return self._measures()[1:]

    def _measures(self) -> Measures:
        return self._cached("measures", lambda: measured(self.support))


def in_python(shape: Shape) -> Shape:
    """Return a copy of a shape that calls its function in Python, so that the exceptions of the function are raised."""
    if not isinstance(shape, Support):
        return shape
    copy = Support._made(function=shape.function, center=shape.center, radius=shape.radius)
    ints, floats = shape._packed
    ints = ints.copy()
    interpreted = callback(shape.function, interpreted=True)
    ints[layout.VERTICES] = interpreted.address
    copy._cache.update(packed=(ints, floats), interpreted=interpreted)
    return copy


def _check_mapping(shape: Support) -> None:
    """Raise if the points along some directions cannot belong to a convex shape inside its ball."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(TRIED, 3))
    directions = np.vstack([np.eye(3), -np.eye(3), directions / np.linalg.norm(directions, axis=1, keepdims=True)])
    name = getattr(shape.function, "__name__", "the function")
    points = np.empty_like(directions)
    for k, d in enumerate(directions):
        try:
            point = np.asarray(shape.function(d.copy()), dtype=np.float64)
        except (TypeError, ValueError) as reason:
            raise ShapeError(f"Support: {name} fails along {d.tolist()}: {reason}") from reason
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ShapeError(f"Support: along {d.tolist()} {name} returns {point!r}, expected three finite numbers")
        points[k] = point
    away = np.linalg.norm(points - shape.center, axis=1)
    k = int(away.argmax())
    if away[k] > shape.radius * (1.0 + _CLOSE):
        raise ShapeError(
            f"Support: along {directions[k].tolist()} {name} returns {points[k].tolist()}, {away[k]:.6g} from the "
            f"center, but radius is {shape.radius:.6g}. The ball must contain the whole shape."
        )
    heights = directions @ points.T
    excess = heights - np.diag(heights)[:, None]
    i, j = np.unravel_index(excess.argmax(), excess.shape)
    if excess[i, j] > _CLOSE * shape.radius:
        raise ShapeError(
            f"Support: along {directions[i].tolist()} {name} returns {points[i].tolist()}, but its own point "
            f"{points[j].tolist()} is farther by {excess[i, j]:.6g}. It must return the farthest point."
        )
    compiled = shape.support(directions)  # by the kernels
    raise_pending()
    worst = float(np.abs(compiled - points).max())
    if not worst <= _CLOSE * shape.radius:
        raise ShapeError(f"Support: {name} returns points {worst:.6g} apart for one direction, expected one point")
