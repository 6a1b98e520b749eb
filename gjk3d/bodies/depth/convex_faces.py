"""Convex quadrilaterals of a surface, and the depth of triangles and boxes in a closed convex mesh."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.triangles import Triangle
from gjk3d.geometry.vec3 import Rigid, Vec3, cross, dot, row3, sub, turn_back
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2


def flat_of(host: Mesh) -> Ints:
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


_MOST = 128  #: faces; of more the tree is sooner done
_SLACK = 1e-6  #: of the size, by which a mesh may differ from its hull
_OFFSET, _MORE = 3, 4  #: columns behind the outward normal: the offset, and by how much a bound may be too low
NO_PLANES = np.zeros((0, 5))


def planes_of(skin: Mesh) -> Array:
    """Return the planes of the faces of a convex mesh in the order of its tree, (k, 5); of no rows of another."""
    return skin._cached("planes within", lambda: _find_planes(skin))


def _find_planes(skin: Mesh) -> Array:
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
