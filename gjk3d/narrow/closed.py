"""Closed forms for the distance of two points, segments or boxes, and of a point from a cylinder.

If rounding could change the result of a closed form, the result is not settled, and GJK runs.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Rigid,
    Vec3,
    add,
    along,
    cross,
    divide,
    dot,
    neg,
    offset,
    perpendicular,
    place,
    scale,
    sub,
    turn,
    turn_back,
    unit,
)
from gjk3d.narrow.cores import Cores, between_centers, direction_between, support_pair
from gjk3d.narrow.gjk import TOUCHING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array

_KIND, _HEAD = layout.KIND, layout.FLOAT_HEAD
_POINT, _SEGMENT, _BOX, _CYLINDER = layout.POINT, layout.SEGMENT, layout.BOX, layout.CYLINDER
_WITNESS_GAP = 16.0  #: in units of `Cores.tiny`: largest error of the vector between the witnesses


class Gap(NamedTuple):
    """The signed distance of two cores to within `Cores.error`, with the normal and the witnesses in A's frame."""

    settled: bool  #: whether the closed form has a result
    signed: float  #: 0 if the only result is the common point a = b
    n: Vec3  #: from A to B
    a: Vec3  #: witness points
    b: Vec3


@kernel
def has_formula(c: Cores) -> bool:
    """Return whether two cores have a closed form."""
    a, b = c.a.ints[_KIND], c.b.ints[_KIND]
    return bool((a <= _BOX and b <= _BOX) or (min(a, b) == _POINT and max(a, b) == _CYLINDER))


@kernel
def gap_of(c: Cores) -> Gap:
    """Return the `Gap` of two cores that have a closed form."""
    if c.a.ints[_KIND] == _POINT:
        if c.b.ints[_KIND] == _POINT:
            t = offset(c.m)
            length = sqrt(dot(t, t))
            clear = length > TOUCHING * c.tiny
            return Gap(clear, length, divide(t, length) if clear else t, (0.0, 0.0, 0.0), t)
        if c.b.ints[_KIND] != _SEGMENT:
            signed, n, p = from_solid(c.b, neg(turn_back(c.m, offset(c.m))))
            return Gap(abs(signed) > TOUCHING * c.tiny, signed, neg(turn(c.m, n)), (0.0, 0.0, 0.0), place(c.m, p))
    elif c.b.ints[_KIND] == _POINT and c.a.ints[_KIND] != _SEGMENT:
        q = offset(c.m)
        signed, n, p = from_solid(c.a, q)
        return Gap(abs(signed) > TOUCHING * c.tiny, signed, n, p, q)
    return between_boxes(c) if is_boxes(c) else between_segments(c)


@kernel
def inside_both(c: Cores) -> tuple[Vec3, Vec3, Vec3]:
    """Return the unit vector from A's centre to B's, and a point of A and a point of B on the line of the centres.

    All are in A's frame. The points are in the inscribed balls of their cores, and equal if the balls intersect.
    """
    inner_a, inner_b = c.a.floats[layout.INNER], c.b.floats[layout.INNER]
    n, t = unit(direction_between(c.m)), between_centers(c.m)
    common = min(inner_a, t * (inner_a / (inner_a + inner_b)))
    if t > inner_a + inner_b:
        return n, scale(inner_a, n), scale(t - inner_b, n)
    return n, scale(common, n), scale(common, n)


@kernel
def half_vector(core: Core) -> Vec3:
    """Return the vector from the centre of a segment to an end, or the zero vector for a point."""
    f = core.floats
    return (f[_HEAD], f[_HEAD + 1], f[_HEAD + 2]) if core.ints[_KIND] == _SEGMENT else (0.0, 0.0, 0.0)


@kernel
def clamped(x: float, y: float) -> float:
    """Return x / y clamped to [-1, 1], or 0 if y is not positive."""
    return min(max(x / y, -1.0), 1.0) if y > 0.0 else 0.0


@kernel
def between_segments(c: Cores) -> Gap:
    """Return the distance of two segments (Ericson 2005, sec. 5.1.9).

    A core that is a point counts as a segment of length 0. ``Gap.settled`` is whether a support point proves the
    distance.
    """
    # For parallel segments next to each other, the witnesses are one of many nearest pairs.
    e, f, t = half_vector(c.a), turn(c.m, half_vector(c.b)), offset(c.m)
    ee, ff, ef, et, ft = dot(e, e), dot(f, f), dot(e, f), dot(e, t), dot(f, t)
    x = clamped(et * ff - ef * ft, ee * ff - ef * ef)
    y = clamped(ef * x - ft, ff)
    x = clamped(ef * y + et, ee)
    a, b = scale(x, e), along(t, f, y)
    v = sub(b, a)
    length = sqrt(dot(v, v))
    if not length > TOUCHING * c.tiny:
        return Gap(False, length, v, a, b)
    n = divide(v, length)
    w, _, _ = support_pair(c, n)
    return Gap(length + dot(n, w) <= c.tiny, length, n, a, b)


@kernel
def between_boxes(c: Cores) -> Gap:
    """Return the distance of a box from a box or segment.

    ``Gap.settled`` is whether a support point proves the distance, or a common point proves an overlap.
    """
    flipped, h, g, m = as_boxes(c)
    r, a, b = nearest_of_boxes(h, g, m, c.tiny)
    if a == b:
        within = min(h[0] - abs(a[0]), min(h[1] - abs(a[1]), h[2] - abs(a[2])))
        common = place(c.m, a) if flipped else a
        return Gap(within > c.error, 0.0, unit(direction_between(c.m)), common, common)
    if flipped:
        r, a, b = seen_from_a(c, r, a, b)
    # 16 tiny are 256 u L, more than the error 64 u L of the rotations; larger deviations are left to GJK
    length, off = sqrt(dot(r, r)), sub(sub(b, a), r)
    most = c.error + _WITNESS_GAP * c.tiny
    if not length > TOUCHING * c.tiny or dot(off, off) > most * most:
        return Gap(False, length, r, a, b)
    n = divide(r, length)
    w, _, _ = support_pair(c, n)
    return Gap(abs(length + dot(n, w)) <= c.tiny, length, n, a, b)


@kernel
def from_solid(core: Core, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Return the signed distance of q from a box or cylinder, the outward normal, and the nearest surface point.

    The point q and the results are in the frame of the core.
    """
    # The normal is exact to the last bit for that surface point, also if q is arbitrarily near to it.
    if core.ints[_KIND] == _BOX:
        return from_box(core.floats[_HEAD:], q)
    return from_cylinder(core.floats[_HEAD], core.floats[_HEAD + 1], q)


@inlined
def from_box(h: Array, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Return the signed distance of q from the box with half extents h, the normal, and the nearest surface point."""
    x, y, z = q
    p = (min(max(x, -h[0]), h[0]), min(max(y, -h[1]), h[1]), min(max(z, -h[2]), h[2]))
    v = sub(q, p)
    length = sqrt(dot(v, v))
    if length > 0.0:
        return length, divide(v, length), p
    to_x, to_y, to_z = h[0] - abs(x), h[1] - abs(y), h[2] - abs(z)
    if to_x <= to_y and to_x <= to_z:
        s = 1.0 if x >= 0.0 else -1.0
        return -to_x, (s, 0.0, 0.0), (s * h[0], y, z)
    if to_y <= to_z:
        s = 1.0 if y >= 0.0 else -1.0
        return -to_y, (0.0, s, 0.0), (x, s * h[1], z)
    s = 1.0 if z >= 0.0 else -1.0
    return -to_z, (0.0, 0.0, s), (x, y, s * h[2])


@inlined
def from_cylinder(r: float, h: float, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Return the signed distance of q from a cylinder along z, the normal, and the nearest surface point.

    The cylinder has the radius r and the half height h.
    """
    x, y, z = q
    rho = sqrt(x * x + y * y)
    ux, uy = (x / rho, y / rho) if rho > NO_LENGTH else (1.0, 0.0)
    out, up, s = rho - r, abs(z) - h, 1.0 if z >= 0.0 else -1.0
    if out > 0.0 and up > 0.0:
        length = sqrt(out * out + up * up)
        k = out / length
        return length, (k * ux, k * uy, s * (up / length)), (r * ux, r * uy, s * h)
    if up >= out:  # above a cap, or nearer to it than to the side
        return up, (0.0, 0.0, s), (x, y, s * h)
    return out, (ux, uy, 0.0), (r * ux, r * uy, z)


#: sines of the angle between two edges: below the first they count as parallel, above the second their cross product is
#: accurate
PARALLEL, CLEAR_CUT = 1e-14, 0.02
BLURRED = 1e-5  #: below this sine the error of the gap is 1e-10 of the pair's size or more, so the gap proves nothing
#: error of the gap along a cross product of length `CLEAR_CUT`, in units of the pair's size
WIDTH = 1e-13
FACE_A, FACE_B, EDGES = 0, 3, 6  #: first index of an axis of each kind, see `best_axis`


@inlined
def edge_gap(p: float, q: float, t: float, reach: float) -> tuple[float, float]:
    """Return the gap of two boxes along the cross product (0, p, q) of two edges, and the length of this product.

    ``t`` is the dot product of the centres' offset and the cross product. ``reach`` is the sum of the half widths of
    both boxes along the cross product, times its length. For a length below `BLURRED` the gap is -1e300, which proves
    nothing. The returned length is 1 for parallel edges.
    """
    length = sqrt(p * p + q * q)
    if length < PARALLEL:
        return -1e300, 1.0
    if length < BLURRED:
        return -1e300, length
    return (abs(t) - reach) / length, length


@inlined
def half_extents(a: Core) -> Vec3:
    """Return the half extents of a box, or the vector from the centre of a segment to its end."""
    return (a.floats[_HEAD], a.floats[_HEAD + 1], a.floats[_HEAD + 2])


@kernel
def is_boxes(c: Cores) -> bool:
    """Return whether a core is a box, and the other core is a box or segment."""
    a, b = c.a.ints[_KIND], c.b.ints[_KIND]
    return bool(max(a, b) == _BOX and min(a, b) >= _SEGMENT)


@kernel
def as_boxes(c: Cores) -> tuple[bool, Vec3, Vec3, Rigid]:
    """Return whether B is the first box, the half extents of the first and second, and the second's pose in the first.

    If A is not a box, B is the first box. A segment counts as a box of half extents (length / 2, 0, 0). The rotation in
    its pose has only the axis along the segment, and zeros for the other axes. `completed` adds these axes.
    """
    flipped = c.a.ints[_KIND] != _BOX
    first, second, m = (c.b, c.a, inverse(c.m)) if flipped else (c.a, c.b, c.m)
    h, g = half_extents(first), half_extents(second)
    if second.ints[_KIND] == _SEGMENT:
        length = sqrt(dot(g, g))
        e = divide(turn(m, g), length) if length > NO_LENGTH else (1.0, 0.0, 0.0)
        m, g = (e[0], 0.0, 0.0, e[1], 0.0, 0.0, e[2], 0.0, 0.0, m[9], m[10], m[11]), (length, 0.0, 0.0)
    return flipped, h, g, m


@kernel
def completed(m: Rigid) -> Rigid:
    """Return a segment's pose with its two missing axes added, neither nearly parallel to an axis of the box."""
    e = (m[0], m[3], m[6])
    y = perpendicular(e)
    z = cross(e, y)
    u, w = scale(sqrt(0.5), add(y, z)), scale(sqrt(0.5), sub(z, y))
    return (e[0], u[0], w[0], e[1], u[1], w[1], e[2], u[2], w[2], m[9], m[10], m[11])


@inlined
def seen_from_a(c: Cores, n: Vec3, b: Vec3, a: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Return -n, a and b in A's frame. The arguments are in B's frame, and n is the direction from B to A."""
    return turn(c.m, neg(n)), place(c.m, a), place(c.m, b)


@kernel
def best_axis(h: Vec3, g: Vec3, m: Rigid, enough: float) -> tuple[float, int, float, bool]:
    """Return the gap along the best separating axis of two boxes, the index of this axis, the widest gap, and a flag.

    ``h`` and ``g`` are half extents, and ``m`` is the pose of the second box in the first. Axes 0 to 2 are face normals
    of the first box, and 3 to 5 those of the second. Axis 6 + 3 i + j is the cross product of edge i of the first box
    and edge j of the second. Such an axis is the best only if its gap exceeds that of the best face by more than
    rounding. The widest gap may therefore be slightly greater than the gap along the best axis. A face gap above
    ``enough`` ends the search, with the flag True. Otherwise the flag is whether the cross products of all edges that
    are not parallel are longer than `CLEAR_CUT`, so that every gap is accurate.
    """
    h0, h1, h2 = h
    g0, g1, g2 = g
    r00, r01, r02, r10, r11, r12, r20, r21, r22, t0, t1, t2 = m
    a00, a01, a02 = abs(r00), abs(r01), abs(r02)
    a10, a11, a12 = abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
    # 15 axes: 6 face normals and 9 cross products of edges (Gottschalk, Lin, Manocha, OBBTree, 1996). The loops are
    # unrolled, because each component of such a cross product is 0 or an entry of the rotation.
    best, which = abs(t0) - h0 - (g0 * a00 + g1 * a01 + g2 * a02), 0
    gap = abs(t1) - h1 - (g0 * a10 + g1 * a11 + g2 * a12)
    if gap > best:
        best, which = gap, 1
    gap = abs(t2) - h2 - (g0 * a20 + g1 * a21 + g2 * a22)
    if gap > best:
        best, which = gap, 2
    gap = abs(t0 * r00 + t1 * r10 + t2 * r20) - g0 - (h0 * a00 + h1 * a10 + h2 * a20)
    if gap > best:
        best, which = gap, 3
    gap = abs(t0 * r01 + t1 * r11 + t2 * r21) - g1 - (h0 * a01 + h1 * a11 + h2 * a21)
    if gap > best:
        best, which = gap, 4
    gap = abs(t0 * r02 + t1 * r12 + t2 * r22) - g2 - (h0 * a02 + h1 * a12 + h2 * a22)
    if gap > best:
        best, which = gap, 5
    if best > enough:
        return best, which, best, True
    x0, l0 = edge_gap(r20, r10, t2 * r10 - t1 * r20, h1 * a20 + h2 * a10 + g1 * a02 + g2 * a01)
    x1, l1 = edge_gap(r21, r11, t2 * r11 - t1 * r21, h1 * a21 + h2 * a11 + g0 * a02 + g2 * a00)
    x2, l2 = edge_gap(r22, r12, t2 * r12 - t1 * r22, h1 * a22 + h2 * a12 + g0 * a01 + g1 * a00)
    x3, l3 = edge_gap(r20, r00, t0 * r20 - t2 * r00, h0 * a20 + h2 * a00 + g1 * a12 + g2 * a11)
    x4, l4 = edge_gap(r21, r01, t0 * r21 - t2 * r01, h0 * a21 + h2 * a01 + g0 * a12 + g2 * a10)
    x5, l5 = edge_gap(r22, r02, t0 * r22 - t2 * r02, h0 * a22 + h2 * a02 + g0 * a11 + g1 * a10)
    x6, l6 = edge_gap(r10, r00, t1 * r00 - t0 * r10, h0 * a10 + h1 * a00 + g1 * a22 + g2 * a21)
    x7, l7 = edge_gap(r11, r01, t1 * r01 - t0 * r11, h0 * a11 + h1 * a01 + g0 * a22 + g2 * a20)
    x8, l8 = edge_gap(r12, r02, t1 * r02 - t0 * r12, h0 * a12 + h1 * a02 + g0 * a21 + g1 * a20)
    sure = min(min(min(l0, l1), min(l2, l3)), min(min(l4, l5), min(min(l6, l7), l8))) > CLEAR_CUT
    widest = max(max(max(x0, x1), max(x2, x3)), max(max(x4, x5), max(max(x6, x7), x8)))
    if widest > best + WIDTH * (h0 + h1 + h2 + g0 + g1 + g2):
        which = 6
        for x in (x0, x1, x2, x3, x4, x5, x6, x7, x8):
            if x == widest:
                break
            which += 1
        return widest, which, widest, sure
    return best, which, max(best, widest), sure


@inlined
def clamp(x: float, h: float) -> float:
    """Return x clamped to [-h, h]."""
    return min(max(x, -h), h)


@kernel
def on_face(h: Vec3, g: Vec3, m: Rigid, axis: int, tol: float) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return success, the normal of A's face ``axis`` towards B, and a point of A and of B on a line along this normal.

    ``h`` and ``g`` are the half extents of the boxes A and B, and ``m`` is B's pose in A. The search starts at a point
    of B that is lowest along the normal, and moves along the edges of B that are parallel to the face. Success is
    False if it finds no such points. All results are in A's frame.
    """
    s = 1.0 if m[9 + axis] >= 0.0 else -1.0
    c = (s * m[3 * axis], s * m[3 * axis + 1], s * m[3 * axis + 2])
    free0, free1, free2 = abs(c[0]) < PARALLEL, abs(c[1]) < PARALLEL, abs(c[2]) < PARALLEL
    x0 = 0.0 if free0 else (-g[0] if c[0] > 0.0 else g[0])
    x1 = 0.0 if free1 else (-g[1] if c[1] > 0.0 else g[1])
    x2 = 0.0 if free2 else (-g[2] if c[2] > 0.0 else g[2])
    n = (s if axis == 0 else 0.0, s if axis == 1 else 0.0, s if axis == 2 else 0.0)
    # B's coordinates along edges parallel to the face are free: they do not change the height over it. Each pass moves
    # B's point along these edges toward its projection on A's face.
    for _ in range(8):
        b = place(m, (x0, x1, x2))
        a = (
            s * h[0] if axis == 0 else clamp(b[0], h[0]),
            s * h[1] if axis == 1 else clamp(b[1], h[1]),
            s * h[2] if axis == 2 else clamp(b[2], h[2]),
        )
        away = (
            0.0 if axis == 0 else a[0] - b[0], 0.0 if axis == 1 else a[1] - b[1], 0.0 if axis == 2 else a[2] - b[2]
        )  # fmt: skip
        if max(abs(away[0]), max(abs(away[1]), abs(away[2]))) <= tol:
            return True, n, a, b
        if not (free0 or free1 or free2):
            break
        if free0:
            x0 = clamp(x0 + m[0] * away[0] + m[3] * away[1] + m[6] * away[2], g[0])
        if free1:
            x1 = clamp(x1 + m[1] * away[0] + m[4] * away[1] + m[7] * away[2], g[1])
        if free2:
            x2 = clamp(x2 + m[2] * away[0] + m[5] * away[1] + m[8] * away[2], g[2])
    return False, n, n, n


@kernel
def on_edges(h: Vec3, g: Vec3, m: Rigid, i: int, j: int, tol: float) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return success, the common normal of an edge of A and one of B, from A to B, and the nearest points of the edges.

    The edges are along axis i of A and axis j of B. They support A along the normal and B along its opposite. Success
    is False if the nearest points of their lines are past the ends of the edges. All results are in A's frame.
    """
    e = (m[j], m[3 + j], m[6 + j])
    n = (
        0.0 if i == 0 else (e[2] if i == 1 else -e[1]),
        -e[2] if i == 0 else (0.0 if i == 1 else e[0]),
        e[1] if i == 0 else (-e[0] if i == 1 else 0.0),
    )
    length = sqrt(dot(n, n))
    if dot(n, offset(m)) < 0.0:
        length = -length
    n = divide(n, length)
    p = (
        0.0 if i == 0 else (h[0] if n[0] > 0.0 else -h[0]),
        0.0 if i == 1 else (h[1] if n[1] > 0.0 else -h[1]),
        0.0 if i == 2 else (h[2] if n[2] > 0.0 else -h[2]),
    )
    x0 = 0.0 if j == 0 else (-g[0] if n[0] * m[0] + n[1] * m[3] + n[2] * m[6] > 0.0 else g[0])
    x1 = 0.0 if j == 1 else (-g[1] if n[0] * m[1] + n[1] * m[4] + n[2] * m[7] > 0.0 else g[1])
    x2 = 0.0 if j == 2 else (-g[2] if n[0] * m[2] + n[1] * m[5] + n[2] * m[8] > 0.0 else g[2])
    # Nearest points of the lines of both edges (Ericson 2005, sec. 5.1.8). A point past an end is not on the edge, so
    # the depth of this axis belongs to another pair of features.
    q = place(m, (x0, x1, x2))
    w = sub(q, p)
    u, ahead = e[i], dot(w, e)
    x = (w[i] - u * ahead) / (length * length)
    y = x * u - ahead
    if abs(x) > h[i] + tol or abs(y) > g[j] + tol:
        return False, n, p, q
    x, y = clamp(x, h[i]), clamp(y, g[j])
    a = (p[0] + (x if i == 0 else 0.0), p[1] + (x if i == 1 else 0.0), p[2] + (x if i == 2 else 0.0))
    b = along(q, e, y)
    return True, n, a, b


@kernel
def inverse(m: Rigid) -> Rigid:
    """Return the pose of A in B from the pose m of B in A."""
    x, y, z = neg(turn_back(m, offset(m)))
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], x, y, z)


@kernel
def overlapping_boxes(c: Cores) -> tuple[bool, float, float, Vec3, Vec3, Vec3]:
    """Return whether the signed distance is settled, this distance, its upper bound, the normal, and both witnesses.

    One core is a box, the other core is a box or a segment, and they overlap. The normal and the witness points are in
    A's frame.
    """
    flipped, h, g, m = as_boxes(c)
    if min(c.a.ints[_KIND], c.b.ints[_KIND]) == _SEGMENT:
        m = completed(m)
    gap, which, widest, sure = best_axis(h, g, m, 0.0)
    upper = widest + WIDTH * c.size + c.error
    n = (1.0, 0.0, 0.0)
    if not sure or not upper < 0.0:
        return False, gap, upper, n, n, n
    tol = 16.0 * WIDTH * c.size
    if which < FACE_B:
        exists, n, p, q = on_face(h, g, m, which, tol)
    elif which < EDGES:
        exists, n, q, p = on_face(g, h, inverse(m), which - FACE_B, tol)
        n = turn(m, neg(n))
        p, q = place(m, p), place(m, q)
    else:
        exists, n, p, q = on_edges(h, g, m, (which - EDGES) // 3, (which - EDGES) % 3, tol)
    if flipped:
        n, p, q = seen_from_a(c, n, p, q)
    return exists, gap, upper, n, p, q


_TRIES = 16  #: most steps of `nearest_of_boxes`
_NOTHING = 1e-20  #: ratio of squared distances after and before a step, below which the step reaches the surface of A
_FARTHER = 1.25  #: factor of such a step; a point on the surface of A would not prove an overlap
_FULL = 1.0 - 1e-12  #: squared cosine above which an edge of B is perpendicular to a face of A


@inlined
def at_end(x: float, q: float, g: float) -> float:
    """Return 1 if the coordinate x of B's point is free to move, else 0.

    x is between -g and g. It is not free if a step against the gradient q would leave this range, or if g is 0.
    """
    return 0.0 if g <= 0.0 or (x >= g and q <= 0.0) or (x <= -g and q >= 0.0) else 1.0


@inlined
def step_of(m: Rigid, r: Vec3, q: Vec3, f: Vec3) -> Vec3:
    """Return the step that moves B's point to the minimum of half the squared distance from A.

    ``q`` is the gradient of this function at B's point. ``q`` and the step are in B's frame. Only coordinates with
    f[j] = 1 move. ``r`` is the vector from the nearest point of A to B's point, in A's frame.
    """
    # The matrix of the normal equations is I if the point is outside A's faces along all three axes. It is I - u u' for
    # two axes, with u the free part of the rotation's row of the third axis. It is v v' for one axis, with v the free
    # part of the rotation's row of this axis.
    out0, out1, out2 = r[0] != 0.0, r[1] != 0.0, r[2] != 0.0
    q = (f[0] * q[0], f[1] * q[1], f[2] * q[2])
    if out0 and out1 and out2:
        return (-q[0], -q[1], -q[2])
    if (out0 and out1) or (out0 and out2) or (out1 and out2):
        k = 6 if not out2 else 3 if not out1 else 0
        u = (f[0] * m[k], f[1] * m[k + 1], f[2] * m[k + 2])
        square = dot(u, u)
        # if u has length 1 the matrix is singular, and a step along u has no effect
        t = dot(u, q) / (1.0 - square if square < _FULL else -square)
        return (-q[0] - t * u[0], -q[1] - t * u[1], -q[2] - t * u[2])
    k = 0 if out0 else 3 if out1 else 6
    square = f[0] * m[k] * m[k] + f[1] * m[k + 1] * m[k + 1] + f[2] * m[k + 2] * m[k + 2]
    if not square > 0.0:
        return (0.0, 0.0, 0.0)
    return (-q[0] / square, -q[1] / square, -q[2] / square)


@inlined
def cut_short(x: Vec3, d: Vec3, g: Vec3) -> Vec3:
    """Return the step d from x, shortened so that the coordinates of its end are between -g and g."""
    t = 1.0
    for j in range(3):
        if d[j] != 0.0:
            t = min(t, (g[j] - (x[j] if d[j] > 0.0 else -x[j])) / abs(d[j]))
    return (t * d[0], t * d[1], t * d[2])


@kernel
def slope_at(h: Vec3, y: Vec3, e: Vec3, t: float) -> float:
    """Return the derivative by t of half the squared distance of y + t e from the box with half extents h."""
    total = 0.0
    for i in range(3):
        x = y[i] + t * e[i]
        total += e[i] * (x - clamp(x, h[i]))
    return total


@kernel
def turning_point(h: Vec3, y: Vec3, e: Vec3, slope_at_0: float, slope_at_1: float) -> float:
    """Return the t in [0, 1] at which `slope_at` is 0. The slope is negative at 0 and positive at 1."""
    # The slope is linear in t between two planes of the box.
    low, high = 0.0, 1.0
    for i in range(3):
        for side in range(2):
            t = ((h[i] if side == 0 else -h[i]) - y[i]) / e[i] if e[i] != 0.0 else 0.0
            if low < t < high:
                slope = slope_at(h, y, e, t)
                if slope > 0.0:
                    high, slope_at_1 = t, slope
                else:
                    low, slope_at_0 = t, slope
    return low + (high - low) * slope_at_0 / (slope_at_0 - slope_at_1)


@kernel
def nearest_of_boxes(h: Vec3, g: Vec3, m: Rigid, tiny: float) -> tuple[Vec3, Vec3, Vec3]:
    """Return the vector from A to B between nearest points of two boxes, then the nearest point of A and that of B.

    ``h`` and ``g`` are the half extents of A and B, and ``m`` is B's pose in A. The search ends when a step is at
    most ``tiny`` long. All results are in A's frame.
    """
    # The vector is orthogonal to the edges whose coordinates are free. The difference of the points would lose all
    # digits.
    x = turn_back(m, offset(m))
    x = (clamp(-x[0], g[0]), clamp(-x[1], g[1]), clamp(-x[2], g[2]))
    y = offset(m)
    p = r = y
    s, slope, careful = (0.0, 0.0, 0.0), 0.0, False
    for _ in range(_TRIES):
        y = place(m, x)
        p = (clamp(y[0], h[0]), clamp(y[1], h[1]), clamp(y[2], h[2]))
        r = sub(y, p)
        if r[0] == 0.0 and r[1] == 0.0 and r[2] == 0.0:
            break
        q = turn_back(m, r)
        slope_after = dot(q, s)
        # past the minimum: the previous step is shortened to its minimum, and later steps end at the first limit
        if slope_after > -0.5 * slope:
            e = turn(m, s)
            t = turning_point(h, sub(y, e), e, slope, slope_after) if slope < 0.0 else 0.0
            x = along(x, s, t - 1.0)
            s, slope, careful = (0.0, 0.0, 0.0), 0.0, True
            continue
        d = step_of(m, r, q, (at_end(x[0], q[0], g[0]), at_end(x[1], q[1], g[1]), at_end(x[2], q[2], g[2])))
        former, longest = r, max(abs(d[0]), max(abs(d[1]), abs(d[2])))
        w, (r0, r1, r2), square = turn(m, d), r, dot(r, r)
        r = (r0 + w[0] if r0 != 0.0 else 0.0, r1 + w[1] if r1 != 0.0 else 0.0, r2 + w[2] if r2 != 0.0 else 0.0)
        if dot(r, r) <= _NOTHING * square:
            d = scale(_FARTHER, d)
        if careful:
            d = cut_short(x, d, g)
        z = (clamp(x[0] + d[0], g[0]), clamp(x[1] + d[1], g[1]), clamp(x[2] + d[2], g[2]))
        s = sub(z, x)
        if max(abs(s[0]), max(abs(s[1]), abs(s[2]))) <= tiny:
            if longest > tiny:  # a limit of B stopped the step, so the predicted vector does not hold
                r = former
            break
        x, slope = z, dot(q, s)
    return r, p, y
