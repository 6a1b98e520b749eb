"""The parts of bodies: triangles of a mesh, a few shapes at many places, shapes and meshes at poses; their boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body, Packed, Parts
from gjk3d.bodies.bvh import BOX, traversal_stack, tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.traversal import STACK, near_boxes, to_points
from gjk3d.broad.tree import Tree
from gjk3d.convex.boxes import placed_boxes
from gjk3d.convex.rows import arena
from gjk3d.convex.solve import is_mapped
from gjk3d.poses import IDENTITY, ROUNDING, WIDTH, composed, matrices, moved, translations
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.combined import ConvexUnion
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.simplices import Triangle
from gjk3d.typing import Array, Bools, Ints

_MOST_CURVED = 256  #: curved parts whose hull is made of their support mappings
_EVERY_WAY = np.array([(x, y, z) for x in (1.0, 0.0, -1.0) for y in (0.0, 1.0, -1.0) for z in (0.0, 1.0, -1.0)])
_EVERY_WAY = _EVERY_WAY[_EVERY_WAY.any(axis=1)]  #: 26 directions, along x first
_BRUTE = 16384  #: pairs of boxes that are compared straight away
BLOCK = 65536  #: most pairs that a search yields at once


def noise(reach_a: float, reach_b: float, shifts: Array) -> Array:
    """Bound the error of a place of one next to one of another, moved by (n, 3); few numbers for many shifts."""
    far = np.ldexp(1.0, np.frexp(np.abs(shifts).max(axis=-1, initial=0.0))[1])  # the next power of two
    error: Array = ROUNDING * (reach_a + reach_b + far)
    return error


def turned(boxes: Array, m: Array) -> Array:
    """Return the boxes round boxes at a pose row."""
    half = 0.5 * (boxes[:, 3:] - boxes[:, :3])
    middle = moved(m, 0.5 * (boxes[:, :3] + boxes[:, 3:]))
    half = half @ np.abs(m[:9].reshape(3, 3)).T + ROUNDING * (np.abs(middle) + half + np.abs(m[9:12]))
    return np.hstack([middle - half, middle + half])


def box_at(box: Array, m: Array) -> Array:
    """Return the box round a box at a pose row."""
    whole: Array = turned(box[None], m)[0]
    return whole


class TreeParts(Parts):
    """Parts that are found by a tree of their boxes."""

    __slots__ = ("_tree",)
    _tree: Tree

    def __init__(self, boxes: Array) -> None:
        self.count, self.endless = len(boxes), False
        self._tree = Tree(self.count)
        self._tree.insert(np.arange(self.count), np.ascontiguousarray(boxes))
        self.reach = float(np.abs(self.box).max())

    @property
    def box(self) -> Array:
        """See `Parts`."""
        return self._tree.bounds

    def boxes(self, which: Ints) -> Array:
        """See `Parts`."""
        return self._tree.boxes[which]

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """See `Parts`."""
        return turned(self.boxes(which), m)

    def near(self, boxes: Array, within: float) -> Iterator[Ints]:
        """See `Parts`."""
        mine = self._tree.boxes[: self.count]
        if len(mine) * len(boxes) <= _BRUTE:
            apart = np.zeros((len(boxes), len(mine)), dtype=bool)
            for c in range(3):
                apart |= boxes[:, None, c] - mine[None, :, 3 + c] > within
                apart |= mine[None, :, c] - boxes[:, None, 3 + c] > within
            yield np.argwhere(~apart)
            return
        asked = Tree(len(boxes))
        asked.insert(np.arange(len(boxes)), boxes)
        yield from asked.pairs_with(self._tree, within, BLOCK)

    def along_rays(self, starts: Array, ways: Array, far: float) -> Iterator[Ints]:
        """Yield blocks of a ray and a part whose box it may meet, (k, 2); ``ways`` are unit vectors."""
        return self._tree.along_rays(starts, ways, far)

    def seed(self, box: Array) -> int:
        """See `Parts`."""
        return self._tree.nearest(box)


class Copies(TreeParts):
    """A few shapes at many places, none of them turned."""

    __slots__ = ("_arena", "_hull", "_places", "_shapes", "_which")
    _hull: Callable[[], Shape]
    _shapes: Sequence[Shape]
    _which: Ints

    def __init__(
        self, shapes: Sequence[Shape], which: Ints, places: Array, boxes: Array, hull: Callable[[], Shape]
    ) -> None:
        super().__init__(boxes)
        self._shapes, self._which, self._places = shapes, which, places
        self._arena, self._hull = arena(shapes), cache(hull)

    def pack(self, which: Ints) -> Packed:
        """See `Parts`."""
        ints, floats, starts = self._arena
        return Packed(ints, floats, starts[self._which[which]])

    def rows(self, which: Ints) -> Array:
        """See `Parts`."""
        return translations(self._places[which])

    def shape(self, part: int) -> Shape:
        """See `Parts`."""
        return self._shapes[int(self._which[part])]

    def hull(self) -> Shape:
        """See `Parts`."""
        hull: Shape = self._hull()
        return hull

    def points(self) -> Array:
        """See `Parts`."""
        return self._places


class Triangles(Parts):
    """The triangles of a mesh, numbered as in its tree."""

    __slots__ = ("mesh", "tree")

    def __init__(self, mesh: TriangleSurface) -> None:
        self.mesh, self.tree = mesh, tree_of(mesh)
        self.count, self.reach, self.endless = len(self.tree.order), self.tree.reach, False

    @property
    def box(self) -> Array:
        """See `Parts`."""
        box: Array = self.mesh.bounds.ravel()
        return box

    def boxes(self, which: Ints) -> Array:
        """See `Parts`."""
        return _boxes_round(self.tree.corners[which].reshape(-1, 3, 3))

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """See `Parts`."""
        corners = moved(m, self.tree.corners[which].reshape(-1, 3, 3))
        more = ROUNDING * (self.reach + float(np.abs(m[9:12]).max()))
        boxes: Array = _boxes_round(corners) + np.repeat((-more, more), 3)
        return boxes

    def near(self, boxes: Array, within: float) -> Iterator[Ints]:
        """See `Parts`."""
        first, room = 0, min(BLOCK, 64 * len(boxes) + 1024)
        boxes, query = np.ascontiguousarray(boxes), np.zeros((1, BOX))
        query[0, [6, 10, 14]] = 1.0
        while first < len(boxes):
            found = np.empty((room, 2), dtype=np.int64)
            count, then = near_boxes(boxes, within, first, *self.tree.arrays, traversal_stack(), query, found)
            room, first = room if then > first else 8 * room, then
            if count:
                yield found[:count]

    def seed(self, box: Array) -> int:
        """See `Parts`."""
        out, which = np.empty((1, 4)), np.empty(1, dtype=np.int64)
        middle = 0.5 * (box[None, :3] + box[None, 3:])
        to_points(middle, 1e150, *self.tree.arrays, traversal_stack(), np.empty(STACK), out, which)
        return int(which[0])

    def pack(self, which: Ints) -> Packed:
        """See `Parts`."""
        return packed_triangles(self.tree.corners[which])

    def rows(self, which: Ints) -> Array:
        """See `Parts`."""
        return np.repeat(IDENTITY, len(which), axis=0)

    def shape(self, part: int) -> Shape:
        """See `Parts`."""
        return Triangle(self.tree.corners[part].reshape(3, 3))

    def hull(self) -> Shape:
        """See `Parts`."""
        return self.mesh.hull()

    @property
    def convex_slack(self) -> float:
        """See `Parts`."""
        return self.mesh._convex_slack

    @property
    def solids(self) -> list[tuple[TriangleSurface, Array]]:
        """See `Parts`."""
        return [(self.mesh, IDENTITY[0])] if self.mesh.is_solid else []

    def points(self) -> Array:
        """See `Parts`."""
        return self.mesh._body_points

    def samples(self) -> Array:
        """See `Parts`."""
        return self.mesh._used

    def outward(self, which: Ints) -> Array:
        """See `Parts`."""
        return self.mesh._outward(self.tree.order[which])


def _boxes_round(corners: Array) -> Array:
    return np.hstack([corners.min(axis=1), corners.max(axis=1)])


def packed_triangles(corners: Array) -> Packed:
    """Return triangles, (n, 9), as the kernels take them: ints that serve every one, and a row of floats each."""
    v = corners.reshape(-1, 3, 3)
    low, high = v.min(axis=1), v.max(axis=1)
    center = low + (high - low) / 2
    near = np.linalg.norm(center, axis=1) <= 2.0 * np.linalg.norm(high - low, axis=1)
    center[near] = 0.0
    local = v - center[:, None]
    head = layout.FLOAT_HEAD
    floats = np.zeros((len(v), head + 9))
    floats[:, layout.CENTER : layout.CENTER + 3] = center
    floats[:, layout.RHO] = np.sqrt((local**2).sum(axis=2).max(axis=1)) * (1.0 + 1e-15)
    floats[:, head:] = local.transpose(0, 2, 1).reshape(len(v), 9)
    starts = np.column_stack([np.zeros(len(v), dtype=np.int64), np.arange(len(v)) * floats.shape[1]])
    return Packed(_TRIANGLE, floats.ravel(), starts)


_TRIANGLE = Triangle([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])._packed[0]


class PlacedParts(TreeParts):
    """Shapes and meshes at poses; each triangle of a mesh is a part, and what a closed one holds is inside."""

    __slots__ = ("_floats", "_hull", "_ints", "_mapped", "_owners", "_rows", "_starts", "things")

    def __init__(self, things: Sequence[tuple[Shape | Mesh, Array]]) -> None:
        self.things = list(things)
        ints: list[Ints] = []
        floats: list[Array] = []
        known: dict[int, Ints] = {}
        starts, rows, owners = [], [], []
        room = np.zeros(2, dtype=np.int64)
        for k, (thing, row) in enumerate(self.things):
            if id(thing) not in known:
                if isinstance(thing, Mesh):
                    q, f, offsets = packed_triangles(thing.vertices[thing.faces].reshape(-1, 9))
                else:
                    q, f = thing._packed
                    offsets = np.zeros((1, 2), dtype=np.int64)
                known[id(thing)] = room + offsets
                ints.append(q)
                floats.append(f)
                room = room + (len(q), len(f))
            begin = known[id(thing)]
            starts.append(begin)
            rows.append(np.broadcast_to(row, (len(begin), WIDTH)))
            owners.append(np.full(len(begin), k))
        self._ints, self._floats = np.concatenate(ints), np.concatenate(floats)
        self._starts, self._rows, self._owners = np.concatenate(starts), np.concatenate(rows), np.concatenate(owners)
        mapped = np.array([isinstance(thing, Shape) and is_mapped(thing) for thing, _ in self.things])
        self._mapped = mapped[self._owners]
        super().__init__(self._placed(np.arange(len(self._owners)), self._rows))
        self._hull: Any = 0

    def _placed(self, which: Ints, rows: Array) -> Array:
        out = np.empty((len(which), 6))
        placed_boxes(
            self._ints, self._floats, self._starts[which], self._mapped[which].astype(np.int64),
            np.ascontiguousarray(rows), np.arange(len(which)), out,
        )  # fmt: skip
        return out

    def owners(self, which: Ints) -> Ints:
        """Return which of ``things`` some parts are of."""
        found: Ints = self._owners[which]
        return found

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """See `Parts`."""
        return self._placed(which, composed(m, self._rows[which]))

    def pack(self, which: Ints) -> Packed:
        """See `Parts`."""
        return Packed(self._ints, self._floats, self._starts[which])

    def rows(self, which: Ints) -> Array:
        """See `Parts`."""
        return self._rows[which]

    def mapped(self, which: Ints) -> Bools:
        """See `Parts`."""
        found: Bools = self._mapped[which]
        return found

    def shape(self, part: int) -> Shape:
        """See `Parts`."""
        thing = self.things[self._owners[part]][0]
        if isinstance(thing, Shape):
            return thing
        f = self._floats[self._starts[part, 1] :]
        local = f[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 9].reshape(3, 3).T
        return Triangle(local + f[layout.CENTER : layout.CENTER + 3])

    def hull(self) -> Shape | None:
        """See `Parts`."""
        if isinstance(self._hull, int):
            few = sum(getattr(thing, "vertices", None) is None for thing, _ in self.things) <= _MOST_CURVED
            self._hull = hull_of_all(self.things) if few else None
        hull: Shape | None = self._hull
        return hull

    @property
    def convex_slack(self) -> float:
        """See `Parts`."""
        only = self.things[0][0]
        return inf if len(self.things) > 1 else only._convex_slack if isinstance(only, Mesh) else 0.0

    @property
    def solids(self) -> list[tuple[TriangleSurface, Array]]:
        """See `Parts`."""
        return [(x, row) for x, row in self.things if isinstance(x, Mesh) and x.is_solid]

    def points(self) -> Array:
        """See `Parts`."""
        own = (x._body_points if isinstance(x, Mesh) else x.support(_EVERY_WAY[:1]) for x, _ in self.things)
        return np.concatenate([moved(row, some) for some, (_, row) in zip(own, self.things, strict=True)])

    def samples(self) -> Array:
        """See `Parts`."""
        own = (x._used if isinstance(x, Mesh) else x.support(_EVERY_WAY) for x, _ in self.things)
        return np.concatenate([moved(row, some) for some, (_, row) in zip(own, self.things, strict=True)])

    def outward(self, which: Ints) -> Array:
        """See `Parts`."""
        out, owners = super().outward(which), self._owners[which]
        for k in np.unique(owners):
            thing, row = self.things[k]
            if isinstance(thing, Mesh):
                some = owners == k
                faces = which[some] - np.searchsorted(self._owners, k)
                out[some] = thing._outward(faces) @ row[:9].reshape(3, 3).T
        return out


def hull_of_all(things: Sequence[tuple[Shape | Mesh, Array]]) -> Shape:
    """Return the convex hull of shapes and meshes at poses."""
    if len(things) == 1 and (things[0][1] == IDENTITY[0]).all():
        only = things[0][0]
        return only if isinstance(only, Shape) else only.hull()
    points, curved = [], []
    for thing, row in things:
        corners = thing.hull().vertices if isinstance(thing, Mesh) else getattr(thing, "vertices", None)
        if corners is not None:
            points.append(moved(row, np.asarray(corners)))
            continue
        assert isinstance(thing, Shape)
        curved.append(thing.placed(matrices(row)))
    if points:
        curved.append(ConvexHull(np.concatenate(points)))
    return curved[0] if len(curved) == 1 else ConvexUnion(*curved)


def parts_of(thing: Body | Shape) -> Parts:
    """Return a body, or one shape, as parts; packed once."""
    if isinstance(thing, Body):
        return thing._as_parts()
    if "parts" not in thing._cache:
        thing._cache["parts"] = PlacedParts([(thing, IDENTITY[0])])
    parts: Parts = thing._cache["parts"]
    return parts
