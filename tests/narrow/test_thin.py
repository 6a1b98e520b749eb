"""Needles, plates and specks: every length cut by up to three, five and nine powers of ten, in stacks."""

from __future__ import annotations

import itertools

import laws
import numpy as np
import pytest
import strategies
from strategies import PAIRS, SHAPES, is_polytope

import gjk3d as gk

POLYTOPES = [pair for pair in PAIRS if all(is_polytope(SHAPES[name]) for name in pair)]


def thin_pairs(pairs, decades, count):
    rng = np.random.default_rng([int(decades * 10), count])
    for k in range(count):
        name_a, name_b = pairs[k % len(pairs)]
        a = strategies.thinned(rng, strategies.random_spec(rng, name_a), decades)
        b = strategies.thinned(rng, strategies.random_spec(rng, name_b), decades)
        yield laws.Pair.random(rng, a, b, 20), rng


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize("part", range(4))
def test_thin_shapes_keep_the_laws(part):
    for pair, rng in thin_pairs(PAIRS[part::4], 3, 100):
        laws.all_laws(pair, tight=False, rng=rng)


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize("decades", [5, 9])
def test_very_thin_polytopes_have_true_bounds_and_end_soon(decades):
    """What is asked of shapes that floats can hardly hold: true bounds, a true status, and no walk without end."""
    for pair, _ in thin_pairs(POLYTOPES, decades, 300):
        result = pair.signed()
        laws.form(pair, result)
        laws.bound_law(pair, result, tight=False)
        laws.status_law(pair, result)
        laws.collide_law(pair, result)
        laws.swap_law(pair, result)
        assert result.iterations.max() < 1000
        corners = pair.body_a.points.shape[0] * pair.body_b.points.shape[0]
        assert np.all(result.iterations[result.distance < 0] <= 256 + corners)


def test_a_vertex_a_hair_beyond_its_foot_on_an_edge():
    """|v| cannot get shorter in floats, and yet the bounds are apart: GJK must go on."""
    hair = np.array([2.5104447031437311e-09, 5.0000201044520328e-10, 2.6317795503897924e-19])
    edge = gk.Segment(hair, hair * (1, 1, 0) - (0, 0, 1e-9))
    result = gk.signed_distance(gk.Point(), edge)
    assert result.tight
    assert result.upper - result.lower < 1e-12 * np.linalg.norm(hair) * 2
    assert abs(result.normal[2]) < 1e-12


def test_parallel_segments_that_hardly_overlap():
    """The normal is at right angles to both, although the nearest points are vertices to rounding."""
    segment = gk.Segment((-2, -2, -2), (-2, -1, -2))
    pose = np.eye(4)
    pose[:3, 3] = (2, -0.99999999, -2)
    result = gk.signed_distance(segment, segment, None, pose)
    assert result.distance == pytest.approx(np.sqrt(8), rel=1e-14)
    assert abs(result.normal[1]) < 1e-12


def test_the_common_point_of_slivers_less_deep_than_they_are_thick():
    """The overlap is the radius' own: GJK ends early, and its witnesses are as they were found."""
    sliver = np.array([(-1e-8, -5e-9, -3.5e-4), (4.5e-7, 5e-9, -3.1e-4), (-1.8e-7, 4e-8, 2e-3)])
    blade = np.array([(-5e-3, -1.3e-6, -6e-5), (0.15, 2.3e-5, 1.8e-4), (0.014, 9e-5, 6e-4)])
    one, other = ("triangle", sliver), ("inflated", ("triangle", blade), 1.3e-6)
    pair = laws.Pair.random(np.random.default_rng(655), one, other, 2000)
    result = pair.signed()
    assert np.count_nonzero(result.upper < 0) > 500
    laws.distance_law(pair, result)


def test_two_points_in_one_place_far_from_the_origins_of_their_frames():
    """Their offset is known to a sum's rounding in twice the digits, not to a part of itself."""
    point = gk.ConvexHull([(-3.060660171779821, -3.0, -0.6464466094067262)])
    pose = np.eye(4)
    pose[:3, :3] = (0, -1, 0), (0.7071067811865475, 0, -0.7071067811865476), (0.7071067811865476, 0, 0.7071067811865475)
    for answer in (gk.signed_distance(point, point, pose, pose), gk.distance(point, point, pose, pose)):
        assert answer.lower <= 0 <= answer.upper < 1e-28
        assert answer.status == gk.Status.TOUCHING
        assert gk.verify(answer, point, point, pose, pose)


#: their squares have lost digits in floats, or vanish
NEXT_TO_NOTHING = [1e-150, 1e-158, 1e-160, 1e-161, 1.5e-162, 2e-162, 2.6e-162, 1e-170, 1e-310]
SOME = ["box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "squashed cone", "rounded box"]


@pytest.mark.parametrize("far", NEXT_TO_NOTHING)
@pytest.mark.parametrize(("a", "b"), [*itertools.pairwise(SOME), ("cylinder", "cylinder"), ("hull", "hull")])
def test_centres_next_to_nothing_apart_are_as_good_as_one(a, b, far):
    """A direction is a unit vector however short what it comes from: no bound or boolean is off by its length."""
    one, other = strategies.build(SHAPES[a]), strategies.build(SHAPES[b])
    still = gk.signed_distance(one, other)
    for way in ((1.0, 0.0, 0.0), (0.36, 0.48, 0.8)):
        pose = np.eye(4)
        pose[:3, 3] = far * np.array(way)
        for trace in (False, True):
            found = gk.signed_distance(one, other, None, pose, trace=trace)
            assert max(found.lower, still.lower) <= min(found.upper, still.upper)
            assert abs(np.linalg.norm(found.normal) - 1.0) < 1e-14
        common = gk.distance(one, other, None, pose)
        assert abs(np.linalg.norm(common.normal) - 1.0) < 1e-14
        for share in (1.001, 0.999, 0.95, 0.8, 0.6):
            margin = float(share * still.distance)
            assert gk.collide(one, other, None, pose, margin=margin) == (share < 1.0)


@pytest.mark.parametrize("name", ["cylinder", "cone", "ellipsoid", "squashed cone", "capsule", "disc"])
@pytest.mark.parametrize("far", NEXT_TO_NOTHING)
def test_directions_next_to_an_axis_have_support_points_of_the_shape(name, far):
    shape = strategies.build(SHAPES[name])
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        for side in np.eye(3)[axis == 0.0]:
            point = shape.support(axis + far * side)
            assert shape.contains(point)
            assert abs(point @ axis - shape.support(axis) @ axis) < 1e-15


@pytest.mark.parametrize("name", SHAPES)
def test_support_takes_directions_of_any_length(name):
    shape = strategies.build(SHAPES[name])
    directions = np.random.default_rng(4).normal(size=(20, 3))
    for power in (-1000, -600, -400, 400, 600, 1000):
        np.testing.assert_array_equal(shape.support(np.ldexp(directions, power)), shape.support(directions))
