"""URDF files: exact geometry, lookup of meshes, and errors with their location."""

from __future__ import annotations

import re

import numpy as np
import pytest
import trimesh
from example_robots import SHARE, URDFS, robot
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import FileError, ParseError, RobotError, ShapeError
from gjk3d.robot import Robot

WEDGE = np.array([(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def stl(path, *shifts):
    """Write an STL file with one wedge for each shift."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["solid s"]
    for shift in shifts or [(0, 0, 0)]:
        for face in FACES:
            corners = "".join("vertex {} {} {}\n".format(*(WEDGE[k] + shift).tolist()) for k in face)
            lines.append(f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet")
    path.write_text("\n".join([*lines, "endsolid s"]))


def link(geometry, more=""):
    return f"<link name='a'><collision>{more}<geometry>{geometry}</geometry></collision></link>"


def read(tmp_path, inner, **options):
    file = tmp_path / "robots" / "r.urdf"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"<robot name='r'>{inner}</robot>")
    return Robot.from_urdf(file, **options)


def test_primitive_shapes_are_exact(tmp_path):
    shapes = {
        "<box size='1 2 3'/>": gk.Box((1, 2, 3)),
        "<sphere radius='0.5'/>": gk.Sphere(0.5),
        "<cylinder radius='0.1' length='2'/>": gk.Cylinder(0.1, 2),
        "<capsule radius='0.1' length='2'/>": gk.Capsule(0.1, 2),
        "<cylinder radius='0.1' length='0'/>": gk.Cylinder(0.1, 0),
        "<capsule radius='0.1' length='0.0'/>": gk.Capsule(0.1, 0),
    }
    for text, shape in shapes.items():
        loaded = read(tmp_path, link(text, "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/>"))
        assert [body.shape for body in loaded.bodies] == [shape]
        assert loaded.geometries[0].way == "exact"
        assert loaded.bodies[0].pose[:3, :3] == pytest.approx(np.array([(0, -1, 0), (1, 0, 0), (0, 0, 1)]))
        assert loaded.bodies[0].pose[:3, 3].tolist() == [1, 2, 3]


def test_mirrored_mesh_has_positive_volume(tmp_path):
    stl(tmp_path / "robots/wedge.stl")
    loaded = read(tmp_path, link("<mesh filename='wedge.stl' scale='-1 2 1'/>"), geometry="mesh")
    mesh = loaded.bodies[0].shape
    assert mesh.bounds.tolist() == [[-2, 0, 0], [0, 2, 1]]
    assert mesh.volume == pytest.approx(2 / 3), "it is not inside out"
    assert loaded.geometries[0].hull.volume == pytest.approx(2 / 3)
    assert loaded.geometries[0].way == "mesh"


def test_mesh_is_split_into_bodies_or_one_hull(tmp_path):
    stl(tmp_path / "robots/w.stl", (0, 0, 0), (5, 0, 0), (0, 5, 0))
    text = link("<mesh filename='w.stl'/>") + "<link name='b'/>" + fixed("a", "b")
    loaded = read(tmp_path, text)
    assert [body.shape.volume for body in loaded.bodies] == pytest.approx([1 / 3] * 3)
    assert (loaded.geometries[0].first, loaded.geometries[0].last) == (0, 3)
    assert loaded.geometries[0].hull.bounds.tolist() == [[0, 0, 0], [7, 6, 1]]
    loaded = read(tmp_path, text, geometry="hull")
    assert [body.shape for body in loaded.bodies] == [loaded.geometries[0].hull]
    with pytest.raises(ShapeError, match=r"geometry='boxes'.*'bodies', 'hull'"):
        read(tmp_path, text, geometry="boxes")


def test_nested_bodies_are_omitted(tmp_path):
    file = tmp_path / "robots/n.stl"
    stl(file, (0, 0, 0))
    text = file.read_text().replace("endsolid s", "")
    inner = text.replace("vertex 2.0", "vertex 0.2").replace(" 1.0", " 0.1").replace("solid s", "")
    inner = re.sub(r"vertex (\S+) (\S+) (\S+)", lambda m: "vertex " + " ".join(str(float(x) + 0.1) for x in m.groups()),
                   inner)  # fmt: skip
    file.write_text(text + inner + "endsolid s")
    assert len(gk.load(file).bodies()) == 2
    loaded = read(tmp_path, link("<mesh filename='n.stl'/>"))
    assert [body.shape.volume for body in loaded.bodies] == pytest.approx([1 / 3])


@pytest.mark.full
def test_parts_of_a_non_convex_mesh(tmp_path):
    """coacd splits an L into two boxes. A separate convex box stays unchanged."""
    (tmp_path / "robots").mkdir()
    corner = trimesh.creation.extrude_triangulation(
        [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)], 1.0
    )
    box = trimesh.creation.box((1, 1, 1), np.array([(1.0, 0, 0, 9), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]))
    trimesh.util.concatenate([corner, box]).export(tmp_path / "robots/w.stl")
    loaded = read(tmp_path, link("<mesh filename='w.stl'/>"), geometry="parts")
    shape = loaded.geometries[0]
    assert shape.way == "parts"
    assert 0 <= shape.error < 0.1
    assert len(loaded.bodies) >= 3
    assert sum(body.shape.volume for body in loaded.bodies) == pytest.approx(4.0, rel=0.1)
    for body in loaded.bodies:
        assert shape.hull.contains(body.shape.vertices).all()
    assert read(tmp_path, link("<mesh filename='w.stl'/>")).geometries[0].error is None


@pytest.mark.many
@pytest.mark.parametrize("name", URDFS)
def test_bodies_of_real_robots_contain_their_meshes(name):
    """The bodies contain every vertex of the mesh that they replace, and every geometry of the file is loaded."""
    loaded, raw = robot(name), robot(name, "mesh")
    assert len(loaded.geometries) == len(raw.geometries) == (SHARE / URDFS[name]).read_text().count("<collision")
    meshes = 0
    for geometry, mesh in zip(loaded.geometries, raw.geometries, strict=True):
        assert geometry.last > geometry.first
        assert {body.link for body in loaded.bodies[geometry.first : geometry.last]} == {geometry.link}
        if geometry.source is None:
            continue
        meshes += 1
        points = raw.bodies[mesh.first].shape.vertices
        used = points[np.unique(raw.bodies[mesh.first].shape.faces)][::50]
        inside = np.zeros(len(used), dtype=bool)
        for body in loaded.bodies[geometry.first : geometry.last]:
            inside |= body.shape.contains(used)
        assert inside.all()
    assert meshes > 6


def fixed(parent, child, name="j", kind="fixed", more=""):
    return f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>{more}</joint>"


@pytest.mark.parametrize(
    ("where", "name", "folders"),
    [
        ("robots/w.stl", "w.stl", []),
        ("meshes/w.stl", "../meshes/w.stl", []),
        ("arm/meshes/w.stl", "package://arm/meshes/w.stl", []),
        ("meshes/w.stl", "package://arm/meshes/w.stl", []),
        ("arm/meshes/w.stl", "package:///arm/meshes/w.stl", []),
        ("far/off/arm/meshes/w.stl", "package://arm/meshes/w.stl", ["far/off"]),
        ("far/off/arm/meshes/w.stl", "package://arm/meshes/w.stl", ["far/off/arm"]),
        ("far/off/other/meshes/w.stl", "package://arm/meshes/w.stl", ["far", "far/off/other"]),
        ("far/w.stl", "w.stl", ["far"]),
        ("far/w x.stl", "package://far/w%20x.stl", []),
    ],
)
def test_mesh_lookup(tmp_path, where, name, folders):
    stl(tmp_path / where)
    loaded = read(tmp_path, link(f"<mesh filename='{name}'/>"), package_dirs=[tmp_path / folder for folder in folders])
    assert loaded.geometries[0].source.samefile(tmp_path / where)


def test_mesh_lookup_in_ros_package_path(tmp_path, monkeypatch):
    stl(tmp_path / "ws/src/arm/w.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws/src"))
    assert read(tmp_path, link("<mesh filename='package://arm/w.stl'/>")).geometries[0].source.is_file()


def test_mesh_lookup_by_file_url_and_absolute_path(tmp_path):
    stl(tmp_path / "w.stl")
    assert len(read(tmp_path, link(f"<mesh filename='file://{tmp_path}/w.stl'/>")).bodies) == 1
    assert len(read(tmp_path, link(f"<mesh filename='{tmp_path}/w.stl'/>")).bodies) == 1


def test_missing_mesh_error_lists_every_searched_path(tmp_path):
    with pytest.raises(FileError) as caught:
        read(tmp_path, link("<mesh filename='package://arm/m/w.stl'/>"), package_dirs=[tmp_path / "far"])
    assert_names(
        caught.value, "link 'a', collision [0]", "package://arm/m/w.stl", "package_dirs=[...]", "--package-dir"
    )
    places = ("far/arm/m/w.stl", "far/m/w.stl", "robots/arm/m/w.stl", "robots/m/w.stl")
    assert_names(caught.value, *(str(tmp_path / place) for place in places))


def test_invalid_mesh_error_names_the_link(tmp_path):
    file = tmp_path / "robots/w.stl"
    file.parent.mkdir()
    file.write_text("not a mesh")
    with pytest.raises(ParseError, match=r"link 'a', collision \[0\].*w\.stl"):
        read(tmp_path, link("<mesh filename='w.stl'/>"))


TWO = "<link name='a'/><link name='b'/>"
BAD = {
    "no links": ("", "links"),
    "link twice": ("<link name='a'/><link name='a'/>", "link", "'a'"),
    "joint twice": (TWO + "<link name='c'/>" + fixed("a", "b") + fixed("a", "c"), "joint", "'j'"),
    "no name": ("<link/>", "link [0]", "name="),
    "no geometry": ("<link name='a'><collision/></link>", "link 'a', collision [0]", "<geometry>"),
    "empty geometry": (link(""), "<geometry>", " 0 "),
    "two shapes": (link("<sphere radius='1'/><sphere radius='1'/>"), "<geometry>", " 2 "),
    "other shape": (link("<plane/>"), "<plane>", "mesh, box, sphere, cylinder, capsule"),
    "no size": (link("<box/>"), "<box>", "size="),
    "two numbers": (link("<box size='1 2'/>"), "size='1 2'", "3 numbers"),
    "words": (link("<sphere radius='big'/>"), "radius='big'"),
    "NaN": (link("<sphere radius='nan'/>"), "radius='nan'"),
    "negative": (link("<cylinder radius='1' length='-2'/>"), "<cylinder>", "(1.0, -2.0)"),
    "no radius": (link("<cylinder radius='0' length='0'/>"), "<cylinder>", "(0.0, 0.0)"),
    "flat": (link("<mesh filename='x.stl' scale='1 0 1'/>"), "<mesh>", "scale='1 0 1'"),
    "no file": (link("<mesh/>"), "<mesh>", "filename="),
    "fetched": (link("<mesh filename='http://a.b/c.stl'/>"), "http://a.b/c.stl", "package://"),
    "bad origin": (link("<sphere radius='1'/>", "<origin xyz='1 2'/>"), "<origin>", "xyz='1 2'", "3 numbers"),
    "kind of joint": (TWO + fixed("a", "b", kind="ball"), "'j'", "'ball'", "fixed, revolute"),
    "no parent": (TWO + "<joint name='j' type='fixed'><child link='b'/></joint>", "'j'", "<parent>"),
    "unknown parent": (TWO + fixed("x", "b"), "'j'", "parent 'x'"),
    "unknown child": (TWO + fixed("a", "x"), "'j'", "child 'x'"),
    "two parents": (TWO + fixed("a", "b") + fixed("a", "b", "k"), "'b'", "'j'", "'k'"),
    "two roots": (TWO, " 2 links", "'a', 'b'"),
    "a loop": (TWO + "<link name='c'/>" + fixed("b", "c") + fixed("c", "b", "k"), "'b'", "loop"),
    "no axis": (TWO + fixed("a", "b", "j", "revolute", "<axis xyz='0 0 0'/>"), "'j'", "<axis>", "xyz='0 0 0'"),
    "limits": (TWO + fixed("a", "b", "j", "revolute", "<limit lower='2' upper='1'/>"), "'j'", "lower 2", "upper 1"),
    "mimics none": (TWO + fixed("a", "b", "j", "revolute", "<mimic joint='x'/>"), "'j'", "'x'", "<mimic>"),
    "mimics itself": (TWO + fixed("a", "b", "j", "revolute", "<mimic joint='j'/>"), "joint 'j'", "mimics 'j'"),
    "mimics a plane": (
        TWO + "<link name='c'/>" + fixed("a", "b", "p", "planar")
        + fixed("b", "c", "j", "revolute", "<mimic joint='p'/>"), "'j'", "'p'", "planar",
    ),
    "broken": ("<link", "XML", "line 1, column 21"),
    "two axes": (TWO + fixed("a", "b", "j", "revolute", "<axis/><axis/>"), "'j'", "2 <axis>"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_invalid_urdf_raises(tmp_path, what):
    inner, *named = BAD[what]
    with pytest.raises(ParseError) as caught:
        read(tmp_path, inner)
    assert_names(caught.value, "r.urdf", *named)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE robot SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE robot>",
    ],
)
def test_doctype_raises(tmp_path, doctype):
    file = tmp_path / "r.urdf"
    file.write_text(f'<?xml version="1.0"?>\n{doctype}\n<robot name="r"><link name="a"/></robot>')
    with pytest.raises(ParseError, match="DOCTYPE"):
        Robot.from_urdf(file)


def test_empty_path_and_device_raise():
    for nothing in ("", " \n"):
        with pytest.raises(FileError, match=re.escape(repr(nothing))):
            Robot.load(nothing)
        with pytest.raises(FileError, match=re.escape(repr(nothing))):
            Robot.load("<robot name='a'><link name='l'/></robot>", srdf=nothing)
    with pytest.raises(FileError, match=r"^/dev/null"):
        Robot.load("/dev/null")


def test_missing_and_foreign_files_raise(tmp_path):
    with pytest.raises(FileError, match=r"none\.urdf"):
        Robot.from_urdf(tmp_path / "none.urdf")
    with pytest.raises(FileError, match="folder"):
        Robot.from_urdf(tmp_path)
    (tmp_path / "empty.urdf").touch()
    with pytest.raises(ParseError, match=r"empty\.urdf.*XML"):
        Robot.from_urdf(tmp_path / "empty.urdf")
    (tmp_path / "other.urdf").write_text("<sdf/>")
    with pytest.raises(ParseError, match=r"<sdf>.*<robot>"):
        Robot.from_urdf(tmp_path / "other.urdf")
    (tmp_path / "bytes.urdf").write_bytes(b"\xff\x00\x01" * 100)
    with pytest.raises(ParseError, match=r"bytes\.urdf.*XML"):
        Robot.from_urdf(tmp_path / "bytes.urdf")


def test_robot_without_joints(tmp_path):
    loaded = read(tmp_path, "<link name='a'/>")
    assert loaded.dof == 0
    assert loaded.link_poses(np.zeros((3, 0))).shape == (3, 1, 4, 4)
    assert loaded.link_poses([]).tolist() == [np.eye(4).tolist()]
    assert loaded.pairs.shape == (0, 2)


Q = np.zeros(8)
CONFIGURATIONS = {
    "too few": (np.zeros(7), "shape (7,)", "(8,)", "(n, 8)", "panda_joint1, panda_joint2"),
    "too many": (np.zeros((5, 9)), "shape (5, 9)"),
    "one number": (1.0, "shape ()"),
    "three deep": (np.zeros((2, 2, 8)), "shape (2, 2, 8)"),
    "empty": ([], "shape (0,)"),
    "NaN": ([0, 0, np.nan, 0, 0, 0, 0, 0], "q[2]", "nan", "'panda_joint3'"),
    "infinite": ([Q, [0, 0, 0, 0, 0, 0, 0, -np.inf]], "q[1, 7]", "-inf", "'panda_finger_joint1'"),
    "text": (["a"] * 8, "dtype <U1"),
    "ragged": ([[0] * 8, [0] * 7], "ragged", "(n, 8)"),
    "complex": (np.zeros(8, dtype=complex), "dtype complex128"),
    "booleans": (np.zeros(8, dtype=bool), "dtype bool"),
}


@pytest.mark.parametrize("what", CONFIGURATIONS)
def test_invalid_configurations_raise(what):
    q, *named = CONFIGURATIONS[what]
    with pytest.raises(RobotError) as caught:
        robot("panda").link_poses(q)
    assert_names(caught.value, "q", *named)
    with pytest.raises(RobotError) as caught:
        robot("panda").jacobian(q, 0)
    assert_names(caught.value, "q", *named)


def test_unknown_names_and_invalid_points_raise():
    panda = robot("panda")
    with pytest.raises(RobotError, match=r"'elbow'.*'panda_link0', 'panda_link1'"):
        panda.jacobian(Q, "elbow")
    with pytest.raises(RobotError, match=r"\b13\b.*\b12\b"):
        panda.jacobian(Q, 13)
    with pytest.raises(RobotError, match=r"\[1\.0, 2\.0\].*\(1, 3\)"):
        panda.jacobian(Q, 0, (1, 2))
    with pytest.raises(RobotError, match=r"\[1\.0, 2\.0, nan\]"):
        panda.jacobian(Q, 0, (1, 2, np.nan))
    with pytest.raises(RobotError, match=r"point.*3 numbers"):
        panda.jacobian(Q, 0, "abc")
    with pytest.raises(RobotError, match=r"'panda_finger_joint2'.*panda_finger_joint1"):
        panda.configuration({"panda_finger_joint2": 0.1})
    with pytest.raises(RobotError, match=r"'panda_joint1'.*\b2\b.*\b1\b"):
        panda.configuration({"panda_joint1": (1, 2)})
    with pytest.raises(RobotError, match=r"q\[0\].*inf"):
        panda.configuration({"panda_joint1": np.inf})


def test_limits_are_reported_but_not_enforced():
    panda = robot("panda")
    middle = (panda.lower + panda.upper) / 2
    edge = np.array([panda.lower, panda.upper, middle])
    assert panda.within_limits(edge).tolist() == [True] * 3
    over = panda.upper.copy()
    over[3] += 1e-9
    assert panda.within_limits(over) is False
    assert panda.within_limits(over, tolerance=1e-8) is True
    assert panda.link_poses(over).shape == (len(panda.links), 4, 4)
    assert panda.within_limits(np.empty((0, panda.dof))).shape == (0,)
    with pytest.raises(RobotError, match=r"tolerance.*nan"):
        panda.within_limits(middle, tolerance=np.nan)
