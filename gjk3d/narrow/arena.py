"""Many different pairs: shapes behind each other in two arrays, pairs as two indices into them."""

from __future__ import annotations

from gjk3d._numba import kernel
from gjk3d.narrow.pairs import later, mirror
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.poses import Array
from gjk3d.shapes.base import Ints

# A pair row: where shape A's ints and floats begin, its rank, its pose row, and the same of B. Ranks are the order
# the kernels see shapes in; equal shapes have one, and leave it to their poses.
PAIR_INTS = 8


@kernel
def comes_later(pairs: Ints, k: int, poses: Array) -> bool:
    """Tell whether pair k is to be turned round."""
    if pairs[k, 2] != pairs[k, 6]:
        return bool(pairs[k, 2] > pairs[k, 6])
    return later(poses, pairs[k, 3], poses, pairs[k, 7])


@kernel
def solve_pairs(
    q: Ints, f: Array, pairs: Ints, poses: Array, mode: int, max_distance: float, tol: float, start: int, stop: int,
    again: bool, work: Array, table: Ints, room: int, out: Array, flags: Ints, cache: Array,
) -> None:  # fmt: skip
    """Answer pairs start to stop; with ``again`` only those that ran out of workspace."""
    for k in range(start, stop):
        if again and flags[k, 3] == 0:
            continue
        turned = comes_later(pairs, k, poses)
        a, b = (4, 0) if turned else (0, 4)
        solve(
            q, pairs[k, a], f, pairs[k, a + 1], q, pairs[k, b], f, pairs[k, b + 1],
            poses, pairs[k, a + 3], poses, pairs[k, b + 3], mode, max_distance, tol, work, table, room,
            out, flags, k, cache, work[:0],
        )  # fmt: skip
        if turned:
            mirror(out, k)


@kernel
def collide_pairs(
    q: Ints, f: Array, pairs: Ints, poses: Array, margin: float, start: int, stop: int, simplex: Array, answer: Ints,
    cache: Array,
) -> None:  # fmt: skip
    """Answer pairs start to stop as `quick_collide` does."""
    for k in range(start, stop):
        a, b = (4, 0) if comes_later(pairs, k, poses) else (0, 4)
        answer[k] = quick_collide(
            q, pairs[k, a], f, pairs[k, a + 1], q, pairs[k, b], f, pairs[k, b + 1],
            poses, pairs[k, a + 3], poses, pairs[k, b + 3], margin, simplex, cache, k, simplex[0, :0],
        )  # fmt: skip
