"""The full solution of one pair and of many pairs.

GJK runs on the cores, then EPA if GJK leaves the result undecided. At the end the radii of the rounded shapes are
subtracted from the distance and from its bounds.

Each kind of query has its own compiled function that Python calls, because such a function is compiled with all its
callees. It accepts any number of shapes and poses. Each query is solved independently, so its result does not depend on
how a batch is split into calls.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.simplex import INSIDE, closest_on_tetrahedron, closest_on_triangle
from gjk3d.geometry.vec3 import Vec3, add, along, divide, dot, neg, offset, sub, turn
from gjk3d.narrow.closed import WIDTH as BOX_WIDTH
from gjk3d.narrow.closed import best_axis, gap_of, half_extents, has_formula, inside_both, is_boxes, overlapping_boxes
from gjk3d.narrow.cores import (
    Cores,
    between_centers,
    cores_at,
    direction_between,
    gap_of_inner,
    is_curved,
    moved,
    rounding_error,
    support_pair,
    world_center,
)
from gjk3d.narrow.curved import have_branches
from gjk3d.narrow.epa import CLOSED, EPA_WIDTH, FLAT, FULL, LOG_WIDTH, Depth, epa, tetrahedron_round
from gjk3d.narrow.gjk import (
    FAR,
    INSIDE_SIMPLEX,
    NEAR_ENOUGH,
    Start,
    Walk,
    closer,
    first_four,
    gjk,
    load_start,
    set_weights,
    store_start,
    witnesses,
)
from gjk3d.narrow.gjk import TOUCHING as TOUCHED
from gjk3d.narrow.ties import concentric, meridian
from gjk3d.narrow.workspace import GJK_END, Solver, Workspace, write, write_rows
from gjk3d.poses import check_row
from gjk3d.shapes import layout
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# --- one pair --------------------------------------------------------------------------------------------------------


SEPARATED, TOUCHING, OVERLAPPING, UNDECIDED, BEYOND = range(5)
UNSIGNED, SIGNED, EPA_ALWAYS = range(3)

# columns of ``out``: distance, lower, upper, normal, point a, point b
# columns of ``flags``: status, steps, 1 for a tight interval, 1 for a full workspace
FLOATS, INTS = 12, 4

_RADIUS, _RHO, _KIND = layout.RADIUS, layout.RHO, layout.KIND
_POINT, _BOX = layout.POINT, layout.BOX
# in units of the pair's size:
WIDTH_POLYTOPE, WIDTH_CURVED = 1e-12, 4e-10  #: largest widths of a tight interval
#: Width at which GJK and EPA stop for curved cores. For polytopes they stop when no support point is new. Then the
#: normal is as accurate as the distance.
_GJK_WIDTH = 1e-13
#: a second GJK run of polytopes needs a witness at least this far off the normal's line, and at least this distance
OFF_AXIS, CLOSE = 5e-13, 1e-11
ASKEW = 1e-6  #: greatest sine between axes that count as parallel in `gjk3d.narrow.ties`


class Query(NamedTuple):
    """The settings of a query of two cores."""

    mode: int
    max_distance: float  #: a distance that is proven to be greater ends the search
    tol: float  #: relative to the pair's size: an interval of this width ends the search
    curved: bool  #: whether a core is curved
    promised: float  #: largest width of a tight interval


class Estimate(NamedTuple):
    """The distance of two cores with its bounds, normal and witness points, in A's frame.

    Distances are signed, and the radii are not subtracted.
    """

    distance: float
    lower: float
    upper: float
    proven: bool  #: whether a common point of the cores is proven
    v: Vec3  #: A's witness minus B's, as GJK and EPA computed them; near contact even its sign is only rounding
    normal: Vec3  #: the direction that proved the lower bound
    a: Vec3  #: witness points
    b: Vec3
    steps: int
    full: bool  #: whether the workspace was full


@inlined
def solve(
    c: Cores, mode: int, max_distance: float, tol: float, workspace: Workspace, cache: Array, out: Array, flags: Ints,
    k: int,
) -> float:  # fmt: skip
    """Write the result of one pair to row k of ``out`` and ``flags``; return an upper bound of the signed distance.

    The bound is signed in unsigned mode too. If ``cache`` has rows, GJK starts from the simplex in row k of the cache,
    and stores its last simplex in this row.
    """
    curved = is_curved(c)
    promised = (WIDTH_CURVED if curved else WIDTH_POLYTOPE) * c.size + 2.0 * c.error
    query = Query(mode, max_distance, tol, curved, promised)
    settled, estimate = at_once(c, query, workspace.log)
    if not settled:
        estimate = search(c, query, workspace, cache, k)
    report(c, query, estimate, out, flags, k)
    return estimate.upper - c.radii


@inlined
def at_once(c: Cores, query: Query, log: Array) -> tuple[bool, Estimate]:
    """Return whether a closed form gives the result, and its estimate.

    Closed forms are not used if ``log`` stores a trace, or if the mode is EPA_ALWAYS.
    """
    searched = log.shape[0] > 0 or query.mode == EPA_ALWAYS
    if not searched and has_formula(c):
        settled, signed, n, a, b = gap_of(c)
        if settled and (signed != 0.0 or query.mode == UNSIGNED):
            if signed < 0.0 and query.mode == UNSIGNED:  # the core that is a point is the common point
                a = b = a if c.a.ints[_KIND] == _POINT else b
            return True, Estimate(signed, signed - c.error, signed + c.error, signed <= 0.0, n, n, a, b, 1, False)
    elif not searched and query.mode == UNSIGNED:
        upper = gap_of_inner(c)
        if upper <= c.radii:
            n, a, b = inside_both(c)
            return True, Estimate(upper, -inf, upper, upper <= 0.0, n, n, a, b, 1, False)
    if not searched and query.mode == SIGNED and is_boxes(c):
        settled, gap, upper, n, a, b = overlapping_boxes(c)
        return settled, Estimate(gap, gap - c.error, upper, True, n, n, a, b, 1, False)
    nowhere = (0.0, 0.0, 0.0)
    return False, Estimate(0.0, -inf, inf, False, nowhere, nowhere, nowhere, nowhere, 0, False)


@kernel
def search(c: Cores, query: Query, workspace: Workspace, cache: Array, k: int) -> Estimate:
    """Return the estimate of GJK, improved by EPA if GJK is not enough."""
    mode, curved, promised = query.mode, query.curved, query.promised
    width = max(_GJK_WIDTH * c.size if curved else 0.0, query.tol * c.size - 2.0 * c.error)
    start = load_start(cache, k, c, workspace.simplex)
    if workspace.log.shape[0] > 0:
        workspace.log[0] = 1.0
    # not for curved cores: EPA would not end, and the surface that proves a depth must have the same start
    deep = mode == SIGNED and not curved and start.rows == 0 and workspace.log.shape[0] == 0 and gap_of_inner(c) <= 0.0
    if deep:
        walk, estimate = from_within(c, workspace.simplex)
    else:
        walk = gjk(c, start, width, query.max_distance, -inf, workspace.simplex, workspace.log)
        estimate = separate(c, end_log(c, walk, workspace), workspace)
    store_start(cache, k, c, workspace.simplex, start, walk)
    if needs_epa(c, query, estimate):
        # `gjk3d.narrow.epa.finish` widens the result of a cap by the same amount
        cap_width = LOG_WIDTH * c.size
        near = max(width - cap_width, EPA_WIDTH * c.size) if curved else max(width, c.tiny)
        depth = Depth(CLOSED, 0, -walk.lower, walk.axis, inf, -1.0, -1.0)
        settled = False
        if curved and mode != EPA_ALWAYS:  # families of ties
            settled, depth = concentric(c, 0.25 * promised, depth.least, depth.normal, workspace)
            if not settled:
                settled, depth = meridian(c, near, ASKEW * c.size, depth.least, depth.normal, workspace)
        a, b = first_face(workspace.simplex)
        by_section = False
        # for axes that are only nearly parallel, EPA's interval may be narrower than that of the plane section
        if not settled or depth.least + depth.outer > promised - 2.0 * c.error:
            least, axis = depth.least, depth.normal
            if settled and -walk.lower < least:  # GJK has a better direction, outside the plane of the section
                least, axis = -walk.lower, walk.axis
            seeded = walk.code == INSIDE_SIMPLEX and not settled
            if curved and workspace.log.shape[0] > 0:
                near = max(width - cap_width, cap_width)
            by_epa = epa(c, near, mode == UNSIGNED, seeded, least, axis, workspace)
            by_section, depth = better_of(depth, by_epa, settled, mode)
        estimate = penetrate(c, query, estimate, depth, by_section, (a, b), workspace.simplex)
    return align(c, query, estimate, workspace)


@kernel
def from_within(c: Cores, s: Array) -> tuple[Walk, Estimate]:
    """Return the `Walk` and `Estimate` of cores whose inscribed balls intersect; write EPA's first tetrahedron to s."""
    n, a, b = inside_both(c)
    least, best = tetrahedron_round(c, n, s)
    walk = Walk(INSIDE_SIMPLEX, 4, (0.0, 0.0, 0.0), -least, best, 4)
    return walk, Estimate(0.0, -least - c.error, gap_of_inner(c), True, walk.v, best, a, b, 4, False)


@kernel
def end_log(c: Cores, walk: Walk, workspace: Workspace) -> Walk:
    """Log the reason for GJK's end and its last simplex; return the `Walk` of this simplex.

    For separated curved cores, `closer` first moves the simplex nearer to the origin. Without a log, nothing changes.
    """
    log, s = workspace.log, workspace.simplex
    if log.shape[0] == 0:
        return walk
    code, rows, v, lower, axis, steps = walk
    if lower > c.error and have_branches(c):
        v, rows = closer(c, s, rows, v, 0.0)
    write(log, GJK_END)
    write(log, float(code))
    write(log, float(rows))
    write_rows(log, s, rows)
    return Walk(code, rows, v, lower, axis, steps)


@kernel
def separate(c: Cores, walk: Walk, workspace: Workspace) -> Estimate:
    """Return the estimate of a finished GJK run. Its bounds enclose the signed distance of the cores."""
    length = sqrt(dot(walk.v, walk.v))
    a, b = witnesses(workspace.simplex, walk.rows)
    inside = walk.code == INSIDE_SIMPLEX
    return Estimate(length, walk.lower - c.error, length + c.error, inside, walk.v, walk.axis, a, b, walk.steps, False)


@kernel
def needs_epa(c: Cores, query: Query, estimate: Estimate) -> bool:
    """Return whether GJK left the result undecided, so that EPA must run."""
    if estimate.lower - c.radii > query.max_distance:
        return False
    if query.mode == EPA_ALWAYS:
        return True
    if not estimate.proven:
        width, allowed = estimate.upper - estimate.lower, query.tol * c.size
        if allowed > query.promised and width <= allowed:
            return False
        if width <= query.promised and estimate.lower > 0.0:
            return False
    # an unsigned distance is decided if the cores overlap, or if the radii exceed the distance of the cores
    return query.mode != UNSIGNED or not (estimate.proven or estimate.upper - c.radii <= 0.0)


@kernel
def better_of(by_section: Depth, by_epa: Depth, settled: bool, mode: int) -> tuple[bool, Depth]:
    """Return whether a plane section (`gjk3d.narrow.ties`) gives narrower bounds than EPA, and the narrower depth.

    ``settled`` is whether the section has a result.
    """
    steps, outer = by_section.steps + by_epa.steps, by_epa.outer
    shown = by_epa.least - by_epa.front if by_epa.front >= 0.0 else inf
    if settled and mode != UNSIGNED and by_section.least + by_section.outer < shown:
        return True, Depth(
            by_epa.code, steps, by_section.least, by_section.normal, by_section.outer, by_section.front, by_section.rear
        )
    if settled and by_epa.front >= 0.0:
        outer = max(min(outer, by_section.outer), -by_epa.front)
    return False, Depth(by_epa.code, steps, by_epa.least, by_epa.normal, outer, by_epa.front, by_epa.rear)


@kernel
def penetrate(
    c: Cores, query: Query, estimate: Estimate, depth: Depth, by_section: bool, section: tuple[Vec3, Vec3], s: Array
) -> Estimate:
    """Return the estimate improved by ``depth``.

    ``depth`` is the result of a plane section if ``by_section`` is True, otherwise that of EPA. ``section`` contains
    the witness points of A and of B in the plane section.
    """
    distance, proven, v, a, b = estimate.distance, estimate.proven, estimate.v, estimate.a, estimate.b
    lower, upper = -depth.least - c.error, estimate.upper
    if not by_section:  # with a section, only the bound of the section's own normal is used
        lower = max(lower, estimate.lower)
    if depth.outer < inf:
        upper = min(upper, depth.outer + c.error)
    if depth.front >= 0.0:  # the origin is inside: overlap
        if query.mode != UNSIGNED:
            distance = -depth.front
            a, b = section if by_section else first_face(s)
        elif not (proven or distance <= TOUCHED * c.tiny):
            a, b = common_point(s, depth.front, depth.rear)
        proven = True
    elif depth.code != FLAT:
        p0, p1, p2, _ = first_four(s)
        p, l4 = closest_on_triangle(p0, p1, p2, c.tiny)
        reach = sqrt(dot(p, p))
        if reach < distance or (query.mode == EPA_ALWAYS and reach <= distance + c.tiny):
            distance, v = reach, p
            upper = min(upper, reach + c.error)
            set_weights(s, l4)
            a, b = first_face(s)
    return Estimate(
        distance, lower, upper, proven, v, depth.normal, a, b, estimate.steps + depth.steps, depth.code == FULL
    )


@kernel
def first_face(s: Array) -> tuple[Vec3, Vec3]:
    """Return the weighted mean of A's points, and that of B's points, in the first three rows of the simplex."""
    return witnesses(s, plain(3))


@kernel
def common_point(s: Array, front: float, rear: float) -> tuple[Vec3, Vec3]:
    """Return a common point of A and B as two points, one of A and one of B, which are equal except for rounding.

    The ray from the origin along the normal hits the face in rows 0 to 2 of the simplex, at the distance ``front``. The
    opposite ray hits the face in rows 3 to 5, at the distance ``rear``.
    """
    for r in range(6):
        s[r, 9] *= (rear if r < 3 else front) / (front + rear)
    return witnesses(s, plain(6))


@kernel
def align(c: Cores, query: Query, estimate: Estimate, workspace: Workspace) -> Estimate:
    """Return the estimate with the better of two normals.

    The candidates are the direction from witness to witness, and the normal that proved the lower bound.
    """
    if estimate.proven:
        return at_common_point(c, query, estimate)
    n, v, a, b, length = estimate.normal, estimate.v, estimate.a, estimate.b, estimate.distance
    if not length > TOUCHED * c.tiny or (query.mode == UNSIGNED and estimate.upper <= c.radii):
        return estimate
    width = estimate.upper - estimate.lower
    wide = width > query.promised
    d = divide(v, -length)
    x = along(v, n, length)
    askew = sqrt(dot(x, x))  # also the distance of a witness from the surface of its shape
    if wide and (query.tol > 0.0 or estimate.lower - c.radii > query.max_distance):
        n = d  # the search stopped early
    elif (query.curved or wide) and askew > 0.25 * query.promised:
        w, _, _ = support_pair(c, d)
        if length + dot(d, w) <= (width if wide else 0.5 * query.promised):
            n = d  # within the bounds both normals are equally good, and d agrees with the witnesses
        elif wide:
            a = along(a, x, -0.5)  # each witness gets half of the error
    elif askew > OFF_AXIS * c.size and length > CLOSE * c.size and not query.curved:
        # Between distant faces GJK ends where |v| is least to rounding. The error of v's direction is the square root
        # of this rounding. B is therefore moved along n until the gap is almost closed, and GJK runs again. At this
        # short distance the rounding leaves almost no error of the direction.
        t = length - CLOSE * c.size
        walk = gjk(moved(c, n, -t), Start(n, 0), 0.0, inf, -inf, workspace.simplex, workspace.log[:0])
        most = 4.0 * CLOSE * c.size
        if walk.code != INSIDE_SIMPLEX and not dot(walk.v, walk.v) > most * most:
            a, b = witnesses(workspace.simplex, walk.rows)
            b = along(b, n, t)
    return Estimate(length, estimate.lower, estimate.upper, False, v, n, a, b, estimate.steps, estimate.full)


@kernel
def at_common_point(c: Cores, query: Query, estimate: Estimate) -> Estimate:
    """Return the estimate of cores with a common point. The unsigned distance is set to 0."""
    a, b, distance = estimate.a, estimate.b, estimate.distance
    if query.mode == UNSIGNED:
        distance = 0.0
        # if a core is a point, it is the common point; the weights of a thin simplex would miss it by their rounding
        if c.a.ints[_KIND] == _POINT:
            a = b = (0.0, 0.0, 0.0)
        elif c.b.ints[_KIND] == _POINT:
            a = b = offset(c.m)
    upper = min(estimate.upper, 0.0)
    return Estimate(
        distance, estimate.lower, upper, True, estimate.v, estimate.normal, a, b, estimate.steps, estimate.full
    )


@inlined
def report(c: Cores, query: Query, estimate: Estimate, out: Array, flags: Ints, k: int) -> None:
    """Write the estimate of the cores minus the radii to row k of ``out`` and ``flags``, in world coordinates.

    The status follows from the bounds.
    """
    n, a, b, proven = estimate.normal, estimate.a, estimate.b, estimate.proven
    ra = c.a.floats[_RADIUS]
    lower, upper, distance = estimate.lower - c.radii, estimate.upper - c.radii, estimate.distance - c.radii
    if query.mode == UNSIGNED and (proven or upper <= 0.0):
        # a common point is on the segment between the cores' witnesses, within ra of A's witness and rb of B's
        proven = True
        t = ra / c.radii if c.radii > 0.0 else 0.5
        a = along(a, sub(b, a), t)
        b = a
        distance, lower, upper = 0.0, 0.0, 0.0
    else:
        a = along(a, n, ra)
        if query.mode == UNSIGNED:
            lower, upper, distance = max(lower, 0.0), max(upper, 0.0), max(distance, 0.0)
        distance = min(max(distance, lower), upper)
        b = along(a, n, distance)
    if lower > 0.0:
        status = BEYOND if lower > query.max_distance else SEPARATED
    elif upper < 0.0 or proven:
        status = OVERLAPPING
    elif upper - lower <= query.promised:
        status = TOUCHING
    else:
        status = UNDECIDED
    out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
    write_in_world(c, n, a, b, out, k)
    flags[k, 0] = status
    flags[k, 1] = estimate.steps
    flags[k, 2] = 1 if upper - lower <= query.promised else 0
    flags[k, 3] = 1 if estimate.full else 0


@inlined
def write_in_world(c: Cores, n: Vec3, a: Vec3, b: Vec3, out: Array, k: int) -> None:
    """Write a normal and two points of A's frame, in world coordinates, to columns 3 to 11 of row k of ``out``."""
    center = world_center(c.pose, c.a.floats)
    out[k, 3], out[k, 4], out[k, 5] = turn(c.pose, n)
    out[k, 6], out[k, 7], out[k, 8] = add(turn(c.pose, a), center)
    out[k, 9], out[k, 10], out[k, 11] = add(turn(c.pose, b), center)


@kernel
def quick_collide(c: Cores, margin: float, simplex: Array, cache: Array, k: int) -> int:
    """Return 0 if the signed distance is proven > margin, 1 if it is proven <= margin, 2 if only `solve` can decide.

    This is GJK with early exits. Its bounds are among those of `solve`, so the boolean and the interval always agree.
    Simple tests come first: balls around and inside the cores, separating axes of boxes, and the axis and the simplex
    in row k of a ``cache``. A test decides only if `solve` is certain to give the same boolean. GJK never starts from
    the cached simplex.
    """
    m, fa, fb = c.m, c.a.floats, c.b.floats
    clear = margin + c.radii + 4.0 * c.error + WIDTH_CURVED * c.size
    if between_centers(m) - fa[_RHO] - fb[_RHO] > clear:
        return 0
    inner = gap_of_inner(c)
    if inner - c.radii <= margin:
        return 1
    if c.a.ints[_KIND] == _BOX and c.b.ints[_KIND] == _BOX:
        gap, _, widest, sure = best_axis(half_extents(c.a), half_extents(c.b), m, clear)
        if gap > clear:
            return 0
        # the error is subtracted, so that this depth does not exceed the depth that `solve` proves
        depth = -widest - BOX_WIDTH * c.size - c.error
        if sure and depth > 0.0 and -depth - c.radii <= margin:
            return 1
    if cache.shape[0] > 0 and cache[k, 0] > 0.0:
        axis = (cache[k, 1], cache[k, 2], cache[k, 3])
        w, _, _ = support_pair(c, axis)
        if -dot(axis, w) > clear:
            return 0
        if cache[k, 0] == 4.0 and -c.radii <= margin and margin >= 0.0 and load_start(cache, k, c, simplex).rows == 4:
            p0, p1, p2, p3 = first_four(simplex)
            _, _, where = closest_on_tetrahedron(p0, p1, p2, p3, c.tiny)
            if where == INSIDE:
                return 1
    if has_formula(c):
        formula = gap_of(c)
        if formula.settled and (formula.signed != 0.0 or -c.radii <= margin):
            return 0 if formula.signed - c.error - c.radii > margin else 1
    if inner <= 0.0:  # `solve` skips GJK for these cores, and a bound of GJK may be slightly above that of EPA
        return 2
    width = _GJK_WIDTH * c.size if is_curved(c) else 0.0
    start = Start(direction_between(m), 0)
    walk = gjk(c, start, width, margin, margin, simplex, simplex[0, :0])
    store_start(cache, k, c, simplex, start, walk)
    if walk.code == FAR:
        return 0
    if walk.code == NEAR_ENOUGH or (walk.code == INSIDE_SIMPLEX and -c.radii <= margin):
        return 1
    return 2


@kernel
def settle(c: Cores, margin: float, solver: Solver) -> int:
    """Decide from the signed distance whether a pair that `quick_collide` left open collides.

    Returns 0 if the distance is proven to exceed ``margin``, else 1. Returns 2 if the workspace is too small, or if the
    bounds of two polytopes are too far apart.
    """
    row, marks = solver.one, solver.marks
    solve(c, SIGNED, inf, 0.0, solver.workspace, row[:0], row, marks, plain(0))
    if row[0, 1] > margin:
        return 0
    # polytopes with a wider interval than promised go to the rational stage; curved cores keep the result
    unsure = marks[0, 3] != 0 or (marks[0, 2] == 0 and not is_curved(c))
    return 2 if unsure else 1


# --- many pairs ------------------------------------------------------------------------------------------------------


# Shapes are stored one after another in an array of integers and an array of floats; see `gjk3d.shapes.layout`. A pair
# is a row of integers. For shape A they are the start of its integers and of its floats, its rank, its pose row, and
# the increment of the pose row per query. The same five follow for B. A single pair row serves all queries. Kernels
# solve pairs in the order of rank, so that (b, a) mirrors (a, b) to the last bit. Equal shapes have equal ranks, and
# the order of their poses decides. The last integer is the offset to the query that is solved at this position of the
# batch; see `order_for_cache`.
PAIR = 11
RANK, _POSE, _STEP, TURN = 2, 3, 4, 10
#: float of a half-space after its normal and offset: 1.0 for a half-space, 2.0 for a plane, which has two free sides
SIDES = FLOAT_HEAD + 4


class Packed(NamedTuple):
    """Shapes in joined arrays, and a table of pairs of these shapes."""

    ints: Ints1
    floats: Array1
    table: Ints2


class PairRows(NamedTuple):
    """Pairs of shapes in joined arrays, and their poses."""

    ints: Ints1
    floats: Array1
    table: Ints2  #: a row for each query, or a single row for all
    poses: Array2


class ShapeRows(NamedTuple):
    """A shape and its pose rows: a row for each query, or a single row for all."""

    ints: Ints1
    floats: Array1
    poses: Array2


class Request(NamedTuple):
    """The settings of `solve_many`; with ``again``, only queries whose workspace was too small are solved."""

    mode: int  #: of `gjk3d.narrow.solve`
    max_distance: float
    tol: float
    again: bool = False


@single_entry
def fill_table(columns: Ints2, pairs: Ints2, at: Ints2, table: Ints2) -> None:
    """Fill a row of ``table`` for each pair of shapes, in the layout described at `PAIR`.

    ``columns`` has a row for each shape: the starts of its integers and floats in the joined arrays, and its rank. A
    row of ``pairs`` contains the indices of two shapes, and a row of ``at`` the indices of their pose rows.
    """
    for k in range(pairs.shape[0]):
        for side in range(2):
            for c in range(3):
                table[k, 5 * side + c] = columns[pairs[k, side], c]
            table[k, 5 * side + _POSE], table[k, 5 * side + _STEP] = at[k, side], 0
        table[k, TURN] = 0


@kernel
def comes_later(p: Array, q: Array) -> bool:
    """Return whether the pose row p is lexicographically greater than q."""
    for c in range(p.shape[0]):
        if p[c] != q[c]:
            return bool(p[c] > q[c])
    return False


@kernel
def mirror(out: Array, k: int) -> None:
    """Change the result of (b, a) in row k of ``out`` to that of (a, b)."""
    out[k, 3], out[k, 4], out[k, 5] = 0.0 - out[k, 3], 0.0 - out[k, 4], 0.0 - out[k, 5]
    ax, ay, az = out[k, 6], out[k, 7], out[k, 8]
    out[k, 6], out[k, 7], out[k, 8] = out[k, 9], out[k, 10], out[k, 11]
    out[k, 9], out[k, 10], out[k, 11] = ax, ay, az


@inlined
def in_turn(pairs: Ints, turn: int) -> int:
    """Return the index of the query that is solved at position ``turn`` of a batch, which may be reordered."""
    return int(turn + pairs[turn if pairs.shape[0] > 1 else 0, TURN])


@kernel
def pose_of(pairs: Ints, r: int, side: int, k: int) -> int:
    """Return the index of a shape's pose row for query k. ``r`` is the pair row, and ``side`` is 0 for A, 5 for B."""
    return int(pairs[r, side + _POSE] + k * pairs[r, side + _STEP])


@kernel
def exchanged(pairs: Ints, r: int, k: int, poses: Array) -> bool:
    """Return whether query k of pair row r is solved with A and B swapped."""
    first, second = pairs[r, RANK], pairs[r, 5 + RANK]
    if first != second:
        return bool(first > second)
    return comes_later(poses[pose_of(pairs, r, plain(0), k)], poses[pose_of(pairs, r, plain(5), k)])


@kernel
def side_of(pairs: Ints, r: int, side: int, q: Ints, f: Array) -> Core:
    """Return shape A (``side`` is 0) or B (``side`` is 5) of pair row r."""
    return Core(q[pairs[r, side] :], f[pairs[r, side + 1] :])


@inlined
def cores_of_row(pairs: PairRows, k: int) -> tuple[Cores, bool]:
    """Return the cores of query k in the order of rank, and whether A and B are swapped."""
    q, f, table, poses = pairs.ints, pairs.floats, pairs.table, pairs.poses
    r = k if table.shape[0] > 1 else 0
    turned = exchanged(table, r, k, poses)
    a, b = (5, 0) if turned else (0, 5)
    core_a, core_b = side_of(table, r, a, q, f), side_of(table, r, b, q, f)
    return cores_at(core_a, poses[pose_of(table, r, a, k)], core_b, poses[pose_of(table, r, b, k)]), turned


@inlined
def cores_in_row(a: ShapeRows, b: ShapeRows, k: int) -> Cores:
    """Return the cores of two shapes at their poses of query k."""
    row_a, row_b = a.poses[k if a.poses.shape[0] > 1 else 0], b.poses[k if b.poses.shape[0] > 1 else 0]
    return cores_at(Core(a.ints, a.floats), row_a, Core(b.ints, b.floats), row_b)


@kernel
def marks_of(flags: Ints, k: int) -> int:
    """Return the flags of result k as a sum: status, 8 if tight, 16 if the workspace was full, and 32 for each step."""
    return int(flags[k, 0] + 8 * flags[k, 2] + 16 * flags[k, 3] + 32 * flags[k, 1])


@kernel
def take_poses(ma: Array, mb: Array, poses: Array) -> bool:
    """Write the matrices ``ma`` and ``mb`` to pose rows 0 and 1; return False if a matrix is not a pose.

    If ``ma`` is empty, nothing is written, and True is returned.
    """
    if ma.shape[0] == 0:
        return True
    for side in range(2):  # noqa: SIM110, a generator does not compile
        if check_row(ma if side == 0 else mb, poses, side) != 0:
            return False
    return True


@single_entry
def solve_many(
    pairs: PairRows, ma: Array2, mb: Array2, request: Request, start: int, stop: int, workspace: Workspace,
    out: Array2, flags: Ints2, cache: Array2,
) -> int:  # fmt: skip
    """Write the results of the queries at positions start to stop of a batch to ``out`` and ``flags``.

    ``ma`` and ``mb`` are the matrices of a single query; both are empty if ``pairs`` has the poses. Returns -1 if a
    matrix is not a pose. With a log, returns the length of the log. Otherwise returns the flags of the last result, see
    `marks_of`.
    """
    if not take_poses(ma, mb, pairs.poses):
        return -1
    for position in range(start, stop):
        k = in_turn(pairs.table, position)
        if request.again and flags[k, 3] == 0:
            continue  # keep the result of the first call
        c, turned = cores_of_row(pairs, k)
        solve(c, request.mode, request.max_distance, request.tol, workspace, cache, out, flags, k)
        if turned:
            mirror(out, k)
    if workspace.log.shape[0] > 0:
        return int(workspace.log[0])
    if stop == start:
        return 0
    return marks_of(flags, stop - 1)


@single_entry
def collide_many(
    pairs: PairRows, ma: Array2, mb: Array2, margin: float, start: int, stop: int, simplex: Array2, answer: Ints1,
    cache: Array2,
) -> int:  # fmt: skip
    """Write the results 0, 1 or 2 of `quick_collide` for positions start to stop of a batch to ``answer``.

    Returns the last result, or -1 if a matrix is not a pose; see `solve_many` for the matrices.
    """
    if not take_poses(ma, mb, pairs.poses):
        return -1
    last = 0
    for position in range(start, stop):
        k = in_turn(pairs.table, position)
        c, _ = cores_of_row(pairs, k)
        last = quick_collide(c, margin, simplex, cache, k)
        answer[k] = last
    return last


@inlined
def normal_of(plane: Core) -> Vec3:
    """Return the normal of a half-space in its own frame."""
    return (plane.floats[FLOAT_HEAD], plane.floats[FLOAT_HEAD + 1], plane.floats[FLOAT_HEAD + 2])


@inlined
def height_over(c: Cores, n: Vec3) -> tuple[float, Vec3]:
    """Return the height of B above the plane through A's centre with normal n, and the lowest point of B's core.

    The height includes B's radius. The point does not.
    """
    _, _, b = support_pair(c, n)
    return n[0] * b[0] + n[1] * b[1] + n[2] * b[2] - c.b.floats[0], b


@inlined
def above_plane(c: Cores, row: Array) -> tuple[float, float, Vec3, Vec3]:
    """Return the height of B above a half-space A, the height's error, the lowest point of B's core, and the normal.

    ``row`` is A's pose row. A is packed by `gjk3d.convex.solve.plane_core`. The normal of a plane points to the side on
    which B is higher.
    """
    n = normal_of(c.a)
    error = rounding_error(c.size, c.a, c.b, row[12])
    height, b = height_over(c, n)
    if c.a.floats[SIDES] > 1.0:
        below = neg(n)
        height_below, lowest = height_over(c, below)
        if height_below > height:
            height, b, n = height_below, lowest, below
    return height, error, b, n


@kernel
def solve_plane(
    c: Cores, row: Array, flip: bool, mode: int, max_distance: float, out: Array, flags: Ints, k: int
) -> None:
    """Write the distance of a half-space A at the pose ``row`` from a convex core B to row k of ``out`` and ``flags``.

    The closed form needs only one support point of B. A plane counts as two half-spaces, and the half-space with the
    greater distance gives the result. With ``flip``, A and B are swapped in the result.
    """
    distance, error, b, n = above_plane(c, row)
    lower, upper = distance - error, distance + error
    b = along(b, n, -c.b.floats[0])
    if mode == UNSIGNED:
        lower, upper = max(lower, 0.0), max(upper, 0.0)
        if upper == 0.0:
            distance = 0.0
        distance = max(distance, 0.0)
    if lower > 0.0:
        status = BEYOND if lower > max_distance else SEPARATED
    elif upper < 0.0 or (mode == UNSIGNED and upper == 0.0):
        status = OVERLAPPING
    else:
        status = TOUCHING
    a = along(b, n, -distance)  # B's point projected on the plane, so that both points agree exactly with n
    if flip:
        a, b = b, a
        n = (-n[0], -n[1], -n[2])
    out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
    write_in_world(c, n, a, b, out, k)
    flags[k, 0], flags[k, 1], flags[k, 2], flags[k, 3] = status, 1, 1, 0


@single_entry
def plane_rows(
    plane: ShapeRows, shape: ShapeRows, flip: bool, mode: int, max_distance: float, start: int, stop: int,
    out: Array2, flags: Ints2,
) -> None:  # fmt: skip
    """Write the results of `solve_plane` for queries start to stop of a half-space and a convex core."""
    for k in range(start, stop):
        row = plane.poses[k if plane.poses.shape[0] > 1 else 0]
        solve_plane(cores_in_row(plane, shape, k), row, flip, mode, max_distance, out, flags, k)
