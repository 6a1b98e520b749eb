"""Unions of convex parts, numbered from 0: what the questions need of them, and parts found by a tree of boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple
from zlib import crc32

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.mesh import Mesh
from gjk3d.broad.nodes import BOX, HEIGHT, LEFT, RIGHT, ROOT
from gjk3d.broad.tree import Tree
from gjk3d.convex.rows import arena
from gjk3d.frozen import Frozen
from gjk3d.poses import ROUNDING, parts
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_BRUTE = 16384  #: pairs of boxes that are compared straight away
BLOCK = 65536  #: most pairs that a search yields at once


class Packed(NamedTuple):
    """Some parts as the kernels take them, see `gjk3d.shapes.layout`."""

    ints: Ints
    floats: Array
    starts: Ints  #: (k, 2) where each part begins in either


class Union(ABC):
    """Convex parts in one frame. Boxes are rows of least and greatest corner, never too small."""

    __slots__ = ("count", "endless", "reach")

    count: int
    reach: float  #: greatest coordinate of any part
    endless: bool  #: whether all of it goes down without end, below what its boxes say

    @property
    @abstractmethod
    def box(self) -> Array:
        """The box round all parts, (6,)."""

    @abstractmethod
    def boxes(self, which: Ints) -> Array:
        """Return the boxes of some parts, (k, 6)."""

    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the boxes of some parts at a pose of twelve numbers."""
        return turned(self.boxes(which), m)

    @abstractmethod
    def near(self, boxes: Array, within: float) -> Iterator[Ints]:
        """Yield blocks of pairs (box, part) that are no farther apart than that along any axis, (k, 2)."""

    @abstractmethod
    def seed(self, box: Array) -> int:
        """Return a part that is likely to be nearest to a box."""

    @abstractmethod
    def pack(self, which: Ints) -> Packed:
        """Return some parts for the kernels."""

    @abstractmethod
    def rows(self, which: Ints) -> Array:
        """Return the pose rows of some parts, (k, 13)."""

    def singly(self, which: Ints) -> Bools:
        """Tell which parts are a user's functions."""
        return np.zeros(len(which), dtype=bool)

    @abstractmethod
    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""

    def outline(self) -> Shape | None:
        """Return the convex hull, None where it costs too much or does not exist."""
        return None

    @property
    def bodies(self) -> list[tuple[Mesh, Array]]:
        """Closed meshes whose inside counts, and their poses as twelve numbers."""
        return []

    @abstractmethod
    def points(self) -> Array:
        """Return a point of every connected piece at least, (k, 3)."""


class Solid(Frozen):
    """The root of what is no convex shape and is built from some."""

    __slots__ = ()

    def _bytes(self) -> Iterator[bytes]:
        """Yield what is the same in every process."""
        for name in self._fields():
            yield np.asarray(getattr(self, name)).tobytes()

    @property
    def _order(self) -> tuple[int, int]:
        """What the order of two solids in the kernels is decided by: a subclass has that of its base."""
        return self._cached("order", self._counted)

    def _counted(self) -> tuple[int, int]:
        key = crc32(repr(self._fields()).encode())
        for part in self._bytes():
            key = crc32(part, key)
        return self.union().count, key

    def union(self) -> Union:
        """Return the convex parts, packed once."""
        return self._cached("union", self._union)

    def facing(self, box: Array) -> Union:
        """Return what is asked about against something in a box, in the frame of this solid."""
        return self.union()

    def _union(self) -> Union:
        """Return the convex parts; a solid whose parts are made where they are asked about has `facing` instead."""
        raise TypeError(f"a {type(self).__name__} has no list of all its parts: facing() makes those near a box")

    @property
    def bounds(self) -> Array:
        """Least and greatest corner of a box round the solid, (2, 3) float."""
        return self.union().box.reshape(2, 3).copy()


def packed_behind(shapes: Sequence[Shape]) -> Packed:
    """Return shapes behind each other."""
    return Packed(*arena(shapes))


def noise(reach_a: float, reach_b: float, shifts: Array) -> Array:
    """Bound the error of a place of one next to one of another, moved by (n, 3); few numbers for many shifts."""
    far = np.ldexp(1.0, np.frexp(np.abs(shifts).max(axis=-1, initial=0.0))[1])  # the next power of two
    error: Array = ROUNDING * (reach_a + reach_b + far)
    return error


def turned(boxes: Array, m: Array) -> Array:
    """Return the boxes round boxes at a pose of twelve numbers."""
    turn, shift = parts(m)
    middle, half = 0.5 * (boxes[:, :3] + boxes[:, 3:]), 0.5 * (boxes[:, 3:] - boxes[:, :3])
    middle = middle @ turn.T + shift
    half = half @ np.abs(turn).T + ROUNDING * (np.abs(middle) + half + np.abs(shift))
    return np.hstack([middle - half, middle + half])


def box_gaps(a: Array, b: Array) -> Array:
    """Return how far apart boxes are, row by row."""
    gaps = np.maximum(np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]), 0.0)
    lengths: Array = np.sqrt((gaps * gaps).sum(axis=1))
    return lengths


def near_by_comparing(parts: Array, boxes: Array, within: float) -> Iterator[Ints] | None:
    """Yield pairs (box, part) by comparing all of them; None where these are many."""
    if len(parts) * len(boxes) > _BRUTE:
        return None
    apart = np.zeros((len(boxes), len(parts)), dtype=bool)
    for c in range(3):
        apart |= boxes[:, None, c] - parts[None, :, 3 + c] > within
        apart |= parts[None, :, c] - boxes[:, None, 3 + c] > within
    found: Ints = np.argwhere(~apart)
    return iter([found])


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
