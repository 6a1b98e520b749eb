"""Contacts at edges inside bodies: normals are those of the surface, on level ground and at folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from tests.bodies.random_shapes import Array, at
from tests.hardening import level


def test_crate_on_four_cells_rests_on_its_corners() -> None:
    ground = gk.HeightField(np.zeros((4, 4)), 1.0)
    touch = gk.contact(ground, gk.Box((1, 1, 1)), None, at(1.5, 1.5, 0.49))
    assert touch.normals.tolist() == [[0.0, 0.0, 1.0]] * 4
    assert touch.gaps == pytest.approx(-0.01, abs=1e-12)
    assert sorted(touch.points[:, :2].round(12).tolist()) == [[1, 1], [1, 2], [2, 1], [2, 2]]


@pytest.mark.parametrize("kind", level.GROUNDS)
@pytest.mark.parametrize("thing", level.THINGS)
def test_shapes_on_level_ground(kind: str, thing: str) -> None:
    assert level.faults(kind, thing, 12, seed=1) == {}


@pytest.mark.parametrize("pitch", [0.05, 0.3, 1.0, 3.0])
def test_crate_rests_on_its_corners_at_every_grid_position(pitch: float) -> None:
    ground, crate = gk.HeightField(np.zeros((25, 25)), pitch, (-12 * pitch, -12 * pitch)), gk.Box((0.4, 0.3, 0.2))
    for x in np.linspace(0, pitch, 9):
        for y in np.linspace(0, pitch, 9):
            touch = gk.contact(ground, crate, None, at(x, y, 0.09))
            assert touch.normals == pytest.approx(np.tile((0, 0, 1.0), (4, 1)), abs=1e-12)
            corners = sorted((x + u, y + v) for u in (-0.2, 0.2) for v in (-0.15, 0.15))
            assert np.array(sorted(touch.points[:, :2].round(9).tolist())) == pytest.approx(np.array(corners), abs=2e-9)


def fold(slope: float) -> dict[str, Any]:
    """Return bodies with a fold along y at x = z = 0, whose sides rise away from it by a slope."""
    heights = slope * np.abs(np.linspace(-3.0, 3.0, 13))[:, None] * np.ones(7)
    ground = gk.HeightField(heights, (0.5, 1.0), (-3, -3))
    solid = gk.HeightField(heights, (0.5, 1.0), (-3, -3), bottom=min(0.0, 3.0 * slope) - 1.0)
    return {"field": ground, "sheet": gk.Mesh(*ground.surface()), "solid": gk.Mesh(*solid.surface())}


@pytest.mark.parametrize("name", ["field", "sheet", "solid"])
@pytest.mark.parametrize("slope", [0.01, 0.2, 1.0])
def test_normals_in_a_valley_are_those_of_the_sides(name: str, slope: float) -> None:
    valley, sides = fold(slope)[name], np.array([(-slope, 0, 1), (slope, 0, 1)]) / np.hypot(1.0, slope)
    rng, radius = np.random.default_rng(5), 0.3
    for _ in range(20):
        middle = np.array([rng.uniform(-0.5, 0.5) * slope * radius, rng.uniform(-1, 1), 0.0])
        middle[2] = radius / sides[0, 2] - 0.02
        away = sides @ middle
        feet = (middle - away[:, None] * sides)[:, 0] * (1, -1)  # positive if the foot is on the side
        touch = gk.contact(valley, gk.Sphere(radius), None, at(*middle))
        expected = [(*n, d - radius) for n, d, x in zip(sides, away, feet, strict=True) if d <= radius and x >= 0.0]
        result = np.column_stack([touch.normals, touch.gaps])
        assert result[result[:, 0].argsort()] == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("name", ["field", "sheet", "solid"])
@pytest.mark.parametrize("slope", [-0.01, -0.2, -1.0])
def test_normals_on_a_ridge_are_between_those_of_the_sides(name: str, slope: float) -> None:
    ridge, rng, radius = fold(slope)[name], np.random.default_rng(6), 0.3
    for _ in range(20):
        lean, y = rng.uniform(-0.9, 0.9) * np.arctan(-slope), rng.uniform(-1, 1)
        x, z = (radius - 0.02) * np.array([np.sin(lean), np.cos(lean)])
        touch = gk.contact(ridge, gk.Sphere(radius), None, at(x, y, z))
        assert touch.count == 1
        assert touch.normals[0] == pytest.approx((np.sin(lean), 0, np.cos(lean)), abs=1e-9)
        assert touch.gaps[0] == pytest.approx(-0.02, abs=1e-9)


def test_level_ground_next_to_a_peak() -> None:
    heights = np.zeros((9, 9))
    heights[4, 4] = 2.0
    rng, ball = np.random.default_rng(7), gk.Sphere(0.25)
    for ground in (gk.HeightField(heights, 1.0), gk.HeightField(heights, 1.0, bottom=-1)):
        for _ in range(40):
            x, y = rng.choice((2.6, 5.4)), rng.uniform(2.0, 6.0)
            touch = gk.contact(ground, ball, None, at(x, y, 0.24))
            assert touch.normals.tolist() == [[0.0, 0.0, 1.0]]


def test_step_keeps_its_edge() -> None:
    """The edge and the side of the higher of two boxes belong to the surface."""
    step = gk.Compound([(gk.Box((2, 4, 1)), at(-1, 0, -0.5)), (gk.Box((2, 4, 2)), at(1, 0, 0.0))])
    beside = gk.contact(step, gk.Sphere(0.3), None, at(-0.29, 0.2, 0.5))
    assert beside.normals.tolist() == [[-1.0, 0.0, 0.0]]
    over = gk.contact(step, gk.Sphere(0.3), None, at(-0.2, 0.2, 1.2))
    assert over.normals[0] == pytest.approx((-np.sqrt(0.5), 0, np.sqrt(0.5)), abs=1e-9)
    corner = gk.contact(step, gk.Sphere(0.3), None, at(-0.29, 0.2, 0.28))
    assert sorted(corner.normals.tolist()) == [[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_inner_walls_between_closed_parts_are_ignored() -> None:
    """The floor is one mesh of boxes that abut."""
    rng = np.random.default_rng(8)
    boxes = [gk.Box((1, 1, 1)).surface() for _ in range(9)]
    places = [(x, y, -0.5) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    vertices = np.concatenate([box.vertices + place for box, place in zip(boxes, places, strict=True)])
    faces = np.concatenate([box.faces + 8 * k for k, box in enumerate(boxes)])
    floor = gk.Mesh(vertices, faces)
    assert floor.is_watertight
    for shape in (gk.Sphere(0.3), gk.Box((0.5, 0.6, 0.6)), gk.Cylinder(0.2, 0.6)):
        for _ in range(40):
            touch = gk.contact(floor, shape, None, at(*rng.uniform(-1, 1, 2), 0.28), max_points=None)
            assert touch.count
            assert touch.normals == pytest.approx(np.tile((0, 0, 1.0), (touch.count, 1)), abs=1e-9)


@pytest.mark.parametrize("kind", level.GROUNDS)
def test_shape_deep_in_the_ground_has_contact_points(kind: str) -> None:
    rng, ground = np.random.default_rng(9), level.ground(kind, 1)
    for shape in (gk.Sphere(0.2), gk.Box((0.4, 0.3, 0.2)), gk.Capsule(0.1, 0.3)):
        for z in (0.0, -0.02, -0.1):
            pose = at(*rng.uniform(1.5, 2.5, 2), z, rotation=Rotation.random(rng=rng))
            touch = gk.contact(ground, shape, None, pose)
            assert touch.count > 0
            assert np.isfinite(touch.points).all()


def tilted(angle: float) -> Array:
    return at(0.3, 0.2, 0.0, rotation=Rotation.from_euler("xy", (angle, 0.7 * angle)))


@pytest.mark.parametrize("kind", ["height field", "closed mesh", "compound of boxes", "voxels"])
@pytest.mark.parametrize("angle", [0.02, 0.2, 0.7])
def test_lowest_corner_of_a_tilted_crate_has_an_upright_normal(kind: str, angle: float) -> None:
    crate, pose = gk.Box((0.6, 0.5, 0.4)), tilted(angle)
    corners = 0.5 * np.array([(x, y, z) for x in (-0.6, 0.6) for y in (-0.5, 0.5) for z in (-0.4, 0.4)])
    low = corners @ pose[:3, :3].T
    rng = np.random.default_rng(10)
    for _ in range(20):
        pose[:3, 3] = (*rng.uniform(1.5, 2.5, 2), -low[:, 2].min() - 0.01)
        touch = gk.contact(level.ground(kind, int(rng.integers(8))), crate, None, pose)
        assert touch.normals == pytest.approx(np.tile((0, 0, 1.0), (touch.count, 1)), abs=1e-6)
        assert touch.gaps.min() == pytest.approx(-0.01, abs=1e-9)
