"""``gjk3d robot``: malformed files, and links that have visual geometry only."""

from __future__ import annotations

import json
import re

import pytest
from message_checks import assert_names

DRAWN = """<robot name="r"><link name="a"><visual><geometry><sphere radius="0.1"/></geometry></visual></link></robot>"""
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="a" value="${oops(}"/>
<link name="${a}"/></robot>"""


@pytest.mark.parametrize(
    "text",
    ["", "<robot", "<sdf/>", "<robot/>", "<mujoco><oops/></mujoco>", XACRO, "\0\1\2"],
)
def test_malformed_files_are_rejected_without_a_traceback(run, tmp_path, text):
    (tmp_path / "r.urdf").write_text(text)
    for command in (("info",), ("check", "--random", "2"), ("pairs",)):
        result = run("robot", command[0], tmp_path / "r.urdf", *command[1:])
        assert (result.code, result.out) == (2, "")
        assert "r.urdf" in result.err
        assert "Traceback" not in result.err


def test_visual_geometry_is_used_only_on_request(run, tmp_path):
    (tmp_path / "r.urdf").write_text(DRAWN)
    result = run("robot", "info", tmp_path / "r.urdf")
    assert result.code == 0
    assert re.search(r"1 link .* a\. .*--collision visual", result.err)
    assert "no link" in result.err
    for command in (("check", "--random", "2"), ("pairs",)):
        result = run("robot", command[0], tmp_path / "r.urdf", *command[1:])
        assert result.code == 2
        assert_names(result.err, "error: ", "'r'", "--collision visual")
    result = run("robot", "check", tmp_path / "r.urdf", "--random", "2", "--collision", "visual", "--json")
    assert (result.code, json.loads(result.out)["free"]) == (0, 2)
