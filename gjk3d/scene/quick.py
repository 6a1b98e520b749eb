"""Queries on convex objects that one call of compiled code answers; see `walk`.

Queries that it cannot settle are left to `narrow`, which also solves all other scenes.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gjk3d.convex.rows import solver
from gjk3d.engine.pairs import pair_distance
from gjk3d.narrow import solve
from gjk3d.narrow.workspace import Solver, per_thread
from gjk3d.results import Distance, pack_marks
from gjk3d.scene import walk
from gjk3d.scene.objects import Objects
from gjk3d.scene.results import Clearance, NamePair, ScenePairs
from gjk3d.scene.walk import NONE, Answer, Shapes, Side
from gjk3d.scene.walk import nearest as walk_nearest
from gjk3d.typing import Array, Ints

_MOST = 16384  #: pairs of one call, at most; more are solved in blocks, so that Ctrl-C works
_MANY = 4096  #: objects of one call, at most, for the same reason
_FIRST = np.zeros((1, 2), dtype=np.int64)
_NOTHING = np.zeros((0, 3), dtype=np.int64)
_NO_FLOORS = np.zeros(0, dtype=np.int64)
_NO_KEYS = np.zeros(0, dtype=np.int64)


class Quick:
    """Two scenes, one scene with itself, or a single slot and the rest of its scene. The slot may be a guest's."""

    __slots__ = ("guest", "mine", "slot", "theirs")

    def __init__(self, mine: Objects, theirs: Objects, slot: int = -1, guest: bool = False) -> None:
        self.mine, self.theirs, self.slot, self.guest = mine, theirs, slot, guest

    def _sides(self) -> tuple[Any, Shapes, Side, Side, Ints]:
        """Return the pairs, the shapes, both scenes, and the keys of allowed pairs.

        The kernel, which must be called next, moves a single moved object in the tree.
        """
        mine, theirs = self.mine, self.theirs
        if mine is theirs:
            fresh, guest = mine.settle_but_one(), self.slot if self.guest else -1
            side_a, again = mine.side(fresh), mine.side(guest, floors=_NO_FLOORS)
            return mine.pairs, mine.packed, side_a, again, mine.keys
        fresh, fresh_b = mine.settle_but_one(), theirs.settle_but_one()
        pairs, shapes = mine.packed_with(theirs)
        side_a = mine.side(fresh)
        side_b = theirs.side(fresh_b, bits=mine.translated(theirs), shift=len(mine.pairs))
        return pairs, shapes, side_a, side_b, _NO_KEYS

    def _placed(self, side_a: Side, side_b: Side) -> None:
        """Mark the objects that the kernel has moved in the tree."""
        if side_a.fresh >= 0:
            self.mine.placed()
        if side_b.fresh >= 0 and self.theirs is not self.mine:
            self.theirs.placed()

    def _some_left(self) -> bool:
        """Return whether there are unbounded objects that the kernel does not handle. New objects must be settled."""
        mine, theirs = self.mine, self.theirs
        if self.slot in mine.planes:
            return True
        return len(mine.planes) > len(mine.floors) or len(theirs.planes) > len(theirs.floors)

    def _most_rows(self) -> int:
        """Return an upper bound on the rows of a stack: it needs three for each level of one tree, or two of both."""
        return len(self.mine.tree.links) + len(self.theirs.tree.links) + 4

    def meeting(self, margin: float, any_will_do: bool) -> Ints | Literal[True] | None:
        """Return the slots of pairs that collide or may collide with their outcomes, (k, 3), in no order.

        It is None if they are too many. With ``any_will_do`` it is True if two objects certainly collide.
        """
        if not self.mine.slots or not self.theirs.slots or (self.slot < 0 and len(self.mine.slots) > _MANY):
            return None
        _, shapes, side_a, side_b, keys = self._sides()
        if self.slot in self.mine.planes:
            return None
        rows = self._most_rows()
        stack, hits, workspace = pair_scratch(rows, 64)
        while True:
            count = walk.colliding_pairs(
                shapes, side_a, side_b, self.slot, keys, margin, any_will_do, workspace, stack, hits
            )
            self._placed(side_a, side_b)
            if count >= 0:
                return hits[:count] if count else _NOTHING
            if count == NONE:
                return True
            if len(hits) >= _MOST:
                return None
            side_a, side_b = side_a._replace(fresh=-1), side_b._replace(fresh=-1)
            stack, hits, workspace = pair_scratch(rows, 4 * len(hits))

    def nearest(self, within: float) -> Nearest | None:
        """Return the nearest pair; None if the kernel cannot settle it, or no pair is within the distance."""
        if not self.mine.slots or not self.theirs.slots:
            return None
        if self.slot < 0 and len(self.mine.slots) > _MANY:
            return None
        pairs, shapes, side_a, side_b, keys = self._sides()
        if self._some_left():
            return None
        stack, _, scratch = pair_scratch(self._most_rows(), 64)
        out, flags = np.empty((2, solve.FLOATS + 16)), np.empty((2, solve.INTS + 2), dtype=np.int64)
        ranks, answer = (self.mine.ranks, self.theirs.ranks), Answer(out, flags)
        workspace = scratch.workspace
        code = walk_nearest(shapes, side_a, side_b, self.slot, keys, within, ranks, workspace, stack, answer)
        self._placed(side_a, side_b)
        return None if code < 0 else Nearest(out, flags, pairs.shapes, within)

    def hits(self, margin: float) -> list[NamePair] | None:
        """Return the names of all colliding pairs, see `Scene.collisions`; None if the kernel cannot settle them."""
        slots = self.meeting(margin, False)
        if slots is None or slots is True or self._some_left():
            return None
        hits = slots.tolist()
        if any(outcome != walk.COLLIDING for _, _, outcome in hits):
            return None
        mine, theirs = self.mine.names, self.theirs.names
        if self.guest:
            return [(name, None) for name in sorted(mine[i] for i, _, _ in hits)]
        names = [(mine[i], theirs[j]) for i, j, _ in hits]
        return sorted((b, a) if b < a else (a, b) for a, b in names) if mine is theirs else sorted(names)

    def any_hit(self, margin: float) -> bool | None:
        """Return whether any pair collides; None if the kernel cannot settle it."""
        hits = self.meeting(margin, True)
        if hits is None or hits is True:
            return hits
        return None if len(hits) or self._some_left() else False

    def named(self, nearest: Nearest) -> NamePair:
        """Return the names of the nearest pair; None for a guest."""
        a, b = nearest.slots
        return self.mine.names[a], None if self.guest else self.theirs.names[b]


class Nearest:
    """The nearest pair, as the kernel writes it."""

    __slots__ = ("_flags", "_shapes", "out", "within")

    def __init__(self, out: Array, flags: Ints, shapes: Any, within: float) -> None:
        self.out, self._flags, self._shapes, self.within = out, flags, shapes, within

    @property
    def slots(self) -> list[int]:
        """The slots of A and B."""
        slots: list[int] = self._flags[0, solve.INTS :].tolist()
        return slots

    def pairs(self, names: NamePair) -> ScenePairs[Any, Any]:
        """Return the result of `Scene.closest`."""
        poses = self.out[:, solve.FLOATS :].reshape(1, 2, 4, 4)
        out, flags, numbers = self.out[:1], self._flags[:1], self._flags[1:, solve.INTS :]
        result = pair_distance(out, flags, numbers, self._shapes, poses, self._query)
        a, b = names
        return ScenePairs(_FIRST, ([a], ["" if b is None else b]), result)

    def clearance(self, names: NamePair) -> Clearance:
        """Return the result of `Scene.clearance`."""
        (status, steps, tight, *_), (*_, i, j) = self._flags.tolist()
        result: Distance[float] = object.__new__(Distance)
        a, b = (row[solve.FLOATS :].tobytes() for row in self.out)
        result._row = self.out, pack_marks(status, steps, tight), self._shapes[i], self._shapes[j], self._query, a, b
        return Clearance(result.distance, names, result)

    @property
    def _query(self) -> Any:
        return solve.SIGNED, max(self.within, 0.0), None, False


@per_thread
class _Scratch:
    """Scratch memory for the queries of scenes."""

    __slots__ = ("hits", "solver", "stack")

    def __init__(self) -> None:
        self.stack, self.hits = np.empty((64, 2), dtype=np.int64), np.empty((64, 3), dtype=np.int64)
        self.solver = solver()


def pair_scratch(rows: int, pairs: int) -> tuple[Ints, Ints, Solver]:
    """Return the thread's scratch for a stack and for pairs, of at least these numbers of rows, and its solver."""
    scratch = _Scratch()
    if len(scratch.stack) < rows:
        scratch.stack = np.empty((rows, 2), dtype=np.int64)
    if len(scratch.hits) < pairs:
        scratch.hits = np.empty((pairs, 3), dtype=np.int64)
    return scratch.stack, scratch.hits, scratch.solver
