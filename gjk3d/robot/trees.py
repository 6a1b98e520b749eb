"""Convex shapes of a cell against one body, a cloud, a mesh, ground: the traversals of `gjk3d.bodies` in its frames.

A pair is a row of two slots, one of which is the body, and a flag that says that it is the first. The other one, its
guest, is a tree of one box. Each entry is about one body, whose tree is walked where it is and as it is.
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
    """The slots of a cell as trees of one box; rows of slots that are none's guests hold nothing."""

    boxes: Array2  #: (slots, 15)
    table: Ints2  #: (slots, 3), where the shape begins
    points: Array2  #: (slots, 3), one of each
    sizes: Array2  #: (slots, 2)
    leaf: Ints2  #: (1, 3), the links of each
    place: Array2  #: (1, 13), the pose row of each


_NO_ROWS, _NO_LINKS = np.zeros((0, 15)), np.zeros((0, 3), dtype=np.int64)
#: of pairs that the walk answers
NO_BODY = PartTree(
    _NO_ROWS, _NO_LINKS, _NO_ROWS, _NO_LINKS, np.zeros(0, dtype=np.int64), np.zeros(0), _NO_ROWS, _NO_LINKS, _NO_ROWS,
    np.zeros(6), _NO_ROWS, -1, OPEN, 0.0, 0.0,
)  # fmt: skip


class Around(NamedTuple):
    """A body, and what is needed to ask about it."""

    layout: Layout
    frames: Frames
    guests: Guests
    body: PartTree
    bench: TreeScratch


@inlined
def guest_at(layout: Layout, g: Guests, k: int) -> PartTree:
    """Return slot k."""
    none = g.boxes[:0]
    return PartTree(
        g.boxes[k : k + 1], g.leaf, g.place, g.table[k : k + 1], layout.ints, layout.floats, none, g.table[:0], none,
        g.boxes[k], g.points[k : k + 1], PLACED, OPEN, g.sizes[k, RIM], g.sizes[k, REACH],
    )  # fmt: skip


@kernel
def two_of(x: Around, p: int, now: int) -> tuple[PosedPair, int]:
    """Return the body and the guest of pair p, the body first, and the body's slot."""
    layout, rows = x.layout, x.frames.rows
    host, guest = layout.pairs[p, 1], layout.pairs[p, 0]
    if layout.pairs[p, 2] != 0:
        host, guest = guest, host
    place(layout, x.frames, host, now)
    place(layout, x.frames, guest, now)
    two = two_at(x.body, guest_at(layout, x.guests, guest), rows[host], rows[guest])
    error = two.error
    if layout.link[host] >= 0:  # its frame is a product of rotations, no pose that was checked
        m = two.m
        far = max(abs(m[9]), max(abs(m[10]), abs(m[11])))
        error += 4.0 * rows[host, 12] * (two.a.reach + two.b.reach + far)
    return PosedPair(two.a, two.b, two.m, error), host


@kernel
def asked(
    two: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch
) -> tuple[int, NearestParts]:
    """Tell whether a body and its guest are proven apart, APART, and find their nearest parts as `nearest` does.

    MEET and HELD are sure; else it is what `meet` says.
    """
    w.last[0] = -1
    found = nearest(two, most, margin, share, first, w)
    if not min(found.lowest, found.upper) > two.error:
        return MEET if found.upper <= 0.0 else DOUBT, found
    if two.a.kind == PRISMS:
        return meet(two, 0.0, w), found
    return held(two, w) if two.a.inside != OPEN else APART, found


@entry
def meet_many(
    q: Array2, chain: Chain, x: Around, margins: Array1, every: bool, start: int, stop: int, answer: Ints2
) -> bool:
    """Write for configurations start to stop, and each pair, what `gjk3d.bodies.walk.meet` says of it.

    Unless ``every`` is asked for, what is behind the first pair that meets is called APART. Returns whether all are.
    """
    frames, pairs = x.frames, x.layout.pairs
    frames.stamp[:] = -1
    apart = True
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        met = False
        for p in range(pairs.shape[0]):
            answer[k, p] = APART
            if met and not every:
                continue
            two, _ = two_of(x, p, k)
            x.bench.last[0] = -1
            answer[k, p] = meet(two, max(margins[p], 0.0), x.bench)
            apart = apart and answer[k, p] == APART
            met = (answer[k, p] == MEET or answer[k, p] == HELD) and margins[p] >= 0.0
    return apart


@entry
def gaps_many(
    chain: Chain, q: Array2, x: Around, most: Array1, best: Array1, least: bool, start: int, stop: int,
    out: Array3, answer: Ints2,
) -> None:  # fmt: skip
    """Write the distance of each pair at configurations start to stop, a row as of `solve`, and what `asked` says.

    Where that is not APART the row is none. Farther apart than ``most`` of the pair,
    or ``best`` of the configuration, need only be proven; of the ``least`` that becomes the least distance seen.
    """
    frames, pairs = x.frames, x.layout.pairs
    frames.stamp[:] = -1
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            limit = max(min(most[p], best[k]), 0.0)
            two, host = two_of(x, p, k)
            answer[k, p], found = asked(two, limit, 0.0, 1.0, plain(-1), x.bench)
            if answer[k, p] != APART:
                continue
            row, flags = out[k, p : p + 1], x.bench.flags
            report_gap(two, found, limit, limit * (1.0 + 2.0**-52) + 1e-300, x.bench, row, flags, plain(0))
            if flags[0, 3] != 0:
                answer[k, p] = DOUBT
                continue
            into_world(frames.rows[host], row, plain(0))
            if pairs[p, 2] == 0:  # the body stands second
                mirror(row, plain(0))
            if least:
                best[k] = min(best[k], out[k, p, 0])


@kernel
def gap_bounds(x: Around, p: int, now: int, most: float, margin: float, share: float) -> tuple[float, float]:
    """Return bounds of the distance of a pair, no more than ``most``, the lower at least `share_of` it; 0 if they meet.

    Row 1 of the bench's answers says where the two are nearest, in the world.
    """
    two, host = two_of(x, p, now)
    told, found = asked(two, most, margin, share, x.bench.last[0], x.bench)
    x.bench.last[0] = found.p
    if told == APART:
        into_world(x.frames.rows[host], x.bench.out, plain(1))
        # The floor of a motion has a slack of 128 (D + 1) u S (1 + W) for D joints in a row, the size S and the turns
        # W, and the error is at most 256 u S. The terms keep these bounds from depending on that.
        return min(found.lowest, share_of(found.upper, margin, share)) - two.error, found.upper + two.error
    return 0.0, 0.0 if told != DOUBT else found.upper + two.error
