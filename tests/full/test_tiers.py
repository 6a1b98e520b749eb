"""The tiers of the tests, and the skips and missing packages that fail a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from message_checks import assert_names

from tests import conftest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

def test_quick(rng):
    assert 0.0 <= rng.random() < 1.0

@pytest.mark.full
def test_costly():
    pytest.skip("no graphics card")
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the tests above with options, and returns the exit status and the output."""

    def call(*options: str) -> tuple[int, str]:
        (tmp_path / "test_two.py").write_text(TESTS)
        command = ["-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-rs", f"--rootdir={tmp_path}"]
        done = subprocess.run(
            [sys.executable, *command, "-c", "/dev/null", *options, str(tmp_path)],
            capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return call


def test_quick_tier_deselects_full_tests(run):
    status, out = run()
    assert status == pytest.ExitCode.OK
    assert_names(out, "1 passed", "1 deselected", "--full")


@pytest.mark.parametrize(("listed", "status"), [("no graphics card", 0), ("no graphics cards", 1)])
def test_unlisted_skip_fails_the_run(run, tmp_path, listed, status):
    (tmp_path / "skips").write_text(f"{listed}\n")
    assert run("--full", "--skips", str(tmp_path / "skips"))[0] == status
    assert run("--full", "-n", "1", "--skips", str(tmp_path / "skips"))[0] == status


def test_missing_requirements_are_listed_with_cures(monkeypatch):
    assert conftest.missing_requirements() == []
    monkeypatch.setattr(conftest, "_is_installed", lambda requirement: requirement.name not in ("coal", "dask"))
    monkeypatch.setattr(conftest, "BROWSERS", ())
    monkeypatch.setattr(conftest, "find_library", lambda name: None)
    missing = conftest.missing_requirements()
    assert_names(missing, "coal", "dask", ".[test]", "apt-get install chromium", "apt-get install libegl1")


def test_requirement_of_another_version_is_missing():
    assert conftest._is_installed(conftest.Requirement("pytest>=8"))
    assert not conftest._is_installed(conftest.Requirement("pytest>=999"))


def test_missing_file_of_skips_is_a_usage_error(run):
    status, out = run("--skips", "nowhere")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert_names(out, "--skips nowhere")


def test_selection_of_full_tests_prints_the_option(run):
    status, out = run("-k", "costly")
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert_names(out, "Add --full")


def test_random_data_depend_on_the_name_of_the_test(rng, request):
    assert request.node.name == "test_random_data_depend_on_the_name_of_the_test"
    assert rng.integers(1000, size=3).tolist() == [617, 733, 507]
