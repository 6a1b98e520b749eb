"""What a checker answers: numbers, and lists of all that is too close, for people and for simulators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, NamedTuple

import numpy as np

from gjk3d.query.contact import check_patches, contact
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cell
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints, N, P
from gjk3d.wording import count, told

PairName = tuple[str, str] | None


class RobotClearance(NamedTuple, Generic[N, P]):
    """Answer of `Checker.clearance`, for one configuration or n.

    Attributes
    ----------
    distance : float or (n,) float
        The least signed distance of all pairs; negative is overlap, infinite where no pair is within the limit.
    lower, upper : float or (n,) float
        Bounds of it that hold for the poses as computed.
    normal : (3,) or (n, 3) float
        Unit vector from the first of the pair to the second, in world axes.
    point_a, point_b : (3,) or (n, 3) float
        The nearest points, in world axes.
    pair : (str, str) or list of such, or None
        Names: of links, or of an obstacle, which stands second.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> wall = np.eye(4); wall[0, 3] = 1.75
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
    >>> nearest = checker.clearance([0.0, 0.0])
    >>> nearest.lower <= 0.2 <= nearest.upper, nearest.normal.round(9).tolist(), nearest.pair
    (True, [1.0, 0.0, 0.0], ('hand', 'wall'))
    """

    distance: N
    lower: N
    upper: N
    normal: Array
    point_a: Array
    point_b: Array
    pair: P

    def __repr__(self) -> str:
        if not isinstance(self.pair, list):
            return f"<RobotClearance: {_nearest(self.lower, self.upper, self.pair)}>"
        several = f"<RobotClearance of {count(len(self.pair), 'configuration')}"
        if not self.pair:
            return f"{several}>"
        k = int(np.asarray(self.distance).argmin())
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        return f"{several}, least in row {k}: {_nearest(lower[k], upper[k], self.pair[k])}>"


def _nearest(lower: Any, upper: Any, pair: Any) -> str:
    return f"{told(lower, upper)} between {pair[0]!r} and {pair[1]!r}" if pair else "no pair within the limit"


class RobotCollision(NamedTuple):
    """A pair that is too close, of one configuration: an item of what `Checker.collisions` answers.

    Attributes
    ----------
    a, b : str
        Names: of links, or of an obstacle, which stands second.
    distance, lower, upper : float
        Signed distance, negative is overlap, and bounds of it; of several shapes of the two the deepest.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    point_a, point_b : (3,) float
        Deepest points, in world axes: ``point_b - point_a == distance * normal``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.04), touching=["post", "beam"])
    >>> found = checker.collisions([0.0, 0.0])[0]
    >>> found.pair, round(found.depth, 9)
    (('hand', 'floor'), 0.01)
    """

    a: str
    b: str
    distance: float
    lower: float
    upper: float
    normal: Array
    point_a: Array
    point_b: Array

    @property
    def pair(self) -> tuple[str, str]:
        """Both names."""
        return self.a, self.b

    @property
    def depth(self) -> float:
        """How deep they overlap; 0 where a margin alone is undercut."""
        return max(0.0, -self.distance)

    def __repr__(self) -> str:
        return f"<RobotCollision of {self.a!r} and {self.b!r}: signed distance {told(self.lower, self.upper)}>"


class RobotContact(NamedTuple):
    """Where two shapes touch, at one configuration: an item of what `Checker.contacts` answers.

    Attributes
    ----------
    a, b : str
        Names: of links, or of an obstacle, which stands second.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    points_a, points_b : (count, 3) float
        Points on the two surfaces, in world axes; ``points_b - points_a == gaps * normal``.
    gaps : (count,) float
        How far apart they are at each; negative is overlap.
    distance, lower, upper : float
        Signed distance of the two shapes, and bounds of it.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "hand"])
    >>> found = checker.contacts([0.0, 0.0])[0]
    >>> found.pair, found.points.shape
    (('beam', 'floor'), (4, 3))
    """

    a: str
    b: str
    normal: Array
    points_a: Array
    points_b: Array
    gaps: Array
    distance: float
    lower: float
    upper: float

    @property
    def pair(self) -> tuple[str, str]:
        """Both names."""
        return self.a, self.b

    @property
    def points(self) -> Array:
        """The middles between the points on a and on b, (count, 3)."""
        middles: Array = 0.5 * (self.points_a + self.points_b)
        return middles

    def __repr__(self) -> str:
        count = len(self.gaps)
        return f"<RobotContact of {self.a!r} and {self.b!r}: {count} point{'' if count == 1 else 's'}>"


_AT_ONCE = 1 << 16  #: most configurations times pairs that are held


def collisions(cell: Cell, rows: Array) -> list[list[RobotCollision]]:
    """Return the pairs of each configuration that are closer than their margin, the deepest first."""
    found: list[dict[tuple[str, str], RobotCollision]] = [{} for _ in rows]
    for k, p, row in _within(cell, rows, cell.margins):
        pair = cell.names(p)
        old = found[k].get(pair)
        if old is None or row[0] < old.distance:
            lower = min(row[1], old.lower) if old else row[1]
            found[k][pair] = RobotCollision(*pair, float(row[0]), float(lower), float(row[2]), *row[3:12].reshape(3, 3))
        elif row[1] < old.lower:
            found[k][pair] = old._replace(lower=float(row[1]))
    return [sorted(each.values(), key=lambda one: (one.distance, one.pair)) for each in found]


def contacts(cell: Cell, rows: Array, within: float, max_points: int | None) -> list[list[RobotContact]]:
    """Return where bodies touch or come within a distance, of each configuration, pair by pair."""
    check_patches(within, max_points)
    found: list[list[RobotContact]] = [[] for _ in rows]
    at, links = -1, rows
    for k, p, row in _within(cell, rows, np.full(len(cell.slots), float(within))):
        names = cell.names(p)
        a, b = cell.slots[p].tolist()
        if p >= len(cell.layout.pairs) and not all(isinstance(cell.shapes[slot], Shape) for slot in (a, b)):
            normal, point_a, point_b = row[3:12].reshape(3, 3)
            found[k].append(RobotContact(*names, normal, point_a[None], point_b[None], row[:1], *row[:3].tolist()))
            continue
        first, last = cell.layout.pairs[p, 2:].tolist() if p < len(cell.layout.pairs) else (0, 0)
        if k != at:
            at, links = k, cell.robot.link_poses(rows[k : k + 1])
        for i, j in cell.layout.subs[first:last].tolist() if last > first else ((a, b),):
            one: Any = contact(
                cell.shapes[i], cell.shapes[j], cell.placed(links, i)[0], cell.placed(links, j)[0], within=within,
                max_points=max_points,
            )  # fmt: skip
            if one.count:
                found[k].append(
                    RobotContact(
                        *names, one.normal, one.points_a, one.points_b, one.gaps, one.distance, one.lower, one.upper
                    )
                )
    return found


def near(cell: Cell, rows: Array, most: Array) -> Iterator[tuple[Ints, Ints, Array]]:
    """Yield the pairs not proven farther apart than their ``most``, many at once, those that kernels answer first.

    They are configurations, pairs, and rows as of `solve`.
    """
    count = len(cell.layout.pairs)
    size = max(1, _AT_ONCE // max(count, 1))
    for start in range(0, len(rows), size):
        out, which, found = queries.every(cell, rows[start : start + size], most[:count])
        if found:
            n = np.flatnonzero(queries.close(out, which, most[:count]))
            k, p = np.divmod(n, count)
            yield k + start, p, out.reshape(-1, out.shape[2])[n]
    others = list(general_pairs.rows_within(cell, rows, most)) if len(cell.general.pairs) else []
    if others:
        yield (
            np.array([k for k, _, _ in others]),
            np.array([p for _, p, _ in others]),
            np.array([row for _, _, row in others]),
        )


def _within(cell: Cell, rows: Array, most: Array) -> Iterator[tuple[int, int, Array]]:
    """Yield the same one by one."""
    for k, p, found in near(cell, rows, most):
        yield from zip(k.tolist(), p.tolist(), found, strict=True)
