"""The order of points along a Morton curve, so that points near each other follow each other (Morton 1966)."""

from __future__ import annotations

import numpy as np

from gjk3d._kernels.decorators import entry, inlined
from gjk3d.typing import Array1, Array2, Ints, Ints1, Ints2

_BITS = 10  #: of a coordinate, and of a digit of the sort
_FEWEST = 64  #: points from which sorting saves time


@inlined
def _spread(x: int) -> int:
    """Return the ten bits of x with two zero bits after each bit."""
    x = (x | (x << 16)) & 0x030000FF
    x = (x | (x << 8)) & 0x0300F00F
    x = (x | (x << 4)) & 0x030C30C3
    return (x | (x << 2)) & 0x09249249


@entry
def _sort(points: Array2, low: Array1, longest: float, keys: Ints2, order: Ints2, counts: Ints1) -> None:
    """Write the order of the points into row 1 of ``order``; row 0 and both rows of ``keys`` are scratch."""
    n, digits = points.shape[0], counts.shape[0]
    # divided before it is multiplied, since the reciprocal of a tiny length is infinite
    for k in range(n):
        key = 0
        for c in range(3):
            part = (points[k, c] - low[c]) / longest if longest > 0.0 else 0.0
            key |= _spread(int(min(part * digits, digits - 1.0))) << c
        keys[0, k], order[0, k] = key, k
    source = 0
    for turn in range(3):
        counts[:] = 0
        shift = turn * _BITS
        for k in range(n):
            counts[(keys[source, k] >> shift) & (digits - 1)] += 1
        place = 0
        for digit in range(digits):
            counts[digit], place = place, place + counts[digit]
        for k in range(n):
            digit = (keys[source, k] >> shift) & (digits - 1)
            at = counts[digit]
            counts[digit] += 1
            keys[1 - source, at], order[1 - source, at] = keys[source, k], order[source, k]
        source = 1 - source


def morton_order(points: Array2) -> Ints:
    """Return the order of points along a Morton curve, or the given order if there are only a few points."""
    count = len(points)
    if count < _FEWEST:
        return np.arange(count)
    low = points.min(axis=0)
    keys, order = (np.empty((2, count), dtype=np.int64) for _ in range(2))
    _sort(points, low, float((points.max(axis=0) - low).max()), keys, order, np.empty(1 << _BITS, dtype=np.int64))
    in_order: Ints = order[1]
    return in_order
