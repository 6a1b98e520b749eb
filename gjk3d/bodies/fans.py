"""Polygons that are not convex, which readers of files split as if they were: cut anew.

A reader that splits a polygon from one corner lays triangles of a concave one over each other, turned over. Sums over
the surface, as the volume, do not notice, but there is surface where the polygon has none. Readers leave a polygon's
triangles as a fan in a row, (a, b, c), (a, c, d), (a, d, e), and a quadrilateral's as (a, b, c), (c, d, a).
"""

from __future__ import annotations

import numpy as np

from gjk3d.bodies.foreign import triangulated
from gjk3d.bodies.headers import HeaderError
from gjk3d.typing import Array, Ints

#: cosine between the planes of triangles that may be of one polygon, whose corners a file rounds
_FLAT = 0.999


def unfolded(vertices: Array, faces: Ints) -> Ints:
    """Return triangles, those of polygons that lie over each other cut anew.

    Raises
    ------
    HeaderError
        Such a polygon crosses itself.
    """
    if faces.min() < 0 or faces.max() >= len(vertices):
        return faces  # the mesh says which
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1)
    across /= np.where(length > 0.0, length, 1.0)[:, None]
    firsts, seconds = _neighbours(faces)
    cosine = np.einsum("ij,ij->i", across[firsts], across[seconds])
    if not (cosine < -_FLAT).any():
        return faces
    polygons, gone = _folded(faces, firsts, seconds, cosine)
    fresh = []
    for polygon in polygons:
        cut = triangulated(vertices, polygon)
        if cut is None:
            raise HeaderError(
                f"has a polygon of {len(polygon)} corners that crosses itself, at {vertices[polygon[0]].tolist()}: "
                "triangulate it"
            )
        fresh.append(cut)
    return np.concatenate([np.delete(faces, gone, axis=0), *fresh])


def _neighbours(faces: Ints) -> tuple[Ints, Ints]:
    """Return pairs of triangles that a reader may have split from one polygon."""
    fans = np.flatnonzero((faces[:-1, 0] == faces[1:, 0]) & (faces[:-1, 2] == faces[1:, 1]))
    count = int(faces.max()) + 1
    leaving, coming = faces[:, 0] * count + faces[:, 2], faces[:, 2] * count + faces[:, 0]
    order = np.argsort(coming, kind="stable")
    at = np.minimum(np.searchsorted(coming[order], leaving), len(order) - 1)
    halves = np.flatnonzero(coming[order[at]] == leaving)
    halves = halves[halves < order[at[halves]]]
    return np.concatenate([fans, halves]), np.concatenate([fans + 1, order[at[halves]]])


def _folded(faces: Ints, firsts: Ints, seconds: Ints, cosine: Array) -> tuple[list[Ints], Ints]:
    """Return the polygons whose triangles lie over each other, and those triangles."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    flat = np.abs(cosine) > _FLAT
    graph = coo_matrix((np.ones(flat.sum()), (firsts[flat], seconds[flat])), shape=(len(faces), len(faces)))
    label = connected_components(graph, directed=False)[1]
    polygons, gone = [], []
    for number in np.unique(label[firsts[cosine < -_FLAT]]).tolist():
        members = np.flatnonzero(label == number)
        polygon = _outline(faces[members])
        if polygon is not None:
            polygons.append(polygon)
            gone.append(members)
    return polygons, np.concatenate(gone) if gone else np.zeros(0, dtype=np.int64)


def _outline(triangles: Ints) -> Ints | None:
    """Return the corners round some triangles, None where these are no one polygon of so many triangles."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).tolist()
    inner = {(i, j) for i, j in sides}
    following = {i: j for i, j in sides if (j, i) not in inner}
    corner = start = next(iter(following), -1)
    loop: list[int] = []
    while corner in following and len(loop) <= len(following):
        loop.append(corner)
        corner = following[corner]
        if corner == start:
            break
    whole = corner == start and len(loop) == len(triangles) + 2 == len(following)
    return np.array(loop, dtype=np.int64) if whole else None
