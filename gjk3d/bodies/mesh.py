"""Triangle meshes in plain arrays: what a file holds, before anything is made convex."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.mending import Mended, body_numbers, mended
from gjk3d.errors import Gjk3dWarning, ShapeError
from gjk3d.frozen import Frozen
from gjk3d.shapes.layout import in_range
from gjk3d.typing import Array, FactorsLike, Ints, OnePose, Row, Rows, RowsLike, Unclear

if TYPE_CHECKING:
    from gjk3d.shapes.convex_hull import ConvexHull

#: A closed mesh counts as convex when its volume is that of its hull to this part (float32 files round their corners).
CONVEX_RATIO = 1e-6
_MOST_COMPARED = 10_000_000  #: vertices times planes that are compared to see whether a mesh is convex


class Part(NamedTuple):
    """One named part of a file, in the frame of the whole."""

    name: str
    mesh: Mesh


class Mesh(Frozen):
    """A triangle mesh: what was loaded, convex or not.

    `gjk3d.collide`, `distance` and `signed_distance` take it as it is, hollows and all; other queries take convex
    shapes, and `hull` gives the convex hull of a mesh.

    Parameters
    ----------
    vertices : (n, 3) float
        Points in the caller's unit.
    faces : (m, 3) int
        Vertex indices of each triangle, anticlockwise seen from outside.
    name, unit : str, optional
        What the file calls the model, and its unit of length where the format has one.
    parts : sequence of Part, optional
        The named parts that the mesh was joined from.
    source : path, optional
        The file it came from.
    solid : bool
        Whether the inside of a closed surface counts. False for a surface that is one on purpose.

    Warns
    -----
    Gjk3dWarning
        Once a mesh, when it is asked about and little is missing to a closed surface: then nothing is inside it. A mesh
        that a `repairs` or two close is closed.

    Raises
    ------
    ShapeError
        Wrong shape or type of array, a vertex that is not finite, lengths that are too large or small to compute with,
        a face that names a vertex that is not there, or no triangle at all.

    Examples
    --------
    >>> import gjk3d as gk
    >>> mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> mesh.is_watertight, mesh.is_convex, round(mesh.hull().volume, 9)
    (True, True, 0.166666667)
    """

    __slots__ = ("_faces", "_name", "_parts", "_solid", "_source", "_unit", "_vertices")

    #: the module that answers `gjk3d.collide` and the like for this class

    _faces: Ints
    _name: str | None
    _parts: tuple[Part, ...]
    _solid: bool
    _source: Path | None
    _unit: str | None
    _vertices: Array

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
    ) -> None:
        points = _vertices(vertices)
        triangles = _faces(faces, len(points))
        self._set(
            _vertices=points,
            _faces=triangles,
            _name=name,
            _unit=unit,
            _parts=tuple(parts),
            _source=source,
            _solid=bool(solid),
        )

    @property
    def vertices(self) -> Array:
        """The points, (n, 3), read-only."""
        return self._vertices

    @property
    def faces(self) -> Ints:
        """Vertex indices of the triangles, (m, 3), read-only."""
        return self._faces

    @property
    def name(self) -> str | None:
        """What the file calls the model."""
        return self._name

    @property
    def unit(self) -> str | None:
        """Unit of length as the format says it ('meters', 'millimeter'), None where it has none."""
        return self._unit

    @property
    def parts(self) -> tuple[Part, ...]:
        """The named parts of the file, each in the frame of the whole."""
        return self._parts

    @property
    def source(self) -> Path | None:
        """The file that the mesh came from."""
        return self._source

    @property
    def bounds(self) -> Array:
        """Lowest and highest corner of the triangles, (2, 3)."""
        return self._cached("bounds", self._bounds)

    def _bounds(self) -> Array:
        used = self._vertices[np.unique(self._faces)]
        return _frozen(np.array([used.min(axis=0), used.max(axis=0)]))  # type: ignore[no-any-return]

    @property
    def volume(self) -> float:
        """Signed volume by the divergence theorem; means something only if `is_watertight`, and is < 0 inside out."""
        return self._cached("volume", self._volume)

    def _volume(self) -> float:
        # taken about the middle, so that a far-away mesh loses no digits
        corners = (self._vertices - self.bounds.mean(axis=0))[self.skin.faces]
        cross = np.cross(corners[:, 1], corners[:, 2])
        return float(np.einsum("ij,ij->", corners[:, 0], cross) / 6.0)

    def _mended(self) -> Mended:
        return self._cached("mended", lambda: mended(self._vertices, self._faces))

    @property
    def open_edges(self) -> int:
        """How many triangle edges have no neighbour that runs the other way; 0 for a closed surface.

        Vertices at the same place count as one, since STL stores three for each triangle; triangles that have two
        corners at one place count as none. Where the few `repairs` close the surface, it is closed.
        """
        return self._mended().open_edges

    @property
    def is_watertight(self) -> bool:
        """Whether every directed edge is matched by one running the other way: the surface encloses a volume."""
        return self.open_edges == 0

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was mended for the surface to be closed, a sentence each; none where nothing was, or nothing helped.

        Three flaws would make a closed mesh hollow, and are mended where it is closed by that: triangles that are there
        more than once, triangles that hang on the surface by an edge, triangles that are wound against their
        neighbours. `faces` and `vertices` stay as they were given, so what touches a triangle that hangs on touches the
        mesh; what is inside, the volume and the outside are those of `skin`.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> box = gk.Box((2, 2, 2)).surface()
        >>> mesh = gk.Mesh(box.vertices, np.vstack([box.faces, box.faces[:1]]))
        >>> mesh.repairs
        ('1 triangle is there more than once and counts once',)
        >>> mesh.is_watertight, round(mesh.volume, 12), gk.collide(mesh, gk.Sphere(0.1))
        (True, 8.0, True)
        """
        return self._mended().repairs

    @property
    def wound(self) -> Ints:
        """The faces, (m, 3), where those of a closed mesh that are wound against their neighbours are turned."""
        turned = self._mended().turned
        if not len(turned):
            return self._faces
        if "wound" not in self._cache:
            faces = self._faces.copy()
            faces[turned] = faces[turned, ::-1]
            self._cache["wound"] = _frozen(faces)
        wound: Ints = self._cache["wound"]
        return wound

    @property
    def skin(self) -> Mesh:
        """The closed surface that bounds the solid: the mesh itself unless there are `repairs`."""
        found = self._mended()
        if not found.repairs:
            return self
        if "skin" not in self._cache:
            faces = np.delete(self.wound, found.spare, axis=0)
            self._cache["skin"] = Mesh(self._vertices, faces, name=self._name, unit=self._unit)
        skin: Mesh = self._cache["skin"]
        return skin

    def outward(self, faces: Ints) -> Array:
        """Return the normals of some faces of a closed mesh, as long as twice their area, out of the solid, (k, 3)."""
        v = self._vertices[self.wound[faces]]
        n: Array = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]) * np.sign(self.volume)
        n[np.isin(faces, self._mended().spare)] = 0.0  # such a face bounds nothing
        return n

    @property
    def is_solid(self) -> bool:
        """Whether what is inside counts: it is closed, and not said to be a surface by ``solid=False``.

        It warns where it is open and little is missing, once.
        """
        if not self._solid:
            return False
        if "told" not in self._cache and (words := self.nearly_closed):
            self._cache["told"] = True
            warnings.warn(
                f"{words}; Mesh(vertices, faces, solid=False) says that it is a surface", Gjk3dWarning, stacklevel=2
            )
        return self._mended().open_edges == 0

    @property
    def nearly_closed(self) -> str:
        """What to say of a mesh that is open where little is missing; empty for any other."""
        found = self._mended()
        if not (self._solid and found.nearly):
            return ""
        return (
            f"{self._name or 'a mesh'} has {found.open_edges} open edges at {len(self._faces)} triangles, so it is "
            "a surface with nothing inside: close it where it was made, or with trimesh's fill_holes(), or take "
            "its hull()"
        )

    def hush(self) -> None:
        """Leave the warning of `is_solid` to the caller, who says himself which meshes are open."""
        self._cache["told"] = True

    @property
    def convexity(self) -> float:
        """Volume over the volume of the hull: 1 for convex, and NaN where there is no volume to compare.

        That is a mesh with open edges, or one whose hull is flat.
        """
        hull_volume = float(self.hull().volume)
        if not self.is_watertight or not hull_volume > 0.0:
            return float("nan")
        return abs(self.volume) / hull_volume

    @property
    def is_convex(self) -> bool:
        """Whether the mesh is closed and fills its convex hull, up to the rounding of float32 files."""
        return abs(self.convexity - 1.0) <= CONVEX_RATIO

    @property
    def body_points(self) -> Array:
        """One vertex of each connected body, (k, 3), by the lowest number of its faces."""
        if "body points" not in self._cache:
            _, first = np.unique(body_numbers(self._vertices, self._faces), return_index=True)
            self._cache["body points"] = _frozen(self._vertices[self._faces[np.sort(first), 0]])
        points: Array = self._cache["body points"]
        return points

    def bodies(self) -> list[Mesh]:
        """Return the connected bodies, in the order of their first faces; vertices at one place connect.

        Examples
        --------
        >>> import gjk3d as gk
        >>> two = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 0, 0), (6, 0, 0), (5, 1, 0)], [(0, 1, 2), (3, 4, 5)])
        >>> [len(body.faces) for body in two.bodies()]
        [1, 1]
        """
        number = body_numbers(self._vertices, self._faces)
        if not number.any():
            return [self]
        parts = []
        for k in range(int(number.max()) + 1):
            used, faces = np.unique(self._faces[number == k], return_inverse=True)
            name = f"{self._name}/{k}" if self._name else None
            parts.append(self._like(self._vertices[used], faces.reshape(-1, 3), name=name))
        return parts

    @overload
    def contains(self, points: Unclear) -> Any: ...
    @overload
    def contains(self, points: Row) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def contains(self, points: Rows) -> NDArray[np.bool_]: ...
    def contains(self, points: Any) -> Any:
        """Tell which points lie inside the closed surface.

        Parameters
        ----------
        points : (3,) float or (n, 3) float
            In the mesh's own frame.

        Returns
        -------
        bool or (n,) bool
            Points on the surface may come out either way.

        Raises
        ------
        ShapeError
            If the mesh is not closed: then inside means nothing.

        Examples
        --------
        >>> import gjk3d as gk
        >>> mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
        >>> mesh.contains([(0.1, 0.1, 0.1), (1, 1, 1)]).tolist()
        [True, False]
        """
        from gjk3d.bodies.surfaces import holds
        from gjk3d.shapes.arguments import rows

        if not self.is_watertight:
            raise ShapeError(f"{self._name or 'the mesh'} has {self.open_edges} open edges, so nothing is inside it")
        single = np.ndim(points) == 1
        answer = holds(self, rows([points] if single else points, "contains: points"))
        return bool(answer[0]) if single else answer

    def decompose(self, threshold: float = 0.05) -> Any:
        """Return the mesh cut into convex parts, by the package coacd; kept for the next time, whoever asks.

        Parameters
        ----------
        threshold : float
            How concave a part may stay, 0.01 (many parts, slow) to 1 (few), as coacd measures it.

        Returns
        -------
        Compound
            Close to the mesh, not the same: ``geometry_error`` says how far the parts stick out of the mesh or fall
            short of it. It is measured at the vertices of both surfaces and at 20 000 points of each, and not proven.
            The mesh itself needs no parts to be asked about; they make what touches it faster and its depth sharper.

        Raises
        ------
        ImportError
            Where coacd is not installed: ``pip install 'gjk3d[mesh]'``.
        ShapeError
            For a threshold out of range, or where there is no part.

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

    def voxelized(self, pitch: float) -> Any:
        """Return the mesh as cubes on a grid: all that its surface touches and, of a closed one, all inside.

        Parameters
        ----------
        pitch : float
            Edge of a cube; the grid begins at the least corner of `bounds`.

        Returns
        -------
        VoxelGrid
            It holds the mesh, and reaches at most a cube's diagonal farther.

        Raises
        ------
        ShapeError
            For a pitch that is no length, or so fine that the cubes would fill the memory.

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
        """Return a mesh stretched along its axes, by one factor or three; a mirror image keeps its outside outside.

        Parameters
        ----------
        factors : float or (3,) float
            None may be zero.
        unit : str, optional
            The unit of the result; without it, that of this mesh.

        Examples
        --------
        >>> import gjk3d as gk
        >>> inches = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], unit="inches")
        >>> inches.scaled(25.4, unit="millimeters").bounds.tolist()
        [[0.0, 0.0, 0.0], [25.4, 25.4, 0.0]]
        """
        numbers = np.asarray(factors, dtype=np.float64)
        if numbers.shape not in ((), (3,)) or not np.isfinite(numbers).all() or not numbers.all():
            raise ShapeError(f"scaled: factors is {factors!r}, expected one number or three, none zero")
        mirrored = float(np.prod(np.broadcast_to(numbers, 3))) < 0.0
        faces = self._faces[:, ::-1] if mirrored else self._faces
        return self._like(self._vertices * numbers, faces, unit=unit or self._unit)

    def placed(self, pose: OnePose) -> Mesh:
        """Return the mesh as it is at a pose, (4, 4) float: a new one in the pose's outer frame.

        Examples
        --------
        >>> import gjk3d as gk
        >>> pose = [(1, 0, 0, 5), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
        >>> gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).placed(pose).bounds[0].tolist()
        [5.0, 0.0, 0.0]
        """
        from gjk3d.shapes.arguments import rigid

        rotation, shift = rigid(pose)
        return self._like(self._vertices @ rotation.T + shift, self._faces)

    def refit(self, vertices: RowsLike) -> Mesh:
        """Return a mesh of the same faces with its vertices elsewhere, whose tree need not be built anew."""
        from gjk3d.bodies.bvh import refitted

        mesh = self._like(vertices, self._faces, source=self._source)
        if len(mesh.vertices) != len(self._vertices):
            raise ShapeError(f"refit: {len(mesh.vertices)} vertices for a mesh of {len(self._vertices)}: give one each")
        if "tree" in self._cache:
            mesh._cache["tree"] = refitted(self._cache["tree"], mesh.vertices, mesh.faces)
        return mesh

    def _like(self, vertices: RowsLike, faces: Ints, **others: Any) -> Mesh:
        return Mesh(vertices, faces, **({"name": self._name, "unit": self._unit, "solid": self._solid} | others))

    @property
    def convex_slack(self) -> float:
        """By how much the solid may differ from its hull in depth, at most: infinite where it is not seen to be convex.

        Where no vertex lies more than d above the plane of any face, the closed surface stays within d of the hull's,
        so the solid holds the hull shrunk about its middle by d over the radius of the ball within.
        """
        slack = self._cached("convex slack", self._convex_slack)
        return slack

    def _convex_slack(self) -> float:
        if not self.is_watertight or self.volume <= 0.0 or len(self.body_points) != 1:
            return float("inf")
        corners = np.asarray(self.hull().vertices)
        middle = corners.mean(axis=0)
        points, v = corners - middle, (self._vertices - middle)[self.skin.faces]
        if len(points) * len(v) > _MOST_COMPARED or not self.is_convex:
            return float("inf")
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1)
        seen = length > 1e-12 * length.max()
        if not seen.all():
            return float("inf")
        n /= length[:, None]
        height = np.einsum("ij,ij->i", n, v[:, 0])
        above = float((n @ points.T - height[:, None]).max())
        reach = float(np.linalg.norm(points, axis=1).max())
        ball = float(height.min())
        if not ball > 0.0:
            return float("inf")
        return (max(above, 0.0) + 16.0 * 2.0**-52 * reach) / ball * reach

    def hull(self) -> ConvexHull:
        """Return the convex hull of the triangles, a shape that every query takes."""
        # scipy is loaded when the first hull is asked for
        from gjk3d.shapes.convex_hull import ConvexHull

        return self._cached("hull", lambda: ConvexHull(self._vertices[np.unique(self._faces)]))

    def _content(self) -> tuple[Any, ...]:
        name, unit, parts, solid = self._name, self._unit, self._parts, self._solid
        return name, unit, parts, solid, self._vertices.tobytes(), self._faces.tobytes()

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        parts = f", {len(self._parts)} parts" if len(self._parts) > 1 else ""
        unit = f", in {self._unit}" if self._unit else ""
        return f"<Mesh{name}: {len(self._faces)} triangles, {len(self._vertices)} vertices{parts}{unit}>"


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _vertices(value: Any) -> Array:
    raw = _array(value, "vertices")
    if raw.dtype.kind not in "fiu":
        raise ShapeError(f"vertices are of type {raw.dtype}: give real numbers, (n, 3)")
    _rows_of_three(raw, "vertices")
    points = np.array(raw, dtype=np.float64, order="C") + 0.0  # -0.0 becomes 0.0, so equal places have equal bits
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        shown = ", ".join(f"{x:g}" for x in points[bad[0]])
        raise ShapeError(
            f"vertices[{bad[0]}] is [{shown}], not finite ({len(bad)} of {len(points)} rows): repair or drop these"
        )
    in_range(points, "vertices")
    return _frozen(points)  # type: ignore[no-any-return]


def _faces(value: Any, limit: int) -> Ints:
    raw = _array(value, "faces")
    if raw.size and raw.dtype.kind not in "iu":
        raise ShapeError(f"faces are of type {raw.dtype}: give whole numbers, the rows of vertices that each one joins")
    if raw.size == 0:
        raise ShapeError("faces is empty: a mesh needs at least one triangle (ConvexHull(points) takes bare points)")
    _rows_of_three(raw, "faces")
    wrong = np.flatnonzero(((raw < 0) | (raw >= limit)).any(axis=1))
    if len(wrong):
        raise ShapeError(
            f"faces[{wrong[0]}] is {raw[wrong[0]].tolist()}, but there are {limit} vertices, 0 to {limit - 1}"
            f" ({len(wrong)} of {len(raw)} faces): indices count from 0"
        )
    flags = raw.flags
    if raw is value and raw.dtype == np.int64 and flags.c_contiguous and flags.owndata and not flags.writeable:
        kept: NDArray[np.int64] = raw
        return kept  # those of another mesh: copies of a part share them
    return _frozen(np.array(raw, dtype=np.int64, order="C"))  # type: ignore[no-any-return]


def _array(value: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} has rows of different lengths: give an array, (n, 3)") from None


def _rows_of_three(raw: NDArray[Any], what: str) -> None:
    if raw.ndim != 2 or raw.shape[1] != 3:
        cure = f": did you mean {what}.T?" if raw.ndim == 2 and raw.shape[0] == 3 else ""
        raise ShapeError(f"{what} has shape {raw.shape}, expected (n, 3){cure}")
