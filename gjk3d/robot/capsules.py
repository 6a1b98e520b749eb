"""A capsule round each shape of a robot: a bound of the distance of two that is far better than that of their balls.

Links are longer than they are wide. Of two capsules the distance is that of two segments, a few dozen operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, dot
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Ints

NO_CAPSULE = -1  #: where the capsule of a half-space begins: it has none
#: floats of a capsule: both ends, in the frame of the shape, and the radius
SIZE = 7
_ROUNDS = 20  #: towards the middle of the smallest circle round the points seen along an axis
_ROUNDING = 1e-12
_NORMAL = layout.FLOAT_HEAD  #: of a half-space, where its normal begins, and its offset behind that


def with_bounds(
    shapes: list[Shape], bound: Callable[[Shape], Array], floats: Array, starts: Ints
) -> tuple[Array, Ints]:
    """Return the numbers of an arena with those of bounds behind them, and its starts with a column that says where.

    ``bound`` is `bounding_capsule` or `gjk3d.robot.boxes.bounding_box`. A half-space has none.
    """
    rows = [None if isinstance(shape, Halfspace) else bound(shape) for shape in shapes]
    sizes = np.array([0 if row is None else len(row) for row in rows], dtype=np.int64)
    where = np.where(sizes > 0, len(floats) + np.cumsum(sizes) - sizes, NO_CAPSULE)
    more = [row for row in rows if row is not None]
    return np.concatenate([floats, *more]), np.column_stack([starts, where])


@lru_cache(maxsize=1024)
def bounding_capsule(shape: Shape) -> Array:
    """Return the ends and the radius of a capsule round a shape; where nothing better is known, of the ball round it.

    Polytopes have the smallest of those along a few axes, which are those of their frame and of their spread.
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
    best, least = np.zeros(SIZE), np.inf
    for axis in axes:
        along = (points - middle) @ axis
        flat = points - middle - np.outer(along, axis)
        centre = np.zeros(3)
        for k in range(_ROUNDS):  # Badoiu and Clarkson: a step towards the farthest, shorter each time
            farthest = np.argmax(((flat - centre) ** 2).sum(axis=1))
            centre += (flat[farthest] - centre) / (k + 2)
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
    """Return an end of the capsule round slot k, whose numbers are f[o : o + 3]."""
    x, y, z = f[o], f[o + 1], f[o + 2]
    return (
        rows[k, 0] * x + rows[k, 1] * y + rows[k, 2] * z + rows[k, 9],
        rows[k, 3] * x + rows[k, 4] * y + rows[k, 5] * z + rows[k, 10],
        rows[k, 6] * x + rows[k, 7] * y + rows[k, 8] * z + rows[k, 11],
    )


@kernel
def _above(rows: Array, k: int, f: Array, o: int, p: Vec3, q: Vec3) -> float:
    """Return how high the lower of two points is above the half-space of slot k."""
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
    """Return how far apart the capsules round two slots are at least, rounding left out; the second may have no end.

    The nearest points of the segments only give a direction; the bound is what that direction proves, however well
    they were found. Ericson, Real-Time Collision Detection, 2005, sec. 5.1.9.
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
    s = 0.0
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
    # along it A begins at the lower of its ends, and B ends at the higher of its own
    low = (x * rx + y * ry + z * rz) + min(x * ux + y * uy + z * uz, 0.0)
    gap = (low - max(x * vx + y * vy + z * vz, 0.0)) / length
    return float(gap - radii - 1e-9 * abs(gap))
