"""The walk of `gjk3d.robot.walk` over many configurations: in lanes first, one by one what is left of them.

Lanes are filled with samples of an edge, or of several; configurations alone are edges of one sample. A pair is looked
at for all lanes together, and asked as one configuration alone would be where it may be near.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.robot.kinematics import Chain, along
from gjk3d.robot.lanes import (
    LANES,
    POSE,
    SPOT,
    Lanes,
    link_lanes,
    near_lanes,
    place_lanes,
    spot,
)
from gjk3d.robot.walk import FREE, REFUSED, UNSURE, Frames, Layout, pair_collides, place
from gjk3d.typing import Array, Array1, Array2, Array3, Array4, Ints, Ints1, Ints2

MOST_STEPS = 2.0**28  #: of one edge; more, which would take minutes, is a slip of the resolution
_TOGETHER = 8  #: loops over lanes go over those in use, rounded up to a multiple of this
_NUMBERS = 2 * LANES + 5  #: of `Room.held`


class Edges(NamedTuple):
    """Straight lines, and what is told of them."""

    q0: Array2
    q1: Array2
    each: Array1  #: (dof,), no number of q changes by more between two samples
    begin: Ints1  #: the first sample that is asked
    steps: Ints1  #: how many samples there are, less one
    at: Ints1  #: the sample that hits
    which: Ints1  #: and the pair that does


class Questions(NamedTuple):
    """Which samples of edges the lanes hold."""

    edges: Edges
    edge: Ints  #: of each lane
    sample: Ints  #: of each lane
    #: an edge and a sample of it, which are asked next, the edge to stop at, how far apart samples are that are not
    #: asked in their order, and, kept from call to call, how often lanes were filled
    next: Ints


class Room(NamedTuple):
    """Scratch of `first_hits_of_many`, for lanes and for what is asked of them one by one; see `room`."""

    numbers: Array1
    spots: Array2
    links: Array4
    rows: Array3
    balls: Array3
    stamp: Ints2
    used: Ints1  #: which slots move
    held: Ints1


class Task(NamedTuple):
    """A cell, and what a walk in lanes over its pairs works in."""

    chain: Chain
    layout: Layout
    order: Ints1  #: of pairs, likely hits first
    margins: Array1
    axes: Array2  #: what pairs remember, then sub-pairs
    room: Room
    poses: Array3  #: (2, 4, 4), scratch
    simplex: Array2
    q: Array1


def room(dof: int, links: int, layout: Layout) -> Room:
    """Return scratch for a robot of so many numbers and links, with what stands already in its place."""
    slots = len(layout.link)
    made = Room(
        np.zeros((dof + 3) * LANES + links * (POSE + 1)), np.zeros((slots, SPOT)), np.zeros((LANES, links, 4, 4)),
        np.empty((LANES, slots, 13)), np.empty((LANES, slots, 4)), np.zeros((LANES, slots), dtype=np.int64),
        np.empty(slots, dtype=np.int64), np.zeros(_NUMBERS, dtype=np.int64),
    )  # fmt: skip
    stand_in_lanes(layout, made.spots, made.used)
    return made


@entry
def stand_in_lanes(layout: Layout, spots: Array2, used: Ints1) -> None:
    """Write what lanes need of slots that are in pairs, where those are that never move, and in ``used`` which do."""
    none, pairs, link = layout.floats[:0], layout.pairs, layout.link
    lanes = Lanes(none, none, none, none, spots)
    used[:] = 0
    for p in range(pairs.shape[0]):
        used[pairs[p, 0]] = used[pairs[p, 1]] = 1
    for k in range(used.shape[0]):
        if used[k] != 0:
            spot(layout, k, spots[k])
            if link[k] < 0:
                place_lanes(lanes, link[k], k, plain(0))
                used[k] = 0


@inlined
def lanes_in(numbers: Array, spots: Array, dof: int, links: int) -> Lanes:
    """Return the parts of scratch."""
    a = dof * LANES
    b = a + 3 * LANES
    c = b + links * POSE
    return Lanes(numbers[:a], numbers[a:b], numbers[b:c], numbers[c:], spots)


# samples of edges -----------------------------------------------------------------------------------------------------


@kernel
def _steps_of(q0: Array, q1: Array, each: Array) -> int:
    """Return between how many samples no number of q changes by more than ``each``; -1 where q is not finite.

    Two ends that differ are both looked at, however coarse ``each`` is. More than there may be is `MOST_STEPS` and one.
    """
    widest, differ = 0.0, plain(0)
    for j in range(q0.shape[0]):
        change = abs(q1[j] - q0[j])
        if change - change != 0.0:
            return -1
        if change > 0.0:
            differ = 1
            widest = max(widest, change / each[j])
    return max(ceil(min(widest, MOST_STEPS + 1.0)), differ)


@kernel
def _begin(asked: Questions, start: int, stop: int, whole: bool) -> None:
    """Say how many samples every edge has, and that nothing is known of it, or that it is refused."""
    edges = asked.edges
    for e in range(start, stop):
        steps = _steps_of(edges.q0[e], edges.q1[e], edges.each)
        edges.steps[e], edges.at[e] = steps, steps + 1
        edges.which[e] = FREE if 0 <= steps <= MOST_STEPS else REFUSED
    asked.next[0], asked.next[2] = start - 1, stop
    _next_edge(asked, whole)


@kernel
def _next_edge(asked: Questions, whole: bool) -> None:
    """Go on to the next edge that is not refused."""
    next = asked.next
    next[0] += 1
    while next[0] < next[2] and asked.edges.which[next[0]] == REFUSED:
        next[0] += 1
    if next[0] < next[2]:
        steps = asked.edges.steps[next[0]]
        next[1], next[3] = steps if whole else asked.edges.begin[next[0]], 2
        while next[3] < 2 * steps:
            next[3] *= 2


@kernel
def _next_sample(asked: Questions, whole: bool) -> None:
    """Go on to the next sample of an edge, behind the last where there is none.

    Of an edge as a whole the end comes first, which is new to a planner, then what is between from the middle outwards
    (a van der Corput order, level by level), the beginning last.
    """
    next, steps = asked.next, asked.edges.steps[asked.next[0]]
    if not whole:
        next[1] += 1
    elif next[1] == 0:
        next[1] = steps + 1
    else:
        next[1] += next[3]
        while next[1] >= steps:  # on to the next level, whose samples are half as far apart
            next[3] //= 2
            next[1] = next[3] // 2


@kernel
def _fill(asked: Questions, lanes: Lanes, most: int, whole: bool, q: Array) -> int:
    """Put the samples that come next into lanes, and return how many there are."""
    next, n = asked.next, plain(0)
    while n < most and next[0] < next[2]:
        e, s = next[0], next[1]
        if s > asked.edges.steps[e] or asked.edges.which[e] != FREE:
            _next_edge(asked, whole)
            continue
        along(asked.edges.q0[e], asked.edges.q1[e], s / asked.edges.steps[e] if s > 0 else 0.0, q)
        for j in range(q.shape[0]):
            lanes.q[j * LANES + n] = q[j]
        asked.edge[n], asked.sample[n] = e, s
        _next_sample(asked, whole)
        n += 1
    return n


@kernel
def _without(asked: Questions, first: int, k: int, n: int, alive: int) -> int:
    """Return the lanes that are left where lane k hits: from the first on, those of its edge are asked no more."""
    for j in range(first, n):
        if asked.edge[j] == asked.edge[k]:
            alive &= ~(1 << j)
    return alive


# one by one -----------------------------------------------------------------------------------------------------------


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
        place(layout, frames, slot, now)
    return pair_collides(layout, frames, now, p, margin, axes, simplex)


@entry
def first_hits_of_many(task: Task, edges: Edges, start: int, stop: int, whole: bool) -> None:
    """Write for each edge the first of its samples that is not free, and a pair closer than its margin there.

    Edge e is a straight line from q0[e] to q1[e]; it has steps[e] + 1 samples, of which no number of q changes by more
    than ``each`` from one to the next. They are asked in their order from number begin[e] on: to know the first that
    hits, those before it must be asked in any order, and none behind it. As a ``whole`` an edge is asked in another
    order, see `_next_sample`, and what is told is any of its samples that is not free. ``which`` is `FREE`, and ``at``
    behind the last, where all are free; `UNSURE` where GJK alone cannot tell; `REFUSED` where q is not finite, or
    samples are too many.
    """
    layout, room, order, margins, q = task.layout, task.room, task.order, task.margins, task.q
    pairs, used, held = layout.pairs, room.used, room.held
    lanes = lanes_in(room.numbers, room.spots, q.shape[0], task.chain.parent.shape[0])
    asked = Questions(edges, held[:LANES], held[LANES : 2 * LANES], held[2 * LANES : _NUMBERS])
    _begin(asked, start, stop, whole)
    most = _TOGETHER if whole else LANES  # what hits mostly does so at one of the first few
    while True:
        n = _fill(asked, lanes, most, whole, q)
        if n == 0:
            break
        most = plain(LANES)
        held[_NUMBERS - 1] += 1
        now = held[_NUMBERS - 1]
        count = (n + _TOGETHER - 1) // _TOGETHER * _TOGETHER
        link_lanes(task.chain, lanes, task.poses[0], task.poses[1], q, count)
        for k in range(used.shape[0]):
            if used[k] != 0:
                place_lanes(lanes, layout.link[k], k, count)
        alive = (1 << n) - 1
        for r in range(order.shape[0]):
            p = order[r]
            near, k = alive & near_lanes(lanes, pairs[p, 0], pairs[p, 1], margins[p], count), plain(-1)
            while near != 0:
                k += 1
                here = near & 1
                near >>= 1
                if here == 0 or alive >> k & 1 == 0:
                    continue
                frames = Frames(task.poses[0], room.links[k], room.rows[k], room.balls[k], room.stamp[k])
                told = _ask(layout, lanes, frames, k, p, now, margins[p], task.axes, task.simplex)
                if told == 0:
                    continue
                e = asked.edge[k]
                edges.at[e], edges.which[e] = asked.sample[k], p if told == 1 else UNSURE
                alive = _without(asked, 0 if whole else k, k, n, alive)
                if told == 1 and order[r] == p and r > 0:
                    order[r], order[r // 2] = order[r // 2], p
            if alive == 0:
                break
