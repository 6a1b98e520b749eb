"""The triangles and nodes that a reader process returns, as a file of numpy arrays."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_TREE = "tree"
#: Red, green and blue in sRGB, from 0 to 1.
Colour = tuple[float, float, float]


class Shape(NamedTuple):
    """Triangles that nodes may share: vertices (n, 3), faces (m, 3), and the colour in the file or None."""

    vertices: Any
    faces: Any
    colour: Colour | None = None


class Node(NamedTuple):
    """A node in the tree of a model."""

    key: str  #: unique
    parent: str | None  #: the key of the parent
    shape: int | None  #: the number of the shape
    matrix: Any = None  #: (4, 4), from the frame of the shape to the frame of the model, or None
    label: str = ""
    guid: str = ""  #: the GlobalId in IFC
    reason: str = ""  #: why the triangles of the node are missing


class Nodes(NamedTuple):
    """The shapes and nodes of a model, and the notes of its reader."""

    shapes: tuple[Shape, ...]
    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()


def write(model: Nodes, target: str | Path) -> None:
    """Write a model to a file of arrays, which `scene_of` reads."""
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
