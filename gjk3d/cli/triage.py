"""``gjk3d triage REPORT FILE...``: what several people decided about a report, in one file, and out again as BCF."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import check_output
from gjk3d.cli.serve import read_whole, sidecar
from gjk3d.cli.terminal import note, say
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.clash import Report

_BCF = (".bcf", ".bcfzip")


def triage(
    report: Path,
    /,
    *files: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    bcf: Path | None = None,
    section: Annotated[bool, Parameter(negative=())] = False,
    pictures: int = 20,
) -> int:
    """Merge what several people decided about the findings of a report, by finding and time.

    Parameters
    ----------
    report
        As gjk3d clash -f json wrote it.
    files
        What was decided: .triage.json files that pages saved, and .bcf files that others worked on.
    output
        Where to write all of it; by default the report's name with .triage.json at its end, which is read too if it is
        there.
    bcf
        Write the findings, with all that was decided, as BCF 2.1.
    section
        The views of the findings there have a section plane, which cuts away what is in front of a finding.
    pictures
        So many of the worst open findings get a picture there, about half a second each.
    """
    from gjk3d.clash.decisions.triage import read_triage
    from gjk3d.clash.formats import read_bcf

    check_output(output, "--output", (), (report,))
    check_output(bcf, "--bcf", _BCF, (report, *files))
    target = output or sidecar(report)
    found = read_whole(report) if bcf is not None else _read(report)
    whole = read_triage(target if target.exists() else None)
    for file in files:
        if file.suffix.lower() not in _BCF:
            whole = whole.merged(read_triage(file))
            continue
        found.triage = whole
        read = read_bcf(file, found)
        whole = whole.merged(read.triage)
        for text in read.notes:
            note(text)
    whole.write(target)
    note(target, "wrote")
    states = Counter(issue.state.value for issue in whole.issues.values() if issue.state is not None)
    said = sum(len(issue.comments) for issue in whole.issues.values())
    say(", ".join([*(f"{many} {state}" for state, many in sorted(states.items())), count(said, "comment")]))
    if bcf is not None:
        found.triage = whole
        _write_bcf(found, bcf, pictures, section)
        note(bcf, "wrote")
    return 0


def _write_bcf(report: Report, path: Path, most: int, section: bool) -> None:
    """Write the findings as BCF, with pictures where some can be drawn."""
    from gjk3d.clash.formats import to_bcf
    from gjk3d.cli.snapshots import snapshots
    from gjk3d.errors import RenderingUnavailableError

    try:
        pictures = snapshots(report, most)
    except (RenderingUnavailableError, ImportError) as error:
        note(f"{path} has no pictures: {error}")
        pictures = None
    to_bcf(report, path, snapshot=pictures, section=section)


def _read(path: Path) -> Report:
    from gjk3d.clash.report.baseline import read_baseline

    report = read_baseline(path)
    assert report is not None
    return report
