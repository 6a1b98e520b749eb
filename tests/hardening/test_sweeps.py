"""Small hardening runs: correct results have no faults, and injected faults are detected."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from message_checks import assert_names

import gjk3d as gk
from tests.hardening import answers, difficult_pairs
from tests.hardening.__main__ import main, run
from tests.hardening.stacked import stacked

FIRST = 1 + 2 * difficult_pairs.NAMES.index("vertex, edge, face kisses")


def test_few_stacks_have_no_faults():
    tally, _ = run(1500, seed=7, first=FIRST, progress=False)
    total = tally.total()
    assert total.pairs >= 1500
    assert total.touching > 100
    assert total.verified > 100
    assert not total.wrong, tally.found


def test_injected_wrong_distances_are_detected(monkeypatch, capsys):
    """Distances of separated shapes that are a millionth too large break laws and are refuted."""
    true = gk.signed_distance

    def planted(*arguments, **options):
        answer = true(*arguments, **options)
        separated = answer.lower > 0
        for name in ("distance", "lower", "upper"):
            value = getattr(answer, name)
            setattr(answer, name, np.where(separated, value * 1.000001, value)[()])
        return answer

    monkeypatch.setattr(gk, "signed_distance", planted)
    tally, _ = run(200, seed=7, first=FIRST + 1, progress=False)
    assert {"bounds", "sign", "distance"} & set(tally.total().broken)
    assert tally.total().refuted
    assert_names(capsys.readouterr().err, "seed 7", "stack")


def test_stacked_boxes_need_no_exact_stage():
    result = stacked(5000, seed=3)
    assert result.pairs >= 5000
    assert result.exact == result.wrong == 0
    assert result.width < 1e-13


def test_command_line_writes_a_table(tmp_path, capsys):
    out = tmp_path / "table.md"
    assert main(["--pairs", "100", "--seed", "2", "--out", str(out)]) == 0
    assert "| **all** |" in out.read_text()
    assert main(["--stacked", "64"]) == 0
    assert re.search(r"\b0 reached\b.*exact", capsys.readouterr().out)


def test_changed_bit_changes_the_digest():
    answer = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, np.tile(np.eye(4), (3, 1, 1)))

    def digest(value):
        into = hashlib.sha256()
        answers.digest(value, into)
        return into.hexdigest()

    before = digest(("one", answer))
    assert digest(("one", answer)) == before
    answer.lower = np.nextafter(answer.lower, -np.inf)
    assert digest(("one", answer)) != before


def test_bodies_may_change_only_within_their_intervals():
    old = {"convex/0/collide": "abc", "bodies/x": np.array([(1.0, -0.5, -0.25), (0.0, 0.5, 0.75)])}
    narrower = {**old, "bodies/x": np.array([(1.0, -0.5, -0.25), (0.0, 0.6, 0.7)])}
    assert answers.differences(old, dict(old)) == ([], [])
    wrong, changed = answers.differences(old, narrower)
    assert not wrong
    assert len(changed) == 1
    for new in (
        {"bodies/x": old["bodies/x"] + 1.0},
        {"bodies/x": old["bodies/x"] + (0, 9, 9)},
        {"convex/0/collide": "b"},
    ):
        wrong, _ = answers.differences(old, {**old, **new})
        assert len(wrong) == 1
