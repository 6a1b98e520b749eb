"""`Tree`: boxes that are inserted, moved and removed, and searched for pairs and ray hits."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from gjk3d.broad import nodes as moving
from gjk3d.broad import search
from gjk3d.broad.nodes import BIN, BINS, BOX, HEIGHT, LEAVES, LINKS, ROOT, SPAN, STATE, build
from gjk3d.typing import Array, Ints

_CHUNK = 65536  #: pairs of one kernel call, at most
_FEW = 8  #: leaves are moved one by one if they are fewer than one in this number
_WORSE = 1.3  #: growth of the surfaces of a tree at which it is built again


def box_gaps(a: Array, b: Array) -> Array:
    """Return the distances of boxes, (n, 6) each, row by row."""
    gaps = np.maximum(np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]), 0.0)
    lengths: Array = np.sqrt((gaps * gaps).sum(axis=1))
    return lengths


class Tree:
    """A tree of leaves with axis-aligned boxes. The caller numbers the leaves from 0, without large gaps."""

    __slots__ = ("_capacity", "_changes", "_cost", "boxes", "links", "state")
    boxes: Array
    links: Ints
    state: Ints

    def __init__(self, capacity: int = 0) -> None:
        self._cost, self._changes, self._capacity = 0.0, 0, 0
        self.boxes, self.links = np.zeros((0, BOX)), np.zeros((0, LINKS), dtype=np.int64)
        self.state = np.array([-1, -1, 0], dtype=np.int64)
        assert len(self.state) == STATE
        self.reserve(capacity)

    def __len__(self) -> int:
        return int(self.state[LEAVES])

    @property
    def leaves(self) -> Ints:
        """The numbers of all leaves, ascending."""
        numbers: Ints = np.flatnonzero(self.links[: self._capacity, HEIGHT] == 0)
        return numbers

    @property
    def bounds(self) -> Array:
        """The box of all leaves, (6,) float. Without leaves it is from infinity to minus infinity."""
        root = int(self.state[ROOT])
        return np.repeat((inf, -inf), 3) if root < 0 else self.boxes[root].copy()

    def reserve(self, capacity: int) -> None:
        """Grow the arrays so that leaves may have numbers below ``capacity``."""
        if capacity <= self._capacity:
            return
        capacity = max(capacity, 2 * self._capacity, 16)
        leaves, boxes = self.leaves, self.boxes
        self.boxes, self.links = np.zeros((2 * capacity, BOX)), np.full((2 * capacity, LINKS), -1, dtype=np.int64)
        self.boxes[leaves], self._capacity = boxes[leaves], capacity
        self._build(leaves)

    def _build(self, leaves: Ints) -> None:
        """Build the tree of leaves whose boxes are already written."""
        waiting = np.empty((len(leaves) + 1, SPAN), dtype=np.int64)
        self._cost = build(
            self.boxes, self.links, self.state, leaves, len(leaves), self._capacity, waiting,
            np.empty((BINS + 1, BIN)), np.empty(BINS),
        )  # fmt: skip
        self._changes = 0

    def changed(self, count: int) -> None:
        """Count leaves that are changed one by one. After half of them, build the tree again, because it has degraded.

        A caller that moves leaves by `nodes.move_leaf` calls this first.
        """
        self._changes += count
        if 2 * self._changes > self.state[LEAVES] + 16:
            self._build(self.leaves)

    def insert(self, leaves: Ints, boxes: Array) -> None:
        """Insert new leaves with boxes (m, 6)."""
        if not len(leaves):
            return
        self.reserve(int(leaves.max()) + 1)
        if len(leaves) * _FEW < len(self):
            moving.insert_many(self.boxes, self.links, self.state, leaves, boxes)
            self.changed(len(leaves))
            return
        before = self.leaves
        moving.put_boxes(self.boxes, leaves, boxes)
        self._build(np.concatenate([before, leaves]))

    def remove(self, leaves: Ints) -> None:
        """Remove leaves."""
        moving.remove_many(self.boxes, self.links, self.state, leaves)
        self.changed(len(leaves))

    def move(self, leaves: Ints, boxes: Array) -> None:
        """Set the boxes of leaves, (m, 6), and restructure the tree where they move far."""
        if len(leaves) * _FEW < self.state[LEAVES]:
            moving.move_many(self.boxes, self.links, self.state, leaves, boxes)
            self.changed(len(leaves))
            return
        moving.put_boxes(self.boxes, leaves, boxes)
        cost = moving.refit(self.boxes, self.links, self.state, np.empty(self._capacity, dtype=np.int64))
        if not cost <= _WORSE * self._cost:
            self._build(self.leaves)

    # --- searches ------------------------------------------------------------------------------------------------

    def pairs(self, within: float = 0.0, block_size: int = _CHUNK) -> Iterator[Ints]:
        """Yield blocks of pairs of leaves, (m, 2), whose boxes are within a distance along every axis.

        Each pair occurs once. The order of the two leaves and the order of the pairs depend on the tree.
        """
        root = int(self.state[ROOT])
        if len(self) < 2:
            return
        stack = np.empty((3 * int(self.links[root, HEIGHT]) + 3, 2), dtype=np.int64)
        stack[0] = root
        top = 1
        while top > 0:
            out = np.empty((block_size, 2), dtype=np.int64)
            count, top = search.pairs_within(self.boxes, self.links, within, stack, top, out)
            yield out[:count]

    def along_rays(
        self, starts: Array, directions: Array, far: float = inf, block_size: int = _CHUNK
    ) -> Iterator[Ints]:
        """Yield blocks of (m, 2): a ray, and a leaf whose box the ray may hit. ``directions`` are unit vectors."""
        root = int(self.state[ROOT])
        if root < 0:
            return
        stack = np.empty((int(self.links[root, HEIGHT]) + 2, 2), dtype=np.int64)
        ray, top = 0, 0
        while ray < len(starts):
            out = np.empty((block_size, 2), dtype=np.int64)
            count, ray, top = search.along_rays(
                self.boxes, self.links, root, starts, directions, far, ray, stack, out, top
            )
            yield out[:count]
