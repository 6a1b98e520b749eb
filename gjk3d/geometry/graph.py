"""The edge graph of a convex hull, where to enter it, and its Gauss map.

From a vertex, go to the neighbour that is farthest along the direction, until none is farther: on a convex surface
that is the farthest vertex of all. Where to start is read from a cube map, a table of directions on the six sides of
a cube.

How wrong can it be? Let a vertex be the best of its neighbours to rounding: n.e <= 4u |e| along each edge e. Then n is
within 4u / cos(t/2) of the cone of normals of the faces round it, t the widest angle of a face there. A direction of
that cone is a sum of face normals, with weights of at most 1 / r_in together per unit of height over an inner point at
least r_in below every face. So if no vertex is above one of those planes by more than ``defect``, none is farther by
more than defect * rho / r_in. Hulls where this comes to too much are scanned.

A closed surface that is exactly convex across each edge, that shows an inner point its inner sides, and that a ray from
there leaves through one face alone is convex: its defect is that of rounded normals alone. (Mehlhorn, Naeher, Seel,
Seidel, Schilz, Schirra, Uhrig: Checking geometric programs or verification of geometric structures, 1999.) Rounding
dents most surfaces of many coplanar faces; there the vertex farthest along each normal tells the defect.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.farthest import farthest
from gjk3d.geometry.hulls import HullData
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.typing import Array, Ints

FLAT = 1e-12  #: an edge that turns less than this is inside a face


def gauss_map(hull: HullData) -> tuple[Array, Array]:
    """Return unit face normals (f, 3), and edges (e, 9): unit direction and the normals of the two faces it joins."""
    v = hull.vertices
    if hull.dimension == 0:
        return np.zeros((0, 3)), np.zeros((0, 9))
    if hull.dimension == 1:
        # the whole circle round a segment, in four arcs
        along = _unit((v[hull.edges[0, 1]] - v[hull.edges[0, 0]])[None])[0]
        x = _unit(np.cross(along, np.eye(3)[np.argmin(np.abs(along))])[None])[0]
        y = np.cross(along, x)
        normals = np.array([x, y, -x, -y])
        return normals, np.hstack([np.tile(along, (4, 1)), normals, np.roll(normals, -1, axis=0)])
    a, b, c = (v[hull.faces[:, i]] for i in range(3))
    each = _unit(np.cross(b - a, c - a))
    first, second = _faces_of_edges(hull)
    keep = hull.angles > FLAT
    ends = v[hull.edges[keep]]
    along = _unit(ends[:, 1] - ends[:, 0])
    n1, n2 = each[first[keep]], each[second[keep]]
    if hull.dimension == 3:
        return _distinct(each), np.hstack([along, n1, n2])
    up = each[0]
    outward = _unit(np.cross(along, up))
    outward *= np.sign(np.einsum("ij,ij->i", outward, ends[:, 0] - v.mean(axis=0)))[:, None]
    edges = np.vstack([np.hstack([along, outward, np.tile(s * up, (len(along), 1))]) for s in (1.0, -1.0)])
    return np.vstack([up, -up, outward]), edges


def _unit(rows: Array) -> Array:
    """Return rows of length 1, scaled first so that squares neither overflow nor vanish."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0.0, length, 1.0)


def _faces_of_edges(hull: HullData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each edge the two faces it lies between."""
    count = len(hull.vertices)
    sides = np.vstack([hull.faces[:, [0, 1]], hull.faces[:, [1, 2]], hull.faces[:, [2, 0]]])
    face = np.tile(np.arange(len(hull.faces)), 3)
    key = sides.min(axis=1) * count + sides.max(axis=1)
    order = np.argsort(key, kind="stable")
    at = np.searchsorted(key[order], hull.edges[:, 0] * count + hull.edges[:, 1])
    return face[order[at]], face[order[at + 1]]


def _distinct(normals: Array) -> Array:
    """Return one normal for each face, not for each of its triangles."""
    _, index = np.unique(np.round(normals, 12), axis=0, return_index=True)
    return np.ascontiguousarray(normals[np.sort(index)])


_COARSEST = 2e-13  #: error of climbing, as a part of rho, above which a hull is scanned
_BATCH = 1 << 13  #: edges that are looked at in whole numbers at once


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
    if not (lengths > 0.0).all() or len(fc.corners_of(hull.faces)) != len(vertices):
        return None
    inner = corners.mean(axis=1).T @ lengths / lengths.sum()
    error = _error(hull, across, inner)
    rho = float(np.linalg.norm(vertices - inner, axis=1).max())
    if not error <= _COARSEST * rho:
        return None
    low, high = hull.edges.T
    count = len(vertices)
    tails, heads = np.divmod(np.sort(np.concatenate([low * count + high, high * count + low])), count)
    offsets = np.searchsorted(tails, np.arange(count + 1))
    grid = int(np.clip(round(sqrt(count / 6)), 4, 24))
    _, start = farthest(vertices, cell_directions(grid))
    return Graph(grid, start, offsets.astype(np.int64), heads.astype(np.int64), error)


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


def _error(hull: HullData, across: Array, inner: Array) -> float:
    """Bound the error of climbing; infinite where that is too much for it, or the inner point is not inside."""
    vertices, corners = hull.vertices, hull.vertices[hull.faces]
    lengths = np.linalg.norm(across, axis=1)
    normals = across / lengths[:, None]
    height = np.einsum("ij,ij->i", normals, corners[:, 0] - inner)
    inscribed = float(height.min())
    if not inscribed > 0.0:
        return inf
    rho = float(np.linalg.norm(vertices - inner, axis=1).max())
    widest = 0.0  # the largest half angle of a face at a corner
    for i in range(3):
        one, two = corners[:, (i + 1) % 3] - corners[:, i], corners[:, (i + 2) % 3] - corners[:, i]
        turn = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), np.einsum("ij,ij->i", one, two))
        widest = max(widest, 0.5 * float(turn.max()))
    error = 8.0 * UNIT_ROUNDOFF * rho / float(np.cos(widest))
    if not error <= _COARSEST * rho:
        return inf
    beyond = 0.0
    largest = int((height * lengths).argmax())  # seen from the inner point, as a volume
    if not (_leaves_once(vertices - inner, hull.faces, largest) and _is_convex(vertices, hull.faces)):
        beyond = max(0.0, float((farthest(vertices - inner, normals)[0] - height).max()))
    defect = beyond + 8.0 * UNIT_ROUNDOFF * rho  # of the plane itself: normals are rounded too
    return error + defect * rho / inscribed


def _leaves_once(points: Array, faces: Ints, through: int) -> bool:
    """Tell whether the ray from the origin, below all triangles, through the middle of one leaves by that one alone."""
    ray = points[faces[through]].mean(axis=0)
    rounding = 64.0 * UNIT_ROUNDOFF * float(np.abs(points).max()) ** 2 * float(np.abs(ray).max())
    met, turned = np.ones(len(faces), dtype=bool), np.cross(ray, points)
    for i in range(3):
        met &= np.einsum("ij,ij->i", turned[faces[:, i - 1]], points[faces[:, i]]) >= -rounding
    return int(np.count_nonzero(met)) == 1


def _is_convex(vertices: Array, faces: Ints) -> bool:
    """Tell whether triangles are exactly convex across every edge, and closed like a sphere."""
    edges, sides = fc.edges(faces)
    if len(vertices) - len(edges) + len(faces) != 2:
        return False
    opposite = faces[sides[:, 1]].sum(axis=1) - edges.sum(axis=1)
    quads = np.vstack([faces[sides[:, 0]].T, opposite])  # a triangle, and the far corner of the next one
    columns = vertices.T.copy()
    for number in (np.float64, np.longdouble):  # the second is finer where the machine has it
        a, b, c, d = (columns.take(corner, axis=1).astype(number) for corner in quads)
        steps = b - a, c - a, d - a
        above = _above(*steps)
        sizes = [np.abs(v).max(axis=0) for v in steps]
        unsure = 32.0 * np.finfo(number).eps * sizes[0] * sizes[1] * sizes[2] + 1e-300
        if (above > unsure).any():
            return False
        quads = quads[:, above >= -unsure]
    batches = np.split(quads, range(_BATCH, quads.shape[1], _BATCH), axis=1)
    return not any((_above(*_whole_steps(vertices[batch])) > 0).any() for batch in batches)


def _above(ab: Any, ac: Any, ad: Any) -> Any:
    """Return how high corners d are above the planes of triangles abc, times an area; each (3, m)."""
    return sum((ab[i - 2] * ac[i - 1] - ab[i - 1] * ac[i - 2]) * ad[i] for i in range(3))


def _whole_steps(corners: Array) -> list[Any]:
    """Return the steps from the first to the other three of corners (4, m, 3), in whole numbers of a common unit."""
    mantissa, exponent = np.frexp(corners)
    exponent -= exponent[mantissa != 0.0].min(initial=2048)
    whole = np.ldexp(mantissa, 53).astype(np.int64).astype(object) << np.maximum(exponent, 0).astype(object)
    return [(whole[i] - whole[0]).T for i in (1, 2, 3)]
