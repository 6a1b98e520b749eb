"""``gjk3d info``: the size and the properties of every part."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import trimesh
from message_checks import assert_names


def test_json(run, assembly):
    result = run("info", assembly, "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert (document["unit"], document["schema_version"]) == ("meters", 1)
    ell, opened, plate = document["parts"]
    assert [part["name"] for part in document["parts"]] == ["ell", "open", "plate"]
    assert plate["extents"] == [2, 2, 2]
    assert (plate["triangles"], plate["volume"], plate["convex"]) == (12, pytest.approx(8), True)
    assert (ell["convex"], ell["hull_volume_ratio"]) == (False, pytest.approx(3.5 / 3))
    assert (opened["watertight"], opened["open_edges"]) == (False, 3)
    assert (opened["volume"], opened["convex"]) == (None, None)


def test_table(run, assembly):
    result = run("info", assembly)
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert_names(result.out, "assembly.glb", "3 parts", "extents mm", "volume mm³")
    assert ["plate", "12", "2000", "x", "2000", "x", "2000", "8000000000", "yes", "yes", "1"] in lines
    assert any(line[:1] == ["ell"] and line[-2:] == ["no", "1.167"] for line in lines)
    assert any(line[:1] == ["open"] and line[-6:] == ["no,", "3", "open", "edges", "unknown", "-"] for line in lines)


def test_file_without_names_and_units(run, box):
    result = run("info", box("cube.stl"))
    assert "1 part, unitless" in result.out
    assert "\ncube " in result.out


def test_bad_file_is_rejected(run, tmp_path):
    assert run("info", tmp_path / "nowhere.stl").code == 2
    (tmp_path / "x.doc").write_text("x")
    result = run("info", tmp_path / "x.doc")
    assert result.code == 2
    assert "'.doc'" in result.err


def test_self_intersections_are_counted_on_request(run, assembly, tmp_path):
    assert "self_intersections" not in json.loads(run("info", assembly, "--json").out)["parts"][0]
    result = run("info", assembly, "--check")
    assert result.out.endswith("0 of 3 parts with faces that intersect each other\n")
    corners = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, -1), (1, 1, 1), (9, 9, 0)]
    trimesh.Trimesh(corners, [(0, 1, 2), (3, 4, 5)], process=False).export(tmp_path / "crossed.off")
    result = run("info", tmp_path / "crossed.off", "--check")
    assert (
        "crossed: 1 pair of faces intersect, the first are faces 0 and 1, counted from 0\n1 of 1 part with"
        in result.out
    )
    part = json.loads(run("info", tmp_path / "crossed.off", "--check", "--json").out)["parts"][0]
    assert (part["self_intersections"], part["first_intersection"]) == (1, [0, 1])


@pytest.mark.full
def test_piped_cells_are_not_cut_and_closed_pipe_is_silent(box):
    path = box("n" * 150 + ".stl")
    command = [sys.executable, "-m", "gjk3d", "info", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert any(
        line.startswith("n" * 150 + " ") and line.split()[-2:] == ["yes", "1"] for line in done.stdout.splitlines()
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=60) == 141


def test_unit_option_overrides_unit_of_file(run, assembly, box):
    assert "2 x 2 x 2" in run("info", assembly, "--unit", "mm").out
    assert "extents mm" in run("info", box(), "--unit", "mm").out
    assert run("info", assembly, "--unit", "furlong").code == 2


def test_implausible_size_prints_a_note_on_units(run, tmp_path):
    path = tmp_path / "large.glb"
    path.write_bytes(trimesh.Scene(trimesh.creation.box((20, 20, 20))).export(file_type="glb"))
    result = run("info", path, "--json")
    assert result.err.startswith("note: ")
    assert_names(result.err, " 20 m ", "unit")
    assert json.loads(result.out)["notes"][0] in result.err
    assert run("info", path, "--unit", "mm").err == ""
