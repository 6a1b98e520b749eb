"""Curves and points of a STEP file, such as datum axes and sketches: they are not matter, and not parts."""

from __future__ import annotations

from typing import Any

from gjk3d.bodies.step_names import REFERENCE

_TRIANGLES = 4  #: the mode of a primitive of triangles; lower modes are points and lines
_NAMED = 5  #: names in a note


def leave_out_curves(tree: dict[str, Any]) -> None:
    """Take points and lines out of a glTF that was made of a STEP file, and note the nodes that were nothing else.

    Parameters
    ----------
    tree : dict
        The glTF. Its first scene gets the note, in ``extras["notes"]``.
    """
    meshes, nodes, scenes = (tree.get(key, []) for key in ("meshes", "nodes", "scenes"))
    for mesh in meshes:
        mesh["primitives"] = [each for each in mesh["primitives"] if each.get("mode", _TRIANGLES) >= _TRIANGLES]
    empty = {number for number, mesh in enumerate(meshes) if not mesh["primitives"]}
    gone = {number: node.get("name", "") for number, node in enumerate(nodes) if node.get("mesh") in empty}
    if not gone:
        return
    for whole in nodes:  # a shape without a name is one of several of its product
        unnamed = [child for child in whole.get("children", []) if REFERENCE.fullmatch(gone.get(child, ""))]
        gone |= dict.fromkeys(unnamed, whole.get("name", ""))
    for owner, key in (*((node, "children") for node in nodes), *((scene, "nodes") for scene in scenes)):
        if gone.keys() & owner.get(key, []):
            owner[key] = [child for child in owner[key] if child not in gone]
    names = list(gone.values())
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    note = f"left out, since curves and points are not matter: {', '.join(names[:_NAMED])}{more}"
    scenes[0]["extras"] = {"notes": [note]}
