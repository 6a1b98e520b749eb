"""Cover of a pair of slots: the interval around a configuration on a line or curve in which the pair is proven apart.

A slot is a shape that is fixed to a link or to the world.

The signed distance of two shapes is the maximum of their separations over all directions. So a bound of a separation,
or of its change, also bounds the distance. Two bounds are used. They start from a pair at a parameter c with a lower
bound d of its distance and a margin m.

*Linear.* Let V be a bound of the motion of the two shapes relative to each other over the whole line. It is a sum over
the joints between them: the turn of a joint times the greatest distance of the nearer shape from the joint's axis, or
the slide of the joint. No separation changes by more than V, even with the joints moved one at a time, since the reach
of `motion_bounds` is valid for all configurations. So at the parameter t the pair is farther apart than m if
|t - c| V < d - m (Schwarzer, Saha, Latombe 2005).

*Quadratic.* Take the frame of one of the shapes, the fixed shape. A point of the other, moving shape is at p + s p' + e
at c + s, with |e| <= K s^2 / 2, where K is a bound of |p''|. Along a fixed unit direction n the separation is then at
least

    min over p of n . (p + s p')  -  max over the fixed shape of n . a  -  K s^2 / 2.

This is concave in s, so between two values of s it is no less than the smaller of its two values there. With p' = v + w
x p the minimum is at one support point along n + s n x w. For K, let joint j turn by w_j, let the moving shape be at
most r_j from the joint's axis, and let W_j be the sum of the turns between the fixed shape and joint j. Then p' is the
sum of w_j u_j with |u_j| <= r_j. The vector u_j rotates with all joints before j and changes with p from joint j on.
So |p''| <= sum of w_j r_j (w_j + 2 W_j), and a slide s_j adds 2 s_j W_j. On a curve, w_j and s_j are the maxima over
all parameters, and |p''| grows by the sum of their rates of change, w_j' r_j and s_j'.

A bound of the rounding errors is subtracted from d. Poses are computed, so they have errors. Let u be the unit
roundoff, 2^-53. In a chain of D joints the matrix of a joint has an error of 18 u in sine, cosine and products, and 4 u
in the length of its axis. Two matrix products for each joint add 9 u each. With the roundings of the translations the
sum is under 64 u S, where S is the greatest distance of any point from the origin of the world. One more such step
places a shape on its link. So the pose of each shape has an error of at most 64 (D + 1) u S. The velocity of a shape
has an error of the same size for each radian that the joints turn on the line. A joint value on the line has an error
of 3 u (|q0| + |q1|), and 2 u more after the factor of a mimic. This error moves a shape as far as a motion of the joint
by the same amount. On a curve of degree n the error is at most n^2 times as large. V and K are multiplied by 1 + 2^-40.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.workspace import Solver
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot.bodies import NO_CAPSULE, between_capsules
from gjk3d.robot.cell_kernels import Bodies, Frames, Layout, between_balls, core_of, gap_bounds, place, solve_slots
from gjk3d.robot.kinematics import Chain, plane_axes, rotated
from gjk3d.shapes import layout as shape_layout
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array2, Ints1

#: longest piece of a motion for which GJK refines the bound of capsules: halves of a longer piece often need no GJK
_LONG = 0.3
#: share of the distance beyond the margin that is proven for a body: for long pieces, for short ones, and the limit
#: between the two; a greater share would cost a longer traversal
_FAR, _CLOSE, _SOON = 0.5, 0.8, 0.1
_RADIUS, _RHO, _SLACK = shape_layout.RADIUS, shape_layout.RHO, shape_layout.SLACK


class Bound(NamedTuple):
    """Bounds of the motion of a pair on a line (see the docstring of this module)."""

    margin: float
    floor: float  #: the margin plus a bound of the rounding errors
    v: float  #: V
    k: float  #: K
    first_moves: bool  #: True if K is for the first shape in the frame of the second, else the reverse


class Workspace(NamedTuple):
    """The layout of a cell, its poses at one configuration, and scratch memory for its pairs."""

    layout: Layout
    frames: Frames
    solver: Solver
    axes: Array2  #: the last GJK axis of each pair, then of each pair of bodies inside hulls
    twist: Array2  #: (links, 6), see `twists`
    bodies: Bodies
    of_bodies: bool  #: whether the pairs of ``bodies`` are covered, and not the pairs of ``layout``
    last: Ints1  #: for each pair with a body, the nearest part of the body in the last query, or -1


@kernel
def twists(chain: Chain, rates: Array, poses: Array, out: Array) -> None:
    """Write the twist of each link to ``out`` (links, 6): w and v, where a point p moves with the velocity v + w x p.

    ``rates`` (dof,) contains the rates of change of q. Floating joints are treated as resting. ``poses``
    (links, 4, 4) contains the poses of the links.
    """
    parent, axis = chain.parent, chain.axis
    # Twists refer to the origin of the world, so the twists of the joints of a chain are added without transforms. A
    # pair with a floating joint between its shapes has an infinite K, so its twist is not used.
    for i in range(parent.shape[0]):
        for n in range(6):
            out[i, n] = out[parent[i], n] if parent[i] >= 0 else 0.0
        what = chain.kind[i]
        if what == 0 or what == 4:
            continue
        k = chain.source[i]
        m = poses[i]
        a = rotated(m, (axis[i, 0], axis[i, 1], axis[i, 2]))
        rate = chain.multiplier[i] * rates[k]
        if what == 2:
            for n in range(3):
                out[i, 3 + n] += rate * a[n]
            continue
        if what == 3:
            x, y = rate, rates[k + 1]
            u, v = plane_axes((axis[i, 0], axis[i, 1], axis[i, 2]))
            d = rotated(chain.origin[i], (x * u[0] + y * v[0], x * u[1] + y * v[1], x * u[2] + y * v[2]))
            if parent[i] >= 0:
                d = rotated(poses[parent[i]], d)
            for n in range(3):
                out[i, 3 + n] += d[n]
            rate = rates[k + 2]
        z = cross((m[0, 3], m[1, 3], m[2, 3]), a)
        for n in range(3):
            out[i, n] += rate * a[n]
            out[i, 3 + n] += rate * z[n]


@kernel
def _root(x: float, rate: float, k: float) -> float:
    """Return a lower bound of the root s > 0 of x + rate * s - k * s^2 / 2, or 0 if x is not positive."""
    if not (x > 0.0 and rate == rate):
        return 0.0
    r = sqrt(rate * rate + 2.0 * k * x)
    s = 1e308
    # the root has two forms, and the form without cancellation is used
    if rate < 0.0:
        s = 2.0 * x / (r - rate)
    elif k > 0.0:
        s = (r + rate) / k
    return s * (1.0 - 2.0**-40) if s == s else 0.0


@inlined
def _lowest(layout: Layout, rows: Array, k: int, d: Vec3) -> float:
    """Return the minimum of d . r over the points of slot k, where r is a point relative to the slot's centre.

    ``rows`` contains the poses of all slots in the world, and ``d`` is a vector in the world.
    """
    core = core_of(layout, k)
    e = (
        -(rows[k, 0] * d[0] + rows[k, 3] * d[1] + rows[k, 6] * d[2]),
        -(rows[k, 1] * d[0] + rows[k, 4] * d[1] + rows[k, 7] * d[2]),
        -(rows[k, 2] * d[0] + rows[k, 5] * d[1] + rows[k, 8] * d[2]),
    )
    r = sqrt(dot(d, d))
    return float(-dot(e, support(core, e)) - (core.floats[_RADIUS] + core.floats[_SLACK]) * r)


@inlined
def _reach(layout: Layout, k: int) -> float:
    """Return the radius of the bounding ball of slot k. A half-space is treated as its reference point."""
    core = core_of(layout, k)
    return float(core.floats[_RHO] + core.floats[_RADIUS])


@inlined
def _relative_motion(work: Workspace, fixed: int, moves: int) -> tuple[Vec3, Vec3]:
    """Return the angular velocity of slot ``moves``, and the velocity of the centre of this slot.

    Both velocities are relative to slot ``fixed``.
    """
    link, twist, balls = work.layout.link, work.twist, work.frames.balls
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        j, sign = (link[fixed], -1.0) if side == 1 else (link[moves], 1.0)
        if j >= 0:
            w = (w[0] + sign * twist[j, 0], w[1] + sign * twist[j, 1], w[2] + sign * twist[j, 2])
            u = (u[0] + sign * twist[j, 3], u[1] + sign * twist[j, 4], u[2] + sign * twist[j, 5])
    turned = cross(w, (balls[moves, 0], balls[moves, 1], balls[moves, 2]))
    return w, (u[0] + turned[0], u[1] + turned[1], u[2] + turned[2])


@kernel
def _curved(
    work: Workspace, bound: Bound, a: int, b: int, backward: float, forward: float
) -> tuple[float, float, float]:
    """Return the lengths backward and forward over which the slots a and b are proven apart, and an estimate.

    The proof is the quadratic bound along GJK's normal. Lengths are in the parameter of the line, and at most
    ``backward`` and ``forward``. The estimate is the length ahead after which the slots come within the margin at their
    present velocity. It is infinite if they move apart.
    """
    layout, rows, balls, solved = work.layout, work.frames.rows, work.frames.balls, work.solver.one
    moves, fixed, sign = (a, b, -1.0) if bound.first_moves else (b, a, 1.0)
    n = (sign * solved[0, 3], sign * solved[0, 4], sign * solved[0, 5])
    w, v = _relative_motion(work, fixed, moves)
    at = (balls[moves, 0] - balls[fixed, 0], balls[moves, 1] - balls[fixed, 1], balls[moves, 2] - balls[fixed, 2])
    near = _lowest(layout, rows, moves, n)
    size = sqrt(dot(at, at)) + _reach(layout, moves) + _reach(layout, fixed)
    for c in range(3):
        size += abs(balls[fixed, c]) + abs(balls[moves, c])
    slack = core_of(layout, moves).floats[_SLACK]
    # The first term covers the rounding of n . at, n . v and both supports. The second term is only a reserve, since
    # `_lowest` already subtracts the slack of the core at both ends of a piece.
    error = 64.0 * _U * size * (1.0 + sqrt(dot(w, w))) + 2.0 * slack * (1.0 + sqrt(dot(w, w)))
    if layout.starts[b, 2] == NO_CAPSULE:  # the normal of a half-space equals n up to the residual of its pose
        error += 8.0 * rows[b, 12] * size * (1.0 + sqrt(dot(w, w)))
    # the present separation along n minus the floor, which is the reserve that the motion may use
    x = dot(n, at) + near + _lowest(layout, rows, fixed, (-n[0], -n[1], -n[2])) - error - bound.floor
    if not x > 0.0:
        return 0.0, 0.0, inf
    m = cross(n, w)
    straight = dot(n, v)
    found_back, found_forth = 0.0, 0.0
    for side in range(2):
        sign, wanted = (1.0, forward) if side == 1 else (-1.0, backward)
        best, s = 0.0, wanted
        # The bound is proven up to min(s, root). If s is too long, the root gives the next s.
        for _ in range(3):
            if not s > best:
                break
            t = sign * s
            d = (n[0] + t * m[0], n[1] + t * m[1], n[2] + t * m[2])
            # the first-order term is concave, so up to s it stays above its chord
            rate = sign * straight + (_lowest(layout, rows, moves, d) - near) / s
            best = max(best, min(s, _root(x, rate, bound.k)))
            if best >= wanted:
                break
            s = min(wanted, 2.0 * best)
        if side == 1:
            found_forth = best
        else:
            found_back = best
    # the rate of the distance is the velocity of the nearest point of the moving slot along the normal
    o = 6 if moves == a else 9
    rate = straight
    for c in range(3):
        rate += m[c] * (solved[0, o + c] - balls[moves, c])
    return found_back, found_forth, -(x + bound.floor - bound.margin) / rate if rate < 0.0 else inf


@inlined
def _by_capsules(
    work: Workspace, bound: Bound, a: int, b: int, backward: float, forward: float
) -> tuple[float, float, float]:
    """Return the lengths backward and forward over which balls and capsules prove the slots a and b apart.

    ``backward`` and ``forward`` are the wanted lengths. If a result is shorter than wanted, the caller uses GJK next,
    and the third result is the relative tolerance for GJK.
    """
    balls, floor, v = work.frames.balls, bound.floor, bound.v
    m, f = (a, b) if bound.first_moves else (b, a)
    n = (balls[m, 0] - balls[f, 0], balls[m, 1] - balls[f, 1], balls[m, 2] - balls[f, 2])
    so_back, so_forth, loose = 0.0, 0.0, 0.0
    gap = between_balls(balls, a, b) - floor
    if gap > 0.0:
        so_back = so_forth = gap / v
        if so_back >= backward and so_forth >= forward:
            return so_back, so_forth, loose
        _, u = _relative_motion(work, f, m)
        rate = dot(n, u) / sqrt(dot(n, n))
        so_back, so_forth = max(so_back, _root(gap, -rate, bound.k)), max(so_forth, _root(gap, rate, bound.k))
    if not (so_back >= backward and so_forth >= forward):
        gap = between_capsules(work.frames.rows, work.layout.floats, work.layout.starts, a, b) - floor
        if gap > 0.0:
            so_back, so_forth = max(so_back, gap / v), max(so_forth, gap / v)
            # the shapes are at least the gap apart, so a tenth of the gap is enough accuracy
            loose = 0.1 * gap / (sqrt(dot(n, n)) + balls[a, 3] + balls[b, 3])
    return so_back, so_forth, loose


@inlined
def _speed_of_guest(work: Workspace, bound: Bound, p: int, now: int) -> tuple[float, float]:
    """Return a bound of the speed of a guest shape in the frame of its host body, and the error of the bound.

    Pair p has the host and the guest. The bound holds for all points of the guest. It is infinite if the quadratic
    bound cannot be used, because K is infinite or was computed with the host as the moving shape.
    """
    layout, frames, pairs = work.layout, work.frames, work.bodies.pairs
    host, guest = pairs[p, 0], pairs[p, 1]
    if not bound.k < inf or bound.first_moves != (pairs[p, 2] != 0):
        return inf, 0.0
    place(layout, frames, guest, now)
    w, v = _relative_motion(work, host, guest)
    turn, reach, balls = sqrt(dot(w, w)), _reach(layout, guest) + core_of(layout, guest).floats[_SLACK], frames.balls
    # A speed is a sum of about ten products of a length, at most the size, and an angle. The size is at most twice the
    # size S of the motion, so the slack of the floor, 128 (D + 1) u S (1 + W), is larger. See `gap_bounds`.
    size = reach + abs(balls[guest, 0]) + abs(balls[guest, 1]) + abs(balls[guest, 2])
    return sqrt(dot(v, v)) + turn * reach, 64.0 * _U * size * (1.0 + turn)


@kernel
def _cover_body(
    work: Workspace, bound: Bound, now: int, p: int, backward: float, forward: float
) -> tuple[float, float, bool, float]:
    """Return what `cover` returns (proven lengths, whether the pair collides, an estimate), for a pair with a body.

    The other shape of the pair may approach the body along any normal n. So the quadratic bound of `motion_cover` uses
    |p'| in place of n . p'.
    """
    layout, frames, bodies = work.layout, work.frames, work.bodies
    speed, error = _speed_of_guest(work, bound, p, now)
    wanted = max(backward, forward)
    # the least distance that proves the whole piece, by the better of the two bounds: the traversal may stop there
    enough = bound.v * wanted
    if speed < inf:
        enough = min(enough, (speed + 0.5 * bound.k * wanted) * wanted * (1.0 + 2.0**-40) + error)
    floor, share = max(bound.floor, 0.0), _FAR if wanted > _SOON else _CLOSE
    last = work.last
    lower, upper, last[p] = gap_bounds(layout, frames, bodies, p, now, enough + floor, floor, share, last[p])
    if upper <= bound.margin:
        return 0.0, 0.0, True, inf
    far = max(lower - bound.floor, 0.0) / bound.v
    if not speed < inf:
        return far, far, False, inf
    far = max(far, _root(lower - bound.floor - error, -speed, bound.k))
    return far, far, False, _guest_contact(work, p, upper - bound.margin)


@kernel
def _guest_contact(work: Workspace, p: int, gap: float) -> float:
    """Return the length ahead, in the parameter of the line, after which pair p has closed the distance ``gap``.

    It is an estimate from the present velocity of the nearest points, and infinite if they do not approach each other.
    """
    host, guest = work.bodies.pairs[p, 0], work.bodies.pairs[p, 1]
    balls, near = work.frames.balls, work.bodies.scratch.out[1]
    w, v = _relative_motion(work, host, guest)
    n = (near[9] - near[6], near[10] - near[7], near[11] - near[8])
    size = sqrt(dot(n, n))
    at = (near[9] - balls[guest, 0], near[10] - balls[guest, 1], near[11] - balls[guest, 2])
    rate = dot(n, v) + dot(n, cross(w, at))
    return -gap * size / rate if rate < 0.0 else inf


@inlined
def cover(
    work: Workspace, bound: Bound, now: int, p: int, backward: float, forward: float
) -> tuple[float, float, bool, float]:
    """Return the lengths backward and forward over which pair p is proven apart, whether it collides, and an estimate.

    Lengths are in the parameter of the line, measured from the present configuration. ``backward`` and ``forward`` are
    the lengths that are wanted. ``now`` is the stamp of the present configuration in ``work.frames``. The third
    result is True only if the pair is certainly within the margin. Hulls around several bodies may touch although the
    bodies do not, so contact of hulls decides nothing. The estimate is the length ahead after which the pair comes
    within the margin. It is infinite if the shapes move apart.
    """
    if work.of_bodies:
        return _cover_body(work, bound, now, p, backward, forward)
    layout, frames, solver = work.layout, work.frames, work.solver
    first, last, solved = layout.pairs[p, 2], layout.pairs[p, 3], solver.one
    enough = max(bound.v * max(backward, forward) + bound.floor, 0.0)
    whole_back, whole_forth, least_back, least_forth, ahead = 0.0, 0.0, 1e308, 1e308, inf
    for r in range(first - 1, last):
        hulls = r < first < last
        a, b, row = layout.pairs[p, 0], layout.pairs[p, 1], p
        if r >= first:
            a, b, row = layout.subs[r, 0], layout.subs[r, 1], layout.pairs.shape[0] + r
        place(layout, frames, a, now)
        place(layout, frames, b, now)
        so_back, so_forth, loose = _by_capsules(work, bound, a, b, backward, forward)
        proven = so_back >= backward and so_forth >= forward
        wait = loose > 0.0 and max(backward, forward) > _LONG  # the piece will be halved, so GJK runs later
        if not (proven or wait):
            mode = narrow.UNSIGNED if hulls or bound.margin >= 0.0 else narrow.SIGNED
            solve_slots(layout, frames, a, b, mode, enough, loose, solver, work.axes[row : row + 1])
            if not hulls and solved[0, 2] <= bound.margin:
                return 0.0, 0.0, True, inf
            gap = solved[0, 1] - bound.floor
            if gap > 0.0 and (not hulls or solved[0, 1] > 0.0):
                so_back, so_forth = max(so_back, gap / bound.v), max(so_forth, gap / bound.v)
                if not (so_back >= backward and so_forth >= forward) and bound.k < inf:
                    x, y, contact_at = _curved(work, bound, a, b, backward, forward)
                    so_back, so_forth = max(so_back, x), max(so_forth, y)
                    ahead = ahead if hulls else min(ahead, contact_at)
        if not hulls:
            least_back, least_forth = min(least_back, so_back), min(least_forth, so_forth)
        elif wait or (so_back >= backward and so_forth >= forward):
            return so_back, so_forth, False, inf
        else:
            whole_back, whole_forth = so_back, so_forth  # also valid for the bodies, which are inside the hulls
    return max(least_back, whole_back), max(least_forth, whole_forth), False, ahead
