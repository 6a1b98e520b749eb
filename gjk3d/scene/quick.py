"""Queries on convex objects that one call of compiled code answers; see `walk`.

Queries that it cannot settle are left to `narrow`, which also solves all other scenes.
"""

from __future__ import annotations

import threading
from typing import Any, Literal

import numpy as np

from gjk3d.convex.pairs import pair_distance
from gjk3d.convex.rows import FIRST_POINTS, scratch
from gjk3d.narrow import solve
from gjk3d.narrow.room import Solver, solver_in
from gjk3d.results import Distance, pack_marks
from gjk3d.scene import walk
from gjk3d.scene.objects import Objects
from gjk3d.scene.results import Clearance, NamePair, ScenePairs
from gjk3d.scene.walk import NONE, Answer, Shapes, Side
from gjk3d.scene.walk import nearest as walk_nearest
from gjk3d.typing import Array, Ints

_MOST = 16384  #: pairs that meet or may meet; where there are more, they are asked in blocks, so that Ctrl-C is heard
_MANY = 4096  #: and so are all pairs of more objects
_FIRST = np.zeros((1, 2), dtype=np.int64)
_NOTHING = np.zeros((0, 3), dtype=np.int64)
_NO_FLOORS = np.zeros(0, dtype=np.int64)
_NO_KEYS = np.zeros(0, dtype=np.int64)
_local = threading.local()


class Quick:
    """Two scenes, or one with itself, or a single slot of one with the rest of it, which may be that of a guest."""

    __slots__ = ("guest", "mine", "slot", "theirs")

    def __init__(self, mine: Objects, theirs: Objects, slot: int = -1, guest: bool = False) -> None:
        self.mine, self.theirs, self.slot, self.guest = mine, theirs, slot, guest

    def _sides(self) -> tuple[Any, Shapes, Side, Side, Ints]:
        """Return the pairs, the shapes, both scenes, and what is allowed.

        What has moved by itself is moved in the tree by the walk, which has to follow.
        """
        mine, theirs = self.mine, self.theirs
        if mine is theirs:
            fresh, guest = mine.settle_but_one(), self.slot if self.guest else -1
            side, again = mine.side(fresh), mine.side(guest, floors=_NO_FLOORS)
            return mine.pairs, mine.packed, side, again, mine.keys
        fresh, fresh_b = mine.settle_but_one(), theirs.settle_but_one()
        pairs, shapes = mine.packed_with(theirs)
        side = mine.side(fresh)
        other = theirs.side(fresh_b, bits=mine.translated(theirs), shift=len(mine.pairs))
        return pairs, shapes, side, other, _NO_KEYS

    def _placed(self, side: Side, other: Side) -> None:
        """Take note of what the walk has moved."""
        if side.fresh >= 0:
            self.mine.placed()
        if other.fresh >= 0 and self.theirs is not self.mine:
            self.theirs.placed()

    def _some_left(self) -> bool:
        """Tell whether there is what has no box that the walk does not meet; once new objects have their places."""
        mine, theirs = self.mine, self.theirs
        if self.slot in mine.planes:
            return True
        return len(mine.planes) > len(mine.floors) or len(theirs.planes) > len(theirs.floors)

    def _most_rows(self) -> int:
        """Return how many rows a stack has at most: three a level of one tree, or two of both, and there is more."""
        return len(self.mine.tree.links) + len(self.theirs.tree.links) + 4

    def meeting(self, margin: float, any_will_do: bool) -> Ints | Literal[True] | None:
        """Return slots that meet or may meet, (k, 3) with what of both, in no order; None where they are too many.

        Where any will do, it is True if two are known to meet.
        """
        if not self.mine.slots or not self.theirs.slots or (self.slot < 0 and len(self.mine.slots) > _MANY):
            return None
        _, shapes, side, other, keys = self._sides()
        if self.slot in self.mine.planes:
            return None
        rows = self._most_rows()
        stack, found = room(rows, 64)
        solver = one_solver()
        while True:
            count = walk.meeting(shapes, side, other, self.slot, keys, margin, any_will_do, solver, stack, found)
            self._placed(side, other)
            if count >= 0:
                return found[:count] if count else _NOTHING
            if count == NONE:
                return True
            if len(found) >= _MOST:
                return None
            side, other = side._replace(fresh=-1), other._replace(fresh=-1)
            stack, found = room(rows, 4 * len(found))

    def nearest(self, within: float) -> Nearest | None:
        """Return the nearest two of all, None where that is not settled, or there are none within that distance."""
        if not self.mine.slots or not self.theirs.slots:
            return None
        if self.slot < 0 and len(self.mine.slots) > _MANY:
            return None
        pairs, shapes, side, other, keys = self._sides()
        if self._some_left():
            return None
        stack, _ = room(self._most_rows(), 64)
        out, flags = np.empty((2, solve.FLOATS + 16)), np.empty((2, solve.INTS + 2), dtype=np.int64)
        ranks, room_of_one = (self.mine.ranks, self.theirs.ranks), one_solver().room
        code = walk_nearest(shapes, side, other, self.slot, keys, within, ranks, room_of_one, stack, Answer(out, flags))
        self._placed(side, other)
        return None if code < 0 else Nearest(out, flags, pairs.shapes, within)

    def hits(self, margin: float) -> list[NamePair] | None:
        """Return the names of all that meet, as `Scene.collisions` does; None where that is not settled."""
        found = self.meeting(margin, False)
        if found is None or found is True or self._some_left():
            return None
        hits = found.tolist()
        if any(told != walk.MEETS for _, _, told in hits):
            return None
        mine, theirs = self.mine.names, self.theirs.names
        if self.guest:
            return [(name, None) for name in sorted(mine[i] for i, _, _ in hits)]
        names = [(mine[i], theirs[j]) for i, j, _ in hits]
        return sorted((b, a) if b < a else (a, b) for a, b in names) if mine is theirs else sorted(names)

    def any_hit(self, margin: float) -> bool | None:
        """Tell whether any two meet; None where that is not settled."""
        found = self.meeting(margin, True)
        if found is None or found is True:
            return found
        return None if len(found) or self._some_left() else False

    def named(self, nearest: Nearest) -> NamePair:
        """Return the names of the nearest two; a guest has none."""
        a, b = nearest.slots
        return self.mine.names[a], None if self.guest else self.theirs.names[b]


class Nearest:
    """The pair that is nearest, as `walk` writes it."""

    __slots__ = ("_flags", "_shapes", "out", "within")

    def __init__(self, out: Array, flags: Ints, shapes: Any, within: float) -> None:
        self.out, self._flags, self._shapes, self.within = out, flags, shapes, within

    @property
    def slots(self) -> list[int]:
        """The slot of each."""
        slots: list[int] = self._flags[0, solve.INTS :].tolist()
        return slots

    def pairs(self, names: NamePair) -> ScenePairs[Any, Any]:
        """Return what `Scene.closest` tells."""
        poses = self.out[:, solve.FLOATS :].reshape(1, 2, 4, 4)
        out, flags, numbers = self.out[:1], self._flags[:1], self._flags[1:, solve.INTS :]
        result = pair_distance(out, flags, numbers, self._shapes, poses, self._asked)
        a, b = names
        return ScenePairs(_FIRST, ([a], ["" if b is None else b]), result)

    def clearance(self, names: NamePair) -> Clearance:
        """Return what `Scene.clearance` tells."""
        (status, steps, tight, *_), (*_, i, j) = self._flags.tolist()
        result: Distance[float] = object.__new__(Distance)
        a, b = (row[solve.FLOATS :].tobytes() for row in self.out)
        result._row = self.out, pack_marks(status, steps, tight), self._shapes[i], self._shapes[j], self._asked, a, b
        return Clearance(result.distance, names, result)

    @property
    def _asked(self) -> Any:
        return solve.SIGNED, max(self.within, 0.0), None, False


def room(rows: int, pairs: int) -> tuple[Ints, Ints]:
    """Return this thread's room for a stack of so many pairs, and for pairs that are found."""
    kept: tuple[Ints, Ints] | None = getattr(_local, "room", None)
    if kept is None or len(kept[0]) < rows or len(kept[1]) < pairs:
        stack, found = np.empty((max(rows, 64), 2), dtype=np.int64), np.empty((pairs, 3), dtype=np.int64)
        kept = _local.room = stack, found
    return kept


def one_solver() -> Solver:
    """Return this thread's solver of one pair."""
    kept: Solver | None = getattr(_local, "solver", None)
    if kept is None:
        one, marks = np.empty((1, solve.FLOATS)), np.empty((1, solve.INTS), dtype=np.int64)
        kept = _local.solver = solver_in(*scratch(FIRST_POINTS)[:2], FIRST_POINTS, one, marks)
    return kept
