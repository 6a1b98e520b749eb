"""Queries on many different pairs of convex shapes in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import (
    FACETS,
    check_device,
    check_limits,
    check_margin,
    check_workers,
    convex_mode,
    depth_mode,
    no_shape,
)
from gjk3d.convex.rows import (
    MOST_POINTS,
    NO_CACHE,
    NO_POSE,
    Rows,
    Wanted,
    collide_on_gpu,
    empty_answers,
    in_chunks,
    join_packed,
    order_for_cache,
    solve_on_gpu,
)  # fmt: skip
from gjk3d.convex.solve import convex_handlers, is_mapped, ray_core
from gjk3d.errors import PoseError, ShapeError
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import PAIR, PairRows, Request, collide_many, fill_table, solve_many
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.poses import pose_rows
from gjk3d.results import Distance, Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Device, Indices, Ints, PosesLike


class Memory:
    """The last axis and simplex of each pair of a list. The next query starts from them.

    `Pairs.memory` creates it. Pass it to successive queries of the same pairs in the same order. One memory serves one
    call at a time.
    """

    __slots__ = ("_rows",)
    _rows: Array

    def __init__(self, count: int) -> None:
        self._rows = np.zeros((count, MEMORY))

    def __len__(self) -> int:
        return len(self._rows)

    def forget(self) -> None:
        """Clear the memory; the next query starts cold."""
        self._rows[:, 0] = 0.0


class PairDistance(Distance[Array]):
    """`Distance` of many different pairs; each row has its own two shapes and poses."""

    __slots__ = ("_pairs", "_poses", "_shapes")
    _pairs: Ints
    _poses: Any
    _shapes: Sequence[Shape]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Distance[float]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | list[int] | list[bool] | NDArray[Any]) -> Distance[Array]: ...
    def __getitem__(self, index: Any) -> Distance[Any]:
        """Return the result of a pair, or with a slice, a mask or indices the results of several pairs."""
        row = super().__getitem__(index)
        if isinstance(index, (slice, list, np.ndarray)):
            subset: PairDistance = object.__new__(PairDistance)
            for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
                setattr(subset, name, getattr(row, name))
            subset._pairs, subset._shapes = self._pairs[index], self._shapes
            subset._poses = self._poses[index] if self._poses.ndim == 4 else self._poses
            subset.asked = self.asked
            subset.trace = subset.shape_a = subset.shape_b = subset.pose_a = subset.pose_b = None
            return subset
        i, j = self._pairs[index].tolist()
        row.shape_a, row.shape_b = self._shapes[i], self._shapes[j]
        row.pose_a, row.pose_b = self._poses[index] if self._poses.ndim == 4 else (self._poses[i], self._poses[j])
        return row


class Pairs:
    """Convex shapes, packed once; see `gjk3d.Pairs`, which also accepts non-convex bodies."""

    __slots__ = ("_cache", "_columns", "_floats", "_ints", "_keys", "_singly", "mapped", "planes", "shapes")
    shapes: tuple[Shape, ...]
    planes: NDArray[np.bool_]  #: which of them are half-spaces
    mapped: NDArray[np.bool_]  #: which of them contain a user's support mapping
    _handlers = staticmethod(convex_handlers)  #: for pairs that the kernels for many pairs do not support

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._cache: dict[str, Any] = {}
        if not hasattr(shapes, "__iter__"):
            raise ShapeError(f"shapes is one {type(shapes).__name__}, expected a sequence of shapes")
        self.shapes = tuple(shapes)
        stand_ins = [self._stand_in(f"shapes[{k}]", shape) for k, shape in enumerate(self.shapes)]
        numbers: dict[int, int] = {}
        which = np.array([numbers.setdefault(id(shape), len(numbers)) for shape in self.shapes], dtype=np.int64)
        cores = list({id(shape): core for shape, core in zip(self.shapes, stand_ins, strict=True)}.values())
        self.planes = np.array([shape._kind & Kind.PLANES for shape in self.shapes], dtype=bool)
        self.mapped = np.array([is_mapped(shape) for shape in self.shapes], dtype=bool)
        # solved singly: half-spaces, shapes with a stand-in, and user's functions, whose exceptions must be raised
        has_stand_in = [shape is not core for shape, core in zip(self.shapes, stand_ins, strict=True)]
        self._singly = np.array(has_stand_in, dtype=bool) | self.planes | self.mapped
        # a half-space has no core, so a point on its plane takes its place
        packed = [ray_core(core) for core in cores]
        orders = [Point()._order if core._kind & Kind.PLANES else core._order for core in cores]
        self._ints, self._floats, starts = join_packed(packed)
        self._keys = sorted(set(orders))
        ranks = {key: k for k, key in enumerate(self._keys)}
        rank = np.array([ranks[key] for key in orders], dtype=np.int64)
        self._columns = np.column_stack([starts, rank])[which]

    def _stand_in(self, name: str, shape: Any) -> Shape:
        """Return the shape that the kernels use for ``shape``: here the shape itself."""
        if not isinstance(shape, Shape):
            raise no_shape(name, shape)
        return shape

    @classmethod
    def _of_packed(cls, ints: Ints, floats: Array, singly: NDArray[np.bool_], shapes: Sequence[Shape]) -> Pairs:
        """Return pairs for `_collide_rows` and `_solve_rows` only, of packed shapes without half-spaces.

        ``singly`` marks the shapes with a user's function. Only pairs that are solved singly read ``shapes``.
        """
        pairs: Pairs = object.__new__(cls)
        pairs._cache, pairs._ints, pairs._floats, pairs._singly = {}, ints, floats, singly
        pairs.shapes = shapes  # type: ignore[assignment]
        return pairs

    def _joined(self, other: Pairs) -> Pairs:
        """Return these shapes followed by the shapes of ``other``, without packing them again."""
        merged: Pairs = object.__new__(Pairs)
        merged._cache = {}
        merged.shapes = self.shapes + other.shapes
        merged.planes = np.concatenate([self.planes, other.planes])
        merged.mapped = np.concatenate([self.mapped, other.mapped])
        merged._singly = np.concatenate([self._singly, other._singly])
        merged._ints = np.concatenate([self._ints, other._ints])
        merged._floats = np.concatenate([self._floats, other._floats])
        merged._keys = sorted({*self._keys, *other._keys})
        ranks = {key: k for k, key in enumerate(merged._keys)}
        columns = []
        for part, starts in ((self, (0, 0)), (other, (len(self._ints), len(self._floats)))):
            rank = np.array([ranks[key] for key in part._keys], dtype=np.int64)
            part_columns = part._columns.copy()
            part_columns[:, :2] += starts
            part_columns[:, 2] = rank[part_columns[:, 2]]
            columns.append(part_columns)
        merged._columns = np.concatenate(columns)
        return merged

    def __len__(self) -> int:
        return len(self.shapes)

    def __repr__(self) -> str:
        return f"Pairs of {len(self)} shapes"

    def __reduce__(self) -> Any:
        return type(self), (self.shapes,)

    def memory(self, index_pairs: Indices) -> Memory:
        """Return an empty `Memory` for these pairs, to be passed to successive queries of them.

        Parameters
        ----------
        index_pairs : (m, 2) int
            Indices of the two shapes of each pair.

        Raises
        ------
        ShapeError
            If the argument is not a list of pairs of indices.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pairs, which = gk.Pairs([gk.Sphere(1), gk.Sphere(2)]), [(0, 1)]
        >>> memory, poses = pairs.memory(which), np.tile(np.eye(4), (2, 1, 1))
        >>> for x in (2.0, 3.0, 4.0):
        ...     poses[1, 0, 3] = x
        ...     print(pairs.collide(which, poses, memory=memory))
        [ True]
        [ True]
        [False]
        """
        return Memory(len(self._indices(index_pairs)))

    def collide(
        self,
        index_pairs: Indices,
        poses: PosesLike,
        *,
        margin: float = 0.0,
        workers: int = 1,
        memory: Memory | None = None,
        device: Device = "cpu",
    ) -> NDArray[np.bool_]:
        """Return which pairs touch or overlap, or come within a margin; see `gjk3d.collide`.

        Parameters
        ----------
        index_pairs : (m, 2) int
            Indices of the two shapes of each pair.
        poses : (n, 4, 4) float, or (m, 2, 4, 4) float
            A pose for each of the n shapes, or two poses for each pair.
        margin : float
            As in `gjk3d.collide`.
        workers : int
            Number of threads. The results have the same bits for any number.
        memory : Memory, optional
            Memory of the same pairs in the same order. Booleans are the same with and without it.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`. The CPU solves pairs that the GPU does not support, for example half-spaces. A memory
            works on the CPU only.

        Returns
        -------
        (m,) bool

        Raises
        ------
        ShapeError, PoseError
            For invalid input; the message names the fault.
        """
        check_margin(margin)
        pairs, table, rows, _ = self._question(index_pairs, poses, workers, memory)
        return self._collide_rows(pairs, table, rows, float(margin), workers, memory, _uses_gpu(device, memory))

    def _collide_rows(
        self, pairs: Ints, table: Ints, rows: Array, margin: float, workers: int = 1, memory: Memory | None = None,
        on_gpu: bool = False,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Return `collide` for checked arguments; ``table`` is the result of `_table`."""
        answer = np.empty(len(pairs), dtype=np.int64)
        order_for_cache(table, len(self._ints) + len(self._floats))

        packed, cache = PairRows(self._ints, self._floats, table, rows), _memory_rows(memory)

        def run(start: int, stop: int) -> None:
            simplex = workspace_of(FIRST_POINTS).simplex
            collide_many(packed, NO_POSE, NO_POSE, margin, start, stop, simplex, answer, cache)

        if on_gpu:
            collide_on_gpu(packed, margin, answer)
        else:
            in_chunks(len(pairs), workers, run)
        singly = self._are_singly(pairs)
        for a, b, group, placed in self._by_shapes(pairs, table, rows, np.flatnonzero(singly)):
            answer[group] = self._handlers(a, b).collide(a, b, placed, margin)
        left = np.flatnonzero((answer == 2) & ~singly)  # too close to the margin: the signed distance decides
        if len(left):
            out, _ = self._solve_rows(pairs[left], table[left], rows, narrow.SIGNED, inf, 0.0, workers, None)
            answer[left] = ~(out[:, 1] > margin)
        hits: NDArray[np.bool_] = answer != 0
        return hits

    def distance(
        self,
        index_pairs: Indices,
        poses: PosesLike,
        *,
        max_distance: float = inf,
        tol: float | None = None,
        workers: int = 1,
        memory: Memory | None = None,
        device: Device = "cpu",
    ) -> Distance[Array]:
        """Return the distance of each pair.

        Parameters
        ----------
        index_pairs, poses, workers, memory, device
            As in `collide`.
        max_distance, tol
            As in `gjk3d.distance`.

        Returns
        -------
        Distance
            With m rows; each row has its own two shapes and poses.

        Raises
        ------
        ShapeError, PoseError
            For invalid input; the message names the fault.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pairs = gk.Pairs([gk.Sphere(1), gk.Sphere(2)])
        >>> pairs.distance([(0, 1)], [[np.eye(4), np.eye(4)]]).distance.tolist()
        [0.0]
        """
        return self._query(narrow.UNSIGNED, index_pairs, poses, max_distance, tol, workers, memory, device)

    def signed_distance(
        self,
        index_pairs: Indices,
        poses: PosesLike,
        *,
        depth: Literal["auto", "epa", "tight", "fast"] = "auto",
        max_distance: float = inf,
        tol: float | None = None,
        workers: int = 1,
        memory: Memory | None = None,
        device: Device = "cpu",
    ) -> Distance[Array]:
        """Return the signed distance of each pair: negative if the shapes overlap.

        Parameters
        ----------
        index_pairs, poses, max_distance, tol, workers, memory, device
            As in `distance`.
        depth : str
            "auto", "epa", "tight" or "fast", as in `gjk3d.signed_distance`.

        Returns
        -------
        Distance
            With m rows.

        Raises
        ------
        ShapeError, PoseError
            For invalid input; the message names the fault.
        """
        mode = depth_mode(depth)
        if mode == FACETS:
            raise ShapeError(
                "Pairs: depth='facets' supports one pair of shapes only. Use 'auto', 'epa', 'tight' or 'fast'."
            )
        return self._query(mode, index_pairs, poses, max_distance, tol, workers, memory, device)

    def _query(
        self, mode: int, index_pairs: Indices, poses: PosesLike, max_distance: float, tol: float | None, workers: int,
        memory: Memory | None, device: Device,
    ) -> Distance[Array]:  # fmt: skip
        check_limits(max_distance, tol)
        on_gpu = _uses_gpu(device, memory)
        pairs, table, rows, matrices = self._question(index_pairs, poses, workers, memory)
        width = 0.0 if tol is None else float(tol)
        options = mode, float(max_distance), width, workers, memory, on_gpu
        out, flags = self._solve_rows(pairs, table, rows, *options)
        copied = np.array(matrices, dtype=np.float64)
        return pair_distance(out, flags, pairs, self.shapes, copied, (mode, max_distance, tol, False))

    def _solve_rows(
        self, pairs: Ints, table: Ints, rows: Array, mode: int, max_distance: float, tol: float, workers: int,
        memory: Memory | None, on_gpu: bool = False,
    ) -> tuple[Array, Ints]:  # fmt: skip
        """Return the distances for checked arguments, as rows of `gjk3d.narrow.solve`."""
        out, flags = empty_answers(len(pairs))
        in_kernel = convex_mode(mode)
        order_for_cache(table, len(self._ints) + len(self._floats))

        packed, cache = PairRows(self._ints, self._floats, table, rows), _memory_rows(memory)

        def run(start: int, stop: int, points: int, again: bool) -> None:
            request = Request(in_kernel, max_distance, tol, again)
            solve_many(packed, NO_POSE, NO_POSE, request, start, stop, workspace_of(points), out, flags, cache)

        curved = (self._ints[table[:, 0] + layout.POLYTOPE] & self._ints[table[:, 5] + layout.POLYTOPE]) == 0
        points, again = FIRST_POINTS, False
        if on_gpu:
            solve_on_gpu(packed, Request(in_kernel, max_distance, tol), out, flags)
        else:
            in_chunks(len(pairs), workers, partial(run, points=points, again=again))
        while flags[:, 3].any() and points < MOST_POINTS[True]:
            points, again = 4 * points, True
            in_chunks(len(pairs), workers, partial(run, points=points, again=again))
            if points >= MOST_POINTS[False]:
                flags[curved, 3] = 0  # EPA does not terminate on curved shapes, so more vertices do not help
        # half-spaces and the like, and the few rows that may need the exact stage
        singly = self._are_singly(pairs)
        if tol == 0.0:
            singly |= (flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND) & ~curved
        for a, b, group, placed in self._by_shapes(pairs, table, rows, np.flatnonzero(singly)):
            answers, marks = empty_answers(len(group))
            convex = isinstance(a, Shape) and isinstance(b, Shape)
            wanted = Wanted(in_kernel if convex else mode, max_distance, tol)
            self._handlers(a, b).solve(a, b, placed, wanted, answers, marks)
            out[group], flags[group] = answers, marks
        return out, flags

    def _are_singly(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return which pairs are solved singly."""
        if not self._singly.any():
            return np.zeros(len(pairs), dtype=bool)
        return self._singly[pairs[:, 0]] | self._singly[pairs[:, 1]]

    def _by_shapes(self, pairs: Ints, table: Ints, rows: Array, which: Ints) -> Iterator[tuple[Any, Any, Ints, Rows]]:
        """Yield the pairs of ``which`` grouped by their two shapes: the shapes, the pairs, and their poses."""
        if not len(which):
            return
        order = which[np.lexsort((pairs[which, 1], pairs[which, 0]))]
        begins = np.flatnonzero((np.diff(pairs[order], axis=0, prepend=-1) != 0).any(axis=1)).tolist()
        for start, stop in zip(begins, [*begins[1:], len(order)], strict=False):
            group = order[start:stop]
            a, b = (self.shapes[number] for number in pairs[group[0]].tolist())
            yield a, b, group, Rows(rows[table[group, 3]], rows[table[group, 8]], len(group), True)

    def _indices(self, index_pairs: Indices) -> Ints:
        pairs = np.asarray(index_pairs)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(f"index_pairs has shape {pairs.shape} and dtype {pairs.dtype}, expected (m, 2) integers")
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < len(self.shapes)):
            k = int(((pairs < 0) | (pairs >= len(self.shapes))).any(axis=1).argmax())
            raise ShapeError(f"index_pairs[{k}] is {pairs[k].tolist()}, but there are {len(self.shapes)} shapes")
        return pairs.astype(np.int64)

    def _question(
        self, index_pairs: Indices, poses: PosesLike, workers: int, memory: Memory | None
    ) -> tuple[Ints, Ints, Array, Array]:
        """Check the arguments; return pairs, their rows for the kernels, pose rows and matrices."""
        check_workers(workers)
        pairs = self._indices(index_pairs)
        if self.planes.any():
            for k in np.flatnonzero(self.planes[pairs].all(axis=1))[:1]:
                self._handlers(*(self.shapes[i] for i in pairs[k]))  # raises for two half-spaces
        matrices = np.asarray(poses)
        if matrices.ndim == 4 and matrices.shape[1:2] == (2,):
            if len(matrices) != len(pairs):
                raise ShapeError(f"poses has {len(matrices)} rows of two poses, but there are {len(pairs)} index_pairs")
            try:
                rows, _ = pose_rows(matrices.reshape(2 * len(pairs), *matrices.shape[2:]), "poses")
            except PoseError:
                for i in range(2):  # names the side
                    pose_rows(matrices[:, i], f"poses[:, {i}]")
                raise
            at = np.arange(2 * len(pairs)).reshape(-1, 2)
        else:
            if matrices.ndim == 3 and len(matrices) != len(self.shapes):
                raise ShapeError(
                    f"poses has {len(matrices)} rows, but there are {len(self.shapes)} shapes. Pass one pose per "
                    "shape, (n, 4, 4), or two per pair, (m, 2, 4, 4)."
                )
            rows, stacked = pose_rows(matrices, "poses")
            if not stacked:
                raise ShapeError(f"poses has shape {matrices.shape}, expected (n, 4, 4), or (m, 2, 4, 4) for each pair")
            at = pairs
        if memory is not None and len(memory) != len(pairs):
            raise ShapeError(f"memory is of {len(memory)} pairs, but there are {len(pairs)}")
        return pairs, self._table(pairs, at), rows, matrices

    @property
    def _arena(self) -> tuple[Ints, Array]:
        """All distinct shapes, concatenated, see `gjk3d.shapes.layout`."""
        return self._ints, self._floats

    def _starts(self, which: Ints) -> Ints:
        """Return where shapes begin in the two arrays of `_arena`."""
        return self._columns[which, :2]

    def _table(self, pairs: Ints, at: Ints) -> Ints:
        """Return the pair rows of shapes at pose rows, see `gjk3d.narrow.pairs`."""
        table = np.empty((len(pairs), PAIR), dtype=np.int64)
        fill_table(self._columns, np.ascontiguousarray(pairs), np.ascontiguousarray(at), table)
        return table


def pair_distance(
    out: Array, flags: Ints, pairs: Ints, shapes: Sequence[Shape], poses: Array, request: Any
) -> PairDistance:
    """Return rows of `Pairs._solve_rows` as a result; ``poses`` has one pose per shape, or two per pair."""
    result: PairDistance = object.__new__(PairDistance)
    result._pairs, result._shapes, result._poses = pairs, shapes, poses
    result.shape_a = result.shape_b = result.pose_a = result.pose_b = result.trace = None
    result.asked = request
    result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
    result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
    result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
    return result


def _uses_gpu(device: Device, memory: Memory | None) -> bool:
    """Return whether the GPU is requested; raise if a memory is passed as well."""
    use_gpu = check_device(device)
    if use_gpu and memory is not None:
        raise ShapeError("device='cuda' does not support a memory. Use device='cpu' with memory=.")
    return use_gpu


def _memory_rows(memory: Memory | None) -> Array:
    return NO_CACHE if memory is None else memory._rows
