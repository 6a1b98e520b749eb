"""Pairs of parts: close pairs, and copies of a pair that share one decision.

A part is a shape and a pose. A decision of two shapes at a relative pose is valid for all pairs of parts with these
shapes at this relative pose. Poses in files are rounded, so poses that differ only by rounding count as equal. The
slack of a pair bounds the distance of its points from the same points of the decided pair, and widens the bounds of a
finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.broad import Tree
from gjk3d.clash.detection.clashes import column
from gjk3d.clash.detection.decider import DECIDED, Decision
from gjk3d.clash.detection.parts import Tolerances
from gjk3d.geometry.points import boxes_of
from gjk3d.poses import IDENTITY, ROUNDING, relatives
from gjk3d.typing import Array, Bools, Ints
from gjk3d.units import reading
from gjk3d.wording import number, with_unit


def boxes_close(bounds: Array, clearance: float, tolerances: Tolerances, slacks: Array) -> Ints:
    """Return the pairs (i < j) in ascending order whose boxes are within the clearance or the tolerance of the pair.

    ``bounds`` (n, 2, 3) are the boxes of the parts, and ``slacks`` (n,) are the errors of their coordinates.
    """
    bounds = bounds.reshape(-1, 6) + slacks[:, None] * np.repeat((-1.0, 1.0), 3)
    # each box is grown by its own tolerance, so that a far part with a large tolerance adds no pairs of other parts
    wide = bounds + np.maximum(*tolerances)[:, None] * np.repeat((-1.0, 1.0), 3)
    tree = Tree(len(bounds))
    tree.insert(np.arange(len(bounds)), wide)
    rounding = 4e-15 * float(np.abs(wide).max(initial=0.0))  # of transformed points, of corners and of gaps
    blocks = [np.zeros((0, 2), dtype=np.int64)]
    for block in tree.pairs(clearance * (1.0 + 1e-12) + rounding):
        a, b = bounds[block[:, 0]], bounds[block[:, 1]]
        gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]).max(axis=1)
        reach = np.maximum(clearance, tolerances.of(*block.T)) * (1.0 + 1e-12) + rounding
        blocks.append(np.sort(block[gaps <= reach], axis=1))
    pairs = np.concatenate(blocks)
    result: Ints = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return result


_FAR = 10.0  #: the distance relative to the size of the assembly above which a motion is probably a mistake


def doubted_limits(
    clearance: float, tolerance: float | None, names: Sequence[str], sizes: Array, unit: str | None
) -> list[str]:
    """Return notes on a clearance larger than every part, and on a tolerance larger than a part.

    ``tolerance`` is None for the default, and ``sizes`` are the diagonals of the boxes of the parts.
    """
    if not len(sizes):
        return []
    most, least = int(sizes.argmax()), int(sizes.argmin())
    notes = []
    if clearance > sizes[most]:
        what = f"the largest part {names[most]} ({format_length(float(sizes[most]), unit)})"
        notes.append(f"the clearance {format_length(clearance, unit)} is larger than {what}. {_cure(unit)}")
    if tolerance is not None and tolerance > sizes[least]:
        what = f"the part {names[least]} ({format_length(float(sizes[least]), unit)}), so its clashes are not reported"
        notes.append(f"the tolerance {format_length(tolerance, unit)} is larger than {what}. {_cure(unit)}")
    return notes


def doubted_ways(names: Sequence[str], bounds: Array, swept: Array, unit: str | None) -> list[str]:
    """Return at most one note, on a motion that moves a part far away from the assembly.

    ``bounds`` (n, 2, 3) are the boxes of the parts in the poses of the model files. ``swept`` (n, 2, 3) are boxes that
    contain the parts during the whole motion.
    """
    if not len(bounds):
        return []
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    size = float(np.linalg.norm(high - low))
    away = np.maximum(low - swept[:, 0], swept[:, 1] - high).max(axis=1)
    worst = int(away.argmax())
    if not away[worst] > _FAR * size:
        return []
    far, extent = format_length(float(away[worst]), unit), format_length(size, unit)
    return [
        f"{names[worst]} moves {far} away from the assembly, which measures {extent}. If its motion has an axis, a"
        ' translation or poses in another unit, write length = "mm" at the top of the motion file.'
    ]


def _cure(unit: str | None) -> str:
    if unit is None:
        return "The files state no unit, so set it with --unit (unit= in Python) if this is wrong."
    return f"If this is wrong, correct its number or its unit, for example 0.5mm (lengths in Python are in {unit})."


def format_length(length: float, unit: str | None) -> str:
    """Return a length as text, converted to the unit that is easiest to read."""
    shown, factor = reading(unit, length)
    return with_unit(number(float(f"{factor * length:.3g}")), shown)  # 50000 mm, and not 5e+04


#: Poses that differ by at most this share of the tolerance count as equal. The rounding of float32 files is smaller.
PART_OF_TOLERANCE = 1.0 / 8.0


class Alike(NamedTuple):
    """Groups of pairs that share a decision.

    ``group`` has the index of the group of each pair. Only one pair of each group is computed. ``first`` has the index
    of this pair, and ``rows`` the pose row of its part B in the frame of its part A. ``slack`` has for each pair an
    upper bound of the distance of its points from the same points of the computed pair.
    """

    group: Ints
    first: Ints
    rows: Array
    slack: Array

    def members(self) -> list[Ints]:
        """Return the indices of the pairs of each group, in ascending order."""
        by_group = np.argsort(self.group, kind="stable")
        return np.split(by_group, np.cumsum(np.bincount(self.group, minlength=len(self.first)))[:-1])


def alike(pairs: Ints, shapes: Sequence[Mesh], which: Ints, rows: Array, slacks: Array, steps: Array) -> Alike:
    """Return the groups of pairs of equal shapes at equal relative poses.

    ``pairs`` (n, 2) are indices of parts. ``which`` (k,) has the index of the shape of each part, ``rows`` (k, 13) its
    pose row and ``slacks`` (k,) the error of its vertices. ``steps`` (n,) has the largest difference of poses that
    count as equal, for each pair.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    reach = np.array([float(np.abs(shape.bounds).max()) for shape in shapes])[which[b]]
    to = relatives(rows[a], rows[b])
    first, group = _distinct(np.column_stack([which[a], which[b], to[:, :12]]))
    leader = first[_leaders(which[pairs[first]], to[first, :12], reach[first], steps[first])][group]
    first, group = np.unique(leader, return_inverse=True)
    group = group.reshape(-1)
    still = (rows[:, :12] == IDENTITY[0, :12]).all(axis=1)
    far = np.abs(rows[:, 9:12]).max(axis=1)
    rounding = np.where(still[a] & still[b], 0.0, 0.25 * ROUNDING * (far[a] + far[b] + reach))
    slack = _away(to[:, :12], to[leader, :12], reach) + slacks[a] + slacks[b] + rounding
    return Alike(group, first, to[first], slack)


def _away(a: Array, b: Array, reach: Array) -> Array:
    """Return for each shape an upper bound of the distance that its points move between the poses a and b.

    ``a`` and ``b`` (n, 12) are pose rows, and ``reach`` (n,) is the largest absolute coordinate of each shape.
    """
    turned, shifted = a[:, :9] - b[:, :9], a[:, 9:] - b[:, 9:]
    # the distance of a corner from the origin is at most sqrt(3) times the largest coordinate
    away: Array = np.sqrt(3.0 * (turned * turned).sum(axis=1)) * reach + np.sqrt((shifted * shifted).sum(axis=1))
    return away


def _leaders(shapes: Ints, to: Array, reach: Array, steps: Array) -> Ints:
    """Return for each relative pose the index of an earlier pose that replaces it, or the index of the pose itself.

    ``shapes`` (n, 2) are the two shapes, ``to`` (n, 12) the pose rows, ``reach`` (n,) the largest coordinate of shape
    B, and ``steps`` (n,) the largest difference of equal poses.
    """
    leader = np.arange(len(to))
    steps = np.where(steps > 0.0, np.ldexp(1.0, np.frexp(steps)[1] - 1), 0.0)  # powers of two
    _, pair = _distinct(shapes.astype(np.float64))
    least = np.full(len(to), np.inf)
    np.minimum.at(least, pair, np.where(steps > 0.0, steps, np.inf))
    for size in (least[pair], steps):  # poses that differ in the last bits come first
        # two near poses on both sides of a cell border of one grid are in one cell of the other grid
        for offset in (0.5, 1.0):
            chief = np.unique(leader[steps > 0.0])
            cell = 4.0 * size[chief, None]
            turns = np.floor(to[chief, :9] * (reach[chief, None] / cell) + offset)
            places = np.floor(to[chief, 9:] / cell + offset)
            first, group = _distinct(np.column_stack([shapes[chief], size[chief], turns, places]))
            after = np.arange(len(to))
            after[chief] = chief[first[group]]
            wanted = after[leader]
            leader = np.where(_away(to, to[wanted], reach) <= steps, wanted, leader)
    return leader


def _distinct(key: Array) -> tuple[Ints, Ints]:
    """Return the first index of each distinct row, ascending, and for each row the distinct row that equals it.

    The second result has indices in the first result.
    """
    bits: Any = np.ascontiguousarray(key + 0.0, dtype=np.float64).view(np.uint64)
    odd = np.random.default_rng(1).integers(0, 2**63, key.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = bits ^ (bits >> np.uint64(29))
    value = (mixed * odd).sum(axis=1, dtype=np.uint64)
    value ^= value >> np.uint64(31)
    _, first, group = np.unique(value, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    collisions = np.flatnonzero((bits != bits[first[group]]).any(axis=1))  # different rows with equal hashes
    group[collisions] = len(first) + np.arange(len(collisions))
    first = np.concatenate([first, collisions])
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]


_UNKNOWN, _FREE = -2, -1  #: a pair that has no decision or whose hulls are far apart, and a free pair


class Twins:
    """The decisions of pairs, where all pairs of a group share one. ``tolerances`` has the tolerance of each pair."""

    def __init__(self, alike: Alike, tolerances: Array) -> None:
        self.alike = alike
        self.members = alike.members()
        self.tolerances = tolerances
        self._decisions: dict[int, tuple[Decision, int]] = {}  # by its first pair: a decision, and its last pair
        self._which = np.full(len(tolerances), _UNKNOWN)  # the first pair with the decision of each pair

    def decided(self, group: int, decided: Decision, again: Callable[[int], Decision]) -> None:
        """Apply the decision ``decided`` of the first pair of a group to all pairs of the group.

        ``again`` decides the pair with a given index. It is called for a pair whose tolerance is outside of the range
        of the decision.
        """
        left = self.members[group]
        while True:
            tolerances = self.tolerances[left]
            mine = (decided.low <= tolerances) & (tolerances < decided.high)
            mine[0] = True
            pairs, left = left[mine], left[~mine]
            self._which[pairs] = _FREE if decided.clash is None else pairs[0]
            if decided.clash is not None:
                self._decisions[pairs.item(0)] = decided, pairs.item(-1)
            if not len(left):
                return
            decided = again(left.item(0))

    def looked_at(self, start: int, stop: int) -> Ints:
        """Return the indices of the pairs from ``start`` to ``stop`` - 1 whose hulls are within `Query.reach`."""
        return start + np.flatnonzero(self._which[start:stop] != _UNKNOWN)

    def decisions(self, start: int, stop: int) -> tuple[Bools, list[Decision], Ints]:
        """Return the results of the pairs ``start`` to ``stop`` - 1, as three values.

        The first value is a bool for each pair, which is False for a free pair. The second value is the list of the
        distinct decisions of all other pairs. The third value has the index of the decision of each of these pairs.

        Each pair can be queried only once.
        """
        # a decision is dropped after its last pair, because the vertices of intersections take memory
        firsts = self._which[start:stop]
        reported: Bools = firsts >= 0
        numbers, which = np.unique(firsts[reported], return_inverse=True)
        decisions = []
        for first in numbers.tolist():
            decision, last = self._decisions[first]
            decisions.append(decision)
            if last < stop:
                del self._decisions[first]
        return reported, decisions, which.reshape(-1)


def placed(decisions: Sequence[Decision], which: Ints, rows: Array, tolerances: Array, slacks: Array) -> dict[str, Any]:
    """Return the columns of findings in the frame of the assembly, from decisions in the frame of A.

    ``which`` has the index of the decision of each pair, ``rows`` the pose row of its part A, and ``slacks`` the
    slack of the pair, which widens the bounds.
    """
    columns: dict[str, Any] = {
        name: column(name, [getattr(decision.clash, name) for decision in decisions])[which] for name in DECIDED
    }
    for name, shift in (("point_a", 1.0), ("point_b", 1.0), ("point", 1.0), ("mtv", 0.0), ("normal", 0.0)):
        columns[name] = _moved(rows, columns[name], shift)
    for k, decision in enumerate(decisions):
        if decision.corners is not None:
            mine = np.flatnonzero(which == k)
            columns["overlap_box"][mine] = boxes_of(rows[mine], decision.corners)
    _widen(columns, tolerances, slacks)
    return columns | {"tolerance": tolerances}


def _widen(columns: dict[str, Any], tolerances: Array, slacks: Array) -> None:
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
    """Return points transformed by pose rows, (n, 3). With ``shift`` 0 they are directions and only rotated."""
    x, y, z = vectors.T[:, :, None]
    turn = rows[:, :9].reshape(-1, 3, 3)
    moved: Array = turn[:, :, 0] * x + turn[:, :, 1] * y + turn[:, :, 2] * z + shift * rows[:, 9:12] + 0.0
    return moved
