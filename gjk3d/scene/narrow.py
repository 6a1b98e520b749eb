"""What the narrow phase says about pairs of objects: the one place that knows what kinds of solids there are.

All are convex shapes, answered by the kernels of `gjk3d.batch.Pairs` in one call.
"""

from __future__ import annotations

from math import inf

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
        parts = [none, *parts]
        return Answers(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("pairs", "out", "flags")))


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

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return answers as a result whose rows know their shapes and poses."""
        pairs = answers.pairs
        rows = self.rows[np.column_stack([pairs[:, 0], pairs[:, 1] + self.shift])]
        poses = np.zeros((len(pairs), 2, 4, 4))
        poses[..., :3, :3], poses[..., :3, 3] = rows[..., :9].reshape(-1, 2, 3, 3), rows[..., 9:12]
        poses[..., 3, 3] = 1.0
        asked = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, self.shapes(pairs), self.pairs.shapes, poses, asked)
