"""What a checker answers: numbers, and lists of all that is too close, for people and for simulators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from gjk3d.query.contact import check_patches, contact
from gjk3d.robot.walk import FAR
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints, N, P
from gjk3d.wording import told

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
        Names: of links, or of an object, which stands second.
    """

    distance: N
    lower: N
    upper: N
    normal: Array
    point_a: Array
    point_b: Array
    pair: P


class RobotCollision(NamedTuple):
    """A pair that is too close, of one configuration: an item of what `Checker.collisions` answers.

    Attributes
    ----------
    a, b : str
        Names: of links, or of an object, which stands second.
    distance, lower, upper : float
        Signed distance, negative is overlap, and bounds of it; of several shapes of the two the deepest.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    point_a, point_b : (3,) float
        Deepest points, in world axes: ``point_b - point_a == distance * normal``.
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
        Names: of links, or of an object, which stands second.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    points_a, points_b : (count, 3) float
        Points on the two surfaces, in world axes; ``points_b - points_a == gaps * normal``.
    gaps : (count,) float
        How far apart they are at each; negative is overlap.
    distance, lower, upper : float
        Signed distance of the two shapes, and bounds of it.
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
        """The middles between the points on a and on b."""
        middles: Array = 0.5 * (self.points_a + self.points_b)
        return middles

    def __repr__(self) -> str:
        count = len(self.gaps)
        return f"<RobotContact of {self.a!r} and {self.b!r}: {count} point{'' if count == 1 else 's'}>"


if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

_AT_ONCE = 1 << 16  #: most configurations times pairs that are held


def collisions(checker: Checker, rows: Array) -> list[list[RobotCollision]]:
    """Return the pairs of each configuration that are closer than their margin, the deepest first."""
    tables, names = checker._ready(), checker._names
    found: list[dict[tuple[str, str], RobotCollision]] = [{} for _ in rows]

    def put(k: int, pair: tuple[str, str], row: Array) -> None:
        old = found[k].get(pair)
        if old is None or row[0] < old.distance:
            lower = min(row[1], old.lower) if old else row[1]
            found[k][pair] = RobotCollision(*pair, float(row[0]), float(lower), float(row[2]), *row[3:12].reshape(3, 3))
        elif row[1] < old.lower:
            found[k][pair] = old._replace(lower=float(row[1]))

    for start, out, which in _every(checker, rows, tables.margins):
        for k, p in np.argwhere((which != FAR) & ~(out[..., 1] > tables.margins)).tolist():
            put(start + k, names[p], out[k, p].copy())
    solids = checker.solids
    for s in range(len(solids)):
        margin = float(tables.solid_margins[s])
        for k, row in solids.rows_within(rows, s, margin):
            put(k, solids.names(s), row)
    return [sorted(each.values(), key=lambda one: (one.distance, one.pair)) for each in found]


def contacts(checker: Checker, rows: Array, within: float, max_points: int | None) -> list[list[RobotContact]]:
    """Return where bodies touch or come within a distance, of each configuration, pair by pair."""
    check_patches(within, max_points)
    tables, solids = checker._ready(), checker.solids
    found: list[list[RobotContact]] = [[] for _ in rows]
    for start, out, which in _every(checker, rows, np.full(len(tables.rows), float(within))):
        for k, p in np.argwhere((which != FAR) & ~(out[..., 1] > within)).tolist():
            links = checker.robot.link_poses(rows[start + k : start + k + 1])
            first, last = tables.rows[p, 2:].tolist()
            for pair in tables.subs[first:last] if last > first else tables.rows[p : p + 1, :2]:
                found[start + k] += _patch(checker, links, pair, within, max_points)
    for s in range(len(solids)):
        for k, row in solids.rows_within(rows, s, within):
            if all(isinstance(shape, Shape) for shape in solids.shapes(s)):
                links = checker.robot.link_poses(rows[k : k + 1])
                found[k] += _patch(checker, links, tables.solid_pairs[s], within, max_points)
            else:
                normal, a, b = row[3:12].reshape(3, 3)
                gap = float(row[0])
                found[k].append(
                    RobotContact(*solids.names(s), normal, a[None], b[None], row[:1], gap, float(row[1]), float(row[2]))
                )
    return found


def _patch(checker: Checker, links: Array, pair: Ints, within: float, max_points: int | None) -> Iterator[RobotContact]:
    tables = checker._ready()
    a, b = pair.tolist()
    found: Any = contact(
        tables.shapes[a],
        tables.shapes[b],
        tables.placed(links, a)[0],
        tables.placed(links, b)[0],
        within=within,
        max_points=max_points,
    )
    if found.count:
        yield RobotContact(
            *tables.names(pair), found.normal, found.points_a, found.points_b, found.gaps,
            found.distance, found.lower, found.upper,
        )  # fmt: skip


def _every(checker: Checker, rows: Array, most: Array) -> Iterator[tuple[int, Array, Ints]]:
    size = max(1, _AT_ONCE // max(len(most), 1))
    for start in range(0, len(rows), size):
        yield (start, *checker._every(rows[start : start + size], most))
