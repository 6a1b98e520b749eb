"""How pairs of shapes are answered: one registry of pair families, and the calls into the kernels for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.callback import raise_pending
from gjk3d._kernels.first_call import first_call
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow import warm
from gjk3d.narrow.epa import workspace
from gjk3d.narrow.halfspace import plane_rows
from gjk3d.narrow.pairs import collide_many, solve_many
from gjk3d.narrow.sat import axis_rows, overlap_rows
from gjk3d.poses import IDENTITY
from gjk3d.results import Status
from gjk3d.shapes import base, layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.combined import Rounded
from gjk3d.shapes.composed import Composed
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.mapped import Support, in_python
from gjk3d.shapes.simplices import Point
from gjk3d.typing import Array, Ints

FACETS = 3  #: beside the modes of `gjk3d.narrow.solve`
NO_LOG = np.empty(0)
NO_CACHE = np.empty((0, warm.ROW))
NO_POSE = np.empty((0, 4))
_CHUNK = 4096  #: most rows a call into the kernels, so that Ctrl-C is heard between two
_LEAST = 64  #: rows that are worth a thread
FIRST_POINTS = 64  #: vertices of EPA's polytope that the first workspace has room for
MOST_POINTS = {True: 65536, False: 1024}  #: by whether both are polytopes, where EPA is finite
_local = threading.local()


class Rows(NamedTuple):
    """A checked question: poses as kernel rows, how many, and whether the caller passed a stack."""

    a: Array
    b: Array
    total: int
    stacked: bool
    workers: int = 1

    def behind_each_other(self) -> Array:
        """Return the rows of A, then those of B."""
        whole = self.a.base
        if whole is not None and whole is self.b.base and len(whole) == len(self.a) + len(self.b):
            rows: Array = whole
            if self.a.ctypes.data == rows.ctypes.data:
                return rows
        return np.concatenate([self.a, self.b])


class Family(NamedTuple):
    """How pairs of one kind are answered; the first family that matches is taken."""

    matches: Callable[[Any, Any], bool]
    solve: Callable[..., None]  # (a, b, rows, mode, max_distance, tol, out, flags)
    collide: Callable[..., NDArray[np.bool_]]  # (a, b, rows, margin)
    #: (a, b) -> a function of two matrices that answers one question, None where it cannot
    quick: Callable[[Any, Any], Callable[[Any, Any], bool | None] | None] | None = None


def scratch(room: int) -> tuple[Array, Ints, Array]:
    """Return this thread's scratch for polytopes of that many vertices, and for a simplex; large ones are not kept."""
    kept: dict[int, tuple[Array, Ints, Array]] = _local.__dict__.setdefault("scratch", {})
    if room not in kept:
        floats, ints = workspace(room)
        fresh = (np.empty(floats), np.empty(ints, np.int64), np.empty((6, 10)))
        if room > 1024:
            return fresh
        kept[room] = fresh
    return kept[room]


def in_chunks(total: int, workers: int, task: Callable[[int, int], Any]) -> None:
    """Call ``task(start, stop)`` over all rows, on several threads where asked; kernels let go of the interpreter."""
    chunk = max(_LEAST, min(_CHUNK, -(-total // (4 * workers)))) if workers > 1 else _CHUNK
    spans = [(start, min(start + chunk, total)) for start in range(0, total, chunk)]
    if workers == 1 or len(spans) <= 1:
        for span in spans:
            task(*span)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(workers, len(spans))) as pool:
        try:
            for future in [pool.submit(task, *span) for span in spans]:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _most_points(a: Shape, b: Shape) -> int:
    return MOST_POINTS[bool(a._packed[0][layout.POLYTOPE] and b._packed[0][layout.POLYTOPE])]


def ranks(a: Shape, b: Shape) -> tuple[int, int]:
    """Return the order the kernels see two shapes in: equal where only their poses can tell."""
    return int(a._order > b._order), int(a._order < b._order)


def arena(shapes: Sequence[Shape]) -> tuple[Ints, Array, Ints]:
    """Put shapes behind each other; return ints, floats, and for each shape where it begins in either."""
    packed = [shape._packed for shape in shapes]
    ints = np.concatenate([q for q, _ in packed] or [np.zeros(0, dtype=np.int64)])
    floats = np.concatenate([f for _, f in packed] or [np.zeros(0)])
    starts = np.zeros((len(packed) + 1, 2), dtype=np.int64)
    np.cumsum([(len(q), len(f)) for q, f in packed], axis=0, out=starts[1:]) if packed else None
    return ints, floats, starts[:-1]


def pair_row(a: Shape, b: Shape, starts: Ints, poses_a: int, poses_b: int) -> Ints:
    """Return the one row that asks two shapes in an arena at poses that lie behind each other, see `narrow.pairs`."""
    first, second = ranks(a, b)
    return np.array(
        [[*starts[0], first, 0, int(poses_a > 1), *starts[1], second, poses_a, int(poses_b > 1)]], dtype=np.int64
    )


def canonical(a: Shape, b: Shape, rows: Rows) -> tuple[Shape, Shape, Rows, Any]:
    """Put every row into the order of `ranks`; return which were exchanged: True, False or a mask."""
    rank_a, rank_b = ranks(a, b)
    if rank_a < rank_b:
        return a, b, rows, False
    if rank_a > rank_b:
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    if rows.total == 1:
        if rows.a[0].tolist() <= rows.b[0].tolist():
            return a, b, rows, False
        return b, a, rows._replace(a=rows.b, b=rows.a), True
    first, second = np.broadcast_arrays(rows.a, rows.b)
    differ = first != second
    column = differ.argmax(axis=1)
    each = np.arange(rows.total)
    mask = differ.any(axis=1) & (first[each, column] > second[each, column])
    low, high = np.where(mask[:, None], second, first), np.where(mask[:, None], first, second)
    return a, b, rows._replace(a=low, b=high), mask


def _mirror(out: Array, which: Any) -> None:
    """Turn answers of (b, a) into answers of (a, b) in the rows exchanged."""
    if which is False:
        return
    chosen = slice(None) if which is True else which
    out[chosen, 3:6] = 0.0 - out[chosen, 3:6]
    points = out[chosen, 6:12].copy()
    out[chosen, 6:9], out[chosen, 9:12] = points[:, 3:], points[:, :3]


def _solve_cores(
    a: Shape,
    b: Shape,
    rows: Rows,
    mode: int,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    if mode == FACETS:
        _solve_facets(a, b, rows, max_distance, tol, out, flags, log)
        return
    ints, floats, starts = arena((a, b))
    pair = pair_row(a, b, starts, len(rows.a), len(rows.b))
    if log is not None:  # a trace shows A on the left, as asked
        pair[0, [2, 7]] = 0, 1
    poses = rows.behind_each_other()
    points, most, again = FIRST_POINTS, _most_points(a, b), False

    def run(start: int, stop: int, points: int, again: bool, room: Array) -> int:
        work, table, _ = scratch(points)
        return solve_many(
            ints, floats, pair, NO_POSE, NO_POSE, poses, mode, max_distance, tol,
            start, stop, again, work, table, points, out, flags, NO_CACHE, room,
        )  # fmt: skip

    while True:
        if log is None:
            in_chunks(rows.total, rows.workers, partial(run, points=points, again=again, room=NO_LOG))
        else:
            room = np.empty(4096)
            while (used := run(0, 1, points, False, room)) > len(room):  # also when it is asked for its length only
                room = np.empty(used)
            log[0] = room[:used]
        if points >= most or not flags[:, 3].any():
            if tol == 0.0 and not flags[:, 2].all():
                _settle_exactly(a, b, rows, mode, max_distance, out, flags)
            return
        points, again = 4 * points, True


def _settle_exactly(a: Shape, b: Shape, rows: Rows, mode: int, max_distance: float, out: Array, flags: Ints) -> None:
    """Answer rows of polytopes whose interval is wider than promised in rational arithmetic: slow, rare and final."""
    if _most_points(a, b) != MOST_POINTS[True]:
        return
    from gjk3d.exact import exact_pair  # loaded when a row needs it

    slack = float(a._packed[1][layout.SLACK] + b._packed[1][layout.SLACK])
    first, second = ranks(a, b)
    for k in np.flatnonzero((flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND)):
        row_a, row_b = rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]
        turned = first > second or (first == second and row_a.tolist() > row_b.tolist())
        pair = exact_pair(b, a, row_b, row_a) if turned else exact_pair(a, b, row_a, row_b)
        if pair is None:
            return
        lower, upper = pair.lower - slack, pair.upper
        flags[k, 2] = 1
        if mode == narrow.UNSIGNED and upper <= 0.0:
            out[k, :3] = 0.0  # the common point that GJK found stands
            flags[k, 0] = Status.OVERLAPPING
            continue
        if mode == narrow.UNSIGNED:
            lower = max(lower, 0.0)
        distance = 0.5 * (lower + upper)
        out[k, :3] = distance, lower, upper
        out[k, 3:6], out[k, 6:9] = pair.normal, pair.point_a
        out[k, 9:12] = out[k, 6:9] + distance * out[k, 3:6]
        if turned:
            _mirror(out, np.array([k]))
        apart = Status.BEYOND if lower > max_distance else Status.SEPARATED
        flags[k, 0] = apart if lower > 0.0 else Status.OVERLAPPING if upper < 0.0 else Status.TOUCHING


def _collide_cores(a: Shape, b: Shape, rows: Rows, margin: float) -> NDArray[np.bool_]:
    ints, floats, starts = arena((a, b))
    pair = pair_row(a, b, starts, len(rows.a), len(rows.b))
    poses = rows.behind_each_other()
    answer = np.empty(rows.total, dtype=np.int64)

    def task(start: int, stop: int) -> None:
        simplex = scratch(FIRST_POINTS)[2]
        collide_many(
            ints, floats, pair, NO_POSE, NO_POSE, poses, margin, start, stop, simplex, answer, NO_CACHE
        )  # fmt: skip

    in_chunks(rows.total, rows.workers, task)
    left = np.flatnonzero(answer == 2)
    if len(left):
        few = Rows(_take(rows.a, left), _take(rows.b, left), len(left), True, rows.workers)
        out, flags = np.empty((len(left), narrow.FLOATS)), np.zeros((len(left), narrow.INTS), dtype=np.int64)
        _solve_cores(a, b, few, narrow.SIGNED, inf, 0.0, out, flags, None)
        answer[left] = ~(out[:, 1] > margin)
    apart: NDArray[np.bool_] = answer == 0
    return ~apart


def _take(rows: Array, which: Ints) -> Array:
    return rows[which] if len(rows) > 1 else rows


def check_polytopes(a: Shape, b: Shape, what: str, rounded: bool) -> None:
    """Raise unless both are polytopes, and with ``rounded`` False sharp ones."""
    for name, shape in (("a", a), ("b", b)):
        sharp = rounded or shape._packed[1][layout.RADIUS] == 0.0
        if not (shape._packed[0][layout.POLYTOPE] and sharp):
            raise UnsupportedPair(
                f"{what} takes polytopes{', rounded ones too' if rounded else ''}, and {name} is a "
                f"{type(shape).__name__}: use signed_distance, whose normal is the best axis of any pair"
            )


def facet_axes(a: Shape, b: Shape, rows: Rows) -> tuple[Array, Ints]:
    """Run the separating axis test on polytopes."""
    axes, kinds = np.empty((rows.total, 8)), np.empty((rows.total, 4), dtype=np.int64)
    gauss_a, gauss_b = a._gauss_map(), b._gauss_map()
    turned = np.empty((len(gauss_b[1]), 9))
    axis_rows(*a._packed, *b._packed, rows.a, rows.b, *gauss_a, *gauss_b, turned, 0, rows.total, axes, kinds)
    return axes, kinds


def _solve_facets(
    a: Shape,
    b: Shape,
    rows: Rows,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    if log is not None:
        raise ShapeError("trace=True shows GJK and EPA: use depth='auto' or 'epa'")
    check_polytopes(a, b, "depth='facets'", True)
    a, b, rows, exchanged = canonical(a, b, rows)
    axes, kinds = facet_axes(a, b, rows)
    simplex = scratch(FIRST_POINTS)[2]
    overlap_rows(*a._packed, *b._packed, rows.a, rows.b, axes, kinds, 0, rows.total, simplex, out, flags)
    left = np.flatnonzero(flags[:, 3])
    if len(left):
        few = Rows(_take(rows.a, left), _take(rows.b, left), len(left), True)
        rest, marks = np.empty((len(left), narrow.FLOATS)), np.zeros((len(left), narrow.INTS), dtype=np.int64)
        _solve_cores(a, b, few, narrow.SIGNED, max_distance, tol, rest, marks, None)
        out[left], flags[left] = rest, marks
    _mirror(out, exchanged)


def plane_core(plane: Halfspace) -> tuple[Array, Ints, Array]:
    """Return the normal, and a point core centred on the plane."""
    if "core" not in plane._cache:
        center = plane.normal * plane.offset
        slack = 8.0 * layout.UNIT_ROUNDOFF * abs(plane.offset)
        floats = np.array([0.0, *center, 0.0, slack, 0.0, 0.0, 0.0])
        ints = np.array([layout.POINT, 0, 0, 1, layout.BALL], dtype=np.int64)
        plane._cache["core"] = (plane.normal.copy(), ints, floats)
    core: tuple[Array, Ints, Array] = plane._cache["core"]
    return core


def _solve_plane(
    a: Shape,
    b: Shape,
    rows: Rows,
    mode: int,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    flip = isinstance(b, Halfspace)
    plane, shape = (b, a) if flip else (a, b)
    of_plane, of_shape = (rows.b, rows.a) if flip else (rows.a, rows.b)
    assert isinstance(plane, Halfspace)
    plane_rows(
        *plane_core(plane), *shape._packed, of_plane, of_shape, flip, mode, max_distance, 0, rows.total, out, flags
    )


def _collide_plane(a: Shape, b: Shape, rows: Rows, margin: float) -> NDArray[np.bool_]:
    out, flags = np.empty((rows.total, narrow.FLOATS)), np.empty((rows.total, narrow.INTS), dtype=np.int64)
    _solve_plane(a, b, rows, narrow.SIGNED, inf, 0.0, out, flags, None)
    answer: NDArray[np.bool_] = ~(out[:, 1] > margin)
    return answer


def is_mapped(shape: Any) -> bool:
    """Tell whether a function of the user is part of a shape."""
    return (
        isinstance(shape, Support)
        or (isinstance(shape, Composed) and len(shape._functions) > 0)
        or (isinstance(shape, Rounded) and is_mapped(shape.core))
    )


def _solve_mapped(
    a: Shape,
    b: Shape,
    rows: Rows,
    mode: int,
    max_distance: float,
    tol: float,
    out: Array,
    flags: Ints,
    log: list[Array] | None,
) -> None:
    plane = isinstance(a, Halfspace) or isinstance(b, Halfspace)
    (_solve_plane if plane else _solve_cores)(a, b, rows, mode, max_distance, tol, out, flags, log)
    raise_pending()
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if not len(bad):
        lies = np.flatnonzero(out[:, 1] > out[:, 2])
        if len(lies):
            raise ShapeError(
                f"a support mapping contradicts itself in question {lies[0]} of {len(out)}: by one direction they are"
                f" at least {out[lies[0], 1]:.6g} apart, by its points at most {out[lies[0], 2]:.6g}; it must return"
                " the farthest point of one convex shape, within its radius"
            )
        return
    # what a compiled function raised is not known: the same question to the function itself says it
    k = bad[:1]
    few = Rows(_take(rows.a, k), _take(rows.b, k), 1, True)
    (_solve_plane if plane else _solve_cores)(
        in_python(a), in_python(b), few, mode, max_distance, tol, out[k], flags[k], None
    )
    raise_pending()
    raise ShapeError(f"a support mapping returned numbers that are not finite, in question {k[0]} of {len(out)}")


def _collide_mapped(a: Shape, b: Shape, rows: Rows, margin: float) -> NDArray[np.bool_]:
    out, flags = np.empty((rows.total, narrow.FLOATS)), np.zeros((rows.total, narrow.INTS), dtype=np.int64)
    _solve_mapped(a, b, rows, narrow.SIGNED, inf, 0.0, out, flags, None)
    answer: NDArray[np.bool_] = ~(out[:, 1] > margin)
    return answer


#: the registry of pair families; higher layers add theirs in front when they are first used
families: list[Family] = [
    Family(
        lambda a, b: (is_mapped(a) or is_mapped(b)) and not (isinstance(a, Halfspace) and isinstance(b, Halfspace)),
        _solve_mapped,
        _collide_mapped,
    ),
    Family(lambda a, b: isinstance(a, Halfspace) != isinstance(b, Halfspace), _solve_plane, _collide_plane),
    Family(lambda a, b: not isinstance(a, Halfspace) and not isinstance(b, Halfspace), _solve_cores, _collide_cores),
]


def _contains(shape: Shape, points: Array) -> NDArray[np.bool_]:
    poses = np.zeros((len(points), 13))
    poses[:, :9] = IDENTITY[0, :9]
    poses[:, 9:12] = points
    rows = Rows(IDENTITY, poses, len(points), True)
    with first_call("collide"):
        return _collide_cores(shape, Point(), rows, 0.0)


base.contains_hook.append(_contains)
