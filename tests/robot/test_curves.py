"""Curves in Bernstein form: where they are, how fast, and what bounds that, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gjk3d.robot import Robot
from gjk3d.robot.curves import points_on
from gjk3d.robot.motion_bounds import curve_speeds

GANTRY = """<robot name="gantry"><link name="rail"/><link name="cart"/><link name="arm"/>
<joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9"/></joint><joint name="turn" type="continuous"><parent link="cart"/><child link="arm"/>
<axis xyz="0 0 1"/><mimic joint="x" multiplier="-2.5" offset="0.3"/></joint></robot>"""

numbers = st.floats(-1e3, 1e3)
curves = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n + 1, 1), elements=numbers))


def exact(controls, t, order=0):
    """Return a derivative of a curve at a parameter."""
    rows = [Fraction(float(c)) for c in controls]
    factor = 1
    for _ in range(order):
        factor *= len(rows) - 1
        rows = [b - a for a, b in pairwise(rows)]
    n, t = len(rows) - 1, Fraction(float(t))
    return factor * sum(comb(n, i) * (1 - t) ** (n - i) * t**i * c for i, c in enumerate(rows))


@settings(max_examples=200, deadline=None)
@given(curves, st.floats(0, 1))
def test_where_a_curve_is(controls, t):
    found = points_on(controls, np.array([t]))[0, 0]
    n = len(controls) - 1
    allowed = (4 * n + 3) * 2.0**-53 * np.abs(controls).max() + 1e-300
    assert abs(Fraction(float(found)) - exact(controls[:, 0], t)) <= Fraction(allowed)
    if n == 1:
        assert found == (1.0 - t) * controls[0, 0] + t * controls[1, 0]


@settings(max_examples=150, deadline=None)
@given(curves, st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0, 1e-3))
def test_how_fast_joints_move_at_most(controls, times, loose):
    robot = Robot.load(GANTRY)
    joints = np.empty((6, 3))
    curve_speeds(*robot._chain, controls, np.array([loose]), joints)
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


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 9])
def test_a_straight_line_of_any_degree_is_one(degree):
    """Its speed is that of the line, and it hardly bends."""
    robot = Robot.load(GANTRY)
    controls = np.linspace(0.3, 1.1, degree + 1)[:, None]
    joints = np.empty((6, 3))
    curve_speeds(*robot._chain, controls, np.zeros(1), joints)
    assert joints[1, robot.link_number("cart")] == pytest.approx(0.8, rel=1e-13)
    assert joints[5].max() <= 1e-12
    assert joints[3].max() <= 1e-12
