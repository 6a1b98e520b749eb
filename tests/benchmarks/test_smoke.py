"""The benchmarks run, and their tables have the expected content. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from . import (
    beyond,
    bodies,
    clash,
    copies,
    depths,
    manager,
    one_call,
    points,
    rays,
    robots,
    robots_clouds,
    robots_motion,
    scenes_many,
)
from . import rows as batch_rows
from .__main__ import main
from .accuracy import WRONG, Judgement, reference
from .run import Cell
from .scenes import BLOCK, PERIOD, SETTINGS, make
from .table import COUNTS, anchor, behind
from .timing import Timing


def test_main_writes_a_row_with_all_installed_peers(tmp_path):
    out, raw = tmp_path / "table.md", tmp_path / "raw.json"
    assert main(["--quick", "--no-startup", "--rows", "box-box", "--out", str(out), "--raw", str(raw)]) == 0
    text = out.read_text()
    for title in SETTINGS.values():
        assert f"## {title}" in text
    cells = json.loads(raw.read_text())
    assert len(cells) == 3 * len(SETTINGS)
    for cell in cells:
        assert min(min(times) for times in cell["microseconds"].values()) > 0
        assert cell["wrong"]["gjk3d"] == 0.0
        assert cell["wrong"]["coal"] == 0.0
        assert cell["wrong"]["python-fcl"] == 0.0
    assert "48 of 48 proven" in text
    row = next(line for line in text.splitlines() if line.startswith("| box-box | boolean | 0.0 / 0.0 / 0.0 |"))
    assert row.count("|") == text[text.index(f"| pair | query | {COUNTS} |") :].splitlines()[0].count("|")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("row", ["capsule-box", "hulls of 32"])
def test_half_of_the_pairs_overlap(row, setting):
    scene = make(row, setting, 256, 4)
    truth = reference(scene)
    hits = truth.upper <= 0.0
    if setting == "path":
        assert scene.block == PERIOD
        assert 0.3 < hits.mean() < 0.7  # only the first periods are compared
    else:
        assert (hits.reshape(-1, BLOCK).sum(axis=1) == BLOCK // 2).all()
    assert np.ptp(truth.lower / truth.size) > 0.1


def test_wrong_library_is_not_an_anchor():
    timings = {name: Timing(1, {0: t, 1: t}) for name, t in (("gjk3d", 2.0), ("coal", 3.0), ("mujoco", 1.0))}
    right, wrong = Judgement(0.0, 0.0), Judgement(0.4, 10 * WRONG)
    cell = Cell("box-box", "one", "depth", timings, {"gjk3d": right, "coal": right, "mujoco": wrong}, 4)
    assert anchor(cell) == "coal"
    assert behind([cell]) == []
    cell.judgements["mujoco"] = right
    assert anchor(cell) == "mujoco"
    assert behind([cell]) == ["- one pair, pose by pose, box-box, depth: 0.50x of mujoco"]


def test_one_call_writes_all_tables(tmp_path):
    assert one_call.main(["--rounds", "1", "--out", str(tmp_path / "one.md")]) == 0
    text = (tmp_path / "one.md").read_text()
    assert all(f"## {title}" in text for title in one_call.PARTS)
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) > 70
    assert len({line.count("|") for line in rows if line.startswith(("| box-box", "| hulls"))}) == 1


def test_beyond_writes_contacts_impacts_rays_and_hulls(tmp_path, monkeypatch):
    monkeypatch.setattr(beyond, "HULL", 2_000)
    out = tmp_path / "beyond.md"
    assert beyond.main(["--rounds", "1", "--out", str(out)]) == 0
    text = out.read_text()
    assert text.count("\n") == 18
    assert "scipy's hull alone" in text
    assert "python-fcl BVHModel" in text
    assert "million a second" in text


def test_libraries_agree_on_pairs_of_scenes(tmp_path):
    out = tmp_path / "scenes.md"
    assert scenes_many.main(["--objects", "200", "--rounds", "1", "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 11
    for line in lines[-2:]:
        counts = {cell.strip() for cell in line.split("|")[2:-1]} - {""}
        assert len(counts) == 1
        assert int(counts.pop()) > 50
    assert scenes_many.main(["--objects", "60", "--rounds", "1", "--meshes", "--peers", "--out", str(out)]) == 0
    assert out.read_text().splitlines()[0] == "| CPU ms | gjk3d | gjk3d, remember=False | gjk3d, one in ten a mesh |"


def test_libraries_agree_on_bodies(tmp_path):
    out = tmp_path / "bodies.md"
    assert bodies.main(["--rounds", "1", "--largest", "100", "--out", str(out)]) == 0
    rows = [line.split("|") for line in out.read_text().splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 3 * 4 * 2
    for row in rows:
        off = [float(value) for value in row[-2].split(",") if value.strip()]
        assert max(off, default=0.0) <= (0.02 if row[2].strip() == "boolean" else 1e-4)


def test_depth_table_has_ordered_bounds(tmp_path):
    out = tmp_path / "depths.md"
    assert depths.main(["--rounds", "1", "--largest", "100", "--out", str(out)]) == 0
    rows = [line.split("|") for line in out.read_text().splitlines() if line.startswith("| ")][2:]
    single, many, fast = rows[: 27 + 9 + 5], rows[27 + 9 + 5 + 2 :][:4], rows[27 + 9 + 5 + 2 + 4 + 2 :]
    for row in single:
        assert float(row[6]) <= float(row[7])
        assert not row[9].strip() or float(row[10]) <= float(row[11])
    assert len(many) == 4
    for row in many:
        assert float(row[2]) <= float(row[3])
        assert 0.0 <= float(row[6]) <= float(row[5]) <= 1.0
    assert len(fast) == 5
    for row in fast:
        assert 0.9 <= float(row[5]) <= float(row[6]) * 1.001
        assert 0.0 <= float(row[7]) <= 1.0


def test_collision_managers_agree(capsys):
    manager.main(["--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 2 * 9
    assert all(line.endswith("x |") for line in lines[2:])


def test_libraries_agree_on_robots(capsys):
    assert robots.main(["--quick", "--robots", "panda", "--count", "60", "--no-loading"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| panda")]
    assert len(lines) == 8
    for line in lines:
        hull, _, peer = (cell.strip() for cell in line.split("|")[4:7])
        assert float(hull) > 0
        assert float(peer) > 0


def test_libraries_agree_on_clashing_pairs(capsys):
    assert clash.main(["--grid", "4", "4", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 2 + 3
    hard = [int(lines[k].split("|")[4].split()[0]) for k in (4, 5, 6)]
    assert hard[0] == hard[1] == hard[2] > 5


def test_stages_of_copies_are_not_counted_twice(capsys):
    assert copies.main(["--racks", "20", "--stages"]) == 0
    rows = [line.split("|")[1:3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert [stage.strip() for stage, _ in rows][-3:] == [
        "the check", "besides: every finding read", "besides: every part read",
    ]  # fmt: skip
    assert len(rows) == 14
    assert all(float(spent.split()[0]) >= 0.0 for _, spent in rows)  # a stage that counts twice makes the rest negative


def test_times_of_bare_libraries_add_up(capsys):
    assert copies.main(["--racks", "20", "--bare"]) == 0
    spent = [float(line.split("|")[2].split()[0]) for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(spent) == 4
    assert spent[-1] == pytest.approx(sum(spent[:-1]), abs=2e-3)
    assert spent[-1] > 0.0


def test_batches_on_two_processes_have_the_same_bits(capsys):
    assert batch_rows.main(["--rows", "100", "--motions", "50"]) == 0
    lines = [line.split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(lines) == 5
    assert [line[-2].strip() for line in lines] == ["yes"] * 5


def test_clash_findings_are_written_as_lines(tmp_path, capsys):
    path = tmp_path / "many.jsonl"
    assert clash.main(["--findings", str(path), "--side", "4"]) == 0
    with path.open() as lines:
        assert sum(1 for _ in lines) == 468 + 1  # 3 * 48 by faces, 6 * 36 by edges, 4 * 27 by corners
    assert capsys.readouterr().out.startswith("468 findings among 64 parts")


def test_motion_table_has_all_queries(capsys):
    assert robots_motion.main(["--quick", "--robots", "ur5", "--count", "30"]) == 0
    out = capsys.readouterr().out
    assert [line.split("|")[3].strip() for line in out.splitlines() if line.startswith("| ur5")] == [
        "certified", "certified, any contact", "sampled, 0.05", "sampled, 0.01", "single calls, 0.05",
    ]  # fmt: skip


def test_ray_and_point_tables_have_all_queries(capsys):
    assert rays.main(["--quick", "--triangles", "300", "--rays", "400"]) == 0
    lines = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| 304")]
    assert [line[2].strip() for line in lines] == ["scattered", "camera"]
    assert points.main(["--quick", "--triangles", "300", "--points", "400"]) == 0
    lines = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| 304")]
    assert [line[2].strip() + ", " + line[3].strip() for line in lines] == [
        "in the box, distance", "in the box, inside", "near the surface, distance", "near the surface, inside",
    ]  # fmt: skip


def test_libraries_agree_on_robots_in_clouds(capsys):
    assert robots_clouds.main(["--quick", "--points", "1000"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| 1000 points")]
    assert [line.split("|")[2].strip() for line in lines] == [
        "build", "replace the cloud, and the first result", "points of the robot itself", "free, where it is free",
        "distance, where it is free", "free, where it touches", "distance, where it touches",
        "distance with the fast depth, where it touches",
        "motions of 0.4 rad, proven", "motions of 0.4 rad, every 0.05 rad",
    ]  # fmt: skip
