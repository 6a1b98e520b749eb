"""Where two bodies touch: points with normals, from the parts that meet or from the faces of meshes."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.depth import depths, outer_ways
from gjk3d.bodies.distance import groups, parts_near, solve
from gjk3d.bodies.facing import face_each_other, keep_mutual
from gjk3d.bodies.freed import Outer, freeing
from gjk3d.bodies.innermost import surface_of
from gjk3d.bodies.internal_edges import split
from gjk3d.bodies.manifolds import MOST, Desk, Faces, Writing, desk, faces_in, write_points
from gjk3d.bodies.meetings import FACES, MESHES, PARTS, Listed, list_meeting, sort_pairs
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MOST_PAIRS, too_many
from gjk3d.bodies.order import TURNED, order_of
from gjk3d.bodies.part_tree import GivenShelf, PartTree, on_shelf
from gjk3d.bodies.parts import Triangles, parts_of
from gjk3d.bodies.planes import standing_in
from gjk3d.bodies.pushes import CORNERS, NOTED, Met, push_out, vec_at
from gjk3d.bodies.search import MOST as MOST_DEPTH
from gjk3d.bodies.search import STATE
from gjk3d.bodies.shelf import Shelf
from gjk3d.bodies.spread import KEY, WIDTH, kept, order_by_key
from gjk3d.bodies.topology import edges_of
from gjk3d.bodies.traversal import crossings
from gjk3d.bodies.triangles import Triangle, crossing_segment, nearest, normal_of, place, read
from gjk3d.bodies.walk import Bench, Two, bench, two_at
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.patches import patch_points
from gjk3d.convex.rows import Rows, Wanted, empty_answers, in_chunks, mirror
from gjk3d.geometry.vec3 import Vec3, dot, sub
from gjk3d.geometry.vec3 import place as at
from gjk3d.geometry.vec3 import turn as along
from gjk3d.narrow.cores import relative_pose
from gjk3d.narrow.manifold import POINT
from gjk3d.narrow.solve import SIGNED
from gjk3d.poses import ROUNDING, relatives
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Array1, Array2, Array3, Bools, Ints, Ints1, Ints2

_CHUNK = 128  #: pairs of poses a call into the kernels
_NO_NORMAL = np.zeros((1, 3))
_POINT = Shelf([Point()])
_MIRRORED = [3, 4, 5, 0, 1, 2, 6, 7, 8, 9]  #: columns of a point of (b, a)

#: the faces of the parts of one, their normals outwards, or one zero row, and see `_solidity`
GivenSide = tuple[Faces, Array2, int]
#: pairs of parts and what is known of them, where those of each pair of poses begin, see `Listed`
GivenList = tuple[Ints2, Array2, Array2, Ints1]
#: trees of hulls, whether there are any, else whether depths are known, and how far something parts each two
GivenOuter = tuple[PartTree, GivenShelf, bool, bool, Array1]
#: scratch: room, noted and some of `Met`, keys and an order, a pair of parts
GivenNotes = tuple[Array3, Array2, Ints1, Array2, Ints1, Ints2]


class Touching(NamedTuple):
    """Points of contact of some questions behind each other, in world axes: as `spread` has them."""

    which: Ints  #: questions
    points: Array
    counts: Ints  #: of each of these


def contact_points(a: Any, b: Any, rows: Rows, answers: Array, within: float, most: int | None) -> Iterator[Touching]:
    """Yield where two bodies touch at pose rows; ``answers`` are their distances, those to a half-space signed.

    Each pair of parts that touch, or come within a distance, has the points of these two. Of a mesh the parts are its
    faces. Where they overlap and nothing of the surfaces meets, as where one holds the other, it is the one point that
    the distance was measured at; there is none where they are farther apart than that.
    """
    which = np.flatnonzero(answers[:, 1] <= within)
    if not len(which):
        return
    first, second = (each[which % len(each)] for each in (rows.a, rows.b))
    turned = order_of(a, b) == TURNED
    if turned:
        a, b, first, second = b, a, second, first
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        a, b, first, second, _ = standing_in(a, b, first, second)
    there = Rows(first, second, len(which), True, rows.workers)
    if isinstance(a, Shape) and isinstance(b, Shape):
        own = _turned(answers[which], turned)
        points, begins = _on_plane(a, b, there, own, within)
        yield _told(which, *kept(points, begins, own, most), turned)
        return
    for group in groups(a, b, there, order_of(a, b), np.arange(len(which))):
        some, back = which[group.which], turned or group.turned
        x = _Beside(group.a, group.ours, Shelf([group.b]), np.zeros_like(some), group.rows_a, group.rows_b)
        yield _told(some, *_points_of(x, _turned(answers[some], back), within, most, rows.workers), back)


def contact_points_beside(
    a: Body, shelf: Shelf, each: Ints, rows: Rows, answers: Array, turned: Bools, within: float, most: int | None
) -> Iterator[Touching]:
    """Do as `contact_points` of a body and shapes of a shelf, one at each pose; answers of (shape, body) are turned."""
    which = np.flatnonzero(answers[:, 1] <= within)
    first, second, each = rows.a[which], rows.b[which], each[which]
    for ours, rows_near in parts_near(a, shelf.reaches[each], first, second):
        some = which[rows_near]
        x = _Beside(a, ours, shelf, each[rows_near], first[rows_near], second[rows_near])
        own = _turned(answers[some], turned[some])
        yield _told(some, *_points_of(x, own, within, most, rows.workers), turned[some])


def _turned(answers: Array, turned: bool | Bools) -> Array:
    """Return answers as those of (b, a), where that is asked; the rows are a copy."""
    mirror(answers, turned)
    return answers


def _told(which: Ints, points: Array, counts: Ints, turned: bool | Bools) -> Touching:
    back = np.repeat(turned, counts) if isinstance(turned, np.ndarray) else np.full(len(points), turned)
    points[back] = points[back][:, _MIRRORED]
    points[back, POINT:] = 0.0 - points[back, POINT:]
    return Touching(which, points, counts)


def _on_plane(a: Shape, b: Shape, rows: Rows, answers: Array, within: float) -> tuple[Array, Ints]:
    """Return the points of a body's convex hull on a half-space: it stands on these; and where those of each begin."""
    pairs, which = Pairs([a, b]), np.tile([[0, 1]], (rows.total, 1))
    table = pairs._table(which, np.arange(rows.total)[:, None] + (0, rows.total))
    points, count = patch_points(
        pairs, which, table, rows.behind_each_other(), answers.copy(), within, None, rows.workers
    )
    own = np.arange(points.shape[1]) < count[:, None]
    normals = np.repeat(answers[:, 3:6], count, axis=0)
    return np.hstack([points[own], normals]), np.concatenate([[0], np.cumsum(count)])


class _Beside(NamedTuple):
    """A body, and at some pose rows one of a shelf each."""

    a: Body
    ours: Parts
    shelf: Shelf
    each: Ints
    rows_a: Array
    rows_b: Array

    def by_thing(self) -> Iterator[tuple[int, Ints]]:
        """Yield what of the shelf is there, and at which rows."""
        for k in np.unique(self.each).tolist():
            yield k, np.flatnonzero(self.each == k)


def _points_of(x: _Beside, answers: Array, within: float, most: int | None, workers: int) -> tuple[Array, Ints]:
    """Return the points of two bodies at some pose rows behind each other, and how many each has."""
    kind, first = PARTS, x.shelf.things[0]
    if isinstance(x.a, Mesh) and isinstance(first, (Mesh, Shape)):
        kind = MESHES if isinstance(first, Mesh) else FACES
    found: dict[int, tuple[Array, Ints]] = {}

    def run(start: int, stop: int) -> None:
        some, own = slice(start, stop), answers[start:stop]
        y = x._replace(each=x.each[some], rows_a=x.rows_a[some], rows_b=x.rows_b[some])
        listed = list_meeting(y.ours, y.shelf, y.each, y.rows_a, y.rows_b, kind, within)
        points, begins = _all_points(y, kind, listed, within)
        _measure_deep(y, begins, own)
        found[start] = kept(points, begins, own, most)

    in_chunks(len(x.each), workers, run, _CHUNK)
    if len(found) == 1:
        return found[0]
    parts = [found[start] for start in sorted(found)]
    return np.concatenate([points for points, _ in parts]), np.concatenate([counts for _, counts in parts])


def _measure_deep(x: _Beside, begins: Ints, answers: Array) -> None:
    """Find where two overlap of whose surfaces nothing meets: their signed distances become the answers."""
    deep = (begins[1:] == begins[:-1]) & (answers[:, 1] <= 0.0)
    for k, some in x.by_thing() if deep.any() else ():
        which = some[deep[some]]
        if len(which):
            out, flags = empty_answers(len(which))
            there = Rows(x.rows_a[which], x.rows_b[which], len(which), True)
            solve(x.a, x.shelf.things[k], there, Wanted(SIGNED), out, flags)
            answers[which] = out


def _outer(x: _Beside, kind: int, mapped: bool) -> GivenOuter:
    """Return the hulls of two, and where there are none how far B is moved by a translation that parts them."""
    most, point = np.zeros(len(x.each)), _POINT.given
    if kind == PARTS:  # these do not push
        return point[0], point, False, True, most
    ours, theirs = x.ours.hull(), None if mapped else x.shelf.hulls
    if ours is not None and theirs is not None:
        return parts_of(ours).given, theirs, True, False, most
    m = relatives(x.rows_a, x.rows_b)
    for k, some in x.by_thing():
        if mapped:  # no kernel looks for another
            most[some] = depths(x.ours, x.shelf.parts[k], m[some])[:, MOST_DEPTH]
        else:
            found = np.empty((len(some), STATE))
            outer_ways(x.ours, x.shelf.parts[k], m[some], found)
            most[some] = found[:, MOST_DEPTH]
    return point[0], point, False, mapped, most


def _solidity(parts: Parts) -> int:
    """Return 1 if parts bound a solid, 2 if they are faces of a mesh some of which may be walls inside it, else 0."""
    if not (isinstance(parts, Triangles) and parts.solids):
        return int(bool(parts.solids))
    mesh = parts.mesh

    def crowded() -> bool:
        return bool(np.bincount(edges_of(mesh._places, mesh._faces).numbers.ravel()).max() > 2)

    return 1 + int(len(mesh._body_points) > 1 or mesh._cached("crowded edges", crowded))


def _all_points(x: _Beside, kind: int, listed: Listed, within: float) -> tuple[Array, Ints]:
    """Return all points of pairs of parts at some pose rows, in world axes, and where those of each row begin."""
    (faces_a, most_a), (faces_b, most_b), first = faces_in(x.ours), x.shelf.faces, x.shelf.parts[0]
    outward_a = outward_b = _NO_NORMAL
    if kind != PARTS:
        outward_a = surface_of(x.ours)[1]
        outward_b = surface_of(first)[1] if kind == MESHES else outward_b
    side_a, side_b = (faces_a, outward_a, _solidity(x.ours)), (faces_b, outward_b, _solidity(first))
    pairs, out, starts, lowest = listed
    many = starts[2::2] - starts[:-2:2]
    longest = int(many.max())
    notes = (
        np.empty((2, CORNERS, 3)), np.empty((longest, NOTED)), np.empty(longest, dtype=np.int64),
        np.empty((longest, 3)), np.empty(longest, dtype=np.int64), np.zeros((1, 2), dtype=np.int64),
    )  # fmt: skip
    scratch, begins = desk(most_a, most_b), np.zeros(len(x.each) + 1, dtype=np.int64)
    mapped = x.ours.any_mapped, first.any_mapped
    points = np.empty((int((np.minimum(many, MOST) * scratch[4] + many).sum()), WIDTH))
    point_rows(
        x.ours.given, x.shelf.given, side_a, side_b, x.shelf.planes, _POINT.given[0], kind, mapped, within,
        x.each, x.rows_a, x.rows_b, _outer(x, kind, any(mapped)), (pairs, out, lowest, starts), bench(), scratch,
        notes, points, begins,
    )  # fmt: skip
    return points[: begins[-1]], begins


@kernel
def _choose(
    x: Two, point: PartTree, kind: int, mutual: bool, within: float, outer: Outer, f: Met, first: Ints, room: Ints,
    w: Bench,
) -> tuple[int, float]:  # fmt: skip
    """Choose of the pairs of parts at one pair of poses those that have points.

    Returns how many, and how deep these may be.
    """
    count, most = 0, inf
    if kind == PARTS:
        for j in range(first[0], first[1]):
            f.some[count] = j
            count += 1
    elif first[1] > first[0]:
        most = outer.most if outer.known else freeing(x, kind == MESHES, f, first[0], first[1], outer, room, w)
        count = push_out(x, kind == MESHES, f, first[0], first[1], most, point, w)
    for j in range(first[1], first[2]):
        if face_each_other(x, f, j):
            f.some[count] = j
            count += 1
    if mutual:
        count = keep_mutual(x, point, f, count, w)
    near = 0
    for i in range(count):
        if f.out[f.some[i], 1] <= within:
            f.some[near] = f.some[i]
            near += 1
    return near, most


@kernel
def _sort_by_gap(f: Met, count: int, keys: Array, order: Ints) -> None:
    """Sort the pairs that are chosen, the deepest first."""
    for i in range(count):
        keys[i, KEY] = f.out[f.some[i], 0]
    order_by_key(keys, count, order)
    for i in range(count):
        order[i] = f.some[order[i]]
    for i in range(count):
        f.some[i] = order[i]


@kernel
def _into_world(row: Array, points: Array, start: int, stop: int) -> None:
    """Move points, and turn their normals, by a pose row."""
    for k in range(start, stop):
        p = points[k]
        p[0], p[1], p[2] = at(row, vec_at(p, 0))
        p[3], p[4], p[5] = at(row, vec_at(p, 3))
        p[POINT], p[POINT + 1], p[POINT + 2] = along(row, vec_at(p, POINT))


@entry
def point_rows(
    a: PartTree, b: GivenShelf, side_a: GivenSide, side_b: GivenSide, planes: tuple[Array2, Ints1], origin: PartTree,
    kind: int, mapped: tuple[bool, bool], within: float, which: Ints1, rows_a: Array2, rows_b: Array2,
    outer: GivenOuter, listed: GivenList, w: Bench, d: Desk, notes: GivenNotes, points: Array2,
    begins: Ints1,
) -> None:  # fmt: skip
    """Write the points of pairs of parts at each pair of poses, in world axes; see `write_points`.

    Those of pair k of poses begin at ``begins[k]``; there must be room for all. What is known of pairs of faces changes
    where these push. At pose k it is body ``which[k]`` of the shelf, whose planes lie behind each other. ``mapped``
    tells which of the two have functions of a user's; ``origin`` is a point there.
    """
    first, hull_a, hulls_b = listed[3], outer[0], outer[1][0]
    normals_a, normals_b, solid_a, solid_b = side_a[1], side_b[1], side_a[2], side_b[2]
    for k in range(rows_a.shape[0]):
        i, done = which[k], begins[k]
        x = two_at(a, on_shelf(b[0], b[1], i), rows_a[k], rows_b[k])
        f = Met(
            listed[0], listed[1], listed[2], normals_a, normals_b, solid_a > 0, solid_b > 0, max(solid_a, solid_b) > 1,
            planes[0][planes[1][i] : planes[1][i + 1]], notes[0], notes[1], notes[2],
        )  # fmt: skip
        known = Outer(hull_a, on_shelf(hulls_b, outer[1][1], i), outer[2], outer[3], outer[4][k])
        mutual = within > 0.0 and not (mapped[0] or mapped[1])  # of functions of a user's only these are listed
        count, most = _choose(x, origin, kind, mutual, within, known, f, first[2 * k :], notes[5], w)
        _sort_by_gap(f, count, notes[3], notes[4])
        kept = split(x, kind, mapped, f, first[2 * k], first[2 * k + 1], count, origin, notes[4], w)
        faces_b = (side_b[0][0], side_b[0][1], side_b[0][2][i:])
        writing = Writing(x, side_a[0], faces_b, f, within, most, d, w)
        found = write_points(writing, kept, kept if mapped[0] or mapped[1] else count, origin, points[done:])
        _into_world(rows_a[k], points, done, done + found)
        begins[k + 1] = done + found


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
        sort_pairs(found, count, order_a, order_b)
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
