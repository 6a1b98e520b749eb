"""Where and how deep the surfaces of two parts meet, and the volume that they share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.pieces import arrays_of
from gjk3d.bodies.raycast import holds, inside_of
from gjk3d.poses import IDENTITY, ROUNDING, matrices, moved, moved_back, parts
from gjk3d.typing import Array, Ints

SAME_FRAME = IDENTITY[0, :12]  #: the pose of B where both parts are in one frame


class BodyPair(NamedTuple):
    """Two parts in the frame of the first: their triangles, and the pose row of B."""

    a: Mesh
    b: Mesh
    m: Array = SAME_FRAME

    def to_a(self, points: Array) -> Array:
        """Return points of B's frame in A's."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved(self.m, points))

    def to_b(self, points: Array) -> Array:
        """Return points of A's frame in B's."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved_back(self.m, points))

    def rotated(self, directions: Array) -> Array:
        """Return directions of B's frame in A's."""
        return directions if self.m is SAME_FRAME else directions @ parts(self.m)[0].T

    @property
    def bounds_b(self) -> Array:
        """Lowest and highest corner of B, (2, 3), to rounding: of its hull, which has fewer points."""
        if self.m is SAME_FRAME:
            return self.b.bounds
        points = self.to_a(self.b.hull().points)
        return np.array([points.min(axis=0), points.max(axis=0)])

    @property
    def any_hanging(self) -> bool:
        """Whether a closed part has triangles that bound no volume, and so may cross the other without an overlap."""
        return any(len(mesh._mended.hanging) for mesh in (self.a, self.b))

    @property
    def trees(self) -> MeshPair:
        """Both by their trees."""
        return MeshPair.of(self.a, self.b, self.m)


class Overlap(NamedTuple):
    """The intersection of two solids: its volume, and its surface as vertices and faces, both empty for volume 0."""

    volume: float
    vertices: Array
    faces: NDArray[np.int64]


def intersection(a: Any, b: Any, m: Array = SAME_FRAME) -> Overlap | None:
    """Return the intersection of two solids, with b at a pose; None where the boolean operation fails."""
    import manifold3d

    shared = a ^ (b if m is SAME_FRAME else b.transform(matrices(m)[:3]))
    if shared.status() != manifold3d.Error.NoError:
        return None
    if shared.is_empty():
        return Overlap(0.0, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    return Overlap(float(shared.volume()), *arrays_of(shared))


_CHORDS = 64  #: faces of what is shared that chords begin at
_MOST = 4000  #: points that are looked at
LOOKED_AT = 65536  #: pairs of meeting faces that are looked at


def shared_depth(pair: BodyPair, shared: Overlap | None) -> tuple[float, Array | None]:
    """Return a lower bound on the depth of the overlap of two parts, and the point where it was measured.

    A point of both is the centre of a ball in each, as large as its distance from that surface: to be free, they must
    move by both radii. The points are those of the surface of what they share, where that is known; else those of
    either surface that lie in the other, closed one.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if shared is not None:
        if len(shared.faces):
            middle = shared.vertices.mean(axis=0)[None]  # deep in what is a ball, a block or a lens; outside of a ring
            inside = holds(pair.a, middle) & holds(pair.b, pair.to_b(middle))
            best = _deepest(pair, np.concatenate([_spread(shared.vertices, shared.faces), middle[inside]]))
            if best[0] < 0.25 * shared.volume / _area(shared):  # its surface is that of both: what is deep lies within
                points = _within(shared)
                points = points[holds(pair.a, points) & holds(pair.b, pair.to_b(points))]
                best = max(best, _deepest(pair, points), key=lambda item: item[0])
    else:
        candidates = [best]
        if pair.b.is_watertight:
            points = _spread(pair.a.vertices, pair.a.faces)
            candidates.append(_deepest(pair, points[inside_of(pair.b, pair.to_b(points))], of_a=False))
        if pair.a.is_watertight:
            points = pair.to_a(_spread(pair.b.vertices, pair.b.faces))
            candidates.append(_deepest(pair, points[inside_of(pair.a, points)], of_b=False))
        best = max(candidates, key=lambda item: item[0])
    error = ROUNDING * float(max(np.abs(pair.a.bounds).max(), np.abs(pair.bounds_b).max()))
    return max(0.0, best[0] - error), best[1]


def _deepest(pair: BodyPair, points: Array, of_a: bool = True, of_b: bool = True) -> tuple[float, Array | None]:
    if not len(points):
        return 0.0, None
    radius = np.zeros(len(points))
    if of_a:
        radius += from_points(pair.a, points)[0]
    if of_b:
        radius += from_points(pair.b, pair.to_b(points))[0]
    k = int(np.argmax(radius))
    return float(radius[k]), points[k]


def _area(shared: Overlap) -> float:
    corners = shared.vertices[shared.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


def _within(shared: Overlap) -> Array:
    """Return points inside an overlap: the middles of chords that go inwards from its largest faces."""
    first, edge_1, edge_2 = np.moveaxis(shared.vertices[shared.faces], 1, 0)
    edge_1, edge_2 = edge_1 - first, edge_2 - first
    cross = np.cross(edge_1, edge_2)
    area = np.linalg.norm(cross, axis=1)
    points = []
    for k in np.argsort(-area, kind="stable")[:_CHORDS]:
        if not area[k] > 0.0:
            break
        start, inward = first[k] + (edge_1[k] + edge_2[k]) / 3.0, -cross[k] / area[k]
        # where the ray meets the planes of all faces: Möller and Trumbore 1997
        side, offset = np.cross(inward, edge_2), start - first
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 / np.einsum("ij,ij->i", edge_1, side)
            u = np.einsum("ij,ij->i", offset, side) * scale
            over = np.cross(offset, edge_1)
            v, t = over @ inward * scale, np.einsum("ij,ij->i", edge_2, over) * scale
            hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 1e-9 * np.sqrt(area[k]))
        if hit.any():
            points.append(start + 0.5 * t[hit].min() * inward)
    return np.array(points).reshape(-1, 3)


def _spread(vertices: Array, faces: Ints) -> Array:
    """Return corners, middles of edges and of faces; some of them, evenly, where there are too many."""
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
    points = np.concatenate([middles, vertices[np.unique(faces)], edges.reshape(-1, 3)])
    if len(points) > _MOST:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST).astype(np.int64))]
    return np.ascontiguousarray(points)


def touching(pair: BodyPair) -> tuple[Array | None, Array | None]:
    """Return a common point of two surfaces that meet, in the middle of such, and the direction from A to B there."""
    trees = pair.trees
    faces = trees.meeting_faces(LOOKED_AT)
    if not len(faces):
        return None, None
    out_a, out_b = _normals(pair.a, faces[:, 0]), pair.rotated(_normals(pair.b, faces[:, 1]))
    k = int(np.argmin((out_a * out_b).sum(axis=1)))  # the two faces that look at each other most
    normal = out_a[k] - out_b[k]
    length = float(np.linalg.norm(normal))
    segments = trees.cut(LOOKED_AT)
    if len(segments):
        middles = segments.mean(axis=1)
        point = middles[int(np.argmin(((middles - middles.mean(axis=0)) ** 2).sum(axis=1)))]
    else:  # faces in one plane cut in no segment
        bounds_a, bounds_b = pair.a.bounds, pair.bounds_b
        low, high = np.maximum(bounds_a[0], bounds_b[0]), np.minimum(bounds_a[1], bounds_b[1])
        point = from_points(pair.a, np.ascontiguousarray(0.5 * (low + high))[None])[1][0]
    return point, normal / length if length > 1e-6 else None


def _normals(mesh: Mesh, which: Ints) -> Array:
    corners = mesh.vertices[mesh.faces[which]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    units: Array = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return units if mesh.volume >= 0.0 else -units
