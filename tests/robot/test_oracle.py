"""Robots as pinocchio and coal see them; ``python tests/robot/oracle.py`` asks 2000 configurations of each."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from example_robots import SHARE, URDFS, some, twin
from oracle import ROBOTS, Oracle, compare, made

from gjk3d.robot import Checker, Robot


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize("name", ROBOTS)
def test_hulls_agree_with_coal(name):
    """Boolean, signed minimum distance to 1e-7, nearest pair, and the pair that is named as a hit."""
    count = compare(name, 150)
    assert 0 < count.free < count.asked
    assert count.unique > 140
    assert count.settled < 15, "what coal itself gets wrong is little"


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize(("name", "count"), [("panda", 300), ("ur5", 300), ("tiago", 100)])
def test_bodies_miss_nothing_of_the_raw_meshes(name, count):
    """Triangles against triangles in coal: what they hit, the hulls of the bodies hit too."""
    oracle, other = Oracle(name), twin(name)
    raw = pinocchio.buildGeomFromUrdf(
        other.model, str(SHARE / URDFS[name]), pinocchio.GeometryType.COLLISION, package_dirs=[str(SHARE.parents[1])]
    )
    for pair in oracle.shapes.collisionPairs:
        raw.addCollisionPair(pair)
    data = pinocchio.GeometryData(raw)
    robot = made(name, "bodies")
    checker, hulls, q = Checker(robot), Checker(oracle.robot), some(robot, count, 3)
    free, free_of_hulls = checker.free(q), hulls.free(q)
    hit = np.array(
        [pinocchio.computeCollisions(other.model, other.data, raw, data, other.numbers(row), True) for row in q]
    )
    assert 0 < hit.sum() < count
    assert not (hit & free).any()
    assert not (~free & free_of_hulls).any(), "bodies lie in the hull"
    assert (free & ~hit).sum() > 0.5 * (~hit).sum(), "and most of what is free is found so"


def test_pairs_of_a_robot_without_an_srdf_are_kept(tmp_path):
    """Tiago Pro has none: what sampling finds is written as one, and read again."""
    one = made("tiago")
    counts = one.allowed.counts()
    assert counts["never"] > 100
    assert counts["adjacent"] > 10
    one.to_srdf(tmp_path / "tiago.srdf")
    again = Robot.from_urdf(SHARE / URDFS["tiago"], tmp_path / "tiago.srdf", geometry="hull")
    assert list(again.allowed) == list(one.allowed)
    assert np.array_equal(again.pairs, one.pairs)
    q = some(one, 50, 4)
    assert np.array_equal(Checker(again).free(q), Checker(one).free(q))
