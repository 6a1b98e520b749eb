"""Pairs of links that touch, and pairs that need no check, compared with pinocchio and coal."""

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
def test_touching_links_agree_with_coal(name):
    """Every pair of convex hulls in 100 configurations agrees with the sign of coal's distance.

    The boolean of coal 3.0.3 misses some overlaps of up to 45 mm that its distance reports.
    """
    loaded, reference = robot(name, "hull"), twin(name)
    q = some(loaded, 100)
    pairs = loaded.all_pairs()
    hits = LinkPairs(loaded, pairs).touch(q)
    shapes, links = hulls_of(name)
    number = {frozenset(pair): k for k, pair in enumerate(pairs.tolist())}
    of = [
        number[frozenset((loaded.link_number(links[pair.first]), loaded.link_number(links[pair.second])))]
        for pair in shapes.collisionPairs
    ]
    data = pinocchio.GeometryData(shapes)
    expected = np.zeros_like(hits)
    for k, row in enumerate(q):
        pinocchio.computeDistances(reference.model, reference.data, shapes, data, reference.numbers(row))
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
def test_sampled_pairs_agree_with_srdf_of_panda():
    """MoveIt computed the SRDF of panda from 10 000 samples in the same way, but without welded links."""
    panda = robot("panda")
    free = np.where((panda.lower <= 0.0) & (panda.upper >= 0.0), 0.0, (panda.lower + panda.upper) / 2)
    made = allow_by_sampling(panda, 10_000, default=free)
    read = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"]).allowed
    assert [pair[:2] for pair in made] == [pair[:2] for pair in read]
    welded = {("panda_link6", "panda_hand"), ("panda_link7", "panda_leftfinger"), ("panda_link7", "panda_rightfinger")}
    assert {pair[:2] for pair in set(made) - set(read)} == welded, "link7 and the hand are one body"
    assert {made.reason(*pair) for pair in welded} == {"adjacent"}
    assert {read.reason(*pair) for pair in welded} == {"never"}
    assert "10000 configurations" in made.evidence
    assert "0.0003" in made.evidence


def test_evidence_reports_share_with_5_percent_chance():
    """If none of n samples collides, the evidence reports the largest share with a probability of 5 %."""
    evidence = allow_by_sampling(robot("panda"), 20).evidence
    share = float(re.search(r"less than (\S+) of", evidence)[1])
    assert (1.0 - share) ** 20 == pytest.approx(0.05, rel=0.05)


@pytest.mark.many
def test_sampling_keeps_only_reasons_of_the_user():
    panda = Robot.from_urdf(SHARE / URDFS["panda"])
    panda.allowed.allow("panda_link0", "panda_hand", "by hand")
    panda.allowed.allow("panda_link0", "panda_link5", "never")
    before = list(panda.allowed)
    got = allow_by_sampling(panda, 300)
    assert list(panda.allowed) == before
    assert got.reason("panda_link0", "panda_hand") == "by hand"
    assert got.reason("panda_link0", "panda_link5") is None, "it does touch in some of the samples"
    assert list(allow_by_sampling(panda, 300)) == list(got), "one seed, one answer"


@pytest.mark.many
def test_srdf_default_is_kept_unless_replaced():
    panda = Robot.from_urdf(SHARE / URDFS["panda"], SHARE / SRDFS["panda"])
    pairs = {pair[:2] for pair in panda.allowed if pair.reason == "default"}
    assert len(pairs) == 3
    allowed = allow_by_sampling(panda, 300, prove=0)
    assert {pair[:2] for pair in allowed if pair.reason == "default"} == pairs
    ready = allow_by_sampling(panda, 300, prove=0, default=panda.state("default"))
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


def test_pairs_that_always_touch(tmp_path):
    loaded = made(tmp_path, "continuous", 0.5)
    assert allow_by_sampling(loaded, 50).reason("a", "b") == "always"
    assert allow_by_sampling(loaded, 50, default=[0.0, 0.0]).reason("a", "b") == "default"
    loaded = made(tmp_path, "prismatic", 1.2)
    got = allow_by_sampling(loaded, 50, default=[0.0, 9.0], lower=[-1, -1], upper=[1, -0.2])
    assert got.reason("a", "b") == "always"
    assert allow_by_sampling(made(tmp_path, "continuous", 4), 50).reason("a", "b") == "never"


def test_sliding_joints_without_limits_need_bounds(tmp_path):
    with pytest.raises(RobotError, match=r"'two'.*'a'.*'b'.*lower=.*upper="):
        allow_by_sampling(made(tmp_path, "floating", 4), 50)
    loaded = made(tmp_path, "planar", 4)
    low, high = [-1, -9, -9, -1], [1, 9, 9, 1]
    assert allow_by_sampling(loaded, 500, lower=low, upper=high).reason("a", "b") is None
    with pytest.raises(RobotError, match=r"lower\[0\].*\b2\b.*upper\[0\].*\b1\b"):
        allow_by_sampling(loaded, 5, lower=[2, 0, 0, 0], upper=[1, 1, 1, 1])


@pytest.mark.parametrize("samples", [0, -1, 2.5, True, "many"])
def test_invalid_sample_counts_raise(samples):
    with pytest.raises(RobotError, match=f"samples.*{samples!r}"):
        allow_by_sampling(robot("panda"), samples)


def test_touch_without_configurations_or_pairs():
    pairs = robot("panda").all_pairs()
    assert LinkPairs(robot("panda"), pairs).touch(np.zeros((0, 8))).shape == (0, len(pairs))
    assert LinkPairs(robot("panda"), np.zeros((0, 2), dtype=int)).touch(np.zeros((3, 8))).shape == (3, 0)
    assert gk.robot.Robot is Robot


def test_pairs_that_sometimes_collide_stay_checked(tmp_path):
    # the pair collides if all joints are 0 and is free elsewhere; without a default, 0 is not assumed free
    loaded = made(tmp_path, "prismatic", 1.2)
    assert LinkPairs(loaded, loaded.all_pairs()).touch(np.zeros((1, loaded.dof))).any()
    got = allow_by_sampling(loaded, 200, lower=[-3, -3], upper=[3, 3])
    assert got.reason("a", "b") is None
    with_default = allow_by_sampling(loaded, 200, default=[0.0, 0.0], lower=[-3, -3], upper=[3, 3])
    assert with_default.reason("a", "b") == "default"
    assert "default" in with_default.evidence
    assert "default" not in got.evidence
