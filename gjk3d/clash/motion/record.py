"""What a report tells of a motion: when it was, what moved, and what each pair that came close did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from gjk3d.clash.motion.timeline import Passage
from gjk3d.clash.motion.track import Track
from gjk3d.typing import Array
from gjk3d.wording import json_ready

_STEADY = 1e-3  #: of a gap, or a depth: what varies no more is said to be the same throughout, as bounds are no nearer


@dataclass(frozen=True, slots=True)
class Course:
    """What two parts, of which one moves against the other, did to each other.

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
        """Return what is told of a passage.

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
        series = tuple((look.time, look.lower, look.upper, look.inside) for look in passage.looks)
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
        """Return what JSON has of it."""
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
