"""The nodes of a model as a reader in a process of its own gives them back: arrays of numpy, and their tree."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Red, green and blue, 0 to 1, as screens take them (sRGB).
Colour = tuple[float, float, float]
_TREE = "tree"


class Shape(NamedTuple):
    """Triangles that nodes may share: vertices (n, 3), faces (m, 3), and their colour where the file has one."""

    vertices: Any
    faces: Any
    colour: Colour | None = None


class Node(NamedTuple):
    """A place in the tree of a model.

    Attributes
    ----------
    key : str
        Its own, unlike all others.
    parent : str or None
        The key of the node that it is below.
    shape : int or None
        Which of the shapes it has.
    matrix : (4, 4) float, or None
        Of the shape in the frame of the whole.
    label, guid : str
        What people call it, and its GlobalId, in IFC.
    reason : str
        Why it has no triangles, though it should.
    """

    key: str
    parent: str | None
    shape: int | None
    matrix: Any = None
    label: str = ""
    guid: str = ""
    reason: str = ""


class Nodes(NamedTuple):
    """All of a model, and what its reader remarks."""

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
    """Return the model of such a file as a scene of trimesh; what trimesh has no place for is in its metadata."""
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
        there: dict[str, Any] = {} if node.matrix is None else {"matrix": np.array(node.matrix)}
        if node.shape is not None:
            there["geometry"] = str(node.shape)
        elif node.reason:
            there["geometry"] = f"nothing {len(scene.geometry)}"
            scene.geometry[there["geometry"]] = trimesh.Trimesh(process=False, metadata={"reason": node.reason})
        scene.graph.update(node.key, node.parent, **there)
    labels = {row[0]: row[4] for row in tree["nodes"] if row[4]}
    guids = {row[0]: row[5] for row in tree["nodes"] if row[5]}
    scene.metadata.update(labels=labels, guids=guids, notes=tree["notes"])
    return scene
