"""Kernels that test the pairs of a cell, one configuration after another: kinematics, simple shapes, hulls, bodies.

A slot is a shape that is fixed to a link or to the world. A row of `solve` has the 12 numbers of a distance query:
distance, lower and upper bound, normal, and the points on both shapes.

A pair is a row of two slots and of the first and last of its sub-pairs. If there are sub-pairs, the two slots are hulls
around several convex pieces. The pieces are tested only if the hulls do not decide. `pair_collides` decides whether a
pair collides, `nearest_in_pair` computes the distance of a pair. The entries differ in the pairs that they test and in
their limits.

A half-space is always the second slot of a pair. Its ball is infinite, and it has no capsule.

Pairs with a body (mesh, cloud, height field and others) come after all convex pairs, since they cost more. They have
separate rows and a separate order in `Bodies`, and `body_collides` tests them.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import OPEN, PRISMS
from gjk3d.bodies.tree_collision import (
    APART,
    DOUBT,
    HELD,
    MEET,
    PosedPair,
    TreeScratch,
    held,
    meet,
    surfaces_meet,
    two_at,
)
from gjk3d.bodies.tree_distance import NearestParts, into_world, report_gap, share_of
from gjk3d.bodies.tree_distance import nearest as nearest_parts
from gjk3d.engine import store as engine
from gjk3d.engine.store import Store, tree_at
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import cores_of
from gjk3d.narrow.solve import above_plane, mirror, quick_collide, solve, solve_plane
from gjk3d.narrow.workspace import Solver
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.robot.bodies import NO_CAPSULE, between_boxes, between_capsules
from gjk3d.robot.kinematics import Chain, gradient_at, link_poses
from gjk3d.shapes import layout as shape_layout
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Array3, Array4, Ints, Ints1, Ints2

FREE, UNSURE, REFUSED = -1, -2, -3
FAR = -2  #: result for a pair that is proven farther apart than the limit
#: bound of the residual R^T R - 1 of a product of a few dozen rotations, each rounded
_RESIDUAL = 256.0 * UNIT_ROUNDOFF
#: with at most this many sub-pairs that may be near, the test of the hulls around them costs more than it saves
_FEW = 2
_MORE = 1.0 + 1e-6  #: relative to a limit: a bound has to exceed it
_ALWAYS = 1 << 62  #: stamp of static slots, which are placed once
_CENTER, _RHO, _RADIUS = shape_layout.CENTER, shape_layout.RHO, shape_layout.RADIUS


class Layout(NamedTuple):
    """The slots of a cell, which are shapes fixed to a link or to the world, and the checked pairs of slots."""

    link: Ints1  #: link of each slot, -1 for the world
    local: Array2  #: (slots, 13), the pose of a slot in its link, and the residual of its rotation
    ints: Ints1
    floats: Array1
    starts: Ints2  #: (slots, 4), first index of the shape of each slot in ints and floats, of its capsule and box
    pairs: Ints2  #: (pairs, 4): two slots, and the range of the sub-pairs
    subs: Ints2  #: (sub-pairs, 2): two slots


class Frames(NamedTuple):
    """Poses of links and slots at a configuration."""

    matrix: Array2  #: scratch of `link_poses`
    links: Array3  #: (links, 4, 4)
    rows: Array2  #: (slots, 13)
    balls: Array2  #: (slots, 4): centre and radius
    stamp: Ints1  #: (slots,), the number of the configuration that a slot was last placed for


class Bodies(NamedTuple):
    """The pairs of a cell that have a body; the number of a pair is its row plus the number of convex pairs."""

    store: Store  #: the slots that are in such pairs
    pairs: Ints2  #: (pairs, 3): the slot of a body, the other slot, and 1 if the body is the second of the pair
    order: Ints1  #: of the rows, likely hits first
    scratch: TreeScratch


class Task(NamedTuple):
    """A cell, and the scratch memory of the kernels that test its pairs."""

    chain: Chain
    layout: Layout
    frames: Frames
    solver: Solver
    axes: Array2  #: the last axis of each pair, then of each sub-pair, as a warm start of GJK; without rows: no cache
    gaps: Array1  #: (pairs + sub-pairs,)


@inlined
def core_of(layout: Layout, k: int) -> Core:
    """Return the shape of slot k."""
    return Core(layout.ints[layout.starts[k, 0] :], layout.floats[layout.starts[k, 1] :])


@inlined
def place(layout: Layout, frames: Frames, k: int, now: int) -> None:
    """Write the pose of slot k and its ball, unless the slot was already placed for the configuration ``now``."""
    if frames.stamp[k] < now:
        _place(layout, frames, k, now)


@kernel
def _place(layout: Layout, frames: Frames, k: int, now: int) -> None:
    local, rows, balls, f, o = layout.local, frames.rows, frames.balls, layout.floats, layout.starts[k, 1]
    if layout.link[k] >= 0:
        frames.stamp[k] = now
        m = frames.links[layout.link[k]]
        for i in range(3):
            a, b, c = m[i, 0], m[i, 1], m[i, 2]
            for j in range(3):
                rows[k, 3 * i + j] = a * local[k, j] + b * local[k, 3 + j] + c * local[k, 6 + j]
            rows[k, 9 + i] = a * local[k, 9] + b * local[k, 10] + c * local[k, 11] + m[i, 3]
    else:
        frames.stamp[k] = _ALWAYS
        for i in range(12):
            rows[k, i] = local[k, i]
    # the residuals of two rotations add up in their product, to first order
    rows[k, 12] = _RESIDUAL + local[k, 12]
    x, y, z = f[o + _CENTER], f[o + _CENTER + 1], f[o + _CENTER + 2]
    for i in range(3):
        balls[k, i] = rows[k, 3 * i] * x + rows[k, 3 * i + 1] * y + rows[k, 3 * i + 2] * z + rows[k, 9 + i]
    balls[k, 3] = f[o + _RHO] + f[o + _RADIUS] if layout.starts[k, 2] != NO_CAPSULE else inf


@inlined
def between_balls(balls: Array, a: int, b: int) -> float:
    """Return a lower bound of the distance of two balls, with the rounding error subtracted."""
    x, y, z = balls[a, 0] - balls[b, 0], balls[a, 1] - balls[b, 1], balls[a, 2] - balls[b, 2]
    d = sqrt(x * x + y * y + z * z)
    # 1e-9 is far more than the rounding of the centres and radii, and costs no pair in practice
    return float(d * (1.0 - 1e-9) - (balls[a, 3] + balls[b, 3]) * (1.0 + 1e-9))


# whether pairs collide ------------------------------------------------------------------------------------------------


@inlined
def slots_collide(
    layout: Layout, frames: Frames, a: int, b: int, margin: float, axes: Array, row: int, simplex: Array
) -> int:
    """Return 1 if two placed slots are closer than a margin, 0 if not, as `quick_collide` does; 2 if undecided."""
    ints, floats, starts, rows = layout.ints, layout.floats, layout.starts, frames.rows
    if starts[b, 2] == NO_CAPSULE:
        # a half-space: one support point decides, so GJK is not needed, and the error term makes the answer safe
        distance, error, _, _ = above_plane(cores_of(ints, floats, starts, rows, b, a), rows[b])
        return 0 if distance - error > margin else 1
    return quick_collide(cores_of(ints, floats, starts, rows, a, b), margin, simplex, axes, row)


@inlined
def solve_slots(
    layout: Layout, frames: Frames, a: int, b: int, mode: int, most: float, tol: float, solver: Solver, axes: Array
) -> None:
    """Write the signed distance, normal and witness points of two placed slots to ``solver.one``, as `solve` does."""
    ints, floats, starts, rows = layout.ints, layout.floats, layout.starts, frames.rows
    plane_last = starts[b, 2] == NO_CAPSULE
    if plane_last:
        c = cores_of(ints, floats, starts, rows, b, a)
        solve_plane(c, rows[b], plane_last, mode, most, solver.one, solver.marks, plain(0))
    else:
        c = cores_of(ints, floats, starts, rows, a, b)
        solve(c, mode, most, tol, solver.workspace, axes, solver.one, solver.marks, plain(0))


@inlined
def balls_meet(layout: Layout, frames: Frames, now: int, a: int, b: int, margin: float) -> bool:
    """Place slots a and b, and return whether their bounding balls are within a margin."""
    place(layout, frames, a, now)
    place(layout, frames, b, now)
    return not between_balls(frames.balls, a, b) > margin


@inlined
def pair_collides(layout: Layout, frames: Frames, now: int, p: int, margin: float, axes: Array, simplex: Array) -> int:
    """Return 1 if pair p is closer than a margin, 0 if not, 2 if undecided. The two slots are placed.

    The bodies inside two hulls are tested only if the hulls are, or may be, within the margin.
    """
    first, last = layout.pairs[p, 2], layout.pairs[p, 3]
    floats, starts, rows = layout.floats, layout.starts, frames.rows
    for r in range(first - 1, last):
        a, b, row = layout.pairs[p, 0], layout.pairs[p, 1], p
        if r >= first:
            a, b, row = layout.subs[r, 0], layout.subs[r, 1], layout.pairs.shape[0] + r
            place(layout, frames, a, now)
            place(layout, frames, b, now)
        verdict = 0
        # cheapest test first: capsules reject most pairs of long links, boxes those of flat ones side by side
        far = (
            between_capsules(rows, floats, starts, a, b) > margin or between_boxes(rows, floats, starts, a, b) > margin
        )
        if not far:
            verdict = slots_collide(layout, frames, a, b, margin, axes, row, simplex)
        # apart hulls separate all bodies in them; hulls that touch decide nothing unless they are the shapes themselves
        if r < first and (verdict == 0 or last == first):
            return verdict
        if r >= first and verdict != 0:
            return verdict
    return 0


@inlined
def hit_at(
    chain: Chain, layout: Layout, frames: Frames, now: int, q: Array, order: Ints, margins: Array, axes: Array,
    simplex: Array,
) -> int:  # fmt: skip
    """Return the number of a pair closer than its margin at q, or `FREE`, or `UNSURE` if GJK cannot decide.

    A pair that collides moves to half of its place in ``order``, so that frequent hits are tested first.
    """
    link_poses(chain, q, frames.matrix, frames.links)
    for n in range(order.shape[0]):
        p = order[n]
        if not balls_meet(layout, frames, now, layout.pairs[p, 0], layout.pairs[p, 1], margins[p]):
            continue
        verdict = pair_collides(layout, frames, now, p, margins[p], axes, simplex)
        if verdict == 0:
            continue
        if verdict == 1:
            move_ahead(order, n)
        return p if verdict == 1 else UNSURE
    return FREE


@inlined
def move_ahead(order: Ints, n: int) -> None:
    """Exchange pair n of ``order``, which collides, with pair n / 2, so that frequent hits are tested first.

    One rare hit does not displace the pairs that collide often.
    """
    order[n], order[n // 2] = order[n // 2], order[n]


@inlined
def is_finite(q: Array) -> bool:
    """Return whether no number is NaN or infinite."""
    finite = True
    for c in range(q.shape[0]):
        finite = finite and q[c] - q[c] == 0.0
    return finite


@entry
def hit_of_one(
    q: Array1, chain: Chain, layout: Layout, order: Ints1, margins: Array1, axes: Array2, frames: Frames,
    simplex: Array2, answer: Ints1,
) -> None:  # fmt: skip
    """Write the result of `hit_at`, or `REFUSED` for a configuration that is not finite; ``answer`` is (1,).

    ``axes`` has a row for each pair, then for each sub-pair.
    """
    frames.stamp[:] = -1
    if is_finite(q):
        answer[0] = hit_at(chain, layout, frames, plain(0), q, order, margins, axes, simplex)
    else:
        answer[0] = REFUSED


@kernel
def posed(layout: Layout, frames: Frames, bodies: Bodies, n: int) -> PosedPair:
    """Return the trees and relative pose of row n of ``bodies``, whose slots are placed. The body comes first."""
    host, guest, rows = bodies.pairs[n, 0], bodies.pairs[n, 1], frames.rows
    pair = two_at(tree_at(bodies.store, host), tree_at(bodies.store, guest), rows[host], rows[guest])
    # The frame of a link is a product of rotations, so the residual that checked poses satisfy does not hold for it. A
    # single convex guest is placed by its matrix as it is, and needs no such term.
    residual = rows[host, 12] if layout.link[host] >= 0 else 0.0
    if layout.link[guest] >= 0 and pair.b.links.shape[0] > 1:
        residual += rows[guest, 12]
    if residual == 0.0:
        return pair
    far = max(abs(pair.m[9]), max(abs(pair.m[10]), abs(pair.m[11])))
    return PosedPair(pair.a, pair.b, pair.m, pair.error + 4.0 * residual * (pair.a.reach + pair.b.reach + far))


@kernel
def free_of_body(frames: Frames, bodies: Bodies, n: int, margin: float, most: float) -> float:
    """Return a lower bound of the gap between the body of row n and the ball of the other slot, grown by ``margin``.

    The result is at most ``most``. It is 0 or negative if they may touch.
    """
    host, ball = bodies.pairs[n, 0], frames.balls[bodies.pairs[n, 1]]
    tree, at = tree_at(bodies.store, host), (ball[0], ball[1], ball[2])
    return float(engine.free_around(tree, frames.rows[host], at, ball[3] + margin, most, bodies.scratch))


@kernel
def body_collides(layout: Layout, frames: Frames, bodies: Bodies, n: int, margin: float, by_ball: bool) -> int:
    """Return 1 if the slots of row n of ``bodies`` are closer than a margin, 0 if not, 2 if undecided.

    With ``by_ball`` the ball of the second slot is tested first.
    """
    if by_ball and free_of_body(frames, bodies, n, max(margin, 0.0), 0.0) > 0.0:
        return 0
    return engine.pair_collides(posed(layout, frames, bodies, n), margin, bodies.scratch)


@entry
def hit_of_cell(
    q: Array1, chain: Chain, layout: Layout, order: Ints1, margins: Array1, axes: Array2, frames: Frames,
    simplex: Array2, bodies: Bodies, answer: Ints1,
) -> None:  # fmt: skip
    """Write the result of `hit_of_one` for a cell with bodies."""
    frames.stamp[:] = -1
    if not is_finite(q):
        answer[0] = REFUSED
        return
    answer[0] = hit_at(chain, layout, frames, plain(0), q, order, margins, axes, simplex)
    if answer[0] != FREE:
        return
    for k in range(bodies.order.shape[0]):
        n = bodies.order[k]
        p = layout.pairs.shape[0] + n
        if not balls_meet(layout, frames, plain(0), bodies.pairs[n, 0], bodies.pairs[n, 1], margins[p]):
            continue
        verdict = body_collides(layout, frames, bodies, n, margins[p], True)
        if verdict == 0:
            continue
        if verdict == 1:
            move_ahead(bodies.order, k)
        answer[0] = p if verdict == 1 else UNSURE
        return


@entry
def collide_many(task: Task, q: Array2, selected: Ints1, margins: Array1, answer: Ints2) -> None:
    """Write the result of `pair_collides` for each configuration and each selected pair."""
    layout, frames, simplex = task.layout, task.frames, task.solver.workspace.simplex
    frames.stamp[:] = -1
    for k in range(q.shape[0]):
        link_poses(task.chain, q[k], frames.matrix, frames.links)
        for n in range(selected.shape[0]):
            p = selected[n]
            answer[k, n] = 0
            if balls_meet(layout, frames, k, layout.pairs[p, 0], layout.pairs[p, 1], margins[p]):
                answer[k, n] = pair_collides(layout, frames, k, p, margins[p], task.axes, simplex)


# distances ------------------------------------------------------------------------------------------------------------


@kernel
def nearest(gaps: Array, first: int, last: int, most: float) -> int:
    """Return the index of the least gap from ``first`` to ``last``, or -1 if this gap is greater than ``most``."""
    index, least = -1, most
    for n in range(first, last):
        if gaps[n] <= least:
            index, least = n, gaps[n]
    return index


@inlined
def nearest_in_pair(
    layout: Layout, frames: Frames, solver: Solver, now: int, p: int, best: float, has_best: bool, axes: Array,
    gaps: Array, out: Array,
) -> tuple[float, float, int]:  # fmt: skip
    """Write the signed distance of pair p as a row of `solve` to ``out``, if it is less than the best so far.

    Returns the new best distance, the least lower bound, and the sub-pair of the new best: -1 for the pair itself,
    `FAR` if the best is unchanged. Without ``has_best``, ``best`` is only a limit, and a distance equal to the limit
    counts. Sub-pairs are solved in the order of the lower bounds of their capsules. ``gaps`` has entries for pairs,
    then for sub-pairs.
    """
    floats, starts, rows = layout.floats, layout.starts, frames.rows
    first, last, count = layout.pairs[p, 2], layout.pairs[p, 3], layout.pairs.shape[0]
    few = 0
    for r in range(first, last):
        a, b = layout.subs[r, 0], layout.subs[r, 1]
        place(layout, frames, a, now)
        place(layout, frames, b, now)
        gaps[count + r] = between_capsules(rows, floats, starts, a, b)
        few += 1 if gaps[count + r] <= best else 0
    solved, lower, sub = solver.one, 1e308, FAR
    r = first - 1  # the pair itself: its shapes, or the hulls around its bodies
    if last > first and few <= _FEW:
        r = nearest(gaps, count + first, count + last, best) - count
    while r >= first - 1:
        a, b, row, mode = layout.pairs[p, 0], layout.pairs[p, 1], p, narrow.SIGNED
        if r >= first:
            a, b, row = layout.subs[r, 0], layout.subs[r, 1], count + r
            gaps[row] = 1e308
        elif last > first:
            mode = narrow.UNSIGNED  # the depth of two hulls bounds nothing: only their gap is of use
        solve_slots(layout, frames, a, b, mode, max(best, 0.0), 0.0, solver, axes[row : row + 1])
        if mode == narrow.UNSIGNED:
            if solved[0, 1] > max(best, 0.0):
                break  # the hulls are farther apart than the best, and so are all bodies in them
        else:
            lower = min(lower, solved[0, 1])
            if solved[0, 0] < best or (not has_best and solved[0, 1] <= best):
                best, has_best, sub = solved[0, 0], True, r if last > first else -1
                for i in range(12):
                    out[i] = solved[0, i]
        if last == first:
            break
        r = nearest(gaps, count + first, count + last, best) - count
    return best, lower, sub


@entry
def clearance_many(task: Task, q: Array2, most: float, start: int, stop: int, out: Array2, which: Ints2) -> None:
    """Write each configuration's least signed distance as a row of `solve`, and its pair, or -1 beyond ``most``.

    ``which`` is (n, 2): the pair, and the sub-pair or -1. The pair is `REFUSED` if q is not finite. Pairs are solved in
    the order of their lower bounds, until the next bound is greater than the least distance (branch and bound). The
    capsules of pairs whose balls are far apart are not computed.
    """
    chain, layout, frames, solver, axes, gaps = task
    pairs, balls, rows, floats, starts = layout.pairs, frames.balls, frames.rows, layout.floats, layout.starts
    frames.stamp[:] = -1
    for k in range(start, stop):
        which[k, 0] = which[k, 1] = -1
        for c in range(q.shape[1]):
            if q[k, c] - q[k, c] != 0.0:
                which[k, 0] = REFUSED
        if which[k, 0] == REFUSED:
            continue
        link_poses(chain, q[k], frames.matrix, frames.links)
        best, lower = most, 1e308
        near = most  # an estimate of the least distance; it only decides which bounds are refined at once
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            place(layout, frames, a, k)
            place(layout, frames, b, k)
            gaps[p] = between_balls(balls, a, b)
            if balls[b, 3] < inf:
                near = min(near, gaps[p] + balls[a, 3] + balls[b, 3])
        for p in range(pairs.shape[0]):
            if gaps[p] <= near:
                gaps[p] = between_capsules(rows, floats, starts, pairs[p, 0], pairs[p, 1])
        while True:
            p = nearest(gaps, plain(0), pairs.shape[0], best)
            if p < 0:
                break
            gap = between_capsules(rows, floats, starts, pairs[p, 0], pairs[p, 1])
            if gap > gaps[p]:
                gaps[p] = gap  # so far this was the bound of the balls: sort the pair in again
                continue
            gaps[p] = 1e308
            best, below, sub = nearest_in_pair(
                layout, frames, solver, k, p, best, which[k, 0] >= 0, axes, gaps, out[k]
            )  # fmt: skip
            lower = min(lower, below)
            if sub != FAR:
                which[k, 0], which[k, 1] = p, sub
        if which[k, 0] >= 0:
            # a pair that lost by its upper bound may still have the smaller lower bound
            out[k, 1] = min(out[k, 1], lower)


@entry
def every_many(task: Task, q: Array2, most: Array1, out: Array3, which: Ints2) -> int:
    """Write the signed distance of every pair as a row of `solve`, and its sub-pair, or -1 for the pair itself.

    ``out`` and ``which`` have an entry for each configuration and pair. If a pair is proven farther apart than its
    ``most``, `FAR` is written, and the row is undefined. Returns the number of entries that are not `FAR`.
    """
    chain, layout, frames, solver, axes, gaps = task
    pairs, balls, rows, floats, starts = layout.pairs, frames.balls, frames.rows, layout.floats, layout.starts
    near = plain(0)
    frames.stamp[:] = -1
    for k in range(q.shape[0]):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            place(layout, frames, a, k)
            place(layout, frames, b, k)
            which[k, p] = FAR
            if between_balls(balls, a, b) > most[p] or between_capsules(rows, floats, starts, a, b) > most[p]:
                continue
            _, lower, sub = nearest_in_pair(
                layout, frames, solver, k, p, most[p], which[k, p] != FAR, axes, gaps, out[k, p]
            )
            # of several sub-pairs the row is the nearest, but the bound must hold for all of them
            out[k, p, 1], which[k, p] = lower, sub
            if sub != FAR and not lower > most[p]:
                near += 1
    return near


class Near(NamedTuple):
    """The near pairs of one configuration, a row for each; see `gjk3d.robot.results.RobotDistances`."""

    distance: Array1  #: (rows,)
    lower: Array1
    upper: Array1
    normal: Array2  #: (rows, 3)
    point_a: Array2
    point_b: Array2
    gradient: Array2  #: (rows, dof)
    #: (rows, 2, 3, dof), the Jacobians of the points, or scratch (1, 2, 3, dof)
    moved: Array4


@entry
def near_of_one(task: Task, q: Array1, most: float, out: Array2, pair: Ints1) -> int:
    """Write a row of `solve` and the number of each pair that is not proven farther apart than ``most``.

    There is memory for all pairs. Returns the number of rows, or `REFUSED` if q is not finite.
    """
    chain, layout, frames, solver, axes, gaps = task
    balls, rows, floats, starts = frames.balls, frames.rows, layout.floats, layout.starts
    if not is_finite(q):
        return REFUSED
    near = plain(0)
    frames.stamp[:] = -1
    link_poses(chain, q, frames.matrix, frames.links)
    for p in range(layout.pairs.shape[0]):
        a, b = layout.pairs[p, 0], layout.pairs[p, 1]
        place(layout, frames, a, plain(0))
        place(layout, frames, b, plain(0))
        if between_balls(balls, a, b) > most or between_capsules(rows, floats, starts, a, b) > most:
            continue
        row = out[near]
        _, lower, sub = nearest_in_pair(layout, frames, solver, plain(0), p, most, near < 0, axes, gaps, row)
        row[1] = lower  # of several sub-pairs the row is the nearest, but the bound must hold for all of them
        if sub != FAR and not lower > most:
            pair[near] = p
            near += 1
    return near


@entry
def write_near(task: Task, q: Array1, rows: Array2, pair: Ints1, every: bool, out: Near) -> None:
    """Copy the rows of `near_of_one` to ``out``, and write their gradients. Jacobians are written if ``every``."""
    layout, frames = task.layout, task.frames
    for n in range(pair.shape[0]):
        row, p = rows[n], pair[n]
        out.distance[n], out.lower[n], out.upper[n] = row[0], row[1], row[2]
        for c in range(3):
            out.normal[n, c], out.point_a[n, c], out.point_b[n, c] = row[3 + c], row[6 + c], row[9 + c]
        a, b = layout.link[layout.pairs[p, 0]], layout.link[layout.pairs[p, 1]]
        motions = out.moved[n if every else 0]
        gradient_at(task.chain, q, frames.links, a, b, row, frames.matrix, motions, out.gradient[n])


# distances of pairs with bodies ---------------------------------------------------------------------------------------


@kernel
def placed_pair(layout: Layout, frames: Frames, bodies: Bodies, n: int, now: int) -> PosedPair:
    """Place both slots of row n of ``bodies`` at configuration number ``now``, and return the result of `posed`."""
    place(layout, frames, bodies.pairs[n, 0], now)
    place(layout, frames, bodies.pairs[n, 1], now)
    return posed(layout, frames, bodies, n)


@kernel
def nearest_or_contact(
    pair: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch
) -> tuple[int, NearestParts]:
    """Return the verdict for a body and another slot, and their nearest parts as `nearest_parts` does.

    APART is proven. MEET (the surfaces intersect) and HELD (one is inside the other) are certain. DOUBT means that the
    functions of two shapes must compute the pair.
    """
    w.last[0] = -1
    gap = nearest_parts(pair, most, margin, share, first, w)
    if not min(gap.lowest, gap.upper) > pair.error:
        return MEET if gap.upper <= 0.0 else DOUBT, gap
    if pair.a.kind == PRISMS:
        return meet(pair, 0.0, w), gap
    # a gap between the surfaces proves nothing for a closed body: the guest may lie inside it
    return held(pair, w) if pair.a.inside != OPEN else APART, gap


class Search(NamedTuple):
    """Limits of a search for distances, and its results."""

    most: Array1  #: of each selected row
    best: Array1  #: the least distance of each configuration so far
    least: bool  #: whether only pairs that lower ``best`` are of interest, and ``best`` follows them
    bounds: Array1  #: of each selected row, scratch
    parts: Ints2  #: (rows, 2), scratch: the parts that intersected at the configuration before, -1 for none
    out: Array3  #: (configurations, rows, 12), as rows of `solve`
    answer: Ints2  #: APART if a row is valid


@kernel
def _gap(layout: Layout, frames: Frames, bodies: Bodies, p: int, limit: float, search: Search, k: int, n: int) -> None:
    """Write the distance of placed pair p up to a limit, and its verdict, to entry [k, n] of ``search``."""
    if limit < 1e50:  # most pairs are far apart
        free = free_of_body(frames, bodies, p, 0.0, limit * _MORE)
        if free > limit:
            search.out[k, n, 0] = search.out[k, n, 1] = search.out[k, n, 2] = free
            search.answer[k, n] = APART
            return
    pair, w, flags, parts = posed(layout, frames, bodies, p), bodies.scratch, bodies.scratch.flags, search.parts[n]
    # Configurations of a path differ little, so the same parts often intersect. The verdict does not depend on them.
    w.last[0], w.last[1] = parts[0], parts[1]
    # a search for the nearest parts takes much longer to find parts that intersect
    verdict = surfaces_meet(pair, 0.0, w)
    parts[0], parts[1] = w.last[0], w.last[1]
    if verdict == MEET:
        search.answer[k, n] = MEET
        return
    # deep inside a body the search for the nearest parts takes long, and its result is of no use
    if pair.a.kind != PRISMS and pair.a.inside != OPEN and held(pair, w) == HELD:
        search.answer[k, n] = HELD
        return
    search.answer[k, n], gap = nearest_or_contact(pair, limit, 0.0, 1.0, plain(-1), w)
    if search.answer[k, n] != APART:
        return
    row = search.out[k, n : n + 1]
    report_gap(pair, gap, limit, limit * (1.0 + 2.0**-52) + 1e-300, w, row, flags, plain(0))
    if flags[0, 3] != 0:
        search.answer[k, n] = DOUBT
        return
    into_world(frames.rows[bodies.pairs[p, 0]], row, plain(0))
    if bodies.pairs[p, 2] != 0:  # the row was computed with the body first
        mirror(row, plain(0))


@kernel
def _least_gap(layout: Layout, frames: Frames, bodies: Bodies, selected: Ints, search: Search, k: int) -> None:
    """Write the distances of placed pairs, least bound first. Pairs beyond the best distance get only their bound."""
    count, bounds = selected.shape[0], search.bounds
    for n in range(count):
        bounds[n] = free_of_body(frames, bodies, selected[n], 0.0, min(search.best[k], 1e50))
    for _ in range(count):
        n = nearest(bounds, plain(0), count, inf)
        if bounds[n] > max(search.best[k], 0.0):
            for m in range(count):
                if bounds[m] < inf:
                    search.out[k, m, 0] = search.out[k, m, 1] = search.out[k, m, 2] = bounds[m]
                    search.answer[k, m] = APART
            return
        bounds[n] = inf
        limit = max(min(search.most[n], search.best[k]), 0.0)
        _gap(layout, frames, bodies, selected[n], limit, search, k, n)
        if search.answer[k, n] == APART:
            search.best[k] = min(search.best[k], search.out[k, n, 0])


@entry
def gaps_many(task: Task, q: Array2, bodies: Bodies, selected: Ints1, search: Search) -> None:
    """Write the distance and the verdict of each selected pair at each configuration.

    `nearest_or_contact` defines the verdict. A pair farther apart than its ``most``, or than ``best`` of the
    configuration, needs a lower bound only.
    """
    layout, frames = task.layout, task.frames
    frames.stamp[:] = -1
    search.parts[:] = -1
    for k in range(q.shape[0]):
        link_poses(task.chain, q[k], frames.matrix, frames.links)
        for n in range(selected.shape[0]):
            for side in range(2):
                place(layout, frames, bodies.pairs[selected[n], side], k)
        if search.least:
            _least_gap(layout, frames, bodies, selected, search, k)
            continue
        for n in range(selected.shape[0]):
            limit = max(min(search.most[n], search.best[k]), 0.0)
            _gap(layout, frames, bodies, selected[n], limit, search, k, n)


@kernel
def gap_bounds(
    layout: Layout, frames: Frames, bodies: Bodies, n: int, now: int, most: float, margin: float, share: float,
    first: int,
) -> tuple[float, float, int]:  # fmt: skip
    """Return a lower and an upper bound of the distance of a pair up to ``most``, and the nearest part of the body.

    The lower bound is at least `share_of` the upper, and 0 for a collision. The part may be ``first`` in the next call.
    Row 1 of the scratch's ``out`` has the nearest points in the world.
    """
    pair, w = placed_pair(layout, frames, bodies, n, now), bodies.scratch
    verdict, gap = nearest_or_contact(pair, most, margin, share, first, w)
    if verdict == APART:
        into_world(frames.rows[bodies.pairs[n, 0]], w.out, plain(1))
        # The floor of a motion has a slack of 128 (D + 1) u S (1 + W) for D joints in a row, the size S and the turns
        # W, and the error is at most 256 u S. The terms keep these bounds from depending on that.
        return min(gap.lowest, share_of(gap.upper, margin, share)) - pair.error, gap.upper + pair.error, gap.p
    return 0.0, 0.0 if verdict != DOUBT else gap.upper + pair.error, gap.p
