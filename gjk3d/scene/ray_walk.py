"""What rays meet first: the tree and the closed forms of shapes in one call of compiled code."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT
from gjk3d.broad.search import along_ray
from gjk3d.geometry.vec3 import Vec3, row3
from gjk3d.narrow.ray import GENERAL, MISS, cast, is_ray, unit_of, write_ray
from gjk3d.scene.sides import ANSWERED_ASIDE, ASIDE, Shapes, Side, core_of, number_at, place
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

NO_RAY, LEFT_OPEN, LACKS = -1, -2, -3
START, WAY, SLOT = range(1, 4)  #: rows of `first_of_one` behind the answer
ROWS = 4


class Faces(NamedTuple):
    """Planes of hulls and half-spaces, and by shape where they begin, -1 where they are not there, and how many."""

    planes: Array2
    spans: Ints2


class Rays(NamedTuple):
    """Where rays start, and their unit directions, (n, 3) each."""

    starts: Array2
    ways: Array2


class Hits(NamedTuple):
    """Where rays are answered."""

    out: Array2  #: rows as `gjk3d.narrow.ray.ray_once` has them
    codes: Ints1
    slots: Ints1


class First(NamedTuple):
    """What a ray meets first: what happens, how far along, the normal, and the slot, -1 for none."""

    code: int
    distance: float
    normal: Vec3
    slot: int


@kernel
def met(
    shapes: Shapes, side: Side, faces: Faces, slot: int, ranks: Ints, starts: Array, ways: Array, k: int, far: float,
    first: First,
) -> First:  # fmt: skip
    """Return what a ray meets first of a slot and what is known; of two at one distance the lower rank."""
    number = number_at(side, slot)
    begin, count = faces.spans[number, 0], faces.spans[number, 1]
    if shapes.table[number, ASIDE] == ANSWERED_ASIDE:
        return First(LEFT_OPEN, first.distance, first.normal, slot)
    if begin < 0:
        return First(LACKS, first.distance, first.normal, number)
    core, planes = core_of(shapes, number), faces.planes[begin : begin + count]
    code, t, n = cast(core.ints, core.floats, planes, side.rows[slot], row3(starts, k), row3(ways, k), far)
    if code == GENERAL:
        return First(LEFT_OPEN, first.distance, first.normal, slot)
    later = t > first.distance or (t == first.distance and first.slot >= 0 and ranks[slot] > ranks[first.slot])
    return first if code == MISS or later else First(code, t, n, slot)


@inlined
def order_children(boxes: Array, left: int, right: int, starts: Array, ways: Array, k: int) -> tuple[int, int]:
    """Return two nodes, the one whose middle is farther along a ray first."""
    further = 0.0
    for c in range(3):
        further += ways[k, c] * (boxes[left, c] + boxes[left, 3 + c] - boxes[right, c] - boxes[right, 3 + c])
    return (left, right) if further > 0.0 else (right, left)


@kernel
def first_of(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints, starts: Array, ways: Array, k: int, far: float, stack: Ints
) -> First:  # fmt: skip
    """Return what ray k meets first; its code is LEFT_OPEN where that is answered apart.

    It is LACKS where the planes of a shape, whose number is in place of the slot, are not there.
    """
    first = First(MISS, inf, (0.0, 0.0, 0.0), -1)
    for floor in side.floors:
        first = met(shapes, side, faces, floor, ranks, starts, ways, k, far, first)
        if first.code < 0:
            return first
    boxes, links, top = side.boxes, side.links, 0
    root = side.state[ROOT]
    if root >= 0:
        stack[0, 0], top = root, 1
    while top > 0:
        top -= 1
        node = stack[top, 0]
        if not along_ray(boxes, node, starts, ways, k, min(far, first.distance)):
            continue
        if links[node, HEIGHT] > 0:
            a, b = order_children(boxes, links[node, LEFT], links[node, RIGHT], starts, ways, k)
            stack[top, 0], stack[top + 1, 0] = a, b
            top += 2
            continue
        first = met(shapes, side, faces, node, ranks, starts, ways, k, far, first)
        if first.code < 0:
            return first
    return first


@entry
def first_of_one(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints1, origin: Vec3, direction: Vec3, most: float, stack: Ints2,
    out: Array2,
) -> int:  # fmt: skip
    """Write the answer of one ray into row 0 as `gjk3d.narrow.ray.ray_once` does, and the slot into row SLOT.

    Returns what happens, NO_RAY where the numbers are none, or as `first_of`.
    """
    place(shapes, side)
    if not is_ray(origin, direction):
        return NO_RAY
    d, is_zero = unit_of(direction)
    if is_zero:
        return NO_RAY
    out[START, 0], out[START, 1], out[START, 2] = origin
    out[WAY, 0], out[WAY, 1], out[WAY, 2] = d
    first = first_of(shapes, side, faces, ranks, out[START:], out[WAY:], plain(0), most, stack)
    write_ray((first.code, first.distance, first.normal), origin, d, out, plain(0))
    out[SLOT, 0] = first.slot
    return first.code


@entry
def first_of_many(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints1, rays: Rays, most: float, stack: Ints2, begin: int,
    stop: int, hits: Hits,
) -> int:  # fmt: skip
    """Do so with rays from ``begin`` to ``stop``, of unit directions, row by row; return where planes are lacking."""
    starts, ways, codes, slots = rays.starts, rays.ways, hits.codes, hits.slots
    for k in range(begin, stop):
        first = first_of(shapes, side, faces, ranks, starts, ways, k, most, stack)
        codes[k], slots[k] = first.code, first.slot
        if first.code == LACKS:
            return k
        write_ray((first.code, first.distance, first.normal), row3(starts, k), row3(ways, k), hits.out, k)
    return stop
