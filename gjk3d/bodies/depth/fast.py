"""Fast depth of two bodies: a short separating translation, found by a few collision queries, and a lower bound.

`depth` searches for the least translation and takes milliseconds. The fast depth takes about as long as ten collision
queries. Its translation is proven to separate the bodies, but it may be longer than the least one:

1. The minimum translation of the convex hulls, or of the bodies' boxes if there are no hulls, separates the bodies.
2. Each of the first intersecting pairs of parts gives a plane that B has to pass: a face of a closed surface, or the
   plane between the two parts. Each different plane starts a search, the nearest first.
3. B is moved by the least translation past all planes of the search, and a collision query tests it there. A pair of
   parts that still intersects adds its plane, as in the cutting-plane methods of convex programming. The search ends
   when B is free, or when the translation is not shorter than the best one.
4. The lower bound is the depth of a pair of parts, or of a ball inside B about a point that is inside A.

A translation is accepted only if the gap after it is several times the rounding error. After a translation by the
reported depth along the reported normal, the boolean query therefore finds the bodies apart.

A query traverses both trees as `gjk3d.bodies.tree_collision` does. It also skips pairs of boxes that are separated by
one of the planes that B has passed. If B is free, the planes separate almost all boxes near the surface, where GJK
would need the most time.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import (
    CELL,
    ENDLESS,
    OPEN,
    ORDERED,
    PRISMS,
    TIED,
    TRIANGLES,
    Parts,
    PartTree,
    column_gap,
    is_single,
    nodes_apart,
    part_at,
    put_behind,
    top_of,
)
from gjk3d.bodies.bvh import stack_in, tree_in
from gjk3d.bodies.depth.depth import LEAST, MOST, NORMAL, PLACE
from gjk3d.bodies.depth.partings import POINT, N, bottom_along, outward_at, past_all, shifted, top_along
from gjk3d.bodies.depth.points import outward_normals
from gjk3d.bodies.depth.pushes import CORNERS, LEVEL, depth_behind
from gjk3d.bodies.mesh_points import NearestFace, nearest_face
from gjk3d.bodies.mesh_rays import box_of, is_within, triangle_at
from gjk3d.bodies.parts import Triangles, complete, parts_of
from gjk3d.bodies.touching_bodies import report_apart
from gjk3d.bodies.tree_collision import (
    APART,
    DEEP,
    DOUBT,
    HELD,
    MEET,
    NO_POSE,
    PosedPair,
    PoseRows,
    TreePair,
    TreeScratch,
    between_centers,
    children,
    faces_meet,
    held,
    meet,
    part_meets,
    parts_at,
    poses_taken,
    tree_scratch,
    two_of_rows,
)
from gjk3d.bodies.tree_distance import (
    ANSWERED,
    BOUNDS,
    TIGHT_CURVED,
    TIGHT_POLYTOPE,
    DistanceQuery,
    Reports,
    into_world,
    put_bounds,
)
from gjk3d.bodies.triangles import common_of, normal_of, placed_triangle, read, triangles_meet, vec_at
from gjk3d.convex.batch import NO_POSE as NO_POSE_ROW
from gjk3d.geometry.vec3 import (
    Vec3,
    add,
    along,
    divide,
    dot,
    neg,
    offset,
    place,
    row3,
    scale,
    sub,
    top_of_box,
    turn,
    turn_back,
    unit,
)
from gjk3d.narrow.cores import world_center
from gjk3d.narrow.solve import FLOATS, INTS, OVERLAPPING, SIGNED, TOUCHING, UNSIGNED, mirror, solve
from gjk3d.poses import IDENTITY, ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array2, Array3, Ints

FEW = 4  #: greatest number of intersecting pairs whose planes start a search
STARTS = 24  #: greatest number of planes that start a search
MAX_PLANES = 8  #: greatest number of planes of a search
#: work of the first listing, of a plane, and of all queries on parts and on faces, in units of a test of two boxes
FIRST_WORK, PLANE_WORK, MAX_WORK, FACE_WORK = 60, 16, 220, 640
GROWTH = 1.5  #: factor of the distance of each further plane if B has many parts
ENOUGH = 1.01  #: ratio of the bounds below which no shorter translation is searched
_SCRATCH = 2 + MAX_PLANES + STARTS  #: first row behind the planes
FEW_OPEN = 2  #: greatest number of pairs of parts without a solid whose planes start a search
BOX_TEST, FACE_TEST, PART_TEST = 1, 2, 6  #: cost of a test of two boxes, two triangles and two other parts
CLEAR = 8.0  #: gap that a collision query has to prove, in units of the rounding error
PAST = 16.0  #: distance by which B is moved past a plane, in units of the rounding error
SAME_WAY = 0.999  #: least cosine of the angle between the normals of equal planes
FORWARD = -0.05  #: least cosine between a translation and the normal of a plane that is added to it
EDGE = 0.5  #: share of the distance past a face below which the translation across an edge is used instead
FAR, END = 3, 5  #: columns of a plane after its normal: how far B has to move along it, and B's least coordinate


class FastDepth(NamedTuple):
    """Bounds of the depth. A translation of B by ``most`` along ``normal``, in A's frame, separates the bodies."""

    least: float
    most: float
    normal: Vec3
    place: Vec3  #: a common point, which gives the lower bound


class FastBody(NamedTuple):
    """A body for the fast depth."""

    parts: PartTree
    hull: PartTree  #: the hull as a body of one part; the body itself if it has none
    outward: Array2  #: normals of parts out of closed surfaces, one row of zeros if there are none
    has_hull: bool
    slack: float  #: how much the depth of the hull may exceed that of the body; inf for a non-convex body


class Posed(NamedTuple):
    """Two bodies for the fast depth at one relative pose."""

    x: PosedPair
    faces: bool  #: whether both are meshes
    a: FastBody
    b: FastBody
    planes: Array2  #: scratch: the planes of a search
    starts: Array2  #: scratch: the planes that start a search
    room: Array3  #: scratch of `depth_behind`


@inlined
def set_plane(row: Array, n: Vec3, far: float) -> None:
    """Write the normal n of a plane, and the distance ``far`` that B has to move along it."""
    row[0], row[1], row[2], row[FAR] = n[0], n[1], n[2], far


# collision queries --------------------------------------------------------------------------------------------------


@kernel
def _are_parted(x: PosedPair, i: int, j: int, clear: float, single: bool, planes: Array, count: int) -> bool:
    """Return whether one of the planes of a search separates boxes i and j by more than ``clear``.

    If B is a ``single`` part, column END of a plane has B's least coordinate along the normal of the plane.
    """
    for k in range(count):
        n = row3(planes, k)
        end = planes[k, END]
        if not single:
            end = dot(n, offset(x.m)) - top_of_box(x.b.boxes, j, turn_back(x.m, neg(n))) - x.b.rim
        if end - top_of_box(x.a.boxes, i, n) - x.a.rim > clear:
            return True
    return False


@kernel
def _is_behind(corners: Array, p: int, planes: Array, count: int, clear: float) -> bool:
    """Return whether one of the planes separates triangle p from a single part by more than ``clear``."""
    t = read(corners, p)
    for k in range(count):
        n = row3(planes, k)
        if planes[k, END] - max(dot(n, t[0]), max(dot(n, t[1]), dot(n, t[2]))) > clear:
            return True
    return False


@inlined
def _parts_overlap(s: Posed, x: PosedPair, p: int, q: int, clear: float, w: TreeScratch) -> int:
    """Return APART for two parts more than ``clear`` apart, MEET for nearer parts, or DOUBT if neither is proven."""
    if s.faces:
        return MEET if triangles_meet(read(x.a.places, p), placed_triangle(x.m, x.b.places, q), clear) else APART
    return part_meets(parts_at(x, p, q, w), clear, w)


@kernel
def _leaves_overlap(
    s: Posed, x: PosedPair, i: int, j: int, planes: Array, parted: int, clear: float, count: int, w: TreeScratch,
    pairs: Ints,
) -> int:  # fmt: skip
    """Append the overlapping pairs of parts of two leaves; return the list's length, or -1 if a pair is in doubt."""
    faced = parted > 0 and x.a.kind == TRIANGLES and is_single(x.b)
    for q in range(x.b.links[j, 1], x.b.links[j, 1] + x.b.links[j, 2]):
        for p in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            # the box of a column is a loose bound, and the gap of the column itself is cheaper than GJK
            if x.a.kind == PRISMS and column_gap(x.m, x.a, p, x.b, j, w.box) > clear:
                continue
            # a plane that separates all corners takes less time than GJK, which would find no overlap either
            if faced and _is_behind(x.a.places, p, planes, parted, clear + x.a.rim):
                continue
            hit = _parts_overlap(s, x, p, q, clear, w)
            if hit == DOUBT:
                return -1
            if hit == MEET:
                pairs[count, 0], pairs[count, 1] = p, q
                count += 1
                if count == pairs.shape[0]:
                    return count
    return count


@kernel
def list_overlaps(
    s: Posed, x: PosedPair, planes: Array, parted: int, work: int, w: TreeScratch, pairs: Ints
) -> tuple[int, int]:
    """Write the first pairs of parts that overlap; return their number, and the work left.

    ``work`` limits the search, in units of a test of two boxes. Pairs of boxes with near centres are visited first.
    Boxes that one of the first ``parted`` planes separates are skipped. Parts count as overlapping unless a gap of
    several rounding errors is proven. The number is -1 if a pair is in doubt. The work left is 0 if the search had to
    stop early.
    """
    clear, single = CLEAR * x.error, is_single(x.b)
    if single:
        for k in range(parted):
            planes[k, END] = bottom_along(x, x.b.links[0, 1], row3(planes, k), w)
    count, stack, of_part = plain(0), w.stack, FACE_TEST if s.faces else PART_TEST
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0 and work > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        work -= BOX_TEST
        # the planes come first: they separate almost all boxes if B is free
        if _are_parted(x, i, j, clear, single, planes, parted) or nodes_apart(x.m, x.a, i, x.b, j, clear):
            continue
        if x.a.links[i, 0] < 0 and x.b.links[j, 0] < 0:
            work -= of_part * x.a.links[i, 2] * x.b.links[j, 2]
            count = _leaves_overlap(s, x, i, j, planes, parted, clear, count, w, pairs)
            if count < 0 or count == pairs.shape[0]:
                return count, max(work, 1)
            continue
        i0, j0, i1, j1 = children(x, i, j)
        if between_centers(x, i0, j0) < between_centers(x, i1, j1):
            i0, j0, i1, j1 = i1, j1, i0, j0
        stack[top, 0], stack[top, 1], stack[top + 1, 0], stack[top + 1, 1] = i0, j0, i1, j1
        top += 2
    return count, max(work, 1 if top == 0 else 0)


@kernel
def query(s: Posed, by: Vec3, parted: int, work: int, w: TreeScratch) -> tuple[int, int]:
    """Return the code of a collision query after a translation of B by ``by``, and the work left.

    After this translation, B is beyond the first ``parted`` planes. ``work`` limits the query as in `list_overlaps`.
    MEET means that the parts ``w.last`` overlap, and HELD that a body is inside the other. APART means that the gap is
    several times the rounding error. DOUBT means that the query is undecided, or that the work was not enough. DEEP
    means that B may be below the columns of a height field.
    """
    x, pairs = shifted(s.x, by), w.last[:2].reshape(1, 2)
    if x.a.kind == PRISMS and x.m[11] - 2.0 * x.b.reach < x.a.floats[ENDLESS] + x.error:
        return DEEP, work
    # the last pair often still overlaps
    if pairs[0, 0] >= 0 and _parts_overlap(s, x, pairs[0, 0], pairs[0, 1], CLEAR * x.error, w) == MEET:
        return MEET, work - (FACE_TEST if s.faces else PART_TEST)
    hits, work = list_overlaps(s, x, s.planes, parted, work, w, pairs)
    if hits > 0:
        return MEET, work
    return (DOUBT if hits < 0 or work == 0 else held(x, w)), work


# planes -------------------------------------------------------------------------------------------------------------


@kernel
def outward_of(s: Posed, p: int) -> Vec3:
    """Return the normal of part p of A out of the solid that it bounds, or zero if it bounds none."""
    a = s.x.a
    if a.kind == PRISMS:
        return normal_of(top_of(a, a.table[p, CELL]))
    return outward_at(s.a.outward, p)


@kernel
def is_bounding(s: Posed, p: int, q: int) -> bool:
    """Return whether part p of A or part q of B bounds a solid."""
    u, v = outward_of(s, p), outward_at(s.b.outward, q)
    return bool(dot(u, u) + dot(v, v) > 0.5)


@kernel
def past_faces(s: Posed, x: PosedPair, p: int, q: int, along: Vec3, w: TreeScratch) -> tuple[Vec3, float]:
    """Return the face normal along which two overlapping parts are separated first, and the distance that B moves.

    The normals are that of part p of A and the reversed one of part q of B, if the part bounds a solid. Unless
    ``along`` is zero, the cosine between the normal and ``along`` is above `FORWARD`. The distance is inf without
    such a normal.
    """
    normal, least = along, inf
    for side in range(2):
        n = outward_of(s, p) if side == 0 else neg(turn(x.m, outward_at(s.b.outward, q)))
        if not dot(n, n) > 0.5 or (dot(along, along) > 0.0 and not dot(n, along) > FORWARD):
            continue
        if s.faces:
            # only the part of the other triangle over the face has to leave it
            face, triangle = read(x.a.places, p), placed_triangle(x.m, x.b.places, q)
            if side == 0:
                overlap, _ = depth_behind(face, triangle, n, x.error, s.room)
            else:
                overlap, _ = depth_behind(triangle, face, neg(n), x.error, s.room)
        else:
            overlap = top_along(x, p, n, w) - bottom_along(x, q, n, w)
        if overlap < least:
            normal, least = n, overlap
    return normal, least


@inlined
def _is_wide(t: PartTree, p: int, square: float) -> bool:
    """Return whether a part is not a triangle, or is a triangle wider than the square root of ``square``."""
    if t.kind != TRIANGLES:
        return True
    a, b, c = read(t.places, p)
    u, v = sub(b, a), sub(c, a)
    return max(dot(u, u), dot(v, v)) > square


@kernel
def _added_plane(s: Posed, x: PosedPair, p: int, q: int, along: Vec3, w: TreeScratch) -> tuple[Vec3, float]:
    """Return the normal of a plane that B has to pass because two parts overlap, and how far B moves along the normal.

    The cosine between the normal and ``along``, the direction of the search, is above `FORWARD`.
    """
    n, overlap = past_faces(s, x, p, q, along, w)
    # across an edge of the solid the translation of the two parts is shorter than that past the face; the edges between
    # triangles of a fine surface would only make many short steps
    by = sub(offset(x.m), offset(s.x.m))
    if (overlap == inf and not is_bounding(s, p, q)) or (not s.faces and _is_wide(x.a, p, dot(by, by))):
        m, shorter, _ = pair_depth(x, p, q, w)
        if shorter < EDGE * overlap and dot(m, along) > FORWARD and dot(m, outward_of(s, p)) >= -LEVEL:
            return m, max(shorter, 0.0)
    if overlap < inf:
        return n, max(overlap, 0.0)
    return along, max(top_along(x, p, along, w) - bottom_along(x, q, along, w), 0.0)


@kernel
def pair_depth(x: PosedPair, p: int, q: int, w: TreeScratch) -> tuple[Vec3, float, float]:
    """Return the normal of two parts, and the upper and the lower bound of their depth."""
    c = parts_at(x, p, q, w)
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, plain(0))
    row = w.out[0]
    return vec_at(row, N), -row[1], -row[2] - x.error


@kernel
def _common_of_parts(x: PosedPair, p: int, q: int, w: TreeScratch) -> Vec3:
    """Return a common point of two overlapping parts. The midpoint of their deepest points may be in neither."""
    c = parts_at(x, p, q, w)
    solve(c, UNSIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, plain(0))
    return vec_at(w.out[0], POINT)


@kernel
def add_start(planes: Array, count: int, n: Vec3, far: float) -> int:
    """Add a plane, or move a plane with nearly the same normal to at least ``far``; return the number of planes."""
    for k in range(count):
        if dot(n, row3(planes, k)) > SAME_WAY:
            planes[k, FAR] = max(planes[k, FAR], far)
            return count
    if count < planes.shape[0]:
        set_plane(planes[count], n, far)
        return count + 1
    return count


@kernel
def _probe(x: PosedPair, host: PartTree, p: Vec3, radius: float, w: TreeScratch) -> tuple[float, Vec3, float]:
    """Return a lower bound of the depth, and the normal and the offset of a plane that a ball about p has to pass.

    The ball is contained in the other body, which overlaps ``host``. Vectors are in the frame of ``host``. The plane
    touches the surface of ``host`` at the point nearest to p. The normal is zero for a host without triangles.
    """
    if host.inside == OPEN and not (host.kind == TRIANGLES and host.floats[0] == 0.0):
        return 0.0, (0.0, 0.0, 0.0), 0.0
    t, stack = tree_in(host.skin), stack_in(w.stack, w.floats32)
    square, face, foot = nearest_face(p, NearestFace(inf, plain(-1), p), t, stack)
    n, inside = normal_of(triangle_at(t, face)), host.inside != OPEN and is_within(p, box_of(t), t, stack)
    depth = sqrt(square) if inside else -sqrt(square)
    if abs(depth) > CLEAR * x.error:
        n = divide(sub(foot, p), depth)
    return radius + depth - 4.0 * x.error, n, dot(n, foot)


@kernel
def _deepest_corner(s: Posed, pairs: Ints, count: int, of_b: bool) -> Vec3:
    """Return the corner of A's triangles that is deepest behind the face of B in the same pair.

    With ``of_b``, return the corner of B's triangles that is deepest behind the face of A.
    """
    x, deepest, corner = s.x, -inf, (0.0, 0.0, 0.0)
    for k in range(count):
        ours, theirs = read(x.a.places, pairs[k, 0]), placed_triangle(x.m, x.b.places, pairs[k, 1])
        n = outward_of(s, pairs[k, 0]) if of_b else turn(x.m, outward_at(s.b.outward, pairs[k, 1]))
        face, triangle = (ours, theirs) if of_b else (theirs, ours)
        for c in range(3):
            deep = dot(n, sub(face[0], triangle[c]))
            if deep > deepest:
                deepest, corner = deep, triangle[c]
    return corner


@kernel
def _point_in(core: Core, row: Array) -> Vec3:
    """Return a point of a core at a pose row: its centre, or a mean of support points if the centre may be outside."""
    f, middle = core.floats, (0.0, 0.0, 0.0)
    if f[layout.INNER] > 0.0:
        return world_center(row, f)
    # the centre of a hull or triangle may be the origin of its frame; a convex set contains the mean of its points
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        middle = add(middle, scale(1.0 / 6.0, add(support(core, axis), support(core, neg(axis)))))
    return place(row, add(vec_at(f, layout.CENTER), middle))


@kernel
def add_probes(
    s: Posed, code: int, pairs: Ints, listed: int, least: float, common: Vec3, count: int, w: TreeScratch
) -> tuple[int, float, Vec3]:
    """Raise the lower bound by points that may be inside the other body, and add start planes for these points to pass.

    The points are the centre of a single part of B, the contained point ``common`` if ``code`` is HELD, or the deepest
    corner of either mesh. Return the number of planes, the lower bound, and a common point.
    """
    x, single, in_a = s.x, is_single(s.x.b), w.flags[0, 0] == 0
    for side in range(2):
        point, radius = common, 0.0
        if side == 0 and single:
            core = part_at(x.b, x.b.links[0, 1], w.floats_b, w.row_b)
            put_behind(x.m, w.row_b)
            point, radius = _point_in(core, w.row_b), core.floats[layout.RADIUS] + core.floats[layout.INNER]
        elif s.faces and code == MEET:
            point = _deepest_corner(s, pairs, listed, side == 0)
        elif code != HELD or in_a != (side == 0):
            continue
        if side == 0:
            deep, n, height = _probe(x, x.a, point, radius, w)
            # only the ball may reach into A, which then contains the foot of the point
            point = along(point, n, min(height - dot(n, point), 0.0))
            low = bottom_along(x, x.b.links[0, 1], n, w) if single and dot(n, n) > 0.5 else dot(n, point)
        else:
            local = turn_back(x.m, sub(point, offset(x.m)))
            deep, n, height = _probe(x, x.b, local, radius, w)
            low, n = dot(n, local), neg(turn(x.m, n))
        if deep > least:
            least, common = deep, point
        # a point outside a mesh does not give a plane, but the centre of a single part does
        if dot(n, n) > 0.5 and (single or deep > 0.0):
            count = add_start(s.starts, count, n, max(height - low, 0.0) + PAST * x.error)
    return count, least, common


@kernel
def next_plane(s: Posed, code: int, by: Vec3, along: Vec3, w: TreeScratch) -> tuple[Vec3, float]:
    """Return the normal of a plane that B has to pass after a translation by ``by``, and how far B moves along it."""
    x = shifted(s.x, by)
    if code == MEET:
        return _added_plane(s, x, w.last[0], w.last[1], along, w)
    p, in_a = vec_at(w.out[0], POINT), w.flags[0, 0] == 0
    host = x.a if in_a else x.b
    local = p if in_a else turn_back(x.m, sub(p, offset(x.m)))
    known = NearestFace(inf, plain(-1), local)
    nearest = nearest_face(local, known, tree_in(host.skin), stack_in(w.stack, w.floats32))
    return along, sqrt(nearest.square) + PAST * x.error


# hulls and boxes ----------------------------------------------------------------------------------------------------


@kernel
def _past_box(x: PosedPair) -> tuple[float, Vec3]:
    """Return the length and direction of the least translation along an axis of A's root box to separate both boxes."""
    p = x.a.boxes[0]
    endless = x.a.kind == PRISMS and x.a.floats[ENDLESS] > -inf
    most, normal = inf, (1.0, 0.0, 0.0)
    for c in range(3):
        axis = (p[6 + 3 * c], p[7 + 3 * c], p[8 + 3 * c])
        for side in range(2):
            n = axis if side == 0 else neg(axis)
            bottom = dot(n, offset(x.m)) - top_of_box(x.b.boxes, 0, turn_back(x.m, neg(n))) - x.b.rim
            far = top_of_box(x.a.boxes, 0, n) + x.a.rim - bottom
            if far < most and not (endless and n[2] < 0.0):
                most, normal = far, n
    return max(most, 0.0) + PAST * x.error, normal


@kernel
def _past_hulls(s: Posed, w: TreeScratch) -> FastDepth:
    """Return bounds by the least translation that separates the hulls, or the boxes if a body lacks a hull."""
    x = s.x
    if not (s.a.has_hull and s.b.has_hull):
        most, n = _past_box(x)
        return FastDepth(0.0, most, n, (0.0, 0.0, 0.0))
    c = parts_at(PosedPair(s.a.hull, s.b.hull, x.m, x.error), plain(0), plain(0), w)
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, plain(0))
    row = w.out[0]
    most = max(-row[1], 0.0) + PAST * x.error
    least = max(-row[2] - s.a.slack - s.b.slack - 4.0 * x.error, 0.0)
    return FastDepth(least, most, vec_at(row, N), scale(0.5, add(vec_at(row, POINT), vec_at(row, POINT + 3))))


# searches -----------------------------------------------------------------------------------------------------------


@kernel
def _search(s: Posed, first: int, most: float, work: int, w: TreeScratch) -> tuple[float, Vec3, int]:
    """Search from start plane ``first``; return the length and vector of a separating translation, and the work left.

    The length is inf if no translation shorter than ``most`` was found.
    """
    planes = s.planes
    set_plane(planes[0], row3(s.starts, first), s.starts[first, FAR])
    count, single = 1, is_single(s.x.b)
    while work > 0:
        by = past_all(planes, count)
        length = sqrt(dot(by, by))
        if not (length < most and length > 0.0):
            break
        code, work = query(s, by, count, work, w)
        if code == APART:
            return length, by, work
        if count == MAX_PLANES or (code != MEET and code != HELD):
            break
        n, overlap = next_plane(s, code, by, divide(by, length), w)
        set_plane(planes[count], n, dot(n, by) + (overlap if single else overlap * GROWTH**count) + PAST * s.x.error)
        count += 1
        work -= PLANE_WORK
    return inf, (0.0, 0.0, 0.0), work


@kernel
def _list_starts(s: Posed, code: int, w: TreeScratch) -> tuple[int, float, Vec3]:
    """Write the planes that start searches; return their number, a lower bound of the depth, and a common point."""
    x, planes = s.x, s.starts
    pairs, zero = w.last[2 : 2 + 2 * FEW].reshape(FEW, 2), (0.0, 0.0, 0.0)
    count, least, common = plain(0), 0.0, vec_at(w.out[0], POINT)
    listed = 0
    if code == MEET:
        listed, _ = list_overlaps(s, x, planes, plain(0), plain(FIRST_WORK), w, pairs)
        if listed < 1:
            pairs[0, 0], pairs[0, 1] = w.last[0], w.last[1]
            listed = 1
    if listed > 0 and s.faces:
        common = common_of(read(x.a.places, pairs[0, 0]), placed_triangle(x.m, x.b.places, pairs[0, 1]))
    for k in range(listed):
        p, q = pairs[k, 0], pairs[k, 1]
        bounding = is_bounding(s, p, q)
        if bounding:
            n, overlap = past_faces(s, x, p, q, zero, w)
            if overlap < inf:
                count = add_start(planes, count, n, max(overlap, 0.0) + PAST * x.error)
        # the depth of a triangle of a solid and another one is much less than that of the bodies
        if (k == 0 and not s.faces) or (k < FEW_OPEN and not bounding):
            n, overlap, deep = pair_depth(x, p, q, w)
            if deep > least or k == 0:
                least, common = max(deep, 0.0), _common_of_parts(x, p, q, w)
            if dot(n, outward_of(s, p)) >= -LEVEL:
                count = add_start(planes, count, n, max(overlap, 0.0) + PAST * x.error)
    return add_probes(s, code, pairs, listed, least, common, count, w)


@kernel
def fast_depth(s: Posed, code: int, w: TreeScratch) -> FastDepth:
    """Return bounds of the depth of two intersecting bodies.

    ``code`` is the result of `meet`, and ``w.last`` has the intersecting parts that `meet` found.
    """
    x = s.x
    count, least, common = _list_starts(s, code, w)
    hulls = _past_hulls(s, w)
    most, normal = hulls.most, hulls.normal
    if hulls.least > least:
        least, common = hulls.least, hulls.place
    work, planes = plain(FACE_WORK if s.faces else MAX_WORK), s.starts
    # no translation that is shorter than the lower bound separates the bodies
    for k in range(count):
        planes[k, FAR] = max(planes[k, FAR], least + PAST * x.error)
    while work > 0 and most > least * ENOUGH + 2.0 * PAST * x.error:
        best, nearest = -1, most
        for k in range(count):
            if planes[k, FAR] <= nearest:
                best, nearest = k, planes[k, FAR]
        if best < 0:
            break
        length, by, work = _search(s, best, most, work, w)
        planes[best, FAR] = inf
        if length + x.error < most:
            most, normal = length + x.error, unit(by)
    return FastDepth(min(least, most), most, normal, common)


# bodies -------------------------------------------------------------------------------------------------------------


@inlined
def _posed(a: FastBody, b: FastBody, faces: bool, x: PosedPair, swapped: bool, w: TreeScratch) -> Posed:
    first, second = (b, a) if swapped else (a, b)
    planes, starts, room = w.out[2 : 2 + MAX_PLANES], w.out[2 + MAX_PLANES : _SCRATCH], w.out[_SCRATCH : _SCRATCH + 6]
    return Posed(x, faces, first, second, planes, starts, room.reshape(2, CORNERS, 3))


@entry
def fast_rows(
    a: FastBody, b: FastBody, order: int, query: DistanceQuery, ma: Array2, mb: Array2, rows: PoseRows, w: TreeScratch,
    out: Array2, reports: Reports,
) -> int:  # fmt: skip
    """Write a code and the signed distance for each pose row, and return the last code.

    The arguments and results are those of `gjk3d.bodies.touching_bodies.distance_rows`. The code is that of `meet`, or
    ANSWERED for an overlap. The depth of an overlap is the fast depth.
    """
    pair, faces = TreePair(a.parts, b.parts, order), query.faces
    bounds_only = DistanceQuery(faces, BOUNDS, query.most, query.above)
    answer, flags, parts = reports.codes, reports.flags, reports.parts
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code = APART
    for k in range(rows.start, rows.stop):
        x, turned = two_of_rows(pair, rows, k)
        swapped = turned and order == TIED
        w.last[0] = -1
        code = faces_meet(x, w) if faces else meet(x, 0.0, w)
        if code in (MEET, HELD):
            depth = fast_depth(_posed(a, b, faces, x, swapped, w), code, w)
            # bounds of a touch differ by the gaps that queries have to prove, which are rounding
            promised = (TIGHT_POLYTOPE if faces else TIGHT_CURVED) * x.error / ROUNDING
            narrow = depth.most - depth.least <= max(promised, 4.0 * PAST * x.error)
            touching = narrow and not depth.least > 0.0
            # bodies that touch may still be apart by rounding
            bounds = (-depth.most, -depth.most, 4.0 * x.error if touching else 0.0 - depth.least)
            point = add(depth.place, scale(0.5 * depth.most, depth.normal))
            put_bounds(x.error, bounds, depth.normal, point, TOUCHING if touching else OVERLAPPING, out, flags, k)
            flags[k, 2] = int(narrow)
            code = ANSWERED
        else:
            report_apart(x, bounds_only, w, out, flags, parts, k)
        answer[k] = code
        first = rows.b if swapped else rows.a
        into_world(first[k if first.shape[0] > 1 else 0], out, k)
        if turned:
            mirror(out, k)
    return code


def fast_body(parts: Parts) -> FastBody:
    """Return a body in the format of the fast depth, cached."""
    try:
        body: FastBody = parts._fast
    except AttributeError:
        hull = parts.hull()
        tree, slack = parts.given if hull is None else parts_of(hull).given, float(parts.convex_slack)
        body = parts._fast = FastBody(complete(parts), tree, outward_normals(parts), hull is not None, slack)
    return body


def fast_depths(a: Parts, b: Parts, rows: Array) -> Array:
    """Return the fast depths of two bodies that intersect at pose rows of b in a's frame, as rows of `depths_at`.

    A row is NaN if the kernels do not decide whether the bodies intersect.
    """
    count, faces = len(rows), isinstance(a, Triangles) and isinstance(b, Triangles)
    codes, parts, flags = (np.empty(shape, dtype=np.int64) for shape in (count, (count, 2), (count, INTS)))
    out, depths = np.empty((count, FLOATS)), np.full((count, PLACE + 3), np.nan)
    fast_rows(
        fast_body(a), fast_body(b), ORDERED, DistanceQuery(faces, BOUNDS, inf, inf), NO_POSE_ROW, NO_POSE_ROW,
        PoseRows(IDENTITY, rows, 0, count), tree_scratch(), out, Reports(codes, flags, parts),
    )  # fmt: skip
    some = codes == ANSWERED
    depths[some, LEAST], depths[some, MOST] = np.maximum(-out[some, 2], 0.0), -out[some, 1]
    depths[some, NORMAL:PLACE] = out[some, N:POINT]
    depths[some, PLACE:] = 0.5 * (out[some, POINT : POINT + 3] + out[some, POINT + 3 :])
    return depths
