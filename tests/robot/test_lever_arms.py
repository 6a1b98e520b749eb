"""Bounds that certified motions use: distances of shapes from joints, and the rate of change of distances."""

from __future__ import annotations

import numpy as np
import pytest
from random_robots import drawn, random_robot
from strategies import sampled

import gjk3d as gk
from gjk3d.robot import Checker
from gjk3d.robot.kinematics import FIXED, SLIDING, TURNING
from gjk3d.robot.motion_bounds import motion_bounds


def surface_points(shape):
    """Return support points of a shape in many directions."""
    directions = np.random.default_rng(0).normal(size=(200, 3))
    return shape.support(directions)


def arms_of(checker, q0, q1):
    return motion_bounds(checker._cell(), np.stack([q0, q1], axis=1)).arms


def dense(checker, arms):
    """Return the lever arm of each pair at each joint between its links as (pairs, links), -1 at all other joints."""
    out = np.full((len(arms.begins) - 1, len(checker.robot.links)), -1.0)
    for p in range(len(out)):
        rows = slice(arms.begins[p], arms.begins[p + 1])
        out[p, arms.steps[rows]] = arms.arms[:, rows].min(axis=0)
    return out


def path_of(robot, a, b):
    """Return the links whose joints lie between links a and b. The world is link -1."""

    def up(link):
        chain = set()
        while link >= 0:
            chain.add(link)
            link = int(robot._chain.parent[link])
        return chain

    return up(a) ^ up(b)


@pytest.mark.parametrize("seed", sampled(((seed,) for seed in range(24)), 3))
def test_nearer_shape_stays_within_lever_arm(tmp_path, seed):
    robot = random_robot(tmp_path, seed)
    robot.allowed = []
    checker = Checker(robot, {"ball": gk.Sphere(0.1)})
    q = drawn(robot, 300, seed)
    arms = dense(checker, arms_of(checker, q, q))
    poses = robot.link_poses(q)
    cell = checker._cell()
    layout = cell.layout
    checked, tight = 0, 0.0
    for p, (a, b) in enumerate(layout.pairs[:, :2].tolist()):
        between = path_of(robot, int(layout.link[a]), int(layout.link[b]))
        for j in range(len(robot.links)):
            kind = int(robot._chain.kind[j])
            if j not in between or kind == FIXED:
                assert arms[p, j] == -1.0
                continue
            if kind == SLIDING:
                assert arms[p, j] >= 0.0
                continue
            # only the nearer shape of the pair must stay within the arm, at every configuration
            nearest = np.inf
            for slot in (a, b):
                link = int(layout.link[slot])
                if link < 0:
                    continue
                at = cell.placed(poses, slot)
                points = np.einsum("nij,kj->nki", at[:, :3, :3], surface_points(cell.shapes[slot])) + at[:, None, :3, 3]
                arm = points - poses[:, j, None, :3, 3]
                if kind == TURNING or robot.joints[j].type == "planar":
                    axis = poses[:, j, :3, :3] @ robot._chain.axis[j]
                    arm = np.cross(np.broadcast_to(axis[:, None], arm.shape), arm)
                nearest = min(nearest, np.linalg.norm(arm, axis=2).max())
            assert nearest <= arms[p, j]
            checked += 1
            tight = max(tight, nearest / arms[p, j])
    assert checked >= 5
    assert tight > 0.3


@pytest.mark.parametrize("seed", range(24))
def test_distance_change_stays_within_bound(tmp_path, seed):
    robot = random_robot(tmp_path, seed)
    robot.allowed = []
    checker = Checker(robot, {"ball": gk.Sphere(0.1)})
    ends = drawn(robot, 2, seed + 100)
    arms = dense(checker, arms_of(checker, ends[:1], ends[1:]))
    t = np.sort(np.random.default_rng(seed).uniform(size=60))
    q = (1 - t[:, None]) * ends[0] + t[:, None] * ends[1]
    poses, step = robot.link_poses(q), np.abs(ends[1] - ends[0])
    cell, chain = checker._cell(), robot._chain
    layout = cell.layout
    assert len(layout.pairs) >= 15
    assert (arms >= 0.0).sum() > 20
    for p, (a, b) in enumerate(layout.pairs[:, :2].tolist()):
        way = 0.0
        for j in np.flatnonzero(arms[p] >= 0.0):
            c, kind = chain.source[j], robot.joints[j].type
            f = abs(chain.multiplier[j])
            if kind in ("revolute", "continuous"):
                way += f * step[c] * arms[p, j]
            elif kind == "prismatic":
                way += f * step[c]
            elif kind == "planar":
                way += np.hypot(step[c], step[c + 1]) + step[c + 2] * arms[p, j]
            else:
                way += np.linalg.norm(step[c : c + 3]) + np.linalg.norm(step[c + 3 : c + 6]) * arms[p, j]
        d = gk.signed_distance(cell.shapes[a], cell.shapes[b], cell.placed(poses, a), cell.placed(poses, b))
        change = np.abs(d.distance[:, None] - d.distance[None, :])
        assert (change <= way * np.abs(t[:, None] - t[None, :]) + 1e-7).all()


def test_lever_arm_about_own_axis_is_the_radius(tmp_path):
    text = """<robot name="r"><link name="a"/><link name="b"><collision><origin xyz="0 0 1"/><geometry>
    <cylinder radius="0.05" length="2"/></geometry></collision></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    checker = Checker(gk.robot.Robot.from_urdf(path), {"ball": gk.Sphere(0.1)})
    arms = dense(checker, arms_of(checker, np.zeros((1, 1)), np.ones((1, 1))))
    assert 0.05 <= arms[0, 1] < 0.051


def test_cached_arms_are_recomputed_after_changes(tmp_path):
    text = """<robot name="r"><link name="a"/><link name="b"><collision><geometry><sphere radius="0.1"/></geometry>
    </collision></link><link name="c"/><joint name="s" type="prismatic"><parent link="c"/><child link="b"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="j" type="continuous"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    checker = Checker(gk.robot.Robot.from_urdf(path), {"ball": gk.Sphere(0.1)})
    zero = np.zeros((1, 2))
    cached = arms_of(checker, zero, np.array([[0.7, 2.0]]))
    assert arms_of(checker, zero, np.array([[-1.0, 9.0]])) is cached
    turn = checker.robot.links.index("c")
    assert dense(checker, cached)[0, turn] == pytest.approx(1.1, rel=0.01)
    farther = arms_of(checker, zero, np.array([[5.0, 2.0]]))
    assert dense(checker, farther)[0, turn] > 5.1
    checker.attach("tool", gk.Sphere(0.1), "b", at(3.0, 0.0, 0.0))
    assert dense(checker, arms_of(checker, zero, zero)).max() == pytest.approx(4.1, rel=0.01)


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
