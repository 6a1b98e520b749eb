"""Intersection and distance of two triangles.

A separating axis proves that two triangles are apart. Candidates are the normals of both triangles, and the cross
products of their edges. For coplanar triangles the vector between the nearest points is tested too. The gap along any
axis is a lower bound of the distance. A gap within the rounding error proves nothing, so undecided pairs count as
intersecting.
"""

from __future__ import annotations

from math import atan2, sqrt

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import NO_LENGTH, Rigid, Vec3, add, along, careful_cross, cross, dot, neg, place, scale, sub
from gjk3d.typing import Array

Triangle = tuple[Vec3, Vec3, Vec3]
Nearest = tuple[float, Vec3, Vec3]

#: Square of the height of a triangle over its longest edge, in units of this edge, below which the nearest point on the
#: edges may be nearer than the computed foot. Rounding moves the foot of a far point farther than the height.
_FLATTEST = 1e-13
#: square of a sine below which an axis loses more by the rounding of a cross product than by that of coordinates
_FEW_DIGITS = 1e-4
_PARALLEL = 1e-15  #: sine of an angle within the rounding of two edges
#: square of the greatest error of a common point, in units of a triangle's length, that is not improved
_EXACT = 1e-30
_TINY = 1e-290  #: bound of errors by underflow


@inlined
def vec_at(row: Array, k: int) -> Vec3:
    """Return the entries k to k + 2 of a row as a vector."""
    return (row[k], row[k + 1], row[k + 2])


@inlined
def set_vec(row: Array, k: int, v: Vec3) -> None:
    """Write a vector to the entries k to k + 2 of a row."""
    row[k], row[k + 1], row[k + 2] = v


@inlined
def read(corners: Array, k: int) -> Triangle:
    """Return triangle k of an array of nine coordinates per row."""
    return (
        (corners[k, 0], corners[k, 1], corners[k, 2]),
        (corners[k, 3], corners[k, 4], corners[k, 5]),
        (corners[k, 6], corners[k, 7], corners[k, 8]),
    )


@inlined
def placed_triangle(m: Rigid, corners: Array, k: int) -> Triangle:
    """Return triangle k of an array of nine coordinates per row, transformed by the pose m."""
    a, b, c = read(corners, k)
    return place(m, a), place(m, b), place(m, c)


@kernel
def _digits_cross(u: Vec3, v: Vec3) -> Vec3:
    """Return u x v. If u and v are nearly parallel, the products are computed exactly to keep correct digits."""
    return careful_cross(u, v, _FEW_DIGITS * dot(u, u) * dot(v, v))


@kernel
def plane_normal(t: Triangle) -> Vec3:
    """Return a vector orthogonal to a triangle, which is accurate for slivers too."""
    return _digits_cross(sub(t[1], t[0]), sub(t[2], t[0]))


@inlined
def middle(a: Vec3, b: Vec3) -> Vec3:
    """Return the point halfway between two points."""
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


@inlined
def _sum(v: Vec3) -> float:
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@inlined
def _parted(n: Vec3, p: Triangle, q: Triangle, noise: float) -> bool:
    """Return whether triangles are apart along n by more than noise. Corners are relative to the first corner of p."""
    length = noise * _sum(n) + _TINY
    a1, a2 = dot(n, p[1]), dot(n, p[2])
    b0, b1, b2 = dot(n, q[0]), dot(n, q[1]), dot(n, q[2])
    low_a, high_a = min(0.0, a1, a2), max(0.0, a1, a2)
    low_b, high_b = min(b0, b1, b2), max(b0, b1, b2)
    return low_b - high_a > length or low_a - high_b > length


@inlined
def _clamp(x: float) -> float:
    return min(1.0, max(0.0, x))


@inlined
def nearest_on_edges(p: Vec3, u: Vec3, q: Vec3, v: Vec3) -> Nearest:
    """Return the squared distance and the nearest points of two edges (Lumelsky 1985).

    The edges are p + s u and q + t v for s and t from 0 to 1.
    """
    r = sub(q, p)
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    c = cross(u, v)
    cc = dot(c, c)
    # by cross products, since |u|^2 |v|^2 - (u v)^2 loses all digits for nearly parallel edges
    s = _clamp(dot(cross(r, v), c) / cc) if cc > 0.0 else 0.0
    t = (uv * s - vr) / vv if vv > 0.0 else 0.0
    if t <= 0.0 or vv == 0.0:
        t = 0.0
        s = _clamp(ur / uu) if uu > 0.0 else 0.0
    elif t >= 1.0:
        t = 1.0
        s = _clamp((ur + uv) / uu) if uu > 0.0 else 0.0
    a = (p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2])
    b = (q[0] + t * v[0], q[1] + t * v[1], q[2] + t * v[2])
    d = sub(b, a)
    return dot(d, d), a, b


@inlined
def _over(p: Vec3, t: Triangle, n: Vec3) -> tuple[bool, Vec3]:
    """Return whether p projects along the normal n into a triangle, and the projected point (zeros if not)."""
    u, v, w = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    x, y, z = dot(n, cross(v, w)), dot(n, cross(w, u)), dot(n, cross(u, v))
    inside = x >= 0.0 and y >= 0.0 and z >= 0.0 and x + y + z > 0.0
    f = 1.0 / (x + y + z) if inside else 0.0
    x, y, z = f * x, f * y, f * z
    return inside, (
        x * t[0][0] + y * t[1][0] + z * t[2][0],
        x * t[0][1] + y * t[1][1] + z * t[2][1],
        x * t[0][2] + y * t[1][2] + z * t[2][2],
    )


@kernel
def nearest_points(p: Triangle, q: Triangle) -> Nearest:
    """Return the squared distance of two triangles that do not cross, and their nearest points."""
    u0, u1, u2 = sub(p[1], p[0]), sub(p[2], p[1]), sub(p[0], p[2])
    v0, v1, v2 = sub(q[1], q[0]), sub(q[2], q[1]), sub(q[0], q[2])
    best, a, b = 1e308, p[0], q[0]
    for s, u, third in ((p[0], u0, p[2]), (p[1], u1, p[0]), (p[2], u2, p[1])):
        for t, v, opposite in ((q[0], v0, q[2]), (q[1], v1, q[0]), (q[2], v2, q[1])):
            d, x, y = nearest_on_edges(s, u, t, v)
            if d < best:
                best, a, b = d, x, y
                w = sub(y, x)
                # the other corners are behind the planes orthogonal to the segment, so no other points are nearer
                if dot(w, sub(third, x)) <= 0.0 and dot(w, sub(opposite, y)) >= 0.0:
                    return best, a, b
    n = cross(u0, u1)
    if dot(n, n) > 0.0:
        for corner in q:
            inside, foot = _over(corner, p, n)
            if inside:
                w = sub(corner, foot)
                if dot(w, w) < best:
                    best, a, b = dot(w, w), foot, corner
    n = cross(v0, v1)
    if dot(n, n) > 0.0:
        for corner in p:
            inside, foot = _over(corner, q, n)
            if inside:
                w = sub(foot, corner)
                if dot(w, w) < best:
                    best, a, b = dot(w, w), corner, foot
    return best, a, b


@kernel
def _meet_closely(p: Triangle, q: Triangle, noise: float) -> bool:
    """Return whether two triangles touch or cross. This is slower and more accurate than `triangles_meet`."""
    square, x, y = nearest_points(p, q)
    if square <= noise * noise:
        return True
    w = sub(y, x)
    if _parted(w, p, q, noise):
        return False
    p_edges, q_edges = (p[1], p[2], sub(p[2], p[1])), (sub(q[1], q[0]), sub(q[2], q[1]), sub(q[0], q[2]))
    # rounding rotates a short segment between nearest points; the axis is orthogonal to the edge of one of them
    for e in (*p_edges, *q_edges):
        ee = dot(e, e)
        if ee > 0.0 and _parted(along(w, e, -dot(w, e) / ee), p, q, noise):
            return False
    if _parted(plane_normal(p), p, q, noise) or _parted(plane_normal(q), p, q, noise):
        return False
    for e in p_edges:
        for f in q_edges:
            if _parted(_digits_cross(e, f), p, q, noise):
                return False
    return True


@inlined
def _gap(e: Vec3, f: Vec3, r: Vec3, y: float, w: float, limit: float) -> float:
    """Return the gap of two triangles along the axis e x f, times the length of e x f.

    ``e`` is an edge of one triangle and ``f`` of the other, and ``r`` leads from the start of e to the start of f.
    ``y`` and ``w`` are the signed extents of the triangles of e and of f along the axis, times the length of e x f.
    For edges that are parallel within rounding, a gap of at least ``-limit`` is replaced by -1e308.
    """
    c = cross(e, f)
    x = dot(c, r)
    gap = max(x - max(0.0, y) + min(0.0, w), min(0.0, y) - max(0.0, w) - x)
    # edges that are parallel within rounding do not define an axis
    return gap if gap < -limit or _sum(c) > _PARALLEL * _sum(e) * _sum(f) else -1e308


@kernel
def triangles_meet(p: Triangle, q: Triangle, noise: float) -> bool:
    """Return whether two triangles touch or cross, within the error ``noise`` of their coordinates.

    For an edge e of p and an edge f of q, the gap along the axis e x f is a determinant of e, f and a difference of
    corners. Its error is less than 16 unit roundoffs times the product of their three lengths. This bound holds for
    short axes too, although the cross product of two edges of a sliver may have no correct digits. ``noise`` is more
    than 16 unit roundoffs times the longest difference, so ``noise`` times the lengths of both edges bounds the error.
    A greater gap along one axis proves that the triangles are apart. Greater overlaps along all axes prove that they
    cross. `_meet_closely` decides the other pairs.
    """
    o = p[0]
    p1, p2 = sub(p[1], o), sub(p[2], o)
    q0, q1, q2 = sub(q[0], o), sub(q[1], o), sub(q[2], o)
    n, long_p, wide_p = cross(p1, p2), _sum(p1), _sum(p2)
    x, y, z = dot(n, q0), dot(n, q1), dot(n, q2)
    limit, low, high = noise * long_p * wide_p + _TINY, min(x, y, z), max(x, y, z)
    if low > limit or high < -limit:
        return False
    clear = low < -limit and high > limit
    f0, f1, f2 = sub(q1, q0), sub(q2, q1), sub(q0, q2)
    k, long_q, wide_q = cross(f0, f1), _sum(f0), _sum(f1)
    x, y, z = -dot(k, q0), dot(k, sub(p1, q0)), dot(k, sub(p2, q0))
    limit, low, high = noise * long_q * wide_q + _TINY, min(x, y, z), max(x, y, z)
    if low > limit or high < -limit:
        return False
    origin = (0.0, 0.0, 0.0)
    if not (clear and low < -limit and high > limit):
        return _meet_closely((origin, p1, p2), (q0, q1, q2), noise)
    x, y, z = -dot(n, f0), -dot(n, f1), -dot(n, f2)
    limit = noise * (long_p + wide_p) * (long_q + wide_q) + _TINY
    for s, e in ((origin, p1), (p1, sub(p2, p1)), (p2, neg(p2))):
        w = dot(k, e)
        gap = max(
            _gap(e, f0, sub(q0, s), x, w, limit),
            _gap(e, f1, sub(q1, s), y, w, limit),
            _gap(e, f2, sub(q2, s), z, w, limit),
        )
        if gap > limit:
            return False
        clear = clear and gap < -limit
    return clear or _meet_closely((origin, p1, p2), (q0, q1, q2), noise)


@inlined
def gap_along(w: Vec3, p: Triangle, q: Triangle) -> float:
    """Return the gap of two triangles along w, from p to q, times the length of w."""
    low = min(dot(w, sub(q[0], p[0])), dot(w, sub(q[1], p[0])), dot(w, sub(q[2], p[0])))
    return low - max(0.0, dot(w, sub(p[1], p[0])), dot(w, sub(p[2], p[0])))


@kernel
def proven_square(w: Vec3, d: float, p: Triangle, q: Triangle) -> float:
    """Return the square of a lower bound of the distance of two triangles.

    ``w`` leads from a point of p to a point of q, and ``d`` is its squared length. Rounding of the points rotates a
    short w, so the normal of a triangle may give a better bound.
    """
    if not d > 0.0:
        return 0.0
    gap = max(0.0, gap_along(w, p, q))
    if gap >= (1.0 - 1e-6) * d:
        return gap * gap / d
    best = gap / sqrt(d)
    for n in (normal_of(p), normal_of(q)):
        side = 1.0 if dot(n, w) > 0.0 else -1.0
        best = max(best, gap_along(scale(side, n), p, q))
    return best * best


@inlined
def _nearest_on_edges(p: Vec3, t: Triangle) -> tuple[float, Vec3]:
    best, foot = 1e308, t[0]
    for s, e in ((t[0], sub(t[1], t[0])), (t[1], sub(t[2], t[1])), (t[2], sub(t[0], t[2]))):
        square = dot(e, e)
        x = _clamp(dot(sub(p, s), e) / square) if square > 0.0 else 0.0
        at = (s[0] + x * e[0], s[1] + x * e[1], s[2] + x * e[2])
        w = sub(p, at)
        if dot(w, w) < best:
            best, foot = dot(w, w), at
    return best, foot


@kernel
def nearest_on(p: Vec3, t: Triangle) -> tuple[float, Vec3]:
    """Return the squared distance of a point from a triangle, and the nearest point of the triangle."""
    a, b, c = t
    u, v, w = sub(b, a), sub(c, b), sub(a, c)
    uu, vv, ww = dot(u, u), dot(v, v), dot(w, w)
    # The height is that over the longest edge. The normal of a needle may have no correct digits, but the height has:
    # an error of the height moves the foot by rounding times the length over the height.
    if vv > uu and vv >= ww:
        a, c, u, w, uu = b, a, v, u, vv
    elif ww > uu:
        a, c, u, w, uu = c, b, w, v, ww
    along = -dot(w, u) / uu if uu > 0.0 else 0.0
    height = (-w[0] - along * u[0], -w[1] - along * u[1], -w[2] - along * u[2])
    hh = dot(height, height)
    if hh > 0.0:
        r = sub(p, a)
        x = dot(r, u) / uu
        y = dot((r[0] - x * u[0], r[1] - x * u[1], r[2] - x * u[2]), height) / hh
        if y >= 0.0 and x >= along * y and x <= 1.0 - (1.0 - along) * y:
            foot = (
                a[0] + x * u[0] + y * height[0], a[1] + x * u[1] + y * height[1], a[2] + x * u[2] + y * height[2],
            )  # fmt: skip
            r = sub(p, foot)
            if hh > _FLATTEST * uu:
                return dot(r, r), foot
            square, at = _nearest_on_edges(p, t)
            return (square, at) if square < dot(r, r) else (dot(r, r), foot)
    return _nearest_on_edges(p, t)


@inlined
def solid_angle(p: Vec3, t: Triangle) -> float:
    """Return the signed solid angle of a triangle at a point, 0 at a corner (van Oosterom, Strackee, 1983).

    With unit vectors a, b and c to the corners, the tangent of half the angle is a (b x c) over 1 + ab + bc + ca. Near
    the middle of a needle, numerator and denominator lose all digits. They are equal to c (u x v) and u v for u = a + c
    and v = b + c, which are accurate if the angle between a and b is the least of the three.
    """
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    la, lb, lc = sqrt(dot(a, a)), sqrt(dot(b, b)), sqrt(dot(c, c))
    if not min(la, lb, lc) > 0.0:
        return 0.0
    a, b, c = scale(1.0 / la, a), scale(1.0 / lb, b), scale(1.0 / lc, c)
    ab, bc, ca = dot(a, b), dot(b, c), dot(c, a)
    if bc >= ab and bc >= ca:
        a, b, c = b, c, a
    elif ca >= ab:
        a, b, c = c, a, b
    u, v = add(a, c), add(b, c)
    return 2.0 * atan2(dot(c, cross(u, v)), dot(u, v))


@kernel
def crossing_segment(p: Triangle, q: Triangle) -> tuple[float, Vec3, Vec3]:
    """Return the length and the end points of the segment in which two triangles cross, or the length 0."""
    n, k = plane_normal(p), plane_normal(q)
    w = cross(n, k)
    ww = dot(w, w)
    nothing = (0.0, p[0], p[0])
    # parallel planes do not intersect in a line
    if not ww > 1e-28 * dot(n, n) * dot(k, k):
        return nothing
    low, high = -1e308, 1e308
    first, last = p[0], p[0]
    for t, m, o in ((p, k, q[0]), (q, n, p[0])):
        d = (dot(m, sub(t[0], o)), dot(m, sub(t[1], o)), dot(m, sub(t[2], o)))
        start, stop = 1e308, -1e308
        x, y = t[0], t[0]
        for i in range(3):
            j = (i + 1) % 3
            if (d[i] < 0.0) == (d[j] < 0.0):
                continue
            f = d[i] / (d[i] - d[j])
            e = sub(t[j], t[i])
            c = (t[i][0] + f * e[0], t[i][1] + f * e[1], t[i][2] + f * e[2])
            along = dot(w, sub(c, p[0]))
            if along < start:
                start, x = along, c
            if along > stop:
                stop, y = along, c
        if start > stop:
            return nothing
        # each triangle covers an interval of the common line of both planes, and the segment is their intersection
        if start > low:
            low, first = start, x
        if stop < high:
            high, last = stop, y
    if not high > low:
        return nothing
    return (high - low) / sqrt(ww), first, last


@kernel
def pierced(p: Triangle, q: Triangle) -> float:
    """Return how far the points of p may move relative to q while an edge of p pierces q, or 0 if none pierces q.

    Up to this distance, the ends of the edge stay on opposite sides of the plane of q, and the rim of q encloses the
    edge.
    """
    best, n = 0.0, plane_normal(q)
    area = sqrt(dot(n, n))
    for a, b in ((p[0], p[1]), (p[1], p[2]), (p[2], p[0])):
        u, x, y, z = sub(b, a), sub(q[0], a), sub(q[1], a), sub(q[2], a)
        da, db = dot(n, x), dot(n, sub(q[0], b))
        if not min(da, db) < 0.0 < max(da, db):
            continue
        side, least = 1.0 if da < 0.0 else -1.0, min(abs(da), abs(db)) / area
        for s, t in ((x, y), (y, z), (z, x)):
            w = _digits_cross(u, sub(t, s))
            length = sqrt(dot(w, w))
            least = min(least, side * dot(w, s) / length) if length > 0.0 else 0.0
        best = max(best, least)
    return best


@kernel
def reach_through(p: Triangle, q: Triangle) -> float:
    """Return the penetration of two triangles. They still cross after any motion that is shorter than the result."""
    return max(pierced(p, q), pierced(q, p))


@kernel
def normal_of(t: Triangle) -> Vec3:
    """Return the unit normal of a triangle, zero if it is degenerate."""
    n = plane_normal(t)
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return (0.0, 0.0, 0.0)
    return scale(1.0 / length, n)


@kernel
def middle_of(t: Triangle) -> Vec3:
    """Return the centroid of a triangle."""
    return scale(1.0 / 3.0, add(add(t[0], t[1]), t[2]))


@kernel
def _off(c: Vec3, p: Triangle, q: Triangle) -> float:
    """Return the square of the greater of the distances of a point from two triangles."""
    return max(nearest_on(c, p)[0], nearest_on(c, q)[0])


@kernel
def common_of(p: Triangle, q: Triangle) -> Vec3:
    """Return a common point of two triangles that touch or cross."""
    length, x, y = crossing_segment(p, q)
    best = middle(x, y)
    off = _off(best, p, q) if length > 0.0 else 1e308
    u, v = sub(p[1], p[0]), sub(p[2], p[0])
    if off <= _EXACT * max(dot(u, u), dot(v, v)):
        return best
    # rounding moves the line of nearly parallel planes, and the segment of a sliver may be a point
    _, x, y = nearest_points(p, q)
    c = middle(x, y)
    if _off(c, p, q) < off:
        best, off = c, _off(c, p, q)
    for t, o in ((p, q), (q, p)):
        n = plane_normal(o)
        for i in range(3):
            s, e = t[i], sub(t[(i + 1) % 3], t[i])
            d, along_e = dot(n, sub(o[0], s)), dot(n, e)
            if abs(d) < abs(along_e):
                c = along(s, e, d / along_e)
                if _off(c, p, q) < off:
                    best, off = c, _off(c, p, q)
    return best
