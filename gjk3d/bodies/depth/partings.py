"""Translations of B along a direction until it is free of A, and the obstacles that remain.

Two meshes are tested by their triangles. While B moves along a direction, two triangles intersect during one time
interval. The projections of triangles along the direction are their shadows, and the coordinates along it are their
heights. If the shadows of two triangles overlap, their heights differ there by the time of an intersection. The first
and the last time are at corners of one triangle over the other or at crossings of edges. Boxes intersect during one
interval as well, so a traversal of both trees finds a pair of triangles that intersect at a given time. B then
continues at the end of the interval of this pair, until no pair intersects.

Other bodies are tested by their parts. Each step moves B past the parts that intersect, until B is free. Bisection then
shortens the translation.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.base import ENDLESS, PRISMS, TRIANGLES, TriangleTree, part_at, put_behind, triangles_of
from gjk3d.bodies.depth.points import EXIT, PointScratch, Surface, look_at_points
from gjk3d.bodies.facets import IS_APART, IS_OPEN, Solid, facet_of
from gjk3d.bodies.tree_collision import (
    APART,
    HELD,
    PosedPair,
    TreeScratch,
    faces_meet,
    held,
    list_faces,
    list_parts,
    meet,
    parts_at,
)
from gjk3d.bodies.tree_distance import to_point
from gjk3d.bodies.triangles import Triangle, placed_triangle, read, set_vec, vec_at
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Rigid,
    Vec3,
    add,
    box_pose,
    cross,
    dot,
    neg,
    offset,
    place,
    row3,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.narrow.solve import FLOATS, SIGNED, quick_collide, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array1, Array2, Ints, Ints2

NEVER = 1e308
AGAIN = 64  #: greatest number of vertices of each body that are tested after B was moved
FEW = 64  #: greatest number of columns of a height field, or of coincident faces, that are tested after B was moved
PLANES = 24  #: greatest number of planes that separate pairs of parts
PLANE = 4  #: number of columns of a plane: its normal, and the pair
SINGLE = 1
N, POINT = 3, 6  #: columns of `gjk3d.narrow.solve`
#: further columns of `gjk3d.narrow.solve`. An unsolved pair has the lower bound -inf, and bounds in the other columns.
_DISTANCE, _LOWER, _UPPER = 0, 1, 2
_PAIR = 3
_NEAR = 512  #: greatest number of pairs of other parts that are tested after B was moved
_JUMPS = 8  #: greatest number of continuations of a translation that is blocked
_HALVINGS = 8
_SHARP = 1e-3  #: relative width at which bisection ends
_FACING = -0.999  #: greatest cosine between the normals of faces that coincide
_SWEEPS = 64  #: greatest number of sweeps over all walls
_SETTLED = 1e-12  #: relative change of the vector below which a sweep is the last
_GRAZING = 0.05  #: least cosine between a direction and a normal by which an overlap is divided
_SURELY = 64.0  #: greatest overlap of parts that only touch or slide, in units of the error
_BLOCKING = 4  #: greatest number of pairs that are tested for whether they block a translation
_COLLIDE = 1  #: a result of `quick_collide`


class SearchScratch(NamedTuple):
    """Scratch of the search for the least translation."""

    points: PointScratch
    near: Array2  #: points of either body that are near the other
    inner: Array2  #: points of either body inside the other, see `look_at_points`
    moved_inner: Array2  #: points of either body inside the other after B was moved
    part_pairs: Ints2  #: pairs of parts, of which the first certainly overlap
    pairs: Ints2  #: pairs of parts, or of triangles
    spans: Array2  #: time intervals of pairs
    depths: Array2  #: results of `solve_pair`
    planes: Array2  #: planes of `leave_behind`
    tried: Array2  #: directions that were tried
    todo: Array2  #: directions to try
    exits: Array2  #: exit directions of points inside
    walls: Array2  #: planes of `past_all`
    wall: Array1  #: normal of the last obstacle
    nodes: Array2  #: branches, see `depth.next_parting`
    directions: Array2  #: candidate planes of a pair


class Sides(NamedTuple):
    """The data of both bodies that do not depend on the translation of B, and scratch."""

    faces: bool  #: whether both bodies are meshes, which are tested by their triangles
    a: Surface
    b: Surface
    outward_a: Array2  #: normals of the parts of A out of its solid, or one row of zeros
    outward_b: Array2
    pairs: Ints2  #: scratch: pairs of parts, or of triangles
    w: TreeScratch
    r: SearchScratch


class Sweep(NamedTuple):
    """Two meshes, B at a pose in A's frame, and the direction in which B moves."""

    a: TriangleTree
    b: TriangleTree
    m: Rigid
    d: Vec3  #: unit vector of the direction
    u: Vec3  #: u and v are unit vectors perpendicular to d
    v: Vec3
    noise: float


class Walk(NamedTuple):
    """Scratch of `sweep_faces`: pairs of nodes that block the present time, and pairs that block later."""

    stack: Ints2  #: pairs that block
    highs: Array1  #: the ends of their intervals
    later: Ints2  #: pairs that block later
    spans: Array2  #: their intervals


@kernel
def shifted(x: PosedPair, by: Vec3) -> PosedPair:
    """Return the pair with B translated by ``by``."""
    m = x.m
    to: Rigid = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9] + by[0], m[10] + by[1], m[11] + by[2])
    return PosedPair(x.a, x.b, to, ROUNDING * (x.a.reach + x.b.reach + max(abs(to[9]), max(abs(to[10]), abs(to[11])))))


@kernel
def listed(x: PosedPair, s: Sides, room: int) -> int:
    """List pairs of intersecting parts (triangles for meshes) in ``s.pairs``; return their number, up to ``room``."""
    pairs = s.pairs[:room]
    return min(list_faces(x, s.w, pairs) if s.faces else list_parts(x, 0.0, True, s.w, pairs), room)


@kernel
def may_collide(x: PosedPair, s: Sides) -> bool:
    """Return whether two bodies are not proven apart."""
    return bool((faces_meet(x, s.w) if s.faces else meet(x, 0.0, s.w)) != APART)


@inlined
def outward_at(outward: Array, k: int) -> Vec3:
    """Return the outward normal of part k."""
    return row3(outward, k if outward.shape[0] > 1 else 0)


@kernel
def past_all(walls: Array, count: int) -> Vec3:
    """Return nearly the least vector x with n.x >= far for all walls, by Hildreth's iteration (1957).

    A row of ``walls`` has the unit normal n, then far, then one column of scratch.
    """
    x = y = z = 0.0
    for k in range(count):
        walls[k, 4] = 0.0
    for _ in range(_SWEEPS if count > 1 else 1):
        moved = 0.0
        for k in range(count):
            along = walls[k, 0] * x + walls[k, 1] * y + walls[k, 2] * z
            step = max(-walls[k, 4], walls[k, 3] - along)
            walls[k, 4] += step
            moved = max(moved, abs(step))
            x, y, z = x + step * walls[k, 0], y + step * walls[k, 1], z + step * walls[k, 2]
        if moved <= _SETTLED * max(abs(x), abs(y), abs(z)):
            break
    return x, y, z


# two meshes along a direction ---------------------------------------------------------------------------------------


@inlined
def _onto(t: Triangle, u: Vec3, v: Vec3, d: Vec3) -> Triangle:
    """Return a triangle's corners in coordinates along u and v (the shadow) and along d (the heights)."""
    return (
        (dot(t[0], u), dot(t[0], v), dot(t[0], d)),
        (dot(t[1], u), dot(t[1], v), dot(t[1], d)),
        (dot(t[2], u), dot(t[2], v), dot(t[2], d)),
    )


@inlined
def _side(a: Vec3, b: Vec3, p: Vec3) -> float:
    """Return twice the signed area of the triangle a, b, p in the shadow."""
    return (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0])


@inlined
def _above(p: Vec3, t: Triangle) -> tuple[bool, float]:
    """Return whether the shadow of p is in that of a triangle, and the height of p above the triangle."""
    x, y, z = _side(t[1], t[2], p), _side(t[2], t[0], p), _side(t[0], t[1], p)
    total = x + y + z
    if total == 0.0 or min(x, y, z) < 0.0 < max(x, y, z):
        return False, 0.0
    return True, p[2] - (x * t[0][2] + y * t[1][2] + z * t[2][2]) / total


@inlined
def _over_edge(a: Vec3, b: Vec3, p: Vec3, q: Vec3) -> tuple[bool, float]:
    """Return whether the shadows of the edges a b and p q cross, and the height of edge a b above edge p q."""
    e0, e1, f0, f1 = b[0] - a[0], b[1] - a[1], q[0] - p[0], q[1] - p[1]
    turn = e0 * f1 - e1 * f0
    if turn == 0.0:
        return False, 0.0
    s = ((p[0] - a[0]) * f1 - (p[1] - a[1]) * f0) / turn
    r = ((p[0] - a[0]) * e1 - (p[1] - a[1]) * e0) / turn
    if not (0.0 <= s <= 1.0 and 0.0 <= r <= 1.0):
        return False, 0.0
    return True, a[2] + s * (b[2] - a[2]) - p[2] - r * (q[2] - p[2])


@kernel
def _shadows_apart(s: Triangle, t: Triangle, noise: float) -> bool:
    """Return whether two shadows are apart or only touch. Triangles that slide along each other do not block."""
    for k in range(6):
        a, b = (s[k % 3], s[(k + 1) % 3]) if k < 3 else (t[k % 3], t[(k + 1) % 3])
        x, y = a[1] - b[1], b[0] - a[0]
        low_s, high_s = NEVER, -NEVER
        low_t, high_t = NEVER, -NEVER
        for i in range(3):
            p, q = x * (s[i][0] - a[0]) + y * (s[i][1] - a[1]), x * (t[i][0] - a[0]) + y * (t[i][1] - a[1])
            low_s, high_s, low_t, high_t = min(low_s, p), max(high_s, p), min(low_t, q), max(high_t, q)
        if max(low_s - high_t, low_t - high_s) > -noise * sqrt(x * x + y * y):
            return True
    return False


@kernel
def _span(s: Triangle, t: Triangle) -> tuple[float, float, int]:
    """Return the start and the end of the time in which two triangles intersect, and the last contact, see `_wall`."""
    low, high, last = NEVER, -NEVER, -1
    for k in range(3):
        over, height = _above(s[k], t)
        if over:
            low = min(low, height)
            if height > high:
                high, last = height, 0
        over, height = _above(t[k], s)
        if over:
            low = min(low, -height)
            if -height > high:
                high, last = -height, 1
    for i in range(3):
        for j in range(3):
            over, height = _over_edge(s[i], s[(i + 1) % 3], t[j], t[(j + 1) % 3])
            if over:
                low = min(low, height)
                if height > high + 1e-12 * abs(high):  # the contact of a corner precedes that of its edges
                    high, last = height, 2 + 3 * i + j
    return low, high, last


@kernel
def _wall(s: Triangle, t: Triangle, d: Vec3, last: int) -> Vec3:
    """Return the unit normal of the last contact of two triangles, on the side of d, or d if they are degenerate.

    The contact is a corner of s (0), a corner of t (1), or edges i of s and j of t (2 + 3 i + j).
    """
    if last == 0:
        n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    elif last == 1:
        n = cross(sub(s[1], s[0]), sub(s[2], s[0]))
    else:
        i, j = (last - 2) // 3, (last - 2) % 3
        n = cross(sub(s[(i + 1) % 3], s[i]), sub(t[(j + 1) % 3], t[j]))
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return d
    return scale((1.0 if dot(n, d) >= 0.0 else -1.0) / length, n)


@kernel
def pass_triangle(sweep: Sweep, s: Triangle, t: Triangle, time: float, wall: Array) -> tuple[float, float]:
    """Return when an intersection of two triangles at ``time`` ends, and when a later intersection begins.

    The first value is ``time`` if they do not intersect at ``time``. The second is NEVER if they do not intersect
    later. If they intersect at ``time``, ``wall`` becomes the normal of their last contact.
    """
    d, noise = sweep.d, sweep.noise
    over, under = _onto(s, sweep.u, sweep.v, d), _onto(t, sweep.u, sweep.v, d)
    first = min(over[0][2], over[1][2], over[2][2]) - max(under[0][2], under[1][2], under[2][2]) - noise
    if first > time:
        return time, first
    if max(over[0][2], over[1][2], over[2][2]) - min(under[0][2], under[1][2], under[2][2]) + noise < time:
        return time, NEVER
    if _shadows_apart(over, under, 4.0 * noise):
        return time, NEVER
    low, high, last = _span(over, under)
    if last < 0 or high + noise < time:
        return time, NEVER
    if low - noise > time:
        return time, low - noise
    n = _wall(s, t, d, last)
    set_vec(wall, 0, n)
    return high + noise + 2.0 * noise / max(dot(n, d), _GRAZING), NEVER


@kernel
def _box_span(sweep: Sweep, i: int, j: int) -> tuple[float, float]:
    """Return an interval that contains the times of the intersection of two boxes, from the axes of both."""
    ba, bb, d = sweep.a.boxes, sweep.b.boxes, sweep.d
    to = box_pose(sweep.m, ba, i, bb, j)
    e = (dot(vec_at(ba[i], 6), d), dot(vec_at(ba[i], 9), d), dot(vec_at(ba[i], 12), d))
    low, high = -NEVER, NEVER
    for k in range(6):
        if k < 3:
            x, y, z = to[3 * k], to[3 * k + 1], to[3 * k + 2]
            far, speed = to[9 + k], e[k]
            half = ba[i, 3 + k] + abs(x) * bb[j, 3] + abs(y) * bb[j, 4] + abs(z) * bb[j, 5] + sweep.noise
        else:
            x, y, z = to[k - 3], to[k], to[k + 3]
            far, speed = to[9] * x + to[10] * y + to[11] * z, e[0] * x + e[1] * y + e[2] * z
            half = bb[j, k] + abs(x) * ba[i, 3] + abs(y) * ba[i, 4] + abs(z) * ba[i, 5] + sweep.noise
        # the boxes do not move along this axis: they overlap on it always or never
        if abs(speed) < 1e-12:
            if abs(far) > half:
                return NEVER, -NEVER
            continue
        first, second = (-half - far) / speed, (half - far) / speed
        low, high = max(low, min(first, second)), min(high, max(first, second))
    return low, high


@kernel
def _shadow_axes(d: Vec3) -> tuple[Vec3, Vec3]:
    """Return two unit vectors perpendicular to the unit vector d and to each other."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    n = cross(d, axis)
    u = scale(1.0 / sqrt(dot(n, n)), n)
    return u, cross(d, u)


@kernel
def _past_leaves(sweep: Sweep, i: int, j: int, time: float, wall: Array) -> tuple[float, float]:
    """Return ``time``, moved past the triangles of two leaves in turn, and when the next intersection begins."""
    la, lb, soonest = sweep.a.links, sweep.b.links, NEVER
    for q in range(lb[j, 1], lb[j, 1] + lb[j, 2]):
        t = placed_triangle(sweep.m, sweep.b.corners, q)
        for p in range(la[i, 1], la[i, 1] + la[i, 2]):
            time, low = pass_triangle(sweep, read(sweep.a.corners, p), t, time, wall)
            soonest = min(soonest, low)
    return time, soonest


@inlined
def _push_pair(w: Walk, top: int, i: int, j: int, high: float) -> None:
    w.stack[top, 0], w.stack[top, 1], w.highs[top] = i, j, high


@kernel
def _wait(w: Walk, waiting: int, i: int, j: int, low: float, high: float) -> int:
    """Store a pair of nodes that does not block yet; return the number of waiting pairs.

    If the list is full, its first entry is replaced by the pair of both roots. That pair begins to block at the earlier
    of ``low`` and the beginning of the replaced entry.
    """
    if waiting < w.later.shape[0]:
        w.later[waiting, 0], w.later[waiting, 1] = i, j
        w.spans[waiting, 0], w.spans[waiting, 1] = low, high
        return waiting + 1
    w.later[0, 0], w.later[0, 1], w.spans[0, 0], w.spans[0, 1] = 0, 0, min(low, w.spans[0, 0]), NEVER
    return waiting


@kernel
def _awake(w: Walk, waiting: int, time: float) -> tuple[int, int]:
    """Move the pairs that block at ``time`` from the waiting list to the stack; return the sizes of stack and list."""
    waiting_count, top = 0, 0
    for k in range(waiting):
        low, high = w.spans[k, 0], w.spans[k, 1]
        if high < time:
            continue
        if low <= time and top < w.stack.shape[0] // 2:
            _push_pair(w, top, w.later[k, 0], w.later[k, 1], high)
            top += 1
            continue
        w.later[waiting_count, 0], w.later[waiting_count, 1] = w.later[k, 0], w.later[k, 1]
        w.spans[waiting_count, 0], w.spans[waiting_count, 1] = low, high
        waiting_count += 1
    return top, waiting_count


@kernel
def _open(sweep: Sweep, w: Walk, i: int, j: int, time: float, most: float, top: int, waiting: int) -> tuple[int, int]:
    """Split a pair of nodes: push the pairs that block at ``time``, and store the pairs that block later.

    The pair that blocks longest is on top. Return the sizes of the stack and of the waiting list.
    """
    ba, bb, la, lb = sweep.a.boxes, sweep.b.boxes, sweep.a.links, sweep.b.links
    larger = ba[i, 3] + ba[i, 4] + ba[i, 5] >= bb[j, 3] + bb[j, 4] + bb[j, 5]
    of_a, before = lb[j, 0] < 0 or (la[i, 0] >= 0 and larger), top
    for k in range(2):
        p, q = (la[i, 0] + k, j) if of_a else (i, lb[j, 0] + k)
        low, high = _box_span(sweep, p, q)
        if low > high or high < time or low > most:
            continue
        if low > time:
            waiting = _wait(w, waiting, p, q, low, high)
            continue
        _push_pair(w, top, p, q, high)
        top += 1
    if top == before + 2 and w.highs[before] > w.highs[before + 1]:
        p, q, high = w.stack[before, 0], w.stack[before, 1], w.highs[before]
        _push_pair(w, before, w.stack[before + 1, 0], w.stack[before + 1, 1], w.highs[before + 1])
        _push_pair(w, before + 1, p, q, high)
    return top, waiting


@kernel
def sweep_faces(x: PosedPair, d: Vec3, start: float, most: float, w: Walk, wall: Array) -> float:
    """Return the length of the first translation of B along d, from ``start`` on, at which the surfaces are separate.

    A length above ``most`` is returned as NEVER. The result is not proven, since rounding may hide a pair. ``wall``
    becomes the normal of the last obstacle, or zero without an obstacle.
    """
    u, v = _shadow_axes(d)
    sweep = Sweep(triangles_of(x.a), triangles_of(x.b), x.m, d, u, v, x.error)
    time, top, waiting = start, plain(1), plain(0)
    set_vec(wall, 0, (0.0, 0.0, 0.0))
    _push_pair(w, 0, 0, 0, NEVER)
    while top > 0:
        top -= 1
        i, j, high = w.stack[top, 0], w.stack[top, 1], w.highs[top]
        if high >= time and (sweep.a.links[i, 0] >= 0 or sweep.b.links[j, 0] >= 0):
            top, waiting = _open(sweep, w, i, j, time, most, top, waiting)
        elif high >= time:
            time, low = _past_leaves(sweep, i, j, time, wall)
            if time > most:
                return NEVER
            if low <= most:
                waiting = _wait(w, waiting, i, j, low, high)
        # no pair blocks the present time: pairs whose interval has begun are tested next
        if top == 0:
            top, waiting = _awake(w, waiting, time)
    return time


@kernel
def _facing(x: PosedPair, s: Sides, count: int) -> Vec3:
    """Return the mean normal of A's faces that coincide with faces of B in listed pairs, as a unit vector or zero."""
    n = (0.0, 0.0, 0.0)
    for k in range(count):
        u, v = row3(s.outward_a, s.pairs[k, 0]), turn(x.m, row3(s.outward_b, s.pairs[k, 1]))
        if dot(u, v) < _FACING:
            n = add(n, u)
    length = sqrt(dot(n, n))
    return scale(1.0 / length, n) if length > 0.0 else n


# pairs of parts -----------------------------------------------------------------------------------------------------


@inlined
def _height(core: Core, row: Array, n: Vec3) -> float:
    """Return the greatest coordinate of a core at a pose row along a unit vector."""
    return dot(n, place(row, farthest_point(core, turn_back(row, n))))


@inlined
def top_along(x: PosedPair, p: int, n: Vec3, w: TreeScratch) -> float:
    """Return the greatest coordinate of part p of A along a unit vector."""
    if x.a.kind == TRIANGLES:
        t = read(x.a.places, p)
        return max(dot(n, t[0]), dot(n, t[1]), dot(n, t[2])) + float(x.a.floats[0])
    return _height(part_at(x.a, p, w.floats_a, w.row_a), w.row_a, n)


@inlined
def bottom_along(x: PosedPair, q: int, n: Vec3, w: TreeScratch) -> float:
    """Return the least coordinate of part q of B along a unit vector."""
    core = part_at(x.b, q, w.floats_b, w.row_b)
    put_behind(x.m, w.row_b)
    return -_height(core, w.row_b, neg(n))


@kernel
def bound_pairs(x: PosedPair, pairs: Ints, count: int, n: Vec3, w: TreeScratch, depths: Array) -> None:
    """Lower the bounds of unsolved depths to the overlaps of the pairs along a unit vector, where these are less."""
    q, bottom = -1, 0.0
    for k in range(count):
        if depths[k, _LOWER] > -inf:
            continue
        if pairs[k, 1] != q:
            q = pairs[k, 1]
            bottom = bottom_along(x, q, n, w)
        overlap = top_along(x, pairs[k, 0], n, w) - bottom
        if overlap < -depths[k, _UPPER]:
            depths[k, _DISTANCE] = depths[k, _UPPER] = -overlap
            set_vec(depths[k], N, n)


@kernel
def solve_pair(x: PosedPair, pairs: Ints, k: int, w: TreeScratch, out: Array) -> Vec3:
    """Write the signed distance of pair k of parts into the row ``out``, and return the normal."""
    c = parts_at(x, pairs[k, 0], pairs[k, 1], w)
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, 0)
    for i in range(FLOATS):
        out[i] = w.out[0, i]
    return vec_at(out, N)


@kernel
def _keep_meeting(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move pairs that are not proven apart, with their depths, to the front, and return their number."""
    retained = 0
    for k in range(count):
        if depths[k, _UPPER] > error:
            continue
        if retained < k:
            pairs[retained, 0], pairs[retained, 1] = pairs[k, 0], pairs[k, 1]
            for i in range(FLOATS):
                depths[retained, i] = depths[k, i]
        retained += 1
    return retained


@inlined
def _deepest_of(depths: Array, count: int) -> int:
    """Return the index of the pair with the greatest possible depth, or -1 without pairs."""
    best = -1
    for k in range(count):
        if best < 0 or depths[k, _UPPER] < depths[best, _UPPER]:
            best = k
    return best


@kernel
def find_deepest(
    x: PosedPair, pairs: Ints, count: int, direction: Vec3, w: TreeScratch, depths: Array
) -> tuple[int, int]:
    """Return the index of the deepest pair, or -1, and the number of pairs not proven apart, moved to the front.

    Rows of ``depths`` receive each pair's depth, or a bound with its normal. The first bounds are along ``direction``.
    """
    for k in range(count):
        depths[k, _LOWER] = depths[k, _UPPER] = -inf
    bound_pairs(x, pairs, count, direction, w, depths)
    # lazy evaluation: only the pair with the greatest bound is solved, and its normal improves the bounds of the others
    for _ in range(count):
        best = _deepest_of(depths, count)
        if depths[best, _LOWER] > -inf:
            break
        n = solve_pair(x, pairs, best, w, depths[best])
        bound_pairs(x, pairs, count, n, w, depths)
    count = _keep_meeting(pairs, count, x.error, depths)
    return _deepest_of(depths, count), count


@kernel
def solve_remaining(x: PosedPair, pairs: Ints, count: int, solid: Solid, w: TreeScratch, depths: Array) -> int:
    """Compute depths that are only bounded, move pairs not proven apart to the front, and return their number.

    Triangles against the polytope ``solid`` are tested by facets first. ``solid`` is empty if B is another shape.
    """
    for k in range(count):
        if depths[k, _LOWER] > -inf:
            continue
        facet = facet_of(x, pairs[k, 0], solid, depths[k : k + 1], w.flags, 0) if solid.faces > 0 else IS_OPEN
        if facet == IS_APART:
            depths[k, _UPPER] = inf
        elif facet == IS_OPEN:
            solve_pair(x, pairs, k, w, depths[k])
    return _keep_meeting(pairs, count, x.error, depths)


@kernel
def _shorten(
    x: PosedPair, pairs: Ints, count: int, n: Vec3, along: float, w: TreeScratch, spans: Array, plane: int
) -> None:
    """Replace the stored plane of each pair that a new plane separates after a shorter translation.

    ``plane`` is the index of the new plane, and n is its normal. ``along`` is the cosine between n and the direction of
    the translation.
    """
    q, bottom = -1, 0.0
    for k in range(count):
        if pairs[k, 1] != q:
            q = pairs[k, 1]
            bottom = bottom_along(x, q, n, w)
        far = (top_along(x, pairs[k, 0], n, w) - bottom) / along
        if far < spans[k, 0]:
            spans[k, 0], spans[k, 1] = far, float(plane)


@inlined
def _longest(spans: Array, count: int) -> int:
    """Return the index of the pair that is separated last."""
    k = 0
    for i in range(1, count):
        if spans[i, 0] > spans[k, 0]:
            k = i
    return k


@kernel
def overlapping_first(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move the pairs that overlap by more than rounding to the front, and return their number.

    The rows of ``depths`` are not moved.
    """
    retained = 0
    for k in range(count):
        if depths[k, _UPPER] < -_SURELY * error:
            pairs[retained, 0], pairs[retained, 1] = pairs[k, 0], pairs[k, 1]
            retained += 1
    return retained


@kernel
def is_blocked(moved: PosedPair, pairs: Ints, count: int, direction: Vec3, w: TreeScratch, spans: Array) -> bool:
    """Return whether a pair that overlaps before a translation still overlaps after it.

    Two convex parts that intersect at both ends of a translation intersect all along it, so no shorter translation
    separates them. The pairs with the greatest overlap along the direction are tested in the bodies ``moved``.
    """
    for k in range(count):
        spans[k, 0] = inf
    _shorten(moved, pairs, count, direction, 1.0, w, spans, 0)
    for _ in range(min(count, _BLOCKING)):
        k = _longest(spans, count)
        if not spans[k, 0] > 0.0:
            return False
        c = parts_at(moved, pairs[k, 0], pairs[k, 1], w)
        if quick_collide(c, 0.0, w.workspace.simplex, w.workspace.simplex[:0], plain(0)) == _COLLIDE:
            return True
        spans[k, 0] = -inf
    return False


@inlined
def _has_plane(planes: Array, used: int, k: int) -> bool:
    for i in range(1, used):  # noqa: SIM110, a generator does not compile
        if planes[i, _PAIR] == k:
            return True
    return False


@kernel
def leave_behind(
    x: PosedPair, pairs: Ints, count: int, direction: Vec3, most: float, w: TreeScratch, r: SearchScratch, wall: Array
) -> float:  # fmt: skip
    """Return how far B moves along a direction to separate all pairs, or 0 if no pair overlaps.

    A pair is separated by its own plane or by that of another pair, whichever comes first. Each step computes the plane
    of the pair that is separated last. The steps end if this pair already has its own plane, or if it is separated at
    ``most`` or later. ``wall`` becomes the normal of the last plane.
    """
    spans, planes = r.spans, r.planes
    set_vec(planes[0], 0, direction)
    for k in range(count):
        spans[k, 0] = inf
    _shorten(x, pairs, count, direction, 1.0, w, spans, 0)
    k = _longest(spans, count)
    for used in range(1, planes.shape[0]):
        if not spans[k, 0] > 0.0 or _has_plane(planes, used, k):
            break
        n = solve_pair(x, pairs, k, w, w.out[0])
        set_vec(planes[used], 0, n)
        planes[used, _PAIR] = float(k)
        # overlap / cosine is the translation along the direction; nearly perpendicular normals would make it unbounded
        if dot(n, direction) > _GRAZING:
            _shorten(x, pairs, count, n, dot(n, direction), w, spans, used)
        else:
            spans[k, 0], spans[k, 1] = min(spans[k, 0], max(-w.out[0, _LOWER], 0.0)), float(used)
        if spans[k, 0] >= most:
            break
        k = _longest(spans, count)
    set_vec(wall, 0, row3(planes, int(spans[k, 1])))
    return max(float(spans[k, 0]), 0.0)


# the least free translation along a direction -----------------------------------------------------------------------


@kernel
def _out_of(x: PosedPair, s: Sides) -> float:
    """Return the distance from a point of one body inside the other to the surface around the point, plus a margin.

    `held` has written this point into the scratch.
    """
    p, skin = vec_at(s.w.out[0], POINT), s.a.skin.tree
    if s.w.flags[0, 0] != 0:
        p, skin = turn_back(x.m, sub(p, offset(x.m))), s.b.skin.tree
    square, _, _ = to_point(p, 1e150, skin.boxes, skin.links, skin.corners, s.w.stack, s.w.keys)
    return sqrt(square) + 8.0 * x.error  # past the surface by more than rounding


@kernel
def _past_faces(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return whether a separating translation of two meshes is known, and this translation, see `past`."""
    t, more, shift = start, x.error, direction
    # the sweep is not proven under rounding, so its result is tested and continued if needed
    walk = Walk(s.w.stack, s.w.keys, s.pairs, s.r.spans)
    for _ in range(_JUMPS):
        t = sweep_faces(x, direction, t, most, walk, wall)
        if not t < most:
            return False, shift
        shift = scale(t, direction)
        moved = shifted(x, shift)
        touching = listed(moved, s, FEW)
        if touching > 0:  # faces that slide along each other, or rounding
            shift = add(shift, scale(16.0 * x.error, _facing(x, s, touching)))
            moved = shifted(x, shift)
            if listed(moved, s, SINGLE) > 0:
                more *= 16.0  # small gaps between coplanar faces are within the rounding
                t += more
                continue
        if held(moved, s.w) != HELD:
            if wall[0] == 0.0 and wall[1] == 0.0 and wall[2] == 0.0:
                set_vec(wall, 0, direction)
            return True, shift
        t += _out_of(moved, s)
    return False, shift


@kernel
def _past_parts(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return whether a separating translation of bodies tested by parts is known, and this translation, see `past`."""
    t, blocked, free = start, start, most
    endless = x.a.kind == PRISMS and x.a.floats[ENDLESS] > -inf
    few = FEW if endless else _NEAR
    set_vec(wall, 0, direction)
    for _ in range(_JUMPS):
        if not t < most:
            break
        moved = shifted(x, scale(t, direction))
        count, far = min(list_parts(moved, 0.0, endless, s.w, s.pairs[:few]), few), 0.0
        # each of many thin columns moves B only a little, so bisection is faster
        if count == FEW and endless:
            blocked = t
            break
        if count > 0:
            far = leave_behind(moved, s.pairs, count, direction, most - t, s.w, s.r, wall)
        if far == 0.0 and held(moved, s.w) != HELD:
            free = t
            break
        blocked = t
        # past the obstacle by more than the doubt of `list_parts`; the new position is tested next
        t += far + 4.0 * x.error if far > 0.0 else _out_of(moved, s)
    for _ in range(_HALVINGS):
        middle = 0.5 * (blocked + free)
        # steps below the error of positions are useless, and ``free`` is a tested translation
        if free - blocked <= _SHARP * free + 8.0 * x.error or (free == most and middle > 0.9 * most):
            break
        if may_collide(shifted(x, scale(middle, direction)), s):
            blocked = middle
        else:
            free = middle
    return free < most, scale(free, direction)


@kernel
def past(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return whether a separating translation of B along a unit vector is known, and this translation.

    The length is between ``start`` and ``most``, and need not be minimal. ``wall`` becomes the normal of the last
    obstacle.
    """
    return (
        _past_faces(x, s, direction, start, most, wall) if s.faces else _past_parts(x, s, direction, start, most, wall)
    )


@kernel
def deeper(x: PosedPair, s: Sides, by: Vec3, direction: Vec3, wall: Array) -> tuple[bool, float]:
    """Return whether two bodies still intersect after a translation, and how far B has to move along the wall's normal.

    The distance includes the translation ``by``. ``wall`` becomes the normal at the deepest point. For parts,
    ``direction`` starts the search for the deepest pair.
    """
    moved, points, depths = shifted(x, by), s.r.moved_inner, s.r.depths
    for k in range(1, 1 + look_at_points(moved.m, moved.error, AGAIN, s.a, s.b, s.r.points, points)):
        n = vec_at(points[k], EXIT)
        length = sqrt(dot(n, n))
        if length > 0.0:
            n = scale(1.0 / length, n)
            set_vec(wall, 0, n)
            return True, dot(n, by) + max(points[0, 0], 0.0)
    if s.faces:
        return False, 0.0
    count = min(list_parts(moved, 0.0, False, s.w, s.pairs[:_NEAR]), _NEAR)
    best, _ = find_deepest(moved, s.pairs, count, direction, s.w, depths)
    if best < 0:
        return False, 0.0
    n = vec_at(depths[best], N)
    set_vec(wall, 0, n)
    return True, dot(n, by) - depths[best, _LOWER]
