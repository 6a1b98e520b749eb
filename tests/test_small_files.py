"""Each small file is read, or refused with the limit that it exceeds, within 5 s of CPU time."""

from __future__ import annotations

import json
import os
import subprocess
import tracemalloc
import warnings
from typing import Any

import pytest
from message_checks import assert_names
from model_hangs import (
    FILES,
    chain_glb,
    copied_dae,
    grid_vtk,
    mjcf,
    nested_3mf,
    nested_dae,
    triangle_dae,
    triangle_glb,
    urdf,
)

import gjk3d as gk
import gjk3d.robot
from gjk3d.clash.report.baseline import read_baseline
from gjk3d.errors import FileError, ParseError
from gjk3d.files import process, readers
from gjk3d.replay import document

SECONDS = 5.0


def read(path) -> Any:
    """Read a model, a robot or a motion."""
    if path.suffix == ".toml":
        return gk.clash.read_motion(path)
    return gk.robot.Robot.load(path) if path.suffix in (".urdf", ".xml") else gk.load(path)


def seconds() -> float:
    """Return the CPU time of this process and its children."""
    return sum(os.times()[:4])


def timed(path) -> str:
    """Return the error message of a refused file, or the empty string for a file that is read."""
    start, message = seconds(), ""
    try:
        read(path)
    except ParseError as error:
        message = str(error)
    assert seconds() - start < SECONDS + 1.0  # the limit of a reading process, and its start
    return message


IN_OTHER_PROCESS = ("replicate.xml", "field.xml", "grid.vtk")
SLOW = ("copies.dae", "few_names.stl", "few_nodes.glb", "few_models.zip")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full) if name in IN_OTHER_PROCESS + SLOW else name for name in FILES]
)
def test_small_files_are_read_or_refused_quickly(tmp_path, name):
    make, named = FILES[name]
    path = tmp_path / name
    path.write_bytes(make())
    assert path.stat().st_size < 1_000_000
    message = timed(path)
    assert bool(message) == bool(named)
    assert_names(message, "", *named)


@pytest.mark.parametrize("name", [pytest.param("links.urdf", marks=pytest.mark.full), "dots.toml"])
def test_small_files_take_little_memory(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name][0]())
    tracemalloc.start()
    try:
        timed(path)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [1, 2, 3, 150])
def test_nested_nodes_compose_their_transforms(tmp_path, count):
    nodes = [{"translation": [0.1, 0, 0], "children": [k + 1]} for k in range(count)]
    path = tmp_path / "chain.glb"
    path.write_bytes(triangle_glb([*nodes, {"mesh": 0}], [0]))
    assert gk.load(path).vertices.max(axis=0) == pytest.approx([1.0 + 0.1 * count, 1.0, 0.0])
    path.write_bytes(chain_glb(201))
    assert len(gk.load(path).faces) == 1
    path.write_bytes(chain_glb(202))
    with pytest.raises(ParseError, match="200"):
        gk.load(path)


def test_copies_are_read_up_to_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_PLACED", 32)
    monkeypatch.setattr(readers, "BYTES_PER_PLACED", 1000)
    for name, make in {"a.3mf": lambda k: nested_3mf(k, 2), "a.dae": nested_dae}.items():
        path = tmp_path / name
        path.write_bytes(make(4))
        assert len(gk.load(path).faces) in (16, 17)
        path.write_bytes(make(6))
        with pytest.raises(ParseError, match=r"places \d+ objects, expected at most 32 in a file of \d+ bytes"):
            gk.load(path)


@pytest.mark.parametrize("name", ["a.3mf", "a.dae"])
def test_triangles_of_copies_are_counted_before_copying(tmp_path, monkeypatch, name):
    monkeypatch.setattr(readers, "FEW_TRIANGLES", 10)
    monkeypatch.setattr(readers, "TRIANGLES_PER_BYTE", 0)
    path = tmp_path / name
    path.write_bytes({"a.3mf": nested_3mf(4, 2), "a.dae": nested_dae(4)}[name])
    with pytest.raises(ParseError, match=r"1[67] triangles in all copies.*, expected at most 10"):
        gk.load(path)


@pytest.mark.parametrize(
    ("asset", "length"),
    [
        ("", 1.0),
        ('<asset><unit name="inch" meter="0.0254"/></asset>', 0.0254),
        ('<!-- <unit meter="7"/> --><asset><!-- <unit meter="8"/> --><unit meter="0.5"/></asset>', 0.5),
        ("<asset><unit/></asset>", 1.0),
        ('<asset><contributor><unit meter="3"/></contributor></asset>', 1.0),
    ],
)
def test_collada_unit_is_read_from_its_asset(tmp_path, asset, length):
    path = tmp_path / "a.dae"
    path.write_bytes(triangle_dae(asset))
    assert gk.load(path).vertices.max() == length


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0", "1,5", ""])
def test_invalid_collada_units_raise(tmp_path, text):
    path = tmp_path / "a.dae"
    path.write_bytes(triangle_dae(f'<asset><unit meter="{text}"/></asset>'))
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert_names(caught.value, str(path), f"meter={text!r}", "positive")


@pytest.mark.parametrize("number", ["nan", "NaN"])
def test_nan_positions_of_collada_raise(tmp_path, number):
    """pycollada would replace NaN by 0. Other arrays, such as normals, may contain NaN."""
    path = tmp_path / "a.dae"
    path.write_bytes(triangle_dae("").replace(b"0 1 0<", f"0 {number} 0<".encode()))
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert_names(caught.value, str(path), "'p'", "NaN")
    text = triangle_dae("").decode()
    source = text[text.index("<source") : text.index("<vertices")]
    normals = source.replace('id="p', 'id="n').replace("#pa", "#na").replace("0 1 0<", f"0 {number} 0<")
    path.write_text(text.replace("<vertices", f"{normals}<vertices"))
    assert gk.load(path).vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_collada_copies_have_poses_of_their_nodes(tmp_path):
    path = tmp_path / "a.dae"
    node = b'<node id="n">'
    placed = b"<translate>0 0 5</translate><rotate>0 0 1 90</rotate>"
    path.write_bytes(copied_dae(3).replace(node, node + placed).replace(b"xml:", b""))
    mesh = gk.load(path)
    assert len(mesh.faces) == 3
    assert mesh.vertices[:, 2].tolist() == [5.0] * len(mesh.vertices)


@pytest.mark.parametrize("text", ["a" + " . a" * 20 + " = 1", "[" + "b." * 20 + "b]", '"x"' + ".'y'" * 20 + " = 1"])
def test_toml_keys_of_many_names_raise(tmp_path, text):
    for read_file in (gk.clash.read_motion, gk.clash.read_rules):
        path = tmp_path / "a.toml"
        path.write_text(text)
        with pytest.raises(ParseError, match="20 names"):
            read_file(path)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 900_000, '"' + '\\"' * 400_000, "'" * 899_999, '"' * 899_999, "a " * 400_000, "a\t." * 300_000 + " =",
        '"""' + "a" * 900_000, "x = { y = " * 90_000,
    ],
)  # fmt: skip
def test_long_toml_texts_are_refused_quickly(tmp_path, text):
    path = tmp_path / "a.toml"
    path.write_text(text)
    assert timed(path)


HIDDEN = "a" + ".a" * 20


@pytest.mark.parametrize(
    "text", ['x = """ \\""" """', 'x = """"b""""', "x = ''''b''''", 'x = "\\\\"', "# it's", 'x = "it\'s"']
)
def test_toml_strings_do_not_hide_long_keys(tmp_path, text):
    path = tmp_path / "a.toml"
    for lines in (f"{text}\n{HIDDEN} = 1\n", f"z = {{ {text}, {HIDDEN} = 1 }}" if "#" not in text else HIDDEN):
        path.write_text(lines)
        with pytest.raises(ParseError, match="20 names"):
            gk.clash.read_rules(path)


def test_toml_strings_and_comments_may_contain_dots(tmp_path):
    name = ".".join("abcdefghijklmnopqrstuvwxyz")
    path = tmp_path / "a.toml"
    quoted = [f'"{name}"', f"'{name}'", f'"\\"{name}"', f'"""{name}"""', f"'''{name}'''"]
    rows = [f"[[ignore]] # {name}\na = {text}\nb = 'x'\nreason = 'y'\n" for text in quoted]
    path.write_text("".join(rows))
    assert [name in rule.a for rule in gk.clash.read_rules(path)] == [True] * len(quoted)


def test_deeply_nested_xml_raises(tmp_path):
    path = tmp_path / "a.srdf"
    path.write_text("<robot name='r'>" + "<note>" * 50_000 + "</note>" * 50_000 + "</robot>")
    robot = tmp_path / "r.urdf"
    robot.write_bytes(urdf(1))
    with pytest.raises(ParseError) as caught:
        gk.robot.Robot.from_urdf(robot, path)
    assert_names(caught.value, str(path), "500")
    path.write_text("<robot name='r'>" + "<note>" * 499 + "</note>" * 499 + "</robot>")
    assert gk.robot.Robot.from_urdf(robot, path).to_srdf(tmp_path / "again.srdf") is None


LONG = "n" * 5000


@pytest.mark.parametrize(
    ("reader", "kind"),
    [
        (gk.load, FileError), (gk.robot.Robot.load, FileError), (gk.clash.read_motion, FileError),
        (gk.clash.read_poses, FileError), (gk.clash.read_rules, FileError), (gk.clash.read_triage, FileError),
        (read_baseline, FileError), (document.read, FileError),
        (lambda name: gk.clash.formats.read_bcf(name, gk.clash.Report()), FileError),
    ],
)  # fmt: skip
def test_too_long_file_names_raise_file_error(reader, kind):
    with pytest.raises(kind):
        reader(LONG)


def test_long_names_are_shortened_in_messages(tmp_path):
    mesh = f'<mesh filename="package://a/{LONG}.stl"/>'
    robot = f"<robot name='r'><link name='a'><collision><geometry>{mesh}</geometry></collision></link></robot>"
    (tmp_path / "a.urdf").write_text(robot)
    with pytest.raises(FileError) as caught:
        gk.robot.Robot.load(tmp_path / "a.urdf")
    assert_names(caught.value, "'a'", "the mesh package://a/nnn", "was not found")
    assert LONG[:400] not in str(caught.value)
    with pytest.raises(FileError) as caught:
        gk.load(LONG)
    assert_names(caught.value, "nnn", "too long")
    assert LONG[:400] not in str(caught.value)
    (tmp_path / "a.toml").write_text(f"[[part]]\nparts = 'a'\nposes = '{LONG}.csv'\n")
    tree = {"asset": {"version": "2.0"}, "buffers": [{"uri": LONG, "byteLength": 3}]}
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    for reader, name in ((gk.clash.read_motion, "a.toml"), (gk.load, "a.gltf")):
        with pytest.raises(ParseError) as caught:
            reader(tmp_path / name)
        assert_names(caught.value, name)
        assert LONG[:400] not in str(caught.value)


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "secret.env", "link.csv", "a\\u0000.csv"])
def test_motion_reads_only_csv_files_of_its_folder(tmp_path, name):
    folder = tmp_path / "motion"
    folder.mkdir()
    for path in (tmp_path / "secret.csv", folder / "secret.env"):
        path.write_text("password\nhunter2,hunter2\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "a.toml").write_text(f'[[part]]\nparts = "a"\nposes = "{name}"\n')
    with pytest.raises(ParseError) as caught:
        gk.clash.read_motion(folder / "a.toml")
    assert_names(caught.value, str(folder / "a.toml"), "part 1", ".csv")
    assert str(caught.value).count("part 1") == 1
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "nodes", [[{"children": [2]}, {"children": [2]}, {"mesh": 0}], [{"children": [2, 2]}, {}, {"mesh": 0}]]
)
def test_node_with_two_parents_raises(tmp_path, nodes):
    path = tmp_path / "a.glb"
    path.write_bytes(triangle_glb(nodes, [0, 1]))
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert_names(caught.value, "nodes[2]", "nodes[0]", "a node for each copy")


LARGE = "<scale>1e308 1e308 1e308</scale>"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.glb", triangle_glb([{"mesh": 0, "scale": [1e300] * 3}], [0])),
        ("b.glb", triangle_glb([{"children": [1], "scale": [1e300] * 3}, {"mesh": 0, "scale": [1e300] * 3}], [0])),
        ("a.dae", triangle_dae('<asset><unit meter="1e308"/></asset>').replace(b"0 1 0<", b"0 1e300 0<")),
        ("b.dae", triangle_dae("").replace(b'<node id="n">', f'<node id="n">{LARGE}{LARGE}'.encode())),
        ("a.obj", b"v 1e308 1e308 0\nv -1e308 0 0\nv 0 1e300 0\nv 1e308 1 1\nf 1 2 3 4\n"),
        ("a.toml", b"length='km'\n[[part]]\nparts='a'\nlinear=[1e308,1e308,1e308]\n"),
        ("b.toml", b"length='km'\n[[part]]\nparts='a'\nposes='b.csv'\n"),
    ],
)
def test_overflowing_numbers_raise_without_warning(tmp_path, name, data):
    (tmp_path / "b.csv").write_text("0,1e308,1e308,0,1,0,0,0\n1,-1e308,1e308,0,1,0,0,0\n")
    path = tmp_path / name
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParseError) as caught:
            gk.clash.read_motion(path, "mm") if path.suffix == ".toml" else gk.load(path)
    assert "Warning" not in str(caught.value)


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_readers_of_small_files_use_one_blas_thread(tmp_path, monkeypatch, size):
    """On a machine of 24 cores, the threads of OpenBLAS alone would reserve the 1 GB of the limit."""
    path, started = tmp_path / "a.vtk", []

    def run(command, *, env, **more):
        started.append(env)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(process.subprocess, "run", run)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    path.write_bytes(grid_vtk(3).ljust(size))
    with pytest.raises(ParseError):
        gk.load(path)
    assert [env.get("OPENBLAS_NUM_THREADS") for env in started] == ["1" if size < process.SMALL else None]


@pytest.mark.full
def test_reading_mjcf_writes_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "balls.xml"
    path.write_bytes(mjcf(10))
    assert len(gk.robot.Robot.load(path).bodies) == 10
    assert len(gk.robot.Robot.load(path.read_text()).bodies) == 10
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
