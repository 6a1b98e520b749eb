"""The depth proven by the surfaces of two overlapping parts, compared with rational arithmetic."""

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
def test_depth_of_distant_blocks_is_at_most_their_overlap(seed):
    """Vertices are exact, and rounding occurs only when the pose of the second block is applied."""
    rng = np.random.default_rng(seed)
    shift, low = 1e8 * rng.uniform(1.0, 2.0), rng.uniform(-0.4, -0.2)
    place = np.eye(4)
    place[0, 3] = shift
    m = pose_rows(place[None])[0][0]
    a, b = block((shift - 3.0, -2.0, -2.0), (shift, 2.0, 2.0)), block((low, -2.0, -2.0), (2.0, 2.0, 2.0))
    depth, _ = shared_depth(BodyPair(a, b, m), None)
    assert 0.99 * -low < depth
    assert Fraction(depth) <= -Fraction(low)
