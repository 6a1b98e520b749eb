"""Two boxes by their fifteen axes: the boolean, and in overlap the depth with its witness points, in closed form.

A segment is a box without width, whose axes that are none of its edges do no harm.

The facets of A - B have the face normals of A and of B, or the cross product of an edge of each, so the least overlap
along these is the depth (Gottschalk, Lin, Manocha, OBBTree, 1996). A cross product of nearly parallel edges is mostly
rounding: below `PARALLEL` its facet is a sliver that costs no more than the rounding of an answer; between that and
`CLEAR_CUT` the pair is left to GJK and EPA, and so is a witness point that does not lie in both boxes.
"""

from __future__ import annotations

from math import sqrt

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
)
from gjk3d.narrow.cores import Cores
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core

_KIND, _HEAD, _SEGMENT, _BOX = layout.KIND, layout.FLOAT_HEAD, layout.SEGMENT, layout.BOX

#: sines of the angle between two edges
PARALLEL, CLEAR_CUT = 1e-14, 0.02
BLURRED = 1e-5  #: below it the gap is off by up to 1e-10 of the size or more: it proves nothing
#: error of a gap along a cross product of `CLEAR_CUT`, in units of the pair's size
WIDTH = 1e-13
FACE_A, FACE_B, EDGES = 0, 3, 6


@inlined
def edge_gap(p: float, q: float, t: float, reach: float) -> tuple[float, float]:
    """Return the gap along a cross product with components 0, p, q, and its length; below `BLURRED` no gap."""
    length = sqrt(p * p + q * q)
    if length < PARALLEL:
        return -1e300, 1.0
    if length < BLURRED:
        return -1e300, length
    return (abs(t) - reach) / length, length


@inlined
def half_extents(a: Core) -> Vec3:
    """Return those of a box; of a segment the vector from its middle to an end."""
    return (a.floats[_HEAD], a.floats[_HEAD + 1], a.floats[_HEAD + 2])


@kernel
def is_boxes(c: Cores) -> bool:
    """Tell whether two cores are a box and a box or segment."""
    a, b = c.a.ints[_KIND], c.b.ints[_KIND]
    return bool(max(a, b) == _BOX and min(a, b) >= _SEGMENT)


@kernel
def as_boxes(c: Cores) -> tuple[bool, Vec3, Vec3, Rigid]:
    """Return whether B comes first, as the box it is; half extents of the first and the second; the second's pose.

    Of a segment's frame only the axis along it is there, see `completed`.
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
    """Return the pose of a segment with a whole frame, whose other axes are nearly parallel to none of the box."""
    e = (m[0], m[3], m[6])
    y = perpendicular(e)
    z = cross(e, y)
    u, w = scale(sqrt(0.5), add(y, z)), scale(sqrt(0.5), sub(z, y))
    return (e[0], u[0], w[0], e[1], u[1], w[1], e[2], u[2], w[2], m[9], m[10], m[11])


@inlined
def seen_from_a(c: Cores, n: Vec3, b: Vec3, a: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Turn a direction from B to A and a point of each, in B's frame, into that from A to B, A's point and B's."""
    return turn(c.m, neg(n)), place(c.m, a), place(c.m, b)


@kernel
def best_axis(h: Vec3, g: Vec3, m: Rigid, enough: float) -> tuple[float, int, float, bool]:
    """Return the widest gap, which axis it is along, the widest of all, and whether they are the signed distance.

    Of two boxes by their half extents and the second's pose in the first. An axis is 0-2 a face of the first, 3-5 one
    of the second, 6 + 3 i + j the first's edge i and the second's edge j. A gap of more than ``enough`` ends the
    search. Edges win over faces only by more than rounding.
    """
    h0, h1, h2 = h
    g0, g1, g2 = g
    r00, r01, r02, r10, r11, r12, r20, r21, r22, t0, t1, t2 = m
    a00, a01, a02 = abs(r00), abs(r01), abs(r02)
    a10, a11, a12 = abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
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
    """Return the number nearest to x in [-h, h]."""
    return min(max(x, -h), h)


@kernel
def on_face(h: Vec3, g: Vec3, m: Rigid, axis: int, tol: float) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return the normal along A's axis, from A to B, and a point of either face, one above the other.

    False where there is none that moving along the edges of B parallel to the face finds.
    """
    s = 1.0 if m[9 + axis] >= 0.0 else -1.0
    c = (s * m[3 * axis], s * m[3 * axis + 1], s * m[3 * axis + 2])
    free0, free1, free2 = abs(c[0]) < PARALLEL, abs(c[1]) < PARALLEL, abs(c[2]) < PARALLEL
    x0 = 0.0 if free0 else (-g[0] if c[0] > 0.0 else g[0])
    x1 = 0.0 if free1 else (-g[1] if c[1] > 0.0 else g[1])
    x2 = 0.0 if free2 else (-g[2] if c[2] > 0.0 else g[2])
    n = (s if axis == 0 else 0.0, s if axis == 1 else 0.0, s if axis == 2 else 0.0)
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
    """Return the normal of A's edge i and B's edge j, from A to B, and the nearest points of both."""
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
    """Return the pose of A in B from that of B in A."""
    x, y, z = neg(turn_back(m, offset(m)))
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], x, y, z)


@kernel
def overlapping_boxes(c: Cores) -> tuple[bool, float, float, Vec3, Vec3, Vec3]:
    """Return whether that settles it; then the gap, an upper bound of it, normal, A's and B's point in A's frame."""
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
        found, n, p, q = on_face(h, g, m, which, tol)
    elif which < EDGES:
        found, n, q, p = on_face(g, h, inverse(m), which - FACE_B, tol)
        n = turn(m, neg(n))
        p, q = place(m, p), place(m, q)
    else:
        found, n, p, q = on_edges(h, g, m, (which - EDGES) // 3, (which - EDGES) % 3, tol)
    if flipped:
        n, p, q = seen_from_a(c, n, p, q)
    return found, gap, upper, n, p, q
