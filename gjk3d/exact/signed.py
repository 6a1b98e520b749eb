"""The exact signed distance of two polytopes, and proven bounds for any two bodies, half-spaces included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from gjk3d.exact.arithmetic import (
    ORIGIN,
    Enclosure,
    FractionVec,
    Root,
    Vec,
    cross,
    dot,
    float_above,
    float_below,
    fractions,
    in_integers,
    negative,
    stretched,
    sub,
    turned,
)
from gjk3d.exact.convex_sets import Body, Difference, Placement, Vertex, at_point, body_of, of_points, place, placement
from gjk3d.exact.gjk_epa import Flat, epa, gjk
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array


class Plane(NamedTuple):
    """A placed half-space: ``normal.x <= offset``, the normal of any length."""

    normal: Vec
    offset: Fraction

    def height(self, value: Fraction) -> Root:
        """Return the height of points with ``normal.x = value`` above the surface."""
        p, q = (value - self.offset).as_integer_ratio()
        return Root(p, q * q * dot(self.normal, self.normal))

    def is_along(self, n: Vec, angle: Fraction) -> bool:
        """Return whether n has the direction of the normal, to a small angle."""
        away = cross(n, self.normal)
        allowed = angle * angle * dot(n, n) * dot(self.normal, self.normal)
        return dot(n, self.normal) > 0 and dot(away, away) <= allowed


def place_plane(plane: Halfspace, at: Placement) -> Plane:
    """Return the half-space in world coordinates; the normal is transformed by the inverse transposed matrix."""
    n, scale = in_integers(fractions(plane.normal))
    r = at.rotation
    cofactors = cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])
    normal = turned(cofactors, n)
    # x = (r / turn) y + t, so n.y <= offset scale becomes normal.(x - t) <= offset scale det(r) / turn
    det = dot(r[0], cofactors[0])
    along = Fraction(dot(normal, at.translation), at.shift)
    return Plane(normal, Fraction(plane.offset) * scale * Fraction(det, at.turn) + along)


def heights(plane: Plane, body: Body) -> tuple[Root, Root]:
    """Return bounds of the signed distance of the body, without its radius, from the half-space."""
    down = negative(plane.normal)
    single = Difference(body, at_point(ORIGIN))
    point, _, top = single.support(down)
    return plane.height(Fraction(-top, single.scale)), plane.height(Fraction(-dot(down, point), single.scale))


_COARSER = 16  #: factor between the tolerances of two steps for a point that is farther outside


class ExactDistance(NamedTuple):
    """The signed distance of two polytopes.

    Attributes
    ----------
    sign : int
        1 for separated, -1 for overlapping, 0 for touching or coplanar polytopes.
    square : Fraction
        Square of the distance or depth.
    normal : (Fraction, Fraction, Fraction)
        Vector from A to B, not of unit length.
    point_a, point_b : (Fraction, Fraction, Fraction)
        Witness points: ``point_b - point_a`` is exactly the signed distance times the unit normal.
    weights : tuple of (int, int, Fraction)
        Both points as convex combinations: vertex of A, vertex of B, positive weight. The weights sum to 1.
    """

    sign: int
    square: Fraction
    normal: FractionVec
    point_a: FractionVec
    point_b: FractionVec
    weights: tuple[tuple[int, int, Fraction], ...]

    @property
    def root(self) -> Root:
        """The signed distance as an exact number."""
        root = Root.sqrt(self.square)
        return Root(self.sign * root.num, root.den)

    @property
    def bounds(self) -> tuple[float, float]:
        """The signed distance rounded down and up."""
        low, high = self.root.bracket()
        return float_below(low), float_above(high)


def exact_signed_distance(
    vertices_a: Iterable[Sequence[Fraction | float]],
    vertices_b: Iterable[Sequence[Fraction | float]],
    start: Sequence[tuple[int, int]] = ((0, 0),),
    *,
    signed: bool = True,
) -> ExactDistance:
    """Return the signed distance of the hulls of two sets of points, without any rounding.

    Parameters
    ----------
    vertices_a, vertices_b : iterables of three Fractions, ints or floats
        The points. A float is an exact fraction.
    start : sequence of (int, int)
        Initial vertices of A and of B. The nearer they are to the witness points, the fewer steps are needed.
    signed : bool
        False returns 0 for an overlap instead of the depth.

    References
    ----------
    GJK and EPA as in Gilbert, Johnson, Keerthi 1988 and van den Bergen 2003, on rational numbers, where both are
    finite.

    Examples
    --------
    >>> square = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    >>> result = exact_signed_distance(square, [(2, 3, 1)])
    >>> result.sign, result.square
    (1, Fraction(6, 1))
    """
    bodies = [of_points(v) for v in (vertices_a, vertices_b)]
    difference = Difference(*bodies)
    (points_a,), (points_b,) = (body.terms[0].sets for body in bodies)
    scale_a, scale_b = bodies[0].scale, bodies[1].scale
    up_a, up_b = difference.scale // scale_a, difference.scale // scale_b
    starts: list[Vertex] = [(sub(stretched(points_a[i], up_a), stretched(points_b[j], up_b)), (i, j)) for i, j in start]
    proof = Enclosure(stop=False)
    simplex = gjk(difference, starts, proof)
    nearest = simplex.nearest
    vertices, weights, normal = simplex.vertices, nearest.weights, negative(nearest.direction)
    root = nearest.length
    if not any(normal):  # the origin is in the difference, so the depth is that of the nearest facet
        facet = epa(difference, simplex.vertices, proof) if signed else Flat(proof.normal)
        assert facet is not None
        normal = facet.normal
        if not isinstance(facet, Flat):
            vertices, weights = facet.vertices, facet.weights
            root = Root(-dot(normal, vertices[0][0]), dot(normal, normal))
    total = sum(weights)
    support = [(picks[0], picks[1], Fraction(w, total)) for (_, picks), w in zip(vertices, weights, strict=True) if w]
    signed_square = root.signed_square / difference.square
    return ExactDistance(
        (root.num > 0) - (root.num < 0),
        abs(signed_square),
        fractions(normal),
        _mean([(points_a[i], w) for i, _, w in support], scale_a),
        _mean([(points_b[j], w) for _, j, w in support], scale_b),
        tuple(support),
    )


def _mean(weighted: list[tuple[Vec, Fraction]], scale: int) -> FractionVec:
    x, y, z = (sum((p[k] * w for p, w in weighted), Fraction(0)) / scale for k in range(3))
    return x, y, z


class ExactPair(NamedTuple):
    """The result for two placed polytopes in floats. Bounds are rounded outward, other numbers to nearest."""

    lower: float
    upper: float
    normal: tuple[float, float, float]
    point_a: tuple[float, float, float]
    point_b: tuple[float, float, float]


def exact_pair(
    a: Shape, b: Shape, row_a: Array, row_b: Array, start: Sequence[tuple[int, int]] = ((0, 0),)
) -> ExactPair | None:
    """Return the signed distance of two polytopes at poses given as kernel rows; None for other shapes.

    If several directions are equally good, as for boxes with a common centre, the result has one of them.
    """
    of_a, of_b = body_of(a), body_of(b)
    if of_a is None or of_b is None or of_a.curved or of_b.curved:
        return None
    if any(len(body.terms) != 1 or len(body.terms[0].sets) != 1 for body in (of_a, of_b)):
        return None  # a composed shape: a sum of several polytopes
    bodies = place(of_a, placement(row_a)), place(of_b, placement(row_b))
    vertices = [[[Fraction(c, body.scale) for c in p] for p in body.terms[0].sets[0]] for body in bodies]
    core = exact_signed_distance(vertices[0], vertices[1], start)
    low, high = core.root.bracket()
    n = unit_vector(core.normal)
    points = []
    for p, body, towards in ((core.point_a, bodies[0], 1), (core.point_b, bodies[1], -1)):
        x, y, z = (float(c + towards * body.radius_high * d) for c, d in zip(p, n, strict=True))
        points.append((x, y, z))
    return ExactPair(
        float_below(low - bodies[0].radius_high - bodies[1].radius_high),
        float_above(high - bodies[0].radius_low - bodies[1].radius_low),
        (float(n[0]), float(n[1]), float(n[2])),
        *points,
    )


def unit_vector(n: FractionVec) -> FractionVec:
    """Return n / |n| with an error of at most 2**-100."""
    (x, y, z), _ = in_integers(n)
    digits = max(abs(x), abs(y), abs(z)).bit_length()
    up = max(0, 128 - digits)
    x, y, z = x << up, y << up, z << up
    length = isqrt(dot((x, y, z), (x, y, z)))
    return Fraction(x, length), Fraction(y, length), Fraction(z, length)


def enclose(difference: Difference, hint: Vec, proof: Enclosure) -> None:
    """Enter bounds of the signed distance of two cores in ``proof``, until these are sufficient or the searches end.

    ``hint`` is a direction whose support point is likely to be near the witness points.
    """
    simplex = gjk(difference, [difference.support_vertex(hint, proof)], proof)
    if not proof.done and not any(simplex.nearest.direction):
        epa(difference, simplex.vertices, proof)


def bracket_outside(
    point: FractionVec, body: Body, hint: Vec, least: Fraction, most: Fraction
) -> tuple[Fraction, Fraction | None]:
    """Return bounds of the distance of a point outside a body. The upper bound is None if it exceeds ``most``.

    The first tolerance is ``least``. It grows step by step up to ``most`` while the point is farther from the body.
    """
    difference = Difference(body, at_point(point))
    want = least
    while True:
        want = min(want, most)
        proof = Enclosure(None, want + difference.radius_low)
        enclose(difference, hint, proof)
        assert proof.low is not None
        low = max(Fraction(0), proof.low.bracket()[0] - difference.radius_high)
        if proof.high_proven and proof.high is not None:
            return low, max(Fraction(0), proof.high.bracket()[1] - difference.radius_low)
        if want == most:
            return low, None
        want *= _COARSER
