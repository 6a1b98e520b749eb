"""Earlier reports: reading untrusted JSON, conversion of units, and comparison with a later run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clash
from gjk3d.clash.motion.moving import Course, MotionRecord
from gjk3d.clash.motion.track import Track
from gjk3d.clash.report.report import BY_DEFAULT, SCHEMA_VERSION, Input, PartRow, Report
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion

_Test = Callable[[Any], bool]


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number, and not larger than any volume."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e150


def _text(value: Any) -> bool:
    return isinstance(value, str)


def is_count(value: Any) -> TypeGuard[int]:
    """Return whether a value is an integer of the range of `is_number`."""
    return isinstance(value, int) and is_number(value)


def _maybe(test: _Test) -> _Test:
    return lambda value: value is None or test(value)


def _row(test: _Test, length: int | None = None) -> _Test:
    return lambda value: isinstance(value, list) and length in (None, len(value)) and all(map(test, value))


def _one_of(words: tuple[str, ...]) -> _Test:
    return lambda value: _text(value) and value in words


_vector, _spans = _row(is_number, 3), _row(_row(is_number, 4))
_box = _row(_vector, 2)
_CLASH: dict[str, _Test] = {
    **dict.fromkeys(("a", "b", "a_file", "b_file", "group", "note"), _text),
    "kind": _one_of(KINDS),
    "status": _one_of(STATUSES),
    "severity": is_count,
    **dict.fromkeys(("id", "shape_a", "shape_b", "method"), lambda value: _text(value) and value.isascii()),
    "distance_kind": _one_of(("exact", "bound", "approximate")),
    **dict.fromkeys(
        ("distance", "depth", "overlap_volume", "error_bound", "tolerance", "convex_gap", "penetration", "time"),
        _maybe(is_number),
    ),
    **dict.fromkeys(("mtv", "normal", "point_a", "point_b", "point"), _maybe(_vector)),
    "overlap_box": _maybe(_box),
    "intervals": _spans,
    "least": _maybe(_row(is_number, 2)),
}
_PART: dict[str, _Test] = {
    **dict.fromkeys(("name", "file", "reason", "guid"), _text),
    "path": _row(_text),
    "colour": _maybe(_vector),
    "triangles": is_count,
    **dict.fromkeys(("closed", "convex"), _maybe(lambda value: isinstance(value, bool))),
    "bounds": _maybe(_box),
}
_INPUT: dict[str, _Test] = {"path": _text, "sha256": _maybe(_text), "unit": _maybe(_text)}
_COURSE: dict[str, _Test] = {
    "a": _text,
    "b": _text,
    "intervals": _spans,
    "proven": lambda value: isinstance(value, bool),
    "least": _row(is_number, 2),
    "when": is_number,
    "inside": is_number,
    "series": _row(_row(_maybe(is_number), 4)),
}
_MOTION: dict[str, _Test] = {
    **dict.fromkeys(("begin", "end"), is_number),
    "unit": _text,
    **dict.fromkeys(("pairs", "tracks"), lambda value: True),
}
_TRACK: dict[str, _Test] = {
    "parts": _row(_text),
    "times": _row(is_number),
    "rows": _row(_row(is_number, 21)),
    "slack": is_number,
}


def read_clashes(rows: Any, where: str) -> tuple[Clash, ...]:
    """Return the findings of a report. Raise a ParseError if one is damaged."""
    return tuple(_build(Clash, row, _CLASH, f"{where}, clash {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_parts(rows: Any, where: str) -> tuple[PartRow, ...]:
    """Return the parts of a report. Raise a ParseError if one is damaged."""
    return tuple(_build(PartRow, row, _PART, f"{where}, part {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_inputs(rows: Any, where: str) -> tuple[Input, ...]:
    """Return the files of a report. Raise a ParseError if one is damaged."""
    return tuple(_build(Input, row, _INPUT, f"{where}, input {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_record(row: Any, where: str) -> MotionRecord | None:
    """Return the motion of a report, or None if no part moved. Raise a ParseError if it is damaged."""
    if row is None:
        return None
    where = f"{where}, motion"
    values = _checked_fields(row, _MOTION, where)
    pairs = [
        _checked_fields(pair, _COURSE, f"{where}, pair {k + 1}")
        for k, pair in enumerate(_list(values.pop("pairs", []), where))
    ]
    for pair in pairs:  # JSON has no infinity, so null stands for it
        pair["series"] = [[inf if x is None else x for x in sample] for sample in pair.get("series", [])]
    tracks = {
        name: track
        for k, item in enumerate(_list(values.pop("tracks", []), where))
        for names, track in [_track(item, f"{where}, track {k + 1}")]
        for name in names
    }
    try:
        courses = tuple(Course(**{key: _tuples(x) for key, x in pair.items()}) for pair in pairs)
        record = MotionRecord(**values, pairs=courses, tracks=tracks)
    except TypeError as error:
        raise ParseError(f"{where} is damaged: {error}") from None
    if tracks and not record.begin < record.end:
        raise ParseError(f"{where} begins at {record.begin:g} and ends at {record.end:g}: the file is damaged")
    return record


def _track(row: Any, where: str) -> tuple[list[str], Track]:
    values = _checked_fields(row, _TRACK, where)
    times, rows = (np.array(values.get(name, []), dtype=float) for name in ("times", "rows"))
    fits = "parts" in values and rows.ndim == 2 and len(times) == len(rows) + 1
    if not fits or not (np.diff(times) > 0.0).all():
        raise ParseError(
            f"{where} has {times.size} times for {len(rows)} motions, expected one more than motions, in ascending"
            " order: the file is damaged"
        )
    turns = rows[:, :9].reshape(-1, 3, 3)
    if np.abs(turns).max() > 2.0 or np.abs(turns @ turns.swapaxes(1, 2) - np.eye(3)).max() > 1e-6:
        raise ParseError(f"{where} has a motion whose first matrix is not a rotation: the file is damaged")
    return values["parts"], Track(times, rows, values.get("slack", 0.0))


def _list(rows: Any, where: str) -> list[Any]:
    if not isinstance(rows, list):
        raise ParseError(f"{where} has {str(rows)[:60]!r}, expected a list: the file is damaged")
    return rows


def _checked_fields(row: Any, tests: Mapping[str, _Test], where: str) -> dict[str, Any]:
    """Return the fields of a row that this version reads, after a test of their types."""
    if not isinstance(row, dict):
        raise ParseError(f"{where} is {str(row)[:60]!r}, expected an object: the file is damaged")
    for name, test in tests.items():
        if name in row and not test(row[name]):
            raise ParseError(f"{where} has the {name} {str(row[name])[:60]!r}: the file is damaged")
    return {name: row[name] for name in tests if name in row}


def _build(kind: type[Any], row: Any, tests: Mapping[str, _Test], where: str) -> Any:
    values = _checked_fields(row, tests, where)
    try:
        return kind(**{name: _tuples(value) for name, value in values.items()})
    except TypeError as error:
        raise ParseError(f"{where} is damaged: {str(error).partition('__init__() ')[2] or error}") from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


_LENGTHS = (
    "distance", "depth", "mtv", "point_a", "point_b", "point", "overlap_box", "error_bound", "tolerance", "convex_gap",
    "penetration", "least",
)  # fmt: skip


def read_baseline(source: str | os.PathLike[str] | Report | None) -> Report | None:
    """Return an earlier report. A report from a JSON file lacks triangles."""
    if source is None:
        return None
    if isinstance(source, Report):
        if source.left_out:
            raise ParseError("the baseline has only its worst findings. Make it with check(..., keep=None).")
        return source
    path = Path(source)
    if not os.path.isfile(path):
        raise FileError(f"the report {path} does not exist. Write it with gjk3d clash MODELS -f json -o {path}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path} is not JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict) or document.get("command") != "clash":
        raise ParseError(f"{path} is not a report of gjk3d clash. Write a report with gjk3d clash -f json.")
    version = document.get("schema_version")
    if not is_count(version) or version != SCHEMA_VERSION:
        found_version = json.dumps(version)[:60]
        raise ParseError(
            f"{path} has schema version {found_version}, but this gjk3d reads version {SCHEMA_VERSION}."
            " Write the report again with gjk3d clash -f json."
        )
    rows, clearance, tolerance = (document.get(key) for key in ("clashes", "clearance", "tolerance"))
    if not isinstance(rows, list) or not is_number(clearance) or not is_number(tolerance):
        raise ParseError(f"{path} lacks its clashes, clearance or tolerance: the file is damaged")
    if document.get("left_out"):
        raise ParseError(f"{path} has only its worst findings. Make it with check(..., keep=None).")
    unit = document.get("unit")
    if unit is not None and not (isinstance(unit, str) and unit.isascii()):
        raise ParseError(f"{path} has the unit {str(unit)[:60]!r}: the file is damaged")
    settings, elapsed = document.get("settings"), document.get("elapsed")
    total, close, tested = (
        many if is_count(many := document.get(f"pairs_{what}")) else 0 for what in ("total", "close", "tested")
    )
    return Report(
        read_clashes(rows, str(path)),
        unit=unit,
        clearance=float(clearance),
        tolerance=float(tolerance),
        pairs_close=close,
        pairs_tested=tested,
        elapsed=elapsed if is_number(elapsed) else 0.0,
        complete=document.get("complete") is not False,
        settings=settings if isinstance(settings, dict) else {},
        parts=read_parts(document.get("parts", []), str(path)),
        inputs=read_inputs(document.get("inputs", []), str(path)),
        motion=read_record(document.get("motion"), str(path)),
        pairs_total=total,
    )


def in_unit(before: Report, unit: str | None, what: str, later: str) -> Report:
    """Return an earlier report with its lengths in a unit.

    Raises
    ------
    ParseError
        If only one of the units is known, so that lengths cannot be compared.
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
    """Return a finding with its lengths multiplied. A note with numbers gets the unit of these appended."""
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
    """Return a report in its unit of reading. The triangles of its assembly are not converted."""
    return in_unit(report, report.reading[0], "this", "this")


def differences(before: Report, after: Report) -> list[tuple[str, str]]:
    """Return the limits that differ between two reports of the same unit, as pairs of texts."""
    ending = f" {after.unit}" if after.unit else ""
    limits = [("clearance", before.clearance, after.clearance)]
    sources = {report.settings.get("tolerance_from") for report in (before, after)}
    if sources != {BY_DEFAULT}:  # default tolerances follow one rule, and the reports have only the largest
        limits.append(("tolerance", before.tolerance, after.tolerance))
    lines = [
        (f"{what} {old:.7g}{ending}", f"{new:.7g}{ending}")
        for what, old, new in limits
        if not math.isclose(old, new, rel_tol=1e-6)
    ]
    moved = ["no motion" if report.motion is None else "a motion" for report in (before, after)]
    return [*lines, *[(moved[0], moved[1])][: int(moved[0] != moved[1])]]


def ids_of(before: Report | None) -> frozenset[str]:
    """Return the ids of the findings of an earlier report, including ignored ones, as in `gjk3d diff`.

    Resolved findings are left out, so they are new if they appear again.
    """
    return frozenset(clash.id for clash in before.clashes if clash.status != "resolved") if before else frozenset()


def missing(before: Report, present: Collection[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return the open findings of an earlier report that a later run did not report.

    ``present`` contains the ids of the earlier findings that the run reported. ``checked`` returns for two names
    whether the run checked the pair, or one of its parts is missing. A pair that was not checked is not resolved.
    """
    return [
        replace(clash, status="resolved", group="")
        if checked(clash.a, clash.b)
        else replace(clash, status="active", note="not checked in this run: as in the baseline")
        for clash in before.clashes
        if clash.is_open and clash.id not in present
    ]


_LONGER = 0.1  #: times within this share of the duration of a clash count as equal

Span = tuple[float, float, float, float]


def within(clash: Clash, spans: tuple[Span, ...]) -> bool:
    """Return whether two parts clash only within these times, which have the form of `Clash.intervals`.

    Parts at rest clash at all times. The certified clash of each interval must be within a time
    at which ``spans`` do not exclude a clash.
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


def _inside(now: Span, then: Span) -> bool:
    spare = _LONGER * (then[3] - then[0])
    return then[0] - spare <= now[1] and now[2] <= then[3] + spare
