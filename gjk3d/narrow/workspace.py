"""Scratch memory of kernels, and the log of their steps.

A caller passes a workspace to the kernels, and each thread retains one workspace. Kernels do not allocate memory.

The first float of a log is the index of the next float to be written. Floats beyond the end of the log are counted, but
not written, so that the caller can repeat the query with a log of the needed length. No trace is written to a log of
length 0.

The log is one flat array of floats, and `read_log` reads it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import Vec3
from gjk3d.results import EpaStep, GjkStep, Trace
from gjk3d.typing import Array, Array1, Array2, Ints1, Ints2

SIMPLEX = 60  #: floats of a simplex
#: rows for faces per vertex of EPA's polytope; removed faces keep their rows
FACES_PER_POINT = 12
VERTEX_ROW = 9  #: floats of a vertex of A - B: the vertex, its point of A, its point of B
#: kinds of records, the first float of each record of a log
GJK_STEP, EPA_START, EPA_STEP, GJK_END = 1.0, 2.0, 3.0, 4.0
NO_LOG = np.empty(0)
FIRST_POINTS = 64  #: vertices of EPA's polytope that fit into the first workspace
_MOST_RETAINED = 1024  #: a workspace for more vertices is not retained


class Workspace(NamedTuple):
    """Scratch memory of GJK and EPA, and the log of a trace."""

    simplex: Array2  #: six rows: vertex w of A - B (3), its point on A (3), on B (3), barycentric coordinate
    work: Array1  #: for EPA: vertex rows (w, a, b), face rows (normal, key), the keys of the queue
    #: for EPA: face rows (three vertices, three neighbours over edges 01 12 20, state, index in the queue), then the
    #: queue, the stack, the horizon and the marks of vertices
    table: Ints1
    log: Array1


class Solver(NamedTuple):
    """Scratch of `gjk3d.narrow.solve.solve`, and the arrays for a single result."""

    workspace: Workspace
    one: Array2  #: floats of the result, (1, FLOATS)
    marks: Ints2  #: flags of the result, (1, INTS)


@inlined
def capacity(workspace: Workspace) -> int:
    """Return the greatest number of vertices of EPA's polytope in a workspace."""
    return int(workspace.work.shape[0] // (VERTEX_ROW + 5 * FACES_PER_POINT))


# --- the workspace of a thread ---------------------------------------------------------------------------------------


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}  #: arrays that `give_back` took


_buffers = _Buffers()
P = ParamSpec("P")
T = TypeVar("T")


def per_thread(make: Callable[P, T]) -> Callable[P, T]:
    """Return a wrapper of ``make`` that caches the last result of each thread, and returns it for equal arguments.

    Only this function and `give_back` make a thread retain scratch memory.
    """
    retained = threading.local()

    @wraps(make)
    def buffer(*sizes: Any) -> Any:
        try:
            if retained.sizes == sizes:
                return retained.value
        except AttributeError:  # the first call in this thread
            pass
        retained.sizes, retained.value = sizes, make(*sizes)  # type: ignore[call-arg]
        return retained.value

    return cast("Callable[P, T]", buffer)


_MOST_BYTES = 1 << 23  #: most bytes of an array that a thread retains


def borrow(name: str, rows: int, columns: int, kind: type = np.float64) -> Any:
    """Return an array of at least this many rows.

    The last array that `give_back` retained under this name is reused if it has enough rows.
    """
    array = _buffers.arrays.pop(name, None)
    return np.empty((rows, columns), dtype=kind) if array is None or len(array) < rows else array


def give_back(**arrays: Any) -> None:
    """Retain arrays of at most 8 MiB for the next `borrow` of their names, since new memory takes time."""
    for name, array in arrays.items():
        if array.nbytes <= _MOST_BYTES:
            _buffers.arrays[name] = array


def new_workspace(points: int) -> Workspace:
    """Return a new workspace for a polytope of this many vertices."""
    faces = FACES_PER_POINT * points
    table = np.empty(10 * faces + 3 * (2 * points + 16) + points + 1, dtype=np.int64)
    return Workspace(np.empty((6, 10)), np.empty(VERTEX_ROW * points + 5 * faces), table, NO_LOG)


_retained_workspace = per_thread(new_workspace)


def workspace_of(points: int, log: Array = NO_LOG) -> Workspace:
    """Return this thread's workspace for an EPA polytope of at most ``points`` vertices, with ``log`` as its log."""
    workspace = (_retained_workspace if points <= _MOST_RETAINED else new_workspace)(points)
    return workspace if log is NO_LOG else workspace._replace(log=log)


# --- the log of a trace ----------------------------------------------------------------------------------------------


@kernel
def write(log: Array, x: float) -> None:
    """Append a float to the log. If the log is full, the float is only counted in ``log[0]``."""
    at = int(log[0])
    if at < log.shape[0]:
        log[at] = x
    log[0] = at + 1.0


@kernel
def write3(log: Array, p: Vec3) -> None:
    """Append a vector to the log."""
    write(log, p[0])
    write(log, p[1])
    write(log, p[2])


@kernel
def write_rows(log: Array, s: Array, count: int) -> None:
    """Append four simplex rows to the log: the first ``count`` rows of ``s``, then rows of zeros."""
    for i in range(4):
        for j in range(10):
            write(log, s[i, j] if i < count else 0.0)


# --- the reader of the log -------------------------------------------------------------------------------------------


#: reasons for the end of GJK, in the order of the codes of `gjk3d.narrow.gjk`
ENDINGS = ("converged", "beyond", "near enough", "origin inside", "origin on the simplex", "no progress", "step limit")


def read_log(log: Array) -> Trace:
    """Return the trace that is stored in a log."""
    trace = Trace()
    at = 1
    vertices: list[Array] = []
    alive: dict[int, tuple[int, int, int]] = {}
    born = 0

    def read(count: int) -> Array:
        nonlocal at
        at += count
        return log[at - count : at].copy()

    while at < len(log):
        kind = read(1)[0]
        if kind == GJK_STEP:
            direction, a, b = read(3), read(3), read(3)
            bound, lower, upper = read(3)
            count = int(read(1)[0])
            rows = read(40).reshape(4, 10)[:count]
            bounds = float(bound), float(lower), float(upper)
            trace.gjk.append(GjkStep(direction, a, b, *bounds, rows[:, :3], rows[:, 3:6], rows[:, 6:9], rows[:, 9]))
        elif kind == GJK_END:
            trace.gjk_end = ENDINGS[int(read(1)[0])]
            count = int(read(1)[0])
            rows = read(40).reshape(4, 10)[:count]
            trace.simplex, trace.simplex_weights = rows[:, :3], rows[:, 9]
            trace.simplex_a, trace.simplex_b = rows[:, 3:6], rows[:, 6:9]
        elif kind == EPA_START:
            vertices = [read(9) for _ in range(4)]
            alive = {f: (int(i), int(j), int(k)) for f, (i, j, k) in enumerate(read(12).reshape(4, 3))}
            born = 4
        else:
            direction, w, a, b = read(3), read(3), read(3), read(3)
            face = int(read(1)[0])
            lower, upper = read(2)
            before = np.array(list(alive.values()), dtype=np.int64)
            closest = np.array(alive[face])
            added = [(int(i), int(j), int(k)) for i, j, k in read(3 * int(read(1)[0])).reshape(-1, 3)]
            removed = [int(x) for x in read(int(read(1)[0]))]
            horizon = np.array([row[:2] for row in added], dtype=np.int64).reshape(-1, 2)
            points = np.array(vertices)
            removed_faces = np.array([alive[f] for f in removed], dtype=np.int64).reshape(-1, 3)
            trace.epa.append(
                EpaStep(
                    vertices=points[:, :3], faces=before, closest=closest, direction=direction, point=w, support_a=a,
                    support_b=b, removed=removed_faces, horizon=horizon, lower=float(lower), upper=float(upper),
                    vertices_a=points[:, 3:6], vertices_b=points[:, 6:9],
                )
            )  # fmt: skip
            if added:
                for f in removed:
                    del alive[f]
                for k, row in enumerate(added):
                    alive[born + k] = row
                born += len(added)
                vertices.append(np.concatenate([w, a, b]))
    return trace
