"""GJK: the distance of two convex cores, by walking to the point of A - B nearest to the origin.

The 2D tutorials' loop, one dimension up: ask for the support point w of A - B in the direction of the origin, add it
to the simplex, keep the part of the simplex nearest to the origin, repeat. Three facts make it safe:

- every support point proves a lower bound, v.w / |v|: no point of A - B lies below that plane;
- v, the nearest point of the simplex, is a convex combination of A - B's points: |v| is an upper bound;
- v must get shorter at each step. On polytopes it then cannot cycle, and ends at a vertex seen before; on curved
  shapes the two bounds meet.

So the loop never ends on a guess: it hands on the bounds it has. Gilbert, Johnson, Keerthi, IEEE J. Robotics Autom.
1988; van den Bergen, Collision Detection in Interactive 3D Environments, 2003, ch. 4; regions after Ericson, Real-
Time Collision Detection, 2005, sec. 9.5.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.simplex import (
    INSIDE,
    OUTSIDE,
    UNSURE,
    Vec4,
    closest_on_segment,
    closest_on_tetrahedron,
    closest_on_triangle,
)
from gjk3d.geometry.vec3 import Vec3, dot, unit
from gjk3d.narrow.cores import Rigid, support_pair
from gjk3d.narrow.trace import put, put3
from gjk3d.typing import Array, Ints

CONVERGED, FAR, NEAR_ENOUGH, INSIDE_SIMPLEX, AT_ORIGIN, STALLED, LIMIT = range(7)
MAX_STEPS = 256

# a simplex row: w of A - B (3), its point on A (3), on B (3), barycentric coordinate
SIMPLEX = 60  #: floats of its scratch: six rows


@kernel
def row3(s: Array, i: int) -> Vec3:
    """Return the vertex of A - B in row i."""
    return (s[i, 0], s[i, 1], s[i, 2])


@kernel
def first_four(s: Array) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return the vertices of A - B in rows 0 to 3; rows not in use yet hold anything."""
    return (
        (s[0, 0], s[0, 1], s[0, 2]), (s[1, 0], s[1, 1], s[1, 2]),
        (s[2, 0], s[2, 1], s[2, 2]), (s[3, 0], s[3, 1], s[3, 2]),
    )  # fmt: skip


@kernel
def set_row(s: Array, i: int, w: Vec3, a: Vec3, b: Vec3) -> None:
    """Store a vertex of A - B with the points it is made of."""
    s[i, 0], s[i, 1], s[i, 2] = w
    s[i, 3], s[i, 4], s[i, 5] = a
    s[i, 6], s[i, 7], s[i, 8] = b


@kernel
def keep(s: Array, count: int, l4: Vec4) -> int:
    """Drop the vertices whose coordinate is not positive; return how many are left."""
    kept = 0
    for i in range(count):
        if l4[i] > 0.0:
            if kept < i:
                for j in range(9):
                    s[kept, j] = s[i, j]
            s[kept, 9] = l4[i]
            kept += 1
    return kept


@kernel
def witnesses(s: Array, count: int) -> tuple[Vec3, Vec3]:
    """Return the simplex' nearest point as a point of A and one of B."""
    ax, ay, az = 0.0, 0.0, 0.0
    bx, by, bz = 0.0, 0.0, 0.0
    for i in range(count):
        t = s[i, 9]
        ax, ay, az = ax + t * s[i, 3], ay + t * s[i, 4], az + t * s[i, 5]
        bx, by, bz = bx + t * s[i, 6], by + t * s[i, 7], bz + t * s[i, 8]
    return (ax, ay, az), (bx, by, bz)


@kernel
def gjk(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid, start: Vec3,
    error: float, tiny: float, width: float, radii: float, far: float, near: float, given: int, s: Array, log: Array,
    at: int,
) -> tuple[int, int, Vec3, float, Vec3, int, int]:  # fmt: skip
    """Return why it stopped, simplex size, v, lower bound and its direction (from A to B), steps, and the log's end.

    ``far`` and ``near`` stop it early: once the bounds of the cores' distance, less ``radii``, prove more than
    ``far`` or at most ``near``. ``width`` is the gap between the bounds at which it is done. The simplex stays in
    ``s``, and where ``given`` is not 0 begins with that many rows there, points of A - B whatever they once were.
    """
    axis = unit(start)
    count = given
    w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, axis)
    lower = -dot(axis, w)
    code = LIMIT
    steps = 1
    level = 0
    v = w
    if count > 0:
        p0, p1, p2, p3 = first_four(s)
        where = OUTSIDE
        l4 = (1.0, 0.0, 0.0, 0.0)
        v = p0
        if count == 2:
            v, l4 = closest_on_segment(p0, p1, tiny)
        elif count == 3:
            v, l4 = closest_on_triangle(p0, p1, p2, tiny)
        elif count == 4:
            v, l4, where = closest_on_tetrahedron(p0, p1, p2, p3, tiny)
        if where == INSIDE:
            s[0, 9], s[1, 9], s[2, 9], s[3, 9] = l4
            return INSIDE_SIMPLEX, count, v, lower, axis, steps, at
        count = keep(s, count, l4)
        if not dot(v, v) < dot(w, w):
            count = int(np.int64(0))
    if count == 0:
        set_row(s, count, w, a, b)
        s[0, 9] = 1.0
        count += 1
        v = w
    if lower - error - radii > far:
        return FAR, count, v, lower, axis, steps, at
    while steps < MAX_STEPS:
        square = dot(v, v)
        length = sqrt(square)
        if length <= 4.0 * tiny:
            code = AT_ORIGIN
            break
        if length + error - radii <= near:
            code = NEAR_ENOUGH
            break
        d = (-v[0] / length, -v[1] / length, -v[2] / length)
        w, a, b = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        steps += 1
        bound = -dot(d, w)
        if bound > lower - tiny:  # the latest of equals: their bounds differ by rounding, their angles by its root
            lower = max(lower, bound)
            axis = d
        if log.shape[0] > 0:
            at = put(log, at, 1.0)
            at = put3(log, at, d)
            at = put3(log, at, a)
            at = put3(log, at, b)
            at = put(log, at, bound)
            at = put(log, at, lower)
            at = put(log, at, length)
            at = put(log, at, float(count))
            for i in range(4):
                for j in range(10):
                    at = put(log, at, s[i, j] if i < count else 0.0)
        if lower - error - radii > far:
            code = FAR
            break
        if length - bound <= width:  # this direction's own bound: then v / |v| is as good a normal as |v| a distance
            if bound > lower - 64.0 * tiny:  # not where a loose width lets it end: EPA goes on from the best axis
                axis = d
            code = CONVERGED
            break
        seen = False
        for i in range(count):
            if s[i, 0] == w[0] and s[i, 1] == w[1] and s[i, 2] == w[2]:
                seen = True
        if seen:
            code = CONVERGED
            break
        set_row(s, count, w, a, b)
        count += 1
        p0, p1, p2, p3 = first_four(s)
        if count == 2:
            p, l4 = closest_on_segment(p0, p1, tiny)
        elif count == 3:
            p, l4 = closest_on_triangle(p0, p1, p2, tiny)
        else:
            p, l4, where = closest_on_tetrahedron(p0, p1, p2, p3, tiny)
            if where == INSIDE:
                s[0, 9], s[1, 9], s[2, 9], s[3, 9] = l4
                v = p
                code = INSIDE_SIMPLEX
                break
            if where == UNSURE and sqrt(dot(p, p)) <= 4.0 * tiny:
                s[0, 9], s[1, 9], s[2, 9], s[3, 9] = l4
                v = p
                code = AT_ORIGIN
                break
        if not dot(p, p) < square:
            # a new vertex may mend the direction by more than the length can show; a few such steps, never a cycle
            level += 1
            if (
                level > 8 or not l4[count - 1] > 0.0 or not dot(p, p) <= (1.0 + 1e-15) * square
            ):  # worse, or NaN: what is there stays
                count -= 1
                code = STALLED
                break
        count = keep(s, count, l4)
        v = p
    return code, count, v, lower, axis, steps, at
