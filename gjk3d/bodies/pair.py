"""Two bodies at one relative pose: which parts are near, whether any meet, which are nearest; few parts at many poses.

Boxes leave few pairs of parts, and the kernels for many pairs answer these in a few calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import Packed, Parts
from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.parts import box_at, noise
from gjk3d.bodies.raycast import inside_of
from gjk3d.broad.tree import box_gaps
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.rows import Rows
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PAIR
from gjk3d.poses import WIDTH, composed, inverse, moved, moved_back
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_FIRST, _MOST_EACH = 64, 4096  #: pairs in the first call into the kernels, and in the largest
_JUMPS = 4  #: times that a way out goes on after something was in it
_HALVINGS = 8
_SHARP = 1e-3  #: relative width to which a way out is halved
_GRAZING = 0.05  #: least cosine between a way out and a normal that a depth is divided by


_Arena = list[Packed]  #: empty, or what is behind each other in it, and the arena


class Nearest(NamedTuple):
    """How far apart two bodies are at least and at most, and what shows it."""

    lower: float
    upper: float
    row: Array  #: of the nearest two parts, as `gjk3d.narrow.solve` answers them, in the frame of the first
    parts: tuple[int, int]
    curved: bool = False  #: whether wider bounds are promised of these
    beyond: bool = False  #: whether the two are proven to be farther apart than was asked

    @classmethod
    def of(cls, lowest: float, row: Array, parts: Any, curved: bool, most: float, error: float) -> Nearest:
        """Return it from the least lower bound of all pairs that were asked; what was not is beyond ``most``."""
        upper = float(row[2])
        lower = min(lowest, upper)
        beyond = lower > most + error
        lower = float(np.nextafter(most, inf)) if beyond else max(0.0, lower - error)
        return cls(lower, upper + error, row, (int(parts[0]), int(parts[1])), curved, beyond)


class Held(NamedTuple):
    """A point of one body within a closed surface of the other."""

    by: int  #: 1 where the first holds it, 2 where the second does
    point: Array  #: in the frame of the first


class _Shapes(Sequence[Shape]):
    """The shapes of some parts of both, made when they are asked for."""

    def __init__(self, a: Parts, which_a: Ints, b: Parts, which_b: Ints) -> None:
        self._of = a, which_a, b, which_b

    def __len__(self) -> int:
        return len(self._of[1]) + len(self._of[3])

    def __getitem__(self, k: Any) -> Any:
        a, which_a, b, which_b = self._of
        return a.shape(int(which_a[k])) if k < len(which_a) else b.shape(int(which_b[k - len(which_a)]))


class BodyPair:
    """See the module; all in the frame of ``a``, pairs are numbers of parts."""

    #: widths that are promised in overlap, in units of the size and of the error
    tight_depth = 1e-9, 16.0
    ways = 16  #: directions that are tried for the bound of the depth from above

    def __init__(self, a: Parts, b: Parts, m: Array) -> None:
        self.a, self.b, self.m = a, b, m
        self.error = self._noise()
        self._arena: _Arena = []

    def _noise(self) -> float:
        """Bound the error of a place of one next to one of the other."""
        return float(noise(self.a.reach, self.b.reach, self.m[9:12]))

    def moved(self, shift: Array) -> BodyPair:
        """Return the same two with b moved."""
        m = self.m.copy()
        m[9:12] += shift
        other = type(self)(self.a, self.b, m)
        other._arena = self._arena
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
        asked, starts = _packed(self.a, which_a, self.b, which_b, self._arena)
        local = np.column_stack([at_a, len(which_a) + at_b])
        return asked, local, _table(starts, local), self.placed(which_a, which_b)

    def solve(self, pairs: Ints, mode: int, most: float = inf) -> tuple[Array, Ints]:
        """Return the rows of the kernels for pairs of parts, and their flags."""
        if not len(pairs):
            return np.zeros((0, narrow.FLOATS)), np.zeros((0, narrow.INTS), dtype=np.int64)
        asked, local, table, rows = self._ask(pairs)
        return asked._solve_rows(local, table, rows, mode, most, 0.0, 1, None)

    def hits(self, pairs: Ints, margin: float = 0.0) -> Any:
        """Tell which pairs of parts are not proven to be farther apart than a margin."""
        asked, local, table, rows = self._ask(pairs)
        return asked._collide_rows(local, table, rows, margin + self.error)

    def curved(self, pair: Ints) -> bool:
        """Tell whether a part of a pair is no polytope."""
        return bool(_curved(self.a, pair[:1])[0] or _curved(self.b, pair[1:])[0])

    # --- answers -------------------------------------------------------------------------------------------------

    def pieces(self, margin: float = 0.0) -> Iterator[tuple[Ints, Any]]:
        """Yield candidates piece by piece, and which of them are not farther apart than a margin of at least 0."""
        for some in _growing(self.candidates(margin)):
            yield some, self.hits(some, margin)

    def meeting(self, margin: float = 0.0) -> Ints:
        """Return the pairs of parts that touch, overlap, or come within a margin."""
        found = [some[met] for some, met in self.pieces(margin)]
        return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)

    def held(self) -> Held | None:
        """Return a point of one that lies in a closed mesh of the other, None where none is seen."""
        for by, host, guest in ((1, self.a, self.b), (2, self.b, self.a)):
            solids = host.solids
            if not solids:
                continue
            points = guest.points()
            own = moved(self.m, points) if by == 1 else moved_back(self.m, points)
            for mesh, row in solids:
                within = np.flatnonzero(inside_of(mesh, moved_back(row, own)))
                if len(within):
                    return Held(by, own[within[0]] if by == 1 else points[within[0]])
        return None

    def meet(self, margin: float = 0.0) -> bool:
        """Tell whether they touch, overlap, or come within a margin of at least 0."""
        return any(bool(met.any()) for _, met in self.pieces(margin)) or self.held() is not None

    def nearest(self, most: float = inf) -> Nearest:
        """Return how far apart two that do not meet are; more than ``most`` is not looked into closely."""
        lower = upper = inf
        row, nearest = np.zeros(0), np.zeros(2, dtype=np.int64)

        def ask(pairs: Ints, within: float = inf) -> None:
            nonlocal lower, upper, row, nearest
            out, _ = self.solve(pairs, narrow.UNSIGNED, within)
            k = int(out[:, 2].argmin())
            lower = min(lower, float(out[:, 1].min()))
            if out[k, 2] < upper:
                upper, row, nearest = float(out[k, 2]), out[k], pairs[k]

        for pair in self._seeds():
            ask(pair[None])
        for block in self.candidates(min(upper, most)):
            gaps = self.gaps(block)
            order = np.argsort(gaps, kind="stable")
            block, gaps = block[order], gaps[order]
            start, size = 0, _FIRST
            while start < len(block):
                reach = min(upper, most)
                stop = int(np.searchsorted(gaps, reach + self.error, side="right"))
                some = block[start : min(start + size, stop)]
                if not len(some):
                    break
                ask(some, reach * (1.0 + 1e-12))
                start, size = start + len(some), min(2 * size, _MOST_EACH)
        return Nearest.of(lower, row, nearest, self.curved(nearest), most, self.error)

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

    # --- in overlap ----------------------------------------------------------------------------------------------

    def common_point(self) -> Array:
        """Return a point of both where they meet."""
        held = self.held()
        if held is not None:
            return held.point
        pairs = next((some[met] for some, met in self.pieces() if met.any()), None)
        row = self.nearest().row if pairs is None else self.solve(pairs[:1], narrow.UNSIGNED)[0][0]
        point: Array = row[6:9]
        return point

    def deepest(self) -> tuple[Ints, Array]:
        """Return the pairs of parts that meet and what they answer, the deepest first."""
        pairs = self.meeting()
        out, _ = self.solve(pairs, narrow.SIGNED)
        order = np.argsort(out[:, 2], kind="stable")
        return pairs[order], out[order]

    def parting(self, way: Array, start: float, most: float) -> tuple[Array, Array] | None:
        """Return a translation of b along a unit vector that parts the two, and the normal of what blocks it last.

        It is free, and not the shortest for certain. None where none was found from ``start`` to below ``most``.
        """
        t, blocked, wall, free = start, start, way, most
        for _ in range(_JUMPS):
            if not t < most:
                break
            there = self.moved(t * way)
            pairs, out = there.deepest()
            held = None if len(pairs) else there.held()
            if not len(pairs) and held is None:
                free = t
                break
            blocked = t
            if held is not None:
                t += there.depth_of(held)
                continue
            past, along = np.maximum(-out[:, 1], 0.0), out[:, 3:6] @ way
            past = np.where(along > _GRAZING, past / np.maximum(along, _GRAZING), past)
            k = int(np.argmax(past))
            wall = out[k, 3:6]
            t += float(past[k]) + 4.0 * self.error
        for _ in range(_HALVINGS):
            middle = 0.5 * (blocked + free)
            if free - blocked <= _SHARP * free + 8.0 * self.error or (free == most and middle > 0.9 * most):
                break
            if self.moved(middle * way).meet():
                blocked = middle
            else:
                free = middle
        return (free * way, wall) if free < most else None

    def depth_of(self, held: Held) -> float:
        """Return how far a point that is held is from the surface that holds it, and a little."""
        host = self.a if held.by == 1 else self.b
        point = held.point[None] if held.by == 1 else moved_back(self.m, held.point[None])
        far = [from_points(mesh, moved_back(row, point))[0][0] for mesh, row in host.solids]
        return float(min(far)) + 8.0 * self.error

    def place(self, hulls: Array | None) -> Array:
        """Return a point where they overlap, as far as one is seen; ``hulls`` is the answer of the hulls, if known."""
        held = self.held()
        if held is not None:
            return held.point
        row = self.nearest().row if hulls is None else hulls
        middle: Array = 0.5 * (row[6:9] + row[9:12])
        return middle


def _growing(blocks: Iterator[Ints]) -> Iterator[Ints]:
    """Yield pairs in pieces, small ones first: the answer is often among the first."""
    size = _FIRST
    for block in blocks:
        start = 0
        while start < len(block):
            yield block[start : start + size]
            start, size = start + size, min(4 * size, _MOST_EACH)


def _packed(a: Parts, which_a: Ints, b: Parts, which_b: Ints, kept: _Arena) -> tuple[Pairs, Ints]:
    """Return some parts of the one, behind them some of the other, and where each begins in the arena.

    ``kept`` is the last arena: most bodies have all of their parts in it, whichever are asked about.
    """
    one, two = a.pack(which_a), b.pack(which_b)
    if not kept or kept[0].floats is not one.floats or kept[1].floats is not two.floats:
        joined = np.concatenate([one.floats, two.floats])
        kept[:] = one, two, Packed(np.concatenate([one.ints, two.ints]), joined, np.zeros((0, 2), dtype=np.int64))
    mapped = np.concatenate([a.mapped(which_a), b.mapped(which_b)])
    starts = np.concatenate([one.starts, two.starts + (len(one.ints), len(one.floats))])
    return Pairs._of_packed(kept[2].ints, kept[2].floats, mapped, _Shapes(a, which_a, b, which_b)), starts


def _table(starts: Ints, pairs: Ints) -> Ints:
    """Return pairs as the kernels take them, each part at the pose row of its own number."""
    table = np.zeros((len(pairs), PAIR), dtype=np.int64)
    table[:, :2], table[:, 3] = starts[pairs[:, 0]], pairs[:, 0]
    table[:, 5:7], table[:, 8] = starts[pairs[:, 1]], pairs[:, 1]
    table[:, 7] = 1  # the order is ours
    return table


def _curved(parts: Parts, which: Ints) -> Bools:
    packed = parts.pack(which)
    found: Bools = packed.ints[packed.starts[:, 0] + layout.POLYTOPE] == 0
    return found


_ALL_OF = 64  #: pairs of parts that are asked without looking at boxes
_AT_ONCE = 256  #: poses


class _Relative(NamedTuple):
    """Poses of the second in the first's frame, (n, 3, 3) and (n, 3), and the error of places there, (n,)."""

    turns: Array
    shifts: Array
    errors: Array


class FewParts:
    """Two bodies of few parts at many poses: all parts are asked at once."""

    def __init__(self, a: Parts, b: Parts) -> None:
        self.a, self.b = a, b
        every_a, every_b = np.arange(a.count), np.arange(b.count)
        self._pairs, starts = _packed(a, every_a, b, every_b, [])
        i, j = (index.ravel() for index in np.meshgrid(every_a, every_b, indexing="ij"))
        self.count = len(i)
        self._which = np.column_stack([i, a.count + j])
        self._table = _table(starts, self._which)
        self._rows_a, self._rows_b = a.rows(every_a), b.rows(every_b)
        self._curved = _curved(a, every_a)[i] | _curved(b, every_b)[j]

    @staticmethod
    def takes(a: Parts, b: Parts) -> bool:
        """Tell whether two bodies are such."""
        return a.count * b.count <= _ALL_OF and not a.endless and not a.solids and not b.solids

    def relative(self, rows: Rows) -> _Relative:
        """Return the poses of the second in the first's frame."""
        turn_a, turn_b = rows.a[:, :9].reshape(-1, 3, 3), rows.b[:, :9].reshape(-1, 3, 3)
        back = turn_a.transpose(0, 2, 1)
        turns = np.broadcast_to(back @ turn_b, (rows.total, 3, 3))
        shifts = np.broadcast_to((back @ (rows.b[:, 9:12] - rows.a[:, 9:12])[..., None])[..., 0], (rows.total, 3))
        return _Relative(turns, shifts, noise(self.a.reach, self.b.reach, shifts))

    def _placed(self, at: _Relative, which: Ints) -> tuple[Ints, Ints, Array]:
        """Return pairs of shapes, their rows for the kernels, and the poses, of some poses."""
        turns = at.turns[which][:, None] @ self._rows_b[:, :9].reshape(-1, 3, 3)
        placed = np.empty((len(which), self.b.count, WIDTH))
        placed[..., :9] = turns.reshape(len(which), -1, 9)
        placed[..., 9:12] = (at.turns[which][:, None] @ self._rows_b[:, 9:12, None])[..., 0] + at.shifts[which][:, None]
        placed[..., 12] = np.abs(turns.swapaxes(-1, -2) @ turns - np.eye(3)).max(axis=(-1, -2))
        table = np.tile(self._table, (len(which), 1))
        table[:, 8] += np.repeat(np.arange(len(which)) * self.b.count, self.count)
        rows = np.concatenate([self._rows_a, placed.reshape(-1, WIDTH)])
        return np.tile(self._which, (len(which), 1)), table, rows

    def collide(self, at: _Relative, margin: float) -> Bools:
        """Tell at which poses the two come within a margin of at least 0."""
        answer = np.empty(len(at.errors), dtype=bool)
        for start in range(0, len(answer), _AT_ONCE):
            which = np.arange(start, min(start + _AT_ONCE, len(answer)))
            # errors are powers of two of a length and few: one margin a call
            for error in np.unique(at.errors[which]):
                some = which[at.errors[which] == error]
                met = self._pairs._collide_rows(*self._placed(at, some), margin + float(error))
                answer[some] = met.reshape(len(some), -1).any(axis=1)
        return answer

    def nearest(self, at: _Relative, which: Ints, most: float) -> Iterator[tuple[int, Nearest]]:
        """Yield how far apart the two are at poses at which they do not meet."""
        for start in range(0, len(which), _AT_ONCE):
            some = which[start : start + _AT_ONCE]
            out, _ = self._pairs._solve_rows(*self._placed(at, some), narrow.UNSIGNED, most, 0.0, 1, None)
            out = out.reshape(len(some), self.count, narrow.FLOATS)
            best, lowest = out[..., 2].argmin(axis=1), out[..., 1].min(axis=1)
            for k, place in enumerate(some.tolist()):
                n, error = int(best[k]), float(at.errors[place])
                pair = self._which[n] - (0, self.a.count)
                yield place, Nearest.of(float(lowest[k]), out[k, n], pair, bool(self._curved[n]), most, error)
