"""Arguments of a wrong type raise an error that contains the value, and the checker still works."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import Gjk3dError, RobotError
from gjk3d.robot import Checker, Robot, Trajectory

FAR = np.eye(4)
FAR[0, 3] = 2.0

INVALID_NAMES = (None, 3.5, b"hand", ["hand"], np.array(["hand", "wall"]))
ASKED = {
    "link_number": lambda c, x: c.robot.link_number(x),
    "jacobian": lambda c, x: c.robot.jacobian([0.0, 0.0], x),
    "attach": lambda c, x: c.attach("cup", gk.Sphere(0.1), x),
    "with_geometry": lambda c, x: c.robot.with_geometry(x, gk.Sphere(0.1)),
    "allow": lambda c, x: c.allow("hand", x),
    "forbid": lambda c, x: c.forbid(x, "wall"),
    "set_margin": lambda c, x: c.set_margin(x, "wall", 0.1),
    "set_padding": lambda c, x: c.set_padding(x, 0.1),
    "move": lambda c, x: c.move(x, None),
    "remove": lambda c, x: c.remove(x),
    "state": lambda c, x: c.robot.state(x),
    "on": lambda c, x: Robot.join({"a": c.robot, "b": c.robot}, on={"b": x}),
    "joints": lambda c, x: Robot.join({"a": c.robot}, joints={"a": x}),
}
INVALID_LISTS = ("hand", 1, 2.5, [None], [["hand"]])
LISTED = {
    "touching": lambda c, x: c.add("ball", gk.Sphere(0.1), touching=x),
    "touch_links": lambda c, x: c.attach("cup", gk.Sphere(0.1), "hand", touch_links=x),
    "swept": lambda c, x: c.swept(Trajectory([[0.0, 0.0], [0.1, 0.1]], [0.0, 1.0]), links=x),
    "held": lambda c, x: c.robot.held([0.0, 0.0], x),
}


@pytest.mark.parametrize("call", ASKED)
@pytest.mark.parametrize("name", INVALID_NAMES, ids=repr)
def test_invalid_names_raise(call, name):
    checker = Checker(Robot.example(), {"wall": (gk.Sphere(0.1), FAR)})
    with pytest.raises(RobotError):
        ASKED[call](checker, name)
    assert checker.free([0.0, 0.0])


@pytest.mark.parametrize("call", LISTED)
@pytest.mark.parametrize("names", INVALID_LISTS, ids=repr)
def test_invalid_lists_of_names_raise(call, names):
    checker = Checker(Robot.example(), {"wall": (gk.Sphere(0.1), FAR)})
    with pytest.raises(RobotError):
        LISTED[call](checker, names)
    assert checker.free([0.0, 0.0])


@pytest.mark.parametrize("value", ["x", None, np.nan, -1.0, 10**400], ids=lambda value: repr(value)[:8])
def test_invalid_lengths_raise(value):
    checker = Checker(Robot.example())
    for call in (
        lambda: checker.clearance([0.0, 0.0], max_distance=value),
        lambda: checker.clearance([[0.0, 0.0]], max_distance=value),
        lambda: checker.robot.spheres(value),
        lambda: gk.robot.scaled(checker.robot, {"hand": value}),
        lambda: checker.swept(Trajectory([[0.0, 0.0], [0.1, 0.1]], [0.0, 1.0]), excess=value),
    ):
        with pytest.raises(Gjk3dError, match=re.escape(repr(value)[:70])):
            call()
    with pytest.raises(RobotError, match=r"excess.*9\.99989e-321.*'post'.*0\.0075"):
        checker.robot.spheres(1e-320)


def test_invalid_configuration_mappings_raise():
    robot = Robot.example()
    with pytest.raises(RobotError, match=r"list.*mapping"):
        robot.configuration([0.0, 1.0])
    for value in ("x", [["a"]], 10**400, 1j):
        with pytest.raises(RobotError, match=f"'elbow'.*{re.escape(repr(value)[:70])}"):
            robot.configuration({"elbow": value})


def test_robot_without_joints_that_move():
    checker = Checker(Robot.example().held([0.0, 0.0]))
    assert checker.free_region([]).shape == (0,)
    assert checker.free_region(np.empty((3, 0))).shape == (3, 0)
    for certify in (False, True):
        assert checker.edges_free(np.empty((2, 0)), np.empty((2, 0)), certify=certify).tolist() == [True, True]
    with pytest.raises(RobotError, match=r"joints is None, expected at least one of the 0 joints of robot 'example'"):
        checker.plan([], [[]])


@pytest.mark.parametrize("source", [None, 5, b"arm.urdf"])
def test_robot_is_loaded_from_a_path_or_text(source):
    with pytest.raises(TypeError, match=r"source is .*, expected a path, or the text of a file"):
        Robot.load(source)
