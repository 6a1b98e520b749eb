"""Contact of every kind of shapes as a caller sees it: what comes back, and the laws of its points."""

from __future__ import annotations

import copy
import pickle

import laws
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES
from words import assert_names

import gjk3d as gk
from gjk3d.convex.checks import is_finite


def at(x=0.0, y=0.0, z=0.0, turn=(0.0, 0.0, 0.0)):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    pose[:3, 3] = x, y, z
    return pose


def rounded(points, digits=12):
    """Points as a set, for comparing without regard to their order."""
    return sorted(map(tuple, (np.round(points, digits) + 0.0).tolist()))


TABLE, BRICK = gk.Box((4, 4, 1)), gk.Box((2, 1, 1))


def test_a_brick_on_a_table_stands_on_its_four_corners():
    touch = gk.contact(TABLE, BRICK, None, at(z=1))
    assert rounded(touch.points) == [(-1, -0.5, 0.5), (-1, 0.5, 0.5), (1, -0.5, 0.5), (1, 0.5, 0.5)]
    assert touch.normal.tolist() == [0, 0, 1]
    assert touch.gaps.tolist() == [0, 0, 0, 0]
    assert touch.count == 4
    assert touch.status is gk.Status.TOUCHING
    assert touch.distance == 0.0
    assert touch.lower <= 0.0 <= touch.upper


def test_a_brick_over_the_edge_stands_on_what_is_left_of_the_table():
    touch = gk.contact(TABLE, BRICK, None, at(x=1.5, z=0.75))
    assert rounded(touch.points_a) == [(0.5, -0.5, 0.5), (0.5, 0.5, 0.5), (2, -0.5, 0.5), (2, 0.5, 0.5)]
    assert rounded(touch.points_b) == [(0.5, -0.5, 0.25), (0.5, 0.5, 0.25), (2, -0.5, 0.25), (2, 0.5, 0.25)]
    assert touch.gaps.tolist() == [-0.25] * 4


def test_a_tilted_brick_touches_with_an_edge_and_within_a_gap_with_its_face():
    lean = at(z=0.5 + 0.5 * np.cos(0.01) + np.sin(0.01), turn=(0, 0.01, 0))
    edge = gk.contact(TABLE, BRICK, None, lean)
    assert edge.count == 2
    assert np.allclose(edge.gaps, 0.0, atol=1e-12)
    face = gk.contact(TABLE, BRICK, None, lean, within=0.1)
    assert face.count == 4
    assert np.allclose(sorted(face.gaps), [0, 0, 2 * np.tan(0.01), 2 * np.tan(0.01)], atol=3e-6)
    part = gk.contact(TABLE, BRICK, None, lean, within=0.01)
    assert np.allclose(sorted(part.gaps), [0, 0, 0.01, 0.01], atol=1e-8)


def test_the_points_of_a_patch_are_in_ascending_order_whatever_their_gaps():
    touch = gk.contact(TABLE, BRICK, None, at(z=1.1, turn=(0, 0.01, 0)), within=1.0)
    assert touch.gaps.argmin() > 0
    assert [patch.tolist() for patch in touch.patches] == [[0, 1, 2, 3]]


def test_farther_than_asked_there_are_no_points():
    for within, count in ((0.0, 0), (0.2, 0), (0.3, 4), (np.inf, 4)):
        touch = gk.contact(TABLE, BRICK, None, at(z=1.25), within=within)
        assert touch.count == len(touch.points) == len(touch.gaps) == count
        assert np.all(touch.gaps == 0.25)
    assert gk.contact(TABLE, BRICK, None, at(z=1.25)).status is gk.Status.BEYOND


def test_a_stack_is_padded_and_its_rows_are_the_single_answers():
    poses = np.array([at(z=1), at(x=2.5, y=2, z=1), at(z=3), at(x=3, z=1), at(z=0.9, turn=(0, 0, 0.5))])
    touch = gk.contact(TABLE, BRICK, None, poses)
    assert touch.points_a.shape == (5, 4, 3)
    assert touch.gaps.shape == (5, 4)
    assert touch.count.tolist() == [4, 4, 0, 2, 4]
    for k, pose in enumerate(poses):
        one, row = gk.contact(TABLE, BRICK, None, pose), touch[k]
        assert one.count == row.count == touch.count[k]
        for name in ("points_a", "points_b", "gaps", "normal"):
            assert np.array_equal(getattr(one, name), getattr(row, name))
        assert np.isnan(touch.gaps[k, one.count :]).all()
    assert len(gk.contact(TABLE, BRICK, None, poses[:0])) == 0


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_a_single_contact_has_the_bits_of_a_row_of_a_stack(one, other):
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


def test_a_contact_keeps_its_points_when_the_pair_is_asked_again_copied_or_pickled():
    pose = at(z=1)
    first = gk.contact(TABLE, BRICK, None, pose)
    kept, where = first.points_a.copy(), first.result.pose_b.copy()
    pose[:3, 3] = 0.1, 0.2, 0.9
    second = gk.contact(TABLE, BRICK, None, pose)
    assert np.array_equal(first.points_a, kept)
    assert not np.array_equal(second.points_a, kept)
    assert np.array_equal(first.result.pose_b, where)
    for again in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert np.array_equal(again.points_b, first.points_b)
        assert repr(again) == repr(first)
        assert again.distance == first.distance


def test_what_is_no_pose_is_named_in_a_single_contact_too():
    wrong = np.eye(4)
    wrong[0, 0] = 2.0
    with pytest.raises(gk.errors.PoseError) as caught:
        gk.contact(TABLE, BRICK, None, wrong)
    assert_names(caught.value, "pose_b", "(2, 1, 1)", "shape.scaled")


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8, 20, None])
def test_no_more_points_than_asked_and_the_deepest_among_them(most):
    lean = at(z=0.95, turn=(0.001, 0.002, 0.7))
    cube = gk.Box((1, 1, 1))
    touch = gk.contact(cube, cube, None, lean, max_points=most)
    whole = gk.contact(cube, cube, None, lean, max_points=None)
    assert whole.count == 8
    assert touch.count == min(8, most or 8)
    assert touch.gaps.min() == pytest.approx(touch.distance, abs=1e-14)
    assert set(rounded(touch.points)) <= set(rounded(whole.points))


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
def test_bad_arguments_are_named(arguments, fragments):
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.contact(TABLE, BRICK, **arguments)
    assert_names(caught.value, *fragments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_numbers_of_numpy_are_finite_or_not(kind):
    assert is_finite(kind(2.0))
    for value in (np.inf, -np.inf, np.nan):
        assert not is_finite(kind(value))


def test_two_halfspaces_have_no_contact():
    with pytest.raises(gk.errors.UnsupportedPair, match="half-spaces"):
        gk.contact(gk.Halfspace((0, 0, 1)), gk.Halfspace((0, 0, -1)))


@pytest.mark.parametrize(("tilt", "patches"), [(1e-7, 1), (1e-5, 2)])
def test_points_are_of_one_patch_if_their_normals_differ_by_less_than_a_millionth(tilt, patches):
    tilted = [(1, 0, 0, 10), (0, np.cos(tilt), -np.sin(tilt), 0), (0, np.sin(tilt), np.cos(tilt), 0), (0, 0, 0, 1)]
    tables = gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Box((1, 1, 1)), tilted)])
    poses = [np.eye(4) for _ in range(2)]
    for pose, x in zip(poses, (0.0, 10.0), strict=True):
        pose[:3, 3] = x, 0.0, 0.75
    touch = gk.contact(tables, gk.Compound([(gk.Sphere(0.25), pose) for pose in poses]), within=1e-3)
    assert touch.count == 2
    assert len(touch.patches) == patches
