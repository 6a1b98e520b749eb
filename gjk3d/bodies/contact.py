"""Where two bodies touch: points with normals, from the parts that meet or from the faces of meshes."""

from __future__ import annotations

from math import hypot
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.distance import hulls_with_plane, pair_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MOST_PAIRS, MeshPair, too_many
from gjk3d.bodies.order import Thing, in_order
from gjk3d.bodies.pair import BodyPair
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
_LOOKED_AT = 16384  #: pairs of faces that meet
_MUCH = 2.0  #: so much deeper may the normal of a face be than the shortest way
_FAR = 8.0  #: and so much deeper at most
_NEARLY = 1e-3  #: of a gap: a part that is nearer by less, as one that is tilted by up to 2.5 degrees, is as near
_LEVEL = 1e-9  #: a direction that is off a plane by less is along it
_ONE_WAY = 1.0 - 1e-12  #: cosine of normals that are one
_SAME = 1e-9  #: points nearer than that to each other are one, in units of the greatest coordinate

Points = tuple[Array, Array]  #: rows as those of `gjk3d.narrow.manifold`, and a normal each


def meeting_points(
    a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, within: float, most: int | None
) -> Points:
    """Return where two bodies touch, in world axes, the deepest first; ``answer`` is their signed distance.

    Each pair of parts that touch, or come within a distance, has the points of these two. Of a mesh the parts are its
    faces. Where they overlap and nothing of the surfaces meets, as where one holds the other, it is the one point that
    the distance was measured at; there is none where they are farther apart than that.
    """
    if answer[1] > within:
        return np.zeros((0, 7)), np.zeros((0, 3))
    if not in_order(a, b, row_a, row_b):
        turned = answer[None].copy()
        mirror(turned, True)
        points, normals = meeting_points(b, a, row_b, row_a, turned[0], within, most)
        return points[:, [3, 4, 5, 0, 1, 2, 6]], 0.0 - normals
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        found = _on_plane(a, b, row_a, row_b, answer, within)
    else:
        found = _of_parts(a, b, row_a, row_b, within, -answer[1])
    points, normals = found
    if not len(points):
        points = np.concatenate([answer[6:12], answer[:1]])[None]
        normals = answer[None, 3:6]
    return _spread(points, normals, most)


def _on_plane(a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, within: float) -> Points:
    """Return the points of a body's convex hull: it stands on these."""
    pairs = Pairs(hulls_with_plane(a, b))
    which = np.array([[0, 1]])
    points, count = patch_points(
        pairs, which, pairs._table(which, which), np.stack([row_a, row_b]), answer[None].copy(), within, None, 1
    )
    own = points[0, : count[0]]
    return own, np.broadcast_to(answer[3:6], (len(own), 3))


def _of_parts(a: Thing, b: Thing, row_a: Array, row_b: Array, within: float, depth: float) -> Points:
    by_faces = isinstance(a, Mesh) and isinstance(b, (Mesh, Shape))
    assert isinstance(a, Body)
    x = pair_of(a, b, relative(row_a, row_b))
    pairs, out = _of_faces(x, b, depth) if by_faces else _that_meet(x, within)
    if by_faces and within > 0.0:
        more, near = _that_meet(x, within)
        ahead = _face_each_other(x, more, near)
        pairs, out = np.concatenate([pairs, more[ahead]]), np.concatenate([out, near[ahead]])
    if within > 0.0:
        kept = _mutual(x, out)
        pairs, out = pairs[kept], out[kept]
    some = np.argsort(out[:, 0], kind="stable")
    some = some[out[some, 1] <= within]
    points, normals = _manifolds(x, pairs[some[:_MOST]], out[some[:_MOST]], within)
    rest = out[some[_MOST:]]
    points = np.concatenate([points, np.column_stack([rest[:, 6:12], rest[:, 0]])])
    normals = np.concatenate([normals, rest[:, 3:6]])
    for column in (0, 3):
        points[:, column : column + 3] = moved(row_a, points[:, column : column + 3])
    return points, normals @ row_a[:9].reshape(3, 3).T


def _that_meet(x: BodyPair, within: float) -> tuple[Ints, Array]:
    """Return pairs of parts that come within a distance, of faces too, and how far apart or deep they are."""
    pairs = BodyPair.meeting(x, within)
    out, _ = x.solve(pairs, narrow.SIGNED)
    return pairs, out


def _face_each_other(x: BodyPair, pairs: Ints, out: Array) -> Ints:
    """Return which pairs are apart, and have none of either solid between them."""
    ours, theirs = x.a.outward(pairs[:, 0]), x.b.outward(pairs[:, 1]) @ x.m[:9].reshape(3, 3).T
    ahead = np.einsum("ij,ij->i", ours, out[:, 3:6]) >= -_LEVEL
    ahead &= np.einsum("ij,ij->i", theirs, out[:, 3:6]) <= _LEVEL
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


def _of_faces(x: BodyPair, b: Thing, depth: float) -> tuple[Ints, Array]:
    """Return pairs of a mesh's faces and those of another, or a shape, that meet, and how deep they do.

    No two faces are deeper than the whole: one that pushes farther is not what is in the way.
    """
    pairs = x.meeting(0.0, _LOOKED_AT) if isinstance(x, MeshPair) else x.meeting()
    out, _ = x.solve(pairs, narrow.SIGNED)
    ways = []
    turn = x.m[:9].reshape(3, 3)
    first = _corners(x.a, pairs[:, 0])
    if x.a.solids:
        n = x.a.outward(pairs[:, 0])
        if isinstance(b, Mesh):
            lowest = _extreme(moved(x.m, _corners(x.b, pairs[:, 1])), -n)
        else:
            assert isinstance(b, Shape)
            lowest = moved(x.m, b.support(-n @ turn))
        ways.append((n, np.einsum("ij,ij->i", n, first[:, 0] - lowest), lowest))
    if isinstance(b, Mesh) and x.b.solids:
        n = x.b.outward(pairs[:, 1]) @ turn.T
        highest = _extreme(first, -n)
        deep = np.einsum("ij,ij->i", n, moved(x.m, _corners(x.b, pairs[:, 1])[:, 0]) - highest)
        ways.append((0.0 - n, deep, highest + deep[:, None] * n))
    kept = _push_out(out, ways, 4.0 * x.error)
    shallow = kept[-out[kept, 0] <= max(depth, 0.0) + 4.0 * x.error]
    kept = shallow if len(shallow) else kept
    return pairs[kept], out[kept]


def _corners(triangles: Any, which: Ints) -> Array:
    """Return the corners of some triangles of a mesh, (k, 3, 3)."""
    corners: Array = triangles.tree.corners[which].reshape(-1, 3, 3)
    return corners


def _extreme(corners: Array, ways: Array) -> Array:
    """Return of each triangle the corner that is farthest along a direction."""
    far = np.einsum("kij,kj->ki", corners, ways).argmax(axis=1)
    found: Array = corners[np.arange(len(corners)), far]
    return found


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
        inwards |= np.einsum("ij,ij->i", n, out[:, 3:6]) < -_LEVEL
        some = np.flatnonzero((deep < best) & n.any(axis=1))
        best[some], way, low = deep[some], n[some], lowest[some]
        depth = np.maximum(deep[some], 0.0)[:, None]
        instead[some, :3], instead[some, 3:6] = -depth, way
        instead[some, 6:9], instead[some, 9:12] = low + depth * way, low
    own, sure = -out[:, 0], np.isfinite(best)
    deepest = float(own[~inwards].max(initial=0.0))
    touch = sure & (own <= error) & (best > max(_MUCH * deepest, error))
    lost = sure & inwards & (touch | (best > np.maximum(_FAR * own, max(_MUCH * deepest, error))))
    taken = sure & ~touch & ~lost & (inwards | (best <= _MUCH * own))
    out[taken] = instead[taken]
    return np.flatnonzero(~lost) if not lost.all() else np.arange(len(out))


def _manifolds(x: BodyPair, pairs: Ints, out: Array, within: float) -> Points:
    """Return the points of some pairs of parts, in the first's frame."""
    which_a, at_a = np.unique(pairs[:, 0], return_inverse=True)
    which_b, at_b = np.unique(pairs[:, 1], return_inverse=True)
    shapes = Pairs([*map(x.a.shape, which_a.tolist()), *map(x.b.shape, which_b.tolist())])
    local = np.column_stack([at_a, len(which_a) + at_b])
    table = shapes._table(local, local)
    table[:, 2], table[:, 7] = 0, 1  # in the order that they were solved in
    points, count = patch_points(shapes, local, table, x.placed(which_a, which_b), out, within, None, 1)
    kept = np.arange(points.shape[1]) < count[:, None]
    return points[kept], np.repeat(out[:, 3:6], count, axis=0)


def _outermost(middles: Array, normals: Array, gaps: Array, same: float) -> Ints:
    """Return which points of patches, those of one normal, are the corners of their outlines; and the deepest."""
    left, kept = np.arange(len(gaps)), []
    while len(left):
        n = normals[left[0]]
        alike = normals[left] @ n > _ONE_WAY
        some, left = left[alike], left[~alike]
        x = np.eye(3)[np.abs(n).argmin()]
        across = np.stack([np.cross(n, x), np.cross(n, np.cross(n, x))], axis=1)
        kept += some[_outline(middles[some] @ across, same)].tolist()
    if gaps.min() < gaps[kept].min() - same:
        kept.append(int(gaps.argmin()))
    return np.sort(np.array(kept))


def _outline(flat: Array, same: float) -> Ints:
    """Return which of points in a plane, (k, 2), are corners of their hull (Andrew), but for those on a side of it."""
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    places = flat.tolist()
    corners: list[int] = []
    for way in (order, order[::-1]):
        chain: list[int] = []
        for k in way:
            while len(chain) > 1 and _bulge(places[chain[-2]], places[chain[-1]], places[k]) <= same:
                chain.pop()
            chain.append(k)
        corners += chain[:-1] if len(chain) > 1 else chain
    return np.unique(corners)


def _bulge(a: list[float], b: list[float], c: list[float]) -> float:
    """Return how far b lies to the right of the line from a to c."""
    x, y = c[0] - a[0], c[1] - a[1]
    length = hypot(x, y)
    return ((b[0] - a[0]) * y - (b[1] - a[1]) * x) / length if length > 0.0 else hypot(b[0] - a[0], b[1] - a[1])


def _spread(points: Array, normals: Array, most: int | None) -> Points:
    """Return points without doubles, at most so many: the deepest, then each the farthest from those before.

    Where there are more, corners of outlines come before all that lies within a patch.
    """
    order = np.argsort(points[:, 6], kind="stable")
    points, normals = points[order], normals[order]
    middles = 0.5 * (points[:, :3] + points[:, 3:6])
    same = _SAME * float(np.abs(middles).max())
    if most is not None and len(points) > most:
        outer = _outermost(middles, normals, points[:, 6], same)
        points, normals, middles = points[outer], normals[outer], middles[outer]
    far = np.full(len(points), np.inf)
    kept: list[int] = []
    while len(kept) < (len(points) if most is None else most):
        k = int(far.argmax()) if kept and most is not None else int((far > same).argmax())
        if far[k] <= same:
            break
        kept.append(k)
        far = np.minimum(far, np.linalg.norm(middles - middles[k], axis=1))
    return points[kept], normals[kept]


# --- faces that touch, as trimesh's users know them: see `gjk3d.compat` --------------------------------------------

_WIDTH = 7
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
    faces, out = np.empty((room, 2), dtype=np.int64), np.empty((room, _WIDTH))
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
        faces, out = np.resize(faces, (room, 2)), np.resize(out, (room, _WIDTH))
