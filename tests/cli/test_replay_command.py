"""gjk3d replay: what it says, its exit codes, and that it believes no file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from words import assert_names

import gjk3d as gk
from tests.cli import sentences


@pytest.fixture
def case(tmp_path):
    """Write the document of a box and a ball, altered."""

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


def test_the_same_answer_is_0(run, case):
    said = run("replay", case())
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(sentences.SAME)
    assert_names(said.out, "signed_distance of a Box and a Sphere", "depth='auto'")
    assert said.out.count("separated, 0.25\n") == 2
    assert sentences.SAME_VERSIONS in said.out


def test_another_answer_is_1(run, case):
    said = run("replay", case(lambda d: d["answer"].update(upper=0.5)))
    assert (said.code, said.err) == (1, "")
    assert said.out.startswith("DIFFERENT")
    said = run("replay", case(lambda d: d["answer"].update(lower=0.5, distance=0.5, upper=0.5)))
    assert said.code == 1
    assert said.out.startswith("CONTRADICTION")
    assert re.search(r"^ +then +separated, 0\.5$", said.out, re.M)
    assert re.search(r"^ +now +separated, 0\.25$", said.out, re.M)


def test_verify_says_which_of_two_answers_is_wrong(run, case):
    file = case(lambda d: d["answer"].update(lower=0.5, distance=0.5, upper=0.5))
    said = run("replay", file, "--verify")
    assert said.code == 1
    assert re.search(r"^ +verified then +refuted; ", said.out, re.M)
    assert re.search(rf"^ +verified now +{sentences.PROVEN_EXACTLY}$", said.out, re.M)
    document = json.loads(run("replay", file, "--verify", "--json").out)
    assert document["sameness"] == "contradicts"
    (verdict,) = document["verdicts"]
    assert verdict["then"]["refuted"]
    now = {"proven": True, "refuted": False, "reasons": [], "witness_error": 0.0, "normal_error": 0.0}
    assert verdict["now"] == now


def test_an_answer_of_now_that_is_refuted_is_1(run, case, monkeypatch):
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


def test_a_stack_shows_the_rows_that_differ_the_worst_first(run, case):
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = (0, 0.5, 1, 2, 3)
    said = run("replay", case(poses=poses), "--verify")
    assert said.code == 0
    assert sentences.REPLAY_COUNTS.format(5, 5, 0, 0) in said.out
    assert sentences.PROVEN_COUNTS.format(5, 5, 5) in said.out

    def change(document):
        document["answer"]["lower"][1] -= 1e-9
        document["answer"]["upper"][3] = document["answer"]["lower"][3] = 7.0

    file = case(change, poses)
    said = run("replay", file)
    assert said.code == 1
    assert sentences.REPLAY_COUNTS.format(5, 3, 1, 1) in said.out
    assert said.out.index("row 4 of") < said.out.index("row 2 of")
    assert "row 0" not in said.out
    document = json.loads(run("replay", file, "--json").out)
    assert [row["row"] for row in document["answers"]] == [3, 1]


def test_a_forged_certificate_is_found_by_the_judge(run, tmp_path):
    result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0.1, 0.2)), certificate=True)
    path = tmp_path / "case.json"
    document = json.loads(result.to_json(path))
    said = run("replay", path, "--verify")
    assert (said.code, said.err) == (0, "")
    assert re.search(r"^ +verified then +proven", said.out, re.M)
    document["certificate"]["weights"][0] *= -1
    path.write_text(json.dumps(document))
    said = run("replay", path, "--verify")
    assert said.code == 0  # the answer is the same all the same
    assert re.search(r"^ +verified then +refuted; .*certificate.*weight 0", said.out, re.M)
    assert re.search(r"^ +verified now +proven", said.out, re.M)


def test_a_bad_file_is_2_in_one_line(run, case, tmp_path):
    for change in (
        lambda d: d.pop("a"),
        lambda d: d["b"].update(radius="x\x1b[2J"),
        lambda d: d["b"].update({"x\x1b[2J": 1}),
        lambda d: d["answer"].update(normal=[1, 2]),
    ):
        said = run("replay", case(change))
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("error: case.json")
        assert said.err.count("\n") == 1
        assert "\x1b" not in said.err
    for path, named in ((tmp_path / "nowhere.json", "nowhere.json"), (tmp_path, "folder")):
        said = run("replay", path)
        assert (said.code, said.out) == (2, "")
        assert named in said.err


def test_text_from_the_file_cannot_forge_the_terminal(run, case):
    said = run("replay", case(lambda d: d["versions"].update({"gjk3d": "\x1b[2J9\nSAME", "\x07": "x"})))
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\x07" not in said.out
    assert "\nSAME" not in said.out


def test_an_answer_about_a_mesh_is_asked_again_and_judged(run, tmp_path):
    surface = gk.Box((1, 1, 1)).surface()
    mesh = gk.Mesh(surface.vertices, surface.faces)
    pose = np.eye(4)
    pose[:3, 3] = 0.25, 0.5, 2
    path = tmp_path / "case.json"
    document = json.loads(gk.distance(mesh, gk.Sphere(0.5), None, pose, certificate=True).to_json(path))
    said = run("replay", path, "--verify")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(sentences.SAME)
    assert_names(said.out, "distance", "Mesh", "Sphere")
    assert said.out.count(sentences.PROVEN) == 2
    document["certificate"]["normals"] = [[0, 0, -1]] * len(document["certificate"]["normals"])
    path.write_text(json.dumps(document))
    said = run("replay", path, "--verify")
    assert re.search(r"^ +verified then +refuted; .*certificate.*plane", said.out, re.M)
    assert re.search(r"^ +verified now +proven", said.out, re.M)
