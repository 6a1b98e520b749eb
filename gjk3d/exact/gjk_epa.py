"""GJK and EPA in integers, and signed distances without rounding.

GJK finds the point of A - B nearest to the origin. In each step it computes the nearest point of all sub-simplices that
contain the newest vertex, so the distance decreases strictly. If the origin is inside A - B, EPA finds the nearest
face. Its polytope is convex in every step, because the test of a point against a plane is exact. Faces strictly below
the new point are removed, and coplanar faces are not. A polytope has finitely many vertices, so both searches end with
the exact result.

The signed distance of two polytopes is exact. Bounds are proven for all pairs of convex shapes, also with half-spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations
from math import isqrt
from typing import NamedTuple

from gjk3d.exact.arithmetic import (
    ORIGIN,
    Enclosure,
    FractionVec,
    Root,
    Vec,
    combine,
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
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array

# --- GJK and EPA in integers -----------------------------------------------------------------------------------------


CURVED_STEPS = 300  #: greatest number of steps of GJK for curved shapes, which have infinitely many support points
CURVED_POINTS = 4000  #: greatest number of vertices of EPA for curved shapes


class Nearest(NamedTuple):
    """The point of a simplex nearest to the origin: ``sum(weights * points) / sum(weights)``."""

    indices: tuple[int, ...]  #: vertices with a positive weight
    weights: tuple[int, ...]
    direction: Vec  #: from the origin to the point, with any length; zero if the point is the origin
    length: Root  #: distance of the point from the origin


class Simplex(NamedTuple):
    """The last simplex of GJK."""

    vertices: list[Vertex]
    nearest: Nearest
    optimal: bool  #: whether no support point is nearer, so that the result is exact for polytopes


def nearest_with_last(points: list[Vec]) -> Nearest:
    """Return the point nearest to the origin on any sub-simplex that contains the last vertex."""
    last = len(points) - 1
    best: Nearest | None = None
    for size in range(last + 1):
        for subset in combinations(range(last), size):
            solution = foot(*(points[i] for i in subset), points[last])
            if solution is None:
                continue
            weights, direction, length = solution
            if best is None or length < best.length:
                best = Nearest((*subset, last), weights, direction, length)
    assert best is not None  # the last vertex alone is always a solution
    return best


def foot(*simplex: Vec) -> tuple[tuple[int, ...], Vec, Root] | None:
    """Return the projection of the origin onto the plane or line of a simplex, None if it is not inside the simplex.

    The result has positive weights of the vertices, the direction from the origin, and the distance from the origin.
    """
    if len(simplex) == 1:
        (a,) = simplex
        return (1,), a, Root(dot(a, a), dot(a, a)) if any(a) else Root(0)
    if len(simplex) == 2:
        a, b = simplex
        edge = sub(b, a)
        weights: tuple[int, ...] = dot(b, edge), -dot(a, edge)
        if not (weights[0] > 0 and weights[1] > 0):
            return None
        point = combine(weights, simplex)
        square, length = dot(point, point), dot(edge, edge)
        return weights, point, Root(square, square * length * length) if square else Root(0)
    if len(simplex) == 3:
        a, b, c = simplex
        normal = cross(sub(b, a), sub(c, a))
        weights = dot(normal, cross(b, c)), dot(normal, cross(c, a)), dot(normal, cross(a, b))
        if not min(weights) > 0:
            return None
        height = dot(normal, a)
        direction = (0, 0, 0) if height == 0 else normal if height > 0 else negative(normal)
        return weights, direction, Root(abs(height), dot(normal, normal))
    # by Cramer's rule, each weight is the volume of the tetrahedron of the origin and the opposite face
    a, b, c, d = simplex
    ab, cd = cross(a, b), cross(c, d)
    weights = dot(b, cd), -dot(a, cd), dot(d, ab), -dot(c, ab)
    if sum(weights) < 0:
        weights = tuple(-w for w in weights)
    return (weights, (0, 0, 0), Root(0)) if min(weights) > 0 else None


def gjk(difference: Difference, starts: list[Vertex], proof: Enclosure) -> Simplex:
    """Return the simplex nearest to the origin. The bounds of each step are added to ``proof``.

    GJK starts with ``starts``, which are one or more points of the difference.
    """
    vertices = [starts[0]]
    nearest = nearest_with_last([starts[0][0]])
    for vertex in starts[1:]:
        vertices, nearest, _ = _joined(vertices, nearest, vertex)
    scale2 = difference.square
    steps = 0
    while True:
        proof.drop_high(Root(nearest.length.num, nearest.length.den * scale2))
        if not any(nearest.direction) or proof.done:
            return Simplex(vertices, nearest, not any(nearest.direction))
        n = difference.direction(negative(nearest.direction))
        new = difference.support_vertex(n, proof)
        if proof.done or (not difference.exact and steps >= CURVED_STEPS):
            return Simplex(vertices, nearest, False)
        vertices, nearest, nearer = _joined(vertices, nearest, new)
        if not nearer:
            return Simplex(vertices, nearest, True)
        steps += 1


def _joined(vertices: list[Vertex], nearest: Nearest, new: Vertex) -> tuple[list[Vertex], Nearest, bool]:
    """Add ``new`` to a simplex. Return the simplex, its point nearest to the origin, and whether this is nearer now."""
    v = nearest.direction
    if not dot(v, new[0]) < dot(v, vertices[0][0]):
        return vertices, nearest, False
    grown = [*vertices, new]
    best = nearest_with_last([w for w, _ in grown])
    return [grown[i] for i in best.indices], best._replace(indices=tuple(range(len(best.indices)))), True


class Face:
    """A triangle of the polytope with an outward normal. Its plane is ``normal.x = height``."""

    __slots__ = ("alive", "height", "key", "neighbours", "normal", "vertices")

    def __init__(self, points: list[Vertex], i: int, j: int, k: int) -> None:
        a = points[i][0]
        self.vertices = (i, j, k)
        self.normal = cross(sub(points[j][0], a), sub(points[k][0], a))
        self.height = dot(self.normal, a)
        self.key = Root(self.height, dot(self.normal, self.normal))  # signed distance of the plane from the origin
        self.neighbours: list[Face] = []  # the faces on the other side of the edges ij, jk, ki
        self.alive = True

    def __lt__(self, other: Face) -> bool:
        return self.key < other.key

    def sees(self, point: Vec) -> bool:
        """Return whether a point is strictly above the plane of the face."""
        return dot(self.normal, point) > self.height


class Inside(NamedTuple):
    """The result of EPA: the facet nearest to the origin, and the projection of the origin onto it."""

    normal: Vec  #: outward normal of the facet
    vertices: list[Vertex]  #: three vertices of the facet
    weights: tuple[int, ...]  #: the projection is the mean of the vertices with these weights


class Flat(NamedTuple):
    """The result of EPA for a difference without volume."""

    normal: Vec  #: normal of a plane that contains the difference


def epa(difference: Difference, seeds: list[Vertex], proof: Enclosure) -> Inside | Flat | None:
    """Return the facet of the difference nearest to the origin. The bounds of each step are added to ``proof``.

    The result is None if ``proof`` is done before the facet is found, and for a curved difference. The origin must be
    in the difference. ``seeds`` are points of the difference that the first tetrahedron may use.
    """
    points = _tetrahedron(difference, seeds, proof)
    if isinstance(points, Flat):
        return points
    heap: list[Face] = []
    owner: dict[tuple[int, int], Face] = {}
    for i, j, k in ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)):
        face = Face(points, i, j, k)
        owner |= dict.fromkeys(((i, j), (j, k), (k, i)), face)
        heappush(heap, face)
    for face in heap:
        i, j, k = face.vertices
        face.neighbours = [owner[j, i], owner[k, j], owner[i, k]]
    scale2 = difference.square
    while True:
        face = heap[0]
        if not face.alive:
            heappop(heap)
            continue
        if face.height >= 0:  # all faces are at least this far from the origin, so the polytope contains this ball
            proof.drop_high(Root(-face.height, face.key.den * scale2))
        if proof.done:
            return None
        n = difference.direction(face.normal)
        new = difference.support_vertex(n, proof)
        if not face.sees(new[0]):
            return _foot(points, heap, face) if difference.exact else None
        if proof.done or (not difference.exact and len(points) >= CURVED_POINTS):
            return None
        points.append(new)
        for grown in _expand(points, face):
            heappush(heap, grown)


def _expand(points: list[Vertex], seed: Face) -> list[Face]:
    """Replace the faces below the last point, such as ``seed``, by a fan from the point. Return the new faces."""
    last = len(points) - 1
    point = points[last][0]
    seed.alive = False
    stack = [seed]
    fan: dict[int, Face] = {}  # the new face of each boundary edge, by the first vertex of the edge
    while stack:
        face = stack.pop()
        for e, neighbour in enumerate(face.neighbours):
            if not neighbour.alive:
                continue
            if neighbour.sees(point):
                neighbour.alive = False
                stack.append(neighbour)
                continue
            i, j = face.vertices[e], face.vertices[(e + 1) % 3]
            new = Face(points, i, j, last)
            new.neighbours = [neighbour, neighbour, neighbour]  # the second and the third are replaced below
            neighbour.neighbours[neighbour.vertices.index(j)] = new
            fan[i] = new
    for new in fan.values():
        follower = fan[new.vertices[1]]
        new.neighbours[1] = follower
        follower.neighbours[2] = new
    return list(fan.values())


def _foot(points: list[Vertex], heap: list[Face], nearest: Face) -> Inside:
    """Return the projection of the origin onto the facet in the plane of ``nearest``, which may have many triangles."""
    n = nearest.normal
    for face in heap:
        if not face.alive or face.key != nearest.key or any(cross(n, face.normal)) or dot(n, face.normal) < 0:
            continue
        a, b, c = (points[i][0] for i in face.vertices)
        weights = dot(n, cross(b, c)), dot(n, cross(c, a)), dot(n, cross(a, b))
        if min(weights) >= 0:
            return Inside(n, [points[i] for i in face.vertices], weights)
    raise AssertionError("the origin projects outside the nearest facet of EPA. Please report this bug of gjk3d")


def _tetrahedron(difference: Difference, seeds: list[Vertex], proof: Enclosure) -> list[Vertex] | Flat:
    """Return the vertices of a tetrahedron in the difference, or a `Flat` for a difference without volume."""

    def support(n: Vec) -> Vertex:
        return difference.support_vertex(n, proof)

    def flat(n: Vec) -> Flat:
        support(n), support(negative(n))
        return Flat(n)

    axes: list[Vec] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    points = [support(s) for axis in axes for s in (axis, negative(axis))] + seeds
    first = points[0][0]
    second = max(points, key=lambda p: dot(sub(p[0], first), sub(p[0], first)))
    line = sub(second[0], first)
    if not any(line):
        return flat((1, 0, 0))
    least = min(range(3), key=lambda i: abs(line[i]))
    side = cross(line, axes[least])
    across = [side, cross(line, side)]
    points += [support(difference.direction(s)) for n in across for s in (n, negative(n))]

    def off_line(p: Vertex) -> int:
        away = cross(line, sub(p[0], first))
        return dot(away, away)

    third = max(points, key=off_line)
    if off_line(third) == 0:
        return flat(side)
    normal = cross(line, sub(third[0], first))
    points += [support(difference.direction(s)) for s in (normal, negative(normal))]

    def height(p: Vertex) -> int:
        return dot(normal, sub(p[0], first))

    fourth = max(points, key=lambda p: abs(height(p)))
    if height(fourth) == 0:
        return flat(normal)
    four = [points[0], second, third, fourth]
    if height(fourth) > 0:  # seen from the fourth point, the order of the other three must be clockwise
        four[1], four[2] = four[2], four[1]
    return four


# --- signed distances ------------------------------------------------------------------------------------------------


class Plane(NamedTuple):
    """The half-space ``normal.x <= offset`` in world coordinates. The normal has any length."""

    normal: Vec
    offset: Fraction

    def height(self, value: Fraction) -> Root:
        """Return the signed distance of points with ``normal.x = value`` from the half-space."""
        p, q = (value - self.offset).as_integer_ratio()
        return Root(p, q * q * dot(self.normal, self.normal))

    def is_along(self, n: Vec, angle: Fraction) -> bool:
        """Return whether the angle between n and the normal is at most ``angle``, which must be small."""
        away = cross(n, self.normal)
        allowed = angle * angle * dot(n, n) * dot(self.normal, self.normal)
        return dot(n, self.normal) > 0 and dot(away, away) <= allowed


def place_plane(plane: Halfspace, at: Placement) -> Plane:
    """Return a half-space at a pose in world coordinates. The inverse transposed matrix transforms the normal."""
    n, scale = in_integers(fractions(plane.normal))
    r = at.rotation
    cofactors = cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])
    normal = turned(cofactors, n)
    # x = (r / turn) y + t, so n.y <= offset scale becomes normal.(x - t) <= offset scale det(r) / turn
    det = dot(r[0], cofactors[0])
    along = Fraction(dot(normal, at.translation), at.shift)
    return Plane(normal, Fraction(plane.offset) * scale * Fraction(det, at.turn) + along)


def heights(plane: Plane, body: Body) -> tuple[Root, Root]:
    """Return a lower and an upper bound of the signed distance of a body, without its radius, from a half-space."""
    down = negative(plane.normal)
    single = Difference(body, at_point(ORIGIN))
    point, _, top = single.support(down)
    return plane.height(Fraction(-top, single.scale)), plane.height(Fraction(-dot(down, point), single.scale))


_COARSER = 16  #: factor between two successive tolerances of `bracket_outside`


class ExactDistance(NamedTuple):
    """The signed distance of two polytopes.

    Attributes
    ----------
    sign : int
        1 for separated and -1 for overlapping polytopes. 0 if they touch, or overlap in a common plane.
    square : Fraction
        Square of the distance or of the depth.
    normal : (Fraction, Fraction, Fraction)
        Vector from A to B, of any length.
    point_a, point_b : (Fraction, Fraction, Fraction)
        Witness points: ``point_b - point_a`` is exactly the signed distance times the unit normal.
    weights : tuple of (int, int, Fraction)
        Both points as convex combinations. Each entry has the index of a vertex of A, that of a vertex of B, and a
        positive weight. The weights sum to 1.
    """

    sign: int
    square: Fraction
    normal: FractionVec
    point_a: FractionVec
    point_b: FractionVec
    weights: tuple[tuple[int, int, Fraction], ...]

    @property
    def root(self) -> Root:
        """The exact signed distance."""
        root = Root.sqrt(self.square)
        return Root(self.sign * root.num, root.den)

    @property
    def bounds(self) -> tuple[float, float]:
        """The signed distance rounded down to a float, and rounded up."""
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
        Indices of a vertex of A and a vertex of B for the start of GJK. Vertices near the witness points save steps.
    signed : bool
        If False, the result for an overlap is 0 instead of the depth.

    References
    ----------
    Gilbert, Johnson and Keerthi, 1988 (GJK). van den Bergen, 2003 (EPA). Both need finitely many steps in rational
    arithmetic.

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
    """The signed distance of two polytopes in floats. Bounds are rounded outward, other numbers to nearest.

    The normal is a unit vector from A to B, and the points are the witness points, in world coordinates.
    """

    lower: float
    upper: float
    normal: tuple[float, float, float]
    point_a: tuple[float, float, float]
    point_b: tuple[float, float, float]


def exact_pair(
    a: Shape, b: Shape, row_a: Array, row_b: Array, start: Sequence[tuple[int, int]] = ((0, 0),)
) -> ExactPair | None:
    """Return the signed distance of two polytopes at pose rows, or None for other shapes.

    If several normals are equally good, as for boxes with a common centre, the result has one of them. See
    `exact_signed_distance` for ``start``.
    """
    of_a, of_b = body_of(a), body_of(b)
    if of_a is None or of_b is None or of_a.curved or of_b.curved:
        return None
    if any(len(body.terms) != 1 or len(body.terms[0].sets) != 1 for body in (of_a, of_b)):
        return None  # a composed shape, which is a sum of several polytopes
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
    """Return n / |n|. The error of each component is at most 2**-100."""
    (x, y, z), _ = in_integers(n)
    digits = max(abs(x), abs(y), abs(z)).bit_length()
    up = max(0, 128 - digits)
    x, y, z = x << up, y << up, z << up
    length = isqrt(dot((x, y, z), (x, y, z)))
    return Fraction(x, length), Fraction(y, length), Fraction(z, length)


def enclose(difference: Difference, hint: Vec, proof: Enclosure) -> None:
    """Add bounds of the signed distance of two cores to ``proof``. The search starts in the direction ``hint``."""
    simplex = gjk(difference, [difference.support_vertex(hint, proof)], proof)
    if not proof.done and not any(simplex.nearest.direction):
        epa(difference, simplex.vertices, proof)


def bracket_outside(
    point: FractionVec, body: Body, hint: Vec, least: Fraction, most: Fraction
) -> tuple[Fraction, Fraction | None]:
    """Return bounds of the distance of a point from a body, 0 inside. The upper bound is None if it exceeds ``most``.

    ``least`` is the first value that is tried as an upper bound. It is multiplied by 16 until it is proven, up to
    ``most``. The search starts in the direction ``hint``.
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
