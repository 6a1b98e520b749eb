"""Distances and booleans of many pairs: one entry per query, for any number of shapes and poses.

Rows are independent, so a result does not depend on how the rows are split into calls. Each kind of query has its own
entry, because each entry is compiled with all its callees.
"""

from __future__ import annotations

from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.vec3 import Vec3, along, neg
from gjk3d.narrow.cores import Cores, cores_at, rounding_error, support_pair
from gjk3d.narrow.solve import BEYOND, OVERLAPPING, SEPARATED, TOUCHING, UNSIGNED, quick_collide, solve, write_in_world
from gjk3d.narrow.workspace import Workspace
from gjk3d.poses import check_row
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# Shapes are stored one after another in an array of integers and one of floats; see `gjk3d.shapes.layout`. A pair is a
# row of integers. For shape A they are the start of its integers and of its floats, its rank, its pose row, and the
# increment of the pose row per query. The same five follow for B. A single pair row serves all queries. Kernels see
# shapes in the order of rank, so that (b, a) mirrors (a, b) to the last bit. Equal shapes have one rank, and their
# poses decide. The last integer is the offset to the row that is solved at this row's turn; see `order_for_cache`.
PAIR = 11
RANK, _POSE, _STEP, TURN = 2, 3, 4, 10
SIDES = FLOAT_HEAD + 4  #: after the normal and offset: 1 for a half-space, 2 for a plane, which is free on both sides


class Packed(NamedTuple):
    """Shapes in joined arrays, and a table of their pairs."""

    ints: Ints1
    floats: Array1
    table: Ints2


class PairRows(NamedTuple):
    """Pairs of shapes in joined arrays, and their poses."""

    ints: Ints1
    floats: Array1
    table: Ints2  #: a row for each pair, or one for all
    poses: Array2


class ShapeRows(NamedTuple):
    """A shape and its pose rows, one for each query, or one for all."""

    ints: Ints1
    floats: Array1
    poses: Array2


class Request(NamedTuple):
    """The settings of `solve_many`; with ``again``, only queries whose workspace was too small are solved."""

    mode: int  #: of `gjk3d.narrow.solve`
    max_distance: float
    tol: float
    again: bool = False


@single_entry
def fill_table(columns: Ints2, pairs: Ints2, at: Ints2, table: Ints2) -> None:
    """Fill a row of ``table`` for each pair: the columns of both shapes (starts, rank), and their pose rows ``at``."""
    for k in range(pairs.shape[0]):
        for side in range(2):
            for c in range(3):
                table[k, 5 * side + c] = columns[pairs[k, side], c]
            table[k, 5 * side + _POSE], table[k, 5 * side + _STEP] = at[k, side], 0
        table[k, TURN] = 0


@kernel
def comes_later(p: Array, q: Array) -> bool:
    """Return whether a pose row is lexicographically greater than another."""
    for c in range(p.shape[0]):
        if p[c] != q[c]:
            return bool(p[c] > q[c])
    return False


@kernel
def mirror(out: Array, k: int) -> None:
    """Change the result of (b, a) in row k to that of (a, b)."""
    out[k, 3], out[k, 4], out[k, 5] = 0.0 - out[k, 3], 0.0 - out[k, 4], 0.0 - out[k, 5]
    ax, ay, az = out[k, 6], out[k, 7], out[k, 8]
    out[k, 6], out[k, 7], out[k, 8] = out[k, 9], out[k, 10], out[k, 11]
    out[k, 9], out[k, 10], out[k, 11] = ax, ay, az


@inlined
def in_turn(pairs: Ints, turn: int) -> int:
    """Return the index of the query that is solved at position ``turn`` of a batch, which may be reordered."""
    return int(turn + pairs[turn if pairs.shape[0] > 1 else 0, TURN])


@kernel
def pose_of(pairs: Ints, r: int, side: int, k: int) -> int:
    """Return the index of the pose row for query k of one shape in row r of the pairs; ``side`` is 0 for A, 5 for B."""
    return int(pairs[r, side + _POSE] + k * pairs[r, side + _STEP])


@kernel
def exchanged(pairs: Ints, r: int, k: int, poses: Array) -> bool:
    """Return whether query k of pair row r is solved with A and B swapped."""
    first, second = pairs[r, RANK], pairs[r, 5 + RANK]
    if first != second:
        return bool(first > second)
    return comes_later(poses[pose_of(pairs, r, plain(0), k)], poses[pose_of(pairs, r, plain(5), k)])


@kernel
def side_of(pairs: Ints, r: int, side: int, q: Ints, f: Array) -> Core:
    """Return one shape of row r of the pairs; ``side`` is 0 for A, 5 for B."""
    return Core(q[pairs[r, side] :], f[pairs[r, side + 1] :])


@inlined
def cores_of_row(pairs: PairRows, k: int) -> tuple[Cores, bool]:
    """Return the cores of query k in the order of the kernels, and whether A and B are swapped."""
    q, f, table, poses = pairs.ints, pairs.floats, pairs.table, pairs.poses
    r = k if table.shape[0] > 1 else 0
    turned = exchanged(table, r, k, poses)
    a, b = (5, 0) if turned else (0, 5)
    core_a, core_b = side_of(table, r, a, q, f), side_of(table, r, b, q, f)
    return cores_at(core_a, poses[pose_of(table, r, a, k)], core_b, poses[pose_of(table, r, b, k)]), turned


@inlined
def cores_in_row(a: ShapeRows, b: ShapeRows, k: int) -> Cores:
    """Return the cores of two shapes in query k."""
    row_a, row_b = a.poses[k if a.poses.shape[0] > 1 else 0], b.poses[k if b.poses.shape[0] > 1 else 0]
    return cores_at(Core(a.ints, a.floats), row_a, Core(b.ints, b.floats), row_b)


@kernel
def marks_of(flags: Ints, k: int) -> int:
    """Return a result's flags as one sum: status, 8 if tight, 16 if the workspace was full, and 32 for each step."""
    return int(flags[k, 0] + 8 * flags[k, 2] + 16 * flags[k, 3] + 32 * flags[k, 1])


@kernel
def take_poses(ma: Array, mb: Array, poses: Array) -> bool:
    """Write two matrices, unless empty, to the first two pose rows; return False if a matrix is not a pose."""
    if ma.shape[0] == 0:
        return True
    for side in range(2):  # noqa: SIM110, a generator does not compile
        if check_row(ma if side == 0 else mb, poses, side) != 0:
            return False
    return True


@single_entry
def solve_many(
    pairs: PairRows, ma: Array2, mb: Array2, request: Request, start: int, stop: int, workspace: Workspace,
    out: Array2, flags: Ints2, cache: Array2,
) -> int:  # fmt: skip
    """Write the results of the queries at turns start to stop to ``out`` and ``flags``.

    Returns the log's length, or without a log the flags of the last result as `marks_of` adds them, or -1 if ``ma`` or
    ``mb`` is not a pose. Both matrices are empty if ``pairs`` has the poses.
    """
    if not take_poses(ma, mb, pairs.poses):
        return -1
    for turn in range(start, stop):
        k = in_turn(pairs.table, turn)
        if request.again and flags[k, 3] == 0:
            continue  # keep the result of the first call
        c, turned = cores_of_row(pairs, k)
        solve(c, request.mode, request.max_distance, request.tol, workspace, cache, out, flags, k)
        if turned:
            mirror(out, k)
    if workspace.log.shape[0] > 0:
        return int(workspace.log[0])
    if stop == start:
        return 0
    return marks_of(flags, stop - 1)


@single_entry
def collide_many(
    pairs: PairRows, ma: Array2, mb: Array2, margin: float, start: int, stop: int, simplex: Array2, answer: Ints1,
    cache: Array2,
) -> int:  # fmt: skip
    """Write the results of `quick_collide` to ``answer``; return the last result, or -1 if a matrix is not a pose."""
    if not take_poses(ma, mb, pairs.poses):
        return -1
    last = 0
    for turn in range(start, stop):
        k = in_turn(pairs.table, turn)
        c, _ = cores_of_row(pairs, k)
        last = quick_collide(c, margin, simplex, cache, k)
        answer[k] = last
    return last


@inlined
def normal_of(plane: Core) -> Vec3:
    """Return the normal of a half-space, which is stored as a point of its boundary, then the normal."""
    return (plane.floats[FLOAT_HEAD], plane.floats[FLOAT_HEAD + 1], plane.floats[FLOAT_HEAD + 2])


@inlined
def height_over(c: Cores, n: Vec3) -> tuple[float, Vec3]:
    """Return the height of B above the plane through A's centre with normal n, and the lowest point of B's core.

    The height includes B's radius. The point does not.
    """
    _, _, b = support_pair(c, n)
    return n[0] * b[0] + n[1] * b[1] + n[2] * b[2] - c.b.floats[0], b


@inlined
def above_plane(c: Cores, row: Array) -> tuple[float, float, Vec3, Vec3]:
    """Return the height of B above a half-space A, the height's error, the lowest point of B's core, and the normal.

    ``row`` is A's pose. `gjk3d.convex.solve.plane_core` makes A. The normal of a plane is on the side with most of B.
    """
    n = normal_of(c.a)
    error = rounding_error(c.size, c.a, c.b, row[12])
    height, b = height_over(c, n)
    if c.a.floats[SIDES] > 1.0:
        below = neg(n)
        height_below, lowest = height_over(c, below)
        if height_below > height:
            height, b, n = height_below, lowest, below
    return height, error, b, n


@kernel
def solve_plane(
    c: Cores, row: Array, flip: bool, mode: int, max_distance: float, out: Array, flags: Ints, k: int
) -> None:
    """Write the distance of a half-space at a pose row and a convex core to row k; one support point suffices.

    A plane counts as two half-spaces, and the one with the greater distance gives the result. With ``flip``, the
    half-space is B in the result.
    """
    distance, error, b, n = above_plane(c, row)
    lower, upper = distance - error, distance + error
    b = along(b, n, -c.b.floats[0])
    if mode == UNSIGNED:
        lower, upper = max(lower, 0.0), max(upper, 0.0)
        if upper == 0.0:
            distance = 0.0
        distance = max(distance, 0.0)
    if lower > 0.0:
        status = BEYOND if lower > max_distance else SEPARATED
    elif upper < 0.0 or (mode == UNSIGNED and upper == 0.0):
        status = OVERLAPPING
    else:
        status = TOUCHING
    a = along(b, n, -distance)  # B's point projected on the plane, so that both points and n agree exactly
    if flip:
        a, b = b, a
        n = (-n[0], -n[1], -n[2])
    out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
    write_in_world(c, n, a, b, out, k)
    flags[k, 0], flags[k, 1], flags[k, 2], flags[k, 3] = status, 1, 1, 0


@single_entry
def plane_rows(
    plane: ShapeRows, shape: ShapeRows, flip: bool, mode: int, max_distance: float, start: int, stop: int,
    out: Array2, flags: Ints2,
) -> None:  # fmt: skip
    """Write the results of queries start to stop of a half-space and a convex core, as `solve_plane` does."""
    for k in range(start, stop):
        row = plane.poses[k if plane.poses.shape[0] > 1 else 0]
        solve_plane(cores_in_row(plane, shape, k), row, flip, mode, max_distance, out, flags, k)
