"""Invariants that no other file checks.

Other files check these invariants. I1 and I2, bounds and witness points: `laws.bound_law` and `sign_law`. I4, widths:
`bound_law` with ``tight``. I5, swap, rigid motion and powers of two: `swap_law`, `rigid_law`, `scale_law`.
I8, look-up of supports: tests/geometry/test_directions.py. I12, stored failures: tests/test_golden.py.
"""

from __future__ import annotations

import laws
import naive
import numpy as np
import pytest
from strategies import CHOSEN_PAIRS, PAIRS, SHAPES, is_polytope

import gjk3d as gk
from gjk3d.exact import exact_signed_distance

POLYTOPES = [pair for pair in PAIRS if all(is_polytope(SHAPES[name]) for name in pair)]


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_i3_no_shorter_shift_separates_shapes(one, other, rng):
    pair = laws.Pair.random(rng, SHAPES[one], SHAPES[other], 24)
    result = pair.signed()
    inside = np.flatnonzero(result.upper < -1e-9 * pair.size)
    directions = naive.unit_vectors(rng, 100)
    for k in inside[:4]:
        depth = -result.upper[k]
        poses = np.tile(pair.poses_b[k], (100, 1, 1))
        poses[:, :3, 3] += directions * depth * (1 - 1e-9)
        shifted = gk.signed_distance(pair.shape_a, pair.shape_b, pair.poses_a[k], poses)
        assert (shifted.upper <= pair.world[k]).all()
        assert gk.collide(pair.shape_a, pair.shape_b, pair.poses_a[k], poses).all()
        out = pair.poses_b[k].copy()
        out[:3, 3] += (-result.lower[k] + 4 * pair.world[k]) * result.normal[k]
        assert gk.signed_distance(pair.shape_a, pair.shape_b, pair.poses_a[k], out).upper >= 0


@pytest.mark.parametrize("count", [8, 40, 200])
def test_i5_vertex_order_does_not_matter(count):
    rng = np.random.default_rng(count)
    points = naive.unit_vectors(rng, count) * rng.uniform(0.9, 1.1, (count, 1))
    box = gk.Box((1, 0.5, 2))
    poses = np.tile(np.eye(4), (60, 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, 60)
    poses[:, :3, 3] = rng.normal(size=(60, 3))
    results = [gk.signed_distance(gk.ConvexHull(points[rng.permutation(count)]), box, None, poses) for _ in range(3)]
    for result in results[1:]:
        assert (np.maximum(result.lower, results[0].lower) <= np.minimum(result.upper, results[0].upper)).all()
        assert np.array_equal(result.status, results[0].status)
        np.testing.assert_allclose(result.distance, results[0].distance, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_i6_distance_grows_by_the_shift_along_the_normal(one, other, rng):
    pair = laws.Pair.random(rng, SHAPES[one], SHAPES[other], 12)
    result = pair.signed()
    for s in (1e-6, 1e-2, 1.0):
        step = s * pair.size
        moved = pair.moved(shift_b=step[:, None] * result.normal)
        farther = moved.signed()
        allowed = laws.within(result) + laws.within(farther) + 2 * pair.promised + 4 * pair.world
        laws.at_most(step - (farther.distance - result.distance), allowed, "grows by what B moves")


@pytest.mark.parametrize(("one", "other"), POLYTOPES)
def test_i7_facets_epa_and_rationals_agree(one, other):
    rng = np.random.default_rng(POLYTOPES.index((one, other)))
    pair = laws.Pair.random(rng, SHAPES[one], SHAPES[other], 8)
    by_facets, by_epa = pair.signed(depth="facets"), pair.signed(depth="epa")
    laws.same_value(pair, by_facets, by_epa)
    for k in range(0, 8, 3):
        a, b = naive.bodies(SHAPES[one], pair.poses_a[k], SHAPES[other], pair.poses_b[k])
        low, high = (x - a.radius - b.radius for x in exact_signed_distance(a.points, b.points).bounds)
        slack = pair.promised[k] + pair.world[k]
        for result in (by_facets, by_epa):
            assert result.lower[k] - slack <= high
            assert low <= result.upper[k] + slack
            assert (result.lower[k] > slack) <= (high > 0)
            assert (result.upper[k] < -slack) <= (low < 0)
