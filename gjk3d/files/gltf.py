"""Checks of GLB and glTF files, see `gjk3d.files.readers`, and the colours of their parts."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

from gjk3d.files.readers import Colour, HeaderError, refuse_copies, refuse_parts, shown

DEEPEST = 200  #: greatest number of nodes above a mesh
#: The greatest numbers of bytes and of values of the JSON. A value takes about a hundred bytes of memory.
MAX_JSON, MAX_VALUES = 256 << 20, 5_000_000

#: Beginnings of the names of extensions that do not change triangles. KHR_mesh_quantization changes only number types.
_HARMLESS = (
    "KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_dds", "KHR_lights_", "EXT_lights_", "KHR_xmp",
    "KHR_mesh_quantization",
)  # fmt: skip
_INSTANCING = "EXT_mesh_gpu_instancing"
_CURES = {
    _INSTANCING: "Export without instancing, with a node for each copy.",
    "KHR_draco_mesh_compression": "Export without compression.",
    "EXT_meshopt_compression": "Export without compression.",
    "KHR_meshopt_compression": "Export without compression.",
}
_JSON = 0x4E4F534A  #: the type of the first chunk of a GLB
_FAN = 6  #: the mode of a fan of triangles


def check_glb(data: bytes) -> tuple[bytes, int]:
    """Return a GLB without cameras, and 0 as its declared number of triangles. Raise an error for wrong content."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise HeaderError(f"begins with {shown(data[:20])}, expected the 20 bytes of a GLB header")
    version, length, size = struct.unpack_from("<III", data, 4)
    if version != 2:
        raise HeaderError(f"is GLB version {version}, expected version 2. Export it again as glTF 2.0.")
    if length > len(data) or 20 + size > len(data):
        raise HeaderError(
            f"the header declares {max(length, 20 + size)} bytes, but the file has {len(data)} bytes, so it is "
            "truncated"
        )
    tree = _tree_of(data[20 : 20 + size])
    _check_tree(tree, len(data))
    if _without_cameras(tree):
        data = packed(tree, data[20 + size :])
    return data, 0


def unpacked(glb: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the JSON of a trusted GLB, and the bytes after the JSON chunk."""
    end = 20 + struct.unpack_from("<I", glb, 12)[0]
    return json.loads(glb[20:end]), glb[end:]


def packed(tree: dict[str, Any], binary: bytes) -> bytes:
    """Return a GLB with the JSON ``tree`` as its first chunk, followed by the chunks ``binary``."""
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(binary), len(text), _JSON) + text + binary


def check_gltf(data: bytes) -> tuple[bytes, int]:
    """Return a glTF without cameras, and 0 as its declared number of triangles.

    Raise an error for invalid or unsupported content.
    """
    tree = _tree_of(data)
    _check_tree(tree, len(data))
    return json.dumps(tree).encode() if _without_cameras(tree) else data, 0


def _without_cameras(tree: dict[str, Any]) -> bool:
    """Remove the cameras of all nodes, and return whether a node had a camera."""
    # trimesh 5.2 does not read nodes with a camera, and the nodes below them
    removed = [node.pop("camera") for node in tree.get("nodes", []) if "camera" in node]
    return bool(removed)


def _tree_of(data: bytes) -> Any:
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if len(data) > MAX_JSON or values > MAX_VALUES:
        raise HeaderError(
            f"its JSON has {len(data)} bytes and {values} values, expected at most {MAX_JSON} and {MAX_VALUES}."
            " Store the arrays in a binary buffer, as in GLB."
        )
    try:
        return json.loads(data)
    except RecursionError:
        raise HeaderError("its JSON is nested too deeply, expected the few levels of glTF") from None


def _check_tree(tree: Any, size: int) -> None:
    if not isinstance(tree, dict):
        raise HeaderError(f"its JSON is {str(tree)[:40]!r}, expected an object with the keys of glTF")
    _refuse_extensions(tree)
    for index, what, where in _references(tree):
        count = len(tree.get(what, []))
        if not isinstance(index, int) or not 0 <= index < count:
            raise HeaderError(f"{where} is {str(index)[:40]}, but there are {count} {what}, so the file is damaged")
    _refuse_arrays(tree)
    nodes, counts = tree.get("nodes", []), [len(mesh["primitives"]) for mesh in tree.get("meshes", [])]
    refuse_parts(sum(counts), size)
    refuse_copies(sum(counts[node["mesh"]] for node in nodes if "mesh" in node), 0, size)
    _refuse_nesting(nodes)


def _refuse_nesting(nodes: list[dict[str, Any]]) -> None:
    """Raise an error for nodes with two parents, for cycles, and for meshes below too many nodes."""
    # trimesh places a node with two parents only once
    parents: dict[int, int] = {}
    for k, node in enumerate(nodes):
        for child in node.get("children", []):
            if child in parents:
                raise HeaderError(
                    f"nodes[{child}] is a child of nodes[{parents[child]}] and of nodes[{k}], expected one parent."
                    " Export a node for each copy."
                )
            parents[child] = k
    for k, node in enumerate(nodes):
        depth, above = 0, k if "mesh" in node else None
        while above in parents:
            depth, above = depth + 1, parents[above]
            if depth > DEEPEST:
                raise HeaderError(
                    f"nodes[{k}] has more than {DEEPEST} nodes above it, or contains itself. Flatten the nodes."
                )


def _refuse_extensions(tree: dict[str, Any]) -> None:
    """Raise an error for a model that requires an extension that may change its geometry, or has instanced nodes."""
    required = tree.get("extensionsRequired", [])
    unread = [name for name in map(str, required) if not name.startswith(_HARMLESS)]
    if any(_INSTANCING in node.get("extensions", {}) for node in tree.get("nodes", [])):
        unread.append(_INSTANCING)  # without it all copies except one are lost, even if it is not required
    if unread:
        cure = _CURES.get(unread[0], "Export without it.")
        raise HeaderError(f"requires the extension {unread[0][:80]}, which is not supported. {cure}")


def _references(tree: dict[str, Any]) -> Iterator[tuple[Any, str, str]]:
    """Yield the index, the name of the indexed list, and the place of the index for each reference in a glTF."""
    if "scene" in tree:
        yield tree["scene"], "scenes", "scene"
    for k, scene in enumerate(tree.get("scenes", [])):
        yield from ((node, "nodes", f"scenes[{k}].nodes") for node in scene.get("nodes", []))
    for k, node in enumerate(tree.get("nodes", [])):
        yield from ((child, "nodes", f"nodes[{k}].children") for child in node.get("children", []))
        if "mesh" in node:
            yield node["mesh"], "meshes", f"nodes[{k}].mesh"
    for k, mesh in enumerate(tree.get("meshes", [])):
        for primitive in mesh["primitives"]:
            used = {"indices": primitive.get("indices"), **primitive.get("attributes", {})}
            yield from ((i, "accessors", f"meshes[{k}], {key}") for key, i in used.items() if i is not None)
    for k, accessor in enumerate(tree.get("accessors", [])):
        if "bufferView" in accessor:
            yield accessor["bufferView"], "bufferViews", f"accessors[{k}].bufferView"
    for k, view in enumerate(tree.get("bufferViews", [])):
        yield view["buffer"], "buffers", f"bufferViews[{k}].buffer"


def _refuse_arrays(tree: dict[str, Any]) -> None:
    """Raise an error for arrays that trimesh does not read, or reads as zeros or without their scale."""
    accessors = tree.get("accessors", [])
    for index, accessor in enumerate(accessors):
        if "bufferView" not in accessor and not 0 <= accessor["count"] <= 10_000_000:
            raise HeaderError(f"accessors[{index}] declares {accessor['count']} values, but their data are missing")
    for k, mesh in enumerate(tree.get("meshes", [])):
        for primitive in mesh["primitives"]:
            if primitive.get("mode") == _FAN:
                raise HeaderError(f"meshes[{k}] is a triangle fan, which is not supported. Export separate triangles.")
            used = [primitive.get("indices"), primitive.get("attributes", {}).get("POSITION")]
            for index in (i for i in used if i is not None):
                accessor = accessors[index]
                if "bufferView" not in accessor or "sparse" in accessor:
                    raise HeaderError(
                        f"accessors[{index}] is compressed or sparse, which is not supported. Export without "
                        "compression."
                    )
                if accessor.get("normalized"):
                    raise HeaderError(
                        f"accessors[{index}] has quantized positions, which are not supported. Export without "
                        "quantization."
                    )


_READ = (0, 1, 4, 5)  #: modes of primitives that trimesh reads: points, lines, triangles, triangle strips


def colour_gltf(scene: Any, data: bytes) -> None:
    """Set the colours of the geometries of a GLB or glTF scene by the materials in ``data``."""
    from trimesh.util import unique_name

    if b'"materials"' not in data:
        return
    tree = unpacked(data)[0] if data[:4] == b"glTF" else json.loads(data)
    materials = [_colour(material) for material in tree.get("materials", [])]
    names: dict[str, None] = {}
    counts: dict[str, int] = {}
    for mesh in tree.get("meshes", []):
        for primitive in mesh["primitives"]:
            if primitive.get("mode", 4) not in _READ:
                continue
            name = unique_name(mesh.get("name", "GLTF"), names, counts=counts)  # the name in trimesh
            names[name] = None
            colour = materials[primitive["material"]] if "material" in primitive else None
            if colour is not None and name in scene.geometry:
                scene.geometry[name].metadata["colour"] = colour


def _colour(material: dict[str, Any]) -> Colour | None:
    """Return the sRGB colour of a material, or None if it has a texture or no colour."""
    surface = material.get("pbrMetallicRoughness", {})
    factor = surface.get("baseColorFactor")
    if factor is None or "baseColorTexture" in surface:
        return None
    linear = [min(1.0, max(0.0, float(value))) for value in factor[:3]]
    # the transfer function of IEC 61966-2-1
    red, green, blue = (round(12.92 * x if x <= 0.0031308 else 1.055 * x ** (1.0 / 2.4) - 0.055, 6) for x in linear)
    return red, green, blue
