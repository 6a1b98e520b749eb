"""The reduction of contact points, compared with plain loops, and the lower bound of the distance from boxes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import gjk3d as gk
from gjk3d.bodies.parts import least_possible
from gjk3d.narrow.manifold import spread_points as kept_of_many
from gjk3d.poses import pose_rows
from tests.bodies.every_kind import KINDS
from tests.bodies.random_shapes import Array, anywhere

SAME = 1e-9


def points(seed: int, count: int, coarse: bool) -> Array:
    """Return rows of points in two planes with gaps along the normal. Some points coincide or are above each other."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((count, 10))
    for row in rows:
        way = int(rng.integers(2))
        at = rng.integers(-2, 3, 3) / 2 if coarse else rng.normal(size=3)
        at[way] = 1.0 + (0.5 * int(rng.integers(2)))
        gap = -float(rng.integers(1, 5)) / 8
        row[:3], row[3:6], row[6], row[7 + way] = at, at, gap, 1.0
        row[3 + way] += gap
    return rows


def reduced(rows: Array, most: int | None) -> Array:
    """Return the points of a pair after the reduction."""
    result, counts = kept_of_many(np.ascontiguousarray(rows), np.array([0, len(rows)]), np.zeros((1, 12)), most)
    assert counts.tolist() == [len(result)]
    return result


def middles(rows: Array) -> Array:
    result: Array = 0.5 * (rows[:, :3] + rows[:, 3:6])
    return result


def distinct(rows: Array) -> list[int]:
    """Return the rows, deepest first, that are not within the tolerance of an earlier row."""
    order, chosen = np.argsort(rows[:, 6], kind="stable").tolist(), []
    far = SAME * np.abs(middles(rows)).max()
    for k in order:
        if all(np.linalg.norm(middles(rows)[k] - middles(rows)[j]) > far for j in chosen):
            chosen.append(k)
    return chosen


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 30), coarse=st.booleans())
def test_unlimited_reduction_removes_only_duplicates(seed: int, count: int, coarse: bool) -> None:
    rows = points(seed, count, coarse)
    assert reduced(rows, None).tolist() == rows[distinct(rows)].tolist()


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 30), coarse=st.booleans(), most=st.integers(1, 8))
def test_limited_reduction_returns_distant_corners(seed: int, count: int, coarse: bool, most: int) -> None:
    rows = points(seed, count, coarse)
    few = reduced(rows, most)
    given_rows = rows.tolist()
    assert 1 <= len(few) <= min(most, count)
    assert all(row in given_rows for row in few.tolist())
    assert few[0, 6] == rows[:, 6].min()
    if most >= count:
        return
    deepest = few[0]
    for row in few[1:]:
        same = np.array([candidate[7:] @ row[7:] > 0.5 for candidate in rows])
        if (row == deepest).all() or same.sum() < 4:
            continue
        flat = np.delete(middles(rows[same]), int(np.argmax(row[7:])), axis=1)
        point = np.delete(middles(row[None]), int(np.argmax(row[7:])), axis=1)
        if np.linalg.matrix_rank(flat - flat[0], 1e-9) == 2:
            corners = flat[ConvexHull(flat).vertices]
            assert np.abs(corners - point).max(axis=1).min() <= 1e-9
    runs = np.split(np.arange(len(few)), 1 + np.flatnonzero((np.diff(few[:, 7:], axis=0) != 0.0).any(axis=1)))
    assert len(runs) <= 2  # one run for each of the two patches
    for run in runs:
        assert few[run[0], 6] == few[run, 6].min()
        far = [np.linalg.norm(middles(few[:k]) - middles(few[k : k + 1]), axis=1).min() for k in run[1:]]
        assert all(later <= sooner + 1e-9 for sooner, later in pairwise(far))


@given(seed=st.integers(0, 2**32 - 1), yaw=st.sampled_from([0.0, 0.5]))
def test_corners_are_kept_among_rounded_points_of_the_sides(seed: int, yaw: float) -> None:
    rng = np.random.default_rng(seed)
    share = rng.random((12, 2))
    share[:, 1] = np.repeat((0.0, 1.0), 6)
    share[::2] = share[::2, ::-1]
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=float)
    flat = np.vstack([corners, share]) * rng.uniform(0.1, 1, 2) + rng.normal(size=(16, 2)) * 1e-16
    turn = np.array([(np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))])
    flat = flat @ turn.T + rng.normal(size=2)
    rows = np.zeros((16, 10))
    rows[:, :2], rows[:, 3:5], rows[:, 5], rows[:, 6], rows[:, 9] = flat, flat, -0.5, -0.5, 1.0
    few = reduced(rows[rng.permutation(16)], 4)
    assert np.abs(np.array(sorted(few[:, :2].tolist())) - sorted(flat[:4].tolist())).max() < 1e-9


def test_deepest_patch_is_filled_first() -> None:
    """Four corners of a floor have a depth of 0.25, and four of a wall have 0.125."""
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=float)
    floor, wall = np.zeros((4, 10)), np.zeros((4, 10))
    floor[:, :2], floor[:, 3:5], floor[:, 5], floor[:, 6], floor[:, 9] = square, square, -0.25, -0.25, 1.0
    wall[:, 1:3], wall[:, 4:6], wall[:, 3], wall[:, 6], wall[:, 7] = 3.0 * square, 3.0 * square, -0.125, -0.125, 1.0
    rows = np.vstack([wall, floor])
    assert (reduced(rows, 4)[:, 9] == 1.0).all()
    assert reduced(rows, 6)[:, 9].tolist() == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]


def test_deeper_of_points_above_each_other_is_kept() -> None:
    corners = [(0, 0), (4, 0), (4, 3), (0, 3)]
    rows = np.zeros((9, 10))
    for k, (x, y) in enumerate([*corners, *corners, (1, 1)]):
        gap = -0.25 if k < 4 else -0.5
        rows[k] = (x, y, 0, x, y, gap, gap, 0, 0, 1)
    for turned in (rows, rows[::-1]):
        assert reduced(turned, 4)[:, 6].tolist() == [-0.5] * 4
        assert sorted(reduced(turned, 4)[:, :2].tolist()) == sorted(map(list, corners))


SHAPES = {**{name: make().body for name, make in KINDS.items() if name != "ground"}, "box": gk.Box((1, 0.5, 0.8))}


@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("one", [name for name in SHAPES if name != "box"])
def test_distance_of_boxes_is_a_lower_bound(one: str, other: str) -> None:
    rng = np.random.default_rng(len(one) + 7 * len(other))
    for k in range(8):
        poses = np.stack([anywhere(rng, 0.5), anywhere(rng, 0.5)])
        poses[1, :3, 3] += rng.normal(size=3) * 0.3 * k
        at = np.array([[0, 1]])
        least = least_possible([SHAPES[one], SHAPES[other]], at, pose_rows(poses)[0], at)[0]
        result = gk.signed_distance(SHAPES[one], SHAPES[other], poses[0], poses[1])
        assert least <= result.upper
        assert np.isfinite(least)


def test_unbounded_bodies_have_no_lower_bound() -> None:
    ground = gk.HeightField(np.zeros((3, 3)), 1.0)
    rows, at = pose_rows(np.stack([np.eye(4), np.eye(4)]))[0], np.array([[0, 1]])
    assert least_possible([ground, gk.Sphere(1)], at, rows, at).tolist() == [-np.inf]
    assert least_possible([gk.Halfspace((0, 0, 1), 0), gk.VoxelGrid(np.ones((2, 2, 2)), 1)], at, rows, at) == -np.inf
