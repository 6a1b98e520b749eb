"""Test of a body and another item of a store for collision, and the distance of a point from a body.

Most pairs of a cell are far apart. A ball around the second shape then settles them by one distance from a point,
`free_distance`, which needs no GJK. One such distance also serves all samples of a motion whose balls lie near it.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.bodies.mesh_trees import from_box
from gjk3d.bodies.part_tree import OPEN, PRISMS, PartTree
from gjk3d.bodies.tree_collision import APART, DOUBT, PosedPair, TreeScratch, holds, meet
from gjk3d.geometry.vec3 import Vec3, turn_back
from gjk3d.typing import Array

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


@kernel
def free_distance(t: PartTree, p: Vec3, most: float, w: TreeScratch) -> float:
    """Return a lower bound of the distance of a point from a body in its frame, at most ``most``; 0 inside.

    The bound of a leaf is that of its box. It is 0 for a height field, whose columns may go down without end.
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
    if t.inside != OPEN and holds(t, p, w):
        return 0.0
    return best


@kernel
def free_around(t: PartTree, row: Array, at: Vec3, radius: float, most: float, w: TreeScratch) -> float:
    """Return how far a ball in the world is free to grow around a body at a pose row, at most ``most``.

    The result is negative or 0 if the ball may touch the body.
    """
    own = radius + ROUNDING * (t.reach + abs(at[0]) + abs(at[1]) + abs(at[2]))
    local = turn_back(row, (at[0] - row[9], at[1] - row[10], at[2] - row[11]))
    # beyond the ball by more than rounding, or the result could not be positive
    return float(free_distance(t, local, own + max(most, 1e-9 * own), w) - own)
