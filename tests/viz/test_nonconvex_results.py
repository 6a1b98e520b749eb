"""Results about clouds, compounds, grids and height fields draw these bodies as single bodies are drawn."""

import numpy as np
import pytest
from example_results import pose

import gjk3d as gk
from gjk3d.viz.drawing import MOST_BALLS, shade, solid_surface, surface_of
from gjk3d.viz.kinds import drawing_of

RNG = np.random.default_rng(5)
SOLIDS = {
    "cloud": gk.PointCloud(RNG.uniform(-1, 1, (40, 3)), 0.1),
    "bare cloud": gk.PointCloud(RNG.uniform(-1, 1, (40, 3)), 0.0),
    "large cloud": gk.PointCloud(RNG.uniform(-1, 1, (MOST_BALLS + 1, 3)), 0.01),
    "compound": gk.Compound([(gk.Sphere(0.5), None), (gk.Box((1, 1, 1)), pose(0, 0, 1))]),
    "voxels": gk.VoxelGrid(RNG.random((4, 4, 4)) < 0.5, 0.3),
    "heights": gk.HeightField(RNG.random((5, 6)), 0.4),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_scene_results_draw_nonconvex_bodies(name):
    solid, place = SOLIDS[name], pose(0.5, 0, 2.5)
    scene = gk.Scene()
    scene.add("solid", solid, pose=place)
    scene.add("box", gk.Box((1, 1, 1)))
    for result in (scene.closest(within=30), scene.contacts(within=30)):
        drawing = drawing_of(result)
        body = next(item for item in drawing.items if item.name == "AB"[result[0][1] == "solid"])
        shape = surface_of(solid)[0]  # a height field has no bounds
        low, high = shape.min(axis=0) + place[:3, 3], shape.max(axis=0) + place[:3, 3]
        reach = 0.05  # radius of the signs for points
        assert (np.abs(body.vertices.min(axis=0) - low) < reach).all()
        assert (np.abs(body.vertices.max(axis=0) - high) < reach).all()
        assert len(body.faces)


def test_small_balls_have_no_edges(rng):
    many = gk.PointCloud(rng.uniform(-1, 1, (300, 3)), 0.02)
    assert len(shade(*surface_of(many)).edges) == 0
    single = gk.PointCloud([(1, 2, 3)], 0.0)
    assert solid_surface(single)[0].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("name", SOLIDS)
def test_results_of_nonconvex_bodies_are_drawn(name):
    solid, ball = SOLIDS[name], gk.Sphere(0.3)
    motion = gk.Motion(pose(0.5, 0.4, 5), (0, 0, -9), (0, 0, 1))
    for result in (
        gk.time_of_impact(solid, ball, None, motion), gk.time_of_impact(ball, solid, motion),
        gk.contact(solid, ball, None, pose(0.5, 0.4, 1.5), within=3.0),
        gk.signed_distance(solid, ball, None, pose(0, 0, 3)),
    ):  # fmt: skip
        drawing = drawing_of(result)
        assert sum(len(item.faces) > 0 for item in drawing.items) >= 2
