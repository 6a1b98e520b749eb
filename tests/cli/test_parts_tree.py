"""The tree of an assembly in the terminal."""

import pytest
from model_files import CORNERS, QUADS, step


@pytest.mark.full
def test_the_tree_is_told_in_the_terminal(run, tmp_path):
    steel = [("box", CORNERS * 40, QUADS), ("pin", CORNERS * 5, QUADS)]
    whole = [("box", "NAUO1", (0, 0, 0)), ("pin", "NAUO2", (38, 0, 0)), ("pin", "NAUO3", (90, 0, 0))]
    (tmp_path / "a.step").write_bytes(step(steel, [("top\x1b[31m", whole)]))
    said = run("clash", tmp_path / "a.step", "--tree", "--fail-on", "none")
    assert said.code == 0
    tree = said.out[said.out.index("\ntop") + 1 :].splitlines()
    assert tree[0].endswith("(3 parts): 1 hard")
    assert "\x1b" not in tree[0]
    assert tree[1:] == ["  box: 1 hard", "  pin: 1 hard", "  pin_1"]
    refused = run("clash", tmp_path / "a.step", "--tree", "-f", "json")
    assert refused.code == 2
    assert "--tree" in refused.err
