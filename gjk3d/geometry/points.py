"""Many points at once: their order, the farthest ones along directions, and their boxes at many poses.

`farthest` avoids the product of all points and all directions. Let w be the farthest point along some axis, and let v
be at least as far as w along a direction d. Then d.(v - w) >= 0, so axis.(w - v) <= (d - axis).(v - w), which is at
most the sum of |d - axis| |v - w| over the coordinates. If the axis is the mean of a few similar directions, only
points near w remain on a rounded hull, and only points of one or two faces on any hull. Directions are therefore split
in halves, each half keeps its candidate points, and the split stops when directions and candidates are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.typing import Array, Array2, Ints


@kernel
def sort_points(flat: Array, count: int, order: Ints) -> None:
    """Fill ``order`` with the indices of the first ``count`` points, sorted by x, then by y (Shell, 1959)."""
    for i in range(count):
        order[i] = i
    gap = 1
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            k = order[i]
            x, y = flat[0, k], flat[1, k]
            j = i
            while j >= gap:
                h = order[j - gap]
                if flat[0, h] < x or (flat[0, h] == x and flat[1, h] <= y):
                    break
                order[j] = h
                j -= gap
            order[j] = k
        gap //= 3


FEW = 1 << 16  #: products of a point and a direction that cost less than another split, and less than a thread
_ROUNDING = 128.0 * 2.0**-53  #: relative rounding of the compared products


def farthest(points: Array, directions: Array) -> tuple[Array, Ints]:
    """Return the greatest height of points (n, d) along each direction (m, d), and the farthest point, (m,) each.

    There is at least one point. If several points are equally far to rounding, any of them may be returned.
    """
    reach = np.empty(len(directions))
    index = np.empty(len(directions), dtype=np.int64)
    for rows, members in _groups(points - points.mean(axis=0), directions, _may_be_farthest):
        some = directions[rows]
        some = some[:1] if (some == some[0]).all() else some
        heights = some @ points[members].T
        best = heights.argmax(axis=1)
        reach[rows], index[rows] = heights[np.arange(len(some)), best], members[best]
    return reach, index


def reaching(points: Array, directions: Array, level: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield groups of directions (m, d), with the points (n, d) that may reach ``level`` along one of them."""

    def may_reach(columns: Array, axis: Array, half: Array, rounding: float) -> Any:
        return _products(axis, columns) + _products(half, np.abs(columns)) >= level - rounding

    for rows, members in _groups(points, directions, may_reach):
        if len(members):
            yield rows, members


def _groups(points: Array, directions: Array, in_question: Callable[..., Any]) -> Iterator[tuple[Ints, Ints]]:
    """Yield groups of similar directions, each direction once, and with each group its candidate points.

    ``in_question`` is called with points in columns, and the middle, half extents and rounding error of directions.
    """
    if len(points) * len(directions) <= FEW:
        if len(directions):
            yield np.arange(len(directions)), np.arange(len(points))
        return
    rounding = _ROUNDING * float(np.abs(points).max()) * float(np.abs(directions).max())
    # points and directions in columns, mapped so that the points spread equally and products are the same
    _, spread, axes = np.linalg.svd(points, full_matrices=False)
    spread = np.maximum(spread, 1e-15 * float(spread[0]) + 1e-300)[:, None]
    columns, some = axes @ points.T / spread, axes @ directions.T * spread
    todo = [(np.arange(len(directions)), some, np.arange(len(points)), columns)]
    while todo:
        rows, some, members, columns = todo.pop()
        low, high = some.min(axis=1), some.max(axis=1)
        if len(rows) * len(members) <= FEW or not (low < high).any():
            yield rows, members
            continue
        remaining = np.flatnonzero(in_question(columns, 0.5 * (low + high), 0.5 * (high - low), rounding))
        members, columns = members[remaining], columns.take(remaining, axis=1)
        order = np.argpartition(some[(high - low).argmax()], len(rows) // 2)
        for half in np.split(order, [len(rows) // 2]):
            todo.append((rows[half], some.take(half, axis=1), members, columns))


def principal_axes(points: Array) -> tuple[Array, Array]:
    """Return the singular values (min(n, 3),) of points (n, 3), and all three right singular vectors in rows."""
    # full matrices are n x n for many points; the others lack right vectors for less than three points
    lengths, axes = np.linalg.svd(points, full_matrices=len(points) < 3)[1:]
    return lengths, axes


def _may_be_farthest(points: Array, axis: Array, half: Array, rounding: float) -> Any:
    height = _products(axis, points)
    top = int(height.argmax())
    offsets = points - points[:, top, None]
    # a point that is excluded by rounding alone is farther than the top by at most this rounding
    return height + _products(half, np.abs(offsets, out=offsets)) >= height[top] - rounding


def _products(vector: Array, columns: Array) -> Array:
    """Return the product of a vector with each column, without the threads of a library."""
    out: Array = (vector[:, None] * columns).sum(axis=0)
    return out


def boxes_of(rows: Array, points: Array) -> Array:
    """Return the lowest and the highest corner of points (k, 3) at pose rows (n, 13): (n, 2, 3)."""
    out = np.empty((len(rows), 6))
    fit_boxes(np.ascontiguousarray(rows), points, out)
    return out.reshape(-1, 2, 3)


@entry
def fit_boxes(rows: Array2, points: Array2, out: Array2) -> None:
    """Write the lowest and the highest coordinates of points at pose rows to ``out``, (n, 6)."""
    for row in range(rows.shape[0]):
        for k in range(3):
            x, y, z = rows[row, 3 * k], rows[row, 3 * k + 1], rows[row, 3 * k + 2]
            low, high = inf, -inf
            for i in range(points.shape[0]):
                along = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
                low, high = min(low, along), max(high, along)
            out[row, k] = low + rows[row, 9 + k] + 0.0
            out[row, 3 + k] = high + rows[row, 9 + k] + 0.0
