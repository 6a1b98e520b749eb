"""Pairs that are left unchecked: read from an SRDF, edited, written back."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pinocchio
import pytest
from example_robots import SHARE, SRDFS, URDFS, robot, twin

from gjk3d.errors import Gjk3dError, ParseError, RobotError
from gjk3d.robot import AllowedPairs, Robot
from gjk3d.robot.allowed import read_srdf

LINKS = ["base", "arm", "hand"]


def with_srdf(name):
    return Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name], geometry="hull")


@pytest.mark.parametrize("name", SRDFS)
def test_the_pairs_that_pinocchio_checks(name):
    """Those of geometries, of joints that move against each other, without those that the SRDF disables."""
    one, other = with_srdf(name), twin(name)
    shapes = pinocchio.buildGeomFromUrdf(
        other.model, str(SHARE / URDFS[name]), pinocchio.GeometryType.COLLISION, package_dirs=[str(SHARE.parents[1])]
    )
    shapes.addAllCollisionPairs()
    pinocchio.removeCollisionPairs(other.model, shapes, str(SHARE / SRDFS[name]))
    links = [other.model.frames[each.parentFrame].name for each in shapes.geometryObjects]
    expected = {frozenset((links[pair.first], links[pair.second])) for pair in shapes.collisionPairs}
    assert {frozenset((one.links[a], one.links[b])) for a, b in one.pairs} == expected


@pytest.mark.parametrize("name", SRDFS)
def test_round_trip(name, tmp_path):
    one = with_srdf(name)
    one.to_srdf(tmp_path / "again.srdf")
    again = Robot.from_urdf(SHARE / URDFS[name], tmp_path / "again.srdf", geometry="hull")
    assert list(again.allowed) == list(one.allowed)
    assert again.states == one.states
    assert len(one.allowed) > 5
    again.to_srdf(tmp_path / "once more.srdf")
    assert (tmp_path / "again.srdf").read_text() == (tmp_path / "once more.srdf").read_text()
    groups = (SHARE / SRDFS[name]).read_text().count("<group ")
    assert (tmp_path / "again.srdf").read_text().count("<group ") == groups


def test_without_an_srdf_neighbours_are_allowed():
    one = robot("ur5")
    assert one.allowed.reason("shoulder_link", "upper_arm_link") == "adjacent"
    assert one.allowed.reason("shoulder_link", "forearm_link") is None
    assert one.allowed.reason("wrist_2_link", "ee_link") == "adjacent", "it is fixed to wrist_3_link"
    assert one.allowed.counts() == {"adjacent": 8}


def test_links_joined_by_fixed_joints_are_never_checked():
    one = with_srdf("panda")
    one.allowed.forbid_reason("never")
    for reason in one.allowed.counts():
        one.allowed.forbid_reason(reason)
    assert not len(one.allowed)
    a, b = one.link_number("panda_link7"), one.link_number("panda_hand")
    assert one.rigid[a] == one.rigid[b]
    assert [a, b] not in one.pairs.tolist()
    shaped = {each.link for each in one.geometries}
    assert len(one.pairs) == len(shaped) * (len(shaped) - 1) / 2 - 1


def test_edit_by_name():
    one = robot("panda")
    one = copy.deepcopy(one)
    before = len(one.pairs)
    one.allowed.allow("panda_hand", "panda_link0", "we know better")
    assert one.allowed.reason("panda_link0", "panda_hand") == "we know better"
    assert len(one.pairs) == before - 1
    assert len(robot("panda").pairs) == before, "a deep copy is one's own"
    one.allowed.forbid("panda_link0", "panda_hand")
    one.allowed.forbid("panda_link0", "panda_hand")
    assert len(one.pairs) == before
    back = pickle.loads(pickle.dumps(one))
    assert list(back.allowed) == list(one.allowed)
    q = np.full(one.dof, 0.02)
    assert np.array_equal(back.link_poses(q), one.link_poses(q))


def test_named_poses():
    one = with_srdf("panda")
    assert list(one.states) == ["default"]
    q = one.state("default")
    assert q[one.columns["panda_joint4"]][0] == one.states["default"]["panda_joint4"][0] == -2.35619
    assert one.state("default", np.full(one.dof, 0.5)).max() == max(0.5, q.max())
    with pytest.raises(RobotError, match=r"'ready'.*default"):
        one.state("ready")
    with pytest.raises(RobotError, match=r"'ready'.*srdf="):
        robot("panda").state("ready")


def srdf(tmp_path, text):
    file = tmp_path / "a.srdf"
    file.write_text(f"<robot name='r'>{text}</robot>")
    return read_srdf(file, LINKS)


def test_what_an_srdf_may_say(tmp_path):
    got = srdf(
        tmp_path,
        "<disable_default_collisions link='hand'/><enable_collisions link1='arm' link2='hand'/>"
        "<disable_collisions link1='base' link2='arm' reason='Adjacent'/>"
        "<disable_collisions link1='base' link2='other'/><disable_collisions link1='arm' link2='arm'/>"
        "<group_state name='up' group='a'><joint name='j' value='1'/></group_state>"
        "<group_state name='up' group='b'><joint name='k' value='1 2 3'/></group_state>",
    )
    assert [tuple(pair) for pair in got.allowed] == [
        ("base", "arm", "adjacent"),
        ("base", "hand", "default link"),
    ]
    assert [tuple(pair) for pair in got.allowed.unknown] == [("base", "other", "user")]
    assert got.states == {"a/up": {"j": (1.0,)}, "b/up": {"k": (1.0, 2.0, 3.0)}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<disable_collisions link1='base'/>", "disable_collisions.*link2="),
        ("<group_state name='a'><joint name='j' value='up'/></group_state>", "'a'.*'j'.*value='up'"),
        ("<group_state name='a' group='g'/><group_state name='a' group='g'/>", "group_state 'a'.*'g/a'"),
        ("<group", "XML"),
    ],
)
def test_a_bad_srdf(tmp_path, text, says):
    with pytest.raises(ParseError, match=says):
        srdf(tmp_path, text)


def test_names_that_are_not_there():
    allowed = AllowedPairs(LINKS)
    with pytest.raises(RobotError, match=r"'foot'.*base, arm, hand"):
        allowed.allow("base", "foot")
    with pytest.raises(RobotError, match="'arm' twice"):
        allowed.forbid("arm", "arm")
    with pytest.raises(Gjk3dError):
        ("base", "foot") in allowed  # noqa: B015
    assert ("base", "arm") not in allowed


def test_allowed_is_set_by_names():
    one = Robot.from_urdf(SHARE / URDFS["panda"], geometry="hull")
    one.allowed = [("panda_link0", "panda_link2"), ("panda_link1", "panda_link3", "close")]
    assert one.allowed.reason("panda_link2", "panda_link0") == "user"
    assert one.allowed.reason("panda_link1", "panda_link3") == "close"
    one.allowed = one.allowed.copy()
    for wrong, text in (
        ([("typo", "panda_link0")], "'typo'.*panda_link0, panda_link1"),
        (["panda_link0"], "'panda_link0'.*names"),
        (AllowedPairs(["a", "b"]), "other links"),
    ):
        with pytest.raises(RobotError, match=text):
            one.allowed = wrong


def test_an_srdf_of_another_robot_and_a_urdf_are_told():
    panda, ur5 = SHARE / URDFS["panda"], SHARE / URDFS["ur5"]
    with pytest.raises(ParseError, match=r"panda\.urdf .*SRDF.*URDF"):
        Robot.from_urdf(panda, srdf=panda)
    with pytest.raises(ParseError, match=r"panda\.srdf .* 35 .*'panda_hand'.*'panda_leftfinger'"):
        Robot.from_urdf(ur5, srdf=SHARE / SRDFS["panda"])
