"""Boxes round points at many poses are those of the points, moved one pose after the other, to the last bit."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gjk3d.geometry.placed_boxes import boxes_of


def test_boxes_are_those_of_the_points_at_each_pose():
    rng = np.random.default_rng(3)
    rows = np.zeros((40, 13))
    rows[:, :9] = Rotation.random(40, rng).as_matrix().reshape(-1, 9)
    rows[:, 9:12] = rng.normal(size=(40, 3))
    points = rng.normal(size=(17, 3))
    x, y, z = points.T
    for row, box in zip(rows, boxes_of(rows, points), strict=True):
        along = [row[3 * k] * x + row[3 * k + 1] * y + row[3 * k + 2] * z for k in range(3)]
        assert box.tolist() == [[values.min() + row[9 + k] for k, values in enumerate(along)],
                                [values.max() + row[9 + k] for k, values in enumerate(along)]]  # fmt: skip


def test_a_point_at_no_pose_has_no_size_and_no_negative_zero():
    still = np.zeros((1, 13))
    still[:, [0, 4, 8]] = 1.0
    box = boxes_of(still, np.array([[0.0, -0.0, 2.0]]))
    assert box.tolist() == [[[0.0, 0.0, 2.0]] * 2]
    assert not np.signbit(box).any()
