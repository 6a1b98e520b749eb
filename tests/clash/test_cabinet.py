"""A door with hinge and latch, and a drawer: planted clashes whose times have a closed form, and dense sampling."""

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
ROUNDED = 1e-6  # s: a corner is rounded by 3e-8 m, the slowest that meets something goes 0.35 m/s


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
    """The three seconds in closed form, by no code of the package."""
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


def test_the_planted_clashes_begin_and_end_when_they_do_in_closed_form(report, drawing):
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
    assert end == before == pytest.approx(3.0)  # it stays there


def test_every_pair_of_the_cabinet_is_as_dense_sampling_says(report, solids):
    spans = {frozenset((clash.a, clash.b)): clash.intervals for clash in report.clashes}
    times = np.concatenate([np.linspace(0.0, 3.0, 121), np.linspace(1.0, 1.035, 141), np.linspace(2.755, 2.77, 61)])
    for a, b in itertools.combinations(sorted(solids), 2):
        met = spans.get(frozenset((a, b)), ())
        for time in times.tolist():
            placed = [solids[name].transform(pose(name, time)[:3]) for name in (a, b)]
            shared = (placed[0] ^ placed[1]).volume()
            if any(begin < time < end for _, begin, end, _ in met):
                assert shared > 0.0, (a, b, time)
            elif not any(after <= time <= before for after, _, _, before in met):
                assert shared == 0.0, (a, b, time)


def test_what_is_driven_one_after_the_other_is_followed_exactly(report):
    assert report.notes == ()
    for name in ("door", "latch", "drawer"):
        for time in np.linspace(0.0, 3.0, 31).tolist():
            np.testing.assert_allclose(report.motion.pose(name, time), pose(name, time), rtol=0, atol=1e-14)


def test_the_script_repeats_the_cabinet(drawing, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_cabinet.py", "--out", str(tmp_path)])
    drawing.main()
    assert (tmp_path / "cabinet.toml").read_bytes() == TOML.read_bytes()
    new, old = (trimesh.load_scene(path) for path in (tmp_path / "cabinet.glb", GLB))
    assert set(new.geometry) == set(old.geometry)
    for name, mesh in old.geometry.items():
        np.testing.assert_array_equal(new.geometry[name].bounds, mesh.bounds)
        assert mesh.is_watertight
