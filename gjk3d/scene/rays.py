"""The first object that each ray hits, by one call of compiled code for the tree and the closed forms of shapes."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.broad.nodes import HEIGHT, LEFT, RIGHT, ROOT
from gjk3d.broad.search import along_ray
from gjk3d.convex.solve import planes_of
from gjk3d.geometry.vec3 import Vec3, row3
from gjk3d.narrow.ray import GENERAL, HIT, INSIDE, MISS, cast, is_ray, unit_of, write_ray
from gjk3d.query.raycast import ROW_WIDTH, RayHit, cast_rays
from gjk3d.scene.objects import Objects
from gjk3d.scene.quick import pair_scratch
from gjk3d.scene.results import SceneHit
from gjk3d.scene.walk import ANSWERED_ASIDE, ASIDE, Shapes, Side, core_of, number_at, place
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

NO_RAY, LEFT_OPEN, LACKS = -1, -2, -3
START, DIRECTION, SLOT = range(1, 4)  #: rows of `first_of_one` after the result
ROWS = 4


class Faces(NamedTuple):
    """Planes of hulls and half-spaces, and for each shape its first row, -1 if missing, and its number of rows."""

    planes: Array2
    spans: Ints2


class Rays(NamedTuple):
    """Origins and unit directions of rays, (n, 3) each."""

    starts: Array2
    directions: Array2


class Hits(NamedTuple):
    """The output arrays for rays."""

    out: Array2  #: rows of `gjk3d.narrow.ray.ray_once`
    codes: Ints1
    slots: Ints1


class First(NamedTuple):
    """The first hit of a ray: its code, distance, normal, and slot, which is -1 for a miss."""

    code: int
    distance: float
    normal: Vec3
    slot: int


@kernel
def nearer_hit(
    shapes: Shapes, side: Side, faces: Faces, slot: int, ranks: Ints, starts: Array, directions: Array, k: int,
    far: float, first: First,
) -> First:  # fmt: skip
    """Return the nearer of the hit of a slot and the first hit so far. Equal distances go by rank."""
    number = number_at(side, slot)
    begin, count = faces.spans[number, 0], faces.spans[number, 1]
    if shapes.table[number, ASIDE] == ANSWERED_ASIDE:
        return First(LEFT_OPEN, first.distance, first.normal, slot)
    if begin < 0:
        return First(LACKS, first.distance, first.normal, number)
    core, planes = core_of(shapes, number), faces.planes[begin : begin + count]
    code, t, n = cast(core.ints, core.floats, planes, side.rows[slot], row3(starts, k), row3(directions, k), far)
    if code == GENERAL:
        return First(LEFT_OPEN, first.distance, first.normal, slot)
    later = t > first.distance or (t == first.distance and first.slot >= 0 and ranks[slot] > ranks[first.slot])
    return first if code == MISS or later else First(code, t, n, slot)


@inlined
def order_children(boxes: Array, left: int, right: int, starts: Array, directions: Array, k: int) -> tuple[int, int]:
    """Return two nodes, with the one whose middle is farther along a ray first."""
    further = 0.0
    for c in range(3):
        further += directions[k, c] * (boxes[left, c] + boxes[left, 3 + c] - boxes[right, c] - boxes[right, 3 + c])
    return (left, right) if further > 0.0 else (right, left)


@kernel
def first_of(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints, starts: Array, directions: Array, k: int, far: float,
    stack: Ints,
) -> First:  # fmt: skip
    """Return the first hit of ray k. The code is LEFT_OPEN if the kernels cannot compute it.

    It is LACKS if the planes of a shape are missing. The slot is then the number of this shape.
    """
    first = First(MISS, inf, (0.0, 0.0, 0.0), -1)
    for floor in side.floors:
        first = nearer_hit(shapes, side, faces, floor, ranks, starts, directions, k, far, first)
        if first.code < 0:
            return first
    boxes, links, top = side.boxes, side.links, 0
    root = side.state[ROOT]
    if root >= 0:
        stack[0, 0], top = root, 1
    while top > 0:
        top -= 1
        node = stack[top, 0]
        if not along_ray(boxes, node, starts, directions, k, min(far, first.distance)):
            continue
        if links[node, HEIGHT] > 0:
            a, b = order_children(boxes, links[node, LEFT], links[node, RIGHT], starts, directions, k)
            stack[top, 0], stack[top + 1, 0] = a, b
            top += 2
            continue
        first = nearer_hit(shapes, side, faces, node, ranks, starts, directions, k, far, first)
        if first.code < 0:
            return first
    return first


@entry
def first_of_one(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints1, origin: Vec3, direction: Vec3, most: float, stack: Ints2,
    out: Array2,
) -> int:  # fmt: skip
    """Write the result of one ray into row 0, see `gjk3d.narrow.ray.ray_once`, and the slot into row SLOT.

    Returns the code of `first_of`, or NO_RAY for an invalid ray.
    """
    place(shapes, side)
    if not is_ray(origin, direction):
        return NO_RAY
    d, is_zero = unit_of(direction)
    if is_zero:
        return NO_RAY
    out[START, 0], out[START, 1], out[START, 2] = origin
    out[DIRECTION, 0], out[DIRECTION, 1], out[DIRECTION, 2] = d
    first = first_of(shapes, side, faces, ranks, out[START:], out[DIRECTION:], plain(0), most, stack)
    write_ray((first.code, first.distance, first.normal), origin, d, out, plain(0))
    out[SLOT, 0] = first.slot
    return first.code


@entry
def first_of_many(
    shapes: Shapes, side: Side, faces: Faces, ranks: Ints1, rays: Rays, most: float, stack: Ints2, begin: int,
    stop: int, hits: Hits,
) -> int:  # fmt: skip
    """Write the results of rays ``begin`` to ``stop``; return the first ray whose planes are missing, or ``stop``."""
    starts, directions, codes, slots = rays.starts, rays.directions, hits.codes, hits.slots
    for k in range(begin, stop):
        first = first_of(shapes, side, faces, ranks, starts, directions, k, most, stack)
        codes[k], slots[k] = first.code, first.slot
        if first.code == LACKS:
            return k
        write_ray((first.code, first.distance, first.normal), row3(starts, k), row3(directions, k), hits.out, k)
    return stop


_CHUNK = 4096  #: rays of one call, at most, so that Ctrl-C works
_NO_SPAN = np.array([(-1, 0)], dtype=np.int64)


class Planes:
    """The planes of the shapes of a scene, added when a ray first needs them; see `Faces`."""

    __slots__ = ("faces", "pairs", "used")

    def __init__(self, pairs: Any) -> None:
        self.pairs, self.used = pairs, 0
        self.faces = Faces(np.empty((0, 4)), np.repeat(_NO_SPAN, len(pairs), axis=0))

    def add(self, number: int) -> None:
        """Append the planes of a shape."""
        planes, spans = self.faces
        more = planes_of(self.pairs.shapes[number])
        stop = self.used + len(more)
        if stop > len(planes):
            planes = np.resize(planes, (2 * stop, 4))
        planes[self.used : stop] = more
        spans[number] = self.used, len(more)
        self.faces, self.used = Faces(planes, spans), stop


def _planes(objects: Objects) -> Planes:
    cached: Planes | None = objects.ray_planes
    if cached is None or cached.pairs is not objects.pairs:
        cached = objects.ray_planes = Planes(objects.pairs)
    return cached


def first_hit(objects: Objects, origin: Any, direction: Any, far: float) -> SceneHit[float] | None:
    """Return the first hit of one ray; None for an invalid ray, or if `first_hits` has to compute it."""
    if origin is None or direction is None:
        return None
    fresh = objects.settle_but_one()
    if len(objects.planes) > len(objects.floors):
        return None
    planes = _planes(objects)
    stack, out = pair_scratch(len(objects.tree.links) + 4, 0)[0], np.empty((ROWS, ROW_WIDTH))
    while True:
        side = objects.side(fresh)
        code = first_of_one(objects.packed, side, planes.faces, objects.ranks, origin, direction, far, stack, out)
        if fresh >= 0:
            objects.placed()
            fresh = -1
        if code != LACKS:
            break
        planes.add(int(out[SLOT, 0]))
    if code in (NO_RAY, LEFT_OPEN):
        return None
    result: SceneHit[float] = object.__new__(SceneHit)
    result._row = out, code
    result.name = objects.names[int(out[SLOT, 0])] if code != MISS else None
    return result


def first_hits(objects: Objects, starts: Array, units: Array, far: float, stacked: bool) -> SceneHit[Any]:
    """Return the first hit of each ray. If several objects have the same distance, it is the first by name."""
    objects.settle()
    count = len(starts)
    out, codes, owner = np.empty((count, ROW_WIDTH)), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    planes, stack = _planes(objects), pair_scratch(len(objects.tree.links) + 4, 0)[0]
    next_ray = 0
    while next_ray < count:
        stop = min(next_ray + _CHUNK, count)
        rays, hits = Rays(starts, units), Hits(out, codes, owner)
        next_ray = first_of_many(
            objects.packed, objects.side(-1), planes.faces, objects.ranks, rays, far, stack, next_ray, stop, hits
        )
        if next_ray < stop:
            planes.add(int(owner[next_ray]))
    some_left = len(objects.planes) > len(objects.floors)
    left = np.arange(count) if some_left else np.flatnonzero(codes == LEFT_OPEN)
    if len(left):
        _answer_left(objects, starts[left], units[left], far, left, (out, codes, owner))
    result: SceneHit[Any] = object.__new__(SceneHit)
    result.hit, result.inside = codes != MISS, codes == INSIDE
    result.distance, result.normal, result.point = out[:, 0].copy(), out[:, 1:4].copy(), out[:, 4:7].copy()
    result.origin, result.direction = starts, units
    result.name = [objects.names[slot] if slot >= 0 else None for slot in owner.tolist()]
    return result if stacked else result[0]


def _answer_left(
    objects: Objects, starts: Array, units: Array, far: float, left: Ints, to: tuple[Array, Ints, Ints]
) -> None:
    """Compute the first hits of rays that may hit objects without a closed form, and write them into their rows."""
    count = len(starts)
    best, owner = np.full(count, np.inf), np.full(count, -1, dtype=np.int64)
    normals, inside = np.full((count, 3), np.nan), np.zeros(count, dtype=bool)
    planes = np.array(sorted(objects.planes), dtype=np.int64)
    blocks = list(objects.tree.along_rays(starts, units, far))
    if len(planes):
        blocks.append(np.column_stack([np.tile(np.arange(count), len(planes)), np.repeat(planes, count)]))
    for block in blocks:
        for number, part in _by_shape(objects, block):
            rays, slots = part[:, 0], part[:, 1]
            shape = objects.pairs.shapes[number]
            hit = cast_rays(shape, objects.rows[slots], starts[rays], units[rays], far)
            _update_nearest(objects, rays, slots, hit, best, owner, normals, inside)
    out, codes, slots = to
    with np.errstate(invalid="ignore"):
        out[left, 4:7] = starts + np.where(owner >= 0, best, np.nan)[:, None] * units
    out[left, 0], out[left, 1:4], slots[left] = best, normals, owner
    codes[left] = np.where(owner < 0, MISS, np.where(inside, INSIDE, HIT))


def _by_shape(objects: Objects, block: Ints) -> list[tuple[int, Ints]]:
    """Return the pairs of rays and slots of each distinct shape."""
    which = objects.which[block[:, 1]]
    order = np.argsort(which, kind="stable")
    numbers, begins = np.unique(which[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(block[order], begins[1:]), strict=True)) if len(block) else []


def _update_nearest(
    objects: Objects, rays: Ints, slots: Ints, hit: RayHit, best: Array, owner: Ints, normals: Array,
    inside: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Replace the first hits of rays by nearer ones."""
    ranks = objects.ranks
    order = np.lexsort((ranks[slots], hit.distance, rays))
    order = order[hit.hit[order]]
    first = order[np.unique(rays[order], return_index=True)[1]]  # one for each ray
    ray, slot, distance = rays[first], slots[first], hit.distance[first]
    sooner = (distance < best[ray]) | ((distance == best[ray]) & (ranks[slot] < ranks[owner[ray]]))
    ray, first = ray[sooner], first[sooner]
    best[ray], owner[ray] = hit.distance[first], slots[first]
    normals[ray], inside[ray] = hit.normal[first], hit.inside[first]
