"""How far a triangle is from a ball or a capsule, or how deep in it: by the point nearest to the centre, or the axis.

The planes across the way between the two nearest points bound the gap from below, the points from above. Where these
two differ, as where the axis pierces the triangle, GJK and EPA answer.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.facets import APART, DEEP, OPEN, WIDTH, put_deep
from gjk3d.bodies.part_tree import PRISMS, TRIANGLES, part_at, put_behind
from gjk3d.bodies.triangles import Triangle, nearest_on, nearest_on_edges, read
from gjk3d.bodies.walk import Bench, Two
from gjk3d.geometry.vec3 import Vec3, add, along, divide, dot, neg, place, sub, turn
from gjk3d.narrow.closed import half_vector
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints


class Round(NamedTuple):
    """What is within a radius of a segment, or a point, in A's frame; of a radius of 0 where it is none of these."""

    start: Vec3
    way: Vec3  #: from there to the end
    radius: float


NO_ROUND = Round((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


@kernel
def round_in(x: Two, w: Bench) -> Round:
    """Return B, where it is one ball or one capsule and A has triangles; else `NO_ROUND`."""
    return lone_round(x, w)[1] if x.a.kind == TRIANGLES else NO_ROUND


@kernel
def lone_round(x: Two, w: Bench) -> tuple[bool, Round]:
    """Tell whether B is one point, segment, ball or capsule, and return it."""
    leaf = x.b.links[0]
    if x.b.kind == PRISMS or leaf[0] >= 0 or leaf[2] != 1:
        return False, NO_ROUND
    core = part_at(x.b, leaf[1], w.floats_b, w.row_b)
    if core.ints[layout.KIND] > layout.SEGMENT:
        return False, NO_ROUND
    f, row = core.floats, w.row_b
    put_behind(x.m, row)
    half = turn(row, half_vector(core))
    middle = place(row, (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2]))
    return True, Round(sub(middle, half), add(half, half), f[layout.RADIUS])


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


@inlined
def plane_gap_of(t: Triangle, r: Round, way: Vec3) -> float:
    """Return how far a triangle and a ball or a capsule are apart along a direction."""
    high, low = max(dot(way, t[0]), max(dot(way, t[1]), dot(way, t[2]))), dot(way, r.start) + min(0.0, dot(way, r.way))
    return low - high - r.radius


@kernel
def round_gap(x: Two, k: int, r: Round, out: Array) -> bool:
    """Write into the first row how far apart triangle k of A and a ball or a capsule are; False where GJK must tell."""
    t, clear = read(x.a.places, k), WIDTH * x.error
    square, a, b = _nearest(t, r)
    far, rim = sqrt(square), x.a.floats[0]
    if not far - r.radius - rim > clear:
        return False
    n = divide(sub(b, a), far)
    upper, lower = far - r.radius - rim, plane_gap_of(t, r, n) - rim
    if upper - lower > clear:
        return False
    out[0, 0], out[0, 1], out[0, 2] = upper, min(lower, upper), upper
    a, b = along(a, n, rim), along(b, n, -r.radius)
    for c in range(3):
        out[0, 3 + c], out[0, 6 + c], out[0, 9 + c] = n[c], a[c], b[c]
    return True


@kernel
def round_of(x: Two, k: int, r: Round, out: Array, flags: Ints, row: int) -> int:
    """Answer how deep triangle k of A and a ball or a capsule are: APART, DEEP with its answer in a row, or OPEN."""
    t, clear = read(x.a.places, k), WIDTH * x.error
    square, a, b = _nearest(t, r)
    far = sqrt(square)
    if not far > clear:
        return OPEN
    n = divide(sub(b, a), far)
    gap, least = far - r.radius, plane_gap_of(t, r, n)
    if least > clear:
        return APART
    if gap > -clear or gap - least > clear:
        return OPEN
    put_deep(n, a, along(b, neg(n), r.radius), gap, clear, out, flags, row)
    return DEEP
