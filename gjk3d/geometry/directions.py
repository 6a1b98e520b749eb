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

from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.typing import Array, Ints

#: of the reach of the points: the heights along two corners and along a direction between round to 42 units together;
#: a direction may be taken for one in the next square where it is within 16 units of their common side
_MARGIN = 128.0 * UNIT_ROUNDOFF
_FEW = 16  #: points in a square that is not split
_DEEPEST = 12  #: splits of a square, where some have many points in any neighbourhood: those round a flat face
_MOST = 8  #: entries for each point, and 256 more, from which on squares of many points stay as they are
_BATCH = 1 << 13  #: points in question that are looked at at once
_FOUR, _STEPS = np.arange(4), np.arange(3.0)
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
    """Return the points once for each side of the cube, (3, 6 n): how far they reach along its axis and along it."""
    out = np.empty((3, 6, len(points)))
    for side in range(6):
        axis = side // 2
        out[0, side] = points[:, axis] * (1.0 - 2.0 * (side % 2))
        out[1, side], out[2, side] = points[:, (axis + 1) % 3], points[:, (axis + 2) % 3]
    return out.reshape(3, -1)


def _quarters(squares: _Squares, size: float, columns: Array, margin: float) -> _Squares:
    """Return the quarters, of that size, of squares, and the points in question there."""
    begins, count = squares.begins, len(squares.members)
    each = np.diff(begins)
    if count > _BATCH and len(each) > 1:
        half = len(each) // 2
        at = begins[half]
        first = _quarters(_Squares(squares.low[:half], begins[: half + 1], squares.members[:at]), size, columns, margin)
        second = _quarters(
            _Squares(squares.low[half:], begins[half:] - at, squares.members[at:]), size, columns, margin
        )
        return _Squares(
            np.concatenate([first.low, second.low]),
            np.concatenate([first.begins, second.begins[1:] + first.begins[-1]]),
            np.concatenate([first.members, second.members]),
        )
    of = np.repeat(np.arange(len(each)), each)
    up, along, across = columns.take(squares.members, axis=1)
    low = squares.low.take(of, axis=0)
    rows = up + along * (low[:, 0] + size * _STEPS[:, None])
    heights = rows[:, None] + across * (low[:, 1] + size * _STEPS[:, None])
    # all first quarters, all second ones, and so on
    corners = [heights[i : i + 2, j : j + 2].reshape(-1) for i in (0, 1) for j in (0, 1)]
    starts = (begins[:-1] + count * _FOUR[:, None]).reshape(-1)
    quarter = (of + len(each) * _FOUR[:, None]).reshape(-1)
    kept = _in_question(corners, starts, quarter, margin)
    quarter = quarter[kept]
    counts = np.bincount(quarter, minlength=4 * len(each)).reshape(4, -1)
    # the four of a square behind each other
    ends = np.cumsum(counts.T)
    to = (ends.reshape(-1, 4).T - counts).reshape(-1) - (np.cumsum(counts) - counts.reshape(-1))
    members = np.empty(len(kept), dtype=np.int64)
    members[np.arange(len(kept)) + to[quarter]] = squares.members[kept % count]
    corner = squares.low[:, None] + size * np.stack([_FOUR // 2, _FOUR % 2], axis=1)
    return _Squares(corner.reshape(-1, 2), np.concatenate([[0], ends]), members)


def _in_question(corners: list[Array], starts: Ints, of: Ints, margin: float) -> Ints:
    """Return which points are in question in squares, by their heights along the four corners of each.

    Those that are not are lower than the highest of the square along its middle or along one corner.
    """
    tops = []
    for towards in (corners[0] + corners[1] + corners[2] + corners[3], *corners):
        top = np.flatnonzero(towards == np.maximum.reduceat(towards, starts).take(of))
        tops.append(top.take(np.searchsorted(top, starts)))
    kept = np.arange(len(of))
    for top in tops:
        lows = [heights.take(top) - margin for heights in corners]
        whose = of.take(kept)
        reached = np.zeros(len(kept), dtype=bool)
        for heights, low in zip(corners, lows, strict=True):
            reached |= heights.take(kept) >= low.take(whose)
        kept = kept[reached]
    return kept
