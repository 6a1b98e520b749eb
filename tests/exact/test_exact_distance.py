"""Exact distance and depth: worked numbers as rationals, reference implementations, laws without tolerance."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import nextafter, sqrt

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds

import gjk3d as gk
from gjk3d.exact import Root, exact_pair, exact_signed_distance, sqrt_bounds
from gjk3d.exact.convex_sets import Difference
from gjk3d.poses import pose_rows

A = [(4, 11), (4, 5), (9, 9)]
B = [(5, 7), (7, 3), (10, 2), (12, 7)]

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=60)
lattice = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=8)
rational = st.lists(st.tuples(fractions, fractions, fractions), min_size=1, max_size=7)


def prism(polygon, half=20):
    return [(x, y, z) for x, y in polygon for z in (-half, half)]


def moved(polygon, x, y):
    return [(p + Fraction(x), q + Fraction(y)) for p, q in polygon]


def shifted(points, by):
    return [tuple(Fraction(c) + Fraction(d) for c, d in zip(p, by, strict=True)) for p in points]


def minus(p, q):
    return tuple(Fraction(a) - Fraction(b) for a, b in zip(p, q, strict=True))


def dot(p, q):
    return sum(Fraction(a) * Fraction(b) for a, b in zip(p, q, strict=True))


def signed_square(result):
    return result.sign * result.square


def assert_laws(a, b, result):
    """Check all fields of an `ExactDistance` with sums and products of rational numbers."""
    n, gap = result.normal, minus(result.point_b, result.point_a)
    n2 = dot(n, n)
    assert n2 > 0
    # the points are convex combinations of vertices
    assert sum(w for _, _, w in result.weights) == 1
    assert all(w > 0 for _, _, w in result.weights)
    for k in range(3):
        assert result.point_a[k] == sum(w * Fraction(a[i][k]) for i, _, w in result.weights)
        assert result.point_b[k] == sum(w * Fraction(b[j][k]) for _, j, w in result.weights)
    # point_b - point_a = distance * normal
    assert dot(gap, gap) == result.square
    assert dot(gap, n) * abs(dot(gap, n)) == signed_square(result) * n2
    assert result.sign == (result.square > 0) * (1 if dot(gap, n) > 0 else -1)
    # the gap of the supports along the normal equals the signed distance, so no other direction has a larger gap
    support = min(dot(n, q) for q in b) - max(dot(n, p) for p in a)
    assert support * abs(support) == signed_square(result) * n2


# numbers ------------------------------------------------------------------------------------------------------------


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(-50, 50), st.integers(1, 30))
def test_roots_compare_like_signed_squares(p, q, r, s):
    first, second = Root(p, q), Root(r, s)
    left, right = Fraction(p * abs(p), q), Fraction(r * abs(r), s)
    assert (first < second) == (left < right)
    assert (first == second) == (left == right)
    assert Root.of(Fraction(p, q)) == Root(p, q * q)
    low, high = first.bracket()
    assert low * abs(low) <= left <= high * abs(high)
    assert high - low <= Fraction(1, 2**190)


@given(st.fractions(min_value=0))
def test_sqrt_bounds_are_adjacent_floats(x):
    low, high = sqrt_bounds(x)
    assert Fraction(low) ** 2 <= x <= Fraction(high) ** 2
    assert high <= nextafter(low, np.inf)


@pytest.mark.parametrize("x", [0, 1, Fraction(9, 4), Fraction(1, 2**600), Fraction(2**1000), Fraction(10**300, 7)])
def test_sqrt_bounds_of_squares_are_exact(x):
    low, high = sqrt_bounds(Fraction(x) ** 2)
    assert Fraction(low) <= x <= Fraction(high)
    assert low == high or Fraction(float(x)) != x


@pytest.mark.parametrize("x", [Fraction(10) ** 700, Fraction(1, 10**700)])
def test_sqrt_bounds_enclose_roots_outside_the_range_of_floats(x):
    low, high = sqrt_bounds(x)
    assert low < high
    assert Fraction(low) ** 2 <= x
    assert high == np.inf or x <= Fraction(high) ** 2


# worked numbers -----------------------------------------------------------------------------------------------------


def test_item_2_distance():
    """The squared distance is 121/41, at (-44/41, 55/41) on the edge from (-4, -1) to (1, 3) of the difference."""
    result = exact_signed_distance(prism(A), prism(moved(B, 3, -1)))
    assert (result.sign, result.square) == (1, Fraction(121, 41))
    assert result.point_a[:2] == (Fraction(284, 41), Fraction(301, 41))
    assert result.point_b[:2] == (8, 6)
    assert minus(result.point_a, result.point_b) == (Fraction(-44, 41), Fraction(55, 41), 0)
    weights = {prism(A)[i][:2]: w for i, _, w in result.weights}
    assert weights == {(9, 9): Fraction(24, 41), (4, 5): Fraction(17, 41)}
    low, high = result.bounds
    assert low <= 11 / sqrt(41) <= high == nextafter(low, np.inf)


def test_item_1_overlap():
    result = exact_signed_distance(prism(A), prism(B))
    assert (result.sign, result.square) == (-1, Fraction(36, 41))
    assert result.normal[0] * -5 == result.normal[1] * 4  # perpendicular to the edge (4, 5)-(9, 9) of A
    assert result.normal[0] > 0
    assert result.normal[2] == 0
    # The line of this edge is 4x - 5y + 9 = 0. The vertex of B farthest behind it is (5, 7).
    assert result.square == Fraction((4 * 5 - 5 * 7 + 9) ** 2, 4**2 + 5**2)


@pytest.mark.parametrize(
    ("x", "y", "sign", "square"),
    [
        (1.5, 0, 0, 0),  # vertex on the midpoint of an edge
        (4, 2, 0, 0),  # vertex on vertex
        (-1, 5.5, -1, Fraction(289, 4 * 29)),  # 8.5 / sqrt(29)
        (7, 0, 1, 13),  # between (9, 9) and (12, 7)
    ],
)
def test_item_3_exact_cases(x, y, sign, square):
    a, b = prism(A), prism(moved(B, x, y))
    result = exact_signed_distance(a, b)
    assert (result.sign, result.square) == (sign, square)
    assert_laws(a, b, result)


def test_item_4_flat_input():
    flat = [[(x, y, 0) for x, y in polygon] for polygon in (A, B)]
    result = exact_signed_distance(*flat)
    assert (result.sign, result.square) == (0, 0)
    assert result.normal[:2] == (0, 0)
    assert result.point_a == result.point_b
    separated = exact_signed_distance(flat[0], shifted(flat[1], (3, -1, 0)))
    assert (separated.sign, separated.square) == (1, Fraction(121, 41))


def test_item_6_identical_and_nested_boxes():
    box = [(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]
    small = [tuple(Fraction(c, 3) for c in p) for p in box]
    assert signed_square(exact_signed_distance(box, box)) == -4
    assert signed_square(exact_signed_distance(box, small)) == -Fraction(16, 9)
    assert signed_square(exact_signed_distance(box, shifted(box, (2, 0, 0)))) == 0
    tiny = Fraction(1, 10**30)
    assert signed_square(exact_signed_distance(box, shifted(box, (2 - tiny, 0, 0)))) == -(tiny**2)
    assert signed_square(exact_signed_distance(box, shifted(box, (2 + tiny, 0, 0)))) == tiny**2


# reference implementations ------------------------------------------------------------------------------------------


@given(lattice, lattice)
def test_equals_naive_twin_on_lattice_points(a, b):
    """Lattice points give coplanar, parallel, touching and identical shapes. Signs and squares are equal."""
    result = exact_signed_distance(a, b)
    assert signed_square(result) == naive.exact_signed_square(naive.exact(a), naive.exact(b))
    assert_laws(a, b, result)


@pytest.mark.full
@given(clouds(1, 8), clouds(1, 8))
def test_equals_naive_twin_on_needles_and_plates(a, b):
    result = exact_signed_distance(a.tolist(), b.tolist())
    assert signed_square(result) == naive.exact_signed_square(naive.exact(a), naive.exact(b))
    assert_laws(a.tolist(), b.tolist(), result)


def test_equals_distance_from_the_hull_of_differences():
    rng = np.random.default_rng(3)
    overlapping = 0
    for _ in range(120):
        a = rng.normal(size=(rng.integers(4, 20), 3)) * rng.uniform(0.2, 1, 3)
        b = rng.normal(size=(rng.integers(4, 20), 3)) * rng.uniform(0.2, 1, 3) + rng.normal(size=3)
        result = exact_signed_distance(a.tolist(), b.tolist())
        value, _ = naive.hull_signed_distance(naive.differences(a, b))
        low, high = result.bounds
        assert value == pytest.approx(low, rel=1e-12, abs=1e-13)
        assert high <= nextafter(low, np.inf)
        overlapping += result.sign < 0
    assert 0.3 < overlapping / 120 < 0.7


# laws ---------------------------------------------------------------------------------------------------------------


@given(rational, rational)
def test_results_are_consistent_and_optimal(a, b):
    assert_laws(a, b, exact_signed_distance(a, b))


@given(rational, rational, st.tuples(fractions, fractions, fractions))
def test_swap_shift_and_scale_of_both_shapes(a, b, by):
    value = signed_square(exact_signed_distance(a, b))
    assert signed_square(exact_signed_distance(b, a)) == value
    assert signed_square(exact_signed_distance(shifted(a, by), shifted(b, by))) == value
    third = [[tuple(Fraction(c, 3) for c in p) for p in points] for points in (a, b)]
    assert signed_square(exact_signed_distance(*third)) == value / 9


@given(rational, rational)
def test_shapes_touch_after_separating_translation(a, b):
    result = exact_signed_distance(a, b)
    pushed = shifted(b, minus(result.point_a, result.point_b))
    assert exact_signed_distance(a, pushed).square == 0


@given(rational, rational, st.data())
def test_start_simplex_does_not_change_the_value(a, b, data):
    start = data.draw(
        st.lists(st.tuples(st.integers(0, len(a) - 1), st.integers(0, len(b) - 1)), min_size=1, max_size=4)
    )
    result = exact_signed_distance(a, b)
    again = exact_signed_distance(a, b, start)
    assert signed_square(again) == signed_square(result)
    assert_laws(a, b, again)
    assert exact_signed_distance(a, b, signed=False).square == max(signed_square(result), 0)


# poses and shapes in floats -----------------------------------------------------------------------------------------


def rows(pose_a, pose_b):
    return pose_rows(pose_a)[0][0], pose_rows(pose_b)[0][0]


@pytest.mark.parametrize("rounding", [0.0, 0.25])
def test_exact_bounds_intersect_the_interval_of_the_solver(rounding):
    rng = np.random.default_rng(5)
    for _ in range(40):
        a = gk.Box(rng.uniform(0.2, 2, 3)).inflated(rounding)
        b = gk.ConvexHull(rng.normal(size=(12, 3)) * 0.7)
        pose_a, pose_b = (naive.pose(r, rng.normal(size=3)) for r in naive.random_rotations(rng, 2))
        result = gk.signed_distance(a, b, pose_a, pose_b)
        exact = exact_pair(a, b, *rows(pose_a, pose_b))
        assert exact is not None
        assert exact.upper - exact.lower <= 2e-15
        assert result.lower <= exact.upper
        assert exact.lower <= result.upper
        gap = np.subtract(exact.point_b, exact.point_a) - exact.lower * np.array(exact.normal)
        assert np.abs(gap).max() < 4e-15
        assert a.inflated(1e-14).contains(np.linalg.inv(pose_a)[:3] @ [*exact.point_a, 1])


def test_exact_pair_uses_the_orthonormalized_pose():
    """A matrix that is a rotation up to 1e-7 is made orthonormal once. `exact_pair` uses the result without change."""
    box = gk.Box((2, 2, 2))
    pose = naive.pose(np.eye(3) + 3e-7 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), (0, 0, 5))
    row = pose_rows(pose)[0][0]
    exact = exact_pair(box, box, *rows(None, pose))
    lowest = min(sum(Fraction(r) * s for r, s in zip(row[6:9], v, strict=True)) for v in np.vstack([box.vertices]))
    assert exact.lower <= lowest + 5 - 1 <= exact.upper


def test_exact_pair_of_curved_shapes_is_none():
    for shape in (gk.Cylinder(1, 1), gk.Ellipsoid((1, 2, 3)), gk.Cone(1, 1), gk.Halfspace((0, 0, 1))):
        assert exact_pair(shape, gk.Box((1, 1, 1)), *rows(None, None)) is None
    assert exact_pair(gk.Sphere(1), gk.Capsule(0.5, 1), *rows(None, None)) is not None


def test_exact_pair_takes_few_support_evaluations(monkeypatch):
    steps = []
    support = Difference.support
    monkeypatch.setattr(Difference, "support", lambda self, n: steps.append(n) or support(self, n))

    def count(a, b, pose_rows_of_pair):
        steps.clear()
        assert exact_pair(a, b, *pose_rows_of_pair) is not None
        return len(steps)

    rng = np.random.default_rng(1)
    rotations = naive.random_rotations(rng, 2)
    box = gk.Box((1, 2, 3))
    clouds = [gk.ConvexHull(naive.unit_vectors(rng, 20)) for _ in range(2)]
    for x in (0.0, 0.7, 5.0):
        where = rows(naive.pose(rotations[0]), naive.pose(rotations[1], (x, 0, 0)))
        assert 0 < count(box, box, where) < 60
        assert 0 < count(*clouds, where) < 60


@pytest.mark.full
def test_exact_does_not_import_the_solver():
    script = "import sys, gjk3d.exact; sys.exit(any(m.startswith('gjk3d.narrow') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
