"""Contact of every kind of shapes as a caller sees it: what comes back, and the laws of its points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk


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
    ("arguments", "message"),
    [
        ({"within": -1.0}, "within is -1.0, expected one number, at least 0"),
        ({"within": np.nan}, "within is nan"),
        ({"within": "1"}, "within is '1'"),
        ({"max_points": 0}, "max_points is 0, expected at least 1"),
        ({"max_points": 2.0}, "max_points is 2.0"),
        ({"max_points": True}, "max_points is True"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(gk.errors.ShapeError, match=message):
        gk.contact(TABLE, BRICK, **arguments)


def test_two_halfspaces_have_no_contact():
    with pytest.raises(gk.errors.UnsupportedPair, match="half-spaces"):
        gk.contact(gk.Halfspace((0, 0, 1)), gk.Halfspace((0, 0, -1)))
