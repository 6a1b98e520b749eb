"""GJK and EPA in integers: the point of A - B nearest to the origin, and the face nearest to an origin inside A - B.

GJK solves all sub-simplices that contain the newest vertex and takes the nearest of their points, so every step is
strictly shorter. EPA keeps a convex polytope at every step, since the test of a point against a plane is exact. Faces
strictly below the new point are removed, and coplanar faces stay. A polytope has finitely many vertices, so both
searches end at the exact answer.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import combinations
from typing import NamedTuple

from gjk3d.exact.arithmetic import Enclosure, Root, Vec, combine, cross, dot, negative, sub
from gjk3d.exact.convex_sets import Difference, Vertex

CURVED_STEPS = 300  #: steps of GJK for curved shapes, for which it does not end
CURVED_POINTS = 4000  #: vertices of EPA for curved shapes


class Nearest(NamedTuple):
    """The point of a simplex nearest to the origin: ``sum(weights * points) / sum(weights)``."""

    indices: tuple[int, ...]  #: vertices with a positive weight
    weights: tuple[int, ...]
    direction: Vec  #: along the point, of any length; zero at the origin
    length: Root


class Simplex(NamedTuple):
    """The last simplex of GJK."""

    vertices: list[Vertex]
    nearest: Nearest
    optimal: bool  #: no support point is nearer, which makes this the answer for polytopes


def nearest_with_last(points: list[Vec]) -> Nearest:
    """Return the nearest point of all sub-simplices that contain the last vertex and have only positive weights."""
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
    assert best is not None  # the last vertex alone always is one
    return best


def foot(*simplex: Vec) -> tuple[tuple[int, ...], Vec, Root] | None:
    """Return weights, direction and length of the origin's foot on a simplex, None if it is not strictly inside."""
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
    # Cramer: each weight is the volume that the origin spans with the opposite face
    a, b, c, d = simplex
    ab, cd = cross(a, b), cross(c, d)
    weights = dot(b, cd), -dot(a, cd), dot(d, ab), -dot(c, ab)
    if sum(weights) < 0:
        weights = tuple(-w for w in weights)
    return (weights, (0, 0, 0), Root(0)) if min(weights) > 0 else None


def gjk(difference: Difference, starts: list[Vertex], proof: Enclosure) -> Simplex:
    """Return the simplex nearest to the origin; the bounds of every step are entered in ``proof``.

    ``starts`` are initial points of the difference, at least one.
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
    """Return the vertices and nearest point after a vertex is added, and whether this point is nearer than before."""
    v = nearest.direction
    if not dot(v, new[0]) < dot(v, vertices[0][0]):
        return vertices, nearest, False
    grown = [*vertices, new]
    best = nearest_with_last([w for w, _ in grown])
    return [grown[i] for i in best.indices], best._replace(indices=tuple(range(len(best.indices)))), True


class Face:
    """A triangle of the polytope, wound outward: its plane is ``normal.x = height``."""

    __slots__ = ("alive", "height", "key", "neighbours", "normal", "vertices")

    def __init__(self, points: list[Vertex], i: int, j: int, k: int) -> None:
        a = points[i][0]
        self.vertices = (i, j, k)
        self.normal = cross(sub(points[j][0], a), sub(points[k][0], a))
        self.height = dot(self.normal, a)
        self.key = Root(self.height, dot(self.normal, self.normal))  # the plane's signed distance from the origin
        self.neighbours: list[Face] = []  # over the edges ij, jk, ki
        self.alive = True

    def __lt__(self, other: Face) -> bool:
        return self.key < other.key

    def sees(self, point: Vec) -> bool:
        """Whether the point is strictly above the plane."""
        return dot(self.normal, point) > self.height


class Inside(NamedTuple):
    """The result of EPA: a normal of the nearest facet, and the foot of the origin on it as weights of vertices."""

    normal: Vec
    vertices: list[Vertex]
    weights: tuple[int, ...]


class Flat(NamedTuple):
    """The result of EPA for a difference without volume."""

    normal: Vec  #: of a plane that contains the difference


def epa(difference: Difference, seeds: list[Vertex], proof: Enclosure) -> Inside | Flat | None:
    """Expand a polytope inside the difference; the bounds of every step are entered in ``proof``.

    Returns None if the proof needs no further steps. The origin must be in the difference. ``seeds`` are points of the
    difference that the first tetrahedron may use.
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
        if face.height >= 0:  # a closed surface about the origin contains the ball that it does not cut
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
    """Replace the faces below the last point by a fan from this point to their boundary; return the new faces."""
    last = len(points) - 1
    point = points[last][0]
    seed.alive = False
    stack = [seed]
    fan: dict[int, Face] = {}  # by the first vertex of the boundary edge
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
            new.neighbours = [neighbour, neighbour, neighbour]  # the other two are set below
            neighbour.neighbours[neighbour.vertices.index(j)] = new
            fan[i] = new
    for new in fan.values():
        follower = fan[new.vertices[1]]
        new.neighbours[1] = follower
        follower.neighbours[2] = new
    return list(fan.values())


def _foot(points: list[Vertex], heap: list[Face], nearest: Face) -> Inside:
    """Return the foot of the origin on a facet, as weights in one of the triangles in its plane."""
    n = nearest.normal
    for face in heap:
        if not face.alive or face.key != nearest.key or any(cross(n, face.normal)) or dot(n, face.normal) < 0:
            continue
        a, b, c = (points[i][0] for i in face.vertices)
        weights = dot(n, cross(b, c)), dot(n, cross(c, a)), dot(n, cross(a, b))
        if min(weights) >= 0:
            return Inside(n, [points[i] for i in face.vertices], weights)
    raise AssertionError("a ball inside a polytope touches its nearest facet within the facet")


def _tetrahedron(difference: Difference, seeds: list[Vertex], proof: Enclosure) -> list[Vertex] | Flat:
    """Return four points of the difference that span a volume, wound outward."""

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
    if height(fourth) > 0:  # seen from the fourth, the other three are to turn clockwise
        four[1], four[2] = four[2], four[1]
    return four
