"""The union of the bodies of a mesh: its surface without what lies inside another body, made by manifold3d.

Bodies of one file may overlap or lie face on face. As a set of points such a mesh is its union, while its triangles
also hold inner walls, which would count as surface, and their volumes would count twice.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.broad.tree import Tree
from gjk3d.poses import matrices
from gjk3d.typing import Array

_SAME = 1e-9  #: relative change of the area below which no wall was removed
_FLAT = 1e-13  #: volume of a piece without an inside, in units of its area to the power of 3/2
ERROR = 4.0  #: how far the union may be from that of the bodies, in units of manifold3d's own tolerance


class Union(NamedTuple):
    """A mesh without inner walls.

    Attributes
    ----------
    mesh : Mesh
        The mesh that was given, if it has none.
    slack : float
        How far its surface may be from the true one.
    decided : bool
        False if the mesh may have inner walls, since the union could not be made.
    """

    mesh: Mesh
    slack: float = 0.0
    decided: bool = True


@cache
def available() -> bool:
    """Whether solids can be intersected and united: the extra gjk3d[mesh] or gjk3d[clash] is installed."""
    return importlib.util.find_spec("manifold3d") is not None


def solid(mesh: Mesh) -> Any:
    """Return the solid of manifold3d that a mesh bounds; None if it is open, or no manifold."""
    if not available() or not mesh.is_watertight:
        return None
    mesh = mesh.skin
    place = mesh._places
    _, first = np.unique(place, return_index=True)
    faces = place[mesh.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    if mesh.volume < 0.0:  # inside out
        faces = faces[:, ::-1]
    return _solid_of(mesh.vertices[first], faces)


def _solid_of(vertices: Array, faces: Any) -> Any:
    import manifold3d

    corners, triangles = np.ascontiguousarray(vertices), np.ascontiguousarray(faces).astype(np.uint64)
    body = manifold3d.Manifold(manifold3d.Mesh64(vert_properties=corners, tri_verts=triangles))
    return body if body.status() == manifold3d.Error.NoError else None


def union_of(mesh: Mesh) -> Union:
    """Return a mesh without its inner walls, made once."""
    return mesh._cached("union", lambda: _union_of(mesh))


def _union_of(mesh: Mesh) -> Union:
    if not mesh.is_solid or not _may_overlap(mesh.skin):
        return Union(mesh)
    whole = solid(mesh)
    if whole is None:
        return Union(mesh, decided=False)
    made = joined(_bodies(whole))
    if made is None:
        return Union(mesh, decided=False)
    if abs(made.surface_area() - _area(mesh.skin)) <= _SAME * made.surface_area():
        return Union(mesh)
    vertices, faces = arrays_of(made)
    hanging = mesh.faces[mesh._mended.hanging]  # which can be touched
    corners = np.concatenate([vertices, mesh.vertices[hanging].reshape(-1, 3)])
    others = len(vertices) + np.arange(hanging.size).reshape(-1, 3)
    union = mesh._like(corners, np.concatenate([faces, others]), source=mesh.source)
    if not union.is_watertight:
        return Union(mesh, decided=False)
    union._cache["union"] = Union(union)
    return Union(union, ERROR * made.get_tolerance())


def joined(solids: Sequence[Any]) -> Any:
    """Return the union of solids of manifold3d; None if it fails."""
    import manifold3d

    made = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    return made if made.status() == manifold3d.Error.NoError and not made.is_empty() else None


def arrays_of(body: Any) -> tuple[Array, Any]:
    """Return the vertices and the faces of a solid of manifold3d."""
    surface = body.to_mesh64()
    vertices = np.array(surface.vert_properties[:, :3], dtype=np.float64, order="C")
    return vertices, surface.tri_verts.astype(np.int64)


def placed(mesh: Mesh, row: Array) -> Any:
    """Return the solid of a mesh at a pose row, None as `solid`."""
    body = solid(mesh)
    return None if body is None else body.transform(matrices(row)[:3])


def any_overlap(boxes: Array) -> bool:
    """Tell whether any two boxes, (n, 6), overlap or touch."""
    tree = Tree(len(boxes))
    tree.insert(np.arange(len(boxes)), boxes)
    return any(len(block) for block in tree.pairs())


def _may_overlap(skin: Mesh) -> bool:
    """Tell whether bodies share edges, or their boxes touch."""
    if skin._mended.crowded:
        return True
    body = skin._bodies
    if not body.any():
        return False
    order = np.argsort(body, kind="stable")
    starts = np.searchsorted(body[order], np.arange(int(body.max()) + 1))
    corners = skin.vertices[skin.faces[order]]
    low, high = (bound.reduceat(ends, starts) for bound, ends in _ends(corners))
    return any_overlap(np.hstack([low, high]))


def _ends(corners: Array) -> tuple[tuple[Any, Array], tuple[Any, Array]]:
    return (np.minimum, corners.min(axis=1)), (np.maximum, corners.max(axis=1))


def _bodies(whole: Any) -> list[Any]:
    """Return the bodies of a solid, each without its hollows; what has no inside is left out."""
    pieces = [piece for piece in whole.decompose() if abs(piece.volume()) > _FLAT * piece.surface_area() ** 1.5]
    bodies = sorted((piece for piece in pieces if piece.volume() > 0.0), key=lambda piece: float(piece.volume()))
    for hollow in pieces:
        if hollow.volume() > 0.0:
            continue
        vertices, faces = arrays_of(hollow)
        filled = _solid_of(vertices, faces[:, ::-1])
        owner = next((k for k, body in enumerate(bodies) if _holds_box(body, filled)), None)
        if owner is None:  # inside out
            bodies.append(filled)
        else:
            bodies[owner] = bodies[owner] - filled
    return bodies


def _holds_box(outer: Any, inner: Any) -> bool:
    low, high = np.array(outer.bounding_box()).reshape(2, 3), np.array(inner.bounding_box()).reshape(2, 3)
    return bool((low[0] <= high[0]).all() and (low[1] >= high[1]).all() and outer.volume() > inner.volume())


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())
