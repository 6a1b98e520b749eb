import numpy as np
import pytest
from PIL import Image

import gjk3d as gk
from gjk3d.viz.drawing import is_sheet, shade


@pytest.mark.parametrize("size", [1e-45, 1e-9, 1.0, 1e9])
def test_box_has_sharp_corners(size):
    shaded = shade(*gk.Box(np.array([1.0, 2.0, 3.0]) * size).surface())
    assert shaded.vertices.shape == (24, 3)
    assert shaded.edges.shape == (12, 2, 3)
    assert np.allclose(np.abs(shaded.normals).max(axis=1), 1.0)
    lengths = np.linalg.norm((shaded.edges[:, 1] - shaded.edges[:, 0]) / size, axis=1)
    assert sorted(lengths) == pytest.approx([1] * 4 + [2] * 4 + [3] * 4)


def test_sphere_is_smooth_and_has_no_edges():
    vertices, faces = gk.Sphere(2.0).surface(64)
    shaded = shade(vertices, faces)
    assert len(shaded.edges) == 0
    assert len(shaded.vertices) == len(vertices)
    assert np.einsum("ij,ij->i", shaded.normals, shaded.vertices / 2.0).min() > 0.999


def test_cylinder_has_two_rims():
    shaded = shade(*gk.Cylinder(1.0, 2.0).surface(64))
    assert len(shaded.edges) == 128
    assert np.all(np.abs(shaded.edges[:, :, 2]) == 1.0)


def test_flat_body_shows_only_its_border():
    square = gk.ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    shaded = shade(*square.surface())
    assert len(shaded.edges) == 4
    assert np.allclose(np.abs(shaded.normals[:, 2]), 1.0)


def test_loose_triangles_are_joined_and_borders_drawn():
    vertices, faces = gk.Box((1, 1, 1)).surface()
    loose = shade(vertices[faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert loose.vertices.shape == (24, 3)
    assert len(shade(vertices, faces[:1]).edges) == 3


def test_degenerate_triangles_have_unit_normals():
    shaded = shade(
        np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 0, 1], [0, 1, 3]])
    )
    assert np.allclose(np.linalg.norm(shaded.normals, axis=1), 1.0)


@pytest.mark.full
def test_flat_body_has_one_shade(tmp_path):
    flat = gk.ConvexHull([(1, 3, -2), (1, 3, 2), (-4, -1, -2), (-4, -1, 2)])
    wall = gk.Mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    assert is_sheet(*flat.surface()[:2])
    assert not is_sheet(*gk.Box((1, 2, 3)).surface()[:2])
    assert not is_sheet(wall.vertices, wall.faces)  # one-sided, but visible from behind too
    file = gk.viz.show(flat, path=tmp_path / "flat.png", view=(0.3, -0.75, 0.8), size=(400, 300))
    with Image.open(file) as image:
        middle = np.asarray(image.convert("RGB"), dtype=float)[130:200, 120:280]
    assert np.ptp(middle, axis=(0, 1)).max() < 12
