"""Convex polygons in the plane, and the faces of hulls as polygons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gjk3d.geometry.hulls import build_hull
from gjk3d.geometry.polygon import cut, face_loops, farthest_row, nearest_row, thin, tidy, twice_area


def ring(count, radius=1.0):
    turn = 2 * np.pi * np.arange(count) / count
    return radius * np.c_[np.cos(turn), np.sin(turn)]


def room(points, extra=4):
    return np.r_[points, np.zeros((extra, 2))]


def cut_of(points, a, b, c, tol=0.0):
    out = np.zeros((len(points) + 4, 2))
    return out[: cut(room(points), len(points), a, b, c, tol, out)]


numbers = st.floats(-2, 2).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=12), st.floats(0, 6.28), st.floats(-2, 2))
def test_areas_of_both_sides_of_a_cut_add_up(cloud, angle, c):
    cloud = np.array(cloud)
    if np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False)[1] < 1e-2:
        return
    points = cloud[ConvexHull(cloud).vertices]
    a, b = np.cos(angle), np.sin(angle)
    below, above = cut_of(points, a, b, c), cut_of(points, -a, -b, -c)
    assert np.all(below @ (a, b) <= c + 1e-12)
    assert np.all(above @ (a, b) >= c - 1e-12)
    area = twice_area(room(points), len(points))
    assert twice_area(below, len(below)) + twice_area(above, len(above)) == pytest.approx(area, abs=1e-12)


def test_points_on_the_cutting_line_stay():
    square = np.array([(0.0, 0), (1, 0), (1, 1), (0, 1)])
    for x in (1.0, 1 - 1e-13, 1 + 1e-13):
        assert np.array_equal(cut_of(square, 1, 0, x, 1e-12), square)
        assert cut_of(square, -1, 0, -x, 1e-12).tolist() == [[1, 0], [1, 1]]
    assert cut_of(square, 1, 0, -1, 1e-12).tolist() == []
    assert cut_of(square[:2], 1, 0, 0.25).tolist() == [[0.25, 0], [0, 0], [0.25, 0]]


def test_tidy_leaves_corners_only():
    square = np.array([(0, 0), (0.5, 0), (1, 0), (1, 1e-14), (1, 1), (0.3, 1), (0, 1), (0, 1)])
    rows = room(square)
    assert tidy(rows, len(square), 1e-12) == 4
    assert {tuple(row) for row in np.round(rows[:4], 12).tolist()} == {(0, 0), (1, 0), (1, 1), (0, 1)}
    sliver = room(np.array([(0.0, 0), (1, 0), (1, 1e-13), (0, 1e-13)]))
    assert tidy(sliver, 4, 1e-12) == 2
    assert abs(sliver[0, 0] - sliver[1, 0]) == 1
    assert tidy(room(np.zeros((3, 2))), 3, 1e-12) == 1


def test_thinning_keeps_corners_and_most_of_the_area():
    for count in (5, 8, 20, 33):
        rows = room(ring(count))
        assert thin(rows, count, 4) == 4
        assert all(np.linalg.norm(ring(count) - row, axis=1).min() == 0 for row in rows[:4])
        assert twice_area(rows, 4) > 0.85 * 4  # 4 is twice the area of the inscribed square
    octagon = ring(8)
    octagon += np.random.default_rng(3).normal(size=(8, 2)) * 1e-9  # rounding must not select the corners
    rows = room(octagon)
    thin(rows, 8, 4)
    assert np.array_equal(rows[:4], octagon[1::2])


def test_nearest_and_farthest_rows():
    rows = ring(8)
    assert nearest_row(rows, 8, 0.1, 2.0) == 2
    assert farthest_row(rows, 8, 0.1, 2.0) == 6
    assert farthest_row(rows, 8, 0.0, 0.0) == 0


@pytest.mark.parametrize("turned", [False, True])
def test_face_loops_of_prisms_merge_triangles(turned):
    matrix = Rotation.from_rotvec([0.3, -0.7, 0.2]).as_matrix() if turned else np.eye(3)
    for count in (3, 4, 7, 30):
        flat = np.c_[ring(count), np.zeros(count)]
        points = np.r_[flat, flat + (0, 0, 1)] @ matrix.T
        hull = build_hull(points)
        ints, normals = face_loops(hull)
        starts = ints[1 : ints[0] + 2]
        loops = np.split(ints[ints[0] + 2 :], starts[1:-1])
        assert sorted(map(len, loops)) == sorted([4] * count + [count] * 2)
        total = 0.0
        for loop, normal in zip(loops, normals.reshape(-1, 3), strict=True):
            corners = hull.vertices[loop]
            vector = 0.5 * np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
            assert np.allclose(vector / np.linalg.norm(vector), normal, atol=1e-14)
            assert (hull.vertices @ normal).max() == pytest.approx(corners[0] @ normal, abs=1e-14)
            total += np.linalg.norm(vector)
        assert total == pytest.approx(hull.area)


def test_face_loops_of_flat_hulls_segments_and_points():
    square = build_hull(np.c_[ring(4), np.ones(4)])
    ints, normals = face_loops(square)
    assert ints[:4].tolist() == [2, 0, 4, 8]
    assert sorted(normals.reshape(2, 3)[:, 2]) == [-1, 1]
    assert face_loops(build_hull(np.array([(0.0, 0, 0), (1, 0, 0)])))[0].tolist() == [1, 0, 2, 0, 1]
    assert face_loops(build_hull(np.zeros((1, 3))))[0].tolist() == [0, 0]
