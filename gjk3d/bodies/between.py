"""Two unions of convex parts: which parts are near, and what they answer, at one pose or many.

Boxes leave few pairs of parts, and the kernels for many pairs answer these in a few calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.surfaces import holds
from gjk3d.bodies.unions import Packed, Union, box_gaps, noise, turned
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.rows import Rows
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PAIR
from gjk3d.poses import WIDTH, composed, inverse
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_FIRST, _MOST_EACH = 64, 4096  #: pairs in the first call into the kernels, and in the largest


class Nearest(NamedTuple):
    """How far apart two unions are at least and at most, and the row of the pair that shows it."""

    lower: float
    upper: float
    row: Array
    curved: bool  #: whether that pair is promised wider bounds
    beyond: bool  #: whether they are proven to be farther apart than was asked

    @classmethod
    def of(cls, lowest: float, row: Array, curved: bool, most: float, error: float) -> Nearest:
        """Return it from the least lower bound of all pairs that were asked; what was not is beyond ``most``."""
        upper = float(row[2])
        lower = min(lowest, upper)
        beyond = lower > most + error
        lower = float(np.nextafter(most, inf)) if beyond else max(0.0, lower - error)
        return cls(lower, upper + error, row, curved, beyond)


class Shapes(Sequence[Shape]):
    """The shapes of some parts of both, made when they are asked for."""

    def __init__(self, a: Union, which_a: Ints, b: Union, which_b: Ints) -> None:
        self._of = a, which_a, b, which_b

    def __len__(self) -> int:
        return len(self._of[1]) + len(self._of[3])

    def __getitem__(self, k: Any) -> Any:
        a, which_a, b, which_b = self._of
        return a.shape(int(which_a[k])) if k < len(which_a) else b.shape(int(which_b[k - len(which_a)]))


class Between:
    """See the module; all in the frame of ``a``, pairs are numbers of parts."""

    def __init__(self, a: Union, b: Union, m: Array) -> None:
        self.a, self.b, self.m = a, b, m
        #: of a place of one next to one of the other
        self.error = float(noise(a.reach, b.reach, m[9:12]))
        self._joined: tuple[Packed, Packed, Ints, Array] | None = None

    def moved(self, shift: Array) -> Between:
        """Return the same two with b moved."""
        m = self.m.copy()
        m[9:12] += shift
        other = Between(self.a, self.b, m)
        other._joined = self._joined
        return other

    # --- candidates ----------------------------------------------------------------------------------------------

    def candidates(self, within: float) -> Iterator[Ints]:
        """Yield blocks of pairs whose boxes are no farther apart than that along any axis of one of the two."""
        within += self.error
        swapped = self.b.count > self.a.count and not self.a.endless
        host, guest, m = (self.b, self.a, inverse(self.m)) if swapped else (self.a, self.b, self.m)
        which = np.arange(guest.count)
        if guest.count > 1:
            from_guest = box_at(host.box, inverse(m))
            blocks = [block[:, 1] for block in guest.near(from_guest[None], within)]
            which = np.concatenate(blocks) if blocks else which[:0]
        if not len(which):
            return
        for block in host.near(guest.boxes_at(which, m), within):
            mine, theirs = block[:, 1], which[block[:, 0]]
            if len(block):
                yield np.column_stack([theirs, mine] if swapped else [mine, theirs])

    def gaps(self, pairs: Ints) -> Array:
        """Return for pairs how far apart they are at least."""
        return box_gaps(self.a.boxes(pairs[:, 0]), self.b.boxes_at(pairs[:, 1], self.m))

    # --- the kernels ---------------------------------------------------------------------------------------------

    def placed(self, which_a: Ints, which_b: Ints) -> Array:
        """Return the pose rows of some parts of the one, and behind them of some of the other."""
        return np.concatenate([self.a.rows(which_a), composed(self.m, self.b.rows(which_b))])

    def _ask(self, pairs: Ints) -> tuple[Pairs, Ints, Ints, Array]:
        which_a, at_a = np.unique(pairs[:, 0], return_inverse=True)
        which_b, at_b = np.unique(pairs[:, 1], return_inverse=True)
        a, b = self.a.pack(which_a), self.b.pack(which_b)
        if self._joined is None or self._joined[0].floats is not a.floats or self._joined[1].floats is not b.floats:
            self._joined = a, b, np.concatenate([a.ints, b.ints]), np.concatenate([a.floats, b.floats])
        _, _, ints, floats = self._joined
        rows = self.placed(which_a, which_b)
        local = np.column_stack([at_a, len(which_a) + at_b])
        table = np.zeros((len(pairs), PAIR), dtype=np.int64)
        table[:, :2], table[:, 3] = a.starts[at_a], local[:, 0]
        table[:, 5:7], table[:, 8] = b.starts[at_b] + (len(a.ints), len(a.floats)), local[:, 1]
        table[:, 7] = 1  # the order is ours
        singly = np.concatenate([self.a.singly(which_a), self.b.singly(which_b)])
        return Pairs.packed(ints, floats, singly, Shapes(self.a, which_a, self.b, which_b)), local, table, rows

    def solve(self, pairs: Ints, mode: int, most: float = inf) -> tuple[Array, Ints]:
        """Return the rows of the kernels for pairs of parts, and their flags."""
        if not len(pairs):
            return np.zeros((0, narrow.FLOATS)), np.zeros((0, narrow.INTS), dtype=np.int64)
        asked, local, table, rows = self._ask(pairs)
        return asked.solve_rows(local, table, rows, mode, most, 0.0, 1, None)

    def hits(self, pairs: Ints, margin: float = 0.0) -> Any:
        """Tell which pairs of parts are not proven to be farther apart than a margin."""
        asked, local, table, rows = self._ask(pairs)
        return asked.collide_rows(local, table, rows, margin + self.error)

    def curved(self, pair: Ints) -> bool:
        """Tell whether a part of a pair is no polytope."""
        return any(
            packed.ints[packed.starts[0, 0] + layout.POLYTOPE] == 0
            for packed in (self.a.pack(pair[:1]), self.b.pack(pair[1:]))
        )

    # --- answers -------------------------------------------------------------------------------------------------

    def pieces(self, margin: float = 0.0) -> Iterator[tuple[Ints, Any]]:
        """Yield candidates piece by piece, and which of them are not farther apart than a margin of at least 0."""
        for some in _growing(self.candidates(margin)):
            yield some, self.hits(some, margin)

    def meeting(self, margin: float = 0.0) -> Ints:
        """Return the pairs of parts that touch, overlap, or come within a margin."""
        found = [some[met] for some, met in self.pieces(margin)]
        return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)

    def held(self) -> Array | None:
        """Return a point, in a's frame, that lies in a closed mesh of the one and is of the other; else None."""
        for host, guest, m, to_a in (
            (self.a, self.b, self.m, None),
            (self.b, self.a, inverse(self.m), self.m),
        ):
            if not host.bodies:
                continue
            points = _moved(m, guest.points())
            for mesh, row in host.bodies:
                own = _moved(inverse(row), points)
                low, high = mesh.bounds
                within = np.flatnonzero(((own >= low) & (own <= high)).all(axis=1))
                inside = within[holds(mesh, np.ascontiguousarray(own[within]))]
                if len(inside):
                    point = points[inside[0]]
                    return point if to_a is None else _moved(to_a, point)
        return None

    def meet(self, margin: float = 0.0) -> bool:
        """Tell whether they touch, overlap, or come within a margin of at least 0."""
        return any(bool(met.any()) for _, met in self.pieces(margin)) or self.held() is not None

    def nearest(self, most: float = inf) -> Nearest:
        """Return how far apart parts are that do not meet; more than ``most`` is not looked into closely."""
        best = _Best(self)
        for pair in self._seeds():
            best.add(pair[None], *self.solve(pair[None], narrow.UNSIGNED))
        for block in self.candidates(min(best.upper, most)):
            gaps = self.gaps(block)
            order = np.argsort(gaps, kind="stable")
            block, gaps = block[order], gaps[order]
            start, size = 0, _FIRST
            while start < len(block):
                reach = min(best.upper, most)
                stop = int(np.searchsorted(gaps, reach + self.error, side="right"))
                some = block[start : min(start + size, stop)]
                if not len(some):
                    break
                best.add(some, *self.solve(some, narrow.UNSIGNED, reach * (1.0 + 1e-12)))
                start, size = start + len(some), min(2 * size, _MOST_EACH)
        return best.answer(most)

    def _seeds(self) -> Iterator[Ints]:
        """Yield pairs that are likely to be near each other."""
        guest = self.b.seed(box_at(self.a.box, inverse(self.m)))
        last = None
        for _ in range(3):
            host = self.a.seed(self.b.boxes_at(np.array([guest]), self.m)[0])
            if self.b.count > 1:
                guest = self.b.seed(box_at(self.a.boxes(np.array([host]))[0], inverse(self.m)))
            if (host, guest) == last:
                return
            last = host, guest
            yield np.array(last)
            if self.a.count == 1 or self.b.count == 1:
                return


class _Best:
    """The nearest pair so far."""

    def __init__(self, of: Between) -> None:
        self._of = of
        self.lower = self.upper = inf
        self._row: Array = np.zeros(0)
        self._pair: Ints = np.zeros(0, dtype=np.int64)

    def add(self, pairs: Ints, out: Array, flags: Ints) -> None:
        k = int(out[:, 2].argmin())
        self.lower = min(self.lower, float(out[:, 1].min()))
        if out[k, 2] < self.upper:
            self.upper, self._row, self._pair = float(out[k, 2]), out[k], pairs[k]

    def answer(self, most: float) -> Nearest:
        return Nearest.of(self.lower, self._row, self._of.curved(self._pair), most, self._of.error)


def _growing(blocks: Iterator[Ints]) -> Iterator[Ints]:
    """Yield pairs in pieces, small ones first: the answer is often among the first."""
    size = _FIRST
    for block in blocks:
        start = 0
        while start < len(block):
            yield block[start : start + size]
            start, size = start + size, min(4 * size, _MOST_EACH)


def box_at(box: Array, m: Array) -> Array:
    """Return the box round a box at a pose."""
    whole: Array = turned(box[None], m)[0]
    return whole


def _moved(m: Array, points: Array) -> Array:
    moved: Array = points @ m[:9].reshape(3, 3).T + m[9:12]
    return moved


_MOST_EACH = 64  #: pairs of parts that are asked without looking at boxes
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
        return a.count * b.count <= _MOST_EACH and not a.endless and not a.bodies and not b.bodies

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
