"""Derivatives by pose agree with central differences, and kinks are marked as not unique."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES, build, random_poses

import gjk3d as gk
from gjk3d.errors import PoseError, ShapeError


def moved(poses, steps):
    """Return poses (n, 4, 4) moved by (n, 6): a translation, and a rotation vector about the origin of the pose."""
    out = poses.copy()
    out[:, :3, 3] += steps[:, :3]
    out[:, :3, :3] = Rotation.from_rotvec(steps[:, 3:]).as_matrix() @ out[:, :3, :3]
    return out


def differences(a, b, poses_a, poses_b, side, h):
    """Return forward and backward difference quotients (2, n, 6) by the pose of one side, for a step h."""
    slopes = np.empty((2, len(poses_a), 6))
    start = gk.signed_distance(a, b, poses_a, poses_b).distance
    for k in range(6):
        for way, sign in enumerate((1.0, -1.0)):
            step = np.zeros((len(poses_a), 6))
            step[:, k] = sign * h
            poses = (moved(poses_a, step), poses_b) if side == 0 else (poses_a, moved(poses_b, step))
            slopes[way, :, k] = sign * (gk.signed_distance(a, b, *poses).distance - start) / h
    return slopes


@pytest.mark.parametrize("pair", CHOSEN_PAIRS, ids=" and ".join)
def test_gradient_agrees_with_central_differences(pair):
    """The gradient is the mean of forward and backward slopes where they agree, and lies between them elsewhere."""
    spec_a, spec_b = (SHAPES[name] for name in pair)
    a, b = build(spec_a), build(spec_b)
    poses_a, poses_b = random_poses(np.random.default_rng(17), spec_a, spec_b, 40)
    result = gk.signed_distance(a, b, poses_a, poses_b)
    gradient = gk.gradient(result)
    size = max(0.5, gk.bounding_sphere(a).radius + gk.bounding_sphere(b).radius)
    h = 1e-5
    # the curvature of the distance grows as 1 / distance, and distances of curved shapes are accurate to 1e-9
    clear = gradient.unique & (np.abs(result.distance) > 1e-3 * size)
    for side, slopes in enumerate((gradient.a, gradient.b)):
        forward, backward = differences(a, b, poses_a, poses_b, side, h)
        inside = clear & (np.abs(forward - backward).max(axis=1) < 0.05)
        assert inside.sum() >= 0.9 * clear.sum()
        np.testing.assert_allclose(slopes[inside], (0.5 * (forward + backward))[inside], rtol=0, atol=2e-3 * size)
        # at a kink the gradient lies between the two slopes, up to the curvature of the distance
        plain = np.abs(slopes - 0.5 * (forward + backward)) <= 0.5 * np.abs(forward - backward) + 2e-3 * size
        assert plain[clear].all()


def test_gradients_of_random_poses_are_mostly_unique(rng):
    """Gradients are unique for nearly all separated random poses and for many overlapping ones."""
    shares = []
    for name_a, name_b in CHOSEN_PAIRS:
        a, b = build(SHAPES[name_a]), build(SHAPES[name_b])
        result = gk.signed_distance(a, b, *random_poses(rng, SHAPES[name_a], SHAPES[name_b], 120))
        gradient = gk.gradient(result)
        separated = result.distance > 1e-3
        shares.append((gradient.unique[separated].mean(), gradient.unique[result.distance < -1e-3].sum()))
    assert np.mean([share for share, _ in shares]) > 0.98
    assert np.sum([deep for _, deep in shares]) > 500


def at(*translation):
    return naive.pose(None, translation)


def turned(axis, angle, *translation):
    return naive.pose(Rotation.from_rotvec(angle * np.asarray(axis, float)).as_matrix(), translation)


CUBE, ROD = gk.Box((2, 2, 2)), gk.Capsule(0.25, 2)
TIES = {
    "face on face": (CUBE, CUBE, at(0.3, 0.2, 2.5)),
    "faces overlapping": (CUBE, CUBE, at(0.3, 0.2, 1.5)),
    "face on face touching": (CUBE, CUBE, at(0.3, 0.2, 2)),
    "edge on face": (CUBE, CUBE, turned((1, 0, 0), np.pi / 4, 0, 0, 3)),
    "edge along edge": (CUBE, CUBE, at(0.5, 2.5, 2.5)),
    "rod on face": (CUBE, ROD, turned((1, 0, 0), np.pi / 2, 0, 0, 2)),
    "rod along rod": (ROD, ROD, at(1, 0, 0.3)),
    "cap on face": (CUBE, gk.Cylinder(0.5, 1), at(0.1, 0.2, 2)),
    "cylinder lying": (CUBE, gk.Cylinder(0.5, 1), turned((1, 0, 0), np.pi / 2, 0.1, 0.2, 2)),
    "concentric balls": (gk.Sphere(1), gk.Sphere(0.5), at(0, 0, 0)),
    "ball in the middle of a cube": (CUBE, gk.Sphere(0.5), at(0, 0, 0)),
    "ball on a cube's diagonal": (CUBE, gk.Sphere(0.5), at(0.5, 0.5, 0)),
    "corner on corner": (CUBE, CUBE, at(2, 2, 2)),
    "points that coincide": (gk.Point((0, 0, 0)), gk.Point((0, 0, 0)), at(0, 0, 0)),
    "identical": (CUBE, CUBE, at(0, 0, 0)),
    "on the ground": (gk.Halfspace((0, 0, 1), 0), CUBE, at(0, 0, 1.5)),
    "ball on an axis": (ROD, gk.Sphere(0.1), at(0, 0, 0.2)),
}
UNIQUE = {
    "corner above face": (CUBE, CUBE, turned((1, 0.3, 0.1), 0.7, 0, 0, 4)),
    "corner in face": (CUBE, CUBE, turned((1, 0.3, 0.1), 0.7, 0, 0, 2)),
    "ball above face": (CUBE, gk.Sphere(0.5), at(0.1, 0.2, 3)),
    "ball in a face": (CUBE, gk.Sphere(0.5), at(0.1, 0.2, 1.2)),
    "ball at a corner": (CUBE, gk.Sphere(0.5), at(2, 2, 2)),
    "rods across": (ROD, ROD, turned((0, 1, 0), np.pi / 2, 0, 1, 0)),
    "two points": (gk.Point((0, 0, 0)), gk.Point((0, 0, 0)), at(1, 2, 3)),
    "ball over the ground": (gk.Halfspace((0, 0, 1), 0), gk.Sphere(0.3), at(0, 0, 1)),
    "ball in the ground": (gk.Halfspace((0, 0, 1), 0), gk.Sphere(0.3), at(0, 0, 0.1)),
    "ellipsoids": (gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((1, 0.5, 0.7)), at(2, 2, 2)),
}


@pytest.mark.parametrize("name", TIES)
def test_ties_are_not_unique(name, rng):
    a, b, pose = TIES[name]
    for result in (gk.signed_distance(a, b, None, pose), gk.signed_distance(b, a, pose, None)):
        assert gk.gradient(result).unique is False
    # the same pair moved as a whole
    world = naive.pose(naive.random_rotations(rng, 1)[0], (3.0, -1.0, 2.0))
    assert not gk.gradient(gk.signed_distance(a, b, world, world @ pose)).unique


@pytest.mark.parametrize("name", UNIQUE)
def test_unique_gradients_are_marked_unique(name):
    a, b, pose = UNIQUE[name]
    for result in (gk.signed_distance(a, b, None, pose), gk.signed_distance(b, a, pose, None)):
        assert gk.gradient(result).unique is True


def test_crossing_edges_are_unique_and_parallel_edges_are_not():
    for height in (3.5, 2.8):  # separated, overlapping
        for angle, expected in ((0.0, False), (1e-9, False), (0.1, True), (np.pi / 2, True)):
            below = turned((0, 1, 0), np.pi / 4, 0, 0, 0)
            above = turned((0, 0, 1), angle, 0, 0, height) @ below
            result = gk.signed_distance(CUBE, CUBE, below, above)
            assert (result.distance > 0) is (height > 3)
            assert gk.gradient(result).unique is expected


def facets_of_difference(points_a, points_b):
    """Return the unit normals and offsets of the facets of A - B, without duplicates."""
    planes = ConvexHull((points_a[:, None] - points_b[None]).reshape(-1, 3)).equations
    _, first = np.unique(planes.round(9), axis=0, return_index=True)
    return planes[first, :3], -planes[first, 3]


@pytest.mark.parametrize("seed", range(8))
def test_equal_depths_along_two_facets_are_ties(seed):
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(count, 3)) * rng.uniform(0.3, 1.5, 3) for count in (12, 9)]
    a, b = map(gk.ConvexHull, points)
    normals, offsets = facets_of_difference(*points)
    size = sum(np.linalg.norm(cloud, axis=1).max() for cloud in points)
    tied = 0
    for start in rng.normal(size=(400, 3)) * 0.3 * size:
        i, j = np.argsort(offsets - normals @ start)[:2]
        across = normals[i] - normals[j]  # a shift along it makes the depths of the two facets equal
        shift = start + across * (offsets[i] - offsets[j] - across @ start) / (across @ across)
        depths = offsets - normals @ shift
        others = np.delete(depths, [i, j]).min()
        if not 1e-3 * size < depths[i] < others - 1e-3 * size:
            continue
        tied += 1
        result = gk.signed_distance(a, b, None, at(*shift))
        assert result.distance == pytest.approx(-depths[i], abs=1e-12 * size)
        assert gk.gradient(result).unique is False
        bisector = 0.5 * np.linalg.norm(across)  # next to the bisector one depth is smaller
        for step in (1e-2, 1e-3):
            clear = gk.signed_distance(a, b, None, at(*(shift + step * size * across / np.linalg.norm(across))))
            gap = np.sort(offsets - normals @ clear.pose_b[:3, 3])
            if gap[1] - gap[0] > 1e-4 * size * bisector:
                assert gk.gradient(clear).unique is True
    assert tied >= 3


@pytest.mark.parametrize("angle", [1.0, 0.1, 1e-2, 1e-3])
def test_point_below_roof_ridge_is_a_tie(angle):
    eaves = 1.0 - np.tan(0.5 * angle)
    roof = np.array([(x, y, z) for y in (-1, 1) for x, z in ((-1, -5), (1, -5), (-1, eaves), (1, eaves), (0, 1))])
    hull, bare = gk.ConvexHull(roof), gk.Point()
    for turn in naive.random_rotations(np.random.default_rng(1), 5):
        world = naive.pose(turn, (0.3, 0.2, 0.1))
        for height in (0.9, 0.6):
            below, off = (gk.signed_distance(hull, bare, world, world @ at(x, 0.1, height)) for x in (0, 0.05))
            assert below.distance < 0
            assert gk.gradient(below).unique is False
            assert gk.gradient(off).unique is True


def test_gradient_is_not_unique_within_rounding_of_a_tie():
    ball = gk.Sphere(0.5)
    for way, steps in (((1, -1, 0), (0.5, 0.5, 0)), ((0, 0, 1), (0, 0, 0)), ((1, 0, 0), (0, 0, 0))):
        for shape in (CUBE, CUBE.inflated(0.1), gk.ConvexHull(CUBE.vertices)):
            unique = [
                gk.gradient(gk.signed_distance(shape, ball, None, at(*(np.array(steps) + e * np.array(way))))).unique
                for e in (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-12, 1e-15, 0.0)
            ]
            assert unique[:4] == [True] * 4
            assert unique[5:] == [False] * 3


@pytest.mark.parametrize("pair", CHOSEN_PAIRS, ids=" and ".join)
def test_single_gradient_equals_row_of_stack(pair):
    a, b = build(SHAPES[pair[0]]), build(SHAPES[pair[1]])
    poses_a, poses_b = random_poses(np.random.default_rng(23), SHAPES[pair[0]], SHAPES[pair[1]], 10)
    for query in (gk.signed_distance, gk.distance):
        many = gk.gradient(query(a, b, poses_a, poses_b))
        for k in range(10):
            result = query(a, b, poses_a[k], poses_b[k])
            for single in (gk.gradient(result), gk.gradient(result, poses_a[k]), gk.gradient(copy.deepcopy(result))):
                np.testing.assert_array_equal(single.a, many.a[k])
                np.testing.assert_array_equal(single.b, many.b[k])
                assert single.unique is bool(many.unique[k])


def test_swapped_shapes_swap_gradients():
    for name_a, name_b in CHOSEN_PAIRS:
        a, b = build(SHAPES[name_a]), build(SHAPES[name_b])
        poses_a, poses_b = random_poses(np.random.default_rng(29), SHAPES[name_a], SHAPES[name_b], 10)
        gradient = gk.gradient(gk.signed_distance(a, b, poses_a, poses_b))
        swapped = gk.gradient(gk.signed_distance(b, a, poses_b, poses_a))
        if a._order != b._order:
            np.testing.assert_array_equal(gradient.a[:, :3], swapped.b[:, :3])
        np.testing.assert_array_equal(gradient.unique, swapped.unique)


def test_forms_of_stacks_equal_single_gradients(rng):
    a, b = build(SHAPES["hull"]), build(SHAPES["rounded cone"])
    poses_a, poses_b = random_poses(rng, SHAPES["hull"], SHAPES["rounded cone"], 12)
    many = gk.gradient(gk.signed_distance(a, b, poses_a, poses_b))
    assert many.a.shape == many.b.shape == (12, 6)
    assert_names(repr(many), "Gradient", "12 pairs", f"{many.unique.sum()} unique")
    fixed = gk.gradient(gk.signed_distance(a, b, poses_a[0], poses_b))
    for k in range(12):
        single = gk.gradient(gk.signed_distance(a, b, poses_a[k], poses_b[k]))
        np.testing.assert_array_equal(single.a, many.a[k])
        np.testing.assert_array_equal(single.b, many.b[k])
        assert single.unique is bool(many.unique[k])
        np.testing.assert_array_equal(fixed.b[k], gk.gradient(gk.signed_distance(a, b, poses_a[0], poses_b[k])).b)
        warm = gk.gradient(gk.Pair(a, b).signed_distance(poses_a[k], poses_b[k]))
        np.testing.assert_array_equal(warm.b, single.b)
    assert gk.gradient(gk.signed_distance(a, b, poses_a, poses_b)[3:5]).b.tolist() == many.b[3:5].tolist()
    assert gk.gradient(gk.signed_distance(a, b, poses_a[:0], poses_b[:0])).a.shape == (0, 6)
    assert pickle.loads(pickle.dumps(many)).unique.tolist() == many.unique.tolist()


def test_gradients_of_pairs_equal_single_gradients(rng):
    names = ["box", "sphere", "hull", "cone"]
    pairs = gk.Pairs([build(SHAPES[name]) for name in names])
    index = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)] * 2)
    poses = np.tile(np.eye(4), (len(index), 2, 1, 1))
    poses[..., :3, :3] = naive.random_rotations(rng, 2 * len(index)).reshape(-1, 2, 3, 3)
    poses[..., :3, 3] = rng.normal(size=(len(index), 2, 3))
    for where in (poses, poses[:4, 0]):
        result = pairs.signed_distance(index, where)
        many = gk.gradient(result)
        assert many.unique.sum() >= 9
        for k in range(len(index)):
            single = gk.gradient(result[k])
            np.testing.assert_array_equal((single.a, single.b), (many.a[k], many.b[k]))
            assert single.unique is bool(many.unique[k])
        np.testing.assert_array_equal(gk.gradient(result[2:5]).a, many.a[2:5])


def test_gradient_of_common_motion_is_zero(rng):
    """A common motion has the derivative zero, and a translation along the normal the derivative one."""
    a, b = build(SHAPES["ellipsoid"]), build(SHAPES["tetrahedron"])
    poses_a, poses_b = random_poses(rng, SHAPES["ellipsoid"], SHAPES["tetrahedron"], 50)
    result = gk.signed_distance(a, b, poses_a, poses_b)
    gradient = gk.gradient(result)
    np.testing.assert_array_equal(gradient.b[:, :3], result.normal)
    np.testing.assert_array_equal(gradient.a[:, :3], -result.normal)
    # a common rotation about the world origin rotates the shapes about their origins and moves these origins
    for side, poses in ((gradient.a, poses_a), (gradient.b, poses_b)):
        side[:, 3:] += np.cross(poses[:, :3, 3], side[:, :3])
    np.testing.assert_allclose(gradient.a + gradient.b, 0, atol=1e-12)


def test_gradient_about_another_origin():
    a, b = gk.Box((2, 2, 2)), gk.Sphere(0.5)
    result = gk.signed_distance(a, b, None, at(0.5, 0.25, 1.25))
    assert gk.gradient(result, at(0.5, 0, 0)).a.tolist() == [0, 0, -1, -0.25, 0, 0]
    assert gk.gradient(result, None, at(0, 0, 0)).b.tolist() == [0, 0, 1, 0.25, -0.5, 0]


def test_distance_gradient_is_zero_in_overlap():
    inside, outside = (gk.distance(CUBE, gk.Sphere(0.5), None, at(0.1, 0.2, z)) for z in (1.2, 2))
    assert gk.gradient(inside).a.tolist() == gk.gradient(inside).b.tolist() == [0.0] * 6
    assert gk.gradient(inside).unique is False
    assert gk.gradient(outside).unique is True
    beyond = gk.signed_distance(CUBE, gk.Sphere(0.5), None, at(0, 9, 20), max_distance=1.0)
    assert gk.gradient(beyond).unique is False


def test_error_names_invalid_input():
    result = gk.signed_distance(CUBE, CUBE, None, np.tile(at(3, 1, 1), (3, 1, 1)))
    with pytest.raises(ShapeError) as caught:
        gk.gradient(CUBE)
    assert_names(caught.value, "result", "Box", "gjk3d.signed_distance(a, b)")
    with pytest.raises(ShapeError) as caught:
        gk.gradient(result, np.tile(np.eye(4), (2, 1, 1)))
    assert_names(caught.value, "pose_a", "2 rows", "expected 3")
    with pytest.raises(PoseError, match="pose_b"):
        gk.gradient(result, None, np.zeros((4, 4)))
