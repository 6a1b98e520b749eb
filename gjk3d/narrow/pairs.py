"""Distances and booleans of many pairs, and the only way in: one kernel a question, however many shapes and poses.

Rows are independent, so bits do not depend on how they are cut into chunks. One way in, because each would be
compiled with everything below it.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.vec3 import Vec3, along, neg
from gjk3d.narrow.cores import Cores, cores_at, rounding_error, support_pair
from gjk3d.narrow.room import room_in
from gjk3d.narrow.solve import BEYOND, OVERLAPPING, SEPARATED, TOUCHING, UNSIGNED, quick_collide, solve, write_in_world
from gjk3d.poses import check_row
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# Shapes lie behind each other in an array of ints and one of floats; see `gjk3d.shapes.layout`. A pair is a row of
# ints: of shape A where its ints and its floats begin, its rank, its pose row, and by how much that grows from one
# question to the next; then the same of B. A single pair row serves all questions. Ranks are the order the kernels
# see shapes in, so that (b, a) mirrors (a, b) to the last bit; equal shapes have one rank, and leave it to their poses.
# Last, how far behind this row the one is whose question is asked in this row's turn; see `order_for_cache`.
PAIR = 11
RANK, _POSE, _STEP, TURN = 2, 3, 4, 10
SIDES = FLOAT_HEAD + 4  #: of the floats of a half-space behind its normal and offset: 1, or 2 of a plane that is solid


@single_entry
def fill_table(columns: Ints2, pairs: Ints2, at: Ints2, table: Ints2) -> None:
    """Fill rows of ``table``: pairs of shapes, which begin and rank as their ``columns`` say, at pose rows ``at``."""
    for k in range(pairs.shape[0]):
        for side in range(2):
            for c in range(3):
                table[k, 5 * side + c] = columns[pairs[k, side], c]
            table[k, 5 * side + _POSE], table[k, 5 * side + _STEP] = at[k, side], 0
        table[k, TURN] = 0


@kernel
def comes_later(p: Array, q: Array) -> bool:
    """Tell whether a pose row comes after another, number by number."""
    for c in range(p.shape[0]):
        if p[c] != q[c]:
            return bool(p[c] > q[c])
    return False


@kernel
def mirror(out: Array, k: int) -> None:
    """Turn the answer of (b, a) in row k into that of (a, b)."""
    out[k, 3], out[k, 4], out[k, 5] = 0.0 - out[k, 3], 0.0 - out[k, 4], 0.0 - out[k, 5]
    ax, ay, az = out[k, 6], out[k, 7], out[k, 8]
    out[k, 6], out[k, 7], out[k, 8] = out[k, 9], out[k, 10], out[k, 11]
    out[k, 9], out[k, 10], out[k, 11] = ax, ay, az


@inlined
def in_turn(pairs: Ints, turn: int) -> int:
    """Return which question has this turn."""
    return int(turn + pairs[turn if pairs.shape[0] > 1 else 0, TURN])


@kernel
def pose_of(pairs: Ints, r: int, side: int, k: int) -> int:
    """Return the pose row of one side of pair row r in question k."""
    return int(pairs[r, side + _POSE] + k * pairs[r, side + _STEP])


@kernel
def exchanged(pairs: Ints, r: int, k: int, poses: Array) -> bool:
    """Tell whether question k, of pair row r, is to be turned round."""
    first, second = pairs[r, RANK], pairs[r, 5 + RANK]
    if first != second:
        return bool(first > second)
    return comes_later(poses[pose_of(pairs, r, plain(0), k)], poses[pose_of(pairs, r, plain(5), k)])


@kernel
def side_of(pairs: Ints, r: int, side: int, q: Ints, f: Array) -> Core:
    """Return the shape of one side of pair row r."""
    return Core(q[pairs[r, side] :], f[pairs[r, side + 1] :])


@inlined
def cores_of_row(q: Ints, f: Array, pairs: Ints, poses: Array, k: int) -> tuple[Cores, bool]:
    """Return the cores of question k in the order the kernels see them, and whether that is turned round."""
    r = k if pairs.shape[0] > 1 else 0
    turned = exchanged(pairs, r, k, poses)
    a, b = (5, 0) if turned else (0, 5)
    core_a, core_b = side_of(pairs, r, a, q, f), side_of(pairs, r, b, q, f)
    return cores_at(core_a, poses[pose_of(pairs, r, a, k)], core_b, poses[pose_of(pairs, r, b, k)]), turned


@kernel
def marks_of(flags: Ints, k: int) -> int:
    """Return an answer's flags in one number: status, then 8 if tight, 16 if the workspace was full, and 32 a step."""
    return int(flags[k, 0] + 8 * flags[k, 2] + 16 * flags[k, 3] + 32 * flags[k, 1])


@kernel
def take_poses(ma: Array, mb: Array, poses: Array) -> bool:
    """Turn two matrices into the first two pose rows, where there are any; False where one is no pose."""
    if ma.shape[0] == 0:
        return True
    for side in range(2):  # noqa: SIM110, a generator does not compile
        if check_row(ma if side == 0 else mb, poses, side) != 0:
            return False
    return True


@single_entry
def solve_many(
    q: Ints1, f: Array1, pairs: Ints2, ma: Array2, mb: Array2, poses: Array2, mode: int, max_distance: float,
    tol: float, start: int, stop: int, again: bool, work: Array1, table: Ints1, points: int, out: Array2, flags: Ints2,
    cache: Array2, log: Array1,
) -> int:  # fmt: skip
    """Answer the questions whose turn is from start to stop; with ``again`` only those that ran out of workspace.

    Returns the log's length, or where there is none `marks_of` the last answer. It is -1 where ``ma`` or ``mb`` is no
    pose; they may be of no rows.
    """
    if not take_poses(ma, mb, poses):
        return -1
    room = room_in(work, table, points, log)
    for turn in range(start, stop):
        k = in_turn(pairs, turn)
        if again and flags[k, 3] == 0:
            continue  # the result of the first call is final
        c, turned = cores_of_row(q, f, pairs, poses, k)
        solve(c, mode, max_distance, tol, room, cache, out, flags, k)
        if turned:
            mirror(out, k)
    if log.shape[0] > 0:
        return int(log[0])
    if stop == start:
        return 0
    return marks_of(flags, stop - 1)


@single_entry
def collide_many(
    q: Ints1, f: Array1, pairs: Ints2, ma: Array2, mb: Array2, poses: Array2, margin: float, start: int, stop: int,
    simplex: Array2, answer: Ints1, cache: Array2,
) -> int:  # fmt: skip
    """Answer questions by turns as `quick_collide` does; return the last answer, or -1 as `solve_many` does."""
    if not take_poses(ma, mb, poses):
        return -1
    last = 0
    for turn in range(start, stop):
        k = in_turn(pairs, turn)
        c, _ = cores_of_row(q, f, pairs, poses, k)
        last = quick_collide(c, margin, simplex, cache, k)
        answer[k] = last
    return last


@inlined
def normal_of(plane: Core) -> Vec3:
    """Return the normal of a half-space, which stands behind a point core on its plane."""
    return (plane.floats[FLOAT_HEAD], plane.floats[FLOAT_HEAD + 1], plane.floats[FLOAT_HEAD + 2])


@inlined
def height_over(c: Cores, n: Vec3) -> tuple[float, Vec3]:
    """Return how far a core B is above the plane through A's centre with normal n, and B's lowest point.

    The point is that of B's core without its radius.
    """
    _, _, b = support_pair(c, n)
    return n[0] * b[0] + n[1] * b[1] + n[2] * b[2] - c.b.floats[0], b


@inlined
def above_plane(c: Cores, row: Array) -> tuple[float, float, Vec3, Vec3]:
    """Return how far a core B is above a half-space A at a pose row, the error of that, B's lowest point, the normal.

    A is as `gjk3d.convex.solve.plane_core` makes it. Of a plane it is the side on which B is, or is mostly.
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
    """Answer a half-space, at a pose row, against a convex core: one support point along the plane's normal is all.

    Of a plane that is solid on neither side there are two, of which the one farther up on its side counts.

    ``flip`` says that the half-space is B.
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
    a = along(b, n, -distance)  # the foot of B's point on the plane, so that both points and n agree exactly
    if flip:
        a, b = b, a
        n = (-n[0], -n[1], -n[2])
    out[k, 0], out[k, 1], out[k, 2] = distance, lower, upper
    write_in_world(c, n, a, b, out, k)
    flags[k, 0], flags[k, 1], flags[k, 2], flags[k, 3] = status, 1, 1, 0


@single_entry
def plane_rows(
    qp: Ints1, fp: Array1, q: Ints1, f: Array1, poses_plane: Array2, poses: Array2, flip: bool, mode: int,
    max_distance: float, start: int, stop: int, out: Array2, flags: Ints2,
) -> None:  # fmt: skip
    """Answer questions start to stop of a half-space, as `solve_plane` takes it, and a convex core."""
    for k in range(start, stop):
        row = poses_plane[k if poses_plane.shape[0] > 1 else 0]
        c = cores_at(Core(qp, fp), row, Core(q, f), poses[k if poses.shape[0] > 1 else 0])
        solve_plane(c, row, flip, mode, max_distance, out, flags, k)
