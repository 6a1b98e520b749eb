"""Shapes made of shapes: grown on all sides, sums, and hulls of unions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import factors3, number
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.terms import Part, Term
from gjk3d.typing import Array, FactorsLike
from gjk3d.wording import kind_of


class Rounded(Shape):
    """The sum of a shape and a ball: all points within ``radius`` of the core.

    Exact in every query: the kernels see the core, and the radius is added to their answer.

    Parameters
    ----------
    core : Shape
        A bounded shape; its own rounding, if it has one, is added to.
    radius : float
        At least 0.

    Raises
    ------
    ShapeError
        Where the core is no convex shape, or the radius not a finite number of at least 0.

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
        """Return the shape grown further; see `Shape.inflated`."""
        return Rounded(self.core, self.radius + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a rounded shape for factors of one size, else a sum with an ellipsoid; see `Shape.scaled`."""
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
    """The sum of two shapes: all points of one plus all points of the other.

    Exact in every query, however the two were made: its support point is the sum of theirs.

    Parameters
    ----------
    a, b : Shape
        Bounded shapes.

    Returns
    -------
    Composed
        Flattened: nothing is nested in it.

    Raises
    ------
    ShapeError
        Where one is no shape, is unbounded, or the sum has too many parts.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.MinkowskiSum(gk.Box((2, 2, 2)), gk.Cylinder(1, 1)).bounds.tolist()
    [[-2.0, -2.0, -1.5], [2.0, 2.0, 1.5]]
    """

    __slots__ = ()

    def __new__(cls, a: Shape, b: Shape) -> Composed:  # type: ignore[misc]
        """Return the flattened sum."""
        first, second = (bounded(shape, "MinkowskiSum", name) for name, shape in (("a", a), ("b", b)))
        terms = [[*s, *t] for s in first._terms() for t in second._terms()]
        return flattened(terms, first._rounding() + second._rounding(), "MinkowskiSum")


class ConvexUnion(Composed):
    """The convex hull of several shapes.

    Exact in every query: its support point is the farthest of theirs. Shapes of one radius keep it as the radius of
    the whole, which costs nothing; of different radii each becomes the sum of its core and a ball.

    Parameters
    ----------
    *shapes : Shape
        One or more bounded shapes.

    Returns
    -------
    Composed
        Flattened: nothing is nested in it.

    Raises
    ------
    ShapeError
        Where one is no shape, is unbounded, or the union has too many parts.

    Examples
    --------
    >>> import gjk3d as gk
    >>> pill = gk.ConvexUnion(gk.Sphere(1), gk.Point((0, 0, 3)))
    >>> pill.bounds.tolist()
    [[-1.0, -1.0, -1.0], [1.0, 1.0, 3.0]]
    """

    __slots__ = ()

    def __new__(cls, *shapes: Shape) -> Composed:  # type: ignore[misc]
        """Return the flattened hull."""
        if not shapes:
            raise ShapeError("ConvexUnion: no shapes, expected at least one")
        checked = [bounded(shape, "ConvexUnion", f"shapes[{k}]") for k, shape in enumerate(shapes)]
        radii = {shape._rounding() for shape in checked}
        if len(radii) == 1:
            return flattened([t for shape in checked for t in shape._terms()], radii.pop(), "ConvexUnion")
        terms = [_with_ball(t, shape._rounding()) for shape in checked for t in shape._terms()]
        return flattened(terms, 0.0, "ConvexUnion")


def bounded(shape: Any, what: str, name: str) -> Shape:
    """Return a shape, or raise where it is none or has no end; ``what`` asks, ``name`` is its argument."""
    if not isinstance(shape, Shape):
        raise ShapeError(f"{what}: {name} is {kind_of(shape)}, expected a convex shape such as gjk3d.Box")
    if isinstance(shape, Halfspace):
        raise UnboundedShapeError(f"{what}: {name} is {kind_of(shape)}, which is unbounded; use a large Box")
    return shape


def _with_ball(term: Term, radius: float) -> Term:
    if radius == 0.0:
        return term
    return [*term, Part(layout.ELLIPSOID, 0, np.full(3, radius), np.eye(3), np.zeros(3))]


def flattened(terms: list[Term], radius: float, what: str) -> Composed:
    """Return the hull of sums of parts, grown by a radius; raise where they are too many."""
    check_count(terms, what)
    return Composed._from_terms(terms, number(radius, f"{what}: radius", zero=True))


def check_count(terms: list[Term], what: str) -> None:
    """Raise where terms have too many parts."""
    parts = sum(map(len, terms))
    if parts > MOST_PARTS:
        raise ShapeError(
            f"{what}: {parts} parts, at most {MOST_PARTS} are taken; a gjk3d.ConvexHull of the vertices may do instead"
        )
