"""Questions about one convex object and the rest, or whether any two meet: one call of compiled code; see `walk`.

What that cannot settle, it leaves to the way of many pairs, in `candidates` and `narrow`, which answers all else.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from gjk3d.broad.nodes import HEIGHT, ROOT
from gjk3d.convex.pairs import pair_distance
from gjk3d.convex.rows import FIRST_POINTS, scratch
from gjk3d.narrow import solve
from gjk3d.results import Distance, pack_marks
from gjk3d.scene import walk
from gjk3d.scene.objects import Objects
from gjk3d.scene.results import Clearance, NamePair, ScenePairs
from gjk3d.typing import Array, Ints

_local = threading.local()
#: what both walks take first
Asked = tuple[Ints, Array, Ints, Ints, Array, Ints, Ints, Array, Ints, Ints, int, int]
_MANY = 4096  #: of more objects the pairs are asked in blocks, so that Ctrl-C is heard
_FIRST = np.zeros((1, 2), dtype=np.int64)


class One:
    """One object of a scene, or a shape that it is asked against."""

    __slots__ = ("guest", "objects", "slot")

    def __init__(self, objects: Objects, slot: int, guest: bool) -> None:
        self.objects, self.slot, self.guest = objects, slot, guest

    def _arrays(self) -> Asked:
        """Return what both walks take first; where the object has moved, the walk moves its leaf."""
        objects, slot = self.objects, self.slot
        moves = objects.settle_but(slot)
        first = walk.GUEST if self.guest else walk.MOVED if moves else walk.STANDS
        pairs, tree = objects.pairs, objects.tree
        return (
            pairs._ints, pairs._floats, objects.table, objects.which, objects.rows, objects.bits, objects.keys,
            tree.boxes, tree.links, tree.state, slot, first,
        )  # fmt: skip

    def collides(self, margin: float) -> bool | None:
        """Tell whether it meets any other; None where that is not settled."""
        arrays = self._arrays()
        stack, found = _room(len(arrays[8]))
        count = walk.meeting(*arrays, margin, True, scratch(FIRST_POINTS)[0], stack, found)
        return True if count < 0 else None if count > 0 or self.objects.planes else False

    def collisions(self, margin: float) -> list[NamePair] | None:
        """Return the names of those that it meets, as `Scene.collisions` does; None where that is not settled."""
        arrays = self._arrays()
        stack, found = _room(len(arrays[8]))
        count = walk.meeting(*arrays, margin, False, scratch(FIRST_POINTS)[0], stack, found)
        if self.objects.planes:
            return None
        hits, names = found[:count].tolist(), self.objects.names
        if any(told != walk.MEETS for _, told in hits):
            return None
        others = sorted(names[leaf] for leaf, _ in hits)
        if self.guest:
            return [(other, None) for other in others]
        mine = names[self.slot]
        return sorted((mine, other) if mine < other else (other, mine) for other in others)

    def nearest(self, within: float) -> Nearest | int:
        """Return the nearest of all and how far it is, or NONE or UNKNOWN; see `walk`."""
        if self.objects.planes:
            return walk.UNKNOWN
        arrays = self._arrays()
        work, table, _ = scratch(FIRST_POINTS)
        stack, _ = _room(len(arrays[8]))
        out, flags = np.empty((2, solve.FLOATS)), np.empty((2, solve.INTS), dtype=np.int64)
        told, poses = np.empty((2, 2), dtype=np.int64), np.empty((1, 2, 4, 4))
        leaf = walk.nearest(
            *arrays, within, self.objects.ranks, work, table, FIRST_POINTS, stack, out, flags, told, poses
        )
        if leaf < 0:
            return leaf
        names = self.objects.names
        a, b = told[0].tolist()
        pair = names[a], None if self.guest else names[b]
        asked = (solve.SIGNED, max(within, 0.0), None, False)
        return Nearest(pair, out[:1], flags[:1], told[1:], poses, self.objects.pairs.shapes, asked)


class Nearest(NamedTuple):
    """The pair that is nearest, in the names' order."""

    names: NamePair
    out: Array
    flags: Ints
    numbers: Ints
    poses: Array
    shapes: Any
    asked: Any

    @property
    def pairs(self) -> ScenePairs[Any, Any]:
        """All that `Scene.closest` tells."""
        result = pair_distance(self.out, self.flags, self.numbers, self.shapes, self.poses, self.asked)
        a, b = self.names
        return ScenePairs(_FIRST, ([a], ["" if b is None else b]), result)

    @property
    def clearance(self) -> Clearance:
        """What `Scene.clearance` tells."""
        (i, j), (status, steps, tight, _) = self.numbers[0].tolist(), self.flags[0].tolist()
        result: Distance[float] = object.__new__(Distance)
        marks = pack_marks(status, steps, tight)
        a, b = (pose.tobytes() for pose in self.poses[0])
        result._row = self.out, marks, self.shapes[i], self.shapes[j], self.asked, a, b
        return Clearance(result.distance, self.names, result)


def any_meet(objects: Objects, margin: float) -> bool | None:
    """Tell whether any two objects meet; None where that is not settled."""
    objects.settle()
    pairs, tree = objects.pairs, objects.tree
    if len(tree) > _MANY:
        return None
    height = int(tree.links[tree.state[ROOT], HEIGHT]) if len(tree) else 0
    told = walk.any_meet(
        pairs._ints, pairs._floats, objects.table, objects.which, objects.rows, objects.bits, objects.keys,
        tree.boxes, tree.links, tree.state, margin, scratch(FIRST_POINTS)[0], _room(3 * height + 3)[1],
    )  # fmt: skip
    return True if told == walk.MEETS else None if told == walk.UNSURE or objects.planes else False


def _room(rows: int) -> tuple[Ints, Ints]:
    """Return this thread's stack of one, and of two, ints a row."""
    kept: tuple[Ints, Ints] | None = getattr(_local, "room", None)
    if kept is None or len(kept[0]) < rows:
        kept = _local.room = np.empty(rows, dtype=np.int64), np.empty((rows, 2), dtype=np.int64)
    return kept
