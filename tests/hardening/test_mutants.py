"""Tests of `tests.hardening.mutants`: the kinds of faults, and the results of mutants in a tiny package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import gjk3d
from gjk3d._kernels import store
from tests.hardening import mutants, mutations
from tests.hardening.mutants import Judge, Result, Runner, Tree

SNIPPETS = [
    ("x = p + q", "sign", "p + q", "p - q"),
    ("x = -p", "sign", "-p", "p"),
    ("x += p", "sign", "x += p", "x -= p"),
    ("x = p[2]", "off by one", "2", "1"),
    ("x = p[:q]", "off by one", "q", "q - 1"),
    ("for k in range(q):\n        p(k)", "off by one", "q", "q - 1"),
    ("return f(pose_a, pose_b)", "swapped A and B", "f(pose_a, pose_b)", "f(pose_b, pose_a)"),
    ("x = a.size, b.size", "swapped A and B", "(a.size, b.size)", "(b.size, a.size)"),
    ("if p < q:\n        x = 1", "comparison", "p < q", "p >= q"),
    ("if p < q:\n        x = 1", "comparison", "p < q", "p <= q"),
    ("while not p:\n        q()", "comparison", "not p", "p"),
    ("x = p and q", "dropped term", "p and q", "q"),
    ("x = min(p, q)", "dropped term", "min(p, q)", "p"),
    ("x = p - 3.0 * q", "dropped term", "p - 3.0 * q", "p"),
    ("x = p - 3.0 * _U * q", "rounding", "p - 3.0 * _U * q", "p"),
    ("x = max(p, self.error)", "rounding", "max(p, self.error)", "p"),
    ("x = p + (q.slack + q.pad)", "rounding", "p + (q.slack + q.pad)", "p"),
    ("self._box = None", "dropped invalidation", "self._box = None", "pass"),
    ("self._boxes.clear()", "dropped invalidation", "self._boxes.clear()", "pass"),
    ("self.version += 1", "dropped invalidation", "self.version += 1", "pass"),
    ("self._box = f(p)", "cached value not refreshed", "self._box = f(p)", "pass"),
]


def snippet(body: str) -> str:
    return f'"""A module."""\n\nfrom __future__ import annotations\n\n\ndef f(self, p, q, a, b):\n    {body}\n'


@pytest.mark.parametrize(("body", "operator", "before", "after"), SNIPPETS)
def test_operators(body, operator, before, after):
    chosen = mutations.mutants_of("m.py", snippet(body))
    assert (operator, before, after) in [(mutant.operator, mutant.before, mutant.after) for mutant in chosen]


@pytest.mark.parametrize(
    "body",
    [
        'raise ValueError(f"{p + 1}")',
        'x = f"{p - q}"',
        '"""A docstring."""',
        'x = "a" + p',
        "x: p[1] = q",
        "assert p < q",
    ],
)
def test_texts_annotations_and_asserts_are_not_mutated(body):
    assert not mutations.mutants_of("m.py", snippet(body))


def test_assignments_in_constructors_are_not_removed():
    source = "class C:\n    def __init__(self, p):\n        self.p = p\n        self._box = None\n"
    assert not mutations.mutants_of("m.py", source)


def run_mutated(source: str, active: int, *arguments: float) -> float:
    """Return the result of the function ``f`` in a source with all its mutants, one of which is active."""
    numbers = {mutant.number for mutant in mutations.mutants_of("m.py", source, first=11)}
    text = mutations.mutated(source, 11, numbers, "switch").replace("from switch import mutant\n", "")
    space = {"mutant": lambda number: number == active}
    exec(text, space)
    return space["f"](*arguments)


def test_mutated_source_has_all_mutants_behind_switches():
    source = "def f(p, q):\n    x = p + 2 * q\n    if x < 12 and p > 3:\n        x += 1\n    return x\n"
    chosen = mutations.mutants_of("m.py", source, first=11)
    assert len(chosen) > 10
    for p, q in [(1, 2), (5, 9), (4, 1)]:
        space: dict = {}
        exec(source, space)
        assert run_mutated(source, 0, p, q) == space["f"](p, q)
        for mutant in chosen:
            plain = source.replace(mutant.before, mutant.after, 1)
            exec(plain, space)
            assert run_mutated(source, mutant.number, p, q) == space["f"](p, q), mutant


def test_switch_is_imported_after_docstring_and_future_imports():
    lines = mutations.mutated(snippet("return p + q"), 1, {1}, "gjk3d._mutants").splitlines()
    assert lines[:3] == ['"""A module."""', "from __future__ import annotations", "from gjk3d._mutants import mutant"]


def numbered(count: int) -> list[mutations.Mutant]:
    operators = ("sign", "rounding", "comparison")
    return [mutations.Mutant(k, "gjk3d/m.py", k, operators[min(k % 9, 2)], "x", "y") for k in range(1, count + 1)]


def test_selection_depends_on_seed_and_alternates_operators():
    chosen = numbered(300)
    selected = mutations.select(chosen, 30, 5)
    assert selected == mutations.select(chosen, 30, 5)
    assert selected != mutations.select(chosen, 30, 6)
    assert [sum(mutant.operator == name for mutant in selected) for name in ("sign", "rounding", "comparison")] == [
        10
    ] * 3
    assert mutations.select(chosen, 1000, 5) == chosen


def test_selection_keeps_other_mutants_if_one_is_removed():
    chosen = numbered(300)
    selected = mutations.select(chosen, 30, 5)
    again = mutations.select([mutant for mutant in chosen if mutant != selected[4]], 30, 5)
    assert set(selected) - set(again) == {selected[4]}
    assert len(again) == 30


def test_quotas_are_proportional_to_lines_with_a_minimum():
    lines = {"large": 9000, "middle": 900, "small": 100}
    many = dict.fromkeys(lines, 1000)
    assert mutations.quotas(lines, many, 50, 3) == {"large": 43, "middle": 4, "small": 3}
    assert mutations.quotas(lines, {**many, "large": 20}, 50, 3) == {"large": 20, "middle": 27, "small": 3}
    assert mutations.quotas(lines, dict.fromkeys(lines, 2), 50, 3) == {"large": 2, "middle": 2, "small": 2}
    assert sum(mutations.quotas(lines, many, 2, 3).values()) == 2


@pytest.mark.parametrize("group", ["narrow", "convex", "compat", "top level"])
def test_every_subpackage_has_tests(group):
    root = Path(__file__).parents[2]
    paths = mutants.tests_of(root, group)
    assert paths
    assert all((root / path).exists() for path in paths)


def test_all_sources_except_the_compiler_are_mutated():
    paths = mutants.sources(Path(gjk3d.__file__).parents[1])
    assert {"gjk3d/poses.py", "gjk3d/narrow/gjk.py", "gjk3d/cli/robot/path.py"} <= set(paths)
    assert not [path for path in paths if "/_kernels/" in path]


# a tiny package -------------------------------------------------------------------------------------------------------

CLEARANCE = """
def clearance(p, q, error):
    low = q - p - error
    if low < 0.0:
        low = 0.0
    return low
"""
CHECKOUT = {
    "gjk3d/__init__.py": "",
    "gjk3d/_kernels/__init__.py": "",
    "gjk3d/_kernels/decorators.py": "MODE = 'python'\n",
    "gjk3d/_kernels/calls/__init__.py": "",
    "gjk3d/_kernels/calls/assembly.py": "",
    "gjk3d/_kernels/builder.py": "_work = in_groups = None\n\n\ndef build():\n    pass\n",
    "gjk3d/tiny/__init__.py": "",
    "gjk3d/tiny/gaps.py": CLEARANCE,
    "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['full']\n",
    "tests/conftest.py": """
import pytest


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        items[:] = [item for item in items if not item.get_closest_marker("full")]
""",
    "tests/tiny/test_gaps.py": """
import pytest
from gjk3d.tiny.gaps import clearance


def test_fails_anyway():
    assert clearance(1.0, 3.0, 0.0) == 5.0


def test_apart():
    assert clearance(1.0, 3.0, 0.0) == 2.0


@pytest.mark.full
def test_error():
    assert clearance(1.0, 3.0, 0.5) == 1.5
""",
    "tests/hardening/__init__.py": "",
    "tests/hardening/answers.py": """
from typing import NamedTuple

from gjk3d.tiny.gaps import clearance


class Intervals(NamedTuple):
    rows: list


def digest(value, into):
    into.update(repr(value).encode())


SECTIONS = {"alone": lambda generator: [("overlap", clearance(3.0, 1.0, 0.0))]}
""",
}
APART, ERROR = "tests/tiny/test_gaps.py::test_apart", "tests/tiny/test_gaps.py::test_error"
#: by the code after the change: the quick test that fails, the section that differs, the full test that fails
BECOMES = {
    "q + p": (APART, "", ""),
    "q - p": ("", "", ERROR),
    "low >= 0.0": (APART, "", ""),
    "low <= 0.0": ("", "", ""),
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: tmp_path / "no cache")
    monkeypatch.setattr(mutants, "SECTIONS", ("alone",))
    source = tmp_path / "checkout"
    for name, text in CHECKOUT.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    for name in ("mutants", "mutations", "mutant_switch"):
        shutil.copy(Path(mutants.__file__).with_name(f"{name}.py"), source / "tests" / "hardening")
    work = tmp_path / "work"
    work.mkdir()
    return Tree(work, source)


@pytest.mark.full
def test_run_separates_killed_and_surviving_mutants(tree, capsys):
    chosen = tree.make(seed=1, count=100)
    results = mutants.run(chosen, Runner(tree), workers=2)
    became = {mutant.after: tuple(results[mutant.number])[1:4] for mutant in chosen}
    assert {after: became[after] for after in BECOMES} == BECOMES
    assert "test_fails_anyway" in capsys.readouterr().err
    text, good = mutants.report(chosen, results)
    assert not good
    assert f"gjk3d/tiny/gaps.py:3: rounding: q - p - error  ->  q - p`: survived, killed by {ERROR}" in text


@pytest.mark.full
def test_mutant_counts_if_a_digest_changes(tree):
    """A mutant that no test detects counts if it changes a digest."""
    (tree.source / "tests/tiny/test_gaps.py").write_text("def test_nothing():\n    import gjk3d.tiny.gaps\n")
    chosen = tree.make(seed=1, count=100, operator="comparison")
    results = mutants.run(chosen, Runner(tree), workers=1)
    became = {mutant.after: tuple(results[mutant.number])[1:4] for mutant in chosen}
    assert became["low >= 0.0"] == ("", "alone", "")
    assert became["low <= 0.0"] == ("", "", "")


@pytest.mark.full
def test_stopped_run_continues(tree, monkeypatch):
    chosen = tree.make(seed=1, count=4)
    judge, judged = Judge.judge, []

    def stopped(self: Judge, mutant: mutations.Mutant) -> Result:
        if len(judged) == 2:
            raise KeyboardInterrupt
        judged.append(mutant.number)
        return judge(self, mutant)

    monkeypatch.setattr(Judge, "judge", stopped)
    assert set(mutants.run(chosen, Runner(tree), workers=1)) == set(judged)
    first = list(judged)
    judged.clear()
    monkeypatch.setattr(Judge, "judge", lambda self, mutant: judged.append(mutant.number) or judge(self, mutant))
    again = tree.make(seed=1, count=4)
    assert again == chosen
    results = mutants.run(again, Runner(tree), workers=1)
    assert set(results) == {mutant.number for mutant in chosen}
    assert set(judged) == set(results) - set(first)
    assert len((tree.work / "results.jsonl").read_text().splitlines()) == 4
    with pytest.raises(SystemExit, match="holds another run"):
        tree.make(seed=2, count=4)


@pytest.mark.full
def test_survivors_are_judged_again_if_tests_change(tree):
    chosen = tree.make(seed=1, count=100, operator="rounding")
    assert [mutant.quick for mutant in mutants.run(chosen, Runner(tree), workers=1).values()] == [""]
    tests = tree.source / "tests/tiny/test_gaps.py"
    tests.write_text(tests.read_text().replace("@pytest.mark.full\n", ""))
    assert tree.make(seed=1, count=100, operator="rounding") == chosen
    assert [mutant.quick for mutant in mutants.run(chosen, Runner(tree), workers=1).values()] == [ERROR]


def test_report_lists_survivors_and_shares():
    chosen = [
        mutations.Mutant(1, "gjk3d/narrow/m.py", 1, "sign", "p + q", "p - q"),
        mutations.Mutant(2, "gjk3d/narrow/m.py", 2, "rounding", "p + error", "p"),
        mutations.Mutant(3, "gjk3d/broad/m.py", 3, "comparison", "p < q", "p <= q"),
    ]
    killed = Result(1, "a test", "", "", 5, 1, 1.0)
    unnoticed = Result(2, "", "", "", 5, 1, 1.0)
    results = {1: killed, 2: unnoticed, 3: Result(3, "", "", "", 5, 0, 1.0)}
    text, good = mutants.report(chosen, results)
    assert not good
    assert "| **all** | 3 | 1 | 1 | 1 | 100% |" in text
    assert "Dropped rounding terms that no test kills:\n\n- `gjk3d/narrow/m.py:2: rounding" in text
    assert "p < q  ->  p <= q`: no visible effect, reached by 5 quick tests and 0 sections of the answers" in text
    text, good = mutants.report(chosen, {**results, 2: unnoticed._replace(quick="a test")})
    assert good
    assert "Survivors" not in text
    text, good = mutants.report(chosen, {**results, 2: unnoticed._replace(full="a test")})
    assert not good  # one of two survives
    assert "Survivors" in text
    assert Result(**json.loads(json.dumps(killed._asdict()))) == killed
