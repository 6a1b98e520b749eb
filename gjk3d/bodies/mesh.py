"""`Mesh`: triangles with their names and units, and conversions of meshes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gjk3d.bodies.surface import TriangleSurface, stretch
from gjk3d.bodies.topology import body_numbers, checked_faces, checked_vertices, largest_rounding
from gjk3d.convex.checks import is_finite, line_for
from gjk3d.errors import ParseError, ShapeError
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, FactorsLike, Ints, OnePose, RowsLike
from gjk3d.units import check_unit
from gjk3d.wording import with_cure

if TYPE_CHECKING:
    import pyvista
    import trimesh

    from gjk3d.bodies.compound import Compound
    from gjk3d.bodies.voxels import VoxelGrid


class Part(NamedTuple):
    """A named part of a file, in the frame of the whole mesh."""

    name: str
    mesh: Mesh


def _cure_of_mesh(self: Any, vertices: Any = None, *args: Any, **keywords: Any) -> str:
    """Return the cure for a mesh of another library in place of vertices and faces."""
    line = line_for(vertices)
    return f" Convert the {type(vertices).__name__}: {line.removeprefix('pass ')}." if line else ""


class Mesh(TriangleSurface):
    """A triangle mesh, convex or not.

    `gjk3d.collide`, `signed_distance`, `contact`, `time_of_impact` and similar queries use the mesh itself, including
    its cavities. Queries that accept only convex shapes document this. `hull` returns the convex hull.

    Parameters
    ----------
    vertices : (n, 3) float
        Points in the caller's unit.
    faces : (m, 3) int
        Rows of ``vertices`` of each triangle, anticlockwise seen from outside.
    name, unit : str, optional
        The name of the model in the file, and its unit of length if the format has one.
    parts : sequence of Part, optional
        The named parts that the mesh was joined from.
    source : path, optional
        The file of the mesh.
    solid : bool
        Whether the interior of a closed surface is solid. False for a hollow surface.
    rounding : float, optional
        The greatest distance along an axis between rounded copies of a corner, possibly rounded before a transform. It
        must be less than a thousandth of the longest side of the vertices' bounding box. The default is 8 spacings of
        float32 numbers at the largest coordinate, and at least 3 units of the last digit if the coordinates are
        decimals of 4 to 9 digits. It is 0 if that is a thousandth of the side or more.

    Warns
    -----
    Gjk3dWarning
        Once for each mesh, at the first query, if the surface is nearly closed, since its interior is not solid. A mesh
        that its `repairs` close is closed.

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

    __slots__ = ("_parts", "_source", "_unit")
    _kind = Kind.MESH

    _parts: tuple[Part, ...]
    _source: Path | None
    _unit: str | None

    @with_cure(_cure_of_mesh)
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
    ) -> None:
        self._fill(vertices, faces, name, unit, parts, source, solid, rounding)
        _check_unit(unit)
        if rounding is not None and rounding > 0.0 and not rounding < (limit := largest_rounding(self._vertices)):
            raise ShapeError(
                f"rounding is {rounding!r}, expected less than a thousandth of the longest side of the mesh, {limit:g}."
                " Leave rounding out, and merge the corners before"
            )

    @classmethod
    def _of(cls, vertices: RowsLike, faces: RowsLike, **changes: Any) -> Self:
        """Return a mesh of numbers from a file or another mesh, with any unit and any rounding."""
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

    @property
    def name(self) -> str | None:
        """The name of the model in the file."""
        return self._name

    @property
    def unit(self) -> str | None:
        """The unit of length in the words of the format ('meters', 'millimeter'), or None."""
        return self._unit

    @property
    def parts(self) -> tuple[Part, ...]:
        """The named parts of the file, each in the frame of the whole mesh."""
        return self._parts

    @property
    def source(self) -> Path | None:
        """The file of the mesh, or None."""
        return self._source

    def bodies(self) -> list[Mesh]:
        """Return the connected bodies, in the order of their first faces. Vertices at equal positions connect faces.

        Examples
        --------
        >>> import gjk3d as gk
        >>> two = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 0, 0), (6, 0, 0), (5, 1, 0)], [(0, 1, 2), (3, 4, 5)])
        >>> [len(body.faces) for body in two.bodies()]
        [1, 1]
        """
        number = body_numbers(self._places, self._faces)
        if not number.any():
            return [self]
        parts = []
        for k in range(int(number.max()) + 1):
            used, faces = np.unique(self._faces[number == k], return_inverse=True)
            name = f"{self._name}/{k}" if self._name else None
            parts.append(self._like(self._vertices[used], faces.reshape(-1, 3), name=name, rounding=self._rounding))
        return parts

    @classmethod
    def from_trimesh(cls, mesh: trimesh.Trimesh) -> Mesh:
        """Return a copy of a mesh of trimesh, with the unit and the name in its metadata.

        Parameters
        ----------
        mesh : trimesh.Trimesh
            A single mesh. ``scene.to_mesh()`` returns one for a scene.

        Returns
        -------
        Mesh

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

        arrays = of_trimesh(mesh)
        return cls(arrays.vertices, arrays.faces, name=arrays.name, unit=arrays.unit)

    def to_trimesh(self) -> trimesh.Trimesh:
        """Return the triangles as a mesh of trimesh with its unit and name, without merging vertices.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh(*gk.Box((1, 2, 3)).surface()[:2]).to_trimesh().bounds.tolist()
        [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
        """
        from gjk3d.bodies.conversions import to_trimesh

        return to_trimesh(self)

    @classmethod
    def from_pyvista(cls, data: pyvista.DataSet) -> Mesh:
        """Return a mesh of the faces of a PolyData, or of the surface of a volume. Polygons are cut into triangles.

        Parameters
        ----------
        data : pyvista.PolyData or other pyvista.DataSet
            The surface of a grid or volume mesh is used. Lines and loose points are omitted.

        Returns
        -------
        Mesh

        Raises
        ------
        ShapeError
            The argument has another type, such as several blocks, or does not have faces.

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
        """Return the triangles as PolyData.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh(*gk.Box((1, 2, 3)).surface()[:2]).to_pyvista().n_cells
        12
        """
        from gjk3d.bodies.conversions import to_pyvista

        return to_pyvista(self)

    def decompose(self, threshold: float = 0.05) -> Compound:
        """Return the mesh split into convex parts by the package coacd. The results are cached.

        Parameters
        ----------
        threshold : float
            Greatest concavity of a part, 0.01 (many parts, slow) to 1 (few), as coacd measures it.

        Returns
        -------
        Compound
            An approximation of the mesh. ``geometry_error`` is the distance by which the parts exceed the mesh or fall
            short of it. It is measured at the vertices of both surfaces and at 20 000 points of each, without proof.
            Queries work without parts, but parts make contacts faster and bounds of depths tighter.

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
        """Return the mesh as the cubes of a grid that its surface touches, and those inside a closed mesh.

        Parameters
        ----------
        pitch : float
            Edge of a cube. The grid begins at the least corner of `bounds`.

        Returns
        -------
        VoxelGrid
            It contains the mesh, and exceeds it by at most the diagonal of a cube.

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

        Returns
        -------
        Mesh

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
            raise ShapeError(f"scaled: factors is {factors!r}, expected one or three numbers other than 0")
        mirrored = float(np.prod(np.broadcast_to(numbers, 3))) < 0.0
        faces = self._faces[:, ::-1] if mirrored else self._faces
        _check_unit(unit)
        rounding = self._spread * float(np.abs(numbers).max())
        return self._like(self._vertices * numbers, faces, unit=unit or self._unit, rounding=rounding)

    def placed(self, pose: OnePose) -> Mesh:
        """Return a mesh that is moved by a pose.

        Parameters
        ----------
        pose : (4, 4) float, RigidTransform or None
            The transform from the local to the outer frame. None is the identity.

        Returns
        -------
        Mesh

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
        from gjk3d.shapes.arguments import rigid

        rotation, shift = rigid(pose)
        return self._mapped(rotation, shift)

    def refit(self, vertices: RowsLike) -> Mesh:
        """Return a mesh with the same faces and other vertices, which reuses the tree of this mesh.

        Parameters
        ----------
        vertices : (n, 3) float
            The same number of vertices in the same order.

        Returns
        -------
        Mesh

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
            raise ShapeError(f"refit: {len(mesh.vertices)} vertices are given, expected {len(self._vertices)}")
        if "tree" in self._cache:
            mesh._cache["tree"] = refitted(self._cache["tree"], mesh.vertices, mesh.faces)
        return mesh

    def _mapped(self, linear: Array, shift: Array | float = 0.0, **changes: Any) -> Mesh:
        """Return the mesh under an affine map. A mirrored mesh keeps its outward winding."""
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
        return f"<Mesh{name}: {len(self._faces)} triangles, {len(self._vertices)} vertices{parts}{unit}>"


def _check_unit(unit: str | None) -> None:
    try:
        check_unit(unit)
    except ParseError as error:
        raise ShapeError(str(error)) from None
