"""The intersection of two parts: its place and a lower bound of its depth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.mesh_sides import holds
from gjk3d.bodies.solids import SAME_FRAME, Overlap
from gjk3d.poses import ROUNDING, moved, moved_back, parts
from gjk3d.typing import Array, Ints


class BodyPair(NamedTuple):
    """The meshes of two parts A and B, and the pose row of B in the frame of A."""

    a: Mesh
    b: Mesh
    m: Array = SAME_FRAME

    def to_a(self, points: Array) -> Array:
        """Transform points from the frame of B to the frame of A."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved(self.m, points))

    def to_b(self, points: Array) -> Array:
        """Transform points from the frame of A to the frame of B."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved_back(self.m, points))

    def rotated(self, directions: Array) -> Array:
        """Rotate directions from the frame of B to the frame of A."""
        return directions if self.m is SAME_FRAME else directions @ parts(self.m)[0].T

    @property
    def bounds_b(self) -> Array:
        """The lowest and the highest corner of B in the frame of A, (2, 3), up to rounding."""
        if self.m is SAME_FRAME:
            return self.b.bounds
        # the hull has the same bounds and fewer points
        points = self.to_a(self.b.hull().points)
        return np.array([points.min(axis=0), points.max(axis=0)])

    @property
    def any_hanging(self) -> bool:
        """Whether a closed part has hanging triangles, which can intersect the other part without an overlap volume."""
        return any(len(mesh._mended.hanging) for mesh in (self.a, self.b))

    @property
    def trees(self) -> MeshPair:
        """The pair of bounding volume hierarchies."""
        return MeshPair.of(self.a, self.b, self.m)


_CHORDS = 64  #: the number of faces of an intersection at which chords start
_MOST = 4000  #: the largest number of sample points
LOOKED_AT = 65536  #: the largest number of pairs of intersecting faces that are examined


def shared_depth(pair: BodyPair, shared: Overlap | None) -> tuple[float, Array | None]:
    """Return a lower bound of the depth of the overlap of two parts, and the sample point that gives the bound.

    A point inside both parts is the centre of a ball in each part. The radius is the distance to the surface. A
    separating translation is at least as long as the sum of both radii. The sample points are on the surface of the
    intersection. If the intersection is unknown, the sample points are points of one surface inside of the other part,
    if that part is closed.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if shared is not None:
        if len(shared.faces):
            middle = shared.vertices.mean(axis=0)[None]  # deep inside a ball, a block or a lens, but outside of a ring
            inside = holds(pair.a, middle) & holds(pair.b, pair.to_b(middle))
            best = _deepest(pair, np.concatenate([_spread(shared.vertices, shared.faces), middle[inside]]))
            if best[0] < 0.25 * shared.volume / area(shared.vertices, shared.faces):  # the deep points may be inside
                points = _within(shared)
                points = points[holds(pair.a, points) & holds(pair.b, pair.to_b(points))]
                best = max(best, _deepest(pair, points), key=lambda item: item[0])
    else:
        candidates = [best]
        if pair.b.is_watertight:
            points = _spread(pair.a.vertices, pair.a.faces)
            candidates.append(_deepest(pair, points[holds(pair.b, pair.to_b(points))], of_a=False))
        if pair.a.is_watertight:
            points = pair.to_a(_spread(pair.b.vertices, pair.b.faces))
            candidates.append(_deepest(pair, points[holds(pair.a, points)], of_b=False))
        best = max(candidates, key=lambda item: item[0])
    error = ROUNDING * float(max(np.abs(pair.a.bounds).max(), np.abs(pair.bounds_b).max()))
    return max(0.0, best[0] - error), best[1]


def _deepest(pair: BodyPair, points: Array, of_a: bool = True, of_b: bool = True) -> tuple[float, Array | None]:
    if not len(points):
        return 0.0, None
    radius = np.zeros(len(points))
    if of_a:
        radius += nearest_points(pair.a, points)[0]
    if of_b:
        radius += nearest_points(pair.b, pair.to_b(points))[0]
    k = int(np.argmax(radius))
    return float(radius[k]), points[k]


def area(vertices: Array, faces: Ints) -> float:
    """Return the area of triangles."""
    corners = vertices[faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


def _within(shared: Overlap) -> Array:
    first, edge_1, edge_2 = np.moveaxis(shared.vertices[shared.faces], 1, 0)
    edge_1, edge_2 = edge_1 - first, edge_2 - first
    cross = np.cross(edge_1, edge_2)
    area = np.linalg.norm(cross, axis=1)
    points = []
    for k in np.argsort(-area, kind="stable")[:_CHORDS]:
        if not area[k] > 0.0:
            break
        start, inward = first[k] + (edge_1[k] + edge_2[k]) / 3.0, -cross[k] / area[k]
        # intersection of a ray with triangles (Möller and Trumbore 1997)
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
    """Return the corners of faces, and the centers of edges and faces: at most `_MOST` points at even intervals."""
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
    points = np.concatenate([middles, vertices[np.unique(faces)], edges.reshape(-1, 3)])
    if len(points) > _MOST:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST).astype(np.int64))]
    return np.ascontiguousarray(points)


def touching(pair: BodyPair) -> tuple[Array | None, Array | None]:
    """Return a common point of two surfaces, the most central one, and the unit vector from A to B at this point.

    Both are None if no faces intersect, and the vector is None if the normals of the faces do not define it.
    """
    trees = pair.trees
    faces = trees.meeting_faces(LOOKED_AT)
    if not len(faces):
        return None, None
    out_a, out_b = _normals(pair.a, faces[:, 0]), pair.rotated(_normals(pair.b, faces[:, 1]))
    k = int(np.argmin((out_a * out_b).sum(axis=1)))  # the two faces whose normals are most opposite
    normal = out_a[k] - out_b[k]
    length = float(np.linalg.norm(normal))
    segments = trees.cut(LOOKED_AT)
    if len(segments):
        middles = segments.mean(axis=1)
        point = middles[int(np.argmin(((middles - middles.mean(axis=0)) ** 2).sum(axis=1)))]
    else:  # coplanar faces do not intersect in a segment
        bounds_a, bounds_b = pair.a.bounds, pair.bounds_b
        low, high = np.maximum(bounds_a[0], bounds_b[0]), np.minimum(bounds_a[1], bounds_b[1])
        point = nearest_points(pair.a, np.ascontiguousarray(0.5 * (low + high))[None])[1][0]
    return point, normal / length if length > 1e-6 else None


def _normals(mesh: Mesh, which: Ints) -> Array:
    corners = mesh.vertices[mesh.faces[which]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    units: Array = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return units if mesh.volume >= 0.0 else -units
