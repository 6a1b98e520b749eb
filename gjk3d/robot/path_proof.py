"""Paths between waypoints, proven free between them too, and led round what is in the way.

An edge is proven with some room first, half of what samples of the path say there is, so that one proof also tells how
close the path comes. Where an edge cannot be proven, waypoints beside it are drawn, farther and farther from where it
hits, until the two edges by way of one of them are.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.robot import queries
from gjk3d.robot.cell import Cell, Kept
from gjk3d.robot.motions import MotionCheck, motion_free
from gjk3d.robot.results import PairName
from gjk3d.robot.walk import FREE
from gjk3d.typing import Array, Bools

_STEP = 0.1  #: radians, or lengths, between the samples that tell how much room there is
_SHARES = (0.5, 0.1, 0.0)  #: of that room, tried one after the other
_SPREADS = (0.01, 0.02, 0.04, 0.08, 0.16)  #: of the bounds, how far from a hit waypoints are drawn
_DRAWN = 24  #: waypoints of each spread


class PathProof(NamedTuple):
    """What is proven of the path that `gjk3d.robot.ompl.Planning.plan` found last.

    Attributes
    ----------
    proven : bool
        No configuration of the path comes closer than its margins.
    clearance : float
        Each pair stays farther apart than its margin and this all the way, proven; -inf where nothing is.
    repaired : int
        Stretches that samples called free and the proof did not, and that detours stand for now.
    replanned : bool
        Detours were not found, and the path is another, all edges of which were proven as they were found.
    pair : (str, str) or None
        Who is in the way of a path that is not proven.
    seconds : float
        What proof, repairs and replanning took of this process's time.

    Examples
    --------
    >>> import gjk3d as gk
    >>> planning = gk.robot.ompl.Planning(gk.robot.Checker(gk.robot.Robot.example()))
    >>> path = planning.plan([0.0, 0.0], [1.0, 1.0], seconds=2.0)
    >>> planning.proof.proven, planning.proof.repaired, planning.proof.clearance > 0.1
    (True, 0, True)
    """

    proven: bool
    clearance: float
    repaired: int
    replanned: bool
    pair: PairName
    seconds: float


class Edges(NamedTuple):
    """What is proven of the edges of a path."""

    room: Array  #: farther apart than its margin and this each pair stays; -inf where an edge is not proven
    stops: Array  #: where an edge that is not proven collides, or stops to be proven
    pair: list[PairName]  #: and of whom

    @property
    def bad(self) -> Bools:
        """Which are not proven."""
        bad: Bools = self.room == -inf
        return bad


def edges_of(cell: Cell, path: Array, tolerance: float) -> Edges:
    """Return what is proven of each edge of a path."""
    first, second = (path[:-1], path[1:]) if len(path) > 1 else (path, path)
    found = Edges(np.full(len(first), -inf), np.zeros(len(first)), [None] * len(first))
    if not len(cell.slots):
        found.room[:] = inf
    room = _room(cell, path) if len(cell.slots) else 0.0
    for share in _SHARES if room > 0.0 else (0.0,):
        left = np.flatnonzero(found.bad)
        if not len(left):
            break
        wider = _wider(cell, share * room)
        told = _proof(wider, first[left], second[left], tolerance)
        cell.kept.bounds = wider.kept.bounds
        found.room[left[told.free]] = share * room
        found.stops[left] = np.where(np.isnan(told.hit), told.safe, told.hit)
        for k, pair in zip(left.tolist(), told.pair, strict=True):
            found.pair[k] = pair
    return found


def _proof(cell: Cell, first: Array, second: Array, tolerance: float) -> MotionCheck[Any, Any, Any, Any]:
    return motion_free(cell, first, second, True, 1.0, tolerance, 1)


def _room(cell: Cell, path: Array) -> float:
    """Return about how much farther apart than its margin each pair is all along a path, 0 where that is not clear."""
    steps = [ceil(float(np.abs(b - a).max(initial=0.0)) / _STEP) for a, b in pairwise(path)]
    places = np.concatenate([[0.0], *(k + np.arange(1, n + 1) / n for k, n in enumerate(steps) if n)])
    at = np.arange(len(path))
    samples = np.column_stack([np.interp(places, at, column) for column in path.T]).reshape(-1, path.shape[1])
    least = queries.nearest(cell, np.ascontiguousarray(samples), inf)[0][:, 0].min()
    return max(float(least) - float(cell.margins.max()), 0.0)


def _wider(cell: Cell, more: float) -> Cell:
    """Return a cell with larger margins, and what is known of how far its links move."""
    if more == 0.0:
        return cell
    kept = Kept()
    kept.bounds = cell.kept.bounds
    return cell._replace(margins=cell.margins + more, kept=kept)


def runs(bad: Bools) -> list[tuple[int, int]]:
    """Return from which edge to which, the last left out, edges are bad without a break."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in ends.reshape(-1, 2)]


def detour(
    cell: Cell, ends: Array, hit: Array, spread: Array, bounds: tuple[Array, Array], tolerance: float
) -> Array | None:
    """Return a waypoint near a hit by way of which the line between two ends is proven free, or None.

    ``spread`` (dof,) is how wide the bounds are, 0 for what does not move. What is drawn is the same each time.
    """
    rng = np.random.default_rng(0)
    for share in _SPREADS:
        drawn = np.clip(hit + share * spread * rng.standard_normal((_DRAWN, len(hit))), *bounds)
        drawn = drawn[queries.hits(cell, drawn, 1) == FREE]
        # short ways first, in what part of their bounds joints move
        size = np.where(spread > 0.0, spread, 1.0)
        length = sum(np.linalg.norm((drawn - end) / size, axis=1) for end in ends)
        for waypoint in drawn[np.argsort(length, kind="stable")]:
            way = np.array([ends[0], waypoint, ends[1]])
            if _proof(cell, way[:-1], way[1:], tolerance).free.all():
                found: Array = waypoint
                return found
    return None
