"""What two parts are to each other as sets: the same, or one convex solid deep in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.meshes import Mesh, surfaces

Array = NDArray[np.float64]


def _planes(mesh: Mesh) -> tuple[Array, Array]:
    """Return outward normals and offsets of the faces that have an area."""
    corners = mesh.vertices[mesh.skin.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if mesh.volume < 0.0:
        normals = -normals
    length = np.linalg.norm(normals, axis=1)
    # a sliver's normal is rounding: its corners are those of its neighbours
    size = float(np.ptp(mesh.bounds, axis=0).max())
    good = length > 1e-12 * size * size
    normals = normals[good] / length[good, None]
    return normals, np.einsum("ij,ij->i", normals, corners[good, 0])


def deep_inside(inner: Mesh, outer: Mesh, margin: float) -> bool:
    """Tell whether one convex solid lies in another and stays a margin away from its faces."""
    normals, offsets = _planes(outer)
    return bool(((inner.hull().points @ normals.T).max(axis=0) < offsets - margin).all())


def same(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Tell whether two parts are the same body at one place: every vertex has its twin, and their areas are equal."""
    if float(np.abs(a.bounds - b.bounds).max()) > tolerance:
        return False
    from scipy.spatial import cKDTree

    here, there = a.vertices[np.unique(a.faces)], b.vertices[np.unique(b.faces)]
    for points, others in ((here, there), (there, here)):
        gap, _ = cKDTree(others).query(points, distance_upper_bound=2.0 * tolerance + 1e-300)
        if not (gap <= tolerance).all():
            return False
    return abs(_area(a) - _area(b)) <= 1e-3 * _area(a)


def same_surface(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Tell whether every vertex of each of two closed parts lies on the surface of the other."""
    if not (a.is_watertight and b.is_watertight) or float(np.abs(a.bounds - b.bounds).max()) > tolerance:
        return False
    return all(
        bool((surfaces.from_points(other, mesh.vertices[np.unique(mesh.faces)])[0] <= tolerance).all())
        for mesh, other in ((a, b), (b, a))
    )


def all_shared(a: Mesh, b: Mesh, volume: float | None, tolerance: float) -> bool:
    """Tell whether the volume that two parts share is all of each, but for a skin as thin as the tolerance."""
    return volume is not None and all(abs(abs(x.volume) - volume) <= tolerance * _area(x) for x in (a, b))


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())
