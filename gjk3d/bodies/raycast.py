"""Rays on bodies: stacks of rays on a mesh, and the first hits on all kinds of bodies.

Triangles are tested against the float64 ray. A ray that begins inside a closed surface hits at its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain, single_entry
from gjk3d._kernels.vectors import boxes_on_ray, lowest_bit
from gjk3d.bodies.base import Body, packed_parts
from gjk3d.bodies.bvh import WideStack, WideTree, row_of, stack_of_thread, wide_tree_of
from gjk3d.bodies.grids import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import (
    Ray,
    areas_on,
    box_of,
    extent_of,
    first_triangle,
    hit_triangle,
    holds,
    is_clear,
    is_in_box,
    is_on,
    is_within,
    leaf_hits,
    outline,
    ray_on,
    to_triangle,
    triangle_at,
)
from gjk3d.bodies.parts import PlacedParts, TreeParts
from gjk3d.bodies.triangles import Triangle, vec_at
from gjk3d.convex.batch import in_chunks
from gjk3d.geometry.vec3 import Vec3, along, dot, row3, scale, sub, turn, turn_back
from gjk3d.narrow.ray import HIT, INSIDE, MISS, is_ray, unit_of, write_ray
from gjk3d.narrow.workspace import per_thread
from gjk3d.poses import IDENTITY, check_row, moved_back
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Array1, Array2, Bools, Bools1, Ints, Ints1

# --- stacks of rays on a mesh ----------------------------------------------------------------------------------------


_CHUNK = 4096  #: rays per call of the kernel
_FARTHEST = 1e307  #: limit in place of an infinite one
_MISSED, _INSIDE = -1, -2  #: results in place of a face number


@inlined
def _facing(n: Vec3, d: Vec3) -> Vec3:
    """Return the unit vector along n or -n that points against the direction d, or -d for a triangle without area."""
    length = sqrt(dot(n, n))
    if not length > 0.0:
        return (-d[0], -d[1], -d[2])
    return scale(-1.0 / length if dot(n, d) > 0.0 else 1.0 / length, n)


class Rays(NamedTuple):
    """Rays in the world frame, and a pose row of the mesh for each ray. An array with one row applies to all rays."""

    origins: Array2
    directions: Array2  #: of any length
    poses: Array2
    limits: Array1  #: greatest distances
    closed: bool = False  #: whether a ray may begin inside the surface


class Hits(NamedTuple):
    """The first hit of each ray, as arrays with an item per ray."""

    distances: Array1
    points: Array2
    normals: Array2
    units: Array2  #: the directions as unit vectors
    hit: Bools1
    inside: Bools1
    faces: Ints1


BLOCK = 64  #: rays whose first triangles are read from memory together, so that the reads do not wait for each other


#: scratch for a block of rays, with a row for each: the ray in the mesh's frame, its limit, noise and first triangle
block_of_thread = per_thread(lambda: np.empty((BLOCK, 17)))


@inlined
def _unit(v: Vec3) -> tuple[Vec3, bool]:
    """Return the unit vector of a direction, and whether the direction is zero, as `unit_of` does.

    For directions of a usual length, one division is sufficient.
    """
    square = dot(v, v)
    if 1e-200 < square < 1e200:
        return scale(1.0 / sqrt(square), v), False
    return unit_of(v)


@inlined
def _set_up(rays: Rays, k: int, row: Array, units: Array) -> bool:
    """Write ray k in the mesh's frame to ``row``, and its world direction to ``units``; return False if invalid."""
    m = rays.poses[row_of(rays.poses, k)]
    o, direction = row3(rays.origins, row_of(rays.origins, k)), row3(rays.directions, row_of(rays.directions, k))
    u, is_zero = _unit(direction)
    if is_zero or not is_ray(o, direction):
        return False
    units[k, 0], units[k, 1], units[k, 2] = u
    row[0], row[1], row[2] = turn_back(m, (o[0] - m[9], o[1] - m[10], o[2] - m[11]))
    row[3], row[4], row[5] = turn_back(m, u)
    row[6] = min(rays.limits[row_of(rays.limits, k)], _FARTHEST)
    return True


@single_entry
def first_hits(
    rays: Rays, start: int, stop: int, t: WideTree, skin: WideTree, w: WideStack, block: Array2, out: Hits
) -> int:
    """Write the first hits of rays ``start`` to ``stop - 1``; return -1, or the index of the first invalid ray.

    ``skin`` is the tree of the closed surface of the mesh, and ``block`` is scratch, see `block_of_thread`.
    """
    box = box_of(skin)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        for k in range(begin, end):
            if not _set_up(rays, k, block[k - begin], out.units):
                return k
        for k in range(begin, end):
            row = block[k - begin]
            p = vec_at(row, 0)
            out.faces[k] = _MISSED
            if rays.closed and is_in_box(p, box) and is_within(p, box, skin, w):
                out.faces[k] = _INSIDE
                continue
            ray = ray_on(p, (row[3], row[4], row[5]), t)
            row[7] = ray.noise
            if ray.begin >= 0.0:
                out.faces[k] = first_triangle(ray, row[6], False, t, w).face
        for k in range(begin, end):
            face = out.faces[k]
            if face >= 0:
                row = block[k - begin]
                for q in range(3):
                    vertex = t.vertices[t.faces[face, q]]
                    row[8 + 3 * q], row[9 + 3 * q], row[10 + 3 * q] = vertex[0], vertex[1], vertex[2]
        for k in range(begin, end):
            _finish(rays, k, block[k - begin], t, w, out)
    return -1


@inlined
def _finish(rays: Rays, k: int, row: Array, t: WideTree, w: WideStack, out: Hits) -> None:
    """Write the hit of ray k to ``out``, where its face is known; ``row`` is the ray's row of the scratch block."""
    face, distance, u, n = plain(out.faces[k]), 0.0, row3(out.units, k), (nan, nan, nan)
    inside = face == _INSIDE
    if face >= 0:
        p, d, far, noise = (row[0], row[1], row[2]), (row[3], row[4], row[5]), row[6], row[7]
        triangle = (row[8], row[9], row[10]), (row[11], row[12], row[13]), (row[14], row[15], row[16])
        distance, normal = hit_triangle(p, d, noise, triangle)
        if not distance <= far:
            face = first_triangle(ray_on(p, d, t), far, True, t, w).face
            if face >= 0:
                distance, normal = hit_triangle(p, d, noise, triangle_at(t, face))
        inside = face >= 0 and distance <= 2.0 * noise
        if face >= 0 and not inside:
            n = turn(rays.poses[row_of(rays.poses, k)], _facing(normal, d))
    hit = face >= 0 or inside
    if inside:
        distance, n = 0.0, (-u[0], -u[1], -u[2])
    out.hit[k], out.inside[k], out.faces[k] = hit, inside, max(face, -1)
    out.distances[k] = distance if hit else inf
    o, ahead = row3(rays.origins, row_of(rays.origins, k)), distance if hit else nan
    for c in range(3):
        out.points[k, c], out.normals[k, c] = o[c] + ahead * u[c], n[c]


@kernel
def hit_at(
    row: Array, origin: Vec3, unit: Vec3, most: float, closed: bool, t: WideTree, skin: WideTree, w: WideStack
) -> tuple[int, float, Vec3]:
    """Return HIT, INSIDE or MISS, and the distance and world normal of a ray's first hit on a mesh at a pose row."""
    box, far = box_of(skin), min(most, _FARTHEST)
    against = (-unit[0], -unit[1], -unit[2])
    p, d = turn_back(row, (origin[0] - row[9], origin[1] - row[10], origin[2] - row[11])), turn_back(row, unit)
    if closed and is_in_box(p, box) and is_within(p, box, skin, w):
        return plain(INSIDE), 0.0, against
    ray = ray_on(p, d, t)
    if ray.begin >= 0.0:
        found = first_triangle(ray, far, True, t, w)
        if found.face >= 0 and found.exact <= 2.0 * ray.noise:
            return plain(INSIDE), 0.0, against
        if found.face >= 0:
            _, n = hit_triangle(p, d, ray.noise, triangle_at(t, found.face))
            return plain(HIT), found.exact, turn(row, _facing(n, d))
    return plain(MISS), inf, unit


@single_entry
def first_hit(
    m: Array2, origin: Vec3, direction: Vec3, most: float, closed: bool, t: WideTree, skin: WideTree, w: WideStack,
    out: Array2,
) -> int:  # fmt: skip
    """Write the first hit of one ray on a mesh to row 0 of ``out``, see `gjk3d.narrow.ray.write_ray`.

    Row 1 is scratch for the pose. Returns HIT, INSIDE or MISS, or -1 if the ray or the matrix ``m`` is not valid.
    """
    u, is_zero = _unit(direction)
    if is_zero or not is_ray(origin, direction) or check_row(m, out, plain(1)) != 0:
        return -1
    entry = hit_at(out[1], origin, u, most, closed, t, skin, w)
    write_ray(entry, origin, u, out, plain(0))
    return entry[0]


# --- all hits ---------------------------------------------------------------------------------------------------------


class AllHits(NamedTuple):
    """Hits sorted by ray and distance, at the beginning of arrays that may be longer."""

    distances: Array1
    faces: Ints1
    places: Ints1  #: IN_FACE, ON_RIM or ALONG_PLANE
    repeated: Bools1  #: whether an earlier hit is at the same edge or corner, see `_is_repeated`


IN_FACE, ON_RIM, ALONG_PLANE = range(3)


@inlined
def _collect(ray: Ray, far: float, t: WideTree, w: WideStack, out: AllHits, used: int) -> int:
    """Append the triangles on a ray to the first ``used`` hits of ``out``, and return the new number of hits.

    The result is -1 if the arrays are full.
    """
    limit = (far - ray.begin) * t.scale * 1.000001 + 1e-6 + ray.error
    top = 1
    w.nodes[0] = 0
    while top > 0:
        top -= 1
        node = w.nodes[top]
        if node >= 0:
            bits = boxes_on_ray(t.boxes, node, ray.slabs, limit, w.entries)
            while bits != 0:
                w.nodes[top] = plain(t.children[node, lowest_bit(bits)])
                bits &= bits - 1
                top += 1
            continue
        bits = leaf_hits(ray, -2 - node, t, w).bits & 255
        while bits != 0:
            face = plain(t.numbers[-2 - node, lowest_bit(bits)])
            bits &= bits - 1
            distance = to_triangle(ray.origin, ray.direction, ray.noise, triangle_at(t, face))
            if distance <= far:
                if used == out.faces.shape[0]:
                    return -1
                out.distances[used], out.faces[used] = distance, face
                used += 1
    return used


@kernel
def _place_on(p: Vec3, d: Vec3, t: Triangle, noise: float) -> int:
    """Return IN_FACE, ON_RIM for a hit on an edge or corner, or ALONG_PLANE for a ray in the plane of the triangle."""
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    if is_clear(areas_on(d, a, b, c), 4.0 * noise * extent_of(a, b, c)):
        return IN_FACE
    (u, v, w), (x, y, z) = outline(d, a, b, c)
    near, total = 16.0 * noise * noise, u + v + w
    if total * total <= near * max(x, y, z):
        return ALONG_PLANE
    return ON_RIM if u * u <= near * x or v * v <= near * y or w * w <= near * z else IN_FACE


@inlined
def _sort(first: int, used: int, out: AllHits) -> None:
    for i in range(first + 1, used):
        distance, face, k = out.distances[i], out.faces[i], i
        while k > first and (
            out.distances[k - 1] > distance or (out.distances[k - 1] == distance and out.faces[k - 1] > face)
        ):
            out.distances[k], out.faces[k] = out.distances[k - 1], out.faces[k - 1]
            k -= 1
        out.distances[k], out.faces[k] = distance, face


@inlined
def _is_repeated(i: int, first: int, p: Vec3, d: Vec3, noise: float, t: WideTree, out: AllHits) -> bool:
    """Return whether hit i repeats an earlier hit of the ray.

    Two hits are one if they are on a common edge or corner, or if the ray passes from one to the other within a face.
    """
    face, point = triangle_at(t, plain(out.faces[i])), along(p, d, out.distances[i])
    for j in range(i - 1, first - 1, -1):
        on_rim = out.places[i] != IN_FACE or out.places[j] != IN_FACE
        # a face is convex, so it contains the segment of the ray between two points on the face
        if on_rim and (
            is_on(point, triangle_at(t, plain(out.faces[j])), 16.0 * noise)
            or is_on(along(p, d, out.distances[j]), face, 16.0 * noise)
        ):
            return True
    return False


@inlined
def _sort_and_join(first: int, used: int, ray: Ray, t: WideTree, out: AllHits) -> int:
    """Sort hits ``first`` to ``used - 1``, all of one ray, remove repeated ones, and return the new ``used``."""
    p, d, noise = ray.origin, ray.direction, ray.noise
    _sort(first, used, out)
    for i in range(first, used):
        out.places[i] = _place_on(p, d, triangle_at(t, plain(out.faces[i])), noise)
        out.repeated[i] = _is_repeated(i, first, p, d, noise, t, out)
    kept = first
    for i in range(first, used):
        if out.repeated[i]:
            # a face that the ray crosses has a clear normal
            is_same = kept > first and out.distances[i] <= out.distances[kept - 1] + 4.0 * noise
            if is_same and out.places[kept - 1] == ALONG_PLANE and out.places[i] != ALONG_PLANE:
                out.faces[kept - 1], out.places[kept - 1] = out.faces[i], out.places[i]
        else:
            out.distances[kept], out.faces[kept], out.places[kept] = out.distances[i], out.faces[i], out.places[i]
            kept += 1
    return kept


@entry
def all_hits(
    rays: Rays, start: int, stop: int, t: WideTree, w: WideStack, row: Array1, units: Array2, counts: Ints1,
    out: AllHits,
) -> tuple[int, int]:  # fmt: skip
    """Write all hits of rays ``start`` to ``stop - 1``, and the number of hits of each ray to ``counts``.

    Returns the index of the first ray that was not done, or ``stop``, and the number of all hits. A ray is not done if
    the arrays are full, or if the ray is not valid. An invalid ray has the count -1.
    """
    used = 0
    for k in range(start, stop):
        if not _set_up(rays, k, row, units):
            counts[k] = -1
            return k, used
        ray = ray_on(vec_at(row, 0), vec_at(row, 3), t)
        more = _collect(ray, row[6], t, w, out, used) if ray.begin >= 0.0 else used
        if more < 0:
            return k, used
        more = _sort_and_join(used, more, ray, t, out)
        counts[k], used = more - used, more
    return stop, used


def all_on_mesh(mesh: Mesh, rays: Rays, count: int, workers: int = 1) -> tuple[Ints, Array, Ints, Array] | int:
    """Return the number of hits of each ray, the distances and faces of all hits, and the rays' unit directions.

    If a ray is not valid, only the index of this ray is returned.
    """
    tree, units, counts = wide_tree_of(mesh._once), np.empty((count, 3)), np.zeros(count, dtype=np.int64)
    blocks: dict[int, tuple[Array, Ints]] = {}

    def run(start: int, stop: int) -> None:
        size, row = 4 * (stop - start), np.empty(8)
        while start < stop:
            faces, places = np.empty((2, size), dtype=np.int64)
            out = AllHits(np.empty(size), faces, places, np.empty(size, dtype=bool))
            begin = start
            start, used = all_hits(rays, start, stop, tree, stack_of_thread(), row, units, counts, out)
            blocks[begin] = out.distances[:used], out.faces[:used]
            if start < stop and counts[start] < 0:
                return
            size *= 2 if start == begin else 1

    in_chunks(count, workers, run, _CHUNK)
    if (counts < 0).any():
        return int(counts.argmin())
    ordered = [blocks[begin] for begin in sorted(blocks)]
    empty = [(np.empty(0), np.empty(0, dtype=np.int64))]
    distances, faces = (np.concatenate(parts) for parts in zip(*(ordered or empty), strict=True))
    return counts, distances, mesh._numbers(faces, mesh._doubles), units


# --- queries ----------------------------------------------------------------------------------------------------------


def ray_trees_of(mesh: Mesh) -> tuple[WideTree, WideTree]:
    """Return the tree of all triangles of a mesh, and the tree of those that bound the solid of a closed mesh."""
    tree = wide_tree_of(mesh)
    return tree, wide_tree_of(mesh.skin) if mesh.is_solid else tree


def single_cast(mesh: Mesh) -> Callable[..., int]:
    """Return a function that casts one ray on a mesh, see `first_hit`.

    Its arguments are the pose, the origin and the direction of the ray, the greatest distance and the result array.
    """
    (tree, skin), closed = ray_trees_of(mesh), mesh.is_solid

    def cast(pose: Array, origin: Vec3, direction: Vec3, most: float, out: Array) -> int:
        return first_hit(pose, origin, direction, most, closed, tree, skin, stack_of_thread(), out)

    return cast


def hits_on_mesh(mesh: Mesh, rays: Rays, count: int, workers: int = 1) -> Hits | int:
    """Return the first hits of rays, or the index of a ray that is not valid."""
    # One allocation, since malloc returns the pages of three to the system, and new pages cost a third of the time.
    points, normals, units = np.empty((3, count, 3))
    hit, inside = (np.empty(count, dtype=bool) for _ in range(2))
    hits = Hits(np.empty(count), points, normals, units, hit, inside, np.empty(count, dtype=np.int64))
    faults: list[int] = []
    (tree, skin), rays = ray_trees_of(mesh), rays._replace(closed=mesh.is_solid)

    def run(start: int, stop: int) -> None:
        fault = first_hits(rays, start, stop, tree, skin, stack_of_thread(), block_of_thread(), hits)
        if fault >= 0:
            faults.append(fault)

    in_chunks(count, workers, run, _CHUNK)
    if faults:
        return min(faults)
    return hits


# --- first hits on all kinds of bodies -------------------------------------------------------------------------------


CastPart = Callable[[Any, Array, Array, Array, float], Any]  #: (shape, pose rows, origins, directions, most) -> hits
LocalHits = tuple[Array, Array, Bools]  #: distance (infinite for a miss), normal, whether the ray begins inside


def _cast(
    local_hits: Callable[..., LocalHits], body: Any, poses: Array, starts: Array, units: Array, most: float, out: Array,
    codes: Ints, cast_part: CastPart,
) -> None:  # fmt: skip
    """Write the hits of rays on a body: distances and world normals to ``out``, HIT, MISS or INSIDE to ``codes``.

    ``local_hits`` returns the hits in the frame of the body. ``cast_part`` is `gjk3d.query.raycast.cast_rays`, which
    casts rays on the parts.
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
    """Return world vectors in the frames of pose rows, (count, 3). A single pose or vector applies to all rows."""
    inverses = poses[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1)
    return np.ascontiguousarray(np.broadcast_to((inverses @ vectors[..., None])[..., 0], (count, 3)))


def cast_on_mesh(
    mesh: Mesh, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Ints, _: CastPart
) -> None:
    """Write the first hits of rays on a mesh, with normals against the rays; the arguments are as in `_cast`."""
    hits = hits_on_mesh(mesh, Rays(starts, units, poses, np.full(1, most)), len(out))
    assert isinstance(hits, Hits)  # the rays were checked
    out[:, 0], out[:, 1:] = hits.distances, hits.normals
    codes[:] = np.where(hits.inside, INSIDE, np.where(hits.hit, HIT, MISS))


def _on_parts(body: Body, starts: Array, directions: Array, most: float, cast_part: CastPart) -> LocalHits:
    parts = body._as_parts()
    assert isinstance(parts, TreeParts)
    best, inside = np.full(len(starts), np.inf), np.zeros(len(starts), dtype=bool)
    normals = -directions
    for mesh, row in () if isinstance(parts, PlacedParts) else parts.solids:  # `PlacedParts` casts whole meshes below
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
    """Yield each distinct shape or mesh, the indices of the rays that may hit it, and its pose row for each ray."""
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
    """Return where each ray enters and leaves the rectangle of the grid, seen from above, as distances along the ray.

    The third value is the axis, 0 for x and 1 for y, of the side at which the ray enters. A ray that misses the
    rectangle has a first distance above the second.
    """
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
    """Write the first hits of rays on a height field with a bottom; ``rays`` are the arguments of `cast_on_mesh`."""
    cast_on_mesh(field._skin, *rays)
