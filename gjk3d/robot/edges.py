"""Whether an edge is free, for who asks nothing else of it, as planners do: any of its samples that hits will do."""

from __future__ import annotations

from math import ceil

from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.robot.kinematics import Chain, along
from gjk3d.robot.walk import FREE, REFUSED, Frames, Layout, hit_at
from gjk3d.typing import Array, Array1, Array2, Array3, Ints1, Ints2

MOST_STEPS = 2.0**28  #: of one edge; more, which would take minutes, is a slip of the resolution


@kernel
def steps_of(q0: Array, q1: Array, each: Array) -> int:
    """Return between how many samples no number of q changes by more than ``each``; `REFUSED` where it is too many.

    Two ends that differ are both looked at, however coarse ``each`` is.
    """
    widest, differ = 0.0, plain(0)
    for j in range(q0.shape[0]):
        change = abs(q1[j] - q0[j])
        if not change <= 1e300:
            return REFUSED
        widest = max(widest, change / each[j])
        differ = 1 if q0[j] != q1[j] else differ
    return max(ceil(widest), differ) if widest <= MOST_STEPS else REFUSED


@entry
def edge_hit(
    ends: Array2, each: Array1, parent: Ints1, kind: Ints1, axis: Array2, origin: Array3, source: Ints1,
    multiplier: Array1, offset: Array1, link: Ints1, local: Array2, ints: Ints1, floats: Array1, starts: Ints2,
    pairs: Ints2, subs: Ints2, order: Ints1, margins: Array1, axes: Array2, matrix: Array2, links: Array3,
    rows: Array2, balls: Array2, stamp: Ints1, simplex: Array2, q: Array1,
) -> int:  # fmt: skip
    """Return a pair that hits at one of the samples of an edge, `FREE`, or `UNSURE` or `REFUSED` where others must ask.

    The samples are those of `gjk3d.robot.walk.first_hits`, in another order: the end that is new to a planner, then
    from the middle outwards (a van der Corput order, level by level), the beginning last.
    """
    chain = Chain(parent, kind, axis, origin, source, multiplier, offset)
    layout = Layout(link, local, ints, floats, starts, pairs, subs)
    frames = Frames(matrix, links, rows, balls, stamp)
    steps, told, now = steps_of(ends[0], ends[1], each), FREE, plain(0)
    if steps == REFUSED:
        return REFUSED
    stamp[:] = -1
    gap = plain(2)
    while gap < 2 * steps:
        gap *= 2
    s = steps
    while True:
        along(ends[0], ends[1], s / steps if s > 0 else 0.0, q)
        now += 1
        found = hit_at(chain, layout, frames, now, q, order, margins, axes, simplex)
        if found >= 0:
            return found
        told = min(told, found)
        if s == 0:
            return told
        s += gap
        while s >= steps:  # on to the next level, whose samples are half as far apart
            gap //= 2
            s = gap // 2
