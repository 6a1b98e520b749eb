"""Input and output of the kernels: shapes packed into two arrays, poses as rows, and the canonical order of A and B."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.narrow.solve import FLOATS, INTS
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, new_workspace, per_thread
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints


class Rows(NamedTuple):
    """Poses of a checked query as rows for kernels, their number, and whether the caller passed a stack."""

    a: Array
    b: Array
    total: int
    stacked: bool
    workers: int = 1
    on_gpu: bool = False  #: the GPU solves the rows that it supports
    joined: Array | None = None  #: the rows of A, then those of B, if they are in one array

    def swapped(self) -> Rows:
        """Return the rows with A and B exchanged."""
        return self.at(self.b, self.a)

    def at(self, a: Array, b: Array, total: int | None = None) -> Rows:
        """Return the same query at other poses."""
        return Rows(a, b, self.total if total is None else total, self.stacked, self.workers, self.on_gpu)

    def joined_poses(self) -> Array:
        """Return the rows of A, then those of B."""
        return np.concatenate([self.a, self.b]) if self.joined is None else self.joined


class Wanted(NamedTuple):
    """Request for distances: a mode of `gjk3d.narrow.solve` or `FACETS`, and the limits at which the solver stops."""

    mode: int
    max_distance: float = inf
    tol: float = 0.0
    log: list[Array] | None = None  #: its item 0 receives the steps of the solver
    normals: bool = True  #: False if only the bounds are needed for bodies that intersect


def empty_answers(count: int) -> tuple[Array, Ints]:
    """Return uninitialised rows for results and zeroed rows for their flags, see `gjk3d.narrow.solve`."""
    return np.empty((count, FLOATS)), np.zeros((count, INTS), dtype=np.int64)


def answers_of(result: Any, count: int) -> Array:
    """Return a `gjk3d.results.Distance` as rows of `gjk3d.narrow.solve`."""
    answers = np.empty((count, FLOATS))
    answers[:, 0], answers[:, 1], answers[:, 2] = result.distance, result.lower, result.upper
    answers[:, 3:6], answers[:, 6:9], answers[:, 9:12] = result.normal, result.point_a, result.point_b
    return answers


solver = per_thread(lambda: Solver(new_workspace(FIRST_POINTS), *empty_answers(1)))


def ranks(a: Shape, b: Shape) -> tuple[int, int]:
    """Return the ranks that decide the order of two shapes in the kernels; for equal ranks the poses decide.

    With this order the result of (b, a) has the bits of the mirrored result of (a, b).
    """
    first, second = a._order, b._order
    return int(first > second), int(first < second)


def pack_shapes(shapes: Sequence[Shape]) -> tuple[Ints, Array, Ints]:
    """Return the concatenated ints and floats of shapes, and the two indices at which each shape begins."""
    return join_packed([shape._packed for shape in shapes])


def join_packed(packed: Sequence[tuple[Ints, Array]]) -> tuple[Ints, Array, Ints]:
    """Return packed shapes concatenated, in the form of `pack_shapes`."""
    ints = np.concatenate([q for q, _ in packed] or [np.zeros(0, dtype=np.int64)])
    floats = np.concatenate([f for _, f in packed] or [np.zeros(0)])
    starts = list(accumulate(packed, lambda at, shape: (at[0] + len(shape[0]), at[1] + len(shape[1])), initial=(0, 0)))
    return ints, floats, np.array(starts[:-1], dtype=np.int64).reshape(-1, 2)


def later(rows: Rows) -> tuple[Array, Array, Bools]:
    """Return the poses of A and of B row by row, and the rows with a lexicographically greater pose of A."""
    first, second = np.broadcast_arrays(rows.a, rows.b)
    differ = first != second
    column = differ.argmax(axis=1)
    every = np.arange(rows.total)
    return first, second, differ.any(axis=1) & (first[every, column] > second[every, column])


def canonical(a: Shape, b: Shape, rows: Rows) -> tuple[Shape, Shape, Rows, Any]:
    """Return shapes and poses in the order of `ranks`, and which rows were swapped: True, False or a mask."""
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
    """Convert the results of (b, a) to results of (a, b) in the swapped rows of ``out``, and return ``out``."""
    if which is False:
        return out
    chosen = slice(None) if which is True else which
    out[chosen, 3:6] = 0.0 - out[chosen, 3:6]
    points = out[chosen, 6:12].copy()
    out[chosen, 6:9], out[chosen, 9:12] = points[:, 3:], points[:, :3]
    return out


def select_rows(rows: Array, which: Ints) -> Array:
    """Return the selected rows of poses, or the single row if it is for all queries."""
    return rows[which] if len(rows) > 1 else rows
