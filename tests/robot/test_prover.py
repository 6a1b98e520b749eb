"""Proofs that links never collide, and the bounds that these proofs use."""

from __future__ import annotations

from fractions import Fraction
from math import acos, degrees

import numpy as np
import pytest
from example_robots import robot, some
from message_checks import assert_names

from gjk3d.robot import Robot, allow_by_sampling
from gjk3d.robot.cell import Base, build
from gjk3d.robot.queries import every
from gjk3d.robot.sampling import FREE, HIT, OPEN, LinkPairs, Proofs, change_of_distances

# a ball of radius 0.2 moves on a circle of radius 1; a ball of radius 0.3 is fixed at (-1, 0, 0)
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
# The balls touch if the distance of their centres is 0.5, which is the case at this angle on the circle.
TOUCH = np.pi - acos(1 - 0.5**2 / 2)


def prove(one, a, b, most):
    return Proofs(one, one.lower, one.upper, np.array([[a, b]])).verdict((a, b), most)


def arm(tmp_path, low, high):
    file = tmp_path / "r.urdf"
    file.write_text(ARM.replace("LOW", str(low)).replace("HIGH", str(high)))
    return Robot.from_urdf(file)


@pytest.mark.many
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago"])
def test_distance_change_stays_within_bound(name):
    """The bound applies between any two configurations, for pairs of links of the whole robot and all joint types."""
    loaded = robot(name)
    low, high = np.maximum(loaded.lower, -3), np.minimum(loaded.upper, 3)
    pairs = loaded.all_pairs()
    rng = np.random.default_rng(5)
    tightest = 0.0
    for a, b in pairs[rng.choice(len(pairs), 12, replace=False)].tolist():
        cell = build(Base(loaded, np.array([[a, b]]), hulls=True))
        weights, _ = change_of_distances(cell, low, high)
        q = some(loaded, 40, seed=a)
        near = np.clip(q + rng.normal(size=q.shape) * rng.choice([0.01, 0.3], size=(40, 1)), low, high)
        first, second = (every(cell, rows, np.full(len(weights), 1e50))[0][..., 0] for rows in (q, near))
        allowed = np.abs(near - q) @ weights.T
        assert (np.abs(first - second) <= allowed + 1e-9).all()
        tightest = max(tightest, float((np.abs(first - second) / allowed).max(initial=0.0, where=allowed > 0)))
    assert tightest > 0.05


def test_arm_that_stops_before_contact_is_proven(tmp_path):
    """The links touch at an angle of about 151.0 degrees."""
    assert degrees(TOUCH) == pytest.approx(151.0, abs=0.05)
    loaded = arm(tmp_path, -TOUCH + 0.02, TOUCH - 0.02)
    assert prove(loaded, 0, 2, 100_000) == FREE
    assert prove(loaded, 2, 0, 100_000) == FREE, "whichever is named first"


@pytest.mark.parametrize("over", [0.02, 0.3])
def test_arm_that_can_touch_is_not_proven(tmp_path, over):
    loaded = arm(tmp_path, -1.0, TOUCH + over)
    assert prove(loaded, 0, 2, 3) == OPEN
    assert prove(loaded, 0, 2, 100_000) == HIT


FAR = """<robot name="far"><link name="world"/>
  <link name="a"><collision><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="m"><collision><origin xyz="0 5 0"/><geometry><sphere radius="0.25"/></geometry></collision></link>
  <link name="b"><collision><geometry><sphere radius="RADIUS"/></geometry></collision></link>
  <joint name="far" type="fixed"><parent link="world"/><child link="a"/><origin xyz="1e8 0 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="m"/><origin xyz="ORIGIN 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0.25" upper="0.25"/></joint>
  <joint name="end" type="prismatic"><parent link="m"/><child link="b"/><limit lower="0" upper="0"/></joint>
</robot>"""


def test_links_separated_only_by_rounding_are_not_proven():
    """Two balls overlap by 1e-9, but coordinates of 1e8 are rounded by up to 7e-9 and show a gap of 1e-9."""
    origin, radius = 0.25 - 2e-9, 0.25 - 1e-9
    assert Fraction(origin) + Fraction(1, 4) < Fraction(1, 4) + Fraction(radius)
    loaded = Robot.load(FAR.replace("ORIGIN", repr(origin)).replace("RADIUS", repr(radius)))
    assert not LinkPairs(loaded, np.array([[1, 3]])).touch(np.array([[0.25, 0.0]])).any()
    assert prove(loaded, 1, 3, 100) == OPEN
    made = allow_by_sampling(loaded, 10)
    assert made.reason("a", "b") == "never"
    assert made.proven == []


@pytest.mark.many
def test_proven_pairs_of_panda_never_touch_in_samples():
    panda = robot("panda")
    made = allow_by_sampling(panda, 500)
    assert len(made.proven) >= 10
    assert all(made.reason(a, b) == "never" for a, b in made.proven)
    assert_names(made.evidence, f"{len(made.proven)} pairs", "Proven")
    assert not allow_by_sampling(panda, 500, prove=0).proven
    assert made.copy().proven == made.proven
    pairs = np.array([[panda.link_number(a), panda.link_number(b)] for a, b in made.proven])
    q = some(panda, 3000, seed=9)
    # include configurations at the joint limits
    ends = np.random.default_rng(1).integers(0, 2, q.shape).astype(bool)
    q[:1000] = np.where(ends, panda.lower, panda.upper)[:1000]
    assert not LinkPairs(panda, pairs).touch(q).any()


@pytest.mark.many
def test_proof_finds_collisions_that_samples_missed():
    """Five samples miss pairs of the UR5 that collide. The proof finds some of these collisions."""
    ur5 = robot("ur5")
    few, more = allow_by_sampling(ur5, 5, prove=0), allow_by_sampling(ur5, 5, prove=2000)
    assert set(more) < set(few)
    dropped = set(few) - set(more)
    assert {pair.reason for pair in dropped} == {"never"}
    pairs = np.array([[ur5.link_number(link_pair.link_a), ur5.link_number(link_pair.link_b)] for link_pair in dropped])
    assert LinkPairs(ur5, pairs).touch(some(ur5, 5000)).any(axis=0).all()
