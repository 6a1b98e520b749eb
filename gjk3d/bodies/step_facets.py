"""How near the triangles of a STEP file are to the faces that they stand for."""

from __future__ import annotations

from typing import Any

#: Millimetres from a curved face that the mesher of Open CASCADE is asked to keep.
ASKED = 0.01
#: Times that it may be: of round bodies with circles across it keeps to it, spheres it was seen to miss by 2.1 times.
_MISSED = {"plane": 0.0, "cylinder": 1.0, "cone": 1.0, "torus": 1.0}
_MOST_MISSED = 2.5
#: The kinds of faces that it is to tell of.
KINDS = frozenset(_MISSED)
_FACES = "TM_brep_faces"


def tell_facets(tree: dict[str, Any]) -> None:
    """Write to each mesh of a glTF how far its triangles may be from its faces, in metres, as ``extras["facets"]``.

    Parameters
    ----------
    tree : dict
        As cascadio makes it, with the kinds of all faces; these are taken out.
    """
    for mesh in tree.get("meshes", []):
        error = 0.0
        for primitive in mesh.get("primitives", []):
            told = primitive.get("extensions", {}).pop(_FACES, None)
            faces = [None] if told is None else told["faces"]
            error = max([error, *(_MISSED.get(str((face or {}).get("type")), _MOST_MISSED) for face in faces)])
        mesh["extras"] = {"facets": 1e-3 * ASKED * error}
    for key in ("extensionsUsed", "extensionsRequired"):
        if _FACES in tree.get(key, []):
            tree[key].remove(_FACES)
