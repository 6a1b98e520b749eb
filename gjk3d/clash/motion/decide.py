"""The pairs of a check of which one part moves against the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.pieces import union_of
from gjk3d.clash.decide import Decider, Verdict, joined, unchecked
from gjk3d.clash.doubts import doubted_ways
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.motion.record import Course, MotionRecord
from gjk3d.clash.motion.timeline import LOOKS, Passage, Timeline, moved, swept_box
from gjk3d.clash.motion.track import measured, pauses, solved, still
from gjk3d.clash.nearness import Tolerances
from gjk3d.clash.parts import AssemblyPart
from gjk3d.convex.pairs import Pairs
from gjk3d.interrupts import Aside
from gjk3d.wording import count

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
        """Tell whether two parts keep their places to each other."""
        return self.of[i] is self.of[j]

    def groups(self) -> list[list[int]]:
        """Return the parts that keep their places to each other, group by group."""
        found: dict[int, list[int]] = {}
        for k, track in enumerate(self.of):
            found.setdefault(id(track), []).append(k)
        return list(found.values())

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
            others = np.arange(i + 1, len(self.of))
            gaps = np.maximum(boxes[i, 0] - boxes[i + 1 :, 1], boxes[i + 1 :, 0] - boxes[i, 1]).max(axis=1)
            reach = np.maximum(clearance, tolerances.of(i, others)) + self.slacks[i] + self.slacks[i + 1 :]
            for j in (np.flatnonzero(gaps <= reach) + i + 1).tolist():
                if not self.together(i, j):
                    yield i, j

    def follow(self, i: int, j: int, tolerance: float) -> Passage:
        """Return what a pair does."""
        begin, end = self.movement.times
        width, slack = TIMES * (end - begin), float(self.slacks[i] + self.slacks[j])
        return Timeline((self.meshes[i], self.meshes[j]), (self.of[i], self.of[j]), tolerance, width, slack).follow()

    def verdict(self, i: int, j: int, passage: Passage, clearance: float, tolerance: float) -> Verdict | None:
        """Return what the pair is when it is nearest, or deepest, in the places of that time."""
        if not passage.spans and passage.least[0] >= clearance - tolerance and passage.least[0] > tolerance:
            return None
        there = [moved(union_of(self.meshes[k]).mesh, self.of[k].pose(passage.when)) for k in (i, j)]
        found = _decided(there, Decider(clearance, tolerance, {}))
        if found is not None and found.kind == "duplicate":
            drawn = _decided([self.meshes[i], self.meshes[j]], Decider(clearance, tolerance, {}))
            if drawn is None or drawn.kind != "duplicate":
                found = _decided(there, Decider(clearance, tolerance, {}, twice=False))
        if found is None:
            return None
        if found.kind == "contained" and any(look.free for look in passage.looks):
            found = found._replace(kind="hard", note=f"{found.note} at that time, and is not always there")
        return found if passage.settled else found._replace(note=joined(found.note, _SAMPLED))

    def all(
        self, pairs: Sequence[tuple[int, int]], clearance: float, tolerance: Callable[[int, int], float], threads: Aside
    ) -> Iterator[tuple[int, int, Passage | None, Verdict | None]]:
        """Yield what each pair does, and its verdict, in the order of the pairs."""

        def decided(pair: tuple[int, int]) -> tuple[Passage | None, Verdict | None]:
            try:
                passage = self.follow(*pair, tolerance(*pair))
                return passage, self.verdict(*pair, passage, clearance, tolerance(*pair))
            except Exception as error:  # one pair must not take the others with it; it is said, never dropped
                return None, unchecked(f"{type(error).__name__}: {error}")

        for (i, j), (passage, verdict) in threads.map(decided, pairs):
            if passage is not None:
                names = self.names[i], self.names[j]
                if not passage.settled:
                    self._sampled.append(" and ".join(names))
                self.courses.append(Course.of(*names, passage, solved=bool(self._solved & {*names})))
            yield i, j, passage, verdict
        if self._sampled:
            few = f"{', '.join(self._sampled[:_FEW])}{' and others' if len(self._sampled) > _FEW else ''}"
            self.notes.append(
                f"{count(len(self._sampled), 'pair')} of parts, {few}: {_SAMPLED} (each was looked at {LOOKS} times)"
            )

    def record(self) -> MotionRecord:
        """Return what the report says of it."""
        begin, end = self.movement.times
        return MotionRecord(begin, end, self.movement.unit, tuple(self.courses), self.tracks)


def _decided(meshes: Sequence[Mesh], decider: Decider) -> Verdict | None:
    a, b = meshes
    a._hush()  # the report says which are open
    b._hush()
    hulls = Pairs([a.hull(), b.hull()]).signed_distance(np.array([[0, 1]]), np.tile(np.eye(4), (2, 1, 1)))[0]
    return decider.decide(a, b, hulls)


def timed(passage: Passage | None) -> dict[str, Any]:
    """Return the fields that a finding has besides those of its verdict."""
    if passage is None:
        return {}
    return {
        "time": passage.when,
        "intervals": tuple((span.after, span.begin, span.end, span.before) for span in passage.spans),
        "least": passage.least,
    }
