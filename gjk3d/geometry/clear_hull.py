"""Hulls of points without ambiguity: three-dimensional, fat, of distinct points, each clearly a corner or inside.

For these hulls the repairs of `gjk3d.geometry.hulls` change nothing, and one pass over the facets of Qhull and the
points proves this: the vertices and faces are the same, without a defect. If a decision could change by rounding, this
module returns only the result of Qhull, so that it is not computed again.

A point is inside if it is in a ball that is below all planes, or clearly below the facet that is hit by the ray from
the centre through the point. Facets that are convex at each edge and closed form a convex surface, so such a point is
below all other planes too.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import compiled, inlined, kernel, plain, single_entry
from gjk3d.geometry.hull_facets import wide_planes
from gjk3d.typing import Array, Array1, Array2, Bools, Bools1, Ints, Ints1, Ints2

_FEW = 1024  #: points up to which all pairs are compared
_MOST_INTERPRETED = 256
_SAMPLED = 256  #: points that show whether many are thin, before Qhull runs
_LEAST, _GREATEST = 1e-100, 1e100  #: sizes whose squares and cubes neither overflow nor vanish
_FAT = 0.02  #: 20 times that of `hulls`, which leaves a margin for other axes of the same points
_STRAIGHT = 1e-6  #: least extent along an axis by the greatest
_HALF = 0.7071067811865476  #: mantissa at which the rounded logarithm changes
_SLIVER = 1e-12  #: sine of a triangle's corner below which its winding is in doubt
_ROUNDING = 1e-14  #: of heights in a box of unit size; five times the greatest tolerance of `hull_facets`, and more
_BENT = 1e-12  #: height of a corner over the plane of a neighbour, up to which an edge is convex
_GRID = 12  #: cells of directions along a side of a cube
_CELLS = 6 * _GRID * _GRID
_SCANS = 64  #: greatest number of points near the surface that are compared with all planes


class ClearHull(NamedTuple):
    """The data of a hull: indices of vertices, triangles of these, and the input of `LateMeasures`.

    This input consists of the vertices divided by a power of two, its exponent, and Qhull's planes in coordinates that
    are multiplied by ``scales``.
    """

    indices: Ints
    faces: Ints
    local: Array
    exponent: int
    equations: Array
    scales: Array


def clear_hull(points: Array) -> tuple[ClearHull | None, Any]:
    """Return the hull of points (n, 3), None if it is ambiguous, and Qhull's result, None if Qhull did not run."""
    n = len(points)
    if n < 4 or (n > _MOST_INTERPRETED and not compiled()):
        return None, None
    mapped, scales = np.empty((n, 3)), np.empty(3)
    clear, exponent = prepare(points, mapped, scales)
    if not clear:
        return None, None
    from scipy.spatial import ConvexHull, QhullError

    if wide_planes(mapped, np.eye(3)):  # these faces are never clear
        return None, None
    try:
        hull = ConvexHull(mapped, qhull_options="Qt")
    except (QhullError, ValueError):
        return None, None
    equations, simplices = hull.equations, hull.simplices.astype(np.int64)
    most = len(simplices) // 2 + 2
    indices, faces = np.empty(most, dtype=np.int64), np.empty_like(simplices)
    facets = Facets(equations, simplices, hull.neighbors.astype(np.int64))
    scratch = np.empty((len(simplices), 4)), np.empty((most, 3)), np.zeros(n, dtype=np.bool_), np.empty(n, np.int64)
    count = judge(mapped, scales, facets, *scratch, indices, faces)
    if not count:
        return None, hull
    indices = indices[:count]
    return ClearHull(indices, faces, mapped[indices] / scales, exponent, equations, scales), hull


@inlined
def _power_above(x: float) -> tuple[float, int]:
    """Return the least power of two above a number, and its exponent, as frexp does."""
    power, exponent = 1.0, 0
    while power <= x:
        power *= 2.0
        exponent += 1
    while 0.5 * power > x:
        power *= 0.5
        exponent -= 1
    return power, exponent


@single_entry
def prepare(points: Array2, mapped: Array2, scales: Array1) -> tuple[bool, int]:
    """Write points, recentred and scaled as in `hulls` and mapped to about unit extents, to ``mapped``.

    Returns whether the points are unambiguous so far, and the exponent of the scale. ``scales`` gets the factors of the
    axes in ``mapped``.
    """
    n = points.shape[0]
    x0, y0, z0, x1, y1, z1 = inf, inf, inf, -inf, -inf, -inf
    for i in range(n):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
        x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    largest = max(max(abs(x0), abs(x1)), max(abs(y0), abs(y1)), max(abs(z0), abs(z1)))
    if not _LEAST < largest < _GREATEST:
        return False, 0
    top, exponent = _power_above(largest)
    # all steps are monotone, so the extents of the mapped points follow from those of the given ones
    shrink = 1.0 / top
    lows, highs = (x0 * shrink, y0 * shrink, z0 * shrink), (x1 * shrink, y1 * shrink, z1 * shrink)
    middles = (0.5 * (lows[0] + highs[0]), 0.5 * (lows[1] + highs[1]), 0.5 * (lows[2] + highs[2]))
    extents = (highs[0] - lows[0], highs[1] - lows[1], highs[2] - lows[2])
    extent = max(extents[0], extents[1], extents[2])
    if not extent * largest / top > _LEAST or min(extents[0], extents[1], extents[2]) < _STRAIGHT * extent:
        return False, 0
    size, more = _power_above(extent)
    for j in range(3):
        width = (highs[j] - middles[j]) / size - (lows[j] - middles[j]) / size
        power, _ = _power_above(width)
        if abs(width / power - _HALF) < 1e-9:
            return False, 0
        scales[j] = 1.0 / power if width / power > _HALF else 2.0 / power
    a, b, c = scales[0] / size, scales[1] / size, scales[2] / size
    for i in range(n):
        mapped[i, 0] = (points[i, 0] * shrink - middles[0]) * a + 0.0  # no negative zero
        mapped[i, 1] = (points[i, 1] * shrink - middles[1]) * b + 0.0
        mapped[i, 2] = (points[i, 2] * shrink - middles[2]) * c + 0.0
    if n > _FEW:
        return _extremes_are_single(mapped, n) and _is_fat(mapped, n, n // _SAMPLED), exponent + more
    return _are_distinct(mapped, n) and _is_fat(mapped, n, plain(1)), exponent + more


@kernel
def _are_distinct(points: Array, n: int) -> bool:
    for i in range(n):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for j in range(i):
            if points[j, 0] == x and points[j, 1] == y and points[j, 2] == z:
                return False
    return True


@kernel
def _extremes_are_single(points: Array, n: int) -> bool:
    """Return whether the lowest point along each axis occurs only once.

    This detects the repeated points of files such as STL.
    """
    a, b, c = 0, 0, 0
    for i in range(1, n):
        a = i if points[i, 0] < points[a, 0] else a
        b = i if points[i, 1] < points[b, 1] else b
        c = i if points[i, 2] < points[c, 2] else c
    for k in (a, b, c):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        for i in range(k + 1, n):
            if points[i, 0] == x and points[i, 1] == y and points[i, 2] == z:
                return False
    return True


@kernel
def _farthest_from(points: Array, n: int, step: int, i: int) -> int:
    ox, oy, oz = points[i, 0], points[i, 1], points[i, 2]
    best, most = i, 0.0
    for j in range(0, n, step):
        x, y, z = points[j, 0] - ox, points[j, 1] - oy, points[j, 2] - oz
        square = x * x + y * y + z * z
        if square > most:
            best, most = j, square
    return best


@kernel
def _is_fat(points: Array, n: int, step: int) -> bool:
    """Return whether every step-th point is far from coplanar, along the greedy axes of `hulls`."""
    i = _farthest_from(points, n, step, plain(0))
    j = _farthest_from(points, n, step, i)
    ox, oy, oz = points[i, 0], points[i, 1], points[i, 2]
    x, y, z = points[j, 0] - ox, points[j, 1] - oy, points[j, 2] - oz
    square = x * x + y * y + z * z
    if not square > 0.0:
        return False
    nx, ny, nz, most = 0.0, 0.0, 0.0, 0.0
    for k in range(0, n, step):
        a, b, c = points[k, 0] - ox, points[k, 1] - oy, points[k, 2] - oz
        u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
        area = u * u + v * v + w * w
        if area > most:
            nx, ny, nz, most = u, v, w, area
    if not most > (_FAT * square) ** 2:
        return False
    low, high = 0.0, 0.0
    for k in range(0, n, step):
        height = (points[k, 0] - ox) * nx + (points[k, 1] - oy) * ny + (points[k, 2] - oz) * nz
        low, high = min(low, height), max(high, height)
    return high - low > _FAT * sqrt(square * most)


class Facets(NamedTuple):
    """Qhull's facets: plane equations, corner indices, and the neighbour opposite to each corner."""

    equations: Array2
    simplices: Ints2
    neighbors: Ints2


@single_entry
def judge(
    mapped: Array2, scales: Array1, facets: Facets, planes: Array2, normals: Array2, is_corner: Bools1, rank: Ints1,
    indices: Ints1, faces: Ints2,
) -> int:  # fmt: skip
    """Wind the facets of Qhull outward, and write vertices and faces. Return the number of vertices, 0 if ambiguous.

    ``planes`` to ``rank`` are scratch: the normals of facets with the height of their lowest corner, the normals of
    corners in the coordinates before the map, which points are corners, and the number of each corner.
    """
    equations, simplices, neighbors = facets
    m = simplices.shape[0]
    for k in range(m):
        for j in range(3):
            is_corner[simplices[k, j]] = True
    count = 0
    for i in range(mapped.shape[0]):
        if is_corner[i]:
            if count == indices.shape[0]:
                return 0
            indices[count], rank[i] = i, count
            normals[count, 0], normals[count, 1], normals[count, 2] = 0.0, 0.0, 0.0
            count += 1
    # Euler: a closed surface of triangles like a sphere has 2 v - 4 faces; else a facet is missing or doubled
    if m != 2 * count - 4 or not (_wind(mapped, equations, simplices, neighbors) and _is_convex(
        mapped, equations, simplices, neighbors
    )):  # fmt: skip
        return 0
    a, b, c = 1.0 / scales[0], 1.0 / scales[1], 1.0 / scales[2]
    for k in range(m):
        x, y, z = equations[k, 0] * scales[0], equations[k, 1] * scales[1], equations[k, 2] * scales[2]
        length = sqrt(x * x + y * y + z * z)
        if not 0.0 < length < inf:
            return 0
        x, y, z = x / length, y / length, z / length
        planes[k, 0], planes[k, 1], planes[k, 2], planes[k, 3] = x, y, z, inf
        for j in range(3):
            i = simplices[k, j]
            height = mapped[i, 0] * a * x + mapped[i, 1] * b * y + mapped[i, 2] * c * z
            planes[k, 3] = min(planes[k, 3], height)
            faces[k, j] = rank[i]
            normals[rank[i], 0] += x
            normals[rank[i], 1] += y
            normals[rank[i], 2] += z
    if not _stand_out(mapped, scales, simplices, faces, normals):
        return 0
    if count < mapped.shape[0] and not _are_inside(
        mapped, scales, equations, simplices, neighbors, planes, is_corner, indices[:count], rank
    ):
        return 0
    return count


@kernel
def _wind(mapped: Array, equations: Array, simplices: Ints, neighbors: Ints) -> bool:
    """Wind facets outward; return whether the winding is unambiguous."""
    for k in range(simplices.shape[0]):
        a, b, c = simplices[k, 0], simplices[k, 1], simplices[k, 2]
        ux, uy, uz = mapped[b, 0] - mapped[a, 0], mapped[b, 1] - mapped[a, 1], mapped[b, 2] - mapped[a, 2]
        vx, vy, vz = mapped[c, 0] - mapped[a, 0], mapped[c, 1] - mapped[a, 1], mapped[c, 2] - mapped[a, 2]
        side = (uy * vz - uz * vy) * equations[k, 0] + (uz * vx - ux * vz) * equations[k, 1]
        side += (ux * vy - uy * vx) * equations[k, 2]
        if not side * side > _SLIVER**2 * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
            return False
        if side < 0.0:
            simplices[k, 1], simplices[k, 2] = c, b
            neighbors[k, 1], neighbors[k, 2] = neighbors[k, 2], neighbors[k, 1]
    return True


@kernel
def _over(equations: Array, k: int, mapped: Array, i: int) -> float:
    """Return the signed distance of point i from Qhull's plane k, positive outside."""
    height = equations[k, 0] * mapped[i, 0] + equations[k, 1] * mapped[i, 1] + equations[k, 2] * mapped[i, 2]
    return float(height + equations[k, 3])


@kernel
def _is_convex(mapped: Array, equations: Array, simplices: Ints, neighbors: Ints) -> bool:
    """Return whether each edge has one facet on each side, in opposite directions, and is convex up to rounding."""
    for k in range(simplices.shape[0]):
        for j in range(3):
            other = neighbors[k, j]  # at the edge opposite of corner j
            if other < 0:
                return False
            start, end, tip = simplices[k, (j + 1) % 3], simplices[k, (j + 2) % 3], -1
            for i in range(3):
                if (
                    neighbors[other, i] == k
                    and simplices[other, (i + 1) % 3] == end
                    and simplices[other, (i + 2) % 3] == start
                ):
                    tip = simplices[other, i]
            if tip < 0 or _over(equations, k, mapped, tip) > _BENT:
                return False
            if _over(equations, k, mapped, simplices[k, j]) < -_BENT:
                return False
    return True


@kernel
def _stand_out(mapped: Array, scales: Array, simplices: Ints, faces: Ints, normals: Array) -> bool:
    """Return whether every corner is clearly higher than its neighbours along the mean normal of its facets."""
    a, b, c = 1.0 / scales[0], 1.0 / scales[1], 1.0 / scales[2]
    for k in range(simplices.shape[0]):
        for j in range(3):
            i, h = simplices[k, j], simplices[k, (j + 1) % 3]
            x, y, z = normals[faces[k, j], 0], normals[faces[k, j], 1], normals[faces[k, j], 2]
            lift = (mapped[i, 0] - mapped[h, 0]) * a * x + (mapped[i, 1] - mapped[h, 1]) * b * y
            lift += (mapped[i, 2] - mapped[h, 2]) * c * z
            if not lift > _ROUNDING * sqrt(x * x + y * y + z * z):
                return False
    return True


@kernel
def _are_inside(
    mapped: Array, scales: Array, equations: Array, simplices: Ints, neighbors: Ints, planes: Array, is_corner: Bools,
    corners: Ints, last: Ints,
) -> bool:  # fmt: skip
    """Return whether all points except the corners are clearly below all planes.

    ``last`` is scratch of any length. It stores the last facet for some directions, where the search for a similar
    direction starts.
    """
    n, m = mapped.shape[0], simplices.shape[0]
    x, y, z = 0.0, 0.0, 0.0
    for i in corners:
        x, y, z = x + mapped[i, 0], y + mapped[i, 1], z + mapped[i, 2]
    center = (x / len(corners), y / len(corners), z / len(corners))
    reach, ball = 0.0, inf
    for i in corners:
        x, y, z = mapped[i, 0] - center[0], mapped[i, 1] - center[1], mapped[i, 2] - center[2]
        reach = max(reach, x * x + y * y + z * z)
    for k in range(m):
        height = equations[k, 0] * center[0] + equations[k, 1] * center[1] + equations[k, 2] * center[2]
        ball = min(ball, -height - equations[k, 3])
    if not ball > 0.0:
        return False
    # a point that is lower by this under one facet is clearly under all planes, also in the given axes
    low = (3.0 * _ROUNDING * max(scales[0], scales[1], scales[2]) + 2.0 * _BENT) * sqrt(reach) / ball
    if not ball > low:
        return False
    inner = (ball - low) ** 2
    scans, cells = 0, min(len(last), _CELLS)
    for k in range(cells):
        last[k] = 0
    for i in range(n):
        x, y, z = mapped[i, 0] - center[0], mapped[i, 1] - center[1], mapped[i, 2] - center[2]
        if x * x + y * y + z * z < inner or is_corner[i]:
            continue
        cell = _cell(x, y, z) % cells
        facet = _left_by(mapped, simplices, neighbors, center, (x, y, z), last[cell])
        last[cell] = max(facet, 0)
        if facet >= 0 and _over(equations, facet, mapped, i) < -low:
            continue
        scans += 1
        if scans > _SCANS or not _is_below(mapped, scales, planes, i):
            return False
    return True


@kernel
def _cell(x: float, y: float, z: float) -> int:
    """Return the index of the grid cell in which a direction crosses the surface of a cube."""
    u, v, w, side = abs(x), y, z, 0 if x > 0.0 else 1
    if abs(y) > u:
        u, v, w, side = abs(y), z, x, 2 if y > 0.0 else 3
    if abs(z) > u:
        u, v, w, side = abs(z), x, y, 4 if z > 0.0 else 5
    f = 0.5 * _GRID * (1.0 - 1e-9) / u
    return int((side * _GRID + int((v + u) * f)) * _GRID + int((w + u) * f))


@kernel
def _left_by(
    mapped: Array, simplices: Ints, neighbors: Ints, center: tuple[float, float, float],
    ray: tuple[float, float, float], start: int,
) -> int:  # fmt: skip
    """Return the facet that a ray from the centre hits, or -1; the search starts at a facet and crosses its edges."""
    k = start
    for _ in range(simplices.shape[0]):
        out = -1
        for j in range(3):
            a, b = simplices[k, (j + 1) % 3], simplices[k, (j + 2) % 3]
            ax, ay, az = mapped[a, 0] - center[0], mapped[a, 1] - center[1], mapped[a, 2] - center[2]
            bx, by, bz = mapped[b, 0] - center[0], mapped[b, 1] - center[1], mapped[b, 2] - center[2]
            side = (ay * bz - az * by) * ray[0] + (az * bx - ax * bz) * ray[1] + (ax * by - ay * bx) * ray[2]
            if side < 0.0:
                out = j
                break
        if out < 0:
            return k
        k = neighbors[k, out]
    return -1


@kernel
def _is_below(mapped: Array, scales: Array, planes: Array, i: int) -> bool:
    x, y, z = mapped[i, 0] / scales[0], mapped[i, 1] / scales[1], mapped[i, 2] / scales[2]
    for k in range(planes.shape[0]):
        height = planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z - planes[k, 3]
        if not height < -2.0 * _ROUNDING:
            return False
    return True
