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
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import Parts
from gjk3d.bodies.depth.exits import past_all
from gjk3d.bodies.depth.fast_steps import (
    FAR,
    FEW_OPEN,
    PAST,
    POINT,
    FastBody,
    N,
    Posed,
    add_probes,
    add_start,
    is_bounding,
    is_single,
    list_overlaps,
    next_plane,
    outward_of,
    pair_depth,
    past_faces,
    query,
    set_plane,
    top_of_box,
)
from gjk3d.bodies.depth.pushes import CORNERS, LEVEL
from gjk3d.bodies.depth.search import LEAST, MOST, NORMAL, PLACE
from gjk3d.bodies.part_tree import (
    ENDLESS,
    ORDERED,
    PRISMS,
    TIED,
)
from gjk3d.bodies.parts import Triangles, parts_of
from gjk3d.bodies.touching_bodies import BOUNDS, DistanceQuery, put_bounds, report_apart
from gjk3d.bodies.tree_collision import (
    APART,
    HELD,
    MEET,
    NO_POSE,
    PosedPair,
    PoseRows,
    TreePair,
    TreeScratch,
    meet,
    parts_at,
    poses_taken,
    tree_scratch,
    two_of_rows,
)
from gjk3d.bodies.tree_distance import TIGHT_CURVED, TIGHT_POLYTOPE, faces_meet, into_world
from gjk3d.bodies.triangles import common_of, placed_triangle, read, vec_at
from gjk3d.convex.batch import NO_POSE as NO_POSE_ROW
from gjk3d.geometry.vec3 import Vec3, add, divide, dot, neg, offset, row3, scale, turn_back, unit
from gjk3d.narrow.pairs import mirror
from gjk3d.narrow.solve import FLOATS, INTS, OVERLAPPING, SIGNED, TOUCHING, solve
from gjk3d.poses import IDENTITY, ROUNDING
from gjk3d.typing import Array, Array2, Ints1, Ints2

FEW = 4  #: intersecting pairs whose planes start a search, at most
STARTS = 24  #: room for these planes
MAX_PLANES = 8  #: of one search
#: work of the first listing, of a plane, and of all queries, in units of a test of two boxes; faces have fast tests
FIRST_WORK, PLANE_WORK, MAX_WORK, FACE_WORK = 60, 16, 220, 640
GROWTH = 1.5  #: factor of the next plane's distance if it is about one of many parts of B
ENOUGH = 1.01  #: bounds whose ratio is less need no shorter translation
_SCRATCH = 2 + MAX_PLANES + STARTS  #: first row behind the planes


class FastDepth(NamedTuple):
    """Bounds of the depth in A's frame."""

    least: float
    most: float
    normal: Vec3
    place: Vec3  #: a common point that has the least depth


# hulls and boxes ---------------------------------------------------------------------------------------------------


@kernel
def _past_box(x: PosedPair) -> tuple[float, Vec3]:
    """Return the least translation along an axis of A's root box that separates the root boxes."""
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
    """Return the bounds by the hulls, whose minimum translation separates the bodies; the place is between them."""
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


# searches ----------------------------------------------------------------------------------------------------------


@kernel
def _search(s: Posed, first: int, most: float, work: int, w: TreeScratch) -> tuple[float, Vec3, int]:
    """Follow a plane; return the length of a separating translation, inf for none, the vector, and the work left."""
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
    """Write the planes that start a search; return their number, a lower bound of the depth, and a common point."""
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
            n, overlap, deep, point = pair_depth(x, p, q, w)
            if deep > least or k == 0:
                least, common = max(deep, 0.0), point
            if dot(n, outward_of(s, p)) >= -LEVEL:
                count = add_start(planes, count, n, max(overlap, 0.0) + PAST * x.error)
    return add_probes(s, code, pairs, listed, least, common, count, w)


@kernel
def fast_depth(s: Posed, code: int, w: TreeScratch) -> FastDepth:
    """Return bounds of the depth of two bodies that intersect, as the code of `meet` and ``w.last`` describe."""
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


# entries --------------------------------------------------------------------------------------------------------------


@inlined
def _posed(a: FastBody, b: FastBody, faces: bool, x: PosedPair, swapped: bool, w: TreeScratch) -> Posed:
    first, second = (b, a) if swapped else (a, b)
    planes, starts, room = w.out[2 : 2 + MAX_PLANES], w.out[2 + MAX_PLANES : _SCRATCH], w.out[_SCRATCH : _SCRATCH + 6]
    return Posed(x, faces, first, second, planes, starts, room.reshape(2, CORNERS, 3))


@entry
def fast_rows(
    a: FastBody, b: FastBody, faces: bool, ma: Array2, mb: Array2, rows_a: Array2, rows_b: Array2, most: float,
    above: float, order: int, start: int, stop: int, w: TreeScratch, answer: Ints1, out: Array2, flags: Ints2,
    parts: Ints2,
) -> int:  # fmt: skip
    """Write the code of `meet` and the signed distances at pose rows start to stop; return the last code.

    It does for the fast depth what `touch.distance_rows` does for other depths.
    """
    pair, rows = TreePair(a.parts, b.parts, order), PoseRows(rows_a, rows_b, start, stop)
    query = DistanceQuery(faces, BOUNDS, most, above)
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code = APART
    for k in range(start, stop):
        x, turned = two_of_rows(pair, rows, k)
        swapped = turned and order == TIED
        w.last[0] = -1
        code = faces_meet(x, w) if faces else meet(x, 0.0, w)
        answer[k] = code
        if code in (MEET, HELD):
            depth = fast_depth(_posed(a, b, faces, x, swapped, w), code, w)
            # bounds of a touch differ by the gaps that queries have to prove, which are rounding
            promised = (TIGHT_POLYTOPE if faces else TIGHT_CURVED) * x.error / ROUNDING
            narrow = depth.most - depth.least <= max(promised, 4.0 * PAST * x.error)
            touching = narrow and not depth.least > 0.0
            # two that touch may still be apart by rounding
            bounds = (-depth.most, -depth.most, 4.0 * x.error if touching else 0.0 - depth.least)
            point = add(depth.place, scale(0.5 * depth.most, depth.normal))
            put_bounds(x, bounds, depth.normal, point, TOUCHING if touching else OVERLAPPING, out, flags, k)
            flags[k, 2] = int(narrow)
        else:
            report_apart(x, query, w, out, flags, parts, k)
        first = rows_b if swapped else rows_a
        into_world(first[k if first.shape[0] > 1 else 0], out, k)
        if turned:
            mirror(out, k)
    return code


def fast_body(parts: Parts) -> FastBody:
    """Return a body in the format of the fast depth, created once."""
    try:
        body: FastBody = parts._fast
    except AttributeError:
        normals = parts.outward(np.arange(parts.count))
        outward = np.ascontiguousarray(normals if normals.any() else np.zeros((1, 3)))
        hull = parts.hull()
        tree = parts.given if hull is None else parts_of(hull).given
        body = parts._fast = FastBody(parts.given, tree, outward, hull is not None, float(parts.convex_slack))
    return body


def fast_depths(a: Parts, b: Parts, rows: Array) -> Array:
    """Return the fast depths of two bodies that intersect at poses of b in a's frame, in the columns of `depths`.

    A row is NaN if the kernels do not decide whether the bodies intersect.
    """
    count, faces = len(rows), isinstance(a, Triangles) and isinstance(b, Triangles)
    codes, parts, flags = (np.empty(shape, dtype=np.int64) for shape in (count, (count, 2), (count, INTS)))
    out, depths = np.empty((count, FLOATS)), np.full((count, PLACE + 3), np.nan)
    fast_rows(
        fast_body(a), fast_body(b), faces, NO_POSE_ROW, NO_POSE_ROW, IDENTITY, rows, inf, inf, ORDERED, 0, count,
        tree_scratch(), codes, out, flags, parts,
    )  # fmt: skip
    some = (codes == MEET) | (codes == HELD)
    depths[some, LEAST], depths[some, MOST] = np.maximum(-out[some, 2], 0.0), -out[some, 1]
    depths[some, NORMAL:PLACE] = out[some, N:POINT]
    depths[some, PLACE:] = 0.5 * (out[some, POINT : POINT + 3] + out[some, POINT + 3 :])
    return depths
