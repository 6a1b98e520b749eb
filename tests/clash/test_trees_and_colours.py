"""Data of files besides triangles: colours, and the tree of parts."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from model_files import CORNERS, QUADS, step

import gjk3d as gk

ROLES = {"box_base": (0.2, 0.4, 0.6), "pin": (1.0, 0.0, 0.0)}


@pytest.mark.full
def test_step_has_colours_and_product_paths(tmp_path):
    solids = [("box_base", CORNERS * 40, QUADS), ("pin", CORNERS * 5, QUADS), ("plain", CORNERS * 3, QUADS)]
    pins = [("pin", "NAUO1", (0, 0, 0)), ("plain", "NAUO2", (9, 0, 0))]
    top = [("box_base", "NAUO3", (0, 0, 0)), ("pins", "NAUO4", (50, 0, 0))]
    (tmp_path / "a.step").write_bytes(step(solids, [("pins", pins), ("top", top)], ROLES))
    parts = {part.path: part.colour for part in gk.clash.Assembly.load(tmp_path / "a.step").parts}
    assert set(parts) == {("top", "box_base"), ("top", "pins", "pin"), ("top", "pins", "plain")}
    # sRGB as in the STEP file, although the intermediate GLB stores linear colours
    assert parts["top", "box_base"] == pytest.approx(ROLES["box_base"], abs=1e-3)
    assert parts["top", "pins", "pin"] == pytest.approx(ROLES["pin"], abs=1e-3)
    assert parts["top", "pins", "plain"] is None


def painted(name, colour, scene, size=1.0, at=0.0):
    mesh = trimesh.creation.box((size, size, size))
    mesh.apply_translation((at, 0, 0))
    if colour is not None:
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=colour)
        mesh.visual = trimesh.visual.TextureVisuals(material=material)
    scene.add_geometry(mesh, node_name=name, geom_name=name)


@pytest.mark.parametrize("form", ["glb", "gltf"])
def test_gltf_colours_are_converted_to_srgb(tmp_path, form):
    scene = trimesh.Scene()
    painted("red", (255, 0, 0, 255), scene)
    painted("grey", (128, 128, 128, 255), scene, at=3.0)
    made = scene.export(file_type=form)
    files = {f"a.{form}": made} if form == "glb" else made | {"a.gltf": made["model.gltf"]}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    parts = {part.name: part.colour for part in gk.clash.Assembly.load(tmp_path / f"a.{form}").parts}
    light = 128 / 255
    assert parts["red"] == (1.0, 0.0, 0.0)
    # the inverse of the sRGB encoding gives the linear value of the file
    np.testing.assert_allclose(((np.array(parts["grey"]) + 0.055) / 1.055) ** 2.4, light, atol=2e-6)


def test_part_has_colour_of_its_largest_material(tmp_path):
    import json
    import struct

    scene = trimesh.Scene()
    painted("small", (0, 255, 0, 255), scene)
    painted("large", (255, 0, 0, 255), scene, size=4.0, at=9.0)
    data = scene.export(file_type="glb")
    size = struct.unpack_from("<I", data, 12)[0]
    tree = json.loads(data[20 : 20 + size])
    primitives = [tree["meshes"][k]["primitives"][0] for k in range(2)]
    tree["meshes"] = [{"name": "both", "primitives": primitives}]
    tree["nodes"] = [{"name": "both", "mesh": 0}]
    tree["scenes"] = [{"nodes": [0]}]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(data) - 20 - size, len(text), 0x4E4F534A)
    (tmp_path / "both.glb").write_bytes(head + text + data[20 + size :])
    (part,) = gk.clash.Assembly.load(tmp_path / "both.glb").parts
    assert (part.name, part.colour, len(part.mesh.faces)) == ("both", (1.0, 0.0, 0.0), 24)


def test_meshes_without_colour_keep_their_names():
    cube = gk.Box((1, 1, 1)).surface()
    (part,) = gk.clash.Assembly.of({"group/cube": gk.Mesh(*cube[:2])}).parts
    assert (part.path, part.colour, part.guid) == (("group/cube",), None, "")


OBJ = """mtllib a.mtl
o red one
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
usemtl red
f 1 2 3
f 1 2 4
usemtl blue
f 2 3 4
o plain
usemtl nothing
f 1 3 4
"""
MTL = "newmtl red\nNs 10\nKd 1 0.25 0\nnewmtl blue\n  Kd 0 0 1\nnewmtl odd\nKd spectral a.rfl 1\n"


def test_obj_has_diffuse_colours_of_its_library(tmp_path):
    (tmp_path / "a.obj").write_text(OBJ)
    colours = lambda: {p.name: p.colour for p in gk.clash.Assembly.load(tmp_path / "a.obj").parts}  # noqa: E731
    assert set(colours().values()) == {None}  # no library
    (tmp_path / "a.mtl").write_text(MTL)
    assert colours() == {"red one": (1.0, 0.25, 0.0), "plain": None}
    (tmp_path / "a.mtl").write_bytes(b"\xff\xfe newmtl \x00" + b" " * 100_000 + b"\nKd 1 e 1\n" * 1000)
    assert set(colours().values()) == {None}
    (tmp_path / "a.obj").write_text(OBJ.replace("a.mtl", "../a.mtl"))
    assert set(colours().values()) == {None}


def test_3mf_has_colours_of_its_objects(tmp_path):
    import zipfile

    mesh = (
        '<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/>'
        '<vertex x="0" y="0" z="1"/></vertices><triangles><triangle v1="0" v2="2" v3="1"/>'
        '<triangle v1="0" v2="1" v3="3"/><triangle v1="0" v2="3" v3="2"/><triangle v1="1" v2="2" v3="3"/>'
        "</triangles></mesh>"
    )
    space = "http://schemas.microsoft.com/3dmanufacturing/"
    core, more = f"{space}core/2015/02", f"{space}material/2015/02"
    attributes = {
        "red": 'pid="1" pindex="1"',
        "glass": 'pid="2" pindex="0"',
        "plain": "",
        "wrong": 'pid="1" pindex="9"',
    }
    objects = "".join(
        f'<object id="{k + 5}" name="{name}" {attributes[name]}>{mesh}</object>' for k, name in enumerate(attributes)
    )
    items = "".join(f'<item objectid="{k + 5}"/>' for k in range(len(attributes)))
    model = (
        f'<model unit="millimeter" xmlns="{core}" xmlns:m="{more}"><resources><basematerials id="1"><base name="a"'
        ' displaycolor="#00FF00"/><base name="b" displaycolor="#FF0000"/></basematerials><m:colorgroup id="2"><m:color'
        f' color="#0000FF80"/></m:colorgroup>{objects}</resources><build>{items}</build></model>'
    )
    with zipfile.ZipFile(tmp_path / "a.3mf", "w") as archive:
        archive.writestr("3D/3dmodel.model", model)
    parts = {part.path[-1]: part.colour for part in gk.clash.Assembly.load(tmp_path / "a.3mf").parts}
    assert parts == {"red": (1.0, 0.0, 0.0), "glass": (0.0, 0.0, 1.0), "plain": None, "wrong": None}


def coloured(tmp_path):
    """Return the report of two coloured boxes that clash and a third next to them."""
    scene = trimesh.Scene()
    for k, (name, colour) in enumerate({"red": (255, 0, 0, 255), "plain": None, "blue": (0, 0, 255, 255)}.items()):
        painted(name, colour, scene, at=(0.0, 0.75, 3.0)[k])
    (tmp_path / "a.glb").write_bytes(scene.export(file_type="glb"))
    return gk.clash.check(gk.clash.Assembly.load(tmp_path / "a.glb"))


def test_pictures_and_marked_files_have_file_colours(tmp_path):
    from gjk3d.viz.kinds import drawing_of

    report = coloured(tmp_path)
    items = {item.name: item.color for item in drawing_of(report.assembly).items}
    assert items["red"] == "#ff0000"
    assert items["blue"] == "#0000ff"
    assert items["plain"] not in ("#ff0000", "#0000ff")
    gk.clash.formats.to_glb(report, tmp_path / "marked.glb")
    marked = {part.name: part.colour for part in gk.clash.Assembly.load(tmp_path / "marked.glb").parts}
    assert marked["blue"] == (0.0, 0.0, 1.0)
    assert marked["red"] == marked["plain"] != (1.0, 0.0, 0.0)  # of a clash
