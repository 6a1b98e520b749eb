"""Shapes as exact convex sets: every one is made of points and of linear images of the unit ball.

A term is a sum of point sets and of balls; a set is the hull of its terms, with a radius round it::

    box, hull      one set of vertices              cylinder    two points + a disc, which is a squeezed ball
    sphere         one point, a radius              cone        the apex, or the base's centre + a disc
    capsule        two points, a radius             ellipsoid   one point + a stretched ball

So a support value is a sum of rational numbers and square roots of rational numbers, and a point with weights in the
unit ball is in the set, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import FractionVec, Vec, dot, in_integers
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.box import Box
from gjk3d.shapes.capsule import Capsule
from gjk3d.shapes.combined import Rounded
from gjk3d.shapes.composed import Composed
from gjk3d.shapes.cone import Cone
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.cylinder import Cylinder
from gjk3d.shapes.ellipsoid import Ellipsoid
from gjk3d.shapes.simplices import Point, Segment, Tetrahedron, Triangle
from gjk3d.shapes.sphere import Sphere
from gjk3d.shapes.terms import Part
from gjk3d.typing import Array

Matrix = tuple[Vec, Vec, Vec]  #: by rows


class Term(NamedTuple):
    """A sum of the hulls of point sets and of images of the unit ball, in integers."""

    sets: tuple[tuple[Vec, ...], ...]
    balls: tuple[Matrix, ...]


class Body(NamedTuple):
    """The hull of terms, whose coordinates are to be divided by ``scale``, and what the radius round it may be.

    A pose is a rotation only to rounding: it turns a ball into one between the two radii.
    """

    terms: tuple[Term, ...]
    scale: int
    radius_low: Fraction
    radius_high: Fraction

    @property
    def curved(self) -> bool:
        """Whether there is more than vertices and a radius."""
        return any(term.balls for term in self.terms)


# --- from shapes ------------------------------------------------------------------------------------------------------

_Number = Fraction
_Set = list[FractionVec]
_Ball = tuple[FractionVec, FractionVec, FractionVec]
_RawTerm = tuple[list[_Set], list[_Ball]]
_ZERO = Fraction(0)


def _fractions(rows: Any) -> _Set:
    return [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in np.asarray(rows, dtype=float).tolist()]


def _diagonal(x: Fraction, y: Fraction, z: Fraction) -> _Ball:
    return (x, _ZERO, _ZERO), (_ZERO, y, _ZERO), (_ZERO, _ZERO, z)


def _on_axis(*heights: Fraction) -> _Set:
    return [(_ZERO, _ZERO, z) for z in heights]


def _corners(x: Fraction, y: Fraction, z: Fraction) -> _Set:
    return [(i * x, j * y, k * z) for i, j, k in product((-1, 1), repeat=3)]


def _cylinder(radius: Fraction, half: Fraction) -> list[_RawTerm]:
    return [([_on_axis(-half, half)], [_diagonal(radius, radius, _ZERO)])]


def _cone(radius: Fraction, half: Fraction) -> list[_RawTerm]:
    return [([_on_axis(half)], []), ([_on_axis(-half)], [_diagonal(radius, radius, _ZERO)])]


def _ellipsoid(x: Fraction, y: Fraction, z: Fraction) -> list[_RawTerm]:
    return [([_on_axis(_ZERO)], [_diagonal(x, y, z)])]


def _primitive(kind: int, numbers: Any) -> list[_RawTerm]:
    """Return the terms of a primitive as composed shapes store it, see `gjk3d.shapes.layout`."""
    n = [Fraction(x) for x in np.asarray(numbers, dtype=float).tolist()]
    if kind == layout.HULL:
        third = len(n) // 3
        return [([list(zip(n[:third], n[third : 2 * third], n[2 * third :], strict=True))], [])]
    if kind == layout.POINT:
        return [([_on_axis(_ZERO)], [])]
    if kind == layout.SEGMENT:
        return [([[(-n[0], -n[1], -n[2]), (n[0], n[1], n[2])]], [])]
    if kind == layout.BOX:
        return [([_corners(*n)], [])]
    if kind == layout.CYLINDER:
        return _cylinder(*n)
    return _cone(*n) if kind == layout.CONE else _ellipsoid(*n)


def _times(matrix: Sequence[FractionVec], p: FractionVec) -> FractionVec:
    x, y, z = (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] for row in matrix)
    return x, y, z


def _placed_part(part: Part) -> list[_RawTerm]:
    matrix, offset = _fractions(part.matrix), _fractions([part.offset])[0]
    terms = []
    for sets, balls in _primitive(part.kind, part.numbers):
        moved = [[_times(matrix, p) for p in points] for points in sets]
        turned = []
        for ball in balls:
            columns = [_times(matrix, (ball[0][j], ball[1][j], ball[2][j])) for j in range(3)]
            turned.append((*zip(*columns, strict=True),))
        terms.append(([*moved, [offset]], turned))
    return terms  # type: ignore[return-value]  # three rows of three


def _composed(shape: Composed) -> list[_RawTerm]:
    """Return the sums of one term of each part: their hull is the sum of the hulls."""
    terms: list[_RawTerm] = []
    for parts in shape._terms():
        for choice in product(*(_placed_part(part) for part in parts)):
            terms.append(([s for sets, _ in choice for s in sets], [b for _, balls in choice for b in balls]))
    return terms


def _ball_or_ellipsoid(x: Fraction, y: Fraction, z: Fraction) -> tuple[list[_RawTerm], Fraction]:
    return ([([_on_axis(_ZERO)], [])], x) if x == y == z else (_ellipsoid(x, y, z), _ZERO)


#: what each class of shapes is, by its own numbers: its terms and its radius
_MODELS: dict[type, Callable[[Any], tuple[list[_RawTerm], Fraction]]] = {
    Box: lambda s: ([([_corners(*(Fraction(x) / 2 for x in s.extents.tolist()))], [])], _ZERO),
    Sphere: lambda s: ([([_on_axis(_ZERO)], [])], Fraction(s.radius)),
    Capsule: lambda s: ([([_on_axis(-Fraction(s.height) / 2, Fraction(s.height) / 2)], [])], Fraction(s.radius)),
    Cylinder: lambda s: (_cylinder(Fraction(s.radius), Fraction(s.height) / 2), _ZERO),
    Cone: lambda s: (_cone(Fraction(s.radius), Fraction(s.height) / 2), _ZERO),
    Ellipsoid: lambda s: _ball_or_ellipsoid(*(Fraction(x) for x in s.radii.tolist())),
    Composed: lambda s: (_composed(s), Fraction(s._rounding())),
    **dict.fromkeys(
        (Point, Segment, Triangle, Tetrahedron, ConvexHull), lambda s: ([([_fractions(s.vertices)], [])], _ZERO)
    ),
}


def _raw(shape: Shape) -> tuple[list[_RawTerm], Fraction] | None:
    radius = _ZERO
    while isinstance(shape, Rounded):
        radius += Fraction(shape.radius)
        shape = shape.core
    if isinstance(shape, Composed) and shape._functions:
        return None
    model = next((_MODELS[cls] for cls in type(shape).__mro__ if cls in _MODELS), None)
    if model is None:
        return None
    terms, own = model(shape)
    return terms, own + radius


def body_of(shape: Shape) -> Body | None:
    """Return a shape as an exact set in its own frame, None where it is none of those known here."""
    if "exact" not in shape._cache:
        raw = _raw(shape)
        shape._cache["exact"] = None if raw is None else _to_integers(*raw)
    body: Body | None = shape._cache["exact"]
    return body


def _to_integers(terms: list[_RawTerm], radius: Fraction) -> Body:
    vectors = [v for sets, balls in terms for group in (*sets, *balls) for v in group]
    scale = lcm(*(x.denominator for v in vectors for x in v))
    scaled = tuple(
        Term(
            tuple(tuple(scaled_vector(p, scale) for p in points) for points in sets),
            tuple(tuple(scaled_vector(row, scale) for row in ball) for ball in balls),  # type: ignore[misc]
        )
        for sets, balls in terms
    )
    return Body(scaled, scale, radius, radius)


def scaled_vector(p: FractionVec, scale: int) -> Vec:
    """Return p times scale, a multiple of its denominators."""
    x, y, z = (c.numerator * (scale // c.denominator) for c in p)
    return x, y, z


def same_set(one: Shape, other: object) -> bool:
    """Whether two shapes are given by the same points, balls and radius, as a box and the hull of its corners are."""
    if one == other:
        return True
    if not isinstance(other, Shape):
        return False
    a, b = body_of(one), body_of(other)
    if a is None or b is None or a.radius_low != b.radius_low or len(a.terms) != len(b.terms):
        return False
    up_a, up_b = b.scale, a.scale
    return all(
        [{stretched(p, up_a) for p in s} for s in t.sets] == [{stretched(p, up_b) for p in s} for s in u.sets]
        and [stretched_matrix(m, up_a) for m in t.balls] == [stretched_matrix(m, up_b) for m in u.balls]
        for t, u in zip(a.terms, b.terms, strict=True)
    )


def stretched(p: Vec, by: int) -> Vec:
    """Return p times a number."""
    return p[0] * by, p[1] * by, p[2] * by


def stretched_matrix(matrix: Matrix, by: int) -> Matrix:
    """Return the matrix times a number."""
    return stretched(matrix[0], by), stretched(matrix[1], by), stretched(matrix[2], by)


# --- placed -----------------------------------------------------------------------------------------------------------


class Placement(NamedTuple):
    """A pose in integers: rotation over ``turn``, translation over ``shift``."""

    rotation: Matrix
    turn: int
    translation: Vec
    shift: int
    stretch: Fraction  #: it changes lengths by at most this part


def placement(row: Array) -> Placement:
    """Return the pose in a kernel row as it stands: the matrix after the polar step, in float64; see `gjk3d.poses`."""
    values = [Fraction(x) for x in row[:12].tolist()]
    turn = lcm(*(x.denominator for x in values[:9]))
    shift = lcm(*(x.denominator for x in values[9:]))
    r = [x.numerator * (turn // x.denominator) for x in values[:9]]
    rows: Matrix = (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8])
    columns: list[Vec] = [(r[j], r[3 + j], r[6 + j]) for j in range(3)]
    one = turn * turn
    # singular values s have |s^2 - 1| <= the greatest row sum of |R'R - 1|, and |s - 1| <= |s^2 - 1|
    worst = max(sum(abs(dot(p, q) - (one if p is q else 0)) for q in columns) for p in columns)
    x, y, z = (v.numerator * (shift // v.denominator) for v in values[9:])
    return Placement(rows, turn, (x, y, z), shift, Fraction(worst, one))


def turned(matrix: Matrix, p: Vec) -> Vec:
    """Return the matrix times p."""
    return dot(matrix[0], p), dot(matrix[1], p), dot(matrix[2], p)


def place(body: Body, at: Placement) -> Body:
    """Return the body in world coordinates."""
    moved = body.scale * at.turn
    scale = lcm(moved, at.shift)
    up, shift = scale // moved, scale // at.shift
    r = stretched_matrix(at.rotation, up)
    t = stretched(at.translation, shift)
    terms = []
    for term in body.terms:
        sets = [tuple(turned(r, p) for p in points) for points in term.sets]
        sets[0] = tuple((p[0] + t[0], p[1] + t[1], p[2] + t[2]) for p in sets[0])
        terms.append(Term(tuple(sets), tuple(_product(r, ball) for ball in term.balls)))
    return Body(tuple(terms), scale, body.radius_low * (1 - at.stretch), body.radius_high * (1 + at.stretch))


def _product(r: Matrix, ball: Matrix) -> Matrix:
    columns = [turned(r, (ball[0][j], ball[1][j], ball[2][j])) for j in range(3)]
    x, y, z = zip(*columns, strict=True)
    return x, y, z


def at_point(p: FractionVec) -> Body:
    """Return a point as a body."""
    point, scale = in_integers(p)
    return Body((Term(((point,),), ()),), scale, _ZERO, _ZERO)
