"""Segments joined end to end into polylines."""

from __future__ import annotations

import numpy as np

from gjk3d.shapes.base import Array, Ints


def joined(segments: Array, apart: float) -> list[Array]:
    """Return polylines, (k, 3) each, of segments (n, 2, 3) whose ends lie no farther apart than said.

    A closed one ends where it began; three or more ends at one place end all lines there. Longest first.
    """
    if not len(segments):
        return []
    place, points = _places(segments.reshape(-1, 3), apart)
    ends = place.reshape(-1, 2)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    at: dict[int, list[int]] = {}
    for k, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append(k)
        at.setdefault(j, []).append(k)
    used = np.zeros(len(ends), dtype=bool)
    lines = []
    # lines with ends first; what is left are rings
    for start in [*(i for i in at if len(at[i]) != 2), *at]:
        for k in at[start]:
            if not used[k]:
                lines.append(points[_walk(start, k, ends, at, used)])
    return sorted(lines, key=lambda line: -float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()))


def _walk(start: int, k: int, ends: Ints, at: dict[int, list[int]], used: Array) -> list[int]:
    """Follow segments from a place by its segment k until a junction, an end, or the beginning."""
    line = [start]
    while True:
        used[k] = True
        i, j = ends[k].tolist()
        line.append(j if line[-1] == i else i)
        if line[-1] == start or len(at[line[-1]]) != 2:
            return line
        k = next(n for n in at[line[-1]] if n != k)


def _places(points: Array, apart: float) -> tuple[Ints, Array]:
    """Return which place each point is at, and a point of each place."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    near = cKDTree(points).query_pairs(apart, output_type="ndarray")
    count = len(points)
    graph = coo_matrix((np.ones(len(near), dtype=np.int8), (near[:, 0], near[:, 1])), shape=(count, count))
    place = connected_components(graph, directed=False)[1].astype(np.int64)
    _, first = np.unique(place, return_index=True)
    return place, points[first]
