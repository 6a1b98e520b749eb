"""Voxel grids, and the voxelization of meshes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair
from tests.bodies.random_shapes import Array, anywhere, at, check_against_parts, some_compound, some_shape

TORUS = trimesh.creation.torus(0.8, 0.2, major_sections=32, minor_sections=16)


def cubes(grid: gk.VoxelGrid) -> list[tuple[gk.Box, Array]]:
    """Return each occupied voxel as a box with its pose, as a reference."""
    half = 0.5 * grid.pitch
    where = np.argwhere(grid.occupied) * grid.pitch + grid.origin + half
    return [(gk.Box((grid.pitch,) * 3), at(*place)) for place in where]


def some_grid(rng: np.random.Generator) -> gk.VoxelGrid:
    occupied = rng.uniform(size=rng.integers(1, 5, 3)) < 0.5
    occupied[0, 0, 0] = True
    return gk.VoxelGrid(occupied, 0.3, origin=rng.uniform(-1, 0, 3))


@pytest.mark.parametrize("seed", range(3))
def test_grid_equals_separate_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits = []
    for k in range(14):
        grid = some_grid(rng)
        partner = (some_shape(rng), some_compound(rng, 3, 0.5), some_grid(rng))[k % 3]
        parts = cubes(partner) if k % 3 == 2 else partner.parts if k % 3 == 1 else [(partner, np.eye(4))]
        hits.append(check_against_parts(grid, cubes(grid), partner, parts, anywhere(rng, 0.3), anywhere(rng, 1.0)))
    assert 0.2 < np.mean(hits) < 0.9


def test_merged_boxes_cover_occupied_voxels_once() -> None:
    rng = np.random.default_rng(3)
    for density in (0.1, 0.5, 0.9):
        occupied = rng.uniform(size=(9, 7, 8)) < density
        grid = gk.VoxelGrid(occupied, 0.5)
        union, seen = grid._as_parts(), np.zeros(occupied.shape, dtype=int)
        for box in union.boxes(np.arange(union.count)):
            i, j, k, a, b, c = np.round(box / 0.5).astype(int)
            seen[i:a, j:b, k:c] += 1
        assert (seen == occupied).all()
    assert gk.VoxelGrid(np.ones((30, 30, 30)), 0.1)._as_parts().count == 1


def test_depth_in_full_grid_equals_depth_in_box() -> None:
    grid = gk.VoxelGrid(np.ones((10, 10, 10)), 0.1, origin=(-0.5, -0.5, -0.5))
    for place in ((0.1, 0.2, 0.3), (0.55, 0, 0), (0, 0, 0.62)):
        truth = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(0.2), None, at(*place))
        answer = gk.signed_distance(grid, gk.Sphere(0.2), None, at(*place))
        assert answer.distance == pytest.approx(truth.distance, abs=1e-9)
        assert answer.lower <= truth.upper
        assert truth.lower <= answer.upper


def test_grid_against_mesh_equals_separate_boxes() -> None:
    mesh = gk.Mesh(TORUS.vertices, TORUS.faces)
    rng = np.random.default_rng(11)
    hits = []
    for _ in range(12):
        grid, pose = some_grid(rng), anywhere(rng, 1.2)
        boxes = cubes(grid)
        poses = np.array([pose @ place for _, place in boxes])
        truth = gk.signed_distance(mesh, boxes[0][0], None, poses)
        answer = gk.signed_distance(grid, mesh, pose)
        hits.append(bool((truth.upper < 0).any()))
        assert gk.collide(mesh, grid, None, pose) == hits[-1]
        assert answer.lower <= truth.upper.min() + 1e-12
        if not hits[-1]:
            assert answer.distance == pytest.approx(truth.distance.min(), abs=1e-12)
    assert 0.2 < np.mean(hits) < 0.9


@pytest.mark.parametrize("pitch", [0.21, 0.1])
def test_voxelized_mesh_contains_mesh_tightly(pitch: float) -> None:
    mesh = gk.Mesh(TORUS.vertices, TORUS.faces)
    grid = mesh.voxelized(pitch)
    low = grid.origin + pitch * np.argwhere(grid.occupied)
    middles = grid.origin + pitch * (np.argwhere(np.ones(grid.occupied.shape)) + 0.5)
    assert grid.contains(middles[mesh.contains(middles)]).all()
    poses = np.tile(np.eye(4), (len(middles), 1, 1))
    poses[:, :3, 3] = middles
    truth = gk.collide(mesh, gk.Box((pitch,) * 3), None, poses)
    assert (grid.occupied.ravel() == truth).all()
    assert (grid.bounds[0] <= mesh.bounds[0] + 1e-12).all()
    assert (grid.bounds[1] >= mesh.bounds[1] - 1e-12).all()
    assert len(low) < truth.size


def test_voxelization_of_cube_shell_and_sheet() -> None:
    cube = trimesh.creation.box((1, 1, 1))
    assert (
        gk.Mesh(cube.vertices, cube.faces).voxelized(0.5).occupied.tolist() == np.ones((2, 2, 2)).astype(bool).tolist()
    )
    inner = trimesh.creation.box((0.6, 0.6, 0.6))
    shell = gk.Mesh(np.vstack([cube.vertices, inner.vertices]), np.vstack([cube.faces, inner.faces[:, ::-1] + 8]))
    hollow = shell.voxelized(0.1)
    assert not hollow.contains((0.02, 0.03, 0.01))
    assert hollow.contains([(0.42, 0.01, 0.02), (0.02, 0.03, -0.45)]).all()
    sheet = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).voxelized(0.25)
    assert sheet.occupied.shape == (4, 4, 1)
    assert sheet.occupied[:, :, 0].sum() == 10 + 3  # the long edge passes through the corners of three more voxels
    with pytest.raises(ShapeError) as caught:
        gk.Mesh(cube.vertices, cube.faces).voxelized(1e-6)
    assert_names(caught.value, "1e-06", "1e+18", "0.00215")
    with pytest.raises(ShapeError) as caught:
        gk.Mesh(cube.vertices, cube.faces).voxelized(-1)
    assert_names(caught.value, "voxelized", "pitch", "-1")


@pytest.mark.parametrize(
    ("occupied", "fragments"),
    [
        (np.zeros((2, 2, 2)), ("8 cubes", "occupied")),
        (np.ones((2, 2)), ("occupied", "(2, 2)", "PointCloud")),
        (np.zeros((0, 2, 2)), ("0 cubes", "occupied")),
        ([[[1, np.nan]]], ("occupied[0, 0, 1]", "nan")),
        ([["a"]], ("occupied", "(nx, ny, nz)")),
        ([[[1, 0]], [[1]]], ("ragged", "(nx, ny, nz)")),
    ],
)
def test_invalid_grids_raise(occupied: object, fragments: tuple[str, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        gk.VoxelGrid(occupied, 1)
    assert_names(caught.value, *fragments)


def test_grid_equality_pickling_and_properties() -> None:
    grid = gk.VoxelGrid(np.eye(3)[None], 0.5)
    copy = pickle.loads(pickle.dumps(grid))
    assert copy == grid
    assert hash(copy) == hash(grid)
    assert grid != gk.VoxelGrid(np.eye(3)[None], 0.25)
    assert grid.volume == pytest.approx(3 * 0.125)
    assert grid.hull().bounds == pytest.approx(grid.bounds, abs=1e-9)
    assert gk.collide(grid, gk.Point((0.1, 0.1, 0.1)))
    with pytest.raises(ValueError, match="read-only"):
        grid.occupied[0, 0, 0] = False
    for bad in (0, -1, np.inf, None):
        with pytest.raises(ShapeError, match="VoxelGrid: pitch"):
            gk.VoxelGrid(np.ones((1, 1, 1)), bad)
    with pytest.raises(UnsupportedPair, match="VoxelGrid"):
        gk.separating_axis(grid, grid)
