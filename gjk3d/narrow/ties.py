"""Depth for tied directions: concentric ellipsoids, and solids of revolution with parallel axes.

Concentric ellipsoids have the support value h(n) = sqrt(sum a_i^2 n_i^2) + sqrt(sum b_i^2 n_i^2) for a unit vector n.
This is a sum of square roots of linear functions of the three n_i^2. It is concave, so its least value over n_1^2 +
n_2^2 + n_3^2 = 1 is at a corner, an axis. EPA would need very many steps, because similar ellipsoids that are nearly
balls have very many ties.

The difference of solids of revolution with a common axis direction is a solid of revolution. Its largest inscribed ball
around the origin is found in the plane through its axis and the origin. For a pin in its bore, or a sphere on a cone's
axis, a whole circle of best directions ties. In this plane the circle becomes two edges of a polygon. A 2D form of EPA
splits the edge of the polygon that is nearest to the origin, at the support point along the normal of the edge.

Every queried direction in the plane is a direction in space, so its support value proves a lower bound. The polygon
proves the upper bound, because the plane's section of A - B is also its projection. If the axes are only nearly
parallel, both statements hold for A and a copy of B whose axis is exactly parallel. The distance of the copy from B is
at most the length that `shared_axis` returns. The support points of B are rotated about the axis into the plane, where
their distance from the copy is at most this length too. The bounds therefore include it twice.
"""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.geometry.vec3 import Vec3, along, cross, divide, dot, offset, perpendicular, scale, sub, turn, unit
from gjk3d.narrow.cores import Cores, between_centers, support_pair
from gjk3d.narrow.epa import CLOSED, EIGHT, Depth
from gjk3d.narrow.gjk import set_row
from gjk3d.narrow.workspace import Workspace
from gjk3d.shapes import layout
from gjk3d.typing import Array

_HEAD, _KIND, _ELLIPSOID = layout.FLOAT_HEAD, layout.KIND, layout.ELLIPSOID
_AXIS, _RHO, _SYMMETRY = layout.AXIS, layout.RHO, layout.SYMMETRY
_REVOLVED, _BALL = layout.REVOLVED, layout.BALL

#: floats of a polygon row: the point of A across and along the axis, the point of B likewise, then the normal (2) of
#: the edge to the next row, and the distance of this edge from the origin
_ROW = 7
#: decrease of a unit vector's squared length by the projection on the plane, above which the vector is not in the plane
_OUT_OF_PLANE = 1e-12
_MOST = 120  #: most vertices of a polygon; EPA's smallest workspace has enough scratch for them


@kernel
def half_width(radii: Array, d: Vec3) -> float:
    """Return the support value along d of an ellipsoid that is aligned with the axes and centred at the origin."""
    a, b, c = radii[0] * d[0], radii[1] * d[1], radii[2] * d[2]
    return sqrt(a * a + b * b + c * c)


@kernel
def mixed(radii: Array, r: Vec3, s: Vec3) -> float:
    """Return |sum a_i^2 r_i s_i| for the radii a of an ellipsoid, which is 0 if r and s are two of its axes."""
    a, b, c = radii[0], radii[1], radii[2]
    return float(abs(a * a * r[0] * s[0] + b * b * r[1] * s[1] + c * c * r[2] * s[2]))


@kernel
def skewness(radii: Array, axes: tuple[Vec3, Vec3, Vec3]) -> float:
    """Return the sum of `mixed` over the pairs of three axes. It is a squared length, 0 for axes of the ellipsoid."""
    return mixed(radii, axes[0], axes[1]) + mixed(radii, axes[1], axes[2]) + mixed(radii, axes[2], axes[0])


@kernel
def concentric(c: Cores, allowed: float, least: float, best: Vec3, workspace: Workspace) -> tuple[bool, Depth]:
    """Return whether both cores are concentric ellipsoids with common axes to within ``allowed``, and the depth.

    ``allowed`` is a length. For other cores the depth is ``least``, and its direction is ``best``. On success, the
    simplex gets the rows that `Depth` describes.
    """
    m, fa, fb = c.m, c.a.floats[_HEAD:], c.b.floats[_HEAD:]
    off = between_centers(m)
    if c.a.ints[_KIND] != _ELLIPSOID or c.b.ints[_KIND] != _ELLIPSOID or off > allowed:
        return False, Depth(CLOSED, 0, least, best, inf, -1.0, -1.0)
    rows = ((m[0], m[1], m[2]), (m[3], m[4], m[5]), (m[6], m[7], m[8]))
    columns = ((m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8]))
    # a spheroid may use the axes of the other ellipsoid, so the axes of A and those of B are tried
    skew_b = skewness(fb, rows) / min(fb[0], fb[1], fb[2])
    skew_a = skewness(fa, columns) / min(fa[0], fa[1], fa[2])
    in_a = skew_b <= skew_a
    extra = off + (skew_b if in_a else skew_a)
    if not extra <= allowed:
        return False, Depth(CLOSED, 0, least, best, inf, -1.0, -1.0)
    depth = inf
    n = best
    for k in range(3):
        if in_a:
            d = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
            reach = fa[k] + half_width(fb, rows[k])
        else:
            d = columns[k]
            reach = fb[k] + half_width(fa, columns[k])
        if reach < depth:
            depth, n = reach, d
    s = workspace.simplex
    front, rear = 0.0, 0.0
    for i in range(6):
        sign = 1.0 if i < 3 else -1.0
        d = (sign * n[0], sign * n[1], sign * n[2])
        w, p, q = support_pair(c, d)
        # the points are projected on the axis; their distance from it is at most the square root of `skewness`
        set_row(s, i, w, scale(dot(d, p), d), scale(dot(d, q), d))
        s[i, 9] = 1.0 if i % 3 == 0 else 0.0
        if i == 0:
            front = dot(d, w)
        if i == 3:
            rear = dot(d, w)
    return True, Depth(CLOSED, 6, front, n, extra - depth, front, rear)


@kernel
def shared_axis(c: Cores) -> tuple[bool, Vec3, float]:
    """Return whether both cores are solids of revolution, the axis, and the deviation of B's axis as a length.

    The axis is a unit vector in A's frame. A ball has every axis. The first value is False for two balls.
    """
    fa, fb = c.a.floats, c.b.floats
    sa, sb = c.a.ints[_SYMMETRY], c.b.ints[_SYMMETRY]
    u = (fa[_AXIS], fa[_AXIS + 1], fa[_AXIS + 2])
    w = turn(c.m, (fb[_AXIS], fb[_AXIS + 1], fb[_AXIS + 2]))
    if sa == _REVOLVED and sb == _REVOLVED:
        sine = cross(u, w)
        return True, u, 1.01 * sqrt(dot(sine, sine)) * fb[_RHO]  # one percent for the rounding of short sines
    if sa == _REVOLVED and sb == _BALL:
        return True, u, 0.0
    return sa == _BALL and sb == _REVOLVED, w, 0.0


@kernel
def section_point(c: Cores, e: Vec3, u: Vec3, x: float, y: float, p: Array, k: int) -> tuple[float, Vec3]:
    """Write the support point of A - B along n = x e + y u, rotated into the plane, to row k of ``p``; return h(n), n.

    h is the support value. The plane has the axes e and u, and u is the common axis of revolution.
    """
    # If the direction is along the axis, all points of a disc tie, and the support mappings return any of its points.
    d = (x * e[0] + y * u[0], x * e[1] + y * u[1], x * e[2] + y * u[2])
    w, a, b = support_pair(c, d)
    t = offset(c.m)
    side = 1.0 if x >= 0.0 else -1.0
    along_a = dot(a, u)
    ra = along(a, u, -along_a)
    b = sub(b, t)
    along_b = dot(b, u)
    rb = along(b, u, -along_b)
    p[k, 0], p[k, 1] = side * sqrt(dot(ra, ra)), along_a
    p[k, 2], p[k, 3] = dot(t, e) - side * sqrt(dot(rb, rb)), dot(t, u) + along_b
    h = max(dot(d, w), x * (p[k, 0] - p[k, 2]) + y * (p[k, 1] - p[k, 3]))
    return h, d


@kernel
def set_edge(p: Array, k: int, nxt: int) -> None:
    """Store in row k the outward normal of the edge from row k to row ``nxt``, and its distance from the origin."""
    x0, y0 = p[k, 0] - p[k, 2], p[k, 1] - p[k, 3]
    x1, y1 = p[nxt, 0] - p[nxt, 2], p[nxt, 1] - p[nxt, 3]
    dx, dy = x1 - x0, y1 - y0
    length = sqrt(dx * dx + dy * dy)  # no powers, because Python rounds them differently from compiled code
    p[k, 4], p[k, 5] = (y1 - y0) / length, (x0 - x1) / length
    p[k, 6] = min(p[k, 4] * x0 + p[k, 5] * y0, p[k, 4] * x1 + p[k, 5] * y1)


@kernel
def same_point(p: Array, i: int, j: int, tiny: float) -> bool:
    """Return whether rows i and j are the same point of A - B within rounding."""
    x, y = p[i, 0] - p[i, 2] - p[j, 0] + p[j, 2], p[i, 1] - p[i, 3] - p[j, 1] + p[j, 3]
    return not sqrt(x * x + y * y) > tiny


@kernel
def crossed(p: Array, count: int, x: float, y: float, e: Vec3, u: Vec3, s: Array, row: int) -> float:
    """Write to s[row : row + 3] the edge that the ray from the origin along (x, y) crosses.

    Returns the distance from the origin to the crossing. The crossing is the sum of the written rows, each times its
    weight. The third row repeats an end of the edge, with weight 0.
    """
    best, chosen, t = -inf, 0, 0.5
    for k in range(count):
        nxt = k + 1 if k + 1 < count else 0
        x0, y0 = p[k, 0] - p[k, 2], p[k, 1] - p[k, 3]
        x1, y1 = p[nxt, 0] - p[nxt, 2], p[nxt, 1] - p[nxt, 3]
        c0, c1 = x0 * y - y0 * x, y1 * x - x1 * y  # signed distances of the edge's ends from the ray, times its length
        forward = (x0 + x1) * x + (y0 + y1) * y
        if forward > 0.0 and c0 + c1 > 0.0:
            worst = min(c0, c1) / (c0 + c1)
            if worst > best:
                best, chosen = worst, k
                t = min(max(c0 / (c0 + c1), 0.0), 1.0)
    length = 0.0
    for i in range(3):
        k = chosen + (1 if i == 1 else 0)
        if k == count:
            k = 0
        a = (p[k, 0] * e[0] + p[k, 1] * u[0], p[k, 0] * e[1] + p[k, 1] * u[1], p[k, 0] * e[2] + p[k, 1] * u[2])
        b = (p[k, 2] * e[0] + p[k, 3] * u[0], p[k, 2] * e[1] + p[k, 3] * u[1], p[k, 2] * e[2] + p[k, 3] * u[2])
        set_row(s, row + i, sub(a, b), a, b)
        weight = (1.0 - t, t, 0.0)[i]
        s[row + i, 9] = weight
        length += weight * (x * (p[k, 0] - p[k, 2]) + y * (p[k, 1] - p[k, 3]))
    return length


@kernel
def first_polygon(c: Cores, e: Vec3, u: Vec3, least: float, best: Vec3, p: Array) -> tuple[int, float, Vec3]:
    """Write the distinct support points of eight directions in the plane to ``p`` as a polygon.

    Returns the number of vertices of the polygon, the least known h(n), and the direction n of this value. ``least``
    and ``best`` are the least h(n) and its direction before the call.
    """
    count = plain(0)
    for k in range(8):
        x, y = EIGHT[k]
        h, d = section_point(c, e, u, x, y, p, count)
        if h < least:
            least, best = h, d
        if count == 0 or not same_point(p, count, count - 1, c.tiny):
            count += 1
    if count > 1 and same_point(p, count - 1, plain(0), c.tiny):
        count -= 1
    if count > 2:
        for k in range(count):
            set_edge(p, k, k + 1 if k + 1 < count else 0)
    return count, least, best


@kernel
def split_edge(p: Array, count: int, near: int) -> None:
    """Insert the point in row ``count`` between row ``near`` and the next row, and compute the two new edges."""
    new = (p[count, 0], p[count, 1], p[count, 2], p[count, 3])
    for k in range(count, near + 1, -1):
        for j in range(_ROW):
            p[k, j] = p[k - 1, j]
    p[near + 1, 0], p[near + 1, 1], p[near + 1, 2], p[near + 1, 3] = new
    set_edge(p, near, near + 1)
    set_edge(p, near + 1, near + 2 if near + 1 < count else 0)


@kernel
def meridian(
    c: Cores, width: float, allowed: float, least: float, best: Vec3, workspace: Workspace
) -> tuple[bool, Depth]:
    """Return whether the plane through both axes gives the depth, and the `Depth`.

    The first value is False if the axes deviate by more than the length ``allowed``, or if the origin is not inside
    A - B by more than the error. Nearly parallel axes widen the bounds, and move B's witness off B's surface by at most
    the width of the bounds. On success, the simplex gets the rows that `Depth` describes.
    """
    fits, u, askew = shared_axis(c)
    if not fits or askew > allowed:
        return False, Depth(CLOSED, 0, least, best, inf, -1.0, -1.0)
    t = offset(c.m)
    across = along(t, u, -dot(t, u))
    off = sqrt(dot(across, across))
    e = perpendicular(u)
    if off > c.tiny:
        e = divide(across, off)
        e = unit(cross(u, cross(e, u)))  # for short vectors the rounding breaks the right angle to u
        off = 0.0
    extra = 2.0 * askew + off
    p = workspace.work[: _ROW * (_MOST + 1)].reshape(_MOST + 1, _ROW)
    count, least, best = first_polygon(c, e, u, least, best, p)
    steps = 8
    if count < 3:
        return False, Depth(CLOSED, steps, least, best, inf, -1.0, -1.0)
    while True:
        near = plain(0)
        for k in range(1, count):
            if p[k, 6] < p[near, 6]:
                near = k
        key = p[near, 6]
        h, d = section_point(c, e, u, p[near, 4], p[near, 5], p, count)
        steps += 1
        if h < least:
            least, best = h, d
        if least <= c.error or steps == 2 * _MOST:
            return False, Depth(CLOSED, steps, least, best, inf, -1.0, -1.0)
        after = near + 1 if near + 1 < count else 0
        if h - key <= width or count == _MOST:
            break
        if same_point(p, count, near, c.tiny) or same_point(p, count, after, c.tiny):
            break
        split_edge(p, count, near)
        count += 1
    if not key > c.error + extra:  # the section does not prove an overlap of the shapes themselves
        return False, Depth(CLOSED, steps, least, best, inf, -1.0, -1.0)
    x, y = dot(best, e), dot(best, u)
    if abs(x * x + y * y - 1.0) > _OUT_OF_PLANE:  # ``best`` is still the direction of GJK, which is outside the plane
        x, y = p[near, 4], p[near, 5]
        best = (x * e[0] + y * u[0], x * e[1] + y * u[1], x * e[2] + y * u[2])
        w, _, _ = support_pair(c, best)
        least = dot(best, w)
    front, rear = 0.0, 0.0
    for side in range(2):
        if side == 0:
            front = crossed(p, count, x, y, e, u, workspace.simplex, 3 * side)
        else:
            rear = crossed(p, count, -x, -y, e, u, workspace.simplex, 3 * side)
    return True, Depth(CLOSED, steps, least, best, extra - key, front, rear)
