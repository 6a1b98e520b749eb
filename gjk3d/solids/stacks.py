"""Unions of few parts at many poses: every pair of parts at every pose, asked in one call into the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gjk3d.batch import Pairs
from gjk3d.families import Rows
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PAIR
from gjk3d.poses import WIDTH
from gjk3d.shapes import layout
from gjk3d.shapes.base import Array, Ints
from gjk3d.solids.base import Bools, Union, noise
from gjk3d.solids.between import Nearest, Shapes

_MOST = 64  #: pairs of parts that are asked without looking at boxes
_CHUNK = 256  #: poses at once


class Relative(NamedTuple):
    """Poses of the second in the first's frame, (n, 3, 3) and (n, 3), and the error of places there, (n,)."""

    turns: Array
    shifts: Array
    errors: Array


class Stack:
    """See the module."""

    def __init__(self, a: Union, b: Union) -> None:
        self.a, self.b = a, b
        every_a, every_b = np.arange(a.count), np.arange(b.count)
        one, two = a.pack(every_a), b.pack(every_b)
        singly = np.concatenate([a.singly(every_a), b.singly(every_b)])
        self._pairs = Pairs.packed(
            np.concatenate([one.ints, two.ints]),
            np.concatenate([one.floats, two.floats]),
            singly,
            Shapes(a, every_a, b, every_b),
        )
        i, j = (index.ravel() for index in np.meshgrid(every_a, every_b, indexing="ij"))
        self.count = len(i)
        self._which = np.column_stack([i, a.count + j])
        table = np.zeros((self.count, PAIR), dtype=np.int64)
        table[:, :2], table[:, 3], table[:, 7] = one.starts[i], i, 1
        table[:, 5:7], table[:, 8] = two.starts[j] + (len(one.ints), len(one.floats)), a.count + j
        self._table = table
        self._rows_a, self._rows_b = a.rows(every_a), b.rows(every_b)
        kinds = [p.ints[p.starts[:, 0] + layout.POLYTOPE] == 0 for p in (one, two)]
        self._curved = kinds[0][i] | kinds[1][j]

    @staticmethod
    def takes(a: Union, b: Union) -> bool:
        """Tell whether two unions are such."""
        return a.count * b.count <= _MOST and not a.endless and not a.bodies and not b.bodies

    def relative(self, rows: Rows) -> Relative:
        """Return the poses of the second in the first's frame."""
        turn_a, turn_b = rows.a[:, :9].reshape(-1, 3, 3), rows.b[:, :9].reshape(-1, 3, 3)
        back = turn_a.transpose(0, 2, 1)
        turns = np.broadcast_to(back @ turn_b, (rows.total, 3, 3))
        shifts = np.broadcast_to((back @ (rows.b[:, 9:12] - rows.a[:, 9:12])[..., None])[..., 0], (rows.total, 3))
        return Relative(turns, shifts, noise(self.a.reach, self.b.reach, shifts))

    def _placed(self, at: Relative, which: Ints) -> tuple[Ints, Ints, Array]:
        """Return pairs of shapes, their rows for the kernels, and the poses, of some poses."""
        turns = at.turns[which][:, None] @ self._rows_b[:, :9].reshape(-1, 3, 3)
        moved = np.empty((len(which), self.b.count, WIDTH))
        moved[..., :9] = turns.reshape(len(which), -1, 9)
        moved[..., 9:12] = (at.turns[which][:, None] @ self._rows_b[:, 9:12, None])[..., 0] + at.shifts[which][:, None]
        moved[..., 12] = np.abs(turns.swapaxes(-1, -2) @ turns - np.eye(3)).max(axis=(-1, -2))
        table = np.tile(self._table, (len(which), 1))
        table[:, 8] += np.repeat(np.arange(len(which)) * self.b.count, self.count)
        rows = np.concatenate([self._rows_a, moved.reshape(-1, WIDTH)])
        return np.tile(self._which, (len(which), 1)), table, rows

    def collide(self, at: Relative, margin: float) -> Bools:
        """Tell at which poses the two come within a margin of at least 0."""
        answer = np.empty(len(at.errors), dtype=bool)
        for which in _chunks(at.errors):
            # errors are powers of two of a length and few: one margin a call
            for error in np.unique(at.errors[which]):
                some = which[at.errors[which] == error]
                met = self._pairs.collide_rows(*self._placed(at, some), margin + float(error))
                answer[some] = met.reshape(len(some), -1).any(axis=1)
        return answer

    def nearest(self, at: Relative, which: Ints, most: float) -> Iterator[tuple[int, Nearest]]:
        """Yield how far apart the two are at poses at which they do not meet."""
        for start in range(0, len(which), _CHUNK):
            some = which[start : start + _CHUNK]
            out, _ = self._pairs.solve_rows(*self._placed(at, some), narrow.UNSIGNED, most, 0.0, 1, None)
            out = out.reshape(len(some), self.count, narrow.FLOATS)
            best, lowest = out[..., 2].argmin(axis=1), out[..., 1].min(axis=1)
            for k, place in enumerate(some.tolist()):
                row, error = out[k, best[k]], float(at.errors[place])
                yield place, Nearest.of(float(lowest[k]), row, bool(self._curved[best[k]]), most, error)


def _chunks(errors: Array) -> Iterator[Ints]:
    for start in range(0, len(errors), _CHUNK):
        yield np.arange(start, min(start + _CHUNK, len(errors)))
