"""Two bodies at one relative pose: candidate parts, collision, nearest parts.

The traversals of `tree_collision` and `tree_distance` compute the results. They do not call functions of users, and
their workspace does not grow. For bodies with functions of users, and for undecided pairs, boxes select a few pairs of
parts, which are solved as a batch of convex shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import ORDERED, STACK, Parts, packed_parts
from gjk3d.bodies.bvh import traversal_stack
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import holds
from gjk3d.bodies.parts import Triangles, complete
from gjk3d.bodies.touching_bodies import distance_rows
from gjk3d.bodies.tree_collision import (
    APART,
    DEEP,
    DOUBT,
    HELD,
    MEET,
    PoseRows,
    TreePair,
    crossings,
    cuts,
    held_at,
    meet_rows,
    meeting_parts,
    most_through,
    solve_parts,
    tree_scratch,
)
from gjk3d.bodies.tree_distance import BOUNDS, SHORT, TIGHT_POLYTOPE, Reports, distance_query, nearest_triangles
from gjk3d.broad import box_gaps
from gjk3d.convex.batch import NO_POSE, PackedShapes, Wanted, empty_answers
from gjk3d.convex.solve import convex_handlers
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.solve import PAIR
from gjk3d.poses import IDENTITY, ROUNDING, WIDTH, composed, moved, moved_back, relative
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_FIRST, _MOST_EACH = 64, 4096  #: pairs in the first call of the kernels, and in the largest call
_ROOM, _MORE_ROOM = 256, 1024  #: pairs of parts and of triangles that fit into the first list
MOST_PAIRS = 2**26  #: greatest number of listed pairs of intersecting faces, which take a gigabyte
_LOOKED_AT = 4096  #: greatest number of pairs of intersecting faces for the middle of their segments
HOLDS = 5  #: code in addition to those of `tree_collision`: the first mesh contains the second
_EX = np.array([1.0, 0.0, 0.0])


class Nearest(NamedTuple):
    """Bounds of the distance of two bodies, and the result that proves them."""

    lower: float
    upper: float
    row: Array  #: result of `gjk3d.narrow.solve` for the nearest pair of parts, in the frame of the first body
    parts: tuple[int, int]  #: indices of the nearest parts of the first and of the second body
    curved: bool = False  #: whether the promised bounds are those of curved parts, which are wider
    too_far: bool = False  #: whether the bodies are proven farther apart than the limit of the query


class HeldPoint(NamedTuple):
    """A point of a body that is inside a closed surface of the other body."""

    by: int  #: 1 if the surface is of the first body, 2 if it is of the second body
    point: Array  #: in the frame of the first body


class _Shapes(Sequence[Shape]):
    """The shapes of some parts of both bodies. Each shape is created on access."""

    def __init__(self, a: Parts, which_a: Ints, b: Parts, which_b: Ints) -> None:
        self._of = a, which_a, b, which_b

    def __len__(self) -> int:
        return len(self._of[1]) + len(self._of[3])

    def __getitem__(self, k: Any) -> Any:
        a, which_a, b, which_b = self._of
        return a.shape(int(which_a[k])) if k < len(which_a) else b.shape(int(which_b[k - len(which_a)]))


class BodyPair:
    """Two bodies, where m is the pose row of b in a's frame.

    Pairs of parts are an array (k, 2). A row has the index of a part of a, then the index of a part of b.
    """

    #: promised widths of bounds in overlap, in units of the size and of the error
    tight_depth = 1e-9, 16.0

    def __init__(self, a: Parts, b: Parts, m: Array) -> None:
        self.a, self.b, self.m = a, b, m
        away: float = max(map(abs, m[9:12].tolist()))
        self.error = ROUNDING * (a.reach + b.reach + away)  #: bound of the error of a point relative to the other body
        self.in_kernels = not (a.any_mapped or b.any_mapped)

    def moved(self, shift: Array) -> BodyPair:
        """Return the pair with b translated by ``shift`` in a's frame."""
        m = self.m.copy()
        m[9:12] += shift
        return type(self)(self.a, self.b, m)

    @property
    def rows(self) -> tuple[Array, Array]:
        """The pose rows of both bodies in a's frame."""
        row = np.zeros((1, WIDTH))
        row[0, :12] = self.m[:12]
        return IDENTITY, row

    @property
    def _trees(self) -> TreePair:
        return TreePair(complete(self.a), complete(self.b), ORDERED)

    # --- pairs of parts -------------------------------------------------------------------------------------------

    def _listed(self, within: float, exact: bool, most: int | None = None) -> Ints:
        rows_a, rows_b = self.rows
        trees = self.a.given, self.b.given, rows_a[0], rows_b[0], float(within), exact, tree_scratch()
        return grown(lambda pairs: meeting_parts(*trees, pairs), _ROOM, most)

    def candidates(self, within: float) -> Ints:
        """Return the pairs of parts, (k, 2), whose leaves have boxes that are at most ``within`` apart."""
        return self._listed(within, False)

    def gaps(self, pairs: Ints) -> Array:
        """Return lower bounds of the distances of pairs of parts by their boxes, (k,)."""
        return box_gaps(self.a.boxes(pairs[:, 0]), self.b.boxes_at(pairs[:, 1], self.m))

    def _packed_pairs(self, pairs: Ints) -> tuple[PackedShapes, Ints, Ints, Array]:
        which_a, at_a = np.unique(pairs[:, 0], return_inverse=True)
        which_b, at_b = np.unique(pairs[:, 1], return_inverse=True)
        packed_a, packed_b = packed_parts(self.a.given, which_a), packed_parts(self.b.given, which_b)
        mapped = np.concatenate([self.a.mapped(which_a), self.b.mapped(which_b)])
        batch = PackedShapes(
            np.concatenate([packed_a.ints, packed_b.ints]), np.concatenate([packed_a.floats, packed_b.floats]), mapped,
            _Shapes(self.a, which_a, self.b, which_b), convex_handlers,
        )  # fmt: skip
        starts = np.concatenate([packed_a.starts, packed_b.starts + (len(packed_a.ints), len(packed_a.floats))])
        local = np.column_stack([at_a, len(which_a) + at_b])
        rows = np.concatenate([packed_a.rows, composed(self.m, packed_b.rows)])
        return batch, local, _table(starts, local), rows

    def solve(self, pairs: Ints, mode: int, most: float = inf) -> tuple[Array, Ints]:
        """Return the result row of each pair of parts in the format of `gjk3d.narrow.solve`, and its row of flags."""
        out, flags = empty_answers(len(pairs))
        if self.in_kernels:
            rows_a, rows_b = self.rows
            pairs = np.ascontiguousarray(pairs)
            solve_parts(self.a.given, self.b.given, rows_a[0], rows_b[0], pairs, mode, tree_scratch(), out, flags)
        self.solve_again(pairs, mode, out, flags, most)
        return out, flags

    def solve_again(self, pairs: Ints, mode: int, out: Array, flags: Ints, most: float = inf) -> None:
        """Compute the rows whose bounds are wider than promised again, with as much memory as needed."""
        again = flags[:, 2] == 0
        if again.any():
            batch, local, table, rows = self._packed_pairs(pairs[again])
            out[again], flags[again] = batch.solve(local, table, rows, Wanted(mode, most))

    def hits(self, pairs: Ints, margin: float = 0.0) -> Bools:
        """Return which pairs of parts are not proven farther apart than ``margin``, (k,)."""
        if not len(pairs):
            return np.zeros(0, dtype=bool)
        batch, local, table, rows = self._packed_pairs(pairs)
        return batch.collide(local, table, rows, margin + self.error)

    def _curved(self, pair: Ints) -> bool:
        """Return whether at least one part of the pair is not a polytope."""
        packed = packed_parts(self.a.given, pair[:1]), packed_parts(self.b.given, pair[1:])
        return any(part.ints[part.starts.item(0) + layout.POLYTOPE] == 0 for part in packed)

    # --- results -------------------------------------------------------------------------------------------------

    def meeting(self, margin: float = 0.0, most: int | None = None) -> Ints:
        """Return at most ``most`` pairs of parts that touch, overlap, or are at most ``margin`` apart."""
        if self.in_kernels:
            return self._listed(margin, True, most)
        left, size = self.candidates(margin), _FIRST
        pairs = [left[:0]]
        while len(left) and (most is None or sum(map(len, pairs)) < most):
            some, left = left[:size], left[size:]
            pairs.append(some[self.hits(some, margin)])
            size = min(4 * size, _MOST_EACH)
        return np.concatenate(pairs)[:most]

    def held(self) -> HeldPoint | None:
        """Return a point of one body inside a closed surface of the other body, or None."""
        if self.in_kernels:
            (rows_a, rows_b), scratch = self.rows, tree_scratch()
            code = held_at(*self._trees[:2], rows_a[0], rows_b[0], scratch)
            return HeldPoint(1 + scratch.flags.item(0), scratch.out[0, 6:9].copy()) if code == HELD else None
        # functions of users cannot run in the kernel, so one point of each piece is tested in Python
        for by, host, guest in ((1, self.a, self.b), (2, self.b, self.a)):
            solids = host.solids
            if not solids:
                continue
            points = guest.points()
            local = moved(self.m, points) if by == 1 else moved_back(self.m, points)
            for mesh, row in solids:
                within = np.flatnonzero(holds(mesh, moved_back(row, local)))
                if len(within):
                    return HeldPoint(by, local[within[0]] if by == 1 else points[within[0]])
        return None

    def meet(self, margin: float = 0.0) -> bool:
        """Return whether the bodies touch, overlap, or are at most ``margin`` apart, where ``margin`` >= 0."""
        code = DOUBT
        if self.in_kernels:
            answer = np.empty(1, dtype=np.int64)
            rows = PoseRows(*self.rows, 0, 1)
            code = meet_rows(self._trees, NO_POSE, NO_POSE, rows, float(margin), tree_scratch(), answer)
        if code == DOUBT and self.in_kernels and margin > 0.0:
            return self.nearest().lower <= margin or self.held() is not None
        if code != DOUBT:
            # a body below the bottom of the columns is inside an unbounded field, or counts as inside
            return code in (MEET, HELD, DEEP)
        return len(self.meeting(margin, 1)) > 0 or self.held() is not None

    def nearest(self, most: float = inf) -> Nearest:
        """Return bounds of the distance of two separated bodies. Bounds beyond ``most`` are coarse."""
        if self.in_kernels:
            parts, (out, flags) = np.zeros((1, 2), dtype=np.int64), empty_answers(1)
            distance_rows(
                self._trees, distance_query(False, BOUNDS, float(most)), NO_POSE, NO_POSE,
                PoseRows(*self.rows, 0, 1), tree_scratch(), out,
                Reports(np.empty(1, dtype=np.int64), flags, parts),
            )  # fmt: skip
            if not flags[0, 3]:
                row = out[0]
                curved, too_far = self._curved(parts[0]), flags[0, 0] == narrow.BEYOND
                return Nearest(row.item(1), row.item(2), row, (parts.item(0), parts.item(1)), curved, too_far)
        return self._nearest_of_lists(most)

    def _nearest_of_lists(self, most: float) -> Nearest:
        """Return the result of `nearest`, computed from lists of the pairs within growing distances."""
        within = self.error
        while not len(block := self.candidates(within)):
            within = max(4.0 * within, 1e-3 * (self.a.reach + self.b.reach))
        # the upper bound for the pairs with the least gaps limits the search radius for all others
        gaps = self.gaps(block)
        first = block[gaps.argsort(kind="stable")[:_FIRST]]
        out, _ = self.solve(first, narrow.UNSIGNED)
        reach = min(float(out[:, 2].min()), most) * (1.0 + 1e-12)
        block = self.candidates(reach)
        start, lowest = 0, inf
        best, pair = out[out[:, 2].argmin()], first[out[:, 2].argmin()]
        while start < len(block):
            some = block[start : start + _MOST_EACH]
            out, _ = self.solve(some, narrow.UNSIGNED, reach)
            lowest, k = min(lowest, float(out[:, 1].min())), int(out[:, 2].argmin())
            if out[k, 2] < best[2]:
                best, pair = out[k], some[k]
            start += _MOST_EACH
        lower, upper = min(lowest, float(best[2])), float(best[2])
        too_far = lower > most + self.error
        lower = float(np.nextafter(most, inf)) if too_far else max(0.0, lower - self.error)
        return Nearest(lower, upper + self.error, best, (int(pair[0]), int(pair[1])), self._curved(pair), too_far)

    # --- in overlap ----------------------------------------------------------------------------------------------

    def common_point(self) -> tuple[Array, Array]:
        """Return a common point of two intersecting bodies, and the contact normal of two parts at it, in a's frame.

        If a point of one body is inside a closed surface of the other body, it is returned with the x axis as normal.
        """
        inner = self.held()
        if inner is not None:
            return inner.point, _EX
        pairs = self.meeting(0.0, 1)
        if not len(pairs):
            row = self.nearest().row
            return row[6:9], row[3:6]
        return self.common_point_of(pairs[0]), self.solve(pairs, narrow.SIGNED)[0][0, 3:6]

    def common_point_of(self, pair: Ints) -> Array:
        """Return a common point of a pair of intersecting parts in a's frame."""
        return self.solve(pair[None], narrow.UNSIGNED)[0][0, 6:9]

    def deepest(self) -> tuple[Ints, Array]:
        """Return the deepest pair of parts, (1, 2), and its result row. Both are empty if no parts intersect."""
        pairs = self.meeting()
        out, _ = self.solve(pairs, narrow.SIGNED)
        first = out[:, 2].argsort(kind="stable")[:1]
        return pairs[first], out[first].ravel()

    def place(self, hulls: Array | None) -> Array:
        """Return a point of the overlap in a's frame. ``hulls`` is the result row of the two hulls, if known."""
        inner = self.held()
        if inner is not None:
            return inner.point
        row = self.nearest().row if hulls is None else hulls
        return 0.5 * (row[6:9] + row[9:12])


def _table(starts: Ints, pairs: Ints) -> Ints:
    """Return the table of the kernels for ``pairs``, which has two part indices per row.

    For each part of a pair, the table has the row of ``starts``, which is where the data of the part begin, and the
    index of its pose row.
    """
    table = np.zeros((len(pairs), PAIR), dtype=np.int64)
    table[:, :2], table[:, 3] = starts[pairs[:, 0]], pairs[:, 0]
    table[:, 5:7], table[:, 8] = starts[pairs[:, 1]], pairs[:, 1]
    table[:, 7] = 1  # the order is that of the bodies
    return table


def grown(list_pairs: Callable[[Ints], int], room: int, most: int | None = None) -> Ints:
    """Return the pairs that a kernel lists, at most ``most``.

    The array for the pairs has ``room`` rows at first, and grows until it has room for all pairs.
    """
    room = min(room, most or room)
    while True:
        pairs = np.empty((room, 2), dtype=np.int64)
        count = list_pairs(pairs)
        if count <= room or room == most:
            return pairs[: min(count, room)]
        if room >= MOST_PAIRS:
            raise too_many()
        room = min(8 * room, most or MOST_PAIRS)


def too_many() -> UnsupportedPair:
    """Return the error for more pairs of intersecting faces than can be listed."""
    return UnsupportedPair(
        f"more than {MOST_PAIRS} pairs of faces intersect, the most that can be listed. Remove coincident faces."
    )


class MeshPair(BodyPair):
    """Two meshes. The kernels for two trees compute the intersecting and the nearest triangles."""

    a: Triangles
    b: Triangles
    tight_depth = 1e-12, 8.0

    @classmethod
    def of(cls, a: Mesh, b: Mesh, m: Array) -> MeshPair:
        """Return a pair of meshes, where m is the pose of b in a's frame."""
        first, second = a._as_parts(), b._as_parts()
        assert isinstance(first, Triangles)
        assert isinstance(second, Triangles)
        return cls(first, second, m)

    def _crossing(self, most: int | None = None) -> Ints:
        """Return at most ``most`` pairs of triangles that touch or cross, numbered as in the trees, (k, 2)."""
        trees = tuple(self.m.tolist()), self.error, self.a.tree.arrays, self.b.tree.arrays, traversal_stack()
        return grown(lambda pairs: crossings(*trees, pairs), _MORE_ROOM, most)

    def surfaces_meet(self) -> bool:
        """Return whether the surfaces touch or cross, up to rounding."""
        return len(self._crossing(1)) > 0

    def meeting(self, margin: float = 0.0, most: int | None = None) -> Ints:
        """Return at most ``most`` pairs of triangles that touch or cross, numbered as in the trees, (k, 2).

        The pairs are sorted by the indices of their faces in the meshes. The margin is ignored.
        """
        pairs = self._crossing(most)
        return pairs[np.lexsort((self.b.tree.order[pairs[:, 1]], self.a.tree.order[pairs[:, 0]]))]

    def meeting_faces(self, most: int | None = None) -> Ints:
        """Return at most ``most`` sorted pairs of indices of faces that touch or cross, (k, 2)."""
        pairs = self.meeting(0.0, most)
        return np.column_stack([self.a.tree.order[pairs[:, 0]], self.b.tree.order[pairs[:, 1]]])

    def cut(self, most: int | None = None) -> Array:
        """Return the segments in which faces intersect, (k, 2, 3), in a's frame, for at most ``most`` pairs."""
        pairs = self._crossing(most)
        out = np.empty((len(pairs), 6))
        count = cuts(tuple(self.m.tolist()), self.a.tree.corners, self.b.tree.corners, pairs, out)
        return out[:count].reshape(-1, 2, 3)

    def through(self, most: int | None = None) -> float:
        """Return the greatest penetration of two faces, 0 for a touch, over at most ``most`` crossing pairs.

        The surfaces still cross after any motion that is shorter than the result.
        """
        pairs = self._crossing(most)
        reach = most_through(tuple(self.m.tolist()), self.a.tree.corners, self.b.tree.corners, pairs)
        return float(max(0.0, reach - self.error))

    def gap(self, most: float = inf) -> Nearest | None:
        """Return bounds of the distance of surfaces that do not intersect, or None if it is above ``most``."""
        seed, out, keys = np.array([-1, -1], dtype=np.int64), np.empty(8), np.empty(STACK)
        trees = self.a.tree.arrays, self.b.tree.arrays
        limit = min(most * (1.0 + 1e-12), 1e150)
        if not nearest_triangles(tuple(self.m.tolist()), limit, *trees, traversal_stack(), keys, seed, out):
            return None
        lower, upper = max(0.0, float(out[0]) - self.error), float(out[1]) + self.error
        between = out[5:8] - out[2:5]
        length = float(np.linalg.norm(between))
        if self.error > SHORT * length:
            between = self.solve(seed[None], narrow.UNSIGNED)[0][0, 3:6]
        normal = between / np.linalg.norm(between)
        row = np.concatenate([[length, lower, upper], normal, out[2:8]])
        return Nearest(lower, upper, row, (int(seed[0]), int(seed[1])))

    def nearest(self, most: float = inf) -> Nearest:
        """Return bounds of the distance of two separated meshes. Bounds beyond ``most`` are coarse."""
        gap = self.gap(most)
        if gap is None:
            gap = self.gap()
            assert gap is not None
            return gap._replace(too_far=gap.lower > most)
        if gap.upper - gap.lower > TIGHT_POLYTOPE * self.error / ROUNDING:
            # rounding rotates the segment between very near points of needles, so GJK is more exact
            thorough = super().nearest(most)
            best = thorough if thorough.upper < gap.upper else gap
            gap = best._replace(lower=max(gap.lower, thorough.lower))
        return gap

    def faces_of(self, nearest: Nearest) -> tuple[int, int]:
        """Return the index of the face of a, and of the face of b, that have the nearest points."""
        return int(self.a.tree.order[nearest.parts[0]]), int(self.b.tree.order[nearest.parts[1]])

    # --- in overlap ----------------------------------------------------------------------------------------------

    def place(self, hulls: Array | None) -> Array:
        """Return a point of the overlap in a's frame, the mean of some intersection segments if there are any."""
        segments = self.cut(_LOOKED_AT)
        if len(segments):
            middle: Array = segments.mean(axis=(0, 1))
            return middle
        return super().place(hulls)


def meet_many(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array) -> Ints:
    """Return the code of two meshes at each pose row: MEET, HELD (b contains a), HOLDS (a contains b), or APART."""
    codes, rows = np.full(len(rows_a), APART), PoseRows(rows_a, rows_b, 0, len(rows_a))
    bodies = a._as_parts(), b._as_parts()
    trees = TreePair(bodies[0].given, bodies[1].given, ORDERED)
    meet_rows(trees, NO_POSE, NO_POSE, rows, 0.0, tree_scratch(), codes)
    if DOUBT in codes:
        for body in bodies:
            complete(body)
        meet_rows(trees, NO_POSE, NO_POSE, rows, 0.0, tree_scratch(), codes)
    for k in np.flatnonzero(codes == HELD).tolist():
        inner = MeshPair.of(a, b, relative(rows_a[k], rows_b[k])).held()
        codes[k] = HOLDS if inner is not None and inner.by == 1 else HELD
    return codes
