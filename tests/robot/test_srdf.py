"""Pairs without a check: read from an SRDF, edited and written back."""

from __future__ import annotations

import copy
import pickle
from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest
from example_robots import SHARE, SRDFS, URDFS, robot, twin
from message_checks import assert_names

from gjk3d.errors import Gjk3dError, ParseError, RobotError, RobotWarning
from gjk3d.robot import AllowedPairs, Robot
from gjk3d.robot.srdf import read_srdf

LINKS = ["base", "arm", "hand"]


def with_srdf(name):
    return Robot.from_urdf(SHARE / URDFS[name], SHARE / SRDFS[name], geometry="hull")


@pytest.mark.parametrize("name", SRDFS)
def test_checked_pairs_are_those_of_pinocchio(name):
    """Checked pairs are those of pinocchio: shapes of different joints that the SRDF does not disable."""
    loaded, reference = with_srdf(name), twin(name)
    shapes = pinocchio.buildGeomFromUrdf(
        reference.model,
        str(SHARE / URDFS[name]),
        pinocchio.GeometryType.COLLISION,
        package_dirs=[str(SHARE.parents[1])],
    )
    shapes.addAllCollisionPairs()
    pinocchio.removeCollisionPairs(reference.model, shapes, str(SHARE / SRDFS[name]))
    links = [reference.model.frames[geometry.parentFrame].name for geometry in shapes.geometryObjects]
    expected = {frozenset((links[pair.first], links[pair.second])) for pair in shapes.collisionPairs}
    assert {frozenset((loaded.links[a], loaded.links[b])) for a, b in loaded.pairs} == expected


@pytest.mark.parametrize("name", SRDFS)
def test_srdf_round_trip(name, tmp_path):
    loaded = with_srdf(name)
    loaded.to_srdf(tmp_path / "again.srdf")
    again = Robot.from_urdf(SHARE / URDFS[name], tmp_path / "again.srdf", geometry="hull")
    assert list(again.allowed) == list(loaded.allowed)
    assert again.states == loaded.states
    assert len(loaded.allowed) > 5
    again.to_srdf(tmp_path / "once more.srdf")
    assert (tmp_path / "again.srdf").read_text() == (tmp_path / "once more.srdf").read_text()
    groups = (SHARE / SRDFS[name]).read_text().count("<group ")
    assert (tmp_path / "again.srdf").read_text().count("<group ") == groups


def test_adjacent_links_are_allowed_without_srdf():
    ur5 = robot("ur5")
    assert ur5.allowed.reason("shoulder_link", "upper_arm_link") == "adjacent"
    assert ur5.allowed.reason("shoulder_link", "forearm_link") is None
    assert ur5.allowed.reason("wrist_2_link", "ee_link") == "adjacent", "it is fixed to wrist_3_link"
    assert ur5.allowed.counts() == {"adjacent": 8}


def test_links_with_fixed_joints_are_never_checked():
    panda = with_srdf("panda")
    panda.allowed.forbid_reason("never")
    for reason in panda.allowed.counts():
        panda.allowed.forbid_reason(reason)
    assert not len(panda.allowed)
    a, b = panda.link_number("panda_link7"), panda.link_number("panda_hand")
    assert panda.rigid[a] == panda.rigid[b]
    assert [a, b] not in panda.pairs.tolist()
    shaped = {geometry.link for geometry in panda.geometries}
    assert len(panda.pairs) == len(shaped) * (len(shaped) - 1) / 2 - 1


def test_allowed_pairs_are_edited_by_name():
    panda = robot("panda")
    panda = copy.deepcopy(panda)
    before = len(panda.pairs)
    panda.allowed.allow("panda_hand", "panda_link0", "we know better")
    assert panda.allowed.reason("panda_link0", "panda_hand") == "we know better"
    assert len(panda.pairs) == before - 1
    assert len(robot("panda").pairs) == before, "a deep copy is one's own"
    panda.allowed.forbid("panda_link0", "panda_hand")
    panda.allowed.forbid("panda_link0", "panda_hand")
    assert len(panda.pairs) == before
    back = pickle.loads(pickle.dumps(panda))
    assert list(back.allowed) == list(panda.allowed)
    q = np.full(panda.dof, 0.02)
    assert np.array_equal(back.link_poses(q), panda.link_poses(q))


def test_named_poses():
    panda = with_srdf("panda")
    assert list(panda.states) == ["default"]
    q = panda.state("default")
    assert q[panda.columns["panda_joint4"]][0] == panda.states["default"]["panda_joint4"][0] == -2.35619
    assert panda.state("default", np.full(panda.dof, 0.5)).max() == max(0.5, q.max())
    with pytest.raises(RobotError, match=r"'ready'.*default"):
        panda.state("ready")
    with pytest.raises(RobotError, match=r"'ready'.*srdf="):
        robot("panda").state("ready")


def srdf(tmp_path, text):
    file = tmp_path / "a.srdf"
    file.write_text(f"<robot name='r'>{text}</robot>")
    return read_srdf(file, LINKS)


def test_srdf_elements_are_read(tmp_path):
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


ARM = """
<robot name="r"><link name="root"/><link name="upper"/><link name="lower"/><link name="hand"/><link name="left"/>
<link name="right"/>
<joint name="shoulder" type="continuous"><parent link="root"/><child link="upper"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/></joint>
<joint name="wrist" type="fixed"><parent link="lower"/><child link="hand"/></joint>
<joint name="finger" type="continuous"><parent link="hand"/><child link="left"/></joint>
<joint name="thumb" type="continuous"><parent link="hand"/><child link="right"/><mimic joint="finger"/></joint></robot>
"""


def grouped(tmp_path, text):
    """Return the example arm with the groups of an SRDF."""
    file = tmp_path / "a.srdf"
    file.write_text(f"<robot name='r'>{text}</robot>")
    return Robot.from_urdf(ARM, srdf=file)


@pytest.mark.parametrize(
    ("text", "joints"),
    [
        ("<joint name='elbow'/><joint name='shoulder'/><joint name='wrist'/>", ("shoulder", "elbow")),
        ("<link name='lower'/><link name='root'/><link name='right'/>", ("elbow",)),
        ("<chain base_link='root' tip_link='hand'/>", ("shoulder", "elbow")),
        ("<chain base_link='upper' tip_link='left'/>", ("elbow", "finger")),
        ("<chain base_link='odom' tip_link='upper'/>", ("shoulder",)),
        ("<chain base_link='left' tip_link='right'/>", ("finger",)),  # the chain goes through the hand, as in MoveIt
        ("<joint name='base'/><group name='fingers'/><group name='loop'/>", ("elbow", "finger")),
        ("", ()),
    ],
)
def test_srdf_groups_are_resolved(tmp_path, text, joints):
    others = (
        "<group name='fingers'><link name='left'/></group>"
        "<group name='loop'><group name='back'/></group>"
        "<group name='back'><joint name='elbow'/><group name='loop'/></group>"
        "<virtual_joint name='base' type='fixed' parent_frame='odom' child_link='root'/>"
    )
    with pytest.warns(RobotWarning, match="virtual_joint"):
        loaded = grouped(tmp_path, f"<group name='g'>{text}</group>{others}")
    assert loaded.groups == {"g": joints, "fingers": ("finger",), "loop": ("elbow",), "back": ("elbow",)}
    assert loaded.held([0.0, 0.0, 0.0], ["shoulder"]).groups["g"] == tuple(
        joint for joint in joints if joint != "shoulder"
    )
    assert Robot.join({"a": loaded, "b": loaded}).groups["b/g"] == tuple(f"b/{joint}" for joint in joints)
    assert pickle.loads(pickle.dumps(loaded)).at(None).groups == loaded.groups


def test_size_of_nested_groups_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr("gjk3d.robot.srdf.MAX_JOINTS", 30)
    text = "<group name='0'><joint name='elbow'/></group>"
    text += "".join(f"<group name='{k}'><group name='{k - 1}'/></group>" for k in range(1, 40))
    with pytest.raises(ParseError) as error:
        grouped(tmp_path, text)
    assert_names(error.value, "groups", "30", "Remove")


def test_unused_srdf_elements_warn(tmp_path):
    text = (
        "<end_effector name='tool' parent_link='hand' group='g'/><passive_joint name='elbow'/><specificities/>"
        "<virtual_joint name='drive' type='planar' parent_frame='odom' child_link='root'/>"
        "<group name='g'><joint name='knee'/><link name='foot'/><group name='leg'/><joint name='drive'/></group>"
    )
    with pytest.warns(RobotWarning) as warned:
        loaded = grouped(tmp_path, text)
    first, second = warned
    assert_names(first.message, "a.srdf", "joint 'knee'", "link 'foot'", "group 'leg'", "'g'")
    assert_names(
        second.message, "<end_effector> tool", "<virtual_joint> drive", "<passive_joint> elbow", "specificities"
    )
    assert loaded.groups == {"g": ()}
    loaded.to_srdf(tmp_path / "b.srdf")
    assert_names((tmp_path / "b.srdf").read_text(), "tool", "drive", "foot")


@pytest.mark.parametrize("name", ["panda", "talos"])
def test_groups_of_real_robots_agree_with_pinocchio(name):
    """The joints of a chain are those that support exactly one of its two links in pinocchio."""
    loaded, model = with_srdf(name), twin(name).model
    root = ElementTree.parse(SHARE / SRDFS[name]).getroot()
    groups = {group.get("name"): group for group in root.iterfind("group")}
    supports = {frame.name: {model.names[k] for k in model.supports[frame.parentJoint]} for frame in model.frames}

    def joints(group):
        chains = [supports[each.get("base_link")] ^ supports[each.get("tip_link")] for each in group.iter("chain")]
        inner = [joints(groups[each.get("name")]) for each in group.iterfind("group")]
        return set().union({each.get("name") for each in group.iter("joint")}, *chains, *inner)

    expected = {each: tuple(name for name in loaded.joint_names if name in joints(groups[each])) for each in groups}
    assert loaded.groups == expected
    assert all(loaded.groups.values())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<group name='g'/><group name='g'/>", "two groups.*'g'"),
        ("<group name='g'><chain base_link='base'/></group>", "'g'.*chain.*tip_link="),
        ("<disable_collisions link1='base'/>", "disable_collisions.*link2="),
        ("<group_state name='a'><joint name='j' value='up'/></group_state>", "'a'.*'j'.*value='up'"),
        ("<group_state name='a' group='g'/><group_state name='a' group='g'/>", "group_state 'a'.*'g/a'"),
        ("<group", "XML"),
    ],
)
def test_invalid_srdf_raises(tmp_path, text, says):
    with pytest.raises(ParseError, match=says):
        srdf(tmp_path, text)


def test_unknown_link_names_raise():
    allowed = AllowedPairs(LINKS)
    with pytest.raises(RobotError, match=r"'foot'.*'base', 'arm', 'hand'"):
        allowed.allow("base", "foot")
    with pytest.raises(RobotError, match=r"'arm'.*twice"):
        allowed.forbid("arm", "arm")
    with pytest.raises(Gjk3dError):
        ("base", "foot") in allowed  # noqa: B015
    assert ("base", "arm") not in allowed


def test_allowed_is_set_from_names():
    panda = Robot.from_urdf(SHARE / URDFS["panda"], geometry="hull")
    panda.allowed = [("panda_link0", "panda_link2"), ("panda_link1", "panda_link3", "close")]
    assert panda.allowed.reason("panda_link2", "panda_link0") == "user"
    assert panda.allowed.reason("panda_link1", "panda_link3") == "close"
    panda.allowed = panda.allowed.copy()
    for wrong, text in (
        ([("typo", "panda_link0")], "'typo'.*'panda_link0', 'panda_link1'"),
        (["panda_link0"], "'panda_link0'.*names"),
        (AllowedPairs(["a", "b"]), "other links"),
    ):
        with pytest.raises(RobotError, match=text):
            panda.allowed = wrong


def test_srdf_of_other_robot_and_urdf_as_srdf_raise():
    panda, ur5 = SHARE / URDFS["panda"], SHARE / URDFS["ur5"]
    with pytest.raises(ParseError, match=r"panda\.urdf .*SRDF.*URDF"):
        Robot.from_urdf(panda, srdf=panda)
    with pytest.raises(ParseError, match=r"panda\.srdf .* 35 .*'panda_hand'.*'panda_leftfinger'"):
        Robot.from_urdf(ur5, srdf=SHARE / SRDFS["panda"])
