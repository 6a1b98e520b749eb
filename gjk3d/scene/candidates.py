"""Pairs of objects that may be near each other: what the boxes leave, planes included, less what is allowed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gjk3d.broad.tree import Tree, box_gaps
from gjk3d.scene.objects import Objects
from gjk3d.scene.sides import RESIDUAL, ROUNDING, WIDER
from gjk3d.typing import Array, Ints


def wider(within: float) -> float:
    """Return how far boxes may be apart of what the narrow phase might not prove to be farther apart than that."""
    return within * WIDER if within > 0.0 else 0.0


def heights(boxes: Array, normal: Array, offset: float) -> Array:
    """Return how far above a plane boxes are, rounding left out; less where they reach below."""
    above: Array = np.minimum(boxes[:, :3] * normal, boxes[:, 3:] * normal).sum(axis=1) - offset
    return above


class Candidates:
    """Which pairs of one scene, of an object and its scene, or of two scenes, are to be asked."""

    def __init__(self, mine: Objects, theirs: Objects | None, only: int | None) -> None:
        self.mine, self.only = mine, only
        self.within_one = theirs is None
        self.theirs = mine if theirs is None else theirs
        mine.settle()
        self.theirs.settle()
        self.bits = mine.bits if theirs is None else mine.translated(theirs)

    def blocks(self, within: float, room: int = 65536) -> Iterator[Ints]:
        """Yield pairs of slots, each pair once; of one scene in the order of their names."""
        within = wider(within)
        for pairs in self._raw(within, room):
            if self.within_one:
                if self.mine.allowed:
                    low, high = pairs.min(axis=1), pairs.max(axis=1)
                    pairs = pairs[~np.isin((low << 31) | high, self.mine.keys)]
                ranks = self.mine.ranks
                turned = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
                pairs = np.where(turned[:, None], pairs[:, ::-1], pairs)
            for start in range(0, len(pairs), room):  # what stands on a plane comes all at once
                yield pairs[start : start + room]

    def _raw(self, within: float, room: int) -> Iterator[Ints]:
        mine, theirs = self.mine, self.theirs
        if self.only is not None:
            yield from self._of_one(within, room)
        elif self.within_one:
            yield from mine.tree.pairs(within, room)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
        else:
            yield from mine.tree.pairs_with(theirs.tree, within, room, self.bits)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
            for slot in sorted(theirs.planes):
                yield self._over_plane(theirs, slot, within)[:, ::-1]

    def _of_one(self, within: float, room: int) -> Iterator[Ints]:
        assert self.only is not None
        mine, slot = self.mine, self.only
        if slot in mine.planes:
            yield self._over_plane(mine, slot, within)
            return
        box, where = mine.tree.boxes[slot : slot + 1], np.array([slot])
        one = Tree()
        one.insert(np.array([0]), box)
        one.bits = mine.bits[slot : slot + 1]
        for block in one.pairs_with(mine.tree, within, room):
            others = block[block[:, 1] != slot]
            yield np.column_stack([np.full(len(others), slot), others[:, 1]])
        for plane in sorted(mine.planes):
            if self._above(mine, plane, box)[0] <= within and _may_meet(mine.bits[[plane]], mine.bits[where])[0]:
                yield np.array([[plane, slot]])

    def _over_plane(self, owner: Objects, slot: int, within: float) -> Ints:
        """Return pairs of what has no box and what reaches it, in this scene or in the other one."""
        others = self.theirs if owner is self.mine else self.mine
        leaves = others.tree.leaves
        near = leaves[self._above(owner, slot, others.tree.boxes[leaves]) <= within]
        of_plane = (self.bits if owner is self.theirs else owner.bits)[[slot]]
        of_others = (self.bits if others is self.theirs else others.bits)[near]
        near = near[_may_meet(of_plane, of_others)]
        return np.column_stack([np.full(len(near), slot), near])

    @staticmethod
    def _above(owner: Objects, slot: int, boxes: Array) -> Array:
        """Return how far boxes are at least from what has none."""
        limits, row = owner.limits(slot), owner.rows[slot]
        # offsets in the frame of the shape are at most those in the world and the translation together
        size = np.abs(boxes).sum(axis=1) + 2.0 * np.abs(row[9:12]).sum() + max(abs(d) for _, d in limits)
        above: Array = np.max([heights(boxes, n, d) for n, d in limits], axis=0)
        above -= (ROUNDING + RESIDUAL * row[12]) * size
        return above

    def gaps(self, pairs: Ints) -> Array:
        """Return for pairs how far apart they are at least."""
        mine, theirs = self.mine, self.theirs
        gaps = np.zeros(len(pairs))
        left = np.ones(len(pairs), dtype=bool)
        for owner, other, one, two in ((mine, theirs, 0, 1), (theirs, mine, 1, 0)):
            for slot in owner.planes:
                rows = np.flatnonzero(pairs[:, one] == slot)
                left[rows] = False
                gaps[rows] = np.maximum(self._above(owner, slot, other.tree.boxes[pairs[rows, two]]), 0.0)
        rows = np.flatnonzero(left)
        gaps[rows] = box_gaps(mine.tree.boxes[pairs[rows, 0]], theirs.tree.boxes[pairs[rows, 1]])
        return gaps

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Names by slot, of both sides."""
        return self.mine.names, self.theirs.names

    @property
    def size(self) -> float:
        """No two boxes are farther apart than this."""
        low = np.minimum(self.mine.tree.bounds[:3], self.theirs.tree.bounds[:3])
        high = np.maximum(self.mine.tree.bounds[3:], self.theirs.tree.bounds[3:])
        return float(np.abs(high - low).sum()) if (low <= high).all() else 0.0

    @property
    def count(self) -> int:
        """Roughly how many objects there are."""
        return len(self.mine.tree) + (0 if self.within_one else len(self.theirs.tree))


def _may_meet(one: Ints, many: Ints) -> NDArray[np.bool_]:
    meet: NDArray[np.bool_] = ((one[:, 0] & many[:, 1]) != 0) & ((many[:, 0] & one[:, 1]) != 0)
    return meet
