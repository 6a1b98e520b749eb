"""README blocks and docstring examples are run; what the README points at is there."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import gjk3d

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
#: what names of the package may stand in, in prose and in code
TEXTS = [
    ROOT / "README.md",
    *(file for folder in ("examples", "data", "tests") for file in sorted((ROOT / folder).rglob("*.md"))),
    *(file for folder in ("examples", "gjk3d") for file in sorted((ROOT / folder).rglob("*.py"))),
]
DOTTED = re.compile(r"(?<![\w./@-])(?:gk|gjk3d)(?:\.[A-Za-z_]\w*)+")
NO_NAMES = {"gjk3d.png"}  # a file
# OMPL has no wheels for Windows
LEFT_OUT = "gk.robot.ompl" if sys.platform == "win32" else "nothing"
MODULES = [m.name for m in pkgutil.walk_packages(gjk3d.__path__, "gjk3d.") if m.name != "gjk3d.__main__"]


def test_readme_examples(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 10
    assert failed == 0


def test_readme_commands_print_what_it_says(monkeypatch, capsys):
    """Blocks of the kind console: a line that begins with $ is a command, what follows is its stdout.

    Numbers may differ by the tolerance of 1e-6 that the printed proofs state, or in their last digit of four.
    """
    from gjk3d.cli.app import main

    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    said = [each.partition("\n") for block in blocks for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert said
    for command, _, printed in said:
        program, *words = shlex.split(command)
        assert program == "gjk3d"
        capsys.readouterr()
        assert main(words) in (0, 1), command
        found = capsys.readouterr().out
        number = r"-?\b\d+\.\d+\b"
        lines, wanted = ([line.rstrip() for line in text.splitlines()] for text in (found, printed))
        assert [re.sub(number, "#", line) for line in lines] == [re.sub(number, "#", line) for line in wanted]
        for line, other in zip(lines, wanted, strict=True):
            numbers, others = ([float(each) for each in re.findall(number, text)] for text in (line, other))
            rough = {"rel": 1e-3, "abs": 0.0} if line.startswith("q = ") else {"rel": 0.0, "abs": 3e-6}
            assert numbers == pytest.approx(others, **rough), line


def test_the_first_command_prints_what_it_says(monkeypatch, capsys):
    from gjk3d.cli.app import main

    monkeypatch.chdir(ROOT)
    command = re.search(r"gjk3d (clash .*) --html clash.html", README)[1]
    printed = re.search(r"prints this .*?```text\n(.*?)```", README, re.DOTALL)[1]
    assert main(command.split()) == 1
    lines, wanted = ([line.rstrip() for line in text.splitlines()] for text in (capsys.readouterr().out, printed))
    assert lines == wanted


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_has_an_example():
    without = []
    for name in gjk3d.__all__:
        thing = getattr(gjk3d, name)
        if callable(thing) and name not in (
            "Distance",
            "Status",
            "Axis",
            "AxisKind",
            "Certificate",
            "Contact",
            "Gradient",
            "Impact",
            "RayHit",
            "Clearance",
            "SceneHit",
            "ScenePairs",
            "Verdict",
            "Shape",
            "Composed",
            "warmup",
        ):
            text = thing.__doc__ or ""
            without += [] if ">>>" in text else [name]
    assert without == []


def test_links_and_pictures_of_the_readme_exist():
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if not t.startswith("http")]
    assert len(targets) >= 3
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_files_named_in_the_readme_commands_exist():
    named = re.findall(r"data/[\w.]+", README)
    assert named
    assert [n for n in named if not (ROOT / n).exists()] == []


def names_in(text: str) -> set[str]:
    """Return the dotted names that begin with gk or gjk3d."""
    return {name for name in DOTTED.findall(text) if name not in NO_NAMES and not name.startswith(LEFT_OUT)}


def attribute(name: str):
    """Return what a user gets who types a name; one of the whole package may be a module to import."""
    thing, path = gjk3d, "gjk3d"
    first, *rest = name.split(".")
    for part in rest:
        path += f".{part}"
        if first == "gjk3d" and hasattr(thing, "__path__") and find_spec(path) is not None:
            importlib.import_module(path)
        declared = getattr(thing, "__annotations__", {})  # what instances alone have
        thing = declared[part] if part in declared and not hasattr(thing, part) else getattr(thing, part)
    return thing


def dangling(text: str) -> list[str]:
    """Return the names that lead nowhere."""
    found = []
    for name in sorted(names_in(text)):
        try:
            attribute(name)
        except (AttributeError, ModuleNotFoundError):
            found.append(name)
    return found


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_names_in_prose_and_code_are_there(file):
    assert dangling(file.read_text(encoding="utf-8")) == []


def test_names_that_are_not_there_are_found():
    prose = "Ask `gk.collide`, gk.robot.Checker.fly, gk.nothing; see gjk3d.narrow.gjk, gjk3d.narrow.nowhere, gk.viz."
    assert dangling(prose) == ["gjk3d.narrow.nowhere", "gk.nothing", "gk.robot.Checker.fly"]


def test_modules_that_documents_name_are_there_without_an_import_of_their_own():
    """Asked in an interpreter of its own each, for any other name may load a module by the way."""
    names = {name for file in TEXTS for name in names_in(file.read_text(encoding="utf-8")) if name.startswith("gk.")}
    heads = {".".join(name.split(".")[:k]) for name in names for k in range(2, name.count(".") + 2)}
    modules = sorted(head for head in heads if isinstance(attribute(head), ModuleType))
    assert {"gk.viz", "gk.robot", "gk.clash"} < set(modules)
    for name in modules:
        command = [sys.executable, "-c", f"import gjk3d as gk; {name}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
