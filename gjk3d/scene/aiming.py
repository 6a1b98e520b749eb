"""What rays meet first: the boxes along each ray, and of each distinct shape all its rays in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gjk3d.rays import RayHit, cast_rays
from gjk3d.scene.objects import Objects
from gjk3d.scene.results import SceneHit
from gjk3d.shapes.base import Array, Ints


def first_hits(objects: Objects, starts: Array, units: Array, far: float, stacked: bool) -> SceneHit:
    """Return where each ray meets an object first, and which; of several there, the first by name."""
    objects.settle()
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
    result: SceneHit = object.__new__(SceneHit)
    found = owner >= 0
    result.hit, result.distance, result.inside, result.normal = found, best, inside, normals
    result.origin, result.direction = (np.broadcast_to(rows, (count, 3)) for rows in (starts, units))
    with np.errstate(invalid="ignore"):
        result.point = starts + np.where(found, best, np.nan)[:, None] * units
    result.name = [objects.names[slot] if slot >= 0 else None for slot in owner.tolist()]
    return result if stacked else result[0]


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
