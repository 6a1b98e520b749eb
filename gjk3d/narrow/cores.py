"""The Minkowski difference A - B in A's frame: the relative pose, support points, and the rounding error of both.

The difference is never built: for two prisms of 6 and 8 vertices it would have 48 vertices. Its support point along d
is A's support point along d minus B's along -d. GJK and EPA need only these support points.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, single_entry
from gjk3d.geometry.vec3 import Rigid, Vec3, add_exact, along, dot, exact_product, neg, offset, place, sub, turn_back
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Ints, Ints1

SupportPair = tuple[Vec3, Vec3, Vec3]

_RADIUS, _RHO, _SLACK, _CENTER, _INNER = layout.RADIUS, layout.RHO, layout.SLACK, layout.CENTER, layout.INNER
_ROUNDING = 64.0 * UNIT_ROUNDOFF  #: see `rounding_error`
_TWICE = 256.0 * UNIT_ROUNDOFF**2  #: see `center_error`
_TINY = 16.0 * UNIT_ROUNDOFF  #: relative to the pair's size: shorter differences of support points are rounding


class Cores(NamedTuple):
    """Two cores and their relative pose: the input of all kernels between the entries and the support mappings.

    An entry makes it in its first lines with `cores_at`. A pose is one row of numbers, see `gjk3d.poses`.
    """

    a: Core
    b: Core
    m: Rigid  #: the pose of B in A, each with its centre as origin
    pose: Array1  #: A's pose in the world
    size: float  #: the length that errors are relative to, see `pair_size`
    error: float  #: of any support value, witness or plane distance, see `rounding_error`
    tiny: float  #: the length below which a vector is only rounding
    radii: float  #: the sum of both radii, which the result adds to the cores' distance


@kernel
def _add_products(s: Vec3, a: float, x: float, b: float, y: float, c: float, z: float) -> Vec3:
    """Add a x + b y + c z to a sum carried as high + low."""
    p = exact_product(a, x)
    s = add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(b, y)
    s = add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(c, z)
    return add_exact(s[0], s[1] + p[1], p[0])


@kernel
def _add_centers(p: Array, fa: Array, q: Array, fb: Array) -> Vec3:
    """Return (R_B c_B + t_B) - (R_A c_A + t_A), rounded once, because far from the origin the terms cancel."""
    a0, a1, a2 = -fa[_CENTER], -fa[_CENTER + 1], -fa[_CENTER + 2]
    b0, b1, b2 = fb[_CENTER], fb[_CENTER + 1], fb[_CENTER + 2]
    s = _add_products(add_exact(q[9], 0.0, -p[9]), q[0], b0, q[1], b1, q[2], b2)
    x = _add_products(s, p[0], a0, p[1], a1, p[2], a2)
    s = _add_products(add_exact(q[10], 0.0, -p[10]), q[3], b0, q[4], b1, q[5], b2)
    y = _add_products(s, p[3], a0, p[4], a1, p[5], a2)
    s = _add_products(add_exact(q[11], 0.0, -p[11]), q[6], b0, q[7], b1, q[8], b2)
    z = _add_products(s, p[6], a0, p[7], a1, p[8], a2)
    return (x[0] + x[1], y[0] + y[1], z[0] + z[1])


@kernel
def _centered(f: Array) -> bool:
    return bool(f[_CENTER] == 0.0 and f[_CENTER + 1] == 0.0 and f[_CENTER + 2] == 0.0)


@kernel
def world_center(p: Array, f: Array) -> Vec3:
    """Return the core's centre R c + t in world axes, rounded once."""
    if _centered(f):
        return (p[9], p[10], p[11])
    c0, c1, c2 = f[_CENTER], f[_CENTER + 1], f[_CENTER + 2]
    x = _add_products((p[9], 0.0, 0.0), p[0], c0, p[1], c1, p[2], c2)
    y = _add_products((p[10], 0.0, 0.0), p[3], c0, p[4], c1, p[5], c2)
    z = _add_products((p[11], 0.0, 0.0), p[6], c0, p[7], c1, p[8], c2)
    return (x[0] + x[1], y[0] + y[1], z[0] + z[1])


AT_ORIGIN = np.zeros(9)  #: floats of a core whose centre is the origin of its frame, for `relative`


@inlined
def relative(p: Array, fa: Array, q: Array, fb: Array) -> Rigid:
    """Return B's pose in A, each with its core's centre as origin: a rotation by rows, then a translation."""
    if _centered(fa) and _centered(fb):
        x, y, z = q[9] - p[9], q[10] - p[10], q[11] - p[11]
    else:
        x, y, z = _add_centers(p, fa, q, fb)
    return (
        p[0] * q[0] + p[3] * q[3] + p[6] * q[6], p[0] * q[1] + p[3] * q[4] + p[6] * q[7],
        p[0] * q[2] + p[3] * q[5] + p[6] * q[8],
        p[1] * q[0] + p[4] * q[3] + p[7] * q[6], p[1] * q[1] + p[4] * q[4] + p[7] * q[7],
        p[1] * q[2] + p[4] * q[5] + p[7] * q[8],
        p[2] * q[0] + p[5] * q[3] + p[8] * q[6], p[2] * q[1] + p[5] * q[4] + p[8] * q[7],
        p[2] * q[2] + p[5] * q[5] + p[8] * q[8],
        p[0] * x + p[3] * y + p[6] * z, p[1] * x + p[4] * y + p[7] * z, p[2] * x + p[5] * y + p[8] * z,
    )  # fmt: skip


@single_entry
def relative_pose(p: Array1, fa: Array1, q: Array1, fb: Array1) -> Rigid:
    """Return B's pose in A as `relative` does, for calls from Python."""
    return relative(p, fa, q, fb)


@kernel
def between_centers(m: Rigid) -> float:
    """Return the distance of the centres."""
    return sqrt(dot(offset(m), offset(m)))


@kernel
def gap_of_inner(c: Cores) -> float:
    """Return the signed distance of the cores' inscribed balls, an upper bound of the cores'; inf without balls."""
    inner_a, inner_b = c.a.floats[_INNER], c.b.floats[_INNER]
    if not (inner_a > 0.0 and inner_b > 0.0):
        return inf
    return float(between_centers(c.m) - inner_a - inner_b + c.error)


@kernel
def pair_size(a: Core, b: Core, m: Rigid) -> float:
    """Return the pair's size: the sum of both radii, both bounding radii, and the distance of the centres."""
    f, g = a.floats, b.floats
    return float(f[_RADIUS] + g[_RADIUS] + f[_RHO] + g[_RHO]) + between_centers(m)


@kernel
def rounding_error(size: float, a: Core, b: Core, residual: float) -> float:
    """Return a bound of the error of any support value, witness distance or plane distance of this pair."""
    # The terms in units of u L: storing vertices about a centre 1, composing the rotations 9 and applying the result 7,
    # the translation 5, the difference 1, a dot product and its normalisation 6, a curved support point 10, the radius
    # 1. A's frame is an isometry up to 4 u and its rotation's deviation from orthonormal. The sum is under 50; 64 is
    # used.
    return 1e-300 + (_ROUNDING + 2.0 * residual) * size + float(a.floats[_SLACK] + b.floats[_SLACK])


@kernel
def center_error(p: Array, fa: Array, q: Array, fb: Array) -> float:
    """Return a bound of the error of the centres' offset, the main error of touching pairs far from the origin."""
    # The offset is a sum of eight terms per axis in double-double arithmetic. It has 14 roundings of its lower half,
    # which is at most 9 u of the terms' sum. Three axes give less than 219 u^2; 256 is used.
    total = 0.0
    for k in range(3):
        total += abs(p[9 + k]) + abs(q[9 + k]) + 2.0 * (abs(fa[_CENTER + k]) + abs(fb[_CENTER + k]))
    return _TWICE * total


@inlined
def cores_at(a: Core, pose_a: Array, b: Core, pose_b: Array) -> Cores:
    """Return two cores at their poses."""
    m = relative(pose_a, a.floats, pose_b, b.floats)
    size = pair_size(a, b, m)
    error = rounding_error(size, a, b, pose_a[12]) + center_error(pose_a, a.floats, pose_b, b.floats)
    return Cores(a, b, m, pose_a, size, error, _TINY * size, a.floats[_RADIUS] + b.floats[_RADIUS])


@kernel
def cores_of(ints: Ints, floats: Array, starts: Ints, poses: Array, a: int, b: int) -> Cores:
    """Return shapes a and b of joined arrays as cores; rows a and b of ``starts`` and ``poses`` belong to them."""
    core_a = Core(ints[starts[a, 0] :], floats[starts[a, 1] :])
    return cores_at(core_a, poses[a], Core(ints[starts[b, 0] :], floats[starts[b, 1] :]), poses[b])


@kernel
def moved(c: Cores, d: Vec3, t: float) -> Cores:
    """Return the cores with B moved by t d; size and error are not recomputed."""
    m = c.m
    x, y, z = along(offset(m), d, t)
    near = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], x, y, z)
    return Cores(c.a, c.b, near, c.pose, c.size, c.error, c.tiny, c.radii)


@kernel
def is_curved(c: Cores) -> bool:
    """Return whether one of the cores is not a polytope."""
    return bool(c.a.ints[layout.POLYTOPE] == 0 or c.b.ints[layout.POLYTOPE] == 0)


@kernel
def direction_between(m: Rigid) -> Vec3:
    """Return the direction from A's centre to B's, or the x axis if they coincide."""
    if m[9] == 0.0 and m[10] == 0.0 and m[11] == 0.0:
        return (1.0, 0.0, 0.0)
    return offset(m)


@kernel
def support_pair(c: Cores, d: Vec3) -> SupportPair:
    """Return the support point of A - B along d, and the points of A and of B whose difference it is, in A's frame."""
    a = support(c.a, d)
    b = place(c.m, support(c.b, neg(turn_back(c.m, d))))
    return sub(a, b), a, b


@single_entry
def support_once(qa: Ints1, fa: Array1, qb: Ints1, fb: Array1, m: Rigid, d: Vec3) -> SupportPair:
    """Return the support points as `support_pair` does, for calls from Python."""
    return support_pair(Cores(Core(qa, fa), Core(qb, fb), m, fa, 0.0, 0.0, 0.0, 0.0), d)
