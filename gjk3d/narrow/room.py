"""Scratch that a caller lends to the kernels, which allocate nothing: the simplex, EPA's polytope, the log of a trace.

A log's first float says where the next record goes; a record that does not fit is counted, not written, so that the
caller sees the length needed and asks again. A log of no length means no trace.
"""

from __future__ import annotations

from typing import NamedTuple

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.geometry.vec3 import Vec3
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: a row of the simplex: w of A - B (3), its point on A (3), on B (3), barycentric coordinate
SIMPLEX = 60  #: floats of its scratch: six rows
# The polytope has room for so many vertices, and for FACES_PER_POINT times as many faces; dead faces keep their place.
# work:  the simplex, vertex rows (w, a, b), face rows (normal, key), the keys of those that wait
# table: face rows (three vertices, three neighbours over edges 01 12 20, alive, place among those that wait), those
#        that wait, stack, horizon, marks
FACES_PER_POINT = 12
VERTEX_ROW = 9
#: what a record of a log begins with
GJK_STEP, EPA_START, EPA_STEP, GJK_END = 1.0, 2.0, 3.0, 4.0


class Room(NamedTuple):
    """All scratch of one question; ``points`` is how many vertices of a polytope it has room for."""

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
    """Return how many floats and ints a workspace for a polytope of this many vertices takes."""
    cap = FACES_PER_POINT * points
    return SIMPLEX + VERTEX_ROW * points + 5 * cap, 10 * cap + 3 * (2 * points + 16) + points + 1


@kernel
def room_in(work: Array, table: Ints, points: int, log: Array) -> Room:
    """Return the room in a workspace."""
    return Room(work[:SIMPLEX].reshape(6, 10), work, table, points, log)


@kernel
def solver_in(work: Array, table: Ints, points: int, one: Array, marks: Ints) -> Solver:
    """Return the solver in a workspace."""
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
    """Write the first rows of a simplex, and zeros for the rest of four."""
    for i in range(4):
        for j in range(10):
            write(log, s[i, j] if i < count else 0.0)
