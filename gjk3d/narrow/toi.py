"""Motions as rows, and the time of impact of two moving cores.

The row of a motion has the rotation at time 0 by rows, the reference point's position at time 0, the translation of
this point until time 1, the rotation vector until time 1, and the reference point in the body's frame.

The time of impact is found by conservative advancement with proven steps.

Each body rotates at a constant rate w about a reference point that moves with a constant velocity v. Let the direction
n from A to B be fixed in the world. A point at r from its reference point moves along n by s n.v + s (n x w).r to first
order. Its acceleration along n is at most sin(n, w) |w|^2 rho, where rho is its distance from the axis. Let c be the
reference points. Then for the time s from now

    phi(s) = min_B r.(n + s n x w_B) - max_A r.(n + s n x w_A) + n.(c_B - c_A + s (v_B - v_A)) - K s^2 / 2,
    K = sin(n, w_A) |w_A|^2 rho_A + sin(n, w_B) |w_B|^2 rho_B

is below the true distance, and it is concave: the minimum of linear functions minus a square. If phi is large enough
now and at s, it is large enough in between, so the whole step is free. Two support points are enough to compute phi.
For bodies that only translate, the step is van den Bergen's ray cast step (Ray Casting against General Convex Objects,
2004). The first order form is Mirtich's (Impulse-based Dynamic Simulation, 1996, sec. 2.3).

Along a fixed direction, phi accounts for every point of a rotating face, also those far from the nearest points. The
steps then shrink with the length of the face. After many steps, directions that rotate with A or with B are therefore
tried too. The support point of that body is then constant, and only the paths of the other body's points are curved,
see `bound_to`.
"""

from __future__ import annotations

from math import atan2, cos, inf, sin, sqrt, tan
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.vec3 import Vec3, along, cross, divide, dot, neg, offset, row3, scale, sub, turn, turn_back, unit
from gjk3d.narrow.cores import Cores, cores_at, rounding_error, support_pair
from gjk3d.narrow.gjk import INSIDE_SIMPLEX, MEMORY, Start, gjk, load_start, store_start, witnesses
from gjk3d.narrow.solve import RANK, SIDES, Packed, comes_later, side_of
from gjk3d.narrow.workspace import SIMPLEX
from gjk3d.poses import GREATEST, UNIT_ROUNDOFF, WIDTH, check_row
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Array3, Ints2

# --- motions ---------------------------------------------------------------------------------------------------------


MOTION = 21  #: floats of a motion row
CENTER, WAY, TURN, REFERENCE = 9, 12, 15, 18  #: first column of each vector of a motion row, after the rotation
#: largest coordinate of a rotation vector in radians: a thousand turns
MOST_TURN = 6283.2
#: radians below which the axis of a screw motion is so far away that the path is a straight line
_STRAIGHT = 1e-8
_SMALL = 1e-3  #: angle in radians up to which angle / sin(angle / 2) is computed by its series


@kernel
def place(motion: Array, t: float, pose: Array) -> None:
    """Write the pose at time t of the body with this motion row to the pose row ``pose``."""
    x, y, z = t * motion[TURN], t * motion[TURN + 1], t * motion[TURN + 2]
    angle = sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        for j in range(9):
            pose[j] = motion[j]
    else:
        x, y, z = x / angle, y / angle, z / angle
        c, s = cos(angle), sin(angle)
        v = 2.0 * sin(0.5 * angle) * sin(0.5 * angle)
        t00, t01, t02 = c + v * x * x, v * x * y - s * z, v * x * z + s * y
        t10, t11, t12 = v * x * y + s * z, c + v * y * y, v * y * z - s * x
        t20, t21, t22 = v * x * z - s * y, v * y * z + s * x, c + v * z * z
        for j in range(3):
            p, q, r = motion[j], motion[3 + j], motion[6 + j]
            pose[j] = t00 * p + t01 * q + t02 * r
            pose[3 + j] = t10 * p + t11 * q + t12 * r
            pose[6 + j] = t20 * p + t21 * q + t22 * r
    x, y, z = motion[REFERENCE], motion[REFERENCE + 1], motion[REFERENCE + 2]
    for j in range(3):
        turned = pose[3 * j] * x + pose[3 * j + 1] * y + pose[3 * j + 2] * z
        pose[9 + j] = motion[CENTER + j] + t * motion[WAY + j] - turned
    pose[12] = 8.0 * UNIT_ROUNDOFF


@kernel
def write_matrix(motion: Array, t: float, m: Array) -> None:
    """Write the pose at time t of the body with this motion row to the 16 numbers ``m`` of a matrix."""
    place(motion, t, m)
    x, y, z = m[9], m[10], m[11]
    for row in range(2, -1, -1):  # from the end, so that no number is overwritten before it is read
        for column in range(2, -1, -1):
            m[4 * row + column] = m[3 * row + column]
    m[3], m[7], m[11] = x, y, z
    m[12], m[13], m[14], m[15] = 0.0, 0.0, 0.0, 1.0


@single_entry
def matrix_at(motions: Array2, time: float, out: Array2) -> None:
    """Write the pose at ``time`` of the body with motion row 0 to ``out``, (4, 4)."""
    write_matrix(motions[0], time, out.reshape(16))


@single_entry
def matrices_at(motions: Array2, times: Array1, out: Array3) -> None:
    """Write the pose of each body at its time to ``out``, (n, 4, 4). A single motion row serves all times."""
    for k in range(times.shape[0]):
        write_matrix(motions[k if motions.shape[0] > 1 else 0], times[k], out[k].reshape(16))


@kernel
def finish(row: Array, shift: Vec3, turn: Vec3, center: Vec3, centered: bool) -> None:
    """Complete a motion row that contains the pose: write the translation, the rotation and the reference point.

    The reference point is ``center`` if ``centered`` is True and the body rotates, else the body's origin.
    """
    # If the body does not rotate, the body's origin is used, because a far centre would lose digits.
    row[WAY], row[WAY + 1], row[WAY + 2] = shift
    row[TURN], row[TURN + 1], row[TURN + 2] = turn
    at = (0.0, 0.0, 0.0)
    if centered and turn != (0.0, 0.0, 0.0):
        at = turn_back(row, sub(center, (row[CENTER], row[CENTER + 1], row[CENTER + 2])))
        row[CENTER], row[CENTER + 1], row[CENTER + 2] = center
    row[REFERENCE], row[REFERENCE + 1], row[REFERENCE + 2] = at


@kernel
def within(a: Vec3, most: float) -> bool:
    """Return whether all coordinates have magnitudes of at most ``most``, and none is NaN."""
    return abs(a[0]) <= most and abs(a[1]) <= most and abs(a[2]) <= most


@single_entry
def motion_once(m: Array2, shift: Vec3, turn: Vec3, center: Vec3, centered: bool, out: Array2) -> bool:
    """Write a motion to row 0 of ``out``; return False if the matrix is not a pose or a vector is not valid."""
    good = within(shift, GREATEST) and within(turn, MOST_TURN) and within(center, GREATEST)
    if not good or check_row(m, out, plain(0)) != 0:
        return False
    finish(out[0], shift, turn, center, centered)
    return True


@single_entry
def motion_rows(poses: Array2, shift: Array2, turn: Array2, center: Array2, centered: bool, out: Array2) -> None:
    """Write motions to the rows of ``out``. The other arrays have as many rows, or a single row."""
    for k in range(out.shape[0]):
        pose = poses[k if poses.shape[0] > 1 else 0]
        for j in range(12):
            out[k, j] = pose[j]
        of_way = row3(shift, k if shift.shape[0] > 1 else 0)
        of_turn = row3(turn, k if turn.shape[0] > 1 else 0)
        finish(out[k], of_way, of_turn, row3(center, k if center.shape[0] > 1 else 0), centered)


@kernel
def entry_of_turn(p: Array, q: Array, i: int, j: int) -> float:
    """Return entry (i, j) of the rotation matrix from pose p to pose q, in world coordinates."""
    return float(q[3 * i] * p[3 * j] + q[3 * i + 1] * p[3 * j + 1] + q[3 * i + 2] * p[3 * j + 2])


@kernel
def turn_between(p: Array, q: Array) -> Vec3:
    """Return the rotation vector from pose p to pose q, in world coordinates, with an angle of at most pi."""
    # The quaternion is computed from its largest part, so that no part suffers from cancellation (Shepperd, Quaternion
    # from rotation matrix, 1978).
    x, y, z = plain(0), plain(1), plain(2)
    xx, yy, zz = entry_of_turn(p, q, x, x), entry_of_turn(p, q, y, y), entry_of_turn(p, q, z, z)
    xy, yx = entry_of_turn(p, q, x, y), entry_of_turn(p, q, y, x)
    xz, zx = entry_of_turn(p, q, x, z), entry_of_turn(p, q, z, x)
    yz, zy = entry_of_turn(p, q, y, z), entry_of_turn(p, q, z, y)
    trace = xx + yy + zz
    greatest = max(max(xx, yy), max(zz, trace))
    if greatest == xx:
        a, w = (1.0 - trace + 2.0 * xx, yx + xy, zx + xz), zy - yz
    elif greatest == yy:
        a, w = (xy + yx, 1.0 - trace + 2.0 * yy, zy + yz), xz - zx
    elif greatest == zz:
        a, w = (xz + zx, yz + zy, 1.0 - trace + 2.0 * zz), yx - xy
    else:
        a, w = (zy - yz, xz - zx, yx - xy), 1.0 + trace
    norm = sqrt(dot(a, a) + w * w)
    if w < 0.0:
        norm = -norm
    a, w = divide(a, norm), w / norm
    angle = 2.0 * atan2(sqrt(dot(a, a)), w)
    if angle <= _SMALL:
        # the series of angle / sin(angle / 2), because a quotient of small numbers would lose digits
        square = angle * angle
        return scale(2.0 + square / 12.0 + 7.0 * square * square / 2880.0, a)
    return scale(angle / sin(0.5 * angle), a)


@kernel
def join(p: Array, q: Array, screw: bool, row: Array) -> None:
    """Write the motion from pose p to pose q to ``row``.

    It is a screw motion if ``screw``. Otherwise the path of the body's origin is straight.
    """
    for j in range(12):
        row[j] = p[j]
    turn = turn_between(p, q)
    center = (p[9], p[10], p[11])
    shift = (q[9] - p[9], q[10] - p[10], q[11] - p[11])
    angle = sqrt(dot(turn, turn))
    bent = screw and angle > _STRAIGHT
    if bent:
        axis = divide(turn, angle)
        rise = scale(dot(shift, axis), axis)
        across = sub(shift, rise)
        center = along(along(center, across, 0.5), cross(axis, across), 0.5 / tan(0.5 * angle))
        shift = rise
    finish(row, shift, turn, center, bent)


@single_entry
def between_once(ma: Array2, mb: Array2, screw: bool, poses: Array2, out: Array2) -> bool:
    """Write the motion from matrix ``ma`` to ``mb`` to row 0 of ``out``; return False if a matrix is not a pose."""
    if check_row(ma, poses, plain(0)) != 0 or check_row(mb, poses, plain(1)) != 0:
        return False
    join(poses[0], poses[1], screw, out[0])
    return True


@single_entry
def between_rows(first: Array2, last: Array2, screw: bool, out: Array2) -> None:
    """Write the motions from poses ``first`` to ``last`` to ``out``. These two have as many rows as ``out``, or one."""
    for k in range(out.shape[0]):
        join(first[k if first.shape[0] > 1 else 0], last[k if last.shape[0] > 1 else 0], screw, out[k])


# --- time of impact --------------------------------------------------------------------------------------------------


FREE, HIT, UNRESOLVED, STARTED = range(4)
#: after this many proven steps without progress the search stops, and the status is UNRESOLVED
MAX_STEPS = 2000
#: number of steps after which directions that rotate with a body are tried too, for an exact and for a coarse search
_MANY_STEPS, _MANY_ROUGH = 24, 4
#: floats of scratch: two pose rows, GJK's cache row, the simplex
WORK = 2 * WIDTH + MEMORY + SIMPLEX
PART_WORK = WORK + 2 * MOTION  #: floats of scratch, with the motions of two parts
#: precision of the end of a step, relative to the step
CLOSE_ENOUGH = 0.05
_RADIUS, _RHO, _CENTER = layout.RADIUS, layout.RHO, layout.CENTER
_U = UNIT_ROUNDOFF
#: relative to the gap: the width at which GJK may stop, and the largest width of the final bounds
_LOOSE, _GOOD = 1e-2, 0.1
_LEAST_WIDTH = 1e-13  #: relative to the pair's size: least width of GJK's bounds


class Flight(NamedTuple):
    """Two cores with their motion rows, and the settings and scratch of the search for their time of impact."""

    a: Core
    b: Core
    solid: bool  #: False if A is the half-space below the plane through its centre, or that plane, and does not rotate
    normal: Vec3  #: normal of that plane, towards B's side
    ma: Array1  #: motion row of A
    mb: Array1
    target: float  #: required distance of the cores: the clearance plus both radii
    turn: float  #: bound of the sum of the angles of both rotations
    lost: float  #: bound of the rounding error of both motions
    begin: float  #: start of the queried time interval
    end: float  #: end of the interval
    poses: Array2
    cache: Array2
    simplex: Array2


class Motions(NamedTuple):
    """Motion rows of two bodies: a row for each query, or a single row for all."""

    a: Array2
    b: Array2


class Gap(NamedTuple):
    """Bounds of the distance of two cores at one time."""

    separated: bool  #: whether the distance is proven to exceed the target
    low: float  #: bounds of the distance
    high: float
    normal: Vec3
    a: Vec3  #: witness points, not defined for a half-space
    b: Vec3


class Advance(NamedTuple):
    """The terms of `phi`, a lower bound of the distance, that do not depend on support points, in A's frame."""

    normal: Vec3  #: n
    tilt_a: Vec3  #: n x w_A
    tilt_b: Vec3  #: n x w_B
    fixed: float  #: phi at s = 0 without the support points
    rate: float  #: derivative of phi at s = 0 without the support points
    k: float  #: K


@inlined
def _norm(v: Vec3) -> float:
    return sqrt(dot(v, v))


@kernel
def arm(motion: Array, f: Array) -> Vec3:
    """Return the vector from the reference point of a motion row to the centre of the core, in the body's frame."""
    return (
        f[_CENTER] - motion[REFERENCE],
        f[_CENTER + 1] - motion[REFERENCE + 1],
        f[_CENTER + 2] - motion[REFERENCE + 2],
    )


@kernel
def bend(n: Vec3, w: Vec3, r: Vec3, rho: float) -> float:
    """Return a bound of the acceleration along n of points within ``rho`` of r that rotate about 0 at the rate w."""
    square = dot(w, w)
    if square == 0.0:
        return 0.0
    a, b = cross(n, w), cross(r, w)
    return sqrt(dot(a, a)) * (sqrt(dot(b, b)) + rho * sqrt(square)) * (1.0 + 16.0 * _U)


@kernel
def phi(c: Cores, solid: bool, advance: Advance, s: float) -> tuple[float, float]:
    """Return phi(s), a lower bound of the distance after the time s, and the derivative of phi at s.

    ``solid`` is False if A is a half-space.
    """
    n, ta, tb = advance.normal, advance.tilt_a, advance.tilt_b
    da, db = along(n, ta, s), along(n, tb, s)
    value, slope = advance.fixed + s * advance.rate - 0.5 * advance.k * s * s, advance.rate - advance.k * s
    if solid:
        a = support(c.a, da)
        value -= dot(a, da)
        slope -= dot(a, ta)
    b = turn(c.m, support(c.b, neg(turn_back(c.m, db))))
    return value + dot(b, db), slope + dot(b, tb)


@kernel
def root(spare: float, slope: float, k: float) -> float:
    """Return the h at which spare + slope h - k h^2 / 2 falls through 0. If there is none, return inf or NaN."""
    d = sqrt(slope * slope + 2.0 * k * spare)
    if slope > 0.0:
        return (slope + d) / k
    return 2.0 * spare / (d - slope)


@kernel
def farthest(c: Cores, solid: bool, advance: Advance, enough: float, aim: float, most: float) -> tuple[float, float]:
    """Return a step s of at most ``most``, and the derivative of `phi` at 0.

    phi is at least ``enough`` from 0 to s. The search aims at the value ``aim`` of phi, which exceeds ``enough`` by the
    rounding error of phi.
    """
    # All terms except the square are concave. Tangents therefore bound the root of phi from the right, and chords from
    # the left.
    left, right, k = 0.0, 0.0, advance.k
    low, first = phi(c, solid, advance, left)
    if not low > aim:
        return 0.0, first
    value, slope = low, first
    for _ in range(8):
        # the root is between ``left``, the end of the proven step, and the tangent's root on the right
        tangent = right + root(value - aim, slope, k)
        if right > 0.0 and not left < tangent < right:
            break
        right = tangent if tangent < most else most
        value, slope = phi(c, solid, advance, right)
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
def drift(motion: Array) -> float:
    """Return a bound of the rounding error of `place` for a motion row, except the part proportional to body size."""
    still = True
    total = 0.0
    for c in range(3):
        still = still and motion[WAY + c] == 0.0 and motion[TURN + c] == 0.0
        total += abs(motion[CENTER + c]) + abs(motion[WAY + c]) + 2.0 * abs(motion[REFERENCE + c])
    return 0.0 if still else 8.0 * _U * total


@kernel
def turning(motion: Array) -> float:
    """Return a bound of the angle of the rotation in a motion row, in radians."""
    return float(abs(motion[TURN]) + abs(motion[TURN + 1]) + abs(motion[TURN + 2]))


@kernel
def swing_error(motion: Array, f: Array) -> float:
    """Return a bound of the error in a core's centre that the rounding of the motion's rotation causes."""
    # The rotation matrix has an error of a few roundings, plus the error of the angle, which is proportional to the
    # angle. Both move the centre in proportion to its distance from the reference point.
    angle = turning(motion)
    if angle == 0.0:
        return 0.0
    return 8.0 * _U * (2.0 + angle) * _norm(arm(motion, f))


@kernel
def cores_in_flight(x: Flight, t: float) -> Cores:
    """Return the cores at time t. The error in the result includes the rounding errors of both motions."""
    place(x.ma, t, x.poses[0])
    place(x.mb, t, x.poses[1])
    c = cores_at(x.a, x.poses[0], x.b, x.poses[1])
    error = rounding_error(c.size, c.a, c.b, c.pose[12]) + 8.0 * _U * x.turn * c.size + x.lost
    error += swing_error(x.ma, x.a.floats) + swing_error(x.mb, x.b.floats)
    return Cores(c.a, c.b, c.m, c.pose, c.size, error, c.tiny, c.radii)


@kernel
def probe(x: Flight, c: Cores, near: float) -> Gap:
    """Return bounds of the distance of the cores. ``near``, the last distance minus the target, sets their width."""
    zero = (0.0, 0.0, 0.0)
    if not x.solid:
        n = x.normal
        low, _ = phi(c, x.solid, Advance(n, zero, zero, dot(n, offset(c.m)), 0.0, 0.0), 0.0)
        return Gap(low - c.error > x.target, low, low, n, zero, zero)
    least = _LEAST_WIDTH * c.size
    width = max(least, _LOOSE * near)
    start = load_start(x.cache, plain(0), c, x.simplex)
    former = unit(start.axis)
    while True:
        walk = gjk(c, start, width, inf, -inf, x.simplex, x.simplex[0, :0])
        store_start(x.cache, plain(0), c, x.simplex, start, walk)
        start = Start(walk.axis, walk.rows)
        low = walk.lower
        if walk.code == INSIDE_SIMPLEX:
            return Gap(False, low, low, walk.axis, zero, zero)
        high = sqrt(dot(walk.v, walk.v))
        separated = low - c.error > x.target
        # wide bounds are accepted for distant cores
        if (separated and high - low <= _GOOD * (high - x.target)) or width <= least:
            a, b = witnesses(x.simplex, walk.rows)
            if separated:
                return Gap(True, low, high, walk.axis, a, b)
            # phi proved the cores apart along the direction of the previous step, which GJK has not tried
            w, _, _ = support_pair(c, former)
            return Gap(-dot(former, w) - c.error > x.target, max(low, -dot(former, w)), high, former, a, b)
        width = max(least, min(0.1 * width, _LOOSE * (high - x.target)))


@kernel
def ahead_of(x: Flight, c: Cores, n: Vec3) -> tuple[Advance, Vec3, Vec3, Vec3]:
    """Return the `Advance` along n, the `arm` of A and of B, and B's velocity relative to A, all in A's frame."""
    pose, ma, mb = c.pose, x.ma, x.mb
    wa = turn_back(pose, (ma[TURN], ma[TURN + 1], ma[TURN + 2]))
    wb = turn_back(pose, (mb[TURN], mb[TURN + 1], mb[TURN + 2]))
    v = turn_back(pose, (mb[WAY] - ma[WAY], mb[WAY + 1] - ma[WAY + 1], mb[WAY + 2] - ma[WAY + 2]))
    ra, rb = arm(ma, c.a.floats), turn(c.m, arm(mb, c.b.floats))
    tilt_a, tilt_b = cross(n, wa), cross(n, wb)
    k = bend(n, wa, ra, c.a.floats[_RHO]) + bend(n, wb, rb, c.b.floats[_RHO])
    rate = dot(rb, tilt_b) - dot(ra, tilt_a) + dot(n, v)
    return Advance(n, tilt_a, tilt_b, dot(n, offset(c.m)), rate, k), ra, rb, v


@inlined
def _less(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def bound_to(w: Vec3, spin: Vec3, n: Vec3, between: Vec3, v: Vec3, most: float, r: Vec3, rho: float) -> float:
    """Return a bound of a core's acceleration along n, while n rotates with the other body at the rate ``spin``.

    The core rotates at the rate w about its reference point, and its points are within ``rho`` of r, relative to this
    point. ``between`` is the vector from the other body's reference point to that of the core, and v the rate of its
    change. ``most`` is the longest step.
    """
    # Let q be the vector from the other body's reference point to a point of the core. The second derivative of n.q is
    # n''.q + 2 n'.q' + n.q'', where n' = spin x n. Since q is r(t) + between + t v, the length of
    # spin x (between + t v) is greatest at an end of the step.
    later = (between[0] + most * v[0], between[1] + most * v[1], between[2] + most * v[2])
    far = max(_norm(cross(spin, between)), _norm(cross(spin, later))) + _norm(spin) * (_norm(r) + rho)
    speed = _norm(cross(w, r)) + _norm(w) * rho
    k = _norm(cross(n, spin)) * (far + 2.0 * (_norm(v) + speed)) + _norm(w) * speed
    return k * (1.0 + 64.0 * _U)


@kernel
def with_bodies(x: Flight, c: Cores, advance: Advance, v: Vec3, most: float) -> tuple[Advance, Advance]:
    """Return the `Advance` for a direction n that rotates with A, and that for an n that rotates with B.

    ``advance`` is the one for a fixed n. All vectors are in A's frame at the start of the step. ``most`` is the
    longest step, and ``v`` is B's velocity relative to A.
    """
    # Let r be a point of a body relative to the reference point of the body that n rotates with. Then the derivative of
    # n.r is n'.r + n.r'.
    n, ta, tb, pose, o = advance.normal, advance.tilt_a, advance.tilt_b, c.pose, offset(c.m)
    wa = turn_back(pose, (x.ma[TURN], x.ma[TURN + 1], x.ma[TURN + 2]))
    wb = turn_back(pose, (x.mb[TURN], x.mb[TURN + 1], x.mb[TURN + 2]))
    ra, rb = arm(x.ma, c.a.floats), turn(c.m, arm(x.mb, c.b.floats))
    between = (o[0] + ra[0] - rb[0], o[1] + ra[1] - rb[1], o[2] + ra[2] - rb[2])
    none = (0.0, 0.0, 0.0)
    reverse, away = _less(none, between), _less(none, v)
    of_b = bound_to(wb, wa, n, between, v, most, rb, c.b.floats[_RHO])
    of_a = bound_to(wa, wb, n, reverse, away, most, ra, c.a.floats[_RHO])
    rate, middle = dot(n, v) + dot(rb, tb) - dot(ra, ta), dot(n, o)
    return (
        Advance(n, none, _less(tb, ta), middle, rate - dot(o, ta), of_b),
        Advance(n, _less(ta, tb), none, middle, rate - dot(o, tb), of_a),
    )  # fmt: skip


@kernel
def impact(x: Flight, coarse: float) -> tuple[int, float, float, int]:
    """Return the code, the end of the proven free time, a time of contact, and the number of steps.

    The code is FREE, HIT, UNRESOLVED, or STARTED if the cores are not separated at the start of the interval.
    If ``coarse`` is not 0, the search stops early as UNRESOLVED. The last step is then the first at whose start the
    distance exceeds the target by at most ``coarse``.
    """
    near, many = inf, _MANY_ROUGH if coarse > 0.0 else _MANY_STEPS
    t = x.begin
    for step in range(1, MAX_STEPS):
        c = cores_in_flight(x, t)
        gap = probe(x, c, near)
        if not gap.separated and (t == x.begin or gap.high - x.target <= 2.0 * c.error):
            return STARTED if t == x.begin else HIT, t, t, step
        near = gap.low - c.error - x.target  # sets the width of the next step, and is not a bound
        advance, ra, rb, v = ahead_of(x, c, gap.normal)
        enough, aim, most = x.target + 2.0 * c.error, x.target + 3.0 * c.error, x.end - t
        ahead, slope = farthest(c, x.solid, advance, enough, aim, most)
        if step > many and x.solid and x.turn > 0.0:
            with_a, with_b = with_bodies(x, c, advance, v, most)
            reach_a, _ = farthest(c, x.solid, with_a, enough, aim, most)
            reach_b, _ = farthest(c, x.solid, with_b, enough, aim, most)
            ahead = max(ahead, reach_a, reach_b)
        if t + ahead >= x.end:
            return FREE, x.end, x.end, step
        if coarse > 0.0 and near <= coarse:
            return UNRESOLVED, t + ahead, t + ahead, step
        if near <= 8.0 * c.error or not t + ahead > t:
            # the distance is at the rounding error: look for a proof of contact at the expected time and a little later
            if x.solid:  # the approach speed of the witness points, because phi depends on whole faces
                a, b, m = gap.a, gap.b, c.m
                pa = (a[0] + ra[0], a[1] + ra[1], a[2] + ra[2])
                pb = (b[0] - m[9] + rb[0], b[1] - m[10] + rb[1], b[2] - m[11] + rb[2])
                slope = dot(gap.normal, v) + dot(advance.tilt_b, pb) - dot(advance.tilt_a, pa)
            remaining = gap.high - x.target
            remaining = max(2.0 * ahead, remaining / max(-slope, sqrt(advance.k * remaining)))
            for tries in range(2):  # two times, since flat or thin shapes may have passed through each other
                later = min(t + remaining * (1.0 + tries), x.end)
                if not probe(x, cores_in_flight(x, later), near).separated:
                    return HIT, t + ahead, later, step
            if not t + ahead > t:
                return UNRESOLVED, t, t, step
        t += ahead
    return UNRESOLVED, t, t, MAX_STEPS


@single_entry
def impact_many(
    shapes: Packed, solid: bool, normal: Array1, motions: Motions, clearance: float, start: int, stop: int,
    work: Array1, out: Array2, flags: Ints2,
) -> int:  # fmt: skip
    """Write the times of impact of queries start to stop.

    A row of ``out`` contains the end of the free time, and a lower and an upper bound of the time of the first contact.
    A row of ``flags`` contains the code and the number of steps. Row 0 of the table of ``shapes`` has the starts and
    the ranks of both shapes. ``work`` is scratch of `WORK` floats. If ``solid`` is False, A is the half-space below the
    plane through its centre with ``normal``, and does not rotate. A plane is replaced by the half-space on the side
    away from B. Returns the code of the last result plus 4 for each of its steps.
    """
    q, f, table, ma, mb = shapes.ints, shapes.floats, shapes.table, motions.a, motions.b
    first, second = side_of(table, plain(0), plain(0), q, f), side_of(table, plain(0), plain(5), q, f)
    order = table[0, RANK] - table[0, 5 + RANK] if solid else -1
    n = (normal[0], normal[1], normal[2])
    poses, cache = work[: 2 * WIDTH].reshape(2, WIDTH), work[2 * WIDTH : 2 * WIDTH + MEMORY].reshape(1, MEMORY)
    simplex = work[WORK - SIMPLEX : WORK].reshape(6, 10)
    last = 0
    for k in range(start, stop):
        a, b, row_a, row_b = first, second, ma[k if ma.shape[0] > 1 else 0], mb[k if mb.shape[0] > 1 else 0]
        if order > 0 or (order == 0 and comes_later(row_a, row_b)):
            a, b, row_a, row_b = b, a, row_b, row_a
        target = clearance + a.floats[_RADIUS] + b.floats[_RADIUS]
        turn = turning(row_a) + turning(row_b)
        lost = drift(row_a) + drift(row_b) + 2.0 * _U * clearance
        cache[0, 0] = 0.0
        x = Flight(a, b, solid, n, row_a, row_b, target, turn, lost, 0.0, 1.0, poses, cache, simplex)
        if not solid and a.floats[SIDES] > 1.0:
            # a plane blocks on both sides; B starts on the side where it is higher
            y = Flight(a, b, solid, neg(n), row_a, row_b, target, turn, lost, 0.0, 1.0, poses, cache, simplex)
            c = cores_in_flight(x, x.begin)
            if probe(y, c, inf).low > probe(x, c, inf).low:
                x = y
        code, free, hit, steps = impact(x, 0.0)
        out[k, 0] = free
        out[k, 1] = inf if code == FREE else free
        out[k, 2] = inf if code in (FREE, UNRESOLVED) else hit
        flags[k, 0], flags[k, 1] = code, steps
        last = code + 4 * steps
    return last


@kernel
def part_of(motion: Array, pose: Array, f: Array, out: Array) -> float:
    """Write the motion row of a part of a body to ``out``; return a bound of its rounding error.

    ``motion`` is the motion of the body. ``pose`` is the part's pose in the body, and ``f`` are the part's floats.
    """
    reach = f[_RHO] + f[_RADIUS]
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = motion[3 * i] * pose[j] + motion[3 * i + 1] * pose[3 + j] + motion[3 * i + 2] * pose[6 + j]
        out[CENTER + i], out[WAY + i], out[TURN + i] = motion[CENTER + i], motion[WAY + i], motion[TURN + i]
        reach += abs(motion[REFERENCE + i]) + abs(pose[9 + i]) + abs(f[_CENTER + i])
    x, y, z = motion[REFERENCE] - pose[9], motion[REFERENCE + 1] - pose[10], motion[REFERENCE + 2] - pose[11]
    for j in range(3):
        out[REFERENCE + j] = pose[j] * x + pose[3 + j] * y + pose[6 + j] * z
    return float((16.0 * _U + 2.0 * pose[WIDTH - 1]) * reach)


@kernel
def flight_of_parts(
    a: Core, row_a: Array, b: Core, row_b: Array, motions: Array, clearance: float, begin: float, end: float,
    work: Array,
) -> Flight:  # fmt: skip
    """Return the `Flight` of two parts, from the time ``begin`` to ``end``.

    ``row_a`` and ``row_b`` are the poses of the parts in their bodies. The two rows of ``motions`` are the motions of
    the bodies. ``work`` is scratch of `PART_WORK` floats.
    """
    moves = work[WORK:PART_WORK].reshape(2, MOTION)
    poses, cache = work[: 2 * WIDTH].reshape(2, WIDTH), work[2 * WIDTH : 2 * WIDTH + MEMORY].reshape(1, MEMORY)
    simplex = work[WORK - SIMPLEX : WORK].reshape(6, 10)
    lost = part_of(motions[0], row_a, a.floats, moves[0]) + part_of(motions[1], row_b, b.floats, moves[1])
    lost += drift(moves[0]) + drift(moves[1]) + 2.0 * _U * clearance
    turn = turning(motions[0]) + turning(motions[1])
    target = clearance + a.floats[_RADIUS] + b.floats[_RADIUS]
    cache[0, 0] = 0.0
    return Flight(
        a, b, True, (0.0, 0.0, 1.0), moves[0], moves[1], target, turn, lost, begin, end, poses, cache, simplex
    )
