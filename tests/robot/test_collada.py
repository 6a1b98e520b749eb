"""Collada meshes of robots: units, axes, rejected files, and a comparison with pinocchio."""

from __future__ import annotations

import importlib.util

import numpy as np
import pinocchio
import pytest
from example_robots import SHARE

import gjk3d as gk
from gjk3d.errors import ParseError
from gjk3d.robot import Robot

TEXT = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>{asset}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n">{move}<instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def write_dae(tmp_path, asset="", move="", name="tetrahedron.dae"):
    file = tmp_path / name
    file.write_text(TEXT.format(asset=asset, move=move))
    return file


@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
def test_unit_and_up_axis_are_applied(tmp_path, up):
    mesh = gk.load(write_dae(tmp_path, f'<unit name="cm" meter="0.01"/><up_axis>{up}</up_axis>'))
    assert np.allclose(mesh.bounds, [[0, 0, 0], [0.01, 0.02, 0.03]], atol=1e-12)
    assert mesh.unit == "meters"
    assert mesh.volume == pytest.approx(1e-6)


def test_node_transforms_are_applied(tmp_path):
    mesh = gk.load(write_dae(tmp_path, '<unit meter="0.5"/>', "<translate>4 0 0</translate>", "MOVED.DAE"))
    assert np.allclose(mesh.bounds, [[2, 0, 0], [2.5, 1, 1.5]], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>" + TEXT.format(asset="", move=""), "DOCTYPE"),
        ("solid x", r"x\.dae.*'solid x'"),
        (TEXT.format(asset="", move="")[:-300], r"x\.dae.*line 9, column 45"),
        ('<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"></COLLADA>', "x.dae"),
    ],
)
def test_damaged_files_raise(tmp_path, text, says):
    file = tmp_path / "x.dae"
    file.write_text(text)
    with pytest.raises(ParseError, match=says):
        gk.load(file)


def test_missing_reader_raises_import_error(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'collada.*pip install "gjk3d\[robot\]"'):
        gk.load(write_dae(tmp_path))


@pytest.mark.parametrize(
    "urdf",
    ["borinot_description/urdf/borinot_flying_arm_2.urdf", "hyq_description/robots/hyq_no_sensors.urdf"],
    ids=["y is up", "z is up"],
)
def test_bounds_agree_with_pinocchio(urdf):
    robot = Robot.from_urdf(SHARE / urdf, geometry="hull")
    model = pinocchio.buildModelFromUrdf(str(SHARE / urdf))
    theirs = {}
    for item in pinocchio.buildGeomFromUrdf(
        model, str(SHARE / urdf), pinocchio.GeometryType.COLLISION, package_dirs=[str(SHARE.parents[1])]
    ).geometryObjects:
        item.geometry.computeLocalAABB()
        box = item.geometry.aabb_local
        theirs.setdefault(item.meshPath.split("/")[-1], []).append([box.min_, box.max_])
    seen = 0
    for item in robot.geometries:
        if item.source is not None and item.source.suffix.lower() == ".dae":
            assert any(np.allclose(item.hull.bounds, box, atol=1e-5) for box in theirs[item.source.name])
            seen += 1
    assert seen >= 3
