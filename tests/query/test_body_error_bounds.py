"""Error bounds of results for non-convex bodies include the rounding of the poses of their parts."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest

import gjk3d as gk


def test_axis_error_includes_rounding_of_part_poses():
    rng = np.random.default_rng(1)
    poses = [naive.pose(turn, rng.uniform(-0.1, 0.1, 3)) for turn in naive.random_rotations(rng, 3)]
    body, box = gk.Compound([(gk.Box((1, 1, 1)), pose) for pose in poses]), gk.Box((1, 1, 1))
    away = naive.pose(translation=(3.0, 0.2, 0.1))
    axis, of_hull = gk.separating_axis(body, box, None, away), gk.separating_axis(body.hull(), box, None, away)
    assert axis.error > of_hull.error


@pytest.mark.parametrize("seed", range(6))
def test_depth_bound_of_far_blocks_is_at_most_their_overlap(seed):
    rng = np.random.default_rng(seed)
    shift, low = 1e8 * rng.uniform(1.0, 2.0), rng.uniform(-0.4, -0.2)
    surface = gk.Box((4.0, 4.0, 4.0)).surface()
    a, b = surface.vertices.copy(), surface.vertices.copy()
    a[:, 0] = np.where(a[:, 0] > 0.0, shift, shift - 4.0)
    b[:, 0] = np.where(b[:, 0] > 0.0, 4.0, low)
    result = gk.penetration(
        gk.Mesh(a, surface.faces), gk.Mesh(b, surface.faces), None, naive.pose(translation=(shift, 0, 0))
    )
    assert 0.9 * -low < result.lower
    assert Fraction(result.lower) <= -Fraction(low)


@pytest.mark.parametrize("seed", range(8))
def test_intersection_curve_of_rotated_cubes_is_closed(seed):
    rng = np.random.default_rng(seed)
    turn_a, turn_b = naive.random_rotations(rng, 2)
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    poses = naive.pose(turn_a), naive.pose(turn_b, turn_a @ (0.4, 0.5, 0.6))
    curves = gk.intersection_curve(cube, cube, *poses, join=True)
    assert len(curves) > 0
    for curve in curves:
        np.testing.assert_array_equal(curve[0], curve[-1])
