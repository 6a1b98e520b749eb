"""The track of a body over time, which is a sequence of steady motions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gjk3d.narrow.motion import CENTER, REFERENCE, TURN, WAY
from gjk3d.query.motion import Motion
from gjk3d.typing import Array
from gjk3d.units import reading
from gjk3d.wording import number, with_unit

_ROUNDING = 1e-12  #: errors up to this share of the size of the assembly are rounding
_NAMED = 5  #: the largest number of parts or steps in a note
_JUMP = 1e-6  #: a larger difference, in rotation or relative to the distance from the origin, is not rounding
_HALF = np.radians(170.0)  #: above this angle, the direction of the rotation between two poses is ambiguous


class Piece(NamedTuple):
    """A time interval with steady motions of two bodies, and their motion rows, (2, 21)."""

    begin: float
    end: float
    rows: Array


class Track(NamedTuple):
    """The poses of a body over time, as displacements from its drawn pose.

    Attributes
    ----------
    times : (n + 1,) float
        The times in ascending order. The body is static before the first and after the last time.
    rows : (n, 21) float
        The motions between the times, as rows of `gjk3d.Motion`.
    slack : float
        The error of the track. It was measured at three times between two successive times, and is not certified.
    """

    times: Array
    rows: Array
    slack: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the track as JSON data."""
        return {"times": self.times.tolist(), "rows": self.rows.tolist(), "slack": self.slack}

    def which(self, time: float) -> int:
        """Return the index in ``rows`` of the motion at a time."""
        return int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.rows) - 1))

    def share(self, k: int, time: float) -> float:
        """Return the share, 0 to 1, of motion k that has elapsed at a time."""
        begin, end = self.times[k], self.times[k + 1]
        return float(np.clip((time - begin) / (end - begin), 0.0, 1.0))

    def pose(self, time: float) -> Array:
        """Return the (4, 4) pose at a time."""
        k = self.which(time)
        return motion_of(self.rows[k]).at(self.share(k, time))

    def cut(self, begin: float, end: float) -> Array:
        """Return the row of the motion from ``begin`` to ``end``, two times of one motion; ``end`` may be earlier."""
        k = self.which(0.5 * (begin + end))
        first, last, row = self.share(k, begin), self.share(k, end), self.rows[k]
        cut: Array = row.copy()
        cut[:9] = motion_of(row).at(first)[:3, :3].ravel()
        cut[CENTER:WAY] = row[CENTER:WAY] + first * row[WAY:TURN]
        cut[WAY:REFERENCE] = (last - first) * row[WAY:REFERENCE]
        return cut

    def speeds(self, bounds: Array) -> Array:
        """Return for each motion an upper bound of the speed of any point of a body that is in a box (2, 3), (n,)."""
        arms = np.abs(bounds[None] - self.rows[:, None, REFERENCE:]).max(axis=1)
        turns, shifts = (np.linalg.norm(self.rows[:, k : k + 3], axis=1) for k in (TURN, WAY))
        speeds: Array = (shifts + turns * np.linalg.norm(arms, axis=1)) / np.diff(self.times) * (1.0 + 1e-12)
        return speeds

    def places(self, most_turn: float) -> tuple[Array, Array]:
        """Return poses (k, 4, 4) at most ``most_turn`` of rotation apart, and the bend of each motion, (n,).

        The bend is the square of the rotation in a step divided by 8. The bend times a point's distance from the axis
        bounds the deviation of the point from a straight line.
        """
        turns = np.linalg.norm(self.rows[:, TURN:REFERENCE], axis=1)
        steps = np.maximum(1, np.ceil(turns / most_turn)).astype(int)
        poses = [motion_of(row).at(np.linspace(0.0, 1.0, n + 1)) for row, n in zip(self.rows, steps, strict=True)]
        return np.concatenate(poses), turns**2 / (8.0 * steps**2)


def solved(tracks: Mapping[str, Track], size: float) -> dict[str, float]:
    """Return the errors of the tracks that were computed from joints, by the names of the parts."""
    return {name: track.slack for name, track in tracks.items() if track.slack > _ROUNDING * size}


def measured(errors: Mapping[str, float], size: float, unit: str | None) -> list[str]:
    """Return a note on the errors of tracks that were computed from joints."""
    if not errors:
        return []
    shown, factor = reading(unit, size)
    error = with_unit(number(factor * max(errors.values()), 2), shown)
    return [
        f"the motion of {_named(list(errors))} was computed from joints. Its error is assumed to be {error}, twice the"
        " measured error, and is not proven."
    ]


def pauses(tracks: Mapping[str, Track], times: tuple[float, float], unit: str) -> list[str]:
    """Return notes on parts whose tracks do not cover the begin or the end of a motion."""
    waiting: dict[str, list[str]] = {}
    for name, track in tracks.items():
        first, last = (float(track.times[k]) for k in (0, -1))
        if first > times[0]:
            waiting.setdefault(f"before {with_unit(number(first), unit)}, when its poses begin", []).append(name)
        if last < times[1]:
            waiting.setdefault(f"after {with_unit(number(last), unit)}, when its poses end", []).append(name)
    span = f"the motion is from {number(times[0])} to {with_unit(number(times[1]), unit)}"
    return [f"{_named(names)}: static {when}; {span}" for when, names in waiting.items()]


def half_turns(track: Track, unit: str) -> str:
    """Return a note on a track with a rotation of about half a turn between two poses, or an empty text."""
    turns = np.linalg.norm(track.rows[:, TURN:REFERENCE], axis=1)
    steps = [
        f"[{k}] and [{k + 1}] (from {number(track.times[k])} to {with_unit(number(track.times[k + 1]), unit)},"
        f" {np.degrees(turns[k]):.4g} degrees)"
        for k in np.flatnonzero(turns > _HALF).tolist()
    ]
    if not steps:
        return ""
    return (
        f"the direction of rotation is a guess between the poses {_named(steps)}, because they are about half a turn"
        " apart. Add a pose between them."
    )


def jumps(track: Track, unit: str) -> str:
    """Return a note on a track if a motion does not begin at the end of the previous motion, or an empty text."""
    motions = Motion._made(_numbers=track.rows, stacked=True)
    ends, begins = motions.at(1.0)[:-1], motions.at(0.0)[1:]
    gaps, far = np.abs(ends - begins).max(axis=1), np.abs(begins[:, :3, 3]).max(axis=1)
    jumped = (gaps[:, :3].max(axis=1) > _JUMP) | (gaps[:, 3] > _JUMP * np.maximum(1.0, far))
    steps = [
        f"[{k}] and [{k + 1}] (at {with_unit(number(track.times[k + 1]), unit)})"
        for k in np.flatnonzero(jumped).tolist()
    ]
    if not steps:
        return ""
    return (
        f"the track jumps between the motions {_named(steps)}, because the second does not begin at the end of the"
        " first. No clash is detected between them."
    )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def motion_of(row: Array) -> Motion:
    """Return the `gjk3d.Motion` that has a motion row."""
    return Motion._made(_numbers=row[None], stacked=False)


def still(times: tuple[float, float]) -> Track:
    """Return the track of a static body."""
    return Track(np.array(times), np.asarray(Motion()._rows))


def through(times: Array, poses: Array, slack: float = 0.0) -> Track:
    """Return the track through poses (n, 4, 4), with a steady screw motion between two poses."""
    return Track(times, Motion.between(poses[:-1], poses[1:], kind="screw")._rows, slack)


def pieces(a: Track, b: Track, begin: float, end: float) -> Iterator[Piece]:
    """Yield the intervals with steady motions of both bodies between two times, in the order of these times."""
    low, high = min(begin, end), max(begin, end)
    knots = np.unique(np.concatenate([a.times, b.times]))
    stops = [low, *knots[(knots > low) & (knots < high)].tolist(), high]
    if end < begin:
        stops.reverse()
    for first, last in pairwise(stops):
        yield Piece(first, last, np.stack([a.cut(first, last), b.cut(first, last)]))
