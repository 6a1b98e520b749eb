"""Decisions of many pairs of shapes, each at a relative pose: hulls first, then triangles; here, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.decide import Decider, Verdict, unchecked
from gjk3d.convex.pairs import Pairs
from gjk3d.interrupts import Aside, Pickled
from gjk3d.poses import matrices
from gjk3d.results import Distance, Status
from gjk3d.typing import Array

#: Pairs a call: few at first, so that the first findings come soon, then twice as many each time.
_FIRST, _MOST = 4, 1024
_LOT = 64  #: pairs that one task of a cluster decides at most


class Question(NamedTuple):
    """Two shapes by number, the pose row of the second in the frame of the first, and what is of interest."""

    a: int
    b: int
    row: Array
    reach: float  #: how far apart they may be and still be of interest
    tolerance: float


Ask = Callable[[int], Question]  #: the questions, by number


class Decided(NamedTuple):
    """What a pair is, for all tolerances ``low <= tolerance < high``."""

    verdict: Verdict | None
    low: float = 0.0
    high: float = inf


class Decisions:
    """Shapes, and what is found of pairs of them.

    Parameters
    ----------
    shapes : sequence of Mesh
    clearance : float
        As in `gjk3d.clash.check`.
    most : float
        The largest reach of all questions.
    """

    def __init__(self, shapes: Sequence[Mesh], clearance: float, most: float) -> None:
        self._shapes = tuple(shapes)
        self._clearance, self._most = clearance, most
        self._solids: dict[int, Any] = {}  # of shapes, for their next pair

    def __reduce__(self) -> Any:
        return type(self), (self._shapes, self._clearance, self._most)

    def hulls(self, some: Sequence[Question], workers: int = 1) -> list[Distance[Any] | None]:
        """Return how far apart hulls are, None where they prove the two farther apart than their reach."""
        poses = np.tile(np.eye(4), (2 * len(some), 1, 1))
        poses[1::2] = matrices(np.array([each.row for each in some]))
        pairs = Pairs([self._shapes[k].hull() for each in some for k in (each.a, each.b)])
        numbers = np.arange(len(poses)).reshape(-1, 2)
        answer = pairs.signed_distance(numbers, poses, max_distance=self._most, workers=workers)
        reach = np.array([each.reach for each in some])
        near = (answer.status != Status.BEYOND) & ~(answer.lower > reach)
        return [answer[k] if near[k] else None for k in range(len(some))]

    def decide(self, row: tuple[Question, Distance[Any]]) -> Decided:
        """Decide a pair by its parts, where hulls leave it open."""
        asked, hulls = row
        decider = Decider(self._clearance, asked.tolerance, self._solids)
        try:
            verdict = decider.decide(self._shapes[asked.a], self._shapes[asked.b], hulls, asked.row[:12])
        except Exception as error:  # one pair must not take the others with it; it is said, never dropped
            verdict = unchecked(f"{type(error).__name__}: {error}")
        return Decided(verdict, decider.limit.low, decider.limit.high)

    def lot(self, some: Sequence[Question]) -> list[Decided | None]:
        """Decide some pairs, None where hulls prove them farther apart than their reach."""
        return [
            None if hulls is None else self.decide((asked, hulls))
            for asked, hulls in zip(some, self.hulls(some), strict=True)
        ]

    def here(
        self, ask: Callable[[int], Question], count: int, workers: int, threads: Aside
    ) -> Iterator[Decided | None]:
        """Yield the decisions in order.

        As many pairs at once as hulls are asked about, so that any number of them needs no memory. Only shapes that are
        in a pair get a hull, and get it when their first pair is due.
        """
        for start, stop in _lots(count, _MOST):
            some = [ask(k) for k in range(start, stop)]
            for _ in threads.map(lambda k: self._shapes[k].hull(), sorted({k for each in some for k in each[:2]})):
                pass
            answers = threads.run(self.hulls, some, workers)
            near = [(asked, hulls) for asked, hulls in zip(some, answers, strict=True) if hulls is not None]
            due = threads.map(self.decide, near)
            for hulls in answers:
                yield None if hulls is None else next(due)[1]

    @classmethod
    def there(cls, ask: Ask, count: int, cluster: Aside) -> Iterator[Decided | None]:
        """Yield the decisions of a cluster that has the shapes, in order."""
        lots = (Pickled([ask(k) for k in range(start, stop)]) for start, stop in _lots(count, _LOT))
        for _, made in cluster.map(cls.lot, lots):
            yield from made


def _lots(count: int, most: int) -> Iterator[tuple[int, int]]:
    start, size = 0, _FIRST
    while start < count:
        stop = min(start + size, count)
        yield start, stop
        start, size = stop, min(2 * size, most)
