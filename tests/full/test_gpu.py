"""Queries on a graphics card, real or simulated by numba, and the code compiled for it.

Each test runs a separate process, since numba reads ``NUMBA_ENABLE_CUDASIM`` when it is imported. These tests need the
extra ``gpu``. The tests of invalid devices need no extra.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import DeviceUnavailableError, ShapeError

ROOT = Path(__file__).parents[2]
BOX = gk.Box((1, 1, 1))


def python(*arguments: str, **environment: str) -> str:
    """Run a module of the tests in a new process, and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        timeout=1800,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def has_card() -> bool:
    code = "import numba_cuda; from numba import cuda; raise SystemExit(not cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.full
@pytest.mark.parametrize("question", ["stacks", "pairs", "robots", "refusals"])
def test_simulated_card_equals_processor(question):
    python("tests.gpu_rows", question, "12", NUMBA_ENABLE_CUDASIM="1")


@pytest.mark.full
@pytest.mark.parametrize("question", ["stacks", "pairs", "robots", "refusals"])
def test_card_equals_processor(question):
    if not has_card():
        pytest.skip("no graphics card")
    python("tests.gpu_rows", question, {"stacks": "20000", "pairs": "100000", "robots": "1000000"}.get(question, "2"))


@pytest.mark.full
def test_entries_compile_for_a_card_without_contraction(tmp_path):
    if find_spec("numba_cuda") is None:
        pytest.skip("no numba-cuda")
    output = python("tests.gpu_ptx", str(tmp_path))
    assert [line.partition(":")[0] for line in output.splitlines()] == ["collide_many", "hit_of_one", "solve_many"]


def test_missing_device_raises_with_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "gjk3d._kernels.gpu", None)  # makes the import fail, as without numba
    with pytest.raises(DeviceUnavailableError) as caught:
        gk.collide(BOX, BOX, device="cuda")
    assert_names(caught.value, "pip install 'gjk3d[gpu]'", "device='cpu'")
    checker = gk.robot.Checker(gk.robot.Robot.example())
    with pytest.raises(DeviceUnavailableError) as caught:
        checker.free([[0.0, 0.0]], device="cuda")
    assert_names(caught.value, "numba-cuda", "gjk3d[gpu]")
    with pytest.raises(DeviceUnavailableError) as caught:
        gk.Pairs([BOX, BOX]).distance([(0, 1)], np.tile(np.eye(4), (2, 1, 1)), device="cuda")
    assert_names(caught.value, "numba-cuda", "gjk3d[gpu]")


def test_unknown_device_raises():
    with pytest.raises(ShapeError) as caught:
        gk.distance(BOX, BOX, device="gpu")
    assert_names(caught.value, "'gpu'", "'cpu'", "'cuda'")
    with pytest.raises(ShapeError, match=r"device\b.*\b1\b.*'cuda'"):
        gk.robot.Checker(gk.robot.Robot.example()).free([0.0, 0.0], device=1)


def test_cpu_is_a_valid_device():
    assert gk.collide(BOX, BOX, device="cpu") is True
    assert gk.signed_distance(BOX, BOX, device="cpu").distance == -1.0
