"""Two moving parts over time: when they clash, and their least clearance.

For disjoint parts the time of impact proves up to when they stay disjoint, from either side. A point at a depth inside
the other part stays inside until the two can have moved by that depth. The same holds for surfaces that cross. The
intervals that remain between are halved.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from math import copysign, inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.depth.depth import deepest_inside
from gjk3d.bodies.impact import impact
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.pieces import solid, union_of
from gjk3d.clash.detection.overlap import LOOKED_AT, BodyPair, intersection, shared_depth
from gjk3d.clash.motion.track import Track, pieces
from gjk3d.narrow.toi import FREE
from gjk3d.poses import UNIT_ROUNDOFF, pose_rows, relative
from gjk3d.typing import Array

MOST_SAMPLES = 400  #: at a pair, at most, to find out when it clashes
_SERIES = 97  #: times at which the distance is taken for a chart
_TIGHT = 1e-3  #: of the least clearance: how near its bounds shall be
_DESCENTS = 40  #: steps to a lower clearance
_GOLD = 0.6180339887498949

#: Receives an interval that has to be examined.
Leave = Callable[[float, float], None]


class Sample(NamedTuple):
    """A pair at a time: bounds of the gap, which is 0 in contact, and a lower bound of the depth.

    For surfaces that bound no solid the depth is the distance by which they reach through each other.
    """

    time: float
    lower: float
    upper: float
    inside: float

    @property
    def free(self) -> bool:
        """Whether the two are apart, proven."""
        return self.lower > 0.0

    @property
    def value(self) -> float:
        """The gap, negative by how deep the deepest known point is."""
        return self.upper if self.free else -self.inside


class Span(NamedTuple):
    """An interval of time in which two parts clash: free before `after`, and behind `before`; in clash within.

    Attributes
    ----------
    after, begin, end, before : float
        The clash begins between the first two times and ends between the last two.
    proven : bool
        Whether they clash at every time from `begin` to `end`; else that was seen at many times between.
    """

    after: float
    begin: float
    end: float
    before: float
    proven: bool


class Passage(NamedTuple):
    """The result of following a pair.

    Attributes
    ----------
    spans : tuple of Span
        When they clash.
    least : (float, float)
        Bounds of the least clearance; where they clash, both are 0.
    when : float
        When the upper of these was seen, or they were deepest.
    inside : float
        How deep, at least, where they clash.
    samples : tuple of Sample
        By time, for a chart.
    settled : bool
        Whether no time is left at which they could be in clash and nobody has looked.
    """

    spans: tuple[Span, ...]
    least: tuple[float, float]
    when: float
    inside: float
    samples: tuple[Sample, ...]
    settled: bool = True


class Timeline:
    """Follows two meshes on their tracks.

    Parameters
    ----------
    meshes : two Mesh
        Where they were drawn.
    tracks : two Track
        Their ways.
    tolerance : float
        Overlap up to which they touch and do not clash.
    width : float
        How near the two times shall be between which a clash begins, or ends.
    slack : float, default 0
        How far the meshes may be from where they are said to be, together.
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
        """Return the sample at a time."""
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
        """Return how deep the two overlap by a point within both: of what lies face on face no surface is deep.

        It is as far from both surfaces, together, as the two must move to be free. Surfaces that bound no solid are so
        deep as they reach through each other.
        """
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

    def _speed(self, begin: float, end: float) -> float:
        """Bound how fast any two points of the pair move to each other between two times."""
        total = 0.0
        for track, speeds in zip((self.one, self.two), self._speeds, strict=True):
            total += float(speeds[track.which(begin) : track.which(end) + 1].max())
        return total

    # --- from a time on --------------------------------------------------------------------------------------------

    def advance(self, begin: float, end: float, clearance: float) -> tuple[float, float]:
        """Return up to when the pair is apart by more than the clearance, also back in time, and when it no more is.

        The second is ``end`` where it is apart all along.
        """
        for piece in pieces(self.one, self.two, begin, end):
            code, free, hit, _ = impact(self.a, self.b, piece.rows, clearance + self.slack)
            if code != FREE:
                duration = piece.end - piece.begin
                # The time is rounded, and so is the share of a motion at either end of the piece.
                early = 8.0 * UNIT_ROUNDOFF * max(abs(piece.begin), abs(piece.end))
                proven = piece.begin + copysign(max(0.0, abs(free * duration) - early), duration)
                return proven, piece.begin + min(1.0, hit) * duration
        return end, end

    # --- all of it -------------------------------------------------------------------------------------------------

    def follow(self) -> Passage:
        """Return the passage over all of the time."""
        samples = [self.sample(t) for t in np.linspace(self.begin, self.end, _SERIES).tolist()]
        if all(sample.free for sample in samples):
            nearest = self._least(min(samples, key=lambda sample: sample.value))
            if nearest is not None:
                return self._result((), *nearest)
        return self._contacts()

    def _least(self, best: Sample) -> tuple[tuple[float, float], float] | None:
        """Return bounds of the least clearance, and when the upper one was seen; None where the two meet, or may.

        What was proven of a greater clearance holds of a lesser one: no time is gone through twice.
        """
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
            else:  # too near to be told: ask for less
                share = min(0.5, 4.0 * share) if share < 0.5 else 0.5 + 0.5 * share
        return None

    def _contacts(self) -> Passage:
        """Return the passage of a pair that touches at some time, or that is not proven to stay disjoint."""
        free: list[tuple[float, float]] = []
        clash: list[tuple[float, float]] = []
        todo: list[tuple[float, float, float]] = []
        edges: set[float] = set()  # of what is in clash

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
            speed = max(self._speed(begin, end), 1e-300)
            middle = 0.5 * (begin + end)
            if self._narrow(begin, end, speed, edges) or not begin < middle < end:
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
        return self._passage(free, clash)._replace(settled=not todo)

    def _narrow(self, begin: float, end: float, speed: float, edges: set[float]) -> bool:
        """Tell whether enough is known between two times: when a clash begins or ends, or that they only touch."""
        if begin in edges or end in edges:
            return end - begin <= self.width
        return speed * (end - begin) <= self.tolerance  # free before and after: nothing moves farther in than that

    def _from(self, time: float, begin: float, end: float, free: list[tuple[float, float]], leave: Leave) -> None:
        """Note how long the pair is apart on either side of a time, and leave what is beyond."""
        if not self.sample(time).free:
            leave(begin, end)
            return
        earliest = time if time <= begin else self.advance(time, begin, 0.0)[0]
        latest = time if time >= end else self.advance(time, end, 0.0)[0]
        if (
            latest < end and begin == self.begin and end == self.end and self.sample(end).free
        ):  # the first: from both ends
            last = self.advance(end, latest, 0.0)[0]
            free.append((last, end))
            end = last
        free.append((earliest, latest))
        leave(begin, earliest)
        leave(latest, end)

    def _passage(self, free: list[tuple[float, float]], clash: list[tuple[float, float]]) -> Passage:
        spans = self._spans(sorted(free), sorted(clash))
        # of samples that prove nothing free, those at which surfaces meet have no gap at all
        worst = self._best(min(self._samples.values(), key=lambda sample: (sample.value, sample.upper)))
        return self._result(tuple(spans), (0.0, worst.upper), worst.time)

    def _result(self, spans: tuple[Span, ...], least: tuple[float, float], when: float) -> Passage:
        return Passage(spans, least, when, self.sample(when).inside, tuple(sorted(self._samples.values())))

    def _spans(self, free: list[tuple[float, float]], clash: list[tuple[float, float]]) -> list[Span]:
        """Return the intervals of clash: what lies between two free ones, unless it is only a touch."""
        spans: list[Span] = []
        for begin, end in clash:
            after = max((last for _, last in free if last <= begin), default=self.begin)
            before = min((first for first, _ in free if first >= end), default=self.end)
            if spans and spans[-1].after == after:
                last = spans[-1]
                joined = last.proven and begin - last.end <= self.width
                spans[-1] = last._replace(end=end, before=before, proven=joined)
            else:
                spans.append(Span(after, begin, end, before, True))
        return spans

    def _best(self, start: Sample) -> Sample:
        """Return the nearest, or the deepest, sample around a time: by golden section between its neighbours."""
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


def moved(mesh: Mesh, pose: Array) -> Mesh:
    """Return a mesh at a pose."""
    return mesh._mapped(pose[:3, :3], pose[:3, 3])


def swept_box(mesh: Mesh, track: Track) -> Array:
    """Return a box (2, 3) that holds a mesh all along its way."""
    poses, bends = track.places(0.1)
    points = mesh.hull().points
    low, high = np.full(3, inf), np.full(3, -inf)
    for pose in poses:
        placed = points @ pose[:3, :3].T + pose[:3, 3]
        low, high = np.minimum(low, placed.min(axis=0)), np.maximum(high, placed.max(axis=0))
    arms = np.abs(mesh.bounds[None] - track.rows[:, None, 18:21]).max(axis=1)
    more = float((bends * np.linalg.norm(arms, axis=1)).max()) + track.slack + 1e-12 * float(np.abs([low, high]).max())
    return np.stack([low - more, high + more])
