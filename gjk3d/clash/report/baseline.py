"""Earlier reports: reading JSON files that may be damaged, conversion of units, and comparison with a later run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.documents import Ascii, Count, Interval, Number, convert, parse_document
from gjk3d.clash.motion.movement import Track
from gjk3d.clash.motion.moving import Course, MotionRecord
from gjk3d.clash.report.report import BY_DEFAULT, SCHEMA_VERSION, Input, PartRow, Report
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion
from gjk3d.wording import count


class _CourseFile(msgspec.Struct):
    """A `Course` in JSON, which has null for infinity."""

    a: str
    b: str
    intervals: tuple[Interval, ...]
    proven: bool
    least: tuple[Number, Number]
    when: Number
    inside: Number
    series: tuple[tuple[Number, Number | None, Number | None, Number | None], ...] = ()

    def course(self) -> Course:
        values = msgspec.structs.asdict(self)
        values["series"] = tuple(tuple(inf if x is None else x for x in row) for row in self.series)
        return Course(**values)


class _TrackFile(msgspec.Struct):
    """A `Track` in JSON, with the names of its parts."""

    parts: list[str]
    times: list[Number]
    rows: list[Annotated[list[Number], msgspec.Meta(min_length=21, max_length=21)]]
    slack: Number = 0.0

    def track(self, where: str) -> Track:
        """Return the track. Raise a ParseError if a motion is not rigid, or the number of times is wrong."""
        times, rows = np.array(self.times), np.array(self.rows).reshape(-1, 21)
        if len(rows) < 1 or len(times) != len(rows) + 1 or not (np.diff(times) > 0.0).all():
            raise ParseError(
                f"{where} has {count(times.size, 'time')} and {count(len(rows), 'motion')}, expected one time more than"
                " motions, in ascending order. Write the file again, because it is damaged."
            )
        turns = rows[:, :9].reshape(-1, 3, 3)
        if np.abs(turns).max() > 2.0 or np.abs(turns @ turns.swapaxes(1, 2) - np.eye(3)).max() > 1e-6:
            raise ParseError(
                f"{where} has a motion whose first matrix is not a rotation. Write the file again, because it is "
                "damaged."
            )
        return Track(times, rows, self.slack)


class _MotionFile(msgspec.Struct):
    """A `MotionRecord` in JSON."""

    begin: Number
    end: Number
    unit: str
    pairs: list[_CourseFile] = []
    tracks: list[_TrackFile] = []

    def record(self, where: str) -> MotionRecord:
        """Return the record of the motion. Raise a ParseError if its tracks or times are damaged."""
        tracks = [(item.parts, item.track(f"{where}, track {k + 1}")) for k, item in enumerate(self.tracks)]
        if tracks and not self.begin < self.end:
            raise ParseError(
                f"{where} begins at {self.begin:g} and ends at {self.end:g}, expected a later end. Write the file "
                "again, because it is damaged."
            )
        by_name = {name: track for names, track in tracks for name in names}
        return MotionRecord(self.begin, self.end, self.unit, tuple(pair.course() for pair in self.pairs), by_name)


class _ReportFile(msgspec.Struct):
    """The fields of a report in JSON that are read."""

    clashes: list[Clash]
    clearance: Number
    tolerance: Number
    unit: Ascii | None = None
    pairs_total: Count = 0
    pairs_close: Count = 0
    pairs_tested: Count = 0
    complete: bool = True
    elapsed: Number = 0.0
    settings: dict[str, Any] = {}
    inputs: tuple[Input, ...] = ()
    parts: list[PartRow] = []
    left_out: dict[str, Any] = {}
    motion: _MotionFile | None = None


_LENGTHS = (
    "distance", "depth", "mtv", "point_a", "point_b", "point", "overlap_box", "error_bound", "tolerance", "convex_gap",
    "penetration", "least",
)  # fmt: skip


def read_baseline(source: str | os.PathLike[str] | Report | None) -> Report | None:
    """Return the earlier report ``source``, which is read if it is the path of a JSON file. None returns None."""
    if isinstance(source, Report) and source.left_out:
        raise ParseError("the baseline contains only the worst findings. Make it again with check(..., keep=None).")
    return source if source is None or isinstance(source, Report) else read_report(source)


def read_report(source: str | os.PathLike[str]) -> Report:
    """Return the report in a JSON file. The report lacks triangles."""
    path = Path(source)
    if not os.path.isfile(path):
        raise FileError(f"the report {path} does not exist. Write it with gjk3d clash MODELS -f json -o {path}.")
    cure = "Write a report with gjk3d clash -f json."
    document = parse_document(path.read_bytes(), str(path), "clash", SCHEMA_VERSION, "a report of gjk3d clash", cure)
    read = convert(document, _ReportFile, str(path))
    if read.left_out:
        raise ParseError(f"{path} contains only the worst findings. Make it again with check(..., keep=None).")
    values = msgspec.structs.asdict(read) | {"left_out": {}}
    values["motion"] = None if read.motion is None else read.motion.record(f"{path}, motion")
    return Report(**values)


def in_unit(before: Report, unit: str | None, what: str, later: str) -> Report:
    """Return an earlier report with its lengths converted to ``unit``, the unit of a later report or assembly.

    Raise a ParseError if lengths cannot be converted. Its message names the reports ``what`` and ``later``.
    """
    if before.unit == unit:
        return before
    factor = None if before.unit is None or unit is None else conversion(before.unit, unit)
    if factor is None:
        raise ParseError(
            f"{what} {_in(before.unit)} and {later} {_in(unit)}, so their lengths cannot be compared."
            " Make one of them again with its unit: unit='mm' in Python, --unit mm on the command line."
        )
    return replace(
        before,
        clashes=tuple(converted(clash, factor, str(before.unit)) for clash in before.clashes),
        parts=tuple(replace(part, bounds=_times(part.bounds, factor)) for part in before.parts),
        unit=unit,
        clearance=before.clearance * factor,
        tolerance=before.tolerance * factor,
        motion=None if before.motion is None else before.motion.scaled(factor),
    )


def _in(unit: str | None) -> str:
    return "states no unit" if unit is None else f"is in {unit}"


def converted(clash: Clash, factor: float, unit: str | None) -> Clash:
    """Return a finding with all lengths times ``factor``.

    Lengths in the note are not converted. If the note has numbers, it is extended by ``unit``, the unit before the
    conversion.
    """
    if factor == 1.0:
        return clash
    values = {name: _times(getattr(clash, name), factor) for name in _LENGTHS}
    values["overlap_volume"] = _times(clash.overlap_volume, factor**3)
    if any(c.isdigit() for c in clash.note):  # the lengths in the text cannot be converted
        values["note"] = f"{clash.note} (in {unit})"
    return replace(clash, **values)


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_times(item, factor) for item in value)
    return None if value is None else value * factor


def readable(report: Report) -> Report:
    """Return a report in the unit that is easiest to read. The triangles of its assembly are not converted."""
    return in_unit(report, report.reading[0], "the report", "the page")


def differences(before: Report, after: Report) -> list[tuple[str, str]]:
    """Return the settings that differ between two reports of the same unit, as pairs of texts (before, after).

    The compared settings are the clearance, the tolerance, and whether there is a motion. Two default tolerances are
    not compared.
    """
    unit, factor = after.reading
    ending = f" {unit}" if unit else ""
    limits = [("clearance", before.clearance, after.clearance)]
    sources = {report.settings.get("tolerance_from") for report in (before, after)}
    if sources != {BY_DEFAULT}:  # default tolerances follow one rule, and the reports have only the largest
        limits.append(("tolerance", before.tolerance, after.tolerance))
    lines = [
        (f"{what} {factor * old:.7g}{ending}", f"{factor * new:.7g}{ending}")
        for what, old, new in limits
        if not math.isclose(old, new, rel_tol=1e-6)
    ]
    moved = ["no motion" if report.motion is None else "a motion" for report in (before, after)]
    return [*lines, *[(moved[0], moved[1])][: int(moved[0] != moved[1])]]


def kinds_of(before: Report | None) -> dict[str, str]:
    """Return the kinds of the findings of an earlier report by id, including ignored findings.

    Resolved findings are left out, so they are new if they appear again.
    """
    return {clash.id: clash.kind for clash in before.clashes if clash.status != "resolved"} if before else {}


def missing(before: Report, present: Collection[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return the open findings of an earlier report that a later run did not report.

    ``present`` contains the ids of the earlier findings that the run reported. ``checked`` returns True for two part
    names if the run checked the pair, or one of the parts does not exist. A finding is "resolved" if its pair was
    checked, and otherwise it remains "active".
    """
    return [
        replace(clash, status="resolved", group="")
        if checked(clash.a, clash.b)
        else replace(clash, status="active", note="not checked in this run, the values are from the baseline")
        for clash in before.clashes
        if clash.is_open and clash.id not in present
    ]


_LONGER = 0.1  #: times that differ by at most this share of the duration of a clash count as equal


def within(clash: Clash, spans: tuple[Interval, ...]) -> bool:
    """Return whether the parts of a finding clash only during ``spans``, which have the form of `Clash.intervals`.

    A clash is certain from the second to the third time of an interval, and possible from the first to the fourth time.
    Each certain clash of the finding must be inside a possible clash of ``spans``, up to a tenth of its duration.
    Without ``spans`` the result is True. Otherwise it is False for a finding without a time, because the parts of such
    a finding clash at all times.
    """
    if not spans:
        return True
    if clash.time is None:
        return False
    at = clash.time
    return all(any(_inside(now, then) for then in spans) for now in clash.intervals or ((at, at, at, at),))


def same_times(a: Clash, b: Clash) -> bool:
    """Return whether two findings clash at the same times."""
    return within(a, b.intervals) and within(b, a.intervals)


def _inside(now: Interval, then: Interval) -> bool:
    spare = _LONGER * (then[3] - then[0])
    return then[0] - spare <= now[1] and now[2] <= then[3] + spare
