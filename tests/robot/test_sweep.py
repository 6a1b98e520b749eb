"""The sweep before a certified motion drops pairs. Dropped pairs are separated along the whole motion."""

from __future__ import annotations

from math import acos, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_robots import drawn, random_robot

import gjk3d as gk
from gjk3d.robot import Checker, Robot
from gjk3d.robot import motion_certified as motion
from gjk3d.robot.motion_bounds import motion_bounds
from gjk3d.robot.sampled_edges import LANES, lanes_in
from gjk3d.robot.trajectories import lines


def after_sweep(checker, q0, q1):
    """Return the task of a line and its lanes after the sweep."""
    cell, robot = checker._cell(), checker.robot
    curves = lines(q0[None], q1[None])
    bounds = motion_bounds(cell, curves.controls)
    memory = cell.memory.fresh()
    pairs, links = len(cell.layout.pairs), len(robot.links)
    pieces = motion.Pieces(np.empty((1, pairs), dtype=np.int64), np.empty((2, 1, pairs)), np.empty(1, dtype=np.int64))
    task = motion.task_for(cell, False, bounds, memory)._replace(pieces=pieces)
    moved = motion._all_joints(robot._chain, curves.controls[0], curves.loose[0], task.joints)
    lanes = lanes_in(task.scratch, robot.dof, links)
    motion._fill(robot._chain, lanes, curves.controls[0], np.empty((2, 4, 4)), np.empty(robot.dof))
    motion._sweep(task, lanes, bounds.slack * moved, 1.0)
    return task, lanes


def open_intervals(checker, q0, q1):
    """Return the interval of each pair that the sweep leaves open. The interval of a dropped pair is empty."""
    pieces = after_sweep(checker, q0, q1)[0].pieces
    pairs = pieces.ids.shape[1]
    left = np.tile([2.0, -1.0], (pairs, 1))
    n = pieces.counts[0]
    left[pieces.ids[0, :n]] = pieces.near[:, 0, :n].T
    return left


def test_dropped_pairs_are_separated_along_the_motion(tmp_path_factory):
    seen = {"dropped": 0, "open in part": 0, "near": 0}
    folder = tmp_path_factory.mktemp("drawn")
    t = np.linspace(0.0, 1.0, 8 * LANES + 1)

    @given(st.integers(0, 400), st.floats(0.05, 1.0), st.sampled_from([0.0, 0.1]))
    def check(seed, length, margin):
        robot = random_robot(folder, seed)
        robot.allowed = []
        checker = Checker(robot, {"ball": gk.Sphere(0.1), "box": (gk.Box((0.4, 0.1, 0.2)), np.eye(4))}, margin=margin)
        q0, q1 = drawn(robot, 2, seed + 100)
        q1 = q0 + length * (q1 - q0)
        left, cell = open_intervals(checker, q0, q1), checker._cell()
        poses = robot.link_poses((1 - t[:, None]) * q0 + t[:, None] * q1)
        for p, (a, b) in enumerate(cell.layout.pairs[:, :2].tolist()):
            d = gk.signed_distance(cell.shapes[a], cell.shapes[b], cell.placed(poses, a), cell.placed(poses, b))
            near = t[d.upper <= margin]
            assert ((left[p, 0] <= near) & (near <= left[p, 1])).all()
            seen["near"] += len(near) > 0
            seen["dropped"] += left[p, 0] > left[p, 1]
            seen["open in part"] += 0.0 < left[p, 1] - left[p, 0] < 1.0

    check()
    assert min(seen.values()) > 20, seen


# a ball that slides along x or turns about z at a distance of 1, so the speed bounds are tight
ONE_BALL = """<robot name="r"><link name="base"/>
  <link name="ball"><collision><origin xyz="WHERE 0 0"/><geometry><sphere radius="0.01"/></geometry></collision></link>
  <joint name="moves" type="KIND"><parent link="base"/><child link="ball"/><axis xyz="AXIS"/>
    <limit lower="-100" upper="100"/></joint>
</robot>"""
BALL, LENGTH = 0.01, 6.4


def one_ball(folder, slides):
    kind, axis, where = ("prismatic", "1 0 0", "0") if slides else ("continuous", "0 0 1", "1")
    file = folder / f"{kind}.urdf"
    file.write_text(ONE_BALL.replace("KIND", kind).replace("AXIS", axis).replace("WHERE", where))
    return Robot.from_urdf(file)


def positions_at(slides, at):
    """Return the positions of the ball at the given values of q."""
    at = np.asarray(at)
    return np.stack([at, 0 * at, 0 * at] if slides else [np.cos(at), np.sin(at), 0 * at], axis=-1)


@pytest.mark.parametrize("slides", [True, False])
def test_short_contacts_are_not_dropped(tmp_path, slides):
    """Balls stand along the whole path. Each contact lasts a tenth of the step between two samples."""
    length = LENGTH if slides else 2.0
    at = np.linspace(0.0, 1.0, 12 * LANES + 1)
    small = 0.2 * length / LANES / 2 - BALL
    robot = one_ball(tmp_path, slides)
    places = {f"ball {k}": (gk.Sphere(small), x) for k, x in enumerate(positions_at(slides, length * at))}
    checker = Checker(robot, {name: (shape, moved(x)) for name, (shape, x) in places.items()})
    left = open_intervals(checker, np.zeros(1), np.full(1, length))
    assert len(left) == len(at)
    for name, (a, b) in zip(places, left, strict=True):
        t = at[int(name.split()[1])]
        reach = 0.999 * (BALL + small) / length
        assert a <= max(t - reach, 0.0)
        assert min(t + reach, 1.0) <= b
        assert b - a < 0.3  # little more than the contact is left open


@pytest.mark.parametrize("slides", [True, False])
def test_hit_in_lanes_collides_in_middle_of_part(tmp_path, slides):
    """The lanes report a hit if the balls overlap at the middle of any part of the motion."""
    robot, rng, length = one_ball(tmp_path, slides), np.random.default_rng(0), LENGTH if slides else 6.0
    places = positions_at(slides, length * (np.arange(LANES) + 0.5) / LANES)
    hits = 0
    for _ in range(60):
        size, x = (
            rng.uniform(0.1, 0.4),
            positions_at(slides, rng.uniform(0.0, length)) + (0.0, 0.0, rng.uniform(0.0, 0.5)),
        )
        checker = Checker(robot, {"it": (gk.Sphere(size), moved(x))})
        collides = bool((np.linalg.norm(places - x, axis=1) < BALL + size).any())
        pair = motion._hit_in_lanes(*after_sweep(checker, np.zeros(1), np.full(1, length)))
        assert pair == (0 if collides else motion.NOBODY)
        hits += collides
    assert 15 < hits < 45


def moved(x):
    m = np.eye(4)
    m[:3, 3] = x
    return m


@pytest.mark.parametrize("cloud", [False, True])
@pytest.mark.parametrize("slides", [True, False])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-3])
def test_first_contacts_agree_with_formula(tmp_path, slides, cloud, tolerance):
    """Contacts are central, off-centre or grazing. A ball that turns several times reports its first contact."""
    robot = one_ball(tmp_path, slides)
    rng = np.random.default_rng(0)
    length, size = LENGTH if slides else 9.0, 0.05
    seen = 0
    for _ in range(60):
        at, aside = rng.uniform(0.2, 5.5), (BALL + size) * rng.choice([0.0, 0.5, 0.9, 0.999, 1.01])
        x = positions_at(slides, at) + (0.0, 0.0, aside)
        shape = gk.PointCloud([x, x + (0.0, 0.0, 0.3)], size) if cloud else (gk.Sphere(size), moved(x))
        result = Checker(robot, {"it": shape}).motion_free(np.zeros(1), np.full(1, length), certify=True,
                                                          tolerance=tolerance)  # fmt: skip
        if aside > BALL + size:
            assert result.free
            continue
        chord = sqrt((BALL + size) ** 2 - aside**2)
        first = (at - (chord if slides else acos(1.0 - chord**2 / 2))) / length
        assert result.safe <= first + 1e-12
        assert result.safe >= first - tolerance - 1e-9
        assert first - 1e-12 <= result.hit <= first + tolerance + 1e-9
        seen += 1
    assert seen > 30
