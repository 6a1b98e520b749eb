"""Balls and points against meshes by the wide tree: the results of both trees, and the effect of each rounding term."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.bodies import distance, mesh_points
from gjk3d.bodies.base import ORDERED
from gjk3d.bodies.bvh import new_stack
from gjk3d.bodies.mesh_points import Ball, BallQuery, NearestFace, ball_depth, mesh_surface, nearest_face
from gjk3d.bodies.tree_collision import APART, HELD, MEET
from gjk3d.bodies.tree_distance import ANSWERED, DEPTHS
from gjk3d.convex.batch import Rows, Wanted, empty_answers
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import BEYOND, SEPARATED
from gjk3d.poses import pose_rows
from tests.bodies import every_kind
from tests.bodies.random_shapes import Array, anywhere, at
from tests.bodies.test_touching_normals import an_l, box_mesh

NOISE = 2.0**-6
WALLS = np.empty((16, 5))
DEPTH_MODES: tuple[Any, ...] = ("auto", "epa", "tight", "fast")


def with_a_fin() -> gk.Mesh:
    """Return a cube with a triangle on an edge of its top, which does not bound the inside."""
    cube = box_mesh((2.0, 2.0, 2.0), (0.0, 0.0, 0.0))
    edge = np.flatnonzero((cube.vertices[:, 2] > 0.0) & (cube.vertices[:, 0] > 0.0))[:2]
    return gk.Mesh(np.vstack([cube.vertices, (1.0, 0.0, 3.0)]), np.vstack([cube.faces, [(*edge, 8)]]))


MESHES = {
    "closed": lambda: every_kind.closed().body,
    "an L": an_l,
    "turned inside out": lambda: gk.Mesh(an_l().vertices, an_l().faces[:, ::-1]),
    "hollow": lambda: gk.Mesh(an_l().vertices, an_l().faces, solid=False),
    "open": lambda: gk.Mesh(an_l().vertices, an_l().faces[:-3], solid=False),
    "with a fin": with_a_fin,
    "doubled": lambda: gk.Mesh(an_l().vertices, np.vstack([an_l().faces, an_l().faces[:2]])),
}


def balls_about(mesh: gk.Mesh, rng: np.random.Generator) -> list[tuple[gk.Shape, Array]]:
    """Return points and balls at random positions and on corners, edges and faces of a mesh."""
    low, high = mesh.bounds
    size, corners = float(np.linalg.norm(high - low)), mesh.vertices[mesh.faces]
    some = corners[rng.integers(len(corners), size=6)]
    places = [*rng.uniform(low - 0.3 * size, high + 0.3 * size, (20, 3)), *some[:, 0], *some[:, :2].mean(axis=1)]
    places += [*some.mean(axis=1)]
    radii = (0.0, 1e-3 * size, 0.05 * size, 0.3 * size)
    return [(gk.Sphere(radius) if radius else gk.Point(), at(*place)) for place in places for radius in radii]


@pytest.mark.parametrize("name", MESHES)
def test_both_trees_have_the_same_booleans_and_bounds_that_overlap(name: str, rng: np.random.Generator) -> None:
    mesh = MESHES[name]()
    size = float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))
    for shape, pose in balls_about(mesh, rng):
        frame = anywhere(rng, size)
        rows = Rows(pose_rows(frame, "pose")[0], pose_rows(frame @ pose, "pose")[0], 1, False)
        for mode, query in ((narrow.UNSIGNED, gk.distance), (narrow.SIGNED, gk.signed_distance)):
            out, flags = empty_answers(1)
            distance._solve_by_trees(mesh, shape, rows, ORDERED, Wanted(mode), out, flags)
            result = query(mesh, shape, frame, frame @ pose)
            assert (result.lower > 0.0) == (out[0, 1] > 0.0)
            assert result.lower <= out[0, 2]
            assert out[0, 1] <= result.upper
            assert gk.collide(mesh, shape, frame, frame @ pose) == (not out[0, 1] > 0.0)
            assert result.upper - result.lower <= 1.1 * (out[0, 2] - out[0, 1]) + 1e-12 * size
            assert np.linalg.norm(result.normal) == pytest.approx(1.0, abs=1e-9)
            assert result.point_b - result.point_a == pytest.approx(result.distance * result.normal, abs=1e-12 * size)


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("depth", DEPTH_MODES)
def test_separating_translation_separates_a_ball(name: str, depth: Any, rng: np.random.Generator) -> None:
    mesh, deep = MESHES[name](), 0
    size = float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))
    for shape, pose in balls_about(mesh, rng):
        result = gk.signed_distance(mesh, shape, None, pose, depth=depth)
        # a point in a corner touches two walls, and the normal of one of them need not separate it from the other
        if result.tight and (result.upper < 0.0 or (depth == "fast" and result.lower < 0.0)):
            more = 0.0 if depth == "fast" else 1e-11 * size
            by = (max(-result.distance, 0.0) * (1.0 + 1e-12) + more) * result.normal
            assert not gk.collide(mesh, shape, None, at(*by) @ pose)
            deep += 1
    assert deep > 10


@pytest.mark.parametrize("name", ["closed", "open", "hollow"])
def test_points_and_balls_do_not_build_the_tree_of_tilted_boxes(name: str, rng: np.random.Generator) -> None:
    """Only a ball that is blocked by walls is searched by its pairs of triangles."""
    mesh, point = MESHES[name](), gk.Point()
    poses = np.array([pose for shape, pose in balls_about(mesh, rng) if isinstance(shape, gk.Point)])
    low = mesh.bounds[0]
    for shape, places in ((point, poses), (gk.Sphere(0.1), poses[:20]), (gk.Sphere(0.25), [at(*(low - 0.2))])):
        stack = np.array(places)
        for margin in (0.0, 0.1, -0.05):
            gk.collide(mesh, shape, None, stack, margin=margin)
            for pose in stack:
                gk.collide(mesh, shape, None, pose, margin=margin)
        gk.distance(mesh, shape, None, stack)
        gk.distance(shape, mesh, stack, None, max_distance=0.2)
        pair = gk.Pair(mesh, shape)
        for pose in stack:
            pair.collide(None, pose)
            pair.distance(None, pose)
    for pose in poses[:20]:
        for depth in DEPTH_MODES:
            gk.signed_distance(mesh, point, None, pose, depth=depth)
    mesh.signed_distances(poses[:, :3, 3])
    gk.raycast(mesh, (9.0, 9.0, 9.0), (-1.0, -1.0, -1.0))
    assert "tree" not in mesh._cache
    assert "wide tree" in mesh._cache
    gk.collide(mesh, gk.Box((1, 1, 1)))
    assert "tree" in mesh._cache


def test_ball_beyond_max_distance_has_bounds_of_some_triangle() -> None:
    mesh = an_l()
    for shape in (gk.Point(), gk.Sphere(0.5)):
        result = gk.distance(mesh, shape, None, at(20, 0, 0), max_distance=1.0)
        true = gk.distance(mesh, shape, None, at(20, 0, 0))
        assert result.status == gk.Status.BEYOND
        assert 1.0 < result.lower <= true.lower
        assert true.distance <= result.distance <= result.upper


def test_fin_is_an_obstacle_that_bounds_no_volume() -> None:
    mesh = with_a_fin()
    assert mesh.is_solid
    across = gk.signed_distance(mesh, gk.Sphere(0.25), None, at(1.0, 0.0, 2.0))
    assert across.distance == pytest.approx(-0.25, rel=1e-9)
    assert not gk.collide(mesh, gk.Point(), None, at(0.9, 0.0, 2.0))
    point = gk.signed_distance(mesh, gk.Point(), None, at(0.0, 0.0, 0.5))
    assert point.distance == pytest.approx(-0.5, rel=1e-12)
    # the shortest translation out of the side ends at the fin's edge, past which the ball needs more
    near = gk.signed_distance(mesh, gk.Sphere(0.5), None, at(0.75, 0.0, 0.5))
    assert not gk.collide(mesh, gk.Sphere(0.5), None, at(*near.separation_vector * (1.0 + 1e-9)) @ at(0.75, 0.0, 0.5))


# rounding terms: the pair of a cube with sides at 1 and a ball, for a coarse error of positions ----------------------

CUBE = box_mesh((2.0, 2.0, 2.0), (0.0, 0.0, 0.0))


def measured(ball: Ball, most: float = inf, fast: bool = False) -> mesh_points.BallDistance:
    query = BallQuery(DEPTHS, most, float(np.nextafter(most, inf)), fast, False)
    return mesh_points._distance(mesh_surface(CUBE), ball, query, WALLS, new_stack())


def above(gap: float, radius: float = 0.25, error: float = NOISE) -> Ball:
    return Ball((0.25, 0.125, 1.0 + radius + gap), radius, error)


def test_bounds_of_a_gap_include_the_error() -> None:
    result = measured(above(0.5))
    assert result.code == APART
    assert result.bounds[0] == 0.5
    assert 0.4 < result.bounds[1] <= 0.5 - NOISE
    assert 0.5 + NOISE <= result.bounds[2] < 0.6


@pytest.mark.parametrize(("gap", "code"), [(0.5, MEET), (1.5, APART)])
@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_gap_within_the_error_of_the_margin_counts_as_collision(gap: float, code: int, margin: float) -> None:
    surface = mesh_surface(CUBE)
    assert mesh_points._meet(surface, above(margin + gap * NOISE), margin, new_stack()) == code
    if margin == 0.0:
        assert (measured(above(gap * NOISE)).code == APART) == (code == APART)


@pytest.mark.parametrize(("more", "status"), [(0.5, SEPARATED), (1.5, BEYOND)])
def test_gap_within_the_error_of_the_limit_is_not_beyond(more: float, status: int) -> None:
    result = measured(above(0.5 + more * NOISE), most=0.5)
    assert result.status == status
    assert result.bounds[1] <= 0.5 + (more - 1.0) * NOISE if status == SEPARATED else result.bounds[1] > 0.5


@pytest.mark.parametrize(("radius", "z"), [(0.25, 0.25), (1.5, 1.5)])
def test_bounds_of_a_depth_include_the_error(radius: float, z: float) -> None:
    """Both depths are 1: the centre is 0.75 below the top at a radius of 0.25, or 0.5 above it at 1.5."""
    noise = NOISE / 8.0
    for fast in (False, True):
        result = measured(Ball((0.0, 0.0, z), radius, noise), fast=fast)
        assert result.code == ANSWERED
        assert result.bounds[0] == (result.bounds[1] if fast else -1.0)
        assert -1.1 < result.bounds[1] <= -1.0 - noise
        assert -1.0 + noise <= result.bounds[2] < -0.9


@pytest.mark.parametrize("gap", [-0.5, 0.0, 0.5])
def test_bounds_of_a_touch_include_the_error(gap: float) -> None:
    result = measured(above(gap * NOISE))
    assert result.code == ANSWERED
    assert result.status == narrow.TOUCHING
    assert result.bounds[1] <= (gap - 1.0) * NOISE
    assert (gap + 1.0) * NOISE <= result.bounds[2]


@pytest.mark.parametrize("radius", [0.0, 0.25])
@pytest.mark.parametrize("off", [-0.5, 0.0, 0.5])
def test_bounds_for_a_centre_on_the_surface_include_the_error(radius: float, off: float) -> None:
    """The depth of the ball is its radius minus the height of its centre, which has the error."""
    result = measured(Ball((0.25, 0.125, 1.0 + off * NOISE), radius, NOISE))
    assert result.code == ANSWERED
    assert result.normal == (0.0, 0.0, 1.0)
    assert result.bounds[1] <= -radius - (1.0 - off) * NOISE
    assert -radius + (1.0 + off) * NOISE <= result.bounds[2]


def test_separated_ball_clears_the_surface_by_more_than_the_error() -> None:
    surface, stack = mesh_surface(CUBE), new_stack()
    assert mesh_points._obstacle(above(0.5 * NOISE), True, surface.skin, stack).face >= 0
    assert mesh_points._obstacle(above(1.5 * NOISE), True, surface.skin, stack).face < 0
    for ball in (Ball((0.0, 0.0, 0.5), 0.25, NOISE / 16.0), Ball((0.25, 0.125, 1.0), 0.25, NOISE / 16.0)):
        nearest = nearest_face(ball.center, NearestFace(inf, -1, ball.center), surface.skin, stack)
        turns = mesh_points.turns_within(ball, nearest, surface.skin, stack)
        deep = ball_depth(ball, nearest, turns, True, surface.skin, WALLS, stack)
        assert ball.center[2] + deep.by[2] - 0.25 - 1.0 > ball.error


@pytest.mark.parametrize("height", [1e-3, 1e-9, 1e-13, 2e-14])
@pytest.mark.parametrize("inside", [True, False])
def test_side_of_a_point_near_a_corner_of_many_faces(height: float, inside: bool) -> None:
    """Rays from the point pass edges too closely, so the point is moved within a ball free of faces."""
    count = 400
    angle = 2.0 * np.pi * np.arange(count) / count
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.full(count, -1.0)])
    k, after = np.arange(count), (np.arange(count) + 1) % count
    vertices = np.vstack([rim, (0.0, 0.0, 0.0), (0.0, 0.0, -1.0)])
    sides, base = np.column_stack([k, after, 0 * k + count]), np.column_stack([after, k, 0 * k + count + 1])
    cone = gk.Mesh(vertices, np.vstack([sides, base]))
    z = -height if inside else height
    result = gk.signed_distance(cone, gk.Point((0.0, 0.0, z)))
    wide = np.cos(np.pi / count)  # the distance of an edge of the base from its centre
    true = -height * wide / sqrt(1.0 + wide * wide) if inside else height
    assert result.lower <= true <= result.upper
    assert result.distance == pytest.approx(true, rel=1e-9, abs=2e-14)
    assert gk.collide(cone, gk.Point((0.0, 0.0, z))) == inside


def test_ball_inside_a_closed_mesh_is_contained() -> None:
    assert mesh_points._meet(mesh_surface(CUBE), Ball((0.0, 0.0, 0.0), 0.25, NOISE), 0.0, new_stack()) == HELD
