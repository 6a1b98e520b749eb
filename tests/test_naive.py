"""The reference implementations compared with each other or with numbers computed by hand."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import naive
import naive_2d
import numpy as np
import pytest

SOLIDS = {
    "sphere": ("sphere", 0.7),
    "box": ("box", (1.0, 2.0, 0.5)),
    "capsule": ("capsule", 0.4, 1.5),
    "cylinder": ("cylinder", 0.8, 1.2),
    "cone": ("cone", 0.9, 1.4),
    "ellipsoid": ("ellipsoid", (0.5, 1.0, 0.8)),
}


def test_johnson_returns_feature_nearest_to_origin():
    unit = Fraction(1)
    # vertex, edge, face and interior of a tetrahedron, computed by hand
    base = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for shift, nearest, weights in [
        ((1, 1, 1), (1, 1, 1), (1, 0, 0, 0)),
        ((Fraction(-1, 2), 2, 3), (0, 2, 3), (Fraction(1, 2), Fraction(1, 2), 0, 0)),
        ((Fraction(-1, 4), Fraction(-1, 4), 5), (0, 0, 5), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), 0)),
        ((Fraction(-1, 4),) * 3, (0, 0, 0), (Fraction(1, 4),) * 4),
    ]:
        v, w = naive.johnson([[(x + s) * unit for x, s in zip(p, shift, strict=True)] for p in base])
        assert tuple(v) == nearest
        assert tuple(w) == weights


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_johnson_equals_exact_and_quadratic_program(count):
    rng = np.random.default_rng(count)
    for _ in range(100):
        points = rng.normal(size=(count, 3)) + rng.normal(size=3)
        v, w = naive.johnson(points.tolist())
        exact, _ = naive.johnson(naive.exact(points).tolist())
        nearest, weights = naive.closest_to_origin(points)
        assert np.allclose(v, [float(x) for x in exact], rtol=0, atol=1e-12)
        assert np.allclose(v, nearest, rtol=0, atol=1e-12)
        assert np.allclose(np.asarray(w) @ points, v, rtol=0, atol=1e-12)
        assert np.allclose(weights @ points, nearest, rtol=0, atol=1e-13)
        assert min(w) >= 0
        assert sum(w) == pytest.approx(1)


def test_closest_to_origin_is_optimal():
    rng = np.random.default_rng(0)
    for k in range(200):
        flatten = np.array([1, 1, 0 if k % 3 else 1])
        points = rng.integers(-3, 4, size=(rng.integers(1, 40), 3)) * flatten + rng.integers(-4, 5, size=3)
        v, weights = naive.closest_to_origin(points)
        assert np.all(points @ v >= v @ v - 1e-12)
        assert np.allclose(weights @ points, v, rtol=0, atol=1e-13)


def test_qhull_depth_equals_brute_force_depth():
    rng = np.random.default_rng(1)
    overlapping = 0
    for _ in range(60):
        stretch = 10.0 ** rng.uniform(-4, 0, 3)
        a = rng.normal(size=(rng.integers(4, 9), 3)) * stretch
        b = rng.normal(size=(rng.integers(4, 9), 3)) * 10.0 ** rng.uniform(-4, 0, 3)
        b += rng.normal(size=3) * 0.2 * stretch
        size = np.abs(naive.differences(a, b)).max()
        value, normal = naive.hull_signed_distance(naive.differences(a, b))
        depth, _ = naive.brute_depth(a, b)
        overlapping += value < 0
        assert min(value, 0.0) == pytest.approx(-max(depth, 0.0), rel=0, abs=1e-13 * size)
        g = float(naive.gap(naive._polytope(a), naive._polytope(b), normal)[0])
        assert g == pytest.approx(value, rel=0, abs=1e-12 * size)
    assert 18 <= overlapping <= 42


def test_exact_twins_equal_floating_point_twins():
    rng = np.random.default_rng(2)
    overlapping = 0
    for _ in range(25):
        a, b = rng.normal(size=(6, 3)), rng.normal(size=(5, 3)) + rng.normal(size=3) * 0.6
        square = naive.exact_signed_square(naive.exact(a), naive.exact(b))
        value, normal = naive.hull_signed_distance(naive.differences(a, b))
        overlapping += square < 0
        assert float(abs(square)) ** 0.5 * (1 if square > 0 else -1) == pytest.approx(value, rel=1e-12, abs=1e-13)
        p, q = naive.exact_gap(naive.exact(a), naive.exact(b), normal)
        assert p * abs(p) / q <= square
        assert float(p) / sqrt(q) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert 5 <= overlapping <= 20


@pytest.mark.parametrize(
    ("a", "b", "sd"),
    [
        ([(0, 0, 0)], [(0, 0, 0)], 0),
        ([(0, 0, 0)], [(1, 2, 2)], 3),
        ([(-1, 0, 0), (1, 0, 0)], [(0, -1, 0), (0, 1, 0)], 0),
        ([(-1, 0, 0), (1, 0, 0)], [(0, -1, 1), (0, 1, 1)], 1),
        ([(-1, 0, 0), (1, 0, 0)], [(0, 0, 0)], 0),
        ([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0.5, 0.5, -1), (0.5, 0.5, 3)], -0.5),
        ([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0.5, 0.5, 0), (1, 3, 0), (3, 1, 0)], 0),
    ],
)
def test_flat_pairs_match_hand_computed_distance(a, b, sd):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    value, normal = naive.hull_signed_distance(naive.differences(a, b))
    assert value == pytest.approx(sd, abs=1e-15)
    assert np.linalg.norm(normal) == pytest.approx(1)
    square = naive.exact_signed_square(naive.exact(a), naive.exact(b))
    assert float(square) == pytest.approx(np.sign(sd) * sd**2, abs=1e-15)


def test_axis_aligned_boxes_match_closed_form():
    rng = np.random.default_rng(3)
    for _ in range(100):
        a, b = rng.uniform(0.1, 2, 3), rng.uniform(0.1, 2, 3)
        offset = rng.normal(size=3)
        closed = naive.point_signed_distance(naive.aligned_sum(("box", a), ("box", b)), offset)
        twin, _ = naive.signed_distance(naive.body(("box", a)), naive.body(("box", b), naive.pose(translation=offset)))
        assert twin == pytest.approx(closed, rel=1e-13, abs=1e-14)
        distance, point_a, point_b = naive.polytope_distance(
            naive.body(("box", a)).points, naive.body(("box", b)).points + offset
        )
        assert distance == pytest.approx(max(closed, 0.0), rel=1e-13, abs=1e-14)
        assert np.all(np.abs(point_a) <= a / 2 + 1e-14)
        assert np.all(np.abs(point_b - offset) <= b / 2 + 1e-14)


@pytest.mark.parametrize("name", SOLIDS)
def test_supports_are_farthest_points(name):
    """A support point is on the surface, and no inner point lies beyond it."""
    rng = np.random.default_rng(4)
    of = naive.body(SOLIDS[name])
    directions = naive.unit_vectors(rng, 300)
    points = of.support(directions)
    assert max(abs(naive.point_signed_distance(SOLIDS[name], p)) for p in points) < 1e-12
    inside = [p for p in rng.uniform(-1, 1, size=(400, 3)) if naive.point_signed_distance(SOLIDS[name], p) <= 0]
    assert len(inside) > 20
    assert naive.outside(of, np.array(inside), directions).max() <= 1e-12
    assert np.all(np.linalg.norm(points - of.center, axis=1) <= of.reach + of.radius + 1e-12)


@pytest.mark.full
@pytest.mark.parametrize("name", SOLIDS)
def test_closed_point_distance_lies_in_bracket(name):
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(40):
        p = rng.normal(size=3) * 0.6
        closed = naive.point_signed_distance(SOLIDS[name], p)
        lo, hi = naive.bracket(naive.body(SOLIDS[name]), naive.body(("point", p)))
        hits += closed < 0
        assert lo - 1e-13 <= closed <= hi + 1e-13
        assert hi - lo < 1e-6
    assert 6 <= hits <= 32


def test_ellipsoid_distance_at_centre_and_on_axes():
    radii = np.array([3.0, 2.0, 1.0])
    signed = naive.point_signed_distance
    assert signed(("ellipsoid", radii), (0, 0, 0)) == -1
    assert signed(("ellipsoid", radii), (0, 0, 4)) == pytest.approx(3, rel=1e-14)
    assert signed(("ellipsoid", radii), (5, 0, 0)) == pytest.approx(2, rel=1e-14)
    # near the centre the foot point is off the axis: minimise (u - x)^2 + 1 - u^2 / 9 over u, which gives 1 - x^2 / 8
    assert signed(("ellipsoid", radii), (1, 0, 0)) == pytest.approx(-sqrt(1 - 1 / 8), rel=1e-14)
    assert signed(("ellipsoid", (1, 1, 1)), (0, 0, 0)) == -1


def test_segment_distance_equals_quadratic_program():
    rng = np.random.default_rng(6)
    for _ in range(200):
        a0, a1, b0, b1 = rng.integers(-3, 4, size=(4, 3)).astype(float)
        value, _, _ = naive.polytope_distance(np.array([a0, a1]), np.array([b0, b1]))
        assert naive.segment_distance(a0, a1, b0, b1) == pytest.approx(value, abs=1e-12)


def test_bracket_of_aligned_shapes_contains_closed_form():
    rng = np.random.default_rng(7)
    pairs = [
        (("cylinder", 0.5, 1.0), ("cylinder", 0.3, 2.0)),
        (("capsule", 0.5, 1.0), ("capsule", 0.3, 2.0)),
        (("ellipsoid", (0.5, 1.0, 0.7)), ("ellipsoid", (1.0, 2.0, 1.4))),
    ]
    for a, b in pairs:
        for _ in range(10):
            offset = rng.normal(size=3)
            closed = naive.point_signed_distance(naive.aligned_sum(a, b), offset)
            lo, hi = naive.bracket(naive.body(a), naive.body(b, naive.pose(translation=offset)))
            assert lo - 1e-13 <= closed <= hi + 1e-13
            assert hi - lo < 1e-5


def test_specs_compose():
    ball = ("scaled", ("sphere", 1.0), (1.0, 2.0, 3.0))
    egg = ("ellipsoid", (1.0, 2.0, 3.0))
    directions = naive.unit_vectors(np.random.default_rng(8), 50)
    assert np.allclose(naive.body(ball).support(directions), naive.body(egg).support(directions), atol=1e-14)
    turned = naive.pose([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (5, 0, 0))
    assert np.allclose(naive.body(("placed", ("box", (2, 4, 6)), turned)).support([(1, 1, 1)]), [(7, 1, 3)])
    assert naive.body(("scaled", ("capsule", 1.0, 2.0), -2.0)).radius == pytest.approx(2)
    assert naive.body(("inflated", ("box", (2, 2, 2)), 0.5)).height([(1, 0, 0)])[0] == 1.5
    assert naive.point_signed_distance(("inflated", ("placed", ("cone", 1, 2), turned), 0.25), (5, 0, 2)) == 0.75
    assert naive.point_signed_distance(("halfspace", (0, 0, 2.0), 4.0), (7, 7, 3)) == 1


def test_boolean_gjk_matches_worked_numbers():
    a, b = [(4, 11), (4, 5), (9, 9)], [(5, 7), (7, 3), (10, 2), (12, 7)]
    overlap, steps = naive_2d.gjk_boolean_2d(a, b, (1, -1))
    assert overlap
    assert [s["w"] for s in steps] == [(4, 2), (-6, 9), (-8, -2), (-1, -2)]
    assert [s["d"] for s in steps] == [(1, -1), (-1, 1), (-336, -480), (32, -96)]
    assert [s["projection"] for s in steps[1:]] == [15, 3648, 160]
    assert (steps[2]["ab.ao"], steps[2]["ac.ao"]) == (-84, 2)
    assert steps[2]["dropped"] == (-6, 9)
    assert set(steps[3]["simplex"]) == {(4, 2), (-8, -2), (-1, -2)}


def test_distance_gjk_matches_worked_numbers():
    a, b = [(4, 11), (4, 5), (9, 9)], [(8, 6), (10, 2), (13, 1), (15, 6)]
    nearest, steps = naive_2d.gjk_distance_2d(a, b, (1, -1))
    assert nearest == (Fraction(-44, 41), Fraction(55, 41))
    assert steps[0]["simplex"] == [(1, 3), (-9, 10)]
    assert [s["c"] for s in steps[1:]] == [(-11, -1), (-4, -1), (-4, -1)]
    assert [s["difference"] for s in steps[1:]] == [24, Fraction(28, 5), 0]
    assert naive_2d.gjk_distance_2d(a, [(5, 7), (7, 3), (10, 2), (12, 7)], (1, -1))[0] is None


def test_bracket_of_concentric_spheres_contains_depth():
    lo, hi = naive.bracket(naive.body(("sphere", 1.0)), naive.body(("sphere", 2.0)), rounds=10)
    assert lo <= -3 + 1e-14
    assert -3 <= hi <= -2.5
    assert lo >= -3 - 1e-9
