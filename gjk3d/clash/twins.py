"""What is decided of one pair, told of all pairs that stand alike: each where it is, with bounds that hold there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gjk3d.clash.clashes import column
from gjk3d.clash.decide import Verdict
from gjk3d.clash.decisions import Decided
from gjk3d.clash.instances import Alike
from gjk3d.geometry.points import boxes_of
from gjk3d.typing import Array, Bools, Ints

_UNKNOWN, _FREE = -2, -1  #: what is not decided, or by hulls; what is free


class Twins:
    """Pairs of which some stand alike, and the verdict of each, by number.

    Parameters
    ----------
    alike : Alike
        Which pairs do.
    tolerances : (n,) float
        Of the pairs.
    """

    def __init__(self, alike: Alike, tolerances: Array) -> None:
        self.alike = alike
        self.members = alike.members()
        self.tolerances = tolerances
        self._verdicts: dict[int, tuple[Verdict, int]] = {}  # by the first pair of each, and the last one
        self._which = np.full(len(tolerances), _UNKNOWN)

    def decided(self, group: int, found: Decided, again: Callable[[int], Decided]) -> None:
        """Take what was found of the first pair of a group for all of it.

        ``again`` decides a pair, by number, for whose tolerance nothing holds yet.
        """
        left = self.members[group]
        while True:
            tolerances = self.tolerances[left]
            mine = (found.low <= tolerances) & (tolerances < found.high)
            mine[0] = True
            pairs, left = left[mine], left[~mine]
            self._which[pairs] = _FREE if found.verdict is None else pairs[0]
            if found.verdict is not None:
                self._verdicts[pairs.item(0)] = found.verdict, pairs.item(-1)
            if not len(left):
                return
            found = again(left.item(0))

    def looked_at(self, start: int, stop: int) -> Ints:
        """Return which of these pairs were looked at more closely than by hulls."""
        return start + np.flatnonzero(self._which[start:stop] != _UNKNOWN)

    def taken(self, start: int, stop: int) -> tuple[Bools, list[Verdict], Ints]:
        """Return which of these pairs are not free, verdicts, and which one each has; no pair is asked for twice."""
        some = self._which[start:stop]
        here: Bools = some >= 0
        numbers, which = np.unique(some[here], return_inverse=True)
        verdicts = []
        for number in numbers.tolist():
            verdict, last = self._verdicts[number]
            verdicts.append(verdict)
            if last < stop:  # what both fill takes memory
                del self._verdicts[number]
        return here, verdicts, which.reshape(-1)


def placed(verdicts: Sequence[Verdict], which: Ints, rows: Array, tolerances: Array, slacks: Array) -> dict[str, Any]:
    """Return the columns of findings by verdicts, found in A's frame, where each A is.

    Their bounds allow for places that are known to a slack.

    Parameters
    ----------
    verdicts : sequence of Verdict
    which : (n,) int
        The verdict of each.
    rows : (n, 13) float
        The pose row of A of each.
    tolerances, slacks : (n,) float
        Of the pairs, and how far the two may be from where the decision has them.
    """
    columns: dict[str, Any] = {
        name: column(name, [getattr(verdict, name) for verdict in verdicts])[which] for name in Verdict._fields[:-1]
    }
    for name, shift in (("point_a", 1.0), ("point_b", 1.0), ("point", 1.0), ("mtv", 0.0), ("normal", 0.0)):
        columns[name] = _moved(rows, columns[name], shift)
    for k, verdict in enumerate(verdicts):
        if verdict.shared is not None:
            mine = np.flatnonzero(which == k)
            columns["overlap_box"][mine] = boxes_of(rows[mine], verdict.shared)
    _widen(columns, tolerances, slacks)
    return columns | {"tolerance": tolerances}


def _widen(columns: dict[str, Any], tolerances: Array, slacks: Array) -> None:
    """Change what a slack changes, by how far the two may be elsewhere."""
    wide = slacks > 0.0
    penetration, error = columns["penetration"], columns["error_bound"]
    columns["penetration"] = np.where(wide, np.maximum(0.0, penetration - slacks), penetration)
    error = np.where(np.isinf(error), tolerances, error) + 2.0 * slacks
    most = columns["depth"] + slacks
    bound = wide & (columns["distance_kind"] == "bound") & ~np.isnan(error) & ~np.isnan(columns["normal"][:, 0])
    bound &= ~np.isnan(most)
    columns["error_bound"] = np.where(bound, np.minimum(error, most), error)
    columns["mtv"] = np.where(bound[:, None], most[:, None] * columns["normal"] + 0.0, columns["mtv"])
    columns["depth"] = np.where(bound, most, columns["depth"])
    columns["distance"] = np.where(bound, -most, columns["distance"])


def _moved(rows: Array, vectors: Array, shift: float) -> Array:
    """Return points at pose rows, or directions where ``shift`` is 0, (n, 3)."""
    x, y, z = vectors.T[:, :, None]
    turn = rows[:, :9].reshape(-1, 3, 3)
    moved: Array = turn[:, :, 0] * x + turn[:, :, 1] * y + turn[:, :, 2] * z + shift * rows[:, 9:12] + 0.0
    return moved
