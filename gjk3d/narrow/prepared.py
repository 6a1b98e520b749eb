"""One pair, asked pose by pose: matrices in, one row out, in a single call, since calls are what costs there."""

from __future__ import annotations

from gjk3d._numba import kernel
from gjk3d.narrow.pairs import BY_POSE, later, mirror
from gjk3d.narrow.solve import quick_collide, solve
from gjk3d.narrow.warm import ROW
from gjk3d.poses import Array, check_row
from gjk3d.shapes.base import Ints

#: floats in front of EPA's workspace: two pose rows, what is remembered, and a simplex
POSES, CACHE, SIMPLEX = 26, 26 + ROW, 26 + ROW + 60
#: ints in front of EPA's table: flags
FLAGS = 4
#: an answer: the floats of `gjk3d.narrow.solve`, then its flags
OUT = 16


@kernel
def pair_collide(
    qa: Ints, fa: Array, qb: Ints, fb: Array, ma: Array, mb: Array, turn: int, margin: float, remembers: int,
    work: Array,
) -> int:  # fmt: skip
    """Return what `quick_collide` does for matrices ``ma`` and ``mb``, -1 where one is no pose."""
    rows = work[:POSES].reshape(2, 13)
    if check_row(ma, rows, 0) != 0 or check_row(mb, rows, 1) != 0:
        return -1
    i = 1 if turn == BY_POSE and later(rows, 0, rows, 1) else 0
    cache = work[POSES:CACHE].reshape(1, ROW)[:remembers]
    simplex = work[CACHE:SIMPLEX].reshape(6, 10)
    return quick_collide(qa, 0, fa, 0, qb, 0, fb, 0, rows, i, rows, 1 - i, margin, simplex, cache, 0, work[:0])


@kernel
def pair_solve(
    qa: Ints, fa: Array, qb: Ints, fb: Array, ma: Array, mb: Array, turn: int, exchanged: bool, mode: int,
    max_distance: float, tol: float, remembers: int, work: Array, table: Ints, room: int, out: Array,
) -> int:  # fmt: skip
    """Fill ``out``; return 1 where the answer stands, 0 where more room or the exact stage is needed, -1 as above."""
    rows = work[:POSES].reshape(2, 13)
    if check_row(ma, rows, 0) != 0 or check_row(mb, rows, 1) != 0:
        return -1
    i = 1 if turn == BY_POSE and later(rows, 0, rows, 1) else 0
    cache = work[POSES:CACHE].reshape(1, ROW)[:remembers]
    flags = table[:FLAGS].reshape(1, FLAGS)
    row = out.reshape(1, OUT)
    solve(
        qa, 0, fa, 0, qb, 0, fb, 0, rows, i, rows, 1 - i, mode, max_distance, tol, work[SIMPLEX:], table[FLAGS:], room,
        row, flags, 0, cache, work[:0],
    )  # fmt: skip
    if exchanged or i == 1:
        mirror(row, 0)
    out[12], out[13] = float(flags[0, 0]), float(flags[0, 1])
    out[14], out[15] = float(flags[0, 2]), float(flags[0, 3])
    return 1 if flags[0, 2] == 1 and flags[0, 3] == 0 else 0
