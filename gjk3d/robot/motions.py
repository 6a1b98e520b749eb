"""Motions of a robot: whether all of a straight line between two configurations is free, and where it hits first."""

from __future__ import annotations

from enum import IntEnum
from math import nan
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.first_call import first_call
from gjk3d.convex.checks import check_workers
from gjk3d.convex.rows import FIRST_POINTS, in_chunks, scratch
from gjk3d.errors import RobotError
from gjk3d.narrow import solve as narrow
from gjk3d.robot.motion_bounds import Arms, arms_of
from gjk3d.robot.motion_certified import HIT, LEVELS, OPEN, PROVEN, certified_many
from gjk3d.robot.motion_sampled import sampled_many
from gjk3d.robot.proven_solids import certified_solids
from gjk3d.robot.results import PairName
from gjk3d.robot.walk import FREE, UNSURE
from gjk3d.typing import Array, B, Ints, N, Number, P, Rows, S, VectorLike

if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_AT_ONCE = 256  #: configurations that are asked about solids before what they say is looked at
_MOST_STEPS = 2.0**28  #: of one edge; more, which would take minutes, is a slip of the resolution


class MotionStatus(IntEnum):
    """What is known of a motion.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.MotionStatus.HIT
    <MotionStatus.HIT: 1>
    """

    FREE = 0  #: all samples are free; certified: no configuration of the motion comes closer than its margins
    HIT = 1  #: the first contact lies between ``safe`` and ``hit``
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
        Who collides there, or who is too close to tell; an object of the surroundings stands second.
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


class Found(NamedTuple):
    """What the kernels say of n edges; pairs by number, `FREE` for none."""

    status: Ints
    safe: Array
    hit: Array
    pair: Ints


def motion_free(
    checker: Checker, q0: Rows, q1: Rows, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> OneMotion | ManyMotions:
    """Answer `Checker.motion_free`."""
    check_workers(workers)
    first, stack0 = checker.robot.configurations(q0, "q0")
    second, stack1 = checker.robot.configurations(q1, "q1")
    if stack0 and stack1 and len(first) != len(second):
        raise RobotError(
            f"q0 has {len(first)} rows and q1 {len(second)}: stacks have one length, or one of them is one"
        )
    count = len(first) if stack0 else len(second)
    first, second = (np.require(np.broadcast_to(q, (count, q.shape[1])), None, ["C", "W"]) for q in (first, second))
    found = _ask(checker, first, second, certify, _steps_of(checker, resolution), tolerance, workers)
    names = [None if p == FREE else checker._names[p] for p in found.pair.tolist()]
    if stack0 or stack1:
        return MotionCheck(found.status == MotionStatus.FREE, found.status, found.safe, found.hit, names)
    status = MotionStatus(int(found.status[0]))
    return MotionCheck(status == MotionStatus.FREE, status, float(found.safe[0]), float(found.hit[0]), names[0])


def path_free(
    checker: Checker, path: Any, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> PathCheck:
    """Answer `Checker.path_free`."""
    check_workers(workers)
    points, stacked = checker.robot.configurations(path, "path")
    if not stacked or not len(points):
        raise RobotError(f"path has shape {np.shape(path)}, expected (m, {checker.robot.dof}) waypoints, at least one")
    each = _steps_of(checker, resolution)
    first, second = (points[:-1], points[1:]) if len(points) > 1 else (points, points)
    # a few edges first, then more: what lies behind the first that is not free is not asked
    start, size = 0, 16 if workers == 1 else 64 * workers
    while start < len(first):
        some = slice(start, start + size)
        found = _ask(checker, first[some].copy(), second[some].copy(), certify, each, tolerance, workers)
        bad = np.flatnonzero(found.status != MotionStatus.FREE)
        if len(bad):
            k = int(bad[0])
            safe, hit = float(found.safe[k]), float(found.hit[k])
            t, edge = safe if np.isnan(hit) else hit, start + k
            return PathCheck(
                False, MotionStatus(int(found.status[k])), edge, safe, hit, checker._names[found.pair[k]],
                (1.0 - t) * first[edge] + t * second[edge],
            )  # fmt: skip
        start, size = start + size, 2 * size
    return PathCheck(True, MotionStatus.FREE, None, 1.0, nan, None, None)


def _steps_of(checker: Checker, resolution: Number | VectorLike) -> Array:
    """Return the largest step of each number of q between samples."""
    try:
        each = np.asarray(resolution, dtype=np.float64)
    except (TypeError, ValueError):
        each = np.full(1, np.nan)
    if each.shape not in ((), (checker.robot.dof,)) or not (each > 0.0).all():
        raise RobotError(
            f"resolution is {resolution!r:.80}, expected a number above 0, or one for each of the "
            f"{checker.robot.dof} numbers of a configuration"
        )
    return np.broadcast_to(each, (checker.robot.dof,))


def _ask(
    checker: Checker, first: Array, second: Array, certify: bool, each: Array, tolerance: float, workers: int
) -> Found:
    share = _tolerance(tolerance)
    if certify:
        return _certified(checker, first, second, share, workers)
    return _sampled(checker, first, second, each, workers)


def _tolerance(given: float) -> float:
    if isinstance(given, bool) or not isinstance(given, (Real, np.floating)) or not 0.0 < given < 1.0:
        raise RobotError(f"tolerance is {given!r:.80}, expected a number above 0 and below 1: a share of the motion")
    return float(given)


def _certified(checker: Checker, first: Array, second: Array, tolerance: float, workers: int) -> Found:
    count, pairs, links = len(first), len(checker._ready().rows), len(checker.robot.links)
    status, which = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    safe, hit = np.empty(count), np.empty(count)
    if not count:
        return Found(status, safe, hit, which)
    tables = checker._ready()
    arms = arms_of(checker, first, second)

    def run(start: int, stop: int) -> None:
        cache = kept[1] if kept is not None else np.zeros_like(tables.cache)
        work, table, _ = scratch(FIRST_POINTS)
        certified_many(
            *checker.robot.chain, first, second, tolerance, arms.slack, arms.begins, arms.steps, arms.arms,
            arms.floating, tables.link, tables.local, tables.ints, tables.floats, tables.starts, tables.rows,
            tables.subs, tables.margins, cache, *checker._room(tables), np.zeros(len(tables.link), dtype=np.int64),
            work, table, FIRST_POINTS, np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64),
            np.empty(checker.robot.dof), np.empty((4, links)), np.empty((links, 6)), np.empty((4, pairs)),
            np.empty((LEVELS, pairs), dtype=np.int64), np.empty((2, LEVELS, pairs)), np.empty(LEVELS, dtype=np.int64),
            start, stop, status, safe, hit, which,
        )  # fmt: skip

    with checker._remembered(tables, workers) as kept, first_call("certified robot motions"):
        in_chunks(count, workers, run)
    found = Found(status, safe, hit, which)
    if len(tables.solid_pairs):
        for e in range(count):
            _with_solids(checker, first[e], second[e], tolerance, arms, found, e)
    return found


def _with_solids(checker: Checker, q0: Array, q1: Array, tolerance: float, arms: Arms, found: Found, e: int) -> None:
    """Better what the kernels found of edge e by the pairs that they leave open, up to where it is not free anyway."""
    until = 1.0 if found.status[e] == PROVEN else found.safe[e] if np.isnan(found.hit[e]) else found.hit[e]
    status, safe, hit, pair = certified_solids(checker, q0, q1, float(until), tolerance, arms)
    if status == PROVEN:
        return
    if not np.isnan(hit):
        found.hit[e] = hit
    found.safe[e] = min(found.safe[e], safe)
    near = found.hit[e] - found.safe[e] <= tolerance
    if not (near and status == OPEN):  # else what the kernels hit is as near
        found.pair[e] = pair
    found.status[e] = HIT if near else OPEN


def _sampled(checker: Checker, first: Array, second: Array, each: Array, workers: int) -> Found:
    with np.errstate(over="ignore"):
        wanted = np.ceil((np.abs(second - first) / each).max(axis=1, initial=0.0))
    wanted = np.maximum(wanted, (first != second).any(axis=1))  # both ends, however coarse
    if not (wanted <= _MOST_STEPS).all():
        e = int(np.argmax(wanted))
        raise RobotError(f"motion {e} would take {wanted[e]:.3g} samples: give a coarser resolution")
    steps = wanted.astype(np.int64)
    at, which = np.empty(len(first), dtype=np.int64), np.empty(len(first), dtype=np.int64)
    _sample(checker, first, second, steps, np.zeros_like(steps), workers, at, which)
    for e in np.flatnonzero(which == UNSURE).tolist():
        one = slice(e, e + 1)
        while which[e] == UNSURE:  # GJK alone cannot tell; then on from the next sample
            t = at[e] / steps[e] if at[e] else 0.0
            pairs, _ = checker._hits((1.0 - t) * first[e] + t * second[e], 1)
            which[e] = pairs[0]
            if which[e] == FREE:
                _sample(checker, first[one].copy(), second[one].copy(), steps[one].copy(), at[one] + 1, 1, at[one],
                        which[one])  # fmt: skip
    if len(checker.solids):
        _sample_solids(checker, first, second, steps, at, which)
    hits, most = which != FREE, np.maximum(steps, 1)
    safe = np.where(hits, np.maximum(at - 1, 0) / most, 1.0)
    hit = np.where(hits, at / most, np.nan)
    return Found(np.where(hits, int(MotionStatus.HIT), int(MotionStatus.FREE)), safe, hit, which)


def _sample_solids(checker: Checker, first: Array, second: Array, steps: Ints, at: Ints, which: Ints) -> None:
    """Look for earlier hits of what the kernels leave open."""
    solids, others = checker.solids, len(checker._ready().rows)
    for e in range(len(first)):
        count = int(steps[e] if which[e] == FREE else at[e] - 1) + 1
        for start in range(0, count, _AT_ONCE):
            t = np.arange(start, min(start + _AT_ONCE, count))[:, None] / max(int(steps[e]), 1)
            found = solids.hits((1.0 - t) * first[e] + t * second[e])
            if (found >= 0).any():
                at[e] = start + int(np.argmax(found >= 0))
                which[e] = others + found[at[e] - start]
                break


def _sample(
    checker: Checker, first: Array, second: Array, steps: Ints, begin: Ints, workers: int, at: Ints, which: Ints
) -> None:
    tables = checker._ready()

    def run(start: int, stop: int) -> None:
        order, cache = kept if kept is not None else tables.fresh_memory()
        sampled_many(
            *checker.robot.chain, first, second, steps, tables.link, tables.local, tables.ints, tables.floats,
            tables.starts, tables.rows, tables.subs, order, tables.margins, cache, *checker._room(tables),
            np.empty(len(tables.link), dtype=np.int64), scratch(FIRST_POINTS)[2],
            np.empty((1, checker.robot.dof)), np.empty(1, dtype=np.int64), begin, start, stop, at, which,
        )  # fmt: skip

    with checker._remembered(tables, workers) as kept, first_call("robot motions"):
        in_chunks(len(first), workers, run)
