"""Which triangles of a surface make one flat, convex quadrilateral: a face that was cut in two."""

from __future__ import annotations

import numpy as np

from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.topology import merged_places
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Ints


def flat_of(host: TriangleSurface) -> Ints:
    """Return `flat_neighbours` of the closed surface of a mesh."""
    return host.skin._cached("flat neighbours", lambda: flat_neighbours(tree_of(host.skin).corners))


def flat_neighbours(corners: Array) -> Ints:
    """Return of each triangle, (m, 9), those that make one flat, convex quadrilateral with it, (m, 3); -1 for none."""
    count = len(corners)
    faces, v = merged_places(corners.reshape(-1, 3)).reshape(-1, 3), corners.reshape(-1, 3, 3)
    flat = np.full((count, 3), -1, dtype=np.int64)
    ends = faces, np.roll(faces, -1, axis=1)
    edge = (np.minimum(*ends) * (3 * count) + np.maximum(*ends)).ravel()
    order = np.argsort(edge, kind="stable")
    same = edge[order[1:]] == edge[order[:-1]]
    (f, i), (g, j) = (np.divmod(one[same], 3) for one in (order[:-1], order[1:]))
    a, b, c, d = v[f, i], v[f, (i + 1) % 3], v[f, (i + 2) % 3], v[g, (j + 2) % 3]
    n = np.cross(b - a, c - a)
    size = ROUNDING * float(np.abs(corners).max(initial=0.0)) * np.linalg.norm(n, axis=1)
    good = np.flatnonzero((size > 0.0) & (np.abs(((d - a) * n).sum(axis=1)) <= size))
    f, i, g, j, a, b, c, d, n = (each[good] for each in (f, i, g, j, a, b, c, d, n))
    good = (np.cross(b - a, d - a) * n).sum(axis=1) <= 0.0  # one on either side of the edge
    good &= (np.cross(a - c, d - a) * n).sum(axis=1) >= 0.0
    good &= (np.cross(b - d, c - b) * n).sum(axis=1) >= 0.0
    flat[f[good], i[good]], flat[g[good], j[good]] = g[good], f[good]
    return flat
