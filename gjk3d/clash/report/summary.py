"""The report of a run: comparison with the baseline, groups and ranks of the findings, and notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gjk3d.bodies import solids
from gjk3d.bodies.accuracy import STEEPEST, chord_error
from gjk3d.clash.decisions.resuming import resolved_issues, updated
from gjk3d.clash.detection.clashes import KINDS
from gjk3d.clash.detection.findings import cause_notes, causes, grouped, moves, ranked
from gjk3d.clash.report.baseline import differences, missing
from gjk3d.clash.report.report import PartRows, Report
from gjk3d.units import reading
from gjk3d.wording import above, count, with_unit

if TYPE_CHECKING:
    from gjk3d.clash.detection.run import Run


_NAMED = 3  #: pairs in a note
_MOST = 30  #: parts in a note


def summary(run: Run, complete: bool, elapsed: float) -> Report:
    """Return the report of a run.

    Parameters
    ----------
    run : Run
        The run with its findings.
    complete : bool
        Whether the run was not stopped before its end.
    elapsed : float
        The time of the run in seconds.
    """
    clashes = run.findings.clashes
    checked = _checked(run) if complete else lambda a, b: False
    lost = [] if run.before is None else missing(run.before, run.findings.seen, checked)
    if lost:
        clashes = clashes.joined(lost)
    if run.triage is not None:
        clashes = clashes.joined(resolved_issues(run.triage, {*run.findings.seen, *clashes.ids()}, checked))
    sizes = {part.name: size for part, size in zip(run.placed, run.sizes.tolist(), strict=True)}
    opened, closed = (clashes.subset(np.flatnonzero(which)) for which in (clashes.is_open, ~clashes.is_open))
    groups = [*grouped(opened, sizes), *closed.columns["group"]]
    examined: Collection[int] = range(len(run.shapes)) if complete else set(run.which[run.looked_at].tolist())
    report = Report(
        triage=None if run.triage is None else updated(run.triage, clashes),
        clashes=ranked(opened.joined(closed), groups),
        parts=_rows(run, examined),
        unit=run.assembly.unit,
        clearance=run.clearance,
        tolerance=run.tolerance,
        pairs_total=run.total,
        pairs_close=run.close,
        pairs_tested=run.total - run.undecided - run.unfollowed,
        decisions=run.decisions,
        complete=complete,
        elapsed=elapsed,
        settings=run.settings,
        inputs=run.assembly.inputs,
        notes=_notes(run, examined),
        left_out=run.findings.left_out,
        motion=None if run.moving is None else run.moving.record(),
        assembly=run.assembly,
    )
    shifted = moves(run.before.parts, report.parts, run.tolerance) if run.before is not None else {}
    report.notes += _of_facets(run)
    report.causes = tuple(causes(report.clashes, shifted))
    if complete:  # a part of the findings does not show their causes
        report.notes += cause_notes(report)
    if run.before is not None:
        report.notes += _differences(run, run.before, report, sum(clash.is_open for clash in lost))
    return report


def _notes(run: Run, examined: Collection[int]) -> tuple[str, ...]:
    notes = [*run.assembly.notes, *run.ignoring.unused(), *run.remarks]
    if run.moving is not None:
        notes += run.moving.notes
    notes += _surfaces(run, examined)
    if not solids.available():
        notes.append(
            "manifold3d is missing, so overlaps are detected by samples and have no volume:"
            ' run pip install "gjk3d[mesh]"'
        )
    return tuple(notes)


def _of_facets(run: Run) -> tuple[str, ...]:
    clashes = run.findings.clashes
    if not run.default or not len(clashes):
        return ()
    inside, depths = clashes.columns["penetration"], clashes.columns["depth"]
    depth = np.where(np.isnan(inside), depths, inside)
    place = np.full(len(run.parts) + 1, -1)
    place[run.places] = np.arange(len(run.places))
    pairs = place[np.column_stack([clashes.columns["a"], clashes.columns["b"]]).astype(np.int64)]
    hard = clashes.is_open & (clashes.columns["kind"] == KINDS.index("hard"))
    hard &= depth < STEEPEST * run.sizes[pairs].sum(axis=1)
    pairs, depth = pairs[hard], depth[hard]
    errors = {k: run.placed[k].facets or chord_error(run.shapes[run.which[k]]) for k in set(pairs.ravel().tolist())}
    limits = np.array([errors[i] + errors[j] for i, j in pairs.tolist()]).reshape(-1)
    near = np.flatnonzero(depth <= limits)
    if not len(near):
        return ()
    unit, factor = reading(run.assembly.unit, float(run.sizes.max()))
    error = with_unit(above(factor * float(limits[near].max()), 2), unit)
    named = ", ".join(" and ".join(run.placed[k].name for k in pairs[n]) for n in near[:_NAMED].tolist())
    more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
    return (
        f"triangles approximate curved faces, with an error of about {error} for two parts together."
        f" {count(len(near), 'overlap')} within this error may be a touch ({named}{more}):"
        f" --tolerance {error.replace(' ', '')} reports such overlaps as touching",
    )


def _surfaces(run: Run, examined: Collection[int]) -> list[str]:
    """Return notes on parts whose surface was repaired or is open. Parts inside an open part are not detected."""
    flaws: dict[str, list[str]] = {}
    for shape, part in zip(run.which.tolist(), run.placed, strict=True):
        mesh = run.shapes[shape]
        if shape not in examined or not mesh._solid:
            continue
        flaws_of_mesh = list(mesh.repairs)
        if mesh.nearly_closed:
            flaws_of_mesh.append(
                f"nearly closed, with {mesh._mended.loose_edges} open edges in {len(mesh.faces)} triangles:"
                " parts inside it are not detected"
            )
        elif mesh.open_edges:
            flaws_of_mesh.append("not closed: parts inside it are not detected")
        for text in flaws_of_mesh:
            flaws.setdefault(text, []).append(part.name)
    return [f"{_listed(names)}: {text}" for text, names in flaws.items()]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _rows(run: Run, examined: Collection[int]) -> PartRows:
    """Return the parts of the report. Values that need a hull are None for shapes that were not examined."""
    facts: list[tuple[int, bool | None, bool | None]] = [
        (len(shape.faces), *((shape.is_watertight, shape.is_convex) if k in examined else (None, None)))
        for k, shape in enumerate(run.shapes)
    ]
    shapes, bounds = np.full(len(run.parts), len(facts)), np.full((len(run.parts), 2, 3), np.nan)
    shapes[run.places], bounds[run.places] = run.which, run.bounds
    facts.append((0, None, None))  # for parts without a shape
    numbers = shapes.tolist()
    columns = {name: [facts[k][n] for k in numbers] for n, name in enumerate(("triangles", "closed", "convex"))}
    names = ("name", "file", "reason", "path", "colour", "guid")
    columns |= {name: [getattr(part, name) for part in run.parts] for name in names}
    return PartRows(columns | {"bounds": bounds})


def _checked(run: Run) -> Callable[[str, str], bool]:
    """Return a function of two names: whether the run checked the pair, or one of its parts is missing."""
    number = {part.name: k for k, part in enumerate(run.parts)}

    def checked(a: str, b: str) -> bool:
        if a not in number or (b and b not in number):
            return True  # a missing part cannot clash
        i, j = number[a], number[b or a]
        if run.moving is None and (a, b) in run.timed_before:
            return False  # a run without motion cannot check a clash of moving parts
        return bool(run.wanted(i, j)) and all(run.parts[k].shape is not None for k in (i, j))

    return checked


def _differences(run: Run, before: Report, after: Report, carried: int) -> tuple[str, ...]:
    notes = [f"the baseline was made with {old}, and this report with {new}" for old, new in differences(before, after)]
    if carried:
        notes.append(f"{count(carried, 'finding')} not checked in this run: as in the baseline")
    if run.unit_before != before.unit:
        notes.insert(0, f"the lengths of the baseline are converted from {run.unit_before} to {before.unit}")
    return tuple(notes)
