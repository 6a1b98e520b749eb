"""A safety report: which pairs of a cell come closer than their margins over a programme of motions.

Each motion is proven with the margins of all pairs. Where the proof meets a pair that is too close, or that it cannot
tell, that pair is measured alone, left out, and the proof begins again with the others: in the end all that is not
listed is proven to keep its margin all the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot.cell_build import Base, build
from gjk3d.robot.motions import MotionStatus
from gjk3d.robot.moving import Moving
from gjk3d.robot.safety_report import SafetyMotion, SafetyPlace, SafetyReport, SafetyRow
from gjk3d.robot.timed import Asked, Surroundings, TrajectoryClearance, asked, trajectory_clearance, trajectory_free
from gjk3d.robot.trajectories import Trajectory, as_trajectory

Pair = tuple[str, str]
#: by the name of a motion: a trajectory, a spline of scipy or waypoints, or such and the obstacles that move meanwhile
Programme = Mapping[str, Any]


@dataclass(frozen=True)
class How:
    """How a programme is looked at, as of `Checker.trajectory_clearance` and of its proof."""

    resolution: Any
    tolerance: float
    workers: int


def safety(checker: Any, around: Surroundings, programme: Programme, how: How) -> SafetyReport:
    """Answer `Checker.safety`."""
    if not isinstance(programme, Mapping) or not programme:
        raise RobotError("safety: the programme is empty or no mapping, expected a motion for each name")
    motions, rows = [], []
    for name, given in programme.items():
        path, moving = given if _is_pair(given) else (given, None)
        trajectory = _trajectory(path, around)
        found = _undercut(around, name, trajectory, moving, how)
        rows += found
        one = asked(around, trajectory, moving)
        nearest = trajectory_clearance(one, how.resolution, how.tolerance, how.workers)
        # what is not listed is proven to keep its margin
        least = min([float(one.cell.margins.min(initial=inf)), *(row.lower for row in found)])
        lower = max(nearest.lower, min(least, nearest.upper))
        motions.append(_motion(name, trajectory, found, nearest._replace(lower=lower), _place(nearest, one, moving)))
    verdicts = ("collision", "too close", "open")
    rows.sort(key=lambda row: (verdicts.index(row.verdict), row.upper - row.margin, row.motion))
    base = around.base.robot
    return SafetyReport(base.name, around.margin, tuple(motions), tuple(rows), checker)


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)


def _trajectory(path: Any, around: Surroundings) -> Trajectory:
    """Return a trajectory; waypoints without times are a second apart."""
    if isinstance(path, (list, tuple, np.ndarray)):
        path = Trajectory(path, np.arange(float(len(path))))
    return as_trajectory(path, around.base.robot)


def _place(nearest: TrajectoryClearance, one: Asked, moving: Moving | None) -> SafetyPlace:
    """Return where all is at the nearest configuration."""
    moved = tuple((name, poses[0].tolist()) for name, poses in one.moved(moving, np.array([nearest.time])).items())
    configuration, point_a, point_b = (
        tuple(each.tolist()) for each in (nearest.configuration, nearest.point_a, nearest.point_b)
    )
    return SafetyPlace(configuration, point_a, point_b, moved)


def _motion(
    name: str, trajectory: Trajectory, found: list[SafetyRow], nearest: TrajectoryClearance, place: SafetyPlace
) -> SafetyMotion:
    worst = next((v for v in ("collision", "too close", "open") if any(row.verdict == v for row in found)), "kept")
    return SafetyMotion(
        name, trajectory.start, trajectory.end, worst, nearest.distance, nearest.lower, nearest.upper,
        nearest.time, nearest.pair, place,
    )  # fmt: skip


def _undercut(
    around: Surroundings, name: str, trajectory: Trajectory, moving: Moving | None, how: How
) -> list[SafetyRow]:
    """Return the pairs that are not proven to keep their margins."""
    found: list[SafetyRow] = []
    left = around
    while True:
        one = asked(left, trajectory, moving)
        proof = trajectory_free(one, True, how.resolution, 1e-6 * (trajectory.end - trajectory.start), how.workers)
        if proof.status == MotionStatus.FREE or proof.pair is None:
            return found
        pair = proof.pair
        alone = _only(around, pair)
        mine = None if not moving else {key: value for key, value in moving.items() if key in alone.objects}
        own = asked(alone, trajectory, mine)
        nearest = trajectory_clearance(own, how.resolution, how.tolerance, how.workers)
        margin = float(own.cell.margins.max(initial=-inf))
        hit = proof.hit
        if nearest.upper <= 0.0:
            verdict = "collision"
        elif nearest.upper <= margin:
            verdict = "too close"
        else:
            verdict = "open" if not nearest.lower > margin else ""
        if verdict:
            if verdict != "open" and not isfinite(hit):
                hit = nearest.time
            found.append(
                SafetyRow(
                    name, *pair, margin, nearest.distance, nearest.lower, nearest.upper, nearest.time,
                    hit if isfinite(hit) else nan, verdict, _place(nearest, own, mine),
                )
            )  # fmt: skip
        left = _without(left, pair)


def _named(base: Base, pairs: Any, pair: Pair) -> Any:
    """Tell which pairs of units are of two links."""
    links = base.robot.links
    names = [{links[base.units[a].link], links[base.units[b].link]} for a, b in pairs.tolist()]
    return np.array([each == set(pair) for each in names], dtype=bool)


def _with_pairs(base: Base, pairs: Any) -> Base:
    """Return a base that checks these pairs of units alone."""
    other = object.__new__(Base)
    other.robot, other.slots, other.units, other.pairs = base.robot, base.slots, base.units, pairs
    return other


def _without(around: Surroundings, pair: Pair) -> Surroundings:
    """Return the surroundings with a pair left out."""
    base = _with_pairs(around.base, around.base.pairs[~_named(around.base, around.base.pairs, pair)])
    objects = {
        name: each._replace(touch=each.touch | (set(pair) - {name})) if name in pair else each
        for name, each in around.objects.items()
    }
    return _made(around, base, objects)


def _only(around: Surroundings, pair: Pair) -> Surroundings:
    """Return the surroundings with no other pair than this."""
    base = _with_pairs(around.base, around.base.pairs[_named(around.base, around.base.pairs, pair)])
    links = frozenset(around.base.robot.links) - set(pair)
    objects = {name: each for name, each in around.objects.items() if name in pair}
    objects = {name: each._replace(touch=each.touch | links) for name, each in objects.items()}
    return _made(around, base, objects)


def _made(around: Surroundings, base: Base, objects: Any) -> Surroundings:
    names = {*base.robot.links, *objects}
    rules = tuple(rule for rule in around.rules if rule.a in names and (not rule.b or rule.b in names))
    cell = build(base, objects.values(), around.margin, rules)
    return Surroundings(base, objects, around.margin, rules, cell)
