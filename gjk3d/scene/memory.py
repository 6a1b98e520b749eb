"""The state that a scene caches from its last step: near boxes, and separating axes or faces of pairs.

Nothing cached is trusted. A cached axis, or the last faces of EPA, are only the first candidates of the next query.
Boxes are enlarged by the greatest possible motion until they are searched again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import entry
from gjk3d.broad.nodes import HEIGHT
from gjk3d.broad.search import near
from gjk3d.convex.rows import FIRST_POINTS, NO_LOG, empty_answers, in_chunks, scratch
from gjk3d.narrow.again import ROW, proves_overlap, solve_from_cache, store_faces
from gjk3d.narrow.gjk import AXIS
from gjk3d.narrow.pairs import cores_of_row, mirror
from gjk3d.narrow.room import Room, room_in
from gjk3d.narrow.solve import SIGNED, quick_collide, solve
from gjk3d.results import Status
from gjk3d.scene.narrow import Answers, Candidates, Narrow, wider
from gjk3d.scene.objects import Objects, SolidPairs
from gjk3d.shapes import layout
from gjk3d.typing import Array1, Array2, Bools, Ints, Ints1, Ints2

_POSE_A, _POSE_B = 3, 8  #: columns of a pair row: the slots of both
# of which row a pair has its faces, or why it has none: not needed, answered elsewhere, and there without a box
NONE, ASIDE, BOXLESS = -1, -2, -3
APART, MEETS, UNSURE = range(3)
MET = -1.0  #: in place of an axis: the two met at the last step


class PairRows(NamedTuple):
    """Pairs of shapes that lie behind each other, and their poses."""

    ints: Ints1
    floats: Array1
    table: Ints2  #: pair rows, see `gjk3d.narrow.pairs`
    poses: Array2


class Known(NamedTuple):
    """What the last step left of each pair."""

    axes: Array2
    at: Ints1  #: of which row of ``kept`` it has its faces, or why it has none
    kept: Array2


@entry
def moves(
    boxes: Array2, links: Ints2, births: Ints1, version: int, before: Array2
) -> tuple[float, float, float, float]:
    """Return how far sides of boxes have moved since ``version``: at most, those moved on the average, and all.

    Of leaves that are there since then; the last number is how long the sides are on the average.
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
    simplex: Array2, known: Known, told: Ints1,
) -> None:  # fmt: skip
    """Tell of pairs start to stop what `quick_collide` tells of those no farther apart by their boxes than ``within``.

    With ``trust`` those count as meeting that met at the last step: their distance is asked anyway. Of what is answered
    elsewhere nobody can tell here.
    """
    table, axes, at, kept = pairs.table, known.axes, known.at, known.kept
    for k in range(start, stop):
        told[k] = APART
        if at[k] != BOXLESS and not near(boxes, table[k, _POSE_A], boxes, table[k, _POSE_B], within):
            continue
        if at[k] < NONE:
            told[k] = UNSURE
            continue
        if trust and axes[k, 0] == MET:
            told[k] = MEETS
            continue
        c, _ = cores_of_row(pairs.ints, pairs.floats, pairs.table, pairs.poses, k)
        if at[k] >= 0 and kept[at[k], 0] > 0.0 and proves_overlap(c, margin, kept, at[k]):
            told[k] = MEETS
        else:
            told[k] = quick_collide(c, margin, simplex, axes, k)
        if told[k] == MEETS:
            axes[k, 0] = MET


@entry
def solve_again(
    pairs: PairRows, which: Ints1, max_distance: float, start: int, stop: int, room: Room, known: Known, out: Array2,
    flags: Ints2,
) -> None:  # fmt: skip
    """Answer the signed distances of the pairs ``which[start:stop]`` into these rows of ``out`` and ``flags``."""
    axes, at, kept = known.axes, known.at, known.kept
    for r in range(start, stop):
        k = which[r]
        if at[k] < NONE:
            continue
        c, turned = cores_of_row(pairs.ints, pairs.floats, pairs.table, pairs.poses, k)
        if at[k] < 0 or not solve_from_cache(c, max_distance, room, kept, at[k], out, flags, r):
            solve(c, SIGNED, max_distance, 0.0, room, kept[:0], out, flags, r)
            if at[k] >= 0:
                store_faces(c, room, kept, at[k])
        if turned:
            mirror(out, r)
        if out[r, 1] > max_distance:
            axes[k, 0] = 0.0


_STEPS = 10.0  #: boxes are larger by as far as things move on the average in so many steps
_MOST = 0.15  #: of a box's side on the average: they are not larger by more
_LEAST = 2.5  #: steps for which boxes have to be found: what moves faster is searched for each time
_PAIRS, _EACH = 65536, 64  #: most pairs that are remembered, and how many more an object


class Memory:
    """The pairs of one scene whose boxes may be near, in the order of their names, and what is remembered of each."""

    __slots__ = (
        "_at", "_axes", "_boxes", "_flat", "_kept", "_may_be_deep", "_pad", "_solids", "_steps", "_table", "_version",
        "_within", "pairs",
    )  # fmt: skip
    pairs: Ints  #: of slots
    _table: Ints  #: the same as the kernels take them
    _flat: Bools  #: which are of two polytopes
    _may_be_deep: Bools  #: which of them EPA may answer
    _solids: SolidPairs | None  #: the shapes that these are told of

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop everything: the next question is asked afresh."""
        self._version, self._within, self._solids = -1, -1.0, None  # before the first search the distance is negative
        self._boxes, self._pad, self._steps = np.zeros((0, 6)), 0.0, 0  # as of the last search; and steps since
        self.pairs = np.zeros((0, 2), dtype=np.int64)
        self._axes = np.zeros((0, AXIS))
        self._kept, self._at = np.zeros((0, ROW)), np.zeros(0, dtype=np.int64)  # of pairs the row in which faces are

    def follow(self, candidates: Candidates, narrow: Narrow, within: float) -> bool:
        """Have all pairs within that distance; tell whether they are remembered.

        Nothing is while nothing moves, so that one question costs what it does without a memory; nor where things move
        so fast that nothing stays as it was, nor of more pairs than a few a body.
        """
        within, objects = max(within, 0.0), candidates.mine
        tree = objects.tree
        self._steps += 1
        most, moved, each, side = moves(tree.boxes, tree.links, objects.births, self._version, self._boxes)
        known = self._within >= 0.0
        if not known or self._version != objects.version or within > self._within or most > 0.99 * self._pad:
            if most > 0.0:
                step = moved / self._steps
                self._pad = min(_STEPS * step, _MOST * side)
                self._pad = 0.0 if self._pad < _LEAST * step else self._pad
            fast = _LEAST * each / self._steps > _MOST * side
            if fast or not (known or most > 0.0) or not self._search(candidates, within):
                self.forget()
                self._note(objects)
                return False
            self._within = within
            self._note(objects)
        if self._solids is not narrow.pairs:
            self._take_shapes(narrow)
        return True

    def _note(self, objects: Objects) -> None:
        """Take note of where everything is."""
        self._boxes, self._steps = objects.tree.boxes[: len(objects.births)].copy(), 0
        self._version = objects.version

    def _search(self, candidates: Candidates, within: float) -> bool:
        """Search the boxes, and keep what is known of pairs found again; tell whether they are few enough."""
        objects, count, blocks = candidates.mine, 0, [np.zeros((0, 2), dtype=np.int64)]
        for block in candidates.blocks(within + 2.0 * self._pad):
            blocks.append(block)
            count += len(block)
            if count > _PAIRS + _EACH * len(objects.slots):
                return False
        pairs = np.concatenate(blocks)
        keys = _keys(objects, pairs)
        order = np.argsort(keys, kind="stable")
        pairs, keys = pairs[order], keys[order]
        # of those removed since, or with others in their places, nothing is known
        old = np.flatnonzero(((objects.births[self.pairs] <= self._version) & (objects.ranks[self.pairs] >= 0)).all(1))
        known = _keys(objects, self.pairs[old])
        where = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
        found = np.flatnonzero(known[where] == keys) if len(known) else where[:0]
        row = old[where[found]]
        axes, at = np.zeros((len(pairs), AXIS)), np.full(len(pairs), NONE)
        axes[found], at[found] = self._axes[row], np.maximum(self._at[row], NONE)
        used = np.flatnonzero(at >= 0)
        if len(self._kept) > 2 * len(used):
            self._kept, at[used] = self._kept[at[used]], np.arange(len(used))
        self.pairs, self._axes, self._at, self._solids = pairs, axes, at, None
        return True

    def _take_shapes(self, narrow: Narrow) -> None:
        """Take note of what the shapes of pairs are to the kernels."""
        solids = self._solids = narrow.pairs
        shapes, self._table = narrow.table(self.pairs)
        aside, boxless = (solids.mixed | solids._singly)[shapes].any(axis=1), solids.unbounded[shapes].any(axis=1)
        self._at[aside], self._at[boxless] = ASIDE, BOXLESS
        starts = self._table[:, [0, 5]]
        self._flat = (solids._ints[starts + layout.POLYTOPE] != 0).all(axis=1)
        kinds = solids._ints[starts + layout.KIND]
        simple = (kinds == layout.POINT).any(axis=1) | (kinds == layout.BOX).all(axis=1)
        self._may_be_deep = self._flat & ~simple

    # --- questions -----------------------------------------------------------------------------------------------

    def collide(self, narrow: Narrow, margin: float) -> NDArray[np.bool_]:
        """Tell which pairs collide, see `Narrow.collide`."""
        told = self._told(narrow, margin, False)
        unsure = np.flatnonzero(told == UNSURE)
        if len(unsure):
            told[unsure] = narrow.collide(self.pairs[unsure], margin)
        hits: NDArray[np.bool_] = told != 0
        return hits

    def _rows(self, narrow: Narrow) -> PairRows:
        return PairRows(*narrow.pairs._arena, self._table, narrow.rows)

    def _known(self) -> Known:
        return Known(self._axes, self._at, self._kept)

    def _told(self, narrow: Narrow, margin: float, trust: bool) -> Ints:
        told = np.empty(len(self.pairs), dtype=np.int64)

        def run(start: int, stop: int) -> None:
            collide_again(
                self._rows(narrow), narrow.boxes, wider(margin), margin, trust, start, stop,
                scratch(FIRST_POINTS)[2], self._known(), told,
            )  # fmt: skip

        in_chunks(len(told), narrow.workers, run)
        return told

    def distances_within(
        self, narrow: Narrow, within: float, which: Bools | None = None, mode: int = SIGNED
    ) -> Answers:  # fmt: skip
        """Return the signed distances of pairs, or of some, that are not proven to be farther apart, see `Narrow`."""
        told = self._told(narrow, within, True)
        if which is not None:
            told[~which] = 0
        aside = np.flatnonzero((self._at < NONE) & (told != 0))
        if len(aside):
            told[aside] = narrow.collide(self.pairs[aside], within)
        near = np.flatnonzero(told)
        self._make_room(near, told)
        out, flags = empty_answers(len(near))

        def run(start: int, stop: int) -> None:
            room = room_in(*scratch(FIRST_POINTS)[:2], FIRST_POINTS, NO_LOG)
            solve_again(self._rows(narrow), near, within, start, stop, room, self._known(), out, flags)

        in_chunks(len(near), narrow.workers, run)
        wide = (flags[:, 2] == 0) & self._flat[near] & (flags[:, 0] != Status.BEYOND)
        left = np.flatnonzero((self._at[near] < NONE) | (flags[:, 3] != 0) | wide)
        if len(left):
            fresh = narrow.distances(self.pairs[near[left]], within, mode, within == 0.0)
            out[left], flags[left] = fresh.out, fresh.flags
        kept = out[:, 1] <= within
        answers = Answers(self.pairs[near], out, flags)
        return answers if kept.all() else answers[kept]

    def _make_room(self, which: Ints, told: Ints) -> None:
        """Give those a row for faces that may need one, and take it from those that do not meet any more."""
        at = self._at
        at[(at >= 0) & (told == 0)] = NONE
        wanting = which[self._may_be_deep[which] & (at[which] == NONE)]
        if not len(wanting):
            return
        free = np.ones(len(self._kept), dtype=bool)
        free[at[at >= 0]] = False
        rows = np.flatnonzero(free)
        if len(rows) < len(wanting):
            more = np.zeros((len(wanting) + len(self._kept) // 4, ROW))
            rows = np.concatenate([rows, len(self._kept) + np.arange(len(more))])
            self._kept = np.concatenate([self._kept, more])
        at[wanting] = rows[: len(wanting)]
        self._kept[at[wanting], 0] = 0.0


def _keys(objects: Objects, pairs: Ints) -> Ints:
    """Return one number a pair, in the order of the names."""
    keys: Ints = (objects.ranks[pairs[:, 0]] << 31) | objects.ranks[pairs[:, 1]]
    return keys
