"""Distance of two bodies, computed with their bounding volume trees.

`nearest` searches bodies of any parts, and `nearest_triangles` searches two meshes. The functions that collision and
distance share are in `tree_collision`.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nextafter, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import PRISMS, TRIANGLES, TriangleTree, column_gap, node_gap, part_at, put_behind, triangles_of
from gjk3d.bodies.facets import IS_APART, IS_DEEP, IS_OPEN, WIDTH, write_depth
from gjk3d.bodies.tree_collision import (
    EASY,
    PosedPair,
    TreeScratch,
    between_centers,
    children,
    is_beyond,
    parts_at,
    start_axes,
    widest,
)
from gjk3d.bodies.triangles import (
    Triangle,
    gap_along,
    nearest_on,
    nearest_on_edges,
    nearest_points,
    placed_triangle,
    proven_square,
    read,
    set_vec,
)
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    add,
    along,
    box_pose,
    divide,
    dot,
    from_box,
    gap_squared,
    neg,
    offset,
    place,
    row_at,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.narrow.closed import half_vector
from gjk3d.narrow.cores import Cores, is_curved, support_pair, world_center
from gjk3d.narrow.gjk import start_along
from gjk3d.narrow.solve import BEYOND, SEPARATED, UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import RADIUS
from gjk3d.typing import Array, Array1, Ints, Ints1, Ints2

# --- trees of triangles ----------------------------------------------------------------------------------------------


_STEPS = 4  #: alternating projections for a first pair


@kernel
def _gap(m: Rigid, a: TriangleTree, i: int, b: TriangleTree, j: int) -> float:
    ba, bb = a.boxes, b.boxes
    return gap_squared(box_pose(m, ba, i, bb, j), ba[i, 3], ba[i, 4], ba[i, 5], bb[j, 3], bb[j, 4], bb[j, 5])


@inlined
def _along(w: Vec3, b: Array, i: int) -> float:
    """Return the half extent of box i of ``b`` along the vector w, times the length of w."""
    return float(
        abs(dot(w, row_at(b, i, 6))) * b[i, 3]
        + abs(dot(w, row_at(b, i, 9))) * b[i, 4]
        + abs(dot(w, row_at(b, i, 12))) * b[i, 5]
    )


@kernel
def _is_farther(m: Rigid, w: Vec3, v: Vec3, best: float, a: TriangleTree, i: int, b: TriangleTree, j: int) -> bool:
    """Return whether the gap of box i of A and box j of B along w exceeds the length of w.

    ``best`` is the squared length of w, and ``v`` is w in B's frame.
    """
    t = sub(place(m, row_at(b.boxes, j, 0)), row_at(a.boxes, i, 0))
    return bool(dot(w, t) - _along(w, a.boxes, i) - _along(v, b.boxes, j) > best)


@kernel
def _near_each_other(m: Rigid, a: TriangleTree, b: TriangleTree, stack: Ints, keys: Array, seed: Ints) -> None:
    """Write the indices of two triangles near each other, one of each tree, to ``seed``.

    They are found by alternating projections, which start at the centre of B's box.
    """
    p = row_at(b.boxes, 0, 0)
    for _ in range(_STEPS):
        _, first, p = to_point(place(m, p), 1e150, a.boxes, a.links, a.corners, stack, keys)
        before = seed[1]
        p = turn_back(m, sub(p, offset(m)))
        _, seed[1], p = to_point(p, 1e150, b.boxes, b.links, b.corners, stack, keys)
        if first == seed[0] and seed[1] == before:
            return
        seed[0] = first


@entry
def nearest_triangles(
    m: Rigid, most: float, a: TriangleTree, b: TriangleTree, stack: Ints2, keys: Array1, seed: Ints1, out: Array1
) -> bool:  # fmt: skip
    """Write the distance of two separated meshes, and return False if it is more than ``most``.

    ``out`` becomes a proven lower bound, the distance, and the nearest points of A and of B in A's frame. ``seed``
    becomes the indices of the two nearest triangles.
    """
    best, low = most * most, 1e308
    keys[0] = _gap(m, a, 0, b, 0)
    if keys[0] > best:
        return False
    # a good first pair makes the upper bound small from the start
    _near_each_other(m, a, b, stack, keys, seed)
    point_a, point_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w, v = point_a, point_b  # the vector from A's point to B's, in A's frame and in B's frame
    some = False
    s, t = read(a.corners, seed[0]), placed_triangle(m, b.corners, seed[1])
    d, x, y = nearest_points(s, t)
    if d <= best:
        w = sub(y, x)
        v = turn_back(m, w)
        best, low, point_a, point_b, some = d, proven_square(w, d, s, t), x, y, True
    stack[0, 0] = stack[0, 1] = 0
    keys[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        if keys[top] > best or (some and keys[top] == best):
            continue
        i, j = stack[top, 0], stack[top, 1]
        inner_a, inner_b = a.links[i, 0] >= 0, b.links[j, 0] >= 0
        if not inner_a and not inner_b:
            for q in range(b.links[j, 1], b.links[j, 1] + b.links[j, 2]):
                t = placed_triangle(m, b.corners, q)
                for p in range(a.links[i, 1], a.links[i, 1] + a.links[i, 2]):
                    s = read(a.corners, p)
                    if some:
                        # a gap along the last nearest direction proves that the pair is farther
                        gap = gap_along(w, s, t)
                        if gap > best and gap > 0.0:
                            continue
                    d, x, y = nearest_points(s, t)
                    if d < best or (d == best and not some):
                        w = sub(y, x)
                        v = turn_back(m, w)
                        low = min(low, proven_square(w, d, s, t))
                        best, point_a, point_b, some = d, x, y, True
                        seed[0], seed[1] = p, q
            continue
        if not inner_b or (inner_a and widest(a.boxes, i) >= widest(b.boxes, j)):
            i0, j0, i1, j1 = a.links[i, 0], j, a.links[i, 0] + 1, j
        else:
            i0, j0, i1, j1 = i, b.links[j, 0], i, b.links[j, 0] + 1
        # the plane orthogonal to the last nearest direction is cheaper to test than the axes of both boxes
        d0 = 1e308 if some and _is_farther(m, w, v, best, a, i0, b, j0) else _gap(m, a, i0, b, j0)
        d1 = 1e308 if some and _is_farther(m, w, v, best, a, i1, b, j1) else _gap(m, a, i1, b, j1)
        if d0 < d1:
            i0, j0, d0, i1, j1, d1 = i1, j1, d1, i0, j0, d0
        if d0 <= best:
            stack[top, 0], stack[top, 1], keys[top] = i0, j0, d0
            top += 1
        if d1 <= best:
            stack[top, 0], stack[top, 1], keys[top] = i1, j1, d1
            top += 1
    if some:
        out[0], out[1] = sqrt(min(low, best)), sqrt(best)
        out[2], out[3], out[4] = point_a
        out[5], out[6], out[7] = point_b
    return some


@kernel
def to_point(p: Vec3, most: float, ba: Array, la: Ints, ca: Array, stack: Ints, keys: Array) -> tuple[float, int, Vec3]:
    """Return the squared distance of p from a tree's triangles, the nearest triangle's index, and the nearest point.

    The index is -1 if the distance is beyond ``most``. ``ba``, ``la`` and ``ca`` are the boxes, links and corners of
    the tree.
    """
    best, which, foot = most * most, -1, p
    top = 1
    stack[0, 0] = 0
    keys[0] = 0.0
    while top > 0:
        top -= 1
        if keys[top] > best:
            continue
        i = stack[top, 0]
        if la[i, 0] < 0:
            for t in range(la[i, 1], la[i, 1] + la[i, 2]):
                d, x = nearest_on(p, read(ca, t))
                if d < best or (d == best and which < 0):
                    best, which, foot = d, t, x
            continue
        d0, d1 = from_box(p, ba, la[i, 0]), from_box(p, ba, la[i, 0] + 1)
        first = 1 if d0 < d1 else 0
        stack[top, 0], keys[top] = la[i, 0] + first, d1 if first == 1 else d0
        stack[top + 1, 0], keys[top + 1] = la[i, 0] + 1 - first, d0 if first == 1 else d1
        top += 2
    return best, which, foot


# --- trees of any parts ----------------------------------------------------------------------------------------------


TIGHT_POLYTOPE, TIGHT_CURVED = 1e-12, 1e-9  #: promised widths of the bounds of a distance, in units of the size
LEAST = 5e-324  #: lower bound of the distance of objects that are proven apart, if no greater bound is known
BOUNDS, NORMALS, DEPTHS = range(3)  #: output for an overlap: the distance 0, also a normal and a point, or the depth
ANSWERED = 5  #: code in addition to those of `tree_collision`: the row has the signed distance of an overlap
_MORE = 1.0 + 1e-12
SHORT = 1e-10  #: greatest error of positions, relative to a gap, for which the ends of the gap define a normal
_ANYWHERE = 1e150  #: a limit beyond all distances
#: Parts are not solved if they are at most this many errors nearer than the nearest parts.
_LEVEL, _LEVEL_CURVED = 8.0, 64.0


class DistanceQuery(NamedTuple):
    """A distance query of two bodies."""

    faces: bool  #: whether both bodies are meshes, whose triangles have a special traversal
    level: int  #: BOUNDS, NORMALS or DEPTHS
    most: float  #: distance beyond which only a lower bound is needed
    above: float  #: that lower bound, the next float after ``most``


class Reports(NamedTuple):
    """The output arrays of a query, in addition to the array of distances."""

    codes: Ints1  #: code of each row, see `tree_collision` and ANSWERED
    flags: Ints2  #: see `gjk3d.narrow.solve`
    parts: Ints2  #: indices of the nearest parts of each row


class NearestParts(NamedTuple):
    """The nearest parts that a search has found so far. Row 1 of `TreeScratch.out` has their distance and points."""

    upper: float  #: upper bound of their distance
    lowest: float  #: lower bound of the distances of all pairs of parts that were solved or skipped
    p: int  #: number of A's part in the order of the leaves, or -1
    q: int
    curved: bool  #: whether a part is curved
    loose: bool  #: whether the bounds of some parts are wider than promised
    direction: Vec3  #: the unit vector from A's part to B's part
    begins: float  #: least coordinate of B along ``direction`` if B is a single part, otherwise -inf


@inlined
def bound_along(c: Cores, direction: Vec3) -> float:
    """Return the gap of two parts along a direction, less the rounding error. It is a lower bound of their distance."""
    d = turn_back(c.pose, direction)
    w, _, _ = support_pair(c, d)
    return float(-dot(d, w) - c.radii - c.error)


@inlined
def _begins(x: PosedPair, c: Cores, direction: Vec3) -> float:
    """Return the least coordinate of B along a direction if B is a single part, otherwise -inf."""
    if x.b.places.shape[0] > 1 or x.b.links[0, 2] > 1 or x.b.links[0, 0] >= 0:
        return -inf
    d = turn_back(c.pose, direction)
    _, _, b = support_pair(c, d)
    return float(dot(d, b) + dot(direction, world_center(c.pose, c.a.floats)) - c.b.floats[RADIUS] - c.error)


@inlined
def _plane_gap(x: PosedPair, i: int, best: NearestParts) -> float:
    """Return the gap along ``best.direction`` between box i of A and body B. It is a lower bound of their distance."""
    q, n = x.a.boxes, best.direction
    u = abs(n[0] * q[i, 6] + n[1] * q[i, 7] + n[2] * q[i, 8]) * q[i, 3]
    v = abs(n[0] * q[i, 9] + n[1] * q[i, 10] + n[2] * q[i, 11]) * q[i, 4]
    w = abs(n[0] * q[i, 12] + n[1] * q[i, 13] + n[2] * q[i, 14]) * q[i, 5]
    return float(best.begins - (n[0] * q[i, 0] + n[1] * q[i, 1] + n[2] * q[i, 2]) - u - v - w - x.a.rim)


@kernel
def pair_gap(x: PosedPair, i: int, j: int, best: NearestParts, reach: float) -> float:
    """Return a lower bound of the gap between box i of A and box j of B.

    The axes of the boxes are not tested if the gap along ``best.direction`` is more than ``reach``.
    """
    gap = _plane_gap(x, i, best)
    return gap if gap > reach else max(gap, node_gap(x.m, x.a, i, x.b, j))


@inlined
def _no_nearer(x: PosedPair, bound: float, limit: float, best: NearestParts) -> bool:
    """Return whether parts at least ``bound`` apart are no nearer than ``best``, or are beyond ``limit``."""
    # the errors only change which parts are solved, since `NearestParts.lowest` includes the bounds of skipped parts
    level = _LEVEL_CURVED if best.curved else _LEVEL
    return bound > best.upper - level * x.error or bound > limit + x.error


@inlined
def _with_lowest(best: NearestParts, lowest: float, loose: bool) -> NearestParts:
    return NearestParts(
        best.upper, min(best.lowest, lowest), best.p, best.q, best.curved, best.loose or loose, best.direction,
        best.begins,
    )  # fmt: skip


@inlined
def _end_of(t: Triangle, direction: Vec3) -> float:
    """Return the greatest coordinate of a triangle along a direction."""
    return max(dot(t[0], direction), max(dot(t[1], direction), dot(t[2], direction)))


@kernel
def _solve_pair(
    x: PosedPair, p: int, q: int, gap: float, limit: float, best: NearestParts, w: TreeScratch
) -> NearestParts:
    """Return ``best`` updated with part p of A and part q of B, whose boxes are at least ``gap`` apart."""
    by_corners = best.begins > -inf and x.a.kind == TRIANGLES  # without the pose of the parts and the support of B
    if by_corners:
        bound = best.begins - _end_of(read(x.a.places, p), best.direction) - x.a.floats[0] - x.error
        if _no_nearer(x, bound, limit, best):
            return _with_lowest(best, bound, False)
    c = parts_at(x, p, q, w)
    if best.p >= 0 and not by_corners:
        bound = bound_along(c, best.direction)
        if _no_nearer(x, bound, limit, best):
            return _with_lowest(best, bound, False)
    start_along(w.start, best.direction if x.a.kind == TRIANGLES else (0.0, 0.0, 0.0))
    solve(c, UNSIGNED, limit, 0.0, w.workspace, w.start, w.out, w.flags, 0)
    loose = w.flags[0, 3] != 0 or (w.flags[0, 2] == 0 and w.flags[0, 0] != BEYOND)
    new = _with_lowest(best, max(w.out[0, 1], gap), loose)
    # row 1 of ``out`` belongs to the nearest parts: it is overwritten only by a nearer pair
    if not w.out[0, 2] < best.upper and best.p >= 0:
        return new
    for k in range(12):
        w.out[1, k] = w.out[0, k]
    direction = (w.out[1, 3], w.out[1, 4], w.out[1, 5])
    return NearestParts(w.out[1, 2], new.lowest, p, q, is_curved(c), new.loose, direction, _begins(x, c, direction))


@kernel
def _solve_round(
    x: PosedPair, p: int, q: int, limit: float, best: NearestParts, r: Round, w: TreeScratch
) -> NearestParts:
    """Return ``best`` updated with triangle p of A and the ball or capsule r, which is part q of B.

    If the formula is not accurate enough, GJK computes the distance.
    """
    if best.p >= 0:
        bound = plane_gap_of(read(x.a.places, p), r, best.direction) - x.a.floats[0] - x.error
        if _no_nearer(x, bound, limit, best):
            return _with_lowest(best, bound, False)
    if not round_gap(x, p, r, w.out):
        return _solve_pair(x, p, q, -inf, limit, best, w)
    new = _with_lowest(best, w.out[0, 1], False)
    if not w.out[0, 2] < best.upper and best.p >= 0:
        return new
    for k in range(12):
        w.out[1, k] = w.out[0, k]
    direction = (w.out[1, 3], w.out[1, 4], w.out[1, 5])
    begins = dot(direction, r.start) + min(0.0, dot(direction, r.direction)) - r.radius - x.error
    return NearestParts(w.out[1, 2], new.lowest, p, q, True, new.loose, direction, begins)


@kernel
def solve_leaves(
    x: PosedPair, i: int, j: int, gap: float, most: float, best: NearestParts, r: Round, w: TreeScratch
) -> NearestParts:
    """Return ``best`` updated with the parts of leaf i of A and leaf j of B, whose boxes are ``gap`` or more apart."""
    for q in range(x.b.links[j, 1], x.b.links[j, 1] + x.b.links[j, 2]):
        for p in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            limit = min(best.upper, most) * _MORE if best.p >= 0 else inf
            if x.a.kind == PRISMS and column_gap(x.m, x.a, p, x.b, j, w.box) > limit + x.error:
                continue
            if r.radius > 0.0:
                best = _solve_round(x, p, q, limit, best, r, w)
            else:
                best = _solve_pair(x, p, q, gap, limit, best, w)
    return best


@inlined
def share_of(distance: float, margin: float, share: float) -> float:
    """Return ``distance`` with its excess over ``margin`` multiplied by ``share``."""
    return margin + share * (distance - margin) if distance > margin else distance


@kernel
def nearest(x: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch) -> NearestParts:
    """Return the nearest parts of two bodies that do not intersect, up to a distance ``most``.

    With a share of 1 the result is the nearest pair. A lower share makes the search faster, but the result may then be
    another pair. No pair is nearer than ``share_of(distance of the result, margin, share)``. Part ``first`` of A is
    solved before all others, unless it is -1. The search ends at two parts with a common point.
    """
    best = NearestParts(inf, inf, -1, -1, False, False, (0.0, 0.0, 0.0), -inf)
    r = round_in(x, w)
    easy = EASY
    if first >= 0:
        best = _solve_pair(x, first, plain(0), -inf, inf, best, w)
    stack, keys = w.stack, w.keys
    stack[0, 0] = stack[0, 1] = 0
    keys[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        # skipped pairs are beyond the upper bound less the error, so the lower bound of `report_gap` holds for them
        reach = min(share_of(best.upper, margin, share), most) + x.error if best.p >= 0 else inf
        if keys[top] > reach:
            continue
        i, j = stack[top, 0], stack[top, 1]
        if easy == 0 and is_beyond(x, i, reach, w):
            continue
        if x.a.links[i, 0] < 0 and x.b.links[j, 0] < 0:
            if easy > 0:
                easy = easy - 1 if easy > 1 else start_axes(x, w)
            best = solve_leaves(x, i, j, keys[top], most, best, r, w)
            if best.upper <= 0.0 and best.p >= 0:  # the parts overlap, so other parts are not nearer
                break
            continue
        i0, j0, i1, j1 = children(x, i, j)
        d0, d1 = pair_gap(x, i0, j0, best, reach), pair_gap(x, i1, j1, best, reach)
        # the nearer pair is pushed last and therefore visited first: it lowers the upper bound early
        if d0 < d1 or (d0 == d1 and between_centers(x, i0, j0) < between_centers(x, i1, j1)):
            i0, j0, d0, i1, j1, d1 = i1, j1, d1, i0, j0, d0
        if d0 <= reach:
            stack[top, 0], stack[top, 1], keys[top] = i0, j0, d0
            top += 1
        if d1 <= reach:
            stack[top, 0], stack[top, 1], keys[top] = i1, j1, d1
            top += 1
    return best


@kernel
def report_gap(
    x: PosedPair, parts: NearestParts, most: float, above: float, w: TreeScratch, out: Array, flags: Ints, k: int
) -> None:
    """Write the distance of two separated bodies, and their nearest points in A's frame, to row k of the output.

    If the bodies are farther apart than ``most``, the lower bound is ``above``, the next float after ``most``.
    """
    best, lower = w.out, min(parts.lowest, parts.upper)
    too_far = lower > most + x.error
    lower, upper = above if too_far else max(LEAST, lower - x.error), parts.upper + x.error
    distance = min(max(best[1, 0], lower), upper)
    out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
    for c in range(3):
        n = best[1, 3 + c]  # B's point follows from the normal, since the difference of near points is rounding
        out[k, 3 + c], out[k, 6 + c], out[k, 9 + c] = n, best[1, 6 + c], best[1, 6 + c] + distance * n
    # an interval wider than promised is reported as loose, so that the caller can solve it again
    promised = (TIGHT_CURVED if parts.curved else TIGHT_POLYTOPE) * x.error / ROUNDING + 4.0 * x.error
    narrow = upper - lower <= promised
    flags[k, 0] = BEYOND if too_far else SEPARATED
    flags[k, 1], flags[k, 2], flags[k, 3] = 0, int(narrow), int(parts.loose and not narrow)


@kernel
def put_bounds(
    error: float, bounds: tuple[float, float, float], n: Vec3, point: Vec3, status: int, out: Array, flags: Ints, k: int
) -> None:  # fmt: skip
    """Write a distance, its two bounds, the normal n, both witness points and the status to row k of the output.

    ``bounds`` are the distance, its lower bound and its upper bound. ``point`` is the point of A, from which
    the point of B is computed. ``error`` is the rounding error of a position.
    """
    out[k, 0], out[k, 1], out[k, 2] = bounds
    set_vec(out[k], 3, n)
    set_vec(out[k], 6, point)
    set_vec(out[k], 9, along(point, n, bounds[0]))
    flags[k, 0], flags[k, 1], flags[k, 3] = status, 0, 0
    flags[k, 2] = int(bounds[2] - bounds[1] <= TIGHT_CURVED * error / ROUNDING)


@kernel
def _normal_between(x: PosedPair, p: int, q: int, between: Vec3, length: float, w: TreeScratch) -> Vec3:
    """Return the unit vector from triangle p of A to the nearest triangle q of B.

    ``between`` leads from the nearest point of p to that of q, and ``length`` is its length. If ``between`` is mostly
    rounding error, GJK computes the unit vector.
    """
    n = scale(1.0 / length, between) if length > 0.0 else (1.0, 0.0, 0.0)
    if x.error > SHORT * length:
        c = parts_at(x, p, q, w)
        solve(c, UNSIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, 0)
        normal = (w.out[0, 3], w.out[0, 4], w.out[0, 5])
        if not length > 0.0 or bound_along(c, normal) > bound_along(c, n):
            return normal
    return n


@kernel
def nearest_faces(x: PosedPair, most: float, w: TreeScratch) -> NearestParts:
    """Return the nearest triangles of two meshes. If none are within ``most``, they are searched without a limit."""
    row, limit = w.out[1], min(most * _MORE, _ANYWHERE)
    for far in (limit, _ANYWHERE):  # the two points are written last, into the last columns of the row
        w.last[0] = w.last[1] = -1
        if nearest_triangles(x.m, far, triangles_of(x.a), triangles_of(x.b), w.stack, w.keys, w.last, row[4:]):
            break
    low, high, p, q = row[4], row[5], w.last[0], w.last[1]
    between = (row[9] - row[6], row[10] - row[7], row[11] - row[8])
    row[0] = sqrt(dot(between, between))
    row[3], row[4], row[5] = _normal_between(x, p, q, between, row[0], w)
    # rounding rotates the segment between very near points of needles, for which GJK and EPA are more exact
    loose = high - low > TIGHT_POLYTOPE * x.error / ROUNDING
    return NearestParts(high, low, p, q, False, loose, (0.0, 0.0, 0.0), -inf)


@kernel
def into_world(p: Array, out: Array, k: int) -> None:
    """Transform the normal and the points in row k of ``out`` from A's frame into the world. ``p`` is A's pose row."""
    out[k, 3], out[k, 4], out[k, 5] = turn(p, (out[k, 3], out[k, 4], out[k, 5]))
    out[k, 6], out[k, 7], out[k, 8] = place(p, (out[k, 6], out[k, 7], out[k, 8]))
    out[k, 9], out[k, 10], out[k, 11] = place(p, (out[k, 9], out[k, 10], out[k, 11]))


class Round(NamedTuple):
    """A point, segment, ball or capsule in A's frame: all points within a radius of a segment."""

    start: Vec3
    direction: Vec3  #: from the start to the end of the segment
    radius: float


NO_ROUND = Round((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


@kernel
def round_in(x: PosedPair, w: TreeScratch) -> Round:
    """Return B in A's frame if B is one ball or capsule and A is a mesh. Otherwise return a `Round` with radius 0."""
    return lone_round(x, w)[1] if x.a.kind == TRIANGLES else NO_ROUND


@kernel
def lone_round(x: PosedPair, w: TreeScratch) -> tuple[bool, Round]:
    """Return whether B is one point, segment, ball or capsule, and if so, B as a `Round` in A's frame."""
    leaf = x.b.links[0]
    if x.b.kind == PRISMS or leaf[0] >= 0 or leaf[2] != 1:
        return False, NO_ROUND
    core = part_at(x.b, leaf[1], w.floats_b, w.row_b)
    if core.ints[layout.KIND] > layout.SEGMENT:
        return False, NO_ROUND
    f, row = core.floats, w.row_b
    put_behind(x.m, row)
    half = turn(row, half_vector(core))
    middle = place(row, (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2]))
    return True, Round(sub(middle, half), add(half, half), f[layout.RADIUS])


@inlined
def _nearest(t: Triangle, r: Round) -> tuple[float, Vec3, Vec3]:
    """Return the squared distance and nearest points of a triangle and the segment of r, which must not pierce it."""
    best, a = nearest_on(r.start, t)
    b = r.start
    if not dot(r.direction, r.direction) > 0.0:
        return best, a, b
    end = add(r.start, r.direction)
    square, p = nearest_on(end, t)
    if square < best:
        best, a, b = square, p, end
    for k in range(3):
        square, p, q = nearest_on_edges(t[k], sub(t[(k + 1) % 3], t[k]), r.start, r.direction)
        if square < best:
            best, a, b = square, p, q
    return best, a, b


@inlined
def plane_gap_of(t: Triangle, r: Round, direction: Vec3) -> float:
    """Return the gap between a triangle and a ball or capsule along a direction."""
    high, low = (
        max(dot(direction, t[0]), max(dot(direction, t[1]), dot(direction, t[2]))),
        dot(direction, r.start) + min(0.0, dot(direction, r.direction)),
    )
    return low - high - r.radius


@kernel
def round_gap(x: PosedPair, k: int, r: Round, out: Array) -> bool:
    """Write the distance of triangle k of A and a ball or capsule to ``out[0]``; return False if it needs GJK."""
    t, clear = read(x.a.places, k), WIDTH * x.error
    square, a, b = _nearest(t, r)
    far, rim = sqrt(square), x.a.floats[0]
    if not far - r.radius - rim > clear:
        return False
    n = divide(sub(b, a), far)
    upper, lower = far - r.radius - rim, plane_gap_of(t, r, n) - rim
    if upper - lower > clear:
        return False
    out[0, 0], out[0, 1], out[0, 2] = upper, min(lower, upper), upper
    a, b = along(a, n, rim), along(b, n, -r.radius)
    for c in range(3):
        out[0, 3 + c], out[0, 6 + c], out[0, 9 + c] = n[c], a[c], b[c]
    return True


@kernel
def round_of(x: PosedPair, k: int, r: Round, out: Array, flags: Ints, row: int) -> int:
    """Return whether a ball or capsule overlaps triangle k of A: IS_APART, IS_DEEP, or IS_OPEN if undecided.

    For IS_DEEP the depth is written to ``row`` of the output.
    """
    t, clear = read(x.a.places, k), WIDTH * x.error
    square, a, b = _nearest(t, r)
    far = sqrt(square)
    if not far > clear:
        return IS_OPEN
    n = divide(sub(b, a), far)
    gap, least = far - r.radius, plane_gap_of(t, r, n)
    if least > clear:
        return IS_APART
    if gap > -clear or gap - least > clear:
        return IS_OPEN
    write_depth(n, a, along(b, neg(n), r.radius), gap, clear, out, flags, row)
    return IS_DEEP


@lru_cache(64)
def distance_query(faces: bool, level: int, most: float) -> DistanceQuery:
    """Return the distance query of two bodies up to the distance ``most``. `DistanceQuery` explains the arguments."""
    return DistanceQuery(faces, level, most, nextafter(most, inf))
