"""Where and how deep the surfaces of two parts meet, and the volume that they share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.raycast import holds, inside_of
from gjk3d.bodies.union import arrays_of
from gjk3d.poses import IDENTITY, ROUNDING, matrices, moved, moved_back, parts
from gjk3d.typing import Array, Ints

HERE = IDENTITY[0, :12]  #: the pose of B where both parts are in one frame


class Two(NamedTuple):
    """Two parts in the frame of the first: their triangles, and the pose row of B."""

    a: Mesh
    b: Mesh
    m: Array = HERE

    def to_a(self, points: Array) -> Array:
        """Return points of B's frame in A's."""
        return points if self.m is HERE else np.ascontiguousarray(moved(self.m, points))

    def to_b(self, points: Array) -> Array:
        """Return points of A's frame in B's."""
        return points if self.m is HERE else np.ascontiguousarray(moved_back(self.m, points))

    def turned(self, ways: Array) -> Array:
        """Return directions of B's frame in A's."""
        return ways if self.m is HERE else ways @ parts(self.m)[0].T

    @property
    def bounds_b(self) -> Array:
        """Lowest and highest corner of B, (2, 3), to rounding: of its hull, which has fewer points."""
        if self.m is HERE:
            return self.b.bounds
        points = self.to_a(self.b.hull().points)
        return np.array([points.min(axis=0), points.max(axis=0)])

    @property
    def any_hanging(self) -> bool:
        """Whether triangles of a closed part bound nothing, so that they may meet the other without an overlap."""
        return any(len(mesh._mended.hanging) for mesh in (self.a, self.b))

    @property
    def trees(self) -> MeshPair:
        """Both by their trees."""
        return MeshPair.of(self.a, self.b, self.m)


class Overlap(NamedTuple):
    """What two solids share: its volume, and its surface as vertices and faces; none at all where volume is 0."""

    volume: float
    vertices: Array
    faces: NDArray[np.int64]


def intersection(a: Any, b: Any, m: Array = HERE) -> Overlap | None:
    """Return what two solids share, b being at a pose, None where the boolean fails."""
    import manifold3d

    both = a ^ (b if m is HERE else b.transform(matrices(m)[:3]))
    if both.status() != manifold3d.Error.NoError:
        return None
    if both.is_empty():
        return Overlap(0.0, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    return Overlap(float(both.volume()), *arrays_of(both))


_CHORDS = 64  #: faces of what is shared that chords begin at
_MOST = 4000  #: points that are looked at
LOOKED_AT = 65536  #: pairs of meeting faces that are looked at


def shared_depth(two: Two, both: Overlap | None) -> tuple[float, Array | None]:
    """Return how deep two parts overlap at least, and where.

    A point of both is the centre of a ball in each, as large as its distance from that surface: to be free, they must
    move by both radii. The points are those of the surface of what they share, where that is known; else those of
    either surface that lie in the other, closed one.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if both is not None:
        if len(both.faces):
            middle = both.vertices.mean(axis=0)[None]  # deep in what is a ball, a block or a lens; outside of a ring
            inside = holds(two.a, middle) & holds(two.b, two.to_b(middle))
            best = _deepest(two, np.concatenate([_spread(both.vertices, both.faces), middle[inside]]))
            if best[0] < 0.25 * both.volume / _area(both):  # its surface is that of both: what is deep lies within
                points = _within(both)
                points = points[holds(two.a, points) & holds(two.b, two.to_b(points))]
                best = max(best, _deepest(two, points), key=lambda item: item[0])
    else:
        found = [best]
        if two.b.is_watertight:
            points = _spread(two.a.vertices, two.a.faces)
            found.append(_deepest(two, points[inside_of(two.b, two.to_b(points))], of_a=False))
        if two.a.is_watertight:
            points = two.to_a(_spread(two.b.vertices, two.b.faces))
            found.append(_deepest(two, points[inside_of(two.a, points)], of_b=False))
        best = max(found, key=lambda item: item[0])
    error = ROUNDING * float(max(np.abs(two.a.bounds).max(), np.abs(two.bounds_b).max()))
    return max(0.0, best[0] - error), best[1]


def _deepest(two: Two, points: Array, of_a: bool = True, of_b: bool = True) -> tuple[float, Array | None]:
    if not len(points):
        return 0.0, None
    radius = np.zeros(len(points))
    if of_a:
        radius += from_points(two.a, points)[0]
    if of_b:
        radius += from_points(two.b, two.to_b(points))[0]
    k = int(np.argmax(radius))
    return float(radius[k]), points[k]


def _area(both: Overlap) -> float:
    corners = both.vertices[both.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


def _within(both: Overlap) -> Array:
    """Return points inside: the middles of the chords that go inwards from the largest faces."""
    first, one, two = np.moveaxis(both.vertices[both.faces], 1, 0)
    one, two = one - first, two - first
    cross = np.cross(one, two)
    area = np.linalg.norm(cross, axis=1)
    found = []
    for k in np.argsort(-area, kind="stable")[:_CHORDS]:
        if not area[k] > 0.0:
            break
        start, way = first[k] + (one[k] + two[k]) / 3.0, -cross[k] / area[k]
        # where the ray meets the planes of all faces: Möller and Trumbore 1997
        side, offset = np.cross(way, two), start - first
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 / np.einsum("ij,ij->i", one, side)
            u = np.einsum("ij,ij->i", offset, side) * scale
            over = np.cross(offset, one)
            v, t = over @ way * scale, np.einsum("ij,ij->i", two, over) * scale
            hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 1e-9 * np.sqrt(area[k]))
        if hit.any():
            found.append(start + 0.5 * t[hit].min() * way)
    return np.array(found).reshape(-1, 3)


def _spread(vertices: Array, faces: Ints) -> Array:
    """Return corners, middles of edges and of faces; some of them, evenly, where there are too many."""
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
    points = np.concatenate([middles, vertices[np.unique(faces)], edges.reshape(-1, 3)])
    if len(points) > _MOST:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST).astype(np.int64))]
    return np.ascontiguousarray(points)


def touching(two: Two) -> tuple[Array | None, Array | None]:
    """Return a common point of two surfaces that meet, in the middle of such, and the direction from A to B there."""
    trees = two.trees
    faces = trees.meeting_faces(LOOKED_AT)
    if not len(faces):
        return None, None
    out_a, out_b = _normals(two.a, faces[:, 0]), two.turned(_normals(two.b, faces[:, 1]))
    k = int(np.argmin((out_a * out_b).sum(axis=1)))  # the two faces that look at each other most
    normal = out_a[k] - out_b[k]
    length = float(np.linalg.norm(normal))
    segments = trees.cut(LOOKED_AT)
    if len(segments):
        middles = segments.mean(axis=1)
        point = middles[int(np.argmin(((middles - middles.mean(axis=0)) ** 2).sum(axis=1)))]
    else:  # faces in one plane cut in no segment
        bounds_a, bounds_b = two.a.bounds, two.bounds_b
        low, high = np.maximum(bounds_a[0], bounds_b[0]), np.minimum(bounds_a[1], bounds_b[1])
        point = from_points(two.a, np.ascontiguousarray(0.5 * (low + high))[None])[1][0]
    return point, normal / length if length > 1e-6 else None


def _normals(mesh: Mesh, which: Ints) -> Array:
    corners = mesh.vertices[mesh.faces[which]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    units: Array = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return units if mesh.volume >= 0.0 else -units
