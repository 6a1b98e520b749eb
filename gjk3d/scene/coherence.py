"""The cache of a scene, and warm starts of EPA.

A scene caches its pairs with near boxes, and for each pair a separating axis or the nearest faces of EPA. A query tries
the cached axis or faces first, and uses them only if they prove its result. The boxes of the cached pairs are enlarged
by a distance. When an object has moved farther, the pairs are searched again.

EPA's last surface is closed, encloses the origin, and has points of A - B as corners. Each corner is the difference of
a point of A and a point of B. After a motion the differences of the same points are again in A - B, so only the shape
of the surface changes. If no point moved by more than m, each face is at most m nearer to the origin than before. Only
the few nearest faces are stored and moved. All other faces were at least a stored distance from the origin, and are now
at least this distance minus m from it.

The surface still encloses the origin: while its points move along straight lines, the origin cannot cross a face whose
distances from the origin before and after the motion are more than m in total.

The nearest face proves a lower bound of the depth, and the support point along its normal an upper bound. If these two
bounds differ by too much, the query runs without the cache.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.broad import HEIGHT, near
from gjk3d.convex.batch import either, empty_answers, in_chunks
from gjk3d.engine.pairs import ShapeStore
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Vec3,
    cross,
    dot,
    offset,
    perpendicular,
    place,
    sub,
    triangle_normal,
    turn_back,
)
from gjk3d.narrow.cores import Cores, support_pair
from gjk3d.narrow.epa import CLOSED, OUTSIDE, Depth, polytope_in
from gjk3d.narrow.gjk import AXIS, set_row
from gjk3d.narrow.solve import (
    BEYOND,
    SIGNED,
    WIDTH_POLYTOPE,
    Estimate,
    PairRows,
    Query,
    at_common_point,
    cores_of_row,
    mirror,
    penetrate,
    quick_collide,
    report,
    solve,
)
from gjk3d.narrow.workspace import FIRST_POINTS, Workspace, capacity, workspace_of
from gjk3d.scene.objects import Objects
from gjk3d.scene.pairs import COLLIDING, NO_RANK, SEPARATED, UNSURE
from gjk3d.scene.query import Answers, SceneQuery, wider
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array2, Bools, Ints, Ints1, Ints2

# --- warm starts of EPA ----------------------------------------------------------------------------------------------


_RHO = layout.RHO
FACES = 8  #: greatest number of faces of a pair
# A row of the cache has the number of its faces (0 if it is empty), the least distance of all other faces from the
# origin, and the pose of B in A's frame. Then follow the distances of the faces from the origin, the nearest first, and
# three corners per face. A corner is a point of A in A's frame, and a point of B in B's frame.
_OTHER_FACES, _POSE, _KEYS = 1, 2, 14
_CORNERS = _KEYS + FACES
CORNER = 6
ROW = _CORNERS + 3 * CORNER * FACES
# in units of a pair's ``tiny``:
_ROUNDING = 4.0  #: error of a point that was transformed to B's frame and back, and of m
_WIDTH = 16.0  #: greatest width of the bounds of a depth that the cache proves; about 3e-14 of the pair's size


@kernel
def store_faces(c: Cores, workspace: Workspace, cache: Array, k: int) -> None:
    """Store the faces of EPA's last polytope that are nearest to the origin in row k of ``cache``; none without one."""
    p = polytope_in(workspace)
    faces, count, other_faces = p.mark[capacity(workspace)], 0, inf
    for f in range(faces):
        if p.fi[f, 6] != 1:
            continue
        key, r = p.ff[f, 3], min(count, FACES)
        while r > 0 and cache[k, _KEYS + r - 1] > key:  # move each face that is farther to the next position
            if r < FACES:
                cache[k, _KEYS + r], p.stack[r] = cache[k, _KEYS + r - 1], p.stack[r - 1]
            else:
                other_faces = cache[k, _KEYS + r - 1]
            r -= 1
        if r < FACES:
            cache[k, _KEYS + r], p.stack[r] = key, f
        else:
            other_faces = min(other_faces, key)
        count += 1
    count = min(count, FACES)
    cache[k, 0], cache[k, _OTHER_FACES] = float(count), other_faces
    for i in range(12):
        cache[k, _POSE + i] = c.m[i]
    at = _CORNERS
    for r in range(count):
        for e in range(3):
            i = p.fi[p.stack[r], e]
            local = turn_back(c.m, sub((p.v[i, 6], p.v[i, 7], p.v[i, 8]), offset(c.m)))
            cache[k, at], cache[k, at + 1], cache[k, at + 2] = p.v[i, 3], p.v[i, 4], p.v[i, 5]
            cache[k, at + 3], cache[k, at + 4], cache[k, at + 5] = local
            at += CORNER


@kernel
def most_moved(c: Cores, cache: Array, k: int) -> float:
    """Return an upper bound of the distance that any point of B has moved in A's frame since row k was stored."""
    turned, shifted = 0.0, 0.0
    for i in range(9):
        d = c.m[i] - cache[k, _POSE + i]
        turned += d * d
    for i in range(9, 12):
        d = c.m[i] - cache[k, _POSE + i]
        shifted += d * d
    # the spectral norm of the difference of two rotations is its Frobenius norm divided by the square root of two
    return float(sqrt(0.5 * turned) * c.b.floats[_RHO] + sqrt(shifted) + _ROUNDING * c.tiny)


@kernel
def corner_of(c: Cores, cache: Array, k: int, at: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return a corner in row k of ``cache`` as a point a - b, and its points a of A and b of B, in A's frame.

    ``at`` is the first column of the corner.
    """
    a = (cache[k, at], cache[k, at + 1], cache[k, at + 2])
    b = place(c.m, (cache[k, at + 3], cache[k, at + 4], cache[k, at + 5]))
    return sub(a, b), a, b


@kernel
def nearest_face(c: Cores, cache: Array, k: int) -> tuple[float, Vec3]:
    """Return a lower bound of the depth, and the normal of the nearest face in row k of ``cache``.

    The bound is 0 if the cached faces do not prove an overlap. The normal is then undefined.
    """
    moved = most_moved(c, cache, k)
    least, n = inf, (0.0, 0.0, 0.0)
    for r in range(int(cache[k, 0])):
        before = cache[k, _KEYS + r]
        if before - moved >= least:
            break  # the faces are sorted, so all later faces are at least as far from the origin
        at = _CORNERS + 3 * CORNER * r
        p0, _, _ = corner_of(c, cache, k, at)
        p1, _, _ = corner_of(c, cache, k, at + CORNER)
        p2, _, _ = corner_of(c, cache, k, at + 2 * CORNER)
        up = triangle_normal(p0, p1, p2)
        length = sqrt(dot(up, up))
        if not length > NO_LENGTH:
            return 0.0, n
        key = min(dot(up, p0), dot(up, p1), dot(up, p2)) / length
        if not key + before > moved:
            return 0.0, n
        if key < least:
            least, n = key, (up[0] / length, up[1] / length, up[2] / length)
    least = min(least, cache[k, _OTHER_FACES] - moved) - _ROUNDING * c.tiny
    return (least if least > 2.0 * c.error else 0.0), n


@kernel
def pierced_face(c: Cores, cache: Array, k: int, n: Vec3, s: Array) -> float:
    """Return how far along n a ray from the origin pierces a face in row k of ``cache``, or -1 without such a face.

    The corners of this face, and their weights for the pierced point, are written to ``s``.
    """
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    for r in range(int(cache[k, 0])):
        for e in range(3):
            w, a, b = corner_of(c, cache, k, _CORNERS + CORNER * (3 * r + e))
            set_row(s, e, w, a, b)
        total, least = 0.0, inf
        for e in range(3):
            i, j = (e + 1) % 3, (e + 2) % 3
            x = s[i, 0] * e1[0] + s[i, 1] * e1[1] + s[i, 2] * e1[2]
            y = s[i, 0] * e2[0] + s[i, 1] * e2[1] + s[i, 2] * e2[2]
            u = s[j, 0] * e1[0] + s[j, 1] * e1[1] + s[j, 2] * e1[2]
            v = s[j, 0] * e2[0] + s[j, 1] * e2[1] + s[j, 2] * e2[2]
            s[e, 9] = x * v - y * u  # all are positive if the ray comes from inside
            total, least = total + s[e, 9], min(least, s[e, 9])
        if least >= 0.0 and total > 0.0:
            length = 0.0
            for e in range(3):
                s[e, 9] /= total
                length += s[e, 9] * (n[0] * s[e, 0] + n[1] * s[e, 1] + n[2] * s[e, 2])
            return length
    return -1.0


@kernel
def verified_depth(c: Cores, cache: Array, k: int, s: Array) -> Depth:
    """Return the depth of two cores with the code CLOSED if the nearest face in row k of ``cache`` proves the depth.

    Otherwise the code of the result is OUTSIDE. The corners of the face that the normal pierces are written to
    ``s``.
    """
    key, n = nearest_face(c, cache, k)
    if key > 0.0:
        w, _, _ = support_pair(c, n)
        h = dot(n, w)
        if h - key <= _WIDTH * c.tiny:
            front = pierced_face(c, cache, k, n, s)
            if front >= 0.0:
                return Depth(CLOSED, 1, h, n, -key, front, -1.0)
    return Depth(OUTSIDE, 1, inf, n, inf, -1.0, -1.0)


@kernel
def proves_overlap(c: Cores, margin: float, cache: Array, k: int) -> bool:
    """Return whether the faces in row k of ``cache`` prove that two cores overlap; False for a negative margin."""
    if not margin >= 0.0:
        return False
    key, _ = nearest_face(c, cache, k)
    return key > 0.0


@kernel
def solve_from_cache(
    c: Cores, max_distance: float, workspace: Workspace, cache: Array, k: int, out: Array, flags: Ints, row: int
) -> bool:
    """Return whether the faces in row k of ``cache`` prove the signed distance.

    If they do, the result is written to the given ``row`` of ``out`` and ``flags``.
    """
    if cache[k, 0] > 0.0:
        depth = verified_depth(c, cache, k, workspace.simplex)
        if depth.code == CLOSED:
            nowhere = (0.0, 0.0, 0.0)
            query = Query(SIGNED, max_distance, 0.0, False, WIDTH_POLYTOPE * c.size + 2.0 * c.error)
            cold = Estimate(0.0, -inf, inf, False, nowhere, nowhere, nowhere, nowhere, 0, False)
            estimate = penetrate(c, query, cold, depth, False, (nowhere, nowhere), workspace.simplex)
            report(c, query, at_common_point(c, query, estimate), out, flags, row)
            return True
    polytope_in(workspace).mark[capacity(workspace)] = 0
    return False


# --- the state of a scene --------------------------------------------------------------------------------------------


_POSE_A, _POSE_B = 3, 8  #: columns of a row of pairs with the slots of A and B
#: reasons for a pair without a row of cached faces: not needed, not solved by the kernels, or an object without a box
NONE, ASIDE, BOXLESS = -1, -2, -3
COLLIDED = -1.0  #: first number of the axis of a pair that collided in the last query


class PairCache(NamedTuple):
    """The cached data of each pair from the last query."""

    axes: Array2  #: separating axis of each pair, see `quick_collide`
    at: Ints1  #: row of ``faces`` for each pair, or NONE, ASIDE or BOXLESS
    faces: Array2


@entry
def moves(
    boxes: Array2, links: Ints2, births: Ints1, version: int, before: Array2
) -> tuple[float, float, float, float]:
    """Return the greatest motion of a box, the mean motions of moved and of all boxes, and the mean side of a box.

    The motion of a box is the greatest change of its six coordinates from ``before`` to ``boxes``. Only boxes of
    objects that already existed in ``version`` are counted. The mean side is the mean over the three axes of all boxes.
    """
    most, total, sides, moved, leaves = 0.0, 0.0, 0.0, 0, 0
    for k in range(before.shape[0]):
        if links[k, HEIGHT] != 0 or births[k] > version:
            continue
        far = 0.0
        for c in range(6):
            far = max(far, abs(boxes[k, c] - before[k, c]))
        moved += 1 if far > 0.0 else 0
        most, total = max(most, far), total + far
        for c in range(3):
            sides += boxes[k, 3 + c] - boxes[k, c]
        leaves += 1
    return most, total / max(moved, 1), total / max(leaves, 1), sides / max(3 * leaves, 1)


@entry
def collide_again(
    pairs: PairRows, boxes: Array2, within: float, margin: float, trust: bool, start: int, stop: int,
    simplex: Array2, cache: PairCache, outcomes: Ints1,
) -> None:  # fmt: skip
    """Write to ``outcomes``, for each pair from start to stop - 1, whether it collides with a margin.

    Pairs with boxes farther apart than ``within`` are SEPARATED. Pairs that the kernels do not solve are UNSURE. With
    ``trust``, pairs that collided in the last query are COLLIDING without a test, because the caller computes their
    distances anyway.
    """
    table, axes, at, faces = pairs.table, cache.axes, cache.at, cache.faces
    for k in range(start, stop):
        outcomes[k] = SEPARATED
        if at[k] != BOXLESS and not near(boxes, table[k, _POSE_A], boxes, table[k, _POSE_B], within):
            continue
        if at[k] < NONE:
            outcomes[k] = UNSURE
            continue
        if trust and axes[k, 0] == COLLIDED:
            outcomes[k] = COLLIDING
            continue
        c, _ = cores_of_row(pairs, k)
        if at[k] >= 0 and faces[at[k], 0] > 0.0 and proves_overlap(c, margin, faces, at[k]):
            outcomes[k] = COLLIDING
        else:
            outcomes[k] = quick_collide(c, margin, simplex, axes, k)
        if outcomes[k] == COLLIDING:
            axes[k, 0] = COLLIDED


@entry
def solve_again(
    pairs: PairRows, which: Ints1, max_distance: float, start: int, stop: int, workspace: Workspace, cache: PairCache,
    out: Array2, flags: Ints2,
) -> None:  # fmt: skip
    """Write the signed distances of the pairs ``which[start:stop]`` to ``out[start:stop]`` and ``flags[start:stop]``.

    Pairs that the kernels do not solve are left out.
    """
    axes, at, faces = cache.axes, cache.at, cache.faces
    for r in range(start, stop):
        k = which[r]
        if at[k] < NONE:
            continue
        c, swapped = cores_of_row(pairs, k)
        if at[k] < 0 or not solve_from_cache(c, max_distance, workspace, faces, at[k], out, flags, r):
            solve(c, SIGNED, max_distance, 0.0, workspace, faces[:0], out, flags, r)
            if at[k] >= 0:
                store_faces(c, workspace, faces, at[k])
        if swapped:
            mirror(out, r)
        if out[r, 1] > max_distance:
            axes[k, 0] = 0.0


_STEPS = 10.0  #: boxes are enlarged by the mean motion of this number of steps
_MOST = 0.15  #: greatest enlargement of a box, relative to the mean length of a box
_LEAST = 2.5  #: least number of steps that an enlargement must last; otherwise every query searches the tree
_MOST_PAIRS, _PAIRS_PER_OBJECT = 65536, 64  #: greatest number of cached pairs, and additional pairs for each object


class Memory:
    """The cache of a scene: its pairs with near boxes, in the order of their names, and data of each pair."""

    __slots__ = (
        "_boxes", "_flat", "_may_be_deep", "_numbers", "_pad", "_solids", "_steps", "_table", "_version", "_within",
        "cache", "pairs",
    )  # fmt: skip
    pairs: Ints  #: (n, 2) slots of each pair
    _numbers: Ints  #: (n, 2) numbers of the shapes of each pair
    _table: Ints  #: row of each pair for the kernels
    _flat: Bools  #: whether a pair consists of two polytopes
    _may_be_deep: Bools  #: whether EPA may solve a pair
    _solids: ShapeStore | None  #: the shapes to which `_numbers`, `_table`, `_flat` and `_may_be_deep` belong

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        self._version, self._within, self._solids = -1, -1.0, None  # a negative distance means that no search was made
        self._boxes, self._pad, self._steps = np.zeros((0, 6)), 0.0, 0  # boxes at the last search, and steps since then
        self.pairs = np.zeros((0, 2), dtype=np.int64)
        self.cache = PairCache(np.zeros((0, AXIS)), np.zeros(0, dtype=np.int64), np.zeros((0, ROW)))

    def follow(self, query: SceneQuery, within: float) -> bool:
        """Update the cache to contain all pairs up to a distance; return whether the query can use it.

        The cache is not used before the first motion, because it would make a single query slower. It is not used for
        fast motions, which would require a search in every query, or for too many pairs.
        """
        within, objects = max(within, 0.0), query.mine
        objects.settle()
        tree = objects.tree
        self._steps += 1
        most, moved, mean, side = moves(tree.boxes, tree.links, objects.births, self._version, self._boxes)
        searched = self._within >= 0.0
        if not searched or self._version != objects.version or within > self._within or most > 0.99 * self._pad:
            if most > 0.0:
                step = moved / self._steps
                self._pad = min(_STEPS * step, _MOST * side)
                self._pad = 0.0 if self._pad < _LEAST * step else self._pad
            fast = _LEAST * mean / self._steps > _MOST * side
            if fast or not (searched or most > 0.0) or not self._search(query, within):
                self.forget()
                self._store_boxes(objects)
                return False
            self._within = within
            self._store_boxes(objects)
        if self._solids is not query.store:
            self._take_shapes(query)
        return True

    def _store_boxes(self, objects: Objects) -> None:
        self._boxes, self._steps = objects.tree.boxes[: len(objects.births)].copy(), 0
        self._version = objects.version

    def _search(self, query: SceneQuery, within: float) -> bool:
        """Search the pairs with near boxes, and cache them; return False if there are too many.

        The data of pairs that are cached already is kept.
        """
        objects, count, blocks = query.mine, 0, [np.zeros((0, 2), dtype=np.int64)]
        for block, _ in query.blocks(within + 2.0 * self._pad):
            blocks.append(block)
            count += len(block)
            if count > _MOST_PAIRS + _PAIRS_PER_OBJECT * len(objects.slots):
                return False
        pairs = np.concatenate(blocks)
        keys = query.keys(pairs)
        order = np.argsort(keys, kind="stable")
        pairs, keys = pairs[order], keys[order]
        # the data of pairs with an object that was removed or replaced is not used
        old = np.flatnonzero(
            ((objects.births[self.pairs] <= self._version) & (objects.ranks[self.pairs] < NO_RANK)).all(1)
        )
        old_keys = query.keys(self.pairs[old])
        where = np.minimum(np.searchsorted(old_keys, keys), max(len(old_keys) - 1, 0))
        matches = np.flatnonzero(old_keys[where] == keys) if len(old_keys) else where[:0]
        row = old[where[matches]]
        axes, at = np.zeros((len(pairs), AXIS)), np.full(len(pairs), NONE)
        faces = self.cache.faces
        axes[matches], at[matches] = self.cache.axes[row], np.maximum(self.cache.at[row], NONE)
        used = np.flatnonzero(at >= 0)
        if len(faces) > 2 * len(used):
            faces, at[used] = faces[at[used]], np.arange(len(used))
        self.pairs, self.cache, self._solids = pairs, PairCache(axes, at, faces), None
        return True

    def _take_shapes(self, query: SceneQuery) -> None:
        """Store the properties of the shapes of all cached pairs."""
        solids = self._solids = query.store
        shapes, self._table = query.table(self.pairs)
        self._numbers = shapes
        at = self.cache.at
        at[either(solids.singly, shapes)], at[either(solids.unbounded, shapes)] = ASIDE, BOXLESS
        starts = self._table[:, [0, 5]]
        self._flat = (solids.ints[starts + layout.POLYTOPE] != 0).all(axis=1)
        kinds = solids.ints[starts + layout.KIND]
        simple = (kinds == layout.POINT).any(axis=1) | (kinds == layout.BOX).all(axis=1)
        self._may_be_deep = self._flat & ~simple

    # --- queries -------------------------------------------------------------------------------------------------

    def collisions(self, query: SceneQuery, margin: float) -> Ints:
        """Return the pairs of objects that collide with a margin, as slots (n, 2), see `SceneQuery.collisions`."""
        outcomes = self._outcomes(query, self._rows(query), margin, False)
        self._decide((outcomes == UNSURE).nonzero()[0], query, margin, outcomes)
        hits: Ints = self.pairs[outcomes != 0]
        return hits

    def _rows(self, query: SceneQuery) -> PairRows:
        return PairRows(query.store.ints, query.store.floats, self._table, query.rows)

    def _decide(self, some: Ints, query: SceneQuery, margin: float, outcomes: Ints) -> None:
        """Write to ``outcomes`` whether the pairs with the indices ``some`` collide, by queries without the cache."""
        if len(some):
            numbers, table = self._numbers[some], self._table[some]
            outcomes[some] = query.store.collide(numbers, table, query.rows, margin, query.workers)

    def _outcomes(self, query: SceneQuery, rows: PairRows, margin: float, trust: bool) -> Ints:
        outcomes = np.empty(len(self.pairs), dtype=np.int64)
        boxes, within = query.mine.tree.boxes, wider(margin)

        def run(start: int, stop: int) -> None:
            simplex = workspace_of(FIRST_POINTS).simplex
            collide_again(rows, boxes, within, margin, trust, start, stop, simplex, self.cache, outcomes)

        in_chunks(len(outcomes), query.workers, run)
        return outcomes

    def distances_within(
        self, query: SceneQuery, within: float, omitted: Ints | None = None, mode: int = SIGNED
    ) -> Answers:
        """Return the signed distances of the pairs that are not proven to be farther apart than ``within``.

        The pairs with the indices ``omitted`` are left out. See `SceneQuery.distances` for ``mode``.
        """
        rows, at = self._rows(query), self.cache.at
        outcomes = self._outcomes(query, rows, within, True)
        if omitted is not None:
            outcomes[omitted] = 0
        self._decide(((at < NONE) & (outcomes != 0)).nonzero()[0], query, within, outcomes)
        remaining = outcomes.nonzero()[0]
        self._assign_rows(remaining, outcomes)
        out, flags = empty_answers(len(remaining))

        def run(start: int, stop: int) -> None:
            workspace = workspace_of(FIRST_POINTS)
            solve_again(rows, remaining, within, start, stop, workspace, self.cache, out, flags)

        in_chunks(len(remaining), query.workers, run)
        pairs, numbers, table = self.pairs[remaining], self._numbers[remaining], self._table[remaining]
        wide = (flags[:, 2] == 0) & self._flat[remaining] & (flags[:, 0] != BEYOND)
        left = ((at[remaining] < NONE) | (flags[:, 3] != 0) | wide).nonzero()[0]
        if len(left):
            fresh = query.distances(pairs[left], within, mode, (numbers[left], table[left]))
            out[left], flags[left] = fresh.out, fresh.flags
        return Answers(pairs, numbers, table, out, flags).within(within)

    def _assign_rows(self, which: Ints, outcomes: Ints) -> None:
        """Assign rows of cached faces to those of the pairs ``which`` that EPA may solve.

        The rows of pairs with the outcome SEPARATED are freed first.
        """
        _, at, faces = self.cache
        at[(at >= 0) & (outcomes == 0)] = NONE
        wanting = which[self._may_be_deep[which] & (at[which] == NONE)]
        if not len(wanting):
            return
        free = np.ones(len(faces), dtype=bool)
        free[at[at >= 0]] = False
        rows = np.flatnonzero(free)
        if len(rows) < len(wanting):
            more = np.zeros((len(wanting) + len(faces) // 4, ROW))
            rows = np.concatenate([rows, len(faces) + np.arange(len(more))])
            faces = np.concatenate([faces, more])
            self.cache = self.cache._replace(faces=faces)
        at[wanting] = rows[: len(wanting)]
        faces[at[wanting], 0] = 0.0
