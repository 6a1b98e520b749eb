"""Distance and depth of curved cores, by Newton's method on branches.

A branch is a smooth part of the surface of a core, such as a rim of a cylinder. A vertex of a polytope is a branch too.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.geometry.simplex import blend
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, neg, offset, perpendicular, row3, row_at, sub, turn_back, unit
from gjk3d.geometry.vec3 import place as place_at
from gjk3d.narrow.cores import Cores
from gjk3d.shapes import layout
from gjk3d.shapes.composed import place, pull_back
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array

_KIND, _HEAD, _PARTS, _INT_HEAD = layout.KIND, layout.FLOAT_HEAD, layout.PARTS, layout.INT_HEAD
_POLYTOPE, _CYLINDER, _CONE, _ELLIPSOID = layout.POLYTOPE, layout.CYLINDER, layout.CONE, layout.ELLIPSOID
_COMPOSED, _SUPPORT = layout.COMPOSED, layout.SUPPORT

#: first row of a simplex that is used for branches
BRANCH_ROWS = 3
#: Most steps of Newton's method, the largest rotation per step in radians, and the rotation that ends the method. The
#: error of the normal is the square of the last rotation, and contacts at the rim of a face need all digits.
_STEPS, _LONGEST, _LAST = 8, 0.5, 3e-6
#: least projected radius of a rim, relative to its radius; below it the rim counts as a disc
_FLAT = 1e-2


class Bend(NamedTuple):
    """The second derivative of a branch's support function along two axes orthogonal to a direction n.

    A curved branch is the image of the unit ball under a matrix D, so its support value about its centre is q = |D n|.
    With r the largest singular value of D, ``sharp`` is r / q, or the largest r / q of several branches. It bounds how
    fast the second derivative changes.
    """

    xx: float
    xy: float
    yy: float
    sharp: float
    defined: bool  #: whether the derivative exists


class StationaryPoint(NamedTuple):
    """A direction in which a convex combination of the branches' support functions is stationary."""

    branches: int  #: number of branches, 0 if the search failed
    n: Vec3  #: the stationary direction
    v: Vec3  #: the same combination of the branches' points, parallel to n
    bend: Bend  #: second derivative of the combination


@kernel
def has_branches(core: Core) -> bool:
    """Return whether a core's branches have formulas.

    Users' support mappings lack formulas, and so do sums and unions of curved parts.
    """
    q = core.ints
    if q[_POLYTOPE] == 1:
        return True
    if q[_KIND] == _COMPOSED:
        return bool(q[_PARTS] == 1 and q[_INT_HEAD + 1] != _SUPPORT)
    return bool(q[_KIND] != _SUPPORT)


@kernel
def have_branches(c: Cores) -> bool:
    """Return whether the branches of both cores have formulas, and at least one core is curved."""
    return (c.a.ints[_POLYTOPE] == 0 or c.b.ints[_POLYTOPE] == 0) and has_branches(c.a) and has_branches(c.b)


@inlined
def primitive_branch_point(
    kind: int, f: Array, stretch: float, high: bool, d: Vec3, x: Vec3, y: Vec3
) -> tuple[Vec3, Bend]:
    """Return the support point of a primitive's branch along d, and the second derivative of its support function.

    The derivative is along the vectors x and y, which are orthogonal to d. A branch is a smooth part of the surface.
    The branches of a cylinder are its two rims, and those of a cone are its apex and its rim. ``high`` selects the
    upper branch. ``stretch`` is the greatest scale factor of the primitive's placement.
    """
    r, s, z = f[0], f[0], f[1]
    if kind == _ELLIPSOID:
        s, z = f[1], f[2]
    elif kind == _CONE and high:
        return (0.0, 0.0, z), Bend(0.0, 0.0, 0.0, 0.0, True)
    t = z if kind == _ELLIPSOID else 0.0
    dd, dx, dy = (r * d[0], s * d[1], t * d[2]), (r * x[0], s * x[1], t * x[2]), (r * y[0], s * y[1], t * y[2])
    square = dot(dd, dd)
    q = sqrt(square)
    reach = max(r, max(s, t)) * stretch
    if not q > _FLAT * reach:
        return (0.0, 0.0, 0.0), Bend(0.0, 0.0, 0.0, 0.0, False)
    u = -1.0 / square
    dx, dy = along(dx, dd, u * dot(dd, dx)), along(dy, dd, u * dot(dd, dy))
    u = 1.0 / q
    point = (r * (dd[0] * u), s * (dd[1] * u), t * (dd[2] * u) if kind == _ELLIPSOID else (z if high else -z))
    return point, Bend(dot(dx, dx) * u, dot(dx, dy) * u, dot(dy, dy) * u, reach * u, True)


@kernel
def is_high(f: Array, at: int, p: Vec3) -> bool:
    """Return whether p is on the half z >= 0 of a primitive in its own frame. Its placement begins at f[at]."""
    a, b, c = (f[at], f[at + 3], f[at + 6]), (f[at + 1], f[at + 4], f[at + 7]), (f[at + 2], f[at + 5], f[at + 8])
    up = cross(a, b)
    return (dot(up, sub(p, (f[at + 9], f[at + 10], f[at + 11]))) >= 0.0) == (dot(up, c) > 0.0)


@kernel
def branch_point(core: Core, p: Vec3, d: Vec3, x: Vec3, y: Vec3) -> tuple[Vec3, Bend]:
    """Return the support point along d of the branch that contains p, and the branch's `Bend` along x and y.

    The `Bend` is the second derivative of the branch's support function. For a polytope the branch is the vertex p.
    """
    q, f = core
    kind = q[_KIND]
    if q[_POLYTOPE] == 1:
        return p, Bend(0.0, 0.0, 0.0, 0.0, True)
    if kind != _COMPOSED:
        return primitive_branch_point(kind, f[_HEAD:], 1.0, p[2] >= 0.0, d, x, y)
    at, kind = q[_INT_HEAD + 4], q[_INT_HEAD + 1]
    stretch = 0.0
    for k in range(9):
        stretch += f[at + k] * f[at + k]
    high = is_high(f, at, p)
    d, x, y = pull_back(f, at, d), pull_back(f, at, x), pull_back(f, at, y)
    local, bend = primitive_branch_point(kind, f[q[_INT_HEAD + 3] :], sqrt(stretch), high, d, x, y)
    return place(f, at, local), bend


@kernel
def move_row(c: Cores, s: Array, i: int, n: Vec3, x: Vec3, y: Vec3) -> Bend:
    """Move the point in row `BRANCH_ROWS` + i of ``s`` along its branch of A - B, to the support point along n.

    Returns the second derivative of the branch's support function along x and y.
    """
    m, k = c.m, BRANCH_ROWS + i
    b = row_at(s, k, 6)
    a, bend = branch_point(c.a, row_at(s, k, 3), n, x, y)
    bend_b = Bend(0.0, 0.0, 0.0, 0.0, True)
    if c.b.ints[_POLYTOPE] == 0:
        local = turn_back(m, sub(b, offset(m)))
        local, bend_b = branch_point(c.b, local, neg(turn_back(m, n)), turn_back(m, x), turn_back(m, y))
        b = place_at(m, local)
    s[k, 0], s[k, 1], s[k, 2] = sub(a, b)
    s[k, 3], s[k, 4], s[k, 5] = a
    s[k, 6], s[k, 7], s[k, 8] = b
    sharp, exists = max(bend.sharp, bend_b.sharp), bend.defined and bend_b.defined
    return Bend(bend.xx + bend_b.xx, bend.xy + bend_b.xy, bend.yy + bend_b.yy, sharp, exists)


@kernel
def drop(s: Array, i: int, last: int) -> None:
    """Replace row i of ``s`` by row ``last``, and set the weight of row ``last`` to 0."""
    for j in range(10):
        s[i, j] = s[last, j]
    s[last, 9] = 0.0


@kernel
def on_same_branch(core: Core, p: Vec3, q: Vec3) -> bool:
    """Return whether two support points of a core are on the same branch."""
    kind, number = core.ints[_KIND], core.ints
    if number[_POLYTOPE] == 1:
        return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]
    if kind == _COMPOSED:
        at, kind = number[_INT_HEAD + 4], number[_INT_HEAD + 1]
        return kind == _ELLIPSOID or is_high(core.floats, at, p) == is_high(core.floats, at, q)
    return bool(kind == _ELLIPSOID or (p[2] >= 0.0) == (q[2] >= 0.0))


@kernel
def merged(c: Cores, s: Array, count: int) -> int:
    """Remove each of ``count`` branch rows that is on the branch of an earlier row; return the number of rows left."""
    i = 1
    while i < count:
        duplicate = False
        row = BRANCH_ROWS + i
        for k in range(BRANCH_ROWS, row):
            if on_same_branch(c.a, row_at(s, row, 3), row_at(s, k, 3)):
                p, q = row_at(s, row, 6), row_at(s, k, 6)
                if c.b.ints[_POLYTOPE] == 0:
                    p, q = turn_back(c.m, sub(p, offset(c.m))), turn_back(c.m, sub(q, offset(c.m)))
                duplicate = duplicate or on_same_branch(c.b, p, q)
        if duplicate:
            count -= 1
            drop(s, row, BRANCH_ROWS + count)
        else:
            i += 1
    return count


@kernel
def balance(s: Array, count: int, x: Vec3, y: Vec3) -> bool:
    """Set the weights of the branch rows so that the weighted mean of their points is 0 along x and y; return success.

    With one or two rows the mean is only as near to 0 as possible.
    """
    w0, w1, w2 = row3(s, BRANCH_ROWS), row3(s, BRANCH_ROWS + 1), row3(s, BRANCH_ROWS + 2)
    if count == 1:
        s[BRANCH_ROWS, 9] = 1.0
        return True
    x0, y0, x1, y1 = dot(w0, x), dot(w0, y), dot(w1, x), dot(w1, y)
    if count == 2:
        ex, ey = x0 - x1, y0 - y1
        square = ex * ex + ey * ey
        if not square > 0.0:
            return False
        t = -(x1 * ex + y1 * ey) / square
        s[BRANCH_ROWS, 9], s[BRANCH_ROWS + 1, 9] = t, 1.0 - t
        return True
    x2, y2 = dot(w2, x), dot(w2, y)
    a, b, c = x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0
    total = a + b + c
    if total == 0.0:
        return False
    s[BRANCH_ROWS, 9], s[BRANCH_ROWS + 1, 9], s[BRANCH_ROWS + 2, 9] = a / total, b / total, c / total
    return True


@kernel
def weigh(s: Array, count: int, x: Vec3, y: Vec3) -> int:
    """Set the weights of the branch rows by `balance`, and drop rows until all weights are positive.

    Returns the number of remaining rows, or 0 if `balance` fails.
    """
    while True:
        if not balance(s, count, x, y):
            return 0
        least = BRANCH_ROWS
        for i in range(BRANCH_ROWS + 1, BRANCH_ROWS + count):
            if s[i, 9] < s[least, 9]:
                least = i
        if s[least, 9] > 0.0:
            return count
        count -= 1
        drop(s, least, BRANCH_ROWS + count)


@kernel
def newton(s: Array, stationary: StationaryPoint, x: Vec3, y: Vec3) -> tuple[float, float]:
    """Return the angles of Newton's step, which rotates the direction towards x and y, or two infinities on failure."""
    count, n, v, bend = stationary
    height = dot(v, n)
    kxx, kxy, kyy = bend.xx - height, bend.xy, bend.yy - height
    if count == 1:
        gx, gy = dot(v, x), dot(v, y)
        det = kxx * kyy - kxy * kxy
        if det == 0.0:
            return inf, inf
        return (kxy * gy - kyy * gx) / det, (kxy * gx - kxx * gy) / det
    e = sub(row3(s, BRANCH_ROWS), row3(s, BRANCH_ROWS + 1))
    ex, ey, en = dot(e, x), dot(e, y), dot(e, n)
    if count == 2:
        length = sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        across = -en / length  # the rotation that makes both ends of the edge equally high
        ux, uy = -ey, ex
        kuu = kxx * ux * ux + 2.0 * kxy * ux * uy + kyy * uy * uy
        kue = (kxx * ux + kxy * uy) * ex + (kxy * ux + kyy * uy) * ey
        if kuu == 0.0:
            return inf, inf
        t = -(dot(v, x) * ux + dot(v, y) * uy + kue * across) / kuu
        return across * ex + t * ux, across * ey + t * uy
    f = sub(row3(s, BRANCH_ROWS), row3(s, BRANCH_ROWS + 2))
    fx, fy, fn = dot(f, x), dot(f, y), dot(f, n)
    det = ex * fy - ey * fx
    if det == 0.0:
        return inf, inf
    return (ey * fn - fy * en) / det, (fx * en - ex * fn) / det


@kernel
def move_rows(c: Cores, s: Array, count: int, n: Vec3, x: Vec3, y: Vec3) -> tuple[Bend, Bend, Bend]:
    """Apply `move_row` to the first ``count`` branch rows; return the `Bend` of each. Unused ones repeat the first."""
    b0 = move_row(c, s, plain(0), n, x, y)
    b1, b2 = b0, b0
    if count > 1:
        b1 = move_row(c, s, plain(1), n, x, y)
    if count > 2:
        b2 = move_row(c, s, plain(2), n, x, y)
    return b0, b1, b2


@kernel
def find_stationary(c: Cores, s: Array, count: int, n: Vec3, width: float) -> StationaryPoint:
    """Return the stationary point that Newton's method reaches from direction n.

    The branches are in ``count`` rows of ``s`` from row `BRANCH_ROWS`. These rows are moved to the stationary point.
    ``width`` is the permitted difference of the bounds of the distance. The search ends after a rotation by at most
    the angle sqrt(width / size of the pair), or `_LAST` if this is larger. The error of the normal is about the square
    of the last rotation.
    """
    none = StationaryPoint(0, n, n, Bend(0.0, 0.0, 0.0, 0.0, True))
    for i in range(BRANCH_ROWS + count, BRANCH_ROWS + 3):  # scratch may hold NaN, and NaN times 0 is NaN
        for j in range(10):
            s[i, j] = 0.0
    count, last = merged(c, s, count), inf
    enough = max(_LAST, sqrt(width / c.size))
    for _ in range(_STEPS):
        x = perpendicular(n)
        y = cross(n, x)
        b0, b1, b2 = move_rows(c, s, count, n, x, y)
        remaining = weigh(s, count, x, y)
        if remaining == 0:
            return none
        if remaining < count:
            count = remaining
            b0, b1, b2 = move_rows(c, s, count, n, x, y)
        w0, w1, w2 = s[BRANCH_ROWS, 9], s[BRANCH_ROWS + 1, 9], s[BRANCH_ROWS + 2, 9]
        v = blend(w0, row3(s, BRANCH_ROWS), w1, row3(s, BRANCH_ROWS + 1), w2, row3(s, BRANCH_ROWS + 2))
        bend = Bend(
            w0 * b0.xx + w1 * b1.xx + w2 * b2.xx, w0 * b0.xy + w1 * b1.xy + w2 * b2.xy,
            w0 * b0.yy + w1 * b1.yy + w2 * b2.yy, max(b0.sharp, max(b1.sharp, b2.sharp)),
            b0.defined and b1.defined and b2.defined,
        )  # fmt: skip
        if not bend.defined:
            return none
        point = StationaryPoint(count, n, v, bend)
        if last <= enough:
            return point
        tx, ty = newton(s, point, x, y)
        last = sqrt(tx * tx + ty * ty)
        if not last < inf:
            return none
        if last > _LONGEST:
            tx, ty = tx * _LONGEST / last, ty * _LONGEST / last
        n = unit(along(along(n, x, tx), y, ty))
    return none


#: Least and largest angle of a cap in radians, and a factor. Up to the largest angle, 2 / (1 + cos) is at most
#: 1 + angle^2 / 3. The factor is 0.9 times the least value of 2 / (1 + angle^2 / 3).
_LEAST_ANGLE, _WIDEST, _RISE = 0.02, 1.2, 1.2


class Cap(NamedTuple):
    """A cone of directions around n in which the support value h of A - B is proven to be at least ``floor``."""

    # For a unit vector n' at the angle t from n, h(n') >= sum l_j h_j(n') for any weights l of the branches h_j. With
    # the weights of the stationary point, the points alone give depth cos t. Each branch adds to its point's share at
    # least half of its second derivative at n times sin(t)^2, divided by 1 + sharp t. The reason: |D n'| - D n.D n' /
    # |D n| is the square of the orthogonal part divided by |D n'| + D n.D n' / |D n|, and |D n'| <= |D n| (1 + sharp
    # t). Across an edge or in a face, other weights let h grow with sin t itself, by the distance of the combination
    # from the edge's ends or the face's boundary.

    n: Vec3
    floor: float
    cosine: float  #: cosine of the cone's angle, 2 if there is no cap


@kernel
def cap_around(s: Array, stationary: StationaryPoint) -> Cap:
    """Return the `Cap` around a stationary point of overlapping cores. If there is none, its cosine is 2."""
    count, n, v, bend = stationary
    x = perpendicular(n)
    y = cross(n, x)
    depth = dot(v, n)
    off = along(v, n, -depth)
    across_normal = sqrt(dot(off, off))
    nowhere = Cap(n, depth, 2.0)
    if not depth > 0.0:
        return nowhere
    curve, angle, floor, slope = 0.0, 1.0 if count == 3 else _WIDEST, depth, inf
    if count == 1:
        half = 0.5 * (bend.xx - bend.yy)
        curve = 0.5 * (bend.xx + bend.yy) - sqrt(half * half + bend.xy * bend.xy)
    elif count == 2:
        e = sub(row3(s, BRANCH_ROWS), row3(s, BRANCH_ROWS + 1))
        ex, ey = dot(e, x), dot(e, y)
        length = sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        across = bend.xx * ey * ey - 2.0 * bend.xy * ex * ey + bend.yy * ex * ex
        skew = abs(ex * ey * (bend.yy - bend.xx) + bend.xy * (ex * ex - ey * ey))
        if not across > depth:
            return nowhere
        share = 0.5 * (1.0 - depth / across)
        curve = (1.0 - share) * across
        # the second derivative is not negative, so the gain falls to 0 at this sine at the latest
        sine = (sqrt(skew * skew + across * across) - skew) / across
        slope = share * min(s[BRANCH_ROWS, 9], s[BRANCH_ROWS + 1, 9]) * length
        angle = min(angle, _RISE * slope * sine / depth)
        slope /= across + 2.0 * skew
        floor -= abs(dot(e, n))
    else:
        margin = rim_of(s, x, y) - across_normal
        floor -= max(abs(dot(sub(row3(s, BRANCH_ROWS), v), n)), abs(dot(sub(row3(s, BRANCH_ROWS + 1), v), n)))
        floor -= abs(dot(sub(row3(s, BRANCH_ROWS + 2), v), n))
        angle = min(angle, 1.8 * margin / depth)  # tan(angle / 2) is less than 1.1 times half of the angle
    for _ in range(12):
        spare = 0.0 if count == 3 else curve / (1.0 + bend.sharp * angle) - depth * (1.0 + angle * angle / 3.0)
        if count == 3 or spare >= 1e-3 * curve:
            break
        angle *= 0.7
    if angle < _LEAST_ANGLE:
        return nowhere
    if count < 3:
        if not (spare > 0.0 and across_normal <= 0.025 * slope * spare):
            return nowhere
        floor -= across_normal * across_normal / spare
    square = 0.98 * angle * angle
    return Cap(n, floor, 1.0 - square * (0.5 - square / 24.0))


@kernel
def rim_of(s: Array, x: Vec3, y: Vec3) -> float:
    """Return the least distance of the weighted mean of three points from the edges of their triangle.

    The points are those of the three branch rows of ``s``. All are projected on the plane of x and y.
    """
    w0, w1, w2 = row3(s, BRANCH_ROWS), row3(s, BRANCH_ROWS + 1), row3(s, BRANCH_ROWS + 2)
    x0, y0, x1, y1, x2, y2 = dot(w0, x), dot(w0, y), dot(w1, x), dot(w1, y), dot(w2, x), dot(w2, y)
    area = abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0))
    least = inf
    for i in range(3):
        px, py = (x1 - x2, x2 - x0, x0 - x1)[i], (y1 - y2, y2 - y0, y0 - y1)[i]
        least = min(least, s[BRANCH_ROWS + i, 9] * area / sqrt(px * px + py * py))
    return least


@kernel
def in_cap(cap: Cap, normal: Vec3, key: float) -> bool:
    """Return whether the cap contains all directions in which a face is nearer to the origin than ``cap.floor``.

    The face is a triangle of EPA. ``normal`` is its unit normal, and ``key`` the distance of its plane from the origin.
    """
    # If the ray along n hits the face at the distance t, then t n.normal >= key. So t is less than the floor only if
    # the angle between n and the face's normal is less than the angle with the cosine key / floor.
    a, b = min(dot(normal, cap.n), 1.0), min(key / cap.floor, 1.0)
    return a > 0.0 and a * b - sqrt((1.0 - a * a) * (1.0 - b * b)) >= cap.cosine
