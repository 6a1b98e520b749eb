"""Certified motions return equal bits in single calls, stacks and threads, and after any earlier queries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import trimesh
from example_robots import SHARE, SRDFS, URDFS, some
from random_robots import drawn, random_robot

import gjk3d as gk
from gjk3d.robot import Checker, Robot

GAPS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  #: lengths, as a share of a motion, by which it ends before its contact


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def around():
    return {"post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)), "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7))}


def as_rows(result):
    """Return a row for each motion with all values that must be equal."""
    rows = np.column_stack([result.status.astype(float), result.safe, np.nan_to_num(result.hit, nan=-1.0)])
    return [(*row, pair) for row, pair in zip(rows.tolist(), result.pair, strict=True)]


def ends_near_contact(checker, q0, q1):
    """Return motions that end at their first contact or just before it."""
    result = checker.motion_free(q0, q1, certify=True, tolerance=1e-12)
    met = result.hit > 0.0
    first, second = q0[met], q1[met]
    # if the proof stops early, the hit is the end of the motion, far behind the safe part
    contact = np.where(result.hit - result.safe > 1e-9, result.safe, result.hit)[met]
    parts = np.concatenate([contact - gap for gap in GAPS])[:, None]
    first, second = np.tile(first, (len(GAPS), 1)), np.tile(second, (len(GAPS), 1))
    return first, first + parts * (second - first)


def assert_equal_in_all_ways(make, q0, q1):
    """Assert that motions have equal results in single calls, stacks and threads. Return their statuses."""
    rng, checker = np.random.default_rng(0), make()
    n = len(q0)
    expected = [as_rows(make().motion_free(q0[k : k + 1], q1[k : k + 1], certify=True))[0] for k in range(n)]
    order = rng.permutation(n)
    assert as_rows(checker.motion_free(q0, q1, certify=True)) == expected
    assert as_rows(checker.motion_free(q0[order], q1[order], certify=True)) == [expected[k] for k in order]
    assert as_rows(checker.motion_free(q0, q1, certify=True, workers=2)) == expected
    for k in range(0, n, 7):
        same = checker.motion_free(np.tile(q0[k], (30, 1)), np.tile(q1[k], (30, 1)), certify=True)
        assert as_rows(same) == [expected[k]] * 30
        single = checker.motion_free(q0[k], q1[k], certify=True)
        assert (int(single.status), single.safe, single.pair) == (int(expected[k][0]), expected[k][1], expected[k][3])
        path = checker.path_free([q0[k], q1[k]], certify=True)
        assert (int(path.status), path.pair) == (int(expected[k][0]), expected[k][3])
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda k: checker.motion_free(q0[k], q1[k], certify=True), range(0, n, 3)))
    assert [int(result.status) for result in results] == [int(expected[k][0]) for k in range(0, n, 3)]
    return np.array([row[0] for row in expected])


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
@pytest.mark.parametrize("geometry", ["hull", "bodies"])
def test_motions_of_real_robots(name, geometry):
    robot = Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name], geometry=geometry)
    checker = Checker(robot, around())
    q = some(robot, 400, 3)
    q0 = q[checker.free(q)][:20]
    assert len(q0) > 4
    step = np.random.default_rng(1).normal(size=q0.shape)
    q0, q1 = ends_near_contact(checker, q0, q0 + 2.0 * step / np.linalg.norm(step, axis=1)[:, None])
    status = assert_equal_in_all_ways(lambda: Checker(robot, around()), q0, q1)
    assert len(status) >= 18
    assert len(np.unique(status)) > 1


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_motions_of_joints_without_limits(tmp_path, seed):
    robot = random_robot(tmp_path, seed, ("continuous", "prismatic", "planar", "floating", "mimic"))
    robot.allowed = []
    checker = Checker(robot, around())
    q0, q1 = drawn(robot, 40, seed), drawn(robot, 40, seed + 50)
    free = checker.free(q0)
    q0, q1 = q0[free], q1[free]
    # some motions are much longer than the rest
    q1[::5] = q0[::5] + 100.0 * (q1[::5] - q0[::5])
    near = ends_near_contact(checker, q0, q1)
    q0, q1 = np.concatenate([q0, near[0][:40]]), np.concatenate([q1, near[1][:40]])
    assert_equal_in_all_ways(lambda: Checker(robot, around()), q0, q1)


def test_motions_among_meshes_and_point_clouds(tmp_path):
    robot = random_robot(tmp_path, 4)
    robot.allowed = []
    torus = gk.Mesh.from_trimesh(trimesh.creation.torus(0.5, 0.1, 12, 8))
    points = gk.PointCloud(np.random.default_rng(0).uniform(-1.5, 1.5, (200, 3)), radius=0.02)

    def make():
        return Checker(robot, {"ring": (torus, at(0.8, 0.0, 0.3)), "cloud": (points, np.eye(4))})

    q0, q1 = drawn(robot, 60, 1), drawn(robot, 60, 2)
    free = make().free(q0)
    q0, q1 = q0[free][:8], q1[free][:8]
    q0, q1 = np.concatenate([q0, q0]), np.concatenate([q1, q0 + 0.01 * (q1 - q0)])
    assert_equal_in_all_ways(make, q0, q1)
