"""The faces of a hull as polygons: coplanar triangles put together, corners in order, in plain arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.hulls import HullData

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_COPLANAR = 1e-13  #: of the hull's size: how far off a plane the corners of one face may be


def face_loops(hull: HullData) -> tuple[Ints, Array]:
    """Return faces as (ints, floats).

    ints: how many faces, for each where its corners begin (faces + 1), and the corners, rows of ``hull.vertices``;
    floats: an outward unit normal for each (3 faces). A segment is one face of two corners and no normal, a point has
    none.
    """
    if hull.dimension == 0:
        return np.array([0, 0]), np.empty(0)
    if hull.dimension == 1:
        return np.array([1, 0, 2, 0, 1]), np.zeros(3)
    vertices = hull.vertices - hull.vertices.mean(axis=0)
    size = float(np.abs(vertices).max())
    vertices = vertices / size
    areas = fc.vector_areas(vertices, hull.faces)
    label = _flat_sides(areas) if hull.dimension == 2 else _coplanar(vertices, hull.faces, areas)
    count = int(label.max()) + 1
    order = np.argsort(label, kind="stable")
    spans = np.searchsorted(label[order], np.arange(count + 1))
    loops, normals = [], np.empty((count, 3))
    for k in range(count):
        members = order[spans[k] : spans[k + 1]]
        normals[k] = areas[members].sum(axis=0)
        corners = hull.faces[members[0]] if len(members) == 1 else np.unique(hull.faces[members])
        loops.append(corners if len(corners) == 3 else _round(vertices, corners, normals[k]))
    lengths = np.linalg.norm(normals, axis=1)[:, None]
    normals /= np.where(lengths > 0.0, lengths, 1.0)
    starts = np.cumsum([0, *map(len, loops)])
    return np.concatenate([[count], starts, *loops]).astype(np.int64), normals.ravel()


def _flat_sides(areas: Array) -> Ints:
    """Label the triangles of a flat hull by the side they look to."""
    largest = areas[np.argmax(np.einsum("ij,ij->i", areas, areas))]
    sides: Ints = (areas @ largest < 0.0).astype(np.int64)
    return sides


def _coplanar(vertices: Array, faces: Ints, areas: Array) -> Ints:
    """Label triangles so that neighbours in one plane have one label."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges, sides = fc.edges(faces)
    # the larger triangle's plane, and the far corner of the smaller one
    square = np.einsum("ij,ij->i", areas, areas)
    swap = square[sides[:, 0]] < square[sides[:, 1]]
    big, small = np.where(swap, sides[:, 1], sides[:, 0]), np.where(swap, sides[:, 0], sides[:, 1])
    far = faces[small].sum(axis=1) - edges.sum(axis=1)
    heights = np.einsum("ij,ij->i", areas[big], vertices[far] - vertices[edges[:, 0]])
    joined = np.abs(heights) <= _COPLANAR * np.sqrt(square[big])
    graph = coo_matrix((np.ones(joined.sum()), (big[joined], small[joined])), shape=(len(faces), len(faces)))
    label: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    # a chain of nearly flat steps may bend: its triangles stay apart
    counts = np.bincount(label)
    total: Array = np.stack([np.bincount(label, areas[:, k]) for k in range(3)], axis=1).astype(np.float64)
    length = np.linalg.norm(total, axis=1)
    total /= np.where(length > 0.0, length, 1.0)[:, None]
    height = np.einsum("ijk,ik->ij", vertices[faces], total[label])
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, label, height.min(axis=1))
    np.maximum.at(high, label, height.max(axis=1))
    bent = ((high - low > 4.0 * _COPLANAR) & (counts > 1))[label]
    label[bent] = len(counts) + np.arange(int(bent.sum()))
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _round(vertices: Array, corners: Ints, normal: Array) -> Ints:
    """Return the corners of a convex polygon counter-clockwise about its normal."""
    across = vertices[corners] - vertices[corners].mean(axis=0)
    u = across[np.argmax(np.einsum("ij,ij->i", across, across))]
    v = np.cross(normal, u)
    turn = np.arctan2(across @ v / np.linalg.norm(v), across @ u / np.linalg.norm(u))
    ordered: Ints = corners[np.argsort(turn, kind="stable")]
    return ordered
