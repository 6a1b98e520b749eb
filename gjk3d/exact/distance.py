"""GJK in integers: the point of A - B nearest to the origin.

The sub-simplices that contain the newest vertex are all solved and the nearest of their points is taken, so every step
is strictly shorter. There are finitely many simplices of vertices: for polytopes it ends, at the exact answer.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from gjk3d.exact.arithmetic import Enclosure, Root, Vec, combine, cross, dot, negative, sub
from gjk3d.exact.difference import Difference, Picks

Vertex = tuple[Vec, Picks]  #: a point of A - B, and the vertices it is made of

CURVED_STEPS = 300  #: where there is no finite end


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
        point, picks, top = difference.support(n)
        proof.raise_low(Root(-top, dot(n, n) * scale2), n)
        if proof.done or (not difference.exact and steps >= CURVED_STEPS):
            return Simplex(vertices, nearest, False)
        vertices, nearest, nearer = _joined(vertices, nearest, (point, picks))
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
