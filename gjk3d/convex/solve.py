"""Distances and collisions of two convex shapes.

Handlers are the functions that compute distances and collisions of two shapes. There are handlers for cores, for a
half-space, and for a user's support mapping. `convex_handlers` chooses among them. `gjk3d.engine.dispatch` has the
table of all kinds of shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.addresses import raise_pending
from gjk3d._kernels.decorators import kernel, plain, single_entry
from gjk3d.broad import Box
from gjk3d.convex.batch import (
    MOST_CURVED_POINTS,
    MOST_POINTS,
    NO_CACHE,
    NO_POSE,
    Rows,
    Wanted,
    canonical,
    collide_batch,
    empty_answers,
    mirror,
    ranks,
    select_rows,
    solve_batch,
)
from gjk3d.convex.checks import FACETS, check_polytopes, check_workers
from gjk3d.errors import ShapeError
from gjk3d.geometry.points import farthest
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.sat import GaussMap, axis_rows, overlap_rows
from gjk3d.narrow.solve import SIDES, PairRows, Request, ShapeRows, plane_rows, solve_many
from gjk3d.narrow.workspace import FIRST_POINTS, per_thread, workspace_of
from gjk3d.poses import IDENTITY, UNIT_ROUNDOFF, pose_rows
from gjk3d.results import Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Polytope, Shape, points_of
from gjk3d.shapes.composed import in_python
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import Point
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array1, Array2, Bools, Ints, Ints1, Ints2


class Handlers(NamedTuple):
    """The functions that compute distances and collisions of two shapes of given kinds."""

    solve: Callable[[Any, Any, Rows, Wanted, Array, Ints], None]  #: writes rows of results and of flags
    collide: Callable[[Any, Any, Rows, float], Bools]  #: returns whether the shapes are within a margin, for each query


def _solve_cores(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    if wanted.mode == FACETS:
        _solve_facets(a, b, rows, wanted, out, flags)
        return
    mode, max_distance, tol, log = wanted[:4]
    ints, floats, pair, _ = core_row(a, b, len(rows.a), len(rows.b))
    polytopes = bool(a._packed[0][layout.POLYTOPE] and b._packed[0][layout.POLYTOPE])
    pairs, request = PairRows(ints, floats, pair, rows.joined_poses()), Request(mode, max_distance, tol)
    if log is None:
        curved = slice(0 if polytopes else None)
        solve_batch(pairs, request, curved, out, flags, rows.workers, rows.on_gpu)
    else:
        pair[0, [2, 7]] = 0, 1  # a trace has A and B in the order of the caller
        points, steps = FIRST_POINTS, np.empty(4096)
        while True:
            used = solve_many(pairs, NO_POSE, NO_POSE, request, 0, 1, workspace_of(points, steps), out, flags, NO_CACHE)
            if used > len(steps):
                steps = np.empty(used)  # the kernel returns the length it needs
            elif flags[0, 3] and points < (MOST_POINTS if polytopes else MOST_CURVED_POINTS):
                points *= 4
            else:
                break
        log[0] = steps[:used]
    if tol == 0.0 and polytopes and not flags[:, 2].all():
        _settle_exactly(a, b, rows, wanted, out, flags)


def _settle_exactly(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Replace results whose bounds are too far apart by results of rational arithmetic. Both shapes are polytopes."""
    from gjk3d.exact import exact_pair  # loaded when it is first needed

    slack = float(a._packed[1][layout.SLACK] + b._packed[1][layout.SLACK])
    first, second = ranks(a, b)
    for k in np.flatnonzero((flags[:, 2] == 0) & (flags[:, 0] != Status.BEYOND)):
        row_a, row_b = rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]
        swapped = first > second or (first == second and row_a.tolist() > row_b.tolist())
        pair = exact_pair(b, a, row_b, row_a) if swapped else exact_pair(a, b, row_a, row_b)
        if pair is None:
            return
        lower, upper = pair.lower - slack, pair.upper
        flags[k, 2] = 1
        if wanted.mode == narrow.UNSIGNED and upper <= 0.0:
            out[k, :3] = 0.0  # the common point of GJK is kept
            flags[k, 0] = Status.OVERLAPPING
            continue
        if wanted.mode == narrow.UNSIGNED:
            lower = max(lower, 0.0)
        distance = 0.5 * (lower + upper)
        out[k, :3] = distance, lower, upper
        out[k, 3:6], out[k, 6:9] = pair.normal, pair.point_a
        out[k, 9:12] = out[k, 6:9] + distance * out[k, 3:6]
        if swapped:
            mirror(out, np.array([k]))
        separated = Status.BEYOND if lower > wanted.max_distance else Status.SEPARATED
        flags[k, 0] = separated if lower > 0.0 else Status.OVERLAPPING if upper < 0.0 else Status.TOUCHING


def _collide_cores(a: Shape, b: Shape, rows: Rows, margin: float) -> Bools:
    ints, floats, pair, _ = core_row(a, b, len(rows.a), len(rows.b))
    pairs = PairRows(ints, floats, pair, rows.joined_poses())
    answer = collide_batch(pairs, rows.total, margin, rows.workers, rows.on_gpu)
    left = np.flatnonzero(answer == 2)  # too close to the margin: the signed distance decides
    if len(left):
        few = Rows(select_rows(rows.a, left), select_rows(rows.b, left), len(left), True, rows.workers)
        answer[left] = _not_beyond(_solve_cores, a, b, few, margin)
    separated: Bools = answer == 0
    return ~separated


def _not_beyond(solve: Any, a: Shape, b: Shape, rows: Rows, margin: float) -> Bools:
    """Return for each query whether the signed distance, found by ``solve``, is not proven to exceed the margin."""
    out, flags = empty_answers(rows.total)
    solve(a, b, rows, Wanted(narrow.SIGNED), out, flags)
    hits: Bools = ~(out[:, 1] > margin)
    return hits


@per_thread
def edge_scratch(count: int) -> Array:
    """Return scratch, (count, 9), for the edges of a shape in `gjk3d.narrow.sat.axis_rows`."""
    return np.empty((count, 9))


def _solve_facets(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    if wanted.log is not None:
        raise ShapeError("trace=True records GJK and EPA, but depth='facets' uses neither. Use depth='auto' or 'epa'.")
    check_polytopes(a, b, "depth='facets'", True)
    a, b, rows, swapped = canonical(a, b, rows)
    axes, kinds = np.empty((rows.total, 8)), np.empty((rows.total, 4), dtype=np.int64)
    first, second = ShapeRows(*a._packed, rows.a), ShapeRows(*b._packed, rows.b)
    gauss_a, gauss_b = GaussMap(*a._gauss_map()), GaussMap(*b._gauss_map())
    axis_rows(first, second, gauss_a, gauss_b, edge_scratch(len(gauss_b.edges)), 0, rows.total, axes, kinds)
    overlap_rows(first, second, axes, kinds, 0, rows.total, workspace_of(FIRST_POINTS).simplex, out, flags)
    left = np.flatnonzero(flags[:, 3])
    if len(left):
        few = Rows(select_rows(rows.a, left), select_rows(rows.b, left), len(left), True)
        answers, marks = empty_answers(len(left))
        _solve_cores(a, b, few, wanted._replace(mode=narrow.SIGNED), answers, marks)
        out[left], flags[left] = answers, marks
    mirror(out, swapped)


def plane_core(plane: Halfspace) -> tuple[Ints, Array]:
    """Return a half-space packed as a core: a surface point, then the normal, offset and number of sides (1 or 2)."""
    if "core" not in plane._cache:
        center = plane.normal * plane.offset
        slack = 8.0 * UNIT_ROUNDOFF * abs(plane.offset)
        floats = np.array([0.0, *center, 0.0, slack, 0.0, 0.0, 0.0, 0.0, *plane.normal, plane.offset, plane._sides])
        ints = np.array([layout.POINT, 0, 0, 1, layout.BALL], dtype=np.int64)
        plane._cache["core"] = ints, floats
    core: tuple[Ints, Array] = plane._cache["core"]
    return core


def core_row(a: Shape, b: Shape, poses_a: int = 1, poses_b: int = 1) -> tuple[Ints, Array, Ints, bool]:
    """Return the integers and floats of two shapes, a pair row, and whether a shape is a half-space or plane.

    The pair row has the indices of the shapes and poses in the joined arrays, see `gjk3d.narrow.solve`. The poses are
    ``poses_a`` rows of A, followed by ``poses_b`` rows of B. A half-space is packed by `plane_core`, and precedes the
    other shape in the kernels.
    """
    is_plane = bool((a._kind | b._kind) & Kind.PLANES)
    (qa, fa), (qb, fb) = (ray_core(a), ray_core(b)) if is_plane else (a._packed, b._packed)
    first, second = ranks(a, b) if not is_plane else (0, 1) if a._kind & Kind.PLANES else (1, 0)
    row = np.array([[0, 0, first, 0, poses_a > 1, len(qa), len(fa), second, poses_a, poses_b > 1, 0]], dtype=np.int64)
    return np.concatenate([qa, qb]), np.concatenate([fa, fb]), row, is_plane


def _solve_plane(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    plane_is_b = bool(b._kind & Kind.PLANES)
    plane, shape, placed = (b, a, rows.swapped()) if plane_is_b else (a, b, rows)
    first, second = ShapeRows(*ray_core(plane), placed.a), ShapeRows(*shape._packed, placed.b)
    plane_rows(first, second, plane_is_b, wanted.mode, wanted.max_distance, 0, rows.total, out, flags)


def is_mapped(shape: Any) -> bool:
    """Return whether a shape contains a support mapping of the user."""
    return bool(shape._kind == Kind.MAPPED)


def _solve_mapped(a: Shape, b: Shape, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    solve = _solve_plane if (a._kind | b._kind) & Kind.PLANES else _solve_cores
    solve(a, b, rows, wanted, out, flags)
    raise_pending()
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if not len(bad):
        contradictory = np.flatnonzero(out[:, 1] > out[:, 2])
        for k in contradictory[:1]:
            raise ShapeError(
                f"a support mapping contradicts itself at pose {k + 1} of {len(out)}: a direction proves a distance of "
                f"at least {out[k, 1]:.6g}, and the points prove at most {out[k, 2]:.6g}. The mapping must return the "
                "farthest point of a convex shape, within the radius of the Support."
            )
        return
    # a compiled function loses its exception; the same query with the Python function raises it again
    k = bad[:1]
    few = Rows(select_rows(rows.a, k), select_rows(rows.b, k), 1, True)
    solve(in_python(a), in_python(b), few, wanted._replace(log=None), out[k], flags[k])
    raise_pending()
    raise ShapeError(
        f"a support mapping returned a point that is not finite at pose {k[0] + 1} of {len(out)}. The mapping must "
        "return three finite numbers."
    )


CORES = Handlers(_solve_cores, _collide_cores)
PLANE = Handlers(_solve_plane, partial(_not_beyond, _solve_plane))
MAPPED = Handlers(_solve_mapped, partial(_not_beyond, _solve_mapped))


def convex_handlers(a: Shape, b: Shape) -> Handlers:
    """Return the functions that solve two convex shapes. At most one shape is a half-space or plane."""
    kinds = a._kind | b._kind
    return MAPPED if kinds & Kind.MAPPED else PLANE if kinds & Kind.PLANES else CORES


def signed(a: Shape, b: Shape, poses: Array) -> Array:
    """Return signed distances of a and b as result rows of the kernels, see `gjk3d.narrow.solve`.

    ``poses`` is a pose of b in a's frame, or n poses.
    """
    rows = Rows(IDENTITY, pose_rows(poses)[0], len(poses) if poses.ndim == 3 else 1, True)
    out, flags = empty_answers(rows.total)
    convex_handlers(a, b).solve(a, b, rows, Wanted(narrow.SIGNED), out, flags)
    return out


def contains(shape: Shape, points: Any, workers: int) -> Any:
    """Return whether points are in a shape; see `gjk3d.Shape.contains`."""
    check_workers(workers)
    p, single = points_of(points, "contains: points")
    inside = shape._contains(p, workers)
    return bool(inside[0]) if single else inside


def contains_by_collide(shape: Shape, points: Array, workers: int) -> Bools:
    """Return which points (n, 3) are in a shape, by collisions of the shape with points."""
    poses = np.zeros((len(points), 13))
    poses[:, :9] = IDENTITY[0, :9]
    poses[:, 9:12] = points
    rows = Rows(IDENTITY, poses, len(points), True, workers)
    return _collide_cores(shape, Point(), rows, 0.0)


_U = UNIT_ROUNDOFF
_KIND, _RADIUS, _CENTER, _RHO, _SLACK = layout.KIND, layout.RADIUS, layout.CENTER, layout.RHO, layout.SLACK
_BOX, _HEAD = layout.BOX, layout.FLOAT_HEAD
#: Growth of bounding boxes relative to the size of the shape, twice the promised width of a distance for curved shapes.
#: If the narrow phase cannot prove two shapes apart, their boxes therefore overlap.
SLACK = 1e-9


@kernel
def reach_along(core: Core, ball: bool, poses: Array, s: int, axis: int) -> tuple[float, float]:
    """Return the interval that a shape at pose row s covers along a world axis, enlarged for rounding.

    With ``ball`` the shape is replaced by its bounding ball.
    """
    g = core.floats
    size = g[_RHO] + g[_RADIUS]
    c0, c1, c2 = g[_CENTER], g[_CENTER + 1], g[_CENTER + 2]
    off = abs(c0) + abs(c1) + abs(c2)
    # column 12 is the deviation of the rotation from orthonormal, which stretches the rotated shape
    grown = g[_SLACK] + SLACK * size + (32.0 * _U + 2.0 * poses[s, 12]) * (size + off)
    d = (poses[s, 3 * axis], poses[s, 3 * axis + 1], poses[s, 3 * axis + 2])
    if ball:
        high, low = g[_RHO], -g[_RHO]
    elif core.ints[_KIND] == _BOX:
        high = abs(d[0]) * g[_HEAD] + abs(d[1]) * g[_HEAD + 1] + abs(d[2]) * g[_HEAD + 2]
        low = -high
    else:
        p = support(core, d)
        high = p[0] * d[0] + p[1] * d[1] + p[2] * d[2]
        p = support(core, (-d[0], -d[1], -d[2]))
        low = p[0] * d[0] + p[1] * d[1] + p[2] * d[2]
    middle = d[0] * c0 + d[1] * c1 + d[2] * c2 + poses[s, 9 + axis]
    more = g[_RADIUS] + grown + 8.0 * _U * (abs(poses[s, 9 + axis]) + off)
    return middle + low - more, middle + high + more


@kernel
def placed_box(core: Core, ball: bool, poses: Array, s: int) -> Box:
    """Return the bounding box of a shape at pose row s: its lower corner, then its upper corner.

    ``ball`` must be True for a user's support mapping, which this kernel must not call. The result is then the box of
    the bounding ball.
    """
    x0, x1 = reach_along(core, ball, poses, s, plain(0))
    y0, y1 = reach_along(core, ball, poses, s, plain(1))
    z0, z1 = reach_along(core, ball, poses, s, plain(2))
    return (x0, y0, z0, x1, y1, z1)


@single_entry
def placed_boxes(q: Ints1, f: Array1, starts: Ints2, balls: Ints1, poses: Array2, slots: Ints1, out: Array2) -> None:
    """Write the bounding box of the object with the index slots[k] to row k of ``out``, see `placed_box`.

    For the object with index s, starts[s] has the indices at which its shape begins in ``q`` and ``f``, balls[s] is
    whether the box is that of its bounding ball, and poses[s] is its pose row.
    """
    for k in range(slots.shape[0]):
        s = slots[k]
        box = placed_box(Core(q[starts[s, 0] :], f[starts[s, 1] :]), balls[s] != 0, poses, s)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4], out[k, 5] = box


def box_round(shape: Shape, row: Array) -> Array:
    """Return the bounding box, (2, 3), of a shape at a pose row: the lower and the upper corner."""
    out, index = np.empty((1, 6)), np.zeros(1, dtype=np.int64)
    placed_boxes(*shape._packed, np.zeros((1, 2), dtype=np.int64), index + is_mapped(shape), row[None], index, out)
    return out.reshape(2, 3)


_NO_PLANES = np.empty((0, 4))


def ray_core(shape: Shape) -> tuple[Ints, Array]:
    """Return the integers and floats of a shape for the kernels. A half-space is packed by `plane_core`."""
    return plane_core(shape) if isinstance(shape, Halfspace) else shape._packed


def planes_of(shape: Shape) -> Array:
    """Return the planes normal . x = offset of a shape for rays: rows of a unit normal and an offset.

    A hull of dimension 3 has a row for each face, relative to the centre of its core. A half-space has one row, and a
    plane has a row for each side. The result is empty for other shapes.
    """
    ints, floats = ray_core(shape)
    if isinstance(shape, Halfspace):
        plane = floats[None, layout.FLOAT_HEAD : SIDES]
        return plane if shape._sides == 1.0 else np.concatenate([plane, -plane])
    if ints[layout.KIND] != layout.HULL or not isinstance(shape, Polytope):
        return _NO_PLANES
    if "planes" not in shape._cache:
        hull = shape._hull()
        planes = _NO_PLANES
        if hull.dimension == 3:
            normals = shape._gauss_map()[0]
            corners = shape.vertices - floats[layout.CENTER : layout.CENTER + 3]
            planes = np.ascontiguousarray(np.column_stack([normals, farthest(corners, normals)[0]]))
        shape._cache["planes"] = planes
    cached: Array = shape._cache["planes"]
    return cached
