"""Machine code reads Python objects by offset: the check of the offsets at start, and the fallback to Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gjk3d as gk
from gjk3d._kernels import calls
from gjk3d._kernels.decorators import MODE

OBJECTS = pytest.mark.skipif(MODE != "object", reason="of kernels from an object file")

RESULTS = """
import numpy as np, gjk3d as gk, gjk3d.robot
from gjk3d.cli.doctor import kernels_in_use
pose = np.eye(4); pose[0, 3] = 2.0
a, b = gk.Box((1, 1, 1)), gk.Capsule(0.5, 1)
pair, checker = gk.Pair(a, b), gk.robot.Checker(gk.robot.Robot.example())
distance = pair.signed_distance(None, pose, tol=1e-3)
print(distance.distance.hex(), distance.lower.hex(), distance.normal.tobytes().hex(), distance.status)
print(gk.collide(a, b, None, pose, margin=0.5), gk.distance(a, b, pose).distance.hex(), checker.free(np.zeros(2)))
kernels = kernels_in_use()
print(kernels["mode"], kernels.get("builtins"), type(gk.collide).__name__, type(gk.Distance.normal).__name__)
"""
USUAL = ["object", "True", "builtin_function_or_method", "getset_descriptor"]


def run(plant: str, **environment: str) -> tuple[str, list[str]]:
    """Run the queries in a fresh interpreter with an injected fault; return the results and the kernel modes."""
    done = subprocess.run(
        [sys.executable, "-c", plant + RESULTS], capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(gk.__file__).parents[1]), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results, _, kernels = done.stdout.strip().rpartition("\n")
    return results, kernels.split()


@OBJECTS
def test_objects_have_the_documented_layout():
    assert not calls.array_faults()
    assert not calls.object_faults()


@pytest.mark.parametrize(
    ("name", "wrong", "fault"),
    [
        ("DATA", 24, "numbers of an array"), ("SHAPE", 40, "shape of an array"), ("DESCR", 48, "kind of an array"),
        ("NDIM", 28, "dimensions of an array"), ("FLAGS", 24, "flags of an array"), ("TYPE", 0, "type of an object"),
    ],
)  # fmt: skip
@OBJECTS
def test_wrong_array_offset_is_reported(monkeypatch, name, wrong, fault):
    if name == "SHAPE":  # the check reads through this pointer, so it needs a readable address
        wrong = calls.DATA
    monkeypatch.setattr(calls, name, wrong)
    assert any(fault in message for message in calls.array_faults())


@pytest.mark.parametrize(
    ("name", "wrong", "fault"),
    [
        ("SIZE", 8, "size of a tuple"),
        ("SIZE", 8, "size of a list"),
        ("FLOAT", 8, "number of a float"),
        ("BYTES", 16, "content of bytes"),
    ],
)
@OBJECTS
def test_wrong_object_offset_is_reported(monkeypatch, name, wrong, fault):
    monkeypatch.setattr(calls, name, wrong)
    assert any(fault in message for message in calls.object_faults())


def test_free_threaded_python_is_reported(monkeypatch):
    monkeypatch.setattr(calls.sysconfig, "get_config_var", lambda name: 1 if name == "Py_GIL_DISABLED" else None)
    assert "lock" in calls.array_faults()[0]


def test_offset_of_attribute_without_slot_raises():
    with pytest.raises(TypeError, match="shape"):
        calls.offset(np.ndarray, "shape")


@pytest.mark.full
@OBJECTS
@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        ("from gjk3d._kernels import calls; calls.object_faults = lambda: ['planted']", "object False"),
        ("from gjk3d._kernels import calls; calls.array_faults = lambda: ['planted']", "python None"),
        (
            "import sysconfig; real = sysconfig.get_config_var\n"
            "sysconfig.get_config_var = lambda name: 1 if name == 'Py_GIL_DISABLED' else real(name)",
            "python None",
        ),
    ],
    ids=["other objects", "arrays", "free-threaded"],
)  # fmt: skip
def test_python_fallback_returns_equal_results(plant, expected):
    without_numba = "import importlib.util; importlib.util.find_spec = lambda name: None\n"
    results, kernels = run(without_numba + plant)
    usual_results, usual_kernels = run("")
    assert results == usual_results
    assert kernels == [*expected.split(), "function", "member_descriptor"]
    assert usual_kernels == USUAL
