"""Convex pairs on a graphics card: the entries of `gjk3d.narrow.pairs`, a thread for a row.

What a card leaves open is for the processor: a boolean of 2, and flags of a workspace that was full.
"""

from __future__ import annotations

from gjk3d.convex.rows import FIRST_POINTS, NO_CACHE, NO_LOG, NO_POSE, Wanted, scratch
from gjk3d.narrow.pairs import collide_many, solve_many
from gjk3d.results import Status
from gjk3d.typing import Array, Ints


def collide(ints: Ints, floats: Array, table: Ints, poses: Array, margin: float, answer: Ints) -> None:
    """Fill ``answer`` as `collide_many` does, for every row of it."""
    from gjk3d._kernels.gpu import Output, PerThread, run  # numba-cuda is loaded where it is asked for

    own = PerThread(scratch(FIRST_POINTS)[2])
    asked = ints, floats, table, NO_POSE, NO_POSE, poses, margin, 0, len(answer), own, Output(answer), NO_CACHE
    run(collide_many, asked)


def solve(ints: Ints, floats: Array, table: Ints, poses: Array, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Fill ``out`` and ``flags`` as `solve_many` does, for every row of them."""
    from gjk3d._kernels.gpu import Output, PerThread, run

    mode, most, tol, _ = wanted[:4]
    work, places, _ = scratch(FIRST_POINTS)
    run(
        solve_many,
        (
            ints, floats, table, NO_POSE, NO_POSE, poses, mode, most, tol, 0, len(out), False, PerThread(work),
            PerThread(places), FIRST_POINTS, Output(out), Output(flags), NO_CACHE, NO_LOG,
        ),
    )  # fmt: skip
    if tol == 0.0:  # what is wider than promised is asked again, as what was too large for the workspace
        flags[(flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND), 3] = 1
