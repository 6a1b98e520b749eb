"""Bounding volumes of the shapes of a robot: capsules and boxes, and lower bounds of distance between two volumes.

A slot is a shape that is fixed to a link or to the world. ``rows[k]`` is the pose of slot k. Its numbers in f begin at
starts[k, 1] for the shape, at starts[k, 2] for its capsule, and at starts[k, 3] for its box.

Links are longer than they are wide, so a capsule is a far better bound than a ball. The distance of two capsules costs
as little as that of two segments. Boxes separate flat shapes side by side, whose capsules overlap. Only the six face
axes of two boxes are tested, because they decide most cases without the nine cross products.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.points import principal_axes
from gjk3d.geometry.vec3 import Vec3, dot, place, sub, turn
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Ints

NO_CAPSULE = -1  #: first index of the capsule of a half-space, which does not have one
#: number of floats of a capsule: both ends, in the frame of the shape, and the radius
CAPSULE_SIZE = 7
_ROUNDS = 20  #: steps towards the centre of the smallest circle around the points projected along an axis
_ROUNDING = 1e-12
_NORMAL = layout.FLOAT_HEAD  #: first index of the normal of a half-space; its offset follows the normal


def with_bounds(
    shapes: list[Shape], bound: Callable[[Shape], Array], floats: Array, starts: Ints
) -> tuple[Array, Ints]:
    """Append the bounding volume of each packed shape to ``floats``, and its first index as a column to ``starts``.

    ``bound`` is `bounding_capsule` or `bounding_box`. The index of a half-space, which has no bound, is `NO_CAPSULE`.
    """
    rows = [None if isinstance(shape, Halfspace) else bound(shape) for shape in shapes]
    sizes = np.array([0 if row is None else len(row) for row in rows], dtype=np.int64)
    where = np.where(sizes > 0, len(floats) + np.cumsum(sizes) - sizes, NO_CAPSULE)
    more = [row for row in rows if row is not None]
    return np.concatenate([floats, *more]), np.column_stack([starts, where])


@lru_cache(maxsize=1024)
def bounding_capsule(shape: Shape) -> Array:
    """Return a capsule around a shape in its local frame, (7,): both ends and the radius.

    For a polytope it is the capsule of least volume along a coordinate axis or a principal axis. The capsule of a
    cylinder or a capsule has the same axis. For other shapes it is the bounding ball.
    """
    if isinstance(shape, (Box, ConvexHull)):
        return _round_points(shape.vertices)
    if isinstance(shape, (Cylinder, Capsule)):
        half = 0.5 * shape.height
        return np.array([0.0, 0.0, -half, 0.0, 0.0, half, shape.radius])  # holds it without rounding
    numbers = shape._packed[1]
    center = numbers[layout.CENTER : layout.CENTER + 3]
    radius = (numbers[layout.RHO] + numbers[layout.RADIUS]) * (1.0 + _ROUNDING)
    return np.array([*center, *center, radius])


def _round_points(points: Array) -> Array:
    middle = points.mean(axis=0)
    axes = np.concatenate([np.eye(3), np.linalg.svd(points - middle, full_matrices=False)[2]])
    best, least = np.zeros(CAPSULE_SIZE), np.inf
    for axis in axes:
        along = (points - middle) @ axis
        flat = points - middle - np.outer(along, axis)
        centre = np.zeros(3)
        for k in range(_ROUNDS):  # Badoiu and Clarkson: a step towards the farthest, shorter each time
            farthest = np.argmax(((flat - centre) ** 2).sum(axis=1))
            centre += (flat[farthest] - centre) / (k + 2)
        # within the cylinder of the farthest point, each point allows its own ball centre along the axis
        square = ((flat - centre) ** 2).sum(axis=1)
        inside = np.sqrt(square.max() - square)
        top, bottom = (along - inside).max(), (along + inside).min()
        if top < bottom:
            top = bottom = 0.5 * (top + bottom)
        over = along - np.clip(along, bottom, top)
        radius = np.sqrt((square + over * over).max())
        volume = radius * radius * ((top - bottom) + 4.0 / 3.0 * radius)
        if volume < least:
            least = volume
            size = np.abs(points).max() + radius
            best = np.array([*(middle + centre + bottom * axis), *(middle + centre + top * axis),
                             radius + _ROUNDING * size])  # fmt: skip
    return best


@kernel
def end_of(rows: Array, k: int, f: Array, o: int) -> tuple[float, float, float]:
    """Return the local point f[o : o + 3] of slot k in world coordinates. ``rows[k]`` is the pose of the slot."""
    x, y, z = f[o], f[o + 1], f[o + 2]
    return (
        rows[k, 0] * x + rows[k, 1] * y + rows[k, 2] * z + rows[k, 9],
        rows[k, 3] * x + rows[k, 4] * y + rows[k, 5] * z + rows[k, 10],
        rows[k, 6] * x + rows[k, 7] * y + rows[k, 8] * z + rows[k, 11],
    )


@kernel
def _above(rows: Array, k: int, f: Array, o: int, p: Vec3, q: Vec3) -> float:
    """Return a lower bound of the signed distances of p and q from the half-space of slot k, packed at f[o]."""
    n = (f[o + _NORMAL], f[o + _NORMAL + 1], f[o + _NORMAL + 2])
    n = (
        rows[k, 0] * n[0] + rows[k, 1] * n[1] + rows[k, 2] * n[2],
        rows[k, 3] * n[0] + rows[k, 4] * n[1] + rows[k, 5] * n[2],
        rows[k, 6] * n[0] + rows[k, 7] * n[1] + rows[k, 8] * n[2],
    )
    far = dot(n, (rows[k, 9], rows[k, 10], rows[k, 11])) + f[o + _NORMAL + 3]
    size = abs(far) + abs(rows[k, 9]) + abs(rows[k, 10]) + abs(rows[k, 11])
    size += abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(q[0]) + abs(q[1]) + abs(q[2])
    return float(min(dot(n, p), dot(n, q)) - far - (_ROUNDING + 8.0 * rows[k, 12]) * size)


@kernel
def between_capsules(rows: Array, f: Array, starts: Ints, a: int, b: int) -> float:
    """Return a lower bound of the distance of the capsules of slots a and b. Slot b may be a half-space.

    The nearest points of the segments (Ericson, Real-Time Collision Detection, 2005, sec. 5.1.9) only give a direction.
    The bound is the gap of the projections on that direction, so it is valid for inaccurate points too.
    """
    oa, ob = starts[a, 2], starts[b, 2]
    px, py, pz = end_of(rows, a, f, oa)
    ux, uy, uz = end_of(rows, a, f, oa + 3)
    if ob == NO_CAPSULE:
        return float(_above(rows, b, f, starts[b, 1], (px, py, pz), (ux, uy, uz)) - f[oa + 6] * (1.0 + 1e-9))
    qx, qy, qz = end_of(rows, b, f, ob)
    vx, vy, vz = end_of(rows, b, f, ob + 3)
    ux, uy, uz = ux - px, uy - py, uz - pz
    vx, vy, vz = vx - qx, vy - qy, vz - qz
    rx, ry, rz = px - qx, py - qy, pz - qz
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    ur, vr = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
    s = 0.0  # for nearly parallel segments any s is valid, since t is computed from it
    cross = uu * vv - uv * uv
    if cross > 1e-12 * uu * vv:
        s = min(max((uv * vr - ur * vv) / cross, 0.0), 1.0)
    t = 0.0
    if vv > 0.0:
        t = min(max((uv * s + vr) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - ur) / uu, 0.0), 1.0)
    x, y, z = rx + s * ux - t * vx, ry + s * uy - t * vy, rz + s * uz - t * vz  # from b to a
    length = sqrt(x * x + y * y + z * z)
    radii = (f[oa + 6] + f[ob + 6]) * (1.0 + 1e-9)
    if not length > 0.0:
        return float(-radii)
    # A begins at the lower of its two projected ends, and B ends at the higher of its own
    low = (x * rx + y * ry + z * rz) + min(x * ux + y * uy + z * uz, 0.0)
    gap = (low - max(x * vx + y * vy + z * vz, 0.0)) / length
    return float(gap - radii - 1e-9 * abs(gap))


#: number of floats of a box in the frame of the shape: centre, axes, half widths, and a bound of its distance from the
#: origin
BOX_SIZE = 16
NO_BOX = -1  #: first index of the box of a half-space, which does not have one
#: relative to positions and sizes of boxes: the residuals of rotations, and rounding
_PLACED = 2e-13


@lru_cache(maxsize=1024)
def bounding_box(shape: Shape) -> Array:
    """Return a box around a shape, (16,): centre, three axes, half widths, and the greatest coordinate doubled.

    The axes are those of the local frame, or the principal axes if that box is smaller.
    """
    frames = [np.eye(3)]
    if isinstance(shape, (Box, ConvexHull)):
        points = shape.vertices
        frames.append(principal_axes(points - points.mean(axis=0))[1])
    best, least = np.zeros(BOX_SIZE), np.inf
    for axes in frames:
        ends = np.asarray(shape.support(np.concatenate([axes, -axes])))
        high, low = (ends[:3] * axes).sum(axis=1), (ends[3:] * axes).sum(axis=1)
        reach = np.abs(ends).max() * 2.0
        half = 0.5 * (high - low) + _ROUNDING * reach
        if half.prod() < least:
            least = half.prod()
            center = 0.5 * (high + low) @ axes
            best = np.array([*center, *axes.ravel(), *half, reach])
    return best


@inlined
def _axes(m: Array, f: Array, o: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the axes in the world of the box at f[o], which is fixed to the pose row m."""
    return (
        turn(m, (f[o + 3], f[o + 4], f[o + 5])),
        turn(m, (f[o + 6], f[o + 7], f[o + 8])),
        turn(m, (f[o + 9], f[o + 10], f[o + 11])),
    )


@inlined
def _reach(axis: Vec3, axes: tuple[Vec3, Vec3, Vec3], f: Array, o: int) -> float:
    """Return the half width along ``axis`` of the box at f[o], whose axes in the world are ``axes``."""
    x, y, z = axes
    return float(f[o + 12] * abs(dot(axis, x)) + f[o + 13] * abs(dot(axis, y)) + f[o + 14] * abs(dot(axis, z)))


@kernel
def between_boxes(rows: Array, f: Array, starts: Ints, a: int, b: int) -> float:
    """Return a lower bound of the distance of the boxes of slots a and b. Without a separating axis it is negative."""
    oa, ob = starts[a, 3], starts[b, 3]
    if ob == NO_BOX:
        return -inf
    p, q = place(rows[a], (f[oa], f[oa + 1], f[oa + 2])), place(rows[b], (f[ob], f[ob + 1], f[ob + 2]))
    # separating axes (Gottschalk, Lin, Manocha 1996): the gap along any unit axis is a lower bound of the distance
    d = sub(q, p)
    x, y = _axes(rows[a], f, oa), _axes(rows[b], f, ob)
    gap = abs(dot(d, x[0])) - f[oa + 12] - _reach(x[0], y, f, ob)
    gap = max(gap, abs(dot(d, x[1])) - f[oa + 13] - _reach(x[1], y, f, ob))
    gap = max(gap, abs(dot(d, x[2])) - f[oa + 14] - _reach(x[2], y, f, ob))
    gap = max(gap, abs(dot(d, y[0])) - f[ob + 12] - _reach(y[0], x, f, oa))
    gap = max(gap, abs(dot(d, y[1])) - f[ob + 13] - _reach(y[1], x, f, oa))
    gap = max(gap, abs(dot(d, y[2])) - f[ob + 14] - _reach(y[2], x, f, oa))
    far = abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(q[0]) + abs(q[1]) + abs(q[2])
    return float(gap - _PLACED * (far + f[oa + 15] + f[ob + 15]))
