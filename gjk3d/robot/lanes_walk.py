"""The walk of `gjk3d.robot.walk` over many configurations: in lanes first, one by one what is left of them.

Lanes are filled with samples in their order, of one edge or of several; configurations alone are edges of one sample.
A pair is looked at for all lanes together, and asked as one configuration alone would be where it may be near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.robot.kinematics import Chain, along
from gjk3d.robot.lanes import (
    LANES,
    POSE,
    SPOT,
    SPOT_NUMBERS,
    Lanes,
    link_lanes,
    near_lanes,
    place_lanes,
    spot,
)
from gjk3d.robot.walk import FREE, REFUSED, UNSURE, Frames, Layout, balls_meet, pair_collides
from gjk3d.typing import Array, Array1, Array2, Array3, Array4, Ints, Ints1, Ints2

_TOGETHER = 8  #: loops over lanes go over those in use, rounded up to a multiple of this


class Questions(NamedTuple):
    """The edges, and which of their samples the lanes hold."""

    q0: Array
    q1: Array
    steps: Ints
    begin: Ints
    at: Ints
    which: Ints
    edge: Ints  #: of each lane
    sample: Ints  #: of each lane
    next: Ints  #: an edge and a sample of it, which are asked next, and the edge to stop at


class Room(NamedTuple):
    """Scratch of `first_hits_of_many`, for lanes and for what is asked of them one by one."""

    numbers: Array
    spots: Array
    links: Array
    rows: Array
    balls: Array
    stamp: Ints
    used: Ints
    asked: Ints


def room(dof: int, links: int, slots: int) -> Room:
    """Return scratch for a robot of so many numbers and links, and so many slots."""
    count = (dof + 3) * LANES + links * (POSE + 1) + slots * SPOT
    return Room(
        np.zeros(count), np.empty((slots, SPOT_NUMBERS)), np.zeros((LANES, links, 4, 4)),
        np.empty((LANES, slots, 13)), np.empty((LANES, slots, 4)), np.empty((LANES, slots), dtype=np.int64),
        np.empty(slots, dtype=np.int64), np.empty(2 * LANES + 3, dtype=np.int64),
    )  # fmt: skip


@inlined
def _lanes_in(numbers: Array, spots: Array, dof: int, links: int) -> Lanes:
    """Return the parts of scratch."""
    a = dof * LANES
    b = a + 3 * LANES
    c = b + links * POSE
    d = c + links
    return Lanes(numbers[:a], numbers[a:b], numbers[b:c], numbers[c:d], numbers[d:], spots)


@kernel
def _begin(asked: Questions, start: int, stop: int) -> None:
    """Say of every edge that nothing is known of it, or that it is refused."""
    for e in range(start, stop):
        asked.at[e], asked.which[e] = asked.steps[e] + 1, FREE
        for c in range(asked.q0.shape[1]):
            if asked.q0[e, c] - asked.q0[e, c] != 0.0:
                asked.which[e] = REFUSED
    asked.next[0], asked.next[1], asked.next[2] = start, asked.begin[start] if start < stop else 0, stop


@kernel
def _fill(asked: Questions, lanes: Lanes, q: Array) -> int:
    """Put the samples that come next into lanes, and return how many there are."""
    edge, n = asked.next, plain(0)
    while n < LANES and edge[0] < edge[2]:
        e, s = edge[0], edge[1]
        if s > asked.steps[e] or asked.which[e] != FREE:
            edge[0] += 1
            edge[1] = asked.begin[edge[0]] if edge[0] < edge[2] else 0
            continue
        along(asked.q0[e], asked.q1[e], s / asked.steps[e] if s > 0 else 0.0, q)
        for j in range(q.shape[0]):
            lanes.q[j * LANES + n] = q[j]
        asked.edge[n], asked.sample[n] = e, s
        edge[1] += 1
        n += 1
    return n


@kernel
def _without(asked: Questions, k: int, n: int, alive: int) -> int:
    """Return the lanes that are left where lane k hits: those behind it on its edge are not asked any more."""
    for j in range(k, n):
        if asked.edge[j] == asked.edge[k]:
            alive &= ~(1 << j)
    return alive


@inlined
def _ask(
    layout: Layout, lanes: Lanes, frames: Frames, k: int, p: int, now: int, margin: float, axes: Array, simplex: Array
) -> int:
    """Tell of lane k what the walk tells of one configuration."""
    for side in range(2):
        slot = layout.pairs[p, side]
        link = layout.link[slot]
        if link >= 0 and frames.stamp[slot] < now:
            pose, m = lanes.poses[POSE * link : POSE * link + POSE], frames.links[link]
            for i in range(3):
                for j in range(4):
                    m[i, j] = pose[(4 * i + j) * LANES + k]
    if not balls_meet(layout, frames, now, p, margin):
        return 0
    return pair_collides(layout, frames, now, p, margin, axes, simplex)


@kernel
def _prepare(layout: Layout, lanes: Lanes, used: Ints) -> None:
    """Write what lanes need of slots that are in pairs, and where those stand that never move."""
    used[:] = 0
    for p in range(layout.pairs.shape[0]):
        used[layout.pairs[p, 0]] = used[layout.pairs[p, 1]] = 1
    for k in range(used.shape[0]):
        if used[k] != 0:
            spot(layout, k, lanes.spots[k])
            if layout.link[k] < 0:
                place_lanes(lanes, layout.link[k], k, plain(0))
                used[k] = 0  # from here on: whether it is to be placed


@entry
def first_hits_of_many(
    q0: Array2, q1: Array2, steps: Ints1, begin: Ints1, parent: Ints1, kind: Ints1, axis: Array2, origin: Array3,
    source: Ints1, multiplier: Array1, offset: Array1, link: Ints1, local: Array2, ints: Ints1, floats: Array1,
    starts: Ints2, pairs: Ints2, subs: Ints2, order: Ints1, margins: Array1, axes: Array2, numbers: Array1,
    spots: Array2, links: Array4, rows: Array3, balls: Array3, stamp: Ints2, used: Ints1, held: Ints1,
    matrix: Array2, one: Array2, simplex: Array2, q: Array1, at: Ints1, which: Ints1, start: int, stop: int,
) -> None:  # fmt: skip
    """Do as `gjk3d.robot.walk.first_hits` does, several samples at once."""
    chain = Chain(parent, kind, axis, origin, source, multiplier, offset)
    layout = Layout(link, local, ints, floats, starts, pairs, subs)
    lanes = _lanes_in(numbers, spots, q.shape[0], parent.shape[0])
    asked = Questions(
        q0, q1, steps, begin, at, which, held[:LANES], held[LANES : 2 * LANES], held[2 * LANES : 2 * LANES + 3]
    )  # fmt: skip
    _begin(asked, start, stop)
    _prepare(layout, lanes, used)
    stamp[:] = -1
    now = plain(0)
    while True:
        n = _fill(asked, lanes, q)
        if n == 0:
            break
        now += 1
        count = (n + _TOGETHER - 1) // _TOGETHER * _TOGETHER
        link_lanes(chain, lanes, matrix, one, q, count)
        for k in range(used.shape[0]):
            if used[k] != 0:
                place_lanes(lanes, link[k], k, count)
        alive = (1 << n) - 1
        for r in range(order.shape[0]):
            p = order[r]
            near = alive & near_lanes(lanes, pairs[p, 0], pairs[p, 1], margins[p], count)
            if near == 0:
                continue
            for k in range(n):
                if near >> k == 0:
                    break
                if (near & alive) >> k & 1 == 0:
                    continue
                frames = Frames(matrix, links[k], rows[k], balls[k], stamp[k])
                told = _ask(layout, lanes, frames, k, p, now, margins[p], axes, simplex)
                if told == 0:
                    continue
                at[asked.edge[k]], which[asked.edge[k]] = asked.sample[k], p if told == 1 else UNSURE
                alive = _without(asked, k, n, alive)
                if told == 1 and order[r] == p and r > 0:
                    order[r], order[r // 2] = order[r // 2], p
            if alive == 0:
                break
