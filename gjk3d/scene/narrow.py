"""What the narrow phase says about pairs of objects: the one place that knows what kinds of solids there are.

All are convex shapes, answered by the kernels of `gjk3d.batch.Pairs` in one call.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.batch import PairDistance, pair_distance
from gjk3d.narrow import solve as narrow
from gjk3d.scene.candidates import Candidates
from gjk3d.shapes.base import Array, Ints


class Answers:
    """The numbers of some pairs: rows as those of `gjk3d.narrow.solve`."""

    __slots__ = ("flags", "out", "pairs")

    def __init__(self, pairs: Ints, out: Array, flags: Ints) -> None:
        self.pairs, self.out, self.flags = pairs, out, flags

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, which: NDArray[np.bool_] | Ints) -> Answers:
        return Answers(self.pairs[which], self.out[which], self.flags[which])

    @staticmethod
    def joined(parts: list[Answers]) -> Answers:
        """Return all of them behind each other."""
        none = Answers(
            np.zeros((0, 2), dtype=np.int64), np.zeros((0, narrow.FLOATS)), np.zeros((0, narrow.INTS), dtype=np.int64)
        )
        if len(parts) == 1:
            return parts[0]
        parts = [none, *parts]
        return Answers(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("pairs", "out", "flags")))


class PairPoses:
    """Two poses a pair, made into matrices where they are looked at: in place of an (m, 2, 4, 4) array."""

    __slots__ = ("_at", "_rows")
    ndim = 4

    def __init__(self, rows: Array, at: Ints) -> None:
        self._rows, self._at = rows, at

    def __getitem__(self, index: Any) -> Any:
        at = self._at[index]
        if at.ndim == 2:
            return PairPoses(self._rows, at)
        rows = self._rows[at]
        poses = np.tile(np.eye(4), (2, 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = rows[:, :9].reshape(2, 3, 3), rows[:, 9:12]
        return poses


class Narrow:
    """The narrow phase of a question's pairs of slots."""

    def __init__(self, candidates: Candidates, workers: int) -> None:
        mine, theirs = candidates.mine, candidates.theirs
        self.workers = workers
        self.which_a, self.which_b = mine.which, theirs.which
        self.shift = 0  #: of the other scene's pose rows
        self.pairs, self.rows = mine.pairs, mine.rows
        if not candidates.within_one:
            self.pairs = mine.joined(theirs)
            self.shift = len(mine.rows)
            self.rows = np.concatenate([mine.rows, theirs.rows])
            self.which_b = theirs.which + len(mine.pairs)

    def shapes(self, pairs: Ints) -> Ints:
        """Return the numbers of the shapes of pairs of slots."""
        return np.column_stack([self.which_a[pairs[:, 0]], self.which_b[pairs[:, 1]]])

    def table(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return pairs of slots as pairs of shapes, and as the kernels take them."""
        shapes = self.shapes(pairs)
        return shapes, self.pairs.table(shapes, pairs + (0, self.shift))

    def collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        """Tell which pairs collide, see `gjk3d.collide`."""
        shapes, table = self.table(pairs)
        return self.pairs.collide_rows(shapes, table, self.rows, margin, self.workers)

    def distances(self, pairs: Ints, max_distance: float = inf, tol: float = 0.0) -> Answers:
        """Return the signed distances, and with them those that are only known to exceed ``max_distance``."""
        shapes, table = self.table(pairs)
        out, flags = self.pairs.solve_rows(
            shapes, table, self.rows, narrow.SIGNED, max_distance, tol, self.workers, None
        )
        return Answers(pairs, out, flags)

    def distances_within(self, pairs: Ints, within: float) -> Answers:
        """Return the signed distances of the pairs that are not proven to be farther apart than that.

        The boolean is asked of all first: it costs a third where boxes overlap and shapes do not.
        """
        most = max(within, 0.0)
        answers = self.distances(pairs[self.collide(pairs, most)] if most < inf else pairs, most)
        kept = answers.out[:, 1] <= within
        return answers if kept.all() else answers[kept]

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return answers as a result whose rows know their shapes and poses."""
        pairs = answers.pairs
        poses: Any = PairPoses(self.rows.copy(), pairs + (0, self.shift))
        asked = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, self.shapes(pairs), self.pairs.shapes, poses, asked)
