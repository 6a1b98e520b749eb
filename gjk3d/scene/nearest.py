"""Who is nearest: boxes, the tree and the narrow phase in one call of compiled code."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.search import meets, split, split_between
from gjk3d.narrow.cores import Cores, is_curved
from gjk3d.narrow.pairs import mirror, solve_plane
from gjk3d.narrow.room import Room
from gjk3d.narrow.solve import BEYOND, FLOATS, INTS, SIGNED, solve
from gjk3d.scene.sides import (
    ASIDE,
    Shapes,
    Side,
    cores_of_two,
    cores_on_floor,
    descend,
    first_above,
    first_nodes,
    is_allowed,
    number_at,
    over_floor,
    place,
    wider,
)
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

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
