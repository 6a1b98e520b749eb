"""Stacks of configurations return the same bits and booleans as single configurations, and never miss a collision."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import SHARE, SRDFS, URDFS, some
from hypothesis import given
from hypothesis import strategies as st
from naive import random_rotations
from random_robots import KINDS, drawn, random_robot

import gjk3d as gk
from gjk3d.convex.batch import pack_shapes
from gjk3d.robot import Checker, Robot
from gjk3d.robot.bodies import between_boxes, bounding_box, bounding_capsule, with_bounds
from gjk3d.robot.cell_kernels import FREE, UNSURE, Layout
from gjk3d.robot.kinematics import LARGE_ANGLE, SLIDING, TURNING, Chain, sine_cosine
from gjk3d.robot.queries import quick_edge
from gjk3d.robot.sampled_edges import LANES, POSE, SPOT, Lanes, link_lanes, near_lanes, place_lanes, spot
from tests.robot.test_bounding_capsules import SHAPES

SCALES = (1e-9, 1e-3, 1.0, 1e6)


def at(*place):
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


# sines and cosines ----------------------------------------------------------------------------------------------------


def test_sines_and_cosines_are_accurate():
    rng = np.random.default_rng(0)
    quarters = np.arange(-40, 41) * (0.25 * np.pi)
    angles = np.concatenate(
        [quarters, np.nextafter(quarters, 9e9), np.nextafter(quarters, -9e9), rng.uniform(-7, 7, 5000),
         rng.uniform(-LARGE_ANGLE, LARGE_ANGLE, 2000), 10.0 ** rng.uniform(-300, 0, 200)]
    )  # fmt: skip
    got = np.array([sine_cosine(float(x)) for x in angles])
    exact = angles.astype(np.longdouble)
    error = np.abs(got - np.column_stack([np.sin(exact), np.cos(exact)])).max()
    assert error <= 2.0**-52 if np.finfo(np.longdouble).nmant > 60 else error <= 2.0**-51


@pytest.mark.parametrize("x", [0.0, -0.0, 5e-324, 1e-200])
def test_sine_of_small_angle_is_the_angle(x):
    assert sine_cosine(x) == (x, 1.0)


@pytest.mark.parametrize("x", [1.0000001 * LARGE_ANGLE, -1e6, 1e15, 1e300])
def test_sine_of_large_angle_is_that_of_numpy(x):
    assert sine_cosine(x) == (np.sin(x), np.cos(x))


# equal bits -----------------------------------------------------------------------------------------------------------


def lanes_for(robot, slots=0):
    dof, links = robot.dof, len(robot.links)
    sizes = dof * LANES, 3 * LANES, links * POSE, links
    return Lanes(*map(np.zeros, sizes), np.zeros((slots, SPOT)), np.zeros((slots, 6, 8), np.float32))


def lanes_of_slots(count):
    """Return lanes for slots that belong to the world."""
    return Lanes(*(np.zeros(0),) * 4, np.zeros((count, SPOT)), np.zeros((count, 6, 8), np.float32))


def in_lanes(robot, q):
    """Return the poses of links as (LANES, links, 3, 4), and an upper bound of their distance from the origin."""
    lanes, chain = lanes_for(robot), Chain(*robot._chain)
    lanes.q[:] = q.T.ravel()
    link_lanes(chain, lanes, np.empty((4, 4)), np.empty((4, 4)), np.empty(robot.dof), LANES)
    return lanes.poses.reshape(-1, 3, 4, LANES).transpose(3, 0, 1, 2), lanes.reach


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_poses_in_lanes_equal_single_poses(tmp_path, seed, straight):
    kinds = KINDS if seed % 2 else ("revolute", "continuous", "prismatic", "fixed", "mimic")
    robot = random_robot(tmp_path, seed, kinds, links=9, straight=straight)
    q = drawn(robot, LANES, seed)
    q[3] *= 1e7  # too large for the sine of small angles
    poses, reach = in_lanes(robot, q)
    assert np.array_equal(poses, robot.link_poses(q)[:, :, :3])
    assert np.array_equal(poses, [robot.link_poses(row)[:, :3] for row in q])
    assert (np.linalg.norm(poses[..., 3], axis=-1).max(axis=0) <= reach * (1.0 + 1e-12)).all()
    if straight and not seed % 2:
        assert {TURNING, SLIDING} <= set(robot._chain[1].tolist())


@pytest.mark.parametrize("name", URDFS)
def test_poses_in_lanes_of_real_robots(name):
    robot = Robot.from_urdf(SHARE / URDFS[name])
    for seed in range(2):
        q = some(robot, LANES, seed)
        q[0], q[1] = np.maximum(robot.lower, -9.0), np.minimum(robot.upper, 9.0)
        assert np.array_equal(in_lanes(robot, q)[0], robot.link_poses(q)[:, :, :3])


# separation -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, *SCALES, 1e150])
@pytest.mark.parametrize("margin", [0.0, 0.2, -0.2])
def test_pairs_separated_in_lanes_are_separated(scale, margin):
    rng = np.random.default_rng(3)
    names = list(SHAPES) if scale in SCALES else ["ball"]
    shapes = [SHAPES[name] for name in names]
    ints, floats, starts = pack_shapes(shapes)
    floats, starts = with_bounds(shapes, bounding_capsule, floats, starts)
    count = len(shapes)
    count_separated = 0
    for _ in range(3):
        turned, shift = random_rotations(rng, count), rng.normal(size=(count, 3)) * rng.choice([0.5, 1.5, 5.0])
        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = turned, shift
        local = np.hstack([turned.reshape(-1, 9), shift])
        layout = Layout(np.full(count, -1), local, ints, floats, starts, np.zeros((0, 4), int), np.zeros((0, 2), int))
        lanes = lanes_of_slots(count)
        for k in range(count):
            spot(layout, k, lanes.spots[k])
            lanes.spots[k] *= scale
            place_lanes(lanes, -1, k, LANES)
        for a in range(count):
            for b in range(a):
                near = near_lanes(lanes, a, b, margin * scale, LANES)
                assert near in (0, (1 << LANES) - 1)
                if near == 0:
                    count_separated += 1
                    assert gk.signed_distance(shapes[a], shapes[b], poses[a], poses[b]).lower > margin
    assert count_separated > 20 or len(names) == 1


@pytest.mark.parametrize("far", [0.0, 1e3, 1e8, 1e8 + 3.5])  # float32 rounds 3.5 to 0 and 4.25 to 8 there
def test_touching_bounding_capsules_are_near(far):
    """Bounding capsules whose nearest points lie on the line of their centres are near if they touch."""
    shapes = [gk.Sphere(0.25), gk.Capsule(0.25, 1.0)]
    ints, floats, starts = pack_shapes(shapes)
    floats, starts = with_bounds(shapes, bounding_capsule, floats, starts)
    for gap, near in ((0.0, True), (1e-9, True), (1e-6 * (1.0 + far), False)):
        local = np.tile([1.0, 0, 0, 0, 1, 0, 0, 0, 1, far, far, far], (2, 1))
        local[1, 9] += 0.75 + gap
        layout = Layout(np.full(2, -1), local, ints, floats, starts, np.zeros((0, 4), int), np.zeros((0, 2), int))
        lanes = lanes_of_slots(2)
        for k in range(2):
            spot(layout, k, lanes.spots[k])
            place_lanes(lanes, -1, k, LANES)
        assert (near_lanes(lanes, 0, 1, 0.25, LANES) != 0) == near


@pytest.mark.parametrize("name", SHAPES)
def test_boxes_contain_shapes_and_bound_distances(name):
    box, shape = bounding_box(SHAPES[name]), SHAPES[name]
    center, axes, half = box[:3], box[3:12].reshape(3, 3), box[12:15]
    assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-15 * 4
    rng = np.random.default_rng(5)
    points = shape.support(rng.normal(size=(500, 3)))
    assert (np.abs((points - center) @ axes.T) <= half).all()
    assert np.linalg.norm(points, axis=1).max() <= box[15]
    above = 0
    for second in SHAPES.values():
        _, floats, starts = pack_shapes([shape, second])
        shapes = [shape, second]
        floats, starts = with_bounds(shapes, bounding_box, *with_bounds(shapes, bounding_capsule, floats, starts))
        for _ in range(4):
            poses = np.tile(np.eye(4), (2, 1, 1))
            poses[:, :3, :3] = random_rotations(rng, 2)
            poses[1, :3, 3] = rng.normal(size=3) * rng.choice([0.3, 2.0, 8.0])
            rows = np.array([[*pose[:3, :3].ravel(), *pose[:3, 3], 0.0] for pose in poses])
            bound = between_boxes(rows, floats, starts, 0, 1)
            result = gk.signed_distance(shape, second, *poses)
            assert bound <= max(result.lower, 0.0)
            above += bound > 0.0
    assert above > 5


# equal booleans -------------------------------------------------------------------------------------------------------


def assert_stack_agrees(checker, q):
    """Assert that a stack agrees with its rows and its parts. Return which rows are free."""
    free = checker.free(q)
    assert free.tolist() == [checker.free(row) for row in q]
    for count in (1, 7, 8, 9, LANES, LANES + 1):
        assert np.array_equal(checker.copy().free(q[-count:]), free[-count:])
    names = checker.hit(q)
    assert [name is None for name in names] == free.tolist()
    for k in np.flatnonzero(~free)[:10]:
        assert frozenset(names[k]) in {frozenset(contact.pair) for contact in checker.collisions(q[k])}
    assert np.array_equal(checker.free(q, workers=2), free)
    return free


@pytest.mark.full
@pytest.mark.parametrize("name", URDFS)
@pytest.mark.parametrize("geometry", ["hull", "bodies"])
def test_stacks_of_real_robots_agree_with_rows(name, geometry):
    robot = Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name] if name in SRDFS else None, geometry=geometry)
    around = {"post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)), "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7))}
    q = some(robot, 150, 3)
    low, high = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    q[::10], q[1::10], q[2::10] = low, high, np.clip(q[2::10], low + 1e-12, low + 1e-9)
    for objects in ({}, around):
        checker = Checker(robot, objects)
        free = assert_stack_agrees(checker, q)
        assert name == "tiago" or 0 < free.sum() < len(q)
        for margin in (0.03, -0.01):
            checker.margin = margin
            assert_stack_agrees(checker, q)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from(SCALES), straight=st.booleans())
def test_stacks_of_random_robots_agree_with_rows(tmp_path_factory, seed, scale, straight):
    robot = random_robot(tmp_path_factory.mktemp("robots"), seed, scale=scale, straight=straight)
    rng = np.random.default_rng(seed)
    sizes = scale * rng.uniform(0.1, 0.6, (4, 3))
    around = {f"box {k}": (gk.Box(size), at(*rng.uniform(-1.0, 1.0, 3) * scale)) for k, size in enumerate(sizes)}
    checker = Checker(robot, around, margin=float(scale * rng.choice([0.0, 0.05, -0.05])))
    checker.attach("held", gk.Cone(0.1 * scale, 0.3 * scale), robot.links[-1], touch_links=[robot.links[-1]])
    q = drawn(robot, LANES + 5, seed % 1000, scale)
    free = assert_stack_agrees(checker, q)
    truth = checker.clearance(q)
    sure = (truth.lower > checker.margin) | (truth.upper <= checker.margin)
    assert np.array_equal(free[sure], (truth.lower > checker.margin)[sure])
    first, second = q[:-1], q[1:]
    resolution = float(np.abs(second - first).max(initial=0.0)) / 21.0 or 1.0
    result = checker.motion_free(first, second, resolution=resolution)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        steps = max(int(np.ceil(np.abs(b - a).max(initial=0.0) / resolution)), 1)
        t = np.arange(steps + 1)[:, None] / steps
        samples = [checker.free(row) for row in (1.0 - t) * a + t * b]
        assert result.free[k] == all(samples)
        assert result.hit[k] == samples.index(False) / steps if not all(samples) else np.isnan(result.hit[k])
        single = checker.motion_free(a, b, resolution=resolution)
        assert (single.free, single.safe) == (result.free[k], result.safe[k])


SLIDE = """<robot name="slide"><link name="base"/>
  <link name="block"><collision><origin xyz="0 0 SIZE"/><geometry><box size="SIZE SIZE SIZE"/></geometry></collision>
  </link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="block"/><axis xyz="1 0 0"/>
    <limit lower="-9e9" upper="9e9" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize("shape", ["box", "ball"])
@pytest.mark.parametrize("size", [2.0**-40, 1.0, 2.0**20])
@pytest.mark.parametrize("margin", [0.0, 0.25, -0.25])
def test_contact_exactly_at_the_margin(tmp_path, size, margin, shape):
    (tmp_path / "slide.urdf").write_text(SLIDE.replace("SIZE", repr(size)))
    wall = gk.Box((size, 4 * size, 4 * size)) if shape == "box" else gk.Sphere(0.5 * size)
    checker = Checker(
        Robot.from_urdf(tmp_path / "slide.urdf"), {"wall": (wall, at(4.0 * size, 0, size))}, margin=margin * size
    )
    touch = (3.0 - margin) * size
    q = touch + size * np.array([0.0, 1e-3, -1e-3, 1e-6, -1e-6, 1e-8, -1e-8, *(4e-16 * np.arange(-8, 9))])
    q = np.tile(q, 2)[:, None]
    free = assert_stack_agrees(checker, q)
    assert not free[0]
    assert not free[q[:, 0] > touch].any()
    assert free[q[:, 0] < touch - 1e-7 * size].all()


def test_configurations_that_are_not_finite_raise():
    robot = Robot.example()
    q = np.zeros((LANES + 4, robot.dof))
    for k in (0, LANES - 1, LANES + 3):
        bad = q.copy()
        bad[k, 1] = np.nan
        with pytest.raises(gk.errors.RobotError, match="finite"):
            Checker(robot).free(bad)


def test_first_hit_of_an_edge_is_reported(tmp_path):
    """The first of two walls is reported, independent of the order of pairs."""
    (tmp_path / "slide.urdf").write_text(SLIDE.replace("SIZE", "1.0"))
    walls = {name: (gk.Box((0.2, 4, 4)), at(x, 0, 1)) for name, x in (("far", 6.0), ("near", 3.0))}
    for objects in (walls, dict(reversed(walls.items()))):
        checker = Checker(Robot.from_urdf(tmp_path / "slide.urdf"), objects)
        for stop in (20.0, 4.0):
            result = checker.motion_free([[0.0]] * 3, [[stop]] * 3, resolution=0.1)
            assert result.pair == [("block", "near")] * 3
            assert result.hit == pytest.approx([2.4 / stop] * 3, abs=0.1 / stop)
            assert checker.motion_free([0.0], [stop], resolution=0.1).hit == result.hit[0]


@given(seed=st.integers(0, 2**32 - 1), samples=st.sampled_from([0, 1, 2, 3, 7, 8, 9, LANES + 8, LANES + 9, 70]))
def test_edge_is_free_if_all_samples_are_free(tmp_path_factory, seed, samples):
    robot = random_robot(tmp_path_factory.mktemp("robots"), seed, links=5)
    rng = np.random.default_rng(seed)
    around = {f"box {k}": (gk.Box(rng.uniform(0.02, 0.2, 3)), at(*rng.uniform(-1.0, 1.0, 3))) for k in range(3)}
    checker = Checker(robot, around)
    first, second = drawn(robot, 2, seed % 1000)
    if samples == 0:
        second = first.copy()
    widest = np.abs(second - first).max()
    resolution = np.full(robot.dof, widest / (samples - 0.5) if samples else 1.0)
    steps = int(np.ceil(widest / resolution[0]))
    t = np.arange(steps + 1)[:, None] / max(steps, 1)
    free = all(checker.free(row) for row in (1.0 - t) * first + t * second)
    for ends in ([first, second], [second, first]):
        result = quick_edge(checker._cell(), np.array(ends), resolution)
        assert result == UNSURE or (result == FREE) == free


def test_edge_with_one_colliding_sample_is_not_free(tmp_path):
    (tmp_path / "slide.urdf").write_text(SLIDE.replace("SIZE", "1.0"))
    robot = Robot.from_urdf(tmp_path / "slide.urdf")
    for steps in (1, 2, 5, 16, 40):
        ends, resolution = np.array([[0.0], [10.0 * steps]]), np.full(1, 10.0)
        for s in range(steps + 1):
            for x, free in ((10.0 * s, False), (10.0 * s + 5.0, True)):
                checker = Checker(robot, {"post": (gk.Box((0.1, 4, 4)), at(x, 0, 1))})
                assert (quick_edge(checker._cell(), ends, resolution) == FREE) == free
                many = np.repeat(ends[:1], 19, axis=0), np.repeat(ends[1:], 19, axis=0)
                assert checker.edges_free(*many, resolution=10.0).tolist() == [free] * 19
                proven = checker.edges_free(*many, certify=True, resolution=10.0)
                assert proven.tolist() == [x > 10.0 * steps] * 19
