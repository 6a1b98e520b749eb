"""The same over many pairs. Rows are independent, so bits do not depend on how they are cut into chunks."""

from __future__ import annotations

from gjk3d._numba import kernel
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.poses import Array
from gjk3d.shapes.base import Ints


@kernel
def solve_rows(
    qa: Ints, fa: Array, qb: Ints, fb: Array, pa: Array, pb: Array, mode: int, max_distance: float, tol: float,
    start: int, stop: int, again: bool, work: Array, table: Ints, room: int, out: Array, flags: Ints, log: Array,
) -> int:  # fmt: skip
    """Answer rows start to stop of a stack of poses.

    With ``again`` only those that ran out of workspace. Returns the log's length.
    """
    used = 0
    for k in range(start, stop):
        if again and flags[k, 3] == 0:
            continue
        i = k if pa.shape[0] > 1 else 0
        j = k if pb.shape[0] > 1 else 0
        used = solve(
            qa, 0, fa, 0, qb, 0, fb, 0, pa, i, pb, j, mode, max_distance, tol, work, table, room, out, flags, k, log
        )  # fmt: skip
    return used


@kernel
def collide_rows(
    qa: Ints,
    fa: Array,
    qb: Ints,
    fb: Array,
    pa: Array,
    pb: Array,
    margin: float,
    start: int,
    stop: int,
    simplex: Array,
    answer: Ints,
    log: Array,
) -> int:
    """Answer rows start to stop of a stack of poses.

    0 apart, 1 not, 2 for `solve_rows` to decide. Returns how many are 2.
    """
    left = 0
    for k in range(start, stop):
        i = k if pa.shape[0] > 1 else 0
        j = k if pb.shape[0] > 1 else 0
        answer[k] = quick_collide(qa, 0, fa, 0, qb, 0, fb, 0, pa, i, pb, j, margin, simplex, log)
        if answer[k] == 2:
            left += 1
    return left
