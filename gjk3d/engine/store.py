"""A store of trees, the collision test of two items of a store, and the free distance around a point.

The item k of a store is the bounding volume tree of a body or convex shape. A kernel has a fixed number of arguments,
so the trees of many bodies cannot be arguments. The argument is a store. It has a head for each tree: a row with the
addresses and sizes of the tree's arrays, which are not copied. Bodies with the same parts have equal heads. The owner
of a store must keep references to the parts.

Most pairs of a robot's cell are far apart. For them `free_distance` proves the separation without GJK. It is a lower
bound of the distance from a body to a point, the centre of a ball around the second shape. During a motion, the same
bound proves the separation for all later balls near this ball.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels import addresses
from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.bodies.base import OPEN, PRISMS, Body, Parts, PartTree
from gjk3d.bodies.parts import parts_of
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
from gjk3d.geometry.vec3 import Vec3, from_box, turn_back
from gjk3d.narrow.solve import comes_later
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

# --- the store -------------------------------------------------------------------------------------------------------


#: columns of a head: ``kind`` and ``inside`` of the `PartTree`, the rank of the item in the order of the kernels, then
#: for each array of the tree its address, number of rows and number of columns
KIND, INSIDE, RANK, ARRAYS = range(4)
BOXES, LINKS, PLACES, TABLE, PART_INTS, PART_FLOATS, SKIN, SPAN, POINTS = (ARRAYS + 3 * k for k in range(9))
HEAD = ARRAYS + 3 * 9


class Store(NamedTuple):
    """The heads of trees, with the addresses and sizes of their arrays. Rows of items without a tree are unused."""

    heads: Ints2  #: (items, HEAD)
    sizes: Array2  #: (items, 2): ``rim`` and ``reach`` of the `PartTree`


def store_of(things: Iterable[Body | Shape | None]) -> Store:
    """Return a store with a tree for each body or convex shape, and an item without a tree for each None."""
    every = list(things)
    store = empty_store(len(every))
    for k, thing in enumerate(every):
        if thing is not None:
            put_tree(store, k, thing)
    return store


def empty_store(count: int) -> Store:
    """Return a store of ``count`` items without trees."""
    return Store(np.zeros((count, HEAD), dtype=np.int64), np.zeros((count, 2)))


def put_tree(store: Store, k: int, thing: Body | Shape, rank: int = 0) -> None:
    """Store the tree of a body or convex shape as item k. In a test of two items, the one of lower rank is A."""
    store.heads[k], store.sizes[k] = _head_of(parts_of(thing))
    store.heads[k, RANK] = rank


def _head_of(parts: Parts) -> tuple[Ints, tuple[float, float]]:
    """Return the addresses and sizes of a tree's arrays, and ``rim`` and ``reach`` of the `PartTree`.

    The result is cached in ``parts``.
    """
    try:
        head: tuple[Ints, tuple[float, float]] = parts._head
    except AttributeError:
        tree = parts.given
        arrays = [(array.ctypes.data, len(array), array.shape[1] if array.ndim == 2 else 0) for array in tree[:9]]
        head = parts._head = (
            np.array([tree.kind, tree.inside, 0, *chain(*arrays)], dtype=np.int64),
            (tree.rim, tree.reach),
        )
    return head


@kernel
def tree_at(s: Store, k: int) -> PartTree:
    """Return the tree of item k. Its arrays are views of the original arrays."""
    h = s.heads[k]
    return PartTree(
        addresses.float_rows(h[BOXES], h[BOXES + 1], h[BOXES + 2]),
        addresses.int_rows(h[LINKS], h[LINKS + 1], h[LINKS + 2]),
        addresses.float_rows(h[PLACES], h[PLACES + 1], h[PLACES + 2]),
        addresses.int_rows(h[TABLE], h[TABLE + 1], h[TABLE + 2]),
        addresses.ints(h[PART_INTS], h[PART_INTS + 1]),
        addresses.floats(h[PART_FLOATS], h[PART_FLOATS + 1]),
        addresses.ints(h[SKIN], h[SKIN + 1]),
        addresses.floats(h[SPAN], h[SPAN + 1]),
        addresses.float_rows(h[POINTS], h[POINTS + 1], h[POINTS + 2]),
        h[KIND], h[INSIDE], s.sizes[k, 0], s.sizes[k, 1],
    )  # fmt: skip


# --- a body and another item -----------------------------------------------------------------------------------------


#: results of a collision test; the functions of two shapes decide pairs that are UNSURE
NO, YES, UNSURE = range(3)
#: tolerance relative to coordinates: far more than the rounding of a point in a body's frame and of the tree's boxes
ROUNDING = 1e-8


@kernel
def pair_collides(pair: PosedPair, margin: float, w: TreeScratch) -> int:
    """Return NO, YES or UNSURE: whether the distance of two trees is at most ``margin``. ``w`` is scratch."""
    w.last[0] = -1  # no warm start, because results must not depend on earlier pairs
    code = meet(pair, max(margin, 0.0), w)
    if code == APART:
        return NO
    # the caller decides DOUBT, DEEP, and a negative margin, which needs a depth
    return YES if code < DOUBT and margin >= 0.0 else UNSURE


@entry
def collide_each(
    store: Store, which: Ints2, at: Ints2, rows: Array2, margin: float, start: int, stop: int, w: TreeScratch,
    verdicts: Ints1,
) -> None:  # fmt: skip
    """Write NO, YES or UNSURE to ``verdicts``: whether each pair from start to stop - 1 is within the margin.

    ``margin`` is at least 0. ``which`` contains the two items of each pair, and ``at`` the indices of their pose rows
    in ``rows``. ``w`` is scratch. The item of lower rank is A, as in `gjk3d.bodies.distance.collide`. For equal ranks
    the poses decide.
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
    """Return a lower bound of the distance of the point p from a body, at most ``most``. It is 0 inside the body.

    p is in the body's frame. ``w`` is scratch. The bound for a leaf is the distance from the box of the leaf. It is 0
    for a height field, whose columns may be unbounded below.
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
    # no part is near, so the point is outside, or deep inside a closed body
    if t.inside != OPEN and holds(t, p, w) != APART:
        return 0.0
    return best


@kernel
def free_around(t: PartTree, row: Array, at: Vec3, radius: float, most: float, w: TreeScratch) -> float:
    """Return a safe growth of the radius of a ball around ``at``, at most ``most``.

    A ball that is larger by this growth does not touch the body, which is at the pose ``row``. ``at`` is in world
    coordinates. ``w`` is scratch. The growth is negative or 0 if the ball may touch the body.
    """
    own = radius + ROUNDING * (t.reach + abs(at[0]) + abs(at[1]) + abs(at[2]))
    local = turn_back(row, (at[0] - row[9], at[1] - row[10], at[2] - row[11]))
    # the search goes beyond the ball by more than rounding, because otherwise the result could not be positive
    return float(free_distance(t, local, own + max(most, 1e-9 * own), w) - own)
