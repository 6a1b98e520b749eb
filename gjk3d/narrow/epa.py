"""EPA: the depth of two overlapping cores, from a polytope inside A - B that grows until its nearest face is final.

In 2D the polygon's edge nearest to the origin is split at the support point along its normal. In 3D a triangle takes
the place of the edge. All triangles visible from the new point are removed. The boundary of the hole is the horizon. A
fan of triangles between the horizon and the new point closes the hole.

Unlike in the textbooks, the origin may be anywhere. The first tetrahedron consists of extreme points. Faces are
oriented by their winding about the centre of the tetrahedron, never by the projection of the origin. While the origin
is outside the polytope, the nearest point of the polytope gives the direction, as in GJK. Once the origin is inside,
the face with the least plane distance gives the direction. Both bounds of the signed distance sd are proven:

- every queried normal n proves sd >= -h(n), because a move of B by h(n) n separates the cores;
- a closed surface of points of A - B around the origin proves sd <= -r, where r is the least distance of its triangles
  from the origin. Triangles inside a cap of directions with a proven depth are excluded. The distance of a triangle is
  bounded by the *least* of its three vertices along its normal, which is valid for an inaccurate normal too.

The winding argument does not require convexity, so slivers and coplanar faces do no harm. References: van den Bergen
2003, sec. 4.3.8; Cameron's support bound.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.geometry.simplex import blend, closest_on_triangle
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Vec3,
    cross,
    divide,
    dot,
    neg,
    perpendicular,
    row3,
    scale,
    sub,
    triangle_normal,
    unit,
)
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.curved import BRANCH_ROWS, Cap, cap_around, find_stationary, have_branches, in_cap
from gjk3d.narrow.gjk import AS_GOOD, TOUCHING, first_four, is_vertex, set_row
from gjk3d.narrow.workspace import EPA_START, EPA_STEP, FACES_PER_POINT, VERTEX_ROW, Workspace, capacity, write, write3
from gjk3d.typing import Array, Array1, Array2, Ints1, Ints2

CLOSED, OUTSIDE, FLAT, STUCK, FULL = range(5)
#: width of a curved pair's depth, relative to the pair's size, unless the query sets a larger width.
#: `gjk3d.narrow.solve.search` sets the width of polytopes.
EPA_WIDTH = 1e-11
#: smaller width for a query with a log, because a certificate needs its surface; a cap widens the result by this width
LOG_WIDTH = 1e-12
#: Steps before the first trial to move a curved pair's nearest face to the stationary point of its branches. The number
#: of steps doubles for each later trial.
_FIRST_TRIAL = 2
_TIDY = 16  #: steps between removals of dead faces from the queue


class Depth(NamedTuple):
    """Bounds of the depth of two cores, and the normal.

    If the origin is inside the polytope, ``front`` and ``rear`` are the distances from the origin to the polytope along
    the normal and, on request, along its opposite. Rows 0 to 2 and 3 to 5 of the simplex are the faces that these rays
    hit. If the origin is outside, ``front`` and ``rear`` are -1, and rows 0 to 2 are the nearest face.
    """

    code: int  #: reason for the end
    steps: int
    least: float  #: least h(n), an upper bound of the depth
    normal: Vec3  #: the direction n of this bound
    outer: float  #: upper bound of the signed distance
    front: float
    rear: float


@kernel
def flat_depth(c: Cores, v: Array, dimension: int, n: Vec3, least: float, best: Vec3) -> Depth:
    """Return the depth of a flat A - B: the least of ``least``, h(n) and h(-n).

    h is the support value. ``n`` is the normal of the plane of A - B. If A - B is a point, the direction from it to the
    origin replaces n. ``best`` is the direction of ``least``.
    """
    for k in range(2):
        d = n if k == 0 else neg(n)
        if dimension == 0 and k == 0:
            d = unit(neg(row3(v, 0)))
        w, _, _ = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    return Depth(FLAT, 1, least, best, inf, -1.0, -1.0)


@kernel
def nearest_face(p: Polytope, top: int, faces: int, c: Cores) -> tuple[int, Vec3, float, bool]:
    """Return the index of the face nearest to the origin, the next direction, the face's distance, and a flag.

    The flag is whether the direction is from the face's nearest point to the origin, as in GJK, not the face's normal.
    If the origin is below all faces, the face is ``top``. If several faces touch the origin, the newest is returned.
    """
    # If the origin is at a cone's apex, all faces at the apex touch it. Splitting each of them would not make a face
    # narrow enough for a proof. The loop could diverge if all directions were normals of faces.
    face, point, least = top, (0.0, 0.0, 0.0), inf
    for f in range(faces - 1, -1, -1):
        if p.fi[f, 6] == 1 and p.ff[f, 3] <= c.error:
            q, _ = closest_on_triangle(row3(p.v, p.fi[f, 0]), row3(p.v, p.fi[f, 1]), row3(p.v, p.fi[f, 2]), c.tiny)
            if dot(q, q) < least:
                least, point, face = dot(q, q), q, f
            if least <= (TOUCHING * c.tiny) ** 2:
                break
    length = sqrt(dot(point, point))
    if p.ff[face, 3] < 0.0 and length > TOUCHING * c.tiny:
        return face, divide(point, -length), length, True
    return face, normal_of(p, face), length, False


@kernel
def log_start(log: Array, p: Polytope) -> None:
    """Log the first tetrahedron of EPA."""
    write(log, EPA_START)
    for i in range(4):
        for j in range(VERTEX_ROW):
            write(log, p.v[i, j])
    for f in range(4):
        for e in range(3):
            write(log, float(p.fi[f, e]))


@kernel
def log_growth(
    log: Array, p: Polytope, support: tuple[Vec3, Vec3, Vec3, Vec3], face: int, bounds: tuple[float, float],
    faces: int, grown: int, removed: int,
) -> None:  # fmt: skip
    """Log a step of EPA: the vectors ``support`` (direction, w, a, b), the face, both bounds, added and removed faces.

    The added faces have the indices ``faces`` to ``grown`` - 1. The removed faces are on the stack.
    """
    write(log, EPA_STEP)
    for x in support:
        write3(log, x)
    write(log, float(face))
    write(log, bounds[0])
    write(log, bounds[1])
    write(log, float(max(grown - faces, 0)))
    for g in range(faces, grown):
        for e in range(3):
            write(log, float(p.fi[g, e]))
    write(log, float(removed))
    for k in range(removed):
        write(log, float(p.stack[k]))


@kernel
def stationary_cap(c: Cores, p: Polytope, face: int, width: float) -> tuple[Cap, float]:
    """Return the cap of directions around a stationary point, and the support value h(n) of the cap's direction n.

    The search for the stationary point starts at the vertices of a face and moves them along their branches. The cosine
    of the cap is 2 if no cap is found, or if h(n) exceeds the floor of the cap by more than ``width``.
    """
    n = normal_of(p, face)
    for i in range(3):
        for j in range(VERTEX_ROW):
            p.simplex[BRANCH_ROWS + i, j] = p.v[p.fi[face, i], j]
    stationary = find_stationary(c, p.simplex, plain(3), n, width)
    if stationary.branches == 0:
        return Cap(n, 0.0, 2.0), inf
    cap = cap_around(p.simplex, stationary)
    if cap.cosine > 1.0:
        return cap, inf
    w, _, _ = support_pair(c, cap.n)
    h = dot(cap.n, w)
    return Cap(cap.n, cap.floor, cap.cosine if h - cap.floor <= width else 2.0), h


@kernel
def take_stationary(p: Polytope, n: Vec3) -> tuple[float, float]:
    """Copy the stationary point's branches to simplex rows 0 to 2; return the ``front`` and ``rear`` (0) of `Depth`."""
    front = 0.0
    for i in range(3):
        for j in range(VERTEX_ROW + 1):
            p.simplex[i, j] = p.simplex[BRANCH_ROWS + i, j]
        front += p.simplex[i, 9] * dot(n, row3(p.simplex, i))
    return front, 0.0


@kernel
def finish(c: Cores, p: Polytope, depth: Depth, faces: int, face: int, how: tuple[bool, bool, bool, bool]) -> Depth:
    """Return the depth with ``front`` and ``rear``, and write the faces that `Depth` describes to the simplex.

    ``how`` has four flags: whether the origin is inside, whether the best normal is that of a stationary point, whether
    there is a cap, and whether ``rear`` is requested. A cap widens the upper bound by `LOG_WIDTH`, since the
    surface in a certificate lacks the faces inside the cap.
    """
    code, steps, least, best, outer, _, _ = depth
    inside, by_stationary, capped, two_sided = how
    p.mark[p.mark.shape[0] - 1] = faces if inside and code == CLOSED else 0  # read by `again`
    if capped:
        outer += LOG_WIDTH * c.size
    if inside:
        front, back = take_stationary(p, best) if by_stationary else reach_both_ways(p, faces, face, best, two_sided)
        return Depth(code, steps, least, best, outer, front, back)
    for i in range(3):
        for j in range(VERTEX_ROW):
            p.simplex[i, j] = p.v[p.fi[face, i], j]
    return depth


@kernel
def epa(c: Cores, width: float, two_sided: bool, seeded: bool, least: float, best: Vec3, workspace: Workspace) -> Depth:
    """Return the depth of two cores. If ``seeded``, EPA starts from GJK's tetrahedron in the simplex.

    The bounds are valid for each code. CLOSED: no point of A - B is more than ``width`` above the nearest face.
    OUTSIDE: the origin is outside, and the polytope's nearest point is the nearest point of A - B. FLAT: A - B is flat.
    STUCK: rounding stopped the loop. FULL: the workspace is too small.

    ``least`` and ``best`` are the best bound of GJK and its direction. ``two_sided`` requests `Depth.rear`.
    """
    p, log, most = polytope_in(workspace), workspace.log, capacity(workspace)
    if seeded:
        for i in range(4):
            for j in range(VERTEX_ROW):
                p.v[i, j] = p.simplex[i, j]
    if not seeded or is_sliver(p.v, c.tiny):
        dimension, first, direction, n = first_tetrahedron(c, p.v)
        if first < least:
            least, best = first, direction
        if dimension < 3:
            return flat_depth(c, p.v, dimension, n, least, best)
    waiting, inner = 4, first_faces(p)
    if log.shape[0] > 0:
        log_start(log, p)
    faces, points, steps = plain(4), plain(4), 0
    code, face, inside, by_stationary = FULL, -1, False, False
    smooth = have_branches(c) and not two_sided and log.shape[0] == 0  # a trace shows only EPA's own steps
    outer, trial, cap = inf, _FIRST_TRIAL if smooth else most, Cap(best, 0.0, 2.0)
    while points < most:
        waiting = compact(p, waiting) if steps % _TIDY == 0 else waiting
        at = lowest_face_waiting(p, waiting)
        face, key = (p.waiting[at], p.keys[at]) if at >= 0 else (face, inf)
        inside = key > c.error
        if inside and key < cap.floor and in_cap(cap, normal_of(p, face), key):
            p.keys[at] = cap.floor
            continue
        if inside and log.shape[0] == 0 and least - key <= width:  # the last step of a log has the final surface
            code, outer = CLOSED, min(outer, -min(key, least))  # the key of a face outside the queue is >= ``least``
            break
        if inside and not by_stationary and steps >= trial:
            tried, h = stationary_cap(c, p, face, width)
            steps += 1
            trial = 2 * steps
            if tried.cosine <= 1.0:
                cap, by_stationary = tried, h <= least + width
                least, best = (h, tried.n) if by_stationary else (least, best)
                continue
        if inside:
            d, length, astray = normal_of(p, face), -key, False
        else:
            face, d, length, astray = nearest_face(p, face, faces, c)
        outer = min(outer, length)
        w, a, b = support_pair(c, d)
        steps += 1
        h = dot(d, w)
        if h < (cap.floor if by_stationary else least):
            least, best, by_stationary = h, d, False
        # if the support point is already a vertex, the polytope cannot grow there
        clear = inside and h + length > AS_GOOD * c.tiny
        code = STUCK if not clear and is_vertex(p.v, points, w) else FULL
        if inside:
            code = CLOSED if h + length <= width else code
        elif h + (length if astray else -p.ff[face, 3]) <= (width if astray else max(width, c.tiny)):
            code = OUTSIDE
        grown, removed = -1, 0
        if code == FULL:
            if faces + 2 * points + 8 > p.ff.shape[0]:
                break
            set_row(p.v, points, w, a, b)
            visible = lowest_face(p, faces, w, c.tiny) if astray else face
            grown, removed = add_vertex(p, visible, points, faces, inner, c.tiny)
            code = FULL if grown > 0 else STUCK
        if log.shape[0] > 0:
            log_growth(log, p, (d, w, a, b), face, (-least, outer), faces, grown, removed)
        if code != FULL:
            break
        waiting = enqueue(p, waiting, faces, grown, least if least > c.error and log.shape[0] == 0 else inf)
        faces = grown
        points += 1
    depth = Depth(code, steps, least, best, outer, -1.0, -1.0)
    return finish(c, p, depth, faces, face, (inside, by_stationary, cap.cosine <= 1.0, two_sided))


_WIDE = 0.01  #: squared sine of the angle between two edges, above which their cross product is an accurate normal


class Polytope(NamedTuple):
    """EPA's polytope in its workspace; see `gjk3d.narrow.workspace`."""

    simplex: Array2
    v: Array2  #: vertex rows
    ff: Array2  #: floats of faces: normal, key, which is the distance of the face's plane from the origin
    fi: Ints2  #: integers of faces: vertices, neighbours, state (0 removed, 1 alive, 2 visible), index in the queue
    keys: Array1  #: keys of the queued faces, inf for removed faces
    waiting: Ints1  #: queue of faces that may have to be split, oldest first
    stack: Ints1  #: visible faces
    rim: Ints2  #: edges of the horizon: start vertex, end vertex, face behind the edge
    mark: Ints1  #: for each vertex, the face of the fan at the horizon edge that starts at the vertex


@kernel
def polytope_in(workspace: Workspace) -> Polytope:
    """Return the views of a workspace that EPA uses."""
    work, table, points = workspace.work, workspace.table, capacity(workspace)
    cap = FACES_PER_POINT * points
    o = VERTEX_ROW * points
    end = 10 * cap + 3 * (2 * points + 16)
    vertices, faces, keys = work[:o].reshape(points, VERTEX_ROW), work[o : o + 4 * cap], work[o + 4 * cap : o + 5 * cap]
    queue, stack, rim = table[8 * cap : 9 * cap], table[9 * cap : 10 * cap], table[10 * cap : end]
    return Polytope(
        workspace.simplex, vertices, faces.reshape(cap, 4), table[: 8 * cap].reshape(cap, 8), keys, queue, stack,
        rim.reshape(2 * points + 16, 3), table[end : end + points + 1],
    )  # fmt: skip


@kernel
def normal_of(p: Polytope, f: int) -> Vec3:
    """Return the unit normal of face f."""
    return row3(p.ff, f)


@inlined
def add_face(p: Polytope, f: int, i: int, j: int, k: int) -> bool:
    """Store face f with its vertices i, j and k, its unit normal and its key; return False if the face is too thin.

    The key is the distance of the face's plane from the origin.
    """
    a, b, c = row3(p.v, i), row3(p.v, j), row3(p.v, k)
    ab, ac = sub(b, a), sub(c, a)
    n = cross(ab, ac)
    square = dot(n, n)
    if not square > _WIDE * dot(ab, ab) * dot(ac, ac):
        n = triangle_normal(a, b, c)
        square = dot(n, n)
    p.fi[f, 0], p.fi[f, 1], p.fi[f, 2] = i, j, k
    p.fi[f, 6] = 1
    if not square > NO_LENGTH * NO_LENGTH:
        return False
    n = scale(1.0 / sqrt(square), n)
    p.ff[f, 0], p.ff[f, 1], p.ff[f, 2] = n
    p.ff[f, 3] = min(dot(n, a), dot(n, b), dot(n, c))
    return True


@kernel
def first_faces(p: Polytope) -> Vec3:
    """Add the faces of the first tetrahedron to the queue, wound outward; return the centre of the tetrahedron."""
    # The centre orients all later faces, independent of the origin.
    p0, p1, p2, p3 = first_four(p.v)
    inner = scale(0.25, (p0[0] + p1[0] + p2[0] + p3[0], p0[1] + p1[1] + p2[1] + p3[1], p0[2] + p1[2] + p2[2] + p3[2]))
    if dot(triangle_normal(p0, p1, p2), sub(p3, p0)) > 0.0:
        for j in range(VERTEX_ROW):
            p.v[1, j], p.v[2, j] = p.v[2, j], p.v[1, j]
    for f in range(4):
        i, j, k = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))[f]
        add_face(p, f, i, j, k)
        p.fi[f, 3], p.fi[f, 4], p.fi[f, 5] = ((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))[f]
        p.waiting[f], p.keys[f], p.fi[f, 7] = f, p.ff[f, 3], f
        p.mark[f] = -1
    return inner


@inlined
def enqueue(p: Polytope, count: int, faces: int, grown: int, most: float) -> int:
    """Add the new faces with keys below ``most`` to the queue; return the length of the queue.

    The key of a face is the distance of its plane from the origin. ``count`` is the length of the queue before the
    call. The new faces have the indices ``faces`` to ``grown`` - 1.
    """
    nowhere = p.keys.shape[0] - 1  # a slot for faces that are not queued
    for f in range(faces, grown):
        key = p.ff[f, 3]
        near = key < most
        p.fi[f, 7] = count if near else nowhere
        p.waiting[count], p.keys[count] = f, key
        count += 1 if near else 0
    return count


@inlined
def lowest_face_waiting(p: Polytope, count: int) -> int:
    """Return the queue index of the face whose plane is nearest to the origin, or -1 if the queue is empty.

    If several planes are equally near, the oldest face is returned.
    """
    # The queue is short, because it contains no faces beyond the best bound of the depth. A linear scan is therefore
    # cheaper than a heap, whose branches are unpredictable.
    at, least = -1, inf
    for i in range(count):
        key = p.keys[i]
        at = i if key < least else at
        least = key if key < least else least
    return at


@kernel
def compact(p: Polytope, count: int) -> int:
    """Remove dead faces from the queue of length ``count``; return its new length."""
    count_left = 0
    for i in range(count):
        f, key = p.waiting[i], p.keys[i]
        if key < inf:
            p.waiting[count_left], p.keys[count_left], p.fi[f, 7] = f, key, count_left
            count_left += 1
    return count_left


@inlined
def horizon(p: Polytope, seed: int, w: Vec3, threshold: float, faces: int) -> tuple[int, int, bool]:
    """Write the faces visible from w to the stack, and the edges of their boundary, the horizon, to ``rim``.

    Returns the number of faces, the number of edges, and whether no two edges start at the same vertex. The search
    starts at the visible face ``seed``. A face is visible if w is more than ``threshold`` above its plane. Visible
    faces get the state 2. The start vertex of an edge is marked with the index of the new face at this edge.
    """
    fi, ff, v, stack, rim, mark = p.fi, p.ff, p.v, p.stack, p.rim, p.mark
    fi[seed, 6] = 2
    stack[0] = seed
    depth, at, edges, good = 1, 0, 0, True
    while at < depth:
        f = stack[at]
        at += 1
        for e in range(3):
            g = fi[f, 3 + e]
            if fi[g, 6] == 2:
                continue
            if dot(row3(ff, g), sub(w, row3(v, fi[g, 0]))) > threshold:
                fi[g, 6] = 2  # marked before it is popped, so that no face is pushed twice
                stack[depth] = g
                depth += 1
            else:
                i = fi[f, e]
                good = good and mark[i] < faces
                mark[i] = faces + edges
                rim[edges, 0], rim[edges, 1], rim[edges, 2] = i, fi[f, e + 1 if e < 2 else 0], g
                edges += 1
    return depth, edges, good


@inlined
def add_fan(p: Polytope, edges: int, new: int, faces: int, inner: Vec3) -> bool:
    """Add the faces between the edges of the horizon and the vertex ``new``, in cyclic order from index ``faces``.

    Returns False if the horizon is not one cycle, or if a face is too thin or wound inward about ``inner``.
    """
    fi, rim, mark = p.fi, p.rim, p.mark
    up = sub(row3(p.v, new), inner)
    k = 0
    for f in range(faces, faces + edges):
        if not add_face(p, f, rim[k, 0], rim[k, 1], new):
            return False
        if not dot(row3(p.ff, f), up) > 0.0:
            return False
        fi[f, 3], fi[f, 4], fi[f, 5] = rim[k, 2], f + 1, f - 1
        k = mark[rim[k, 1]] - faces
        if k < 0 or (k == 0) != (f == faces + edges - 1):
            return False
    fi[faces, 5], fi[faces + edges - 1, 4] = faces + edges - 1, faces
    return True


@inlined
def sew(p: Polytope, edges: int, faces: int) -> None:
    """Set the new faces as neighbours of the faces behind the horizon."""
    fi = p.fi
    for f in range(faces, faces + edges):
        g, j = fi[f, 3], fi[f, 1]
        fi[g, 3 if fi[g, 0] == j else (4 if fi[g, 1] == j else 5)] = f


@inlined
def expand(p: Polytope, seed: int, new: int, faces: int, inner: Vec3, threshold: float) -> tuple[int, int]:
    """Replace the faces visible from the vertex ``new`` by a fan; return the new face count and the number of removed.

    If the horizon is not one simple cycle, or a new face is not wound outward, nothing changes, and -1 and 0 are
    returned.
    """
    p.mark[new] = -1
    depth, edges, good = horizon(p, seed, row3(p.v, new), threshold, faces)
    good = good and edges >= 3 and add_fan(p, edges, new, faces, inner)
    if not good:
        for k in range(depth):
            p.fi[p.stack[k], 6] = 1
        for k in range(edges):
            p.mark[p.rim[k, 0]] = -1
        return -1, 0
    for k in range(depth):
        f = p.stack[k]
        p.fi[f, 6] = 0
        p.keys[p.fi[f, 7]] = inf
    sew(p, edges, faces)
    return faces + edges, depth


@kernel
def lowest_face(p: Polytope, faces: int, w: Vec3, tiny: float) -> int:
    """Return the index of the live face above whose plane w is highest, or -1 if no height is more than ``tiny``."""
    seed, most = -1, tiny
    for g in range(faces):
        if p.fi[g, 6] == 1:
            above = dot(normal_of(p, g), sub(w, row3(p.v, p.fi[g, 0])))
            if above > most:
                most, seed = above, g
    return seed


@kernel
def add_vertex(p: Polytope, seed: int, new: int, faces: int, inner: Vec3, tiny: float) -> tuple[int, int]:
    """Add the vertex ``new`` by `expand`; return the new face count and the number of removed faces, or -1 and 0.

    `expand` is called with the thresholds ``tiny``, 0 and ``-tiny`` until it succeeds. If it never succeeds, or if
    ``seed`` is negative, -1 and 0 are returned.
    """
    if seed < 0:
        return -1, 0
    for k in range(3):
        grown, removed = expand(p, seed, new, faces, inner, (1.0 - k) * tiny)
        if grown > 0:
            return grown, removed
    return -1, 0


@kernel
def areas_along(p: Polytope, f: int, e1: Vec3, e2: Vec3) -> Vec3:
    """Return twice the signed areas of the origin with edges 12, 20 and 01 of face f, projected on e1 and e2."""
    # All are positive if the ray along e1 x e2 pierces the face from inside. This form does not suffer from
    # cancellation.
    a, b, c = row3(p.v, p.fi[f, 0]), row3(p.v, p.fi[f, 1]), row3(p.v, p.fi[f, 2])
    ax, ay, bx, by, cx, cy = dot(e1, a), dot(e2, a), dot(e1, b), dot(e2, b), dot(e1, c), dot(e2, c)
    return (bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx)


@kernel
def pierced(p: Polytope, faces: int, likely: int, n: Vec3, row: int) -> float:
    """Write the face that the ray from the origin along n hits to three rows of the simplex, starting at ``row``.

    The weights of the rows are those of the hit. Returns the distance from the origin to the hit. The face ``likely``
    is tried first, then all others.
    """
    # The hit gives the witness points of an overlap. It is a convex combination of points of A - B, and is on the ray
    # to the last bit, independent of the reason for the end.
    s = p.simplex
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    chosen = likely
    u = areas_along(p, likely, e1, e2)
    if not min(u[0], u[1], u[2]) > 0.0:
        chosen = -1
        best = -inf
        for f in range(faces):
            if p.fi[f, 6] != 1:
                continue
            w = areas_along(p, f, e1, e2)
            total = w[0] + w[1] + w[2]
            if total > 0.0:
                worst = min(w[0], w[1], w[2]) / total
                if worst > best:
                    best = worst
                    chosen = f
                    u = (max(w[0], 0.0), max(w[1], 0.0), max(w[2], 0.0))
        if chosen < 0:  # never observed; any point of the polytope is valid here
            chosen = 0
            while p.fi[chosen, 6] != 1:
                chosen += 1
            u = (1.0, 0.0, 0.0)
    total = u[0] + u[1] + u[2]
    s[row, 9], s[row + 1, 9], s[row + 2, 9] = u[0] / total, u[1] / total, u[2] / total
    length = 0.0
    for i in range(3):
        for j in range(9):
            s[row + i, j] = p.v[p.fi[chosen, i], j]
        length += s[row + i, 9] * dot(n, row3(p.v, p.fi[chosen, i]))
    return length


@kernel
def reach_both_ways(p: Polytope, faces: int, chosen: int, n: Vec3, two_sided: bool) -> tuple[float, float]:
    """Return the distance from the origin inside the polytope to its surface along n, and that along -n.

    The second is 0 if not ``two_sided``. The faces that the rays hit are written to rows 0 to 2 and 3 to 5 of the
    simplex. The face ``chosen`` is tested first.
    """
    if p.fi[chosen, 6] != 1:  # the last step removed this face, and added the last faces
        chosen = faces - 1
    front, rear = 0.0, 0.0
    for side in range(2 if two_sided else 1):
        if side == 0:
            front = pierced(p, faces, chosen, n, 3 * side)
        else:
            rear = pierced(p, faces, chosen, neg(n), 3 * side)
    return front, rear


#: least height of a tetrahedron, and of its base triangle, relative to the longest edge of the base
_SLIVER = 1e-3
_DIAGONAL, _SIXTH = 0.7071067811865476, 0.8660254037844386
#: eight unit vectors in the plane, 45 degrees apart
EIGHT = (
    (1.0, 0.0), (_DIAGONAL, _DIAGONAL), (0.0, 1.0), (-_DIAGONAL, _DIAGONAL),
    (-1.0, 0.0), (-_DIAGONAL, -_DIAGONAL), (0.0, -1.0), (_DIAGONAL, -_DIAGONAL),
)  # fmt: skip


@kernel
def farthest_apart(v: Array, count: int) -> tuple[int, int, float]:
    """Return the indices of the two most distant of the first ``count`` vertices, and the square of their distance."""
    i0, i1, far = 0, 0, 0.0
    for i in range(count):
        for j in range(i + 1, count):
            e = sub(row3(v, i), row3(v, j))
            if dot(e, e) > far:
                far = dot(e, e)
                i0, i1 = i, j
    return i0, i1, far


@kernel
def first_tetrahedron(c: Cores, v: Array) -> tuple[int, float, Vec3, Vec3]:
    """Write distant support points of A - B to v[:4]; return A - B's dimension, least h(n), and two directions.

    The tried directions are the six axis directions, then eight around the line of two points, then the two normals of
    three points. h is the support value. The dimension is 3 unless A - B is flat, a segment or a point. The first
    returned direction is that of the least h(n). The second is the normal of a flat A - B.
    """
    least = inf
    best = (1.0, 0.0, 0.0)
    # the farthest pair of these six points spans at least the diameter divided by the root of three
    for k in range(6):
        s = 1.0 if k < 3 else -1.0
        d = (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)
        w, a, b = support_pair(c, d)
        set_row(v, k, w, a, b)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    i0, i1, far = farthest_apart(v, 6)
    if not sqrt(far) > c.tiny:
        return 0, least, best, best
    for j in range(VERTEX_ROW):
        v[6, j] = v[i0, j]
        v[1, j] = v[i1, j]
        v[0, j] = v[6, j]
    p0, p1, _, _ = first_four(v)
    line = unit(sub(p1, p0))
    u1 = perpendicular(line)
    u2 = cross(line, u1)
    far, slot = 0.0, plain(2)
    for k in range(8):
        x, y = EIGHT[k]
        d = (x * u1[0] + y * u2[0], x * u1[1] + y * u2[1], x * u1[2] + y * u2[2])
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        e = cross(line, sub(w, p0))
        if dot(e, e) > far:
            far = dot(e, e)
            set_row(v, slot, w, a, b)
    if not sqrt(far) > c.tiny:
        return 1, least, best, u1
    p0, p1, p2, _ = first_four(v)
    n = unit(triangle_normal(p0, p1, p2))
    far = 0.0
    for k in range(2):
        d = n if k == 0 else neg(n)
        w, a, b = support_pair(c, d)
        if dot(d, w) < least:
            least, best = dot(d, w), d
        height = abs(dot(n, sub(w, p0)))
        if height > far:
            far = height
            set_row(v, slot + 1, w, a, b)
    return 3 if far > c.tiny else 2, least, best, n


@kernel
def tetrahedron_round(c: Cores, n: Vec3, v: Array) -> tuple[float, Vec3]:
    """Write the support points along three directions at 45 degrees to n, and along -n, to v[:4].

    Returns the least support value of these directions, and its direction.
    """
    u1 = perpendicular(n)
    u2 = cross(n, u1)
    least, best = inf, n
    for k in range(4):
        x, y, z = ((1.0, 0.0, 1.0), (-0.5, _SIXTH, 1.0), (-0.5, -_SIXTH, 1.0), (0.0, 0.0, -1.0))[k]
        d = unit(blend(x, u1, y, u2, z, n))
        w, a, b = support_pair(c, d)
        set_row(v, k, w, a, b)
        if dot(d, w) < least:
            least, best = dot(d, w), d
    return least, best


@kernel
def is_sliver(v: Array, tiny: float) -> bool:
    """Return whether the tetrahedron of the first four vertices is too flat for the start of EPA."""
    p0, p1, p2, p3 = first_four(v)
    n = triangle_normal(p0, p1, p2)
    height = abs(dot(unit(n), sub(p3, p0)))
    longest = sqrt(max(dot(sub(p0, p1), sub(p0, p1)), dot(sub(p0, p2), sub(p0, p2)), dot(sub(p1, p2), sub(p1, p2))))
    wide = sqrt(dot(n, n)) > _SLIVER * longest * longest
    return not (height > _SLIVER * longest and wide and height > tiny)
