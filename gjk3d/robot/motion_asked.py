"""What kernels of proven motions take of a cell: made for a first question, and used again by later ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.robot import queries
from gjk3d.robot.cell import Cell, Host, Memory, scratch_of_solve
from gjk3d.robot.motion_bounds import MotionBounds
from gjk3d.robot.trees import NO_BODY
from gjk3d.typing import Array, Ints

PROVEN, HIT, OPEN = range(3)  #: as `MotionStatus`
NOBODY = -1
FINER = 2.0**-12  #: of the tolerance, are the smallest pieces just before a contact; and 1 / FINER is just before
LEVELS = 64  #: of halves that wait
Edges = tuple[Ints, Array, Array, Ints]  #: of n edges: status, safe, hit or NaN, and the pair, -1 for none


class Asked(NamedTuple):
    """Arguments of `gjk3d.robot.motion_certified.certified_many`, but for edges and what belongs to a thread."""

    bounds: MotionBounds
    chain: tuple[Any, ...]
    before: tuple[Any, ...]  #: what stands between the tolerance and the bench
    behind: tuple[Any, ...]  #: and between that and up to where edges are asked


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
    margins = np.ascontiguousarray(cell.margins[start : start + pairs])
    begins, steps, sides, floating, like = bounds.arms
    begins, like = begins[start : start + pairs + 1], like[start : start + pairs] - start
    room = queries.lanes_of(cell, memory).room
    return Asked(
        bounds, tuple(cell.robot._chain),
        (
            bounds.slack, room.numbers, room.spots, room.used if host is None else room.used[:0], np.empty((2, 4, 4)),
            *layout, margins, memory.axes, *cell.frames(), *scratch_of_solve(own=True), begins, steps, sides, floating,
            like, *cell.guests, body,
        ),
        (
            np.empty(cell.robot.dof), np.empty((8, links)), np.empty((links, 6)), np.empty((5, pairs)), np.empty(pairs),
            np.empty((LEVELS, pairs), dtype=np.int64), np.empty((2, LEVELS, pairs)), np.empty(LEVELS, dtype=np.int64),
        ),
    )  # fmt: skip
