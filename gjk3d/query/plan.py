"""What single questions about two shapes are answered from: the shapes as kernels take them, and a desk to work at.

The plan of a pair holds numbers and no shapes. The plain functions remember plans by the shapes' identities and forget
them with the shapes.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from gjk3d.convex.rows import FIRST_POINTS, arena, pair_row
from gjk3d.convex.solve import is_mapped
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.room import SIMPLEX, workspace
from gjk3d.poses import WIDTH
from gjk3d.query.dispatch import way_of
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints

# words of a plan: where its arrays are, and how long
FIRST_INT, INTS, FIRST_FLOAT, FLOATS, ROW, FIRST_MEMORY, MEMORIES = range(7)
# words of a desk
POSES, SIMPLEX_AT, ANSWER, WORK, WORKS, TABLE, TABLES, FLAGS, STANDING, OUT = range(10)


class Desk:
    """Scratch of single questions: one for builtins, which take turns, and one for each thread."""

    def __init__(self) -> None:
        room, entries = workspace(FIRST_POINTS)
        self.poses = np.empty((2, WIDTH))
        self.work, self.table = np.empty(room), np.empty(entries, dtype=np.int64)
        self.simplex, self.answer = self.work[:SIMPLEX].reshape(6, 10), np.empty(1, dtype=np.int64)
        self.flags = np.empty((1, narrow.INTS), dtype=np.int64)
        self.standing = np.eye(4)
        self.out = np.empty((1, narrow.FLOATS))
        self._rooms: dict[str, Array] = {}

    def room(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return scratch of a shape; of each name the last is kept."""
        found = self._rooms.get(name)
        if found is None or found.shape != shape:
            found = self._rooms[name] = np.empty(shape)
        return found

    def words(self) -> Ints:
        """Return where all is, as builtins read it."""
        arrays = self.poses, self.simplex, self.answer, self.work, self.table, self.flags, self.standing, self.out
        poses, simplex, answer, work, table, flags, standing, out = (each.ctypes.data for each in arrays)
        return np.array(
            [poses, simplex, answer, work, len(self.work), table, len(self.table), flags, standing, out], dtype=np.int64
        )


_local = threading.local()


def desk() -> Desk:
    """Return this thread's desk."""
    try:
        found: Desk = _local.desk
    except AttributeError:
        found = _local.desk = Desk()
    return found


class Plan:
    """Two convex shapes behind each other, and what they leave for the next question, as kernels take them."""

    __slots__ = ("arena", "floats", "ints", "memory", "row", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        self.ints, self.floats, starts = arena((a, b))
        self.row = pair_row(a, b, starts, 1, 1)
        self.memory = np.zeros((int(warm), MEMORY))
        arrays = self.ints, self.floats, self.row, self.memory
        ints, floats, row, memory = (each.ctypes.data for each in arrays)
        self.arena = self.ints, self.floats, self.row  #: see `gjk3d.narrow.pairs`
        self.words: Ints = np.array(
            [ints, len(self.ints), floats, len(self.floats), row, memory, len(self.memory)], dtype=np.int64
        )


class Prepared:
    """How two are asked, without the two: ``quick`` answers a boolean, ``words`` are there where a plan is enough."""

    __slots__ = ("others", "plan", "quick", "words")

    def __init__(self, a: Any, b: Any, warm: bool) -> None:
        way = way_of(a, b)
        self.others: dict[str, Any] = {}  # what other questions pack for themselves
        self.quick = None if way.prepare is None else way.prepare(a, b)
        both = isinstance(a, Shape) and isinstance(b, Shape)
        # half-spaces have no core
        plane = isinstance(a, Halfspace) or isinstance(b, Halfspace)
        self.plan = Plan(a, b, warm) if both and not plane else None
        # what a user's function raises has to be looked for
        self.words = None if self.plan is None or is_mapped(a) or is_mapped(b) else self.plan.words

    @property
    def arena(self) -> tuple[Ints, Array, Ints]:
        """Both as kernels take them; of two convex shapes that are no half-spaces."""
        assert self.plan is not None
        return self.plan.arena

    @property
    def size(self) -> int:
        """Bytes of its numbers."""
        return 0 if self.plan is None else self.plan.ints.nbytes + self.plan.floats.nbytes


MOST_PAIRS = 256
MOST_BYTES = 32 << 20
PLACES = 1024  #: of the table by which builtins find plans

#: for each place the two shapes' identities, and the address of the plan's words
places = np.zeros((PLACES, 3), dtype=np.int64)


class PreparedPairs:
    """What is prepared for two shapes, as long as both live.

    Threads and handlers of signals may come between any two lines. So that no place ever leads to a plan that is gone:
    who enters one holds it, and looks afterwards whether it is still kept; who drops one holds it until no place does.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[Prepared, Any, Any]] = {}
        self._bytes = 0

    def get(self, a: Any, b: Any) -> Prepared:
        """Return what is prepared for two, made when it is first asked for."""
        found = self._kept.get((id(a), id(b))) or self._put(a, b, Prepared(a, b, False))
        return found[0]

    def get_for_builtins(self, a: Any, b: Any) -> Prepared:
        """Do as `get` does; builtins find it from now on, until one that has the same place comes."""
        key = id(a), id(b)
        found = self._kept.get(key) or self._put(a, b, Prepared(a, b, False))
        if found[0].words is not None:
            place = places[_place_of(*key)]
            place[:] = *key, found[0].words.ctypes.data
            if self._kept.get(key) is not found:
                place[:] = 0
        return found[0]

    def _put(self, a: Any, b: Any, prepared: Prepared) -> tuple[Prepared, Any, Any]:
        if len(self._kept) >= MOST_PAIRS or self._bytes + prepared.size > MOST_BYTES:
            for key in list(self._kept):
                self._drop(key)
            self._bytes = 0
        key = id(a), id(b)

        def gone(_: Any) -> None:
            if _place_of is not None:  # what this module holds goes first where the interpreter ends
                self._drop(key)

        self._bytes += prepared.size
        return self._kept.setdefault(key, (prepared, weakref.ref(a, gone), weakref.ref(b, gone)))

    def _drop(self, key: tuple[int, int]) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._bytes -= found[0].size
            place = places[_place_of(*key)]
            if place[0] == key[0] and place[1] == key[1]:
                place[:] = 0


def _place_of(a: int, b: int) -> int:
    """Return the place of two identities in the table, as `gjk3d.query.single.plan_for` does."""
    return (((a >> 4) * 0x9E3779B1) ^ (b >> 4)) & (PLACES - 1)
