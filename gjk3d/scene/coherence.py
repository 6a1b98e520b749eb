"""What a scene caches from step to step, and warm starts of EPA.

EPA's last faces are cached for the next query of the same two cores: one support point proves them again.

EPA's last surface is closed, encloses the origin, and consists of points of A and of B. When the cores move, these
points remain points of A and of B, so only the shape of the surface changes. If no point of it moved by more than m,
each face is at most m nearer to the origin than before. Only the few nearest faces are therefore moved. All others were
at least a stored distance away, and are now at least that distance less m away.

The surface still encloses the origin: while the points move along straight lines, the origin does not cross a face that
is far from it at both ends, more than m in total.

The nearest face proves a lower bound of the depth, and its support point an upper bound. A cached face is never trusted
without this proof. If the proof fails, the query runs again without the cache.

A scene caches near boxes, and separating axes or faces of pairs, from its last step.

No cached value is used without a proof. A cached axis, or the last faces of EPA, are the first candidates of a query.
Boxes are enlarged by the greatest possible motion until they are searched again.
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
from gjk3d.scene.pairs import NO_RANK
from gjk3d.scene.query import Answers, SceneQuery, wider
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array2, Bools, Ints, Ints1, Ints2

# --- warm starts of EPA ----------------------------------------------------------------------------------------------


_RHO = layout.RHO
FACES = 8  #: at most
# A row: the number of faces (0: empty), the least distance of all other faces, and the pose of B in A. Then follow the
# distances of the faces, nearest first, and three corners per face: a point of A in A's frame, and one of B in B's
# frame.
_OTHER_FACES, _POSE, _KEYS = 1, 2, 14
_CORNERS = _KEYS + FACES
CORNER = 6
ROW = _CORNERS + 3 * CORNER * FACES
# in units of a pair's ``tiny``:
_ROUNDING = 4.0  #: of a point that was moved to its own frame and back, and of m
_WIDTH = 16.0  #: between the bounds of a proven depth; about 3e-14 of the pair's size


@kernel
def store_faces(c: Cores, workspace: Workspace, cache: Array, k: int) -> None:
    """Store EPA's last faces in row k if EPA ended in this workspace with the depth, else mark the row as empty."""
    p = polytope_in(workspace)
    faces, count, other_faces = p.mark[capacity(workspace)], 0, inf
    for f in range(faces):
        if p.fi[f, 6] != 1:
            continue
        key, r = p.ff[f, 3], min(count, FACES)
        while r > 0 and cache[k, _KEYS + r - 1] > key:  # move farther faces down by one place
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
    """Return an upper bound of how far a point of B has moved in A's frame since row k was stored."""
    turned, shifted = 0.0, 0.0
    for i in range(9):
        d = c.m[i] - cache[k, _POSE + i]
        turned += d * d
    for i in range(9, 12):
        d = c.m[i] - cache[k, _POSE + i]
        shifted += d * d
    # the difference of two rotations stretches by its Frobenius norm divided by the root of two
    return float(sqrt(0.5 * turned) * c.b.floats[_RHO] + sqrt(shifted) + _ROUNDING * c.tiny)


@kernel
def corner_of(c: Cores, cache: Array, k: int, at: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corner of a cached face as a point of A - B, and its points of A and of B."""
    a = (cache[k, at], cache[k, at + 1], cache[k, at + 2])
    b = place(c.m, (cache[k, at + 3], cache[k, at + 4], cache[k, at + 5]))
    return sub(a, b), a, b


@kernel
def nearest_face(c: Cores, cache: Array, k: int) -> tuple[float, Vec3]:
    """Return a lower bound of the distance from the origin to the surface of A - B, and the normal of the nearest face.

    The bound is 0 if the origin may be outside.
    """
    moved = most_moved(c, cache, k)
    least, n = inf, (0.0, 0.0, 0.0)
    for r in range(int(cache[k, 0])):
        before = cache[k, _KEYS + r]
        if before - moved >= least:
            break  # the faces are sorted, so all later ones are at least this far away
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
    """Write the face pierced by the ray from the origin along n to the simplex; return the ray's length, -1 if none."""
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
    """Return the depth as `epa` does; its code is CLOSED if the nearest face in row k proves it, else OUTSIDE."""
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
    """Return whether the faces in row k prove that two cores overlap, for any margin of at least 0."""
    if not margin >= 0.0:
        return False
    key, _ = nearest_face(c, cache, k)
    return key > 0.0


@kernel
def solve_from_cache(
    c: Cores, max_distance: float, workspace: Workspace, cache: Array, k: int, out: Array, flags: Ints, row: int
) -> bool:
    """Return whether the faces in row k prove the signed distance; if so, write it to ``row`` as `solve` does."""
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


_POSE_A, _POSE_B = 3, 8  #: columns of a pair row: the slots of both
# row of the cached faces of a pair, or the reason for its absence: not needed, not solved by the kernels, without a box
NONE, ASIDE, BOXLESS = -1, -2, -3
SEPARATED, COLLIDING, UNSURE = range(3)
COLLIDED = -1.0  #: replaces an axis: the pair collided in the last step


class PairCache(NamedTuple):
    """The cached data of the last step for each pair."""

    axes: Array2
    at: Ints1  #: row of ``faces`` for each pair, or the reason for its absence
    faces: Array2


@entry
def moves(
    boxes: Array2, links: Ints2, births: Ints1, version: int, before: Array2
) -> tuple[float, float, float, float]:
    """Return four numbers: the greatest motion of a box side since ``version``, two means, and the mean side length.

    The means are over the moved sides, and over all sides. Only leaves that existed at that version count.
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
    """Write the outcomes of pairs start to stop. Pairs with boxes farther apart than ``within`` are SEPARATED.

    With ``trust``, pairs that collided in the last step count as COLLIDING, since the query computes their distance
    later. Pairs that the kernels do not solve are UNSURE.
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
    """Write the signed distances of the pairs ``which[start:stop]`` into these rows of ``out`` and ``flags``."""
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
_MOST = 0.15  #: greatest enlargement, relative to the mean side of a box
_LEAST = 2.5  #: steps that an enlargement has to last: for faster motions each step searches the tree
_MOST_PAIRS, _PAIRS_PER_OBJECT = 65536, 64  #: greatest number of cached pairs, and how many more for each object


class Memory:
    """The pairs of one scene with near boxes, in the order of their names, and the cached data of each."""

    __slots__ = (
        "_boxes", "_flat", "_may_be_deep", "_numbers", "_pad", "_solids", "_steps", "_table", "_version", "_within",
        "cache", "pairs",
    )  # fmt: skip
    pairs: Ints  #: of slots
    _numbers: Ints  #: of the shapes of the pairs
    _table: Ints  #: the pairs as rows for the kernels
    _flat: Bools  #: whether a pair consists of two polytopes
    _may_be_deep: Bools  #: whether EPA may solve a pair
    _solids: ShapeStore | None  #: the shapes that these arrays describe

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the cache, so the next query starts without it."""
        self._version, self._within, self._solids = -1, -1.0, None  # before the first search the distance is negative
        self._boxes, self._pad, self._steps = np.zeros((0, 6)), 0.0, 0  # state at the last search, and steps since
        self.pairs = np.zeros((0, 2), dtype=np.int64)
        self.cache = PairCache(np.zeros((0, AXIS)), np.zeros(0, dtype=np.int64), np.zeros((0, ROW)))

    def follow(self, query: SceneQuery, within: float) -> bool:
        """Update the cache to contain all pairs within a distance; return whether it can be used.

        The cache is not used without motion, so a single query costs the same as without a cache. It is not used for
        fast motions, which invalidate it in every step, and for more than a few pairs per object.
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
                self._note(objects)
                return False
            self._within = within
            self._note(objects)
        if self._solids is not query.store:
            self._take_shapes(query)
        return True

    def _note(self, objects: Objects) -> None:
        """Store the boxes of all objects."""
        self._boxes, self._steps = objects.tree.boxes[: len(objects.births)].copy(), 0
        self._version = objects.version

    def _search(self, query: SceneQuery, within: float) -> bool:
        """Search the boxes and keep the data of pairs that were cached; return whether the pairs are few enough."""
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
        # data of objects that were removed or replaced since is dropped
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
        """Store the properties of the shapes of pairs that the kernels need."""
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
        """Return the pairs that collide, see `SceneQuery.collisions`."""
        outcomes = self._outcomes(query, self._rows(query), margin, False)
        self._decide((outcomes == UNSURE).nonzero()[0], query, margin, outcomes)
        hits: Ints = self.pairs[outcomes != 0]
        return hits

    def _rows(self, query: SceneQuery) -> PairRows:
        return PairRows(query.store.ints, query.store.floats, self._table, query.rows)

    def _decide(self, some: Ints, query: SceneQuery, margin: float, outcomes: Ints) -> None:
        """Write the outcomes of some pairs that `collide_again` does not decide."""
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
        """Return the signed distances of the pairs that are not proven to be farther apart, see `SceneQuery`."""
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
        """Assign rows for faces to the pairs that may need a row, and free the rows of separated pairs."""
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
