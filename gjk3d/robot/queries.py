"""What a checker asks of a cell at configurations: which pair collides, how far apart all are, which pair is nearest.

Configurations are (n, dof) rows, checked. Pairs are numbers, see `gjk3d.robot.cell.Cell`.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.convex.checks import check_workers
from gjk3d.convex.rows import FIRST_POINTS, in_chunks, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.robot import general_pairs
from gjk3d.robot.cell import Cell, scratch_of_solve
from gjk3d.robot.kinematics import many_point_jacobians
from gjk3d.robot.walk import (
    FAR,
    FREE,
    REFUSED,
    UNSURE,
    Frames,
    clearance_many,
    collide_many,
    every_many,
    first_hits,
)
from gjk3d.typing import Array, Bools, Ints

_FLOAT = np.dtype(np.float64)


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
        kept, row = cell.kept, q[None]
        if kept.free is None:
            memory, none, kept.told = cell.memory, np.zeros(1, dtype=np.int64), np.empty(1, dtype=np.int64)
            kept.free = (
                none, none, *cell.robot._chain, *cell.layout, memory.order, cell.margins, memory.axes, *cell.frames(),
                np.empty((6, 10)), np.empty(len(q)), np.empty(1, dtype=np.int64), kept.told, 0, 1,
            )  # fmt: skip
            first_hits(row, row, *kept.free)
        else:
            first_hits(row, row, *kept.free)
        found = int(kept.told[0])
        if found == FREE and len(cell.general.pairs) and not general_pairs.all_far(cell, row):
            return int(general_pairs.hits(cell, row)[0])
        return found
    finally:
        cell.memory.lock.release()


def walk_edges(cell: Cell, first: Array, second: Array, steps: Ints, begin: Ints, workers: int) -> tuple[Ints, Ints]:
    """Return of each edge at which of its samples it hits first, and which pair: see `gjk3d.robot.walk.first_hits`."""
    at, which = np.empty(len(first), dtype=np.int64), np.empty(len(first), dtype=np.int64)

    def run(start: int, stop: int) -> None:
        memory = lent or cell.memory.fresh()
        first_hits(
            first, second, steps, begin, *cell.robot._chain, *cell.layout, memory.order, cell.margins, memory.axes,
            *cell.frames(), scratch(FIRST_POINTS)[2], np.empty(cell.robot.dof), at, which, start, stop,
        )  # fmt: skip

    with cell.memory.lent(workers) as lent:
        in_chunks(len(first), workers, run)
    return at, which


def hits(cell: Cell, rows: Array, workers: int) -> Ints:
    """Return for each configuration a pair that is closer than its margin, or `FREE`."""
    check_workers(workers)
    none = np.zeros(len(rows), dtype=np.int64)
    answer = walk_edges(cell, rows, rows, none, none, workers)[1]
    for k in np.flatnonzero(answer == UNSURE):
        close = _not_apart(cell, rows[k : k + 1], cell.margins[: len(cell.layout.pairs)])[0]
        answer[k] = np.argmax(close) if close.any() else FREE
    if len(cell.general.pairs):
        left = np.flatnonzero(answer == FREE)
        answer[left] = general_pairs.hits(cell, rows[left])
    return answer


def _not_apart(cell: Cell, rows: Array, margins: Array) -> Bools:
    """Tell which pairs, of those that kernels answer, are not proven farther apart than their margin."""
    out, which = every(cell, rows, margins)
    close: Bools = (which != FAR) & ~(out[..., 1] > margins)
    return close


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


def every(cell: Cell, rows: Array, most: Array) -> tuple[Array, Ints]:
    """Return the signed distance of every pair as far as ``most`` of it, and its sub-pair, -1 or `FAR`."""
    shape = len(rows), len(cell.layout.pairs)
    out, which = np.full((*shape, narrow.FLOATS), np.nan), np.empty(shape, dtype=np.int64)
    every_many(
        *cell.robot._chain, rows, *cell.layout, most, *cell.frames(), *scratch_of_solve(),
        np.empty(len(cell.memory.axes)), np.empty((0, MEMORY)), out, which,
    )  # fmt: skip
    return out, which


def nearest(cell: Cell, rows: Array, most: float, workers: int = 1) -> tuple[Array, Ints]:
    """Return rows as `solve` makes them and the pairs they are of, (n, 2): see `clearance_many`."""
    out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
    out[:, :3] = inf

    def ask(
        axes: Array, lent: tuple[Frames, tuple[Array, Ints, int, Array, Ints], Array], start: int, stop: int
    ) -> None:
        frames, solving, gaps = lent
        clearance_many(
            *cell.robot._chain, rows, *cell.layout, min(most, 1e50), axes, *frames, *solving, gaps, start, stop, out,
            which,
        )  # fmt: skip

    def run(start: int, stop: int) -> None:
        ask(
            (memory or cell.memory.fresh()).axes,
            (cell.frames(), scratch_of_solve(), np.empty(len(cell.memory.axes))),
            start,
            stop,
        )

    if len(rows) == 1 and cell.kept.clearance is not None and cell.memory.lock.acquire(blocking=False):
        try:  # the same without what only stacks need
            ask(cell.memory.axes, cell.kept.clearance, 0, 1)
        finally:
            cell.memory.lock.release()
    else:
        with cell.memory.lent(workers) as memory:
            in_chunks(len(rows), workers, run)
        if cell.kept.clearance is None:
            cell.kept.clearance = cell.frames(), scratch_of_solve(own=True), np.empty(len(cell.memory.axes))
    if len(cell.general.pairs):
        general_pairs.nearest(cell, rows, most, out, which)
    return out, which


def gradient(cell: Cell, rows: Array) -> Array:
    """Return how the clearance changes with q, (n, dof)."""
    robot = cell.robot
    out, which = nearest(cell, rows, inf)
    total, found = np.zeros((len(rows), robot.dof)), which[:, 0] >= 0
    for side, sign, points in ((0, -1.0, out[:, 6:9]), (1, 1.0, out[:, 9:12])):
        link = np.full(len(rows), -1)
        link[found] = cell.layout.link[cell.slots[which[found, 0], side]]
        for each in np.unique(link[link >= 0]).tolist():
            at = np.flatnonzero(link == each)
            poses = robot.link_poses(rows[at])[:, each]
            local = np.einsum("nji,nj->ni", poses[:, :3, :3], points[at] - poses[:, :3, 3])
            moved = np.empty((len(at), 3, robot.dof))
            many_point_jacobians(
                *robot._chain, rows[at].copy(), each, local.copy(), np.empty((4, 4)),
                np.empty((len(robot.links), 4, 4)), moved,
            )  # fmt: skip
            total[at] += sign * np.einsum("ni,nij->nj", out[at, 3:6], moved)
    return total
