"""Certified free regions: boxes of configurations that are proven free, from one distance for each pair.

On the straight line from q to another configuration of the box, joint j moves by at most its half width. So a pair
comes nearer by at most the sum of the half widths, each times the motion bound of the joint (`motion_bounds`). The box
grows in proportion to the weights until a pair reaches its margin. Then each joint alone grows as far as all pairs
allow (the bubble of Quinlan 1994, as a box).
"""

from __future__ import annotations

from math import inf

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import FAR
from gjk3d.robot.kinematics import LENGTHS
from gjk3d.robot.motion_bounds import curve_speeds, motion_bounds
from gjk3d.robot.motion_certified import general_motion
from gjk3d.typing import Array, Row

_FAR = 1e50
_WIDEST = 1.0  #: largest half width of a translation, for which the motion bounds are computed
_LESS = 1.0 - 2.0**-40  #: more than the rounding of sums of motions


def free_region(cell: Cell, rows: Array, weights: Row | None, margin: float) -> Array:
    """Return the half widths of free boxes around configurations, (n, dof): 0 for a configuration that is not free."""
    dof = cell.robot.dof
    relative = np.ones(dof) if weights is None else np.array(weights, dtype=np.float64)
    if relative.shape != (dof,) or not ((relative > 0.0) & np.isfinite(relative)).all():
        raise RobotError(f"weights is {weights!r:.80}, expected {dof} numbers above 0")
    return np.array([_half_widths(cell, row, relative, margin) for row in rows]).reshape(-1, dof)


def _half_widths(cell: Cell, q: Array, weights: Array, margin: float) -> Array:
    room, motion = _room(cell, q, margin), _motions(cell, q)
    if not (room > 0.0).all():
        return np.zeros(len(q))
    most = np.full(len(q), inf)
    most[_lengths(cell)] = _WIDEST
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.nanmin(np.concatenate([room / (motion @ weights), most / weights]), initial=inf)
        half = np.minimum(scale * weights, most) if scale < inf else most
        for j in np.argsort(-motion.max(axis=0, initial=0.0), kind="stable").tolist():
            others = motion @ np.where(np.arange(len(q)) == j, 0.0, np.where(np.isfinite(half), half, 0.0))
            alone = (room - others) / motion[:, j]
            half[j] = min(most[j], max(half[j], float(np.min(alone[motion[:, j] > 0.0], initial=inf))))
    half *= _LESS
    finite = np.where(np.isfinite(half), half, 0.0)
    # rounding may leave a pair without room
    return half if (motion @ finite <= room).all() else np.zeros(len(q))


def _lengths(cell: Cell) -> Array:
    chain, columns = cell.robot._chain, []
    for kind, source in zip(chain.kind.tolist(), chain.source.tolist(), strict=True):
        columns += [source + n for n in range(LENGTHS[kind])]
    return np.array(sorted(set(columns)), dtype=np.int64)


def _room(cell: Cell, q: Array, margin: float) -> Array:
    """Return each pair's distance at q minus its margin, rounded down, (pairs,); negative within the margin."""
    row, convex = np.ascontiguousarray(q[None]), len(cell.layout.pairs)
    out, which, _ = queries.every(cell, row, np.full(convex, _FAR))
    lower = np.concatenate([np.where(which[0] == FAR, _FAR, out[0, :, 1]), general_pairs.bounds(cell, row)[0][0]])
    margins = np.maximum(cell.margins + margin, 0.0)
    slack = motion_bounds(cell, _around(q)).slack
    room: Array = np.minimum(lower, _FAR) - margins * (1.0 + 8.0 * UNIT_ROUNDOFF) - slack * (len(q) + 1)
    return room


def _around(q: Array) -> Array:
    return np.array([[q - _WIDEST, q + _WIDEST]])


def _motions(cell: Cell, q: Array) -> Array:
    """Return bounds of the relative motion of each pair if one number of q changes by 1, (pairs, dof)."""
    arms, chain = motion_bounds(cell, _around(q)).arms, cell.robot._chain
    motion, joints = np.zeros((len(cell.slots), len(q))), np.zeros((6, len(chain.parent)))
    for j in range(len(q)):
        line = np.zeros((2, len(q)))
        line[1, j] = 1.0
        curve_speeds(chain, line, np.zeros(len(q)), joints)
        motion[:, j] = general_motion(arms, joints[0], joints[1])
    return motion / _LESS
