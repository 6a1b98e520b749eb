"""A store of trees: the head of each tree has the addresses and sizes of its arrays, which are not copied.

An entry has a fixed number of arguments, so the trees of all bodies of a cell cannot be arguments. The argument is a
store. Heads of bodies with the same parts are equal. The owner of a store must keep references to the parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from gjk3d._kernels import views
from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.part_tree import PartTree
from gjk3d.bodies.parts import parts_of
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array2, Ints, Ints2

#: columns of a head: the kind and the inside of a tree, the rank of the item in the order of the kernels, then the
#: address, rows and columns of each of its arrays
KIND, INSIDE, RANK, ARRAYS = range(4)
BOXES, LINKS, PLACES, TABLE, PART_INTS, PART_FLOATS, SKIN, SPAN, POINTS = (ARRAYS + 3 * k for k in range(9))
HEAD = ARRAYS + 3 * 9


class Store(NamedTuple):
    """Heads of trees; the rows of items without a tree are unused."""

    heads: Ints2  #: (items, HEAD)
    sizes: Array2  #: (items, 2): rim and reach


def store_of(things: Iterable[Body | Shape | None]) -> Store:
    """Return a store with a tree for each body or convex shape. The tree of None is empty."""
    every = list(things)
    store = empty_store(len(every))
    for k, thing in enumerate(every):
        if thing is not None:
            put_tree(store, k, thing)
    return store


def empty_store(count: int) -> Store:
    """Return a store of ``count`` empty trees."""
    return Store(np.zeros((count, HEAD), dtype=np.int64), np.zeros((count, 2)))


def put_tree(store: Store, k: int, thing: Body | Shape, rank: int = 0) -> None:
    """Make item k the tree of a body or shape."""
    store.heads[k], store.sizes[k] = _head_of(parts_of(thing))
    store.heads[k, RANK] = rank


def _head_of(parts: Parts) -> tuple[Ints, tuple[float, float]]:
    """Return the head of a tree and its ``rim`` and ``reach`` (`PartTree`), which are cached."""
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
    """Return the tree of item k: views of its arrays."""
    h = s.heads[k]
    return PartTree(
        views.float_rows(h[BOXES], h[BOXES + 1], h[BOXES + 2]),
        views.int_rows(h[LINKS], h[LINKS + 1], h[LINKS + 2]),
        views.float_rows(h[PLACES], h[PLACES + 1], h[PLACES + 2]),
        views.int_rows(h[TABLE], h[TABLE + 1], h[TABLE + 2]),
        views.ints(h[PART_INTS], h[PART_INTS + 1]),
        views.floats(h[PART_FLOATS], h[PART_FLOATS + 1]),
        views.ints(h[SKIN], h[SKIN + 1]),
        views.floats(h[SPAN], h[SPAN + 1]),
        views.float_rows(h[POINTS], h[POINTS + 1], h[POINTS + 2]),
        h[KIND], h[INSIDE], s.sizes[k, 0], s.sizes[k, 1],
    )  # fmt: skip
