"""Straight lines between configurations, looked at sample by sample."""

from __future__ import annotations

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.walk import FREE, REFUSED, UNSURE
from gjk3d.typing import Array, Ints

_AT_ONCE = 256  #: configurations that are asked about general pairs before what they say is looked at


def sampled(cell: Cell, first: Array, second: Array, each: Array, workers: int) -> tuple[Ints, Array, Array]:
    """Return of each edge the first pair that hits, `FREE` for none, and between which parameters it does.

    Samples are as close that no number of q changes by more than ``each`` (dof,) from one to the next.
    """
    steps, at, which = queries.walk_edges(cell, first, second, each, np.zeros(len(first), dtype=np.int64), workers)
    if (which == REFUSED).any():
        e = int(np.argmax(which == REFUSED))
        with np.errstate(over="ignore"):
            wanted = np.ceil((np.abs(second[e] - first[e]) / each).max())
        raise RobotError(f"motion {e} would take {wanted:.3g} samples: give a coarser resolution")
    for e in np.flatnonzero(which == UNSURE).tolist():
        one = slice(e, e + 1)
        while which[e] == UNSURE:  # GJK alone cannot tell; then on from the next sample
            t = at[e] / steps[e] if at[e] else 0.0
            which[e] = queries.hits(cell, ((1.0 - t) * first[e] + t * second[e])[None], 1)[0]
            if which[e] == FREE:
                rest = first[one].copy(), second[one].copy(), each, at[one] + 1
                _, at[one], which[one] = queries.walk_edges(cell, *rest, workers=1)
    if len(cell.general.pairs):
        _look_at_general_pairs(cell, first, second, steps, at, which)
    most = np.maximum(steps, 1)
    safe = np.where(which != FREE, np.maximum(at - 1, 0) / most, 1.0)
    return which, safe, np.where(which != FREE, at / most, np.nan)


def _look_at_general_pairs(cell: Cell, first: Array, second: Array, steps: Ints, at: Ints, which: Ints) -> None:
    """Look for earlier hits of what the walk leaves open."""
    for e in range(len(first)):
        count = int(steps[e] if which[e] == FREE else at[e] - 1) + 1
        for start in range(0, count, _AT_ONCE):
            t = np.arange(start, min(start + _AT_ONCE, count))[:, None] / max(int(steps[e]), 1)
            found = general_pairs.hits(cell, (1.0 - t) * first[e] + t * second[e])
            if (found != FREE).any():
                at[e] = start + int(np.argmax(found != FREE))
                which[e] = found[at[e] - start]
                break
