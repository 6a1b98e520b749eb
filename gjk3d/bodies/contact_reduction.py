"""Reduction of contact points: without duplicates, and if there are too many, to points that span the patches.

`gjk3d.narrow.manifold.thinned` reduces the patch of two convex shapes. The default and the limit of the number of
points apply to all shapes.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot
from gjk3d.narrow.manifold import POINT
from gjk3d.narrow.workspace import borrow, give_back
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

FEW_POINTS = 4  #: the default of ``max_points`` in all queries for contacts
MAX_POINTS = 1 << 16  #: limit of ``max_points``, the number of columns in the result of a stack
WIDTH = POINT + 3  #: floats of a point: those of `gjk3d.narrow.manifold`, and its normal
_ONE_WAY = 1.0 - 1e-12  #: least cosine of the angle between equal normals
_ALIKE = 0.9  #: least cosine between normals of points that support a body together, as on rough ground
_SAME_POINT = 1e-9  #: greatest distance of equal points, in units of the greatest coordinate
_U, _V, _FAR = range(3)  #: columns of a point: its position in a plane, and its distance from all selected points
_ORDER, _LEFT, _CHAIN, _RETAINED = range(4)
KEY = _U  #: column of the sort key


@kernel
def _comes_before(flat: Array, a: int, b: int) -> bool:
    """Return whether point a precedes point b along the first axis, then the second, then by number."""
    if flat[a, _U] != flat[b, _U]:
        return bool(flat[a, _U] < flat[b, _U])
    if flat[a, _V] != flat[b, _V]:
        return bool(flat[a, _V] < flat[b, _V])
    return a < b


@kernel
def _sort(order: Ints, count: int, flat: Array) -> None:
    """Sort numbers of points in the plane (Shell, A high-speed sorting procedure, 1959)."""
    step = count // 2
    while step > 0:
        for k in range(step, count):
            number, i = order[k], k
            while i >= step and _comes_before(flat, number, order[i - step]):
                order[i] = order[i - step]
                i -= step
            order[i] = number
        step //= 2


@kernel
def _bulge(flat: Array, a: int, b: int, c: int) -> float:
    """Return the distance of b to the right of the line from a to c."""
    x, y = flat[c, _U] - flat[a, _U], flat[c, _V] - flat[a, _V]
    u, v = flat[b, _U] - flat[a, _U], flat[b, _V] - flat[a, _V]
    length = sqrt(x * x + y * y)
    return (u * y - v * x) / length if length > 0.0 else _between(flat, a, b)


@kernel
def _between(flat: Array, a: int, b: int) -> float:
    """Return the distance of two points in the plane."""
    x, y = flat[b, _U] - flat[a, _U], flat[b, _V] - flat[a, _V]
    return sqrt(x * x + y * y)


@kernel
def _mark_outline(flat: Array, count: int, tolerance: float, table: Ints) -> None:
    """Mark the corners of the convex hull in the plane (Andrew 1979), without points on its sides.

    If several points have the same position, the first by number is marked.
    """
    order, chain, retained = table[_ORDER], table[_CHAIN], table[_RETAINED]
    _sort(order, count, flat)
    for i in range(1, count):  # rounding must not sort the points of a side along the second axis
        if flat[order[i], _U] - flat[order[i - 1], _U] <= tolerance:
            flat[order[i], _U] = flat[order[i - 1], _U]
    _sort(order, count, flat)
    for side in range(2):
        top = 0
        for i in range(count):
            k = order[i] if side == 0 else order[count - 1 - i]
            if top > 0 and _between(flat, chain[top - 1], k) <= tolerance:  # coincident: the deeper point is first
                chain[top - 1] = min(chain[top - 1], k)
                continue
            while top > 1 and _bulge(flat, chain[top - 2], chain[top - 1], k) <= tolerance:
                top -= 1
            chain[top] = k
            top += 1
        for i in range(top - 1 if top > 1 else top):
            retained[chain[i]] = 1


@kernel
def _mark_outermost(rows: Array, count: int, tolerance: float, flat: Array, table: Ints) -> None:
    """Mark the corners of the outlines of patches (points with equal normals), and the deepest point of all."""
    order, left, retained = table[_ORDER], table[_LEFT], table[_RETAINED]
    for k in range(count):
        left[k], retained[k] = 1, 0
    for k in range(count):
        if left[k] == 0:
            continue
        n = (rows[k, POINT], rows[k, POINT + 1], rows[k, POINT + 2])
        x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
        # the axis least parallel to n gives a well-conditioned basis of the plane
        axis = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
        u = cross(n, axis)
        v = cross(n, u)
        some = 0
        for j in range(k, count):
            cosine = rows[j, POINT] * n[0] + rows[j, POINT + 1] * n[1] + rows[j, POINT + 2] * n[2]
            if left[j] != 0 and cosine > _ONE_WAY:
                left[j], order[some] = 0, j
                some += 1
                p = _middle(rows, j)
                flat[j, _U], flat[j, _V] = dot(p, u), dot(p, v)
        if some == 0:  # the normal is zero
            left[k], retained[k] = 0, 1
        _mark_outline(flat, some, tolerance, table)
    deepest, least = 0, inf
    for k in range(count):
        if rows[k, POINT - 1] < rows[deepest, POINT - 1]:
            deepest = k
        if retained[k] != 0:
            least = min(least, rows[k, POINT - 1])
    if rows[deepest, POINT - 1] < least - tolerance:
        retained[deepest] = 1


@kernel
def _middle(rows: Array, k: int) -> Vec3:
    return (0.5 * (rows[k, 0] + rows[k, 3]), 0.5 * (rows[k, 1] + rows[k, 4]), 0.5 * (rows[k, 2] + rows[k, 5]))


@inlined
def _normal(rows: Array, k: int) -> Vec3:
    return (rows[k, POINT], rows[k, POINT + 1], rows[k, POINT + 2])


@kernel
def _spread(rows: Array, count: int, most: int, flat: Array, table: Ints, out: Array) -> int:
    """Write the selected contact points with their normals, the deepest first, and return their number.

    A ``most`` of at least 0 limits their number. More points are reduced to corners of outlines. Points with a normal
    similar to that of the deepest come first, then points similar to the deepest of the remaining points. Each point is
    the farthest from all earlier points.
    """
    order = table[_ORDER]
    greatest = 0.0
    for k in range(count):
        p = _middle(rows, k)
        greatest = max(greatest, max(abs(p[0]), max(abs(p[1]), abs(p[2]))))
    tolerance = _SAME_POINT * greatest
    if 0 <= most < count:
        _mark_outermost(rows, count, tolerance, flat, table)
    else:
        for k in range(count):
            table[_RETAINED, k] = 1
    some = 0
    for k in range(count):
        if table[_RETAINED, k] != 0:
            order[some], flat[some, _FAR] = k, inf
            some += 1
    written, first, n = 0, 0, _normal(rows, order[0])
    while written < (some if most < 0 else min(most, some)):
        # points that coincide with a selected one are skipped
        while first < some - 1 and not flat[first, _FAR] > tolerance:
            first += 1
        if flat[first, _FAR] <= tolerance:
            break
        last = -1
        for i in range(first, some if most >= 0 else first):
            if flat[i, _FAR] > max(tolerance, flat[last, _FAR] if last >= 0 else 0.0):
                last = i if dot(_normal(rows, order[i]), n) > _ALIKE else last
        if last < 0:  # the deepest of the remaining points, and its patch
            last, n = first, _normal(rows, order[first])
        p = _middle(rows, order[last])
        for c in range(out.shape[1]):
            out[written, c] = rows[order[last], c]
        written += 1
        for i in range(some):
            q = _middle(rows, order[i])
            x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            flat[i, _FAR] = min(flat[i, _FAR], sqrt(x * x + y * y + z * z))
    return written


@kernel
def order_by_key(flat: Array, count: int, order: Ints) -> None:
    """Write the order of rows by their `KEY`, the least first, with the stable sort of `_sort`."""
    for k in range(count):
        order[k], flat[k, _V] = k, 0.0
    _sort(order, count, flat)


@inlined
def put_answer(answer: Array, row: Array) -> None:
    """Write the contact point of a signed distance, given by its result row."""
    for c in range(6):
        row[c] = answer[6 + c]
    row[POINT - 1] = answer[0]
    for c in range(3):
        row[POINT + c] = answer[3 + c]


@entry
def spread_rows(
    points: Array2, begins: Ints1, answers: Array2, most: int, flat: Array2, table: Ints2, rows: Array2, out: Array2,
    counts: Ints1,
) -> int:  # fmt: skip
    """Write the selected contact points of several pairs one after another with their counts, and return the total.

    The points of pair k begin at ``begins[k]``. A pair without points has the point of its result row. See `_spread`
    for ``most``. ``flat``, ``table`` and ``rows`` are scratch.
    """
    total = 0
    for k in range(counts.shape[0]):
        first, count = begins[k], begins[k + 1] - begins[k]
        if count == 0:
            put_answer(answers[k], out[total])
            counts[k] = 1
            total += 1
            continue
        for i in range(count):
            flat[i, KEY] = points[first + i, POINT - 1]
        order_by_key(flat, count, table[_ORDER])
        for i in range(count):
            for c in range(points.shape[1]):
                rows[i, c] = points[first + table[_ORDER, i], c]
        counts[k] = _spread(rows, count, most, flat, table, out[total:])
        total += counts[k]
    return total


def spread_points(points: Array, begins: Ints, answers: Array, most: int | None) -> tuple[Array, Ints]:
    """Return contact points of several pairs without duplicates, and their counts (`spread_rows`)."""
    pairs = len(begins) - 1
    longest = int((begins[1:] - begins[:-1]).max(initial=0))
    out, counts = borrow("spread", len(points) + pairs, WIDTH), np.empty(pairs, dtype=np.int64)
    total = spread_rows(
        points, begins, answers, -1 if most is None else int(most), np.empty((longest, 3)),
        np.empty((4, longest), dtype=np.int64), np.empty((longest, WIDTH)), out, counts,
    )  # fmt: skip
    retained = out[:total].copy()
    give_back(spread=out)
    return retained, counts
