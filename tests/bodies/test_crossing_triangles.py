"""Depth of two triangles that cross, compared with every facet of their Minkowski difference."""

from __future__ import annotations

from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.body_pair import BodyPair
from gjk3d.bodies.contact_pairs import MESHES, ListedPairs, PosedShapes, ShapeList, ShapeRows, contact_trees, list_pairs
from gjk3d.narrow.solve import SIGNED
from gjk3d.poses import IDENTITY
from tests.bodies.random_shapes import at


def rows_of(poses: Any) -> Any:
    return np.array([[*pose[:3, :3].ravel(), *pose[:3, 3], 0.0] for pose in poses])


def listed_pairs(corners: Any, others: Any, poses: Any) -> ListedPairs:
    rows = rows_of(poses)
    first, second = gk.Mesh(corners, [(0, 1, 2)]), gk.Mesh(others, [(0, 1, 2)])
    shape_index = np.zeros(len(rows), dtype=np.int64)
    same = np.repeat(IDENTITY, len(rows), axis=0)
    shelf = ShapeList([second])
    x = PosedShapes(first, first._as_parts(), shelf, ShapeRows(shape_index, same, rows))
    return list_pairs(contact_trees(x.ours, shelf, MESHES), shelf.solids, x, 0.0)


def crossing(rng: np.random.Generator, straight: bool) -> tuple[Any, Any, Any]:
    """Return two triangles and a pose of the second at which they have a point in common."""
    corners, others = rng.normal(size=(2, 3, 3)) * rng.choice([0.1, 1.0, 3.0], size=(2, 1, 1))
    if straight:
        corners, others = np.round(corners * 4) / 2, np.round(others * 4) / 2
    turn = Rotation.identity() if straight else Rotation.random(rng=rng)
    shift = rng.dirichlet(np.ones(3)) @ corners - turn.apply(rng.dirichlet(np.ones(3)) @ others)
    return corners, others, at(*(shift.round(1) if straight else shift), rotation=turn)


@given(seed=st.integers(0, 10**6), straight=st.booleans())
def test_depth_of_two_triangles(seed: int, straight: bool) -> None:
    corners, others, pose = crossing(np.random.default_rng(seed), straight)
    if min(np.linalg.matrix_rank(triangle[1:] - triangle[0]) for triangle in (corners, others)) < 2:
        return
    result = listed_pairs(corners, others, [pose])
    single = gk.signed_distance(gk.Triangle(corners), gk.Triangle(others), None, pose)
    if not len(result.pairs):
        assert single.upper >= 0.0
        return
    placed = others @ pose[:3, :3].T + pose[:3, 3]
    row, size = result.out[0], float(np.abs(placed).max() + np.abs(corners).max())
    assert max(row[1], single.lower) <= min(row[2], single.upper)
    if np.linalg.matrix_rank(np.vstack([corners[1:] - corners[0], placed[1:] - placed[0]]), tol=1e-9) == 3:
        assert max(-row[0], 0.0) == pytest.approx(naive.brute_depth(corners, placed)[0], abs=1e-10 * size)
    assert np.linalg.norm(row[3:6]) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(row[9:12] - row[6:9], row[0] * row[3:6], atol=1e-12 * size)
    assert gk.distance(gk.Triangle(corners), gk.Point(row[6:9])).lower <= 1e-11 * size
    assert gk.distance(gk.Triangle(others), gk.Point(row[9:12]), pose).lower <= 1e-11 * size


def test_facets_solve_most_crossing_triangles() -> None:
    """GJK and EPA agree to rounding but give other bits, which shows that facets were used."""
    rng = np.random.default_rng(7)
    corners, others, _ = crossing(rng, False)
    poses = []
    for _ in range(200):
        turn = Rotation.random(rng=rng)
        poses.append(at(*(corners.mean(axis=0) - turn.apply(others.mean(axis=0))), rotation=turn))
    result = listed_pairs(corners, others, poses)
    assert len(result.pairs) == 200
    first, second = (gk.Mesh(triangle, [(0, 1, 2)])._as_parts() for triangle in (corners, others))
    only = np.zeros((1, 2), dtype=np.int64)
    by_epa = np.concatenate([BodyPair(first, second, row).solve(only, SIGNED)[0] for row in rows_of(poses)])
    np.testing.assert_allclose(result.out[:, 0], by_epa[:, 0], atol=1e-11)
    assert (result.out[:, 2] != by_epa[:, 2]).mean() > 0.9
