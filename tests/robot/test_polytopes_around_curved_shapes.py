"""Polytopes that contain a curved shape, checked face by face in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.robot.occupancy import _holder
from gjk3d.robot.urdf import _parts

TIGHT = 1.0 + 1e-10  #: Largest distance of a tight face, relative to the distance of the nearest face.


def assert_tight_faces_contain_ellipsoid(points, radii):
    """Assert that no face of the hull cuts the ellipsoid. Only the nearest faces are checked exactly."""
    hull = gk.ConvexHull(points)
    corners = hull.vertices[hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    heights = np.einsum("ij,ij->i", normals, corners[:, 0])
    shares = heights / np.linalg.norm(normals * radii, axis=1)
    tight = np.flatnonzero(shares <= shares.min() * TIGHT)
    squares = [Fraction(float(r)) ** 2 for r in radii]
    for p, q, r in map(naive.exact, corners[tight]):
        normal = np.cross(q - p, r - p)
        assert (normal @ p) ** 2 >= sum(s * n * n for s, n in zip(squares, normal, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_hull_of_swept_ellipsoid_contains_ellipsoid(seed):
    radii = np.random.default_rng(seed).uniform(0.5, 1.0, 3)
    assert_tight_faces_contain_ellipsoid(_holder(gk.Ellipsoid(radii)).points, radii)


@pytest.mark.parametrize("seed", range(11, 20))
def test_hull_written_to_urdf_contains_ellipsoid(seed):
    radii = np.random.default_rng(seed).uniform(0.5, 1.0, 3)
    ((hull, _),) = _parts(gk.Ellipsoid(radii), np.eye(4))
    assert_tight_faces_contain_ellipsoid(hull.vertices, radii)


@pytest.mark.parametrize("seed", range(10))
def test_prism_of_swept_cylinder_contains_cylinder(seed):
    radius = float(np.random.default_rng(seed).uniform(0.5, 1.0))
    points = _holder(gk.Cylinder(radius, 1.0)).points
    ring = naive.exact(points[: len(points) // 2, :2])
    for (x, y), (u, v) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        side = (u - x) ** 2 + (v - y) ** 2
        assert (x * v - y * u) ** 2 >= Fraction(radius) ** 2 * side
