"""Two meshes, tested by the trees of both: the queries of a pair of bodies, and one kernel for many poses.

All results are in the frame of the first mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies import mesh_trees
from gjk3d.bodies.bvh import BOX, traversal_stack, tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_trees import TriangleTree, box_pose, boxes_apart, crossings
from gjk3d.bodies.pair import BodyPair, Nearest
from gjk3d.bodies.part_tree import TIED, TURNED, order_of
from gjk3d.bodies.parts import Triangles
from gjk3d.bodies.tree_collision import CLOSE
from gjk3d.bodies.tree_distance import SHORT, TIGHT_POLYTOPE
from gjk3d.errors import UnsupportedPair
from gjk3d.geometry.vec3 import Rigid, place, row3
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import relative_pose
from gjk3d.narrow.pairs import take_poses
from gjk3d.poses import ROUNDING, WIDTH, relative
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

MOST_PAIRS = 2**26  #: greatest number of listed pairs of intersecting faces, which take a gigabyte
_LOOKED_AT = 4096  #: greatest number of pairs of intersecting faces for the middle of their segments


def too_many() -> UnsupportedPair:
    """Return the error for more pairs of intersecting faces than can be listed."""
    return UnsupportedPair(f"more than {MOST_PAIRS} pairs of faces intersect. Remove coincident faces of the meshes")


class MeshPair(BodyPair):
    """Two meshes, whose intersecting and nearest triangles are computed by the kernels for two trees."""

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

    def _crossing(self, room: int, most: int | None = None) -> Ints:
        """Return the pairs of triangles that touch or cross, at most ``most``."""
        pose, trees = tuple(self.m.tolist()), (self.a.tree.arrays, self.b.tree.arrays)
        while True:
            pairs = np.empty((room, 2), dtype=np.int64)
            count = crossings(pose, self.error, *trees, traversal_stack(), pairs)
            if count <= room or room == most:
                return pairs[: min(count, room)]
            if room >= MOST_PAIRS:
                raise too_many()
            room = min(8 * room, most or MOST_PAIRS)

    def surfaces_meet(self) -> bool:
        """Return whether the surfaces touch or cross, up to rounding."""
        return len(self._crossing(1, 1)) > 0

    def meet(self, margin: float = 0.0) -> bool:
        """See `BodyPair`."""
        if self.surfaces_meet() or self.held() is not None:
            return True
        if not margin > 0.0:
            return False
        gap = self.gap(margin + CLOSE * self.error / ROUNDING)
        return gap is not None and (gap.upper <= margin or self.nearest().lower <= margin)

    def meeting(self, margin: float = 0.0, most: int | None = None) -> Ints:
        """Return the pairs of triangles that touch or cross, in the order of their faces, at most ``most``.

        The margin is ignored.
        """
        pairs = self._crossing(min(1024, most or 1024), most)
        return pairs[np.lexsort((self.b.tree.order[pairs[:, 1]], self.a.tree.order[pairs[:, 0]]))]

    def meeting_faces(self, most: int | None = None) -> Ints:
        """Return the pairs of faces that touch or cross, in the order of their numbers, (k, 2), at most ``most``."""
        pairs = self.meeting(0.0, most)
        return np.column_stack([self.a.tree.order[pairs[:, 0]], self.b.tree.order[pairs[:, 1]]])

    def cut(self, most: int | None = None) -> Array:
        """Return the segments in which faces intersect, (k, 2, 3), for at most ``most`` pairs."""
        pairs = self._crossing(min(1024, most or 1024), most)
        out = np.empty((len(pairs), 6))
        count = mesh_trees.cuts(tuple(self.m.tolist()), self.a.tree.corners, self.b.tree.corners, pairs, out)
        return out[:count].reshape(-1, 2, 3)

    def through(self, most: int | None = None) -> float:
        """Return the greatest depth of faces in each other, 0 for a touch, for at most ``most`` pairs.

        After any smaller motion, the surfaces still cross.
        """
        pairs = self._crossing(min(1024, most or 1024), most)
        reach = mesh_trees.most_through(tuple(self.m.tolist()), self.a.tree.corners, self.b.tree.corners, pairs)
        return float(max(0.0, reach - self.error))

    def gap(self, most: float = inf) -> Nearest | None:
        """Return the distance of surfaces that do not intersect, or None beyond ``most``."""
        seed, out, keys = np.array([-1, -1], dtype=np.int64), np.empty(8), np.empty(mesh_trees.STACK)
        trees = self.a.tree.arrays, self.b.tree.arrays
        limit = min(most * (1.0 + 1e-12), 1e150)
        if not mesh_trees.nearest_triangles(tuple(self.m.tolist()), limit, *trees, traversal_stack(), keys, seed, out):
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
        """See `BodyPair`."""
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
        """Return the faces of the nearest points."""
        return int(self.a.tree.order[nearest.parts[0]]), int(self.b.tree.order[nearest.parts[1]])

    # --- in overlap ----------------------------------------------------------------------------------------------

    def place(self, hulls: Array | None) -> Array:
        """See `BodyPair`."""
        segments = self.cut(_LOOKED_AT)
        if len(segments):
            middle: Array = segments.mean(axis=(0, 1))
            return middle
        return super().place(hulls)

    def moved(self, shift: Array) -> MeshPair:
        """See `BodyPair`."""
        pair = super().moved(shift)
        assert isinstance(pair, MeshPair)
        return pair


APART, MEET, HOLDS, HELD = range(4)
MAYBE, NO_POSE = -1, -2
REACH, RADIUS = BOX, BOX + 1  #: columns of `root_of`
_ORIGIN = np.zeros(9)  #: centre of a core at the origin of its frame, for `relative_pose`


@kernel
def _any_in_box(m: Rigid, points: Array, low_high: Array, pad: float) -> bool:
    for k in range(points.shape[0]):
        u, v, w = place(m, row3(points, k))
        if (
            low_high[0, 0] - pad <= u <= low_high[1, 0] + pad
            and low_high[0, 1] - pad <= v <= low_high[1, 1] + pad
            and low_high[0, 2] - pad <= w <= low_high[1, 2] + pad
        ):
            return True
    return False


class MeshBodies(NamedTuple):
    """A mesh in the format of `meet_rows`."""

    tree: TriangleTree
    points: Array2  #: a point of each connected body
    box: Array2  #: least and greatest corner, (2, 3)
    reach: float  #: greatest coordinate


@entry
def meet_rows(
    a: MeshBodies, b: MeshBodies, rows_a: Array2, rows_b: Array2, first: bool, stack: Ints2, pairs: Ints2, out: Ints1
) -> None:
    """Write a code for two meshes at each pair of poses: MEET, MAYBE if one may contain the other, or APART."""
    for k in range(rows_a.shape[0]):
        m = relative_pose(rows_a[k], _ORIGIN, rows_b[k], _ORIGIN)
        noise = ROUNDING * (a.reach + b.reach + max(abs(m[9]), abs(m[10]), abs(m[11])))
        if crossings(m, noise, a.tree, b.tree, stack, pairs) > 0:
            out[k] = MEET
            if first:
                return
        # Containment is possible only if a point of a body is in the other box. Python then decides exactly.
        elif _any_in_box(m, b.points, a.box, noise) or _any_in_box(
            relative_pose(rows_b[k], _ORIGIN, rows_a[k], _ORIGIN), a.points, b.box, noise
        ):
            out[k] = MAYBE


@inlined
def _roots_apart(m: Rigid, roots: Array, a: int, b: int, more: float) -> bool:
    """Return whether the root boxes of two meshes, or the balls around them, are farther apart than a distance."""
    to = box_pose(m, roots, a, roots, b)
    far = roots[a, RADIUS] + roots[b, RADIUS] + more
    if to[9] * to[9] + to[10] * to[10] + to[11] * to[11] > far * far:
        return True
    x, y, z = roots[a, 3] + more, roots[a, 4] + more, roots[a, 5] + more
    return bool(boxes_apart(to, x, y, z, roots[b, 3], roots[b, 4], roots[b, 5]))


@entry
def roots_apart(
    rows: Array2, at: Ints2, roots: Array2, which: Ints2, margin: float, rounding: float, out: Ints1
) -> None:  # fmt: skip
    """Write which pairs of meshes are farther apart than a margin, by their roots (`root_of`).

    ``at`` are their pose rows, and ``which`` their rows of ``roots``.
    """
    for k in range(at.shape[0]):
        a, b = which[k, 0], which[k, 1]
        m = relative_pose(rows[at[k, 0]], _ORIGIN, rows[at[k, 1]], _ORIGIN)
        reach = roots[a, REACH] + roots[b, REACH] + max(abs(m[9]), abs(m[10]), abs(m[11]))
        out[k] = _roots_apart(m, roots, a, b, margin + rounding * reach)


@entry
def matrices_apart(ma: Array2, mb: Array2, roots: Array2, rounding: float, rows: Array2) -> int:
    """Return APART or MAYBE for two meshes at two matrices by their ``roots``, or NO_POSE if a matrix is not a pose.

    ``rows`` receives the poses.
    """
    # one array for all results, since passing an array costs as much time as the rest of the function
    if not take_poses(ma, mb, rows):
        return NO_POSE
    m = relative_pose(rows[0], _ORIGIN, rows[1], _ORIGIN)
    reach = roots[0, REACH] + roots[1, REACH] + max(abs(m[9]), abs(m[10]), abs(m[11]))
    return APART if _roots_apart(m, roots, 0, 1, 2.0 * rounding * reach) else MAYBE


def root_of(mesh: Mesh) -> Array:
    """Return the box of the whole mesh, its greatest coordinate, and the radius of the ball about the box's centre."""
    return mesh._cached("root", lambda: _root_of(mesh))


def _root_of(mesh: Mesh) -> Array:
    tree = tree_of(mesh)
    away = tree.corners.reshape(-1, 3) - tree.boxes[0, :3]
    radius = float(np.sqrt((away * away).sum(axis=1).max())) * (1.0 + 1e-15)
    return np.concatenate([tree.boxes[0], [tree.reach, radius]])


def _with_bodies(mesh: Mesh) -> MeshBodies:
    """Return a mesh in the format of `meet_rows`, with writable arrays as entries require."""
    tree = tree_of(mesh)
    points_and_box = mesh._cached("bodies and box", lambda: (mesh._body_points.copy(), mesh.bounds.copy()))
    return MeshBodies(tree.arrays, *points_and_box, tree.reach)


def _room_for_one() -> Ints:
    return np.empty((1, 2), dtype=np.int64)


def meet_many(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array, first: bool = False) -> Ints:
    """Return the code of two meshes at each pair of poses, (k, 12) each.

    The code is MEET for intersecting surfaces, HOLDS if a contains b, HELD if b contains a, and APART otherwise. With
    ``first`` the codes are complete only up to the first row that intersects.
    """
    out = np.zeros(len(rows_a), dtype=np.int64)
    meet_rows(_with_bodies(a), _with_bodies(b), rows_a, rows_b, first, traversal_stack(), _room_for_one(), out)
    if not (first and (out == MEET).any()):
        for k in np.flatnonzero(out == MAYBE):
            out[k] = _holder(a, b, rows_a[k], rows_b[k])
    return out


def _holder(a: Mesh, b: Mesh, row_a: Array, row_b: Array) -> int:
    inner = MeshPair.of(a, b, relative(row_a, row_b)).held()
    return APART if inner is None else HOLDS if inner.by == 1 else HELD


def prepared_meshes(a: Mesh, b: Mesh) -> Callable[[Any, Any, Array, Array, float], bool | None]:
    """Return the compiled `gjk3d.collide` of two meshes at two matrices (`gjk3d.convex.solve.Quick`)."""
    order = order_of(a, b)
    first, second = (b, a) if order == TURNED else (a, b)
    roots, bodies = np.stack([root_of(first), root_of(second)]), (_with_bodies(first), _with_bodies(second))

    def collide(a: Any, b: Any, matrix_a: Array, matrix_b: Array, margin: float) -> bool | None:
        if margin != 0.0:
            return None
        if order == TURNED:
            a, b, matrix_a, matrix_b = b, a, matrix_b, matrix_a
        rows = np.empty((2, WIDTH))
        code = matrices_apart(matrix_a, matrix_b, roots, ROUNDING, rows)
        if code != MAYBE:
            return None if code == NO_POSE else False
        if order == TIED and rows[0].tolist() > rows[1].tolist():
            return bool(meet_many(b, a, rows[1:], rows[:1])[0] != APART)
        out = np.array([APART])
        meet_rows(*bodies, rows[:1], rows[1:], False, traversal_stack(), _room_for_one(), out)
        return bool(out[0] == MEET) if out[0] != MAYBE else _holder(a, b, rows[0], rows[1]) != APART

    return collide
