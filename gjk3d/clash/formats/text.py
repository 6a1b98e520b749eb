"""A report as text: CSV with a row for each finding, JSON lines with a line for each finding, Markdown, JUnit XML."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection
from dataclasses import fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TextIO
from xml.etree import ElementTree

from gjk3d.clash.detection.clashes import KINDS, Clash
from gjk3d.clash.report import wording
from gjk3d.clash.report.baseline import converted
from gjk3d.clash.report.report import Report
from gjk3d.clash.report.wording import inside, measure
from gjk3d.errors import ShapeError
from gjk3d.wording import count

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


#: The columns of each field with several values.
_SEVERAL = {name: [f"{name}_{axis}" for axis in "xyz"] for name in ("mtv", "normal", "point_a", "point_b", "point")}
_SEVERAL["least"] = ["least_lower", "least_upper"]
_SEVERAL["overlap_box"] = [f"overlap_{end}_{axis}" for end in ("low", "high") for axis in "xyz"]
#: Characters that start a formula in spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(report: Report) -> str:
    """Return the findings as CSV. A vector has three columns, and an unknown value is empty.

    Text that a spreadsheet would run as a formula gets an apostrophe before it.

    Parameters
    ----------
    report : Report
        The report.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.clash.formats.to_csv(gk.clash.Report()).split(",")[:5]
    ['id', 'kind', 'severity', 'status', 'a']
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column for item in fields(Clash) for column in _SEVERAL.get(item.name, (item.name,))])
    for clash in report.clashes:
        writer.writerow([_cell(value) for value in _values(clash)])
    return stream.getvalue()


def _values(clash: Clash) -> list[Any]:
    values: list[Any] = []
    for name, value in clash.to_dict().items():
        if name not in _SEVERAL:
            values.append(value)
        elif value is None:
            values += [None] * len(_SEVERAL[name])
        else:
            values += [*value[0], *value[1]] if name == "overlap_box" else value
    return values


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else " " for c in value)
        return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
    if isinstance(value, list):  # intervals of time
        return "; ".join(" ".join(map(repr, row)) for row in value)
    return repr(value)


def to_markdown(report: Report, top: int = 20) -> str:
    """Return a summary and a table of the worst findings as Markdown.

    Parameters
    ----------
    report : Report
        The report.
    top : int
        The largest number of rows. If the report was compared with a baseline, new findings are first, and up to 100
        new findings are always listed.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.clash.formats.to_markdown(gk.clash.Report(unit="mm")).splitlines()[0]
    '### Clash check: **no clashes**'
    """
    shown_unit, factor = report.reading
    unit, cubed = (f" {_escaped(shown_unit)}", "³") if shown_unit else ("", "")
    totals = ", ".join(f"**{many} {kind}**" for kind, many in report.counts.items() if many) or "**no clashes**"
    lines = [
        f"### Clash check: {totals}",
        "",
        f"{count(len(report.parts), 'part')}, {report.pairs_tested} of {count(report.pairs_total, 'pair')} tested;"
        f" {_escaped(report.limits)}.",
    ]
    if not report.complete:
        lines += ["", "**Stopped before the end: the remaining pairs were not tested.**"]
    if any(report.statuses[name] for name in ("active", "resolved", "ignored")):
        lines += ["", ", ".join(f"{many} {name}" for name, many in report.statuses.items() if many) + "."]
    rows, more = wording.listed(report, top)
    when = "" if report.motion is None else " when |"
    if rows:
        lines += [
            "",
            f"| # | kind | status | A | B | penetration{unit} | depth{unit} | gap{unit} | volume{unit}{cubed}"
            f" | decided by |{when}",
            f"|--:|---|---|---|---|--:|--:|--:|--:|---|{'---|' if when else ''}",
        ]
    for clash in (converted(row, factor, report.unit) for row in rows):
        first = str(clash.severity), clash.kind, clash.status, _escaped(clash.a), _escaped(clash.b)
        last = [_escaped(wording.when(clash, report))] if when else []
        lines.append(f"| {' | '.join([*first, *wording.cells(clash, wording.noise(clash, report)), *last])} |")
    if more:
        lines += ["", f"... and {more} more. `--top {len(rows) + more}` lists them."]
    if report.unchecked:
        lines += ["", "Not checked:", ""]
        lines += [f"- {_escaped(part.name)}: {_escaped(part.reason)}" for part in report.unchecked]
    if report.notes:
        lines += ["", "Notes:", "", *(f"- {_escaped(note)}" for note in report.notes)]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{c}" if c in r"\`*_[]|#~!" else c for c in text)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of `Report.to_json`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.clash.formats.json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    text = files(__package__).joinpath("clash.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


class LineWriter:
    """A writer of JSON lines that writes each finding when it is computed, and a summary at the end.

    Each line is a JSON object. Its ``record`` is "clash" for a finding and "report" for the last line. A file without
    this last line is incomplete. Ranks and groups are not written, because they are unknown before the end.

    Parameters
    ----------
    stream : text file
        The stream to write.

    Examples
    --------
    >>> import gjk3d as gk, io
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}
    >>> stream = io.StringIO()
    >>> writer = gk.clash.formats.LineWriter(stream)
    >>> writer.close(gk.clash.check(gk.clash.Assembly.of(parts), found=writer.clash))
    >>> [line[:19] for line in stream.getvalue().splitlines()]
    ['{"record": "clash",', '{"record": "report"']
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def clash(self, clash: Clash) -> None:
        """Write a finding.

        Parameters
        ----------
        clash : Clash
            The finding, as `gjk3d.clash.check` passes it to ``found``.
        """
        values = clash.to_dict()
        del values["severity"], values["group"]
        self._line({"record": "clash", **values})

    def close(self, report: Report) -> None:
        """Write the resolved findings and the summary line.

        Parameters
        ----------
        report : Report
            The report of the whole run.
        """
        for clash in report.clashes:
            if clash.status == "resolved":
                self.clash(clash)
        document = report.to_dict()
        del document["clashes"], document["groups"], document["left_out"]  # every finding has a line
        self._line({"record": "report", **document})

    def _line(self, values: dict[str, Any]) -> None:
        self.stream.write(json.dumps(values, allow_nan=False, ensure_ascii=True) + "\n")
        self.stream.flush()


def to_jsonl(report: Report, stream: TextIO) -> None:
    """Write a finished report as JSON lines, in the form of `LineWriter`.

    Parameters
    ----------
    report : Report
        The report.
    stream : text file
        The stream to write.

    Examples
    --------
    >>> import gjk3d as gk, io
    >>> stream = io.StringIO()
    >>> gk.clash.formats.to_jsonl(gk.clash.Report(), stream)
    >>> stream.getvalue()[:19]
    '{"record": "report"'
    """
    writer = LineWriter(stream)
    for clash in report.clashes:
        if clash.status != "resolved":
            writer.clash(clash)
    writer.close(report)


def legal(text: str) -> str:
    """Return a text for XML, with a replacement character for each character that cannot be printed."""
    return "".join(c if c.isprintable() or c == " " else "\N{REPLACEMENT CHARACTER}" for c in text)


def document(root: Element) -> str:
    """Return an XML document as indented text."""
    ElementTree.indent(root, " ")
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def to_junit(report: Report, fatal: Collection[str] = KINDS, only_new: bool = False) -> str:
    """Return the report as a JUnit test suite.

    An open finding is a failed test case if its kind is in ``fatal``, otherwise a passed test case. An ignored finding
    is a skipped test case. A report without findings has one passed test case. A run that was stopped has an error.

    Parameters
    ----------
    report : Report
        The report.
    fatal : collection of str
        The kinds of findings that are failures.
    only_new : bool
        Whether only findings that the baseline lacks are failures.

    Raises
    ------
    ShapeError
        A kind in ``fatal`` is unknown.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.clash.formats.to_junit(gk.clash.Report()).splitlines()[1][:48]
    '<testsuite name="gjk3d clash" tests="1" failures'
    """
    if isinstance(fatal, str) or not set(fatal) <= set(KINDS):
        raise ShapeError(f"fatal is {fatal!r:.80}, expected a list of some of {', '.join(KINDS)}")
    cases = [clash for clash in report.clashes if clash.status != "resolved"]
    failures = sum(clash.fails(fatal, only_new) for clash in cases)
    suite = ElementTree.Element(
        "testsuite",
        name="gjk3d clash",
        tests=str(len(cases) + (not cases) + (not report.complete)),
        failures=str(failures),
        errors=str(int(not report.complete)),
        skipped=str(sum(clash.status == "ignored" for clash in cases)),
        time=f"{report.elapsed:.3f}",
    )
    factor = report.reading[1]
    for clash in (converted(case, factor, report.unit) for case in cases):
        pair = f"{clash.a} / {clash.b}" if clash.b else clash.a
        case = ElementTree.SubElement(suite, "testcase", name=legal(pair), classname=f"gjk3d.clash.{clash.kind}")
        text = legal(_case_text(clash, report))
        if clash.status == "ignored":
            ElementTree.SubElement(case, "skipped", message=text)
        elif clash.fails(fatal, only_new):
            ElementTree.SubElement(case, "failure", message=text, type=clash.kind)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    if not cases:
        ElementTree.SubElement(suite, "testcase", name=f"{report.pairs_tested} pairs", classname="gjk3d.clash")
    if not report.complete:
        case = ElementTree.SubElement(suite, "testcase", name="the whole run", classname="gjk3d.clash")
        text = f"stopped: {report.pairs_tested} of {report.pairs_total} pairs were tested"
        ElementTree.SubElement(case, "error", message=text, type="stopped")
    return document(suite)


def _case_text(clash: Clash, report: Report) -> str:
    unit, noise = report.reading[0], wording.noise(clash, report)
    text = f"{clash.status} {clash.kind}"
    if clash.penetration is not None:
        text += f", penetration {inside(clash, unit, noise)}"
    if clash.distance is not None:
        text += f", {measure(clash, unit, noise)} ({clash.evidence})"
    if words := wording.when(clash, report):
        text += f", {words}"
    return f"{text}: {clash.note}" if clash.note else text
