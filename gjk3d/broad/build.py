"""The whole tree at once, from the top: each node is cut where its two halves have the least surface (binned SAH).

Wald, On fast construction of SAH-based bounding volume hierarchies, 2007: leaves are sorted by their middles into bins
along the longest axis, and the cut is between two of them.
"""

from __future__ import annotations

from math import inf

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.broad.nodes import FREE, HEIGHT, LEAVES, LEFT, PARENT, RIGHT, ROOT, area
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

BINS = 16
BIN = 7  #: floats of a bin: a box, and how many leaves
SPAN = 4  #: ints that wait for their node: leaves from and to, parent, side


@kernel
def box_round(boxes: Array, order: Ints, start: int, stop: int, node: int) -> None:
    """Fit a node round leaves."""
    for c in range(3):
        boxes[node, c], boxes[node, 3 + c] = inf, -inf
    for k in range(start, stop):
        leaf = order[k]
        for c in range(3):
            boxes[node, c] = min(boxes[node, c], boxes[leaf, c])
            boxes[node, 3 + c] = max(boxes[node, 3 + c], boxes[leaf, 3 + c])


@kernel
def widest(boxes: Array, order: Ints, start: int, stop: int) -> tuple[int, float, float]:
    """Return along which axis the middles of leaves are spread most, from where, and how far; all of them doubled."""
    axis, least, most = 0, 0.0, -1.0
    for c in range(3):
        low, high = inf, -inf
        for k in range(start, stop):
            middle = boxes[order[k], c] + boxes[order[k], 3 + c]
            low, high = min(low, middle), max(high, middle)
        if high - low > most:
            axis, least, most = c, low, high - low
    return axis, least, most


@kernel
def grow(bins: Array, k: int, boxes: Array, node: int) -> None:
    """Let bin k hold a box too."""
    for c in range(3):
        bins[k, c] = min(bins[k, c], boxes[node, c])
        bins[k, 3 + c] = max(bins[k, 3 + c], boxes[node, 3 + c])


@kernel
def cut(boxes: Array, order: Ints, start: int, stop: int, bins: Array, costs: Array) -> int:
    """Sort leaves into two halves; return where the second begins."""
    axis, least, spread = widest(boxes, order, start, stop)
    half = start + (stop - start) // 2
    if stop - start == 2 or not spread > 0.0 or not spread < inf:
        return half
    scale = BINS * (1.0 - 1e-9) / spread  # a little less, so that the farthest leaf is in the last bin
    if not scale < inf:
        return half
    for k in range(BINS):
        for c in range(3):
            bins[k, c], bins[k, 3 + c] = inf, -inf
        bins[k, 6] = 0.0
    for k in range(start, stop):
        leaf = order[k]
        which = int((boxes[leaf, axis] + boxes[leaf, 3 + axis] - least) * scale)
        grow(bins, which, boxes, leaf)
        bins[which, 6] += 1.0
    # costs of what lies before each cut, then of what lies behind it as well; the row behind the bins is scratch
    for way in range(2):
        for c in range(3):
            bins[BINS, c], bins[BINS, 3 + c] = inf, -inf
        count = 0.0
        for r in range(BINS - 1):
            k = r if way == 0 else BINS - 1 - r
            if bins[k, 6] > 0.0:
                grow(bins, BINS, bins, k)
                count += bins[k, 6]
            cost = count * area(bins, BINS) if count > 0.0 else inf
            if way == 0:
                costs[k] = cost
            else:
                costs[k - 1] += cost
    best, at = inf, -1
    for k in range(BINS - 1):
        if costs[k] < best:
            best, at = costs[k], k
    if at < 0:
        return half
    front, back = start, stop - 1
    while front <= back:
        leaf = order[front]
        if int((boxes[leaf, axis] + boxes[leaf, 3 + axis] - least) * scale) <= at:
            front += 1
        else:
            order[front], order[back] = order[back], leaf
            back -= 1
    return front


@entry
def build(
    boxes: Array2, links: Ints2, state: Ints1, order: Ints1, count: int, room: int, waiting: Ints2, bins: Array2,
    costs: Array1,
) -> float:  # fmt: skip
    """Build the tree of the leaves that ``order`` begins with; return the sum of the inner nodes' surfaces.

    ``room`` is for how many leaves there is; scratch is ``waiting`` (count + 1, SPAN), ``bins`` (BINS + 1, BIN) and
    ``costs`` (BINS).
    """
    for k in range(room):
        links[k, HEIGHT] = -1
    state[ROOT], state[LEAVES] = -1, count
    used, top = room, 0
    if count > 0:
        waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, count, -1, 0
        top = 1
    total = 0.0
    while top > 0:
        top -= 1
        start, stop, parent, side = waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3]
        if stop - start == 1:
            node = order[start]
            links[node, LEFT], links[node, RIGHT], links[node, HEIGHT] = -1, -1, 0
        else:
            node = used
            used += 1
            box_round(boxes, order, start, stop, node)
            total += area(boxes, node)
            middle = cut(boxes, order, start, stop, bins, costs)
            waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3] = middle, stop, node, RIGHT
            top += 1
            waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3] = start, middle, node, LEFT
            top += 1
        links[node, PARENT] = parent
        if parent < 0:
            state[ROOT] = node
        else:
            links[parent, side] = node
    for node in range(used - 1, room - 1, -1):  # children come behind their parents
        links[node, HEIGHT] = max(links[links[node, LEFT], HEIGHT], links[links[node, RIGHT], HEIGHT]) + 1
    last = 2 * room - 1
    for node in range(used, last):
        links[node, HEIGHT] = -1
        links[node, PARENT] = node + 1 if node + 1 < last else -1
    state[FREE] = used if used < last else -1
    return total
