"""The Minkowski difference of two cores, and the features that support a direction.

The Minkowski difference A - B is in A's frame. It is never built: for two prisms of 6 and 8 vertices it would have up
to 48 vertices. Its support point along d is A's support point along d minus B's support point along -d. GJK and EPA
need only these support points.

The feature of a core along a direction is the face with the farthest point, if the angle between the direction and the
normal of the face is at most `LEAN` degrees. Otherwise it is the edge through the farthest point that is perpendicular
to the direction within `LEAN` degrees. Otherwise it is the farthest point. The straight lines on the side of a cylinder
or cone count as edges. The caps of cylinders and cones count as faces: regular polygons of `CORNERS` corners on the
rim. Sums and unions of shapes have only support points, so their features are sampled.
"""

from __future__ import annotations

from math import cos, inf, pi, radians, sin, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, single_entry
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    add_exact,
    along,
    cross,
    dot,
    exact_product,
    neg,
    offset,
    perpendicular,
    place,
    row3,
    scale,
    sub,
    turn_back,
    unit,
)
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.shapes import layout
from gjk3d.shapes.composed import place as place_part
from gjk3d.shapes.composed import pull_back
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Ints, Ints1

# --- the Minkowski difference ----------------------------------------------------------------------------------------


SupportPair = tuple[Vec3, Vec3, Vec3]

_RADIUS, _RHO, _SLACK, _CENTER, _INNER = layout.RADIUS, layout.RHO, layout.SLACK, layout.CENTER, layout.INNER
_ROUNDING = 64.0 * UNIT_ROUNDOFF  #: see `rounding_error`
_TWICE = 256.0 * UNIT_ROUNDOFF**2  #: see `center_error`
_TINY = 16.0 * UNIT_ROUNDOFF  #: relative to the pair's size: shorter differences of support points are rounding


class Cores(NamedTuple):
    """Two cores and their relative pose, the input of most kernels.

    The kernels that Python calls create them with `cores_at`. A pose is one row of numbers, see `gjk3d.poses`.
    """

    a: Core
    b: Core
    m: Rigid  #: the pose of B in A; the origin of each frame is the centre of the core
    pose: Array1  #: A's pose in the world
    size: float  #: the length that errors are relative to, see `pair_size`
    error: float  #: bound of the error of any support value, witness or plane distance, see `rounding_error`
    tiny: float  #: the length below which a vector is only rounding
    radii: float  #: the sum of both radii, which the result subtracts from the distance of the cores


@kernel
def _add_products(s: Vec3, a: float, x: float, b: float, y: float, c: float, z: float) -> Vec3:
    """Return s + a x + b y + c z with extra precision. s and the result are (high part, low part, 0)."""
    p = exact_product(a, x)
    s = add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(b, y)
    s = add_exact(s[0], s[1] + p[1], p[0])
    p = exact_product(c, z)
    return add_exact(s[0], s[1] + p[1], p[0])


@kernel
def _add_centers(p: Array, fa: Array, q: Array, fb: Array) -> Vec3:
    """Return the vector from A's centre to B's, (R_B c_B + t_B) - (R_A c_A + t_A), in world coordinates.

    The vector is rounded only once, because far from the origin the terms cancel.
    """
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
    """Return the centre R c + t of a core at a pose row in world coordinates, rounded once."""
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
    """Return B's pose in A: the rotation matrix row by row, then the vector from A's centre to B's, in A's frame.

    ``p`` and ``q`` are the pose rows of A and B. ``fa`` and ``fb`` are the floats of their cores.
    """
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
    """Return B's pose in A, as `relative` does. Python calls this function, kernels call `relative`."""
    return relative(p, fa, q, fb)


@kernel
def between_centers(m: Rigid) -> float:
    """Return the distance of the centres of two cores with the relative pose m."""
    return sqrt(dot(offset(m), offset(m)))


@kernel
def gap_of_inner(c: Cores) -> float:
    """Return the signed distance of the inscribed balls of two cores, or infinity if a core lacks an inscribed ball.

    The result includes the rounding error, and is an upper bound of the signed distance of the cores.
    """
    inner_a, inner_b = c.a.floats[_INNER], c.b.floats[_INNER]
    if not (inner_a > 0.0 and inner_b > 0.0):
        return inf
    return float(between_centers(c.m) - inner_a - inner_b + c.error)


@kernel
def pair_size(a: Core, b: Core, m: Rigid) -> float:
    """Return the size of a pair, a length to which errors are relative.

    It is the sum of both radii, of bounds of both cores' extents about their centres, and of the centres' distance.
    """
    f, g = a.floats, b.floats
    return float(f[_RADIUS] + g[_RADIUS] + f[_RHO] + g[_RHO]) + between_centers(m)


@kernel
def rounding_error(size: float, a: Core, b: Core, residual: float) -> float:
    """Return a bound of the error of any support value, witness distance or plane distance of a pair.

    ``size`` is the size L of the pair. ``residual`` is the deviation of A's rotation from orthonormal.
    """
    # The terms in units of u L: storing vertices about a centre 1, composing the rotations 9 and applying the result 7,
    # the translation 5, the difference 1, a dot product and its normalisation 6, a curved support point 10, the radius
    # 1. A's frame is an isometry up to 4 u and its rotation's deviation from orthonormal. The sum is under 50; 64 is
    # used.
    return 1e-300 + (_ROUNDING + 2.0 * residual) * size + float(a.floats[_SLACK] + b.floats[_SLACK])


@kernel
def center_error(p: Array, fa: Array, q: Array, fb: Array) -> float:
    """Return a bound of the error of the vector between the centres. Far from the origin this is the main error."""
    # The offset is a sum of eight terms per axis in double-double arithmetic. It has 14 roundings of its lower half,
    # which is at most 9 u of the terms' sum. Three axes give less than 219 u^2; 256 is used.
    total = 0.0
    for k in range(3):
        total += abs(p[9 + k]) + abs(q[9 + k]) + 2.0 * (abs(fa[_CENTER + k]) + abs(fb[_CENTER + k]))
    return _TWICE * total


@inlined
def cores_at(a: Core, pose_a: Array, b: Core, pose_b: Array) -> Cores:
    """Return the `Cores` of two shapes at their pose rows."""
    m = relative(pose_a, a.floats, pose_b, b.floats)
    size = pair_size(a, b, m)
    error = rounding_error(size, a, b, pose_a[12]) + center_error(pose_a, a.floats, pose_b, b.floats)
    return Cores(a, b, m, pose_a, size, error, _TINY * size, a.floats[_RADIUS] + b.floats[_RADIUS])


@kernel
def cores_of(ints: Ints, floats: Array, starts: Ints, poses: Array, a: int, b: int) -> Cores:
    """Return the `Cores` of the shapes a and b in joined arrays, at the rows a and b of ``poses``.

    A row of ``starts`` contains the indices at which the integers and the floats of a shape begin.
    """
    core_a = Core(ints[starts[a, 0] :], floats[starts[a, 1] :])
    return cores_at(core_a, poses[a], Core(ints[starts[b, 0] :], floats[starts[b, 1] :]), poses[b])


@kernel
def moved(c: Cores, d: Vec3, t: float) -> Cores:
    """Return the cores with B moved by t d, in A's frame. The size and the error are not recomputed."""
    m = c.m
    x, y, z = along(offset(m), d, t)
    near = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], x, y, z)
    return Cores(c.a, c.b, near, c.pose, c.size, c.error, c.tiny, c.radii)


@kernel
def is_curved(c: Cores) -> bool:
    """Return whether at least one of the cores is not a polytope."""
    return bool(c.a.ints[layout.POLYTOPE] == 0 or c.b.ints[layout.POLYTOPE] == 0)


@kernel
def direction_between(m: Rigid) -> Vec3:
    """Return the vector from A's centre to B's, or the x axis if the centres coincide."""
    if m[9] == 0.0 and m[10] == 0.0 and m[11] == 0.0:
        return (1.0, 0.0, 0.0)
    return offset(m)


@kernel
def support_pair(c: Cores, d: Vec3) -> SupportPair:
    """Return the support point w = a - b of A - B along d, then a of A and b of B, all in A's frame."""
    a = support(c.a, d)
    b = place(c.m, support(c.b, neg(turn_back(c.m, d))))
    return sub(a, b), a, b


@single_entry
def support_once(qa: Ints1, fa: Array1, qb: Ints1, fb: Array1, m: Rigid, d: Vec3) -> SupportPair:
    """Return the support point w = a - b of A - B along d, then a and b, all in A's frame, for calls from Python.

    ``m`` is B's pose in A.
    """
    return support_pair(Cores(Core(qa, fa), Core(qb, fb), m, fa, 0.0, 0.0, 0.0, 0.0), d)


# --- features --------------------------------------------------------------------------------------------------------


LEAN = 5.0  #: degrees; see the head of the module
CORNERS = 32  #: corners of the polygon of a cap
#: largest number of corners of a feature of a core other than a hull; the farthest point of a rim may be added
MOST = CORNERS + 1
_COS, _SIN = cos(radians(LEAN)), sin(radians(LEAN))
_STEP = 2.0 * pi / CORNERS
_CIRCLE = np.array([(cos(k * _STEP), sin(k * _STEP)) for k in range(CORNERS)])
_CLOSE = 1e-12  #: relative to the core's size: support points closer than this are merged
#: for `sampled_feature`: number of directions, their tilt, and tolerances of height and of merging relative to `RHO`
TILTS, _TILT, _DROP, _BLUR = 16, 1e-8, 1e-9, 1e-5
_ALIGNED = 1e-7  #: greatest sine of the lean of a feature that counts as aligned
_RIGID = 1e-12  #: allowed deviation of a placement from orthonormal
_RIM = 1e-13  #: relative to the radius: least height of a rim point above the corners, for which it becomes a corner

#: number of corners of an unbounded feature, a plane through the centre of the core
PLANE = -1

_KIND, _VERTICES, _HEAD = layout.KIND, layout.VERTICES, layout.FLOAT_HEAD
_BOX, _HULL, _SEGMENT = layout.BOX, layout.HULL, layout.SEGMENT
_CYLINDER, _CONE, _COMPOSED = layout.CYLINDER, layout.CONE, layout.COMPOSED
_PARTS, _INT_HEAD = layout.PARTS, layout.INT_HEAD


class Feature(NamedTuple):
    """A face, an edge or a corner of a core. A separate array stores its corners.

    For a cap, the flat end of a cylinder or cone, this array has the centre of the cap after the corners.
    """

    corners: int  #: number of corners
    normal: Vec3  #: unit normal of a face
    cap: float  #: radius of a cap, else 0


@inlined
def bare(corners: int) -> Feature:
    """Return the feature with this number of corners: 2 for an edge, 1 for a point."""
    return Feature(corners, (0.0, 0.0, 0.0), 0.0)


class Loops(NamedTuple):
    """The faces of a hull, in the form of `gjk3d.geometry.polygon.face_loops`, or the plane of a half-space.

    The integers are the number of faces (`PLANE` for a half-space), the start of each face in the list of corners, and
    this list of vertex indices. The floats are the normals.
    """

    ints: Ints1
    floats: Array1


@kernel
def put_row(v: Array, k: int, x: float, y: float, z: float) -> None:
    """Write the vector (x, y, z) to row k of ``v``."""
    v[k, 0], v[k, 1], v[k, 2] = x, y, z


@kernel
def box_feature(f: Array, d: Vec3, v: Array) -> Feature:
    """Return the feature along d of a box with half extents f[:3], and write its corners to ``v``."""
    for k in range(3):
        if abs(d[k]) >= _COS:
            i, j = (k + 1) % 3, (k + 2) % 3
            s = 1.0 if d[k] > 0.0 else -1.0
            for c in range(4):
                v[c, i] = f[i] if c == 1 or c == 2 else -f[i]
                v[c, j] = s * (f[j] if c >= 2 else -f[j])  # counter-clockwise, seen from outside
                v[c, k] = s * f[k]
            return Feature(4, (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0), 0.0)
    along = 0
    for k in range(1, 3):
        if abs(d[k]) < abs(d[along]):
            along = k
    if abs(d[along]) > _SIN:
        return bare(1)
    for k in range(3):
        x = f[k] if d[k] >= 0.0 else -f[k]
        v[0, k] = -f[k] if k == along else x
        v[1, k] = f[k] if k == along else x
    return bare(2)


@kernel
def _face_at(core: Core, loops: Loops, k: int, v: Array) -> Feature:
    n, f = core.ints[_VERTICES], core.floats[_HEAD:]
    lq, lf = loops
    first, count = lq[0] + 2 + lq[1 + k], lq[2 + k] - lq[1 + k]
    for r in range(count):
        j = lq[first + r]
        put_row(v, r, f[j], f[n + j], f[2 * n + j])
    return Feature(count, (lf[3 * k], lf[3 * k + 1], lf[3 * k + 2]), 0.0)


@inlined
def _flatter_edge(core: Core, i: int, j: int, d: Vec3, least: float, v: Array) -> float:
    """Write hull edge (i, j) to ``v`` if its absolute cosine with d is less than ``least``; return the lesser value."""
    n, f = core.ints[_VERTICES], core.floats[_HEAD:]
    e = (f[j] - f[i], f[n + j] - f[n + i], f[2 * n + j] - f[2 * n + i])
    climb, length = abs(dot(e, d)), sqrt(dot(e, e))
    if not climb < least * length:
        return least
    put_row(v, 0, f[i], f[n + i], f[2 * n + i])
    put_row(v, 1, f[j], f[n + j], f[2 * n + j])
    return climb / length


@kernel
def _feature_at(core: Core, loops: Loops, vertex: int, d: Vec3, v: Array) -> Feature:
    """Return the feature along d of a hull whose farthest vertex is unique; write its corners to ``v``.

    ``vertex`` is the index of the farthest vertex. Only the faces and edges at this vertex are candidates.
    """
    lq, lf = loops
    faces = lq[0]
    corners = faces + 2
    best, most, least, k = -1, _COS, _SIN, 0
    for at in range(corners, corners + lq[1 + faces]):
        if lq[at] != vertex:
            continue
        while corners + lq[2 + k] <= at:
            k += 1
        first, stop = corners + lq[1 + k], corners + lq[2 + k]
        c = lf[3 * k] * d[0] + lf[3 * k + 1] * d[1] + lf[3 * k + 2] * d[2]
        if c > most:
            best, most = k, c
        after = at + 1 if at + 1 < stop else first
        for r in (min(at, after), max(at, after)):  # the edges that end at the corners r
            least = _flatter_edge(core, lq[r - 1 if r > first else stop - 1], lq[r], d, least, v)
    return _face_at(core, loops, best, v) if best >= 0 else bare(2 if least < _SIN else 1)


@kernel
def hull_feature(core: Core, loops: Loops, d: Vec3, v: Array) -> Feature:
    """Return the feature of a hull along d; write its corners to ``v``."""
    n, f = core.ints[_VERTICES], core.floats[_HEAD:]
    x, y, z = f[:n], f[n : 2 * n], f[2 * n : 3 * n]
    lq, lf = loops
    top, next_to_it, highest = x[0] * d[0] + y[0] * d[1] + z[0] * d[2], -inf, 0
    for k in range(1, n):
        h = x[k] * d[0] + y[k] * d[1] + z[k] * d[2]
        next_to_it = max(next_to_it, min(top, h))
        highest = k if h > top else highest
        top = max(top, h)
    top -= _CLOSE * core.floats[_RHO]
    if next_to_it < top:  # the farthest vertex is unique, so the feature is one of its faces and edges
        return _feature_at(core, loops, highest, d, v)
    faces = lq[0]
    start = 1
    corners = start + faces + 1
    best, most = -1, _COS
    for k in range(faces):
        c = lf[3 * k] * d[0] + lf[3 * k + 1] * d[1] + lf[3 * k + 2] * d[2]
        if c > most:
            for r in range(lq[start + k], lq[start + k + 1]):
                j = lq[corners + r]
                if x[j] * d[0] + y[j] * d[1] + z[j] * d[2] >= top:
                    best, most = k, c
                    break
    if best >= 0:
        return _face_at(core, loops, best, v)
    least = _SIN
    for k in range(faces):
        last = lq[corners + lq[start + k + 1] - 1]
        for r in range(lq[start + k], lq[start + k + 1]):
            i, j = last, lq[corners + r]
            last = j
            hi = x[i] * d[0] + y[i] * d[1] + z[i] * d[2]
            hj = x[j] * d[0] + y[j] * d[1] + z[j] * d[2]
            if max(hi, hj) >= top:
                least = _flatter_edge(core, i, j, d, least, v)
    return bare(2 if least < _SIN else 1)


@kernel
def cap_feature(radius: float, z: float, d: Vec3, v: Array) -> Feature:
    """Return the disc at height z as a feature; write its corners and then its centre to ``v``.

    The normal is +z if d[2] > 0, else -z. The corners are those of a regular polygon. The point of the rim farthest
    along d is added if it is not a corner.
    """
    flat = sqrt(d[0] * d[0] + d[1] * d[1])
    near, most = 0, -1.0
    for k in range(CORNERS):
        c = _CIRCLE[k, 0] * d[0] + _CIRCLE[k, 1] * d[1]
        if c > most:
            near, most = k, c
    ahead = d[1] * _CIRCLE[near, 0] - d[0] * _CIRCLE[near, 1] > 0.0
    extra = flat - most > _RIM
    count = 0
    for k in range(CORNERS):
        if extra and k == near and not ahead:
            put_row(v, count, radius * d[0] / flat, radius * d[1] / flat, z)
            count += 1
        put_row(v, count, radius * _CIRCLE[k, 0], radius * _CIRCLE[k, 1], z)
        count += 1
        if extra and k == near and ahead:
            put_row(v, count, radius * d[0] / flat, radius * d[1] / flat, z)
            count += 1
    put_row(v, count, 0.0, 0.0, z)
    return Feature(count, (0.0, 0.0, 1.0 if d[2] > 0.0 else -1.0), radius)


@kernel
def side_feature(low: float, high: float, half: float, d: Vec3, v: Array) -> Feature:
    """Return, as an edge, the line farthest along d on the side of a cylinder or cone; write its ends to ``v``.

    The radius is ``low`` at the end z = -half and ``high`` at the end z = half.
    """
    flat = sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = d[0] / flat, d[1] / flat
    put_row(v, 0, low * x, low * y, -half)
    put_row(v, 1, high * x, high * y, half)
    return bare(2)


@kernel
def primitive_feature(kind: int, f: Array, d: Vec3, v: Array) -> Feature:
    """Return the feature along d of a primitive other than a hull, with the floats f; write its corners to ``v``."""
    if kind == _BOX:
        return box_feature(f, d, v)
    if kind == _SEGMENT:
        x, y, z = f[0], f[1], f[2]
        if abs(x * d[0] + y * d[1] + z * d[2]) <= _SIN * sqrt(x * x + y * y + z * z):
            put_row(v, 0, -x, -y, -z)
            put_row(v, 1, x, y, z)
            return bare(2)
    elif kind == _CYLINDER:
        r, h = f[0], f[1]
        if abs(d[2]) >= _COS:
            return cap_feature(r, h if d[2] > 0.0 else -h, d, v)
        if abs(d[2]) <= _SIN:
            return side_feature(r, r, h, d, v)
    elif kind == _CONE:
        r, h = f[0], f[1]
        flat = sqrt(d[0] * d[0] + d[1] * d[1])
        if d[2] <= -_COS:
            return cap_feature(r, -h, d, v)
        if flat > 0.0 and 2.0 * h * flat + r * d[2] >= _COS * sqrt(4.0 * h * h + r * r):
            return side_feature(r, 0.0, h, d, v)
    return bare(1)


@kernel
def placed_feature(core: Core, d: Vec3, v: Array) -> Feature:
    """Return the feature along d of a composed core, a scaled or moved primitive; write its corners to ``v``."""
    # A feature that is not perpendicular to d is exact only if the placement is rigid, or if the radius is 0.
    q, f = core
    at = q[_INT_HEAD + 4]
    local = unit(pull_back(f, at, d))
    g = primitive_feature(q[_INT_HEAD + 1], f[q[_INT_HEAD + 3] :], local, v)
    if g.corners < 2:
        return g
    rows = g.corners + (1 if g.cap > 0.0 else 0)
    for k in range(rows):
        p = place_part(f, at, row3(v, k))
        put_row(v, k, p[0], p[1], p[2])
    a, b, c = (f[at], f[at + 3], f[at + 6]), (f[at + 1], f[at + 4], f[at + 7]), (f[at + 2], f[at + 5], f[at + 8])
    off = max(abs(dot(a, a) - 1.0), abs(dot(b, b) - 1.0), abs(dot(c, c) - 1.0))
    off = max(off, abs(dot(a, b)), abs(dot(b, c)), abs(dot(c, a)))
    rigid = off < _RIGID
    if g.corners == 2:
        e = unit(sub(row3(v, 1), row3(v, 0)))
        lean = abs(dot(e, d))
        normal = (0.0, 0.0, 0.0)
    else:
        # normals are mapped by the transposed inverse of the placement, here up to a factor of any sign
        x, y, z = cross(b, c), cross(c, a), cross(a, b)
        n = g.normal
        normal = unit(along(along(scale(n[0], x), y, n[1]), z, n[2]))
        s = 1.0 if dot(normal, d) >= 0.0 else -1.0
        normal = scale(s, normal)
        x = cross(normal, d)
        lean = sqrt(dot(x, x))
    if lean > _SIN or (f[_RADIUS] > 0.0 and not rigid and lean > _ALIGNED):
        return bare(1)
    return Feature(g.corners, normal, g.cap if rigid else 0.0)


@kernel
def sampled_feature(core: Core, d: Vec3, v: Array) -> Feature:
    """Return the face along d, approximated by support points of tilted directions; write its corners to ``v``."""
    # Support points that are lower than the highest are not on the face. Support points close together are merged,
    # because they are on a curved part. A face is found only if its normal is almost exactly d, with at most `TILTS` of
    # its corners.
    x = perpendicular(d)
    y = cross(d, x)
    reach = core.floats[_RHO]
    top = 0.0
    for k in range(TILTS):
        s, c = _TILT * _CIRCLE[k * (CORNERS // TILTS), 0], _TILT * _CIRCLE[k * (CORNERS // TILTS), 1]
        p = support(core, along(along(d, x, s), y, c))
        put_row(v, k, p[0], p[1], p[2])
        height = dot(p, d)
        top = height if k == 0 else max(top, height)
    count = 0
    for k in range(TILTS):
        p = row3(v, k)
        # on a flat part all tilted directions give points of equal height; on a curved part they drop
        fresh = dot(p, d) >= top - _DROP * reach
        for j in range(count):
            a, b, c = v[j, 0] - p[0], v[j, 1] - p[1], v[j, 2] - p[2]
            fresh = fresh and a * a + b * b + c * c > _BLUR * _BLUR * reach * reach
        if fresh:
            put_row(v, count, p[0], p[1], p[2])
            count += 1
    if count < 3:
        return bare(max(count, 1))
    return Feature(count, d, 0.0)


@kernel
def feature(core: Core, loops: Loops, d: Vec3, v: Array) -> Feature:
    """Return the feature of a core along the unit direction d.

    The corners are written to ``v``, relative to the centre of the core. A single corner is not written, because it is
    the support point.
    """
    if loops.ints[0] == PLANE:
        put_row(v, 0, 0.0, 0.0, 0.0)
        n = (loops.floats[0], loops.floats[1], loops.floats[2])
        return Feature(PLANE, n if dot(n, d) >= 0.0 else neg(n), 0.0)
    kind = core.ints[_KIND]
    if kind == _HULL:
        return hull_feature(core, loops, d, v)
    if kind != _COMPOSED:
        return primitive_feature(kind, core.floats[_HEAD:], d, v)
    if core.ints[_PARTS] == 1 and core.ints[_INT_HEAD + 1] != _HULL:
        return placed_feature(core, d, v)
    return sampled_feature(core, d, v)
