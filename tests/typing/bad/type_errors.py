# ruff: noqa: B018
"""Errors that a type checker must report. Each of these lines ends with an error comment."""

import numpy as np
from numpy.typing import NDArray

import gjk3d as gk

box, ball, pose = gk.Box((1, 1, 1)), gk.Sphere(0.5), np.eye(4)


def misspelled(poses: NDArray[np.float64]) -> None:
    gk.colide(box, ball)  # error
    gk.Spehre(1)  # error
    gk.viz.shwo(box)  # error
    gk.robot.omplx  # error
    gk.robot.ompl.Planing  # error
    gk.clash.chek  # error
    gk.distance(box, ball).distnace  # error
    gk.distance(box, ball, None, poses).distnace  # error
    gk.distance(box, ball, max_distanc=1.0)  # error
    box.voluem  # error
    gk.Scene().colides()  # error


def arguments() -> None:
    gk.Box("abc")  # error
    gk.Box(["a", "b", "c"])  # error
    gk.Box(1)  # error
    gk.Sphere("1")  # error
    gk.ConvexHull(["abc"])  # error
    gk.ConvexHull([1, 2, 3])  # error
    gk.Mesh("part.stl", [(0, 1, 2)])  # error
    gk.PointCloud("abc", 0.1)  # error
    gk.Motion(None, "abc")  # error
    gk.aabb(box, "abc")  # error
    gk.collide(box, "ball")  # error
    gk.collide(box, ball, "pose")  # error
    gk.collide(box, ball, [1, 2, 3])  # error
    gk.signed_distance(box, ball, depth="exact")  # error
    gk.raycast(box, "abc", (0, 0, 1))  # error
    gk.Pairs([box, ball]).collide("01", [pose, pose])  # error
    gk.Pair(box, 3)  # error
    box.scaled("2")  # error
    gk.Scene().add("box", "box")  # error


def results(checker: gk.robot.Checker) -> None:
    hit: NDArray[np.bool_] = gk.collide(box, ball)  # error
    far: float = gk.distance(box, ball)  # error
    gk.distance(box, ball).distance.tolist()  # error
    gk.distance(box, ball, pose).status.tolist()  # error
    checker.free("home")  # error
    checker.free([0.0]).all()  # error
    checker.motion_free([0.0], [1.0]).saef  # error
    gk.Pairs([box, ball]).distance([(0, 1)], [pose, pose]).status.name  # error
    gk.CollisionManager().in_collision_internal().name  # error
    print(hit, far)
