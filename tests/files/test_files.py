"""Loading of files: formats, archives, scenes, and errors of damaged files."""

import contextlib
import json
import logging
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import tracemalloc
import zipfile

import numpy as np
import pytest
import pyvista
import trimesh
from message_checks import assert_names
from model_files import (
    CORNERS,
    QUADS,
    TRIANGLES,
    glb,
    gltf,
    gltf_tree,
    obj,
    off,
    ply_binary,
    ply_text,
    step,
    stl_binary,
    stl_text,
    threedxml,
    vtk,
    write_3mf,
    write_zip,
    xaml,
)

import gjk3d as gk
from gjk3d.errors import FileError, ParseError
from gjk3d.files import load, process, readers

LOOP = [{"mesh": 0, "children": [1]}, {"mesh": 0, "children": [0]}]
FORMATS = (".stl", ".obj", ".ply", ".off", ".glb", ".gltf", ".3mf")
ONE = [{"name": "cube", "mesh": 0}]


@pytest.fixture
def save(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


CUBES = {
    "binary.stl": stl_binary(),
    "text.stl": stl_text(),
    "CAPITALS.STL": stl_text(),
    "cube.obj": obj(),
    "cube.off": off(),
    "text.ply": ply_text(),
    "binary.ply": ply_binary(),
    "cube.glb": glb(ONE),
    "cube.gltf": gltf(ONE),
    "cube.vtk": vtk(),
}


@pytest.mark.parametrize("name", CUBES)
def test_every_format_loads_the_same_cube(save, name):
    mesh = gk.load(save(name, CUBES[name]))
    assert len(mesh.faces) == 12
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(1.0, abs=1e-12)
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert mesh.is_convex
    assert mesh.unit == ("meters" if "gl" in name else None)
    assert mesh.source.name == name
    assert len(mesh.parts) == 1
    assert len(mesh.hull().points) == 8


def test_3mf_keeps_names_and_unit(tmp_path):
    path = tmp_path / "two.3mf"
    write_3mf(path, [("plate", CORNERS * (4, 4, 1), TRIANGLES), ("pin", CORNERS + (0, 0, 5), TRIANGLES)])
    mesh = gk.load(path)
    assert mesh.unit == "millimeter"
    assert [part.name for part in mesh.parts] == ["pin", "plate"]
    assert mesh.volume == pytest.approx(17.0)
    assert gk.load(path, part="pin").bounds.tolist() == [[0, 0, 5], [1, 1, 6]]


@pytest.mark.full
def test_step_keeps_names_uses_meters_and_prints_nothing(save, capfd):
    path = save("two.STEP", step([("plate", CORNERS * (40, 40, 10), QUADS), ("pin <b>", CORNERS * 5, QUADS)]))
    mesh = gk.load(path)
    assert mesh.unit == "meters"
    assert [part.name for part in mesh.parts] == ["pin <b>", "plate"]
    assert all(part.mesh.is_watertight for part in mesh.parts)
    assert mesh.parts[1].mesh.volume == pytest.approx(16e-6, rel=1e-6)
    with pytest.raises(ParseError, match="STEP"):
        gk.load(save("junk.stp", b"hello"))
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
def test_endless_step_reader_is_stopped(save, monkeypatch):
    monkeypatch.setattr(process, "SECONDS", 0.3)
    monkeypatch.setattr(process, "_RUN", ("-c", "import time; time.sleep(60)"))
    with pytest.raises(ParseError) as caught:
        gk.load(save("endless.step", b"x"))
    assert_names(caught.value, "STEP", "0.3 s")


@pytest.mark.full
@pytest.mark.parametrize(("size", "limit"), [(1700, "30.1"), (20_000_000, "1230")])
def test_time_limit_of_reader_depends_on_file_size(tmp_path, monkeypatch, size, limit):
    def run(command, *, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    path = tmp_path / "endless.vtk"
    with path.open("wb") as file:
        file.truncate(size)
    monkeypatch.setattr(process.subprocess, "run", run)
    with pytest.raises(ParseError, match=rf"\bVTK\b.*\b{limit} s\b"):
        gk.load(path)


PARENT = """
import sys
from pathlib import Path
from gjk3d.files import process
process._RUN = ("-c", sys.argv[2])
process.converted(Path(sys.argv[1]), "VTK")
"""
READER = """
import sys, time
from gjk3d.files import process
def endless(source, target):
    with open(source, "wb", 0) as pipe:
        pipe.write(b"x")
        time.sleep(60)
process.READERS["VTK"] = endless
process._main(*sys.argv[1:])
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_reader_ends_with_its_parent_process(tmp_path):
    pipe = tmp_path / "seen.vtk"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", PARENT, str(pipe), READER]) as parent, pipe.open("rb", 0) as seen:
        assert seen.read(1) == b"x"
        parent.kill()
        assert select.select([seen], [], [], 20.0)[0]  # the end of the pipe: the reader has closed it
        assert seen.read() == b""


@pytest.mark.full
def test_crash_of_step_reader_raises(save, monkeypatch):
    monkeypatch.setattr(process, "_RUN", ("-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    with pytest.raises(ParseError, match="signal 11"):
        gk.load(save("crash.step", b"x"))


@pytest.mark.full
def test_3dxml_places_every_instance(tmp_path):
    write_zip(tmp_path / "two.3dxml", threedxml())
    mesh = gk.load(tmp_path / "two.3dxml")
    assert (mesh.unit, mesh.bounds.tolist()) == ("millimeters", [[0, 0, 0], [11, 1, 1]])
    assert [part.name for part in mesh.parts] == ["cube", "cube_1"]
    assert all(part.mesh.is_watertight for part in mesh.parts)


@pytest.mark.full
def test_xaml_uses_meters(save):
    mesh = gk.load(save("cube.xaml", xaml()))
    assert (mesh.unit, mesh.name, mesh.bounds.tolist()) == ("meters", "cube", [[5, 0, 0], [6, 1, 1]])


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".vtp", ".vtk"])
def test_files_of_pyvista_load(tmp_path, suffix):
    sphere = pyvista.Sphere()
    sphere.save(tmp_path / f"ball{suffix}")
    mesh = gk.load(tmp_path / f"ball{suffix}")
    assert (mesh.name, len(mesh.faces), mesh.is_watertight) == ("ball", sphere.n_cells, True)
    assert np.array_equal(mesh.vertices, np.asarray(sphere.points, dtype=np.float64))


@pytest.mark.full
def test_volume_loads_as_its_surface(tmp_path):
    pyvista.ImageData(dimensions=(3, 3, 3)).cast_to_unstructured_grid().save(tmp_path / "block.vtk")
    mesh = gk.load(tmp_path / "block.vtk")
    assert (mesh.volume, mesh.is_watertight) == (pytest.approx(8.0), True)


@pytest.mark.full
def test_vtk_file_of_points_raises_with_a_cure(tmp_path):
    pyvista.PolyData(np.eye(3)).save(tmp_path / "seen.vtp")
    with pytest.raises(ParseError) as caught:
        gk.load(tmp_path / "seen.vtp")
    cure = ("data = pyvista.read(file)", "gjk3d.PointCloud(data.points, radius)")
    assert_names(caught.value, "seen.vtp", "3 points", *cure)


DAMAGED = {
    "short.vtk": vtk()[:-20],
    "many.vtk": vtk(count=10**12, size=4 * 10**12),
    "high.vtk": vtk().replace(b"4 0 1 3 2", b"4 0 1 3 99"),
    "junk.vtp": bytes(range(256)) * 20,
    "short.vtp": b'<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="10" NumberOfPolys="5">',
    "none.xaml": b"<a/>",
    "entity.xaml": b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + xaml(),
    "short.xaml": xaml()[:300],
}


@pytest.mark.full
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_of_reader_processes_raise(save, name):
    path = save(name, DAMAGED[name])
    if name == "entity.xaml":  # entities are not resolved, so this one does no harm
        assert len(gk.load(path).faces) == 12
        return
    with pytest.raises(ParseError, match=re.escape(name)):
        gk.load(path)


# --- archives -------------------------------------------------------------------------------------------------------


def test_zip_loads_all_its_models(tmp_path):
    members = {"a/cube.stl": stl_binary(), "b.obj": obj(), "notes.txt": "x", "__MACOSX/._b.obj": "x", "in.zip": "x"}
    write_zip(tmp_path / "two.zip", members)
    mesh = gk.load(tmp_path / "two.zip")
    assert ([part.name for part in mesh.parts], mesh.unit) == (["a/cube/cube", "b/b"], None)
    assert gk.load(tmp_path / "two.zip", part="b/b").volume == pytest.approx(1.0)


def test_zip_of_one_model_equals_that_model(tmp_path):
    tree, data = gltf_tree(ONE, uri="cube.bin")
    write_zip(tmp_path / "one.zip", {"cube.gltf": json.dumps(tree), "cube.bin": data})
    mesh = gk.load(tmp_path / "one.zip")
    assert (mesh.unit, mesh.name, mesh.volume) == ("meters", "cube", pytest.approx(1.0))


def test_zip_members_stay_within_the_folder(tmp_path):
    write_zip(tmp_path / "bad.zip", {"../../out.stl": stl_binary(), "/top.stl": stl_binary()})
    assert len(gk.load(tmp_path / "bad.zip").parts) == 2
    assert not list(tmp_path.parent.glob("**/out.stl"))


@pytest.mark.parametrize(
    ("members", "fragments"),
    [
        ({"x.txt": ""}, ("no model", ".3dxml")),
        ({"x.stl": stl_binary()[:200]}, ("x.stl:", "12 triangles", "684 bytes")),
        ({"x.glb": glb(ONE), "b.obj": obj()}, ("b.obj", "x.glb meters")),
        ({"x.stl": b"\0" * 100_000_000}, ("100000000 bytes",)),
    ],
)  # fmt: skip
def test_invalid_archives_raise(tmp_path, members, fragments):
    write_zip(tmp_path / "bad.zip", members)
    with pytest.raises(ParseError) as caught:
        gk.load(tmp_path / "bad.zip")
    assert str(caught.value).startswith(str(tmp_path / "bad.zip"))
    assert_names(str(caught.value).removeprefix(str(tmp_path / "bad.zip")), *fragments)
    assert tempfile.gettempdir() not in str(caught.value).replace(str(tmp_path), "")


def test_zip_file_without_archive_raises(save):
    with pytest.raises(ParseError) as caught:
        gk.load(save("no.zip", b"hello"))
    assert_names(caught.value, "ARCHIVE", "BadZipFile")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\n  "),
        lambda text: "\n \n" + text,
        lambda text: text.replace(" ", "\t"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "  \r\n"),
    ],
)  # fmt: skip
def test_off_with_unusual_blanks_loads(save, change):
    text = off().decode().replace("OFF # by hand", "OFF")
    assert gk.load(save("cube.off", change(text).encode())).volume == pytest.approx(1.0)


# --- scenes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [glb, gltf])
def test_transforms_are_applied_to_vertices(save, write):
    turn = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # a quarter turn about z, as a quaternion xyzw
    nodes = [
        {"name": "moved", "mesh": 0, "translation": [10, 0, 0]},
        {"name": "scaled", "mesh": 0, "scale": [2, 3, 4], "translation": [0, 10, 0]},
        {"name": "mirrored", "mesh": 0, "scale": [-1, 1, 1]},
        {"name": "turned", "mesh": 0, "rotation": turn, "translation": [0, 0, 10]},
        {"name": "sheared", "mesh": 0, "matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 20, 0, 0, 1]},
        {"name": "frame", "children": [6], "translation": [0, -20, 0], "scale": [2, 2, 2]},
        {"name": "child", "mesh": 0, "translation": [1, 1, 1]},
    ]
    mesh = gk.load(save("scene." + write.__name__, write(nodes, scenes=[{"nodes": [0, 1, 2, 3, 4, 5]}])))
    parts = {part.name: part.mesh for part in mesh.parts}
    assert list(parts) == ["child", "mirrored", "moved", "scaled", "sheared", "turned"]
    expected = {
        "child": ([[2, -18, 2], [4, -16, 4]], 8),
        "mirrored": ([[-1, 0, 0], [0, 1, 1]], 1),
        "moved": ([[10, 0, 0], [11, 1, 1]], 1),
        "scaled": ([[0, 10, 0], [2, 13, 4]], 24),
        "sheared": ([[20, 0, 0], [21.5, 1, 1]], 1),
        "turned": ([[-1, 0, 10], [0, 1, 11]], 1),
    }
    for name, (bounds, volume) in expected.items():
        np.testing.assert_allclose(parts[name].bounds, bounds, atol=1e-12)
        assert parts[name].volume == pytest.approx(volume, abs=1e-12)  # positive: the mirrored part is not inside out
        assert parts[name].is_watertight
    assert mesh.volume == pytest.approx(36.0)
    assert len(mesh.faces) == 6 * 12


def test_mesh_with_several_materials_is_one_closed_part(save):
    nodes = [{"name": "b10", "mesh": 1}, {"name": "b2", "mesh": 1, "translation": [3, 0, 0]}]
    mesh = gk.load(save("two.glb", glb(nodes)))
    assert [(part.name, part.mesh.is_watertight) for part in mesh.parts] == [("b2", True), ("b10", True)]


def test_part_loads_by_name(save):
    nodes = [{"name": f"bolt {i}", "mesh": 0, "translation": [i, 0, 0]} for i in range(3)]
    path = save("a.glb", glb(nodes))
    part = gk.load(path, part="bolt 2")
    assert part.name == "bolt 2"
    assert part.source == path
    assert part.bounds[0, 0] == 2.0
    with pytest.raises(ParseError) as caught:
        gk.load(path, part="bolt2")
    assert_names(caught.value, "'bolt2'", "'bolt 2'", "'bolt 1'", "'bolt 0'")


def test_obj_objects_and_stl_solids_keep_their_names(save):
    data = (
        obj(name="left")
        + b"o right side\n"
        + b"".join(
            line.replace(b"v ", b"v 5") + b"\n" if line.startswith(b"v") else line + b"\n"
            for line in obj().split(b"\n")[2:10]
        )
        + b"".join(b"f " + b" ".join(b"%d" % (i + 9) for i in face) + b"\n" for face in QUADS.tolist())
    )
    mesh = gk.load(save("two.obj", data))
    assert [part.name for part in mesh.parts] == ["left", "right side"]
    assert all(part.mesh.is_watertight for part in mesh.parts)
    mesh = gk.load(save("two.stl", stl_text("left") + stl_text("right side", CORNERS + 2)))
    assert [(part.name, part.mesh.volume) for part in mesh.parts] == [("left", 1.0), ("right side", pytest.approx(1))]


def test_stl_solid_with_keyword_in_its_name_loads(save):
    assert gk.load(save("a.stl", stl_text("vertex_normal facet"))).volume == pytest.approx(1.0)


def test_relative_obj_indices_count_from_their_line(save):
    lines = obj().split(b"\n")
    faces = [b"f " + b" ".join(b"%d" % (i - 8) for i in face) for face in QUADS.tolist()]
    later = [b"v 7 7 7", b"v 8 7 7", b"v 7 8 7", b"f -3 -2 -1"]
    mesh = gk.load(save("relative.obj", b"\n".join([*lines[:10], *faces, *later, b""])))
    assert len(mesh.faces) == 13
    assert [body.open_edges for body in mesh.bodies()] == [0, 3]
    assert mesh.bounds[1].tolist() == [8, 8, 7]


@pytest.mark.parametrize(
    "made",
    [
        lambda d: d.replace(b"v ", b"v\t").replace(b"f ", b"f\t"),
        lambda d: d.replace(b"v ", b"  v ").replace(b"f ", b"\t f "),
    ],
)
def test_obj_with_tabs_and_indents_loads(save, made):
    mesh = gk.load(save("odd.obj", made(obj())))
    assert len(mesh.faces) == 12
    assert mesh.is_watertight


TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
TWO = TRIANGLE + b"v 0 0 1\nvt 0 0\nvn 0 0 1\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + TRIANGLE + b"f 1 2 3\n",
        b"\xef\xbb\xbf# made by hand\n" + TRIANGLE + b"f 1 2 3\n",
        TRIANGLE.replace(b"\n", b" # corner\n") + b"f 1 2 3 # base\n",
        b"# C:\\models\\\n" + TRIANGLE + b"f 1 2 3\n",
        b"o part #1\ng\ts\\\n2\nusemtl #1\ns off\n" + TRIANGLE + b"l 1 2\np 3\nf 1 \\\r\n 2\\\r\n 3\n",
        b"v 0 0 \\\n0\n" + TRIANGLE[8:] + b"vp 0.5 0.5\ncstype bezier\ncurv2 1 2\nend\ncall a.obj\nfo 1 2 3\n",
        TRIANGLE.replace(b"\n", b"\r", 1) + b"format of hand\nf  +1 2 3 \n",
        TRIANGLE.replace(b"1 0 0", b"1. 0e0 .0 1").replace(b"0 1 0", b"0 1 0 0.5 0.5 0.5") + b"f 1 2 3\n",
    ],
)
def test_obj_dialects_of_exporters_load(save, data):
    mesh = gk.load(save("a.obj", data))
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("faces", "expected"),
    [
        (b"f 1/1 2/1 3\n", [[0, 1, 2]]),
        (b"f 1/1/1 2//1 3/1\nf 1 2/1 4/1\n", [[0, 1, 2], [0, 1, 3]]),
        (b"f 1//1 2/1/1 3\nf -1 -3//-1 -2/-1\n", [[0, 1, 2], [3, 1, 2]]),
        (b"f 1 2/1 3/1 4\n", [[0, 1, 2], [2, 3, 0]]),
        (b"f 1/ 2/ 3/\nf 2/1/ 3//1 4\n", [[0, 1, 2], [1, 2, 3]]),
    ],
)
def test_obj_faces_in_several_forms_load(save, faces, expected):
    assert gk.load(save("a.obj", TWO + faces)).faces.tolist() == expected


@pytest.mark.parametrize("sign", ["\u200b", "\u00a0", "\f", "\v", "\ufeff\ufeff"])
def test_obj_vertex_after_invisible_character_raises(save, sign):
    with pytest.raises(ParseError, match=r"line 2\b.*v 1 0 0'"):
        gk.load(save("a.obj", TWO.replace(b"v 1", sign.encode() + b"v 1") + b"f 1 2 3\n"))


# --- invalid files ----------------------------------------------------------------------------------------------------


def test_missing_and_unreadable_paths_raise(tmp_path, save):
    save("bracket.stl", stl_binary())
    with pytest.raises(FileError) as caught:
        gk.load(tmp_path / "braket.stl")
    assert_names(caught.value, "braket.stl", "'bracket.stl'?")
    with pytest.raises(FileNotFoundError):
        gk.load(tmp_path / "none" / "a.stl")
    with pytest.raises(FileError, match=r"\bfolder\b"):
        gk.load(str(tmp_path))
    with pytest.raises(FileError):
        gk.load("https://example.com/a.stl")
    with pytest.raises(FileError):
        gk.load("a\0b.stl")
    with pytest.raises(FileError):
        gk.load("x" * 5000 + ".stl")
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(FileError) as caught:
        gk.load(tmp_path / "pipe.stl")
    assert_names(caught.value, "pipe.stl", "a pipe", "Save its content")
    with pytest.raises(TypeError, match=r"path\b.*\bint\b"):
        gk.load(7)


@pytest.mark.parametrize(
    ("name", "data", "fragments"),
    [
        ("empty.stl", b"", ("empty", "0 triangles", "0 bytes")),
        ("junk.stl", b"\x00\x01 junk" * 5, ("35 bytes", "binary STL")),
        ("words.stl", b"solid nothing\nendsolid nothing\n", ("0 triangles", "31 bytes")),
        ("none.stl", stl_binary(faces=[]), ("0 triangles", "84 bytes")),
        (
            "truncated.stl",
            stl_binary()[:-60],
            ("12 triangles", "684 bytes", "624 bytes", "truncated"),
        ),
        ("tail.stl", stl_binary() + b"x" * 7, ("12 triangles", "684 bytes", "691 bytes", "7 bytes follow")),
        ("text.stl", stl_text()[:-300], ("10 facets", "28 vertices", "truncated")),
        ("corner.stl", stl_text().replace(b"vertex", b"", 1), ("12 facets", "35 vertices")),
        ("late.stl", b"solid x\n" + b"abc def\n" * 9, ("9 of 10", "'abc def'")),
        (
            "nan.stl",
            stl_binary(np.where(CORNERS == 1, np.nan, CORNERS)),
            ("part 'nan'", "vertices[", "nan]", "30 of 36"),
        ),
        ("points.ply", ply_text(faces=QUADS[:0]), ("0 triangles", "1 PointCloud")),
        ("rows.ply", ply_text()[:-20], ("14 rows", "12 are", "truncated")),
        ("row.ply", ply_text()[:-3], ("14 rows", "the last is incomplete", "truncated")),
        ("truncated2.ply", ply_binary()[:-5], ("as PLY", "ValueError")),
        ("bare.ply", ply_binary().replace(b"element v", b"element foo 9\nelement v"), ("'foo'", "properties")),
        ("junk.ply", b"hello", ("PLY header", "'end_header'")),
        ("range.ply", ply_text(faces=QUADS + 4), ("faces[1]", "8 vertices")),
        ("rows.off", off()[:-20], ("14 rows", "12 are", "truncated")),
        ("row.off", off()[:-3], ("14 rows", "the last is incomplete", "truncated")),
        ("more.off", off() + b"# one more\n3 0 1 2\n", ("8 vertices", "6 faces", "line 18", "'3 0 1 2'")),
        ("junk.off", b"NOT OFF AT ALL", ("OFF", "COFF")),
        ("four.off", b"4OFF\n1 1 1\n", ("OFF", "COFF")),
        ("range.obj", obj(faces=QUADS + 4), ("line 12", "'f 9 11 12 10'", "8 vertices")),
        ("zero.obj", obj(faces=QUADS - 1), ("line 11", "'f 0 1 3 2'", "from 1")),
        ("before.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 -2 -1\n", ("line 4", "'f -4 -2 -1'")),
        ("words.obj", b"hello\nworld\n", ("2 of 2", "'hello'")),
        ("glued.obj", b"v0 0 0\n" + obj(), ("line 1,", "'v0 0 0'")),
        ("capital.obj", obj() + b"V 0 0 0\n", ("line 17", "'V 0 0 0'")),
        ("comma.obj", b"v 0,5 0 0\n" + obj(), ("line 1,", "'v 0,5 0 0'", "'v x y z'", "comma")),
        ("flat.obj", b"# flat\n\nv 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", ("line 3", "'v 0 0'", "'v x y z'")),
        ("two.obj", obj() + b"f 1 2\n", ("line 17", "'f 1 2'", "'f 1 2 3'")),
        ("word.obj", b"v 0 0 \\\n0\n" + obj() + b"f 1 2 x\n", ("line 19", "'f 1 2 x'", "'f 1 2 3'")),
        ("only.obj", b"v 0 0 0\nv 1 0 0\n", ("0 triangles", "16 bytes", "'f 1 2 3'")),
        ("none.obj", b"f 1 2 3\n", ("0 triangles", "8 bytes", "'v x y z'")),
        ("nul.obj", obj() + bytes(9), ("byte 201", "NUL")),
        ("range.off", off()[:-2] + b"9\n", ("faces[5]", "7, 9'", "8 vertices")),
        ("words.off", off().replace(b"1.0 0.0 0.0", b"1.0 abc 0.0"), ("line 7", "'1.0 abc 0.0'", "numbers")),
        ("words.ply", ply_text().replace(b"0.0 1.0 0.0", b"0.0 x 0.0"), ("line 12", "'0.0 x 0.0'", "numbers")),
        ("fives.ply", ply_binary(counts=(8, 400)), ("400 of 'face'", "5392 bytes")),
        ("lines.obj", b"v 0 0 0\nv 1 0 0\nl 1 2\n", ("0 triangles", "22 bytes", "'f 1 2 3'")),
        ("junk.glb", b"x" * 100, ("20 bytes", "GLB header")),
        ("truncated.glb", glb(ONE)[:-30], ("1056 bytes", "1026", "truncated")),
        ("unplaced.glb", glb([]), ("0 triangles", "1028 bytes")),
        ("junk.gltf", b"{", ("as GLTF", "JSONDecodeError")),
        ("list.gltf", b"[]", ("glTF",)),
        ("deep.gltf", b"[" * 200_000, ("JSON", "too deep")),
        ("loop.gltf", gltf(LOOP, scenes=[{"nodes": [0]}]), ("nodes[0]", "contains itself")),
        ("old.glb", struct.pack("<III", 0x46546C67, 1, 20) + b"x" * 8, ("version 1", "version 2")),
        ("empty.3mf", b"PK\5\6" + bytes(18), ("zip archive", "3D/3dmodel.model")),
        ("junk.3mf", b"PK hello", ("as 3MF", "BadZipFile")),
        ("what.xyz", b"1 2 3", ("'.xyz'", ".stl .obj .ply .off .glb .gltf .3mf .dae .step .stp")),
        ("plain", b"1 2 3", ("''", ".stl .obj")),
    ],
)
def test_error_names_the_fault_of_the_file(save, name, data, fragments):
    path = save(name, data)
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert_names(text.removeprefix(str(path)), *fragments)
    assert "\n" not in text
    assert len(text) < len(str(path)) + 420


WRONG_HEADERS = {
    "4e9.stl": stl_binary(count=4_000_000_000),
    "4e9.ply": ply_binary(counts=(4_000_000_000, 12)),
    "9e18.ply": ply_text(counts=(8, 9_000_000_000_000_000_000)),
    "9e18.off": off(counts=(9_000_000_000_000_000_000, 6)),
    "4e9 faces.off": off(counts=(8, 4_000_000_000)),
    "length.glb": glb(ONE)[:8] + struct.pack("<I", 4_000_000_000) + glb(ONE)[12:],
    "count.gltf": gltf(ONE, accessors=[{"componentType": 5126, "count": 10**15, "type": "MAT4"}]),
    "view.gltf": gltf(ONE, bufferViews=[{"buffer": 0, "byteLength": 10**15}] * 4),
    "instances.gltf": gltf([{"mesh": 0}] * 2000, meshes=None),
}


@pytest.mark.parametrize("name", WRONG_HEADERS)
def test_wrong_header_allocates_no_memory(save, name, monkeypatch):
    monkeypatch.setattr(readers, "FEW_TRIANGLES", 20_000)
    monkeypatch.setattr(readers, "TRIANGLES_PER_BYTE", 0)
    path = save(name, WRONG_HEADERS[name])
    with contextlib.suppress(ParseError):
        gk.load(path)  # imports modules, whose memory does not count
    tracemalloc.start()
    try:
        with pytest.raises(ParseError):
            gk.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


TEXT = b"abc def\n" * 400_000
WASTE = {
    "zeros": os.urandom(1 << 16) + bytes(3_000_000),
    "text": TEXT,
    "random": os.urandom(3_000_000),
    "blanks": b" " * 3_000_000,
    "lines": b"\n" * 3_000_000,
}
#: valid headers, followed by data of another kind
LATE = {
    "late.obj": obj() + TEXT,
    "nul.obj": obj() + bytes(3_000_000),
    "zeros.ply": ply_text(counts=(300_000, 6)) + bytes(3_000_000),
    "words.ply": ply_text(counts=(300_000, 6)) + TEXT,
    "zeros.off": off(counts=(300_000, 6)) + bytes(3_000_000),
    "words.off": off(counts=(300_000, 6)) + TEXT,
    "remarks.off": off(counts=(300_000, 6)) + b"# remark\n" * 300_000,
    "no corners.ply": ply_binary(counts=(8, 2_000_000)) + bytes(3_000_000),
    "objects.gltf": b'{"meshes": [' + b"{}," * 1_000_000 + b"{}]}",
    "nested.glb": struct.pack("<4sIIII", b"glTF", 2, 3_000_020, 3_000_000, 0x4E4F534A) + b"[" * 3_000_000,
    "facets.stl": b"solid x\n" + b"facet normal 0 0 1\n" * 100_000,
}


@pytest.mark.parametrize("name", [*(f"{what}{kind}" for what in WASTE for kind in FORMATS), *LATE])
def test_garbage_is_rejected_before_reading(save, name, monkeypatch):
    """Garbage raises before trimesh reads it, which would take many times the time and memory of the file's size."""
    monkeypatch.setattr(load, "_read", lambda *_: pytest.fail("the reader was called"))
    monkeypatch.setattr(load.gltf, "MAX_VALUES", 500_000)
    monkeypatch.setattr(load.stl_ply_off, "MAX_REMARKS", 200_000)
    path = save(name, LATE[name] if name in LATE else WASTE[name.split(".")[0]])
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert len(str(caught.value)) < len(str(path)) + 420


def test_blank_lines_and_comments_are_not_garbage(save):
    text = off().replace(b"\n", b"\n\n# a remark with words\n")
    for data in (text, text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\r") + b"\r", text + b"\n" * 5000):
        assert len(gk.load(save("cube.off", data)).faces) == 12
    text = b"\n".join(b"# " + b"no word of OBJ " * 9 + b"\n" + line for line in obj().split(b"\n"))
    for data in (text, text.replace(b"\n", b"\r\n"), b"hello\n" * 8 + text):
        assert len(gk.load(save("cube.obj", data)).faces) == 12
    for data in (ply_text(), ply_text().replace(b"\n", b"\r\n"), ply_text() + b"\nthe end\n"):
        assert len(gk.load(save("cube.ply", data)).faces) == 12


def test_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.3mf"
    write_3mf(path, [("a", np.zeros((100_000, 3)), TRIANGLES)])
    monkeypatch.setattr(load.readers, "MAX_UNPACKED", 1 << 20)
    with pytest.raises(ParseError, match=r"\b1048576\b"):
        gk.load(path)
    monkeypatch.undo()
    monkeypatch.setattr(load.readers, "SMALL", 1 << 20)
    with pytest.raises(ParseError, match=r"unpacks from \d+ to \d+ bytes, expected at most \d+ bytes"):
        gk.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("3D/3dmodel.model", TEXT)
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert_names(caught.value, "3D/3dmodel.model", "XML", "'abc def")


def test_compressed_and_quantized_positions_raise(save):
    tree, _ = gltf_tree(ONE, extensionsUsed=["KHR_draco_mesh_compression"])
    del tree["accessors"][0]["bufferView"]
    with pytest.raises(ParseError) as caught:
        gk.load(save("draco.gltf", json.dumps(tree).encode()))
    assert_names(caught.value, "accessors[0]", "without compression")
    tree, _ = gltf_tree(ONE)
    tree["accessors"][0]["normalized"] = True
    with pytest.raises(ParseError, match="quantized"):
        gk.load(save("quantized.gltf", json.dumps(tree).encode()))


def test_gltf_reads_buffers_only_from_its_folder(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    tree, data = gltf_tree(ONE, uri="my cube.bin")
    (folder / "my cube.bin").write_bytes(data)
    (tmp_path / "outside.bin").write_bytes(data)
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    path = folder / "cube.gltf"
    for uri in ("my cube.bin", "my%20cube.bin"):
        tree["buffers"][0]["uri"] = uri
        path.write_text(json.dumps(tree))
        assert gk.load(path).is_watertight
    for uri in (
        "../outside.bin",
        "%2e%2e/outside.bin",
        str(tmp_path / "outside.bin"),
        "link.bin",
        "http://x.invalid/a",
    ):
        tree["buffers"][0]["uri"] = uri
        path.write_text(json.dumps(tree))
        with pytest.raises(ParseError) as caught:
            gk.load(path)
        assert_names(caught.value, f"'{uri[:40]}", "folder")  # the message truncates a long URI


def test_obj_materials_are_not_opened(save, tmp_path):
    os.mkfifo(tmp_path / "nowhere.mtl")  # reading it would hang
    assert gk.load(save("cube.obj", obj())).is_watertight


# DAMAGED contains variants of cube.vtk
@pytest.mark.parametrize("name", [*(name for name in CUBES if name != "cube.vtk"), "two.3mf"])
def test_damaged_files_raise_only_parse_error(save, tmp_path, name):
    if name == "two.3mf":
        write_3mf(tmp_path / "a.3mf", [("cube", CORNERS, TRIANGLES)])
        data = (tmp_path / "a.3mf").read_bytes()
    else:
        data = CUBES[name]
    rng = np.random.default_rng(len(name))
    good = bad = 0
    for trial in range(40):
        damaged = bytearray(data)
        if trial % 2:
            damaged = damaged[: rng.integers(len(data))]
        else:
            for _ in range(4):
                damaged[rng.integers(len(damaged))] = rng.integers(256)
        try:
            mesh = gk.load(save(name, bytes(damaged)))
            good += 1
            assert np.isfinite(mesh.vertices).all()
        except ParseError:
            bad += 1
    assert good + bad == 40
    assert bad >= 10


def test_missing_extra_raises_import_error_with_cure(save, monkeypatch):
    monkeypatch.setattr(load.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError) as caught:
        gk.load(save("a.3mf", b"x"))
    assert_names(caught.value, "lxml", 'pip install "gjk3d[io]"')
    with pytest.raises(ImportError) as caught:
        gk.load(save("a.step", b"x"))
    assert_names(caught.value, "cascadio", 'pip install "gjk3d[io]"')


def test_load_prints_nothing_and_keeps_the_log_level(save, capfd):
    level = logging.getLogger("trimesh").level
    for name in ("words.stl", "words.obj"):
        with pytest.raises(ParseError):
            gk.load(save(name, b"solid \nendsolid\n" if "stl" in name else b"hello\n"))
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("trimesh").level == level


@pytest.mark.full
def test_load_imports_no_pyvista_and_no_numba(save):
    code = (
        "import sys, gjk3d as gk; gk.load(sys.argv[1]); "
        "print([m for m in ('pyvista', 'numba', 'matplotlib') if m in sys.modules])"
    )
    path = save("cube.stl", stl_binary())
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_unit_argument_overrides_unit_of_file(tmp_path):
    path = tmp_path / "cube.glb"
    path.write_bytes(trimesh.Scene(trimesh.creation.box()).export(file_type="glb"))
    mesh = gk.load(path, unit="mm")
    assert (mesh.unit, {part.mesh.unit for part in mesh.parts}) == ("mm", {"mm"})
    assert mesh.bounds.tolist() == gk.load(path).bounds.tolist()
