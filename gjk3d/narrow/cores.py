"""The Minkowski difference A - B in A's frame: the relative pose, support points, and the rounding error of both.

Nobody builds the difference: two prisms of 6 and 8 vertices would have 48. Its support point along d is the one of A
along d less the one of B along -d, and that is all GJK and EPA ever ask.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, exact_product
from gjk3d.shapes import layout
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Ints

Rigid = tuple[float, float, float, float, float, float, float, float, float, float, float, float]
SupportPair = tuple[Vec3, Vec3, Vec3]

_RHO, _SLACK, _CENTER = layout.RHO, layout.SLACK, layout.CENTER
_ROUNDING = 64.0 * layout.UNIT_ROUNDOFF
_TWICE = 256.0 * layout.UNIT_ROUNDOFF**2


@kernel
def _add_exact(high: float, low: float, x: float) -> Vec3:
    """Add x to a sum carried as high + low (Knuth's TwoSum); the third slot is unused."""
    s = high + x
    t = s - high
    return (s, low + ((high - (s - t)) + (x - t)), 0.0)


@kernel
def _add_products(s: Vec3, a: float, x: float, b: float, y: float, c: float, z: float) -> Vec3:
    """Add a x + b y + c z to a sum carried as high + low."""
    p = exact_product(a, x)
    s = _add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(b, y)
    s = _add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(c, z)
    return _add_exact(s[0], s[1] + p[1], p[0])


@kernel
def _add_centers(pa: Array, i: int, fa: Array, oa: int, pb: Array, j: int, fb: Array, ob: int) -> Vec3:
    """Return (R_B c_B + t_B) - (R_A c_A + t_A), rounded once: far from the origin the terms cancel."""
    a0, a1, a2 = -fa[oa + _CENTER], -fa[oa + _CENTER + 1], -fa[oa + _CENTER + 2]
    b0, b1, b2 = fb[ob + _CENTER], fb[ob + _CENTER + 1], fb[ob + _CENTER + 2]
    s = _add_products(_add_exact(pb[j, 9], 0.0, -pa[i, 9]), pb[j, 0], b0, pb[j, 1], b1, pb[j, 2], b2)
    x = _add_products(s, pa[i, 0], a0, pa[i, 1], a1, pa[i, 2], a2)
    s = _add_products(_add_exact(pb[j, 10], 0.0, -pa[i, 10]), pb[j, 3], b0, pb[j, 4], b1, pb[j, 5], b2)
    y = _add_products(s, pa[i, 3], a0, pa[i, 4], a1, pa[i, 5], a2)
    s = _add_products(_add_exact(pb[j, 11], 0.0, -pa[i, 11]), pb[j, 6], b0, pb[j, 7], b1, pb[j, 8], b2)
    z = _add_products(s, pa[i, 6], a0, pa[i, 7], a1, pa[i, 8], a2)
    return (x[0] + x[1], y[0] + y[1], z[0] + z[1])


@kernel
def world_center(p: Array, i: int, f: Array, o: int) -> Vec3:
    """Return R c + t, rounded once."""
    c0, c1, c2 = f[o + _CENTER], f[o + _CENTER + 1], f[o + _CENTER + 2]
    if c0 == 0.0 and c1 == 0.0 and c2 == 0.0:
        return (p[i, 9], p[i, 10], p[i, 11])
    x = _add_products((p[i, 9], 0.0, 0.0), p[i, 0], c0, p[i, 1], c1, p[i, 2], c2)
    y = _add_products((p[i, 10], 0.0, 0.0), p[i, 3], c0, p[i, 4], c1, p[i, 5], c2)
    z = _add_products((p[i, 11], 0.0, 0.0), p[i, 6], c0, p[i, 7], c1, p[i, 8], c2)
    return (x[0] + x[1], y[0] + y[1], z[0] + z[1])


@kernel
def relative_pose(pa: Array, i: int, fa: Array, oa: int, pb: Array, j: int, fb: Array, ob: int) -> Rigid:
    """Return the pose of B's core in A's, both about their centres: a rotation by rows, then a translation."""
    centered = (
        fa[oa + _CENTER] == 0.0
        and fa[oa + _CENTER + 1] == 0.0
        and fa[oa + _CENTER + 2] == 0.0
        and fb[ob + _CENTER] == 0.0
        and fb[ob + _CENTER + 1] == 0.0
        and fb[ob + _CENTER + 2] == 0.0
    )
    if centered:
        x, y, z = pb[j, 9] - pa[i, 9], pb[j, 10] - pa[i, 10], pb[j, 11] - pa[i, 11]
    else:
        x, y, z = _add_centers(pa, i, fa, oa, pb, j, fb, ob)
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = (
        pa[i, 0], pa[i, 1], pa[i, 2], pa[i, 3], pa[i, 4], pa[i, 5], pa[i, 6], pa[i, 7], pa[i, 8],
    )  # fmt: skip
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = (
        pb[j, 0], pb[j, 1], pb[j, 2], pb[j, 3], pb[j, 4], pb[j, 5], pb[j, 6], pb[j, 7], pb[j, 8],
    )  # fmt: skip
    return (
        a0 * b0 + a3 * b3 + a6 * b6, a0 * b1 + a3 * b4 + a6 * b7, a0 * b2 + a3 * b5 + a6 * b8,
        a1 * b0 + a4 * b3 + a7 * b6, a1 * b1 + a4 * b4 + a7 * b7, a1 * b2 + a4 * b5 + a7 * b8,
        a2 * b0 + a5 * b3 + a8 * b6, a2 * b1 + a5 * b4 + a8 * b7, a2 * b2 + a5 * b5 + a8 * b8,
        a0 * x + a3 * y + a6 * z, a1 * x + a4 * y + a7 * z, a2 * x + a5 * y + a8 * z,
    )  # fmt: skip


@kernel
def pair_size(fa: Array, oa: int, fb: Array, ob: int, m: Rigid) -> float:
    """Return L: the reach of both cores from their centres, their radii, and the distance of the centres."""
    return float(fa[oa] + fb[ob] + fa[oa + _RHO] + fb[ob + _RHO]) + sqrt(m[9] * m[9] + m[10] * m[10] + m[11] * m[11])


@kernel
def rounding_error(size: float, fa: Array, oa: int, fb: Array, ob: int, residual: float) -> float:
    """Bound the error of any support value, witness distance or plane distance of this pair.

    In units of u L: storing vertices about a centre 1, composing the rotations 9 and applying the result 7, the
    translation 5, the difference 1, a dot product and its normalisation 6, a curved support point 10, the radius 1;
    A's frame is an isometry to 4 u and what its rotation misses of orthonormal. Together under 50; 64 is used.
    """
    return 1e-300 + (_ROUNDING + 2.0 * residual) * size + float(fa[oa + _SLACK] + fb[ob + _SLACK])


@kernel
def center_error(pa: Array, i: int, fa: Array, oa: int, pb: Array, j: int, fb: Array, ob: int) -> float:
    """Bound what `relative_pose` misses of the centres' offset: all there is where two points meet far from the origin.

    The offset is a sum of eight terms an axis in twice the digits: 14 roundings of its lower half, which is at most
    9 u of the terms' sum, in three axes: under 219 u^2; 256 is used.
    """
    total = 0.0
    for k in range(3):
        total += abs(pa[i, 9 + k]) + abs(pb[j, 9 + k]) + 2.0 * (abs(fa[oa + _CENTER + k]) + abs(fb[ob + _CENTER + k]))
    return _TWICE * total


@kernel
def support_pair(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid, d: Vec3
) -> SupportPair:
    """Return the support point of A - B along d, and the points of A and B it is made of, in A's frame."""
    a = support(qa, ia, fa, oa, d)
    e = (
        -(m[0] * d[0] + m[3] * d[1] + m[6] * d[2]),
        -(m[1] * d[0] + m[4] * d[1] + m[7] * d[2]),
        -(m[2] * d[0] + m[5] * d[1] + m[8] * d[2]),
    )
    p = support(qb, ib, fb, ob, e)
    b = (
        m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[9],
        m[3] * p[0] + m[4] * p[1] + m[5] * p[2] + m[10],
        m[6] * p[0] + m[7] * p[1] + m[8] * p[2] + m[11],
    )
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2]), a, b
