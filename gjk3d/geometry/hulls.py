"""The convex hull of any finite points: the strictly extreme vertices, the faces, the error bound and the Gauss map.

Qhull computes the hull. This module prepares the input of Qhull and checks its output. Points are recentred and scaled
by a power of two. Extents below ``FLAT`` times the size are set to 0. Thin sets are mapped to unit extents, because an
affine map does not change the faces. Vertices inside faces and edges are removed. At the end the support values of the
vertices and of all points are compared along every face normal, and points beyond the vertices are added again.

The Gauss map consists of the normals of the faces, and of the arcs between them that belong to the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.hull_facets import ClearHull, clear_hull
from gjk3d.typing import Array, Ints

FLAT = 1e-13  #: extents below this part of the size count as 0: the hull is flat, collinear or a point
FAT = 1e-3  #: ratio of the least and the greatest extent, above which Qhull is safe in the given axes
ROUNDS = 40  #: most rounds that add points again; one or two are usual


class Measures(NamedTuple):
    """Volume, area, edges and angles at the edges of the surface of a hull, see `HullData`."""

    volume: float
    area: float
    edges: Ints
    angles: Array


class LateMeasures:
    """Volume, area, edges and angles of a `ClearHull`. They are computed when they are first read."""

    def __init__(self, clear: ClearHull) -> None:
        self._clear = clear

    @cached_property
    def volume(self) -> float:
        """Volume enclosed by the surface of the hull."""
        return ldexp(_volume(self._clear.local, _frame(self._clear.local), self._clear.faces), 3 * self._clear.exponent)

    @cached_property
    def area(self) -> float:
        """Area of the surface of the hull."""
        return ldexp(_area(self._clear.local, self._clear.faces), 2 * self._clear.exponent)

    @cached_property
    def _edges(self) -> tuple[Ints, Array]:
        normals = fc.mapped_normals(self._clear.equations[:, :-1], np.diag(self._clear.scales))
        return _edges(self._clear.faces, normals)

    @property
    def edges(self) -> Ints:
        """Edges of the triangles as indices of vertices, (e, 2) int, the lower index first."""
        return self._edges[0]

    @property
    def angles(self) -> Array:
        """Angle between the outward normals on the two sides of each edge, (e,) float."""
        return self._edges[1]


class HullData:
    """A convex hull in plain arrays.

    Attributes
    ----------
    vertices : (k, 3) float
        The unchanged input points that are strictly extreme to rounding, in the order of the input.
    faces : (m, 3) int
        Triangles with outward winding that form a closed surface. A flat hull has its polygon on both sides. A
        collinear hull or a single point has no faces.
    dimension : int
        0 for a point, 1 for a segment, 2 for a flat polygon, 3 for a solid.
    defect : float
        Bound of the distance of an input point from the hull of ``vertices``. It also bounds the error of a support
        value.
    indices : (k,) int
        Rows of the input that are the vertices.
    measures : Measures or LateMeasures
        Volume and area of the surface in ``faces``, the edges of this surface, and the angles at the edges.
    """

    __slots__ = ("defect", "dimension", "faces", "indices", "measures", "vertices")

    def __init__(
        self, vertices: Array, faces: Ints, dimension: int, defect: float, indices: Ints,
        measures: Measures | LateMeasures,
    ) -> None:  # fmt: skip
        self.vertices, self.faces, self.dimension, self.defect = vertices, faces, dimension, defect
        self.indices, self.measures = indices, measures

    def __reduce__(self) -> Any:
        measures = Measures(self.volume, self.area, self.edges, self.angles)
        return HullData, (self.vertices, self.faces, self.dimension, self.defect, self.indices, measures)

    @property
    def volume(self) -> float:
        """Volume enclosed by the surface in ``faces``."""
        return self.measures.volume

    @property
    def area(self) -> float:
        """Area of the surface in ``faces``. A flat hull counts both of its sides."""
        return self.measures.area

    @property
    def edges(self) -> Ints:
        """Edges of the triangles as indices of vertices, (e, 2) int, the lower index first."""
        return self.measures.edges

    @property
    def angles(self) -> Array:
        """Angle between the outward normals on the two sides of each edge, (e,) float.

        It is 0 inside a face, pi on the boundary of a flat polygon, and 2 pi for a segment.
        """
        return self.measures.angles

    @property
    def mean_curvature(self) -> float:
        """The integral of mean curvature for Steiner's formula: half the sum of length times angle over the edges."""
        ends = self.vertices[self.edges]
        return float(0.5 * np.sum(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) * self.angles))


class _Frame(NamedTuple):
    """Orthogonal axes of points.

    The first axis is along a pair of points that is nearly the most distant. The second is towards the point farthest
    from the line of this pair.
    """

    dimension: int
    origin: Array  #: a point of the pair
    axes: Array  #: unit vectors in the rows
    extents: Array  #: extents of all points along the axes


class _Built(NamedTuple):
    """A hull of recentred points, in the scale of these points. Integers are indices of these points."""

    dimension: int
    indices: Ints
    faces: Ints
    edges: Ints
    angles: Array
    defect: float
    volume: float
    area: float


def build_hull(points: Array) -> HullData:
    """Return the convex hull of finite points (n, 3), n >= 1, of any dimension, scale and position.

    Duplicates, collinear and flat sets are allowed. Finite points never raise an error.
    """
    clear, qhull_hull = clear_hull(points)
    if clear is not None:
        return HullData(points[clear.indices], clear.faces, 3, 0.0, clear.indices, LateMeasures(clear))
    first = _distinct(points)
    with np.errstate(over="ignore", under="ignore"):  # sizes near the ends of the float range
        local, exponent = _recentred(points[first])
        frame = _frame(local)
        if frame.dimension == 3:
            built = _solid(local, frame, qhull_hull)
        else:
            built = (_point, _segment, _polygon)[frame.dimension](local, frame)
        places = np.full(len(first), -1)
        places[built.indices] = np.arange(len(built.indices))
        indices = first[built.indices]
        defect = max(float(np.ldexp(built.defect, exponent)), 5e-324) if built.defect > 0.0 else 0.0
        volume, area = float(np.ldexp(built.volume, 3 * exponent)), float(np.ldexp(built.area, 2 * exponent))
        measures = Measures(volume, area, places[built.edges], built.angles)
        return HullData(points[indices], places[built.faces], built.dimension, defect, indices, measures)


def hull_of_faces(vertices: Array, faces: Ints, dimension: int, defect: float, angles: Array) -> HullData | None:
    """Return a hull from the stored data of an earlier hull, or None if the faces are not a closed surface.

    Queries on the new and on the earlier hull have the same results. The volume and the area may differ by rounding.
    """
    if dimension < 2:
        if len(faces) or len(vertices) != dimension + 1 or len(angles) != dimension:
            return None
        edges = np.array([[0, 1]][:dimension], dtype=np.int64).reshape(-1, 2)
        every = np.arange(len(vertices))
        return HullData(vertices, faces, dimension, defect, every, Measures(0.0, 0.0, edges, angles))
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    forward, backward = (np.unique(tails * len(vertices) + heads) for tails, heads in ((tail, head), (head, tail)))
    closed = len(forward) == len(tail) and np.array_equal(forward, backward) and not (tail == head).any()
    if not closed or len(faces) < 2 or 2 * len(angles) != len(tail):
        return None
    pieces = fc.vector_areas(vertices, faces)
    area = float(np.linalg.norm(pieces, axis=1).sum())
    inner = vertices[faces[0]].mean(axis=0)
    volume = max(0.0, float(np.einsum("ij,ij->", vertices[faces[:, 0]] - inner, pieces)) / 3.0)
    every = np.arange(len(vertices))
    return HullData(vertices, faces, dimension, defect, every, Measures(volume, area, fc.edges(faces)[0], angles))


def _distinct(points: Array) -> Ints:
    """Return the index of the first occurrence of each distinct point, ascending."""
    order = np.lexsort(points.T)
    ordered = points[order]
    new = np.ones(len(points), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[new])  # the sort is stable, so the first of equal points has the lowest index


def _recentred(points: Array) -> tuple[Array, int]:
    """Return recentred points, divided by a power of two, and the exponent of this power.

    The middle of the returned points' bounding box is at 0, and the box's greatest extent is in [0.5, 1).
    """
    top = int(np.frexp(np.abs(points).max())[1])
    local = np.ldexp(points, -top)
    low, high = local.min(axis=0), local.max(axis=0)
    size = int(np.frexp((high - low).max())[1])
    return np.ldexp(local - 0.5 * (low + high), -size), top + size


def _frame(points: Array) -> _Frame:
    box = np.ptp(points, axis=0)
    if not box.any():
        return _Frame(0, points[0], np.eye(3), box)
    i = int(points[:, box.argmax()].argmin())
    for _ in range(3):  # each step goes to the point farthest from the last point
        j, i = i, int(((points - points[i]) ** 2).sum(axis=1).argmax())
    origin = points[i]
    offsets = points - origin
    x = offsets[j] / np.linalg.norm(offsets[j])
    across = offsets - np.outer(offsets @ x, x)
    k = int((across**2).sum(axis=1).argmax())
    width, length = float(np.linalg.norm(across[k])), float(np.ptp(offsets @ x))
    if width <= FLAT * length:
        return _Frame(1, origin, np.array([x, x, x]), np.array([length, width, width]))
    y = across[k] - (across[k] @ x) * x
    y /= np.linalg.norm(y)
    z = np.cross(x, y)
    axes = np.array([x, y, z / np.linalg.norm(z)])
    extents = np.ptp(offsets @ axes.T, axis=0)
    return _Frame(3 if extents[2] > FLAT * length else 2, origin, axes, extents)


def _point(points: Array, frame: _Frame) -> _Built:
    none = np.zeros(0, np.int64)
    return _Built(0, np.zeros(1, np.int64), none.reshape(0, 3), none.reshape(0, 2), np.zeros(0), 0.0, 0.0, 0.0)


def _segment(points: Array, frame: _Frame) -> _Built:
    along = (points - frame.origin) @ frame.axes[0]
    ends = np.sort(np.array([along.argmin(), along.argmax()], dtype=np.int64))
    defect = 0.0 if len(points) == 2 else 2.0 * float(frame.extents[1]) + fc.ROUND
    return _Built(1, ends, np.zeros((0, 3), np.int64), ends[None, :], np.array([2.0 * np.pi]), defect, 0.0, 0.0)


def _polygon(points: Array, frame: _Frame) -> _Built:
    flat = (points - frame.origin) @ frame.axes.T
    flat[:, 2] = 0.0
    matrix = np.diag(1.0 / frame.extents[:2]) @ np.eye(2, 3)
    _, used, defect = _settle(flat, [matrix])
    mapped = flat[used] @ matrix.T
    mapped -= mapped.mean(axis=0)
    cycle = used[np.argsort(np.arctan2(mapped[:, 1], mapped[:, 0]), kind="stable")]
    k = len(cycle)
    step = np.arange(1, k - 1)
    top = np.stack([np.zeros_like(step), step, step + 1], axis=1)
    # fans about neighbouring vertices share no diagonal, so that both sides together are a closed manifold
    bottom = (top[:, [0, 2, 1]] + 1) % k
    faces = cycle[np.concatenate([top, bottom])]
    area = 2.0 * float(fc.vector_areas(flat, cycle[top])[:, 2].sum())
    edges, sides = fc.edges(faces)
    angles = np.where((sides[:, 0] < k - 2) != (sides[:, 1] < k - 2), np.pi, 0.0)
    thickness = 0.0 if len(points) == 3 else 2.0 * float(frame.extents[2])
    return _Built(2, used, faces, edges, angles, defect + thickness, 0.0, area)


def _solid(points: Array, frame: _Frame, qhull_hull: Any) -> _Built:
    straight = np.diag(np.exp2(-np.round(np.log2(np.ptp(points, axis=0)))))  # exact in binary
    rotated = frame.axes / frame.extents[:, None]
    straight_frame = _frame(points @ straight)
    is_fat = straight_frame.dimension == 3 and straight_frame.extents[2] > FAT * straight_frame.extents[0]
    facets, used, defect = _settle(points, [straight, rotated] if is_fat else [rotated], qhull_hull)
    if facets is None:  # all points remain vertices, and the faces are those of a flat polygon
        return _polygon(points, frame)._replace(indices=used)
    faces = facets.simplices
    edges, angles = _edges(faces, facets.normals)
    return _Built(3, used, faces, edges, angles, defect, _volume(points, frame, faces), _area(points, faces))


def _edges(faces: Ints, normals: Array) -> tuple[Ints, Array]:
    """Return the edges (e, 2) of a closed surface, and at each edge the angle between the normals of its two faces."""
    edges, sides = fc.edges(faces)
    normals_a, normals_b = normals[sides[:, 0]], normals[sides[:, 1]]
    return edges, np.arctan2(
        np.linalg.norm(np.cross(normals_a, normals_b), axis=1), np.einsum("ij,ij->i", normals_a, normals_b)
    )


def _area(points: Array, faces: Ints) -> float:
    return float(np.linalg.norm(fc.vector_areas(points, faces), axis=1).sum())


def _volume(points: Array, frame: _Frame, faces: Ints) -> float:
    """Return the volume inside the faces. It is computed in scaled coordinates, so that a thin hull loses no digits."""
    mapped = points @ (frame.axes / frame.extents[:, None]).T
    inner = mapped[faces[0]].mean(axis=0)
    volume = float(np.einsum("ij,ij->", mapped[faces[:, 0]] - inner, fc.vector_areas(mapped, faces))) / 3.0
    return max(volume, 0.0) * float(np.prod(frame.extents))


def _settle(points: Array, matrices: list[Array], qhull_hull: Any = None) -> tuple[fc.Facets | None, Ints, float]:
    """Return the facets of the hull of points, its vertex indices, and its defect (see `HullData`).

    The points are mapped with the first of the matrices for which Qhull succeeds. ``qhull_hull`` is an earlier result
    of Qhull that may be reused, or None. If Qhull never succeeds, the facets are None, and all points are vertices.
    """
    planes = fc.wide_planes(points, matrices[0])
    # Qhull always succeeds with joggled input (QJ); `points_beyond` measures the small error
    for options, raised in (*([("Qt", planes)] if planes else []), ("Qt", []), ("QJ", [])):
        for matrix in matrices:
            attempt = _attempt(points, matrix, options, qhull_hull, raised)
            if attempt is not None:
                return attempt
    return None, np.arange(len(points)), 0.0


def _attempt(
    points: Array, matrix: Array, options: str, qhull_hull: Any, planes: Sequence[fc.WidePlane]
) -> tuple[fc.Facets, Ints, float] | None:
    facets = fc.qhull(points, fc.without_insides(points, planes), matrix, options, qhull_hull, planes)
    if facets is None:
        return None
    used = fc.strict(points, facets)
    current = len(used) == len(fc.corners_of(facets.simplices))
    if len(used) == len(points):
        return facets, used, 0.0
    extra = used[:0]  # vertices beyond Qhull's facets that are not corners of them
    for _ in range(ROUNDS):
        if not current:
            rebuilt = fc.qhull(points, used, matrix, options, None, planes) if len(used) > len(matrix) else None
            if rebuilt is None:  # too few vertices, because of clusters: restart with the extreme points along the axes
                mapped = points @ matrix.T
                seeds = np.concatenate([used, mapped.argmin(axis=0), mapped.argmax(axis=0), facets.simplices[0]])
                if np.isin(seeds, used).all():
                    return None
                used = np.unique(seeds)
                continue
            facets, current = rebuilt, True
        on_hull, off_hull = _parted(len(points), fc.corners_of(facets.simplices), extra)
        far, excess = fc.points_beyond(points, off_hull, on_hull, facets)
        if not len(far):
            break
        left_out = np.isin(far, used)
        extra = np.union1d(extra, far[left_out])
        used, current = np.union1d(used, far), bool(left_out.all())
    on_hull, off_hull = _parted(len(points), fc.corners_of(facets.simplices), extra)
    lost, bound = fc.stragglers(points, off_hull, facets, excess)
    return facets, np.union1d(on_hull, lost), bound


def _parted(count: int, *groups: Ints) -> tuple[Ints, Ints]:
    """Return the indices below ``count`` that are in the groups, and those that are not, both ascending."""
    among = np.zeros(count, dtype=bool)
    for group in groups:
        among[group] = True
    return np.flatnonzero(among), np.flatnonzero(~among)


FACE_ANGLE = 1e-12  #: angle between the normals at an edge, below which the edge is inside a face


def gauss_map(hull: HullData) -> tuple[Array, Array]:
    """Return the unit face normals (f, 3) of a hull, and its edges (e, 9): unit direction, normals of its two faces."""
    v = hull.vertices
    if hull.dimension == 0:
        return np.zeros((0, 3)), np.zeros((0, 9))
    if hull.dimension == 1:
        # the Gauss map of a segment is a circle, here in four arcs
        along = _unit((v[hull.edges[0, 1]] - v[hull.edges[0, 0]])[None])[0]
        x = _unit(np.cross(along, np.eye(3)[np.argmin(np.abs(along))])[None])[0]
        y = np.cross(along, x)
        normals = np.array([x, y, -x, -y])
        return normals, np.hstack([np.tile(along, (4, 1)), normals, np.roll(normals, -1, axis=0)])
    a, b, c = (v[hull.faces[:, i]] for i in range(3))
    face_normals = _unit(np.cross(b - a, c - a))
    first, second = _faces_of_edges(hull)
    turning = hull.angles > FACE_ANGLE
    ends = v[hull.edges[turning]]
    along = _unit(ends[:, 1] - ends[:, 0])
    n1, n2 = face_normals[first[turning]], face_normals[second[turning]]
    if hull.dimension == 3:
        # one normal for each face, not for each of its triangles
        _, index = np.unique(np.round(face_normals, 12), axis=0, return_index=True)
        return np.ascontiguousarray(face_normals[np.sort(index)]), np.hstack([along, n1, n2])
    up = face_normals[0]
    outward = _unit(np.cross(along, up))
    outward *= np.sign(np.einsum("ij,ij->i", outward, ends[:, 0] - v.mean(axis=0)))[:, None]
    edges = np.vstack([np.hstack([along, outward, np.tile(s * up, (len(along), 1))]) for s in (1.0, -1.0)])
    return np.vstack([up, -up, outward]), edges


def _unit(rows: Array) -> Array:
    """Return rows scaled to length 1, or 0 for rows of zeros. Two steps avoid overflow and underflow of squares."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0.0, length, 1.0)


def _faces_of_edges(hull: HullData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    count = len(hull.vertices)
    sides = np.vstack([hull.faces[:, [0, 1]], hull.faces[:, [1, 2]], hull.faces[:, [2, 0]]])
    face = np.tile(np.arange(len(hull.faces)), 3)
    key = sides.min(axis=1) * count + sides.max(axis=1)
    order = np.argsort(key, kind="stable")
    at = np.searchsorted(key[order], hull.edges[:, 0] * count + hull.edges[:, 1])
    return face[order[at]], face[order[at + 1]]
