"""The depth that the surfaces of two overlapping parts prove, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash.detection.decider import BodyPair, shared_depth
from gjk3d.poses import pose_rows


def block(low, high):
    surface = gk.Box(np.subtract(high, low)).surface()
    return gk.Mesh(np.where(surface.vertices > 0.0, high, low), surface.faces)


@pytest.mark.parametrize("seed", range(5))
def test_the_depth_of_blocks_far_away_is_no_more_than_their_overlap(seed):
    """Their coordinates are exact, and the place of the second is added to its vertices with rounding."""
    rng = np.random.default_rng(seed)
    shift, low = 1e8 * rng.uniform(1.0, 2.0), rng.uniform(-0.4, -0.2)
    place = np.eye(4)
    place[0, 3] = shift
    m = pose_rows(place[None])[0][0]
    a, b = block((shift - 3.0, -2.0, -2.0), (shift, 2.0, 2.0)), block((low, -2.0, -2.0), (2.0, 2.0, 2.0))
    depth, _ = shared_depth(BodyPair(a, b, m), None)
    assert 0.99 * -low < depth
    assert Fraction(depth) <= -Fraction(low)
