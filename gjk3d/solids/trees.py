"""Unions whose parts are found by a tree of their boxes."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from gjk3d._numba import kernel
from gjk3d.broad.nodes import BOX, HEIGHT, LEFT, RIGHT, ROOT
from gjk3d.broad.tree import Tree
from gjk3d.shapes.base import Array, Ints
from gjk3d.solids.base import BLOCK, Union, near_by_comparing


@kernel
def nearest_leaf(boxes: Array, links: Ints, root: int, box: Array, stack: Ints) -> int:
    """Return the leaf whose box is nearest to a box; of several the one that is met first, nearer middles first."""
    best, least = root, inf
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        gap = 0.0
        for c in range(3):
            away = max(boxes[node, c] - box[3 + c], box[c] - boxes[node, 3 + c], 0.0)
            gap += away * away
        if gap >= least:
            continue
        if links[node, HEIGHT] == 0:
            best, least = node, gap
            continue
        left, right = links[node, LEFT], links[node, RIGHT]
        far = 0.0
        for c in range(3):
            middle = box[c] + box[3 + c]
            one, two = boxes[left, c] + boxes[left, 3 + c] - middle, boxes[right, c] + boxes[right, 3 + c] - middle
            far += one * one - two * two
        if far < 0.0:
            left, right = right, left
        stack[top], stack[top + 1] = left, right
        top += 2
    return best


class InTree(Union):
    """See the module; a class that derives from it says what its `boxes` are."""

    __slots__ = ("_tree",)
    _tree: Tree

    def _plant(self) -> None:
        """Build the tree of all boxes."""
        everyone = np.arange(self.count)
        boxes = np.ascontiguousarray(self.boxes(everyone))
        assert boxes.shape == (self.count, BOX)
        self._tree = Tree(self.count)
        self._tree.insert(everyone, boxes)
        self.endless = False
        self.reach = float(np.abs(self.box).max())

    @property
    def box(self) -> Array:
        """See `Union`."""
        return self._tree.bounds

    def near(self, boxes: Array, within: float) -> Iterator[Ints]:
        """See `Union`."""
        found = near_by_comparing(self._tree.boxes[: self.count], boxes, within)
        if found is not None:
            yield from found
            return
        asked = Tree(len(boxes))
        asked.insert(np.arange(len(boxes)), boxes)
        yield from asked.pairs_with(self._tree, within, BLOCK)

    def along_rays(self, starts: Array, ways: Array, far: float) -> Iterator[Ints]:
        """Yield blocks of a ray and a part whose box it may meet, (k, 2); ``ways`` are unit vectors."""
        return self._tree.along_rays(starts, ways, far)

    def seed(self, box: Array) -> int:
        """See `Union`."""
        root = int(self._tree.state[ROOT])
        stack = np.empty(int(self._tree.links[root, HEIGHT]) + 2, dtype=np.int64)
        return int(nearest_leaf(self._tree.boxes, self._tree.links, root, box, stack))
