"""A cabinet with a door, its latch and a drawer: planted clashes, compared with closed forms and dense sampling."""

import importlib
import itertools
import math
import sys
from pathlib import Path

import manifold3d
import numpy as np
import pytest
import trimesh

import gjk3d as gk

DATA = Path(__file__).parents[2] / "data"
GLB, TOML = DATA / "cabinet" / "cabinet.glb", DATA / "cabinet" / "cabinet.toml"
ROUNDED = 1e-6  # s: a corner is rounded by 3e-8 m, and the slowest clashing part moves at 0.35 m/s


@pytest.fixture(scope="module")
def drawing():
    sys.path.insert(0, str(DATA))
    try:
        return importlib.import_module("make_cabinet")
    finally:
        sys.path.remove(str(DATA))


@pytest.fixture(scope="module")
def report():
    return gk.clash.check(gk.clash.Assembly.load(GLB), motion=TOML)


@pytest.fixture(scope="module")
def solids():
    scene = trimesh.load_scene(GLB)
    meshes = {name: (mesh.vertices, mesh.faces.astype(np.uint64)) for name, mesh in scene.geometry.items()}
    return {name: manifold3d.Manifold(manifold3d.Mesh64(*map(np.array, mesh))) for name, mesh in meshes.items()}


def pose(name, time):
    """Return the pose of a part in closed form, without code of the package."""
    turn = math.radians(-80.0) * min(max(time - 1.0, 0.0), 1.0)
    c, s = math.cos(turn), math.sin(turn)
    matrix = np.eye(4)
    if name in ("door", "latch"):
        matrix[:2, :2] = (c, -s), (s, c)
        back = -0.007 * min(time, 1.0) if name == "latch" else 0.0
        matrix[:2, 3] = c * back, s * back
    if name == "drawer":
        matrix[1, 3] = -0.35 * max(time - 2.0, 0.0)
    return matrix


def test_planted_clash_times_equal_closed_form(report, drawing):
    assert {(c.kind, c.a, c.b) for c in report.clashes} == {("hard", "latch", "lip"), ("hard", "door", "drawer")}
    spans = {clash.a: clash.intervals for clash in report.clashes}
    ((after, begin, end, before),) = spans["latch"]
    first, last = drawing.latch_times()
    assert after - ROUNDED <= first <= begin + ROUNDED
    assert end - ROUNDED <= last <= before + ROUNDED
    assert max(begin - after, before - end) <= 3e-4 + ROUNDED
    ((after, begin, end, before),) = spans["door"]
    assert after - ROUNDED <= drawing.drawer_time() <= begin + ROUNDED
    assert begin - after <= 3e-4 + ROUNDED
    assert end == before == pytest.approx(3.0)  # the drawer stays in the door


def test_all_pairs_equal_dense_sampling(report, solids):
    spans = {frozenset((clash.a, clash.b)): clash.intervals for clash in report.clashes}
    times = np.concatenate([np.linspace(0.0, 3.0, 121), np.linspace(1.0, 1.035, 141), np.linspace(2.755, 2.77, 61)])
    for a, b in itertools.combinations(sorted(solids), 2):
        intervals = spans.get(frozenset((a, b)), ())
        for time in times.tolist():
            placed = [solids[name].transform(pose(name, time)[:3]) for name in (a, b)]
            shared = (placed[0] ^ placed[1]).volume()
            if any(begin < time < end for _, begin, end, _ in intervals):
                assert shared > 0.0, (a, b, time)
            elif not any(after <= time <= before for after, _, _, before in intervals):
                assert shared == 0.0, (a, b, time)


def test_sequential_drives_equal_closed_form(report):
    assert report.notes == ()
    for name in ("door", "latch", "drawer"):
        for time in np.linspace(0.0, 3.0, 31).tolist():
            np.testing.assert_allclose(report.motion.pose(name, time), pose(name, time), rtol=0, atol=1e-14)


def test_script_reproduces_the_cabinet(drawing, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_cabinet.py", "--out", str(tmp_path)])
    drawing.main()
    assert (tmp_path / "cabinet.toml").read_bytes() == TOML.read_bytes()
    new, old = (trimesh.load_scene(path) for path in (tmp_path / "cabinet.glb", GLB))
    assert set(new.geometry) == set(old.geometry)
    for name, mesh in old.geometry.items():
        np.testing.assert_array_equal(new.geometry[name].bounds, mesh.bounds)
        assert mesh.is_watertight
