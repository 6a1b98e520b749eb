"""The point of a simplex nearest to the origin, by Voronoi region: segment, triangle, tetrahedron.

The 2D tutorials test on which side of the simplex's edges the origin is. The region of the origin determines the
feature to keep, and the rest of the simplex is dropped. In 3D the same test applies to faces:

- segment AB: the origin is between the ends, before A, or after B.
- triangle ABC: the origin projects into the triangle, or is beyond an edge, which leaves a segment.
- tetrahedron ABCD: the origin is inside, or outside one of the four faces, which leaves a triangle.

For the new vertex D of GJK the test of the opposite face ABC is redundant, since D is on the origin's side of ABC. The
test costs little, and makes these functions correct for any simplex. Each function returns the nearest point and its
barycentric coordinates, which are zero for a dropped vertex. ``tiny`` is the rounding error of the vertices. A triangle
or tetrahedron thinner than ``tiny`` is skipped, but its edges and vertices are tested.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry.vec3 import Vec3, cross, dot, scale, sub, triangle_normal

#: square of the ratio of a triangle's height and longest edge, below which the triangle is thin, see `refined`
_THIN = 1e-4

Vec4 = tuple[float, float, float, float]

OUTSIDE, INSIDE, UNSURE = 0, 1, 2  #: where the origin is, seen from a tetrahedron


@kernel
def closest_on_segment(a: Vec3, b: Vec3, tiny: float) -> tuple[Vec3, Vec4]:
    """Return the point of AB nearest to the origin, and its barycentric coordinates (A, B, 0, 0)."""
    ab = sub(b, a)
    length2 = dot(ab, ab)
    aa, bb = dot(a, a), dot(b, b)
    if not length2 > tiny * tiny:
        if aa <= bb:
            return a, (1.0, 0.0, 0.0, 0.0)
        return b, (0.0, 1.0, 0.0, 0.0)
    beyond_a = dot(a, ab)  # >= 0: the origin projects before A
    beyond_b = -dot(b, ab)
    if beyond_a >= 0.0:
        return a, (1.0, 0.0, 0.0, 0.0)
    if beyond_b >= 0.0:
        return b, (0.0, 1.0, 0.0, 0.0)
    t = beyond_a / (beyond_a + beyond_b)
    if aa <= bb:
        v = sub(a, scale(dot(a, ab) / length2, ab))
    else:
        v = sub(b, scale(dot(b, ab) / length2, ab))
    # near contact v is the result of cancellation, so it is projected once more: its direction is the separating axis
    v = sub(v, scale(dot(v, ab) / length2, ab))
    return v, (1.0 - t, t, 0.0, 0.0)


@kernel
def blend(la: float, a: Vec3, lb: float, b: Vec3, lc: float, c: Vec3) -> Vec3:
    """Return la a + lb b + lc c."""
    return (
        la * a[0] + lb * b[0] + lc * c[0],
        la * a[1] + lb * b[1] + lc * c[1],
        la * a[2] + lb * b[2] + lc * c[2],
    )


@kernel
def agree(p: Vec3, q: Vec3, tiny: float) -> bool:
    """Return whether two computed positions of a point differ by at most ``tiny``, so that rounding is negligible."""
    d = sub(p, q)
    return dot(d, d) <= tiny * tiny


@kernel
def refined(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec4, bool]:
    """Project the origin on the plane of a thin triangle.

    Returns the projection, its barycentric coordinates, and whether it is in the triangle. The normal of a thin
    triangle is dominated by rounding, so the projection is computed as a combination of the vertices. A few steps
    subtract its components along the longest edge and across this edge.
    """
    ab, bc, ca = dot(sub(b, a), sub(b, a)), dot(sub(c, b), sub(c, b)), dot(sub(a, c), sub(a, c))
    turns = 0
    p, q, r = a, b, c
    if bc >= ab and bc >= ca:
        turns, p, q, r = 1, b, c, a
    elif ca >= ab and ca >= bc:
        turns, p, q, r = 2, c, a, b
    base = sub(q, p)
    length = sqrt(dot(base, base))
    e = scale(1.0 / length, base)
    k = sub(r, p)
    along = dot(k, e)
    h = sub(k, scale(along, e))
    h = sub(h, scale(dot(h, e), e))
    height = sqrt(dot(h, h))
    if not height > 0.0:
        return p, (1.0, 0.0, 0.0, 0.0), False
    h = scale(1.0 / height, h)
    lq, lr = 0.0, 0.0
    foot = p
    for _ in range(4):
        dr = -dot(foot, h) / height
        lq -= (dot(foot, e) + dr * along) / length
        lr += dr
        foot = blend(1.0 - lq - lr, p, lq, q, lr, r)
    for _ in range(2):  # near contact the foot is the result of cancellation, and its direction is the separating axis
        foot = sub(foot, blend(dot(foot, e), e, dot(foot, h), h, 0.0, h))
    lp = 1.0 - lq - lr
    within = lp >= 0.0 and lq >= 0.0 and lr >= 0.0
    if turns == 0:
        return foot, (lp, lq, lr, 0.0), within
    if turns == 1:
        return foot, (lr, lp, lq, 0.0), within
    return foot, (lq, lr, lp, 0.0), within


@single_entry
def closest_on_triangle(a: Vec3, b: Vec3, c: Vec3, tiny: float) -> tuple[Vec3, Vec4]:
    """Return the point of ABC nearest to the origin, and its barycentric coordinates (A, B, C, 0)."""
    return closest_over(a, b, c, triangle_normal(a, b, c), tiny)


@kernel
def closest_over(a: Vec3, b: Vec3, c: Vec3, n: Vec3, tiny: float) -> tuple[Vec3, Vec4]:
    """Return the point of ABC nearest to the origin, and its barycentric coordinates. The normal n has any length."""
    ab, ac, bc = sub(b, a), sub(c, a), sub(c, b)
    longest2 = max(dot(ab, ab), dot(ac, ac), dot(bc, bc))
    area2 = dot(n, n)
    flat = not area2 > tiny * tiny * longest2
    u = dot(n, cross(b, bc))
    v = dot(n, cross(ac, c))
    w = dot(n, cross(a, ab))
    thin = not flat and area2 < _THIN * longest2 * longest2
    if not flat and u > 0.0 and v > 0.0 and w > 0.0:
        s = 1.0 / (u + v + w)
        p = scale(dot(n, a) / area2, n)
        if agree(p, blend(u * s, a, v * s, b, w * s, c), tiny):
            return p, (u * s, v * s, w * s, 0.0)
        thin = True
    if thin:
        p, l4, within = refined(a, b, c)
        if within:
            return p, l4
        flat = True  # the triangle is too thin for an accurate normal, so any edge may be nearest
    best = a
    coordinates = (1.0, 0.0, 0.0, 0.0)
    least = dot(a, a)
    if flat or w <= 0.0:
        p, m = closest_on_segment(a, b, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (m[0], m[1], 0.0, 0.0)
    if flat or v <= 0.0:
        p, m = closest_on_segment(a, c, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (m[0], 0.0, m[1], 0.0)
    if flat or u <= 0.0:
        p, m = closest_on_segment(b, c, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (0.0, m[0], m[1], 0.0)
    return best, coordinates


@kernel
def side(a: Vec3, n: Vec3, d: Vec3, tiny: float) -> int:
    """Return INSIDE if the origin and D are on the same side of a face, OUTSIDE if they are on different sides.

    UNSURE is returned if one of them is within ``tiny`` of the plane. The face contains A and has the normal n.
    """
    resolved = tiny * sqrt(dot(n, n))
    origin = -dot(n, a)
    fourth = dot(n, sub(d, a))
    if not abs(fourth) > resolved or not abs(origin) > resolved:
        return UNSURE
    return INSIDE if (origin > 0.0) == (fourth > 0.0) else OUTSIDE


@kernel
def closest_on_tetrahedron(a: Vec3, b: Vec3, c: Vec3, d: Vec3, tiny: float) -> tuple[Vec3, Vec4, int]:
    """Return the point of ABCD nearest to the origin, its barycentric coordinates, and INSIDE, OUTSIDE or UNSURE.

    INSIDE is returned only if all four sides are certain, and the point is then the origin. UNSURE is returned for a
    flat tetrahedron, or if the origin is within ``tiny`` of a face and certainly outside no other face. The point is
    then the nearest point of the uncertain faces.
    """
    n_abc, n_abd = triangle_normal(a, b, c), triangle_normal(a, b, d)
    n_acd, n_bcd = triangle_normal(a, c, d), triangle_normal(b, c, d)
    abc, abd = side(a, n_abc, d, tiny), side(a, n_abd, c, tiny)
    acd, bcd = side(a, n_acd, b, tiny), side(b, n_bcd, a, tiny)
    origin = (0.0, 0.0, 0.0)
    if abc == INSIDE and abd == INSIDE and acd == INSIDE and bcd == INSIDE:
        # Cramer's rule: each coordinate is proportional to the volume of the origin and the face opposite the vertex
        m_a = abs(dot(b, cross(c, d)))
        m_b = abs(dot(a, cross(c, d)))
        m_c = abs(dot(a, cross(b, d)))
        m_d = abs(dot(a, cross(b, c)))
        s = 1.0 / (m_a + m_b + m_c + m_d)
        p = blend(m_a * s, a, m_b * s, b, m_c * s, c)
        if agree(scale(-m_d * s, d), p, tiny):
            return origin, (m_a * s, m_b * s, m_c * s, m_d * s), INSIDE
        abc, abd, acd, bcd = UNSURE, UNSURE, UNSURE, UNSURE
    where = UNSURE
    if abc == OUTSIDE or abd == OUTSIDE or acd == OUTSIDE or bcd == OUTSIDE:
        where = OUTSIDE
    best = d
    coordinates = (0.0, 0.0, 0.0, 1.0)
    least = dot(d, d)
    if abd != INSIDE:
        p, m = closest_over(a, b, d, n_abd, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (m[0], m[1], 0.0, m[2])
    if acd != INSIDE:
        p, m = closest_over(a, c, d, n_acd, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (m[0], 0.0, m[1], m[2])
    if bcd != INSIDE:
        p, m = closest_over(b, c, d, n_bcd, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (0.0, m[0], m[1], m[2])
    if abc != INSIDE:
        p, m = closest_over(a, b, c, n_abc, tiny)
        if dot(p, p) < least:
            least, best, coordinates = dot(p, p), p, (m[0], m[1], m[2], 0.0)
    return best, coordinates, where
