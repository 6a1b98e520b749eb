"""Convex shapes that are composed of other shapes, or defined by a support mapping.

`Support` is a shape that is defined by a function of the user, its support mapping.

`Composed` is the convex hull of terms. A term is a sum of affinely placed primitives. Scaled and placed shapes,
Minkowski sums and hulls of unions have this form. Nested compositions are flattened when they are built.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import sqrt
from operator import add
from typing import Any

import numpy as np

from gjk3d._kernels.addresses import call_function, callback, function_at, raise_pending
from gjk3d._kernels.decorators import kernel
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.shapes import layout, measure
from gjk3d.shapes.base import Kind, Shape, factors3, number, vector
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.layout import Part, Term
from gjk3d.shapes.measure import Measures, measured
from gjk3d.typing import Array, FactorsLike, Ints, VectorLike
from gjk3d.wording import kind_of

# --- support mappings ------------------------------------------------------------------------------------------------


#: random directions for the check of a new mapping, in addition to the six axis directions
TRIED = 94
#: errors of the points of a mapping, relative to the radius: tolerated by the check, and included in the bounds
_CLOSE, _SLACK = 1e-7, 1e-13


@kernel
def support_mapped(address: int, f: Array, d: Vec3) -> Vec3:
    """Return the point that the user's function at ``address`` returns for d, relative to the centre f[:3]."""
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
        A function of a unit direction, (3,) float. It returns the farthest point of the shape along this direction, as
        an array or a tuple of three numbers. The result must depend on the direction only. The function is compiled if
        numba can compile it. Otherwise `compiled` is False, and each call costs some microseconds. The shape can be
        pickled if the function is importable by its name.
    center : (3,) float
        A point inside the shape.
    radius : float
        All points of the shape are within this distance of ``center``.

    Raises
    ------
    ShapeError
        If the function does not return three finite numbers, returns a point outside the ball, or returns a point that
        is less far along its direction than the result for another direction. 100 directions are checked.

    Notes
    -----
    The bounds of a result are valid if the points of the function are exact to 1e-13 of the radius. `gjk3d.verify`
    reports a result with such a shape as unprovable. A query raises the exceptions of the function.

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
        """The key of `Shape._order`, with the name of the function instead of its address in this process."""
        name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', '')}"
        return bytes([layout.SUPPORT]) * 8 + name.encode(), np.append(self.center, self.radius).tobytes()

    def _core_volume(self) -> float:
        return self._measures().volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return self._measures()[1:]

    def _measures(self) -> Measures:
        return self._cached("measures", lambda: measured(self.support))


def in_python(shape: Shape) -> Shape:
    """Return a copy of a `Support` that calls its function in Python, so that exceptions of the function are raised.

    Other shapes are returned unchanged.
    """
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
    """Raise if the results of the mapping for 100 directions are not those of a convex shape inside the ball."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(TRIED, 3))
    directions = np.vstack([np.eye(3), -np.eye(3), directions / np.linalg.norm(directions, axis=1, keepdims=True)])
    name = getattr(shape.function, "__name__", "the function")
    points = np.empty_like(directions)
    for k, d in enumerate(directions):
        try:
            point = np.asarray(shape.function(d.copy()), dtype=np.float64)
        except (TypeError, ValueError) as reason:
            raise ShapeError(
                f"Support: {name} raises an error for the direction {d.tolist()} ({reason}). It must return three "
                "finite numbers for each unit direction."
            ) from reason
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ShapeError(f"Support: along {d.tolist()} {name} returns {point!r}, expected three finite numbers")
        points[k] = point
    away = np.linalg.norm(points - shape.center, axis=1)
    k = int(away.argmax())
    if away[k] > shape.radius * (1.0 + _CLOSE):
        raise ShapeError(
            f"Support: along {directions[k].tolist()} {name} returns {points[k].tolist()}, at {away[k]:.6g} from the "
            f"center, but radius is {shape.radius:.6g}. The ball must contain the whole shape."
        )
    heights = directions @ points.T
    excess = heights - np.diag(heights)[:, None]
    i, j = np.unravel_index(excess.argmax(), excess.shape)
    if excess[i, j] > _CLOSE * shape.radius:
        raise ShapeError(
            f"Support: along {directions[i].tolist()} {name} returns {points[i].tolist()}, but its result for another "
            f"direction, {points[j].tolist()}, is farther by {excess[i, j]:.6g}. It must return the farthest point."
        )
    compiled = shape.support(directions)  # by the kernels
    raise_pending()
    worst = float(np.abs(compiled - points).max())
    if not worst <= _CLOSE * shape.radius:
        raise ShapeError(
            f"Support: {name} returns points {worst:.6g} apart for the same direction, expected the same point in each "
            "call"
        )


# --- shapes made of others -------------------------------------------------------------------------------------------


@kernel
def pull_back(f: Array, o: int, d: Vec3) -> Vec3:
    """Return M^T d for the placement x -> M x + t that is stored at f[o:]."""
    return (
        f[o] * d[0] + f[o + 3] * d[1] + f[o + 6] * d[2],
        f[o + 1] * d[0] + f[o + 4] * d[1] + f[o + 7] * d[2],
        f[o + 2] * d[0] + f[o + 5] * d[1] + f[o + 8] * d[2],
    )


@kernel
def place(f: Array, o: int, p: Vec3) -> Vec3:
    """Return M p + t for the placement x -> M x + t that is stored at f[o:]."""
    return (
        f[o] * p[0] + f[o + 1] * p[1] + f[o + 2] * p[2] + f[o + 9],
        f[o + 3] * p[0] + f[o + 4] * p[1] + f[o + 5] * p[2] + f[o + 10],
        f[o + 6] * p[0] + f[o + 7] * p[1] + f[o + 8] * p[2] + f[o + 11],
    )


class Composed(Shape):
    """A convex shape composed of primitives, the result of ``scaled``, ``placed``, `MinkowskiSum` and `ConvexUnion`.

    The core is the convex hull of terms. Each term is a sum of affinely placed primitives. Nested compositions are
    flattened.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Cylinder(1, 2).scaled((1, 2, 1))
    Composed(cylinder)
    """

    __slots__ = ("_functions", "_numbers", "_radius", "_table")
    _table: Ints
    #: functions of users; the table contains indices of this tuple, since addresses differ between processes
    _functions: tuple[Any, ...]
    _numbers: Array
    _radius: float

    @property
    def _kind(self) -> int:  # type: ignore[override]
        return Kind.MAPPED if self._functions else Kind.CONVEX

    @classmethod
    def _from_terms(cls, terms: list[Term], radius: float) -> Composed:
        table, functions, numbers = _laid_out(terms)
        return cls._made(_table=table, _numbers=numbers, _radius=float(radius), _functions=functions)

    @classmethod
    def _each_from_terms(cls, terms: list[Term], radii: Array) -> list[Composed]:
        """Return one shape for each radius, from terms whose arrays have one row per radius.

        The kernel data of all shapes are computed together, and are cached in the shapes.
        """
        table, functions, numbers = _laid_out(terms)
        ints, floats = _packed(terms, table, radii)
        out = []
        for row_numbers, radius, floats_row in zip(numbers, radii.tolist(), floats, strict=True):
            shape = cls._made(_table=table, _numbers=row_numbers, _radius=radius, _functions=functions)
            shape._cache["packed"] = ints, floats_row
            out.append(shape)
        return out

    def __repr__(self) -> str:
        names = ("point", "segment", "box", "hull", "cylinder", "cone", "ellipsoid", "", "mapping")
        terms: dict[int, list[str]] = {}
        for index, kind, *_ in self._table.tolist():
            terms.setdefault(index, []).append(names[kind])
        inside = " | ".join(" + ".join(parts) for parts in terms.values())
        return f"Composed({inside}{f', radius={self._radius}' if self._radius else ''})"

    def _terms(self) -> list[Term]:
        terms: list[Term] = []
        at = 0
        for index, kind, count, size in self._table.tolist():
            if index == len(terms):
                terms.append([])
            if kind == layout.SUPPORT:
                count = callback(self._functions[count]).address
            matrix = self._numbers[at : at + 9].reshape(3, 3)
            offset = self._numbers[at + 9 : at + 12]
            terms[index].append(Part(kind, count, self._numbers[at + 12 : at + 12 + size], matrix, offset))
            at += 12 + size
        return terms

    def _rounding(self) -> float:
        return self._radius

    def _pack(self) -> tuple[Ints, Array]:
        return _packed(self._terms(), self._table, np.asarray(self._radius))

    @property
    def volume(self) -> float:
        """Volume, exact for polytopes, rounded polytopes, and a single primitive without a radius.

        For other shapes the value is too small, by up to 0.05 % for compact shapes and a few percent for long or flat
        shapes.
        """
        terms = self._terms()
        if self._polytope() is not None:
            return super().volume
        if len(terms) == 1 and len(terms[0]) == 1 and self._radius == 0.0:
            return self._core_volume()
        return self._cached("volume", lambda: measured(self.support).volume)

    def _polytope(self) -> Any:
        """Return the core as a `ConvexHull`, or None if a part is curved or the vertices are too many."""
        return self._cached("polytope", lambda: _hull_of(self._terms()))

    def _gauss_map(self) -> tuple[Array, Array]:
        hull = self._polytope()
        if hull is None:
            raise ShapeError(
                f"{self!r} is curved or has over {MOST_POINTS} points, expected a polytope with fewer points. Use "
                "gjk3d.ConvexHull(shape.surface().vertices)."
            )
        gauss: tuple[Array, Array] = hull._gauss_map()
        return gauss

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the faces of a polytope, or a mesh of a curved shape; see `Shape.surface`."""
        hull = self._polytope() if self._radius == 0.0 else None
        return super().surface(resolution) if hull is None else hull.surface(resolution)

    def _own_axes(self) -> list[Array]:
        axes = []
        for part in (part for term in self._terms() for part in term):
            q, _ = np.linalg.qr(part.matrix)
            q[:, 2] *= np.sign(np.linalg.det(q))
            axes.append(q)
        return axes

    def _core_volume(self) -> float:
        terms = self._terms()
        hull = self._polytope()
        if hull is not None:
            return float(hull.volume)
        if len(terms) > 1 or len(terms[0]) > 1:
            return self._bare_measures().volume
        part = terms[0][0]
        return abs(float(np.linalg.det(part.matrix))) * _primitive(part).volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        terms = self._terms()
        polytope = self._polytope()
        if polytope is not None:
            measures: tuple[float, float] = polytope._core_area_and_curvature()
            return measures
        if len(terms) == 1 and len(terms[0]) == 1:
            part = terms[0][0]
            if np.abs(part.matrix.T @ part.matrix - np.eye(3)).max() < 1e-12:
                return _primitive(part)._core_area_and_curvature()
        return self._bare_measures()[1:]

    def _bare_measures(self) -> Measures:
        """Return the volume, area and mean curvature of a curved core, computed from its support points."""
        return self._cached("measures", lambda: measured(Composed._from_terms(self._terms(), 0.0).support))


def _laid_out(terms: list[Term]) -> tuple[Ints, tuple[Any, ...], Array]:
    """Return a table, the users' functions, and all floats of terms.

    A row of the table describes a part: the index of its term, its kind, its vertex count, and the count of the numbers
    of its primitive. If the part is a user's function, the index of this function replaces the vertex count. The floats
    of a part are the matrix and the offset of its placement, then the numbers of its primitive.
    """
    table, numbers = [], []
    functions: list[Any] = []
    rows = terms[0][0].offset.shape[:-1]
    for index, term in enumerate(terms):
        for part in term:
            count = part.vertices
            if part.kind == layout.SUPPORT:
                count = len(functions)
                functions.append(function_at(part.vertices))
            table.append((index, part.kind, count, part.numbers.shape[-1]))
            numbers += [part.matrix.reshape(*part.matrix.shape[:-2], 9), part.offset, part.numbers]
    largest = [float(np.abs(p.matrix).max()) * float(np.abs(p.numbers).max(initial=0.0)) for t in terms for p in t]
    offsets = [float(np.abs(part.offset).max()) for term in terms for part in term]
    layout.in_range(np.array([*largest, *offsets]), "a composed shape")
    return np.array(table, dtype=np.int64), tuple(functions), _joined(numbers, rows)


def _joined(numbers: list[Array], rows: tuple[int, ...]) -> Array:
    """Return arrays joined along the last axis, without negative zeros. All other axes are broadcast to ``rows``."""
    return np.concatenate([np.broadcast_to(x, (*rows, x.shape[-1])) for x in numbers], axis=-1) + 0.0


def _packed(terms: list[Term], table: Ints, radius: Array) -> tuple[Ints, Array]:
    """Return terms as integers and floats for the kernels. The floats have one row for each element of ``radius``."""
    centers = np.array([reduce(add, [part.offset for part in term]) for term in terms])
    middles = np.array([reduce(add, [part.offset + layout.hull_middle(part) for part in term]) for term in terms])
    center = middles.mean(axis=0)
    kind_of, axis = layout.common_symmetry(terms)
    ints = [layout.COMPOSED, 0, sum(map(len, terms)), int((table[:, 1] <= layout.HULL).all()), kind_of]
    floats: list[Array] = []
    at = layout.FLOAT_HEAD
    rho = stored = np.zeros(radius.shape)
    for index, term in enumerate(terms):
        reach, far = layout.length(middles[index] - center), layout.length(centers[index] - center)
        for i, part in enumerate(term):
            # the first part is placed by the sum of the offsets of all parts, relative to the centre
            offset = centers[index] - center if i == 0 else np.zeros(3)
            ints += [index, part.kind, part.vertices, at + layout.PLACEMENT, at]
            floats += [part.matrix.reshape(*part.matrix.shape[:-2], 9), offset, part.numbers]
            at += layout.PLACEMENT + part.numbers.shape[-1]
            stretch = np.linalg.norm(part.matrix, 2, axis=(-2, -1))
            far = far + stretch * layout.core_reach(part.kind, part.numbers)
            reach = reach + stretch * layout.core_reach(part.kind, layout.about_middle(part))
        rho, stored = np.maximum(rho, reach), np.maximum(stored, far)
    rho = rho * (1.0 + 1e-14)
    offsets = [np.abs(part.offset).max(axis=-1) for term in terms for part in term]
    largest = reduce(np.maximum, offsets) + stored
    # every part adds a few roundings of a matrix product to the support value
    slack = 16.0 * UNIT_ROUNDOFF * len(table) * (stored + np.minimum(largest, 4.0 * stored))
    head = [radius[..., None], center, rho[..., None], slack[..., None], axis, np.zeros(1)]
    return np.array(ints, dtype=np.int64), _joined([*head, *floats], radius.shape)


#: candidate points for the vertices of a composed polytope, at most
MOST_POINTS = 20_000


def _hull_of(terms: list[Term]) -> Any:
    """Return the hull of terms as a `ConvexHull`, or None if a part is curved or the points exceed `MOST_POINTS`."""
    from gjk3d.shapes.polytopes import ConvexHull

    clouds: list[Array] = []
    for term in terms:
        cloud = np.zeros((1, 3))
        for part in term:
            if part.kind > layout.HULL:
                return None
            points = layout.corners(part)
            if len(cloud) * len(points) > MOST_POINTS:
                return None
            cloud = (cloud[:, None] + (points @ part.matrix.T + part.offset)[None]).reshape(-1, 3)
        clouds.append(cloud)
    points = np.concatenate(clouds)
    return None if len(points) > MOST_POINTS else ConvexHull(points)


def _primitive(part: Part) -> Shape:
    """Return the shape of a part before its placement."""
    from gjk3d.shapes.curved import Cone, Cylinder, Ellipsoid
    from gjk3d.shapes.polytopes import Box, ConvexHull, Point, Segment

    n = part.numbers
    if part.kind == layout.POINT:
        return Point()
    if part.kind == layout.SEGMENT:
        return Segment(-n, n)
    if part.kind == layout.BOX:
        return Box(2 * n)
    if part.kind == layout.HULL:
        return ConvexHull(n.reshape(3, -1).T)
    if part.kind == layout.CYLINDER:
        return Cylinder(n[0], 2 * n[1])
    if part.kind == layout.CONE:
        return Cone(n[0], 2 * n[1])
    if part.kind == layout.SUPPORT:
        return Support(function_at(part.vertices), n[:3], n[3])
    return Ellipsoid(n)


class Rounded(Shape):
    """The sum of a shape and a ball: all points within ``radius`` of the core.

    Every query is exact: the kernels compute the result for the core, and then the radius is added.

    Parameters
    ----------
    core : Shape
        A bounded shape. If this shape has a radius, the two radii are added.
    radius : float
        At least 0.

    Raises
    ------
    ShapeError
        If the core is not a convex shape, or the radius is negative or not finite.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Box((1, 1, 1)).inflated(0.25)
    Rounded(core=Box(extents=[1.0, 1.0, 1.0]), radius=0.25)
    """

    __slots__ = ("core", "radius")
    core: Shape
    radius: float

    def __init__(self, core: Shape, radius: float) -> None:
        if not isinstance(core, Shape):
            raise ShapeError(f"Rounded: core is {kind_of(core)}, expected a convex shape")
        r = number(radius, "Rounded: radius", zero=True)
        inner, outer = (core.core, core.radius + r) if isinstance(core, Rounded) else (core, r)
        self._set(core=inner, radius=outer)

    @property
    def _kind(self) -> int:  # type: ignore[override]
        return self.core._kind & Kind.MAPPED or Kind.CONVEX

    def _core(self) -> tuple[int, Any, Any]:
        return self.core._core()

    def _terms(self) -> list[Term]:
        return self.core._terms()

    def _rounding(self) -> float:
        return self.core._rounding() + self.radius

    def _slack(self) -> float:
        return self.core._slack()

    def _pack(self) -> Any:
        ints, floats = self.core._pack()
        floats[layout.RADIUS] = self._rounding()
        return ints, floats

    def _core_volume(self) -> float:
        return self.core._core_volume()

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return self.core._core_area_and_curvature()

    def _ball(self) -> tuple[Array, float]:
        center, radius = self.core._ball()
        return center, radius + self.radius

    def _box(self) -> tuple[Array, Array]:
        pose, extents = self.core._box()
        return pose, extents + 2 * self.radius

    def inflated(self, radius: float) -> Shape:
        """Return the shape with a larger radius; see `Shape.inflated`."""
        return Rounded(self.core, self.radius + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the scaled shape, a sum with an ellipsoid if the factors differ in size; see `Shape.scaled`."""
        f = factors3(factors)
        if abs(f[0]) == abs(f[1]) == abs(f[2]):
            return Rounded(self.core.scaled(f), self.radius * abs(float(f[0])))
        return super().scaled(f)

    def _bare(self) -> Shape:
        return self.core if self.core._rounding() == 0.0 else self.core._bare()

    def _moved(self, rotation: Array, translation: Array) -> Shape:
        return Rounded(self.core._moved(rotation, translation), self.radius)


MOST_PARTS = 4096


class MinkowskiSum(Composed):
    """The sum of two shapes: all sums of a point of A and a point of B.

    Every query is exact, since the support point of the sum is the sum of the support points of the two shapes.

    Parameters
    ----------
    a, b : Shape
        Bounded shapes.

    Returns
    -------
    Composed
        One `Composed` shape without nested compositions.

    Raises
    ------
    ShapeError
        If an argument is not a shape or is unbounded, or the sum has too many parts.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.MinkowskiSum(gk.Box((2, 2, 2)), gk.Cylinder(1, 1)).bounds.tolist()
    [[-2.0, -2.0, -1.5], [2.0, 2.0, 1.5]]
    """

    __slots__ = ()

    def __new__(cls, a: Shape, b: Shape) -> Composed:  # type: ignore[misc]
        """Return the sum without nested compositions."""
        first, second = (bounded(shape, "MinkowskiSum", name) for name, shape in (("a", a), ("b", b)))
        terms = [[*s, *t] for s in first._terms() for t in second._terms()]
        return flattened(terms, first._rounding() + second._rounding(), "MinkowskiSum")


class ConvexUnion(Composed):
    """The convex hull of several shapes.

    Every query is exact, since the support point of the hull is the farthest of the shapes' support points. Shapes with
    equal radii keep this radius at no cost. With different radii each shape becomes the sum of its core and a ball.

    Parameters
    ----------
    *shapes : Shape
        One or more bounded shapes.

    Returns
    -------
    Composed
        One `Composed` shape without nested compositions.

    Raises
    ------
    ShapeError
        If an argument is not a shape or is unbounded, or the union has too many parts.

    Examples
    --------
    >>> import gjk3d as gk
    >>> pill = gk.ConvexUnion(gk.Sphere(1), gk.Point((0, 0, 3)))
    >>> pill.bounds.tolist()
    [[-1.0, -1.0, -1.0], [1.0, 1.0, 3.0]]
    """

    __slots__ = ()

    def __new__(cls, *shapes: Shape) -> Composed:  # type: ignore[misc]
        """Return the hull without nested compositions."""
        if not shapes:
            raise ShapeError("ConvexUnion: no shapes are given, expected at least one")
        checked = [bounded(shape, "ConvexUnion", f"shapes[{k}]") for k, shape in enumerate(shapes)]
        radii = {shape._rounding() for shape in checked}
        if len(radii) == 1:
            return flattened([t for shape in checked for t in shape._terms()], radii.pop(), "ConvexUnion")
        terms = [t for shape in checked for t in layout.scaled_terms(shape._terms(), shape._rounding(), np.ones(3))]
        return flattened(terms, 0.0, "ConvexUnion")


def bounded(shape: Any, what: str, name: str) -> Shape:
    """Return ``shape`` if it is bounded, or raise. ``what`` is the calling function, and ``name`` its argument."""
    if not isinstance(shape, Shape):
        raise ShapeError(f"{what}: {name} is {kind_of(shape)}, expected a convex shape such as gjk3d.Box")
    if isinstance(shape, Halfspace):
        raise UnboundedShapeError(f"{what}: {name} is {kind_of(shape)}, which is unbounded. Use a large Box.")
    return shape


def flattened(terms: list[Term], radius: float, what: str) -> Composed:
    """Return the hull of terms, inflated by a radius. ``what`` names the caller in the error for too many parts."""
    check_count(terms, what)
    return Composed._from_terms(terms, number(radius, f"{what}: radius", zero=True))


def check_count(terms: list[Term], what: str) -> None:
    """Raise if terms have more than `MOST_PARTS` parts. ``what`` is the caller's name in the error."""
    parts = sum(map(len, terms))
    if parts > MOST_PARTS:
        raise ShapeError(
            f"{what}: {parts} parts are given, expected at most {MOST_PARTS}. Use a gjk3d.ConvexHull of their vertices."
        )
