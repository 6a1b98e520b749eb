"""The Gauss map of a convex hull: the normals of its faces, and the arcs between them that its edges are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.geometry.hulls import HullData
from gjk3d.typing import Array

FLAT = 1e-12  #: an edge that turns less than this is inside a face


def gauss_map(hull: HullData) -> tuple[Array, Array]:
    """Return unit face normals (f, 3), and edges (e, 9): unit direction and the normals of the two faces it joins."""
    v = hull.vertices
    if hull.dimension == 0:
        return np.zeros((0, 3)), np.zeros((0, 9))
    if hull.dimension == 1:
        # the whole circle round a segment, in four arcs
        along = _unit((v[hull.edges[0, 1]] - v[hull.edges[0, 0]])[None])[0]
        x = _unit(np.cross(along, np.eye(3)[np.argmin(np.abs(along))])[None])[0]
        y = np.cross(along, x)
        normals = np.array([x, y, -x, -y])
        return normals, np.hstack([np.tile(along, (4, 1)), normals, np.roll(normals, -1, axis=0)])
    a, b, c = (v[hull.faces[:, i]] for i in range(3))
    each = _unit(np.cross(b - a, c - a))
    first, second = _faces_of_edges(hull)
    keep = hull.angles > FLAT
    ends = v[hull.edges[keep]]
    along = _unit(ends[:, 1] - ends[:, 0])
    n1, n2 = each[first[keep]], each[second[keep]]
    if hull.dimension == 3:
        return _distinct(each), np.hstack([along, n1, n2])
    up = each[0]
    outward = _unit(np.cross(along, up))
    outward *= np.sign(np.einsum("ij,ij->i", outward, ends[:, 0] - v.mean(axis=0)))[:, None]
    edges = np.vstack([np.hstack([along, outward, np.tile(s * up, (len(along), 1))]) for s in (1.0, -1.0)])
    return np.vstack([up, -up, outward]), edges


def _unit(rows: Array) -> Array:
    """Return rows of length 1, scaled first so that squares neither overflow nor vanish."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0.0, length, 1.0)


def _faces_of_edges(hull: HullData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each edge the two faces it lies between."""
    count = len(hull.vertices)
    sides = np.vstack([hull.faces[:, [0, 1]], hull.faces[:, [1, 2]], hull.faces[:, [2, 0]]])
    face = np.tile(np.arange(len(hull.faces)), 3)
    key = sides.min(axis=1) * count + sides.max(axis=1)
    order = np.argsort(key, kind="stable")
    at = np.searchsorted(key[order], hull.edges[:, 0] * count + hull.edges[:, 1])
    return face[order[at]], face[order[at + 1]]


def _distinct(normals: Array) -> Array:
    """Return one normal for each face, not for each of its triangles."""
    _, index = np.unique(np.round(normals, 12), axis=0, return_index=True)
    return np.ascontiguousarray(normals[np.sort(index)])
