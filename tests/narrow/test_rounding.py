"""Bounds that are valid only with an allowance for rounding, compared with rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.narrow.cores import between_centers, cores_at
from gjk3d.narrow.epa import Polytope, add_face
from gjk3d.poses import IDENTITY, UNIT_ROUNDOFF, pose_rows
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core


def exact_dot(a: np.ndarray, b: np.ndarray) -> Fraction:
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)), Fraction())


def face_of(corners: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the unit normal and the key, a lower bound of the distance, of the EPA face with three corners."""
    vertices, none = np.zeros((3, 9)), np.zeros((1, 1))
    vertices[:, :3] = corners
    floats, ints = np.zeros((1, 4)), np.zeros((1, 8), dtype=np.int64)
    assert add_face(Polytope(none, vertices, floats, ints, none[0], none[0], none[0], none, none[0]), 0, 0, 1, 2)
    return floats[0, :3], floats[0, 3]


def test_key_of_slender_face_is_below_all_its_corners() -> None:
    """The rounded normal is tilted, so that the corners' heights differ by more than the rounding of one product."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        along, aside = naive.unit_vectors(rng, 2)
        tip = rng.normal(size=3)
        corners = np.array([tip, tip + along, tip + rng.uniform() * along + 1e-3 * aside])
        normal, key = face_of(corners)
        for corner in corners:
            rounding = 3 * Fraction(UNIT_ROUNDOFF) * exact_dot(abs(normal), abs(corner))
            assert Fraction(key) <= exact_dot(normal, corner) + rounding


@pytest.mark.parametrize("gap", [2.0**-60, 1e-17])
def test_upper_bound_covers_a_gap_below_rounding(gap: float) -> None:
    """The float difference of the centres is 1, the sum of the radii. The exact difference is larger by the gap."""
    box, cylinder = gk.Box((1.0, 1.0, 1.0)), gk.Cylinder(0.5, 1.0)
    poses = naive.pose(None, (-gap, 0.0, 0.0)), naive.pose(None, (1.0, 0.0, 0.0))
    for a, b in ((box, cylinder), (cylinder, box), (cylinder, cylinder), (box, box)):
        for query in (gk.distance, gk.signed_distance):
            assert query(a, b, *poses).upper >= gap


@pytest.mark.parametrize("kind", ["boxes", "hulls", "mixed"])
@pytest.mark.parametrize("shift", [2.0**-60, -(2.0**-60), 1e-17, -1e-17])
def test_bounds_of_cubes_contain_the_exact_depth(kind: str, shift: float) -> None:
    """The float difference of the centres is 0.75. The exact difference is 0.75 minus the shift."""
    box = gk.Box((1.0, 1.0, 1.0))
    hull = gk.ConvexHull(box.vertices)
    a, b = {"boxes": (box, box), "hulls": (hull, hull), "mixed": (box, hull)}[kind]
    poses = naive.pose(None, (shift, 0.0, 0.0)), naive.pose(None, (0.75, 0.0, 0.0))
    exact = Fraction(-1, 4) - Fraction(shift)
    for first, second, pose_a, pose_b in ((a, b, *poses), (b, a, *poses[::-1])):
        result = gk.signed_distance(first, second, pose_a, pose_b)
        assert Fraction(result.lower) <= exact <= Fraction(result.upper)


def test_ray_through_an_edge_of_a_box_hits() -> None:
    """All numbers are dyadic, so the ray hits the edge exactly, but the rounded distances of the two faces differ."""
    rng = np.random.default_rng(3)
    box = gk.Box((2.0, 2.0, 2.0))
    for _ in range(40):
        spot = np.array([1.0, 1.0, rng.integers(-8, 9) / 8])
        direction = rng.integers(1, 64, 3) * (-1.0, 1.0, 1.0) / 16
        origin = spot - direction * rng.integers(1, 9)
        hit = gk.raycast(box, origin, direction)
        assert hit.point == pytest.approx(spot, abs=1e-13)


# rays tangent to a shape: coordinates are chosen so that the tangent point is exact ---------------------------------


def tangent_ray(kind: str, rng: np.random.Generator) -> tuple[gk.Shape, np.ndarray, np.ndarray]:
    """Return a shape, a point on its surface above (3, 4) k, and a tangent direction at this point."""
    k, z = float(rng.integers(1, 100)), rng.integers(-3, 4) / 8
    radius, spot, around = 5.0 * k, np.array([3.0 * k, 4.0 * k, z]), np.array([-4.0, 3.0, rng.integers(-6, 7) / 4])
    stretch = np.array([1.0, 2.0, 0.5])
    if kind == "sphere":
        return gk.Sphere(radius), spot * (1.0, 1.0, 0.0), around
    if kind == "ellipsoid":
        return gk.Ellipsoid(radius * stretch), spot * stretch * (1.0, 1.0, 0.0), around * stretch
    if kind == "capsule":
        return gk.Capsule(radius, 1.0), spot, around
    if kind == "cylinder":
        return gk.Cylinder(radius, 1.0), spot, around
    slope = np.array([3.0 * k, 4.0 * k, -2.0])  # from the apex along the side of the cone
    if kind == "cone's side":
        return (
            gk.Cone(radius, 2.0),
            np.array([0.0, 0.0, 1.0]) + rng.integers(1, 8) / 8 * slope,
            around[2] * slope + around * (1, 1, 0),
        )
    if kind == "cone's rim":
        outward = np.array([3.0, 4.0, 0.0]) * rng.integers(0, 9) / 8
        return gk.Cone(radius, 2.0), np.array([3.0 * k, 4.0 * k, -1.0]), outward + around * (1, 1, 0) + (0.0, 0.0, 0.25)
    return gk.Halfspace((3.0, 4.0, 0.0), 25.0 * k), spot, around


@pytest.mark.parametrize("kind", ["sphere", "ellipsoid", "capsule", "cylinder", "cone's side", "cone's rim"])
def test_tangent_ray_hits(kind: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        shape, spot, direction = tangent_ray(kind, rng)
        assert gk.raycast(shape, spot - direction * rng.integers(1, 40), direction).distance < np.inf


@pytest.mark.parametrize(("far", "offset"), [(2.0**20, 0.0), (1.0, 2.0**20)])
def test_ray_from_just_below_a_half_space_starts_inside(far: float, offset: float) -> None:
    """The depth is below the rounding error: the ray or the plane is far from the origin of the plane's frame."""
    rng, below = np.random.default_rng(6), 0
    for _ in range(60):
        ground = gk.Halfspace(naive.unit_vectors(rng, 1)[0], offset)
        pose = naive.pose(naive.random_rotations(rng, 1)[0])
        turn = pose_rows(pose)[0][0, :9].reshape(3, 3)
        way = np.cross(ground.normal, naive.unit_vectors(rng, 1)[0])
        origin = turn @ (ground.normal * ground.offset + far * way)
        upward = [exact_dot(line, ground.normal) for line in turn]
        height = sum(Fraction(x) * y for x, y in zip(origin.tolist(), upward, strict=True)) - Fraction(ground.offset)
        if height <= 0:
            below += 1
            assert gk.raycast(ground, origin, turn @ way, pose).distance == 0.0
    assert below > 10


# poses --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stretch", [4e-7, -4e-7])
def test_non_orthonormal_pose_widens_the_bounds(stretch: float) -> None:
    """After one orthonormalization step the matrix is still scaled by 2e-13, more than all other rounding errors."""
    pose = naive.pose(np.eye(3) * (1.0 + stretch))
    for a, b in ((gk.Point(), gk.Point()), (gk.Box((0.5, 0.5, 0.5)), gk.Box((0.5, 0.5, 0.5)))):
        reach = 2.0 - float(a.support((1.0, 0.0, 0.0))[0]) * (1.0 + float(pose_rows(pose)[0][0, 0]))
        result = gk.distance(a, b, pose, naive.pose(None, (2.0, 0.0, 0.0)))
        assert result.lower <= reach <= result.upper


def test_error_of_cores_covers_nearly_coincident_centres() -> None:
    """B's centre is the float nearest to A's, so that only double-double arithmetic resolves their difference."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        floats = np.zeros((2, layout.FLOAT_HEAD))
        center = floats[0, layout.CENTER : layout.CENTER + 3]
        center[:] = rng.normal(size=3)
        row_a, row_b = IDENTITY[0].copy(), IDENTITY[0].copy()
        row_a[:9] = naive.random_rotations(rng, 1)[0].ravel()
        turn = row_a[:9].reshape(3, 3)
        row_a[9:12] = -turn @ center
        place = [exact_dot(turn[k], center) + Fraction(row_a[9 + k]) for k in range(3)]
        row_b[9:12] = [float(x) for x in place]
        ints = np.array([layout.POINT, 0, 0, 1, layout.BALL])
        cores = cores_at(Core(ints, floats[0]), row_a, Core(ints, floats[1]), row_b)
        distance, error = Fraction(between_centers(cores.m)), Fraction(cores.error)
        square = sum((Fraction(row_b[9 + k]) - place[k]) ** 2 for k in range(3))
        assert max(distance - error, 0) ** 2 <= square <= (distance + error) ** 2


def over_ground(rng: np.random.Generator, offset: float, height: float) -> tuple[Any, ...]:
    """Return a half-space, its pose, the pose of a point near its surface, its exact height, and the world normal."""
    ground = gk.Halfspace(naive.unit_vectors(rng, 1)[0], offset)
    pose = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3) * 2.0**10)
    row = pose_rows(pose)[0][0]
    turn = row[:9].reshape(3, 3)
    place = row[9:12] + turn @ (ground.normal * (ground.offset + height) + np.cross(ground.normal, (1, 2, 3)))
    upward = [exact_dot(line, ground.normal) for line in turn]
    away = [Fraction(place[k]) - Fraction(row[9 + k]) for k in range(3)]
    exact = sum(x * y for x, y in zip(away, upward, strict=True)) - Fraction(ground.offset)
    return ground, pose, naive.pose(None, place), exact, turn @ ground.normal


@pytest.mark.parametrize("offset", [1.0, 2.0**20])
def test_bounds_contain_the_exact_height_above_a_half_space(offset: float) -> None:
    for seed in range(30):
        ground, pose, place, height, _ = over_ground(np.random.default_rng(seed), offset, 2.0**-20)
        result = gk.signed_distance(ground, gk.Point(), pose, place)
        assert Fraction(result.lower) <= height <= Fraction(result.upper)


# shapes that touch at the start of the motion -----------------------------------------------------------------------


def test_point_just_below_a_half_space_hits_at_time_zero() -> None:
    below = 0
    for seed in range(60):
        ground, pose, place, height, upward = over_ground(np.random.default_rng(seed), 1.0, 0.0)
        if height <= 0:
            below += 1
            impact = gk.time_of_impact(ground, gk.Point(), pose, gk.Motion(place, linear=upward))
            assert impact.free_until == 0.0
            assert impact.status in (gk.ImpactStatus.HIT, gk.ImpactStatus.OVERLAPPING)
    assert below > 15


def test_barely_overlapping_balls_hit_at_time_zero() -> None:
    rng, ball, touching = np.random.default_rng(3), gk.Sphere(0.5), 0
    for _ in range(80):
        away = naive.unit_vectors(rng, 1)[0]
        pose = naive.pose(naive.random_rotations(rng, 1)[0])
        if exact_dot(away, away) <= 1:
            touching += 1
            impact = gk.time_of_impact(ball, ball, pose, gk.Motion(naive.pose(None, away), linear=away))
            assert (impact.status, impact.free_until) == (gk.ImpactStatus.HIT, 0.0)
    assert touching > 20
