"""Derivatives by pose, held against central differences, and told from kinks."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES, build, random_poses
from words import assert_names

import gjk3d as gk
from gjk3d.errors import PoseError, ShapeError


def moved(poses, steps):
    """Poses (n, 4, 4) moved by (n, 6): a translation, and a rotation vector about each pose's own origin."""
    out = poses.copy()
    out[:, :3, 3] += steps[:, :3]
    out[:, :3, :3] = Rotation.from_rotvec(steps[:, 3:]).as_matrix() @ out[:, :3, :3]
    return out


def differences(a, b, poses_a, poses_b, side, h):
    """Slopes forward and backward by the pose of one side, (2, n, 6), of a step h in lengths."""
    slopes = np.empty((2, len(poses_a), 6))
    here = gk.signed_distance(a, b, poses_a, poses_b).distance
    for k in range(6):
        for way, sign in enumerate((1.0, -1.0)):
            step = np.zeros((len(poses_a), 6))
            step[:, k] = sign * h
            poses = (moved(poses_a, step), poses_b) if side == 0 else (poses_a, moved(poses_b, step))
            slopes[way, :, k] = sign * (gk.signed_distance(a, b, *poses).distance - here) / h
    return slopes


@pytest.mark.parametrize("pair", CHOSEN_PAIRS, ids=" and ".join)
def test_against_central_differences(pair):
    """Where slopes forward and backward agree, the pose is inside a cell, and their mean is the derivative."""
    one, other = (SHAPES[name] for name in pair)
    a, b = build(one), build(other)
    poses_a, poses_b = random_poses(np.random.default_rng(17), one, other, 40)
    result = gk.signed_distance(a, b, poses_a, poses_b)
    found = gk.gradient(result)
    size = max(0.5, gk.bounding_sphere(a).radius + gk.bounding_sphere(b).radius)
    h = 1e-5
    # the distance bends as 1 / distance, and curved answers are known to 1e-9
    clear = found.unique & (np.abs(result.distance) > 1e-3 * size)
    for side, slopes in enumerate((found.a, found.b)):
        forward, backward = differences(a, b, poses_a, poses_b, side, h)
        inside = clear & (np.abs(forward - backward).max(axis=1) < 0.05)
        assert inside.sum() >= 0.9 * clear.sum()
        np.testing.assert_allclose(slopes[inside], (0.5 * (forward + backward))[inside], rtol=0, atol=2e-3 * size)
        # and on all others it is between the two, as slopes of a kink are, within what bends
        plain = np.abs(slopes - 0.5 * (forward + backward)) <= 0.5 * np.abs(forward - backward) + 2e-3 * size
        assert plain[clear].all()


def test_both_regimes_and_all_kinds_are_told_apart(rng):
    """Of random poses nearly all are unique; lying flat, in line or concentric none is."""
    shares = []
    for one, other in CHOSEN_PAIRS:
        a, b = build(SHAPES[one]), build(SHAPES[other])
        result = gk.signed_distance(a, b, *random_poses(rng, SHAPES[one], SHAPES[other], 120))
        found = gk.gradient(result)
        apart = result.distance > 1e-3
        shares.append((found.unique[apart].mean(), found.unique[result.distance < -1e-3].sum()))
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
    # nor anywhere else in the world
    world = naive.pose(naive.random_rotations(rng, 1)[0], (3.0, -1.0, 2.0))
    assert not gk.gradient(gk.signed_distance(a, b, world, world @ pose)).unique


@pytest.mark.parametrize("name", UNIQUE)
def test_what_is_unique_is_found_so(name):
    a, b, pose = UNIQUE[name]
    for result in (gk.signed_distance(a, b, None, pose), gk.signed_distance(b, a, pose, None)):
        assert gk.gradient(result).unique is True


def test_crossing_edges_are_unique_and_parallel_ones_are_not():
    for height in (3.5, 2.8):  # apart, and in overlap
        for angle, expected in ((0.0, False), (1e-9, False), (0.1, True), (np.pi / 2, True)):
            below = turned((0, 1, 0), np.pi / 4, 0, 0, 0)
            above = turned((0, 0, 1), angle, 0, 0, height) @ below
            result = gk.signed_distance(CUBE, CUBE, below, above)
            assert (result.distance > 0) is (height > 3)
            assert gk.gradient(result).unique is expected


def facets_of_difference(points_a, points_b):
    """Unit normals of A - B and how far its facets are along them, each normal once."""
    planes = ConvexHull((points_a[:, None] - points_b[None]).reshape(-1, 3)).equations
    _, first = np.unique(planes.round(9), axis=0, return_index=True)
    return planes[first, :3], -planes[first, 3]


@pytest.mark.parametrize("seed", range(8))
def test_depths_along_two_facets_of_the_difference_are_ties_and_along_one_are_not(seed):
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(count, 3)) * rng.uniform(0.3, 1.5, 3) for count in (12, 9)]
    a, b = map(gk.ConvexHull, points)
    normals, offsets = facets_of_difference(*points)
    size = sum(np.linalg.norm(each, axis=1).max() for each in points)
    tied = 0
    for start in rng.normal(size=(400, 3)) * 0.3 * size:
        i, j = np.argsort(offsets - normals @ start)[:2]
        across = normals[i] - normals[j]  # along it lies what is midway between the two
        shift = start + across * (offsets[i] - offsets[j] - across @ start) / (across @ across)
        depths = offsets - normals @ shift
        others = np.delete(depths, [i, j]).min()
        if not 1e-3 * size < depths[i] < others - 1e-3 * size:
            continue
        tied += 1
        result = gk.signed_distance(a, b, None, at(*shift))
        assert result.distance == pytest.approx(-depths[i], abs=1e-12 * size)
        assert gk.gradient(result).unique is False
        bisector = 0.5 * np.linalg.norm(across)  # moved off the middle one of them wins
        for step in (1e-2, 1e-3):
            clear = gk.signed_distance(a, b, None, at(*(shift + step * size * across / np.linalg.norm(across))))
            gap = np.sort(offsets - normals @ clear.pose_b[:3, 3])
            if gap[1] - gap[0] > 1e-4 * size * bisector:
                assert gk.gradient(clear).unique is True
    assert tied >= 3


@pytest.mark.parametrize("angle", [1.0, 0.1, 1e-2, 1e-3])
def test_below_the_ridge_of_a_flat_roof_two_faces_are_as_near(angle):
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


def test_the_nearer_to_a_tie_the_less_is_unique_and_never_on_it():
    ball = gk.Sphere(0.5)
    for way, steps in (((1, -1, 0), (0.5, 0.5, 0)), ((0, 0, 1), (0, 0, 0)), ((1, 0, 0), (0, 0, 0))):
        for other in (CUBE, CUBE.inflated(0.1), gk.ConvexHull(CUBE.vertices)):
            told = [
                gk.gradient(gk.signed_distance(other, ball, None, at(*(np.array(steps) + e * np.array(way))))).unique
                for e in (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-12, 1e-15, 0.0)
            ]
            assert told[:4] == [True] * 4
            assert told[5:] == [False] * 3


@pytest.mark.parametrize("pair", CHOSEN_PAIRS, ids=" and ".join)
def test_singles_have_the_bits_of_a_stack(pair):
    a, b = build(SHAPES[pair[0]]), build(SHAPES[pair[1]])
    poses_a, poses_b = random_poses(np.random.default_rng(23), SHAPES[pair[0]], SHAPES[pair[1]], 10)
    for ask in (gk.signed_distance, gk.distance):
        many = gk.gradient(ask(a, b, poses_a, poses_b))
        for k in range(10):
            result = ask(a, b, poses_a[k], poses_b[k])
            for one in (gk.gradient(result), gk.gradient(result, poses_a[k]), gk.gradient(copy.deepcopy(result))):
                np.testing.assert_array_equal(one.a, many.a[k])
                np.testing.assert_array_equal(one.b, many.b[k])
                assert one.unique is bool(many.unique[k])


def test_exchanged_shapes_have_exchanged_slopes_and_are_as_unique():
    for one, other in CHOSEN_PAIRS:
        a, b = build(SHAPES[one]), build(SHAPES[other])
        poses_a, poses_b = random_poses(np.random.default_rng(29), SHAPES[one], SHAPES[other], 10)
        found = gk.gradient(gk.signed_distance(a, b, poses_a, poses_b))
        back = gk.gradient(gk.signed_distance(b, a, poses_b, poses_a))
        if a._order != b._order:
            np.testing.assert_array_equal(found.a[:, :3], back.b[:, :3])
        np.testing.assert_array_equal(found.unique, back.unique)


def test_one_pair_and_many(rng):
    a, b = build(SHAPES["hull"]), build(SHAPES["rounded cone"])
    poses_a, poses_b = random_poses(rng, SHAPES["hull"], SHAPES["rounded cone"], 12)
    many = gk.gradient(gk.signed_distance(a, b, poses_a, poses_b))
    assert many.a.shape == many.b.shape == (12, 6)
    assert_names(repr(many), "Gradient", "12 pairs", f"{many.unique.sum()} unique")
    fixed = gk.gradient(gk.signed_distance(a, b, poses_a[0], poses_b))
    for k in range(12):
        one = gk.gradient(gk.signed_distance(a, b, poses_a[k], poses_b[k]))
        np.testing.assert_array_equal(one.a, many.a[k])
        np.testing.assert_array_equal(one.b, many.b[k])
        assert one.unique is bool(many.unique[k])
        np.testing.assert_array_equal(fixed.b[k], gk.gradient(gk.signed_distance(a, b, poses_a[0], poses_b[k])).b)
        warm = gk.gradient(gk.Pair(a, b).signed_distance(poses_a[k], poses_b[k]))
        np.testing.assert_array_equal(warm.b, one.b)
    assert gk.gradient(gk.signed_distance(a, b, poses_a, poses_b)[3:5]).b.tolist() == many.b[3:5].tolist()
    assert gk.gradient(gk.signed_distance(a, b, poses_a[:0], poses_b[:0])).a.shape == (0, 6)
    assert pickle.loads(pickle.dumps(many)).unique.tolist() == many.unique.tolist()


def test_many_different_pairs(rng):
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
            one = gk.gradient(result[k])
            np.testing.assert_array_equal((one.a, one.b), (many.a[k], many.b[k]))
            assert one.unique is bool(many.unique[k])
        np.testing.assert_array_equal(gk.gradient(result[2:5]).a, many.a[2:5])


def test_laws(rng):
    """No change where both move together, and a translation along the normal at the rate 1."""
    a, b = build(SHAPES["ellipsoid"]), build(SHAPES["tetrahedron"])
    poses_a, poses_b = random_poses(rng, SHAPES["ellipsoid"], SHAPES["tetrahedron"], 50)
    result = gk.signed_distance(a, b, poses_a, poses_b)
    found = gk.gradient(result)
    np.testing.assert_array_equal(found.b[:, :3], result.normal)
    np.testing.assert_array_equal(found.a[:, :3], -result.normal)
    # a common rotation about the world's origin turns both about their own, and carries their origins along
    for side, poses in ((found.a, poses_a), (found.b, poses_b)):
        side[:, 3:] += np.cross(poses[:, :3, 3], side[:, :3])
    np.testing.assert_allclose(found.a + found.b, 0, atol=1e-12)


def test_another_origin_to_turn_about():
    a, b = gk.Box((2, 2, 2)), gk.Sphere(0.5)
    result = gk.signed_distance(a, b, None, at(0.5, 0.25, 1.25))
    assert gk.gradient(result, at(0.5, 0, 0)).a.tolist() == [0, 0, -1, -0.25, 0, 0]
    assert gk.gradient(result, None, at(0, 0, 0)).b.tolist() == [0, 0, 1, 0.25, -0.5, 0]


def test_distance_has_no_slope_in_overlap():
    inside, outside = (gk.distance(CUBE, gk.Sphere(0.5), None, at(0.1, 0.2, z)) for z in (1.2, 2))
    assert gk.gradient(inside).a.tolist() == gk.gradient(inside).b.tolist() == [0.0] * 6
    assert gk.gradient(inside).unique is False
    assert gk.gradient(outside).unique is True
    beyond = gk.signed_distance(CUBE, gk.Sphere(0.5), None, at(0, 9, 20), max_distance=1.0)
    assert gk.gradient(beyond).unique is False


def test_bad_input_is_named():
    result = gk.signed_distance(CUBE, CUBE, None, np.tile(at(3, 1, 1), (3, 1, 1)))
    with pytest.raises(ShapeError) as caught:
        gk.gradient(CUBE)
    assert_names(caught.value, "result", "Box", "gjk3d.signed_distance(a, b)")
    with pytest.raises(ShapeError) as caught:
        gk.gradient(result, np.tile(np.eye(4), (2, 1, 1)))
    assert_names(caught.value, "pose_a", "2 rows", "expected 3")
    with pytest.raises(PoseError, match="pose_b"):
        gk.gradient(result, None, np.zeros((4, 4)))
