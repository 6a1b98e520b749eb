"""Points and balls inside closed meshes that are not convex: as deep as the surface is far away, plus the radius."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gjk3d as gk
from tests.bodies import every_kind
from tests.bodies.places import Array, anywhere, at
from tests.bodies.test_touches import LEVEL, an_l, box_mesh
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
def test_points_are_as_deep_as_the_surface_is_far(name: str, rng: np.random.Generator) -> None:
    mesh = MESHES[name]()
    corners, size = mesh.vertices[mesh.faces], float(np.abs(mesh.vertices).max())
    for p in points_inside(mesh, rng, 40):
        feet = closest_points(p, corners)
        far = float(np.linalg.norm(feet - p, axis=1).min())
        for whole in (np.eye(4), anywhere(rng, size)):
            found = gk.signed_distance(mesh, gk.Point(), whole, whole @ at(*p))
            assert found.tight, found
            assert found.lower <= -far * (1.0 - 1e-12)
            assert found.upper >= -far * (1.0 + 1e-12)
            assert found.distance == pytest.approx(-far, rel=1e-9)
            foot = (whole[:3, :3].T @ (found.point_a - whole[:3, 3])) - feet
            assert np.linalg.norm(foot, axis=1).min() < 1e-9 * size
            assert found.point_b - found.point_a == pytest.approx(found.distance * found.normal, abs=1e-12 * size)


@pytest.mark.parametrize("name", MESHES)
def test_balls_are_deeper_by_their_radius_where_nothing_is_in_the_way(name: str, rng: np.random.Generator) -> None:
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
        found = gk.signed_distance(mesh, gk.Sphere(radius), None, at(*p))
        assert found.upper >= -(far + radius) * (1.0 + 1e-12)
        assert found.lower <= -(far + radius) * (1.0 - 1e-12)
        assert found.tight or not is_free, (found, far + radius)
        assert found.distance == pytest.approx(-(far + radius), rel=1e-9) or not is_free
        free += is_free
    assert free > 10


@pytest.mark.parametrize("solid", [True, False])
def test_balls_that_a_surface_crosses_from_outside(solid: bool, rng: np.random.Generator) -> None:
    """As deep as the radius less the distance of the surface, where the way out is free."""
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
        found = gk.signed_distance(mesh, gk.Sphere(radius), None, at(*p))
        assert found.upper >= -(radius - far) - 1e-12 or not is_free
        assert found.lower <= -(radius - far) + 1e-12
        assert found.distance == pytest.approx(far - radius, rel=1e-6, abs=1e-12) or not is_free, found
        assert np.linalg.norm(found.normal - (p - feet[k]) / far) < 1e-9 or not is_free, found
        free += is_free
    assert free > 80


def test_one_question_a_stack_and_both_orders_are_the_same() -> None:
    mesh, ball, p = MESHES["bracket"](), gk.Sphere(0.5), at(-0.13, 9.33, 3.58)
    one, back, pair = gk.signed_distance(mesh, ball, None, p), gk.signed_distance(ball, mesh, p), gk.Pair(mesh, ball)
    many = gk.signed_distance(mesh, ball, None, np.stack([p, at(50, 0, 0), p]))
    for other in (many[0], many[2], pair.signed_distance(None, p)):
        assert (other.distance, other.lower, other.upper) == (one.distance, one.lower, one.upper)
        assert (other.normal == one.normal).all()
        assert (other.point_a == one.point_a).all()
    assert (back.distance, back.lower, back.upper) == (one.distance, one.lower, one.upper)
    assert (back.normal == -one.normal).all()


def test_a_ball_that_a_groove_does_not_take_is_deeper() -> None:
    """Above the bottom of a groove of right angles a ball of radius 1 is stopped by both sides."""
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


def bodies_beside_meshes() -> dict[str, tuple[Any, float]]:
    """Bodies, and how deep a ball of radius 0.25 is in them at (2, 2, 0.75), by hand."""
    cube, hills = box_mesh((4.0, 4.0, 4.0), (2.0, 2.0, 0.0)), np.ones((5, 5))
    hills[4, 4] = 4.0
    return {
        "mesh at a pose": (gk.Compound([(cube, None), (gk.Sphere(0.5), at(20, 0, 0))]), 1.5),
        "ground with a bottom": (gk.HeightField(hills, 1.0, bottom=-4.0), 0.5),
    }


@pytest.mark.parametrize("name", bodies_beside_meshes())
def test_other_bodies_with_closed_surfaces(name: str) -> None:
    body, deep = bodies_beside_meshes()[name]
    found = gk.signed_distance(body, gk.Sphere(0.25), None, at(2, 2, 0.75))
    assert found.lower <= -deep <= found.upper + 1e-12
    assert found.distance == pytest.approx(-deep, rel=1e-9)


def test_a_lid_on_the_surface_is_in_the_way() -> None:
    """The nearest point of the surface is under the lid; a side is 2 away."""
    cube = box_mesh((4.0, 4.0, 4.0), (2.0, 2.0, 0.0))
    body = gk.Compound([(cube, None), (gk.Box((6, 6, 1)), at(2, 2, 2.5))])
    found = gk.signed_distance(body, gk.Sphere(0.25), None, at(2, 2, 0.75))
    assert found.lower <= -2.25 <= found.upper <= -1.5 + 1e-12
    moved = at(*(np.array([2, 2, 0.75]) + found.separation_vector * (1.0 + 1e-9)))
    assert not gk.collide(body, gk.Sphere(0.25), None, moved)


def test_depths_of_balls_are_proven() -> None:
    mesh = LEVEL["closed mesh"]
    for shape, pose in (
        (gk.Sphere(0.1), at(0.5, 2, 3)),
        (gk.Point(), at(1.2, 2, 0.3)),
        (gk.Sphere(0.5), at(0.9, 2, 0.9)),
    ):
        found = gk.signed_distance(mesh, shape, None, pose, certificate=True)
        assert found.upper < 0.0
        assert gk.verify(found, mesh, shape, None, pose).proven, gk.verify(found, mesh, shape, None, pose)
