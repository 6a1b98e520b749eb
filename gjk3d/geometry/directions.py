"""The table of directions of many points: which of them may be farthest along any direction through a cell.

Directions are the surface of a cube, each of its six sides a tree of squares. A direction through a square, scaled to
reach the cube, is a weighted mean of the square's corners; so a point that is lower than another along all four
corners, by more than rounding, is lower along every direction through the square, and is never asked for there. What
is left in a square goes to its four quarters, until few are left. A scan of those few is a scan of all points, to the
last bit: nothing is assumed of the points, they may be flat, or no corners of their hull at all.

The table of an even surface has some six points in a square and four entries a point, for any number of points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, single_entry
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.typing import Array, Array1, Ints, Ints1

Corners = tuple[float, float, float, float]

#: of the reach of the points: the heights along two corners and along a direction between round to 42 units together;
#: a direction may be taken for one in the next square where it is within 16 units of their common side
_MARGIN = 128.0 * UNIT_ROUNDOFF
_FEW = 16  #: points in a square that is not split
_DEEPEST = 12  #: splits of a square, where some have many points in any neighbourhood: those round a flat face
_MOST = 8  #: entries for each point, and 256 more, from which on squares of many points stay as they are
COUNT_BITS = 32  #: of the count in a node, see `Table`


class Table(NamedTuple):
    """The table in plain arrays.

    Attributes
    ----------
    grid : int
        Squares along an edge of the cube that all sides are split into at once.
    nodes : (m,) int
        What is in a square: where in here its four quarters stand, or, less than 0, the inverted bits of
        ``first << COUNT_BITS | count``, which entries are in question. The first 6 * grid * grid are in the order of
        `cell_directions`, quarters in that of a grid of two.
    entries : (e,) int
        Points in question, in each square from the lowest index to the greatest.
    """

    grid: int
    nodes: Ints
    entries: Ints


class _Squares(NamedTuple):
    """Squares of one size, and the points in question in each."""

    low: Array  #: (c, 2), their lowest corner on their side of the cube
    begins: Ints  #: (c + 1,) in members
    members: Ints  #: rows of the columns, see `_columns`


def cell_directions(grid: int) -> Array:
    """Return the middles of the cells of a grid on a cube, (6 * grid * grid, 3): sides +x, -x, +y, -y, +z, -z."""
    middle = (2.0 * np.arange(grid) + 1.0) / grid - 1.0
    u, v = (c.ravel() for c in np.meshgrid(middle, middle, indexing="ij"))
    out = np.empty((6, grid * grid, 3))
    for side in range(6):
        axis = side // 2
        out[side, :, axis] = 1.0 - 2.0 * (side % 2)
        out[side, :, (axis + 1) % 3], out[side, :, (axis + 2) % 3] = u, v
    return out.reshape(-1, 3)


def direction_table(points: Array) -> Table:
    """Return the table of points (n, 3), of which there is at least one, relative to a centre amid them."""
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
    where = (side * grid + steps[:, 0]) * grid + steps[:, 1]  #: of each square in nodes
    nodes, entries, total = np.empty(len(where), dtype=np.int64), [], 0
    while True:
        each = np.diff(squares.begins)
        crowded = each > _FEW
        if depth >= _DEEPEST or total + len(squares.members) > most:
            crowded[:] = False
        some = ~crowded
        entries.append(squares.members[np.repeat(some, each)] % count)
        first = total + np.cumsum(each[some]) - each[some]
        nodes[where[some]] = ~(first << COUNT_BITS | each[some])
        total += len(entries[-1])
        if some.all():
            return Table(grid, nodes, np.concatenate(entries))
        kept = squares.members[np.repeat(crowded, each)]
        begins = np.concatenate([[0], np.cumsum(each[crowded])])
        quarters = len(nodes) + 4 * np.arange(len(begins) - 1)
        nodes[where[crowded]] = quarters
        where = np.arange(len(nodes), len(nodes) + 4 * len(quarters))
        nodes = np.concatenate([nodes, np.empty(len(where), dtype=np.int64)])
        size, depth = 0.5 * size, depth + 1
        squares = _quarters(_Squares(squares.low[crowded], begins, kept), size, columns, margin)


def _columns(points: Array) -> Array:
    """Return the points once for each side of the cube, (18 n,): how far they reach along its axis, then across."""
    out = np.empty((3, 6, len(points)))
    for side in range(6):
        axis = side // 2
        out[0, side] = points[:, axis] * (1.0 - 2.0 * (side % 2))
        out[1, side], out[2, side] = points[:, (axis + 1) % 3], points[:, (axis + 2) % 3]
    return out.reshape(-1)


def _quarters(squares: _Squares, size: float, columns: Array, margin: float) -> _Squares:
    """Return the quarters, of that size, of squares, and the points in question there."""
    count = len(squares.begins) - 1
    low, begins = np.empty((4 * count, 2)), np.empty(4 * count + 1, dtype=np.int64)
    members = np.empty(4 * len(squares.members), dtype=np.int64)
    given = squares.low.reshape(-1), squares.begins, squares.members
    quarter(columns, *given, size, margin, low.reshape(-1), begins, members)
    return _Squares(low, begins, members[: begins[-1]].copy())


@single_entry
def quarter(
    columns: Array1, low: Array1, begins: Ints1, members: Ints1, size: float, margin: float,
    new_low: Array1, new_begins: Ints1, new_members: Ints1,
) -> None:  # fmt: skip
    """Write the quarters of squares behind each other, and the points in question in each.

    Those that are not are lower than the highest of the square along its middle or along one corner.
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
    """Return how far a point reaches along the four corners of a square, given its lowest and highest one."""
    count = len(columns) // 3
    up, along, across = columns[point], columns[count + point], columns[2 * count + point]
    one, other = up + along * corners[0], up + along * corners[2]
    return (
        one + across * corners[1], one + across * corners[3], other + across * corners[1], other + across * corners[3]
    )  # fmt: skip


@kernel
def _in_question(
    columns: Array, corners: Corners, limits: tuple[int, int], members: Ints, margin: float, kept: Ints, total: int
) -> int:
    """Write the points in question in a square behind those that are there; return how many that makes."""
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
            kept[total] = members[k]
            total += 1
    return total
