"""Test of a body and another item of a store for collision, and the distance of a point from a body.

Most pairs of a robot's cell are far apart. For them, the distance from the body to the centre of a ball around the
second shape, `free_distance`, proves the separation without GJK. The same distance proves further samples of a motion
whose balls are near that ball.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.bodies.part_tree import OPEN, PRISMS, PartTree
from gjk3d.bodies.tree_collision import (
    APART,
    DOUBT,
    PosedPair,
    TreeScratch,
    are_meshes,
    faces_meet,
    holds,
    meet,
    two_at,
)
from gjk3d.engine.store import RANK, Store, tree_at
from gjk3d.geometry.boxes import from_box
from gjk3d.geometry.vec3 import Vec3, turn_back
from gjk3d.narrow.pairs import comes_later
from gjk3d.typing import Array, Array2, Ints1, Ints2

#: verdicts on a pair; UNSURE is left to the exact functions of two shapes
NO, YES, UNSURE = range(3)
#: relative to coordinates: far more than the rounding of a point in the frame of a body and of the tree's boxes
ROUNDING = 1e-8


@kernel
def pair_collides(pair: PosedPair, margin: float, w: TreeScratch) -> int:
    """Return whether two trees are closer than a margin: NO, YES or UNSURE."""
    w.last[0] = -1  # no warm start: answers must not depend on the pairs before
    code = meet(pair, max(margin, 0.0), w)
    if code == APART:
        return NO
    # DOUBT, DEEP and a negative margin, which needs a depth, are decided elsewhere
    return YES if code < DOUBT and margin >= 0.0 else UNSURE


@entry
def collide_each(
    store: Store, which: Ints2, at: Ints2, rows: Array2, margin: float, start: int, stop: int, w: TreeScratch,
    verdicts: Ints1,
) -> None:  # fmt: skip
    """Write whether pairs start to stop, of items ``which`` at pose rows ``at``, are within a margin of at least 0.

    The verdict is NO, YES or UNSURE, as in `gjk3d.bodies.distance.collide`: the item of lower rank is the first, and
    for equal ranks the poses decide.
    """
    for k in range(start, stop):
        a, b, p, q = which[k, 0], which[k, 1], at[k, 0], at[k, 1]
        rank_a, rank_b = store.heads[a, RANK], store.heads[b, RANK]
        if rank_a > rank_b or (rank_a == rank_b and comes_later(rows[p], rows[q])):
            a, b, p, q = b, a, q, p
        pair = two_at(tree_at(store, a), tree_at(store, b), rows[p], rows[q])
        if margin == 0.0 and are_meshes(pair.a, pair.b):
            code = faces_meet(pair, w)
            verdicts[k] = NO if code == APART else YES if code < DOUBT else UNSURE
        else:
            verdicts[k] = pair_collides(pair, margin, w)


@kernel
def free_distance(t: PartTree, p: Vec3, most: float, w: TreeScratch) -> float:
    """Return a lower bound of the distance of a point from a body, in the body's frame, at most ``most``; 0 inside.

    The distance from the box of a leaf is the leaf's bound. It is 0 for a height field, whose columns may be unbounded
    below.
    """
    if t.kind == PRISMS:
        return 0.0
    best, stack, keys, boxes, links = most, w.stack, w.keys, t.boxes, t.links
    stack[0, 0], keys[0] = plain(0), sqrt(from_box(p, boxes, plain(0))) - t.rim
    top = 1
    while top > 0:
        top -= 1
        if keys[top] >= best:
            continue
        child = links[stack[top, 0], 0]
        if child < 0:
            best = keys[top]
            if best <= 0.0:
                return 0.0
            continue
        d, e = sqrt(from_box(p, boxes, child)) - t.rim, sqrt(from_box(p, boxes, child + 1)) - t.rim
        near, far = (child, child + 1) if d <= e else (child + 1, child)
        if max(d, e) < best:
            stack[top, 0], keys[top] = far, max(d, e)
            top += 1
        if min(d, e) < best:
            stack[top, 0], keys[top] = near, min(d, e)
            top += 1
    # no part is near, so the point may only be deep inside a closed body
    if t.inside != OPEN and holds(t, p, w) != APART:
        return 0.0
    return best


@kernel
def free_around(t: PartTree, row: Array, at: Vec3, radius: float, most: float, w: TreeScratch) -> float:
    """Return by how much the radius of a ball at ``at``, in world axes, may grow without a touch, at most ``most``.

    The result is negative or 0 if the ball may touch the body.
    """
    own = radius + ROUNDING * (t.reach + abs(at[0]) + abs(at[1]) + abs(at[2]))
    local = turn_back(row, (at[0] - row[9], at[1] - row[10], at[2] - row[11]))
    # beyond the ball by more than rounding, or the result could not be positive
    return float(free_distance(t, local, own + max(most, 1e-9 * own), w) - own)
