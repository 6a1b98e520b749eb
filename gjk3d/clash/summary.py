"""What a run found, put in order: compared with what was known before, grouped, ranked, and remarked on."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.clash import contacts as solids
from gjk3d.clash.causes import causes, moves, told
from gjk3d.clash.findings import differences, grouped, missing, ranked
from gjk3d.clash.report import PartRow, Report
from gjk3d.clash.resuming import gone, updated

if TYPE_CHECKING:
    from gjk3d.clash.run import Run


def summary(run: Run, complete: bool, elapsed: float) -> Report:
    """Return what was found so far.

    Parameters
    ----------
    run : Run
        What is done of it.
    complete : bool
        Whether that is all.
    elapsed : float
        Seconds that it took.
    """
    with _all_kept():
        clashes = run.findings.kept
        checked = _checked(run) if complete else lambda a, b: False
        if run.before is not None:
            clashes = clashes.joined(missing(run.before, run.findings.seen, checked))
        if run.triage is not None:
            clashes = clashes.joined(gone(run.triage, {*run.findings.seen, *clashes.ids()}, checked))
        sizes = {part.name: size for part, size in zip(run.placed, run.sizes.tolist(), strict=True)}
        opened, others = (clashes.take(np.flatnonzero(which)) for which in (clashes.is_open, ~clashes.is_open))
        groups = [*grouped(opened, sizes), *others.columns["group"]]
        known = set(run.which[run.looked_at].tolist())
        report = Report(
            triage=None if run.triage is None else updated(run.triage, clashes),
            clashes=ranked(opened.joined(others), groups),
            parts=_rows(run, range(len(run.shapes)) if complete else known),
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
            notes=_notes(run, known),
            left_out=run.findings.left_out,
            motion=None if run.moving is None else run.moving.record(),
            assembly=run.assembly,
        )
        shifted = moves(run.before.parts, report.parts, run.tolerance) if run.before is not None else {}
        report.causes = tuple(causes(report.clashes, shifted))
        if complete:  # of some of the findings nothing is said of all
            report.notes += told(report)
        if run.before is not None:
            report.notes += _differences(run, run.before, report)
    return report


@contextmanager
def _all_kept() -> Iterator[None]:
    """Keep Python's collector of cycles from looking through a million new objects, all in use, again and again."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _notes(run: Run, known: Collection[int]) -> tuple[str, ...]:
    """Return what to remark of the whole; shapes are ``known``, by number, of which a part was looked at."""
    notes = [*run.assembly.notes, *run.ignoring.unused(), *run.remarks]
    if run.moving is not None:
        notes += run.moving.notes
    nearly = {k: run.shapes[k] for k in known if run.shapes[k].nearly_closed}
    for k in np.flatnonzero(run.looked_at).tolist() if nearly else ():
        if (mesh := nearly.get(run.which.item(k))) is not None:
            notes.append(
                f"{run.placed[k].name} is nearly closed: it has {mesh.open_edges} open edges at {len(mesh.faces)}"
                " triangles, and what lies inside it is not seen"
            )
    if not solids.available():
        notes.append('overlaps have no volume, and are found by samples: pip install "gjk3d[mesh]" gives manifold3d')
    return tuple(notes)


def _rows(run: Run, known: Collection[int]) -> tuple[PartRow, ...]:
    """Return what is told of the parts; nothing that needs a hull of shapes that are not ``known``, by number."""
    facts: list[tuple[int, bool | None, bool | None]] = [
        (len(shape.faces), *((shape.is_watertight, shape.is_convex) if k in known else (None, None)))
        for k, shape in enumerate(run.shapes)
    ]
    boxes: Any = zip(run.which.tolist(), run.bounds.tolist(), strict=True)
    rows = []
    closed: bool | None
    for part in run.parts:
        triangles, closed, convex, bounds = 0, None, None, None
        if part.shape is not None:
            shape, (low, high) = next(boxes)
            (triangles, closed, convex), bounds = facts[shape], (tuple(low), tuple(high))
        more = part.reason, part.path, part.colour, part.guid
        rows.append(PartRow(part.name, part.file, triangles, closed, convex, bounds, *more))
    return tuple(rows)


def _checked(run: Run) -> Callable[[str, str], bool]:
    """Return what tells of two names whether that pair was looked at, or a part of it is gone."""
    number = {part.name: k for k, part in enumerate(run.parts)}

    def checked(a: str, b: str) -> bool:
        if a not in number or (b and b not in number):
            return True  # a part that is gone clashes no more
        i, j = number[a], number[b or a]
        if run.moving is None and (a, b) in run.timed_before:
            return False  # a clash on the way is not looked for where nothing moves
        return bool(run.wanted(i, j)) and all(run.parts[k].shape is not None for k in (i, j))

    return checked


def _differences(run: Run, before: Report, after: Report) -> tuple[str, ...]:
    notes = [f"the baseline was made with {old}, this is with {new}" for old, new in differences(before, after)]
    if run.unit_before != before.unit:
        notes.insert(0, f"the baseline is in {run.unit_before}: its lengths are converted to {before.unit}")
    return tuple(notes)
