"""``gjk3d clash ASSEMBLY``, which finds the clashes of an assembly, on this machine or on a Dask cluster."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from gjk3d.clash.formats.registry import BINARY, ENDINGS, Format, write
from gjk3d.cli import ExitCode
from gjk3d.cli.arguments import PoseText, UsageError, check_output, kinds_of, output_form
from gjk3d.cli.terminal import Bar, Table, note, print_line, print_omitted, print_table, safe
from gjk3d.scale import aside, delayed_interrupt, unbroken
from gjk3d.wording import count, is_number

if TYPE_CHECKING:
    from gjk3d.clash import Report


Form = Literal["table", Format]
Level = Literal["hard", "clearance", "touch", "none"]
_HARD = ("hard", "contained", "duplicate", "unchecked")
_FATAL: dict[Level, tuple[str, ...]] = {
    "hard": _HARD,
    "clearance": (*_HARD, "clearance"),
    "touch": (*_HARD, "clearance", "touch"),
    "none": (),
}
_PAGE = 50_000  #: the largest number of findings that are stored for a page if each finding is also written as a line


def clash(
    *inputs: Path,
    motion: Path | None = None,
    a: Annotated[str | None, Parameter(name=["--a", "--parts-a"])] = None,
    b: Annotated[str | None, Parameter(name=["--b", "--parts-b"])] = None,
    clearance: PoseText = None,
    tolerance: PoseText = None,
    unit: str | None = None,
    bodies: Annotated[bool, Parameter(negative=())] = False,
    ignore: Path | None = None,
    baseline: Path | None = None,
    triage: Path | None = None,
    fail_on: Level = "clearance",
    only_new: bool | None = None,
    format: Annotated[Form | None, Parameter(name=["--format", "-f"])] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    html: Path | None = None,
    up: Literal["x", "y", "z"] | None = None,
    bcf: Path | None = None,
    bcf_kinds: str | None = None,
    section: Annotated[bool, Parameter(name=["--section", "--section-plane"], negative=())] = False,
    top: int = 20,
    tree: Annotated[bool, Parameter(negative=())] = False,
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1,
    scheduler: str | None = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Find the parts of an assembly that clash, touch or come too close, with depths and positions.

    --clearance is the required gap between parts. --tolerance is the largest overlap or gap that counts as touching.
    Both can have a unit, for example 0.5mm. A number without a unit is in the unit of the models.

    The exit code is 1 if there is a finding of the kinds of --fail-on, and otherwise 0. With --baseline or --triage
    only new findings count. The exit code is 2 for bad input or if no pair can be tested. After Ctrl-C the findings
    so far are written, and the exit code is 130. In JUnit, the findings that count are the failures.

    Parameters
    ----------
    inputs
        An assembly (GLB, 3MF, STEP), several files of an assembly, or a folder. An STL file is a part.
    motion
        A TOML file with the motion of parts: driven joints, motions, or poses over time. Findings then have times.
    a
        Check only pairs with a part whose name matches this pattern, for example "bolt_*". See also --b.
    b
        The pattern of the other part.
    clearance
        The required gap between parts, 0 by default. A gap below clearance - tolerance is reported.
    tolerance
        The largest overlap or gap that counts as touching. The default for a pair is a millionth of the largest
        coordinate of its parts relative to the middle of the assembly, and more for float32 files far from their
        origin. For curved parts that were meshed separately, set it to the error of their facets.
    unit
        The unit of files that state no unit, such as STL: mm, cm, m, in. If every file states a unit, this unit
        replaces it. GLB is always in m, and STEP states the unit of the drawing.
    bodies
        Read each solid of a part with several solids as a separate part. Its name ends with the number of the solid, as
        in frame/2.
    ignore
        A TOML file with findings to ignore, as tables [[ignore]] with the keys a, b, reason, and optionally kinds.
    baseline
        The JSON report of an earlier run. Findings are new, active or resolved in comparison with it.
    triage
        The file of decisions about earlier findings that the page or gjk3d serve has saved (.triage.json). Approved
        findings are ignored, unless they are deeper or at other times of a motion. Active and reviewed findings are not
        new.
    fail_on
        The findings that make the exit code 1: hard (with contained, duplicate and unchecked), clearance (these kinds
        and clearance), touch (all kinds), or none.
    only_new
        Count only findings that are new in comparison with --baseline and --triage. This is the default with one of
        these options, unless --no-only-new is set.
    format
        table, json, jsonl (a line for each finding when it is computed), csv, md, junit, or glb with marked clashes.
        The default is the extension of --output (.xml for junit), or table without an output.
    output
        The file to write. The default is stdout.
    html
        Write a page with the table and the parts in 3D for any browser. It works offline.
    up
        The axis that points up in the pictures of --html and --bcf. The default is y for GLB, and z for all other
        formats.
    bcf
        Write a BCF 2.1 file with a topic and a camera for each finding, for viewers of building models.
    bcf_kinds
        The kinds of findings in --bcf, for example hard,contained. By default these are the kinds of --fail-on, or with
        --fail-on none all kinds but touch.
    section
        Add a section plane to the views of --bcf, which removes the geometry in front of a finding.
    top
        The largest number of rows of a table. With --baseline or --triage, new findings are first, and up to 100 of
        them always have a row.
    tree
        Print the tree of the files (GLB, STEP, IFC) after the table, with the number of findings in each branch. --a
        and --b can select a branch, for example `*/Storey 1/*`.
    jobs
        The number of threads.
    scheduler
        The address of a Dask cluster that decides the pairs, for example tcp://127.0.0.1:8786. Dask executes received
        code, so use only a trusted cluster.
    quiet
        Print no progress and no notes.
    """
    if not inputs:
        raise UsageError("no input is given. Name an assembly, several files or a folder.")
    if top < 1:
        raise UsageError(f"--top {top}: expected 1 or more")
    files = tuple(path for path in (*inputs, motion, baseline, ignore, triage) if path is not None)
    form = output_form(format, output, ENDINGS, files)
    if tree and form != "table":
        raise UsageError(f"--tree is printed below a table, not with the form {form}. Leave out --tree, or -f and -o.")
    if form in BINARY and output is None:
        raise UsageError(f"-f {form} cannot be printed. Name a file with -o.")
    check_output(html, "--html", (".html", ".htm"), files)
    check_output(bcf, "--bcf", (".bcf", ".bcfzip"), files)
    for option in (["--section"] if section else []) + (["--bcf-kinds"] if bcf_kinds is not None else []):
        if bcf is None:
            raise UsageError(f"{option} needs a BCF file. Name it with --bcf.")
    if up is not None and html is None and bcf is None:
        raise UsageError("--up needs a page or a BCF file. Name it with --html or --bcf.")
    topics = kinds_of(bcf_kinds, "--bcf-kinds", _FATAL[fail_on])
    with unbroken():
        from gjk3d.clash import Assembly, check, read_rules, read_triage
        from gjk3d.clash.formats import LineWriter, to_bcf
        from gjk3d.clash.page import write_page
        from gjk3d.clash.report.baseline import read_baseline
        from gjk3d.units import length

    lengths = {"--clearance": clearance, "--tolerance": tolerance}
    for option, text in lengths.items():
        if text is not None and length(text, "m", option) < 0.0:
            raise UsageError(f"{option} {text!r}: expected a length of 0 or more")
    compared = baseline is not None or triage is not None
    if only_new and not compared and not quiet:
        note("--only-new without --baseline or --triage counts all findings, because all are new")
    only_new = compared if only_new is None else only_new
    retained = None if form != "jsonl" or bcf is not None else 0 if html is None else _PAGE
    rules, before = read_rules(ignore), read_baseline(baseline)
    decided = None if triage is None else read_triage(triage)
    with Bar(show=not quiet) as bar, ExitStack() as opened:
        cluster = opened.enter_context(cluster_at(scheduler))
        bar("reading")
        with aside() as thread:
            assembly = thread.run(lambda: Assembly.load(inputs, unit=unit, bodies=bodies))
        gap, play = (None if text is None else length(text, assembly.unit, option) for option, text in lengths.items())
        writer = None
        if form == "jsonl":
            stream = sys.stdout if output is None else opened.enter_context(output.open("w", encoding="utf-8"))
            writer = LineWriter(stream)
        report = check(
            assembly,
            gap or 0.0,
            play,
            motion=motion,
            a=a,
            b=b,
            ignore=rules,
            baseline=before,
            triage=decided,
            workers=jobs,
            executor=cluster,
            keep=retained,
            progress=bar,
            found=None if writer is None else writer.clash,
        )
        if writer is not None:
            writer.close(report)
    if report.pairs_total == 0 and report.complete:
        reasons = [f"{part.name}: {part.reason}" for part in report.unchecked[:5]]
        lost = "".join(f"\n{text}" for text in reasons + [text for text in report.notes if "--bodies" in text])
        raise UsageError(f"there is no pair of parts to test, because {_why(report, a, b)}{lost}")
    if not quiet:
        _remarks(report, lengths if unit is None else {})
    with delayed_interrupt() as waiting:  # Ctrl-C must not truncate a file
        if form == "table":
            compared_with = {"baseline": baseline, "triage": triage, "rules": ignore}
            _print(report, top, [f"the {name}" for name, path in compared_with.items() if path is not None])
        elif form != "jsonl":
            write(report, form, output or sys.stdout, top=top, fatal=_FATAL[fail_on], only_new=only_new)
        if tree:
            print_tree(report)
        if html is not None:
            write_page(report, html, up=up or "")
        if bcf is not None:
            to_bcf(report, bcf, section=section, kinds=topics, up=up or "")
    if output is not None and not quiet:
        note(_summary(report), "result")
    for path in (output, html, bcf):
        if path is not None and not quiet:
            note(path, "wrote")
    if waiting or not report.complete:
        note(f"interrupted: {report.pairs_tested} of {report.pairs_total} pairs were tested", "gjk3d")
        return ExitCode.INTERRUPTED
    return ExitCode(report.failures(_FATAL[fail_on], only_new) > 0)


def _why(report: Report, a: str | None, b: str | None) -> str:
    good = len(report.parts) - len(report.unchecked)
    if good < 2:
        only = "only one part" if good else "no part"
        return f"{only} could be loaded{'. Name several files or an assembly.' if len(report.parts) == 1 else ''}"
    return f"--a {a!r} and --b {b!r} match the same single part" if a and b else "the selection is empty"


def _remarks(report: Report, lengths: dict[str, str | None]) -> None:
    bare = [f"{option} {text}" for option, text in lengths.items() if text and is_number(text) and float(text)]
    if report.unit is None:
        note("the models do not state a unit, so lengths are the numbers of the files. Set the unit with --unit.")
    elif bare:
        verb = "is" if len(bare) == 1 else "are"
        unit = f"{report.unit}, the unit of the models"
        note(f"{' and '.join(bare)} {verb} read in {unit}. Add a unit if this is wrong, for example 0.5mm.")
    for text in report.notes:
        note(text)
    for part in report.unchecked:
        note(f"{part.name}: {part.reason}", "not checked")


def _summary(report: Report) -> str:
    kinds = ", ".join(f"{many} {kind}" for kind, many in report.counts.items() if many) or "no clashes"
    return f"{count(len(report.parts), 'part')}, {count(report.pairs_tested, 'pair')} tested: {kinds}"


def _print(report: Report, top: int, compared_with: list[str]) -> None:
    from gjk3d.clash.report import wording
    from gjk3d.clash.report.baseline import converted

    length_unit, factor = report.reading
    unit = f" {safe(length_unit)}" if length_unit else ""
    print_line(_summary(report))
    print_line(f"{safe(report.limits)}{'' if unit else ', unitless'}")
    statuses = ", ".join(f"{n} {status}" for status, n in report.statuses.items() if n)
    if statuses and compared_with and (compared_with != ["the rules"] or report.statuses["ignored"]):
        names = " and ".join(filter(None, [", ".join(compared_with[:-1]), compared_with[-1]]))
        print_line(f"in comparison with {names}: {statuses}")
    rows, more = wording.listed(report, top)
    if not rows:
        return
    print_line()
    with_status = any(item.status != "new" for item in report.clashes)  # without a baseline all findings are new
    timed = report.motion is not None
    inside, depth, gap = (f"{name}{unit}" for name in ("penetration", "depth", "gap"))
    volume = f"volume{f'{unit}³' if unit else ''}"
    last_columns = ["decided by", *["when"][: int(timed)]]
    table = Table(
        ["#", "kind", *["status"][: int(with_status)], "A", "B", inside, depth, gap, volume, *last_columns],
        right=("#", inside, depth, gap, volume),
        names=("A", "B"),
        # the penetration ranks the findings, so its column is left out only if it is empty
        spare=("decided by", volume, depth, gap, *([] if any(map(wording.inside, rows)) else [inside])),
    )
    for item in (converted(row, factor, report.unit) for row in rows):
        first = [str(item.severity), item.kind, *[item.status][: int(with_status)], safe(item.a), safe(item.b)]
        cells = *wording.cells(item, wording.noise(item, report)), *[wording.when(item, report)][: int(timed)]
        table.add(*first, *(cell or "-" for cell in cells))
    print_table(table)
    print_omitted(len(rows) + more, len(rows))


_WAIT = 10  #: the number of seconds for the response of a scheduler


@contextmanager
def cluster_at(address: str | None) -> Iterator[Any]:
    """Yield a client of the Dask scheduler at an address, or None without an address.

    Raise a UsageError if no scheduler responds, or the scheduler lacks workers.
    """
    if address is None:
        yield None
        return
    try:
        with unbroken():
            from dask.distributed import Client
    except ImportError:
        raise ImportError('--scheduler needs Dask. Run pip install "gjk3d[scale]".') from None
    try:
        asyncio.run(_reached(address))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--scheduler {address!r}: no Dask scheduler responds ({str(error)[:200]}). `dask scheduler` starts one"
            " and prints its address, for example tcp://127.0.0.1:8786."
        ) from None
    dask: Any = Client  # without types
    with dask(address, timeout=_WAIT, set_as_default=False) as client:
        if not client.nthreads():
            raise UsageError(f"--scheduler {address!r} has no worker. Start workers with `dask worker {address}`.")
        yield client


async def _reached(address: str) -> None:
    # a client that cannot connect would retry in the background and report the error at its end
    from dask import distributed
    from distributed import core

    dask: Any = distributed  # without types
    wire: Any = core
    comm = await wire.connect(address, timeout=_WAIT, **dask.Security().get_connection_args("client"))
    await comm.close()


_Path = tuple[str, ...]


def print_tree(report: Report) -> None:
    """Print the tree of branches and parts with the numbers of their open findings.

    A finding counts in each branch that contains at least one of its parts.
    """
    paths = {part.name: (*part.path[:-1], _leaf(part.name, part.path)) for part in report.parts}
    kinds_of: dict[_Path, Counter[str]] = {}
    for clash in report.clashes:
        if clash.is_open:
            pair = (paths[name] for name in (clash.a, clash.b) if name in paths)
            for branch in {path[:k] for path in pair for k in range(1, len(path) + 1)}:
                kinds_of.setdefault(branch, Counter())[clash.kind] += 1
    below = Counter(path[:k] for path in paths.values() for k in range(1, len(path)))
    printed: set[_Path] = set()
    for path in paths.values():
        for k in range(1, len(path) + 1):
            branch = path[:k]
            if branch in printed and k < len(path):
                continue
            printed.add(branch)
            many = f" ({count(below[branch], 'part')})" if k < len(path) else ""
            kinds = ", ".join(f"{n} {kind}" for kind, n in kinds_of.get(branch, Counter()).items())
            print_line(f"{'  ' * (k - 1)}{safe(path[k - 1])}{many}{f': {kinds}' if kinds else ''}")


def _leaf(name: str, path: _Path) -> str:
    full_path = "/".join(path)
    return path[-1] + (name[len(full_path) :] if name.startswith(full_path) else "")
