"""How deep two ellipsoids with one centre and the same axes overlap: a closed form.

With unit n, h(n) = sqrt(sum a_i^2 n_i^2) + sqrt(sum b_i^2 n_i^2) is a sum of square roots of linear functions of the
three n_i^2: concave, so its least value over n_1^2 + n_2^2 + n_3^2 = 1 is at a corner, an axis. Similar ellipsoids
that are nearly balls are so many ties to EPA.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._numba import kernel
from gjk3d.geometry.vec3 import Vec3, dot
from gjk3d.narrow.gjk import SIMPLEX, set_row
from gjk3d.narrow.minkowski import Rigid, support_pair
from gjk3d.poses import Array
from gjk3d.shapes import layout
from gjk3d.shapes.base import Ints

_HEAD, _KIND = layout.FLOAT_HEAD, layout.KIND
_POINT, _ELLIPSOID = layout.POINT, layout.ELLIPSOID


@kernel
def row_squares(f: Array, o: int, x: float, y: float, z: float) -> float:
    """Return the square of the half width along (x, y, z) of the ellipsoid with radii f[o:]."""
    a, b, c = f[o] * x, f[o + 1] * y, f[o + 2] * z
    return float(a * a + b * b + c * c)


@kernel
def mixed(f: Array, o: int, r: Vec3, s: Vec3) -> float:
    """Return how much the ellipsoid with radii f[o:] is skew to two axes, as a squared length."""
    a, b, c = f[o], f[o + 1], f[o + 2]
    return float(abs(a * a * r[0] * s[0] + b * b * r[1] * s[1] + c * c * r[2] * s[2]))


@kernel
def concentric(
    qa: Ints, ia: int, fa: Array, oa: int, qb: Ints, ib: int, fb: Array, ob: int, m: Rigid,
    allowed: float, least: float, best: Vec3, work: Array,
) -> tuple[bool, int, float, Vec3, float, float, float]:  # fmt: skip
    """Return whether the pair is of this family to ``allowed``, and then what `epa` returns, as `meridian` does."""
    off = sqrt(m[9] * m[9] + m[10] * m[10] + m[11] * m[11])
    if qa[ia + _KIND] != _ELLIPSOID or qb[ib + _KIND] != _ELLIPSOID or off > allowed:
        return False, 0, least, best, inf, -1.0, -1.0
    a, b = oa + _HEAD, ob + _HEAD
    rows = ((m[0], m[1], m[2]), (m[3], m[4], m[5]), (m[6], m[7], m[8]))
    columns = ((m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8]))
    # a spheroid takes its axes from the other one: each is tried in the other's frame
    skew_b = mixed(fb, b, rows[0], rows[1]) + mixed(fb, b, rows[1], rows[2]) + mixed(fb, b, rows[2], rows[0])
    skew_a = (
        mixed(fa, a, columns[0], columns[1])
        + mixed(fa, a, columns[1], columns[2])
        + mixed(fa, a, columns[2], columns[0])
    )
    thin_a = min(fa[a], fa[a + 1], fa[a + 2])
    thin_b = min(fb[b], fb[b + 1], fb[b + 2])
    in_a = skew_b / thin_b <= skew_a / thin_a
    extra = off + (skew_b / thin_b if in_a else skew_a / thin_a)
    if not extra <= allowed:
        return False, 0, least, best, inf, -1.0, -1.0
    depth = inf
    n = best
    for k in range(3):
        if in_a:
            d = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
            reach = fa[a + k] + sqrt(row_squares(fb, b, rows[k][0], rows[k][1], rows[k][2]))
        else:
            d = columns[k]
            reach = fb[b + k] + sqrt(row_squares(fa, a, columns[k][0], columns[k][1], columns[k][2]))
        if reach < depth:
            depth, n = reach, d
    s = work[:SIMPLEX].reshape(6, 10)
    front, back = 0.0, 0.0
    for i in range(6):
        sign = 1.0 if i < 3 else -1.0
        d = (sign * n[0], sign * n[1], sign * n[2])
        w, p, q = support_pair(qa, ia, fa, oa, qb, ib, fb, ob, m, d)
        # the foot on the axis, to which the support point is bent by no more than the skew
        along = dot(d, p), dot(d, q)
        p = (along[0] * d[0], along[0] * d[1], along[0] * d[2])
        q = (along[1] * d[0], along[1] * d[1], along[1] * d[2])
        set_row(s, i, w, p, q)
        s[i, 9] = 1.0 if i % 3 == 0 else 0.0
        if i == 0:
            front = dot(d, w)
        if i == 3:
            back = dot(d, w)
    return True, int(np.int64(6)), front, n, extra - depth, front, back
