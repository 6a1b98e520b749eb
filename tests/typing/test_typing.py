"""Users' scripts under mypy --strict and pyright: good scripts pass, and bad scripts fail on the marked lines only."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gjk3d

HERE = Path(__file__).parent
ROOT = str(Path(gjk3d.__file__).parents[1])
SCRIPTS = sorted([*HERE.glob("good/*.py"), *HERE.glob("bad/*.py")])
Line = tuple[str, int]


def expected() -> set[Line]:
    texts = {path: path.read_text().splitlines() for path in SCRIPTS}
    return {(p.name, k) for p, lines in texts.items() for k, line in enumerate(lines, 1) if line.endswith("# error")}


def output(*command: str) -> str:
    """Return the output of a type checker, which finds the package as an installed one."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": ROOT},
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr  # errors in the bad scripts; another code is a failure
    return done.stdout


def mypy(folder: Path) -> set[Line]:
    settings = folder / "mypy.ini"
    # checking pyvista and trimesh takes a minute and does not concern these scripts
    settings.write_text("[mypy]\nstrict = True\n[mypy-pyvista.*,trimesh.*]\nfollow_imports = skip\n")
    cache = str(folder / "cache")
    report = output("mypy", "--config-file", str(settings), "--cache-dir", cache, "--no-pretty", *map(str, SCRIPTS))
    return {(Path(p).name, int(k)) for p, k in re.findall(r"^(.+?):(\d+): error:", report, re.MULTILINE)}


def pyright(folder: Path) -> set[Line]:
    report = json.loads(output("pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, SCRIPTS)))
    assert report["summary"]["filesAnalyzed"] == len(SCRIPTS)
    errors = [error for error in report["generalDiagnostics"] if error["severity"] == "error"]
    return {(Path(error["file"]).name, error["range"]["start"]["line"] + 1) for error in errors}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_report_exactly_the_marked_lines(checker, tmp_path):
    assert checker(tmp_path) == expected()


@pytest.mark.parametrize("package", [gjk3d, gjk3d.viz])
def test_stub_names_equal_public_names(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    assert sorted(name.name for line in imports for name in line.names) == sorted(package.__all__)
    assert all(name.asname == name.name for line in imports for name in line.names)  # "x as x" makes x public
    assert all(hasattr(package, name) for name in package.__all__)


def test_package_has_typing_marker():
    assert Path(gjk3d.__file__).with_name("py.typed").is_file()
