"""Times at which moving parts clash, and the record of each pair of parts that move relative to each other.

`Timeline` computes the times of a pair. For disjoint parts, the time of impact certifies an interval without a clash,
forward and backward in time. For parts with a point at a depth d inside both, a clash is certified for all times at
which the parts have moved relative to each other by less than d. For surfaces without a volume, d is the length by
which one surface reaches through the other. All other intervals are halved.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import copysign, inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.depth.depth import deepest_inside
from gjk3d.bodies.impact import impact
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import intersection, solid, union_of
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.decider import LOOKED_AT, BodyPair, Decider, Decision, joined, shared_depth, unchecked
from gjk3d.clash.detection.pairs import boxes_close, doubted_ways
from gjk3d.clash.detection.parts import AssemblyPart, Tolerances
from gjk3d.clash.documents import Interval
from gjk3d.clash.motion.movement import Movement, Track, measured, pauses, pieces, solved, still
from gjk3d.engine.pairs import Pairs
from gjk3d.narrow.toi import FREE
from gjk3d.poses import UNIT_ROUNDOFF, pose_rows, relative
from gjk3d.scale import Aside
from gjk3d.typing import Array
from gjk3d.wording import count, json_ready

# --- times of clashes ------------------------------------------------------------------------------------------------

MOST_SAMPLES = 400  #: the largest number of times at which a pair is computed to enclose its clashes
_SERIES = 97  #: the number of times at which a pair is computed for a chart
_TIGHT = 1e-3  #: the relative width of the bounds of the smallest clearance
_DESCENTS = 40  #: the largest number of steps to a lower clearance
_GOLD = 0.6180339887498949  #: the inverse of the golden ratio

#: A function of the begin and the end of an interval, which stores it for later.
Leave = Callable[[float, float], None]


class Sample(NamedTuple):
    """Bounds ``lower`` and ``upper`` of the gap of a pair at a time, both 0 in contact, and a depth ``inside``.

    ``inside`` is a lower bound of the depth. For surfaces without a volume, it is the length by which one surface
    reaches through the other.
    """

    time: float
    lower: float
    upper: float
    inside: float

    @property
    def free(self) -> bool:
        """Whether the parts are certified to be apart."""
        return self.lower > 0.0

    @property
    def value(self) -> float:
        """The upper bound of the gap, or ``-inside`` for parts that are not certified to be apart."""
        return self.upper if self.free else -self.inside


class Passage(NamedTuple):
    """The clashes and the smallest clearance of a pair over the whole motion.

    ``settled`` is whether a clash is excluded at all times outside of the intervals. `Course` describes the other
    fields.
    """

    intervals: tuple[Interval, ...]
    proven: bool
    least: tuple[float, float]
    when: float
    inside: float
    series: tuple[Sample, ...]
    settled: bool


class Timeline:
    """The computation of the `Passage` of two meshes on their tracks.

    The begin and the end of a clash are determined with an error of at most the duration ``width``. ``slack`` is the
    sum of the position errors of the vertices of both meshes. ``tolerance`` is the largest depth that is not a clash.
    """

    def __init__(
        self,
        meshes: tuple[Mesh, Mesh],
        tracks: tuple[Track, Track],
        tolerance: float,
        width: float,
        slack: float = 0.0,
    ) -> None:
        self.a, self.b = (union_of(mesh).mesh for mesh in meshes)
        self.one, self.two = tracks
        self.begin = float(min(self.one.times[0], self.two.times[0]))
        self.end = float(max(self.one.times[-1], self.two.times[-1]))
        self.tolerance, self.width = tolerance, width
        self.slack = self.one.slack + self.two.slack + slack
        self._speeds = self.one.speeds(self.a.bounds), self.two.speeds(self.b.bounds)
        self._closed = self.a.is_watertight or self.b.is_watertight
        self._samples: dict[float, Sample] = {}
        self._solids: tuple[Any, Any] | None = None

    # --- at one time -----------------------------------------------------------------------------------------------

    def sample(self, time: float) -> Sample:
        """Return the bounds of the gap and the depth of the pair at a time, from a cache after the first call."""
        if time not in self._samples:
            self._samples[time] = self._compute(time)
        return self._samples[time]

    def _compute(self, time: float) -> Sample:
        rows, _ = pose_rows(np.stack([self.one.pose(time), self.two.pose(time)]))
        pair = MeshPair.of(self.a, self.b, relative(rows[0], rows[1]))
        if pair.surfaces_meet() or pair.held() is not None:
            inside = deepest_inside(pair) if self._closed else 0.0
            if inside <= self.tolerance:
                inside = max(inside, self._shared(pair))
            return Sample(time, 0.0, 0.0, max(0.0, inside - self.slack))
        gap = pair.nearest()
        return Sample(time, max(0.0, gap.lower - self.slack), gap.upper + self.slack, 0.0)

    def _shared(self, pair: MeshPair) -> float:
        """Return the lower bound of the depth that `shared_depth` computes.

        For surfaces without a volume, the result is the length by which one surface reaches through the other.
        """
        # vertices do not show the depth of two parts with coplanar faces, because none is deep inside the other part
        if self._solids is None:
            self._solids = solid(self.a), solid(self.b)
        solid_a, solid_b = self._solids
        if solid_a is None or solid_b is None:
            return pair.through(LOOKED_AT)
        shared, placed = intersection(solid_a, solid_b, pair.m), BodyPair(self.a, self.b, pair.m)
        through = pair.through(LOOKED_AT) if placed.any_hanging else 0.0
        if shared is None or not shared.volume > 0.0:
            return through
        return max(through, shared_depth(placed, shared)[0])

    # --- from a time on --------------------------------------------------------------------------------------------

    def advance(self, begin: float, end: float, clearance: float) -> tuple[float, float]:
        """Return a time until which the gap certainly exceeds ``clearance``, and a time at which the gap is smaller.

        The certified interval starts at ``begin``. Both times are ``end`` if the interval reaches ``end``. ``end`` may
        be before ``begin``.
        """
        for piece in pieces(self.one, self.two, begin, end):
            code, free, hit, _ = impact(self.a, self.b, piece.rows, clearance + self.slack)
            if code != FREE:
                duration = piece.end - piece.begin
                # the times and the shares of a motion at both ends are rounded
                early = 8.0 * UNIT_ROUNDOFF * max(abs(piece.begin), abs(piece.end))
                proven = piece.begin + copysign(max(0.0, abs(free * duration) - early), duration)
                return proven, piece.begin + min(1.0, hit) * duration
        return end, end

    # --- all of it -------------------------------------------------------------------------------------------------

    def follow(self) -> Passage:
        """Return the clashes and the smallest clearance over the whole motion."""
        samples = [self.sample(t) for t in np.linspace(self.begin, self.end, _SERIES).tolist()]
        if all(sample.free for sample in samples):
            nearest = self._least(min(samples, key=lambda sample: sample.value))
            if nearest is not None:
                return self._result((), True, *nearest)
        return self._contacts()

    def _least(self, best: Sample) -> tuple[tuple[float, float], float] | None:
        """Return bounds of the smallest clearance and the time of the upper bound, or None if a contact is possible."""
        # an interval that is certified for a clearance is certified for each smaller one, so the search never restarts
        best, share, time, lower = self._best(best), _TIGHT, self.begin, inf
        for _ in range(_DESCENTS):
            lower = min(lower, (1.0 - share) * (best.upper - self.slack) - self.slack)
            if not lower > 0.0:
                return None
            time, hit = self.advance(time, self.end, lower)
            if time == self.end:
                return (lower, best.upper), best.time
            sample = self._best(self.sample(hit))
            if not sample.free:
                return None
            if sample.upper < best.upper:
                best = sample
            else:  # the bounds are too narrow, so a lower clearance is tried
                share = min(0.5, 4.0 * share) if share < 0.5 else 0.5 + 0.5 * share
        return None

    def _contacts(self) -> Passage:
        """Return the passage of a pair that is in contact at some time, or not certified to be disjoint."""
        free: list[tuple[float, float]] = []  # certified intervals without and with a clash
        clash: list[tuple[float, float]] = []
        todo: list[tuple[float, float, float]] = []  # all other intervals in a heap, the longest first
        edges: set[float] = set()  # ends of intervals with a clash

        def leave(begin: float, end: float) -> None:
            if end > begin:
                heapq.heappush(todo, (begin - end, begin, end))

        for time in (self.begin, self.end):
            if self.sample(time).inside > self.tolerance:
                clash.append((time, time))
                edges.add(time)
        self._from(self.begin, self.begin, self.end, free, leave)
        count = 0
        while todo and count < MOST_SAMPLES:
            _, begin, end = heapq.heappop(todo)
            # an upper bound of the relative speed of any two points of the pair
            speed = sum(
                float(speeds[track.which(begin) : track.which(end) + 1].max())
                for track, speeds in zip((self.one, self.two), self._speeds, strict=True)
            )
            speed, middle = max(speed, 1e-300), 0.5 * (begin + end)
            if begin in edges or end in edges:
                is_short = end - begin <= self.width
            else:  # the parts are free at both ends and cannot move deeper between
                is_short = speed * (end - begin) <= self.tolerance
            if is_short or not begin < middle < end:
                continue
            count += 1
            sample = self.sample(middle)
            if sample.free:
                self._from(middle, begin, end, free, leave)
                continue
            radius = (sample.inside - self.tolerance) / speed
            first, last = middle, middle
            if radius > 0.0:
                first, last = max(begin, middle - radius), min(end, middle + radius)
                clash.append((first, last))
                edges |= {first, last}
            leave(begin, first)
            leave(last, end)
        intervals, proven = self._intervals(sorted(free), sorted(clash))
        # samples that are not certified to be free have a gap of 0 only if the surfaces intersect
        worst = self._best(min(self._samples.values(), key=lambda sample: (sample.value, sample.upper)))
        return self._result(intervals, proven, (0.0, worst.upper), worst.time, settled=not todo)

    def _from(self, time: float, begin: float, end: float, free: list[tuple[float, float]], leave: Leave) -> None:
        """Add the certified free interval around ``time`` to ``free``.

        The rest of the interval from ``begin`` to ``end`` is passed to ``leave``.
        """
        if not self.sample(time).free:
            leave(begin, end)
            return
        earliest = time if time <= begin else self.advance(time, begin, 0.0)[0]
        latest = time if time >= end else self.advance(time, end, 0.0)[0]
        # the whole motion is searched from both ends
        if latest < end and begin == self.begin and end == self.end and self.sample(end).free:
            last = self.advance(end, latest, 0.0)[0]
            free.append((last, end))
            end = last
        free.append((earliest, latest))
        leave(begin, earliest)
        leave(latest, end)

    def _result(
        self,
        intervals: tuple[Interval, ...],
        proven: bool,
        least: tuple[float, float],
        when: float,
        settled: bool = True,
    ) -> Passage:
        series = tuple(sorted(self._samples.values()))
        return Passage(intervals, proven and settled, least, when, self.sample(when).inside, series, settled)

    def _intervals(
        self, free: list[tuple[float, float]], clash: list[tuple[float, float]]
    ) -> tuple[tuple[Interval, ...], bool]:
        """Return the intervals of clashes, and whether a clash is certified from the second to the third time of each.

        ``free`` and ``clash`` are the certified intervals without and with a clash, in ascending order.
        """
        intervals: list[Interval] = []
        proven = True
        for begin, end in clash:
            after = max((last for _, last in free if last <= begin), default=self.begin)
            before = min((first for first, _ in free if first >= end), default=self.end)
            if intervals and intervals[-1][0] == after:
                _, first, last, _ = intervals[-1]
                proven &= begin - last <= self.width
                intervals[-1] = after, first, end, before
            else:
                intervals.append((after, begin, end, before))
        return tuple(intervals), proven

    def _best(self, start: Sample) -> Sample:
        """Return the sample with the smallest value between the neighbours of ``start``, by golden-section search."""
        times = sorted(self._samples)
        k = times.index(start.time)
        low, high = times[max(0, k - 1)], times[min(len(times) - 1, k + 1)]
        best = start
        while high - low > self.width:
            left, right = high - _GOLD * (high - low), low + _GOLD * (high - low)
            first, second = self.sample(left), self.sample(right)
            best = min(best, first, second, key=lambda sample: sample.value)
            if first.value < second.value:
                high = right
            else:
                low = left
        return best


def swept_box(mesh: Mesh, track: Track) -> Array:
    """Return a box (2, 3) that contains a mesh over its whole track."""
    poses, bends = track.places(0.1)
    points = mesh.hull().points
    low, high = np.full(3, inf), np.full(3, -inf)
    for pose in poses:
        placed = points @ pose[:3, :3].T + pose[:3, 3]
        low, high = np.minimum(low, placed.min(axis=0)), np.maximum(high, placed.max(axis=0))
    arms = np.abs(mesh.bounds[None] - track.rows[:, None, 18:21]).max(axis=1)
    more = float((bends * np.linalg.norm(arms, axis=1)).max()) + track.slack + 1e-12 * float(np.abs([low, high]).max())
    return np.stack([low - more, high + more])


# --- pairs of moving parts -------------------------------------------------------------------------------------------

_STEADY = 1e-3  #: the largest relative variation of a constant gap or depth, which is the width of its bounds


@dataclass(frozen=True, slots=True)
class Course:
    """The record of a pair of parts that move relative to each other.

    Attributes
    ----------
    a, b : str
        The names of the parts.
    intervals : tuple of (float, float, float, float)
        The times of each clash. The parts are free before the first time, clash from the second to the third time, and
        are free after the fourth time.
    proven : bool
        Whether all values are certified at every time. Parts are assumed to move from pose to pose by a steady screw
        motion. ``proven`` is False if a track was computed from joints, because the error of such a track is only
        measured. It is also False if a clash between the second and the third time of an interval was found only at
        samples, or if parts that slide on each other may clash between samples.
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
        """Whether the gap or the depth is constant at all computed times, up to a relative variation of 1e-3."""
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
        """Return the record with the lengths of its pairs times ``factor``. The tracks are not changed."""
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
    """A solver for pairs that move relative to each other. ``parts`` are the parts that could be loaded."""

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
        """Return whether the parts i and j do not move relative to each other."""
        return self.of[i] is self.of[j]

    def groups(self) -> list[list[int]]:
        """Return the groups of parts that do not move relative to each other, as lists of part indices."""
        by_track: dict[int, list[int]] = {}
        for k, track in enumerate(self.of):
            by_track.setdefault(id(track), []).append(k)
        return list(by_track.values())

    def close(self, clearance: float, tolerances: Tolerances) -> list[tuple[int, int]]:
        """Return the pairs (i < j) that move relative to each other and whose swept boxes are near each other.

        Boxes are near if their gap is at most the clearance or the tolerance of the pair, whichever is larger.
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
        """Return the finding of the parts i and j at the time ``passage.when``, or None for a free pair."""
        if not passage.intervals and passage.least[0] >= clearance - tolerance and passage.least[0] > tolerance:
            return None
        poses = [self.of[k].pose(passage.when) for k in (i, j)]
        bodies = [union_of(self.meshes[k]).mesh for k in (i, j)]
        meshes = [body._mapped(pose[:3, :3], pose[:3, 3]) for body, pose in zip(bodies, poses, strict=True)]
        clash, corners = _decided(meshes, Decider(clearance, tolerance, {}))
        if clash is not None and clash.kind == "duplicate":
            # equal parts that coincide only for a moment are not a duplicate
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
        """Yield i, j, the passage and the decision of each pair (i, j) in order.

        The passage is None after an error. The decision is None for a free pair.
        """

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
                f" (at most {MOST_SAMPLES} times were computed for each pair)"
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
