"""Pairs that the walk cannot answer: with meshes and other bodies, and functions of a user's.

A body against convex shapes is answered by its tree, all of its pairs in one call, see `gjk3d.robot.trees`. Of the
rest, two bodies and the like, each shape has something convex that stands for it, see `gjk3d.robot.obstacles.outline`.
Where these are far enough apart nothing else is asked; the others go to the functions of two shapes, all configurations
of a pair at once, and so does what a tree leaves open. Configurations are (n, dof) rows, checked; pairs are numbers
behind those of the walk, see `gjk3d.robot.cell.Cell`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

import gjk3d.query.distance as two_shapes
from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.bodies.walk import APART, HELD, new_tree_scratch, tree_scratch
from gjk3d.bodies.walk import MEET as MET
from gjk3d.convex.rows import FIRST_POINTS, in_chunks, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.solve import solve
from gjk3d.results import Distance
from gjk3d.robot.capsules import between_capsules
from gjk3d.robot.cell import Cell, Host
from gjk3d.robot.kinematics import Chain, link_poses
from gjk3d.robot.trees import Around, gaps_many, meet_many
from gjk3d.robot.walk import FREE, Frames, Layout, Task, balls_meet, between_balls, core_of, pair_collides, place
from gjk3d.shapes import layout as shape_layout
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Bools, Bools2, Ints

MEET = -1e308  #: the bound of two outlines that touch: nothing is known of what is in them
_AT_ONCE = 1 << 18  #: most numbers of configurations times pairs that are held
_CHUNK = 256  #: configurations a call into the kernels about trees: each may take a millisecond
_RADIUS = shape_layout.RADIUS


# how far apart outlines are -------------------------------------------------------------------------------------------


@kernel
def _above_plane(layout: Layout, frames: Frames, a: int, planes: Array, b: int) -> float:
    """Return how far slot a is above the half-space of slot b at least."""
    rows, balls, core = frames.rows, frames.balls, core_of(layout, a)
    x, y, z = planes[b, 0], planes[b, 1], planes[b, 2]
    u = rows[b, 0] * x + rows[b, 1] * y + rows[b, 2] * z
    v = rows[b, 3] * x + rows[b, 4] * y + rows[b, 5] * z
    w = rows[b, 6] * x + rows[b, 7] * y + rows[b, 8] * z
    offset = planes[b, 3] + u * rows[b, 9] + v * rows[b, 10] + w * rows[b, 11]
    size = abs(offset) + abs(balls[a, 0]) + abs(balls[a, 1]) + abs(balls[a, 2]) + balls[a, 3]
    size += abs(rows[b, 9]) + abs(rows[b, 10]) + abs(rows[b, 11])
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
    """Write for each configuration and pair whether its outlines are proven farther apart than its margin.

    Returns whether all are.
    """
    frames.stamp[:] = -1
    pairs, every = layout.pairs, True
    for k in range(q.shape[0]):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            meet = balls_meet(layout, frames, k, p, margins[p])
            if planes[b, 0] == planes[b, 0]:
                out[k, p] = _above_plane(layout, frames, a, planes, b) > margins[p]
            else:
                out[k, p] = not meet or pair_collides(layout, frames, k, p, margins[p], nothing, simplex) == 0
            every = every and out[k, p]
    return every


@entry
def _gaps_many(task: Task, q: Array2, planes: Array2, most: Array1, out: Array2) -> None:
    """Write for each configuration and pair a lower bound of the signed distance, `MEET` where its outlines touch.

    Where it is more than ``most`` of the pair it is not looked for closely.
    """
    chain, layout, frames, solver, axes, _ = task
    pairs, balls, rows, floats, starts = layout.pairs, frames.balls, frames.rows, layout.floats, layout.starts
    one = solver.one
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
            out[k, p] = between_balls(balls, a, b)
            if out[k, p] > most[p]:
                continue
            out[k, p] = between_capsules(rows, floats, starts, a, b)
            if out[k, p] > most[p]:
                continue
            cores = cores_of(layout.ints, floats, starts, rows, a, b)
            solve(cores, narrow.UNSIGNED, max(most[p], 0.0), 0.0, solver.room, axes, one, solver.marks, plain(0))
            out[k, p] = one[0, 1] if one[0, 1] > 0.0 else MEET


def hit_of_one(cell: Cell, q: Array) -> int:
    """Answer `hits` of one configuration (1, dof), for who holds the lock of the cell's memory."""
    kept = cell.kept.general
    if kept is None:
        trees = [(host, _told(host, 1), _asked_of_tree(cell, host, own=True)) for host in cell.hosts]
        kept = cell.kept.general = (
            [(host, told, (*asked, False, 0, 1, told)) for host, told, asked in trees],
            [_asked(cell, 1, np.empty((6, 10))) for _ in range(cell.rest < len(cell.slots))],
        )
    for host, told, asked in kept[0]:
        if not meet_many(q, *asked):
            sure = _sure(cell, host, told)[0]
            return host.first + int(sure.argmax()) if sure.any() else int(hits(cell, q)[0])
    return FREE if all(_far_many(q, *asked) for asked in kept[1]) else int(hits(cell, q)[0])


def _sure(cell: Cell, host: Host, told: Ints) -> Bools:
    """Tell which pairs of a host are known to be closer than their margin by what `meet_many` told."""
    sure: Bools = ((told == MET) | (told == HELD)) & (cell.margins[host.first : host.last] >= 0.0)
    return sure


def _told(host: Host, count: int) -> Ints:
    return np.empty((count, host.last - host.first), dtype=np.int64)


def _asked_of_tree(cell: Cell, host: Host, own: bool = False) -> Any:
    """Return what `meet_many` takes behind the configurations, as far as the margins."""
    margins = np.ascontiguousarray(cell.margins[host.first : host.last])
    return cell.robot._chain, _around(cell, host, cell.layout_of(host), own), margins


def _around(cell: Cell, host: Host, layout: Layout, own: bool = False) -> Around:
    """Return a host, and what is needed to ask about some of its pairs: this thread's scratch or one to be kept."""
    return Around(layout, cell.frames(), cell.guests, cell.body(host), new_tree_scratch() if own else tree_scratch())


def _rest(cell: Cell) -> Layout:
    """Return the layout of the pairs that no kernel answers."""
    return cell.general._replace(pairs=cell.general.pairs[cell.rest - len(cell.layout.pairs) :])


def _asked(cell: Cell, count: int, simplex: Array) -> Any:
    """Return what `_far_many` takes behind the configurations; its last is the answer."""
    return (
        cell.robot._chain, _rest(cell), cell.planes, cell.margins[cell.rest :], cell.frames(),
        np.empty((0, MEMORY)), simplex, np.empty((count, len(cell.slots) - cell.rest), dtype=bool),
    )  # fmt: skip


def _gaps(cell: Cell, rows: Array, most: Array, which: Ints | None = None) -> Array:
    """Return lower bounds of some of the pairs that no kernel answers, numbered from 0, (n, pairs)."""
    asked = _rest(cell)
    if which is not None:
        asked = asked._replace(pairs=np.ascontiguousarray(asked.pairs[which]))
    out = np.empty((len(rows), len(asked.pairs)))
    _gaps_many(cell.task(asked), rows, cell.planes, np.minimum(most, 1e50), out)
    return out


# what trees say -------------------------------------------------------------------------------------------------------


def _tree_hits(cell: Cell, host: Host, rows: Array, workers: int) -> Ints:
    """Return for each configuration a pair of a host that is closer than its margin, or `FREE`."""
    told = _told(host, len(rows))

    def run(start: int, stop: int) -> None:
        asked: Any = *_asked_of_tree(cell, host), False, start, stop, told
        meet_many(rows, *asked)

    in_chunks(len(rows), workers, run, _CHUNK)
    sure = _sure(cell, host, told)
    answer: Ints = np.where(sure.any(axis=1), host.first + sure.argmax(axis=1), FREE)
    open_ = (told != APART) & ~sure & (answer == FREE)[:, None]
    for k, s in np.argwhere(open_).tolist():
        if (
            answer[k] == FREE
            and _collide(cell, rows[k : k + 1], host.first + s, float(cell.margins[host.first + s]))[0]
        ):
            answer[k] = host.first + s
    return answer


def _tree_touches(cell: Cell, host: Host, rows: Array, some: Ints) -> Bools:
    """Tell of each configuration, and of some pairs of a host, whether the two touch, margins left out."""
    layout = cell.layout_of(host)
    layout = layout._replace(pairs=np.ascontiguousarray(layout.pairs[some - host.first]))
    told = np.empty((len(rows), len(some)), dtype=np.int64)
    around = _around(cell, host, layout)
    meet_many(rows, cell.robot._chain, around, np.zeros(len(some)), True, 0, len(rows), told)
    answer: Bools = (told == MET) | (told == HELD)
    for k, s in np.argwhere((told != APART) & ~answer).tolist():
        answer[k, s] = _collide(cell, rows[k : k + 1], int(some[s]), 0.0)[0]
    return answer


def _tree_gaps(cell: Cell, host: Host, rows: Array, most: Array, best: Array | None = None) -> Array:
    """Return the signed distance of each pair of a host as far as ``most`` of it, rows as of `solve`, (n, pairs, 12).

    With a ``best`` of each configuration only what is nearer than that, and than the others, is measured closely.
    """
    told, pairs = _told(host, len(rows)), host.last - host.first
    out = np.empty((len(rows), pairs, narrow.FLOATS))
    gaps_many(
        cell.robot._chain, rows, _around(cell, host, cell.layout_of(host)), np.ascontiguousarray(most),
        np.full(len(rows), inf) if best is None else best.copy(), best is not None, 0, len(rows), out, told,
    )  # fmt: skip
    for s in np.flatnonzero((told != APART).any(axis=0)).tolist():
        at = np.flatnonzero(told[:, s] != APART)
        out[at, s] = _rows_of(ask(cell, rows[at], host.first + s, max(float(most[s]), 0.0)))
    return out


# what shapes themselves say -------------------------------------------------------------------------------------------


def _spans(pairs: int, count: int) -> Iterator[slice]:
    """Yield so many configurations at once as so many pairs leave room for; none where there are no pairs."""
    size = max(1, _AT_ONCE // max(pairs, 1))
    for start in range(0, count if pairs else 0, size):
        yield slice(start, min(start + size, count))


def hits(cell: Cell, rows: Array, workers: int = 1) -> Ints:
    """Return for each configuration a pair that is closer than its margin, or `FREE`."""
    answer = np.full(len(rows), FREE, dtype=np.int64)
    for host in cell.hosts:
        left = np.flatnonzero(answer == FREE)
        for span in _spans(host.last - host.first, len(left)):
            answer[left[span]] = _tree_hits(cell, host, rows[left[span]], workers)
    for span in _spans(len(cell.slots) - cell.rest, len(rows)):
        asked = _asked(cell, span.stop - span.start, scratch(FIRST_POINTS)[2])
        _far_many(rows[span], *asked)
        near = ~asked[-1]
        # the likeliest first: which it is of several is nobody's promise
        counts = near.sum(axis=0)
        for s in sorted(np.flatnonzero(counts).tolist(), key=lambda s: -counts[s]):
            p = cell.rest + s
            at = np.flatnonzero(near[:, s] & (answer[span] == FREE))
            if len(at):
                answer[span.start + at[_collide(cell, rows[span][at], p, float(cell.margins[p]))]] = p
    return answer


def _collide(cell: Cell, rows: Array, p: int, margin: float) -> Bools:
    found: Bools = np.asarray(two_shapes.collide(*shapes_of(cell, p), *poses_of(cell, rows, p), margin=margin))
    return np.broadcast_to(found, len(rows))


def collide(cell: Cell, rows: Array, asked: Ints) -> Bools:
    """Tell of each configuration, and each of the pairs asked, whether the two touch, margins left out."""
    answer = np.zeros((len(rows), len(asked)), dtype=bool)
    for host in cell.hosts:
        which = np.flatnonzero((asked >= host.first) & (asked < host.last))
        for span in _spans(len(which), len(rows)):
            answer[span, which] = _tree_touches(cell, host, rows[span], asked[which])
    which = np.flatnonzero(asked >= cell.rest)
    for span in _spans(len(which), len(rows)):
        gaps = _gaps(cell, rows[span], np.zeros(len(which)), asked[which] - cell.rest)
        for n, s in enumerate(which.tolist()):
            at = span.start + np.flatnonzero(gaps[:, n] <= 0.0)
            if len(at):
                answer[at, s] = _collide(cell, rows[at], int(asked[s]), 0.0)
    return answer


def bounds(cell: Cell, rows: Array, most: float | Array = inf, asked: Ints | None = None) -> tuple[Array, Array]:
    """Return bounds of the signed distance of the pairs asked, or of all, (n, pairs) each.

    A pair that is proven to be farther apart than ``most``, one number or one for each pair, is not looked at
    closely: its lower bound is more than that, and its upper one infinite. Of a host all pairs are asked, or none.
    """
    numbers = np.arange(len(cell.layout.pairs), len(cell.slots)) if asked is None else asked
    lower, upper = np.empty((len(rows), len(numbers))), np.full((len(rows), len(numbers)), inf)
    limits = np.broadcast_to(np.asarray(most, dtype=np.float64), len(numbers))
    for host in cell.hosts:
        which = np.flatnonzero((numbers >= host.first) & (numbers < host.last))
        for span in _spans(len(which), len(rows)):
            out = _tree_gaps(cell, host, rows[span], limits[which])
            lower[span, which], above = out[:, :, 1], out[:, :, 1] > limits[which]
            upper[span, which] = np.where(above, inf, out[:, :, 2])
    which = np.flatnonzero(numbers >= cell.rest)
    for span in _spans(len(which), len(rows)):
        lower[span, which] = _gaps(cell, rows[span], limits[which], numbers[which] - cell.rest)
        for s in which.tolist():
            at = span.start + np.flatnonzero(lower[span, s] <= limits[s])
            if len(at):
                found = ask(cell, rows[at], int(numbers[s]), max(float(limits[s]), 0.0))
                lower[at, s] = found.lower
                upper[at, s] = np.where(found.lower > limits[s], inf, found.upper)
    return lower, upper


def nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints) -> None:
    """Better the rows of `gjk3d.robot.walk.clearance_many`, where a pair here is nearer, within ``most``."""
    for span in _spans(len(cell.slots) - len(cell.layout.pairs), len(rows)):
        _nearest(cell, rows[span], most, out[span], which[span])


def _nearest(cell: Cell, rows: Array, most: float, out: Array, which: Ints) -> None:
    best, least = np.minimum(out[:, 0], most), out[:, 1].copy()

    def better(at: Ints, found: Array, p: Ints) -> None:
        """Take what is nearer than what is known: rows as of `solve` at configurations, and their pairs."""
        least[at] = np.minimum(least[at], found[:, 1])
        some = np.flatnonzero((found[:, 0] < best[at]) | ((found[:, 0] == best[at]) & np.isinf(out[at, 0])))
        to = at[some]
        best[to], out[to, :12] = found[some, 0], found[some]
        which[to, 0], which[to, 1] = p[some], -1

    every = np.arange(len(rows))
    for host in cell.hosts:
        found = _tree_gaps(cell, host, rows, np.full(host.last - host.first, inf), best)
        k = found[:, :, 0].argmin(axis=1)
        row = found[every, k]
        row[:, 1] = found[:, :, 1].min(axis=1)
        better(every, row, host.first + k)
    rest = len(cell.slots) - cell.rest
    lower = _gaps(cell, rows, np.full(rest, best.max(initial=0.0))) if rest else np.empty((len(rows), 0))
    for s in np.argsort(lower.min(axis=0, initial=inf), kind="stable").tolist():
        at = np.flatnonzero(lower[:, s] <= best)
        if len(at):
            p = cell.rest + s
            better(at, _rows_of(ask(cell, rows[at], p, max(float(best[at].max()), 0.0))), np.full(len(at), p))
    out[:, 1] = np.where(np.isinf(out[:, 0]), inf, np.minimum(least, out[:, 0]))


def rows_within(cell: Cell, rows: Array, most: Array) -> Iterator[tuple[int, int, Array]]:
    """Yield the pairs that are not farther apart than their ``most``: configuration, pair, and row as of `solve`."""
    for host in cell.hosts:
        limits = most[host.first : host.last]
        for span in _spans(host.last - host.first, len(rows)):
            out = _tree_gaps(cell, host, rows[span], limits)
            for k, s in np.argwhere(~(out[:, :, 1] > limits)).tolist():
                yield span.start + k, host.first + s, out[k, s]
    for p in range(cell.rest, len(cell.slots)):
        for span in _spans(1, len(rows)):
            gaps = _gaps(cell, rows[span], most[p : p + 1], np.array([p - cell.rest]))
            at = span.start + np.flatnonzero(gaps[:, 0] <= most[p])
            found = _rows_of(ask(cell, rows[at], p, max(float(most[p]), 0.0))) if len(at) else gaps
            for k in np.flatnonzero(~(found[:, 1] > most[p])).tolist() if len(at) else ():
                yield int(at[k]), p, found[k]


def ask(cell: Cell, rows: Array, p: int, most: float = inf) -> Distance:
    """Return the signed distance of a pair, a row for each configuration."""
    return two_shapes.signed_distance(*shapes_of(cell, p), *poses_of(cell, rows, p), max_distance=most)


def _rows_of(found: Distance) -> Array:
    """Return answers as rows of `solve`."""
    numbers = np.column_stack([found.distance, found.lower, found.upper])
    return np.hstack([numbers, found.normal, found.point_a, found.point_b])


def shapes_of(cell: Cell, p: int) -> tuple[Any, Any]:
    """Return the shapes of a pair."""
    a, b = cell.slots[p]
    return cell.shapes[a], cell.shapes[b]


def poses_of(cell: Cell, rows: Array, p: int) -> tuple[Array, Array]:
    """Return where the shapes of a pair are, (n, 4, 4) each."""
    links = cell.robot.link_poses(rows)
    a, b = cell.slots[p].tolist()
    return cell.placed(links, a), cell.placed(links, b)
