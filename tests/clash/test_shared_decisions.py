"""The slack between pairs of parts that share a decision, compared with rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np

import gjk3d as gk
from gjk3d.clash.detection.pairs import alike
from gjk3d.poses import pose_rows


def test_slack_contains_rounding_of_relative_poses():
    """The slack contains the rounding of a relative pose, here the difference of two translations."""
    rng = np.random.default_rng(17)
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    for _ in range(20):
        places = rng.uniform(-1.0, 1.0, (2, 3)) * (1e6, 1.0, 1.0)
        rows = pose_rows(np.array([naive.pose(translation=place) for place in places]))[0]
        result = alike(np.array([[0, 1]]), [cube], np.zeros(2, dtype=np.int64), rows, np.zeros(2), np.zeros(1))
        off = naive.exact(places[1]) - naive.exact(places[0]) - naive.exact(result.rows[0, 9:12])
        assert off @ off <= Fraction(float(result.slack[0])) ** 2
