"""Checks of trajectories: whether a motion is free, its first collision, and its least clearance.

`motion_certified` proves curve by curve that a motion is free. The same proof brackets the least clearance of a whole
motion: if a sample has the distance d, and all distances of the motion are proven to exceed d - e, the least distance
is between d - e and d.

A moving obstacle is attached to a prismatic joint and a revolute joint, both driven by the time. A `gjk3d.Motion` moves
a point along a line and rotates the body about this point, as the two joints do. The poses are therefore those of a
robot with two more links for each moving obstacle, and with the time as one more number of each configuration. So every
query on robots works for moving obstacles too.

A route is a sequence of such motions. The trajectory is divided at the times of all routes, and each stretch between
two such times has its own cell. A cell is a robot with its obstacles and the pairs to check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.checks import check_workers, is_finite
from gjk3d.errors import RobotError
from gjk3d.narrow.toi import CENTER, REFERENCE, TURN, WAY
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.poses import matrices, parts, pose_rows
from gjk3d.query.time_of_impact import Motion
from gjk3d.results import compared
from gjk3d.robot import queries
from gjk3d.robot.bodies import WORLD, CollisionObject, outline
from gjk3d.robot.cell import Base, Cell, build
from gjk3d.robot.cell_kernels import FREE
from gjk3d.robot.kinematics import FIXED, SLIDING, TURNING, Chain
from gjk3d.robot.margins import OBSTACLES, Rule
from gjk3d.robot.model import Robot
from gjk3d.robot.motion_certified import HIT, PROVEN, certified
from gjk3d.robot.motions import MotionStatus, blocks, steps_of
from gjk3d.robot.results import PairName
from gjk3d.robot.trajectories import Parts, Trajectory, as_trajectory, between, points_on
from gjk3d.typing import Array, Number, VectorLike
from gjk3d.wording import expected_names, kind_of

#: the motion of each moving obstacle by its name: a `Motion` for the whole trajectory, or a `Motion` and the times of
#: its start and end, or poses and their times
Moving = Mapping[str, Motion | tuple[Motion, tuple[float, float]] | tuple[Any, VectorLike]]


class _Mover(NamedTuple):
    """The motion of an obstacle by a prismatic and a revolute joint, and the pose of the obstacle in their frame."""

    velocity: Array  #: (3,) velocity of the centre of rotation, in world axes
    turn: Array  #: (3,) angular velocity, in world axes
    begin: float  #: time of the first pose of the obstacle, since the start of the stretch
    center: Array  #: (3,) centre of rotation at that time, in world coordinates
    local: Array  #: (4, 4) pose of the obstacle relative to the centre at that time


def clocked(
    base: Base, objects: Mapping[str, CollisionObject], margin: float, rules: Iterable[Rule], moving: Moving,
    times: tuple[float, float],
) -> tuple[Cell, float]:  # fmt: skip
    """Return the cell of a robot with moving obstacles, and the greatest of all their speeds and angular speeds.

    A cell is a robot with its obstacles. ``times`` is the start and the end of the motion. A configuration of the cell
    consists of the joint values and the time since the start.
    """
    movers = {name: _mover(name, entry, objects, times) for name, entry in moving.items()}
    clock_base = base.with_pairs(base.pairs, _with_carriers(base.robot, list(movers.values()), times[1] - times[0]))
    link = {name: len(base.robot.links) + 2 * k + 1 for k, name in enumerate(movers)}
    static = frozenset(name for name, item in objects.items() if item.link == WORLD)
    # Attached objects precede obstacles in the pairs. Obstacles are not checked against each other, so all may touch.
    every = [item for item in objects.values() if item.link != WORLD] + [
        item._replace(link=link[name], pose=movers[name].local, touch=item.touch | static) if name in movers else item
        for name, item in objects.items()
        if name in static
    ]
    speed = max((float(np.linalg.norm(rate)) for item in movers.values() for rate in item[:2]), default=0.0)
    # A moving obstacle is attached to a carrier link, so a rule for all obstacles is repeated for it by name.
    all_rules = [
        item for rule in rules for item in (rule, *(rule._replace(b=name) for name in movers if rule.b == OBSTACLES))
    ]
    return build(clock_base, every, margin, all_rules), speed


def _mover(name: str, entry: Any, objects: Mapping[str, CollisionObject], times: tuple[float, float]) -> _Mover:
    """Return the motion of an obstacle from ``entry``, its value in the mapping ``moving``. The entry is checked."""
    motion, when = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, times)
    if name not in objects or objects[name].link != WORLD:
        names = [item.name for item in objects.values() if item.link == WORLD]
        raise RobotError(f"moving: {name!r} is not an obstacle, {expected_names(name, names)}")
    if outline(objects[name].shape).unbounded:
        raise RobotError(
            f"moving: {name!r} is {kind_of(objects[name].shape)}, which is unbounded and cannot move. Replace it by a "
            "large gjk3d.Box"
        )
    if not isinstance(motion, Motion) or motion.stacked:
        raise RobotError(f"moving: {name!r} has {motion!r:.80}, expected a gjk3d.Motion, or (Motion, (begin, end))")
    try:
        first, last = map(float, when)
    except (TypeError, ValueError):
        first = last = nan
    if not (isfinite(first) and isfinite(last) and first < last):
        raise RobotError(f"moving: {name!r} has the times {when!r:.80}, expected two increasing numbers")
    rotation, _ = parts(motion._rows)
    row, local = motion._rows[0], np.eye(4)
    local[:3, :3], local[:3, 3] = rotation[0], -rotation[0] @ row[REFERENCE : REFERENCE + 3]
    span = last - first
    return _Mover(
        row[WAY : WAY + 3] / span, row[TURN : TURN + 3] / span, first - times[0], row[CENTER : CENTER + 3], local
    )


def _with_carriers(robot: Robot, movers: Sequence[_Mover], duration: float) -> Robot:
    """Return a robot with two more links for each moving obstacle, and with the time as the last joint value."""
    new = robot._copied()
    chain, count = robot._chain, len(robot.links)
    rows: list[tuple[Any, ...]] = []
    for k, mover in enumerate(movers):
        # The first carrier is attached to the root, which is static, since a tree cannot have a second root.
        for parent, kind, rate in ((0, SLIDING, mover.velocity), (count + 2 * k, TURNING, mover.turn)):
            origin, size = np.eye(4), float(np.linalg.norm(rate))
            if parent == 0:
                origin[:3, 3] = mover.center
                origin = np.linalg.inv(chain.origin[0]) @ origin
            axis = rate / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
            rows.append((parent, kind if size > 0.0 else FIXED, axis, origin, robot.dof, size, -size * mover.begin))
    more = [np.array(column) for column in zip(*rows, strict=True)]
    new._chain = Chain(*(
        np.ascontiguousarray(np.concatenate([old, extra.reshape(-1, *old.shape[1:]).astype(old.dtype)]))
        for old, extra in zip(chain, more, strict=True)
    ))  # fmt: skip
    new.links = robot.links + tuple(f"(carrier {k})" for k in range(2 * len(movers)))
    new.joints = robot.joints + (None,) * (2 * len(movers))
    # Each carrier is a separate rigid body, even if its joint is fixed.
    new.rigid = np.append(robot.rigid, np.arange(count, count + 2 * len(movers)))
    new.dof = robot.dof + 1
    new.lower, new.upper = np.append(robot.lower, 0.0), np.append(robot.upper, duration)
    return new


_AT_ONCE = 4096  #: samples in a call; after a collision in an early call, later calls are not needed
_ZOOMS = 12  #: rounds of samples around the nearest sample, each with a quarter of the step of the round before
_ROUNDS = 40  #: greatest number of proofs for one least clearance
_PROOF = 1e-6  #: tolerance of these proofs, as a share of a curve
_COARSER = 4.0  #: factor by which the tolerance of the bounds grows after a proof without a result


@compared()
class TrajectoryCheck(NamedTuple):
    """Result of `Checker.trajectory_free`. As a bool, it is true if the whole motion is free.

    Attributes
    ----------
    free : bool
        True if all samples are free. With ``certify``, True if all configurations are proven free.
    status : MotionStatus
        FREE, HIT or UNRESOLVED.
    safe : float
        The time of the last free sample before the first collision. With ``certify``, the motion is proven free up to
        this time, which is rounded down. For a free motion it is the end of the trajectory.
    hit : float
        The time of the first sample that collides, or NaN. With ``certify``, the collision is proven, and the time is
        rounded up. The first contact is after ``safe`` and not after ``hit``.
    pair : (str, str) or None
        The pair that collides, or the pair at which the proof stopped. The name of an obstacle is second.
    configuration : (dof,) float or None
        The configuration at ``hit``, or at ``safe`` if ``hit`` is NaN. None for a free motion.

    Examples
    --------
    >>> import gjk3d as gk
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [1.0, 0.0]], times=[0.0, 4.0])
    >>> result = gk.robot.Checker(gk.robot.Robot.example()).trajectory_free(path, certify=True)
    >>> bool(result), result.status, result.safe
    (True, <MotionStatus.FREE: 0>, 4.0)
    """

    free: bool
    status: MotionStatus
    safe: float
    hit: float
    pair: PairName
    configuration: Array | None

    def __bool__(self) -> bool:
        return self.free


@compared()
class TrajectoryClearance(NamedTuple):
    """Result of `Checker.trajectory_clearance`: the least distance along a motion, and its time and points.

    Attributes
    ----------
    distance : float
        The least signed distance that was found, at ``time``, in the robot's unit. Infinite if no pair is checked.
    lower, upper : float
        Proven bounds of the least distance of the whole motion. ``lower`` is minus infinity if the proof fails, for
        example if non-convex bodies overlap.
    time : float
        The time of ``distance``, in the unit of the trajectory.
    pair : (str, str) or None
        The pair that has ``distance``.
    normal, point_a, point_b : (3,) float
        Normal and nearest points at ``time``, as in `RobotClearance`.
    configuration : (dof,) float
        The configuration at ``time``.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pole = np.eye(4); pole[:2, 3] = 0.0, 2.0
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [3.0, 0.0]], times=[0.0, 3.0])
    >>> nearest = checker.trajectory_clearance(path)
    >>> round(nearest.distance, 3), round(nearest.time, 2), nearest.pair
    (0.399, 1.6, ('hand', 'pole'))
    >>> nearest.lower <= nearest.distance <= nearest.upper, nearest.upper - nearest.lower < 2e-4
    (True, True)
    """

    distance: float
    lower: float
    upper: float
    time: float
    pair: PairName
    normal: Array
    point_a: Array
    point_b: Array
    configuration: Array


class Stretch(NamedTuple):
    """A time interval of a trajectory, as curves, and the cell (robot and obstacles) in which they are checked."""

    cell: Cell
    robot: Robot  #: the robot without the links of moving obstacles
    parts: Parts  #: the curves of the configurations of ``cell``
    speed: float  #: greatest speed or angular speed of any obstacle

    def samples(self, resolution: Number | VectorLike) -> Iterator[tuple[Array, Array]]:
        """Yield blocks of sampled configurations, (n, dof of the cell), and their times, (n,).

        From one sample to the next, a joint value changes by at most ``resolution``.
        """
        spacing = steps_of(self.robot, resolution)
        if len(spacing) < self.cell.robot.dof:  # the last number is the time, whose step limits the motion of obstacles
            least = float(np.min(np.asarray(resolution, dtype=np.float64)))
            spacing = np.append(spacing, least / self.speed if self.speed > 0.0 else inf)
        steps, controls = self.parts.steps(spacing), self.parts.curves.controls
        ends = np.cumsum(steps)
        first = 0
        while first < len(steps):
            last = max(first + 1, int(np.searchsorted(ends, ends[first] - steps[first] + _AT_ONCE, side="right")))
            rows, times = [], []
            for e in range(first, last):
                t = np.arange(steps[e] + (e == len(steps) - 1)) / steps[e]
                rows.append(points_on(controls[e], t))
                times.append((1.0 - t) * self.parts.times[e] + t * self.parts.times[e + 1])
            yield np.concatenate(rows), np.concatenate(times)
            first = last

    def at(self, times: Array) -> Array:
        """Return the configurations of the cell at ``times`` (n,), as (n, dof of the cell)."""
        knots, controls = self.parts.times, self.parts.curves.controls
        k = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(controls) - 1)
        t = np.clip((times - knots[k]) / (knots[k + 1] - knots[k]), 0.0, 1.0)
        return np.concatenate([points_on(controls[e], t[n : n + 1]) for n, e in enumerate(k.tolist())])


class TimedQuery:
    """A trajectory of a robot, divided into stretches of time.

    Each stretch has its own cell, which has the robot, the obstacles and their pairs. All cells have the same pairs.
    A cell is built at its first use, since a collision in an early stretch ends the query.
    """

    def __init__(
        self, robot: Robot, trajectory: Trajectory, parts: Sequence[Parts], build: Callable[[int], tuple[Cell, float]],
        narrowest: float = 0.0,
    ) -> None:  # fmt: skip
        self.robot, self.trajectory, self.parts = robot, trajectory, parts
        self.narrowest = narrowest  #: least width of a bracket of a time that a proof can reach
        self._build, self._built = build, dict[int, Stretch]()
        self.stretch(0)  # raises the errors of invalid arguments now

    def stretch(self, k: int) -> Stretch:
        """Return the stretch with the index k."""
        if k not in self._built:
            cell, speed = self._build(k)
            self._built[k] = Stretch(cell, self.robot, self.parts[k], speed)
        return self._built[k]

    @property
    def stretches(self) -> Iterator[Stretch]:
        """All stretches in order."""
        return map(self.stretch, range(len(self.parts)))

    @property
    def cell(self) -> Cell:
        """The cell of the first stretch."""
        return self.stretch(0).cell

    def moved(self, moving: Moving | None, times: Array) -> dict[str, Array]:
        """Return the poses of each moving obstacle at n times, (n, 4, 4), by the name of the obstacle."""
        poses = {name: np.empty((len(times), 4, 4)) for name in moving or ()}
        begins = np.array([parts.times[0] for parts in self.parts])
        which = np.clip(np.searchsorted(begins, times, side="right") - 1, 0, None)
        for k in np.unique(which).tolist() if poses else ():
            stretch, some = self.stretch(k), which == k
            links = stretch.cell.robot.link_poses(stretch.at(times[some]))
            for name in poses:
                poses[name][some] = stretch.cell.placed(links, stretch.cell.objects[name])
        return poses


class Surroundings(NamedTuple):
    """The state of a checker that `timed_query` needs: its robot with checked pairs, objects, margins and cell."""

    base: Base
    objects: dict[str, CollisionObject]
    margin: float
    rules: tuple[Rule, ...]
    cell: Cell


class _Route(NamedTuple):
    """Poses of an obstacle (n, 4, 4) and their times."""

    poses: Array
    times: Array

    def during(self, begin: float, end: float) -> Any:
        """Return the motion of the obstacle at the times ``begin`` to ``end``, and its times, as in `Moving`.

        It is the motion between two poses of the route. So no time of the route may be between ``begin`` and ``end``.
        """
        k = int(np.searchsorted(self.times, begin, side="right")) - 1
        if k < 0 or k == len(self.times) - 1:  # the obstacle rests before the first and after the last time
            return Motion(self.poses[max(k, 0)]), (begin, end)
        return Motion.between(self.poses[k], self.poses[k + 1]), (self.times[k], self.times[k + 1])


def _route(name: str, entry: Any) -> _Route | None:
    """Return the route of an obstacle from ``entry``, its value in ``moving``, or None if the entry is not a route."""
    if not isinstance(entry, tuple) or len(entry) != 2 or isinstance(entry[0], Motion):
        return None
    poses, stacked = pose_rows(entry[0], f"moving: {name!r}")
    try:
        times = np.asarray(entry[1], dtype=np.float64)
    except (TypeError, ValueError):
        times = np.empty(0)
    increasing = bool(np.isfinite(times).all() and (np.diff(times) > 0.0).all())
    if not stacked or times.shape != (len(poses),) or not len(poses) or not increasing:
        raise RobotError(
            f"moving: the route of {name!r} has {len(poses)} poses and the times {entry[1]!r:.80}, expected (poses, "
            "times) with poses (n, 4, 4) and n increasing times"
        )
    return _Route(matrices(poses), times)


def timed_query(around: Surroundings, path: Any, moving: Moving | None) -> TimedQuery:
    """Return the query for a trajectory of a robot, with or without moving obstacles."""
    robot = around.base.robot
    trajectory = as_trajectory(path, robot)
    if not moving:
        return TimedQuery(robot, trajectory, [Parts(trajectory, robot)], lambda _: (around.cell, 0.0))
    if not isinstance(moving, Mapping):
        raise RobotError(
            f"moving is {kind_of(moving)}, expected a mapping of names of obstacles to gjk3d.Motion, (motion, times) "
            "or (poses, times)"
        )
    routes = {name: route for name, entry in moving.items() if (route := _route(name, entry)) is not None}
    start, end = trajectory.start, trajectory.end
    cuts = np.unique(np.concatenate([[start, end], *(route.times for route in routes.values())]))
    cuts = cuts[(start <= cuts) & (cuts <= end)]
    pieces = list(between(trajectory, cuts)) if len(cuts) > 2 else [trajectory]

    def build(k: int) -> tuple[Cell, float]:
        times = pieces[k].start, pieces[k].end
        # a motion without times lasts from the start of the trajectory to its end
        motions = {name: entry if isinstance(entry, tuple) else (entry, (start, end)) for name, entry in moving.items()}
        motions |= {name: route.during(*times) for name, route in routes.items()}
        return clocked(around.base, around.objects, around.margin, around.rules, motions, times)

    narrowest = 32.0 * _U * max(abs(start), abs(end))  # the clock of an obstacle has the rounding of these times
    every = [Parts(piece, robot).clocked(piece.start) for piece in pieces]
    return TimedQuery(robot, trajectory, every, build, narrowest)


def trajectory_free(
    query: TimedQuery, certify: bool, resolution: Number | VectorLike, tolerance: float, workers: int
) -> TrajectoryCheck:
    """Return the result of `Checker.trajectory_free`."""
    check_workers(workers)
    # The tolerance is a time, and the proof needs a share of a curve. The share of the longest curve is the strictest.
    longest = max(np.diff(parts.times).max() for parts in query.parts)
    share = float(np.clip(max(_above_zero(tolerance, "a time"), query.narrowest) / longest, 2.0**-40, 0.5))
    status, safe, hit, pair = _certified(query, share, workers) if certify else _sampled(query, resolution, workers)
    if status == MotionStatus.FREE:
        return TrajectoryCheck(True, status, query.trajectory.end, nan, None, None)
    return TrajectoryCheck(
        False, status, safe, hit, query.cell.names[pair], query.trajectory.at(safe if np.isnan(hit) else hit)
    )


_FirstHit = tuple[MotionStatus, float, float, int]  # the status, the times safe and hit, and the number of the pair


def _sampled(query: TimedQuery, resolution: Number | VectorLike, workers: int) -> _FirstHit:
    safe = query.trajectory.start
    for stretch in query.stretches:
        for rows, times in stretch.samples(resolution):
            which = queries.hits(stretch.cell, rows, workers)
            bad = np.flatnonzero(which != FREE)
            if len(bad):
                k = int(bad[0])
                return MotionStatus.HIT, float(times[k - 1]) if k else safe, float(times[k]), int(which[k])
            safe = float(times[-1])
    return MotionStatus.FREE, query.trajectory.end, nan, FREE


def _certified(query: TimedQuery, share: float, workers: int) -> _FirstHit:
    for cell, _, curves, _ in query.stretches:
        for some in blocks(len(curves.curves.controls), workers):
            status, safe, hit, pair = certified(cell, curves.curves.some(some), share, workers)
            bad = np.flatnonzero(status != PROVEN)
            if len(bad):
                k = int(bad[0])
                state, e = MotionStatus(int(status[k])), some.start + k
                begin = curves.when(e, float(safe[k]))[0]
                end = nan if np.isnan(hit[k]) else curves.when(e, float(hit[k]))[1]
                return state, begin, end, int(pair[k])
    return MotionStatus.FREE, query.trajectory.end, nan, FREE


def _above_zero(tolerance: Any, what: str) -> float:
    if not is_finite(tolerance) or not tolerance > 0.0:
        raise RobotError(f"tolerance is {tolerance!r:.80}, expected {what} above 0")
    return float(tolerance)


# the least clearance --------------------------------------------------------------------------------------------------


class _Nearest(NamedTuple):
    """The least distance found so far: the result of `narrow.solve` as a row, the time, and the index of the pair."""

    row: Array
    time: float
    pair: int


def trajectory_clearance(
    query: TimedQuery, resolution: Number | VectorLike, tolerance: float, workers: int
) -> TrajectoryClearance:
    """Return the result of `Checker.trajectory_clearance`."""
    check_workers(workers)
    wanted = _above_zero(tolerance, "a length")
    best, lower, cell = None, inf, query.cell
    for stretch in query.stretches:
        nearest, bound = _least(stretch, resolution, wanted, workers)
        lower = min(lower, bound)
        if best is None or nearest.row[2] < best.row[2]:
            best, cell = nearest, stretch.cell
    assert best is not None
    distance, _, upper = best.row[:3].tolist()
    return TrajectoryClearance(
        distance, lower, upper, best.time, None if best.pair < 0 else cell.names[best.pair], best.row[3:6],
        best.row[6:9], best.row[9:12], query.trajectory.at(best.time),
    )  # fmt: skip


def _least(stretch: Stretch, resolution: Number | VectorLike, tolerance: float, workers: int) -> tuple[_Nearest, float]:
    """Return the least distance found on a stretch, and a proven lower bound of the distance on the whole stretch."""
    best, gap = None, 0.0
    for rows, times in stretch.samples(resolution):
        best = _better(stretch, best, rows, times, workers)
        gap = max(gap, float(np.diff(times).max(initial=0.0)))
    assert best is not None
    best = _zoomed(stretch, best, gap)
    return _bracketed(stretch, best, tolerance, workers) if best.pair >= 0 else (best, inf)


def _better(stretch: Stretch, best: _Nearest | None, rows: Array, times: Array, workers: int = 1) -> _Nearest:
    """Return ``best``, or the least distance at the configurations ``rows`` (n, dof) if it is smaller.

    ``times`` (n,) are the times of the configurations.
    """
    out, which = queries.nearest(stretch.cell, rows, inf if best is None else max(float(best.row[2]), 0.0), workers)
    k = int(out[:, 2].argmin())
    if best is None or out[k, 2] < best.row[2]:
        return _Nearest(out[k].copy(), float(times[k]), int(which[k, 0]))
    return best


def _zoomed(stretch: Stretch, best: _Nearest, gap: float) -> _Nearest:
    """Return the least distance found by several rounds of samples around ``best``.

    The first round has samples up to ``gap`` before and after the time of ``best``. Each round narrows this interval.
    """
    # Between two samples the distance usually has a single minimum.
    for _ in range(_ZOOMS if best.pair >= 0 else 0):
        low, high = np.clip((best.time - gap, best.time + gap), stretch.parts.times[0], stretch.parts.times[-1])
        times = np.linspace(low, high, 9)
        best = _better(stretch, best, stretch.at(times), times)
        gap /= 4.0
    return best


def _bracketed(stretch: Stretch, best: _Nearest, tolerance: float, workers: int) -> tuple[_Nearest, float]:
    """Return the least distance found on a stretch, and a proven lower bound of the distance on the whole stretch.

    The bound is at most ``tolerance`` below the least distance. It is lower if a bound so close cannot be proven.
    """
    curves = stretch.parts.curves
    proven = np.full(len(curves.controls), -inf)  # proven lower bound of each curve
    for _ in range(_ROUNDS):
        wanted = float(best.row[2]) - tolerance
        left = np.flatnonzero(proven < wanted)
        # The depth of non-convex bodies in overlap may jump, so nothing can be proven.
        if not len(left) or (wanted < 0.0 and len(stretch.cell.slots) > len(stretch.cell.layout.pairs)):
            break
        cell = stretch.cell.with_margins(wanted, ())
        status, _, hit, _ = certified(cell, curves.some(left), _PROOF, workers)
        proven[left[status == PROVEN]] = wanted
        # A hit is nearer than the best sample, so samples around the hit give the next bound to prove.
        old, e = best, int(np.argmax(status == HIT))
        if status[e] == HIT:
            at, width = int(left[e]), np.diff(stretch.parts.times)[left[e]]
            times = np.array([stretch.parts.when(at, float(hit[e]))[1]])
            best = _better(stretch, best, stretch.at(times), times)
            best = best if best is old else _zoomed(stretch, best, 0.1 * float(width))
        if best is old and not (status == PROVEN).all():
            tolerance *= _COARSER
    return best, float(proven.min())
