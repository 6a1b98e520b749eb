"""The parts of bodies with their boxes: triangles of a mesh, copies of a few shapes, shapes and meshes at poses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import hypot, inf, pi, prod, sqrt
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.base import COPIES, ENDLESS, OPEN, PLACED, PRISMS, SKIN, TRIANGLES, Body, Parts, PartTree
from gjk3d.bodies.bvh import HEAD, WideTree, fitted_to, head_of, parted, straight, tree_of, wide_tree, wide_tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.topology import edges_of
from gjk3d.broad import Tree
from gjk3d.convex.batch import pack_shapes
from gjk3d.convex.solve import is_mapped, placed_boxes
from gjk3d.geometry.vec3 import REACH, RIM, ROOT, Rigid, box_pose, gap_squared
from gjk3d.narrow.cores import AT_ORIGIN, relative_pose
from gjk3d.poses import IDENTITY, ROUNDING, composed, matrices, moved
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import ConvexUnion
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull, Triangle
from gjk3d.typing import Array, Array1, Array2, Bools, Ints, Ints2

_building = Lock()  #: guards the creation of a wide tree, whose addresses must be those of the retained arrays
_MOST_CURVED = 256  #: greatest number of curved parts whose hull is computed from their support mappings
_EVERY_WAY = np.array([(x, y, z) for x in (1.0, 0.0, -1.0) for y in (0.0, 1.0, -1.0) for z in (0.0, 1.0, -1.0)])
_EVERY_WAY = _EVERY_WAY[_EVERY_WAY.any(axis=1)]  #: 26 directions, with x first


def turned(boxes: Array, m: Array) -> Array:
    """Return the axis-aligned boxes, (n, 6), around boxes, (n, 6), that are moved by a pose row."""
    half = 0.5 * (boxes[:, 3:] - boxes[:, :3])
    middle = moved(m, 0.5 * (boxes[:, :3] + boxes[:, 3:]))
    half = half @ np.abs(m[:9].reshape(3, 3)).T + ROUNDING * (np.abs(middle) + half + np.abs(m[9:12]))
    return np.hstack([middle - half, middle + half])


class TreeParts(Parts):
    """Parts with axis-aligned boxes, numbered in the order of the leaves of a tree over the boxes."""

    __slots__ = ("_box", "_links", "_order", "_rays", "_spans")

    def __init__(self, boxes: Array, leaf: int) -> None:
        """Build the tree with at most ``leaf`` parts per leaf. Subclasses reorder their data by `_order`."""
        order, links = parted(np.ascontiguousarray(boxes), leaf)
        self._spans = boxes[order]
        self._set(order, links, np.concatenate([boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)]))

    def _set(self, order: Ints, links: Ints, box: Array) -> None:
        self.count, self.endless, self._order, self._links = len(order), False, order, links
        self._rays: Tree | None = None
        self._box, self.reach = box, float(np.abs(box).max())

    @property
    def box(self) -> Array:
        """The box around all parts, (6,)."""
        return self._box

    def boxes(self, which: Ints) -> Array:
        """Return the boxes of some parts, (k, 6)."""
        return self._spans[which]

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes of some parts at a pose row, (k, 6)."""
        return turned(self.boxes(which), m)

    def along_rays(self, starts: Array, directions: Array, far: float) -> Iterator[Ints]:
        """Yield (k, 2) arrays: a row has the indices of a ray and of a part whose box the ray may hit within ``far``.

        ``directions`` has the unit vectors of the rays.
        """
        if self._rays is None:
            self._rays = Tree(self.count)
            every = np.arange(self.count)
            self._rays.insert(every, self.boxes(every))
        return self._rays.along_rays(starts, directions, far)


_MOST_CELLS = 1 << 21  #: greatest number of cells of a grid for which `Copies.in_cells` lists the part of each cell


class Grid(NamedTuple):
    """A voxel grid, and the block of its cells that each part fills."""

    cells: Ints  #: (n, 6), a row per part, in the given order: least cell index along each axis, then greatest plus 1
    origin: Array
    pitch: float
    shape: tuple[int, ...]


class Copies(TreeParts):
    """Translated copies of a few shapes."""

    __slots__ = ("_arena", "_hull", "_pieces", "_places", "_shapes", "_which", "grid")
    _hull: Callable[[], Shape]
    _pieces: Ints | None  #: number of the connected piece of each part, if known
    _shapes: Sequence[Shape]
    _which: Ints
    grid: Grid | None  #: the grid if the parts are blocks of voxels, otherwise None

    def __init__(
        self, shapes: Sequence[Shape], which: Ints, places: Array, boxes: Array, hull: Callable[[], Shape],
        pieces: Ints | None = None, grid: Grid | None = None,
    ) -> None:  # fmt: skip
        super().__init__(boxes, 4 if len(shapes) == 1 else 2)
        self._shapes, self._which, self._places = shapes, which[self._order], places[self._order]
        self._arena, self._hull = pack_shapes(shapes), cache(hull)
        self._pieces, self.grid = None if pieces is None else pieces[self._order], grid

    def in_cells(self) -> PartTree:
        """Return the tree, with the index of the part in each grid cell as the field ``skin``.

        The index is -1 for an empty cell. `gjk3d.bodies.depth.pushes` reads the indices. The tree is unchanged for
        large grids, and for shapes that are not in a grid.
        """
        grid = self.grid
        if grid is None or prod(grid.shape) > _MOST_CELLS:
            return self.given
        parts = np.full(grid.shape, -1, dtype=np.int64)
        for k, (i, j, c, i1, j1, c1) in enumerate(grid.cells[self._order].tolist()):
            parts[i:i1, j:j1, c:c1] = k
        return self.given._replace(skin=parts.ravel(), span=np.array([*grid.origin, grid.pitch, *grid.shape[1:]]))

    def _give(self) -> PartTree:
        ints, floats, starts = self._arena
        table = starts if len(starts) == 1 else starts[self._which]
        nodes, rim = self._boxes_of_nodes()
        return given(COPIES, nodes, self._links, self._places, table, ints, floats, rim=rim, reach=self.reach,
                     points=self.points())  # fmt: skip

    def _boxes_of_nodes(self) -> tuple[Array, float]:
        """Return the axis-aligned boxes of the nodes, and the radius by which they are rounded."""
        return straight(self._spans, self._links), 0.0

    def made_of(self) -> tuple[Sequence[Any], Ints]:
        """Return the shapes of the parts, and the index of the shape of each part. A single index applies to all."""
        return self._shapes, self._which if len(self._shapes) > 1 else np.zeros(1, dtype=np.int64)

    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""
        return self._shapes[int(self._which[part])]

    def hull(self) -> Shape:
        """Return the convex hull of all parts."""
        return self._hull()

    def ends(self, n: Array) -> Array:
        """Return the lowest and highest point along n of each connected piece (of each part if unknown), (k, 2, 3)."""
        shape_ends = np.stack([shape.support(np.stack([-n, n])) for shape in self._shapes])
        ends: Array = shape_ends[self._which] + self._places[:, None]
        return ends if self._pieces is None else ends_of(ends.reshape(-1, 3), np.repeat(self._pieces, 2), n)

    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""
        return self._places


class Triangles(Parts):
    """The triangles of a mesh, numbered as in its tree."""

    __slots__ = ("mesh", "tree")

    def __init__(self, mesh: Mesh) -> None:
        self.mesh, self.tree = mesh, tree_of(mesh)
        self.count, self.reach, self.endless = len(self.tree.order), self.tree.reach, False

    @property
    def box(self) -> Array:
        """The box around all parts, (6,)."""
        return self.mesh.bounds.ravel()

    def boxes(self, which: Ints) -> Array:
        """Return the boxes of some parts, (k, 6)."""
        return boxes_round(self.tree.corners[which].reshape(-1, 3, 3))

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes of some parts at a pose row, (k, 6)."""
        corners = moved(m, self.tree.corners[which].reshape(-1, 3, 3))
        more = ROUNDING * (self.reach + float(np.abs(m[9:12]).max()))
        boxes: Array = boxes_round(corners) + np.repeat((-more, more), 3)
        return boxes

    def _give(self) -> PartTree:
        boxes, links, corners = self.tree.arrays
        table = np.zeros((1, 3), dtype=np.int64)
        return given(
            TRIANGLES, boxes, links, corners, table, ONE_TRIANGLE, np.zeros(1), reach=self.reach, points=self.points(),
            inside=SKIN if self.mesh.is_solid else OPEN, span=self.mesh.bounds.ravel(),
        )  # fmt: skip

    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""
        return Triangle(self.tree.corners[part].reshape(3, 3))

    def hull(self) -> Shape:
        """Return the convex hull of all parts."""
        return self.mesh.hull()

    @property
    def convex_slack(self) -> float:
        """The greatest difference between the depths of the body and of its hull; infinite for a non-convex body."""
        return self.mesh._convex_slack

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """Closed meshes with an interior, and their pose rows."""
        return [(self.mesh, IDENTITY[0])] if self.mesh.is_solid else []

    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point along n of each connected piece, (k, 2, 3)."""
        return ends_of(self.mesh._vertices[self.mesh._faces.ravel()], np.repeat(self.mesh._bodies, 3), n)

    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""
        return self.mesh._body_points

    def samples(self) -> Array:
        """Return points spread over the whole body, (k, 3), for lower bounds of depth."""
        return self.mesh._used

    def across_edges(self) -> tuple[Ints, bool]:
        """Return the index of the neighbour of each triangle across each of its edges, (m, 3), and a bool.

        If a neighbour is missing, the index is that of the triangle itself. The bool is whether any edge has more than
        two triangles.
        """
        return self.mesh._cached("across edges", self._find_across_edges)

    def _find_across_edges(self) -> tuple[Ints, bool]:
        edges, order = edges_of(self.mesh._places, self.mesh._faces), self.tree.order
        leaves = np.empty(self.count, dtype=np.int64)
        leaves[order] = np.arange(self.count)
        across = np.repeat(np.arange(self.count)[:, None], 3, axis=1)
        sides = edges.numbers.ravel().argsort(kind="stable")
        numbers, which = edges.numbers.ravel()[sides], leaves[edges.faces[sides // 3]]
        first = (numbers[1:] == numbers[:-1]).nonzero()[0]
        for one, other in ((first, first + 1), (first + 1, first)):
            across[which[one], sides[one] % 3] = which[other]
        return across, bool((numbers[2:] == numbers[:-2]).any())

    def outward(self, which: Ints) -> Array:
        """Return the unit normals of some parts, out of the solid that they bound, (k, 3)."""
        every = self.mesh._cached("outward", lambda: self.mesh._outward(self.tree.order))
        return every[which]


def joined_skins(solids: Sequence[tuple[Mesh, Array]]) -> tuple[Array, Ints]:
    """Return the vertices and faces of the surfaces of closed meshes at pose rows, with outward winding."""
    vertices, faces, count = [], [], 0
    for mesh, row in solids:
        skin = mesh.skin
        vertices.append(moved(row, skin.vertices))
        faces.append(count + (skin.faces if skin.volume > 0.0 else skin.faces[:, ::-1]))
        count += len(skin.vertices)
    return np.concatenate(vertices), np.concatenate(faces)


def only_skin(solids: Sequence[tuple[Mesh, Array]]) -> Mesh | None:
    """Return the surface of the mesh if ``solids`` is one closed mesh at the identity pose, otherwise None."""
    return solids[0][0].skin if len(solids) == 1 and (solids[0][1] == IDENTITY[0]).all() else None


def wide_skin(parts: Parts) -> WideTree:
    """Return the wide tree over the surfaces of the closed meshes, or over an open mesh, cached in the parts."""
    with _building:
        try:
            wide: WideTree = parts._wide
        except AttributeError:
            solids = parts.solids
            mesh = parts.mesh if isinstance(parts, Triangles) and not solids else only_skin(solids)
            wide = parts._wide = wide_tree(*joined_skins(solids)) if mesh is None else wide_tree_of(mesh)
    return wide


def complete(parts: Parts) -> PartTree:
    """Return the parts in the format of the kernels, and build the wide tree of the surface if it is missing.

    Some collision queries do not need the wide tree, so `Parts.given` does not build it.
    """
    tree = parts.given
    if len(tree.skin) and not tree.skin[0]:
        head = head_of(wide_skin(parts))
        # traversals of other threads use the tree as soon as the first address is not 0
        tree.skin[1:], tree.skin[0] = head[1:], head[0]
    return tree


def boxes_round(corners: Array) -> Array:
    """Return the axis-aligned boxes (n, 6) around groups of points (n, k, 3)."""
    return np.hstack([corners.min(axis=1), corners.max(axis=1)])


def packed_triangles(corners: Array) -> tuple[Ints, Array, Ints]:
    """Return triangles, (n, 9), in the format of `gjk3d.shapes.layout`.

    The values are the ints, which all triangles share, the floats, and for each triangle its start in the ints and
    in the floats, (n, 2).
    """
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
    return ONE_TRIANGLE, floats.ravel(), starts


#: ints that all triangles share
ONE_TRIANGLE = Triangle([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])._packed[0]


class PlacedParts(TreeParts):
    """Shapes and meshes at poses. Each triangle of a mesh is a part, and a closed mesh includes its interior."""

    __slots__ = (
        "_any_mapped", "_faces", "_floats", "_hull", "_ints", "_mapped", "_owners", "_starts",
        "_things_rows", "things",
    )  # fmt: skip

    def __init__(self, things: Sequence[tuple[Shape | Mesh, Array]]) -> None:
        self.things = list(things)
        ints: list[Ints] = []
        floats: list[Array] = []
        offsets_of: dict[int, Ints] = {}
        room = np.zeros(2, dtype=np.int64)
        for thing, _ in self.things:
            if id(thing) not in offsets_of:
                if isinstance(thing, Mesh):
                    q, f, offsets = packed_triangles(thing.vertices[thing.faces].reshape(-1, 9))
                else:
                    q, f = thing._packed
                    offsets = np.zeros((1, 2), dtype=np.int64)
                offsets_of[id(thing)] = room + offsets
                ints.append(q)
                floats.append(f)
                room = room + (len(q), len(f))
        begins = [offsets_of[id(thing)] for thing, _ in self.things]
        self._ints = np.concatenate(ints) if len(ints) > 1 else ints[0]  # a single object is not copied
        self._floats = np.concatenate(floats) if len(floats) > 1 else floats[0]
        self._things_rows = np.array([row for _, row in self.things])
        self._starts = np.concatenate(begins)
        self._owners = np.repeat(np.arange(len(begins)), [len(part_ints) for part_ints in begins])
        self._faces = np.concatenate([np.arange(len(part_ints)) for part_ints in begins])
        mapped = np.array([isinstance(thing, Shape) and is_mapped(thing) for thing, _ in self.things])
        self._mapped = mapped[self._owners]
        every = np.arange(len(self._owners))
        super().__init__(self._placed(every, self._things_rows[self._owners]), 1)
        order = self._order
        self._starts, self._owners, self._faces = self._starts[order], self._owners[order], self._faces[order]
        self._mapped, self._any_mapped = self._mapped[order], bool(mapped.any())
        self._hull: Any = 0

    def _placed(self, which: Ints, rows: Array) -> Array:
        out = np.empty((len(which), 6))
        placed_boxes(
            self._ints, self._floats, self._starts[which], self._mapped[which].astype(np.int64),
            np.ascontiguousarray(rows), np.arange(len(which)), out,
        )  # fmt: skip
        return out

    def _give(self) -> PartTree:
        table = np.column_stack([self._starts, self._owners])
        nodes, rim = straight(self._spans, self._links), 0.0
        if self.count == 1 and not self.any_mapped:
            rim = _rounded(self.things[0], self._floats, self._spans[0], nodes[0])
        span = None
        if solids := self.solids:
            vertices, faces = joined_skins(solids)
            span = boxes_round(vertices[faces].reshape(1, -1, 3))[0]
        points = np.zeros((0, 3)) if self.any_mapped else self.points()
        return given(
            PLACED, nodes, self._links, self._things_rows, table, self._ints, self._floats, rim=rim, reach=self.reach,
            points=points, inside=SKIN if solids else OPEN, span=span,
        )  # fmt: skip

    def made_of(self) -> tuple[Sequence[Any], Ints]:
        """Return the shapes and meshes, and for each part the index of the shape or mesh that contains it."""
        return [thing for thing, _ in self.things], self._owners

    def owners(self, which: Ints) -> Ints:
        """Return for each part in ``which`` the index in ``things`` of the object that contains it, (k,)."""
        return self._owners[which]

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes of some parts at a pose row, (k, 6)."""
        return self._placed(which, composed(m, self._things_rows[self._owners[which]]))

    @property
    def any_mapped(self) -> bool:
        """Whether a part is a support mapping of a user."""
        return self._any_mapped

    def mapped(self, which: Ints) -> Bools:
        """Return which parts are support mappings of users."""
        return self._mapped[which]

    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""
        thing = self.things[self._owners[part]][0]
        if isinstance(thing, Shape):
            return thing
        f = self._floats[self._starts[part, 1] :]
        local = f[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 9].reshape(3, 3).T
        return Triangle(local + f[layout.CENTER : layout.CENTER + 3])

    def hull(self) -> Shape | None:
        """Return the convex hull, or None if it is too expensive or does not exist."""
        if isinstance(self._hull, int):
            few = sum(getattr(thing, "vertices", None) is None for thing, _ in self.things) <= _MOST_CURVED
            self._hull = hull_of_all(self.things) if few else None
        hull: Shape | None = self._hull
        return hull

    @property
    def convex_slack(self) -> float:
        """The greatest difference between the depths of the body and of its hull; infinite for a non-convex body."""
        only = self.things[0][0]
        return inf if len(self.things) > 1 else only._convex_slack if isinstance(only, Mesh) else 0.0

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """Closed meshes with an interior, and their pose rows."""
        return [(x, row) for x, row in self.things if isinstance(x, Mesh) and x.is_solid]

    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point along n of each shape and connected piece of a mesh, (k, 2, 3)."""
        out = []
        for thing, row in self.things:
            local_normal = n @ row[:9].reshape(3, 3)
            ends = (
                thing.support(np.stack([-local_normal, local_normal]))
                if isinstance(thing, Shape)
                else parts_of(thing).ends(local_normal)
            )
            out.append(moved(row, ends.reshape(-1, 3)))
        return np.concatenate(out).reshape(-1, 2, 3)

    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""
        part_points = (x._body_points if isinstance(x, Mesh) else x.support(_EVERY_WAY[:1]) for x, _ in self.things)
        return np.concatenate([moved(row, some) for some, (_, row) in zip(part_points, self.things, strict=True)])

    def samples(self) -> Array:
        """Return points spread over the whole body, (k, 3), for lower bounds of depth."""
        part_points = (x._used if isinstance(x, Mesh) else x.support(_EVERY_WAY) for x, _ in self.things)
        return np.concatenate([moved(row, some) for some, (_, row) in zip(part_points, self.things, strict=True)])

    def outward(self, which: Ints) -> Array:
        """Return the unit normals of some parts, out of the solid that they bound, (k, 3)."""
        out, owners = super().outward(which), self._owners[which]
        for k in np.unique(owners):
            thing, row = self.things[k]
            if isinstance(thing, Mesh):
                some = owners == k
                out[some] = thing._outward(self._faces[which[some]]) @ row[:9].reshape(3, 3).T
        return out


def _rounded(thing: tuple[Shape | Mesh, Array], floats: Array, span: Array, node: Array) -> float:
    """Replace ``node``, a shape's box, by the box of the core, and return the radius by which this box is rounded.

    If the ball around the shape is smaller than the rounded box, the box becomes a point with the radius of the ball.
    """
    shape, row = thing
    rim, slack = float(floats[layout.RADIUS]), float(floats[layout.SLACK]) + ROUNDING * float(np.abs(span).max())
    vertices = getattr(shape, "vertices", None)
    if vertices is not None:
        node[:] = fitted_to(moved(row, vertices))
        node[3:6] += slack
    else:
        node[3:6] -= rim
    ball, half = rim + float(floats[layout.RHO]), node[3:6] + rim
    if half.min() > 0.0 and 4.0 / 3.0 * pi * np.prod(ball / half) < 8.0:
        node[:3], node[3:6] = moved(row, floats[None, layout.CENTER : layout.CENTER + 3])[0], 0.0
        return ball * (1.0 + 1e-12) + slack
    return rim


def given(
    kind: int, boxes: Array, links: Ints, places: Array, table: Ints, ints: Ints, floats: Array, *, points: Array,
    reach: float, rim: float = 0.0, inside: int = OPEN, span: Array | None = None,
) -> PartTree:  # fmt: skip
    """Return the parts of a body as a `PartTree` with contiguous arrays; ``span`` is the box of the closed surface."""
    skin = np.zeros(HEAD if inside == SKIN or (kind == TRIANGLES and floats[0] == 0.0) else 0, dtype=np.int64)
    arrays = boxes, links, places, table, ints, floats, skin, np.zeros(6) if span is None else span, points
    fields: Any = (*map(_plain, arrays), kind, inside, rim, reach)
    return PartTree(*fields)


def _plain(array: Any) -> Any:
    """Return an array as contiguous int64 or float64, as kernels require for arrays in tuples."""
    kind = np.dtype(np.int64 if array.dtype.kind == "i" else np.float64)
    if array.dtype is kind and array.flags.carray:
        return array
    out = np.empty(array.shape, dtype=kind)
    out[...] = array
    return out


def ends_of(points: Array, pieces: Ints, n: Array) -> Array:
    """Return the lowest and the highest point along n of each piece, (k, 2, 3).

    ``pieces`` has the index of the piece of each point.
    """
    order = np.lexsort((points @ n, pieces))
    first = np.flatnonzero(np.diff(pieces[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    return np.stack([points[order[first]], points[order[last]]], axis=1)


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
    """Return the parts of a body or shape, cached."""
    if isinstance(thing, Body):
        return thing._as_parts()
    if "parts" not in thing._cache:
        thing._cache["parts"] = PlacedParts([(thing, IDENTITY[0])])
    parts: Parts = thing._cache["parts"]
    return parts


@inlined
def _reach_of(m: Rigid, r: int, b: Array, j: int) -> float:
    """Return the half extent of box j along axis r of a frame in which m is the pose of the box."""
    return float(abs(m[3 * r]) * b[j, 3] + abs(m[3 * r + 1]) * b[j, 4] + abs(m[3 * r + 2]) * b[j, 5])


@kernel
def _overlap(m: Rigid, roots: Array, a: int, b: int) -> float:
    """Return the least overlap of boxes a and b along their axes, the length of a separating translation.

    m is the pose of box b in the frame of box a.
    """
    least = inf
    inverse = (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], 0.0, 0.0, 0.0)
    for r in range(3):
        overlap_a = roots[a, 3 + r] + _reach_of(m, r, roots, b) - abs(m[9 + r])
        off = m[9] * m[r] + m[10] * m[3 + r] + m[11] * m[6 + r]
        overlap_b = roots[b, 3 + r] + _reach_of(inverse, r, roots, a) - abs(off)
        least = min(least, min(overlap_a, overlap_b))
    return least


@entry
def least_distances(rows: Array2, at: Ints2, roots: Array2, which: Ints2, rounding: float, out: Array1) -> None:
    """Write lower bounds of the signed distances of pairs to ``out``.

    Pair k has the boxes ``roots[which[k]]`` at the pose rows ``rows[at[k]]``.
    """
    for k in range(at.shape[0]):
        a, b = which[k, 0], which[k, 1]
        if max(roots[a, REACH], roots[b, REACH]) == inf:
            out[k] = -inf
            continue
        m = relative_pose(rows[at[k, 0]], AT_ORIGIN, rows[at[k, 1]], AT_ORIGIN)
        error = rounding * (roots[a, REACH] + roots[b, REACH] + max(abs(m[9]), max(abs(m[10]), abs(m[11]))))
        to = box_pose(m, roots, a, roots, b)
        square = gap_squared(
            to, roots[a, 3], roots[a, 4], roots[a, 5], roots[b, 3], roots[b, 4], roots[b, 5]
        )  # fmt: skip
        gap = sqrt(square) if square > 0.0 else -_overlap(to, roots, a, b)
        out[k] = gap - roots[a, RIM] - roots[b, RIM] - 4.0 * error


def root_of(tree: PartTree) -> Array:
    """Return the root of a tree, (19,): the box around the body and further columns, see `gjk3d.geometry.vec3`."""
    box = tree.boxes[0].tolist()
    endless = tree.kind == PRISMS and tree.floats[ENDLESS] > -inf
    return np.array([*box, inf if endless else tree.reach, tree.rim, hypot(*box[3:6])])


def root_of_object(thing: Any) -> Array:
    """Return the root of an object, see `root_of`. All its numbers are inf for a half-space or a class of a user."""
    if not isinstance(thing, (Body, Shape)) or isinstance(thing, Halfspace):
        return np.full(ROOT, inf)
    return thing._cached("root", lambda: root_of(parts_of(thing).given))


def least_possible(things: Sequence[Any], pairs: Ints, rows: Array, at: Ints) -> Array:
    """Return lower bounds of the signed distances of pairs of objects, -inf for unbounded objects.

    ``pairs`` has the two indices of each pair in ``things``, and ``at`` the two indices of its poses in ``rows``.
    """
    numbers, which = np.unique(pairs, return_inverse=True)
    roots = np.stack([root_of_object(things[number]) for number in numbers.tolist()])
    out = np.empty(len(pairs))
    least_distances(rows, np.ascontiguousarray(at), roots, which.reshape(-1, 2), ROUNDING, out)
    return out
