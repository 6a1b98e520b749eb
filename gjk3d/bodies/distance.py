"""Collision, distance and depth queries of a body and any other object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import Any, NamedTuple, cast
from weakref import ref

import numpy as np

from gjk3d.bodies.base import TIED, TRIANGLES, TURNED, Body, Parts, Thing, in_order, order_of, packed_parts
from gjk3d.bodies.body_pair import BodyPair, MeshPair, Nearest
from gjk3d.bodies.depth.depth import LEAST as LEAST_DEPTH
from gjk3d.bodies.depth.depth import MOST, NORMAL, PLACE, depths_at
from gjk3d.bodies.depth.fast import FastBody, fast_body, fast_depths, fast_rows
from gjk3d.bodies.grids import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import (
    MeshSurface,
    ball_distances,
    ball_query,
    ball_shape,
    is_ball,
    meet_ball,
    mesh_surface,
    roots_of,
)
from gjk3d.bodies.parts import complete, parts_of, root_of
from gjk3d.bodies.touching_bodies import distance_rows
from gjk3d.bodies.tree_collision import (
    APART,
    DOUBT,
    HELD,
    MEET,
    PoseRows,
    TreePair,
    TreeScratch,
    meet_rows,
    tree_scratch,
)
from gjk3d.bodies.tree_distance import (
    ANSWERED,
    BOUNDS,
    DEPTHS,
    LEAST,
    NORMALS,
    TIGHT_CURVED,
    TIGHT_POLYTOPE,
    Reports,
    distance_query,
)
from gjk3d.convex.batch import NO_POSE, Rows, Wanted, empty_answers, in_chunks, mirror, select_rows
from gjk3d.convex.checks import FAST
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.workspace import per_thread
from gjk3d.poses import ROUNDING, WIDTH, composed, relative, relatives
from gjk3d.results import Status
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Bools, Ints

_CHUNK = 256  #: rows per call of the kernels, since a row of large bodies may take a millisecond


def pair_of(a: Body, b: Thing, m: Array) -> BodyPair:
    """Return the pair of a body and another object, where m is the pose of b in a's frame."""
    if a._kind & b._kind & Kind.MESH:
        return MeshPair.of(cast("Mesh", a), cast("Mesh", b), m)
    second = parts_of(b)
    return BodyPair(a._parts_near(second.reach, m[9:12]), second, m)


def _ordered(a: Any, b: Any, rows: Rows) -> tuple[int, Body, Any, Rows]:
    """Return the order of two objects (`order_of`), and the objects and their pose rows in the order of the kernels.

    If the order is TIED, the objects and rows are returned as given, since their poses decide the order of each row.
    """
    order = order_of(a, b)
    if order == TURNED:
        a, b, rows = b, a, rows.swapped()
    return order, a, b, rows


def _at(a: Body, b: Any, rows: Rows, k: int, order: int) -> tuple[BodyPair, Array, bool]:
    """Return the pair at pose rows k, the pose row of its first body, and whether it is the caller's second object."""
    row_a, row_b = rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0]
    if order == TIED and not in_order(a, b, row_a, row_b):
        return pair_of(b, a, relative(row_b, row_a)), row_b, True
    return pair_of(a, b, relative(row_a, row_b)), row_a, order == TURNED


class QueryScratch(NamedTuple):
    """Poses, results and scratch of a compiled query."""

    rows: PoseRows
    reports: Reports
    w: TreeScratch


@per_thread
def _scratch_of_single() -> QueryScratch:
    codes, flags, parts = (np.empty(shape, dtype=np.int64) for shape in (1, (1, narrow.INTS), (1, 2)))
    poses = np.empty((2, WIDTH))
    return QueryScratch(PoseRows(poses[:1], poses[1:], 0, 1), Reports(codes, flags, parts), tree_scratch())


class Queries(ABC):
    """The compiled queries on a body and another object, for stacks of poses or two single matrices.

    An instance does not have a reference to the objects.
    """

    order: int  #: of the objects in the kernels, see `gjk3d.bodies.base.order_of`

    @abstractmethod
    def roots(self) -> Array:
        """Return the root boxes of both objects in the caller's order, see `gjk3d.geometry.vec3`."""

    def complete(self) -> bool:
        """Build the trees that only few collision queries need; return False if they exist already."""
        return False

    @abstractmethod
    def meet_rows(self, ma: Array, mb: Array, rows: PoseRows, margin: float, w: TreeScratch, codes: Ints) -> int:
        """Write APART, MEET, HELD, DOUBT or DEEP of `tree_collision` for each pose row, and return the last code.

        If the matrices ``ma`` and ``mb`` are not empty, they first replace row 0 of both objects in ``rows``.
        """

    @abstractmethod
    def measure_rows(
        self, ma: Array, mb: Array, is_fast: bool, level: int, most: float, x: QueryScratch, out: Array
    ) -> int:  # fmt: skip
        """Write the result rows of pose rows into ``out``, and return the last code. Matrices are as in `meet_rows`."""

    def collide(self, ma: Array, mb: Array, margin: float) -> bool | None:
        """Return whether the pair collides at two matrices, for a margin of at least 0; None if undecided."""
        if self.order == TURNED:
            ma, mb = mb, ma
        rows, reports, w = _scratch_of_single()
        code = self.meet_rows(ma, mb, rows, margin, w, reports.codes)
        if code == DOUBT and self.complete():
            code = self.meet_rows(NO_POSE, NO_POSE, rows, margin, w, reports.codes)
        if code == APART:
            return False
        return True if code in (MEET, HELD) else None

    def measure(self, ma: Array, mb: Array, mode: int, most: float, out: Array) -> int:
        """Write the result row at two matrices; return status + 8 * tight, or -1 if the kernels cannot decide."""
        if self.order == TURNED:
            ma, mb = mb, ma
        x, signed = _scratch_of_single(), mode != narrow.UNSIGNED
        code = self.measure_rows(ma, mb, mode == FAST, DEPTHS if signed else NORMALS, most, x, out)
        solved = code in (APART, ANSWERED) or (code in (MEET, HELD) and not signed)
        status, _, tight, unsure = x.reports.flags[0].tolist()
        return int(status + 8 * tight) if solved and not unsure else -1


class TreeQueries(Queries):
    """The queries by the trees of two objects, which are in the order of the kernels."""

    def __init__(self, a: Parts, b: Parts, order: int) -> None:
        self.trees, self._parts, self._is_complete = TreePair(a.given, b.given, order), (ref(a), ref(b)), False
        self.order = order
        # the same as `tree_collision.are_meshes`, which is slower if Python interprets it
        self._faces = all(tree.kind == TRIANGLES and tree.floats[0] == 0.0 for tree in self.trees[:2])

    def roots(self) -> Array:
        """Return the root boxes of both objects in the caller's order."""
        roots = np.array([root_of(tree) for tree in self.trees[:2]])
        return roots[::-1].copy() if self.order == TURNED else roots

    @cached_property
    def _fast(self) -> tuple[FastBody, FastBody]:
        """Both bodies for the fast depth, created by the first query because the hull of a large mesh is slow."""
        a, b = (reference() for reference in self._parts)
        assert a is not None
        assert b is not None
        return fast_body(a), fast_body(b)

    def meet_rows(self, ma: Array, mb: Array, rows: PoseRows, margin: float, w: TreeScratch, codes: Ints) -> int:
        """Write APART, MEET, HELD, DOUBT or DEEP of `tree_collision` for each pose row, and return the last code.

        After `complete`, a second call may decide a pair whose code was DOUBT.
        """
        return meet_rows(self.trees, ma, mb, rows, margin, w, codes)

    def measure_rows(
        self, ma: Array, mb: Array, is_fast: bool, level: int, most: float, x: QueryScratch, out: Array
    ) -> int:  # fmt: skip
        """Write the result rows at pose rows or two matrices into ``out``, and return the last code."""
        self.complete()
        query = distance_query(self._faces, level, most)
        rows, reports, w = x
        if not is_fast:
            return distance_rows(self.trees, query, ma, mb, rows, w, out, reports)
        return fast_rows(*self._fast, self.order, query, ma, mb, rows, w, out, reports)

    def complete(self) -> bool:
        """Build the trees of the surfaces, which few collision queries need; return False if they exist already."""
        if self._is_complete:
            return False
        for reference in self._parts:
            parts = reference()
            assert parts is not None
            complete(parts)
        self._is_complete = True
        return True


class BallQueries(Queries):
    """The queries on a mesh and a ball or point by the wide tree of the mesh, which the first query builds."""

    def __init__(self, mesh: Mesh, ball: Shape, order: int) -> None:
        self._mesh, self._ball, self.order = ref(mesh), ball_shape(ball), order

    def roots(self) -> Array:
        """Return the root boxes of both objects in the caller's order."""
        mesh = self._mesh()
        assert mesh is not None
        roots = roots_of(mesh, self._ball)
        return roots[::-1].copy() if self.order == TURNED else roots

    @cached_property
    def _surface(self) -> MeshSurface:
        mesh = self._mesh()
        assert mesh is not None
        return mesh_surface(mesh)

    def meet_rows(self, ma: Array, mb: Array, rows: PoseRows, margin: float, w: TreeScratch, codes: Ints) -> int:
        """Write APART, MEET or HELD for each pose row into ``codes``, and return the last code."""
        return meet_ball(self._surface, self._ball, ma, mb, rows, margin, w, codes)

    def measure_rows(
        self, ma: Array, mb: Array, is_fast: bool, level: int, most: float, x: QueryScratch, out: Array
    ) -> int:  # fmt: skip
        """Write the result rows at pose rows or two matrices into ``out``, and return the last code."""
        query = ball_query(level, most, is_fast, self.order == TURNED)
        return ball_distances(self._surface, self._ball, query, ma, mb, x.rows, x.w, out, x.reports)


def is_by_ball(a: Body, b: Any) -> bool:
    """Return whether a is a mesh and b is a ball or a point, so that `BallQueries` apply."""
    return isinstance(a, Mesh) and is_ball(b)


def tree_queries(a: Body, b: Any, order: int) -> TreeQueries | None:
    """Return the queries by the trees of a pair, or None if a shape has a support function of a user."""
    first, second = a._as_parts(), parts_of(b)
    return None if first.any_mapped or second.any_mapped else TreeQueries(first, second, order)


def queries_of(a: Any, b: Any, order: int) -> Queries | None:
    """Return the compiled queries of a pair in the kernels' order, or None if a shape has a user's support function."""
    return BallQueries(a, b, order) if is_by_ball(a, b) else tree_queries(a, b, order)


def collide(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Return for each pose row whether a body and another object collide or are at most ``margin`` apart.

    A negative margin excludes overlaps that are proven less than ``-margin`` deep.
    """
    order, a, b, rows = _ordered(a, b, rows)
    queries, within = queries_of(a, b, order), max(margin, 0.0)
    if queries is None:
        meets = (_at(a, b, rows, k, order)[0].meet(within) for k in range(rows.total))
        return _deep_enough(a, b, rows, np.fromiter(meets, dtype=bool), margin)
    codes = np.empty(rows.total, dtype=np.int64)

    def run(start: int, stop: int) -> None:
        some = PoseRows(rows.a, rows.b, start, stop)
        queries.meet_rows(NO_POSE, NO_POSE, some, within, tree_scratch(), codes)

    in_chunks(rows.total, rows.workers, run, _CHUNK)
    if (codes == DOUBT).any() and queries.complete():
        in_chunks(rows.total, rows.workers, run, _CHUNK)
    answer: Bools = (codes == MEET) | (codes == HELD)
    left = np.flatnonzero(codes > HELD)
    if margin > 0.0:
        answer[left] = _is_within(a, b, rows, left, margin)
        return answer
    for k in left.tolist():
        answer[k] = _at(a, b, rows, k, order)[0].meet()
    return _deep_enough(a, b, rows, answer, margin)


def _is_within(a: Body, b: Any, rows: Rows, which: Ints, margin: float) -> Bools:
    """Return for each pose row in ``which`` whether the lower bound of the distance is at most a margin."""
    out, flags = empty_answers(len(which))
    if len(which):
        wanted = Wanted(narrow.SIGNED if margin < 0.0 else narrow.UNSIGNED, normals=False)
        solve(a, b, _selected(rows, which), wanted, out, flags)
    return ~(out[:, 1] > margin)


def _deep_enough(a: Body, b: Any, rows: Rows, answer: Bools, margin: float) -> Bools:
    """Return ``answer``, where rows with too little overlap become False if the margin is negative.

    A row has too little overlap if its depth is proven to be less than ``-margin``.
    """
    if margin < 0.0:
        which = np.flatnonzero(answer)
        answer[which] = _is_within(a, b, rows, which, margin)
    return answer


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Write the distances of a body and another object into ``out`` and ``flags``, one row per pose row."""
    check_no_log(wanted)
    order, a, b, rows = _ordered(a, b, rows)
    if not is_by_ball(a, b):
        _solve_by_trees(a, b, rows, order, wanted, out, flags)
        return
    codes = _solve_compiled(BallQueries(a, b, order), rows, wanted, out, flags)
    # a ball that does not fit between walls needs a search for its depth
    left = np.flatnonzero((codes != APART) & (codes != ANSWERED)) if wanted.mode != narrow.UNSIGNED else codes[:0]
    if len(left):
        few, (some, marks) = _selected(rows, left), empty_answers(len(left))
        _solve_by_trees(a, b, few, order, wanted, some, marks)
        out[left], flags[left] = some, marks


def _selected(rows: Rows, which: Ints) -> Rows:
    return Rows(select_rows(rows.a, which), select_rows(rows.b, which), len(which), True, rows.workers)


def _solve_by_trees(a: Any, b: Any, rows: Rows, order: int, wanted: Wanted, out: Array, flags: Ints) -> None:
    queries, unsigned = tree_queries(a, b, order), wanted.mode == narrow.UNSIGNED
    if queries is None:
        overlapping, pending = collide(a, b, rows, 0.0), np.ones(rows.total, dtype=bool)
    else:
        codes = _solve_compiled(queries, rows, wanted, out, flags)
        overlapping, unclear = (codes == MEET) | (codes == HELD), (codes > HELD) & (codes != ANSWERED)
        pending = unclear | (flags[:, 3] != 0)
        for k in np.flatnonzero(unclear).tolist():
            overlapping[k] = _at(a, b, rows, k, order)[0].meet()
    if not unsigned:
        for deep in _depths(a, b, rows, order, np.flatnonzero(overlapping), wanted.mode == FAST):
            _write_overlapping(deep, out, flags)
        pending &= ~overlapping
    # Python solves only rows that the kernels cannot decide: functions of users, columns of a height field that are not
    # deep enough, and bounds that are too wide.
    for k in np.flatnonzero(pending).tolist():
        x, row, turned = _at(a, b, rows, k, order)
        flags[k] = 0
        if overlapping[k]:
            place, normal = x.common_point()
            out[k, :3], out[k, 3:6], out[k, 6:9], out[k, 9:12] = 0.0, normal, place, place
            flags[k, 0], flags[k, 2] = Status.OVERLAPPING, 1
        else:
            flags[k, 0], flags[k, 2] = _write_separated(x.nearest(wanted.max_distance), x.error, out[k])
        _into_world(row, out[k])
        mirror(out, np.array([k]) if turned else False)


def _solve_compiled(queries: Queries, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> Ints:
    """Write the results of the compiled queries into ``out`` and ``flags``, and return the code of each pose row."""
    codes, parts = np.empty(rows.total, dtype=np.int64), np.empty((rows.total, 2), dtype=np.int64)
    level = DEPTHS if wanted.mode != narrow.UNSIGNED else NORMALS if wanted.normals else BOUNDS
    reports = Reports(codes, flags, parts)

    def run(start: int, stop: int) -> None:
        x = QueryScratch(PoseRows(rows.a, rows.b, start, stop), reports, tree_scratch())
        queries.measure_rows(NO_POSE, NO_POSE, wanted.mode == FAST, level, wanted.max_distance, x, out)

    in_chunks(rows.total, rows.workers, run, _CHUNK)
    return codes


class Group(NamedTuple):
    """Two objects in the order of the kernels, at some pose rows."""

    which: Ints  #: numbers of the rows of the query
    a: Any
    b: Any
    ours: Parts  #: parts of a
    theirs: Parts  #: parts of b
    rows_a: Array
    rows_b: Array
    turned: bool  #: whether the objects were swapped


def groups(a: Any, b: Any, rows: Rows, order: int, which: Ints) -> Iterator[Group]:
    """Yield groups of the pose rows ``which``. The objects have the same parts and order at all rows of a group."""
    first, second = (poses[which % len(poses)] for poses in (rows.a, rows.b))
    everywhere = np.arange(len(which))
    orders = [(everywhere, False)]
    # the poses decide a tie, so that (a, b) and (b, a) give the same bits
    if order == TIED:
        later = np.array([p.tolist() > q.tolist() for p, q in zip(first, second, strict=True)], dtype=bool)
        orders = [(np.flatnonzero(~later), False), (np.flatnonzero(later), True)]
    for some, turned in orders:
        x, y, p, q = (b, a, second[some], first[some]) if turned else (a, b, first[some], second[some])
        theirs, turned = parts_of(y), turned or order == TURNED
        for ours, of in parts_near(x, np.full(len(some), theirs.reach), p, q):
            yield Group(which[some[of]], x, y, ours, theirs, p[of], q[of], turned)


def parts_near(x: Body, reaches: Array, rows_x: Array, rows_y: Array) -> list[tuple[Parts, Ints]]:
    """Return a list of sets of parts of x near the object y, each with the indices of the pose rows that it is for.

    A height field without a bottom has different parts at each pose. Every other body has one set for all rows.
    ``reaches`` has for each row the greatest absolute coordinate of y in the frame of y.
    """
    if not isinstance(x, HeightField):
        return [(x._as_parts(), np.arange(len(rows_x)))] if len(rows_x) else []
    near = [
        x._parts_near(float(reach), relative(p, q)[9:12]) for reach, p, q in zip(reaches, rows_x, rows_y, strict=True)
    ]
    return [(ours, np.flatnonzero([candidate is ours for candidate in near])) for ours in dict.fromkeys(near)]


class _Deep(NamedTuple):
    """The depths of one `Group`."""

    which: Ints  #: numbers of the rows of the query
    depths: Array  #: (n, 8), see `gjk3d.bodies.depth.depth`
    errors: Array  #: bounds of the error of positions, (n,)
    rows: Array  #: pose rows of the first object
    turned: bool  #: whether the objects were swapped
    tight: tuple[float, float]  #: promised widths of the bounds, in units of the size and of the error


def _depths(a: Body, b: Any, rows: Rows, order: int, which: Ints, fast: bool = False) -> Iterator[_Deep]:
    """Yield the depths of a pair, group by group, at the pose rows ``which``, at which it overlaps."""
    for x in groups(a, b, rows, order, which):
        tight = (MeshPair if x.a._kind & x.b._kind & Kind.MESH else BodyPair).tight_depth
        m = relatives(x.rows_a, x.rows_b)
        errors = ROUNDING * (x.ours.reach + x.theirs.reach + np.abs(m[:, 9:12]).max(axis=1))
        both = x.ours, x.theirs
        if fast and not (x.ours.any_mapped or x.theirs.any_mapped):
            values = fast_depths(*both, m)
            unclear = np.isnan(values[:, 0])
            if unclear.any():
                values[unclear] = depths_at(*both, m[unclear], rows.workers)
        else:
            values = depths_at(*both, m, rows.workers)
        yield _Deep(x.which, values, errors, x.rows_a, x.turned, tight)


def _into_world(row: Array, out: Array) -> None:
    turn = row[:9].reshape(3, 3)
    for column, shift in ((3, 0.0), (6, row[9:12]), (9, row[9:12])):
        out[column : column + 3] = turn @ out[column : column + 3] + shift


def check_no_log(wanted: Wanted) -> None:
    """Raise an error if a trace is requested."""
    if wanted.log is not None:
        raise UnsupportedPair("trace=True needs two convex shapes, but an object is not convex. Use its hull()")


def _write_separated(gap: Nearest, error: float, out: Array) -> tuple[int, bool]:
    """Write the result row of a separated pair; return its status, and whether its bounds are as narrow as promised."""
    distance, normal = min(max(float(gap.row[0]), gap.lower), gap.upper), gap.row[3:6]
    lower = max(gap.lower, LEAST)
    out[:3], out[3:6] = (max(distance, lower), lower, max(gap.upper, lower)), normal
    out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + out[0] * normal
    promised = TIGHT_CURVED if gap.curved else TIGHT_POLYTOPE
    narrowly = gap.upper - gap.lower <= promised * error / ROUNDING + 4.0 * error
    return int(Status.BEYOND if gap.too_far else Status.SEPARATED), narrowly


def _write_overlapping(deep: _Deep, out: Array, flags: Ints) -> None:
    """Write the results of overlapping rows, but keep the normal of a touching row whose depth may be 0."""
    least, most = deep.depths[:, LEAST_DEPTH], deep.depths[:, MOST]
    if most.max() == inf:
        raise UnsupportedPair(
            "both objects are unbounded, so no translation separates them. Use a large gjk3d.Box for one of them"
        )
    turn = deep.rows[:, None, :9].reshape(-1, 1, 3, 3)
    vectors = (turn * deep.depths[:, NORMAL : PLACE + 3].reshape(-1, 2, 1, 3)).sum(axis=3)  # the normal and the point
    half = (0.5 * most)[:, None] * vectors[:, 0]
    vectors[:, 1] += deep.rows[:, 9:12]
    answer = np.empty((len(most), narrow.FLOATS))
    answer[:, 0] = answer[:, 1] = -most
    answer[:, 2], answer[:, 3:6] = 0.0 - least, vectors[:, 0]
    answer[:, 6:9], answer[:, 9:12] = vectors[:, 1] + half, vectors[:, 1] - half
    mirror(answer, deep.turned)
    relative_width, errors = deep.tight
    # a depth is exact only to the error of positions, which grows with the size of both
    narrowly = most - least <= np.maximum(relative_width * deep.errors / ROUNDING, errors * deep.errors)
    status = flags[deep.which, 0]
    for k in np.flatnonzero((status == Status.TOUCHING) | ((status == Status.UNDECIDED) & narrowly)).tolist():
        if not least[k] > 0.0:
            answer[k, 0], answer[k, 2:9] = max(out[deep.which[k], 0], -most[k]), out[deep.which[k], 2:9]
            answer[k, 9:12] = answer[k, 6:9] + answer[k, 0] * answer[k, 3:6]
    out[deep.which] = answer
    # the objects intersect, so the points coincide up to rounding, independent of the depth
    marks = np.zeros((len(most), narrow.INTS), dtype=np.int64)
    marks[:, 0], marks[:, 2] = np.where(narrowly & ~(least > 0.0), Status.TOUCHING, Status.OVERLAPPING), narrowly
    flags[deep.which] = marks


def prepare(a: Any, b: Any) -> Queries | None:
    """Return the compiled queries of a body and another object.

    The result is None for two height fields without a bottom, or for a shape with a user's support function.
    """
    order = order_of(a, b)
    first, second = (b, a) if order == TURNED else (a, b)
    return None if second._kind == Kind.ENDLESS else queries_of(first, second, order)


_STEP = 1e-7  #: separation at which touching parts are searched, in sizes
_TIE = 1e-9  #: greatest difference of equal distances of parts, in sizes
_SAME_PLACE = 1e-6  #: greatest distance of equal points, in sizes
_SAME_WAY = 1e-6  #: greatest length of the difference of equal normals
_MOST = 64  #: greatest number of parts


class Levers(NamedTuple):
    """The contacts that determine a signed distance, in the world frame with b moved by ``shift``."""

    rows: Array  #: (k, 12) results of the contacts, in the format of `gjk3d.narrow.solve`
    weights: Array  #: (k,) weights for which the sum of the contact normals is the normal of the distance
    shift: Array
    parts: list[tuple[Shape, Array, Shape, Array]]  #: the two parts of each row, and their pose rows
    sure: bool  #: whether exactly these contacts determine the distance


def levers(a: Any, b: Any, row_a: Array, row_b: Array, answer: Array, tight: bool) -> Levers:
    """Return the contacts that determine the signed distance of a body and another object that is not a half-space."""
    if not in_order(a, b, row_a, row_b):
        turned = answer[None].copy()
        mirror(turned, True)
        mirrored = levers(b, a, row_b, row_a, turned[0], tight)
        # the opposite translation moved a instead of b, which is undone for all results
        rows, shift_back = mirrored.rows.copy(), -mirrored.shift
        mirror(rows, True)
        rows[:, 6:9] += shift_back
        rows[:, 9:12] += shift_back
        parts = [(t, _shifted(q, shift_back), s, _shifted(p, shift_back)) for s, p, t, q in mirrored.parts]
        return mirrored._replace(rows=rows, shift=shift_back, parts=parts)
    x = pair_of(a, b, relative(row_a, row_b))
    size = x.error / ROUNDING
    separated = bool(answer[1] > 0.0)
    shift, margin = np.zeros(3), answer[0] + _TIE * size + 4.0 * x.error
    # overlapping bodies do not have nearest points, so B is moved along the normal until the contacts are apart
    if not separated:
        step = _STEP * size
        shift = (step - min(float(answer[0]), 0.0)) * answer[3:6]
        x = x.moved(row_a[:9].reshape(3, 3).T @ shift)
        margin = step * (1.0 + 1e-3) + 4.0 * x.error
    pairs = BodyPair.meeting(x, margin)
    out, _ = x.solve(pairs, narrow.SIGNED)
    some = np.flatnonzero(out[:, 0] <= margin)
    some = some[np.argsort(out[some, 0], kind="stable")][:_MOST]
    pairs, out = pairs[some], out[some]
    first = _distinct(out, _SAME_PLACE * size)
    parts = _parts(x, pairs[first], row_a)
    for column, place in ((3, 0.0), (6, row_a[9:12]), (9, row_a[9:12])):
        out[:, column : column + 3] = out[:, column : column + 3] @ row_a[:9].reshape(3, 3).T + place
    rows = out[first]
    single = len(rows) == 1 and len(some) < _MOST
    if separated or not len(rows):
        if not single:
            return Levers(answer[None], np.ones(1), np.zeros(3), [], False)
        return Levers(rows, np.ones(1), shift, parts, True)
    weights, unique = _weights(rows[:, 3:6], answer[3:6])
    if not unique:
        return Levers(answer[None], np.ones(1), np.zeros(3), [], False)
    return Levers(rows, weights, shift, parts, bool(tight and (weights > _SAME_WAY).all() and len(some) < _MOST))


def _shifted(row: Array, by: Array) -> Array:
    out = row.copy()
    out[9:12] += by
    return out


def _distinct(out: Array, same: float) -> Ints:
    """Return the indices of the result rows whose normal or points differ from those of all rows returned before.

    ``same`` is the greatest distance of equal points.
    """
    distinct: list[int] = []
    for k, row in enumerate(out):
        if not any(
            np.linalg.norm(row[3:6] - out[j, 3:6]) <= _SAME_WAY and np.abs(row[6:12] - out[j, 6:12]).max() <= same
            for j in distinct
        ):
            distinct.append(k)
    return np.array(distinct, dtype=np.int64)


def _parts(x: BodyPair, pairs: Ints, row_a: Array) -> list[tuple[Shape, Array, Shape, Array]]:
    """Return for each pair its part of a, the pose row of this part in the world, and the same for its part of b."""
    placed_a = composed(row_a, packed_parts(x.a.given, pairs[:, 0]).rows)
    placed_b = composed(row_a, composed(x.m, packed_parts(x.b.given, pairs[:, 1]).rows))
    return [(x.a.shape(i), p, x.b.shape(j), q) for (i, j), p, q in zip(pairs.tolist(), placed_a, placed_b, strict=True)]


def _weights(normals: Array, direction: Array) -> tuple[Array, bool]:
    """Return weights of at least 0 for which the weighted normals sum to ``direction``, and whether they are unique."""
    if (np.linalg.norm(normals - direction, axis=1) <= 1e-4).all():
        return np.full(len(normals), 1.0 / len(normals)), len(normals) == 1
    from scipy.optimize import nnls  # loaded here, since few overlaps have more than one contact

    weights, residual = nnls(normals.T, direction)
    return weights, residual <= 1e-4 and int((weights > 0.0).sum()) == np.linalg.matrix_rank(normals, tol=1e-6)
