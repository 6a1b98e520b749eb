"""glTF files: required extensions, indices, and nodes with cameras."""

import base64
import json
import struct

import numpy as np
import pytest
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES, glb, gltf, gltf_tree

import gjk3d as gk
from gjk3d.errors import ParseError

ONE = [{"mesh": 0}]


@pytest.fixture
def save(tmp_path):
    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("EXT_mesh_gpu_instancing", "without instancing"),
        ("KHR_draco_mesh_compression", "without compression"),
        ("EXT_meshopt_compression", "without compression"),
        ("ACME_bent_space", "without it"),
    ],
)
def test_unsupported_required_extension_raises(save, name, cure):
    for form in (gltf, glb):
        path = save(f"a.{form.__name__}", form(ONE, extensionsRequired=["KHR_materials_unlit", name]))
        with pytest.raises(ParseError) as caught:
            gk.load(path)
        assert_names(caught.value, name, cure)


def test_instancing_raises_although_it_is_not_required(save):
    copies = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}}
    with pytest.raises(ParseError, match="EXT_mesh_gpu_instancing"):
        gk.load(save("a.gltf", gltf([{"mesh": 0, "extensions": copies}])))


def test_extensions_without_effect_on_triangles_are_accepted(save):
    names = ["KHR_materials_unlit", "KHR_texture_transform", "KHR_lights_punctual", "KHR_materials_variants"]
    assert gk.load(save("a.gltf", gltf(ONE, extensionsRequired=names))).is_watertight


def test_quantized_positions_under_scaled_node_load(save):
    tree, _ = gltf_tree([{"mesh": 0, "scale": [1e-3] * 3}], extensionsRequired=["KHR_mesh_quantization"])
    for kind, words in ((5122, "<i2"), (5121, "u1"), (5120, "i1"), (5123, "<u2")):
        rows = np.zeros((8, 8 // np.dtype(words).itemsize), words)  # glTF aligns each vertex to 4 bytes
        rows[:, :3] = CORNERS * 100
        data = rows.tobytes() + TRIANGLES.astype("<u2").tobytes()
        tree["accessors"] = [
            {"bufferView": 0, "componentType": kind, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ]
        tree["bufferViews"] = [
            {"buffer": 0, "byteOffset": 0, "byteLength": 64, "byteStride": 8},
            {"buffer": 0, "byteOffset": 64, "byteLength": 72},
        ]
        tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        tree["buffers"] = [{"byteLength": len(data), "uri": uri}]
        mesh = gk.load(save("a.gltf", json.dumps(tree).encode()))
        assert mesh.is_watertight
        np.testing.assert_allclose(mesh.bounds, [[0, 0, 0], [0.1, 0.1, 0.1]])


INVALID = {
    "scene": ({"scene": 4}, "scene is 4, but there are 1 scenes, so the file is damaged"),
    "root": ({"scenes": [{"nodes": [0, 9]}]}, r"scenes\[0\]\.nodes is 9, but there are 1 nodes"),
    "mesh": ({"nodes": [{"mesh": -1}]}, r"nodes\[0\]\.mesh is -1, but there are 2 meshes"),
    "child": ({"nodes": [{"mesh": 0, "children": ["x"]}]}, r"nodes\[0\]\.children is x"),
    "array": ({"meshes": [{"primitives": [{"attributes": {"POSITION": 7}}]}]}, r"meshes\[0\], POSITION is 7"),
    "view": ({"bufferViews": []}, r"accessors\[0\]\.bufferView is 0, but there are 0 bufferViews"),
    "buffer": ({"buffers": []}, r"bufferViews\[0\]\.buffer is 0, but there are 0 buffers"),
    "fan": ({"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 6}]}]}, "triangle fan.*Export sep"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_indices_and_fans_raise(save, name):
    changes, message = INVALID[name]
    tree, _ = gltf_tree(ONE)
    with pytest.raises(ParseError, match=message):
        gk.load(save("a.gltf", json.dumps(tree | changes).encode()))


def test_glb_without_binary_chunk_raises(save):
    tree, _ = gltf_tree(ONE, uri="")
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    path = save("a.glb", struct.pack("<IIIII", 0x46546C67, 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    with pytest.raises(ParseError) as caught:
        gk.load(path)
    assert_names(caught.value, "GLB", "IndexError", "damaged")


@pytest.mark.parametrize("form", [gltf, glb])
def test_mesh_below_camera_node_has_its_pose(save, form):
    cameras = [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1, "aspectRatio": 1.0}}]
    rig = {"name": "rig", "translation": [5, 0, 0], "camera": 0, "mesh": 0, "children": [1]}
    nodes = [rig, {"name": "lamp", "translation": [0, 3, 0], "mesh": 0}, {"name": "eye", "camera": 0, "mesh": 0}]
    scenes = [{"nodes": [0, 2]}]
    path = save(f"a.{form.__name__}", form(nodes, cameras=cameras, scenes=scenes))
    places = {part.name: part.mesh.bounds[0].tolist() for part in gk.load(path).parts}
    assert places == {"rig": [5, 0, 0], "lamp": [5, 3, 0], "eye": [0, 0, 0]}
