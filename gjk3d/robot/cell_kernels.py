"""Kernels that compute the poses of a cell and test its pairs, one configuration after another.

A slot is a shape that is fixed to a link or to the world. A row of `solve` contains the 12 numbers of a distance query:
the distance, its lower and upper bound, the normal, and the points on both shapes.

A pair is a row with two slots and the range of its sub-pairs. If there are sub-pairs, the two slots are hulls around
several convex pieces. The pieces are tested only if the hulls are not far enough apart. `pair_collides` tests whether a
pair collides, and `nearest_in_pair` computes the distance of a pair. The entries, which are the functions that Python
calls, differ in the pairs that they test and in their limits.

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
#: bound of the residual R^T R - 1 of a rotation R that is the rounded product of a few dozen rotations
_RESIDUAL = 256.0 * UNIT_ROUNDOFF
#: if at most this many sub-pairs may be near, they are solved without a test of the hulls around them
_FEW = 2
_MORE = 1.0 + 1e-6  #: factor of a limit, so that a bound may exceed the limit
_ALWAYS = 1 << 62  #: stamp of static slots, which are placed once
_CENTER, _RHO, _RADIUS = shape_layout.CENTER, shape_layout.RHO, shape_layout.RADIUS


class Layout(NamedTuple):
    """The slots of a cell, which are shapes fixed to a link or to the world, and the checked pairs of slots."""

    link: Ints1  #: link of each slot, -1 for the world
    local: Array2  #: (slots, 13), the pose of each slot in the frame of its link, and the residual of its rotation
    ints: Ints1  #: packed integers of all shapes
    floats: Array1  #: packed floats of all shapes, capsules and boxes
    starts: Ints2  #: (slots, 4), for each slot the first index in ints, and in floats of its shape, capsule and box
    pairs: Ints2  #: (pairs, 4), two slots, and the first index in subs and the index after the last
    subs: Ints2  #: (sub-pairs, 2), two slots


class Frames(NamedTuple):
    """Poses of links and slots at a configuration."""

    matrix: Array2  #: (4, 4), scratch memory of `link_poses`
    links: Array3  #: (links, 4, 4), poses of the links
    rows: Array2  #: (slots, 13), poses of the slots in the world, and the residuals of their rotations
    balls: Array2  #: (slots, 4), centres of the bounding balls in the world, and their radii
    stamp: Ints1  #: (slots,), the number of the configuration for which each slot was last placed


class Bodies(NamedTuple):
    """The pairs of a cell with a body. The number of a pair is its row in ``pairs`` plus the number of convex pairs."""

    store: Store  #: the trees of the slots in these pairs
    pairs: Ints2  #: (rows, 3), the slot of a body, the other slot, and 1 if the body is the second slot of the pair
    order: Ints1  #: the order in which the rows are tested, likely hits first
    scratch: TreeScratch


class Task(NamedTuple):
    """A cell, and the scratch memory of the kernels that test its pairs."""

    chain: Chain
    layout: Layout
    frames: Frames
    solver: Solver
    axes: Array2  #: the last axis of each pair, then of each sub-pair, as a warm start of GJK; no rows: no warm start
    gaps: Array1  #: (pairs + sub-pairs,), lower bounds of distances, scratch memory


@inlined
def core_of(layout: Layout, k: int) -> Core:
    """Return the shape of slot k."""
    return Core(layout.ints[layout.starts[k, 0] :], layout.floats[layout.starts[k, 1] :])


@inlined
def place(layout: Layout, frames: Frames, k: int, now: int) -> None:
    """Write the pose of slot k and its ball to ``frames``, unless it was already placed for configuration ``now``."""
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
    # to first order, the residual of a product of rotations is the sum of their residuals
    rows[k, 12] = _RESIDUAL + local[k, 12]
    x, y, z = f[o + _CENTER], f[o + _CENTER + 1], f[o + _CENTER + 2]
    for i in range(3):
        balls[k, i] = rows[k, 3 * i] * x + rows[k, 3 * i + 1] * y + rows[k, 3 * i + 2] * z + rows[k, 9 + i]
    balls[k, 3] = f[o + _RHO] + f[o + _RADIUS] if layout.starts[k, 2] != NO_CAPSULE else inf


@inlined
def between_balls(balls: Array, a: int, b: int) -> float:
    """Return a lower bound, valid in spite of rounding, of the distance of the balls of slots a and b."""
    x, y, z = balls[a, 0] - balls[b, 0], balls[a, 1] - balls[b, 1], balls[a, 2] - balls[b, 2]
    d = sqrt(x * x + y * y + z * z)
    # 1e-9 is far more than the rounding of the centres and radii
    return float(d * (1.0 - 1e-9) - (balls[a, 3] + balls[b, 3]) * (1.0 + 1e-9))


# whether pairs collide ------------------------------------------------------------------------------------------------


@inlined
def slots_collide(
    layout: Layout, frames: Frames, a: int, b: int, margin: float, axes: Array, row: int, simplex: Array
) -> int:
    """Return 1 if the placed slots a and b are closer than a margin, 0 if not, or 2 if `quick_collide` cannot decide.

    ``axes[row]`` is the GJK axis of the pair, and ``simplex`` is scratch memory.
    """
    ints, floats, starts, rows = layout.ints, layout.floats, layout.starts, frames.rows
    if starts[b, 2] == NO_CAPSULE:
        # For a half-space one support point is enough, and GJK is not needed. The error term makes the result safe.
        distance, error, _, _ = above_plane(cores_of(ints, floats, starts, rows, b, a), rows[b])
        return 0 if distance - error > margin else 1
    return quick_collide(cores_of(ints, floats, starts, rows, a, b), margin, simplex, axes, row)


@inlined
def solve_slots(
    layout: Layout, frames: Frames, a: int, b: int, mode: int, most: float, tol: float, solver: Solver, axes: Array
) -> None:
    """Write the signed distance of the placed slots a and b, as a row of `solve`, to ``solver.one``.

    ``mode`` and the limits ``most`` and ``tol`` are those of `solve`. ``axes`` is the row of warm starts for `solve`.
    """
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
    """Place slots a and b, and return whether their bounding balls may be within a margin."""
    place(layout, frames, a, now)
    place(layout, frames, b, now)
    return not between_balls(frames.balls, a, b) > margin


@inlined
def pair_collides(layout: Layout, frames: Frames, now: int, p: int, margin: float, axes: Array, simplex: Array) -> int:
    """Return 1 if pair p is closer than a margin, 0 if not, or 2 if undecided. Both slots of the pair must be placed.

    The convex pieces inside two hulls are tested only if the hulls may be within the margin.
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
        # the cheapest test first: capsules separate most pairs of long links, and boxes flat links side by side
        far = (
            between_capsules(rows, floats, starts, a, b) > margin or between_boxes(rows, floats, starts, a, b) > margin
        )
        if not far:
            verdict = slots_collide(layout, frames, a, b, margin, axes, row, simplex)
        # Hulls that are apart separate all pieces inside. Hulls that touch prove a collision only without sub-pairs.
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
    """Return the number of a pair that is closer than its margin at q, or `FREE`, or `UNSURE` if a pair is undecided.

    A pair that collides moves ahead in ``order``, see `move_ahead`. ``now`` is the stamp of this configuration.
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
    """Exchange entry n of ``order``, a pair that collides, with entry n // 2, so that frequent hits are tested first.

    A single hit of a rare pair does not displace the pairs that collide often.
    """
    order[n], order[n // 2] = order[n // 2], order[n]


@inlined
def is_finite(q: Array) -> bool:
    """Return whether all numbers of q are finite."""
    finite = True
    for c in range(q.shape[0]):
        finite = finite and q[c] - q[c] == 0.0
    return finite


@entry
def hit_of_one(
    q: Array1, chain: Chain, layout: Layout, order: Ints1, margins: Array1, axes: Array2, frames: Frames,
    simplex: Array2, answer: Ints1,
) -> None:  # fmt: skip
    """Write to ``answer`` (1,) the number of a pair that is closer than its margin at q.

    Otherwise write `FREE`, `UNSURE` if a pair is undecided, or `REFUSED` if q is not finite. ``axes`` has a row for
    each pair, then for each sub-pair.
    """
    frames.stamp[:] = -1
    if is_finite(q):
        answer[0] = hit_at(chain, layout, frames, plain(0), q, order, margins, axes, simplex)
    else:
        answer[0] = REFUSED


@kernel
def posed(layout: Layout, frames: Frames, bodies: Bodies, n: int) -> PosedPair:
    """Return the trees of the slots in row n of ``bodies``, the body first, and the second's pose in the first's frame.

    Both slots must be placed.
    """
    host, guest, rows = bodies.pairs[n, 0], bodies.pairs[n, 1], frames.rows
    pair = two_at(tree_at(bodies.store, host), tree_at(bodies.store, guest), rows[host], rows[guest])
    # The rotation of a link is a product, so its residual may exceed that of a checked pose, and adds an error. A
    # single convex shape as the second slot is placed by its matrix unchanged, and adds no error.
    residual = rows[host, 12] if layout.link[host] >= 0 else 0.0
    if layout.link[guest] >= 0 and pair.b.links.shape[0] > 1:
        residual += rows[guest, 12]
    if residual == 0.0:
        return pair
    far = max(abs(pair.m[9]), max(abs(pair.m[10]), abs(pair.m[11])))
    return PosedPair(pair.a, pair.b, pair.m, pair.error + 4.0 * residual * (pair.a.reach + pair.b.reach + far))


@kernel
def free_of_body(frames: Frames, bodies: Bodies, n: int, margin: float, most: float) -> float:
    """Return a lower bound of the gap between the body in row n of ``bodies`` and a ball, at most ``most``.

    The ball is the bounding ball of the other slot, with its radius increased by ``margin``. The result is 0 or
    negative if the body and the ball may touch.
    """
    host, ball = bodies.pairs[n, 0], frames.balls[bodies.pairs[n, 1]]
    tree, at = tree_at(bodies.store, host), (ball[0], ball[1], ball[2])
    return float(engine.free_around(tree, frames.rows[host], at, ball[3] + margin, most, bodies.scratch))


@kernel
def body_collides(layout: Layout, frames: Frames, bodies: Bodies, n: int, margin: float, by_ball: bool) -> int:
    """Return 1 if the slots of row n of ``bodies`` are closer than a margin, 0 if not, or 2 if undecided.

    With ``by_ball`` the body is first tested against the bounding ball of the other slot.
    """
    if by_ball and free_of_body(frames, bodies, n, max(margin, 0.0), 0.0) > 0.0:
        return 0
    return engine.pair_collides(posed(layout, frames, bodies, n), margin, bodies.scratch)


@entry
def hit_of_cell(
    q: Array1, chain: Chain, layout: Layout, order: Ints1, margins: Array1, axes: Array2, frames: Frames,
    simplex: Array2, bodies: Bodies, answer: Ints1,
) -> None:  # fmt: skip
    """Write to ``answer`` (1,) the number of a pair that is closer than its margin at q, in a cell with bodies.

    Otherwise write `FREE`, `UNSURE` if a pair is undecided, or `REFUSED` if q is not finite.
    """
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
    """Write to ``answer``, for each configuration of q and each selected pair, whether the pair collides.

    An entry is 1 if the pair is closer than its margin, 0 if not, or 2 if undecided.
    """
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
    """Return the index of the least gap from ``first`` to ``last`` - 1, or -1 if this gap is greater than ``most``."""
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
    """Write the signed distance of pair p, as a row of `solve`, to ``out`` if it is less than ``best``.

    Return the new best distance, the least lower bound of all solved distances, and the sub-pair with the new best
    distance. The sub-pair is -1 for a pair without sub-pairs, and `FAR` if the best distance is unchanged. Without
    ``has_best``, ``best`` is only a limit, and a distance equal to the limit is written too. Sub-pairs are solved in
    the order of the lower bounds of their capsules. ``gaps`` is scratch memory, with entries for pairs, then sub-pairs.
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
            mode = narrow.UNSIGNED  # only the gap of two hulls is useful, since their depth is no bound for the pieces
        solve_slots(layout, frames, a, b, mode, max(best, 0.0), 0.0, solver, axes[row : row + 1])
        if mode == narrow.UNSIGNED:
            if solved[0, 1] > max(best, 0.0):
                break  # the hulls, and so all pieces inside, are farther apart than the best distance
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
    """Write each configuration's least signed distance, as a row of `solve`, to ``out``, and its pair to ``which``.

    A row of ``which`` (n, 2) is the pair, and the sub-pair or -1. The pair is -1 if all pairs are beyond ``most``, and
    `REFUSED` if q is not finite. Pairs are solved in the order of their lower bounds, until the next bound is greater
    than the least distance (branch and bound). For pairs whose balls are far apart no bound of capsules is computed.
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
        near = most  # an estimate of the least distance, which only selects the bounds that are refined first
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
                gaps[p] = gap  # the better bound of the capsules replaces the bound of the balls
                continue
            gaps[p] = 1e308
            best, below, sub = nearest_in_pair(
                layout, frames, solver, k, p, best, which[k, 0] >= 0, axes, gaps, out[k]
            )  # fmt: skip
            lower = min(lower, below)
            if sub != FAR:
                which[k, 0], which[k, 1] = p, sub
        if which[k, 0] >= 0:
            # a pair that is not the nearest may have a smaller lower bound
            out[k, 1] = min(out[k, 1], lower)


@entry
def every_many(task: Task, q: Array2, most: Array1, out: Array3, which: Ints2) -> int:
    """Write the signed distance of every pair, as a row of `solve`, to ``out``, and its nearest sub-pair to ``which``.

    ``out`` and ``which`` have an entry for each configuration and pair. The sub-pair is -1 for a pair without
    sub-pairs. If a pair is proven farther apart than its ``most``, the sub-pair is `FAR` and the row is undefined.
    Return the number of entries whose pair is not proven farther apart than its ``most``.
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
            # the row describes the nearest sub-pair, but its lower bound must hold for all sub-pairs
            out[k, p, 1], which[k, p] = lower, sub
            if sub != FAR and not lower > most[p]:
                near += 1
    return near


class Near(NamedTuple):
    """The near pairs of one configuration, a row for each. `RobotDistances` describes the fields."""

    distance: Array1  #: (rows,)
    lower: Array1
    upper: Array1
    normal: Array2  #: (rows, 3)
    point_a: Array2
    point_b: Array2
    gradient: Array2  #: (rows, dof)
    moved: Array4  #: (rows, 2, 3, dof), the Jacobians of the points, or scratch memory (1, 2, 3, dof)


@entry
def near_of_one(task: Task, q: Array1, most: float, out: Array2, pair: Ints1) -> int:
    """Write a row of `solve` for each near pair to ``out``, and the numbers of these pairs to ``pair``.

    A pair is near if it is not proven farther apart than ``most``. ``out`` and ``pair`` must have a row for every pair.
    Return the number of written rows, or `REFUSED` if q is not finite.
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
        row[1] = lower  # the row describes the nearest sub-pair, but its lower bound must hold for all sub-pairs
        if sub != FAR and not lower > most:
            pair[near] = p
            near += 1
    return near


@entry
def write_near(task: Task, q: Array1, rows: Array2, pair: Ints1, every: bool, out: Near) -> None:
    """Copy the rows of `near_of_one` to ``out``, and write their gradients. If ``every``, also write the Jacobians."""
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
    """Place both slots of row n of ``bodies`` for configuration ``now``; return their trees and relative pose."""
    place(layout, frames, bodies.pairs[n, 0], now)
    place(layout, frames, bodies.pairs[n, 1], now)
    return posed(layout, frames, bodies, n)


@kernel
def nearest_or_contact(
    pair: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch
) -> tuple[int, NearestParts]:
    """Return the verdict for a body and another slot, and their nearest parts.

    The verdict APART is proven. MEET (the surfaces intersect) and HELD (one shape is inside the other) are certain.
    DOUBT means that the functions for two shapes must compute the pair. `gjk3d.bodies.tree_distance.nearest` describes
    the arguments.
    """
    w.last[0] = -1
    gap = nearest_parts(pair, most, margin, share, first, w)
    if not min(gap.lowest, gap.upper) > pair.error:
        return MEET if gap.upper <= 0.0 else DOUBT, gap
    if pair.a.kind == PRISMS:
        return meet(pair, 0.0, w), gap
    # a closed body may contain the other shape, even with a gap between their surfaces
    return held(pair, w) if pair.a.inside != OPEN else APART, gap


class Search(NamedTuple):
    """Limits of a search for distances, and its results."""

    most: Array1  #: (rows,), the limit of each selected pair
    best: Array1  #: (configurations,), the least distance so far
    least: bool  #: whether only the least distance of each configuration is wanted; ``best`` is then updated
    bounds: Array1  #: (rows,), lower bounds of the selected pairs, scratch memory
    parts: Ints2  #: (rows, 2), scratch memory: the parts that intersected at the last configuration, -1 without these
    out: Array3  #: (configurations, rows, 12), rows of `solve`
    answer: Ints2  #: (configurations, rows), verdicts as in `nearest_or_contact`; a row of ``out`` is valid for APART


@kernel
def _gap(layout: Layout, frames: Frames, bodies: Bodies, p: int, limit: float, search: Search, k: int, n: int) -> None:
    """Write the distance and the verdict of the pair in row p of ``bodies`` to ``search.out`` and ``search.answer``.

    They are written to entry [k, n]. Both slots must be placed. Beyond ``limit`` only a lower bound of the distance is
    written.
    """
    if limit < 1e50:  # most pairs are far apart
        free = free_of_body(frames, bodies, p, 0.0, limit * _MORE)
        if free > limit:
            search.out[k, n, 0] = search.out[k, n, 1] = search.out[k, n, 2] = free
            search.answer[k, n] = APART
            return
    pair, w, flags, parts = posed(layout, frames, bodies, p), bodies.scratch, bodies.scratch.flags, search.parts[n]
    # Configurations of a path differ little, so the same parts often intersect. The verdict does not depend on them.
    w.last[0], w.last[1] = parts[0], parts[1]
    # this test finds parts that intersect much faster than the search for the nearest parts
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
    """Write the distances and verdicts of the selected pairs at configuration k to ``search``.

    All slots must be placed. Pairs are solved in the order of their lower bounds, and ``search.best[k]`` is updated.
    For pairs beyond it, only the lower bound is written.
    """
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
    """Write the distance and the verdict of each selected pair at each configuration to ``search``.

    ``selected`` contains rows of ``bodies.pairs``. `nearest_or_contact` defines the verdict. For a pair farther apart
    than its limit ``most``, or than ``best`` of the configuration, only a lower bound is written.
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
    """Return a lower and an upper bound of the distance of row n of ``bodies``, and the nearest part of the body.

    The search ends at the distance ``most``. Apart from rounding, the lower bound is the upper bound with its excess
    over ``margin`` multiplied by ``share``. For a collision both bounds are 0. If the pair is undecided, only the
    lower bound is 0. The part may be passed as ``first`` to the next call. If the lower bound is positive, row 1 of
    ``bodies.scratch.out`` has the nearest points in the world.
    """
    pair, w = placed_pair(layout, frames, bodies, n, now), bodies.scratch
    verdict, gap = nearest_or_contact(pair, most, margin, share, first, w)
    if verdict == APART:
        into_world(frames.rows[bodies.pairs[n, 0]], w.out, plain(1))
        # The floor of a motion already has a slack of 128 (D + 1) u S (1 + W), for D joints, the size S and the turns
        # W. The error of the pair is at most 256 u S. It is subtracted here, so the bounds do not depend on the slack.
        return min(gap.lowest, share_of(gap.upper, margin, share)) - pair.error, gap.upper + pair.error, gap.p
    return 0.0, 0.0 if verdict != DOUBT else gap.upper + pair.error, gap.p
