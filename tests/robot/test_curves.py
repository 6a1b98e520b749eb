"""Points, speeds and bounds of curves in Bernstein form, compared with rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gjk3d.robot import Robot
from gjk3d.robot.kinematics import plane_axes
from gjk3d.robot.motion_bounds import curve_speeds
from gjk3d.robot.trajectories import points_on

GANTRY = """<robot name="gantry"><link name="rail"/><link name="cart"/><link name="arm"/>
<joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9"/></joint><joint name="turn" type="continuous"><parent link="cart"/><child link="arm"/>
<axis xyz="0 0 1"/><mimic joint="x" multiplier="-2.5" offset="0.3"/></joint></robot>"""

GANTRY_CHAIN, CART_JOINT, ARM_JOINT = Robot.load(GANTRY)._chain, 1, 2

numbers = st.floats(-1e3, 1e3)
curves = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n + 1, 1), elements=numbers))


def exact(controls, t, order=0):
    """Return the exact derivative of the given order of a curve at t."""
    rows = [Fraction(float(c)) for c in controls]
    factor = 1
    for _ in range(order):
        factor *= len(rows) - 1
        rows = [b - a for a, b in pairwise(rows)]
    n, t = len(rows) - 1, Fraction(float(t))
    return factor * sum(comb(n, i) * (1 - t) ** (n - i) * t**i * c for i, c in enumerate(rows))


@given(curves, st.floats(0, 1))
def test_points_on_curve_are_within_rounding(controls, t):
    point = points_on(controls, np.array([t]))[0, 0]
    n = len(controls) - 1
    allowed = (4 * n + 3) * 2.0**-53 * np.abs(controls).max() + 1e-300
    assert abs(Fraction(float(point)) - exact(controls[:, 0], t)) <= Fraction(allowed)
    if n == 1:
        assert point == (1.0 - t) * controls[0, 0] + t * controls[1, 0]


@given(curves, st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0, 1e-3))
def test_speed_bounds_contain_exact_rates(controls, times, loose):
    robot = Robot.load(GANTRY)
    joints = np.empty((6, 3))
    curve_speeds(robot._chain, controls, np.array([loose]), joints)
    cart, arm = robot.link_number("cart"), robot.link_number("arm")
    more = 1.0 + 2.0**-45
    for t in times:
        rate, bend = (abs(float(exact(controls[:, 0], t, order))) for order in (1, 2))
        if len(controls) == 2:
            bend = 0.0
        assert rate <= joints[1, cart] * more + 1e-300
        assert 2.5 * rate <= joints[0, arm] * more + 1e-300
        assert bend <= joints[5, cart] * more + 1e-300
        assert 2.5 * bend <= joints[4, arm] * more + 1e-300
    assert loose <= joints[3, cart]
    assert 2.5 * loose <= joints[2, arm] * more
    assert (joints[:, robot.link_number("rail")] == 0.0).all()


@given(curves, st.floats(0, 1))
def test_error_bounds_contain_exact_joints(controls, t):
    joints = np.empty((6, 3))
    curve_speeds(GANTRY_CHAIN, controls, np.zeros(1), joints)
    point, true = points_on(controls, np.array([t]))[0, 0], exact(controls[:, 0], t)
    assert abs(Fraction(float(point)) - true) <= Fraction(joints[3, CART_JOINT] + 1e-300)
    turn, true = -2.5 * point + 0.3, Fraction(-2.5) * true + Fraction(0.3)
    assert abs(Fraction(float(turn)) - true) <= Fraction(joints[2, ARM_JOINT])


def test_bend_bound_includes_rounding_of_differences():
    controls, joints = np.array([[-1e-17], [1.0], [2.0]]), np.empty((6, 3))
    curve_speeds(GANTRY_CHAIN, controls, np.zeros(1), joints)
    bend = abs(exact(controls[:, 0], 0.5, 2))
    assert 0 < bend <= Fraction(joints[5, CART_JOINT])
    assert Fraction(2.5) * bend <= Fraction(joints[4, ARM_JOINT])


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 9])
def test_straight_line_of_any_degree_is_tight(degree):
    """The speed is that of the line, and the bend is zero up to rounding."""
    robot = Robot.load(GANTRY)
    controls = np.linspace(0.3, 1.1, degree + 1)[:, None]
    joints = np.empty((6, 3))
    curve_speeds(robot._chain, controls, np.zeros(1), joints)
    assert joints[1, robot.link_number("cart")] == pytest.approx(0.8, rel=1e-13)
    assert joints[5].max() <= 1e-12
    assert joints[3].max() <= 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_planar_joint_near_minus_z_is_within_bounds(seed):
    """For an axis close to -z rounding makes the axes of the plane longer than 1. The bounds include the longer one."""
    rng = np.random.default_rng(seed)
    robot = Robot.load(
        '<robot name="r"><link name="base"/><link name="plate"/><joint name="j" type="planar">'
        '<parent link="base"/><child link="plate"/><axis xyz="0 0 1"/></joint></robot>'
    )
    chain = robot._chain._replace(axis=np.array(robot._chain.axis))
    number = robot.link_number("plate")
    lengths = []
    for angle, tilt in zip(rng.uniform(0.0, 2.0 * np.pi, 20), 10.0 ** rng.uniform(-5.8, -5.0, 20), strict=True):
        axis = np.sin(tilt) * np.cos(angle), np.sin(tilt) * np.sin(angle), -np.cos(tilt)
        chain.axis[number] = axis
        sides = [sum(Fraction(float(x)) ** 2 for x in side) for side in plane_axes(axis)]
        lengths.append(max(sides))
        controls, loose, joints = np.zeros((3, 3)), np.zeros(3), np.empty((6, 2))
        k = int(np.argmax(sides))
        controls[2, k], loose[k] = 1.0, 0.25
        curve_speeds(chain, controls, loose, joints)
        for n, size in ((1, Fraction(2)), (3, Fraction(1, 4)), (5, Fraction(2))):
            assert Fraction(joints[n, number]) ** 2 >= lengths[-1] * size**2
    assert max(lengths) > 1.0 + 1e-6
