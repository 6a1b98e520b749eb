"""JUnit XML, which the dashboards of continuous integration show: a test case a finding."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from gjk3d.clash import wording
from gjk3d.clash.report import KINDS, Clash, Report

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def legal(text: str) -> str:
    """Return text without what XML 1.0 has no characters for."""
    return "".join(c if c.isprintable() or c == " " else "\N{REPLACEMENT CHARACTER}" for c in text)


def document(root: Element) -> str:
    """Return a whole document, indented."""
    from xml.etree import ElementTree

    ElementTree.indent(root, " ")
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def to_junit(report: Report, fatal: Collection[str] = KINDS, only_new: bool = False) -> str:
    """Return the report as one test suite.

    Findings of the kinds in ``fatal`` are failures, ``only_new`` if the baseline lacks them; other open ones passed,
    ignored ones are skipped. Without any finding there is one case that passed. A run that was stopped is an error.
    """
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
    for clash in cases:
        pair = f"{clash.a} / {clash.b}" if clash.b else clash.a
        case = ElementTree.SubElement(suite, "testcase", name=legal(pair), classname=f"gjk3d.clash.{clash.kind}")
        text = legal(_words(clash, report.unit))
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


def _words(clash: Clash, unit: str | None) -> str:
    text = f"{clash.status} {clash.kind}"
    if clash.distance is not None:
        text += f", distance {wording.distance(clash, unit=unit)} ({clash.evidence})"
    return f"{text}: {clash.note}" if clash.note else text
