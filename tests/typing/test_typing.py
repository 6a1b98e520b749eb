"""Users' scripts under mypy --strict and pyright: good ones pass, bad ones fail on just the lines that say so."""

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
    """Return what a checker prints; it finds the package where python does, as an installed one."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": ROOT},
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr  # the bad scripts; another number is a failure to run
    return done.stdout


def mypy(folder: Path) -> set[Line]:
    settings = folder / "mypy.ini"
    # what pyvista and trimesh say of themselves takes a minute to read, and is no part of these scripts
    settings.write_text("[mypy]\nstrict = True\n[mypy-pyvista.*,trimesh.*]\nfollow_imports = skip\n")
    cache = str(folder / "cache")
    told = output("mypy", "--config-file", str(settings), "--cache-dir", cache, "--no-pretty", *map(str, SCRIPTS))
    return {(Path(p).name, int(k)) for p, k in re.findall(r"^(.+?):(\d+): error:", told, re.MULTILINE)}


def pyright(folder: Path) -> set[Line]:
    told = json.loads(output("pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, SCRIPTS)))
    assert told["summary"]["filesAnalyzed"] == len(SCRIPTS)
    found = [each for each in told["generalDiagnostics"] if each["severity"] == "error"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in found}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_users_scripts(checker, tmp_path):
    assert checker(tmp_path) == expected()


@pytest.mark.parametrize("package", [gjk3d, gjk3d.viz])
def test_every_name_of_the_stub_can_be_loaded(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    assert sorted(name.name for line in imports for name in line.names) == sorted(package.__all__)
    assert all(name.asname == name.name for line in imports for name in line.names)  # public to type checkers
    assert all(hasattr(package, name) for name in package.__all__)


def test_the_package_says_that_it_is_typed():
    assert Path(gjk3d.__file__).with_name("py.typed").is_file()
