"""What is decided of one pair, told of all pairs that stand alike: each where it is, with bounds that hold there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.clash.decide import Verdict
from gjk3d.clash.decisions import Decided
from gjk3d.typing import Array

_BLOCK = 32  #: pairs that are placed at once: what was placed and is not told yet takes memory


class Twins(NamedTuple):
    """Pairs that stand alike, in order."""

    rows: Array  #: (n, 13) the pose row of A of each
    tolerances: Array  #: (n,)
    slacks: Array  #: (n,) how far the two may be from where the decision has them

    def told(self, first: Decided, again: Callable[[int], Decided]) -> Iterator[Verdict | None]:
        """Yield what each is, None where it is free.

        ``first`` is the decision of the first pair; ``again`` makes one of a pair, by number, for whose tolerance none
        holds yet.
        """
        maker = np.full(len(self.rows), -1)
        made: list[Iterator[Verdict | None]] = []
        for k in range(len(self.rows)):
            if maker[k] < 0:
                found = again(k) if made else first
                mine = (maker < 0) & (found.low <= self.tolerances) & (self.tolerances < found.high)
                mine[k] = True
                maker[mine] = len(made)
                places = Twins(self.rows[mine], self.tolerances[mine], self.slacks[mine])
                made.append(repeat(None) if found.verdict is None else places._placed(found.verdict))
            yield next(made[maker[k]])

    def _placed(self, verdict: Verdict) -> Iterator[Verdict]:
        for start in range(0, len(self.rows), _BLOCK):
            yield from placed(verdict, *(each[start : start + _BLOCK] for each in self))


def placed(verdict: Verdict, rows: Array, tolerances: Array, slacks: Array) -> Iterator[Verdict]:
    """Yield a verdict, found in A's frame, where each A is; its bounds allow for places that are known to a slack."""
    columns: dict[str, Any] = {name: repeat(value, len(rows)) for name, value in verdict._asdict().items()}
    columns["shared"] = repeat(None, len(rows))
    for name, shift in (("point_a", 1.0), ("point_b", 1.0), ("point", 1.0), ("mtv", 0.0), ("normal", 0.0)):
        if (known := getattr(verdict, name)) is not None:
            columns[name] = _moved(rows, known, shift)
    if verdict.shared is not None:
        columns["overlap_box"] = zip(*map(_tuples, _box(rows, verdict.shared)), strict=True)
    columns |= _widened(verdict, columns, tolerances, slacks)
    for name in ("point_a", "point_b", "point", "mtv", "normal"):
        if isinstance(columns[name], np.ndarray):
            columns[name] = _tuples(columns[name])
    return map(Verdict._make, zip(*columns.values(), strict=True))


def _widened(verdict: Verdict, columns: dict[str, Any], tolerances: Array, slacks: Array) -> dict[str, Any]:
    """Return the columns that a slack changes, by how far the two may be elsewhere."""
    wider: dict[str, Any] = {}
    if verdict.penetration is not None:
        less = np.maximum(0.0, verdict.penetration - slacks)
        wider["penetration"] = np.where(slacks > 0.0, less, verdict.penetration).tolist()
    if verdict.error_bound is None:
        return wider
    error = (tolerances if verdict.error_bound == inf else verdict.error_bound) + 2.0 * slacks
    if verdict.distance_kind == "bound" and verdict.depth is not None and verdict.normal is not None:
        most = verdict.depth + slacks
        error = np.where(slacks > 0.0, np.minimum(error, most), error)
        away = most[:, None] * columns["normal"] + 0.0
        wider["mtv"] = np.where(slacks[:, None] > 0.0, away, columns["mtv"])
        distance: Any = verdict.distance
        wider["depth"], wider["distance"] = most.tolist(), np.where(slacks > 0.0, -most, distance).tolist()
    return wider | {"error_bound": error.tolist()}


def _moved(rows: Array, vector: Any, shift: float) -> Array:
    """Return a point at pose rows, or a direction where ``shift`` is 0, (n, 3)."""
    x, y, z = vector
    turn = rows[:, :9].reshape(-1, 3, 3)
    moved: Array = turn[:, :, 0] * x + turn[:, :, 1] * y + turn[:, :, 2] * z + shift * rows[:, 9:12] + 0.0
    return moved


def _box(rows: Array, points: Array) -> tuple[Array, Array]:
    """Return the lowest and the highest corner of points at pose rows, (n, 3) each."""
    x, y, z = np.ascontiguousarray(points.T)
    low, high = np.empty((2, len(rows), 3))
    for k in range(3):
        turn = rows[:, 3 * k : 3 * k + 3, None]
        along = turn[:, 0] * x + turn[:, 1] * y + turn[:, 2] * z
        low[:, k], high[:, k] = along.min(axis=1), along.max(axis=1)
    return low + rows[:, 9:12] + 0.0, high + rows[:, 9:12] + 0.0


def _tuples(columns: Array) -> Iterator[tuple[float, ...]]:
    return map(tuple, columns.tolist())
