"""Robots from MJCF, xacro and text; links that are drawn and not checked; robots with nothing to check."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import FileError, ParseError, RobotError, RobotWarning, ShapeError
from gjk3d.robot import Checker, Robot, allow_by_sampling

BALL = "<geometry><sphere radius='0.1'/></geometry>"
DRAWN = (
    f"<robot name='r'><link name='a'><visual>{BALL}</visual></link><link name='b'>{{}}</link><joint name='j' "
    "type='prismatic'><parent link='a'/><child link='b'/><limit lower='-1' upper='1'/></joint></robot>"
)

# --- what is drawn and not checked ------------------------------------------------------------------------------------


def test_links_with_a_visual_and_no_collision_are_named():
    with pytest.warns(RobotWarning, match=r'1 link .* a\..*collision="visual".*--collision visual'):
        one = Robot.load(DRAWN.format(f"<collision>{BALL}</collision>"))
    assert [each.link for each in one.geometries] == [1]


def test_what_is_drawn_is_checked_on_request():
    text = DRAWN.format("<visual><geometry><box size='9 9 9'/></geometry></visual>"
                        f"<collision>{BALL}</collision>")  # fmt: skip
    one = Robot.load(text, collision="visual")
    assert [body.shape for body in one.bodies] == [gk.Sphere(0.1), gk.Sphere(0.1)], "b keeps its own"
    one.allowed = []
    assert Checker(one).free([[0.0], [0.5]]).tolist() == [False, True]
    with pytest.raises(ShapeError, match=r"collision='both'.*'collision', 'visual'"):
        Robot.load(text, collision="both")


def test_a_robot_with_nothing_to_check_is_not_free():
    with pytest.warns(RobotWarning):
        one = Robot.load(DRAWN.format(""))
    for question in (
        lambda checker: checker.free([0.0]),
        lambda checker: checker.free([[0.0]]),
        lambda checker: checker.clearance([0.0]),
        lambda checker: checker.motion_free([0.0], [1.0]),
    ):
        with pytest.raises(RobotError, match=r"'r'.*collision=\"visual\".*--collision visual"):
            question(Checker(one, {"wall": (gk.Box((1, 1, 1)), None)}))
    with pytest.raises(RobotError, match=r"'r'.*--collision visual"):
        allow_by_sampling(one)
    held = Checker(one, {"wall": (gk.Box((1, 1, 1)), None)})
    held.attach("tool", gk.Sphere(0.1), "b")
    assert held.free([[0.0], [1.0]]).tolist() == [False, True]


# --- text and xacro ---------------------------------------------------------------------------------------------------


def test_text_has_its_meshes_where_the_process_runs(tmp_path, monkeypatch):
    gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]).to_trimesh(
    ).export(tmp_path / "w.stl")  # fmt: skip
    mesh = "<geometry><mesh filename='w.stl'/></geometry>"
    text = f" <robot name='r'><link name='a'><collision>{mesh}</collision></link></robot>"
    with pytest.raises(FileError, match=r"<text>, link 'a', collision \[0\].*w\.stl"):
        Robot.load(text)
    assert len(Robot.load(text, package_dirs=[tmp_path]).bodies) == 1
    monkeypatch.chdir(tmp_path)
    assert len(Robot.from_urdf(text).bodies) == 1


XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="n" default="2"/>
<xacro:property name="r" value="${0.1 * 2}"/><xacro:macro name="ball" params="name">
<link name="${name}"><collision><geometry><sphere radius="${r}"/></geometry></collision></link></xacro:macro>
<xacro:ball name="a"/><xacro:if value="${$(arg n) > 1}"><xacro:ball name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></xacro:if></robot>"""


def test_xacro(tmp_path):
    pytest.importorskip("xacro")
    (tmp_path / "r.urdf.xacro").write_text(XACRO)
    for source in (tmp_path / "r.urdf.xacro", XACRO):
        one = Robot.load(source)
        assert one.links == ("a", "b")
        assert one.bodies[0].shape == gk.Sphere(0.2)
        assert Robot.load(source, arguments={"n": 1}).links == ("a",)
        with pytest.raises(ParseError, match=r"'m', 'nn'.*<xacro:arg>"):
            Robot.load(source, arguments={"nn": 1, "n": 1, "m": 2})
    with pytest.raises(ParseError, match=r"<text>.*XacroException.*'r'"):
        Robot.load(XACRO.replace('name="r" value', 'name="s" value'))
    loop = f'<xacro:include filename="{tmp_path / "loop.xacro"}"/></robot>'
    (tmp_path / "loop.xacro").write_text(XACRO.replace("</robot>", loop))
    with pytest.raises(ParseError, match=r"loop\.xacro.*recursion"):
        Robot.load(tmp_path / "loop.xacro")
    with pytest.raises(ParseError, match=r"<text>.*xacro.*\bn\b"):
        Robot.load(DRAWN.format(""), arguments={"n": 1})


def test_xacro_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ParseError, match=r"<text>.*pip install xacro$"):
        Robot.load(XACRO)


# --- MJCF -------------------------------------------------------------------------------------------------------------

MJCF = """<mujoco model="m"><compiler angle="radian"/>
<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><geom name="floor" type="plane" size="1 1 1"/><geom name="table" type="box" size=".5 .5 .1" pos="3 0 0"/>
<body name="trunk" pos="1 2 3" quat="1 2 3 4"><freejoint name="root"/>
 <geom type="box" size=".1 .2 .3"/><geom type="sphere" size=".4" contype="0" conaffinity="0"/>
 <body name="arm" pos=".5 0 .2" euler=".1 .2 .3">
  <joint name="hip" axis="0 1 1" pos=".1 .2 .3" range="-1 2" ref=".3"/><joint name="lift" type="slide" axis="1 0 0"/>
  <geom type="capsule" size=".05 .2" euler="0 .5 0"/><geom type="mesh" mesh="wedge" pos="0 0 1" euler="1 0 0"/>
  <body name="hand" pos="0 0 .5"><joint name="knee" axis="0 0 1" pos="0 .1 0"/><geom type="ellipsoid" size=".1 .2 .3"/>
   <body name="tip" pos=".1 0 0"><geom type="cylinder" size=".1 .2"/></body></body>
  <body name="other"><joint name="follower" axis="1 0 0"/><geom type="sphere" size=".1" contype="2" conaffinity="2"/>
   </body></body></body></worldbody>
<contact><exclude body1="trunk" body2="tip"/></contact>
<equality><joint joint1="follower" joint2="knee" polycoef=".1 2 0 0 0"/></equality>
<keyframe><key name="up" qpos="2 2 3 1 0 0 0 .5 .1 .7 0"/></keyframe></mujoco>"""


@pytest.fixture
def mjcf():
    mujoco = pytest.importorskip("mujoco")
    with pytest.warns(RobotWarning, match="'floor'.*'world'.*plane") as told:
        one = Robot.load(MJCF)
    assert {each.filename for each in told} == {__file__}  # the caller's line, not one of ours
    model = mujoco.MjModel.from_xml_string(MJCF)
    return one, mujoco, model, mujoco.MjData(model)


def test_bodies_are_where_mujoco_has_them(mjcf):
    one, mujoco, model, data = mjcf
    assert one.joint_names == ("root", "hip", "lift", "knee")
    assert (one.lower[6], one.upper[6], one.upper[7]) == (-1, 2, np.inf)
    rng = np.random.default_rng(0)
    reference = Rotation.from_quat(model.qpos0[3:7], scalar_first=True)
    for q in [np.zeros(one.dof), *rng.uniform(-1, 1, (20, one.dof))]:
        data.qpos[:3] = model.qpos0[:3] + reference.apply(q[:3])
        data.qpos[3:7] = (reference * Rotation.from_rotvec(q[3:6])).as_quat(scalar_first=True)
        data.qpos[7:] = [*q[6:9], 0.1 + 2 * q[8]]
        mujoco.mj_kinematics(model, data)
        poses = one.link_poses(q)
        for k in range(model.nbody):
            at = poses[one.link_number(model.body(k).name)]
            np.testing.assert_allclose(at[:3, 3], data.xpos[k], atol=1e-12)
            np.testing.assert_allclose(at[:3, :3], data.xmat[k].reshape(3, 3), atol=1e-12)
        for body in one.bodies:
            if isinstance(body.shape, gk.ConvexHull):
                own = int(np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)[0])
                at = poses[body.link] @ body.pose
                np.testing.assert_allclose(at[:3, 3], data.geom_xpos[own], atol=1e-12)
    up = one.state("up")
    data.qpos[:] = model.key_qpos[0]
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(one.link_poses(up)[one.link_number("hand")][:3, 3], data.xpos[3], atol=1e-12)


def test_shapes_and_pairs_of_an_mjcf(mjcf):
    one = mjcf[0]
    shapes = {one.links[body.link]: body.shape for body in one.bodies if not isinstance(body.shape, gk.ConvexHull)}
    assert shapes == {
        "world": gk.Box((1, 1, 0.2)), "trunk": gk.Box((0.2, 0.4, 0.6)), "arm": gk.Capsule(0.05, 0.4),
        "hand": gk.Ellipsoid((0.1, 0.2, 0.3)), "tip": gk.Cylinder(0.1, 0.4), "other": gk.Sphere(0.1),
    }  # fmt: skip
    wedge = next(each for each in one.geometries if each.way == "bodies")
    assert wedge.hull.volume == pytest.approx(1 / 6)
    pairs = {(one.links[a], one.links[b]) for a, b in one.pairs.tolist()}
    # MuJoCo's own filter: the world is adjacent to none, hand and tip are one body, "other" has masks of its own
    assert pairs == {("world", each) for each in ("trunk", "arm", "hand", "tip")} | {("trunk", "hand")}
    assert one.allowed.reason("trunk", "tip") == "exclude"
    assert one.allowed.reason("trunk", "other") == "contype"
    assert one.allowed.reason("arm", "tip") == "adjacent"


def test_a_base_welded_to_the_world_meets_its_child_as_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="base"><geom size=".1"/><body name="stand" pos=".3 0 0"><geom size=".1"/>
     <body name="arm" pos="-.2 0 0"><joint name="j" type="slide" axis="0 0 1"/><geom size=".1"/>
     <body name="hand" pos=".1 0 0"><joint name="k"/><geom size=".1"/></body></body></body></body></worldbody>
     </mujoco>"""
    one = Robot.load(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for q in np.random.default_rng(0).uniform(-0.3, 0.3, (30, 2)):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        owner = [model.body(model.geom_bodyid[g]).name for g in range(model.ngeom)]
        met = {frozenset(map(owner.__getitem__, each.geom)) for each in data.contact[: data.ncon]}
        assert {frozenset(each.pair) for each in gk.robot.Checker(one).collisions(q)} == met
    pairs = {(one.links[a], one.links[b]) for a, b in one.pairs.tolist()}
    assert pairs == {(a, b) for a in ("base", "stand") for b in ("arm", "hand")}


def test_an_mjcf_that_is_not_read(monkeypatch):
    pytest.importorskip("mujoco")
    with pytest.raises(ParseError, match=r"<text>.*MuJoCo.*size 0.*geom"):
        Robot.load("<mujoco><worldbody><geom type='box'/></worldbody></mujoco>")
    ball = "<mujoco><worldbody><body><joint name='b' type='ball'/><geom size='1'/></body></worldbody></mujoco>"
    with pytest.raises(ParseError, match=r"'b'.*ball.*hinges"):
        Robot.load(ball)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r'pip install "gjk3d\[mjcf\]"'):
        Robot.load(ball)


@pytest.mark.parametrize(
    ("body", "joint", "geom", "more", "told"),
    [
        ('pos="nan 0 0"', "", "", "", "body 'b'.*pos.*nan.*1e"),
        ('pos="0 -inf 0"', "", "", "", "body 'b'.*pos.*-inf"),
        ('pos="0 0 1e300"', "", "", "", r"body 'b'.*pos.*1e\+300"),
        ('quat="nan 0 0 1"', "", "", "", "body 'b'.*quat.*nan"),
        ("", 'pos="0 nan 0"', "", "", "joint 'j'.*pos.*nan"),
        ("", 'axis="nan 0 1"', "", "", "joint 'j'.*axis.*nan"),
        ("", 'range="0 nan"', "", "", "joint 'j'.*range.*nan"),
        ("", 'ref="nan"', "", "", "joint 'j'.*ref.*nan"),
        ("", "", 'pos="0 nan 0"', "", "geom 0.*pos.*nan"),
        ("", "", 'quat="0 nan 0 1"', "", "geom 0.*quat.*nan"),
        ("", "", "", '<keyframe><key qpos="nan 0"/></keyframe>', "keyframe 0.*qpos.*nan"),
        (
            "",
            "",
            "",
            '<equality><joint joint1="j" joint2="k" polycoef="0 nan 0 0 0"/></equality>',
            "equality 0.*data.*nan",
        ),
    ],
)
def test_numbers_of_an_mjcf_are_finite(monkeypatch, tmp_path, body, joint, geom, more, told):
    """MuJoCo warns of NaN and goes on; what is nowhere collides with nothing."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    text = f"""<mujoco><worldbody><body name="b" {body}><joint name="j" {joint}/><geom size="1" {geom}/>
    <body><joint name="k"/><geom size="1" pos="3 0 0"/></body></body></worldbody>{more}</mujoco>"""
    with pytest.raises(ParseError, match=f"<text>.*{told}"):
        Robot.load(text)


def test_an_mjcf_may_have_one_limit():
    pytest.importorskip("mujoco")
    one = Robot.load(
        "<mujoco><worldbody><body><joint type='slide' range='0 inf'/><geom size='1'/></body></worldbody></mujoco>"
    )
    assert (one.lower.tolist(), one.upper.tolist()) == ([0.0], [np.inf])
