"""Translation of B along a direction until the surfaces of two meshes separate, into the first free interval.

While B moves along a direction, two triangles intersect during one time interval. Projected along the direction, they
intersect where their shadows overlap, and the times are the differences of their heights there. The extremes are at
corners of one triangle over the other and at crossings of edges. Boxes intersect during one interval as well, so a
traversal of both trees finds a pair that blocks a time. B then continues at the end of its interval, until no pair
blocks.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.mesh_trees import box_pose
from gjk3d.bodies.triangles import Triangle, placed_triangle, read
from gjk3d.geometry.vec3 import NO_LENGTH, Rigid, Vec3, cross, dot, sub
from gjk3d.typing import Array, Ints

Faces = tuple[Array, Ints, Array]  #: the tree of a mesh: boxes, links, corners

NEVER = 1e308


class Sweep(NamedTuple):
    """Two meshes, B at a pose in A's frame, and the direction of B."""

    a: Faces
    b: Faces
    m: Rigid
    d: Vec3  #: unit
    u: Vec3  #: across
    v: Vec3
    noise: float


class Walk(NamedTuple):
    """Scratch of the traversal: blocking pairs of nodes with end times, and waiting pairs with intervals."""

    stack: Ints
    highs: Array
    later: Ints
    spans: Array


_SWEEPS = 64  #: over all walls
_SETTLED = 1e-12  #: part of the vector by which a sweep that changes no more is the last
_GRAZING = 0.05  #: least sine between the direction and a face that noise is divided by


@inlined
def _onto(t: Triangle, u: Vec3, v: Vec3, d: Vec3) -> Triangle:
    """Return the shadow of a triangle with its heights."""
    return (
        (dot(t[0], u), dot(t[0], v), dot(t[0], d)),
        (dot(t[1], u), dot(t[1], v), dot(t[1], d)),
        (dot(t[2], u), dot(t[2], v), dot(t[2], d)),
    )


@inlined
def _side(a: Vec3, b: Vec3, p: Vec3) -> float:
    """Return twice the signed area of p and an edge in the shadow."""
    return (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0])


@inlined
def _above(p: Vec3, t: Triangle) -> tuple[bool, float]:
    """Return whether p is over a triangle, and its height above it."""
    x, y, z = _side(t[1], t[2], p), _side(t[2], t[0], p), _side(t[0], t[1], p)
    total = x + y + z
    if total == 0.0 or min(x, y, z) < 0.0 < max(x, y, z):
        return False, 0.0
    return True, p[2] - (x * t[0][2] + y * t[1][2] + z * t[2][2]) / total


@inlined
def _over_edge(a: Vec3, b: Vec3, p: Vec3, q: Vec3) -> tuple[bool, float]:
    """Return whether the shadows of two edges cross, and the height of the first above the second."""
    e0, e1, f0, f1 = b[0] - a[0], b[1] - a[1], q[0] - p[0], q[1] - p[1]
    turn = e0 * f1 - e1 * f0
    if turn == 0.0:
        return False, 0.0
    s = ((p[0] - a[0]) * f1 - (p[1] - a[1]) * f0) / turn
    r = ((p[0] - a[0]) * e1 - (p[1] - a[1]) * e0) / turn
    if not (0.0 <= s <= 1.0 and 0.0 <= r <= 1.0):
        return False, 0.0
    return True, a[2] + s * (b[2] - a[2]) - p[2] - r * (q[2] - p[2])


@kernel
def _shadows_apart(s: Triangle, t: Triangle, noise: float) -> bool:
    """Return whether two shadows are apart or only touch; triangles that slide along the direction block nothing."""
    for k in range(6):
        a, b = (s[k % 3], s[(k + 1) % 3]) if k < 3 else (t[k % 3], t[(k + 1) % 3])
        x, y = a[1] - b[1], b[0] - a[0]
        low_s, high_s = NEVER, -NEVER
        low_t, high_t = NEVER, -NEVER
        for i in range(3):
            p, q = x * (s[i][0] - a[0]) + y * (s[i][1] - a[1]), x * (t[i][0] - a[0]) + y * (t[i][1] - a[1])
            low_s, high_s, low_t, high_t = min(low_s, p), max(high_s, p), min(low_t, q), max(high_t, q)
        if max(low_s - high_t, low_t - high_s) > -noise * sqrt(x * x + y * y):
            return True
    return False


@kernel
def _span(s: Triangle, t: Triangle) -> tuple[float, float, int]:
    """Return the interval in which two triangles intersect, and its last contact: a corner of s, of t, or two edges."""
    low, high, last = NEVER, -NEVER, -1
    for k in range(3):
        over, height = _above(s[k], t)
        if over:
            low = min(low, height)
            if height > high:
                high, last = height, 0
        over, height = _above(t[k], s)
        if over:
            low = min(low, -height)
            if -height > high:
                high, last = -height, 1
    for i in range(3):
        for j in range(3):
            over, height = _over_edge(s[i], s[(i + 1) % 3], t[j], t[(j + 1) % 3])
            if over:
                low = min(low, height)
                if height > high + 1e-12 * abs(high):  # a corner says more than edges that end in it
                    high, last = height, 2 + 3 * i + j
    return low, high, last


@kernel
def _wall(s: Triangle, t: Triangle, d: Vec3, last: int) -> Vec3:
    """Return the unit normal, along d, of the last contact of two triangles; d itself if there is none."""
    if last == 0:
        n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    elif last == 1:
        n = cross(sub(s[1], s[0]), sub(s[2], s[0]))
    else:
        i, j = (last - 2) // 3, (last - 2) % 3
        n = cross(sub(s[(i + 1) % 3], s[i]), sub(t[(j + 1) % 3], t[j]))
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return d
    f = (1.0 if dot(n, d) >= 0.0 else -1.0) / length
    return (f * n[0], f * n[1], f * n[2])


@kernel
def _past(sweep: Sweep, s: Triangle, t: Triangle, time: float, wall: Array) -> tuple[float, float]:
    """Return the end time of a blocking pair, otherwise the present time and the earliest time it may block."""
    d, noise = sweep.d, sweep.noise
    over, under = _onto(s, sweep.u, sweep.v, d), _onto(t, sweep.u, sweep.v, d)
    first = min(over[0][2], over[1][2], over[2][2]) - max(under[0][2], under[1][2], under[2][2]) - noise
    if first > time:
        return time, first
    if max(over[0][2], over[1][2], over[2][2]) - min(under[0][2], under[1][2], under[2][2]) + noise < time:
        return time, NEVER
    if _shadows_apart(over, under, 4.0 * noise):
        return time, NEVER
    low, high, last = _span(over, under)
    if last < 0 or high + noise < time:
        return time, NEVER
    if low - noise > time:
        return time, low - noise
    n = _wall(s, t, d, last)
    wall[0], wall[1], wall[2] = n[0], n[1], n[2]
    return high + noise + 2.0 * noise / max(dot(n, d), _GRAZING), NEVER


@kernel
def _box_span(sweep: Sweep, i: int, j: int) -> tuple[float, float]:
    """Return the interval in which two boxes may intersect, by the axes of each."""
    ba, bb, d = sweep.a[0], sweep.b[0], sweep.d
    to = box_pose(sweep.m, ba, i, bb, j)
    e = (
        ba[i, 6] * d[0] + ba[i, 7] * d[1] + ba[i, 8] * d[2],
        ba[i, 9] * d[0] + ba[i, 10] * d[1] + ba[i, 11] * d[2],
        ba[i, 12] * d[0] + ba[i, 13] * d[1] + ba[i, 14] * d[2],
    )
    low, high = -NEVER, NEVER
    for k in range(6):
        if k < 3:
            x, y, z = to[3 * k], to[3 * k + 1], to[3 * k + 2]
            far, speed = to[9 + k], e[k]
            half = ba[i, 3 + k] + abs(x) * bb[j, 3] + abs(y) * bb[j, 4] + abs(z) * bb[j, 5] + sweep.noise
        else:
            x, y, z = to[k - 3], to[k], to[k + 3]
            far, speed = to[9] * x + to[10] * y + to[11] * z, e[0] * x + e[1] * y + e[2] * z
            half = bb[j, k] + abs(x) * ba[i, 3] + abs(y) * ba[i, 4] + abs(z) * ba[i, 5] + sweep.noise
        # the boxes do not move along this axis: they overlap on it always or never
        if abs(speed) < 1e-12:
            if abs(far) > half:
                return NEVER, -NEVER
            continue
        first, second = (-half - far) / speed, (half - far) / speed
        low, high = max(low, min(first, second)), min(high, max(first, second))
    return low, high


@kernel
def _shadow_axes(d: Vec3) -> tuple[Vec3, Vec3]:
    """Return two unit vectors perpendicular to a unit vector."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    n = cross(d, axis)
    f = 1.0 / sqrt(dot(n, n))
    u = (f * n[0], f * n[1], f * n[2])
    return u, cross(d, u)


@kernel
def _past_leaves(sweep: Sweep, i: int, j: int, time: float, wall: Array) -> tuple[float, float]:
    """Return the result of `_past` for all triangles of two leaves."""
    (_, la, ca), (_, lb, cb) = sweep.a, sweep.b
    soonest = NEVER
    for q in range(lb[j, 1], lb[j, 1] + lb[j, 2]):
        t = placed_triangle(sweep.m, cb, q)
        for p in range(la[i, 1], la[i, 1] + la[i, 2]):
            time, low = _past(sweep, read(ca, p), t, time, wall)
            soonest = min(soonest, low)
    return time, soonest


@inlined
def _push_pair(w: Walk, top: int, i: int, j: int, high: float) -> None:
    w.stack[top, 0], w.stack[top, 1], w.highs[top] = i, j, high


@kernel
def _wait(w: Walk, waiting: int, i: int, j: int, low: float, high: float) -> int:
    """Store a pair that does not block yet; return the number of waiting pairs.

    If the list is full, its first entry becomes the root pair with the earlier of both times.
    """
    if waiting < w.later.shape[0]:
        w.later[waiting, 0], w.later[waiting, 1] = i, j
        w.spans[waiting, 0], w.spans[waiting, 1] = low, high
        return waiting + 1
    w.later[0, 0], w.later[0, 1], w.spans[0, 0], w.spans[0, 1] = 0, 0, min(low, w.spans[0, 0]), NEVER
    return waiting


@kernel
def _awake(w: Walk, waiting: int, time: float) -> tuple[int, int]:
    """Move pairs that block by now from the waiting list to the stack; return the sizes of stack and list."""
    waiting_count, top = 0, 0
    for k in range(waiting):
        low, high = w.spans[k, 0], w.spans[k, 1]
        if high < time:
            continue
        if low <= time and top < w.stack.shape[0] // 2:
            _push_pair(w, top, w.later[k, 0], w.later[k, 1], high)
            top += 1
            continue
        w.later[waiting_count, 0], w.later[waiting_count, 1], w.spans[waiting_count, 0], w.spans[waiting_count, 1] = (
            w.later[k, 0],
            w.later[k, 1],
            low,
            high,
        )
        waiting_count += 1
    return top, waiting_count


@kernel
def _open(sweep: Sweep, w: Walk, i: int, j: int, time: float, most: float, top: int, waiting: int) -> tuple[int, int]:
    """Push the children of a pair of nodes, the pair that blocks longest on top; return the sizes as `_awake`."""
    (ba, la, _), (bb, lb, _) = sweep.a, sweep.b
    larger = ba[i, 3] + ba[i, 4] + ba[i, 5] >= bb[j, 3] + bb[j, 4] + bb[j, 5]
    of_a, before = lb[j, 0] < 0 or (la[i, 0] >= 0 and larger), top
    for k in range(2):
        p, q = (la[i, 0] + k, j) if of_a else (i, lb[j, 0] + k)
        low, high = _box_span(sweep, p, q)
        if low > high or high < time or low > most:
            continue
        if low > time:
            waiting = _wait(w, waiting, p, q, low, high)
            continue
        _push_pair(w, top, p, q, high)
        top += 1
    if top == before + 2 and w.highs[before] > w.highs[before + 1]:
        p, q, high = w.stack[before, 0], w.stack[before, 1], w.highs[before]
        _push_pair(w, before, w.stack[before + 1, 0], w.stack[before + 1, 1], w.highs[before + 1])
        _push_pair(w, before + 1, p, q, high)
    return top, waiting


@kernel
def parting(
    m: Rigid, d: Vec3, start: float, most: float, noise: float, a: Faces, b: Faces, w: Walk, wall: Array
) -> float:
    """Return the translation of B along d, at least ``start``, at which the surfaces separate; NEVER beyond ``most``.

    The result is not proven, since rounding may hide a pair. ``wall`` becomes the normal of the last obstacle, 0 for
    none.
    """
    u, v = _shadow_axes(d)
    sweep = Sweep(a, b, m, d, u, v, noise)
    time, top, waiting = start, plain(1), plain(0)
    wall[0] = wall[1] = wall[2] = 0.0
    _push_pair(w, 0, 0, 0, NEVER)
    while top > 0:
        top -= 1
        i, j, high = w.stack[top, 0], w.stack[top, 1], w.highs[top]
        if high >= time and (a[1][i, 0] >= 0 or b[1][j, 0] >= 0):
            top, waiting = _open(sweep, w, i, j, time, most, top, waiting)
        elif high >= time:
            time, low = _past_leaves(sweep, i, j, time, wall)
            if time > most:
                return NEVER
            if low <= most:
                waiting = _wait(w, waiting, i, j, low, high)
        # no pair blocks the present time: pairs whose interval has begun are tested next
        if top == 0:
            top, waiting = _awake(w, waiting, time)
    return time


@kernel
def past_all(walls: Array, count: int) -> Vec3:
    """Return about the least vector x with n x >= far for all walls (n, far, room), by Hildreth's sweeps, 1957."""
    x = y = z = 0.0
    for k in range(count):
        walls[k, 4] = 0.0
    for _ in range(_SWEEPS if count > 1 else 1):
        moved = 0.0
        for k in range(count):
            along = walls[k, 0] * x + walls[k, 1] * y + walls[k, 2] * z
            step = max(-walls[k, 4], walls[k, 3] - along)
            walls[k, 4] += step
            moved = max(moved, abs(step))
            x, y, z = x + step * walls[k, 0], y + step * walls[k, 1], z + step * walls[k, 2]
        if moved <= _SETTLED * max(abs(x), abs(y), abs(z)):
            break
    return x, y, z
