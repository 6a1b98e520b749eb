"""What stands between the questions to a checker and the kernels: scratch, what is remembered, what is unsure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock
from typing import Any

import numpy as np

from gjk3d._kernels.first_call import first_call
from gjk3d.convex.checks import check_workers
from gjk3d.convex.rows import FIRST_POINTS, in_chunks, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.room import workspace
from gjk3d.robot.model import Robot
from gjk3d.robot.outlines import all_far
from gjk3d.robot.solids import Solids
from gjk3d.robot.surroundings import Surroundings
from gjk3d.robot.tables import PairNames, Room, Tables
from gjk3d.robot.walk import FAR, FREE, REFUSED, UNSURE, clearance_many, every_many, free_many, free_one
from gjk3d.typing import Array, Ints

_FLOAT = np.dtype(np.float64)


class Answers(Surroundings):
    """See the module. A pair is a number: of those that the kernels answer, behind them the solids'."""

    def __init__(self, robot: Robot, surroundings: Any, touching: Any, margin: float) -> None:
        self._lock = Lock()
        super().__init__(robot, surroundings, touching, margin)

    def _quick(self, q: Any) -> int:
        """Answer one configuration with hardly any Python: a pair, `FREE`, or something else where `_hits` must."""
        if type(q) is list:
            try:
                q = np.array(q)
            except ValueError:
                return REFUSED
        if not (type(q) is np.ndarray and q.ndim == 1 and q.dtype is _FLOAT and q.flags.carray):
            return REFUSED
        tables = self._ready()
        if len(q) != self.robot.dof or not self._lock.acquire(blocking=False):
            return REFUSED
        try:
            if tables.single is not None:
                told = free_one(q, *tables.single)
                if told == FREE and tables.far is not None and not all_far(*tables.far):
                    found = int(self.solids.hits(q[None])[0])
                    return found + len(tables.rows) if found >= 0 else FREE
                return told
            tables.single = (
                *self.robot.chain, np.empty((1, self.robot.dof)), tables.link, tables.local, tables.ints, tables.floats,
                tables.starts, tables.rows, tables.subs, tables.order, tables.margins, tables.cache,
                *self._room(tables), np.empty(len(tables.link), dtype=np.int64), np.empty((6, 10)),
                np.empty(1, dtype=np.int64),
            )  # fmt: skip
            tables.far = self.solids.prepared(tables.single[7]) if len(tables.solid_pairs) else None
            with first_call("robot checker"):
                free_one(q, *tables.single)
                if tables.far is not None:
                    all_far(*tables.far)
            return REFUSED
        finally:
            self._lock.release()

    def _hits(self, q: Any, workers: int) -> tuple[Ints, bool]:
        check_workers(workers)
        rows, stacked = self.robot.configurations(q)
        answer = np.empty(len(rows), dtype=np.int64)
        tables = self._ready()

        def run(start: int, stop: int) -> None:
            order, cache = kept if kept is not None else tables.fresh_memory()
            free_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, order, tables.margins, cache, *self._room(tables),
                np.full(len(tables.link), -1, dtype=np.int64), scratch(FIRST_POINTS)[2], start, stop, answer,
            )  # fmt: skip

        with self._remembered(tables, workers) as kept, first_call("robot checker"):
            in_chunks(len(rows), workers, run)
        for k in np.flatnonzero(answer == UNSURE):
            out, which = self._every(rows[k : k + 1], tables.margins)
            near = (which[0] != FAR) & ~(out[0, :, 1] > tables.margins)
            answer[k] = np.argmax(near) if near.any() else FREE
        if len(tables.solid_pairs):
            left = np.flatnonzero(answer == FREE)
            found = self.solids.hits(rows[left])
            answer[left] = np.where(found >= 0, found + len(tables.rows), FREE)
        return answer, stacked

    def _every(self, rows: Array, most: Array) -> tuple[Array, Ints]:
        """Return the signed distance of every pair as far as ``most`` of it, and its sub-pair, -1 or `FAR`."""
        tables = self._ready()
        shape = len(rows), len(tables.rows)
        out, which = np.full((*shape, narrow.FLOATS), np.nan), np.empty(shape, dtype=np.int64)
        work, table, _ = scratch(FIRST_POINTS)
        with first_call("robot collisions"):
            every_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, most, *self._room(tables), work, table, FIRST_POINTS,
                np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64), np.empty((0, MEMORY)), 0,
                len(rows), out, which,
            )  # fmt: skip
        return out, which

    @contextmanager
    def _remembered(self, tables: Tables, workers: int) -> Iterator[tuple[Ints, Array] | None]:
        """Lend the order and the axes to one thread; another that asks meanwhile goes without, and gets None.

        Two in the same arrays could lose a pair from the order, which would then never be asked. A question takes its
        tables once, and all that it needs from these: another thread may add or remove objects meanwhile.
        """
        if workers != 1 or not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield tables.order, tables.cache
        finally:
            self._lock.release()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def _room(self, tables: Tables) -> tuple[Array, Array, Array, Array]:
        """Return scratch: a matrix, the poses of links, and the poses and balls of slots."""
        count = len(tables.link)
        return np.empty((4, 4)), np.empty((len(self.robot.links), 4, 4)), np.empty((count, 13)), np.empty((count, 4))

    def _nearest(self, rows: Array, most: float, workers: int) -> tuple[Array, Ints]:
        """Return rows as `solve` makes them and the pairs they are of, (n, 2): see `clearance_many`."""
        out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
        out[:, :3] = inf
        tables = self._ready()

        def room() -> Room:
            floats, ints = workspace(FIRST_POINTS)
            return (
                *self._room(tables), np.empty(floats), np.empty(ints, np.int64), FIRST_POINTS,
                np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64), np.empty(len(tables.cache)),
            )  # fmt: skip

        def ask(cache: Array, lent: Room, start: int, stop: int) -> None:
            matrix, links, placed, balls, work, table, points, one, marks, gaps = lent
            clearance_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, min(most, 1e50), cache, matrix, links, placed, balls, work, table, points,
                one, marks, gaps, start, stop, out, which,
            )  # fmt: skip

        def run(start: int, stop: int) -> None:
            ask(kept[1] if kept is not None else np.zeros_like(tables.cache), room(), start, stop)

        if len(rows) == 1 and tables.room is not None and self._lock.acquire(blocking=False):
            try:  # the same without what only stacks need
                ask(tables.cache, tables.room, 0, 1)
            finally:
                self._lock.release()
        else:
            with self._remembered(tables, workers) as kept, first_call("robot clearance"):
                in_chunks(len(rows), workers, run)
            if tables.room is None:
                tables.room = room()
        if len(tables.solid_pairs):
            self.solids.nearest(rows, most, out, which)
        return out, which

    @property
    def _names(self) -> PairNames:
        return PairNames(self._ready())

    @property
    def solids(self) -> Solids:
        """The pairs that the kernels leave open: meshes, other solids, half-spaces."""
        return Solids(self.robot, self._ready())
