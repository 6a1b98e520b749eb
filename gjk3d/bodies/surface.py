"""A surface of triangles and the solid that it bounds, with repairs of a few flaws and a test of convexity."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.topology import Mended, body_numbers, edges_of, largest_rounding, mended
from gjk3d.errors import Gjk3dWarning, ShapeError
from gjk3d.typing import Array, Bools, Ints, Row, Rows, Unclear

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh
    from gjk3d.shapes.polytopes import ConvexHull


_Any = TypeVar("_Any", bound=NDArray[Any])
#: Relative difference of the volumes of a convex mesh and its hull, since float32 files round their corners.
CONVEX_RATIO = 1e-6
_MOST_COMPARED = 10_000_000  #: greatest number of vertices times planes for a test of convexity
_BLOCK = 65536  #: number of these products per block, which fits into the processor's cache and uses one thread


class TriangleSurface(Body):
    """A `gjk3d.Mesh` as a set of points."""

    __slots__ = ("_faces", "_name", "_rounding", "_solid", "_vertices")

    _faces: Ints
    _name: str | None
    _rounding: float | None
    _solid: bool
    _vertices: Array

    @property
    def vertices(self) -> Array:
        """The vertices, (n, 3), read-only."""
        return self._vertices

    @property
    def faces(self) -> Ints:
        """The vertex indices of each triangle, (m, 3), read-only."""
        return self._faces

    @property
    def bounds(self) -> Array:
        """Least and greatest corner of the box of the triangles, (2, 3), read-only."""
        return self._cached("bounds", self._find_bounds)

    @property
    def _used(self) -> Array:
        """The vertices of faces, (k, 3)."""
        used = np.zeros(len(self._vertices), dtype=bool)
        used[self._faces] = True
        return self._vertices[used]

    def _find_bounds(self) -> Array:
        used = self._used
        return _frozen(np.array([used.min(axis=0), used.max(axis=0)]))

    @property
    def volume(self) -> float:
        """Signed volume by the divergence theorem, summed over all bodies, so that an overlap of two counts twice.

        It is meaningful only if `is_watertight`, and negative for a mesh that is inside out.
        """
        return self._cached("volume", self._find_volume)

    def _find_volume(self) -> float:
        # computed about the middle, so that a far-away mesh does not lose digits
        corners = (self._vertices - self.bounds.mean(axis=0))[self.skin.faces]
        cross = np.cross(corners[:, 1], corners[:, 2])
        return float(np.einsum("ij,ij->", corners[:, 0], cross) / 6.0)

    @property
    def rounding(self) -> float:
        """The greatest distance along an axis between rounded copies of a corner.

        It is 0 if the default is a thousandth of the longest side of the box or more. Copies are not searched then.
        """
        return self._cached("rounding", lambda: r if (r := self._spread) < largest_rounding(self._vertices) else 0.0)

    @property
    def _spread(self) -> float:
        """The greatest distance of copies of a corner by the rounding of their numbers, for a mesh of any size."""
        return corner_rounding(self._vertices) if self._rounding is None else self._rounding

    @property
    def _places(self) -> Ints:
        """The number of the position of each vertex, (n,), equal for copies of a corner."""
        return self._mended.places

    # --- the bounded solid ----------------------------------------------------------------------------------------

    @property
    def _mended(self) -> Mended:
        return self._cached("mended", lambda: mended(self._vertices, self._faces, lambda: self.rounding))

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

        Five flaws would make a closed mesh hollow, and are repaired if that closes it: copies of a corner that differ
        by `rounding`, duplicate triangles, triangles attached to the surface by an edge, triangles wound against their
        neighbours, and pieces with open edges next to closed pieces. `faces` and `vertices` are not changed, so contact
        with a triangle outside `skin` is contact with the mesh. Interior, volume and outward normals are those of
        `skin`.

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
        return self._cached("skin", self._find_skin) if self._mended.repairs else cast("Mesh", self)

    def _find_skin(self) -> Mesh:
        faces = np.delete(self._wound, self._mended.spare, axis=0)
        first = np.unique(self._places, return_index=True)[1]  # the first of the copies of a corner
        return self._like(self._vertices, first[self._places[faces]])

    @property
    def _wound(self) -> Ints:
        """The faces, (m, 3), in which faces of a closed mesh that are wound against their neighbours are flipped."""
        return self._cached("wound", self._find_wound) if len(self._mended.turned) else self._faces

    def _find_wound(self) -> Ints:
        faces, turned = self._faces.copy(), self._mended.turned
        faces[turned] = faces[turned, ::-1]
        return _frozen(faces)

    def _outward(self, faces: Ints) -> Array:
        """Return unit normals of faces, (k, 3), out of the solid of a closed mesh, zero for degenerate faces."""
        v = self._vertices[self._wound[faces]]
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1, keepdims=True)
        units: Array = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
        if self.is_watertight:
            units *= np.sign(self.volume)
            units[np.isin(faces, self._mended.spare)] = 0.0  # such a face does not bound the solid
        return units

    @property
    def is_solid(self) -> bool:
        """Whether the interior is solid, so that the surface is closed and ``solid=False`` was not set.

        A warning is issued once if the surface is nearly closed.
        """
        if not self._solid:
            return False
        if "told" not in self._cache and (words := self.nearly_closed):
            self._cache["told"] = True
            warnings.warn(
                f"{words}. Use Mesh(vertices, faces, solid=False) for a hollow surface", Gjk3dWarning, stacklevel=2
            )
        return self._mended.open_edges == 0

    @property
    def nearly_closed(self) -> str:
        """The warning for a mesh, or a piece of it, that is nearly closed, and empty for any other mesh."""
        state = self._mended
        if not (self._solid and state.nearly):
            return ""
        return (
            f"{self._name or 'a mesh'} has {state.loose_edges} open edges at {len(self._faces)} triangles, so nothing "
            "is inside this surface. Close it in its source or with trimesh's fill_holes(), or use its hull()"
        )

    def _hush(self) -> None:
        """Suppress the warning of `is_solid`, for callers that report open meshes themselves."""
        self._cache["told"] = True

    @property
    def convexity(self) -> float:
        """Volume divided by the volume of the hull, which is 1 for a convex mesh.

        It is NaN for a mesh with open edges or a flat hull.
        """
        hull_volume = float(self.hull().volume)
        if not self.is_watertight or not hull_volume > 0.0:
            return float("nan")
        return abs(self.volume) / hull_volume

    @property
    def is_convex(self) -> bool:
        """Whether the mesh is closed and fills its convex hull, up to the rounding of float32 files."""
        convex: bool = self._cached("is convex", lambda: abs(self.convexity - 1.0) <= CONVEX_RATIO)
        return convex

    @property
    def _convex_slack(self) -> float:
        """The greatest difference in depth between the solid and its hull, infinite if convexity is not proven.

        If no vertex is more than d above the plane of any face, the closed surface stays within d of the hull's
        surface. The solid then contains the hull shrunk about its centre by d over the radius of the inscribed ball.
        """
        return self._cached("convex slack", self._find_convex_slack)

    def _find_convex_slack(self) -> float:
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
    def _body_points(self) -> Array:
        """One vertex of each connected body, (k, 3), by the lowest number of its faces."""
        return self._cached("body points", self._find_body_points)

    @property
    def _bodies(self) -> Ints:
        """The number of the connected body of each face."""
        return self._cached("bodies", lambda: body_numbers(self._places, self._faces))

    def _find_body_points(self) -> Array:
        first = np.flatnonzero(np.diff(np.maximum.accumulate(self._bodies), prepend=-1))
        return _frozen(self._vertices[self._faces[first, 0]])

    @overload
    def contains(self, points: Unclear) -> Any: ...
    @overload
    def contains(self, points: Row) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def contains(self, points: Rows) -> NDArray[np.bool_]: ...
    def contains(self, points: Any) -> Any:
        """Return which points are inside the closed surface.

        Parameters
        ----------
        points : (3,) float or (n, 3) float
            In the frame of the mesh.

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
        from gjk3d.bodies.raycast import holds  # kernels are loaded on demand
        from gjk3d.shapes.arguments import points_of

        if not self.is_watertight:
            raise ShapeError(f"{self._name or 'the mesh'} has {self.open_edges} open edges, so nothing is inside it")
        p, single = points_of(points, "contains: points")
        answer = holds(self, p)
        return bool(answer[0]) if single else answer

    def hull(self) -> ConvexHull:
        """Return the convex hull of the triangles, a shape that every query accepts.

        Returns
        -------
        ConvexHull
            In the frame of the mesh, and cached.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).hull().bounds[1].tolist()
        [1.0, 1.0, 0.0]
        """
        # scipy is loaded with the first hull
        from gjk3d.shapes.polytopes import ConvexHull

        return self._cached("hull", lambda: ConvexHull(self._used))

    # --- see Body ---------------------------------------------------------------------------------------------------

    def _build_parts(self) -> Parts:
        from gjk3d.bodies.parts import Triangles

        return Triangles(self)

    def _find_order(self) -> tuple[int, ...]:
        return len(self._faces), crc32(self._vertices.tobytes(), crc32(self._faces.tobytes())), self._solid

    @abstractmethod
    def _like(self, vertices: Any, faces: Ints, **changes: Any) -> Mesh:
        """Return a mesh of other triangles with equal attributes, except for ``changes``."""


def _frozen(array: _Any) -> _Any:
    array.flags.writeable = False
    return array


#: Greatest angle at an edge of a curved surface. Sharper edges are edges of the part.
_SMOOTH = np.radians(30.0)
#: Upper limit of a chord error, relative to the size of its mesh.
STEEPEST = float(np.tan(_SMOOTH / 4.0) / 2.0)
_FLAT = 1e-4  #: greatest angle at an edge inside a plane, in radians


def chord_error(mesh: TriangleSurface) -> float:
    """Return the estimated distance of the triangles from the curved faces that they approximate, 0 if all are flat.

    A circle and a chord of length c whose neighbours turn by an angle t are c * tan(t / 4) / 2 apart. At each smooth
    edge of two triangles, the chord is orthogonal to the edge, with the height of the lower triangle as its length. The
    edge itself may be as long as the part, such as on a cylinder. The estimate is not a bound: for evenly triangulated
    spheres the error is 2.7 times as large.
    """
    return float(mesh._cached("chord error", lambda: _chord_error(mesh)))


def _chord_error(mesh: TriangleSurface) -> float:
    edges = edges_of(mesh._places, mesh.faces)
    number = edges.numbers.ravel()
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=len(edges.ends))
    shared = np.repeat(counts == 2, counts)
    sides = order[shared].reshape(-1, 2)
    corners = mesh.vertices[mesh.faces[edges.faces]]
    along = corners[:, [1, 2, 0]] - corners
    normals = np.cross(along[:, 0], along[:, 1])
    twice = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", along, along)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.repeat(twice, 3) / lengths
        normals = normals / twice[:, None]
    across = normals[sides[:, 0] // 3] - normals[sides[:, 1] // 3]
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("ij,ij->i", across, across)), 1.0))
    smooth = (angles > _FLAT) & (angles < _SMOOTH)
    errors = heights[sides[smooth]].min(axis=1) * np.tan(angles[smooth] / 4.0) / 2.0
    return float(errors.max(initial=0.0))


#: Greatest difference of copies of a corner in spacings of float32, since each is rounded after a separate transform.
COPIES = 8.0
_TEXT_COPIES = 3.0  #: the same in units of the last digit of text, which is rounded once
_SAMPLES = 64  #: number of sampled coordinates along each axis
_FEW, _EXACT, _TEXT = 3, 5, 9  #: decimal digits: up to _FEW not text, up to _EXACT exact, up to _TEXT as float32 has
_INTEGRAL = 1e-5  #: error of a decimal in units of its last digit, by the rounding of float64


def corner_rounding(points: Array) -> float:
    """Return the greatest distance along any axis between copies of a corner that were rounded separately."""
    rows = _sample(points)
    single, digits, unit, _ = _units(rows)
    text = (digits > _FEW) & (digits <= _TEXT)
    if not _are_integral(rows / unit[:, None]).all():  # finer smaller numbers mean exact ones
        text &= digits > _EXACT
    return float(max(COPIES * single.max(initial=0.0), _TEXT_COPIES * unit[text].max(initial=0.0)))


def file_spacing(points: Array) -> float:
    """Return the largest of the `spacings` of points along the axes."""
    return float(spacings(_sample(points)).max(initial=0.0))


def spacings(rows: Array) -> Array:
    """Return the spacing of float32 numbers at the largest of each row, or 0 for numbers that were not rounded.

    Numbers of few digits are exact. Numbers that float32 cannot represent were not rounded to it, unless they are
    decimal text with at most as many digits as float32.
    """
    single, digits, _, in_float32 = _units(rows)
    steps: Array = np.where((digits > _EXACT) & ((digits <= _TEXT) | in_float32), single, 0.0)
    return steps


def stretch(linear: Array) -> Array:
    """Return the greatest stretch of a step along an axis under matrices, (..., 3, 3)."""
    most: Array = np.sqrt((linear * linear).sum(axis=-2)).max(axis=-1)
    return most


def _sample(points: Array) -> Array:
    """Return some of the largest coordinates along each axis, and some of all, (3, k)."""
    if len(points) <= _SAMPLES:
        return np.abs(points).T
    coordinates = np.zeros((3, 2, _SAMPLES))
    for rows, sizes in zip(coordinates, np.abs(points).T, strict=True):
        for row, some in zip(rows, (sizes[sizes >= 0.1 * sizes.max()], sizes), strict=True):
            if len(some):
                row[:] = some[np.linspace(0, len(some) - 1, _SAMPLES).astype(np.int64)]
    return coordinates.reshape(3, -1)


def _are_integral(numbers: Array) -> Bools:
    integral: Bools = np.abs(numbers - np.rint(numbers)) < _INTEGRAL
    return integral


def _units(rows: Array) -> tuple[Array, Ints, Array, Bools]:
    """Return the float32 spacing, decimal digits, unit of the last digit, and exactness in float32 of each row.

    Only numbers with as many digits before the point as the largest of a row are used, since text may have more digits
    after the point of smaller numbers. Digits beyond those of float32 are not counted.
    """
    sizes = np.abs(np.where(np.isfinite(rows), rows, 0.0))
    most = sizes.max(axis=1, initial=0.0)
    power = np.floor(np.log10(np.where(most > 0.0, most, 1.0)))
    small = sizes < (10.0**power)[:, None]
    single = np.where(most > 0.0, np.ldexp(1.0, np.frexp(most)[1] - 24), 0.0)
    counts = np.arange(_FEW, _TEXT + 1)[:, None]
    enough = (_are_integral(sizes / (10.0 ** (power + 1 - counts))[:, :, None]) | small).all(axis=2)
    digits = np.where(enough.any(axis=0), _FEW + enough.argmax(axis=0), _TEXT + 1)
    bits = np.ascontiguousarray(sizes).view(np.uint64) << np.uint64(35)  # float32 has 29 fewer bits
    return single, digits, 10.0 ** (power + 1 - digits), ((bits == 0) | small).all(axis=1)
