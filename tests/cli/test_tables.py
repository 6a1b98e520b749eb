"""Tables and labelled texts in terminals of any width."""

import re
import sys
from pathlib import Path

import pytest

from gjk3d.cli.terminal import Table, print_labelled
from tests.cli import messages

GEARBOX = Path(__file__).parents[2] / "data" / "gearbox.glb"
NAMES = ["gearbox/group_base/housing", "gearbox/group_fasteners/bolt_4", "a name of one long step without any slash"]
DECIDED = "boolean, depth at most"
NUMBERS = ["-0.0116303", "-0.000749998", "1.25e-10"]


def table():
    """Return a table with three long names."""
    made = Table(["#", "A", "distance m", "decided by"], ("#", "distance m"), ("A",), ("decided by",))
    for k, row in enumerate(zip(NAMES, NUMBERS, strict=True)):
        made.add(str(k), *row, DECIDED)
    return made


@pytest.mark.parametrize("room", [None, 200, 120, 80, 60, 40, 30])
def test_numbers_are_complete_and_lines_fit(room):
    lines = table().lines(room)
    for line, number in zip(lines[1:], NUMBERS, strict=False):
        assert number in line.split()
    assert room is None or all(len(line) <= room for line in lines[:4])


def test_piped_table_is_complete():
    lines = table().lines(None)
    assert len(lines) == 4
    for line, name in zip(lines[1:], NAMES, strict=True):
        assert name in line
        assert line.endswith(DECIDED)


def test_long_names_are_shortened_with_a_note():
    assert [line[3:34].rstrip() for line in table().lines(72)[1:4]] == [
        "gearbox/group_base/housing",
        "gearbox/group_fasteners/bolt_4",
        "a name of …ep without any slash",
    ]
    assert table().lines(40)[-1] == messages.SHORTENED.format("decided by")
    assert "…/bolt_4" in table().lines(40)[2]


def test_shortened_names_stay_different():
    made = Table(["A"], names=("A",))
    for group in ("left", "right"):
        made.add(f"assembly/group_{group}/subgroup/bolt")
    lines = made.lines(25)
    assert len({*lines[1:3]}) == 2
    assert all(len(line) <= 25 for line in lines[:3])


def test_wide_letters_count_as_two_columns():
    made = Table(["A", "n"], names=("A",))
    made.add("歯車箱/軸受の外輪その一", "12345")
    lines = made.lines(20)
    assert lines[1].startswith("歯")
    assert lines[1].endswith("12345")
    assert len(lines[1]) < 16


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes stdout a terminal with the given number of columns."""

    def narrow(columns):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")

    return narrow


@pytest.mark.full
@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_clash_table_is_readable_at_any_width(run, terminal, columns):
    piped = run("clash", GEARBOX, "--top", 8).out.splitlines()
    terminal(columns)
    shown = run("clash", GEARBOX, "--top", 8).out.splitlines()
    assert all(len(line) <= max(columns, 80) for line in shown)
    for line, full_line in zip(shown[4:12], piped[4:12], strict=True):
        penetration = re.split(r"\s{2,}", full_line.strip())[4]
        assert f" {penetration}" in line
        assert len(line) <= columns
        for name in re.findall(r"gearbox/\S+", full_line):
            assert name.rpartition("/")[2] in line
    assert (shown == piped) is (columns == 200)


@pytest.mark.parametrize("columns", [60, 80])
def test_labelled_texts_wrap_with_indentation(capsys, terminal, columns):
    rows = [
        ("question", "signed_distance of a Box and a Sphere, depth='auto', max_distance=inf, tol=None, trace=False")
    ]
    print_labelled(rows)
    (full_line,) = capsys.readouterr().out.splitlines()
    terminal(columns)
    print_labelled(rows)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= columns for line in lines)
    assert all(line.startswith(" " * 16) for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(full_line.split())
