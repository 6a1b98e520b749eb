"""A tree of triangles whose nodes have eight boxes in float32, for many rays and points (Wald, Benthin, Boulos 2008).

Boxes and the corners in the leaves only discard triangles. A query adds more than their rounding and its own. The
vertices of the mesh in float64 alone decide the results, so the bits do not depend on the order of the visits.

The tree is collapsed from a binary tree of `gjk3d.bodies.bvh`: a node opens its largest descendants until it has eight,
and a descendant of at most eight triangles is a leaf. Boxes are in units of a power of two that brings the coordinates
of the mesh near 1, where float32 has its range.
"""

from __future__ import annotations

from math import frexp, ldexp, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels import addresses as views
from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d._kernels.vectors import LANES
from gjk3d.bodies.bvh import gathered, parted
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.part_tree import DEEPEST
from gjk3d.narrow.workspace import per_thread
from gjk3d.typing import Array, Array2, Floats32_1, Floats32_3, Ints, Ints1, Ints2, Ints32_2

#: more than the waiting nodes of a traversal, which are up to seven at each level
STACK = (LANES - 1) * DEEPEST + LANES
FLOATS32 = STACK + 2 * LANES  #: of a `WideStack`
HEAD = 14  #: integers of `head_of`
PADDING = 1e-6  #: of the box of a mesh: more than its rounding to float32, in units of the tree
_AFTER_LEAVES = 3  #: rows of `WideTree.frames`
_FARTHEST = 3e38  #: of a box without a child: its low corner is beyond its high corner


class WideTree(NamedTuple):
    """A tree with eight boxes per node, in arrays."""

    boxes: Floats32_3  #: (nodes, 6, 8): low corners by axis, then high corners
    children: Ints32_2  #: (nodes, 8): a node, -1 for none, or -2 - k for leaf k
    frames: Array2  #: (leaves + 3, 4): centre and radius of each leaf; scale and reach; corners of the box of the mesh
    corners: Floats32_3  #: (leaves, 9, 8): the corners of its triangles relative to its centre, NaN for none
    numbers: Ints32_2  #: (leaves, 8): the faces, -1 for none
    vertices: Array2  #: of the mesh, in its own unit
    faces: Ints2  #: of the mesh
    scale: float  #: units of the tree in the unit of the mesh
    reach: float  #: greatest coordinate, in the unit of the mesh


class WideStack(NamedTuple):
    """Scratch of a traversal."""

    nodes: Ints1  #: (`STACK`,)
    keys: Floats32_1  #: (`STACK`,)
    entries: Floats32_1  #: (8,) of the boxes of a node
    distances: Floats32_1  #: (8,) of the triangles of a leaf


def new_stack() -> WideStack:
    """Return the scratch of a traversal."""
    floats = (np.empty(count, np.float32) for count in (STACK, LANES, LANES))
    return WideStack(np.empty(STACK, np.int64), *floats)


stack_of_thread = per_thread(new_stack)


@inlined
def stack_in(nodes: Ints2, floats: Floats32_1) -> WideStack:
    """Return a `WideStack` made of the stack of another traversal and `FLOATS32` floats."""
    return WideStack(
        nodes.reshape(nodes.size), floats[:STACK], floats[STACK : STACK + LANES], floats[STACK + LANES : FLOATS32]
    )


def head_of(tree: WideTree) -> list[int]:
    """Return the addresses and lengths of the arrays of a tree, for arguments that have no room for all of them."""
    arrays: Any = tree[: HEAD // 2]
    return [number for array in arrays for number in (array.ctypes.data, len(array))]


@kernel
def tree_in(head: Ints) -> WideTree:
    """Return the wide tree whose arrays a head describes."""
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
    """Write the box of each node, low and high corner. Children come after their parents."""
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
    """Write up to eight descendants of a binary node, opened by the surface of their boxes, and return their number."""
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
    """Write the wide nodes and the binary nodes of the leaves, and return the numbers of both."""
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
    """Write the frames, corners and faces of the leaves."""
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
    """Return the wide tree of a mesh, which is cached. It is collapsed from the tree of the mesh if that is built."""
    tree = mesh._cache.get("tree")
    nodes = None if tree is None else (tree.order, tree.links)
    return mesh._cached("wide tree", lambda: wide_tree(mesh.vertices, mesh.faces, nodes))


def wide_tree(vertices: Array, faces: Ints, nodes: tuple[Ints, Ints] | None = None) -> WideTree:
    """Return a wide tree over triangles. ``nodes`` are the order and the links of a binary tree over them, if any."""
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
