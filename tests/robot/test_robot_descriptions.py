"""Robots from MJCF, xacro and text, links without collision geometry, and robots without checked pairs."""

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

# --- links without collision geometry ---------------------------------------------------------------------------------


def test_links_without_collision_geometry_warn():
    with pytest.warns(RobotWarning, match=r'1 link .* a\..*collision="visual".*--collision visual'):
        robot = Robot.load(DRAWN.format(f"<collision>{BALL}</collision>"))
    assert [geometry.link for geometry in robot.geometries] == [1]


def test_visual_geometry_is_checked_on_request():
    text = DRAWN.format("<visual><geometry><box size='9 9 9'/></geometry></visual>"
                        f"<collision>{BALL}</collision>")  # fmt: skip
    robot = Robot.load(text, collision="visual")
    assert [body.shape for body in robot.bodies] == [gk.Sphere(0.1), gk.Sphere(0.1)], "b keeps its own"
    robot.allowed = []
    assert Checker(robot).free([[0.0], [0.5]]).tolist() == [False, True]
    with pytest.raises(ShapeError, match=r"collision='both'.*'collision', 'visual'"):
        Robot.load(text, collision="both")


def test_robot_without_geometry_raises():
    with pytest.warns(RobotWarning):
        robot = Robot.load(DRAWN.format(""))
    for query in (
        lambda checker: checker.free([0.0]),
        lambda checker: checker.free([[0.0]]),
        lambda checker: checker.clearance([0.0]),
        lambda checker: checker.motion_free([0.0], [1.0]),
    ):
        with pytest.raises(RobotError, match=r"'r'.*collision=\"visual\".*--collision visual"):
            query(Checker(robot, {"wall": (gk.Box((1, 1, 1)), None)}))
    with pytest.raises(RobotError, match=r"'r'.*--collision visual"):
        allow_by_sampling(robot)
    checker_with_tool = Checker(robot, {"wall": (gk.Box((1, 1, 1)), None)})
    checker_with_tool.attach("tool", gk.Sphere(0.1), "b")
    assert checker_with_tool.free([[0.0], [1.0]]).tolist() == [False, True]


# --- text and xacro ---------------------------------------------------------------------------------------------------


def test_meshes_of_text_are_found_in_working_folder(tmp_path, monkeypatch):
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


def test_xacro_is_expanded(tmp_path):
    pytest.importorskip("xacro")
    (tmp_path / "r.urdf.xacro").write_text(XACRO)
    for source in (tmp_path / "r.urdf.xacro", XACRO):
        robot = Robot.load(source)
        assert robot.links == ("a", "b")
        assert robot.bodies[0].shape == gk.Sphere(0.2)
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


def test_missing_xacro_package_raises(monkeypatch):
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
    with pytest.warns(RobotWarning, match="'floor'.*'world'.*plane") as warnings:
        robot = Robot.load(MJCF)
    assert {warning.filename for warning in warnings} == {__file__}  # the warning points to the line of the caller
    model = mujoco.MjModel.from_xml_string(MJCF)
    return robot, mujoco, model, mujoco.MjData(model)


def test_mjcf_poses_agree_with_mujoco(mjcf):
    robot, mujoco, model, data = mjcf
    assert robot.joint_names == ("root", "hip", "lift", "knee")
    assert (robot.lower[6], robot.upper[6], robot.upper[7]) == (-1, 2, np.inf)
    rng = np.random.default_rng(0)
    reference = Rotation.from_quat(model.qpos0[3:7], scalar_first=True)
    for q in [np.zeros(robot.dof), *rng.uniform(-1, 1, (20, robot.dof))]:
        data.qpos[:3] = model.qpos0[:3] + reference.apply(q[:3])
        data.qpos[3:7] = (reference * Rotation.from_rotvec(q[3:6])).as_quat(scalar_first=True)
        data.qpos[7:] = [*q[6:9], 0.1 + 2 * q[8]]
        mujoco.mj_kinematics(model, data)
        poses = robot.link_poses(q)
        for k in range(model.nbody):
            at = poses[robot.link_number(model.body(k).name)]
            np.testing.assert_allclose(at[:3, 3], data.xpos[k], atol=1e-12)
            np.testing.assert_allclose(at[:3, :3], data.xmat[k].reshape(3, 3), atol=1e-12)
        for body in robot.bodies:
            if isinstance(body.shape, gk.ConvexHull):
                number = int(np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)[0])
                at = poses[body.link] @ body.pose
                np.testing.assert_allclose(at[:3, 3], data.geom_xpos[number], atol=1e-12)
    up = robot.state("up")
    data.qpos[:] = model.key_qpos[0]
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(robot.link_poses(up)[robot.link_number("hand")][:3, 3], data.xpos[3], atol=1e-12)


def test_mjcf_shapes_and_pairs(mjcf):
    robot = mjcf[0]
    shapes = {robot.links[body.link]: body.shape for body in robot.bodies if not isinstance(body.shape, gk.ConvexHull)}
    assert shapes == {
        "world": gk.Box((1, 1, 0.2)), "trunk": gk.Box((0.2, 0.4, 0.6)), "arm": gk.Capsule(0.05, 0.4),
        "hand": gk.Ellipsoid((0.1, 0.2, 0.3)), "tip": gk.Cylinder(0.1, 0.4), "other": gk.Sphere(0.1),
    }  # fmt: skip
    wedge = next(item for item in robot.geometries if item.way == "bodies")
    assert wedge.hull.volume == pytest.approx(1 / 6)
    pairs = {(robot.links[a], robot.links[b]) for a, b in robot.pairs.tolist()}
    # MuJoCo's filter: no body is adjacent to the world, hand and tip are one body, "other" has different masks
    assert pairs == {("world", item) for item in ("trunk", "arm", "hand", "tip")} | {("trunk", "hand")}
    assert robot.allowed.reason("trunk", "tip") == "exclude"
    assert robot.allowed.reason("trunk", "other") == "contype"
    assert robot.allowed.reason("arm", "tip") == "adjacent"


def test_collisions_of_welded_base_agree_with_mujoco():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="base"><geom size=".1"/><body name="stand" pos=".3 0 0"><geom size=".1"/>
     <body name="arm" pos="-.2 0 0"><joint name="j" type="slide" axis="0 0 1"/><geom size=".1"/>
     <body name="hand" pos=".1 0 0"><joint name="k"/><geom size=".1"/></body></body></body></body></worldbody>
     </mujoco>"""
    robot = Robot.load(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for q in np.random.default_rng(0).uniform(-0.3, 0.3, (30, 2)):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        owner = [model.body(model.geom_bodyid[g]).name for g in range(model.ngeom)]
        expected = {frozenset(map(owner.__getitem__, contact.geom)) for contact in data.contact[: data.ncon]}
        assert {frozenset(contact.pair) for contact in gk.robot.Checker(robot).collisions(q)} == expected
    pairs = {(robot.links[a], robot.links[b]) for a, b in robot.pairs.tolist()}
    assert pairs == {(a, b) for a in ("base", "stand") for b in ("arm", "hand")}


def test_unsupported_mjcf_raises(monkeypatch):
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
def test_nonfinite_mjcf_numbers_raise(monkeypatch, tmp_path, body, joint, geom, more, told):
    """Non-finite numbers raise, because MuJoCo only warns and a body at NaN collides with nothing."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log there
    text = f"""<mujoco><worldbody><body name="b" {body}><joint name="j" {joint}/><geom size="1" {geom}/>
    <body><joint name="k"/><geom size="1" pos="3 0 0"/></body></body></worldbody>{more}</mujoco>"""
    with pytest.raises(ParseError, match=f"<text>.*{told}"):
        Robot.load(text)


def test_mjcf_joint_with_one_limit_is_read():
    pytest.importorskip("mujoco")
    robot = Robot.load(
        "<mujoco><worldbody><body><joint type='slide' range='0 inf'/><geom size='1'/></body></worldbody></mujoco>"
    )
    assert (robot.lower.tolist(), robot.upper.tolist()) == ([0.0], [np.inf])
