"""Distances of two bodies at many poses in one call, and depths of touching bodies and of balls without a search.

Bodies touch if two of their parts intersect and no two parts overlap by more than rounding. Each intersecting pair of
parts has a normal. Two coplanar triangles have several normals, and most of them push other triangles into each other.
The normal of the touch is therefore the normal of a pair along which no other pair overlaps. A translation along it by
no more than rounding then separates the bodies, which proves the touch. At touching corners, no pair may have such a
normal. If bodies touch on several sides, such as a ball in a corner, no normal separates them. B is then moved away,
and the normal is that of the nearest parts.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import OPEN, PRISMS, SKIN, TIED, nodes_apart, part_at
from gjk3d.bodies.bvh import stack_in, tree_in
from gjk3d.bodies.depth.partings import shifted, solve_pair
from gjk3d.bodies.mesh_points import (
    CLOSE,
    STEP,
    SURELY,
    Ball,
    Deep,
    NearestFace,
    ball_depth,
    deep_by,
    nearest_face,
    no_depth,
    turns_within,
)
from gjk3d.bodies.tree_collision import (
    APART,
    HELD,
    MEET,
    NO_POSE,
    TOUCHES,
    PosedPair,
    PoseRows,
    TreePair,
    TreeScratch,
    children,
    faces_meet,
    list_faces,
    list_parts,
    meet,
    part_meets,
    parts_at,
    poses_taken,
    two_of_rows,
)
from gjk3d.bodies.tree_distance import (
    ANSWERED,
    BOUNDS,
    DEPTHS,
    DistanceQuery,
    Reports,
    bound_along,
    into_world,
    lone_round,
    nearest,
    nearest_faces,
    put_bounds,
    report_gap,
)
from gjk3d.bodies.triangles import common_of, normal_of, pierced, placed_triangle, read, vec_at
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, neg, offset, row3, scale, sub, turn_back, unit
from gjk3d.narrow.closed import WIDTH as BOX_WIDTH
from gjk3d.narrow.closed import best_axis, half_extents
from gjk3d.narrow.cores import Cores
from gjk3d.narrow.solve import OVERLAPPING, TOUCHING, UNDECIDED, UNSIGNED, mirror, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array2, Ints

_DISTANCE, _LOWER, _UPPER, _N, _POINT = 0, 1, 2, 3, 6  #: columns of `gjk3d.narrow.solve`
_SLACK = 16.0  #: greatest overlap of pairs along the normal of a touch, in units of the error
_NEARLY = 4.0  #: greatest difference between two formulas for intersecting parts, in units of the error
_SAME_NORMAL = 1.0 - 1e-12  #: least cosine of the angle between equal normals
_MOST_NORMALS = 16  #: greatest number of compared normals
_AWAY = 1e-5  #: distance by which B is moved away, in sizes
_MOST_TURNS = 8  #: greatest number of changes of the direction in which B is moved


class Touch(NamedTuple):
    """The contact of two bodies, in A's frame."""

    touching: bool  #: whether all tested parts overlap by no more than rounding
    most: float  #: length of a known separating translation of B along the normal, or infinite
    normal: Vec3
    point: Vec3  #: point on A
    distance: float  #: distance of the two parts with this normal
    upper: float  #: upper bound of this distance


@kernel
def _is_free(x: PosedPair, faces: bool, w: TreeScratch) -> bool:
    """Return whether two bodies are proven apart."""
    w.last[0] = -1
    return bool((faces_meet(x, w) if faces else meet(x, 0.0, w)) == APART)


@kernel
def _ball_in_simplex(s: Array, radius: float) -> bool:
    """Return whether a tetrahedron, the first four rows of s, contains the ball of this radius about the origin."""
    for k in range(4):
        a, b, c = row3(s, (k + 1) % 4), row3(s, (k + 2) % 4), row3(s, (k + 3) % 4)
        n = cross(sub(b, a), sub(c, a))
        side, height = dot(n, sub(row3(s, k), a)), -dot(n, a)
        if not (height if side > 0.0 else -height) > radius * sqrt(dot(n, n)) or side == 0.0:
            return False
    return True


@kernel
def _boxes_overlap(c: Cores, depth: float) -> bool:
    """Return whether two cores are boxes that certainly overlap by more than a depth."""
    if c.a.ints[layout.KIND] != layout.BOX or c.b.ints[layout.KIND] != layout.BOX:
        return False
    _, _, widest, sure = best_axis(half_extents(c.a), half_extents(c.b), c.m, 0.0)
    return bool(sure and widest + BOX_WIDTH * c.size + c.error < c.radii - depth)


@kernel
def overlap_point(x: PosedPair, w: TreeScratch) -> tuple[bool, Vec3]:
    """Return whether the parts ``w.last`` certainly overlap by more than rounding, and a common point.

    Row 0 of ``w.out`` receives the result of the two parts, which has their normal. The exact depth is too expensive,
    so only quick tests are made, and False means that they did not decide.
    """
    c, s, limit = parts_at(x, w.last[0], w.last[1], w), w.workspace.simplex, SURELY * x.error
    for k in range(4):
        s[k, 0] = s[k, 1] = s[k, 2] = 0.0
    upper = solve(c, UNSIGNED, inf, 0.0, w.workspace, s[:0], w.out, w.flags, 0)
    return bool(upper < -limit or _boxes_overlap(c, limit) or _ball_in_simplex(s, limit)), vec_at(w.out[0], _POINT)


@kernel
def _gap_along(
    x: PosedPair, n: Vec3, pairs: Ints, rows: Array, count: int, most: float, w: TreeScratch
) -> tuple[float, float]:
    """Return the greatest excess of a pair's overlap along n over its depth, and the least gap of a pair along n.

    ``rows`` has the results of the pairs, with their depths. The scan ends at an excess of at least ``most``.
    """
    worst, least = 0.0, inf
    for k in range(count):
        gap = bound_along(parts_at(x, pairs[k, 0], pairs[k, 1], w), n)
        worst, least = max(worst, rows[k, _LOWER] - gap), min(least, gap)
        if worst >= most:
            break
    return worst, least


@kernel
def _least_gap(x: PosedPair, n: Vec3, pairs: Ints, count: int, enough: float, w: TreeScratch) -> float:
    """Return the least gap of pairs along a normal, or any gap that is less than ``enough``."""
    least = inf
    for k in range(count):
        least = min(least, bound_along(parts_at(x, pairs[k, 0], pairs[k, 1], w), n))
        if least < enough:
            break
    return least


@kernel
def _keep_meeting(x: PosedPair, pairs: Ints, count: int, rows: Array, w: TreeScratch) -> int:
    """Move the intersecting pairs to the front of ``pairs``, write their results to ``rows``, and return their number.

    If a pair overlaps by more than rounding, the function returns -1 - k, where k is the row of this pair's result.
    """
    retained = 0
    for k in range(count):
        solve_pair(x, pairs, k, w, rows[retained])
        if rows[retained, _UPPER] < -SURELY * x.error:
            return -1 - retained
        if rows[retained, _LOWER] <= _NEARLY * x.error:
            pairs[retained, 0], pairs[retained, 1] = pairs[k, 0], pairs[k, 1]
            retained += 1
    return retained


@inlined
def _is_known(rows: Array, k: int) -> bool:
    """Return whether an earlier pair has the normal of pair k or the opposite normal."""
    for i in range(k):  # noqa: SIM110, a generator does not compile
        if abs(dot(vec_at(rows[i], _N), vec_at(rows[k], _N))) >= _SAME_NORMAL:
            return True
    return False


@inlined
def _touch_of(x: PosedPair, row: Array, touching: bool, most: float, n: Vec3) -> Touch:
    return Touch(touching, most, n, vec_at(row, _POINT), row[_DISTANCE], row[_UPPER] + x.error)


@kernel
def _has_interior(x: PosedPair, p: int, q: int, w: TreeScratch) -> bool:
    """Return whether one of two parts has an interior, which fixes the sign of their normal."""
    if x.a.kind == PRISMS or x.b.kind == PRISMS:
        return True
    a, b = part_at(x.a, p, w.floats_a, w.row_a).floats, part_at(x.b, q, w.floats_b, w.row_b).floats
    return bool(a[layout.RADIUS] + a[layout.INNER] + b[layout.RADIUS] + b[layout.INNER] > 0.0)


@kernel
def _is_touch(
    x: PosedPair, faces: bool, proven: bool, pair: Ints, n: Vec3, gap: float, w: TreeScratch
) -> tuple[bool, float]:
    """Return whether n proves a touch, and the length of the move along n after which B is free.

    The length is inf if no move is needed for the proof.
    """
    if not proven and _has_interior(x, pair[0], pair[1], w):
        return True, inf
    most = max(0.0, -gap) + STEP * x.error
    return _is_free(shifted(x, scale(most, n)), faces, w), most


@kernel
def _best_of_pairs(
    x: PosedPair, faces: bool, proven: bool, pairs: Ints, rows: Array, count: int, w: TreeScratch
) -> tuple[Touch, bool]:  # fmt: skip
    """Return the touch along the first of the pairs' normals that proves it, and True.

    If no normal proves the touch, the touch is along the best normal, and the second value is False. Along the best
    normal, the overlaps of all pairs exceed their depths the least.
    """
    best, chosen, normal, tried, slack = inf, 0, vec_at(rows[0], _N), 0, _SLACK * x.error
    for k in range(count):
        # each normal is tested against all pairs, so the number of normals bounds the quadratic time
        if tried == _MOST_NORMALS or _is_known(rows, k):
            continue
        tried += 1
        for side in range(2):  # either side of two coplanar triangles may be the outside
            n, limit = vec_at(rows[k], _N), best
            if side == 1:
                n, limit = neg(n), 2.0 * slack
            worst, gap = _gap_along(x, n, pairs, rows, count, limit, w)
            if side == 0 and worst < best:
                best, chosen, normal = worst, k, n
            if worst <= slack:
                sure, most = _is_touch(x, faces, proven, pairs[k], n, gap, w)
                if sure:
                    return _touch_of(x, rows[k], True, most, n), True
    return _touch_of(x, rows[chosen], True, inf, normal), False


@inlined
def _end(boxes: Array, i: int, n: Vec3) -> float:
    """Return the greatest coordinate of box i along a unit vector."""
    p, far = boxes[i], 0.0
    for c in range(3):
        far += n[c] * p[c] + abs(n[0] * p[6 + 3 * c] + n[1] * p[7 + 3 * c] + n[2] * p[8 + 3 * c]) * p[3 + c]
    return float(far)


@kernel
def _is_parted(c: Cores, rows: Array, count: int, slack: float) -> bool:
    """Return whether the gap of two parts is at least ``slack`` along one of the first ``count`` normals.

    The opposite of each normal is tested too. The gap is negative for an overlap.
    """
    for k in range(count):
        n = vec_at(rows[k], _N)
        if max(bound_along(c, n), bound_along(c, neg(n))) >= slack:
            return True
    return False


@kernel
def _find_blocking(
    x: PosedPair, n: Vec3, slack: float, every: bool, pairs: Ints, rows: Array, normals: int, w: TreeScratch
) -> tuple[bool, float, int]:  # fmt: skip
    """Return whether intersecting parts block n, the least gap along n, and the new number of known normals.

    Parts block the unit vector n if their gap along n is below ``slack``. The least gap is that of the pairs that do
    not block. The first blocking pair that no known normal separates adds its own normal to the known ones, and ends
    the search. Without ``every`` any blocking pair ends the search. If the added pair overlaps by more than rounding,
    the third value is -1 - k, where k is the row of its result.
    """
    blocked, least, stack = False, inf, w.stack
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        between = dot(n, offset(x.m)) - _end(x.a.boxes, i, n) - _end(x.b.boxes, j, turn_back(x.m, neg(n)))
        # the box test along n is first, since it is cheaper than the separating axes of `nodes_apart`
        if between > x.a.rim + x.b.rim - x.error or nodes_apart(x.m, x.a, i, x.b, j, x.error):
            continue
        if x.a.links[i, 0] >= 0 or x.b.links[j, 0] >= 0:
            stack[top + 1, 0], stack[top + 1, 1], stack[top, 0], stack[top, 1] = children(x, i, j)
            top += 2
            continue
        for p in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            for q in range(x.b.links[j, 1], x.b.links[j, 1] + x.b.links[j, 2]):
                c = parts_at(x, p, q, w)
                gap = bound_along(c, n)
                if gap >= slack:
                    least = min(least, gap)
                # if the list is full or a known normal separates the pair, it is only tested and does not add a normal
                elif normals == _MOST_NORMALS or _is_parted(c, rows, normals, slack):
                    blocked = blocked or part_meets(c, x.error, w) != APART
                    if blocked and not every:
                        return True, least, normals
                elif part_meets(c, x.error, w) != APART:
                    pairs[normals, 0], pairs[normals, 1] = p, q
                    retained = _keep_meeting(x, pairs[normals:], plain(1), rows[normals:], w)
                    if retained != 0:
                        return True, least, normals + 1 if retained > 0 else -1 - normals
    return blocked, least, normals


@kernel
def _try_normals(
    x: PosedPair, faces: bool, proven: bool, pairs: Ints, rows: Array, w: TreeScratch
) -> tuple[Touch, bool, int]:  # fmt: skip
    """Return a touch, whether it is proven, and the number of known normals, or -1 - k if pair k is clearly deep.

    The known normals of pairs are tried in order. The first one along which no pair overlaps gives the touch. If there
    is none, the touch is that of the first pair and is not proven. There may be any number of intersecting pairs.
    """
    normals, k, best = plain(1), 0, _touch_of(x, rows[0], True, inf, vec_at(rows[0], _N))
    while 0 <= k < normals:
        n, slack = vec_at(rows[k], _N), min(0.0, rows[k, _LOWER]) - _SLACK * x.error
        for _ in range(2):
            blocked, gap, normals = _find_blocking(x, n, slack, False, pairs, rows, normals, w)
            if not blocked:
                sure, most = _is_touch(x, faces, proven, pairs[k], n, gap, w)
                if sure:
                    return _touch_of(x, rows[k], True, most, n), True, normals
            if normals < 0:
                return best, False, normals
            n = neg(n)
        k += 1
        if k == normals:
            _, _, normals = _find_blocking(x, n, slack, True, pairs, rows, normals, w)
    return best, False, normals


@kernel
def _normal_from_away(x: PosedPair, faces: bool, n: Vec3, w: TreeScratch) -> tuple[bool, Vec3]:
    """Move B away, and return whether the two parts that are then nearest only touch, and their normal after the move.

    The touch is tested at the original pose, and its result is written to row 0 of ``w.out``. The first direction of
    the move is n. The normals of parts that block the move are added to the direction, as in perceptron learning.
    """
    direction, far, pair = n, _AWAY * x.error / ROUNDING, w.last[:2].reshape(1, 2)
    for k in range(_MOST_TURNS):
        moved = shifted(x, scale(far, unit(direction)))
        if _is_free(moved, faces, w):
            nearest_pair = nearest_faces(moved, inf, w) if faces else nearest(moved, inf, 0.0, 1.0, plain(-1), w)
            pair[0, 0], pair[0, 1], n = nearest_pair.p, nearest_pair.q, vec_at(w.out[1], _N)
            return _keep_meeting(x, pair, plain(1), w.out, w) == 1, n
        if w.last[0] < 0:
            break
        normal = solve_pair(moved, pair, plain(0), w, w.out[0])
        direction = along(direction, normal, k + 1.0)
        if not dot(direction, direction) > 0.0:
            direction = normal
    return False, n


@kernel
def touch(x: PosedPair, faces: bool, proven: bool, w: TreeScratch) -> Touch:
    """Return the contact of two bodies whose parts ``w.last`` intersect.

    With ``proven``, a separating translation is searched for as well. Its length is infinite if none is found.
    """
    pairs, rows = w.last[2:].reshape(TOUCHES, 2), w.out[2:]
    pairs[0, 0], pairs[0, 1] = w.last[0], w.last[1]
    retained = _keep_meeting(x, pairs, plain(1), rows, w)
    if retained > 0:
        more_pairs, n = pairs[1:], vec_at(rows[0], _N)
        count = list_faces(x, w, more_pairs) if faces else list_parts(x, 0.0, False, w, more_pairs)
        if count >= TOUCHES:  # more pairs than fit into the list
            best, settled, retained = _try_normals(x, faces, proven, pairs, rows, w)
            if settled:
                return best
            proven = True
        else:
            # usually no pair overlaps along the first normal, and this test is cheaper than solving all pairs
            slack = min(0.0, rows[0, _LOWER]) - _SLACK * x.error
            gap = _least_gap(x, n, pairs, count + 1, slack, w)
            if gap >= slack:
                sure, most = _is_touch(x, faces, proven, pairs[0], n, gap, w)
                if sure:
                    return _touch_of(x, rows[0], True, most, n)
            retained = _keep_meeting(x, pairs, count + 1, rows, w)
    # a pair overlaps by more than rounding, or no pair intersects, so the bodies do not only touch
    if retained < 1:
        deep = max(0, -1 - retained)
        return _touch_of(x, rows[deep], False, inf, vec_at(rows[deep], _N))
    best, settled = _best_of_pairs(x, faces, proven, pairs, rows, retained, w)
    if settled:
        return best
    sure, n = _normal_from_away(x, faces, best.normal, w)
    if not sure:
        return best
    best, most = _touch_of(x, w.out[0], True, inf, n), STEP * x.error
    free = _is_free(shifted(x, scale(most, n)), faces, w)
    return Touch(True, most if free else inf, n, best.point, best.distance, best.upper)


@kernel
def is_lone_solid(x: PosedPair, w: TreeScratch) -> bool:
    """Return whether B is a single part with an interior. If A has a closed surface, B must also be a ball.

    A flat part may be between two parts of A that it only touches. A solid part that is larger than the overlap of
    touching parts cannot be between them. `ball_in` decides on which side of a closed surface the centre of a ball is.
    """
    leaf = x.b.links[0]
    if x.b.kind == PRISMS or leaf[0] >= 0 or leaf[2] != 1:
        return False
    core = part_at(x.b, leaf[1], w.floats_b, w.row_b)
    solid = core.floats[layout.RADIUS] + core.floats[layout.INNER] > SURELY * x.error
    return bool(solid and (x.a.inside == OPEN or core.ints[layout.KIND] == layout.POINT))


@kernel
def ball_in(x: PosedPair, skin: Ints, w: TreeScratch) -> Deep:
    """Return the depth of B in a closed surface of A if B is a ball that the surface crosses or contains.

    Otherwise the depth is 0 (`no_depth`). ``skin`` has the array addresses of the surface's tree, see `bvh.head_of`.
    """
    single, r = lone_round(x, w)
    b, nothing = Ball(r.start, r.radius, x.error), no_depth(r.start)
    if not single or dot(r.direction, r.direction) > 0.0:
        return nothing
    t, stack = tree_in(skin), stack_in(w.stack, w.floats32)
    nearest = nearest_face(b.center, NearestFace(inf, plain(-1), b.center), t, stack)
    deep = ball_depth(b, nearest, turns_within(b, nearest, t, stack), True, t, w.out[2:], stack)
    if not deep.known > SURELY * x.error:
        return nothing
    # other parts of A may be in the way, and their distances may have larger errors
    by = deep.by
    for _ in range(2):
        if not deep.most < inf or _is_free(shifted(x, by), False, w):
            return deep_by(b, deep.least, deep.known, deep.normal, deep.point, by)
        by = along(by, deep.normal, SURELY * x.error)
    return deep_by(b, deep.least, deep.known, deep.normal, deep.point, (0.0, 0.0, 0.0))


@kernel
def _report_common(x: PosedPair, code: int, faces: bool, w: TreeScratch, out: Array, flags: Ints, k: int) -> None:
    """Write a common point of two bodies, and the normal of the two parts that meet in it, to row k in A's frame.

    If one body is inside the other, the normal is (1, 0, 0).
    """
    deep, n, point = True, (1.0, 0.0, 0.0), (w.out[0, 6], w.out[0, 7], w.out[0, 8])
    if code == MEET and faces:
        triangle_a, triangle_b = read(x.a.places, w.last[0]), placed_triangle(x.m, x.b.places, w.last[1])
        n, point = normal_of(triangle_a), common_of(triangle_a, triangle_b)
        limit = SURELY * x.error
        deep = dot(n, n) > 0.0 and (pierced(triangle_a, triangle_b) > limit or pierced(triangle_b, triangle_a) > limit)
    elif code == MEET:
        deep, point = overlap_point(x, w)
        n = (w.out[0, 3], w.out[0, 4], w.out[0, 5])
    if not deep:
        n = touch(x, faces, False, w).normal
    put_bounds(x.error, (0.0, 0.0, 0.0), n, point, OVERLAPPING, out, flags, k)


@kernel
def _report_depth(x: PosedPair, code: int, faces: bool, w: TreeScratch, out: Array, flags: Ints, k: int) -> int:
    """Write the depth of touching bodies or a ball B to row k; return `ANSWERED`, or ``code`` if a search is needed.

    If a search is needed, the status is TOUCHING if the interiors are known to be disjoint. It is UNDECIDED if the
    parts only touch but the bodies may overlap, and otherwise OVERLAPPING. For OVERLAPPING, no normal is written.
    """
    a, ball = x.a, no_depth((0.0, 0.0, 0.0))
    if a.inside == SKIN:
        p, q = w.last[0], w.last[1]
        ball = ball_in(x, a.skin, w)
        w.last[0], w.last[1] = p, q
    if ball.most <= ball.least * (1.0 + CLOSE):
        bounds = (-ball.known, -ball.most, -ball.least)
        put_bounds(x.error, bounds, ball.normal, ball.point, OVERLAPPING, out, flags, k)
        return ANSWERED
    flags[k, 0], flags[k, 3] = OVERLAPPING, 0
    if code != MEET:
        return code
    contact = touch(x, faces, True, w)
    if contact.touching:
        upper = max(0.0, contact.upper)  # intersecting parts may still be apart by rounding
        bounds = (min(max(contact.distance, -contact.most), upper), -contact.most, upper)
        status = TOUCHING if contact.most < inf or is_lone_solid(x, w) else UNDECIDED
        put_bounds(x.error, bounds, contact.normal, contact.point, status, out, flags, k)
    return ANSWERED if contact.most < inf else code


@kernel
def report_apart(
    x: PosedPair, query: DistanceQuery, w: TreeScratch, out: Array, flags: Ints, parts: Ints, k: int
) -> None:
    """Write the distance, nearest points in A's frame and nearest parts of two separated bodies to row k."""
    gap = nearest_faces(x, query.most, w) if query.faces else nearest(x, query.most, 0.0, 1.0, plain(-1), w)
    report_gap(x, gap, query.most, query.above, w, out, flags, k)
    parts[k, 0], parts[k, 1] = gap.p, gap.q


@entry
def distance_rows(
    pair: TreePair, query: DistanceQuery, ma: Array2, mb: Array2, rows: PoseRows, w: TreeScratch, out: Array2,
    reports: Reports,
) -> int:  # fmt: skip
    """Write the code of `tree_collision.meet` and the distances at pose rows, and return the last code.

    Rows of ``out`` have the format of `gjk3d.narrow.solve`, and the matrices are as in `tree_collision.meet_rows`. For
    overlapping bodies, the level BOUNDS writes the distance 0, and NORMALS adds a common point. DEPTHS writes the depth
    if no search is needed, and then the code is ANSWERED. The last flag of a row is set if the general path in Python
    must decide or gives tighter bounds.
    """
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code, faces, flags = APART, query.faces, reports.flags
    for k in range(rows.start, rows.stop):
        x, turned = two_of_rows(pair, rows, k)
        # the common point of this row must not be from the parts of an earlier row
        w.last[0] = -1
        code = faces_meet(x, w) if faces else meet(x, 0.0, w)
        reports.codes[k] = code
        if code in (MEET, HELD):
            if query.level == BOUNDS:
                put_bounds(x.error, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), OVERLAPPING, out, flags, k)
            elif query.level == DEPTHS:
                reports.codes[k] = code = _report_depth(x, code, faces, w, out, flags, k)
            else:
                _report_common(x, code, faces, w, out, flags, k)
        else:
            report_apart(x, query, w, out, flags, reports.parts, k)
        first = rows.b if turned and pair.order == TIED else rows.a
        into_world(first[k if first.shape[0] > 1 else 0], out, k)
        if turned:
            mirror(out, k)
    return code
