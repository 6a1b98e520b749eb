"""`gradient` of bodies, compared with finite differences of the signed distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import UnsupportedPair
from tests.bodies import every_kind
from tests.bodies.every_kind import CUBE, KINDS, Known
from tests.bodies.random_shapes import anywhere, at

BOX = Known(gk.Box((1, 0.5, 0.8)), [CUBE * (1, 0.5, 0.8)])
BALL = Known(gk.Sphere(0.4), [np.zeros((1, 3))], 0.4)
OBJECTS = {"ball": BALL, "box": BOX, **{name: make() for name, make in KINDS.items()}}
PAIRS = [
    (a, b) for a in OBJECTS for b in OBJECTS if (a, b) != ("ground", "ground") and not {a, b} <= {"ball", "box"}
]  # fmt: skip


def nudged(pose: Any, change: Any) -> Any:
    """Return a pose that is translated, and rotated about its own origin by a rotation vector, along world axes."""
    out = pose.copy()
    out[:3, :3] = Rotation.from_rotvec(change[3:]).as_matrix() @ pose[:3, :3]
    out[:3, 3] += change[:3]
    return out


def differences(a: Any, b: Any, pose_a: Any, pose_b: Any, step: float = 1e-6) -> tuple[Any, Any]:
    """Return central differences by the six parameters of each pose."""
    gradients = []
    for side in range(2):
        column = []
        for k in range(6):
            ends = []
            for sign in (1.0, -1.0):
                change = np.zeros(6)
                change[k] = sign * step
                poses = (nudged(pose_a, change), pose_b) if side == 0 else (pose_a, nudged(pose_b, change))
                ends.append(gk.signed_distance(a, b, *poses).distance)
            column.append((ends[0] - ends[1]) / (2.0 * step))
        gradients.append(np.array(column))
    return gradients[0], gradients[1]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_gradient_of_separated_bodies_is_the_slope_of_the_distance(one: str, other: str) -> None:
    a, b = OBJECTS[one].body, OBJECTS[other].body
    rng = np.random.default_rng(len(one) * 3 + len(other))
    count = 0
    while count < 2:
        pose_a, pose_b = anywhere(rng, 0.5), anywhere(rng, 0.5)
        if "ground" in (one, other):
            pose_a, pose_b = (np.eye(4), pose_b) if one == "ground" else (pose_a, np.eye(4))
            (pose_b if one == "ground" else pose_a)[2, 3] += 3.0
        else:
            pose_b[:3, 3] += 3.5 * rng.normal(size=3)
        result = gk.signed_distance(a, b, pose_a, pose_b)
        if result.distance < 0.05:
            continue
        count += 1
        slope = gk.gradient(result)
        by_a, by_b = differences(a, b, pose_a, pose_b)
        assert slope.b[:3] == pytest.approx(result.normal, abs=1e-9)
        assert slope.a[:3] == pytest.approx(-result.normal, abs=1e-9)
        if slope.unique:
            assert slope.a == pytest.approx(by_a, abs=2e-5)
            assert slope.b == pytest.approx(by_b, abs=2e-5)
        back = gk.gradient(gk.signed_distance(b, a, pose_b, pose_a))
        assert back.a == pytest.approx(slope.b, abs=1e-6)
        assert back.unique == slope.unique


def test_gradient_of_separated_bodies_is_mostly_unique() -> None:
    unique = []
    rng = np.random.default_rng(2)
    for name in ("mesh", "solid", "compound", "voxels", "cloud"):
        for _ in range(6):
            pose = anywhere(rng, 0.5)
            pose[:3, 3] += (4.0, 0.0, 0.0)
            unique.append(
                gk.gradient(gk.signed_distance(OBJECTS[name].body, gk.Ellipsoid((0.3, 0.5, 0.8)), None, pose)).unique
            )
    assert np.mean(unique) > 0.9


SOLID = every_kind.closed().body
PAIR = gk.Compound([(gk.Box((2, 2, 1)), at(0, 0, -0.5)), (gk.Box((1, 4, 2)), at(1.5, 0, 0))])
DEEP = {
    "a ball in a face of a mesh": (SOLID, gk.Sphere(0.3), at(0.4, 0.6, 1.2)),
    "a tilted box in a face": (
        gk.Compound([(gk.Box((4, 4, 1)), at(0, 0, -0.5))]),
        gk.Box((0.5, 0.6, 0.7)),
        at(0.2, 0.1, 0.4, rotation=Rotation.from_euler("xyz", (0.4, 0.5, 0.2))),
    ),
    "a ball of a cloud": (gk.PointCloud([(0, 0, 0), (2, 0, 0)], 0.5), gk.Sphere(0.4), at(0.3, 0.4, 0.5)),
    "a ball in the ground": (gk.HeightField(np.zeros((9, 9)), 1.0, (-4, -4)), gk.Sphere(0.4), at(0.3, 0.2, 0.3)),
    "a ball in a voxel": (gk.VoxelGrid(np.ones((2, 2, 2)), 1.0), gk.Sphere(0.4), at(1.2, 1.3, 2.3)),
}


@pytest.mark.parametrize("name", DEEP)
def test_gradient_of_overlapping_bodies_matches_differences(name: str) -> None:
    a, b, pose = DEEP[name]
    result = gk.signed_distance(a, b, None, pose)
    assert result.tight
    assert result.distance < -0.05
    slope = gk.gradient(result)
    by_a, by_b = differences(a, b, np.eye(4), pose)
    assert slope.unique
    assert slope.a == pytest.approx(by_a, abs=1e-4)
    assert slope.b == pytest.approx(by_b, abs=1e-4)
    back = gk.gradient(gk.signed_distance(b, a, pose, None))
    assert back.a == pytest.approx(slope.b, abs=1e-6)
    assert back.b == pytest.approx(slope.a, abs=1e-6)


def test_gradient_at_a_tie_is_not_unique() -> None:
    wall = gk.PointCloud([(-1, 0, 0), (1, 0, 0)], 0.1)
    assert not gk.gradient(gk.signed_distance(wall, gk.Sphere(0.2))).unique  # midway
    assert gk.gradient(gk.signed_distance(wall, gk.Sphere(0.2), None, at(0.01, 0, 0))).unique
    flat = gk.gradient(gk.signed_distance(SOLID, gk.Box((0.3, 0.3, 0.3)), None, at(0.5, 0.5, 2)))
    assert not flat.unique  # face over face
    assert flat.b[:3].tolist() == pytest.approx([0, 0, 1])
    assert gk.gradient(gk.signed_distance(SOLID, gk.Sphere(0.3), None, at(1.0, 0.5, 2))).unique  # over an inner edge
    corner = gk.gradient(gk.signed_distance(SOLID, gk.Sphere(0.3), None, at(1.4, 1.4, 0.5)))
    assert not corner.unique  # equally far from both walls


def test_gradient_of_planes_stacks_pairs_and_distance() -> None:
    floor = gk.Halfspace((0, 0, 1), -3.0)
    result = gk.signed_distance(OBJECTS["cloud"].body, floor)
    slope = gk.gradient(result)
    assert slope.unique
    by_a, by_b = differences(OBJECTS["cloud"].body, floor, np.eye(4), np.eye(4))
    assert slope.a == pytest.approx(by_a, abs=1e-5)
    assert slope.b == pytest.approx(by_b, abs=1e-5)
    poses = np.stack([at(0.4, 0.6, 1.2), at(0.4, 0.6, 2.2), at(5, 5, 5)])
    many = gk.gradient(gk.signed_distance(SOLID, gk.Sphere(0.3), None, poses))
    for k, pose in enumerate(poses):
        single = gk.gradient(gk.signed_distance(SOLID, gk.Sphere(0.3), None, pose))
        assert many.a[k].tolist() == single.a.tolist()
        assert many.unique[k] == single.unique
    pairs = gk.Pairs([SOLID, gk.Sphere(0.3), gk.Box((1, 1, 1))])
    mixed = gk.gradient(pairs.signed_distance([(0, 1), (1, 2)], np.stack([np.eye(4), at(0.4, 0.6, 2.2), at(9, 1, 2)])))
    assert mixed.b[0].tolist() == many.b[1].tolist()
    inside = gk.gradient(gk.distance(SOLID, gk.Sphere(0.3), None, poses[0]))
    assert not inside.b.any()
    assert not inside.unique
    about = gk.gradient(gk.signed_distance(SOLID, gk.Sphere(0.3), None, poses[1]), None, at(0, 0, 0))
    assert about.b[3:].tolist() == pytest.approx([0.6, -0.4, 0.0])


def test_result_with_an_invalid_shape_raises() -> None:
    result: Any = gk.signed_distance(SOLID, gk.Sphere(0.3), None, at(5, 0, 0))
    result.shape_a = "mesh"
    with pytest.raises(UnsupportedPair) as caught:
        gk.gradient(result, None, np.eye(4))
    assert_names(caught.value, "shape_a", "a str")
