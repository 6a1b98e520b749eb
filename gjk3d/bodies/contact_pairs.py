"""Pairs of parts in contact, and lists of shapes that a body is tested against.

A body is tested against a list of convex shapes in one call of the kernels. For the kernels, each shape of the list is
a body of one part, whose arrays are slices of the arrays of the whole list (`nth_shape`). A list of one object may
contain a body instead.

At each pose row, the pairs of parts that intersect or are within a distance are listed with their signed distances.

The parts of a mesh are its faces. Kernels do not call support functions of users. For bodies with such functions,
`_by_functions` lists the pairs of parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.base import (
    PLACED,
    Body,
    GivenShapes,
    Parts,
    PartTree,
    Thing,
    nodes_apart,
    nth_shape,
    part_at,
    put_behind,
    triangles_of,
)
from gjk3d.bodies.body_pair import MOST_PAIRS, BodyPair, too_many
from gjk3d.bodies.compound import PointCloud
from gjk3d.bodies.depth.partings import outward_at
from gjk3d.bodies.depth.pushes import (
    LEVEL,
    NORMAL,
    PUSHED,
    STATE,
    PairContacts,
    is_contact,
    is_normal,
    is_sure,
    probe_of,
    shortest_probe,
)
from gjk3d.bodies.facets import (
    IS_APART,
    IS_DEEP,
    GivenSolids,
    Solid,
    crossed,
    facet_of,
    solid_in,
    solids_of,
    with_scratch,
)
from gjk3d.bodies.manifolds import Faces, faces_in, part_faces
from gjk3d.bodies.parts import Copies, PlacedParts, Triangles, complete, given, parts_of
from gjk3d.bodies.tree_collision import APART as PARTS_APART
from gjk3d.bodies.tree_collision import (
    PosedPair,
    TreeScratch,
    crossings,
    list_parts,
    part_meets,
    parts_at,
    tree_scratch,
    two_at,
)
from gjk3d.bodies.tree_distance import NO_ROUND, Round, round_in, round_of
from gjk3d.bodies.triangles import vec_at
from gjk3d.convex.batch import join_packed
from gjk3d.convex.solve import planes_of
from gjk3d.geometry.vec3 import Rigid, Vec3, dot, neg, offset, place, row3, sub, turn, turn_back
from gjk3d.narrow.solve import FLOATS, INTS, SIGNED, UNSIGNED, solve
from gjk3d.narrow.workspace import borrow, give_back
from gjk3d.poses import IDENTITY, ROUNDING, moved, moved_back, relative
from gjk3d.shapes.base import Shape
from gjk3d.shapes.table import farthest_point
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

# --- lists of shapes -------------------------------------------------------------------------------------------------


_NO_PLANES = np.empty((0, 4))


class ShapeList:
    """A list of objects. If it has several, all are convex shapes, without half-spaces and support functions of users.

    With ``plane``, the only object is a square that replaces a plane, see `gjk3d.bodies.planes`.
    """

    def __init__(self, things: Sequence[Thing], plane: bool = False) -> None:
        self.things, self.plane = tuple(things), plane
        self.plans: dict[Parts, Any] = {}  #: plan of the contacts with each body, see `gjk3d.bodies.contact`

    def __len__(self) -> int:
        return len(self.things)

    @cached_property
    def parts(self) -> list[Parts]:
        """The parts of each object."""
        return [parts_of(thing) for thing in self.things]

    @cached_property
    def reaches(self) -> Array:
        """The greatest absolute coordinate of each object, (n,)."""
        return np.array([parts.reach for parts in self.parts])

    @cached_property
    def given(self) -> GivenShapes:
        """All objects in the format of the kernels."""
        every = [parts.given for parts in self.parts]
        return (every[0] if len(every) == 1 else _concatenated(every)), np.array([tree[-2:] for tree in every])

    @cached_property
    def hulls(self) -> GivenShapes | None:
        """The convex hulls of all objects, or None if a hull is too expensive or does not exist."""
        if len(self) > 1:
            return self.given
        hull = self.parts[0].hull()
        return None if hull is None else ShapeList([hull]).given

    @cached_property
    def faces(self) -> tuple[Faces, int]:
        """The faces of all objects, and the greatest corner count of a feature; see `gjk3d.bodies.manifolds`."""
        if len(self) == 1:
            return faces_in(self.parts[0])
        return part_faces(self.things, slice(None))

    @cached_property
    def planes(self) -> tuple[Array, Ints]:
        """The planes of all objects (`gjk3d.convex.solve.planes_of`), and the index at which each object begins."""
        every = [planes_of(thing) if isinstance(thing, Shape) else _NO_PLANES for thing in self.things]
        return np.concatenate(every), np.cumsum([0, *map(len, every)])

    @cached_property
    def solids(self) -> GivenSolids:
        """The polytopes among the objects, in the format of `gjk3d.bodies.facets`."""
        return solids_of(self.parts)


def _concatenated(every: Sequence[PartTree]) -> PartTree:
    """Return one `PartTree` for several shapes at the identity. Each shape has one node, table row and point."""
    boxes, links, places, tables, ints, floats = (list(column) for column in list(zip(*every, strict=True))[:6])
    q, f, starts = join_packed(list(zip(ints, floats, strict=True)))
    table = np.concatenate(tables)
    table[:, :2] += starts
    points = np.concatenate([tree.points for tree in every])
    return given(PLACED, np.concatenate(boxes), np.concatenate(links), places[0], table, q, f, points=points, reach=0.0)


# --- pairs of parts --------------------------------------------------------------------------------------------------


PARTS, FACES, MESHES = range(3)  #: kinds of pairs: any parts, faces of a mesh and a shape, faces of two meshes
NEARLY = 1e-3  #: relative tolerance of equal gaps, as for a part that is tilted by up to 2.5 degrees
_LOOKED_AT = 16384  #: greatest number of pairs of faces of two meshes
_ROOM = 128  #: pairs that fit into the first list, for each pose
_ONLY = 0  #: the number of the part of a body with one part
_SLACK = 16.0  #: tolerance of a lowest point, in units of the error of positions
_LEANING = 0.25  #: least cosine between the normal of a contact and the face normals of two crossing meshes
_NONE = np.zeros((0, 3))
_NO_ORDER = np.zeros(1, dtype=np.int64)
_EXACT, _INF = True, np.inf


class ListedPairs(NamedTuple):
    """Pairs of parts at several poses.

    For two meshes, or a mesh and a shape, rows ``begins[2 k]:begins[2 k + 1]`` are the intersecting pairs of pose k,
    and rows ``begins[2 k + 1]:begins[2 k + 2]`` the pairs of near faces, if a distance is given. For other bodies, the
    first of these ranges has both intersecting and near pairs, and the second range is empty.
    """

    pairs: Ints2  #: (n, 2)
    out: Array2  #: (n, 12) signed distances of the pairs in A's frame, in the format of `gjk3d.narrow.solve`
    begins: Ints1  #: (2 k + 1,) for k poses
    lowest: Array2  #: (n, 3) lowest point of a user's shape above each face, empty for other shapes


class ContactTrees(NamedTuple):
    """A body and the bodies of a list in the format of the kernels of contacts."""

    a: PartTree
    b: GivenShapes
    order_a: Ints1  #: face numbers of the triangles of a mesh
    order_b: Ints1
    kind: int  #: PARTS, FACES or MESHES
    mapped: tuple[bool, bool]  #: which bodies have functions of a user


class ShapeRows(NamedTuple):
    """Pose rows of a body, and for each row a body of a list with its pose row."""

    which: Ints1  #: numbers of the bodies in the list
    a: Array2
    b: Array2


@kernel
def sort_pairs(pairs: Ints, count: int, order_a: Ints, order_b: Ints) -> None:
    """Sort pairs of triangles by the face numbers of A, then of B (Shell, A high-speed sorting procedure, 1959)."""
    # A kernel cannot call a library sort. Shell's method works in place, and lists are short.
    step = count // 2
    while step > 0:
        for k in range(step, count):
            p, q = pairs[k, 0], pairs[k, 1]
            i = k
            while i >= step:
                r, s = pairs[i - step, 0], pairs[i - step, 1]
                if order_a[r] < order_a[p] or (r == p and order_b[s] <= order_b[q]):
                    break
                pairs[i, 0], pairs[i, 1] = r, s
                i -= step
            pairs[i, 0], pairs[i, 1] = p, q
        step //= 2


@kernel
def _list_faces(x: PosedPair, order_a: Ints, order_b: Ints, w: TreeScratch, pairs: Ints) -> int:
    """List the pairs of faces that touch or cross, sorted by face numbers, and return their number.

    A number above the length of ``pairs`` means that the list is too short.
    """
    room = min(pairs.shape[0], _LOOKED_AT)
    count = crossings(x.m, x.error, triangles_of(x.a), triangles_of(x.b), w.stack, pairs[:room])
    if count > room:
        if room < _LOOKED_AT:
            return int(count)
        count = room
    sort_pairs(pairs, count, order_a, order_b)
    return int(count)


@kernel
def _measure(x: PosedPair, p: int, q: int, w: TreeScratch, out: Array, flags: Ints, row: int) -> None:
    solve(parts_at(x, p, q, w), SIGNED, _INF, 0.0, w.workspace, w.workspace.simplex[:0], out, flags, row)


@kernel
def _measure_faces(
    x: PosedPair, s: Solid, r: Round, first: int, count: int, w: TreeScratch, pairs: Ints, out: Array, flags: Ints
) -> int:
    """Keep the pairs from ``first`` on whose triangle intersects the shape, write their depths, return their number."""
    stop = first
    for i in range(first, first + count):
        p, q = pairs[i, 0], pairs[i, 1]
        if s.faces > 0:
            outcome = facet_of(x, p, s, out, flags, stop)
        else:
            outcome = round_of(x, p, r, out, flags, stop)
        # closed formulas decide most triangles, and only the open cases need GJK and EPA
        if outcome == IS_APART or (outcome != IS_DEEP and part_meets(parts_at(x, p, q, w), x.error, w) == PARTS_APART):
            continue
        if outcome != IS_DEEP:
            _measure(x, p, q, w, out, flags, stop)
        pairs[stop, 0], pairs[stop, 1] = p, q
        stop += 1
    return stop - first


@inlined
def posed_pair(trees: ContactTrees, rows: ShapeRows, k: int) -> PosedPair:
    """Return the two bodies of pose row k."""
    tree, rims_reaches = trees.b
    return two_at(trees.a, nth_shape(tree, rims_reaches, rows.which[k]), rows.a[k], rows.b[k])


@entry
def list_rows(
    trees: ContactTrees, solids: GivenSolids, within: float, rows: ShapeRows, start: int, w: TreeScratch,
    pairs: Ints2, out: Array2, flags: Ints2, begins: Ints1,
) -> int:  # fmt: skip
    """Write the arrays of `ListedPairs` from pose row ``start`` on, and return the first pose row without room.

    ``solids`` are the polytopes that are tested against faces (`facets`).
    """
    kind = trees.kind
    for k in range(start, rows.a.shape[0]):
        x, s = posed_pair(trees, rows, k), solid_in(solids, rows.which[k])
        for step in range(2):
            first, count = begins[2 * k + step], 0
            free_rows = pairs[first:]
            # the list has the triangles of all near boxes, and the formulas remove those that do not intersect
            by_formula = step == 0 and kind == FACES
            r = round_in(x, w) if by_formula else NO_ROUND
            by_formula = by_formula and (s.faces > 0 or r.radius > 0.0)
            if step == 1:
                if kind != PARTS and within > 0.0:
                    count = list_parts(x, within, _EXACT, w, free_rows)
            elif kind == MESHES:
                count = _list_faces(x, trees.order_a, trees.order_b, w, free_rows)
            else:
                count = list_parts(x, within if kind == PARTS else 0.0, not by_formula, w, free_rows)
            if count > free_rows.shape[0]:
                return k
            if by_formula:
                count = _measure_faces(x, s, r, first, count, w, pairs, out, flags)
            else:
                formula = step == 0 and kind == MESHES
                for i in range(first, first + count):
                    if formula and crossed(x, pairs[i, 0], pairs[i, 1], out, flags, i) == IS_DEEP:
                        continue
                    _measure(x, pairs[i, 0], pairs[i, 1], w, out, flags, i)
            begins[2 * k + step + 1] = first + count
    return int(rows.a.shape[0])


class PosedShapes(NamedTuple):
    """A body, and one shape of a list per pose row."""

    a: Body
    ours: Parts
    shapes: ShapeList
    rows: ShapeRows

    def at(self, some: slice) -> PosedShapes:
        """Return these objects at the pose rows ``some``."""
        which, rows_a, rows_b = self.rows
        return self._replace(rows=ShapeRows(which[some], rows_a[some], rows_b[some]))


def contact_trees(a: Parts, shapes: ShapeList, kind: int) -> ContactTrees:
    """Return a body and the shapes of a list for the kernels."""
    first, rims_reaches = shapes.parts[0], shapes.given[1]
    order_a, order_b = (x.tree.order if isinstance(x, Triangles) else _NO_ORDER for x in (a, first))
    complete(first)
    trees = _with_neighbours(a, complete(a)), (_with_neighbours(first, shapes.given[0]), rims_reaches)
    return ContactTrees(*trees, order_a, order_b, kind, (a.any_mapped, first.any_mapped))


def _with_neighbours(parts: Parts, tree: PartTree) -> PartTree:
    """Return ``tree`` with the tables of neighbours that `gjk3d.bodies.depth.pushes` needs.

    Neighbours are triangles with a common edge, or voxels in adjacent cells.
    """
    if isinstance(parts, Copies):
        return parts.in_cells()
    return tree._replace(table=parts.across_edges()[0]) if isinstance(parts, Triangles) else tree


def list_pairs(trees: ContactTrees, solids: GivenSolids, x: PosedShapes, within: float) -> ListedPairs:
    """Return the pairs of parts that touch, overlap, or are within a distance at each pair of pose rows.

    The arrays are from `gjk3d.narrow.workspace.borrow`, or new if a body has support functions of a user.
    """
    which, rows_a, rows_b = rows = x.rows
    if any(trees.mapped):
        return _by_functions(x.ours, x.shapes.parts[0], rows_a, rows_b, trees.kind, within)
    solids = with_scratch(solids)
    finished, begins = 0, np.zeros(2 * len(rows_a) + 1, dtype=np.int64)
    pairs = borrow("pairs", _ROOM * (1 + len(rows_a)), 2, np.int64)
    room = len(pairs)
    out, flags = borrow("out", room, FLOATS), borrow("flags", room, INTS, np.int64)
    scratch = tree_scratch()
    while True:
        finished = list_rows(trees, solids, within, rows, finished, scratch, pairs, out, flags, begins)
        if finished == len(rows_a):
            break
        if room >= MOST_PAIRS:
            raise too_many()
        # finished rows stay valid, and only the remaining rows are listed again
        room *= 4
        pairs, out, flags = _grown(pairs, room), _grown(out, room), _grown(flags, room)
    end = int(begins[-1])
    pairs, out, flags = pairs[:end], out[:end], flags[:end]
    left = flags[:, 2] == 0
    if left.any():
        for k in range(len(rows_a)):
            span = slice(begins[2 * k], begins[2 * k + 2])
            if left[span].any():
                pair = BodyPair(x.ours, x.shapes.parts[which[k]], relative(rows_a[k], rows_b[k]))
                pair.solve_again(pairs[span], SIGNED, out[span], flags[span])
    give_back(flags=flags.base)
    return ListedPairs(pairs, out, begins, _NONE)


def _grown(array: Any, room: int) -> Any:
    """Return a copy of an array with ``room`` rows."""
    out = np.empty((room, array.shape[1]), dtype=array.dtype)
    out[: len(array)] = array[:room]
    return out


# --- functions of a user ----------------------------------------------------------------------------------------------


def _by_functions(a: Parts, b: Parts, rows_a: Array, rows_b: Array, kind: int, within: float) -> ListedPairs:
    """List overlapping and near pairs of parts if a body has support functions of users, which kernels do not call."""
    pairs, out, lowest, begins = [], [np.zeros((0, FLOATS))], [_NONE], [0]
    for row_a, row_b in zip(rows_a, rows_b, strict=True):
        x = BodyPair(a, b, relative(row_a, row_b))
        for near in (0.0 if kind == FACES else within, within if kind == FACES else 0.0):
            listed = len(begins) % 2 == 1 or (kind == FACES and within > 0.0)
            some = x.meeting(near) if listed else np.zeros((0, 2), dtype=np.int64)
            results, _ = x.solve(some, SIGNED)
            if within > 0.0:
                mutual = _mutual(x, results)
                some, results = some[mutual], results[mutual]
            pairs.append(some)
            out.append(results)
            begins.append(begins[-1] + len(some))
            if kind == FACES:
                assert isinstance(b, PlacedParts)
                shape = b.shape(0)
                lowest.append(moved(x.m, shape.support(-a.outward(some[:, 0]) @ x.m[:9].reshape(3, 3))))
    return ListedPairs(np.concatenate(pairs), np.concatenate(out), np.array(begins), np.concatenate(lowest))


def _mutual(x: BodyPair, out: Array) -> Ints:
    separated = np.flatnonzero(out[:, 1] > 0.0)
    nearest = np.ones(len(out), dtype=bool)
    if len(separated):
        far = float(out[separated, 0].max())
        nearer = np.minimum(
            _nearest(x.a, out[separated, 9:12], far), _nearest(x.b, moved_back(x.m, out[separated, 6:9]), far)
        )
        # the error of a distance is at most twice the error of positions, once for each of its points
        nearest[separated] = nearer >= out[separated, 0] * (1.0 - NEARLY) - 4.0 * x.error
    return np.flatnonzero(nearest)


def _nearest(parts: Parts, points: Array, within: float) -> Array:
    """Return the distance of each point from the nearest part. It may be too large or inf beyond ``within``."""
    cloud = PointCloud(points, 0.0)._as_parts()
    x = BodyPair(parts, cloud, IDENTITY[0])
    near = np.full(len(points), np.inf)
    pairs = x.candidates(within)
    np.minimum.at(near, cloud._order[pairs[:, 1]], x.solve(pairs, UNSIGNED)[0][:, 0])
    return near


@kernel
def face_each_other(x: PosedPair, f: PairContacts, j: int) -> bool:
    """Return whether the faces of pair j are apart and neither solid is between them."""
    n = vec_at(f.out[j], 3)
    ours, theirs = outward_at(f.outward_a, f.pairs[j, 0]), turn(x.m, outward_at(f.outward_b, f.pairs[j, 1]))
    away_a, away_b = not f.pushes_a or dot(ours, n) >= -LEVEL, not f.pushes_b or dot(theirs, n) <= LEVEL
    return bool(f.out[j, 1] > 0.0 and away_a and away_b)


@kernel
def _gap_of(parts: PartTree, point: PartTree, p: Vec3, within: float, w: TreeScratch) -> float:
    """Return the distance of p from the nearest part. A distance beyond ``within`` may be too large or infinite.

    ``point`` is a body of one point.
    """
    to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, p[0], p[1], p[2])
    error = ROUNDING * (parts.reach + max(abs(p[0]), max(abs(p[1]), abs(p[2]))))
    x, best = PosedPair(parts, point, to, error), inf
    stack = w.stack
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        # the best distance so far limits the search
        if nodes_apart(to, parts, i, point, _ONLY, min(best, within) + error):
            continue
        if parts.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = parts.links[i, 0], parts.links[i, 0] + 1
            top += 2
            continue
        for k in range(parts.links[i, 1], parts.links[i, 1] + parts.links[i, 2]):
            c = parts_at(x, k, _ONLY, w)
            solve(c, UNSIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, _ONLY)
            best = min(best, w.out[0, 0])
    return best


@kernel
def keep_mutual(x: PosedPair, point: PartTree, f: PairContacts, count: int, w: TreeScratch) -> int:
    """Keep the selected pairs that touch, or whose points are not nearer to other parts; return the number of pairs."""
    far, retained = 0.0, 0
    for i in range(count):
        if f.out[f.some[i], 1] > 0.0:
            far = max(far, f.out[f.some[i], 0])
    for i in range(count):
        j = f.some[i]
        if f.out[j, 1] > 0.0:
            least = f.out[j, 0] * (1.0 - NEARLY) - 4.0 * x.error
            local = turn_back(x.m, sub(vec_at(f.out[j], 6), offset(x.m)))
            if _gap_of(x.a, point, vec_at(f.out[j], 9), far, w) < least or _gap_of(x.b, point, local, far, w) < least:
                continue
        f.some[retained] = j
        retained += 1
    return retained


@kernel
def _is_lowest(x: PosedPair, f: PairContacts, j: int, n: Vec3, w: TreeScratch) -> bool:
    """Return whether B's point of pair j is the lowest point of B's shape along the normal n of the face."""
    if f.lowest.shape[0] > 0:
        low = row3(f.lowest, j)
    else:
        core = part_at(x.b, _ONLY, w.floats_b, w.row_b)
        put_behind(x.m, w.row_b)
        low = place(w.row_b, farthest_point(core, turn_back(w.row_b, neg(n))))
    return dot(n, sub(vec_at(f.out[j], 9), low)) <= _SLACK * x.error


@kernel
def _is_of_bodies(
    x: PosedPair, kind: int, mapped: tuple[bool, bool], f: PairContacts, j: int, state: float, origin: PartTree,
    w: TreeScratch,
) -> bool:  # fmt: skip
    p, q, n = f.pairs[j, 0], f.pairs[j, 1], vec_at(f.out[j], 3)
    inside = kind == PARTS or f.walls
    if state == NORMAL or mapped[0]:
        return True
    if state != PUSHED and is_sure(x.a, p, n, inside) and is_sure(x.b, q, turn_back(x.m, neg(n)), inside):
        return True
    a, b = vec_at(f.out[j], 6), vec_at(f.out[j], 9)
    if state == PUSHED and kind == FACES:
        probe = probe_of(x, p, q, -f.out[j, 0], f.walls, w)
        return _is_lowest(x, f, j, n, w) and is_normal(x.a, p, origin, a, n, probe, w)
    if state == PUSHED and not f.walls:  # the normals of crossing meshes are inclined to each other
        ours, theirs = dot(n, outward_at(f.outward_a, p)), -dot(n, turn(x.m, outward_at(f.outward_b, q)))
        if min(ours, theirs) >= _LEANING:
            return True
    if state == PUSHED:
        return is_contact(x, p, q, origin, a, b, n, shortest_probe(x.error, _LEANING, f.walls), w)
    probe = probe_of(x, p, q, -f.out[j, 0], inside, w)
    if mapped[1]:
        return is_normal(x.a, p, origin, a, n, probe, w)
    return is_contact(x, p, q, origin, a, b, n, probe, w)


@kernel
def split(
    x: PosedPair, kind: int, mapped: tuple[bool, bool], f: PairContacts, first: int, stop: int, count: int,
    origin: PartTree, order: Ints, w: TreeScratch,
) -> int:  # fmt: skip
    """Move the selected pairs that are contacts of the whole bodies to the front, and return the number of these pairs.

    Both groups stay sorted by gap. The pairs from ``first`` to ``stop - 1`` are intersecting faces. The nearest points
    of two separated bodies are a contact. If no pair is a contact and a body has support functions of a user, the
    number of all selected pairs is returned.
    """
    contacts, left = 0, 0
    for i in range(count):
        j = f.some[i]
        state = f.noted[j - first, STATE] if kind != PARTS and first <= j < stop else 0.0
        if (i == 0 and f.out[j, 1] > 0.0) or _is_of_bodies(x, kind, mapped, f, j, state, origin, w):
            f.some[contacts] = j
            contacts += 1
        else:
            order[left] = j
            left += 1
    for i in range(left):
        f.some[contacts + i] = order[i]
    return count if contacts == 0 and (mapped[0] or mapped[1]) else contacts
