"""Normals and edges of a triangle mesh, so that curved parts look round and corners look sharp."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gjk3d.meshes.edges import merged_places

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Faces that meet at less than this, in degrees, belong to one smooth patch.
CREASE = 18.0


class Shaded(NamedTuple):
    """A mesh whose vertices are doubled along its sharp edges."""

    vertices: Array
    normals: Array
    faces: Indices
    edges: Array  #: (k, 2, 3), the sharp and the open edges


def shade(vertices: Array, faces: Indices) -> Shaded:
    """Split a mesh into smooth patches, each with its own normals."""
    places = merged_places(np.asarray(vertices, dtype=np.float64))
    points = np.empty((places.max() + 1 if len(places) else 0, 3))
    points[places] = vertices
    corners = places[faces]
    size = np.ptp(points, axis=0).max() if len(points) else 1.0
    a, b, c = ((points[corners[:, k]] - points[0]) / (size or 1.0) for k in range(3))  # no underflow at any scale
    areas = np.cross(b - a, c - a)
    lengths = np.linalg.norm(areas, axis=1)
    normals = areas / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    start, stop = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    owner = np.repeat(np.arange(len(corners)), 3)
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    order = np.lexsort((owner, high, low))
    low, high, owner = low[order], high[order], owner[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    begin = np.flatnonzero(first)
    count = np.diff(np.append(begin, len(order)))
    two = begin[count == 2]
    cosine = np.einsum("ij,ij->i", normals[owner[two]], normals[owner[two + 1]])
    smooth = cosine > np.cos(np.radians(CREASE))
    # where more than two meet, as on a flat body with two sides, the edge shows if they are not all in one plane
    many = begin[count > 2]
    folded = [
        bool(np.ptp(np.abs(normals[owner[i : i + n]] @ normals[owner[i]])) > 1e-3)
        for i, n in zip(many, count[count > 2], strict=True)
    ]
    shown = np.concatenate([begin[count == 1], two[~smooth], many[np.array(folded, dtype=bool)]])

    joined = two[smooth]
    links = coo_array((np.ones(len(joined)), (owner[joined], owner[joined + 1])), shape=(len(corners), len(corners)))
    patch = connected_components(links, directed=False)[1].astype(np.int64)
    keys, split = np.unique(corners.ravel() * (len(corners) + 1) + np.repeat(patch, 3), return_inverse=True)
    split = split.reshape(-1, 3)
    sums = np.zeros((len(keys), 3))
    for k in range(3):
        np.add.at(sums, split[:, k], areas)
    norm = np.linalg.norm(sums, axis=1)
    sums[norm == 0.0] = (0.0, 0.0, 1.0)
    sums /= np.where(norm > 0.0, norm, 1.0)[:, None]
    ends = np.stack([points[low[shown]], points[high[shown]]], axis=1)
    return Shaded(points[keys // (len(corners) + 1)], sums, split, ends)
