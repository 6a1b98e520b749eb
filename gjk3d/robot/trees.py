"""Convex shapes of a cell against one body (mesh, cloud, height field): the tree traversals of `gjk3d.bodies`.

A pair is a row of two slots, one of them the body, and a flag that is set if the body is the first. The other slot, the
guest, is a tree of one box. Each entry takes one body. Its tree is traversed in its own frame and is not copied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.gaps import NearestParts, into_world, nearest, report_gap, share_of
from gjk3d.bodies.part_tree import OPEN, PLACED, PRISMS, PartTree
from gjk3d.bodies.walk import APART, DOUBT, HELD, MEET, PosedPair, TreeScratch, held, meet, two_at
from gjk3d.narrow.pairs import mirror
from gjk3d.robot.kinematics import Chain, link_poses
from gjk3d.robot.walk import Frames, Layout, place
from gjk3d.typing import Array1, Array2, Array3, Ints2

RIM, REACH = range(2)  #: columns of a guest's sizes


class Guests(NamedTuple):
    """The slots of a cell as trees of one box; the rows of slots that are no guests are unused."""

    boxes: Array2  #: (slots, 15)
    table: Ints2  #: (slots, 3), first index of the shape
    points: Array2  #: (slots, 3), a point of each shape
    sizes: Array2  #: (slots, 2)
    leaf: Ints2  #: (1, 3), the only node, a leaf, shared by all
    place: Array2  #: (1, 13), the pose row of each


_NO_ROWS, _NO_LINKS = np.zeros((0, 15)), np.zeros((0, 3), dtype=np.int64)
#: stands for the body of pairs that `gjk3d.robot.walk` tests, so that the kernels have one signature
NO_BODY = PartTree(
    _NO_ROWS, _NO_LINKS, _NO_ROWS, _NO_LINKS, np.zeros(0, dtype=np.int64), np.zeros(0), _NO_ROWS, _NO_LINKS, _NO_ROWS,
    np.zeros(6), _NO_ROWS, -1, OPEN, 0.0, 0.0,
)  # fmt: skip


class Around(NamedTuple):
    """A body with its pairs, and the scratch memory of a traversal."""

    layout: Layout
    frames: Frames
    guests: Guests
    body: PartTree
    scratch: TreeScratch


@inlined
def guest_at(layout: Layout, g: Guests, k: int) -> PartTree:
    """Return slot k as a tree."""
    none = g.boxes[:0]
    return PartTree(
        g.boxes[k : k + 1], g.leaf, g.place, g.table[k : k + 1], layout.ints, layout.floats, none, g.table[:0], none,
        g.boxes[k], g.points[k : k + 1], PLACED, OPEN, g.sizes[k, RIM], g.sizes[k, REACH],
    )  # fmt: skip


@kernel
def pair_of(x: Around, p: int, now: int) -> tuple[PosedPair, int]:
    """Return the body and the guest of pair p, the body first, and the slot of the body."""
    layout, rows = x.layout, x.frames.rows
    host, guest = layout.pairs[p, 1], layout.pairs[p, 0]
    if layout.pairs[p, 2] != 0:
        host, guest = guest, host
    place(layout, x.frames, host, now)
    place(layout, x.frames, guest, now)
    pair = two_at(x.body, guest_at(layout, x.guests, guest), rows[host], rows[guest])
    error = pair.error
    if layout.link[host] >= 0:
        # the frame of a link is a product of rotations, so the residual that checked poses satisfy does not hold for it
        m = pair.m
        far = max(abs(m[9]), max(abs(m[10]), abs(m[11])))
        error += 4.0 * rows[host, 12] * (pair.a.reach + pair.b.reach + far)
    return PosedPair(pair.a, pair.b, pair.m, error), host


@kernel
def nearest_or_contact(
    pair: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch
) -> tuple[int, NearestParts]:
    """Return APART if a body and its guest are proven apart, and their nearest parts as `nearest` does.

    MEET and HELD are certain. DOUBT is left to the exact functions of two shapes.
    """
    w.last[0] = -1
    gap = nearest(pair, most, margin, share, first, w)
    if not min(gap.lowest, gap.upper) > pair.error:
        return MEET if gap.upper <= 0.0 else DOUBT, gap
    if pair.a.kind == PRISMS:
        return meet(pair, 0.0, w), gap
    # a gap between the surfaces proves nothing for a closed body: the guest may lie inside it
    return held(pair, w) if pair.a.inside != OPEN else APART, gap


@entry
def meet_many(
    q: Array2, chain: Chain, x: Around, margins: Array1, every: bool, start: int, stop: int, answer: Ints2
) -> bool:
    """Write the result of `gjk3d.bodies.walk.meet` for configurations start to stop and each pair.

    Without ``every``, pairs after the first that collides are written as APART untested. Returns whether all are APART.
    """
    frames, pairs = x.frames, x.layout.pairs
    frames.stamp[:] = -1
    all_apart = True
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        hit = False
        for p in range(pairs.shape[0]):
            answer[k, p] = APART
            if hit and not every:
                continue
            pair, _ = pair_of(x, p, k)
            x.scratch.last[0] = -1  # no warm start from another pair: answers must not depend on the order
            answer[k, p] = meet(pair, max(margins[p], 0.0), x.scratch)
            all_apart = all_apart and answer[k, p] == APART
            hit = (answer[k, p] == MEET or answer[k, p] == HELD) and margins[p] >= 0.0
    return all_apart


@entry
def gaps_many(
    chain: Chain, q: Array2, x: Around, most: Array1, best: Array1, least: bool, start: int, stop: int,
    out: Array3, answer: Ints2,
) -> None:  # fmt: skip
    """Write the distance of each pair at configurations start to stop, as a row of `solve`, and its verdict.

    The verdict is that of `nearest_or_contact`. The row is valid only for APART. A pair farther apart than its ``most``
    or than ``best`` of the configuration needs a lower bound only. With ``least``, ``best`` becomes the least distance
    so far.
    """
    frames, pairs = x.frames, x.layout.pairs
    frames.stamp[:] = -1
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            limit = max(min(most[p], best[k]), 0.0)
            pair, host = pair_of(x, p, k)
            answer[k, p], gap = nearest_or_contact(pair, limit, 0.0, 1.0, plain(-1), x.scratch)
            if answer[k, p] != APART:
                continue
            row, flags = out[k, p : p + 1], x.scratch.flags
            report_gap(pair, gap, limit, limit * (1.0 + 2.0**-52) + 1e-300, x.scratch, row, flags, plain(0))
            if flags[0, 3] != 0:
                answer[k, p] = DOUBT
                continue
            into_world(frames.rows[host], row, plain(0))
            if pairs[p, 2] == 0:  # the body is the second of the pair, and the row was computed with it first
                mirror(row, plain(0))
            if least:
                best[k] = min(best[k], out[k, p, 0])


@kernel
def gap_bounds(x: Around, p: int, now: int, most: float, margin: float, share: float) -> tuple[float, float]:
    """Return bounds of the distance of a pair up to ``most``, the lower at least `share_of` it; 0 for a collision.

    Row 1 of ``x.scratch.out`` has the nearest points in the world.
    """
    pair, host = pair_of(x, p, now)
    verdict, gap = nearest_or_contact(pair, most, margin, share, x.scratch.last[0], x.scratch)
    x.scratch.last[0] = gap.p
    if verdict == APART:
        into_world(x.frames.rows[host], x.scratch.out, plain(1))
        # The floor of a motion has a slack of 128 (D + 1) u S (1 + W) for D joints in a row, the size S and the turns
        # W, and the error is at most 256 u S. The terms keep these bounds from depending on that.
        return min(gap.lowest, share_of(gap.upper, margin, share)) - pair.error, gap.upper + pair.error
    return 0.0, 0.0 if verdict != DOUBT else gap.upper + pair.error
