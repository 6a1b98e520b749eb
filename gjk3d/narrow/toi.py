"""When two moving cores first come close: conservative advancement whose steps are proven.

Each body turns at a constant rate about a point that moves straight. With the direction n from A to B fixed in the
world, a point at r from its reference point moves along n by s n.v + s (n x w).r to first order, and its acceleration
along n is never more than sin(n, w) |w|^2 rho, rho being its distance from the axis. So for the time s from now

    phi(s) = min_B r.(n + s n x w_B) - max_A r.(n + s n x w_A) + n.(c_B - c_A + s (v_B - v_A)) - K s^2 / 2,
    K = sin(n, w_A) |w_A|^2 rho_A + sin(n, w_B) |w_B|^2 rho_B

is below the true distance, and it is concave: the least of linear functions less a square. Where phi is enough now and
at s, it is enough all the way between, which proves the whole step free. Two support points evaluate it. For bodies
that only translate it is van den Bergen's ray cast step (Ray Casting against General Convex Objects, 2004); the first
order form is Mirtich's (Impulse-based Dynamic Simulation, 1996, sec. 2.3).
"""

from __future__ import annotations

from math import cos, inf, sin, sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot
from gjk3d.narrow.cores import Rigid, pair_size, relative_pose, rounding_error
from gjk3d.narrow.gjk import INSIDE_SIMPLEX, gjk, witnesses
from gjk3d.narrow.solve import direction_between
from gjk3d.narrow.warm import recall, remember
from gjk3d.shapes import layout
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Ints

#: of a motion row: its first rotation by rows, the reference point's place, its whole way, the whole rotation vector,
#: and the reference point in the body's frame
MOTION = 21
_WAY, _TURN, _REFERENCE, _START = 12, 15, 18, 9
FREE, HIT, UNRESOLVED, STARTED = range(4)
#: a way of so many steps that each are proven and none gets anywhere is given up, and said to be so
MAX_STEPS = 2000
#: of a step, how well its end is known
CLOSE_ENOUGH = 0.05
_RADIUS, _RHO, _CENTER = layout.RADIUS, layout.RHO, layout.CENTER
_U = layout.UNIT_ROUNDOFF


@kernel
def place(motions: Array, k: int, t: float, poses: Array, i: int) -> None:
    """Write where a body is at time t into pose row i."""
    x, y, z = t * motions[k, _TURN], t * motions[k, _TURN + 1], t * motions[k, _TURN + 2]
    angle = sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        for j in range(9):
            poses[i, j] = motions[k, j]
    else:
        x, y, z = x / angle, y / angle, z / angle
        c, s = cos(angle), sin(angle)
        v = 2.0 * sin(0.5 * angle) * sin(0.5 * angle)
        t00, t01, t02 = c + v * x * x, v * x * y - s * z, v * x * z + s * y
        t10, t11, t12 = v * x * y + s * z, c + v * y * y, v * y * z - s * x
        t20, t21, t22 = v * x * z - s * y, v * y * z + s * x, c + v * z * z
        for j in range(3):
            p, q, r = motions[k, j], motions[k, 3 + j], motions[k, 6 + j]
            poses[i, j] = t00 * p + t01 * q + t02 * r
            poses[i, 3 + j] = t10 * p + t11 * q + t12 * r
            poses[i, 6 + j] = t20 * p + t21 * q + t22 * r
    x, y, z = motions[k, _REFERENCE], motions[k, _REFERENCE + 1], motions[k, _REFERENCE + 2]
    for j in range(3):
        turned = poses[i, 3 * j] * x + poses[i, 3 * j + 1] * y + poses[i, 3 * j + 2] * z
        poses[i, 9 + j] = motions[k, _START + j] + t * motions[k, _WAY + j] - turned
    poses[i, 12] = 8.0 * _U


@kernel
def places(motions: Array, times: Array, poses: Array) -> None:
    """Write where each body is at its time."""
    for k in range(times.shape[0]):
        place(motions, k if motions.shape[0] > 1 else 0, times[k], poses, k)


@kernel
def in_frame(poses: Array, i: int, x: float, y: float, z: float) -> Vec3:
    """Return a vector of the world in the frame of a pose row."""
    return (
        poses[i, 0] * x + poses[i, 3] * y + poses[i, 6] * z,
        poses[i, 1] * x + poses[i, 4] * y + poses[i, 7] * z,
        poses[i, 2] * x + poses[i, 5] * y + poses[i, 8] * z,
    )


@kernel
def arm(motions: Array, k: int, f: Array, o: int) -> Vec3:
    """Return the core's centre from the reference point, in the body's frame."""
    return (
        f[o + _CENTER] - motions[k, _REFERENCE],
        f[o + _CENTER + 1] - motions[k, _REFERENCE + 1],
        f[o + _CENTER + 2] - motions[k, _REFERENCE + 2],
    )


@kernel
def bend(n: Vec3, w: Vec3, r: Vec3, rho: float) -> float:
    """Bound how fast any point of a core within ``rho`` of r can gain speed along n, turning by w."""
    square = dot(w, w)
    if square == 0.0:
        return 0.0
    a, b = cross(n, w), cross(r, w)
    return sqrt(dot(a, a)) * (sqrt(dot(b, b)) + rho * sqrt(square)) * (1.0 + 16.0 * _U)


@kernel
def phi(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid, solid: bool, n: Vec3,
    tilt_a: Vec3, tilt_b: Vec3, fixed: float, rate: float, k: float, s: float,
) -> tuple[float, float]:  # fmt: skip
    """Return phi(s) and its slope; ``fixed`` and ``rate`` are of all that is no support point."""
    da = (n[0] + s * tilt_a[0], n[1] + s * tilt_a[1], n[2] + s * tilt_a[2])
    db = (n[0] + s * tilt_b[0], n[1] + s * tilt_b[1], n[2] + s * tilt_b[2])
    value, slope = fixed + s * rate - 0.5 * k * s * s, rate - k * s
    if solid:
        a = support(qa, ia, fa, oa, da)
        value -= dot(a, da)
        slope -= dot(a, tilt_a)
    e = (
        -(m[0] * db[0] + m[3] * db[1] + m[6] * db[2]),
        -(m[1] * db[0] + m[4] * db[1] + m[7] * db[2]),
        -(m[2] * db[0] + m[5] * db[1] + m[8] * db[2]),
    )
    p = support(qb, ib, fb, ob, e)
    b = (
        m[0] * p[0] + m[1] * p[1] + m[2] * p[2],
        m[3] * p[0] + m[4] * p[1] + m[5] * p[2],
        m[6] * p[0] + m[7] * p[1] + m[8] * p[2],
    )
    return value + dot(b, db), slope + dot(b, tilt_b)


@kernel
def root(spare: float, slope: float, k: float) -> float:
    """Return where spare + slope h - k h^2 / 2 passes zero downwards; infinite or NaN where it never does."""
    d = sqrt(slope * slope + 2.0 * k * spare)
    if slope > 0.0:
        return (slope + d) / k
    return 2.0 * spare / (d - slope)


@kernel
def farthest(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid, solid: bool, n: Vec3,
    tilt_a: Vec3, tilt_b: Vec3, fixed: float, rate: float, k: float, enough: float, aim: float, most: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the longest step found with phi >= enough all along, at most ``most``; and phi's slope at its beginning.

    All but the square is concave: tangents of it bound phi's root from the right, chords from the left. They go for
    ``aim``, which is more than enough by the rounding of phi.
    """
    left, right = 0.0, 0.0
    low, first = phi(qa, ia, fa, oa, qb, ib, fb, ob, m, solid, n, tilt_a, tilt_b, fixed, rate, k, left)
    if not low > aim:
        return 0.0, first
    value, slope = low, first
    for _ in range(8):
        tangent = right + root(value - aim, slope, k)
        if right > 0.0 and not left < tangent < right:
            break
        right = tangent if tangent < most else most
        value, slope = phi(qa, ia, fa, oa, qb, ib, fb, ob, m, solid, n, tilt_a, tilt_b, fixed, rate, k, right)
        if value >= enough:
            return right, first
        chord = (value + 0.5 * k * right * right - low - 0.5 * k * left * left) / (right - left) - k * left
        further = left + root(low - aim, chord, k)
        if not left < further < right:
            break
        low += (further - left) * (chord - 0.5 * k * (further - left))
        left = further
        if right - left <= CLOSE_ENOUGH * left or not low > aim:
            break
    return left, first


@kernel
def drift(motions: Array, k: int) -> float:
    """Bound by how much a body is not quite where `place` says, but for what its size makes of its turn's rounding."""
    still = True
    total = 0.0
    for c in range(3):
        still = still and motions[k, _WAY + c] == 0.0 and motions[k, _TURN + c] == 0.0
        total += abs(motions[k, _START + c]) + abs(motions[k, _WAY + c]) + 2.0 * abs(motions[k, _REFERENCE + c])
    return 0.0 if still else 8.0 * _U * total


@kernel
def turning(motions: Array, k: int) -> float:
    """Bound the angle of a body's whole turn."""
    return float(abs(motions[k, _TURN]) + abs(motions[k, _TURN + 1]) + abs(motions[k, _TURN + 2]))


@kernel
def probe(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, solid: bool, normal: Vec3,
    ma: Array, i: int, mb: Array, j: int, t: float, target: float, lost: float, turn: float, near: float,
    poses: Array, cache: Array, simplex: Array, log: Array,
) -> tuple[bool, float, float, Vec3, Vec3, Vec3, Rigid, float]:  # fmt: skip
    """Return whether the cores are proven apart by more than ``target`` at time t, bounds of how far, and along what.

    And there their witness points, which a half-space has none of, the pose of B in A, and the error of it all.
    """
    place(ma, i, t, poses, 0)
    place(mb, j, t, poses, 1)
    m = relative_pose(poses, 0, fa, oa, poses, 1, fb, ob)
    size = pair_size(fa, oa, fb, ob, m)
    error = rounding_error(size, fa, oa, fb, ob, poses[0, 12]) + 8.0 * _U * turn * size + lost
    n, low = normal, 0.0
    zero = (0.0, 0.0, 0.0)
    if not solid:
        low, _ = phi(
            qa, ia, fa, oa, qb, ib, fb, ob, m, solid, n, zero, zero, dot(n, (m[9], m[10], m[11])), 0.0, 0.0, 0.0
        )
        return low - error > target, low, low, n, zero, zero, m, error
    least = 1e-13 * size
    width = max(least, 1e-2 * near)
    while True:
        given = int(np.int64(0))
        start = direction_between(m)
        if cache[0, 0] > 0.0:
            given = recall(cache, 0, m, simplex)
            start = (cache[0, 1], cache[0, 2], cache[0, 3])
        code, count, u, low, n, _, _ = gjk(
            qa, ia, fa, oa, qb, ib, fb, ob, m, start, error, 16.0 * _U * size, width, 0.0, inf, -inf, given,
            simplex, log, int(np.int64(0)),
        )  # fmt: skip
        remember(cache, 0, m, simplex, count, n, given)
        if code == INSIDE_SIMPLEX:
            return False, low, low, n, zero, zero, m, error
        high = sqrt(dot(u, u))
        apart = low - error > target
        # a loose width is for what is far, by the bounds it leaves
        if (apart and high - low <= 0.1 * (high - target)) or width <= least:
            a, b = witnesses(simplex, count)
            return apart, low, high, n, a, b, m, error
        width = max(least, min(0.1 * width, 1e-2 * (high - target)))


@kernel
def impact(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, solid: bool, normal: Vec3,
    ma: Array, i: int, mb: Array, j: int, clearance: float,
    poses: Array, cache: Array, simplex: Array, log: Array,
) -> tuple[int, float, float, int]:  # fmt: skip
    """Return what happens, the time up to which it is proven not to, a time at which it does, and the steps taken.

    Not ``solid``: A is the half-space below the plane through its centre with that normal, and does not turn.
    """
    target = clearance + fa[oa + _RADIUS] + fb[ob + _RADIUS]
    va = (mb[j, _WAY] - ma[i, _WAY], mb[j, _WAY + 1] - ma[i, _WAY + 1], mb[j, _WAY + 2] - ma[i, _WAY + 2])
    turn = turning(ma, i) + turning(mb, j)
    lost = drift(ma, i) + drift(mb, j) + 2.0 * _U * clearance
    cache[0, 0] = 0.0
    near = inf
    t = 0.0
    for step in range(1, MAX_STEPS):
        apart, low, high, n, at_a, at_b, m, error = probe(
            qa, ia, fa, oa, qb, ib, fb, ob, solid, normal, ma, i, mb, j, t, target, lost, turn, near,
            poses, cache, simplex, log,
        )  # fmt: skip
        if not apart:
            return STARTED if t == 0.0 else HIT, t, t, step
        near = low - error - target
        wa = in_frame(poses, 0, ma[i, _TURN], ma[i, _TURN + 1], ma[i, _TURN + 2])
        wb = in_frame(poses, 0, mb[j, _TURN], mb[j, _TURN + 1], mb[j, _TURN + 2])
        v = in_frame(poses, 0, va[0], va[1], va[2])
        ra = arm(ma, i, fa, oa)
        r = arm(mb, j, fb, ob)
        rb = (
            m[0] * r[0] + m[1] * r[1] + m[2] * r[2],
            m[3] * r[0] + m[4] * r[1] + m[5] * r[2],
            m[6] * r[0] + m[7] * r[1] + m[8] * r[2],
        )
        tilt_a, tilt_b = cross(n, wa), cross(n, wb)
        k = bend(n, wa, ra, fa[oa + _RHO]) + bend(n, wb, rb, fb[ob + _RHO])
        rate = dot(rb, tilt_b) - dot(ra, tilt_a) + dot(n, v)
        ahead, slope = farthest(
            qa, ia, fa, oa, qb, ib, fb, ob, m, solid, n, tilt_a, tilt_b, dot(n, (m[9], m[10], m[11])), rate, k,
            target + 2.0 * error, target + 3.0 * error, 1.0 - t,
        )  # fmt: skip
        if t + ahead >= 1.0:
            return FREE, 1.0, 1.0, step
        if near <= 8.0 * error or not t + ahead > t:
            # as close as floats can tell: a proof of contact is looked for, past where it should be by as much
            if solid:  # how fast the witness points close in; phi has to fear for whole faces
                pa = (at_a[0] + ra[0], at_a[1] + ra[1], at_a[2] + ra[2])
                pb = (at_b[0] - m[9] + rb[0], at_b[1] - m[10] + rb[1], at_b[2] - m[11] + rb[2])
                slope = dot(n, v) + dot(tilt_b, pb) - dot(tilt_a, pa)
            rest = high - target
            rest = max(2.0 * ahead, rest / max(-slope, sqrt(k * rest)))
            for tries in range(2):  # what is flat or thin may be through it by then
                later = min(t + rest * (1.0 + tries), 1.0)
                apart, _, _, _, _, _, _, _ = probe(
                    qa, ia, fa, oa, qb, ib, fb, ob, solid, normal, ma, i, mb, j, later, target, lost, turn, near,
                    poses, cache, simplex, log,
                )  # fmt: skip
                if not apart:
                    return HIT, t + ahead, later, step
            if not t + ahead > t:
                return UNRESOLVED, t, t, step
        t += ahead
    return UNRESOLVED, t, t, MAX_STEPS


@kernel
def impact_many(
    q: Ints, f: Array, oa: Ints, ob: Ints, solid: bool, normal: Array, ma: Array, mb: Array, clearance: float,
    start: int, stop: int, poses: Array, cache: Array, simplex: Array, out: Array, flags: Ints,
) -> None:  # fmt: skip
    """Answer motions start to stop; where shapes begin among ints and floats is in ``oa`` and ``ob``."""
    n = (normal[0], normal[1], normal[2])
    for k in range(start, stop):
        code, free, hit, steps = impact(
            q, oa[0], f, oa[1], q, ob[0], f, ob[1], solid, n, ma, k if ma.shape[0] > 1 else 0,
            mb, k if mb.shape[0] > 1 else 0, clearance, poses, cache, simplex, simplex[0, :0],
        )  # fmt: skip
        out[k, 0], out[k, 1] = free, hit
        flags[k, 0], flags[k, 1] = code, steps
