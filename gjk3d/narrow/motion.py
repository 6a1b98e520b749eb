"""Rows of numbers that describe motions of bodies: built from a caller's arguments, and evaluated at a time.

A row has the rotation at time 0 by rows, the reference point's position at time 0, its translation until time 1, the
rotation vector until time 1, and the reference point in the body's frame.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt, tan

from gjk3d._kernels.decorators import kernel, plain, single_entry
from gjk3d.geometry.vec3 import Vec3, along, cross, divide, dot, row3, scale, sub, turn_back
from gjk3d.poses import GREATEST, UNIT_ROUNDOFF, check_row
from gjk3d.typing import Array, Array1, Array2, Array3

MOTION = 21
CENTER, WAY, TURN, REFERENCE = 9, 12, 15, 18
#: largest rotation vector: a thousand turns
MOST_TURN = 6283.2
#: below this angle the axis of a screw motion is so far away that the path is a straight line
_STRAIGHT = 1e-8
_SMALL = 1e-3  #: angle up to which its quotient with a sine uses the series


@kernel
def place(motion: Array, t: float, pose: Array) -> None:
    """Write a body's pose at time t to a pose row."""
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
    """Write a body's pose at time t to the 16 numbers of a matrix."""
    place(motion, t, m)
    x, y, z = m[9], m[10], m[11]
    for row in range(2, -1, -1):  # from the end, so that no number is overwritten before it is read
        for column in range(2, -1, -1):
            m[4 * row + column] = m[3 * row + column]
    m[3], m[7], m[11] = x, y, z
    m[12], m[13], m[14], m[15] = 0.0, 0.0, 0.0, 1.0


@single_entry
def matrix_at(motions: Array2, time: float, out: Array2) -> None:
    """Write the pose of one body at a time, (4, 4)."""
    write_matrix(motions[0], time, out.reshape(16))


@single_entry
def matrices_at(motions: Array2, times: Array1, out: Array3) -> None:
    """Write the pose of each body at its time, (n, 4, 4)."""
    for k in range(times.shape[0]):
        write_matrix(motions[k if motions.shape[0] > 1 else 0], times[k], out[k].reshape(16))


@kernel
def finish(row: Array, shift: Vec3, turn: Vec3, center: Vec3, centered: bool) -> None:
    """Write the rest of a motion row after the pose; the reference point is the body's origin unless ``centered``."""
    # If the body does not rotate the body's origin is used, because a far centre would lose digits.
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
    """Fill the one row of ``out`` with a motion; return False if the matrix is not a pose or a vector is not valid."""
    good = within(shift, GREATEST) and within(turn, MOST_TURN) and within(center, GREATEST)
    if not good or check_row(m, out, plain(0)) != 0:
        return False
    finish(out[0], shift, turn, center, centered)
    return True


@single_entry
def motion_rows(poses: Array2, shift: Array2, turn: Array2, center: Array2, centered: bool, out: Array2) -> None:
    """Fill the rows of ``out`` with motions; the other arrays have as many rows, or one."""
    for k in range(out.shape[0]):
        pose = poses[k if poses.shape[0] > 1 else 0]
        for j in range(12):
            out[k, j] = pose[j]
        of_way = row3(shift, k if shift.shape[0] > 1 else 0)
        of_turn = row3(turn, k if turn.shape[0] > 1 else 0)
        finish(out[k], of_way, of_turn, row3(center, k if center.shape[0] > 1 else 0), centered)


@kernel
def entry_of_turn(p: Array, q: Array, i: int, j: int) -> float:
    """Return entry (i, j) of the rotation from pose p to pose q."""
    return float(q[3 * i] * p[3 * j] + q[3 * i + 1] * p[3 * j + 1] + q[3 * i + 2] * p[3 * j + 2])


@kernel
def turn_between(p: Array, q: Array) -> Vec3:
    """Return the rotation vector from pose p to pose q, of the shorter rotation."""
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
    """Write the motion from pose p to pose q: a screw motion, or a motion with a straight path of the origin."""
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
    """Write the motion between two matrices to ``out``; return False if one is not a pose. ``poses`` is scratch."""
    if check_row(ma, poses, plain(0)) != 0 or check_row(mb, poses, plain(1)) != 0:
        return False
    join(poses[0], poses[1], screw, out[0])
    return True


@single_entry
def between_rows(first: Array2, last: Array2, screw: bool, out: Array2) -> None:
    """Write the motions between pose rows to ``out``; the other arrays have as many rows, or one."""
    for k in range(out.shape[0]):
        join(first[k if first.shape[0] > 1 else 0], last[k if last.shape[0] > 1 else 0], screw, out[k])
