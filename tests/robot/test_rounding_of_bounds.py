"""Quick bounds of distances compared with rational arithmetic, for numbers where rounding would change the result."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from naive import pose as pose_at
from naive import random_rotations

import gjk3d as gk
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.solve import above_plane
from gjk3d.robot.bodies import NO_CAPSULE, between_boxes, between_capsules, bounding_box, bounding_capsule, outline
from gjk3d.robot.cell_kernels import between_balls
from gjk3d.robot.kinematics import plane_axes
from gjk3d.robot.motion_bounds import _around, _sweep
from gjk3d.robot.sampled_edges import LANES, SPOT, _near_floor, _near_in_single, near_balls, near_lanes
from gjk3d.shapes.layout import FLOAT_HEAD, Core

SEEDS = range(10)
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])


def exact(values):
    return [Fraction(float(x)) for x in np.ravel(values)]


def square(values):
    return sum(x * x for x in exact(values))


def no_more_than_distance(bound, vector, radii):
    """Return whether a bound is at most the length of a vector minus two radii."""
    reach = sum(exact([bound, *radii]))
    return reach <= 0 or reach * reach <= square(vector)


def of_capsules(start, end, radii):
    """Return the bound for two balls that are stored as capsules."""
    numbers = np.concatenate([start, start, radii[:1], end, end, radii[1:]])
    starts = np.array([[0, 0, 0, 0], [0, 0, 7, 0]])
    return between_capsules(np.tile(UNTURNED, (2, 1)), numbers, starts, 0, 1)


def of_balls(start, end, radii):
    return between_balls(np.array([[*start, radii[0]], [*end, radii[1]]]), 0, 1)


@pytest.mark.parametrize("bound_of", [of_capsules, of_balls])
def test_bound_of_balls_is_at_most_their_distance(bound_of):
    """Rounding affects the square root for two points, and the sum of radii for concentric balls."""
    zero = np.zeros(3)
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        place, radii = rng.integers(-9, 9, 3) + 0.5, rng.uniform(0.1, 1.0, 2) * (1.0, 1e-3)
        assert no_more_than_distance(bound_of(zero, place, zero[:2]), place, (0.0, 0.0))
        assert sum(exact([bound_of(zero, zero, radii), *radii])) <= 0


@pytest.mark.parametrize("height", [1e8, 0.1])
def test_bound_of_ball_over_half_space_is_at_most_height(height):
    """Rounding affects the height of a far centre, and the difference of height and radius for a large ball."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        z, radius, offset = height * rng.uniform(1.0, 2.0), 1e6 if height < 1.0 else 0.0, rng.uniform(0.0, 0.1)
        plane = np.zeros(FLOAT_HEAD + 4)
        plane[FLOAT_HEAD + 2], plane[FLOAT_HEAD + 3] = 1.0, offset
        numbers = np.array([*plane, 0.0, 0.0, z, 0.0, 0.0, z, radius])
        starts = np.array([[0, 0, len(plane), 0], [0, 0, NO_CAPSULE, 0]])
        bound = between_capsules(np.tile(UNTURNED, (2, 1)), numbers, starts, 0, 1)
        assert Fraction(float(bound)) <= Fraction(z) - Fraction(offset) - Fraction(radius)


def spots(place, radii, errors, middle=(0.0, 0.0, 0.0)):
    """Return lanes with a ball at ``middle`` and a ball at ``place``. Each ball is also its own capsule."""
    rows = np.zeros((2, SPOT))
    rows[:, 6] = rows[:, 7] = radii
    rows[:, 9] = errors
    rows[:, SPOT - 6 * LANES : SPOT - 3 * LANES : LANES] = middle, place
    rows[:, 10] = rows[:, 6] + rows[:, 9] + 2.0**-24 * np.abs([middle, place]).sum(axis=1)
    centers = rows[:, SPOT - 6 * LANES : SPOT - 3 * LANES].astype(np.float32).reshape(2, 6, 8)
    return SimpleNamespace(spots=rows, centers=centers)


@pytest.mark.parametrize("near", [near_balls, near_lanes])
def test_balls_in_lanes_are_near_up_to_exact_distance(near):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        place, (first, second, error_a, error_b) = rng.uniform(-9.0, 9.0, 3), rng.integers(0, 9, 4) / 64.0
        margin = float(np.linalg.norm(place)) - first - second
        while sum(exact([margin, first, second])) ** 2 < square(place):
            margin = np.nextafter(margin, np.inf)
        assert near(spots(place, (first, second), (0.0, 0.0)), 0, 1, margin, 1) == 1
        assert near(spots(place, (first, second), (0.0, 0.0)), 0, 1, margin - 1e-6, 1) == 0
        assert near(spots(place, (first, second), (error_a, error_b)), 0, 1, margin - error_a - error_b, 1) == 1


def test_float32_balls_are_near_up_to_exact_distance():
    """Far from the origin the centres are rounded. Integer coordinates are exact, so only the distance is rounded."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for middle, size in ((rng.uniform(1e3, 2e3, 3), 1.0), (np.zeros(3), 2.0**20)):
            place = rng.uniform(-size, size, 3) if middle.any() else rng.integers(-size, size, 3).astype(float)
            lanes = spots(middle + place, (0.0, 0.0), (0.0, 0.0), middle)
            if not middle.any():
                lanes.spots[:, 10] = 0.0
            margin = float(np.linalg.norm((middle + place) - middle))
            while Fraction(margin) ** 2 < square((middle + place) - middle):
                margin = np.nextafter(margin, np.inf)
            for count in (1, LANES):
                assert _near_in_single(lanes, 0, 1, margin, count) & 1
            assert not _near_in_single(lanes, 0, 1, margin - 1e-3 * size, 1)


@pytest.mark.parametrize("scale", [1e-140, 2.9e-23, 1e-20, 1e20, 1e140])  # 2.9e-23**2 is 0.6 of the least float32
def test_balls_beyond_float32_range_are_near(scale):
    place = np.full(3, scale)
    for near in (_near_in_single, near_balls, near_lanes):
        assert near(spots(place, (scale, scale), (0.0, 0.0)), 0, 1, 0.0, 1) == 1
    separated = near_lanes(spots(place, (0.5 * scale, scale), (0.0, 0.0)), 0, 1, 0.0, 1) == 0
    assert separated == (1e-100 < scale < 1e100)


@pytest.mark.parametrize("near", [near_balls, near_lanes])
def test_balls_with_underflowing_squares_are_near(near):
    """The squares of the coordinates are rounded up to the least float above 0, and the square of the margin down."""
    place, margin = np.full(3, 1.6e-162), 2.78e-162
    assert square(place) < Fraction(margin) ** 2
    assert near(spots(place, (0.0, 0.0), (0.0, 0.0)), 0, 1, margin, 1) == 1


@pytest.mark.parametrize("sides", [1.0, 2.0])
def test_ball_near_plane_includes_radius_and_errors(sides):
    margin, radius, error_a, error_b, offset = 1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0, 1.0 / 16.0, 3.0
    reach = margin + radius + error_a + error_b
    for height, near in ((reach, 1), (reach + 2.0**-20, 0), (-reach - 2.0**-20, int(sides == 1.0))):
        lanes = spots((0.0, 0.0, 0.0), (radius, 0.0), (error_a, error_b))
        lanes.spots[0, SPOT - 4 * LANES] = offset + height
        lanes.spots[1, :5] = 0.0, 0.0, 1.0, offset, sides
        assert _near_floor(lanes, 0, 1, margin, 1) == near


def ball_of(radius):
    """Return a robot that consists of one ball."""
    geometry = f'<geometry><sphere radius="{radius!r}"/></geometry>'
    return gk.robot.Robot.load(f'<robot name="r"><link name="a"><collision>{geometry}</collision></link></robot>')


def square_to_segment(point, start, end):
    """Return the square of the distance of a point from a segment."""
    p, u = ([x - a for x, a in zip(values, start, strict=True)] for values in (point, end))
    along = sum(x * x for x in u)
    t = min(max(sum(x * y for x, y in zip(p, u, strict=True)) / along, 0), 1) if along else 0
    return sum((x - t * y) ** 2 for x, y in zip(p, u, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_bounding_capsule_contains_every_vertex_exactly(seed):
    points = np.random.default_rng(seed).normal(size=(8, 3)) * (3.0, 1.0, 1.0) + 100.0
    capsule = bounding_capsule(gk.ConvexHull(points))
    start, end, radius = exact(capsule[:3]), exact(capsule[3:6]), Fraction(float(capsule[6]))
    assert max(square_to_segment(exact(point), start, end) for point in points) <= radius * radius


@pytest.mark.parametrize("seed", SEEDS)
def test_bounding_box_contains_every_vertex_exactly(seed):
    """Along each of its axes the box reaches at least as far as each vertex. The axes are nearly unit vectors."""
    rng = np.random.default_rng(seed)
    points = random_rotations(rng, 1)[0] @ (rng.normal(size=(3, 8)) * [[3.0], [1.0], [0.2]]) + 100.0
    box = bounding_box(gk.ConvexHull(points.T))
    center, axes, halves = box[:3], box[3:12].reshape(3, 3), box[12:15]
    for axis, half in zip(axes, halves, strict=True):
        middle = sum(a * c for a, c in zip(exact(axis), exact(center), strict=True))
        for point in points.T:
            height = sum(a * x for a, x in zip(exact(axis), exact(point), strict=True))
            assert abs(height - middle) <= Fraction(float(half))


@pytest.mark.parametrize("seed", SEEDS)
def test_bound_of_far_boxes_is_at_most_their_gap(seed):
    """The gap of two aligned unit cubes is the difference of their centres along x minus 1."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(1e8, 2e8, (2, 3)) * (1.0, 0.0, 0.0)
    half, away = 0.5, rng.uniform(0.0, 0.3, 2)
    boxes = [np.array([x, 0.0, 0.0, *np.eye(3).ravel(), half, half, half, 0.0]) for x in away]
    rows = np.tile(UNTURNED, (2, 1))
    rows[:, 9:12] = places
    starts = np.array([[0, 0, 0, 0], [0, 0, 0, len(boxes[0])]])
    bound = between_boxes(rows, np.concatenate(boxes), starts, 0, 1)
    first, second = (Fraction(float(p)) + Fraction(float(x)) for p, x in zip(places[:, 0], away, strict=True))
    assert Fraction(float(bound)) <= abs(second - first) - 1


def test_outline_plane_is_above_open_height_field():
    tops = np.random.default_rng(3).uniform(-2.0, 2.0, (3, 3))
    assert outline(gk.HeightField(tops, 0.1, (0.0, 0.0))).shape.offset > tops.max()


@pytest.mark.parametrize("seed", SEEDS)
def test_height_above_plane_is_at_most_exact(seed):
    """The ball and the offset of the half-space are both far from the origin."""
    rng = np.random.default_rng(seed)
    center, normal, offset = rng.uniform(-1e8, 1e8, 3), rng.uniform(-0.5, 0.5, 3), rng.uniform(-1e8, 1e8)
    plane = gk.Halfspace(normal, offset)
    layout = gk.robot.Checker(ball_of(0.5), {"plane": plane})._cell().layout
    rows, (a, b) = np.tile(UNTURNED, (len(layout.link), 1)), layout.pairs[0, :2]
    rows[a, 9:12], rows[b, 9:12] = center, rng.uniform(-1e8, 1e8, 3)
    height, error, _, _ = above_plane(cores_of(layout.ints, layout.floats, layout.starts, rows, b, a), rows[b])
    far = sum(n * (c - r) for n, c, r in zip(*map(exact, (plane.normal, center, rows[b, 9:12])), strict=True))
    assert Fraction(float(height - error)) <= far - Fraction(plane.offset) - Fraction(1, 2)


def test_points_exactly_at_the_margin_are_not_outside():
    """The margin is much larger than the radius of the ball, so rounding their sum loses more than the added slack."""
    radius, rng = 2.0**-20, np.random.default_rng(11)
    margin, points = float(rng.uniform(1000.0, 2000.0)), rng.normal(size=(200, 3))
    points *= (margin + radius) / np.linalg.norm(points, axis=1)[:, None]
    for point in points:
        while square(point) > (Fraction(margin) + Fraction(radius)) ** 2:
            point[:] = np.nextafter(point, 0.0)
    checker = gk.robot.Checker(ball_of(radius))
    assert not checker.outside(points, [], margin=margin).any()
    assert checker.outside(points * (1.0 + 1e-6), [], margin=margin).all()


@pytest.mark.parametrize(("far", "distance"), [(1e8, 0.02), (3e5, 1e6)])
def test_outside_agrees_with_collide_at_margin_of_load(far, distance):
    """Rounding affects the ends of a load far away, and the distance of the point at a large margin."""
    rng = np.random.default_rng(8)
    load, pose = gk.Capsule(2.0**-20, 0.9), np.eye(4)
    robot = gk.robot.Robot.load(
        '<robot name="r"><link name="base"/><link name="cart"/>'
        '<joint name="j" type="floating"><parent link="base"/><child link="cart"/></joint></robot>'
    )
    checker = gk.robot.Checker(robot)
    checker.attach("load", load, "cart")
    collides = []
    for direction in rng.normal(size=(100, 3)) + (0.0, 0.0, 3.0):
        pose[:3, 3] = far * rng.uniform(1.0, 2.0, 3)
        place = pose_at(translation=pose[:3, 3] + distance * direction / np.linalg.norm(direction) + (0.0, 0.0, 0.45))
        margin = float(gk.distance(load, gk.Point(), pose, place).distance)
        collides.append(bool(gk.collide(load, gk.Point(), pose, place, margin=margin)))
        q = [*pose[:3, 3], 0.0, 0.0, 0.0]
        assert checker.outside(place[None, :3, 3], q, margin=margin).tolist() == [not collides[-1]]
    assert any(collides)


def cylinder_about(middle, at, axis):
    """Return the radius and both ends of the cylinder about an axis that contains a point of a link."""
    numbers = np.array([*middle, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    vectors = (tuple(float(x) for x in v) for v in (at, axis))
    return exact(np.array(_around(False, numbers, Core(*gk.Point()._packed), *vectors)))


@pytest.mark.parametrize("far", [0.0, 1e8])
def test_cylinder_about_axis_contains_point_exactly(far):
    """The point lies halfway between two sampled directions of the radius, where the cylinder is tight."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        at, angle = far * rng.uniform(1.0, 2.0, 3), np.pi / 32.0 * (1 + 2 * rng.integers(0, 32))
        offset = np.array([0.0, rng.uniform(-1.0, 1.0), 0.0]) * (far > 0.0)
        middle = at + offset + rng.uniform(0.5, 1.0) * np.array([np.cos(angle), 0.0, np.sin(angle)])
        radius, low, high = cylinder_about(middle, at, (0.0, 1.0, 0.0))
        x, y, z = (p - a for p, a in zip(exact(middle), exact(at), strict=True))
        assert x * x + z * z <= radius * radius
        assert low <= y <= high


@pytest.mark.parametrize("seed", SEEDS)
def test_cylinder_ends_bound_point_height_exactly(seed):
    rng = np.random.default_rng(seed)
    at, axis = rng.uniform(-1e8, 1e8, 3), random_rotations(rng, 1)[0][0]
    middle = at + rng.uniform(-1.0, 1.0, 3)
    _, low, high = cylinder_about(middle, at, axis)
    assert low <= sum(n * (p - a) for n, p, a in zip(*map(exact, (axis, middle, at)), strict=True)) <= high


def swept_origin(what, axis, halves):
    """Return the largest distance of a link's origin from a joint that moves it by up to the half widths."""
    numbers, box = np.array([0.0, 0.0, 0.0, *axis, *np.zeros(6)]), np.array([0.0, 0.0, 0.0, *halves])
    return _sweep(False, numbers, Core(*gk.Point()._packed), what, axis, box, -1.0, np.zeros(12))


def test_joint_reach_bounds_motion_of_origin():
    """The reach of a floating joint is the diagonal of a box, of a planar joint the longer axis of its plane."""
    rng, longest = np.random.default_rng(12), 0
    for _ in range(40):
        halves = rng.uniform(0.5, 1.0, 3)
        assert square(swept_origin(4, (0.0, 0.0, 1.0), halves)) >= square(halves)
        angle, tilt = rng.uniform(0.0, 2.0 * np.pi), 10.0 ** rng.uniform(-5.8, -5.0)
        axis = float(np.sin(tilt) * np.cos(angle)), float(np.sin(tilt) * np.sin(angle)), float(-np.cos(tilt))
        sides = [square(np.array(side)) for side in plane_axes(axis)]
        longest, k = max(longest, *sides), int(np.argmax(sides))
        assert square(swept_origin(3, axis, np.eye(3)[k])) >= max(sides)
    assert longest > 1.0 + 1e-6
