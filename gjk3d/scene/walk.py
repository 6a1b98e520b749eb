"""Collisions and the nearest pair of a scene: boxes, tree and narrow phase in one call of compiled code.

`Shapes` and `Side` are a scene as the kernels take it: shapes, slots, boxes in a tree, and half-spaces, which have no
box.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT, move_leaf
from gjk3d.broad.search import groups_match, near, split, split_between
from gjk3d.convex.solve import placed_box
from gjk3d.geometry.vec3 import dot, offset, turn
from gjk3d.narrow.cores import Cores, cores_at, is_curved
from gjk3d.narrow.pairs import SIDES, above_plane, comes_later, mirror, normal_of, solve_plane
from gjk3d.narrow.solve import BEYOND, FLOATS, INTS, SIGNED, quick_collide, settle, solve
from gjk3d.narrow.workspace import Solver, Workspace
from gjk3d.shapes.layout import FLOAT_HEAD, Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of a shape: first int, first float, rank, whether its box is that of its ball, and why the kernels do not
#: solve it, or 0
_INTS, _FLOATS, _RANK, _BALL, ASIDE = range(5)
ANSWERED_ASIDE, HALF_SPACE = 1, 2
WIDER = 1.0 + 1e-8  #: factor for the distance of boxes: more than the relative error of the narrow phase
#: error of a height over a plane, relative to the numbers it is computed from. It is more than `rounding_error` and
#: the rounding of the height together. `RESIDUAL` is the factor of the residual of the plane's pose.
HEIGHT_ROUNDING, RESIDUAL = 1e-13, 8.0


class Shapes(NamedTuple):
    """All distinct shapes in joined arrays, with one row of ``table`` each."""

    ints: Ints1
    floats: Array1
    table: Ints2


class Side(NamedTuple):
    """A scene: shape numbers, poses and groups by slot, its tree, and the slots of half-spaces, which lack a box.

    The numbers of its shapes are shifted by ``shift``, which is 0 except for the second of two scenes. ``fresh`` is a
    slot with a new pose, or -1.
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
    """Return the search distance for boxes, with a margin for the error of the narrow phase."""
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
    """Return the cores of two shapes in the order of the kernels, and whether A and B are swapped."""
    rank_a, rank_b = shapes.table[a, _RANK], shapes.table[b, _RANK]
    core_a, core_b = core_of(shapes, a), core_of(shapes, b)
    if rank_a > rank_b or (rank_a == rank_b and comes_later(row_a, row_b)):
        return cores_at(core_b, row_b, core_a, row_a), True
    return cores_at(core_a, row_a, core_b, row_b), False


@inlined
def is_allowed(keys: Ints, i: int, j: int) -> bool:
    """Return whether the key of two slots is among the sorted keys."""
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
    """Fit the box of the slot with a new pose, if there is one, and move its leaf in the tree."""
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
def over_floor(shapes: Shapes, side: Side, floor: int, guests: Side, node: int) -> float:
    """Return a lower bound on the distance of a box from a half-space or a plane."""
    core, row = core_of(shapes, number_at(side, floor)), side.rows[floor]
    n = turn(row, normal_of(core))
    away = core.floats[FLOAT_HEAD + 3]
    limit = away + dot(n, offset(row))
    # the terms of ``limit`` may cancel, since the pose may be far away along the plane
    least, most, size = -limit, -limit, abs(away) + abs(row[9]) + abs(row[10]) + abs(row[11])
    for c in range(3):
        low, high = guests.boxes[node, c], guests.boxes[node, 3 + c]
        least += min(low * n[c], high * n[c])
        most += max(low * n[c], high * n[c])
        size += abs(low) + abs(high)
    if core.floats[SIDES] > 1.0:
        least = max(least, -most)
    # rounding of seven products and sums up to the size, and the error of the normal by the residual of its pose
    return float(least - (HEIGHT_ROUNDING + RESIDUAL * row[12]) * size)


@kernel
def cores_on_floor(shapes: Shapes, side: Side, floor: int, guests: Side, slot: int) -> Cores:
    """Return the cores of a half-space and of an object."""
    first, second = core_of(shapes, number_at(side, floor)), core_of(shapes, number_at(guests, slot))
    return cores_at(first, side.rows[floor], second, guests.rows[slot])


@inlined
def first_above(guests: Side, only: int, stack: Ints) -> int:
    """Initialise a stack with one slot or the root, and return its height."""
    stack[0, 0] = only if only >= 0 else guests.state[ROOT]
    return 1 if stack[0, 0] >= 0 else 0


@inlined
def descend(links: Ints, node: int, stack: Ints, top: int) -> tuple[int, bool]:
    """Push the children of an inner node on a stack; return its height, and whether the node is a leaf."""
    if links[node, HEIGHT] <= 0:
        return top, True
    stack[top, 0], stack[top + 1, 0] = links[node, LEFT], links[node, RIGHT]
    return top + 2, False


@kernel
def first_nodes(a: Side, b: Side, only: int, within: float, stack: Ints) -> int:
    """Initialise a stack with both roots, or one slot as the second; return its height, 0 if they are separated."""
    i, j = a.state[ROOT], only if only >= 0 else b.state[ROOT]
    stack[0, 0], stack[0, 1] = i, j
    if i < 0 or j < 0 or not near(a.boxes, i, b.boxes, j, within):
        return 0
    return 1


SEPARATED, COLLIDING, UNSURE = range(3)


@inlined
def pair_outcome(shapes: Shapes, side_a: Side, i: int, side_b: Side, j: int, margin: float, solver: Solver) -> int:
    """Return whether two slots with boxes collide: SEPARATED, COLLIDING or UNSURE."""
    a, b = number_at(side_a, i), number_at(side_b, j)
    if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
        return UNSURE
    c, _ = cores_of_two(shapes, a, side_a.rows[i], b, side_b.rows[j])
    outcome = quick_collide(c, margin, solver.workspace.simplex, side_a.rows[:0], i)
    return outcome if outcome != UNSURE else settle(c, margin, solver)


@inlined
def add(hits: Ints, count: int, i: int, j: int, outcome: int) -> int:
    """Append a pair of slots with its outcome unless SEPARATED; return the number of pairs, -2 if ``hits`` is full."""
    if outcome == SEPARATED:
        return count
    if count == hits.shape[0]:
        return -2
    hits[count, 0], hits[count, 1], hits[count, 2] = i, j, outcome
    return count + 1


@kernel
def on_floors(
    shapes: Shapes, side: Side, guests: Side, only: int, keys: Ints, margin: float, any_will_do: bool, stack: Ints,
    hits: Ints, count: int,
) -> int:  # fmt: skip
    """Add the pairs of the half-spaces of a scene and the objects of ``guests`` near them; see `colliding_pairs`.

    If ``only`` is not negative, it is the only slot of ``guests``.
    """
    within = wider(margin)
    for floor in side.floors:
        top = first_above(guests, only, stack)
        while top > 0:
            top -= 1
            node = stack[top, 0]
            if over_floor(shapes, side, floor, guests, node) > within:
                continue
            top, is_leaf = descend(guests.links, node, stack, top)
            if not is_leaf or is_allowed(keys, floor, node) or not groups_match(side.bits, floor, guests.bits, node):
                continue
            outcome = UNSURE
            if shapes.table[number_at(guests, node), ASIDE] == 0:
                c = cores_on_floor(shapes, side, floor, guests, node)
                above, error, _, _ = above_plane(c, side.rows[floor])
                outcome = SEPARATED if above - error > margin else COLLIDING
            if outcome == COLLIDING and any_will_do:
                return -1
            i, j = (node, floor) if side.shift > 0 else (floor, node)
            count = add(hits, count, i, j, outcome)
            if count < 0:
                return count
    return count


@entry
def colliding_pairs(
    shapes: Shapes, a: Side, b: Side, only: int, keys: Ints1, margin: float, any_will_do: bool, solver: Solver,
    stack: Ints2, hits: Ints2,
) -> int:  # fmt: skip
    """Write the pairs of slots, of two scenes or within one, that collide or may collide, and return their number.

    With ``any_will_do`` the result is -1 when the first collision is certain. It is -2 if the array is full. If
    ``only`` is not negative, it is the only slot of the second scene. The shape numbers of the second scene are
    shifted. A shift of 0 means that it is the first scene again, whose half-spaces are then visited once.
    """
    within_one, within = b.shift == 0, wider(margin)
    place(shapes, a)
    place(shapes, b)
    count, top = 0, first_nodes(a, b, only, within, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if within_one and only < 0:
            top, leaves = split(a.boxes, a.links, within, stack, top)
        else:
            top, leaves = split_between(a.boxes, a.links, b.boxes, b.links, within, stack, top)
        if not leaves or (within_one and (i == j or is_allowed(keys, i, j))) or not groups_match(a.bits, i, b.bits, j):
            continue
        outcome = pair_outcome(shapes, a, i, b, j, margin, solver)
        if outcome == COLLIDING and any_will_do:
            return -1
        count = add(hits, count, i, j, outcome)
        if count < 0:
            return count
    count = on_floors(shapes, a, b, only, keys, margin, any_will_do, stack, hits, count)
    if count < 0:
        return count
    return on_floors(shapes, b, a, plain(-1), keys, margin, any_will_do, stack, hits, count)


NONE, UNKNOWN = -1, -2


class Best(NamedTuple):
    """The nearest pair so far: its rank, NONE or UNKNOWN, and the distance that later pairs have to stay below."""

    best: int
    least: float


class Answer(NamedTuple):
    """The output arrays for the nearest pair."""

    out: Array2
    flags: Ints2


@inlined
def gap(boxes: Array, i: int, boxes_b: Array, j: int) -> float:
    """Return the distance of two boxes, or minus their least overlap along an axis.

    It is a lower bound of the signed distance of their contents.
    """
    square, least = 0.0, -inf
    for c in range(3):
        away = max(boxes[i, c] - boxes_b[j, 3 + c], boxes_b[j, c] - boxes[i, 3 + c])
        least = max(least, away)
        square += max(away, 0.0) * max(away, 0.0)
    return sqrt(square) if least > 0.0 else least


@inlined
def take_over(swapped: bool, out: Array, flags: Ints) -> None:
    """Copy row 1 to row 0, in the order of the query."""
    if swapped:
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
def order_last(boxes: Array, boxes_b: Array, stack: Ints, low: int, high: int) -> None:
    """Move the pair of nodes with the nearest boxes to the top, among the two or three new pairs on the stack."""
    for k in range(low, high - 1):
        distance = gap(boxes, stack[k, 0], boxes_b, stack[k, 1])
        if distance < gap(boxes, stack[high - 1, 0], boxes_b, stack[high - 1, 1]):
            a, b = stack[k, 0], stack[k, 1]
            stack[k, 0], stack[k, 1] = stack[high - 1, 0], stack[high - 1, 1]
            stack[high - 1, 0], stack[high - 1, 1] = a, b


@inlined
def improves(c: Cores, rank: int, best: int, least: float, out: Array, flags: Ints) -> int:
    """Return whether the result in row 1 is nearer than that in row 0; UNKNOWN if the exact stage has to solve it."""
    if out[1, 1] > least:
        return 0
    if flags[1, 3] != 0 or (flags[1, 2] == 0 and flags[1, 0] != BEYOND and not is_curved(c)):
        return UNKNOWN
    return int(best < 0 or out[1, 0] < out[0, 0] or (out[1, 0] == out[0, 0] and rank < best))


@kernel
def nearest_on_floors(
    shapes: Shapes, side: Side, guests: Side, only: int, keys: Ints, ranks: Ints, ranks_other: Ints, so_far: Best,
    stack: Ints, answer: Answer,
) -> Best:  # fmt: skip
    """Update the nearest pair with the half-spaces of a scene and the objects of ``guests``, see `nearest`."""
    best, least = so_far.best, so_far.least
    out, flags = answer.out, answer.flags
    for floor in side.floors:
        top = first_above(guests, only, stack)
        while top > 0:
            top -= 1
            node = stack[top, 0]
            above = over_floor(shapes, side, floor, guests, node)
            if above > wider(least):
                continue
            top, is_leaf = descend(guests.links, node, stack, top)
            if not is_leaf or is_allowed(keys, floor, node) or not groups_match(side.bits, floor, guests.bits, node):
                continue
            a, b = number_at(side, floor), number_at(guests, node)
            if shapes.table[b, ASIDE] != 0:
                return Best(UNKNOWN, least)
            if above > least and least < 0.0:
                continue
            # within one scene the lower rank comes first, else the first scene
            within_one = side.shift == 0 and guests.shift == 0
            flip = side.shift > 0 or (within_one and 0 <= ranks_other[node] < ranks[floor])
            c = cores_on_floor(shapes, side, floor, guests, node)
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
    return Best(best, least)


@entry
def nearest(
    shapes: Shapes, side: Side, side_b: Side, only: int, keys: Ints1, within: float, both_ranks: tuple[Ints1, Ints1],
    workspace: Workspace, stack: Ints2, answer: Answer,
) -> int:  # fmt: skip
    """Write the nearest pair of slots, and its signed distance in row 0 of ``out`` and ``flags``. Ties go by rank.

    Returns 1, NONE if all pairs are proven to be farther apart than ``within``, or UNKNOWN if the kernels cannot solve
    a pair. Within one scene the slot of lower rank is A. A guest has rank -1 and is B. The two rows of ``out`` end
    with the two matrices, and the rows of ``flags`` with the slots and the numbers of their shapes. The rest of row 1
    is scratch. See `colliding_pairs` for the other arguments.
    """
    within_one, ranks, ranks_b, out, flags = side_b.shift == 0, both_ranks[0], both_ranks[1], answer.out, answer.flags
    boxes, links, rows, bits = side.boxes, side.links, side.rows, side.bits
    boxes_b, links_b, rows_b, bits_b = side_b.boxes, side_b.links, side_b.rows, side_b.bits
    place(shapes, side)
    place(shapes, side_b)
    best, least = NONE, within
    top = first_nodes(side, side_b, only, inf, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        away = gap(boxes, i, boxes_b, j)
        if away > wider(least):
            continue
        low = top
        if within_one and only < 0:
            top, leaves = split(boxes, links, inf, stack, top)
        else:
            top, leaves = split_between(boxes, links, boxes_b, links_b, inf, stack, top)
        order_last(boxes, boxes_b, stack, low, top)
        if not leaves or (within_one and (i == j or is_allowed(keys, i, j))) or not groups_match(bits, i, bits_b, j):
            continue
        if within_one and 0 <= ranks[j] < ranks[i]:
            i, j = j, i
        a, b = number_at(side, i), number_at(side_b, j)
        if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
            return UNKNOWN
        if away > least and least < 0.0:
            continue  # the margin of a box is more than the error of a depth
        c, swapped = cores_of_two(shapes, a, rows[i], b, rows_b[j])
        solve(c, SIGNED, max(least, 0.0), 0.0, workspace, rows[:0], out, flags, plain(1))
        rank = (ranks[i] << 31) | (ranks_b[j] + 1)
        better = improves(c, rank, best, least, out, flags)
        if better < 0:
            return UNKNOWN
        if better == 1:
            best, least = rank, min(least, out[1, 0])
            flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
            take_over(swapped, out, flags)
    final = nearest_on_floors(shapes, side, side_b, only, keys, ranks, ranks_b, Best(best, least), stack, answer)
    if final.best != UNKNOWN:
        final = nearest_on_floors(shapes, side_b, side, plain(-1), keys, ranks_b, ranks, final, stack, answer)
    if final.best < 0:
        return final.best
    write_matrix(rows, flags[0, INTS], out[0, FLOATS:])
    write_matrix(rows_b, flags[0, INTS + 1], out[1, FLOATS:])
    return 1
