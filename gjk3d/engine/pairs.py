"""Queries on many different pairs of shapes and bodies, and the store of these shapes.

The store contains convex shapes, packed one after another. Bodies are replaced by their bounding boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import Any, Literal, SupportsIndex, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.batch import NO_CACHE, PackedShapes, Wanted, either, in_chunks, join_packed
from gjk3d.convex.checks import FACETS, check_device, check_limits, check_margin, check_workers, depth_mode, no_shape
from gjk3d.convex.contacts import FacesOfTwo, faces_of, patch_points
from gjk3d.convex.solve import ray_core
from gjk3d.engine.dispatch import Collider, handlers_of, is_collider
from gjk3d.errors import PoseError, ShapeError
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.manifold import POINT, FaceLists
from gjk3d.narrow.solve import PAIR, RANK, PairRows, fill_table
from gjk3d.poses import pose_rows
from gjk3d.results import Distance
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import ConvexHull, Point
from gjk3d.typing import Array, Bools, Device, Indices, Ints, PosesLike
from gjk3d.wording import count, kind_of

# --- the store -------------------------------------------------------------------------------------------------------


#: enlargement of the box of a body for rounding, relative to its greatest coordinate: more than the error of a position
#: in two bodies that nearly touch, see `gjk3d.bodies.body_pair`
BOX_ROUNDING = 256.0 * 2.0**-52
_CHUNK = 256  #: most pairs of trees per kernel call, since a pair of large bodies may take a millisecond


def _core_of(shape: Collider) -> Shape:
    """Return the convex shape that the kernels use for a shape or body.

    A body is replaced by its enlarged bounding box, or by a point if it is unbounded.
    """
    if not shape._kind & Kind.BODIES:
        return cast("Shape", shape)
    if shape._kind == Kind.ENDLESS:
        return Point()
    low, high = shape.bounds
    more = BOX_ROUNDING * float(np.abs((low, high)).max())
    return ConvexHull(np.array(list(product(*np.stack([low - more, high + more], axis=1)))))


class _Trees:
    """The bounding volume trees of the shapes of a `ShapeStore`. A tree is stored when a query first needs it."""

    __slots__ = ("_orders", "_shapes", "_states", "_units", "store")

    def __init__(self, shapes: Sequence[Collider]) -> None:
        from gjk3d.engine.store import empty_store  # loaded where there is a mesh or the like

        self._shapes, self.store = shapes, empty_store(len(shapes))
        bodies = [shape for shape in shapes if shape._kind & Kind.BODIES]
        self._orders = {order: k for k, order in enumerate(sorted({body._order for body in bodies}))}
        self._states = np.zeros(len(shapes), dtype=np.int64)  # 0: not yet tried, 1: stored, 2: no tree is possible
        units: dict[Any, int] = {None: 0}
        self._units = np.array([units.setdefault(getattr(shape, "unit", None), len(units)) for shape in shapes])

    def are_stored(self, pairs: Ints) -> Bools:
        """Store the trees of the shapes in pairs (m, 2); return which pairs have two trees and no conflict of units."""
        first, second = pairs[:, 0], pairs[:, 1]
        states, units = self._states, self._units
        for number in set(pairs[states[pairs] == 0].tolist()):
            states[number] = 1 if self._pack(number) else 2
        one_unit = (units[first] == units[second]) | (units[first] * units[second] == 0)
        stored: Bools = (states[first] == 1) & (states[second] == 1) & one_unit
        return stored

    def _pack(self, number: int) -> bool:
        """Store the tree of the shape with this index; return False if it has none.

        A half-space has no tree, and neither has a shape with a user's support mapping.
        """
        from gjk3d.bodies.parts import parts_of
        from gjk3d.engine.store import put_tree

        shape = self._shapes[number]
        if shape._kind & (Kind.PLANES | Kind.MAPPED) or parts_of(shape).any_mapped:
            return False
        rank = self._orders[shape._order] if shape._kind & Kind.BODIES else len(self._orders)
        put_tree(self.store, number, shape, rank)
        return True


class ShapeStore(PackedShapes):
    """Shapes and bodies in the form that the kernels for many pairs expect.

    The kernels solve the pairs of convex shapes. Other pairs are solved by the functions for their two shapes, see
    `gjk3d.engine.dispatch`. A shape is referred to by its index in ``shapes``.
    """

    __slots__ = ("any_mixed", "cached", "columns", "keys", "mapped", "mixed", "planes", "unbounded")
    shapes: tuple[Collider, ...]
    columns: Ints  #: for each shape, its start in ``ints`` and in ``floats``, and its rank
    keys: list[Any]  #: sorted keys of the different shapes; the rank of a shape is the index of its key
    planes: Bools  #: which shapes are half-spaces or planes
    any_mixed: bool  #: whether a shape is a non-convex body
    mixed: Bools  #: which shapes are non-convex bodies, which are packed as their boxes
    mapped: Bools  #: which shapes contain a user's support mapping
    unbounded: Bools  #: which shapes are unbounded, and packed as points
    cached: dict[str, Any]  #: data that other queries cache

    def __init__(self, shapes: Sequence[Collider]) -> None:
        self.shapes, self.cached, self.handlers = tuple(shapes), {}, handlers_of
        numbers: dict[int, int] = {}
        which = np.array([numbers.setdefault(id(shape), len(numbers)) for shape in self.shapes], dtype=np.int64)
        cores = [_core_of(shape) for shape in {id(shape): shape for shape in self.shapes}.values()]
        kinds = np.array([shape._kind for shape in self.shapes], dtype=np.int64)
        self.planes, self.mixed = kinds & Kind.PLANES != 0, kinds & Kind.BODIES != 0
        self.mapped, self.unbounded = kinds == Kind.MAPPED, kinds & (Kind.PLANES | Kind.ENDLESS) != 0
        self.any_mixed = bool(self.mixed.any())
        # the handlers solve half-spaces, bodies, and functions of the user, whose exceptions must be raised
        self.singly = self.planes | self.mixed | self.mapped
        self.ints, self.floats, starts = join_packed([ray_core(core) for core in cores])
        # a half-space is packed as a point of its surface
        orders = [Point()._order if core._kind & Kind.PLANES else core._order for core in cores]
        self.keys = sorted(set(orders))
        ranks = {key: k for k, key in enumerate(self.keys)}
        rank = np.array([ranks[key] for key in orders], dtype=np.int64)
        self.columns = np.column_stack([starts, rank])[which]

    def collide_singly(
        self, which: Ints, table: Ints, rows: Array, some: Ints, margin: float, workers: int, answer: Ints
    ) -> None:
        """Write to ``answer`` whether each of the pairs ``some`` collides.

        A pair is tested by the trees of its two shapes if possible. ``which`` contains the indices of the two shapes of
        each pair, ``table`` the table rows, and ``rows`` the pose rows. ``some`` are indices of pairs.
        """
        if margin < 0.0 or not self.any_mixed:
            return super().collide_singly(which, table, rows, some, margin, workers, answer)
        from gjk3d.bodies.tree_collision import tree_scratch  # loaded where there is a mesh or the like
        from gjk3d.engine.store import UNSURE, collide_each

        if "trees" not in self.cached:
            self.cached["trees"] = _Trees(self.shapes)
        trees: _Trees = self.cached["trees"]
        pairs = np.ascontiguousarray(which[some])
        solvable = either(self.mixed, pairs) & trees.are_stored(pairs)
        left, some, pairs = some[~solvable], some[solvable], pairs[solvable]
        at, verdicts = np.ascontiguousarray(table[some][:, [3, 8]]), np.empty(len(some), dtype=np.int64)

        def run(start: int, stop: int) -> None:
            collide_each(trees.store, pairs, at, rows, margin, start, stop, tree_scratch(), verdicts)

        in_chunks(len(some), workers, run, _CHUNK)
        answer[some] = verdicts
        some = np.concatenate([left, some[verdicts == UNSURE]])
        return super().collide_singly(which, table, rows, some, margin, workers, answer)

    def beside(self, numbers: Ints) -> tuple[Ints, Any]:
        """Return the index of each shape in a `ShapeList` for contacts with bodies, and this list, which is cached.

        ``numbers`` are the indices of convex shapes in the store.
        """
        from gjk3d.bodies.contact_pairs import ShapeList  # loaded where there is a mesh or the like

        listed, shapes = self.cached.get("beside", (numbers[:0], None))
        where = listed.searchsorted(numbers)
        if shapes is None or (listed[np.minimum(where, len(listed) - 1)] != numbers).any():
            # earlier shapes remain in the list, because objects are often added and removed in steps
            listed = np.union1d(listed, numbers)
            shapes = ShapeList([self.shapes[number] for number in listed.tolist()])
            self.cached["beside"] = listed, shapes
            where = listed.searchsorted(numbers)
        return where, shapes

    def joined(self, second: ShapeStore) -> ShapeStore:
        """Return a store of these shapes and of those of ``second``, without packing them again."""
        union: ShapeStore = object.__new__(ShapeStore)
        union.shapes, union.cached, union.handlers = self.shapes + second.shapes, {}, handlers_of
        for name in ("planes", "mixed", "mapped", "unbounded", "singly", "ints", "floats"):
            setattr(union, name, np.concatenate([getattr(self, name), getattr(second, name)]))
        union.any_mixed = self.any_mixed or second.any_mixed
        union.keys = sorted({*self.keys, *second.keys})
        ranks = {key: k for k, key in enumerate(union.keys)}
        columns = self.columns.copy(), second.columns + (len(self.ints), len(self.floats), 0)
        for part, part_columns in zip((self, second), columns, strict=True):
            rank = np.array([ranks[key] for key in part.keys], dtype=np.int64)
            part_columns[:, 2] = rank[part_columns[:, 2]]
        union.columns = np.concatenate(columns)
        return union

    def patches(
        self, shapes: Ints, table: Ints, rows: Array, out: Array, within: float, most: int | None, workers: int
    ) -> tuple[Array, Ints]:
        """Return the contact points of convex pairs and the number of points of each pair; see `patch_points`.

        ``shapes`` contains the indices of the two shapes of each pair, and ``out`` the pairs' signed distances.
        """
        if not len(out):
            return np.empty((0, most or 0, POINT)), np.zeros(0, dtype=np.int64)
        if "faces" not in self.cached:
            self.cached["faces"] = faces_of(self.shapes)
        ints, floats, starts, corners = self.cached["faces"]
        for side in range(2):  # half-spaces are A in the kernels, as in the query of a single pair
            planes = self.planes[shapes[:, side]].nonzero()[0]
            table[planes, 5 * side + RANK], table[planes, 5 * (1 - side) + RANK] = 0, 1
        lists = FaceLists(ints, floats, starts[shapes].reshape(-1, 2))
        faces = FacesOfTwo(lists, int((corners[shapes[:, 0]] + corners[shapes[:, 1]]).max()) + 4)
        return patch_points(PairRows(self.ints, self.floats, table, rows), faces, out, within, most, workers)

    def __len__(self) -> int:
        return len(self.shapes)

    def __reduce__(self) -> Any:
        return ShapeStore, (self.shapes,)

    def table(self, pairs: Ints, at: Ints) -> Ints:
        """Return the table rows of the kernels for pairs of shapes, see `gjk3d.narrow.solve`.

        ``at`` contains the indices of the two pose rows of each pair.
        """
        table = np.empty((len(pairs), PAIR), dtype=np.int64)
        fill_table(self.columns, np.ascontiguousarray(pairs), np.ascontiguousarray(at), table)
        return table


# --- pairs -----------------------------------------------------------------------------------------------------------


class Memory:
    """The last axis and simplex of each pair of a list. The next query on these pairs starts from them.

    `Pairs.memory` creates a memory. Pass it to successive queries of the same pairs in the same order. Only one call at
    a time may use a memory.
    """

    __slots__ = ("_rows",)
    _rows: Array

    def __init__(self, count: int) -> None:
        self._rows = np.zeros((count, MEMORY))

    def __len__(self) -> int:
        return len(self._rows)

    def forget(self) -> None:
        """Clear the memory. The next query does not start from earlier results."""
        self._rows[:, 0] = 0.0


class PairDistance(Distance[Array]):
    """A `Distance` of many different pairs. Each row belongs to two shapes and two poses."""

    __slots__ = ("_pairs", "_poses", "_shapes")
    _pairs: Ints
    _poses: Any
    _shapes: Sequence[Collider]

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
    """Shapes, packed once, for queries on many pairs of them in one call.

    All pairs of convex shapes take one call of the kernels. Pairs with half-spaces or non-convex bodies are grouped by
    their two shapes, with one call for all poses of a group.

    Parameters
    ----------
    shapes : sequence of Shape, Mesh or another body
        A shape may occur several times, once for each of its poses.

    Raises
    ------
    ShapeError, UnsupportedPair
        If the argument is not a sequence, or an item is not a supported shape.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pairs = gk.Pairs([gk.Box((1, 1, 1)), gk.Sphere(0.5), gk.Sphere(0.25)])
    >>> poses = np.tile(np.eye(4), (3, 1, 1)); poses[:, 0, 3] = (0, 0.75, 2)
    >>> pairs.signed_distance([(0, 1), (0, 2), (1, 2)], poses).distance.tolist()
    [-0.25, 1.25, 0.5]
    >>> pairs.collide([(0, 1), (0, 2)], poses).tolist()
    [True, False]
    """

    __slots__ = ("_store",)
    _store: ShapeStore

    def __init__(self, shapes: Sequence[Collider]) -> None:
        if not hasattr(shapes, "__iter__"):
            raise ShapeError(f"shapes is {kind_of(shapes)}, expected a sequence of shapes")
        listed = tuple(shapes)
        for k, shape in enumerate(listed):
            if not is_collider(shape):
                raise no_shape(f"shapes[{k}]", shape)
        self._store = ShapeStore(listed)

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        return f"Pairs of {count(len(self), 'shape')}"

    def __reduce__(self) -> Any:
        return type(self), (self._store.shapes,)

    def memory(self, index_pairs: Indices) -> Memory:
        """Return an empty `Memory` for these pairs, to be passed to successive queries on them.

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
        self, index_pairs: Indices, poses: PosesLike, *, margin: float = 0.0, workers: int = 1,
        memory: Memory | None = None, device: Device = "cpu",
    ) -> NDArray[np.bool_]:  # fmt: skip
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
            Number of threads. The results do not depend on this number.
        memory : Memory, optional
            Memory of the same pairs in the same order. Booleans are the same with and without a memory.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`. The CPU solves pairs that the GPU does not support, for example half-spaces. A memory
            is supported on the CPU only.

        Returns
        -------
        (m,) bool
            True for each pair that is not proven to be farther apart than the margin.

        Raises
        ------
        ShapeError, PoseError
            For invalid input; the message names the fault.
        """
        check_margin(margin)
        pairs, table, rows, _ = self._checked_rows(index_pairs, poses, workers, memory)
        cache, on_gpu = NO_CACHE if memory is None else memory._rows, _uses_gpu(device, memory)
        return self._store.collide(pairs, table, rows, float(margin), workers, on_gpu, cache)

    def distance(
        self, index_pairs: Indices, poses: PosesLike, *, max_distance: float = inf, tol: float | None = None,
        workers: int = 1, memory: Memory | None = None, device: Device = "cpu",
    ) -> Distance[Array]:  # fmt: skip
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
            The result with m rows; each row belongs to two shapes and two poses.

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
        self, index_pairs: Indices, poses: PosesLike, *, depth: Literal["auto", "epa", "tight", "fast"] = "auto",
        max_distance: float = inf, tol: float | None = None, workers: int = 1, memory: Memory | None = None,
        device: Device = "cpu",
    ) -> Distance[Array]:  # fmt: skip
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
            The result with m rows.

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
        cache, on_gpu = NO_CACHE if memory is None else memory._rows, _uses_gpu(device, memory)
        pairs, table, rows, matrices = self._checked_rows(index_pairs, poses, workers, memory)
        width = 0.0 if tol is None else float(tol)
        wanted = Wanted(mode, float(max_distance), width)
        out, flags = self._store.solve(pairs, table, rows, wanted, workers, on_gpu, cache)
        copied = np.array(matrices, dtype=np.float64)
        return pair_distance(out, flags, pairs, self._store.shapes, copied, (mode, max_distance, tol, False))

    def _indices(self, index_pairs: Indices) -> Ints:
        pairs = np.asarray(index_pairs)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(f"index_pairs has shape {pairs.shape} and dtype {pairs.dtype}, expected (m, 2) integers")
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < len(self)):
            k = int(((pairs < 0) | (pairs >= len(self))).any(axis=1).argmax())
            raise ShapeError(
                f"index_pairs[{k}] is {pairs[k].tolist()}, expected indices from 0 to {len(self) - 1} for "
                f"{count(len(self), 'shape')}"
            )
        return pairs.astype(np.int64)

    def _checked_rows(
        self, index_pairs: Indices, poses: PosesLike, workers: int, memory: Memory | None
    ) -> tuple[Ints, Ints, Array, Array]:
        """Return the checked pairs (m, 2), their rows of the kernels' table, the pose rows, and the array of poses."""
        check_workers(workers)
        pairs = self._indices(index_pairs)
        if self._store.planes.any():
            for k in np.flatnonzero(self._store.planes[pairs].all(axis=1))[:1]:
                handlers_of(*(self._store.shapes[i] for i in pairs[k]))  # raises for two half-spaces
        matrices = np.asarray(poses)
        if matrices.ndim == 4 and matrices.shape[1:2] == (2,):
            if len(matrices) != len(pairs):
                raise ShapeError(
                    f"poses has {len(matrices)} rows of two poses, expected {len(pairs)}, one for each row of "
                    "index_pairs"
                )
            try:
                rows, _ = pose_rows(matrices.reshape(2 * len(pairs), *matrices.shape[2:]), "poses")
            except PoseError:
                for i in range(2):  # the error names poses of A or of B
                    pose_rows(matrices[:, i], f"poses[:, {i}]")
                raise
            at = np.arange(2 * len(pairs)).reshape(-1, 2)
        else:
            if matrices.ndim == 3 and len(matrices) != len(self):
                raise ShapeError(
                    f"poses has {count(len(matrices), 'row')}, expected one for each of {count(len(self), 'shape')}. "
                    "Pass one pose per shape, (n, 4, 4), or two poses per pair, (m, 2, 4, 4)."
                )
            rows, stacked = pose_rows(matrices, "poses")
            if not stacked:
                raise ShapeError(
                    f"poses has shape {matrices.shape}, expected (n, 4, 4) for n shapes, or (m, 2, 4, 4) for m pairs"
                )
            at = pairs
        if memory is not None and len(memory) != len(pairs):
            raise ShapeError(f"memory has {len(memory)} pairs, expected {len(pairs)}, one for each row of index_pairs")
        return pairs, self._store.table(pairs, at), rows, matrices


def pair_distance(
    out: Array, flags: Ints, pairs: Ints, shapes: Sequence[Collider], poses: Array, request: Any
) -> PairDistance:
    """Return the result of a query on pairs. ``out`` and ``flags`` are the rows that `PackedShapes.solve` returns.

    ``poses`` contains a pose for each shape, or two poses for each pair. ``request`` are the settings of the query.
    """
    result: PairDistance = object.__new__(PairDistance)
    result._pairs, result._shapes, result._poses = pairs, shapes, poses
    result.shape_a = result.shape_b = result.pose_a = result.pose_b = result.trace = None
    result.asked = request
    result.distance, result.lower, result.upper = out[:, 0], out[:, 1], out[:, 2]
    result.normal, result.point_a, result.point_b = out[:, 3:6], out[:, 6:9], out[:, 9:12]
    result.status, result.iterations, result.tight = flags[:, 0], flags[:, 1], flags[:, 2].astype(bool)
    return result


def _uses_gpu(device: Device, memory: Memory | None) -> bool:
    """Return whether ``device`` requests the GPU. Raise an error for the GPU with a memory."""
    use_gpu = check_device(device)
    if use_gpu and memory is not None:
        raise ShapeError("device='cuda' does not support memory=. Use device='cpu', or leave memory out.")
    return use_gpu
