"""Which triangles of a mesh share their edges: what tells whether the surface is closed, and what hangs together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Edges(NamedTuple):
    """The edges of the triangles whose corners are at three places; vertices at one place count as one."""

    places: Indices  #: (n,) the number of the place of each vertex
    faces: Indices  #: (k,) the numbers of these triangles
    corners: Indices  #: (k, 3) the places of their corners
    numbers: Indices  #: (k, 3) which edge leads on from each corner
    ways: Array  #: (k, 3) 1 where it leads from the lower place to the higher, else -1
    ends: Indices  #: (e, 2) the places that each edge joins


def edges_of(vertices: Array, faces: Indices) -> Edges:
    """Return the edges of a mesh."""
    places = merged_places(vertices)
    corners = places[faces]
    a, b, c = corners.T
    real = np.flatnonzero((a != b) & (b != c) & (c != a))
    if len(real) < len(corners):
        corners = corners[real]
    start, stop = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    # one whole number for each undirected edge
    count = max(len(vertices), 1)
    keys, number = np.unique(np.minimum(start, stop) * count + np.maximum(start, stop), return_inverse=True)
    ways = np.where(start < stop, 1.0, -1.0)
    ends = np.column_stack([keys // count, keys % count])
    return Edges(places, real, corners, number.reshape(-1, 3), ways.reshape(-1, 3), ends)


def merged_places(vertices: Array) -> Indices:
    """Return the number of the place of each vertex; those with equal coordinates share one."""
    order = np.lexsort(vertices.T)
    ordered = vertices[order]
    new = np.ones(len(order), dtype=np.int64)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return place


def body_numbers(vertices: Array, faces: Indices) -> Indices:
    """Return which connected body each face is of, numbered by their first faces."""
    corners = merged_places(vertices)[faces]
    label = connected(corners[:, [0, 1]].ravel(), corners[:, [1, 2]].ravel(), len(vertices))[corners[:, 0]]
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    result: Indices = rank[number.ravel()]
    return result


def connected(one: Indices, other: Indices, count: int) -> Indices:
    """Return the component of each of so many nodes, of which those pairs are joined."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(one), dtype=np.int8), (one, other)), shape=(count, count))
    label: Indices = connected_components(graph, directed=False)[1].astype(np.int64)
    return label
