"""Where rays meet unions of convex parts: the part that each ray meets first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.bodies.compound import Parts
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.unions import InTree, Solid
from gjk3d.narrow.ray import HIT, INSIDE, MISS
from gjk3d.poses import IDENTITY
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints

Cast = Callable[[Any, Array, Array, Array, float], Any]  #: (shape, pose rows, origins, directions, most) -> hits
Hits = tuple[Array, Array, NDArray[np.bool_]]  #: distance, infinite of a miss, normal, whether it begins inside


def cast_union(
    solid: Solid, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Ints, cast: Cast
) -> None:
    """Write what rays in world axes meet of a solid: distances, outward normals, and HIT, MISS or INSIDE.

    ``cast`` answers for the parts: `gjk3d.query.raycast.cast_rays`.
    """
    count = len(out)
    turns = np.broadcast_to(poses[:, :9].reshape(-1, 3, 3), (count, 3, 3))
    back = turns.transpose(0, 2, 1)
    own = np.ascontiguousarray((back @ np.broadcast_to(starts - poses[:, 9:12], (count, 3))[..., None])[..., 0])
    ways = np.ascontiguousarray((back @ np.broadcast_to(units, (count, 3))[..., None])[..., 0])
    distances, normals, inside = (
        _on_ground(solid, own, ways, cast)
        if isinstance(solid, HeightField)
        else _on_parts(solid, own, ways, most, cast)
    )
    hit = inside | ((distances < np.inf) & (distances <= most))
    out[:, 0] = np.where(inside, 0.0, np.where(hit, distances, np.inf))
    out[:, 1:] = np.where(inside[:, None], -units, (turns @ normals[..., None])[..., 0]) + 0.0
    codes[:] = np.where(inside, INSIDE, np.where(hit, HIT, MISS))


def _on_parts(solid: Solid, starts: Array, ways: Array, most: float, cast: Cast) -> Hits:
    union = solid.union()
    assert isinstance(union, InTree)
    best, inside = np.full(len(starts), np.inf), np.zeros(len(starts), dtype=bool)
    normals = -ways
    for block in union.along_rays(starts, ways, most):
        for thing, rays, rows in _things(union, block):
            hit = cast(thing, rows, starts[rays], ways[rays], most)
            _keep(rays, hit, best, normals, inside)
    return best, normals, inside


def _things(union: InTree, block: Ints) -> Iterator[tuple[Shape | Mesh, Ints, Array]]:
    """Yield each distinct shape or mesh, the rays that may meet it, and the pose rows where they may."""
    if isinstance(union, Parts):  # of a mesh all triangles at once
        block = np.unique(np.column_stack([block[:, 0], union.owners(block[:, 1])]), axis=0)
        things = [thing for thing, _ in union.things]
        first: dict[int, int] = {}
        numbers = np.array([first.setdefault(id(thing), k) for k, thing in enumerate(things)])[block[:, 1]]
        rows = np.stack([row for _, row in union.things])[block[:, 1]]
    else:
        parts, numbers = block[:, 1], union.pack(block[:, 1]).starts[:, 1]
        rows = union.rows(parts)
    for number in np.unique(numbers):
        some = numbers == number
        thing = things[number] if isinstance(union, Parts) else union.shape(int(block[some, 1][0]))
        yield thing, block[some, 0], rows[some]


def _keep(rays: Ints, hit: Any, best: Array, normals: Array, inside: Any) -> None:
    """Take over hits that come before what is known of their ray."""
    inside[rays[hit.inside]] = True
    order = np.lexsort((hit.distance, rays))
    first = order[np.unique(rays[order], return_index=True)[1]]
    first = first[hit.distance[first] < best[rays[first]]]
    best[rays[first]], normals[rays[first]] = hit.distance[first], hit.normal[first]


# --- a height field: its surface, and the four walls below its rim --------------------------------------------------


def _on_ground(field: HeightField, starts: Array, ways: Array, cast: Cast) -> Hits:
    if "ground" not in field._cache:
        surface = field.surface()
        field._cache["ground"] = Mesh(surface.vertices, surface.faces)
    count = len(starts)
    rows = np.repeat(IDENTITY, count, axis=0)
    ground = cast(field._cache["ground"], rows, starts, ways, np.inf)
    distances, normals = ground.distance.copy(), np.where(ground.hit[:, None], ground.normal, -ways)
    enter, leave, axis = _footprint(field, starts, ways)
    over = enter <= leave
    at = starts + np.where(over, enter, 0.0)[:, None] * ways
    below = over & (at[:, 2] <= _height(field, at))
    inside = below & (enter == 0.0)
    wall = below & (enter > 0.0) & (enter < distances)
    distances[wall] = enter[wall]
    normals[wall] = -np.sign(np.take_along_axis(ways, axis[:, None], axis=1))[wall] * np.eye(3)[axis[wall]]
    return distances, normals, inside | (ground.inside if count else inside)


def _footprint(field: HeightField, starts: Array, ways: Array) -> tuple[Array, Array, Ints]:
    """Return where rays are over the grid from and to, and the axis along which they come there."""
    low = field.origin
    high = low + field.pitch * (np.array(field.heights.shape) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (low - starts[:, :2]) / ways[:, :2], (high - starts[:, :2]) / ways[:, :2]
    between = (starts[:, :2] >= low) & (starts[:, :2] <= high)
    still = ways[:, :2] == 0.0
    first = np.where(still, np.where(between, -np.inf, np.inf), np.minimum(one, two))
    last = np.where(still, np.where(between, np.inf, -np.inf), np.maximum(one, two))
    return np.maximum(first.max(axis=1), 0.0), last.min(axis=1), first.argmax(axis=1)


def _height(field: HeightField, places: Array) -> Array:
    """Return how high the ground is over places of the grid, beyond it over the nearest."""
    shape = np.array(field.heights.shape)
    at = np.clip((places[:, :2] - field.origin) / field.pitch, 0.0, shape - 1.0)
    cell = np.minimum(at.astype(np.int64), shape - 2)
    u, v = (at - cell).T
    i, j = cell.T
    h = field.heights
    low, far = h[i, j], h[i + 1, j + 1]
    # the two triangles of a cell meet over the line from [i, j] to [i + 1, j + 1]
    other = np.where(u >= v, h[i + 1, j], h[i, j + 1])
    heights: Array = np.where(
        u >= v, low + u * (other - low) + v * (far - other), low + v * (other - low) + u * (far - other)
    )
    return heights
