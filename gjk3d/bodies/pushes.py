"""How faces of meshes that meet push each other out: which way, and how far, where they meet."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.order import Thing
from gjk3d.bodies.pair import BodyPair
from gjk3d.convex.planes import planes_of, ray_core
from gjk3d.geometry.simplex import closest_on_triangle
from gjk3d.geometry.vec3 import Vec3, cross, dot, scale, sub
from gjk3d.narrow import ray
from gjk3d.narrow import solve as narrow
from gjk3d.poses import moved
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Array1, Array2, Array3, Ints

_LOOKED_AT = 16384  #: pairs of faces that meet
_MUCH = 2.0  #: so much deeper may the normal of a face be than the shortest way
_FAR = 8.0  #: and so much deeper at most
LEVEL = 1e-9  #: a direction that is off a plane by less is along it


def of_faces(x: BodyPair, b: Thing, depth: float) -> tuple[Ints, Array]:
    """Return pairs of a mesh's faces and those of another, or a shape, that meet, and how deep they do.

    No two faces are deeper than the whole: one that pushes farther is not what is in the way.
    """
    pairs = x.meeting(0.0, _LOOKED_AT) if isinstance(x, MeshPair) else x.meeting()
    out, _ = x.solve(pairs, narrow.SIGNED)
    error, ways = 4.0 * x.error, []
    turn = x.m[:9].reshape(3, 3)
    first = _corners(x.a, pairs[:, 0])
    if not isinstance(b, Mesh):
        assert isinstance(b, Shape)
        if x.a.solids:
            n = x.a.outward(pairs[:, 0])
            ways.append((n, *_below_faces(b, x.m, first, n, error)))
    else:
        second = np.ascontiguousarray(moved(x.m, _corners(x.b, pairs[:, 1])))
        if x.a.solids:
            n = x.a.outward(pairs[:, 0])
            ways.append((n, *_behind(first, second, n, error)))
        if x.b.solids:
            n = x.b.outward(pairs[:, 1]) @ turn.T
            deep, highest = _behind(second, first, n, error)
            ways.append((0.0 - n, deep, highest + np.where(np.isfinite(deep), deep, 0.0)[:, None] * n))
    kept = _push_out(out, ways, error)
    shallow = kept[-out[kept, 0] <= max(depth, 0.0) + error]
    kept = shallow if len(shallow) else kept
    return pairs[kept], out[kept]


def _corners(triangles: Any, which: Ints) -> Array:
    """Return the corners of some triangles of a mesh, (k, 3, 3)."""
    corners: Array = triangles.tree.corners[which].reshape(-1, 3, 3)
    return corners


def _behind(faces: Array, others: Array, ways: Array, error: float) -> tuple[Array, Array]:
    """Return how far triangles reach behind others, in the column of each along a direction, and the points there.

    That is infinite where they reach into none: what lies beside a face is not in its way.
    """
    deep, low = np.empty(len(faces)), np.empty((len(faces), 3))
    lowest_in_columns(np.ascontiguousarray(faces), others, ways, error, np.empty((2, 9, 3)), deep, low)
    return deep, low


@inlined
def _corner(t: Array3, k: int, i: int) -> Vec3:
    return (t[k, i, 0], t[k, i, 1], t[k, i, 2])


@kernel
def _clipped(p: Array2, count: int, at: Vec3, m: Vec3, slack: float, q: Array2) -> int:
    """Write what of a polygon is not beyond a plane through a point, with outward normal m; return how many corners."""
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        one, two = (p[i, 0], p[i, 1], p[i, 2]), (p[j, 0], p[j, 1], p[j, 2])
        h, g = dot(m, sub(one, at)) - slack, dot(m, sub(two, at)) - slack
        if h <= 0.0:
            q[kept, 0], q[kept, 1], q[kept, 2] = one
            kept += 1
        if (h < 0.0 and g > 0.0) or (h > 0.0 and g < 0.0):
            s = h / (h - g)
            for axis in range(3):
                q[kept, axis] = one[axis] + s * (two[axis] - one[axis])
            kept += 1
    return kept


@entry
def lowest_in_columns(
    faces: Array3, others: Array3, ways: Array2, error: float, room: Array3, deep: Array1, low: Array2
) -> None:
    """Write of each triangle in the column over a face how far its lowest point is behind the face, and that point."""
    p, q = room[0], room[1]
    for k in range(faces.shape[0]):
        n = (ways[k, 0], ways[k, 1], ways[k, 2])
        count = 3
        for i in range(3):
            p[i, 0], p[i, 1], p[i, 2] = _corner(others, k, i)
        for i in range(3):
            at, end, third = _corner(faces, k, i), _corner(faces, k, (i + 1) % 3), _corner(faces, k, (i + 2) % 3)
            m = cross(sub(end, at), n)
            if dot(m, sub(third, at)) > 0.0:
                m = scale(-1.0, m)
            count = _clipped(p, count, at, m, error * sqrt(dot(m, m)), q)
            p, q = q, p
        deep[k], top = inf, dot(n, _corner(faces, k, 0))
        for i in range(count):
            behind = top - dot(n, (p[i, 0], p[i, 1], p[i, 2]))
            if i == 0 or behind > deep[k]:
                deep[k], low[k, 0], low[k, 1], low[k, 2] = behind, p[i, 0], p[i, 1], p[i, 2]
        if count == 0:
            low[k, 0], low[k, 1], low[k, 2] = _corner(others, k, 0)


def _below_faces(b: Shape, row: Array, faces: Array, ways: Array, error: float) -> tuple[Array, Array]:
    """Do as `_behind` does of a shape: its lowest point, or what is below the face's point nearest to that."""
    turn = row[:9].reshape(3, 3)
    lowest = moved(row, b.support(-ways @ turn))
    deep = np.einsum("ij,ij->i", ways, faces[:, 0] - lowest)
    over = np.empty_like(lowest)
    nearest_over(np.ascontiguousarray(faces), lowest + deep[:, None] * ways, over)
    aside = np.flatnonzero(np.linalg.norm(lowest + deep[:, None] * ways - over, axis=1) > error)
    if not len(aside):
        return deep, lowest
    reach = 4.0 * (float(np.abs(lowest).max()) + float(np.abs(faces).max()))
    out, codes = np.empty((len(aside), 4)), np.empty(len(aside), dtype=np.int64)
    starts = over[aside] - reach * ways[aside]
    ray.rays(
        *ray_core(b), planes_of(b), row[None], starts, ways[aside], inf, 0, len(aside), out, codes
    )  # fmt: skip
    hit = codes == ray.HIT
    below = starts + np.where(hit, out[:, 0], 0.0)[:, None] * ways[aside]
    below_by = np.einsum("ij,ij->i", ways[aside], over[aside] - below)
    deep[aside] = np.where(hit & (below_by >= -error), below_by, inf)
    lowest[aside] = below
    return deep, lowest


@entry
def nearest_over(faces: Array3, points: Array2, out: Array2) -> None:
    """Write the point of each triangle nearest to a point."""
    for k in range(faces.shape[0]):
        p = (points[k, 0], points[k, 1], points[k, 2])
        a, b, c = sub(_corner(faces, k, 0), p), sub(_corner(faces, k, 1), p), sub(_corner(faces, k, 2), p)
        near, _ = closest_on_triangle(a, b, c, 0.0)
        for axis in range(3):
            out[k, axis] = p[axis] + near[axis]


def _push_out(out: Array, ways: list[tuple[Array, Array, Array]], error: float) -> Ints:
    """Let faces of closed meshes push each other outwards, mostly along the normal of one; return which tell anything.

    Of each mesh that is closed there are the directions in which its faces push, how deep the other is behind each,
    and the other's point there. The shortest way out of two triangles is taken where it leads into neither mesh, and is
    much shorter: it may be across edges that are none of the solid's. Where it leads into one and the way out is far
    longer, as of faces that cross near an edge or touch there from within, others know better.
    """
    best, inwards = np.full(len(out), np.inf), np.zeros(len(out), dtype=bool)
    instead = out.copy()
    for n, deep, lowest in ways:
        inwards |= np.einsum("ij,ij->i", n, out[:, 3:6]) < -LEVEL
        some = np.flatnonzero((deep < best) & n.any(axis=1))
        best[some], way, low = deep[some], n[some], lowest[some]
        depth = np.maximum(deep[some], 0.0)[:, None]
        instead[some, :3], instead[some, 3:6] = -depth, way
        instead[some, 6:9], instead[some, 9:12] = low + depth * way, low
    own, sure = -out[:, 0], np.isfinite(best)
    deepest = float(own[~inwards].max(initial=0.0))
    touch = sure & (own <= error) & (best > max(_MUCH * deepest, error))
    lost = inwards & (touch | (best > np.maximum(_FAR * own, max(_MUCH * deepest, error))))
    taken = sure & ~touch & ~lost & (inwards | (best <= _MUCH * own))
    out[taken] = instead[taken]
    return np.flatnonzero(~lost) if not lost.all() else np.arange(len(out))
