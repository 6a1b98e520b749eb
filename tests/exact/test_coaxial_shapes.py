"""`verify` for coaxial and concentric pairs, whose best normal is not unique: it proves only true depths."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from strategies import build
from test_verify import altered

import gjk3d as gk

PAIRS = {
    "pin in a bore": (("cylinder", 0.5, 3), ("cylinder", 0.75, 1)),
    "ball on a cone's axis": (("sphere", 0.25), ("cone", 1, 2)),
    "capsule in a rounded cone": (("capsule", 0.25, 1), ("inflated", ("cone", 1, 1.5), 0.125)),
    "spheroid in a cylinder": (("ellipsoid", (0.5, 0.5, 1)), ("cylinder", 0.6, 1.5)),
    "stretched capsules": (("scaled", ("capsule", 0.5, 1), (1, 1, 1.5)), ("scaled", ("capsule", 0.3, 1), (1, 1, 0.5))),
    "nearly balls": (("ellipsoid", (1, 1.001, 1.002)), ("ellipsoid", (2, 2.001, 2.002))),
    "cones, one upside down": (("cone", 1, 2), ("cone", 0.5, 2)),
}


def places(name, count=8):
    rng = np.random.default_rng(list(PAIRS).index(name))
    for k in range(count):
        common = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3)) if k else np.eye(4)
        local = np.eye(4)
        if name != "nearly balls":
            if k % 2:
                local[:3, 3] = (rng.uniform(0, 0.2), 0, rng.uniform(-0.2, 0.2))
            if "upside down" in name:
                local[:3, :3] = np.diag([1, -1, -1])
        yield common, common @ local


@pytest.mark.parametrize("name", PAIRS)
def test_true_depths_are_proven_and_false_depths_are_not(name):
    a, b = map(build, PAIRS[name])
    for at in places(name):
        result = gk.signed_distance(a, b, *at)
        assert result.tight
        verdict = gk.verify(result, a, b, *at)
        assert verdict, verdict
        assert verdict.lower <= result.upper
        assert result.lower <= verdict.upper
        deeper = altered(result, upper=np.nextafter(result.lower, 0), distance=np.nextafter(result.lower, -9))
        assert not gk.verify(deeper, a, b, *at)
        shallower = altered(result, lower=result.upper + 1e-9, upper=result.upper + 2e-9, distance=result.upper + 1e-9)
        assert gk.verify(shallower, a, b, *at).refuted


def test_depths_of_nearly_parallel_axes_are_proven():
    a, b = gk.Cylinder(0.5, 3), gk.Cone(0.75, 1)
    for angle in (1e-15, 1e-12, 1e-9, 1e-7):
        pose = np.eye(4)
        pose[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        result = gk.signed_distance(a, b, None, pose)
        assert gk.verify(result, a, b, None, pose)
