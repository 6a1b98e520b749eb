"""Straight lines between configurations, many in one call: looked at sample by sample."""

from __future__ import annotations

from gjk3d._kernels.decorators import kernel
from gjk3d.robot.walk import FREE, free_many
from gjk3d.typing import Array, Ints


@kernel
def along(q0: Array, q1: Array, t: float, q: Array) -> None:
    """Write the configuration at t of the line from q0, at 0, to q1, at 1; both ends exact."""
    for j in range(q.shape[0]):
        q[j] = (1.0 - t) * q0[j] + t * q1[j]


@kernel
def sampled_many(
    parent: Ints, kind: Ints, axis: Array, origin: Array, source: Ints, multiplier: Array, offset: Array,
    q0: Array, q1: Array, steps: Ints, link: Ints, local: Array, ints: Ints, floats: Array, starts: Ints, pairs: Ints,
    subs: Ints, order: Ints, margins: Array, cache: Array, matrix: Array, links: Array, rows: Array, balls: Array,
    stamp: Ints, simplex: Array, q: Array, found: Ints, first: Ints, start: int, stop: int, at: Ints, which: Ints,
) -> None:  # fmt: skip
    """Write for each edge the first of its samples that is not free, as `free_many` tells, and the pair.

    Edge e has steps[e] + 1 samples, and is asked from number first[e] on; ``at`` is steps[e] + 1 where all are free.
    They are asked in their order: to know the first that hits, those before it must be asked in any order, and none
    behind it.
    """
    none, one = 0 * start, 0 * start + 1  # literals would be types of their own, and compile everything again
    for e in range(start, stop):
        at[e], which[e] = steps[e] + 1, FREE
        for s in range(first[e], steps[e] + 1):
            along(q0[e], q1[e], s / steps[e] if s > 0 else 0.0, q[0])
            for k in range(stamp.shape[0]):
                stamp[k] = -1
            free_many(
                parent, kind, axis, origin, source, multiplier, offset, q, link, local, ints, floats, starts, pairs,
                subs, order, margins, cache, matrix, links, rows, balls, stamp, simplex, none, one, found,
            )  # fmt: skip
            if found[0] != FREE:
                at[e], which[e] = s, found[0]
                break
