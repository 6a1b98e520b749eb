"""By how much the numbers of a configuration move the two of a pair against each other, for all pairs of a checker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gjk3d.robot.kinematics import FIXED, FLOATING, PLANAR, SLIDING, Array, Ints
from gjk3d.robot.reach import SET, reaches
from gjk3d.shapes import layout

if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_U = 2.0**-53
_TRANSLATIONS = {SLIDING: 1, PLANAR: 2, FLOATING: 3}


class Arms(NamedTuple):
    """What `gjk3d.robot.proven` takes for granted of a checker, and what it was made from."""

    key: tuple[bytes, ...]
    floats: Array  #: of the tables it was made from, which no others share
    begins: Ints  #: (pairs + 1,), pairs of solids last: where the joints between the two begin in the next
    steps: Ints  #: joints, from the first of a pair to the second
    arms: Array  #: (2, steps), how far either may be from the axis of the joint
    floating: Ints  #: (links,), 1 for a floating joint
    slack: float  #: what the poses of two slots may be wrong by, together


def arms_of(checker: Checker, q0: Array, q1: Array) -> Arms:
    """Return the arms for all configurations between those given and within the robot's limits; kept in the checker."""
    low, high = _ranges(checker, q0, q1)
    tables = checker._ready()
    key = tuple(each.tobytes() for each in (low, high, tables.local, tables.rows, tables.solid_pairs))
    kept: Arms | None = checker.__dict__.get("_arms")
    if kept is None or kept.floats is not tables.floats or kept.key != key:
        kept = checker.__dict__["_arms"] = _make(checker, low, high, key)
    return kept


def _ranges(checker: Checker, q0: Array, q1: Array) -> tuple[Array, Array]:
    """Return between what each number of q may lie that is a length; turns are not bounded, and given as 0."""
    robot, chain = checker.robot, checker.robot.chain
    low, high = np.zeros(robot.dof), np.zeros(robot.dof)
    for k in np.flatnonzero(np.isin(chain.kind, list(_TRANSLATIONS))).tolist():
        for c in range(int(chain.source[k]), int(chain.source[k]) + _TRANSLATIONS[int(chain.kind[k])]):
            ends = [*(q[:, c].min(initial=0.0) for q in (q0, q1)), *(q[:, c].max(initial=0.0) for q in (q0, q1))]
            # so that what is kept serves many calls: the limits, or the next power of two
            for out, limit, sign in ((low, robot.lower[c], -1.0), (high, robot.upper[c], 1.0)):
                most = max(sign * float(end) for end in ends)
                if np.isfinite(limit) and sign * limit >= most:
                    out[c] = limit
                else:
                    with np.errstate(over="ignore"):
                        out[c] = sign * np.exp2(np.ceil(np.log2(most))) if most > 0.0 else 0.0
    return low, high


def _make(checker: Checker, low: Array, high: Array, key: tuple[bytes, ...]) -> Arms:
    tables, chain = checker._ready(), checker.robot.chain
    link, floats = tables.link, tables.floats
    count = len(chain.parent)
    boxes = np.zeros((count, 6))
    for k, kind in enumerate(chain.kind.tolist()):
        for n in range(_TRANSLATIONS.get(kind, 0)):
            c = int(chain.source[k]) + n
            one, two = low[c], high[c]
            if n == 0:
                one, two = (chain.multiplier[k] * end + chain.offset[k] for end in (one, two))
            boxes[k, n], boxes[k, 3 + n] = 0.5 * (one + two), 0.5 * abs(two - one) * (1.0 + 2.0**-40)
    reach = np.zeros((len(link), count))
    reaches(
        chain.parent, chain.kind, chain.axis, chain.origin, boxes, link, tables.local, tables.ints,
        floats, tables.starts, np.empty((count, SET)), np.empty(count, dtype=np.int64), reach,
    )  # fmt: skip
    for first, second, start, stop in tables.rows.tolist():  # what is said of a hull is said of its bodies
        for slot, bodies in ((first, tables.subs[start:stop, 0]), (second, tables.subs[start:stop, 1])):
            reach[slot] = np.maximum(reach[slot], reach[np.unique(bodies)].max(axis=0, initial=0.0))
    reach[link < 0] = np.inf  # what is fixed to the world may be large and far away: the other side's arm holds
    above: list[list[int]] = []  # the joints that move a link, its own first
    length, depth = np.zeros(count + 1), np.zeros(count + 1)  # the last is the world's
    for k, parent in enumerate(chain.parent.tolist()):
        above.append(([k] if chain.kind[k] != FIXED else []) + (above[parent] if parent >= 0 else []))
        slides = np.linalg.norm(np.abs(boxes[k, :3]) + boxes[k, 3:])
        length[k] = length[parent] + float(np.linalg.norm(chain.origin[k, :3, 3]) + slides)
        depth[k] = depth[parent] + 1.0
    above.append([])
    slots = np.concatenate([tables.rows[:, :2], tables.solid_pairs])
    steps, sides, begins = [], [], [0]
    for one, two in slots.tolist():
        up, down = above[link[one]], above[link[two]]
        joints = [j for j in up if j not in down] + [j for j in reversed(down) if j not in up]
        steps += joints
        sides.append(reach[[[one], [two]], joints] if joints else np.zeros((2, 0)))
        begins.append(len(steps))
    # how far from the world's origin anything of the robot may be, intermediate sums of its kinematics too
    at = tables.starts[:, 1]
    own = sum(floats[at + each] for each in (layout.RHO, layout.RADIUS))
    own = own + np.linalg.norm(tables.local[:, 9:12], axis=1)
    own = own + np.linalg.norm(floats[at[:, None] + np.arange(layout.CENTER, layout.CENTER + 3)], axis=1)
    moves = link >= 0
    # what stands is where it is said to be, but its balls and capsules are looked at in the world's numbers
    size = float(length.max() + own[moves].max(initial=0.0) + own[~moves].max(initial=0.0))
    return Arms(
        key, floats, np.array(begins, dtype=np.int64), np.array(steps, dtype=np.int64),
        np.ascontiguousarray(np.concatenate([np.zeros((2, 0)), *sides], axis=1)),
        (chain.kind == FLOATING).astype(np.int64), 128.0 * (float(depth.max()) + 1.0) * _U * size,
    )  # fmt: skip
