"""Many configurations of a robot in one call: kinematics, balls, then GJK with what each pair remembers.

A slot is a shape that is fixed to a link, or to the world where its link is -1. A pair is a row of two slots, and of
where its sub-pairs begin and end: where there are some, its slots are hulls round several bodies, which are looked at
only where the hulls hit.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._numba import kernel
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.robot.kinematics import Array, Ints, link_poses
from gjk3d.shapes import layout

FREE, UNSURE = -1, -2
#: what the rotation of a product of a few dozen rotations may miss of orthonormal
_RESIDUAL = 256.0 * 2.0**-53
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
            if between_balls(balls, a, b) > margin:
                continue
            told = quick_collide(
                ints, starts[a, 0], floats, starts[a, 1], ints, starts[b, 0], floats, starts[b, 1], rows, a, rows, b,
                margin, simplex, cache, p, simplex[0, :0],
            )  # fmt: skip
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
                    if between_balls(balls, a, b) > margin:
                        continue
                    told = quick_collide(
                        ints, starts[a, 0], floats, starts[a, 1], ints, starts[b, 0], floats, starts[b, 1],
                        rows, a, rows, b, margin, simplex, cache, pairs.shape[0] + r, simplex[0, :0],
                    )  # fmt: skip
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

    ``which`` is (n, 2): the pair, and the sub-pair or -1. Pairs are asked in the order of their balls.
    """
    row = 0 * start  # a literal would be a type of its own, and compile everything again
    for k in range(start, stop):
        link_poses(parent, kind, axis, origin, source, multiplier, offset, q[k], matrix, links)
        for s in range(link.shape[0]):
            if link[s] >= 0 or k == start:
                place(link, local, links, s, floats, starts[s, 1], rows, balls)
        best = most
        which[k, 0] = which[k, 1] = -1
        lower = 1e308
        for p in range(pairs.shape[0]):
            gaps[p] = between_balls(balls, pairs[p, 0], pairs[p, 1])
        while True:
            # the pair whose balls are nearest of those not asked yet
            p, near = -1, best
            for n in range(pairs.shape[0]):
                if gaps[n] <= near:
                    p, near = n, gaps[n]
            if p < 0:
                break
            gaps[p] = 1e308
            several = pairs[p, 3] > pairs[p, 2]
            for r in range(pairs[p, 2] - 1, pairs[p, 3]):
                sub = r >= pairs[p, 2]
                if sub and not several:
                    break
                a, b = (subs[r, 0], subs[r, 1]) if sub else (pairs[p, 0], pairs[p, 1])
                if sub and between_balls(balls, a, b) > best:
                    continue
                mode = narrow.SIGNED if sub or not several else narrow.UNSIGNED
                c = pairs.shape[0] + r if sub else p
                solve(
                    ints, starts[a, 0], floats, starts[a, 1], ints, starts[b, 0], floats, starts[b, 1], rows, a, rows,
                    b, mode, max(best, 0.0), 0.0, work, table, room, one, marks, row, cache[c : c + 1], one[0, :0],
                )  # fmt: skip
                if several and not sub:
                    if one[0, 1] > max(best, 0.0):
                        break  # the hulls are farther apart than the nearest, so are all the bodies in them
                    continue
                lower = min(lower, one[0, 1])
                if one[0, 0] < best or (which[k, 0] < 0 and one[0, 0] <= best):
                    best = one[0, 0]
                    which[k, 0], which[k, 1] = p, r if sub else -1
                    for i in range(12):
                        out[k, i] = one[0, i]
        if which[k, 0] >= 0:
            out[k, 1] = min(out[k, 1], lower)
