"""Assemblies from files: names, units, frames, and unreadable files and parts."""

import importlib.util
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from model_files import CORNERS, QUADS, TRIANGLES, glb, obj, step, stl_binary, write_3mf

import gjk3d as gk
from gjk3d.clash import Assembly, check
from gjk3d.cli.app import main
from gjk3d.errors import FileError, ParseError
from gjk3d.units import conversion, doubt, length, symbol


@pytest.fixture
def save(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    return write


DATA = Path(__file__).parents[2] / "data"
METRE = b'<unit name="metre" meter="1"/>'  #: unit element of a Collada file


def names(assembly):
    return [part.name for part in assembly.parts]


def bounds(assembly, name):
    return next(part.mesh.bounds.tolist() for part in assembly.parts if part.name == name)


def test_gearbox_has_expected_paths_and_bounds():
    import json

    with open(DATA / "gearbox.truth.json") as file:
        truth = json.load(file)["parts"]
    assembly = Assembly.load(DATA / "gearbox.glb")
    assert assembly.unit == "m"
    assert sorted(names(assembly)) == sorted(part["path"] for part in truth.values())
    for part in truth.values():
        np.testing.assert_allclose(bounds(assembly, part["path"]), part["bounds"], rtol=0, atol=1e-16)
    faces = {part.name.rpartition("/")[2]: part.mesh.faces for part in assembly.parts}
    assert faces["bolt_1"] is faces["bolt_2"]  # instances of one geometry share the face array
    assert faces["bolt_1"] is not faces["nut_1"]


def test_scale_is_applied_and_paths_include_groups(save):
    nodes = [
        {"name": "group", "children": [1, 2], "scale": [2, 2, 2], "translation": [10, 0, 0]},
        {"name": "cube", "mesh": 0, "translation": [1, 0, 0]},
        {"name": "mirrored", "mesh": 0, "scale": [-1, 1, 1]},
    ]
    assembly = Assembly.load(save("a.glb", glb(nodes, scenes=[{"nodes": [0]}])))
    assert names(assembly) == ["group/cube", "group/mirrored"]
    assert bounds(assembly, "group/cube") == [[12, 0, 0], [14, 2, 2]]
    assert [part.mesh.volume for part in assembly.parts] == pytest.approx([8, 8])


@pytest.mark.full
def test_step_and_3mf_are_converted_to_one_unit(save, tmp_path, capfd):
    save("one.step", step([("plate", CORNERS * 40, QUADS), ("pin", CORNERS * 5, QUADS)]))
    write_3mf(tmp_path / "two.3mf", [("lid", CORNERS * 40, TRIANGLES)], unit="inch")
    assembly = Assembly.load([tmp_path / "two.3mf", tmp_path / "one.step"])
    assert assembly.unit == "mm"
    assert names(assembly)[-1].startswith("two/")
    sizes = [np.ptp(part.mesh.bounds, axis=0)[0] for part in assembly.parts]
    assert sorted(sizes) == pytest.approx([5, 40, 40 * 25.4])
    (note,) = assembly.notes
    assert_names(note, str(tmp_path / "two.3mf"), "25.4")
    assert [entry.unit for entry in assembly.inputs] == ["mm", "in"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
def test_unnamed_step_occurrences_get_product_names(save):
    solids = [("box_base", CORNERS * 40, QUADS), (r"St\X2\00F6\X0\\S\_el", CORNERS * 5, QUADS)]
    pins = [(solids[1][0], "NAUO1", (0, 0, 0)), (solids[1][0], "", (9, 0, 0))]
    top = [("box_base", "NAUO3", (0, 0, 0)), ("it''s", "NAUO4", (50, 0, 0)), ("it''s", "left one", (90, 0, 0))]
    assembly = Assembly.load(save("a.step", step(solids, [("it''s", pins), ("top", top)])))
    assert names(assembly) == [
        "top/box_base",
        "top/it's/Stößel",
        "top/it's/Stößel_1",
        "top/left one/Stößel_2",
        "top/left one/Stößel_3",
    ]
    assert bounds(assembly, "top/left one/Stößel_3")[0] == pytest.approx([99, 0, 0], abs=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("blank", [" ", "", "NAUO1", "\\X2\\00A0\\X0\\"])
def test_blank_step_occurrences_get_product_names(save, blank):
    """SolidWorks names all occurrences ' '; nodes of equal names keep the order of the file."""
    solids = [("bolt", CORNERS * 5, QUADS), ("plate", CORNERS * 40, QUADS)]
    frame = [("bolt", blank, (0, 0, 0)), ("plate", blank, (10, 0, 0)), ("bolt", blank, (60, 0, 0))]
    top = [("frame", blank, (0, 0, 0)), ("frame", " left ", (0, 0, 100))]
    text = step(solids, [("frame", frame), ("top", top)])
    for ids in (text, re.sub(rb"(USAGE_OCCURRENCE)\('\d+'", rb"\1(' '", text)):
        assembly = Assembly.load(save("a.step", ids))
        assert sorted(names(assembly)) == [
            "top/frame/bolt", "top/frame/bolt_1", "top/frame/plate",
            "top/left/bolt_2", "top/left/bolt_3", "top/left/plate_1",
        ]  # fmt: skip
        assert bounds(assembly, "top/frame/plate")[0] == pytest.approx([10, 0, 0], abs=1e-5)
        assert bounds(assembly, "top/left/bolt_3")[0] == pytest.approx([60, 0, 100], abs=1e-5)


def test_labels_in_glb_extras_are_ignored(save):
    extras = {"notes": ["checked"], "labels": {"cube": "nut"}, "guids": {"cube": "0"}}
    data = glb([{"name": "cube", "mesh": 0}], scenes=[{"nodes": [0], "extras": extras}])
    assembly = Assembly.load(save("a.glb", data))
    assert (names(assembly), assembly.notes, assembly.parts[0].guid) == (["cube"], (), "")


def test_folder_is_read_recursively_in_natural_order(save, tmp_path):
    for name in ("b 10.stl", "b 2.stl", "sub/b 2.stl", ".hidden/x.stl", "notes.txt"):
        save(name, stl_binary())
    assembly = Assembly.load(tmp_path)
    assert names(assembly) == ["b 2", "b 10", "sub/b 2"]
    assert assembly.notes == ()
    assert assembly.unit is None
    files = [tmp_path / name for name in ("b 10.stl", "sub/b 2.stl", "b 2.stl")]
    random.Random(1).shuffle(files)
    again = Assembly.load(files)
    assert names(again) == ["b 2", "b 2 (2)", "b 10"]  # equal names are numbered in the order of their files
    assert [part.file for part in again.parts] == [str(tmp_path / n) for n in ("b 2.stl", "sub/b 2.stl", "b 10.stl")]
    assert again == Assembly.load(files[::-1])


def test_unsupported_model_formats_are_noted(save, tmp_path):
    for name in ("a.stl", "part.FBX", "sub/b.iges", ".hidden/x.fbx", "notes.txt"):
        save(name, stl_binary())
    assembly = Assembly.load(tmp_path)
    assert names(assembly) == ["a"]
    (note,) = assembly.notes
    assert_names(note, str(tmp_path), f"part.FBX, {Path('sub/b.iges')}")
    for k in range(7):
        save(f"many/{k}.igs", b"")
    assert Assembly.load(tmp_path).notes[0].endswith(" and 4 more")


def test_repeated_file_is_read_once(save):
    path = save("a.stl", stl_binary())
    assert names(Assembly.load([path, path, str(path)])) == ["a"]


def test_numbered_names_do_not_collide_with_existing_ones(save, tmp_path):
    for name in ("x.stl", "x.obj", "x (2).stl"):
        save(name, obj() if name.endswith("obj") else stl_binary())
    assert names(Assembly.load(tmp_path)) == ["x", "x (2)", "x (3)"]


def test_broken_files_become_unchecked_parts(save, tmp_path, monkeypatch):
    save("good.stl", stl_binary())
    save("empty.stl", b"")
    save("junk.stl", b"junk")
    save("cut.stl", stl_binary(count=99))
    save("nan.obj", obj(CORNERS * np.nan))
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "cascadio" else find(name))
    save("solid.step", b"x")
    assembly = Assembly.load(tmp_path)
    reasons = {part.name: part.reason for part in assembly.parts}
    assert list(reasons) == ["cut", "empty", "good", "junk", "nan", "solid"]
    assert reasons["good"] == ""
    assert [part.mesh is None for part in assembly.parts] == [True, True, False, True, True, True]
    assert "99 triangles" in reasons["cut"]
    assert_names(reasons["empty"], "0 triangles", "0 bytes")
    assert "expected finite numbers" in reasons["nan"]
    assert 'pip install "gjk3d[io]"' in reasons["solid"]
    assert all(len(entry.sha256) == 64 for entry in assembly.inputs)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_folders_links_and_pipes_named_as_models_are_unchecked(save, tmp_path):
    """A pipe is not opened, because opening waits for a writer."""
    save("good.stl", stl_binary())
    save("full.stl/inner.stl", stl_binary())
    (tmp_path / "folder.stl").mkdir()
    (tmp_path / "link.stl").symlink_to("nothing.stl")
    (tmp_path / "loop.stl").symlink_to("loop.stl")
    os.mkfifo(tmp_path / "pipe.stl")
    assembly = Assembly.load(tmp_path)
    reasons = {part.name: part.reason for part in assembly.parts}
    assert {name for name, reason in reasons.items() if not reason} == {"good", "full.stl/inner"}
    named = {"folder": "folder", "link": "link to nothing.stl", "loop": "link to loop.stl", "pipe": "a pipe"}
    assert {name for name, reason in reasons.items() if reason} == set(named)
    for name, fragment in named.items():
        assert_names(reasons[name], fragment)
    with pytest.raises(FileError, match=r"empty.*folder"):
        Assembly.load("")


def test_broken_part_does_not_affect_the_others(save):
    far = {"name": "far", "mesh": 0, "translation": [1.7e308, 0, 0], "scale": [1e308, 1e308, 1e308]}
    nodes = [{"name": "good", "mesh": 0}, far]
    assembly = Assembly.load(save("a.glb", glb(nodes, scenes=[{"nodes": [0, 1]}])))
    good, far = sorted(assembly.parts, key=lambda part: part.mesh is None)
    assert good.name == "good"
    assert "expected finite numbers" in far.reason


@pytest.mark.parametrize("size", [1e60, 1e300, 1e-60])
def test_part_of_extreme_size_does_not_affect_the_others(save, size, tmp_path):
    good = [{"name": "a", "mesh": 0}, {"name": "b", "mesh": 0, "translation": [0.5, 0, 0]}]
    nodes = [*good, {"name": "lost", "mesh": 0, "scale": [size] * 3}]
    report = check(Assembly.load(save("a.glb", glb(nodes, scenes=[{"nodes": [0, 1, 2]}]))))
    without = check(Assembly.load(save("b.glb", glb(good, scenes=[{"nodes": [0, 1]}]))))
    assert report.tolerance == without.tolerance
    assert [(clash.kind, clash.a, clash.b) for clash in report.clashes] == [
        ("hard", "a", "b"),
        ("unchecked", "lost", ""),
    ]
    assert [part.name for part in report.unchecked] == ["lost"]
    assert_names(report.unchecked[0].reason, "1e-50", "1e+50", "unit")
    assert report.to_html(tmp_path / "page.html").stat().st_size > 100_000


def test_invalid_assemblies_raise(save, tmp_path):
    with pytest.raises(FileError, match=r"nothing\.glb"):
        Assembly.load(tmp_path / "nothing.glb")
    with pytest.raises(FileError, match=r"models.*folder"):
        Assembly.load([])
    (tmp_path / "hollow").mkdir()
    with pytest.raises(FileError, match=r"hollow.*\.stl \.obj"):
        Assembly.load(tmp_path / "hollow")
    with pytest.raises(ParseError, match=r"empty\.stl.*0 triangles"):
        Assembly.load(save("empty.stl", b""))
    files = [save("a.stl", stl_binary()), save("b.glb", glb([{"name": "cube", "mesh": 0}]))]
    with pytest.raises(ParseError, match=r"a\.stl.* m\b.*--unit mm"):
        Assembly.load(files)
    with pytest.raises(ParseError, match=r"'furlong'.*--unit.*mm, cm, dm, m, km"):
        Assembly.load(files, unit="furlong")
    assert bounds(Assembly.load(files, unit="mm"), "a") == [[0, 0, 0], [0.001] * 3]


def test_assembly_of_meshes():
    mesh = gk.Mesh(CORNERS, TRIANGLES)
    assert names(Assembly.of({"b": mesh, "a": mesh}, "mm")) == ["a", "b"]


def test_lengths_with_units_are_parsed():
    assert length("0.5mm", "m", "--clearance") == 0.0005
    assert length(" 2 in", "mm", "x") == 50.8
    assert length("1e-3", None, "x") == 0.001
    assert length("-.5", "m", "x") == -0.5
    for text, unit in (("1 parsec", "mm"), ("mm", "mm"), ("1mm", None), ("nan", "mm"), ("1e999", "mm"), ("", "mm")):
        with pytest.raises(ParseError, match="x '"):
            length(text, unit, "x")
    assert (symbol("Millimeters"), symbol("feet"), symbol("cubit"), symbol(None)) == ("mm", "ft", "cubit", None)
    assert conversion("m", "mm") == 1000.0
    assert conversion("mm", "m") == 0.001
    assert conversion("cubit", "m") is None


@pytest.fixture
def in_metres(tmp_path):
    """Write a GLB of two cubes of side 20 that overlap by 2, drawn in millimetres although GLB is in metres."""
    scene = trimesh.Scene()
    for name, x in (("a", 0.0), ("b", 18.0)):
        matrix = trimesh.transformations.translation_matrix((x, 0, 0))
        scene.add_geometry(trimesh.creation.box((20, 20, 20)), node_name=name, transform=matrix)
    path = tmp_path / "pair.glb"
    path.write_bytes(scene.export(file_type="glb"))
    return path


def test_unit_argument_overrides_file_unit(in_metres, save):
    assembly = Assembly.load(in_metres, unit="mm")
    assert (assembly.unit, assembly.inputs[0].unit) == ("mm", "m")
    assert {part.mesh.unit for part in assembly.parts} == {"mm"}
    assert bounds(assembly, "a") == [[-10] * 3, [10] * 3]
    (note,) = assembly.notes
    assert re.search(rf"{re.escape(str(in_metres))}.* mm\b.* m\b", note)
    assert check(assembly).clashes[0].depth == 2.0
    assert Assembly.load(in_metres, unit="m").notes == Assembly.load(in_metres, unit="meters").notes == ()


def test_unit_argument_applies_to_files_without_unit_first(in_metres, tmp_path):
    trimesh.creation.box((1000, 1000, 1000)).export(tmp_path / "c.stl")
    assembly = Assembly.load([in_metres, tmp_path / "c.stl"], unit="mm")
    assert assembly.unit == "m"
    assert bounds(assembly, "c") == [[-0.5] * 3, [0.5] * 3]
    assert any(str(in_metres) in note and " m: mm " in note for note in assembly.notes)


def test_implausible_size_is_noted(in_metres, tmp_path):
    (text,) = Assembly.load(in_metres).notes
    assert_names(text, "38 m", "20 m", "unit")
    assert check(Assembly.load(in_metres)).to_dict()["notes"] == [text]
    small = tmp_path / "small.glb"
    small.write_bytes(trimesh.Scene(trimesh.creation.box((3e-4, 1e-4, 1e-4))).export(file_type="glb"))
    (text,) = Assembly.load(small).notes
    assert_names(text, "0.0003 m ", "unit")
    (note,) = Assembly.load(small, unit="km").notes
    assert re.search(rf"{re.escape(str(small))}.* km\b.* m\b", note)
    assert_names(Assembly.load(small, unit="mm").notes[1], "0.0003 mm ", "unit")


@pytest.mark.full
@pytest.mark.parametrize("size", [1e-4, 4e4])
def test_size_of_file_with_explicit_unit_is_not_doubted(save, tmp_path, size, capsys):
    solids = [("a", CORNERS * size, QUADS), ("b", CORNERS * size + size, QUADS)]
    write_3mf(tmp_path / "a.3mf", [("cube", CORNERS * size, TRIANGLES)], unit="meter")
    collada = trimesh.creation.box((size, size, size)).export(file_type="dae").replace(b"</asset>", METRE + b"</asset>")
    for file in (
        save("a.step", step(solids, unit="$")), tmp_path / "a.3mf", save("a.dae", collada),
        save("b.glb", trimesh.Scene(trimesh.creation.box((size, size, size))).export(file_type="glb")),
    ):  # fmt: skip
        doubted = file.suffix == ".glb"
        assert any("--unit" in note for note in Assembly.load(file).notes) is doubted, file
        main(["info", str(file)])
        assert ("--unit" in capsys.readouterr().err) is doubted, file


@pytest.mark.parametrize(
    ("unit", "sizes", "whole", "said", "remarked"),
    [
        ("m", [0.02, 0.1, 0.2], 0.3, False, False),  # a gearbox
        ("m", [0.2, 2.5, 9.0], 60.0, False, False),  # a house
        ("m", [2, 20, 200], 300.0, False, True),  # the gearbox with its numbers in mm
        ("mm", [2, 20, 200], 300.0, False, False),
        ("m", [0.2, 8.0, 200], 300.0, True, False),  # a ship; the user specified metres
        ("m", [0.02, 0.1, 0.2], 20_000.0, True, True),
        ("mm", [2e-5, 1e-4, 2e-4], 3e-4, True, True),
        (None, [1e9], 1e9, False, False),
        ("furlong", [1e9], 1e9, False, False),
    ],
)
def test_doubt_depends_on_unit_and_sizes(unit, sizes, whole, said, remarked):
    assert (doubt(unit, sizes, whole, said) is not None) is remarked
