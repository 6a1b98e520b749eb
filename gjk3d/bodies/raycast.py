"""First hits of rays on bodies: meshes, height fields, and bodies of several parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_hits import Hits, Rays, hits_on_mesh
from gjk3d.bodies.mesh_sides import holds
from gjk3d.bodies.part_tree import packed_parts
from gjk3d.bodies.parts import PlacedParts, TreeParts
from gjk3d.narrow.ray import HIT, INSIDE, MISS
from gjk3d.poses import IDENTITY, moved_back
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

CastPart = Callable[[Any, Array, Array, Array, float], Any]  #: (shape, pose rows, origins, directions, most) -> hits
LocalHits = tuple[Array, Array, Bools]  #: distance (infinite for a miss), normal, whether the ray begins inside


def _cast(
    local_hits: Callable[..., LocalHits], body: Any, poses: Array, starts: Array, units: Array, most: float, out: Array,
    codes: Ints, cast_part: CastPart,
) -> None:  # fmt: skip
    """Write the hits of rays in world axes on a body: distances, normals, and HIT, MISS or INSIDE.

    ``local_hits`` returns the hits in the frame of the body. ``cast_part`` casts rays on its parts:
    `gjk3d.query.raycast.cast_rays`.
    """
    count = len(out)
    turns = np.broadcast_to(poses[:, :9].reshape(-1, 3, 3), (count, 3, 3))
    local_starts = _turned_back(poses, starts - poses[:, 9:12], count)
    directions = _turned_back(poses, units, count)
    distances, normals, within = local_hits(body, local_starts, directions, most, cast_part)
    hit = within | ((distances < np.inf) & (distances <= most))
    out[:, 0] = np.where(within, 0.0, np.where(hit, distances, np.inf))
    out[:, 1:] = np.where(within[:, None], -units, (turns @ normals[..., None])[..., 0]) + 0.0
    codes[:] = np.where(within, INSIDE, np.where(hit, HIT, MISS))


def _turned_back(poses: Array, vectors: Array, count: int) -> Array:
    """Return vectors of the world in the frames of pose rows; one pose or vector may be for all."""
    inverses = poses[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1)
    return np.ascontiguousarray(np.broadcast_to((inverses @ vectors[..., None])[..., 0], (count, 3)))


def cast_on_mesh(
    mesh: Mesh, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Ints, _: CastPart
) -> None:
    """Write the hits on triangles, with normals against the ray; see `_cast`."""
    hits = hits_on_mesh(mesh, Rays(starts, units, poses, np.full(1, most)), len(out))
    assert isinstance(hits, Hits)  # the rays were checked
    out[:, 0], out[:, 1:] = hits.distances, hits.normals
    codes[:] = np.where(hits.inside, INSIDE, np.where(hits.hit, HIT, MISS))


def _on_parts(body: Body, starts: Array, directions: Array, most: float, cast_part: CastPart) -> LocalHits:
    parts = body._as_parts()
    assert isinstance(parts, TreeParts)
    best, inside = np.full(len(starts), np.inf), np.zeros(len(starts), dtype=bool)
    normals = -directions
    for mesh, row in () if isinstance(parts, PlacedParts) else parts.solids:  # others are cast as a whole below
        inside |= holds(mesh, moved_back(row, starts))
    for block in parts.along_rays(starts, directions, most):
        for thing, rays, rows in _things(parts, block):
            hit = cast_part(thing, rows, starts[rays], directions[rays], most)
            inside[rays[hit.inside]] = True
            order = np.lexsort((hit.distance, rays))
            first = order[np.unique(rays[order], return_index=True)[1]]
            first = first[hit.distance[first] < best[rays[first]]]  # nearer than the known hit of the ray
            best[rays[first]], normals[rays[first]] = hit.distance[first], hit.normal[first]
    return best, normals, inside


def _things(parts: TreeParts, block: Ints) -> Iterator[tuple[Shape | Mesh, Ints, Array]]:
    """Yield each distinct shape or mesh, the rays that may hit it, and its pose rows."""
    if isinstance(parts, PlacedParts):  # all triangles of a mesh at once
        block = np.unique(np.column_stack([block[:, 0], parts.owners(block[:, 1])]), axis=0)
        things = [thing for thing, _ in parts.things]
        first: dict[int, int] = {}
        numbers = np.array([first.setdefault(id(thing), k) for k, thing in enumerate(things)])[block[:, 1]]
        rows = np.stack([row for _, row in parts.things])[block[:, 1]]
    else:
        packed = packed_parts(parts.given, block[:, 1])
        numbers, rows = packed.starts[:, 1], packed.rows
    for number in np.unique(numbers):
        some = numbers == number
        thing = things[number] if isinstance(parts, PlacedParts) else parts.shape(int(block[some, 1][0]))
        yield thing, block[some, 0], rows[some]


# --- height fields: the surface, and the four walls below the rim -----------------------------------------------------


def _on_ground(field: HeightField, starts: Array, directions: Array, _: float, cast_part: CastPart) -> LocalHits:
    count = len(starts)
    ground = cast_part(field._skin, np.repeat(IDENTITY, count, axis=0), starts, directions, np.inf)
    distances, normals = ground.distance.copy(), np.where(ground.hit[:, None], ground.normal, -directions)
    enter, leave, axis = _footprint(field, starts, directions)
    over = enter <= leave
    at = starts + np.where(over, enter, 0.0)[:, None] * directions
    below = over & (at[:, 2] <= field._heights_at(at))
    inside = below & (enter == 0.0)
    wall = below & (enter > 0.0) & (enter < distances)
    distances[wall] = enter[wall]
    normals[wall] = -np.sign(np.take_along_axis(directions, axis[:, None], axis=1))[wall] * np.eye(3)[axis[wall]]
    return distances, normals, inside | (ground.inside if count else inside)


def _footprint(field: HeightField, starts: Array, directions: Array) -> tuple[Array, Array, Ints]:
    """Return the start and the end of the part of each ray over the grid, and the axis of its entry."""
    low = field.origin
    high = low + field._steps * (np.array(field.heights.shape) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - starts[:, :2]) / directions[:, :2], (high - starts[:, :2]) / directions[:, :2]
    between = (starts[:, :2] >= low) & (starts[:, :2] <= high)
    still = directions[:, :2] == 0.0
    first = np.where(still, np.where(between, -np.inf, np.inf), np.minimum(to_low, to_high))
    last = np.where(still, np.where(between, np.inf, -np.inf), np.maximum(to_low, to_high))
    return np.maximum(first.max(axis=1), 0.0), last.min(axis=1), first.argmax(axis=1)


cast_on_endless, cast_on_parts = (partial(_cast, hits) for hits in (_on_ground, _on_parts))


def cast_on_ground(field: HeightField, *rays: Any) -> None:
    """Write the hits on a height field with a bottom."""
    cast_on_mesh(field._skin, *rays)
