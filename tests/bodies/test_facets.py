"""Depth of a triangle in a solid polytope, compared with every facet of their Minkowski difference."""

from __future__ import annotations

from typing import Any

import naive
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.contact_pairs import FACES, ListedPairs, PosedShapes, ShapeList, ShapeRows, contact_trees, list_pairs
from gjk3d.bodies.facets import solids_of, with_scratch
from gjk3d.bodies.parts import parts_of
from gjk3d.poses import IDENTITY
from tests.bodies.random_shapes import at

KINDS = ("box", "hull", "tetrahedron", "grid")


def solid(kind: str, rng: np.random.Generator) -> Any:
    if kind == "box":
        return gk.Box(rng.uniform(0.3, 2.0, 3))
    if kind == "tetrahedron":
        return gk.Tetrahedron(rng.normal(size=(4, 3)))
    if kind == "grid":  # many of its edges are parallel to those of a triangle on the grid
        return gk.ConvexHull(rng.integers(-1, 2, (12, 3)) * 1.0 + np.eye(3)[rng.integers(3, size=12)])
    return gk.ConvexHull(rng.normal(size=(20, 3)) * 0.6)


def listed_pairs(corners: Any, shape: Any, poses: Any) -> ListedPairs:
    rows = np.array([[*pose[:3, :3].ravel(), *pose[:3, 3], 0.0] for pose in poses])
    mesh = gk.Mesh(corners, [(0, 1, 2)])
    first, shape_index = np.repeat(IDENTITY, len(rows), axis=0), np.zeros(len(rows), dtype=np.int64)
    shelf = ShapeList([shape])
    x = PosedShapes(mesh, mesh._as_parts(), shelf, ShapeRows(shape_index, first, rows))
    return list_pairs(contact_trees(x.ours, shelf, FACES), shelf.solids, x, 0.0)


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), straight=st.booleans())
def test_depth_of_a_triangle_in_a_polytope(seed: int, kind: str, straight: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = solid(kind, rng)
    corners = rng.normal(size=(3, 3)) * rng.choice([0.1, 1.0, 3.0])
    if straight:
        corners = np.round(corners * 2) / 2
    turn = None if straight else Rotation.random(rng=rng)
    pose = at(*(corners.mean(axis=0) + rng.normal(size=3) * 0.5).round(1 if straight else 9), rotation=turn)
    result, flat = listed_pairs(corners, shape, [pose]), gk.Triangle(corners)
    assert len(result.pairs) == int(gk.collide(flat, shape, None, pose))
    if not len(result.pairs):
        return
    placed = shape.vertices @ pose[:3, :3].T + pose[:3, 3]
    row, size = result.out[0], float(np.abs(placed).max() + np.abs(corners).max())
    if np.linalg.matrix_rank(corners[1:] - corners[0]) == 2:
        assert -row[0] == pytest.approx(naive.brute_depth(corners, placed)[0], abs=1e-10 * size)
    single = gk.signed_distance(flat, shape, None, pose)
    assert max(row[1], single.lower) <= min(row[2], single.upper)
    assert np.linalg.norm(row[3:6]) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(row[9:12] - row[6:9], row[0] * row[3:6], atol=1e-12 * size)
    assert gk.distance(flat, gk.Point(row[6:9])).lower <= 1e-11 * size
    assert gk.distance(shape, gk.Point(row[9:12]), pose).lower <= 1e-11 * size
    free = at(*((1e-9 * size - row[1]) * row[3:6])) @ pose
    assert not gk.collide(flat, shape, None, free)


def test_facets_solve_most_triangles(monkeypatch: pytest.MonkeyPatch) -> None:
    """GJK and EPA agree to rounding but give other bits, which shows that facets were used."""
    rng = np.random.default_rng(7)
    corners, shape = rng.normal(size=(3, 3)), solid("hull", rng)
    poses = [at(*rng.normal(size=3) * 0.3, rotation=Rotation.random(rng=rng)) for _ in range(200)]
    by_facets = listed_pairs(corners, shape, poses)
    monkeypatch.setattr("gjk3d.bodies.contact_pairs.solids_of", lambda every: solids_of([parts_of(gk.Point())]))
    by_epa = listed_pairs(corners, shape, poses)
    np.testing.assert_array_equal(by_facets.pairs, by_epa.pairs)
    np.testing.assert_allclose(by_facets.out[:, 0], by_epa.out[:, 0], atol=1e-11)
    assert (by_facets.out[:, 2] != by_epa.out[:, 2]).mean() > 0.9


def test_facets_exclude_all_but_solid_polytopes_of_few_edges() -> None:
    rng = np.random.default_rng(1)
    ball = gk.ConvexHull(trimesh.creation.icosphere(subdivisions=2).vertices)
    flat = gk.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), gk.Triangle(rng.normal(size=(3, 3)))
    others = gk.Sphere(1), gk.Box((1, 1, 1)).inflated(0.1), ball, *flat
    every = [parts_of(shape) for shape in (*others, gk.Box((1, 2, 3)))]
    vertices, planes, edges, sides, begins, heights, *_ = with_scratch(solids_of(every))
    assert begins.tolist() == [[0, 0, 0]] * (len(others) + 1) + [[8, 6, 12]]
    assert [array.shape for array in (vertices, planes, edges, sides)] == [(8, 3), (4, 6), (12, 6), (12, 2)]
    assert heights.shape == (4, 6)
    assert sorted(np.bincount(sides.ravel()).tolist()) == [4] * 6
