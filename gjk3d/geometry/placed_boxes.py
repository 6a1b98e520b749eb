"""Boxes along the axes round the same points at many poses."""

from __future__ import annotations

from math import inf

import numpy as np

from gjk3d._kernels.decorators import entry
from gjk3d.typing import Array, Array2


def boxes_of(rows: Array, points: Array) -> Array:
    """Return the lowest and the highest corner of points (k, 3) at pose rows (n, 13): (n, 2, 3)."""
    out = np.empty((len(rows), 6))
    fit_boxes(np.ascontiguousarray(rows), points, out)
    return out.reshape(-1, 2, 3)


@entry
def fit_boxes(rows: Array2, points: Array2, out: Array2) -> None:
    """Write lowest and highest coordinates, (n, 6)."""
    for row in range(rows.shape[0]):
        for k in range(3):
            x, y, z = rows[row, 3 * k], rows[row, 3 * k + 1], rows[row, 3 * k + 2]
            low, high = inf, -inf
            for i in range(points.shape[0]):
                along = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
                low, high = min(low, along), max(high, along)
            out[row, k] = low + rows[row, 9 + k] + 0.0
            out[row, 3 + k] = high + rows[row, 9 + k] + 0.0
