"""``python -m tests.hardening.mutants``: make small faults in every subpackage, and check that its quick tests fail.

A copy of the package holds all mutants of a run behind switches (`mutations`), and its kernels are compiled once. A
first run of the tests, without a mutant, records which mutants each test reaches. Each mutant is then run against the
quick tests of its subpackage that reach it, until one fails. A mutant that survives counts if it changes a digest of
`tests.hardening.answers` or fails a test of the full tier, whose tests take at most `FULL` seconds for each mutant. If
it counts, the quick tests of the other subpackages that reach it run too.

The results are stored in the folder ``--work``. The same command continues a run that was stopped. After a change of
the tests it judges the survivors again and keeps the results of killed mutants.

Exit status 1: the quick tests kill less than 95 % of the mutants that count, or no test kills a dropped rounding term.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import itertools
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from . import mutations
from .mutant_switch import NUMBER_SIZE
from .mutations import Mutant

ROOT = Path(__file__).parents[2]
GOAL = 0.95  #: share of the mutants that count which the quick tests kill
LEAST = 3  #: mutants of each subpackage
FULL = 60.0  #: seconds of tests of the full tier for each mutant, so that 300 mutants take less than two hours
OPERATORS = (
    "sign", "off by one", "swapped A and B", "comparison", "dropped term", "dropped invalidation",
    "cached value not refreshed", "rounding",
)  # fmt: skip
SECTIONS = ("alone", "together", "mesh against mesh", "robots", "clash", "convex", "bodies")  #: of the answers module
_COPIED = ("gjk3d", "data", "examples", ".ci", "README.md", "LICENSE", "pyproject.toml")
_SWITCH = "gjk3d._mutants"
_TOP = "top level"
#: tests of the sources themselves, or of code that is not mutated
_OTHER_TESTS = {"test_docstrings", "test_documents", "test_naive", "test_package"}
_COMPAT_TESTS = {"test_compat", "test_collision_manager"}


# the mutated copy -----------------------------------------------------------------------------------------------------


def sources(root: Path) -> list[str]:
    """Return the sources that are mutated, relative to the root."""
    paths = sorted((root / "gjk3d").rglob("*.py"))
    return [str(path.relative_to(root)) for path in paths if "_kernels" not in path.parts]


def group_of(path: str) -> str:
    """Return the subpackage of a source."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else _TOP


def tests_of(root: Path, group: str) -> list[str]:
    """Return the files and folders of the tests of a subpackage."""
    top = {path.stem: f"tests/{path.name}" for path in sorted((root / "tests").glob("test_*.py"))}
    if group == "compat":
        return [top[name] for name in sorted(_COMPAT_TESTS)]
    if group == _TOP:
        return [*(path for name, path in top.items() if name not in _OTHER_TESTS | _COMPAT_TESTS), "tests/query"]
    return [f"tests/{group}" if (root / "tests" / group).exists() else "tests/query"]


def choose(mutants: Sequence[Mutant], lines: dict[str, int], count: int, seed: int) -> list[Mutant]:
    """Return the mutants of a run, spread over the subpackages by their lines."""
    by_group: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_group[group_of(mutant.path)].append(mutant)
    available = {name: len(group) for name, group in by_group.items()}
    shares = mutations.quotas({name: lines[name] for name in by_group}, available, count, LEAST)
    return [
        mutant
        for name in sorted(by_group)
        for mutant in mutations.select(by_group[name], shares[name], f"{seed} {name}")
    ]


class Tree:
    """A copy of a checkout whose package holds the mutants of a run."""

    def __init__(self, work: Path, source: Path = ROOT) -> None:
        self.work, self.root, self.source = work, work / "tree", source
        self.results, self.unmutated = work / "results.jsonl", work / "unmutated"

    def make(
        self, seed: int, count: int, operator: str | None = None, packages: Sequence[str] | None = None
    ) -> list[Mutant]:
        """Copy, mutate and compile; return the mutants. Mutants whose kernels do not compile are replaced."""
        plan = self.work / "plan.json"
        options = {
            "seed": seed,
            "count": count,
            "only": operator,
            "packages": packages,
            "sources": self._sources_hash(),
        }
        if plan.exists():
            stored = json.loads(plan.read_text())
            if stored["run"] != options:
                raise SystemExit(f"{self.work} holds another run: {stored['run']}. Remove it, or set --work.")
            self._take_tests()
            return [Mutant(*row) for row in stored["mutants"]]
        self._copy(_COPIED)
        self._take_tests()
        self._take_bitcode()
        paths = sources(self.source)
        lines = defaultdict(int)
        for path in paths:
            lines[group_of(path)] += len((self.source / path).read_text().splitlines())
        every = mutations.all_mutants(self.source, paths)
        candidates = [
            mutant
            for mutant in every
            if operator in (None, mutant.operator) and (not packages or group_of(mutant.path) in packages)
        ]
        while True:
            mutants = choose(candidates, lines, count, seed)
            self._write(every, {mutant.number for mutant in mutants})
            failed = self._compile()
            if not failed:
                break
            _print(f"mutants of {', '.join(failed)} do not compile and are replaced")
            refused = {mutant.number for mutant in mutants if any(self._is_inside(mutant, name) for name in failed)}
            assert refused, f"{failed} have no mutants and do not compile"
            candidates = [mutant for mutant in candidates if mutant.number not in refused]
        plan.write_text(json.dumps({"run": options, "mutants": mutants}, indent=1))
        return mutants

    def _copy(self, names: Iterable[str]) -> None:
        for name in names:
            shutil.rmtree(self.root / name, ignore_errors=True)
            if (self.source / name).is_dir():
                shutil.copytree(self.source / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (self.source / name).exists():
                self.root.mkdir(exist_ok=True)
                shutil.copy(self.source / name, self.root / name)

    def _take_tests(self) -> None:
        """Copy the tests. If they have changed, keep only the results of killed mutants."""
        stamp, new = self.work / "tests.sha256", _hash((self.source / "tests").rglob("*.py"))
        if stamp.exists() and stamp.read_text() == new:
            return
        self._copy(["tests"])
        shutil.rmtree(self.unmutated, ignore_errors=True)
        if self.results.exists():
            _write_rows(self.results, [row for row in _rows(self.results) if row["quick"]])
        stamp.write_text(new)

    def _sources_hash(self) -> str:
        """Return a hash of all files that determine the mutants."""
        scripts = [Path(__file__).with_name(name) for name in ("mutants.py", "mutations.py", "mutant_switch.py")]
        return _hash([*(self.source / "gjk3d").rglob("*.py"), *scripts])

    def _take_bitcode(self) -> None:
        """Copy the cached bitcode, which the unchanged kernels reuse."""
        from gjk3d._kernels import files

        if (files.folder() / "bitcode").exists():
            shutil.copytree(files.folder() / "bitcode", self.work / "cache" / "bitcode", dirs_exist_ok=True)

    def _write(self, every: Iterable[Mutant], numbers: Collection[int]) -> None:
        first: dict[str, int] = {}
        chosen: dict[str, list[int]] = defaultdict(list)
        for mutant in every:
            first.setdefault(mutant.path, mutant.number)
            if mutant.number in numbers:
                chosen[mutant.path].append(mutant.number)
        for path, number in first.items():
            text = (self.source / path).read_text()
            (self.root / path).write_text(
                mutations.mutated(text, number, chosen[path], _SWITCH) if chosen[path] else text
            )
        loader = "gjk3d/_kernels/calls/assembly.py"  # the symbol of the switch must exist before an object is loaded
        (self.root / loader).write_text(mutations.mutated((self.source / loader).read_text(), 1, (), _SWITCH))
        shutil.copy(Path(__file__).with_name("mutant_switch.py"), self.root / "gjk3d" / "_mutants.py")

    def _compile(self) -> list[str]:
        """Compile the kernels; return the names of those that do not compile."""
        code = "from tests.hardening import mutants; mutants.compile_kernels()"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.root, env=self.environment(), stdout=subprocess.PIPE, check=True
        )
        failed: list[str] = json.loads(done.stdout)
        return failed

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of programs that use this copy."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GJK3D_MUTANT")}
        return {**inherited, "PYTHONPATH": str(self.root), "GJK3D_CACHE_DIR": str(self.work / "cache"), **more}

    def has_full_tier(self) -> bool:
        """Return whether the tests have a full tier."""
        return "--full" in (self.root / "tests" / "conftest.py").read_text()

    def _is_inside(self, mutant: Mutant, kernel: str) -> bool:
        """Return whether a mutant is in a kernel, ``module:function``."""
        module, _, name = kernel.partition(":")
        if mutant.path != module.replace(".", "/") + ".py":
            return False
        nodes = ast.parse((self.source / mutant.path).read_text()).body
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
        return any(function.lineno <= mutant.line <= (function.end_lineno or 0) for function in functions)


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def compile_kernels() -> None:
    """Build the object of the package; print the names of the kernels that do not compile."""
    from gjk3d._kernels import builder

    group, failed = builder.in_groups, []

    def grouped(kernels: Any) -> Any:
        failed.extend(sorted(symbol for symbol, kernel in kernels.items() if not kernel.bitcode))
        if failed:
            raise _NotCompiled
        return group(kernels)

    builder._work, builder.in_groups = _compile_or_report, grouped
    os.environ["GJK3D_KERNELS"] = "alone"  # the builder's processes read it first if gjk3d/__init__ is mutated
    with contextlib.suppress(_NotCompiled):
        builder.build()
    print(json.dumps(failed))


class _NotCompiled(Exception):
    pass


def _compile_or_report(name: str, arguments: Any, folder: Path) -> Any:
    """Compile a kernel; return it without bitcode if it does not compile."""
    from numba.core.errors import NumbaError

    from gjk3d._kernels import alone, builder

    try:
        return builder._work(name, arguments, folder)
    except (NumbaError, TypeError):
        return alone.CompiledKernel(name, b"", [], declaration="", entry="", size=0, inlined=False)


# runs of the tests ----------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """The exit status of a program, or None if it took too long, and its log."""

    status: int | None
    rows: list[dict[str, Any]]  #: rows of the log


class Runner:
    """Runs programs on the mutated copy, with or without an active mutant."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.stopped = False
        self._running: set[subprocess.Popen[bytes]] = set()

    def tests(self, arguments: Sequence[str], number: int = 0, limits: dict[str, float] | None = None) -> Run:
        """Run pytest. With ``limits``, seconds by test, run only those tests, in this order, until one fails."""
        command = ["-m", "pytest", "-p", _SWITCH, "-p", "no:cacheprovider", "-q", "--no-header", "--tb=no", "-rN"]
        with self._folder() as folder:
            more = {"GJK3D_MUTANT_LOG": str(folder / "log")}
            command += ["--basetemp", str(folder / "tmp"), *arguments]
            if limits is not None:
                (folder / "tests").write_text(json.dumps(limits))
                more["GJK3D_MUTANT_TESTS"] = str(folder / "tests")
                command.append("-x")
            return self._run(command, number, folder, more, 120.0 + sum((limits or {}).values()) if limits else None)

    def answers(self, sections: Sequence[str], folder: Path, number: int = 0, limit: float | None = None) -> Run:
        """Compute digests of sections of the answers. Store them in a folder, or compare them with stored ones."""
        command = ["-m", "tests.hardening.mutants", "--digests", str(folder), *sections]
        with self._folder() as run_folder:
            return self._run(command, number, run_folder, {"GJK3D_MUTANT_LOG": str(run_folder / "log")}, limit)

    def stop(self) -> None:
        """End all running programs."""
        self.stopped = True
        for process in list(self._running):
            _kill(process)

    @contextlib.contextmanager
    def _folder(self) -> Any:
        (self.tree.work / "runs").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.tree.work / "runs", ignore_cleanup_errors=True) as name:
            yield Path(name)

    def _run(self, command: list[str], number: int, folder: Path, more: dict[str, str], limit: float | None) -> Run:
        switch = folder / "switch"
        switch.write_bytes(number.to_bytes(NUMBER_SIZE, "little"))
        if self.stopped:
            raise KeyboardInterrupt
        process = subprocess.Popen(
            [sys.executable, *command], cwd=self.tree.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=self.tree.environment(GJK3D_MUTANT_FILE=str(switch), **more), start_new_session=True,
        )  # fmt: skip
        self._running.add(process)
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _kill(process)  # with its child processes
            self._running.discard(process)
        if self.stopped:
            raise KeyboardInterrupt
        log = folder / "log"
        return Run(status, _rows(log) if log.exists() else [])


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def compute_digests(folder: Path, sections: Sequence[str]) -> int:
    """Store the digests of sections of the answers, or compare them with stored ones; return 1 if one differs."""
    from gjk3d import _mutants

    reached: set[int] = set()  # of all sections so far, since a later one uses caches of earlier ones
    for section in sections:
        path, start = folder / f"{section}.txt", time.perf_counter()
        stored = path.read_text().split() if path.exists() else None
        digests = []
        for digest in _digests(section):
            if stored is not None and stored[len(digests) : len(digests) + 1] != [digest]:
                return 1
            digests.append(digest)
        if stored is not None and len(stored) != len(digests):
            return 1
        if stored is None:
            path.write_text("\n".join(digests))
        reached.update(_mutants.take_reached())
        row = {"section": section, "seconds": time.perf_counter() - start, "reached": sorted(reached)}
        with open(os.environ["GJK3D_MUTANT_LOG"], "a") as file:
            file.write(json.dumps(row) + "\n")
    return 0


def _digests(section: str) -> Iterator[str]:
    import numpy as np

    from . import answers

    generator = np.random.default_rng(1)
    for _, value in answers.SECTIONS[section](generator):
        sha = hashlib.sha256()
        answers.digest(value.rows if isinstance(value, answers.Intervals) else value, sha)
        yield sha.hexdigest()[:16]


class Reach:
    """The tests of a run without a mutant: their times, and the mutants that each reaches."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = [row for row in rows if row["test"]]
        self._imports = {number for row in rows if not row["test"] for number in row["reached"]}

    @cached_property
    def _tests(self) -> dict[int, set[str]]:
        tests: dict[int, set[str]] = defaultdict(set)
        by_file: dict[str, set[int]] = defaultdict(set)  # a fixture of a file runs for its first test only
        for row in self._rows:
            by_file[_file(row["test"])].update(row["setup"])
        for row in self._rows:
            for number in {*row.get("reached", ()), *by_file[_file(row["test"])], *self._imports}:
                tests[number].add(row["test"])
        return tests

    def limits(self, number: int, most: float = math.inf) -> dict[str, float]:
        """Return the tests that reach a mutant, the shortest first, and the seconds that each may take.

        Without the mutant these tests take at most the time ``most`` together.
        """
        tests = self._tests.get(number, set())
        rows = [row for row in self._rows if row["test"] in tests and row["outcome"] == "passed"]
        rows.sort(key=lambda row: row["seconds"])
        ends = itertools.accumulate(row["seconds"] for row in rows)
        return {row["test"]: 20.0 + 10.0 * row["seconds"] for row, end in zip(rows, ends, strict=True) if end <= most}

    def failed(self) -> list[str]:
        """Return the tests that fail without a mutant."""
        return [row["test"] for row in self._rows if row["outcome"] == "failed"]


def _file(test: str) -> str:
    return test.partition("::")[0]


# judgement ------------------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """The result of a mutant."""

    number: int
    quick: str  #: the quick test of its subpackage that fails
    digest: str  #: the section of the answers that differs
    full: str  #: the test of the full tier that fails
    tests: int  #: quick tests of its subpackage that reach it
    sections: int  #: sections of the answers that reach it
    seconds: float
    elsewhere: str = ""  #: the quick test of another subpackage that fails

    @property
    def killed(self) -> bool:
        """Whether a quick test fails."""
        return bool(self.quick or self.elsewhere)

    @property
    def counts(self) -> bool:
        """Whether a quick test, a digest or a full test detects it."""
        return bool(self.quick or self.digest or self.full)

    @property
    def verdict(self) -> str:
        """The result as text."""
        if self.quick:
            return f"killed by {self.quick}"
        reach = f"reached by {self.tests} quick tests and {self.sections} sections of the answers"
        if self.elsewhere:
            return f"killed by {self.elsewhere} of another subpackage, {reach}"
        if self.full:
            return f"survived, killed by {self.full} of the full tier, {reach}"
        if self.digest:
            return f"survived, the digest of {self.digest} differs, {reach}"
        return f"no visible effect, {reach}"


class Judge:
    """Judges mutants. Results without a mutant are stored in files of the work folder."""

    def __init__(self, runner: Runner, mutants: Sequence[Mutant]) -> None:
        self.runner, self.tree, self.mutants = runner, runner.tree, mutants
        self.folder = self.tree.unmutated
        self.folder.mkdir(exist_ok=True)
        self.groups = sorted({group_of(m.path) for m in mutants}, key=lambda name: -_size(self.tree.root, name))
        self._reach: dict[str, Reach] = {}
        self._full_guards: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def prepare(self, pool: ThreadPoolExecutor) -> None:
        """Run the tests and the answers without a mutant, unless their results are stored."""
        list(pool.map(self.reach, self.groups))
        self.answers()

    def reach(self, group: str, full: bool = False) -> Reach:
        """Return the mutants that the tests of a subpackage reach."""
        name = f"{group} full" if full else group
        if name not in self._reach:
            path = self.folder / f"{name}.jsonl"
            if not path.exists():
                start = time.perf_counter()
                tier = ["--full", "-m", "full"] if full else []
                run = self.runner.tests([*tier, *tests_of(self.tree.root, group)])
                assert run.status in (0, 1, 5), f"the tests of {group} end with {run.status} without a mutant"
                _write_rows(path, run.rows)
                _print(f"tests of {name}: {len(run.rows) - 1} in {time.perf_counter() - start:.0f} s")
            reach = self._reach[name] = Reach(_rows(path))
            if reach.failed():
                _print(f"not used, since they fail without a mutant: {', '.join(reach.failed())}")
        return self._reach[name]

    def answers(self) -> list[dict[str, Any]]:
        """Return the time of each section of the answers, and the mutants that it reaches."""
        path = self.folder / "answers.jsonl"
        if not path.exists():
            for section in SECTIONS:
                (self.folder / f"{section}.txt").unlink(missing_ok=True)
            run = self.runner.answers(SECTIONS, self.folder)
            assert run.status == 0, "the answers fail without a mutant"
            _write_rows(path, run.rows)
            _print(f"answers in {sum(row['seconds'] for row in run.rows):.0f} s")
        return _rows(path)

    def judge(self, mutant: Mutant) -> Result:
        """Run a mutant against the quick tests. If it survives, run it against the answers and the full tier."""
        start = time.perf_counter()
        home = group_of(mutant.path)
        quick, digest, full, elsewhere = self._killed(mutant, self.reach(home)), "", "", ""
        if not quick:
            digest = self._different_section(mutant)
            if self.tree.has_full_tier() and (mutant.operator == "rounding" or not digest):
                with self._full_guards[home]:
                    reach = self.reach(home, full=True)
                full = self._killed(mutant, reach, full=True)
            others = [each for each in self.groups if each != home and (digest or full)]
            elsewhere = next(filter(None, (self._killed(mutant, self.reach(each)) for each in others)), "")
        tests = len(self.reach(home).limits(mutant.number))
        sections = len(self._sections(mutant))
        return Result(mutant.number, quick, digest, full, tests, sections, time.perf_counter() - start, elsewhere)

    def _killed(self, mutant: Mutant, reach: Reach, full: bool = False) -> str:
        """Return the test that fails with a mutant, or an empty string."""
        limits = reach.limits(mutant.number, FULL if full else math.inf)
        if not limits:
            return ""
        files = list(dict.fromkeys(map(_file, limits)))
        run = self.runner.tests(["--full", *files] if full else files, mutant.number, limits)
        if run.status == 0:
            return ""
        assert run.status != 5, f"no test of {files} ran"
        failed = [row["test"] for row in run.rows if row.get("outcome") == "failed"]
        ended = [row["test"] for row in run.rows if row["test"]]
        remaining = [name for name in limits if name not in ended]
        return failed[0] if failed else f"{remaining[0] if remaining else 'pytest'} (crashed or took too long)"

    def _sections(self, mutant: Mutant) -> dict[str, float]:
        """Return the sections of the answers that reach a mutant, and their times."""
        return {row["section"]: row["seconds"] for row in self.answers() if mutant.number in row["reached"]}

    def _different_section(self, mutant: Mutant) -> str:
        """Return the section of the answers whose digest differs with a mutant, or an empty string."""
        sections = self._sections(mutant)
        if not sections:
            return ""
        run = self.runner.answers(list(sections), self.folder, mutant.number, 60.0 + 10.0 * sum(sections.values()))
        same = [row["section"] for row in run.rows]
        return "" if run.status == 0 else next(name for name in sections if name not in same)


def _size(root: Path, group: str) -> int:
    return sum(
        file.stat().st_size
        for name in tests_of(root, group)
        for file in ((root / name).rglob("*.py") if (root / name).is_dir() else [root / name])
    )


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    new = path.with_suffix(".new")
    new.write_text("".join(json.dumps(row) + "\n" for row in rows))
    new.replace(path)


# report ---------------------------------------------------------------------------------------------------------------


def report(mutants: Sequence[Mutant], results: dict[int, Result]) -> tuple[str, bool]:
    """Return the table and the survivors as Markdown, and whether the goal is reached."""
    judged = [(each, results[each.number]) for each in mutants if each.number in results]
    rows = [["subpackage", "mutants", "count", "killed", "by its own tests", "share"], ["---", *["---:"] * 5]]
    for group in [*sorted({group_of(mutant.path) for mutant, _ in judged}), None]:
        inside = [result for mutant, result in judged if group in (None, group_of(mutant.path))]
        counted = sum(result.counts for result in inside)
        killed, at_home = sum(result.killed for result in inside), sum(bool(result.quick) for result in inside)
        numbers = (len(inside), counted, killed, at_home)
        rows.append([group or "**all**", *map(str, numbers), f"{killed / max(counted, 1):.0%}"])
    survivors = [(mutant, result) for mutant, result in judged if result.counts and not result.killed]
    unnoticed = [
        (mutant, result)
        for mutant, result in judged
        if mutant.operator == "rounding" and not (result.killed or result.full)
    ]
    text = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    text += _list("Survivors", survivors)
    text += _list("Dropped rounding terms that no test kills", unnoticed)
    text += _list("Do not count", [(mutant, result) for mutant, result in judged if not result.counts])
    return text, killed >= GOAL * counted and not unnoticed


def _list(title: str, judged: Sequence[tuple[Mutant, Result]]) -> str:
    rows = "".join(f"- `{mutant}`: {result.verdict}\n" for mutant, result in judged)
    return f"\n{title}:\n\n{rows}" if rows else ""


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# command line ---------------------------------------------------------------------------------------------------------


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="selects the mutants; 1 by default")
    parser.add_argument("--count", type=int, default=300, help="mutants in all; 300 by default")
    parser.add_argument("--only", choices=OPERATORS, metavar="OPERATOR", help=f"one of: {', '.join(OPERATORS)}")
    groups = sorted({group_of(path) for path in sources(ROOT)})
    parser.add_argument("--packages", nargs="+", choices=groups, metavar="NAME", help=f"instead of all: {groups}")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes that run tests at the same time; 2 by default"
    )
    parser.add_argument(
        "--work",
        type=Path,
        help="the folder of the mutated copy and of the results; by default one in the temporary folder",
    )
    parser.add_argument("--digests", nargs="+", help=argparse.SUPPRESS)  # a folder and sections, for the run itself
    arguments = parser.parse_args(given)
    if arguments.count < 1:
        parser.error(f"--count is {arguments.count}. Use at least 1.")
    return arguments


def run(mutants: Sequence[Mutant], runner: Runner, workers: int) -> dict[int, Result]:
    """Judge the mutants that have no result yet; Ctrl-C ends the run and keeps the results."""
    state = runner.tree.results
    results = {row["number"]: Result(**row) for row in (_rows(state) if state.exists() else [])}
    judge = Judge(runner, mutants)
    with ThreadPoolExecutor(workers) as pool, open(state, "a") as file:
        try:
            judge.prepare(pool)
            # in a mixed order, so that a run that is stopped has judged a sample of all subpackages
            mixed = random.Random(0).sample(list(mutants), len(mutants))
            waiting = {pool.submit(judge.judge, mutant): mutant for mutant in mixed if mutant.number not in results}
            for future in as_completed(waiting):
                result = results[waiting[future].number] = future.result()
                file.write(json.dumps(result._asdict()) + "\n")
                file.flush()
                counted = f"{len(results)} of {len(mutants)}, {result.seconds:.0f} s"
                _print(f"{counted}: {waiting[future]}: {result.verdict}")
        except BaseException as error:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            _print(f"stopped; the same command continues with the results in {state}")
    return results


def main(given: list[str] | None = None) -> int:
    """Run the command line; return 1 if the goal is missed or not all mutants were judged."""
    arguments = _arguments(given)
    if arguments.digests:
        return compute_digests(Path(arguments.digests[0]), arguments.digests[1:])
    tree = Tree(arguments.work or Path(tempfile.gettempdir()) / f"gjk3d-mutants-{arguments.seed}")
    tree.work.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    _print(f"the sources are mutated and compiled in {tree.work}: a minute or two on two cores")
    try:
        mutants = tree.make(arguments.seed, arguments.count, arguments.only, arguments.packages)
    except KeyboardInterrupt:
        _print("stopped; the same command starts again")
        return 130
    _print(f"{len(mutants)} mutants in {tree.root}, {time.perf_counter() - start:.0f} s")
    results = run(mutants, Runner(tree), arguments.workers)
    text, good = report(mutants, results)
    print(text)
    return int(not good or len(results) < len(mutants))


if __name__ == "__main__":
    sys.exit(main())
