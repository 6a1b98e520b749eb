"""Every call in the guide's table for users of MoveIt, Drake, Tesseract and pybullet runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import gjk3d as gk

GUIDE = (Path(__file__).parents[2] / "examples/guides/coming-from-other-libraries.md").read_text(encoding="utf-8")
TABLE = GUIDE.split("## From MoveIt")[1]
LINES = [
    line
    for row in TABLE.splitlines()
    if row.startswith("| ") and not row.startswith("| other library")
    for line in re.findall(r"`([^`]+)`", row.rsplit(" | ", 1)[1])
]
ROBOT = """<robot name="r"><link name="a"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"/><link name="b"><collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="hand"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="continuous"><parent link="hand"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""


def test_table_is_not_empty():
    assert len(LINES) > 20


@pytest.mark.parametrize("line", LINES)
def test_line_of_table_runs(line, tmp_path):
    robot = gk.robot.Robot.load(ROBOT)
    robot.allowed = []
    q0, q1 = np.zeros(2), np.array([0.5, 0.2])
    names = {
        "gk": gk, "robot": robot, "checker": gk.robot.Checker(robot), "q": q0, "qs": np.array([q0, q1]), "q0": q0,
        "q1": q1, "path": tmp_path / "r.srdf" if "srdf" in line else np.array([q0, q1]), "link": "b",
        "shape": gk.Sphere(0.05), "points": np.zeros((4, 3)), "radius": 0.1,
        "spline": CubicSpline([0.0, 1.0, 2.0], [q0, q1, q0]),
    }  # fmt: skip
    if "(" not in line:
        line = f"{line}.__doc__" if line.startswith("gk.") else line
    eval(line, names)  # the code comes from the guide of this repository
