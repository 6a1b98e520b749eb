"""The estimate of the distance between triangles and the curved faces that they approximate."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.topology import STEEPEST, chord_error


def mesh_of(shape, segments=32):
    made = shape.surface(segments)
    return gk.Mesh(made.vertices, made.faces)


@pytest.mark.parametrize("segments", [16, 32, 100])
@pytest.mark.parametrize("height", [0.1, 1000.0])
def test_chord_error_of_cylinder_is_its_sagitta(segments, height, rng):
    mesh = mesh_of(gk.Cylinder(5.0, height), segments)
    sagitta = 5.0 * (1.0 - np.cos(np.pi / segments))
    assert chord_error(mesh) == pytest.approx(sagitta, rel=1e-6)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
    assert chord_error(mesh.placed(pose).scaled(0.001)) == pytest.approx(0.001 * sagitta, rel=1e-6)


@pytest.mark.parametrize("subdivisions", [2, 3, 4])
def test_chord_error_of_ball_is_below_the_true_error(subdivisions):
    """The estimate uses chords of one direction. A sphere also bends across them, most at the centres of triangles."""
    ball = trimesh.creation.icosphere(subdivisions, 5.0)
    true = 5.0 - np.linalg.norm(ball.triangles_center, axis=1).min()
    assert 0.35 * true < chord_error(gk.Mesh(ball.vertices, ball.faces)) < true


def test_chord_error_of_torus_is_that_of_its_coarser_circle():
    torus = trimesh.creation.torus(10.0, 2.0, major_sections=32, minor_sections=32)
    true = 12.0 * (1.0 - np.cos(np.pi / 32))
    assert chord_error(gk.Mesh(torus.vertices, torus.faces)) == pytest.approx(true, rel=0.05)


def test_chord_error_of_flat_parts_is_zero():
    for shape in (gk.Box((1, 2, 3)), gk.Tetrahedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])):
        assert chord_error(mesh_of(shape)) == 0.0
    cut = mesh_of(gk.Box((1, 2, 3)))
    split = trimesh.Trimesh(cut.vertices, cut.faces, process=False).subdivide()
    assert chord_error(gk.Mesh(split.vertices, split.faces)) == 0.0
    assert chord_error(mesh_of(gk.Cylinder(1.0, 1.0), 8)) == 0.0  # angles of 45 degrees count as edges of a prism
    assert chord_error(gk.Mesh(np.zeros((3, 3)), [(0, 1, 2)])) == 0.0
    assert 0.05 < STEEPEST < 0.07
