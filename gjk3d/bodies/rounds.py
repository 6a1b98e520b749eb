"""How deep a triangle lies in a ball or a capsule: by the point of it that is nearest to the centre, or to the axis.

The planes across the way between the two nearest points bound the gap from below, the points from above. Where these
two differ, as where the axis pierces the triangle, GJK and EPA answer.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.facets import APART, DEEP, OPEN, put_deep
from gjk3d.bodies.part_tree import part_at, put_behind
from gjk3d.bodies.triangles import Triangle, nearest_on, nearest_on_edges, read
from gjk3d.bodies.walk import Bench, Two
from gjk3d.geometry.vec3 import Vec3, add, along, divide, dot, neg, place, sub, turn
from gjk3d.narrow.closed import half_vector
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

_WIDTH = 4.0  #: of a gap, in units of the error of places
_ONLY = 0


class Round(NamedTuple):
    """What is within a radius of a segment, or a point, in A's frame; of a radius of 0 where it is none of these."""

    start: Vec3
    way: Vec3  #: from there to the end
    radius: float


NO_ROUND = Round((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


@kernel
def round_in(x: Two, w: Bench) -> Round:
    """Return the one part of B as a ball or a capsule."""
    core = part_at(x.b, _ONLY, w.floats_b, w.row_b)
    f, row = core.floats, w.row_b
    put_behind(x.m, row)
    half = turn(row, half_vector(core))
    middle = place(row, (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2]))
    radius = f[layout.RADIUS] if core.ints[layout.KIND] <= layout.SEGMENT else 0.0
    return Round(sub(middle, half), add(half, half), radius)


@inlined
def _nearest(t: Triangle, r: Round) -> tuple[float, Vec3, Vec3]:
    """Return the squared distance of a triangle and a segment that does not pierce it, and their nearest points."""
    best, a = nearest_on(r.start, t)
    b = r.start
    if not dot(r.way, r.way) > 0.0:
        return best, a, b
    end = add(r.start, r.way)
    square, p = nearest_on(end, t)
    if square < best:
        best, a, b = square, p, end
    for k in range(3):
        square, p, q = nearest_on_edges(t[k], sub(t[(k + 1) % 3], t[k]), r.start, r.way)
        if square < best:
            best, a, b = square, p, q
    return best, a, b


@kernel
def round_of(x: Two, k: int, r: Round, out: Array, flags: Ints, row: int) -> int:
    """Answer how deep triangle k of A and a ball or a capsule are: APART, DEEP with its answer in a row, or OPEN."""
    t, clear = read(x.a.places, k), _WIDTH * x.error
    square, a, b = _nearest(t, r)
    far = sqrt(square)
    if not far > clear:
        return OPEN
    n = divide(sub(b, a), far)
    high, low = max(dot(n, t[0]), max(dot(n, t[1]), dot(n, t[2]))), dot(n, r.start) + min(0.0, dot(n, r.way))
    gap = far - r.radius
    if low - high - r.radius > clear:
        return APART
    if gap > -clear or far - (low - high) > clear:
        return OPEN
    put_deep(n, a, along(b, neg(n), r.radius), gap, clear, out, flags, row)
    return DEEP
