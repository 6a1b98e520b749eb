"""What rays meet first in a scene, and which object that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.solve import planes_of
from gjk3d.narrow.ray import HIT, INSIDE, MISS
from gjk3d.query.raycast import ROW_WIDTH, RayHit, cast_rays
from gjk3d.scene.objects import Objects
from gjk3d.scene.quick import room
from gjk3d.scene.ray_walk import LACKS, LEFT_OPEN, NO_RAY, ROWS, SLOT, Faces, Hits, Rays, first_of_many, first_of_one
from gjk3d.scene.results import SceneHit
from gjk3d.typing import Array, Ints

_CHUNK = 4096  #: most rays a call, so that Ctrl-C is heard between two
_NO_SPAN = np.array([(-1, 0)], dtype=np.int64)


class Planes:
    """The planes of the shapes of a scene, of each once a ray may meet it; see `gjk3d.scene.ray_walk.Faces`."""

    __slots__ = ("faces", "pairs", "used")

    def __init__(self, pairs: Any) -> None:
        self.pairs, self.used = pairs, 0
        self.faces = Faces(np.empty((0, 4)), np.repeat(_NO_SPAN, len(pairs), axis=0))

    def add(self, number: int) -> None:
        """Put the planes of a shape behind the others."""
        planes, spans = self.faces
        more = planes_of(self.pairs.shapes[number])
        stop = self.used + len(more)
        if stop > len(planes):
            planes = np.resize(planes, (2 * stop, 4))
        planes[self.used : stop] = more
        spans[number] = self.used, len(more)
        self.faces, self.used = Faces(planes, spans), stop


def _planes(objects: Objects) -> Planes:
    known: Planes | None = objects.ray_planes
    if known is None or known.pairs is not objects.pairs:
        known = objects.ray_planes = Planes(objects.pairs)
    return known


def first_hit(objects: Objects, origin: Any, direction: Any, far: float) -> SceneHit[float] | None:
    """Return what one ray meets first; None where it is none, or `first_hits` must answer."""
    if origin is None or direction is None:
        return None
    fresh = objects.settle_but_one()
    if len(objects.planes) > len(objects.floors):
        return None
    planes = _planes(objects)
    stack, out = room(len(objects.tree.links) + 4, 0)[0], np.empty((ROWS, ROW_WIDTH))
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
    """Return where each ray meets an object first, and which; of several there, the first by name."""
    objects.settle()
    count = len(starts)
    out, codes, owner = np.empty((count, ROW_WIDTH)), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    planes, stack = _planes(objects), room(len(objects.tree.links) + 4, 0)[0]
    done = 0
    while done < count:
        stop = min(done + _CHUNK, count)
        rays, hits = Rays(starts, units), Hits(out, codes, owner)
        done = first_of_many(
            objects.packed, objects.side(-1), planes.faces, objects.ranks, rays, far, stack, done, stop, hits
        )
        if done < stop:
            planes.add(int(owner[done]))
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
    """Answer rays that may meet what has no closed form, and write what they meet first into their rows."""
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
            _keep(objects, rays, slots, hit, best, owner, normals, inside)
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


def _keep(
    objects: Objects, rays: Ints, slots: Ints, hit: RayHit, best: Array, owner: Ints, normals: Array,
    inside: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Take over hits that come before what is known of their ray."""
    ranks = objects.ranks
    order = np.lexsort((ranks[slots], hit.distance, rays))
    order = order[hit.hit[order]]
    first = order[np.unique(rays[order], return_index=True)[1]]  # of each ray one
    ray, slot, distance = rays[first], slots[first], hit.distance[first]
    sooner = (distance < best[ray]) | ((distance == best[ray]) & (ranks[slot] < ranks[owner[ray]]))
    ray, first = ray[sooner], first[sooner]
    best[ray], owner[ray] = hit.distance[first], slots[first]
    normals[ray], inside[ray] = hit.normal[first], hit.inside[first]
