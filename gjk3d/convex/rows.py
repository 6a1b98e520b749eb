"""What the kernels take: shapes in one arena, poses as rows, scratch, and many rows in chunks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import TURN, collide_many, solve_many
from gjk3d.narrow.room import workspace
from gjk3d.narrow.solve import FLOATS, INTS
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

NO_LOG = np.empty(0)
NO_CACHE = np.empty((0, MEMORY))
NO_POSE = np.empty((0, 4))
_CHUNK = 4096  #: most rows a call into the kernels, so that Ctrl-C is heard between two
_LEAST = 64  #: rows that are worth a thread
_CACHE = 1 << 17  #: numbers that fit into a processor's own cache
_BLOCK = _CACHE // 4  #: those of them that are left to shapes B, besides an A, poses and answers
_WORTH = 256  #: numbers of shapes a pair, above which hardly any of them would be met again
FIRST_POINTS = 64  #: vertices of EPA's polytope that the first workspace has room for
MOST_POINTS = {True: 65536, False: 1024}  #: by whether both are polytopes, where EPA is finite
_local = threading.local()


class Rows(NamedTuple):
    """A checked question: poses as kernel rows, how many, and whether the caller passed a stack."""

    a: Array
    b: Array
    total: int
    stacked: bool
    workers: int = 1
    on_card: bool = False  #: a graphics card answers what it can

    def behind_each_other(self) -> Array:
        """Return the rows of A, then those of B."""
        whole = self.a.base
        if whole is not None and whole is self.b.base and len(whole) == len(self.a) + len(self.b):
            rows: Array = whole
            if self.a.ctypes.data == rows.ctypes.data:
                return rows
        return np.concatenate([self.a, self.b])


class Wanted(NamedTuple):
    """What is asked of distances: a mode of `gjk3d.narrow.solve` or `FACETS`, and when an answer is good enough."""

    mode: int
    max_distance: float = inf
    tol: float = 0.0
    log: list[Array] | None = None  #: the steps of the solver are put in its place 0
    normals: bool = True  #: False if of two bodies that meet only the bounds count


def empty_answers(count: int) -> tuple[Array, Ints]:
    """Return rows for answers and for their flags, see `gjk3d.narrow.solve`."""
    return np.empty((count, FLOATS)), np.zeros((count, INTS), dtype=np.int64)


def scratch(room: int) -> tuple[Array, Ints, Array]:
    """Return this thread's scratch for polytopes of that many vertices, and for a simplex; large ones are not kept."""
    kept: dict[int, tuple[Array, Ints, Array]] = _local.__dict__.setdefault("scratch", {})
    if room not in kept:
        floats, ints = workspace(room)
        fresh = (np.empty(floats), np.empty(ints, np.int64), np.empty((6, 10)))
        if room > 1024:
            return fresh
        kept[room] = fresh
    return kept[room]


def in_chunks(total: int, workers: int, task: Callable[[int, int], Any], most: int = _CHUNK) -> None:
    """Call ``task(start, stop)`` over all rows, on several threads where asked; kernels let go of the interpreter."""
    chunk = max(min(_LEAST, most), min(most, -(-total // (4 * workers)))) if workers > 1 else most
    spans = [(start, min(start + chunk, total)) for start in range(0, total, chunk)]
    if workers == 1 or len(spans) <= 1:
        for span in spans:
            task(*span)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(workers, len(spans))) as pool:
        try:
            for future in [pool.submit(task, *span) for span in spans]:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def ranks(a: Shape, b: Shape) -> tuple[int, int]:
    """Return the order the kernels see two shapes in: equal where only their poses can tell."""
    return int(a._order > b._order), int(a._order < b._order)


def arena(shapes: Sequence[Shape]) -> tuple[Ints, Array, Ints]:
    """Put shapes behind each other; return ints, floats, and for each shape where it begins in either."""
    return arena_of([shape._packed for shape in shapes])


def arena_of(packed: Sequence[tuple[Ints, Array]]) -> tuple[Ints, Array, Ints]:
    """Do as `arena` does with what is packed."""
    ints = np.concatenate([q for q, _ in packed] or [np.zeros(0, dtype=np.int64)])
    floats = np.concatenate([f for _, f in packed] or [np.zeros(0)])
    starts = list(accumulate(packed, lambda at, each: (at[0] + len(each[0]), at[1] + len(each[1])), initial=(0, 0)))
    return ints, floats, np.array(starts[:-1], dtype=np.int64).reshape(-1, 2)


def pair_row(a: Shape, b: Shape, starts: Ints, poses_a: int, poses_b: int) -> Ints:
    """Return the one row that asks two shapes in an arena at poses that lie behind each other, see `narrow.pairs`."""
    first, second = ranks(a, b)
    return np.array(
        [[*starts[0], first, 0, int(poses_a > 1), *starts[1], second, poses_a, int(poses_b > 1), 0]], dtype=np.int64
    )


def take_turns(table: Ints, numbers: int) -> None:
    """Give each of many pairs its turn: where shapes are large, those of like shapes one after the other.

    ``numbers`` is how many lie in the arena. What one question brings into the processor's cache serves the next: a
    block of shapes B that fits in there, and with it each shape A in turn. Answers do not depend on it.
    """
    table[:, TURN] = 0
    if _CACHE < numbers < _WORTH * len(table):
        where = np.argsort((table[:, 6] // _BLOCK) * numbers + table[:, 1])
        table[:, TURN] = where - np.arange(len(table))


def later(rows: Rows) -> tuple[Array, Array, Bools]:
    """Return the poses of A and of B row by row, and in which rows A's comes after B's, number by number."""
    first, second = np.broadcast_arrays(rows.a, rows.b)
    differ = first != second
    column = differ.argmax(axis=1)
    each = np.arange(rows.total)
    return first, second, differ.any(axis=1) & (first[each, column] > second[each, column])


def canonical(a: Shape, b: Shape, rows: Rows) -> tuple[Shape, Shape, Rows, Any]:
    """Put every row into the order of `ranks`; return which were exchanged: True, False or a mask."""
    rank_a, rank_b = ranks(a, b)
    if rank_a < rank_b:
        return a, b, rows, False
    if rank_a > rank_b:
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    if rows.total == 1:
        if rows.a[0].tolist() <= rows.b[0].tolist():
            return a, b, rows, False
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    first, second, mask = later(rows)
    low, high = np.where(mask[:, None], second, first), np.where(mask[:, None], first, second)
    return a, b, rows._replace(a=low, b=high), mask


def mirror(out: Array, which: Any) -> None:
    """Turn answers of (b, a) into answers of (a, b) in the rows exchanged."""
    if which is False:
        return
    chosen = slice(None) if which is True else which
    out[chosen, 3:6] = 0.0 - out[chosen, 3:6]
    points = out[chosen, 6:12].copy()
    out[chosen, 6:9], out[chosen, 9:12] = points[:, 3:], points[:, :3]


def take(rows: Array, which: Ints) -> Array:
    """Return the poses of some questions, where each has its own."""
    return rows[which] if len(rows) > 1 else rows


def collide_on_gpu(ints: Ints, floats: Array, table: Ints, poses: Array, margin: float, answer: Ints) -> None:
    """Fill ``answer`` as `collide_many` does, for every row of it."""
    from gjk3d._kernels.gpu import Back, Own, run  # numba-cuda is loaded where it is asked for

    own = Own(scratch(FIRST_POINTS)[2])
    asked = ints, floats, table, NO_POSE, NO_POSE, poses, margin, 0, len(answer), own, Back(answer), NO_CACHE
    run(collide_many, asked)


def solve_on_gpu(ints: Ints, floats: Array, table: Ints, poses: Array, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Fill ``out`` and ``flags`` as `solve_many` does, for every row of them."""
    from gjk3d._kernels.gpu import Back, Own, run

    mode, most, tol, _ = wanted[:4]
    work, places, _ = scratch(FIRST_POINTS)
    run(
        solve_many,
        (
            ints, floats, table, NO_POSE, NO_POSE, poses, mode, most, tol, 0, len(out), False, Own(work), Own(places),
            FIRST_POINTS, Back(out), Back(flags), NO_CACHE, NO_LOG,
        ),
    )  # fmt: skip
    if tol == 0.0:  # what is wider than promised is asked again, as what was too large for the workspace
        flags[(flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND), 3] = 1
