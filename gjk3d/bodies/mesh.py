"""Triangle meshes (`Mesh`), the solid inside a closed mesh, and conversions from and to other libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.topology import (
    Mended,
    body_numbers,
    checked_faces,
    checked_vertices,
    corner_rounding,
    largest_rounding,
    mended,
    stretch,
)
from gjk3d.convex.checks import is_finite, line_for
from gjk3d.errors import Gjk3dWarning, ParseError, ShapeError
from gjk3d.frozen import cached
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, FactorsLike, Ints, OnePose, Row, Rows, RowsLike, Unclear
from gjk3d.units import check_unit
from gjk3d.wording import count, kind_of

if TYPE_CHECKING:
    import pyvista
    import trimesh

    from gjk3d.bodies.compound import Compound
    from gjk3d.bodies.grids import VoxelGrid
    from gjk3d.shapes.polytopes import ConvexHull


#: Relative difference of the volumes of a convex mesh and its hull, since float32 files round their corners.
CONVEX_RATIO = 1e-6
_MOST_COMPARED = 10_000_000  #: greatest number of heights of vertices above planes in a test of convexity
_BLOCK = 65536  #: number of heights per matrix product, which fits into the processor's cache and uses one thread


class Part(NamedTuple):
    """A named part of a file, in the frame of the whole mesh."""

    name: str
    mesh: Mesh


def as_mesh(x: Any) -> Any:
    """Return a mesh of trimesh or pyvista as a `Mesh` with its name and unit, and any other object unchanged."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(x).__mro__}
    if kinds & {"trimesh.Trimesh", "trimesh.Scene"}:
        return Mesh.from_trimesh(x.to_mesh() if "trimesh.Scene" in kinds else x)
    if kinds & {"pyvista.DataSet", "pyvista.MultiBlock"}:
        return Mesh.from_pyvista(x.combine() if "pyvista.MultiBlock" in kinds else x)
    return x


class Mesh(Body):
    """A triangle mesh, convex or not.

    `gjk3d.collide`, `signed_distance`, `contact`, `time_of_impact` and similar queries use the mesh itself, including
    its cavities. Queries that accept only convex shapes document this. `hull` returns the convex hull.

    Parameters
    ----------
    vertices : (n, 3) float, or a mesh of trimesh or pyvista
        Points in the caller's unit. A mesh of trimesh or pyvista is copied as by `from_trimesh` and `from_pyvista`.
    faces : (m, 3) int
        Indices of the three vertices of each triangle, anticlockwise seen from outside. Omit them if ``vertices``
        is a mesh of another library.
    name, unit : str, optional
        The name of the model in the file, and its unit of length if the format has one.
    parts : sequence of Part, optional
        The named parts that were joined to form this mesh.
    source : path, optional
        The file of the mesh.
    solid : bool
        Whether the interior of a closed surface is solid. False for a hollow surface.
    rounding : float, optional
        The greatest difference of a coordinate between copies of one corner that were rounded separately. It must be
        less than a thousandth of the longest side of the vertices' bounding box. The default is 8 spacings of float32
        numbers at the largest coordinate, and at least 3 units of the last digit if the coordinates are decimals of 4
        to 9 digits. A default of a thousandth of that side or more becomes 0.

    Warns
    -----
    Gjk3dWarning
        The surface is nearly closed, so its interior is not solid. The first query of each mesh issues this warning. A
        mesh that its `repairs` close is closed.

    Raises
    ------
    ShapeError
        An array has the wrong shape or type, a vertex is not finite, a length is too large or too small, the rounding
        is negative or too large, the unit is not a length, a face has an index without a vertex, or there are no
        triangles.

    Examples
    --------
    >>> import gjk3d as gk
    >>> corners, faces = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    >>> mesh = gk.Mesh(corners, faces, name="wedge", unit="meters")
    >>> mesh.is_watertight, mesh.open_edges, mesh.is_solid, mesh.nearly_closed, mesh.skin is mesh
    (True, 0, True, '', True)
    >>> mesh.is_convex, round(mesh.convexity, 9), round(mesh.hull().volume, 9)
    (True, 1.0, 0.166666667)
    >>> mesh.name, mesh.unit, mesh.parts, mesh.source
    ('wedge', 'meters', (), None)
    >>> gk.Mesh(corners, faces, rounding=1e-6).rounding
    1e-06
    """

    __slots__ = ("_faces", "_name", "_parts", "_rounding", "_solid", "_source", "_unit", "_vertices")
    _kind = Kind.MESH

    _faces: Ints
    _name: str | None
    _parts: tuple[Part, ...]
    _rounding: float | None
    _solid: bool
    _source: Path | None
    _unit: str | None
    _vertices: Array

    # two signatures, since a type checker without the types of trimesh or pyvista accepts anything as theirs
    @overload
    def __init__(
        self,
        vertices: RowsLike,
        faces: RowsLike,
        *,
        name: str | None = None,
        unit: str | None = None,
        parts: Sequence[Part] = (),
        source: Path | None = None,
        solid: bool = True,
        rounding: float | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        vertices: trimesh.Trimesh | trimesh.Scene | pyvista.DataSet | pyvista.MultiBlock,
        faces: None = None,
        *,
        name: str | None = None,
        unit: str | None = None,
        parts: Sequence[Part] = (),
        source: Path | None = None,
        solid: bool = True,
        rounding: float | None = None,
    ) -> None: ...
    def __init__(
        self,
        vertices: Any,
        faces: RowsLike | None = None,
        *,
        name: str | None = None,
        unit: str | None = None,
        parts: Sequence[Part] = (),
        source: Path | None = None,
        solid: bool = True,
        rounding: float | None = None,
    ) -> None:
        if faces is None:
            copied = as_mesh(vertices)
            if not isinstance(copied, Mesh):
                cure = line_for(vertices) or "pass gjk3d.Mesh(vertices, faces)"
                raise TypeError(f"Mesh: faces are missing for {kind_of(vertices)}. Instead {cure}")
            vertices, faces, name, unit = copied.vertices, copied.faces, name or copied.name, unit or copied.unit
        self._fill(vertices, faces, name, unit, parts, source, solid, rounding)
        _check_unit(unit)
        if rounding is not None and rounding > 0.0 and not rounding < (limit := largest_rounding(self._vertices)):
            raise ShapeError(
                f"rounding is {rounding!r}, expected less than {limit:g}, a thousandth of the longest side of the "
                "mesh's box. Merge the corners first, and omit rounding"
            )

    @classmethod
    def _of(cls, vertices: RowsLike, faces: RowsLike, **changes: Any) -> Self:
        """Return a mesh whose unit and upper limit of the rounding are not checked, for files and derived meshes."""
        return object.__new__(cls)._fill(vertices, faces, **changes)

    def _fill(
        self,
        vertices: RowsLike,
        faces: RowsLike,
        name: str | None = None,
        unit: str | None = None,
        parts: Sequence[Part] = (),
        source: Path | None = None,
        solid: bool = True,
        rounding: float | None = None,
    ) -> Self:
        points = checked_vertices(vertices)
        if rounding is not None and not (is_finite(rounding) and rounding >= 0.0):
            raise ShapeError(f"rounding is {rounding!r:.80}, expected a length of 0 or more")
        return self._set(
            _vertices=points, _faces=checked_faces(faces, len(points)), _name=name, _unit=unit, _parts=tuple(parts),
            _source=source, _solid=bool(solid), _rounding=rounding,
        )  # fmt: skip

    @classmethod
    def _later(cls, arrays: Callable[[], tuple[Array, Ints]], volume: float, unit: str | None) -> Mesh:
        """Return a mesh with a known volume whose vertices and faces are computed when they are first read."""
        mesh = object.__new__(cls)._set(_name=None, _unit=unit, _parts=(), _source=None, _solid=True, _rounding=0.0)
        mesh._cache.update(arrays=arrays, volume=volume)
        return mesh

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the vertices or the faces of a mesh created by `_later`, which are computed at first use."""
            if name not in ("_vertices", "_faces") or "arrays" not in self._cache:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            for field, array in zip(("_vertices", "_faces"), self._cache["arrays"](), strict=True):
                array.setflags(write=False)
                object.__setattr__(self, field, array)
            return getattr(self, name)

    @property
    def name(self) -> str | None:
        """The name of the model, or None."""
        return self._name

    @property
    def unit(self) -> str | None:
        """The unit of length as the file spells it ('meters', 'millimeter'), or None."""
        return self._unit

    @property
    def parts(self) -> tuple[Part, ...]:
        """The named parts of the file, each in the frame of the whole mesh."""
        return self._parts

    @property
    def source(self) -> Path | None:
        """The file of the mesh, or None."""
        return self._source

    @property
    def vertices(self) -> Array:
        """The vertices in the frame and the unit of the mesh, (n, 3), read-only."""
        return self._vertices

    @property
    def faces(self) -> Ints:
        """The vertex indices of each triangle, (m, 3), read-only."""
        return self._faces

    @property
    @cached
    def bounds(self) -> Array:
        """The least and the greatest corner of the triangles' bounding box, (2, 3), in the mesh's frame, read-only."""
        used = self._used
        return np.array([used.min(axis=0), used.max(axis=0)])

    @property
    def _used(self) -> Array:
        """The vertices that at least one face uses, (k, 3)."""
        used = np.zeros(len(self._vertices), dtype=bool)
        used[self._faces] = True
        return self._vertices[used]

    @property
    @cached
    def volume(self) -> float:
        """The signed volume, in the cube of the mesh's unit, which is negative for a mesh that is inside out.

        It is meaningful only if `is_watertight`. It is the sum over all connected bodies, so the overlap of two bodies
        counts twice.
        """
        # computed about the middle, so that a far-away mesh does not lose digits
        corners = (self._vertices - self.bounds.mean(axis=0))[self.skin.faces]
        cross = np.cross(corners[:, 1], corners[:, 2])
        return float(np.einsum("ij,ij->", corners[:, 0], cross) / 6.0)

    @property
    @cached
    def centroid(self) -> Array:
        """The centre of mass of the solid, (3,), in the mesh's frame. The mean of the vertices if the volume is 0.

        It is meaningful only if `is_watertight`.
        """
        known = self._cache.get("arrays")
        vertices, faces = known() if known is not None else (self._vertices, self.skin.faces)
        middle: Array = vertices.mean(axis=0)
        a, b, c = np.moveaxis((vertices - middle)[faces], 1, 0)
        weights = np.einsum("ij,ij->i", a, np.cross(b, c))
        total = float(weights.sum())
        return middle + weights @ (a + b + c) / (4.0 * total) if total and self.volume else middle

    @property
    @cached
    def rounding(self) -> float:
        """The greatest difference of a coordinate between copies of one corner that were rounded separately.

        It is 0 if the default is at least a thousandth of the bounding box's longest side. Copies are then not merged.
        """
        return spread if (spread := self._spread) < largest_rounding(self._vertices) else 0.0

    @property
    def _spread(self) -> float:
        """The given or default `rounding`, without its limit by the size of the mesh."""
        return corner_rounding(self._vertices) if self._rounding is None else self._rounding

    @property
    def _places(self) -> Ints:
        """The index of the position of each vertex, (n,). Copies of a corner have the same index."""
        return self._mended.places

    # --- the bounded solid ----------------------------------------------------------------------------------------

    @property
    @cached
    def _mended(self) -> Mended:
        return mended(self._vertices, self._faces, lambda: self.rounding)

    @property
    def open_edges(self) -> int:
        """The number of triangle edges without an opposite neighbour edge, which is 0 for a closed surface.

        Vertices at the same position count as one, since STL stores three for each triangle. Triangles with two corners
        at the same position are ignored. A surface that its `repairs` close is closed.
        """
        return self._mended.open_edges

    @property
    def is_watertight(self) -> bool:
        """Whether every directed edge has an opposite edge, so that the surface encloses a volume."""
        return self.open_edges == 0

    @property
    def repairs(self) -> tuple[str, ...]:
        """The repairs that close the surface, as one sentence each. Empty if repairs were not needed or did not help.

        Five flaws would make a closed mesh hollow: copies of a corner that differ by `rounding`, duplicate triangles,
        triangles attached to the surface by an edge, triangles wound against their neighbours, and pieces with open
        edges next to closed pieces. They are repaired if the mesh is closed without them. `faces` and `vertices` are
        not changed, so contact with a triangle outside `skin` is contact with the mesh. Interior, volume and outward
        normals are those of `skin`.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> box = gk.Box((2, 2, 2)).surface()
        >>> mesh = gk.Mesh(box.vertices, np.vstack([box.faces, box.faces[:1]]))
        >>> mesh.repairs
        ('1 triangle occurs more than once and is counted once',)
        >>> mesh.is_watertight, round(mesh.volume, 12), gk.collide(mesh, gk.Sphere(0.1))
        (True, 8.0, True)
        """
        return self._mended.repairs

    @property
    def skin(self) -> Mesh:
        """The closed surface that bounds the solid, which is the mesh itself unless there are `repairs`."""
        return self._cached("skin", lambda: self._without(self._mended.spare)) if self._mended.repairs else self

    @property
    @cached
    def _doubles(self) -> Ints:
        """The indices of the faces that repeat another face and are not counted."""
        return np.setdiff1d(self._mended.spare, self._mended.hanging)

    @property
    def _once(self) -> Mesh:
        """The mesh without the faces that repeat another face (`_doubles`)."""
        faces, doubles = self._faces, self._doubles
        if not len(doubles):
            return self
        return self._cached("once", lambda: self._like(self._vertices, np.delete(faces, doubles, axis=0)))

    def _numbers(self, faces: Ints, dropped: Ints) -> Ints:
        """Convert face indices of a copy without the faces ``dropped`` to face indices of this mesh; -1 stays -1."""
        if not len(dropped):
            return faces
        return np.append(np.delete(np.arange(len(self._faces)), dropped), -1)[faces]

    def _without(self, spare: Ints) -> Mesh:
        """Return the repaired surface without the faces ``spare``."""
        faces = np.delete(self._wound, spare, axis=0)
        first = np.unique(self._places, return_index=True)[1]  # the first of the copies of a corner
        return self._like(self._vertices, first[self._places[faces]])

    @property
    @cached
    def _wound(self) -> Ints:
        """The faces, (m, 3), where those of a closed mesh that are wound against their neighbours are flipped."""
        turned = self._mended.turned
        if not len(turned):
            return self._faces
        faces = self._faces.copy()
        faces[turned] = faces[turned, ::-1]
        return faces

    def _outward(self, faces: Ints) -> Array:
        """Return the unit normals of faces, (k, 3), but zero for faces of a closed mesh that do not bound its solid."""
        units = self._normals(faces)
        units[np.isin(faces, self._mended.spare)] = 0.0
        return units

    def _normals(self, faces: Ints) -> Array:
        """Return the unit normals of faces, (k, 3), which are zero for degenerate faces.

        The normals of a closed mesh lead out of its solid. Faces that do not bound the solid, and faces of an open
        mesh, have the normals of their winding.
        """
        v = self._vertices[self._wound[faces]]
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1, keepdims=True)
        units: Array = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
        if self.is_watertight:
            units[~np.isin(faces, self._mended.spare)] *= np.sign(self.volume)
        return units

    @property
    def is_solid(self) -> bool:
        """Whether the interior is solid: the surface is closed, and ``solid=False`` was not passed.

        The first use issues a warning if the surface is nearly closed.
        """
        if not self._solid:
            return False
        if "warned" not in self._cache and (words := self.nearly_closed):
            self._cache["warned"] = True
            warnings.warn(
                f"{words}. Use Mesh(vertices, faces, solid=False) for a hollow surface", Gjk3dWarning, stacklevel=2
            )
        return self._mended.open_edges == 0

    @property
    def nearly_closed(self) -> str:
        """The text of a warning if the mesh or a piece of it is nearly closed, otherwise an empty text."""
        state = self._mended
        if not (self._solid and state.nearly):
            return ""
        return (
            f"{self._name or 'a mesh'} has {state.loose_edges} open edges at {len(self._faces)} triangles, so its "
            "interior is not solid. Close it in its source or with trimesh's fill_holes(), or use its hull()"
        )

    def _hush(self) -> None:
        """Suppress the warning of `is_solid` for a caller that reports open meshes."""
        self._cache["warned"] = True

    @property
    def convexity(self) -> float:
        """The volume divided by the volume of the hull: 1 for a convex mesh, NaN for an open mesh or a flat hull."""
        hull_volume = float(self.hull().volume)
        if not self.is_watertight or not hull_volume > 0.0:
            return float("nan")
        return abs(self.volume) / hull_volume

    @property
    @cached
    def is_convex(self) -> bool:
        """Whether the mesh is closed and fills its convex hull, up to the rounding of float32 files."""
        return abs(self.convexity - 1.0) <= CONVEX_RATIO

    @property
    @cached
    def _convex_slack(self) -> float:
        """A bound of the difference between the depths of the solid and of its hull, infinite if not proven convex.

        If no vertex is more than d above the plane of any face, the closed surface is within d of the hull's surface.
        The solid then contains the hull shrunk about its centre by the share d / r, where r is the radius of the
        inscribed ball.
        """
        if not self.is_watertight or self.volume <= 0.0 or len(self._body_points) != 1:
            return float("inf")
        corners = np.asarray(self.hull().vertices)
        middle = corners.mean(axis=0)
        points, v = corners - middle, (self._vertices - middle)[self.skin.faces]
        if len(points) * len(v) > _MOST_COMPARED or not self.is_convex:
            return float("inf")
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1)
        if not (length > 1e-12 * length.max()).all():
            return float("inf")
        n /= length[:, None]
        height = np.einsum("ij,ij->i", n, v[:, 0])
        step = max(1, _BLOCK // len(points))
        blocks = (slice(k, k + step) for k in range(0, len(n), step))
        above = max(float(((n[some] @ points.T).max(axis=1) - height[some]).max()) for some in blocks)
        reach = float(np.linalg.norm(points, axis=1).max())
        ball = float(height.min())
        if not ball > 0.0:
            return float("inf")
        return (max(above, 0.0) + 16.0 * 2.0**-52 * reach) / ball * reach

    @property
    @cached
    def _bodies(self) -> Ints:
        """The index of the connected body of each face, (m,)."""
        return body_numbers(self._places, self._faces)

    @property
    @cached
    def _body_points(self) -> Array:
        """A vertex of the first face of each connected body, (k, 3)."""
        first = np.flatnonzero(np.diff(np.maximum.accumulate(self._bodies), prepend=-1))
        points: Array = self._vertices[self._faces[first, 0]]
        return points

    @overload
    def contains(self, points: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def contains(self, points: Row, *, workers: int = 1) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def contains(self, points: Rows, *, workers: int = 1) -> NDArray[np.bool_]: ...
    def contains(self, points: Any, *, workers: int = 1) -> Any:
        """Return which points are inside the closed surface.

        Parameters
        ----------
        points : (3,) float or (n, 3) float
            In the frame of the mesh.
        workers : int
            Number of threads for a stack. The result does not depend on it.

        Returns
        -------
        bool or (n,) bool
            The result for points on the surface is arbitrary.

        Raises
        ------
        ShapeError
            The mesh is not closed, so its interior is not defined.

        Examples
        --------
        >>> import gjk3d as gk
        >>> mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
        >>> mesh.contains([(0.1, 0.1, 0.1), (1, 1, 1)]).tolist()
        [True, False]
        """
        from gjk3d.bodies.mesh_rays import holds  # kernels are loaded on demand
        from gjk3d.convex.checks import check_workers
        from gjk3d.shapes.base import points_of

        check_workers(workers)
        if not self.is_watertight:
            raise ShapeError(
                f"{self._name or 'the mesh'} has {self.open_edges} open edges, expected a closed mesh. Use "
                "signed_distances(points, sign='winding').inside"
            )
        p, single = points_of(points, "contains: points")
        answer = holds(self, p, workers)
        return bool(answer[0]) if single else answer

    @cached
    def hull(self) -> ConvexHull:
        """Return the convex hull of the triangles in the mesh's frame, cached. Every query accepts this shape.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).hull().bounds[1].tolist()
        [1.0, 1.0, 0.0]
        """
        # scipy is loaded with the first hull
        from gjk3d.shapes.polytopes import ConvexHull

        return ConvexHull(self._used)

    @cached
    def self_intersections(self) -> Ints:
        """Return the pairs of faces that intersect each other beyond the vertices and edges that they share.

        Faces that touch without a common vertex intersect. Equal faces and faces that are folded onto each other
        intersect too. Exact arithmetic decides the pairs that floats cannot, so no pair is missing or wrong.

        Returns
        -------
        (k, 2) int
            Pairs of face indices in ascending order, with the lower index first. Copies of a corner (see `rounding`)
            count as one corner at the position of the first copy.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> box = gk.Box((2, 2, 2)).surface()
        >>> gk.Mesh(box.vertices, box.faces).self_intersections().shape
        (0, 2)
        >>> corners = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, -1), (1, 1, 1), (9, 9, 0)]
        >>> gk.Mesh(corners, [(0, 1, 2), (3, 4, 5)]).self_intersections().tolist()
        [[0, 1]]
        """
        from gjk3d.bodies.self_intersections import self_intersections  # kernels are loaded on demand

        return self_intersections(self)

    # --- see Body ---------------------------------------------------------------------------------------------------

    def _build_parts(self) -> Parts:
        from gjk3d.bodies.parts import Triangles

        return Triangles(self)

    def _find_order(self) -> tuple[int, ...]:
        return len(self._faces), crc32(self._vertices.tobytes(), crc32(self._faces.tobytes())), self._solid

    # --- other meshes and formats ----------------------------------------------------------------------------------

    def bodies(self) -> list[Mesh]:
        """Return the connected bodies in the order of their first faces. Vertices at equal positions connect faces.

        Examples
        --------
        >>> import gjk3d as gk
        >>> two = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 0, 0), (6, 0, 0), (5, 1, 0)], [(0, 1, 2), (3, 4, 5)])
        >>> [len(body.faces) for body in two.bodies()]
        [1, 1]
        """
        number = self._bodies
        if not number.any():
            return [self]
        names = [f"{self._name}/{k}" if self._name else None for k in range(int(number.max()) + 1)]
        return [self._piece(number == k, name=name, rounding=self._rounding) for k, name in enumerate(names)]

    def _piece(self, which: NDArray[np.bool_], **changes: Any) -> Mesh:
        """Return a mesh of some of the faces, and of the vertices that they use."""
        used, faces = np.unique(self._faces[which], return_inverse=True)
        return self._like(self._vertices[used], faces.reshape(-1, 3), **changes)

    @classmethod
    def from_trimesh(cls, mesh: trimesh.Trimesh) -> Mesh:
        """Return a copy of a mesh of trimesh, with the unit and the name in its metadata.

        Parameters
        ----------
        mesh : trimesh.Trimesh
            A single mesh. ``scene.to_mesh()`` returns one for a scene.

        Raises
        ------
        ShapeError
            The argument has another type, or its arrays are not a mesh.

        Examples
        --------
        >>> import gjk3d as gk, trimesh
        >>> ring = gk.Mesh.from_trimesh(trimesh.creation.torus(2, 0.5))
        >>> ring.is_watertight, gk.collide(ring, gk.Sphere(1))
        (True, False)
        """
        from gjk3d.bodies.conversions import of_trimesh

        return of_trimesh(cls, mesh)

    def to_trimesh(self) -> trimesh.Trimesh:
        """Return the triangles as a mesh of trimesh with its unit and name, without merging vertices.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh(*gk.Box((1, 2, 3)).surface()[:2]).to_trimesh().bounds.tolist()
        [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
        """
        import trimesh

        copy = trimesh.Trimesh(self._vertices.copy(), self._faces.copy(), process=False)
        if self._name:
            copy.metadata["name"] = self._name
        if self._unit:
            copy.units = self._unit
        return copy

    @classmethod
    def from_pyvista(cls, data: pyvista.DataSet) -> Mesh:
        """Return a mesh of the faces of a PolyData, or of the surface of a volume. Polygons are cut into triangles.

        Parameters
        ----------
        data : pyvista.PolyData or other pyvista.DataSet
            The surface of a grid or volume mesh is used. Lines and loose points are omitted.

        Raises
        ------
        ShapeError
            The argument has another type, such as a MultiBlock, or does not have faces.

        Examples
        --------
        >>> import gjk3d as gk, pyvista
        >>> cube = gk.Mesh.from_pyvista(pyvista.Cube().clean())
        >>> len(cube.faces), cube.is_watertight
        (12, True)
        """
        from gjk3d.bodies.conversions import arrays_of

        return cls(*arrays_of(data))

    def to_pyvista(self) -> pyvista.PolyData:
        """Return the triangles as a `PolyData` of pyvista.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh(*gk.Box((1, 2, 3)).surface()[:2]).to_pyvista().n_cells
        12
        """
        import pyvista

        return pyvista.PolyData.from_regular_faces(self._vertices.copy(), self._faces.copy())

    def decompose(self, threshold: float = 0.05) -> Compound:
        """Return the mesh split into convex parts by the package coacd. The result is cached.

        Parameters
        ----------
        threshold : float
            Greatest concavity of a part, 0.01 (many parts, slow) to 1 (few), as coacd measures it.

        Returns
        -------
        Compound
            An approximation of the mesh. ``geometry_error`` is the distance by which the parts exceed the mesh or fall
            short of it. It is measured at the vertices of both surfaces and at 20 000 points of each, so it is not a
            bound. Queries accept the mesh itself too, but contacts of the parts are faster and bounds of their depths
            are tighter.

        Raises
        ------
        ImportError
            coacd is not installed: ``pip install 'gjk3d[mesh]'``.
        ShapeError
            The threshold is out of range, or coacd returned no part.

        References
        ----------
        Wei, Liu, Ling, Su: Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
        search, 2022.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> one = gk.Box((1, 1, 1)).surface()
        >>> two = gk.Mesh(np.vstack([one.vertices, one.vertices + (2, 0, 0)]), np.vstack([one.faces, one.faces + 8]))
        >>> made = two.decompose()
        >>> made, round(made.geometry_error, 6), gk.collide(made, gk.Sphere(0.4), None, [[1, 0, 0, 1], *np.eye(4)[1:]])
        (<Compound of 2 parts>, 0.0, False)
        """
        from gjk3d.bodies.conversions import decompose

        return decompose(self, threshold)

    def voxelized(self, pitch: float) -> VoxelGrid:
        """Return the cubes of a grid that the surface touches, and the cubes inside a closed mesh.

        The cubes contain the mesh, and exceed the mesh by at most the diagonal of a cube.

        Parameters
        ----------
        pitch : float
            Edge of a cube. The grid begins at the least corner of `bounds`.

        Raises
        ------
        ShapeError
            The pitch is not a length, or so fine that the cubes would fill the memory.

        Examples
        --------
        >>> import gjk3d as gk
        >>> ball = gk.Sphere(1).surface()
        >>> gk.Mesh(ball.vertices, ball.faces).voxelized(0.25)
        <VoxelGrid 8 x 8 x 8, 408 occupied, pitch 0.25>
        """
        from gjk3d.bodies.conversions import voxelized

        return voxelized(self, pitch)

    def scaled(self, factors: FactorsLike, *, unit: str | None = None) -> Mesh:
        """Return the mesh scaled along its axes by one factor or three. A mirrored mesh keeps its outward winding.

        Parameters
        ----------
        factors : float or (3,) float
            All must be non-zero.
        unit : str, optional
            The unit of the result. The default is the unit of this mesh.

        Raises
        ------
        ShapeError
            A factor is zero or not finite, their number is neither one nor three, or the unit is not a length.

        Examples
        --------
        >>> import gjk3d as gk
        >>> inches = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], unit="inches")
        >>> inches.scaled(25.4, unit="millimeters").bounds.tolist()
        [[0.0, 0.0, 0.0], [25.4, 25.4, 0.0]]
        """
        numbers = np.asarray(factors, dtype=np.float64)
        if numbers.shape not in ((), (3,)) or not np.isfinite(numbers).all() or not numbers.all():
            raise ShapeError(f"scaled: factors is {factors!r}, expected one or three finite numbers other than 0")
        _check_unit(unit)
        return self._mapped(np.diag(np.broadcast_to(numbers, 3)), unit=unit or self._unit)

    def placed(self, pose: OnePose) -> Mesh:
        """Return a mesh that is moved by a pose.

        Parameters
        ----------
        pose : (4, 4) float, RigidTransform or None
            The transform from the local to the outer frame. None is the identity.

        Raises
        ------
        PoseError, ShapeError
            The pose is not a rigid transform, or is a stack.

        Examples
        --------
        >>> import gjk3d as gk
        >>> pose = [(1, 0, 0, 5), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
        >>> gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).placed(pose).bounds[0].tolist()
        [5.0, 0.0, 0.0]
        """
        from gjk3d.shapes.base import rigid

        rotation, shift = rigid(pose)
        return self._mapped(rotation, shift)

    def refit(self, vertices: RowsLike) -> Mesh:
        """Return a mesh with the same faces and other vertices, which reuses the tree of this mesh.

        Parameters
        ----------
        vertices : (n, 3) float
            The same number of vertices in the same order.

        Raises
        ------
        ShapeError
            The number of vertices differs, or a vertex is not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> flag = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
        >>> flag.refit(flag.vertices + (0, 0, 1)).bounds.tolist()
        [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
        """
        from gjk3d.bodies.bvh import refitted

        mesh = self._like(vertices, self._faces, source=self._source)
        if len(mesh.vertices) != len(self._vertices):
            raise ShapeError(
                f"refit: {len(mesh.vertices)} vertices are given, expected {len(self._vertices)}. Create a new "
                "gjk3d.Mesh for another number of vertices"
            )
        if "tree" in self._cache:
            mesh._cache["tree"] = refitted(self._cache["tree"], mesh.vertices, mesh.faces)
        return mesh

    def _mapped(self, linear: Array, shift: Array | float = 0.0, **changes: Any) -> Mesh:
        """Return the mesh with each vertex v at ``linear @ v + shift``. A mirrored mesh keeps its outward winding."""
        faces = self._faces[:, ::-1] if np.linalg.det(linear) < 0.0 else self._faces
        rounding = self._spread * float(stretch(linear))
        return self._like(self._vertices @ linear.T + shift, faces, rounding=rounding, **changes)

    def _like(self, vertices: RowsLike, faces: Ints, **changes: Any) -> Mesh:
        return Mesh._of(vertices, faces, **({"name": self._name, "unit": self._unit, "solid": self._solid} | changes))

    def _content(self) -> tuple[Any, ...]:
        arrays = self._vertices.tobytes(), self._faces.tobytes()
        return (self._name, self._unit, self._parts, self._solid, *arrays)

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        parts = f", {len(self._parts)} parts" if len(self._parts) > 1 else ""
        unit = f", in {self._unit}" if self._unit else ""
        triangles = count(len(self._faces), "triangle")
        return f"<Mesh{name}: {triangles}, {len(self._vertices)} vertices{parts}{unit}>"


def _check_unit(unit: str | None) -> None:
    try:
        check_unit(unit)
    except ParseError as error:
        raise ShapeError(str(error)) from None
