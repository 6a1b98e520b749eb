"""What two parts are to each other as sets: one convex, both the same."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from gjk3d.meshes import Mesh

Array = NDArray[np.float64]
_MOST = 50_000_000  #: products of faces and hull corners that are worth a look


def convex_defect(mesh: Mesh) -> float:
    """Return how far the hull reaches beyond the planes of the faces: 0 for a convex solid, infinity for what is none.

    `Mesh.is_convex` compares volumes, by which a plate with a small hole is convex; here each face is held against
    each corner of the hull.
    """
    if not mesh.is_watertight or not mesh.is_convex:
        return inf
    corners = mesh.hull().points
    if len(mesh.faces) * len(corners) > _MOST:
        return inf
    normals, offsets = _planes(mesh)
    step = max(1, _MOST // 50 // max(1, len(corners)))
    defect = 0.0
    for start in range(0, len(normals), step):
        heights = normals[start : start + step] @ corners.T
        defect = max(defect, float((heights.max(axis=1) - offsets[start : start + step]).max()))
    return defect


def _planes(mesh: Mesh) -> tuple[Array, Array]:
    """Return outward normals and offsets of the faces that have an area."""
    corners = mesh.vertices[mesh.faces]
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


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())
