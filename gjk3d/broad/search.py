"""Searches in trees of boxes: candidate pairs and ray hits. No true pair or hit is missed.

A search stops when its output array is full, and the next call continues from its stack.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT
from gjk3d.typing import Array, Array2, Ints, Ints2

_PAD = 3e-14  #: enlargement of a box, relative to its distance from the origin of a ray: four times the error of a ray


@inlined
def near(p: Array, a: int, q: Array, b: int, within: float) -> bool:
    """Return whether two boxes are within a distance along every axis. Rounding never hides a pair."""
    return bool(
        p[a, 0] - q[b, 3] <= within
        and q[b, 0] - p[a, 3] <= within
        and p[a, 1] - q[b, 4] <= within
        and q[b, 1] - p[a, 4] <= within
        and p[a, 2] - q[b, 5] <= within
        and q[b, 2] - p[a, 5] <= within
    )


@inlined
def split(boxes: Array, links: Ints, within: float, stack: Ints, top: int) -> tuple[int, bool]:
    """Replace the pair of nodes of one tree in row ``top`` by the near pairs of their children.

    Returns the new height of the stack, and whether the pair consists of two leaves, which stay on the stack.
    """
    a, b = stack[top, 0], stack[top, 1]
    if a == b:
        if links[a, HEIGHT] == 0:
            return top, False
        a, b = links[a, LEFT], links[a, RIGHT]
        stack[top, 0], stack[top, 1] = a, a
        stack[top + 1, 0], stack[top + 1, 1] = b, b
        top += 2
        if near(boxes, a, boxes, b, within):
            stack[top, 0], stack[top, 1] = a, b
            top += 1
        return top, False
    ha, hb = links[a, HEIGHT], links[b, HEIGHT]
    if ha == 0 and hb == 0:
        return top, True
    if ha < hb:
        a, b = b, a
    c, d = links[a, LEFT], links[a, RIGHT]
    if near(boxes, c, boxes, b, within):
        stack[top, 0], stack[top, 1] = c, b
        top += 1
    if near(boxes, d, boxes, b, within):
        stack[top, 0], stack[top, 1] = d, b
        top += 1
    return top, False


@entry
def pairs_within(boxes: Array2, links: Ints2, within: float, stack: Ints2, top: int, pairs: Ints2) -> tuple[int, int]:
    """Write pairs of leaves of one tree; return their number, and the number of node pairs left on the stack.

    The stack starts with the pair of the root and itself. It needs 3 rows for each level of the tree, and 3 more.
    """
    count = 0
    room = pairs.shape[0]
    while top > 0 and count < room:
        top -= 1
        a, b = stack[top, 0], stack[top, 1]
        top, leaves = split(boxes, links, within, stack, top)
        if leaves:
            pairs[count, 0], pairs[count, 1] = a, b
            count += 1
    return count, top


@inlined
def split_between(
    boxes: Array, links: Ints, boxes_b: Array, links_b: Ints, within: float, stack: Ints, top: int
) -> tuple[int, bool]:
    """Replace a pair of nodes of two trees by the near pairs of their children; see `split`."""
    a, b = stack[top, 0], stack[top, 1]
    ha, hb = links[a, HEIGHT], links_b[b, HEIGHT]
    if ha == 0 and hb <= 0:
        return top, True
    if ha >= hb:
        for c in (links[a, LEFT], links[a, RIGHT]):
            if near(boxes, c, boxes_b, b, within):
                stack[top, 0], stack[top, 1] = c, b
                top += 1
    else:
        for c in (links_b[b, LEFT], links_b[b, RIGHT]):
            if near(boxes, a, boxes_b, c, within):
                stack[top, 0], stack[top, 1] = a, c
                top += 1
    return top, False


@kernel
def along_ray(boxes: Array, node: int, starts: Array, directions: Array, k: int, far: float) -> bool:
    """Return whether ray k may hit the box of a node within a distance, by slabs that are enlarged for rounding."""
    pad = 0.0
    for c in range(3):
        pad += _PAD * (abs(boxes[node, c] - starts[k, c]) + abs(boxes[node, 3 + c] - starts[k, c]))
    # directions are unit vectors, so the wider slabs move the entry by at least the padding
    enter, leave = 0.0, far + pad
    for c in range(3):
        low, high = boxes[node, c] - starts[k, c] - pad, boxes[node, 3 + c] - starts[k, c] + pad
        component = directions[k, c]
        if component == 0.0:
            if low > 0.0 or high < 0.0:
                return False
            continue
        first, second = low / component, high / component
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@entry
def along_rays(
    boxes: Array2, links: Ints2, root: int, starts: Array2, directions: Array2, far: float, first: int, stack: Ints2,
    pairs: Ints2, top: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Write pairs of a ray and a leaf, starting with ray ``first``.

    Returns the number of pairs, the ray to continue with, and the number of this ray's nodes left on the stack. The
    stack needs one row for each level of the tree, and one more.
    """
    count = 0
    room = pairs.shape[0]
    ray = first
    while ray < starts.shape[0]:
        if top == 0 and along_ray(boxes, root, starts, directions, ray, far):
            stack[0, 0] = root
            top = 1
        while top > 0:
            if count == room:
                return count, ray, top
            top -= 1
            node = stack[top, 0]
            if links[node, HEIGHT] == 0:
                pairs[count, 0], pairs[count, 1] = ray, node
                count += 1
                continue
            for child in (links[node, LEFT], links[node, RIGHT]):
                if along_ray(boxes, child, starts, directions, ray, far):
                    stack[top, 0] = child
                    top += 1
        ray += 1
    return count, ray, 0
