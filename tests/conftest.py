"""Tiers of the tests, profiles of Hypothesis, and a random generator for each test.

- quick: ``pytest -n auto``. All fast cases that need no browser, process, picture, notebook, cluster or type checker.
- full: ``pytest --full -n auto``. All cases. Cases that run only in this tier have the marker ``full``. A test sets it
  itself or is in one of the `FULL_FOLDERS`, which the quick tier does not import.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import sys
import tomllib
import zlib
from collections.abc import Iterator
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from packaging.requirements import Requirement

import gjk3d

ROOT = Path(__file__).parents[1]
FULL_FOLDERS = {"full", "benchmarks", "hardening", "typing"}
SLOW = 1.0  #: seconds of CPU; the summary lists the quick tests that take longer
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# A shell without job control starts background programs with SIGINT ignored. Some tests send SIGINT to themselves and
# to child processes, so they need the handler of a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline, because the first call may compile. Every run uses the same examples.
settings.register_profile("quick", max_examples=20, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", settings.get_profile("quick"), max_examples=100)
# for kernels that are uncompiled or check bounds
settings.register_profile("few", settings.get_profile("quick"), max_examples=10)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run all cases, not only those of the quick tier")
    parser.addoption(
        "--skips", type=Path, help="fail if a test is skipped for a reason that is not a line of this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    full = config.getoption("--full")
    if full and (missing := missing_requirements()):
        raise pytest.UsageError("--full needs what is not installed: " + "; ".join(missing))
    if (skips := config.getoption("--skips")) and not skips.is_file():
        raise pytest.UsageError(f"--skips {skips} is not a file. Each of its lines is the reason of a skip.")
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("full" if full else "quick")
    with config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        gjk3d.warmup()  # before tests are imported, because queries become builtins when the kernels are built


def missing_requirements() -> list[str]:
    """Return the requirements of the full tier that are not installed, with the commands that install them."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    packages, waiting = [], ["gjk3d[test]"]
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name == "gjk3d":
            waiting += [text for extra in requirement.extras for text in extras[extra]]
        elif (requirement.marker is None or requirement.marker.evaluate()) and not _is_installed(requirement):
            packages.append(str(requirement))
    missing = [f"{', '.join(packages)} (pip install -e '.[test]')"] if packages else []
    if not any(map(shutil.which, BROWSERS)):
        missing.append("Chromium (apt-get install chromium)")
    if sys.platform == "linux" and not find_library("EGL"):
        missing.append("libEGL (apt-get install libegl1 libgl1-mesa-dri)")
    return missing


def _is_installed(requirement: Requirement) -> bool:
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def is_full(path: Path) -> bool:
    """Return whether a file or folder belongs to the full tier."""
    return ROOT / "tests" in path.parents and not FULL_FOLDERS.isdisjoint(path.relative_to(ROOT / "tests").parts)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore the folders of the full tier in the quick tier, unless the command line names them."""
    named = any(is_full(Path(argument.partition("::")[0]).resolve()) for argument in config.args)
    return True if is_full(collection_path) and not (config.getoption("--full") or named) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_full(item.path):
            item.add_marker("full")
    if not config.getoption("--full") and (left_out := [item for item in items if item.get_closest_marker("full")]):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished child processes."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[_START] = _cpu_seconds()
    return (yield)


_START = pytest.StashKey[float]()
_SURPRISES = pytest.StashKey[list[str]]()  #: reasons of skips that are not in the file of --skips


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    report.cpu = _cpu_seconds() - item.stash[_START]  # on the report, because xdist sends reports to the main process
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Print the skips that fail the run, the slowest quick tests, and a hint to the full tier."""
    if surprises := config.stash.get(_SURPRISES, []):
        terminalreporter.section("skips that are not listed")
        for reason in surprises:
            terminalreporter.write_line(f"{reason!r} is not a line of {config.getoption('--skips')}", red=True)
    if config.getoption("--full") or config.option.collectonly:
        return
    left_out = len(terminalreporter.stats.get("deselected", ()))
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and left_out:
        terminalreporter.write_line(f"All {left_out} tests are of the full tier. Add --full to run them.", yellow=True)
    seconds: dict[str, float] = {}
    for report in (entry for reports in terminalreporter.stats.values() for entry in reports):
        if getattr(report, "cpu", 0.0) > SLOW:
            seconds[report.nodeid] = max(report.cpu, seconds.get(report.nodeid, 0.0))
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        slow = sorted(seconds, key=seconds.__getitem__, reverse=True)
        terminalreporter.section("quick tier")
        for name in slow:
            terminalreporter.write_line(f"{seconds[name]:6.1f} s of CPU  {name}")
        terminalreporter.write_line(f"{len(slow)} tests over {SLOW:g} s of CPU. --full runs the remaining tests.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if the reason of a skip is not in the file of --skips."""
    listed, reporter = session.config.getoption("--skips"), session.config.pluginmanager.get_plugin("terminalreporter")
    if listed is None or reporter is None:
        return
    allowed = listed.read_text().splitlines()
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in reporter.stats.get("skipped", ())}
    if surprises := sorted(reasons - set(allowed)):
        session.config.stash[_SURPRISES] = surprises
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return a random generator that is seeded with the name and the parameters of the test."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
