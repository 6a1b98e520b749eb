"""What a checker asks of a cell at configurations: which pair collides, how far apart all are, which pair is nearest.

Configurations are (n, dof) rows, checked. Pairs are numbers, see `gjk3d.robot.cell.Cell`.
"""

from __future__ import annotations

from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.checks import check_workers
from gjk3d.convex.rows import FIRST_POINTS, in_chunks, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.robot import general_pairs
from gjk3d.robot.cell import Cell, Kept, Memory, scratch_of_solve
from gjk3d.robot.edges import MOST_STEPS, edge_hit
from gjk3d.robot.kinematics import distance_gradients
from gjk3d.robot.lanes_walk import first_hits_of_many, room
from gjk3d.robot.walk import (
    FAR,
    FREE,
    REFUSED,
    UNSURE,
    Layout,
    clearance_many,
    collide_many,
    every_many,
    first_hits,
)
from gjk3d.typing import Array, Bools, Ints

_NOTHING = np.empty((0, MEMORY))
_FLOAT = np.dtype(np.float64)
_CHAIN, _AT = 2, -4  #: of what `prepared` keeps: the robot, and where `first_hits` tells which sample it is


def quick(cell: Cell, q: Any) -> int:
    """Answer one configuration with hardly any Python: a pair, `FREE`, or something else where `hits` must."""
    if type(q) is list:
        try:
            q = np.array(q)
        except ValueError:
            return REFUSED
    if not (type(q) is np.ndarray and q.ndim == 1 and q.dtype is _FLOAT and q.flags.carray):
        return REFUSED
    if len(q) != cell.robot.dof or not cell.memory.lock.acquire(blocking=False):
        return REFUSED
    try:
        kept, row = prepared(cell), q[None]
        first_hits(row, row, *kept.free)
        found = int(kept.told[0])
        return general_pairs.hit_of_one(cell, row) if found == FREE and len(cell.general.pairs) else found
    finally:
        cell.memory.lock.release()


def prepared(cell: Cell) -> Kept:
    """Return what one question of `first_hits` is asked with, for who holds the lock of the memory."""
    kept, memory = cell.kept, cell.memory
    if kept.free is None:
        none, kept.told = np.zeros(1, dtype=np.int64), np.empty(1, dtype=np.int64)
        kept.free = (
            none, none, *cell.robot._chain, *cell.layout, memory.order, cell.margins, memory.axes, *cell.frames(),
            np.empty((6, 10)), np.empty(cell.robot.dof), np.empty(1, dtype=np.int64), kept.told, 0, 1,
        )  # fmt: skip
    return kept


def edge_of_one(cell: Cell, q0: Any, q1: Any, step: float) -> tuple[int, int, int] | None:
    """Return how many steps an edge takes, at which it hits first, and which pair; None where `walk_edges` must.

    Samples are so close that no number of q changes by more than a step.
    """
    for q in (q0, q1):
        if not (type(q) is np.ndarray and q.ndim == 1 and q.dtype is _FLOAT and q.flags.carray):
            return None
    if not len(q0) == len(q1) == cell.robot.dof or len(cell.general.pairs):
        return None
    one, two = q0.tolist(), q1.tolist()
    widest = max((abs(b - a) for a, b in zip(one, two, strict=True)), default=0.0) / step
    square = float(q0.dot(q0)) + float(q1.dot(q1))  # of numpy's own the difference below would warn
    if square - square != 0.0 or not widest <= MOST_STEPS or not cell.memory.lock.acquire(blocking=False):
        return None
    try:
        steps, answers = (
            np.array([max(ceil(widest), int(one != two))], dtype=np.int64),
            np.zeros((3, 1), dtype=np.int64),
        )
        begin, at, which = answers
        asked: Any = q0[None], q1[None], steps, begin, *_lanes_of(cell, cell.memory), at, which, 0, 1
        first_hits_of_many(*asked)
    finally:
        cell.memory.lock.release()
    found = which.item(0)
    return None if found < FREE else (steps.item(0), at.item(0), found)


def _lanes_of(cell: Cell, memory: Memory) -> Any:
    """Return what `first_hits_of_many` takes besides edges and answers; kept for who holds the lock of the memory."""
    own, dof = memory is cell.memory, cell.robot.dof
    if own and cell.kept.lanes is not None:
        return cell.kept.lanes
    made = (
        *cell.robot._chain, *cell.layout, memory.order, cell.margins, memory.axes,
        *room(dof, len(cell.robot.links), len(cell.layout.link)), *np.empty((2, 4, 4)), np.empty((6, 10)),
        np.empty(dof),
    )  # fmt: skip
    if own:
        cell.kept.lanes = made
    return made


def quick_edge(cell: Cell, ends: Array, each: Array) -> int:
    """Answer whether an edge, (2, dof), is free as `quick` does, of samples no farther apart than ``each`` (dof,)."""
    if len(cell.general.pairs) or not cell.memory.lock.acquire(blocking=False):
        return REFUSED
    try:
        return edge_hit(ends, each, *prepared(cell).free[_CHAIN:_AT])
    finally:
        cell.memory.lock.release()


def walk_edges(cell: Cell, first: Array, second: Array, steps: Ints, begin: Ints, workers: int) -> tuple[Ints, Ints]:
    """Return of each edge at which of its samples it hits first, and which pair: see `first_hits_of_many`."""
    at, which = np.empty(len(first), dtype=np.int64), np.empty(len(first), dtype=np.int64)

    def run(start: int, stop: int) -> None:
        memory = lent or cell.memory.fresh()
        asked: Any = first, second, steps, begin, *_lanes_of(cell, memory), at, which, start, stop
        first_hits_of_many(*asked)

    with cell.memory.lent(workers) as lent:
        in_chunks(len(first), workers, run)
    return at, which


def hits(cell: Cell, rows: Array, workers: int) -> Ints:
    """Return for each configuration a pair that is closer than its margin, or `FREE`."""
    check_workers(workers)
    none = np.zeros(len(rows), dtype=np.int64)
    answer = walk_edges(cell, rows, rows, none, none, workers)[1]
    for k in np.flatnonzero(answer == UNSURE):
        near = _not_apart(cell, rows[k : k + 1], cell.margins[: len(cell.layout.pairs)])[0]
        answer[k] = np.argmax(near) if near.any() else FREE
    if len(cell.general.pairs):
        left = np.flatnonzero(answer == FREE)
        answer[left] = general_pairs.hits(cell, rows[left], workers)
    return answer


def close(out: Array, which: Ints, most: Array) -> Bools:
    """Tell of what `every` returns where pairs are not proven farther apart than that."""
    near: Bools = (which != FAR) & ~(out[..., 1] > most)
    return near


def _not_apart(cell: Cell, rows: Array, margins: Array) -> Bools:
    """Tell which pairs, of those that kernels answer, are not proven farther apart than their margin."""
    return close(*every(cell, rows, margins)[:2], margins)


def collide(cell: Cell, rows: Array, asked: Ints) -> Bools:
    """Tell of each configuration, and each of the pairs asked, whether the two touch, margins left out."""
    known, margins = asked < len(cell.layout.pairs), np.zeros(len(cell.layout.pairs))
    told = np.empty((len(rows), int(known.sum())), dtype=np.int64)
    collide_many(
        rows, *cell.robot._chain, *cell.layout, asked[known], margins, cell.memory.fresh().axes, *cell.frames(),
        scratch(FIRST_POINTS)[2], told,
    )  # fmt: skip
    for k in np.flatnonzero(((told != 0) & (told != 1)).any(axis=1)):
        told[k] = _not_apart(cell, rows[k : k + 1], margins)[0, asked[known]]
    answer = np.empty((len(rows), len(asked)), dtype=bool)
    answer[:, known] = told == 1
    answer[:, ~known] = general_pairs.collide(cell, rows, asked[~known])
    return answer


def every(cell: Cell, rows: Array, most: Array) -> tuple[Array, Ints, int]:
    """Return the signed distance of every pair as far as ``most`` of it, and its sub-pair, -1 or `FAR`.

    Rows of what is far may hold anything. Returned too is how many pairs are `close`.
    """
    shape = len(rows), len(cell.layout.pairs)
    out, which = np.empty((*shape, narrow.FLOATS)), np.empty(shape, dtype=np.int64)
    asked, answer = (*cell.robot._chain, rows, *cell.layout, most), (_NOTHING, out, which)
    given: Any
    if len(rows) != 1 or not cell.memory.lock.acquire(blocking=False):
        given = *asked, *cell.frames(), *scratch_of_solve(), np.empty(len(cell.memory.axes)), *answer
        return out, which, every_many(*given)
    try:
        given = *asked, *_kept(cell).scratch, *answer
        return out, which, every_many(*given)
    finally:
        cell.memory.lock.release()


def nearest(cell: Cell, rows: Array, most: float, workers: int = 1) -> tuple[Array, Ints]:
    """Return rows as `solve` makes them and the pairs they are of, (n, 2): see `clearance_many`."""
    out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
    out[:, :3] = inf

    def run(start: int, stop: int) -> None:
        axes, frames = (memory or cell.memory.fresh()).axes, cell.frames()
        clearance_many(
            *cell.robot._chain, rows, *cell.layout, min(most, 1e50), axes, *frames, *scratch_of_solve(),
            np.empty(len(cell.memory.axes)), start, stop, out, which,
        )  # fmt: skip

    with cell.memory.lent(workers) as memory:
        in_chunks(len(rows), workers, run)
    if len(cell.general.pairs):
        general_pairs.nearest(cell, rows, most, out, which)
    return out, which


def nearest_of_one(cell: Cell, q: Any) -> tuple[Array, int] | None:
    """Answer `nearest` of one configuration with hardly any Python: a row and its pair; None where that must."""
    if not (type(q) is np.ndarray and q.ndim == 1 and q.dtype is _FLOAT and len(q) == cell.robot.dof):
        return None
    if len(cell.general.pairs) or not cell.memory.lock.acquire(blocking=False):
        return None
    try:
        kept = _kept(cell)
        kept.row[0] = q
        clearance_many(*kept.args)
        pair, row = kept.which.item(0), kept.out[0].copy()
    finally:
        cell.memory.lock.release()
    if pair == REFUSED:
        return None
    if pair < 0:
        row[:3], row[3:] = inf, np.nan
    return row, pair


def _kept(cell: Cell) -> _OneKept:
    """Return that for the cell as it is, for who holds the lock of its memory."""
    kept: _OneKept | None = cell.kept.clearance
    if kept is None or kept.layout is not cell.layout:
        kept = cell.kept.clearance = _one_kept(cell, kept)
    return kept


class _OneKept(NamedTuple):
    """What `nearest_of_one` calls, and where it asks and answers."""

    layout: Layout
    args: tuple[Any, ...]
    row: Array
    out: Array
    which: Ints
    scratch: tuple[Any, ...]


def _one_kept(cell: Cell, old: _OneKept | None) -> _OneKept:
    """Return that for a cell, with the scratch of another state of it."""
    if old is None:
        scratch = *cell.frames(), *scratch_of_solve(own=True), np.empty(len(cell.memory.axes))
    else:
        scratch = old.scratch
    row, out, which = np.empty((1, cell.robot.dof)), np.empty((1, narrow.FLOATS)), np.empty((1, 2), dtype=np.int64)
    args = *cell.robot._chain, row, *cell.layout, 1e50, cell.memory.axes, *scratch, 0, 1, out, which
    return _OneKept(cell.layout, args, row, out, which, scratch)


def gradient(cell: Cell, rows: Array) -> Array:
    """Return how the clearance changes with q, (n, dof)."""
    out, which = nearest(cell, rows, inf)
    return _gradients(cell, rows, out, which[:, 0])


def gradient_of_one(cell: Cell, q: Any) -> Array | None:
    """Answer `gradient` of one configuration as `nearest_of_one` does."""
    known = nearest_of_one(cell, q)
    if known is None:
        return None
    total: Array = _gradients(cell, q[None], known[0][None], np.array([known[1]]))[0]
    return total


def _gradients(cell: Cell, rows: Array, answers: Array, pairs: Ints) -> Array:
    """Return how distances change with q, of a pair at each configuration, or -1."""
    robot, total = cell.robot, np.zeros(rows.shape)
    if len(cell.slots):
        links = cell.layout.link[cell.slots[pairs]]
        links[pairs < 0] = -1
        distance_gradients(
            *robot._chain, rows, links, answers, np.empty((4, 4)), np.empty((len(robot.links), 4, 4)),
            np.empty((3, robot.dof)), total,
        )  # fmt: skip
    return total
