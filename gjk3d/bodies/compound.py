"""`Compound`: several shapes and triangles that stand for one body, packed behind each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.surfaces import packed_triangles
from gjk3d.bodies.unions import InTree, Packed, Solid
from gjk3d.convex.boxes import placed_boxes
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import is_mapped
from gjk3d.errors import ShapeError
from gjk3d.poses import IDENTITY, WIDTH, composed, matrices, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.combined import ConvexUnion
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.simplices import Triangle
from gjk3d.shapes.surfaces import Surface
from gjk3d.typing import Array, Bools, Ints

_MOST_CURVED = 256  #: curved parts whose hull is made of their support mappings


class Parts(InTree):
    """Shapes and meshes at poses; each triangle of a mesh is a part, and what a closed one holds is inside."""

    __slots__ = (
        "_floats", "_ints", "_mapped", "_outline", "_owners", "_rows", "_starts", "_whole", "things"
    )  # fmt: skip

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
                    q, table = packed_triangles(thing.vertices[thing.faces].reshape(-1, 9))
                    f = table.ravel()
                    offsets = np.column_stack([np.zeros(len(table), np.int64), np.arange(len(table)) * table.shape[1]])
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
        self.count = len(self._owners)
        self._whole = self._placed(np.arange(self.count), self._rows)
        self._plant()
        self._outline: Any = 0

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

    def boxes(self, which: Ints) -> Array:
        """See `Union`."""
        return self._whole[which]

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """See `Union`."""
        return self._placed(which, composed(m, self._rows[which]))

    def pack(self, which: Ints) -> Packed:
        """See `Union`."""
        return Packed(self._ints, self._floats, self._starts[which])

    def rows(self, which: Ints) -> Array:
        """See `Union`."""
        return self._rows[which]

    def singly(self, which: Ints) -> Bools:
        """See `Union`."""
        found: Bools = self._mapped[which]
        return found

    def shape(self, part: int) -> Shape:
        """See `Union`."""
        thing = self.things[self._owners[part]][0]
        if isinstance(thing, Shape):
            return thing
        f = self._floats[self._starts[part, 1] :]
        local = f[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 9].reshape(3, 3).T
        return Triangle(local + f[layout.CENTER : layout.CENTER + 3])

    def outline(self) -> Shape | None:
        """See `Union`."""
        if isinstance(self._outline, int):
            few = sum(getattr(thing, "vertices", None) is None for thing, _ in self.things) <= _MOST_CURVED
            self._outline = hull_of_all(self.things) if few else None
        hull: Shape | None = self._outline
        return hull

    @property
    def bodies(self) -> list[tuple[Mesh, Array]]:
        """See `Union`."""
        return [(x, row[:12]) for x, row in self.things if isinstance(x, Mesh) and x.is_solid]

    def points(self) -> Array:
        """See `Union`."""
        own = []
        for thing, row in self.things:
            some = thing.body_points if isinstance(thing, Mesh) else thing.support((1.0, 0.0, 0.0))[None]
            own.append(some @ row[:9].reshape(3, 3).T + row[9:12])
        return np.concatenate(own)


def hull_of_all(things: Sequence[tuple[Shape | Mesh, Array]]) -> Shape:
    """Return the convex hull of shapes and meshes at poses."""
    if len(things) == 1 and (things[0][1] == IDENTITY[0]).all():
        only = things[0][0]
        return only if isinstance(only, Shape) else only.hull()
    points, curved = [], []
    for thing, row in things:
        corners = thing.hull().vertices if isinstance(thing, Mesh) else getattr(thing, "vertices", None)
        if corners is not None:
            points.append(np.asarray(corners) @ row[:9].reshape(3, 3).T + row[9:12])
            continue
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:12]
        assert isinstance(thing, Shape)
        curved.append(thing.placed(pose))
    if points:
        curved.append(ConvexHull(np.concatenate(points)))
    return curved[0] if len(curved) == 1 else ConvexUnion(*curved)


def parts_of(thing: Shape | Mesh) -> Parts:
    """Return one shape, or the triangles of a mesh, as parts; packed once."""
    if "parts" not in thing._cache:
        thing._cache["parts"] = Parts([(thing, IDENTITY[0])])
    parts: Parts = thing._cache["parts"]
    return parts


Part = tuple[Shape | Mesh, Array]


class Compound(Solid):
    """A union of shapes, each at a pose of its own: one body, convex or not.

    `gjk3d.collide`, `distance` and `signed_distance` take it on either side, against convex shapes, meshes and other
    solids. Apart, the bounds are those of its nearest part. In overlap the depth lies between that of the deepest pair
    of parts and the shortest translation that was found to part the two; where that pair's own translation does, both
    are the same.

    Parameters
    ----------
    parts : sequence of (shape, pose)
        Convex shapes, meshes or other compounds, and where each is: a (4, 4) rigid transform, a RigidTransform, or None
        for the identity. They may overlap.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        Where there is no part, or one is no shape with a pose; naming which.

    Examples
    --------
    A table: a sphere under it is free, although it is in the hull.

    >>> import gjk3d as gk, numpy as np
    >>> def at(x, y, z):
    ...     pose = np.eye(4); pose[:3, 3] = x, y, z
    ...     return pose
    >>> legs = [(gk.Box((0.1, 0.1, 0.7)), at(x, y, 0.35)) for x in (-0.45, 0.45) for y in (-0.45, 0.45)]
    >>> table = gk.Compound([(gk.Box((1, 1, 0.1)), at(0, 0, 0.75)), *legs])
    >>> ball = gk.Sphere(0.2)
    >>> gk.collide(table, ball, None, at(0, 0, 0.3)), gk.collide(table.hull(), ball, None, at(0, 0, 0.3))
    (False, True)
    >>> round(gk.signed_distance(table, ball, None, at(0, 0, 0.95)).distance, 9)
    -0.05
    """

    __slots__ = ("_geometry_error", "_parts")
    _geometry_error: float | None
    _parts: tuple[Part, ...]

    def __init__(self, parts: Sequence[tuple[Any, Any]]) -> None:
        flat: list[Part] = []
        for k, item in enumerate(_listed(parts)):
            flat += _flattened(item, f"parts[{k}]")
        if not flat:
            raise ShapeError("Compound: parts is empty, expected at least one (shape, pose)")
        self._set(_geometry_error=None, _parts=tuple(flat))

    def _measured(self, geometry_error: float) -> Compound:
        return Compound._made(_geometry_error=geometry_error, _parts=self._parts)

    @property
    def geometry_error(self) -> float | None:
        """By how much the parts of a decomposed mesh differ from it, see `Mesh.decompose`; None of other compounds."""
        return self._geometry_error

    @property
    def parts(self) -> tuple[tuple[Shape | Mesh, Array], ...]:
        """The parts, those of nested compounds among them: shapes and their (4, 4) poses."""
        return tuple((thing, matrices(row)) for thing, row in self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} parts>"

    def hull(self) -> Shape:
        """Return the convex hull of all parts, a shape that every query takes.

        Raises
        ------
        ShapeError
            Where more curved parts than one shape can have are in it.
        """
        return self._cached("hull", lambda: hull_of_all(self._parts))

    def surface(self, resolution: int = 32) -> Surface:
        """Return the triangles of all parts, those inside of others among them.

        Parameters
        ----------
        resolution : int
            Segments per full turn of curved parts.
        """
        vertices, faces, count = [], [], 0
        for thing, row in self._parts:
            own = thing if isinstance(thing, Mesh) else thing.surface(resolution)
            vertices.append(own.vertices @ row[:9].reshape(3, 3).T + row[9:12])
            faces.append(np.asarray(own.faces, dtype=np.int64).reshape(-1, 3) + count)
            count += len(own.vertices)
        return Surface(np.concatenate(vertices), np.concatenate(faces))

    def _union(self) -> Parts:
        return Parts(self._parts)

    def _content(self) -> tuple[Any, ...]:
        return tuple((thing, row.tobytes()) for thing, row in self._parts)

    def _bytes(self) -> Iterator[bytes]:
        for thing, row in self._parts:
            if isinstance(thing, Mesh):
                yield thing.vertices.tobytes() + thing.faces.tobytes()
            else:
                yield b"".join(thing._order)
            yield row.tobytes()


def _listed(parts: Any) -> list[Any]:
    if isinstance(parts, (Shape, Mesh, Compound)) or not hasattr(parts, "__iter__"):
        raise ShapeError(f"Compound: parts is {parts!r:.60}, expected a list of (shape, pose)")
    return list(parts)


def _flattened(item: Any, what: str) -> list[Part]:
    """Check one part; return it, or all of those that it is made of."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise ShapeError(f"Compound: {what} is {item!r:.60}, expected (shape, pose); a pose of None is the identity")
    thing, pose = item
    rows, stacked = pose_rows(pose, f"{what}[1]")
    if stacked:
        raise ShapeError(f"Compound: {what} has {len(rows)} poses, expected one (4, 4) matrix: repeat the part instead")
    if isinstance(thing, Compound):
        inner = np.stack([row for _, row in thing._parts])
        placed = composed(rows[0, :12], inner) if (rows != IDENTITY).any() else inner
        return [(part, _frozen(row)) for (part, _), row in zip(thing._parts, placed, strict=True)]
    if isinstance(thing, Halfspace):
        raise ShapeError(f"Compound: {what} is a Halfspace, which has no end: use a large gjk3d.Box instead")
    if isinstance(thing, Solid):
        raise ShapeError(f"Compound: {what} is a {type(thing).__name__}: ask about it beside the compound instead")
    if not isinstance(thing, (Shape, Mesh)):
        raise no_shape(f"Compound: {what}[0]", thing)
    return [(thing, _frozen(rows[0]))]


def _frozen(row: Array) -> Array:
    own = np.array(row)
    own.setflags(write=False)
    return own
