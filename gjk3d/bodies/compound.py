"""Bodies made of other shapes: `Compound` of any shapes, `PointCloud` of balls, `Shell` of a mesh with a thickness.

A compound stores its shapes and triangles in shared arrays. A shell models sheet metal. A cloud has balls of one radius
around measured points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from gjk3d.bodies.base import OPEN, SKIN, TRIANGLES, Body, Parts, PartTree, packed_parts
from gjk3d.bodies.bvh import WideTree, parted_points, straight, wide_tree
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.parts import ONE_TRIANGLE, Copies, PlacedParts, TreeParts, boxes_round, ends_of, given, hull_of_all
from gjk3d.convex.batch import pack_shapes
from gjk3d.convex.checks import no_shape
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.frozen import cached
from gjk3d.poses import IDENTITY, composed, matrices, moved, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape, number, rows
from gjk3d.shapes.composed import Composed, check_count
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.layout import Term, moved_terms
from gjk3d.shapes.measure import Surface
from gjk3d.shapes.polytopes import ConvexHull, Point, Triangle
from gjk3d.typing import Array, Ints, RowsLike
from gjk3d.units import rescaling
from gjk3d.wording import count, kind_of

# --- compounds -------------------------------------------------------------------------------------------------------


Part = tuple[Shape | Mesh, Array]


class Compound(Body):
    """A union of shapes at poses: one body, convex or not.

    `gjk3d.collide`, `signed_distance`, `contact` and similar queries accept it as either argument, with convex shapes,
    meshes and other bodies. The bounds of a distance are those of the nearest pair of parts. The depth of an overlap is
    between the depth of the deepest pair of parts and the shortest known separating translation. These bounds are equal
    if the translation that separates the deepest pair separates the bodies.

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
        """The measured distance between a mesh and its convex parts (`Mesh.decompose`), or None for other compounds."""
        return self._geometry_error

    @property
    def unit(self) -> str | None:
        """The unit of length of the meshes, or None."""
        return next((thing.unit for thing, _ in self._parts if isinstance(thing, Mesh) and thing.unit), None)

    @property
    def parts(self) -> tuple[tuple[Shape | Mesh, Array], ...]:
        """The parts, including those of nested compounds, as pairs of a shape and its (4, 4) pose."""
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
        raise ShapeError(f"Compound: parts is {parts!r:.60}, expected a list of (shape, pose). Use [(shape, None)]")
    return list(parts)


def _flattened(item: Any, what: str) -> list[Part]:
    """Check a (shape, pose) item of a `Compound`, and return it as a list of parts, several for a nested compound.

    ``what`` names the item in errors.
    """
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise ShapeError(f"Compound: {what} is {item!r:.60}, expected (shape, pose). A pose of None is the identity")
    thing, pose = item
    rows, stacked = pose_rows(pose, f"{what}[1]", single=True)
    if stacked:
        raise ShapeError(
            f"Compound: {what} has {len(rows)} poses, expected one (4, 4) matrix. List the part once per pose"
        )
    if isinstance(thing, Compound):
        inner = np.stack([row for _, row in thing._parts])
        placed = composed(rows[0, :12], inner) if (rows != IDENTITY).any() else inner
        return [(part, _frozen(row)) for (part, _), row in zip(thing._parts, placed, strict=True)]
    if isinstance(thing, Halfspace):
        raise ShapeError(f"Compound: {what} is {kind_of(thing)}, which is unbounded. Use a large gjk3d.Box instead")
    if isinstance(thing, Body) and not isinstance(thing, Mesh):
        raise ShapeError(f"Compound: {what} is {kind_of(thing)}, expected a shape or Mesh. Query this body separately")
    if not isinstance(thing, (Shape, Mesh)):
        raise no_shape(f"Compound: {what}[0]", thing)
    return [(thing, _frozen(rows[0]))]


def _check_units(parts: Sequence[Part]) -> None:
    first: str | None = None
    for k, (thing, _) in enumerate(parts):
        unit = thing.unit if isinstance(thing, Mesh) else None
        if unit and first and (cure := rescaling(unit, first)):
            raise ShapeError(
                f"Compound: part {k} is in {unit}, but an earlier part is in {first}. Use one unit: {cure}"
            )
        first = first or unit


def _frozen(row: Array) -> Array:
    copy = np.array(row)
    copy.setflags(write=False)
    return copy


def swept(
    body: Body, path: Callable[[list[Term], Array, Array], tuple[list[Term], Array]], start: Array | None
) -> Compound:
    """Return the volume that a body passes along a motion, as the union of the sweeps of its parts.

    ``path`` receives the terms of parts, and the centres and radii of balls around the parts. It returns the terms of
    the swept parts and the lengths to add to their rounding radii (see `gjk3d.query.time_of_impact`). ``start`` is the
    first pose. A point that is inside a closed surface at some time was passed by the surface, or is inside at the
    start. The union therefore consists of the sweeps of the faces and of the closed meshes at the start.
    """
    parts = body._as_parts()
    if parts.endless:
        raise UnboundedShapeError(
            "Swept: shape is a HeightField, which is unbounded below. Give it a bottom, or use "
            "gjk3d.Mesh(*field.surface())"
        )
    first, identity_row = pose_rows(start)[0][0], _frozen(IDENTITY[0])
    copy: list[tuple[Any, Array]] = [(mesh, _frozen(composed(first, row[None])[0])) for mesh, row in parts.solids]
    ends = len(copy)
    copy += [(None, identity_row)] * parts.count
    for which, terms, center, rho, radii in _alike(parts):
        on_the_way, more = path(terms, center, rho)
        check_count(on_the_way, "Swept")
        for k, shape in zip(which.tolist(), Composed._each_from_terms(on_the_way, radii + more), strict=True):
            copy[ends + k] = shape, identity_row
    return Compound._made(_geometry_error=None, _parts=tuple(copy))


def _alike(parts: Parts) -> Iterator[tuple[Ints, list[Term], Array, Array, Array]]:
    """Yield groups of parts that differ only in position, and of polytopes with equal rotation and vertex count.

    Each group has the indices of its parts, their terms as stacks in the body's frame, the centres (n, 3) and radii
    (n,) of balls around the parts, and the rounding radii of the parts (n,).
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


# --- shells ----------------------------------------------------------------------------------------------------------


class Shell(Body):
    """All points within half a thickness of the triangles of a mesh, and the interior of a closed mesh.

    An open mesh is a surface without volume, so a thin body may pass through it between two steps. A shell is the body
    that a ball of diameter ``thickness`` sweeps on the surface, with a rounded rim. `gjk3d.collide`, `distance`,
    `contact` and similar queries accept it as either argument. Their results are exact for this body. The depth of
    an overlap has bounds, as for a `Compound`.

    A closed mesh is solid in `gjk3d.collide`, so its shell is the mesh grown by half the thickness. The shell of a
    ``Mesh(..., solid=False)`` is hollow.

    Parameters
    ----------
    mesh : Mesh
        The middle surface of the sheet.
    thickness : float
        More than 0, in the unit of the mesh.

    Raises
    ------
    ShapeError
        The mesh is not a `Mesh`, or the thickness is not a length.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> sheet = gk.Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> plate, pose = gk.Shell(sheet, thickness=0.5), np.eye(4)
    >>> pose[:3, 3] = 2, 1, 1
    >>> plate, gk.distance(plate, gk.Sphere(0.5), None, pose).distance
    (<Shell of 2 triangles, thickness 0.5>, 0.25)
    >>> pose[2, 3] = 0.5
    >>> round(gk.signed_distance(plate, gk.Sphere(0.5), None, pose).distance, 9)
    -0.25
    """

    __slots__ = ("mesh", "thickness")
    mesh: Mesh
    thickness: float

    def __init__(self, mesh: Mesh, thickness: float) -> None:
        if not isinstance(mesh, Mesh):
            raise ShapeError(
                f"Shell: mesh is {kind_of(mesh)}, expected a gjk3d.Mesh. Use inflated(radius) of a convex shape"
            )
        self._set(mesh=mesh, thickness=number(thickness, "Shell: thickness"))

    def __repr__(self) -> str:
        return f"<Shell of {count(len(self.mesh.faces), 'triangle')}, thickness {self.thickness:g}>"

    @property
    def unit(self) -> str | None:
        """The unit of length of the mesh, or None."""
        return self.mesh.unit

    def hull(self) -> Shape:
        """Return the convex hull, a shape that every query accepts."""
        return self.mesh.hull().inflated(0.5 * self.thickness)

    def surface(self, resolution: int = 32) -> Surface:
        """Return the surface for pictures: both sides, offset along the mean normals of the vertices, and the rim.

        Parameters
        ----------
        resolution : int
            Not used, since edges are not rounded.
        """
        v, f = self.mesh.vertices, self.mesh.faces
        normals, across = np.zeros_like(v), np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])
        np.add.at(normals, f.ravel(), np.repeat(across, 3, axis=0))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.divide(normals, length, out=np.zeros_like(v), where=length > 0.0)
        edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
        valid = {tuple(edge) for edge in edges.tolist()}
        rim = np.array([edge for edge in edges.tolist() if (edge[1], edge[0]) not in valid], dtype=np.int64)
        p, q = rim.reshape(-1, 2).T
        walls = np.concatenate([np.column_stack([q, p, p + len(v)]), np.column_stack([q, p + len(v), q + len(v)])])
        more = 0.5 * self.thickness * normals
        return Surface(np.vstack([v + more, v - more]), np.vstack([f, f[:, ::-1] + len(v), walls]))

    def _build_parts(self) -> Plates:
        return Plates(self.mesh, 0.5 * self.thickness)

    def _bytes(self) -> Iterator[bytes]:
        yield from (self.mesh.vertices.tobytes(), self.mesh.faces.tobytes(), np.float64(self.thickness).tobytes())


class Plates(TreeParts):
    """The triangles of a mesh, rounded by a radius, as the parts of a `Shell`."""

    __slots__ = ("_corners", "mesh", "radius")

    def __init__(self, mesh: Mesh, radius: float) -> None:
        corners = mesh.vertices[mesh.faces]
        more = radius + 4.0 * 2.0**-52 * (np.abs(corners).max(axis=(1, 2)) + radius)
        super().__init__(boxes_round(corners) + np.outer(more, np.repeat((-1.0, 1.0), 3)), 2)
        self.mesh, self.radius, self._corners = mesh, radius, corners[self._order]

    def _give(self) -> PartTree:
        nodes = straight(boxes_round(self._corners), self._links)
        return given(
            TRIANGLES, nodes, self._links, self._corners.reshape(-1, 9), np.zeros((1, 3), dtype=np.int64), ONE_TRIANGLE,
            np.array([self.radius]), rim=self.radius, reach=self.reach, points=self.points(),
            inside=SKIN if self.mesh.is_solid else OPEN, span=self.mesh.bounds.ravel(),
        )  # fmt: skip

    def shape(self, part: int) -> Shape:
        """Return a part as a shape in the frame of the part, which is the body's frame."""
        return Triangle(self._corners[part]).inflated(self.radius)

    def hull(self) -> Shape:
        """Return the convex hull of all parts."""
        return self.mesh.hull().inflated(self.radius)

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """The mesh with its pose row if its interior is solid, otherwise nothing."""
        return [(self.mesh, IDENTITY[0])] if self.mesh.is_solid else []

    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point along n of each connected piece, (k, 2, 3)."""
        surface_ends = ends_of(self.mesh.vertices[self.mesh.faces.ravel()], np.repeat(self.mesh._bodies, 3), n)
        return surface_ends + self.radius * np.stack([-n, n])

    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""
        return self.mesh._body_points

    def samples(self) -> Array:
        """Return the vertices of the mesh, (k, 3), for lower bounds of the body's depth in another body."""
        return self.mesh._used


# --- clouds ----------------------------------------------------------------------------------------------------------


_LEAF = 4  #: greatest number of balls in a leaf
_MOST_CELLS = 2.0**19  #: greatest number of cells from the origin along an axis, so that cell numbers fit into int64
_ROUNDED = 16.0 * 2.0**-53


class Balls(Copies):
    """Balls of equal radius. The tree is over their centres, and its boxes are enlarged by the radius (``rim``)."""

    __slots__ = ("_nodes", "_radius")

    def __init__(self, places: Array, radius: float, hull: Callable[[], Shape]) -> None:
        self._places, order, links, self._nodes = parted_points(places, _LEAF)
        self._shapes, self._radius = [Sphere(radius) if radius > 0.0 else Point()], radius
        self._arena, self._hull = pack_shapes(self._shapes), cache(hull)
        self._which, self._pieces, self.grid = np.zeros(len(places), dtype=np.int64), None, None
        low, high = self._nodes[0, :3] - self._nodes[0, 3:6], self._nodes[0, :3] + self._nodes[0, 3:6]
        self._set(order, links, np.concatenate([low - self._half(low), high + self._half(high)]))

    def _half(self, places: Array) -> Array:
        """Return half the widths of axis-aligned boxes around balls with the centres ``places``, (k, 3)."""
        return self._radius + 4.0 * 2.0**-52 * (np.abs(places) + self._radius)

    def boxes(self, which: Ints) -> Array:
        """Return the boxes of the parts ``which``, (k, 6): the least corner of each, then the greatest."""
        places = self._places[which]
        half = self._half(places)
        return np.hstack([places - half, places + half])

    def _boxes_of_nodes(self) -> tuple[Array, float]:
        return self._nodes, self._radius


class PointCloud(Body):
    """Points as a union of balls.

    `gjk3d.collide`, `distance`, `contact` and similar queries accept it as either argument. Results are exact for the
    balls. The depth of an overlap has bounds, as for a `Compound`.

    Parameters
    ----------
    points : (n, 3) float
        The centres of the balls.
    radius : float
        Radius of the balls, at least 0. Half the distance between neighbours gives a surface without gaps.

    Raises
    ------
    ShapeError
        The list of points is empty, or a point is not finite. `from_sensor` omits points that are not finite.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> x, y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))
    >>> ground = gk.PointCloud(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]), radius=0.05)
    >>> pose = np.eye(4); pose[2, 3] = 1
    >>> ground, round(gk.distance(ground, gk.Sphere(0.5), None, pose).distance, 9)
    (<PointCloud of 1681 points, radius 0.05>, 0.45)
    """

    __slots__ = ("points", "radius")
    _kind = Kind.CLOUD
    points: Array
    radius: float

    def __init__(self, points: RowsLike, radius: float) -> None:
        places = rows(points, "PointCloud: points", cure=". Use gk.PointCloud.from_sensor(points, radius) to omit them")
        if not len(places):
            raise ShapeError("PointCloud: points is empty, expected (n, 3) with at least one row")
        self._set(points=places, radius=number(radius, "PointCloud: radius", zero=True))

    @classmethod
    def from_sensor(cls, points: Any, radius: float) -> tuple[PointCloud, int]:
        """Return the cloud of a sensor's points, and the number of omitted points.

        Cameras and scanners mark missing measurements by numbers that are not finite. These points are omitted. The
        space in their directions is unknown, not free.

        Parameters
        ----------
        points : (n, 3) or (h, w, 3) float
            Points, or an image of points, of any real type.
        radius : float
            See `PointCloud`.

        Returns
        -------
        PointCloud, int
            The cloud, and the number of omitted points.

        Raises
        ------
        ShapeError
            No point is finite, or the array has another shape or type.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> seen = np.array([(0, 0, 1), (np.nan, 0, 0), (0, 0, np.inf)], dtype=np.float32)
        >>> gk.PointCloud.from_sensor(seen, 0.01)
        (<PointCloud of 1 point, radius 0.01>, 2)
        """
        try:
            raw = np.asarray(points)
        except ValueError:
            raw = np.empty(0, dtype=object)
        if raw.ndim not in (2, 3) or raw.shape[-1] != 3 or raw.dtype.kind not in "fiu":
            raise ShapeError(
                f"from_sensor: points has shape {raw.shape} and dtype {raw.dtype}, expected real numbers, (n, 3) or "
                "(h, w, 3)"
            )
        every = raw.reshape(-1, 3)
        finite = np.isfinite(every).all(axis=1)
        if not finite.any():
            raise ShapeError(
                f"from_sensor: none of the {len(every)} points is finite, expected at least one. Skip this image of "
                "the sensor"
            )
        return cls(every[finite], radius), int(len(every) - finite.sum())

    def thinned(self, pitch: float) -> PointCloud:
        """Return a cloud that contains this cloud, with one point per occupied cell of a grid and a larger radius.

        Each cell retains the point nearest to the mean of its points. The radius grows by the greatest distance of an
        omitted point from the retained point of its cell, which is less than ``pitch * sqrt(3)``. Objects that touch
        this cloud touch the new cloud too, and distances decrease by at most the growth of the radius.

        Parameters
        ----------
        pitch : float
            Edge of the cells, in the unit of the points. The cells begin at multiples of the edge.

        Returns
        -------
        PointCloud
            The thinned cloud. Distances from it are too small by at most ``thinned.radius - cloud.radius``.

        Raises
        ------
        ShapeError
            The pitch is not a number above 0, or so small that cells cannot be counted.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> many = gk.PointCloud(np.random.default_rng(0).uniform(0, 1, (20_000, 3)) * (1, 1, 0), 0.01)
        >>> few = many.thinned(0.05)
        >>> len(few), round(few.radius - many.radius, 3)
        (400, 0.042)
        """
        step, reach = number(pitch, "thinned: pitch"), float(np.abs(self.points).max())
        if not reach < _MOST_CELLS * step:
            raise ShapeError(
                f"thinned: pitch is {step:g}, expected more than {reach / _MOST_CELLS:.3g} for points up to {reach:.3g}"
                " from the origin. Move the cloud nearer to the origin, or increase pitch"
            )
        cells = np.floor(self.points / step).astype(np.int64)
        cells -= cells.min(axis=0)
        wide = cells.max(axis=0) + 1
        key = (cells[:, 0] * wide[1] + cells[:, 1]) * wide[2] + cells[:, 2]
        order = np.argsort(key, kind="stable")
        places, fresh = self.points[order], np.diff(key[order], prepend=-1) != 0
        begins = np.flatnonzero(fresh)
        cell, counts = np.cumsum(fresh) - 1, np.diff(begins, append=len(places))
        middles = np.add.reduceat(places, begins) / counts[:, None]
        off = ((places - middles[cell]) ** 2).sum(axis=1)
        nearest = np.flatnonzero(off == np.minimum.reduceat(off, begins)[cell])
        centers = places[nearest[np.diff(cell[nearest], prepend=-1) != 0]]
        far = float(np.linalg.norm(places - centers[cell], axis=1).max())
        more = far + _ROUNDED * (far + reach) if far > 0.0 else 0.0
        return PointCloud(centers, self.radius + more)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<PointCloud of {count(len(self), 'point')}, radius {self.radius:g}>"

    def hull(self) -> Shape:
        """Return the convex hull of all balls, a shape that every query accepts."""
        return self._as_parts().hull()

    def _as_parts(self) -> Copies:
        return self._cached("parts", self._build_parts)

    def _build_parts(self) -> Copies:
        return Balls(self.points, self.radius, self._find_hull)

    @property
    @cached
    def _wide_tree(self) -> WideTree:
        """The wide tree of the points, with the nodes of their binary tree. A point is a triangle of equal corners."""
        parts, every = self._as_parts(), np.arange(len(self.points))
        return wide_tree(self.points, np.column_stack([every] * 3), (parts._order, parts._links))

    def _find_hull(self) -> Shape:
        hull = ConvexHull(self.points)
        return hull.inflated(self.radius) if self.radius > 0.0 else hull
