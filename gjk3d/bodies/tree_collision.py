"""Collision traversal of two bodies at many poses; one body may be a convex shape.

Both trees are traversed together in A's frame. Pairs of boxes with a separating plane are skipped, and GJK tests the
parts of near leaves. For distances the nearer boxes come first, and pairs beyond the nearest known parts are skipped.
The least lower bound of all tested parts and skipped boxes is therefore a lower bound of the distance.

Results of different poses do not depend on each other. The two parts that intersected at the last pose are tested first
at the next pose.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import (
    ENDLESS,
    FIRST_FLOAT,
    FIRST_INT,
    OPEN,
    PRISMS,
    STACK,
    TIED,
    TRIANGLES,
    TURNED,
    WIDEST,
    PartTree,
    TriangleTree,
    column_gap,
    is_single,
    nodes_apart,
    part_at,
    put_behind,
    triangles_of,
)
from gjk3d.bodies.bvh import FLOATS32, stack_in, tree_in
from gjk3d.bodies.mesh_rays import box_of, is_within
from gjk3d.bodies.triangles import crossing_segment, placed_triangle, reach_through, read, triangles_meet
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    add,
    along,
    box_pose,
    boxes_apart,
    corner_along,
    divide,
    dot,
    neg,
    offset,
    place,
    row3,
    sub,
    turn_back,
    unit,
)
from gjk3d.narrow.cores import Cores, cores_at, relative_pose
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.solve import FLOATS, INTS, comes_later, quick_collide, settle, solve
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, Workspace, new_workspace, per_thread
from gjk3d.poses import ROUNDING, WIDTH, check_row
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Floats32_1, Ints, Ints1, Ints2

#: codes of a pair at a pose: apart, parts intersect, a point of one body is inside the other, only the slow path can
#: decide, the columns of a height field are not deep enough
APART, MEET, HELD, DOUBT, DEEP = range(5)
NO_POSE = -1  #: code of a matrix that is not a pose
TOUCHES = 64  #: greatest number of pairs of parts that are listed for a touch of two bodies
CLOSE = 2e-9  #: twice the width of a tight distance, in units of the size
#: number of tested leaves after which boxes are tested against a single shape B itself, and not only against its box
EASY = 4
_STEPS = 6  #: greatest number of axes that are tried for a box
_ORIGIN = np.zeros(9)  #: centre of a core at the origin of its frame, for `relative_pose`


class TreeScratch(NamedTuple):
    """Scratch arrays for a traversal of two trees."""

    stack: Ints2  #: pairs of nodes
    keys: Array1  #: lower bounds of the distances of these pairs, or of their squares
    row_a: Array1  #: pose row of a part of A
    row_b: Array1
    floats_a: Array1  #: floats of a part of A
    floats_b: Array1
    workspace: Workspace
    out: Array2  #: two result rows, then those of `TOUCHES` pairs
    flags: Ints2
    last: Ints1  #: the two parts that intersected at the last pose, -1 without these, then `TOUCHES` pairs
    box: Array2  #: an axis-aligned box
    floats32: Floats32_1  #: scratch of a traversal of a wide tree
    axis: Array1  #: the last `Axis` that separated a box from a shape
    start: Array2  #: a row of `gjk3d.narrow.gjk.load_start`: the first axis of GJK


class TreePair(NamedTuple):
    """Two bodies, and their order in the kernels: ORDERED, TURNED (swapped), or TIED (the poses decide)."""

    a: PartTree
    b: PartTree
    order: int


class PoseRows(NamedTuple):
    """Pose rows of two bodies, of which ``start`` to ``stop - 1`` are used. A single row of a body applies to all."""

    a: Array2
    b: Array2
    start: int
    stop: int


class PosedPair(NamedTuple):
    """Two bodies at one relative pose."""

    a: PartTree
    b: PartTree
    m: Rigid  #: the pose of B in A's frame
    error: float  #: bound of the error of a position of one body relative to the other


@inlined
def two_at(a: PartTree, b: PartTree, p: Array, q: Array) -> PosedPair:
    """Return two bodies at one relative pose, which follows from their pose rows p and q."""
    m = relative_pose(p, _ORIGIN, q, _ORIGIN)
    return PosedPair(a, b, m, ROUNDING * (a.reach + b.reach + max(abs(m[9]), max(abs(m[10]), abs(m[11])))))


@kernel
def two_of_rows(pair: TreePair, rows: PoseRows, k: int) -> tuple[PosedPair, bool]:
    """Return two bodies at row k of their poses, and whether the bodies are swapped.

    For the order TIED, the poses decide. The bodies may still differ, so they are swapped together with their poses.
    """
    p, q = rows.a[k if rows.a.shape[0] > 1 else 0], rows.b[k if rows.b.shape[0] > 1 else 0]
    if pair.order == TIED and comes_later(p, q):
        return two_at(pair.b, pair.a, q, p), True
    return two_at(pair.a, pair.b, p, q), pair.order == TURNED


@kernel
def parts_at(x: PosedPair, p: int, q: int, w: TreeScratch) -> Cores:
    """Return part p of A and part q of B in A's frame. Parts are numbered in the order of the leaves."""
    part_a = part_at(x.a, p, w.floats_a, w.row_a)
    part_b = part_at(x.b, q, w.floats_b, w.row_b)
    put_behind(x.m, w.row_b)
    return cores_at(part_a, w.row_a, part_b, w.row_b)


@kernel
def part_meets(c: Cores, margin: float, w: TreeScratch) -> int:
    """Return MEET if two parts are within a margin, APART if they are proven farther apart, or DOUBT."""
    code = quick_collide(c, margin, w.workspace.simplex, w.workspace.simplex[:0], plain(0))
    if code == 2:
        code = settle(c, margin, Solver(w.workspace, w.out, w.flags))
    return code if code < 2 else DOUBT


@inlined
def widest(b: Array, i: int) -> float:
    """Return the greatest half width of a box."""
    return float(max(b[i, 3], max(b[i, 4], b[i, 5])))


@inlined
def splits_first(x: PosedPair, i: int, j: int) -> bool:
    """Return whether node i of A is split before node j of B. The nodes must not both be leaves."""
    if x.a.links[i, 0] < 0 or x.b.links[j, 0] < 0:
        return bool(x.b.links[j, 0] < 0)
    return widest(x.a.boxes, i) >= widest(x.b.boxes, j)


@inlined
def children(x: PosedPair, i: int, j: int) -> tuple[int, int, int, int]:
    """Return the two pairs (i0, j0, i1, j1) into which node i of A and node j of B are split."""
    if splits_first(x, i, j):
        return x.a.links[i, 0], j, x.a.links[i, 0] + 1, j
    return i, x.b.links[j, 0], i, x.b.links[j, 0] + 1


@inlined
def between_centers(x: PosedPair, i: int, j: int) -> float:
    """Return the squared distance between the centres of two boxes."""
    p, q = x.a.boxes, x.b.boxes
    v = sub(place(x.m, (q[j, 0], q[j, 1], q[j, 2])), (p[i, 0], p[i, 1], p[i, 2]))
    return dot(v, v)


@kernel
def leaves_meet(x: PosedPair, i: int, j: int, within: float, sure: float, w: TreeScratch) -> int:
    """Return MEET if parts of two leaves are within ``sure``, APART if none are within ``within``, else DOUBT.

    If the result is MEET, ``w.last`` becomes the pair of parts that are within ``sure``.
    """
    code = APART
    for q in range(x.b.links[j, 1], x.b.links[j, 1] + x.b.links[j, 2]):
        for p in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            # the box of a column is a loose bound, and the gap of the column itself is cheaper than GJK
            if x.a.kind == PRISMS and column_gap(x.m, x.a, p, x.b, j, w.box) > within:
                continue
            c = parts_at(x, p, q, w)
            pair_code = part_meets(c, within, w)
            if pair_code == MEET and sure < within and part_meets(c, sure, w) != MEET:
                pair_code = DOUBT
            if pair_code == MEET:
                w.last[0], w.last[1] = p, q
                return MEET
            code = max(code, pair_code)
    return code


@kernel
def has_loose_box(t: PartTree) -> bool:
    """Return whether a body is one convex shape that does not fill its box, such as a hull or a cylinder."""
    if not is_single(t) or t.kind == TRIANGLES:
        return False
    kind = t.ints[t.table[0, FIRST_INT] + layout.KIND]
    return bool(layout.BOX < kind < layout.COMPOSED)


class Axis(NamedTuple):
    """A candidate for a separating axis of a box of A and the body B."""

    direction: Vec3  #: unit vector
    first: Vec3  #: point of B with the least coordinate along the direction
    begins: float  #: this coordinate


@kernel
def axis_along(x: PosedPair, direction: Vec3, w: TreeScratch) -> Axis:
    """Return the `Axis` along a unit vector for a body B of a single part, whose pose is in ``w.row_b``."""
    first_int, first_float = x.b.table[0, FIRST_INT], x.b.table[0, FIRST_FLOAT]
    core = Core(x.b.ints[first_int:], x.b.floats[first_float:])
    back, f = neg(turn_back(w.row_b, direction)), core.floats
    center = (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2])
    first = place(w.row_b, along(add(center, support(core, back)), back, f[layout.RADIUS]))
    return Axis(direction, first, dot(direction, first))


@kernel
def start_axes(x: PosedPair, w: TreeScratch) -> int:
    """Return 0 if `is_beyond` can be used from now on, or -1 if it cannot since B is not one shape or fills its box.

    ``w.axis`` becomes the axis along the line of the centres of both root boxes. It is in the scratch because most
    traversals end before they need it. ``w.row_b`` becomes the pose of B, which `parts_at` does not change.
    """
    if not has_loose_box(x.b):
        return -1
    part_at(x.b, x.b.links[0, 1], w.floats_b, w.row_b)
    put_behind(x.m, w.row_b)
    _keep_axis(axis_along(x, unit(sub(place(x.m, row3(x.b.boxes, 0)), row3(x.a.boxes, 0))), w), w)
    return 0


@inlined
def _keep_axis(axis: Axis, w: TreeScratch) -> None:
    for c in range(3):
        w.axis[c], w.axis[3 + c] = axis.direction[c], axis.first[c]
    w.axis[6] = axis.begins


@kernel
def is_beyond(x: PosedPair, i: int, reach: float, w: TreeScratch) -> bool:
    """Return whether box i of A is proven farther than ``reach`` from B, a single part.

    The axis that separated the last box is tried first, since it often separates the next box too. Each further step
    tries the axis through the nearest known points of the box and B, as GJK does, but with segments in place of
    simplices (Gilbert, 1966). A leaf has one step, since further steps would take as long as GJK for its parts.
    """
    boxes, far, gap = x.a.boxes, reach + x.error + x.a.rim, (0.0, 0.0, 0.0)
    trial = Axis((w.axis[0], w.axis[1], w.axis[2]), (w.axis[3], w.axis[4], w.axis[5]), w.axis[6])
    steps = 1 if x.a.links[i, 0] < 0 else _STEPS
    for k in range(steps):
        corner = corner_along(boxes, i, trial.direction)
        if trial.begins - dot(trial.direction, corner) > far:
            _keep_axis(trial, w)
            return True
        between = sub(trial.first, corner)
        step = sub(between, gap)
        square = dot(step, step)
        if not square > 0.0:
            break
        gap = between if k == 0 else along(gap, step, min(max(-dot(gap, step) / square, 0.0), 1.0))
        length = sqrt(dot(gap, gap))
        if not length > far or k == steps - 1:  # no axis separates points that are this near
            break
        trial = axis_along(x, divide(gap, length), w)
    return False


@kernel
def surfaces_meet(x: PosedPair, margin: float, w: TreeScratch) -> int:
    """Return MEET if parts of two bodies are within a margin, APART if no parts are, or DOUBT.

    The code is DOUBT if a gap differs from the margin by less than the width of a distance's bounds.
    """
    within = sure = margin + x.error
    if margin > 0.0:
        close = CLOSE * x.error / ROUNDING
        within, sure = within + close, max(x.error, margin - close)
    # temporal coherence: poses of a path differ little, so the pair of the last pose often decides
    if w.last[0] >= 0 and part_meets(parts_at(x, w.last[0], w.last[1], w), sure, w) == MEET:
        return MEET
    w.last[0] = -1
    code, easy = APART, EASY
    stack = w.stack
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if nodes_apart(x.m, x.a, i, x.b, j, within):
            continue
        if easy == 0 and is_beyond(x, i, within, w):
            continue
        if x.a.links[i, 0] < 0 and x.b.links[j, 0] < 0:
            if easy > 0:
                easy = easy - 1 if easy > 1 else start_axes(x, w)
            leaf_code = leaves_meet(x, i, j, within, sure, w)
            if leaf_code == MEET:
                return MEET
            code = max(code, leaf_code)
            continue
        i0, j0, i1, j1 = children(x, i, j)
        if between_centers(x, i0, j0) < between_centers(x, i1, j1):  # the nearer pair is visited first
            i0, j0, i1, j1 = i1, j1, i0, j0
        stack[top, 0], stack[top, 1], stack[top + 1, 0], stack[top + 1, 1] = i0, j0, i1, j1
        top += 2
    return code


@kernel
def holds(host: PartTree, p: Vec3, w: TreeScratch) -> int:
    """Return HELD if a point is inside the closed surface of the body ``host``, otherwise APART.

    The point p is in the frame of the body. The result is DOUBT if the tree of the surface is not built, see
    `gjk3d.bodies.parts.complete`.
    """
    for c in range(3):
        if p[c] < host.span[c] or p[c] > host.span[3 + c]:
            return APART
    if host.skin[0] == 0:
        return DOUBT
    tree = tree_in(host.skin)
    return HELD if is_within(p, box_of(tree), tree, stack_in(w.stack, w.floats32)) else APART


@kernel
def held(x: PosedPair, w: TreeScratch) -> int:
    """Return HELD if one of two bodies without surface contact is inside the other, APART if not, or DOUBT.

    DOUBT means that the tree of a surface is not built. For HELD, ``w.out[0, 6:9]`` becomes a contained point in A's
    frame, and ``w.flags[0, 0]`` the outer body, 0 for A or 1 for B.
    """
    for side in range(2):
        host, guest = (x.a, x.b) if side == 0 else (x.b, x.a)
        for k in range(guest.points.shape[0] if host.inside != OPEN else 0):
            p = (guest.points[k, 0], guest.points[k, 1], guest.points[k, 2])
            # a surface without contact is inside or outside as a whole, so one point of each piece decides
            local = place(x.m, p) if side == 0 else turn_back(x.m, sub(p, offset(x.m)))
            code = holds(host, local, w)
            if code == HELD:
                w.out[0, 6], w.out[0, 7], w.out[0, 8] = local if side == 0 else p
                w.flags[0, 0] = side
            if code != APART:
                return code
    return APART


@kernel
def meet(x: PosedPair, margin: float, w: TreeScratch) -> int:
    """Return MEET or HELD if two bodies intersect or are within a margin >= 0, APART if not, or DOUBT.

    The result is DEEP if B may be below the columns of an unbounded height field A.
    """
    if x.a.kind == PRISMS and x.m[11] - 2.0 * x.b.reach < x.a.floats[ENDLESS] + x.error:
        return DEEP
    code = surfaces_meet(x, margin, w)
    if code == MEET:
        return MEET
    inner = held(x, w)
    return inner if inner == HELD else max(code, inner)


@entry
def crossings(m: Rigid, noise: float, a: TriangleTree, b: TriangleTree, stack: Ints2, pairs: Ints2) -> int:
    """Write the pairs of intersecting triangles, and return their number.

    If ``pairs`` is too short, the function returns its length plus 1.
    """
    room = pairs.shape[0]
    count = 0
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        x, y, z = a.boxes[i, 3] + noise, a.boxes[i, 4] + noise, a.boxes[i, 5] + noise
        if boxes_apart(box_pose(m, a.boxes, i, b.boxes, j), x, y, z, b.boxes[j, 3], b.boxes[j, 4], b.boxes[j, 5]):
            continue
        inner_a, inner_b = a.links[i, 0] >= 0, b.links[j, 0] >= 0
        if not inner_a and not inner_b:
            for q in range(b.links[j, 1], b.links[j, 1] + b.links[j, 2]):
                t = placed_triangle(m, b.corners, q)
                for p in range(a.links[i, 1], a.links[i, 1] + a.links[i, 2]):
                    if triangles_meet(read(a.corners, p), t, noise):
                        if count >= room:
                            return count + 1
                        pairs[count, 0], pairs[count, 1] = p, q
                        count += 1
            continue
        # the larger box is split first, so that the sizes of both stay similar, which prunes more pairs
        if not inner_b or (inner_a and widest(a.boxes, i) >= widest(b.boxes, j)):
            for k in range(2):
                stack[top, 0], stack[top, 1] = a.links[i, 0] + 1 - k, j
                top += 1
        else:
            for k in range(2):
                stack[top, 0], stack[top, 1] = i, b.links[j, 0] + 1 - k
                top += 1
    return count


@entry
def cuts(m: Rigid, ca: Array2, cb: Array2, pairs: Ints2, out: Array2) -> int:
    """Write the ends of the segments in which pairs of triangles intersect, in A's frame; return how many segments."""
    count = 0
    for k in range(pairs.shape[0]):
        length, x, y = crossing_segment(read(ca, pairs[k, 0]), placed_triangle(m, cb, pairs[k, 1]))
        if length > 0.0:
            out[count, 0], out[count, 1], out[count, 2] = x[0], x[1], x[2]
            out[count, 3], out[count, 4], out[count, 5] = y[0], y[1], y[2]
            count += 1
    return count


@entry
def most_through(m: Rigid, ca: Array2, cb: Array2, pairs: Ints2) -> float:
    """Return the greatest penetration of the given pairs of triangles, see `reach_through`."""
    most = 0.0
    for k in range(pairs.shape[0]):
        most = max(most, reach_through(read(ca, pairs[k, 0]), placed_triangle(m, cb, pairs[k, 1])))
    return most


@inlined
def list_faces(x: PosedPair, w: TreeScratch, pairs: Ints) -> int:
    """Write the pairs of intersecting triangles, and return their number.

    If ``pairs`` is too short, the function returns its length plus 1.
    """
    return int(crossings(x.m, x.error, triangles_of(x.a), triangles_of(x.b), w.stack, pairs))


@kernel
def faces_meet(x: PosedPair, w: TreeScratch) -> int:
    """Return MEET if triangles of two meshes intersect, or else the result of `held`: HELD, APART or DOUBT."""
    return MEET if list_faces(x, w, w.last[:2].reshape(1, 2)) > 0 else held(x, w)


@inlined
def are_meshes(a: PartTree, b: PartTree) -> bool:
    """Return whether two bodies consist of triangles without a radius."""
    return a.kind == TRIANGLES and b.kind == TRIANGLES and a.floats[0] == 0.0 and b.floats[0] == 0.0


@inlined
def poses_taken(ma: Array, mb: Array, rows: PoseRows) -> bool:
    """Write two matrices as the first pose rows; return False if one is not a pose. Return True for empty matrices."""
    if ma.shape[0] == 0:
        return True
    return bool(check_row(ma, rows.a, plain(0)) == 0 and check_row(mb, rows.b, plain(0)) == 0)


@entry
def meet_rows(
    pair: TreePair, ma: Array2, mb: Array2, rows: PoseRows, margin: float, w: TreeScratch, answer: Ints1
) -> int:  # fmt: skip
    """Write MEET, HELD, APART, DOUBT or DEEP at pose rows to ``answer``, see `meet`, and return the last code.

    Two meshes with the margin 0 are tested by `faces_meet`. Matrices ``ma`` and ``mb`` that are not empty become the
    first pose rows. The function returns NO_POSE if one of them is not a pose.
    """
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code, faces = APART, margin == 0.0 and are_meshes(pair.a, pair.b)
    w.last[0] = -1
    for k in range(rows.start, rows.stop):
        x, _ = two_of_rows(pair, rows, k)
        if pair.order == TIED:
            w.last[0] = -1  # the stored parts belong to another shape
        code = faces_meet(x, w) if faces else meet(x, margin, w)
        answer[k] = code
    return code


@entry
def held_at(a: PartTree, b: PartTree, row_a: Array1, row_b: Array1, w: TreeScratch) -> int:
    """Return HELD, APART or DOUBT for two bodies without surface contact at one pose row each, see `held`."""
    return int(held(two_at(a, b, row_a, row_b), w))


@kernel
def list_parts(x: PosedPair, within: float, exact: bool, w: TreeScratch, pairs: Ints) -> int:
    """Write the pairs of parts that are within a distance, and return their number.

    Without ``exact`` only the boxes of leaves are tested. Pairs in doubt are listed. If ``pairs`` is too short, the
    function returns its length plus 1.
    """
    count = 0
    within += x.error
    stack = w.stack
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if nodes_apart(x.m, x.a, i, x.b, j, within):
            continue
        if x.a.links[i, 0] < 0 and x.b.links[j, 0] < 0:
            for p in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
                for q in range(x.b.links[j, 1], x.b.links[j, 1] + x.b.links[j, 2]):
                    if exact and part_meets(parts_at(x, p, q, w), within, w) == APART:
                        continue
                    # a count above the number of rows makes the caller pass a longer array
                    if count == pairs.shape[0]:
                        return count + 1
                    pairs[count, 0], pairs[count, 1] = p, q
                    count += 1
            continue
        stack[top + 1, 0], stack[top + 1, 1], stack[top, 0], stack[top, 1] = children(x, i, j)
        top += 2
    return count


@entry
def meeting_parts(
    a: PartTree, b: PartTree, row_a: Array1, row_b: Array1, within: float, exact: bool, w: TreeScratch, pairs: Ints2
) -> int:  # fmt: skip
    """Write the pairs of parts that are within a distance, and return their number, see `list_parts`."""
    return int(list_parts(two_at(a, b, row_a, row_b), within, exact, w, pairs))


@entry
def solve_parts(
    a: PartTree, b: PartTree, row_a: Array1, row_b: Array1, pairs: Ints2, mode: int, w: TreeScratch, out: Array2,
    flags: Ints2,
) -> None:  # fmt: skip
    """Write the results of `gjk3d.narrow.solve` for pairs of parts to ``out`` and ``flags``, in A's frame."""
    x = two_at(a, b, row_a, row_b)
    for k in range(pairs.shape[0]):
        c = parts_at(x, pairs[k, 0], pairs[k, 1], w)
        solve(c, mode, inf, 0.0, w.workspace, w.workspace.simplex[:0], out, flags, k)


def new_tree_scratch() -> TreeScratch:
    """Return new scratch arrays for traversals."""
    return TreeScratch(
        np.empty((STACK, 2), dtype=np.int64), np.empty(STACK), np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDEST),
        np.zeros(WIDEST), new_workspace(FIRST_POINTS), np.empty((2 + TOUCHES, FLOATS)),
        np.empty((2, INTS), dtype=np.int64), np.full(2 + 2 * TOUCHES, -1, dtype=np.int64),
        np.concatenate([np.zeros(6), np.eye(3).ravel()])[None], np.empty(FLOATS32, dtype=np.float32), np.empty(7),
        np.empty((1, MEMORY)),
    )  # fmt: skip


tree_scratch = per_thread(new_tree_scratch)
