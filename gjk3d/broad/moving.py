"""What moved, put right: leaf by leaf, or the whole tree at once."""

from __future__ import annotations

from gjk3d._numba import inlined, kernel
from gjk3d.broad.nodes import HEIGHT, LEFT, PARENT, RIGHT, ROOT, area, fit, insert, mend, remove
from gjk3d.poses import Array
from gjk3d.shapes.base import Ints


@inlined
def holds(boxes: Array, node: int, fresh: Array, k: int) -> bool:
    """Tell whether a box lies in that of a node."""
    return bool(
        boxes[node, 0] <= fresh[k, 0]
        and boxes[node, 1] <= fresh[k, 1]
        and boxes[node, 2] <= fresh[k, 2]
        and boxes[node, 3] >= fresh[k, 3]
        and boxes[node, 4] >= fresh[k, 4]
        and boxes[node, 5] >= fresh[k, 5]
    )


@kernel
def put_boxes(boxes: Array, leaves: Ints, fresh: Array) -> None:
    """Write boxes of leaves, and nothing else."""
    for k in range(leaves.shape[0]):
        for c in range(6):
            boxes[leaves[k], c] = fresh[k, c]


@kernel
def insert_many(boxes: Array, links: Ints, state: Ints, leaves: Ints, fresh: Array) -> None:
    """Put leaves into the tree."""
    for k in range(leaves.shape[0]):
        for c in range(6):
            boxes[leaves[k], c] = fresh[k, c]
        insert(boxes, links, state, leaves[k])


@kernel
def remove_many(boxes: Array, links: Ints, state: Ints, leaves: Ints) -> None:
    """Take leaves out of the tree."""
    for k in range(leaves.shape[0]):
        remove(boxes, links, state, leaves[k])


@kernel
def move_many(boxes: Array, links: Ints, state: Ints, leaves: Ints, fresh: Array) -> None:
    """Give leaves new boxes: what stays within the box two levels above keeps its place, the rest finds a new one."""
    for k in range(leaves.shape[0]):
        leaf = leaves[k]
        near = links[leaf, PARENT]
        if near >= 0 and links[near, PARENT] >= 0:
            near = links[near, PARENT]
        stays = near < 0 or holds(boxes, near, fresh, k)
        if not stays:
            remove(boxes, links, state, leaf)
        for c in range(6):
            boxes[leaf, c] = fresh[k, c]
        if stays:
            mend(boxes, links, state, links[leaf, PARENT])
        else:
            insert(boxes, links, state, leaf)


@kernel
def refit(boxes: Array, links: Ints, state: Ints, order: Ints) -> float:
    """Fit all inner nodes round leaves that have moved; return the sum of their surfaces, which searches cost.

    ``order`` is scratch for as many nodes as there are.
    """
    root = state[ROOT]
    if root < 0 or links[root, HEIGHT] == 0:
        return 0.0
    order[0] = root
    count, at = 1, 0
    while at < count:  # parents before children
        node = order[at]
        at += 1
        for child in (links[node, LEFT], links[node, RIGHT]):
            if links[child, HEIGHT] > 0:
                order[count] = child
                count += 1
    total = 0.0
    for k in range(count - 1, -1, -1):
        fit(boxes, links, order[k])
        total += area(boxes, order[k])
    return total
