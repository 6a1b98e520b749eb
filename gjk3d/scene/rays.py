"""The first object of a scene that each ray hits.

A kernel searches the tree of boxes and intersects the ray with the shapes. Shapes that it does not support, such as
support mappings of users, are computed by `gjk3d.query.raycast`.
"""

from __future__ import annotations

from math import inf
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.bvh import HEAD, WideStack, WideTree, head_of, stack_of_thread, tree_in
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.raycast import hit_at, ray_trees_of
from gjk3d.broad import HEIGHT, LEFT, RIGHT, ROOT, along_ray
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.solve import planes_of
from gjk3d.geometry.vec3 import Vec3, row3
from gjk3d.narrow.ray import GENERAL, HIT, INSIDE, MISS, cast, is_ray, unit_of, write_ray
from gjk3d.query.raycast import ROW_WIDTH, RayHit, cast_rays
from gjk3d.scene.objects import Objects, packed
from gjk3d.scene.pairs import Shapes, Side, core_of, number_at, place
from gjk3d.scene.query import SceneHit, search_scratch
from gjk3d.typing import Array, Array2, Ints, Ints1, Ints2

#: codes of a ray without a result: the ray is invalid, the kernels cannot compute its hit, planes or a tree are missing
NO_RAY, LEFT_OPEN, LACKS = -1, -2, -3
TREE = -1  #: replaces the number of planes in ``spans`` if a shape has a tree
START, DIRECTION, SLOT = range(1, 4)  #: rows of the output of `first_of_one` after the result in row 0
ROWS = 4  #: number of rows of this output


class Faces(NamedTuple):
    """Planes of hulls and half-spaces, and trees of meshes."""

    planes: Array2  #: unit normals and offsets
    #: for each shape its first row of ``planes`` and their number, or its row of ``trees`` and `TREE`. The first is
    #: `LEFT_OPEN` for a shape that the kernels do not support, and `LACKS` for a shape that is not added yet.
    spans: Ints2
    trees: Ints2  #: for each mesh, 1 if it is closed or else 0, then the heads of both trees of `ray_trees_of`


class Rays(NamedTuple):
    """Origins and unit directions of rays, (n, 3) each."""

    starts: Array2
    directions: Array2


class Hits(NamedTuple):
    """The output arrays for rays."""

    out: Array2  #: rows as `gjk3d.narrow.ray.ray_once` writes them
    codes: Ints1  #: code of `First` for each ray
    slots: Ints1  #: slot of the first object for each ray, -1 for a miss


class First(NamedTuple):
    """The first hit of a ray."""

    code: int  #: MISS, HIT or INSIDE, or LEFT_OPEN or LACKS
    distance: float
    normal: Vec3
    slot: int  #: slot of the object, -1 for a miss; the number of the shape for LACKS


@kernel
def nearer_hit(
    shapes: Shapes, side: Side, faces: Faces, slot: int, starts: Array, directions: Array, k: int,
    far: float, first: First, wide: WideStack,
) -> First:  # fmt: skip
    """Return the nearer of ``first`` and the hit of ray k with the object in a slot. Ties go to the first name.

    The code is LEFT_OPEN or LACKS if the hit cannot be computed, see `first_of`.
    """
    number = number_at(side, slot)
    begin, count = faces.spans[number, 0], faces.spans[number, 1]
    if begin < 0:
        return First(begin, first.distance, first.normal, number)
    p, d, row = row3(starts, k), row3(directions, k), side.rows[slot]
    if count == TREE:
        h = faces.trees[begin]
        surface, skin = tree_in(h[1:]), tree_in(h[1 + HEAD :])
        code, t, n = hit_at(row, p, d, min(far, first.distance), h[0] != 0, surface, skin, wide)
    else:
        core = core_of(shapes, number)
        code, t, n = cast(core.ints, core.floats, faces.planes[begin : begin + count], row, p, d, far)
    if code == GENERAL:
        return First(LEFT_OPEN, first.distance, first.normal, slot)
    ties = t == first.distance and first.slot >= 0
    later = t > first.distance or (ties and side.ranks[slot] > side.ranks[first.slot])
    return first if code == MISS or later else First(code, t, n, slot)


@inlined
def order_children(boxes: Array, left: int, right: int, starts: Array, directions: Array, k: int) -> tuple[int, int]:
    """Return the nodes ``left`` and ``right`` in order: the node with its box's centre farther along ray k is first."""
    further = 0.0
    for c in range(3):
        further += directions[k, c] * (boxes[left, c] + boxes[left, 3 + c] - boxes[right, c] - boxes[right, 3 + c])
    return (left, right) if further > 0.0 else (right, left)


@kernel
def first_of(
    shapes: Shapes, side: Side, faces: Faces, starts: Array, directions: Array, k: int, far: float,
    stack: Ints, wide: WideStack,
) -> First:  # fmt: skip
    """Return the first hit of ray k up to the distance ``far``, see `First`.

    The code is LEFT_OPEN if the kernels cannot compute the hit. It is LACKS if the planes or the tree of a shape are
    missing.
    """
    first = First(MISS, inf, (0.0, 0.0, 0.0), -1)
    for floor in side.floors:
        first = nearer_hit(shapes, side, faces, floor, starts, directions, k, far, first, wide)
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
        first = nearer_hit(shapes, side, faces, node, starts, directions, k, far, first, wide)
        if first.code < 0:
            return first
    return first


@entry
def first_of_one(
    shapes: Shapes, side: Side, faces: Faces, origin: Vec3, direction: Vec3, most: float, stack: Ints2,
    wide: WideStack, out: Array2,
) -> int:  # fmt: skip
    """Write the result of one ray to ``out[0]``, and ``slot`` of `First` to ``out[SLOT, 0]``; return the code.

    The code is that of `first_of`, or NO_RAY if the origin or the direction is invalid.
    """
    place(shapes, side)
    if not is_ray(origin, direction):
        return NO_RAY
    d, is_zero = unit_of(direction)
    if is_zero:
        return NO_RAY
    out[START, 0], out[START, 1], out[START, 2] = origin
    out[DIRECTION, 0], out[DIRECTION, 1], out[DIRECTION, 2] = d
    first = first_of(shapes, side, faces, out[START:], out[DIRECTION:], plain(0), most, stack, wide)
    write_ray((first.code, first.distance, first.normal), origin, d, out, plain(0))
    out[SLOT, 0] = first.slot
    return first.code


@entry
def first_of_many(
    shapes: Shapes, side: Side, faces: Faces, rays: Rays, most: float, stack: Ints2,
    wide: WideStack, begin: int, stop: int, hits: Hits,
) -> int:  # fmt: skip
    """Write the results of the rays begin to stop - 1 to ``hits``; return ``stop`` or the first ray with code LACKS."""
    starts, directions, codes, slots = rays.starts, rays.directions, hits.codes, hits.slots
    for k in range(begin, stop):
        first = first_of(shapes, side, faces, starts, directions, k, most, stack, wide)
        codes[k], slots[k] = first.code, first.slot
        if first.code == LACKS:
            return k
        write_ray((first.code, first.distance, first.normal), row3(starts, k), row3(directions, k), hits.out, k)
    return stop


_CHUNK = 4096  #: greatest number of rays of one call, so that Ctrl-C works


class Planes:
    """Planes and trees of the shapes of a scene. They are added when a ray first needs them, see `Faces`.

    ``pairs`` is the `ShapeStore` of the scene.
    """

    __slots__ = ("faces", "kept", "pairs", "used")

    def __init__(self, pairs: Any) -> None:
        self.pairs, self.used = pairs, 0
        self.kept: list[tuple[WideTree, WideTree]] = []  #: trees whose addresses are in ``trees`` of `Faces`
        none = np.empty((0, 1 + 2 * HEAD), dtype=np.int64)
        self.faces = Faces(np.empty((0, 4)), np.full((len(pairs), 2), LACKS), none)

    def __reduce__(self) -> Any:
        return Planes, (self.pairs,)  # addresses are valid in one process only

    def add(self, number: int) -> None:
        """Add the planes or the tree of a shape once. Array entries that another thread may read are not changed."""
        planes, spans, trees = self.faces
        if spans[number, 0] != LACKS:
            return
        shape, spans = self.pairs.shapes[number], spans.copy()
        if isinstance(shape, Mesh):
            kept = ray_trees_of(shape)
            heads = [number for tree in kept for number in head_of(tree)]
            spans[number] = len(trees), TREE
            trees = np.vstack([trees, [int(shape.is_solid), *heads]])
            self.kept.append(kept)
        elif self.pairs.mapped[number] or self.pairs.mixed[number]:
            spans[number] = LEFT_OPEN
        else:
            more = planes_of(shape)
            stop = self.used + len(more)
            if stop > len(planes):
                planes = np.resize(planes, (2 * stop, 4))
            planes[self.used : stop] = more
            spans[number] = self.used, len(more)
            self.used = stop
        self.faces = Faces(planes, spans, trees)


def _planes(objects: Objects) -> Planes:
    cached: Planes | None = objects.ray_planes
    if cached is None or cached.pairs is not objects.pairs:
        cached = objects.ray_planes = Planes(objects.pairs)
    return cached


def first_hit(objects: Objects, origin: Any, direction: Any, far: float) -> SceneHit[float] | None:
    """Return the first hit of one ray; None if the ray is invalid, or if only `first_hits` can compute the hit."""
    if origin is None or direction is None:
        return None
    fresh = objects.settle_but_one()
    planes = _planes(objects)
    stack, wide = search_scratch(len(objects.tree.links) + 4)[1].stack, stack_of_thread()
    out = np.empty((ROWS, ROW_WIDTH))
    while True:
        side = objects.side(fresh, True)
        code = first_of_one(packed(objects.pairs), side, planes.faces, origin, direction, far, stack, wide, out)
        if fresh >= 0:
            objects.moved.clear()
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


def first_hits(objects: Objects, starts: Array, units: Array, far: float, stacked: bool, workers: int) -> SceneHit[Any]:
    """Return the first hit of each ray. At equal distances, that of the first object by name is returned.

    ``units`` are unit directions, and ``far`` is the greatest distance of a hit. Without ``stacked`` the result is that
    of a single ray.
    """
    objects.settle()
    count = len(starts)
    out, codes, owner = np.empty((count, ROW_WIDTH)), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    planes, side, adding = _planes(objects), objects.side(-1, True), Lock()
    rays, hits = Rays(starts, units), Hits(out, codes, owner)

    def run(ray: int, stop: int) -> None:
        stack, wide = search_scratch(len(objects.tree.links) + 4)[1].stack, stack_of_thread()
        while ray < stop:
            faces = planes.faces
            ray = first_of_many(packed(objects.pairs), side, faces, rays, far, stack, wide, ray, stop, hits)
            if ray < stop:
                with adding:
                    planes.add(int(owner[ray]))

    in_chunks(count, workers, run, _CHUNK)
    left = np.flatnonzero(codes == LEFT_OPEN)
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
    """Compute the first hits of the rays with the indices ``left``, and write them to the arrays ``to``.

    These rays may hit an object that the kernels do not support. ``starts`` and ``units`` contain only these rays, and
    ``to`` has the arrays of `Hits` for all rays.
    """
    count = len(starts)
    best, owner = np.full(count, np.inf), np.full(count, -1, dtype=np.int64)
    normals, inside = np.full((count, 3), np.nan), np.zeros(count, dtype=bool)
    planes = objects.floors
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
    """Return the index of each shape with the rows (ray, slot) of ``block`` whose slot has this shape."""
    which = objects.which[block[:, 1]]
    order = np.argsort(which, kind="stable")
    numbers, begins = np.unique(which[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(block[order], begins[1:]), strict=True)) if len(block) else []


def _update_nearest(
    objects: Objects, rays: Ints, slots: Ints, hit: RayHit, best: Array, owner: Ints, normals: Array,
    inside: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Replace the first hits of rays by nearer hits.

    Row i of ``hit`` is the result of ray ``rays[i]`` and the object in ``slots[i]``. ``best``, ``owner``, ``normals``
    and ``inside`` have the distance, slot, normal and flag of the first hit of each ray.
    """
    ranks = objects.ranks
    order = np.lexsort((ranks[slots], hit.distance, rays))
    order = order[hit.hit[order]]
    first = order[np.unique(rays[order], return_index=True)[1]]  # one hit for each ray
    ray, slot, distance = rays[first], slots[first], hit.distance[first]
    sooner = (distance < best[ray]) | ((distance == best[ray]) & (ranks[slot] < ranks[owner[ray]]))
    ray, first = ray[sooner], first[sooner]
    best[ray], owner[ray] = hit.distance[first], slots[first]
    normals[ray], inside[ray] = hit.normal[first], hit.inside[first]
