"""The edge graph of a convex hull, and where to enter it: support points of large hulls by climbing.

From a vertex, go to the neighbour that is farthest along the direction, until none is farther: on a convex surface
that is the farthest vertex of all. Where to start is read from a cube map, a table of directions on the six sides of
a cube.

How wrong can it be? Let a vertex be the best of its neighbours to rounding: n.e <= 4u |e| along each edge e. Then n is
within 4u / cos(t/2) of the cone of normals of the faces round it, t the widest angle of a face there. A direction of
that cone is a sum of face normals, with weights of at most 1 / r_in together per unit of height over an inner point at
least r_in below every face. So if no vertex is above one of those planes by more than ``defect``, none is farther by
more than defect * rho / r_in. A closed surface that is star-shaped about a point and exactly convex across each edge
is convex: its defect is that of rounded normals alone. Hulls where this comes to too much are scanned.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.hulls import HullData

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNIT_ROUNDOFF = 2.0**-53
_COARSEST = 2e-13  #: error of climbing, as a part of rho, above which a hull is scanned
_MOST_EXACT = 20000  #: edges of coplanar faces, which are looked at in fractions
_CHUNK = 1 << 21  #: numbers of a table in memory at once


class Graph(NamedTuple):
    """The graph in plain arrays.

    Attributes
    ----------
    grid : int
        Cells along an edge of the cube map.
    start : (6 * grid * grid,) int
        The farthest vertex along the middle of each cell.
    offsets : (k + 1,) int
        Where each vertex' neighbours begin in ``neighbours``.
    neighbours : (2 e,) int
        Vertices at the other ends of edges.
    error : float
        By how much the support value of a climbed vertex may be too low.
    """

    grid: int
    start: Ints
    offsets: Ints
    neighbours: Ints
    error: float


def support_graph(hull: HullData) -> Graph | None:
    """Return the graph of a solid hull; None where climbing is not proven to rounding."""
    if hull.dimension != 3:
        return None
    vertices = hull.vertices
    corners = vertices[hull.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(across, axis=1)
    if not (lengths > 0.0).all() or len(np.unique(hull.edges)) != len(vertices):
        return None
    normals = across / lengths[:, None]
    inner = corners.mean(axis=1).T @ lengths / lengths.sum()
    error = _error(hull, corners, normals, inner)
    rho = float(np.linalg.norm(vertices - inner, axis=1).max())
    if not error <= _COARSEST * rho:
        return None
    ends = np.concatenate([hull.edges, hull.edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    offsets = np.searchsorted(ends[:, 0], np.arange(len(vertices) + 1))
    grid = int(np.clip(round(sqrt(len(vertices) / 6)), 4, 24))
    start = _farthest(vertices, cell_directions(grid))
    return Graph(grid, start, offsets.astype(np.int64), ends[:, 1].astype(np.int64), error)


def cell_directions(grid: int) -> Array:
    """Return the middles of the cube map's cells, (6 * grid * grid, 3): sides +x, -x, +y, -y, +z, -z."""
    middle = (2.0 * np.arange(grid) + 1.0) / grid - 1.0
    u, v = (c.ravel() for c in np.meshgrid(middle, middle, indexing="ij"))
    out = np.empty((6, grid * grid, 3))
    for side in range(6):
        axis = side // 2
        out[side, :, axis] = 1.0 - 2.0 * (side % 2)
        out[side, :, (axis + 1) % 3], out[side, :, (axis + 2) % 3] = u, v
    return out.reshape(-1, 3)


def _error(hull: HullData, corners: Array, normals: Array, inner: Array) -> float:
    """Bound the error of climbing; infinite where the inner point is not inside."""
    vertices = hull.vertices
    height = np.einsum("ij,ij->i", normals, corners[:, 0] - inner)
    inscribed = float(height.min())
    if not inscribed > 0.0:
        return float("inf")
    rho = float(np.linalg.norm(vertices - inner, axis=1).max())
    beyond = 0.0 if _is_convex(vertices, hull) else _most_beyond(vertices - inner, normals, height)
    widest = 0.0  # the largest half angle of a face at a corner
    for i in range(3):
        one, two = corners[:, (i + 1) % 3] - corners[:, i], corners[:, (i + 2) % 3] - corners[:, i]
        turn = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), np.einsum("ij,ij->i", one, two))
        widest = max(widest, 0.5 * float(turn.max()))
    defect = beyond + 8.0 * _UNIT_ROUNDOFF * rho  # of the plane itself: normals are rounded too
    return 8.0 * _UNIT_ROUNDOFF * rho / float(np.cos(widest)) + defect * rho / inscribed


def _is_convex(vertices: Array, hull: HullData) -> bool:
    """Tell whether the triangles are exactly convex across every edge, and closed like a sphere."""
    if len(vertices) - len(hull.edges) + len(hull.faces) != 2:
        return False
    edges, sides = fc.edges(hull.faces)
    total = hull.faces.sum(axis=1)
    opposite = total[sides[:, 1]] - edges.sum(axis=1)
    a, b, c = (vertices[hull.faces[sides[:, 0], i]] for i in range(3))
    d = vertices[opposite]
    ab, ac, ad = b - a, c - a, d - a
    # how high the next triangle's far corner is above this one, times an area
    above = np.einsum("ij,ij->i", np.cross(ab, ac), ad)
    sizes = [np.abs(v).max(axis=1) for v in (ab, ac, ad)]
    unsure = above >= -64.0 * _UNIT_ROUNDOFF * sizes[0] * sizes[1] * sizes[2]
    if np.count_nonzero(unsure) > _MOST_EXACT:
        return False
    for k in np.flatnonzero(unsure):
        p, q, r, s = ([Fraction(x) for x in vertices[i].tolist()] for i in (*hull.faces[sides[k, 0]], opposite[k]))
        e, f, g = ([x - y for x, y in zip(v, p, strict=True)] for v in (q, r, s))
        n = e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]
        if n[0] * g[0] + n[1] * g[1] + n[2] * g[2] > 0:
            return False
    return True


def _most_beyond(moved: Array, normals: Array, height: Array) -> float:
    """Return the most by which a vertex is above the plane of a face."""
    beyond = 0.0
    step = max(1, _CHUNK // len(moved))
    for row in range(0, len(normals), step):
        part = slice(row, row + step)
        beyond = max(beyond, float(((normals[part] @ moved.T).max(axis=1) - height[part]).max()))
    return beyond


def _farthest(vertices: Array, directions: Array) -> Ints:
    """Return the index of the vertex farthest along each direction."""
    out = np.empty(len(directions), dtype=np.int64)
    step = max(1, _CHUNK // len(vertices))
    for row in range(0, len(directions), step):
        out[row : row + step] = (directions[row : row + step] @ vertices.T).argmax(axis=1)
    return out
