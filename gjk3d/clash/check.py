"""`check`: every pair of parts, by boxes, then hulls, then triangles."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from gjk3d.clash.assembly import Assembly
from gjk3d.clash.baseline import read_baseline
from gjk3d.clash.report import Clash, Report
from gjk3d.clash.rules import Rule, read_rules
from gjk3d.clash.running import Progress, Run
from gjk3d.convex.checks import check_workers
from gjk3d.errors import ShapeError
from gjk3d.interrupts import held


def check(
    assembly: Assembly,
    clearance: float = 0.0,
    tolerance: float | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    ignore: str | os.PathLike[str] | Iterable[Rule] | None = None,
    baseline: str | os.PathLike[str] | Report | None = None,
    workers: int = 1,
    keep: int | None = None,
    progress: Progress | None = None,
    found: Callable[[Clash], None] | None = None,
) -> Report:
    """Tell which parts clash, touch or come too close.

    Boxes and convex hulls only prove pairs free; what they leave is decided by the parts themselves.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    clearance : float
        The gap that parts should keep; closer ones are reported as "clearance".
    tolerance : float, optional
        Up to which overlap, and up to which gap, two surfaces count as touching. By default each pair has its own, a
        millionth of how far its parts reach, along any axis, from the middle of the assembly (the median of its
        parts): 16 times what float32 files round there, so that faces drawn on one plane touch. Curved parts that were
        meshed apart from each other need more: the error of their facets.
    a, b : str, optional
        Patterns of names, ``*`` and ``?`` as in file names: only pairs with one part of each are looked at; held
        against the whole name of a part, and its last step.
    ignore : path or sequence of Rule, optional
        What is not to be counted; see `gjk3d.clash.read_rules`.
    baseline : path or Report, optional
        An earlier report: what was in it is "active" instead of "new", what is gone is "resolved".
    workers : int
        Threads; the answers do not depend on them.
    keep : int, optional
        The report keeps so many findings, the worst, and counts the others; ``found`` is told of them all. By default
        it keeps all: some 2 kB each.
    progress : callable, optional
        Called with the stage ("boxes", "pairs"), how many of how many are done, and findings so far.
    found : callable, optional
        Called with each finding as it is made, before it is ranked, grouped and compared with the baseline; in the
        same order with any ``workers``.

    Returns
    -------
    Report
        After Ctrl-C what was found by then, ``complete`` being False. The pair at hand is not waited for: it goes on
        unheard on its thread.

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
    check_workers(workers)
    if keep is not None and keep < 0:
        raise ShapeError(f"keep is {keep}, expected a number of findings, 0 or more")
    run = Run(assembly, clearance, tolerance, (a, b), read_rules(ignore), read_baseline(baseline), keep, found)
    complete = run.go(workers, progress or _silent)
    with held() as waiting:  # what was found is not lost to a Ctrl-C while it is put in order
        report = run.report(complete, time.perf_counter() - start)
    if waiting:
        report.complete = False
    return report


def _silent(stage: str, done: int, total: int, found: int) -> None:
    """Show nothing."""
