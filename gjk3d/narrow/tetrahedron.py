"""What EPA begins with: a tetrahedron of support points far apart."""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.geometry.simplex import blend
from gjk3d.geometry.vec3 import Vec3, cross, dot, neg, perpendicular, row3, sub, triangle_normal, unit
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.gjk import first_four, set_row
from gjk3d.narrow.room import VERTEX_ROW
from gjk3d.typing import Array

#: of its longest edge: a tetrahedron is a sliver where it is lower, or its base narrower
_SLIVER = 1e-3
_DIAGONAL, _SIXTH = 0.7071067811865476, 0.8660254037844386
#: directions of the plane, an eighth of a turn apart
EIGHT = (
    (1.0, 0.0), (_DIAGONAL, _DIAGONAL), (0.0, 1.0), (-_DIAGONAL, _DIAGONAL),
    (-1.0, 0.0), (-_DIAGONAL, -_DIAGONAL), (0.0, -1.0), (_DIAGONAL, -_DIAGONAL),
)  # fmt: skip


@kernel
def farthest_apart(v: Array, count: int) -> tuple[int, int, float]:
    """Return which two of the first vertices are farthest apart, and the square of how far."""
    i0, i1, far = 0, 0, 0.0
    for i in range(count):
        for j in range(i + 1, count):
            e = sub(row3(v, i), row3(v, j))
            if dot(e, e) > far:
                far = dot(e, e)
                i0, i1 = i, j
    return i0, i1, far


@kernel
def first_tetrahedron(c: Cores, v: Array) -> tuple[int, float, Vec3, Vec3]:
    """Fill v[:4] with far-apart support points: of six directions, of eight round their line, of two off their plane.

    Return the dimension found, the least h(n) seen, its n, and a normal of a flat difference.
    """
    least = inf
    best = (1.0, 0.0, 0.0)
    for k in range(6):
        s = 1.0 if k < 3 else -1.0
        d = (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)
        w, a, b = support_pair(c, d)
        set_row(v, k, w, a, b)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    i0, i1, far = farthest_apart(v, 6)
    if not sqrt(far) > c.tiny:
        return 0, least, best, best
    for j in range(VERTEX_ROW):
        v[6, j] = v[i0, j]
        v[1, j] = v[i1, j]
        v[0, j] = v[6, j]
    p0, p1, _, _ = first_four(v)
    line = unit(sub(p1, p0))
    u1 = perpendicular(line)
    u2 = cross(line, u1)
    far, slot = 0.0, plain(2)
    for k in range(8):
        x, y = EIGHT[k]
        d = (x * u1[0] + y * u2[0], x * u1[1] + y * u2[1], x * u1[2] + y * u2[2])
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        e = cross(line, sub(w, p0))
        if dot(e, e) > far:
            far = dot(e, e)
            set_row(v, slot, w, a, b)
    if not sqrt(far) > c.tiny:
        return 1, least, best, u1
    p0, p1, p2, _ = first_four(v)
    n = unit(triangle_normal(p0, p1, p2))
    far = 0.0
    for k in range(2):
        d = n if k == 0 else neg(n)
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        height = abs(dot(n, sub(w, p0)))
        if height > far:
            far = height
            set_row(v, slot + 1, w, a, b)
    return 3 if far > c.tiny else 2, least, best, n


@kernel
def tetrahedron_round(c: Cores, n: Vec3, v: Array) -> tuple[float, Vec3]:
    """Fill v[:4] with support points of three directions an eighth of a turn off n, and of the one behind.

    Return the least h(n) seen, and its n.
    """
    u1 = perpendicular(n)
    u2 = cross(n, u1)
    least, best = inf, n
    for k in range(4):
        x, y, z = ((1.0, 0.0, 1.0), (-0.5, _SIXTH, 1.0), (-0.5, -_SIXTH, 1.0), (0.0, 0.0, -1.0))[k]
        d = unit(blend(x, u1, y, u2, z, n))
        w, a, b = support_pair(c, d)
        set_row(v, k, w, a, b)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    return least, best


@kernel
def is_sliver(v: Array, tiny: float) -> bool:
    """Tell whether the first four vertices are too flat a tetrahedron to begin with."""
    p0, p1, p2, p3 = first_four(v)
    n = triangle_normal(p0, p1, p2)
    height = abs(dot(unit(n), sub(p3, p0)))
    longest = sqrt(max(dot(sub(p0, p1), sub(p0, p1)), dot(sub(p0, p2), sub(p0, p2)), dot(sub(p1, p2), sub(p1, p2))))
    wide = sqrt(dot(n, n)) > _SLIVER * longest * longest
    return not (height > _SLIVER * longest and wide and height > tiny)
