"""Batches of convex shapes: packed shapes, pose rows, and many pairs in one call.

The kernels expect shapes packed into two arrays, poses as rows, and A and B in a canonical order. Many pairs are solved
in chunks, on threads or the GPU. Pairs whose scratch memory was too small are solved again with more.

`solve_batch` and `collide_batch` accept pairs as rows for the kernels. `PackedShapes` also solves pairs that the
kernels do not support, and pairs that need exact arithmetic. For these pairs it calls the Python functions for two
shapes, see `gjk3d.convex.solve.Handlers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.checks import convex_mode
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.solve import FLOATS, INTS, TURN, PairRows, Request, collide_many, solve_many
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, new_workspace, per_thread, workspace_of
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

# --- rows ------------------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """The poses of a checked query as rows for the kernels, and settings of the query."""

    a: Array  #: pose rows of A, one for each query, or a single row for all
    b: Array
    total: int  #: number of queries
    stacked: bool  #: whether the caller passed a stack of poses
    workers: int = 1
    on_gpu: bool = False  #: the GPU solves the rows that it supports
    joined: Array | None = None  #: the rows of A, then those of B, if they are in a single array

    def swapped(self) -> Rows:
        """Return the query with A and B exchanged."""
        return self.at(self.b, self.a)

    def at(self, a: Array, b: Array, total: int | None = None) -> Rows:
        """Return the query at other poses. ``total`` is the number of queries if it changes."""
        return Rows(a, b, self.total if total is None else total, self.stacked, self.workers, self.on_gpu)

    def joined_poses(self) -> Array:
        """Return the rows of A, then those of B, in a single array."""
        return np.concatenate([self.a, self.b]) if self.joined is None else self.joined


class Wanted(NamedTuple):
    """The settings of a query for distances."""

    mode: int  #: a mode of `gjk3d.narrow.solve`, `FACETS` or `FAST`
    max_distance: float = inf
    tol: float = 0.0
    log: list[Array] | None = None  #: a list whose item 0 is replaced by the log of the solver
    normals: bool = True  #: False if bodies that intersect need only bounds


def empty_answers(count: int) -> tuple[Array, Ints]:
    """Return uninitialised rows for results and zeroed rows for their flags, see `gjk3d.narrow.solve`."""
    return np.empty((count, FLOATS)), np.zeros((count, INTS), dtype=np.int64)


def answers_of(result: Any, count: int) -> Array:
    """Return a `gjk3d.results.Distance` of ``count`` pairs as result rows of the kernels, see `gjk3d.narrow.solve`."""
    answers = np.empty((count, FLOATS))
    answers[:, 0], answers[:, 1], answers[:, 2] = result.distance, result.lower, result.upper
    answers[:, 3:6], answers[:, 6:9], answers[:, 9:12] = result.normal, result.point_a, result.point_b
    return answers


solver = per_thread(lambda: Solver(new_workspace(FIRST_POINTS), *empty_answers(1)))


def ranks(a: Shape, b: Shape) -> tuple[int, int]:
    """Return the ranks of A and B, 0 or 1. Kernels solve the shape of lower rank as A.

    If the ranks are equal, the order of the poses decides. With this order the result of (b, a) is bit for bit the
    mirrored result of (a, b).
    """
    first, second = a._order, b._order
    return int(first > second), int(first < second)


def pack_shapes(shapes: Sequence[Shape]) -> tuple[Ints, Array, Ints]:
    """Return the joined integers and floats of shapes, and the indices (n, 2) in both at which each shape begins."""
    return join_packed([shape._packed for shape in shapes])


def join_packed(packed: Sequence[tuple[Ints, Array]]) -> tuple[Ints, Array, Ints]:
    """Return the joined integers and floats of packed shapes, and the indices (n, 2) at which each shape begins.

    ``packed`` contains the integers and the floats of each shape.
    """
    ints = np.concatenate([q for q, _ in packed] or [np.zeros(0, dtype=np.int64)])
    floats = np.concatenate([f for _, f in packed] or [np.zeros(0)])
    starts = list(accumulate(packed, lambda at, shape: (at[0] + len(shape[0]), at[1] + len(shape[1])), initial=(0, 0)))
    return ints, floats, np.array(starts[:-1], dtype=np.int64).reshape(-1, 2)


def later(rows: Rows) -> tuple[Array, Array, Bools]:
    """Return pose rows of A and of B for all queries, and where the row of A is lexicographically greater than B's."""
    first, second = np.broadcast_arrays(rows.a, rows.b)
    differ = first != second
    column = differ.argmax(axis=1)
    every = np.arange(rows.total)
    return first, second, differ.any(axis=1) & (first[every, column] > second[every, column])


def canonical(a: Shape, b: Shape, rows: Rows) -> tuple[Shape, Shape, Rows, Any]:
    """Return A, B and their poses in the order in which the kernels solve them, and which queries were swapped.

    The shape of lower rank comes first (see `ranks`), for equal ranks the lower pose row. The last value is True for
    all queries, False for none, or a mask.
    """
    rank_a, rank_b = ranks(a, b)
    if rank_a < rank_b:
        return a, b, rows, False
    if rank_a > rank_b:
        return b, a, rows.swapped(), True
    if rows.total == 1:
        if rows.a[0].tolist() <= rows.b[0].tolist():
            return a, b, rows, False
        return b, a, rows.swapped(), True
    first, second, mask = later(rows)
    low, high = np.where(mask[:, None], second, first), np.where(mask[:, None], first, second)
    return a, b, rows.at(low, high), mask


def mirror(out: Array, which: Any) -> Array:
    """Convert results of (b, a) to results of (a, b) in the rows ``which`` of ``out``, and return ``out``.

    ``which`` is True for all rows, False for none, or a mask or indices.
    """
    if which is False:
        return out
    chosen = slice(None) if which is True else which
    out[chosen, 3:6] = 0.0 - out[chosen, 3:6]
    points = out[chosen, 6:12].copy()
    out[chosen, 6:9], out[chosen, 9:12] = points[:, 3:], points[:, :3]
    return out


def select_rows(rows: Array, which: Ints) -> Array:
    """Return the pose rows of the queries ``which``, or the single row if it belongs to all queries."""
    return rows[which] if len(rows) > 1 else rows


# --- many pairs in one call ------------------------------------------------------------------------------------------


NO_CACHE = np.empty((0, MEMORY))
NO_POSE = np.empty((0, 4))
_CHUNK = 4096  #: greatest number of rows in a call of a kernel, so that Ctrl-C takes effect between two calls
_LEAST = 64  #: least number of rows for a thread
_CACHE = 1 << 17  #: numbers that fit into the cache of a core
_BLOCK = _CACHE // 4  #: numbers of shapes B in a block; a shape A, poses and results use the rest of the cache
_WORTH = 256  #: numbers of shapes per pair, above which hardly any shape would be used again from the cache
#: greatest numbers of EPA's vertices: on polytopes EPA ends before, and on curved shapes more vertices do not help
MOST_POINTS, MOST_CURVED_POINTS = 65536, 1024


def either(kinds: Bools, which: Ints) -> Bools:
    """Return which pairs have a shape for which ``kinds`` is True. ``which`` has the indices of each pair's shapes."""
    return np.asarray(kinds[which[:, 0]] | kinds[which[:, 1]])


def in_chunks(total: int, workers: int, task: Callable[[int, int], Any], most: int = _CHUNK) -> None:
    """Call ``task(start, stop)`` for chunks of ``total`` rows, on ``workers`` threads. Kernels release the GIL.

    A chunk has at most ``most`` rows.
    """
    chunk = max(min(_LEAST, most), min(most, -(-total // (4 * workers)))) if workers > 1 else most
    if workers == 1 or total <= chunk:
        for start in range(0, total, chunk):
            task(start, min(start + chunk, total))
        return
    spans = [(start, min(start + chunk, total)) for start in range(0, total, chunk)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(workers, len(spans))) as pool:
        try:
            for future in [pool.submit(task, *span) for span in spans]:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def order_for_cache(table: Ints, numbers: int) -> None:
    """Write an order of pairs to column TURN of ``table``, in which consecutive pairs use shapes that are in the cache.

    ``numbers`` is the length of the packed arrays. Pairs are ordered by blocks of shapes B that fit into the cache,
    then by A. Small and very large sets of shapes keep their order. Results do not depend on the order.
    """
    table[:, TURN] = 0
    if _CACHE < numbers < _WORTH * len(table):
        where = np.argsort((table[:, 6] // _BLOCK) * numbers + table[:, 1])
        table[:, TURN] = where - np.arange(len(table))


def collide_batch(
    pairs: PairRows, total: int, margin: float, workers: int = 1, on_gpu: bool = False, cache: Array = NO_CACHE
) -> Ints:
    """Return whether two shapes are within ``margin``, for each of ``total`` queries: 0 no, 1 yes, 2 undecided.

    Only the signed distance can decide a query with the result 2.
    """
    answer = np.empty(total, dtype=np.int64)

    def run(start: int, stop: int) -> None:
        simplex = workspace_of(FIRST_POINTS).simplex
        collide_many(pairs, NO_POSE, NO_POSE, margin, start, stop, simplex, answer, cache)

    if on_gpu:
        from gjk3d._kernels.gpu import Output, PerThread  # loads numba-cuda
        from gjk3d._kernels.gpu import run as run_on_gpu

        simplex = PerThread(workspace_of(FIRST_POINTS).simplex)
        run_on_gpu(collide_many, (pairs, NO_POSE, NO_POSE, margin, 0, total, simplex, Output(answer), NO_CACHE))
    else:
        in_chunks(total, workers, run)
    return answer


def solve_batch(
    pairs: PairRows, request: Request, curved: Bools | slice, out: Array, flags: Ints, workers: int = 1,
    on_gpu: bool = False, cache: Array = NO_CACHE,
) -> None:  # fmt: skip
    """Write the distances of all queries to ``out`` and ``flags``, in the format of `gjk3d.narrow.solve.solve_many`.

    Queries whose scratch memory is too small are solved again with more. ``curved`` selects the queries that do not
    consist of two polytopes. They get less memory.
    """

    def run(start: int, stop: int, points: int, request: Request) -> None:
        solve_many(pairs, NO_POSE, NO_POSE, request, start, stop, workspace_of(points), out, flags, cache)

    if on_gpu:
        _solve_on_gpu(pairs, request, out, flags)
    else:
        in_chunks(len(out), workers, partial(run, points=FIRST_POINTS, request=request))
    points = FIRST_POINTS
    while points < MOST_POINTS and flags[:, 3].any():
        points *= 4
        in_chunks(len(out), workers, partial(run, points=points, request=request._replace(again=True)))
        if points >= MOST_CURVED_POINTS:
            flags[curved, 3] = 0


def _solve_on_gpu(pairs: PairRows, request: Request, out: Array, flags: Ints) -> None:
    from gjk3d._kernels.gpu import Output, PerThread, run

    workspace = PerThread(workspace_of(FIRST_POINTS))
    arguments = pairs, NO_POSE, NO_POSE, request, 0, len(out), workspace, Output(out), Output(flags), NO_CACHE
    run(solve_many, arguments)
    if request.tol == 0.0:  # the CPU solves rows with wide intervals again
        flags[(flags[:, 2] == 0) & (flags[:, 0] != narrow.BEYOND), 3] = 1


class PackedShapes:
    """Shapes that are packed one after another, and queries on many pairs of them.

    The methods have common arguments. ``which`` contains the indices of the two shapes of each pair, ``table`` the rows
    of the pairs for the kernels, and ``rows`` the pose rows. The attribute ``singly`` marks the shapes that the kernels
    do not support. Pairs with such a shape are solved by the Python functions that ``handlers(a, b)`` returns. These
    functions also solve pairs of polytopes by exact arithmetic if the kernels leave the bounds too far apart.
    """

    __slots__ = ("floats", "handlers", "ints", "shapes", "singly")

    def __init__(self, ints: Ints, floats: Array, singly: Bools, shapes: Sequence[Any], handlers: Any) -> None:
        self.ints, self.floats, self.singly, self.shapes, self.handlers = ints, floats, singly, shapes, handlers

    def collide(
        self, which: Ints, table: Ints, rows: Array, margin: float, workers: int = 1, on_gpu: bool = False,
        cache: Array = NO_CACHE,
    ) -> Bools:  # fmt: skip
        """Return which pairs collide: those that are not proven to be farther apart than ``margin``."""
        order_for_cache(table, len(self.ints) + len(self.floats))
        singly = either(self.singly, which)
        alone = singly.nonzero()[0]
        if len(alone) < len(which):
            pairs = PairRows(self.ints, self.floats, table, rows)
            answer = collide_batch(pairs, len(which), margin, workers, on_gpu, cache)
        else:
            answer = np.empty(len(which), dtype=np.int64)
        if len(alone):
            self.collide_singly(which, table, rows, alone, margin, workers, answer)
        unsure = ((answer == 2) & ~singly).nonzero()[0]  # too close to the margin: the signed distance decides
        if len(unsure):
            out, _ = self.solve(which[unsure], table[unsure], rows, Wanted(narrow.SIGNED), workers)
            answer[unsure] = ~(out[:, 1] > margin)
        return np.asarray(answer != 0)

    def solve(
        self, which: Ints, table: Ints, rows: Array, wanted: Wanted, workers: int = 1, on_gpu: bool = False,
        cache: Array = NO_CACHE,
    ) -> tuple[Array, Ints]:  # fmt: skip
        """Return the distances of pairs as result rows and their flags, see `gjk3d.narrow.solve`."""
        out, flags = empty_answers(len(which))
        order_for_cache(table, len(self.ints) + len(self.floats))
        curved = (self.ints[table[:, 0] + layout.POLYTOPE] & self.ints[table[:, 5] + layout.POLYTOPE]) == 0
        mode = convex_mode(wanted.mode)
        request = Request(mode, wanted.max_distance, wanted.tol)
        singly = either(self.singly, which)
        if not singly.all():
            pairs = PairRows(self.ints, self.floats, table, rows)
            solve_batch(pairs, request, curved, out, flags, workers, on_gpu, cache)
        if wanted.tol == 0.0:
            singly |= (flags[:, 2] == 0) & (flags[:, 0] != narrow.BEYOND) & ~curved
        self.solve_singly(which, table, rows, singly.nonzero()[0], wanted, out, flags)
        return out, flags

    def collide_singly(
        self, which: Ints, table: Ints, rows: Array, some: Ints, margin: float, workers: int, answer: Ints
    ) -> None:
        """Write to ``answer[some]`` whether these pairs collide, as computed by the handlers."""
        for a, b, group, placed in self.by_shapes(which, table, rows, some):
            answer[group] = self.handlers(a, b).collide(a, b, placed, margin)

    def solve_singly(
        self, which: Ints, table: Ints, rows: Array, some: Ints, wanted: Wanted, out: Array, flags: Ints
    ) -> None:
        """Write to ``out[some]`` and ``flags[some]`` the distances of these pairs, computed by the handlers."""
        for a, b, group, placed in self.by_shapes(which, table, rows, some):
            answers, marks = empty_answers(len(group))
            convex = isinstance(a, Shape) and isinstance(b, Shape)
            request = wanted._replace(mode=convex_mode(wanted.mode)) if convex else wanted
            self.handlers(a, b).solve(a, b, placed, request, answers, marks)
            out[group], flags[group] = answers, marks

    def by_shapes(self, which: Ints, table: Ints, rows: Array, some: Ints) -> Iterator[tuple[Any, Any, Ints, Rows]]:
        """Yield groups of pairs with the same two shapes: both shapes, the indices of the pairs, and their poses.

        Only the pairs with the indices ``some`` are grouped.
        """
        if not len(some):
            return
        order = some[np.lexsort((which[some, 1], which[some, 0]))]
        begins = (np.diff(which[order], axis=0, prepend=-1) != 0).any(axis=1).nonzero()[0].tolist()
        for start, stop in zip(begins, [*begins[1:], len(order)], strict=False):
            group = order[start:stop]
            a, b = (self.shapes[number] for number in which[group[0]].tolist())
            yield a, b, group, Rows(rows[table[group, 3]], rows[table[group, 8]], len(group), True)
