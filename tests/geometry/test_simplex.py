"""The closest point of a simplex to the origin by Voronoi regions, compared with Johnson's sub-algorithm."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gjk3d.geometry import simplex

TINY = 1e-15


def closest(points):
    """Return the package's closest point and its weights for two to four points."""
    solve = [simplex.closest_on_segment, simplex.closest_on_triangle, simplex.closest_on_tetrahedron][len(points) - 2]
    size = max(max(abs(x) for x in p) for p in points) or 1.0
    point, weights, *_ = solve(*(tuple(float(x) for x in p) for p in points), TINY * size)
    return np.array(point), np.array(weights[: len(points)])


def check(points, rel=1e-12):
    """Compare the closest point and its weights with Johnson's exact point, and return both."""
    points = np.asarray(points, dtype=float)
    size = np.abs(points).max() or 1.0
    exact, _ = naive.johnson(naive.exact(points).tolist())
    exact = np.array([float(x) for x in exact])
    point, weights = closest(points)
    assert np.linalg.norm(point - exact) <= rel * size
    assert np.linalg.norm(weights @ points - exact) <= rel * size
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-14)
    return point, weights


@pytest.mark.parametrize("count", [2, 3, 4])
def test_random_simplices(count):
    rng = np.random.default_rng(count)
    features = set()
    for _ in range(1500):
        points = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-1, 1) + rng.normal(size=3)
        _, weights = check(points)
        features.add(tuple(weights > 0))
    # the samples cover every Voronoi region
    assert len(features) == 2**count - 1


@pytest.mark.parametrize("count", [2, 3, 4])
def test_vertex_order_does_not_change_the_point(count):
    rng = np.random.default_rng(count)
    for _ in range(20):
        points = rng.normal(size=(count, 3)) + 0.5
        exact, weights = check(points)
        for order in itertools.permutations(range(count)):
            again, shuffled = closest(points[list(order)])
            assert np.allclose(again, exact, rtol=0, atol=1e-13)
            assert np.allclose(shuffled, weights[list(order)], rtol=0, atol=1e-12)


lattice = st.tuples(*[st.integers(-2, 2)] * 3)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_degenerate_simplices(count):
    """Lattice points give duplicate vertices, flat simplices, and the origin on a vertex, edge or face."""

    @given(st.lists(lattice, min_size=count, max_size=count))
    def every(points):
        check(points)

    every()


def test_tetrahedron_regions_match_hand_computed_points():
    corner = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    for shift, nearest, weights in [
        ((1, 1, 1), (1, 1, 1), (1, 0, 0, 0)),
        ((-0.5, 2, 3), (0, 2, 3), (0.5, 0.5, 0, 0)),
        ((-0.25, -0.25, 5), (0, 0, 5), (0.5, 0.25, 0.25, 0)),
        ((-0.25, -0.25, -0.25), (0, 0, 0), (0.25, 0.25, 0.25, 0.25)),
        ((-1, -1, -1), (-2 / 3, -2 / 3, -2 / 3), (0, 1 / 3, 1 / 3, 1 / 3)),
    ]:
        point, coordinates = closest(corner + shift)
        assert point == pytest.approx(nearest, abs=1e-15)
        assert coordinates == pytest.approx(weights, abs=1e-15)


def test_segment_of_the_2d_tutorial():
    """The segment from (1, 3) to (-4, -1) has the weight 24/41 of (1, 3) and the closest point (-44/41, 55/41)."""
    point, weights = closest([(1, 3, 0), (-4, -1, 0)])
    assert point == pytest.approx([-44 / 41, 55 / 41, 0], rel=1e-15)
    assert weights == pytest.approx([24 / 41, 17 / 41], rel=1e-15)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scale_does_not_matter(count, scale):
    rng = np.random.default_rng(3)
    for _ in range(100):
        check((rng.normal(size=(count, 3)) + 0.3) * scale)


@pytest.mark.parametrize("thin", [1e-3, 1e-6, 1e-9])
def test_slivers_have_accurate_points(thin):
    """The closest point of thin triangles and flat tetrahedra is accurate, even if the weights are ambiguous."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        points = rng.normal(size=(4, 3)) * (1, 1, thin) + (0.3, 0.2, 0.5)
        check(points[:3], rel=1e-11)
        check(points, rel=1e-11)


def test_inside_is_reported_only_for_a_contained_origin():
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(1000):
        points = rng.normal(size=(4, 3))
        _, weights = naive.johnson(points.tolist())
        _, _, region = simplex.closest_on_tetrahedron(*map(tuple, points.tolist()), TINY)
        assert (region == simplex.INSIDE) == (min(weights) > 0)
        inside += region == simplex.INSIDE
    assert 60 <= inside <= 250
