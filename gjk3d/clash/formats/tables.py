"""CSV, a row a finding, and Markdown for comments and tickets."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from typing import Any

from gjk3d.clash.report import Clash, Report
from gjk3d.clash.wording import brief

_VECTORS = ("mtv", "normal", "point_a", "point_b", "point")
#: What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(report: Report) -> str:
    """Return a table of the findings, vectors as three columns each, empty where a value is not known.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_columns())
    for clash in report.clashes:
        writer.writerow([_cell(value) for value in _values(clash)])
    return stream.getvalue()


def _columns() -> list[str]:
    names: list[str] = []
    for item in fields(Clash):
        if item.name in _VECTORS:
            names += [f"{item.name}_{axis}" for axis in "xyz"]
        elif item.name == "overlap_box":
            names += [f"overlap_{end}_{axis}" for end in ("low", "high") for axis in "xyz"]
        else:
            names.append(item.name)
    return names


def _values(clash: Clash) -> list[Any]:
    values: list[Any] = []
    for name, value in clash.to_dict().items():
        if name in _VECTORS:
            values += value or [None] * 3
        elif name == "overlap_box":
            values += [*value[0], *value[1]] if value else [None] * 6
        else:
            values.append(value)
    return values


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else " " for c in value)
        return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
    return repr(value)


def to_markdown(report: Report, top: int = 20) -> str:
    """Return a summary and a table of the worst findings.

    Parameters
    ----------
    report : Report
        What was found.
    top : int
        Most rows.
    """
    unit = f" {_escaped(report.unit)}" if report.unit else ""
    found = ", ".join(f"**{count} {kind}**" for kind, count in report.counts.items() if count) or "**no clashes**"
    lines = [
        f"### Clash check: {found}",
        "",
        f"{len(report.parts)} parts, {report.pairs_tested} of {report.pairs_total} pairs tested;"
        f" {_escaped(report.limits)}.",
    ]
    if not report.complete:
        lines += ["", "**Stopped before the end: the rest was not looked at.**"]
    if any(report.statuses[name] for name in ("active", "resolved", "ignored")):
        lines += ["", ", ".join(f"{count} {name}" for name, count in report.statuses.items() if count) + "."]
    rows = [clash for clash in report.clashes if clash.is_open]
    if rows:
        lines += [
            "",
            f"| # | kind | status | A | B | distance{unit} | volume | decided by |",
            "|--:|---|---|---|---|--:|--:|---|",
        ]
    for clash in rows[:top]:
        volume = "" if clash.overlap_volume is None else f"{clash.overlap_volume:.4g}"
        cells = (
            clash.severity,
            clash.kind,
            clash.status,
            _escaped(clash.a),
            _escaped(clash.b),
            brief(clash),
            volume,
            clash.evidence,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    more = sum(report.counts.values()) - len(rows[:top])
    if more:
        lines += ["", f"... and {more} more."]
    if report.unchecked:
        lines += ["", "Not checked:", ""]
        lines += [f"- {_escaped(part.name)}: {_escaped(part.reason)}" for part in report.unchecked]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{c}" if c in r"\`*_[]|#~!" else c for c in text)
