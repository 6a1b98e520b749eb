"""Needles, plates and tiny shapes: lengths are divided by up to 1e3, 1e5 and 1e9. Poses are stacked."""

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
def test_thin_shapes_satisfy_the_laws(part):
    for pair, rng in thin_pairs(PAIRS[part::4], 3, 100):
        laws.all_laws(pair, tight=False, rng=rng)


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize("decades", [5, 9])
def test_very_thin_polytopes_have_valid_bounds_and_few_steps(decades):
    """Bounds and status are valid and the number of iterations is limited, also at the limits of float precision."""
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


def test_foot_of_a_point_near_the_end_of_a_segment():
    """GJK continues when |v| cannot decrease in floats but the bounds are not yet tight."""
    hair = np.array([2.5104447031437311e-09, 5.0000201044520328e-10, 2.6317795503897924e-19])
    edge = gk.Segment(hair, hair * (1, 1, 0) - (0, 0, 1e-9))
    result = gk.signed_distance(gk.Point(), edge)
    assert result.tight
    assert result.upper - result.lower < 1e-12 * np.linalg.norm(hair) * 2
    assert abs(result.normal[2]) < 1e-12


def test_parallel_segments_that_barely_overlap():
    """The normal is perpendicular to both, although the witness points are vertices up to rounding."""
    segment = gk.Segment((-2, -2, -2), (-2, -1, -2))
    pose = np.eye(4)
    pose[:3, 3] = (2, -0.99999999, -2)
    result = gk.signed_distance(segment, segment, None, pose)
    assert result.distance == pytest.approx(np.sqrt(8), rel=1e-14)
    assert abs(result.normal[1]) < 1e-12


def test_witness_points_of_barely_overlapping_slivers():
    """Only the radius overlaps: GJK ends early, and its witness points are not refined."""
    sliver = np.array([(-1e-8, -5e-9, -3.5e-4), (4.5e-7, 5e-9, -3.1e-4), (-1.8e-7, 4e-8, 2e-3)])
    blade = np.array([(-5e-3, -1.3e-6, -6e-5), (0.15, 2.3e-5, 1.8e-4), (0.014, 9e-5, 6e-4)])
    a, b = ("triangle", sliver), ("inflated", ("triangle", blade), 1.3e-6)
    pair = laws.Pair.random(np.random.default_rng(655), a, b, 2000)
    result = pair.signed()
    assert np.count_nonzero(result.upper < 0) > 500
    laws.distance_law(pair, result)


def test_coincident_points_far_from_their_origins_touch():
    """The error of their offset is the rounding of a double-double sum, not a fraction of the offset."""
    point = gk.ConvexHull([(-3.060660171779821, -3.0, -0.6464466094067262)])
    pose = np.eye(4)
    pose[:3, :3] = (0, -1, 0), (0.7071067811865475, 0, -0.7071067811865476), (0.7071067811865476, 0, 0.7071067811865475)
    for result in (gk.signed_distance(point, point, pose, pose), gk.distance(point, point, pose, pose)):
        assert result.lower <= 0 <= result.upper < 1e-28
        assert result.status == gk.Status.TOUCHING
        assert gk.verify(result, point, point, pose, pose)


#: lengths whose squares are denormal or zero in floats
TINY_LENGTHS = [1e-150, 1e-158, 1e-160, 1e-161, 1.5e-162, 2e-162, 2.6e-162, 1e-170, 1e-310]
SOME = ["box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "squashed cone", "rounded box"]


@pytest.mark.parametrize("far", TINY_LENGTHS)
@pytest.mark.parametrize(("a", "b"), [*itertools.pairwise(SOME), ("cylinder", "cylinder"), ("hull", "hull")])
def test_nearly_coincident_centres_have_unit_normals(a, b, far):
    """Normals have unit length and the bounds and booleans are valid, however short the offset of the centres."""
    first, second = strategies.build(SHAPES[a]), strategies.build(SHAPES[b])
    still = gk.signed_distance(first, second)
    for way in ((1.0, 0.0, 0.0), (0.36, 0.48, 0.8)):
        pose = np.eye(4)
        pose[:3, 3] = far * np.array(way)
        for trace in (False, True):
            result = gk.signed_distance(first, second, None, pose, trace=trace)
            assert max(result.lower, still.lower) <= min(result.upper, still.upper)
            assert abs(np.linalg.norm(result.normal) - 1.0) < 1e-14
        common = gk.distance(first, second, None, pose)
        assert abs(np.linalg.norm(common.normal) - 1.0) < 1e-14
        for share in (1.001, 0.999, 0.95, 0.8, 0.6):
            margin = float(share * still.distance)
            assert gk.collide(first, second, None, pose, margin=margin) == (share < 1.0)


@pytest.mark.parametrize("name", ["cylinder", "cone", "ellipsoid", "squashed cone", "capsule", "disc"])
@pytest.mark.parametrize("far", TINY_LENGTHS)
def test_support_near_an_axis_is_a_point_of_the_shape(name, far):
    shape = strategies.build(SHAPES[name])
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        for side in np.eye(3)[axis == 0.0]:
            point = shape.support(axis + far * side)
            assert shape.contains(point)
            assert abs(point @ axis - shape.support(axis) @ axis) < 1e-15


@pytest.mark.parametrize("name", SHAPES)
def test_support_ignores_the_length_of_the_direction(name):
    shape = strategies.build(SHAPES[name])
    directions = np.random.default_rng(4).normal(size=(20, 3))
    for power in (-1000, -600, -400, 400, 600, 1000):
        np.testing.assert_array_equal(shape.support(np.ldexp(directions, power)), shape.support(directions))
