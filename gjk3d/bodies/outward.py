"""Outward normals of the faces of closed meshes, some of which intersect themselves or are wound inside out.

Usually the winding of a face gives its outward normal, and the solid is on one side of each face. Both can be wrong if
a body of the mesh intersects itself, or if one of several bodies is inside out: a point is inside if the surface winds
about it in either direction (`gjk3d.bodies.mesh_sides`). Points next to a face on both sides then decide.
"""

from __future__ import annotations

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Parts
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.depth.points import outward_normals
from gjk3d.bodies.mesh_distance import TriangleTree
from gjk3d.bodies.mesh_sides import holds
from gjk3d.bodies.parts import Triangles
from gjk3d.bodies.triangles import crossing_segment, meet, read
from gjk3d.geometry.boxes import box_pose, boxes_apart
from gjk3d.geometry.components import connected
from gjk3d.geometry.vec3 import Rigid
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Ints, Ints1, Ints2

_IDENTITY: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_LEAST = 64.0  #: least length of the intersection of two triangles, in units of the error of positions
_STEP = 1e3  #: distance of a point next to a face, in units of the error of positions
#: points of a triangle by their weights: the middle, three near the corners, and three near the middles of the edges
_SAMPLES = np.array([(1, 1, 1), (8, 1, 1), (1, 8, 1), (1, 1, 8), (5, 5, 1), (1, 5, 5), (5, 1, 5)], dtype=float)
_SAMPLES /= _SAMPLES.sum(axis=1, keepdims=True)


@kernel
def _cross_each_other(t: TriangleTree, places: Ints, pieces: Ints, p: int, q: int, error: float) -> bool:
    """Return whether two triangles of one piece without a common edge intersect in more than a point."""
    if pieces[p] != pieces[q]:
        return False
    common = 0
    for i in range(3):
        for j in range(3):
            common += int(places[p, i] == places[q, j])
    if common > 1:
        return False
    a, b = read(t.corners, p), read(t.corners, q)
    return bool(meet(a, b, error) and crossing_segment(a, b)[0] > _LEAST * error)


@entry
def crosses_itself(t: TriangleTree, places: Ints2, pieces: Ints1, error: float, stack: Ints2) -> bool:
    """Return whether a piece of a mesh intersects itself.

    ``places`` are the numbers of the positions of the corners of each triangle, and ``pieces`` those of the pieces that
    are connected by edges.
    """
    stack[0, 0] = stack[0, 1] = 0
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        x, y, z = t.boxes[i, 3] + error, t.boxes[i, 4] + error, t.boxes[i, 5] + error
        m = box_pose(_IDENTITY, t.boxes, i, t.boxes, j)
        if i != j and boxes_apart(m, x, y, z, t.boxes[j, 3], t.boxes[j, 4], t.boxes[j, 5]):
            continue
        left_i, left_j = t.links[i, 0], t.links[j, 0]
        if left_i < 0 and left_j < 0:
            for p in range(t.links[i, 1], t.links[i, 1] + t.links[i, 2]):
                for q in range(p + 1 if i == j else t.links[j, 1], t.links[j, 1] + t.links[j, 2]):
                    if _cross_each_other(t, places, pieces, p, q, error):
                        return True
            continue
        if i == j:  # both halves with themselves, and with each other
            stack[top, 0] = stack[top, 1] = left_i
            stack[top + 1, 0] = stack[top + 1, 1] = left_i + 1
            stack[top + 2, 0], stack[top + 2, 1] = left_i, left_i + 1
            top += 3
        elif left_j < 0 or (left_i >= 0 and t.links[i, 2] >= t.links[j, 2]):
            stack[top, 0] = left_i
            stack[top + 1, 0] = left_i + 1
            stack[top, 1] = stack[top + 1, 1] = j
            top += 2
        else:
            stack[top, 0] = stack[top + 1, 0] = i
            stack[top, 1], stack[top + 1, 1] = left_j, left_j + 1
            top += 2
    return False


def outward_of(parts: Parts) -> tuple[Array, int]:
    """Return the outward normals of faces, and 0 for an open mesh, 2 for possible inner walls, and otherwise 1.

    The normals are one row of zeros if the mesh is open. A face has no normal if it bounds the solid on both sides.
    """
    assert isinstance(parts, Triangles)
    return parts.mesh._cached("outward of contacts", lambda: _find_outward(parts))


def _find_outward(parts: Triangles) -> tuple[Array, int]:
    mesh, normals = parts.mesh, outward_normals(parts)
    if not parts.solids:
        return normals, 0
    tree, (across, crowded) = tree_of(mesh), parts.across_edges()
    pieces = connected(np.arange(len(across)).repeat(3), across.ravel(), len(across))
    error = ROUNDING * tree.reach
    places = np.ascontiguousarray(mesh._places[mesh.faces[tree.order]])
    crossed = crosses_itself(tree.arrays, places, pieces, error, traversal_stack())
    if not (crowded or crossed or pieces.any()):
        return normals, 1
    v = mesh.vertices[mesh._wound[tree.order]] - mesh.vertices.mean(axis=0)
    volumes = np.bincount(pieces, np.einsum("ij,ij->i", v[:, 0], np.cross(v[:, 1], v[:, 2])))
    if len(normals) > 1 and (crossed or (volumes > 0.0).any() == (volumes < 0.0).any()):
        normals = _by_samples(parts, normals, _STEP * error)
    return normals, 2


def _by_samples(parts: Triangles, normals: Array, step: float) -> Array:
    """Return normals that lead out of the solid at samples of their faces, and zero if the samples differ."""
    corners = tree_of(parts.mesh).corners.reshape(-1, 3, 3)

    def sides(sample: Array) -> Ints:
        """Return 1 for faces whose normal leads out of the solid at a sample, -1 for the opposite, and otherwise 0."""
        points = np.einsum("k,ikj->ij", sample, corners)
        ahead, behind = (holds(parts.mesh, points + far * normals) for far in (step, -step))
        return behind.astype(np.int64) - ahead

    middle = sides(_SAMPLES[0])
    if (middle >= 0).all() and not (middle == 0).any():
        return normals
    every = np.stack([middle, *(sides(sample) for sample in _SAMPLES[1:])])
    either: Array = every.max(axis=0).clip(0) + every.min(axis=0).clip(max=0)
    either[~every.any(axis=0)] = 1  # an inner wall
    return normals * either[:, None] + 0.0
