"""Who meets whom, and who is nearest: boxes, the tree and the narrow phase in one call of compiled code."""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, ROOT, move_leaf
from gjk3d.broad.search import meets, near, split, split_between
from gjk3d.convex.boxes import placed_box
from gjk3d.narrow.cores import Cores, cores_at, is_curved
from gjk3d.narrow.pairs import mirror
from gjk3d.narrow.room import SIMPLEX, room_in
from gjk3d.narrow.solve import BEYOND, FLOATS, INTS, SIGNED, quick_collide, solve
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of a shape: where its ints and its floats begin, its rank, whether its box is that of the ball, and whether
#: its pairs are answered apart
_INTS, _FLOATS, _RANK, _BALL, _APART = range(5)
SHAPE = 5
APART, MEETS, UNSURE = range(3)
NONE, UNKNOWN = -1, -2
WIDER = 1.0 + 1e-8  #: of a distance that is asked for: the narrow phase is off by less


@inlined
def wider(within: float) -> float:
    """Return how far boxes may be apart of what the narrow phase might not prove to be farther apart than that."""
    return within * WIDER if within > 0.0 else 0.0


@kernel
def core_of(q: Ints, f: Array, shapes: Ints, number: int) -> Core:
    """Return a shape by its number."""
    return Core(q[shapes[number, _INTS] :], f[shapes[number, _FLOATS] :])


@kernel
def comes_later(p: Array, q: Array) -> bool:
    """Tell whether a pose comes after another, number by number."""
    for c in range(p.shape[0]):
        if p[c] != q[c]:
            return bool(p[c] > q[c])
    return False


@kernel
def cores_of_two(q: Ints, f: Array, shapes: Ints, a: int, row_a: Array, b: int, row_b: Array) -> tuple[Cores, bool]:
    """Return the cores of two shapes in the order the kernels see them, and whether that is turned round."""
    first, second = shapes[a, _RANK], shapes[b, _RANK]
    core_a, core_b = core_of(q, f, shapes, a), core_of(q, f, shapes, b)
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
def place(
    core: Core, ball: bool, rows: Array, boxes: Array, links: Ints, state: Ints, slot: int
) -> None:  # fmt: skip
    """Fit the box of what has a new pose, and give its leaf a new place, if it has one."""
    box = placed_box(core, ball, rows, slot)
    if links[slot, HEIGHT] == 0:
        move_leaf(boxes, links, state, slot, box)
    else:
        boxes[slot, 0], boxes[slot, 1], boxes[slot, 2], boxes[slot, 3], boxes[slot, 4], boxes[slot, 5] = box


@entry
def meeting(
    q: Ints1, f: Array1, shapes: Ints2,
    which: Ints1, rows: Array2, bits: Ints2, boxes: Array2, links: Ints2, state: Ints1, fresh: int,
    which_b: Ints1, rows_b: Array2, bits_b: Ints2, boxes_b: Array2, links_b: Ints2, state_b: Ints1, fresh_b: int,
    shift: int, one: int, keys: Ints1, margin: float, any_will_do: bool, work: Array1, stack: Ints2, found: Ints2,
) -> int:  # fmt: skip
    """Write pairs of slots, of two scenes or of one with itself, that meet or may meet, and which; return how many.

    Where any will do it is -1 once two are known to meet; and it is -2 where there is no room for a pair. ``fresh`` are
    slots that have new poses, if not negative, and ``one`` is the only one of the second scene that is asked about.
    The numbers of the second scene's shapes are shifted; where that is 0 it is the first one again.
    """
    if fresh >= 0:
        n = which[fresh]
        place(core_of(q, f, shapes, n), shapes[n, _BALL] != 0, rows, boxes, links, state, fresh)
    if fresh_b >= 0:
        n = which_b[fresh_b] + shift
        place(core_of(q, f, shapes, n), shapes[n, _BALL] != 0, rows_b, boxes_b, links_b, state_b, fresh_b)
    within, own = wider(margin), shift == 0
    simplex = work[:SIMPLEX].reshape(6, 10)
    count, top = 0, first_nodes(boxes, state, boxes_b, state_b, one, own, within, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if own and one < 0:
            top, leaves = split(boxes, links, within, stack, top)
        else:
            top, leaves = split_between(boxes, links, boxes_b, links_b, within, stack, top)
        if not leaves or (own and (i == j or is_allowed(keys, i, j))) or not meets(bits, i, bits_b, j):
            continue
        a, b = which[i], which_b[j] + shift
        told = UNSURE
        if shapes[a, _APART] == 0 and shapes[b, _APART] == 0:
            c, _ = cores_of_two(q, f, shapes, a, rows[i], b, rows_b[j])
            told = quick_collide(c, margin, simplex, rows[:0], i)
        if told == MEETS and any_will_do:
            return -1
        if told != APART:
            if count == found.shape[0]:
                return -2
            found[count, 0], found[count, 1], found[count, 2] = i, j, told
            count += 1
    return count


@kernel
def first_nodes(
    boxes: Array, state: Ints, boxes_b: Array, state_b: Ints, one: int, own: bool, within: float, stack: Ints
) -> int:
    """Begin a stack with both roots, or one slot in place of the second; return its height, 0 if they are apart."""
    a, b = state[ROOT], one if one >= 0 else state_b[ROOT]
    stack[0, 0], stack[0, 1] = a, b
    if a < 0 or b < 0 or not near(boxes, a, boxes_b, b, within):
        return 0
    return 1


@inlined
def gap(boxes: Array, i: int, others: Array, j: int) -> float:
    """Return how far apart two boxes are."""
    square = 0.0
    for c in range(3):
        away = max(boxes[i, c] - others[j, 3 + c], others[j, c] - boxes[i, 3 + c], 0.0)
        square += away * away
    return sqrt(square)


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


@entry
def nearest(
    q: Ints1, f: Array1, shapes: Ints2,
    which: Ints1, rows: Array2, bits: Ints2, boxes: Array2, links: Ints2, state: Ints1, fresh: int,
    which_b: Ints1, rows_b: Array2, bits_b: Ints2, boxes_b: Array2, links_b: Ints2, state_b: Ints1, fresh_b: int,
    shift: int, one: int, keys: Ints1, within: float, ranks: Ints1, ranks_b: Ints1, work: Array1, table: Ints1,
    points: int, stack: Ints2, out: Array2, flags: Ints2,
) -> int:  # fmt: skip
    """Write the nearest pair of slots, and in row 0 of ``out`` and ``flags`` its signed distance; of equals by rank.

    Returns 1, or NONE where all are proven to be farther apart than ``within``, and UNKNOWN where a pair is answered
    apart. Of one scene the slot of lower rank is the first; of a guest, whose rank is -1, the other one. Behind the
    answer the two rows of ``out`` get the two matrices, those of ``flags`` the slots and the numbers of their shapes;
    row 1 is scratch but for that. See `meeting` for the rest.
    """
    if fresh >= 0:
        n = which[fresh]
        place(core_of(q, f, shapes, n), shapes[n, _BALL] != 0, rows, boxes, links, state, fresh)
    if fresh_b >= 0:
        n = which_b[fresh_b] + shift
        place(core_of(q, f, shapes, n), shapes[n, _BALL] != 0, rows_b, boxes_b, links_b, state_b, fresh_b)
    own, room = shift == 0, room_in(work, table, points, work[:0])
    best, least = NONE, within
    top = first_nodes(boxes, state, boxes_b, state_b, one, own, inf, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if gap(boxes, i, boxes_b, j) > wider(least):
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
        a, b = which[i], which_b[j] + shift
        if shapes[a, _APART] != 0 or shapes[b, _APART] != 0:
            return UNKNOWN
        c, turned = cores_of_two(q, f, shapes, a, rows[i], b, rows_b[j])
        solve(c, SIGNED, max(least, 0.0), 0.0, room, rows[:0], out, flags, plain(1))
        if out[1, 1] > least:
            continue
        if flags[1, 3] != 0 or (flags[1, 2] == 0 and flags[1, 0] != BEYOND and not is_curved(c)):
            return UNKNOWN
        rank = (ranks[i] << 31) | (ranks_b[j] + 1)
        if best < 0 or out[1, 0] < out[0, 0] or (out[1, 0] == out[0, 0] and rank < best):
            best, least = rank, min(least, out[1, 0])
            flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
            take_over(turned, out, flags)
    if best < 0:
        return NONE
    write_matrix(rows, flags[0, INTS], out[0, FLOATS:])
    write_matrix(rows_b, flags[0, INTS + 1], out[1, FLOATS:])
    return 1
