"""Configurations on a graphics card: the scalar walk over the pairs of a cell, a thread for a configuration."""

from __future__ import annotations

import numpy as np

from gjk3d.convex.rows import FIRST_POINTS, NO_CACHE, scratch
from gjk3d.robot.cell import Cell
from gjk3d.robot.kinematics import LARGE_ANGLE
from gjk3d.robot.walk import UNSURE, hit_of_one
from gjk3d.typing import Array, Ints


def hits(cell: Cell, rows: Array) -> Ints:
    """Return as `hit_of_one` does, for each configuration, a pair closer than its margin, `FREE`, or `UNSURE`.

    Angles so large that the system's sine is asked are left to the processor.
    """
    from gjk3d._kernels.gpu import Output, PerThread, Rows, run  # numba-cuda is loaded where it is asked for

    chain, order = cell.robot._chain, cell.memory.fresh().order
    told = np.empty((len(rows), 1), dtype=np.int64)
    own = (cell.frames(), scratch(FIRST_POINTS)[2])
    run(
        hit_of_one,
        (
            Rows(rows), chain, cell.layout, PerThread(order, filled=True), cell.margins, NO_CACHE, *map(PerThread, own),
            Output(told, rows=True),
        ),
    )  # fmt: skip
    which = told[:, 0]
    # a turn is of one number of q, or of the length of three
    turns = 2.0 * np.abs(rows).max(axis=1, initial=0.0) * max(np.abs(chain.multiplier).max(initial=0.0), 1.0)
    which[turns + np.abs(chain.offset).max(initial=0.0) > LARGE_ANGLE] = UNSURE
    return which
