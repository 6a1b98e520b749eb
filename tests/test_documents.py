"""README blocks and docstring examples are run; what the README points at is there."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import gjk3d

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
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
