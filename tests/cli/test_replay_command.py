"""``gjk3d replay``: output, exit codes, and invalid or forged files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from tests.cli import messages


@pytest.fixture
def case(tmp_path):
    """Return a function that writes the result for a box and a sphere to a file, with an optional change."""

    def write(change=None, poses=None):
        pose = np.eye(4)
        pose[0, 3] = 1.25
        result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, pose if poses is None else poses)
        document = json.loads(result.to_json())
        if change is not None:
            change(document)
        path = tmp_path / "case.json"
        path.write_text(json.dumps(document))
        return path

    return write


def test_equal_result_exits_with_0(run, case):
    result = run("replay", case())
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(messages.SAME)
    assert_names(result.out, "signed_distance of a Box and a Sphere", "depth='auto'")
    assert result.out.count("separated, 0.25\n") == 2
    assert messages.SAME_VERSIONS in result.out


def test_different_result_exits_with_1(run, case):
    result = run("replay", case(lambda d: d["answer"].update(upper=0.5)))
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("DIFFERENT")
    result = run("replay", case(lambda d: d["answer"].update(lower=0.5, distance=0.5, upper=0.5)))
    assert result.code == 1
    assert result.out.startswith("CONTRADICTION")
    assert re.search(r"^ +then +separated, 0\.5$", result.out, re.M)
    assert re.search(r"^ +now +separated, 0\.25$", result.out, re.M)


def test_verify_identifies_the_wrong_result(run, case):
    file = case(lambda d: d["answer"].update(lower=0.5, distance=0.5, upper=0.5))
    result = run("replay", file, "--verify")
    assert result.code == 1
    assert re.search(r"^ +verified then +refuted; ", result.out, re.M)
    assert re.search(rf"^ +verified now +{messages.PROVEN_EXACTLY}$", result.out, re.M)
    document = json.loads(run("replay", file, "--verify", "--json").out)
    assert document["sameness"] == "contradicts"
    (verdict,) = document["verdicts"]
    assert verdict["then"]["refuted"]
    now = {"proven": True, "refuted": False, "reasons": [], "witness_error": 0.0, "normal_error": 0.0}
    assert verdict["now"] == now


def test_refuted_current_result_exits_with_1(run, case, monkeypatch):
    from gjk3d.exact import Verdict

    monkeypatch.setattr(gk, "verify", lambda *_: Verdict(False, True, ("no",), 0.0, 0.0), raising=False)
    assert run("replay", case()).code == 0
    assert run("replay", case(), "--verify").code == 1


def test_json_is_one_complete_document(run, case):
    document = json.loads(run("replay", case(), "--json").out)
    assert (document["command"], document["sameness"]) == ("replay", "same")
    assert document["rows"] == {"same": 1, "agrees": 0, "contradicts": 0}
    (row,) = document["answers"]
    assert row["then"] == row["now"]
    assert row["now"]["distance"] == 0.25
    assert document["versions"]["then"] == document["versions"]["now"]
    assert "verdicts" not in document


def test_stack_prints_different_rows_worst_first(run, case):
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = (0, 0.5, 1, 2, 3)
    result = run("replay", case(poses=poses), "--verify")
    assert result.code == 0
    assert messages.REPLAY_COUNTS.format(5, 5, 0, 0) in result.out
    assert messages.PROVEN_COUNTS.format(5, 5, 5) in result.out

    def change(document):
        document["answer"]["lower"][1] -= 1e-9
        document["answer"]["upper"][3] = document["answer"]["lower"][3] = 7.0

    file = case(change, poses)
    result = run("replay", file)
    assert result.code == 1
    assert messages.REPLAY_COUNTS.format(5, 3, 1, 1) in result.out
    assert result.out.index("row 4 of") < result.out.index("row 2 of")
    assert "row 0" not in result.out
    document = json.loads(run("replay", file, "--json").out)
    assert [row["row"] for row in document["answers"]] == [3, 1]


def test_verify_refutes_a_forged_certificate(run, tmp_path):
    result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0.1, 0.2)), certificate=True)
    path = tmp_path / "case.json"
    document = json.loads(result.to_json(path))
    completed = run("replay", path, "--verify")
    assert (completed.code, completed.err) == (0, "")
    assert re.search(r"^ +verified then +proven", completed.out, re.M)
    document["certificate"]["weights"][0] *= -1
    path.write_text(json.dumps(document))
    completed = run("replay", path, "--verify")
    assert completed.code == 0  # the result is the same; only its stored certificate is wrong
    assert re.search(r"^ +verified then +refuted; .*certificate.*weight 0", completed.out, re.M)
    assert re.search(r"^ +verified now +proven", completed.out, re.M)


def test_bad_file_exits_with_2_and_prints_one_line(run, case, tmp_path):
    for change in (
        lambda d: d.pop("a"),
        lambda d: d["b"].update(radius="x\x1b[2J"),
        lambda d: d["b"].update({"x\x1b[2J": 1}),
        lambda d: d["answer"].update(normal=[1, 2]),
    ):
        result = run("replay", case(change))
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: case.json")
        assert result.err.count("\n") == 1
        assert "\x1b" not in result.err
    for path, named in ((tmp_path / "nowhere.json", "nowhere.json"), (tmp_path, "folder")):
        result = run("replay", path)
        assert (result.code, result.out) == (2, "")
        assert named in result.err


def test_control_characters_in_file_are_escaped(run, case):
    result = run("replay", case(lambda d: d["versions"].update({"gjk3d": "\x1b[2J9\nSAME", "\x07": "x"})))
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "\x07" not in result.out
    assert "\nSAME" not in result.out


def test_mesh_result_is_replayed_and_verified(run, tmp_path):
    surface = gk.Box((1, 1, 1)).surface()
    mesh = gk.Mesh(surface.vertices, surface.faces)
    pose = np.eye(4)
    pose[:3, 3] = 0.25, 0.5, 2
    path = tmp_path / "case.json"
    document = json.loads(gk.distance(mesh, gk.Sphere(0.5), None, pose, certificate=True).to_json(path))
    result = run("replay", path, "--verify")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(messages.SAME)
    assert_names(result.out, "distance", "Mesh", "Sphere")
    assert result.out.count(messages.PROVEN) == 2
    document["certificate"]["normals"] = [[0, 0, -1]] * len(document["certificate"]["normals"])
    path.write_text(json.dumps(document))
    result = run("replay", path, "--verify")
    assert re.search(r"^ +verified then +refuted; .*certificate.*plane", result.out, re.M)
    assert re.search(r"^ +verified now +proven", result.out, re.M)
