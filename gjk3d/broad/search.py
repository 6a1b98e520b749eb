"""Which boxes meet, which meet a ray: candidates, never fewer than the truth.

Searches that find more than there is room for leave off, and go on from their stack when they are called again. A leaf
takes part by two sets of bits, its group and those it may meet.
"""

from __future__ import annotations

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT
from gjk3d.typing import Array, Array2, Ints, Ints2

GROUP, MASK = range(2)
_PAD = 3e-14  #: of how far a box is from where a ray starts; a ray against a shape is off by a quarter of it


@inlined
def near(p: Array, a: int, q: Array, b: int, within: float) -> bool:
    """Tell whether two boxes are no farther apart than that along any axis; rounding a gap never hides one."""
    return bool(
        p[a, 0] - q[b, 3] <= within
        and q[b, 0] - p[a, 3] <= within
        and p[a, 1] - q[b, 4] <= within
        and q[b, 1] - p[a, 4] <= within
        and p[a, 2] - q[b, 5] <= within
        and q[b, 2] - p[a, 5] <= within
    )


@inlined
def meets(bits: Ints, i: int, others: Ints, j: int) -> bool:
    """Tell whether each of two leaves may meet the other's group."""
    return bool((bits[i, GROUP] & others[j, MASK]) != 0 and (others[j, GROUP] & bits[i, MASK]) != 0)


@inlined
def split(boxes: Array, links: Ints, within: float, stack: Ints, top: int) -> tuple[int, bool]:
    """Put what a pair of nodes of one tree, in row ``top``, is made of in its place, unless it is two leaves.

    Returns how high the stack is now, and whether they are.
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
def pairs_within(
    boxes: Array2, links: Ints2, bits: Ints2, within: float, stack: Ints2, top: int, pairs: Ints2
) -> tuple[int, int]:
    """Fill rows of ``pairs`` with leaves of one tree; return how many, and how many node pairs are left on the stack.

    The stack begins with the root twice; it needs 3 rows a level of the tree, and 3 more.
    """
    found = 0
    room = pairs.shape[0]
    while top > 0 and found < room:
        top -= 1
        a, b = stack[top, 0], stack[top, 1]
        top, leaves = split(boxes, links, within, stack, top)
        if leaves and meets(bits, a, bits, b):
            pairs[found, 0], pairs[found, 1] = a, b
            found += 1
    return found, top


@inlined
def split_between(
    boxes: Array, links: Ints, others: Array, other_links: Ints, within: float, stack: Ints, top: int
) -> tuple[int, bool]:
    """Do as `split` does with nodes of two trees."""
    a, b = stack[top, 0], stack[top, 1]
    ha, hb = links[a, HEIGHT], other_links[b, HEIGHT]
    if ha == 0 and hb <= 0:
        return top, True
    if ha >= hb:
        for c in (links[a, LEFT], links[a, RIGHT]):
            if near(boxes, c, others, b, within):
                stack[top, 0], stack[top, 1] = c, b
                top += 1
    else:
        for c in (other_links[b, LEFT], other_links[b, RIGHT]):
            if near(boxes, a, others, c, within):
                stack[top, 0], stack[top, 1] = a, c
                top += 1
    return top, False


@entry
def pairs_between(
    boxes: Array2, links: Ints2, bits: Ints2, others: Array2, other_links: Ints2, other_bits: Ints2, within: float,
    stack: Ints2, top: int, pairs: Ints2,
) -> tuple[int, int]:  # fmt: skip
    """Do as `pairs_within` between the leaves of two trees; the stack begins with both roots, unless they are apart."""
    found = 0
    room = pairs.shape[0]
    while top > 0 and found < room:
        top -= 1
        a, b = stack[top, 0], stack[top, 1]
        top, leaves = split_between(boxes, links, others, other_links, within, stack, top)
        if leaves and meets(bits, a, other_bits, b):
            pairs[found, 0], pairs[found, 1] = a, b
            found += 1
    return found, top


@kernel
def along_ray(boxes: Array, node: int, starts: Array, ways: Array, k: int, far: float) -> bool:
    """Tell whether a ray may meet a box no farther along than that: slabs, each wider by what rounding needs."""
    pad = 0.0
    for c in range(3):
        pad += _PAD * (abs(boxes[node, c] - starts[k, c]) + abs(boxes[node, 3 + c] - starts[k, c]))
    enter, leave = 0.0, far + pad  # ways are unit vectors, so the wider slabs move the entry by as much again
    for c in range(3):
        low, high = boxes[node, c] - starts[k, c] - pad, boxes[node, 3 + c] - starts[k, c] + pad
        way = ways[k, c]
        if way == 0.0:
            if low > 0.0 or high < 0.0:
                return False
            continue
        first, second = low / way, high / way
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@entry
def along_rays(
    boxes: Array2, links: Ints2, root: int, starts: Array2, ways: Array2, far: float, first: int, stack: Ints2,
    pairs: Ints2, top: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Fill rows of ``pairs`` with a ray and a leaf, rays from ``first`` on.

    Returns how many, the ray to go on with, and how many nodes of it are left on the stack, which needs one row a level
    of the tree, and one more.
    """
    found = 0
    room = pairs.shape[0]
    ray = first
    while ray < starts.shape[0]:
        if top == 0 and along_ray(boxes, root, starts, ways, ray, far):
            stack[0, 0] = root
            top = 1
        while top > 0:
            if found == room:
                return found, ray, top
            top -= 1
            node = stack[top, 0]
            if links[node, HEIGHT] == 0:
                pairs[found, 0], pairs[found, 1] = ray, node
                found += 1
                continue
            for child in (links[node, LEFT], links[node, RIGHT]):
                if along_ray(boxes, child, starts, ways, ray, far):
                    stack[top, 0] = child
                    top += 1
        ray += 1
    return found, ray, 0
