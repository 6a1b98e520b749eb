"""Points and directions: orders of points, and the farthest points along directions.

`farthest` avoids the product of all points and all directions. Let w be the farthest point along some axis, and let v
be at least as far as w along a direction d. Then d.(v - w) >= 0, so axis.(w - v) <= (d - axis).(v - w), which is at
most the sum of |d - axis| |v - w| over the coordinates. If the axis is the mean of a few similar directions, few
points satisfy this inequality: those near w, and those of a large face at w. Directions are therefore split in halves.
Each half retains its candidate points. The split stops when directions and candidates are few.

Along a Morton curve, points near each other follow each other (Morton 1966).

A table of directions contains the candidate points of each cell of directions: those that may be farthest along a
direction of the cell. Directions are points of the surface of a cube, and each of its six sides is a tree of squares. A
direction through a square, scaled to reach the cube, is a weighted mean of the square's corners. A point that is lower
than another along all four corners, by more than rounding, is therefore lower along every direction through the square,
and is not a candidate. The other points of a square are passed to its four quarters, until few remain. A scan of these
few has the same result as a scan of all points, to the last bit. Any points are supported, also flat sets and inner
points. For points spread evenly on a surface, the table has about six points in a square and four entries for each
point, for any number of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, single_entry
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# --- many points at once ---------------------------------------------------------------------------------------------


@kernel
def sort_points(flat: Array, count: int, order: Ints) -> None:
    """Write the indices of the first ``count`` points to ``order``, sorted by x, then by y (Shell, 1959).

    ``flat`` contains the points in columns.
    """
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


FEW = 1 << 16  #: products of a point and a direction that cost less than another split
_ROUNDING = 128.0 * 2.0**-53  #: relative rounding of the compared products


def farthest(points: Array, directions: Array) -> tuple[Array, Ints]:
    """Return the greatest height of points (n, d) along each direction (m, d), and the index of the farthest point.

    Both results have the shape (m,). If several points are equally far to rounding, any of them may be returned.
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
    """Yield groups of similar directions, and of the points that may reach the height ``level`` along one of them.

    A group consists of indices of ``directions`` (m, d), and indices of ``points`` (n, d).
    """

    def may_reach(columns: Array, axis: Array, half: Array, rounding: float) -> Any:
        return _products(axis, columns) + _products(half, np.abs(columns)) >= level - rounding

    for rows, members in _groups(points, directions, may_reach):
        if len(members):
            yield rows, members


def _groups(points: Array, directions: Array, in_question: Callable[..., Any]) -> Iterator[tuple[Ints, Ints]]:
    """Yield the indices of a group of similar directions, and of its candidate points. Each direction is in one group.

    ``in_question`` returns which points are candidates. It is called with points in columns, the middle and the half
    extents of the bounding box of some directions, and the rounding error of the products.
    """
    if len(points) * len(directions) <= FEW:
        if len(directions):
            yield np.arange(len(directions)), np.arange(len(points))
        return
    rounding = _ROUNDING * float(np.abs(points).max()) * float(np.abs(directions).max())
    # columns of points and directions, mapped so that the points have equal spreads, and products do not change
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
    """Return the singular values, (min(n, 3),), of points (n, 3), and all three right singular vectors in rows."""
    # full matrices would be n x n; reduced matrices lack right vectors for less than three points
    lengths, axes = np.linalg.svd(points, full_matrices=len(points) < 3)[1:]
    return lengths, axes


def _may_be_farthest(points: Array, axis: Array, half: Array, rounding: float) -> Any:
    height = _products(axis, points)
    top = int(height.argmax())
    offsets = points - points[:, top, None]
    # a point that is excluded only by rounding is farther than the top by at most this rounding
    return height + _products(half, np.abs(offsets, out=offsets)) >= height[top] - rounding


def _products(vector: Array, columns: Array) -> Array:
    """Return the dot product of a vector with each column, without the threads of a BLAS library."""
    out: Array = (vector[:, None] * columns).sum(axis=0)
    return out


def boxes_of(rows: Array, points: Array) -> Array:
    """Return the bounding boxes, (n, 2, 3), of points (k, 3) at pose rows (n, 13): lowest and highest corner."""
    out = np.empty((len(rows), 6))
    fit_boxes(np.ascontiguousarray(rows), points, out)
    return out.reshape(-1, 2, 3)


@entry
def fit_boxes(rows: Array2, points: Array2, out: Array2) -> None:
    """Write the bounding boxes of points at pose rows to ``out``, (n, 6): the lowest corner, then the highest."""
    for row in range(rows.shape[0]):
        for k in range(3):
            x, y, z = rows[row, 3 * k], rows[row, 3 * k + 1], rows[row, 3 * k + 2]
            low, high = inf, -inf
            for i in range(points.shape[0]):
                along = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
                low, high = min(low, along), max(high, along)
            out[row, k] = low + rows[row, 9 + k] + 0.0
            out[row, 3 + k] = high + rows[row, 9 + k] + 0.0


# --- order along a curve ---------------------------------------------------------------------------------------------


_BITS = 10  #: bits of a coordinate, and of a digit of the radix sort
_FEWEST = 64  #: least number of points for which sorting saves time


@inlined
def _spread(x: int) -> int:
    """Return the ten bits of x with two zero bits between them."""
    x = (x | (x << 16)) & 0x030000FF
    x = (x | (x << 8)) & 0x0300F00F
    x = (x | (x << 4)) & 0x030C30C3
    return (x | (x << 2)) & 0x09249249


@entry
def _sort(points: Array2, low: Array1, longest: float, keys: Ints2, order: Ints2, counts: Ints1) -> None:
    """Write the indices of points along a Morton curve to row 1 of ``order``.

    ``low`` is the lowest corner of the points, and ``longest`` their greatest extent. Row 0 of ``order``, ``keys`` and
    ``counts`` are scratch.
    """
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
    """Return the indices of points along a Morton curve, or in the given order if there are only a few points."""
    count = len(points)
    if count < _FEWEST:
        return np.arange(count)
    low = points.min(axis=0)
    keys, order = (np.empty((2, count), dtype=np.int64) for _ in range(2))
    _sort(points, low, float((points.max(axis=0) - low).max()), keys, order, np.empty(1 << _BITS, dtype=np.int64))
    in_order: Ints = order[1]
    return in_order


# --- tables of directions --------------------------------------------------------------------------------------------


Corners = tuple[float, float, float, float]

#: Least difference of heights that excludes a point, relative to the greatest distance of a point from the centre. The
#: heights along two corners and along a direction between them have 42 units of rounding together. A direction within
#: 16 units of a common side may be assigned to the next square.
_MARGIN = 128.0 * UNIT_ROUNDOFF
_FEW = 16  #: most points in a square that is not split
_DEEPEST = 12  #: most splits of a square; directions near the normal of a flat face always have many candidates
_MOST = 8  #: squares are not split any further after _MOST * (points + 256) entries
COUNT_BITS = 32  #: bits of the count in a node, see `Table`


class Table(NamedTuple):
    """A tree of squares on a cube, with the points that may be farthest along a direction through each square.

    Attributes
    ----------
    grid : int
        Number of squares along an edge of the cube in the first level.
    nodes : (m,) int
        For each square the index in this array of the first of its four quarters. For a square without quarters it is
        the negative number ``~(first << COUNT_BITS | count)``. The candidates are ``entries[first:first + count]``. The
        first 6 * grid * grid squares are in the order of `cell_directions`. Four quarters are ordered as a 2 x 2 grid.
    entries : (e,) int
        Indices of the candidate points of each square, ascending.
    """

    grid: int
    nodes: Ints
    entries: Ints


class _Squares(NamedTuple):
    """Squares of equal size, and the candidate points of each."""

    low: Array  #: (c, 2), the lowest corner of each square on its side of the cube
    begins: Ints  #: (c + 1,), the start of each square's candidates in ``members``
    members: Ints  #: candidates: ``side * n + point``, where n is the number of points


def cell_directions(grid: int) -> Array:
    """Return the middles of the cells of a grid on a cube, (6 * grid * grid, 3), for sides +x, -x, +y, -y, +z, -z."""
    middle = (2.0 * np.arange(grid) + 1.0) / grid - 1.0
    u, v = (c.ravel() for c in np.meshgrid(middle, middle, indexing="ij"))
    out = np.empty((6, grid * grid, 3))
    for side in range(6):
        axis = side // 2
        out[side, :, axis] = 1.0 - 2.0 * (side % 2)
        out[side, :, (axis + 1) % 3], out[side, :, (axis + 2) % 3] = u, v
    return out.reshape(-1, 3)


def direction_table(points: Array) -> Table:
    """Return the table that lists, for each range of directions, the points that may be farthest.

    The points, (n, 3) with n >= 1, are relative to a centre between them.
    """
    count = len(points)
    columns = _columns(points)
    margin = _MARGIN * float(np.sqrt((points * points).sum(axis=1).max()))
    squares = _Squares(np.full((6, 2), -1.0), np.arange(7) * count, np.arange(6 * count))
    size, depth, most = 2.0, 0, _MOST * (count + 256)
    while 6 * 4 ** (depth + 1) <= count and len(squares.members) <= most:
        size, depth = 0.5 * size, depth + 1
        squares = _quarters(squares, size, columns, margin)
    grid = 2**depth
    steps = np.rint((squares.low + 1.0) / size).astype(np.int64)
    side = np.arange(len(steps)) // (grid * grid)
    where = (side * grid + steps[:, 0]) * grid + steps[:, 1]  # index of each square in ``nodes``
    nodes, entries, total = np.empty(len(where), dtype=np.int64), [], 0
    while True:
        counts = np.diff(squares.begins)
        crowded = counts > _FEW
        if depth >= _DEEPEST or total + len(squares.members) > most:
            crowded[:] = False
        some = ~crowded
        entries.append(squares.members[np.repeat(some, counts)] % count)
        first = total + np.cumsum(counts[some]) - counts[some]
        nodes[where[some]] = ~(first << COUNT_BITS | counts[some])
        total += len(entries[-1])
        if some.all():
            return Table(grid, nodes, np.concatenate(entries))
        members = squares.members[np.repeat(crowded, counts)]
        begins = np.concatenate([[0], np.cumsum(counts[crowded])])
        quarters = len(nodes) + 4 * np.arange(len(begins) - 1)
        nodes[where[crowded]] = quarters
        where = np.arange(len(nodes), len(nodes) + 4 * len(quarters))
        nodes = np.concatenate([nodes, np.empty(len(where), dtype=np.int64)])
        size, depth = 0.5 * size, depth + 1
        squares = _quarters(_Squares(squares.low[crowded], begins, members), size, columns, margin)


def _columns(points: Array) -> Array:
    """Return the coordinates of points for each side of a cube, (18 n,).

    The coordinates along the outward normal of each side come first, for all sides and points. The coordinates
    along the two other axes follow in the same order.
    """
    out = np.empty((3, 6, len(points)))
    for side in range(6):
        axis = side // 2
        out[0, side] = points[:, axis] * (1.0 - 2.0 * (side % 2))
        out[1, side], out[2, side] = points[:, (axis + 1) % 3], points[:, (axis + 2) % 3]
    return out.reshape(-1)


def _quarters(squares: _Squares, size: float, columns: Array, margin: float) -> _Squares:
    """Return the quarters of squares with the candidate points of each; ``size`` is the edge of a quarter."""
    count = len(squares.begins) - 1
    low, begins = np.empty((4 * count, 2)), np.empty(4 * count + 1, dtype=np.int64)
    members = np.empty(4 * len(squares.members), dtype=np.int64)
    inputs = squares.low.reshape(-1), squares.begins, squares.members
    quarter(columns, *inputs, size, margin, low.reshape(-1), begins, members)
    return _Squares(low, begins, members[: begins[-1]].copy())


@single_entry
def quarter(
    columns: Array1, low: Array1, begins: Ints1, members: Ints1, size: float, margin: float,
    new_low: Array1, new_begins: Ints1, new_members: Ints1,
) -> None:  # fmt: skip
    """Write the quarters of squares, and the candidate points of each, to the arrays ``new_*``.

    A point is not a candidate if another point is higher along all four corners of the quarter by more than ``margin``.
    Each point is compared with the highest points along the middle and along each corner.
    """
    new_begins[0] = total = 0
    for square in range(len(begins) - 1):
        for part in range(4):
            u, v = low[2 * square] + size * (part // 2), low[2 * square + 1] + size * (part % 2)
            new = 4 * square + part
            new_low[2 * new], new_low[2 * new + 1] = u, v
            corners = u, v, low[2 * square] + size * (part // 2 + 1), low[2 * square + 1] + size * (part % 2 + 1)
            limits = begins[square], begins[square + 1]
            total = _in_question(columns, corners, limits, members, margin, new_members, total)
            new_begins[new + 1] = total


@inlined
def _heights(columns: Array, point: int, corners: Corners) -> Corners:
    """Return the heights of a point along the four corners of a square on a cube's side.

    ``point`` is ``side * n + index`` for one of n points. ``corners`` are the two coordinates of the lowest corner,
    then those of the highest corner.
    """
    count = len(columns) // 3
    up, along, across = columns[point], columns[count + point], columns[2 * count + point]
    lower, upper = up + along * corners[0], up + along * corners[2]
    return (
        lower + across * corners[1], lower + across * corners[3],
        upper + across * corners[1], upper + across * corners[3],
    )  # fmt: skip


@kernel
def _in_question(
    columns: Array, corners: Corners, limits: tuple[int, int], members: Ints, margin: float, candidates: Ints,
    total: int,
) -> int:  # fmt: skip
    """Append the candidate points of a square to ``candidates``; return the new number of candidates.

    Only ``members[limits[0]:limits[1]]`` are tested. ``total`` is the number of candidates before the call.
    """
    start, stop = limits
    first = _heights(columns, members[start], corners)
    tops = (first, first, first, first, first)
    most = first[0] + first[1] + first[2] + first[3]
    for k in range(start + 1, stop):
        h = _heights(columns, members[k], corners)
        towards = h[0] + h[1] + h[2] + h[3]
        if towards > most or h[0] > tops[1][0] or h[1] > tops[2][1] or h[2] > tops[3][2] or h[3] > tops[4][3]:
            tops = (
                h if towards > most else tops[0], h if h[0] > tops[1][0] else tops[1],
                h if h[1] > tops[2][1] else tops[2], h if h[2] > tops[3][2] else tops[3],
                h if h[3] > tops[4][3] else tops[4],
            )  # fmt: skip
            most = max(most, towards)
    for k in range(start, stop):
        h = _heights(columns, members[k], corners)
        reached = True
        for top in tops:
            reached = reached and (
                h[0] >= top[0] - margin or h[1] >= top[1] - margin or h[2] >= top[2] - margin or h[3] >= top[3] - margin
            )
        if reached:
            candidates[total] = members[k]
            total += 1
    return total
