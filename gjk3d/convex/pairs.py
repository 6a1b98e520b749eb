"""Many different pairs of shapes, answered in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex import card
from gjk3d.convex.checks import FACETS, check_device, check_limits, check_margin, check_workers, depth_mode, no_shape
from gjk3d.convex.rows import (
    FIRST_POINTS,
    MOST_POINTS,
    NO_CACHE,
    NO_LOG,
    NO_POSE,
    Rows,
    Wanted,
    arena_of,
    empty_answers,
    in_chunks,
    scratch,
    take_turns,
)  # fmt: skip
from gjk3d.convex.solve import is_mapped, plane_core, way
from gjk3d.errors import PoseError, ShapeError
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.pairs import PAIR, collide_many, fill_table, solve_many
from gjk3d.poses import pose_rows
from gjk3d.results import Distance, Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Device, Indices, Ints, PosesLike


class Memory:
    """What a list of pairs leaves for the next time it is asked about: an axis and a simplex each.

    Made by `Pairs.memory`; handed to the queries of the same pairs in the same order, step by step. One memory is for
    one call at a time.
    """

    __slots__ = ("_rows",)
    _rows: Array

    def __init__(self, count: int) -> None:
        self._rows = np.zeros((count, MEMORY))

    def __len__(self) -> int:
        return len(self._rows)

    def forget(self) -> None:
        """Drop everything: the next question is asked afresh."""
        self._rows[:, 0] = 0.0


class PairDistance(Distance[Array]):
    """`Distance` of many different pairs; a row of it knows its own two shapes and poses."""

    __slots__ = ("_pairs", "_poses", "_shapes")
    _pairs: Ints
    _poses: Any
    _shapes: Sequence[Shape]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Distance[float]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | list[int] | list[bool] | NDArray[Any]) -> Distance[Array]: ...
    def __getitem__(self, index: Any) -> Distance[Any]:
        """Return one pair's answer, or with a slice, mask or indices those of several."""
        row = super().__getitem__(index)
        if isinstance(index, (slice, list, np.ndarray)):
            some: PairDistance = object.__new__(PairDistance)
            for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
                setattr(some, name, getattr(row, name))
            some._pairs, some._shapes = self._pairs[index], self._shapes
            some._poses = self._poses[index] if self._poses.ndim == 4 else self._poses
            some.asked = self.asked
            some.trace = some.shape_a = some.shape_b = some.pose_a = some.pose_b = None
            return some
        i, j = self._pairs[index].tolist()
        row.shape_a, row.shape_b = self._shapes[i], self._shapes[j]
        row.pose_a, row.pose_b = self._poses[index] if self._poses.ndim == 4 else (self._poses[i], self._poses[j])
        return row


class Pairs:
    """Convex shapes, packed once; see `gjk3d.Pairs`, which takes what is not convex beside them."""

    __slots__ = ("_cache", "_columns", "_floats", "_ints", "_keys", "_singly", "mapped", "planes", "shapes")
    shapes: tuple[Shape, ...]
    planes: NDArray[np.bool_]  #: which of them are half-spaces
    mapped: NDArray[np.bool_]  #: and in which a user's function is
    _way = staticmethod(way)  #: how those are answered that the kernels for many pairs do not take

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._cache: dict[str, Any] = {}
        if not hasattr(shapes, "__iter__"):
            raise ShapeError(f"shapes is one {type(shapes).__name__}, expected a sequence of shapes")
        self.shapes = tuple(shapes)
        stand_ins = [self._stand_in(f"shapes[{k}]", shape) for k, shape in enumerate(self.shapes)]
        number: dict[int, int] = {}
        which = np.array([number.setdefault(id(shape), len(number)) for shape in self.shapes], dtype=np.int64)
        cores = list({id(shape): core for shape, core in zip(self.shapes, stand_ins, strict=True)}.values())
        self.planes = np.array([isinstance(shape, Halfspace) for shape in self.shapes], dtype=bool)
        self.mapped = np.array([is_mapped(shape) for shape in self.shapes], dtype=bool)
        # answered apart: half-spaces, what has a stand-in, and what a user's function raises is to be looked for
        apart = [shape is not core for shape, core in zip(self.shapes, stand_ins, strict=True)]
        self._singly = np.array(apart, dtype=bool) | self.planes | self.mapped
        # a half-space has no core; a point on its plane lies there
        packed = [plane_core(core) if isinstance(core, Halfspace) else core._packed for core in cores]
        orders = [Point()._order if isinstance(core, Halfspace) else core._order for core in cores]
        self._ints, self._floats, starts = arena_of(packed)
        self._keys = sorted(set(orders))
        ranks = {key: k for k, key in enumerate(self._keys)}
        rank = np.array([ranks[key] for key in orders], dtype=np.int64)
        self._columns = np.column_stack([starts, rank])[which]

    def _stand_in(self, name: str, shape: Any) -> Shape:
        """Return what the kernels have in place of a shape: itself."""
        if not isinstance(shape, Shape):
            raise no_shape(name, shape)
        return shape

    @classmethod
    def _of_packed(cls, ints: Ints, floats: Array, singly: NDArray[np.bool_], shapes: Sequence[Shape]) -> Pairs:
        """Return what answers `_collide_rows` and `_solve_rows` of shapes that are packed already; no half-spaces.

        ``singly`` tells which are a user's functions; ``shapes`` is only asked for the few that need their own way.
        """
        pairs: Pairs = object.__new__(cls)
        pairs._cache, pairs._ints, pairs._floats, pairs._singly = {}, ints, floats, singly
        pairs.shapes = shapes  # type: ignore[assignment]
        return pairs

    def _joined(self, other: Pairs) -> Pairs:
        """Return these shapes with those of another behind them, without packing any of them again."""
        both: Pairs = object.__new__(Pairs)
        both._cache = {}
        both.shapes = self.shapes + other.shapes
        both.planes = np.concatenate([self.planes, other.planes])
        both.mapped = np.concatenate([self.mapped, other.mapped])
        both._singly = np.concatenate([self._singly, other._singly])
        both._ints = np.concatenate([self._ints, other._ints])
        both._floats = np.concatenate([self._floats, other._floats])
        both._keys = sorted({*self._keys, *other._keys})
        ranks = {key: k for k, key in enumerate(both._keys)}
        columns = []
        for part, starts in ((self, (0, 0)), (other, (len(self._ints), len(self._floats)))):
            rank = np.array([ranks[key] for key in part._keys], dtype=np.int64)
            one = part._columns.copy()
            one[:, :2] += starts
            one[:, 2] = rank[one[:, 2]]
            columns.append(one)
        both._columns = np.concatenate(columns)
        return both

    def __len__(self) -> int:
        return len(self.shapes)

    def __repr__(self) -> str:
        return f"Pairs of {len(self)} shapes"

    def __reduce__(self) -> Any:
        return type(self), (self.shapes,)

    def memory(self, index_pairs: Indices) -> Memory:
        """Return an empty `Memory` for these pairs, to be handed to their questions one after the other.

        Parameters
        ----------
        index_pairs : (m, 2) int
            Which shapes.

        Raises
        ------
        ShapeError
            Where these are no pairs of indices.

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
        """Tell which pairs touch or overlap, or come within a margin; see `gjk3d.collide`.

        Parameters
        ----------
        index_pairs : (m, 2) int
            Which shapes.
        poses : (n, 4, 4) float, or (m, 2, 4, 4) float
            Where each of the n shapes is, or where the two of each pair are.
        margin : float
            As in `gjk3d.collide`.
        workers : int
            Threads; the answers are the same bits for any number.
        memory : Memory, optional
            Of the same pairs in the same order; booleans are the same with and without.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`; pairs that no card answers, half-spaces and the like, are the processor's. A memory
            is for the processor alone.

        Returns
        -------
        (m,) bool

        Raises
        ------
        ShapeError, PoseError
            Naming what is wrong.
        """
        check_margin(margin)
        pairs, table, rows, _ = self._question(index_pairs, poses, workers, memory)
        return self._collide_rows(pairs, table, rows, float(margin), workers, memory, _on_card(device, memory))

    def _collide_rows(
        self, pairs: Ints, table: Ints, rows: Array, margin: float, workers: int = 1, memory: Memory | None = None,
        on_card: bool = False,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Answer `collide` for what has been checked; ``table`` is as `_table` makes it."""
        answer = np.empty(len(pairs), dtype=np.int64)
        take_turns(table, len(self._ints) + len(self._floats))

        def run(start: int, stop: int) -> None:
            simplex = scratch(FIRST_POINTS)[2]
            collide_many(
                self._ints, self._floats, table, NO_POSE, NO_POSE, rows, margin, start, stop, simplex, answer,
                _cache(memory),
            )  # fmt: skip

        if on_card:
            card.collide(self._ints, self._floats, table, rows, margin, answer)
        else:
            in_chunks(len(pairs), workers, run)
        singly = self._are_singly(pairs)
        for a, b, some, placed in self._by_shapes(pairs, table, rows, np.flatnonzero(singly)):
            answer[some] = self._way(a, b).collide(a, b, placed, margin)
        left = np.flatnonzero((answer == 2) & ~singly)
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
        """Return how far apart each pair is.

        Parameters
        ----------
        index_pairs, poses, workers, memory, device
            As in `collide`.
        max_distance, tol
            As in `gjk3d.distance`.

        Returns
        -------
        Distance
            Of m rows; a row knows its own two shapes and poses.

        Raises
        ------
        ShapeError, PoseError
            Naming what is wrong.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pairs = gk.Pairs([gk.Sphere(1), gk.Sphere(2)])
        >>> pairs.distance([(0, 1)], [[np.eye(4), np.eye(4)]]).distance.tolist()
        [0.0]
        """
        return self._ask(narrow.UNSIGNED, index_pairs, poses, max_distance, tol, workers, memory, device)

    def signed_distance(
        self,
        index_pairs: Indices,
        poses: PosesLike,
        *,
        depth: Literal["auto", "epa"] = "auto",
        max_distance: float = inf,
        tol: float | None = None,
        workers: int = 1,
        memory: Memory | None = None,
        device: Device = "cpu",
    ) -> Distance[Array]:
        """Return how far apart each pair is, or how deep it overlaps.

        Parameters
        ----------
        index_pairs, poses, max_distance, tol, workers, memory, device
            As in `distance`.
        depth : str
            "auto" or "epa", as in `gjk3d.signed_distance`.

        Returns
        -------
        Distance
            Of m rows.

        Raises
        ------
        ShapeError, PoseError
            Naming what is wrong.
        """
        mode = depth_mode(depth)
        if mode == FACETS:
            raise ShapeError("Pairs: depth='facets' is for one pair of shapes at a time; use 'auto' or 'epa'")
        return self._ask(mode, index_pairs, poses, max_distance, tol, workers, memory, device)

    def _ask(
        self, mode: int, index_pairs: Indices, poses: PosesLike, max_distance: float, tol: float | None, workers: int,
        memory: Memory | None, device: Device,
    ) -> Distance[Array]:  # fmt: skip
        check_limits(max_distance, tol)
        on_card = _on_card(device, memory)
        pairs, table, rows, matrices = self._question(index_pairs, poses, workers, memory)
        width = 0.0 if tol is None else float(tol)
        asked = mode, float(max_distance), width, workers, memory, on_card
        out, flags = self._solve_rows(pairs, table, rows, *asked)
        kept = np.array(matrices, dtype=np.float64)
        return pair_distance(out, flags, pairs, self.shapes, kept, (mode, max_distance, tol, False))

    def _solve_rows(
        self, pairs: Ints, table: Ints, rows: Array, mode: int, max_distance: float, tol: float, workers: int,
        memory: Memory | None, on_card: bool = False,
    ) -> tuple[Array, Ints]:  # fmt: skip
        """Answer the distances of what has been checked: rows as those of `gjk3d.narrow.solve`."""
        out, flags = empty_answers(len(pairs))
        take_turns(table, len(self._ints) + len(self._floats))

        def run(start: int, stop: int, points: int, again: bool) -> None:
            work, ints, _ = scratch(points)
            solve_many(
                self._ints, self._floats, table, NO_POSE, NO_POSE, rows, mode, max_distance, tol, start, stop, again,
                work, ints, points, out, flags, _cache(memory), NO_LOG,
            )  # fmt: skip

        curved = (self._ints[table[:, 0] + layout.POLYTOPE] & self._ints[table[:, 5] + layout.POLYTOPE]) == 0
        points, again = FIRST_POINTS, False
        if on_card:
            card.solve(self._ints, self._floats, table, rows, Wanted(mode, max_distance, tol), out, flags)
        else:
            in_chunks(len(pairs), workers, partial(run, points=points, again=again))
        while flags[:, 3].any() and points < MOST_POINTS[True]:
            points, again = 4 * points, True
            in_chunks(len(pairs), workers, partial(run, points=points, again=again))
            if points >= MOST_POINTS[False]:
                flags[curved, 3] = 0  # these have no finite end
        # half-spaces and the like, and the few that the exact stage may have to settle
        apart = self._are_singly(pairs)
        if tol == 0.0:
            apart |= (flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND) & ~curved
        for a, b, some, placed in self._by_shapes(pairs, table, rows, np.flatnonzero(apart)):
            found, marks = empty_answers(len(some))
            self._way(a, b).solve(a, b, placed, Wanted(mode, max_distance, tol), found, marks)
            out[some], flags[some] = found, marks
        return out, flags

    def _are_singly(self, pairs: Ints) -> NDArray[np.bool_]:
        """Tell which pairs are answered apart."""
        if not self._singly.any():
            return np.zeros(len(pairs), dtype=bool)
        return self._singly[pairs[:, 0]] | self._singly[pairs[:, 1]]

    def _by_shapes(self, pairs: Ints, table: Ints, rows: Array, which: Ints) -> Iterator[tuple[Any, Any, Ints, Rows]]:
        """Yield two shapes, those of some pairs that are of these two, and their poses."""
        if not len(which):
            return
        order = which[np.lexsort((pairs[which, 1], pairs[which, 0]))]
        begins = np.flatnonzero((np.diff(pairs[order], axis=0, prepend=-1) != 0).any(axis=1)).tolist()
        for start, stop in zip(begins, [*begins[1:], len(order)], strict=False):
            some = order[start:stop]
            a, b = (self.shapes[number] for number in pairs[some[0]].tolist())
            yield a, b, some, Rows(rows[table[some, 3]], rows[table[some, 8]], len(some), True)

    def _indices(self, index_pairs: Indices) -> Ints:
        pairs = np.asarray(index_pairs)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(f"index_pairs has shape {pairs.shape} and dtype {pairs.dtype}, expected (m, 2) integers")
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < len(self.shapes)):
            k = int(((pairs < 0) | (pairs >= len(self.shapes))).any(axis=1).argmax())
            raise ShapeError(f"index_pairs[{k}] is {pairs[k].tolist()}, and there are {len(self.shapes)} shapes")
        return pairs.astype(np.int64)

    def _question(
        self, index_pairs: Indices, poses: PosesLike, workers: int, memory: Memory | None
    ) -> tuple[Ints, Ints, Array, Array]:
        """Check everything; return pairs, their rows for the kernels, pose rows and matrices."""
        check_workers(workers)
        pairs = self._indices(index_pairs)
        if self.planes.any():
            for k in np.flatnonzero(self.planes[pairs].all(axis=1))[:1]:
                self._way(*(self.shapes[i] for i in pairs[k]))  # says that two half-spaces are no pair
        matrices = np.asarray(poses)
        if matrices.ndim == 4 and matrices.shape[1:2] == (2,):
            if len(matrices) != len(pairs):
                raise ShapeError(f"poses has {len(matrices)} rows of two poses, and there are {len(pairs)} index_pairs")
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
                    f"poses has {len(matrices)} rows, and there are {len(self.shapes)} shapes: expected one pose a "
                    "shape, (n, 4, 4), or two a pair, (m, 2, 4, 4)"
                )
            rows, stacked = pose_rows(matrices, "poses")
            if not stacked:
                raise ShapeError(f"poses has shape {matrices.shape}, expected (n, 4, 4), or (m, 2, 4, 4) for each pair")
            at = pairs
        if memory is not None and len(memory) != len(pairs):
            raise ShapeError(f"memory is of {len(memory)} pairs, and there are {len(pairs)}")
        return pairs, self._table(pairs, at), rows, matrices

    @property
    def _arena(self) -> tuple[Ints, Array]:
        """All distinct shapes behind each other, see `gjk3d.shapes.layout`."""
        return self._ints, self._floats

    def _starts(self, which: Ints) -> Ints:
        """Return where shapes begin in the arena's two arrays."""
        return self._columns[which, :2]

    def _table(self, pairs: Ints, at: Ints) -> Ints:
        """Return pairs of shapes at pose rows as the kernels take them, see `gjk3d.narrow.pairs`."""
        table = np.empty((len(pairs), PAIR), dtype=np.int64)
        fill_table(self._columns, np.ascontiguousarray(pairs), np.ascontiguousarray(at), table)
        return table


def pair_distance(
    out: Array, flags: Ints, pairs: Ints, shapes: Sequence[Shape], poses: Array, asked: Any
) -> PairDistance:
    """Return rows of `Pairs._solve_rows` as a result; poses are those of the shapes, or two a pair."""
    result: PairDistance = object.__new__(PairDistance)
    result._pairs, result._shapes, result._poses = pairs, shapes, poses
    result.shape_a = result.shape_b = result.pose_a = result.pose_b = result.trace = None
    result.asked = asked
    result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
    result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
    result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
    return result


def _on_card(device: Device, memory: Memory | None) -> bool:
    """Tell whether a graphics card is asked."""
    asked = check_device(device)
    if asked and memory is not None:
        raise ShapeError("device='cuda' remembers nothing: pass memory to questions of the processor")
    return asked


def _cache(memory: Memory | None) -> Array:
    return NO_CACHE if memory is None else memory._rows
