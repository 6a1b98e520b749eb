"""``gjk3d robot``: overview, configurations, paths, allowed pairs, printed output and rejected input."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from message_checks import assert_names
from PIL import Image

import gjk3d as gk
from tests.cli import messages

check = import_module("gjk3d.cli.robot.check")

ARM = Path(__file__).parents[2] / "data" / "arm"
URDF, SRDF, CELL = ARM / "arm.urdf", ARM / "arm.srdf", ARM / "cell.urdf"
WHOLE = ("--srdf", SRDF, "--scene", CELL)
NAMES = [f"joint_{k}" for k in range(1, 7)]

# a beam of 1 m, from x = 0 to 1, that rotates about z
BEAM = """<robot name="beam"><link name="post"/><link name="beam"><collision><origin xyz="0.5 0 0"/>
<geometry><box size="1 0.1 0.1"/></geometry></collision></link><joint name="turn" type="continuous">
<parent link="post"/><child link="beam"/><axis xyz="0 0 1"/></joint></robot>"""
WALL = """<robot name="room"><link name="wall"><collision><origin xyz="0 0.8 0"/>
<geometry><box size="4 0.2 1"/></geometry></collision></link></robot>"""


@pytest.fixture
def beam(tmp_path):
    """Write the beam, and a wall from y = 0.7 to 0.9, as URDF files; return their folder."""
    (tmp_path / "beam.urdf").write_text(BEAM)
    (tmp_path / "room.urdf").write_text(WALL)
    return tmp_path


def document(result):
    """Return the JSON output of a command."""
    return json.loads(result.out)


# --- overview ---------------------------------------------------------------------------------------------------------


def test_overview(run):
    result = run("robot", "info", URDF, *WHOLE)
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert result.out.startswith(messages.ROBOT.format("arm", 9, 6, "m"))
    assert ["joint_2", "revolute", "-1.9", "2.2", "shoulder", "upper_arm"] in lines
    assert ["tool_tip", "fixed", "-", "-", "gripper", "tip"] in lines
    assert ["upper_arm", "3", "bodies", "upper_arm.stl"] in lines
    assert ["bin", "5", "exact", "cell.urdf"] in lines
    assert_names(result.out, "12 checked", "8 adjacent", "8 never")
    assert "home, start, goal" in result.out
    assert f"group all: {', '.join(NAMES)}" in result.out
    assert re.search(r"^note: .* base-table$", result.err, re.M)


def test_overview_as_json(run):
    report = document(run("robot", "info", URDF, *WHOLE, "--json", "-q"))
    assert (report["schema_version"], report["command"], report["unit"]) == (1, "robot", "m")
    assert report["robot"]["joints"] == NAMES
    assert len(report["checked"]) == report["pairs"]["of_links"] == 12
    assert ["shoulder", "forearm"] in report["checked"]
    assert {"link_a": "base", "link_b": "shoulder", "reason": "adjacent"} in report["allowed"]
    assert [item["name"] for item in report["objects"]] == ["table", "bin", "shelf", "pillar", "fixture"]
    assert report["groups"] == {"all": NAMES}
    assert report["poses"]["start"] == [-0.85, 0.78, -0.13, 0.0, 0.92, -0.85]
    joint = next(item for item in report["joints"] if item["name"] == "joint_5")
    assert (joint["columns"], joint["lower"], joint["upper"]) == ([4], [-2.1], [2.1])


def test_overview_notes_probable_mistakes(run, tmp_path):
    boxes = "".join(
        f'<link name="{name}"><collision><geometry><box size="{size} 1 1"/></geometry></collision></link>'
        for name, size in (("a", 1), ("b", 1), ("c", 500))
    )
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>'
        for a, b in ("ab", "bc")
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{boxes}{joints}</robot>')
    (tmp_path / "r.srdf").write_text(
        '<robot name="r"><disable_collisions link1="a" link2="ghost" reason="User"/>'
        '<disable_collisions link1="a" link2="b" reason="Adjacent"/></robot>'
    )
    plain = run("robot", "info", tmp_path / "r.urdf").err
    assert "without --srdf" in plain
    assert_names(plain, "link c", "100 m", "scale")
    assert re.search(r"\ba-c \(gjk3d robot pairs ", plain)
    assert re.search(r"adjacent.* a-b, b-c$", plain, re.M)
    read = run("robot", "info", tmp_path / "r.urdf", "--srdf", tmp_path / "r.srdf").err
    assert "a-ghost" in read
    assert re.search(r"\ba-c, b-c\b", read)
    assert "without --srdf" not in read


# --- configurations ---------------------------------------------------------------------------------------------------


def test_configurations_of_a_file_are_free_or_hit(run, beam):
    (beam / "q.csv").write_text("0\n1.5707963267948966\n0.5\n")
    result = run("robot", "check", beam / "beam.urdf", beam / "q.csv", "--scene", beam / "room.urdf", "--clearance")
    assert result.code == 1
    lines = [line.split() for line in result.out.splitlines()]
    assert messages.CHECK_COUNTS.format(3, 2, 1) in result.out
    # At angle 0 the beam ends at y = 0.05, and the wall begins at 0.7. At pi/2 the beam ends at 1, so the depth is 0.3.
    assert ["1", "free", "-", "0.65", "beam,", "wall"] in lines
    assert ["2", "HIT", "beam,", "wall", "depth", "0.3", "beam,", "wall"] in lines
    assert messages.LEAST_CLEARANCE.format("depth 0.3 m", "beam, wall", 2, 3) in result.out


def test_json_has_bounds_and_points(run, beam):
    (beam / "q.csv").write_text("0\n")
    report = document(
        run(
            "robot",
            "check",
            beam / "beam.urdf",
            beam / "q.csv",
            "--scene",
            beam / "room.urdf",
            "--clearance",
            "--json",
        )
    )
    assert (report["free"], report["hits"], report["complete"]) == (1, 0, True)
    (row,) = report["rows"]
    near = row["clearance"]
    assert near["lower"] <= 0.65 <= near["upper"]
    assert near["pair"] == ["beam", "wall"]
    assert near["point_b"][1] - near["point_a"][1] == pytest.approx(0.65)
    assert report["asked"] == {"file": str(beam / "q.csv"), "configurations": 1}


def test_rows_equal_results_of_the_checker(run):
    result = run("robot", "check", URDF, *WHOLE, "--random", 40, "--seed", 5, "--csv", "--clearance", "-q")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    robot, cell = gk.robot.Robot.from_urdf(URDF, SRDF), gk.robot.Robot.from_urdf(CELL, geometry="mesh")
    q = np.array([[float(row[name]) for name in NAMES] for row in rows])
    assert len(q) == 40
    assert (q >= robot.lower).all()
    assert (q <= robot.upper).all()
    poses = cell.link_poses([])
    around = {str(k): (body.shape, poses[body.link] @ body.pose) for k, body in enumerate(cell.bodies)}
    table = [str(k) for k, body in enumerate(cell.bodies) if cell.links[body.link] == "table"]
    checker = gk.robot.Checker(robot, around, touching=[("base", body_name) for body_name in table])
    # The command skips all pairs of the fixed base. The base touches only the table, so one exclusion is enough.
    np.testing.assert_array_equal([row["state"] == "free" for row in rows], checker.free(q))
    assert 8 < sum(row["state"] == "free" for row in rows) < 32
    np.testing.assert_allclose([float(row["clearance"]) for row in rows], checker.clearance(q).distance, atol=1e-12)
    for row in rows:
        assert float(row["lower"]) <= float(row["clearance"]) <= float(row["upper"])
        assert (row["a"] == "") == (row["state"] == "free")
    assert result.code == 1
    assert (
        run("robot", "check", URDF, *WHOLE, "--random", 40, "--seed", 5, "--csv", "--clearance", "-q").out == result.out
    )


def test_random_counts_pairs(run):
    report = document(run("robot", "check", URDF, *WHOLE, "--random", 40, "--seed", 5, "--json", "-q"))
    counts = Counter(tuple(entry["pair"]) for row in report["rows"] for entry in row["collisions"])
    assert {tuple(entry["pair"]): entry["configurations"] for entry in report["pairs_that_hit"]} == counts
    assert report["hits"] == sum(len(row["collisions"]) > 0 for row in report["rows"])
    assert report["free"] + report["hits"] == 40
    for row in report["rows"]:
        depths = [entry["distance"] for entry in row["collisions"]]
        assert depths == sorted(depths)
        assert all(entry["lower"] <= entry["distance"] <= entry["upper"] <= 0 for entry in row["collisions"])
    links = {"base", "shoulder", "upper_arm", "elbow", "forearm", "wrist", "flange", "gripper"}
    objects = {"table", "bin", "shelf", "pillar", "fixture"}
    assert {entry["pair"][1] for entry in report["pairs_that_hit"]} & objects
    for entry in report["pairs_that_hit"]:
        assert entry["pair"][0] in links
        assert entry["pair"][1] in links | objects


def test_margin_accepts_a_unit(run, beam):
    (beam / "q.csv").write_text("0\n")
    words = ("robot", "check", beam / "beam.urdf", beam / "q.csv", "--scene", beam / "room.urdf")
    assert run(*words, "--margin", "649mm").code == 0
    assert run(*words, "--margin", "651mm").code == 1
    result = run(*words, "--margin", "65 furlongs")
    assert result.code == 2
    assert_names(result.err, "--margin '65 furlongs'", "'furlongs'")


def test_named_pose(run):
    assert run("robot", "check", URDF, "start", *WHOLE).code == 0
    result = run("robot", "check", URDF, "stat", *WHOLE)
    assert result.code == 2
    assert_names(result.err, "'stat'", "'home', 'start', 'goal'")


def test_interrupted_run_prints_finished_rows(run, beam, monkeypatch):
    monkeypatch.setattr(check, "_AT_ONCE", 10)
    calls = []
    free = gk.robot.Checker.free

    def interrupted(self, q, **more):
        calls.append(len(q))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return free(self, q, **more)

    monkeypatch.setattr(gk.robot.Checker, "free", interrupted)
    result = run("robot", "check", beam / "beam.urdf", "--scene", beam / "room.urdf", "--random", 50, "--json")
    assert result.code == 130
    report = document(result)
    assert report["complete"] is False
    assert len(report["rows"]) == report["free"] + report["hits"] == 20
    assert report["asked"]["configurations"] == 50


# --- paths ------------------------------------------------------------------------------------------------------------


def test_free_path(run):
    result = run("robot", "path", URDF, ARM / "path.csv", *WHOLE)
    assert (result.code, result.err) == (0, "")
    assert_names(result.out, "5 edges, sampled", " 0.05 ", messages.FREE_SAMPLES)


def test_blocked_path(run):
    report = document(
        run("robot", "path", URDF, ARM / "path_blocked.csv", *WHOLE, "--resolution", 0.001, "--json", "-q")
    )
    assert (report["status"], report["free"], report["edge"], report["pair"]) == (
        "HIT",
        False,
        1,
        ["gripper", "pillar"],
    )
    points = np.loadtxt(ARM / "path_blocked.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(report["q"], points[1] + report["hit"] * (points[2] - points[1]), atol=1e-12)
    assert 0.38 < report["safe"] < report["hit"] < 0.41
    assert run("robot", "path", URDF, ARM / "path_blocked.csv", *WHOLE).code == 1


def test_edge_is_counted_from_the_first_row(run, beam):
    # the corner (1, 0.05) of the beam touches the face y = 0.7 of the wall between 0.70 and 0.75 rad
    (beam / "path.csv").write_text("\n".join(f"{0.05 * k:.2f}" for k in range(30)))
    words = ("robot", "path", beam / "beam.urdf", beam / "path.csv", "--scene", beam / "room.urdf")
    report = document(run(*words, "--resolution", 0.0001, "--json"))
    assert report["edge"] == 14
    expected = (np.arcsin(0.7 / np.hypot(1, 0.05)) - np.arctan2(0.05, 1) - 0.7) / 0.05
    assert report["safe"] < expected < report["hit"] < report["safe"] + 0.003
    table = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    assert [(row["status"], row["edge"], row["a"], row["b"]) for row in table] == [("HIT", "14", "beam", "wall")]


def test_certified_paths(run, beam):
    words = ("robot", "path", beam / "beam.urdf", beam / "path.csv", "--scene", beam / "room.urdf", "--certify")
    angle = float(np.arcsin(0.7 / np.hypot(1, 0.05)) - np.arctan2(0.05, 1))  # the corner of the beam touches the wall
    (beam / "path.csv").write_text(f"0\n{angle - 1e-3!r}\n")
    result = run(*words)
    assert (result.code, result.out.splitlines()[-1]) == (0, messages.FREE_PROVEN)
    (beam / "path.csv").write_text("0\n1\n")
    hit = document(run(*words, "--json"))
    assert (hit["status"], hit["asked"]["certify"]) == ("HIT", True)
    assert hit["safe"] <= angle <= hit["hit"] <= hit["safe"] + 1e-5


def test_unresolved_is_not_free(run, beam, monkeypatch):
    (beam / "path.csv").write_text("0\n1\n")
    path_check = gk.robot.PathCheck(
        False, gk.robot.MotionStatus.UNRESOLVED, 0, 0.4999999, np.nan, ("beam", "wall"), np.array([0.5])
    )
    monkeypatch.setattr(gk.robot.Checker, "path_free", lambda *_, **__: path_check)
    words = ("robot", "path", beam / "beam.urdf", beam / "path.csv", "--scene", beam / "room.urdf", "--certify")
    result = run(*words)
    assert result.code == 1
    assert messages.UNRESOLVED.format(1, 1, 1, 2, 2, "beam and wall") in result.out
    assert messages.FREE_UP_TO.format(0.499999) in result.out  # rounded down
    report = document(run(*words, "--json"))
    assert (report["status"], report["safe"], report["hit"]) == ("UNRESOLVED", 0.4999999, None)


def test_interrupted_path_prints_number_of_free_edges(run, beam, monkeypatch):
    (beam / "path.csv").write_text("\n".join(f"{0.01 * k}" for k in range(21)))
    calls = []
    path_free = gk.robot.Checker.path_free

    def interrupted(self, path, **more):
        calls.append(len(path))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return path_free(self, path, **more)

    monkeypatch.setattr(gk.robot.Checker, "path_free", interrupted)
    words = ("robot", "path", beam / "beam.urdf", beam / "path.csv", "--scene", beam / "room.urdf")
    result = run(*words, "--picture", beam / "none.png")
    assert result.code == 130
    assert messages.PATH_INTERRUPTED.format(8, 20) in result.out
    assert not (beam / "none.png").exists()


# --- pictures ---------------------------------------------------------------------------------------------------------


def _share_of_vermilion(path):
    """Return the share of vermilion pixels in a picture."""
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    return float(((image[..., 0] > 1.6 * image[..., 1]) & (image[..., 0] > 1.8 * image[..., 2])).mean())


@pytest.mark.full
def test_picture_highlights_a_hit_only(run, beam):
    words = ("robot", "check", beam / "beam.urdf", beam / "q.csv", "--scene", beam / "room.urdf")
    (beam / "q.csv").write_text("0\n1.5\n1.4\n")
    result = run(*words, "--picture", beam / "hit.png")
    assert result.code == 1
    assert f"wrote: {beam / 'hit.png'}" in result.err
    assert _share_of_vermilion(beam / "hit.png") > 0.02
    (beam / "q.csv").write_text("0\n0.5\n0.2\n")
    assert run(*words, "--picture", beam / "free.png").code == 0
    assert _share_of_vermilion(beam / "free.png") < 0.0005


def test_picture_draws_first_hit_or_closest_row(run, beam, monkeypatch):
    drawn = []
    monkeypatch.setattr(gk.viz, "show", lambda checker, **more: drawn.append((more["q"].tolist(), more["names"])))
    words = ("--scene", beam / "room.urdf", "--picture", beam / "p.png")
    for text, more in (("0\n1.5\n1.4\n", ()), ("0\n0.5\n0.2\n", ()), ("0\n0.5\n0.2\n", ("--clearance",))):
        (beam / "q.csv").write_text(text)
        run("robot", "check", beam / "beam.urdf", beam / "q.csv", *words, *more)
    run("robot", "info", beam / "beam.urdf", *words)
    assert drawn == [*((q, "beam, row 2 of 3") for q in ([1.5], [0.5], [0.5])), ([0.0], "beam")]


@pytest.mark.full
def test_animation_ends_at_the_collision(run, beam):
    (beam / "path.csv").write_text("0\n1.5\n")
    target = beam / "path.gif"
    words = ("robot", "path", beam / "beam.urdf", beam / "path.csv", "--scene", beam / "room.urdf")
    assert run(*words, "--animation", target, "--picture", beam / "path.png").code == 1
    assert _share_of_vermilion(beam / "path.png") > 0.02
    with Image.open(target) as gif:
        assert gif.n_frames == 60
        assert _share_of_vermilion(target) < 0.0005
        gif.seek(59)
        gif.convert("RGB").save(beam / "last.png")
    assert _share_of_vermilion(beam / "last.png") > 0.02
    assert run(*words, "--animation", beam / "path.html", "--picture", beam / "ghosts.html").code == 1
    for name, words_in in (("path.html", 'id="play"'), ("ghosts.html", "colliding links")):
        assert words_in in (beam / name).read_text(encoding="utf-8")


# --- allowed pairs ----------------------------------------------------------------------------------------------------


def test_acm_writes_an_srdf(run, tmp_path):
    target = tmp_path / "out.srdf"
    result = run("robot", "pairs", URDF, "--acm", target, "--samples", 300, "--seed", 1, "--top", 3)
    assert result.code == 0
    assert "wrote: " in result.err
    assert_names(result.out, "300 configurations", "--top")
    robot = gk.robot.Robot.from_urdf(URDF, target)
    wanted = gk.robot.allow_by_sampling(gk.robot.Robot.from_urdf(URDF), 300, seed=1)
    assert robot.allowed == wanted
    report = document(run("robot", "pairs", URDF, "--acm", target, "--samples", 300, "--seed", 1, "--json"))
    assert report["counts"] == wanted.counts()
    assert {tuple(entry.values())[:2] for entry in report["allowed"] if entry["proven"]} == set(wanted.proven)


def test_pairs_are_computed_without_writing_a_file(run):
    plain = run("robot", "pairs", URDF, "--samples", 100)
    assert (plain.code, plain.err) == (0, "")
    assert document(run("robot", "pairs", URDF, "--samples", 100, "--json"))["srdf"] is None


# --- input ------------------------------------------------------------------------------------------------------------


def test_columns_are_ordered_by_joint_names(run, tmp_path):
    rows = (ARM / "goal.csv").read_text().splitlines()
    turned = [";".join(reversed(row.split(","))) for row in rows]
    (tmp_path / "q.csv").write_text("# reversed\n\n" + "\n".join(turned) + "  # the goal\n")
    report = document(run("robot", "check", URDF, tmp_path / "q.csv", *WHOLE, "--json"))
    assert report["rows"][0]["q"] == [0.69, 0.36, 0.15, 1.95, 0.98, -2.19]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("0,0,0,0,0\n", ("line 1", "5 numbers", "joint_1, joint_2")),
        ("0,0,0,0,0,0\n0,0,zero,0,0,0\n", ("line 2, joint_3", "'zero'")),
        ("0,0,0,0,0,90deg\n", ("line 1, joint_6", "'90deg'", "radians")),
        ("0,nan,0,0,0,0\n", ("line 1, joint_2", "nan")),
        ("0,,0,0,0,0\n", ("line 1, joint_2", "''")),
        ("joint_1,joint_2,joint_3,joint_4,joint_5,joint_7\n0,0,0,0,0,0\n", ("'joint_7'", "'arm'")),
        ("joint_1,joint_2,joint_3,joint_4,joint_5\n0,0,0,0,0\n", ("column", "'joint_6'")),
        ("joint_1,joint_1,joint_3,joint_4,joint_5,joint_6\n", ("'joint_1'", "twice")),
        ("joint_1,joint_2,joint_3,joint_4,joint_5,joint_6\n", ("0 configurations",)),
        ("", ("0 configurations",)),
    ],
)
def test_bad_file_error_names_line_and_joint(run, tmp_path, text, named):
    (tmp_path / "q.csv").write_text(text)
    for command in ("check", "path"):
        result = run("robot", command, URDF, tmp_path / "q.csv")
        assert (result.code, result.out) == (2, "")
        assert_names(result.err, "q.csv", *named)


@pytest.mark.parametrize(
    ("command", "words", "named"),
    [
        ("check", ("q.csv", "--random", 3), ("CSV", "SRDF", "--random")),
        ("check", (), ("CSV", "SRDF", "--random")),
        ("check", ("start", "--certify"), ("--certify",)),
        ("info", ("--csv",), ("--csv",)),
        ("path", (), ("WAYPOINTS",)),
        ("path", ("none.csv",), ("'none.csv'",)),
        ("path", (ARM,), (str(ARM), "folder", "CSV")),
        ("path", ("start", "--srdf", SRDF), ("start", "`gjk3d robot check`")),
        ("path", (ARM / "path.csv", "--csv", "--json"), ("--json", "--csv")),
        ("path", (ARM / "path.csv", "--animation", "a.mp4"), ("a.mp4", ".gif")),
        ("path", (ARM / "path.csv", "--picture", ARM / "path.csv"), ("path.csv", ".png")),
        ("check", ("--random", 3, "--csv", "--json"), ("--json", "--csv")),
        ("check", ("--random", 0), ("--random 0",)),
        ("check", ("--random", 1, "--top", 0), ("--top 0",)),
        ("check", ("--random", 2, "--jobs", 0), ("workers", " 0")),
        ("check", ("--random", 2, "--picture", "a.svg"), ("a.svg", ".png")),
        ("pairs", ("--samples", 0), ("--samples 0",)),
        ("pairs", ("--acm", "out.txt"), ("--acm 'out.txt'", ".srdf", ".xml")),
        ("pairs", ("--acm", SRDF, "--srdf", SRDF), (str(SRDF), "input")),
        ("pairs", ("--scene", CELL), ("--scene",)),
        ("info", ("--picture", "a.svg"), ("a.svg", ".png")),
        ("info", ("--touching", "base"), ("--touching 'base'", "LINK:OBJECT")),
        ("info", ("--touching", "bass:table", "--scene", CELL), ("link 'bass'",)),
        (
            "info",
            ("--touching", "base:tabel", "--scene", CELL),
            ("object 'tabel'", "'table', 'bin'", "Did you mean 'table'"),
        ),
        ("info", ("--srdf", ""), ("argument 5", "empty")),
        ("info", ("--srdf", "none.srdf"), ("none.srdf",)),
        ("info", ("--scene", "none.glb"), ("none.glb",)),
        ("info", ("--scene", "room.csv"), ("room.csv", "'.csv'", ".urdf .xacro .xml .scene .stl")),
        ("info", ("--geometry", "balls"), ("--geometry", "balls")),
    ],
)
def test_bad_usage_is_rejected(run, command, words, named):
    result = run("robot", command, URDF, *words)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, *named)


def test_values_beyond_the_limits_are_noted_and_checked(run, tmp_path):
    (tmp_path / "q.csv").write_text("0,0,90,0,0,0\n0,0,0,0,0,0\n")
    result = run("robot", "check", URDF, tmp_path / "q.csv")
    assert_names(result.err, "1 of 2 configurations", "row 1", "joint_3 90", " 2.6", "radians")
    assert_names(result.out, "joint_3 90", " 2.6")


def test_paths_beyond_the_limits_are_noted(run, tmp_path):
    (tmp_path / "q.csv").write_text("0,0,0,0,0,0\n0,0,90,0,0,0\n")
    for command in ("path", "safety"):
        result = run("robot", command, URDF, tmp_path / "q.csv")
        assert_names(result.err, "1 of 2 configurations", "row 2", "joint_3 90", " 2.6")
        assert "configurations" not in run("robot", command, URDF, ARM / "path.csv").err


def test_random_samples_stay_within_joint_limits(run, tmp_path):
    kinds = {
        "slide": '<limit lower="-0.5" upper="0.25"/>', "free": "", "flat": "", "float": "",
    }  # fmt: skip
    types = {"slide": "prismatic", "free": "continuous", "flat": "planar", "float": "floating"}
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'
    links = "".join(f'<link name="{k}">{ball}</link>' for k in range(5))
    text = "".join(
        f'<joint name="{name}" type="{types[name]}"><parent link="{k}"/><child link="{k + 1}"/>{limit}</joint>'
        for k, (name, limit) in enumerate(kinds.items())
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{text}</robot>')
    result = run("robot", "check", tmp_path / "r.urdf", "--random", 9)
    assert result.code == 2
    assert_names(result.err, "--random", "flat[0]", "limits")
    two_joints = text.partition('<joint name="flat"')[0]
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links[: 3 * len(links) // 5]}{two_joints}</robot>')
    rows = document(run("robot", "check", tmp_path / "r.urdf", "--random", 200, "--json"))["rows"]
    q = np.array([row["q"] for row in rows])
    assert -0.5 <= q[:, 0].min() < -0.45 < 0.2 < q[:, 0].max() <= 0.25
    assert -np.pi <= q[:, 1].min() < -3 < 3 < q[:, 1].max() <= np.pi


# --- scenes -----------------------------------------------------------------------------------------------------------


def test_scene_models_need_a_unit_and_keep_their_position(run, beam, box):
    (beam / "q.csv").write_text("0\n")
    (beam / "touch.csv").write_text("0.7853981633974483\n")
    # In cm, the box of side 2 around (50, 50, 0) extends from 0.49 to 0.51 m in x and in y.
    path = box("pole.stl", (50, 50, 0))
    free, touch = (
        ("robot", "check", beam / "beam.urdf", beam / f"{name}.csv", "--scene", path) for name in ("q", "touch")
    )
    result = run(*free)
    assert result.code == 2
    assert_names(result.err, "pole.stl", "metres", "--unit")
    report = document(run(*free, "--unit", "cm", "--clearance", "--json"))
    assert report["rows"][0]["clearance"]["pair"] == ["beam", "pole"]
    assert report["rows"][0]["clearance"]["distance"] == pytest.approx(0.49 - 0.05)
    assert run(*touch, "--unit", "cm").code == 1
    # With y up, the box is at z = 0.5, which the beam cannot reach.
    assert run(*touch, "--unit", "cm", "--scene-up", "y").code == 0


def test_glb_parts_become_objects_with_unique_names(run, beam, assembly, box):
    files = (assembly, beam / "room.urdf", assembly, box("post.stl"))
    result = run("robot", "info", beam / "beam.urdf", "--scene", *files, "--unit", "mm", "--json")
    names = [item["name"] for item in document(result)["objects"]]
    assert names == ["ell", "open", "plate", "wall", "ell (2)", "open (2)", "plate (2)", "post (2)"]
    assert_names(result.err, "assembly.glb", "axes")


def test_touching_option_allows_a_pair(run, beam):
    (beam / "q.csv").write_text("1.5\n")
    words = ("robot", "check", beam / "beam.urdf", beam / "q.csv", "--scene", beam / "room.urdf")
    assert run(*words).code == 1
    assert run(*words, "--touching", "beam:wall").code == 0


def test_invalid_random_sampling_is_rejected(run, beam):
    wide = beam / "wide.urdf"
    wide.write_text(BEAM.replace('"continuous">', '"prismatic"><limit lower="-1e308" upper="1e308"/>'))
    result = run("robot", "check", wide, "--random", "2")
    assert result.code == 2
    assert_names(result.err, "--random", "turn")
    result = run("robot", "check", wide, "--random", "2", "--seed", "-1")
    assert (result.code, "--seed -1" in result.err) == (2, True)


# --- deprecated form without a command --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((*WHOLE, "--json"), ("info", URDF, *WHOLE, "--json")),
        ((*WHOLE, "--check", "start", "--resolution", 1), ("check", URDF, "start", *WHOLE)),
        (
            (*WHOLE, "--random=9", "--seed", 5, "--clearance", "--csv", "-j2", "--touching", "base:bin"),
            (
                "check",
                URDF,
                "--random",
                9,
                "--seed",
                5,
                "--clearance",
                *WHOLE,
                "--touching",
                "base:bin",
                "--csv",
                "--jobs",
                2,
            ),
        ),
        (
            (*WHOLE, "--path", ARM / "path_blocked.csv", "--certify", "--margin=-1mm", "--seed", 3),
            ("path", URDF, ARM / "path_blocked.csv", "--certify", *WHOLE, "--margin", "-1mm"),
        ),
        (
            ("--acm", "out put.srdf", "--samples", 50, "--scene", CELL),
            ("pairs", URDF, "--acm", "out put.srdf", "--samples", 50),
        ),
    ],
)
def test_deprecated_form_works_and_prints_its_replacement(run, tmp_path, monkeypatch, old, new):
    monkeypatch.chdir(tmp_path)
    result = run("robot", URDF, *old)
    hint, *rest = result.err.splitlines()
    line = hint.removeprefix(messages.USE_INSTEAD)
    assert line == shlex.join(["gjk3d", "robot", *map(str, new)])
    again = run(*shlex.split(line)[1:])
    assert (result.code, result.out, rest) == (again.code, again.out, again.err.splitlines())
    assert result.out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--check", "q.csv", "--random", 3), ("--check", "--random")),
        (("--certify",), ("--certify", "--path")),
        (("--clearance",), ("--clearance", "--check", "--random")),
        (("--csv",), ("--csv", "--check", "--random", "--path")),
        (("--random", 3, "--csv", "--json"), ("--json", "--csv")),
        (("--random", 0), ("--random 0",)),
        (("--top", 0), ("--top 0",)),
        (("--acm", "out.txt"), ("--acm 'out.txt'", ".srdf", ".xml")),
        (("--animation", "a.gif"), ("--animation", "--path")),
        (("--acm", "a.srdf", "--picture", "a.png"), ("--acm", "neither")),
        (("--touching", "base"), ("--touching 'base'", "LINK:OBJECT")),
    ],
)
def test_deprecated_form_rejects_bad_usage(run, words, named):
    result = run("robot", URDF, *words)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, *named)


def test_quiet_deprecated_form_prints_no_hint(run):
    assert run("robot", URDF, "-q").err == ""


def test_unknown_command_error_lists_the_commands(run):
    result = run("robot", "chek", URDF)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, "'chek'", "info", "check", "path", "safety", "pairs")


def test_help_lists_only_options_of_the_command(run):
    overview = run("robot", "--help").out
    assert all(name in overview for name in ("info", "check", "path", "pairs"))
    assert "--" not in overview
    for name, option in (("info", ""), ("check", "--clearance"), ("path", "--certify"), ("pairs", "--samples")):
        words = run("robot", name, "--help").out
        assert option in words
        assert {flag for flag in ("--clearance", "--certify", "--samples") if flag in words} == {option} - {""}


def test_unknown_option_error_names_the_help(run):
    assert "gjk3d robot pairs --help" in run("robot", "pairs", URDF, "--nonsense").err


# --- safety -----------------------------------------------------------------------------------------------------------


def test_safety_of_a_program(run, tmp_path):
    paths, page = (ARM / "path.csv", ARM / "path_blocked.csv"), tmp_path / "safety.html"
    result = run("robot", "safety", URDF, *paths, *WHOLE, "--report", page)
    assert result.code == 1
    assert messages.KEPT.format(1, 2) in result.out
    assert "collision  " in result.out
    assert "gripper, pillar" in page.read_text()
    result = run("robot", "safety", URDF, paths[0], *WHOLE, "--json")
    assert result.code == 0
    report = document(result)
    assert (report["report"]["kept"], report["report"]["rows"]) == (True, [])
    assert report["report"]["motions"][0]["lower"] > 0.0
    assert run("robot", "safety", URDF, paths[0], *WHOLE, "--margin", "5cm").code == 1


def test_safety_times_come_from_a_column_or_a_speed(run, tmp_path):
    rows = ["shoulder, t, elbow", "0, 1, 0", "0.5, 3, 0", "0.5, 4, -1"]
    arm, path = Path(gk.robot.__file__).with_name("example.urdf"), tmp_path / "timed.csv"
    path.write_text("\n".join(rows))

    def ends(*more):
        motions = document(run("robot", "safety", arm, path, "--json", *more))["report"]["motions"]
        return [(motion["start"], motion["end"]) for motion in motions]

    assert ends() == [(1.0, 4.0)]
    assert ends("--speed", "9") == [(1.0, 4.0)]
    path.write_text("shoulder, elbow\n0, 0\n0.5, 0\n0.5, -1\n")
    assert ends() == [(0.0, 2.0)]
    assert ends("--speed", "0.25") == [(0.0, 6.0)]
    path.write_text("t, shoulder, elbow\n1, 0, 0\n1, 0.5, 0\n")
    result = run("robot", "safety", arm, path)
    assert result.code == 2
    assert_names(result.err, "timed.csv", "row 1", "t is 1")
    assert "--speed 0" in run("robot", "safety", arm, path, "--speed", "0").err
    assert run("robot", "path", arm, path).code in (0, 1)


def test_safety_rejects_bad_input(run, tmp_path):
    result = run("robot", "safety", URDF)
    assert result.code == 2
    assert "CSV" in result.err
    result = run("robot", "safety", URDF, ARM / "path.csv", "--report", tmp_path / "report.txt")
    assert result.code == 2
