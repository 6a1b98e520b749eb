"""Scratch memory that a caller provides to the kernels: the simplex, EPA's polytope, the log of a trace.

Kernels do not allocate memory. A log's first float is the offset of the next record. A record that does not fit is
counted, but not written, so that the caller can repeat the query with a log of the needed length. A log of length 0
means that no trace is written.
"""

from __future__ import annotations

from typing import NamedTuple

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry.vec3 import Vec3
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: a row of the simplex: w of A - B (3), its point on A (3), on B (3), barycentric coordinate
SIMPLEX = 60  #: floats of the simplex and its scratch: six rows
# The polytope has this many vertices, and FACES_PER_POINT times as many faces; dead faces keep their rows.
# work:  the simplex, vertex rows (w, a, b), face rows (normal, key), the keys of the queue
# table: face rows (three vertices, three neighbours over edges 01 12 20, alive, index in the queue), the queue, stack,
# horizon, marks
FACES_PER_POINT = 12
VERTEX_ROW = 9
#: first float of a record of a log
GJK_STEP, EPA_START, EPA_STEP, GJK_END = 1.0, 2.0, 3.0, 4.0


class Workspace(NamedTuple):
    """Scratch memory of a solver in plain arrays, of the lengths of `workspace`, and the log of a trace."""

    floats: Array1
    ints: Ints1
    log: Array1


class Room(NamedTuple):
    """All scratch memory of one query; its polytope has at most ``points`` vertices."""

    simplex: Array2
    work: Array1
    table: Ints1
    points: int
    log: Array1


class Solver(NamedTuple):
    """Scratch of `gjk3d.narrow.solve.solve`, and the row of its result."""

    room: Room
    one: Array2  #: (1, FLOATS)
    marks: Ints2


@single_entry
def workspace(points: int) -> tuple[int, int]:
    """Return the number of floats and integers in a workspace for a polytope of this many vertices."""
    cap = FACES_PER_POINT * points
    return SIMPLEX + VERTEX_ROW * points + 5 * cap, 10 * cap + 3 * (2 * points + 16) + points + 1


@kernel
def room_in(work: Array, table: Ints, points: int, log: Array) -> Room:
    """Return the views of a workspace."""
    return Room(work[:SIMPLEX].reshape(6, 10), work, table, points, log)


@kernel
def room_of(x: Workspace) -> Room:
    """Return the views of a workspace, whose number of vertices follows from its length."""
    points = (x.floats.shape[0] - SIMPLEX) // (VERTEX_ROW + 5 * FACES_PER_POINT)
    return room_in(x.floats, x.ints, points, x.log)


@kernel
def solver_in(work: Array, table: Ints, points: int, one: Array, marks: Ints) -> Solver:
    """Return the solver whose scratch is in a workspace."""
    return Solver(room_in(work, table, points, one[0, :0]), one, marks)


@kernel
def write(log: Array, x: float) -> None:
    """Write one float."""
    at = int(log[0])
    if at < log.shape[0]:
        log[at] = x
    log[0] = at + 1.0


@kernel
def write3(log: Array, p: Vec3) -> None:
    """Write a vector."""
    write(log, p[0])
    write(log, p[1])
    write(log, p[2])


@kernel
def write_rows(log: Array, s: Array, count: int) -> None:
    """Write the first rows of a simplex, and zeros for the rest of four rows."""
    for i in range(4):
        for j in range(10):
            write(log, s[i, j] if i < count else 0.0)
