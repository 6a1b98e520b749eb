"""The run of a check, which decides all pairs by boxes, hulls and triangles. A run can be stopped after any pair."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from gjk3d.bodies import solids
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.self_intersections import intersects_itself
from gjk3d.bodies.topology import STEEPEST, chord_error
from gjk3d.clash.detection.assembly import Assembly, check_assembly
from gjk3d.clash.detection.clashes import KINDS, Clash, Clashes, Names, column, objects
from gjk3d.clash.detection.decider import Decision, Decisions, Query, unchecked
from gjk3d.clash.detection.findings import (
    Findings,
    Rule,
    RuleBook,
    cause_notes,
    causes,
    chosen,
    grouped,
    moves,
    ranked,
    read_rules,
)
from gjk3d.clash.detection.pairs import (
    PART_OF_TOLERANCE,
    Twins,
    alike,
    boxes_close,
    doubted_limits,
    format_length,
    placed,
)
from gjk3d.clash.detection.parts import Tolerances, default_tolerances, first_names, order
from gjk3d.clash.motion.files import movement_of
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.motion.moving import Moving
from gjk3d.clash.report.baseline import differences, in_unit, kinds_of, missing, read_baseline
from gjk3d.clash.report.report import BY_DEFAULT, PartRows, Report
from gjk3d.clash.triage import Triage, read_triage, resolved_issues, take_up, updated
from gjk3d.convex.checks import check_workers
from gjk3d.errors import ShapeError
from gjk3d.poses import IDENTITY, WIDTH
from gjk3d.scale import Aside, aside, check_client, delayed_interrupt, on_cluster
from gjk3d.typing import Array, Ints
from gjk3d.units import reading
from gjk3d.wording import above, count, with_unit


def check(
    assembly: Assembly,
    clearance: float = 0.0,
    tolerance: float | None = None,
    *,
    motion: Movement | str | os.PathLike[str] | None = None,
    a: str | None = None,
    b: str | None = None,
    ignore: str | os.PathLike[str] | Iterable[Rule] | None = None,
    baseline: str | os.PathLike[str] | Report | None = None,
    triage: str | os.PathLike[str] | Triage | None = None,
    workers: int = 1,
    executor: Any = None,
    keep: int | None = None,
    progress: Progress | None = None,
    found: Callable[[Clash], None] | None = None,
) -> Report:
    """Return a report of the parts that clash, touch or come too close.

    Boxes and convex hulls prove that pairs are free. The hulls decide pairs of convex parts, and the triangles decide
    all other pairs.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    clearance : float
        The required gap between parts. A gap below clearance - tolerance is reported as "clearance".
    tolerance : float, optional
        The largest overlap, and the largest gap, that counts as touching. By default each pair has a tolerance: a
        millionth of the largest coordinate of its parts, relative to the median of the centers of all parts. This is 16
        times the rounding error of float32 files, so faces on one plane touch. The default is also at least 8 times the
        spacing of the numbers in the files, which grows with the distance from the origin. Curved parts that were
        meshed separately need a larger tolerance, the error of their facets. This error is known for STEP files, and
        the default tolerance is at least the sum of the errors of both parts.
    motion : Movement or path, optional
        The motion of the parts. A path is read by `read_motion`. Findings of pairs that move relative to each other
        have times.
    a, b : str, optional
        Patterns of names with ``*`` and ``?`` as in file names. Only pairs of a part that matches ``a`` and a part that
        matches ``b`` are checked. A pattern must match the whole name of a part, or the text after the last ``/``
        of the name.
    ignore : path or sequence of Rule, optional
        Rules for findings to ignore. See `gjk3d.clash.read_rules`.
    baseline : path or Report, optional
        An earlier report. A finding that is in both reports is "active" instead of "new", also if it was ignored
        earlier. A finding that is only in the earlier report is "resolved".
    triage : path or Triage, optional
        Decisions of people about findings of earlier runs. An approved finding is "ignored", unless the parts are
        deeper or nearer now, or clash at other times of the motion. An active or reviewed finding is "active". A
        finding that was marked as resolved is "new" if it appears again. A finding that does not appear again is
        "resolved", unless it is approved.
    workers : int
        The number of threads. The result does not depend on this number.
    executor : dask.distributed.Client, optional
        A cluster that decides the pairs. Each worker gets the shapes once. The findings arrive one by one in the same
        order and with the same bits. If a worker fails, other workers repeat its tasks. Pairs that move relative to
        each other are decided locally by ``workers`` threads. ``pip install "gjk3d[scale]"`` installs Dask.
    keep : int, optional
        The largest number of findings in the report. The worst findings are kept, and the others are only counted. The
        default keeps all findings. A finding takes about 0.4 kB of memory, and 2 kB more while a program uses it.
    progress : callable, optional
        A function of the stage ("boxes", "pairs"), the number of finished pairs, the number of all pairs, and the
        number of findings.
    found : callable, optional
        A function that is called with each finding before it is ranked, grouped and compared with the baseline. The
        order of the calls does not depend on ``workers``.

    Returns
    -------
    Report
        After Ctrl-C the report contains the findings so far, and ``complete`` is False. Pairs that are being decided at
        that moment are missing.

    Raises
    ------
    ShapeError
        If a length or a number is out of range, or two parts have the same name.
    ParseError
        If a pattern matches no part, or the files of ``motion``, ``ignore``, ``baseline`` or ``triage`` are damaged.
    FileError
        If a file does not exist.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {name: gk.Mesh(cube.vertices + shift, cube.faces) for name, shift in (("a", 0), ("b", 0.75), ("c", 3))}
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"))
    >>> [(clash.kind, clash.a, clash.b, clash.depth) for clash in report.clashes]
    [('hard', 'a', 'b', 0.25)]
    """
    start = time.perf_counter()
    check_assembly(assembly, "check")
    check_workers(workers)
    if executor is not None:
        check_client(executor)
    if keep is not None and not (isinstance(keep, int) and keep >= 0):
        raise ShapeError(f"keep is {keep!r:.80}, expected a number of findings, 0 or more")
    for name, pattern in (("a", a), ("b", b)):
        if not isinstance(pattern, str | None):
            raise ShapeError(f"{name} is {pattern!r:.80}, expected a pattern of names such as 'bolt_*'")
    decided = None if triage is None else read_triage(triage)
    run = Run(assembly, clearance, tolerance, (a, b), read_rules(ignore), read_baseline(baseline), decided, keep, found)
    if motion is not None:
        run.moving = Moving(movement_of(motion, assembly.unit), run.placed, assembly.unit)
    complete = run.go(workers, executor, progress)
    with delayed_interrupt() as waiting:  # a Ctrl-C must not lose the findings while they are sorted
        report = _report(run, complete, time.perf_counter() - start)
    if waiting:
        report.complete = False
    return report


#: A note is added for default tolerances above this share of the size of the smaller part of a pair.
_LARGE = 1e-3

#: The number of pairs whose findings are stored at once if no callback needs them one by one.
_TOGETHER = 1024

Progress = Callable[[str, int, int, int], None]
_Wait = Callable[[], None]  #: raises KeyboardInterrupt after Ctrl-C


class Run:
    """The state of one call of `gjk3d.clash.check`."""

    def __init__(
        self,
        assembly: Assembly,
        clearance: float,
        tolerance: float | None,
        selection: tuple[str | None, str | None],
        rules: tuple[Rule, ...],
        before: Report | None,
        triage: Triage | None,
        most: int | None,
        callback: Callable[[Clash], None] | None,
    ) -> None:
        parts = sorted(assembly.parts, key=lambda part: order(part.name))
        self.assembly = replace(assembly, parts=tuple(parts))
        names = [part.name for part in parts]
        twice = next((x for x, y in pairwise(names) if x == y), None)
        if twice is not None:
            raise ShapeError(f"two parts have the name {twice!r}, expected different names. Rename one of them.")
        self.parts = parts
        counts = Counter(part.guid for part in parts)
        # the GlobalId of IFC is unchanged when a part is renamed, but only a unique GlobalId identifies a part
        idents = [part.guid if part.guid and counts[part.guid] == 1 else part.name for part in parts]
        self.names = Names(objects([*names, ""]), objects([*idents, ""]), np.append(np.arange(len(parts)), -1))
        self.files = objects([*(part.file for part in parts), ""])
        self.in_a, self.in_b = (np.array(chosen(selection[k], names, f"{'ab'[k]}="), dtype=bool) for k in (0, 1))
        self.places = np.flatnonzero([part.shape is not None for part in parts])
        self.placed = [part for part in parts if part.shape is not None]
        number: dict[int, int] = {}
        self.shapes: list[Mesh] = []
        for part in self.placed:
            if part.shape is not None and number.setdefault(id(part.shape), len(number)) == len(self.shapes):
                self.shapes.append(part.shape)
        self.which = np.array([number[id(part.shape)] for part in self.placed], dtype=np.int64)
        self.bounds = np.array([part.bounds for part in self.placed]).reshape(-1, 2, 3)
        self.sizes = np.linalg.norm(self.bounds[:, 1] - self.bounds[:, 0], axis=1)
        for mesh in self.shapes:
            mesh._hush()  # a note of the report replaces the warning of an open mesh
        self.clearance = _length(clearance, "clearance")
        self.default = tolerance is None
        facets = np.array([part.facets for part in self.placed])
        self.slacks = np.array([part.slack for part in self.placed]) + facets
        tolerances = default_tolerances(self.bounds, np.array([part.spacing for part in self.placed]))
        self.steps = PART_OF_TOLERANCE * tolerances
        if tolerance is not None:
            tolerances, facets = np.full(len(self.placed), _length(tolerance, "tolerance")), np.zeros(len(self.placed))
            self.steps = np.minimum(self.steps, PART_OF_TOLERANCE * tolerances)
        self.tolerances = Tolerances(tolerances, facets)
        self.tolerance = float(tolerances.max(initial=0.0))
        self.settings: dict[str, Any] = {
            "tolerance_from": "given" if tolerance is not None else BY_DEFAULT,
            "a": selection[0],
            "b": selection[1],
            "ignore": [[rule.a, rule.b, rule.reason, list(rule.kinds)] for rule in rules],
        }
        self.ignoring = RuleBook(rules, self.names.names)
        self.before = None if before is None else in_unit(before, assembly.unit, "the baseline", "this assembly")
        self.unit_before = None if before is None else before.unit
        self.timed_before = {(c.a, c.b) for c in (before.clashes if before else ()) if c.time is not None}
        self.known = kinds_of(before)
        self.triage = triage
        watched = self.known.keys() if triage is None else self.known.keys() | triage.issues.keys()
        self.findings = Findings(self.names, most, watched, callback)
        names = [part.name for part in self.placed]
        self.remarks = doubted_limits(self.clearance, tolerance, names, self.sizes, assembly.unit)
        self.moving: Moving | None = None
        self.looked_at = np.zeros(len(self.placed), dtype=bool)  #: whether each placed part was in a decided pair
        self.close = self.decisions = 0
        self.undecided = self.total = self._total(self.places)
        self.unfollowed = 0  #: the number of pairs that move relative to each other and were not decided yet

    def wanted(self, i: Any, j: Any) -> Any:
        """Return whether each pair of parts i and j is selected.

        In a selected pair, the name of one part matches pattern ``a`` of `check`, and the other name matches ``b``.
        """
        return (self.in_a[i] & self.in_b[j]) | (self.in_a[j] & self.in_b[i])

    def _total(self, places: Ints) -> int:
        in_a, in_b = self.in_a[places], self.in_b[places]
        a, b, in_both = int(in_a.sum()), int(in_b.sum()), int((in_a & in_b).sum())
        return a * b - in_both - in_both * (in_both - 1) // 2

    def go(self, workers: int, cluster: Any, progress: Progress | None) -> bool:
        """Decide all pairs, and return False if Ctrl-C stopped the run. ``cluster`` is a Dask client or None."""
        try:
            with delayed_interrupt() as waiting:

                def heed() -> None:
                    if waiting:
                        raise KeyboardInterrupt

                def count_pair() -> None:
                    self.undecided -= 1

                def step() -> None:
                    """Count a decided pair, and report the progress."""
                    count_pair()
                    if progress is not None:
                        progress("pairs", self.close - self.undecided, self.close, self.findings.count)
                    heed()

                # findings are computed in batches if no callback needs them one by one
                quiet = progress is None and self.findings.found is None

                lost = [k for k in np.flatnonzero(self.in_a | self.in_b).tolist() if self.parts[k].shape is None]
                decisions = [Decision(unchecked(self.parts[k].reason)) for k in lost]
                self.findings.add(
                    self._clashes(lost, [-1] * len(lost), decisions, np.arange(len(lost))), [True] * len(lost)
                )
                if progress is not None:
                    progress("boxes", 0, self.total, 0)
                heed()
                with aside(workers, heed) as threads:
                    together, tell = (_TOGETHER, count_pair) if quiet else (1, step)
                    self._decide(threads, workers, cluster, heed, together, tell)
                    if self.moving is not None:
                        self._follow(self.moving, threads, step)
        except KeyboardInterrupt:
            return False
        return True

    def _clashes(
        self,
        a: Any,
        b: Any,
        decisions: Sequence[Decision],
        which: Any = 0,
        rows: Array = IDENTITY,
        tolerances: Any = np.nan,
        slacks: Any = 0.0,
        **more: Any,
    ) -> Clashes:
        """Return the findings of n pairs of parts in the frame of the assembly, with their statuses.

        ``a`` and ``b`` (n,) are the indices of the parts. ``which`` is the index in ``decisions`` of each pair.
        ``rows`` are the pose rows of the parts ``a``. ``tolerances`` and ``slacks`` are lengths for each pair.
        ``more`` has further fields of `Clash`, which are equal for all pairs.
        """
        if not len(a):
            return Clashes.all(self.names, [])
        a, b = (np.asarray(values, dtype=np.int64) for values in (a, b))
        which, tolerances, slacks = (np.broadcast_to(values, len(a)) for values in (which, tolerances, slacks))
        columns = placed(decisions, which, np.broadcast_to(rows, (len(a), WIDTH)), tolerances, slacks)
        columns |= {"a": a, "b": b, "a_file": self.files[a], "b_file": self.files[b]}
        columns |= {name: column(name, [value] * len(a)) for name, value in more.items()}
        clashes = Clashes(self.names, columns)
        self.ignoring.ignore(clashes)
        take_up(clashes, self.known, self.triage, self.assembly.unit)
        return clashes

    def _decide(
        self, threads: Aside, workers: int, cluster: Any, heed: _Wait, together: int, tell: _Wait
    ) -> None:  # fmt: skip
        """Decide the pairs of parts that do not move relative to each other.

        The findings are stored in batches of at least ``together`` pairs.
        ``heed`` raises KeyboardInterrupt after Ctrl-C, and ``tell`` counts a decided pair.
        """
        pairs = threads.run(boxes_close, self.bounds, self.clearance, self.tolerances, self.slacks)
        pairs = pairs[self.wanted(*self.places[pairs].T)]
        if self.moving is not None:
            pairs = pairs[np.array([self.moving.together(i, j) for i, j in pairs], dtype=bool)]
            groups = [self.places[members] for members in self.moving.groups()]
            self.unfollowed = self.total - sum(map(self._total, groups))
        self.close = self.undecided = len(pairs)
        if self.default and len(pairs):
            self._remark_on_tolerances(pairs)
        rows = np.array([IDENTITY[0] if part._row is None else part._row for part in self.placed]).reshape(-1, WIDTH)
        steps = self.steps[pairs].max(axis=1)
        copies = threads.run(alike, pairs, self.shapes, self.which, rows, self.slacks, steps)
        tolerances = self.tolerances.of(*pairs.T)
        reach = np.maximum(self.clearance, tolerances)
        widest = reach[copies.first]
        np.maximum.at(widest, copies.group, reach + copies.slack)
        decisions = Decisions(self.shapes, self.clearance, float(widest.max(initial=0.0)))

        def query_of(group: int, k: int | None = None) -> Query:
            k = copies.first[group] if k is None else k
            a, b = self.which[pairs[k]].tolist()
            return Query(a, b, copies.rows[group], float(widest[group]), float(tolerances[k]))

        def again(k: int) -> Decision:
            """Decide pair k separately, because its tolerance excludes the decision of its group of equal pairs."""
            self.decisions += 1
            decision: Decision | None = threads.run(decisions.lot, [query_of(copies.group.item(k), k)])[0]
            return decision or Decision(None)

        with ExitStack() as stack:
            if cluster is None:
                stream = decisions.run_here(query_of, len(copies.first), workers, threads)
            else:
                stream = decisions.run_there(
                    query_of, len(copies.first), stack.enter_context(on_cluster(cluster, decisions, heed))
                )
            twins = Twins(copies, tolerances)
            begin = end = 0  # the findings of the pairs before begin are stored
            try:
                # the pairs before the first pair of the next group belong to groups that are decided
                for group, stop in enumerate([*copies.first[1:].tolist(), len(pairs)][: len(copies.first)]):
                    decision = next(stream)
                    if decision is not None:
                        self.decisions += 1
                        twins.decided(group, decision, again)
                    end = stop
                    if decision is None and begin == end - 1:  # a single free pair, the most frequent case
                        begin = end
                        tell()
                    elif end - begin >= together:
                        start, begin = begin, end
                        self.findings.add(*self._findings_of(twins, pairs, rows, start, end), tell)
                    heed()
            finally:
                if begin < end:
                    self.findings.add(*self._findings_of(twins, pairs, rows, begin, end), tell)

    def _findings_of(self, twins: Twins, pairs: Ints, rows: Array, start: int, stop: int) -> tuple[Clashes, list[bool]]:
        self.looked_at[pairs[twins.looked_at(start, stop)]] = True
        reported, decisions, which = twins.decisions(start, stop)
        numbers = start + np.flatnonzero(reported)
        i, j = pairs[numbers].T
        slacks = twins.alike.slack[numbers]
        a, b = self.places[i], self.places[j]
        return self._clashes(a, b, decisions, which, rows[i], twins.tolerances[numbers], slacks), reported.tolist()

    def _follow(self, moving: Moving, threads: Aside, step: _Wait) -> None:
        """Decide the pairs of parts that move relative to each other, over the whole motion."""
        wanted = [
            pair
            for pair in moving.close(self.clearance, self.tolerances)
            if self.wanted(*(self.places[k] for k in pair))
        ]
        self.close, self.undecided, self.unfollowed = self.close + len(wanted), len(wanted), 0
        self.tolerance = max([self.tolerance, *(float(self.tolerances.facets[[*pair]].sum()) for pair in wanted)])
        for i, j, passage, decision in moving.all(wanted, self.clearance, self._tolerance, threads):
            self.looked_at[[i, j]] = True
            decisions = [] if decision is None else [decision]
            a, b = self.places[[i, j], None][:, : len(decisions)]
            slack = self.slacks[i] + self.slacks[j]
            timed: dict[str, Any] = {}
            if passage is not None:
                timed = {"time": passage.when, "intervals": passage.intervals, "least": passage.least}
            clashes = self._clashes(a, b, decisions, 0, IDENTITY, self._tolerance(i, j), slack, **timed)
            self.findings.add(clashes, [bool(decisions)], step)

    def _tolerance(self, i: int, j: int) -> float:
        return float(self.tolerances.of(i, j))

    def _remark_on_tolerances(self, pairs: Ints) -> None:
        self.tolerance = float(self.tolerances.of(*pairs.T).max())
        tolerances = self.tolerances.by_part[pairs].max(axis=1)
        large = tolerances > _LARGE * self.sizes[pairs].min(axis=1)
        if large.any():
            worst = int(np.argmax(np.where(large, tolerances, 0.0)))
            a, b = (self.placed[k].name for k in pairs[worst])
            length = format_length(float(tolerances[worst]), self.assembly.unit)
            self.remarks.append(
                f"the default tolerance of {count(int(large.sum()), 'close pair')} is large relative to the parts, up"
                f" to {length} for {a} and {b}, because these parts are far from other parts or from the origin of a"
                " float32 file. Set --tolerance (tolerance= in Python)."
            )


def _length(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0.0 <= value < float("inf"):
        hint = "" if what == "tolerance" else " (overlaps are always reported, and a required gap is positive)"
        raise ShapeError(f"{what} is {value!r}, expected a finite length of 0 or more{hint}")
    return float(value)


_NAMED = 3  #: the largest number of pairs that a note names
_MOST = 30  #: the largest number of parts that a note names


def _report(run: Run, complete: bool, elapsed: float) -> Report:
    """Return the report of a run with groups, ranks and notes, compared with the baseline and the triage."""
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
    report.notes += _facet_notes(run)
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
    notes += _surface_notes(run, examined)
    if not solids.available():
        notes.append(
            "manifold3d is missing, so overlaps are detected by sample points and have no volume."
            ' Run pip install "gjk3d[mesh]".'
        )
    return tuple(notes)


def _facet_notes(run: Run) -> tuple[str, ...]:
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
    near_parts = np.unique(pairs)
    chords = {k: chord_error(run.shapes[k]) for k in set(run.which[near_parts].tolist())}
    errors = np.zeros(len(run.placed))
    errors[near_parts] = [run.placed[k].facets or chords[run.which[k]] for k in near_parts.tolist()]
    limits = errors[pairs].sum(axis=1)
    near = np.flatnonzero(depth <= limits)
    if not len(near):
        return ()
    unit, factor = reading(run.assembly.unit, float(run.sizes.max()))
    error = with_unit(above(factor * float(limits[near].max()), 2), unit)
    named = first_names([" and ".join(run.placed[k].name for k in pair) for pair in pairs[near]], _NAMED)
    return (
        f"triangles approximate curved faces, with an error of about {error} for two parts together."
        f" {count(len(near), 'overlap')} within this error may be only contact ({named})."
        f" Set --tolerance {error.replace(' ', '')} to report such overlaps as touching.",
    )


def _surface_notes(run: Run, examined: Collection[int]) -> list[str]:
    """Return notes on parts whose surface was repaired, is open or intersects itself.

    ``examined`` has the indices of the shapes in ``run.shapes`` that are inspected.
    """
    flaws = {shape: texts for shape in examined if (texts := _flaws(run.shapes[shape]))}
    named: dict[str, list[str]] = {}
    for shape, part in zip(run.which.tolist(), run.placed, strict=True) if flaws else ():
        for text in flaws.get(shape, ()):
            named.setdefault(text, []).append(part.name)
    return [f"{first_names(names, _MOST)}: {text}" for text, names in named.items()]


def _flaws(mesh: Mesh) -> list[str]:
    crossed = ["faces intersect each other: Mesh.self_intersections() lists them"] if intersects_itself(mesh) else []
    if not mesh._solid:
        return crossed
    if mesh.nearly_closed:
        missing = (
            f"nearly closed, with {mesh._mended.loose_edges} open edges in {len(mesh.faces)} triangles:"
            " parts inside it are not detected"
        )
        return [*mesh.repairs, missing, *crossed]
    return [*mesh.repairs, *crossed, *(["not closed: parts inside it are not detected"] if mesh.open_edges else [])]


def _rows(run: Run, examined: Collection[int]) -> PartRows:
    """Return the table of parts for the report, with a row for each part.

    ``examined`` has the indices of the inspected shapes. For all other shapes, ``closed`` and ``convex`` are None.
    """
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
    """Return a function of two part names: True if the run checked the pair, or one of the parts does not exist."""
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
        notes.append(f"not checked in this run, with the values of the baseline: {count(carried, 'finding')}")
    if run.unit_before != before.unit:
        notes.insert(0, f"the lengths of the baseline are converted from {run.unit_before} to {before.unit}")
    return tuple(notes)
