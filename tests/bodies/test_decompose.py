"""Meshes cut into convex parts by coacd."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.bodies.conversions import geometry_error
from gjk3d.errors import ShapeError
from tests.bodies.random_shapes import anywhere, at


def from_trimesh(mesh: trimesh.Trimesh) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces)


TORUS = from_trimesh(trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12))


@pytest.mark.full
def test_decomposition_matches_mesh_distances_within_its_error() -> None:
    parts = TORUS.decompose()
    error = parts.geometry_error
    assert len(parts) > 4
    assert error is not None
    assert 0.001 < error < 0.1
    assert not gk.collide(parts, gk.Sphere(0.5))
    assert gk.collide(TORUS.hull(), gk.Sphere(0.5))
    rng = np.random.default_rng(1)
    for _ in range(30):
        pose = anywhere(rng, 1.8)
        box = gk.Box((0.3, 0.2, 0.4))
        mesh, made = gk.distance(TORUS, box, None, pose), gk.distance(parts, box, None, pose)
        assert abs(mesh.distance - made.distance) <= 1.05 * error


@pytest.mark.full
def test_decomposition_is_cached_for_equal_meshes() -> None:
    assert TORUS.decompose(0.05) is gk.Mesh(TORUS.vertices, TORUS.faces, name="other").decompose()
    assert TORUS.decompose(0.3) is not TORUS.decompose()
    assert gk.Compound([(gk.Sphere(1), None)]).geometry_error is None


def test_geometry_error_covers_hulls_too_large_or_too_small() -> None:
    cube = from_trimesh(trimesh.creation.box((2, 2, 2)))
    grown = gk.ConvexHull(cube.vertices * (1.25, 1, 1))
    assert geometry_error(cube, [grown]) == pytest.approx(0.25, abs=1e-12)
    shrunk = gk.ConvexHull(cube.vertices * (1, 1, 0.9))
    assert geometry_error(cube, [shrunk]) == pytest.approx(0.1, abs=1e-12)
    halves = [gk.ConvexHull(cube.vertices * (0.5, 1, 1) + (x, 0, 0)) for x in (-0.5, 0.5)]
    assert geometry_error(cube, halves) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 0.001, 2.0, float("nan"), "fine"])
def test_threshold_out_of_range_raises(threshold: object) -> None:
    with pytest.raises(ShapeError, match="decompose: threshold"):
        TORUS.decompose(threshold)


def test_missing_coacd_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(ImportError, match=r"'gjk3d\[mesh\]'"):
        gk.Mesh(TORUS.vertices * 1.5, TORUS.faces).decompose()


@pytest.mark.full
def test_a_decomposition_can_be_placed_in_a_compound() -> None:
    parts = TORUS.decompose()
    compound = gk.Compound([(parts, at(0, 0, 0)), (parts, at(0, 0, 1))])
    assert len(compound) == 2 * len(parts)
    assert not gk.collide(compound, gk.Capsule(0.3, 2), None, at(0, 0, 0.5))
