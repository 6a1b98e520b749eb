"""Boxes of configurations that `free_region` proves free."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import SHARE, SRDFS, URDFS

import gjk3d as gk
from gjk3d.errors import RobotError


def at(x, y, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def drawn(q, half, rng, count):
    """Return random configurations in a box, half of them at its corners."""
    sides = np.concatenate([rng.uniform(-1, 1, (count // 2, len(q))), rng.choice([-1.0, 1.0], (count // 2, len(q)))])
    return q + sides * np.where(np.isfinite(half), half, 3.0)


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_sampled_configurations_of_boxes_are_free(margin, rng):
    around = {
        "pole": (gk.Cylinder(0.1, 1.0), at(0.0, 1.2)),
        "mesh": (gk.Mesh(*gk.Box((0.2, 0.3, 0.2)).surface()[:2]), at(-1.2, 0.5)),
        "cloud": (gk.PointCloud(rng.normal(size=(200, 3)) * 0.05, 0.02), at(0.8, -1.0)),
    }
    checker = gk.robot.Checker(gk.robot.Robot.example(), around)
    q = rng.uniform(-2.5, 2.5, (12, 2))
    boxes = checker.free_region(q, margin=margin)
    checker.margin = margin
    free = checker.free(q)
    assert ((boxes > 0.0).all(axis=1) <= free).all()
    assert (boxes[free] > 0.0).mean() > 0.8
    for center, half in zip(q[free], boxes[free], strict=True):
        assert checker.free(drawn(center, half, rng, 10_000)).all()
    assert np.array_equal(checker.free_region(q[0], margin=0.0), checker.free_region(q[:1])[0])


def test_weights_widen_box_of_panda(rng):
    robot = gk.robot.Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"], geometry="hull")
    checker = gk.robot.Checker(robot, {"shelf": (gk.Box((0.5, 1.2, 0.05)), at(0.75, 0.0, 0.2))})
    q = robot.state("default")
    half = checker.free_region(q)
    assert (half > 0.005).all()
    assert checker.free(drawn(q, half, rng, 2000)).all()
    weights = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.01])
    wide = checker.free_region(q, weights=weights)
    assert wide[0] > half[0]
    assert checker.free(drawn(q, wide, rng, 2000)).all()


def test_box_of_colliding_configuration_is_empty():
    checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), at(1.0, 0.0))})
    assert checker.free_region([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert checker.free_region(np.empty((0, 2))).shape == (0, 2)
    empty = gk.robot.Checker(gk.robot.Robot.example())
    assert (empty.free_region([0.0, 0.0]) > 0.0).all()


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, np.inf], [-1.0, 1.0]])
def test_invalid_weights_raise(weights):
    with pytest.raises(RobotError, match=r"weights is \[.*expected 2 numbers above 0"):
        gk.robot.Checker(gk.robot.Robot.example()).free_region([0.0, 0.0], weights=weights)
