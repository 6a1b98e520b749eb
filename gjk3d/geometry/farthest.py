"""The farthest of many points along each of many directions, without a look at every pair.

Let w be farthest along some axis, and v at least as far as w along a direction d. Then d.(v - w) >= 0, so
axis.(w - v) <= (d - axis).(v - w) <= |d - axis| |v - w|. With the axis amid a few like directions, that leaves the
points near w on a rounded hull, and those of a face or two on any. So directions are split in halves, and with each
half go the points that are still in question, until both are few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FEW = 1 << 17  #: products of a point and a direction that cost less than one more split
_APART = 0.7  #: directions farther apart than this, by their length, leave most points in question
_ROUNDING = 32.0 * 2.0**-53  #: of the products compared


def farthest(points: Array, directions: Array) -> tuple[Array, Index]:
    """Return how far points (n, d) reach along each direction (m, d), and the index of the one that does, (m,) each.

    There is at least one point. Among points that are equally far to rounding, any may be returned.
    """
    reach = np.empty(len(directions))
    index = np.empty(len(directions), dtype=np.int64)
    rounding = _ROUNDING * float(np.abs(points).max())
    everything = np.arange(len(directions)), directions.T.copy(), np.arange(len(points)), points.T.copy()
    todo = [everything] if len(directions) else []
    while todo:
        rows, some, members, columns = todo.pop()
        low, high = some.min(axis=1), some.max(axis=1)
        widest = int((high - low).argmax())
        alike = low[widest] == high[widest]
        if alike or len(rows) * len(members) <= FEW:
            heights = (some[:, :1] if alike else some).T @ columns
            best = heights.argmax(axis=1)
            reach[rows], index[rows] = heights[np.arange(len(best)), best], members[best]
            continue
        near = _in_question(columns, some, 0.5 * (low + high), rounding)
        if near is not None:
            members, columns = members[near], columns[:, near]
        order = np.argpartition(some[widest], len(rows) // 2)
        for half in np.split(order, [len(rows) // 2]):
            todo.append((rows[half], some[:, half], members, columns))
    return reach, index


def _in_question(points: Array, directions: Array, axis: Array, rounding: float) -> Index | None:
    """Return which points may be farthest along directions round an axis; None for all. All in columns."""
    apart = float(np.sqrt(((directions - axis[:, None]) ** 2).sum(axis=0).max()))
    if apart > _APART * float(np.sqrt(axis @ axis)):
        return None
    height = axis @ points
    top = int(height.argmax())
    bound = points - points[:, top, None]
    bound *= bound  # in place: here is where the time goes
    bound = bound.sum(axis=0)
    np.sqrt(bound, out=bound)
    bound *= apart
    bound += height
    return np.flatnonzero(bound >= height[top] - rounding)
