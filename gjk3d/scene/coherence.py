"""The state that a scene caches from its last step: near boxes, and separating axes or faces of pairs.

No cached value is used without a proof. A cached axis, or the last faces of EPA, are the first candidates of a query.
Boxes are enlarged by the greatest possible motion until they are searched again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry
from gjk3d.broad.nodes import HEIGHT
from gjk3d.broad.search import near
from gjk3d.convex.batch import either, in_chunks
from gjk3d.convex.rows import empty_answers
from gjk3d.engine.shape_store import ShapeStore
from gjk3d.narrow.gjk import AXIS
from gjk3d.narrow.pairs import PairRows, cores_of_row, mirror
from gjk3d.narrow.solve import BEYOND, SIGNED, quick_collide, solve
from gjk3d.narrow.warm_start import ROW, proves_overlap, solve_from_cache, store_faces
from gjk3d.narrow.workspace import FIRST_POINTS, Workspace, workspace_of
from gjk3d.scene.objects import Objects
from gjk3d.scene.pairs import NO_RANK
from gjk3d.scene.query import Answers, SceneQuery, wider
from gjk3d.shapes import layout
from gjk3d.typing import Array2, Bools, Ints, Ints1, Ints2

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
