"""Straight lines between configurations, proven: bounds of distances carried as far as the links can move.

The signed distance of two shapes changes by no more than the farthest that a point of one moves as seen from the other:
the separation along every direction does, and the signed distance is the greatest of them. Let V bound that way over
the whole line: the sum over the joints between the two of how much each turns times how far the nearer of the two
shapes may be from its axis, or of how far it slides. Joints are moved one at a time for that, so `reach` bounds hold
for all configurations whose numbers lie between those of the ends, on the line or not. What is known at a parameter a,
a lower bound d of the signed distance, then holds the pair apart by more than a margin m at all t with

    |t - a| V < d - m,

and on [a, b] wherever the reaches of a and of b meet: d(a) + d(b) > V (b - a) + 2 m, as the greater of two bounds is at
least their mean (Schwarzer, Saha, Latombe 2005).

Rounding is taken from d: poses are computed, not exact. Each joint of a chain of D turns by a matrix that is wrong by
18 u in sine, cosine and products, by 4 u in the length of its axis, and is multiplied in twice, 9 u each: under 64 u
with the translations' own roundings, times S, the farthest that anything reaches from the world's origin; one more
such step places a shape on its link: 64 (D + 1) u S for either shape. A number of q on the line is wrong by
3 u (|q0| + |q1|) and 2 u more after a mimic's factor, which moves a shape by as much as the joint does. V itself is
taken 2^-40 larger.
"""

from __future__ import annotations

from math import nan, sqrt

from gjk3d._numba import kernel
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import solve
from gjk3d.robot.checking import between_balls, place
from gjk3d.robot.kinematics import Array, Ints, link_poses
from gjk3d.robot.moving import along
from gjk3d.robot.reach import PLANE

_U = 2.0**-53
_MORE = 1.0 + 2.0**-40
PROVEN, HIT, OPEN = range(3)  #: as `MotionStatus`
NOBODY = -1
FINER = 2.0**-12  #: of the tolerance, are the smallest pieces just before a contact; and 1 / FINER is just before
LEVELS = 64  #: of halves that wait; a half of a half ... is below any tolerance before


@kernel
def speeds(
    kind: Ints, source: Ints, multiplier: Array, offset: Array, q0: Array, q1: Array, turn: Array, slide: Array,
    turn_error: Array, slide_error: Array,
) -> None:  # fmt: skip
    """Write how much each joint turns and slides from q0 to q1, and what rounding adds at one configuration."""
    for j in range(kind.shape[0]):
        turn[j] = slide[j] = turn_error[j] = slide_error[j] = 0.0
        what = kind[j]
        if what == 0:
            continue
        k, f = source[j], abs(multiplier[j])
        d = f * abs(q1[k] - q0[k])
        e = 5.0 * _U * (f * (abs(q0[k]) + abs(q1[k])) + abs(offset[j]))
        if what == 1:
            turn[j], turn_error[j] = d, e
        elif what == 2:
            slide[j], slide_error[j] = d, e
        else:
            last = 3 if what == 4 else 2  # translations, and from where on turns
            x, y = abs(q1[k + 1] - q0[k + 1]), 0.0
            slide_error[j] = e + 5.0 * _U * (abs(q0[k + 1]) + abs(q1[k + 1]))
            if what == 4:
                y = abs(q1[k + 2] - q0[k + 2])
                slide_error[j] += 5.0 * _U * (abs(q0[k + 2]) + abs(q1[k + 2]))
            slide[j] = PLANE * sqrt(d * d + x * x + y * y)
            slide_error[j] *= PLANE
            total = 0.0
            for n in range(last, 2 * last if what == 4 else last + 1):
                x = q1[k + n] - q0[k + n]
                total += x * x
                turn_error[j] += 5.0 * _U * (abs(q0[k + n]) + abs(q1[k + n]))
            turn[j] = sqrt(total)


@kernel
def way(arms: Array, p: int, turn: Array, slide: Array) -> float:
    """Return how far the shapes of pair p move against each other at most; arms are negative off their path."""
    total = 0.0
    for j in range(arms.shape[1]):
        if arms[p, j] >= 0.0 and (turn[j] > 0.0 or slide[j] > 0.0):
            total += slide[j] + turn[j] * arms[p, j]
    return total


@kernel
def bounds(
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints, p: int, margin: float,
    enough: float, cache: Array, links: Array, rows: Array, balls: Array, stamp: Ints, now: int, work: Array,
    table: Ints, room: int, one: Array, marks: Ints, zero: int,
) -> tuple[float, bool]:  # fmt: skip
    """Return a lower bound of the signed distance of a pair, and whether it is known to be within the margin.

    The bound is as good as GJK has it, or more than ``enough``.
    """
    mode = narrow.UNSIGNED if margin >= 0.0 else narrow.SIGNED
    most = max(enough, 0.0)
    several = pairs[p, 3] > pairs[p, 2]
    least = 1e308
    whole = -1e308
    for r in range(pairs[p, 2] - 1, pairs[p, 3]):
        sub = r >= pairs[p, 2]
        if sub and not several:
            break
        a, b = (subs[r, 0], subs[r, 1]) if sub else (pairs[p, 0], pairs[p, 1])
        for side in range(2):
            s = b if side == 1 else a
            if stamp[s] != now:
                place(link, local, links, s, floats, starts[s, 1], rows, balls)
                stamp[s] = now
        gap = between_balls(balls, a, b)
        if gap > most:
            if not sub:
                return gap, False
            least = min(least, gap)
            continue
        c = pairs.shape[0] + r if sub else p
        solve(
            ints, starts[a, 0], floats, starts[a, 1], ints, starts[b, 0], floats, starts[b, 1], rows, a, rows, b,
            narrow.UNSIGNED if several and not sub else mode, most, 0.0, work, table, room, one, marks, zero,
            cache[c : c + 1], one[0, :0],
        )  # fmt: skip
        lower = one[0, 1]
        if several and not sub:
            if lower > most:
                return lower, False
            if lower > 0.0:
                whole = lower  # the bodies lie in the hulls; where these overlap, that says nothing
            continue
        if one[0, 2] <= margin:
            return lower, True
        least = min(least, lower)
    return max(least, whole), False


@kernel
def certified_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array,
    q0: Array, q1: Array, tolerance: float, slack: float, arms: Array, link: Ints, local: Array, ints: Ints,
    floats: Array, starts: Ints, pairs: Ints, subs: Ints, margins: Array, cache: Array, matrix: Array, links: Array,
    rows: Array, balls: Array, stamp: Ints, work: Array, table: Ints, room: int, one: Array, marks: Ints, q: Array,
    joints: Array, ways: Array, ids: Ints, near: Array, ends: Array, counts: Ints, start: int, stop: int,
    status: Ints, safe: Array, hit: Array, which: Ints,
) -> None:  # fmt: skip
    """Write for each edge whether it is proven free, or the bracket of its first contact, or where proof ends.

    An edge is halved from left to right. A piece keeps the pairs that are open in it, and for each a lower bound at
    either end; the rest of it that some pair has open is halved again until it is narrower than the tolerance. Where a
    configuration is known to collide, all behind it is dropped.

    Scratch: joints (4, links), ways (2, pairs), ids (LEVELS, pairs), near (2, LEVELS, pairs), ends (LEVELS, 2),
    counts (LEVELS,), and stamp of zeros. ``slack`` is what poses may be wrong by.
    """
    zero = 0 * start  # a literal would be a type of its own, and compile everything again
    now = zero
    count = pairs.shape[0]
    for e in range(start, stop):
        speeds(kind, source, multiplier, offset, q0[e], q1[e], joints[0], joints[1], joints[2], joints[3])
        for p in range(count):
            v = way(arms, p, joints[0], joints[1]) * _MORE
            ways[0, p] = v
            # 8 u V: parameters are rounded too
            ways[1, p] = margins[p] + slack + way(arms, p, joints[2], joints[3]) + 8.0 * _U * (v + abs(margins[p]))
        first, who = 2.0, NOBODY  # the first parameter that is known to collide
        top, n = zero, count
        ends[0, 0], ends[0, 1] = 0.0, 1.0
        for p in range(count):
            ids[0, p] = p
        for side in range(2):
            now += 1
            along(q0[e], q1[e], float(side), q)
            link_poses(parent, kind, axis, origin, source, multiplier, offset, q, matrix, links)
            m = zero
            for i in range(n):
                p = ids[0, i]
                v = ways[0, p]
                low, touching = bounds(
                    link, local, ints, floats, starts, pairs, subs, p, margins[p], v + ways[1, p], cache, links, rows,
                    balls, stamp, now, work, table, room, one, marks, zero,
                )  # fmt: skip
                if touching and first > 1.0:
                    first, who = float(side), p
                    if side == 0:
                        break
                if low - ways[1, p] > v and not touching:
                    continue
                ids[0, m] = p
                near[0, 0, m] = low if side == 0 else near[0, 0, i]
                near[1, 0, m] = low
                m += 1
            n = m
            if first == 0.0:
                break
        counts[0] = n
        status[e], safe[e], which[e] = PROVEN, 1.0, NOBODY
        if first == 0.0:
            status[e], safe[e], top = HIT, 0.0, zero - 1
        while top >= 0:
            a, b, n = ends[top, 0], ends[top, 1], counts[top]
            low, high, m, open_ = 2.0, -1.0, zero, NOBODY
            for i in range(n):
                p = ids[top, i]
                x = max(near[0, top, i] - ways[1, p], 0.0)
                y = max(near[1, top, i] - ways[1, p], 0.0)
                v = ways[0, p]
                if x + y > v * (b - a):
                    continue
                left, right = a, b
                if v > 0.0:
                    left, right = min(a + x / v, b), max(b - y / v, a)
                if left < low:
                    low, open_ = left, p
                high = max(high, right)
                ids[top, m] = p
                near[0, top, m], near[1, top, m] = near[0, top, i], near[1, top, i]
                m += 1
            if m == 0:
                top -= 1
                continue
            c = 0.5 * (low + high)
            # what comes on slowly has little room before it touches: near a contact pieces may be smaller
            close = first - low <= 1.5 * tolerance / FINER
            small = not (high - low > tolerance * (FINER if close else 1.0) and low < c < high) or top + 2 > LEVELS
            if small and not close and low < 1.0:  # is one near?
                now += 1
                c = min(low + tolerance / FINER, 1.0)
                along(q0[e], q1[e], c, q)
                link_poses(parent, kind, axis, origin, source, multiplier, offset, q, matrix, links)
                for i in range(m):
                    p = ids[top, i]
                    _, touching = bounds(
                        link, local, ints, floats, starts, pairs, subs, p, margins[p], ways[1, p], cache, links, rows,
                        balls, stamp, now, work, table, room, one, marks, zero,
                    )  # fmt: skip
                    if touching:
                        first, who, small = c, p, False
                        break
                if first == c:
                    counts[top] = m
                    continue
            if small or first - low <= tolerance:
                safe[e], which[e] = low, open_
                status[e] = HIT if first - low <= tolerance else OPEN
                break
            now += 1
            along(q0[e], q1[e], c, q)
            link_poses(parent, kind, axis, origin, source, multiplier, offset, q, matrix, links)
            further = min(top + 1, LEVELS - 1)
            met = False
            reach = max(c - low, high - c)
            for i in range(m):
                p = ids[top, i]
                gap, touching = bounds(
                    link, local, ints, floats, starts, pairs, subs, p, margins[p], ways[0, p] * reach + ways[1, p],
                    cache, links, rows, balls, stamp, now, work, table, room, one, marks, zero,
                )  # fmt: skip
                if touching:
                    gap = -1e308
                    if not met:
                        met, first, who = True, c, p
                # the left half, to be seen next
                ids[further, i] = p
                near[0, further, i], near[1, further, i] = near[0, top, i], gap
                near[0, top, i] = gap  # what is left in place becomes the right half
            if met:
                for i in range(m):
                    ids[0, i] = ids[further, i]
                    near[0, 0, i], near[1, 0, i] = near[0, further, i], near[1, further, i]
                top = zero
                ends[0, 0], ends[0, 1], counts[0] = a, c, m
            else:
                ends[top, 0], counts[top] = c, m
                ends[further, 0], ends[further, 1], counts[further] = a, c, m
                top = further
        if first <= 1.0:
            hit[e] = first
            if status[e] == HIT:
                which[e] = who
        else:
            hit[e] = float(nan)
