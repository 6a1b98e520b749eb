"""Convex shapes and the triangles of meshes, packed behind each other: what a compound is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gjk3d.bounding.placed import placed_boxes
from gjk3d.families import is_mapped
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.surfaces import packed_triangles
from gjk3d.poses import IDENTITY, WIDTH
from gjk3d.shapes import layout
from gjk3d.shapes.base import Array, Ints, Shape
from gjk3d.shapes.combined import ConvexUnion
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.triangle import Triangle
from gjk3d.solids.base import Bools, Packed, composed
from gjk3d.solids.trees import InTree

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
                    q, f = thing.packed
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
