"""Depth bounds by the planes of a convex mesh, compared with many sampled points in plain numpy."""

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.bodies.depth.inside import box_by_planes, depth_by_planes, inner, planes_of, triangle_by_planes
from gjk3d.poses import IDENTITY

BARYCENTRIC = np.random.default_rng(1).dirichlet((0.7, 0.7, 0.7), 400)


def hull_mesh(seed: int, count: int = 20) -> gk.Mesh:
    hull = gk.ConvexHull(np.random.default_rng(seed).normal(size=(count, 3)))
    surface = hull.surface()
    return gk.Mesh(surface.vertices, surface.faces)


def depth_in(mesh: gk.Mesh, points: np.ndarray) -> np.ndarray:
    """Return the depth of points inside a convex mesh by its face planes; negative outside."""
    v = mesh.vertices[mesh.faces]
    n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    n *= np.sign(((v[:, 0] - mesh.vertices.mean(axis=0)) * n).sum(axis=1, keepdims=True))
    return ((v[:, 0] * n).sum(axis=1) - points @ n.T).min(axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_plane_bounds_contain_sampled_depths(seed: int) -> None:
    mesh, rng = hull_mesh(seed), np.random.default_rng(seed)
    planes = planes_of(mesh)
    assert len(planes) == len(mesh.faces)
    for _ in range(50):
        t = rng.normal(size=(3, 3))
        deepest = depth_in(mesh, BARYCENTRIC @ t).max()
        corner = tuple(map(tuple, t.tolist()))
        assert triangle_by_planes(planes, corner, -np.inf) >= deepest - 1e-12
        assert depth_by_planes(planes, corner[0], -np.inf)[0] == pytest.approx(depth_in(mesh, t[:1])[0], abs=1e-12)
        small = tuple(map(tuple, (t[0] + 1e-9 * t).tolist()))
        assert triangle_by_planes(planes, small, -np.inf) == pytest.approx(depth_in(mesh, t[:1])[0], abs=1e-7)
        half = rng.uniform(0.0, 0.5, 3)
        box = np.concatenate([[0.0, 0.0, 0.0], half, np.eye(3).ravel()])[None]
        inside = rng.uniform(-1.0, 1.0, (400, 3)) * half + t[0]
        pose = (*np.eye(3).ravel().tolist(), *t[0].tolist())
        assert box_by_planes(planes, pose, box, 0, corner[0]) >= depth_in(mesh, inside).max() - 1e-12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_depth_of_inner_surface_is_bounded(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    host, guest = hull_mesh(seed).scaled(size), hull_mesh(seed + 10, 12).scaled(size)
    row = IDENTITY[0].copy()
    row[9:12] = size * rng.normal(size=3) * 0.5
    result = inner(host, guest, row, 1e-14 * size, 1e-2, 20_000, 0.0)
    points = np.einsum("kj,fjc->fkc", BARYCENTRIC, guest.vertices[guest.faces]).reshape(-1, 3) + row[9:12]
    deepest = max(0.0, float(depth_in(host, points).max()))
    assert deepest <= result.upper + 1e-12 * size
    assert result.upper <= result.lower * 1.011 + 1e-12 * size
    if result.lower > 0.0:
        assert depth_in(host, result.points[:1])[0] == pytest.approx(result.lower, rel=1e-9)
        assert np.linalg.norm(result.feet[0] - result.points[0]) == pytest.approx(result.lower, rel=1e-9)


def test_non_convex_mesh_has_no_planes() -> None:
    vertices = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2), (0.3, 0.3, 0.3)], dtype=float)
    dented = gk.Mesh(vertices, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)])
    assert dented.is_watertight
    assert not dented.is_convex
    assert len(planes_of(dented)) == 0
