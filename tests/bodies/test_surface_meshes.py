"""Surface meshes of bodies."""

from __future__ import annotations

import numpy as np
import pytest

import gjk3d as gk
from tests.bodies.random_shapes import at


def test_surface_of_voxels_is_closed_and_has_their_volume() -> None:
    rng = np.random.default_rng(1)
    grid = gk.VoxelGrid(rng.uniform(size=(6, 5, 4)) < 0.4, 0.5, origin=(1, 2, 3))
    mesh = gk.Mesh(*grid.surface())
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(grid.volume)
    assert mesh.bounds == pytest.approx(grid.bounds)


def test_surface_of_a_compound_is_that_of_its_parts() -> None:
    cube = gk.Box((1, 1, 1))
    made = gk.Compound([(cube, at(0, 0, 0)), (gk.Mesh(*cube.surface()), at(3, 0, 0)), (gk.Sphere(1), at(0, 5, 0))])
    mesh = gk.Mesh(*made.surface(64))
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(2 + 4 / 3 * np.pi, rel=0.01)
    assert mesh.bounds == pytest.approx(np.array([[-1, -0.5, -1], [3.5, 6, 1]]), abs=1e-6)


def test_normals_of_a_height_field_surface_point_up() -> None:
    heights = np.random.default_rng(2).uniform(size=(4, 6))
    field = gk.HeightField(heights, 0.5, origin=(-1, 2))
    mesh = gk.Mesh(*field.surface())
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(mesh.faces) == 2 * 3 * 5
    assert (normals[:, 2] > 0).all()
    assert 0.5 * normals[:, 2].sum() == pytest.approx(1.5 * 2.5)
    assert (mesh.vertices[:, 2] == heights.ravel()).all()
    assert gk.collide(field, mesh)


def test_bodies_convert_to_pyvista() -> None:
    made = gk.Compound([(gk.Box((1, 1, 1)), at(0, 0, 0)), (gk.Sphere(1), at(0, 5, 0))])
    assert gk.viz.to_pyvista(made, resolution=32).n_cells == len(made.surface().faces)
