"""Which triangles of a surface make one flat, convex quadrilateral: a face that was cut in two."""

from __future__ import annotations

from math import sqrt

import numpy as np

from gjk3d._kernels.decorators import entry, inlined
from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.geometry.vec3 import Vec3, cross, dot, sub
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2


def flat_of(host: TriangleSurface) -> Ints:
    """Return `flat_neighbours` of the closed surface of a mesh."""
    skin, tree = host.skin, tree_of(host.skin)
    return skin._cached("flat neighbours", lambda: flat_neighbours(tree.corners, skin._places[skin.faces[tree.order]]))


def flat_neighbours(corners: Array, places: Ints) -> Ints:
    """Return of each triangle, (m, 9), those that make one flat, convex quadrilateral with it, (m, 3); -1 for none.

    ``places``, (m, 3), are the numbers of the corners' places, see `merged_places`.
    """
    flat = np.full(places.shape, -1, dtype=np.int64)
    ends = places, np.roll(places, -1, axis=1)
    edge = (np.minimum(*ends) * (places.max(initial=0) + 1) + np.maximum(*ends)).ravel()
    pair_up(corners, edge, np.argsort(edge, kind="stable"), ROUNDING * float(np.abs(corners).max(initial=0.0)), flat)
    return flat


@entry
def pair_up(corners: Array2, edge: Ints1, order: Ints1, noise: float, flat: Ints2) -> None:
    """Write which triangles are flat with each other, of those that are neighbours in the order of their edges."""
    for k in range(len(order) - 1):
        if edge[order[k]] != edge[order[k + 1]]:
            continue
        f, i, g, j = order[k] // 3, order[k] % 3, order[k + 1] // 3, order[k + 1] % 3
        a, b, c = _corner(corners, f, i), _corner(corners, f, (i + 1) % 3), _corner(corners, f, (i + 2) % 3)
        d = _corner(corners, g, (j + 2) % 3)
        n = cross(sub(b, a), sub(c, a))
        size = noise * sqrt(dot(n, n))
        if (
            size > 0.0
            and abs(dot(sub(d, a), n)) <= size
            and dot(cross(sub(b, a), sub(d, a)), n) <= 0.0  # one on either side of the edge
            and dot(cross(sub(a, c), sub(d, a)), n) >= 0.0
            and dot(cross(sub(b, d), sub(c, b)), n) >= 0.0
        ):
            if flat[f, i] < 0:  # of three at one edge it has the one before it
                flat[f, i] = g
            flat[g, j] = f


@inlined
def _corner(corners: Array, face: int, corner: int) -> Vec3:
    at = 3 * corner
    return (corners[face, at], corners[face, at + 1], corners[face, at + 2])
