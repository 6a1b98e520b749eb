"""Points and balls inside closed non-convex meshes: the depth is the distance of the surface plus the radius."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gjk3d as gk
from tests.bodies import every_kind
from tests.bodies.random_shapes import Array, anywhere, at
from tests.bodies.test_touching_normals import LEVEL, an_l, box_mesh
from tests.hardening.normals import closest_points

DATA = Path(__file__).parents[2] / "data"
MESHES = {
    "an L": an_l,
    "another L": lambda: every_kind.closed().body,
    "bracket": lambda: gk.load(DATA / "bracket.stl"),
    "bolt": lambda: gk.load(DATA / "bolt.stl"),
    "gear": lambda: gk.load(DATA / "gear_a.stl"),
    "turned inside out": lambda: gk.Mesh(an_l().vertices, an_l().faces[:, ::-1]),
}


def points_inside(mesh: gk.Mesh, rng: np.random.Generator, count: int) -> Array:
    low, high = mesh.bounds
    points = rng.uniform(low, high, (40 * count, 3))
    return points[[gk.collide(mesh, gk.Point(p)) for p in points]][:count]


@pytest.mark.parametrize("name", MESHES)
def test_point_depth_equals_distance_to_surface(name: str, rng: np.random.Generator) -> None:
    mesh = MESHES[name]()
    corners, size = mesh.vertices[mesh.faces], float(np.abs(mesh.vertices).max())
    for p in points_inside(mesh, rng, 40):
        feet = closest_points(p, corners)
        far = float(np.linalg.norm(feet - p, axis=1).min())
        for pose in (np.eye(4), anywhere(rng, size)):
            result = gk.signed_distance(mesh, gk.Point(), pose, pose @ at(*p))
            assert result.tight, result
            assert result.lower <= -far * (1.0 - 1e-12)
            assert result.upper >= -far * (1.0 + 1e-12)
            assert result.distance == pytest.approx(-far, rel=1e-9)
            foot = (pose[:3, :3].T @ (result.point_a - pose[:3, 3])) - feet
            assert np.linalg.norm(foot, axis=1).min() < 1e-9 * size
            assert result.point_b - result.point_a == pytest.approx(result.distance * result.normal, abs=1e-12 * size)


@pytest.mark.parametrize("name", MESHES)
def test_depth_of_unblocked_ball_adds_its_radius(name: str, rng: np.random.Generator) -> None:
    mesh = MESHES[name]()
    corners, size = mesh.vertices[mesh.faces], float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    free = 0
    for p in points_inside(mesh, rng, 40):
        radius = size * rng.choice((1e-3, 0.02, 0.2))
        feet = closest_points(p, corners)
        gaps = np.linalg.norm(feet - p, axis=1)
        far, k = float(gaps.min()), int(gaps.argmin())
        out = p + (feet[k] - p) * (1.0 + radius / far)
        touches = np.linalg.norm(closest_points(out, corners) - out, axis=1).min()
        is_free = touches >= radius - 1e-13 * size and not gk.collide(mesh, gk.Point(out))
        result = gk.signed_distance(mesh, gk.Sphere(radius), None, at(*p))
        assert result.upper >= -(far + radius) * (1.0 + 1e-12)
        assert result.lower <= -(far + radius) * (1.0 - 1e-12)
        assert result.tight or not is_free, (result, far + radius)
        assert result.distance == pytest.approx(-(far + radius), rel=1e-9) or not is_free
        free += is_free
    assert free > 10


@pytest.mark.parametrize("solid", [True, False])
def test_depth_of_ball_with_centre_outside(solid: bool, rng: np.random.Generator) -> None:
    """The depth is the radius minus the distance of the surface if the separating translation is free."""
    mesh = gk.Mesh(an_l().vertices, an_l().faces, solid=solid)
    corners, free = mesh.vertices[mesh.faces], 0
    for p in rng.uniform((-1, -1, -1), (5, 5, 6), (200, 3)):
        feet = closest_points(p, corners)
        gaps = np.linalg.norm(feet - p, axis=1)
        far, k = float(gaps.min()), int(gaps.argmin())
        radius = far + rng.choice((1e-9, 0.01, 0.5))
        out = p + (p - feet[k]) * (radius / far - 1.0)
        is_free = np.linalg.norm(closest_points(out, corners) - out, axis=1).min() >= radius - 1e-13
        is_free &= not gk.collide(an_l(), gk.Point(p))
        result = gk.signed_distance(mesh, gk.Sphere(radius), None, at(*p))
        assert result.upper >= -(radius - far) - 1e-12 or not is_free
        assert result.lower <= -(radius - far) + 1e-12
        assert result.distance == pytest.approx(far - radius, rel=1e-6, abs=1e-12) or not is_free, result
        assert np.linalg.norm(result.normal - (p - feet[k]) / far) < 1e-9 or not is_free, result
        free += is_free
    assert free > 80


def test_single_stacked_and_swapped_queries_are_equal() -> None:
    mesh, ball, p = MESHES["bracket"](), gk.Sphere(0.5), at(-0.13, 9.33, 3.58)
    single, back, pair = gk.signed_distance(mesh, ball, None, p), gk.signed_distance(ball, mesh, p), gk.Pair(mesh, ball)
    many = gk.signed_distance(mesh, ball, None, np.stack([p, at(50, 0, 0), p]))
    for result in (many[0], many[2], pair.signed_distance(None, p)):
        assert (result.distance, result.lower, result.upper) == (single.distance, single.lower, single.upper)
        assert (result.normal == single.normal).all()
        assert (result.point_a == single.point_a).all()
    assert (back.distance, back.lower, back.upper) == (single.distance, single.lower, single.upper)
    assert (back.normal == -single.normal).all()


def test_ball_wider_than_groove_is_deeper() -> None:
    """Both sides of a right-angled groove stop the ball above its bottom."""
    profile = [(-4.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 4.0), (0.0, 2.0), (-2.0, 4.0), (-4.0, 4.0)]
    vertices = [(x, y, z) for y in (-8.0, 8.0) for x, z in profile]
    sides = [f for k in range(7) for f in ((k, k + 7, (k + 1) % 7 + 7), (k, (k + 1) % 7 + 7, (k + 1) % 7))]
    caps = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 4, 6), (4, 5, 6)]
    caps = [(a, b, c) for a, b, c in caps] + [(a + 7, c + 7, b + 7) for a, b, c in caps]
    block = gk.Mesh(vertices, sides + caps)
    assert block.is_solid
    point = gk.signed_distance(block, gk.Point(), None, at(0, 0, 1.5))
    assert point.distance == pytest.approx(-0.5, abs=1e-12)
    ball = gk.signed_distance(block, gk.Sphere(0.5), None, at(0, 0, 1.5))
    assert ball.lower <= -0.5 - 0.5 * np.sqrt(2.0) <= -1.0 <= ball.upper + 1e-12
    assert ball.distance == pytest.approx(-0.5 - 0.5 * np.sqrt(2.0), rel=1e-6)


def other_bodies() -> dict[str, tuple[Any, float]]:
    """Return bodies with the depth of a ball of radius 0.25 at (2, 2, 0.75), computed by hand."""
    cube, hills = box_mesh((4.0, 4.0, 4.0), (2.0, 2.0, 0.0)), np.ones((5, 5))
    hills[4, 4] = 4.0
    return {
        "mesh at a pose": (gk.Compound([(cube, None), (gk.Sphere(0.5), at(20, 0, 0))]), 1.5),
        "ground with a bottom": (gk.HeightField(hills, 1.0, bottom=-4.0), 0.5),
    }


@pytest.mark.parametrize("name", other_bodies())
def test_ball_depth_in_other_closed_bodies(name: str) -> None:
    body, deep = other_bodies()[name]
    result = gk.signed_distance(body, gk.Sphere(0.25), None, at(2, 2, 0.75))
    assert result.lower <= -deep <= result.upper + 1e-12
    assert result.distance == pytest.approx(-deep, rel=1e-9)


def test_lid_blocks_the_shortest_translation() -> None:
    """The nearest point of the surface is below a lid, and the nearest side is 2 away."""
    cube = box_mesh((4.0, 4.0, 4.0), (2.0, 2.0, 0.0))
    body = gk.Compound([(cube, None), (gk.Box((6, 6, 1)), at(2, 2, 2.5))])
    result = gk.signed_distance(body, gk.Sphere(0.25), None, at(2, 2, 0.75))
    assert result.lower <= -2.25 <= result.upper <= -1.5 + 1e-12
    moved = at(*(np.array([2, 2, 0.75]) + result.separation_vector * (1.0 + 1e-9)))
    assert not gk.collide(body, gk.Sphere(0.25), None, moved)


def test_ball_depth_certificates_are_verified() -> None:
    mesh = LEVEL["closed mesh"]
    for shape, pose in (
        (gk.Sphere(0.1), at(0.5, 2, 3)),
        (gk.Point(), at(1.2, 2, 0.3)),
        (gk.Sphere(0.5), at(0.9, 2, 0.9)),
    ):
        result = gk.signed_distance(mesh, shape, None, pose, certificate=True)
        assert result.upper < 0.0
        assert gk.verify(result, mesh, shape, None, pose).proven, gk.verify(result, mesh, shape, None, pose)
