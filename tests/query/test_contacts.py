"""Contact manifolds of every pair of shape kinds: returned fields, limits and properties of the contact points."""

from __future__ import annotations

import copy
import pickle

import laws
import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES

import gjk3d as gk
from gjk3d.convex.checks import is_finite


def at(x=0.0, y=0.0, z=0.0, turn=(0.0, 0.0, 0.0)):
    """Return a pose from a translation and a rotation vector."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    pose[:3, 3] = x, y, z
    return pose


def rounded(points, digits=12):
    """Return rounded points in sorted order, for comparison regardless of their order."""
    return sorted(map(tuple, (np.round(points, digits) + 0.0).tolist()))


TABLE, BRICK = gk.Box((4, 4, 1)), gk.Box((2, 1, 1))


def test_brick_on_table_touches_at_four_corners():
    touch = gk.contact(TABLE, BRICK, None, at(z=1))
    assert rounded(touch.points) == [(-1, -0.5, 0.5), (-1, 0.5, 0.5), (1, -0.5, 0.5), (1, 0.5, 0.5)]
    assert touch.normal.tolist() == [0, 0, 1]
    assert touch.gaps.tolist() == [0, 0, 0, 0]
    assert touch.count == 4
    assert touch.status is gk.Status.TOUCHING
    assert touch.distance == 0.0
    assert touch.lower <= 0.0 <= touch.upper


def test_brick_over_edge_touches_at_clipped_corners():
    touch = gk.contact(TABLE, BRICK, None, at(x=1.5, z=0.75))
    assert rounded(touch.points_a) == [(0.5, -0.5, 0.5), (0.5, 0.5, 0.5), (2, -0.5, 0.5), (2, 0.5, 0.5)]
    assert rounded(touch.points_b) == [(0.5, -0.5, 0.25), (0.5, 0.5, 0.25), (2, -0.5, 0.25), (2, 0.5, 0.25)]
    assert touch.gaps.tolist() == [-0.25] * 4


def test_tilted_brick_touches_with_edge_or_face():
    lean = at(z=0.5 + 0.5 * np.cos(0.01) + np.sin(0.01), turn=(0, 0.01, 0))
    edge = gk.contact(TABLE, BRICK, None, lean)
    assert edge.count == 2
    assert np.allclose(edge.gaps, 0.0, atol=1e-12)
    face = gk.contact(TABLE, BRICK, None, lean, within=0.1)
    assert face.count == 4
    assert np.allclose(sorted(face.gaps), [0, 0, 2 * np.tan(0.01), 2 * np.tan(0.01)], atol=3e-6)
    part = gk.contact(TABLE, BRICK, None, lean, within=0.01)
    assert np.allclose(sorted(part.gaps), [0, 0, 0.01, 0.01], atol=1e-8)


def test_patch_indices_are_ascending():
    touch = gk.contact(TABLE, BRICK, None, at(z=1.1, turn=(0, 0.01, 0)), within=1.0)
    assert touch.gaps.argmin() > 0
    assert [patch.tolist() for patch in touch.patches] == [[0, 1, 2, 3]]


def test_points_with_gaps_above_limit_are_omitted():
    for within, count in ((0.0, 0), (0.2, 0), (0.3, 4), (np.inf, 4)):
        touch = gk.contact(TABLE, BRICK, None, at(z=1.25), within=within)
        assert touch.count == len(touch.points) == len(touch.gaps) == count
        assert np.all(touch.gaps == 0.25)
    assert gk.contact(TABLE, BRICK, None, at(z=1.25)).status is gk.Status.BEYOND


def test_padded_stack_equals_single_contacts():
    poses = np.array([at(z=1), at(x=2.5, y=2, z=1), at(z=3), at(x=3, z=1), at(z=0.9, turn=(0, 0, 0.5))])
    touch = gk.contact(TABLE, BRICK, None, poses)
    assert touch.points_a.shape == (5, 4, 3)
    assert touch.gaps.shape == (5, 4)
    assert touch.count.tolist() == [4, 4, 0, 2, 4]
    for k, pose in enumerate(poses):
        single, row = gk.contact(TABLE, BRICK, None, pose), touch[k]
        assert single.count == row.count == touch.count[k]
        for name in ("points_a", "points_b", "gaps", "normal"):
            assert np.array_equal(getattr(single, name), getattr(row, name))
        assert np.isnan(touch.gaps[k, single.count :]).all()
    assert len(gk.contact(TABLE, BRICK, None, poses[:0])) == 0


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_single_contact_equals_row_of_stack(one, other):
    rng = np.random.default_rng(5)
    case = laws.Pair.random(rng, SHAPES[one], SHAPES[other], 6)
    for options in ({}, {"within": 0.3}, {"max_points": None}, {"within": np.inf, "max_points": 2}):
        stack = gk.contact(case.shape_a, case.shape_b, case.poses_a, case.poses_b, **options)
        for k, (pose_a, pose_b) in enumerate(zip(case.poses_a, case.poses_b, strict=True)):
            single, row = gk.contact(case.shape_a, case.shape_b, pose_a, pose_b, **options), stack[k]
            listed = gk.contact(case.shape_a, case.shape_b, pose_a.tolist(), pose_b.tolist(), **options)
            for name in ("count", "points_a", "points_b", "gaps", "normal", "distance", "lower", "upper", "status"):
                expected = getattr(row, name)
                assert np.array_equal(getattr(single, name), expected), name
                assert np.array_equal(getattr(listed, name), expected), name
            assert single.result.iterations == row.result.iterations
            assert np.array_equal(single.result.pose_b, pose_b)


def test_contact_survives_later_queries_copies_and_pickling():
    pose = at(z=1)
    first = gk.contact(TABLE, BRICK, None, pose)
    points, pose_b = first.points_a.copy(), first.result.pose_b.copy()
    pose[:3, 3] = 0.1, 0.2, 0.9
    second = gk.contact(TABLE, BRICK, None, pose)
    assert np.array_equal(first.points_a, points)
    assert not np.array_equal(second.points_a, points)
    assert np.array_equal(first.result.pose_b, pose_b)
    for duplicate in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert np.array_equal(duplicate.points_b, first.points_b)
        assert repr(duplicate) == repr(first)
        assert duplicate.distance == first.distance


def test_error_of_single_contact_names_invalid_pose():
    wrong = np.eye(4)
    wrong[0, 0] = 2.0
    with pytest.raises(gk.errors.PoseError) as caught:
        gk.contact(TABLE, BRICK, None, wrong)
    assert_names(caught.value, "pose_b", "(2, 1, 1)", "shape.scaled")


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8, 20, None])
def test_max_points_limits_count_and_keeps_deepest_point(most):
    lean = at(z=0.95, turn=(0.001, 0.002, 0.7))
    cube = gk.Box((1, 1, 1))
    touch = gk.contact(cube, cube, None, lean, max_points=most)
    unlimited = gk.contact(cube, cube, None, lean, max_points=None)
    assert unlimited.count == 8
    assert touch.count == min(8, most or 8)
    assert touch.gaps.min() == pytest.approx(touch.distance, abs=1e-14)
    assert set(rounded(touch.points)) <= set(rounded(unlimited.points))


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ({"within": -1.0}, ("within", "-1.0")),
        ({"within": np.nan}, ("within", "nan")),
        ({"within": "1"}, ("within", "'1'")),
        ({"max_points": 0}, ("max_points", " 0", "None")),
        ({"max_points": 2**31}, ("max_points", f"{2**31}", "65536", "None")),
        ({"max_points": 2**70}, ("max_points", f"{2**70}", "65536")),
        ({"max_points": 2.0}, ("max_points", "2.0")),
        ({"max_points": True}, ("max_points", "True")),
        ({"workers": 0}, ("workers", " 0", "1024")),
    ],
)
def test_error_names_invalid_argument(arguments, fragments):
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.contact(TABLE, BRICK, **arguments)
    assert_names(caught.value, *fragments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_is_finite_accepts_numpy_scalars(kind):
    assert is_finite(kind(2.0))
    for value in (np.inf, -np.inf, np.nan):
        assert not is_finite(kind(value))


def test_two_halfspaces_have_no_contact():
    with pytest.raises(gk.errors.UnsupportedPair, match="half-spaces"):
        gk.contact(gk.Halfspace((0, 0, 1)), gk.Halfspace((0, 0, -1)))


@pytest.mark.parametrize(("tilt", "patches"), [(1e-7, 1), (1e-5, 2)])
def test_nearly_equal_normals_share_a_patch(tilt, patches):
    tilted = [(1, 0, 0, 10), (0, np.cos(tilt), -np.sin(tilt), 0), (0, np.sin(tilt), np.cos(tilt), 0), (0, 0, 0, 1)]
    tables = gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Box((1, 1, 1)), tilted)])
    poses = [np.eye(4) for _ in range(2)]
    for pose, x in zip(poses, (0.0, 10.0), strict=True):
        pose[:3, 3] = x, 0.0, 0.75
    touch = gk.contact(tables, gk.Compound([(gk.Sphere(0.25), pose) for pose in poses]), within=1e-3)
    assert touch.count == 2
    assert len(touch.patches) == patches
