"""Volumes that two closed meshes share, by manifold3d."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.meshes import Mesh
from gjk3d.meshes.edges import merged_places

Array = NDArray[np.float64]


class Overlap(NamedTuple):
    """What two solids share: its volume, and its surface as vertices and faces; none at all where volume is 0."""

    volume: float
    vertices: Array
    faces: NDArray[np.int64]

    @property
    def box(self) -> Array:
        """Lowest and highest corner, (2, 3)."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)])


@cache
def available() -> bool:
    """Whether volumes can be intersected: the extra gjk3d[mesh] or gjk3d[clash] is installed."""
    return importlib.util.find_spec("manifold3d") is not None


def solid(mesh: Mesh) -> Any:
    """Return the solid that a mesh bounds; None if it is open, or no manifold."""
    if not available() or not mesh.is_watertight:
        return None
    import manifold3d

    mesh = mesh.skin
    place = merged_places(mesh.vertices)
    _, first = np.unique(place, return_index=True)
    faces = place[mesh.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    if mesh.volume < 0.0:  # inside out
        faces = faces[:, ::-1]
    body = manifold3d.Manifold(
        manifold3d.Mesh64(
            vert_properties=np.ascontiguousarray(mesh.vertices[first]),
            tri_verts=np.ascontiguousarray(faces).astype(np.uint64),
        )
    )
    return body if body.status() == manifold3d.Error.NoError else None


def overlap(a: Any, b: Any) -> Overlap | None:
    """Return what two solids share, None where the boolean fails."""
    import manifold3d

    both = a ^ b
    if both.status() != manifold3d.Error.NoError:
        return None
    if both.is_empty():
        return Overlap(0.0, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    surface = both.to_mesh64()
    vertices = np.ascontiguousarray(surface.vert_properties[:, :3], dtype=np.float64)
    return Overlap(float(both.volume()), vertices, surface.tri_verts.astype(np.int64))
