"""Vectors in kernels: tuples of three floats, which numba keeps in registers."""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.typing import Array

Vec3 = tuple[float, float, float]
#: a rotation by rows, then a translation; a pose row begins with the same twelve numbers
Rigid = tuple[float, float, float, float, float, float, float, float, float, float, float, float]

#: square of a sine: below it a cross product has lost half of its digits, and its products are taken exactly
NEARLY_PARALLEL = 1e-8
#: length below which the square of a vector has lost digits or is 0, so its direction is undefined
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
    """Return R a, a vector of B's frame in A's, for the pose m of B in A."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inlined
def turn_back(m: Rigid | Array, a: Vec3) -> Vec3:
    """Return R^T a, a vector of A's frame in B's."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inlined
def offset(m: Rigid | Array) -> Vec3:
    """Return t, the position of B's origin in A's frame."""
    return (m[9], m[10], m[11])


@inlined
def place(m: Rigid | Array, a: Vec3) -> Vec3:
    """Return R a + t, a point of B's frame in A's."""
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
    """Return the rounded product a b, its exact error (Dekker 1971), and an unused 0."""
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
    """Add x to a sum carried as high + low (Knuth's TwoSum); the third slot is unused."""
    s = high + x
    t = s - high
    return (s, low + ((high - (s - t)) + (x - t)), 0.0)


@kernel
def exact_triple(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return a . (b x c), rounded from a sum with twice the digits, because its products may cancel."""
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
    """Return p x q. If the square of the result is below a limit, the products are computed exactly."""
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
