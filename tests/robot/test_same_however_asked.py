"""Certified motions are answered the same, to the last bit, alone and in stacks, whatever was asked before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import trimesh
from chains import drawn, random_robot
from example_robots import SHARE, SRDFS, URDFS, some

import gjk3d as gk
from gjk3d.robot import Checker, Robot

GAPS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  #: of a motion, from its end to where it is known to touch


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def around():
    return {"post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)), "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7))}


def answers(told):
    """Return what is told of motions as rows that are equal where all of it is."""
    rows = np.column_stack([told.status.astype(float), told.safe, np.nan_to_num(told.hit, nan=-1.0)])
    return [(*row, pair) for row, pair in zip(rows.tolist(), told.pair, strict=True)]


def ends_near_contact(checker, q0, q1):
    """Return motions that end where they touch, or just before."""
    told = checker.motion_free(q0, q1, certify=True, tolerance=1e-12)
    met = told.hit > 0.0
    first, second = q0[met], q1[met]
    # a proof that stops early has a hit at the end of the motion, far behind what it proved
    contact = np.where(told.hit - told.safe > 1e-9, told.safe, told.hit)[met]
    parts = np.concatenate([contact - gap for gap in GAPS])[:, None]
    first, second = np.tile(first, (len(GAPS), 1)), np.tile(second, (len(GAPS), 1))
    return first, first + parts * (second - first)


def asked_in_all_ways(make, q0, q1):
    """Assert that a checker answers motions the same in whatever company."""
    rng, checker = np.random.default_rng(0), make()
    n = len(q0)
    alone = [answers(make().motion_free(q0[k : k + 1], q1[k : k + 1], certify=True))[0] for k in range(n)]
    order = rng.permutation(n)
    assert answers(checker.motion_free(q0, q1, certify=True)) == alone
    assert answers(checker.motion_free(q0[order], q1[order], certify=True)) == [alone[k] for k in order]
    assert answers(checker.motion_free(q0, q1, certify=True, workers=2)) == alone
    for k in range(0, n, 7):
        same = checker.motion_free(np.tile(q0[k], (30, 1)), np.tile(q1[k], (30, 1)), certify=True)
        assert answers(same) == [alone[k]] * 30
        one = checker.motion_free(q0[k], q1[k], certify=True)
        assert (int(one.status), one.safe, one.pair) == (int(alone[k][0]), alone[k][1], alone[k][3])
        path = checker.path_free([q0[k], q1[k]], certify=True)
        assert (int(path.status), path.pair) == (int(alone[k][0]), alone[k][3])
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda k: checker.motion_free(q0[k], q1[k], certify=True), range(0, n, 3)))
    assert [int(each.status) for each in found] == [int(alone[k][0]) for k in range(0, n, 3)]
    return np.array([row[0] for row in alone])


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
@pytest.mark.parametrize("geometry", ["hull", "bodies"])
def test_of_robots(name, geometry):
    one = Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name], geometry=geometry)
    checker = Checker(one, around())
    q = some(one, 400, 3)
    q0 = q[checker.free(q)][:20]
    assert len(q0) > 4
    step = np.random.default_rng(1).normal(size=q0.shape)
    q0, q1 = ends_near_contact(checker, q0, q0 + 2.0 * step / np.linalg.norm(step, axis=1)[:, None])
    status = asked_in_all_ways(lambda: Checker(one, around()), q0, q1)
    assert len(status) >= 18
    assert len(np.unique(status)) > 1


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_of_joints_without_limits(tmp_path, seed):
    one = random_robot(tmp_path, seed, ("continuous", "prismatic", "planar", "floating", "mimic"))
    one.allowed = []
    checker = Checker(one, around())
    q0, q1 = drawn(one, 40, seed), drawn(one, 40, seed + 50)
    free = checker.free(q0)
    q0, q1 = q0[free], q1[free]
    # some go far beyond what the others do
    q1[::5] = q0[::5] + 100.0 * (q1[::5] - q0[::5])
    near = ends_near_contact(checker, q0, q1)
    q0, q1 = np.concatenate([q0, near[0][:40]]), np.concatenate([q1, near[1][:40]])
    asked_in_all_ways(lambda: Checker(one, around()), q0, q1)


def test_of_what_no_kernel_answers(tmp_path):
    one = random_robot(tmp_path, 4)
    one.allowed = []
    torus = gk.Mesh.from_trimesh(trimesh.creation.torus(0.5, 0.1, 12, 8))
    points = gk.PointCloud(np.random.default_rng(0).uniform(-1.5, 1.5, (200, 3)), radius=0.02)

    def make():
        return Checker(one, {"ring": (torus, at(0.8, 0.0, 0.3)), "cloud": (points, np.eye(4))})

    q0, q1 = drawn(one, 60, 1), drawn(one, 60, 2)
    free = make().free(q0)
    q0, q1 = q0[free][:8], q1[free][:8]
    q0, q1 = np.concatenate([q0, q0]), np.concatenate([q1, q0 + 0.01 * (q1 - q0)])
    asked_in_all_ways(make, q0, q1)
