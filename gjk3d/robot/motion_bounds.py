"""Motion bounds: upper bounds of the relative motion of the shapes of a pair on a line between configurations.

Each joint between two shapes moves them relative to each other by at most the translation of the joint, or its angle
times the smaller reach of the two shapes (Schwarzer, Saha, Latombe 2005). The reach of a shape is its greatest distance
from the axis of a joint in all configurations. To compute the reach, the set of all points of the shape is transformed
from link to link through the whole tree. At each joint, the set is swept around the axis of a revolute joint, or along
the axis of a prismatic joint, and replaced by a cylinder around the swept set. Limits of revolute joints are ignored,
so a folded arm counts as stretched. A link that turns about its long axis has a small reach.

A slot is a shape that is fixed to a link or to the world.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, inf, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, perpendicular
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import Layout, core_of
from gjk3d.robot.kinematics import FIXED, FLOATING, LENGTHS, SLIDING, Chain, plane_axes
from gjk3d.robot.model import Robot
from gjk3d.robot.trajectories import bounds_on_curve
from gjk3d.shapes import layout
from gjk3d.shapes import layout as shape_layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

_RADIUS, _CENTER, _SLACK = layout.RADIUS, layout.CENTER, layout.SLACK
_AROUND = 16  #: number of directions over a half circle; their 32 support lines bound a polygon
_WIDER = 1.0 / cos(pi / (2 * _AROUND))  #: ratio of the radii of the circle around this polygon and the circle inside
_MORE = 1.0 + 1e-9  #: factor that is far more than the rounding of a sum of a few lengths
PLANE = 1.001  #: greatest length of the axes of `plane_axes`, which are inaccurate for normals near -z
#: floats of a set: the pose of a shape in the link, or a cylinder with its middle, axis, radius and half length
SET = 12


@kernel
def _height(exact: bool, s: Array, core: Core, d: Vec3) -> float:
    """Return the support value of a set along a unit direction d.

    If ``exact``, the set is the shape ``core`` at the pose s. Else it is a cylinder, and s contains its middle, axis,
    radius and half length.
    """
    if exact:
        e = (
            s[0] * d[0] + s[3] * d[1] + s[6] * d[2],
            s[1] * d[0] + s[4] * d[1] + s[7] * d[2],
            s[2] * d[0] + s[5] * d[1] + s[8] * d[2],
        )
        f, p = core.floats, support(core, e)
        center = (f[_CENTER], f[_CENTER + 1], f[_CENTER + 2])
        return float(dot(e, p) + dot(e, center) + dot(d, (s[9], s[10], s[11])) + f[_RADIUS] + f[_SLACK])
    c = d[0] * s[3] + d[1] * s[4] + d[2] * s[5]
    return float(d[0] * s[0] + d[1] * s[1] + d[2] * s[2] + s[7] * abs(c) + s[6] * sqrt(max(0.0, 1.0 - c * c)))


@kernel
def _around(exact: bool, s: Array, core: Core, at: Vec3, axis: Vec3) -> tuple[float, float, float]:
    """Return a cylinder around a set: its radius, and the positions of its two ends along its axis.

    This axis is parallel to ``axis`` and contains the point ``at``. The positions are relative to this point.
    The set is the shape ``core`` at the pose s if ``exact``, else the cylinder s, as in `_height`.
    """
    u = perpendicular(axis)
    v = cross(axis, u)
    most = 0.0
    # The support values bound a polygon around the axis. _WIDER is the ratio of its corners to its sides.
    for k in range(_AROUND):
        c, n = cos(pi * k / _AROUND), sin(pi * k / _AROUND)
        d = (c * u[0] + n * v[0], c * u[1] + n * v[1], c * u[2] + n * v[2])
        opposite = (-d[0], -d[1], -d[2])
        x = dot(d, at)
        most = max(most, _height(exact, s, core, d) - x)
        most = max(most, _height(exact, s, core, opposite) + x)
    x = dot(axis, at)
    high = _height(exact, s, core, axis) - x
    low = -_height(exact, s, core, (-axis[0], -axis[1], -axis[2])) - x
    more = 1e-12 * (sqrt(dot(at, at)) + abs(x) + abs(high) + abs(low))
    return most * _WIDER * _MORE + more, low - more, high + more


@kernel
def _middle(exact: bool, s: Array, core: Core) -> Vec3:
    """Return a point inside a set: the shape ``core`` at the pose s if ``exact``, else the cylinder s."""
    if exact:
        x, y, z = core.floats[_CENTER], core.floats[_CENTER + 1], core.floats[_CENTER + 2]
        return (
            s[0] * x + s[1] * y + s[2] * z + s[9],
            s[3] * x + s[4] * y + s[5] * z + s[10],
            s[6] * x + s[7] * y + s[8] * z + s[11],
        )
    return (s[0], s[1], s[2])


@kernel
def _set_cylinder(s: Array, p: Vec3, axis: Vec3, radius: float, half: float) -> None:
    for k in range(3):
        s[k], s[3 + k] = p[k], axis[k]
    s[6], s[7] = radius, half


@kernel
def _sweep(
    exact: bool, s: Array, core: Core, what: int, a: Vec3, box: Array, sign: float,
    out: Array,
) -> float:  # fmt: skip
    """Write to ``out`` a cylinder around the volume through which a joint moves a set, and return the arm of the set.

    The arm is the greatest distance of the set from the axis of a revolute or planar joint, or from the origin of a
    floating joint, and 1 for a prismatic joint. A point of the set moves by at most the arm times the motion of the
    joint. The set is the shape ``core`` at the pose s if ``exact``, else the cylinder s. The joint is of kind ``what``
    and has the axis a. ``box`` (6,) is the range of its translation: the middle (3,) and half widths (3,). ``sign`` is
    1 if the set is transformed towards the root, and the translation is then applied last. It is -1 away from the root.
    """
    u, v = plane_axes(a)
    m = (0.0, 0.0, 0.0)  # the middle of the translation; ``far`` is the greatest distance of a translation from m
    far = 0.0
    if what == 2:
        m = (box[0] * a[0], box[0] * a[1], box[0] * a[2])
        far = box[3]
    elif what == 3:
        x, y = box[0], box[1]
        m = (x * u[0] + y * v[0], x * u[1] + y * v[1], x * u[2] + y * v[2])
        far = PLANE * sqrt(box[3] * box[3] + box[4] * box[4])
    elif what == 4:
        m = (box[0], box[1], box[2])
        far = sqrt(box[3] * box[3] + box[4] * box[4] + box[5] * box[5])
    m = (sign * m[0], sign * m[1], sign * m[2])
    zero = (0.0, 0.0, 0.0)
    at = zero
    if what == 2 or (sign < 0.0 and what != 1):
        at = _middle(exact, s, core)
    radius, low, high = _around(exact, s, core, at, a)
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    p = (at[0] + mid * a[0], at[1] + mid * a[1], at[2] + mid * a[2])
    if what == 1:
        _set_cylinder(out, p, a, radius, half)
        return radius
    p = (p[0] + m[0], p[1] + m[1], p[2] + m[2])
    if what == 2:  # a prismatic joint: each point moves by the joint value, so the arm is 1
        _set_cylinder(out, p, a, radius, half + far)
        return 1.0
    if what == 3 and sign > 0.0:
        _set_cylinder(out, p, a, radius + far, half)
        return radius
    if what == 4 and sign > 0.0:
        high, low = max(abs(low), abs(high)), 0.0
        reach = sqrt(radius * radius + high * high)
        _set_cylinder(out, m, a, reach + far, reach + far)
        return reach
    # away from the root: first the translation, then the rotation about the origin of the joint
    along = dot(p, a)
    if what == 3:
        off = (p[0] - along * a[0], p[1] - along * a[1], p[2] - along * a[2])
        # ``radius`` covers the rounding of ``off``, ``far`` includes `PLANE`, and `_MORE` covers rounding of the sum.
        reach = (sqrt(dot(off, off)) + radius + far) * _MORE
        _set_cylinder(out, (along * a[0], along * a[1], along * a[2]), a, reach, half)
        return reach
    reach = (sqrt(dot(p, p)) + sqrt(radius * radius + half * half) + far) * _MORE
    _set_cylinder(out, zero, a, reach, reach)
    return reach


@kernel
def _carry(exact: bool, m: Array, inverse: bool, s: Array) -> None:
    count = 4 if exact else 2  # columns of a pose, or the middle and the axis of a cylinder
    for k in range(count):
        if exact:
            x, y, z = (s[k], s[3 + k], s[6 + k]) if k < 3 else (s[9], s[10], s[11])
            point = k == 3
        else:
            x, y, z = s[3 * k], s[3 * k + 1], s[3 * k + 2]
            point = k == 0
        w = 1.0 if point else 0.0
        if inverse:
            x, y, z = x - w * m[0, 3], y - w * m[1, 3], z - w * m[2, 3]
            x, y, z = (
                m[0, 0] * x + m[1, 0] * y + m[2, 0] * z,
                m[0, 1] * x + m[1, 1] * y + m[2, 1] * z,
                m[0, 2] * x + m[1, 2] * y + m[2, 2] * z,
            )
        else:
            x, y, z = (
                m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + w * m[0, 3],
                m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + w * m[1, 3],
                m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + w * m[2, 3],
            )
        if exact and k < 3:
            s[k], s[3 + k], s[6 + k] = x, y, z
        elif exact:
            s[9], s[10], s[11] = x, y, z
        else:
            s[3 * k], s[3 * k + 1], s[3 * k + 2] = x, y, z


@entry
def reaches(chain: Chain, layout: Layout, boxes: Array2, sets: Array2, forms: Ints1, out: Array2) -> None:
    """Write the arm of each slot for each joint to ``out`` (slots, links).

    A joint has the number of its child link. The arm is the greatest distance of the slot from the axis of the joint,
    see `_sweep`. It is 0 for fixed joints, and for slots in the world. A row of ``boxes`` (links, 6) is the range of a
    joint's translation, as in `_sweep`. ``sets`` (links, 12) and ``forms`` (links,) are scratch memory.
    ``sets`` contains the points of the slot in the frame of each link. The form of a set is 0 if the set is not
    computed yet, 1 for a cylinder, and 2 for the shape of the slot.
    """
    parent, kind, axis, origin, link = chain.parent, chain.kind, chain.axis, chain.origin, layout.link
    count = parent.shape[0]
    for k in range(link.shape[0]):
        for j in range(count):
            forms[j] = 0
            out[k, j] = 0.0
        if link[k] < 0:
            continue
        core = core_of(layout, k)
        j = link[k]
        for n in range(12):
            sets[j, n] = layout.local[k, n]
        forms[j] = 2
        # First up to the root, then down all other branches. Parents precede their children, so one pass is enough.
        while parent[j] >= 0:
            above = parent[j]
            for n in range(12):
                sets[above, n] = sets[j, n]
            forms[above] = forms[j]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(
                    forms[j] == 2, sets[j], core, kind[j], a, boxes[j], 1.0, sets[above]
                )  # fmt: skip
                forms[above] = 1
            # j < 0 is False here; numba would compile a literal False as another type
            _carry(forms[above] == 2, origin[j], j < 0, sets[above])
            j = above
        for j in range(count):
            if forms[j] != 0:
                continue
            above = parent[j]
            for n in range(12):
                sets[j, n] = sets[above, n]
            exact = forms[above] == 2
            _carry(exact, origin[j], j >= 0, sets[j])
            forms[j] = forms[above]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(exact, sets[j], core, kind[j], a, boxes[j], -1.0, sets[j])
                forms[j] = 1


_MOST_CACHED = 16  #: greatest number of cached bounds of a cell, one for each extent of motions


class Arms(NamedTuple):
    """The joints between the two slots of each pair, and the arms of both slots for each of these joints.

    A slot is a shape fixed to a link or to the world. Its arm is its greatest distance from the joint's axis, see
    `_sweep`.
    """

    begins: Ints1  #: (pairs + 1,), the first index of each pair in ``steps``
    steps: Ints1  #: the joints of all pairs, each from the first slot of a pair to the second
    arms: Array2  #: (2, steps), the arms of the first and the second slot for each joint in ``steps``
    floating: Ints1  #: (links,), 1 for a floating joint
    like: Ints1  #: (pairs,), the first pair with the same joints and arms, whose motion bounds are the same


class MotionBounds(NamedTuple):
    """Bounds of the motion of pairs, valid for all configurations whose translations are within the same limits."""

    arms: Arms
    slack: float  #: bound of the sum of the errors of the poses of two slots


@entry
def curve_speeds(
    chain: Chain, curve: Array2, loose: Array1, joints: Array2
) -> None:  # fmt: skip
    """Write bounds of the motion of each joint on a curve to ``joints``: the entry of `speeds` for Python."""
    speeds(chain, curve, loose, joints)


@kernel
def speeds(chain: Chain, curve: Array, loose: Array, joints: Array) -> None:
    """Write bounds of the speed, the acceleration and the error of each joint on a curve to ``joints`` (6, links).

    Rows 0 and 1 are the speeds of rotation and of translation. Rows 2 and 3 are the errors of the angle and of the
    translation. Rows 4 and 5 are the accelerations of rotation and of translation. ``loose`` (dof,) is the error of the
    joint values on the curve. The joint values of a planar or floating joint are combined.
    """
    rounding = 5.0 * (curve.shape[0] - 1) * (curve.shape[0] - 1) * _U
    for j in range(chain.kind.shape[0]):
        for n in range(6):
            joints[n, j] = 0.0
        what = chain.kind[j]
        if what == 0:
            continue
        k, f = chain.source[j], abs(chain.multiplier[j])
        for n in range(1 if what < 3 else 3 * (what - 2)):
            rate, bend, size = bounds_on_curve(curve, k + n)
            wrong = loose[k + n]
            if n == 0:
                rate, bend, size, wrong = f * rate, f * bend, f * size + abs(chain.offset[j]), f * wrong
            side = 1 if n < what - 1 else 0  # translations come first
            joints[side, j] = rate if what < 3 else joints[side, j] + rate * rate
            joints[2 + side, j] += rounding * size + wrong
            joints[4 + side, j] += bend
        if what > 2:  # the sums above are squares of speeds along orthogonal axes
            joints[0, j], joints[1, j] = sqrt(joints[0, j]), sqrt(joints[1, j])
            joints[1, j] *= PLANE
            joints[3, j] *= PLANE
            joints[5, j] *= PLANE


@kernel
def shares(joints: Array, half: float) -> None:
    """Write to rows 6 and 7 of ``joints`` how far each joint turns and slides over a length ``half`` of the line.

    The parameter of the whole line has the length 1. ``joints`` is (8, links), with the output of `speeds` in the first
    six rows. Rows 6 and 7 include the errors, so that `width` needs only these two rows.
    """
    for j in range(joints.shape[1]):
        joints[6, j] = joints[0, j] * half + joints[2, j]
        joints[7, j] = joints[1, j] * half + joints[3, j]


@inlined
def width(arms: Arms, p: int, joints: Array) -> float:
    """Return a bound, which may be infinite, of the relative motion of pair p.

    The bound holds over the length of the line for which `shares` has written ``joints``.
    """
    total = 0.0
    for k in range(arms.begins[p], arms.begins[p + 1]):
        j = arms.steps[k]
        total += joints[7, j] + joints[6, j] * min(arms.arms[0, k], arms.arms[1, k])
    return total if total == total else inf  # NaN: a joint that rests, with an infinite arm


@kernel
def pair_motion(arms: Arms, p: int, joints: Array) -> tuple[float, float, float, float]:
    """Return four numbers for pair p: V, a bound of its relative motion, two values of K, and the error of V.

    K bounds the acceleration of one slot as seen from the other: the first K of the first slot, the second K of the
    second slot. `motion_cover` defines V and K. ``joints`` (6, links) is the output of `speeds`.
    """
    total, first, second, before, wrong = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(arms.begins[p], arms.begins[p + 1]):
        j = arms.steps[k]
        # either slot may be the fixed one, so the smaller arm bounds their relative motion
        x, w, arm = joints[1, j], joints[0, j], min(arms.arms[0, k], arms.arms[1, k])
        if joints[3, j] > 0.0 or joints[2, j] > 0.0:
            wrong += joints[3, j] + joints[2, j] * arm
        if x > 0.0 or w > 0.0:
            total += x + w * arm
            if arms.floating[j] != 0:
                first = second = inf
            if joints[4, j] > 0.0:
                first += joints[4, j] * arms.arms[0, k]
                second += joints[4, j] * arms.arms[1, k]
            first += joints[5, j]
            second += joints[5, j]
            # seen from the first slot, the translation of a planar joint is also rotated by the angle of this joint
            second += 2.0 * x * (before + w) + (w * arms.arms[1, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    before = 0.0  # the sum from the other end, for K with the first slot moving
    for k in range(arms.begins[p + 1] - 1, arms.begins[p] - 1, -1):
        j = arms.steps[k]
        x, w = joints[1, j], joints[0, j]
        if x > 0.0 or w > 0.0:
            first += 2.0 * x * (before + w) + (w * arms.arms[0, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    return total, first, second, wrong


def motion_bounds(cell: Cell, curves: Array) -> MotionBounds:
    """Return the motion bounds that are valid on curves (n, points, dof) and within the limits of the robot."""
    return bounds_within(cell, _farthest(cell.robot, curves))


def bounds_within(cell: Cell, far: tuple[float, float]) -> MotionBounds:
    """Return the motion bounds for curves with the extents ``far``, see `how_far`. The cell caches the bounds."""
    every: dict[tuple[float, float], MotionBounds] = cell.cache.bounds or {}
    cached = every.get(far)
    if cached is None:
        boxes = _translations(cell, _ranges(cell.robot, far))
        cached = MotionBounds(_arms(cell, boxes), _slack(cell, boxes))
        # A new dict replaces the old one, since another thread may iterate over the old one. A full dict is emptied.
        cell.cache.bounds = {**(every if len(every) < _MOST_CACHED else {}), far: cached}
    return cached


def how_far(robot: Robot, curves: Array) -> Array:
    """Return the extents of curves (n, points, dof): greatest absolute values of translations, as (n, 2).

    The first column is for translations that lack a lower or an upper limit. The second column is for translations that
    exceed a limit. The values are 0, or rounded up to powers of two, so that cached bounds are used again. Each curve
    has separate values, so its result does not depend on the other curves of a call.
    """
    far = np.zeros((len(curves), 2))
    how_far_of_curves(robot._chain.kind, robot._chain.source, curves, robot.lower, robot.upper, far)
    return far


@entry
def how_far_of_curves(
    kind: Ints1, source: Ints1, curves: Array3, lower: Array1, upper: Array1, far: Array2
) -> None:  # fmt: skip
    """Write the extents of curves, which `how_far` defines, to ``far`` (n, 2), which must contain zeros."""
    extents(kind, source, curves, lower, upper, far)


@kernel
def extents(kind: Ints, source: Ints, curves: Array, lower: Array, upper: Array, far: Array) -> None:
    """Write the extents of curves (`how_far`) to ``far`` (n, 2), which must contain zeros. Kernels call this."""
    for c in range(lower.shape[0]):
        lengths = False
        for k in range(kind.shape[0]):
            if kind[k] >= SLIDING and source[k] <= c < source[k] + kind[k] - 1:
                lengths = True
        for e in range(curves.shape[0] if lengths else 0):
            for p in range(curves.shape[1]):
                x = curves[e, p, c]
                if not (lower[c] > -inf and upper[c] < inf):
                    far[e, 0] = max(far[e, 0], abs(x))
                if x < lower[c] or x > upper[c]:
                    far[e, 1] = max(far[e, 1], abs(x))
    for e in range(far.shape[0]):
        for n in range(2):
            far[e, n] = _power_of_two(far[e, n]) if far[e, n] > 0.0 else 0.0


def _ranges(robot: Robot, far: tuple[float, float]) -> Array:
    """Return lower and upper bounds of each joint value, (2, dof), for motions with the extents ``far``.

    Only the ranges of translations are used.
    """
    free, outside = far
    lower = np.where(robot.lower > -inf, robot.lower, -free)
    upper = np.where(robot.upper < inf, robot.upper, free)
    if outside > 0.0:
        lower, upper = np.minimum(lower, -outside), np.maximum(upper, outside)
    return np.array((lower, upper))


def _farthest(robot: Robot, curves: Array) -> tuple[float, float]:
    free, outside = how_far(robot, curves).max(axis=0, initial=0.0).tolist()
    return free, outside


@kernel
def _power_of_two(least: float) -> float:
    """Return the smallest power of two that is at least ``least``, or infinity if it overflows."""
    power = 1.0
    while power < least:
        power *= 2.0
    while least <= 0.5 * power < power:
        power *= 0.5
    return power


def _translations(cell: Cell, ranges: Array) -> Array:
    chain = cell.robot._chain
    boxes = np.zeros((len(chain.parent), 6))
    for k, kind in enumerate(chain.kind.tolist()):
        for n in range(LENGTHS[kind]):
            c = int(chain.source[k]) + n
            low, high = ranges[:, c]
            if n == 0:
                low, high = (chain.multiplier[k] * end + chain.offset[k] for end in (low, high))
            boxes[k, n], boxes[k, 3 + n] = 0.5 * (low + high), 0.5 * abs(high - low) * (1.0 + 2.0**-40)
    return boxes


def slot_reaches(cell: Cell, curves: Array) -> tuple[Array, float]:
    """Return the arm of each slot for each joint (slots, links), and a bound of the sum of two slots' pose errors.

    Both are valid on ``curves``. `reaches` defines the arms, and `_slack` computes the bound.
    """
    boxes = _translations(cell, _ranges(cell.robot, _farthest(cell.robot, curves)))
    return _reaches(cell, boxes), _slack(cell, boxes)


def _reaches(cell: Cell, boxes: Array) -> Array:
    chain = cell.robot._chain
    count = len(chain.parent)
    reach = np.zeros((len(cell.layout.link), count))
    reaches(chain, cell.layout, boxes, np.empty((count, SET)), np.empty(count, dtype=np.int64), reach)
    return reach


def _arms(cell: Cell, boxes: Array) -> Arms:
    """Return the `Arms` of a cell. The cell caches them, since a move of an obstacle does not change them."""
    key, cached = boxes.tobytes(), cell.cache.arms
    if cached is None or cached[0] != key:
        cached = cell.cache.arms = key, _compute_arms(cell, boxes)
    arms: Arms = cached[1]
    return arms


def _compute_arms(cell: Cell, boxes: Array) -> Arms:
    layout, chain, reach = cell.layout, cell.robot._chain, _reaches(cell, boxes)
    several = layout.pairs[layout.pairs[:, 3] > layout.pairs[:, 2]]
    for first, second, start, stop in several.tolist():  # the arm of a hull must be valid for all its bodies
        for slot, bodies in ((first, layout.subs[start:stop, 0]), (second, layout.subs[start:stop, 1])):
            reach[slot] = np.maximum(reach[slot], reach[np.unique(bodies)].max(axis=0, initial=0.0))
    reach[layout.link < 0] = np.inf  # an obstacle may be large and far away, so only the arm of the other slot is used
    above, depth, joint_of = _moving_joints(chain)
    joint = joint_of[layout.link]
    counts = np.empty(len(cell.slots), dtype=np.int64)
    count_joints(above, depth, joint, cell.slots, counts)
    begins = np.concatenate([[0], np.cumsum(counts)])
    steps, arms = np.empty(begins[-1], dtype=np.int64), np.empty((2, begins[-1]))
    joints_between(above, depth, joint, cell.slots, reach, begins, steps, arms)
    rows = np.column_stack([steps, *arms.view(np.int64)])
    # slices of bytes are faster than slices of an array, which matters for the first query of a new checker
    text, ends, first = rows.tobytes(), (rows.strides[0] * begins).tolist(), dict[bytes, int]()
    keys = (text[start:stop] for start, stop in pairwise(ends))
    like = np.array([first.setdefault(key, p) for p, key in enumerate(keys)], dtype=np.int64)
    return Arms(begins, steps, arms, (chain.kind == FLOATING).astype(np.int64), like)


def _moving_joints(chain: Chain) -> tuple[Ints, Ints, Ints]:
    """Return for each moving joint the next one towards the root and its own depth, and for each link its moving joint.

    Joints are numbered like their child links. A link's moving joint is the first moving joint from the link towards
    the root. The depth of a joint is the number of moving joints from the root to it, including itself. The last entry
    of each array is for the world, whose index also stands for no joint.
    """
    count = len(chain.parent)
    above, depth, joint_of = np.full(count + 1, count), np.zeros(count + 1, dtype=np.int64), np.full(count + 1, count)
    for k, parent in enumerate(chain.parent.tolist()):
        joint_of[k] = joint_of[parent]  # index -1 is the last entry, which belongs to the world
        if chain.kind[k] != FIXED:
            above[k], depth[k], joint_of[k] = joint_of[k], depth[joint_of[k]] + 1, k
    return above, depth, joint_of


@entry
def count_joints(above: Ints1, depth: Ints1, joint: Ints1, slots: Ints2, counts: Ints1) -> None:
    """Write the number of moving joints between the two slots of each pair to ``counts``.

    ``above`` and ``depth`` are results of `_moving_joints`. ``joint`` contains the moving joint of each slot's link.
    """
    for p in range(slots.shape[0]):
        a, b, count = joint[slots[p, 0]], joint[slots[p, 1]], 0
        while a != b:
            if depth[a] >= depth[b]:
                a = above[a]
            else:
                b = above[b]
            count += 1
        counts[p] = count


@entry
def joints_between(
    above: Ints1, depth: Ints1, joint: Ints1, slots: Ints2, reach: Array2, begins: Ints1, steps: Ints1, arms: Array2
) -> None:
    """Write `Arms.steps` and `Arms.arms`: the joints from the first slot of each pair to the second, and their arms.

    ``above``, ``depth`` and ``joint`` are as in `count_joints`. ``reach`` is the output of `reaches`.
    """
    for p in range(slots.shape[0]):
        slot_a, slot_b = slots[p, 0], slots[p, 1]
        a, b, first, last = joint[slot_a], joint[slot_b], begins[p], begins[p + 1]
        while a != b:
            if depth[a] >= depth[b]:
                j, k = a, first
                a = above[a]
                first += 1
            else:
                last -= 1
                j, k = b, last
                b = above[b]
            steps[k], arms[0, k], arms[1, k] = j, reach[slot_a, j], reach[slot_b, j]


def _slack(cell: Cell, boxes: Array) -> float:
    """Return a bound of the sum of the errors of the poses of two slots, see `motion_cover`."""
    layout, chain = cell.layout, cell.robot._chain
    length, depth = np.zeros(len(chain.parent) + 1), np.zeros(len(chain.parent) + 1)  # the last is for the world
    for k, parent in enumerate(chain.parent.tolist()):
        slides = np.linalg.norm(np.abs(boxes[k, :3]) + boxes[k, 3:])
        length[k] = length[parent] + float(np.linalg.norm(chain.origin[k, :3, 3]) + slides)
        depth[k] = depth[parent] + 1.0
    # bounds of the distance of any point of the robot from the origin of the world, and of all intermediate sums
    at = layout.starts[:, 1]
    extent = sum(layout.floats[at + field] for field in (shape_layout.RHO, shape_layout.RADIUS))
    extent = extent + np.linalg.norm(layout.local[:, 9:12], axis=1)
    center = np.arange(shape_layout.CENTER, shape_layout.CENTER + 3)
    extent = extent + np.linalg.norm(layout.floats[at[:, None] + center], axis=1)
    moves = layout.link >= 0
    # The poses of static slots are exact, but their balls and capsules are rounded in world coordinates.
    size = float(length.max() + extent[moves].max(initial=0.0) + extent[~moves].max(initial=0.0))
    return 128.0 * (float(depth.max()) + 1.0) * _U * size
