"""Trees of boxes over the triangles of a mesh: binary for two meshes, and eight boxes wide for rays and points.

Both are plain arrays, built at the first query. Binary trees are split by the surface area heuristic with bins (Wald
2007). Each box is oriented along its triangles (Gottschalk, Lin, Manocha, OBBTree, 1996), unless the axis-aligned box
is not larger.

A binary node is a row of ``boxes`` and of ``links``. A box has its centre, half widths and three axes. A link has the
first child, or -1 for a leaf, the first triangle, and the number of triangles. The second child follows the first, and
children come after their parents. Triangles are in the order of the leaves, as nine floats each.

A node of the wide tree has eight boxes in float32 (Wald, Benthin, Boulos 2008). They are descendants of a binary node:
the largest one is replaced by its children until there are eight. A box of at most eight triangles is a leaf. Boxes
are in units of a power of two that brings the coordinates of the mesh near 1, in the middle of the range of float32.
The boxes and the float32 corners in the leaves only discard triangles, and a query pads them by more than all rounding.
Only the float64 vertices of the mesh decide the results, so the bits do not depend on the order of the visited nodes.
"""

from __future__ import annotations

from math import frexp, ldexp, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels import addresses as views
from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d._kernels.vectors import LANES
from gjk3d.bodies.base import DEEPEST, STACK, TriangleTree
from gjk3d.bodies.mesh import Mesh
from gjk3d.narrow.workspace import per_thread
from gjk3d.typing import Array, Array2, Floats32_1, Floats32_3, Ints, Ints1, Ints2, Ints32_2

# --- binary trees ----------------------------------------------------------------------------------------------------


LEAF = 2  #: greatest number of triangles in a leaf
BINS = 16
BOX = 15  #: count of the numbers of a box
_GROWN = 16.0 * 2.0**-52


@entry
def gather(vertices: Array2, faces: Ints2, corners: Array2, spans: Array2) -> None:
    """Write each triangle's coordinates into ``corners``, and its box's least and greatest corner into ``spans``."""
    for k in range(faces.shape[0]):
        a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
        for i in range(3):
            x, y, z = vertices[a, i], vertices[b, i], vertices[c, i]
            corners[k, i], corners[k, 3 + i], corners[k, 6 + i] = x, y, z
            spans[k, i], spans[k, 3 + i] = min(x, y, z), max(x, y, z)


@kernel
def _spread(order: Ints, spans: Array, start: int, stop: int) -> tuple[int, float, float]:
    """Return the axis along which the centres of some boxes spread most, and their least coordinate and range on it.

    The boxes are the rows ``order[start:stop]`` of ``spans``.
    """
    m0 = m1 = m2 = 1e308
    n0 = n1 = n2 = -1e308
    for k in range(start, stop):
        t = order[k]
        c0, c1, c2 = (
            0.5 * (spans[t, 0] + spans[t, 3]), 0.5 * (spans[t, 1] + spans[t, 4]), 0.5 * (spans[t, 2] + spans[t, 5])
        )  # fmt: skip
        m0, m1, m2, n0, n1, n2 = min(m0, c0), min(m1, c1), min(m2, c2), max(n0, c0), max(n1, c1), max(n2, c2)
    d0, d1, d2 = n0 - m0, n1 - m1, n2 - m2
    if d0 >= d1 and d0 >= d2:
        return 0, m0, d0
    if d1 >= d2:
        return 1, m1, d1
    return 2, m2, d2


@kernel
def _split(order: Ints, spans: Array, start: int, stop: int, axis: int, low: float, width: float, bins: Array) -> int:
    """Split ``order[start:stop]`` at the least cost of the surface area heuristic; return the start of the second part.

    If no split is found, ``start`` is returned.
    """
    for k in range(BINS):
        bins[k, 0] = bins[k, 1] = bins[k, 2] = 1e308
        bins[k, 3] = bins[k, 4] = bins[k, 5] = -1e308
        bins[k, 6] = 0.0
    # slightly less than BINS, so that the greatest centre falls into the last bin
    scale = BINS * (1.0 - 1e-9) / width
    for k in range(start, stop):
        t = order[k]
        place = min(BINS - 1, max(0, int((0.5 * (spans[t, axis] + spans[t, 3 + axis]) - low) * scale)))
        for i in range(3):
            bins[place, i] = min(bins[place, i], spans[t, i])
            bins[place, 3 + i] = max(bins[place, 3 + i], spans[t, 3 + i])
        bins[place, 6] += 1.0
    # from the right: bins[k, 7] is the cost of all bins after k
    l0 = l1 = l2 = 1e308
    h0 = h1 = h2 = -1e308
    count = 0.0
    for k in range(BINS - 1, 0, -1):
        l0, l1, l2 = min(l0, bins[k, 0]), min(l1, bins[k, 1]), min(l2, bins[k, 2])
        h0, h1, h2 = max(h0, bins[k, 3]), max(h1, bins[k, 4]), max(h2, bins[k, 5])
        count += bins[k, 6]
        d0, d1, d2 = h0 - l0, h1 - l1, h2 - l2
        bins[k - 1, 7] = count * (d0 * d1 + d1 * d2 + d2 * d0) if count > 0.0 else 0.0
        bins[k - 1, 8] = count
    l0 = l1 = l2 = 1e308
    h0 = h1 = h2 = -1e308
    count, best, cut = 0.0, 1e308, -1
    for k in range(BINS - 1):
        l0, l1, l2 = min(l0, bins[k, 0]), min(l1, bins[k, 1]), min(l2, bins[k, 2])
        h0, h1, h2 = max(h0, bins[k, 3]), max(h1, bins[k, 4]), max(h2, bins[k, 5])
        count += bins[k, 6]
        if count == 0.0 or bins[k, 8] == 0.0:
            continue
        d0, d1, d2 = h0 - l0, h1 - l1, h2 - l2
        cost = count * (d0 * d1 + d1 * d2 + d2 * d0) + bins[k, 7]
        if cost < best:
            best, cut = cost, k
    if cut < 0:
        return start
    i, j = start, stop - 1
    while i <= j:
        t = order[i]
        place = min(BINS - 1, max(0, int((0.5 * (spans[t, axis] + spans[t, 3 + axis]) - low) * scale)))
        if place <= cut:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@kernel
def _part(links: Ints, stack: Ints, top: int, used: int, middle: int) -> int:
    """Push both children of node ``stack[top]``, split at ``middle``, or halved if one is empty; return the new top."""
    node, start, stop, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
    if middle <= start or middle >= stop:
        middle = (start + stop) // 2
    links[node, 0] = used
    for k in range(2):
        stack[top + k, 0], stack[top + k, 3] = used + k, depth + 1
        stack[top + k, 1] = start if k == 0 else middle
        stack[top + k, 2] = middle if k == 0 else stop
    return top + 2


@entry
def build(spans: Array2, order: Ints1, most: int, links: Ints2, bins: Array2, stack: Ints2) -> int:
    """Write the ``links`` of nodes down to leaves of at most ``most`` boxes, and return the number of nodes.

    ``order`` has the indices of the boxes, and gets the order of the leaves. ``bins`` and ``stack`` are scratch.
    """
    used = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, order.shape[0], 0
    top = 1
    while top > 0:
        top -= 1
        node, start, stop, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        links[node, 0], links[node, 1], links[node, 2] = -1, start, stop - start
        if stop - start <= most:
            continue
        middle = start
        # the depth of unbalanced splits is limited, and halves below it bound the stack of the traversals
        if depth < DEEPEST - 64:
            axis, low, width = _spread(order, spans, start, stop)
            if width > 0.0:
                middle = _split(order, spans, start, stop, axis, low, width, bins)
        top = _part(links, stack, top, used, middle)
        used += 2
    return used


@kernel
def _principal(c: Array) -> None:
    """Write the principal axes of the symmetric matrix in rows 0-2 of ``c`` into rows 3-5, by Jacobi's rotations."""
    for i in range(3):
        for j in range(3):
            c[3 + i, j] = 1.0 if i == j else 0.0
    for _ in range(8):
        off = abs(c[0, 1]) + abs(c[0, 2]) + abs(c[1, 2])
        if off <= 1e-12 * (c[0, 0] + c[1, 1] + c[2, 2]):
            return
        for p in range(2):
            for q in range(p + 1, 3):
                if c[p, q] == 0.0:
                    continue
                theta = 0.5 * (c[q, q] - c[p, p]) / c[p, q]
                t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
                t = -t if theta < 0.0 else t
                cos = 1.0 / sqrt(t * t + 1.0)
                sin = t * cos
                for k in range(3):
                    x, y = c[p, k], c[q, k]
                    c[p, k], c[q, k] = cos * x - sin * y, sin * x + cos * y
                for k in range(3):
                    x, y = c[k, p], c[k, q]
                    c[k, p], c[k, q] = cos * x - sin * y, sin * x + cos * y
                    x, y = c[3 + p, k], c[3 + q, k]
                    c[3 + p, k], c[3 + q, k] = cos * x - sin * y, sin * x + cos * y


@kernel
def _enclose(corners: Array, start: int, stop: int, axes: Array, o: int, box: Array) -> float:
    """Write the box of some triangles along the axes in rows o to o + 2 of ``axes``; return 1/8 of its surface area."""
    for k in range(3):
        x, y, z = axes[o + k, 0], axes[o + k, 1], axes[o + k, 2]
        low, high = 1e308, -1e308
        for t in range(start, stop):
            a = x * corners[t, 0] + y * corners[t, 1] + z * corners[t, 2]
            b = x * corners[t, 3] + y * corners[t, 4] + z * corners[t, 5]
            c = x * corners[t, 6] + y * corners[t, 7] + z * corners[t, 8]
            low, high = min(low, a, b, c), max(high, a, b, c)
        middle = 0.5 * (low + high)
        # covers the rounding of the projections and the middle, and the error of orthonormality of the axes
        half = max(high - middle, middle - low) + _GROWN * max(abs(low), abs(high))
        box[3 + k] = half
        box[6 + 3 * k], box[7 + 3 * k], box[8 + 3 * k] = x, y, z
        axes[6, k] = middle
    for i in range(3):
        box[i] = axes[6, 0] * box[6 + i] + axes[6, 1] * box[9 + i] + axes[6, 2] * box[12 + i]
    far = abs(box[0]) + abs(box[1]) + abs(box[2])
    for k in range(3):
        box[3 + k] += _GROWN * (far + box[3] + box[4] + box[5])
    return float(box[3] * box[4] + box[4] * box[5] + box[5] * box[3])


@entry
def fit(corners: Array2, links: Ints2, boxes: Array2, work: Array2) -> None:
    """Write the oriented box of every node, or its axis-aligned box if this is not larger. ``work`` is scratch."""
    for i in range(3):
        for j in range(3):
            work[7 + i, j] = 1.0 if i == j else 0.0
    for node in range(boxes.shape[0]):
        start, count = links[node, 1], links[node, 2]
        stop = start + count
        mx = my = mz = 0.0
        for t in range(start, stop):
            mx += corners[t, 0] + corners[t, 3] + corners[t, 6]
            my += corners[t, 1] + corners[t, 4] + corners[t, 7]
            mz += corners[t, 2] + corners[t, 5] + corners[t, 8]
        f = 1.0 / (3.0 * count)
        mx, my, mz = f * mx, f * my, f * mz
        xx = xy = xz = yy = yz = zz = 0.0
        for t in range(start, stop):
            for k in range(0, 9, 3):
                x, y, z = corners[t, k] - mx, corners[t, k + 1] - my, corners[t, k + 2] - mz
                xx, xy, xz, yy, yz, zz = xx + x * x, xy + x * y, xz + x * z, yy + y * y, yz + y * z, zz + z * z
        work[0, 0], work[0, 1], work[0, 2] = xx, xy, xz
        work[1, 0], work[1, 1], work[1, 2] = xy, yy, yz
        work[2, 0], work[2, 1], work[2, 2] = xz, yz, zz
        # the eigenvectors of the covariance of all corners are the axes of the oriented box
        _principal(work)
        turned = _enclose(corners, start, stop, work, 3, boxes[node])
        straight = _enclose(corners, start, stop, work, 7, work[10])
        if not straight > turned:
            for k in range(BOX):
                boxes[node, k] = work[10, k]


@entry
def fit_straight(spans: Array2, links: Ints2, boxes: Array2) -> None:
    """Write the axis-aligned box of every node. ``spans`` has the order of the leaves; children come after parents."""
    for node in range(boxes.shape[0] - 1, -1, -1):
        first = links[node, 0]
        for c in range(3):
            low, high = 1e308, -1e308
            if first >= 0:
                for k in range(first, first + 2):
                    low, high = min(low, boxes[k, c] - boxes[k, 3 + c]), max(high, boxes[k, c] + boxes[k, 3 + c])
            else:
                for k in range(links[node, 1], links[node, 1] + links[node, 2]):
                    low, high = min(low, spans[k, c]), max(high, spans[k, 3 + c])
            boxes[node, c] = 0.5 * (low + high)
            boxes[node, 3 + c] = 0.5 * (high - low) + _GROWN * max(abs(low), abs(high))
        for c in range(9):
            boxes[node, 6 + c] = 1.0 if c % 4 == 0 else 0.0


@kernel
def _box_of(rows: Array, start: int, stop: int, box: Array) -> tuple[int, float, float]:
    """Write the box of the points ``rows[start:stop]``; return its longest axis, and its middle and width along it."""
    l0 = l1 = l2 = 1e308
    h0 = h1 = h2 = -1e308
    for k in range(start, stop):
        x, y, z = rows[k, 0], rows[k, 1], rows[k, 2]
        l0, l1, l2, h0, h1, h2 = min(l0, x), min(l1, y), min(l2, z), max(h0, x), max(h1, y), max(h2, z)
    box[0], box[1], box[2] = 0.5 * (l0 + h0), 0.5 * (l1 + h1), 0.5 * (l2 + h2)
    d0, d1, d2 = h0 - l0, h1 - l1, h2 - l2
    box[3] = 0.5 * d0 + _GROWN * max(abs(l0), abs(h0))
    box[4] = 0.5 * d1 + _GROWN * max(abs(l1), abs(h1))
    box[5] = 0.5 * d2 + _GROWN * max(abs(l2), abs(h2))
    for c in range(9):
        box[6 + c] = 1.0 if c % 4 == 0 else 0.0
    if d0 >= d1 and d0 >= d2:
        return 0, box[0], d0
    if d1 >= d2:
        return 1, box[1], d1
    return 2, box[2], d2


@kernel
def _halve(
    places: Array, order: Ints, start: int, stop: int, axis: int, middle: float, spare: Array, right: Ints
) -> int:
    """Move the points whose coordinate on ``axis`` is at most ``middle`` to the front; return the index after them.

    Only the points start to stop are moved, with their items of ``order``. ``spare`` and ``right`` are scratch.
    """
    # branchless, since the branch would be unpredictable
    low, high = start, 0
    for k in range(start, stop):
        x, y, z, n = places[k, 0], places[k, 1], places[k, 2], order[k]
        first = 1 if places[k, axis] <= middle else 0
        places[low, 0], places[low, 1], places[low, 2], order[low] = x, y, z, n
        spare[high, 0], spare[high, 1], spare[high, 2], right[high] = x, y, z, n
        low += first
        high += 1 - first
    for k in range(high):
        for c in range(3):
            places[low + k, c] = spare[k, c]
        order[low + k] = right[k]
    return low


@entry
def part_points(
    places: Array2, order: Ints1, most: int, links: Ints2, boxes: Array2, spare: Array2, right: Ints1, stack: Ints2
) -> int:
    """Split points at the centre of their box down to leaves of at most ``most``, and return the number of nodes.

    ``links`` and ``boxes`` of the nodes are written. ``places``, the points, and ``order``, their indices, get the
    order of the leaves. ``spare``, ``right`` and ``stack`` are scratch.
    """
    used = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, order.shape[0], 0
    top = 1
    while top > 0:
        top -= 1
        node, start, stop, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        links[node, 0], links[node, 1], links[node, 2] = -1, start, stop - start
        axis, at, width = _box_of(places, start, stop, boxes[node])
        if stop - start <= most:
            continue
        middle = start
        if depth < DEEPEST - 64 and width > 0.0:
            middle = _halve(places, order, start, stop, axis, at, spare, right)
        top = _part(links, stack, top, used, middle)
        used += 2
    return used


class Tree(NamedTuple):
    """Boxes over triangles in the format of this module."""

    boxes: Array  #: (nodes, 15)
    links: Ints  #: (nodes, 3)
    corners: Array  #: (m, 9) in the order of the leaves
    order: Ints  #: (m,) face of the mesh of each triangle
    reach: float  #: greatest absolute coordinate

    @property
    def arrays(self) -> TriangleTree:
        """The tree as the tuple of arrays that traversals accept."""
        return TriangleTree(self.boxes, self.links, self.corners)


#: arrays of an empty tree
NO_TREE = TriangleTree(np.zeros((0, BOX)), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 9)))


def tree_of(mesh: Mesh) -> Tree:
    """Return the tree of a mesh, cached."""
    return mesh._cached("tree", lambda: built(mesh.vertices, mesh.faces))


def boxes_at(mesh: Mesh, level: int) -> Array:
    """Return the corners (n, 8, 3) of the boxes at a level of the mesh's tree. The last axis of a box varies fastest.

    Level 0 is the box around the mesh. Leaves above the level are included.
    """
    tree = tree_of(mesh)
    nodes = np.zeros(1, dtype=np.int64)
    for _ in range(level):
        first = tree.links[nodes, 0]
        children = first[first >= 0]
        if not len(children):
            break
        nodes = np.concatenate([nodes[first < 0], children, children + 1])
    boxes = tree.boxes[nodes]
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    return boxes[:, None, :3] + (signs * boxes[:, None, 3:6]) @ boxes[:, 6:15].reshape(-1, 3, 3)


def refitted(tree: Tree, vertices: Array, faces: Ints) -> Tree:
    """Return a tree over the same faces with other vertices. It has the nodes of the given tree and new boxes."""
    corners = gathered(vertices, faces)[0][tree.order]
    return Tree(_fitted(corners, tree.links), tree.links, corners, tree.order, _reach(vertices))


def built(vertices: Array, faces: Ints) -> Tree:
    """Return a binary tree over triangles."""
    corners, spans = gathered(vertices, faces)
    order, links = parted(spans, LEAF)
    corners = corners[order]
    return Tree(_fitted(corners, links), links, corners, order, _reach(vertices))


def parted(spans: Array, most: int) -> tuple[Ints, Ints]:
    """Return the indices of boxes in the order of the leaves, and the links of the nodes.

    ``spans`` has the boxes, (n, 6). A leaf has at most ``most`` boxes.
    """
    order = np.arange(len(spans), dtype=np.int64)
    links = np.empty((2 * len(spans), 3), dtype=np.int64)
    stack = np.empty((2 * DEEPEST, 4), dtype=np.int64)
    count = build(spans, order, most, links, np.empty((BINS, 9)), stack)
    return order, links[:count].copy()


def parted_points(points: Array, most: int) -> tuple[Array, Ints, Ints, Array]:
    """Return points (n, 3) in the order of the leaves, their indices, and the links and the boxes of the nodes.

    A leaf has at most ``most`` points.
    """
    count = len(points)
    places, order = points.copy(), np.arange(count, dtype=np.int64)
    links, boxes = np.empty((2 * count, 3), dtype=np.int64), np.empty((2 * count, BOX))
    spare, right, stack = np.empty((count, 3)), np.empty(count, np.int64), np.empty((2 * DEEPEST, 4), np.int64)
    used = part_points(places, order, most, links, boxes, spare, right, stack)
    return places, order, links[:used], boxes[:used]  # the unused rows were never written, so they do not use memory


def straight(spans: Array, links: Ints) -> Array:
    """Return the axis-aligned boxes of the nodes, (nodes, 15). ``spans`` are in the order of the leaves."""
    boxes = np.empty((len(links), BOX))
    fit_straight(spans, links, boxes)
    return boxes


def fitted_to(points: Array) -> Array:
    """Return the oriented or axis-aligned box of some points (n, 3), whichever is smaller, (15,)."""
    box: Array = _fitted(np.hstack([points] * 3), np.array([[-1, 0, len(points)]]))[0]
    return box


def _fitted(corners: Array, links: Ints) -> Array:
    boxes = np.empty((len(links), BOX))
    fit(corners, links, boxes, np.empty((11, BOX)))
    return boxes


def gathered(vertices: Array, faces: Ints) -> tuple[Array, Array]:
    """Return the nine coordinates of each triangle, and the least and the greatest corner of its box."""
    corners, spans = np.empty((len(faces), 9)), np.empty((len(faces), 6))
    # writable, since read-only arrays would compile everything again
    points, triangles = vertices.view(), faces.view()
    if not points.flags.writeable:
        points, triangles = vertices.copy(), faces.copy()
    gather(points, triangles, corners, spans)
    return corners, spans


def _reach(vertices: Array) -> float:
    return float(np.abs(vertices).max())


def traversal_stack() -> Ints:
    """Return an empty stack for a traversal of two binary trees."""
    return np.empty((STACK, 2), dtype=np.int64)


# --- trees of eight boxes a node -------------------------------------------------------------------------------------


#: more than the waiting nodes of a traversal, which are up to seven at each level
WIDE_STACK = (LANES - 1) * DEEPEST + LANES
FLOATS32 = WIDE_STACK + 2 * LANES  #: number of float32 items of a `WideStack`
HEAD = 14  #: number of integers of `head_of`
PADDING = 1e-6  #: padding of the box of a mesh, more than its rounding to float32, in units of the tree
_AFTER_LEAVES = 3  #: number of rows of `WideTree.frames` after those of the leaves
_FARTHEST = 3e38  #: least coordinate of a box without a child, whose greatest coordinate is the negative


class WideTree(NamedTuple):
    """A tree with eight boxes per node, in arrays."""

    boxes: Floats32_3  #: (nodes, 6, 8): low corners by axis, then high corners
    children: Ints32_2  #: (nodes, 8): a node, -1 for none, or -2 - k for leaf k
    frames: Array2  #: (leaves + 3, 4): centre and radius of each leaf; scale and reach; corners of the box of the mesh
    corners: Floats32_3  #: (leaves, 9, 8): corners of a leaf's triangles relative to its centre, NaN for no triangle
    numbers: Ints32_2  #: (leaves, 8): face numbers of a leaf's triangles, -1 for no triangle
    vertices: Array2  #: vertices of the mesh, in its unit
    faces: Ints2  #: faces of the mesh
    scale: float  #: units of the tree per unit of the mesh
    reach: float  #: greatest absolute coordinate, in the unit of the mesh


class WideStack(NamedTuple):
    """Scratch of a traversal of a wide tree."""

    nodes: Ints1  #: (`WIDE_STACK`,)
    keys: Floats32_1  #: (`WIDE_STACK`,)
    entries: Floats32_1  #: (8,) distances of the boxes of a node
    distances: Floats32_1  #: (8,) distances of the triangles of a leaf


def new_stack() -> WideStack:
    """Return scratch for a traversal of a wide tree."""
    floats = (np.empty(count, np.float32) for count in (WIDE_STACK, LANES, LANES))
    return WideStack(np.empty(WIDE_STACK, np.int64), *floats)


stack_of_thread = per_thread(new_stack)


@inlined
def stack_in(nodes: Ints2, floats: Floats32_1) -> WideStack:
    """Return a `WideStack` whose arrays are views of ``nodes`` and ``floats``.

    ``nodes`` is the stack of another traversal, and ``floats`` has `FLOATS32` items.
    """
    return WideStack(
        nodes.reshape(nodes.size),
        floats[:WIDE_STACK],
        floats[WIDE_STACK : WIDE_STACK + LANES],
        floats[WIDE_STACK + LANES : FLOATS32],
    )


def head_of(tree: WideTree) -> list[int]:
    """Return the addresses and lengths of the arrays of a tree, from which `tree_in` builds the tree in a kernel."""
    arrays: Any = tree[: HEAD // 2]
    return [number for array in arrays for number in (array.ctypes.data, len(array))]


@kernel
def tree_in(head: Ints) -> WideTree:
    """Return the wide tree from the addresses and lengths of its arrays, see `head_of`."""
    frames, last = views.float_rows(head[4], head[5], 4), head[5] - _AFTER_LEAVES
    return WideTree(
        views.floats32(head[0], head[1], 6, LANES), views.ints32(head[2], head[3], LANES), frames,
        views.floats32(head[6], head[7], 9, LANES), views.ints32(head[8], head[9], LANES),
        views.float_rows(head[10], head[11], 3), views.int_rows(head[12], head[13], 3),
        frames[last, 0], frames[last, 1],
    )  # fmt: skip


@inlined
def row_of(array: Array, k: int) -> int:
    """Return the row index for item k of an array, 0 if the array has one row for all items."""
    return k if array.shape[0] > 1 else 0


@entry
def straight_boxes(spans: Array2, order: Ints1, links: Ints2, boxes: Array2) -> None:
    """Write the least and the greatest corner of each node's box into a row of ``boxes``. Children follow parents."""
    for node in range(links.shape[0] - 1, -1, -1):
        child = links[node, 0]
        for c in range(3):
            if child >= 0:
                boxes[node, c] = min(boxes[child, c], boxes[child + 1, c])
                boxes[node, 3 + c] = max(boxes[child, 3 + c], boxes[child + 1, 3 + c])
                continue
            low, high = 1e308, -1e308
            for k in range(links[node, 1], links[node, 1] + links[node, 2]):
                low, high = min(low, spans[order[k], c]), max(high, spans[order[k], 3 + c])
            boxes[node, c], boxes[node, 3 + c] = low, high


@kernel
def _open(node: int, links: Ints, boxes: Array, picked: Ints) -> int:
    """Write up to eight descendants of a binary node into ``picked``, and return their number.

    The descendant with the largest surface and more than eight triangles is replaced by its children until there are
    eight.
    """
    picked[0] = node
    count = 1
    while count < LANES:
        largest, place = -1.0, -1
        for k in range(count):
            child = picked[k]
            if links[child, 2] > LANES:
                x, y, z = (
                    boxes[child, 3] - boxes[child, 0], boxes[child, 4] - boxes[child, 1],
                    boxes[child, 5] - boxes[child, 2],
                )  # fmt: skip
                surface = x * y + y * z + z * x
                if surface > largest:
                    largest, place = surface, k
        if place < 0:
            break
        first = links[picked[place], 0]
        picked[place], picked[count] = first, first + 1
        count += 1
    return count


@entry
def collapse(
    links: Ints2, boxes: Array2, scale: float, wide: Floats32_3, children: Ints32_2, leaves: Ints1, todo: Ints1,
    picked: Ints1,
) -> tuple[int, int]:  # fmt: skip
    """Write wide nodes to ``wide`` and ``children``, the leaves' binary nodes to ``leaves``; return both counts."""
    nodes, done, leaf_count = 1, 0, 0
    todo[0] = 0
    while done < nodes:
        count = _open(todo[done], links, boxes, picked)
        for k in range(LANES):
            if k >= count:
                for c in range(3):
                    wide[done, c, k], wide[done, 3 + c, k] = _FARTHEST, -_FARTHEST
                children[done, k] = -1
                continue
            node = picked[k]
            for c in range(3):
                wide[done, c, k], wide[done, 3 + c, k] = boxes[node, c] * scale, boxes[node, 3 + c] * scale
            if links[node, 2] > LANES:
                children[done, k], todo[nodes] = nodes, node
                nodes += 1
            else:
                children[done, k], leaves[leaf_count] = -2 - leaf_count, node
                leaf_count += 1
        done += 1
    return nodes, leaf_count


@entry
def fill_leaves(
    triangles: Array2, order: Ints1, links: Ints2, boxes: Array2, scale: float, leaves: Ints1, tree: WideTree
) -> None:
    """Write into ``tree`` the centres and radii of the leaves, and the corners and face indices of their triangles."""
    for k in range(leaves.shape[0]):
        node = leaves[k]
        first, count = links[node, 1], links[node, 2]
        diagonal = 0.0
        for c in range(3):
            low, high = boxes[node, c] * scale, boxes[node, 3 + c] * scale
            tree.frames[k, c] = 0.5 * (low + high)
            diagonal += (high - low) * (high - low)
        tree.frames[k, 3] = 0.5 * sqrt(diagonal)
        for j in range(LANES):
            tree.numbers[k, j] = order[first + j] if j < count else -1
            for c in range(9):
                at = triangles[order[first + j], c] * scale - tree.frames[k, c % 3] if j < count else nan
                tree.corners[k, c, j] = at


def wide_tree_of(mesh: Mesh) -> WideTree:
    """Return the wide tree of a mesh, cached. It has the nodes of the mesh's binary tree if this tree is built."""
    tree = mesh._cache.get("tree")
    nodes = None if tree is None else (tree.order, tree.links)
    return mesh._cached("wide tree", lambda: wide_tree(mesh.vertices, mesh.faces, nodes))


def wide_tree(vertices: Array, faces: Ints, nodes: tuple[Ints, Ints] | None = None) -> WideTree:
    """Return a wide tree over triangles; ``nodes`` has the order and the links of a binary tree over them, if any."""
    triangles, spans = gathered(vertices, faces)
    order, links = nodes or parted(spans, LANES)
    boxes = np.empty((len(links), 6))
    straight_boxes(spans, order, links, boxes)
    reach = float(np.abs(vertices).max(initial=0.0))
    scale = ldexp(1.0, -frexp(reach)[1])
    most = max(1, len(links) // 2)
    wide, children = np.empty((most, 6, LANES), np.float32), np.empty((most, LANES), np.int32)
    leaves, scratch = np.empty(len(links), np.int64), (np.empty(most, np.int64), np.empty(LANES, np.int64))
    used, count = collapse(links, boxes, scale, wide, children, leaves, *scratch)
    tree = WideTree(
        wide[:used].copy(), children[:used].copy(), np.zeros((count + _AFTER_LEAVES, 4)),
        np.empty((count, 9, LANES), np.float32), np.empty((count, LANES), np.int32), vertices, faces, scale, reach,
    )  # fmt: skip
    tree.frames[count, :2] = scale, reach
    tree.frames[count + 1, :3] = wide[0, :3].min(axis=1).astype(np.float64) / scale - PADDING / scale
    tree.frames[count + 2, :3] = wide[0, 3:].max(axis=1).astype(np.float64) / scale + PADDING / scale
    fill_leaves(triangles, order, links, boxes, scale, leaves[:count], tree)
    return tree
