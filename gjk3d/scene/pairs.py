"""Kernels that find near pairs, colliding pairs and the nearest pair of a scene, including the narrow phase.

`Shapes` and `Side` are a scene in the form that the kernels expect: packed shapes, and objects with their boxes in a
tree. Unbounded objects have no boxes. The slot of an object is its row in all arrays. A search pauses when its list is
full, and the next call continues it.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad import HEIGHT, LEFT, RIGHT, ROOT, move_leaf, near, split, split_between
from gjk3d.convex.solve import placed_box
from gjk3d.geometry.vec3 import dot, offset, row3, turn
from gjk3d.narrow.cores import Cores, cores_at, is_curved
from gjk3d.narrow.solve import (
    BEYOND,
    FLOATS,
    INTS,
    SIGNED,
    above_plane,
    comes_later,
    mirror,
    quick_collide,
    settle,
    solve,
    solve_plane,
)
from gjk3d.narrow.workspace import Solver, Workspace
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of ``table`` for a shape: index of its first integer, index of its first float, rank, 1 if its box is that of
#: its bounding ball, reason why the kernels do not solve its pairs (or 0), and for an unbounded shape the index of its
#: first row in ``limits`` and the number of its rows
_INTS, _FLOATS, _RANK, _BALL, ASIDE, _LIMIT, _LIMITS = range(7)
#: reasons why the kernels do not solve the pairs of a shape. They do solve pairs of a half-space and a convex shape.
ANSWERED_ASIDE, HALF_SPACE = 1, 2
GROUP, MASK = range(2)  #: columns of the bits of a slot: its group, and the groups that it may collide with
ALL = -1  #: a mask of all groups
NO_RANK = 1 << 30  #: rank of a slot without an object, which is more than all other ranks
WIDER = 1.0 + 1e-8  #: factor of search distances for boxes: more than the relative error of the narrow phase
#: error of a height over a plane, relative to the sum of the terms of the height. It is more than `rounding_error` and
#: the rounding of the height together. `_RESIDUAL` is the factor of the residual of the plane's pose.
_HEIGHT_ROUNDING, _RESIDUAL = 1e-13, 8.0
#: entries of the state of a search: its phase, the height of the stack, the index of the unbounded object in
#: ``floors``, and the number of UNSURE pairs in the list of the last call
_PHASE, _TOP, _FLOOR, UNSURE_PAIRS = range(4)
#: phases of a search: pairs of bounded objects, unbounded objects of the first scene, and of the second scene
_TREES, _FLOORS, _FLOORS_B, _DONE = range(4)
LIST, TEST, FIRST = range(3)  #: kinds of search: list near pairs, also test them, and end at the first collision
CERTAIN = -1  #: result of a FIRST search: a pair certainly collides
_MOST_STEPS = 1 << 18  #: greatest number of pairs of nodes in one call, so that Ctrl-C works


class Shapes(NamedTuple):
    """All distinct shapes, packed into common arrays."""

    ints: Ints1
    floats: Array1
    limits: Array2  #: normals and offsets of half-spaces, whose intersections contain the unbounded shapes
    table: Ints2  #: one row per shape, with the columns `_INTS` to `_LIMITS`


class Side(NamedTuple):
    """A scene in the form that the kernels read."""

    which: Ints1  #: index of the shape of each slot, without ``shift``
    rows: Array2  #: pose row of each slot
    bits: Ints2  #: group and mask of each slot
    ranks: Ints1  #: rank of the name of each slot. If it is empty, the slots of a pair are in any order
    boxes: Array2  #: boxes of the nodes of the tree, see `gjk3d.broad`
    links: Ints2  #: links of the nodes of the tree
    state: Ints1  #: state of the tree
    floors: Ints1  #: slots of unbounded objects
    shift: int  #: index of the first shape of this scene: 0, except for the second of two scenes
    fresh: int  #: slot with a new pose, whose box is still to be fitted, or -1


class Hits(NamedTuple):
    """The list of pairs of one call of a search, and the state for the next call."""

    stack: Ints2  #: pairs of nodes of the trees that are still to be searched
    state: Ints1
    pairs: Ints2  #: slot of A, slot of B, and outcome
    gaps: Array1  #: lower bounds of the distances, for a LIST search


@inlined
def wider(within: float) -> float:
    """Return the search distance for boxes of shapes up to ``within`` apart: at least 0, and slightly enlarged."""
    return within * WIDER if within > 0.0 else 0.0


@inlined
def groups_match(bits_a: Ints, i: int, bits_b: Ints, j: int) -> bool:
    """Return whether the mask of leaf i contains the group of leaf j, and the mask of j the group of i."""
    return bool((bits_a[i, GROUP] & bits_b[j, MASK]) != 0 and (bits_b[j, GROUP] & bits_a[i, MASK]) != 0)


@inlined
def number_at(side: Side, slot: int) -> int:
    """Return the index in `Shapes` of the shape of the object in a slot."""
    return int(side.which[slot] + side.shift)


@kernel
def core_of(shapes: Shapes, number: int) -> Core:
    """Return the packed shape with the index ``number``."""
    return Core(shapes.ints[shapes.table[number, _INTS] :], shapes.floats[shapes.table[number, _FLOATS] :])


@kernel
def cores_of_two(shapes: Shapes, a: int, row_a: Array, b: int, row_b: Array) -> tuple[Cores, bool]:
    """Return the cores of the shapes a and b at the poses ``row_a`` and ``row_b``, and whether they are swapped.

    The order of the cores depends on the shapes and poses, but not on the order of the arguments.
    """
    rank_a, rank_b = shapes.table[a, _RANK], shapes.table[b, _RANK]
    core_a, core_b = core_of(shapes, a), core_of(shapes, b)
    if rank_a > rank_b or (rank_a == rank_b and comes_later(row_a, row_b)):
        return cores_at(core_b, row_b, core_a, row_a), True
    return cores_at(core_a, row_a, core_b, row_b), False


@inlined
def is_allowed(keys: Ints, i: int, j: int) -> bool:
    """Return whether two slots are an allowed pair. ``keys`` are the sorted keys of the allowed pairs."""
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
    """Return a lower bound of the signed distance of an unbounded object from all objects in a node's box.

    The unbounded object is in slot ``floor`` of ``side``. ``node`` belongs to the tree of ``guests``.
    """
    number, row = number_at(side, floor), side.rows[floor]
    first, most = shapes.table[number, _LIMIT], -inf
    for k in range(first, first + shapes.table[number, _LIMITS]):
        n, away = turn(row, row3(shapes.limits, k)), shapes.limits[k, 3]
        # the terms of the offset may cancel, since the pose may be far away along the plane
        above, size = -(away + dot(n, offset(row))), abs(away) + abs(row[9]) + abs(row[10]) + abs(row[11])
        for c in range(3):
            low, high = guests.boxes[node, c], guests.boxes[node, 3 + c]
            above += min(low * n[c], high * n[c])
            size += abs(low) + abs(high)
        # the rounding of seven products and sums up to the size, and the error of the normal from the pose's residual
        most = max(most, above - (_HEIGHT_ROUNDING + _RESIDUAL * row[12]) * size)
    return most


@kernel
def cores_on_floor(shapes: Shapes, side: Side, floor: int, guests: Side, slot: int) -> Cores:
    """Return the cores of the half-space in slot ``floor`` of ``side`` and of the object in ``slot`` of ``guests``."""
    first, second = core_of(shapes, number_at(side, floor)), core_of(shapes, number_at(guests, slot))
    return cores_at(first, side.rows[floor], second, guests.rows[slot])


@inlined
def first_above(guests: Side, only: int, stack: Ints) -> int:
    """Initialise a stack with the leaf ``only``, or the root if ``only`` is negative; return the stack's height."""
    stack[0, 0] = only if only >= 0 else guests.state[ROOT]
    return 1 if stack[0, 0] >= 0 else 0


@inlined
def descend(links: Ints, node: int, stack: Ints, top: int) -> tuple[int, bool]:
    """Push a node's children on a stack of height ``top``; return the new height, and whether the node is a leaf."""
    if links[node, HEIGHT] <= 0:
        return top, True
    stack[top, 0], stack[top + 1, 0] = links[node, LEFT], links[node, RIGHT]
    return top + 2, False


@kernel
def first_nodes(a: Side, b: Side, only: int, within: float, stack: Ints) -> int:
    """Initialise a stack with a pair of nodes: the root of ``a``, and the root of ``b`` or the leaf ``only`` of ``b``.

    Returns the height of the stack, which is 0 if the boxes of both nodes are farther apart than ``within``.
    """
    i, j = a.state[ROOT], only if only >= 0 else b.state[ROOT]
    stack[0, 0], stack[0, 1] = i, j
    if i < 0 or j < 0 or not near(a.boxes, i, b.boxes, j, within):
        return 0
    return 1


SEPARATED, COLLIDING, UNSURE = range(3)


@inlined
def pair_outcome(shapes: Shapes, side_a: Side, i: int, side_b: Side, j: int, margin: float, solver: Solver) -> int:
    """Return whether the bounded objects in slots i and j collide: SEPARATED, COLLIDING, or UNSURE if undecided."""
    a, b = number_at(side_a, i), number_at(side_b, j)
    if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
        return UNSURE
    c, _ = cores_of_two(shapes, a, side_a.rows[i], b, side_b.rows[j])
    outcome = quick_collide(c, margin, solver.workspace.simplex, side_a.rows[:0], i)
    return outcome if outcome != UNSURE else settle(c, margin, solver)


@inlined
def add(hits: Hits, count: int, ranks: Ints, i: int, j: int, outcome: int, away: float) -> int:
    """Append slots i and j to ``hits``; return count + 1, the number of pairs. With ``ranks``, the lower rank is first.

    ``outcome`` is COLLIDING or UNSURE. ``away`` is a lower bound of the distance of the pair.
    """
    if ranks.shape[0] > 0 and ranks[j] < ranks[i]:
        i, j = j, i
    hits.pairs[count, 0], hits.pairs[count, 1], hits.pairs[count, 2] = i, j, outcome
    hits.gaps[count] = away
    hits.state[UNSURE_PAIRS] += 1 if outcome == UNSURE else 0
    return count + 1


@kernel
def on_floors(
    shapes: Shapes, side: Side, guests: Side, only: int, keys: Ints, margin: float, how: int, hits: Hits, count: int
) -> int:
    """Add pairs of an unbounded object of ``side`` and a bounded object of ``guests`` to ``hits``; see `near_pairs`.

    If ``only`` is not negative, it is the only slot of ``guests`` that is searched. Returns the new number of pairs, or
    CERTAIN.
    """
    within, state, stack = wider(margin), hits.state, hits.stack
    ranks = side.ranks if side.shift == guests.shift else side.ranks[:0]
    while state[_FLOOR] < side.floors.shape[0]:
        floor, top = side.floors[state[_FLOOR]], state[_TOP]
        aside = shapes.table[number_at(side, floor), ASIDE] == ANSWERED_ASIDE
        if top < 0:
            top = first_above(guests, only, stack)
        while top > 0:
            if count == hits.pairs.shape[0]:
                state[_TOP] = top
                return count
            top -= 1
            node = stack[top, 0]
            above = over_floor(shapes, side, floor, guests, node)
            if above > within:
                continue
            top, is_leaf = descend(guests.links, node, stack, top)
            if not is_leaf or is_allowed(keys, floor, node) or not groups_match(side.bits, floor, guests.bits, node):
                continue
            outcome = UNSURE
            if how != LIST and not aside and shapes.table[number_at(guests, node), ASIDE] == 0:
                c = cores_on_floor(shapes, side, floor, guests, node)
                height, error, _, _ = above_plane(c, side.rows[floor])
                if height - error > margin:
                    continue
                outcome = COLLIDING
                if how == FIRST:
                    return CERTAIN
            i, j = (node, floor) if side.shift > 0 else (floor, node)
            count = add(hits, count, ranks, i, j, outcome, max(above, 0.0))
        state[_FLOOR], state[_TOP] = state[_FLOOR] + 1, -1
    state[_PHASE], state[_FLOOR] = state[_PHASE] + 1, 0
    return count


@kernel
def in_trees(
    shapes: Shapes, a: Side, b: Side, only: int, keys: Ints, margin: float, how: int, solver: Solver, hits: Hits
) -> int:
    """Write pairs of bounded objects to ``hits``, and return their number, or CERTAIN; see `near_pairs`."""
    within_one, within, stack, state = b.shift == 0, wider(margin), hits.stack, hits.state
    ranks = a.ranks if within_one else a.ranks[:0]
    count, steps, top = 0, 0, state[_TOP]
    while top > 0 and count < hits.pairs.shape[0] and steps < _MOST_STEPS:
        top -= 1
        steps += 1
        i, j = stack[top, 0], stack[top, 1]
        if within_one and only < 0:
            top, leaves = split(a.boxes, a.links, within, stack, top)
        else:
            top, leaves = split_between(a.boxes, a.links, b.boxes, b.links, within, stack, top)
        if not leaves or (within_one and (i == j or is_allowed(keys, i, j))) or not groups_match(a.bits, i, b.bits, j):
            continue
        outcome, away = UNSURE, 0.0
        if how == LIST:
            away = max(gap(a.boxes, i, b.boxes, j), 0.0)
        else:
            outcome = pair_outcome(shapes, a, i, b, j, margin, solver)
        if outcome == COLLIDING and how == FIRST:
            return CERTAIN
        if outcome != SEPARATED:
            count = add(hits, count, ranks, i, j, outcome, away)
    state[_TOP] = top
    return count


@entry
def near_pairs(
    shapes: Shapes, a: Side, b: Side, only: int, keys: Ints1, margin: float, how: int, again: bool, solver: Solver,
    hits: Hits,
) -> int:  # fmt: skip
    """Write the pairs of objects up to a margin apart to ``hits``, as slots, and return their number.

    ``a`` and ``b`` are two scenes. They are the same scene if ``b.shift`` is 0.

    ``how`` is the kind of search. LIST writes the pairs whose boxes are near. TEST writes the pairs that collide and
    the pairs that the kernels do not solve, as UNSURE. FIRST does the same, but ends at the first certain collision and
    returns CERTAIN. If the list is full or the search is long, the result is -2 minus the number of pairs, and a call
    with ``again`` continues the search. If ``only`` is not negative, it is the only slot of b that is searched.
    """
    state = hits.state
    if not again:
        place(shapes, a)
        place(shapes, b)
        state[_PHASE], state[_FLOOR], state[_TOP] = _TREES, 0, first_nodes(a, b, only, wider(margin), hits.stack)
    count = state[UNSURE_PAIRS] = 0
    if state[_PHASE] == _TREES:
        count = in_trees(shapes, a, b, only, keys, margin, how, solver, hits)
        if count < 0 or state[_TOP] > 0:
            return count if count < 0 else -2 - count
        state[_PHASE], state[_TOP] = _FLOORS, -1
    if state[_PHASE] == _FLOORS:
        count = on_floors(shapes, a, b, only, keys, margin, how, hits, count)
    if count >= 0 and state[_PHASE] == _FLOORS_B:
        count = on_floors(shapes, b, a, plain(-1), keys, margin, how, hits, count)
    return count if count < 0 or state[_PHASE] == _DONE else -2 - count


NONE, UNKNOWN = -1, -2


class Best(NamedTuple):
    """The nearest pair so far."""

    best: int  #: rank of the pair, which decides ties; NONE without a pair; UNKNOWN if a pair cannot be solved
    least: float  #: distance of the pair, or the greatest distance of the query


class Answer(NamedTuple):
    """The output arrays of `nearest`."""

    out: Array2
    flags: Ints2


@inlined
def gap(boxes: Array, i: int, boxes_b: Array, j: int) -> float:
    """Return the signed distance of two boxes, a lower bound of the signed distance of two shapes in the boxes.

    For overlapping boxes it is minus their least overlap along an axis.
    """
    square, least = 0.0, -inf
    for c in range(3):
        away = max(boxes[i, c] - boxes_b[j, 3 + c], boxes_b[j, c] - boxes[i, 3 + c])
        least = max(least, away)
        square += max(away, 0.0) * max(away, 0.0)
    return sqrt(square) if least > 0.0 else least


@inlined
def take_over(swapped: bool, out: Array, flags: Ints) -> None:
    """Copy the result in row 1 to row 0 of ``out`` and ``flags``. If A and B were ``swapped``, first swap them back."""
    if swapped:
        mirror(out, plain(1))
    for k in range(FLOATS):
        out[0, k] = out[1, k]
    for k in range(INTS):
        flags[0, k] = flags[1, k]


@kernel
def write_matrix(rows: Array, k: int, out: Array) -> None:
    """Write pose row k to ``out`` as a (4, 4) matrix, in sixteen numbers row by row."""
    for i in range(3):
        for j in range(3):
            out[4 * i + j] = rows[k, 3 * i + j]
        out[4 * i + 3], out[12 + i] = rows[k, 9 + i], 0.0
    out[15] = 1.0


@kernel
def order_last(boxes: Array, boxes_b: Array, stack: Ints, low: int, high: int) -> None:
    """Move the nearest pair of nodes in the rows low to high - 1 of the stack to the last of these rows."""
    for k in range(low, high - 1):
        distance = gap(boxes, stack[k, 0], boxes_b, stack[k, 1])
        if distance < gap(boxes, stack[high - 1, 0], boxes_b, stack[high - 1, 1]):
            a, b = stack[k, 0], stack[k, 1]
            stack[k, 0], stack[k, 1] = stack[high - 1, 0], stack[high - 1, 1]
            stack[high - 1, 0], stack[high - 1, 1] = a, b


@inlined
def improves(c: Cores, rank: int, best: int, least: float, out: Array, flags: Ints) -> int:
    """Return 1 if the result in row 1 is nearer than that in row 0, else 0, or UNKNOWN if the kernels cannot decide it.

    ``rank`` is the rank of the pair in row 1. ``best`` and ``least`` describe the pair in row 0, see `Best`. Ties go to
    the lower rank.
    """
    if out[1, 1] > least:
        return 0
    if flags[1, 3] != 0 or (flags[1, 2] == 0 and flags[1, 0] != BEYOND and not is_curved(c)):
        return UNKNOWN
    return int(best < 0 or out[1, 0] < out[0, 0] or (out[1, 0] == out[0, 0] and rank < best))


@kernel
def nearest_on_floors(
    shapes: Shapes, side: Side, guests: Side, only: int, keys: Ints, so_far: Best, stack: Ints, answer: Answer
) -> Best:
    """Return the nearest of ``so_far`` and the pairs of an unbounded object of ``side`` and an object of ``guests``.

    A pair that is nearer than ``so_far`` is written to ``answer``, as `nearest` does.
    """
    best, least = so_far.best, so_far.least
    out, flags, ranks, ranks_other = answer.out, answer.flags, side.ranks, guests.ranks
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
            if shapes.table[a, ASIDE] == ANSWERED_ASIDE or shapes.table[b, ASIDE] != 0:
                return Best(UNKNOWN, least)
            if above > least and least < 0.0:
                continue
            # within one scene the lower rank comes first, else the first scene
            within_one = side.shift == 0 and guests.shift == 0
            flip = side.shift > 0 or (within_one and ranks_other[node] < ranks[floor])
            c = cores_on_floor(shapes, side, floor, guests, node)
            solve_plane(c, side.rows[floor], flip, SIGNED, max(least, 0.0), out, flags, plain(1))
            rank = (ranks[floor] << 31) | ranks_other[node]
            if flip:
                rank = (ranks_other[node] << 31) | ranks[floor]
            better = improves(c, rank, best, least, out, flags)
            if better == 1:
                best, least = rank, min(least, out[1, 0])
                i, j, a, b = (node, floor, b, a) if flip else (floor, node, a, b)
                flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
                take_over(False, out, flags)
    return Best(best, least)


@entry
def nearest(
    shapes: Shapes, side: Side, side_b: Side, only: int, keys: Ints1, within: float, workspace: Workspace, stack: Ints2,
    answer: Answer,
) -> int:  # fmt: skip
    """Write the signed distance of the nearest pair to row 0 of ``answer``. Ties go to the pair whose names sort first.

    Returns 1, NONE if all pairs are proven to be farther apart than ``within``, or UNKNOWN if the kernels cannot solve
    a pair. Within one scene A is the object whose name sorts first. The last sixteen numbers of row 0 of ``out`` are
    the pose of A, those of row 1 the pose of B. The last two integers of row 0 of ``flags`` are the slots of A and B,
    those of row 1 the indices of their shapes. The rest of row 1 is scratch. See `near_pairs` for the other arguments.
    """
    within_one, ranks, ranks_b, out, flags = side_b.shift == 0, side.ranks, side_b.ranks, answer.out, answer.flags
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
        if within_one and ranks[j] < ranks[i]:
            i, j = j, i
        a, b = number_at(side, i), number_at(side_b, j)
        if shapes.table[a, ASIDE] != 0 or shapes.table[b, ASIDE] != 0:
            return UNKNOWN
        if away > least and least < 0.0:
            continue  # boxes are enlarged by more than the error of a depth, so the pair is not nearer
        c, swapped = cores_of_two(shapes, a, rows[i], b, rows_b[j])
        solve(c, SIGNED, max(least, 0.0), 0.0, workspace, rows[:0], out, flags, plain(1))
        rank = (ranks[i] << 31) | ranks_b[j]
        better = improves(c, rank, best, least, out, flags)
        if better < 0:
            return UNKNOWN
        if better == 1:
            best, least = rank, min(least, out[1, 0])
            flags[0, INTS], flags[0, INTS + 1], flags[1, INTS], flags[1, INTS + 1] = i, j, a, b
            take_over(swapped, out, flags)
    final = nearest_on_floors(shapes, side, side_b, only, keys, Best(best, least), stack, answer)
    if final.best != UNKNOWN:
        final = nearest_on_floors(shapes, side_b, side, plain(-1), keys, final, stack, answer)
    if final.best < 0:
        return final.best
    write_matrix(rows, flags[0, INTS], out[0, FLOATS:])
    write_matrix(rows_b, flags[0, INTS + 1], out[1, FLOATS:])
    return 1
