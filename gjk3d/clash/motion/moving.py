"""Pairs of parts that move relative to each other, and their record in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import union_of
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.decider import Decider, Decision, joined, unchecked
from gjk3d.clash.detection.pairs import boxes_close, doubted_ways
from gjk3d.clash.detection.parts import AssemblyPart, Tolerances
from gjk3d.clash.documents import Interval
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.motion.timeline import MOST_SAMPLES, Passage, Timeline, moved, swept_box
from gjk3d.clash.motion.track import Track, measured, pauses, solved, still
from gjk3d.engine.pairs import Pairs
from gjk3d.interrupts import Aside
from gjk3d.typing import Array
from gjk3d.wording import count, json_ready

_STEADY = 1e-3  #: the largest relative variation of a constant gap or depth, which is the width of its bounds


@dataclass(frozen=True, slots=True)
class Course:
    """The record of a pair of parts that move relative to each other.

    Attributes
    ----------
    a, b : str
        The names of the parts.
    intervals : tuple of (float, float, float, float)
        The intervals of the clash. The parts are free before the first time, clash from the second to the third time,
        and are free after the fourth time.
    proven : bool
        Whether all values are certified at every time, for a steady screw motion between two poses. It is False in
        three cases: a track was computed from joints, whose error `Track.slack` is only measured; a clash from the
        second to the third time of an interval was computed only at many times; or parts that slide on each other may
        clash between the computed times.
    least : (float, float)
        Bounds of the smallest clearance in the unit of the report, both 0 if the parts touch or clash.
    when : float
        The time of the upper bound of the clearance, or of the deepest clash.
    inside : float
        A lower bound of the penetration at the time ``when``, in the unit of the report.
    series : tuple of (float, float, float, float)
        Rows for a chart: a time, the bounds of the gap, and a lower bound of the penetration.
    """

    a: str
    b: str
    intervals: tuple[Interval, ...]
    proven: bool
    least: tuple[float, float]
    when: float
    inside: float
    series: tuple[tuple[float, float, float, float], ...] = field(repr=False, default=())

    @property
    def is_steady(self) -> bool:
        """Whether the gap, or the depth, is constant over all computed times."""
        values = [-inside if inside > 0.0 else upper for _, _, upper, inside in self.series]
        most = max(map(abs, values), default=inf)
        return len(values) > 1 and most < inf and max(values) - min(values) <= _STEADY * most


@dataclass(frozen=True)
class MotionRecord:
    """The motion of a report.

    Attributes
    ----------
    begin, end : float
        The begin and the end of the motion.
    unit : str
        The unit of time.
    pairs : tuple of Course
        The pairs that move relative to each other and whose swept boxes are within the clearance. All other pairs that
        move relative to each other are proven to be farther apart.
    tracks : dict of str to Track
        The tracks of the moving parts by name, in the unit of the assembly.
    """

    begin: float
    end: float
    unit: str
    pairs: tuple[Course, ...] = ()
    tracks: Mapping[str, Track] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def courses(self) -> dict[tuple[str, str], Course]:
        """The record of each pair in ``pairs``, by the names of its two parts."""
        return {(pair.a, pair.b): pair for pair in self.pairs}

    def scaled(self, factor: float) -> MotionRecord:
        """Return the record with the lengths of its pairs in another unit. The tracks remain in the assembly's unit."""
        pairs = (
            replace(
                pair,
                least=(factor * pair.least[0], factor * pair.least[1]),
                inside=factor * pair.inside,
                series=tuple(
                    (time, factor * low, factor * high, factor * deep) for time, low, high, deep in pair.series
                ),
            )
            for pair in self.pairs
        )
        return replace(self, pairs=tuple(pairs))

    def pose(self, part: str, time: float) -> Array:
        """Return the displacement of a part from its drawn pose, (4, 4). It is the identity for static parts."""
        return self.tracks[part].pose(time) if part in self.tracks else np.eye(4)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        together: dict[int, list[str]] = {}
        for name, track in self.tracks.items():
            together.setdefault(id(track), []).append(name)
        return {
            "begin": self.begin,
            "end": self.end,
            "unit": self.unit,
            "moving": list(self.tracks),
            "tracks": [self.tracks[names[0]].to_dict() | {"parts": names} for names in together.values()],
            "pairs": [{name: json_ready(getattr(pair, name)) for name in Course.__slots__} for pair in self.pairs],
        }


_SAMPLED = "the parts slide on each other, and a deeper clash between the computed times is not excluded"
_FEW = 3  #: the largest number of pairs in a note
TIMES = 1e-4  #: the accuracy of the begin and end of a clash relative to the duration of the motion


class Moving:
    """The decisions of pairs that move relative to each other. ``parts`` are the parts that could be loaded."""

    def __init__(self, movement: Movement, parts: Sequence[AssemblyPart], unit: str | None) -> None:
        self.movement = movement
        self.meshes = [mesh for part in parts if (mesh := part.mesh) is not None]
        self.slacks = np.array([part.slack + part.facets for part in parts])
        self.names = [part.name for part in parts]
        boxes = {part.name: part.bounds for part in parts}
        self._unit, self._bounds = unit, np.array([*boxes.values()]).reshape(-1, 2, 3)
        self.tracks = movement.place(self.names, boxes, unit)
        standing = still(movement.times)
        self.of = [self.tracks.get(name, standing) for name in self.names]
        self.courses: list[Course] = []
        self._sampled: list[str] = []  #: pairs whose passage is not settled
        size = float(np.linalg.norm(np.ptp(self._bounds.reshape(-1, 3), axis=0))) if boxes else 0.0
        errors = solved(self.tracks, size)
        self._solved = errors.keys()
        self.notes = [*movement.notes, *measured(errors, size, unit)]
        self.notes += pauses(self.tracks, movement.times, movement.unit)

    def together(self, i: int, j: int) -> bool:
        """Return whether two parts are at rest relative to each other, so that their pair is decided only once."""
        return self.of[i] is self.of[j]

    def groups(self) -> list[list[int]]:
        """Return the groups of parts that move together: the parts of a group are at rest relative to each other."""
        by_track: dict[int, list[int]] = {}
        for k, track in enumerate(self.of):
            by_track.setdefault(id(track), []).append(k)
        return list(by_track.values())

    def close(self, clearance: float, tolerances: Tolerances) -> list[tuple[int, int]]:
        """Return the pairs, i < j, that move relative to each other and whose swept boxes are within a limit.

        The limit is the clearance or the tolerance of the pair, whichever is larger.
        """
        standing = {id(track) for name, track in zip(self.names, self.of, strict=True) if name not in self.tracks}
        boxes = np.array(
            [
                mesh.bounds if id(track) in standing else swept_box(mesh, track)
                for mesh, track in zip(self.meshes, self.of, strict=True)
            ]
        ).reshape(-1, 2, 3)
        self.notes += doubted_ways(self.names, self._bounds, boxes, self._unit)
        pairs = boxes_close(boxes, clearance, tolerances, self.slacks).tolist()
        return [(i, j) for i, j in pairs if not self.together(i, j)]

    def follow(self, i: int, j: int, tolerance: float) -> Passage:
        """Return the clashes and the smallest clearance of the parts i and j over the whole motion."""
        begin, end = self.movement.times
        width, slack = TIMES * (end - begin), float(self.slacks[i] + self.slacks[j])
        return Timeline((self.meshes[i], self.meshes[j]), (self.of[i], self.of[j]), tolerance, width, slack).follow()

    def decide(self, i: int, j: int, passage: Passage, clearance: float, tolerance: float) -> Decision | None:
        """Return the finding of a pair at the time of its deepest overlap or smallest gap, or None for a free pair."""
        if not passage.intervals and passage.least[0] >= clearance - tolerance and passage.least[0] > tolerance:
            return None
        meshes = [moved(union_of(self.meshes[k]).mesh, self.of[k].pose(passage.when)) for k in (i, j)]
        clash, corners = _decided(meshes, Decider(clearance, tolerance, {}))
        if clash is not None and clash.kind == "duplicate":
            # equal parts that only pass through each other are not a duplicate
            drawn, _ = _decided([self.meshes[i], self.meshes[j]], Decider(clearance, tolerance, {}))
            if drawn is None or drawn.kind != "duplicate":
                clash, corners = _decided(meshes, Decider(clearance, tolerance, {}, twice=False))
        if clash is None:
            return None
        if clash.kind == "contained" and any(sample.free for sample in passage.series):
            clash = replace(clash, kind="hard", note=f"{clash.note} at this time, but not always")
        if not passage.settled:
            clash = replace(clash, note=joined(clash.note, _SAMPLED))
        return Decision(clash, corners)

    def all(
        self, pairs: Sequence[tuple[int, int]], clearance: float, tolerance: Callable[[int, int], float], threads: Aside
    ) -> Iterator[tuple[int, int, Passage | None, Decision | None]]:
        """Yield the passage and the decision of each pair in order."""

        def decided(pair: tuple[int, int]) -> tuple[Passage | None, Decision | None]:
            try:
                passage = self.follow(*pair, tolerance(*pair))
                return passage, self.decide(*pair, passage, clearance, tolerance(*pair))
            except Exception as error:  # an error of one pair must not stop the run, and it is reported
                return None, Decision(unchecked(f"{type(error).__name__}: {error}"))

        for (i, j), (passage, decision) in threads.map(decided, pairs):
            if passage is not None:
                names = self.names[i], self.names[j]
                if not passage.settled:
                    self._sampled.append(" and ".join(names))
                # the error of a track that was computed from joints is not proven
                proven = passage.proven and not self._solved & {*names}
                intervals, _, least, when, inside, series, _ = passage
                self.courses.append(Course(*names, intervals, proven, least, when, inside, series))
            yield i, j, passage, decision
        if self._sampled:
            few = f"{', '.join(self._sampled[:_FEW])}{' and others' if len(self._sampled) > _FEW else ''}"
            self.notes.append(
                f"{count(len(self._sampled), 'pair')} of parts, {few}: {_SAMPLED}"
                f" ({MOST_SAMPLES} times were computed for each pair)"
            )

    def record(self) -> MotionRecord:
        """Return the record of the motion for the report."""
        begin, end = self.movement.times
        return MotionRecord(begin, end, self.movement.unit, tuple(self.courses), self.tracks)


def _decided(meshes: Sequence[Mesh], decider: Decider) -> tuple[Clash | None, Array | None]:
    a, b = meshes
    a._hush()  # a note of the report replaces the warning of an open mesh
    b._hush()
    hulls = Pairs([a.hull(), b.hull()]).signed_distance(np.array([[0, 1]]), np.tile(np.eye(4), (2, 1, 1)))[0]
    clash = decider.decide(a, b, hulls)
    return clash, decider.corners
