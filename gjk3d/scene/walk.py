"""Collisions and the nearest pair of a scene: boxes, tree and narrow phase in one call of compiled code.

`Shapes` and `Side` are a scene as the kernels take it: shapes, slots, boxes in a tree, and half-spaces, which have no
box.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT, move_leaf
from gjk3d.broad.search import meets, near, split, split_between
from gjk3d.convex.solve import placed_box
from gjk3d.geometry.vec3 import dot, offset, turn
from gjk3d.narrow.cores import Cores, cores_at, is_curved
from gjk3d.narrow.pairs import SIDES, above_plane, comes_later, mirror, normal_of, solve_plane
from gjk3d.narrow.room import Room, Solver
from gjk3d.narrow.solve import BEYOND, FLOATS, INTS, SIGNED, quick_collide, settle, solve
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of a shape: where its ints and its floats begin, its rank, whether its box is that of the ball, and whether
#: it is one that kernels answer, or what
_INTS, _FLOATS, _RANK, _BALL, ASIDE = range(5)
ANSWERED_ASIDE, HALF_SPACE = 1, 2
WIDER = 1.0 + 1e-8  #: of a distance that is asked for: the narrow phase is off by less
#: of a height over a plane, relative to the numbers it is computed from. It is more than `rounding_error` and the
#: rounding of the height together; `RESIDUAL` is the same for the residual of the pose of the plane.
HEIGHT_ROUNDING, RESIDUAL = 1e-13, 8.0


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
    return float(least - (HEIGHT_ROUNDING + RESIDUAL * row[12]) * size)


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


APART, MEETS, UNSURE = range(3)


@inlined
def told_of(shapes: Shapes, side: Side, i: int, other: Side, j: int, margin: float, solver: Solver) -> int:
    """Tell whether two slots with boxes meet."""
    a, b = number_at(side, i), number_at(other, j)
    if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
        return UNSURE
    c, _ = cores_of_two(shapes, a, side.rows[i], b, other.rows[j])
    told = quick_collide(c, margin, solver.room.simplex, side.rows[:0], i)
    return told if told != UNSURE else settle(c, margin, solver)


@inlined
def add(found: Ints, count: int, i: int, j: int, told: int) -> int:
    """Write a pair of slots and what is told of it behind those found; return how many are, -2 without room."""
    if told == APART:
        return count
    if count == found.shape[0]:
        return -2
    found[count, 0], found[count, 1], found[count, 2] = i, j, told
    return count + 1


@kernel
def on_floors(
    shapes: Shapes, side: Side, other: Side, one: int, keys: Ints, margin: float, any_will_do: bool, stack: Ints,
    found: Ints, count: int,
) -> int:  # fmt: skip
    """Do as `meeting` does with the half-spaces of a scene, and what of the other, or its slot ``one``, they reach."""
    within = wider(margin)
    for floor in side.floors:
        top = first_above(other, one, stack)
        while top > 0:
            top -= 1
            node = stack[top, 0]
            if over_floor(shapes, side, floor, other, node) > within:
                continue
            top, is_leaf = descend(other.links, node, stack, top)
            if not is_leaf or is_allowed(keys, floor, node) or not meets(side.bits, floor, other.bits, node):
                continue
            told = UNSURE
            if shapes.table[number_at(other, node), ASIDE] == 0:
                c = cores_on_floor(shapes, side, floor, other, node)
                above, error, _, _ = above_plane(c, side.rows[floor])
                told = APART if above - error > margin else MEETS
            if told == MEETS and any_will_do:
                return -1
            i, j = (node, floor) if side.shift > 0 else (floor, node)
            count = add(found, count, i, j, told)
            if count < 0:
                return count
    return count


@entry
def meeting(
    shapes: Shapes, a: Side, b: Side, one: int, keys: Ints1, margin: float, any_will_do: bool, solver: Solver,
    stack: Ints2, found: Ints2,
) -> int:  # fmt: skip
    """Write pairs of slots, of two scenes or of one with itself, that meet or may meet, and which; return how many.

    Where any will do it is -1 once two are known to meet; and it is -2 where there is no room for a pair. ``one`` is
    the only slot of the second scene that is asked about, if not negative. The numbers of the second scene's shapes are
    shifted; where that is by 0 it is the first one again, and its half-spaces are not told twice.
    """
    own, within = b.shift == 0, wider(margin)
    place(shapes, a)
    place(shapes, b)
    count, top = 0, first_nodes(a, b, one, within, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if own and one < 0:
            top, leaves = split(a.boxes, a.links, within, stack, top)
        else:
            top, leaves = split_between(a.boxes, a.links, b.boxes, b.links, within, stack, top)
        if not leaves or (own and (i == j or is_allowed(keys, i, j))) or not meets(a.bits, i, b.bits, j):
            continue
        told = told_of(shapes, a, i, b, j, margin, solver)
        if told == MEETS and any_will_do:
            return -1
        count = add(found, count, i, j, told)
        if count < 0:
            return count
    count = on_floors(shapes, a, b, one, keys, margin, any_will_do, stack, found, count)
    if count < 0:
        return count
    return on_floors(shapes, b, a, plain(-1), keys, margin, any_will_do, stack, found, count)


NONE, UNKNOWN = -1, -2


class Known(NamedTuple):
    """What is nearest so far: its rank, NONE or UNKNOWN, and how far what comes may be."""

    best: int
    least: float


class Answer(NamedTuple):
    """Where the nearest is written."""

    out: Array2
    flags: Ints2


@inlined
def gap(boxes: Array, i: int, others: Array, j: int) -> float:
    """Return how far apart two boxes are, or where they overlap minus by how much along the axis where that is least.

    What is in them is no nearer, and no deeper in each other.
    """
    square, least = 0.0, -inf
    for c in range(3):
        away = max(boxes[i, c] - others[j, 3 + c], others[j, c] - boxes[i, 3 + c])
        least = max(least, away)
        square += max(away, 0.0) * max(away, 0.0)
    return sqrt(square) if least > 0.0 else least


@inlined
def take_over(turned: bool, out: Array, flags: Ints) -> None:
    """Copy row 1 to row 0, of the pair as it was asked."""
    if turned:
        mirror(out, plain(1))
    for k in range(FLOATS):
        out[0, k] = out[1, k]
    for k in range(INTS):
        flags[0, k] = flags[1, k]


@kernel
def write_matrix(rows: Array, k: int, out: Array) -> None:
    """Write a pose row as sixteen numbers of a matrix."""
    for i in range(3):
        for j in range(3):
            out[4 * i + j] = rows[k, 3 * i + j]
        out[4 * i + 3], out[12 + i] = rows[k, 9 + i], 0.0
    out[15] = 1.0


@kernel
def order_last(boxes: Array, others: Array, stack: Ints, low: int, high: int) -> None:
    """Put the pair of nodes whose boxes are nearest last, of the two or three that are new on the stack."""
    for k in range(low, high - 1):
        here = gap(boxes, stack[k, 0], others, stack[k, 1])
        if here < gap(boxes, stack[high - 1, 0], others, stack[high - 1, 1]):
            a, b = stack[k, 0], stack[k, 1]
            stack[k, 0], stack[k, 1] = stack[high - 1, 0], stack[high - 1, 1]
            stack[high - 1, 0], stack[high - 1, 1] = a, b


@inlined
def improves(c: Cores, rank: int, best: int, least: float, out: Array, flags: Ints) -> int:
    """Tell whether the answer in row 1 is nearer than that in row 0, UNKNOWN where it is to be answered apart."""
    if out[1, 1] > least:
        return 0
    if flags[1, 3] != 0 or (flags[1, 2] == 0 and flags[1, 0] != BEYOND and not is_curved(c)):
        return UNKNOWN
    return int(best < 0 or out[1, 0] < out[0, 0] or (out[1, 0] == out[0, 0] and rank < best))


@kernel
def nearest_on_floors(
    shapes: Shapes, side: Side, other: Side, one: int, keys: Ints, ranks: Ints, ranks_other: Ints, known: Known,
    stack: Ints, answer: Answer,
) -> Known:  # fmt: skip
    """Do as `nearest` does with the half-spaces of a scene, and what of the other, or its slot ``one``, is above."""
    best, least = known.best, known.least
    out, flags = answer.out, answer.flags
    for floor in side.floors:
        top = first_above(other, one, stack)
        while top > 0:
            top -= 1
            node = stack[top, 0]
            above = over_floor(shapes, side, floor, other, node)
            if above > wider(least):
                continue
            top, is_leaf = descend(other.links, node, stack, top)
            if not is_leaf or is_allowed(keys, floor, node) or not meets(side.bits, floor, other.bits, node):
                continue
            a, b = number_at(side, floor), number_at(other, node)
            if shapes.table[b, ASIDE] != 0:
                return Known(UNKNOWN, least)
            if above > least and least < 0.0:
                continue
            # of one scene the lower rank comes first; of two the first scene
            own = side.shift == 0 and other.shift == 0
            flip = side.shift > 0 or (own and 0 <= ranks_other[node] < ranks[floor])
            c = cores_on_floor(shapes, side, floor, other, node)
            solve_plane(c, side.rows[floor], flip, SIGNED, max(least, 0.0), out, flags, plain(1))
            rank = (ranks[floor] << 31) | (ranks_other[node] + 1)
            if flip:
                rank = (ranks_other[node] << 31) | (ranks[floor] + 1)
            better = improves(c, rank, best, least, out, flags)
            if better == 1:
                best, least = rank, min(least, out[1, 0])
                i, j, a, b = (node, floor, b, a) if flip else (floor, node, a, b)
                flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
                take_over(False, out, flags)
    return Known(best, least)


@entry
def nearest(
    shapes: Shapes, side: Side, other: Side, one: int, keys: Ints1, within: float, both_ranks: tuple[Ints1, Ints1],
    room: Room, stack: Ints2, answer: Answer,
) -> int:  # fmt: skip
    """Write the nearest pair of slots, and in row 0 of ``out`` and ``flags`` its signed distance; of equals by rank.

    Returns 1, or NONE where all are proven to be farther apart than ``within``, and UNKNOWN where a pair is answered
    apart. Of one scene the slot of lower rank is the first; of a guest, whose rank is -1, the other one. Behind the
    answer the two rows of ``out`` get the two matrices, those of ``flags`` the slots and the numbers of their shapes;
    row 1 is scratch but for that. See `gjk3d.scene.walk.meeting` for the rest.
    """
    own, ranks, ranks_b, out, flags = other.shift == 0, both_ranks[0], both_ranks[1], answer.out, answer.flags
    boxes, links, rows, bits = side.boxes, side.links, side.rows, side.bits
    boxes_b, links_b, rows_b, bits_b = other.boxes, other.links, other.rows, other.bits
    place(shapes, side)
    place(shapes, other)
    best, least = NONE, within
    top = first_nodes(side, other, one, inf, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        away = gap(boxes, i, boxes_b, j)
        if away > wider(least):
            continue
        low = top
        if own and one < 0:
            top, leaves = split(boxes, links, inf, stack, top)
        else:
            top, leaves = split_between(boxes, links, boxes_b, links_b, inf, stack, top)
        order_last(boxes, boxes_b, stack, low, top)
        if not leaves or (own and (i == j or is_allowed(keys, i, j))) or not meets(bits, i, bits_b, j):
            continue
        if own and 0 <= ranks[j] < ranks[i]:
            i, j = j, i
        a, b = number_at(side, i), number_at(other, j)
        if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
            return UNKNOWN
        if away > least and least < 0.0:
            continue  # boxes are larger than what is in them by more than a depth is off
        c, turned = cores_of_two(shapes, a, rows[i], b, rows_b[j])
        solve(c, SIGNED, max(least, 0.0), 0.0, room, rows[:0], out, flags, plain(1))
        rank = (ranks[i] << 31) | (ranks_b[j] + 1)
        better = improves(c, rank, best, least, out, flags)
        if better < 0:
            return UNKNOWN
        if better == 1:
            best, least = rank, min(least, out[1, 0])
            flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
            take_over(turned, out, flags)
    known = nearest_on_floors(shapes, side, other, one, keys, ranks, ranks_b, Known(best, least), stack, answer)
    if known.best != UNKNOWN:
        known = nearest_on_floors(shapes, other, side, plain(-1), keys, ranks_b, ranks, known, stack, answer)
    if known.best < 0:
        return known.best
    write_matrix(rows, flags[0, INTS], out[0, FLOATS:])
    write_matrix(rows_b, flags[0, INTS + 1], out[1, FLOATS:])
    return 1
