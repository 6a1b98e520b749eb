"""Every pair of many configurations, where `gjk3d.robot.checking` stops at the first or keeps the nearest."""

from __future__ import annotations

from gjk3d._numba import kernel
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import solve
from gjk3d.robot.capsules import between_capsules
from gjk3d.robot.checking import between_balls, place
from gjk3d.robot.kinematics import Array, Ints, link_poses

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
                solve(
                    ints, starts[a, 0], floats, starts[a, 1], ints, starts[b, 0], floats, starts[b, 1], rows, a, rows,
                    b, mode, max(most[p], 0.0), 0.0, work, table, room, one, marks, row, nothing, one[0, :0],
                )  # fmt: skip
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
