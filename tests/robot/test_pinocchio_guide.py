"""The inverse kinematics example of the guide with pinocchio, for mimic joints (Panda) and wide limits (UR5)."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import gjk3d as gk

ROOT = Path(__file__).parents[2]
SHARE = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
GUIDE = (ROOT / "examples/guides/robots.md").read_text(encoding="utf-8")
BLOCK = "import pinocchio\n" + GUIDE.split("```text\nimport pinocchio\n")[1].split("```")[0]
ROBOTS = {
    "arm": (ROOT / "data/arm/arm.urdf", "gripper"),
    "panda": (SHARE / "panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    "ur5": (SHARE / "ur_description/urdf/ur5_robot.urdf", "tool0"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_guide_solutions_reach_goal(name, tmp_path, monkeypatch):
    pinocchio = pytest.importorskip("pinocchio", reason="pip install pin")
    file, tool = ROBOTS[name]
    if not file.exists():
        pytest.skip("pip install example-robot-data")
    robot = gk.robot.Robot.load(file)
    shutil.copy(file, tmp_path / "arm.urdf")  # the pinocchio model needs no meshes
    monkeypatch.chdir(tmp_path)
    q = 0.5 * np.clip(robot.lower, -2.0, 2.0) + 0.5 * np.clip(robot.upper, -2.0, 2.0) + 0.1
    q = np.clip(q, robot.lower, robot.upper)
    goal = robot.link_poses(q)[robot.link_number(tool)]
    names = {"np": np, "robot": robot, "checker": gk.robot.Checker(robot), "goal": pinocchio.SE3(goal)}
    block = BLOCK.replace("10_000", "60").replace('"tool"', repr(tool))
    assert block.count("(60,") == block.count(repr(tool)) == 1
    exec(block, names)  # the code comes from the guide of this repository
    result, solutions = names["result"], np.array(names["solutions"])
    assert solutions.shape == (60, robot.dof)
    assert result.valid.any()
    finite = solutions[np.isfinite(solutions).all(axis=1)]
    assert np.abs(robot.link_poses(finite)[:, robot.link_number(tool)] - goal).max() < 1e-5
    assert robot.within_limits(solutions[result.valid]).all()
    assert names["checker"].free(solutions[result.valid]).all()
