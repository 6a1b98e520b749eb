"""The hardening run in small: nothing is found in what is right, and what is planted is."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from words import assert_names

import gjk3d as gk
from tests.hardening import adversaries, answers
from tests.hardening.__main__ import main, run
from tests.hardening.stacked import stacked

FIRST = 1 + 2 * adversaries.NAMES.index("vertex, edge, face kisses")


def test_nothing_is_wrong_with_a_few_stacks():
    tally, _ = run(1500, seed=7, first=FIRST, progress=False)
    total = tally.total()
    assert total.pairs >= 1500
    assert total.touching > 100
    assert total.verified > 100
    assert not total.wrong, tally.found


def test_planted_wrong_answers_are_found(monkeypatch, capsys):
    """A millionth too far, of every answer that is apart: laws and judge both see it."""
    true = gk.signed_distance

    def planted(*asked, **options):
        answer = true(*asked, **options)
        apart = answer.lower > 0
        for name in ("distance", "lower", "upper"):
            value = getattr(answer, name)
            setattr(answer, name, np.where(apart, value * 1.000001, value)[()])
        return answer

    monkeypatch.setattr(gk, "signed_distance", planted)
    tally, _ = run(200, seed=7, first=FIRST + 1, progress=False)
    assert {"bounds", "sign", "distance"} & set(tally.total().broken)
    assert tally.total().refuted
    assert_names(capsys.readouterr().err, "seed 7", "stack")


def test_stacked_boxes_do_without_the_exact_stage():
    found = stacked(5000, seed=3)
    assert found.pairs >= 5000
    assert found.exact == found.wrong == 0
    assert found.width < 1e-13


def test_its_command_line(tmp_path, capsys):
    out = tmp_path / "table.md"
    assert main(["--pairs", "100", "--seed", "2", "--out", str(out)]) == 0
    assert "| **all** |" in out.read_text()
    assert main(["--stacked", "64"]) == 0
    assert re.search(r"\b0 reached\b.*exact", capsys.readouterr().out)


def test_another_bit_is_another_digest():
    answer = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, np.tile(np.eye(4), (3, 1, 1)))

    def digest(value):
        into = hashlib.sha256()
        answers.digest(value, into)
        return into.hexdigest()

    before = digest(("one", answer))
    assert digest(("one", answer)) == before
    answer.lower = np.nextafter(answer.lower, -np.inf)
    assert digest(("one", answer)) != before


def test_bodies_may_change_within_their_intervals_and_no_further():
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
