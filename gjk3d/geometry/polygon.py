"""Convex polygons, and connected components such as the triangles of a face.

`face_loops` returns the faces of a hull. The other functions for polygons cut, simplify or measure a polygon in the
plane. The points of such a polygon are rows of (x, y), counter-clockwise. Two rows are a segment, and a single row is a
point. Every function accepts and returns segments and points too.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.hulls import HullData
from gjk3d.typing import Array, Ints, Ints1

# --- connected components --------------------------------------------------------------------------------------------


def connected(starts: Ints, ends: Ints, count: int) -> Ints:
    """Return the index of the component of each of ``count`` nodes, for edges from ``starts`` to ``ends``.

    Components are numbered in the order of their first nodes.
    """
    label = np.empty(count, dtype=np.int64)
    join(np.ascontiguousarray(starts), np.ascontiguousarray(ends), label)
    return label


@single_entry
def join(starts: Ints1, ends: Ints1, label: Ints1) -> None:
    """Write the index of each node's component to ``label``, by a union-find forest with path halving.

    ``starts`` and ``ends`` are the nodes of each edge.
    """
    for k in range(len(label)):
        label[k] = k
    for k in range(len(starts)):
        i, j = starts[k], ends[k]
        while label[i] != i:
            label[i] = label[label[i]]
            i = label[i]
        while label[j] != j:
            label[j] = label[label[j]]
            j = label[j]
        if i < j:
            label[j] = i
        else:
            label[i] = j
    count = 0
    for k in range(len(label)):
        if label[k] == k:
            label[k] = count
            count += 1
        else:
            label[k] = label[label[k]]  # a lower node, whose component is already known


# --- polygons --------------------------------------------------------------------------------------------------------


_COPLANAR = 1e-13  #: greatest distance of the corners of a face from its plane, relative to the size of the hull
SHARP = 0.75  #: cosine of the angle at a corner above which the corner is sharp, see `cut_by`


def face_loops(hull: HullData) -> tuple[Ints, Array]:
    """Return the faces of a hull as (ints, floats).

    The ints are the number of faces, then offsets (faces + 1), then the corners of all faces as indices of
    ``hull.vertices``. Face k has ``corners[offsets[k]:offsets[k + 1]]``. The floats are an outward unit normal for
    each face. A segment is one face with two corners and a normal of zeros. A point has no faces.
    """
    if hull.dimension == 0:
        return np.array([0, 0]), np.empty(0)
    if hull.dimension == 1:
        return np.array([1, 0, 2, 0, 1]), np.zeros(3)
    vertices = hull.vertices - hull.vertices.mean(axis=0)
    size = float(np.abs(vertices).max())
    vertices = vertices / size
    areas = fc.vector_areas(vertices, hull.faces)
    if hull.dimension == 2:  # the triangles of a flat hull have two labels, one for each side
        largest = areas[np.argmax(np.einsum("ij,ij->i", areas, areas))]
        label = (areas @ largest < 0.0).astype(np.int64)
    else:
        label = _coplanar(vertices, hull.faces, areas)
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


def _coplanar(vertices: Array, faces: Ints, areas: Array) -> Ints:
    """Return a label from 0 for each triangle, equal for neighbours in the same plane."""
    edges, sides = fc.edges(faces)
    # the plane of the larger triangle, and the corner of the smaller triangle that is not on the common edge
    square = np.einsum("ij,ij->i", areas, areas)
    swap = square[sides[:, 0]] < square[sides[:, 1]]
    big, small = np.where(swap, sides[:, 1], sides[:, 0]), np.where(swap, sides[:, 0], sides[:, 1])
    far = faces[small].sum(axis=1) - edges.sum(axis=1)
    heights = np.einsum("ij,ij->i", areas[big], vertices[far] - vertices[edges[:, 0]])
    joined = np.abs(heights) <= _COPLANAR * np.sqrt(square[big])
    label = connected(big[joined], small[joined], len(faces))
    # a chain of nearly coplanar triangles may bend as a whole; its triangles remain separate
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
    """Return the indices of the corners of a convex polygon in counter-clockwise order about its normal."""
    across = vertices[corners] - vertices[corners].mean(axis=0)
    u = across[np.argmax(np.einsum("ij,ij->i", across, across))]
    v = np.cross(normal, u)
    turn = np.arctan2(across @ v / np.linalg.norm(v), across @ u / np.linalg.norm(u))
    ordered: Ints = corners[np.argsort(turn, kind="stable")]
    return ordered


#: greatest difference of equal areas, relative to the area of the polygon, so that rounding never selects a row
_TIE = 1e-6


@kernel
def cut(p: Array, n: int, a: float, b: float, c: float, tol: float, out: Array) -> int:
    """Write the part of the polygon p (n rows) in which a x + b y <= c to ``out``; return the number of its rows.

    Sutherland, Hodgman: Reentrant polygon clipping, 1974. Rows within ``tol`` of the line are kept unchanged. An edge
    is cut only if it crosses the whole band within ``tol`` of the line. If ``out`` is full, which no convex polygon
    causes, the remaining rows are dropped.
    """
    if n == 0:
        return 0
    count = 0
    last = n - 1
    height_before = a * p[last, 0] + b * p[last, 1] - c
    for i in range(n):
        height = a * p[i, 0] + b * p[i, 1] - c
        crosses = (height_before > tol and height < -tol) or (height_before < -tol and height > tol)
        if crosses and count < out.shape[0]:
            t = height_before / (height_before - height)
            out[count, 0] = p[last, 0] + t * (p[i, 0] - p[last, 0])
            out[count, 1] = p[last, 1] + t * (p[i, 1] - p[last, 1])
            count += 1
        if height <= tol and count < out.shape[0]:
            out[count, 0], out[count, 1] = p[i, 0], p[i, 1]
            count += 1
        height_before, last = height, i
    return count


@kernel
def cut_by(p: Array, n: int, ring: Array, m: int, tol: float, scratch: Array) -> int:
    """Clip the polygon p of n rows by the convex polygon ``ring`` of m corners; return the number of rows of p.

    Points within ``tol`` of both edges of a sharp corner may be far beyond the corner. A line through such a corner,
    perpendicular to the bisector of its edges, therefore clips p too.
    """
    current, spare = p, scratch
    last, u, v = m - 1, 0.0, 0.0  # u, v is the direction of the previous edge
    flipped = False
    for k in range(m + 1):  # the first edge is repeated, for the corner at which it starts
        i = k if k < m else 0
        x, y = ring[i, 0] - ring[last, 0], ring[i, 1] - ring[last, 1]
        length = sqrt(x * x + y * y)
        if length > 0.0:
            x, y = x / length, y / length
            if u * x + v * y < -SHARP:
                a, b = 0.5 * (u - x), 0.5 * (v - y)
                n = cut(current, n, a, b, a * ring[last, 0] + b * ring[last, 1], tol, spare)
                current, spare, flipped = spare, current, not flipped
            if k < m:
                n = cut(current, n, y, -x, y * ring[last, 0] - x * ring[last, 1], tol, spare)
                current, spare, flipped = spare, current, not flipped
            u, v = x, y
        last = i
    if flipped:
        for k in range(n):
            p[k, 0], p[k, 1] = scratch[k, 0], scratch[k, 1]
    return n


@kernel
def _off_chord(p: Array, i: int, j: int, k: int) -> float:
    """Return the square of the distance of row j from the segment between rows i and k."""
    x, y = p[k, 0] - p[i, 0], p[k, 1] - p[i, 1]
    u, v = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
    square = x * x + y * y
    t = min(max((u * x + v * y) / square, 0.0), 1.0) if square > 0.0 else 0.0
    u, v = u - t * x, v - t * y
    return float(u * u + v * v)


@kernel
def _drop(p: Array, n: int, i: int) -> int:
    """Remove row i of n rows; return the number of remaining rows."""
    for j in range(i, n - 1):
        p[j, 0], p[j, 1] = p[j + 1, 0], p[j + 1, 1]
    return n - 1


@kernel
def tidy(p: Array, n: int, tol: float) -> int:
    """Remove rows within ``tol`` of the segment between their neighbours; return the number of remaining rows."""
    i = 0
    unchanged = 0  # consecutive rows that were not removed
    while n > 1 and unchanged < n:
        i = i if i < n else 0
        before = i - 1 if i > 0 else n - 1
        after = i + 1 if i < n - 1 else 0
        if _off_chord(p, before, i, after) <= tol * tol:
            n = _drop(p, n, i)
            unchanged = 0
        else:
            i += 1
            unchanged += 1
    return n


@kernel
def _worth(p: Array, i: int, j: int, k: int) -> float:
    """Return twice the area of the triangle of rows i, j and k, which is lost if row j is removed."""
    return float(abs((p[j, 0] - p[i, 0]) * (p[k, 1] - p[i, 1]) - (p[j, 1] - p[i, 1]) * (p[k, 0] - p[i, 0])))


@kernel
def twice_area(p: Array, n: int) -> float:
    """Return twice the area of a polygon of n rows."""
    total = 0.0
    for i in range(1, n - 1):
        total += _worth(p, 0, i, i + 1)
    return total


@kernel
def thin(p: Array, n: int, most: int) -> int:
    """Remove rows until at most ``most`` >= 3 remain; return their number. Each removed row costs the least area.

    Visvalingam, Whyatt: Line generalisation by repeated elimination of points, 1993.
    """
    tie = _TIE * twice_area(p, n)
    while n > most:
        best, least = -1, 0.0
        for i in range(n):
            loss = _worth(p, i - 1 if i > 0 else n - 1, i, i + 1 if i < n - 1 else 0)
            if best < 0 or loss < least - tie:
                best, least = i, loss
        n = _drop(p, n, best)
    return n


@kernel
def nearest_row(p: Array, n: int, x: float, y: float) -> int:
    """Return the index of the row nearest to the point (x, y)."""
    best, least = 0, 0.0
    for i in range(n):
        square = (p[i, 0] - x) * (p[i, 0] - x) + (p[i, 1] - y) * (p[i, 1] - y)
        if i == 0 or square < least:
            best, least = i, square
    return best


@kernel
def farthest_row(p: Array, n: int, x: float, y: float) -> int:
    """Return the index of the row farthest from the point (x, y), the first one if rows are equally far to rounding."""
    best, most = 0, 0.0
    for i in range(n):
        square = (p[i, 0] - x) * (p[i, 0] - x) + (p[i, 1] - y) * (p[i, 1] - y)
        if square > most * (1.0 + _TIE):
            best, most = i, square
    return best
