"""Cells loaded from robot files, models and MoveIt scene files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import FileError, ParseError

DATA = Path(__file__).parents[2] / "data"
TABLE = """<robot name="cell"><link name="floor"/><link name="table"><collision><origin xyz="0 0 0.5"/>
<geometry><box size="1 0.5 0.1"/></geometry></collision></link><link name="vase"><collision>
<geometry><cylinder radius="0.1" length="0.3"/></geometry></collision></link>
<joint name="a" type="fixed"><parent link="floor"/><child link="table"/></joint>
<joint name="b" type="fixed"><parent link="table"/><child link="vase"/><origin xyz="0.2 0 0.7"/></joint></robot>"""
NEW = """(noname)+
* Box_0
1 2 3
0 0 0.7071067811865476 0.7071067811865476
2
box
0.5 0.4 0.3
0 0 0
0 0 0 1
0 0 0 0
sphere
0.25
0.5 0 0
0 0 0 1
1 0 0 1
1
handle
0 0 0
0 0 0 1
* can
0 0 1
0 0 0 1
1
cylinder
0.1 0.4
0 0 0
0 0 0 1
0 0 0 0
0
.
"""
OLD = """scene
* tetrahedron
1
mesh
4 4
0 0 0
1 0 0
0 1 0
0 0 1
0 2 1
0 1 3
0 3 2
1 2 3
0 0 2
0 0 0 1
0 0 0 0
* tip
1
cone
0.1 0.4
1 0 0
0 0 0 1
0 0 0 0
.
"""


def write_file(tmp_path, text, name="cell.scene"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def test_links_of_robot_file_become_objects(tmp_path):
    cell = gk.robot.load_cell(write_file(tmp_path, TABLE, "cell.urdf"))
    assert list(cell) == ["table", "vase"]
    assert (cell.shape("table"), cell.shape("vase")) == (gk.Box((1, 0.5, 0.1)), gk.Cylinder(0.1, 0.3))
    assert cell.pose("vase")[:3, 3].tolist() == [0.2, 0.0, 0.7]


def test_models_are_scaled_to_metres_and_names_are_unique():
    cell = gk.robot.load_cell([DATA / "nut.stl", DATA / "nut.stl"], unit="mm", geometry="hull")
    assert list(cell) == ["nut", "nut (2)"]
    nut = gk.load(DATA / "nut.stl", unit="mm").scaled(0.001, unit="m")
    assert np.allclose(cell.shape("nut").bounds, nut.bounds, rtol=0.0, atol=1e-12)
    checker = gk.robot.Checker(gk.robot.Robot.example(), cell)
    assert checker.objects == ("nut", "nut (2)")


def test_moveit_scene_is_loaded(tmp_path):
    cell = gk.robot.load_cell(write_file(tmp_path, NEW))
    assert list(cell) == ["Box_0", "can"]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler("z", 90, degrees=True).as_matrix(), (1, 2, 3)
    low, high = (
        gk.aabb(cell.shape("Box_0"), cell.pose("Box_0")).low,
        gk.aabb(cell.shape("Box_0"), cell.pose("Box_0")).high,
    )
    assert np.allclose(low, [0.75, 1.75, 2.75])
    assert np.allclose(high, [1.25, 2.75, 3.25])
    assert (cell.shape("can"), cell.pose("can")[2, 3]) == (gk.Cylinder(0.1, 0.4), 1.0)
    old = gk.robot.load_cell(write_file(tmp_path, OLD, "old.scene"))
    assert (list(old), old.shape("tip")) == (["tetrahedron", "tip"], gk.Cone(0.1, 0.4))
    assert gk.collide(old.shape("tetrahedron"), gk.Point((0.1, 0.1, 2.1)), old.pose("tetrahedron"))
    assert list(gk.robot.load_cell(write_file(tmp_path, "empty\n.\n"))) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("box\n0.5 0.4 0.3", "box\n0.5 0.4"), r"line 7: '0\.5 0\.4', expected the sizes of a box: 3 numbers"),
        (("box\n0.5 0.4 0.3", "blob\n1"), "line 6: the shape is 'blob', expected one of box, sphere"),
        (("0.7071067811865476 0.7071067811865476", "0 0"), "line 4: the quaternion is zero"),
        (("\n2\nbox", "\n1000000000\nbox"), r"line 5: 1e\+09, expected the number of shapes"),
        (("1 2 3\n", "1 nan 3\n"), "expected a position: 3 numbers"),
        (("* can", "can"), r'line 20: .can., expected "\* NAME"'),
        (("0\n.\n", ""), "is truncated, since it ends before .* Save the scene again"),
    ],
)
def test_malformed_scenes_raise_with_line_number(tmp_path, change, text):
    assert change[0] in NEW
    with pytest.raises(ParseError, match=text):
        gk.robot.load_cell(write_file(tmp_path, NEW.replace(*change)))


def test_mesh_with_invalid_counts_or_indices_raises(tmp_path):
    with pytest.raises(ParseError, match=r"rows with a vertex is 4e\+12, but the file has \d+ lines"):
        gk.robot.load_cell(write_file(tmp_path, OLD.replace("4 4\n", "4000000000000 4\n")))
    with pytest.raises(ParseError, match="a triangle refers to vertex 9, expected 0 to 3"):
        gk.robot.load_cell(write_file(tmp_path, OLD.replace("1 2 3\n", "1 2 9\n")))


def test_unsupported_files_raise_with_remedy(tmp_path):
    with pytest.raises(FileError, match=r"is an SDF file.*Convert it to URDF"):
        gk.robot.load_cell(tmp_path / "room.sdf")
    with pytest.raises(FileError, match=r"unknown extension '\.xyz'\. Use one of \.urdf"):
        gk.robot.load_cell(tmp_path / "room.xyz")
    with pytest.raises(ParseError, match=r"does not state a unit of length.*unit='mm'"):
        gk.robot.load_cell(DATA / "nut.stl")
    with pytest.raises(FileError):
        gk.robot.load_cell(tmp_path / "missing.scene")
    with pytest.raises(ParseError, match="lacks collision geometry"):
        gk.robot.load_cell(write_file(tmp_path, '<robot name="r"><link name="a"/></robot>', "r.urdf"))
