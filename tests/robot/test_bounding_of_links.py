"""Capsules round shapes: they hold them, and what they prove of two is never more than their distance."""

from __future__ import annotations

import numpy as np
import pytest
from naive import random_rotations, unit_vectors

import gjk3d as gk
from gjk3d.convex.batch import pack_shapes
from gjk3d.robot.bodies import CAPSULE_SIZE, between_capsules, bounding_capsule, with_bounds

RNG = np.random.default_rng(4)
SHAPES = {
    "beam": gk.Box((0.1, 0.2, 1.5)),
    "cube": gk.Box((1.0, 1.0, 1.0)),
    "rod": gk.ConvexHull(RNG.normal(size=(60, 3)) * (2.0, 0.2, 0.3) + (5.0, 0.0, 1.0)),
    "leaf": gk.ConvexHull(RNG.normal(size=(20, 3)) * (1.0, 1.0, 0.0)),
    "line": gk.ConvexHull([(0, 0, 0), (1, 2, 3)]),
    "dot": gk.ConvexHull([(1, 2, 3)]),
    "drum": gk.Cylinder(0.5, 0.4),
    "pill": gk.Capsule(0.2, 1.0),
    "ball": gk.Sphere(0.7),
    "cone": gk.Cone(0.5, 1.0),
    "pebble": gk.Ellipsoid((0.3, 0.5, 0.9)),
    "round box": gk.Box((0.3, 0.4, 0.5)).inflated(0.1),
}


def to_segment(points, ends):
    start, end = ends
    along = end - start
    square = along @ along
    t = np.clip((points - start) @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    return np.linalg.norm(points - start - t[:, None] * along, axis=1)


@pytest.mark.parametrize("name", SHAPES)
def test_it_holds_the_shape(name):
    capsule = bounding_capsule(SHAPES[name])
    points = SHAPES[name].support(unit_vectors(np.random.default_rng(1), 500))
    assert to_segment(points, capsule[:6].reshape(2, 3)).max() <= capsule[6] * (1.0 + 1e-12)


def test_it_is_narrow_where_the_shape_is():
    assert bounding_capsule(SHAPES["beam"])[6] < 0.12
    assert bounding_capsule(SHAPES["line"])[6] < 1e-9
    assert bounding_capsule(SHAPES["dot"])[6] < 1e-9
    rod = bounding_capsule(SHAPES["rod"])
    assert rod[6] < 0.4 * gk.bounding_sphere(SHAPES["rod"]).radius


def asked(a, b, pose_a, pose_b):
    _, floats, starts = pack_shapes([SHAPES[a], SHAPES[b]])
    floats, starts = with_bounds([SHAPES[a], SHAPES[b]], bounding_capsule, floats, starts)
    rows = np.array([[*pose[:3, :3].ravel(), *pose[:3, 3], 0.0] for pose in (pose_a, pose_b)])
    assert len(floats) == starts[-1, 2] + CAPSULE_SIZE
    return between_capsules(rows, floats, starts, 0, 1)


@pytest.mark.parametrize("a", SHAPES)
def test_a_bound_of_the_signed_distance(a):
    rng = np.random.default_rng(2)
    close = 0
    for b in SHAPES:
        for _ in range(4):
            poses = np.tile(np.eye(4), (2, 1, 1))
            poses[:, :3, :3] = random_rotations(rng, 2)
            poses[1, :3, 3] = rng.normal(size=3) * rng.choice([0.3, 2.0, 8.0])
            bound = asked(a, b, *poses)
            assert bound == pytest.approx(asked(b, a, *poses[::-1]), abs=1e-6)
            found = gk.signed_distance(SHAPES[a], SHAPES[b], *poses)
            assert bound <= found.upper
            close += bound > found.lower - 0.5
    assert close > 5


def test_segments_that_are_parallel_meet_or_are_points():
    pose = np.eye(4)
    radii = 2 * 0.2 * (1.0 + 1e-9)
    assert asked("pill", "pill", pose, pose) == pytest.approx(-radii, abs=1e-9)
    for shift, gap in (((1.0, 0.0, 0.0), 1.0), ((0.0, 0.0, 3.0), 2.0), ((0.0, 3.0, 5.0), 5.0)):
        moved = np.eye(4)
        moved[:3, 3] = shift
        assert asked("pill", "pill", pose, moved) == pytest.approx(gap - radii, abs=1e-7)
    moved[:3, 3] = 3.0, 0.0, 0.0
    assert asked("ball", "ball", pose, moved) == pytest.approx(1.6, abs=1e-7)
