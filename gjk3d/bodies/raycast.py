"""Rays against bodies: the first hit, and whether a point is inside a closed surface.

A point is inside if a ray from it leaves the surface more often than it enters. A ray that passes an edge or corner too
closely is replaced by a ray in another direction. If all directions are unclear, the solid angle of all triangles
decides, for which general position is not required (Jacobson et al., generalized winding numbers, 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import pi, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.base import Body
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_hits import Hits, Rays, hits_on_mesh
from gjk3d.bodies.mesh_sides import NO_COUNT, crossing, holds
from gjk3d.bodies.parts import PlacedParts, TreeParts
from gjk3d.bodies.triangles import read, solid_angle
from gjk3d.geometry.vec3 import Vec3
from gjk3d.narrow.ray import HIT, INSIDE, MISS
from gjk3d.poses import IDENTITY, moved_back
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_NEVER = 1e308
_TRIES = 6
NO, YES, UNCLEAR = range(3)

CastPart = Callable[[Any, Array, Array, Array, float], Any]  #: (shape, pose rows, origins, directions, most) -> hits
LocalHits = tuple[Array, Array, Bools]  #: distance (infinite for a miss), normal, whether the ray begins inside


@kernel
def _entry(p: Vec3, d: Vec3, boxes: Array, i: int, noise: float) -> float:
    """Return the distance along a ray to a box, very large for a miss."""
    x, y, z = p[0] - boxes[i, 0], p[1] - boxes[i, 1], p[2] - boxes[i, 2]
    near, far = 0.0, _NEVER
    for k in range(3):
        a, b, c = boxes[i, 6 + 3 * k], boxes[i, 7 + 3 * k], boxes[i, 8 + 3 * k]
        o, s = a * x + b * y + c * z, a * d[0] + b * d[1] + c * d[2]
        half = boxes[i, 3 + k] + noise
        if abs(s) < 1e-12:
            # a nearly parallel ray drifts by less than 1e-11 of the distance from the centre
            if abs(o) > half + 1e-11 * (abs(x) + abs(y) + abs(z)):
                return _NEVER
        else:
            t0, t1 = (-half - o) / s, (half - o) / s
            near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
    # these two cover only the rounding of the quotients, since the half extents include the noise
    return near if near <= far * (1.0 + 1e-12) + noise else _NEVER


@kernel
def _leavings(p: Vec3, d: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> int:
    """Return the number of exits of a ray from the surface minus the number of entries, or `NO_COUNT`."""
    count = 0
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if _entry(p, d, boxes, i, noise) == _NEVER:
            continue
        if links[i, 0] >= 0:
            stack[top, 0] = links[i, 0]
            stack[top + 1, 0] = links[i, 0] + 1
            top += 2
            continue
        for k in range(links[i, 1], links[i, 1] + links[i, 2]):
            change = crossing(p, d, read(corners, k), noise)
            if change == NO_COUNT:
                return NO_COUNT
            count += change
    return count


@kernel
def winding(p: Vec3, corners: Array) -> float:
    """Return the winding number of the triangles about p."""
    total = 0.0
    for k in range(corners.shape[0]):
        total += solid_angle(p, read(corners, k))
    return total / (4.0 * pi)


@kernel
def _leavings_of_rays(p: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> int:
    """Return the result of `_leavings` for the first clear ray of a few rays."""
    for attempt in range(_TRIES):
        # directions off all likely planes of symmetry
        x, y, z = 0.5361 + 0.217 * attempt, 0.3719 - 0.311 * attempt, 0.7577 - 0.173 * attempt * attempt
        n = sqrt(x * x + y * y + z * z)
        count = _leavings(p, (x / n, y / n, z / n), boxes, links, corners, noise, stack)
        if count != NO_COUNT:
            return count
    return NO_COUNT


@kernel
def side_by_rays(p: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> int:
    """Return by a few rays whether a point is inside: NO, YES, or UNCLEAR, for example on the surface."""
    count = _leavings_of_rays(p, boxes, links, corners, noise, stack)
    if count == NO_COUNT:
        return UNCLEAR
    return YES if count != 0 else NO


@kernel
def turns_about(p: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> float:
    """Return 1 for a point inside a closed surface with outward winding, -1 with inward winding, and 0 outside."""
    count = _leavings_of_rays(p, boxes, links, corners, noise, stack)
    turns = winding(p, corners) if count == NO_COUNT else float(count)
    return 1.0 if turns > 0.5 else -1.0 if turns < -0.5 else 0.0


@kernel
def winds_about(p: Vec3, corners: Array) -> bool:
    """Return whether a point is inside the closed surface by the solid angles of all triangles, which is slow."""
    return abs(winding(p, corners)) > 0.5


@kernel
def is_inside(p: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> bool:
    """Return whether a point is inside the closed surface."""
    side = side_by_rays(p, boxes, links, corners, noise, stack)
    return side == YES or (side == UNCLEAR and winds_about(p, corners))


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
            _update_hits(rays, hit, best, normals, inside)
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
        numbers, rows = parts.pack(block[:, 1]).starts[:, 1], parts.rows(block[:, 1])
    for number in np.unique(numbers):
        some = numbers == number
        thing = things[number] if isinstance(parts, PlacedParts) else parts.shape(int(block[some, 1][0]))
        yield thing, block[some, 0], rows[some]


def _update_hits(rays: Ints, hit: Any, best: Array, normals: Array, inside: Any) -> None:
    """Store hits that are nearer than the known hit of their ray."""
    inside[rays[hit.inside]] = True
    order = np.lexsort((hit.distance, rays))
    first = order[np.unique(rays[order], return_index=True)[1]]
    first = first[hit.distance[first] < best[rays[first]]]
    best[rays[first]], normals[rays[first]] = hit.distance[first], hit.normal[first]


# --- height fields: the surface, and the four walls below the rim -----------------------------------------------------


def _on_ground(field: HeightField, starts: Array, directions: Array, _: float, cast_part: CastPart) -> LocalHits:
    count = len(starts)
    ground = cast_part(field._skin, np.repeat(IDENTITY, count, axis=0), starts, directions, np.inf)
    distances, normals = ground.distance.copy(), np.where(ground.hit[:, None], ground.normal, -directions)
    enter, leave, axis = _footprint(field, starts, directions)
    over = enter <= leave
    at = starts + np.where(over, enter, 0.0)[:, None] * directions
    below = over & (at[:, 2] <= _height(field, at))
    inside = below & (enter == 0.0)
    wall = below & (enter > 0.0) & (enter < distances)
    distances[wall] = enter[wall]
    normals[wall] = -np.sign(np.take_along_axis(directions, axis[:, None], axis=1))[wall] * np.eye(3)[axis[wall]]
    return distances, normals, inside | (ground.inside if count else inside)


def _footprint(field: HeightField, starts: Array, directions: Array) -> tuple[Array, Array, Ints]:
    """Return the begin and the end of the part of each ray over the grid, and the axis of its entry."""
    low = field.origin
    high = low + field._steps * (np.array(field.heights.shape) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (low - starts[:, :2]) / directions[:, :2], (high - starts[:, :2]) / directions[:, :2]
    between = (starts[:, :2] >= low) & (starts[:, :2] <= high)
    still = directions[:, :2] == 0.0
    first = np.where(still, np.where(between, -np.inf, np.inf), np.minimum(to_low, to_high))
    last = np.where(still, np.where(between, np.inf, -np.inf), np.maximum(to_low, to_high))
    return np.maximum(first.max(axis=1), 0.0), last.min(axis=1), first.argmax(axis=1)


def _height(field: HeightField, places: Array) -> Array:
    """Return the height of the field over points of the grid, clamped to its rim."""
    shape = np.array(field.heights.shape)
    at = np.clip((places[:, :2] - field.origin) / field._steps, 0.0, shape - 1.0)
    cell = np.minimum(at.astype(np.int64), shape - 2)
    u, v = (at - cell).T
    i, j = cell.T
    h = field.heights
    low, far = h[i, j], h[i + 1, j + 1]
    # the two triangles of a cell share the edge over the line from [i, j] to [i + 1, j + 1]
    third = np.where(u >= v, h[i + 1, j], h[i, j + 1])
    heights: Array = np.where(
        u >= v, low + u * (third - low) + v * (far - third), low + v * (third - low) + u * (far - third)
    )
    return heights


cast_on_endless, cast_on_parts = (partial(_cast, hits) for hits in (_on_ground, _on_parts))


def cast_on_ground(field: HeightField, *rays: Any) -> None:
    """Write the hits on a height field with a bottom."""
    cast_on_mesh(field._skin, *rays)
