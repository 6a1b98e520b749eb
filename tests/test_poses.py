"""Accepted types of poses, and the errors of invalid poses."""

from __future__ import annotations

import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial.transform import RigidTransform, Rotation

import gjk3d as gk
from gjk3d.errors import PoseError
from gjk3d.poses import pose_rows

TURN = Rotation.from_rotvec((0.3, -0.2, 0.9)).as_matrix()
BOX, BALL = gk.Box((1, 2, 3)), gk.Sphere(0.5)


def matrix(rotation=TURN, translation=(1.0, 2.0, 3.0)):
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = translation
    return pose


def test_all_pose_types_give_the_same_result():
    pose = matrix()
    answer = gk.signed_distance(BOX, BALL, None, pose)
    ways = [pose.tolist(), np.asfortranarray(pose), pose[None][0], RigidTransform.from_matrix(pose)]
    frozen = pose.copy()
    frozen.setflags(write=False)
    for way in [*ways, frozen]:
        assert gk.signed_distance(BOX, BALL, None, way).distance == answer.distance
    integer = np.eye(4, dtype=int)
    integer[0, 3] = 4
    assert gk.distance(BOX, BALL, None, integer).distance == 3.0
    assert gk.distance(BOX, BALL, None, integer.astype(np.float32)).distance == 3.0


def test_inexact_rotations_are_orthonormalized_once():
    rows, stacked = pose_rows(np.eye(4)[[1, 2, 0, 3]])
    assert not stacked
    assert rows[0, 12] == 0.0
    slightly_off = matrix(TURN * (1 + 3e-7))
    rows, _ = pose_rows(slightly_off)
    r = slightly_off[:3, :3]
    np.testing.assert_allclose(rows[0, :9].reshape(3, 3), r @ (3 * np.eye(3) - r.T @ r) / 2, rtol=0, atol=1e-15)
    assert rows[0, 12] < 1e-12
    np.testing.assert_array_equal(rows[0, 9:12], slightly_off[:3, 3])


@pytest.mark.parametrize(
    ("pose", "fragments"),
    [
        (np.eye(3), ("pose_b", "(3, 3)", "(n, 4, 4)")),
        (np.eye(4)[:3], ("pose_b", "(3, 4)", "[0, 0, 0, 1]")),
        ([0, 0, 0, 1, 0, 0, 0], ("pose_b", "(7,)", "RigidTransform")),
        (np.full((4, 4), np.nan), ("pose_b", "[0, 0]", "nan")),
        (matrix(translation=(0, np.inf, 0)), ("pose_b", "[1, 3]", "inf")),
        (matrix(2 * np.eye(3)), ("pose_b", "(2, 2, 2)", "shape.scaled")),
        (matrix(np.diag((1.0, 1.0, -1.0))), ("pose_b", "determinant -1", "shape.scaled((-1, 1, 1))")),
        (matrix([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ("pose_b", "R'R", "0.1", "1e-06")),
        (matrix(np.zeros((3, 3))), ("pose_b", "(0, 0, 0)", "shape.scaled")),
        (matrix().T, ("pose_b", "transposed", "its .T")),
        (np.vstack([matrix()[:3], [[0, 0, 0, 2]]]), ("pose_b", "last row", "[0.0, 0.0, 0.0, 2.0]")),
        (np.eye(4, dtype=complex), ("pose_b", "dtype complex128")),
        (np.eye(4, dtype=bool), ("pose_b", "dtype bool")),
        ("pose", ("pose_b", "a str")),
        ([[1, 2], [3]], ("pose_b", "ragged", "(4, 4)")),
        (Rotation.identity(), ("pose_b", "a rotation", "RigidTransform")),
        (matrix(translation=(1e60, 0, 0)), ("pose_b", "1e+60", "1e+50")),
        (np.array([np.eye(4), matrix(2 * np.eye(3))]), ("pose_b[1]", "(2, 2, 2)", "shape.scaled")),
    ],
)
def test_invalid_poses_raise(pose, fragments):
    for query in (gk.collide, gk.distance, gk.signed_distance):
        with pytest.raises(PoseError) as caught:
            query(BOX, BALL, None, pose)
        assert_names(caught.value, *fragments)


def test_unaligned_arrays_are_copied():
    """Arrays from mapped files and from other processes may be unaligned."""

    def moved_by_a_byte(array):
        room = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
        room[...] = array
        assert not room.flags.aligned
        return room

    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, 0, 3] = (0, 1, 3)
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    assert gk.collide(box, ball, moved_by_a_byte(poses)).tolist() == [True, True, False]
    hit = gk.Pairs([box, ball]).collide(moved_by_a_byte(np.array([[0, 1]])), moved_by_a_byte(poses[:2]))
    assert hit.tolist() == [True]
    checker = gk.robot.Checker(gk.robot.Robot.example())
    q = moved_by_a_byte(np.zeros((4, 2)))
    assert len(checker.free(q)) == len(checker.clearance(q).distance) == len(checker.contacts(q)) == 4
    checker.free(moved_by_a_byte(np.zeros(2)))
