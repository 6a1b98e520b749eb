"""The nodes of a model from a reader process, as numpy arrays and a tree, and the colours of glTF and OBJ."""

from __future__ import annotations

import contextlib
import io
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Red, green and blue in sRGB, from 0 to 1.
Colour = tuple[float, float, float]
_TREE = "tree"


class Shape(NamedTuple):
    """Triangles that nodes may share: vertices (n, 3), faces (m, 3), and the colour in the file or None."""

    vertices: Any
    faces: Any
    colour: Colour | None = None


class Node(NamedTuple):
    """A node in the tree of a model.

    Attributes
    ----------
    key : str
        The unique key of the node.
    parent : str or None
        The key of the parent.
    shape : int or None
        The number of the shape.
    matrix : (4, 4) float, or None
        The transform from the frame of the shape to the frame of the model.
    label, guid : str
        The name, and the GlobalId in IFC.
    reason : str
        The reason why the triangles of the node are missing.
    """

    key: str
    parent: str | None
    shape: int | None
    matrix: Any = None
    label: str = ""
    guid: str = ""
    reason: str = ""


class Nodes(NamedTuple):
    """The shapes and nodes of a model, and the notes of its reader."""

    shapes: tuple[Shape, ...]
    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()


def write(model: Nodes, target: str | Path) -> None:
    """Write a model to a file of arrays."""
    arrays: dict[str, Any] = {}
    for number, shape in enumerate(model.shapes):
        arrays[f"v{number}"] = np.asarray(shape.vertices, dtype=np.float64)
        arrays[f"f{number}"] = np.asarray(shape.faces, dtype=np.int64)
    nodes = [
        node._replace(matrix=None if node.matrix is None else np.asarray(node.matrix).tolist()) for node in model.nodes
    ]
    text = json.dumps({"colours": [s.colour for s in model.shapes], "nodes": nodes, "notes": model.notes})
    arrays[_TREE] = np.frombuffer(text.encode(), dtype=np.uint8)
    with open(target, "wb") as file:
        np.savez(file, **arrays)


def scene_of(data: bytes) -> Any:
    """Return the model in a file of arrays as a scene of trimesh. Its metadata contains labels, GlobalIds and notes."""
    import trimesh

    scene = trimesh.Scene()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        tree = json.loads(arrays[_TREE].tobytes())
        for number, colour in enumerate(tree["colours"]):
            mesh = trimesh.Trimesh(arrays[f"v{number}"], arrays[f"f{number}"], process=False)
            scene.geometry[str(number)] = mesh
            if colour is not None:
                mesh.metadata["colour"] = tuple(colour)
    for node in (Node(*row) for row in tree["nodes"]):
        attributes: dict[str, Any] = {} if node.matrix is None else {"matrix": np.array(node.matrix)}
        if node.shape is not None:
            attributes["geometry"] = str(node.shape)
        elif node.reason:
            attributes["geometry"] = f"nothing {len(scene.geometry)}"
            scene.geometry[attributes["geometry"]] = trimesh.Trimesh(process=False, metadata={"reason": node.reason})
        scene.graph.update(node.key, node.parent, **attributes)
    labels = {row[0]: row[4] for row in tree["nodes"] if row[4]}
    guids = {row[0]: row[5] for row in tree["nodes"] if row[5]}
    scene.metadata.update(labels=labels, guids=guids, notes=tree["notes"])
    return scene


_READ = (0, 1, 4, 5)  #: the modes of primitives that trimesh reads: points, lines, triangles, strips


def colour_gltf(scene: Any, data: bytes) -> None:
    """Set the colours of a GLB or glTF scene by its materials."""
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
    red, green, blue = (round(_screen(float(value)), 6) for value in factor[:3])
    return red, green, blue


def _screen(light: float) -> float:
    """Return the sRGB value of a linear light value, by the transfer function of IEC 61966-2-1."""
    light = min(1.0, max(0.0, light))
    return 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1.0 / 2.4) - 0.055


def colour_obj(scene: Any, data: bytes, read_neighbour: Callable[[str], bytes]) -> None:
    """Set the colour of each object of an OBJ scene to the diffuse colour of the material of most of its faces.

    ``read_neighbour`` reads a file of the same folder. A missing library of materials is ignored.
    """
    text = data.decode(errors="replace")
    palette: dict[str, Colour] = {}
    for line in re.findall(r"^mtllib[ \t](.*)$", text, re.MULTILINE):
        with contextlib.suppress(OSError, ValueError):
            palette |= _library(read_neighbour(line.strip()).decode(errors="replace"))
    if not palette:
        return
    faces: dict[str | None, Counter[str]] = {}
    thing, material = None, ""
    marks = [*re.finditer(r"^(o|usemtl)[ \t](.*)$", text, re.MULTILINE)]
    for mark, end in zip(marks, [*(mark_start.start() for mark_start in marks[1:]), len(text)], strict=True):
        if mark[1] == "o":
            thing = mark[2].strip()
        else:
            material = mark[2].strip()
        faces.setdefault(thing, Counter())[material] += text.count("\nf ", mark.end(), end)
    for name, geometry in scene.geometry.items():
        counts = faces.get(name, faces.get(None) if len(scene.geometry) == 1 else None)
        colour = palette.get(counts.most_common(1)[0][0]) if counts else None
        if colour is not None:
            geometry.metadata["colour"] = colour


def _library(text: str) -> dict[str, Colour]:
    colours: dict[str, Colour] = {}
    name = ""
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        if key == "newmtl":
            name = value.strip()
        elif key == "Kd" and re.fullmatch(r"(?:[-+.\deE]+\s+){2}[-+.\deE]+", value.strip()):
            colours[name] = _clipped(value.split())
    return colours


def _clipped(numbers: Iterable[str | float]) -> Colour:
    red, green, blue = (round(min(1.0, max(0.0, float(value))), 6) for value in numbers)
    return red, green, blue
