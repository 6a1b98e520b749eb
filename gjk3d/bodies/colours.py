"""The colours that a glTF gives its meshes; trimesh would decode their pictures, too, which nobody here looks at."""

from __future__ import annotations

import json
import struct
from typing import Any

from gjk3d.bodies.nodes import Colour

_READ = (0, 1, 4, 5)  #: modes of primitives that trimesh makes something of: points, lines, triangles, strips


def colour_gltf(scene: Any, data: bytes) -> None:
    """Write the colour of each geometry of a scene, which trimesh made of a GLB or glTF, into its metadata."""
    from trimesh.util import unique_name

    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    if b'"materials"' not in data:
        return
    tree = json.loads(data)
    materials = [_colour(material) for material in tree.get("materials", [])]
    names: dict[str, None] = {}
    counts: dict[str, int] = {}
    for mesh in tree.get("meshes", []):
        for primitive in mesh["primitives"]:
            if primitive.get("mode", 4) not in _READ:
                continue
            name = unique_name(mesh.get("name", "GLTF"), names, counts=counts)  # as trimesh names them
            names[name] = None
            colour = materials[primitive["material"]] if "material" in primitive else None
            if colour is not None and name in scene.geometry:
                scene.geometry[name].metadata["colour"] = colour


def _colour(material: dict[str, Any]) -> Colour | None:
    """Return the colour of a material as screens take it; None where a picture gives it, or it gives none."""
    surface = material.get("pbrMetallicRoughness", {})
    factor = surface.get("baseColorFactor")
    if factor is None or "baseColorTexture" in surface:
        return None
    red, green, blue = (round(_screen(float(value)), 6) for value in factor[:3])
    return red, green, blue


def _screen(light: float) -> float:
    """Return the sRGB value of a share of light: the transfer function of IEC 61966-2-1."""
    light = min(1.0, max(0.0, light))
    return 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1.0 / 2.4) - 0.055
