"""A store of shapes and bodies: convex shapes packed one after another, and boxes in place of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np

from gjk3d.convex.batch import PackedShapes, either, in_chunks
from gjk3d.convex.patches import FacesOfTwo, faces_of, patch_points
from gjk3d.convex.rows import join_packed
from gjk3d.convex.solve import ray_core
from gjk3d.engine.dispatch import Collider, handlers_of
from gjk3d.narrow.manifold import POINT, FaceLists
from gjk3d.narrow.pairs import PAIR, RANK, PairRows, fill_table
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import ConvexHull, Point
from gjk3d.typing import Array, Bools, Ints

#: enlargement of the box of a body for rounding, relative to its greatest coordinate: more than the error of a position
#: in either of two bodies that nearly touch, see `gjk3d.bodies.body_pair`
BOX_ROUNDING = 256.0 * 2.0**-52
_CHUNK = 256  #: pairs of trees per call, since a pair of large bodies may take a millisecond


def _core_of(shape: Collider) -> Shape:
    """Return the convex shape that the kernels use: the shape itself, or for a body its box or a point."""
    if not shape._kind & Kind.BODIES:
        return cast("Shape", shape)
    if shape._kind == Kind.ENDLESS:
        return Point()
    low, high = shape.bounds
    more = BOX_ROUNDING * float(np.abs((low, high)).max())
    return ConvexHull(np.array(list(product(*np.stack([low - more, high + more], axis=1)))))


class _Trees:
    """The trees of shapes by number, stored when a query first needs them."""

    __slots__ = ("_orders", "_shapes", "_states", "_units", "store")

    def __init__(self, shapes: Sequence[Collider]) -> None:
        from gjk3d.engine.store import empty_store  # loaded where there is a mesh or the like

        self._shapes, self.store = shapes, empty_store(len(shapes))
        bodies = [shape for shape in shapes if shape._kind & Kind.BODIES]
        self._orders = {order: k for k, order in enumerate(sorted({body._order for body in bodies}))}
        self._states = np.zeros(len(shapes), dtype=np.int64)  #: 1 for a tree, 2 for a shape without, 0 if not known
        units: dict[Any, int] = {None: 0}
        self._units = np.array([units.setdefault(getattr(shape, "unit", None), len(units)) for shape in shapes])

    def are_stored(self, pairs: Ints) -> Bools:
        """Store the trees of pairs; return which pairs have two trees and one unit."""
        first, second = pairs[:, 0], pairs[:, 1]
        states, units = self._states, self._units
        for number in set(pairs[states[pairs] == 0].tolist()):
            states[number] = 1 if self._put(number) else 2
        one_unit = (units[first] == units[second]) | (units[first] * units[second] == 0)
        stored: Bools = (states[first] == 1) & (states[second] == 1) & one_unit
        return stored

    def _put(self, number: int) -> bool:
        """Store a tree, unless the shape is a half-space or has functions of a user."""
        from gjk3d.bodies.parts import parts_of
        from gjk3d.engine.store import put_tree

        shape = self._shapes[number]
        if shape._kind & (Kind.PLANES | Kind.MAPPED) or parts_of(shape).any_mapped:
            return False
        rank = self._orders[shape._order] if shape._kind & Kind.BODIES else len(self._orders)
        put_tree(self.store, number, shape, rank)
        return True


class ShapeStore(PackedShapes):
    """Shapes and bodies by number, in the form that the kernels for many pairs expect.

    The kernels solve the pairs of convex shapes. Other pairs are solved by the handlers of their two shapes.
    """

    __slots__ = ("any_mixed", "cached", "columns", "keys", "mapped", "mixed", "planes", "unbounded")
    shapes: tuple[Collider, ...]
    columns: Ints  #: for each shape, where its numbers begin in both arrays, and its rank
    keys: list[Any]  #: by which the distinct shapes are ranked, in order
    planes: Bools  #: which shapes are half-spaces
    any_mixed: bool
    mixed: Bools  #: which are non-convex bodies, packed as their boxes
    mapped: Bools  #: which contain a user's support mapping
    unbounded: Bools  #: which have no box; a point takes their place
    cached: dict[str, Any]  #: data of other queries

    def __init__(self, shapes: Sequence[Collider]) -> None:
        self.shapes, self.cached, self.handlers = tuple(shapes), {}, handlers_of
        numbers: dict[int, int] = {}
        which = np.array([numbers.setdefault(id(shape), len(numbers)) for shape in self.shapes], dtype=np.int64)
        cores = [_core_of(shape) for shape in {id(shape): shape for shape in self.shapes}.values()]
        kinds = np.array([shape._kind for shape in self.shapes], dtype=np.int64)
        self.planes, self.mixed = kinds & Kind.PLANES != 0, kinds & Kind.BODIES != 0
        self.mapped, self.unbounded = kinds == Kind.MAPPED, kinds & (Kind.PLANES | Kind.ENDLESS) != 0
        self.any_mixed = bool(self.mixed.any())
        # solved singly: half-spaces, bodies, and user's functions, whose exceptions must be raised
        self.singly = self.planes | self.mixed | self.mapped
        self.ints, self.floats, starts = join_packed([ray_core(core) for core in cores])
        # a point on the plane takes the place of a half-space
        orders = [Point()._order if core._kind & Kind.PLANES else core._order for core in cores]
        self.keys = sorted(set(orders))
        ranks = {key: k for k, key in enumerate(self.keys)}
        rank = np.array([ranks[key] for key in orders], dtype=np.int64)
        self.columns = np.column_stack([starts, rank])[which]

    def collide_singly(
        self, which: Ints, table: Ints, rows: Array, some: Ints, margin: float, workers: int, answer: Ints
    ) -> None:
        """Write whether the pairs ``some`` collide, by the trees of both shapes if possible, see `PackedShapes`."""
        if margin < 0.0 or not self.any_mixed:
            return super().collide_singly(which, table, rows, some, margin, workers, answer)
        from gjk3d.bodies.tree_collision import tree_scratch  # loaded where there is a mesh or the like
        from gjk3d.engine.pair import UNSURE, collide_each

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
        """Return the index of each convex shape in a cached `ShapeList`, and this list, for contacts with bodies."""
        from gjk3d.bodies.shape_list import ShapeList  # loaded where there is a mesh or the like

        listed, shapes = self.cached.get("beside", (numbers[:0], None))
        where = listed.searchsorted(numbers)
        if shapes is None or (listed[np.minimum(where, len(listed) - 1)] != numbers).any():
            # shapes stay in the list, as objects are often added and removed in steps
            listed = np.union1d(listed, numbers)
            shapes = ShapeList([self.shapes[number] for number in listed.tolist()])
            self.cached["beside"] = listed, shapes
            where = listed.searchsorted(numbers)
        return where, shapes

    def joined(self, other: ShapeStore) -> ShapeStore:
        """Return these shapes followed by the shapes of ``other``, without packing them again."""
        both: ShapeStore = object.__new__(ShapeStore)
        both.shapes, both.cached, both.handlers = self.shapes + other.shapes, {}, handlers_of
        for name in ("planes", "mixed", "mapped", "unbounded", "singly", "ints", "floats"):
            setattr(both, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        both.any_mixed = self.any_mixed or other.any_mixed
        both.keys = sorted({*self.keys, *other.keys})
        ranks = {key: k for k, key in enumerate(both.keys)}
        columns = self.columns.copy(), other.columns + (len(self.ints), len(self.floats), 0)
        for part, part_columns in zip((self, other), columns, strict=True):
            rank = np.array([ranks[key] for key in part.keys], dtype=np.int64)
            part_columns[:, 2] = rank[part_columns[:, 2]]
        both.columns = np.concatenate(columns)
        return both

    def patches(
        self, shapes: Ints, table: Ints, rows: Array, out: Array, within: float, most: int | None, workers: int
    ) -> tuple[Array, Ints]:
        """Return the contact points of convex pairs with the signed distances ``out``; see `patch_points`."""
        if not len(out):
            return np.empty((0, most or 0, POINT)), np.zeros(0, dtype=np.int64)
        if "faces" not in self.cached:
            self.cached["faces"] = faces_of(self.shapes)
        ints, floats, starts, corners = self.cached["faces"]
        for side in range(2):  # half-spaces come first, as in the query of a single pair
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
        """Return the table rows of the kernels for pairs of shapes at pose rows ``at``, see `gjk3d.narrow.pairs`."""
        table = np.empty((len(pairs), PAIR), dtype=np.int64)
        fill_table(self.columns, np.ascontiguousarray(pairs), np.ascontiguousarray(at), table)
        return table
