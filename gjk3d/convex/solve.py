"""How two convex shapes are answered from Python: by their cores, by facets, as half-space, or with a user's function.

`way` names who answers which two; `gjk3d.query.dispatch` has the table of all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.callback import raise_pending
from gjk3d.convex import card
from gjk3d.convex.checks import FACETS, check_polytopes
from gjk3d.convex.rows import (
    FIRST_POINTS,
    MOST_POINTS,
    NO_CACHE,
    NO_LOG,
    NO_POSE,
    Rows,
    Wanted,
    arena,
    canonical,
    empty_answers,
    in_chunks,
    mirror,
    pair_row,
    ranks,
    scratch,
    take,
)  # fmt: skip
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import collide_many, plane_rows, solve_many
from gjk3d.narrow.sat import axis_rows, overlap_rows
from gjk3d.poses import IDENTITY, UNIT_ROUNDOFF, pose_rows
from gjk3d.results import Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.mapped import Support, in_python
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Bools, Ints


class Quick(NamedTuple):
    """How one question about two matrices is answered where little else may be done; it holds neither of the two."""

    #: (a, b, matrix of a, of b, margin of at least 0) -> the boolean, None where it takes the long way
    collide: Callable[[Any, Any, Array, Array, float], bool | None]
    #: (matrix of a, of b, mode, max_distance, out) -> marks of the answer in ``out``, -1 where it takes the long way
    measure: Callable[[Array, Array, int, float, Array], int]


class Way(NamedTuple):
    """How two of some kinds are answered."""

    solve: Callable[[Any, Any, Rows, Wanted, Array, Ints], None]  #: fills rows of answers and flags
    collide: Callable[[Any, Any, Rows, float], Bools]
    prepare: Callable[[Any, Any], Quick | None] | None = None
    #: where not as cores or their planes do: (a, b, motion rows of each, clearance, out, flags), see `narrow.toi`
    impact: Callable[[Any, Any, Array, Array, float, Array, Ints], None] | None = None


def _solve_cores(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    if wanted.mode == FACETS:
        _solve_facets(a, b, rows, wanted, out, flags)
        return
    mode, max_distance, tol, log = wanted[:4]
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
        if rows.on_card and log is None and not again:
            card.solve(ints, floats, pair, poses, wanted, out, flags)
        elif log is None:
            in_chunks(rows.total, rows.workers, partial(run, points=points, again=again, room=NO_LOG))
        else:
            room = np.empty(4096)
            while (used := run(0, 1, points, False, room)) > len(room):  # also when it is asked for its length only
                room = np.empty(used)
            log[0] = room[:used]
        if points >= most or not flags[:, 3].any():
            if tol == 0.0 and most == MOST_POINTS[True] and not flags[:, 2].all():
                _settle_exactly(a, b, rows, wanted, out, flags)
            return
        points, again = 4 * points, True


def _settle_exactly(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer rows of polytopes whose interval is wider than promised in rational arithmetic: slow, rare and final."""
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
        if wanted.mode == narrow.UNSIGNED and upper <= 0.0:
            out[k, :3] = 0.0  # the common point that GJK found stands
            flags[k, 0] = Status.OVERLAPPING
            continue
        if wanted.mode == narrow.UNSIGNED:
            lower = max(lower, 0.0)
        distance = 0.5 * (lower + upper)
        out[k, :3] = distance, lower, upper
        out[k, 3:6], out[k, 6:9] = pair.normal, pair.point_a
        out[k, 9:12] = out[k, 6:9] + distance * out[k, 3:6]
        if turned:
            mirror(out, np.array([k]))
        apart = Status.BEYOND if lower > wanted.max_distance else Status.SEPARATED
        flags[k, 0] = apart if lower > 0.0 else Status.OVERLAPPING if upper < 0.0 else Status.TOUCHING


def _collide_cores(a: Shape, b: Shape, rows: Rows, margin: float) -> Bools:
    ints, floats, starts = arena((a, b))
    pair = pair_row(a, b, starts, len(rows.a), len(rows.b))
    poses = rows.behind_each_other()
    answer = np.empty(rows.total, dtype=np.int64)

    def task(start: int, stop: int) -> None:
        simplex = scratch(FIRST_POINTS)[2]
        collide_many(
            ints, floats, pair, NO_POSE, NO_POSE, poses, margin, start, stop, simplex, answer, NO_CACHE
        )  # fmt: skip

    if rows.on_card:
        card.collide(ints, floats, pair, poses, margin, answer)
    else:
        in_chunks(rows.total, rows.workers, task)
    left = np.flatnonzero(answer == 2)
    if len(left):
        few = Rows(take(rows.a, left), take(rows.b, left), len(left), True, rows.workers)
        answer[left] = _not_beyond(_solve_cores, a, b, few, margin)
    apart: Bools = answer == 0
    return ~apart


def _not_beyond(solve: Any, a: Shape, b: Shape, rows: Rows, margin: float) -> Bools:
    """Answer `collide` by signed distances: False where being farther apart is proven."""
    out, flags = empty_answers(rows.total)
    solve(a, b, rows, Wanted(narrow.SIGNED), out, flags)
    hits: Bools = ~(out[:, 1] > margin)
    return hits


def facet_axes(a: Shape, b: Shape, rows: Rows) -> tuple[Array, Ints]:
    """Run the separating axis test on polytopes."""
    axes, kinds = np.empty((rows.total, 8)), np.empty((rows.total, 4), dtype=np.int64)
    gauss_a, gauss_b = a._gauss_map(), b._gauss_map()
    turned = np.empty((len(gauss_b[1]), 9))
    axis_rows(*a._packed, *b._packed, rows.a, rows.b, *gauss_a, *gauss_b, turned, 0, rows.total, axes, kinds)
    return axes, kinds


def _solve_facets(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    if wanted.log is not None:
        raise ShapeError("trace=True shows GJK and EPA: use depth='auto' or 'epa'")
    check_polytopes(a, b, "depth='facets'", True)
    a, b, rows, exchanged = canonical(a, b, rows)
    axes, kinds = facet_axes(a, b, rows)
    overlap_rows(
        *a._packed, *b._packed, rows.a, rows.b, axes, kinds, 0, rows.total, scratch(FIRST_POINTS)[2], out, flags
    )
    left = np.flatnonzero(flags[:, 3])
    if len(left):
        few = Rows(take(rows.a, left), take(rows.b, left), len(left), True)
        rest, marks = empty_answers(len(left))
        _solve_cores(a, b, few, wanted._replace(mode=narrow.SIGNED), rest, marks)
        out[left], flags[left] = rest, marks
    mirror(out, exchanged)


def plane_core(plane: Halfspace) -> tuple[Ints, Array]:
    """Return a point core centred on the plane, with the normal, the offset and the number of sides behind it."""
    if "core" not in plane._cache:
        center = plane.normal * plane.offset
        slack = 8.0 * UNIT_ROUNDOFF * abs(plane.offset)
        floats = np.array([0.0, *center, 0.0, slack, 0.0, 0.0, 0.0, 0.0, *plane.normal, plane.offset, plane._sides])
        ints = np.array([layout.POINT, 0, 0, 1, layout.BALL], dtype=np.int64)
        plane._cache["core"] = ints, floats
    core: tuple[Ints, Array] = plane._cache["core"]
    return core


def core_row(a: Shape, b: Shape) -> tuple[Ints, Array, Ints, bool]:
    """Return two shapes behind each other, a pair row of single poses, and whether one is a half-space.

    A half-space has a point core on its plane, and comes first to the kernels.
    """
    planes = isinstance(a, Halfspace), isinstance(b, Halfspace)
    (qa, fa), (qb, fb) = (plane_core(s) if isinstance(s, Halfspace) else s._packed for s in (a, b))
    first, second = (0, 1) if planes[0] else (1, 0) if planes[1] else ranks(a, b)
    row = np.array([[0, 0, first, 0, 0, len(qa), len(fa), second, 1, 0, 0]])
    return np.concatenate([qa, qb]), np.concatenate([fa, fb]), row, any(planes)


def _solve_plane(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    flip = isinstance(b, Halfspace)
    plane, shape = (b, a) if flip else (a, b)
    of_plane, of_shape = (rows.b, rows.a) if flip else (rows.a, rows.b)
    assert isinstance(plane, Halfspace)
    mode, most = wanted.mode, wanted.max_distance
    plane_rows(*plane_core(plane), *shape._packed, of_plane, of_shape, flip, mode, most, 0, rows.total, out, flags)


def is_mapped(shape: Any) -> bool:
    """Tell whether a function of the user is part of a shape."""
    return (
        isinstance(shape, Support)
        or (isinstance(shape, Composed) and len(shape._functions) > 0)
        or (isinstance(shape, Rounded) and is_mapped(shape.core))
    )


def _solve_mapped(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    solve = _solve_plane if isinstance(a, Halfspace) or isinstance(b, Halfspace) else _solve_cores
    solve(a, b, rows, wanted, out, flags)
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
    few = Rows(take(rows.a, k), take(rows.b, k), 1, True)
    solve(in_python(a), in_python(b), few, wanted._replace(log=None), out[k], flags[k])
    raise_pending()
    raise ShapeError(f"a support mapping returned numbers that are not finite, in question {k[0]} of {len(out)}")


CORES = Way(_solve_cores, _collide_cores)
PLANE = Way(_solve_plane, partial(_not_beyond, _solve_plane))
MAPPED = Way(_solve_mapped, partial(_not_beyond, _solve_mapped))


def way(a: Shape, b: Shape) -> Way:
    """Return how two convex shapes are answered; raise UnsupportedPair for two half-spaces."""
    planes = isinstance(a, Halfspace) + isinstance(b, Halfspace)
    if planes == 2:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: two half-spaces, or planes, overlap without end; "
            "use a large Box for one of them"
        )
    if is_mapped(a) or is_mapped(b):
        return MAPPED
    return PLANE if planes else CORES


def signed(a: Shape, b: Shape, poses: Array) -> Array:
    """Return signed distances with b at one pose or n in a's frame, as rows of what `gjk3d.narrow.solve` answers."""
    rows = Rows(IDENTITY, pose_rows(poses)[0], len(poses) if poses.ndim == 3 else 1, True)
    out, flags = empty_answers(rows.total)
    way(a, b).solve(a, b, rows, Wanted(narrow.SIGNED), out, flags)
    return out


def contains(shape: Shape, points: Array) -> Bools:
    """Tell which points lie in a shape: those that `collide` with it."""
    poses = np.zeros((len(points), 13))
    poses[:, :9] = IDENTITY[0, :9]
    poses[:, 9:12] = points
    rows = Rows(IDENTITY, poses, len(points), True)
    return _collide_cores(shape, Point(), rows, 0.0)


def _most_points(a: Shape, b: Shape) -> int:
    return MOST_POINTS[bool(a._packed[0][layout.POLYTOPE] and b._packed[0][layout.POLYTOPE])]
