"""Queries on a cell at configurations: colliding pairs, distances of all pairs, the nearest pair, and gradients.

``rows`` are checked configurations (n, dof). Pairs are given by their numbers in `gjk3d.robot.cell.Cell`.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.convex.batch import NO_CACHE, in_chunks
from gjk3d.convex.checks import check_device, check_workers
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.robot import cell_kernels as kernels
from gjk3d.robot import general_pairs
from gjk3d.robot.cell import Cache, Cell, Memory
from gjk3d.robot.cell_kernels import (
    FAR,
    FREE,
    REFUSED,
    UNSURE,
    Bodies,
    Near,
    clearance_many,
    collide_many,
    every_many,
    hit_of_cell,
    hit_of_one,
    write_near,
)
from gjk3d.robot.cell_kernels import Task as WalkTask
from gjk3d.robot.kinematics import LARGE_ANGLE, distance_gradients
from gjk3d.robot.sampled_edges import (
    ANY_HIT,
    IN_ORDER,
    Edges,
    Task,
    first_hits_of_cell,
    first_hits_of_many,
    lane_scratch,
)
from gjk3d.typing import Array, Bools, Device, Ints

_NearRows = tuple[Array, Array, Array, Array, Array, Array, Array]  #: the fields of `Near` without the Jacobians
NearOfOne = tuple[Ints, _NearRows, Array | None]  #: the pairs, their rows, and the Jacobians if they are requested
_NOTHING = np.empty((0, MEMORY))
_FIRST = np.zeros(1, dtype=np.int64)
_FLOAT = np.dtype(np.float64)
_CHUNK_WITH_BODIES = 256  #: edges in a call of the kernel, since a configuration among bodies may take a millisecond
_FEW = 16  #: edges of a path in the first call; after a collision, later edges need no test


def quick(cell: Cell, q: Any) -> int:
    """Return the number of a pair that collides at q, or `FREE`. Any other value means that `hits` must be called.

    This function has less overhead than `hits`. It returns `REFUSED` while another thread uses the memory of the cell.
    """
    q = plain_row(q)
    if q is None or len(q) != cell.robot.dof or not cell.memory.lock.acquire(blocking=False):
        return REFUSED
    try:
        cache = prepared(cell)
        entry, args = cache.free
        entry(q, *args)
        pair = int(cache.answer[0])
        return general_pairs.hit_of_one(cell, q[None]) if pair == FREE and cell.walked < len(cell.slots) else pair
    finally:
        cell.memory.lock.release()


def plain_row(q: Any) -> Array | None:
    """Return one configuration as an array that kernels accept, or None if q needs more checks or a conversion."""
    if type(q) is list:
        try:
            q = np.array(q)
        except ValueError:
            return None
    plain = type(q) is np.ndarray and q.ndim == 1 and q.dtype is _FLOAT and q.flags.carray
    return q if plain else None


def prepared(cell: Cell) -> Cache:
    """Return the cache of a cell, after its field ``free`` is set.

    ``free`` contains a kernel that tests one configuration, and the other arguments of this kernel.
    The caller holds the lock of the cell's memory.
    """
    cache, memory = cell.cache, cell.memory
    if cache.free is None:
        cache.answer = np.empty(1, dtype=np.int64)
        args: Any = (
            cell.robot._chain, cell.layout, memory.order, cell.margins, memory.axes, cell.frames(), np.empty((6, 10)),
        )  # fmt: skip
        if len(cell.body_pairs):
            cache.free = hit_of_cell, (*args, bodies_of(cell, memory), cache.answer)
        else:
            cache.free = hit_of_one, (*args, cache.answer)
    return cache


def edge_of_one(cell: Cell, q0: Any, q1: Any, step: float) -> tuple[int, int, int] | None:
    """Return the number of steps of an edge, the first sample that collides, and the pair that collides or `FREE`.

    Return None if `walk_edges` must be called instead. From one sample to the next, each joint value changes by at most
    ``step``.
    """
    first, second = plain_row(q0), plain_row(q1)
    if first is None or second is None or not len(first) == len(second) == cell.robot.dof:
        return None
    hit = _quick_edges(cell, first[None], second[None], np.full(len(first), step), IN_ORDER)
    return None if hit is None or hit.item(2) < FREE else (hit.item(0), hit.item(1), hit.item(2))


def first_hit_of_path(cell: Cell, path: Any, step: float) -> tuple[int, int, int, int] | None:
    """Return the first edge of a path that collides, its number of steps, its colliding sample and its colliding pair.

    The edge is -1 if no edge collides. The result is None if `walk_edges` must be called.
    """
    if not (type(path) is np.ndarray and path.ndim == 2 and path.dtype is _FLOAT and path.flags.carray):
        return None
    if path.shape[1] != cell.robot.dof or len(path) < 2:
        return None
    spacing = np.full(path.shape[1], step)
    start, size = 0, _FEW
    while start < len(path) - 1:
        hits = _quick_edges(cell, path[start:-1][:size], path[start + 1 :][:size], spacing, IN_ORDER)
        if hits is None:
            return None
        which = hits[2].tolist()
        for k, p in enumerate(which):
            if p < FREE:
                return None
            if p != FREE:
                return start + k, hits.item(0, k), hits.item(1, k), p
        start, size = start + size, 2 * size
    return -1, 0, 0, FREE


def quick_edge(cell: Cell, ends: Array, spacing: Array) -> int:
    """Return the number of a pair that collides on an edge (2, dof), or `FREE`.

    Any other value means that `walk_edges` must be called. The joint values change by at most ``spacing`` (dof,) from
    one sample to the next.
    """
    hit = _quick_edges(cell, ends[:1], ends[1:], spacing, ANY_HIT)
    return REFUSED if hit is None else hit.item(2)


def _quick_edges(cell: Cell, first: Array, second: Array, spacing: Array, sequence: int) -> Ints | None:
    """Return for n edges, as rows of (3, n): the numbers of steps, the samples that collide, and `Edges.which`.

    Return None if `walk_edges` must be called instead.
    """
    if cell.walked < len(cell.slots) or not cell.memory.lock.acquire(blocking=False):
        return None
    try:
        count = len(first)
        hits = np.empty((3, count), dtype=np.int64)
        begin = _FIRST if count == 1 else np.zeros(count, dtype=np.int64)
        edges = Edges(first, second, spacing, begin, hits[0], hits[1], hits[2])
        _first_hits(cell, cell.memory, edges, 0, count, sequence)
    finally:
        cell.memory.lock.release()
    return hits


def _first_hits(cell: Cell, memory: Memory, edges: Edges, start: int, stop: int, sequence: int) -> None:
    """Write to ``edges`` the sample and the pair of a hit on each of the edges ``start`` to ``stop`` - 1, if any."""
    if len(cell.body_pairs):
        first_hits_of_cell(lanes_of(cell, memory), bodies_of(cell, memory), edges, start, stop, sequence)
    else:
        first_hits_of_many(lanes_of(cell, memory), edges, start, stop, sequence)


def bodies_of(cell: Cell, memory: Memory) -> Bodies:
    """Return the pairs of a cell that contain a body, which is a shape with a bounding volume tree, such as a mesh.

    If ``memory`` is the memory of the cell, the caller holds its lock, and the result is cached.
    """
    if memory is not cell.memory:
        return cell.bodies(memory)
    if cell.cache.bodies is None:
        cell.cache.bodies = cell.bodies(memory, fresh=True)
    cached: Bodies = cell.cache.bodies
    return cached


def lanes_of(cell: Cell, memory: Memory) -> Task:
    """Return a cell with scratch memory for tests in lanes: the argument ``task`` of `first_hits_of_many`.

    If ``memory`` is the memory of the cell, the caller holds its lock, and the result is cached.
    """
    persistent, dof = memory is cell.memory, cell.robot.dof
    cached: Task | None = cell.cache.lanes if persistent else None
    if cached is not None:
        return cached
    task = Task(
        cell.robot._chain, cell.layout, memory.order, cell.margins, memory.axes,
        lane_scratch(dof, len(cell.robot.links), cell.layout, cell.body_pairs), np.empty((2, 4, 4)),
        np.empty((6, 10)), np.empty(dof),
    )  # fmt: skip
    if persistent:
        cell.cache.lanes = task
    return task


def walk_edges(
    cell: Cell, first: Array, second: Array, spacing: Array, begin: Ints, workers: int
) -> tuple[Ints, Ints, Ints]:
    """Return for each edge its steps, its first sample from ``begin`` on that is not free, and its `Edges.which`."""
    hits = np.empty((3, len(first)), dtype=np.int64)
    edges = Edges(first, second, spacing, begin, hits[0], hits[1], hits[2])

    def run(start: int, stop: int) -> None:
        _first_hits(cell, lent or cell.memory.fresh(), edges, start, stop, IN_ORDER)

    with cell.memory.lent(workers) as lent:
        in_chunks(len(first), workers, run, *([_CHUNK_WITH_BODIES] if len(cell.body_pairs) else []))
    return hits[0], hits[1], hits[2]


def hits(cell: Cell, rows: Array, workers: int, device: Device = "cpu") -> Ints:
    """Return for each configuration the number of a pair that is closer than its margin, or `FREE`."""
    check_workers(workers)
    convex = len(cell.layout.pairs)
    if on_card := check_device(device):
        answer = gpu_hits(cell, rows)
    else:
        one_step, none = np.ones(cell.robot.dof), np.zeros(len(rows), dtype=np.int64)
        answer = walk_edges(cell, rows, rows, one_step, none, workers)[2]
    # kernels cannot decide touching pairs, so slower functions compute them, one configuration at a time
    unsure = np.flatnonzero(answer == UNSURE)
    for k in unsure:
        near = _not_apart(cell, rows[k : k + 1], cell.margins[:convex])[0]
        answer[k] = np.argmax(near) if near.any() else FREE
    again = unsure[answer[unsure] == FREE]
    if on_card:  # no pair with a body was tested
        again = np.flatnonzero(answer == FREE)
    if len(again) and convex < cell.walked:
        answer[again] = general_pairs.hits(cell, rows[again], convex)
    if cell.walked < len(cell.slots):
        left = np.flatnonzero(answer == FREE)
        answer[left] = general_pairs.hits(cell, rows[left], cell.walked)
    return answer


def close(out: Array, which: Ints, most: Array) -> Bools:
    """Return for each entry of ``out`` and ``which`` from `every` whether the pair may be within ``most`` (pairs,)."""
    near: Bools = (which != FAR) & ~(out[..., 1] > most)
    return near


def _not_apart(cell: Cell, rows: Array, margins: Array) -> Bools:
    """Return for each convex pair whether it is not proven farther apart than its margin, (n, pairs)."""
    return close(*every(cell, rows, margins)[:2], margins)


def collide(cell: Cell, rows: Array, selected: Ints) -> Bools:
    """Return whether each selected pair touches at each configuration, (n, selected). Margins are ignored."""
    compiled, margins = selected < len(cell.layout.pairs), np.zeros(len(cell.layout.pairs))
    verdicts = np.empty((len(rows), int(compiled.sum())), dtype=np.int64)
    collide_many(cell.task(axes=cell.memory.fresh().axes), rows, selected[compiled], margins, verdicts)
    for k in np.flatnonzero(((verdicts != 0) & (verdicts != 1)).any(axis=1)):
        verdicts[k] = _not_apart(cell, rows[k : k + 1], margins)[0, selected[compiled]]
    answer = np.empty((len(rows), len(selected)), dtype=bool)
    answer[:, compiled] = verdicts == 1
    answer[:, ~compiled] = general_pairs.collide(cell, rows, selected[~compiled])
    return answer


def every(cell: Cell, rows: Array, most: Array) -> tuple[Array, Ints, int]:
    """Return a row of `solve` and the nearest sub-pair, for each configuration and convex pair, and a count.

    A pair of hulls around several shapes has sub-pairs, which are pairs of these shapes. The sub-pair is -1 for a pair
    without sub-pairs. A pair is near unless it is proven farther apart than its limit in ``most`` (pairs,). If it is
    not near, its sub-pair is `FAR` and its row is undefined. The count is the sum of the numbers of near pairs over all
    configurations.
    """
    shape = len(rows), len(cell.layout.pairs)
    out, which = np.empty((*shape, narrow.FLOATS)), np.empty(shape, dtype=np.int64)
    if len(rows) != 1 or not cell.memory.lock.acquire(blocking=False):
        return out, which, every_many(cell.task(), rows, most, out, which)
    try:
        task = _clearance_task(cell)._replace(axes=_NOTHING)
        return out, which, every_many(task, rows, most, out, which)
    finally:
        cell.memory.lock.release()


def nearest(
    cell: Cell, rows: Array, most: float, workers: int = 1, depth: general_pairs.Depth = "tight"
) -> tuple[Array, Ints]:
    """Return two arrays: the result of `solve` for the nearest pair of each configuration, and which pair it is.

    A row of the second array (n, 2) contains the number of the pair, and the number of its nearest sub-pair or -1.
    `clearance_many` describes both arrays.
    """
    out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
    out[:, :3] = inf

    def run(start: int, stop: int) -> None:
        task = cell.task(axes=(memory or cell.memory.fresh()).axes)
        clearance_many(task, rows, min(most, 1e50), start, stop, out, which)

    with cell.memory.lent(workers) as memory:
        in_chunks(len(rows), workers, run)
    if len(cell.slots) > len(cell.layout.pairs):
        general_pairs.nearest(cell, rows, most, out, which, depth, workers)
    return out, which


def nearest_of_one(cell: Cell, q: Any, most: float = inf) -> tuple[Array, int] | None:
    """Return the row of `solve` and the number of the nearest pair at q, or None if `nearest` must be called.

    The number is -1 if no pair is within ``most``.
    """
    row = plain_row(q)
    if row is None or len(row) != cell.robot.dof or type(most) is not float or not most >= 0.0:
        return None
    if len(cell.slots) > len(cell.layout.pairs) or not cell.memory.lock.acquire(blocking=False):
        return None
    try:
        out, which = np.empty((1, narrow.FLOATS)), np.empty((1, 2), dtype=np.int64)
        clearance_many(_clearance_task(cell), row[None], min(most, 1e50), 0, 1, out, which)
    finally:
        cell.memory.lock.release()
    pair, result = which.item(0), out[0]
    if pair == REFUSED:
        return None
    if pair < 0:
        result[:3], result[3:] = inf, np.nan
    return result, pair


def near_of_one(cell: Cell, q: Any, within: Any, jacobians: bool) -> NearOfOne | None:
    """Return the pairs closer than ``within`` at q and their distances, or None if `results.near` must be called."""
    row = plain_row(q)
    if row is None or len(row) != cell.robot.dof or type(within) is not float or within != within:
        return None
    count, dof = len(cell.layout.pairs), len(row)
    if len(cell.slots) > count or not cell.memory.lock.acquire(blocking=False):
        return None
    try:
        if cell.cache.near is None:
            # without a warm start, since the last bits would depend on earlier queries
            task = _clearance_task(cell)._replace(axes=_NOTHING)
            scratch = np.empty((count, narrow.FLOATS)), np.empty(count, dtype=np.int64)
            cell.cache.near = task, *scratch, Near(*_rows_of_near(0, dof), np.empty((1, 2, 3, dof)))
        task, rows, pairs, _ = cell.cache.near
        near = kernels.near_of_one(task, row, min(within, 1e50), rows, pairs)
        return None if near < 0 else written(cell.cache.near, row, near, jacobians)
    finally:
        cell.memory.lock.release()


def written(cached: tuple[WalkTask, Array, Ints, Near], q: Array, count: int, jacobians: bool) -> NearOfOne:
    """Return the numbers, distances, points and gradients of ``count`` pairs at q, and their Jacobians if requested.

    `gjk3d.robot.cell_kernels.near_of_one` has written these pairs to the arrays of ``cached``.
    """
    task, solved, pairs, no_rows = cached
    if count == 0 and not jacobians:  # arrays without entries can be shared
        return pairs[:0], no_rows[:7], None
    pair, rows = pairs[:count].copy(), _rows_of_near(count, len(q))
    moved = np.empty((count, 2, 3, len(q))) if jacobians else no_rows.moved
    write_near(task, q, solved, pair, jacobians, Near(*rows, moved))
    return pair, rows, moved if jacobians else None


def _rows_of_near(count: int, dof: int) -> _NearRows:
    """Return new arrays with ``count`` rows for the fields of `Near` except the Jacobians."""
    # views of one array would take twice the time
    empty = np.empty
    return (
        empty(count), empty(count), empty(count), empty((count, 3)), empty((count, 3)), empty((count, 3)),
        empty((count, dof)),
    )  # fmt: skip


def _clearance_task(cell: Cell) -> WalkTask:
    """Return the argument ``task`` of `clearance_many` for the cell. The caller holds the lock of the cell's memory.

    After an object has moved, the task of the previous cell is used again with the new layout.
    """
    cached: WalkTask | None = cell.cache.clearance
    if cached is None:
        cached = cell.cache.clearance = cell.task(axes=cell.memory.axes, fresh=True)
    elif cached.layout is not cell.layout:
        cached = cell.cache.clearance = cached._replace(
            chain=cell.robot._chain, layout=cell.layout, axes=cell.memory.axes
        )
    return cached


def gradient(cell: Cell, rows: Array, depth: general_pairs.Depth) -> Array:
    """Return the gradients of the clearance, (n, dof)."""
    out, which = nearest(cell, rows, inf, depth=depth)
    return gradients(cell, rows, np.arange(len(rows)), out, which[:, 0])[0]


def gradient_of_one(cell: Cell, q: Any) -> Array | None:
    """Return the gradient of the clearance at q, (dof,), or None if `gradient` must be called."""
    row = plain_row(q)
    result = None if row is None else nearest_of_one(cell, row)
    if result is None or row is None:
        return None
    nearest, pair = result
    if pair < 0:
        return np.zeros(len(row))
    link = cell.layout.link[cell.slots[pair]][None]
    total: Array = _gradients(cell, row[None], _FIRST, nearest[None], link)[0][0]
    return total


def gradients(
    cell: Cell, rows: Array, of: Ints, answers: Array, pairs: Ints, *, every: bool = False
) -> tuple[Array, Array]:
    """Return the gradients of m distances, (m, dof), and with ``every`` the Jacobians of the points, (m, 2, 3, dof).

    For distance i, ``answers[i]`` is the row that `solve` wrote, ``rows[of[i]]`` is the configuration, and ``pairs[i]``
    is the number of the pair, or -1 without a pair.
    """
    links = np.full((len(pairs), 2), -1)
    some = pairs >= 0
    links[some] = cell.layout.link[cell.slots[pairs[some]]]
    return _gradients(cell, rows, of, answers, links, every)


def _gradients(
    cell: Cell, rows: Array, of: Ints, answers: Array, links: Ints, every: bool = False
) -> tuple[Array, Array]:
    """Return gradients and Jacobians as `gradients`. ``links`` (m, 2): links of both points, negative for the world."""
    robot = cell.robot
    total, moved = np.empty((len(of), robot.dof)), np.empty((len(of) if every else 1, 2, 3, robot.dof))
    distance_gradients(
        robot._chain, rows, of, links, answers, np.empty((4, 4)), np.empty((len(robot.links), 4, 4)), every, moved,
        total,
    )  # fmt: skip
    return total, moved


def gpu_hits(cell: Cell, rows: Array) -> Ints:
    """Return for each configuration `FREE`, `UNSURE`, `REFUSED`, or a convex pair that is closer than its margin.

    The graphics card computes it, with a thread for each configuration. The result is `UNSURE` if an angle is beyond
    `LARGE_ANGLE`, since these angles need the sine of the system's library.
    """
    from gjk3d._kernels.gpu import Output, PerThread, Rows, run  # numba-cuda is imported only for this

    chain, order = cell.robot._chain, cell.memory.fresh().order
    answers = np.empty((len(rows), 1), dtype=np.int64)
    private = (cell.frames(), workspace_of(FIRST_POINTS).simplex)
    run(
        hit_of_one,
        (
            Rows(rows), chain, cell.layout, PerThread(order, filled=True), cell.margins, NO_CACHE,
            *map(PerThread, private), Output(answers, rows=True),
        ),
    )  # fmt: skip
    which = answers[:, 0]
    # The angle of a joint is a joint value times the multiplier, or the length of a rotation vector, which is less than
    # twice its greatest entry.
    turns = 2.0 * np.abs(rows).max(axis=1, initial=0.0) * max(np.abs(chain.multiplier).max(initial=0.0), 1.0)
    which[turns + np.abs(chain.offset).max(initial=0.0) > LARGE_ANGLE] = UNSURE
    return which
