"""Which links touch, and which pairs need no check, against pinocchio and coal."""

from __future__ import annotations

import re

import numpy as np
import pinocchio
import pytest
from example_robots import SHARE, SRDFS, URDFS, hulls_of, robot, some, twin

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Robot, allow_by_sampling
from gjk3d.robot.sampling import LinkPairs


@pytest.mark.full
@pytest.mark.many
@pytest.mark.parametrize("name", URDFS)
def test_the_links_that_touch(name):
    """Of hulls, in 100 configurations: every pair of links, by the sign of coal's distance.

    coal 3.0.3's own boolean misses a few overlaps of these, down to 45 mm deep, that its distance sees.
    """
    one, other = robot(name, "hull"), twin(name)
    q = some(one, 100)
    pairs = one.all_pairs()
    hits = LinkPairs(one, pairs).touch(q)
    shapes, links = hulls_of(name)
    number = {frozenset(pair): k for k, pair in enumerate(pairs.tolist())}
    of = [
        number[frozenset((one.link_number(links[pair.first]), one.link_number(links[pair.second])))]
        for pair in shapes.collisionPairs
    ]
    data = pinocchio.GeometryData(shapes)
    expected = np.zeros_like(hits)
    for k, row in enumerate(q):
        pinocchio.computeDistances(other.model, other.data, shapes, data, other.numbers(row))
        for pair, result in zip(of, data.distanceResults, strict=True):
            expected[k, pair] |= result.min_distance <= 0.0
    assert 0 < expected.mean() < 0.5
    assert (hits == expected).all()


@pytest.mark.many
def test_bodies_touch_less_than_hulls_and_more_than_meshes():
    q = some(robot("ur5"), 60)
    pairs = robot("ur5").all_pairs()
    mesh, bodies, hull = (LinkPairs(robot("ur5", way), pairs).touch(q) for way in ("mesh", "bodies", "hull"))
    assert not (mesh & ~bodies).any()
    assert not (bodies & ~hull).any()
    assert mesh.sum() < bodies.sum() < hull.sum()


@pytest.mark.many
def test_panda_as_its_makers_have_it():
    """Panda's own SRDF was made in the same way, by MoveIt with 10 000 samples; it has no welds in mind."""
    one = robot("panda")
    free = np.where((one.lower <= 0.0) & (one.upper >= 0.0), 0.0, (one.lower + one.upper) / 2)
    made = allow_by_sampling(one, 10_000, default=free)
    read = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"]).allowed
    assert [pair[:2] for pair in made] == [pair[:2] for pair in read]
    welded = {("panda_link6", "panda_hand"), ("panda_link7", "panda_leftfinger"), ("panda_link7", "panda_rightfinger")}
    assert {pair[:2] for pair in set(made) - set(read)} == welded, "link7 and the hand are one body"
    assert {made.reason(*pair) for pair in welded} == {"adjacent"}
    assert {read.reason(*pair) for pair in welded} == {"never"}
    assert "10000 configurations" in made.evidence
    assert "0.0003" in made.evidence


def test_the_share_that_is_stated():
    """0 of n seen: the largest share of which that has a chance of 5 %."""
    evidence = allow_by_sampling(robot("panda"), 20).evidence
    share = float(re.search(r"less than (\S+) of", evidence)[1])
    assert (1.0 - share) ** 20 == pytest.approx(0.05, rel=0.05)


@pytest.mark.many
def test_reasons_of_the_user_are_kept_and_sampled_ones_are_not():
    one = Robot.from_urdf(SHARE / URDFS["panda"])
    one.allowed.allow("panda_link0", "panda_hand", "by hand")
    one.allowed.allow("panda_link0", "panda_link5", "never")
    before = list(one.allowed)
    got = allow_by_sampling(one, 300)
    assert list(one.allowed) == before
    assert got.reason("panda_link0", "panda_hand") == "by hand"
    assert got.reason("panda_link0", "panda_link5") is None, "it does touch in some of the samples"
    assert list(allow_by_sampling(one, 300)) == list(got), "one seed, one answer"


@pytest.mark.many
def test_a_default_of_the_file_is_kept_unless_another_one_is_given():
    one = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"])
    pairs = {pair[:2] for pair in one.allowed if pair.reason == "default"}
    assert len(pairs) == 3
    kept = allow_by_sampling(one, 300, prove=0)
    assert {pair[:2] for pair in kept if pair.reason == "default"} == pairs
    ready = allow_by_sampling(one, 300, prove=0, default=one.state("default"))
    assert not any(ready.reason(*pair) == "default" for pair in pairs), "they are free in the pose of the file"


ALWAYS = """<robot name="r">
  <link name="a"><collision><geometry><sphere radius="1"/></geometry></collision></link>
  <link name="m"><collision><origin xyz="9 0 0"/><geometry><sphere radius="1"/></geometry></collision></link>
  <link name="b"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="one" type="continuous"><parent link="a"/><child link="m"/></joint>
  <joint name="two" type="TYPE"><parent link="m"/><child link="b"/><origin xyz="X 0 0"/><axis xyz="AXIS"/></joint>
</robot>"""


def made(tmp_path, kind, x):
    file = tmp_path / "r.urdf"
    file.write_text(
        ALWAYS.replace("TYPE", kind).replace("AXIS", "0 0 1" if kind == "planar" else "1 0 0").replace("X", str(x))
    )
    return Robot.from_urdf(file)


def test_always(tmp_path):
    one = made(tmp_path, "continuous", 0.5)
    assert allow_by_sampling(one, 50).reason("a", "b") == "always"
    assert allow_by_sampling(one, 50, default=[0.0, 0.0]).reason("a", "b") == "default"
    one = made(tmp_path, "prismatic", 1.2)
    got = allow_by_sampling(one, 50, default=[0.0, 9.0], lower=[-1, -1], upper=[1, -0.2])
    assert got.reason("a", "b") == "always"
    assert allow_by_sampling(made(tmp_path, "continuous", 4), 50).reason("a", "b") == "never"


def test_sliding_without_limits(tmp_path):
    with pytest.raises(RobotError, match=r"'two'.*'a'.*'b'.*lower=.*upper="):
        allow_by_sampling(made(tmp_path, "floating", 4), 50)
    one = made(tmp_path, "planar", 4)
    low, high = [-1, -9, -9, -1], [1, 9, 9, 1]
    assert allow_by_sampling(one, 500, lower=low, upper=high).reason("a", "b") is None
    with pytest.raises(RobotError, match=r"lower\[0\].*\b2\b.*upper\[0\].*\b1\b"):
        allow_by_sampling(one, 5, lower=[2, 0, 0, 0], upper=[1, 1, 1, 1])


@pytest.mark.parametrize("samples", [0, -1, 2.5, True, "many"])
def test_how_many(samples):
    with pytest.raises(RobotError, match=f"samples.*{samples!r}"):
        allow_by_sampling(robot("panda"), samples)


def test_no_configurations_and_no_pairs():
    pairs = robot("panda").all_pairs()
    assert LinkPairs(robot("panda"), pairs).touch(np.zeros((0, 8))).shape == (0, len(pairs))
    assert LinkPairs(robot("panda"), np.zeros((0, 2), dtype=int)).touch(np.zeros((3, 8))).shape == (3, 0)
    assert gk.robot.Robot is Robot


def test_what_collides_only_sometimes_stays_checked(tmp_path):
    # in collision where all joints are 0, and free elsewhere: nobody said that 0 is free
    one = made(tmp_path, "prismatic", 1.2)
    assert LinkPairs(one, one.all_pairs()).touch(np.zeros((1, one.dof))).any()
    got = allow_by_sampling(one, 200, lower=[-3, -3], upper=[3, 3])
    assert got.reason("a", "b") is None
    known = allow_by_sampling(one, 200, default=[0.0, 0.0], lower=[-3, -3], upper=[3, 3])
    assert known.reason("a", "b") == "default"
    assert "default" in known.evidence
    assert "default" not in got.evidence
