"""Shapes made of shapes: grown on all sides, sums, hulls of unions, and what a moving shape sweeps."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.shapes import layout
from gjk3d.shapes.arguments import factors3, number, vector
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.simplices import Segment
from gjk3d.shapes.terms import Part, Term, moved_terms
from gjk3d.typing import Array, FactorsLike


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
            raise ShapeError(f"Rounded: core is a {type(core).__name__}, expected a convex shape")
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
#: stretches of a curved way; the shape grows by what is bent off their straight lines
PIECES = 16


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
        first, second = (_bounded(shape, "MinkowskiSum", name) for name, shape in (("a", a), ("b", b)))
        terms = [[*s, *t] for s in first._terms() for t in second._terms()]
        return _flattened(terms, first._rounding() + second._rounding(), "MinkowskiSum")


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
        checked = [_bounded(shape, "ConvexUnion", f"shapes[{k}]") for k, shape in enumerate(shapes)]
        radii = {shape._rounding() for shape in checked}
        if len(radii) == 1:
            return _flattened([t for shape in checked for t in shape._terms()], radii.pop(), "ConvexUnion")
        terms = [_with_ball(t, shape._rounding()) for shape in checked for t in shape._terms()]
        return _flattened(terms, 0.0, "ConvexUnion")


class Swept(Composed):
    """What a shape sweeps: the convex hull of everywhere it is on its way; of what is not convex, of each of its parts.

    Along a straight line it is exact. On a way with a turn it is conservative: the hull of the shape at a few places,
    grown by how far any of its points can bend off the straight lines between them, which shrinks with the square of
    their number.

    Parameters
    ----------
    shape : Shape, Mesh or the like
        A bounded one.
    motion : (3,) float or Motion
        The way from where the shape is in its own frame, or a `gjk3d.Motion` in whose world the swept shape then is.
    pieces : int
        Straight stretches of a way with a turn.

    Returns
    -------
    Composed or Compound
        Flattened: nothing is nested in it. Of what is not convex a compound of what its parts sweep, as many as there
        are triangles, and of a closed mesh itself where it starts.

    Raises
    ------
    ShapeError
        Where the shape is none or is unbounded, or the motion is neither a vector nor a single motion.

    Notes
    -----
    A body that turns by w while it moves steadily accelerates by no more than |w|^2 rho at distance rho from the axis,
    so between two places 1 / k apart it is within |w|^2 rho / (8 k^2) of the straight line.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> gk.Swept(gk.Sphere(1), (4, 0, 0)).volume / (4 / 3 * np.pi + 4 * np.pi) > 0.999
    True
    >>> turn = gk.Motion(None, angular=(0, 0, np.pi / 2), center=(3, 0, 0))
    >>> gk.Swept(gk.Point(), turn).contains([(0, 0, 0), (3, -3, 0), (3 - 3 * 0.5**0.5, -3 * 0.5**0.5, 0)]).all()
    np.True_
    """

    __slots__ = ()

    @overload
    def __new__(cls, shape: Shape, motion: Any, pieces: int = PIECES) -> Composed: ...  # type: ignore[misc]
    @overload
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any: ...
    def __new__(cls, shape: Any, motion: Any, pieces: int = PIECES) -> Any:
        """Return the flattened hull."""
        by_parts = getattr(shape, "_swept", None)
        if callable(by_parts):
            start = motion.at(0.0) if callable(getattr(motion, "at", None)) and not motion.stacked else None
            return by_parts(lambda part: cls(part, motion, pieces), start)
        body = _bounded(shape, "Swept", "shape")
        if not callable(getattr(motion, "at", None)):
            return MinkowskiSum(body, Segment((0.0, 0.0, 0.0), vector(motion, "Swept: motion")))
        if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
            raise ShapeError(f"Swept: pieces is {pieces!r}, expected a whole number of at least 1")
        if motion.stacked:
            raise ShapeError(f"Swept: motion is {len(motion)} motions, expected one: motion[0]")
        bend = motion._bend(body)
        places = motion.at(np.linspace(0.0, 1.0, pieces + 1 if bend > 0.0 else 2))
        terms = [t for p in places for t in moved_terms(body._terms(), p[:3, :3], p[:3, 3])]
        return _flattened(terms, body._rounding() + bend / (8.0 * pieces**2), "Swept")


def _bounded(shape: Any, what: str, name: str) -> Shape:
    if not isinstance(shape, Shape):
        raise ShapeError(f"{what}: {name} is a {type(shape).__name__}, expected a convex shape such as gjk3d.Box")
    if isinstance(shape, Halfspace):
        raise UnboundedShapeError(f"{what}: {name} is a Halfspace, which is unbounded; use a large Box")
    return shape


def _with_ball(term: Term, radius: float) -> Term:
    if radius == 0.0:
        return term
    return [*term, Part(layout.ELLIPSOID, 0, np.full(3, radius), np.eye(3), np.zeros(3))]


def _flattened(terms: list[Term], radius: float, what: str) -> Composed:
    parts = sum(map(len, terms))
    if parts > MOST_PARTS:
        raise ShapeError(
            f"{what}: {parts} parts, at most {MOST_PARTS} are taken; a gjk3d.ConvexHull of the vertices may do instead"
        )
    return Composed._from_terms(terms, number(radius, f"{what}: radius", zero=True))
