"""Hulls of few points without ambiguity: three-dimensional, fat, of distinct points, each clearly a corner or inside.

For these hulls the repairs of `gjk3d.geometry.hulls` change nothing, and one pass over the facets of Qhull proves that:
the vertices and faces are the same, without a defect. If any decision is within rounding of another one, this module
returns only the result of Qhull, so that it is not computed again.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import compiled, inlined, kernel, plain, single_entry
from gjk3d.typing import Array, Array1, Bools2, Ints, Ints1

#: greatest numbers of points, since time and memory grow with their square
_MOST, _MOST_INTERPRETED = 1024, 256
_LEAST, _GREATEST = 1e-100, 1e100  #: sizes whose squares and cubes neither overflow nor vanish
_FAT = 0.02  #: 20 times that of `hulls`, which leaves a margin for other axes of the same points
_STRAIGHT = 1e-6  #: least extent along an axis by the greatest
_HALF = 0.7071067811865476  #: mantissa at which the rounded logarithm changes
_SLIVER = 1e-12  #: sine of a triangle's corner below which its winding is in doubt
_ROUNDING = 1e-14  #: of heights in a box of unit size; five times the greatest tolerance of `hull_facets`, and more


class ClearHull(NamedTuple):
    """The data of a hull: indices of vertices, triangles of these, and the input of `LateMeasures`.

    This input consists of the points in the scale of an exponent, the triangles by point, and Qhull's planes in
    coordinates that are multiplied by ``scales``.
    """

    indices: Ints
    faces: Ints
    local: Array
    exponent: int
    simplices: Ints
    equations: Array
    scales: Array


def most() -> int:
    """Return the greatest number of points that this module handles."""
    return _MOST if compiled() else _MOST_INTERPRETED


def clear_hull(points: Array) -> tuple[ClearHull | None, Any]:
    """Return the hull of points (n, 3), None if it is ambiguous, and that of Qhull, None if it did not run."""
    n = len(points)
    if not 4 <= n <= most():
        return None, None
    local, mapped, scales = np.empty((n, 3)), np.empty((n, 3)), np.empty(3)
    clear, exponent = prepare(points.ravel(), local.reshape(-1), mapped.reshape(-1), scales)
    if not clear:
        return None, None
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(mapped, qhull_options="Qt")
    except (QhullError, ValueError):
        return None, None
    equations, simplices = hull.equations, hull.simplices.astype(np.int64)
    indices, faces = np.empty(n, dtype=np.int64), np.empty_like(simplices)
    count = judge(
        local.reshape(-1), mapped.reshape(-1), scales, equations.reshape(-1), simplices.reshape(-1),
        np.empty(4 * n + 4 * len(simplices)), np.zeros((1, n * n), dtype=np.bool_), indices, faces.reshape(-1),
    )  # fmt: skip
    result = ClearHull(indices[:count], faces, local, exponent, simplices, equations, scales) if count else None
    return result, hull


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
def prepare(points: Array1, local: Array1, mapped: Array1, scales: Array1) -> tuple[bool, int]:
    """Recentre and scale points as `hulls` does, and map them to about unit extents.

    Returns whether the points are unambiguous so far, and the exponent of the scale. ``scales`` are the factors of the
    axes in ``mapped``.
    """
    n = len(points) // 3
    largest = 0.0
    for i in range(3 * n):
        largest = max(largest, abs(points[i]))
    if not _LEAST < largest < _GREATEST:
        return False, 0
    top, exponent = _power_above(largest)
    extent = 0.0
    for j in range(3):
        low, high = inf, -inf
        for i in range(n):
            x = points[3 * i + j] / top
            low, high = min(low, x), max(high, x)
            local[3 * i + j] = x
        for i in range(n):
            local[3 * i + j] -= 0.5 * (low + high)
        scales[j] = high - low
        extent = max(extent, high - low)
    if not extent * largest / top > _LEAST or min(scales[0], scales[1], scales[2]) < _STRAIGHT * extent:
        return False, 0
    size, more = _power_above(extent)
    for i in range(3 * n):
        local[i] /= size
    for j in range(3):
        low, high = inf, -inf
        for i in range(n):
            low, high = min(low, local[3 * i + j]), max(high, local[3 * i + j])
        power, _ = _power_above(high - low)
        mantissa = (high - low) / power
        if abs(mantissa - _HALF) < 1e-9:
            return False, 0
        scales[j] = 1.0 / power if mantissa > _HALF else 2.0 / power
        for i in range(n):
            mapped[3 * i + j] = local[3 * i + j] * scales[j] + 0.0  # no negative zero
    return _are_distinct(points, n) and _is_fat(mapped, n), exponent + more


@kernel
def _are_distinct(points: Array, n: int) -> bool:
    for i in range(n):
        x, y, z = points[3 * i], points[3 * i + 1], points[3 * i + 2]
        for j in range(i):
            if points[3 * j] == x and points[3 * j + 1] == y and points[3 * j + 2] == z:
                return False
    return True


@kernel
def _farthest_from(points: Array, n: int, i: int) -> int:
    ox, oy, oz = points[3 * i], points[3 * i + 1], points[3 * i + 2]
    best, most = i, 0.0
    for j in range(n):
        x, y, z = points[3 * j] - ox, points[3 * j + 1] - oy, points[3 * j + 2] - oz
        square = x * x + y * y + z * z
        if square > most:
            best, most = j, square
    return best


@kernel
def _is_fat(points: Array, n: int) -> bool:
    """Return whether points are far from coplanar, along the greedy axes of `hulls`."""
    i = _farthest_from(points, n, plain(0))
    j = _farthest_from(points, n, i)
    ox, oy, oz = points[3 * i], points[3 * i + 1], points[3 * i + 2]
    x, y, z = points[3 * j] - ox, points[3 * j + 1] - oy, points[3 * j + 2] - oz
    square = x * x + y * y + z * z
    if not square > 0.0:
        return False
    nx, ny, nz, most = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        a, b, c = points[3 * k] - ox, points[3 * k + 1] - oy, points[3 * k + 2] - oz
        u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
        area = u * u + v * v + w * w
        if area > most:
            nx, ny, nz, most = u, v, w, area
    if not most > (_FAT * square) ** 2:
        return False
    low, high = 0.0, 0.0
    for k in range(n):
        height = (points[3 * k] - ox) * nx + (points[3 * k + 1] - oy) * ny + (points[3 * k + 2] - oz) * nz
        low, high = min(low, height), max(high, height)
    return high - low > _FAT * sqrt(square * most)


@single_entry
def judge(
    local: Array1, mapped: Array1, scales: Array1, equations: Array1, simplices: Ints1, room: Array1, directed: Bools2,
    indices: Ints1, faces: Ints1,
) -> int:  # fmt: skip
    """Wind the facets of Qhull outward, and write the vertices and faces. Return their number, 0 if ambiguous.

    ``room`` is scratch for the normals of facets with the height of their lowest corner, and for normals of corners.
    """
    n, m = len(local) // 3, len(simplices) // 3
    planes, corners = room[: 4 * m], room[4 * m :]
    for i in range(4 * n):
        corners[i] = 0.0
    if not _wind(mapped, equations, simplices, directed[0], n):
        return 0
    for k in range(m):
        x, y, z = equations[4 * k] * scales[0], equations[4 * k + 1] * scales[1], equations[4 * k + 2] * scales[2]
        length = sqrt(x * x + y * y + z * z)
        if not 0.0 < length < inf:
            return 0
        x, y, z = x / length, y / length, z / length
        planes[4 * k], planes[4 * k + 1], planes[4 * k + 2], planes[4 * k + 3] = x, y, z, inf
        for j in range(3):
            i = simplices[3 * k + j]
            height = local[3 * i] * x + local[3 * i + 1] * y + local[3 * i + 2] * z
            planes[4 * k + 3] = min(planes[4 * k + 3], height)
            corners[4 * i] += x
            corners[4 * i + 1] += y
            corners[4 * i + 2] += z
            corners[4 * i + 3] += 1.0
    if not (_stand_out(local, simplices, corners) and _are_inside(local, planes, corners)):
        return 0
    count = 0
    for i in range(n):
        if corners[4 * i + 3] > 0.0:
            indices[count] = i
            corners[4 * i] = count
            count += 1
    for k in range(3 * m):
        faces[k] = int(corners[4 * simplices[k]])
    # Euler: a closed surface of triangles like a sphere has 2 v - 4 faces; else a facet is missing or doubled
    return count if m == 2 * count - 4 else 0


@kernel
def _wind(mapped: Array, equations: Array, simplices: Ints, directed: Array, n: int) -> bool:
    """Wind facets outward; return whether the winding is unambiguous and the surface closed."""
    m = len(simplices) // 3
    for k in range(m):
        a, b, c = 3 * simplices[3 * k], 3 * simplices[3 * k + 1], 3 * simplices[3 * k + 2]
        ux, uy, uz = mapped[b] - mapped[a], mapped[b + 1] - mapped[a + 1], mapped[b + 2] - mapped[a + 2]
        vx, vy, vz = mapped[c] - mapped[a], mapped[c + 1] - mapped[a + 1], mapped[c + 2] - mapped[a + 2]
        side = (uy * vz - uz * vy) * equations[4 * k] + (uz * vx - ux * vz) * equations[4 * k + 1]
        side += (ux * vy - uy * vx) * equations[4 * k + 2]
        if not side * side > _SLIVER**2 * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
            return False
        if side < 0.0:
            simplices[3 * k + 1], simplices[3 * k + 2] = c // 3, b // 3
    for k in range(m):
        for j in range(3):
            edge = simplices[3 * k + j] * n + simplices[3 * k + (j + 1) % 3]
            if directed[edge]:
                return False
            directed[edge] = True
    for k in range(m):
        for j in range(3):
            if not directed[simplices[3 * k + (j + 1) % 3] * n + simplices[3 * k + j]]:
                return False
    return True


@kernel
def _stand_out(local: Array, simplices: Ints, corners: Array) -> bool:
    """Return whether every corner is clearly higher than its neighbours along the mean normal of its facets."""
    for k in range(len(simplices) // 3):
        for j in range(3):
            i, h = simplices[3 * k + j], simplices[3 * k + (j + 1) % 3]
            x, y, z = corners[4 * i], corners[4 * i + 1], corners[4 * i + 2]
            lift = (local[3 * i] - local[3 * h]) * x + (local[3 * i + 1] - local[3 * h + 1]) * y
            lift += (local[3 * i + 2] - local[3 * h + 2]) * z
            if not lift > _ROUNDING * sqrt(x * x + y * y + z * z):
                return False
    return True


@kernel
def _are_inside(local: Array, planes: Array, corners: Array) -> bool:
    """Return whether all other points are clearly below the lowest corners of all facets."""
    for i in range(len(local) // 3):
        if corners[4 * i + 3] == 0.0:
            x, y, z = local[3 * i], local[3 * i + 1], local[3 * i + 2]
            for k in range(len(planes) // 4):
                height = planes[4 * k] * x + planes[4 * k + 1] * y + planes[4 * k + 2] * z - planes[4 * k + 3]
                if not height < -2.0 * _ROUNDING:
                    return False
    return True
