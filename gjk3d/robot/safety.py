"""Safety reports: the pairs of a cell that come closer than their margins in a programme of motions.

Each motion is certified with the margins of all pairs. If a pair stops the proof, its least distance is computed
separately, and the proof starts again without this pair. At the end every pair that is not in the report is proven to
keep its margin along the whole motion.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot.bodies import CollisionObject
from gjk3d.robot.cell import Base, build
from gjk3d.robot.motions import MotionStatus
from gjk3d.robot.timed import (
    Moving,
    Surroundings,
    TimedQuery,
    TrajectoryClearance,
    timed_query,
    trajectory_clearance,
    trajectory_free,
)
from gjk3d.robot.trajectories import Trajectory, as_trajectory
from gjk3d.typing import Bools
from gjk3d.wording import count, format_gap, json_ready, number

SCHEMA_VERSION = 1
#: verdicts of a pair that is not proven to keep its margin, the worst first
VERDICTS = ("collision", "too close", "open")
#: column heads for `motion_cells` and `row_cells`; the units assume a URDF in metres and a trajectory in seconds
MOTION_HEAD = ("motion", "verdict", "least distance, m", "at, s", "pair")
ROW_HEAD = ("verdict", "motion", "pair", "margin, m", "least distance, m", "at, s", "too close since, s")


@dataclass(frozen=True, slots=True)
class SafetyPlace:
    """The place of the least distance of a `SafetyRow` or a `SafetyMotion`.

    Attributes
    ----------
    configuration : tuple of float
        The joint values: radians, and the robot's unit of length.
    point_a, point_b : tuple of float
        The nearest or deepest points, in world coordinates. NaN if no pair is checked.
    moved : tuple of (str, list)
        The name of each moving obstacle, and the rows of its pose (4, 4) at the time of the least distance.

    Examples
    --------
    >>> import gjk3d as gk
    >>> report = gk.robot.Checker(gk.robot.Robot.example()).safety({"stay": [[0.0, 0.0], [0.0, 0.0]]})
    >>> report.motions[0].place.configuration
    (0.0, 0.0)
    """

    configuration: tuple[float, ...]
    point_a: tuple[float, ...]
    point_b: tuple[float, ...]
    moved: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class SafetyRow:
    """A pair that is not proven to keep its margin in a motion: an item of `SafetyReport.rows`.

    Attributes
    ----------
    motion : str
        The name of the motion in the programme.
    a, b : str
        Names of two links or objects. The name of an obstacle is second.
    margin : float
        The margin of the pair, in the robot's unit.
    distance, lower, upper : float
        The least signed distance that was found in the motion, in the robot's unit, and proven bounds of the least
        distance.
    time : float
        The time of ``distance``.
    since : float
        The first time at which the pair is known to be too close, or NaN.
    verdict : {"collision", "too close", "open"}
        "collision": the pair touches. "too close": the pair comes closer than its margin. "open": the margin is between
        ``lower`` and ``upper``, so the pair is undecided.
    place : SafetyPlace
        Configuration and points at ``time``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [0.0, 2.4]], times=[0.0, 3.0])
    >>> row = gk.robot.Checker(gk.robot.Robot.example(), margin=0.6).safety({"fold": path}).rows[0]
    >>> row.a, row.b, row.verdict, row.since < row.time
    ('post', 'hand', 'too close', True)
    """

    motion: str
    a: str
    b: str
    margin: float
    distance: float
    lower: float
    upper: float
    time: float
    since: float
    verdict: str
    place: SafetyPlace


@dataclass(frozen=True, slots=True)
class SafetyMotion:
    """A motion of a programme: an item of `SafetyReport.motions`.

    Attributes
    ----------
    name : str
        The name in the programme.
    start, end : float
        The first and the last time of the trajectory.
    verdict : {"kept", "collision", "too close", "open"}
        The worst verdict of all pairs in this motion. "kept" means that all pairs are proven to keep their margins,
        also between samples.
    distance, lower, upper : float
        The least signed distance of all pairs that was found, in the robot's unit, and proven bounds of the least
        distance.
    time : float
        The time of ``distance``.
    pair : (str, str) or None
        The pair with ``distance``, or None if no pair is checked.
    place : SafetyPlace
        Configuration and points at ``time``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [1.0, 0.0]], times=[0.0, 3.0])
    >>> gk.robot.Checker(gk.robot.Robot.example()).safety({"turn": path}).motions[0].verdict
    'kept'
    """

    name: str
    start: float
    end: float
    verdict: str
    distance: float
    lower: float
    upper: float
    time: float
    pair: tuple[str, str] | None
    place: SafetyPlace


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """Result of `Checker.safety`. As a bool, it is true if every pair is proven to keep its margin in every motion.

    Attributes
    ----------
    robot : str
        The name of the robot.
    margin : float
        The margin, in the robot's unit, of all pairs without a margin from `Checker.set_margin`.
    motions : tuple of SafetyMotion
        The motions, in the order of the programme.
    rows : tuple of SafetyRow
        Pairs that are not proven to keep their margin, the worst first. All other pairs are proven to keep theirs.
    checker : Checker
        A copy of the checker at the time of the query.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pole = np.eye(4); pole[:2, 3] = 1.0, 1.0
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)}, margin=0.02)
    >>> report = checker.safety({"there": [[0.0, 0.0], [0.4, 0.0]], "over": [[0.4, 0.0], [1.2, 0.3]]})
    >>> bool(report), [(motion.name, motion.verdict) for motion in report.motions]
    (False, [('there', 'kept'), ('over', 'collision')])
    >>> [(row.motion, row.a, row.b, row.verdict) for row in report.rows]
    [('over', 'hand', 'pole', 'collision')]
    >>> print(report.to_text().splitlines()[0])
    example: 1 of 2 motions proven to keep every margin, 1 pair without proof
    >>> report.to_dict()["rows"][0]["verdict"], '"kind": "safety"' in report.to_json()
    ('collision', True)
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.to_html(pathlib.Path(folder) / "safety.html").name
    'safety.html'
    """

    robot: str
    margin: float
    motions: tuple[SafetyMotion, ...]
    rows: tuple[SafetyRow, ...]
    checker: Any = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return not self.rows

    def to_text(self) -> str:
        """Return the report as text: the headline, the table of motions, and the table of unproven pairs."""
        first = [motion_cells(item) for item in self.motions]
        parts = [self.headline, _table(MOTION_HEAD, first)]
        if self.rows:
            parts.append(_table(ROW_HEAD, [row_cells(item) for item in self.rows]))
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict of JSON values, with None for numbers that are not finite."""
        motions, rows = ([asdict(item) for item in some] for some in (self.motions, self.rows))
        document = {
            "schema_version": SCHEMA_VERSION, "kind": "safety", "kept": bool(self), "robot": self.robot,
            "margin": self.margin, "motions": motions, "rows": rows,
        }  # fmt: skip
        ready: dict[str, Any] = json_ready(document)
        return ready

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as a JSON document. If a path is given, the document is also written to this file.

        Parameters
        ----------
        path : path, optional
            The file to write.

        Returns
        -------
        str
            The document.
        """
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as one HTML page that works offline, and return the path of the page.

        Parameters
        ----------
        path : path
            The .html file to write.

        Returns
        -------
        Path
            Path of the page.
        """
        from gjk3d.viz.motions import write_safety

        return write_safety(self, path)

    @property
    def headline(self) -> str:
        """A text with the number of motions that are proven to keep every margin, and the number of unproven pairs.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Checker(gk.robot.Robot.example()).safety({"turn": [[0.0, 0.0], [1.0, 0.0]]}).headline
        'example: 1 of 1 motion proven to keep every margin, all pairs proven'
        """
        passed = sum(motion.verdict == "kept" for motion in self.motions)
        pairs, among = {frozenset((row.a, row.b)) for row in self.rows}, len({row.motion for row in self.rows})
        summary = f"{count(len(pairs), 'pair')} without proof" if pairs else "all pairs proven"
        summary += f" in {among} motions" if among > 1 else ""
        return f"{self.robot}: {passed} of {count(len(self.motions), 'motion')} proven to keep every margin, {summary}"

    def __repr__(self) -> str:
        return f"<SafetyReport of {self.headline}>"


def _pair(names: tuple[str, str] | None) -> str:
    return "-" if names is None else f"{names[0]}, {names[1]}"


def motion_cells(motion: SafetyMotion) -> tuple[str, ...]:
    """Return the cells of a motion as texts, in the columns of `MOTION_HEAD`."""
    least = format_gap(motion.lower, motion.upper, 4)
    return motion.name, motion.verdict, least, number(motion.time, 4), _pair(motion.pair)


def row_cells(row: SafetyRow) -> tuple[str, ...]:
    """Return the cells of a pair as texts, in the columns of `ROW_HEAD`."""
    since = "-" if row.since != row.since else number(row.since, 4)
    least = format_gap(row.lower, row.upper, 4)
    return row.verdict, row.motion, _pair((row.a, row.b)), number(row.margin, 4), least, number(row.time, 4), since


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    wide = [max(len(line[k]) for line in (head, *rows)) for k in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(line, wide, strict=True)).rstrip() for line in (head, *rows)]
    return "\n".join([lines[0], "  ".join("-" * w for w in wide), *lines[1:]])


Pair = tuple[str, str]
#: motions by name: a trajectory, a spline of scipy or waypoints, alone or in a tuple with moving obstacles
Programme = Mapping[str, Any]


def safety(
    checker: Any, around: Surroundings, programme: Programme, resolution: Any, tolerance: float, workers: int
) -> SafetyReport:
    """Return the result of `Checker.safety`."""
    if not isinstance(programme, Mapping) or not programme:
        raise RobotError(
            f"safety: programme is {programme!r:.60}, expected a mapping of names to motions that is not empty"
        )
    motions, rows = [], []
    for name, entry in programme.items():
        with_moving = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)
        path, moving = entry if with_moving else (entry, None)
        if isinstance(path, (list, tuple, np.ndarray)):  # waypoints without times are one second apart
            path = Trajectory(path, np.arange(float(len(path))))
        trajectory = as_trajectory(path, around.base.robot)
        undercut = _undercut(around, name, trajectory, moving, resolution, tolerance, workers)
        rows += undercut
        query = timed_query(around, trajectory, moving)
        nearest = trajectory_clearance(query, resolution, tolerance, workers)
        # Pairs that are not in ``undercut`` are proven to keep their margins, so these are bounds of their distances.
        least = min([float(query.cell.margins.min(initial=inf)), *(row.lower for row in undercut)])
        lower = max(nearest.lower, min(least, nearest.upper))
        worst = min((row.verdict for row in undercut), key=VERDICTS.index, default="kept")
        bounds, place = (nearest.distance, lower, nearest.upper), _place(nearest, query, moving)
        motions.append(
            SafetyMotion(name, trajectory.start, trajectory.end, worst, *bounds, nearest.time, nearest.pair, place)
        )
    rows.sort(key=lambda row: (VERDICTS.index(row.verdict), row.upper - row.margin, row.motion))
    base = around.base.robot
    return SafetyReport(base.name, around.margin, tuple(motions), tuple(rows), checker)


def _place(nearest: TrajectoryClearance, query: TimedQuery, moving: Moving | None) -> SafetyPlace:
    """Return the configuration, the points and the poses of moving obstacles at the time of the least distance."""
    moved = tuple((name, poses[0].tolist()) for name, poses in query.moved(moving, np.array([nearest.time])).items())
    configuration, point_a, point_b = (
        tuple(values.tolist()) for values in (nearest.configuration, nearest.point_a, nearest.point_b)
    )
    return SafetyPlace(configuration, point_a, point_b, moved)


def _undercut(
    around: Surroundings,
    name: str,
    trajectory: Trajectory,
    moving: Moving | None,
    resolution: Any,
    tolerance: float,
    workers: int,
) -> list[SafetyRow]:
    """Return a row for each pair that is not proven to keep its margin in the motion ``name``."""
    # Each round proves the remaining pairs, or removes one that stops the proof, so the loop ends.
    rows: list[SafetyRow] = []
    left = around
    while True:
        query = timed_query(left, trajectory, moving)
        proof = trajectory_free(query, True, resolution, 1e-6 * (trajectory.end - trajectory.start), workers)
        if proof.status == MotionStatus.FREE or proof.pair is None:
            return rows
        pair = proof.pair
        isolated = _only(around, pair)
        mine = None if not moving else {key: value for key, value in moving.items() if key in isolated.objects}
        pair_query = timed_query(isolated, trajectory, mine)
        nearest = trajectory_clearance(pair_query, resolution, tolerance, workers)
        margin = float(pair_query.cell.margins.max(initial=-inf))
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
            rows.append(
                SafetyRow(
                    name, *pair, margin, nearest.distance, nearest.lower, nearest.upper, nearest.time,
                    hit if isfinite(hit) else nan, verdict, _place(nearest, pair_query, mine),
                )
            )  # fmt: skip
        left = _without(left, pair)


def _is_of(base: Base, pair: Pair) -> Bools:
    """Return for each row of ``base.pairs`` whether the names of its two links are ``pair``, (pairs,) bool."""
    names = np.array([base.robot.links[unit.link] for unit in base.units], dtype=object)
    owners: Bools = np.array([set(item) == set(pair) for item in names[base.pairs].tolist()], dtype=bool)
    return owners


def _without(around: Surroundings, pair: Pair) -> Surroundings:
    objects = {
        name: item._replace(touch=item.touch | (set(pair) - {name})) if name in pair else item
        for name, item in around.objects.items()
    }
    return _rebuilt(around, ~_is_of(around.base, pair), objects)


def _only(around: Surroundings, pair: Pair) -> Surroundings:
    links = frozenset(around.base.robot.links) - set(pair)
    objects = {name: item._replace(touch=item.touch | links) for name, item in around.objects.items() if name in pair}
    return _rebuilt(around, _is_of(around.base, pair), objects)


def _rebuilt(around: Surroundings, chosen: Bools, objects: dict[str, CollisionObject]) -> Surroundings:
    """Return ``around`` with new ``objects``, and with only the rows of ``around.base.pairs`` that are ``chosen``."""
    base = around.base.with_pairs(around.base.pairs[chosen])
    names = {*base.robot.links, *objects}
    rules = tuple(rule for rule in around.rules if rule.a in names and (not rule.b or rule.b in names))
    return Surroundings(base, objects, around.margin, rules, build(base, objects.values(), around.margin, rules))
