"""The planning benchmark runs on an example problem. No time is asserted. OMPL has no wheels for Windows."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("OMPL has no wheels for Windows", allow_module_level=True)

from . import planning


def test_both_libraries_solve_with_equal_steps(tmp_path, capsys):
    pose = np.eye(4)
    pose[:3, 3] = 0.35, 0.0, 0.7
    start = [-0.8, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
    problem = {
        "start": start,
        "goal": [0.8, *start[1:]],
        "other_joints": {"panda_finger_joint1": 0.03},
        "obstacles": [{"name": "post", "type": "cylinder", "pose": pose.tolist(), "radius": 0.05, "height": 1.4}],
    }
    file = tmp_path / "problems.json"
    file.write_text(json.dumps({"problems": {"post": [problem]}}))
    assert planning.main(["--problems", str(file), "--most", "20"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| post"))
    cells = [cell.strip() for cell in row.split("|")[2:-1]]
    assert cells[:3] == ["1", "1 / 1", "1"]
    assert int(cells[3]) > 1
    assert planning.main(["--problems", str(file), "--most", "20", "--plans"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| post"))
    cells = [cell.strip() for cell in row.split("|")[2:-1]]
    assert (cells[0], cells[1], cells[5]) == ("1", "1", "1")


@pytest.mark.parametrize("name", ["ur5", "pr2"])
def test_scripted_problems_are_reproducible(name, capsys):
    robot, joints = planning.scripted(name)
    first, again, other = (planning.drawn(name, robot, joints, "cage", seed) for seed in (1, 1, 2))
    assert (first.start == again.start).all()
    assert (first.start != other.start).any()
    checker = first.planning.checker
    assert checker.free([first.start, first.goal]).all()
    assert not checker.motion_free(first.start, first.goal)
    assert planning.main(["--robot", name, "--each", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines] == ["scene", "---", *planning.SCENES, "all"]
