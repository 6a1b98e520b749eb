"""The laws of the README, for chosen pairs of kinds of shapes and for difficult pairs from hypothesis."""

from __future__ import annotations

import laws
import naive
import numpy as np
import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import CHOSEN_PAIRS, PAIRS, SHAPES, is_polytope

import gjk3d as gk

POLYTOPE_PAIRS = [pair for pair in PAIRS if all(is_polytope(SHAPES[name]) for name in pair)]


@pytest.mark.parametrize(("name_a", "name_b"), CHOSEN_PAIRS)
def test_chosen_pairs_keep_the_laws(name_a, name_b, rng):
    pair = laws.Pair.random(rng, SHAPES[name_a], SHAPES[name_b], 12)
    result = laws.all_laws(pair, tight=True, rng=rng)
    laws.one_is_many_law(pair, result, range(3))


@pytest.mark.parametrize(("name_a", "name_b"), CHOSEN_PAIRS)
def test_coincident_frames_keep_the_laws(name_a, name_b):
    """Centres and axes coincide, so many directions tie, and intervals need not be tight."""
    a, b = SHAPES[name_a], SHAPES[name_b]
    pair = laws.Pair(a, np.eye(4), b, np.eye(4))
    result = laws.all_laws(pair, tight=False, rng=np.random.default_rng(0))
    plain = gk.signed_distance(pair.shape_a, pair.shape_b)
    assert plain.distance == result.distance[0]
    assert np.array_equal(plain.normal, result.normal[0])


@given(strategies.pairs())
def test_any_pair_keeps_the_laws(case):
    pair = laws.Pair(*case)
    result = laws.all_laws(pair, tight=False, rng=np.random.default_rng(0))
    laws.one_is_many_law(pair, result, [0])


@given(strategies.pairs(strategies.polytopes))
def test_polytopes_always_have_tight_intervals(case):
    pair = laws.Pair(*case)
    result = laws.all_laws(pair, tight=True, rng=np.random.default_rng(0))
    assert not np.any(result.status == gk.Status.UNDECIDED)


_OFF_CENTRE = ("union", ("sphere", 2.5), ("inflated", ("segment", (-2.0, -2.0, -2.0), (-2.0, -2.0, 0.0)), 1.5))


@example((_OFF_CENTRE, np.eye(4), _OFF_CENTRE, naive.pose(np.eye(3), np.full(3, -2.0))), "auto", 1e-3)
@given(strategies.pairs(), st.sampled_from(["auto", "epa"]), st.sampled_from([1e-3, 1e-6, 0.1]))
def test_bounds_hold_if_the_solver_stops_early(case, depth, tol):
    pair = laws.Pair(*case)
    best, early = pair.signed(), pair.signed(depth=depth, tol=tol)
    laws.form(pair, early)
    laws.at_most(early.lower, best.upper + pair.rounding, "loose intervals overlap tight ones")
    laws.at_most(best.lower, early.upper + pair.rounding, "loose intervals overlap tight ones")
    requested = 1.01 * tol * pair.size_from_origins
    laws.at_most(laws.within(early), np.maximum(requested, laws.within(best)), "as narrow as asked")


@pytest.mark.parametrize(("name_a", "name_b"), CHOSEN_PAIRS)
def test_epa_and_the_automatic_choice_agree(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(5), SHAPES[name_a], SHAPES[name_b], 20)
    by_epa = pair.signed(depth="epa")
    laws.form(pair, by_epa)
    laws.bound_law(pair, by_epa)
    laws.sign_law(pair, by_epa)
    laws.same_value(pair, pair.signed(), by_epa)


@pytest.mark.parametrize(("name_a", "name_b"), POLYTOPE_PAIRS)
def test_facet_enumeration_and_epa_agree(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(15), SHAPES[name_a], SHAPES[name_b], 20)
    by_facets = pair.signed(depth="facets")
    laws.form(pair, by_facets)
    laws.bound_law(pair, by_facets)
    laws.sign_law(pair, by_facets)
    laws.same_value(pair, pair.signed(depth="epa"), by_facets)


SHARP = [pair for pair in POLYTOPE_PAIRS if not any(naive.body(SHAPES[name]).radius for name in pair)]


@pytest.mark.parametrize(("name_a", "name_b"), SHARP)
def test_separating_axis_bounds_the_gap_and_gives_the_depth(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(16), SHAPES[name_a], SHAPES[name_b], 20)
    result = pair.signed()
    axis = gk.separating_axis(pair.shape_a, pair.shape_b, pair.poses_a, pair.poses_b)
    laws.at_most(np.abs(axis.gap - pair.gap(axis.normal)), 1e-12 * pair.size + pair.rounding, "the gap along the axis")
    laws.at_most(axis.gap, result.upper + pair.rounding, "a lower bound")
    deep = result.upper < 0
    laws.at_most(np.abs(axis.gap - result.distance)[deep], (pair.promised + pair.rounding)[deep], "the depth")
    assert np.array_equal(axis.gap > pair.rounding, result.lower > pair.rounding)


@pytest.mark.parametrize(("name_a", "name_b"), CHOSEN_PAIRS)
def test_status_is_beyond_if_distance_exceeds_max_distance(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(6), SHAPES[name_a], SHAPES[name_b], 20)
    full = pair.signed()
    limit = float(np.median(full.distance[full.distance > 0]))
    for query in (pair.signed, pair.apart):
        result = query(max_distance=limit)
        beyond = result.status == gk.Status.BEYOND
        assert np.all(beyond[full.lower > limit + pair.rounding])
        assert not np.any(beyond[full.upper < limit - pair.rounding])
        assert np.all(result.lower[beyond] > limit)
        laws.at_most(result.lower[beyond], (full.upper + pair.rounding)[beyond], "a true lower bound")
        laws.at_most((full.lower - pair.rounding)[beyond], result.upper[beyond], "a true upper bound")
        near = ~beyond
        exact = np.maximum(full.distance, 0.0 if query == pair.apart else -np.inf)
        error = np.abs(result.distance - exact) - pair.promised
        laws.at_most(error[near], pair.rounding[near], "nearer ones as ever")
    assert 0 < beyond.sum() < len(beyond)


@pytest.mark.parametrize("name", SHAPES)
def test_halfspace_distance_matches_closed_form(name):
    """The signed distance has the closed form -h_B(-n) - offset."""
    rng = np.random.default_rng(7)
    b = naive.body(SHAPES[name])
    normal, offset = rng.normal(size=3), 0.25
    ground, shape = gk.Halfspace(normal, offset), strategies.build(SHAPES[name])
    up = normal / np.linalg.norm(normal)
    poses_a, poses_b = strategies.random_poses(rng, ("sphere", 0.5), SHAPES[name], 40)
    poses_b[:, :3, 3] = poses_a[:, :3, 3] + 3 * rng.normal(size=(40, 3))
    result = gk.signed_distance(ground, shape, poses_a, poses_b)
    n = np.einsum("nij,j->ni", poses_a[:, :3, :3], up)
    level = offset / np.linalg.norm(normal) + (n * poses_a[:, :3, 3]).sum(axis=1)
    expected = -naive.posed_height(b, poses_b, -n) - level
    size = b.size + abs(offset) + np.linalg.norm(poses_a[:, :3, 3], axis=1) + np.linalg.norm(poses_b[:, :3, 3], axis=1)
    laws.at_most(np.abs(result.distance - expected), 1e-13 * size, "closed form")
    laws.at_most(np.abs(result.normal - n).max(axis=1), 1e-14, "the halfspace's own normal")
    laws.at_most(result.lower, expected + 1e-14 * size, "bounds")
    laws.at_most(expected, result.upper + 1e-14 * size, "bounds")
    laws.at_most(result.upper - result.lower, 1e-12 * size, "bounds")
    error = result.point_b - result.point_a - result.distance[:, None] * result.normal
    laws.at_most(np.abs(error).max(axis=1), 1e-12 * size, "sign law")
    laws.at_most(np.abs((result.point_a * n).sum(axis=1) - level), 1e-12 * size, "on the plane")
    mirrored = gk.signed_distance(shape, ground, poses_b, poses_a)
    laws.at_most(np.abs(mirrored.distance - expected), 1e-13 * size, "swapped")
    laws.at_most(np.abs(mirrored.normal + n).max(axis=1), 1e-14, "swapped")
    assert np.array_equal(gk.collide(ground, shape, poses_a, poses_b), ~(result.lower > 0))
    assert 3 <= np.sum(expected < 0) <= 37
