"""Many configurations of a robot in one call: kinematics, balls, then GJK with what each pair remembers.

A slot is a shape that is fixed to a link, or to the world where its link is -1. A pair is a row of two slots, and of
where its sub-pairs begin and end: where there are some, its slots are hulls round several bodies, which are looked at
only where the hulls hit.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.room import room_in
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.robot.capsules import between_capsules
from gjk3d.robot.kinematics import link_poses
from gjk3d.shapes import layout
from gjk3d.typing import Array, Ints

FREE, UNSURE, REFUSED = -1, -2, -3
#: what the rotation of a product of a few dozen rotations may miss of orthonormal
_RESIDUAL = 256.0 * 2.0**-53
#: sub-pairs that may be near, and are asked without asking the hulls round them first
_FEW = 2
_CENTER, _RHO, _RADIUS = layout.CENTER, layout.RHO, layout.RADIUS


@kernel
def place(link: Ints, local: Array, links: Array, k: int, f: Array, o: int, rows: Array, balls: Array) -> None:
    """Write the pose of slot k, and the ball round it: centre and radius."""
    if link[k] >= 0:
        m = links[link[k]]
        for i in range(3):
            a, b, c = m[i, 0], m[i, 1], m[i, 2]
            for j in range(3):
                rows[k, 3 * i + j] = a * local[k, j] + b * local[k, 3 + j] + c * local[k, 6 + j]
            rows[k, 9 + i] = a * local[k, 9] + b * local[k, 10] + c * local[k, 11] + m[i, 3]
        rows[k, 12] = _RESIDUAL
    else:
        for i in range(12):
            rows[k, i] = local[k, i]
        rows[k, 12] = _RESIDUAL
    x, y, z = f[o + _CENTER], f[o + _CENTER + 1], f[o + _CENTER + 2]
    for i in range(3):
        balls[k, i] = rows[k, 3 * i] * x + rows[k, 3 * i + 1] * y + rows[k, 3 * i + 2] * z + rows[k, 9 + i]
    balls[k, 3] = f[o + _RHO] + f[o + _RADIUS]


@kernel
def between_balls(balls: Array, a: int, b: int) -> float:
    """Return how far apart two balls are at least, rounding left out."""
    x, y, z = balls[a, 0] - balls[b, 0], balls[a, 1] - balls[b, 1], balls[a, 2] - balls[b, 2]
    d = sqrt(x * x + y * y + z * z)
    return float(d * (1.0 - 1e-9) - (balls[a, 3] + balls[b, 3]) * (1.0 + 1e-9))


@kernel
def free_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints, order: Ints,
    margins: Array, cache: Array, matrix: Array, links: Array, rows: Array, balls: Array, stamp: Ints, simplex: Array,
    start: int, stop: int, answer: Ints,
) -> None:  # fmt: skip
    """Write for each configuration the first pair found closer than its margin, `FREE`, or `UNSURE`.

    Pairs that hit move up in ``order``, so that likely ones come to be asked first; rows of ``cache`` are of the pairs,
    then of the sub-pairs. ``stamp`` says for which configuration a slot was placed.
    """
    for k in range(start, stop):
        link_poses(parent, kind, axis, origin, source, multiplier, offset, q[k], matrix, links)
        answer[k] = FREE
        for n in range(order.shape[0]):
            p = order[n]
            margin = margins[p]
            for side in range(2):
                s = pairs[p, side]
                if stamp[s] != k:
                    place(link, local, links, s, floats, starts[s, 1], rows, balls)
                    stamp[s] = k
            a, b = pairs[p, 0], pairs[p, 1]
            if between_balls(balls, a, b) > margin or between_capsules(rows, floats, starts, a, b) > margin:
                continue
            told = quick_collide(cores_of(ints, floats, starts, rows, a, b), margin, simplex, cache, p)
            if told == 0:
                continue
            if pairs[p, 3] > pairs[p, 2]:
                told = 0
                for r in range(pairs[p, 2], pairs[p, 3]):
                    for side in range(2):
                        s = subs[r, side]
                        if stamp[s] != k:
                            place(link, local, links, s, floats, starts[s, 1], rows, balls)
                            stamp[s] = k
                    a, b = subs[r, 0], subs[r, 1]
                    if between_capsules(rows, floats, starts, a, b) > margin:
                        continue
                    cores = cores_of(ints, floats, starts, rows, a, b)
                    told = quick_collide(cores, margin, simplex, cache, pairs.shape[0] + r)
                    if told != 0:
                        break
                if told == 0:
                    continue
            answer[k] = p if told == 1 else UNSURE
            if told == 1 and n > 0:
                half = n // 2
                order[n] = order[half]
                order[half] = p
            break


@kernel
def clearance_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints,
    most: float, cache: Array, matrix: Array, links: Array, rows: Array, balls: Array, work: Array, table: Ints,
    room: int, one: Array, marks: Ints, gaps: Array, start: int, stop: int, out: Array, which: Ints,
) -> None:  # fmt: skip
    """Write for each configuration the least signed distance, as a row of `solve`, and its pair or -1 beyond most.

    ``which`` is (n, 2): the pair, and the sub-pair or -1. Pairs are asked in the order of what their capsules prove,
    until that is more than the least found; of pairs whose balls are far apart the capsules are not looked at. So are
    sub-pairs, once the hulls round them are found near; ``gaps`` has room for both. A slot is placed when it is needed.
    """
    row = 0 * start  # a literal would be a type of its own, and compile everything again
    scratch = room_in(work, table, room, one[0, :0])
    for k in range(start, stop):
        link_poses(parent, kind, axis, origin, source, multiplier, offset, q[k], matrix, links)
        for s in range(link.shape[0]):
            if link[s] >= 0 or k == start:
                rows[s, 12] = -1.0  # not placed yet
        best = most
        which[k, 0] = which[k, 1] = -1
        lower = 1e308
        near = most  # a guess of the least distance: all is right with any
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            for c in (a, b):
                if rows[c, 12] < 0.0:
                    place(link, local, links, c, floats, starts[c, 1], rows, balls)
            gaps[p] = between_balls(balls, a, b)
            near = min(near, gaps[p] + balls[a, 3] + balls[b, 3])
        for p in range(pairs.shape[0]):
            if gaps[p] <= near:
                gaps[p] = between_capsules(rows, floats, starts, pairs[p, 0], pairs[p, 1])
        while True:
            p = nearest(gaps, 0 * start, pairs.shape[0], best)
            if p < 0:
                break
            a, b = pairs[p, 0], pairs[p, 1]
            gap = between_capsules(rows, floats, starts, a, b)
            if gap > gaps[p]:
                gaps[p] = gap  # so far only the balls were known
                continue
            gaps[p] = 1e308
            first, last = pairs[p, 2], pairs[p, 3]
            if last > first:
                base = pairs.shape[0]
                few = 0
                for r in range(first, last):
                    for c in (subs[r, 0], subs[r, 1]):
                        if rows[c, 12] < 0.0:
                            place(link, local, links, c, floats, starts[c, 1], rows, balls)
                    gaps[base + r] = between_capsules(rows, floats, starts, subs[r, 0], subs[r, 1])
                    few += 1 if gaps[base + r] <= best else 0
                if few > _FEW:
                    cores = cores_of(ints, floats, starts, rows, a, b)
                    solve(cores, narrow.UNSIGNED, max(best, 0.0), 0.0, scratch, cache[p : p + 1], one, marks, row)
                    if one[0, 1] > max(best, 0.0):
                        continue  # the hulls are farther apart than the nearest, so are all the bodies in them
                while True:
                    r = nearest(gaps, base + first, base + last, best)
                    if r < 0:
                        break
                    gaps[r] = 1e308
                    a, b = subs[r - base, 0], subs[r - base, 1]
                    cores = cores_of(ints, floats, starts, rows, a, b)
                    solve(cores, narrow.SIGNED, max(best, 0.0), 0.0, scratch, cache[r : r + 1], one, marks, row)
                    lower = min(lower, one[0, 1])
                    best = take(one, best, p, r - base, k, out, which)
            else:
                cores = cores_of(ints, floats, starts, rows, a, b)
                solve(cores, narrow.SIGNED, max(best, 0.0), 0.0, scratch, cache[p : p + 1], one, marks, row)
                lower = min(lower, one[0, 1])
                best = take(one, best, p, first * 0 - 1, k, out, which)
        if which[k, 0] >= 0:
            out[k, 1] = min(out[k, 1], lower)


@kernel
def nearest(gaps: Array, first: int, last: int, most: float) -> int:
    """Return where the least gap between two places is, if at most ``most``, or -1."""
    found, least = -1, most
    for n in range(first, last):
        if gaps[n] <= least:
            found, least = n, gaps[n]
    return found


@kernel
def take(one: Array, best: float, p: int, r: int, k: int, out: Array, which: Ints) -> float:
    """Keep an answer that is less than the best so far, and return the best."""
    if one[0, 0] < best or (which[k, 0] < 0 and one[0, 0] <= best):
        best = one[0, 0]
        which[k, 0], which[k, 1] = p, r
        for i in range(12):
            out[k, i] = one[0, i]
    return best


@kernel
def free_one(
    given: Array,
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints, order: Ints,
    margins: Array, cache: Array, matrix: Array, links: Array, rows: Array, balls: Array, stamp: Ints, simplex: Array,
    answer: Ints,
) -> int:  # fmt: skip
    """Answer one configuration as `free_many` does, with scratch that is used again; `REFUSED` where it is not finite.

    ``q`` is (1, dof) and takes the configuration that is given.
    """
    for c in range(given.shape[0]):
        if given[c] - given[c] != 0.0:
            return REFUSED
        q[0, c] = given[c]
    stamp[:] = -1
    row = 0 * given.shape[0]  # a literal would be a type of its own, and compile everything again
    free_many(
        parent, kind, axis, origin, source, multiplier, offset, q, link, local, ints, floats, starts, pairs, subs,
        order, margins, cache, matrix, links, rows, balls, stamp, simplex, row, row + 1, answer,
    )  # fmt: skip
    return int(answer[0])


FAR = -2


@kernel
def every_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array, q: Array,
    link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints, subs: Ints,
    most: Array, matrix: Array, links: Array, rows: Array, balls: Array, work: Array, table: Ints,
    room: int, one: Array, marks: Ints, nothing: Array, start: int, stop: int, out: Array, which: Ints,
) -> None:  # fmt: skip
    """Write the signed distance of every pair, a row of `solve`, and which sub-pair it is of, or -1 for the pair.

    Where a pair is proven farther apart than its ``most``, `FAR` is written, and only a lower bound. ``out`` and
    ``which`` have a row for each configuration from ``start`` on, and in it one for each pair.
    """
    row = 0 * start  # a literal would be a type of its own, and compile everything again
    scratch = room_in(work, table, room, one[0, :0])
    for k in range(start, stop):
        link_poses(parent, kind, axis, origin, source, multiplier, offset, q[k], matrix, links)
        for s in range(link.shape[0]):
            if link[s] >= 0 or k == start:
                place(link, local, links, s, floats, starts[s, 1], rows, balls)
        for p in range(pairs.shape[0]):
            at = k - start
            which[at, p] = FAR
            a, b = pairs[p, 0], pairs[p, 1]
            out[at, p, 1] = between_balls(balls, a, b)
            if out[at, p, 1] > most[p]:
                continue
            out[at, p, 1] = between_capsules(rows, floats, starts, a, b)
            if out[at, p, 1] > most[p]:
                continue
            several = pairs[p, 3] > pairs[p, 2]
            lower = 1e308
            for r in range(pairs[p, 2] - 1, pairs[p, 3]):
                sub = r >= pairs[p, 2]
                if sub:
                    a, b = subs[r, 0], subs[r, 1]
                    apart = between_capsules(rows, floats, starts, a, b)
                    if apart > most[p]:
                        lower = min(lower, apart)
                        continue
                mode = narrow.UNSIGNED if several and not sub else narrow.SIGNED
                cores = cores_of(ints, floats, starts, rows, a, b)
                solve(cores, mode, max(most[p], 0.0), 0.0, scratch, nothing, one, marks, row)
                if several and not sub:
                    if one[0, 1] > max(most[p], 0.0):
                        lower = one[0, 1]
                        break  # the hulls are farther apart, so are all the bodies in them
                    continue
                lower = min(lower, one[0, 1])
                if one[0, 1] <= most[p] and (which[at, p] == FAR or one[0, 0] < out[at, p, 0]):
                    which[at, p] = r if sub else -1
                    for i in range(12):
                        out[at, p, i] = one[0, i]
            out[at, p, 1] = lower
