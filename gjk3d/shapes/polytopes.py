"""Convex shapes with vertices: point, segment, triangle, tetrahedron, box and the convex hull of points.

The support of a hull is a scan of its extreme vertices. A hull with many vertices has a table of directions, so that
only a few vertices are scanned.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.errors import ShapeError
from gjk3d.geometry.hulls import build_hull
from gjk3d.geometry.points import COUNT_BITS
from gjk3d.geometry.polygon import face_loops
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout, measure
from gjk3d.shapes.base import Polytope, Shape, factors3, rows, vector
from gjk3d.shapes.layout import hull_inner
from gjk3d.typing import Array, FactorsLike, Ints, RowsLike, VectorLike
from gjk3d.wording import cure_of_numbers, with_cure

_COUNTS = (1 << COUNT_BITS) - 1
_NUMBERS = (1 << 48) - 1  #: mask of an index, which lets the compiler see that it is not negative
#: range of the largest component of a direction that the table supports; the inverse of the component must be finite
_LEAST, _GREATEST = 1e-290, 1e290


@kernel
def support_hull(f: Array, n: int, d: Vec3) -> Vec3:
    """Return the farthest of n vertices along d, the first one if several vertices are equally far.

    ``f`` contains the x, then the y, then the z coordinates of all vertices.
    """
    dx, dy, dz = d
    x, y, z = f[:n], f[n : 2 * n], f[2 * n : 3 * n]
    best = 0
    most = x[0] * dx + y[0] * dy + z[0] * dz
    for i in range(1, n):
        s = x[i] * dx + y[i] * dy + z[i] * dz
        if s > most:
            most = s
            best = i
    return (x[best], y[best], z[best])


@kernel
def look_up(nodes: Ints, f: Array, n: int, grid: int, d: Vec3) -> Vec3:
    """Return the farthest vertex of a large hull along d, found with its table of directions.

    The table maps each direction to the few vertices that can be the farthest, see `gjk3d.geometry.points`.

    ``grid`` is the grid size of the table. ``nodes`` are its nodes. ``f`` contains n vertices and the table's entries.
    """
    ax, ay, az = abs(d[0]), abs(d[1]), abs(d[2])
    if ax >= ay and ax >= az:
        side, m, u, v = (0 if d[0] > 0.0 else 1), ax, d[1], d[2]
    elif ay >= az:
        side, m, u, v = (2 if d[1] > 0.0 else 3), ay, d[2], d[0]
    else:
        side, m, u, v = (4 if d[2] > 0.0 else 5), az, d[0], d[1]
    if not (_LEAST < m < _GREATEST and abs(u) <= m and abs(v) <= m):  # zero, NaN and extreme directions
        return support_hull(f, n, d)
    half = 0.5 * grid / m
    x, y = (u + m) * half, (v + m) * half
    i, j = min(int(x), grid - 1), min(int(y), grid - 1)
    node = nodes[(side * grid + i) * grid + j]
    while node >= 0:
        x, y = 2.0 * (x - i), 2.0 * (y - j)
        i, j = 1 if x >= 1.0 else 0, 1 if y >= 1.0 else 0
        node = nodes[node + 2 * i + j]
    first = 3 * (n + (~node >> COUNT_BITS))
    best = first & _NUMBERS
    most = f[best] * d[0] + f[best + 1] * d[1] + f[best + 2] * d[2]
    for k in range(1, ~node & _COUNTS):
        at = (first + 3 * k) & _NUMBERS
        s = f[at] * d[0] + f[at + 1] * d[1] + f[at + 2] * d[2]
        best = at if s > most else best
        most = s if s > most else most
    return (f[best], f[best + 1], f[best + 2])


def vertex_core(vertices: Array) -> tuple[int, Any, Any]:
    """Return the kind, the centre (3,) and the coordinates (3 n,) of a core with these vertices, (n, 3).

    The coordinates are relative to the centre: all x, then all y, then all z. The centre is the middle of the vertices
    if they are far from the origin of their frame, because smaller floats round less. Otherwise the centre is 0.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    center = low + (high - low) / 2
    if np.linalg.norm(center) <= 2.0 * np.linalg.norm(high - low):
        center = np.zeros(3)
    return layout.HULL, center, (vertices - center).T.ravel()


class HullSource(Protocol):
    """The points of a hull that is built when its vertices are first read."""

    def points(self) -> Array:
        """Return the points, (n, 3) float."""

    def bulk(self) -> tuple[float, Array] | None:
        """Return volume and centroid of the hull, or None if only the built hull can provide them."""


class ConvexHull(Polytope):
    """The convex hull of points.

    Only the strictly extreme points are kept. The hull of coplanar points is flat, that of collinear points is a
    segment, and that of coincident points is a point.

    Parameters
    ----------
    points : (n, 3) float
        At least one.

    Attributes
    ----------
    vertices : (k, 3) float
        The extreme points, as given, in the order given.
    faces : (m, 3) int
        Triangles wound outward, indices into ``vertices``. A flat hull has both sides. The array is empty for a segment
        or a point.
    dimension : int
        3 for a hull with volume, 2 for a flat one, 1 for a segment, 0 for a point.
    polygons : list of (c,) int
        For each face, the indices of its corners in order.
    centroid : (3,) float
        The centre of mass.

    Raises
    ------
    ShapeError
        If ``points`` is empty, not (n, 3), or not finite.

    References
    ----------
    Barber, Dobkin, Huhdanpaa: The Quickhull algorithm for convex hulls, 1996 (scipy.spatial.ConvexHull).

    Examples
    --------
    >>> import gjk3d as gk
    >>> square = gk.ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)])
    >>> square.dimension, len(square.points), len(square.faces), square.centroid.tolist()
    (2, 4, 4, [0.5, 0.5, 0.0])
    >>> [outline.tolist() for outline in gk.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]).polygons]
    [[1, 2, 0], [2, 1, 0]]
    """

    __slots__ = ("_vertices",)
    _vertices: Array

    def __init__(self, points: RowsLike) -> None:
        p = rows(points, "ConvexHull: points")
        if len(p) == 0:
            raise ShapeError("ConvexHull: points is empty, expected at least one row")
        self._set()
        self._build(p)

    @classmethod
    def _later(cls, source: HullSource) -> ConvexHull:
        """Return the hull of the points of a source, which are computed when the hull's vertices are first read."""
        shape = cls._made()
        shape._cache["source"] = source
        return shape

    @property
    def _bulk(self) -> tuple[float, Array] | None:
        """Volume and centroid that the source of the points provides without building the hull, or None."""
        return self._cached("bulk", self._cache["source"].bulk) if "source" in self._cache else self._cache.get("bulk")

    def _build(self, points: Array) -> None:
        hull = build_hull(points)
        hull.vertices.setflags(write=False)
        self._cache["hull"] = hull
        object.__setattr__(self, "_vertices", hull.vertices)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return ``_vertices``; the first access builds the hull. Other names raise AttributeError."""
            if name != "_vertices" or "source" not in self._cache:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._build(self._cache["source"].points())
            return self._vertices

    def _hull(self) -> Any:
        if "hull" not in self._cache and "source" in self._cache:
            self._build(self._cache["source"].points())
        return super()._hull()

    def __reduce__(self) -> Any:
        return _restore, (type(self), self._vertices, self._hull(), self._bulk)

    @property
    def vertices(self) -> Array:
        """The extreme points, (k, 3) float, as given and in the order given."""
        return self._vertices

    @property
    def points(self) -> Array:
        """The extreme points, (k, 3) float: another name of ``vertices``."""
        return self._vertices

    @property
    def faces(self) -> Ints:
        """Triangles wound outward, (m, 3) int: both sides of a flat hull, empty for a segment or a point."""
        faces: Ints = self._hull().faces
        return faces

    @property
    def dimension(self) -> int:
        """3 for a hull with volume, 2 for a flat one, 1 for a segment, 0 for a point."""
        return int(self._hull().dimension)

    @property
    def centroid(self) -> Array:
        """The centre of mass, (3,) float: of the volume, of the area of a flat hull, or of the length of a segment."""
        if self._bulk is not None:
            return self._bulk[1].copy()
        hull = self._hull()
        middle: Array = self._vertices.mean(axis=0)
        if hull.dimension < 2:
            return middle
        a, b, c = (self._vertices[hull.faces[:, i]] - middle for i in range(3))
        across = np.cross(b - a, c - a)
        weights = np.einsum("ij,ij->i", a, across) if hull.dimension == 3 else np.linalg.norm(across, axis=1)
        total = float(weights.sum())
        if not total > 0.0:
            return middle
        moved: Array = middle + weights @ (a + b + c) / total / (4.0 if hull.dimension == 3 else 3.0)
        return moved

    @property
    def polygons(self) -> list[Ints]:
        """The corners of each face, a list of (c,) int: indices into ``vertices``, counter-clockwise from outside.

        Coplanar triangles are one face. A flat hull has its outline once for each side.
        """
        ints, _ = face_loops(self._hull())
        if self.dimension < 2:
            return []
        starts = ints[1 : ints[0] + 2]
        return np.split(ints[ints[0] + 2 :], starts[1:-1])

    def _core_volume(self) -> float:
        return super()._core_volume() if self._bulk is None else self._bulk[0]

    def __repr__(self) -> str:
        if len(self._vertices) <= 4:
            return f"ConvexHull(points={self._vertices.tolist()})"
        return f"ConvexHull(<{len(self._vertices)} vertices>)"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)

    def _slack(self) -> float:
        return float(self._hull().defect)

    def _inner(self, kind: int, center: Array, numbers: Array) -> float:
        hull = self._hull()
        return hull_inner(self._vertices[hull.faces] - center, hull.defect) if hull.dimension == 3 else 0.0

    def _with_vertices(self, vertices: Array) -> Shape:
        return ConvexHull(vertices)


def _restore(cls: type[ConvexHull], vertices: Array, hull: Any, bulk: tuple[float, Array] | None = None) -> ConvexHull:
    shape = cls._made(_vertices=vertices)
    shape._cache.update(hull=hull, bulk=bulk)
    return shape


class Point(Polytope):
    """One point.

    Parameters
    ----------
    p : (3,) float
        Position in the frame of the shape.

    Raises
    ------
    ShapeError
        If ``p`` is not three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Point((0, 0, 3)), gk.Sphere(1)).distance
    2.0
    """

    __slots__ = ("p",)
    p: Array

    @with_cure(cure_of_numbers)
    def __init__(self, p: VectorLike = (0.0, 0.0, 0.0)) -> None:
        self._set(p=vector(p, "Point: p"))

    @property
    def vertices(self) -> Array:
        """The point as an array, (1, 3) float."""
        return self.p.reshape(1, 3)

    def _core(self) -> tuple[int, Any, Any]:
        return layout.POINT, self.p, np.empty(0)

    def _with_vertices(self, vertices: Array) -> Shape:
        return Point(vertices[0])


@inlined
def support_segment(f: Array, d: Vec3) -> Vec3:
    """Return the end of a segment that is farther along d. The ends are f[:3] and -f[:3]."""
    x, y, z = f[0], f[1], f[2]
    if x * d[0] + y * d[1] + z * d[2] < 0.0:
        return (-x, -y, -z)
    return (x, y, z)


class Segment(Polytope):
    """The segment from a to b; the two points may coincide.

    Parameters
    ----------
    a, b : (3,) float
        The two ends.

    Raises
    ------
    ShapeError
        If an end is not three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Segment((0, 0, 0), (1, 0, 0)), gk.Point((2, 0, 0))).distance
    1.0
    """

    __slots__ = ("a", "b")
    a: Array
    b: Array

    def __init__(self, a: VectorLike, b: VectorLike) -> None:
        self._set(a=vector(a, "Segment: a"), b=vector(b, "Segment: b"))

    @property
    def vertices(self) -> Array:
        """The two ends, (2, 3) float."""
        return np.array([self.a, self.b])

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self.vertices)  # a half vector about a middle would round the ends

    def _with_vertices(self, vertices: Array) -> Shape:
        return Segment(vertices[0], vertices[1])


class Simplex(Polytope):
    """A shape with a fixed number of vertices."""

    __slots__ = ("_vertices",)
    _vertices: Array
    _COUNT: ClassVar[int]

    def __init__(self, vertices: RowsLike) -> None:
        kind = type(self).__name__
        v = rows(vertices, f"{kind}: vertices")
        if len(v) != self._COUNT:
            raise ShapeError(
                f"{kind}: vertices has {len(v)} rows, expected {self._COUNT}. Use gk.ConvexHull for other counts."
            )
        self._set(_vertices=v)

    @property
    def vertices(self) -> Array:
        """The vertices as given, (3, 3) or (4, 3) float."""
        return self._vertices

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vertices={self._vertices.tolist()})"

    def _core(self) -> tuple[int, Any, Any]:
        return vertex_core(self._vertices)


class Triangle(Simplex):
    """The triangle with three vertices, which may coincide or be collinear.

    Parameters
    ----------
    vertices : (3, 3) float
        One corner in each row.

    Raises
    ------
    ShapeError
        If the vertices are not three rows of three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), gk.Point((0.2, 0.2, 1))).distance
    1.0
    """

    __slots__ = ()
    _COUNT = 3

    def _with_vertices(self, vertices: Array) -> Shape:
        return Triangle(vertices)


class Tetrahedron(Simplex):
    """The tetrahedron with four vertices, in any order. The vertices may be coplanar.

    Parameters
    ----------
    vertices : (4, 3) float
        One corner in each row.

    Raises
    ------
    ShapeError
        If the vertices are not four rows of three finite numbers.

    Examples
    --------
    >>> import gjk3d as gk
    >>> round(gk.Tetrahedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).volume, 12)
    0.166666666667
    """

    __slots__ = ()
    _COUNT = 4

    def _with_vertices(self, vertices: Array) -> Shape:
        return Tetrahedron(vertices)


@inlined
def support_box(f: Array, d: Vec3) -> Vec3:
    """Return the farthest corner along d of the box with half extents f[:3]."""
    return (
        f[0] if d[0] >= 0.0 else -f[0],
        f[1] if d[1] >= 0.0 else -f[1],
        f[2] if d[2] >= 0.0 else -f[2],
    )


class Box(Polytope):
    """The axis-aligned box that is centred at the origin.

    Parameters
    ----------
    extents : (3,) float
        Full edge lengths, not half lengths.

    Raises
    ------
    ShapeError
        If the extents are not three finite numbers above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Box((1, 2, 3)).volume
    6.0
    """

    __slots__ = ("extents",)
    extents: Array

    @with_cure(cure_of_numbers)
    def __init__(self, extents: VectorLike) -> None:
        e = vector(extents, "Box: extents")
        x, y, z = e.tolist()
        if not (x > 0.0 and y > 0.0 and z > 0.0):
            raise ShapeError(
                f"Box: extents are {[x, y, z]}, expected more than 0 each. For a flat box use a ConvexHull."
            )
        self._set(extents=e)

    @property
    def vertices(self) -> Array:
        """The eight corners, (8, 3) float."""
        return measure.box(self.extents).vertices

    def _core(self) -> tuple[int, Any, Any]:
        return layout.BOX, np.zeros(3), self.extents / 2

    @property
    def volume(self) -> float:
        """Volume, the product of the extents."""
        return float(self.extents.prod())

    def _core_volume(self) -> float:
        return self.volume

    def _core_area_and_curvature(self) -> tuple[float, float]:
        a, b, c = self.extents
        return float(2 * (a * b + b * c + c * a)), float(pi * (a + b + c))

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(np.linalg.norm(self.extents) / 2)

    def _box(self) -> tuple[Array, Array]:
        return np.eye(4), self.extents.copy()

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as twelve triangles; see `Shape.surface`."""
        return measure.box(self.extents)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the box with its extents multiplied; see `Shape.scaled`."""
        return Box(self.extents * np.abs(factors3(factors)))
