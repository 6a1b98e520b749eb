"""Convex sets in exact arithmetic, made of points and of linear images of the unit ball, and their differences A - B.

A term is a Minkowski sum of point sets and of balls. A set is the hull of its terms, inflated by a radius::

    box, hull      one set of vertices              cylinder    two points + a disc, which is a squeezed ball
    sphere         one point, a radius              cone        the apex, or the base's centre + a disc
    capsule        two points, a radius             ellipsoid   one point + a stretched ball

A support value is a sum of rational numbers and of square roots of rational numbers. The support of the difference
A - B is exact for point sets, and is bracketed to 2**-63 for balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import isqrt, lcm
from typing import Any, NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import (
    ZERO,
    Enclosure,
    FractionVec,
    Matrix,
    Root,
    Vec,
    columns,
    common_scale,
    dot,
    fractions,
    in_integers,
    scaled_vector,
    stretched,
    turned,
)
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.curved import Capsule, Cone, Cylinder, Ellipsoid, Sphere
from gjk3d.shapes.layout import Part
from gjk3d.shapes.polytopes import Box, ConvexHull, Point, Segment, Tetrahedron, Triangle
from gjk3d.typing import Array


class Term(NamedTuple):
    """The Minkowski sum of the hulls of point sets and of images of the unit ball."""

    sets: tuple[tuple[Vec, ...], ...]
    balls: tuple[Matrix, ...]  #: the matrix that maps the unit ball to each image


class Body(NamedTuple):
    """The hull of terms, inflated by a radius.

    The matrix of a pose is a rotation only up to rounding. It maps a ball to a set that contains the ball of radius
    ``radius_low`` and lies in the ball of radius ``radius_high``.
    """

    terms: tuple[Term, ...]
    scale: int  #: all integers of the terms are divided by this number
    radius_low: Fraction
    radius_high: Fraction

    @property
    def curved(self) -> bool:
        """Whether a term contains a ball, so that the core is not a polytope."""
        return any(term.balls for term in self.terms)


# --- from shapes ------------------------------------------------------------------------------------------------------

_Set = list[FractionVec]
_Ball = tuple[FractionVec, FractionVec, FractionVec]
_RawTerm = tuple[list[_Set], list[_Ball]]


def _diagonal(x: Fraction, y: Fraction, z: Fraction) -> _Ball:
    return (x, ZERO, ZERO), (ZERO, y, ZERO), (ZERO, ZERO, z)


def _on_axis(*heights: Fraction) -> _Set:
    return [(ZERO, ZERO, z) for z in heights]


def _corners(x: Fraction, y: Fraction, z: Fraction) -> _Set:
    return [(i * x, j * y, k * z) for i, j, k in product((-1, 1), repeat=3)]


def _cylinder(radius: Fraction, half: Fraction) -> list[_RawTerm]:
    return [([_on_axis(-half, half)], [_diagonal(radius, radius, ZERO)])]


def _cone(radius: Fraction, half: Fraction) -> list[_RawTerm]:
    return [([_on_axis(half)], []), ([_on_axis(-half)], [_diagonal(radius, radius, ZERO)])]


def _ellipsoid(x: Fraction, y: Fraction, z: Fraction) -> list[_RawTerm]:
    return [([_on_axis(ZERO)], [_diagonal(x, y, z)])]


def _primitive(kind: int, numbers: Any) -> list[_RawTerm]:
    """Return the terms of a primitive from its kind and its numbers, see `gjk3d.shapes.layout`."""
    n = [Fraction(x) for x in np.asarray(numbers, dtype=float).tolist()]
    if kind == layout.HULL:
        third = len(n) // 3
        return [([list(zip(n[:third], n[third : 2 * third], n[2 * third :], strict=True))], [])]
    if kind == layout.POINT:
        return [([_on_axis(ZERO)], [])]
    if kind == layout.SEGMENT:
        return [([[(-n[0], -n[1], -n[2]), (n[0], n[1], n[2])]], [])]
    if kind == layout.BOX:
        return [([_corners(*n)], [])]
    if kind == layout.CYLINDER:
        return _cylinder(*n)
    return _cone(*n) if kind == layout.CONE else _ellipsoid(*n)


def _placed_part(part: Part) -> list[_RawTerm]:
    matrix, offset = [fractions(row) for row in part.matrix], fractions(part.offset)
    terms: list[_RawTerm] = []
    for sets, balls in _primitive(part.kind, part.numbers):
        moved = [[turned(matrix, p) for p in points] for points in sets]
        images = [columns([turned(matrix, column) for column in columns(ball)]) for ball in balls]
        terms.append(([*moved, [offset]], [(x, y, z) for x, y, z in images]))
    return terms


def _composed(shape: Composed) -> list[_RawTerm]:
    """Return the terms of a composed shape, which is a hull of sums of parts.

    Each returned term combines one term from each part of a sum.
    """
    terms: list[_RawTerm] = []
    for parts in shape._terms():
        for choice in product(*(_placed_part(part) for part in parts)):
            terms.append(([s for sets, _ in choice for s in sets], [b for _, balls in choice for b in balls]))
    return terms


def _ball_or_ellipsoid(x: Fraction, y: Fraction, z: Fraction) -> tuple[list[_RawTerm], Fraction]:
    return ([([_on_axis(ZERO)], [])], x) if x == y == z else (_ellipsoid(x, y, z), ZERO)


#: for each class of shapes, the function that returns the terms and the radius of a shape
_MODELS: dict[type, Callable[[Any], tuple[list[_RawTerm], Fraction]]] = {
    Box: lambda s: ([([_corners(*(Fraction(x) / 2 for x in s.extents.tolist()))], [])], ZERO),
    Sphere: lambda s: ([([_on_axis(ZERO)], [])], Fraction(s.radius)),
    Capsule: lambda s: ([([_on_axis(-Fraction(s.height) / 2, Fraction(s.height) / 2)], [])], Fraction(s.radius)),
    Cylinder: lambda s: (_cylinder(Fraction(s.radius), Fraction(s.height) / 2), ZERO),
    Cone: lambda s: (_cone(Fraction(s.radius), Fraction(s.height) / 2), ZERO),
    Ellipsoid: lambda s: _ball_or_ellipsoid(*(Fraction(x) for x in s.radii.tolist())),
    Composed: lambda s: (_composed(s), Fraction(s._rounding())),
    **dict.fromkeys(
        (Point, Segment, Triangle, Tetrahedron, ConvexHull),
        lambda s: ([([[fractions(v) for v in s.vertices]], [])], ZERO),
    ),
}


def _raw(shape: Shape) -> tuple[list[_RawTerm], Fraction] | None:
    radius = ZERO
    while isinstance(shape, Rounded):
        radius += Fraction(shape.radius)
        shape = shape.core
    if isinstance(shape, Composed) and shape._functions:
        return None
    model = next((_MODELS[cls] for cls in type(shape).__mro__ if cls in _MODELS), None)
    if model is None:
        return None
    terms, core_radius = model(shape)
    return terms, core_radius + radius


def body_of(shape: Shape) -> Body | None:
    """Return a shape as an exact set in its local frame, or None for a class or function that the user defined."""
    return shape._cached("exact", lambda: _to_integers(_raw(shape)))


def _to_integers(raw: tuple[list[_RawTerm], Fraction] | None) -> Body | None:
    if raw is None:
        return None
    terms, radius = raw
    scale = common_scale(v for sets, balls in terms for group in (*sets, *balls) for v in group)
    scaled = tuple(
        Term(
            tuple(tuple(scaled_vector(p, scale) for p in points) for points in sets),
            tuple(tuple(scaled_vector(row, scale) for row in ball) for ball in balls),  # type: ignore[misc]
        )
        for sets, balls in terms
    )
    return Body(scaled, scale, radius, radius)


def same_set(shape: Shape, candidate: object) -> bool:
    """Return whether two shapes have the same points, balls and radius, as a box and the hull of its corners have."""
    if shape == candidate:
        return True
    if not isinstance(candidate, Shape):
        return False
    a, b = body_of(shape), body_of(candidate)
    if a is None or b is None or a.radius_low != b.radius_low or len(a.terms) != len(b.terms):
        return False
    up_a, up_b = b.scale, a.scale
    return all(
        [{stretched(p, up_a) for p in s} for s in t.sets] == [{stretched(p, up_b) for p in s} for s in u.sets]
        and [stretched_matrix(m, up_a) for m in t.balls] == [stretched_matrix(m, up_b) for m in u.balls]
        for t, u in zip(a.terms, b.terms, strict=True)
    )


def stretched_matrix(matrix: Matrix, by: int) -> Matrix:
    """Return a matrix times the integer ``by``."""
    return stretched(matrix[0], by), stretched(matrix[1], by), stretched(matrix[2], by)


# --- placed sets ------------------------------------------------------------------------------------------------------


class Placement(NamedTuple):
    """A pose in integers."""

    rotation: Matrix
    turn: int  #: the entries of the rotation are divided by this number
    translation: Vec
    shift: int  #: the entries of the translation are divided by this number
    stretch: Fraction  #: upper bound of the relative change of a length by the rotation


def placement(row: Array) -> Placement:
    """Convert a pose row (see `gjk3d.poses`) to a pose in integers."""
    values = [Fraction(x) for x in row[:12].tolist()]
    turn = lcm(*(x.denominator for x in values[:9]))
    shift = lcm(*(x.denominator for x in values[9:]))
    r = [x.numerator * (turn // x.denominator) for x in values[:9]]
    rows: Matrix = (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8])
    unit = turn * turn
    # singular values s have |s^2 - 1| <= the greatest row sum of |R'R - 1|, and |s - 1| <= |s^2 - 1|
    turns = columns(rows)
    worst = max(sum(abs(dot(p, q) - (unit if p is q else 0)) for q in turns) for p in turns)
    moved = scaled_vector((values[9], values[10], values[11]), shift)
    return Placement(rows, turn, moved, shift, Fraction(worst, unit))


class Mover:
    """A pose that maps points with integer coordinates to placed points. Placed points are cached.

    The argument ``scale`` is the common denominator of the points, and the attribute ``scale`` that of the placed
    points.
    """

    def __init__(self, scale: int, pose: Placement) -> None:
        moved = scale * pose.turn
        self.scale = lcm(moved, pose.shift)
        self._turn = stretched_matrix(pose.rotation, self.scale // moved)
        self._shift = stretched(pose.translation, self.scale // pose.shift)
        self._cache: dict[Vec, Vec] = {}

    def moved(self, p: Vec) -> Vec:
        """Return the integer coordinates of the point p at the pose."""
        if p not in self._cache:
            x, y, z = turned(self._turn, p)
            self._cache[p] = x + self._shift[0], y + self._shift[1], z + self._shift[2]
        return self._cache[p]

    def moved_term(self, term: Term) -> Term:
        """Return a term at the pose. All its sets are rotated. Only the first is translated, since a term is a sum."""
        first, *offsets = term.sets
        sets = tuple(map(self.moved, first)), *(tuple(turned(self._turn, p) for p in points) for points in offsets)
        return Term(sets, tuple(_product(self._turn, ball) for ball in term.balls))


def place_all(bodies: Iterable[Body], at: Placement) -> list[Body]:
    """Return bodies at a pose in world coordinates."""
    movers: dict[int, Mover] = {}
    placed = []
    for body in bodies:
        mover = movers.get(body.scale)
        if mover is None:
            mover = movers[body.scale] = Mover(body.scale, at)
        low = body.radius_low and body.radius_low * (1 - at.stretch)
        high = body.radius_high and body.radius_high * (1 + at.stretch)
        placed.append(Body(tuple(map(mover.moved_term, body.terms)), mover.scale, low, high))
    return placed


def place(body: Body, at: Placement) -> Body:
    """Return a body at a pose in world coordinates."""
    return place_all([body], at)[0]


def translation(by: FractionVec) -> Placement:
    """Return the pose of a translation by a vector."""
    shift, scale = in_integers(by)
    return Placement(((1, 0, 0), (0, 1, 0), (0, 0, 1)), 1, shift, scale, ZERO)


def _product(r: Matrix, ball: Matrix) -> Matrix:
    x, y, z = columns([turned(r, column) for column in columns(ball)])
    return x, y, z


def at_point(p: FractionVec) -> Body:
    """Return a point as a body."""
    point, scale = in_integers(p)
    return Body((Term(((point,),), ()),), scale, ZERO, ZERO)


def of_points(vertices: Iterable[Sequence[Fraction | float]]) -> Body:
    """Return the convex hull of points as a body."""
    rows = [fractions(p) for p in vertices]
    return hulls_of(rows, [range(len(rows))])[0]


def hulls_of(points: Sequence[FractionVec], picks: Iterable[Iterable[int]]) -> list[Body]:
    """Return a body for each entry of ``picks``: the hull of the points with these indices. All share one scale."""
    scale = common_scale(points)
    integers = [scaled_vector(p, scale) for p in points]
    return [Body((Term((tuple(integers[k] for k in some),), ()),), scale, ZERO, ZERO) for some in picks]


class Side(NamedTuple):
    """A shape of a pair."""

    name: str  #: "a" or "b"
    body: Body  #: the core in the frame of the shape
    at: Placement

    def towards(self, direction: Any) -> Vec:
        """Return the direction out of this shape, in its local frame, for a direction from A to B in world axes."""
        d, _ = in_integers(fractions(direction if self.name == "a" else -direction))
        return turned(columns(self.at.rotation), d)

    def placed(self, p: FractionVec) -> FractionVec:
        """Return the world coordinates of a point in the frame of the shape."""
        point, scale = in_integers(p)
        x, y, z = (
            Fraction(dot(row, point), scale * self.at.turn) + Fraction(t, self.at.shift)
            for row, t in zip(self.at.rotation, self.at.translation, strict=True)
        )
        return x, y, z


_GRID = 64  #: coordinates of a point of the unit ball are multiples of 2**-64, rounded towards the centre
_LONG, _SHORT = 112, 80  #: for curved sets, directions with more than 112 binary digits are rounded to 80 digits

Picks = tuple[int, ...]
Vertex = tuple[Vec, Picks]  #: a point of A - B, and the indices of its points in the sets of a term


class Difference:
    """The Minkowski difference A - B of two cores, without their radii.

    Attributes
    ----------
    exact : bool
        Whether the set is a polytope, whose support points are exact.
    scale : int
        All integer coordinates are divided by this number.
    radius_low, radius_high : Fraction
        Bounds of the sum of both radii.
    """

    __slots__ = ("exact", "radius_high", "radius_low", "scale", "square", "terms")

    def __init__(self, a: Body, b: Body) -> None:
        self.exact = not (a.curved or b.curved)
        common = lcm(a.scale, b.scale)
        grid = 1 if self.exact else 1 << _GRID
        up_a, up_b = grid * (common // a.scale), grid * (common // b.scale)
        self.scale = common * grid
        self.square = self.scale * self.scale
        self.radius_low, self.radius_high = a.radius_low + b.radius_low, a.radius_high + b.radius_high
        parts_a = [_times(term, up_a) for term in a.terms]
        parts_b = [_times(term, -up_b) for term in b.terms]  # a ball is its own mirror image
        self.terms = [Term(p.sets + q.sets, p.balls + q.balls) for p in parts_a for q in parts_b]

    def direction(self, n: Vec) -> Vec:
        """Return the direction n for a support query. For a curved set it is rounded, which saves time."""
        if self.exact:
            return n
        digits = max(abs(n[0]), abs(n[1]), abs(n[2])).bit_length()
        if digits <= _LONG:
            return n
        down = digits - _SHORT
        return n[0] >> down, n[1] >> down, n[2] >> down

    def support(self, n: Vec) -> tuple[Vec, Picks, int]:
        """Return a point of A - B far along n, indices of its summands, and an upper bound of n.x over A - B.

        If A - B is a polytope, the point is a support point. The point lies in a term, which is a sum of point sets and
        balls. The point is the sum of a point of each set and a point of each ball. The indices select the points of
        the sets.
        """
        best: tuple[int, Term, list[int], list[tuple[Matrix, Vec, int]]] | None = None
        tops = []
        for term in self.terms:
            low = 0
            picks = []
            for points in term.sets:
                pick, value = _farthest(points, n)
                picks.append(pick)
                low += value
            high = low
            turns = []
            for ball in term.balls:
                q = turned(columns(ball), n)
                square = dot(q, q)
                root = isqrt(square)
                up = root if root * root == square else root + 1
                low, high = low + root, high + up
                if up:
                    turns.append((ball, q, up))
            if best is None or low > best[0]:
                best = low, term, picks, turns
            tops.append(high)
        assert best is not None
        _, term, picks, turns = best
        x = y = z = 0
        for points, pick in zip(term.sets, picks, strict=True):
            p = points[pick]
            x, y, z = x + p[0], y + p[1], z + p[2]
        for ball, q, up in turns:
            u = _towards_zero(q[0], up), _towards_zero(q[1], up), _towards_zero(q[2], up)
            x, y, z = (
                x + (dot(ball[0], u) >> _GRID),
                y + (dot(ball[1], u) >> _GRID),
                z + (dot(ball[2], u) >> _GRID),
            )  # the entries of the balls are multiples of 2**64, so the shift is exact
        return (x, y, z), tuple(picks), max(tops)

    def support_vertex(self, n: Vec, proof: Enclosure) -> Vertex:
        """Return a point of the set far along n, and add the lower bound that n proves to ``proof``."""
        point, picks, top = self.support(n)
        proof.raise_low(Root(-top, dot(n, n) * self.square), n)
        return point, picks

    def height(self, n: Vec) -> Root:
        """Return an upper bound of the support value along n / |n|.

        The negative of this bound is a lower bound of the signed distance.
        """
        return Root(self.support(n)[2], dot(n, n) * self.square)


def _times(term: Term, by: int) -> Term:
    return Term(
        tuple(tuple(stretched(p, by) for p in points) for points in term.sets),
        tuple(stretched_matrix(ball, by) for ball in term.balls),
    )


def _farthest(points: tuple[Vec, ...], n: Vec) -> tuple[int, int]:
    x, y, z = n
    values = [p[0] * x + p[1] * y + p[2] * z for p in points]
    most = max(values)
    return values.index(most), most


def _towards_zero(q: int, length: int) -> int:
    return (q << _GRID) // length if q >= 0 else -((-q << _GRID) // length)
