"""Intersection and distance of two triangles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gjk3d.bodies import triangles
from tests.bodies.exact_triangles import distance_by_planes, triangles_meet


def rows(t: np.ndarray) -> tuple:
    return tuple(tuple(float(x) for x in v) for v in t)


integer = st.integers(-4, 4)
corner = st.tuples(integer, integer, integer)
on_grid = st.tuples(corner, corner, corner)


def area(t: object) -> float:
    v = np.array(t, dtype=float)
    return float(np.linalg.norm(np.cross(v[1] - v[0], v[2] - v[0])))


@given(on_grid, on_grid)
def test_intersection_on_a_grid_is_exact(a: tuple, b: tuple) -> None:
    """Integers are computed without rounding, so touching corners, edges and planes are decided exactly."""
    if area(a) == 0.0 or area(b) == 0.0:
        return
    assert triangles.triangles_meet(rows(np.array(a)), rows(np.array(b)), 1e-13) == triangles_meet(a, b)


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-9])
def test_intersection_of_random_triangles(spread: float) -> None:
    """At a spread of 1e-3 or less, the triangles are needles or nearly coplanar."""
    rng = np.random.default_rng(5)
    met = 0
    for _ in range(2000):
        a, b = rng.normal(size=(2, 3, 3)) * rng.permutation([1.0, 1.0, spread])
        b += rng.normal(size=3) * 0.5 * rng.permutation([1.0, 1.0, spread])
        truth = triangles_meet(a, b)
        result = triangles.triangles_meet(rows(a), rows(b), 1e-14)
        if result != truth:  # only if the gap is within the noise
            assert result
            assert triangles.nearest_points(rows(a), rows(b))[0] <= (4e-14) ** 2
        met += truth
    assert 50 < met < 1950


def test_distance_of_random_triangles() -> None:
    rng = np.random.default_rng(6)
    for k in range(1500):
        a, b = rng.normal(size=(2, 3, 3))
        b += rng.normal(size=3) * 2
        if k % 3 == 0:
            b[:2] = a[:2] + rng.normal(size=3)  # parallel edges
        if triangles_meet(a, b):
            continue
        squared, p, q = triangles.nearest_points(rows(a), rows(b))
        assert np.sqrt(squared) == pytest.approx(distance_by_planes(a, b), rel=1e-9)
        assert np.linalg.norm(np.subtract(q, p)) == pytest.approx(np.sqrt(squared), rel=1e-12)
        for t, x in ((a, p), (b, q)):
            assert triangles.nearest_on(x, rows(t))[0] <= 1e-28


def test_distance_of_nearly_parallel_edges() -> None:
    """Rounding of |u|^2 |v|^2 - (u v)^2 would put the nearest points at wrong positions."""
    for angle in (1e-5, 1e-7, 1e-9, 1e-12):
        a = np.array([(-1, 0, 0), (1, 0, 0), (0, 0, -5)], dtype=float)
        b = np.array([(-1, -angle, 1e-3), (1, angle, 1e-3), (0, 0, 5)])
        squared, _, _ = triangles.nearest_points(rows(a), rows(b))
        assert np.sqrt(squared) == pytest.approx(1e-3, rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "squared"),
    [
        ([(0, 0, 0)] * 3, [(1, 0, 0), (2, 0, 0), (2, 1, 0)], 1.0),
        ([(0, 0, 0), (1, 0, 0), (0.5, 0, 0)], [(0, 1, 0), (1, 1, 0), (0.5, 1, 0)], 1.0),
        ([(0, 0, 0), (1, 0, 0), (0.5, 0, 0)], [(3, 0, 0), (4, 0, 0), (5, 0, 0)], 4.0),
        ([(0, 0, 2), (0, 0, 3), (0, 0, 4)], [(-1, -1, 0), (2, -1, 0), (-1, 2, 0)], 4.0),
    ],
    ids=["point", "parallel segments", "segments in line", "segment over a face"],
)
def test_distance_of_degenerate_triangles(a: list, b: list, squared: float) -> None:
    a, b = rows(np.array(a, dtype=float)), rows(np.array(b, dtype=float))
    assert triangles.nearest_points(a, b)[0] == pytest.approx(squared, rel=1e-14)
    assert not triangles.triangles_meet(a, b, 1e-14)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([(0, 0, 0)] * 3, [(-1, -1, 0), (2, -1, 0), (-1, 2, 0)]),
        ([(0, 0, -1), (0, 0, 1), (0, 0, 0)], [(-1, -1, 0), (2, -1, 0), (-1, 2, 0)]),
        ([(0, 0, 0), (2, 0, 0), (1, 0, 0)], [(1, -1, 0), (1, 1, 0), (1, 0, 0)]),
    ],
    ids=["point on a face", "segment through a face", "segments that cross"],
)
def test_degenerate_triangles_that_intersect(a: list, b: list) -> None:
    assert triangles.triangles_meet(rows(np.array(a, dtype=float)), rows(np.array(b, dtype=float)), 1e-14)


def test_crossing_segment() -> None:
    a = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0)], dtype=float)
    b = np.array([(1, 1, -1), (1, 1, 1), (5, 1, 0)], dtype=float)
    length, p, q = triangles.crossing_segment(rows(a), rows(b))
    ends = np.array(sorted([p, q]))
    assert ends == pytest.approx(np.array([(1, 1, 0), (3, 1, 0)]))
    assert length == pytest.approx(2.0)


@pytest.mark.full
def test_triangles_still_cross_after_motions_below_the_reach() -> None:
    rng = np.random.default_rng(11)
    crossed = 0
    for _ in range(600):
        a, b = rng.normal(size=(2, 3, 3)) * rng.permutation([1.0, 1.0, 0.1])
        reach = triangles.reach_through(rows(a), rows(b))
        assert (reach > 0.0) == triangles_meet(a, b)  # random triangles never only touch
        crossed += reach > 0.0
        for _ in range(20 if reach > 0.0 else 0):
            ways = rng.normal(size=(2, 3, 3))
            ways *= 0.4999 * reach / np.linalg.norm(ways, axis=2, keepdims=True)  # half the reach for each triangle
            assert triangles_meet(a + ways[0], b + ways[1])
    assert 100 < crossed < 500


def test_reach_of_a_needle_is_the_depth_of_its_tip() -> None:
    flat = rows(np.array([(-9, -9, 0), (9, -9, 0), (0, 9, 0)], dtype=float))
    needle = rows(np.array([(0, 0, -0.25), (0.001, 0, 3), (-0.001, 0, 3)]))
    assert triangles.reach_through(flat, needle) == pytest.approx(0.25, rel=1e-6)
    edge = rows(np.array([(0, -9.0, -4), (0, -9.0, 4), (0, -20.0, 4)]))  # only through the rim: no reach is proven
    assert triangles.reach_through(flat, edge) == 0.0
    in_plane = rows(np.array([(-20, 1, 0), (20, 1, 0), (0, 2, 0)], dtype=float))
    assert triangles.reach_through(flat, in_plane) == 0.0
