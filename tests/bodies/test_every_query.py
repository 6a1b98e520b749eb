"""Every query of every kind of body, in both orders: the results match the table of the guide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bodies.every_query import BODIES, QUESTIONS, Question, cell, refusals

GUIDE = (Path(__file__).parents[2] / "examples" / "guides" / "meshes.md").read_text(encoding="utf-8")
ROWS = {
    row[0]: row[1:]
    for row in (line.strip("| ").split(" | ") for line in GUIDE.splitlines() if line.startswith("|"))
    if len(row) >= len(BODIES) + 1
}


def test_table_lists_all_bodies_and_queries() -> None:
    assert ROWS["query"][: len(BODIES)] == [f"`{name}`" for name in BODIES]
    assert {question.name for question in QUESTIONS} <= set(ROWS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.name)
def test_table_matches_the_supported_queries(question: Question) -> None:
    cells = []
    for body in BODIES.values():
        refused = refusals(question, body)
        cells.append(cell(question, refused))
        for words in refused.values():  # each message names an alternative
            assert re.search(r"(?i)\b(use|take|ask|pass|make|bring|bound)\b|its normal$", words), words
    assert ROWS[question.name][: len(BODIES)] == cells, "python -m tests.bodies.every_query prints the table"
    assert (len(ROWS[question.name]) > len(BODIES) and ROWS[question.name][-1] == question.instead) or set(cells) == {
        "yes"
    }
