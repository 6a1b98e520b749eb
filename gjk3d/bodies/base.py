"""The protocol of non-convex bodies, and their format for the kernels.

A body is a union of convex parts, numbered from 0. A new body derives from `Body` and defines its `Parts` in
`_build_parts`: the boxes of the parts, a tree over the boxes, and the format for the kernels. All queries use only
these members, see `body_pair`, `distance`, `depth`, `contact` and `raycast`.

The kernels read a body as a `PartTree`: a tree of boxes, and the parts, which are unpacked one by one. Boxes are as in
`bvh`. All boxes of a body are rounded by one radius, ``rim``: a ball is a box of width 0 with a rim. A part is a shape
of `gjk3d.shapes.layout` at a pose row. Triangles, columns of a height field and copies are created on access, so that a
large body is stored only once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.geometry.vec3 import Rigid, Vec3, box_pose, boxes_apart, from_box, gap_squared, place
from gjk3d.poses import WIDTH
from gjk3d.shapes import layout
from gjk3d.shapes.base import Collidable, Kind, Shape
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Bools, Ints, Ints1, Ints2

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh

# --- the protocol ----------------------------------------------------------------------------------------------------


class Parts(ABC):
    """Convex parts in one frame. The box of a part contains the part, and is a row of the least and greatest corner."""

    __slots__ = (
        "__weakref__", "_fast", "_given", "_head", "_looped", "_outward", "_solids", "_surface", "_wide", "count",
        "endless", "reach",
    )  # fmt: skip

    count: int
    reach: float  #: greatest absolute coordinate of any part
    endless: bool  #: whether all parts are unbounded below, beyond their boxes
    _fast: Any  #: see `gjk3d.bodies.depth.fast`
    _head: Any  #: see `gjk3d.engine.store`
    _looped: tuple[Any, int]  #: see `gjk3d.bodies.manifolds`
    _outward: Any  #: see `gjk3d.bodies.depth.points`
    _solids: Any  #: see `gjk3d.bodies.depth.depth`
    _surface: Any  #: see `gjk3d.bodies.depth.points`
    _wide: Any  #: see `gjk3d.bodies.parts.complete`

    # --- abstract members ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def box(self) -> Array:
        """The box around all parts, (6,): the least corner, then the greatest."""

    @abstractmethod
    def boxes(self, which: Ints) -> Array:
        """Return the boxes of the parts ``which``, (k, 6): the least corner of each, then the greatest."""

    @abstractmethod
    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes, (k, 6), of the parts ``which`` if the body is placed at the pose row m."""

    @abstractmethod
    def _give(self) -> PartTree:
        """Return all parts in the format of the kernels, in the order of the leaves of their tree."""

    @abstractmethod
    def shape(self, part: int) -> Shape:
        """Return a part as a shape in the frame of the part, without its pose row."""

    @abstractmethod
    def ends(self, n: Array) -> Array:
        """Return for each part, or for each connected piece, its lowest and its highest point along n, (k, 2, 3)."""

    @abstractmethod
    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""

    @property
    def given(self) -> PartTree:
        """All parts in the format of the kernels, cached. `gjk3d.bodies.parts.complete` adds the field ``skin``."""
        try:
            return self._given
        except AttributeError:
            self._given: PartTree = self._give()
        return self._given

    def made_of(self) -> tuple[Sequence[Any], Ints]:
        """Return a list of shapes, and for each part the index of its shape in this list.

        A single index applies to all parts. An item that is not a shape is a mesh whose triangles are parts. The list
        is empty if all parts are triangles of one mesh or columns of a height field.
        """
        return [], np.zeros(1, dtype=np.int64)

    # --- optional overrides -------------------------------------------------------------------------------------

    @property
    def any_mapped(self) -> bool:
        """Whether at least one part is a support mapping of a user."""
        return False

    def mapped(self, which: Ints) -> Bools:
        """Return for each part in ``which`` whether it is a support mapping of a user, (k,)."""
        return np.zeros(len(which), dtype=bool)

    def hull(self) -> Shape | None:
        """Return the convex hull, or None if it is too expensive or does not exist."""
        return None

    @property
    def convex_slack(self) -> float:
        """A bound of the difference between the depths of the body and of its hull, infinite for a non-convex body."""
        return inf

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """The closed meshes with a solid interior, each with its pose row."""
        return []

    def samples(self) -> Array:
        """Return points spread over the whole body, (k, 3), for lower bounds of its depth in another body."""
        return self.points()

    def outward(self, which: Ints) -> Array:
        """Return the outward unit normals, (k, 3), of the parts ``which``, zero for parts that do not bound a solid."""
        return np.zeros((len(which), 3))


class Body(Collidable):
    """A body of convex parts, which is immutable, hashable and picklable."""

    __slots__ = ()
    _kind = Kind.PARTS

    def _as_parts(self) -> Parts:
        """Return the convex parts, cached."""
        parts: Parts | None = self._cache.get("parts")
        return self._cached("parts", self._build_parts) if parts is None else parts

    def _parts_near(self, reach: float, shift: Array, pushed: bool = True) -> Parts:
        """Return the parts near an object whose points are within ``reach`` of the position ``shift`` in this frame.

        ``pushed`` is whether the object is to be moved out of the body, which may need more parts.
        """
        return self._as_parts()

    @abstractmethod
    def _build_parts(self) -> Parts:
        """Return the convex parts."""

    def _bytes(self) -> Iterator[bytes]:
        """Yield the content as bytes, which are the same in every process."""
        for name in self._field_names():
            yield np.asarray(getattr(self, name)).tobytes()

    @property
    def _order(self) -> tuple[int, ...]:
        """The key of this body. The kernels take the one of two bodies that has the lesser key first."""
        return self._cached("order", self._find_order)

    def _find_order(self) -> tuple[int, ...]:
        key = crc32(repr(self._field_names()).encode())
        for part in self._bytes():
            key = crc32(part, key)
        return self._as_parts().count, key

    @property
    def bounds(self) -> Array:
        """The least and the greatest corner of a box around the body, (2, 3) float, in the frame of the body."""
        return self._as_parts().box.reshape(2, 3).copy()


# --- the format of the kernels ---------------------------------------------------------------------------------------


#: kinds of a `PartTree`, by the content of its ``places``: corners of triangles (m, 9) with a radius in ``floats``,
#: positions of copies (m, 3), pose rows of shapes, heights of a grid
TRIANGLES, COPIES, PLACED, PRISMS = range(4)
#: the interior of a body: no interior, or the inside of ``skin``
OPEN, SKIN = range(2)
#: columns of ``table``: first int, first float and pose row of a part. A height field has only the column CELL, the
#: number of a half cell
FIRST_INT, FIRST_FLOAT, ROW = range(3)
CELL = 0
#: floats of a height field: its origin, its pitches, its bottom, and the height below which it is unbounded
LEFT, FRONT, PITCH_X, PITCH_Y, BOTTOM, ENDLESS = range(6)
PITCH, CELLS_Y, CELLS_Z = 3, 4, 5  #: items of ``span`` of a voxel grid after its origin, see `parts.Copies.in_cells`
WIDEST = layout.FLOAT_HEAD + 18  #: floats of the largest part that is unpacked
DEEPEST = 128  #: greatest number of levels of a tree, which is split into halves below level 64
STACK = 4 * DEEPEST

_GROWN = 16.0 * 2.0**-52
_CENTER, _RADIUS, _RHO, _HEAD = layout.CENTER, layout.RADIUS, layout.RHO, layout.FLOAT_HEAD


class TriangleTree(NamedTuple):
    """Boxes over triangles, see `gjk3d.bodies.bvh`."""

    boxes: Array2  #: (nodes, 15)
    links: Ints2  #: (nodes, 3)
    corners: Array2  #: (m, 9) in the order of the leaves


class PartTree(NamedTuple):
    """A body in the format of the kernels."""

    boxes: Array2  #: (nodes, 15), see `gjk3d.bodies.bvh`
    links: Ints2  #: (nodes, 3)
    places: Array2  #: content by ``kind``
    table: Ints2  #: columns FIRST_INT, FIRST_FLOAT, ROW of each part in the order of the leaves, or one row for all
    ints: Ints1
    floats: Array1
    #: head of the `WideTree` of the closed surface around the interior, or of an open mesh; zeros until it is needed
    skin: Ints1
    span: Array1  #: the box around the closed surface, (6,)
    points: Array2  #: a point of every connected piece, (k, 3)
    kind: int  #: TRIANGLES, COPIES, PLACED or PRISMS
    inside: int  #: OPEN or SKIN
    rim: float  #: radius by which all boxes are rounded
    reach: float  #: greatest absolute coordinate


#: one body with one row (rim, reach), or several bodies of one part in shared arrays with a row (rim, reach) each
GivenShapes = tuple[PartTree, Array2]


@inlined
def triangles_of(t: PartTree) -> TriangleTree:
    """Return the tree of a body whose kind is TRIANGLES."""
    return TriangleTree(t.boxes, t.links, t.places)


@inlined
def nth_shape(t: PartTree, rims_reaches: Array2, k: int) -> PartTree:
    """Return body k of the bodies joined in ``t``; ``rims_reaches`` has a row (rim, reach) for each body."""
    if rims_reaches.shape[0] == 1:
        return t
    return PartTree(
        t.boxes[k:], t.links[k:], t.places, t.table[k:], t.ints, t.floats, t.skin, t.span, t.points[k : k + 1], t.kind,
        t.inside, rims_reaches[k, 0], rims_reaches[k, 1],
    )  # fmt: skip


@inlined
def _put_pose(row: Array, x: float, y: float, z: float) -> None:
    """Write the pose row of a translation by (x, y, z) into ``row``."""
    row[0] = row[4] = row[8] = 1.0
    row[1] = row[2] = row[3] = row[5] = row[6] = row[7] = row[12] = 0.0
    row[9], row[10], row[11] = x, y, z


@kernel
def _triangle_into(c: Array, k: int, f: Array) -> None:
    """Write the floats of triangle k of the array ``c`` into ``f``, in the format of `gjk3d.shapes.layout`.

    The corners are stored relative to the origin of the frame, or to the middle of the triangle if the origin is far.
    """
    for i in range(3):
        x, y, z = c[k, i], c[k, 3 + i], c[k, 6 + i]
        low, high = min(x, y, z), max(x, y, z)
        f[_CENTER + i] = low + (high - low) / 2
        f[_HEAD + i] = high - low
    far = f[_CENTER] * f[_CENTER] + f[_CENTER + 1] * f[_CENTER + 1] + f[_CENTER + 2] * f[_CENTER + 2]
    wide = f[_HEAD] * f[_HEAD] + f[_HEAD + 1] * f[_HEAD + 1] + f[_HEAD + 2] * f[_HEAD + 2]
    if sqrt(far) <= 2.0 * sqrt(wide):
        f[_CENTER] = f[_CENTER + 1] = f[_CENTER + 2] = 0.0
    most = 0.0
    for j in range(3):
        square = 0.0
        for i in range(3):
            x = c[k, 3 * j + i] - f[_CENTER + i]
            f[_HEAD + 3 * i + j] = x
            square += x * x
        most = max(most, square)
    f[_RHO] = sqrt(most) * (1.0 + 1e-15)


@kernel
def top_of(t: PartTree, number: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the top triangle of column ``number`` of a height field, anticlockwise from above.

    Each cell of the grid has two columns, and cell k has the columns 2 k and 2 k + 1.
    """
    h, left, front, dx, dy = t.places, t.floats[LEFT], t.floats[FRONT], t.floats[PITCH_X], t.floats[PITCH_Y]
    cell, half = number // 2, number % 2
    ny = h.shape[1] - 1
    i, j = cell // ny, cell % ny
    i1, j1 = (i + 1, j) if half == 0 else (i + 1, j + 1)
    i2, j2 = (i + 1, j + 1) if half == 0 else (i, j + 1)
    return (
        (left + dx * i, front + dy * j, h[i, j]), (left + dx * i1, front + dy * j1, h[i1, j1]),
        (left + dx * i2, front + dy * j2, h[i2, j2]),
    )  # fmt: skip


@kernel
def _prism_into(t: PartTree, number: int, f: Array, row: Array) -> None:
    """Write the floats of column ``number`` of a height field into ``f``, and its pose row into ``row``."""
    bottom = t.floats[BOTTOM]
    (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = top_of(t, number)
    x, y = 0.5 * (min(x0, x1, x2) + max(x0, x1, x2)), 0.5 * (min(y0, y1, y2) + max(y0, y1, y2))
    z = 0.5 * (bottom + max(z0, z1, z2))
    _put_pose(row, x, y, z)
    f[_HEAD], f[_HEAD + 1], f[_HEAD + 2] = x0 - x, x1 - x, x2 - x
    f[_HEAD + 6], f[_HEAD + 7], f[_HEAD + 8] = y0 - y, y1 - y, y2 - y
    f[_HEAD + 12], f[_HEAD + 13], f[_HEAD + 14] = z0 - z, z1 - z, z2 - z
    most = 0.0
    for k in range(3):
        f[_HEAD + 3 + k], f[_HEAD + 9 + k], f[_HEAD + 15 + k] = f[_HEAD + k], f[_HEAD + 6 + k], bottom - z
        u, v, w = f[_HEAD + k], f[_HEAD + 6 + k], max(abs(f[_HEAD + 12 + k]), abs(bottom - z))
        most = max(most, u * u + v * v + w * w)
    f[_RHO] = sqrt(most) * (1.0 + 1e-15)


@kernel
def part_at(t: PartTree, k: int, f: Array, row: Array) -> Core:
    """Return the core of part k, and write the pose row of the part in the body's frame into ``row``.

    ``f`` is scratch for the floats of the part, and must be zero before the first call.
    """
    if t.kind == TRIANGLES:
        _triangle_into(t.places, k, f)
        f[_RADIUS] = t.floats[0]
        _put_pose(row, 0.0, 0.0, 0.0)
        return Core(t.ints[0:], f[0:])
    if t.kind == PRISMS:
        f[_CENTER] = f[_CENTER + 1] = f[_CENTER + 2] = f[_RADIUS] = 0.0
        _prism_into(t, t.table[k, CELL], f, row)
        return Core(t.ints[0:], f[0:])
    if t.kind == COPIES:
        _put_pose(row, t.places[k, 0], t.places[k, 1], t.places[k, 2])
    else:
        for c in range(13):
            row[c] = t.places[t.table[k, ROW], c]
    r = k if t.table.shape[0] > 1 else 0
    return Core(t.ints[t.table[r, FIRST_INT] :], t.floats[t.table[r, FIRST_FLOAT] :])


class Packed(NamedTuple):
    """Some parts in the format of `gjk3d.shapes.layout`, and their pose rows."""

    ints: Ints
    floats: Array
    starts: Ints  #: (k, 2) first index of each part in both arrays
    rows: Array


@entry
def _unpack(t: PartTree, which: Ints1, floats: Array2, rows: Array2) -> None:
    for k in range(which.shape[0]):
        part_at(t, which[k], floats[k if floats.shape[0] > 1 else 0], rows[k])


def packed_parts(t: PartTree, which: Ints) -> Packed:
    """Return the parts ``which`` in the format of the queries on convex shapes, and their pose rows."""
    rows, created = np.empty((len(which), WIDTH)), t.kind in (TRIANGLES, PRISMS)
    floats = np.zeros((len(which) if created else 1, WIDEST))
    _unpack(t, np.ascontiguousarray(which), floats, rows)
    if created:
        starts = np.column_stack([np.zeros_like(which), WIDEST * np.arange(len(which))])
        return Packed(t.ints, floats.ravel(), starts, rows)
    table = t.table[which] if len(t.table) > 1 else t.table.repeat(len(which), axis=0)
    return Packed(t.ints, t.floats, table[:, : FIRST_FLOAT + 1], rows)


@inlined
def is_single(t: PartTree) -> bool:
    """Return whether a body is a single part that is not a column of a height field."""
    return bool(t.kind != PRISMS and t.links[0, 0] < 0 and t.links[0, 2] == 1)


@kernel
def put_behind(m: Rigid, row: Array) -> None:
    """Replace the pose row ``row`` by the composed pose m * row, as `gjk3d.poses.composed` computes it."""
    for c in range(3):
        x, y, z = row[c], row[3 + c], row[6 + c]
        row[c], row[3 + c], row[6 + c] = (
            m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z
        )  # fmt: skip
    x, y, z = row[9], row[10], row[11]
    row[9] = m[0] * x + m[1] * y + m[2] * z + m[9]
    row[10] = m[3] * x + m[4] * y + m[5] * z + m[10]
    row[11] = m[6] * x + m[7] * y + m[8] * z + m[11]
    worst = 0.0
    for i in range(3):
        for j in range(i + 1):
            off = row[i] * row[j] + row[3 + i] * row[3 + j] + row[6 + i] * row[6 + j] - (1.0 if i == j else 0.0)
            worst = max(worst, abs(off))
    row[12] = worst


@inlined
def _square(m: Rigid, a: PartTree, i: int, b: PartTree, j: int) -> float:
    """Return a lower bound of the squared distance of box i of A and box j of B, exact if box j is a point.

    The boxes count without their rounding, and m is the pose of B in A's frame.
    """
    p, q = a.boxes, b.boxes
    if q[j, 3] == 0.0 and q[j, 4] == 0.0 and q[j, 5] == 0.0:
        return from_box(place(m, (q[j, 0], q[j, 1], q[j, 2])), p, i)
    return gap_squared(box_pose(m, p, i, q, j), p[i, 3], p[i, 4], p[i, 5], q[j, 3], q[j, 4], q[j, 5])


@kernel
def nodes_apart(m: Rigid, a: PartTree, i: int, b: PartTree, j: int, within: float) -> bool:
    """Return whether box i of A and box j of B are proven farther apart than ``within``; B is at m in A's frame."""
    p, q = a.boxes, b.boxes
    rim = a.rim + b.rim
    if rim > 0.0:
        far = rim + within
        return _square(m, a, i, b, j) > far * far
    to = box_pose(m, p, i, q, j)
    x, y, z = p[i, 3] + within, p[i, 4] + within, p[i, 5] + within
    return bool(boxes_apart(to, x, y, z, q[j, 3], q[j, 4], q[j, 5]))


@kernel
def node_gap(m: Rigid, a: PartTree, i: int, b: PartTree, j: int) -> float:
    """Return a lower bound of the distance of box i of A and box j of B, where m is the pose of B in A's frame."""
    return sqrt(_square(m, a, i, b, j)) - a.rim - b.rim


@kernel
def column_gap(m: Rigid, a: PartTree, k: int, b: PartTree, j: int, box: Array) -> float:
    """Return a lower bound of the distance of column k of the height field a from box j of b.

    m is the pose of b in a's frame, and ``box`` is scratch.
    """
    h, ny = a.places, a.places.shape[1] - 1
    cell, half, dx, dy = a.table[k, CELL] // 2, a.table[k, CELL] % 2, a.floats[PITCH_X], a.floats[PITCH_Y]
    u, v = cell // ny, cell % ny
    top = max(h[u, v], max(h[u + 1, v + 1], h[u + 1, v] if half == 0 else h[u, v + 1]))
    more = _GROWN * a.reach
    box[0, 0], box[0, 1] = a.floats[LEFT] + dx * (u + 0.5), a.floats[FRONT] + dy * (v + 0.5)
    box[0, 2] = 0.5 * (top + a.floats[BOTTOM])
    box[0, 3], box[0, 4] = 0.5 * dx + more, 0.5 * dy + more
    box[0, 5] = 0.5 * (top - a.floats[BOTTOM]) + more
    q = b.boxes
    square = gap_squared(box_pose(m, box, 0, q, j), box[0, 3], box[0, 4], box[0, 5], q[j, 3], q[j, 4], q[j, 5])
    return sqrt(square) - b.rim


Thing = Body | Shape

ORDERED, TURNED, TIED = range(3)  #: order of two objects in the kernels: as given, swapped, or decided by the poses


def order_of(a: Thing, b: Thing) -> int:
    """Return the order in which kernels take two objects: ORDERED for a, b, or TURNED for b, a.

    TIED means that the keys of the objects are equal, and the poses decide the order.
    """
    a_is_body, b_is_body = bool(a._kind & Kind.BODIES), bool(b._kind & Kind.BODIES)
    if a_is_body != b_is_body:
        return ORDERED if a_is_body else TURNED
    first: Any = a._order
    second: Any = b._order
    return TIED if first == second else ORDERED if first < second else TURNED


def in_order(a: Thing, b: Thing, row_a: Array, row_b: Array) -> bool:
    """Return whether a comes first in the kernels, at these pose rows or motions."""
    order = order_of(a, b)
    return order == ORDERED or (order == TIED and not row_a.tolist() > row_b.tolist())
