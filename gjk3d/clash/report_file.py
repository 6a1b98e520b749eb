"""Reads the rows of a report from JSON that anybody may have written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeGuard

import numpy as np

from gjk3d.clash.finding import KINDS, STATUSES, Clash
from gjk3d.clash.motion.record import Course, MotionRecord
from gjk3d.clash.motion.track import Track
from gjk3d.clash.report import Input, PartRow
from gjk3d.errors import ParseError

_Test = Callable[[Any], bool]


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite number, no larger than a volume can be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e150


def _text(value: Any) -> bool:
    return isinstance(value, str)


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number, no larger than a float can be."""
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
    """Return the findings of a report; ParseError where one is damaged."""
    return tuple(_made(Clash, row, _CLASH, f"{where}, clash {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_parts(rows: Any, where: str) -> tuple[PartRow, ...]:
    """Return the parts of a report; ParseError where one is damaged."""
    return tuple(_made(PartRow, row, _PART, f"{where}, part {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_inputs(rows: Any, where: str) -> tuple[Input, ...]:
    """Return the files of a report; ParseError where one is damaged."""
    return tuple(_made(Input, row, _INPUT, f"{where}, input {k + 1}") for k, row in enumerate(_list(rows, where)))


def read_record(row: Any, where: str) -> MotionRecord | None:
    """Return the motion of a report, None where nothing moved; ParseError where it is damaged."""
    if row is None:
        return None
    where = f"{where}, motion"
    known = _known(row, _MOTION, where)
    pairs = [
        _known(pair, _COURSE, f"{where}, pair {k + 1}") for k, pair in enumerate(_list(known.pop("pairs", []), where))
    ]
    for pair in pairs:  # JSON has no number for what is not finite
        pair["series"] = [[inf if x is None else x for x in look] for look in pair.get("series", [])]
    tracks = {
        name: track
        for k, item in enumerate(_list(known.pop("tracks", []), where))
        for names, track in [_track(item, f"{where}, track {k + 1}")]
        for name in names
    }
    try:
        courses = tuple(Course(**{key: _tuples(x) for key, x in pair.items()}) for pair in pairs)
        record = MotionRecord(**known, pairs=courses, tracks=tracks)
    except TypeError as error:
        raise ParseError(f"{where} is damaged: {error}") from None
    if tracks and not record.begin < record.end:
        raise ParseError(f"{where} begins at {record.begin:g} and ends at {record.end:g}: it is damaged")
    return record


def _track(row: Any, where: str) -> tuple[list[str], Track]:
    """Return the parts that move on a track, and the track."""
    known = _known(row, _TRACK, where)
    times, rows = (np.array(known.get(name, []), dtype=float) for name in ("times", "rows"))
    fits = "parts" in known and rows.ndim == 2 and len(times) == len(rows) + 1
    if not fits or not (np.diff(times) > 0.0).all():
        raise ParseError(f"{where} has {times.size} times for {len(rows)} motions, or they do not rise: it is damaged")
    turns = rows[:, :9].reshape(-1, 3, 3)
    if np.abs(turns).max() > 2.0 or np.abs(turns @ turns.swapaxes(1, 2) - np.eye(3)).max() > 1e-6:
        raise ParseError(f"{where} has a motion that begins with no rotation: it is damaged")
    return known["parts"], Track(times, rows, known.get("slack", 0.0))


def _list(rows: Any, where: str) -> list[Any]:
    if not isinstance(rows, list):
        raise ParseError(f"{where} has {str(rows)[:60]!r} where a list is expected: it is damaged")
    return rows


def _known(row: Any, tests: Mapping[str, _Test], where: str) -> dict[str, Any]:
    """Return the fields of a row that this version knows, each of its form."""
    if not isinstance(row, dict):
        raise ParseError(f"{where} is {str(row)[:60]!r}, expected an object: the file is damaged")
    for name, test in tests.items():
        if name in row and not test(row[name]):
            raise ParseError(f"{where} has the {name} {str(row[name])[:60]!r}: the file is damaged")
    return {name: row[name] for name in tests if name in row}


def _made(kind: type[Any], row: Any, tests: Mapping[str, _Test], where: str) -> Any:
    known = _known(row, tests, where)
    try:
        return kind(**{name: _tuples(value) for name, value in known.items()})
    except TypeError as error:
        raise ParseError(f"{where} is damaged: {str(error).partition('__init__() ')[2] or error}") from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
