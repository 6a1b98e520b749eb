"""A box round each shape of a robot: it parts two that lie side by side, which the capsules round them may not.

Asked are the six axes of two boxes, which tell in most cases, not the nine across both.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.points import principal_axes
from gjk3d.geometry.vec3 import Vec3, dot, place, sub, turn
from gjk3d.shapes.base import Shape
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Ints

#: floats of a box in the frame of the shape: its centre, its axes, how far it reaches along each, and how far from the
#: origin at most
SIZE = 16
NO_BOX = -1  #: where the box of a half-space begins: it has none
_ROUNDING = 1e-12
#: of where boxes are and how large: what rotations miss of orthonormal, and rounding
_PLACED = 2e-13


@lru_cache(maxsize=1024)
def bounding_box(shape: Shape) -> Array:
    """Return a box round a shape: along the axes of its frame, or of the spread of its vertices where that is less."""
    frames = [np.eye(3)]
    if isinstance(shape, (Box, ConvexHull)):
        points = shape.vertices
        frames.append(principal_axes(points - points.mean(axis=0))[1])
    best, least = np.zeros(SIZE), np.inf
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
    """Return the axes of a box in the world."""
    return (
        turn(m, (f[o + 3], f[o + 4], f[o + 5])),
        turn(m, (f[o + 6], f[o + 7], f[o + 8])),
        turn(m, (f[o + 9], f[o + 10], f[o + 11])),
    )


@inlined
def _reach(axis: Vec3, others: tuple[Vec3, Vec3, Vec3], f: Array, o: int) -> float:
    """Return how far a box reaches from its centre along an axis."""
    x, y, z = others
    return float(f[o + 12] * abs(dot(axis, x)) + f[o + 13] * abs(dot(axis, y)) + f[o + 14] * abs(dot(axis, z)))


@kernel
def between_boxes(rows: Array, f: Array, starts: Ints, a: int, b: int) -> float:
    """Return how far apart the boxes round two slots are at least, as far as their own axes tell; negative if not."""
    oa, ob = starts[a, 3], starts[b, 3]
    if ob == NO_BOX:
        return -inf
    p, q = place(rows[a], (f[oa], f[oa + 1], f[oa + 2])), place(rows[b], (f[ob], f[ob + 1], f[ob + 2]))
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
