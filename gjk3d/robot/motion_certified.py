"""Certified lines and curves of configurations: halved until each piece is proven free for each pair.

First the line is divided into equal parts, and all pairs are tested together at the middle of each part, with the
capsules of `gjk3d.robot.sampled_edges` and the linear bound of `gjk3d.robot.motion_cover`. This proves most pairs on
the whole line, and all other pairs on most parts of the line. The remaining parts are halved until, for each pair, each
piece is inside an interval that is proven free.

Pairs without a kernel are proven by the linear bound alone, stretch by stretch from the start. Several configurations
of a stretch are queried at once. If the whole stretch is proven, the next stretch is longer, else shorter. The depth of
overlapping non-convex bodies may jump, so nothing is proven in overlap, even if a negative margin allows the overlap.
"""

from __future__ import annotations

import time
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.convex.batch import empty_answers, in_chunks
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, new_workspace
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.robot import general_pairs, queries, results
from gjk3d.robot.cell import Cell, Memory
from gjk3d.robot.cell_kernels import balls_meet, body_collides, is_finite, pair_collides
from gjk3d.robot.kinematics import Chain, link_poses
from gjk3d.robot.motion_bounds import (
    Arms,
    MotionBounds,
    bounds_within,
    curve_speeds,
    extents,
    how_far,
    motion_bounds,
    pair_motion,
    shares,
    speeds,
    width,
)
from gjk3d.robot.motion_cover import Bound, Workspace, cover, twists
from gjk3d.robot.sampled_edges import (
    LANES,
    Lanes,
    LaneScratch,
    lanes_in,
    link_lanes,
    near_balls,
    near_lanes,
    next_stamp,
    not_free,
    place_lane,
    place_lanes,
)
from gjk3d.robot.trajectories import Curves, on_curve, points_on, rates_on_curve
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

PROVEN, HIT, OPEN = range(3)  #: the values of `MotionStatus`
NOBODY = -1  #: replaces the number of a pair if there is none
_MANY = 10  #: number of open pairs from which an edge probably collides, so it is tested before it is proven
FINER = 2.0**-12  #: least length of a piece just before a contact, relative to the tolerance
LEVELS = 64  #: depth of the stack of pieces
_MORE = 1.0 + 2.0**-40  #: factor that covers the rounding of V and K
_FEW = LANES // 2  #: lanes of the first test, spread over the whole line
_HALF = 0.5 / LANES  #: half of the length of a part of the line
_ROUNDED = 2.0**-40 + 8.0 * _U / _HALF  #: rounding of the motion in half a part, relative to this motion, see `_bound`
_TRIES = 6  #: number of lanes whose free space around a body is computed
_MOST_TRIES = 40  #: greatest number of configurations for the bracket of a contact
_NEAR = 0.25  #: longest piece, as a share of the motion, whose beginning gives a good estimate of a contact
MOST_LOOKS = 200_000  #: greatest number of configurations of one motion for convex pairs
MOST_BODY_LOOKS = 20_000  #: greatest number of configurations of one motion for pairs with bodies, which cost more
_AHEAD = 8  #: steps of a stretch, whose ends are queried at once
MOST_GENERAL_LOOKS = 2000  #: greatest number of stretches of one motion for pairs without a kernel, which cost the most
Edges = tuple[Ints1, Array1, Array1, Ints1]  #: results of n edges: status, safe, hit or NaN, and the pair or -1


class Pieces(NamedTuple):
    """A stack of pieces of an edge, with the pairs that are not yet proven in each piece."""

    ids: Ints2  #: (LEVELS, pairs), the open pairs of each piece
    near: Array3  #: (2, LEVELS, pairs), the beginning and the end of the open interval of each open pair
    counts: Ints1  #: (LEVELS,), the number of open pairs of each piece


class Task(NamedTuple):
    """The convex pairs of a cell, or its pairs with bodies, and scratch memory for their proof."""

    chain: Chain
    work: Workspace
    arms: Arms
    margins: Array1  #: (pairs,)
    slack: float  #: error of the poses of two slots, for a motion that turns no joint
    scratch: LaneScratch
    poses: Array3  #: (2, 4, 4), scratch memory
    q: Array1  #: (dof,), scratch memory
    joints: Array2  #: (8, links), see `speeds` and `shares`
    bounds: Array2  #: (5, pairs), the fields of `Bound` for each open pair
    widths: Array1  #: (pairs,), the result of `width` for the first of all pairs with the same joints and arms
    pieces: Pieces


def task_for(cell: Cell, of_bodies: bool, bounds: MotionBounds, memory: Memory) -> Task:
    """Return the task for the convex pairs, or for the pairs with bodies if ``of_bodies``.

    If ``memory`` is the memory of the cell, the caller holds its lock, and the task is cached.
    """
    cache: dict[bool, tuple[MotionBounds, Task]] = cell.cache.proofs if memory is cell.memory else {}
    cached = cache.get(of_bodies)
    if cached is not None and cached[0] is bounds:
        return cached[1]
    convex = len(cell.layout.pairs)
    first, stop = (convex, cell.measured) if of_bodies else (0, convex)
    begins, like = bounds.arms.begins[first : stop + 1], bounds.arms.like[first:stop] - first
    arms = bounds.arms._replace(begins=begins, like=like)
    if cached is None:
        task = _new_task(cell, of_bodies, arms, bounds.slack, memory)
    else:  # only the bounds differ, because another motion has other translations: the memory is used again
        task = cached[1]._replace(arms=arms, slack=bounds.slack)
    cache[of_bodies] = bounds, task
    return task


def _new_edges(count: int) -> Edges:
    return np.empty(count, dtype=np.int64), np.empty(count), np.empty(count), np.empty(count, dtype=np.int64)


def _new_task(cell: Cell, of_bodies: bool, arms: Arms, slack: float, memory: Memory) -> Task:
    convex = len(cell.layout.pairs)
    first, stop = (convex, cell.measured) if of_bodies else (0, convex)
    pairs, links = stop - first, len(cell.robot.links)
    bodies = cell.bodies(memory, fresh=True)._replace(pairs=cell.body_pairs[: cell.measured - convex])
    solver = Solver(new_workspace(FIRST_POINTS), *empty_answers(1))
    work = Workspace(
        cell.layout, cell.frames(), solver, memory.axes, np.empty((links, 6)), bodies, of_bodies, np.full(pairs, -1),
    )  # fmt: skip
    return Task(
        cell.robot._chain, work, arms, np.ascontiguousarray(cell.margins[first:stop]), slack,
        queries.lanes_of(cell, memory).scratch,
        np.empty((2, 4, 4)), np.empty(cell.robot.dof), np.empty((8, links)), np.empty((5, pairs)), np.empty(pairs),
        Pieces(
            np.empty((LEVELS, pairs), dtype=np.int64), np.empty((2, LEVELS, pairs)), np.empty(LEVELS, dtype=np.int64)
        ),
    )  # fmt: skip


@kernel
def _bound_of(bounds: Array, p: int) -> Bound:
    return Bound(bounds[0, p], bounds[1, p], bounds[2, p], bounds[3, p], bounds[4, p] > 0.0)


@kernel
def _all_joints(chain: Chain, curve: Array, loose: Array, joints: Array) -> float:
    """Write bounds of the motion of each joint on a curve (`speeds`, and `shares` of half a part) to ``joints``.

    Return 1 plus a bound of the sum of the angles by which the joints turn on the curve.
    """
    speeds(chain, curve, loose, joints)
    shares(joints, _HALF)
    moved = 1.0
    for j in range(joints.shape[1]):
        moved += joints[0, j]
    return moved


@inlined
def _width(task: Task, p: int) -> float:
    """Return a bound of the relative motion of pair p in half a part. Pairs with equal joints and arms share it."""
    like = task.arms.like[p]
    # Pairs are visited in order, so the first pair with the same joints and arms has already been computed. A negative
    # index refers to a convex pair, which is not in this task.
    if not 0 <= like < p:
        like = plain(p)
        task.widths[p] = width(task.arms, p, task.joints)
    return float(task.widths[like])


@kernel
def _bound(task: Task, slack: float, p: int) -> None:
    """Write the `Bound` of pair p to column p of ``task.bounds``. ``slack`` is the error of the poses of two slots."""
    v, first_k, second_k, wrong = pair_motion(task.arms, p, task.joints)
    bounds, margin = task.bounds, task.margins[p]
    v *= _MORE
    bounds[0, p] = margin
    # The term 8 u V covers the rounding of parameters. V is at most 4 S (1 + W) for the size S and the turns W of the
    # motion, so the slack, 128 (D + 1) u S (1 + W), is larger. With the term the bound does not depend on the slack.
    bounds[1, p] = margin + slack + wrong + 8.0 * _U * (v + abs(margin))
    bounds[2, p] = max(v, 1e-300)  # V is a divisor, also for a pair that does not move
    # either shape may be the fixed one, so the smaller K is used
    bounds[3, p] = min(first_k, second_k) * _MORE
    bounds[4, p] = 1.0 if first_k < second_k else 0.0


@kernel
def _fill(chain: Chain, lanes: Lanes, curve: Array, scratch: Array3, q: Array) -> None:
    """Divide a curve into `LANES` equal parts, and write the link poses at the middle of each part to ``lanes``.

    Each lane contains the poses of one configuration. The first half of the lanes contains every second part, so these
    lanes are spread over the whole curve. ``scratch`` is (2, 4, 4).
    """
    for k in range(LANES):
        on_curve(curve, (_part(k) + 0.5) / LANES, q)
        for j in range(q.shape[0]):
            lanes.q[j * LANES + k] = q[j]
    link_lanes(chain, lanes, scratch[0], scratch[1], q, plain(LANES))


@inlined
def _part(lane: int) -> int:
    """Return the number of the part of a curve that is tested in a lane. `_fill` divides the curve into parts."""
    return 2 * lane if lane < _FEW else 2 * (lane - _FEW) + 1


@inlined
def _open_parts(near: int) -> tuple[int, int]:
    """Return the first and the last part in which a pair is not proven apart.

    ``near`` has one bit for each lane, as `_near_parts` returns it. `_part` gives the part of a lane.
    """
    first, last = plain(LANES), plain(-1)
    for k in range(LANES):
        if near >> k & 1 != 0:
            part = _part(k)
            first, last = min(first, part), max(last, part)
    return first, last


@inlined
def _near_parts(task: Task, lanes: Lanes, slack: float, p: int) -> int:
    """Return one bit for each lane: 0 if convex pair p is proven apart in the lane's whole part of the line, else 1.

    A lane contains the configuration in the middle of its part, see `_fill`.
    """
    pairs, wide, margin = task.work.layout.pairs, _width(task, p), task.margins[p]
    a, b, floor = pairs[p, 0], pairs[p, 1], margin + slack + _ROUNDED * (wide + abs(margin))
    # The balls in every second part are tested first, with a bound that is also valid in the next part: the far end of
    # the next part is three half parts from the middle of a part.
    if near_balls(lanes, a, b, floor + 3.0 * wide, plain(_FEW)) == 0:
        return 0
    return near_lanes(lanes, a, b, floor + wide, plain(LANES))


@kernel
def _near_body_parts(task: Task, lanes: Lanes, slack: float, p: int) -> int:
    """Return one bit for each lane: 0 if pair p with a body is proven apart in the lane's whole part, else 1.

    All bits are 0 for a negative margin, since `certified_general` proves these pairs.
    """
    layout, bodies, margin = task.work.layout, task.work.bodies, task.margins[p]
    if margin < 0.0:
        return 0
    wide = _width(task, p)
    limit = margin + slack + _ROUNDED * (wide + margin) + wide
    near = near_lanes(lanes, bodies.pairs[p, 1], bodies.pairs[p, 0], limit, plain(LANES))
    if near == 0:
        return near
    return not_free(layout, lanes, bodies, p, limit, near, plain(LANES), plain(_TRIES))


@kernel
def _sweep(task: Task, lanes: Lanes, slack: float, until: float) -> None:
    """Write to the first piece of ``task.pieces`` the pairs without a proof up to ``until``, with their open intervals.

    ``lanes`` contains the poses of the links at the middles of all parts. The open interval of a pair extends from the
    first to the last part in which it is not proven apart.
    """
    work, used, pieces = task.work, task.scratch.used, task.pieces
    for k in range(used.shape[0]):
        if used[k] != 0:
            place_lanes(lanes, work.layout.link[k], k, plain(LANES))
    n = plain(0)
    for p in range(task.margins.shape[0]):
        near = _near_body_parts(task, lanes, slack, p) if work.of_bodies else _near_parts(task, lanes, slack, p)
        if near == 0:
            continue
        first, last = _open_parts(near)
        if first / LANES >= until:
            continue
        _bound(task, slack, p)
        pieces.ids[0, n], pieces.near[0, 0, n] = p, first / LANES
        pieces.near[1, 0, n] = min((last + 1) / LANES, until)
        n += 1
    pieces.counts[0] = n


@inlined
def _forget(work: Workspace, pieces: Pieces) -> None:
    """Clear the warm starts of open pairs, so that a result does not depend on earlier edges."""
    if work.of_bodies:
        work.last[:] = -1
        return
    pairs = work.layout.pairs
    for n in range(pieces.counts[0]):
        p = pieces.ids[0, n]
        work.axes[p, 0] = 0.0
        for r in range(pairs[p, 2], pairs[p, 3]):
            work.axes[pairs.shape[0] + r, 0] = 0.0


@kernel
def _place_links(task: Task, curve: Array, c: float) -> None:
    """Write the link poses and twists at parameter c, 0 to 1, of a curve to the workspace of the task."""
    chain, work, q = task.chain, task.work, task.q
    on_curve(curve, c, q)
    link_poses(chain, q, work.frames.matrix, work.frames.links)
    rates_on_curve(curve, c, q)
    twists(chain, q, work.frames.links, work.twist)


@kernel
def _open_pairs(pieces: Pieces, top: int, n: int) -> tuple[int, float, float, int]:
    """Remove the proven pairs from piece ``top``, which has n pairs.

    Return the number of open pairs, the least beginning and the greatest end of their intervals, and the pair with the
    least beginning.
    """
    ids, near = pieces.ids, pieces.near
    m, low, high, first = plain(0), 2.0, -1.0, NOBODY
    for i in range(n):
        if near[0, top, i] < near[1, top, i]:
            ids[top, m] = ids[top, i]
            near[0, top, m], near[1, top, m] = near[0, top, i], near[1, top, i]
            if near[0, top, m] < low:
                low, first = near[0, top, m], ids[top, m]
            high = max(high, near[1, top, m])
            m += 1
    return m, low, high, first


@kernel
def _contact(
    task: Task, bound: Bound, p: int, curve: Array, low: float, first: float, tolerance: float, now: int
) -> tuple[float, float, int]:
    """Return the bracket of the first contact of pair p, and the next value of ``now``.

    Pair p is free up to ``low``, and within its margin at ``first``. The bracket is a parameter up to which the pair is
    free, and a parameter at which it is within its margin. The method is Newton's method with a safeguard. Gap and
    speed give an estimate of the contact. A configuration slightly before the estimate is tested, and at the end a
    configuration slightly after it. If the bracket shrinks too slowly, it is halved. ``now`` is the stamp of the next
    configuration.
    """
    work, of_body = task.work, task.work.of_bodies
    guess, ahead, wide, tries, checked, share = inf, inf, first - low, plain(0), -1.0, 0.0
    while first - low > 0.7 * tolerance and tries < _MOST_TRIES:
        # every fourth step halves the bracket if the last four steps did not shrink it tenfold
        if tries % 4 == 3 and first - low > 0.1 * wide:
            guess = inf
        wide = first - low if tries % 4 == 3 else wide
        # at the beginning of a short piece, gap and speed give a good estimate of the contact
        c = low if first - low < _NEAR and checked < low else 0.5 * (low + first)
        if low <= guess < first:
            c = guess - max(min(0.1, 2.0 * ahead) * ahead, 0.3 * tolerance)
            if of_body:
                c = low + 0.9 * share / (1.0 + share) * (guess - low)
            c = min(guess + 0.3 * tolerance, first) if guess - low < 0.6 * tolerance else max(c, low)
        _place_links(task, curve, c)
        backward, forward, hit, ahead = cover(work, bound, now, p, c - low, first - c)
        now, tries, guess, checked = now + 1, tries + 1, c + ahead, max(checked, c if c == low else checked)
        share = min(forward / ahead, 1.0) if of_body else 0.0
        # the cover extends the proven part only if it reaches back to this part
        if hit:
            first = c
        elif backward >= c - low and forward < first - c:
            low = max(low, c + forward)
        else:
            break
    return low, first, now


@kernel
def _prove(
    task: Task, curve: Array, until: float, tolerance: float, looks: int, any_hit: bool
) -> tuple[int, float, float, int]:
    """Return the result for an edge up to parameter ``until``: status, safe, hit or NaN, and the pair, as in `Edges`.

    With ``any_hit`` the first configuration that collides ends the proof, and ``safe`` is 0.

    The first piece contains the intervals that `_sweep` left open. The middle of a piece is tested first, since its
    cover extends to both sides. Then the two ends of the edge are tested if intervals next to them are open. Pieces are
    halved, and the earlier half is proven first. After a collision, only the part of the edge before it is tested.
    """
    work, bounds, pieces = task.work, task.bounds, task.pieces
    ids, near, counts = pieces.ids, pieces.near, pieces.counts
    n = counts[0]
    work.frames.stamp[:] = -1
    now, top = plain(0), plain(0)
    first, who = 2.0, NOBODY  # the first parameter that is known to collide
    begun, ended = False, False  # whether the two ends of the edge were tested
    while True:
        n, low, high, open_ = _open_pairs(pieces, top, n)
        if n == 0:
            top -= 1
            if top < 0:
                # all intervals before the contact are proven, so the edge is safe up to the contact
                return (PROVEN, 1.0, float(nan), NOBODY) if first > 1.0 else (HIT, first, first, who)
            n = counts[top]
            continue
        if first - low <= tolerance:
            return HIT, low, first, who
        if top + 2 > LEVELS or now > looks:
            return OPEN, low, first if first <= 1.0 else float(nan), open_
        c = 0.5 * (low + high)
        if now > 0 and not begun and low == 0.0:
            c, begun = 0.0, True
        elif now > 0 and not ended and high == until:
            c, ended = until, True
        halves = low < c < high
        _place_links(task, curve, c)
        # In a slow approach the gap just before the contact is tiny, so smaller pieces are allowed there. Parameters
        # are rounded by u when they are halved and when a cover is added, so pieces of a few u cannot be covered.
        least = max(tolerance * FINER if first - low <= 1.5 * tolerance / FINER else tolerance, 8.0 * _U)
        touching, stuck, further = NOBODY, False, min(top + 1, LEVELS - 1)
        for i in range(n):
            p, left, right = ids[top, i], near[0, top, i], near[1, top, i]
            so_back, so_forth = max(c - left, 0.0), max(right - c, 0.0)
            backward, forward, hit, _ = cover(work, _bound_of(bounds, p), now, p, so_back, so_forth)
            # c - (c - left) may differ from left by rounding, so ``left`` is used if the cover reaches it
            till, on = (left if backward >= so_back else c - backward), (right if forward >= so_forth else c + forward)
            if hit and touching == NOBODY:
                touching = i
            # the right half replaces the piece, and the left half is pushed on the stack above it
            ids[further, i], near[0, further, i], near[1, further, i] = p, left, min(right, till)
            near[0, top, i] = max(left, on)
            stuck = stuck or ((left < till or on < right) and not hit and backward + forward < 0.5 * least)
        now += 1
        if touching == NOBODY:
            if stuck and halves and high - low <= least:
                return OPEN, low, first if first <= 1.0 else float(nan), open_
            counts[top] = n  # the right half, at the place of the piece
            top = further
            counts[top] = n
            continue
        first, who = c, ids[top, touching]
        if c == 0.0 or any_hit:
            return HIT, 0.0, c, who
        low = near[0, further, touching]
        if low < c:
            low, first, now = _contact(task, _bound_of(bounds, who), who, curve, low, first, tolerance, now)
            near[0, further, touching] = low
        for i in range(n):  # the stack is emptied, since nothing after the contact is tested
            ids[0, i], near[0, 0, i] = ids[further, i], near[0, further, i]
            near[1, 0, i] = min(near[1, further, i], first)
        top = plain(0)
        counts[top] = n


@kernel
def _hit_at_start(task: Task, curve: Array) -> int:
    """Return the number of an open pair with a body that collides at the start of a curve, or `NOBODY`.

    This test takes a fraction of the time of the bounds that `_prove` would compute at the start.
    """
    work, margins, pieces, q, placed = task.work, task.margins, task.pieces, task.q, False
    layout, frames, bodies = work.layout, work.frames, work.bodies
    frames.stamp[:] = -1
    for n in range(pieces.counts[0]):
        p = pieces.ids[0, n]
        if pieces.near[0, 0, n] > 0.0:
            continue
        if not placed:
            on_curve(curve, 0.0, q)
            link_poses(task.chain, q, frames.matrix, frames.links)
            placed = True
        near = balls_meet(layout, frames, plain(0), bodies.pairs[p, 0], bodies.pairs[p, 1], margins[p])
        if near and body_collides(layout, frames, bodies, p, margins[p], True) == 1:
            return int(p)
    return NOBODY


@kernel
def _hit_in_lanes(task: Task, lanes: Lanes) -> int:
    """Return the number of an open convex pair that collides, or `NOBODY`.

    Each pair is tested in one lane, in the middle of the interval of parts in which the pair is near. The test
    takes a fraction of the time of the distances that `_prove` would compute. Most edges with many open pairs collide,
    and edges with few open pairs do not gain from the test.
    """
    work, scratch, pieces = task.work, task.scratch, task.pieces
    layout, simplex, now = work.layout, work.solver.workspace.simplex, next_stamp(scratch)
    for n in range(pieces.counts[0]):
        p = pieces.ids[0, n]
        a, b, margin = layout.pairs[p, 0], layout.pairs[p, 1], task.margins[p]
        near = near_lanes(lanes, a, b, margin, plain(LANES))
        if near == 0:
            continue
        first, last = _open_parts(near)
        part = (first + last) // 2
        k = part // 2 + (_FEW if part % 2 == 1 else 0)  # see `_part`
        frames = place_lane(layout, lanes, scratch, task.poses[0], k, a, b, now)
        if pair_collides(layout, frames, now, p, margin, work.axes, simplex) == 1:
            return int(p)
    return NOBODY


@kernel
def prove_curve(
    task: Task, curve: Array, loose: Array, tolerance: float, until: float, looks: int, any_hit: bool
) -> tuple[int, float, float, int]:
    """Return the result of one curve for the pairs of a task: status, safe, hit or NaN, and the pair, as in `Edges`.

    The pair is its index in the task. ``loose`` (dof,) is the error of the curve. The curve is tested up to the
    parameter ``until``, at no more than about ``looks`` configurations. With ``any_hit`` any collision ends the search,
    for a query that needs no bracket of the first contact.
    """
    chain, scratch, q = task.chain, task.scratch, task.q
    lanes = lanes_in(scratch, q.shape[0], chain.parent.shape[0])
    slack = task.slack * _all_joints(chain, curve, loose, task.joints)
    _fill(chain, lanes, curve, task.poses, q)
    _sweep(task, lanes, slack, until)
    who = NOBODY
    if any_hit and not task.work.of_bodies and task.pieces.counts[0] >= _MANY:
        who = _hit_in_lanes(task, lanes)
    _forget(task.work, task.pieces)
    if task.work.of_bodies:
        who = _hit_at_start(task, curve)
    if who != NOBODY:
        return HIT, 0.0, 0.0, who
    return _prove(task, curve, until, tolerance, looks, any_hit)


@entry
def certified_many(
    task: Task, curves: Array3, loose: Array2, tolerance: float, until: Array1, looks: int, start: int, stop: int,
    edges: Edges,
) -> None:  # fmt: skip
    """Write status, safe, hit or NaN, and pair of the edges ``start`` to ``stop`` - 1 to ``edges``, see `prove_curve`.

    Edges are curves, see `trajectories`. Edge e has the error ``loose[e]``, and is tested up to the parameter
    ``until[e]``.
    """
    status, safe, hit, which = edges
    for e in range(start, stop):
        status[e], safe[e], hit[e], which[e] = prove_curve(task, curves[e], loose[e], tolerance, until[e], looks, False)


def certified(cell: Cell, curves: Curves, tolerance: float, workers: int, deadline: float = inf) -> Edges:
    """Return for each curve whether it is proven free, and else a bracket of the first contact, or no result (OPEN).

    The result of a curve does not depend on the other curves. After ``deadline``, a time of `time.perf_counter`, proofs
    of pairs without a kernel end with the status OPEN.
    """
    count, far = len(curves.controls), how_far(cell.robot, curves.controls)
    if not count or (far == far[0]).all():
        edges = _certified(cell, curves, motion_bounds(cell, curves.controls), tolerance, workers, deadline)
        return _hits_at_ends(cell, curves.controls, edges)
    # motions with different extents have different bounds, so each extent has a separate call
    edges = _new_edges(count)
    groups, group = np.unique(far, axis=0, return_inverse=True)
    for k, (free, outside) in enumerate(groups.tolist()):
        which = np.flatnonzero(group.ravel() == k)
        bounds = bounds_within(cell, (free, outside))
        some = _certified(cell, curves.some(which), bounds, tolerance, workers, deadline)
        for every, part in zip(edges, some, strict=True):
            every[which] = part
    return _hits_at_ends(cell, curves.controls, edges)


def _hits_at_ends(cell: Cell, controls: Array, edges: Edges) -> Edges:
    """Return ``edges``, after unresolved edges with an end that is not free get the status HIT at this end.

    Two shapes that just touch at an end are proven neither apart nor within their margin, but `Checker.free` is False.
    A proof can stop long before such an end, for example if a link approaches a table with a flat face.
    """
    status, safe, hit, pair = edges
    for e in np.flatnonzero(status == OPEN).tolist():
        for end in (0.0, 1.0) if safe[e] == 0.0 else (1.0,):
            near = results.near(cell, points_on(controls[e], np.array([end])), cell.margins)
            if numbers := [p for _, pairs, _ in near for p in pairs.tolist()]:
                status[e], hit[e], pair[e] = HIT, end, min(numbers)
                break
    return edges


def _certified(
    cell: Cell, curves: Curves, bounds: MotionBounds, tolerance: float, workers: int, deadline: float
) -> Edges:
    """Return the results of curves with the motion bounds ``bounds``, like `certified`, but do not test the ends."""
    count = len(curves.controls)
    edges = _new_edges(count)
    if not count:
        return edges
    _walk(cell, False, bounds, curves, np.ones(count), tolerance, workers, edges)
    if len(cell.slots) == len(cell.layout.pairs):
        return edges
    first = len(cell.layout.pairs)
    if cell.measured > first:
        more = edges[0].copy(), edges[1].copy(), edges[2].copy(), edges[3].copy()
        _walk(cell, True, bounds, curves, _until(edges), tolerance, workers, more)
        for e in np.flatnonzero(more[0] != PROVEN).tolist():
            _add(edges, e, more[0][e], more[1][e], more[2][e], first + more[3][e], tolerance)
    # the depth of a body in overlap may jump, so the kernels prove nothing for a negative margin
    negative = first + np.flatnonzero(cell.margins[first : cell.measured] < 0.0)
    numbers = np.concatenate([np.arange(cell.measured, len(cell.slots)), negative]).astype(np.int64)
    for e in range(count if len(numbers) else 0):
        until = float(_until(edges)[e])
        result = certified_general(cell, curves, e, until, tolerance, bounds, numbers, deadline)
        if result[0] != PROVEN:
            _add(edges, e, *result, tolerance)
    return edges


class _Single(NamedTuple):
    """Memory for the proof of one line."""

    curve: Array3  #: (1, 2, dof)
    loose: Array1  #: (dof,), zeros
    far: Array2  #: (1, 2), the extents (`how_far`) for which the motion bounds hold
    present: Array2  #: (1, 2), the extents of the present line
    result: Array1  #: (4,): status, safe, hit or NaN, pair


@entry
def certified_line(
    task: Task, q0: Array1, q1: Array1, lower: Array1, upper: Array1, tolerance: float, looks: int, single: _Single
) -> bool:
    """Write the result of the line from q0 to q1 to ``single.result``, and return True.

    Return False without a result if the line is not finite, or if its extents (`how_far`) differ from ``single.far``.
    """
    curve, present, result = single.curve, single.present, single.result
    for j in range(q0.shape[0]):
        curve[0, 0, j], curve[0, 1, j] = q0[j], q1[j]
    present[0, 0], present[0, 1] = 0.0, 0.0
    extents(task.chain.kind, task.chain.source, curve, lower, upper, present)
    same = present[0, 0] == single.far[0, 0] and present[0, 1] == single.far[0, 1]
    if not (same and is_finite(q0) and is_finite(q1)):
        return False
    result[0], result[1], result[2], result[3] = prove_curve(task, curve[0], single.loose, tolerance, 1.0, looks, False)
    return True


def certified_of_one(cell: Cell, q0: Any, q1: Any, tolerance: float) -> tuple[int, float, float, int] | None:
    """Return the fields of `Edges` (status, safe, hit, pair) for one line, or None if `certified` must be called.

    This function has less overhead than `certified`.
    """
    first, second = queries.plain_row(q0), queries.plain_row(q1)
    if first is None or second is None or not len(first) == len(second) == cell.robot.dof:
        return None
    if len(cell.slots) > len(cell.layout.pairs) or not cell.memory.lock.acquire(blocking=False):
        return None
    robot = cell.robot
    try:
        args, cached = (first, second, robot.lower, robot.upper, tolerance, MOST_LOOKS), cell.cache.line
        if cached is None or not certified_line(cached[0], *args, cached[1]):
            if not (np.isfinite(first).all() and np.isfinite(second).all()):
                return None
            cell.cache.line = cached = _prepared(cell, first, second)
            certified_line(cached[0], *args, cached[1])
        status, safe, hit, pair = cached[1].result.tolist()
    finally:
        cell.memory.lock.release()
    if status == OPEN:
        edges: Edges = np.array([OPEN]), np.array([safe]), np.array([hit]), np.array([int(pair)])
        status, safe, hit, pair = (each.item() for each in _hits_at_ends(cell, np.array([[first, second]]), edges))
    return int(status), safe, hit, int(pair)


def _prepared(cell: Cell, first: Array, second: Array) -> tuple[Task, _Single]:
    """Return the task and the memory for the line from ``first`` to ``second``.

    They are also valid for other lines with the same extents (`how_far`).
    """
    curve = np.array([[first, second]])
    far = how_far(cell.robot, curve)
    task = task_for(cell, False, motion_bounds(cell, curve), cell.memory)
    return task, _Single(curve, np.zeros(len(first)), far, np.empty((1, 2)), np.empty(4))


def _walk(
    cell: Cell, of_bodies: bool, bounds: MotionBounds, curves: Curves, until: Array, tolerance: float, workers: int,
    edges: Edges,
) -> None:  # fmt: skip
    """Write the results of all curves to ``edges``, for the pairs with bodies if ``of_bodies``, else for convex pairs.

    Curve e is tested up to the parameter ``until[e]``.
    """
    looks = MOST_BODY_LOOKS if of_bodies else MOST_LOOKS

    def run(start: int, stop: int) -> None:
        task = task_for(cell, of_bodies, bounds, lent or cell.memory.fresh())
        certified_many(task, curves.controls, curves.loose, tolerance, until, looks, start, stop, edges)

    with cell.memory.lent(workers) as lent:
        in_chunks(len(curves.controls), workers, run)


def _until(edges: Edges) -> Array:
    """Return for each edge the parameter up to which further pairs are tested, (n,).

    It is 1 for a proven edge, the hit for an edge with a hit, and ``safe`` for other edges.
    """
    status, safe, hit, _ = edges
    until: Array = np.where(status == PROVEN, 1.0, np.where(np.isnan(hit), safe, hit))
    return until


def _add(edges: Edges, e: int, state: int, start: float, end: float, pair: int, tolerance: float) -> None:
    """Merge into edge e of ``edges`` a result for further pairs, which were tested up to `_until`.

    ``state``, ``start``, ``end`` and ``pair`` are the status, safe, hit or NaN, and the pair of this result.
    """
    status, safe, hit, which = edges
    if not np.isnan(end):
        hit[e] = end
    safe[e] = min(safe[e], start)
    near = hit[e] - safe[e] <= tolerance
    if not (near and state == OPEN):  # else the hit of an earlier pair is within the tolerance, and its pair is kept
        which[e] = pair
    status[e] = HIT if near else OPEN


def certified_general(
    cell: Cell,
    curves: Curves,
    e: int,
    until: float,
    tolerance: float,
    bounds: MotionBounds,
    numbers: Ints,
    deadline: float,
) -> tuple[int, float, float, int]:
    """Return the result of edge e for the pairs in ``numbers`` up to the parameter ``until``.

    The result consists of the status, the parameter up to which the edge is free, a parameter at which a pair is within
    its margin or NaN, and the pair.
    """
    joints, curve = np.zeros((6, len(cell.robot.links))), curves.controls[e]
    curve_speeds(cell.robot._chain, curve, curves.loose[e], joints)
    margins = cell.margins[numbers]
    motion, wrong = (general_motion(bounds.arms, turn, slide)[numbers] for turn, slide in (joints[:2], joints[2:4]))
    motion = np.maximum(motion * _MORE, 1e-300)
    # the cover (gap - floor) / motion has a rounding error of a few u of the motion and of the margin
    floor = np.maximum(margins, 0.0) + bounds.slack + wrong + 8.0 * _U * (motion + np.abs(margins))
    safe = np.zeros(len(motion))  # parameter up to which each pair is proven free
    first, who, step = 2.0, NOBODY, min(0.25, until)
    looks = 0
    while True:
        low = float(safe.min(initial=until))
        if low >= until:
            return PROVEN, until, nan, NOBODY
        if first - low <= tolerance:
            return HIT, low, first, who
        looks += 1
        if looks > MOST_GENERAL_LOOKS or time.perf_counter() > deadline:
            break
        end = min(low + step, until, first)
        t = np.linspace(low, end, _AHEAD + 1)
        lower, upper = general_pairs.bounds(cell, points_on(curve, t), motion * step + floor, numbers)
        touching = np.argwhere(upper <= margins)
        if len(touching):
            first, who = float(t[touching[0, 0]]), int(numbers[touching[0, 1]])
        with np.errstate(over="ignore"):  # a pair that does not move has a motion of 1e-300
            reach = np.maximum(lower - floor, 0.0) / motion
        for c, far in zip(t, reach, strict=True):
            covers = (c - far <= safe) & (far > 0.0)
            safe = np.where(covers, np.maximum(safe, c + far), safe)
        gained = float(safe.min()) - low
        least = max(tolerance * (FINER if first - low <= 1.5 * tolerance / FINER else 1.0), 8.0 * _U)
        if gained >= end - low:
            step = min(2.0 * max(step, gained), 0.5)
        elif step > least:
            step = max(step / 4.0, least)
        elif gained < 0.5 * least:
            c = min(low + tolerance / FINER, until)
            if first <= 1.0 or low >= until or c <= low:
                break
            # smaller steps prove nothing more, so a contact just ahead is looked for
            _, upper = general_pairs.bounds(cell, points_on(curve, np.array([c])), floor, numbers)
            touching = np.argwhere(upper <= margins)
            if not len(touching):
                break
            first, who = c, int(numbers[touching[0, 1]])
    return OPEN, low, first if first <= 1.0 else nan, int(numbers[np.argmin(safe)])


def general_motion(arms: Arms, turn: Array, slide: Array) -> Array:
    """Return the linear bound of the relative motion of each pair, (pairs,).

    ``turn`` and ``slide`` (links,) contain the angle and the translation of each joint.
    """
    steps, counts = arms.steps, np.diff(arms.begins)
    terms = slide[steps] + turn[steps] * arms.arms.min(axis=0)
    owner = np.repeat(np.arange(len(counts)), counts)
    total: Array = np.bincount(owner, weights=terms, minlength=len(counts)).astype(np.float64)
    return total
