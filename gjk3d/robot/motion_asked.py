"""What kernels of proven motions take of a cell: made for a first question, and used again by later ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.bodies.walk import new_tree_scratch
from gjk3d.robot import queries
from gjk3d.robot.cell import Cell, Host, Memory, solver
from gjk3d.robot.kinematics import Chain
from gjk3d.robot.lanes_walk import Room
from gjk3d.robot.motion_bounds import Arms, MotionBounds
from gjk3d.robot.motion_cover import Here
from gjk3d.robot.trees import NO_BODY, Around
from gjk3d.typing import Array, Array1, Array2, Array3, Ints1, Ints2

PROVEN, HIT, OPEN = range(3)  #: as `MotionStatus`
NOBODY = -1
FINER = 2.0**-12  #: of the tolerance, are the smallest pieces just before a contact; and 1 / FINER is just before
LEVELS = 64  #: of halves that wait
Edges = tuple[Ints1, Array1, Array1, Ints1]  #: of n edges: status, safe, hit or NaN, and the pair, -1 for none


class Pieces(NamedTuple):
    """Pieces of an edge that wait, each with the pairs that are open in it, and for each from where to where."""

    ids: Ints2  #: (LEVELS, pairs)
    near: Array3  #: (2, LEVELS, pairs)
    counts: Ints1  #: (LEVELS,)


class Task(NamedTuple):
    """Pairs of a cell, those that the walk answers or those of a body, and what a proof about them works in."""

    chain: Chain
    here: Here
    arms: Arms
    margins: Array1
    slack: float  #: of poses
    room: Room  #: of lanes; of no slots in use where the pairs are of a body
    poses: Array3  #: (2, 4, 4), scratch
    q: Array1
    joints: Array2  #: (8, links)
    bounds: Array2  #: (5, pairs)
    widths: Array1  #: (pairs,)
    pieces: Pieces


class Asked(NamedTuple):
    """What is asked about a cell, and the bounds that this was made for."""

    bounds: MotionBounds
    task: Task


class OneEdge(NamedTuple):
    """Where one straight line is asked, and where it is answered."""

    controls: Array  #: (1, 2, dof)
    loose: Array
    until: Array
    found: Edges


def asked_of(cell: Cell, host: Host | None, bounds: MotionBounds, memory: Memory) -> Asked:
    """Return what is asked about the pairs of the walk, or of a body; kept for who holds the lock of the memory."""
    kept: dict[int, Asked] = cell.kept.proofs if memory is cell.memory else {}
    key = -1 if host is None else host.slot
    known = kept.get(key)
    if known is None or known.bounds is not bounds:
        known = kept[key] = _made(cell, host, bounds, memory)
    return known


def one_edge(cell: Cell) -> OneEdge:
    """Return that, for who holds the lock of the memory."""
    kept: OneEdge | None = cell.kept.edge
    if kept is None:
        dof, ints = cell.robot.dof, np.empty((2, 1), dtype=np.int64)
        found = ints[0], np.empty(1), np.empty(1), ints[1]
        kept = cell.kept.edge = OneEdge(np.empty((1, 2, dof)), np.zeros((1, dof)), np.ones(1), found)
    return kept


def _made(cell: Cell, host: Host | None, bounds: MotionBounds, memory: Memory) -> Asked:
    layout, start, body = (cell.layout, 0, NO_BODY) if host is None else (
        cell.layout_of(host), host.first, cell.body(host),
    )  # fmt: skip
    pairs, links = len(layout.pairs), len(cell.robot.links)
    begins, like = bounds.arms.begins[start : start + pairs + 1], bounds.arms.like[start : start + pairs] - start
    lanes, frames = queries.lanes_of(cell, memory).room, cell.frames()
    around = Around(layout, frames, cell.guests, body, new_tree_scratch())
    return Asked(bounds, Task(
        cell.robot._chain, Here(layout, frames, solver(own=True), memory.axes, np.empty((links, 6)), around),
        bounds.arms._replace(begins=begins, like=like), np.ascontiguousarray(cell.margins[start : start + pairs]),
        bounds.slack, lanes if host is None else lanes._replace(used=lanes.used[:0]), np.empty((2, 4, 4)),
        np.empty(cell.robot.dof), np.empty((8, links)), np.empty((5, pairs)), np.empty(pairs),
        Pieces(
            np.empty((LEVELS, pairs), dtype=np.int64), np.empty((2, LEVELS, pairs)), np.empty(LEVELS, dtype=np.int64)
        ),
    ))  # fmt: skip
