"""Where and how deep the surfaces of two parts meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.solids import Overlap
from gjk3d.meshes import Mesh, surfaces
from gjk3d.poses import IDENTITY

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

HERE = IDENTITY[0, :12]  #: parts are in the frame of the whole
_MOST = 4000  #: points that are looked at
_MARGIN = 64.0 * 2.0**-52


def shared_depth(a: Mesh, b: Mesh, both: Overlap | None) -> tuple[float, Array | None]:
    """Return how deep two parts overlap at least, and where.

    A point of both is the centre of a ball in each, as large as its distance from that surface: to be free, they must
    move by both radii. The points are those of the surface of what they share, where that is known; else those of
    either surface that lie in the other, closed one.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if both is not None:
        if len(both.faces):
            middle = both.vertices.mean(axis=0)[None]  # deep in what is a ball, a block or a lens; outside of a ring
            inside = surfaces.holds(a, middle) & surfaces.holds(b, middle)
            best = _deepest(a, b, np.concatenate([_spread(both.vertices, both.faces), middle[inside]]))
    else:
        for one, other in ((a, b), (b, a)):
            if other.is_watertight:
                low, high = other.bounds
                points = _spread(one.vertices, one.faces)
                points = points[((points >= low) & (points <= high)).all(axis=1)]
                found = _deepest(a, b, points[surfaces.holds(other, points)], other)
                best = max(best, found, key=lambda item: item[0])
    error = _MARGIN * float(max(np.abs(a.bounds).max(), np.abs(b.bounds).max()))
    return max(0.0, best[0] - error), best[1]


def _deepest(a: Mesh, b: Mesh, points: Array, only: Mesh | None = None) -> tuple[float, Array | None]:
    if not len(points):
        return 0.0, None
    radius = np.zeros(len(points))
    for mesh in (a, b) if only is None else (only,):
        radius += surfaces.from_points(mesh, points)[0]
    k = int(np.argmax(radius))
    return float(radius[k]), points[k]


def _spread(vertices: Array, faces: Ints) -> Array:
    """Return corners, middles of edges and of faces; some of them, evenly, where there are too many."""
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
    points = np.concatenate([middles, vertices[np.unique(faces)], edges.reshape(-1, 3)])
    if len(points) > _MOST:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST).astype(np.int64))]
    return np.ascontiguousarray(points)


def touching(a: Mesh, b: Mesh) -> tuple[Array | None, Array | None]:
    """Return a common point of two surfaces that meet, in the middle of such, and the direction from A to B there."""
    faces = surfaces.meeting_faces(a, b, HERE)
    if not len(faces):
        return None, None
    out_a, out_b = _normals(a)[faces[:, 0]], _normals(b)[faces[:, 1]]
    k = int(np.argmin((out_a * out_b).sum(axis=1)))  # the two faces that look at each other most
    normal = out_a[k] - out_b[k]
    length = float(np.linalg.norm(normal))
    segments = surfaces.cut(a, b, HERE)
    if len(segments):
        middles = segments.mean(axis=1)
        point = middles[int(np.argmin(((middles - middles.mean(axis=0)) ** 2).sum(axis=1)))]
    else:  # faces in one plane cut in no segment
        low, high = np.maximum(a.bounds[0], b.bounds[0]), np.minimum(a.bounds[1], b.bounds[1])
        point = surfaces.from_points(a, np.ascontiguousarray(0.5 * (low + high))[None])[1][0]
    return point, normal / length if length > 1e-6 else None


def crossing(a: Mesh, b: Mesh) -> float:
    """Return how far faces that meet reach through each other, the most of all pairs: 0 where they only touch."""
    faces = surfaces.meeting_faces(a, b, HERE)
    if not len(faces):
        return 0.0
    reach = np.full(len(faces), np.inf)
    for one, other, i, j in ((a, b, 0, 1), (b, a, 1, 0)):
        corners, against = one.vertices[one.faces[faces[:, i]]], other.vertices[other.faces[faces[:, j]]]
        normals = _normals(other)[faces[:, j]]
        heights = np.einsum("kij,kj->ki", corners - against[:, :1], normals)
        above, below = np.maximum(heights, 0.0).max(axis=1), np.maximum(-heights, 0.0).max(axis=1)
        reach = np.minimum(reach, np.minimum(above, below))
    return float(reach.max())


def _normals(mesh: Mesh) -> Array:
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    units: Array = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return units if mesh.volume >= 0.0 else -units
