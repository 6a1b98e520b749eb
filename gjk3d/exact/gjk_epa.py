"""GJK and EPA in integers: the point of A - B nearest to the origin, and the face nearest to an origin inside it.

GJK: the sub-simplices that contain the newest vertex are all solved and the nearest of their points is taken, so every
step is strictly shorter. EPA: the polytope is convex at every step, since whether a point is above a plane is exact;
faces that the new point is strictly above go, coplanar ones stay. There are finitely many vertices: for polytopes both
end, at the exact answer.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import combinations
from typing import NamedTuple

from gjk3d.exact.arithmetic import Enclosure, Root, Vec, combine, cross, dot, negative, sub
from gjk3d.exact.convex_sets import Difference, Vertex

CURVED_STEPS = 300  #: of GJK, where there is no finite end
CURVED_POINTS = 4000  #: and of EPA


class Nearest(NamedTuple):
    """The point of a simplex nearest to the origin: ``sum(weights * points) / sum(weights)``."""

    keep: tuple[int, ...]  #: vertices with a positive weight
    weights: tuple[int, ...]
    direction: Vec  #: along the point, of any length; zero at the origin
    length: Root


class Simplex(NamedTuple):
    """Where GJK stopped."""

    vertices: list[Vertex]
    nearest: Nearest
    optimal: bool  #: no support point is nearer, so for polytopes this is the answer


def nearest_with_last(points: list[Vec]) -> Nearest:
    """Return the nearest of the points with all weights positive over all sub-simplices that have the last vertex."""
    last = len(points) - 1
    best: Nearest | None = None
    for size in range(last + 1):
        for others in combinations(range(last), size):
            found = foot(*(points[i] for i in others), points[last])
            if found is None:
                continue
            weights, direction, length = found
            if best is None or length < best.length:
                best = Nearest((*others, last), weights, direction, length)
    assert best is not None  # the last vertex alone always is one
    return best


def foot(*simplex: Vec) -> tuple[tuple[int, ...], Vec, Root] | None:
    """Return weights, direction and length of the origin's foot on a simplex, None where it is not strictly inside."""
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
    a, b, c, d = simplex
    ab, cd = cross(a, b), cross(c, d)
    weights = dot(b, cd), -dot(a, cd), dot(d, ab), -dot(c, ab)
    if sum(weights) < 0:
        weights = tuple(-w for w in weights)
    return (weights, (0, 0, 0), Root(0)) if min(weights) > 0 else None


def gjk(difference: Difference, starts: list[Vertex], proof: Enclosure) -> Simplex:
    """Walk to the point of the difference nearest to the origin; every step's bounds go into ``proof``.

    ``starts`` are points of the difference to begin with, at least one.
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
        new = difference.look(n, proof)
        if proof.done or (not difference.exact and steps >= CURVED_STEPS):
            return Simplex(vertices, nearest, False)
        vertices, nearest, nearer = _joined(vertices, nearest, new)
        if not nearer:
            return Simplex(vertices, nearest, True)
        steps += 1


def _joined(vertices: list[Vertex], nearest: Nearest, new: Vertex) -> tuple[list[Vertex], Nearest, bool]:
    """Add a vertex where it brings the simplex nearer to the origin."""
    v = nearest.direction
    if not dot(v, new[0]) < dot(v, vertices[0][0]):
        return vertices, nearest, False
    grown = [*vertices, new]
    found = nearest_with_last([w for w, _ in grown])
    return [grown[i] for i in found.keep], found._replace(keep=tuple(range(len(found.keep)))), True


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
    """What EPA found: a normal of the nearest facet, and the origin's foot on it as weights of vertices."""

    normal: Vec
    vertices: list[Vertex]
    weights: tuple[int, ...]


class Flat(NamedTuple):
    """The difference has no volume."""

    normal: Vec  #: of a plane that holds it


def epa(difference: Difference, seeds: list[Vertex], proof: Enclosure) -> Inside | Flat | None:
    """Grow a polytope inside the difference; every step's bounds go into ``proof``. None where it stopped early.

    The origin is in the difference. ``seeds`` are points of the difference that the first tetrahedron may use.
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
        if face.height >= 0:  # a closed surface round the origin: the ball that it does not cut is inside
            proof.drop_high(Root(-face.height, face.key.den * scale2))
        if proof.done:
            return None
        n = difference.direction(face.normal)
        new = difference.look(n, proof)
        if not face.sees(new[0]):
            return _foot(points, heap, face) if difference.exact else None
        if proof.done or (not difference.exact and len(points) >= CURVED_POINTS):
            return None
        points.append(new)
        for grown in _expand(points, face):
            heappush(heap, grown)


def _expand(points: list[Vertex], seed: Face) -> list[Face]:
    """Replace the faces that the last point sees by a fan to their rim."""
    last = len(points) - 1
    point = points[last][0]
    seed.alive = False
    stack = [seed]
    fan: dict[int, Face] = {}  # by the first vertex of the rim's edge
    while stack:
        face = stack.pop()
        for e, beyond in enumerate(face.neighbours):
            if not beyond.alive:
                continue
            if beyond.sees(point):
                beyond.alive = False
                stack.append(beyond)
                continue
            i, j = face.vertices[e], face.vertices[(e + 1) % 3]
            new = Face(points, i, j, last)
            new.neighbours = [beyond, beyond, beyond]  # the other two are set below
            beyond.neighbours[beyond.vertices.index(j)] = new
            fan[i] = new
    for new in fan.values():
        follower = fan[new.vertices[1]]
        new.neighbours[1] = follower
        follower.neighbours[2] = new
    return list(fan.values())


def _foot(points: list[Vertex], heap: list[Face], nearest: Face) -> Inside:
    """Return the origin's foot on a facet: in one of the triangles that lie in its plane."""
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

    def ask(n: Vec) -> Vertex:
        return difference.look(n, proof)

    def flat(n: Vec) -> Flat:
        ask(n), ask(negative(n))
        return Flat(n)

    axes: list[Vec] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    points = [ask(s) for axis in axes for s in (axis, negative(axis))] + seeds
    first = points[0][0]
    second = max(points, key=lambda p: dot(sub(p[0], first), sub(p[0], first)))
    line = sub(second[0], first)
    if not any(line):
        return flat((1, 0, 0))
    least = min(range(3), key=lambda i: abs(line[i]))
    side = cross(line, axes[least])
    across = [side, cross(line, side)]
    points += [ask(difference.direction(s)) for n in across for s in (n, negative(n))]

    def off_line(p: Vertex) -> int:
        away = cross(line, sub(p[0], first))
        return dot(away, away)

    third = max(points, key=off_line)
    if off_line(third) == 0:
        return flat(side)
    normal = cross(line, sub(third[0], first))
    points += [ask(difference.direction(s)) for s in (normal, negative(normal))]

    def height(p: Vertex) -> int:
        return dot(normal, sub(p[0], first))

    fourth = max(points, key=lambda p: abs(height(p)))
    if height(fourth) == 0:
        return flat(normal)
    four = [points[0], second, third, fourth]
    if height(fourth) > 0:  # seen from the fourth, the other three are to turn clockwise
        four[1], four[2] = four[2], four[1]
    return four
