"""Copies of a shape share one mesh and one decision per relative pose, with the same findings as without sharing."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.clash import Assembly, AssemblyPart, check
from gjk3d.clash.detection import pairs
from gjk3d.clash.report import wording
from gjk3d.errors import PoseError
from gjk3d.poses import pose_rows


def mesh_of(model):
    return gk.Mesh(model.vertices, model.faces)


RING = mesh_of(trimesh.creation.annulus(0.4, 1.0, 0.8, sections=24))
PIN = mesh_of(trimesh.creation.cylinder(0.45, 2.0, sections=24))
BLOCK = mesh_of(trimesh.creation.box((1.0, 1.0, 1.0)))
SHAPES = {"ring": RING, "pin": PIN, "block": BLOCK}


def at(place, turn=(0.0, 0.0, 0.0)):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    pose[:3, 3] = place
    return pose


def flattened(assembly):
    """Return the assembly with poses applied to the vertices, so that each part has its own shape."""
    return replace(assembly, parts=tuple(AssemblyPart(part.name, part.file, part.mesh) for part in assembly.parts))


def units(poses):
    """Return an assembly with a ring, a pin too thick for it, and a block close to both at each pose."""
    parts = {}
    for k, pose in enumerate(poses):
        parts[f"unit {k}/ring"] = RING, pose
        parts[f"unit {k}/pin"] = PIN, pose @ at((0.015625, 0.0, 0.25))
        parts[f"unit {k}/block"] = BLOCK, pose @ at((1.53125, 0.0, 0.0))
    return Assembly.of(parts, "mm")


def check_pair_only(assembly, clash, **limits):
    """Check two parts without the rest of the assembly; return the finding with the rank and group of `clash`."""
    pair = [part for part in assembly.parts if part.name in (clash.a, clash.b)]
    (result,) = check(replace(assembly, parts=tuple(pair)), tolerance=clash.tolerance, **limits).clashes
    return replace(result, severity=clash.severity, group=clash.group)


def test_pairs_of_equal_relative_pose_are_decided_once():
    turn = [(0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    grid = [at((8.0 * k, 16.0 * (k % 3), 4.0 * k)) for k in range(9)]
    assembly = units([*grid, *(pose @ np.array(turn, dtype=float) for pose in (at((0, 64, 0)), at((8, 64, 0))))])
    report = check(assembly, clearance=0.1)
    assert report.counts == {"hard": 11, "contained": 0, "duplicate": 0, "unchecked": 0, "clearance": 11, "touch": 0}
    assert report.decisions == 2  # the hulls separate the pin and the block
    assert len({id(part.shape) for part in assembly.parts}) == 3
    for clash in report.clashes:
        assert clash == check_pair_only(assembly, clash, clearance=0.1)
    for workers in (2, 5):
        assert check(assembly, clearance=0.1, workers=workers).clashes == report.clashes


def check_against_flattened(assembly, clearance=0.1, tolerance=None):
    """Check that kinds equal those of the flattened parts and that the bounds overlap; return the report."""
    shared = check(assembly, clearance, tolerance)
    expected = {clash.id: clash for clash in check(flattened(assembly), clearance, tolerance).clashes}
    assert {clash.id for clash in shared.clashes} == set(expected)
    for clash in shared.clashes:
        reference = expected[clash.id]
        assert (clash.kind, clash.distance_kind) == (reference.kind, reference.distance_kind)
        if reference.distance is not None and reference.distance_kind != "approximate":
            low, high = wording.bounds(clash)
            least, most = wording.bounds(reference)
            assert low <= most
            assert least <= high
            assert clash.error_bound < clash.tolerance + 1e-9 + (reference.error_bound or 0.0)
        if reference.overlap_volume is not None:
            assert clash.overlap_volume == pytest.approx(reference.overlap_volume, rel=1e-4, abs=1e-9)
            np.testing.assert_allclose(clash.overlap_box, reference.overlap_box, atol=1e-3)
        for name in ("mtv", "point"):
            a, b = getattr(clash, name), getattr(reference, name)
            assert (a is None) == (b is None)
        if clash.mtv is not None:
            assert np.linalg.norm(clash.mtv) == pytest.approx(clash.depth, rel=1e-9, abs=1e-12)
    return shared


@pytest.mark.full
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1.0, 1e3]), kind=st.sampled_from([np.float64, np.float32]))
def test_rounded_poses_share_decisions_within_bounds(seed, size, kind):
    rng = np.random.default_rng(seed)
    poses = [at(size * rng.uniform(-1, 1, 3) + (20.0 * k, 0, 0), rng.normal(size=3)) for k in range(6)]
    parts = {part.name: (part.shape, np.array(part.pose, dtype=kind).astype(float)) for part in units(poses).parts}
    report = check_against_flattened(Assembly.of(parts, "mm"))
    assert len(report.clashes) == 12
    assert report.decisions == 2 or (kind is np.float32 and report.decisions <= 12)


def test_slack_of_shared_decision_includes_parts_and_rotation():
    """Two pairs whose second parts differ by a small rotation share a decision, and each part has its own slack."""
    poses = np.array([at((0, 0, 0)), at((8, 0, 0)), at((0, 64, 0)), at((8, 64, 0), (0, 0, 1e-9))])
    which, slacks = np.array([0, 1, 0, 1]), np.array([0.25, 0.5, 0.125, 2.0])
    result = pairs.alike(np.array([(0, 1), (2, 3)]), [BLOCK, PIN], which, pose_rows(poses)[0], slacks, np.full(2, 1e-6))
    assert result.group.tolist() == [0, 0]
    assert result.slack == pytest.approx([0.75, 2.125])
    # the half extent is 1 for the pin and 0.5 for the block
    assert max(result.slack - [0.75, 2.125]) > np.sqrt(3.0) * 1e-9


def test_poses_in_float32_share_most_decisions():
    rng = np.random.default_rng(5)
    poses = [at((30.0 * (k % 5), 30.0 * (k // 5), 100.0 * rng.uniform())) for k in range(25)]
    poses = [pose @ at((0, 0, 0), rng.normal(size=3)) for pose in poses]
    parts = {part.name: (part.shape, np.array(part.pose, dtype=np.float32)) for part in units(poses).parts}
    report = check_against_flattened(Assembly.of(parts, "mm"))
    assert report.decisions <= len(report.clashes) // 2 == 25


def test_distant_pairs_share_decisions_despite_tolerance():
    """Pairs with different tolerances share a decision if the result is the same for all of them."""
    parts = {}
    for k in range(12):
        parts[f"{k} a"] = BLOCK, at((16.0 * k, 0, 0))
        parts[f"{k} b"] = BLOCK, at((16.0 * k + 1.0, 0, 2.0**-13))
    report = check(Assembly.of(parts, "mm"), clearance=0.1)
    assert report.counts["touch"] == 12
    assert len({clash.tolerance for clash in report.clashes}) > 3
    assert report.decisions == 1
    # the depth lies between the tolerances: near pairs are hard clashes, distant pairs touch
    deep = 2.0**-14
    for k in range(12):
        parts[f"{k} b"] = BLOCK, at((16.0 * k + 1.0 - deep, 0, 0))
    report = check(Assembly.of(parts, "mm"))
    kinds = {clash.kind for clash in report.clashes}
    for clash in report.clashes:
        assert clash.kind == ("hard" if clash.tolerance < deep else "touch")
    assert kinds == {"hard", "touch"}
    assert report.decisions == 2


def test_thousand_bolts_need_one_mesh_and_one_decision(monkeypatch):
    from gjk3d.clash.detection.decider import Decider

    decide, calls = Decider.decide, []
    monkeypatch.setattr(Decider, "decide", lambda self, *pair: calls.append(1) or decide(self, *pair))
    parts = {}
    for k in range(1000):
        place = (4.0 * (k % 10), 4.0 * (k // 10 % 10), 4.0 * (k // 100))
        parts[f"bolt {k}"] = gk.Mesh(PIN.vertices, PIN.faces), at(place)
        parts[f"nut {k}"] = gk.Mesh(RING.vertices, RING.faces), at(place)
    assembly = Assembly.of(parts, "mm")
    report = check(assembly)
    assert len({id(part.shape) for part in assembly.parts}) == 2
    assert (len(calls), report.decisions, len(report.clashes)) == (1, 1, 1000)
    assert report.to_dict()["decisions"] == report.decisions


def test_nodes_share_shapes_per_geometry_scale_and_mirror(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.annulus(0.4, 1.0, 0.8, sections=24), node_name="n0", geom_name="ring")
    matrices = {"n0": np.eye(4)}
    for k in range(1, 5):
        matrices[f"n{k}"] = at((5.0 * k, 0, 0), (0.3 * k, 1.0, 0.1))
    matrices["twice"] = at((0, 9, 0), (1, 2, 3)) @ np.diag([2.0, 2.0, 2.0, 1.0])
    matrices["twice again"] = at((0, 19, 0), (3, 2, 1)) @ np.diag([2.0, 2.0, 2.0, 1.0])
    matrices["mirrored"] = at((9, 9, 0), (1, 0, 1)) @ np.diag([-1.0, 1.0, 1.0, 1.0])
    matrices["flat"] = at((9, 19, 0)) @ np.diag([1.0, 1.0, 0.0, 1.0])
    for name in list(matrices)[1:]:
        scene.graph.update(frame_to=name, matrix=matrices[name], geometry="ring")
    file = tmp_path / "rings.glb"
    file.write_bytes(scene.export(file_type="glb"))
    parts = {part.name: part for part in Assembly.load(file).parts}
    assert len({id(parts[f"n{k}"].shape) for k in range(5)}) == 1
    assert parts["twice"].shape is parts["twice again"].shape is not parts["n0"].shape
    loaded = trimesh.load_scene(file)
    for name, part in parts.items():
        matrix, geometry = loaded.graph.get(name)
        points = loaded.geometry[geometry].vertices @ matrix[:3, :3].T + matrix[:3, 3]
        away = np.abs(part.mesh.vertices - points).max()
        assert away <= part.slack + 1e-14
        assert part.slack < 1e-6
        np.testing.assert_allclose(part.bounds, [points.min(axis=0), points.max(axis=0)], atol=part.slack + 1e-14)
        if name != "flat":
            assert part.mesh.volume == pytest.approx(RING.volume * (8.0 if "twice" in name else 1.0), rel=1e-5)


def test_equal_files_share_one_shape(tmp_path):
    for name in ("a", "b", "c"):
        trimesh.creation.box((1.0, 2.0, 3.0 if name == "c" else 1.0)).export(tmp_path / f"{name}.stl")
    a, b, c = (part.shape for part in Assembly.load(tmp_path, unit="mm").parts)
    assert a is b
    assert a is not c


def test_part_pose_is_validated_and_compared():
    part = AssemblyPart("a", "", BLOCK, pose=at((1, 2, 3)))
    assert part == AssemblyPart("a", "", BLOCK, pose=at((1, 2, 3)).tolist())
    assert hash(part) != hash(AssemblyPart("a", "", BLOCK, pose=at((1, 2, 4))))
    with pytest.raises(PoseError, match=r"'a'.*\(2, 1, 1\).*shape\.scaled"):
        AssemblyPart("a", "", BLOCK, pose=np.diag([2.0, 1.0, 1.0, 1.0]))


def test_unit_conversion_scales_poses():
    inches = gk.Mesh(BLOCK.vertices, BLOCK.faces, unit="in")
    assembly = Assembly.of(
        {"a": gk.Mesh(BLOCK.vertices, BLOCK.faces, unit="mm"), "b": (inches, at((2, 0, 0))), "c": inches}
    )
    _, b, c = assembly.parts
    assert b.shape is c.shape
    np.testing.assert_allclose(b.bounds, np.array([[1.5, -0.5, -0.5], [2.5, 0.5, 0.5]]) * 25.4, rtol=1e-14)


def test_rows_with_equal_hash_stay_distinct(monkeypatch):
    class Zero:
        def integers(self, *given, **others):
            return np.zeros(given[2], dtype=np.uint64)

    monkeypatch.setattr(pairs.np.random, "default_rng", lambda seed: Zero())
    key = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, -0.0]])
    first, group = pairs._distinct(key)
    assert [tuple(key[first[g]]) for g in group] == [tuple(row) for row in key]
