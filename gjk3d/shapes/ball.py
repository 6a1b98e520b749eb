"""The smallest ball round points."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry.vec3 import Vec3, along, dot
from gjk3d.shapes.unit import about_unit_size
from gjk3d.typing import Array, Array1, Ints, Ints1

_MEMBERS = 5  #: that carry a ball, and one more
_NO_PLANE = 1e-14  #: part of an edge that is new to the others, below which it is of their span
# A center from a smaller part costs nothing but time, as the radius about it is measured; a part of 0 has no center.


def minimal_ball(points: Array) -> tuple[Array, float]:
    """Find the smallest ball that holds all points.

    Parameters
    ----------
    points : (n, 3) float
        Finite; n >= 1, in any position.

    Returns
    -------
    center : (3,) float
        Centre.
    radius : float
        Least radius to about 1e-15, rounded up so that the ball holds all points.

    Notes
    -----
    Pivoting as in Gaertner, Fast and robust smallest enclosing balls, ESA 1999: the farthest point joins the few that
    carry the ball, and the smallest ball of these is found by trying all their subsets.
    """
    local, origin, exponent = about_unit_size(points)
    center = np.zeros(3)
    pivot(local.reshape(-1), center, np.empty(_MEMBERS, dtype=np.int64))
    found = origin + np.ldexp(center, exponent)
    offsets = np.ldexp(points, -exponent) - np.ldexp(found, -exponent)  # from the centre as it is after rounding
    radius = float(np.sqrt((offsets**2).sum(axis=1).max()))
    return found, float(np.ldexp(radius * (1.0 + 1e-15), exponent))


@single_entry
def pivot(points: Array1, center: Array1, carriers: Ints1) -> None:
    """Move the centre, 0 to begin with, to that of the smallest ball round points (3n); carriers are room."""
    count, reached, best = 0, -1.0, inf
    at = (0.0, 0.0, 0.0)
    for _ in range(20 + 4 * (len(points) // 3)):
        far, square = 0, -1.0
        for i in range(len(points) // 3):
            x, y, z = points[3 * i] - at[0], points[3 * i + 1] - at[1], points[3 * i + 2] - at[2]
            distance = x * x + y * y + z * z
            if distance > square:
                far, square = i, distance
        if square < best:
            best = square
            center[0], center[1], center[2] = at
        known = False
        for k in range(count):
            known = known or carriers[k] == far
        if known or best <= reached:  # nothing is outside, or only by rounding
            break
        carriers[count] = far
        count, at, radius = _carried(points, carriers, count + 1)
        if radius <= reached:
            break
        reached = radius


@kernel
def _carried(points: Array, carriers: Ints, count: int) -> tuple[int, Vec3, float]:
    """Return the centre and squared radius of the smallest ball of at most five points; its carriers come first."""
    best, center, chosen = inf, (0.0, 0.0, 0.0), 1
    for size in range(1, 5):
        for subset in range(1, 1 << count):
            if _bits(subset) == size:
                good, middle = _circumcenter(points, carriers, subset)
                if good:
                    reach = 0.0
                    for k in range(count):
                        i = 3 * carriers[k]
                        x, y, z = points[i] - middle[0], points[i + 1] - middle[1], points[i + 2] - middle[2]
                        reach = max(reach, x * x + y * y + z * z)
                    if reach < best:
                        best, center, chosen = reach, middle, subset
    kept = 0
    for k in range(count):
        if chosen >> k & 1:
            carriers[kept] = carriers[k]
            kept += 1
    return kept, center, best


@kernel
def _bits(subset: int) -> int:
    count = 0
    while subset > 0:
        count += subset & 1
        subset >>= 1
    return count


@kernel
def _circumcenter(points: Array, members: Ints, subset: int) -> tuple[bool, Vec3]:
    """Return whether there is a point of their span at equal distance from a subset of points, and where.

    Each edge from the first of them moves it along what of the edge is at right angles to those before.
    """
    first, directions = -1, 0
    middle = corner = one = two = (0.0, 0.0, 0.0)
    for k in range(_MEMBERS):
        if subset >> k & 1:
            i = 3 * members[k]
            if first < 0:
                first = i
                corner = (points[i], points[i + 1], points[i + 2])
                continue
            edge = (points[i] - corner[0], points[i + 1] - corner[1], points[i + 2] - corner[2])
            new = edge
            for _ in range(2):  # the second time takes away what rounding left
                new = along(new, one, -dot(new, one))
                new = along(new, two, -dot(new, two))
            length = sqrt(dot(new, new))
            if not length > _NO_PLANE * sqrt(dot(edge, edge)):
                return False, middle
            new = (new[0] / length, new[1] / length, new[2] / length)
            middle = along(middle, new, (0.5 * dot(edge, edge) - dot(edge, middle)) / dot(edge, new))
            directions += 1
            if directions == 1:
                one = new
            else:
                two = new
    return True, (corner[0] + middle[0], corner[1] + middle[1], corner[2] + middle[2])
