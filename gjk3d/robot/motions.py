"""Motions between configurations: straight lines and paths, checked at samples or certified.

The clearance of a path is first estimated at samples. A share of this estimate is then proven as a lower bound of the
clearance: the path is certified again, with all margins increased by the share.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from math import ceil, inf, nan
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import check_workers, is_finite
from gjk3d.errors import RobotError
from gjk3d.results import compared
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cache, Cell
from gjk3d.robot.cell_kernels import FREE, REFUSED, UNSURE
from gjk3d.robot.model import Robot
from gjk3d.robot.motion_certified import Edges, certified, certified_of_one
from gjk3d.robot.queries import edge_of_one, first_hit_of_path
from gjk3d.robot.results import PairName
from gjk3d.robot.trajectories import lines
from gjk3d.typing import Array, B, Bools, Ints, N, Number, P, Rows, S, VectorLike


class MotionStatus(IntEnum):
    """The status of a motion: FREE, HIT, or UNRESOLVED if the proof stopped without a result.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.MotionStatus.HIT
    <MotionStatus.HIT: 1>
    """

    FREE = 0  #: all samples are free; with ``certify``, no pair comes closer than its margin during the motion
    HIT = 1  #: the first contact is between ``safe`` and ``hit``; a mere touch at the start or end counts too
    UNRESOLVED = 2  #: only with ``certify``: proven free up to ``safe``, where the proof stopped without a result

    def __str__(self) -> str:
        return self.name


@compared()
class MotionCheck(NamedTuple, Generic[B, S, N, P]):
    """Result of `Checker.motion_free`, for one motion or n. The result of one motion is true if the motion is free.

    Positions on a motion are given by a parameter, which is 0 at the first configuration and 1 at the second.

    Attributes
    ----------
    free : bool or (n,) bool
        True if all samples are free. With ``certify``, True if all configurations are proven free.
    status : MotionStatus or (n,) int
        FREE, HIT or UNRESOLVED.
    safe : float or (n,) float
        The parameter of the last free sample before the first collision. It is 1 without a collision, and 0 if the
        first configuration collides. With ``certify``, the motion is proven free up to this parameter.
    hit : float or (n,) float
        The parameter of the first sample that collides, or NaN. With ``certify``, the parameter of a proven collision,
        or NaN. The first contact is between ``safe`` and this parameter.
    pair : (str, str) or None, or list of these
        The pair that collides at ``hit``, or the pair at which the proof stopped. The name of an obstacle is second.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> result = checker.motion_free([0.0, 0.0], [[1.0, 0.0], [0.0, 2.5]])
    >>> result.free.tolist(), result.hit.tolist(), result.pair
    ([True, True], [nan, nan], [None, None])
    """

    free: B
    status: S
    safe: N
    hit: N
    pair: P

    def __bool__(self: MotionCheck[Any, Any, Any, Any]) -> bool:
        if np.ndim(self.free):
            raise RobotError(f"the truth value of {len(self.free)} motions is ambiguous. Use .free or .free.all()")
        return bool(self.free)


OneMotion = MotionCheck[bool, MotionStatus, float, PairName]
ManyMotions = MotionCheck[NDArray[np.bool_], Ints, Array, list[PairName]]


@compared()
class PathCheck(NamedTuple):
    """Result of `Checker.path_free`. As a bool, it is true if the path is free.

    Attributes
    ----------
    free : bool
        True if all samples are free. With ``certify``, True if the whole path is proven free.
    status : MotionStatus
        FREE, HIT or UNRESOLVED.
    edge : int or None
        The first edge (motion between two waypoints) that is not free, counted from 0. None for a free path.
    safe, hit : float
        Parameters on that edge, 0 to 1, as in `MotionCheck`. They are 1 and NaN for a free path.
    pair : (str, str) or None
        The pair that collides at ``hit``, or the pair at which the proof stopped. The name of an obstacle is second.
    configuration : (dof,) float or None
        The configuration at ``hit``, or at ``safe`` if ``hit`` is NaN. None for a free path.

    Examples
    --------
    >>> import gjk3d as gk
    >>> result = gk.robot.Checker(gk.robot.Robot.example()).path_free([[0.0, 0.0], [1.0, 0.0]])
    >>> bool(result), result.status, result.edge
    (True, <MotionStatus.FREE: 0>, None)
    """

    free: bool
    status: MotionStatus
    edge: int | None
    safe: float
    hit: float
    pair: tuple[str, str] | None
    configuration: Array | None

    def __bool__(self) -> bool:
        return self.free


_STATUSES = tuple(MotionStatus)
_FREE_PATH = PathCheck(True, MotionStatus.FREE, None, 1.0, nan, None, None)


def motion_free(
    cell: Cell, q0: Rows, q1: Rows, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> OneMotion | ManyMotions:
    """Return the result of `Checker.motion_free`."""
    # For one plain motion the kernel takes microseconds, less than the checks of arguments below.
    step = _plain_step(resolution, tolerance, workers)
    if step is not None and certify:
        proven = certified_of_one(cell, q0, q1, tolerance)
        if proven is not None:
            return _motion_check(cell, *proven)
    elif step is not None:
        quick = edge_of_one(cell, q0, q1, step)
        if quick is not None:
            return _motion_check(cell, *_sampled_result(*quick))
    check_workers(workers)
    first, second, stacked = ends_of(cell.robot, q0, q1)
    edges = _check_edges(cell, first, second, certify, steps_of(cell.robot, resolution), tolerance, workers)
    if stacked:
        status, safe, hit, pair = edges
        names = [None if p == FREE else cell.names[p] for p in pair.tolist()]
        return MotionCheck(status == MotionStatus.FREE, status, safe, hit, names)
    return _motion_check(cell, *_result_of(edges, 0))


def ends_of(robot: Robot, q0: Rows, q1: Rows) -> tuple[Array, Array, bool]:
    """Return the first and the last configurations of n motions, (n, dof) each, and whether q0 or q1 has several."""
    first, stack0 = robot.configurations(q0, "q0")
    second, stack1 = robot.configurations(q1, "q1")
    if stack0 and stack1 and len(first) != len(second):
        raise RobotError(
            f"q0 has {len(first)} rows and q1 has {len(second)} rows, expected equal numbers, or one configuration "
            f"({robot.dof},) as q0 or q1"
        )
    count = len(first) if stack0 else len(second)
    first, second = (np.require(np.broadcast_to(q, (count, q.shape[1])), None, ["C", "W"]) for q in (first, second))
    return first, second, stack0 or stack1


def _motion_check(cell: Cell, status: int, safe: float, hit: float, pair: int) -> OneMotion:
    return MotionCheck(
        status == MotionStatus.FREE, _STATUSES[status], safe, hit, None if pair == FREE else cell.names[pair]
    )


def _result_of(edges: Edges, k: int) -> tuple[int, float, float, int]:
    status, safe, hit, pair = edges
    return status.item(k), safe.item(k), hit.item(k), pair.item(k)


def _sampled_result(steps: int, at: int, p: int) -> tuple[int, float, float, int]:
    """Return the fields status, safe, hit and pair of `MotionCheck` for an edge with ``steps`` steps between samples.

    Sample ``at`` is the first that collides. ``p`` is the number of the colliding pair, or `FREE` without a collision.
    """
    if p == FREE:
        return MotionStatus.FREE, 1.0, nan, FREE
    most = max(steps, 1)
    return MotionStatus.HIT, max(at - 1, 0) / most, at / most, p


def path_free(
    cell: Cell, path: Any, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> PathCheck:
    """Return the result of `Checker.path_free`."""
    step = _plain_step(resolution, tolerance, workers)
    if step is not None and certify:
        if type(path) is np.ndarray and path.shape == (2, cell.robot.dof):
            proven = certified_of_one(cell, path[0], path[1], tolerance)
            if proven is not None:
                return _path_of(cell, 0, *proven, path[0], path[1])
    elif step is not None:
        quick = first_hit_of_path(cell, path, step)
        if quick is not None:
            edge, *sample = quick
            return _path_of(cell, edge, *_sampled_result(*sample), path[edge], path[edge + 1])
    check_workers(workers)
    points, stacked = cell.robot.configurations(path, "path")
    if not stacked or not len(points):
        raise RobotError(f"path has shape {np.shape(path)}, expected (m, {cell.robot.dof}) waypoints, at least one")
    spacing = steps_of(cell.robot, resolution)
    first, second = (points[:-1], points[1:]) if len(points) > 1 else (points, points)
    for some in blocks(len(first), workers):
        edges = _check_edges(cell, first[some].copy(), second[some].copy(), certify, spacing, tolerance, workers)
        bad = np.flatnonzero(edges[0] != MotionStatus.FREE)
        if len(bad):
            k = int(bad[0])
            return _path_of(cell, some.start + k, *_result_of(edges, k), first[some][k], second[some][k])
    return _FREE_PATH


def blocks(count: int, workers: int) -> Iterator[slice]:
    """Yield slices of ``count`` edges, small slices first. Callers stop at the first edge that is not free."""
    start, size = 0, 16 if workers == 1 else 64 * workers
    while start < count:
        yield slice(start, start + size)
        start, size = start + size, 2 * size


def _path_of(
    cell: Cell, edge: int, status: int, safe: float, hit: float, pair: int, first: Array, second: Array
) -> PathCheck:
    """Return the result of a path from the result of one edge.

    The edge is the first one that is not free, or any edge if all edges are free. ``first`` and ``second`` are its
    ends.
    """
    if status == MotionStatus.FREE:
        return _FREE_PATH
    t = hit if hit == hit else safe
    at = (1.0 - t) * first + t * second
    return PathCheck(False, _STATUSES[status], edge, safe, hit, cell.names[pair], at)


def _plain_step(resolution: Any, tolerance: Any, workers: int) -> float | None:
    """Return ``resolution`` if all arguments are valid and of plain Python types, and ``workers`` is 1, else None."""
    plain = type(workers) is int and workers == 1 and type(resolution) is float and resolution > 0.0
    return resolution if plain and type(tolerance) is float and 0.0 < tolerance < 1.0 else None


def steps_of(robot: Robot, resolution: Number | VectorLike) -> Array:
    """Return the largest change of each joint value from one sample to the next, (dof,)."""
    dof = robot.dof
    if type(resolution) is float and resolution > 0.0:
        return np.full(dof, resolution)
    try:
        spacing = np.asarray(resolution, dtype=np.float64)
    except (TypeError, ValueError):
        spacing = np.full(1, np.nan)
    if spacing.shape not in ((), (dof,)) or not (spacing > 0.0).all():
        raise RobotError(
            f"resolution is {resolution!r:.80}, expected a number above 0, or {dof} of them, one for each joint value"
        )
    return np.array(np.broadcast_to(spacing, (dof,)))


def _check_edges(
    cell: Cell, first: Array, second: Array, certify: bool, spacing: Array, tolerance: float, workers: int
) -> Edges:
    if not is_finite(tolerance) or not 0.0 < tolerance < 1.0:
        raise RobotError(f"tolerance is {tolerance!r:.80}, expected a share of the motion, above 0 and below 1")
    if certify:
        return certified(cell, lines(first, second), float(tolerance), workers)
    pair, safe, hit = sampled(cell, first, second, spacing, workers)
    return np.where(pair == FREE, int(MotionStatus.FREE), int(MotionStatus.HIT)), safe, hit, pair


_AT_ONCE = 256  #: configurations in a call; after a collision in an early call, later calls are not needed


def sampled(cell: Cell, first: Array, second: Array, spacing: Array, workers: int) -> tuple[Ints, Array, Array]:
    """Return each edge's first colliding pair or `FREE`, and two parameters from 0 to 1.

    The first parameter is that of the sample before the collision, and the second is that of the sample that collides.
    Without a collision they are 1 and NaN. From one sample to the next, the joint values change by at most ``spacing``
    (dof,).
    """
    steps, at, which = queries.walk_edges(cell, first, second, spacing, np.zeros(len(first), dtype=np.int64), workers)
    if (which == REFUSED).any():
        e = int(np.argmax(which == REFUSED))
        with np.errstate(over="ignore"):
            wanted = np.ceil((np.abs(second[e] - first[e]) / spacing).max())
        raise RobotError(
            f"motion {e} would take {wanted:.3g} samples, expected at most 2.68e+08. Use a larger resolution"
        )
    for e in np.flatnonzero(which == UNSURE).tolist():
        row = slice(e, e + 1)
        while which[e] == UNSURE:  # exact functions test this sample; if it is free, the kernel tests the next samples
            t = at[e] / steps[e] if at[e] else 0.0
            which[e] = queries.hits(cell, ((1.0 - t) * first[e] + t * second[e])[None], 1)[0]
            if which[e] == FREE:
                remaining = first[row].copy(), second[row].copy(), spacing, at[row] + 1
                _, at[row], which[row] = queries.walk_edges(cell, *remaining, workers=1)
    if cell.walked < len(cell.slots):
        _look_at_fallback_pairs(cell, first, second, steps, at, which)
    most = np.maximum(steps, 1)
    safe = np.where(which != FREE, np.maximum(at - 1, 0) / most, 1.0)
    return which, safe, np.where(which != FREE, at / most, np.nan)


def _look_at_fallback_pairs(cell: Cell, first: Array, second: Array, steps: Ints, at: Ints, which: Ints) -> None:
    """Test the pairs that kernels cannot test. Change ``at`` and ``which`` of edges where such a pair collides first.

    ``steps``, ``at`` and ``which`` have one entry per edge: the number of steps, the first sample that collides, and
    the colliding pair.
    """
    for e in range(len(first)):
        count = int(steps[e] if which[e] == FREE else at[e] - 1) + 1
        for start in range(0, count, _AT_ONCE):
            t = np.arange(start, min(start + _AT_ONCE, count))[:, None] / max(int(steps[e]), 1)
            hits = general_pairs.hits(cell, (1.0 - t) * first[e] + t * second[e], cell.walked)
            if (hits != FREE).any():
                at[e] = start + int(np.argmax(hits != FREE))
                which[e] = hits[at[e] - start]
                break


_STEP = 0.1  #: step between the samples of a clearance, in radians or lengths
_SHARES = (0.5, 0.1)  #: shares of the sampled clearance for which a proof is tried, the largest first
_TOGETHER = 32  #: edges that a call proves; the time is checked between calls


@compared()
class PathProof(NamedTuple):
    """The proof of a path of `Checker.plan`, `Checker.prove` or `gjk3d.robot.ompl.Planning.plan`.

    Attributes
    ----------
    proven : bool
        True if no pair comes closer than its margin along the path.
    clearance : float
        A proven length in the robot's unit: along the whole path each pair stays farther apart than its margin plus
        this length. `Checker.plan` does not compute the length and returns 0. `Checker.prove` returns 0 if no time is
        left. Without a proof the value is -inf.
    repaired : int
        Number of unproven stretches of the path that were replaced by detours.
    replanned : bool
        True if no detours were found, and the path was planned again with certified edges only.
    pair : (str, str) or None
        The pair that prevents the proof of the path.
    seconds : float
        Process time of the proof and the repairs.

    Examples
    --------
    >>> import gjk3d as gk
    >>> planning = gk.robot.ompl.Planning(gk.robot.Checker(gk.robot.Robot.example()))
    >>> path = planning.plan([0.0, 0.0], [1.0, 1.0], seconds=2.0)
    >>> planning.proof.proven, planning.proof.repaired, planning.proof.clearance > 0.1
    (True, 0, True)
    """

    proven: bool
    clearance: float
    repaired: int
    replanned: bool
    pair: PairName
    seconds: float


def path_clearance(cell: Cell, path: Array, tolerance: float, until: float) -> float:
    """Return a lower bound of distance minus margin along a proven path, or 0 if the time ``until`` passes first."""
    if not len(cell.slots):
        return inf
    clearance = _sampled_clearance(cell, path, until)
    first, second = (path[:-1], path[1:]) if len(path) > 1 else (path, path)
    for share in _SHARES if clearance > 0.0 else ():
        with_margin = wider(cell, share * clearance)
        # an edge that is proven with a larger share is also proven with this share
        while len(first) and time.perf_counter() < until:
            some = lines(first[:_TOGETHER], second[:_TOGETHER])
            failed = certified(with_margin, some, tolerance, 1, until)[0] != MotionStatus.FREE
            if failed.any():
                break
            first, second = first[_TOGETHER:], second[_TOGETHER:]
        cell.cache.bounds = with_margin.cache.bounds
        if not len(first):
            return share * clearance
    return 0.0


def _sampled_clearance(cell: Cell, path: Array, until: float) -> float:
    """Return the least sampled distance minus the greatest margin.

    Return 0 if this is negative, or if the time ``until`` passes first.
    """
    steps = [ceil(float(np.abs(b - a).max(initial=0.0)) / _STEP) for a, b in pairwise(path)]
    places = np.concatenate([[0.0], *(k + np.arange(1, n + 1) / n for k, n in enumerate(steps) if n)])
    at = np.arange(len(path))
    samples = np.column_stack([np.interp(places, at, column) for column in path.T]).reshape(-1, path.shape[1])
    least = inf
    for start in range(0, len(samples), _AT_ONCE):
        if time.perf_counter() > until:
            return 0.0
        some = np.ascontiguousarray(samples[start : start + _AT_ONCE])
        least = min(least, float(queries.nearest(cell, some, least)[0][:, 0].min()))
    return max(least - float(cell.margins.max()), 0.0)


def wider(cell: Cell, more: float | Array) -> Cell:
    """Return a copy of a cell with margins larger by ``more``. The copy shares the motion bounds of the cell."""
    if not np.any(more):
        return cell
    cache = Cache()
    cache.bounds = cell.cache.bounds
    return cell._replace(margins=cell.margins + more, cache=cache)


def runs(bad: Bools) -> list[tuple[int, int]]:
    """Return the runs of True in ``bad`` as index pairs (first, last + 1)."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in ends.reshape(-1, 2)]
