"""Pairs that the kernels cannot answer: meshes, other solids, half-spaces, functions of a user's.

Each shape has something convex that stands for it, see `gjk3d.robot.obstacles.outline`. Where these are far enough
apart nothing else is asked; the others go to the functions of two shapes, all configurations of a pair at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from gjk3d._kernels.first_call import first_call
from gjk3d.convex.rows import FIRST_POINTS, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.room import workspace
from gjk3d.query.distance import collide, signed_distance
from gjk3d.results import Distance
from gjk3d.robot.model import Robot
from gjk3d.robot.outlines import outlines_many
from gjk3d.robot.tables import Tables
from gjk3d.typing import Array, Ints

_AT_ONCE = 1 << 18  #: most numbers of configurations times pairs that are held

_ALL = slice(None)


class Solids:
    """The pairs of a checker that the kernels leave open, see `Tables.solid_pairs`.

    Configurations are rows of floats, checked.
    """

    __slots__ = ("_tables", "robot")

    def __init__(self, robot: Robot, tables: Tables) -> None:
        self.robot, self._tables = robot, tables

    def __len__(self) -> int:
        return len(self._tables.solid_pairs)

    def names(self, s: int) -> tuple[str, str]:
        """Return the names of a pair."""
        return self._tables.names(self._tables.solid_pairs[s])

    def links(self, s: int) -> tuple[int, int]:
        """Return the links that a pair is fixed to; -1 is the world."""
        a, b = self._tables.solid_pairs[s].tolist()
        return int(self._tables.link[a]), int(self._tables.link[b])

    def hits(self, rows: Array) -> Ints:
        """Return for each configuration a pair that is closer than its margin, or -1."""
        answer = np.full(len(rows), -1, dtype=np.int64)
        margins = self._tables.solid_margins
        for span in self._spans(len(rows)):
            near = self._outlines(rows[span], margins, False) <= margins
            if not near.any():
                continue
            # the likeliest first: which it is of several is nobody's promise
            counts = near.sum(axis=0)
            for s in sorted(np.flatnonzero(counts).tolist(), key=lambda s: -counts[s]):
                at = np.flatnonzero(near[:, s] & (answer[span] < 0))
                if not len(at):
                    continue
                pose_a, pose_b = self.poses(rows[span][at], s)
                shape_a, shape_b = self.shapes(s)
                met = np.broadcast_to(collide(shape_a, shape_b, pose_a, pose_b, margin=float(margins[s])), len(at))
                answer[span.start + at[met]] = s
        return answer

    def bounds(self, rows: Array, most: float | Array = inf) -> tuple[Array, Array]:
        """Return bounds of the signed distance of every pair, (n, pairs) each.

        A pair that is proven to be farther apart than ``most``, one number or one for each pair, is not looked at
        closely: its lower bound is more than that, and its upper one infinite.
        """
        lower, upper = np.empty((len(rows), len(self))), np.full((len(rows), len(self)), inf)
        limits = np.broadcast_to(np.asarray(most, dtype=np.float64), len(self))
        for span in self._spans(len(rows)):
            lower[span] = self._outlines(rows[span], limits, True)
            for s in range(len(self)):
                at = span.start + np.flatnonzero(lower[span, s] <= limits[s])
                if len(at):
                    found = self.ask(rows[at], s, max(float(limits[s]), 0.0))
                    lower[at, s] = found.lower
                    upper[at, s] = np.where(found.lower > limits[s], inf, found.upper)
        return lower, upper

    def nearest(self, rows: Array, most: float, out: Array, which: Ints) -> None:
        """Better the rows of `gjk3d.robot.walk.clearance_many`, where a pair here is nearer, within ``most``.

        Pairs here are numbered behind those of the kernels.
        """
        for span in self._spans(len(rows)):
            self._nearest(rows[span], most, out[span], which[span])

    def _nearest(self, rows: Array, most: float, out: Array, which: Ints) -> None:
        best, least = np.minimum(out[:, 0], most), out[:, 1].copy()
        lower = self._outlines(rows, np.full(len(self), best.max(initial=0.0)), True)
        for s in np.argsort(lower.min(axis=0, initial=inf), kind="stable").tolist():
            at = np.flatnonzero(lower[:, s] <= best)
            if not len(at):
                continue
            found = self.ask(rows[at], s, max(float(best[at].max()), 0.0))
            least[at] = np.minimum(least[at], found.lower)
            better = np.flatnonzero((found.distance < best[at]) | ((found.distance == best[at]) & np.isinf(out[at, 0])))
            to = at[better]
            best[to] = out[to, 0] = found.distance[better]
            out[to, 2], out[to, 3:6] = found.upper[better], found.normal[better]
            out[to, 6:9], out[to, 9:12] = found.point_a[better], found.point_b[better]
            which[to, 0], which[to, 1] = len(self._tables.rows) + s, -1
        out[:, 1] = np.where(np.isinf(out[:, 0]), inf, np.minimum(least, out[:, 0]))

    def rows_within(self, rows: Array, s: int, most: float) -> Iterator[tuple[int, Array]]:
        """Yield the configurations at which a pair is not farther apart than that: number, and row as of `solve`."""
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            at = np.flatnonzero(self._outlines(some, np.array([most]), True, slice(s, s + 1))[:, 0] <= most)
            if len(at):
                found = self.ask(some[at], s, max(most, 0.0))
                numbers = np.column_stack([found.distance, found.lower, found.upper])
                out = np.hstack([numbers, found.normal, found.point_a, found.point_b])
                for k in np.flatnonzero(~(found.lower > most)).tolist():
                    yield start + int(at[k]), out[k]

    def ask(self, rows: Array, s: int, most: float = inf) -> Distance:
        """Return the signed distance of a pair, a row for each configuration."""
        pose_a, pose_b = self.poses(rows, s)
        return signed_distance(*self.shapes(s), pose_a, pose_b, max_distance=most)

    def shapes(self, s: int) -> tuple[Any, Any]:
        """Return the shapes of a pair."""
        a, b = self._tables.solid_pairs[s]
        return self._tables.shapes[a], self._tables.shapes[b]

    def poses(self, rows: Array, s: int) -> tuple[Array, Array]:
        """Return where the shapes of a pair are, (n, 4, 4) each."""
        links = self.robot.link_poses(rows)
        a, b = self._tables.solid_pairs[s].tolist()
        return self._tables.placed(links, a), self._tables.placed(links, b)

    def _spans(self, count: int) -> Iterator[slice]:
        size = max(1, _AT_ONCE // max(len(self), 1))
        for start in range(0, count if len(self) else 0, size):
            yield slice(start, min(start + size, count))

    def _outlines(self, rows: Array, most: Array, closely: bool, which: slice = _ALL) -> Array:
        """Return lower bounds, (n, pairs), hardly any where two outlines touch."""
        pairs = self._tables.solid_pairs[which]
        out = np.empty((len(rows), len(pairs)))
        with first_call("robot solids"):
            most = np.minimum(most, 1e50)
            outlines_many(0, len(rows), out, *self._asked(rows, pairs, most, closely, *scratch(FIRST_POINTS)))
        return out

    def prepared(self, q: Array) -> Any:
        """Return what `gjk3d.robot.outlines.all_far` takes, which is then asked of what is in q, (1, dof)."""
        floats, ints = workspace(FIRST_POINTS)
        own = np.empty(floats), np.empty(ints, dtype=np.int64), np.empty((6, 10))
        pairs, margins = self._tables.solid_pairs, self._tables.solid_margins
        return np.empty((1, len(pairs))), *self._asked(q, pairs, margins, False, *own)

    def _asked(
        self, rows: Array, pairs: Ints, most: Array, closely: bool, work: Array, table: Ints, simplex: Array
    ) -> Any:
        tables, count = self._tables, len(self._tables.link)
        return (
            *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
            tables.planes, pairs, most, closely, np.empty((4, 4)), np.empty((len(self.robot.links), 4, 4)),
            np.empty((count, 13)), np.empty((count, 4)), np.full(count, -1, dtype=np.int64), work, table, FIRST_POINTS,
            np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64), simplex, np.empty((0, MEMORY)),
        )  # fmt: skip
