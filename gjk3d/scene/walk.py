"""One object against all others: its box, its place in the tree and what it meets, in one call of compiled code."""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT, move_leaf
from gjk3d.broad.search import meets, near, split
from gjk3d.convex.boxes import placed_box
from gjk3d.narrow.cores import Cores, cores_at, is_curved
from gjk3d.narrow.pairs import later, mirror
from gjk3d.narrow.room import SIMPLEX, room_in
from gjk3d.narrow.solve import BEYOND, SIGNED, quick_collide, solve
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Array4, Ints, Ints1, Ints2

#: columns of a shape: where its ints and its floats begin, its rank, whether its box is that of the ball, and whether
#: its pairs are answered apart
_INTS, _FLOATS, _RANK, _BALL, _APART = range(5)
SHAPE = 5
#: what is to be done first: nothing, move the leaf, or fit the box alone, of what is no leaf
STANDS, MOVED, GUEST = range(3)
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
def cores_of_two(q: Ints, f: Array, shapes: Ints, which: Ints, rows: Array, i: int, j: int) -> tuple[Cores, bool]:
    """Return the cores of two slots in the order the kernels see them, and whether that is turned round."""
    first, second = shapes[which[i], _RANK], shapes[which[j], _RANK]
    turned = first > second or (first == second and later(rows, i, j))
    if turned:
        i, j = j, i
    a, b = core_of(q, f, shapes, which[i]), core_of(q, f, shapes, which[j])
    return cores_at(a, rows[i], b, rows[j]), turned


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
    q: Ints, f: Array, shapes: Ints, which: Ints, rows: Array, boxes: Array, links: Ints, state: Ints, slot: int,
    first: int,
) -> None:  # fmt: skip
    """Do what is to be done first: fit the box of a slot, and give its leaf a new place."""
    if first == STANDS:
        return
    number = which[slot]
    box = placed_box(core_of(q, f, shapes, number), shapes[number, _BALL] != 0, rows, slot)
    if first == MOVED:
        move_leaf(boxes, links, state, slot, box)
    else:
        boxes[slot, 0], boxes[slot, 1], boxes[slot, 2], boxes[slot, 3], boxes[slot, 4], boxes[slot, 5] = box


@entry
def meeting(
    q: Ints1, f: Array1, shapes: Ints2, which: Ints1, rows: Array2, bits: Ints2, keys: Ints1, boxes: Array2,
    links: Ints2, state: Ints1, slot: int, first: int, margin: float, any_will_do: bool, work: Array1, stack: Ints1,
    found: Ints2,
) -> int:  # fmt: skip
    """Write the leaves that an object meets, or may meet, and which of both; return how many.

    It is -1 once one is known to, where any will do.
    """
    within = wider(margin)
    simplex = work[:SIMPLEX].reshape(6, 10)
    place(q, f, shapes, which, rows, boxes, links, state, slot, first)
    apart = shapes[which[slot], _APART]
    count, top = 0, 0
    if state[ROOT] >= 0:
        stack[0] = state[ROOT]
        top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if not near(boxes, node, boxes, slot, within):
            continue
        if links[node, HEIGHT] > 0:
            stack[top], stack[top + 1] = links[node, LEFT], links[node, RIGHT]
            top += 2
            continue
        if node == slot or not meets(bits, node, bits, slot) or is_allowed(keys, node, slot):
            continue
        told = UNSURE
        if apart == 0 and shapes[which[node], _APART] == 0:
            c, _ = cores_of_two(q, f, shapes, which, rows, slot, node)
            told = quick_collide(c, margin, simplex, rows[:0], node)
        if told == MEETS and any_will_do:
            return -1
        if told != APART:
            found[count, 0], found[count, 1] = node, told
            count += 1
    return count


@entry
def any_meet(
    q: Ints1, f: Array1, shapes: Ints2, which: Ints1, rows: Array2, bits: Ints2, keys: Ints1, boxes: Array2,
    links: Ints2, state: Ints1, margin: float, work: Array1, stack: Ints2,
) -> int:  # fmt: skip
    """Return MEETS if any two objects are known to, UNSURE if any may, else APART; see `gjk3d.broad.search`."""
    within = wider(margin)
    simplex = work[:SIMPLEX].reshape(6, 10)
    answer, top = APART, 0
    if state[ROOT] >= 0:
        stack[0, 0], stack[0, 1] = state[ROOT], state[ROOT]
        top = 1
    while top > 0:
        top -= 1
        a, b = stack[top, 0], stack[top, 1]
        top, leaves = split(boxes, links, within, stack, top)
        if not leaves or not meets(bits, a, bits, b) or is_allowed(keys, a, b):
            continue
        told = UNSURE
        if shapes[which[a], _APART] == 0 and shapes[which[b], _APART] == 0:
            c, _ = cores_of_two(q, f, shapes, which, rows, a, b)
            told = quick_collide(c, margin, simplex, rows[:0], a)
        if told == MEETS:
            return MEETS
        answer = max(answer, told)
    return answer


@inlined
def gap(boxes: Array, i: int, j: int) -> float:
    """Return how far apart two boxes are."""
    square = 0.0
    for c in range(3):
        away = max(boxes[i, c] - boxes[j, 3 + c], boxes[j, c] - boxes[i, 3 + c], 0.0)
        square += away * away
    return sqrt(square)


@kernel
def descend(boxes: Array, links: Ints, stack: Ints, top: int, node: int, slot: int) -> int:
    """Put the children of a node on the stack, the one nearer to a slot's box last; return how high that is now."""
    left, right = links[node, LEFT], links[node, RIGHT]
    if gap(boxes, left, slot) < gap(boxes, right, slot):
        left, right = right, left
    stack[top], stack[top + 1] = left, right
    return top + 2


@inlined
def take_over(turned: bool, out: Array, flags: Ints) -> None:
    """Copy row 1 to row 0, of the pair as it was asked."""
    if turned:
        mirror(out, plain(1))
    for k in range(out.shape[1]):
        out[0, k] = out[1, k]
    for k in range(flags.shape[1]):
        flags[0, k] = flags[1, k]


@kernel
def write_matrix(rows: Array, k: int, out: Array) -> None:
    """Write a pose row as a matrix."""
    for i in range(3):
        for j in range(3):
            out[i, j] = rows[k, 3 * i + j]
        out[i, 3] = rows[k, 9 + i]
        out[3, i] = 0.0
    out[3, 3] = 1.0


@entry
def nearest(
    q: Ints1, f: Array1, shapes: Ints2, which: Ints1, rows: Array2, bits: Ints2, keys: Ints1, boxes: Array2,
    links: Ints2, state: Ints1, slot: int, first: int, within: float, ranks: Ints1, work: Array1, table: Ints1,
    points: int, stack: Ints1, out: Array2, flags: Ints2, told: Ints2, poses: Array4,
) -> int:  # fmt: skip
    """Return the leaf nearest to an object, its signed distance in row 0 of ``out`` and ``flags``; of equals by rank.

    It is NONE where all are proven to be farther than ``within``, and UNKNOWN where a pair is answered apart. A leaf
    that ranks below the slot is the first of the two; all do that are asked for a guest. ``told`` gets the two slots
    and the numbers of their shapes, ``poses`` (1, 2, 4, 4) where they are; there is scratch in the last rows.
    """
    place(q, f, shapes, which, rows, boxes, links, state, slot, first)
    apart = shapes[which[slot], _APART]
    room = room_in(work, table, points, work[:0])
    best, least, top = NONE, within, 0
    if state[ROOT] >= 0:
        stack[0] = state[ROOT]
        top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if gap(boxes, node, slot) > wider(least):
            continue
        if links[node, HEIGHT] > 0:
            top = descend(boxes, links, stack, top, node, slot)
            continue
        if node == slot or not meets(bits, node, bits, slot) or is_allowed(keys, node, slot):
            continue
        if apart != 0 or shapes[which[node], _APART] != 0:
            return UNKNOWN
        behind = first == GUEST or ranks[node] < ranks[slot]
        i, j = (node, slot) if behind else (slot, node)
        c, turned = cores_of_two(q, f, shapes, which, rows, i, j)
        solve(c, SIGNED, max(least, 0.0), 0.0, room, rows[:0], out, flags, plain(1))
        if out[1, 1] > least:
            continue
        if flags[1, 3] != 0 or (flags[1, 2] == 0 and flags[1, 0] != BEYOND and not is_curved(c)):
            return UNKNOWN
        if best < 0 or out[1, 0] < out[0, 0] or (out[1, 0] == out[0, 0] and ranks[node] < ranks[best]):
            best, least = node, min(least, out[1, 0])
            told[0, 0], told[0, 1], told[1, 0], told[1, 1] = i, j, which[i], which[j]
            take_over(turned, out, flags)
    if best >= 0:
        write_matrix(rows, told[0, 0], poses[0, 0])
        write_matrix(rows, told[0, 1], poses[0, 1])
    return best
