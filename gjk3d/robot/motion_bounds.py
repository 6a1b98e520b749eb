"""How far the numbers of a configuration move the two of a pair against each other.

A slot is walked outwards from its link through the whole tree. As seen from the next link it is swept round the axis
of a joint that turns, along that of one that slides: all of it stays in a cylinder, which is the set that is walked
on. So an arm that is folded by its limits alone counts as stretched, but a link that turns about its own length does
not count as turning about one end.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, perpendicular
from gjk3d.robot.kinematics import FIXED, FLOATING, PLANAR, SLIDING, plane_axes
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Ints

_RADIUS, _CENTER, _SLACK = layout.RADIUS, layout.CENTER, layout.SLACK
#: directions round a half circle; a point farther than a height in each of them is not by more than this
_AROUND = 16
_WIDER = 1.0 / cos(pi / (2 * _AROUND))
_MORE = 1.0 + 1e-9  #: for rounding, and far more
PLANE = 1.001  #: how long the axes of `plane_axes` may be: next to -z they are rounded
#: a set is 12 floats: a shape's pose in the link, or a cylinder: its middle, its axis, radius, half its length
SET = 12


@kernel
def _height(exact: bool, s: Array, ints: Ints, i: int, floats: Array, o: int, d: Vec3) -> float:
    """Return how far the set goes along a unit direction."""
    if exact:
        e = (
            s[0] * d[0] + s[3] * d[1] + s[6] * d[2],
            s[1] * d[0] + s[4] * d[1] + s[7] * d[2],
            s[2] * d[0] + s[5] * d[1] + s[8] * d[2],
        )
        p = support(Core(ints[i:], floats[o:]), e)
        center = (floats[o + _CENTER], floats[o + _CENTER + 1], floats[o + _CENTER + 2])
        return float(
            dot(e, p) + dot(e, center) + dot(d, (s[9], s[10], s[11])) + floats[o + _RADIUS] + floats[o + _SLACK]
        )
    c = d[0] * s[3] + d[1] * s[4] + d[2] * s[5]
    return float(d[0] * s[0] + d[1] * s[1] + d[2] * s[2] + s[7] * abs(c) + s[6] * sqrt(max(0.0, 1.0 - c * c)))


@kernel
def _around(
    exact: bool, s: Array, ints: Ints, i: int, floats: Array, o: int, at: Vec3, axis: Vec3
) -> tuple[float, float, float]:
    """Return the cylinder about an axis through a point that the set lies in: radius, and from where to where."""
    u = perpendicular(axis)
    v = cross(axis, u)
    most = 0.0
    for k in range(_AROUND):
        c, n = cos(pi * k / _AROUND), sin(pi * k / _AROUND)
        d = (c * u[0] + n * v[0], c * u[1] + n * v[1], c * u[2] + n * v[2])
        back = (-d[0], -d[1], -d[2])
        x = dot(d, at)
        most = max(most, _height(exact, s, ints, i, floats, o, d) - x)
        most = max(most, _height(exact, s, ints, i, floats, o, back) + x)
    x = dot(axis, at)
    high = _height(exact, s, ints, i, floats, o, axis) - x
    low = -_height(exact, s, ints, i, floats, o, (-axis[0], -axis[1], -axis[2])) - x
    more = 1e-12 * (sqrt(dot(at, at)) + abs(x) + abs(high) + abs(low))
    return most * _WIDER * _MORE + more, low - more, high + more


@kernel
def _middle(exact: bool, s: Array, floats: Array, o: int) -> Vec3:
    """Return a point in the midst of the set."""
    if exact:
        x, y, z = floats[o + _CENTER], floats[o + _CENTER + 1], floats[o + _CENTER + 2]
        return (
            s[0] * x + s[1] * y + s[2] * z + s[9],
            s[3] * x + s[4] * y + s[5] * z + s[10],
            s[6] * x + s[7] * y + s[8] * z + s[11],
        )
    return (s[0], s[1], s[2])


@kernel
def _put(s: Array, p: Vec3, axis: Vec3, radius: float, half: float) -> None:
    for k in range(3):
        s[k], s[3 + k] = p[k], axis[k]
    s[6], s[7] = radius, half


@kernel
def _sweep(
    exact: bool, s: Array, ints: Ints, i: int, floats: Array, o: int, what: int, a: Vec3, box: Array, sign: float,
    out: Array,
) -> float:  # fmt: skip
    """Write the set as it is seen from behind a joint, into out; return how far it may be from the joint's axis.

    ``what`` is the kind of the joint, a its axis. ``box`` has the middles of the joint's translation, then half its
    widths. ``sign`` is 1 on the way up, where the translation comes last, and -1 on the way down.
    """
    u, v = plane_axes(a)
    m = (0.0, 0.0, 0.0)  # the middle of the translation, and how far it goes from there
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
        at = _middle(exact, s, floats, o)
    radius, low, high = _around(exact, s, ints, i, floats, o, at, a)
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    p = (at[0] + mid * a[0], at[1] + mid * a[1], at[2] + mid * a[2])
    if what == 1:
        _put(out, p, a, radius, half)
        return radius
    p = (p[0] + m[0], p[1] + m[1], p[2] + m[2])
    if what == 2:
        _put(out, p, a, radius, half + far)
        return 1.0
    if what == 3 and sign > 0.0:
        _put(out, p, a, radius + far, half)
        return radius
    if what == 4 and sign > 0.0:
        high, low = max(abs(low), abs(high)), 0.0
        reach = sqrt(radius * radius + high * high)
        _put(out, m, a, reach + far, reach + far)
        return reach
    # down: first the translation, then the turn about the joint's own origin
    along = dot(p, a)
    if what == 3:
        off = (p[0] - along * a[0], p[1] - along * a[1], p[2] - along * a[2])
        reach = (sqrt(dot(off, off)) + radius + far) * _MORE
        _put(out, (along * a[0], along * a[1], along * a[2]), a, reach, half)
        return reach
    reach = (sqrt(dot(p, p)) + sqrt(radius * radius + half * half) + far) * _MORE
    _put(out, zero, a, reach, reach)
    return reach


@kernel
def _carry(exact: bool, m: Array, back: bool, s: Array) -> None:
    """Move a set by a rigid transform, or by its inverse."""
    count = 4 if exact else 2  # columns of a pose, or the middle and the axis of a cylinder
    for k in range(count):
        if exact:
            x, y, z = (s[k], s[3 + k], s[6 + k]) if k < 3 else (s[9], s[10], s[11])
            point = k == 3
        else:
            x, y, z = s[3 * k], s[3 * k + 1], s[3 * k + 2]
            point = k == 0
        w = 1.0 if point else 0.0
        if back:
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


@kernel
def reaches(
    parent: Ints, kind: Ints, axis: Array, origin: Array, boxes: Array, link: Ints, local: Array, ints: Ints,
    floats: Array, starts: Ints, sets: Array, known: Ints, out: Array,
) -> None:  # fmt: skip
    """Write how far each slot may be from the axis of each joint, (slots, links); 0 for fixed joints and the world's.

    ``boxes`` (links, 6) are the translations of joints, see `_sweep`. ``sets`` (links, 12) and ``known`` (links,) are
    scratch: the slot as seen from each link; known is 0 where it is not yet, 1 for a cylinder, 2 for the shape itself.
    """
    count = parent.shape[0]
    for k in range(link.shape[0]):
        for j in range(count):
            known[j] = 0
            out[k, j] = 0.0
        if link[k] < 0:
            continue
        i, o = starts[k, 0], starts[k, 1]
        j = link[k]
        for n in range(12):
            sets[j, n] = local[k, n]
        known[j] = 2
        while parent[j] >= 0:
            above = parent[j]
            for n in range(12):
                sets[above, n] = sets[j, n]
            known[above] = known[j]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(
                    known[j] == 2, sets[j], ints, i, floats, o, kind[j], a, boxes[j], 1.0, sets[above]
                )  # fmt: skip
                known[above] = 1
            _carry(known[above] == 2, origin[j], j < 0, sets[above])  # False; a literal would be a type of its own
            j = above
        for j in range(count):
            if known[j] != 0:
                continue
            above = parent[j]
            for n in range(12):
                sets[j, n] = sets[above, n]
            exact = known[above] == 2
            _carry(exact, origin[j], j >= 0, sets[j])
            known[j] = known[above]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(exact, sets[j], ints, i, floats, o, kind[j], a, boxes[j], -1.0, sets[j])
                known[j] = 1


if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_U = 2.0**-53
_TRANSLATIONS = {SLIDING: 1, PLANAR: 2, FLOATING: 3}


class Arms(NamedTuple):
    """What `gjk3d.robot.motion_certified` takes for granted of a checker, and what it was made from."""

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
