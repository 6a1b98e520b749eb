"""Convex polygons in the plane: cut by a half-plane, cleaned, and thinned to few vertices.

Rows of (x, y), counter-clockwise. Two rows are a segment, one is a point; each step takes and leaves either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d._numba import kernel

Array = NDArray[np.float64]

#: areas that differ by less, relative to the whole, count as equal, so that rounding does not choose
_TIE = 1e-6


@kernel
def cut(p: Array, n: int, a: float, b: float, c: float, tol: float, out: Array) -> int:
    """Write what of the n rows of p has a x + b y <= c to ``out``; return how many rows that is.

    Sutherland, Hodgman: Reentrant polygon clipping, 1974. Rows within ``tol`` of the line are kept as they are, and an
    edge is cut only where it crosses from one side of that band to the other: what lies on the line stays whole.
    Where ``out`` is full, as no convex polygon makes it, the rest is left out.
    """
    if n == 0:
        return 0
    count = 0
    last = n - 1
    before = a * p[last, 0] + b * p[last, 1] - c
    for i in range(n):
        here = a * p[i, 0] + b * p[i, 1] - c
        crosses = (before > tol and here < -tol) or (before < -tol and here > tol)
        if crosses and count < out.shape[0]:
            t = before / (before - here)
            out[count, 0] = p[last, 0] + t * (p[i, 0] - p[last, 0])
            out[count, 1] = p[last, 1] + t * (p[i, 1] - p[last, 1])
            count += 1
        if here <= tol and count < out.shape[0]:
            out[count, 0], out[count, 1] = p[i, 0], p[i, 1]
            count += 1
        before, last = here, i
    return count


@kernel
def _off_chord(p: Array, i: int, j: int, k: int) -> float:
    """Return the square of the distance of row j from the segment between rows i and k."""
    x, y = p[k, 0] - p[i, 0], p[k, 1] - p[i, 1]
    u, v = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
    square = x * x + y * y
    t = min(max((u * x + v * y) / square, 0.0), 1.0) if square > 0.0 else 0.0
    u, v = u - t * x, v - t * y
    return float(u * u + v * v)


@kernel
def _drop(p: Array, n: int, i: int) -> int:
    """Take row i out of n; return how many are left."""
    for j in range(i, n - 1):
        p[j, 0], p[j, 1] = p[j + 1, 0], p[j + 1, 1]
    return n - 1


@kernel
def tidy(p: Array, n: int, tol: float) -> int:
    """Take out rows that are within ``tol`` of the segment between their neighbours; return how many are left."""
    i = 0
    kept = 0  # rows looked at in a row without dropping one
    while n > 1 and kept < n:
        i = i if i < n else 0
        before = i - 1 if i > 0 else n - 1
        after = i + 1 if i < n - 1 else 0
        if _off_chord(p, before, i, after) <= tol * tol:
            n = _drop(p, n, i)
            kept = 0
        else:
            i += 1
            kept += 1
    return n


@kernel
def _worth(p: Array, i: int, j: int, k: int) -> float:
    """Return twice the area of the triangle that is lost with row j."""
    return float(abs((p[j, 0] - p[i, 0]) * (p[k, 1] - p[i, 1]) - (p[j, 1] - p[i, 1]) * (p[k, 0] - p[i, 0])))


@kernel
def twice_area(p: Array, n: int) -> float:
    """Return twice the area."""
    total = 0.0
    for i in range(1, n - 1):
        total += _worth(p, 0, i, i + 1)
    return total


@kernel
def thin(p: Array, n: int, most: int) -> int:
    """Take out rows until ``most``, at least 3, are left, each time the one that costs the least area.

    Visvalingam, Whyatt: Line generalisation by repeated elimination of points, 1993. Returns how many are left.
    """
    tie = _TIE * twice_area(p, n)
    while n > most:
        best, least = -1, 0.0
        for i in range(n):
            loss = _worth(p, i - 1 if i > 0 else n - 1, i, i + 1 if i < n - 1 else 0)
            if best < 0 or loss < least - tie:
                best, least = i, loss
        n = _drop(p, n, best)
    return n


@kernel
def nearest_row(p: Array, n: int, x: float, y: float) -> int:
    """Return the row nearest to a point."""
    best, least = 0, 0.0
    for i in range(n):
        square = (p[i, 0] - x) * (p[i, 0] - x) + (p[i, 1] - y) * (p[i, 1] - y)
        if i == 0 or square < least:
            best, least = i, square
    return best


@kernel
def farthest_row(p: Array, n: int, x: float, y: float) -> int:
    """Return the first of the rows farthest from a point, as far as rounding can tell."""
    best, most = 0, 0.0
    for i in range(n):
        square = (p[i, 0] - x) * (p[i, 0] - x) + (p[i, 1] - y) * (p[i, 1] - y)
        if square > most * (1.0 + _TIE):
            best, most = i, square
    return best
