"""Pushes of faces: the directions and depths of contacts of intersecting meshes."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.depth.partings import outward_at, shifted
from gjk3d.bodies.normal_cones import is_normal, is_sure, probe_of
from gjk3d.bodies.part_tree import PartTree, part_at, put_behind
from gjk3d.bodies.tree_collision import APART, PosedPair, TreeScratch, faces_meet, meet, parts_at
from gjk3d.bodies.triangles import Triangle, nearest_on, placed_triangle, read, set_vec, vec_at
from gjk3d.geometry.polygon import SHARP
from gjk3d.geometry.vec3 import Vec3, add, along, cross, dot, neg, row3, scale, sub, turn, turn_back
from gjk3d.geometry.vec3 import place as at
from gjk3d.narrow.cores import support_pair
from gjk3d.narrow.ray import HIT, cast
from gjk3d.narrow.solve import SIGNED, solve
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array2, Array3, Ints1, Ints2

_MUCH = 2.0  #: so much deeper may the normal of a face be than the shortest way
_FAR = 8.0  #: and so much deeper at most
LEVEL = 1e-9  #: a direction that is off a plane by less is along it
CORNERS = 12  #: of a triangle that is cut by five planes, at most, and scratch
BEST, STATE, DIRECTION, LOW = 0, 1, 2, 5  #: columns of what is noted of a pair of faces
NOTED = 8
#: states: unknown; the normal belongs to both bodies; it leads into one; lost to a neighbour; pushed by a face
PLAIN, NORMAL, INWARDS, _LOST, PUSHED = 0.0, 1.0, 2.0, 3.0, 4.0
_ZERO = (0.0, 0.0, 0.0)
_FIRST = 0


class PairContacts(NamedTuple):
    """Pairs of parts that intersect, or nearly, at all poses, and notes on the pairs of one pose."""

    pairs: Ints2
    out: Array2  #: as `gjk3d.narrow.solve` writes them, which pushes change
    lowest: Array2  #: of a user's shape its lowest point above each face, else of no rows
    outward_a: Array2  #: normals of parts outwards, one row of zeros where there are none
    outward_b: Array2
    pushes_a: bool  #: whether they bound a solid
    pushes_b: bool
    walls: bool  #: whether closed parts of a mesh may abut
    planes: Array2  #: those of a hull beside a mesh, see `gjk3d.convex.solve`
    room: Array3  #: (2, `CORNERS`, 3)
    noted: Array2  #: (n, `NOTED`) of the pairs of one pose
    some: Ints1  #: those that are chosen


@kernel
def _clipped(p: Array2, count: int, at: Vec3, m: Vec3, slack: float, q: Array2) -> int:
    """Write the part of a polygon behind a plane with outward normal m, and return the number of its corners."""
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
    """Return the depth of a triangle's lowest point behind a face within the column over the face, and that point.

    The depth is infinite if the triangle does not reach into the column. A point next to a face, or beyond a sharp
    corner of it, is not in its way; see `gjk3d.geometry.polygon.cut_by`.
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
    """Return the result of `depth_behind` for a shape: its lowest point, or the point below the face."""
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
    """Store the direction, depth and point of a push if it is the shortest, or mark a normal into the face."""
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
    """Store the direction, depth and point of the push of each face of a closed mesh.

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
    """Apply the valid pushes, and mark pairs without a contact; return whether no pair has a contact."""
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
    deepest point there. The shortest separating translation of two faces is kept if it leads into neither mesh and is
    much shorter: it may be across edges that are not edges of the solid. If it leads into a mesh and the push is far
    longer, such as for faces that cross near an edge or touch there from inside, the pair has no contact. No push is
    longer than ``most``, a translation that separates the bodies. Returns the number of selected pairs.
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


_LOOKS, _CLOSE_LOOKS = 10, 5  #: along one direction, and of these the ones that go on by little
_LITTLE, _MORE = 1.2, 2.0  #: times as far as before
_NEARLY = 1.01  #: times as far as the shortest is near enough
_ONLY = 0


class Outer(NamedTuple):
    """A known separation of two bodies: their convex hulls, or the length of a translation."""

    a: PartTree
    b: PartTree
    of_hulls: bool  #: whether their ways out are tried
    fixed: bool  #: whether the translation is, so that none is looked for
    most: float


@kernel
def _is_free(x: PosedPair, by: Vec3, meshes: bool, w: TreeScratch) -> bool:
    """Return whether the bodies are apart once B is moved; doubt counts as no."""
    moved = shifted(x, by)
    return bool((faces_meet(moved, w) if meshes else meet(moved, 0.0, w)) == APART)


@kernel
def _past_hulls(x: PosedPair, outer: Outer, direction: Vec3, near: float, w: TreeScratch) -> float:
    """Return the length of a separating translation of the hulls: along a direction if <= ``near``, or the least."""
    if not outer.of_hulls:
        return outer.most
    c = parts_at(PosedPair(outer.a, outer.b, x.m, x.error), _ONLY, _ONLY, w)
    direction = turn_back(c.pose, direction)
    reach, _, _ = support_pair(c, direction)
    # off by the error of a support point, and of the poses that place the two and move one of them
    far = float(max(dot(direction, reach) + c.radii, 0.0) + c.error + 4.0 * x.error)
    if far <= near:
        return far
    solve(c, SIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, _ONLY)
    return float(max(-w.out[0, 1], 0.0) + 4.0 * x.error)


@kernel
def freeing(x: PosedPair, meshes: bool, f: PairContacts, start: int, stop: int, outer: Outer, w: TreeScratch) -> float:
    """Return the least length of a few tested translations that separate B from A."""
    deepest, best, all_of = -inf, start, (0.0, 0.0, 0.0)
    for j in range(start, stop):
        overlap = -f.out[j, 0]
        all_of = add(all_of, scale(max(overlap, 0.0), vec_at(f.out[j], 3)))
        if overlap > deepest:
            best, deepest = j, overlap
    least, far = float(max(-f.out[best, 2], 0.0)), float(max(-f.out[best, 1], 0.0) + 4.0 * x.error)
    direction = vec_at(f.out[best], 3)  # what is free there is tested, so the errors in ``far`` bound nothing
    most = _past_hulls(x, outer, direction, far + 8.0 * x.error, w)
    # the hulls' translation is about as short as that of the deepest pair: no test improves it by more than 1 %
    if most <= far * _NEARLY:
        return most
    w.last[0] = -1
    if _is_free(x, scale(far, direction), meshes, w):
        return min(far, most)  # no shorter one parts these two
    # t is only where the search begins, and each place is tested
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
