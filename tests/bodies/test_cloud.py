"""Clouds of points in collide, distance and signed_distance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

import gjk3d as gk
from gjk3d.errors import ShapeError
from tests.bodies.places import Array, anywhere, at, check_against_parts, some_compound, some_shape


def balls(cloud: gk.PointCloud) -> list[tuple[gk.Sphere, Array]]:
    return [(gk.Sphere(cloud.radius), at(*point)) for point in cloud.points]


@pytest.mark.parametrize("seed", range(3))
def test_against_every_ball(seed: int) -> None:
    rng = np.random.default_rng(seed)
    met = []
    for k in range(14):
        cloud = gk.PointCloud(rng.normal(size=(25, 3)) * 0.5, 0.1)
        other = (some_shape(rng), some_compound(rng, 3, 0.5), gk.PointCloud(rng.normal(size=(20, 3)), 0.15))[k % 3]
        parts = balls(other) if k % 3 == 2 else other.parts if k % 3 == 1 else [(other, np.eye(4))]
        met.append(check_against_parts(cloud, balls(cloud), other, parts, anywhere(rng, 0.3), anywhere(rng, 1.5)))
    assert 0.2 < np.mean(met) < 0.9


def test_a_large_cloud_against_a_tree_of_points() -> None:
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (200_000, 3))
    cloud, tree = gk.PointCloud(points, 0.002), cKDTree(points)
    met = []
    for place in rng.uniform(-1.2, 1.2, (40, 3)):
        radius = 0.02
        truth = tree.query(place)[0] - 0.002 - radius
        answer = gk.distance(cloud, gk.Sphere(radius), None, at(*place))
        met.append(bool(truth < 0))
        assert answer.distance == pytest.approx(max(truth, 0), abs=1e-12)
        assert gk.collide(cloud, gk.Sphere(radius), None, at(*place)) == met[-1]
    assert 0.1 < np.mean(met) < 0.9


def test_two_large_clouds() -> None:
    rng = np.random.default_rng(6)
    one, two = rng.normal(size=(5000, 3)), rng.normal(size=(4000, 3))
    pose = anywhere(rng, 0.2)
    pose[:3, 3] += 6
    placed = two @ pose[:3, :3].T + pose[:3, 3]
    truth = cKDTree(one).query(placed)[0].min()
    a, b = gk.PointCloud(one, 0), gk.PointCloud(two, 0)
    assert gk.distance(a, b, None, pose).distance == pytest.approx(truth, abs=1e-12)
    assert gk.distance(b, a, pose).distance == pytest.approx(truth, abs=1e-12)
    assert gk.collide(a, b, None, pose, margin=truth * 1.001)
    assert not gk.collide(a, b, None, pose, margin=truth * 0.999)


def test_points_inside_a_mesh_touch_it() -> None:
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12)
    mesh = gk.Mesh(torus.vertices, torus.faces)
    rng = np.random.default_rng(7)
    points = rng.uniform(-1.3, 1.3, (300, 3)) * (1, 1, 0.3)
    inside = mesh.contains(points)
    assert 0.1 < inside.mean() < 0.9
    for point, within in zip(points[:60], inside[:60], strict=True):
        assert gk.collide(mesh, gk.PointCloud([point], 0)) == within
    assert not gk.collide(gk.PointCloud(points[~inside], 0), mesh)
    assert gk.collide(gk.PointCloud(points, 0), mesh)
    deep = gk.signed_distance(mesh, gk.PointCloud([(1, 0, 0)], 0.05))
    assert deep.lower <= -0.3 <= deep.upper + 0.02
    assert deep.upper < -0.25


@pytest.mark.parametrize(
    ("points", "radius", "message"),
    [
        (np.zeros((0, 3)), 1, "points is empty"),
        ([], 1, "points is empty"),
        ([(0, 0, np.nan)], 1, r"points\[0\] is \[0.0, 0.0, nan\]"),
        ([(0, 0)], 1, r"points has shape \(1, 2\), expected \(n, 3\)"),
        ([(0, 0, 0)], -1, "radius is -1, expected at least 0"),
        ([(0, 0, 0)], np.nan, "radius is nan"),
    ],
)
def test_what_is_no_cloud_is_refused(points: object, radius: float, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        gk.PointCloud(points, radius)


def test_clouds_are_compared_and_pickled() -> None:
    cloud = gk.PointCloud([(0, 0, 0), (2, 0, 0)], 0.5)
    again = pickle.loads(pickle.dumps(cloud))
    assert again == cloud
    assert hash(again) == hash(cloud)
    assert len(cloud) == 2
    assert cloud.bounds == pytest.approx(np.array([[-0.5] * 3, [2.5, 0.5, 0.5]]))
    assert gk.collide(cloud.hull(), gk.Point((1, 0.4, 0)))
    assert gk.signed_distance(cloud, gk.Halfspace((0, 0, 1), -1)).distance == pytest.approx(0.5)
    with pytest.raises(ValueError, match="read-only"):
        cloud.points[0] = 1
