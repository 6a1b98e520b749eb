"""Tests of edges by samples, several configurations at once in SIMD lanes: link poses, and pairs that are apart.

A row contains one quantity, such as a joint value, for `LANES` configurations side by side, so that one instruction
computes with two, four or eight configurations. The compiler vectorises the loops over lanes if arrays are flat and the
offsets of rows are constant. The number of lanes is a variable, so that loops are not unrolled.

All bits of the poses are the same as in the result of `gjk3d.robot.kinematics.link_poses` for one configuration. The
test of a pair in lanes is coarser than the first test of `gjk3d.robot.cell_kernels.pair_collides`. So a pair that the
test in lanes finds apart is also found apart by `pair_collides`.

Lanes are filled with samples of one or several edges. A single configuration is an edge of one sample. A pair is tested
in all lanes together. The lanes in which the pair may be near are then tested one by one.

A slot is a shape that is fixed to a link or to the world.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels import vectors
from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.engine.store import free_around, tree_at
from gjk3d.narrow.solve import SIDES
from gjk3d.robot.bodies import NO_CAPSULE
from gjk3d.robot.cell_kernels import (
    FREE,
    REFUSED,
    UNSURE,
    Bodies,
    Frames,
    Layout,
    body_collides,
    move_ahead,
    pair_collides,
    place,
)
from gjk3d.robot.kinematics import (
    FIXED,
    LARGE_ANGLE,
    SLIDING,
    TURNING,
    Chain,
    along,
    move,
    product,
    sine_cosine,
    small_turn,
)
from gjk3d.shapes import layout as shape_layout
from gjk3d.typing import Array, Array1, Array2, Array3, Array4, Floats32_3, Ints, Ints1, Ints2

LANES = 16
POSE = 12 * LANES  #: length of the pose of a link in `Lanes.poses`
_PLACES = 16  #: first index of the positions in a row of `Lanes.spots`
SPOT = _PLACES + 6 * LANES  #: length of a row of `Lanes.spots`
_CENTER, _RHO, _RADIUS = shape_layout.CENTER, shape_layout.RHO, shape_layout.RADIUS
_NORMAL = shape_layout.FLOAT_HEAD  #: first index of the normal of a half-space; its offset follows
#: twice the bound of rounding errors in `gjk3d.robot.bodies.between_capsules`, relative to distances and radii
_ROUNDING = 4e-9
#: bound of the rounding error of a position, relative to its coordinates
_PLACED = 1e-13
_SINGLE = 2.0**-24  #: unit roundoff of single precision
_LEAST_SINGLE = 1e-18  #: squares of smaller lengths lose digits in single precision
_TRIES = 3  #: number of lanes whose free space is computed, see `not_free`


class Lanes(NamedTuple):
    """Poses of the links and slots in all lanes, which are `LANES` configurations. A slot is a shape of the cell.

    A row contains one number for each lane. ``spots[k]`` describes the bounding capsule of slot k.

    `spot` writes the numbers 0 to 8 of spots[k], in the frame of the link: the middle of the capsule (3), the vector
    from the middle to an end (3), the radius of a ball about the middle, the radius of the capsule, and a length that
    bounds all coordinates. `place_lanes` writes all that follows. Number 9 is the error of the positions in the world.
    Number 10 is the radius of the ball, plus the rounding error of single precision. From index `_PLACES` six rows
    contain the middle and the vector in world coordinates.
    """

    q: Array1  #: a row for each joint value
    turns: Array1  #: three rows: the value of a joint, its sine, its cosine
    poses: Array1  #: twelve rows for each link: the first three rows of its (4, 4) transform
    reach: Array1  #: (links,), a bound of the distance of each link's origin from the world's origin in all lanes
    spots: Array2
    centers: Floats32_3  #: (slots, 6, 8), the middles in the world in single precision, each coordinate in two rows


# link poses -----------------------------------------------------------------------------------------------------------


@kernel
def _sines(turns: Array, count: int) -> None:
    """Write the sines and cosines of the first ``count`` angles in row 0 of ``turns`` to rows 1 and 2 of ``turns``."""
    large = 0
    # With a branch in this loop the compiler would not vectorise it. The rare large angles are computed again below.
    for k in range(count):
        x = turns[k]
        turns[LANES + k], turns[2 * LANES + k] = small_turn(x)
        large |= 0 if abs(x) <= LARGE_ANGLE else 1
    if large:
        for k in range(count):
            turns[LANES + k], turns[2 * LANES + k] = sine_cosine(turns[k])


@kernel
def _fixed(parent: Array, origin: Array, pose: Array, count: int) -> None:
    # The origin is read before the loop, since the compiler must assume that the writes in the loop may change it.
    a0, a1, a2, a3 = origin[0, 0], origin[0, 1], origin[0, 2], origin[0, 3]
    b0, b1, b2, b3 = origin[1, 0], origin[1, 1], origin[1, 2], origin[1, 3]
    c0, c1, c2, c3 = origin[2, 0], origin[2, 1], origin[2, 2], origin[2, 3]
    for i in range(3):
        r = 4 * LANES * i
        for k in range(count):
            x, y, z, w = parent[r + k], parent[r + LANES + k], parent[r + 2 * LANES + k], parent[r + 3 * LANES + k]
            pose[r + k] = x * a0 + y * b0 + z * c0
            pose[r + LANES + k] = x * a1 + y * b1 + z * c1
            pose[r + 2 * LANES + k] = x * a2 + y * b2 + z * c2
            pose[r + 3 * LANES + k] = x * a3 + y * b3 + z * c3 + w


@kernel
def _rotate(pose: Array, turns: Array, a: int, b: int, sign: float, count: int) -> None:
    """Rotate the pose of a link in all lanes about a coordinate axis of the link.

    The rotation combines the columns a and b of the pose. Rows 1 and 2 of ``turns`` are the sines and cosines of its
    angles. ``sign`` is 1 if the axis of the joint points along the coordinate axis, and -1 if it points the other way.
    """
    for i in range(3):
        u, v = (4 * i + a) * LANES, (4 * i + b) * LANES
        first, second = pose[u : u + LANES], pose[v : v + LANES]
        for k in range(count):
            s, c, x, y = sign * turns[LANES + k], turns[2 * LANES + k], first[k], second[k]
            first[k], second[k] = x * c + y * s, y * c - x * s


@kernel
def _slide(pose: Array, turns: Array, x: float, y: float, z: float, count: int) -> None:
    """Translate the pose of a link in each lane k by turns[k] times the local axis (x, y, z)."""
    for i in range(3):
        r = 4 * LANES * i
        for k in range(count):
            t = turns[k]
            a, b, c = pose[r + k], pose[r + LANES + k], pose[r + 2 * LANES + k]
            pose[r + 3 * LANES + k] = a * (t * x) + b * (t * y) + c * (t * z) + pose[r + 3 * LANES + k]


@kernel
def _moved_alone(
    chain: Chain, lanes: Lanes, i: int, pose: Array, matrix: Array, m: Array, q: Array, count: int
) -> None:
    """Apply the motion of joint i to ``pose`` in each lane, one lane at a time, by `gjk3d.robot.kinematics.move`.

    ``matrix`` and ``m`` (4, 4) and ``q`` (dof,) are scratch memory.
    """
    axis, column = (chain.axis[i, 0], chain.axis[i, 1], chain.axis[i, 2]), chain.source[i]
    for k in range(count):
        for j in range(q.shape[0]):
            q[j] = lanes.q[j * LANES + k]
        for j in range(12):
            m[j // 4, j % 4] = pose[j * LANES + k]
        move(matrix, chain.kind[i], axis, q, column, chain.multiplier[i] * q[column] + chain.offset[i])
        product(m, matrix, m)
        for j in range(12):
            pose[j * LANES + k] = m[j // 4, j % 4]


@kernel
def _along_axis(axis: Array) -> int:
    """Return the index of the coordinate axis that is parallel to a unit vector, or -1 if none is."""
    for i in range(3):
        if abs(axis[i]) == 1.0 and axis[(i + 1) % 3] == 0.0 and axis[(i + 2) % 3] == 0.0:
            return i
    return -1


@kernel
def _joint(chain: Chain, lanes: Lanes, i: int, pose: Array, count: int) -> bool:
    """Apply the motion of joint i to ``pose`` in all lanes at once, and return True.

    Return False, without a change of ``pose``, if a joint of this kind or with this axis cannot be vectorised.
    """
    axis, column, turns = chain.axis[i], chain.source[i] * LANES, lanes.turns
    # Nearly all revolute joints turn about a coordinate axis. The rotation then only combines two columns, with the
    # same bits as the general rotation, whose products with 0 and 1 are exact.
    main = _along_axis(axis)
    if not (chain.kind[i] == SLIDING or (chain.kind[i] == TURNING and main >= 0)):
        return False
    q, multiplier, offset = lanes.q[column : column + LANES], chain.multiplier[i], chain.offset[i]
    for k in range(count):
        turns[k] = multiplier * q[k] + offset
    if chain.kind[i] == SLIDING:
        _slide(pose, turns, axis[0], axis[1], axis[2], count)
        return True
    _sines(turns, count)
    _rotate(pose, turns, (main + 1) % 3, (main + 2) % 3, axis[main], count)
    return True


@kernel
def link_lanes(chain: Chain, lanes: Lanes, matrix: Array, m: Array, q: Array, count: int) -> None:
    """Write the poses of all links in ``count`` lanes, and bounds of their distances from the world's origin.

    Both are written to ``lanes``. ``matrix`` and ``m`` (4, 4) and ``q`` (dof,) are scratch memory.
    """
    poses, reach = lanes.poses, lanes.reach
    for i in range(chain.parent.shape[0]):
        p, o = chain.parent[i], chain.origin[i]
        pose = poses[POSE * i : POSE * i + POSE]
        reach[i] = abs(o[0, 3]) + abs(o[1, 3]) + abs(o[2, 3])
        if p >= 0:
            _fixed(poses[POSE * p : POSE * p + POSE], o, pose, count)
            reach[i] += reach[p]
        else:
            for j in range(12):
                pose[j * LANES : j * LANES + LANES] = o[j // 4, j % 4]
        if chain.kind[i] == FIXED:
            continue
        if not _joint(chain, lanes, i, pose, count):
            _moved_alone(chain, lanes, i, pose, matrix, m, q, count)
        if chain.kind[i] != TURNING:  # a rotation about the origin of the link does not move it
            for k in range(count):
                far = abs(pose[3 * LANES + k]) + abs(pose[7 * LANES + k]) + abs(pose[11 * LANES + k])
                reach[i] = max(reach[i], far)


# separation tests -----------------------------------------------------------------------------------------------------


@kernel
def _floor(layout: Layout, k: int, out: Array) -> None:
    f, o, r = layout.floats, layout.starts[k, 1], layout.local[k]
    x, y, z = f[o + _NORMAL], f[o + _NORMAL + 1], f[o + _NORMAL + 2]
    out[3] = f[o + _NORMAL + 3]
    for i in range(3):
        out[i] = r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z
        out[3] += out[i] * r[9 + i]
    out[4], out[5], out[6], out[7] = f[o + SIDES], r[12], inf, 0.0
    out[8] = abs(f[o + _NORMAL + 3]) + abs(r[9]) + abs(r[10]) + abs(r[11])


@kernel
def spot(layout: Layout, k: int, out: Array) -> None:
    """Write the bounding capsule of slot k, in the frame of its link, to ``out``, a row of `Lanes.spots`.

    For a half-space or a plane, the row begins with the unit normal in the world, the offset, 1 for a half-space or 2
    for a plane, and the greatest entry of |R^T R - 1| for the rotation R of the pose. The radius of the ball is
    infinite.
    """
    if layout.starts[k, 2] == NO_CAPSULE:
        _floor(layout, k, out)
        return
    f, ball, o, r = layout.floats, layout.starts[k, 1], layout.starts[k, 2], layout.local[k]
    off = half = size = 0.0
    for i in range(3):
        x, y, z = r[3 * i], r[3 * i + 1], r[3 * i + 2]
        middle = 0.5 * (x * (f[o] + f[o + 3]) + y * (f[o + 1] + f[o + 4]) + z * (f[o + 2] + f[o + 5]))
        end = 0.5 * (x * (f[o + 3] - f[o]) + y * (f[o + 4] - f[o + 1]) + z * (f[o + 5] - f[o + 2]))
        at = x * f[ball + _CENTER] + y * f[ball + _CENTER + 1] + z * f[ball + _CENTER + 2]
        out[i], out[3 + i] = middle + r[9 + i], end
        off += (at - middle) * (at - middle)
        half += end * end
        size += abs(middle) + abs(end) + abs(at) + abs(r[9 + i])
    # Two balls about the middle contain the shape. The radius of the smaller ball is used.
    out[6] = min(sqrt(half) + f[o + 6], sqrt(off) + f[ball + _RHO] + f[ball + _RADIUS])
    out[7], out[8] = f[o + 6], size + out[6]


@inlined
def _place_moving(s: Array, pose: Array, count: int) -> None:
    """Write the world coordinates of a capsule in each lane to its row s of `Lanes.spots`, from its link's ``pose``."""
    point, a, b, c, u, v, w = s[_PLACES:], s[0], s[1], s[2], s[3], s[4], s[5]
    for i in range(3):
        r, p = 4 * LANES * i, LANES * i
        for n in range(count):
            x, y, z = pose[r + n], pose[r + LANES + n], pose[r + 2 * LANES + n]
            point[p + n] = x * a + y * b + z * c + pose[r + 3 * LANES + n]
            point[p + 3 * LANES + n] = x * u + y * v + z * w


@inlined
def place_lanes(lanes: Lanes, link: int, k: int, count: int) -> None:
    """Write to ``lanes`` the world position of the capsule of slot k in each lane, and a bound of its error.

    ``link`` is the link to which the slot is fixed, negative for the world.
    """
    s, center = lanes.spots[k], lanes.centers[k].reshape(3 * LANES)
    point = s[_PLACES:]
    far = s[8] + (lanes.reach[link] if link >= 0 else 0.0)
    s[9] = _PLACED * far + _ROUNDING * s[7]
    s[10] = s[6] + s[9] + _SINGLE * far
    if link < 0:
        count = plain(LANES)
        for i in range(6):
            point[i * LANES : i * LANES + LANES] = s[i]
    else:
        _place_moving(s, lanes.poses[POSE * link : POSE * link + POSE], count)
    for i in range(3):
        for n in range(i * LANES, i * LANES + count):
            center[n] = point[n]


@kernel
def _near_floor(lanes: Lanes, a: int, b: int, margin: float, count: int) -> int:
    """Return the bits of `near_lanes`, 0 for proven farther apart, if slot b is a half-space or a plane."""
    s, t = lanes.spots[a], lanes.spots[b]
    p, near = s[_PLACES:], plain(0)
    x, y, z, offset, two_sided = t[0], t[1], t[2], t[3], t[4] > 1.0
    # The two errors contain `_PLACED` times all lengths. So the quotient yields 8 times the residual times all lengths,
    # which is at least the error term of `above_plane`.
    least = margin + (s[9] + t[9]) * (1.0 + 8.0 / _PLACED * t[5]) + s[7]
    for n in range(count):
        h = x * p[n] + y * p[LANES + n] + z * p[2 * LANES + n] - offset
        # |u| is the height of the middle above the lower end of the capsule's segment, so its lower end is at h - |u|
        u = x * p[3 * LANES + n] + y * p[4 * LANES + n] + z * p[5 * LANES + n]
        h = abs(h) if two_sided else h
        near |= 0 if h - abs(u) > least else 1 << n
    return near


@inlined
def _near_in_single(lanes: Lanes, a: int, b: int, margin: float, count: int) -> int:
    """Return the bits of `near_balls` (0 for proven apart), in single precision: a third of the time, more bits set."""
    # The radii include the rounding of the middles. The factor covers the rounding of the squared distance.
    wide = max((lanes.spots[a, 10] + lanes.spots[b, 10] + margin) * (1.0 + 16.0 * _SINGLE), _LEAST_SINGLE)
    apart = vectors.balls_apart(lanes.centers, a, b, plain(0), wide * wide)
    if count > vectors.LANES:
        apart |= vectors.balls_apart(lanes.centers, a, b, plain(1), wide * wide) << vectors.LANES
    return ~apart & ((1 << count) - 1)


@inlined
def near_balls(lanes: Lanes, a: int, b: int, margin: float, count: int) -> int:
    """Return one bit for each lane: 0 if the bounding balls of a and b prove them farther apart than a margin."""
    s, t = lanes.spots[a], lanes.spots[b]
    p, q, near = s[_PLACES:], t[_PLACES:], plain(0)
    if _near_in_single(lanes, a, b, margin, count) == 0:
        return near
    wide = max(s[6] + t[6] + (margin + s[9] + t[9] + 1e-140), 1e-140)  # smaller squares are denormal
    square = wide * wide
    for n in range(count):
        x, y, z = p[n] - q[n], p[LANES + n] - q[LANES + n], p[2 * LANES + n] - q[2 * LANES + n]
        near |= 0 if (x * x + y * y + z * z) * (1.0 - _ROUNDING) > square else 1 << n
    return near


@inlined
def _near_capsules(lanes: Lanes, a: int, b: int, margin: float, count: int) -> int:
    """Return one bit for each lane: 0 if the bounding capsules of a and b prove them farther apart than a margin."""
    s, t = lanes.spots[a], lanes.spots[b]
    p, q, near = s[_PLACES:], t[_PLACES:], plain(0)
    wide = max(s[7] + t[7] + (margin + s[9] + t[9] + 1e-140), 1e-140)  # smaller squares are denormal
    square = wide * wide
    for n in range(count):
        x, y, z = p[n] - q[n], p[LANES + n] - q[LANES + n], p[2 * LANES + n] - q[2 * LANES + n]
        d = x * x + y * y + z * z
        u = x * p[3 * LANES + n] + y * p[4 * LANES + n] + z * p[5 * LANES + n]
        v = x * q[3 * LANES + n] + y * q[4 * LANES + n] + z * q[5 * LANES + n]
        # ``gap`` is the gap of the projections times sqrt(d). Comparing squares avoids the root.
        gap = d * (1.0 - _ROUNDING) - abs(u) - abs(v)
        near |= 0 if gap > 0.0 and gap * gap > d * square else 1 << n
    return near


@inlined
def near_lanes(lanes: Lanes, a: int, b: int, margin: float, count: int) -> int:
    """Return one bit for each lane: 1 if slots a and b may be within a margin, 0 if they are proven farther apart.

    The bounding balls are tested first. Then the bounding capsules are projected on the line through their middles. The
    gap between the projections on any line is a lower bound of the distance.
    """
    if lanes.spots[b, 6] == inf:
        return _near_floor(lanes, a, b, margin, count)
    if _near_in_single(lanes, a, b, margin, count) == 0:
        return 0
    return _near_capsules(lanes, a, b, margin, count)


MOST_STEPS = 2.0**28  #: greatest number of steps of one edge; more steps would take minutes
_TOGETHER = 8  #: lanes of the widest vector; loops run over a multiple of this number of lanes
#: Orders of samples. `IN_ORDER` finds the first sample that is not free. `ANY_HIT` finds any sample that is not free.
#: `COARSE` tests only the first samples in the order of `ANY_HIT`, for edges that a proof tests next.
IN_ORDER, ANY_HIT, COARSE = range(3)
#: Indices in `Samples.next`: the present edge and its next sample, the first edge and the edge after the last, the
#: distance of two samples out of order, the number of samples of each edge in a round, the number of these that are
#: left for the present edge, and 1 if another round is needed. `_NEXT` is the length of `Samples.next`.
_EDGE, _SAMPLE, _START, _STOP, _STRIDE, _SHARE, _LEFT, _MORE, _NEXT = range(9)
_LARGER = 4  #: factor by which the number of samples of each edge grows from one round to the next
_ALL = 1 << 62  #: number of samples of each edge in a round of `IN_ORDER`: no limit
_COARSE = 4  #: number of samples of each edge in the last round of `COARSE`
_NUMBERS = 2 * LANES + _NEXT + 1  #: length of `LaneScratch.ints`


class Edges(NamedTuple):
    """Edges, which are straight lines in joint space from q0 to q1, and the result of each edge."""

    q0: Array2
    q1: Array2
    spacing: Array1  #: (dof,), greatest change of each joint value between two samples
    begin: Ints1  #: (edges,), the first sample that is tested with `IN_ORDER`
    steps: Ints1  #: (edges,), the number of samples minus 1
    at: Ints1  #: (edges,), the sample that collides, or the next sample to test
    which: Ints1  #: (edges,), the pair that collides at this sample, or `FREE`, `UNSURE` or `REFUSED`


class Samples(NamedTuple):
    """The samples that are in the lanes, and the samples that follow."""

    edges: Edges
    edge: Ints1  #: index of the edge in each lane
    sample: Ints1  #: index of the sample in each lane
    next: Ints1  #: the state of the iteration over samples, with the indices `_EDGE`, `_SAMPLE` and so on
    sequence: int  #: `IN_ORDER`, `ANY_HIT` or `COARSE`


class LaneScratch(NamedTuple):
    """Scratch memory of `first_hits_of_many`, for all lanes and for tests of single lanes. `lane_scratch` makes it."""

    numbers: Array1  #: the first four arrays of `Lanes`
    spots: Array2
    centers: Floats32_3
    links: Array4  #: this field and the next three: the arrays of `Frames` for each lane
    rows: Array3
    balls: Array3
    stamp: Ints2
    used: Ints1  #: (slots,), 1 for a slot that moves and is in a pair, else 0
    ints: Ints1  #: (_NUMBERS,), the integers of `Samples`, then the last stamp


class Task(NamedTuple):
    """A cell, and the scratch memory of the kernels that test its pairs in lanes."""

    chain: Chain
    layout: Layout
    order: Ints1  #: the order in which convex pairs are tested, likely hits first
    margins: Array1  #: (pairs,)
    axes: Array2  #: the last GJK axis of each pair, then of each sub-pair
    scratch: LaneScratch
    poses: Array3  #: (2, 4, 4), scratch memory
    simplex: Array2
    q: Array1


def lane_scratch(dof: int, links: int, layout: Layout, body_pairs: Ints) -> LaneScratch:
    """Return scratch memory for a robot with ``dof`` joint values and ``links`` links.

    The positions of all shapes that are fixed to the world are already written to it.
    """
    slots = len(layout.link)
    scratch = LaneScratch(
        np.zeros((dof + 3) * LANES + links * (POSE + 1)), np.zeros((slots, SPOT)),
        np.zeros((slots, 6, vectors.LANES), dtype=np.float32), np.zeros((LANES, links, 4, 4)),
        np.empty((LANES, slots, 13)), np.empty((LANES, slots, 4)), np.zeros((LANES, slots), dtype=np.int64),
        np.empty(slots, dtype=np.int64), np.zeros(_NUMBERS, dtype=np.int64),
    )  # fmt: skip
    place_static(layout, body_pairs, scratch.spots, scratch.centers, scratch.used)
    return scratch


@entry
def place_static(layout: Layout, of_bodies: Ints2, spots: Array2, centers: Floats32_3, used: Ints1) -> None:
    """Write the rows of `Lanes.spots` for all slots in pairs, and the positions of slots that are fixed to the world.

    A slot is a shape on a link or in the world. ``used`` (slots,) gets 1 for each slot on a link that is in a pair, and
    0 for all other slots. ``of_bodies`` contains rows of `Bodies.pairs`.
    """
    none, link = layout.floats[:0], layout.link
    lanes = Lanes(none, none, none, none, spots, centers)
    used[:] = 0
    for pairs in (layout.pairs, of_bodies):
        for p in range(pairs.shape[0]):
            used[pairs[p, 0]] = used[pairs[p, 1]] = 1
    for k in range(used.shape[0]):
        if used[k] != 0:
            spot(layout, k, spots[k])
            if link[k] < 0:
                place_lanes(lanes, link[k], k, plain(0))
                used[k] = 0


@inlined
def lanes_in(scratch: LaneScratch, dof: int, links: int) -> Lanes:
    """Return `Lanes` in the memory of ``scratch``. Its first four arrays are consecutive parts of one array."""
    numbers = scratch.numbers
    a = dof * LANES
    b = a + 3 * LANES
    c = b + links * POSE
    return Lanes(numbers[:a], numbers[a:b], numbers[b:c], numbers[c:], scratch.spots, scratch.centers)


# samples of edges -----------------------------------------------------------------------------------------------------


@kernel
def _steps_of(q0: Array, q1: Array, spacing: Array) -> int:
    """Return the least number of steps for which no step changes q by more than ``spacing``, or -1 if q is not finite.

    If the two ends differ, the number is at least 1, so both ends are sampled. It is at most `MOST_STEPS` + 1, which
    `_begin` refuses.
    """
    widest, differ = 0.0, plain(0)
    for j in range(q0.shape[0]):
        change = abs(q1[j] - q0[j])
        if change - change != 0.0:
            return -1
        if change > 0.0:
            differ = 1
            widest = max(widest, change / spacing[j])
    return max(ceil(min(widest, MOST_STEPS + 1.0)), differ)


@kernel
def _next_edge(samples: Samples) -> None:
    """Store the next sample of the present edge in `Edges.at`, and advance to the next edge without a hit so far."""
    next, edges, e = samples.next, samples.edges, samples.next[_EDGE]
    if e >= next[_START] and edges.which[e] == FREE:
        edges.at[e] = next[_SAMPLE]
        next[_MORE] |= 1 if next[_SAMPLE] <= edges.steps[e] else 0
    e += 1
    while e < next[_STOP] and edges.which[e] != FREE:
        e += 1
    next[_EDGE] = e
    if e == next[_STOP]:
        return
    s, steps = edges.at[e], edges.steps[e]
    next[_SAMPLE], next[_LEFT] = s, next[_SHARE]
    # the samples of a level are the odd multiples of half of their distance
    next[_STRIDE] = 2 * (s & -s)
    if s == steps:
        next[_STRIDE] = 2
        while next[_STRIDE] < 2 * steps:
            next[_STRIDE] *= 2


@kernel
def _next_round(samples: Samples) -> bool:
    """Go back to the first edge for the next round of samples. Return whether any samples are left.

    Most colliding edges collide at one of their first samples. So the first round has few samples of each edge, and
    most colliding edges occupy few lanes.
    """
    next = samples.next
    if next[_MORE] == 0 or (samples.sequence == COARSE and next[_SHARE] >= _COARSE):
        return False
    next[_MORE], next[_EDGE] = 0, next[_START] - 1
    next[_SHARE] *= _LARGER
    _next_edge(samples)
    return bool(next[_EDGE] < next[_STOP])


@kernel
def _next_sample(samples: Samples) -> None:
    """Advance to the next sample of the present edge, or past its last sample.

    With `ANY_HIT` and `COARSE` the end of an edge comes first, because a planner has not tested it yet. The inner
    samples follow from coarse to fine (van der Corput order, level by level), which finds a collision early. The
    beginning comes last.
    """
    next, steps = samples.next, samples.edges.steps[samples.next[_EDGE]]
    if samples.sequence == IN_ORDER:
        next[_SAMPLE] += 1
    elif next[_SAMPLE] == 0:
        next[_SAMPLE] = steps + 1
    else:
        next[_SAMPLE] += next[_STRIDE]
        while next[_SAMPLE] >= steps:  # the next level has half the distance between samples
            next[_STRIDE] //= 2
            next[_SAMPLE] = next[_STRIDE] // 2


@kernel
def _fill(samples: Samples, lanes: Lanes, q: Array) -> int:
    """Write the configurations of the next samples to ``lanes.q``, and return their number. q is scratch memory."""
    next, edges, n = samples.next, samples.edges, plain(0)
    while n < LANES:
        e, s = next[_EDGE], next[_SAMPLE]
        if e == next[_STOP]:
            # the samples of a round are tested before the next round, which then skips edges that collide
            if n > 0 or not _next_round(samples):
                break
            continue
        if s > edges.steps[e] or edges.which[e] != FREE or next[_LEFT] == 0:
            _next_edge(samples)
            continue
        along(edges.q0[e], edges.q1[e], s / edges.steps[e] if s > 0 else 0.0, q)
        for j in range(q.shape[0]):
            lanes.q[j * LANES + n] = q[j]
        samples.edge[n], samples.sample[n] = e, s
        next[_LEFT] -= 1
        _next_sample(samples)
        n += 1
    return n


@kernel
def _without(samples: Samples, first: int, k: int, n: int, alive: int) -> int:
    """Return ``alive``, a bit for each lane, with 0 for those lanes from ``first`` to n - 1 that have lane k's edge."""
    for j in range(first, n):
        if samples.edge[j] == samples.edge[k]:
            alive &= ~(1 << j)
    return alive


# single lanes ---------------------------------------------------------------------------------------------------------


@inlined
def _place_lane(layout: Layout, lanes: Lanes, frames: Frames, k: int, slot: int, now: int) -> None:
    """Write the pose of a slot in lane k to ``frames``, unless it was written since `next_stamp` returned ``now``."""
    link = layout.link[slot]
    if link >= 0 and frames.stamp[slot] < now:
        pose, m = lanes.poses[POSE * link : POSE * link + POSE], frames.links[link]
        for i in range(3):
            for j in range(4):
                m[i, j] = pose[(4 * i + j) * LANES + k]
    place(layout, frames, slot, now)


@inlined
def place_lane(
    layout: Layout, lanes: Lanes, scratch: LaneScratch, matrix: Array, k: int, a: int, b: int, now: int
) -> Frames:
    """Return the frames of lane k with the poses of slots a and b. ``matrix`` is scratch memory.

    ``now`` is the result of `next_stamp` for the present configurations in the lanes.
    """
    frames = Frames(matrix, scratch.links[k], scratch.rows[k], scratch.balls[k], scratch.stamp[k])
    _place_lane(layout, lanes, frames, k, a, now)
    _place_lane(layout, lanes, frames, k, b, now)
    return frames


@inlined
def next_stamp(scratch: LaneScratch) -> int:
    """Return a new stamp, for new configurations in the lanes. Poses with an older stamp in ``scratch`` are invalid."""
    scratch.ints[_NUMBERS - 1] += 1
    return int(scratch.ints[_NUMBERS - 1])


@inlined
def not_free(
    layout: Layout, lanes: Lanes, bodies: Bodies, n: int, margin: float, near: int, count: int, tries: int
) -> int:
    """Return ``near``, a bit for each lane, with 0 for lanes in which a pair is proven farther apart than ``margin``.

    The pair is row n of ``bodies``: a body and a second slot. If the body is not fixed to the world, ``near`` is
    unchanged. A ball of free space around the second slot in one lane often contains this slot in neighbouring lanes,
    so a few ``tries`` prove most lanes. ``count`` is the number of lanes in use.
    """
    host, guest = bodies.pairs[n, 0], bodies.pairs[n, 1]
    if layout.link[host] >= 0:
        return near
    tree, s = tree_at(bodies.store, host), lanes.spots[guest]
    c, untried = s[_PLACES:], near
    for _ in range(tries):
        left = plain(0)
        for k in range(count):
            left += untried >> k & 1
        if left == 0:
            break
        # the middle one of the untried lanes, whose ball is nearest to most other balls
        middle, skip = plain(-1), (left + 1) // 2
        for k in range(count):
            skip -= untried >> k & 1
            if skip == 0 and middle < 0:
                middle = k
        x, y, z, wide = c[middle], c[LANES + middle], c[2 * LANES + middle], 0.0
        for k in range(count):
            if untried >> k & 1:
                u, v, w = c[k] - x, c[LANES + k] - y, c[2 * LANES + k] - z
                wide = max(wide, u * u + v * v + w * w)
        radius = s[6] + max(margin, 0.0) + s[9]
        free = free_around(tree, layout.local[host], (x, y, z), radius, sqrt(wide) * (1.0 + 1e-9), bodies.scratch)
        untried &= ~(1 << middle)
        if free <= 0.0:
            continue
        for k in range(count):
            u, v, w = c[k] - x, c[LANES + k] - y, c[2 * LANES + k] - z
            if u * u + v * v + w * w <= free * free:
                untried &= ~(1 << k)
                near &= ~(1 << k)
    return near


@inlined
def _mostly_one_edge(samples: Samples, n: int) -> bool:
    """Return whether at least half of n lanes have the same edge as the lane before.

    A ball of free space around a slot in one lane then often contains the slot in other lanes, see `not_free`.
    """
    same = plain(0)
    for k in range(1, n):
        same += 1 if samples.edge[k] == samples.edge[k - 1] else 0
    return bool(2 * same >= n)


@inlined
def _write_hit(samples: Samples, k: int, n: int, p: int, verdict: int, alive: int) -> int:
    """Write the hit of pair p in lane k to the edge of this lane, and return the lanes that are still to be tested.

    ``alive`` and the result have a bit for each of n lanes. ``verdict`` is 1 if the pair collides, 2 if undecided.
    """
    e = samples.edge[k]
    samples.edges.at[e], samples.edges.which[e] = samples.sample[k], p if verdict == 1 else UNSURE
    # With `IN_ORDER`, earlier samples of the edge may also collide, so they must still be tested.
    return _without(samples, k if samples.sequence == IN_ORDER else 0, k, n, alive)


@inlined
def _begin(task: Task, edges: Edges, start: int, stop: int, sequence: int) -> tuple[Lanes, Samples]:
    """Return empty lanes, and the start of an iteration over the samples of the edges ``start`` to ``stop`` - 1.

    The number of steps of each edge is written to ``edges.steps``. For an invalid edge `REFUSED` is written to
    ``edges.which``.
    """
    scratch, ints = task.scratch, task.scratch.ints
    lanes = lanes_in(scratch, task.q.shape[0], task.chain.parent.shape[0])
    samples = Samples(edges, ints[:LANES], ints[LANES : 2 * LANES], ints[2 * LANES : 2 * LANES + _NEXT], sequence)
    for e in range(start, stop):
        steps = _steps_of(edges.q0[e], edges.q1[e], edges.spacing)
        edges.steps[e], edges.at[e] = steps, edges.begin[e] if sequence == IN_ORDER else steps
        edges.which[e] = FREE if 0 <= steps <= MOST_STEPS else REFUSED
    next = samples.next
    next[_START], next[_STOP], next[_EDGE], next[_MORE] = start, stop, start - 1, 0
    # few edges have several samples each in the first round, since half of the lanes take as long as one lane
    next[_SHARE] = _ALL if sequence == IN_ORDER else max(_TOGETHER // max(stop - start, 1), 1)
    _next_edge(samples)
    return lanes, samples


@kernel
def _place_next(task: Task, lanes: Lanes, samples: Samples) -> tuple[int, int]:
    """Fill the lanes with the next samples, and write the poses of their links and slots to ``lanes``.

    Return the number of samples, 0 at the end, and this number rounded up to a multiple of the vector width.
    """
    layout, used = task.layout, task.scratch.used
    n = _fill(samples, lanes, task.q)
    if n == 0:
        return n, n
    next_stamp(task.scratch)
    count = (n + _TOGETHER - 1) // _TOGETHER * _TOGETHER
    link_lanes(task.chain, lanes, task.poses[0], task.poses[1], task.q, count)
    for k in range(used.shape[0]):
        if used[k] != 0:
            place_lanes(lanes, layout.link[k], k, count)
    return n, count


@entry
def first_hits_of_many(task: Task, edges: Edges, start: int, stop: int, sequence: int) -> None:
    """Write each edge's first sample that is not free, and a pair that is closer than its margin at this sample.

    Edge e is a straight line from q0[e] to q1[e] with steps[e] + 1 samples. The joint values change by at most
    ``spacing`` from one sample to the next. With `IN_ORDER`, samples are tested from begin[e] to the first collision.
    With `ANY_HIT`, they are tested in the order of `_next_sample`, and the result is any sample that is not free. The
    index of the sample is written to ``at``, and the pair to ``which``. If all samples are free, ``which`` is `FREE`
    and ``at`` is past the last sample. ``which`` is `UNSURE` if GJK alone cannot decide, and `REFUSED` if q is not
    finite or there are too many samples.
    """
    lanes, samples = _begin(task, edges, start, stop, sequence)
    n, count = _place_next(task, lanes, samples)
    while n != 0:
        _convex_hits(task, lanes, samples, n, count)
        n, count = _place_next(task, lanes, samples)


@kernel
def walk_cell(task: Task, bodies: Bodies, edges: Edges, start: int, stop: int, sequence: int) -> None:
    """Write the hits of edges to ``edges`` as `first_hits_of_many` does, also hits of bodies, such as meshes."""
    # among bodies each edge is tested separately, since its samples often share the free space around a ball
    together = plain(1) if bodies.order.shape[0] > 0 and sequence != IN_ORDER else max(stop - start, 1)
    for first in range(start, stop, together):
        lanes, samples = _begin(task, edges, first, min(first + together, stop), sequence)
        n, count = _place_next(task, lanes, samples)
        while n != 0:
            alive = _convex_hits(task, lanes, samples, n, count)
            if alive != 0:
                _body_hits(task, bodies, lanes, samples, n, count, alive)
            n, count = _place_next(task, lanes, samples)


@entry
def first_hits_of_cell(task: Task, bodies: Bodies, edges: Edges, start: int, stop: int, sequence: int) -> None:
    """Write the hits of edges to ``edges`` as `first_hits_of_many` does, also hits of bodies.

    Bodies are shapes with bounding volume trees, such as meshes. This is a separate entry, so that numba compiles the
    kernels of trees only for cells with bodies.
    """
    walk_cell(task, bodies, edges, start, stop, sequence)


@inlined
def _convex_hits(task: Task, lanes: Lanes, samples: Samples, n: int, count: int) -> int:
    """Write the hits of convex pairs in n lanes to their edges, and return the bits of the lanes still to be tested."""
    layout, scratch, order, margins = task.layout, task.scratch, task.order, task.margins
    alive, now = (1 << n) - 1, scratch.ints[_NUMBERS - 1]
    # The outer loop runs over pairs: after a collision in a lane, the later pairs are not tested in this lane.
    for r in range(order.shape[0]):
        p = order[r]
        a, b = layout.pairs[p, 0], layout.pairs[p, 1]
        near, k = alive & near_lanes(lanes, a, b, margins[p], count), plain(-1)
        while near != 0:
            k += 1
            bit = near & 1
            near >>= 1
            if bit == 0 or alive >> k & 1 == 0:
                continue
            frames = place_lane(layout, lanes, scratch, task.poses[0], k, a, b, now)
            verdict = pair_collides(layout, frames, now, p, margins[p], task.axes, task.simplex)
            if verdict == 0:
                continue
            alive = _write_hit(samples, k, n, p, verdict, alive)
            if verdict == 1 and order[r] == p:
                move_ahead(order, r)
        if alive == 0:
            break
    return alive


@kernel
def _body_hits(task: Task, bodies: Bodies, lanes: Lanes, samples: Samples, n: int, count: int, alive: int) -> None:
    """Write the hits of pairs with bodies to the edges of the lanes whose bits are 1 in ``alive``."""
    layout, scratch = task.layout, task.scratch
    now, first, one_edge = scratch.ints[_NUMBERS - 1], layout.pairs.shape[0], _mostly_one_edge(samples, n)
    for r in range(bodies.order.shape[0]):
        p = bodies.order[r]
        margin, host, guest = task.margins[first + p], bodies.pairs[p, 0], bodies.pairs[p, 1]
        near, k = alive & near_lanes(lanes, guest, host, margin, count), plain(-1)
        if near != 0 and one_edge:
            near = not_free(layout, lanes, bodies, p, margin, near, count, plain(_TRIES))
        while near != 0:
            k += 1
            bit = near & 1
            near >>= 1
            if bit == 0 or alive >> k & 1 == 0:
                continue
            frames = place_lane(layout, lanes, scratch, task.poses[0], k, host, guest, now)
            verdict = body_collides(layout, frames, bodies, p, margin, not one_edge)
            if verdict == 0:
                continue
            alive = _write_hit(samples, k, n, first + p, verdict, alive)
            if verdict == 1 and bodies.order[r] == p:
                move_ahead(bodies.order, r)
        if alive == 0:
            break
