"""Kernels that put shapes and bounding volumes at poses, rounded outward: balls, boxes along axes, oriented boxes.

Each takes one pose as a (4, 4) matrix, which it checks, or n poses as rows that were checked. It returns 0, what is
wrong with the matrix, or ``ODD`` for numbers beyond the sizes that volumes may have.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.poses import UNIT_ROUNDOFF, check_row
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array1, Array2, Array3, Ints1

ODD = -1
_U = UNIT_ROUNDOFF
_RADIUS, _CENTER, _RHO, _SLACK = layout.RADIUS, layout.CENTER, layout.RHO, layout.SLACK
_LEAST, _GREATEST = layout.LEAST, layout.GREATEST


@inlined
def _length(x: float, y: float, z: float) -> float:
    return sqrt(x * x + y * y + z * z)


@kernel
def _is_odd(largest: float) -> bool:
    return not (largest == 0.0 or _LEAST <= largest <= _GREATEST)


@single_entry
def boxes_along_axes(q: Ints1, f: Array1, matrix: Array2, rows: Array2, out: Array2) -> int:
    """Fill out (n, 6) with the least and greatest corners of the boxes along the axes round a shape at poses."""
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    core = Core(q, f)
    reach = _length(f[_CENTER], f[_CENTER + 1], f[_CENTER + 2]) + (f[_RHO] + f[_RADIUS])
    rounding = f[_SLACK] + 32.0 * _U * reach
    largest, total = 0.0, 0.0
    for k in range(rows.shape[0]):
        for i in range(3):
            # row i of the rotation is the world's axis i in the shape's frame
            x, y, z, shift = rows[k, 3 * i], rows[k, 3 * i + 1], rows[k, 3 * i + 2], rows[k, 9 + i]
            fuzz = rounding + 4.0 * _U * abs(shift)
            p = farthest_point(core, (-x, -y, -z))
            low = p[0] * x + p[1] * y + p[2] * z + shift - fuzz
            p = farthest_point(core, (x, y, z))
            high = p[0] * x + p[1] * y + p[2] * z + shift + fuzz
            out[k, i], out[k, 3 + i] = low + 0.0, high + 0.0  # no negative zero
            largest = max(largest, abs(low), abs(high))
            total += low + high
    return ODD if _is_odd(largest) or total - total != 0.0 else 0


@single_entry
def balls_at(centers: Array2, radii: Array1, matrix: Array2, rows: Array2, out: Array2) -> int:
    """Fill out (n, 4) with the centers and radii of balls moved by poses; one ball, or one for each pose."""
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    largest = 0.0
    for k in range(rows.shape[0]):
        j = k if centers.shape[0] > 1 else 0
        x, y, z, r = centers[j, 0], centers[j, 1], centers[j, 2], radii[j]
        for i in range(3):
            center = rows[k, 3 * i] * x + rows[k, 3 * i + 1] * y + rows[k, 3 * i + 2] * z + rows[k, 9 + i]
            out[k, i] = center + 0.0
            largest = max(largest, abs(out[k, i]))
        shift = _length(rows[k, 9], rows[k, 10], rows[k, 11])
        # the polar step makes each singular value s (3 - s s) / 2 <= 1: the residual only adds to the safety
        fuzz = 8.0 * _U * (_length(x, y, z) + shift) + rows[k, 12] * r
        out[k, 3] = r * (1.0 + 4.0 * _U) + fuzz
        largest = max(largest, out[k, 3])
    return ODD if _is_odd(largest) else 0


@kernel
def _turned(row: Array, pose: Array, out: Array) -> None:
    """Put a pose (4, 4) behind a row of another."""
    for i in range(3):
        a, b, c = row[3 * i], row[3 * i + 1], row[3 * i + 2]
        for j in range(4):
            out[i, j] = a * pose[0, j] + b * pose[1, j] + c * pose[2, j]
        out[i, 3] += row[9 + i]
        out[3, i] = 0.0
    out[3, 3] = 1.0


@single_entry
def boxes_at(poses: Array3, extents: Array2, matrix: Array2, rows: Array2, out: Array3, lengths: Array2) -> int:
    """Fill out (n, 4, 4) and lengths (n, 3) with oriented boxes moved by poses; one box, or one for each pose."""
    if matrix.shape[0] > 0:
        wrong = check_row(matrix, rows, plain(0))
        if wrong != 0:
            return wrong
    largest = 0.0
    for k in range(rows.shape[0]):
        j = k if extents.shape[0] > 1 else 0
        _turned(rows[k], poses[j], out[k])
        reach = _length(extents[j, 0], extents[j, 1], extents[j, 2])
        reach += _length(poses[j, 0, 3], poses[j, 1, 3], poses[j, 2, 3]) + _length(rows[k, 9], rows[k, 10], rows[k, 11])
        for i in range(3):
            # `reach` holds the longest edge: a thin box feels how the others are rounded, more than its own product,
            # which is rounded by less than 4 u
            lengths[k, i] = extents[j, i] * (1.0 + 4.0 * _U) + 64.0 * _U * reach
            largest = max(largest, lengths[k, i], abs(out[k, i, 3]))
    return ODD if _is_odd(largest) else 0
