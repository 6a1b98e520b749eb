"""How deep points, triangles and boxes lie inside a closed mesh that is convex: by the planes of its faces.

Inside, the nearest place of the surface is that of the nearest plane. So a depth is a least of linear functions, and
what it is at most in a triangle or a box follows from each of these, without a look at the tree.
"""

from __future__ import annotations

from math import inf

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.triangles import Triangle
from gjk3d.geometry.vec3 import Rigid, Vec3, dot, row3, turn_back
from gjk3d.typing import Array

_MOST = 128  #: faces; of more the tree is sooner done
_SLACK = 1e-6  #: of the size, by which a mesh may differ from its hull
_OFFSET, _MORE = 3, 4  #: columns behind the outward normal: the offset, and by how much a bound may be too low
NO_PLANES = np.zeros((0, 5))


def planes_of(skin: TriangleSurface) -> Array:
    """Return the planes of the faces of a convex mesh in the order of its tree, (k, 5); of no rows of another."""
    return skin._cached("planes within", lambda: _find_planes(skin))


def _find_planes(skin: TriangleSurface) -> Array:
    tree = tree_of(skin)
    slack = skin._convex_slack if len(tree.order) <= _MOST else inf
    if not slack <= _SLACK * tree.reach:
        return NO_PLANES
    normals = skin._outward(tree.order)
    if not normals.any(axis=1).all():
        return NO_PLANES
    heights = np.einsum("ikj,ij->ik", tree.corners.reshape(-1, 3, 3), normals)  # a needle's normal is off by rounding
    low = heights.min(axis=1)
    return np.ascontiguousarray(np.column_stack([normals, low, slack + heights.max(axis=1) - low]))


@kernel
def depth_by_planes(planes: Array, p: Vec3, enough: float) -> tuple[float, int]:
    """Return how deep a point lies inside, and below which face; negative is outside, by no less than that.

    What is below ``enough`` may be more than the depth.
    """
    least, face = inf, 0
    for k in range(planes.shape[0]):
        d = planes[k, _OFFSET] - dot(row3(planes, k), p)
        if d < least:
            least, face = d, k
            if d < enough:
                break
    return least, face


@kernel
def triangle_by_planes(planes: Array, t: Triangle, enough: float) -> float:
    """Bound how deep a triangle lies inside, negative where it does not; what is below ``enough`` is some bound."""
    bound = inf
    for k in range(planes.shape[0]):
        n = row3(planes, k)
        d = planes[k, _OFFSET] + planes[k, _MORE] - min(dot(n, t[0]), dot(n, t[1]), dot(n, t[2]))
        bound = min(bound, d)
        if bound < enough:
            break
    return bound


@inlined
def _axis_of(rows: Array, i: int, k: int) -> Vec3:
    """Return three numbers of a row."""
    return (rows[i, k], rows[i, k + 1], rows[i, k + 2])


@kernel
def box_by_planes(planes: Array, m: Rigid, boxes: Array, i: int, c: Vec3) -> float:
    """Bound how deep what is in a box lies inside, m being its pose and c its middle there."""
    bound = inf
    for k in range(planes.shape[0]):
        n = row3(planes, k)
        v = turn_back(m, n)
        wide = 0.0
        for axis in range(3):
            wide += boxes[i, 3 + axis] * abs(dot(v, _axis_of(boxes, i, 6 + 3 * axis)))
        bound = min(bound, planes[k, _OFFSET] + planes[k, _MORE] - dot(n, c) + wide)
    return bound
