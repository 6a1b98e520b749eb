"""Results of a checker at configurations: validity, collisions, contacts, clearance, and distances of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from math import inf
from numbers import Real
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gjk3d.convex.checks import check_workers, is_finite
from gjk3d.errors import RobotError
from gjk3d.narrow.solve import FLOATS
from gjk3d.query.contact import check_patches, contact
from gjk3d.results import compared
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import FREE
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, B, Ints, N, P, Rows, S
from gjk3d.wording import count, format_gap

PairName = tuple[str, str] | None


@compared()
class RobotClearance(NamedTuple, Generic[N, P]):
    """Result of `Checker.clearance`, for one configuration or n.

    Attributes
    ----------
    distance : float or (n,) float
        The least signed distance of all pairs, in the robot's unit. It is negative in overlap, and infinite if no pair
        is within the limit.
    lower, upper : float or (n,) float
        Bounds of the distance. They hold for the link poses as computed in floating point.
    normal : (3,) or (n, 3) float
        Unit vector from the first object of the pair to the second, in world axes.
    point_a, point_b : (3,) or (n, 3) float
        The nearest points, in world coordinates.
    pair : (str, str) or None, or list of these
        Names of two links or objects. The name of an obstacle is second.

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
        return f"{several}, least in row {k + 1}: {_nearest(lower[k], upper[k], self.pair[k])}>"


def _nearest(lower: Any, upper: Any, pair: Any) -> str:
    return f"{format_gap(lower, upper)} between {pair[0]!r} and {pair[1]!r}" if pair else "no pair within the limit"


@compared()
class RobotCollision(NamedTuple):
    """A pair that is too close at one configuration: an item of the result of `Checker.collisions`.

    Attributes
    ----------
    a, b : str
        Names of two links or objects. The name of an obstacle is second.
    distance, lower, upper : float
        Signed distance in the robot's unit, negative in overlap, and its bounds. If a link has several shapes, the
        values are those of the deepest pair of shapes, but ``lower`` is the least lower bound of all pairs of shapes.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    point_a, point_b : (3,) float
        The deepest points, or the nearest points if only the margin is violated, in world coordinates. The identity
        ``point_b - point_a == distance * normal`` holds up to rounding.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.04), touching=["post", "beam"])
    >>> result = checker.collisions([0.0, 0.0])[0]
    >>> result.pair, round(result.depth, 9)
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
        """The names of both links or objects."""
        return self.a, self.b

    @property
    def depth(self) -> float:
        """Depth of the overlap, or 0 if only the margin is violated."""
        return max(0.0, -self.distance)

    def __repr__(self) -> str:
        apart = "" if self.upper < 0.0 else "distance "
        return f"<RobotCollision of {self.a!r} and {self.b!r}: {apart}{format_gap(self.lower, self.upper)}>"


@compared()
class RobotContact(NamedTuple):
    """Contact of two shapes at one configuration: an item of the result of `Checker.contacts`.

    Attributes
    ----------
    a, b : str
        Names of two links or objects. The name of an obstacle is second.
    normal : (3,) float
        Unit vector from a to b, in world axes.
    points_a, points_b : (count, 3) float
        Points on the two surfaces, in world coordinates. The identity ``points_b - points_a == gaps[:, None] * normal``
        holds up to rounding.
    gaps : (count,) float
        Gap at each point in the robot's unit, negative in overlap.
    distance, lower, upper : float
        Signed distance of the two shapes, and its bounds.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "hand"])
    >>> result = checker.contacts([0.0, 0.0])[0]
    >>> result.pair, result.points.shape
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
        """The names of both links or objects."""
        return self.a, self.b

    @property
    def points(self) -> Array:
        """The midpoints between the points on a and on b, (count, 3)."""
        middles: Array = 0.5 * (self.points_a + self.points_b)
        return middles

    def __repr__(self) -> str:
        return f"<RobotContact of {self.a!r} and {self.b!r}: {count(len(self.gaps), 'point')}>"


_INT = np.dtype(np.int64)
_AT_ONCE = 1 << 16  #: greatest number of results (configurations times pairs) in memory at once


def collisions(cell: Cell, rows: Array) -> list[list[RobotCollision]]:
    """Return for each configuration the pairs that are closer than their margin, the deepest first."""
    # Two links have one pair for each two of their geometries. The result for the two links is the deepest of these
    # pairs, with the least lower bound of all of them.
    per_row: list[dict[tuple[str, str], RobotCollision]] = [{} for _ in rows]
    for k, p, row in _within(cell, rows, cell.margins):
        pair = cell.names[p]
        old = per_row[k].get(pair)
        if old is None or row[0] < old.distance:
            lower = min(row[1], old.lower) if old else row[1]
            per_row[k][pair] = RobotCollision(
                *pair, float(row[0]), float(lower), float(row[2]), *row[3:12].reshape(3, 3)
            )
        elif row[1] < old.lower:
            per_row[k][pair] = old._replace(lower=float(row[1]))
    return [sorted(by_pair.values(), key=lambda collision: (collision.distance, collision.pair)) for by_pair in per_row]


def contacts(cell: Cell, rows: Array, within: float, max_points: int | None) -> list[list[RobotContact]]:
    """Return for each configuration the contacts of all pairs of shapes that are at most ``within`` apart."""
    check_patches(within, max_points)
    per_row: list[list[RobotContact]] = [[] for _ in rows]
    at, links = -1, rows
    for k, p, row in _within(cell, rows, np.full(len(cell.slots), float(within))):
        names = cell.names[p]
        a, b = cell.slots[p].tolist()
        # Only convex shapes have contact patches. For other shapes the contact is at the nearest points.
        if p >= len(cell.layout.pairs) and not all(isinstance(cell.shapes[slot], Shape) for slot in (a, b)):
            normal, point_a, point_b = row[3:12].reshape(3, 3)
            per_row[k].append(RobotContact(*names, normal, point_a[None], point_b[None], row[:1], *row[:3].tolist()))
            continue
        first, last = cell.layout.pairs[p, 2:].tolist() if p < len(cell.layout.pairs) else (0, 0)
        if k != at:
            at, links = k, cell.robot.link_poses(rows[k : k + 1])
        for i, j in cell.layout.subs[first:last].tolist() if last > first else ((a, b),):
            patch: Any = contact(
                cell.shapes[i], cell.shapes[j], cell.placed(links, i)[0], cell.placed(links, j)[0], within=within,
                max_points=max_points,
            )  # fmt: skip
            if patch.count:
                points = patch.points_a, patch.points_b, patch.gaps
                per_row[k].append(RobotContact(*names, patch.normal, *points, patch.distance, patch.lower, patch.upper))
    return per_row


def near(
    cell: Cell, rows: Array, most: Array, depth: general_pairs.Depth = "tight"
) -> Iterator[tuple[Ints, Ints, Array]]:
    """Yield blocks of results for all pairs that are not proven farther apart than their limit in ``most`` (pairs,).

    A block consists of three arrays of the same length: indices of configurations, indices of pairs, and rows of
    `narrow.solve`. Pairs that the kernels solve come first.
    """
    count = len(cell.layout.pairs)
    size = max(1, _AT_ONCE // max(count, 1))
    for start in range(0, len(rows), size):
        out, which, close_count = queries.every(cell, rows[start : start + size], most[:count])
        if close_count:
            n = np.flatnonzero(queries.close(out, which, most[:count]))
            k, p = np.divmod(n, count)
            yield k + start, p, out.reshape(-1, out.shape[2])[n]
    yield from general_pairs.rows_within(cell, rows, most, depth)


def _within(cell: Cell, rows: Array, most: Array) -> Iterator[tuple[int, int, Array]]:
    """Yield each result of `near`: the index of the configuration, the index of the pair, and the row of results."""
    for k, p, gap_rows in near(cell, rows, most):
        yield from zip(k.tolist(), p.tolist(), gap_rows, strict=True)


@compared()
class RobotDistances(NamedTuple):
    """Result of `Checker.distances`: m rows for n configurations, a row for each pair within the limit.

    Rows are sorted by configuration, then by pair. The gradients and Jacobians treat each nearest point as fixed to its
    link.

    Attributes
    ----------
    starts : (n + 1,) int
        The rows of configuration k are ``starts[k]`` to ``starts[k + 1] - 1``.
    configuration : (m,) int
        Index of the configuration of each row.
    pair : (m,) int
        For each row, the index of its pair in ``pairs``.
    pairs : tuple of (str, str)
        Names of all checked pairs. The name of an obstacle is second. The order changes only if objects are added or
        removed. A pair consists of two collision geometries, so the same two links may occur several times.
    distance : (m,) float
        Signed distance in the robot's unit, negative in overlap.
    lower, upper : (m,) float
        Bounds of the distance. They hold for the link poses as computed in floating point.
    normal : (m, 3) float
        Unit vector from the first object of the pair to the second, in world axes.
    point_a, point_b : (m, 3) float
        The nearest points, in world coordinates.
    gradient : (m, dof) float
        Derivative of the distance with respect to each joint value.
    jacobian_a, jacobian_b : (m, 3, dof) float or None
        Jacobians of the nearest points in world axes, if requested. In each row, ``gradient`` is
        ``normal @ (jacobian_b - jacobian_a)``.
    within : float
        The limit of the search.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> wall = np.eye(4); wall[0, 3] = 1.75
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
    >>> result = checker.distances([0.5, 0.0], within=0.8)
    >>> [(*result.pairs[p], round(d, 3)) for p, d in zip(result.pair, result.distance.tolist())]
    [('beam', 'wall', 0.798), ('hand', 'wall', 0.36)]
    >>> result.gradient.round(3).tolist()
    [[0.436, 0.0], [0.675, 0.196]]
    """

    starts: Ints
    configuration: Ints
    pair: Ints
    pairs: tuple[tuple[str, str], ...]
    distance: Array
    lower: Array
    upper: Array
    normal: Array
    point_a: Array
    point_b: Array
    gradient: Array
    jacobian_a: Array | None
    jacobian_b: Array | None
    within: float

    def penalty(self, margin: ArrayLike) -> tuple[Array, Array]:
        """Return the sum of the squared violations of a margin, and the gradient of this sum, for optimisers.

        Parameters
        ----------
        margin : float or (pairs,) float
            One number, or one number for each of ``pairs``, at most ``within``.

        Returns
        -------
        cost : (n,) float
            The sum of ``max(0, margin - distance) ** 2`` for each configuration.
        gradient : (n, dof) float
            Gradient of the cost.

        Raises
        ------
        RobotError
            A margin is not a finite number, or is greater than ``within``.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> from scipy.optimize import minimize
        >>> wall = np.eye(4); wall[0, 3] = 1.5
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> def cost(q):  # stays near [0.1, 0], and 0.1 from the wall
        ...     value, slope = checker.distances(q, within=0.1).penalty(0.1)
        ...     return 100 * value[0] + (q - [0.1, 0]) @ (q - [0.1, 0]), 100 * slope[0] + 2 * (q - [0.1, 0])
        >>> result = minimize(cost, [0.1, 0.0], jac=True)
        >>> checker.free([0.1, 0.0]), checker.free(result.x)
        (False, True)
        """
        try:
            margins = np.broadcast_to(np.asarray(margin, dtype=np.float64), len(self.pairs))
        except (TypeError, ValueError):
            margins = np.full(1, np.nan)
        if np.asarray(margin).dtype == bool or not np.isfinite(margins).all():
            raise RobotError(
                f"margin is {margin!r:.80}, expected a finite number, or {len(self.pairs)} of them, one for each pair"
            )
        # Pairs between `within` and the margin are not in the rows, so the cost would jump if a pair reaches `within`.
        if margins.size and margins.max() > self.within:
            most = margins.max()
            raise RobotError(f"margin is {most:g}, expected at most {self.within:g}. Use distances(q, within={most:g})")
        count = len(self.starts) - 1
        lacking = np.maximum(margins[self.pair] - self.distance, 0.0)
        slope = np.zeros((count, self.gradient.shape[1]))
        np.add.at(slope, self.configuration, -2.0 * lacking[:, None] * self.gradient)
        cost: Array = np.bincount(self.configuration, lacking**2, count).astype(np.float64)
        return cost, slope

    def __repr__(self) -> str:
        return (
            f"<RobotDistances of {count(len(self.starts) - 1, 'configuration')}: {count(len(self.pair), 'row')}, "
            f"{count(len(self.pairs), 'pair')}>"
        )


def distances_of_one(names: tuple[tuple[str, str], ...], near: queries.NearOfOne, within: float) -> RobotDistances:
    """Return the result of `Checker.distances` for one configuration."""
    pair, (distance, lower, upper, normal, point_a, point_b, gradient), moved = near
    jacobian_a, jacobian_b = (None, None) if moved is None else (moved[:, 0], moved[:, 1])
    starts, count = np.zeros(2, _INT), len(pair)
    starts[1] = count
    return RobotDistances(
        starts, np.zeros(count, _INT), pair, names, distance, lower, upper, normal, point_a, point_b, gradient,
        jacobian_a, jacobian_b, within,
    )  # fmt: skip


def distances(cell: Cell, q: Rows, within: Any, *, jacobians: bool, depth: general_pairs.Depth) -> RobotDistances:
    """Return the result of `Checker.distances`."""
    quick = queries.near_of_one(cell, q, within, jacobians)
    if quick is not None:
        return distances_of_one(cell.names, quick, within)
    rows, _ = cell.robot.configurations(q)
    if isinstance(within, bool) or not isinstance(within, Real) or within != within:
        raise RobotError(f"within is {within!r:.80}, expected a number")
    most = np.full(len(cell.slots), float(within) if within < 1e50 else 1e50)
    none = np.zeros(0, dtype=np.int64)
    of, pair, answers = map(
        np.concatenate, zip((none, none, np.zeros((0, FLOATS))), *near(cell, rows, most, depth), strict=True)
    )
    if len(cell.slots) > len(cell.layout.pairs):  # general pairs come last, so they are sorted by configuration
        order = np.lexsort((pair, of))
        of, pair, answers = of[order], pair[order], answers[order]
    gradient, moved = queries.gradients(cell, rows, of, answers, pair, every=jacobians)
    distance, lower, upper = np.ascontiguousarray(answers[:, :3].T)
    normal, point_a, point_b = (np.ascontiguousarray(answers[:, k : k + 3]) for k in (3, 6, 9))
    jacobian_a, jacobian_b = (moved[:, 0], moved[:, 1]) if jacobians else (None, None)
    return RobotDistances(
        np.searchsorted(of, np.arange(len(rows) + 1)), of, pair, cell.names, distance, lower, upper, normal,
        point_a, point_b, gradient, jacobian_a, jacobian_b, float(within),
    )  # fmt: skip


class Reason(IntEnum):
    """The reason why a configuration is invalid: NOT_FINITE, LIMIT or TOO_CLOSE. A valid configuration has VALID.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.Reason.LIMIT
    <Reason.LIMIT: 2>
    """

    VALID = 0  #: within the limits, and no pair closer than its margin
    NOT_FINITE = 1  #: a joint value is NaN or infinite, for example from a solver that failed
    LIMIT = 2  #: a joint value is beyond its limit
    TOO_CLOSE = 3  #: a pair touches, or is closer than its margin

    def __str__(self) -> str:
        return self.name


@compared()
class Validity(NamedTuple, Generic[B, S, P]):
    """Result of `Checker.valid`, for one configuration or n. The result of one configuration is true if it is valid.

    Attributes
    ----------
    valid : bool or (n,) bool
        True if all joint values are within the limits, and no pair is closer than its margin.
    reason : Reason or (n,) int
        The first reason that applies, in the order of `Reason`.
    joint : str or None, or list of these
        The joint that violates its limit most, if the reason is LIMIT.
    pair : (str, str) or None, or list of these
        A pair that is too close, if the reason is TOO_CLOSE. The name of an obstacle is second.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("ball", gk.Sphere(0.1), touching=["post", "beam"])
    >>> result = checker.valid([[0.0, 0.0], [0.0, 2.8], [0.0, 2.5], [float("nan"), 0.0]], margin=0.6)
    >>> result.valid.tolist(), result.reason.tolist()
    ([True, False, False, False], [0, 2, 3, 1])
    >>> result.joint[1], result.pair[2]
    ('elbow', ('post', 'hand'))
    """

    valid: B
    reason: S
    joint: P
    pair: P

    def __bool__(self: Validity[Any, Any, Any]) -> bool:
        if np.ndim(self.valid):
            raise RobotError(
                f"the truth value of {len(self.valid)} configurations is ambiguous. Use .valid or .valid.all()"
            )
        return bool(self.valid)


_VALID, _NOT_FINITE, _LIMIT, _TOO_CLOSE = map(int, Reason)


def valid(cell: Cell, q: Rows, limits: bool, tolerance: Any, workers: int) -> Validity[Any, Any, Any]:
    """Return the result of `Checker.valid`."""
    check_workers(workers)
    robot = cell.robot
    if workers == 1 and type(tolerance) is float and 0.0 <= tolerance < inf:
        quick = _quick_validity(cell, queries.plain_row(q), limits)
        if quick is not None:
            return quick
    if not is_finite(tolerance):
        raise RobotError(f"tolerance is {tolerance!r:.80}, expected a finite number")
    try:
        values = np.array(q)
    except ValueError:
        values = np.empty(0, dtype=bool)
    if values.dtype.kind not in "fiu":
        robot.configurations(q)  # raises the error
    values = values.astype(np.float64)
    lost = ~np.isfinite(np.atleast_2d(values)).all(axis=1)
    if lost.any():  # kernels refuse NaN and infinity: 0 replaces them, and the reason of these rows is NOT_FINITE
        values[~np.isfinite(values)] = 0.0
    rows, stacked = robot.configurations(values)
    reason = np.where(lost, _NOT_FINITE, _VALID)
    joint: list[str | None] = [None] * len(rows)
    pair: list[PairName] = [None] * len(rows)
    if limits:
        excess = np.maximum(robot.lower - rows, rows - robot.upper)
        for k in np.flatnonzero((reason == _VALID) & (excess > tolerance).any(axis=1)).tolist():
            reason[k], joint[k] = _LIMIT, robot._joint_of(int(excess[k].argmax()))
    left = np.flatnonzero(reason == _VALID)
    hit = queries.hits(cell, rows[left], workers)
    for k, p in zip(left[hit != FREE].tolist(), hit[hit != FREE].tolist(), strict=True):
        reason[k], pair[k] = _TOO_CLOSE, cell.names[p]
    if stacked:
        return Validity(reason == _VALID, reason, joint, pair)
    return Validity(bool(reason[0] == _VALID), Reason(reason.item(0)), joint[0], pair[0])


def _quick_validity(cell: Cell, row: Array | None, limits: bool) -> Validity[Any, Any, Any] | None:
    """Return the result of `valid` for one configuration, or None if the slower tests of `valid` are needed."""
    robot = cell.robot
    if row is None or len(row) != robot.dof:
        return None
    if limits and not ((robot.lower <= row) & (row <= robot.upper)).all():
        return None
    pair = queries.quick(cell, row)
    if pair == FREE:
        return Validity(True, Reason.VALID, None, None)
    return Validity(False, Reason.TOO_CLOSE, None, cell.names[pair]) if pair >= 0 else None
