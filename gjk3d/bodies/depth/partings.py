"""Translations of B along a direction until it is free of A, and the obstacles that remain.

Two meshes are tested by their triangles, see `exits`. For other bodies, the translation passes the deepest pair of
parts along the direction, repeatedly, and the last free translation is then shortened by bisection.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.depth.exits import Walk, parting
from gjk3d.bodies.depth.two_surfaces import GivenRoom, Surface, look_at_points
from gjk3d.bodies.facets import IS_APART, IS_OPEN, Solid, facet_of
from gjk3d.bodies.mesh_trees import crossings, to_point
from gjk3d.bodies.part_tree import ENDLESS, PRISMS, TRIANGLES, part_at, put_behind, triangles_of
from gjk3d.bodies.tree_collision import APART, HELD, PosedPair, TreeScratch, held, list_parts, meet, parts_at
from gjk3d.bodies.triangles import read
from gjk3d.geometry.vec3 import Rigid, Vec3, add, dot, neg, offset, place, row3, scale, sub, turn, turn_back
from gjk3d.narrow.solve import FLOATS, SIGNED, quick_collide, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array2, Ints, Ints2

AGAIN = 64  #: vertices of each that are looked at where B was moved
FEW = 64  #: columns of the ground, or faces that lie on each other, that are looked at where B was moved
_NEAR = 512  #: other parts
_JUMPS = 8  #: times that a way out goes on after something was in it
_HALVINGS = 8
_SHARP = 1e-3  #: relative width to which a way out is halved
_FACING = -0.999  #: cosine of the normals of faces that lie on each other
_SINGLE = 1


class Sides(NamedTuple):
    """The data that is the same at all translations of B; see `innermost` for surfaces and room."""

    faces: bool  #: whether both are meshes, which are asked by their triangles
    a: Surface
    b: Surface
    outward_a: Array2  #: normals out of the solid that parts bound, one row of zeros where there are none
    outward_b: Array2
    w: TreeScratch
    room: GivenRoom
    points: Array2  #: what `look_at_points` finds where B was moved
    pairs: Ints2  #: pairs of parts
    spans: Array2  #: from when to when such pairs are in the way
    planes: Array2  #: that part pairs, see `leave_behind`
    depths: Array2  #: of pairs


@kernel
def shifted(x: PosedPair, by: Vec3) -> PosedPair:
    """Return the pair with B translated."""
    m = x.m
    to: Rigid = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9] + by[0], m[10] + by[1], m[11] + by[2])
    return PosedPair(x.a, x.b, to, ROUNDING * (x.a.reach + x.b.reach + max(abs(to[9]), max(abs(to[10]), abs(to[11])))))


@kernel
def listed(x: PosedPair, s: Sides, room: int) -> int:
    """List pairs of intersecting parts, or triangles, and return their number, at most ``room``."""
    pairs = s.pairs[:room]
    if s.faces:
        count = crossings(x.m, x.error, triangles_of(x.a), triangles_of(x.b), s.w.stack, pairs)
    else:
        count = list_parts(x, 0.0, True, s.w, pairs)
    return min(int(count), room)


@kernel
def may_collide(x: PosedPair, s: Sides) -> bool:
    """Return whether the two bodies may intersect; doubt counts as yes."""
    if s.faces:
        return bool(listed(x, s, _SINGLE) > 0 or held(x, s.w) == HELD)
    return bool(meet(x, 0.0, s.w) != APART)


@inlined
def outward_at(outward: Array, k: int) -> Vec3:
    """Return the outward normal of part k."""
    return row3(outward, k if outward.shape[0] > 1 else 0)


@kernel
def _out_of(x: PosedPair, s: Sides) -> float:
    """Return the distance of the point of `held` from the surface that contains it, plus a margin."""
    p = (s.w.out[0, 6], s.w.out[0, 7], s.w.out[0, 8])
    if s.w.flags[0, 0] == 0:
        square, _, _ = to_point(p, 1e150, s.a[4], s.a[5], s.a[6], s.w.stack, s.w.keys)
    else:
        p = turn_back(x.m, sub(p, offset(x.m)))
        square, _, _ = to_point(p, 1e150, s.b[4], s.b[5], s.b[6], s.w.stack, s.w.keys)
    return sqrt(square) + 8.0 * x.error  # past the surface by more than rounding; the place there is tested


@kernel
def _facing(x: PosedPair, s: Sides, count: int) -> Vec3:
    """Return the mean direction of the normals of faces that lie on each other; at most a unit vector."""
    n = (0.0, 0.0, 0.0)
    for k in range(count):
        u, v = row3(s.outward_a, s.pairs[k, 0]), turn(x.m, row3(s.outward_b, s.pairs[k, 1]))
        if dot(u, v) < _FACING:
            n = add(n, u)
    length = sqrt(dot(n, n))
    return scale(1.0 / length, n) if length > 0.0 else n


@inlined
def _set(wall: Array, n: Vec3) -> None:
    wall[0], wall[1], wall[2] = n


@kernel
def _past_faces(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return the result of `past` for two meshes."""
    t, more, shift = start, x.error, direction
    tree_a, tree_b = (x.a.boxes, x.a.links, x.a.places), (x.b.boxes, x.b.links, x.b.places)
    # the traversal of `exits` is not proven under rounding, so its result is tested and continued if needed
    walk = Walk(s.w.stack, s.w.keys, s.pairs, s.spans)
    for _ in range(_JUMPS):
        t = parting(x.m, direction, t, most, x.error, tree_a, tree_b, walk, wall)
        if not t < most:
            return False, shift
        shift = scale(t, direction)
        moved = shifted(x, shift)
        touching = listed(moved, s, FEW)
        if touching > 0:  # faces that slide along each other, or rounding
            shift = add(shift, scale(16.0 * x.error, _facing(x, s, touching)))
            moved = shifted(x, shift)
            if listed(moved, s, _SINGLE) > 0:
                more *= 16.0  # of faces in one plane small gaps are hard to tell
                t += more
                continue
        if held(moved, s.w) != HELD:
            if wall[0] == 0.0 and wall[1] == 0.0 and wall[2] == 0.0:
                _set(wall, direction)
            return True, shift
        t += _out_of(moved, s)
    return False, shift


@kernel
def _past_parts(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return the result of `past` for bodies that are tested by their parts."""
    t, blocked, free = start, start, most
    endless = x.a.kind == PRISMS and x.a.floats[ENDLESS] > -inf
    few = FEW if endless else _NEAR
    _set(wall, direction)
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
            far = leave_behind(moved, s.pairs, count, direction, most - t, s.w, s.spans, s.planes, wall)
        if far == 0.0 and held(moved, s.w) != HELD:
            free = t
            break
        blocked = t
        # past what blocks by more than `list_parts` leaves in doubt; what is free is tested, so it bounds nothing
        t += far + 4.0 * x.error if far > 0.0 else _out_of(moved, s)
    for _ in range(_HALVINGS):
        middle = 0.5 * (blocked + free)
        # below the error of places a half is no better; ``free`` was tested, so the error bounds nothing
        if free - blocked <= _SHARP * free + 8.0 * x.error or (free == most and middle > 0.9 * most):
            break
        if may_collide(shifted(x, scale(middle, direction)), s):
            blocked = middle
        else:
            free = middle
    return free < most, scale(free, direction)


@kernel
def past(x: PosedPair, s: Sides, direction: Vec3, start: float, most: float, wall: Array) -> tuple[bool, Vec3]:
    """Return whether a separating translation of B along a unit vector was found, and that translation.

    Its length is between ``start`` and ``most``, and need not be minimal. ``wall`` becomes the normal of the last
    obstacle.
    """
    return (
        _past_faces(x, s, direction, start, most, wall) if s.faces else _past_parts(x, s, direction, start, most, wall)
    )


@kernel
def deeper(x: PosedPair, s: Sides, by: Vec3, direction: Vec3, wall: Array) -> tuple[bool, float]:
    """Return whether the two bodies still intersect after a translation, and how far along the wall B passes it.

    The wall is the normal at the deepest point. For parts, the search for the deepest pair starts with a direction.
    """
    moved = shifted(x, by)
    for k in range(1, 1 + look_at_points(moved.m, moved.error, AGAIN, s.a, s.b, s.room, s.points)):
        n = (s.points[k, 4], s.points[k, 5], s.points[k, 6])
        length = sqrt(dot(n, n))
        if length > 0.0:
            n = scale(1.0 / length, n)
            _set(wall, n)
            return True, dot(n, by) + max(s.points[0, 0], 0.0)
    if s.faces:
        return False, 0.0
    count = min(list_parts(moved, 0.0, False, s.w, s.pairs[:_NEAR]), _NEAR)
    best, _ = find_deepest(moved, s.pairs, count, direction, s.w, s.depths)
    if best < 0:
        return False, 0.0
    n = (s.depths[best, 3], s.depths[best, 4], s.depths[best, 5])
    _set(wall, n)
    return True, dot(n, by) - s.depths[best, 1]


#: columns of `gjk3d.narrow.solve`; the lower bound of an unsolved pair is -inf, and its other columns are bounds
_DISTANCE, _LOWER, _UPPER, _N = 0, 1, 2, 3
_GRAZING = 0.05  #: least cosine between a way out and a normal that an overlap is divided by
PLANES = 24  #: that part pairs, at most
PLANE = 4  #: columns of one: its normal, and the pair
_PAIR = 3
_SURELY = 64.0  #: times the error of places, by which parts that only touch or slide overlap less
_BLOCKING = 4  #: pairs that are asked whether they block a way
_COLLIDE = 1  #: what `quick_collide` says


@inlined
def _height(core: Core, row: Array, n: Vec3) -> float:
    """Return the extent of a part along a unit vector."""
    return dot(n, place(row, farthest_point(core, turn_back(row, n))))


@inlined
def top_along(x: PosedPair, p: int, n: Vec3, w: TreeScratch) -> float:
    """Return the extent of part p of A along a unit vector."""
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
    """Bound the depth of unsolved pairs by their overlap along a unit vector."""
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
            depths[k, _N], depths[k, _N + 1], depths[k, _N + 2] = n


@kernel
def solve_pair(x: PosedPair, pairs: Ints, k: int, w: TreeScratch, out: Array) -> Vec3:
    """Write the signed distance of a pair of parts to a row, and return the normal."""
    c = parts_at(x, pairs[k, 0], pairs[k, 1], w)
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, 0)
    for i in range(FLOATS):
        out[i] = w.out[0, i]
    return (out[_N], out[_N + 1], out[_N + 2])


@kernel
def _keep_meeting(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move pairs that are not proven apart to the front, and return their number."""
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
    """Return the pair with the greatest possible depth, -1 if there is none."""
    best = -1
    for k in range(count):
        if best < 0 or depths[k, _UPPER] < depths[best, _UPPER]:
            best = k
    return best


@kernel
def find_deepest(
    x: PosedPair, pairs: Ints, count: int, direction: Vec3, w: TreeScratch, depths: Array
) -> tuple[int, int]:
    """Return the deepest pair, -1 for none, and the number of pairs not proven apart, which are moved to the front.

    Rows receive the depth of each pair, or a bound of it with its normal. The first bounds are those along a direction.
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
    """Solve the pairs that were only bounded; return the number of pairs not proven apart, which come first.

    Triangles against a solid polytope are tested by facets first. A polytope without faces stands for any other shape.
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
    """Store the plane for those pairs that it separates earlier than their present plane."""
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
    """Return the pair that is separated last."""
    k = 0
    for i in range(1, count):
        if spans[i, 0] > spans[k, 0]:
            k = i
    return k


@kernel
def overlapping_first(pairs: Ints, count: int, error: float, depths: Array) -> int:
    """Move pairs that overlap by more than rounding to the front, which invalidates the rows; return their number."""
    retained = 0
    for k in range(count):
        if depths[k, _UPPER] < -_SURELY * error:
            pairs[retained, 0], pairs[retained, 1] = pairs[k, 0], pairs[k, 1]
            retained += 1
    return retained


@kernel
def is_blocked(moved: PosedPair, pairs: Ints, count: int, direction: Vec3, w: TreeScratch, spans: Array) -> bool:
    """Return whether pairs that overlapped at the start still overlap after a translation, which blocks all of it.

    Two convex parts that intersect at both ends of a translation intersect all along it. The pairs with the greatest
    overlap along the direction are tested.
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
def _was_asked(planes: Array, used: int, k: int) -> bool:
    """Return whether one of the planes belongs to pair k."""
    for i in range(1, used):  # noqa: SIM110, a generator does not compile
        if planes[i, _PAIR] == k:
            return True
    return False


@kernel
def leave_behind(
    x: PosedPair, pairs: Ints, count: int, direction: Vec3, most: float, w: TreeScratch, spans: Array, planes: Array,
    wall: Array,
) -> float:  # fmt: skip
    """Return how far B moves along a direction to separate all pairs, 0 if none overlap; the wall is the last normal.

    A pair is separated by its own plane or by that of another pair, whichever comes first. The pair that takes longest
    is solved for its own plane, until the last pair has its own, or takes at least ``most``.
    """
    planes[0, 0], planes[0, 1], planes[0, 2] = direction
    for k in range(count):
        spans[k, 0] = inf
    _shorten(x, pairs, count, direction, 1.0, w, spans, 0)
    k = _longest(spans, count)
    for used in range(1, planes.shape[0]):
        if not spans[k, 0] > 0.0 or _was_asked(planes, used, k):
            break
        n = solve_pair(x, pairs, k, w, w.out[0])
        planes[used, 0], planes[used, 1], planes[used, 2], planes[used, _PAIR] = n[0], n[1], n[2], float(k)
        # overlap / cosine is the translation along the direction; nearly perpendicular normals would make it unbounded
        if dot(n, direction) > _GRAZING:
            _shorten(x, pairs, count, n, dot(n, direction), w, spans, used)
        else:
            spans[k, 0], spans[k, 1] = min(spans[k, 0], max(-w.out[0, _LOWER], 0.0)), float(used)
        if spans[k, 0] >= most:
            break
        k = _longest(spans, count)
    wall[0], wall[1], wall[2] = row3(planes, int(spans[k, 1]))
    return max(float(spans[k, 0]), 0.0)
