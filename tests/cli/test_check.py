"""``gjk3d check``: verdicts, poses, JSON output, notes and rejected input."""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import Gjk3dWarning, RenderingUnavailableError
from tests.cli import messages

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    ("x", "code", "verdict", "distance"),
    [(5, 0, messages.APART.format(3), 3), (2, 1, "TOUCHING", 0), (1.5, 1, messages.OVERLAPPING.format(0.5), -0.5)],
)
@pytest.mark.parametrize(
    ("hulls", "size", "what"),
    [((), "12 triangles", "triangles"), (("--hulls",), "8 hull", "convex hulls")],
)
def test_verdict_and_exit_code(run, box, x, code, verdict, distance, hulls, size, what):
    a, b = box("a.stl"), box("b.stl", (x, 0.25, 0))
    result = run("check", a, b, *hulls)
    assert result.code == code
    assert result.out.startswith(verdict)
    assert f"{what}, unitless" in result.out
    assert re.search(rf"^ +A +a\.stl, {size}", result.out, re.M)
    assert "A to B" in result.out
    assert result.err == ""
    document = json.loads(run("check", a, b, "--json", *hulls).out)
    assert document["compares"] == what
    assert document["result"]["distance"] == pytest.approx(distance, abs=1e-12)
    assert document["result"]["lower"] <= distance <= document["result"]["upper"]


def test_printed_move_makes_models_touch(run, box):
    a, b = box("a.stl"), box("b.stl", (1.5, 0.25, 0))
    assert_names(run("check", a, b).out, messages.MOVE_B.format("(0.5, 0, 0)"), messages.JUST_TOUCH)
    assert run("check", a, b, "--pose-b", "0.5 0 0").out.startswith("TOUCHING")
    assert messages.MOVE_B.format("(-3, 0, 0)") in run("check", a, box("c.stl", (5, 0, 0))).out


def test_json_is_one_complete_document(run, assembly):
    result = run("check", f"{assembly}#plate", f"{assembly}#ell", "--json", "--pose-b", "1,0,0", "--hulls")
    document = json.loads(result.out)
    assert result.code == 0
    assert document["schema_version"] == 1
    assert document["compares"] == "convex hulls"
    assert document["unit"] == "meters"
    assert document["result"]["status"] == "separated"
    assert document["result"]["distance"] == pytest.approx(2.5)
    a, b = document["inputs"]["a"], document["inputs"]["b"]
    assert a["sha256"] == hashlib.sha256(assembly.read_bytes()).hexdigest()
    assert (a["part"], a["triangles"], a["hull_vertices"], a["convex"]) == ("plate", 12, 8, True)
    assert (b["part"], b["convex"], b["watertight"], b["open_edges"]) == ("ell", False, True, 0)
    assert b["hull_volume_ratio"] == pytest.approx(3.5 / 3)
    assert np.array(b["pose"])[:3, 3].tolist() == [1, 0, 0]
    assert set(document["versions"]) == {"gjk3d", "numpy", "scipy", "llvmlite", "trimesh"}
    (note,) = document["notes"]
    assert_names(note, "assembly.glb#ell", "hull", "1.17 times")
    assert result.err == f"note: {note}\n"


def test_notes_report_several_parts_and_open_edges(run, assembly, box):
    result = run("check", assembly, box("far.stl", (0, 0, 9)), "--unit", "m", "--hulls")
    assert_names(result.err, "3 parts", "hull", "assembly.glb#NAME")
    assert "(3 open edges)" in result.err
    assert messages.APART.format("7000 mm") in result.out
    result = run("check", assembly, box("far.stl", (0, 0, 9)), "--unit", "m")
    assert_names(result.err, "3 parts", "assembly.glb#NAME")
    assert "hull" not in result.err
    assert_names(result.err, "(3 open edges)", "inside")
    assert "surface" in result.out
    assert messages.APART.format("7000 mm") in result.out


TRUTH = json.loads((DATA / "models.truth.json").read_text())


@pytest.mark.parametrize("pair", TRUTH["pairs"], ids=lambda p: p["case"])
def test_project_models_match_reference_results(run, pair):
    poses = ("--pose-a", json.dumps(pair["pose_a"]), "--pose-b", json.dumps(pair["pose_b"]))
    completed = run("check", DATA / pair["a"], DATA / pair["b"], *poses, "--json")
    result, kind, truth = json.loads(completed.out)["result"], pair["kind"], pair["solid"]["distance"]
    assert result["status"] == {"clear": "separated", "hard": "overlapping", "touch": "touching"}[kind]
    assert completed.code == (0 if kind == "clear" else 1)
    if truth is not None:
        assert result["lower"] <= truth[1] + TRUTH["slack"]
        assert result["upper"] >= truth[0] - TRUTH["slack"]
    completed = run("check", DATA / pair["a"], DATA / pair["b"], *poses, "--json", "--hulls")
    result, truth = json.loads(completed.out)["result"], pair["hull"]
    assert result["status"] == truth["status"]
    assert result["distance"] == pytest.approx(truth["distance"], abs=max(truth["tolerance"], 1e-9))
    assert completed.code == (0 if truth["status"] == "separated" else 1)


def test_small_excess_of_hull_is_printed_in_percent(run, tmp_path, box):
    dented = trimesh.creation.icosphere(subdivisions=2)
    dented.vertices[0] *= 0.9
    dented.export(tmp_path / "dented.off")
    result = run("check", tmp_path / "dented.off", box("far.stl", (9, 0, 0)), "--hulls")
    assert_names(result.err, "note: dented.off", "hull", "0.091 %")
    assert len(result.err.splitlines()) == 1


def test_infinity_becomes_null_in_json(run, box, monkeypatch):
    class Odd:
        lower = 1.0

        def to_dict(self):
            return {"distance": math.nan, "upper": math.inf, "points": [(1.0, -math.inf)]}

    monkeypatch.setattr(gk, "signed_distance", lambda *_, **__: Odd(), raising=False)
    document = json.loads(run("check", box("a.stl"), box("b.stl"), "--json").out)
    assert document["result"] == {"distance": None, "upper": None, "points": [[1.0, None]]}


QUARTER = [[0, -1, 0, 5], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    "pose",
    [
        "5 0 0 0 0 90deg",
        "5,0,0,0,0,1.5707963267948966",
        "0 -1 0 5  1 0 0 0  0 0 1 0",
        "[[0,-1,0,5],[1,0,0,0],[0,0,1,0],[0,0,0,1]]",
        "pose.json",
        "pose.txt",
        "pose.npy",
    ],
)
def test_every_pose_format_gives_an_exact_quarter_turn(run, box, tmp_path, monkeypatch, pose):
    monkeypatch.chdir(tmp_path)
    Path("pose.json").write_text(json.dumps(QUARTER))
    Path("pose.txt").write_text("# from the robot\n" + "\n".join(" ".join(map(str, row)) for row in QUARTER))
    np.save("pose.npy", np.array(QUARTER))
    document = json.loads(run("check", box("a.stl"), box("b.stl"), "--pose-b", pose, "--json").out)
    assert document["inputs"]["b"]["pose"] == QUARTER
    assert document["inputs"]["a"]["pose"] is None
    assert document["result"]["distance"] == pytest.approx(3)


@pytest.mark.parametrize(
    ("pose", "named"),
    [
        ("1 2", ("--pose-b", " 2 numbers", "x y z")),
        ("1 2 three", ("--pose-b", "'three'")),
        ("1 2 3deg", ("'3deg'", "angle")),
        ("1 2 nan", ("--pose-b", "number 3", "nan")),
        ("1 2 3 inf 0 0", ("--pose-b", "number 4", "inf")),
        ("2 0 0 0 0 2 0 0 0 0 2 0", ("--pose-b", "(2, 2, 2)")),
        ("1 0 0 0 0 1 0 0 0 0 1 0 5 0 0 1", ("--pose-b", "transposed")),
        ("nowhere.json", ("--pose-b", "'nowhere.json'")),
        ("bad.json", ("--pose-b", "bad.json", '{"pose": [1, 2, 3]}')),
        ("true.json", ("true.json", "the entry true is not a number")),
        ("broken.json", ("broken.json", "numbers")),
        ("object.npy", ("object.npy", "numbers")),
        ("huge.txt", ("huge.txt", "100000 bytes", "at most 65536")),
        ("--json", ("--pose-b", "'--json'")),
    ],
)
def test_bad_pose_is_rejected_before_models_are_read(run, box, tmp_path, monkeypatch, pose, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gk, "load", None, raising=False)
    Path("bad.json").write_text('{"pose": [1, 2, 3]}')
    Path("true.json").write_text("[1, 2, true]")
    Path("broken.json").write_text("[" * 60_000)
    np.save("object.npy", np.array([object()]), allow_pickle=True)
    Path("huge.txt").write_text("1 " * 50_000)
    result = run("check", box("a.stl"), box("b.stl"), "--pose-b", pose)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert_names(result.err, *named)
    assert len(result.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("option", "name", "named"),
    [
        ("--image", "out.html", ("--image", ".png", ".jpg", ".jpeg")),
        ("--html", "out.png", ("--html", ".html", ".htm")),
        ("--html", "no/such/out.html", ("--html", "'no/such'")),
        ("--html", "folder.html", ("--html", "'folder.html'", "folder")),
        ("--image", "a.png", ("--image", "'a.png'", "input")),
        ("--tol", "-1", ("--tol -1",)),
        ("--tol", "nan", ("--tol nan",)),
        ("--tol", "0.1", ("--tol 0.1", "triangles", "--hulls")),
        ("--depth", "epa", ("--depth epa", "triangles", "--hulls")),
    ],
)
def test_bad_option_is_rejected_before_models_are_read(run, box, tmp_path, monkeypatch, option, name, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gk, "load", None, raising=False)
    Path("folder.html").mkdir()
    box("a.stl").rename("a.png")
    result = run("check", "a.png", box("b.stl"), option, name)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, *named)


def test_page_replaces_existing_file(run, box, tmp_path):
    page = tmp_path / "out.html"
    page.write_text("old")
    result = run("check", box("a.stl"), box("b.stl"), "--html", page)
    assert result.code == 1
    assert result.err.endswith(f"wrote: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "<html" in text
    assert "a.stl" in text


def test_verdict_is_printed_when_rendering_fails(run, box, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RenderingUnavailableError("no OpenGL library: apt-get install libegl1 libgl1-mesa-dri")

    monkeypatch.setattr("gjk3d.viz.show", fail)
    result = run("check", box("a.stl"), box("b.stl"), "--image", tmp_path / "out.png", "--json")
    assert result.code == 2
    assert json.loads(result.out)["result"]["status"] == "overlapping"
    assert result.err.startswith("error: no OpenGL library")


def test_bad_models_are_rejected(run, box, assembly, tmp_path):
    good = box("good.stl")
    (tmp_path / "empty.stl").touch()
    (tmp_path / "junk.stl").write_bytes(b"\x1b[2Jjunk")
    for name, named in [
        (tmp_path / "goood.stl", ("goood.stl",)),
        (tmp_path, ("folder",)),
        (tmp_path / "empty.stl", ("empty.stl", "0 bytes")),
        (tmp_path / "junk.stl", ("junk.stl",)),
        (f"{assembly}#plat", ("'plat'", "'plate'")),
        (f"{tmp_path}/assembli.glb#plate", ("assembli.glb",)),
    ]:
        result = run("check", good, name)
        assert (result.code, result.out) == (2, "")
        assert_names(result.err, *named)
        assert "Traceback" not in result.err
        assert "\x1b" not in result.err
        assert len(result.err.splitlines()) <= 2


def test_missing_file_is_reported_before_models_are_read(run, box, monkeypatch):
    loaded = []
    real = gk.load
    monkeypatch.setattr(gk, "load", lambda path, **more: loaded.append(path.name) or real(path, **more), raising=False)
    assert run("check", box("a.stl"), "nowhere.stl").code == 2
    assert loaded == ["nowhere.stl"]


def test_different_units_are_converted(run, assembly, tmp_path, box):
    plate = tmp_path / "plate.3mf"
    mesh = trimesh.creation.box((2000, 2000, 2000))
    scene = trimesh.Scene(mesh)
    scene.units = "millimeter"
    plate.write_bytes(scene.export(file_type="3mf"))
    result = run("check", f"{assembly}#plate", plate, "--pose-b", "9 0 0")
    assert_names(result.err, "plate.3mf", "millimeter", "0.001")
    assert messages.APART.format("7000 mm") in result.out
    assert run("check", plate, plate).code == 1
    bare = box("bare.stl", (9, 0, 0))
    result = run("check", f"{assembly}#plate", bare)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, "bare.stl", "meters", "--unit mm")
    assert messages.APART.format("7000 mm") in run("check", f"{assembly}#plate", bare, "--unit", "m").out
    assert "OVERLAPPING" in run("check", f"{assembly}#plate", bare, "--unit", "mm").out
    assert messages.APART.format("7 mm") in run("check", box("a.stl"), bare, "--unit", "mm").out
    assert run("check", f"{assembly}#plate", bare, "--unit", "furlongs_").code == 2
    assert "'furlong'" in run("check", bare, bare, "--unit", "furlong").err


def test_wide_bounds_are_not_printed_as_exact(run, tmp_path):
    ball = tmp_path / "ball.stl"
    ball.write_bytes(trimesh.creation.icosphere(3).export(file_type="stl"))
    result = run("check", ball, ball, "--pose-b", "0.1 0.2 0.3", "--tol", "0.3", "--hulls")
    assert_names(result.out, *messages.WIDE_BOUNDS)
    assert messages.JUST_TOUCH in run("check", ball, ball, "--pose-b", "0.1 0.2 0.3").out


def test_hash_sign_in_file_name_is_accepted(run, box, tmp_path, assembly):
    odd = box("a#b.stl", (9, 0, 0))
    assert run("check", box("a.stl"), odd).code == 0
    assembly.rename(tmp_path / "x#y.glb")
    assert run("check", f"{tmp_path}/x#y.glb#plate", odd, "--unit", "m").code == 0


def test_control_characters_in_names_are_escaped(run, tmp_path, box):
    scene = trimesh.Scene()
    evil = "[red]x\x1b]0;owned\x07\u202e"
    scene.add_geometry(trimesh.creation.box((2, 2, 2)), node_name=evil)
    path = tmp_path / "a\x1b[31m\n[bold]b.glb"
    path.write_bytes(scene.export(file_type="glb"))
    for argv in (
        ("check", f"{path}#{evil}", path),
        ("check", f"{path}#no", path),
        ("check", tmp_path / "a\x1b[2Jno.stl", path),
        ("info", path),
    ):
        result = run(*argv)
        for text in (result.out, result.err):
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert r"[red]x\x1b]0;owned\x07\u202e" in run("info", path).out
    assert json.loads(run("info", path, "--json").out)["parts"][0]["name"] == evil


def test_warnings_are_notes_on_stderr(run, box, monkeypatch):
    real = gk.load

    def load(path, **more):
        warnings.warn("the file has\nscale \x1b[2J", Gjk3dWarning, stacklevel=1)
        return real(path, **more)

    monkeypatch.setattr(gk, "load", load, raising=False)
    path = box()
    result = run("check", path, path)
    assert result.code == 1
    assert result.err == "note: the file has\n  scale \\x1b[2J\n"


def test_unit_option_overrides_units_of_files(run, assembly):
    result = run("check", f"{assembly}#plate", f"{assembly}#ell", "--unit", "mm")
    assert result.out.startswith(messages.APART.format("1.5 mm"))
    assert_names(result.err, f"note: {assembly.name}", " mm", " meters")
    assert " meters" not in run("check", f"{assembly}#plate", f"{assembly}#ell", "--unit", "m").err


def test_implausible_size_prints_a_note_on_units(run, tmp_path):
    for name, size in (("large.glb", 20.0), ("small.glb", 1e-4)):
        (tmp_path / name).write_bytes(trimesh.Scene(trimesh.creation.box((size,) * 3)).export(file_type="glb"))
        result = run("check", tmp_path / name, tmp_path / name, "--json")
        assert_names(result.err, "note: ", f" {size:g} m ")
        assert "unit" in json.loads(result.out)["notes"][0]


def test_bolt_in_hole_is_separated_but_its_hull_overlaps(run):
    arguments = ("check", DATA / "bracket.stl", DATA / "bolt.stl", "--pose-b", "12 -2 4.5")
    result = run(*arguments)
    assert result.code == 0
    assert result.out.startswith(messages.APART.format(0.2974))
    assert re.search(r"^ +compared +triangles", result.out, re.M)
    result = run(*arguments, "--hulls")
    assert result.code == 1
    assert result.out.startswith(messages.OVERLAPPING.format(8.5))
    assert re.search(r"^ +compared +convex hulls", result.out, re.M)


def test_page_names_compared_geometry(run, box, tmp_path):
    for hulls, text in (((), messages.TRIANGLES), (("--hulls",), messages.HULLS)):
        run("check", box("a.stl"), box("b.stl", (5, 0, 0)), "--html", tmp_path / "out.html", *hulls)
        assert messages.COMPARED.format(text) in (tmp_path / "out.html").read_text(encoding="utf-8")
