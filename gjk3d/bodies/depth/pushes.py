"""Normals of contacts of meshes: cones of normals, and pushes of faces.

The normal of a contact has to be in the normal cone of the body at its point. A body is the union of its parts. An edge
of a part need not be an edge of the body, for example an edge between two coplanar triangles, or the edges of a common
face of two boxes. A vector n is a proximal normal of the body at a point p if p is the nearest point of the body to p +
step n, for some step above 0 (Clarke, Optimization and Nonsmooth Analysis, 1983). At a flat or concave edge only the
normals of the faces are proximal. At a convex edge all vectors between the normals of its faces are proximal.

The pushes of faces are the directions and depths of contacts of intersecting meshes.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.base import (
    BOTTOM,
    CELL,
    CELLS_Y,
    CELLS_Z,
    COPIES,
    ENDLESS,
    FIRST_FLOAT,
    FIRST_INT,
    FRONT,
    LEFT,
    OPEN,
    PITCH,
    PITCH_X,
    PITCH_Y,
    PRISMS,
    TRIANGLES,
    PartTree,
    part_at,
    put_behind,
    top_of,
)
from gjk3d.bodies.depth.partings import outward_at, shifted
from gjk3d.bodies.tree_collision import APART, PosedPair, TreeScratch, faces_meet, holds, meet, parts_at
from gjk3d.bodies.triangles import Triangle, middle_of, nearest_on, normal_of, placed_triangle, read, set_vec, vec_at
from gjk3d.geometry.polygon import SHARP
from gjk3d.geometry.vec3 import (
    Rigid,
    Vec3,
    add,
    along,
    cross,
    dot,
    from_box,
    neg,
    offset,
    place,
    row3,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.geometry.vec3 import place as at
from gjk3d.narrow.cores import support_pair
from gjk3d.narrow.ray import HIT, cast
from gjk3d.narrow.solve import SIGNED, UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array2, Array3, Ints1, Ints2

# --- cones of normals ------------------------------------------------------------------------------------------------


SHORT, LONG = 1e-4, 1e-2  #: least and greatest step, relative to the size of the smaller part
_LEAST = 1e3  #: least step, in units of the error of positions
_PARALLEL = 1e-9  #: sine of the angle between vectors that count as parallel
_ROUNDED = 1e-9  #: tolerance of a position, in pitches
_INWARDS = 1e-3  #: share of the segment from the point to the middle of its triangle at which the probe starts
_ONLY = 0
_HEAD, _RADIUS, _RHO = layout.FLOAT_HEAD, layout.RADIUS, layout.RHO


class Probe(NamedTuple):
    """Parameters of the test of a normal."""

    step: float  #: distance of the probe from the point
    share: float  #: share of the step within which no other part may be. Below 1 the normal may be inclined.
    exact: bool  #: whether the point is exact up to rounding, as for a polytope
    inside: bool  #: whether the normal may lead into a closed mesh


@inlined
def shortest_probe(error: float, share: float, inside: bool) -> Probe:
    """Return the shortest probe that rounding allows."""
    return Probe(_LEAST * error, share, True, inside)


@kernel
def probe_at(a: Core, b: Core, error: float, depth: float, inside: bool) -> Probe:
    """Return the probe for the normal of a contact of two parts.

    The step is the depth, but at least `SHORT` and at most `LONG` times the size of the smaller part, and above
    rounding. If one part is a point, the size is that of the other. The lower limits keep the step above the gaps that
    rounding leaves between adjacent parts, and the upper limit keeps it below the size of features. Smaller details do
    not count.
    """
    size_a, size_b = a.floats[_RHO] + a.floats[_RADIUS], b.floats[_RHO] + b.floats[_RADIUS]
    exact = a.ints[layout.POLYTOPE] != 0 and b.ints[layout.POLYTOPE] != 0
    size = float(min(size_a, size_b) if min(size_a, size_b) > 0.0 else max(size_a, size_b))
    return Probe(max(min(max(depth, SHORT * size), LONG * size), _LEAST * error), 1.0, exact, inside)


@kernel
def probe_of(x: PosedPair, p: int, q: int, depth: float, inside: bool, w: TreeScratch) -> Probe:
    """Return the probe (`probe_at`) for the normal of a contact of part p of A and part q of B."""
    core_a, core_b = part_at(x.a, p, w.floats_a, w.row_a), part_at(x.b, q, w.floats_b, w.row_b)
    return probe_at(core_a, core_b, x.error, depth, inside)


@kernel
def is_parallel(n: Vec3, m: Vec3) -> bool:
    """Return whether two vectors are parallel or opposite. The zero vector is parallel to all."""
    c = cross(n, m)
    return dot(c, c) <= _PARALLEL * _PARALLEL * dot(n, n) * dot(m, m)


@kernel
def _is_bare(t: PartTree, k: int, n: Vec3) -> bool:
    """Return whether n is normal to the exposed face of part k: the triangle of a mesh, or the top of a column."""
    if t.kind == PRISMS:
        return n[2] > 0.0 and is_parallel(n, normal_of(top_of(t, t.table[k, CELL])))
    return t.kind == TRIANGLES and t.floats[0] == 0.0 and is_parallel(n, normal_of(read(t.places, k)))


@kernel
def _is_close(near: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float, radius: float) -> bool:
    """Return whether a part is nearer to p + step n than ``probe.share`` of the step.

    The part is rounded by ``radius``. ``near`` is its point nearest to p + step n without the rounding.
    """
    p, step = along(p, n, -radius), probe.step + radius
    # |near - p - step n| < share step, without the rounding of either length
    e = sub(near, p)
    square, ahead, slack = dot(e, e), dot(e, n), error if probe.exact else 0.0
    if square <= 16.0 * error * error or not ahead > error - 2.0 * slack:
        return False  # the point itself, or a point next to it
    return square < 2.0 * step * (ahead + slack) - (1.0 - probe.share * probe.share) * step * step


@kernel
def _is_triangle_near(
    t: Triangle, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float, radius: float
) -> bool:  # fmt: skip
    """Return whether the point of a triangle nearest to q = p + step n is too close to q (`_is_close`)."""
    # most triangles do not have a corner ahead of p
    ahead = max(dot(t[0], n), max(dot(t[1], n), dot(t[2], n))) - dot(along(p, n, -radius), n)
    if ahead < -4.0 * error:
        return False
    _, near = nearest_on(q, t)
    return _is_close(near, p, n, probe, error, radius)


@inlined
def _within(x: float, half: float) -> float:
    return min(max(x, -half), half)


@kernel
def _is_nearer(x: PosedPair, k: int, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether part k of A is too near (`_is_close`) to p + step n, the place of B, a body of one point."""
    q = offset(x.m)
    if x.a.kind == TRIANGLES:
        return _is_triangle_near(read(x.a.places, k), q, p, n, probe, x.error, x.a.floats[0])
    core = part_at(x.a, k, w.floats_a, w.row_a)
    f, kind = core.floats, core.ints[layout.KIND]
    if kind == layout.BOX or kind == layout.POINT:
        middle = place(w.row_a, (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2]))
        local, inner = turn_back(w.row_a, sub(q, middle)), (0.0, 0.0, 0.0)
        if kind == layout.BOX:
            inner = (_within(local[0], f[_HEAD]), _within(local[1], f[_HEAD + 1]), _within(local[2], f[_HEAD + 2]))
        e = sub(local, inner)
        if dot(e, e) <= f[_RADIUS] * f[_RADIUS]:
            return True
        return _is_close(add(turn(w.row_a, inner), middle), p, n, probe, x.error, f[_RADIUS])
    solve(parts_at(x, k, _ONLY, w), UNSIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, _ONLY)
    if not w.out[0, 0] > 0.0:
        return True
    return _is_close((w.out[0, 6], w.out[0, 7], w.out[0, 8]), p, n, probe, x.error, 0.0)


@inlined
def _is_left(a: Vec3, b: Vec3, p: Vec3) -> bool:
    """Return whether p is left of the line from a to b or on it, seen from above."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) >= 0.0


@kernel
def _is_ground_near(t: PartTree, k: int, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return whether p + step n is inside a column of the height field other than column k, or too near to its top."""
    q, own_cell = along(p, n, probe.step), t.table[k, CELL]
    if q[2] < t.floats[BOTTOM]:
        return bool(t.floats[ENDLESS] > -inf)
    nx, ny = t.places.shape[0] - 1, t.places.shape[1] - 1
    u, v = (q[0] - t.floats[LEFT]) / t.floats[PITCH_X], (q[1] - t.floats[FRONT]) / t.floats[PITCH_Y]
    du, dv = probe.step / t.floats[PITCH_X] + _ROUNDED, probe.step / t.floats[PITCH_Y] + _ROUNDED
    # only the cells within a step of q can be near
    for i in range(max(int(u - du), 0), min(int(u + du) + 1, nx)):
        for j in range(max(int(v - dv), 0), min(int(v + dv) + 1, ny)):
            for half in range(2):
                number = 2 * (i * ny + j) + half
                if number == own_cell:
                    continue
                a, b, c = top_of(t, number)
                under = dot(cross(sub(b, a), sub(c, a)), sub(q, a)) < 0.0
                if under and _is_left(a, b, q) and _is_left(b, c, q) and _is_left(c, a, q):
                    return True
                _, near = nearest_on(q, (a, b, c))
                if _is_close(near, p, n, probe, error, 0.0):
                    return True
    return False


@kernel
def _is_part_near(x: PosedPair, k: int, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether a part of A other than part k is too near to p + step n, the place of B, a body of one point."""
    # the distance of a box bounds that of its parts up to rounding, and `_is_close` decides
    stack, q, far = w.stack, offset(x.m), x.a.rim + probe.step + x.error
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if from_box(q, x.a.boxes, i) > far * far:
            continue
        if x.a.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = x.a.links[i, 0], x.a.links[i, 0] + 1
            top += 2
            continue
        for j in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            if j != k and _is_nearer(x, j, p, n, probe, w):
                return True
    return False


@inlined
def _is_neighbour_near(t: PartTree, k: int, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return whether a triangle across an edge of triangle k is too near to q = p + step n.

    The neighbours in ``t.table`` decide most normals at flat and concave edges, without a traversal of the tree.
    """
    if t.kind == TRIANGLES and t.table.shape[0] > 1:
        for c in range(3):
            j = t.table[k, c]
            if j != k and _is_triangle_near(read(t.places, j), q, p, n, probe, error, t.floats[0]):
                return True
    return False


@kernel
def _is_cell_near(t: PartTree, k: int, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return whether a part of a voxel grid other than part k is too near to q = p + step n (`_is_part_near`).

    Only the cells around q are tested. ``t.skin`` has the part of each cell, see `gjk3d.bodies.parts.Copies.in_cells`.
    """
    pitch, ny, nz, last = t.span[PITCH], int(t.span[CELLS_Y]), int(t.span[CELLS_Z]), k
    u, v, s = (q[0] - t.span[0]) / pitch, (q[1] - t.span[1]) / pitch, (q[2] - t.span[2]) / pitch
    reach = (probe.step + error) / pitch + _ROUNDED
    for i in range(max(int(u - reach), 0), min(int(u + reach) + 1, t.skin.shape[0] // (ny * nz))):
        for j in range(max(int(v - reach), 0), min(int(v + reach) + 1, ny)):
            for c in range(max(int(s - reach), 0), min(int(s + reach) + 1, nz)):
                part = t.skin[(i * ny + j) * nz + c]
                if part < 0 or part in (k, last):
                    continue
                last = part
                f = t.floats[t.table[part if t.table.shape[0] > 1 else 0, FIRST_FLOAT] + _HEAD :]
                middle = (t.places[part, 0], t.places[part, 1], t.places[part, 2])
                local = sub(q, middle)
                inner = (_within(local[0], f[0]), _within(local[1], f[1]), _within(local[2], f[2]))
                e = sub(local, inner)
                if dot(e, e) == 0.0 or _is_close(add(inner, middle), p, n, probe, error, 0.0):
                    return True
    return False


@inlined
def _is_single(t: PartTree) -> bool:
    """Return whether the body is a single part, or a cloud of balls."""
    lone = t.links[0, 0] < 0 and t.links[0, 2] == 1
    return lone or (t.kind == COPIES and t.ints[t.table[0, FIRST_INT] + layout.KIND] == layout.POINT)


@kernel
def is_sure(t: PartTree, k: int, n: Vec3, inside: bool) -> bool:
    """Return whether a normal of part k is certain without a probe: of a single part, a face, or a ball of a cloud.

    With ``inside``, normals may lead into a closed mesh, so no normal of a closed mesh is certain.
    """
    return not (inside and t.inside != OPEN) and (_is_single(t) or _is_bare(t, k, n))


@kernel
def is_normal(t: PartTree, k: int, origin: PartTree, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether n, a proximal normal of part k at p, is a proximal normal of the whole body.

    n and p are in the body's frame. ``origin`` is a body of one point at the origin.
    """
    bare, free_ahead = _is_bare(t, k, n), not probe.inside or t.inside == OPEN
    if free_ahead and (bare or _is_single(t)):
        return True
    q = along(p, n, probe.step)
    error = ROUNDING * (t.reach + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
    # the cells around the point replace the tree for a height field
    if not bare and t.kind == PRISMS and _is_ground_near(t, k, p, n, probe, error):
        return False
    if not bare and t.kind != PRISMS:
        to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2])
        if _is_neighbour_near(t, k, q, p, n, probe, error):
            return False
        if t.kind == COPIES and t.skin.shape[0] > 0:
            if _is_cell_near(t, k, q, p, n, probe, error):
                return False
        elif _is_part_near(PosedPair(t, origin, to, error), k, p, n, probe, w):
            return False
    if free_ahead:
        return True
    if not bare:
        return bool(holds(t, q, w) == APART)
    # a corner of a wall between two closed parts may be on the surface, so the probe starts inside the wall's triangle
    start = along(p, sub(middle_of(read(t.places, k)), p), _INWARDS)
    # near its intersection with another part, a face inside the body is close to the outside
    ahead, near = along(start, n, probe.step), along(start, n, _LEAST * error)
    return bool(holds(t, ahead, w) == APART and holds(t, near, w) == APART)


@kernel
def is_contact(
    x: PosedPair, p: int, q: int, origin: PartTree, a: Vec3, b: Vec3, n: Vec3, probe: Probe, w: TreeScratch
) -> bool:  # fmt: skip
    """Return whether n at point a of part p, and -n at point b of part q, are normals of A and B as in `is_normal`."""
    if not is_normal(x.a, p, origin, a, n, probe, w):
        return False
    return is_normal(x.b, q, origin, turn_back(x.m, sub(b, offset(x.m))), turn_back(x.m, neg(n)), probe, w)


# --- pushes of faces -------------------------------------------------------------------------------------------------


_MUCH = 2.0  #: greatest ratio of the depth of a push to that of the shortest translation of two faces
_FAR = 8.0  #: greatest ratio if the shortest translation leads into a mesh
LEVEL = 1e-9  #: sine of the angle below which a direction is along a plane
CORNERS = 12  #: greatest number of corners of a triangle that is cut by the planes of `depth_behind`
#: columns of the notes on a pair of faces: depth of the shortest push, state, direction and point of the push
BEST, STATE, DIRECTION, LOW = 0, 1, 2, 5
NOTED = 8  #: number of these columns
#: states of a pair: unknown, the normal is one of both bodies, the normal leads into a body, no contact, pushed
PLAIN, NORMAL, INWARDS, _LOST, PUSHED = 0.0, 1.0, 2.0, 3.0, 4.0
_ZERO = (0.0, 0.0, 0.0)
_FIRST = 0


class PairContacts(NamedTuple):
    """The intersecting and near pairs of parts of all poses (`ListedPairs`), and notes on the pairs of one pose."""

    pairs: Ints2
    out: Array2  #: results of the pairs in the format of `gjk3d.narrow.solve`, which pushes change
    lowest: Array2  #: lowest point of a user's shape above each face, otherwise without rows
    outward_a: Array2  #: outward normals of the parts of A, or one row of zeros
    outward_b: Array2
    pushes_a: bool  #: whether the faces of A bound a solid and push B
    pushes_b: bool
    walls: bool  #: whether a mesh may have inner walls
    planes: Array2  #: planes of a shape B, see `gjk3d.convex.solve`
    room: Array3  #: scratch, (2, `CORNERS`, 3)
    noted: Array2  #: (n, `NOTED`) notes on the pairs of one pose
    some: Ints1  #: indices of the selected pairs


@kernel
def _clipped(p: Array2, count: int, at: Vec3, m: Vec3, slack: float, q: Array2) -> int:
    """Write the part of polygon p behind the plane through ``at`` with normal m into q; return its corner count."""
    written = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        p0, p1 = row3(p, i), row3(p, j)
        h, g = dot(m, sub(p0, at)) - slack, dot(m, sub(p1, at)) - slack
        if h <= 0.0:
            set_vec(q[written], 0, p0)
            written += 1
        if (h < 0.0 and g > 0.0) or (h > 0.0 and g < 0.0):
            s = h / (h - g)
            for axis in range(3):
                q[written, axis] = p0[axis] + s * (p1[axis] - p0[axis])
            written += 1
    return written


@kernel
def depth_behind(face: Triangle, triangle: Triangle, n: Vec3, error: float, room: Array3) -> tuple[float, Vec3]:
    """Return the greatest depth of a triangle below the plane of a face with the normal n, and the point at this depth.

    Only points in the column of the face count, which extends along n and -n, and ends at sharp corners as in
    `gjk3d.geometry.polygon.cut_by`. Without such a point, the depth is inf.
    """
    p, q = room[0], room[1]
    count = 3
    for i in range(3):
        set_vec(p[i], 0, triangle[i])
    before = sub(face[0], face[2])
    was = sqrt(dot(before, before))
    for i in range(3):
        start, edge = face[i], sub(face[(i + 1) % 3], face[i])
        length = sqrt(dot(edge, edge))
        m = cross(edge, n)
        if dot(m, before) < 0.0:
            m = neg(m)
        count = _clipped(p, count, start, m, error * length, q)
        p, q = q, p
        # a sharp corner: the column ends at the bisector plane, see `gjk3d.geometry.polygon.cut_by`
        if dot(edge, before) < -SHARP * length * was:
            m = sub(scale(length, before), scale(was, edge))
            count = _clipped(p, count, start, m, error * sqrt(dot(m, m)), q)
            p, q = q, p
        before, was = edge, length
    top = dot(n, face[0])
    deep, low = inf, triangle[0]
    for i in range(count):
        depth = top - dot(n, row3(p, i))
        if i == 0 or depth > deep:
            deep, low = depth, row3(p, i)
    return deep, low


@kernel
def _below(
    core: Core, pose: Array, planes: Array, face: Triangle, n: Vec3, lowest: Vec3, error: float
) -> tuple[float, Vec3]:
    """Return the depth of a shape behind a face, and the point at this depth, as `depth_behind` does for a triangle.

    The point is ``lowest``, the deepest point of the shape, if it is below the face. Otherwise it is on the normal
    through the nearest point of the face, and the depth is inf if the shape is not on this normal.
    """
    deep = dot(n, sub(face[0], lowest))
    up = along(lowest, n, deep)
    square, over = nearest_on(up, face)
    if square <= error * error:
        return deep, lowest
    reach, away = 0.0, 0.0
    for k in range(3):
        reach, away = max(reach, abs(lowest[k])), max(away, abs(face[0][k]), abs(face[1][k]), abs(face[2][k]))
    start = along(over, n, -4.0 * (reach + away))
    code, t, _ = cast(core.ints, core.floats, planes, pose, start, n, inf)
    below = along(start, n, t if code == HIT else 0.0)
    far = dot(n, sub(over, below))
    return (far if code == HIT and far >= -error else inf), below


@kernel
def _note(row: Array, normal: Vec3, direction: Vec3, deep: float, low: Vec3) -> None:
    """Store the direction, depth and point of a push unless a shorter one is stored.

    The pair is marked if its normal leads into the mesh that pushes.
    """
    if dot(direction, normal) < -LEVEL:
        row[STATE] = INWARDS
    if deep < row[BEST]:
        row[BEST] = deep
        set_vec(row, DIRECTION, direction)
        set_vec(row, LOW, low)


@kernel
def _note_pushes(
    x: PosedPair, meshes: bool, f: PairContacts, start: int, stop: int, origin: PartTree, w: TreeScratch
) -> None:
    """Store the direction, depth and point of the shortest push of each pair by a face of a closed mesh.

    A shape is not pushed if its shortest separating translation is along a normal of the mesh.
    """
    core = part_at(x.b, _FIRST, w.floats_b, w.row_b)
    put_behind(x.m, w.row_b)
    error = 4.0 * x.error
    for j in range(start, stop):
        row, normal = f.noted[j - start], vec_at(f.out[j], 3)
        row[BEST], row[STATE] = inf, PLAIN
        p, q = f.pairs[j, 0], f.pairs[j, 1]
        n, face = outward_at(f.outward_a, p), read(x.a.places, p)
        pushes = f.pushes_a and dot(n, n) > 0.0
        # a convex shape is pushed by the mesh only
        if not meshes:
            own_normal = pushes and dot(n, normal) >= -LEVEL
            if own_normal and not is_sure(x.a, p, normal, f.walls):
                probe = probe_of(x, p, q, -f.out[j, 0], f.walls, w)
                put_behind(x.m, w.row_b)
                own_normal = is_normal(x.a, p, origin, vec_at(f.out[j], 6), normal, probe, w)
            if own_normal:
                row[STATE] = NORMAL
            elif pushes:
                if f.lowest.shape[0] > 0:
                    low = row3(f.lowest, j)
                else:
                    low = at(x.m, farthest_point(core, turn_back(x.m, neg(n))))
                deep, low = _below(core, w.row_b, f.planes, face, n, low, error)
                _note(row, normal, n, deep, low)
            continue
        triangle_b, v = placed_triangle(x.m, x.b.places, q), turn(x.m, outward_at(f.outward_b, q))
        if pushes:
            deep, low = depth_behind(face, triangle_b, n, error, f.room)
            _note(row, normal, n, deep, low)
        if f.pushes_b and dot(v, v) > 0.0:
            deep, high = depth_behind(triangle_b, face, v, error, f.room)
            _note(row, normal, sub(_ZERO, v), deep, along(high, v, deep) if deep < inf else high)


@kernel
def _push(f: PairContacts, start: int, stop: int, error: float) -> bool:
    """Apply pushes by the rules of `push_out`, and mark pairs without a contact; return whether no pair has one."""
    deepest, all_lost = 0.0, True
    for j in range(start, stop):
        if f.noted[j - start, STATE] != INWARDS:
            deepest = max(deepest, -f.out[j, 0])
    for j in range(start, stop):
        row, overlap = f.noted[j - start], -f.out[j, 0]
        best, inwards = row[BEST], row[STATE] == INWARDS
        sure = best < inf
        touch = sure and overlap <= error and best > max(_MUCH * deepest, error)
        if inwards and (touch or best > max(_FAR * overlap, max(_MUCH * deepest, error))):
            row[STATE] = _LOST
            continue
        all_lost = False
        if sure and not touch and (inwards or best <= _MUCH * overlap):
            direction, low, depth = vec_at(row, DIRECTION), vec_at(row, LOW), max(best, 0.0)
            f.out[j, 0] = f.out[j, 1] = f.out[j, 2] = 0.0 - depth
            set_vec(f.out[j], 3, direction)
            set_vec(f.out[j], 6, along(low, direction, depth))
            set_vec(f.out[j], 9, low)
            row[STATE] = PUSHED
    return all_lost


@kernel
def push_out(
    x: PosedPair, meshes: bool, f: PairContacts, start: int, stop: int, most: float, origin: PartTree, w: TreeScratch
) -> int:
    """Apply the pushes of faces of closed meshes, and select the pairs that have contacts.

    The push of a face of a closed mesh has the outward normal, the depth of the other body behind the face, and the
    deepest point there. The push usually replaces the shortest translation that separates two faces. The translation
    stays if it leads into neither mesh and the push is more than twice as long. If the translation leads into a mesh
    and the push is more than eight times as long, the pair has no contact. Examples are faces that cross near an edge
    or touch there from inside.

    A translation of the length ``most`` separates the bodies. Pairs that are deeper are left out, unless no pair would
    remain. If no pair has a contact, all pairs are treated as contacts. Return the number of selected pairs.
    """
    error = 4.0 * x.error
    _note_pushes(x, meshes, f, start, stop, origin, w)
    every = _push(f, start, stop, error)
    most += error
    # the second step drops the limit ``most``, so that at least one pair remains
    for step in range(2):
        count = 0
        for j in range(start, stop):
            if (every or f.noted[j - start, STATE] != _LOST) and (step == 1 or -f.out[j, 0] <= most):
                f.some[count] = j
                count += 1
        if count > 0:
            return count
    return 0


_LOOKS, _CLOSE_LOOKS = 10, 5  #: number of tested lengths along a direction, and number of the first with small steps
_LITTLE, _MORE = 1.2, 2.0  #: factors of small and of large steps between tested lengths
_NEARLY = 1.01  #: ratio of two lengths below which the longer is not improved


class Outer(NamedTuple):
    """A translation that is known to separate two bodies: that of their convex hulls, or one of the length ``most``."""

    a: PartTree  #: the convex hull of A, if ``of_hulls``
    b: PartTree
    of_hulls: bool  #: whether the translations of the hulls are used
    fixed: bool  #: whether ``most`` is given, so that no translation is searched
    most: float


@kernel
def _is_free(x: PosedPair, by: Vec3, meshes: bool, w: TreeScratch) -> bool:
    """Return whether the bodies are proven apart after a translation of B."""
    moved = shifted(x, by)
    return bool((faces_meet(moved, w) if meshes else meet(moved, 0.0, w)) == APART)


@kernel
def _past_hulls(x: PosedPair, outer: Outer, direction: Vec3, near: float, w: TreeScratch) -> float:
    """Return the length of a separating translation of the hulls.

    The translation is along ``direction`` if its length is at most ``near``, otherwise it is the least one. If the
    hulls are not used, the result is ``outer.most``.
    """
    if not outer.of_hulls:
        return outer.most
    c = parts_at(PosedPair(outer.a, outer.b, x.m, x.error), _ONLY, _ONLY, w)
    direction = turn_back(c.pose, direction)
    reach, _, _ = support_pair(c, direction)
    # covers the errors of the support point, of both poses, and of the translation
    far = float(max(dot(direction, reach) + c.radii, 0.0) + c.error + 4.0 * x.error)
    if far <= near:
        return far
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, _ONLY)
    return float(max(-w.out[0, 1], 0.0) + 4.0 * x.error)


@kernel
def freeing(x: PosedPair, meshes: bool, f: PairContacts, start: int, stop: int, outer: Outer, w: TreeScratch) -> float:
    """Return the length of the shortest of a few tested translations that separate B from A."""
    deepest, best, all_of = -inf, start, (0.0, 0.0, 0.0)
    for j in range(start, stop):
        overlap = -f.out[j, 0]
        all_of = add(all_of, scale(max(overlap, 0.0), vec_at(f.out[j], 3)))
        if overlap > deepest:
            best, deepest = j, overlap
    least, far = float(max(-f.out[best, 2], 0.0)), float(max(-f.out[best, 1], 0.0) + 4.0 * x.error)
    direction = vec_at(f.out[best], 3)  # the bodies are tested after this translation
    most = _past_hulls(x, outer, direction, far + 8.0 * x.error, w)
    # the hulls' translation is about as short as that of the deepest pair: no test improves it by more than 1 %
    if most <= far * _NEARLY:
        return most
    w.last[0] = -1
    if _is_free(x, scale(far, direction), meshes, w):
        return min(far, most)  # no shorter translation separates the deepest pair
    # each length from t on is tested
    length, t = sqrt(dot(all_of, all_of)), max(least, 4.0 * x.error)
    if not length > 0.0:
        return most
    for k in range(_LOOKS):
        t *= _LITTLE if k < _CLOSE_LOOKS else _MORE
        if not t < most:
            break
        if _is_free(x, scale(t / length, all_of), meshes, w):
            return t
    return most
