"""Results are equal if their public fields are equal: NaN equals NaN, stacks compare as a whole, hashes agree."""

from __future__ import annotations

import numpy as np
import pytest

import gjk3d as gk

BOX, BALL = gk.Box((1, 1, 1)), gk.Sphere(0.5)
MESH = gk.Mesh(*BOX.surface()[:2])
POSE = np.eye(4)
POSE[2, 3] = 0.9
STACK = np.stack([np.eye(4), POSE, POSE])
STACK[2, 2, 3] = 5.0
ROBOT = gk.robot.Robot.example()
LATER = gk.Motion.between(POSE, STACK[2])


def scene() -> gk.Scene:
    made = gk.Scene()
    made.add("box", BOX)
    made.add("ball", BALL, POSE)
    return made


def checker(x: float = 1.75) -> gk.robot.Checker:
    wall = np.eye(4)
    wall[0, 3] = x
    return gk.robot.Checker(ROBOT, {"wall": (gk.Box((0.1, 2, 2)), wall)})


#: factories of results; the argument False makes a different result
RESULTS = {
    "distance": lambda same: gk.distance(BOX, BALL, None, POSE if same else STACK[2]),
    "signed distance of a stack": lambda same: gk.signed_distance(BOX, BALL, None, STACK if same else STACK[:2]),
    "traced": lambda same: gk.signed_distance(BOX, BALL, None, POSE if same else STACK[0], trace=True),
    "with a certificate": lambda same: gk.distance(BOX, BALL, None, STACK[2], certificate=same),
    "axis": lambda same: gk.separating_axis(BOX, BOX, None, POSE if same else STACK[2]),
    "contact": lambda same: gk.contact(BOX, BALL, None, POSE if same else STACK[0]),
    "contacts with padding": lambda same: gk.contact(MESH, MESH, None, STACK if same else STACK[::-1]),
    "penetration": lambda same: gk.penetration(MESH, BALL, None, POSE if same else STACK[0]),
    "gradient": lambda same: gk.gradient(gk.distance(BOX, BALL, None, STACK if same else STACK[:2])),
    "missed ray": lambda same: gk.raycast(BOX, (0, 0, 3), (0, 0, 1 if same else -1)),
    "rays": lambda same: gk.raycast(BOX, (0, 0, 3), [(0, 0, 1), (0, 0, -1 if same else 1)]),
    "impact": lambda same: gk.time_of_impact(BOX, BALL, gk.Motion(np.eye(4)), LATER if same else gk.Motion(POSE)),
    "free impact": lambda same: gk.shapecast(BOX, BALL, (1, 0, 0), None, STACK[2] if same else POSE),
    "pairs of a scene": lambda same: scene().contacts() if same else gk.Scene().contacts(),
    "clearance of a scene": lambda same: scene().clearance() if same else gk.Scene().clearance(),
    "ray of a scene": lambda same: scene().raycast((0, 0, 3), (0, 0, -1 if same else 1)),
    "clearance": lambda same: checker().clearance([0.0, 0.0 if same else 0.1]),
    "clearances": lambda same: checker().clearance([[0.0, 0.0], [0.0, 0.1 if same else 0.0]]),
    "collisions": lambda same: tuple(checker(1.4).collisions([0.0, 0.0 if same else 0.1])),
    "validity": lambda same: checker().valid([[0.0, 0.0], [0.0, 0.1 if same else 9.0]]),
    "motion": lambda same: checker(1.75 if same else 1.4).motion_free([0.0, 0.0], [0.5, 0.0]),
    "path": lambda same: checker(1.75 if same else 1.4).path_free([[0.0, 0.0], [0.5, 0.1]]),
    "spheres": lambda same: ROBOT.spheres(0.05 if same else 0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_equal_fields_make_equal_results(name):
    first, again, different = (RESULTS[name](same) for same in (True, True, False))
    assert first == again
    assert (first != again) is False
    assert hash(first) == hash(again)
    assert first != different
    assert (first == different) is False
    assert first != 1
    assert first != object()


def test_row_of_stack_equals_single_result():
    rows, single = gk.raycast(BOX, (0, 0, 3), [(0, 0, 1), (0, 0, -1)]), gk.raycast(BOX, (0, 0, 3), (0, 0, -1))
    assert rows[1] == single
    assert rows != single


def test_sign_of_zero_does_not_matter():
    fields = {"distance": 1.0, "lower": 1.0, "upper": 1.0, "normal": np.array([0.0, 0, 1]), "pair": None}
    plus = gk.robot.RobotClearance(**fields, point_a=np.zeros(3), point_b=np.full(3, np.nan))
    minus = gk.robot.RobotClearance(**fields, point_a=-np.zeros(3), point_b=np.full(3, -np.nan))
    assert plus == minus
    assert hash(plus) == hash(minus)
