"""Candidates, such as solutions of inverse kinematics, told apart: which may be used, and why the others may not."""

from __future__ import annotations

from enum import IntEnum
from math import inf, isfinite
from numbers import Real
from typing import Any, Generic, NamedTuple

import numpy as np

from gjk3d.convex.checks import check_workers
from gjk3d.errors import RobotError
from gjk3d.robot import queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.model import Robot
from gjk3d.robot.results import PairName
from gjk3d.robot.walk import FREE
from gjk3d.typing import Array, B, P, Rows, S


class Reason(IntEnum):
    """Why a configuration is valid or not.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.Reason.LIMIT
    <Reason.LIMIT: 2>
    """

    VALID = 0  #: within the limits, and no pair closer than its margin
    NOT_FINITE = 1  #: a number is NaN or infinite, as of a solver that found nothing
    LIMIT = 2  #: a number is beyond its limit
    TOO_CLOSE = 3  #: a pair touches, or is closer than its margin

    def __str__(self) -> str:
        return self.name


class Validity(NamedTuple, Generic[B, S, P]):
    """Answer of `Checker.valid`, for one configuration or n; one of its own is true where it is valid.

    Attributes
    ----------
    valid : bool or (n,) bool
    reason : Reason or (n,) int
        The first that holds, in the order of `Reason`.
    joint : str or list of str, or None
        Of what is beyond a limit, the joint that is by most.
    pair : (str, str) or list of such, or None
        Of what is too close, a pair that is; an obstacle stands second.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> checker.add("ball", gk.Sphere(0.1), touching=["post", "beam"])
    >>> found = checker.valid([[0.0, 0.0], [0.0, 2.8], [0.0, 2.5], [float("nan"), 0.0]], margin=0.6)
    >>> found.valid.tolist(), found.reason.tolist()
    ([True, False, False, False], [0, 2, 3, 1])
    >>> found.joint[1], found.pair[2]
    ('elbow', ('post', 'hand'))
    """

    valid: B
    reason: S
    joint: P
    pair: P

    def __bool__(self: Validity[Any, Any, Any]) -> bool:
        if np.ndim(self.valid):
            raise RobotError(f"{len(self.valid)} configurations are not one bool: use .valid, or .valid.all()")
        return bool(self.valid)


_VALID, _NOT_FINITE, _LIMIT, _TOO_CLOSE = map(int, Reason)


def valid(cell: Cell, q: Rows, limits: bool, tolerance: Any, workers: int) -> Validity[Any, Any, Any]:
    """Answer `Checker.valid`."""
    check_workers(workers)
    robot = cell.robot
    if workers == 1 and type(tolerance) is float and 0.0 <= tolerance < inf:
        known = _one(cell, queries.plain_row(q), limits)
        if known is not None:
            return known
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not isfinite(float(tolerance)):
        raise RobotError(f"tolerance is {tolerance!r:.80}, expected a finite number")
    try:
        given = np.array(q)
    except ValueError:
        given = np.empty(0, dtype=bool)
    if given.dtype.kind not in "fiu":
        robot.configurations(q)  # which says what is wrong
    given = given.astype(np.float64)
    lost = ~np.isfinite(np.atleast_2d(given)).all(axis=1)
    if lost.any():
        given[~np.isfinite(given)] = 0.0
    rows, stacked = robot.configurations(given)
    reason = np.where(lost, _NOT_FINITE, _VALID)
    joint: list[str | None] = [None] * len(rows)
    pair: list[PairName] = [None] * len(rows)
    if limits:
        beyond = np.maximum(robot.lower - rows, rows - robot.upper)
        for k in np.flatnonzero((reason == _VALID) & (beyond > tolerance).any(axis=1)).tolist():
            reason[k], joint[k] = _LIMIT, _joint(robot, int(beyond[k].argmax()))
    left = np.flatnonzero(reason == _VALID)
    hit = queries.hits(cell, rows[left], workers)
    for k, p in zip(left[hit != FREE].tolist(), hit[hit != FREE].tolist(), strict=True):
        reason[k], pair[k] = _TOO_CLOSE, cell.names(p)
    if stacked:
        return Validity(reason == _VALID, reason, joint, pair)
    return Validity(bool(reason[0] == _VALID), Reason(reason.item(0)), joint[0], pair[0])


def _one(cell: Cell, row: Array | None, limits: bool) -> Validity[Any, Any, Any] | None:
    """Answer about one configuration within the limits; None where something else is to be said of it."""
    robot = cell.robot
    if row is None or len(row) != robot.dof:
        return None
    if limits and not ((robot.lower <= row) & (row <= robot.upper)).all():
        return None
    told = queries.quick(cell, row)
    if told == FREE:
        return Validity(True, Reason.VALID, None, None)
    return Validity(False, Reason.TOO_CLOSE, None, cell.names(told)) if told >= 0 else None


def _joint(robot: Robot, column: int) -> str:
    """Return the joint that a number of a configuration is of."""
    return next(name for name, own in robot.columns.items() if own.start <= column < own.stop)
