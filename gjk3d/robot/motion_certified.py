"""Straight lines between configurations, proven: from one configuration to how far round it a pair is apart.

The signed distance of two shapes is the greatest of their separations along all directions, so what bounds a separation
or its change bounds it. Of a pair at a parameter c, with a lower bound d and a margin m, two things are known.

*Linear.* Let V be what the two move against each other over the whole line: the sum over the joints between them of
how much each turns times how far the nearer of the two may be from its axis, or of how far it slides. No separation
changes by more, also with the joints moved one at a time, as `reach` holds for all configurations. So the pair is apart
by more than m where |t - c| V < d - m (Schwarzer, Saha, Latombe 2005).

*Quadratic.* As seen from one of the two, held fast, a point of the other is at p + s p' + e with |e| <= K s^2 / 2, K a
bound of |p''|. Along a fixed unit direction n the separation at c + s is then at least

    min over p of n . (p + s p')  -  max over the fixed one of n . a  -  K s^2 / 2,

which is concave in s: what its ends are above, all between is. With p' = v + w x p the minimum is one support point
along n + s n x w. For K, joint j from the fixed one on turns by w_j, at most r_j from its axis, W before it in all:
p' is the sum of w_j u_j, |u_j| <= r_j; u_j turns with all before it, and changes as p moves by all from j on. So
|p''| <= sum of w_j r_j (w_j + 2 W_j); of one that slides by s_j, 2 s_j W_j.

Rounding is taken from d. Poses are computed, not exact: each joint of a chain of D turns by a matrix that is wrong by
18 u in sine, cosine and products, by 4 u in the length of its axis, and is multiplied in twice, 9 u each: under 64 u
with the translations' own roundings, times S, the farthest that anything reaches from the world's origin; one more
such step places a shape on its link: 64 (D + 1) u S for either shape, and as much for a velocity of one turn. A number
of q on the line is wrong by 3 u (|q0| + |q1|) and 2 u more after a mimic's factor, which moves a shape by as much as
the joint does. V and K are taken 2^-40 larger.
"""

from __future__ import annotations

from math import inf, nan, sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.room import room_in
from gjk3d.narrow.solve import solve
from gjk3d.robot.capsules import between_capsules
from gjk3d.robot.kinematics import link_poses, plane_axes
from gjk3d.robot.motion_bounds import PLANE
from gjk3d.robot.motion_sampled import along
from gjk3d.robot.walk import between_balls, place
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Ints

_U = 2.0**-53
_MORE = 1.0 + 2.0**-40
_RADIUS, _RHO, _SLACK = layout.RADIUS, layout.RHO, layout.SLACK
PROVEN, HIT, OPEN = range(3)  #: as `MotionStatus`
NOBODY = -1
LEVELS = 64  #: of halves that wait
MOST_LOOKS = 200_000  #: at configurations of one motion: two shapes may glide along each other, just apart
FINER = 2.0**-12  #: of the tolerance, are the smallest pieces just before a contact; and 1 / FINER is just before


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
def ways(
    begins: Ints, steps: Ints, arms: Array, p: int, turn: Array, slide: Array, floating: Ints
) -> tuple[float, float, float]:
    """Return V of pair p, and K with the first and with the second of it moving; see the module.

    ``steps`` are the joints from the first of a pair to the second, its own from begins[p] on; ``arms`` (2, steps) are
    how far either is from their axes.
    """
    total, first, second, before = 0.0, 0.0, 0.0, 0.0
    for k in range(begins[p], begins[p + 1]):
        j = steps[k]
        x, w = slide[j], turn[j]
        if x > 0.0 or w > 0.0:
            total += x + w * min(arms[0, k], arms[1, k])
            if floating[j] != 0:
                first = second = inf
            # a planar joint's slides are turned by its own turn too, seen from one side
            second += 2.0 * x * (before + w) + (w * arms[1, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    before = 0.0
    for k in range(begins[p + 1] - 1, begins[p] - 1, -1):
        j = steps[k]
        x, w = slide[j], turn[j]
        if x > 0.0 or w > 0.0:
            first += 2.0 * x * (before + w) + (w * arms[0, k] * (w + 2.0 * before) if w > 0.0 else 0.0)
            before += w
    return total, first, second


@kernel
def twists(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, q0: Array, q1: Array,
    poses: Array, out: Array,
) -> None:  # fmt: skip
    """Write how each link moves on the line, (links, 6): w and v, its point x by v + w x x; floating joints rest."""
    for i in range(parent.shape[0]):
        for n in range(6):
            out[i, n] = out[parent[i], n] if parent[i] >= 0 else 0.0
        what = kind[i]
        if what == 0 or what == 4:
            continue
        k = source[i]
        m = poses[i]
        a = (
            m[0, 0] * axis[i, 0] + m[0, 1] * axis[i, 1] + m[0, 2] * axis[i, 2],
            m[1, 0] * axis[i, 0] + m[1, 1] * axis[i, 1] + m[1, 2] * axis[i, 2],
            m[2, 0] * axis[i, 0] + m[2, 1] * axis[i, 1] + m[2, 2] * axis[i, 2],
        )
        rate = multiplier[i] * (q1[k] - q0[k])
        if what == 2:
            for n in range(3):
                out[i, 3 + n] += rate * a[n]
            continue
        if what == 3:
            x, y = rate, q1[k + 1] - q0[k + 1]
            u, v = plane_axes((axis[i, 0], axis[i, 1], axis[i, 2]))
            d = (x * u[0] + y * v[0], x * u[1] + y * v[1], x * u[2] + y * v[2])
            f = origin[i]
            d = (
                f[0, 0] * d[0] + f[0, 1] * d[1] + f[0, 2] * d[2],
                f[1, 0] * d[0] + f[1, 1] * d[1] + f[1, 2] * d[2],
                f[2, 0] * d[0] + f[2, 1] * d[1] + f[2, 2] * d[2],
            )
            if parent[i] >= 0:
                f = poses[parent[i]]
                d = (
                    f[0, 0] * d[0] + f[0, 1] * d[1] + f[0, 2] * d[2],
                    f[1, 0] * d[0] + f[1, 1] * d[1] + f[1, 2] * d[2],
                    f[2, 0] * d[0] + f[2, 1] * d[1] + f[2, 2] * d[2],
                )
            for n in range(3):
                out[i, 3 + n] += d[n]
            rate = q1[k + 2] - q0[k + 2]
        z = cross((m[0, 3], m[1, 3], m[2, 3]), a)
        for n in range(3):
            out[i, n] += rate * a[n]
            out[i, 3 + n] += rate * z[n]


@kernel
def root(x: float, rate: float, k: float) -> float:
    """Return up to which s > 0 x + rate s - k s^2 / 2 stays above zero, a little less."""
    if not (x > 0.0 and rate == rate):
        return 0.0
    r = sqrt(rate * rate + 2.0 * k * x)
    s = 1e308
    if rate < 0.0:
        s = 2.0 * x / (r - rate)
    elif k > 0.0:
        s = (r + rate) / k
    return s * (1.0 - 2.0**-40) if s == s else 0.0


@kernel
def lowest(ints: Ints, i: int, floats: Array, o: int, rows: Array, k: int, d: Vec3) -> float:
    """Return the least of d . r over a placed shape, r from its centre."""
    e = (
        -(rows[k, 0] * d[0] + rows[k, 3] * d[1] + rows[k, 6] * d[2]),
        -(rows[k, 1] * d[0] + rows[k, 4] * d[1] + rows[k, 7] * d[2]),
        -(rows[k, 2] * d[0] + rows[k, 5] * d[1] + rows[k, 8] * d[2]),
    )
    r = sqrt(dot(d, d))
    return float(-dot(e, support(Core(ints[i:], floats[o:]), e)) - (floats[o + _RADIUS] + floats[o + _SLACK]) * r)


@kernel
def curved(
    ints: Ints, floats: Array, starts: Ints, rows: Array, balls: Array, fixed: int, moves: int, n: Vec3, w: Vec3,
    v: Vec3, floor: float, k: float, back: float, forth: float,
) -> tuple[float, float]:  # fmt: skip
    """Return how far to either side the quadratic bound of the module holds two shapes apart; n is from the fixed one.

    v and w are the velocity of the centre of the other and its turning.
    """
    i, o = starts[moves, 0], starts[moves, 1]
    g, h = starts[fixed, 0], starts[fixed, 1]
    at = (balls[moves, 0] - balls[fixed, 0], balls[moves, 1] - balls[fixed, 1], balls[moves, 2] - balls[fixed, 2])
    near = lowest(ints, i, floats, o, rows, moves, n)
    size = sqrt(dot(at, at)) + balls[moves, 3] + balls[fixed, 3]
    for c in range(3):
        size += abs(balls[fixed, c]) + abs(balls[moves, c])
    error = 64.0 * _U * size * (1.0 + sqrt(dot(w, w))) + 2.0 * floats[o + _SLACK] * (1.0 + sqrt(dot(w, w)))
    x = dot(n, at) + near + lowest(ints, g, floats, h, rows, fixed, (-n[0], -n[1], -n[2])) - error - floor
    if not x > 0.0:
        return 0.0, 0.0
    m = cross(n, w)
    straight = dot(n, v)
    found_back, found_forth = 0.0, 0.0
    for side in range(2):
        sign, wanted = (1.0, forth) if side == 1 else (-1.0, back)
        best, s = 0.0, wanted
        for _ in range(3):
            if not s > best:
                break
            t = sign * s
            d = (n[0] + t * m[0], n[1] + t * m[1], n[2] + t * m[2])
            # concave: up to s the first order stays above the line to there
            rate = sign * straight + (lowest(ints, i, floats, o, rows, moves, d) - near) / s
            best = max(best, min(s, root(x, rate, k)))
            if best >= wanted:
                break
            s = min(wanted, 2.0 * best)
        if side == 1:
            found_forth = best
        else:
            found_back = best
    return found_back, found_forth


@kernel
def cover(
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints, p: int, margin: float,
    floor: float, v: float, k: float, first_moves: bool, back: float, forth: float, cache: Array, links: Array,
    rows: Array, balls: Array, stamp: Ints, now: int, twist: Array, work: Array, table: Ints, room: int, one: Array,
    marks: Ints, zero: int,
) -> tuple[float, float, bool]:  # fmt: skip
    """Return how far back and forth a pair is proven apart, and whether it is known to be within the margin.

    No more than ``back`` and ``forth`` is looked for.
    """
    mode = narrow.UNSIGNED if margin >= 0.0 else narrow.SIGNED
    enough = max(v * max(back, forth) + floor, 0.0)
    several = pairs[p, 3] > pairs[p, 2]
    whole_back, whole_forth, least_back, least_forth = 0.0, 0.0, 1e308, 1e308
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
        gap = between_balls(balls, a, b) - floor
        # as seen from the one held fast: how its other's centre moves, and turns
        m, f = (a, b) if first_moves else (b, a)
        w, u, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (balls[m, 0], balls[m, 1], balls[m, 2])
        for side in range(2):
            j, sign = (link[f], -1.0) if side == 1 else (link[m], 1.0)
            if j >= 0:
                w = (w[0] + sign * twist[j, 0], w[1] + sign * twist[j, 1], w[2] + sign * twist[j, 2])
                u = (u[0] + sign * twist[j, 3], u[1] + sign * twist[j, 4], u[2] + sign * twist[j, 5])
        turned = cross(w, c)
        u = (u[0] + turned[0], u[1] + turned[1], u[2] + turned[2])
        so_back, so_forth, loose = 0.0, 0.0, 0.0
        if gap > 0.0:
            n = (c[0] - balls[f, 0], c[1] - balls[f, 1], c[2] - balls[f, 2])
            rate = dot(n, u) / sqrt(dot(n, n))
            so_back, so_forth = max(gap / v, root(gap, -rate, k)), max(gap / v, root(gap, rate, k))
        if not (so_back >= back and so_forth >= forth):
            gap = between_capsules(rows, floats, starts, a, b) - floor
            if gap > 0.0:
                so_back, so_forth = max(so_back, gap / v), max(so_forth, gap / v)
                # they do not touch: a tenth of the gap is as good as all digits
                n = (c[0] - balls[f, 0], c[1] - balls[f, 1], c[2] - balls[f, 2])
                loose = 0.1 * gap / (sqrt(dot(n, n)) + balls[a, 3] + balls[b, 3])
        if not (so_back >= back and so_forth >= forth):
            line = pairs.shape[0] + r if sub else p
            cores, scratch = cores_of(ints, floats, starts, rows, a, b), room_in(work, table, room, one[0, :0])
            asked = narrow.UNSIGNED if several and not sub else mode
            solve(cores, asked, enough, loose, scratch, cache[line : line + 1], one, marks, zero)
            if (sub or not several) and one[0, 2] <= margin:
                return 0.0, 0.0, True
            gap = one[0, 1] - floor
            if gap > 0.0 and (sub or not several or one[0, 1] > 0.0):
                so_back, so_forth = max(so_back, gap / v), max(so_forth, gap / v)
                if not (so_back >= back and so_forth >= forth) and k < inf:
                    sign = -1.0 if first_moves else 1.0
                    n = (sign * one[0, 3], sign * one[0, 4], sign * one[0, 5])
                    x, y = curved(
                        ints, floats, starts, rows, balls, f, m, n, w, u, floor, k, back, forth
                    )  # fmt: skip
                    so_back, so_forth = max(so_back, x), max(so_forth, y)
        if several and not sub:
            if so_back >= back and so_forth >= forth:
                return so_back, so_forth, False
            whole_back, whole_forth = so_back, so_forth  # the bodies lie in the hulls
        else:
            least_back, least_forth = min(least_back, so_back), min(least_forth, so_forth)
    return max(least_back, whole_back), max(least_forth, whole_forth), False


@kernel
def certified_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array,
    q0: Array, q1: Array, tolerance: float, slack: float, begins: Ints, steps: Ints, arms: Array, floating: Ints,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints, margins: Array,
    cache: Array, matrix: Array, links: Array, rows: Array, balls: Array, stamp: Ints, work: Array, table: Ints,
    room: int, one: Array, marks: Ints, q: Array, joints: Array, twist: Array, bounds: Array, ids: Ints, near: Array,
    counts: Ints, start: int, stop: int, status: Ints, safe: Array, hit: Array, which: Ints,
) -> None:  # fmt: skip
    """Write for each edge whether it is proven free, or the bracket of its first contact, or where proof ends.

    An edge is halved from left to right. A piece keeps the pairs that are open in it, and for each from where to where.
    Where a configuration is known to collide, nothing behind it is looked at.

    Scratch: joints (4, links), twist (links, 6), bounds (4, pairs), ids (LEVELS, pairs), near (2, LEVELS, pairs),
    counts (LEVELS,), and stamp of zeros. ``slack`` is what poses may be wrong by.
    """
    zero = 0 * start  # a literal would be a type of its own, and compile everything again
    now = zero
    count = pairs.shape[0]
    for e in range(start, stop):
        speeds(kind, source, multiplier, offset, q0[e], q1[e], joints[0], joints[1], joints[2], joints[3])
        moved = 1.0
        for j in range(kind.shape[0]):
            moved += joints[0, j]
        for p in range(count):
            v, first_k, second_k = ways(begins, steps, arms, p, joints[0], joints[1], floating)
            v *= _MORE
            wrong, _, _ = ways(begins, steps, arms, p, joints[2], joints[3], floating)
            bounds[0, p] = max(v, 1e-300)
            # 8 u V: parameters are rounded too
            bounds[1, p] = margins[p] + slack * moved + wrong + 8.0 * _U * (v + abs(margins[p]))
            bounds[2, p] = min(first_k, second_k) * _MORE
            bounds[3, p] = 1.0 if first_k < second_k else 0.0
        first, who = 2.0, NOBODY  # the first parameter that is known to collide
        status[e], safe[e], which[e] = OPEN, 0.0, NOBODY
        begun = now
        top, n = zero, count
        for p in range(count):
            ids[0, p], near[0, 0, p], near[1, 0, p] = p, 0.0, 1.0
        look = 0  # 0 and 1: at the ends; 2: halving; 3: whether a contact is near where proof ends
        while True:
            low, high, open_ = 2.0, -1.0, NOBODY
            c = float(look)
            if look == 2:
                m = zero
                for i in range(n):
                    if near[0, top, i] < near[1, top, i]:
                        ids[top, m] = ids[top, i]
                        near[0, top, m], near[1, top, m] = near[0, top, i], near[1, top, i]
                        if near[0, top, m] < low:
                            low, open_ = near[0, top, m], ids[top, m]
                        high = max(high, near[1, top, m])
                        m += 1
                n = m
                if n == 0:
                    top -= 1
                    if top < 0:
                        status[e], safe[e] = PROVEN, 1.0
                        break
                    n = counts[top]
                    continue
                c = 0.5 * (low + high)
                if first - low <= tolerance or top + 2 > LEVELS or now - begun > MOST_LOOKS:
                    status[e], safe[e] = (HIT if first - low <= tolerance else OPEN), low
                    which[e] = open_
                    break
            now += 1
            along(q0[e], q1[e], c, q)
            link_poses(parent, kind, axis, origin, source, multiplier, offset, q, matrix, links)
            twists(parent, kind, axis, origin, source, multiplier, q0[e], q1[e], links, twist)
            # what comes on slowly has little room before it touches: near a contact pieces may be smaller
            close = first - low <= 1.5 * tolerance / FINER
            least = max(tolerance * FINER if close else tolerance, 8.0 * _U)
            further = min(top + 1, LEVELS - 1)
            met, stuck = False, False
            for i in range(n):
                p = ids[top, i]
                left, right = near[0, top, i], near[1, top, i]
                if left >= right:
                    continue
                so_back, so_forth = max(c - left, 0.0), max(right - c, 0.0)
                back, forth, touching = cover(
                    link, local, ints, floats, starts, pairs, subs, p, margins[p], bounds[1, p], bounds[0, p],
                    bounds[2, p], bounds[3, p] > 0.0, so_back, so_forth, cache, links, rows, balls, stamp, now, twist,
                    work, table, room, one, marks, zero,
                )  # fmt: skip
                # c - (c - left) may miss left by a digit
                till, on = (left if back >= so_back else c - back), (right if forth >= so_forth else c + forth)
                if touching and not met:
                    met, first, who = True, c, p
                if look < 2:  # what an end proves of the whole
                    near[look, 0, i] = on if look == 0 else till
                    continue
                ids[further, i] = p
                near[0, further, i], near[1, further, i] = left, min(right, till)
                near[0, top, i] = max(left, on)
                stuck = stuck or ((left < till or on < right) and not touching and back + forth < 0.5 * least)
            if look < 2:
                if met and look == 0:
                    status[e], first = HIT, 0.0
                    break
                look += 1
                continue
            if stuck and not met and high - low <= least:
                # proof ends here; unless a contact is near
                if not close:
                    now += 1
                    c = min(low + tolerance / FINER, 1.0)
                    along(q0[e], q1[e], c, q)
                    link_poses(parent, kind, axis, origin, source, multiplier, offset, q, matrix, links)
                    for i in range(n):
                        p = ids[further, i]
                        _, _, touching = cover(
                            link, local, ints, floats, starts, pairs, subs, p, margins[p], bounds[1, p], bounds[0, p],
                            inf, bounds[3, p] > 0.0, 0.0, 0.0, cache, links, rows, balls, stamp, now, twist, work,
                            table, room, one, marks, zero,
                        )  # fmt: skip
                        if touching:
                            first, who = c, p
                            break
                if close or first > c or c <= low:
                    status[e], safe[e], which[e] = OPEN, low, open_
                    break
                c = 0.5 * (low + high)
            if met:
                for i in range(n):
                    ids[0, i] = ids[further, i]
                    near[0, 0, i], near[1, 0, i] = near[0, further, i], near[1, further, i]
                top = zero
            else:
                counts[top] = n  # the right half stays where it was
                top = further
            counts[top] = n
        hit[e] = first if first <= 1.0 else float(nan)
        if status[e] == HIT:
            which[e] = who
