"""Oriented boxes, and tests of whether two boxes are separated.

The row of a box has its centre, half widths and axes. A root is the box around a whole body, with further columns.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import Rigid, Vec3, along, dot, place, sub, turn
from gjk3d.typing import Array

#: columns of a root after the box: greatest coordinate, which is infinite without a box, rounding radius, and the
#: radius of the ball about the box's centre
REACH, RIM, RADIUS, ROOT = range(15, 19)


@inlined
def row_at(boxes: Array, i: int, column: int) -> Vec3:
    """Return three consecutive numbers of row i, starting at ``column``."""
    return (boxes[i, column], boxes[i, column + 1], boxes[i, column + 2])


@inlined
def box_pose(m: Rigid, ba: Array, i: int, bb: Array, j: int) -> Rigid:
    """Return the pose of B's box in the frame of A's box, where m is the pose of B's mesh in A's."""
    t = sub(place(m, row_at(bb, j, 0)), row_at(ba, i, 0))
    p, q, r = turn(m, row_at(bb, j, 6)), turn(m, row_at(bb, j, 9)), turn(m, row_at(bb, j, 12))
    a, b, c = row_at(ba, i, 6), row_at(ba, i, 9), row_at(ba, i, 12)
    return (
        dot(a, p), dot(a, q), dot(a, r), dot(b, p), dot(b, q), dot(b, r), dot(c, p), dot(c, q), dot(c, r),
        dot(a, t), dot(b, t), dot(c, t),
    )  # fmt: skip


@inlined
def boxes_apart(m: Rigid, a0: float, a1: float, a2: float, b0: float, b1: float, b2: float) -> bool:
    """Return whether one of the fifteen axes separates two boxes (Gottschalk, Lin, Manocha 1996); m is B's pose in A.

    ``a0`` to ``b2`` are half widths. The absolute values are increased, so that nearly parallel edges prove nothing.
    """
    e = 1e-14
    n00, n01, n02 = abs(m[0]) + e, abs(m[1]) + e, abs(m[2]) + e
    x, y, z = m[9], m[10], m[11]
    # the axes of both boxes decide most pairs, so they are tested before the nine cross products
    if abs(x) > a0 + n00 * b0 + n01 * b1 + n02 * b2:
        return True
    n10, n11, n12 = abs(m[3]) + e, abs(m[4]) + e, abs(m[5]) + e
    if abs(y) > a1 + n10 * b0 + n11 * b1 + n12 * b2:
        return True
    n20, n21, n22 = abs(m[6]) + e, abs(m[7]) + e, abs(m[8]) + e
    if abs(z) > a2 + n20 * b0 + n21 * b1 + n22 * b2:
        return True
    if abs(x * m[0] + y * m[3] + z * m[6]) > b0 + n00 * a0 + n10 * a1 + n20 * a2:
        return True
    if abs(x * m[1] + y * m[4] + z * m[7]) > b1 + n01 * a0 + n11 * a1 + n21 * a2:
        return True
    if abs(x * m[2] + y * m[5] + z * m[8]) > b2 + n02 * a0 + n12 * a1 + n22 * a2:
        return True
    if abs(z * m[3] - y * m[6]) > a1 * n20 + a2 * n10 + b1 * n02 + b2 * n01:
        return True
    if abs(z * m[4] - y * m[7]) > a1 * n21 + a2 * n11 + b0 * n02 + b2 * n00:
        return True
    if abs(z * m[5] - y * m[8]) > a1 * n22 + a2 * n12 + b0 * n01 + b1 * n00:
        return True
    if abs(x * m[6] - z * m[0]) > a0 * n20 + a2 * n00 + b1 * n12 + b2 * n11:
        return True
    if abs(x * m[7] - z * m[1]) > a0 * n21 + a2 * n01 + b0 * n12 + b2 * n10:
        return True
    if abs(x * m[8] - z * m[2]) > a0 * n22 + a2 * n02 + b0 * n11 + b1 * n10:
        return True
    if abs(y * m[0] - x * m[3]) > a0 * n10 + a1 * n00 + b1 * n22 + b2 * n21:
        return True
    if abs(y * m[1] - x * m[4]) > a0 * n11 + a1 * n01 + b0 * n22 + b2 * n20:
        return True
    return abs(y * m[2] - x * m[5]) > a0 * n12 + a1 * n02 + b0 * n21 + b1 * n20


@inlined
def gap_squared(m: Rigid, a0: float, a1: float, a2: float, b0: float, b1: float, b2: float) -> float:
    """Return a lower bound of the squared distance of two boxes along the axes of both; m is B's pose in A."""
    x = max(0.0, abs(m[9]) - a0 - (abs(m[0]) * b0 + abs(m[1]) * b1 + abs(m[2]) * b2))
    y = max(0.0, abs(m[10]) - a1 - (abs(m[3]) * b0 + abs(m[4]) * b1 + abs(m[5]) * b2))
    z = max(0.0, abs(m[11]) - a2 - (abs(m[6]) * b0 + abs(m[7]) * b1 + abs(m[8]) * b2))
    first = x * x + y * y + z * z
    u, v, w = m[9], m[10], m[11]
    x = max(0.0, abs(u * m[0] + v * m[3] + w * m[6]) - b0 - (abs(m[0]) * a0 + abs(m[3]) * a1 + abs(m[6]) * a2))
    y = max(0.0, abs(u * m[1] + v * m[4] + w * m[7]) - b1 - (abs(m[1]) * a0 + abs(m[4]) * a1 + abs(m[7]) * a2))
    z = max(0.0, abs(u * m[2] + v * m[5] + w * m[8]) - b2 - (abs(m[2]) * a0 + abs(m[5]) * a1 + abs(m[8]) * a2))
    return max(first, x * x + y * y + z * z)


@inlined
def from_box(p: Vec3, b: Array, i: int) -> float:
    """Return the squared distance of point p from box i, 0 inside the box."""
    d = sub(p, row_at(b, i, 0))
    x = max(0.0, abs(dot(d, row_at(b, i, 6))) - b[i, 3])
    y = max(0.0, abs(dot(d, row_at(b, i, 9))) - b[i, 4])
    z = max(0.0, abs(dot(d, row_at(b, i, 12))) - b[i, 5])
    return float(x * x + y * y + z * z)


@inlined
def top_of_box(boxes: Array, i: int, n: Vec3) -> float:
    """Return the extent of a box along a unit vector."""
    b = boxes[i]
    far = n[0] * b[0] + n[1] * b[1] + n[2] * b[2]
    for c in range(3):
        far += abs(n[0] * b[6 + 3 * c] + n[1] * b[7 + 3 * c] + n[2] * b[8 + 3 * c]) * b[3 + c]
    return float(far)


@inlined
def corner_along(boxes: Array, i: int, n: Vec3) -> Vec3:
    """Return the farthest corner of a box along a vector."""
    p = row_at(boxes, i, 0)
    for c in range(3):
        axis = row_at(boxes, i, 6 + 3 * c)
        p = along(p, axis, boxes[i, 3 + c] if dot(n, axis) > 0.0 else -boxes[i, 3 + c])
    return p


@kernel
def roots_apart(m: Rigid, roots: Array, a: int, b: int, margin: float, rounding: float) -> bool:
    """Return whether the balls or boxes of roots a and b are farther apart than ``margin``; m is B's pose in A."""
    reach = roots[a, REACH] + roots[b, REACH] + max(abs(m[9]), abs(m[10]), abs(m[11]))
    more = margin + rounding * reach + roots[a, RIM] + roots[b, RIM]
    to, far = box_pose(m, roots, a, roots, b), roots[a, RADIUS] + roots[b, RADIUS] + more
    if to[9] * to[9] + to[10] * to[10] + to[11] * to[11] > far * far:
        return True
    x, y, z = roots[a, 3] + more, roots[a, 4] + more, roots[a, 5] + more
    return bool(boxes_apart(to, x, y, z, roots[b, 3], roots[b, 4], roots[b, 5]))
