"""General pairs: pairs with meshes and other non-convex bodies, and pairs with user-defined supports.

Most pairs with a body are tested by `gjk3d.robot.cell_kernels`. This file tests the pairs that those kernels cannot
decide, and the fallback pairs, which no kernel tests. Each shape has an outline, which is a convex shape around it (see
`gjk3d.robot.bodies.outline`). If the outlines of a pair are not far enough apart, `gjk3d.query.distance` computes the
distance of the two shapes, for all configurations at once.

``rows`` are checked configurations (n, dof). Pairs are given by their numbers in `gjk3d.robot.cell.Cell`, where general
pairs follow the convex pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Literal

import numpy as np

import gjk3d.query.distance as two_shapes
from gjk3d._kernels.decorators import entry
from gjk3d.bodies.tree_collision import APART
from gjk3d.narrow import solve as narrow
from gjk3d.results import Distance
from gjk3d.robot.bodies import NO_CAPSULE, between_capsules
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import (
    FREE,
    Layout,
    Search,
    Task,
    balls_meet,
    between_balls,
    gaps_many,
    pair_collides,
    place,
    solve_slots,
)
from gjk3d.robot.kinematics import link_poses
from gjk3d.typing import Array, Array1, Array2, Bools, Bools2, Ints

Depth = Literal["tight", "fast"]  #: algorithm for the depth of overlaps with non-convex bodies

TOUCHING = -1e308  #: lower bound of the distance of two shapes whose outlines touch
_AT_ONCE = 1 << 18  #: greatest number of results (configurations times pairs) in memory at once


# outlines -------------------------------------------------------------------------------------------------------------


@entry
def _far_many(task: Task, q: Array2, margins: Array1, out: Bools2) -> bool:
    """Write to ``out`` (n, pairs) whether the outlines of each pair are proven farther apart than the pair's margin.

    Return True if all entries are True. ``q`` (n, dof) contains the configurations.
    """
    layout, frames, simplex = task.layout, task.frames, task.solver.workspace.simplex
    frames.stamp[:] = -1
    every = True
    for k in range(q.shape[0]):
        link_poses(task.chain, q[k], frames.matrix, frames.links)
        for p in range(layout.pairs.shape[0]):
            near = balls_meet(layout, frames, k, layout.pairs[p, 0], layout.pairs[p, 1], margins[p])
            out[k, p] = not near or pair_collides(layout, frames, k, p, margins[p], task.axes, simplex) == 0
            every = every and out[k, p]
    return every


@entry
def _gaps_many(task: Task, q: Array2, most: Array1, out: Array2) -> None:
    """Write to ``out`` (n, pairs) a lower bound of the signed distance for each configuration and pair.

    The bounds of balls, of capsules, and of GJK between the outlines are tried in this order. The first that is greater
    than the limit ``most`` of the pair is written, else that of GJK, or `TOUCHING` if the outlines touch.
    """
    chain, layout, frames, solver, axes, _ = task
    pairs, balls, rows, floats, starts = layout.pairs, frames.balls, frames.rows, layout.floats, layout.starts
    lower = solver.one[0]
    frames.stamp[:] = -1
    for k in range(q.shape[0]):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            place(layout, frames, a, k)
            place(layout, frames, b, k)
            # from the cheapest bound to the tightest; the balls are enough for most pairs
            out[k, p] = between_balls(balls, a, b)
            if out[k, p] > most[p]:
                continue
            out[k, p] = between_capsules(rows, floats, starts, a, b)
            if out[k, p] > most[p]:
                continue
            # the height of an outline above a half-space is a lower bound for its shape, also if it is negative
            mode = narrow.SIGNED if starts[b, 2] == NO_CAPSULE else narrow.UNSIGNED
            solve_slots(layout, frames, a, b, mode, max(most[p], 0.0), 0.0, solver, axes)
            out[k, p] = lower[1] if lower[1] > 0.0 or mode == narrow.SIGNED else TOUCHING


def _layout_of(cell: Cell, numbers: Ints) -> Layout:
    pairs = np.zeros((len(numbers), 4), dtype=np.int64)
    pairs[:, :2] = cell.slots[numbers]
    return cell.layout._replace(pairs=pairs, subs=cell.layout.subs[:0])


def _near(cell: Cell, rows: Array, numbers: Ints, margins: Array) -> Bools:
    """Return whether the outlines of each pair may be within its margin at each configuration, (n, pairs)."""
    far = np.empty((len(rows), len(numbers)), dtype=bool)
    _far_many(cell.task(_layout_of(cell, numbers)), rows, margins, far)
    return ~far


def _gaps(cell: Cell, rows: Array, most: Array, numbers: Ints) -> Array:
    """Return lower bounds of the signed distances of the pairs in ``numbers``, (n, pairs), see `_gaps_many`."""
    out = np.empty((len(rows), len(numbers)))
    _gaps_many(cell.task(_layout_of(cell, numbers)), rows, np.minimum(most, 1e50), out)
    return out


def hit_of_one(cell: Cell, q: Array) -> int:
    """Return the number of a fallback pair that collides at one configuration (1, dof), or `FREE` without one.

    The caller holds the lock of the cell's memory.
    """
    if cell.cache.general is None:
        numbers = np.arange(cell.walked, len(cell.slots))
        task, out = cell.task(_layout_of(cell, numbers), fresh=True), np.empty((1, len(numbers)), dtype=bool)
        cell.cache.general = task, cell.margins[numbers], out
    task, margins, out = cell.cache.general
    return FREE if _far_many(task, q, margins, out) else int(hits(cell, q, cell.walked)[0])


# pairs with bodies ----------------------------------------------------------------------------------------------------


def _body_gaps(
    cell: Cell,
    rows: Array,
    some: Ints,
    most: Array,
    best: Array | None = None,
    depth: Depth = "tight",
    workers: int = 1,
) -> Array:
    """Return the signed distance of each pair in ``some``, as rows of results of `narrow.solve`, (n, pairs, 12).

    The row of a pair that is farther apart than its limit in ``most`` contains only a lower bound. With ``best`` (n,),
    the same holds for a pair farther apart than the least distance so far, which is ``best`` at first.
    """
    verdicts, first = np.empty((len(rows), len(some)), dtype=np.int64), len(cell.layout.pairs)
    out = np.empty((len(rows), len(some), narrow.FLOATS))
    search = Search(
        np.ascontiguousarray(most), np.full(len(rows), inf) if best is None else best.copy(), best is not None,
        np.empty(len(some)), np.empty((len(some), 2), dtype=np.int64), out, verdicts,
    )  # fmt: skip
    gaps_many(cell.task(), rows, cell.bodies(cell.memory), some - first, search)
    for s in np.flatnonzero((verdicts != APART).any(axis=0)).tolist():
        at = np.flatnonzero(verdicts[:, s] != APART)
        out[at, s] = _rows_of(signed_distances(cell, rows[at], int(some[s]), max(float(most[s]), 0.0), depth, workers))
    return out


# all general pairs ----------------------------------------------------------------------------------------------------


def _spans(pairs: int, count: int) -> Iterator[slice]:
    """Yield slices that divide ``count`` configurations into blocks whose results fit into memory.

    ``pairs`` is the number of pairs. If it is 0, yield nothing.
    """
    size = max(1, _AT_ONCE // max(pairs, 1))
    for start in range(0, count if pairs else 0, size):
        yield slice(start, min(start + size, count))


def hits(cell: Cell, rows: Array, first: int) -> Ints:
    """Return for each configuration the number of a pair within its margin, or `FREE` without such a pair.

    Only pairs with the number ``first`` or a greater number are tested.
    """
    answer, numbers = np.full(len(rows), FREE, dtype=np.int64), np.arange(first, len(cell.slots))
    for span in _spans(len(numbers), len(rows)):
        near = _near(cell, rows[span], numbers, cell.margins[first:])
        # Any colliding pair may be the result, so the pair that is near most often is tested first.
        counts = near.sum(axis=0)
        for s in sorted(np.flatnonzero(counts).tolist(), key=lambda s: -counts[s]):
            p = first + s
            at = np.flatnonzero(near[:, s] & (answer[span] == FREE))
            if len(at):
                answer[span.start + at[_collide(cell, rows[span][at], p, float(cell.margins[p]))]] = p
    return answer


def _collide(cell: Cell, rows: Array, p: int, margin: float) -> Bools:
    collides: Bools = np.asarray(two_shapes.collide(*shapes_of(cell, p), *poses_of(cell, rows, p), margin=margin))
    return np.broadcast_to(collides, len(rows))


def collide(cell: Cell, rows: Array, selected: Ints) -> Bools:
    """Return whether each selected pair touches at each configuration, (n, selected). Margins are ignored."""
    answer = np.zeros((len(rows), len(selected)), dtype=bool)
    for span in _spans(len(selected), len(rows)):
        near = _near(cell, rows[span], selected, np.zeros(len(selected)))
        for s in np.flatnonzero(near.any(axis=0)).tolist():
            at = span.start + np.flatnonzero(near[:, s])
            answer[at, s] = _collide(cell, rows[at], int(selected[s]), 0.0)
    return answer


def _rows_up_to(cell: Cell, rows: Array, numbers: Ints, most: Array, depth: Depth = "tight") -> Array:
    """Return the signed distance of each pair in ``numbers``, as rows of results of `narrow.solve`, (n, pairs, 12).

    For a pair that is proven farther apart than its limit in ``most``, only column 1 is valid, a lower bound.
    """
    out, is_compiled = np.empty((len(rows), len(numbers), narrow.FLOATS)), numbers < cell.measured
    if is_compiled.any():
        out[:, is_compiled] = _body_gaps(cell, rows, numbers[is_compiled], most[is_compiled], None, depth)
    fallback = np.flatnonzero(~is_compiled)
    if len(fallback):
        out[:, fallback, 1] = _gaps(cell, rows, most[fallback], numbers[fallback])
    for s in fallback.tolist():
        at = np.flatnonzero(out[:, s, 1] <= most[s])
        if len(at):
            distance = signed_distances(cell, rows[at], int(numbers[s]), max(float(most[s]), 0.0), depth)
            out[at, s] = _rows_of(distance)
    return out


def bounds(cell: Cell, rows: Array, most: float | Array = inf, selected: Ints | None = None) -> tuple[Array, Array]:
    """Return lower and upper bounds of the signed distances of the selected pairs, or of all, (n, pairs) each.

    ``most`` is one limit, or a limit for each pair. A pair that is proven farther apart than its limit has a lower
    bound greater than the limit, and an infinite upper bound.
    """
    numbers = np.arange(len(cell.layout.pairs), len(cell.slots)) if selected is None else selected
    limits = np.array(np.broadcast_to(np.asarray(most, dtype=np.float64), len(numbers)))
    lower, upper = np.empty((len(rows), len(numbers))), np.empty((len(rows), len(numbers)))
    for span in _spans(len(numbers), len(rows)):
        out = _rows_up_to(cell, rows[span], numbers, limits)
        lower[span], upper[span] = out[:, :, 1], np.where(out[:, :, 1] > limits, inf, out[:, :, 2])
    return lower, upper


def nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints, depth: Depth, workers: int) -> None:
    """Update each configuration's nearest pair in ``out`` and ``which`` by the general pairs within ``most``.

    Before, both arrays have the result for convex pairs, see `gjk3d.robot.cell_kernels.clearance_many`.
    """
    for span in _spans(len(cell.slots) - len(cell.layout.pairs), len(rows)):
        _nearest(cell, rows[span], most, out[span], which[span], depth, workers)


def _nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints, depth: Depth, workers: int) -> None:
    best, least = np.minimum(out[:, 0], most), out[:, 1].copy()

    def better(at: Ints, candidates: Array, p: Ints) -> None:
        """Write the rows of ``candidates`` that are nearer than the best so far to ``out``, their pairs to ``which``.

        ``at`` contains the index of each candidate's configuration, and ``p`` the number of its pair.
        """
        least[at] = np.minimum(least[at], candidates[:, 1])
        some = np.flatnonzero((candidates[:, 0] < best[at]) | ((candidates[:, 0] == best[at]) & np.isinf(out[at, 0])))
        to = at[some]
        best[to], out[to, :12] = candidates[some, 0], candidates[some]
        which[to, 0], which[to, 1] = p[some], -1

    compiled = np.arange(len(cell.layout.pairs), cell.measured)
    fallback = np.arange(cell.measured, len(cell.slots))
    # pairs with bodies are first: they are fast, and reduce the limit for the fallback pairs
    if len(compiled):
        candidates = _body_gaps(cell, rows, compiled, np.full(len(compiled), inf), best, depth, workers)
        k = candidates[:, :, 0].argmin(axis=1)
        every = np.arange(len(rows))
        row = candidates[every, k]
        row[:, 1] = candidates[:, :, 1].min(axis=1)
        better(every, row, compiled[k])
    lower = np.empty((len(rows), 0))
    if len(fallback):
        lower = _gaps(cell, rows, np.full(len(fallback), best.max(initial=0.0)), fallback)
    for s in np.argsort(lower.min(axis=0, initial=inf), kind="stable").tolist():
        at, p = np.flatnonzero(lower[:, s] <= best), int(fallback[s])
        if len(at):
            gaps = signed_distances(cell, rows[at], p, max(float(best[at].max()), 0.0), depth, workers)
            better(at, _rows_of(gaps), np.full(len(at), p))
    out[:, 1] = np.where(np.isinf(out[:, 0]), inf, np.minimum(least, out[:, 0]))


def rows_within(cell: Cell, rows: Array, most: Array, depth: Depth = "tight") -> Iterator[tuple[Ints, Ints, Array]]:
    """Yield blocks of results of the general pairs that are not proven farther apart than their limit in ``most``.

    ``most`` has a limit for each pair of the cell. A block consists of indices of configurations, numbers of pairs,
    and rows of results of `narrow.solve`, as in `gjk3d.robot.results.near`.
    """
    first = len(cell.layout.pairs)
    for span in _spans(len(cell.slots) - first, len(rows)):
        out = _rows_up_to(cell, rows[span], np.arange(first, len(cell.slots)), most[first:], depth)
        k, s = np.nonzero(~(out[:, :, 1] > most[first:]))
        yield span.start + k, first + s, out[k, s]


def signed_distances(
    cell: Cell, rows: Array, p: int, most: float = inf, depth: Depth = "tight", workers: int = 1
) -> Distance:
    """Return the signed distance of pair p, for n configurations, or as a single result for one configuration."""
    pose_a, pose_b = poses_of(cell, rows, p)
    if len(rows) == 1:  # a query with single poses has the same bits and less overhead
        pose_a, pose_b = pose_a.reshape(4, 4), pose_b.reshape(4, 4)
    return two_shapes.signed_distance(
        *shapes_of(cell, p), pose_a, pose_b, depth=depth, max_distance=most, workers=workers
    )


def _rows_of(distance: Distance) -> Array:
    numbers = np.column_stack([distance.distance, distance.lower, distance.upper])
    return np.hstack([numbers, *map(np.atleast_2d, (distance.normal, distance.point_a, distance.point_b))])


def shapes_of(cell: Cell, p: int) -> tuple[Any, Any]:
    """Return the two shapes of pair p."""
    a, b = cell.slots[p]
    return cell.shapes[a], cell.shapes[b]


def poses_of(cell: Cell, rows: Array, p: int) -> tuple[Array, Array]:
    """Return the poses in the world of the two shapes of pair p, (n, 4, 4) each."""
    links = cell.robot.link_poses(rows)
    a, b = cell.slots[p].tolist()
    return cell.placed(links, a), cell.placed(links, b)
