"""Contact manifolds, and the reduction of their points.

A manifold is computed from a feature of A and a feature of B, see `gjk3d.narrow.cores`. Both features are projected
along the normal to convex polygons in a plane. The polygons are intersected, and cut where the gap between the features
is too wide. Every corner is then lifted back onto both features. Neither feature is the reference, so exchanging the
shapes does not change the points. Gregorius (Robust contact creation for physics simulations, GDC 2015) instead clips a
feature against the side planes of the other.

The reduction removes duplicate points. If too many points remain, it selects points that span the patches. `thinned`
reduces the patch of two convex shapes, and `spread_points` the points of other bodies.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain, single_entry
from gjk3d.geometry.polygon import cut, cut_by, farthest_row, nearest_row, thin, tidy
from gjk3d.geometry.vec3 import Rigid, Vec3, add, along, cross, dot, neg, place, row3, scale, sub, turn, turn_back, unit
from gjk3d.narrow.cores import PLANE, Cores, Feature, Loops, bare, feature, world_center
from gjk3d.narrow.solve import SIGNED, PairRows, cores_of_row, marks_of, mirror, solve, take_poses
from gjk3d.narrow.workspace import Workspace, borrow, give_back
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

# --- manifolds -------------------------------------------------------------------------------------------------------


#: relative to the pair's size: the distance of points that are merged, and the excess of a gap that is ignored
NEARLY_EQUAL, FLUSH = 1e-12, 1e-9

_RADIUS, _KIND, _POINT = layout.RADIUS, layout.KIND, layout.POINT
_STILL = 1e-15  #: relative to the radius: a Newton step below this ends the iteration
_NEWTON = 30  #: most Newton steps; one or two are usual, unless the surface bends away

POINT = 7  #: floats of a contact point: the point on A, the point on B, the gap


class Sheets(NamedTuple):
    """Scratch for the corners of both features, and for polygons in the plane."""

    va: Array2  #: corners of A's feature
    vb: Array2  #: corners of B's feature
    plane: Array3  #: three polygons in the plane


class FaceLists(NamedTuple):
    """The faces of shapes in joined arrays, see `Loops`."""

    ints: Ints1
    floats: Array1
    starts: Ints2  #: rows 2 r and 2 r + 1 have the indices in both arrays at which the faces of A and B in pair r begin


class PatchLimits(NamedTuple):
    """The limits of a contact patch."""

    within: float  #: greatest gap of a point
    most: int  #: greatest number of points


class Flat(NamedTuple):
    """The features of A and B, and their projection along the normal."""

    u: Vec3  #: the axes of the plane
    w: Vec3
    ga: Feature  #: feature of A
    gb: Feature
    ha: Vec3  #: heights of A's feature along the normal, see `heights`
    hb: Vec3


@kernel
def to_frame(m: Rigid, v: Array, g: Feature) -> Feature:
    """Transform the corners ``v`` of B's feature to A's frame, and return the feature with its normal in A's frame."""
    for k in range(max(g.corners, 1) + (1 if g.cap > 0.0 else 0)):
        v[k, 0], v[k, 1], v[k, 2] = place(m, row3(v, k))
    return Feature(g.corners, turn(m, g.normal), g.cap)


@kernel
def flatten(v: Array, n: int, u: Vec3, w: Vec3, p: Array) -> None:
    """Write the coordinates along u and w of n corners ``v`` to ``p``, counter-clockwise."""
    area = 0.0
    for k in range(n):
        p[k, 0] = v[k, 0] * u[0] + v[k, 1] * u[1] + v[k, 2] * u[2]
        p[k, 1] = v[k, 0] * w[0] + v[k, 1] * w[1] + v[k, 2] * w[2]
        if k > 1:
            area += (p[k - 1, 0] - p[0, 0]) * (p[k, 1] - p[0, 1]) - (p[k - 1, 1] - p[0, 1]) * (p[k, 0] - p[0, 0])
    if area < 0.0:
        for k in range(n // 2):
            j = n - 1 - k
            x, y = p[k, 0], p[k, 1]
            p[k, 0], p[k, 1] = p[j, 0], p[j, 1]
            p[j, 0], p[j, 1] = x, y


@kernel
def heights(g: Feature, v: Array, n: Vec3, u: Vec3, w: Vec3) -> Vec3:
    """Return (c, a, b) such that the height along n of a feature over the point x u + y w is c + a x + b y."""
    p = row3(v, 0)
    if g.corners == 2:
        e = sub(row3(v, 1), p)
        x, y = dot(e, u), dot(e, w)
        slope = dot(e, n) / (x * x + y * y)
    else:
        e = g.normal
        x, y = dot(e, u), dot(e, w)
        slope = -1.0 / dot(e, n)
    a, b = slope * x, slope * y
    return (dot(p, n) - a * dot(p, u) - b * dot(p, w), a, b)


@inlined
def height_at(h: Vec3, x: float, y: float) -> float:
    """Return the height of a feature at the point (x, y). ``h`` is the result of `heights`."""
    return h[0] + h[1] * x + h[2] * y


@kernel
def nearest_on(g: Feature, v: Array, q: Vec3) -> Vec3:
    """Return the point of a feature nearest to q."""
    if g.corners == PLANE:
        return q
    p = row3(v, 0)
    normal = g.normal
    if g.corners > 2:
        h = dot(sub(q, p), normal)
        foot = along(q, normal, -h)
        if g.cap > 0.0:
            c = row3(v, g.corners)
            e = sub(foot, c)
            s = min(1.0, g.cap / max(sqrt(dot(e, e)), 1e-300))
            return along(c, e, s)
        inside = True
    else:
        foot = q
        inside = False
    best = foot
    least = -1.0
    last = g.corners - 1
    for k in range(g.corners):
        p = row3(v, last)
        e = sub(row3(v, k), p)
        r = sub(foot, p)
        last = k
        # the projection is inside if it is left of every edge; otherwise it is right of the edge with the nearest point
        if inside and g.corners > 2 and dot(cross(e, r), normal) >= 0.0:
            continue
        inside = False
        square = dot(e, e)
        s = min(1.0, max(0.0, dot(e, r) / square)) if square > 0.0 else 0.0
        x, y, z = p[0] + s * e[0], p[1] + s * e[1], p[2] + s * e[2]
        away = (x - q[0]) * (x - q[0]) + (y - q[1]) * (y - q[1]) + (z - q[2]) * (z - q[2])
        if least < 0.0 or away < least:
            best, least = (x, y, z), away
    return best


@kernel
def skin(g: Feature, v: Array, p: Vec3, n: Vec3, radius: float) -> float:
    """Return the distance along n from a feature's point p to the surface of this feature rounded by ``radius``."""
    # The surface consists of the points at ``radius`` from the feature. Newton's method solves for the distance from
    # the feature, which is convex along a line. It starts on the side where it converges.
    if radius == 0.0:
        return 0.0
    if g.corners == 2:
        e = unit(sub(row3(v, 1), row3(v, 0)))
        t = radius / sqrt(1.0 - dot(e, n) * dot(e, n))
    else:
        t = radius / abs(dot(g.normal, n))
    for _ in range(_NEWTON):
        q = along(p, n, t)
        r = sub(q, nearest_on(g, v, q))
        away = sqrt(dot(r, r))
        step = (away - radius) * away / dot(r, n)
        t -= step
        if not step > _STILL * radius:
            break
    return t


@kernel
def shared_line(va: Array, vb: Array, u: Vec3, w: Vec3, tol: float, p: Array) -> int:
    """Write the ends of the common part of two edges, projected on u and w, to ``p``; return 2, or 0 if none."""
    ax, ay = dot(row3(va, 0), u), dot(row3(va, 0), w)
    ex, ey = dot(row3(va, 1), u) - ax, dot(row3(va, 1), w) - ay
    length = sqrt(ex * ex + ey * ey)
    ex, ey = ex / length, ey / length
    low, high = 0.0, length
    ends = (0.0, 0.0, 0.0)
    for k in range(2):
        x, y = dot(row3(vb, k), u) - ax, dot(row3(vb, k), w) - ay
        ends = (ends[1], x * ex + y * ey, max(ends[2], abs(x * ey - y * ex)))
    if ends[2] > tol:
        return 0
    low, high = max(low, min(ends[0], ends[1])), min(high, max(ends[0], ends[1]))
    if low > high + tol:
        return 0
    p[0, 0], p[0, 1] = ax + low * ex, ay + low * ey
    p[1, 0], p[1, 1] = ax + high * ex, ay + high * ey
    return 2


@kernel
def overlay(a: Feature, va: Array, b: Feature, vb: Array, u: Vec3, w: Vec3, tol: float, plane: Array) -> int:
    """Write the intersection of two features, projected along the normal, to plane[0]; return its corner count."""
    p, q, ring = plane[0], plane[1], plane[2]
    if a.corners == 2 and b.corners == 2:
        return shared_line(va, vb, u, w, tol, p)
    # polygon p, an edge if there is one, is cut by the polygon of the other feature
    turned = b.corners == 2 or a.corners == PLANE
    n, m = (b.corners, a.corners) if turned else (a.corners, b.corners)
    flatten(vb if turned else va, n, u, w, p)
    if m == PLANE:
        return n
    flatten(va if turned else vb, m, u, w, ring)
    return cut_by(p, n, ring, m, tol, q)


@kernel
def thinned(p: Array, n: int, most: int, g: Vec3, tol: float) -> int:
    """Reduce the n corners ``p`` to at most ``most``; return their number.

    A corner with the least gap g[0] + g[1] x + g[2] y is among them.
    """
    least = height_at(g, p[0, 0], p[0, 1])
    for k in range(1, n):
        least = min(least, height_at(g, p[k, 0], p[k, 1]))
    deepest = 0
    while height_at(g, p[deepest, 0], p[deepest, 1]) > least + tol:
        deepest += 1
    x, y = p[deepest, 0], p[deepest, 1]
    if most <= 2:
        far = farthest_row(p, n, x, y)
        p[1, 0], p[1, 1] = p[far, 0], p[far, 1]
        p[0, 0], p[0, 1] = x, y
        return most
    n = thin(p, n, most)
    for k in range(n):
        if height_at(g, p[k, 0], p[k, 1]) <= least + tol:
            return n
    k = nearest_row(p, n, x, y)
    p[k, 0], p[k, 1] = x, y
    return n


@kernel
def across(n: Vec3) -> tuple[Vec3, Vec3]:
    """Return unit vectors u and w with u x w = n. If n is an axis, u and w are axes, which avoids rounding."""
    u = (1.0 - n[0] * n[0], -n[0] * n[1], -n[0] * n[2])
    if abs(n[0]) > 0.8:  # any bound well below 1 keeps u from vanishing
        u = (-n[1] * n[0], 1.0 - n[1] * n[1], -n[1] * n[2])
    u = unit(u)
    return u, cross(n, u)


@kernel
def put_point(points: Array, r: int, a: Vec3, n: Vec3, gap: float, turned: bool) -> None:
    """Write to row r the point a of A, the point a + gap n of B, and the gap. If ``turned``, the points are swapped."""
    b = along(a, n, gap)
    for c in range(3):
        points[r, c] = b[c] if turned else a[c]
        points[r, 3 + c] = a[c] if turned else b[c]
    points[r, 6] = gap


@kernel
def common_part(
    c: Cores, loops_a: Loops, loops_b: Loops, n: Vec3, within: float, most: int, sheets: Sheets
) -> tuple[Flat, int, Array2]:
    """Return both features projected along n, the number of corners of their intersection, and these corners.

    Only the part whose gap is at most ``within`` is used, and at most ``most`` corners are returned. The number is 0 if
    a feature is a single point.
    """
    va, vb, plane = sheets
    tol = NEARLY_EQUAL * c.size
    p = plane[0]
    zero = (0.0, 0.0, 0.0)
    only_point = c.b.ints[_KIND] == _POINT and loops_b.ints[0] != PLANE
    ga = bare(1) if only_point else feature(c.a, loops_a, n, va)
    if ga.corners == 1:
        return Flat(zero, zero, ga, ga, zero, zero), 0, p
    gb = feature(c.b, loops_b, neg(turn_back(c.m, n)), vb)
    if gb.corners == 1:
        return Flat(zero, zero, ga, gb, zero, zero), 0, p
    u, w = across(n)
    gb = to_frame(c.m, vb, gb)
    corners = overlay(ga, va, gb, vb, u, w, tol, plane)
    ha, hb = heights(ga, va, n, u, w), heights(gb, vb, n, u, w)
    gap = (hb[0] - ha[0], hb[1] - ha[1], hb[2] - ha[2])
    widest = within + c.radii
    # the gap is linear over the plane, so its limit holds everywhere if it holds at the corners; else a half-plane cuts
    flush = True
    for r in range(corners):
        flush = flush and height_at(gap, p[r, 0], p[r, 1]) <= widest + FLUSH * c.size
    if not flush:
        p = plane[1]
        corners = cut(plane[0], corners, gap[1], gap[2], widest - gap[0], tol, p)
    corners = tidy(p, corners, tol)
    if corners > most:
        corners = thinned(p, corners, most, gap, tol)
    return Flat(u, w, ga, gb, ha, hb), corners, p


@kernel
def lift(
    c: Cores, flat: Flat, n: Vec3, p: Array, corners: int, sheets: Sheets, world: Vec3, turned: bool, points: Array
) -> float:
    """Write the contact point of each corner ``p`` of the intersection, in world coordinates; return the least gap.

    ``n`` is the normal in A's frame, and ``world`` is the normal in world coordinates. If ``turned``, the points of A
    and B are swapped.
    """
    u, w, pose = flat.u, flat.w, c.pose
    ra, rb = c.a.floats[_RADIUS], c.b.floats[_RADIUS]
    center = world_center(pose, c.a.floats)
    least = 0.0
    for r in range(corners):
        x, y = p[r, 0], p[r, 1]
        t = height_at(flat.ha, x, y)
        e = height_at(flat.hb, x, y)
        foot = along(scale(x, u), w, y)
        if c.radii > 0.0:
            e -= skin(flat.gb, sheets.vb, along(foot, n, e), neg(n), rb)
            t += skin(flat.ga, sheets.va, along(foot, n, t), n, ra)
        least = e - t if r == 0 else min(least, e - t)
        on_a = add(turn(pose, along(foot, n, t)), center)
        put_point(points, r, on_a, world, e - t, turned)
    return least


@kernel
def patch(
    c: Cores, turned: bool, loops_a: Loops, loops_b: Loops, out: Array, k: int, within: float, most: int,
    sheets: Sheets, points: Array,
) -> int:  # fmt: skip
    """Write the contact points of the pair whose signed distance is in row k of ``out``; return their number.

    At most ``most`` points are written, and none if the lower bound of the distance is more than ``within``. ``turned``
    is whether ``c`` has A and B exchanged.
    """
    if out[k, 1] > within:
        return 0
    s = -1.0 if turned else 1.0
    world = (s * out[k, 3], s * out[k, 4], s * out[k, 5])
    n = turn_back(c.pose, world)
    flat, corners, p = common_part(c, loops_a, loops_b, n, max(within, out[k, 0]), most, sheets)
    least = lift(c, flat, n, p, corners, sheets, world, turned, points)
    if corners > 0 and least <= max(out[k, 0], out[k, 2]) + NEARLY_EQUAL * c.size:
        return corners
    # the witness points are added if no corner has a gap as small as theirs
    side = 9 if turned else 6
    r = min(corners, most - 1)
    a = (out[k, side], out[k, side + 1], out[k, side + 2])
    put_point(points, r, a, world, out[k, 0], turned)
    return r + 1


@kernel
def loops_of_row(faces: FaceLists, row: int, turned: bool) -> tuple[Loops, Loops]:
    """Return the faces of A and the faces of B for pair ``row``. If ``turned``, the faces of B come first."""
    q, f, starts = faces.ints, faces.floats, faces.starts
    a, b = (2 * row + 1, 2 * row) if turned else (2 * row, 2 * row + 1)
    return Loops(q[starts[a, 0] :], f[starts[a, 1] :]), Loops(q[starts[b, 0] :], f[starts[b, 1] :])


@single_entry
def contact_rows(
    pairs: PairRows, faces: FaceLists, out: Array2, limits: PatchLimits, start: int, stop: int, sheets: Sheets,
    points: Array3, count: Ints1,
) -> None:  # fmt: skip
    """Write the contact points of queries start to stop to ``points``, and their number for each query to ``count``.

    ``out`` contains the signed distances. Row 0 of ``points`` belongs to query ``start``.
    """
    for k in range(start, stop):
        c, turned = cores_of_row(pairs, k)
        loops_a, loops_b = loops_of_row(faces, k if pairs.table.shape[0] > 1 else 0, turned)
        count[k] = patch(c, turned, loops_a, loops_b, out, k, limits.within, limits.most, sheets, points[k - start])


@single_entry
def contact_once(
    pairs: PairRows, ma: Array2, mb: Array2, limits: PatchLimits, workspace: Workspace, out: Array2, flags: Ints2,
    faces: FaceLists, sheets: Sheets, points: Array1,
) -> tuple[int, int]:  # fmt: skip
    """Write the signed distance of a single pair to ``out`` and ``flags``, and its contact points to ``points``.

    Returns the flags of the distance as one integer, see `marks_of`, and the number of contact points. The flags are -1
    if ``ma`` or ``mb`` is not a pose. ``points`` is flat, because a two-dimensional array with many rows would count as
    a batch. A batch waits until the kernels are compiled.
    """
    first = plain(0)
    if not take_poses(ma, mb, pairs.poses):
        return -1, 0
    c, turned = cores_of_row(pairs, first)
    solve(c, SIGNED, limits.within, 0.0, workspace, out[:0], out, flags, first)
    if turned:
        mirror(out, first)
    marks = marks_of(flags, first)
    loops_a, loops_b = loops_of_row(faces, first, turned)
    rows = points.reshape(limits.most, POINT)
    return marks, patch(c, turned, loops_a, loops_b, out, first, limits.within, limits.most, sheets, rows)


# --- reduction -------------------------------------------------------------------------------------------------------


FEW_POINTS = 4  #: the default of ``max_points`` in all queries for contacts
MAX_POINTS = 1 << 16  #: limit of ``max_points``, the number of columns in the result of a stack
WIDTH = POINT + 3  #: floats of a contact point with its normal
_ONE_WAY = 1.0 - 1e-12  #: least cosine of the angle between equal normals
_ALIKE = 0.9  #: least cosine between normals of points that support a body together, as on rough ground
_SAME_POINT = 1e-9  #: greatest distance of equal points, relative to the greatest coordinate
#: columns of ``flat``: the coordinates of a point in a plane, and its distance from the nearest selected point
_U, _V, _FAR = range(3)
#: rows of ``table``: indices of points in sorted order, flags of points without a patch, a chain of corners, flags of
#: selected points
_ORDER, _LEFT, _CHAIN, _RETAINED = range(4)
KEY = _U  #: column of the sort key


@kernel
def _comes_before(flat: Array, a: int, b: int) -> bool:
    """Return whether point a precedes point b, by the first coordinate, then the second, then the index."""
    if flat[a, _U] != flat[b, _U]:
        return bool(flat[a, _U] < flat[b, _U])
    if flat[a, _V] != flat[b, _V]:
        return bool(flat[a, _V] < flat[b, _V])
    return a < b


@kernel
def _sort(order: Ints, count: int, flat: Array) -> None:
    """Sort the indices ``order`` of points by `_comes_before` (Shell, A high-speed sorting procedure, 1959)."""
    step = count // 2
    while step > 0:
        for k in range(step, count):
            number, i = order[k], k
            while i >= step and _comes_before(flat, number, order[i - step]):
                order[i] = order[i - step]
                i -= step
            order[i] = number
        step //= 2


@kernel
def _bulge(flat: Array, a: int, b: int, c: int) -> float:
    """Return the distance of b to the right of the line from a to c."""
    x, y = flat[c, _U] - flat[a, _U], flat[c, _V] - flat[a, _V]
    u, v = flat[b, _U] - flat[a, _U], flat[b, _V] - flat[a, _V]
    length = sqrt(x * x + y * y)
    return (u * y - v * x) / length if length > 0.0 else _between(flat, a, b)


@kernel
def _between(flat: Array, a: int, b: int) -> float:
    """Return the distance of points a and b in the plane."""
    x, y = flat[b, _U] - flat[a, _U], flat[b, _V] - flat[a, _V]
    return sqrt(x * x + y * y)


@kernel
def _mark_outline(flat: Array, count: int, tolerance: float, table: Ints) -> None:
    """Mark the corners of the convex hull of ``count`` planar points in row `_RETAINED` of ``table`` (Andrew 1979).

    The indices of the points are in row `_ORDER`. Points on the sides of the hull are not marked. If several points are
    at the same position, only the point with the least index is marked.
    """
    order, chain, retained = table[_ORDER], table[_CHAIN], table[_RETAINED]
    _sort(order, count, flat)
    for i in range(1, count):  # rounding must not sort the points of a side along the second axis
        if flat[order[i], _U] - flat[order[i - 1], _U] <= tolerance:
            flat[order[i], _U] = flat[order[i - 1], _U]
    _sort(order, count, flat)
    for side in range(2):
        top = 0
        for i in range(count):
            k = order[i] if side == 0 else order[count - 1 - i]
            if top > 0 and _between(flat, chain[top - 1], k) <= tolerance:  # coincident; the deeper has the lower index
                chain[top - 1] = min(chain[top - 1], k)
                continue
            while top > 1 and _bulge(flat, chain[top - 2], chain[top - 1], k) <= tolerance:
                top -= 1
            chain[top] = k
            top += 1
        for i in range(top - 1 if top > 1 else top):
            retained[chain[i]] = 1


@kernel
def _mark_outermost(rows: Array, count: int, tolerance: float, flat: Array, table: Ints) -> None:
    """Mark the corners of the outline of each patch, and the deepest point, in row `_RETAINED` of ``table``.

    A patch consists of points with equal normals. The first ``count`` of ``rows`` are the points.
    """
    order, left, retained = table[_ORDER], table[_LEFT], table[_RETAINED]
    for k in range(count):
        left[k], retained[k] = 1, 0
    for k in range(count):
        if left[k] == 0:
            continue
        n = (rows[k, POINT], rows[k, POINT + 1], rows[k, POINT + 2])
        x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
        # the axis least parallel to n gives a well-conditioned basis of the plane
        axis = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
        u = cross(n, axis)
        v = cross(n, u)
        some = 0
        for j in range(k, count):
            cosine = rows[j, POINT] * n[0] + rows[j, POINT + 1] * n[1] + rows[j, POINT + 2] * n[2]
            if left[j] != 0 and cosine > _ONE_WAY:
                left[j], order[some] = 0, j
                some += 1
                p = _middle(rows, j)
                flat[j, _U], flat[j, _V] = dot(p, u), dot(p, v)
        if some == 0:  # the normal is zero
            left[k], retained[k] = 0, 1
        _mark_outline(flat, some, tolerance, table)
    deepest, least = 0, inf
    for k in range(count):
        if rows[k, POINT - 1] < rows[deepest, POINT - 1]:
            deepest = k
        if retained[k] != 0:
            least = min(least, rows[k, POINT - 1])
    if rows[deepest, POINT - 1] < least - tolerance:
        retained[deepest] = 1


@kernel
def _middle(rows: Array, k: int) -> Vec3:
    return (0.5 * (rows[k, 0] + rows[k, 3]), 0.5 * (rows[k, 1] + rows[k, 4]), 0.5 * (rows[k, 2] + rows[k, 5]))


@inlined
def _normal(rows: Array, k: int) -> Vec3:
    return (rows[k, POINT], rows[k, POINT + 1], rows[k, POINT + 2])


@kernel
def _spread(rows: Array, count: int, most: int, flat: Array, table: Ints, out: Array) -> int:
    """Write the selected contact points with their normals to ``out``, the deepest first; return their number.

    ``rows`` contains ``count`` points, the deepest first. At most ``most`` points are selected, or any number if
    ``most`` is negative. If ``most`` is less than ``count``, only the corners of outlines and the deepest points are
    candidates. The deepest point is selected first, then points with similar normals, each time the point that is
    farthest from those already selected. Then the same repeats from the deepest of the remaining points.
    """
    order = table[_ORDER]
    greatest = 0.0
    for k in range(count):
        p = _middle(rows, k)
        greatest = max(greatest, max(abs(p[0]), max(abs(p[1]), abs(p[2]))))
    tolerance = _SAME_POINT * greatest
    if 0 <= most < count:
        _mark_outermost(rows, count, tolerance, flat, table)
    else:
        for k in range(count):
            table[_RETAINED, k] = 1
    some = 0
    for k in range(count):
        if table[_RETAINED, k] != 0:
            order[some], flat[some, _FAR] = k, inf
            some += 1
    written, first, n = 0, 0, _normal(rows, order[0])
    while written < (some if most < 0 else min(most, some)):
        # points that coincide with a selected point are skipped
        while first < some - 1 and not flat[first, _FAR] > tolerance:
            first += 1
        if flat[first, _FAR] <= tolerance:
            break
        last = -1
        for i in range(first, some if most >= 0 else first):
            if flat[i, _FAR] > max(tolerance, flat[last, _FAR] if last >= 0 else 0.0):
                last = i if dot(_normal(rows, order[i]), n) > _ALIKE else last
        if last < 0:  # the deepest of the remaining points, and its patch
            last, n = first, _normal(rows, order[first])
        p = _middle(rows, order[last])
        for c in range(out.shape[1]):
            out[written, c] = rows[order[last], c]
        written += 1
        for i in range(some):
            q = _middle(rows, order[i])
            x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            flat[i, _FAR] = min(flat[i, _FAR], sqrt(x * x + y * y + z * z))
    return written


@kernel
def order_by_key(flat: Array, count: int, order: Ints) -> None:
    """Write the indices of the first ``count`` rows of ``flat``, sorted by the column `KEY`, to ``order``.

    Rows with equal keys keep their order.
    """
    for k in range(count):
        order[k], flat[k, _V] = k, 0.0
    _sort(order, count, flat)


@inlined
def put_answer(answer: Array, row: Array) -> None:
    """Write the witness points, the distance and the normal of the result row ``answer`` to a contact point ``row``."""
    for c in range(6):
        row[c] = answer[6 + c]
    row[POINT - 1] = answer[0]
    for c in range(3):
        row[POINT + c] = answer[3 + c]


@entry
def spread_rows(
    points: Array2, begins: Ints1, answers: Array2, most: int, flat: Array2, table: Ints2, rows: Array2, out: Array2,
    counts: Ints1,
) -> int:  # fmt: skip
    """Write the selected contact points of several pairs to ``out``, and their numbers to ``counts``; return the total.

    The points of pair k begin at ``begins[k]``. A pair without points gets the witness points of its result row in
    ``answers``. At most ``most`` points of a pair are selected. If ``most`` is negative, only duplicates are removed.
    ``flat``, ``table`` and ``rows`` are scratch.
    """
    total = 0
    for k in range(counts.shape[0]):
        first, count = begins[k], begins[k + 1] - begins[k]
        if count == 0:
            put_answer(answers[k], out[total])
            counts[k] = 1
            total += 1
            continue
        for i in range(count):
            flat[i, KEY] = points[first + i, POINT - 1]
        order_by_key(flat, count, table[_ORDER])
        for i in range(count):
            for c in range(points.shape[1]):
                rows[i, c] = points[first + table[_ORDER, i], c]
        counts[k] = _spread(rows, count, most, flat, table, out[total:])
        total += counts[k]
    return total


def spread_points(points: Array, begins: Ints, answers: Array, most: int | None) -> tuple[Array, Ints]:
    """Return the selected contact points of several pairs, (n, `WIDTH`), and their number for each pair.

    The points of pair k begin at ``begins[k]``. A pair without points gets the witness points of its result row in
    ``answers``. At most ``most`` points of a pair are selected. If ``most`` is None, only duplicates are removed.
    """
    pairs = len(begins) - 1
    longest = int((begins[1:] - begins[:-1]).max(initial=0))
    out, counts = borrow("spread", len(points) + pairs, WIDTH), np.empty(pairs, dtype=np.int64)
    total = spread_rows(
        points, begins, answers, -1 if most is None else int(most), np.empty((longest, 3)),
        np.empty((4, longest), dtype=np.int64), np.empty((longest, WIDTH)), out, counts,
    )  # fmt: skip
    retained = out[:total].copy()
    give_back(spread=out)
    return retained, counts
