"""Proof that links never touch: what it rests on, and that it is never given where they can."""

from __future__ import annotations

from fractions import Fraction
from math import acos, degrees

import numpy as np
import pytest
from example_robots import robot, some
from words import assert_names

from gjk3d.robot import Robot, allow_by_sampling
from gjk3d.robot.cell import Base, build
from gjk3d.robot.queries import every
from gjk3d.robot.sampling import FREE, HIT, OPEN, LinkPairs, Proofs, change_of_distances

# a ball of 0.2 swings at 1 from the origin; another of 0.3 stands at 1 in the direction -x
ARM = """<robot name="r">
  <link name="a"><collision><origin xyz="-1 0 0"/><geometry><sphere radius="0.3"/></geometry></collision></link>
  <link name="m"/>
  <link name="b"><collision><origin xyz="0.5 0 0"/><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="a"/><child link="m"/><axis xyz="0 0 1"/>
    <limit lower="LOW" upper="HIGH"/></joint>
  <joint name="slide" type="prismatic"><parent link="m"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="0.4" upper="0.6"/><mimic joint="drive" multiplier="0.5" offset="0.1"/></joint>
  <link name="c"/>
  <joint name="drive" type="prismatic"><parent link="a"/><child link="c"/><limit lower="0.79" upper="0.81"/></joint>
</robot>"""
# two balls that are 0.5 from touching along the circle of radius 1: they touch from this angle on
TOUCH = np.pi - acos(1 - 0.5**2 / 2)


def prove(one, a, b, most):
    return Proofs(one, one.lower, one.upper, np.array([[a, b]])).verdict((a, b), most)


def arm(tmp_path, low, high):
    file = tmp_path / "r.urdf"
    file.write_text(ARM.replace("LOW", str(low)).replace("HIGH", str(high)))
    return Robot.from_urdf(file)


@pytest.mark.many
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago"])
def test_distances_change_no_faster_than_is_claimed(name):
    """Between any two configurations, for pairs of links all over the robot; sliding and mimicking joints too."""
    one = robot(name)
    low, high = np.maximum(one.lower, -3), np.minimum(one.upper, 3)
    pairs = one.all_pairs()
    rng = np.random.default_rng(5)
    tightest = 0.0
    for a, b in pairs[rng.choice(len(pairs), 12, replace=False)].tolist():
        cell = build(Base(one, np.array([[a, b]]), hulls=True))
        weights, _ = change_of_distances(cell, low, high)
        q = some(one, 40, seed=a)
        near = np.clip(q + rng.normal(size=q.shape) * rng.choice([0.01, 0.3], size=(40, 1)), low, high)
        first, second = (every(cell, rows, np.full(len(weights), 1e50))[0][..., 0] for rows in (q, near))
        allowed = np.abs(near - q) @ weights.T
        assert (np.abs(first - second) <= allowed + 1e-9).all()
        tightest = max(tightest, float((np.abs(first - second) / allowed).max(initial=0.0, where=allowed > 0)))
    assert tightest > 0.05


def test_an_arm_that_stops_just_before(tmp_path):
    """Angles in degrees: it touches at about 151.0."""
    assert degrees(TOUCH) == pytest.approx(151.0, abs=0.05)
    one = arm(tmp_path, -TOUCH + 0.02, TOUCH - 0.02)
    assert prove(one, 0, 2, 100_000) == FREE
    assert prove(one, 2, 0, 100_000) == FREE, "whichever is named first"


@pytest.mark.parametrize("over", [0.02, 0.3])
def test_an_arm_that_can_touch_is_never_proven(tmp_path, over):
    one = arm(tmp_path, -1.0, TOUCH + over)
    assert prove(one, 0, 2, 3) == OPEN
    assert prove(one, 0, 2, 100_000) == HIT


FAR = """<robot name="far"><link name="world"/>
  <link name="a"><collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="m"><collision><origin xyz="0 5 0"/><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="b"><collision><geometry><sphere radius="RADIUS"/></geometry></collision></link>
  <joint name="far" type="fixed"><parent link="world"/><child link="a"/><origin xyz="1e8 0 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="m"/><origin xyz="ORIGIN 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0.25" upper="0.25"/></joint>
  <joint name="end" type="prismatic"><parent link="m"/><child link="b"/><limit lower="0" upper="0"/></joint>
</robot>"""


def test_links_that_only_rounding_moves_apart_are_not_proven():
    """Two balls overlap by 1e-9. Coordinates of 1e8 are rounded by up to 7e-9, which makes a gap of 1e-9 of it."""
    origin, radius = 0.25 - 2e-9, 0.25 - 1e-9
    assert Fraction(origin) + Fraction(1, 4) < Fraction(1, 4) + Fraction(radius)
    one = Robot.load(FAR.replace("ORIGIN", repr(origin)).replace("RADIUS", repr(radius)))
    assert not LinkPairs(one, np.array([[1, 3]])).touch(np.array([[0.25, 0.0]])).any()
    assert prove(one, 1, 3, 100) == OPEN
    made = allow_by_sampling(one, 10)
    assert made.reason("a", "b") == "never"
    assert made.proven == []


@pytest.mark.many
def test_what_is_proven_of_panda_holds_in_many_configurations():
    one = robot("panda")
    made = allow_by_sampling(one, 500)
    assert len(made.proven) >= 10
    assert all(made.reason(a, b) == "never" for a, b in made.proven)
    assert_names(made.evidence, f"{len(made.proven)} pairs", "Proven")
    assert not allow_by_sampling(one, 500, prove=0).proven
    assert made.copy().proven == made.proven
    pairs = np.array([[one.link_number(a), one.link_number(b)] for a, b in made.proven])
    q = some(one, 3000, seed=9)
    # the ends of the limits too
    ends = np.random.default_rng(1).integers(0, 2, q.shape).astype(bool)
    q[:1000] = np.where(ends, one.lower, one.upper)[:1000]
    assert not LinkPairs(one, pairs).touch(q).any()


@pytest.mark.many
def test_samples_that_missed_a_collision_are_put_right():
    """With so few samples pairs of the UR5 that do touch go unseen; the proof meets some of them."""
    one = robot("ur5")
    few, more = allow_by_sampling(one, 5, prove=0), allow_by_sampling(one, 5, prove=2000)
    assert set(more) < set(few)
    dropped = set(few) - set(more)
    assert {pair.reason for pair in dropped} == {"never"}
    pairs = np.array([[one.link_number(each.link_a), one.link_number(each.link_b)] for each in dropped])
    assert LinkPairs(one, pairs).touch(some(one, 5000)).any(axis=0).all()
