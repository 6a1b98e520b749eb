"""`Compound`: several shapes that stand for one body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gjk3d.asking import no_shape
from gjk3d.errors import ShapeError
from gjk3d.meshes.mesh import Mesh
from gjk3d.poses import IDENTITY, WIDTH, pose_rows
from gjk3d.shapes.base import Array, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.surfaces import Surface
from gjk3d.solids.base import Solid, composed
from gjk3d.solids.parts import Parts, hull_of_all

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
        made: Compound = object.__new__(Compound)
        made._set(_geometry_error=geometry_error, _parts=self._parts)
        return made

    @property
    def geometry_error(self) -> float | None:
        """By how much the parts of a decomposed mesh differ from it, see `Mesh.decompose`; None of other compounds."""
        return self._geometry_error

    @property
    def parts(self) -> tuple[tuple[Shape | Mesh, Array], ...]:
        """The parts, those of nested compounds among them: shapes and their (4, 4) poses."""
        return tuple((thing, _matrix(row)) for thing, row in self._parts)

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
        if "hull" not in self._cache:
            self._cache["hull"] = hull_of_all(self._parts)
        hull: Shape = self._cache["hull"]
        return hull

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
                yield b"".join(thing.order)
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


def _matrix(row: Array) -> Array:
    assert row.shape == (WIDTH,)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:12]
    return pose
