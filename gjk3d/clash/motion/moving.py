"""The pairs of which one part moves against the other, and their record in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.pieces import union_of
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.decider import Decider, Decision, joined, unchecked
from gjk3d.clash.detection.pairs import doubted_ways
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.detection.tolerances import Tolerances
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.motion.timeline import MOST_SAMPLES, Passage, Timeline, moved, swept_box
from gjk3d.clash.motion.track import Track, measured, pauses, solved, still
from gjk3d.convex.pairs import Pairs
from gjk3d.interrupts import Aside
from gjk3d.typing import Array
from gjk3d.wording import count, json_ready

_STEADY = 1e-3  #: of a gap, or a depth: what varies no more is said to be the same throughout, as bounds are no nearer


@dataclass(frozen=True, slots=True)
class Course:
    """The passage of two parts of which one moves against the other.

    Attributes
    ----------
    a, b : str
        Names of the parts.
    intervals : tuple of (float, float, float, float)
        When they clash: free before the first number, in clash from the second to the third, free from the fourth on.
    proven : bool
        Whether what is said here holds at every time, along the ways that were given (between two poses that is one
        steady screw). False where a way was solved for, whose error, `Track.slack`, is allowed for and only measured;
        where a clash from the second number to the third of an interval was seen at many times, not all; and where
        they slide on each other, and a clash between the times looked at is not excluded.
    least : (float, float)
        Bounds of the least clearance, both 0 where they touch or clash.
    when : float
        When the upper of these was seen, or the deepest clash.
    inside : float
        How deep the deepest known point of one then lies in the other, at least.
    series : tuple of (float, float, float, float)
        Times, with bounds of the gap and how deep they are inside at least; for a chart.
    """

    a: str
    b: str
    intervals: tuple[tuple[float, float, float, float], ...]
    proven: bool
    least: tuple[float, float]
    when: float
    inside: float
    series: tuple[tuple[float, float, float, float], ...] = field(repr=False, default=())

    @classmethod
    def of(cls, a: str, b: str, passage: Passage, solved: bool = False) -> Course:
        """Return the record of a passage.

        Parameters
        ----------
        a, b : str
            Names of the parts.
        passage : Passage
            What was found.
        solved : bool
            Whether one of their ways was solved for.
        """
        spans = tuple((span.after, span.begin, span.end, span.before) for span in passage.spans)
        proven = not solved and passage.settled and all(span.proven for span in passage.spans)
        series = tuple((sample.time, sample.lower, sample.upper, sample.inside) for sample in passage.samples)
        return cls(a, b, spans, proven, passage.least, passage.when, passage.inside, series)

    @property
    def is_steady(self) -> bool:
        """Whether they were as near, or as deep, at every time looked at."""
        values = [-inside if inside > 0.0 else upper for _, _, upper, inside in self.series]
        most = max(map(abs, values), default=inf)
        return len(values) > 1 and most < inf and max(values) - min(values) <= _STEADY * most


@dataclass(frozen=True)
class MotionRecord:
    """The motion of a report.

    Attributes
    ----------
    begin, end : float
        Times.
    unit : str
        Of time.
    pairs : tuple of Course
        Every pair of which one moves against the other and whose boxes, all along, come within the clearance; of all
        others it is proven that they stay farther apart.
    tracks : dict of str to Track
        By the names of the parts that move, against where the files have them; in their unit of length.
    """

    begin: float
    end: float
    unit: str
    pairs: tuple[Course, ...] = ()
    tracks: Mapping[str, Track] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def courses(self) -> dict[tuple[str, str], Course]:
        """The pairs by their names."""
        return {(pair.a, pair.b): pair for pair in self.pairs}

    def scaled(self, factor: float) -> MotionRecord:
        """Return it with what is told of pairs in another unit; the tracks stay, which go with the parts' triangles.

        Parameters
        ----------
        factor : float
            Of all lengths.
        """
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
        """Return where a part is at a time, (4, 4), against where it was drawn.

        Parameters
        ----------
        part : str
            Its name; one that does not move stays where it was drawn.
        time : float
            In the unit of the motion.
        """
        return self.tracks[part].pose(time) if part in self.tracks else np.eye(4)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it."""
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


_SAMPLED = "they slide on each other, and between the times looked at a deeper clash is not excluded"
_FEW = 3  #: names that a note has
TIMES = 1e-4  #: of the whole time: how near the two times are between which a clash begins


class Moving:
    """Follows the pairs that move against each other.

    Parameters
    ----------
    movement : Movement
        What moves.
    parts : sequence of AssemblyPart
        Those that could be loaded.
    unit : str or None
        Of their lengths.
    """

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
        self._sampled: list[str] = []  #: pairs at which nobody looked all of the time
        size = float(np.linalg.norm(np.ptp(self._bounds.reshape(-1, 3), axis=0))) if boxes else 0.0
        errors = solved(self.tracks, size)
        self._solved = errors.keys()
        self.notes = [*movement.notes, *measured(errors, size, unit)]
        self.notes += pauses(self.tracks, movement.times, movement.unit)

    def together(self, i: int, j: int) -> bool:
        """Return whether two parts do not move against each other."""
        return self.of[i] is self.of[j]

    def groups(self) -> list[list[int]]:
        """Return the parts that keep their places to each other, group by group."""
        by_track: dict[int, list[int]] = {}
        for k, track in enumerate(self.of):
            by_track.setdefault(id(track), []).append(k)
        return list(by_track.values())

    def close(self, clearance: float, tolerances: Tolerances) -> Iterator[tuple[int, int]]:
        """Yield the pairs that do not, i < j, and whose boxes, all along, come as near as is of interest."""
        standing = {id(track) for name, track in zip(self.names, self.of, strict=True) if name not in self.tracks}
        boxes = np.array(
            [
                mesh.bounds if id(track) in standing else swept_box(mesh, track)
                for mesh, track in zip(self.meshes, self.of, strict=True)
            ]
        ).reshape(-1, 2, 3)
        self.notes += doubted_ways(self.names, self._bounds, boxes, self._unit)
        for i in range(len(self.of)):
            later = np.arange(i + 1, len(self.of))
            gaps = np.maximum(boxes[i, 0] - boxes[i + 1 :, 1], boxes[i + 1 :, 0] - boxes[i, 1]).max(axis=1)
            reach = np.maximum(clearance, tolerances.of(i, later)) + self.slacks[i] + self.slacks[i + 1 :]
            for j in (np.flatnonzero(gaps <= reach) + i + 1).tolist():
                if not self.together(i, j):
                    yield i, j

    def follow(self, i: int, j: int, tolerance: float) -> Passage:
        """Return the passage of a pair."""
        begin, end = self.movement.times
        width, slack = TIMES * (end - begin), float(self.slacks[i] + self.slacks[j])
        return Timeline((self.meshes[i], self.meshes[j]), (self.of[i], self.of[j]), tolerance, width, slack).follow()

    def decide(self, i: int, j: int, passage: Passage, clearance: float, tolerance: float) -> Decision | None:
        """Return the finding of a pair at the time when it is nearest or deepest, None where it is free."""
        if not passage.spans and passage.least[0] >= clearance - tolerance and passage.least[0] > tolerance:
            return None
        meshes = [moved(union_of(self.meshes[k]).mesh, self.of[k].pose(passage.when)) for k in (i, j)]
        clash, corners = _decided(meshes, Decider(clearance, tolerance, {}))
        if clash is not None and clash.kind == "duplicate":
            # two equal parts that only pass each other are not one part that is there twice
            drawn, _ = _decided([self.meshes[i], self.meshes[j]], Decider(clearance, tolerance, {}))
            if drawn is None or drawn.kind != "duplicate":
                clash, corners = _decided(meshes, Decider(clearance, tolerance, {}, twice=False))
        if clash is None:
            return None
        if clash.kind == "contained" and any(sample.free for sample in passage.samples):
            clash = replace(clash, kind="hard", note=f"{clash.note} at that time, and is not always there")
        if not passage.settled:
            clash = replace(clash, note=joined(clash.note, _SAMPLED))
        return Decision(clash, corners)

    def all(
        self, pairs: Sequence[tuple[int, int]], clearance: float, tolerance: Callable[[int, int], float], threads: Aside
    ) -> Iterator[tuple[int, int, Passage | None, Decision | None]]:
        """Yield the passage and the decision of each pair, in the order of the pairs."""

        def decided(pair: tuple[int, int]) -> tuple[Passage | None, Decision | None]:
            try:
                passage = self.follow(*pair, tolerance(*pair))
                return passage, self.decide(*pair, passage, clearance, tolerance(*pair))
            except Exception as error:  # one pair must not take the others with it; it is said, never dropped
                return None, Decision(unchecked(f"{type(error).__name__}: {error}"))

        for (i, j), (passage, decision) in threads.map(decided, pairs):
            if passage is not None:
                names = self.names[i], self.names[j]
                if not passage.settled:
                    self._sampled.append(" and ".join(names))
                self.courses.append(Course.of(*names, passage, solved=bool(self._solved & {*names})))
            yield i, j, passage, decision
        if self._sampled:
            few = f"{', '.join(self._sampled[:_FEW])}{' and others' if len(self._sampled) > _FEW else ''}"
            self.notes.append(
                f"{count(len(self._sampled), 'pair')} of parts, {few}: {_SAMPLED}"
                f" (each was looked at {MOST_SAMPLES} times)"
            )

    def record(self) -> MotionRecord:
        """Return the record of the motion for the report."""
        begin, end = self.movement.times
        return MotionRecord(begin, end, self.movement.unit, tuple(self.courses), self.tracks)


def _decided(meshes: Sequence[Mesh], decider: Decider) -> tuple[Clash | None, Array | None]:
    """Return the finding of two meshes where they are, and the corners of their overlap."""
    a, b = meshes
    a._hush()  # the report says which are open
    b._hush()
    hulls = Pairs([a.hull(), b.hull()]).signed_distance(np.array([[0, 1]]), np.tile(np.eye(4), (2, 1, 1)))[0]
    clash = decider.decide(a, b, hulls)
    return clash, decider.corners


def timed(passage: Passage | None) -> dict[str, Any]:
    """Return the fields that a finding has besides those of its decision."""
    if passage is None:
        return {}
    return {
        "time": passage.when,
        "intervals": tuple((span.after, span.begin, span.end, span.before) for span in passage.spans),
        "least": passage.least,
    }
