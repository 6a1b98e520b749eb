"""Who meets whom: boxes, the tree and the narrow phase in one call of compiled code."""

from __future__ import annotations

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.search import meets, split, split_between
from gjk3d.narrow.pairs import above_plane
from gjk3d.narrow.room import Solver, solver_in
from gjk3d.narrow.solve import quick_collide, settle
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
from gjk3d.typing import Array1, Array2, Ints, Ints1, Ints2

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
    q: Ints1, f: Array1, table: Ints2,
    which: Ints1, rows: Array2, bits: Ints2, boxes: Array2, links: Ints2, state: Ints1, floors: Ints1, fresh: int,
    which_b: Ints1, rows_b: Array2, bits_b: Ints2, boxes_b: Array2, links_b: Ints2, state_b: Ints1, floors_b: Ints1,
    fresh_b: int,
    shift: int, one: int, keys: Ints1, margin: float, any_will_do: bool, work: Array1, entries: Ints1, points: int,
    out: Array2, flags: Ints2, stack: Ints2, found: Ints2,
) -> int:  # fmt: skip
    """Write pairs of slots, of two scenes or of one with itself, that meet or may meet, and which; return how many.

    Where any will do it is -1 once two are known to meet; and it is -2 where there is no room for a pair. ``fresh`` are
    slots that have new poses, if not negative, and ``one`` is the only one of the second scene that is asked about.
    The numbers of the second scene's shapes are shifted; where that is 0 it is the first one again, and its half-spaces
    are not told twice.
    """
    shapes, own = Shapes(q, f, table), shift == 0
    a, b = (
        Side(which, rows, bits, boxes, links, state, floors, plain(0)),
        Side(which_b, rows_b, bits_b, boxes_b, links_b, state_b, floors_b, shift),
    )
    place(shapes, a, fresh)
    place(shapes, b, fresh_b)
    within = wider(margin)
    solver = solver_in(work, entries, points, out, flags)
    count, top = 0, first_nodes(a, b, one, within, stack)
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if own and one < 0:
            top, leaves = split(boxes, links, within, stack, top)
        else:
            top, leaves = split_between(boxes, links, boxes_b, links_b, within, stack, top)
        if not leaves or (own and (i == j or is_allowed(keys, i, j))) or not meets(bits, i, bits_b, j):
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
