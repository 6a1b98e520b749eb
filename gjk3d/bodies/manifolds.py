"""Contact points of pairs of parts.

The two faces of a triangle and the five of a column of a height field follow from their corners, and are created for
each pair. The faces of all other parts are those of their shapes (`Faces`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.base import OPEN, PRISMS, TRIANGLES, WIDEST, Parts, PartTree, part_at, put_behind
from gjk3d.bodies.depth.partings import outward_at
from gjk3d.bodies.depth.pushes import PairContacts, is_normal, is_parallel, probe_at, probe_of
from gjk3d.bodies.tree_collision import PosedPair, TreeScratch, holds
from gjk3d.bodies.triangles import read, vec_at
from gjk3d.convex.contacts import faces_of
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, neg, offset, place, sub, turn, turn_back
from gjk3d.narrow.cores import Cores, Feature, Loops, cores_at, feature, world_center
from gjk3d.narrow.manifold import FLUSH, POINT, Sheets, common_part, lift, nearest_on, patch, put_point
from gjk3d.narrow.workspace import per_thread
from gjk3d.poses import WIDTH
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import support_hull
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

MOST = 256  #: number of deepest pairs of parts that may have more than one point
NORMALS = 3  #: greatest number of normals for pairs whose own normal is not a normal of the bodies
_GAP = _DEPTH = 3  #: column of the gap or depth of a normal
_LOW = 4  #: first column of the farthest point of B's part along the negative normal
_ONE_WAY = 1.0 - 1e-12  #: least cosine of the angle between equal normals
_MUCH = 2.0  #: a pair may use the normal of another pair up to this factor of that pair's depth
_FACES = 8  #: greatest number of faces of two parts that are tried
_LOWS = 64  #: number of faces of a part of B whose farthest points are stored for consecutive pairs
_FEW = 16  #: greatest number of pairs that are tried along other normals
_FIRST = 0
_STEEP = 0.05  #: sine of the angle between an edge and a plane above which the edge clearly leaves the plane
_RISE = 16.0  #: least height of such an edge, in units of the error of positions
_OUTSIDE, _INSIDE, _UNCLEAR = range(3)  #: side of a body to which a normal leads
_FLAT = 1e-13  #: width of a degenerate triangle, in units of its length, as in `gjk3d.geometry.hulls`
_INTS, _FLOATS = 25, 15  #: sizes of the arrays for the faces of a column
_SIDES = np.array([0, 3, 6, 10, 14, 18, 0, 1, 2, 3, 5, 4, 0, 3, 4, 1, 1, 4, 5, 2, 2, 5, 3, 0])  #: faces of a column
_TRIANGLE_SIDES = np.array([0, 3, 6, 0, 1, 2, 2, 1, 0])  #: faces of a triangle


class Faces(NamedTuple):
    """The faces of all parts of a body."""

    ints: Ints1
    floats: Array1
    starts: Ints2  #: first indices of each part in both arrays, with a single row for equal parts


@kernel
def _corner(core: Core, k: int) -> Vec3:
    n, f, head = core.ints[layout.VERTICES], core.floats, layout.FLOAT_HEAD
    return (f[head + k], f[head + n + k], f[head + 2 * n + k])


@inlined
def _put_normal(floats: Array, k: int, n: Vec3) -> None:
    """Write the unit vector along n as normal k, or zero if n is zero."""
    most = max(abs(n[0]), max(abs(n[1]), abs(n[2])))
    s = 1.0 / most if most > 0.0 else 0.0
    n = (s * n[0], s * n[1], s * n[2])
    s = 1.0 / sqrt(dot(n, n)) if most > 0.0 else 0.0
    floats[3 * k], floats[3 * k + 1], floats[3 * k + 2] = s * n[0], s * n[1], s * n[2]


@kernel
def _triangle_faces(core: Core, ints: Ints, floats: Array) -> None:
    """Write both sides of a triangle as faces (`Loops`), or its longest edge if it is degenerate up to rounding."""
    p, q, r = _corner(core, 0), _corner(core, 1), _corner(core, 2)
    u, v, w = sub(q, p), sub(r, q), sub(p, r)
    n = cross(u, v)
    uu, vv, ww = dot(u, u), dot(v, v), dot(w, w)
    longest = max(uu, max(vv, ww))
    if sqrt(dot(n, n)) <= _FLAT * longest:
        first = 0 if uu == longest else 1 if vv == longest else 2
        ints[0], ints[1], ints[2] = 1 if longest > 0.0 else 0, 0, 2
        ints[3], ints[4] = first, (first + 1) % 3
        _put_normal(floats, 0, (0.0, 0.0, 0.0))
        return
    ints[0] = 2
    for k in range(9):
        ints[1 + k] = _TRIANGLE_SIDES[k]
    _put_normal(floats, 0, n)
    _put_normal(floats, 1, (-n[0], -n[1], -n[2]))


@kernel
def _column_faces(core: Core, ints: Ints, floats: Array) -> None:
    """Write the top, the bottom and the sides of a column as faces (`Loops`)."""
    ints[0] = 5
    for k in range(24):
        ints[1 + k] = _SIDES[k]
    p, q, r = _corner(core, 0), _corner(core, 1), _corner(core, 2)
    u, v, w = sub(q, p), sub(r, q), sub(p, r)
    _put_normal(floats, 0, cross(u, v))
    _put_normal(floats, 1, (0.0, 0.0, -1.0))
    _put_normal(floats, 2, (u[1], -u[0], 0.0))
    _put_normal(floats, 3, (v[1], -v[0], 0.0))
    _put_normal(floats, 4, (w[1], -w[0], 0.0))


@kernel
def _loops(t: PartTree, k: int, core: Core, faces: Faces, ints: Ints, floats: Array) -> Loops:
    """Return the faces of part k. Those of a triangle or column are written into ``ints`` and ``floats``."""
    if core.ints[layout.KIND] == layout.HULL and core.ints[layout.VERTICES] == 3:
        _triangle_faces(core, ints, floats)
        return Loops(ints, floats)
    if t.kind == PRISMS:
        _column_faces(core, ints, floats)
        return Loops(ints, floats)
    r = k if faces.starts.shape[0] > 1 else 0
    return Loops(faces.ints[faces.starts[r, 0] :], faces.floats[faces.starts[r, 1] :])


class ManifoldScratch(NamedTuple):
    """Scratch: corners of features and polygons, and the faces of a triangle or column of each body."""

    corners: Array3
    plane: Array3
    ints: Ints2
    floats: Array2
    most: int  #: greatest number of corners of a common polygon
    normals: Array2  #: (`NORMALS`, 7) normals of contacts, the least gap along each, and B's point from `_LOW` on
    nearest: Array2  #: (`_FACES`, 4) normals of the faces of two parts with the least depths, and these depths
    lows: Array2  #: (`_LOWS`, 6) reversed normals n of the faces of a part of B, and its farthest points along -n
    rows: Array2  #: pose rows of two parts, which tests of normals do not overwrite
    parts: Array2  #: floats of these two parts


class Writing(NamedTuple):
    """The two bodies, their faces and the pairs of parts (`PairContacts`) whose contact points are written."""

    x: PosedPair
    faces_a: Faces
    faces_b: Faces
    f: PairContacts
    within: float
    most: float  #: greatest depth of pairs along normals other than their own
    plane: bool  #: whether B is a square in the plane z = 0 that replaces a plane
    d: ManifoldScratch
    w: TreeScratch


@kernel
def _put_normals(points: Array, count: int, n: Vec3) -> None:
    for k in range(count):
        points[k, POINT], points[k, POINT + 1], points[k, POINT + 2] = n


@kernel
def _write_pairs(t: Writing, start: int, stop: int, points: Array2) -> int:
    """Write the contact points of the selected pairs ``start`` to ``stop - 1``, and return their number.

    The points of a pair are projected along its normal. Only the first `MOST` pairs have more than one point. If B's
    feature is a point, only the nearest points are written, and A's feature is not needed. A part of B is placed once
    for consecutive pairs that share it.
    """
    x, f, d, w = t.x, t.f, t.d, t.w
    written, sheets, last = 0, Sheets(d.corners[0], d.corners[1], d.plane), -1
    b, loops_b = part_at(x.b, _FIRST, w.floats_b, w.row_b), Loops(d.ints[1], d.floats[1])
    for i in range(start, stop):
        j, added = f.some[i], 0
        p, q, n = f.pairs[j, 0], f.pairs[j, 1], vec_at(f.out[j], 3)
        # consecutive pairs often share the part of B, which is then unpacked once
        if i < MOST and q != last:
            b, last = part_at(x.b, q, w.floats_b, w.row_b), q
            put_behind(x.m, w.row_b)
            loops_b = _loops(x.b, q, b, t.faces_b, d.ints[1], d.floats[1])
        if i < MOST and feature(b, loops_b, neg(turn_back(w.row_b, n)), sheets.vb).corners != 1:
            c = cores_at(part_at(x.a, p, w.floats_a, w.row_a), w.row_a, b, w.row_b)
            loops_a = _loops(x.a, p, c.a, t.faces_a, d.ints[0], d.floats[0])
            added = int(patch(c, False, loops_a, loops_b, f.out, j, t.within, d.most, sheets, points[written:]))
        else:
            added = 1
            put_point(points[written:], plain(0), vec_at(f.out[j], 6), n, f.out[j, 0], False)
        _put_normals(points[written:], added, n)
        written += added
    return written


# --- pairs of parts whose own normal is not a normal of the bodies ----------------------------------------------------


@kernel
def _note_normal(normals: Array2, count: int, n: Vec3, gap: float) -> int:
    """Store a normal and the least of all gaps that are noted along it, and return the number of stored normals."""
    for k in range(count):
        if dot(n, vec_at(normals[k], 0)) > _ONE_WAY:
            normals[k, _GAP] = min(normals[k, _GAP], gap)
            return count
    if count < normals.shape[0]:
        normals[count, 0], normals[count, 1], normals[count, 2] = n
        normals[count, _GAP] = gap
        count += 1
    return count


@inlined
def _is_face(g: Feature, n: Vec3) -> bool:
    return g.corners > 2 and is_parallel(g.normal, n)


@kernel
def _is_on_face(core: Core, loops: Loops, row: Array, n: Vec3, p: Vec3, slack: float, v: Array) -> bool:
    """Return whether a part at a pose row has a face with the outward normal n, and p is on it up to ``slack``."""
    local_normal = turn_back(row, n)
    g = feature(core, loops, local_normal, v)
    if not _is_face(g, local_normal):
        return False
    at = along(turn_back(row, sub(p, world_center(row, core.floats))), local_normal, -core.floats[layout.RADIUS])
    away = sub(nearest_on(g, v, at), at)
    return dot(away, away) <= slack * slack


class Pair(NamedTuple):
    """A part of each body, with their faces."""

    p: int  #: number of the part among the leaves
    q: int
    c: Cores
    loops_a: Loops
    loops_b: Loops
    row_b: Array1
    is_triangle: bool  #: whether A's part is a triangle without a radius


@kernel
def _part_of_b(t: Writing, q: int) -> tuple[Core, Loops]:
    """Return a part of B in A's frame, with its faces. It stays valid until the next call."""
    b = part_at(t.x.b, q, t.d.parts[1], t.d.rows[1])
    put_behind(t.x.m, t.d.rows[1])
    return b, _loops(t.x.b, q, b, t.faces_b, t.d.ints[1], t.d.floats[1])


@kernel
def _pair_at(t: Writing, p: int, q: int, b: Core, loops_b: Loops) -> Pair:
    """Return part p of A and part q of B in A's frame, where ``b`` and ``loops_b`` are those of `_part_of_b`."""
    d = t.d
    a = part_at(t.x.a, p, d.parts[0], d.rows[0])
    loops_a = _loops(t.x.a, p, a, t.faces_a, d.ints[0], d.floats[0])
    is_triangle = t.x.a.kind == TRIANGLES and a.floats[layout.RADIUS] == 0.0
    return Pair(p, q, cores_at(a, d.rows[0], b, d.rows[1]), loops_a, loops_b, d.rows[1], is_triangle)


@kernel
def _top(y: Pair, n: Vec3) -> Vec3:
    """Return the farthest point of A's part along n."""
    if not y.is_triangle:
        return place(y.c.pose, farthest_point(y.c.a, turn_back(y.c.pose, n)))
    # the same bits with less work
    f, largest = y.c.a.floats, max(abs(n[0]), max(abs(n[1]), abs(n[2])))
    if largest > 0.0:
        n = (n[0] / largest, n[1] / largest, n[2] / largest)
    corner = support_hull(f[layout.FLOAT_HEAD :], plain(3), n)
    return (f[layout.CENTER] + corner[0], f[layout.CENTER + 1] + corner[1], f[layout.CENTER + 2] + corner[2])


@kernel
def _low(b: Core, row_b: Array, n: Vec3) -> Vec3:
    """Return the farthest point of B's part along -n."""
    return place(row_b, farthest_point(b, turn_back(row_b, neg(n))))


@kernel
def _side_of(parts: PartTree, k: int, outward: Array2, walls: bool, n: Vec3) -> int:
    """Return the side of part k to which n leads: `_OUTSIDE`, `_INSIDE`, or `_UNCLEAR` if a test point decides."""
    if parts.inside == OPEN:
        return _OUTSIDE
    face = outward_at(outward, k)
    if dot(face, face) == 0.0 or not is_parallel(n, face):
        return _UNCLEAR
    if dot(n, face) < 0.0:
        return _INSIDE
    # a closed mesh without inner walls is behind all of its faces
    return _UNCLEAR if walls else _OUTSIDE


@inlined
def _slack(t: Writing) -> float:
    """Return a bound of the rounding error of a gap."""
    return 4.0 * t.x.error


@kernel
def _write_along(t: Writing, y: Pair, n: Vec3, certain: bool, least: float, origin: PartTree, points: Array2) -> int:
    """Write the contact points of two parts along n, a normal of one of their faces, and return their number.

    The number is 0 if the gap along n is above ``t.within`` or below ``least``, or if n is not a normal of both bodies
    at any of the points. Unless n is ``certain``, only the points of about the least gap are tested for this.
    """
    c, sheets, x = y.c, Sheets(t.d.corners[0], t.d.corners[1], t.d.plane), t.x
    to_b = turn_back(x.m, neg(n))
    ahead_a, ahead_b = (
        _side_of(x.a, y.p, t.f.outward_a, t.f.walls, n),
        _side_of(x.b, y.q, t.f.outward_b, t.f.walls, to_b),
    )
    # the rim of the square is not one of the plane
    if ahead_a == _INSIDE or ahead_b == _INSIDE or (t.plane and abs(to_b[2]) < _ONE_WAY):
        return 0
    top, low = _top(y, n), _low(y.c.b, y.row_b, n)
    gap, local_normal, slack = dot(n, sub(low, top)), turn_back(c.pose, n), _slack(t)
    if gap > t.within or gap < max(least, -t.most) - slack:
        return 0
    # The overlap of both features, seen along n. A common part of an edge and a vertex is not a face contact.
    flat, added, corners = common_part(c, y.loops_a, y.loops_b, local_normal, max(t.within, gap), t.d.most, sheets)
    if added > 0:
        if not (
            _is_face(flat.ga, local_normal) or _is_face(flat.gb, local_normal) or flat.ga.corners + flat.gb.corners == 4
        ):
            return 0
        lift(c, flat, local_normal, corners, added, sheets, n, False, points)
    elif _is_on_face(c.a, y.loops_a, c.pose, n, along(low, n, -gap), slack, sheets.va):
        added = 1
        put_point(points, plain(0), along(low, n, -gap), n, gap, False)
    elif _is_on_face(c.b, y.loops_b, y.row_b, neg(n), along(top, n, gap), slack, sheets.vb):
        added = 1
        put_point(points, plain(0), top, n, gap, False)
    else:
        return 0
    _put_normals(points, added, n)
    probe, most = probe_at(c.a, c.b, x.error, 0.0, ahead_a == _UNCLEAR), inf if certain else gap + FLUSH * c.size
    probe_b = probe_at(c.a, c.b, x.error, 0.0, ahead_b == _UNCLEAR)
    for k in range(added):  # other parts may cover a part of a face
        a, b = vec_at(points[k], 0), turn_back(x.m, sub(vec_at(points[k], 3), offset(x.m)))
        near = points[k, POINT - 1] <= most
        if (
            near
            and is_normal(x.a, y.p, origin, a, n, probe, t.w)
            and is_normal(x.b, y.q, origin, b, to_b, probe_b, t.w)
        ):
            return added
    return 0


@inlined
def _count_faces(core: Core, loops: Loops) -> int:
    return 6 if core.ints[layout.KIND] == layout.BOX else max(loops.ints[0], 0)


@kernel
def _face_normal(core: Core, loops: Loops, k: int, row: Array) -> Vec3:
    """Return the outward normal of face k of a part at a pose row."""
    if core.ints[layout.KIND] == layout.BOX:
        s, axis = 1.0 - 2.0 * (k % 2), k // 2
        return (s * row[axis], s * row[3 + axis], s * row[6 + axis])
    return turn(row, vec_at(loops.floats, 3 * k))


@kernel
def _store_lows(y: Pair, lows: Array2) -> None:
    """Write a row for each face of B's part: its reversed outward normal n, and the part's farthest point along -n."""
    for k in range(min(_count_faces(y.c.b, y.loops_b), lows.shape[0])):
        n = neg(_face_normal(y.c.b, y.loops_b, k, y.row_b))
        lows[k, 0], lows[k, 1], lows[k, 2] = n
        lows[k, 3], lows[k, 4], lows[k, 5] = _low(y.c.b, y.row_b, n)


@kernel
def _list_faces(y: Pair, most: float, lows: Array2, nearest: Array2) -> int:
    """Write the face normals along which two parts have the least depths into ``nearest``; return their number.

    They are sorted by depth, up to the depth ``most``, and reversed for faces of B. `_store_lows` has filled ``lows``
    once for all pairs with the same part of B, because a search along each normal of a part with many faces is slow.
    """
    listed, count = 0, _count_faces(y.c.a, y.loops_a)
    for k in range(count + _count_faces(y.c.b, y.loops_b)):
        own = k - count
        if 0 <= own < lows.shape[0]:
            n, low = vec_at(lows[own], 0), vec_at(lows[own], 3)
        else:
            if own < 0:
                n = _face_normal(y.c.a, y.loops_a, k, y.c.pose)
            else:
                n = neg(_face_normal(y.c.b, y.loops_b, own, y.row_b))
            low = _low(y.c.b, y.row_b, n)
        depth, i = dot(n, sub(_top(y, n), low)), listed
        while depth <= most and i > 0 and depth < nearest[i - 1, _DEPTH]:
            i -= 1
        if depth > most or i == nearest.shape[0] or dot(n, n) == 0.0 or (i > 0 and depth == nearest[i - 1, _DEPTH]):
            continue  # opposite sides of two symmetrical parts have equal depths, and one of them is sufficient
        listed = min(listed + 1, nearest.shape[0])
        for j in range(listed - 1, i, -1):
            for column in range(_DEPTH + 1):
                nearest[j, column] = nearest[j - 1, column]
        nearest[i, 0], nearest[i, 1], nearest[i, 2] = n
        nearest[i, _DEPTH] = depth
    return listed


@kernel
def _is_below_neighbour(t: PartTree, k: int, n: Vec3, error: float) -> bool:
    """Return whether triangle k has one farthest corner along n, and a neighbour at that corner extends farther.

    If so, n is not a normal of the mesh at that corner (`pushes`). This test is cheaper than the features of two parts.
    """
    if t.kind != TRIANGLES or t.floats[0] != 0.0 or t.table.shape[0] < 2:
        return False
    s = read(t.places, k)
    x, y, z = dot(n, s[0]), dot(n, s[1]), dot(n, s[2])
    i = 0 if x >= y and x >= z else 1 if y >= z else 2
    top = s[i]
    for c in range(1, 3):
        e = sub(s[(i + c) % 3], top)
        h = dot(n, e)
        if h * h <= _STEEP * _STEEP * dot(e, e):
            return False
    for c in range(3):
        r = read(t.places, t.table[k, c])
        if r[0] != top and r[1] != top and r[2] != top:
            continue
        for j in range(3):
            e = sub(r[j], top)
            h = dot(n, e)
            if h > _RISE * error and h * h > _STEEP * _STEEP * dot(e, e):
                return True
    return False


@kernel
def _is_hidden(t: Writing, j: int, n: Vec3) -> bool:
    """Return whether n is certainly not a common normal of both bodies at the parts of pair j.

    A neighbour of A's triangle extends farther along n, or one of B's along -n, see `_is_below_neighbour`.
    """
    x, p, q = t.x, t.f.pairs[j, 0], t.f.pairs[j, 1]
    return _is_below_neighbour(x.a, p, n, x.error) or _is_below_neighbour(x.b, q, turn_back(x.m, neg(n)), x.error)


@inlined
def _least_gap(normals: Array2, k: int) -> float:
    """Return the least gap at which another pair uses ``normals[k]``: `_MUCH` times the noted gap, at most 0."""
    return float(_MUCH * min(normals[k, _GAP], 0.0))


@kernel
def _is_beyond(t: Writing, j: int, two: bool, normals: Array2, k: int) -> bool:
    """Return whether `_write_along` certainly rejects pair j, because of the pair's gap along ``normals[k]``.

    A's part is a triangle. ``two`` is whether B's part is a triangle too. If not, the columns from `_LOW` of
    ``normals[k]`` must have the point of B's part that is farthest along the negative normal.
    """
    x, n, s = t.x, vec_at(normals[k], 0), read(t.x.a.places, t.f.pairs[j, 0])
    if two:
        r, m = read(x.b.places, t.f.pairs[j, 1]), turn_back(x.m, n)
        low = min(dot(m, r[0]), min(dot(m, r[1]), dot(m, r[2]))) + dot(n, offset(x.m))
    else:
        low = dot(n, vec_at(normals[k], _LOW))
    gap = low - max(dot(n, s[0]), max(dot(n, s[1]), dot(n, s[2])))
    # one more error than there, because the gap is rounded in another order
    error = t.x.error
    return gap > t.within + error or gap < max(_least_gap(normals, k), -t.most) - _slack(t) - error


@kernel
def _write_remaining(t: Writing, contacts: int, count: int, origin: PartTree, points: Array2) -> int:
    """Write the points of the selected pairs ``contacts`` to ``count - 1`` along face normals; return their number.

    The normals are those of other pairs that have points. If there are no such pairs, a pair is tested along the
    normals of its own faces.
    """
    f, noted, written, normals = t.f, 0, 0, t.d.normals
    last, with_lows, (b, loops_b) = _FIRST, -1, _part_of_b(t, _FIRST)
    ready, flat = 0, t.x.a.kind == TRIANGLES and t.x.a.floats[0] == 0.0
    two = flat and t.x.b.kind == TRIANGLES and t.x.b.floats[0] == 0.0
    for i in range(contacts):
        noted = _note_normal(normals, noted, vec_at(f.out[f.some[i]], 3), f.out[f.some[i], 0])
    for i in range(contacts, min(count, MOST)):
        j, room, added = f.some[i], points[written:], 0
        # consecutive pairs often share the part of B, and the gaps of most pairs are too deep for the normals of others
        shared = f.pairs[j, 1] == last
        while flat and not two and shared and ready < noted:
            low = _low(b, t.d.rows[1], vec_at(normals[ready], 0))
            normals[ready, _LOW], normals[ready, _LOW + 1], normals[ready, _LOW + 2] = low
            ready += 1
        useless = noted > 0
        for k in range(noted):
            if useless and not (flat and (two or shared) and _is_beyond(t, j, two, normals, k)):
                useless = _is_hidden(t, j, vec_at(normals[k], 0))
        if useless:
            continue
        if not shared:
            last, ready, (b, loops_b) = f.pairs[j, 1], 0, _part_of_b(t, f.pairs[j, 1])
        y = _pair_at(t, f.pairs[j, 0], last, b, loops_b)
        if noted == 0 and last != with_lows:
            _store_lows(y, t.d.lows)
            with_lows = last
        for k in range(noted):
            # only the first normal with points is used, since another one would duplicate them
            if added == 0 and not _is_hidden(t, j, vec_at(normals[k], 0)):
                added = _write_along(t, y, vec_at(normals[k], 0), True, _least_gap(normals, k), origin, room)
        for k in range(_list_faces(y, t.most + _slack(t), t.d.lows, t.d.nearest) if noted == 0 else 0):
            if added == 0 and not _is_hidden(t, j, vec_at(t.d.nearest[k], 0)):
                added = _write_along(t, y, vec_at(t.d.nearest[k], 0), False, -inf, origin, room)
        for k in range(added):
            noted = _note_normal(normals, noted, vec_at(room[k], POINT), room[k, POINT - 1])
        written += added
    return written


@kernel
def _remaining_limit(t: Writing, contacts: int) -> int:
    """Return how many selected pairs after the first ``contacts`` are tested along the normals of other pairs.

    A ball over a face already has the normal of that face, so none of its other pairs is tested. Between two meshes few
    of these pairs add points, so only `_FEW` are tested.
    """
    a, b = t.x.a, t.x.b
    if a.kind == TRIANGLES and b.kind == TRIANGLES and a.floats[0] == b.floats[0] == 0.0 and contacts > 0:
        return _FEW
    ball = part_at(b, _FIRST, t.w.floats_b, t.w.row_b).ints[layout.KIND] == layout.POINT
    single = ball and b.links[0, 0] < 0 and b.links[0, 2] == 1
    return 0 if single and (contacts > 0 or a.kind == TRIANGLES) else MOST


@kernel
def _outside_first(t: Writing, count: int) -> int:
    """Move the selected pairs whose normals do not lead into a mesh to the front, and return their number.

    A body at an inner wall of a mesh is inside the mesh, so that wall does not push the body.
    """
    f, x, kept = t.f, t.x, 0
    for i in range(count):
        j = f.some[i]
        n, step = vec_at(f.out[j], 3), probe_of(x, f.pairs[j, 0], f.pairs[j, 1], 0.0, True, t.w).step
        ahead = along(vec_at(f.out[j], 6), n, step)
        behind = turn_back(x.m, sub(along(vec_at(f.out[j], 9), n, -step), offset(x.m)))
        if (x.a.inside == OPEN or not holds(x.a, ahead, t.w)) and (x.b.inside == OPEN or not holds(x.b, behind, t.w)):
            f.some[kept], f.some[i] = j, f.some[kept]
            kept += 1
    return kept


@kernel
def write_points(t: Writing, contacts: int, count: int, origin: PartTree, points: Array2) -> int:
    """Write the points of the selected pairs of parts in A's frame, and return their number.

    Each row has the format of `gjk3d.narrow.manifold.patch`, followed by a normal. The first ``contacts`` pairs are
    contacts of the bodies (`contact_pairs`), whose points are along their own normals. The points of the other pairs
    are along face normals. If no pair has a point, the points of all pairs but those at inner walls are written along
    their own normals.
    """
    written = _write_pairs(t, 0, contacts, points)
    if contacts < count:
        written += _write_remaining(
            t, contacts, min(count, contacts + _remaining_limit(t, contacts)), origin, points[written:]
        )
    if written > 0:
        return written
    return _write_pairs(t, 0, _outside_first(t, count) if t.f.walls else count, points)


def faces_in(parts: Parts) -> tuple[Faces, int]:
    """Return the faces of a body's parts, and the greatest corner count of a feature (`part_faces`), cached."""
    if not hasattr(parts, "_looped"):
        shapes, which = parts.made_of()
        parts._looped = part_faces(shapes or [None], which)
    return parts._looped


def part_faces(shapes: Sequence[Any], which: Any) -> tuple[Faces, int]:
    """Return the faces of parts, and the greatest corner count of a feature.

    ``which`` has the index in ``shapes`` of the shape of each part.
    """
    every = faces_of(shapes)
    return Faces(every.ints, every.floats, every.starts[which]), max(4, int(every.corners.max()))  # 4 as for a column


@per_thread
def manifold_scratch(most_a: int, most_b: int) -> ManifoldScratch:
    """Return scratch for parts, given the greatest numbers of corners of their features."""
    most = most_a + most_b + 4
    return ManifoldScratch(
        np.empty((2, max(most_a, most_b), 3)), np.empty((3, most, 2)), np.empty((2, _INTS), dtype=np.int64),
        np.empty((2, _FLOATS)), most, np.empty((NORMALS, _LOW + 3)), np.empty((_FACES, _DEPTH + 1)),
        np.empty((_LOWS, 6)), np.zeros((2, WIDTH)), np.zeros((2, WIDEST)),
    )  # fmt: skip
