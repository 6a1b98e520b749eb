"""Motions of a robot: whether all of a straight line between two configurations is free, and where it hits first."""

from __future__ import annotations

from enum import IntEnum
from math import nan
from numbers import Real
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import check_workers
from gjk3d.errors import RobotError
from gjk3d.robot.cell import Cell
from gjk3d.robot.curves import lines
from gjk3d.robot.model import Robot
from gjk3d.robot.motion_certified import certified, certified_of_one
from gjk3d.robot.motion_sampled import sampled
from gjk3d.robot.queries import edge_of_one, first_hit_of_path
from gjk3d.robot.results import PairName
from gjk3d.robot.walk import FREE
from gjk3d.typing import Array, B, Ints, N, Number, P, Rows, S, VectorLike


class MotionStatus(IntEnum):
    """What is known of a motion.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.MotionStatus.HIT
    <MotionStatus.HIT: 1>
    """

    FREE = 0  #: all samples are free; certified: no configuration of the motion comes closer than its margins
    HIT = 1  #: the first contact is between ``safe`` and ``hit``, also one that only touches at the start or end
    UNRESOLVED = 2  #: certified only: free up to ``safe``, and there too close to a margin, or for too long, to tell

    def __str__(self) -> str:
        return self.name


class MotionCheck(NamedTuple, Generic[B, S, N, P]):
    """Answer of `Checker.motion_free`, for one motion or n; one of its own is true where it is free.

    Parameters run from 0, the first configuration, to 1, the second.

    Attributes
    ----------
    free : bool or (n,) bool
        All samples are free; certified: all configurations are, proven.
    status : MotionStatus or (n,) int
        FREE, HIT or UNRESOLVED.
    safe : float or (n,) float
        Free up to there: the last free sample before the first that hits, 1 where none does, 0 where the first
        configuration hits. Certified: everything before it is proven free.
    hit : float or (n,) float
        The first parameter that is known to collide, NaN where none is.
    pair : (str, str) or list of such, or None
        Who collides there, or who is too close to tell; an obstacle stands second.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> found = checker.motion_free([0.0, 0.0], [[1.0, 0.0], [0.0, 2.5]])
    >>> found.free.tolist(), found.hit.tolist(), found.pair
    ([True, True], [nan, nan], [None, None])
    """

    free: B
    status: S
    safe: N
    hit: N
    pair: P

    def __bool__(self: MotionCheck[Any, Any, Any, Any]) -> bool:
        if np.ndim(self.free):
            raise RobotError(f"{len(self.free)} motions are not one bool: use .free, or .free.all()")
        return bool(self.free)


OneMotion = MotionCheck[bool, MotionStatus, float, PairName]
ManyMotions = MotionCheck[NDArray[np.bool_], Ints, Array, list[PairName]]


class PathCheck(NamedTuple):
    """Answer of `Checker.path_free`; true where the path is free.

    Attributes
    ----------
    free : bool
    status : MotionStatus
    edge : int or None
        Which motion between two waypoints, from 0, is the first that is not free.
    safe, hit : float
        As in `MotionCheck`, parameters of that motion; 1 and NaN where the path is free.
    pair : (str, str) or None
    configuration : (dof,) float or None
        At ``hit``, or at ``safe`` where no collision is known.

    Examples
    --------
    >>> import gjk3d as gk
    >>> found = gk.robot.Checker(gk.robot.Robot.example()).path_free([[0.0, 0.0], [1.0, 0.0]])
    >>> bool(found), found.status, found.edge
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


class _Found(NamedTuple):
    """What is known of n edges; pairs by number, `FREE` for none."""

    status: Ints
    safe: Array
    hit: Array
    pair: Ints


def motion_free(
    cell: Cell, q0: Rows, q1: Rows, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> OneMotion | ManyMotions:
    """Answer `Checker.motion_free`."""
    step = _plain_step(resolution, tolerance, workers)
    if step is not None and certify:
        proven = certified_of_one(cell, q0, q1, tolerance)
        if proven is not None:
            return _told(cell, *proven)
    elif step is not None:
        known = edge_of_one(cell, q0, q1, step)
        if known is not None:
            return _one(cell, *known)
    check_workers(workers)
    first, stack0 = cell.robot.configurations(q0, "q0")
    second, stack1 = cell.robot.configurations(q1, "q1")
    if stack0 and stack1 and len(first) != len(second):
        raise RobotError(
            f"q0 has {len(first)} rows and q1 {len(second)}: stacks have one length, or one of them is one"
        )
    count = len(first) if stack0 else len(second)
    first, second = (np.require(np.broadcast_to(q, (count, q.shape[1])), None, ["C", "W"]) for q in (first, second))
    found = _ask(cell, first, second, certify, steps_of(cell.robot, resolution), tolerance, workers)
    if stack0 or stack1:
        names = [None if p == FREE else cell.names(p) for p in found.pair.tolist()]
        return MotionCheck(found.status == MotionStatus.FREE, found.status, found.safe, found.hit, names)
    return _told(cell, found.status.item(), found.safe.item(), found.hit.item(), found.pair.item())


def _told(cell: Cell, status: int, safe: float, hit: float, pair: int) -> OneMotion:
    return MotionCheck(
        status == MotionStatus.FREE, _STATUSES[status], safe, hit, None if pair == FREE else cell.names(pair)
    )


def _one(cell: Cell, steps: int, at: int, p: int) -> OneMotion:
    if p == FREE:
        return MotionCheck(True, MotionStatus.FREE, 1.0, nan, None)
    most = max(steps, 1)
    return MotionCheck(False, MotionStatus.HIT, max(at - 1, 0) / most, at / most, cell.names(p))


def path_free(
    cell: Cell, path: Any, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> PathCheck:
    """Answer `Checker.path_free`."""
    step = _plain_step(resolution, tolerance, workers)
    if step is not None and certify:
        if type(path) is np.ndarray and path.shape == (2, cell.robot.dof):
            proven = certified_of_one(cell, path[0], path[1], tolerance)
            if proven is not None:
                return _path_of(cell, 0, *proven, path[0], path[1])
    elif step is not None:
        known = first_hit_of_path(cell, path, step)
        if known is not None:
            edge, *told = known
            if edge < 0:
                return _FREE_PATH
            _, status, safe, hit, pair = _one(cell, *told)
            return PathCheck(False, status, edge, safe, hit, pair, (1.0 - hit) * path[edge] + hit * path[edge + 1])
    check_workers(workers)
    points, stacked = cell.robot.configurations(path, "path")
    if not stacked or not len(points):
        raise RobotError(f"path has shape {np.shape(path)}, expected (m, {cell.robot.dof}) waypoints, at least one")
    each = steps_of(cell.robot, resolution)
    first, second = (points[:-1], points[1:]) if len(points) > 1 else (points, points)
    # a few edges first, then more: what lies behind the first that is not free is not asked
    start, size = 0, 16 if workers == 1 else 64 * workers
    while start < len(first):
        some = slice(start, start + size)
        found = _ask(cell, first[some].copy(), second[some].copy(), certify, each, tolerance, workers)
        bad = np.flatnonzero(found.status != MotionStatus.FREE)
        if len(bad):
            k = int(bad[0])
            known_of = found.status[k].item(), found.safe[k].item(), found.hit[k].item(), found.pair[k].item()
            return _path_of(cell, start + k, *known_of, first[start + k], second[start + k])
        start, size = start + size, 2 * size
    return _FREE_PATH


def _path_of(
    cell: Cell, edge: int, status: int, safe: float, hit: float, pair: int, first: Array, second: Array
) -> PathCheck:
    """Return what is known of a path by that of an edge; those before it are free, and all if it is."""
    if status == MotionStatus.FREE:
        return _FREE_PATH
    t = hit if hit == hit else safe
    at = (1.0 - t) * first + t * second
    return PathCheck(False, _STATUSES[status], edge, safe, hit, cell.names(pair), at)


def _plain_step(resolution: Any, tolerance: Any, workers: int) -> float | None:
    """Return the largest step between samples where kernels may answer at once, with nothing else to be checked."""
    plain = type(workers) is int and workers == 1 and type(resolution) is float and resolution > 0.0
    return resolution if plain and type(tolerance) is float and 0.0 < tolerance < 1.0 else None


def steps_of(robot: Robot, resolution: Number | VectorLike) -> Array:
    """Return the largest step of each number of q between samples."""
    dof = robot.dof
    if type(resolution) is float and resolution > 0.0:
        return np.full(dof, resolution)
    try:
        each = np.asarray(resolution, dtype=np.float64)
    except (TypeError, ValueError):
        each = np.full(1, np.nan)
    if each.shape not in ((), (dof,)) or not (each > 0.0).all():
        raise RobotError(
            f"resolution is {resolution!r:.80}, expected a number above 0, or one for each of the {dof} numbers of a "
            "configuration"
        )
    return np.array(np.broadcast_to(each, (dof,)))


def _ask(cell: Cell, first: Array, second: Array, certify: bool, each: Array, tolerance: float, workers: int) -> _Found:
    if isinstance(tolerance, bool) or not isinstance(tolerance, (Real, np.floating)) or not 0.0 < tolerance < 1.0:
        raise RobotError(
            f"tolerance is {tolerance!r:.80}, expected a number above 0 and below 1: a share of the motion"
        )
    if certify:
        return _Found(*certified(cell, lines(first, second), float(tolerance), workers))
    pair, safe, hit = sampled(cell, first, second, each, workers)
    return _Found(np.where(pair == FREE, int(MotionStatus.FREE), int(MotionStatus.HIT)), safe, hit, pair)
