"""Scenes, managers, assemblies and robots."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gjk3d as gk
from gjk3d import Box, Scene
from gjk3d.typing import PoseLike

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def scene(pose: Array) -> None:
    objects = Scene()
    objects.add("box", Box((1, 1, 1)), pose)
    objects.move("box", np.eye(4))
    assert_type(objects.collides(), bool)
    assert_type(objects.collisions(gk.Sphere(1), pose), list[tuple[str, str | None]])
    assert_type(objects.clearance().distance, float)
    for a, b, row in objects.closest(within=0.1):
        assert_type(a, str)
        assert_type(b, str | None)
        assert_type(row, gk.Distance[float])
    assert_type(objects.closest(k=2).result.distance, Array)
    assert_type(objects.contacts()[0][2].count, int)
    hit = objects.raycast((0, 0, 5), (0, 0, -1))
    assert_type(hit.name, str | None)
    assert_type(hit.distance, float)


def manager(mesh: gk.Mesh) -> None:
    collision_manager = gk.CollisionManager()
    collision_manager.add_object("part", mesh)
    assert_type(collision_manager.in_collision_internal(), bool)
    hit, names = collision_manager.in_collision_single(mesh, return_names=True)
    assert_type(hit, bool)
    print(sorted(names))
    assert_type(collision_manager.min_distance_single(mesh), float)


def assembly(path: Path) -> None:
    report = gk.clash.check(gk.clash.Assembly.load(path), clearance=0.5e-3)
    assert_type(report, gk.clash.Report)
    for clash in report.clashes:
        assert_type(clash, gk.clash.Clash)


def robot(path: Path, q: Array, poses: PoseLike) -> None:
    checker = gk.robot.Checker(
        gk.robot.Robot.from_urdf(path), {"wall": (Box((1, 1, 1)), np.eye(4)), "ball": gk.Sphere(1)}
    )
    assert_type(checker.free([0.0, 1.0]), bool)
    assert_type(checker.free(np.zeros(6)), bool)
    many = np.zeros((5, 6))
    assert_type(checker.free(many), Bools)
    assert_type(checker.free([np.zeros(6)]), Bools)
    assert_type(checker.free(q), Any)
    assert_type(checker.hit([0.0]), tuple[str, str] | None)
    assert_type(checker.clearance([0.0]).distance, float)
    assert_type(checker.clearance([0.0]).pair, tuple[str, str] | None)
    assert_type(checker.clearance(many).lower, Array)
    move = checker.motion_free([0.0], [1.0], certify=True)
    assert_type(move.free, bool)
    assert_type(move.status, gk.robot.MotionStatus)
    assert_type(move.hit, float)
    assert_type(checker.motion_free([0.0], many).free, Bools)
    motion: gk.robot.MotionCheck = checker.motion_free(q, q)
    print(motion.safe)
    assert_type(checker.path_free([[0.0], [1.0]]).edge, int | None)
    near = checker.distances(q, within=0.2)
    assert_type(near.gradient, Array)
    arm = checker.robot
    joined = gk.robot.Robot.join({"left": arm, "right": arm.at(np.eye(4)).held(q)}, joints={"left": "planar"})
    assert_type(joined, gk.robot.Robot)
    assert_type(checker.with_robot(arm.with_geometry("hand", Box((1, 1, 1)))), gk.robot.Checker)
    planning = gk.robot.ompl.Planning(checker, resolution=0.1)
    assert_type(planning.proof, gk.robot.PathProof | None)
    assert_type(planning, gk.robot.ompl.Planning)
    gk.viz.show(checker)
