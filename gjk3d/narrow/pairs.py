"""The same over many pairs. Rows are independent, so bits do not depend on how they are cut into chunks."""

from __future__ import annotations

from gjk3d._numba import kernel
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.poses import Array
from gjk3d.shapes.base import Ints

NEVER, ALWAYS, BY_POSE = range(3)  #: which rows to turn round: see `gjk3d.families.kernel_order`


@kernel
def later(pa: Array, i: int, pb: Array, j: int) -> bool:
    """Tell whether the pose of A comes after that of B, number by number."""
    for c in range(pa.shape[1]):
        if pa[i, c] != pb[j, c]:
            return bool(pa[i, c] > pb[j, c])
    return False


@kernel
def mirror(out: Array, k: int) -> None:
    """Turn the answer of (b, a) in row k into that of (a, b)."""
    out[k, 3], out[k, 4], out[k, 5] = 0.0 - out[k, 3], 0.0 - out[k, 4], 0.0 - out[k, 5]
    ax, ay, az = out[k, 6], out[k, 7], out[k, 8]
    out[k, 6], out[k, 7], out[k, 8] = out[k, 9], out[k, 10], out[k, 11]
    out[k, 9], out[k, 10], out[k, 11] = ax, ay, az


@kernel
def solve_rows(
    qa: Ints, fa: Array, qb: Ints, fb: Array, pa: Array, pb: Array, turn: int, mode: int, max_distance: float,
    tol: float, start: int, stop: int, again: bool, work: Array, table: Ints, room: int, out: Array, flags: Ints,
    cache: Array, log: Array,
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
        p, pi, r, rj = pa, i, pb, j
        turned = turn == ALWAYS
        if turn == BY_POSE and later(pa, i, pb, j):
            turned = True
            p, pi, r, rj = pb, j, pa, i
        used = solve(
            qa, 0, fa, 0, qb, 0, fb, 0, p, pi, r, rj, mode, max_distance, tol, work, table, room, out, flags, k,
            cache, log,
        )  # fmt: skip
        if turned:
            mirror(out, k)
    return used


@kernel
def collide_rows(
    qa: Ints, fa: Array, qb: Ints, fb: Array, pa: Array, pb: Array, turn: int, margin: float, start: int, stop: int,
    simplex: Array, answer: Ints, cache: Array, log: Array,
) -> int:  # fmt: skip
    """Answer rows start to stop of a stack of poses.

    0 apart, 1 not, 2 for `solve_rows` to decide. Returns how many are 2.
    """
    left = 0
    for k in range(start, stop):
        i = k if pa.shape[0] > 1 else 0
        j = k if pb.shape[0] > 1 else 0
        p, pi, r, rj = pa, i, pb, j
        if turn == BY_POSE and later(pa, i, pb, j):
            p, pi, r, rj = pb, j, pa, i
        answer[k] = quick_collide(qa, 0, fa, 0, qb, 0, fb, 0, p, pi, r, rj, margin, simplex, cache, k, log)
        if answer[k] == 2:
            left += 1
    return left
