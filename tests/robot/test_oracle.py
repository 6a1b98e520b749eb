"""Robots compared with pinocchio and coal. ``python tests/robot/oracle.py`` compares 2000 configurations of each."""

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
    """The boolean, the signed distance to 1e-7, the nearest pair and the reported colliding pair agree with coal."""
    count = compare(name, 150)
    assert 0 < count.free < count.asked
    assert count.unique > 140
    assert count.settled < 15, "what coal itself gets wrong is little"


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize(("name", "count"), [("panda", 300), ("ur5", 300), ("tiago", 100)])
def test_bodies_collide_wherever_raw_meshes_collide(name, count):
    """If the triangles of the raw meshes collide in coal, the convex hulls of the bodies collide too."""
    oracle, reference = Oracle(name), twin(name)
    raw = pinocchio.buildGeomFromUrdf(
        reference.model,
        str(SHARE / URDFS[name]),
        pinocchio.GeometryType.COLLISION,
        package_dirs=[str(SHARE.parents[1])],
    )
    for pair in oracle.shapes.collisionPairs:
        raw.addCollisionPair(pair)
    data = pinocchio.GeometryData(raw)
    robot = made(name, "bodies")
    checker, hulls, q = Checker(robot), Checker(oracle.robot), some(robot, count, 3)
    free, free_of_hulls = checker.free(q), hulls.free(q)
    hit = np.array(
        [
            pinocchio.computeCollisions(reference.model, reference.data, raw, data, reference.numbers(row), True)
            for row in q
        ]
    )
    assert 0 < hit.sum() < count
    assert not (hit & free).any()
    assert not (~free & free_of_hulls).any(), "bodies lie in the hull"
    assert (free & ~hit).sum() > 0.5 * (~hit).sum(), "and most of what is free is found so"


def test_sampled_pairs_survive_srdf_round_trip(tmp_path):
    """Tiago Pro has no SRDF. The pairs that sampling allows are written as an SRDF and read again."""
    sampled = made("tiago")
    counts = sampled.allowed.counts()
    assert counts["never"] > 100
    assert counts["adjacent"] > 10
    sampled.to_srdf(tmp_path / "tiago.srdf")
    again = Robot.from_urdf(SHARE / URDFS["tiago"], tmp_path / "tiago.srdf", geometry="hull")
    assert list(again.allowed) == list(sampled.allowed)
    assert np.array_equal(again.pairs, sampled.pairs)
    q = some(sampled, 50, 4)
    assert np.array_equal(Checker(again).free(q), Checker(sampled).free(q))
