"""The first look at a motion: what it drops is apart all the way, by distances at many places of the line."""

from __future__ import annotations

import numpy as np
from chains import drawn, random_robot
from hypothesis import given, settings
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.robot import Checker, queries
from gjk3d.robot import motion_certified as motion
from gjk3d.robot.curves import lines
from gjk3d.robot.lanes import LANES
from gjk3d.robot.lanes_walk import lanes_in
from gjk3d.robot.motion_bounds import motion_bounds


def swept(checker, q0, q1):
    """Return from where to where each pair of a line is left open, empty where it is dropped."""
    cell, robot = checker._cell(), checker.robot
    curves = lines(q0[None], q1[None])
    bounds = motion_bounds(cell, curves.controls)
    room = queries.lanes_of(cell, cell.memory.fresh()).room
    pairs, links = len(cell.layout.pairs), len(robot.links)
    joints = np.empty((8, links))
    moved = motion._all_joints(robot._chain, curves.controls[0], curves.loose[0], joints)
    moves = motion.Moves(
        bounds.arms, joints, cell.margins, bounds.slack * moved, np.empty((5, pairs)), np.empty(pairs)
    )  # fmt: skip
    lanes = lanes_in(room.numbers, room.spots, robot.dof, links)
    motion._fill(robot._chain, lanes, curves.controls[0], np.empty((2, 4, 4)), np.empty(robot.dof))
    pieces = motion.Pieces(np.empty((1, pairs), dtype=np.int64), np.empty((2, 1, pairs)), np.empty(1, dtype=np.int64))
    motion._sweep(cell.layout, lanes, room.used, moves, pieces, 1.0)
    left = np.tile([2.0, -1.0], (pairs, 1))
    n = pieces.counts[0]
    left[pieces.ids[0, :n]] = pieces.near[:, 0, :n].T
    return left


def test_what_is_dropped_is_apart_all_the_way(tmp_path_factory):
    seen = {"dropped": 0, "open in part": 0, "near": 0}
    folder = tmp_path_factory.mktemp("drawn")
    t = np.linspace(0.0, 1.0, 8 * LANES + 1)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 400), st.floats(0.05, 1.0), st.sampled_from([0.0, 0.1]))
    def check(seed, length, margin):
        robot = random_robot(folder, seed)
        robot.allowed = []
        checker = Checker(robot, {"ball": gk.Sphere(0.1), "box": (gk.Box((0.4, 0.1, 0.2)), np.eye(4))}, margin=margin)
        q0, q1 = drawn(robot, 2, seed + 100)
        q1 = q0 + length * (q1 - q0)
        left, cell = swept(checker, q0, q1), checker._cell()
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
