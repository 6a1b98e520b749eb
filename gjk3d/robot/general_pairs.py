"""Pairs that are not convex: those with meshes and other bodies, and with user-defined supports.

`gjk3d.robot.walk` and `gjk3d.robot.body_pairs` test pairs with bodies. What these leave undecided, and all other pairs,
is done here. Each shape has a convex outline, see `gjk3d.robot.obstacles.outline`. If the outlines are far enough
apart, the pair is decided. Other pairs go to the functions of two shapes, all configurations of a pair at once.
Configurations are (n, dof) rows, checked. Pairs are numbers after those of convex pairs, see `gjk3d.robot.cell.Cell`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Literal

import numpy as np

import gjk3d.query.distance as two_shapes
from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.bodies.tree_collision import APART
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.solve import solve
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.results import Distance
from gjk3d.robot.body_pairs import Search, bodies_collide_many, gaps_many
from gjk3d.robot.bounding import between_capsules
from gjk3d.robot.cell import Cell
from gjk3d.robot.kinematics import Chain, link_poses
from gjk3d.robot.walk import FREE, Frames, Layout, Task, balls_meet, between_balls, core_of, pair_collides, place
from gjk3d.shapes import layout as shape_layout
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Bools, Bools2, Ints

Depth = Literal["tight", "fast"]  #: of overlaps with non-convex bodies

TOUCHING = -1e308  #: lower bound of the distance of shapes whose outlines touch: none
_AT_ONCE = 1 << 18  #: most configurations times pairs in memory at once
_RADIUS = shape_layout.RADIUS


# outlines -------------------------------------------------------------------------------------------------------------


@kernel
def _above_plane(layout: Layout, frames: Frames, a: int, planes: Array, b: int) -> float:
    """Return a lower bound of the height of slot a above the half-space of slot b."""
    rows, balls, core = frames.rows, frames.balls, core_of(layout, a)
    x, y, z = planes[b, 0], planes[b, 1], planes[b, 2]
    u = rows[b, 0] * x + rows[b, 1] * y + rows[b, 2] * z
    v = rows[b, 3] * x + rows[b, 4] * y + rows[b, 5] * z
    w = rows[b, 6] * x + rows[b, 7] * y + rows[b, 8] * z
    offset = planes[b, 3] + u * rows[b, 9] + v * rows[b, 10] + w * rows[b, 11]
    size = abs(offset) + abs(balls[a, 0]) + abs(balls[a, 1]) + abs(balls[a, 2]) + balls[a, 3]
    size += abs(rows[b, 9]) + abs(rows[b, 10]) + abs(rows[b, 11])
    # the support along -n in the frame of the shape: the lowest point of its core; the radius is subtracted below
    d = (
        -(rows[a, 0] * u + rows[a, 3] * v + rows[a, 6] * w),
        -(rows[a, 1] * u + rows[a, 4] * v + rows[a, 7] * w),
        -(rows[a, 2] * u + rows[a, 5] * v + rows[a, 8] * w),
    )
    s = support(core, d)
    height = u * balls[a, 0] + v * balls[a, 1] + w * balls[a, 2] - (s[0] * d[0] + s[1] * d[1] + s[2] * d[2])
    return float(height - core.floats[_RADIUS] - offset - (1e-10 + 8.0 * rows[b, 12]) * size)


@entry
def _far_many(
    q: Array2, chain: Chain, layout: Layout, planes: Array2, margins: Array1, frames: Frames, nothing: Array2,
    simplex: Array2, out: Bools2,
) -> bool:  # fmt: skip
    """Write for each configuration and pair whether the outlines are proven farther apart than the margin.

    Returns whether all of them are.
    """
    frames.stamp[:] = -1
    pairs, every = layout.pairs, True
    for k in range(q.shape[0]):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            near = balls_meet(layout, frames, k, a, b, margins[p])
            if planes[b, 0] == planes[b, 0]:  # not NaN: the outline of b is a half-space
                out[k, p] = _above_plane(layout, frames, a, planes, b) > margins[p]
            else:
                out[k, p] = not near or pair_collides(layout, frames, k, p, margins[p], nothing, simplex) == 0
            every = every and out[k, p]
    return every


@entry
def _gaps_many(task: Task, q: Array2, planes: Array2, most: Array1, out: Array2) -> None:
    """Write a lower bound of the signed distance for each configuration and pair, `TOUCHING` if its outlines touch.

    The first bound that is greater than ``most`` of the pair is written.
    """
    chain, layout, frames, solver, axes, _ = task
    pairs, balls, rows, floats, starts = layout.pairs, frames.balls, frames.rows, layout.floats, layout.starts
    row = solver.one
    frames.stamp[:] = -1
    for k in range(q.shape[0]):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            place(layout, frames, a, k)
            place(layout, frames, b, k)
            if planes[b, 0] == planes[b, 0]:
                out[k, p] = _above_plane(layout, frames, a, planes, b)
                continue
            # from the cheapest bound to the tightest; most pairs end at the balls
            out[k, p] = between_balls(balls, a, b)
            if out[k, p] > most[p]:
                continue
            out[k, p] = between_capsules(rows, floats, starts, a, b)
            if out[k, p] > most[p]:
                continue
            cores = cores_of(layout.ints, floats, starts, rows, a, b)
            solve(cores, narrow.UNSIGNED, max(most[p], 0.0), 0.0, solver.workspace, axes, row, solver.marks, plain(0))
            out[k, p] = row[0, 1] if row[0, 1] > 0.0 else TOUCHING


def hit_of_one(cell: Cell, q: Array) -> int:
    """Return a fallback pair that collides at one configuration (1, dof), or `FREE`.

    The caller holds the lock of the cell's memory.
    """
    args = cell.cache.general
    if args is None:
        args = cell.cache.general = _far_args(cell, cell.walked, 1, np.empty((6, 10)))
    return FREE if _far_many(q, *args) else int(hits(cell, q, cell.walked)[0])


def _layout_from(cell: Cell, first: int) -> Layout:
    """Return the layout of the pairs from a number on."""
    return cell.general._replace(pairs=cell.general.pairs[first - len(cell.layout.pairs) :])


def _far_args(cell: Cell, first: int, count: int, simplex: Array) -> Any:
    """Return the arguments of `_far_many` after the configurations; the last is its output."""
    return (
        cell.robot._chain, _layout_from(cell, first), cell.planes, cell.margins[first:], cell.frames(),
        np.empty((0, MEMORY)), simplex, np.empty((count, len(cell.slots) - first), dtype=bool),
    )  # fmt: skip


def _gaps(cell: Cell, rows: Array, most: Array, which: Ints) -> Array:
    """Return lower bounds of the distances of some pairs by their numbers, (n, pairs)."""
    layout = cell.general._replace(pairs=np.ascontiguousarray(cell.general.pairs[which - len(cell.layout.pairs)]))
    out = np.empty((len(rows), len(which)))
    _gaps_many(cell.task(layout), rows, cell.planes, np.minimum(most, 1e50), out)
    return out


# pairs with bodies ----------------------------------------------------------------------------------------------------


def _touches(cell: Cell, rows: Array, some: Ints) -> Bools:
    """Return for each configuration whether some pairs with bodies touch, without margins."""
    verdicts, first = np.empty((len(rows), len(some)), dtype=np.int64), len(cell.layout.pairs)
    bodies = cell.bodies(cell.memory)
    bodies_collide_many(rows, cell.robot._chain, cell.layout, cell.frames(), bodies, some - first, verdicts)
    answer: Bools = verdicts == 1
    for k, s in np.argwhere(verdicts > 1).tolist():
        answer[k, s] = _collide(cell, rows[k : k + 1], int(some[s]), 0.0)[0]
    return answer


def _body_gaps(
    cell: Cell, rows: Array, some: Ints, most: Array, best: Array | None = None, depth: Depth = "tight"
) -> Array:
    """Return the signed distance of some pairs with bodies up to their ``most``, as rows of `solve`, (n, pairs, 12).

    With a ``best`` of each configuration, only pairs that are nearer than it and than all others are solved exactly.
    """
    verdicts, first = np.empty((len(rows), len(some)), dtype=np.int64), len(cell.layout.pairs)
    out = np.empty((len(rows), len(some), narrow.FLOATS))
    search = Search(
        np.ascontiguousarray(most), np.full(len(rows), inf) if best is None else best.copy(), best is not None,
        np.empty(len(some)), out, verdicts,
    )  # fmt: skip
    bodies = cell.bodies(cell.memory)
    gaps_many(rows, cell.robot._chain, cell.layout, cell.frames(), bodies, some - first, search, 0, len(rows))
    for s in np.flatnonzero((verdicts != APART).any(axis=0)).tolist():
        at = np.flatnonzero(verdicts[:, s] != APART)
        out[at, s] = _rows_of(signed_distances(cell, rows[at], int(some[s]), max(float(most[s]), 0.0), depth))
    return out


# all general pairs ----------------------------------------------------------------------------------------------------


def _spans(pairs: int, count: int) -> Iterator[slice]:
    """Yield slices of configurations whose pairs fit into memory at once; none if there are no pairs."""
    size = max(1, _AT_ONCE // max(pairs, 1))
    for start in range(0, count if pairs else 0, size):
        yield slice(start, min(start + size, count))


def hits(cell: Cell, rows: Array, first: int) -> Ints:
    """Return a pair from number ``first`` on that is closer than its margin for each configuration, or `FREE`."""
    answer = np.full(len(rows), FREE, dtype=np.int64)
    for span in _spans(len(cell.slots) - first, len(rows)):
        args = _far_args(cell, first, span.stop - span.start, workspace_of(FIRST_POINTS).simplex)
        _far_many(rows[span], *args)
        near = ~args[-1]
        # the pair that is near most often first: the result may be any of several pairs that collide
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


def _split(cell: Cell, numbers: Ints, end: int) -> tuple[Ints, Ints]:
    """Return the positions of numbers below ``end``, which kernels compute, and of the others."""
    compiled = numbers < end
    return np.flatnonzero(compiled), np.flatnonzero(~compiled)


def collide(cell: Cell, rows: Array, selected: Ints) -> Bools:
    """Return for each configuration whether the selected pairs touch, without margins."""
    answer = np.zeros((len(rows), len(selected)), dtype=bool)
    compiled, which = _split(cell, selected, cell.walked)
    for span in _spans(len(compiled), len(rows)):
        answer[span, compiled] = _touches(cell, rows[span], selected[compiled])
    for span in _spans(len(which), len(rows)):
        gaps = _gaps(cell, rows[span], np.zeros(len(which)), selected[which])
        for n, s in enumerate(which.tolist()):
            at = span.start + np.flatnonzero(gaps[:, n] <= 0.0)
            if len(at):
                answer[at, s] = _collide(cell, rows[at], int(selected[s]), 0.0)
    return answer


def bounds(cell: Cell, rows: Array, most: float | Array = inf, selected: Ints | None = None) -> tuple[Array, Array]:
    """Return bounds of the signed distance of the selected pairs, or of all, (n, pairs) each.

    A pair that is proven farther apart than ``most``, one number or one for each pair, has a lower bound greater than
    that and an infinite upper bound.
    """
    numbers = np.arange(len(cell.layout.pairs), len(cell.slots)) if selected is None else selected
    lower, upper = np.empty((len(rows), len(numbers))), np.full((len(rows), len(numbers)), inf)
    limits = np.broadcast_to(np.asarray(most, dtype=np.float64), len(numbers))
    compiled, which = _split(cell, numbers, cell.measured)
    for span in _spans(len(compiled), len(rows)):
        out = _body_gaps(cell, rows[span], numbers[compiled], limits[compiled])
        lower[span, compiled], above = out[:, :, 1], out[:, :, 1] > limits[compiled]
        upper[span, compiled] = np.where(above, inf, out[:, :, 2])
    for span in _spans(len(which), len(rows)):
        lower[span, which] = _gaps(cell, rows[span], limits[which], numbers[which])
        for s in which.tolist():
            at = span.start + np.flatnonzero(lower[span, s] <= limits[s])
            if len(at):
                distance = signed_distances(cell, rows[at], int(numbers[s]), max(float(limits[s]), 0.0))
                lower[at, s] = distance.lower
                upper[at, s] = np.where(distance.lower > limits[s], inf, distance.upper)
    return lower, upper


def nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints, depth: Depth = "tight") -> None:
    """Replace rows of `gjk3d.robot.walk.clearance_many` if a general pair is nearer, within ``most``."""
    for span in _spans(len(cell.slots) - len(cell.layout.pairs), len(rows)):
        _nearest(cell, rows[span], most, out[span], which[span], depth)


def _nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints, depth: Depth) -> None:
    best, least = np.minimum(out[:, 0], most), out[:, 1].copy()

    def better(at: Ints, candidates: Array, p: Ints) -> None:
        """Take rows of `solve` at configurations, with their pairs, if they are nearer than the best so far."""
        least[at] = np.minimum(least[at], candidates[:, 1])
        some = np.flatnonzero((candidates[:, 0] < best[at]) | ((candidates[:, 0] == best[at]) & np.isinf(out[at, 0])))
        to = at[some]
        best[to], out[to, :12] = candidates[some, 0], candidates[some]
        which[to, 0], which[to, 1] = p[some], -1

    compiled = np.arange(len(cell.layout.pairs), cell.measured)
    fallback = np.arange(cell.measured, len(cell.slots))
    # pairs with bodies first: they are fast, and each makes the limit smaller for the fallback pairs
    if len(compiled):
        candidates = _body_gaps(cell, rows, compiled, np.full(len(compiled), inf), best, depth)
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
            gaps = signed_distances(cell, rows[at], p, max(float(best[at].max()), 0.0), depth)
            better(at, _rows_of(gaps), np.full(len(at), p))
    out[:, 1] = np.where(np.isinf(out[:, 0]), inf, np.minimum(least, out[:, 0]))


def rows_within(cell: Cell, rows: Array, most: Array, depth: Depth = "tight") -> Iterator[tuple[int, int, Array]]:
    """Yield the pairs that are not proven farther apart than their ``most``: configuration, pair, row of `solve`."""
    compiled = np.arange(len(cell.layout.pairs), cell.measured)
    limits = most[compiled]
    for span in _spans(len(compiled), len(rows)):
        out = _body_gaps(cell, rows[span], compiled, limits, None, depth)
        for k, s in np.argwhere(~(out[:, :, 1] > limits)).tolist():
            yield span.start + k, int(compiled[s]), out[k, s]
    for p in range(cell.measured, len(cell.slots)):
        for span in _spans(1, len(rows)):
            gaps = _gaps(cell, rows[span], most[p : p + 1], np.array([p]))
            at = span.start + np.flatnonzero(gaps[:, 0] <= most[p])
            if not len(at):
                continue
            gap_rows = _rows_of(signed_distances(cell, rows[at], p, max(float(most[p]), 0.0), depth))
            for k in np.flatnonzero(~(gap_rows[:, 1] > most[p])).tolist():
                yield int(at[k]), p, gap_rows[k]


def signed_distances(cell: Cell, rows: Array, p: int, most: float = inf, depth: Depth = "tight") -> Distance:
    """Return the signed distance of a pair, a row for each configuration, or a single result for one."""
    pose_a, pose_b = poses_of(cell, rows, p)
    if len(rows) == 1:  # the prepared single query has the same bits and less overhead
        pose_a, pose_b = pose_a.reshape(4, 4), pose_b.reshape(4, 4)
    return two_shapes.signed_distance(*shapes_of(cell, p), pose_a, pose_b, depth=depth, max_distance=most)


def _rows_of(distance: Distance) -> Array:
    """Return distances as rows of `solve`."""
    numbers = np.column_stack([distance.distance, distance.lower, distance.upper])
    return np.hstack([numbers, *map(np.atleast_2d, (distance.normal, distance.point_a, distance.point_b))])


def shapes_of(cell: Cell, p: int) -> tuple[Any, Any]:
    """Return the shapes of a pair."""
    a, b = cell.slots[p]
    return cell.shapes[a], cell.shapes[b]


def poses_of(cell: Cell, rows: Array, p: int) -> tuple[Array, Array]:
    """Return the poses of the shapes of a pair, (n, 4, 4) each."""
    links = cell.robot.link_poses(rows)
    a, b = cell.slots[p].tolist()
    return cell.placed(links, a), cell.placed(links, b)
