"""Where a body is over time: steady motions, one after the other."""

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

_ROUNDING = 1e-12  #: of the size of the whole: what nothing was measured in
_NAMED = 5  #: parts, or steps, that a sentence names
_JUMP = 1e-6  #: of a turn, or of how far away it is: no rounding
_HALF = np.radians(170.0)  #: farther on, a turn between two poses may as well be meant the other way round


class Piece(NamedTuple):
    """A part of a way that two bodies move steadily on: from a time to a time, and the motion rows of both, (2, 21)."""

    begin: float
    end: float
    rows: Array


class Track(NamedTuple):
    """A body's way through the world; its poses are world from where it was drawn.

    Attributes
    ----------
    times : (n + 1,) float
        Rising; the body stands still before the first and after the last.
    rows : (n, 21) float
        The motions between them, as `gjk3d.Motion` has them.
    slack : float
        How far this may be from the way that was meant, as measured at three times between any two; it is not proven
        that it is no farther off elsewhere.
    """

    times: Array
    rows: Array
    slack: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"times": self.times.tolist(), "rows": self.rows.tolist(), "slack": self.slack}

    def which(self, time: float) -> int:
        """Return which motion a time is in."""
        return int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.rows) - 1))

    def share(self, k: int, time: float) -> float:
        """Return how much of a motion is over at a time."""
        begin, end = self.times[k], self.times[k + 1]
        return float(np.clip((time - begin) / (end - begin), 0.0, 1.0))

    def pose(self, time: float) -> Array:
        """Return the (4, 4) pose at a time."""
        k = self.which(time)
        return motion_of(self.rows[k]).at(self.share(k, time))

    def cut(self, begin: float, end: float) -> Array:
        """Return the row of the motion from a time to another, also back; both lie in one of the motions."""
        k = self.which(0.5 * (begin + end))
        first, last, row = self.share(k, begin), self.share(k, end), self.rows[k]
        cut: Array = row.copy()
        cut[:9] = motion_of(row).at(first)[:3, :3].ravel()
        cut[CENTER:WAY] = row[CENTER:WAY] + first * row[WAY:TURN]
        cut[WAY:REFERENCE] = (last - first) * row[WAY:REFERENCE]
        return cut

    def speeds(self, bounds: Array) -> Array:
        """Bound how fast any point of a body in a box, (2, 3), moves on each of the motions, (n,)."""
        arms = np.abs(bounds[None] - self.rows[:, None, REFERENCE:]).max(axis=1)
        turns, shifts = (np.linalg.norm(self.rows[:, k : k + 3], axis=1) for k in (TURN, WAY))
        speeds: Array = (shifts + turns * np.linalg.norm(arms, axis=1)) / np.diff(self.times) * (1.0 + 1e-12)
        return speeds

    def places(self, most_turn: float) -> tuple[Array, Array]:
        """Return poses (k, 4, 4) all along, between which it turns by no more than that, and the bend of each motion.

        What bends are squares of turns, (n,), each over 8 squares of how many steps its motion is divided into.
        """
        turns = np.linalg.norm(self.rows[:, TURN:REFERENCE], axis=1)
        steps = np.maximum(1, np.ceil(turns / most_turn)).astype(int)
        poses = [motion_of(row).at(np.linspace(0.0, 1.0, n + 1)) for row, n in zip(self.rows, steps, strict=True)]
        return np.concatenate(poses), turns**2 / (8.0 * steps**2)


def solved(tracks: Mapping[str, Track], size: float) -> dict[str, float]:
    """Return the errors of those that were solved for in an assembly of a size, by the names of parts."""
    return {name: track.slack for name, track in tracks.items() if track.slack > _ROUNDING * size}


def measured(errors: Mapping[str, float], size: float, unit: str | None) -> list[str]:
    """Return what is to be said of ways that were solved for, with such errors: nothing is proven of these."""
    if not errors:
        return []
    shown, factor = reading(unit, size)
    error = with_unit(number(factor * max(errors.values()), 2), shown)
    return [
        f"the ways of {_named(list(errors))} were solved for from time to time; their error between these is taken for"
        f" {error}, twice what was measured, and is not proven"
    ]


def pauses(tracks: Mapping[str, Track], times: tuple[float, float], unit: str) -> list[str]:
    """Return what is to be said of those that were told no place at the beginning or the end of a motion."""
    waiting: dict[str, list[str]] = {}
    for name, track in tracks.items():
        first, last = (float(track.times[k]) for k in (0, -1))
        if first > times[0]:
            waiting.setdefault(f"before {with_unit(number(first), unit)}, when its poses begin", []).append(name)
        if last < times[1]:
            waiting.setdefault(f"after {with_unit(number(last), unit)}, when its poses end", []).append(name)
    span = f"the motion is from {number(times[0])} to {with_unit(number(times[1]), unit)}"
    return [f"{_named(names)}: held still {when}; {span}" for when, names in waiting.items()]


def half_turns(track: Track, unit: str) -> str:
    """Return what is to be said of a track through poses of which two are about half a turn apart."""
    turns = np.linalg.norm(track.rows[:, TURN:REFERENCE], axis=1)
    steps = [
        f"[{k}] and [{k + 1}] (from {number(track.times[k])} to {with_unit(number(track.times[k + 1]), unit)},"
        f" {np.degrees(turns[k]):.4g} degrees)"
        for k in np.flatnonzero(turns > _HALF).tolist()
    ]
    if not steps:
        return ""
    return (
        f"which way it turns is a guess between its poses {_named(steps)}: about half a turn may be meant the other way"
        " round; a pose between them tells the way"
    )


def jumps(track: Track, unit: str) -> str:
    """Return what is to be said of a track of which a motion does not begin where the one before it ends."""
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
        f"it jumps between its motions {_named(steps)}, of which the second begins elsewhere than the first ends:"
        " nothing is checked between"
    )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def motion_of(row: Array) -> Motion:
    """Return the motion of one row."""
    return Motion._made(_numbers=row[None], stacked=False)


def still(times: tuple[float, float]) -> Track:
    """Return the track of what never moves."""
    return Track(np.array(times), np.asarray(Motion()._rows))


def through(times: Array, poses: Array, slack: float = 0.0) -> Track:
    """Return the track through poses (n, 4, 4): between two it turns about one axis and moves along it, steadily."""
    return Track(times, Motion.between(poses[:-1], poses[1:], kind="screw")._rows, slack)


def pieces(a: Track, b: Track, begin: float, end: float) -> Iterator[Piece]:
    """Yield where both move steadily between two times, in that order, also back."""
    low, high = min(begin, end), max(begin, end)
    knots = np.unique(np.concatenate([a.times, b.times]))
    stops = [low, *knots[(knots > low) & (knots < high)].tolist(), high]
    if end < begin:
        stops.reverse()
    for first, last in pairwise(stops):
        yield Piece(first, last, np.stack([a.cut(first, last), b.cut(first, last)]))
