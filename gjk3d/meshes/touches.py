"""Where faces of two meshes meet: a point of both, the way that parts them, and how far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._numba import kernel
from gjk3d.geometry.vec3 import Vec3, dot, sub
from gjk3d.meshes import surfaces
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.triangles import Triangle, crossing_segment, nearest, normal_of, place, read
from gjk3d.narrow.minkowski import Rigid
from gjk3d.shapes.base import Array, Ints

_WIDTH = 7


class Touches(NamedTuple):
    """One row for each pair of faces that meet, in a's frame."""

    faces: Ints  #: (k, 2), ascending
    points: Array  #: (k, 3)
    normals: Array  #: (k, 3), from a to b
    depths: Array  #: (k,), not negative


@kernel
def _behind(n: Vec3, p: Triangle, q: Triangle) -> float:
    """Return how far the triangle q reaches behind the plane of p with normal n, 0 where it does not."""
    return max(0.0, dot(n, sub(p[0], q[0])), dot(n, sub(p[0], q[1])), dot(n, sub(p[0], q[2])))


@kernel
def touch_many(m: Rigid, ca: Array, cb: Array, pairs: Ints, out: Array) -> None:
    """Write of each pair of triangles that meet a point of both, a normal and a depth, in A's frame."""
    for k in range(pairs.shape[0]):
        s, t = read(ca, pairs[k, 0]), place(m, cb, pairs[k, 1])
        length, x, y = crossing_segment(s, t)
        if not length > 0.0:
            _, x, y = nearest(s, t)
        u, v = normal_of(s), normal_of(t)
        n, depth = u, _behind(u, s, t)
        other = _behind(v, t, s)
        flat_a, flat_b = dot(u, u) == 0.0, dot(v, v) == 0.0
        if not flat_b and (flat_a or other < depth):
            n, depth = (-v[0], -v[1], -v[2]), other
        elif flat_a:
            n, depth = (1.0, 0.0, 0.0), 0.0
        for c in range(3):
            out[k, c] = 0.5 * (x[c] + y[c])
            out[k, 3 + c] = n[c] + 0.0
        out[k, 6] = depth


def touches(a: Mesh, b: Mesh, m: Array) -> Touches:
    """Return where faces of two meshes meet, m being the pose of b in a's frame.

    The normal is the outward one of a's face or the inward one of b's, whichever parts the two faces by the shorter
    shift of b's; the depth is that shift: how far one face reaches behind the plane of the other.
    """
    faces = surfaces.meeting_faces(a, b, m)
    corners = [np.ascontiguousarray(x.vertices[x.wound[faces[:, k]]].reshape(-1, 9)) for k, x in ((0, a), (1, b))]
    out = np.empty((len(faces), _WIDTH))
    rows = np.repeat(np.arange(len(faces), dtype=np.int64)[:, None], 2, axis=1)
    touch_many(tuple(m.tolist()), corners[0], corners[1], rows, out)
    return Touches(faces, out[:, :3], out[:, 3:6], out[:, 6])


def nearest_face(mesh: Mesh, point: Array) -> int:
    """Return the face of a mesh that is nearest to a point in its frame."""
    return int(surfaces.from_points(mesh, point[None])[2][0])
