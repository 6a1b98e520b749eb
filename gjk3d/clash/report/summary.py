"""Makes the report of a run: compares with the baseline, groups and ranks the findings, and adds notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gjk3d.bodies import pieces
from gjk3d.bodies.surface import STEEPEST, chord_error
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
    """Return the report of the findings so far.

    Parameters
    ----------
    run : Run
        What is done of it.
    complete : bool
        Whether that is all.
    elapsed : float
        Seconds that it took.
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
    if complete:  # of some of the findings nothing is said of all
        report.notes += cause_notes(report)
    if run.before is not None:
        report.notes += _differences(run, run.before, report, sum(clash.is_open for clash in lost))
    return report


def _notes(run: Run, examined: Collection[int]) -> tuple[str, ...]:
    """Return the notes of the report; ``examined`` are the numbers of the shapes that were examined."""
    notes = [*run.assembly.notes, *run.ignoring.unused(), *run.remarks]
    if run.moving is not None:
        notes += run.moving.notes
    notes += _surfaces(run, examined)
    if not pieces.available():
        notes.append('overlaps have no volume, and are found by samples: pip install "gjk3d[mesh]" gives manifold3d')
    return tuple(notes)


def _of_facets(run: Run) -> tuple[str, ...]:
    """Return the note on overlaps that may come from the triangles of curved faces, by an estimate of their error."""
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
        f"curved faces are triangles, about {error} off for two parts together: {count(len(near), 'overlap')} no deeper"
        f" than that may be a touch ({named}{more}); --tolerance {error.replace(' ', '')} reports these as touching",
    )


def _surfaces(run: Run, examined: Collection[int]) -> list[str]:
    """Return notes on parts whose surface was repaired or is open. The inside of an open part is not seen."""
    flaws: dict[str, list[str]] = {}
    for shape, part in zip(run.which.tolist(), run.placed, strict=True):
        mesh = run.shapes[shape]
        if shape not in examined or not mesh._solid:
            continue
        flaws_of_mesh = list(mesh.repairs)
        if mesh.nearly_closed:
            flaws_of_mesh.append(
                f"nearly closed, with {mesh._mended.loose_edges} open edges at {len(mesh.faces)} triangles: what lies"
                " inside there is not seen"
            )
        elif mesh.open_edges:
            flaws_of_mesh.append("not closed: what lies inside is not seen")
        for text in flaws_of_mesh:
            flaws.setdefault(text, []).append(part.name)
    return [f"{_listed(names)}: {text}" for text, names in flaws.items()]


def _listed(names: Sequence[str]) -> str:
    """Return the first names as text, and the number of the others."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _rows(run: Run, examined: Collection[int]) -> PartRows:
    """Return the parts of the report. Shapes that were not ``examined`` get no value that needs a hull."""
    facts: list[tuple[int, bool | None, bool | None]] = [
        (len(shape.faces), *((shape.is_watertight, shape.is_convex) if k in examined else (None, None)))
        for k, shape in enumerate(run.shapes)
    ]
    shapes, bounds = np.full(len(run.parts), len(facts)), np.full((len(run.parts), 2, 3), np.nan)
    shapes[run.places], bounds[run.places] = run.which, run.bounds
    facts.append((0, None, None))  # of a part that has none
    numbers = shapes.tolist()
    columns = {name: [facts[k][n] for k in numbers] for n, name in enumerate(("triangles", "closed", "convex"))}
    names = ("name", "file", "reason", "path", "colour", "guid")
    columns |= {name: [getattr(part, name) for part in run.parts] for name in names}
    return PartRows(columns | {"bounds": bounds})


def _checked(run: Run) -> Callable[[str, str], bool]:
    """Return a test for two names: whether the run checked that pair, or one of its parts is missing."""
    number = {part.name: k for k, part in enumerate(run.parts)}

    def checked(a: str, b: str) -> bool:
        if a not in number or (b and b not in number):
            return True  # a part that is gone clashes no more
        i, j = number[a], number[b or a]
        if run.moving is None and (a, b) in run.timed_before:
            return False  # a clash on the way is not looked for where nothing moves
        return bool(run.wanted(i, j)) and all(run.parts[k].shape is not None for k in (i, j))

    return checked


def _differences(run: Run, before: Report, after: Report, carried: int) -> tuple[str, ...]:
    notes = [f"the baseline was made with {old}, this is with {new}" for old, new in differences(before, after)]
    if carried:
        notes.append(f"{count(carried, 'finding')} not looked at this time: as in the baseline")
    if run.unit_before != before.unit:
        notes.insert(0, f"the baseline is in {run.unit_before}: its lengths are converted to {before.unit}")
    return tuple(notes)
