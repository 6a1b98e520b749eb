"""Corners of the intersection of two convex polytopes: where the edges of each run inside the other.

A corner of the intersection lies on three planes, of which two or three belong to one of the polytopes: so it is on an
edge of that one. No inner point is needed, and flat polytopes are no special case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.typing import Array

_THIN = 0.1  #: least extent by greatest, from which corners get half-spaces of their own
_SHARP = -0.8  #: cosine between the normals of two faces, from which their edge does
_BLOCK = 1 << 21  #: numbers of one scratch matrix


class Walls(NamedTuple):
    """A polytope by its edges (e, 2, 3), of which a point has one, and by half-spaces: normals . x <= offsets."""

    edges: Array
    normals: Array
    offsets: Array


def bevels(vertices: Array, faces: Array, arcs: Array) -> Array:
    """Return normals of half-spaces: those of the faces, and more where faces alone hold badly.

    Just outside a knife edge a point is close to the planes of both faces, and beyond a needle's point to all of them:
    there planes across the edge, and across the way from the middle to a corner, say how far it is. ``faces`` and
    ``arcs`` as `gjk3d.geometry.graph.gauss_map` has them.
    """
    middle = vertices.mean(axis=0)
    out = vertices - middle
    sizes, axes = np.linalg.svd(out, full_matrices=True)[1:]
    normals = [faces, axes, -axes]
    if len(sizes) < 3 or sizes[2] < _THIN * sizes[0]:
        lengths = np.linalg.norm(out, axis=1)
        normals.append(out[lengths > 0.0] / lengths[lengths > 0.0, None])
    sharp = arcs[np.einsum("ij,ij->i", arcs[:, 3:6], arcs[:, 6:]) < _SHARP]
    across = np.cross(sharp[:, :3], sharp[:, 3:6] - sharp[:, 6:])
    across /= np.linalg.norm(across, axis=1)[:, None]
    return np.concatenate([*normals, across, -across])


def corners(a: Walls, b: Walls, tol: float) -> Array:
    """Return the corners of the intersection, (n, 3), those closer than ``tol`` to each other once."""
    points = np.concatenate([inside(a.edges, b, tol), inside(b.edges, a, tol)])
    if len(points) < 2:
        return points
    from scipy.spatial import cKDTree

    twins = cKDTree(points).query_pairs(tol, output_type="ndarray")
    kept = np.ones(len(points), dtype=bool)
    kept[twins.max(axis=1)] = False
    return points[kept]


def inside(edges: Array, walls: Walls, tol: float) -> Array:
    """Return the ends of what of each edge is inside the half-spaces.

    Ends within ``tol`` of a plane are on it and stay as they are.
    """
    found = [np.empty((0, 3))]
    step = max(1, _BLOCK // max(1, len(walls.normals)))
    for row in range(0, len(edges), step):
        ends = edges[row : row + step]
        height = ends @ walls.normals.T - walls.offsets  # (e, 2, f)
        here, there = height[:, 0], height[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = here / (here - there)
        enter = np.where(here > tol, np.where(there < -tol, cut, 1.0), 0.0).max(axis=1)
        leave = np.where(there > tol, np.where(here < -tol, cut, 0.0), 1.0).min(axis=1)
        over = (enter - leave) * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        gone = ((here > tol) & (there > tol)).any(axis=1) | (over > tol)
        for t in (enter, leave):
            at = t[~gone, None]
            first, second = ends[~gone, 0], ends[~gone, 1]
            found.append(np.where(at == 1.0, second, first + at * (second - first)))
    return np.concatenate(found)
