"""Scenes as kernels take them: shapes, slots, boxes in a tree, and half-spaces, which have none."""

from __future__ import annotations

from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT, move_leaf
from gjk3d.broad.search import near
from gjk3d.convex.solve import placed_box
from gjk3d.geometry.vec3 import dot, offset, turn
from gjk3d.narrow.cores import Cores, cores_at
from gjk3d.narrow.pairs import SIDES, comes_later, normal_of
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of a shape: where its ints and its floats begin, its rank, whether its box is that of the ball, and whether
#: it is one that kernels answer, or what
_INTS, _FLOATS, _RANK, _BALL, ASIDE = range(5)
ANSWERED_ASIDE, HALF_SPACE = 1, 2
WIDER = 1.0 + 1e-8  #: of a distance that is asked for: the narrow phase is off by less
#: of a height over a plane, relative to the numbers it is computed from. It is more than `rounding_error` and the
#: rounding of the height together; `RESIDUAL` is the same for the residual of the pose of the plane.
ROUNDING, RESIDUAL = 1e-13, 8.0


class Shapes(NamedTuple):
    """All distinct shapes behind each other, and a row of ``table`` each."""

    ints: Ints1
    floats: Array1
    table: Ints2


class Side(NamedTuple):
    """A scene: by slot the numbers of shapes, poses and groups; its tree; and slots of half-spaces, which have no box.

    The numbers of its shapes are shifted by ``shift``, 0 but for the second of two scenes. ``fresh`` is a slot that has
    a new pose, -1 for none.
    """

    which: Ints1
    rows: Array2
    bits: Ints2
    boxes: Array2
    links: Ints2
    state: Ints1
    floors: Ints1
    shift: int
    fresh: int


@inlined
def wider(within: float) -> float:
    """Return how far boxes may be apart of what the narrow phase might not prove to be farther apart than that."""
    return within * WIDER if within > 0.0 else 0.0


@inlined
def number_at(side: Side, slot: int) -> int:
    """Return the number of the shape in a slot."""
    return int(side.which[slot] + side.shift)


@kernel
def core_of(shapes: Shapes, number: int) -> Core:
    """Return a shape by its number."""
    return Core(shapes.ints[shapes.table[number, _INTS] :], shapes.floats[shapes.table[number, _FLOATS] :])


@kernel
def cores_of_two(shapes: Shapes, a: int, row_a: Array, b: int, row_b: Array) -> tuple[Cores, bool]:
    """Return the cores of two shapes in the order the kernels see them, and whether that is turned round."""
    first, second = shapes.table[a, _RANK], shapes.table[b, _RANK]
    core_a, core_b = core_of(shapes, a), core_of(shapes, b)
    if first > second or (first == second and comes_later(row_a, row_b)):
        return cores_at(core_b, row_b, core_a, row_a), True
    return cores_at(core_a, row_a, core_b, row_b), False


@inlined
def is_allowed(keys: Ints, i: int, j: int) -> bool:
    """Tell whether the key of two slots is among these, which are in order."""
    key = (min(i, j) << 31) | max(i, j)
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return bool(low < keys.shape[0] and keys[low] == key)


@kernel
def place(shapes: Shapes, side: Side) -> None:
    """Fit the box of what has a new pose, if anything has; give its leaf a new place, if it has one."""
    slot = side.fresh
    if slot < 0:
        return
    number = number_at(side, slot)
    box = placed_box(core_of(shapes, number), shapes.table[number, _BALL] != 0, side.rows, slot)
    if side.links[slot, HEIGHT] == 0:
        move_leaf(side.boxes, side.links, side.state, slot, box)
    else:
        b = side.boxes
        b[slot, 0], b[slot, 1], b[slot, 2], b[slot, 3], b[slot, 4], b[slot, 5] = box


@kernel
def over_floor(shapes: Shapes, side: Side, floor: int, other: Side, node: int) -> float:
    """Return how far above a half-space a box is at least, or how far from a plane that is solid on neither side."""
    core, row = core_of(shapes, number_at(side, floor)), side.rows[floor]
    n = turn(row, normal_of(core))
    away = core.floats[FLOAT_HEAD + 3]
    limit = away + dot(n, offset(row))
    # the terms of ``limit`` may cancel: along the plane its pose may be far from everything
    least, most, size = -limit, -limit, abs(away) + abs(row[9]) + abs(row[10]) + abs(row[11])
    for c in range(3):
        low, high = other.boxes[node, c], other.boxes[node, 3 + c]
        least += min(low * n[c], high * n[c])
        most += max(low * n[c], high * n[c])
        size += abs(low) + abs(high)
    if core.floats[SIDES] > 1.0:
        least = max(least, -most)
    # seven products and sums of terms up to the size, and a normal that is off by the residual of its pose
    return float(least - (ROUNDING + RESIDUAL * row[12]) * size)


@kernel
def cores_on_floor(shapes: Shapes, side: Side, floor: int, other: Side, slot: int) -> Cores:
    """Return the cores of a half-space and what is above it."""
    first, second = core_of(shapes, number_at(side, floor)), core_of(shapes, number_at(other, slot))
    return cores_at(first, side.rows[floor], second, other.rows[slot])


@inlined
def first_above(other: Side, one: int, stack: Ints) -> int:
    """Begin a stack with one slot, or a root; return its height."""
    stack[0, 0] = one if one >= 0 else other.state[ROOT]
    return 1 if stack[0, 0] >= 0 else 0


@inlined
def descend(links: Ints, node: int, stack: Ints, top: int) -> tuple[int, bool]:
    """Put the children of a node on a stack, unless it is a leaf or none; return its height, and whether it is."""
    if links[node, HEIGHT] <= 0:
        return top, True
    stack[top, 0], stack[top + 1, 0] = links[node, LEFT], links[node, RIGHT]
    return top + 2, False


@kernel
def first_nodes(a: Side, b: Side, one: int, within: float, stack: Ints) -> int:
    """Begin a stack with both roots, or one slot in place of the second; return its height, 0 if they are apart."""
    i, j = a.state[ROOT], one if one >= 0 else b.state[ROOT]
    stack[0, 0], stack[0, 1] = i, j
    if i < 0 or j < 0 or not near(a.boxes, i, b.boxes, j, within):
        return 0
    return 1
