"""Signed distances of points from the triangles of a mesh, by its `WideTree`.

The ball about a point that is free of triangles is on one side of the surface. So a point in the ball of the previous
point needs no ray. Points are sorted, so that consecutive points are near each other.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d._kernels.vectors import LANES, boxes_near, lowest_bit, triangles_near
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import box_of, descend, is_within, triangle_at, winding_about
from gjk3d.bodies.topology import NONE
from gjk3d.bodies.triangles import nearest_on
from gjk3d.bodies.wide_tree import WideStack, WideTree, row_of, stack_of_thread, wide_tree_of
from gjk3d.convex.batch import in_chunks
from gjk3d.geometry.points import morton_order
from gjk3d.geometry.vec3 import Vec3, dot, scale, sub, turn, turn_back
from gjk3d.poses import IDENTITY, ROUNDING
from gjk3d.typing import Array, Array2, Bools1, Ints, Ints1

if TYPE_CHECKING:
    from gjk3d.bodies.cloud import PointCloud

#: Rounding of a distance in float32, relative to the sum of the coordinates. With u = 2^-24, a coordinate of a box or
#: corner and of the point are rounded by 1 u each, their difference by 2 u, and the root of three squares by 4 u of a
#: distance below twice the sum. Along three axes 16 u = 9.6e-7 covers them together.
_ROUNDING32 = 1e-6
_FAR = 16.0  #: size of a point, in units of the tree, from which boxes are tested in float64
_WIDER = 1.000001  #: more than the rounding of a limit to float32
#: `triangles_near` keeps what is farther than the nearest point by 2 roundings e: (d + 2 e)^2 <= 1.001 d^2 + 4004 e^2
_SLACK = 4100.0
_NEVER = 1e308

OUTSIDE, BY_RAYS, GIVEN = range(3)


class NearestFace(NamedTuple):
    """The nearest triangle to a point so far."""

    square: float  #: squared distance
    face: int  #: -1 for none
    foot: Vec3


@inlined
def _far_boxes(t: WideTree, node: int, p: Vec3, base: float, limit: float, w: WideStack) -> int:
    """Return the boxes within a limit of a far point as bits, and write squared distances less ``base``."""
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
    """Return the nearest triangle to a point that is nearer than the known one, with the least number on ties."""
    return near_face(p, known, -1.0, t, w)


@kernel
def near_face(p: Vec3, known: NearestFace, enough: float, t: WideTree, w: WideStack) -> NearestFace:
    """Return the result of `nearest_face`, or any triangle whose squared distance is at most ``enough``."""
    at = scale(t.scale, p)
    size = max(abs(at[0]), abs(at[1]), abs(at[2]))
    far, error, base = size > _FAR, _ROUNDING32 * (1.0 + size), 0.0
    if far:  # the distances of boxes differ in the last digits, so that of a ball around the mesh is subtracted
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
    """Return the squared distance of boxes that may have a triangle within a squared distance, less ``base``."""
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
    """Points in the world, and the pose of the mesh; one pose may be for all."""

    points: Array2
    poses: Array2
    order: Ints1  #: neighbours are near each other, which saves time
    most: float  #: greatest distance
    sides: int  #: OUTSIDE for all, BY_RAYS, or GIVEN in the answers


class PointAnswers(NamedTuple):
    """Results of points by row."""

    numbers: Array2  #: (n, 9): distance, its bounds, nearest point, and gradient, which is NaN on the surface
    faces: Ints1
    inside: Bools1


@inlined
def _local(rows: PointRows, k: int) -> Vec3:
    """Return a point in the frame of the mesh."""
    m, x = rows.poses[row_of(rows.poses, k)], rows.points[k]
    return turn_back(m, (x[0] - m[9], x[1] - m[10], x[2] - m[11]))


@single_entry
def distances_of_points(rows: PointRows, start: int, stop: int, t: WideTree, w: WideStack, out: PointAnswers) -> None:
    """Write the distances of points start to stop of the sorted order."""
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
    inside = inside and d > 0.5 * noise  # nearer to the surface the side is rounding, and both are within the bounds
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
    """Write which points have a winding number above 1/2."""
    for i in range(start, stop):
        k = rows.order[i]
        out[k] = abs(winding_about(_local(rows, k), t)) > 0.5


_CHUNK = 4096  #: points per call of the kernel


def measure(tree: WideTree, rows: PointRows, workers: int) -> PointAnswers:
    """Return the distances of points from the triangles of a tree."""
    count = len(rows.order)
    answers = PointAnswers(np.empty((count, 9)), np.empty(count, dtype=np.int64), np.empty(count, dtype=bool))

    def run(start: int, stop: int) -> None:
        if rows.sides == GIVEN:
            windings_at(rows, start, stop, tree, answers.inside)
        distances_of_points(rows, start, stop, tree, stack_of_thread(), answers)

    in_chunks(count, workers, run, _CHUNK)
    return answers


def nearest_points(mesh: Mesh, points: Array) -> tuple[Array, Array, Ints]:
    """Return the distances of points from the triangles of a mesh in its frame, the nearest points, and their faces."""
    points = np.ascontiguousarray(points)
    rows = PointRows(points, IDENTITY, morton_order(points), inf, OUTSIDE)
    answers = measure(wide_tree_of(mesh), rows, 1)
    return answers.numbers[:, 0], answers.numbers[:, 3:6], answers.faces


def _bounding(mesh: Mesh, sign: str) -> tuple[Mesh | None, Ints, int]:
    """Return the surface that bounds the inside (None for no inside), the faces not in it, and how sides are found.

    The last is `OUTSIDE`, `BY_RAYS` or `GIVEN`.
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
    """Write the outward normal of the face of each point on the surface, where the gradient is not defined."""
    on = np.flatnonzero(np.isnan(answers.numbers[:, 6]) & (answers.faces >= 0))
    if not len(on):
        return
    normals = mesh._normals(answers.faces[on])
    normals[(normals == 0.0).all(axis=1)] = 0.0, 0.0, 1.0  # a face without area, for which any direction is right
    turns = rows.poses[on if len(rows.poses) > 1 else np.zeros(len(on), dtype=np.int64), :9].reshape(-1, 3, 3)
    answers.numbers[on, 6:] = (turns @ normals[..., None])[..., 0]


_OFF_SURFACE = 8.0  #: distance from the balls of a cloud, in units of the error, from which the tree has the result
_FEW = 64  #: for fewer queries than the points of a cloud over this number, the tree takes longer than it saves


def distances_from_cloud(cloud: PointCloud, rows: PointRows, sign: str, workers: int) -> PointAnswers:
    """Return the distances of points from the balls of a cloud, NaN for few points and for those not clearly outside.

    The sign rule is not used. Bounds are about the distance of the nearest centre, whose error includes the rounding of
    the difference with the radius.
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
