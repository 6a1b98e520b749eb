"""Motion bounds: how far the two of a pair move against each other on a line between configurations, at most.

Each joint between the two moves them by no more than its turn times how far the nearer may be from its axis, or by its
slide (Schwarzer, Saha, Latombe 2005); `gjk3d.robot.reach` says how far that is.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot.cell import Cell
from gjk3d.robot.curves import bounds_on_curve
from gjk3d.robot.kinematics import FIXED, FLOATING, PLANAR, SLIDING, Chain
from gjk3d.robot.model import Robot
from gjk3d.robot.reach import PLANE, SET, reaches
from gjk3d.shapes import layout as shape_layout
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

_KEPT = 16  #: bounds, of as far as motions go
_TRANSLATIONS = {SLIDING: 1, PLANAR: 2, FLOATING: 3}


class Arms(NamedTuple):
    """Which joints lie between the two of each pair, and how far these may be from their axes."""

    begins: Ints1  #: (pairs + 1,), where the joints of a pair begin in the next
    steps: Ints1  #: joints, from the first of a pair to the second
    arms: Array2  #: (2, steps), how far either may be from the axis of the joint
    floating: Ints1  #: (links,), 1 for a floating joint
    like: Ints1  #: (pairs,), the first pair that has the same joints, and is as far from them


class MotionBounds(NamedTuple):
    """What holds of all configurations whose lengths lie within some limits."""

    arms: Arms
    slack: float  #: what the poses of two slots may be wrong by, together


@entry
def curve_speeds(
    chain: Chain, curve: Array2, loose: Array1, joints: Array2
) -> None:  # fmt: skip
    """Do as `speeds` for Python."""
    speeds(chain, curve, loose, joints)


@kernel
def speeds(chain: Chain, curve: Array, loose: Array, joints: Array) -> None:
    """Write how fast each joint turns and slides on a curve at most, and what it is wrong by at one configuration.

    ``joints`` (6, links) takes turns, slides, errors of turns and of slides, and how fast turns and slides change;
    ``loose`` (dof,) is what the curve itself may be wrong by. Of planar and floating joints numbers are taken together.
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
            side = 1 if n < what - 1 else 0  # the numbers that slide come first
            joints[side, j] = rate if what < 3 else joints[side, j] + rate * rate
            joints[2 + side, j] += rounding * size + wrong
            joints[4 + side, j] += bend
        if what > 2:
            joints[0, j], joints[1, j] = sqrt(joints[0, j]), sqrt(joints[1, j])
            joints[1, j] *= PLANE
            joints[3, j] *= PLANE
            joints[5, j] *= PLANE


@kernel
def shares(joints: Array, half: float) -> None:
    """Write into the last two rows of joints (8, links) how far each turns and slides in half a part of a line.

    What the two are wrong by is added, so that `width` needs no more than these.
    """
    for j in range(joints.shape[1]):
        joints[6, j] = joints[0, j] * half + joints[2, j]
        joints[7, j] = joints[1, j] * half + joints[3, j]


@inlined
def width(arms: Arms, p: int, joints: Array) -> float:
    """Return how far pair p moves in half a part of a line at most, see `shares`; inf where an arm has no end."""
    total = 0.0
    for k in range(arms.begins[p], arms.begins[p + 1]):
        j = arms.steps[k]
        total += joints[7, j] + joints[6, j] * min(arms.arms[0, k], arms.arms[1, k])
    return total if total == total else inf


@kernel
def ways(arms: Arms, p: int, joints: Array) -> tuple[float, float, float, float]:
    """Return V of pair p, K with the first and with the second of it moving, and what rounding adds to V.

    See `motion_cover`; ``joints`` (6, links) are those of `speeds`.
    """
    total, first, second, before, wrong = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(arms.begins[p], arms.begins[p + 1]):
        j = arms.steps[k]
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
            # a planar joint's slides are turned by its own turn too, seen from one side
            second += 2.0 * x * (before + w) + (w * arms.arms[1, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    before = 0.0
    for k in range(arms.begins[p + 1] - 1, arms.begins[p] - 1, -1):
        j = arms.steps[k]
        x, w = joints[1, j], joints[0, j]
        if x > 0.0 or w > 0.0:
            first += 2.0 * x * (before + w) + (w * arms.arms[0, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    return total, first, second, wrong


def motion_bounds(cell: Cell, curves: Array) -> MotionBounds:
    """Return what holds on all of some curves, (n, points, dof), and within the robot's limits."""
    return bounds_within(cell, _farthest(cell.robot, curves))


def bounds_within(cell: Cell, far: tuple[float, float]) -> MotionBounds:
    """Return what holds where lengths go no farther than that, see `how_far`; the cell keeps it."""
    every: dict[tuple[float, float], MotionBounds] = cell.kept.bounds or {}
    kept = every.get(far)
    if kept is None:
        boxes = _translations(cell, _ranges(cell.robot, far))
        kept = MotionBounds(_arms(cell, boxes), _slack(cell, boxes))
        # another dict, for who goes through this one; motions beyond the limits now and then have a few others
        cell.kept.bounds = {**(every if len(every) < _KEPT else {}), far: kept}
    return kept


def how_far(robot: Robot, curves: Array) -> Array:
    """Return how far from 0 each curve, (n, points, dof), goes in lengths without limits, and in those beyond theirs.

    That is (n, 2): the next powers of two, or 0, so that what is kept serves many calls, and of each curve alone, so
    that it is answered the same among any others.
    """
    far = np.zeros((len(curves), 2))
    how_far_of_curves(robot._chain.kind, robot._chain.source, curves, robot.lower, robot.upper, far)
    return far


@entry
def how_far_of_curves(
    kind: Ints1, source: Ints1, curves: Array3, lower: Array1, upper: Array1, far: Array2
) -> None:  # fmt: skip
    """Do that for Python."""
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
    """Return between what each number of q may lie that is a length, (2, dof); of what turns that is not used."""
    free, beyond = far
    lower = np.where(robot.lower > -inf, robot.lower, -free)
    upper = np.where(robot.upper < inf, robot.upper, free)
    if beyond > 0.0:
        lower, upper = np.minimum(lower, -beyond), np.maximum(upper, beyond)
    return np.array((lower, upper))


def _farthest(robot: Robot, curves: Array) -> tuple[float, float]:
    free, beyond = how_far(robot, curves).max(axis=0, initial=0.0).tolist()
    return free, beyond


@kernel
def _power_of_two(least: float) -> float:
    """Return the next power of two, infinity behind the last."""
    power = 1.0
    while power < least:
        power *= 2.0
    while least <= 0.5 * power < power:
        power *= 0.5
    return power


def _translations(cell: Cell, ranges: Array) -> Array:
    """Return the translations of joints, (links, 6): their middles, then half their widths."""
    chain = cell.robot._chain
    boxes = np.zeros((len(chain.parent), 6))
    for k, kind in enumerate(chain.kind.tolist()):
        for n in range(_TRANSLATIONS.get(kind, 0)):
            c = int(chain.source[k]) + n
            one, two = ranges[:, c]
            if n == 0:
                one, two = (chain.multiplier[k] * end + chain.offset[k] for end in (one, two))
            boxes[k, n], boxes[k, 3 + n] = 0.5 * (one + two), 0.5 * abs(two - one) * (1.0 + 2.0**-40)
    return boxes


def slot_reaches(cell: Cell, curves: Array) -> tuple[Array, float]:
    """Return how far each slot may be from the axis of each joint on some curves, and what poses may be wrong by."""
    boxes = _translations(cell, _ranges(cell.robot, _farthest(cell.robot, curves)))
    return _reaches(cell, boxes), _slack(cell, boxes)


def _reaches(cell: Cell, boxes: Array) -> Array:
    chain = cell.robot._chain
    count = len(chain.parent)
    reach = np.zeros((len(cell.layout.link), count))
    reaches(chain, cell.layout, boxes, np.empty((count, SET)), np.empty(count, dtype=np.int64), reach)
    return reach


def _arms(cell: Cell, boxes: Array) -> Arms:
    """Return them; the cell keeps the last, and hands them on: where an obstacle stands is not in them."""
    key, known = boxes.tobytes(), cell.kept.arms
    if known is None or known[0] != key:
        known = cell.kept.arms = key, _made_arms(cell, boxes)
    made: Arms = known[1]
    return made


def _made_arms(cell: Cell, boxes: Array) -> Arms:
    layout, chain, reach = cell.layout, cell.robot._chain, _reaches(cell, boxes)
    several = layout.pairs[layout.pairs[:, 3] > layout.pairs[:, 2]]
    for first, second, start, stop in several.tolist():  # what is said of a hull is said of its bodies
        for slot, bodies in ((first, layout.subs[start:stop, 0]), (second, layout.subs[start:stop, 1])):
            reach[slot] = np.maximum(reach[slot], reach[np.unique(bodies)].max(axis=0, initial=0.0))
    reach[layout.link < 0] = np.inf  # what is fixed to the world may be large and far: the other side's arm holds
    above, depth, own = _moving_joints(chain)
    joint = own[layout.link]
    counts = np.empty(len(cell.slots), dtype=np.int64)
    count_joints(above, depth, joint, cell.slots, counts)
    begins = np.concatenate([[0], np.cumsum(counts)])
    steps, arms = np.empty(begins[-1], dtype=np.int64), np.empty((2, begins[-1]))
    joints_between(above, depth, joint, cell.slots, reach, begins, steps, arms)
    like, table = np.empty_like(counts), np.full(2 << len(counts).bit_length(), -1)
    alike(begins, steps, arms.view(np.int64), table, like)
    return Arms(begins, steps, arms, (chain.kind == FLOATING).astype(np.int64), like)


def _moving_joints(chain: Chain) -> tuple[Ints, Ints, Ints]:
    """Return of each joint the next above that moves, how many there are with it, and of each link the one it is on.

    Joints have the numbers of the links below them; the last of each array is of the world, on which is nothing.
    """
    count = len(chain.parent)
    above, depth, own = np.full(count + 1, count), np.zeros(count + 1, dtype=np.int64), np.full(count + 1, count)
    for k, parent in enumerate(chain.parent.tolist()):
        own[k] = own[parent]  # of none, which is -1, that of the world
        if chain.kind[k] != FIXED:
            above[k], depth[k], own[k] = own[k], depth[own[k]] + 1, k
    return above, depth, own


@entry
def count_joints(above: Ints1, depth: Ints1, joint: Ints1, slots: Ints2, counts: Ints1) -> None:
    """Write how many joints lie between the two of each pair."""
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
    """Write them, up from the first and then down to the second, and how far either may be from their axes."""
    for p in range(slots.shape[0]):
        one, two = slots[p, 0], slots[p, 1]
        a, b, first, last = joint[one], joint[two], begins[p], begins[p + 1]
        while a != b:
            if depth[a] >= depth[b]:
                j, k = a, first
                a = above[a]
                first += 1
            else:
                last -= 1
                j, k = b, last
                b = above[b]
            steps[k], arms[0, k], arms[1, k] = j, reach[one, j], reach[two, j]


@entry
def alike(begins: Ints1, steps: Ints1, arms: Ints2, table: Ints1, like: Ints1) -> None:
    """Write the first pair that has the same joints and arms, these as bits; the table of hashes has room for more."""
    last = table.shape[0] - 1  # of a power of two
    for p in range(like.shape[0]):
        hashed = 0
        for k in range(begins[p], begins[p + 1]):
            for x in (steps[k], arms[0, k], arms[1, k]):  # FNV, folded: the low bits of most lengths are 0
                hashed = (hashed ^ x) * 1099511628211
                hashed ^= hashed >> 32
        place = hashed & last
        while table[place] >= 0 and not _same(begins, steps, arms, table[place], p):
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = p
        like[p] = table[place]


@kernel
def _same(begins: Ints, steps: Ints, arms: Ints, p: int, q: int) -> bool:
    """Tell whether two pairs have the same joints and arms."""
    count = begins[p + 1] - begins[p]
    if begins[q + 1] - begins[q] != count:
        return False
    for n in range(count):
        i, k = begins[p] + n, begins[q] + n
        if steps[i] != steps[k] or arms[0, i] != arms[0, k] or arms[1, i] != arms[1, k]:
            return False
    return True


def _slack(cell: Cell, boxes: Array) -> float:
    """Return what the poses of two slots may be wrong by: see `motion_cover`."""
    layout, chain = cell.layout, cell.robot._chain
    length, depth = np.zeros(len(chain.parent) + 1), np.zeros(len(chain.parent) + 1)  # the last is the world's
    for k, parent in enumerate(chain.parent.tolist()):
        slides = np.linalg.norm(np.abs(boxes[k, :3]) + boxes[k, 3:])
        length[k] = length[parent] + float(np.linalg.norm(chain.origin[k, :3, 3]) + slides)
        depth[k] = depth[parent] + 1.0
    # how far from the world's origin anything of the robot may be, intermediate sums of its kinematics too
    at = layout.starts[:, 1]
    own = sum(layout.floats[at + each] for each in (shape_layout.RHO, shape_layout.RADIUS))
    own = own + np.linalg.norm(layout.local[:, 9:12], axis=1)
    center = np.arange(shape_layout.CENTER, shape_layout.CENTER + 3)
    own = own + np.linalg.norm(layout.floats[at[:, None] + center], axis=1)
    moves = layout.link >= 0
    # what stands is where it is said to be, but its balls and capsules are looked at in the world's numbers
    size = float(length.max() + own[moves].max(initial=0.0) + own[~moves].max(initial=0.0))
    return 128.0 * (float(depth.max()) + 1.0) * _U * size
