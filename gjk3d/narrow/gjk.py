"""GJK: the distance of two convex cores, by stepping to the point of A - B nearest to the origin.

The loop is that of the 2D tutorials, in 3D. It computes the support point w of A - B in the direction of the origin,
adds it to the simplex, and keeps the part of the simplex nearest to the origin. Let v be the point of the simplex
nearest to the origin. Three facts make the loop safe:

- every support point w proves the lower bound v.w / |v|: all of A - B is beyond the plane through w with normal v;
- v is a convex combination of points of A - B, so |v| is an upper bound;
- the loop stops if v does not get shorter, except for a few steps within rounding. On polytopes it therefore cannot
  cycle. If the new support point is already a vertex of the simplex, v is the nearest point. On curved shapes the two
  bounds converge.

The loop therefore always returns proven bounds. References: Gilbert, Johnson, Keerthi, IEEE J. Robotics Autom. 1988;
van den Bergen, Collision Detection in Interactive 3D Environments, 2003, ch. 4; regions after Ericson, Real-Time
Collision Detection, 2005, sec. 9.5.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.simplex import (
    INSIDE,
    OUTSIDE,
    UNSURE,
    Vec4,
    closest_on_segment,
    closest_on_tetrahedron,
    closest_on_triangle,
)
from gjk3d.geometry.vec3 import Vec3, divide, dot, offset, place, row3, sub, turn_back, unit
from gjk3d.narrow.cores import Cores, direction_between, support_pair
from gjk3d.narrow.curved import BRANCH_ROWS, find_stationary, have_branches
from gjk3d.narrow.workspace import GJK_STEP, write, write3, write_rows
from gjk3d.typing import Array

CONVERGED, FAR, NEAR_ENOUGH, INSIDE_SIMPLEX, AT_ORIGIN, STALLED, LIMIT = range(7)
MAX_STEPS = 256
#: in units of a pair's ``tiny``: the greatest distance from the origin of a simplex that counts as touching it, and the
#: greatest difference of two bounds whose directions count as equally good
TOUCHING, AS_GOOD = 4.0, 64.0
#: a new vertex may increase |v| by at most this factor, in at most this many steps, since it may improve v's direction
_LONGER, _PATIENCE = 1.0 + 1e-15, 8

#: Steps before the simplex of separated curved cores is first moved to the stationary point of its branches, and the
#: steps between later moves.
_FIRST_TRIAL, _AGAIN = 3, 2

#: Floats of a cache row: the number of simplex points (0: empty), the axis in A's frame, then for each simplex point
#: the point of A in A's frame and the point of B in B's frame, and the rounding error of the query that computed them.
MEMORY = 29
_STORED_ERROR = MEMORY - 1
#: Cached points are used if their stored error is at most this multiple of the error of the new query. B's points are
#: stored in B's frame, and the points of a distant pair are off their shape by the rounding of the distance.
_AS_EXACT = 2.0
AXIS = 4  #: floats of a cache row without points


class Start(NamedTuple):
    """The start of GJK: the first direction, and the number of simplex rows that already contain points of A - B.

    If there are such rows, the simplex's point nearest to the origin determines the first direction. ``axis`` is then
    used only if this point is the origin.
    """

    axis: Vec3
    rows: int


class Walk(NamedTuple):
    """The result of GJK."""

    code: int  #: reason for the end
    rows: int  #: number of vertices of the simplex
    v: Vec3  #: the simplex's point nearest to the origin
    lower: float  #: largest lower bound of the distance
    axis: Vec3  #: direction of this bound, from A to B
    steps: int


@kernel
def first_four(s: Array) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return the vertices of A - B in rows 0 to 3. Unused rows contain arbitrary numbers."""
    return row3(s, 0), row3(s, 1), row3(s, 2), row3(s, 3)


@kernel
def set_row(s: Array, i: int, w: Vec3, a: Vec3, b: Vec3) -> None:
    """Store a vertex w of A - B in row i, with its point a of A and its point b of B."""
    s[i, 0], s[i, 1], s[i, 2] = w
    s[i, 3], s[i, 4], s[i, 5] = a
    s[i, 6], s[i, 7], s[i, 8] = b


@kernel
def set_weights(s: Array, l4: Vec4) -> None:
    """Store the barycentric coordinates ``l4`` of rows 0 to 3 of the simplex."""
    s[0, 9], s[1, 9], s[2, 9], s[3, 9] = l4


@kernel
def drop_zero_weights(s: Array, count: int, l4: Vec4) -> int:
    """Remove the vertices without a positive coordinate in ``l4``, store the other coordinates; return their number."""
    count_left = 0
    for i in range(count):
        if l4[i] > 0.0:
            if count_left < i:
                for j in range(9):
                    s[count_left, j] = s[i, j]
            s[count_left, 9] = l4[i]
            count_left += 1
    return count_left


@kernel
def witnesses(s: Array, count: int) -> tuple[Vec3, Vec3]:
    """Return the points of A and of B whose difference is the simplex's point nearest to the origin."""
    ax, ay, az = 0.0, 0.0, 0.0
    bx, by, bz = 0.0, 0.0, 0.0
    for i in range(count):
        t = s[i, 9]
        ax, ay, az = ax + t * s[i, 3], ay + t * s[i, 4], az + t * s[i, 5]
        bx, by, bz = bx + t * s[i, 6], by + t * s[i, 7], bz + t * s[i, 8]
    return (ax, ay, az), (bx, by, bz)


@kernel
def is_vertex(rows: Array, count: int, w: Vec3) -> bool:
    """Return whether w is equal to a vertex in the first ``count`` rows."""
    for i in range(count):  # noqa: SIM110, a generator does not compile
        if rows[i, 0] == w[0] and rows[i, 1] == w[1] and rows[i, 2] == w[2]:
            return True
    return False


@kernel
def nearest(s: Array, count: int, tiny: float) -> tuple[Vec3, Vec4, int]:
    """Return the simplex's point nearest to 0, its barycentric coordinates, and INSIDE, OUTSIDE or UNSURE for 0."""
    p0, p1, p2, p3 = first_four(s)
    if count == 4:
        return closest_on_tetrahedron(p0, p1, p2, p3, tiny)
    p, l4 = p0, (1.0, 0.0, 0.0, 0.0)
    if count == 2:
        p, l4 = closest_on_segment(p0, p1, tiny)
    elif count == 3:
        p, l4 = closest_on_triangle(p0, p1, p2, tiny)
    return p, l4, OUTSIDE


@kernel
def log_step(log: Array, d: Vec3, a: Vec3, b: Vec3, bounds: Vec3, s: Array, count: int) -> None:
    """Log a step: the direction d, the support points a and b, the bounds, and the simplex before the step.

    ``bounds`` are the lower bound of this step, and the best lower and upper bounds after it.
    """
    write(log, GJK_STEP)
    write3(log, d)
    write3(log, a)
    write3(log, b)
    write3(log, bounds)
    write(log, float(count))
    write_rows(log, s, count)


@kernel
def closer(c: Cores, s: Array, count: int, v: Vec3, width: float) -> tuple[Vec3, int]:
    """Move the vertices of the simplex along smooth parts of A - B's surface to a stationary point of the distance.

    Returns the point of the simplex that is nearest to the origin, and the number of rows of the simplex. The simplex
    is unchanged if the search fails, or if it does not lead nearer to the origin. See `find_stationary`.
    """
    for i in range(count):
        for j in range(9):
            s[BRANCH_ROWS + i, j] = s[i, j]
    stationary = find_stationary(c, s, count, divide(v, -sqrt(dot(v, v))), width)
    if stationary.branches == 0 or not dot(stationary.v, stationary.v) < dot(v, v):
        return v, count
    for i in range(stationary.branches):
        for j in range(10):
            s[i, j] = s[BRANCH_ROWS + i, j]
    return stationary.v, stationary.branches


@kernel
def gjk(c: Cores, start: Start, width: float, far: float, near: float, s: Array, log: Array) -> Walk:
    """Run GJK from ``start``, and return the bounds of the distance of the cores. The last simplex remains in ``s``.

    The loop ends when the difference of the bounds is at most ``width``. It ends earlier when the bounds prove that the
    distance minus the radii is more than ``far``, or at most ``near``.
    """
    axis, count, code, steps, level = unit(start.axis), start.rows, LIMIT, 0, 0
    lower, v, query_axis = -inf, (0.0, 0.0, 0.0), True
    smooth, trial = log.shape[0] == 0 and have_branches(c), _FIRST_TRIAL  # a trace shows only GJK's own steps
    if count > 0:  # from cached points
        v, l4, where = nearest(s, count, c.tiny)
        if where == INSIDE:
            set_weights(s, l4)
            w, a, b = support_pair(c, axis)
            return Walk(INSIDE_SIMPLEX, count, v, -dot(axis, w), axis, 1)
        count = drop_zero_weights(s, count, l4)
        query_axis = not dot(v, v) > (AS_GOOD * c.tiny) ** 2
    if query_axis:
        w, a, b = support_pair(c, axis)
        lower, steps = -dot(axis, w), 1
        if count == 0 or not dot(v, v) < dot(w, w):  # also if the new point is nearer than all cached ones
            set_row(s, 0, w, a, b)
            s[0, 9] = 1.0
            count, v = 1, w
        if lower - c.error - c.radii > far:
            return Walk(FAR, count, v, lower, axis, steps)
    while steps < MAX_STEPS:
        square = dot(v, v)
        length = sqrt(square)
        if length <= TOUCHING * c.tiny:
            code = AT_ORIGIN
            break
        if length + c.error - c.radii <= near:
            code = NEAR_ENOUGH
            break
        d = divide(v, -length)
        w, a, b = support_pair(c, d)
        steps += 1
        bound = -dot(d, w)
        # bounds that are equal to rounding have directions that differ by its square root; the latest one is kept
        if bound > lower - c.tiny:
            lower = max(lower, bound)
            axis = d
        if log.shape[0] > 0:
            log_step(log, d, a, b, (bound, lower, length), s, count)
        if lower - c.error - c.radii > far:
            code = FAR
            break
        # the bound of this direction, not the best bound: its difference from |v| also limits the error of the normal
        if length - bound <= width:
            if bound > lower - AS_GOOD * c.tiny:  # false if a large width ended the loop: EPA needs the best axis
                axis = d
            code = CONVERGED
            break
        if is_vertex(s, count, w):
            code = CONVERGED
            break
        set_row(s, count, w, a, b)
        count += 1
        p, l4, where = nearest(s, count, c.tiny)
        if where == INSIDE or (where == UNSURE and sqrt(dot(p, p)) <= TOUCHING * c.tiny):
            set_weights(s, l4)
            v = p
            code = INSIDE_SIMPLEX if where == INSIDE else AT_ORIGIN
            break
        if not dot(p, p) < square:
            # a new vertex may improve the direction of v, not its length; the number of such steps is limited
            level += 1
            # the new simplex is worse, or NaN: keep the old one
            if level > _PATIENCE or not l4[count - 1] > 0.0 or not dot(p, p) <= _LONGER * square:
                count -= 1
                code = STALLED
                break
        count = drop_zero_weights(s, count, l4)
        v = p
        if steps >= trial and smooth and lower > c.error:
            trial = steps + _AGAIN
            v, count = closer(c, s, count, v, width)
    return Walk(code, count, v, lower, axis, steps)


@kernel
def load_start(cache: Array, k: int, c: Cores, s: Array) -> Start:
    """Copy the points in row k of the cache, if it has any, to the simplex s, and return the start of GJK.

    B's points are moved to B's current pose.
    """
    # Points of a shape move with it, so the old simplex is a simplex of the new A - B, and the old axis is a good first
    # direction. Cached values are only a start: bounds are proven by new support points. Points that were computed at a
    # much larger distance are left out, because of their rounding.
    if cache.shape[0] == 0 or not cache[k, 0] > 0.0:
        return Start(direction_between(c.m), 0)
    axis = (cache[k, 1], cache[k, 2], cache[k, 3])
    if not cache[k, _STORED_ERROR] <= _AS_EXACT * c.error:
        return Start(axis, 0)
    count = int(cache[k, 0])
    for i in range(count):
        g = 4 + 6 * i
        a = (cache[k, g], cache[k, g + 1], cache[k, g + 2])
        b = place(c.m, (cache[k, g + 3], cache[k, g + 4], cache[k, g + 5]))
        set_row(s, i, sub(a, b), a, b)
    return Start(axis, count)


@inlined
def start_along(cache: Array, axis: Vec3) -> None:
    """Store a first direction of GJK without points in row 0 of a cache. A zero axis makes the row empty."""
    cache[0, 0], cache[0, _STORED_ERROR] = dot(axis, axis), inf
    cache[0, 1], cache[0, 2], cache[0, 3] = axis


@kernel
def store_start(cache: Array, k: int, c: Cores, s: Array, start: Start, walk: Walk) -> None:
    """Store the axis and the simplex of a finished GJK run in row k of the cache, unless the cache has no rows."""
    # A point that came from the cache keeps its numbers, because repeated conversions between frames would let it
    # drift. A row of `AXIS` floats stores only the axis, and only if it separates the cores.
    if cache.shape[0] == 0:
        return
    cache[k, 0] = float(walk.rows)
    cache[k, 1], cache[k, 2], cache[k, 3] = walk.axis
    if cache.shape[1] == AXIS:
        cache[k, 0] = 1.0 if walk.code == FAR else 0.0
        return
    old = 0  # cached points keep their order, and new ones follow
    for i in range(walk.rows):
        r = 4 + 6 * i
        b = (s[i, 6], s[i, 7], s[i, 8])
        local = turn_back(c.m, sub(b, offset(c.m)))
        for h in range(old, start.rows):
            g = 7 + 6 * h
            stored = (cache[k, g], cache[k, g + 1], cache[k, g + 2])
            if place(c.m, stored) == b:
                local = stored
                old = h + 1
                break
        cache[k, r], cache[k, r + 1], cache[k, r + 2] = s[i, 3], s[i, 4], s[i, 5]
        cache[k, r + 3], cache[k, r + 4], cache[k, r + 5] = local
    cache[k, _STORED_ERROR] = max(c.error, cache[k, _STORED_ERROR]) if old > 0 else c.error
