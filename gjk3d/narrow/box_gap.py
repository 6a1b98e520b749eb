"""The nearest points of a box and another, or a segment, by Newton's method on what holds them.

The points of B are t + x0 e0 + x1 e1 + x2 e2 with each |x| at most a half extent, none for a segment but |x0|. The
nearest point of A is found by clamping, so the square of the distance is a convex function of three numbers, made of
pieces of quadratics: which of B's numbers are at an end, and beyond which faces of A the point is, says which piece.
The least of a piece is known in closed form, and mostly it is in the second or third piece that one tries. What comes
out is believed where a support point proves it, else GJK is asked.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import Rigid, Vec3, along, dot, offset, place, scale, sub, turn, turn_back
from gjk3d.narrow.box_box import clamp

_TRIES = 16
_NOTHING = 1e-20  #: of a square: what is left where a common point is ahead
_FARTHER = 1.25  #: times the way there, a step goes: a point on A's surface is none that is proven
_FULL = 1.0 - 1e-12  #: of a square of a cosine: above it an edge of B is at right angles to a face of A


@inlined
def at_end(x: float, q: float, g: float) -> float:
    """Return 0 where a number at its end is pushed on by a slope, or has no room; else 1: it is free."""
    return 0.0 if g <= 0.0 or (x >= g and q <= 0.0) or (x <= -g and q >= 0.0) else 1.0


@inlined
def step_of(m: Rigid, r: Vec3, q: Vec3, f: Vec3) -> Vec3:
    """Return by how much to move B's numbers that are free, to the least of this piece.

    The matrix of its normal equations is I where the point is beyond faces of A along all three axes, I - u u' where
    along two, with u the free part of the third's row of the rotation, v v' where along one, with v that of its own.
    """
    out0, out1, out2 = r[0] != 0.0, r[1] != 0.0, r[2] != 0.0
    q = (f[0] * q[0], f[1] * q[1], f[2] * q[2])
    if out0 and out1 and out2:
        return (-q[0], -q[1], -q[2])
    if (out0 and out1) or (out0 and out2) or (out1 and out2):
        k = 6 if not out2 else 3 if not out1 else 0
        u = (f[0] * m[k], f[1] * m[k + 1], f[2] * m[k + 2])
        square = dot(u, u)
        # where u is of length 1 the matrix is singular, and moving along u does nothing
        t = dot(u, q) / (1.0 - square if square < _FULL else -square)
        return (-q[0] - t * u[0], -q[1] - t * u[1], -q[2] - t * u[2])
    k = 0 if out0 else 3 if out1 else 6
    square = f[0] * m[k] * m[k] + f[1] * m[k + 1] * m[k + 1] + f[2] * m[k + 2] * m[k + 2]
    if not square > 0.0:
        return (0.0, 0.0, 0.0)
    return (-q[0] / square, -q[1] / square, -q[2] / square)


@inlined
def cut_short(x: Vec3, d: Vec3, g: Vec3) -> Vec3:
    """Return the part of a step up to where the first number comes to its end."""
    t = 1.0
    for j in range(3):
        if d[j] != 0.0:
            t = min(t, (g[j] - (x[j] if d[j] > 0.0 else -x[j])) / abs(d[j]))
    return (t * d[0], t * d[1], t * d[2])


@kernel
def slope_at(h: Vec3, y: Vec3, e: Vec3, t: float) -> float:
    """Return the slope, along e, of half the square of the distance of y + t e from a box."""
    total = 0.0
    for i in range(3):
        x = y[i] + t * e[i]
        total += e[i] * (x - clamp(x, h[i]))
    return total


@kernel
def turning_point(h: Vec3, y: Vec3, e: Vec3, ahead: float, behind: float) -> float:
    """Return at which t the slope is 0 that is ``ahead`` at t = 0, where it falls, and ``behind`` at 1, where it rises.

    Between two planes of the box it is a straight line.
    """
    low, high = 0.0, 1.0
    for i in range(3):
        for side in range(2):
            t = ((h[i] if side == 0 else -h[i]) - y[i]) / e[i] if e[i] != 0.0 else 0.0
            if low < t < high:
                slope = slope_at(h, y, e, t)
                if slope > 0.0:
                    high, behind = t, slope
                else:
                    low, ahead = t, slope
    return low + (high - low) * ahead / (ahead - behind)


@kernel
def nearest_of_boxes(h: Vec3, g: Vec3, m: Rigid, tiny: float) -> tuple[Vec3, Vec3, Vec3]:
    """Return the nearest points of a box and one at a pose, by their half extents, and from the first to the second.

    That vector is at right angles to the edges that may move, where the points' own difference is all cancellation.
    """
    x = turn_back(m, offset(m))
    x = (clamp(-x[0], g[0]), clamp(-x[1], g[1]), clamp(-x[2], g[2]))
    y = offset(m)
    p = r = y
    s, slope, careful = (0.0, 0.0, 0.0), 0.0, False
    for _ in range(_TRIES):
        y = place(m, x)
        p = (clamp(y[0], h[0]), clamp(y[1], h[1]), clamp(y[2], h[2]))
        r = sub(y, p)
        if r[0] == 0.0 and r[1] == 0.0 and r[2] == 0.0:
            break
        q = turn_back(m, r)
        beyond = dot(q, s)
        if beyond > -0.5 * slope:  # too far: the step before ends where it is best, and the next ones at corners
            e = turn(m, s)
            t = turning_point(h, sub(y, e), e, slope, beyond) if slope < 0.0 else 0.0
            x = along(x, s, t - 1.0)
            s, slope, careful = (0.0, 0.0, 0.0), 0.0, True
            continue
        d = step_of(m, r, q, (at_end(x[0], q[0], g[0]), at_end(x[1], q[1], g[1]), at_end(x[2], q[2], g[2])))
        here, whole = r, max(abs(d[0]), max(abs(d[1]), abs(d[2])))
        w, (r0, r1, r2), square = turn(m, d), r, dot(r, r)
        r = (r0 + w[0] if r0 != 0.0 else 0.0, r1 + w[1] if r1 != 0.0 else 0.0, r2 + w[2] if r2 != 0.0 else 0.0)
        if dot(r, r) <= _NOTHING * square:
            d = scale(_FARTHER, d)
        if careful:
            d = cut_short(x, d, g)
        z = (clamp(x[0] + d[0], g[0]), clamp(x[1] + d[1], g[1]), clamp(x[2] + d[2], g[2]))
        s = sub(z, x)
        if max(abs(s[0]), max(abs(s[1]), abs(s[2]))) <= tiny:
            if whole > tiny:  # B ends before the step does, and so does what it would lead to
                r = here
            break
        x, slope = z, dot(q, s)
    return r, p, y
