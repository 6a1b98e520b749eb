"""`Compound`: several shapes and triangles as one body, stored in shared arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.part_tree import packed_parts
from gjk3d.bodies.parts import PlacedParts, hull_of_all
from gjk3d.convex.checks import no_shape
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.poses import IDENTITY, composed, matrices, moved, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.composed import Composed, check_count
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.layout import Term, moved_terms
from gjk3d.shapes.measure import Surface
from gjk3d.typing import Array, Ints
from gjk3d.units import rescaling
from gjk3d.wording import count, kind_of

Part = tuple[Shape | Mesh, Array]


class Compound(Body):
    """A union of shapes at poses: one body, convex or not.

    `gjk3d.collide`, `signed_distance`, `contact` and similar queries accept it as either argument, with convex shapes,
    meshes and other bodies. The bounds of a distance are those of its nearest part. The depth of an overlap is between
    the depth of the deepest pair of parts and the shortest known separating translation. Both are equal if the
    translation of that pair separates the bodies.

    Parameters
    ----------
    parts : sequence of (shape, pose)
        Convex shapes, meshes or other compounds with their poses. A pose is a (4, 4) rigid transform, a RigidTransform,
        or None for the identity. Parts may overlap.

    Raises
    ------
    ShapeError, PoseError, UnsupportedPair
        The list of parts is empty, a part is not a shape with a pose, or two meshes have different units.

    Examples
    --------
    A sphere under a table is free, although it is in the hull of the table.

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
    >>> len(table), table.parts[1][0], table.parts[1][1][:3, 3].tolist()
    (5, Box(extents=[0.1, 0.1, 0.7]), [-0.45, -0.45, 0.35])
    """

    __slots__ = ("_geometry_error", "_parts")
    _kind = Kind.COMPOUND
    _geometry_error: float | None
    _parts: tuple[Part, ...]

    def __init__(self, parts: Sequence[tuple[Any, Any]]) -> None:
        flat: list[Part] = []
        for k, item in enumerate(_listed(parts)):
            flat += _flattened(item, f"parts[{k}]")
        if not flat:
            raise ShapeError("Compound: parts is empty, expected at least one (shape, pose)")
        _check_units(flat)
        self._set(_geometry_error=None, _parts=tuple(flat))

    @property
    def geometry_error(self) -> float | None:
        """The distance between a decomposed mesh and its parts (`Mesh.decompose`), or None for other compounds."""
        return self._geometry_error

    @property
    def unit(self) -> str | None:
        """The unit of length of the meshes, or None."""
        return next((thing.unit for thing, _ in self._parts if isinstance(thing, Mesh) and thing.unit), None)

    @property
    def parts(self) -> tuple[tuple[Shape | Mesh, Array], ...]:
        """Shapes and (4, 4) poses of the parts, including those of nested compounds."""
        return tuple((thing, matrices(row)) for thing, row in self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {count(len(self), 'part')}>"

    def hull(self) -> Shape:
        """Return the convex hull of all parts, a shape that every query accepts.

        Raises
        ------
        ShapeError
            There are more curved parts than one shape can have.
        """
        return self._cached("hull", lambda: hull_of_all(self._parts))

    def surface(self, resolution: int = 32) -> Surface:
        """Return the triangles of all parts, including those inside other parts.

        Parameters
        ----------
        resolution : int
            Segments per full turn of curved parts.

        Returns
        -------
        Surface
            ``vertices``, (n, 3) float, and ``faces``, (m, 3) int.
        """
        vertices, faces, count = [], [], 0
        for thing, row in self._parts:
            part_surface = thing if isinstance(thing, Mesh) else thing.surface(resolution)
            vertices.append(moved(row, part_surface.vertices))
            faces.append(np.asarray(part_surface.faces, dtype=np.int64).reshape(-1, 3) + count)
            count += len(part_surface.vertices)
        return Surface(np.concatenate(vertices), np.concatenate(faces))

    def _build_parts(self) -> Parts:
        return PlacedParts(self._parts)

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
    """Return a checked part, or all parts of a compound."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise ShapeError(f"Compound: {what} is {item!r:.60}, expected (shape, pose). A pose of None is the identity")
    thing, pose = item
    rows, stacked = pose_rows(pose, f"{what}[1]", single=True)
    if stacked:
        raise ShapeError(f"Compound: {what} has {len(rows)} poses, expected one (4, 4) matrix. Repeat the part instead")
    if isinstance(thing, Compound):
        inner = np.stack([row for _, row in thing._parts])
        placed = composed(rows[0, :12], inner) if (rows != IDENTITY).any() else inner
        return [(part, _frozen(row)) for (part, _), row in zip(thing._parts, placed, strict=True)]
    if isinstance(thing, Halfspace):
        raise ShapeError(f"Compound: {what} is {kind_of(thing)}, which is unbounded. Use a large gjk3d.Box instead")
    if isinstance(thing, Body) and not isinstance(thing, Mesh):
        raise ShapeError(f"Compound: {what} is {kind_of(thing)}, expected a shape or Mesh. Query it separately")
    if not isinstance(thing, (Shape, Mesh)):
        raise no_shape(f"Compound: {what}[0]", thing)
    return [(thing, _frozen(rows[0]))]


def _check_units(parts: Sequence[Part]) -> None:
    first: str | None = None
    for k, (thing, _) in enumerate(parts):
        unit = thing.unit if isinstance(thing, Mesh) else None
        if unit and first and (cure := rescaling(unit, first)):
            raise ShapeError(f"Compound: part {k} is in {unit} and an earlier part in {first}. Use one unit: {cure}")
        first = first or unit


def _frozen(row: Array) -> Array:
    copy = np.array(row)
    copy.setflags(write=False)
    return copy


def swept(
    body: Body, path: Callable[[list[Term], Array, Array], tuple[list[Term], Array]], start: Array | None
) -> Compound:
    """Return the union of the sweeps of all parts, see `gjk3d.query.time_of_impact`. ``start`` is the first pose.

    A point that is inside a closed surface at some time was passed by the surface, or is inside at the start. So the
    union of the sweeps of the faces and the closed meshes at the start is complete.
    """
    parts = body._as_parts()
    if parts.endless:
        raise UnboundedShapeError(
            "Swept: shape is a HeightField, which is unbounded below. Give it a bottom, or use "
            "gjk3d.Mesh(*field.surface())"
        )
    first, identity_row = pose_rows(start)[0][0], IDENTITY[0].copy()
    identity_row.setflags(False)
    copy: list[tuple[Any, Array]] = []
    for mesh, row in parts.solids:
        placed = composed(first, row[None])[0]
        placed.setflags(False)
        copy.append((mesh, placed))
    ends = len(copy)
    copy += [(None, identity_row)] * parts.count
    for which, terms, center, rho, radii in _alike(parts):
        on_the_way, more = path(terms, center, rho)
        check_count(on_the_way, "Swept")
        for k, shape in zip(which.tolist(), Composed._each_from_terms(on_the_way, radii + more), strict=True):
            copy[ends + k] = shape, identity_row
    return Compound._made(_geometry_error=None, _parts=tuple(copy))


def _alike(parts: Parts) -> Iterator[tuple[Ints, list[Term], Array, Array, Array]]:
    """Yield groups of parts that differ only in their positions, or in their vertices if these are equally many.

    Each group has the numbers of its parts, their terms as stacks in the body's frame, the centres (n, 3) and radii
    (n,) of balls around them, and their rounding radii.
    """
    every = np.arange(parts.count)
    ints, floats, starts, rows = packed_parts(parts.given, every)
    begins = starts[:, 0]
    corners = (ints[begins] == layout.HULL) & (ints[begins + layout.VERTICES] > 2)
    turns = np.unique(rows[:, :9], axis=0, return_inverse=True)[1].ravel()
    keys = np.column_stack([begins, np.where(corners, -1, starts[:, 1]), turns])
    groups = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(groups, kind="stable")
    for which in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        k, heads, row = int(which[0]), floats[starts[which, 1][:, None] + np.arange(layout.FLOAT_HEAD)], rows[which]
        center, radii = heads[:, layout.CENTER : layout.CENTER + 3], heads[:, layout.RADIUS]
        terms = parts.shape(k)._terms()
        if corners[k]:
            numbers = layout.FLOAT_HEAD + np.arange(3 * int(ints[begins[k] + layout.VERTICES]))
            terms = [[terms[0][0]._replace(numbers=floats[starts[which, 1][:, None] + numbers], offset=center)]]
        turn, shift = row[0, :9].reshape(3, 3), row[:, 9:12]
        yield which, moved_terms(terms, turn, shift), center @ turn.T + shift, heads[:, layout.RHO] + radii, radii
