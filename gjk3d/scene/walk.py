"""Who meets whom: boxes, the tree and the narrow phase in one call of compiled code."""

from __future__ import annotations

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.search import meets, split, split_between
from gjk3d.narrow.pairs import above_plane
from gjk3d.narrow.room import Solver
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
from gjk3d.typing import Ints, Ints1, Ints2

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
