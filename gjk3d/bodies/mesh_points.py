"""Points and balls against the triangles of a mesh, by its `WideTree`: signed distance, collision and depth.

The largest ball about a point that no triangle enters is on one side of the surface. A point in the ball of the
previous point is therefore on the same side and does not need a ray. Points are sorted, so that consecutive points are
near each other.

A ball that overlaps a surface has to move past the nearest point of the surface. If its centre is inside a closed
surface, its depth is at least the distance of the centre from the surface plus its radius. If the centre is outside,
the depth is at least the radius minus that distance. The translation past the nearest point reaches this bound unless
it ends in a wall, such as next to a groove that is narrower than the ball.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nan, nextafter, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain, single_entry
from gjk3d._kernels.vectors import LANES, boxes_near, lowest_bit, triangles_near
from gjk3d.bodies.bvh import WideStack, WideTree, row_of, stack_in, stack_of_thread, wide_tree_of
from gjk3d.bodies.depth.partings import past_all
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import (
    NO_COUNT,
    box_of,
    descend,
    is_in_box,
    is_within,
    triangle_at,
    turns_about,
    turns_by_rays,
    winding_about,
)
from gjk3d.bodies.topology import NONE
from gjk3d.bodies.tree_collision import APART, HELD, MEET, NO_POSE, PoseRows, TreeScratch, poses_taken
from gjk3d.bodies.tree_distance import ANSWERED, DEPTHS, LEAST, Reports, into_world, put_bounds
from gjk3d.bodies.triangles import nearest_on, normal_of, set_vec
from gjk3d.convex.batch import in_chunks
from gjk3d.geometry.points import morton_order
from gjk3d.geometry.vec3 import Vec3, add, along, cross, divide, dot, neg, place, scale, sub, turn, turn_back, unit
from gjk3d.narrow.cores import AT_ORIGIN, relative_pose
from gjk3d.narrow.solve import BEYOND, OVERLAPPING, SEPARATED, TOUCHING, mirror
from gjk3d.poses import IDENTITY, ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, Array2, Bools1, Ints, Ints1

if TYPE_CHECKING:
    from gjk3d.bodies.compound import PointCloud

# --- points ----------------------------------------------------------------------------------------------------------


#: Rounding of a distance in float32, relative to the sum of the coordinates. With u = 2^-24, a coordinate of a box or
#: corner and of the point are rounded by 1 u each, their difference by 2 u, and the root of three squares by 4 u of a
#: distance below twice the sum. Along three axes 16 u = 9.6e-7 covers them together.
_ROUNDING32 = 1e-6
_FAR = 16.0  #: greatest coordinate of a point, in units of the tree, above which boxes are tested in float64
_WIDER = 1.000001  #: factor of more than the rounding of a limit to float32
#: `triangles_near` keeps triangles up to 2 roundings e beyond the nearest: (d + 2 e)^2 <= 1.001 d^2 + 4004 e^2
_SLACK = 4100.0
_NEVER = 1e308

OUTSIDE, BY_RAYS, GIVEN = range(3)  #: source of the side of points: all are outside, rays decide, or it is given


class NearestFace(NamedTuple):
    """The nearest triangle to a point so far."""

    square: float  #: squared distance
    face: int  #: -1 if no triangle is within the limit
    foot: Vec3  #: nearest point of the triangle


@inlined
def _far_boxes(t: WideTree, node: int, p: Vec3, base: float, limit: float, w: WideStack) -> int:
    """Return bits that mark the boxes of a node near p, and write their squared distances less ``base``.

    ``base`` is subtracted because p is far from the mesh. A box is near if the difference is at most ``limit``. Item k
    of ``w.entries`` gets the difference of box k if it is near.
    """
    bits = 0
    for lane in range(LANES):
        total = 0.0
        for k in range(3):
            off = max(t.boxes[node, k, lane] - p[k], p[k] - t.boxes[node, 3 + k, lane], 0.0)
            total += off * off
        if total - base <= limit:
            bits |= 1 << lane
            w.entries[lane] = total - base
    return bits


@kernel
def nearest_face(p: Vec3, known: NearestFace, t: WideTree, w: WideStack) -> NearestFace:
    """Return the nearest triangle to a point, or ``known`` if none is nearer.

    If several triangles are nearest, the one with the lowest face index is returned.
    """
    return near_face(p, known, -1.0, t, w)


@kernel
def near_face(p: Vec3, known: NearestFace, enough: float, t: WideTree, w: WideStack) -> NearestFace:
    """Return the nearest triangle to p, or the first one found within the squared distance ``enough``.

    If no triangle is nearer than ``known``, ``known`` is returned.
    """
    at = scale(t.scale, p)
    size = max(abs(at[0]), abs(at[1]), abs(at[2]))
    far, error, base = size > _FAR, _ROUNDING32 * (1.0 + size), 0.0
    if far:  # distances from a far point differ only in the last digits, so a lower bound of all is subtracted
        base = max(0.0, sqrt(dot(at, at)) - 2.0) ** 2
    best, node, top = known, 0, 0
    limit = _limit(best.square, error, base, far, t)
    while True:
        if node < 0:
            best = _nearest_in_leaf(p, at, -2 - node, far, best, t, w)
            if best.square <= enough:
                return best
            limit = _limit(best.square, error, base, far, t)
        else:
            bits = _far_boxes(t, node, at, base, limit, w) if far else boxes_near(t.boxes, node, at, limit, w.entries)
            if bits != 0:
                top, node = descend(w, top, bits, node, t)
                continue
        while top > 0 and w.keys[top - 1] > limit:
            top -= 1
        if top == 0:
            return best
        top -= 1
        node = w.nodes[top]


@inlined
def _limit(square: float, error: float, base: float, far: bool, t: WideTree) -> float:
    """Return the greatest squared distance of a box that may have a triangle within the squared distance ``square``.

    The result is in units of the tree, and ``square`` is in those of the mesh. ``error`` bounds the rounding of the
    distances of boxes. For a point that is ``far`` from the mesh, ``base`` is subtracted from the result.
    """
    d = sqrt(square) * t.scale
    if far:
        return ((d * d - base) + 1e-12 * d * d + 1e-6) * _WIDER
    return (d + error) * (d + error) * _WIDER


@inlined
def _nearest_in_leaf(
    p: Vec3, at: Vec3, leaf: int, far: bool, known: NearestFace, t: WideTree, w: WideStack
) -> NearestFace:  # fmt: skip
    f, bits, (best, nearest, foot) = t.frames[leaf], (1 << LANES) - 1, known
    if not far:
        o = (at[0] - f[0], at[1] - f[1], at[2] - f[2])
        error = _ROUNDING32 * (abs(o[0]) + abs(o[1]) + abs(o[2]) + f[3])
        d = sqrt(best) * t.scale + error
        bits = triangles_near(t.corners, leaf, o, d * d * _WIDER, _SLACK * error * error)
    while bits != 0:
        face = plain(t.numbers[leaf, lowest_bit(bits)])
        bits &= bits - 1
        if face >= 0:
            square, place = nearest_on(p, triangle_at(t, face))
            if square < best or (square == best and (nearest < 0 or face < nearest)):
                best, nearest, foot = square, face, place
    return NearestFace(best, nearest, foot)


class PointRows(NamedTuple):
    """Points in the world frame, and a pose row of the mesh for each point. A single pose row applies to all points."""

    points: Array2
    poses: Array2
    order: Ints1  #: order of the points in which neighbours are near each other, which saves time
    most: float  #: distance beyond which only a bound is needed
    sides: int  #: OUTSIDE for all points, BY_RAYS, or GIVEN in `PointAnswers.inside`


class PointAnswers(NamedTuple):
    """The results for points, with a row for each point."""

    numbers: Array2  #: (n, 9): distance, its bounds, nearest point, and gradient, which is NaN on the surface
    faces: Ints1
    inside: Bools1


@inlined
def _local(rows: PointRows, k: int) -> Vec3:
    """Return point k in the frame of the mesh."""
    m, x = rows.poses[row_of(rows.poses, k)], rows.points[k]
    return turn_back(m, (x[0] - m[9], x[1] - m[10], x[2] - m[11]))


@single_entry
def distances_of_points(rows: PointRows, start: int, stop: int, t: WideTree, w: WideStack, out: PointAnswers) -> None:
    """Write into ``out`` the signed distances of the points ``rows.order[start:stop]`` and their nearest triangles."""
    box, face, before, free, was_inside = box_of(t), -1, (0.0, 0.0, 0.0), -_NEVER, False
    for i in range(start, stop):
        k = rows.order[i]
        m, x = rows.poses[row_of(rows.poses, k)], rows.points[k]
        p = _local(rows, k)
        noise = ROUNDING * (t.reach + abs(x[0]) + abs(x[1]) + abs(x[2]) + abs(m[9]) + abs(m[10]) + abs(m[11]))
        known = NearestFace(rows.most * rows.most, plain(-1), p)
        if face >= 0:
            square, foot = nearest_on(p, triangle_at(t, face))
            if square <= known.square:
                known = NearestFace(square, face, foot)
        nearest = nearest_face(p, known, t, w)
        d = sqrt(nearest.square)
        inside = rows.sides == GIVEN and out.inside[k]
        if rows.sides == BY_RAYS:
            step = sub(p, before)
            # the balls about both points do not have a triangle, so the points are on one side if the balls overlap
            if d > 4.0 * noise and sqrt(dot(step, step)) + 8.0 * noise < d + free:
                inside = was_inside
            else:
                inside = is_within(p, box, t, w)
            before, free, was_inside = p, d if d > 4.0 * noise else -_NEVER, inside
        face = nearest.face
        _write(nearest, p, noise, inside, rows.most, m, out, k)


@inlined
def _write(
    nearest: NearestFace, p: Vec3, noise: float, inside: bool, most: float, m: Array, out: PointAnswers, k: int
) -> None:
    row, d = out.numbers[k], sqrt(nearest.square)
    inside = inside and d > 0.5 * noise  # nearer to the surface, the side is rounding, and the bounds have both signs
    side = -1.0 if inside else 1.0
    out.faces[k], out.inside[k] = nearest.face, inside
    if nearest.face < 0:
        row[0], row[1], row[2] = side * inf, most if side > 0.0 else -inf, inf if side > 0.0 else -most
        for c in range(3, 9):
            row[c] = nan
        return
    row[0], row[1], row[2] = side * d, side * d - noise, side * d + noise
    foot, n = turn(m, nearest.foot), turn(m, sub(p, nearest.foot))
    # on the surface the difference of the points is rounding, see `_fill_normals`
    factor = side / d if d > 4.0 * noise else nan
    for c in range(3):
        row[3 + c], row[6 + c] = foot[c] + m[9 + c], factor * n[c]


@single_entry
def windings_at(rows: PointRows, start: int, stop: int, t: WideTree, out: Bools1) -> None:
    """Write to ``out`` which of the points ``rows.order[start:stop]`` have a winding number above 1/2 or below -1/2."""
    for i in range(start, stop):
        k = rows.order[i]
        out[k] = abs(winding_about(_local(rows, k), t)) > 0.5


_CHUNK = 4096  #: points per call of the kernel


def measure(tree: WideTree, rows: PointRows, workers: int) -> PointAnswers:
    """Return the distances of points from the triangles of a tree, negative inside unless ``rows.sides`` is OUTSIDE."""
    count = len(rows.order)
    answers = PointAnswers(np.empty((count, 9)), np.empty(count, dtype=np.int64), np.empty(count, dtype=bool))

    def run(start: int, stop: int) -> None:
        if rows.sides == GIVEN:
            windings_at(rows, start, stop, tree, answers.inside)
        distances_of_points(rows, start, stop, tree, stack_of_thread(), answers)

    in_chunks(count, workers, run, _CHUNK)
    return answers


def nearest_points(mesh: Mesh, points: Array) -> tuple[Array, Array, Ints]:
    """Return the distances of points in a mesh's frame from its triangles, the nearest points, and the face indices."""
    points = np.ascontiguousarray(points)
    rows = PointRows(points, IDENTITY, morton_order(points), inf, OUTSIDE)
    answers = measure(wide_tree_of(mesh), rows, 1)
    return answers.numbers[:, 0], answers.numbers[:, 3:6], answers.faces


def _bounding(mesh: Mesh, sign: str) -> tuple[Mesh | None, Ints, int]:
    """Return the surface that bounds the interior, the mesh faces that it lacks, and the value of `PointRows.sides`.

    The surface is None if the mesh has no interior for the given ``sign``.
    """
    state = mesh._mended
    if sign == "none" or (sign == "auto" and not mesh.is_solid):
        return None, NONE, OUTSIDE
    if sign == "auto" or not state.loose:
        return mesh.skin, state.spare, BY_RAYS
    if state.open_edges:
        return mesh, NONE, GIVEN
    spare = np.setdiff1d(state.spare, state.pieces)
    return mesh._cached("wound", lambda: mesh._without(spare)), spare, GIVEN


def distances_from_mesh(mesh: Mesh, rows: PointRows, sign: str, workers: int) -> PointAnswers:
    """Return the signed distances of points from a mesh, for a ``sign`` of auto, winding or none."""
    surface, spare, sides = _bounding(mesh, sign)
    if surface is None or surface is mesh:
        answers = measure(wide_tree_of(mesh), rows._replace(sides=sides), workers)
    else:
        answers = measure(wide_tree_of(mesh._once), rows._replace(sides=OUTSIDE), workers)
        answers = answers._replace(faces=mesh._numbers(answers.faces, mesh._doubles))
        # triangles that do not bound the inside count for points outside only
        inner = measure(wide_tree_of(surface), rows._replace(sides=sides), workers)
        inner = inner._replace(faces=mesh._numbers(inner.faces, spare))
        for mine, theirs in zip(answers, inner, strict=True):
            mine[inner.inside] = theirs[inner.inside]
    _fill_normals(mesh, rows, answers)
    return answers


def _fill_normals(mesh: Mesh, rows: PointRows, answers: PointAnswers) -> None:
    """Replace the undefined gradient of each point on the surface by the outward normal of its nearest face."""
    on = np.flatnonzero(np.isnan(answers.numbers[:, 6]) & (answers.faces >= 0))
    if not len(on):
        return
    normals = mesh._normals(answers.faces[on])
    normals[(normals == 0.0).all(axis=1)] = 0.0, 0.0, 1.0  # a face without area, for which any direction is right
    turns = rows.poses[on if len(rows.poses) > 1 else np.zeros(len(on), dtype=np.int64), :9].reshape(-1, 3, 3)
    answers.numbers[on, 6:] = (turns @ normals[..., None])[..., 0]


_OFF_SURFACE = 8.0  #: distance from the balls of a cloud, in units of the error, from which the tree has the result
_FEW = 64  #: the tree saves time for at least one query per this number of points of a cloud


def distances_from_cloud(cloud: PointCloud, rows: PointRows, sign: str, workers: int) -> PointAnswers:
    """Return the distances of points from the balls of a cloud.

    The distance is NaN for a point that is not clearly outside the balls. If there are few points compared with the
    balls, all distances are NaN. ``sign`` is not used.

    A distance and its bounds are those from the nearest centre, less the radius. The bounds are wide enough for the
    rounding of this subtraction.
    """
    radius = cloud.radius
    if _FEW * len(rows.points) < len(cloud):
        count = len(rows.points)
        return PointAnswers(np.full((count, 9), nan), np.full(count, -1), np.zeros(count, dtype=bool))
    numbers, faces, inside = measure(cloud._wide_tree, rows._replace(most=rows.most + radius), workers)
    near, beyond = np.flatnonzero(faces >= 0), faces < 0
    error = numbers[near, 2] - numbers[near, 0]
    numbers[near, :3] -= radius
    numbers[near, 3:6] += radius * numbers[near, 6:9]
    numbers[near[~(numbers[near, 0] > _OFF_SURFACE * error)], 0] = nan
    numbers[beyond] = inf, rows.most, inf, nan, nan, nan, nan, nan, nan
    faces[:] = -1
    return PointAnswers(numbers, faces, inside)


# --- balls -----------------------------------------------------------------------------------------------------------


SURELY = 64.0  #: greatest overlap of touching parts, in units of the error of positions
STEP = 4.0  #: excess of a separating translation, in units of the error
CLOSE = 1e-2  #: relative width of the bounds of a depth below which a search is not useful
_MORE = 1.0 + 1e-12
_LEAVES = 64.0  #: distance by which a point leaves its walls, in units of the error
_MOST_STEPS = 8  #: greatest number of steps away from a surface
_MOST_WALLS = 12  #: greatest number of walls that a ball has to pass
_ROOM = 1e-8  #: relative excess of a translation past walls


class Ball(NamedTuple):
    """A ball or a point in the frame of a mesh."""

    center: Vec3
    radius: float
    error: float  #: bound of the error of a position


class Deep(NamedTuple):
    """The depth of a ball in a surface, in the frame of the surface."""

    least: float  #: lower bound of the depth, below 0 if the ball may not touch the surface
    most: float  #: length of a known separating translation, or infinite
    known: float  #: the depth: ``least``, or ``most`` if rounding does not explain their difference
    normal: Vec3
    point: Vec3  #: the nearest point of the surface
    center: Vec3
    by: Vec3  #: the translation of length ``most``, along the normal except for rounding; zero if ``most`` is infinite


@inlined
def no_depth(center: Vec3) -> Deep:
    """Return the result for a ball that is not in a surface."""
    return Deep(0.0, inf, 0.0, (1.0, 0.0, 0.0), center, center, (0.0, 0.0, 0.0))


@inlined
def deep_by(b: Ball, least: float, depth: float, n: Vec3, point: Vec3, by: Vec3) -> Deep:
    """Return the result for a ball with the known separating translation ``by``, or a zero ``by`` if none is known."""
    most = sqrt(dot(by, by))
    if not most > 0.0:
        return Deep(least, inf, depth, n, point, b.center, by)
    if most > depth + 2.0 * _LEAVES * b.error:
        return Deep(least, most, most, divide(by, most), point, b.center, by)
    return Deep(least, most, depth, n, point, b.center, by)


@inlined
def _moved(b: Ball, by: Vec3) -> Ball:
    return Ball(add(b.center, by), b.radius, b.error)


@inlined
def _nearest_within(b: Ball, far: float, t: WideTree, w: WideStack) -> NearestFace:
    """Return the nearest triangle to the centre of a ball, with the face -1 if no triangle is within ``far``."""
    return nearest_face(b.center, NearestFace(far * far, plain(-1), b.center), t, w)


@kernel
def turns_beside(b: Ball, t: WideTree, w: WideStack) -> int:
    """Return how often a closed surface winds about the centre of a ball. The centre must not be on the surface.

    Rays from a point near the surface may pass edges too closely. The rays then start from a point that is farther from
    the nearest triangle. The point is moved by less than its distance from the surface, so it stays on the same side.
    """
    p, box = b.center, box_of(t)
    for _ in range(_MOST_STEPS):
        turns = turns_by_rays(p, box, t, w)
        if turns != NO_COUNT:
            return turns
        _, _, foot = nearest_face(p, NearestFace(inf, plain(-1), p), t, w)
        p = along(p, sub(p, foot), 0.5)
    return turns_about(p, box, t, w)


@kernel
def _obstacle(b: Ball, closed: bool, t: WideTree, w: WideStack) -> NearestFace:
    """Return the nearest triangle to a ball, with the face -1 if the ball is proven apart from the surface.

    A ball is not apart if its centre is inside a closed surface.
    """
    nearest = _nearest_within(b, (b.radius + b.error) * _MORE, t, w)
    if nearest.face >= 0 and not sqrt(nearest.square) - b.radius > b.error:
        return nearest
    if closed and turns_beside(b, t, w) != 0:
        return _nearest_within(b, inf, t, w)
    return NearestFace(0.0, plain(-1), b.center)


@inlined
def _is_free(b: Ball, closed: bool, t: WideTree, w: WideStack) -> bool:
    """Return whether a ball is proven apart from a surface, and outside the surface if ``closed``."""
    return _obstacle(b, closed, t, w).face < 0


@kernel
def _past_walls(b: Ball, first: Vec3, turns: float, closed: bool, t: WideTree, walls: Array, w: WideStack) -> Vec3:
    """Return a translation, about as long as ``first``, that moves a ball out of a surface, or zero if none is found.

    A wall is a triangle that the ball still meets after a translation. The next translation is the least one by which
    the ball passes the planes of all walls so far. A ball of radius 0 only has to leave its walls, so a short step
    along the sum of the normals of the walls is added to ``first``, as in perceptron learning. ``turns``, 1 or -1, is
    the factor that makes the normals of the triangles point outward.
    """
    far, aside = sqrt(dot(first, first)), (0.0, 0.0, 0.0)
    set_vec(walls[0], 0, divide(first, far))
    walls[0, 3] = far
    by = along(first, divide(first, far), STEP * b.error)
    for count in range(1, _MOST_WALLS):
        moved = _moved(b, by)
        _, face, foot = _obstacle(moved, closed, t, w)
        if face < 0:
            return by
        n, outward = scale(turns, normal_of(triangle_at(t, face))), sub(moved.center, foot)
        if b.radius > 0.0:
            off = cross(n, outward)
            if dot(n, outward) > 0.0 and sqrt(dot(off, off)) > b.error:  # outside, nearest to an edge
                n = unit(outward)
            set_vec(walls[count], 0, n)
            walls[count, 3] = dot(n, sub(foot, b.center)) + b.radius + _ROOM * far
            # least-norm translation beyond all walls, as in cutting-plane methods
            by = past_all(walls, count + 1)
        else:
            aside = add(aside, n)
            by = along(first, unit(aside), _LEAVES * b.error) if dot(aside, aside) > 0.0 else first
    return (0.0, 0.0, 0.0)


@kernel
def _off_surface(b: Ball, nearest: NearestFace, closed: bool, t: WideTree, walls: Array, w: WideStack) -> Deep:
    """Return the depth of a ball whose centre is on a surface.

    The ball is moved along the normal of the nearest face, and if that fails, in the opposite direction. Rays from the
    centre would pass the surface too closely to find out which side is outside.
    """
    far, normal = sqrt(nearest.square), normal_of(triangle_at(t, nearest.face))
    least, straight = b.radius - far - b.error, b.radius + 2.0 * _LEAVES * b.error
    for side in (1.0, -1.0):
        n = scale(side, normal)
        if dot(n, n) > 0.0:
            by = _past_walls(b, scale(b.radius + far + b.error, n), side, closed, t, walls, w)
            if 0.0 < dot(by, by) <= straight * straight:
                return deep_by(b, least, b.radius, n, nearest.foot, by)
    return deep_by(b, least, b.radius, normal, nearest.foot, (0.0, 0.0, 0.0))


@kernel
def ball_depth(
    b: Ball, nearest: NearestFace, turns: float, closed: bool, t: WideTree, walls: Array, w: WideStack
) -> Deep:  # fmt: skip
    """Return the depth of a ball that a surface crosses or contains; ``walls`` is scratch of 12 rows.

    ``nearest`` is the nearest triangle to the centre, and ``turns`` is the result of `turns_within`.
    """
    far, to_foot = sqrt(nearest.square), sub(nearest.foot, b.center)
    if turns == 0.0 and far <= STEP * b.error:
        return _off_surface(b, nearest, closed, t, walls, w)
    depth, normal = b.radius + far, normal_of(triangle_at(t, nearest.face))
    if turns == 0.0:  # the centre is outside
        depth, to_foot = b.radius - far, neg(to_foot)
        turns = 1.0 if dot(normal, to_foot) > 0.0 else -1.0
    n, out = divide(to_foot, far), scale(turns, normal)
    off = cross(out, to_foot)
    if dot(out, to_foot) > 0.0 and sqrt(dot(off, off)) <= b.error:  # the normal is more exact than a short segment
        n = out
    least, by = depth - b.error, scale(max(depth, 0.0) + STEP * b.error, n)
    if depth <= SURELY * b.error:
        by = by if _is_free(_moved(b, by), closed, t, w) else (0.0, 0.0, 0.0)
    else:
        by = _past_walls(b, scale(depth, n), turns, closed, t, walls, w)
    return deep_by(b, least, depth, n, nearest.foot, by)


@inlined
def _sign(turns: int) -> float:
    return float(min(max(turns, -1), 1))


@kernel
def turns_within(b: Ball, nearest: NearestFace, t: WideTree, w: WideStack) -> float:
    """Return 1 if the centre of a ball is inside a closed surface with outward winding, -1 with inward winding.

    The result is 0 for a centre that is outside the surface or on it.
    """
    if sqrt(nearest.square) <= STEP * b.error:
        return 0.0
    return _sign(turns_beside(b, t, w))


# one mesh and one ball ----------------------------------------------------------------------------------------------


class MeshSurface(NamedTuple):
    """The trees over all triangles of a mesh and over the surface that bounds its interior."""

    every: WideTree  #: all triangles
    skin: WideTree  #: the triangles that bound the interior, or all triangles of an open mesh
    closed: bool  #: whether the inside is solid
    repaired: bool  #: whether the two trees differ


class BallShape(NamedTuple):
    """A ball or point in its own frame."""

    center: Vec3
    radius: float
    reach: float  #: greatest coordinate


class BallQuery(NamedTuple):
    """A distance query of a mesh and a ball."""

    level: int  #: BOUNDS, NORMALS or DEPTHS
    most: float  #: distance beyond which only a lower bound is needed
    above: float  #: that lower bound, the next float after ``most``
    fast: bool  #: whether the distance of an overlap is its lower bound
    swapped: bool  #: whether the ball is the first of the two objects


class BallDistance(NamedTuple):
    """The distance of a ball from a mesh, in the frame of the mesh."""

    code: int  #: APART, ANSWERED, or for a depth that needs a search MEET or HELD
    bounds: tuple[float, float, float]  #: distance, lower bound, upper bound
    normal: Vec3
    point: Vec3  #: the nearest point of the mesh
    status: int


@inlined
def _ball_at(s: MeshSurface, ball: BallShape, p: Array, q: Array) -> Ball:
    """Return a ball at pose row q in the frame of a mesh at pose row p."""
    m = relative_pose(p, AT_ORIGIN, q, AT_ORIGIN)
    far = max(abs(m[9]), abs(m[10]), abs(m[11]))
    return Ball(place(m, ball.center), ball.radius, ROUNDING * (s.every.reach + ball.reach + far))


@kernel
def _meet(s: MeshSurface, b: Ball, margin: float, w: WideStack) -> int:
    """Return MEET if a ball is within a margin of the surface, HELD if the ball is inside, or APART."""
    far, enough = (margin + b.radius + b.error) * _MORE, (margin + b.radius + b.error) / _MORE
    nearest = near_face(b.center, NearestFace(far * far, plain(-1), b.center), enough * enough, s.every, w)
    if nearest.face >= 0 and not sqrt(nearest.square) - b.radius - b.error > margin:
        return MEET
    return HELD if s.closed and turns_beside(b, s.skin, w) != 0 else APART


@kernel
def _apart(b: Ball, nearest: NearestFace, query: BallQuery, t: WideTree) -> BallDistance:
    """Return the distance of a ball outside a mesh.

    If ``nearest`` has no face, the result is beyond the limit of the query, with the normal of any triangle.
    """
    face, (square, foot) = nearest.face, (nearest.square, nearest.foot)
    if face < 0:
        face = 0
        square, foot = nearest_on(b.center, triangle_at(t, face))
    far, to_ball = sqrt(square), sub(b.center, foot)
    normal, n = normal_of(triangle_at(t, face)), divide(to_ball, far)
    normal = normal if dot(normal, to_ball) > 0.0 else neg(normal)
    off = cross(normal, to_ball)
    if dot(normal, normal) > 0.0 and sqrt(dot(off, off)) <= b.error:  # more exact than a short segment
        n = normal
    gap = far - b.radius
    beyond = nearest.face < 0 or gap > query.most + b.error
    lower = query.above if beyond else max(LEAST, gap - b.error)
    bounds = (max(gap, lower), lower, max(gap, lower) + b.error)
    return BallDistance(APART, bounds, n, foot, BEYOND if beyond else SEPARATED)


@kernel
def _deep(
    s: MeshSurface, b: Ball, nearest: NearestFace, code: int, turns: float, fast: bool, walls: Array, w: WideStack
) -> BallDistance:  # fmt: skip
    """Return the depth of a ball that touches or is in a mesh, with ``code`` if a search is needed, else ANSWERED."""
    if s.repaired:
        nearest = _nearest_within(b, inf, s.skin, w)
    deep = ball_depth(b, nearest, turns, s.closed, s.skin, walls, w)
    most, least = deep.most, max(deep.least, 0.0)
    # other triangles are obstacles as well, and a ball that touches only these needs a search
    if s.repaired and (deep.least < -2.0 * b.error or not _is_free(_moved(b, deep.by), False, s.every, w)):
        most = inf
    if not most <= least * (1.0 + CLOSE) + 2.0 * _LEAVES * b.error:
        return BallDistance(code, (-least, -inf, -least), deep.normal, deep.point, OVERLAPPING)
    touching = code == MEET and deep.known <= SURELY * b.error
    upper = max(0.0, -deep.least) if touching else 0.0 - least
    distance, n = (-most, divide(deep.by, most)) if fast else (0.0 - deep.known, deep.normal)
    return BallDistance(ANSWERED, (distance, -most, upper), n, deep.point, TOUCHING if touching else OVERLAPPING)


@kernel
def _distance(s: MeshSurface, b: Ball, query: BallQuery, walls: Array, w: WideStack) -> BallDistance:
    most = (query.most + b.radius + b.error) * _MORE
    # only the code of an overlap is needed, so the nearest triangle is searched after the inside is excluded
    late = query.level != DEPTHS and s.closed and is_in_box(b.center, box_of(s.skin))
    far, enough = ((b.radius + b.error) * _MORE, b.radius / _MORE) if late else (most, -1.0)
    nearest = near_face(b.center, NearestFace(far * far, plain(-1), b.center), enough * abs(enough), s.every, w)
    far, code, turns = sqrt(nearest.square), MEET, 0.0
    if nearest.face < 0 or far - b.radius > b.error:
        turns = _sign(turns_beside(b, s.skin, w)) if s.closed else 0.0
        if turns == 0.0:
            nearest = _nearest_within(b, most, s.every, w) if late else nearest
            return _apart(b, nearest, query, s.every)
        code = HELD
    if query.level == DEPTHS:
        if nearest.face < 0:
            nearest = _nearest_within(b, inf, s.every, w)
        if code == MEET and s.closed:
            turns = turns_within(b, nearest, s.skin, w)
        return _deep(s, b, nearest, code, turns, query.fast, walls, w)
    n, point = (1.0, 0.0, 0.0), b.center
    if code == MEET:
        to_ball, point = sub(b.center, nearest.foot), nearest.foot
        normal = normal_of(triangle_at(s.every, nearest.face))
        n = divide(to_ball, far) if far > STEP * b.error else normal if dot(normal, normal) > 0.0 else n
    return BallDistance(code, (0.0, 0.0, 0.0), n, point, OVERLAPPING)


@entry
def meet_ball(
    s: MeshSurface, ball: BallShape, ma: Array2, mb: Array2, rows: PoseRows, margin: float, w: TreeScratch,
    codes: Ints1,
) -> int:  # fmt: skip
    """Write MEET, HELD or APART for a mesh and a ball at pose rows to ``codes``, and return the last code.

    The margin is at least 0. The matrices and NO_POSE are as in `tree_collision.meet_rows`.
    """
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code = APART
    for k in range(rows.start, rows.stop):
        p, q = rows.a[k if rows.a.shape[0] > 1 else 0], rows.b[k if rows.b.shape[0] > 1 else 0]
        codes[k] = code = _meet(s, _ball_at(s, ball, p, q), margin, stack_in(w.stack, w.floats32))
    return code


@entry
def ball_distances(
    s: MeshSurface, ball: BallShape, query: BallQuery, ma: Array2, mb: Array2, rows: PoseRows, w: TreeScratch,
    out: Array2, reports: Reports,
) -> int:  # fmt: skip
    """Write the distances of a mesh and a ball at pose rows to ``out`` and ``reports``, and return the last code.

    The arguments and the results are as in `touching_bodies.distance_rows`.
    """
    if not poses_taken(ma, mb, rows):
        return NO_POSE
    code, flags, stack = APART, reports.flags, stack_in(w.stack, w.floats32)
    for k in range(rows.start, rows.stop):
        p, q = rows.a[k if rows.a.shape[0] > 1 else 0], rows.b[k if rows.b.shape[0] > 1 else 0]
        b = _ball_at(s, ball, p, q)
        d = _distance(s, b, query, w.out[2:], stack)
        put_bounds(b.error, d.bounds, d.normal, d.point, d.status, out, flags, k)
        reports.codes[k] = code = d.code
        into_world(p, out, k)
        if query.swapped:
            mirror(out, k)
    return code


def is_ball(x: Any) -> bool:
    """Return whether an object is a convex shape whose core is one point, such as a point or a sphere."""
    return bool(x._kind == Kind.CONVEX and x._packed[0][layout.KIND] == layout.POINT)


def ball_shape(x: Any) -> BallShape:
    """Return a ball or point in the format of the kernels."""
    floats: Array = x._packed[1]
    center, radius = floats[layout.CENTER : layout.CENTER + 3], floats.item(layout.RADIUS)
    return BallShape(tuple(center.tolist()), radius, float(np.abs(center).max()) + radius)


def mesh_surface(mesh: Mesh) -> MeshSurface:
    """Return the `MeshSurface` of a mesh, which is cached."""

    def surface() -> MeshSurface:
        every = wide_tree_of(mesh._once)
        repaired = mesh.is_solid and bool(mesh.repairs)
        return MeshSurface(every, wide_tree_of(mesh.skin) if repaired else every, mesh.is_solid, repaired)

    return mesh._cached("surface", surface)


def roots_of(mesh: Mesh, ball: BallShape) -> Array:
    """Return the roots of a mesh and of a ball, (2, 19): boxes with further columns, see `gjk3d.geometry.vec3`."""
    low, high = mesh.bounds
    half, axes, reach = 0.5 * (high - low), np.eye(3).ravel(), np.abs(mesh.bounds).max()
    return np.array([
        [*(0.5 * (low + high)), *half, *axes, reach, 0.0, np.linalg.norm(half)],
        [*ball.center, 0.0, 0.0, 0.0, *axes, ball.reach, ball.radius, 0.0],
    ])  # fmt: skip


@lru_cache(64)
def ball_query(level: int, most: float, fast: bool, swapped: bool) -> BallQuery:
    """Return the distance query of a mesh and a ball up to the distance ``most``."""
    return BallQuery(level, most, nextafter(most, inf), fast, swapped)
