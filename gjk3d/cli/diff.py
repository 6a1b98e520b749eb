"""``gjk3d diff OLD NEW``, which lists the changes between two clash reports."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from gjk3d.cli import ExitCode
from gjk3d.cli.arguments import UsageError, output_form
from gjk3d.cli.terminal import Table, json_text, note, print_line, print_omitted, print_table, safe, write_text
from gjk3d.wording import json_ready

if TYPE_CHECKING:
    from gjk3d.clash import Clash, Report

SCHEMA_VERSION = 1
Format = Literal["table", "json", "junit"]
_ENDINGS = {"json": "json", "xml": "junit"}


def diff(
    old: Path,
    new: Path,
    /,
    *,
    json: Annotated[bool, Parameter(negative=())] = False,
    format: Annotated[Format | None, Parameter(name=["--format", "-f"])] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    top: int = 20,
) -> int:
    """List the findings that are new, changed or resolved between two clash reports.

    Two findings are compared if they have the same parts. If their kinds differ, the change is "kind". Lengths in JSON
    are in the unit of the later report. Lengths in the table are in the unit that is easiest to read. The exit code is
    1 if there are new findings other than touches, or if the kind of a finding is worse now, and otherwise 0. In JUnit,
    these findings are the failures.

    Parameters
    ----------
    old
        The earlier report of gjk3d clash -f json.
    new
        The later report.
    json
        Print a JSON document. This is the same as -f json.
    format
        table, json or junit. The default is the extension of --output (.xml for junit), or table without an output.
    output
        The file to write. The default is stdout.
    top
        The largest number of rows of the table.
    """
    from gjk3d.clash.report.baseline import differences, in_unit, read_report

    if json and format not in (None, "json"):
        raise UsageError(f"--json and -f {format} are different forms. Leave one out.")
    form = output_form("json" if json else format, output, _ENDINGS, (old, new))
    before, after = read_report(old), read_report(new)
    if before.unit != after.unit:
        before = in_unit(before, after.unit, str(old), str(new))
        note(f"the lengths of {old} are converted to {after.unit}")
    for first, second in differences(before, after):
        note(f"{old} was made with {first}, and {new} with {second}")
    for report, path in ((before, old), (after, new)):
        if not report.complete:
            note(f"the check of {path} was stopped before its end, so findings may be missing")
    rows = _rows(before, after)
    counts = {change: sum(row[0] == change for row in rows) for change in _CHANGES}
    if form == "table":
        _print(rows, counts, before, after, top)
    else:
        text = _junit(rows, after) if form == "junit" else json_text(_document(old, new, after.unit, counts, rows))
        write_text(text, output)
        if output is not None:
            note(output, "wrote")
    return ExitCode(any(map(_fails, rows)))


def _document(old: Path, new: Path, unit: str | None, counts: dict[str, int], rows: list[Row]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "diff",
        "old": str(old),
        "new": str(new),
        "unit": unit,
        "counts": counts,
        "rows": [_record(*row) for row in rows],
    }


def _junit(rows: list[Row], after: Report) -> str:
    from gjk3d.clash.formats import to_junit

    cases = tuple(
        replace(clash, status="new" if _fails(row) else "active")
        for row in rows
        if (clash := row[2]) is not None and clash.is_open
    )
    ignored = tuple(clash for clash in after.clashes if clash.status == "ignored")
    return to_junit(replace(after, clashes=(*cases, *ignored), complete=True), only_new=True)


Row = tuple[str, "Clash | None", "Clash | None"]
_CHANGES = "new", "kind", "changed", "same", "resolved"


def _fails(row: Row) -> bool:
    """Return whether a row is a new finding other than a touch, or a finding whose kind is worse now."""
    from gjk3d.clash.triage import is_worse

    change, old, new = row
    if new is None:
        return False
    return change == "new" and new.kind != "touch" if old is None else new.is_open and is_worse(new.kind, old.kind)


def _rows(before: Report, after: Report) -> list[Row]:
    """Return a row for each finding that is open in at least one of the two reports.

    The rows are sorted by the change of the finding: "new", "kind", "changed", "resolved", "same".
    A finding that is open in one report and ignored in the other report is neither new nor resolved.
    """
    first, second = (
        {clash.id: clash for clash in report.clashes if clash.status != "resolved"} for report in (before, after)
    )
    lost = {frozenset((clash.a, clash.b)): key for key, clash in first.items() if key not in second}
    for key, clash in [*second.items()]:  # a finding whose kind changed has another id
        if key not in first and (was := lost.pop(frozenset((clash.a, clash.b)), None)) is not None:
            first[key] = first.pop(was)
    new: list[Row] = [("new", None, clash) for key, clash in second.items() if clash.is_open and key not in first]
    common: list[Row] = [
        (_change(first[key], clash, after.tolerance), first[key], clash)
        for key, clash in second.items()
        if key in first and (clash.is_open or first[key].is_open)
    ]
    gone = [clash for key, clash in first.items() if clash.is_open and key not in second]
    resolved: list[Row] = [("resolved", clash, None) for clash in gone]
    by_change = {change: [row for row in common if row[0] == change] for change in _CHANGES}
    return [*new, *by_change["kind"], *by_change["changed"], *resolved, *by_change["same"]]


def _change(old: Clash, new: Clash, tolerance: float) -> str:
    from gjk3d.clash.report.baseline import same_times

    if old.kind != new.kind:
        return "kind"
    lengths = (old.distance, new.distance), (old.penetration, new.penetration)
    near = all(  # converted lengths differ by rounding
        p == q if p is None or q is None else math.isclose(p, q, rel_tol=1e-9, abs_tol=tolerance) for p, q in lengths
    )
    return "same" if near and same_times(old, new) else "changed"


def _record(change: str, old: Clash | None, new: Clash | None) -> dict[str, Any]:
    clash = new if new is not None else old
    assert clash is not None
    return {
        "change": change,
        "id": clash.id,
        "kind": clash.kind,
        "old_kind": None if old is None else old.kind,
        "a": clash.a,
        "b": clash.b,
        "old_distance": None if old is None else old.distance,
        "new_distance": None if new is None else new.distance,
        "old_intervals": [] if old is None else json_ready(old.intervals),
        "new_intervals": [] if new is None else json_ready(new.intervals),
    }


def _print(rows: list[Row], counts: dict[str, int], before: Report, after: Report, top: int) -> None:
    from gjk3d.clash.report.baseline import converted
    from gjk3d.clash.report.wording import measure, noise, when

    print_line(
        ", ".join(f"{count} {'of another kind' if change == 'kind' else change}" for change, count in counts.items())
    )
    shown = [row for row in rows if row[0] != "same"]
    if not shown:
        return
    print_line()
    length_unit, factor = after.reading
    length = f" {safe(length_unit)}" if length_unit else ""
    lengths = f"before{length}", f"now{length}"
    moves = before.motion is not None or after.motion is not None
    times = ["when before", "when now"][: 2 * moves]
    table = Table(["change", "kind", "A", "B", *lengths, *times], right=lengths, names=("A", "B"), spare=("kind",))
    for change, *versions in shown[:top]:
        old, new = (None if clash is None else converted(clash, factor, after.unit) for clash in versions)
        record = _record(change, old, new)
        pairs = ((old, before), (new, after))
        distances = (
            "-" if clash is None else measure(clash, error=noise(clash, report)) or "-" for clash, report in pairs
        )
        intervals = ("-" if clash is None else when(clash, report) or "-" for clash, report in pairs)
        kind = f"{record['old_kind']} → {record['kind']}" if change == "kind" else record["kind"]
        table.add(change, kind, safe(record["a"]), safe(record["b"]), *distances, *[*intervals][: len(times)])
    print_table(table)
    print_omitted(len(shown), top)
