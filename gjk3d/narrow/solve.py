"""One pair from start to end.

GJK on the cores, EPA where that leaves a question, then the radii, and the interval both leave behind.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.simplex import INSIDE, closest_on_tetrahedron, closest_on_triangle
from gjk3d.geometry.vec3 import Vec3, dot
from gjk3d.narrow.box_box import WIDTH as BOX_WIDTH
from gjk3d.narrow.box_box import best_axis, overlapping_boxes
from gjk3d.narrow.cores import (
    Rigid,
    center_error,
    pair_size,
    relative_pose,
    rounding_error,
    support_pair,
    world_center,
)
from gjk3d.narrow.epa import CLOSED, FLAT, FULL, epa
from gjk3d.narrow.gjk import FAR, INSIDE_SIMPLEX, NEAR_ENOUGH, SIMPLEX, first_four, gjk, witnesses
from gjk3d.narrow.ties import concentric, meridian
from gjk3d.narrow.trace import put
from gjk3d.narrow.warm import recall, remember
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

SEPARATED, TOUCHING, OVERLAPPING, UNDECIDED, BEYOND = range(5)
UNSIGNED, SIGNED, EPA_ALWAYS = range(3)

# out rows: distance, lower, upper, normal, point a, point b; and status, steps, tight, workspace was full
FLOATS, INTS = 12, 4

_RADIUS, _RHO, _POLYTOPE = layout.RADIUS, layout.RHO, layout.POLYTOPE
_U = layout.UNIT_ROUNDOFF
_POINT, _BOX, _HEAD = layout.POINT, layout.BOX, layout.FLOAT_HEAD
#: promised widths, in units of the pair's size
WIDTH_POLYTOPE, WIDTH_CURVED = 1e-12, 4e-10
#: of polytopes' witnesses, in those units: how far they may be off the normal, how far apart they are asked again
OFF_AXIS, CLOSE = 5e-13, 1e-11
#: up to here nearly parallel axes cost less than the tie that EPA meets; in the same units
ASKEW = 1e-6


@kernel
def direction_between(m: tuple[float, ...]) -> Vec3:
    """Return the direction from A's centre to B's, the x axis where they coincide."""
    if m[9] == 0.0 and m[10] == 0.0 and m[11] == 0.0:
        return (1.0, 0.0, 0.0)
    return (m[9], m[10], m[11])


@kernel
def solve(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, pa: Array, i: int, pb: Array, j: int,
    mode: int, max_distance: float, tol: float, work: Array, table: Ints, room: int,
    out: Array, flags: Ints, k: int, cache: Array, log: Array,
) -> int:  # fmt: skip
    """Answer one pair into row k of ``out`` and ``flags``; return how many floats the log takes.

    A ``cache`` of any rows is where to start from, and is left for the next time.
    """
    m = relative_pose(pa, i, fa, oa, pb, j, fb, ob)
    size = pair_size(fa, oa, fb, ob, m)
    error = rounding_error(size, fa, oa, fb, ob, pa[i, 12]) + center_error(pa, i, fa, oa, pb, j, fb, ob)
    tiny = 16.0 * _U * size
    ra, rb = fa[oa + _RADIUS], fb[ob + _RADIUS]
    radii = ra + rb
    curved = qa[ia + _POLYTOPE] == 0 or qb[ib + _POLYTOPE] == 0
    promised = (WIDTH_CURVED if curved else WIDTH_POLYTOPE) * size + 2.0 * error
    if qa[ia] == _BOX and qb[ib] == _BOX and mode == SIGNED and log.shape[0] == 0:
        settled, distance, upper, n, a, b = overlapping_boxes(fa, oa + _HEAD, fb, ob + _HEAD, m, size, error)
        if settled:
            finish(
                pa, i, fa, oa, n, a, b, distance, distance - error, upper, True, ra, rb, promised, size, mode,
                max_distance, int(np.int64(0)), int(np.int64(1)), out, flags, k,
            )  # fmt: skip
            return int(np.int64(0))
    # polytopes end where no support point is new: there the normal is good too, not only the distance
    width = max(1e-13 * size if curved else 0.0, tol * size - 2.0 * error)
    s = work[:SIMPLEX].reshape(6, 10)
    start = direction_between(m)
    given = int(np.int64(0))
    warm = cache.shape[0] > 0
    if warm and cache[k, 0] > 0.0:
        given = recall(cache, k, m, s)
        start = (cache[k, 1], cache[k, 2], cache[k, 3])
    code, count, v, low, axis, steps, at = gjk(
        qa, ia, fa, oa, qb, ib, fb, ob, m, start, error, tiny, width, radii, max_distance, -inf, given,
        s, log, int(np.int64(0)),
    )  # fmt: skip
    if warm:
        remember(cache, k, m, s, count, axis, given)
    if log.shape[0] > 0:
        at = put(log, at, 4.0)
        at = put(log, at, float(code))
        at = put(log, at, float(count))
        for r in range(4):
            for c in range(10):
                at = put(log, at, s[r, c] if r < count else 0.0)
    # the cores' signed distance lies in [lower, upper]; v is A's witness less B's
    length = sqrt(dot(v, v))
    lower = low - error
    upper = length + error
    a, b = witnesses(s, count)
    distance = length
    proven = code == INSIDE_SIMPLEX
    three = int(np.int64(3))
    full = 0
    loose = tol * size > promised and upper - lower <= tol * size
    unsure = proven or not (loose or (upper - lower <= promised and lower > 0.0))
    far = lower - radii > max_distance
    wanted = mode != UNSIGNED or not proven
    touching = unsure and mode == UNSIGNED and not proven and upper - radii <= 0.0
    if (mode == EPA_ALWAYS or (unsure and wanted and not touching)) and not far:
        ecode = CLOSED
        settled = False
        near = max(width, tiny if not curved else 1e-11 * size)
        esteps, least, outer, front, back = 0, -low, inf, -1.0, -1.0
        gjk_axis = axis
        if curved and mode != EPA_ALWAYS:  # families of ties
            settled, esteps, least, axis, outer, front, back = concentric(
                qa, ia, fa, oa, qb, ib, fb, ob, m, 0.25 * promised, least, axis, work
            )
            if not settled:
                settled, esteps, least, axis, outer, front, back = meridian(
                    qa, ia, fa, oa, qb, ib, fb, ob, m, error, tiny, near, ASKEW * size, least, axis, work
                )
        wide = settled and least + outer > promised - 2.0 * error  # axes only nearly parallel: EPA may know better
        section = (least, axis, outer, front, witnesses(s, three))
        if wide and -low < least:  # GJK's direction, which is none of the section's plane, is better
            least, axis = -low, gjk_axis
        if not settled or wide:
            steps += esteps
            ecode, esteps, least, axis, outer, front, back, at = epa(
                qa, ia, fa, oa, qb, ib, fb, ob, m, error, tiny, near, mode == UNSIGNED,
                count if proven and not wide else int(np.int64(0)), least, axis, work, table, room, log, at,
            )  # fmt: skip
        steps += esteps
        full = 1 if ecode == FULL else 0
        back_to_section = (
            wide and mode != UNSIGNED and section[0] + section[2] < (least - front if front >= 0.0 else inf)
        )
        if back_to_section:  # what it shows is narrower than what EPA's points show
            least, axis, outer, front, _ = section
            lower = -least - error  # what another direction proves is no bound along this one
        elif wide and front >= 0.0:
            outer = max(min(outer, section[2]), -front)
        lower = max(lower, -least - error)
        if outer < inf:
            upper = min(upper, outer + error)
        if front >= 0.0:  # the origin is inside: overlap
            if mode != UNSIGNED:
                distance = -front
                a, b = section[4] if back_to_section else witnesses(s, three)
            elif not (proven or length <= 4.0 * tiny):
                for r in range(6):  # one common point: the origin, between where the ray enters and leaves
                    s[r, 9] *= (back if r < 3 else front) / (front + back)
                a, b = witnesses(s, three + 3)
            proven = True
        elif ecode != FLAT:
            p0, p1, p2, _ = first_four(s)
            p, l4 = closest_on_triangle(p0, p1, p2, tiny)
            reach = sqrt(dot(p, p))
            if reach < length or (mode == EPA_ALWAYS and reach <= length + tiny):
                length = reach
                distance = length
                upper = min(upper, length + error)
                v = p
                s[0, 9], s[1, 9], s[2, 9], s[3, 9] = l4
                a, b = witnesses(s, three)
    n = axis  # what proved the lower bound: near contact v is all rounding, even its sign
    if not proven and length > 4.0 * tiny and not (mode == UNSIGNED and upper <= radii):
        wide = upper - lower > promised
        d = (-v[0] / length, -v[1] / length, -v[2] / length)
        x = (v[0] + length * n[0], v[1] + length * n[1], v[2] + length * n[2])
        askew = sqrt(dot(x, x))  # as far is a witness off its shape
        if wide and (tol > 0.0 or lower - radii > max_distance):
            n = d  # stopped early: the witnesses are what is known
        elif (curved or wide) and askew > 0.25 * promised:
            w, _, _ = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
            if length + dot(d, w) <= (upper - lower if wide else 0.5 * promised):
                n = d  # as good a normal, to what is known, and the witnesses' own
            elif wide:
                a = (a[0] - 0.5 * x[0], a[1] - 0.5 * x[1], a[2] - 0.5 * x[2])  # half of it for each
        elif askew > OFF_AXIS * size and length > CLOSE * size and not curved:
            a, b = closer_up(qa, ia, fa, oa, qb, ib, fb, ob, m, error, tiny, size, length, n, a, b, s, log)
    if proven:
        upper = min(upper, 0.0)
    if proven and mode == UNSIGNED:
        distance = 0.0
        # a point has no other common point; a simplex of a needle's would miss it by the rounding of its weights
        if qa[ia] == _POINT:
            a = b = (0.0, 0.0, 0.0)
        elif qb[ib] == _POINT:
            a = b = (m[9], m[10], m[11])
    finish(
        pa, i, fa, oa, n, a, b, distance, lower, upper, proven, ra, rb, promised, size, mode, max_distance,
        full, steps, out, flags, k,
    )  # fmt: skip
    return at


@kernel
def closer_up(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid,
    error: float, tiny: float, size: float, length: float, n: Vec3, a: Vec3, b: Vec3, s: Array, log: Array,
) -> tuple[Vec3, Vec3]:  # fmt: skip
    """Return the witnesses of polytopes whose axis n is known better than v, which are a and b.

    Between faces far apart GJK ends where |v| is least to rounding, and v is still askew by the root of that. So the
    gap is closed along n, and GJK run again: near contact the same rounding leaves v askew by next to nothing.
    """
    t = length - CLOSE * size
    near = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9] - t * n[0], m[10] - t * n[1], m[11] - t * n[2])
    code, count, v, _, _, _, _ = gjk(
        qa, ia, fa, oa, qb, ib, fb, ob, near, n, error, tiny, 0.0, 0.0, inf, -inf, int(np.int64(0)), s, log[:0],
        int(np.int64(0)),
    )  # fmt: skip
    if code == INSIDE_SIMPLEX or dot(v, v) > (4.0 * CLOSE * size) ** 2:
        return a, b
    a, b = witnesses(s, count)
    return a, (b[0] + t * n[0], b[1] + t * n[1], b[2] + t * n[2])


@kernel
def finish(
    pa: Array, i: int, fa: Array, oa: int, n: Vec3, a: Vec3, b: Vec3, distance: float,
    lower: float, upper: float, proven: bool,
    ra: float, rb: float, promised: float, size: float, mode: int, max_distance: float, full: int, steps: int,
    out: Array, flags: Ints, k: int,
) -> None:  # fmt: skip
    """Add the radii to the cores' answer, name its status, and write it in world axes."""
    radii = ra + rb
    lower -= radii
    upper -= radii
    distance -= radii
    if mode == UNSIGNED and (proven or upper <= 0.0):
        # one common point: on the segment between the cores' witnesses, within ra of one and rb of the other
        proven = True
        t = ra / radii if radii > 0.0 else 0.5
        a = (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]))
        b = a
        distance, lower, upper = 0.0, 0.0, 0.0
    else:
        a = (a[0] + ra * n[0], a[1] + ra * n[1], a[2] + ra * n[2])
        if mode == UNSIGNED:
            lower = max(lower, 0.0)
            upper = max(upper, 0.0)
            distance = max(distance, 0.0)
        distance = min(max(distance, lower), upper)
        b = (a[0] + distance * n[0], a[1] + distance * n[1], a[2] + distance * n[2])
    if lower > 0.0:
        status = BEYOND if lower > max_distance else SEPARATED
    elif upper < 0.0 or proven:
        status = OVERLAPPING
    elif upper - lower <= promised:
        status = TOUCHING
    else:
        status = UNDECIDED
    out[k, 0] = distance
    out[k, 1] = lower
    out[k, 2] = upper
    center = world_center(pa, i, fa, oa)
    for r in range(3):
        x, y, z = pa[i, 3 * r], pa[i, 3 * r + 1], pa[i, 3 * r + 2]
        t = center[r]
        out[k, 3 + r] = x * n[0] + y * n[1] + z * n[2]
        out[k, 6 + r] = x * a[0] + y * a[1] + z * a[2] + t
        out[k, 9 + r] = x * b[0] + y * b[1] + z * b[2] + t
    flags[k, 0] = status
    flags[k, 1] = steps
    flags[k, 2] = 1 if upper - lower <= promised else 0
    flags[k, 3] = full


@kernel
def quick_collide(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, pa: Array, i: int, pb: Array, j: int,
    margin: float, simplex: Array, cache: Array, k: int, log: Array,
) -> int:  # fmt: skip
    """Return 0 where sd > margin is proven, 1 where sd <= margin is, 2 where only `solve` can tell.

    The same GJK with early exits. Its bounds are among those of `solve`, so the boolean and the interval never
    disagree. Asked first are the balls round both, and what row k of a ``cache`` remembers: where these part the two
    by more than the width of an answer, or four points are round the origin, the long way has no other answer left.
    It is taken cold.
    """
    m = relative_pose(pa, i, fa, oa, pb, j, fb, ob)
    size = pair_size(fa, oa, fb, ob, m)
    error = rounding_error(size, fa, oa, fb, ob, pa[i, 12]) + center_error(pa, i, fa, oa, pb, j, fb, ob)
    radii = fa[oa + _RADIUS] + fb[ob + _RADIUS]
    tiny = 16.0 * _U * size
    clear = margin + radii + 4.0 * error + WIDTH_CURVED * size
    if sqrt(m[9] * m[9] + m[10] * m[10] + m[11] * m[11]) - fa[oa + _RHO] - fb[ob + _RHO] > clear:
        return 0
    if qa[ia] == _BOX and qb[ib] == _BOX:
        gap, _, widest, sure = best_axis(fa, oa + _HEAD, fb, ob + _HEAD, m, clear)
        if gap > clear:
            return 0
        depth = -widest - BOX_WIDTH * size - error
        if sure and depth > 0.0 and -depth - radii <= margin:
            return 1
    warm = cache.shape[0] > 0
    if warm and cache[k, 0] > 0.0:
        axis = (cache[k, 1], cache[k, 2], cache[k, 3])
        w, _, _ = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, axis)
        if -dot(axis, w) > clear:
            return 0
        if cache[k, 0] == 4.0 and -radii <= margin and margin >= 0.0:
            recall(cache, k, m, simplex)
            p0, p1, p2, p3 = first_four(simplex)
            _, _, where = closest_on_tetrahedron(p0, p1, p2, p3, tiny)
            if where == INSIDE:
                return 1
    curved = qa[ia + _POLYTOPE] == 0 or qb[ib + _POLYTOPE] == 0
    width = 1e-13 * size if curved else 0.0
    code, count, _, _, axis, _, _ = gjk(
        qa, ia, fa, oa, qb, ib, fb, ob, m, direction_between(m), error, tiny, width, radii, margin, margin,
        int(np.int64(0)), simplex, log, int(np.int64(0)),
    )  # fmt: skip
    if warm:
        remember(cache, k, m, simplex, count, axis, int(np.int64(0)))
    if code == FAR:
        return 0
    if code == NEAR_ENOUGH or (code == INSIDE_SIMPLEX and -radii <= margin):
        return 1
    return 2
