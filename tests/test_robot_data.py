"""The arm and its cell in data/arm/, checked with trimesh and python-fcl on the triangles, without gjk3d."""

import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import fcl
import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

DATA = Path(__file__).parents[1] / "data"
ARM = DATA / "arm"
MESHES = {"base": 6, "shoulder": 2, "upper_arm": 3, "elbow": 2, "forearm": 2, "fixture": 2}  # body counts


def numbers(element, name, default="0 0 0"):
    return [float(x) for x in (default if element is None else element.get(name, default)).split()]


def pose_of(origin):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("xyz", numbers(origin, "rpy")).as_matrix()
    pose[:3, 3] = numbers(origin, "xyz")
    return pose


def solid(geometry):
    (shape,) = geometry
    if shape.tag == "box":
        return trimesh.creation.box(numbers(shape, "size"))
    if shape.tag == "cylinder":
        return trimesh.creation.cylinder(float(shape.get("radius")), float(shape.get("length")), sections=64)
    if shape.tag == "sphere":
        return trimesh.creation.icosphere(4, float(shape.get("radius")))
    assert shape.tag == "mesh"
    return trimesh.load_mesh(ARM / shape.get("filename")).apply_scale(numbers(shape, "scale"))


class Machine:
    """A second reader of URDF files with fixed and revolute joints, with python-fcl models of the triangles."""

    def __init__(self, name):
        root = ElementTree.parse(ARM / name).getroot()
        self.joints = root.findall("joint")
        self.movable = [joint.get("name") for joint in self.joints if joint.get("type") == "revolute"]
        self.solids = {}
        for link in root.findall("link"):
            parts = [
                solid(c.find("geometry")).apply_transform(pose_of(c.find("origin"))) for c in link.iter("collision")
            ]
            if parts:
                self.solids[link.get("name")] = parts
        self.models = {name: [self.model(part) for part in parts] for name, parts in self.solids.items()}

    @staticmethod
    def model(mesh):
        model = fcl.BVHModel()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addSubModel(mesh.vertices, mesh.faces)
        model.endModel()
        return model

    def poses(self, q):
        link_poses = {}
        for joint in self.joints:  # in these files parents come before children
            parent, child = joint.find("parent").get("link"), joint.find("child").get("link")
            local = pose_of(joint.find("origin"))
            if joint.get("type") == "revolute":
                turn = np.eye(4)
                angle = q[self.movable.index(joint.get("name"))]
                turn[:3, :3] = Rotation.from_rotvec(angle * np.array(numbers(joint.find("axis"), "xyz"))).as_matrix()
                local = local @ turn
            link_poses[child] = link_poses.get(parent, np.eye(4)) @ local
        return {name: link_poses.get(name, np.eye(4)) for name in {*self.solids, *link_poses}}


@cache
def machine(name):
    return Machine(name)


def allowed():
    root = ElementTree.parse(ARM / "arm.srdf").getroot()
    return {frozenset((x.get("link1"), x.get("link2"))): x.get("reason") for x in root.iter("disable_collisions")}


def hits(q):
    """Return the names of all colliding pairs, except the base on the table."""
    arm, cell = machine("arm.urdf"), machine("cell.urdf")
    placed = {}
    for robot, poses in ((arm, arm.poses(q)), (cell, cell.poses([]))):
        for name, models in robot.models.items():
            at = fcl.Transform(poses[name][:3, :3], poses[name][:3, 3])
            placed[name] = [fcl.CollisionObject(model, at) for model in models]
    pairs = [p for p in itertools.combinations(arm.models, 2) if frozenset(p) not in allowed()]
    pairs += [p for p in itertools.product(arm.models, cell.models) if p != ("base", "table")]
    return {
        (a, b)
        for a, b in pairs
        if any(fcl.collide(x, y, fcl.CollisionRequest(), fcl.CollisionResult()) for x in placed[a] for y in placed[b])
    }


def rows(name):
    text = (ARM / name).read_text(encoding="utf-8").splitlines()
    assert text[0].split(",") == machine("arm.urdf").movable
    return np.array([[float(x) for x in line.split(",")] for line in text[1:]])


def along(path, step=0.02):
    yield path[0]
    for a, b in itertools.pairwise(path):
        count = int(np.ceil(np.abs(b - a).max() / step))
        for k in range(1, count + 1):
            yield a + (b - a) * k / count


# the files ------------------------------------------------------------------------------------------------------------


def test_arm_meshes_are_closed_small_and_in_millimetres():
    assert {path.stem for path in (ARM / "meshes").iterdir()} == set(MESHES)
    for name, bodies in MESHES.items():
        mesh = trimesh.load_mesh(ARM / "meshes" / f"{name}.stl")
        assert mesh.is_watertight, name
        assert mesh.is_winding_consistent, name
        assert mesh.body_count == bodies, name
        assert 100 < mesh.extents.max() < 1000, name
        assert mesh.volume < 0.9 * mesh.convex_hull.volume, name
    assert sum(path.stat().st_size for path in ARM.rglob("*") if path.is_file()) < 300_000


@pytest.mark.full
def test_make_robot_script_reproduces_committed_files(tmp_path):
    """Two runs write the same bytes, and the committed files are equal up to rounding of the meshes."""
    runs = []
    for seed in "12":
        command = [sys.executable, str(DATA / "make_robot.py"), "--out", str(tmp_path / seed)]
        runs.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": seed}))
    assert [run.wait() for run in runs] == [0, 0]
    names = sorted(str(path.relative_to(tmp_path / "1")) for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(ARM)) for path in ARM.rglob("*") if path.is_file())
    for name in names:
        new = tmp_path / "1" / name
        assert new.read_bytes() == (tmp_path / "2" / name).read_bytes(), name
        if new.suffix != ".stl":
            assert new.read_text(encoding="utf-8") == (ARM / name).read_text(encoding="utf-8"), name
            continue
        mesh, old = trimesh.load_mesh(new), trimesh.load_mesh(ARM / name)
        np.testing.assert_array_equal(mesh.bounds, old.bounds)
        assert mesh.volume == pytest.approx(old.volume, rel=1e-9), name
        assert mesh.body_count == old.body_count, name


def test_tip_positions_match_the_drawing():
    arm = machine("arm.urdf")
    assert len(arm.movable) == 6
    straight = arm.poses(np.zeros(6))["tip"]
    np.testing.assert_allclose(straight[:3, 3], (0.65, 0, 0.71), atol=1e-12)
    stretched = arm.poses([0, np.pi / 2, -np.pi / 2, 0, 0, 0])  # stretched forward, horizontal
    np.testing.assert_allclose(stretched["tip"][:3, 3], (1.08, 0, 0.28), atol=1e-12)


# claims about the arm -------------------------------------------------------------------------------------------------


def test_adjacent_pairs_match_the_joints():
    shaped = machine("arm.urdf").solids
    joined = {
        frozenset((joint.find("parent").get("link"), joint.find("child").get("link")))
        for joint in machine("arm.urdf").joints
    }
    wanted = {pair for pair in joined if pair <= set(shaped)}
    wanted.add(frozenset(("wrist", "gripper")))  # the gripper is fixed to the flange, which turns on the wrist
    assert {pair for pair, reason in allowed().items() if reason == "Adjacent"} == wanted


def test_never_pairs_are_free_in_random_configurations():
    arm = machine("arm.urdf")
    never = [tuple(pair) for pair, reason in allowed().items() if reason == "Never"]
    assert len(never) > 5
    limits = [[float(j.find("limit").get(x)) for x in ("lower", "upper")] for j in arm.joints[:6]]
    for q in np.random.default_rng(7).uniform(*np.transpose(limits), (100, 6)):
        poses = arm.poses(q)
        at = {name: fcl.Transform(poses[name][:3, :3], poses[name][:3, 3]) for name in arm.models}
        for a, b in never:
            for x, y in itertools.product(arm.models[a], arm.models[b]):
                pair = fcl.CollisionObject(x, at[a]), fcl.CollisionObject(y, at[b])
                assert not fcl.collide(*pair, fcl.CollisionRequest(), fcl.CollisionResult()), (a, b, q)


def test_start_and_goal_are_free_and_in_srdf():
    states = {
        state.get("name"): [float(joint.get("value")) for joint in state]
        for state in ElementTree.parse(ARM / "arm.srdf").getroot().iter("group_state")
    }
    assert list(states) == ["home", "start", "goal"]
    for name in ("start", "goal"):
        (q,) = rows(f"{name}.csv")
        assert q.tolist() == states[name]
        assert hits(q) == set()
    assert hits(states["home"]) == set()


def test_path_is_free_and_blocked_path_hits_pillar():
    free, blocked = rows("path.csv"), rows("path_blocked.csv")
    for path in (free, blocked):
        assert path[0].tolist() == rows("start.csv")[0].tolist()
        assert path[-1].tolist() == rows("goal.csv")[0].tolist()
    assert [q.tolist() for q in along(free) if hits(q)] == []
    met = set().union(*(hits(q) for q in along(blocked)))
    assert ("gripper", "pillar") in met
    assert {obstacle for _, obstacle in met} == {"pillar"}
