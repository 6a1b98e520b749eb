"""Contact points of bodies, and outward normals of faces.

Usually the winding of a face gives its outward normal, and the solid is on one side of each face. This may be wrong if
a body of the mesh intersects itself, or if one of several bodies is inside out, since a point is inside if the surface
winds about the point in either direction (`gjk3d.bodies.mesh_rays`). Test points on both sides of a face then decide.

Contact points come from the parts that intersect, or from the faces of meshes.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import TIED, TURNED, Body, GivenShapes, Parts, PartTree, TriangleTree, nth_shape, order_of
from gjk3d.bodies.body_pair import MOST_PAIRS, too_many
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.contact_pairs import (
    FACES,
    MESHES,
    PARTS,
    ContactTrees,
    ListedPairs,
    PosedShapes,
    ShapeList,
    ShapeRows,
    contact_trees,
    face_each_other,
    keep_mutual,
    list_pairs,
    posed_pair,
    sort_pairs,
    split,
)
from gjk3d.bodies.depth.depth import MOST as MOST_DEPTH
from gjk3d.bodies.depth.depth import depths_at
from gjk3d.bodies.depth.points import outward_normals
from gjk3d.bodies.depth.pushes import CORNERS, NOTED, Outer, PairContacts, freeing, push_out
from gjk3d.bodies.distance import groups, parts_near, solve
from gjk3d.bodies.manifolds import MOST, Faces, ManifoldScratch, Writing, faces_in, manifold_scratch, write_points
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import holds
from gjk3d.bodies.parts import Triangles, complete, parts_of
from gjk3d.bodies.planes import standing_in
from gjk3d.bodies.touching_bodies import distance_rows
from gjk3d.bodies.tree_collision import (
    APART,
    HELD,
    MEET,
    PosedPair,
    PoseRows,
    TreePair,
    TreeScratch,
    crossings,
    tree_scratch,
)
from gjk3d.bodies.tree_distance import BOUNDS, Reports, distance_query
from gjk3d.bodies.triangles import (
    Triangle,
    common_of,
    crossing_segment,
    normal_of,
    placed_triangle,
    read,
    triangles_meet,
    vec_at,
)
from gjk3d.convex.batch import Rows, Wanted, empty_answers, in_chunks, mirror
from gjk3d.convex.contacts import faces_of_two, patch_points
from gjk3d.convex.solve import core_row
from gjk3d.geometry.polygon import connected
from gjk3d.geometry.vec3 import Rigid, Vec3, box_pose, boxes_apart, dot, sub
from gjk3d.geometry.vec3 import place as at
from gjk3d.geometry.vec3 import turn as along
from gjk3d.narrow.cores import relative_pose
from gjk3d.narrow.manifold import KEY, POINT, WIDTH, order_by_key, spread_points
from gjk3d.narrow.solve import SIGNED, PairRows
from gjk3d.narrow.workspace import borrow, give_back
from gjk3d.poses import ROUNDING, relatives
from gjk3d.poses import WIDTH as POSE_WIDTH
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Array1, Array2, Array3, Bools, Ints, Ints1, Ints2

# --- outward normals -------------------------------------------------------------------------------------------------


_IDENTITY: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_LEAST = 64.0  #: least length of the intersection of two triangles, in units of the error of positions
_STEP = 1e3  #: distance of a point next to a face, in units of the error of positions
#: points of a triangle by their weights: the middle, three near the corners, and three near the middles of the edges
_SAMPLES = np.array([(1, 1, 1), (8, 1, 1), (1, 8, 1), (1, 1, 8), (5, 5, 1), (1, 5, 5), (5, 1, 5)], dtype=float)
_SAMPLES /= _SAMPLES.sum(axis=1, keepdims=True)


@kernel
def _cross_each_other(t: TriangleTree, places: Ints, pieces: Ints, p: int, q: int, error: float) -> bool:
    """Return whether triangles p and q are in one piece, have no common edge, and intersect in more than a point."""
    if pieces[p] != pieces[q]:
        return False
    common = 0
    for i in range(3):
        for j in range(3):
            common += int(places[p, i] == places[q, j])
    if common > 1:
        return False
    a, b = read(t.corners, p), read(t.corners, q)
    return bool(triangles_meet(a, b, error) and crossing_segment(a, b)[0] > _LEAST * error)


@entry
def crosses_itself(t: TriangleTree, places: Ints2, pieces: Ints1, error: float, stack: Ints2) -> bool:
    """Return whether a piece of a mesh intersects itself.

    ``places`` has an index for each corner of each triangle, (m, 3), which is equal for corners at one position.
    ``pieces`` has the index of each triangle's piece, (m,). The triangles of a piece are connected by edges.
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
    """Return the outward normals of faces, and a code: 0 for an open mesh, 2 for possible inner walls, otherwise 1.

    The normals are one row of zeros if the mesh is open. A face that bounds the solid on both sides has a zero normal.
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
    """Return the normals, turned to lead out of the solid at samples of their faces, or zero if the samples differ."""
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


# --- contact points --------------------------------------------------------------------------------------------------


_CHUNK = 128  #: pairs of poses per call of the kernels
_NO_NORMAL = np.zeros((1, 3))
_ALONE = np.zeros(1, dtype=np.int64)
_POINT = ShapeList([Point()])
_MIRRORED = [3, 4, 5, 0, 1, 2, 6, 7, 8, 9]  #: columns of a contact point after an exchange of a and b


class Side(NamedTuple):
    """Data of the parts of a body, or of the bodies of a list."""

    faces: Faces
    outward: Array2  #: outward normals of the parts, or one zero row
    solidity: int  #: see `outward_of`


class Sides(NamedTuple):
    """Data of body a and of the bodies b of a list that `ContactTrees` lacks: normals, planes and hulls."""

    a: Side
    b: Side
    planes: tuple[Array2, Ints1]  #: see `ShapeList.planes`
    hull_a: PartTree
    hulls_b: GivenShapes
    of_hulls: bool  #: whether there are hulls, see `depth.pushes.Outer`
    fixed: bool  #: whether the greatest depth of each row is given instead
    plane: bool  #: see `ShapeList`
    origin: PartTree  #: a body of one point at the origin


class ContactScratch(NamedTuple):
    """Scratch of `point_rows`. The fields ``room``, ``noted`` and ``some`` are those of `PairContacts`."""

    manifold: ManifoldScratch
    room: Array3
    noted: Array2
    some: Ints1
    keys: Array2  #: gaps of the selected pairs
    order: Ints1  #: order of the selected pairs by gap


class Touching(NamedTuple):
    """Contact points of several rows, joined, in the world frame, in the format of `gjk3d.narrow.manifold`."""

    which: Ints  #: rows of the query
    points: Array
    counts: Ints  #: number of points of each of these rows


def contact_points(
    a: Any, b: Any, rows: Rows, answers: Array, within: float, most: int | None, pair: ContactPair | None = None
) -> list[Touching]:
    """Return the contact points of two bodies at pose rows.

    ``answers`` has the distances of the rows, signed for half-spaces. Contact points are computed for each pair of
    parts that touch or are closer than ``within``. The parts of a mesh are its faces. If bodies overlap without any
    contact of their surfaces, such as one inside the other, the result is the point of the signed distance. Rows with a
    distance of more than ``within`` do not have points. Each row has at most ``most`` points. ``pair`` has the prepared
    data of both bodies, if any.
    """
    which = (answers[:, 1] <= within).nonzero()[0]
    if not len(which):
        return []
    first, second = (poses[which % len(poses)] for poses in (rows.a, rows.b))
    turned = order_of(a, b) == TURNED
    if turned:
        a, b, first, second = b, a, second, first
    plane = b._kind == Kind.PLANE
    if b._kind & Kind.PLANES:
        a, b, first, second, _ = standing_in(a, b, first, second)
    near_rows = Rows(first, second, len(which), True, rows.workers)
    if a._kind & Kind.SHAPES:
        plane_answers = mirror(answers[which], turned)
        points, begins = _on_plane(a, b, near_rows, plane_answers, within)
        return [_touching_in_order(which, *spread_points(points, begins, plane_answers, most), turned)]
    touching = []
    for group in groups(a, b, near_rows, order_of(a, b), np.arange(len(which))):
        some, swapped = which[group.which], turned or group.turned
        pose_rows = ShapeRows(np.zeros_like(some), group.rows_a, group.rows_b)
        x = PosedShapes(group.a, group.ours, ShapeList([group.b], plane), pose_rows)
        plan = ContactPlan(*x[:3]) if pair is None else pair.plan(x, swapped and not turned)
        points, counts = _points_of(x, plan, mirror(answers[some], swapped), within, most, rows.workers)
        touching.append(_touching_in_order(some, points, counts, swapped))
    return touching


def contact_points_beside(
    a: Body, shapes: ShapeList, shape_of: Ints, rows: Rows, answers: Array, turned: Bools, within: float,
    most: int | None,
) -> list[Touching]:  # fmt: skip
    """Return the contact points of a body and one shape of a list per row.

    ``turned`` marks the rows of queries on (shape, body), whose ``answers`` and contact points are mirrored.
    """
    which = (answers[:, 1] <= within).nonzero()[0]
    first, second, shape_of, touching = rows.a[which], rows.b[which], shape_of[which], []
    for ours, rows_near in parts_near(a, shapes.reaches[shape_of], first, second):
        some = which[rows_near]
        x = PosedShapes(a, ours, shapes, ShapeRows(shape_of[rows_near], first[rows_near], second[rows_near]))
        plan = shapes.plans.get(ours)
        if plan is None:
            plan = shapes.plans[ours] = ContactPlan(a, ours, shapes)
        points, counts = _points_of(x, plan, mirror(answers[some], turned[some]), within, most, rows.workers)
        touching.append(_touching_in_order(some, points, counts, turned[some]))
    return touching


def _touching_in_order(which: Ints, points: Array, counts: Ints, turned: bool | Bools) -> Touching:
    if turned is not False:
        some = slice(None) if turned is True else turned.repeat(counts)
        points[some] = points[some][:, _MIRRORED]
        points[some, POINT:] = 0.0 - points[some, POINT:]
    return Touching(which, points, counts)


def _on_plane(a: Shape, b: Shape, rows: Rows, answers: Array, within: float) -> tuple[Array, Ints]:
    """Return the contact points of shape a with the half-space b, and the index of the first point of each pose row."""
    ints, floats, row, _ = core_row(a, b, len(rows.a), len(rows.b))
    pairs = PairRows(ints, floats, row, rows.joined_poses())
    points, count = patch_points(pairs, faces_of_two(a, b), answers.copy(), within, None, rows.workers)
    valid = np.arange(points.shape[1]) < count[:, None]
    normals = np.repeat(answers[:, 3:6], count, axis=0)
    return np.hstack([points[valid], normals]), np.concatenate([[0], np.cumsum(count)])


def _points_of(
    x: PosedShapes, plan: ContactPlan, answers: Array, within: float, most: int | None, workers: int
) -> tuple[Array, Ints]:
    """Return the contact points of all pose rows one after another, and the number of points of each row."""
    results: dict[int, tuple[Array, Ints]] = {}
    total = len(x.rows.which)

    def run(start: int, stop: int) -> None:
        some = x if stop - start == total else x.at(slice(start, stop))
        results[start] = plan.points(some, answers[start:stop], within, most)

    in_chunks(total, workers, run, _CHUNK)
    if len(results) == 1:
        return results[0]
    parts = [results[start] for start in sorted(results)]
    return np.concatenate([points for points, _ in parts]), np.concatenate([counts for _, counts in parts])


class ContactPlan:
    """The arguments of the contact kernels that do not depend on poses. It has no references to the objects."""

    __slots__ = ("_corners", "_sides", "_solids", "_trees")

    def __init__(self, a: Body, ours: Parts, shapes: ShapeList) -> None:
        kind, thing, first = PARTS, shapes.things[0], shapes.parts[0]
        if a._kind == Kind.MESH and thing._kind & (Kind.MESH | Kind.SHAPES):
            kind = MESHES if thing._kind == Kind.MESH else FACES
        self._trees, self._solids = contact_trees(ours, shapes, kind), shapes.solids
        (faces_a, most_a), (faces_b, most_b) = faces_in(ours), shapes.faces
        # parts of a shell or compound can be inside its closed meshes, as inner walls are
        outward_a, solid_a = outward_of(ours) if kind != PARTS else (_NO_NORMAL, 2 * bool(ours.solids))
        outward_b, solid_b = outward_of(first) if kind == MESHES else (_NO_NORMAL, 2 * bool(first.solids))
        self._corners = most_a, most_b
        # faces push each other out no farther than the hulls
        hull = None if kind == PARTS or any(self._trees.mapped) else ours.hull()
        hulls = None if hull is None else shapes.hulls
        outer: tuple[PartTree, GivenShapes, bool, bool] = _POINT.given[0], _POINT.given, False, True
        if hull is not None and hulls is not None:
            outer = parts_of(hull).given, hulls, True, False
        side_a, side_b = Side(faces_a, outward_a, solid_a), Side(faces_b, outward_b, solid_b)
        self._sides = Sides(side_a, side_b, shapes.planes, *outer, shapes.plane, _POINT.given[0])

    def points(self, x: PosedShapes, answers: Array, within: float, most: int | None) -> tuple[Array, Ints]:
        """Return the contact points of all pose rows in the world frame, and the number of points of each row."""
        trees, rows = self._trees, x.rows
        listed = list_pairs(trees, self._solids, x, within)
        many = listed.begins[2::2] - listed.begins[:-2:2]
        longest, manifold = int(many.max()), manifold_scratch(*self._corners)
        scratch = ContactScratch(
            manifold, np.empty((2, CORNERS, 3)), np.empty((longest, NOTED)), np.empty(longest, dtype=np.int64),
            np.empty((longest, 3)), np.empty(longest, dtype=np.int64),
        )  # fmt: skip
        begins, most_deep = np.zeros(len(rows.which) + 1, dtype=np.int64), np.zeros(len(rows.which))
        # upper bound of the number of points: only the first `MOST` pairs of a row have more than one
        points = borrow("points", int((np.minimum(many, MOST) * manifold.most + many).sum()), WIDTH)
        if any(trees.mapped) and trees.kind != PARTS:  # kernels cannot search for a separating translation
            most_deep = depths_at(x.ours, x.shapes.parts[0], relatives(rows.a, rows.b))[:, MOST_DEPTH].copy()
        point_rows(trees, self._sides, within, rows, most_deep, listed, tree_scratch(), scratch, points, begins)
        if (begins[1:] == begins[:-1]).any():
            _measure_deep(x, begins, answers)
        spread = spread_points(points[: begins[-1]], begins, answers, most)
        give_back(points=points)
        if not any(trees.mapped):
            give_back(pairs=listed.pairs.base, out=listed.out.base)
        return spread


class ContactPair:
    """The prepared contacts of a body and another object, without references to these objects."""

    __slots__ = ("_faces", "_order", "_plans", "_trees")

    def __init__(self, a: Any, b: Any) -> None:
        self._order = order_of(a, b)
        first, second = (b, a) if self._order == TURNED else (a, b)
        self._faces = bool(a._kind & b._kind & Kind.MESH)
        self._trees = TreePair(complete(parts_of(first)), complete(parts_of(second)), self._order)
        self._plans: list[ContactPlan | None] = [None, None]

    def plan(self, x: PosedShapes, later: bool) -> ContactPlan:
        """Return the plan of the two objects in ``x``.

        ``later`` is whether the objects are tied in their order (`order_of`), and their poses decided to swap them.
        """
        if x.ours is not x.a._as_parts():  # a height field without a bottom has other columns at these poses
            return ContactPlan(*x[:3])
        plan = self._plans[later]
        if plan is None:
            plan = self._plans[later] = ContactPlan(*x[:3])
        return plan

    def points(self, a: Any, b: Any, ma: Array, mb: Array, within: float, most: int | None) -> Array | None:
        """Return the contact points at two pose matrices, (k, 10), or None if `contact_points` is needed instead.

        A row has the point on A, the point on B, the gap and the normal.
        """
        if self._order == TURNED:
            a, b, ma, mb = b, a, mb, ma
        row_a, row_b = np.empty((2, 1, POSE_WIDTH))
        codes, parts, (out, flags) = np.empty(1, dtype=np.int64), np.empty((1, 2), dtype=np.int64), empty_answers(1)
        code = distance_rows(
            self._trees, distance_query(self._faces, BOUNDS, within), ma, mb, PoseRows(row_a, row_b, 0, 1),
            tree_scratch(), out, Reports(codes, flags, parts),
        )  # fmt: skip
        if code not in (APART, MEET, HELD) or flags.item(3):
            return None
        if out.item(1) > within:
            return out[:0, :WIDTH]
        later = self._order == TIED and row_a.tolist() > row_b.tolist()
        if later:
            a, b, row_a, row_b = b, a, row_b, row_a
        turned, shapes = later or self._order == TURNED, ShapeList([b])
        mirror(out, turned)
        ours = a._as_parts() if a._kind != Kind.ENDLESS else parts_near(a, shapes.reaches, row_a, row_b)[0][0]
        x = PosedShapes(a, ours, shapes, ShapeRows(_ALONE, row_a, row_b))
        points, counts = self.plan(x, later).points(x, out, within, most)
        return _touching_in_order(_ALONE, points, counts, turned).points


def _measure_deep(x: PosedShapes, begins: Ints, answers: Array) -> None:
    """Write the signed distances of overlapping rows without contact points into ``answers``."""
    deep = (begins[1:] == begins[:-1]) & (answers[:, 1] <= 0.0)
    for k in np.unique(x.rows.which[deep]).tolist():
        which = np.flatnonzero(deep & (x.rows.which == k))
        out, flags = empty_answers(len(which))
        deep_rows = Rows(x.rows.a[which], x.rows.b[which], len(which), True)
        solve(x.a, x.shapes.things[k], deep_rows, Wanted(SIGNED), out, flags)
        answers[which] = out


@kernel
def _choose(
    x: PosedPair, point: PartTree, kind: int, mutual: bool, within: float, outer: Outer, f: PairContacts, first: Ints,
    w: TreeScratch,
) -> tuple[int, float]:  # fmt: skip
    """Select the pairs of parts at a pose row that have contact points, in ``f.some``; return their number and a limit.

    The limit is the length of a known separating translation, which bounds the depths of contacts. It is inf if no
    faces intersect. The row's part of `ListedPairs.begins` is ``first``. ``mutual`` is whether `keep_mutual` is used.
    """
    count, most = 0, inf
    # only faces of closed meshes push each other, and the points of all other parts are used unchanged
    if kind == PARTS:
        for j in range(first[0], first[1]):
            f.some[count] = j
            count += 1
    elif first[1] > first[0]:
        most = outer.most if outer.fixed else freeing(x, kind == MESHES, f, first[0], first[1], outer, w)
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
def _sort_by_gap(f: PairContacts, count: int, keys: Array, order: Ints) -> None:
    for i in range(count):
        keys[i, KEY] = f.out[f.some[i], 0]
    order_by_key(keys, count, order)
    for i in range(count):
        order[i] = f.some[order[i]]
    for i in range(count):
        f.some[i] = order[i]


@kernel
def _into_world(row: Array, points: Array, start: int, stop: int) -> None:
    for k in range(start, stop):
        p = points[k]
        p[0], p[1], p[2] = at(row, vec_at(p, 0))
        p[3], p[4], p[5] = at(row, vec_at(p, 3))
        p[POINT], p[POINT + 1], p[POINT + 2] = along(row, vec_at(p, POINT))


@entry
def point_rows(
    trees: ContactTrees, sides: Sides, within: float, rows: ShapeRows, most_deep: Array1, listed: ListedPairs,
    w: TreeScratch, scratch: ContactScratch, points: Array2, begins: Ints1,
) -> None:  # fmt: skip
    """Write the contact points of pairs of parts at each pose row (`write_points`), in the world frame.

    The points of row k begin at ``begins[k]``, and ``points`` must have room for all. For faces that push each
    other apart, the results in ``listed`` are changed. ``most_deep`` has the depths of the rows, if known.
    """
    first, kind, mapped, origin, order = listed.begins, trees.kind, trees.mapped, sides.origin, scratch.order
    solid_a, solid_b = sides.a.solidity, sides.b.solidity
    (planes, starts), (hulls_b, rims_reaches) = sides.planes, sides.hulls_b
    for k in range(rows.a.shape[0]):
        i, written, x = rows.which[k], begins[k], posed_pair(trees, rows, k)
        f = PairContacts(
            listed.pairs, listed.out, listed.lowest, sides.a.outward, sides.b.outward, solid_a > 0, solid_b > 0,
            max(solid_a, solid_b) > 1, planes[starts[i] : starts[i + 1]], scratch.room, scratch.noted, scratch.some,
        )  # fmt: skip
        hulls = Outer(sides.hull_a, nth_shape(hulls_b, rims_reaches, i), sides.of_hulls, sides.fixed, most_deep[k])
        # the kernels cannot evaluate functions of users, so `_by_functions` has already removed their pairs
        mutual = within > 0.0 and not (mapped[0] or mapped[1])
        count, most = _choose(x, origin, kind, mutual, within, hulls, f, first[2 * k :], w)
        _sort_by_gap(f, count, scratch.keys, order)
        split_count = split(x, kind, mapped, f, first[2 * k], first[2 * k + 1], count, origin, order, w)
        faces_b = Faces(sides.b.faces.ints, sides.b.faces.floats, sides.b.faces.starts[i:])
        writing = Writing(x, sides.a.faces, faces_b, f, within, most, sides.plane, scratch.manifold, w)
        added = write_points(
            writing, split_count, split_count if mapped[0] or mapped[1] else count, origin, points[written:]
        )
        _into_world(rows.a[k], points, written, written + added)
        begins[k + 1] = written + added


# --- touching faces in the form of trimesh, for `gjk3d.compat` --------------------------------------------------------

_TOUCH = 7
_FIRST = 256  #: pairs of faces that fit into the first list
_ORIGIN = np.zeros(9)  #: centre of a core at the origin of its frame, for `relative_pose`


class Touches(NamedTuple):
    """One row for each pair of intersecting faces, with points and normals in the world frame.

    The rows of the k-th pair of poses begin at ``begins[k]``.
    """

    faces: Ints  #: (m, 2), ascending
    rows: Array  #: (m, 7): a point, a normal from a to b, and a depth of at least 0
    begins: Ints  #: (k + 1,)


@kernel
def _depth_behind(n: Vec3, p: Triangle, q: Triangle) -> float:
    """Return how far triangle q extends behind the plane of triangle p with the unit normal n, at least 0."""
    return max(0.0, dot(n, sub(p[0], q[0])), dot(n, sub(p[0], q[1])), dot(n, sub(p[0], q[2])))


@kernel
def _touch(s: Triangle, t: Triangle, row: Array, out: Array) -> None:
    """Write a common point, a normal and the depth of two intersecting triangles, transformed by a pose row."""
    u, v = normal_of(s), normal_of(t)
    n, depth = u, _depth_behind(u, s, t)
    depth_t = _depth_behind(v, t, s)
    flat_a, flat_b = dot(u, u) == 0.0, dot(v, v) == 0.0
    if not flat_b and (flat_a or depth_t < depth):
        n, depth = (-v[0], -v[1], -v[2]), depth_t
    elif flat_a:
        n, depth = (1.0, 0.0, 0.0), 0.0
    out[0], out[1], out[2] = at(row, common_of(s, t))
    n = along(row, n)
    out[3], out[4], out[5], out[6] = n[0] + 0.0, n[1] + 0.0, n[2] + 0.0, depth


class WoundTree(NamedTuple):
    """A mesh in the format of `touch_rows`."""

    tree: TriangleTree
    order: Ints1  #: face number of each triangle
    corners: Array2  #: triangles with the outward winding of a closed mesh
    reach: float  #: greatest coordinate


@entry
def touch_rows(
    a: WoundTree, b: WoundTree, rows_a: Array2, rows_b: Array2, start: int, stack: Ints2, pairs: Ints2, faces: Ints2,
    out: Array2, begins: Ints1,
) -> int:  # fmt: skip
    """Write the rows of `Touches` at pose rows from ``start`` on; return the first pose row without room in ``out``."""
    for k in range(start, rows_a.shape[0]):
        m = relative_pose(rows_a[k], _ORIGIN, rows_b[k], _ORIGIN)
        noise = ROUNDING * (a.reach + b.reach + max(abs(m[9]), abs(m[10]), abs(m[11])))
        first, room = begins[k], faces.shape[0] - begins[k]
        # each row needs the whole list at once, since pairs are sorted by face numbers
        count = crossings(m, noise, a.tree, b.tree, stack, pairs[:room])
        if count > room:
            return k
        sort_pairs(pairs, count, a.order, b.order)
        for i in range(count):
            p, q = pairs[i, 0], pairs[i, 1]
            faces[first + i, 0], faces[first + i, 1] = a.order[p], b.order[q]
            _touch(read(a.corners, p), placed_triangle(m, b.corners, q), rows_a[k], out[first + i])
        begins[k + 1] = first + count
    return int(rows_a.shape[0])


def _wound_tree(mesh: Mesh) -> WoundTree:
    tree = tree_of(mesh)
    turned = mesh._wound is not mesh.faces
    wound = mesh._cached("wound corners", lambda: mesh.vertices[mesh._wound[tree.order]].reshape(-1, 9))
    return WoundTree(tree.arrays, tree.order, wound if turned else tree.corners, tree.reach)


def touches(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array) -> Touches:
    """Return the contacts of faces of two meshes at pairs of pose rows.

    The normal is the outward normal of a's face or the inward normal of b's face, whichever has the shorter separating
    translation. The depth is the length of this translation, the extent of a face behind the plane of the other face.
    """
    meshes, stack, room, finished = (_wound_tree(a), _wound_tree(b)), traversal_stack(), _FIRST, 0
    begins, pairs = np.zeros(len(rows_a) + 1, dtype=np.int64), np.empty((room, 2), dtype=np.int64)
    faces, out = np.empty((room, 2), dtype=np.int64), np.empty((room, _TOUCH))
    while True:
        finished = touch_rows(*meshes, rows_a, rows_b, finished, stack, pairs, faces, out, begins)
        if finished == len(rows_a):
            end = int(begins[finished])
            return Touches(faces[:end], out[:end], begins)
        if room >= MOST_PAIRS:
            raise too_many()
        room *= 8
        pairs = np.empty((room, 2), dtype=np.int64)
        faces, out = np.resize(faces, (room, 2)), np.resize(out, (room, _TOUCH))
