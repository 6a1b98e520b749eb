"""Binary trees of axis-aligned boxes (the broad phase): nodes, searches, and the class `Tree`.

A tree is a set of plain arrays. It changes leaf by leaf or is built at once. Leaf k is node k, so leaves need no table.
The first nodes are reserved for leaves, and inner nodes follow them. A new leaf is inserted where the boxes grow least
(Catto, Dynamic bounding volume hierarchies, GDC 2019), and rotations keep the tree balanced.

`build` builds a whole tree from the root. Leaves are sorted by their middles into bins along the axis on which the
middles spread most. A node is divided between two bins. The cost of a division is the sum over both halves of surface
area times number of leaves, and the division of least cost is chosen (Wald, On fast construction of SAH-based bounding
volume hierarchies, 2007).

Searches return candidate pairs and candidate ray hits, and miss no true pair or hit. A search stops when its output
array is full, and the next call continues from its stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# --- nodes -----------------------------------------------------------------------------------------------------------


#: columns of a node's links; the height of a leaf is 0, and the height of an unused node is -1
PARENT, LEFT, RIGHT, HEIGHT = range(4)
LINKS = 4
#: state of a tree: root or -1, first unused inner node or -1, number of leaves (PARENT links the unused nodes)
ROOT, FREE, LEAVES = range(3)
STATE = 3
BOX = 6  #: floats of a box: least corner, greatest corner
Box = tuple[float, float, float, float, float, float]


@inlined
def joined_area(boxes: Array, a: int, b: int) -> float:
    """Return half the surface area of the box that contains boxes a and b."""
    x = max(boxes[a, 3], boxes[b, 3]) - min(boxes[a, 0], boxes[b, 0])
    y = max(boxes[a, 4], boxes[b, 4]) - min(boxes[a, 1], boxes[b, 1])
    z = max(boxes[a, 5], boxes[b, 5]) - min(boxes[a, 2], boxes[b, 2])
    return float(x * y + y * z + z * x)


@inlined
def area(boxes: Array, a: int) -> float:
    """Return half the surface area of box a."""
    x, y, z = boxes[a, 3] - boxes[a, 0], boxes[a, 4] - boxes[a, 1], boxes[a, 5] - boxes[a, 2]
    return float(x * y + y * z + z * x)


@inlined
def fit(boxes: Array, links: Ints, node: int) -> bool:
    """Fit the box and the height of an inner node to its children; return whether either changed."""
    a, b = links[node, LEFT], links[node, RIGHT]
    changed = False
    for c in range(3):
        low, high = min(boxes[a, c], boxes[b, c]), max(boxes[a, 3 + c], boxes[b, 3 + c])
        changed = changed or low != boxes[node, c] or high != boxes[node, 3 + c]
        boxes[node, c], boxes[node, 3 + c] = low, high
    height = max(links[a, HEIGHT], links[b, HEIGHT]) + 1
    changed = changed or height != links[node, HEIGHT]
    links[node, HEIGHT] = height
    return changed


@kernel
def replace_child(links: Ints, state: Ints, parent: int, old: int, new: int) -> None:
    """Replace the child ``old`` of the node ``parent`` by ``new``. Without a parent, ``new`` becomes the root."""
    links[new, PARENT] = parent
    if parent < 0:
        state[ROOT] = new
    elif links[parent, LEFT] == old:
        links[parent, LEFT] = new
    else:
        links[parent, RIGHT] = new


@kernel
def balanced(boxes: Array, links: Ints, state: Ints, node: int) -> int:
    """Rotate a node if the heights of its children differ by two or more; return the node now in its place."""
    low, high = links[node, LEFT], links[node, RIGHT]
    if links[low, HEIGHT] > links[high, HEIGHT]:
        low, high = high, low
    if links[high, HEIGHT] - links[low, HEIGHT] < 2:
        return node
    # the higher child moves up, and its lower child becomes a child of the node
    taller, shorter = links[high, LEFT], links[high, RIGHT]
    if links[taller, HEIGHT] < links[shorter, HEIGHT]:
        taller, shorter = shorter, taller
    replace_child(links, state, links[node, PARENT], node, high)
    links[high, LEFT], links[high, RIGHT] = node, taller
    links[node, PARENT] = high
    links[node, LEFT], links[node, RIGHT] = low, shorter
    links[shorter, PARENT] = node
    fit(boxes, links, node)
    fit(boxes, links, high)
    return int(high)


@kernel
def mend(boxes: Array, links: Ints, state: Ints, node: int) -> None:
    """Fit and balance a node and its ancestors, up to the first node that does not change."""
    while node >= 0:
        changed = fit(boxes, links, node)
        top = balanced(boxes, links, state, node)
        if not changed and top == node:
            return
        node = links[top, PARENT]


@kernel
def best_sibling(boxes: Array, links: Ints, root: int, leaf: int) -> int:
    """Return the node that becomes the sibling of a new leaf, by a greedy descent to the least growth in area."""
    node = root
    while links[node, HEIGHT] > 0:
        joined = joined_area(boxes, node, leaf)
        grown = joined - area(boxes, node)  # growth of this node if the leaf is inserted anywhere below it
        a, b = links[node, LEFT], links[node, RIGHT]
        cost_a, cost_b = joined_area(boxes, a, leaf) + grown, joined_area(boxes, b, leaf) + grown
        if links[a, HEIGHT] > 0:
            cost_a -= area(boxes, a)
        if links[b, HEIGHT] > 0:
            cost_b -= area(boxes, b)
        if joined < cost_a and joined < cost_b:
            break
        node = a if cost_a < cost_b else b
    return int(node)


@kernel
def insert(boxes: Array, links: Ints, state: Ints, leaf: int) -> None:
    """Insert a leaf whose box is already written."""
    links[leaf, LEFT], links[leaf, RIGHT], links[leaf, HEIGHT] = -1, -1, 0
    state[LEAVES] += 1
    if state[ROOT] < 0:
        state[ROOT] = leaf
        links[leaf, PARENT] = -1
        return
    sibling = best_sibling(boxes, links, state[ROOT], leaf)
    node = state[FREE]
    state[FREE] = links[node, PARENT]
    replace_child(links, state, links[sibling, PARENT], sibling, node)
    links[node, LEFT], links[node, RIGHT] = sibling, leaf
    links[sibling, PARENT] = node
    links[leaf, PARENT] = node
    links[node, HEIGHT] = -1  # so that `mend` counts it as changed
    mend(boxes, links, state, node)


@kernel
def remove(boxes: Array, links: Ints, state: Ints, leaf: int) -> None:
    """Remove a leaf from the tree."""
    state[LEAVES] -= 1
    parent = links[leaf, PARENT]
    links[leaf, HEIGHT] = -1
    if parent < 0:
        state[ROOT] = -1
        return
    sibling = links[parent, RIGHT] if links[parent, LEFT] == leaf else links[parent, LEFT]
    above = links[parent, PARENT]
    replace_child(links, state, above, parent, sibling)
    links[parent, HEIGHT] = -1
    links[parent, PARENT] = state[FREE]
    state[FREE] = parent
    mend(boxes, links, state, above)


@inlined
def holds(boxes: Array, node: int, box: Box) -> bool:
    """Return whether the box of a node contains ``box``."""
    return bool(
        boxes[node, 0] <= box[0]
        and boxes[node, 1] <= box[1]
        and boxes[node, 2] <= box[2]
        and boxes[node, 3] >= box[3]
        and boxes[node, 4] >= box[4]
        and boxes[node, 5] >= box[5]
    )


@entry
def put_boxes(boxes: Array2, leaves: Ints1, fresh: Array2) -> None:
    """Set the boxes of leaves to the rows of ``fresh``. The boxes of inner nodes do not change."""
    for k in range(leaves.shape[0]):
        for c in range(6):
            boxes[leaves[k], c] = fresh[k, c]


@entry
def insert_many(boxes: Array2, links: Ints2, state: Ints1, leaves: Ints1, fresh: Array2) -> None:
    """Insert leaves with the boxes ``fresh``."""
    for k in range(leaves.shape[0]):
        for c in range(6):
            boxes[leaves[k], c] = fresh[k, c]
        insert(boxes, links, state, leaves[k])


@entry
def remove_many(boxes: Array2, links: Ints2, state: Ints1, leaves: Ints1) -> None:
    """Remove leaves from the tree."""
    for k in range(leaves.shape[0]):
        remove(boxes, links, state, leaves[k])


@kernel
def move_leaf(boxes: Array, links: Ints, state: Ints, leaf: int, box: Box) -> None:
    """Set the box of a leaf, and insert the leaf again unless its new box is inside the box of its grandparent."""
    above = links[leaf, PARENT]
    if above >= 0 and links[above, PARENT] >= 0:
        above = links[above, PARENT]
    fits = above < 0 or holds(boxes, above, box)
    if not fits:
        remove(boxes, links, state, leaf)
    boxes[leaf, 0], boxes[leaf, 1], boxes[leaf, 2], boxes[leaf, 3], boxes[leaf, 4], boxes[leaf, 5] = box
    if fits:
        mend(boxes, links, state, links[leaf, PARENT])
    else:
        insert(boxes, links, state, leaf)


@entry
def move_many(boxes: Array2, links: Ints2, state: Ints1, leaves: Ints1, fresh: Array2) -> None:
    """Set the boxes of leaves to the rows of ``fresh``, and insert leaves again that moved far, see `move_leaf`."""
    for k in range(leaves.shape[0]):
        box = (fresh[k, 0], fresh[k, 1], fresh[k, 2], fresh[k, 3], fresh[k, 4], fresh[k, 5])
        move_leaf(boxes, links, state, leaves[k], box)


@entry
def refit(boxes: Array2, links: Ints2, state: Ints1, order: Ints1) -> float:
    """Fit all inner nodes to moved leaves; return the search cost, half the sum of the inner nodes' surface areas.

    ``order`` is scratch for all inner nodes.
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


BINS = 16  #: bins along an axis
BIN = 7  #: floats of a bin: a box, and the number of leaves
SPAN = 4  #: ints of a pending node: first leaf, end of its leaves, parent, column of the parent's link to it


@kernel
def box_round(boxes: Array, order: Ints, start: int, stop: int, node: int) -> None:
    """Write the box around the leaves ``order[start:stop]`` to the row of a node in ``boxes``."""
    for c in range(3):
        boxes[node, c], boxes[node, 3 + c] = inf, -inf
    for k in range(start, stop):
        leaf = order[k]
        for c in range(3):
            boxes[node, c] = min(boxes[node, c], boxes[leaf, c])
            boxes[node, 3 + c] = max(boxes[node, 3 + c], boxes[leaf, 3 + c])


@kernel
def widest(boxes: Array, order: Ints, start: int, stop: int) -> tuple[int, float, float]:
    """Return the axis along which the box centres of leaves spread most, and two numbers for this axis.

    The numbers are twice the least coordinate of a centre, and twice the range of the centres' coordinates.
    """
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
    """Enlarge bin k so that it contains the box of a node."""
    for c in range(3):
        bins[k, c] = min(bins[k, c], boxes[node, c])
        bins[k, 3 + c] = max(bins[k, 3 + c], boxes[node, 3 + c])


@kernel
def cut(boxes: Array, order: Ints, start: int, stop: int, bins: Array, costs: Array) -> int:
    """Reorder ``order[start:stop]`` into two groups of leaves; return the index at which the second group starts.

    ``bins`` and ``costs`` are scratch.
    """
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
    # the first sweep computes the cost of the bins before each cut, and the second adds that of the bins after it; the
    # last row of ``bins`` is scratch
    for sweep in range(2):
        for c in range(3):
            bins[BINS, c], bins[BINS, 3 + c] = inf, -inf
        count = 0.0
        for r in range(BINS - 1):
            k = r if sweep == 0 else BINS - 1 - r
            if bins[k, 6] > 0.0:
                grow(bins, BINS, bins, k)
                count += bins[k, 6]
            cost = count * area(bins, BINS) if count > 0.0 else inf
            if sweep == 0:
                costs[k] = cost
            else:
                costs[k - 1] += cost
    best, at = inf, -1
    for k in range(BINS - 1):
        if costs[k] < best:
            best, at = costs[k], k
    if at < 0:
        return half
    front, rear = start, stop - 1
    while front <= rear:
        leaf = order[front]
        if int((boxes[leaf, axis] + boxes[leaf, 3 + axis] - least) * scale) <= at:
            front += 1
        else:
            order[front], order[rear] = order[rear], leaf
            rear -= 1
    return front


@entry
def build(
    boxes: Array2, links: Ints2, state: Ints1, order: Ints1, count: int, capacity: int, waiting: Ints2, bins: Array2,
    costs: Array1,
) -> float:  # fmt: skip
    """Build the tree of the first ``count`` leaves of ``order``; return half the sum of the inner nodes' surface areas.

    ``capacity`` is the number of nodes for leaves. ``waiting`` (count + 1, SPAN), ``bins`` (BINS + 1, BIN) and
    ``costs`` (BINS) are scratch.
    """
    for k in range(capacity):
        links[k, HEIGHT] = -1
    state[ROOT], state[LEAVES] = -1, count
    used, top = capacity, 0
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
    for node in range(used - 1, capacity - 1, -1):  # children have higher indices than their parents
        links[node, HEIGHT] = max(links[links[node, LEFT], HEIGHT], links[links[node, RIGHT], HEIGHT]) + 1
    last = 2 * capacity - 1
    for node in range(used, last):
        links[node, HEIGHT] = -1
        links[node, PARENT] = node + 1 if node + 1 < last else -1
    state[FREE] = used if used < last else -1
    return total


# --- searches --------------------------------------------------------------------------------------------------------


_PAD = 3e-14  #: enlargement of a box for rays, relative to its distance from the ray's origin: four times the error


@inlined
def near(p: Array, a: int, q: Array, b: int, within: float) -> bool:
    """Return whether box a of ``p`` and box b of ``q`` are at most ``within`` apart along every axis.

    Rounding never hides a pair.
    """
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
    """Replace the pair of nodes in row ``top`` of the stack by pairs one level below whose boxes are near.

    Both nodes are in the same tree. Only the node of greater height is replaced by its children. A pair of a node and
    itself is replaced by the pairs of its children. A pair of leaves is removed. Returns the number of pairs on the
    stack, and whether the pair consisted of two different leaves.
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
    """Write near pairs of leaves to ``pairs``; return their number, and the number of node pairs left on the stack.

    Boxes of near leaves are at most ``within`` apart along every axis. The stack starts with the pair of the root and
    itself. It needs 3 rows for each level of the tree, and 3 more. The number of node pairs on the stack at the start
    of the call is ``top``.
    """
    count = 0
    while top > 0 and count < pairs.shape[0]:
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
    """Replace the pair in row ``top`` of the stack, nodes of two trees, by near pairs one level below, as `split` does.

    Returns the number of pairs on the stack, and whether the replaced pair consisted of two leaves.
    """
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
    """Return whether ray k may hit the box of a node within the distance ``far``. The box is enlarged for rounding."""
    pad = 0.0
    for c in range(3):
        pad += _PAD * (abs(boxes[node, c] - starts[k, c]) + abs(boxes[node, 3 + c] - starts[k, c]))
    # directions are unit vectors, so the enlarged box moves the entry by at least the padding
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
    """Write pairs of a ray and a leaf that it may hit to ``pairs``, starting with ray ``first``.

    ``top`` is the number of nodes that an earlier call left on the stack for ray ``first``, or 0.

    Returns the number of pairs, the ray at which the next call continues, and the number of nodes left on the stack
    for that ray. The stack needs a row for each level of the tree, and one more.
    """
    count = 0
    ray = first
    while ray < starts.shape[0]:
        if top == 0 and along_ray(boxes, root, starts, directions, ray, far):
            stack[0, 0] = root
            top = 1
        while top > 0:
            if count == pairs.shape[0]:
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


# --- the tree as an object -------------------------------------------------------------------------------------------


_CHUNK = 65536  #: most pairs of a kernel call
_FEW = 8  #: leaves are inserted or moved one by one if they are less than this fraction (1 / 8) of all leaves
_WORSE = 1.3  #: growth of the sum of surface areas, above which a tree is built again


def box_gaps(a: Array, b: Array) -> Array:
    """Return the distance, (n,), of each box of ``a`` from the box in the same row of ``b``, both (n, 6)."""
    gaps = np.maximum(np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:]), 0.0)
    lengths: Array = np.sqrt((gaps * gaps).sum(axis=1))
    return lengths


class Tree:
    """A tree of leaves with axis-aligned boxes. The caller numbers the leaves from 0, without large gaps."""

    __slots__ = ("_capacity", "_changes", "_cost", "boxes", "links", "state")
    boxes: Array
    links: Ints
    state: Ints

    def __init__(self, capacity: int = 0) -> None:
        self._cost, self._changes, self._capacity = 0.0, 0, 0
        self.boxes, self.links = np.zeros((0, BOX)), np.zeros((0, LINKS), dtype=np.int64)
        self.state = np.array([-1, -1, 0], dtype=np.int64)
        assert len(self.state) == STATE
        self.reserve(capacity)

    def __len__(self) -> int:
        return int(self.state[LEAVES])

    @property
    def leaves(self) -> Ints:
        """The indices of all leaves, ascending."""
        numbers: Ints = np.flatnonzero(self.links[: self._capacity, HEIGHT] == 0)
        return numbers

    @property
    def bounds(self) -> Array:
        """The box around all leaves, (6,) float. Without leaves it is from infinity to minus infinity."""
        root = int(self.state[ROOT])
        return np.repeat((inf, -inf), 3) if root < 0 else self.boxes[root].copy()

    def reserve(self, capacity: int) -> None:
        """Enlarge the arrays so that leaves may have indices below ``capacity``."""
        if capacity <= self._capacity:
            return
        capacity = max(capacity, 2 * self._capacity, 16)
        leaves, boxes = self.leaves, self.boxes
        self.boxes, self.links = np.zeros((2 * capacity, BOX)), np.full((2 * capacity, LINKS), -1, dtype=np.int64)
        self.boxes[leaves], self._capacity = boxes[leaves], capacity
        self._build(leaves)

    def _build(self, leaves: Ints) -> None:
        """Build the tree of leaves whose boxes are already written."""
        waiting = np.empty((len(leaves) + 1, SPAN), dtype=np.int64)
        self._cost = build(
            self.boxes, self.links, self.state, leaves, len(leaves), self._capacity, waiting,
            np.empty((BINS + 1, BIN)), np.empty(BINS),
        )  # fmt: skip
        self._changes = 0

    def changed(self, count: int) -> None:
        """Add ``count`` to the number of single changes, and rebuild the tree if this exceeds about half of the leaves.

        A single change inserts, removes or moves one leaf, and makes the tree worse. A caller that moves leaves by
        `move_leaf` must call this method first.
        """
        self._changes += count
        if 2 * self._changes > self.state[LEAVES] + 16:
            self._build(self.leaves)

    def insert(self, leaves: Ints, boxes: Array) -> None:
        """Insert new leaves with boxes (m, 6)."""
        if not len(leaves):
            return
        self.reserve(int(leaves.max()) + 1)
        if len(leaves) * _FEW < len(self):
            insert_many(self.boxes, self.links, self.state, leaves, boxes)
            self.changed(len(leaves))
            return
        before = self.leaves
        put_boxes(self.boxes, leaves, boxes)
        self._build(np.concatenate([before, leaves]))

    def remove(self, leaves: Ints) -> None:
        """Remove leaves from the tree."""
        remove_many(self.boxes, self.links, self.state, leaves)
        self.changed(len(leaves))

    def move(self, leaves: Ints, boxes: Array) -> None:
        """Set the boxes of leaves, (m, 6). The tree is restructured or built again if they move far."""
        if len(leaves) * _FEW < self.state[LEAVES]:
            move_many(self.boxes, self.links, self.state, leaves, boxes)
            self.changed(len(leaves))
            return
        put_boxes(self.boxes, leaves, boxes)
        cost = refit(self.boxes, self.links, self.state, np.empty(self._capacity, dtype=np.int64))
        if not cost <= _WORSE * self._cost:
            self._build(self.leaves)

    # --- searches ------------------------------------------------------------------------------------------------

    def pairs(self, within: float = 0.0, block_size: int = _CHUNK) -> Iterator[Ints]:
        """Yield blocks of pairs of leaves, (m, 2), whose boxes are at most ``within`` apart along every axis.

        Each pair occurs once. The order of the two leaves and the order of the pairs depend on the tree.
        """
        root = int(self.state[ROOT])
        if len(self) < 2:
            return
        stack = np.empty((3 * int(self.links[root, HEIGHT]) + 3, 2), dtype=np.int64)
        stack[0] = root
        top = 1
        while top > 0:
            out = np.empty((block_size, 2), dtype=np.int64)
            count, top = pairs_within(self.boxes, self.links, within, stack, top, out)
            yield out[:count]

    def along_rays(
        self, starts: Array, directions: Array, far: float = inf, block_size: int = _CHUNK
    ) -> Iterator[Ints]:
        """Yield blocks of pairs, (m, 2): the index of a ray, and of a leaf whose box the ray may hit.

        ``directions`` are unit vectors. Boxes farther than ``far`` are ignored.
        """
        root = int(self.state[ROOT])
        if root < 0:
            return
        stack = np.empty((int(self.links[root, HEIGHT]) + 2, 2), dtype=np.int64)
        ray, top = 0, 0
        while ray < len(starts):
            out = np.empty((block_size, 2), dtype=np.int64)
            count, ray, top = along_rays(self.boxes, self.links, root, starts, directions, far, ray, stack, out, top)
            yield out[:count]
