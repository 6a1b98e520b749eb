"""``gjk3d doctor`` and ``gjk3d warmup``."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import RenderingUnavailableError
from tests.cli import messages

doctor = import_module("gjk3d.cli.doctor")


@pytest.fixture
def rendering(monkeypatch):
    """Replace the OpenGL check by a stub and return the list of errors that it raises."""
    errors: list[Exception] = []

    def check():
        for error in errors:
            raise error
        return "vtkEGLRenderWindow"

    monkeypatch.setattr("gjk3d.viz.check_rendering", check)
    return errors


def test_extras_match_pyproject():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

    def names(requirements):
        return tuple(re.match(r"[\w-]+", requirement)[0] for requirement in requirements)

    core = names(project["dependencies"])  # an extra may narrow their version range, but they are always installed
    stated = {
        extra: tuple(name for name in names(requirements) if name not in core)
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in ("all", "quick", "test", "bench")
    }
    assert stated == doctor.EXTRAS


def test_usable_installation_is_reported(run, rendering):
    result = run("doctor", "--json")
    document = json.loads(result.out)
    assert (result.code, document["usable"], document["broken"]) == (0, True, [])
    assert document["packages"]["llvmlite"]["error"] is None
    assert document["extras"]["io"]["packages"].keys() == {"lxml", "networkx", "cascadio"}
    assert document["kernels"]["mode"] in ("object", "jit", "python")
    assert document["rendering"] == {"works": True, "window": "vtkEGLRenderWindow", "error": None}
    text = run("doctor").out
    assert text.endswith(messages.USABLE)
    assert "FAIL" not in text


def test_missing_rendering_is_reported_without_failure(run, rendering):
    rendering.append(RenderingUnavailableError("no EGL: apt-get install libegl1"))
    result = run("doctor")
    assert result.code == 0
    assert_names(result.out, str(rendering[0]), "--html")


def test_missing_package_fails_but_missing_extra_does_not(run, rendering, monkeypatch):
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in ("scipy", "lxml") else real(name))
    result = run("doctor")
    assert result.code == 1
    assert re.search(r"FAIL\s+scipy\s.*pip install scipy", result.out)
    assert re.search(r'lxml.*pip install "gjk3d\[io\]"', result.out)
    assert result.out.endswith(messages.BROKEN.format("scipy"))


def test_package_with_import_error_fails(run, rendering, monkeypatch):
    def load(name):
        if name == "llvmlite":
            raise OSError("libllvm is \x1b[2J not there")
        return real(name)

    real = doctor.import_module
    monkeypatch.setattr(doctor, "import_module", load)
    result = run("doctor")
    assert result.code == 1
    assert re.search(r"FAIL\s+llvmlite\s.*OSError: libllvm is \\x1b\[2J not there", result.out)


OBJECT = {
    "mode": "object", "loaded": True, "can_build": True, "writable": True, "level": "x86-64", "folder": "/x",
    "builtins": True, "building": None, "refused": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ({"mode": "python"}, messages.COMPILATION_OFF),
        ({"mode": "jit"}, messages.COMPILES_BY_ITSELF),
        (OBJECT | {"object": "/x/y.o"}, "x86-64: /x/y.o"),
        (OBJECT | {"loaded": False, "can_build": False}, 'pip install "gjk3d[build]"'),
        (OBJECT | {"loaded": False, "writable": False}, "GJK3D_CACHE_DIR"),
        (OBJECT | {"object": "/x/y.o", "builtins": False}, messages.THROUGH_PYTHON),
        (OBJECT | {"loaded": False}, messages.NOT_COMPILED),
        (OBJECT | {"object": "/x/y.o", "refused": ["The cache /z is not used."]}, "The cache /z is not used."),
        (OBJECT | {"loaded": False, "building": 0.4}, messages.ELSEWHERE.format("40%")),
    ],
)
def test_kernel_state_is_printed(run, rendering, monkeypatch, facts, named):
    monkeypatch.setattr(doctor, "kernels_in_use", lambda: facts)
    if facts.get("loaded") is False:  # a query would start the build of the kernels
        monkeypatch.setattr(gk, "signed_distance", None)
    result = run("doctor")
    assert result.code == 0
    assert named in result.out


def test_wrong_distance_fails(run, rendering, monkeypatch):
    wrong = gk.signed_distance(gk.Point((0, 0, 0)), gk.Point((1, 0, 0)))
    monkeypatch.setattr(gk, "signed_distance", lambda *_: wrong)
    result = run("doctor")
    assert result.code == 1
    assert "the distance of two test boxes is 1.0, expected 2" in result.out
    assert result.out.endswith(messages.BROKEN.format("kernels"))


def test_warmup(run, monkeypatch):
    monkeypatch.setattr(gk._kernels, "warmup", lambda: True)
    result = run("warmup")
    assert result.code == 0
    assert re.search(r" \d+\.\d\d s\n$", result.out)
    monkeypatch.setattr(gk._kernels, "warmup", lambda: False)
    result = run("warmup")
    assert (result.code, result.out) == (1, "")
    assert "gjk3d doctor" in result.err
