"""Point clouds in collide, distance and signed_distance."""

from __future__ import annotations

import pickle
from math import inf

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from scipy.spatial import cKDTree

import gjk3d as gk
from gjk3d.bodies.bvh import parted_points
from gjk3d.errors import ShapeError
from tests.bodies.random_shapes import Array, anywhere, at, check_against_parts, some_compound, some_shape


def balls(cloud: gk.PointCloud) -> list[tuple[gk.Sphere, Array]]:
    return [(gk.Sphere(cloud.radius), at(*point)) for point in cloud.points]


@pytest.mark.parametrize("seed", range(3))
def test_cloud_equals_its_balls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    met = []
    for k in range(14):
        cloud = gk.PointCloud(rng.normal(size=(25, 3)) * 0.5, 0.1)
        other = (some_shape(rng), some_compound(rng, 3, 0.5), gk.PointCloud(rng.normal(size=(20, 3)), 0.15))[k % 3]
        parts = balls(other) if k % 3 == 2 else other.parts if k % 3 == 1 else [(other, np.eye(4))]
        met.append(check_against_parts(cloud, balls(cloud), other, parts, anywhere(rng, 0.3), anywhere(rng, 1.5)))
    assert 0.2 < np.mean(met) < 0.9


def test_large_cloud_distances_equal_those_of_a_kd_tree() -> None:
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


def test_distance_of_two_large_clouds_equals_that_of_a_kd_tree() -> None:
    rng = np.random.default_rng(6)
    points_a, points_b = rng.normal(size=(5000, 3)), rng.normal(size=(4000, 3))
    pose = anywhere(rng, 0.2)
    pose[:3, 3] += 6
    placed = points_b @ pose[:3, :3].T + pose[:3, 3]
    truth = cKDTree(points_a).query(placed)[0].min()
    a, b = gk.PointCloud(points_a, 0), gk.PointCloud(points_b, 0)
    assert gk.distance(a, b, None, pose).distance == pytest.approx(truth, abs=1e-12)
    assert gk.distance(b, a, pose).distance == pytest.approx(truth, abs=1e-12)
    assert gk.collide(a, b, None, pose, margin=truth * 1.001)
    assert not gk.collide(a, b, None, pose, margin=truth * 0.999)


def test_points_inside_a_mesh_collide() -> None:
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
    ("points", "radius", "fragments"),
    [
        (np.zeros((0, 3)), 1, ("points", "empty")),
        ([], 1, ("points", "empty")),
        ([(0, 0, np.nan)], 1, ("points[0]", "nan")),
        ([(0, 0, 0), (0, np.inf, 0)], 1, ("1 of 2", "gk.PointCloud.from_sensor(points, radius)")),
        ([(0, 0)], 1, ("points", "(1, 2)", "(n, 3)")),
        ([(0, 0, 0)], -1, ("radius", "-1")),
        ([(0, 0, 0)], np.nan, ("radius", "nan")),
    ],
)
def test_invalid_clouds_raise(points: object, radius: float, fragments: tuple[str, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        gk.PointCloud(points, radius)
    assert_names(caught.value, *fragments)


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


def test_from_sensor_drops_nonfinite_points() -> None:
    image = np.random.default_rng(0).normal(size=(8, 6, 3)).astype(np.float32)
    image[2, 3, 0], image[0, 0], image[7, 5, 2] = np.nan, -np.inf, np.inf
    cloud, dropped = gk.PointCloud.from_sensor(image, 0.01)
    every = image.reshape(-1, 3)
    assert dropped == 3
    assert np.array_equal(cloud.points, every[np.isfinite(every).all(axis=1)])
    assert gk.PointCloud.from_sensor([(1, 2, 3)], 0.5) == (gk.PointCloud([(1, 2, 3)], 0.5), 0)
    for points, fragments in (
        (np.full((4, 3), np.nan), ("4 points", "finite")),
        (np.zeros((0, 3)), ("0 points", "finite")),
        (np.zeros((4, 2)), ("points", "(4, 2)")),
        ([(1, 2), (1, 2, 3)], ("points", "dtype object")),
        ("no", ("points", "dtype <U2")),
    ):
        with pytest.raises(ShapeError) as caught:
            gk.PointCloud.from_sensor(points, 0.01)
        assert_names(caught.value, *fragments)


@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300), pitch=st.sampled_from([1e-3, 0.1, 0.7, 5.0]),
    far=st.sampled_from([0.0, 1e4]), size=st.sampled_from([1.0, 1e-9, 1e9]),
)  # fmt: skip
def test_thinned_cloud_contains_the_original(seed: int, count: int, pitch: float, far: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    points = size * (rng.normal(size=(count, 3)) + far)
    points[rng.integers(0, count, count // 3)] = points[0]
    cloud = gk.PointCloud(points, size * 0.01 * rng.integers(0, 2))
    if (np.abs(points).max() / (size * pitch)) >= 2**19:
        with pytest.raises(ShapeError, match="pitch"):
            cloud.thinned(size * pitch)
        return
    few = cloud.thinned(size * pitch)
    more = few.radius - cloud.radius
    cells = np.floor(points / (size * pitch))
    assert len(few) == len(np.unique(cells, axis=0))
    assert {tuple(row) for row in few.points.tolist()} <= {tuple(row) for row in points.tolist()}
    distances = np.linalg.norm(points[:, None] - few.points[None], axis=2)
    same = (cells[:, None] == np.floor(few.points / (size * pitch))[None]).all(axis=2)
    assert (same.sum(axis=1) == 1).all()
    assert distances[same].max() <= more * (1 + 1e-15)
    assert more <= size * pitch * 3**0.5 * (1 + 1e-12) + 1e-14 * size * (1 + far)


@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 400), exponent=st.sampled_from([0, -40, 40]),
    far=st.sampled_from([0.0, 1e6]), kind=st.integers(0, 3),
)  # fmt: skip
def test_tree_boxes_contain_their_points(seed: int, count: int, exponent: int, far: float, kind: int) -> None:
    """The points are random, flat, coincident or hard to halve, and each occurs once in the returned order."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    if kind == 1:
        points[:, 2] = 0.0
    if kind == 2:
        points[:] = points[0]
    if kind == 3:
        points = 2.0 ** -np.arange(count, dtype=np.float64)[:, None] * (1, 1, 1)
    points = 10.0**exponent * (points + far)
    places, order, links, boxes = parted_points(points, 4)
    assert sorted(order.tolist()) == list(range(count))
    assert np.array_equal(places, points[order])
    leaves = 0
    for (first, start, size), box in zip(links.tolist(), boxes, strict=True):
        assert (np.abs(places[start : start + size] - box[:3]) <= box[3:6]).all()
        assert np.array_equal(box[6:].reshape(3, 3), np.eye(3))
        if first < 0:
            leaves += size
            assert size <= 4
        else:
            assert links[first, 1] == start
            assert links[first + 1, 1] == start + links[first, 2]
            assert links[first, 2] + links[first + 1, 2] == size
    assert leaves == count


@pytest.mark.parametrize("radius", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_signed_distances_are_those_of_the_nearest_ball(radius: float, scale: float) -> None:
    rng = np.random.default_rng(5)
    cloud = gk.PointCloud(scale * rng.normal(size=(500, 3)), scale * radius)
    pose = anywhere(rng, 2.0 * scale)
    points = scale * rng.normal(size=(300, 3)) * rng.choice([0.5, 2.0, 20.0], (300, 1))
    centres = cloud.points @ pose[:3, :3].T + pose[:3, 3]
    gaps = np.linalg.norm(points[:, None] - centres, axis=2) - cloud.radius
    nearest, gap = centres[gaps.argmin(axis=1)], gaps.min(axis=1)
    outside = gap > 1e-9 * scale
    assert outside.sum() > 50
    for most in (inf, 3.0 * scale):
        result = cloud.signed_distances(points, pose=pose, max_distance=most)
        near = outside & (gap < most)
        away = (points - nearest) / (gap + cloud.radius)[:, None]
        assert (result.inside == (gap < 0.0)).all()
        assert (result.lower[near] <= gap[near] + 1e-14 * scale).all()
        assert (gap[near] <= result.upper[near] + 1e-14 * scale).all()
        assert (result.upper - result.lower)[near].max() < 1e-11 * scale
        np.testing.assert_allclose(result.normal[near], away[near], atol=1e-9)
        np.testing.assert_allclose(result.point[near], (nearest + cloud.radius * away)[near], atol=1e-12 * scale)
        assert np.isinf(result.distance[gap > most]).all()
        assert (result.lower[gap > most] == most).all()
        assert (result.face == -1).all()


def test_signed_distances_near_the_surface_of_a_ball() -> None:
    """The error is about 2e-14. Within 8 errors of the surface, the result is that of a single query."""
    cloud = gk.PointCloud([(0.0, 0.0, 0.0), (5.0, 0.0, 0.0)], 0.5)
    heights = np.array([-1e-3, -1e-13, -1e-14, 0.0, 1e-14, 1e-13, 1e-12, 1e-3])
    points = np.column_stack([0.0 * heights, 0.0 * heights, 0.5 + heights])
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    for stack in (None, poses):
        result = cloud.signed_distances(points, pose=stack)
        assert (result.lower <= heights).all()
        assert (heights <= result.upper).all()
        np.testing.assert_allclose(result.normal, [(0.0, 0.0, 1.0)] * len(points), atol=1e-9)
        for k, point in enumerate(points[:6]):
            single = gk.signed_distance(cloud, gk.Point(point))
            values = result.distance[k], result.lower[k], result.upper[k]
            assert values == pytest.approx((single.distance, single.lower, single.upper), rel=1e-12, abs=1e-16)


def test_few_points_do_not_build_the_wide_tree() -> None:
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(1000, 3)), 0.01)
    cloud.signed_distances(np.zeros((15, 3)))
    assert "_wide_tree" not in cloud._cache
    few = cloud.signed_distances(np.full((15, 3), 2.0))
    many = cloud.signed_distances(np.full((16, 3), 2.0))
    assert "_wide_tree" in cloud._cache
    assert few.lower[0] <= many.upper[0]
    assert many.lower[0] <= few.upper[0]
