"""Vectors, and oriented boxes that are tested for separation.

Vectors in kernels are tuples of three floats, which numba keeps in registers.

The row of a box contains its centre, half widths and three axes. A root is the row of the box around a whole body, with
further columns.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.typing import Array

# --- vectors ---------------------------------------------------------------------------------------------------------


Vec3 = tuple[float, float, float]
#: a rotation by rows, then a translation; a pose row begins with the same twelve numbers
Rigid = tuple[float, float, float, float, float, float, float, float, float, float, float, float]

#: squared sine below which a cross product has lost half of its digits, and is computed with exact products
NEARLY_PARALLEL = 1e-8
#: length below which the square of a vector has lost digits or is 0, so that its direction is undefined
NO_LENGTH = 1e-140


@inlined
def add(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def dot(a: Vec3, b: Vec3) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def scale(s: float, a: Vec3) -> Vec3:
    """Return s a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def neg(a: Vec3) -> Vec3:
    """Return -a."""
    return (-a[0], -a[1], -a[2])


@inlined
def divide(a: Vec3, s: float) -> Vec3:
    """Return a / s."""
    return (a[0] / s, a[1] / s, a[2] / s)


@inlined
def along(a: Vec3, d: Vec3, t: float) -> Vec3:
    """Return a + t d."""
    return (a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2])


@inlined
def row3(rows: Array, i: int) -> Vec3:
    """Return the first three numbers of row i."""
    return (rows[i, 0], rows[i, 1], rows[i, 2])


@inlined
def turn(m: Rigid | Array, a: Vec3) -> Vec3:
    """Return R a for the rotation R of m. For the pose m of B in A, it is the vector a of B's frame in A's frame."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inlined
def turn_back(m: Rigid | Array, a: Vec3) -> Vec3:
    """Return R^T a for the rotation R of m. For the pose m of B in A, it is the vector a of A's frame in B's frame."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inlined
def offset(m: Rigid | Array) -> Vec3:
    """Return the translation of m. For the pose m of B in A, it is the position of B's origin in A's frame."""
    return (m[9], m[10], m[11])


@inlined
def place(m: Rigid | Array, a: Vec3) -> Vec3:
    """Return R a + t for m = (R, t). For the pose m of B in A, it is the point a of B's frame in A's frame."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2] + m[9],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2] + m[10],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2] + m[11],
    )


@kernel
def unit(a: Vec3) -> Vec3:
    """Return a / |a|, or the x axis if a is nearly zero, so that a direction is never NaN."""
    n = sqrt(dot(a, a))
    if not n > NO_LENGTH:
        return (1.0, 0.0, 0.0)
    return divide(a, n)


@kernel
def perpendicular(a: Vec3) -> Vec3:
    """Return a unit vector perpendicular to a."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    if x <= y and x <= z:
        return unit((0.0, -a[2], a[1]))
    if y <= z:
        return unit((a[2], 0.0, -a[0]))
    return unit((-a[1], a[0], 0.0))


@kernel
def exact_product(a: float, b: float) -> Vec3:
    """Return the rounded product a b, its exact rounding error (Dekker 1971), and an unused 0."""
    p = a * b
    t = 134217729.0 * a
    a1 = t - (t - a)
    a2 = a - a1
    t = 134217729.0 * b
    b1 = t - (t - b)
    b2 = b - b1
    return (p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2, 0.0)


@kernel
def product_difference(a: float, b: float, c: float, d: float) -> float:
    """Return a b - c d with nearly no cancellation error."""
    p = exact_product(a, b)
    q = exact_product(c, d)
    return (p[0] - q[0]) + (p[1] - q[1])


@kernel
def add_exact(high: float, low: float, x: float) -> Vec3:
    """Return high + low + x as a high and a low part (Knuth's TwoSum), and an unused 0."""
    s = high + x
    t = s - high
    return (s, low + ((high - (s - t)) + (x - t)), 0.0)


@kernel
def exact_triple(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return a . (b x c), computed with twice the digits and then rounded, because its terms may cancel."""
    s = (0.0, 0.0, 0.0)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        p, q = exact_product(b[i], c[j]), exact_product(b[j], c[i])
        n = add_exact(p[0], p[1] - q[1], -q[0])
        p = exact_product(a[k], n[0])
        s = add_exact(s[0], s[1] + (p[1] + a[k] * n[1]), p[0])
    return s[0] + s[1]


@kernel
def exact_cross(p: Vec3, q: Vec3) -> Vec3:
    """Return p x q with nearly no cancellation error."""
    return (
        product_difference(p[1], q[2], p[2], q[1]),
        product_difference(p[2], q[0], p[0], q[2]),
        product_difference(p[0], q[1], p[1], q[0]),
    )


@kernel
def careful_cross(p: Vec3, q: Vec3, limit: float) -> Vec3:
    """Return p x q. If the squared length of the result is below ``limit``, the products are computed exactly."""
    n = cross(p, q)
    return exact_cross(p, q) if dot(n, n) < limit else n


@kernel
def triangle_normal(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return (b - a) x (c - a), from the two shortest edges (Catto, "Troublesome Triangle", 2014).

    If these edges are nearly parallel, the products are exact, so that the normal of a thin triangle is accurate too.
    """
    ab = sub(b, a)
    ac = sub(c, a)
    bc = sub(c, b)
    l_ab = dot(ab, ab)
    l_ac = dot(ac, ac)
    l_bc = dot(bc, bc)
    if l_ac >= l_ab and l_ac >= l_bc:
        return careful_cross(ab, bc, NEARLY_PARALLEL * l_ab * l_bc)
    if l_ab >= l_ac and l_ab >= l_bc:
        return careful_cross(ac, bc, NEARLY_PARALLEL * l_ac * l_bc)
    return careful_cross(ab, ac, NEARLY_PARALLEL * l_ab * l_ac)


# --- boxes -----------------------------------------------------------------------------------------------------------


#: columns of a root after the box: the greatest coordinate, which is infinite without a box, the rounding radius of the
#: body, and the radius of the bounding ball about the centre of the box. ROOT is the number of columns.
REACH, RIM, RADIUS, ROOT = range(15, 19)


@inlined
def row_at(boxes: Array, i: int, column: int) -> Vec3:
    """Return three consecutive numbers of row i, starting at ``column``."""
    return (boxes[i, column], boxes[i, column + 1], boxes[i, column + 2])


@inlined
def box_pose(m: Rigid, ba: Array, i: int, bb: Array, j: int) -> Rigid:
    """Return the pose of box j of B in the frame of box i of A. ``m`` is the pose of B in A."""
    t = sub(place(m, row_at(bb, j, 0)), row_at(ba, i, 0))
    p, q, r = turn(m, row_at(bb, j, 6)), turn(m, row_at(bb, j, 9)), turn(m, row_at(bb, j, 12))
    a, b, c = row_at(ba, i, 6), row_at(ba, i, 9), row_at(ba, i, 12)
    return (
        dot(a, p), dot(a, q), dot(a, r), dot(b, p), dot(b, q), dot(b, r), dot(c, p), dot(c, q), dot(c, r),
        dot(a, t), dot(b, t), dot(c, t),
    )  # fmt: skip


@inlined
def boxes_apart(m: Rigid, a0: float, a1: float, a2: float, b0: float, b1: float, b2: float) -> bool:
    """Return whether one of the fifteen axes separates two boxes (Gottschalk, Lin, Manocha 1996).

    ``m`` is the pose of box B in the frame of box A, and ``a0`` to ``b2`` are half widths. The absolute values of the
    rotation are increased, so that nearly parallel edges never separate boxes by rounding.
    """
    e = 1e-14
    n00, n01, n02 = abs(m[0]) + e, abs(m[1]) + e, abs(m[2]) + e
    x, y, z = m[9], m[10], m[11]
    # the axes of both boxes decide most pairs, so they are tested before the nine cross products
    if abs(x) > a0 + n00 * b0 + n01 * b1 + n02 * b2:
        return True
    n10, n11, n12 = abs(m[3]) + e, abs(m[4]) + e, abs(m[5]) + e
    if abs(y) > a1 + n10 * b0 + n11 * b1 + n12 * b2:
        return True
    n20, n21, n22 = abs(m[6]) + e, abs(m[7]) + e, abs(m[8]) + e
    if abs(z) > a2 + n20 * b0 + n21 * b1 + n22 * b2:
        return True
    if abs(x * m[0] + y * m[3] + z * m[6]) > b0 + n00 * a0 + n10 * a1 + n20 * a2:
        return True
    if abs(x * m[1] + y * m[4] + z * m[7]) > b1 + n01 * a0 + n11 * a1 + n21 * a2:
        return True
    if abs(x * m[2] + y * m[5] + z * m[8]) > b2 + n02 * a0 + n12 * a1 + n22 * a2:
        return True
    if abs(z * m[3] - y * m[6]) > a1 * n20 + a2 * n10 + b1 * n02 + b2 * n01:
        return True
    if abs(z * m[4] - y * m[7]) > a1 * n21 + a2 * n11 + b0 * n02 + b2 * n00:
        return True
    if abs(z * m[5] - y * m[8]) > a1 * n22 + a2 * n12 + b0 * n01 + b1 * n00:
        return True
    if abs(x * m[6] - z * m[0]) > a0 * n20 + a2 * n00 + b1 * n12 + b2 * n11:
        return True
    if abs(x * m[7] - z * m[1]) > a0 * n21 + a2 * n01 + b0 * n12 + b2 * n10:
        return True
    if abs(x * m[8] - z * m[2]) > a0 * n22 + a2 * n02 + b0 * n11 + b1 * n10:
        return True
    if abs(y * m[0] - x * m[3]) > a0 * n10 + a1 * n00 + b1 * n22 + b2 * n21:
        return True
    if abs(y * m[1] - x * m[4]) > a0 * n11 + a1 * n01 + b0 * n22 + b2 * n20:
        return True
    return abs(y * m[2] - x * m[5]) > a0 * n12 + a1 * n02 + b0 * n21 + b1 * n20


@inlined
def gap_squared(m: Rigid, a0: float, a1: float, a2: float, b0: float, b1: float, b2: float) -> float:
    """Return a lower bound of the squared distance of two boxes, from the gaps along the axes of both boxes.

    ``m`` is the pose of box B in the frame of box A, and ``a0`` to ``b2`` are half widths.
    """
    x = max(0.0, abs(m[9]) - a0 - (abs(m[0]) * b0 + abs(m[1]) * b1 + abs(m[2]) * b2))
    y = max(0.0, abs(m[10]) - a1 - (abs(m[3]) * b0 + abs(m[4]) * b1 + abs(m[5]) * b2))
    z = max(0.0, abs(m[11]) - a2 - (abs(m[6]) * b0 + abs(m[7]) * b1 + abs(m[8]) * b2))
    first = x * x + y * y + z * z
    u, v, w = m[9], m[10], m[11]
    x = max(0.0, abs(u * m[0] + v * m[3] + w * m[6]) - b0 - (abs(m[0]) * a0 + abs(m[3]) * a1 + abs(m[6]) * a2))
    y = max(0.0, abs(u * m[1] + v * m[4] + w * m[7]) - b1 - (abs(m[1]) * a0 + abs(m[4]) * a1 + abs(m[7]) * a2))
    z = max(0.0, abs(u * m[2] + v * m[5] + w * m[8]) - b2 - (abs(m[2]) * a0 + abs(m[5]) * a1 + abs(m[8]) * a2))
    return max(first, x * x + y * y + z * z)


@inlined
def from_box(p: Vec3, b: Array, i: int) -> float:
    """Return the squared distance of the point p from box i. It is 0 inside the box."""
    d = sub(p, row_at(b, i, 0))
    x = max(0.0, abs(dot(d, row_at(b, i, 6))) - b[i, 3])
    y = max(0.0, abs(dot(d, row_at(b, i, 9))) - b[i, 4])
    z = max(0.0, abs(dot(d, row_at(b, i, 12))) - b[i, 5])
    return float(x * x + y * y + z * z)


@inlined
def top_of_box(boxes: Array, i: int, n: Vec3) -> float:
    """Return the greatest coordinate of the points of box i along the unit vector n."""
    b = boxes[i]
    far = n[0] * b[0] + n[1] * b[1] + n[2] * b[2]
    for c in range(3):
        far += abs(n[0] * b[6 + 3 * c] + n[1] * b[7 + 3 * c] + n[2] * b[8 + 3 * c]) * b[3 + c]
    return float(far)


@inlined
def corner_along(boxes: Array, i: int, n: Vec3) -> Vec3:
    """Return the corner of box i that is farthest along the vector n."""
    p = row_at(boxes, i, 0)
    for c in range(3):
        axis = row_at(boxes, i, 6 + 3 * c)
        p = along(p, axis, boxes[i, 3 + c] if dot(n, axis) > 0.0 else -boxes[i, 3 + c])
    return p


@kernel
def roots_apart(m: Rigid, roots: Array, a: int, b: int, margin: float, rounding: float) -> bool:
    """Return whether the bounding balls or boxes of bodies A and B are farther apart than ``margin``.

    Rows a and b of ``roots`` contain the balls and boxes. ``m`` is B's pose in A. ``rounding`` is the error of a
    position, relative to the coordinates.
    """
    reach = roots[a, REACH] + roots[b, REACH] + max(abs(m[9]), abs(m[10]), abs(m[11]))
    more = margin + rounding * reach + roots[a, RIM] + roots[b, RIM]
    to, far = box_pose(m, roots, a, roots, b), roots[a, RADIUS] + roots[b, RADIUS] + more
    if to[9] * to[9] + to[10] * to[10] + to[11] * to[11] > far * far:
        return True
    x, y, z = roots[a, 3] + more, roots[a, 4] + more, roots[a, 5] + more
    return bool(boxes_apart(to, x, y, z, roots[b, 3], roots[b, 4], roots[b, 5]))
