"""Reads what people decided about findings from a file that anybody may have written."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gjk3d.clash.finding import Vector
from gjk3d.clash.report_file import is_count, is_number
from gjk3d.clash.triage import SCHEMA_VERSION, STATES, Comment, Issue, Mark, Triage, View, joined
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion

MAX_BYTES = 64_000_000  #: of a file
_TEXT, _NAME = 20_000, 1_000  #: characters of a comment, and of a name


def read_triage(given: str | os.PathLike[str] | Triage | None) -> Triage:
    """Read what people decided from a file that the page, or `Triage.write`, wrote.

    Parameters
    ----------
    given : path, Triage or None
        The file; a `Triage` is returned as it is, and None is an empty one.

    Raises
    ------
    FileError
        There is no such file.
    ParseError
        It is none of these, or damaged.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.clash.read_triage(gk.clash.Triage().write(pathlib.Path(folder) / "week.triage.json")).issues
    {}
    """
    if given is None or isinstance(given, Triage):
        return given or Triage()
    path = Path(given)
    if not os.path.isfile(path):
        raise FileError(f"there is no file {path}: leave it out in the first run, and save it from the page")
    if path.stat().st_size > MAX_BYTES:
        raise ParseError(f"{path} has more than {MAX_BYTES / 1e6:g} MB: it is no triage of a report")
    return parse_triage(path.read_bytes(), str(path))


def parse_triage(text: bytes, where: str) -> Triage:
    """Return what the text of such a file says; ``where`` is what errors call it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is no JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict) or document.get("command") != "triage":
        raise ParseError(f"{where} is no triage: save one from the page of gjk3d clash")
    version = document.get("schema_version")
    if not is_count(version) or version != SCHEMA_VERSION:
        raise ParseError(
            f"{where} is of schema version {json.dumps(version)[:60]}, this gjk3d reads the number {SCHEMA_VERSION}:"
            " save it anew from a page that this gjk3d made"
        )
    rows = document.get("issues")
    if not isinstance(rows, list):
        raise ParseError(f"{where} lacks its issues: it is damaged")
    issues: dict[str, Issue] = {}
    for k, row in enumerate(rows):
        issue = _read_issue(row, f"{where}, issue {k + 1}")
        issues[issue.id] = issues[issue.id].merged(issue) if issue.id in issues else issue
    return Triage(issues)


def _read_issue(row: Any, where: str) -> Issue:
    row = _object(row, where)
    ids = [_string(row, name, where, _NAME) for name in ("id", "kind", "a", "b")]
    state, assignee = (_read_mark(row.get(name), f"{where}, {name}") for name in ("state", "assignee"))
    if state is not None and state.value not in STATES:
        raise ParseError(f"{where}: {state.value[:60]!r} is no state of a finding: {', '.join(STATES)} are")
    comments = [
        Comment(*_stamp(item, where), _string(item, "text", where, _TEXT, ""), _string(item, "id", where, _NAME))
        for item in _objects(row.get("comments"), where)
    ]
    views = [_read_view(item, where) for item in _objects(row.get("views"), where)]
    return Issue(ids[0], ids[1], ids[2], ids[3], state, assignee, joined(tuple(comments), ()), joined(tuple(views), ()))


def _read_mark(row: Any, where: str) -> Mark | None:
    if row is None:
        return None
    row = _object(row, where)
    lengths = {name: row.get(name) for name in ("distance", "penetration")}
    for name, length in lengths.items():
        if length is not None and not is_number(length):
            raise ParseError(f"{where} has the {name} {str(length)[:60]!r}: expected a number")
    spans = row.get("intervals", [])
    four = lambda span: isinstance(span, list) and len(span) == 4 and all(map(is_number, span))  # noqa: E731
    if not isinstance(spans, list) or not all(map(four, spans)):
        raise ParseError(f"{where} has the intervals {str(spans)[:60]!r}: expected four numbers each")
    unit, times = _unit(row, where), tuple(tuple(map(float, span)) for span in spans)
    value = _string(row, "value", where, _NAME)
    return Mark(*_stamp(row, where), value, unit=unit, intervals=times, **lengths)  # type: ignore[arg-type]


def _read_view(row: dict[str, Any], where: str) -> View:
    eye, target, up = (_point(row.get(name), f"{where}, {name} of a view") for name in ("eye", "target", "up"))
    planes = row.get("planes", [])
    if not isinstance(planes, list) or len(planes) > 64 or not all(isinstance(p, list) and len(p) == 2 for p in planes):
        raise ParseError(f"{where} has a view whose planes are no pairs of a point and a normal")
    cut = tuple((_point(p[0], f"{where}, a plane"), _point(p[1], f"{where}, a plane")) for p in planes)
    name, ident = _string(row, "name", where, _NAME, ""), _string(row, "id", where, _NAME)
    return View(*_stamp(row, where), name, ident, eye, target, up, cut, _unit(row, where))


def _unit(row: dict[str, Any], where: str) -> str:
    unit = _string(row, "unit", where, 20, "")
    if unit and conversion(unit, "m") is None:
        raise ParseError(f"{where} has the unit {unit!r}: expected one such as mm, m or in")
    return unit


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParseError(f"{where} is {str(value)[:60]!r}: expected an object")
    return value


def _objects(value: Any, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ParseError(f"{where} has {str(value)[:60]!r} where a list is expected")
    return [_object(item, where) for item in value]


def _string(row: dict[str, Any], name: str, where: str, most: int, without: str | None = None) -> str:
    value = row.get(name, without)
    if not isinstance(value, str) or len(value) > most:
        raise ParseError(f"{where} has the {name} {str(value)[:60]!r}: expected a text of at most {most} characters")
    return value


_AHEAD = timedelta(days=1)  #: clocks are set to the wrong zone, by half a day
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")


def _stamp(row: dict[str, Any], where: str) -> tuple[str, str]:
    return time_of(_string(row, "at", where, 60), where), _string(row, "by", where, _NAME, "")


def time_of(text: str, where: str) -> str:
    """Return a time that a file states, which is not to come, as these files have it; without a zone it is in UTC."""
    try:
        if not _TIME.fullmatch(text.strip()):
            raise ValueError
        time = datetime.fromisoformat(text.strip())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ParseError(f"{where} has the time {text[:60]!r}: expected one such as 2026-05-04T03:02:01.000Z") from None
    if time > datetime.now(UTC) + _AHEAD:
        raise ParseError(
            f"{where} has the time {text[:60]!r}, more than a day ahead of this machine's clock: what has it would hold"
            " against all that is decided until then, so set that time, or this clock, right"
        )
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _point(value: Any, where: str) -> Vector:
    if not isinstance(value, list) or len(value) != 3 or not all(map(is_number, value)):
        raise ParseError(f"{where} is {str(value)[:60]!r}: expected three numbers")
    x, y, z = map(float, value)
    return x, y, z
