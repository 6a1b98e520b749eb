"""Playback of a path: evenly spaced configurations, and the collisions of a checker at each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot.checker import Checker
from gjk3d.robot.motions import PathCheck
from gjk3d.robot.timed import Moving, TrajectoryCheck
from gjk3d.robot.trajectories import Trajectory
from gjk3d.typing import Array, Ints, Number, Row, Rows, VectorLike
from gjk3d.wording import count, number

Pair = tuple[str, str]


class State(NamedTuple):
    """The colliding pairs at one configuration, and the deepest pair, or the closest if none collides."""

    pairs: tuple[Pair, ...]  #: pairs that collide, the deepest first
    distance: float  #: distance of the closest or deepest pair; infinite if no pair is checked
    lower: float  #: bounds of the distance
    upper: float
    closest: Pair | None
    points: tuple[Array, Array]

    @property
    def hit(self) -> frozenset[str]:
        """Names of the links and objects that collide."""
        return frozenset(name for pair in self.pairs for name in pair)


def state_of(checker: Checker, q: Row) -> State:
    """Return the colliding pairs at a configuration, or the closest pair if none collides."""
    collisions = checker.collisions(q)
    if collisions:
        pairs = tuple(dict.fromkeys((collision.a, collision.b) for collision in collisions))
        deepest = collisions[0]
        ends = deepest.point_a, deepest.point_b
        return State(pairs, deepest.distance, deepest.lower, deepest.upper, deepest.pair, ends)
    near = checker.clearance(q)
    ends = near.point_a, near.point_b
    return State((), float(near.distance), float(near.lower), float(near.upper), near.pair, ends)


class PathFrames(NamedTuple):
    """Evenly spaced configurations from the start of a path to its end, or to the first that is not free."""

    free: bool
    verdict: str  #: the result as text
    q: Array  #: (frames, dof)
    where: list[str]  #: a text for each frame
    moved: dict[str, Array]  #: poses of moving obstacles by name, (frames, 4, 4)


def path_frames(
    checker: Checker, path: Any, moving: Moving | None, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    """Return the given number of configurations along checked waypoints or a checked trajectory.

    Raises
    ------
    RobotError
        There are fewer than two frames, obstacles move along a path without times, or the checker refuses the path.
    """
    check_frames(frames)
    if isinstance(path, (Trajectory, Mapping)) or callable(path):
        return _over_time(checker, path, moving, certify, resolution, int(frames))
    if moving:
        raise RobotError("moving needs times, but waypoints are given. Pass gjk3d.robot.Trajectory(path, times)")
    return _over_edges(checker, path, certify, resolution, int(frames))


def _over_edges(
    checker: Checker, path: Rows, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    points = checker.robot.configurations(path, "path")[0]
    check = checker.path_free(points, certify=certify, resolution=resolution)
    if len(points) == 1:
        verdict = _verdict(check, "the only waypoint", "at the only waypoint")
        return PathFrames(check.free, verdict, np.repeat(points, frames, axis=0), ["at the only waypoint"] * frames, {})
    edges = len(points) - 1
    if check.edge is not None:
        points = np.concatenate([points[: check.edge + 1], np.asarray(check.configuration)[None]])
    q, edge = along(points, frames)
    where = [f"edge {k + 1} of {edges}, from waypoint {k + 1} to {k + 2}" for k in edge.tolist()]
    verdict = _verdict(
        check,
        f"{count(edges, 'edge')}, {_EVIDENCE[certify]}",
        "" if check.edge is None else f"on edge {check.edge + 1} of {edges}",
    )
    return PathFrames(check.free, verdict, q, where, {})


def _over_time(
    checker: Checker, path: Any, moving: Moving | None, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    query = checker._timed_query(path, moving)
    check = checker.trajectory_free(path, moving=moving, certify=certify, resolution=resolution)
    start, end = query.trajectory.start, query.trajectory.end
    last = end if check.free else check.safe if np.isnan(check.hit) else check.hit
    times = np.linspace(start, last, frames)
    where = [f"at {number(time, 3)}, of {number(start, 3)} to {number(end, 3)}" for time in times]
    extent = f"from {number(start, 3)} to {number(end, 3)}, {_EVIDENCE[certify]}"
    verdict = _verdict(check, extent, f"at {number(last)}")
    return PathFrames(check.free, verdict, query.trajectory.at(times), where, query.moved(moving, times))


#: text about the extent of the check, by whether it is certified
_EVIDENCE = {True: "proven between samples too", False: "at every sample"}


def _verdict(check: PathCheck | TrajectoryCheck, extent: str, place: str) -> str:
    if check.free:
        return f"Free: {extent}"
    what = "Unresolved" if np.isnan(check.hit) else "Collision"
    return f"{what} {place}, {' with '.join(check.pair or ())}"


def check_frames(frames: Any) -> None:
    """Raise `RobotError` unless the number of frames is an integer of at least 2."""
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 2:
        raise RobotError(f"frames is {frames!r}, expected an integer of at least 2")


def along(points: Array, count: int) -> tuple[Array, Ints]:
    """Return ``count`` configurations along waypoints, and the edge of each, counted from 0.

    The greatest change of a number of q from one configuration to the next is the same everywhere.
    """
    lengths = np.abs(np.diff(points, axis=0)).max(axis=1, initial=0.0)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0.0, ends[-1], count)
    edge = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(lengths) - 1)
    share = (at - ends[edge]) / np.where(lengths > 0.0, lengths, 1.0)[edge]
    share[-1], edge[-1] = 1.0, len(lengths) - 1  # exactly the last waypoint
    return points[edge] + share[:, None] * (points[edge + 1] - points[edge]), edge
