"""gjk3d robot: files that are no robot, and links that are drawn and not checked."""

from __future__ import annotations

import json
import re

import pytest
from words import assert_names

DRAWN = """<robot name="r"><link name="a"><visual><geometry><sphere radius="0.1"/></geometry></visual></link></robot>"""
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="a" value="${oops(}"/>
<link name="${a}"/></robot>"""


@pytest.mark.parametrize(
    "text",
    ["", "<robot", "<sdf/>", "<robot/>", "<mujoco><oops/></mujoco>", XACRO, "\0\1\2"],
)
def test_malformed_files_are_told_without_a_trace(run, tmp_path, text):
    (tmp_path / "r.urdf").write_text(text)
    for command in (("info",), ("check", "--random", "2"), ("pairs",)):
        said = run("robot", command[0], tmp_path / "r.urdf", *command[1:])
        assert (said.code, said.out) == (2, "")
        assert "r.urdf" in said.err
        assert "Traceback" not in said.err


def test_the_command_line_asks_for_what_is_drawn(run, tmp_path):
    (tmp_path / "r.urdf").write_text(DRAWN)
    said = run("robot", "info", tmp_path / "r.urdf")
    assert said.code == 0
    assert re.search(r"1 link .* a\. .*--collision visual", said.err)
    assert "no link" in said.err
    for command in (("check", "--random", "2"), ("pairs",)):
        said = run("robot", command[0], tmp_path / "r.urdf", *command[1:])
        assert said.code == 2
        assert_names(said.err, "error: ", "'r'", "--collision visual")
    said = run("robot", "check", tmp_path / "r.urdf", "--random", "2", "--collision", "visual", "--json")
    assert (said.code, json.loads(said.out)["free"]) == (0, 2)
