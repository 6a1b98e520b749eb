"""Bounding capsules contain their shapes, and their lower bounds never exceed the signed distance."""

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


def distances_to_segment(points, ends):
    start, end = ends
    along = end - start
    square = along @ along
    t = np.clip((points - start) @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    return np.linalg.norm(points - start - t[:, None] * along, axis=1)


@pytest.mark.parametrize("name", SHAPES)
def test_capsule_contains_shape(name):
    capsule = bounding_capsule(SHAPES[name])
    points = SHAPES[name].support(unit_vectors(np.random.default_rng(1), 500))
    assert distances_to_segment(points, capsule[:6].reshape(2, 3)).max() <= capsule[6] * (1.0 + 1e-12)


def test_capsule_of_narrow_shape_is_narrow():
    assert bounding_capsule(SHAPES["beam"])[6] < 0.12
    assert bounding_capsule(SHAPES["line"])[6] < 1e-9
    assert bounding_capsule(SHAPES["dot"])[6] < 1e-9
    rod = bounding_capsule(SHAPES["rod"])
    assert rod[6] < 0.4 * gk.bounding_sphere(SHAPES["rod"]).radius


def lower_bound(a, b, pose_a, pose_b):
    _, floats, starts = pack_shapes([SHAPES[a], SHAPES[b]])
    floats, starts = with_bounds([SHAPES[a], SHAPES[b]], bounding_capsule, floats, starts)
    rows = np.array([[*pose[:3, :3].ravel(), *pose[:3, 3], 0.0] for pose in (pose_a, pose_b)])
    assert len(floats) == starts[-1, 2] + CAPSULE_SIZE
    return between_capsules(rows, floats, starts, 0, 1)


@pytest.mark.parametrize("a", SHAPES)
def test_bound_never_exceeds_signed_distance(a):
    rng = np.random.default_rng(2)
    close = 0
    for b in SHAPES:
        for _ in range(4):
            poses = np.tile(np.eye(4), (2, 1, 1))
            poses[:, :3, :3] = random_rotations(rng, 2)
            poses[1, :3, 3] = rng.normal(size=3) * rng.choice([0.3, 2.0, 8.0])
            bound = lower_bound(a, b, *poses)
            assert bound == pytest.approx(lower_bound(b, a, *poses[::-1]), abs=1e-6)
            result = gk.signed_distance(SHAPES[a], SHAPES[b], *poses)
            assert bound <= result.upper
            close += bound > result.lower - 0.5
    assert close > 5


def test_bound_of_degenerate_segments():
    pose = np.eye(4)
    radii = 2 * 0.2 * (1.0 + 1e-9)
    assert lower_bound("pill", "pill", pose, pose) == pytest.approx(-radii, abs=1e-9)
    for shift, gap in (((1.0, 0.0, 0.0), 1.0), ((0.0, 0.0, 3.0), 2.0), ((0.0, 3.0, 5.0), 5.0)):
        moved = np.eye(4)
        moved[:3, 3] = shift
        assert lower_bound("pill", "pill", pose, moved) == pytest.approx(gap - radii, abs=1e-7)
    moved[:3, 3] = 3.0, 0.0, 0.0
    assert lower_bound("ball", "ball", pose, moved) == pytest.approx(1.6, abs=1e-7)
