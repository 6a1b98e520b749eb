"""Trajectories of each part by name, and obstacles on routes, compared with dense samples and single motions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.spatial.transform import Rotation, Slerp

import gjk3d as gk
from gjk3d.errors import PoseError, RobotError
from gjk3d.robot import Checker, MotionStatus, Robot, Trajectory, timed
from gjk3d.robot.timed import clocked
from gjk3d.robot.trajectories import as_trajectory
from gjk3d.viz.kinds.robots import path_frames


def at(x, y, z=0.0, turn=0.0):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("z", turn).as_matrix()
    pose[:3, 3] = x, y, z
    return pose


def pair_of_arms():
    return Robot.join({"left": Robot.example(), "right": Robot.example().at(at(2.2, 0.0, 0.0, np.pi))})


LEFT = CubicSpline([0.0, 1.0, 2.5], [[1.5, 0.0], [0.3, 0.4], [1.2, 0.0]])
RIGHT = Trajectory([[0.9, 0.2], [1.4, 0.0], [1.2, -0.3]], times=[0.5, 1.7, 4.0])


def clamped_at(path, t):
    """Return the values of a spline that is constant before its start and after its end."""
    return path(np.clip(t, path.x[0], path.x[-1]))


@pytest.mark.parametrize("kind", [CubicSpline, PchipInterpolator])
def test_joined_trajectory_equals_trajectories_of_parts(kind):
    robot, left = pair_of_arms(), kind([0.0, 1.0, 2.5], [[1.5, 0.0], [0.3, 0.4], [1.2, 0.0]])
    joined = as_trajectory({"right": RIGHT, "left": left}, robot)
    assert (joined.start, joined.end) == (0.0, 4.0)
    times = np.linspace(-0.5, 4.5, 400)
    expected = np.column_stack([clamped_at(left, times), RIGHT.at(times)])
    assert np.abs(joined.at(times) - expected).max() < 1e-14
    error = joined._loose.max()
    assert 0.0 < error < 1e-13
    assert joined.times.tolist() == [0.0, 0.5, 1.0, 1.7, 2.5, 4.0]


def test_straight_lines_with_equal_times_stay_lines():
    robot, times = pair_of_arms(), [0.0, 1.0, 2.0]
    paths = {name: Trajectory(np.random.default_rng(k).random((3, 2)), times) for k, name in enumerate(robot.parts)}
    joined = as_trajectory(paths, robot)
    assert repr(joined) == "<Trajectory of 4 dof: 2 straight lines, from 0 to 2>"
    assert not joined._loose.any()


@pytest.mark.parametrize("more", [-0.05, 0.05])
def test_trajectories_of_two_arms_agree_with_dense_samples(more):
    checker, paths, times = Checker(pair_of_arms()), {"left": LEFT, "right": RIGHT}, np.linspace(0.0, 4.0, 801)
    rows = np.column_stack([clamped_at(LEFT, times), RIGHT.at(times)])
    dense = checker.clearance(rows).distance.min()
    checker.margin = dense + more
    free = checker.free(rows)
    proof = checker.trajectory_free(paths, certify=True)
    assert proof.free == free.all() == (more < 0.0)
    if not free.all():
        first = times[np.argmin(free)]
        assert proof.safe <= first <= proof.hit + 5e-3
    nearest = checker.trajectory_clearance(paths)
    assert nearest.lower - 1e-9 <= dense <= nearest.upper + 1e-3
    assert checker.safety({"both": paths}).motions[0].verdict == ("kept" if free.all() else "too close")
    assert len(path_frames(checker, paths, None, False, 0.05, 5).q) == 5


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        ({"left": LEFT}, "'right' is missing. Pass one for each part: left, right"),
        ({"left": LEFT, "rihgt": RIGHT, "right": RIGHT}, "'rihgt' is not a part that moves"),
        (
            {"left": LEFT, "right": Trajectory([[0.0], [1.0]], [0.0, 1.0])},
            "1 joint value per configuration, but part 'right' has 2",
        ),
    ],
)
def test_invalid_parts_raise(paths, text):
    with pytest.raises(RobotError, match=text):
        Checker(pair_of_arms()).trajectory_free(paths)
    with pytest.raises(RobotError, match="has no parts"):
        Checker(Robot.example()).trajectory_free(paths)


POSES = np.array([at(2.0, 2.0), at(1.2, 0.9, 0.0, 1.0), at(1.2, -0.2, 0.1, 2.0), at(-2.0, -0.2, 0.1, 2.5)])
TIMES = np.array([0.2, 1.0, 1.6, 3.0])


def pose_on(times):
    """Return the poses of the route by scipy. They are constant before its start and after its end."""
    times = np.clip(times, TIMES[0], TIMES[-1])
    poses = np.tile(np.eye(4), (len(times), 1, 1))
    poses[:, :3, :3] = Slerp(TIMES, Rotation.from_matrix(POSES[:, :3, :3]))(times).as_matrix()
    poses[:, :3, 3] = np.column_stack([np.interp(times, TIMES, POSES[:, k, 3]) for k in range(3)])
    return poses


def test_no_cells_are_built_after_first_collision(monkeypatch):
    built = []
    monkeypatch.setattr(timed, "clocked", lambda *args: built.append(args) or clocked(*args))
    checker = Checker(Robot.example(), {"crate": (gk.Box((0.2, 0.3, 0.2)), at(2.0, 2.0))})
    times = np.linspace(0.0, 3.0, 31)
    rest = Trajectory([[0.0, 0.0], [0.0, 0.0]], times=[0.0, 3.0])
    met = checker.trajectory_free(rest, moving={"crate": ([at(2.0 - t, 0.0) for t in times], times)})
    assert met.pair == ("hand", "crate")
    assert 0.1 * len(built) - 0.1 <= met.hit <= 0.1 * len(built) < 2.0


@pytest.mark.parametrize("bend", [0.0, 1.4, 2.6])
@pytest.mark.parametrize("kind", ["box", "mesh"])
def test_obstacle_on_route_agrees_with_dense_samples(bend, kind):
    shape = gk.Box((0.2, 0.3, 0.2))
    shape = gk.Mesh(*shape.surface()[:2]) if kind == "mesh" else shape
    checker = Checker(Robot.example(), {"cart": (shape, at(9.0, 9.0)), "post2": (gk.Sphere(0.1), at(-1.0, 1.5))})
    spline = CubicSpline([0.0, 2.0, 3.5], [[0.4 + bend, 0.0], [0.1 + bend, 0.2], [0.5 + bend, 0.0]])
    times = np.linspace(0.0, 3.5, 351)
    still, dense = checker.copy(), np.empty(len(times))
    for k, (pose, q) in enumerate(zip(pose_on(times), spline(times), strict=True)):
        still.move("cart", pose)
        dense[k] = still.clearance(q).distance
    moving = {"cart": (POSES, TIMES)}
    samples, proof = (checker.trajectory_free(spline, moving=moving, certify=c) for c in (False, True))
    assert samples.free == proof.free == (dense > 0.0).all()
    if not proof.free:
        first = times[np.argmax(dense <= 0.0)]
        assert proof.safe <= first
        assert proof.hit - proof.safe < 1e-5
        assert abs(proof.hit - first) < 0.02
    nearest = checker.trajectory_clearance(spline, moving=moving)
    assert nearest.lower <= dense.min() + 1e-9
    assert abs(nearest.distance - dense.min()) < 5e-3 or dense.min() < 0.0
    frames = path_frames(checker, spline, moving, True, 0.05, 8)
    last = 3.5 if proof.free else proof.hit
    assert np.abs(frames.moved["cart"] - pose_on(np.linspace(0.0, last, 8))).max() < 1e-12


def test_route_equals_sequence_of_motions():
    checker = Checker(Robot.example(), {"cart": (gk.Box((0.2, 0.3, 0.2)), at(9.0, 9.0))})
    rest = Trajectory([[0.0, 0.0], [0.0, 0.0]], [0.0, 4.0])
    expected = checker.trajectory_free(rest, moving={"cart": (POSES, TIMES)}, certify=True)
    for (p, q), (s, t) in zip(pairwise(POSES), pairwise(TIMES), strict=True):
        piece = Trajectory([[0.0, 0.0], [0.0, 0.0]], [s, t])
        single = checker.trajectory_free(piece, moving={"cart": gk.Motion.between(p, q)}, certify=True)
        if not single.free:
            assert (expected.status, expected.pair) == (MotionStatus.HIT, single.pair)
            assert (expected.safe, expected.hit) == pytest.approx((single.safe, single.hit), abs=1e-6)
            break
    else:
        pytest.fail("no collision")
    late = {"cart": (POSES, TIMES + 10.0)}
    assert checker.trajectory_free(rest, moving=late, certify=True).free, "it rests before its first time"
    early = {"cart": (POSES[:2], TIMES[:2] - 10.0)}
    assert not checker.trajectory_free(rest, moving={"cart": (POSES[1:3], TIMES[:2] - 10.0)}, certify=True)
    assert checker.trajectory_free(rest, moving=early, certify=True).free, "and after its last"
    routes = {"cart": (POSES, TIMES), "cart 2": (POSES[::-1], TIMES * 1.1)}
    checker.add("cart 2", gk.Sphere(0.05), at(5.0, 5.0))
    assert checker.trajectory_free(rest, moving=routes, certify=True).hit <= expected.hit + 1e-6


@pytest.mark.parametrize(
    ("route", "error", "text"),
    [
        ((POSES, TIMES[:2]), RobotError, "the route of 'cart' has 4 poses and the times"),
        ((POSES, TIMES[::-1]), RobotError, "n increasing times"),
        ((POSES, [0.0, 1.0, np.nan, 2.0]), RobotError, "n increasing times"),
        ((POSES, "noon"), RobotError, "n increasing times"),
        ((POSES[0], [0.0]), RobotError, "n increasing times"),
        ((POSES[:, :2], TIMES), PoseError, "cart"),
    ],
)
def test_invalid_routes_raise(route, error, text):
    checker = Checker(Robot.example(), {"cart": (gk.Box((0.2, 0.3, 0.2)), at(9.0, 9.0))})
    with pytest.raises(error, match=text):
        checker.trajectory_free(Trajectory([[0.0, 0.0], [0.0, 0.0]], [0.0, 4.0]), moving={"cart": route})
