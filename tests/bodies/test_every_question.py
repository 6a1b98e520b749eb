"""Every question is asked of every kind in both orders; what comes of it is what the guide's table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bodies.every_question import BODIES, QUESTIONS, Question, cell, refusals

GUIDE = (Path(__file__).parents[2] / "examples" / "guides" / "meshes.md").read_text(encoding="utf-8")
ROWS = {
    row[0]: row[1:]
    for row in (line.strip("| ").split(" | ") for line in GUIDE.splitlines() if line.startswith("|"))
    if len(row) >= len(BODIES) + 1
}


def test_the_table_has_all_of_them() -> None:
    assert ROWS["query"][: len(BODIES)] == [f"`{name}`" for name in BODIES]
    assert {question.name for question in QUESTIONS} <= set(ROWS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.name)
def test_the_guide_says_what_is_answered(question: Question) -> None:
    said = []
    for body in BODIES.values():
        refused = refusals(question, body)
        said.append(cell(question, refused))
        for words in refused.values():  # each says why, and what to do instead
            assert re.search(r"(?i)\b(use|take|ask|pass|make|bring|bound)\b|its normal$", words), words
    assert ROWS[question.name][: len(BODIES)] == said, "python -m tests.bodies.every_question prints the table"
    assert (len(ROWS[question.name]) > len(BODIES) and ROWS[question.name][-1] == question.instead) or set(said) == {
        "yes"
    }
