"""Where two bodies touch: points with normals, from the parts that meet or from the faces of meshes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.manifolds import WIDTH, points_of_parts
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MOST_PAIRS, too_many
from gjk3d.bodies.order import Thing, in_order
from gjk3d.bodies.pair import BodyPair
from gjk3d.bodies.planes import standing_in
from gjk3d.bodies.pushes import LEVEL, of_faces
from gjk3d.bodies.spread import kept
from gjk3d.bodies.traversal import crossings
from gjk3d.bodies.triangles import Triangle, crossing_segment, nearest, normal_of, place, read
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.patches import patch_points
from gjk3d.convex.rows import mirror
from gjk3d.geometry.vec3 import Vec3, dot, sub
from gjk3d.geometry.vec3 import place as at
from gjk3d.geometry.vec3 import turn as along
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import relative_pose
from gjk3d.poses import IDENTITY, ROUNDING, moved, moved_back, relative
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

_MOST = 256  #: pairs of parts, the deepest, that are looked at for more than one point
_NEARLY = 1e-3  #: of a gap: a part that is nearer by less, as one that is tilted by up to 2.5 degrees, is as near

_POINT_IN_ANSWER = [6, 7, 8, 9, 10, 11, 0, 3, 4, 5]  #: columns of `gjk3d.narrow.solve` that are a point


def meeting_points(a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, within: float, most: int | None) -> Array:
    """Return where two bodies touch, as rows of `manifolds`, in world axes; ``answer`` is their signed distance.

    Each pair of parts that touch, or come within a distance, has the points of these two. Of a mesh the parts are its
    faces. Where they overlap and nothing of the surfaces meets, as where one holds the other, it is the one point that
    the distance was measured at; there is none where they are farther apart than that.
    """
    if answer[1] > within:
        return np.zeros((0, WIDTH))
    if not in_order(a, b, row_a, row_b):
        turned = answer[None].copy()
        mirror(turned, True)
        points = meeting_points(b, a, row_b, row_a, turned[0], within, most)
        points[:, 7:] = 0.0 - points[:, 7:]
        return points[:, [3, 4, 5, 0, 1, 2, 6, 7, 8, 9]]
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        a, b, rows_a, rows_b, _ = standing_in(a, b, row_a[None], row_b[None])
        row_a, row_b = rows_a[0], rows_b[0]
    if isinstance(a, Shape) and isinstance(b, Shape):
        points = _on_plane(a, b, row_a, row_b, answer, within)
    else:
        points = _of_parts(a, b, row_a, row_b, within, -answer[1])
    return kept(points if len(points) else answer[None, _POINT_IN_ANSWER], most)


def _on_plane(a: Shape, b: Shape, row_a: Array, row_b: Array, answer: Array, within: float) -> Array:
    """Return the points of a body's convex hull on a half-space: it stands on these."""
    pairs = Pairs([a, b])
    which = np.array([[0, 1]])
    points, count = patch_points(
        pairs, which, pairs._table(which, which), np.stack([row_a, row_b]), answer[None].copy(), within, None, 1
    )
    own = points[0, : count[0]]
    return np.hstack([own, np.broadcast_to(answer[3:6], (len(own), 3))])


def _of_parts(a: Thing, b: Thing, row_a: Array, row_b: Array, within: float, depth: float) -> Array:
    by_faces = isinstance(a, Mesh) and isinstance(b, (Mesh, Shape))
    assert isinstance(a, Body)
    x = pair_of(a, b, relative(row_a, row_b))
    pairs, out = of_faces(x, b, depth) if by_faces else _that_meet(x, within)
    if by_faces and within > 0.0:
        more, near = _that_meet(x, within)
        ahead = _face_each_other(x, more, near)
        pairs, out = np.concatenate([pairs, more[ahead]]), np.concatenate([out, near[ahead]])
    if within > 0.0:
        mutual = _mutual(x, out)
        pairs, out = pairs[mutual], out[mutual]
    some = np.argsort(out[:, 0], kind="stable")
    some = some[out[some, 1] <= within]
    points, rest = points_of_parts(x, pairs[some[:_MOST]], out[some[:_MOST]], within), out[some[_MOST:]]
    if len(rest):
        points = np.concatenate([points, rest[:, _POINT_IN_ANSWER]])
    for column in (0, 3):
        points[:, column : column + 3] = moved(row_a, points[:, column : column + 3])
    points[:, 7:] = points[:, 7:] @ row_a[:9].reshape(3, 3).T
    return points


def _that_meet(x: BodyPair, within: float) -> tuple[Ints, Array]:
    """Return pairs of parts that come within a distance, of faces too, and how far apart or deep they are."""
    pairs = BodyPair.meeting(x, within)
    out, _ = x.solve(pairs, narrow.SIGNED)
    return pairs, out


def _face_each_other(x: BodyPair, pairs: Ints, out: Array) -> Ints:
    """Return which pairs are apart, and have none of either solid between them."""
    ours, theirs = x.a.outward(pairs[:, 0]), x.b.outward(pairs[:, 1]) @ x.m[:9].reshape(3, 3).T
    ahead = np.einsum("ij,ij->i", ours, out[:, 3:6]) >= -LEVEL
    ahead &= np.einsum("ij,ij->i", theirs, out[:, 3:6]) <= LEVEL
    return np.flatnonzero(ahead & (out[:, 1] > 0.0))


def _mutual(x: BodyPair, out: Array) -> Ints:
    """Return which pairs touch, or are apart with no part of either nearer to the point on the other."""
    apart = np.flatnonzero(out[:, 1] > 0.0)
    kept = np.ones(len(out), dtype=bool)
    if len(apart):
        far = float(out[apart, 0].max())
        nearer = np.minimum(_nearest(x.a, out[apart, 9:12], far), _nearest(x.b, moved_back(x.m, out[apart, 6:9]), far))
        kept[apart] = nearer >= out[apart, 0] * (1.0 - _NEARLY) - 4.0 * x.error
    return np.flatnonzero(kept)


def _nearest(parts: Parts, points: Array, within: float) -> Array:
    """Return how far points are from the nearest of some parts, up to a distance."""
    cloud = PointCloud(points, 0.0)._as_parts()
    x = BodyPair(parts, cloud, IDENTITY[0])
    near = np.full(len(points), np.inf)
    pairs = x.candidates(within)
    np.minimum.at(near, cloud._order[pairs[:, 1]], x.solve(pairs, narrow.UNSIGNED)[0][:, 0])
    return near


# --- faces that touch, as trimesh's users know them: see `gjk3d.compat` --------------------------------------------

_TOUCH = 7
_FIRST = 256  #: pairs of faces that there is room for at first
_ORIGIN = np.zeros(9)  #: of a shape whose core lies about its frame's origin, to `relative_pose`


class Touches(NamedTuple):
    """One row for each pair of faces that meet, in world axes; those of pair k of poses begin at ``begins[k]``."""

    faces: Ints  #: (m, 2), ascending
    rows: Array  #: (m, 7), a point, a normal from a to b, and a depth, not negative
    begins: Ints  #: (k + 1,)


@kernel
def _behind(n: Vec3, p: Triangle, q: Triangle) -> float:
    """Return how far the triangle q reaches behind the plane of p with normal n, 0 where it does not."""
    return max(0.0, dot(n, sub(p[0], q[0])), dot(n, sub(p[0], q[1])), dot(n, sub(p[0], q[2])))


@kernel
def _touch(s: Triangle, t: Triangle, row: Array, out: Array) -> None:
    """Write of two triangles that meet a point of both, a normal and a depth, from A's frame at a pose row."""
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
    out[0], out[1], out[2] = at(row, (0.5 * (x[0] + y[0]), 0.5 * (x[1] + y[1]), 0.5 * (x[2] + y[2])))
    n = along(row, n)
    out[3], out[4], out[5], out[6] = n[0] + 0.0, n[1] + 0.0, n[2] + 0.0, depth


@kernel
def _sort(found: Ints, count: int, order_a: Ints, order_b: Ints) -> None:
    """Sort pairs of triangles by their faces (Shell, A high-speed sorting procedure, 1959)."""
    step = count // 2
    while step > 0:
        for k in range(step, count):
            p, q = found[k, 0], found[k, 1]
            i = k
            while i >= step:
                r, s = found[i - step, 0], found[i - step, 1]
                if order_a[r] < order_a[p] or (r == p and order_b[s] <= order_b[q]):
                    break
                found[i, 0], found[i, 1] = r, s
                i -= step
            found[i, 0], found[i, 1] = p, q
        step //= 2


@entry
def touch_rows(
    rows_a: Array2, rows_b: Array2, rounding: float, reach: float,
    ba: Array2, la: Ints2, ca: Array2, order_a: Ints1, wound_a: Array2,
    bb: Array2, lb: Ints2, cb: Array2, order_b: Ints1, wound_b: Array2,
    start: int, stack: Ints2, found: Ints2, faces: Ints2, out: Array2, begins: Ints1,
) -> int:  # fmt: skip
    """Write where triangles meet at each pair of poses, from ``start`` on, as `Touches` has it.

    ``wound`` are the triangles as those of a closed mesh are wound outwards. Returns at which pair of poses the room is
    at an end.
    """
    for k in range(start, rows_a.shape[0]):
        m = relative_pose(rows_a[k], _ORIGIN, rows_b[k], _ORIGIN)
        noise = rounding * (reach + max(abs(m[9]), abs(m[10]), abs(m[11])))
        first, room = begins[k], faces.shape[0] - begins[k]
        count = crossings(m, noise, ba, la, ca, bb, lb, cb, stack, found[:room])
        if count > room:
            return k
        _sort(found, count, order_a, order_b)
        for i in range(count):
            p, q = found[i, 0], found[i, 1]
            faces[first + i, 0], faces[first + i, 1] = order_a[p], order_b[q]
            _touch(read(wound_a, p), place(m, wound_b, q), rows_a[k], out[first + i])
        begins[k + 1] = first + count
    return int(rows_a.shape[0])


def _with_order(mesh: Mesh) -> tuple[Array, Ints, Array, Ints, Array]:
    """Return the tree, which face each triangle is, and the triangles as they are wound outwards."""
    tree = tree_of(mesh)
    turned = mesh._wound is not mesh.faces
    wound = mesh._cached("wound corners", lambda: mesh.vertices[mesh._wound[tree.order]].reshape(-1, 9))
    return *tree.arrays, tree.order, wound if turned else tree.corners


def touches(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array) -> Touches:
    """Return where faces of two meshes meet at each pair of poses, (k, 12) each.

    The normal is the outward one of a's face or the inward one of b's, whichever parts the two faces by the shorter
    shift of b's; the depth is that shift: how far one face reaches behind the plane of the other.
    """
    reach, meshes = tree_of(a).reach + tree_of(b).reach, (*_with_order(a), *_with_order(b))
    stack, room, done = traversal_stack(), _FIRST, 0
    begins, found = np.zeros(len(rows_a) + 1, dtype=np.int64), np.empty((room, 2), dtype=np.int64)
    faces, out = np.empty((room, 2), dtype=np.int64), np.empty((room, _TOUCH))
    while True:
        done = touch_rows(
            rows_a, rows_b, ROUNDING, reach, *meshes, done, stack, found, faces, out, begins
        )  # fmt: skip
        if done == len(rows_a):
            end = int(begins[done])
            return Touches(faces[:end], out[:end], begins)
        if room >= MOST_PAIRS:
            raise too_many()
        room *= 8
        found = np.empty((room, 2), dtype=np.int64)
        faces, out = np.resize(faces, (room, 2)), np.resize(out, (room, _TOUCH))
