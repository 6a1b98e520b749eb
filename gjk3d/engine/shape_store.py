"""A store of shapes and bodies: convex shapes packed one after another, and boxes in place of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np

from gjk3d.convex.batch import PackedShapes
from gjk3d.convex.patches import FacesOfTwo, faces_of, patch_points
from gjk3d.convex.rows import join_packed
from gjk3d.convex.solve import ray_core
from gjk3d.engine.dispatch import Collider, handlers_of
from gjk3d.narrow.manifold import POINT, FaceLists
from gjk3d.narrow.pairs import PAIR, RANK, fill_table
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import ConvexHull, Point
from gjk3d.typing import Array, Bools, Ints

#: enlargement of the box of a body for rounding, relative to its greatest coordinate: more than the error of a position
#: in either of two bodies that nearly touch, see `gjk3d.bodies.body_pair`
BOX_ROUNDING = 256.0 * 2.0**-52


def _core_of(shape: Collider) -> Shape:
    """Return the convex shape that the kernels use for a shape: itself, or for a body its box or a point."""
    if not shape._kind & Kind.BODIES:
        return cast("Shape", shape)
    if shape._kind == Kind.ENDLESS:
        return Point()
    low, high = shape.bounds
    more = BOX_ROUNDING * float(np.abs((low, high)).max())
    return ConvexHull(np.array(list(product(*np.stack([low - more, high + more], axis=1)))))


class ShapeStore(PackedShapes):
    """Shapes and bodies by number, as the kernels for many pairs take them.

    The kernels solve the pairs of convex shapes. Other pairs are solved by the handlers of their two shapes.
    """

    __slots__ = ("cached", "columns", "keys", "mapped", "mixed", "planes", "unbounded")
    shapes: tuple[Collider, ...]
    columns: Ints  #: for each shape, where its numbers begin in both arrays, and its rank
    keys: list[Any]  #: by which the distinct shapes are ranked, in order
    planes: Bools  #: which shapes are half-spaces
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
        # solved singly: half-spaces, bodies, and user's functions, whose exceptions must be raised
        self.singly = self.planes | self.mixed | self.mapped
        self.ints, self.floats, starts = join_packed([ray_core(core) for core in cores])
        # a point on the plane takes the place of a half-space
        orders = [Point()._order if core._kind & Kind.PLANES else core._order for core in cores]
        self.keys = sorted(set(orders))
        ranks = {key: k for k, key in enumerate(self.keys)}
        rank = np.array([ranks[key] for key in orders], dtype=np.int64)
        self.columns = np.column_stack([starts, rank])[which]

    def joined(self, other: ShapeStore) -> ShapeStore:
        """Return these shapes followed by the shapes of ``other``, without packing them again."""
        both: ShapeStore = object.__new__(ShapeStore)
        both.shapes, both.cached, both.handlers = self.shapes + other.shapes, {}, handlers_of
        for name in ("planes", "mixed", "mapped", "unbounded", "singly", "ints", "floats"):
            setattr(both, name, np.concatenate([getattr(self, name), getattr(other, name)]))
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
        """Return the points of contact patches of convex pairs with distances ``out``; see `patch_points`."""
        if not len(out):
            return np.empty((0, most or 0, POINT)), np.zeros(0, dtype=np.int64)
        if "faces" not in self.cached:
            self.cached["faces"] = faces_of(self.shapes)
        ints, floats, starts, corners = self.cached["faces"]
        for side in range(2):  # half-spaces come first, as in the query of a single pair
            planes = np.flatnonzero(self.planes[shapes[:, side]])
            table[planes, 5 * side + RANK], table[planes, 5 * (1 - side) + RANK] = 0, 1
        corners = corners[shapes]
        lists = FaceLists(ints, floats, starts[shapes].reshape(-1, 2))
        faces = FacesOfTwo(lists, int(corners.max()), int(corners.sum(axis=1).max()) + 4)
        return patch_points(self.rows(table, rows), faces, out, within, most, workers)

    def __len__(self) -> int:
        return len(self.shapes)

    def __reduce__(self) -> Any:
        return ShapeStore, (self.shapes,)

    def table(self, pairs: Ints, at: Ints) -> Ints:
        """Return the rows for the kernels of pairs of shapes at pose rows, see `gjk3d.narrow.pairs`."""
        table = np.empty((len(pairs), PAIR), dtype=np.int64)
        fill_table(self.columns, np.ascontiguousarray(pairs), np.ascontiguousarray(at), table)
        return table
