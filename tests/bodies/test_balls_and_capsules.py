"""Depth of a triangle in a ball or a capsule, and its distance from it.

The results are compared with the nearest of many points, with GJK and EPA, and with rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.contact_pairs import FACES, ListedPairs, PosedShapes, ShapeList, ShapeRows, contact_trees, list_pairs
from gjk3d.poses import pose_rows
from tests.bodies.random_shapes import at
from tests.naive import exact, exact_distance2

_FINE = np.linspace(0.0, 1.0, 41)


def listed_pairs(corners: Any, shape: Any, poses: Any) -> ListedPairs:
    rows = pose_rows(np.asarray(poses), "poses")[0]
    mesh, first = gk.Mesh(corners, [(0, 1, 2)]), pose_rows(np.tile(np.eye(4), (len(rows), 1, 1)), "poses")[0]
    shelf = ShapeList([shape])
    x = PosedShapes(mesh, mesh._as_parts(), shelf, ShapeRows(np.zeros(len(rows), dtype=np.int64), first, rows))
    return list_pairs(contact_trees(x.ours, shelf, FACES), shelf.solids, x, 0.0)


def spread_over(corners: Any) -> Any:
    """Return points spread over a triangle."""
    u, v = (axis.ravel() for axis in np.meshgrid(_FINE, _FINE))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return corners[0] + u[:, None] * (corners[1] - corners[0]) + v[:, None] * (corners[2] - corners[0])


def nearest_by_points(points: Any, ends: Any) -> float:
    """Return the distance of the nearest of some points from a segment."""
    way = ends[1] - ends[0]
    t = np.clip((points - ends[0]) @ way / max(way @ way, 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(points - ends[0] - t[:, None] * way, axis=1).min())


@given(
    seed=st.integers(0, 10**6), height=st.sampled_from([0.0, 0.2, 2.0]), straight=st.booleans(),
    flat=st.sampled_from([1.0, 1e-3, 0.0]),
)  # fmt: skip
def test_depth_of_a_triangle_in_a_ball_or_capsule(seed: int, height: float, straight: bool, flat: float) -> None:
    rng = np.random.default_rng(seed)
    radius = float(rng.uniform(0.2, 0.8))
    shape = gk.Capsule(radius, height) if height else gk.Sphere(radius)
    corners = rng.normal(size=(3, 3)) * rng.choice([0.1, 1.0, 3.0])
    corners[2] = corners[0] + 0.3 * (corners[1] - corners[0]) + flat * (corners[2] - corners[0])
    if straight:  # also across the axis, along it or through the centre
        corners = np.round(corners)
    turn = None if straight else Rotation.random(rng=rng)
    pose = at(*(corners.mean(axis=0) + rng.normal(size=3) * 0.5).round(0 if straight else 9), rotation=turn)
    result, triangle = listed_pairs(corners, shape, [pose]), gk.Triangle(corners)
    assert len(result.pairs) == int(gk.collide(triangle, shape, None, pose))
    if not len(result.pairs):
        return
    row, size = result.out[0], float(np.abs(corners).max() + np.abs(pose[:3, 3]).max() + radius + height)
    single = gk.signed_distance(triangle, shape, None, pose)
    assert row[0] == pytest.approx(single.distance, abs=1e-9 * size)
    assert row[1] <= single.upper
    assert single.lower <= row[2]
    assert np.linalg.norm(row[3:6]) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(row[9:12] - row[6:9], row[0] * row[3:6], atol=1e-11 * size)
    free = at(*((1e-9 * size - row[1]) * row[3:6])) @ pose
    assert not gk.collide(triangle, shape, None, free)
    ends = [pose[:3, :3] @ (0.0, 0.0, s * height / 2) + pose[:3, 3] for s in (-1.0, 1.0)]
    core = gk.distance(triangle, gk.Segment(*ends)).distance
    if core > 0.0:  # no sample is nearer to the axis, and one is within a step
        nearest = nearest_by_points(spread_over(corners), ends)
        step = float(np.linalg.norm(corners[1:] - corners[0], axis=1).max()) * 2.0 / (len(_FINE) - 1)
        assert row[0] + radius - 1e-9 * size <= nearest <= row[0] + radius + step


def test_triangle_pierced_by_the_axis_is_left_to_gjk_and_epa() -> None:
    """The nearest points coincide, so the depth is that of the shortest separating translation."""
    corners = np.array([(-1.0, -1.0, 0.0), (2.0, -1.0, 0.0), (-1.0, 2.0, 0.0)])
    shape = gk.Capsule(0.25, 2.0)
    for pose in (np.eye(4), at(0.0, 0.0, 0.5), at(0.3, -0.2, 0.1, rotation=Rotation.from_rotvec((0.3, 0.2, 0.0)))):
        (row,) = listed_pairs(corners, shape, [pose]).out
        assert row[0] == pytest.approx(gk.signed_distance(gk.Triangle(corners), shape, None, pose).distance, abs=1e-12)
        assert row[0] < -0.25


@given(
    seed=st.integers(0, 10**6), height=st.sampled_from([0.0, 0.5, 2.0]), scale=st.sampled_from([1e-6, 1.0, 1e6]),
    kind=st.sampled_from(["any", "needle", "spike", "flat", "lattice"]),
)  # fmt: skip
def test_distance_bounds_of_a_triangle_and_a_ball_or_capsule(seed: int, height: float, scale: float, kind: str) -> None:
    rng = np.random.default_rng(seed)
    corners, radius = rng.normal(size=(3, 3)), float(2.0 ** rng.uniform(-8.0, 0.0))
    if kind == "needle":
        corners[1] = corners[0] + 1e-10 * rng.normal(size=3)
    elif kind == "spike":
        corners[2] = 0.25 * corners[0] + 0.75 * corners[1] + 1e-13 * rng.normal(size=3)
    elif kind == "flat":
        corners[:, 2] *= 1e-9
    elif kind == "lattice":
        corners = np.round(corners)
    place = np.round((corners[0] + 3.0 * rng.normal(size=3) * 2.0 ** rng.uniform(-6.0, 0.0)) * 1024.0) / 1024.0
    corners, place, radius, height = scale * corners, scale * place, scale * radius, scale * height
    shape = gk.Capsule(radius, height) if height else gk.Sphere(radius)
    result = gk.distance(gk.Mesh(corners, [(0, 1, 2)]), shape, None, at(*place))
    if result.distance == 0.0:
        return
    middle, half = [Fraction(float(x)) for x in place], Fraction(height) / 2
    ends = np.array([[*middle[:2], middle[2] + half * side] for side in ((-1, 1) if height else (0,))], dtype=object)
    square, ball = exact_distance2(exact(corners), ends), Fraction(radius)
    assert (Fraction(result.lower) + ball) ** 2 <= square <= (Fraction(result.upper) + ball) ** 2
    assert result.tight
