"""Depth of two meshes by points of both surfaces, and the directions in which their deepest points leave.

A point of one body inside the other has to leave it, and the nearest exit is at the nearest point of the surface.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import Parts
from gjk3d.bodies.bvh import NO_TREE, traversal_stack
from gjk3d.bodies.depth.convex_faces import NO_PLANES, flat_of, planes_of
from gjk3d.bodies.depth.inside import (
    COLUMNS,
    COUNT,
    ENOUGH,
    LOWER,
    NOISE,
    ROWS,
    SAMPLED,
    Host,
    Waiting,
    enclose,
    in_box,
    look_first,
    room_for,
    seeds_of,
    thinned,
)
from gjk3d.bodies.mesh_trees import STACK, to_point
from gjk3d.bodies.parts import Triangles, closed_skin
from gjk3d.bodies.raycast import is_inside
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Rigid,
    Vec3,
    add,
    along,
    dot,
    offset,
    place,
    row3,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.poses import IDENTITY
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

INNER = 6  #: ways out that are told, the last of them the sum of all
SAME_WAY = 0.99  #: cosine of directions that are as good as one
_CLIMBS = 4  #: points that two balls grow from
_WIDTH = 1e-3  #: relative, of bounds that need no closer look
FOUND_ROWS = 4 * ROWS + 2  #: of what is found

#: the tree of a mesh and some vertices; the tree of its closed skin with `flat_of`; a flag for a solid; `planes_of`
Surface = tuple[Array2, Ints2, Array2, Array2, Array2, Ints2, Array2, Ints2, int, Array2]
#: a stack and its keys, what waits to be enclosed, and what is found
GivenRoom = tuple[Ints2, Array1, Array1, Ints1, Array2, Array2]


class Innermost(NamedTuple):
    """A lower bound of the depth, and a common point at that depth, None if no point inside is known."""

    least: float
    place: Array | None


class Into(NamedTuple):
    """A closed mesh as the host, and the other mesh as the guest whose points are tested; see `Surface`."""

    m: Rigid  #: the pose of the other in its frame
    held_by_b: bool
    host: Host
    boxes: Array2
    links: Ints2
    corners: Array2
    seeds: Array2


@kernel
def _inverse(m: Rigid) -> Rigid:
    """Return the inverse of a pose."""
    t = turn_back(m, offset(m))
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], -t[0], -t[1], -t[2])


@kernel
def _insert_point(points: Array, count: int, depth: float, p: Vec3, exit_vector: Vec3) -> None:
    """Insert a point and its exit vector behind the first row, sorted by depth."""
    k = count + 1
    while k > 1 and points[k - 1, 0] < depth:
        for c in range(COLUMNS):
            points[k, c] = points[k - 1, c]
        k -= 1
    points[k, 0], points[k, 1], points[k, 2], points[k, 3] = depth, p[0], p[1], p[2]
    points[k, 4], points[k, 5], points[k, 6] = exit_vector


@inlined
def _into(m: Rigid, held_by_b: bool, host: Surface, guest: Surface, room: GivenRoom) -> Into:
    """Return the host and the guest of a search, where m is the pose of B in A's frame."""
    to = Host(host[4], host[5], host[6], host[7], host[9], room[0], room[1], room[5])
    return Into(_inverse(m) if held_by_b else m, held_by_b, to, guest[0], guest[1], guest[2], guest[3])


@kernel
def _note_near(m: Rigid, more: float, seeds: Array, boxes: Array, near: Array) -> int:
    """Write the points of a guest at pose m that are in the host's enlarged box, and return their number."""
    count = 0
    for k in range(seeds.shape[0]):
        p = row3(seeds, k)
        if in_box(place(m, p), boxes, more):
            near[count, 0], near[count, 1], near[count, 2] = p
            count += 1
    return count


@kernel
def with_points_near(m: Rigid, most: float, a: Surface, b: Surface, near: Array) -> tuple[Surface, Surface]:
    """Return two surfaces with only those points that may be inside the other one after a move of at most ``most``."""
    if not most < inf:
        return a, b
    of_a, of_b = a[3], b[3]
    if b[8] != 0:
        of_a = near[: _note_near(_inverse(m), most, of_a, b[4], near)]
    if a[8] != 0:
        of_b = near[SAMPLED : SAMPLED + _note_near(m, most, of_b, a[4], near[SAMPLED:])]
    surface_a = (a[0], a[1], a[2], of_a, a[4], a[5], a[6], a[7], a[8], a[9])
    return surface_a, (b[0], b[1], b[2], of_b, b[4], b[5], b[6], b[7], b[8], b[9])


@inlined
def _begin(x: Into, noise: float, lower: float, enough: float) -> None:
    """Reset the results of the last search."""
    for c in range(COLUMNS):
        x.host.results[0, c] = 0.0
    x.host.results[0, NOISE], x.host.results[0, LOWER] = noise, max(lower, 0.0)
    x.host.results[0, ENOUGH] = enough


@kernel
def _gather(m: Rigid, x: Into, noise: float, points: Array, count: int) -> int:
    """Add the points of a search and their exit vectors to the known ones, and return their number."""
    hits = x.host.results
    for k in range(1, 1 + int(hits[0, COUNT])):
        p = (hits[k, 1], hits[k, 2], hits[k, 3])
        exit_vector = sub((hits[k, 4], hits[k, 5], hits[k, 6]), p)
        if x.held_by_b:
            p, exit_vector = place(m, p), turn(m, (-exit_vector[0], -exit_vector[1], -exit_vector[2]))
        _insert_point(points, count, hits[k, 0], p, exit_vector)
        count += 1
    if count > 0 and (points[1, 0] - noise > points[0, 0] or points[0, 0] < 0.0):
        points[0, 0] = max(0.0, points[1, 0] - noise)
        points[0, 1], points[0, 2], points[0, 3] = points[1, 1], points[1, 2], points[1, 3]
    return count


@inlined
def _far_from_all(points: Array, started: Ints, starts: int, k: int) -> bool:
    """Return whether a point is farther than half its depth from all starting points."""
    for i in range(starts):
        j = started[i]
        d = (points[k, 1] - points[j, 1], points[k, 2] - points[j, 2], points[k, 3] - points[j, 3])
        if 4.0 * dot(d, d) <= points[k, 0] * points[k, 0]:
            return False
    return True


@kernel
def grow_balls(m: Rigid, noise: float, a: Surface, b: Surface, room: GivenRoom, points: Array, count: int) -> None:
    """Raise the lower bound of the depth of two solids by pairs of balls about the deepest points, see `climb`."""
    if a[8] == 0 or b[8] == 0:
        return
    p, started, starts = room[5][0], room[3], 0
    for k in range(1, 1 + count):
        if starts == _CLIMBS:
            break
        if not _far_from_all(points, started, starts, k):
            continue
        started[starts] = k
        starts += 1
        p[0], p[1], p[2] = points[k, 1], points[k, 2], points[k, 3]
        # a pair of disjoint balls of both radii has to be separated, so their sum bounds the depth; less 16 errors of
        # places
        deep = climb(m, noise, a[4], a[5], a[6], b[4], b[5], b[6], room[0], room[1], p) - 16.0 * noise
        if deep > points[0, 0]:
            points[0, 0], points[0, 1], points[0, 2], points[0, 3] = deep, p[0], p[1], p[2]


@kernel
def _add_unit(units: Array, count: int, exit_vector: Vec3) -> int:
    """Append a unit vector unless a similar one is in the list, and return the length of the list."""
    length = sqrt(dot(exit_vector, exit_vector))
    if not length > NO_LENGTH:
        return count
    exit_vector = (exit_vector[0] / length, exit_vector[1] / length, exit_vector[2] / length)
    for k in range(count):
        if dot(exit_vector, row3(units, k)) >= SAME_WAY:
            return count
    units[count, 0], units[count, 1], units[count, 2] = exit_vector
    return count + 1


@kernel
def unit_directions(points: Array, count: int, units: Array) -> int:
    """Write distinct unit exit vectors of the deepest points, and of the sum of all; return their number."""
    written = 0
    x = y = z = 0.0
    for k in range(1, 1 + count):
        exit_vector = (points[k, 4], points[k, 5], points[k, 6])
        x, y, z = x + exit_vector[0], y + exit_vector[1], z + exit_vector[2]
        if written < INNER - 1:
            written = _add_unit(units, written, exit_vector)
    return _add_unit(units, written, (x, y, z))


@kernel
def look_at_points(m: Rigid, noise: float, first: int, a: Surface, b: Surface, room: GivenRoom, points: Array) -> int:
    """Bound the depth of two meshes from below by vertices of each, and return the number of points inside.

    The rows behind the first one are points inside the other mesh with their exit vectors, the deepest first. The depth
    in the first row is negative if no point of either mesh is known to be inside the other.
    """
    points[0, 0], count = -1.0, plain(0)
    for k in range(2):
        # only a closed surface has an inside
        if (b if k == 0 else a)[8] == 0:
            continue
        x = _into(m, True, b, a, room) if k == 0 else _into(m, False, a, b, room)
        _begin(x, noise, points[0, 0], inf)
        look_first(x.m, x.seeds, first, x.host)
        count = _gather(m, x, noise, points, count)
    return count


@kernel
def look_closer(
    m: Rigid, noise: float, looks: float, enough: float, a: Surface, b: Surface, room: GivenRoom, points: Array,
    count: int,
) -> int:  # fmt: skip
    """Search both surfaces after `look_at_points` with a budget of points, or until a point is deep enough."""
    for k in range(2):
        if (b if k == 0 else a)[8] == 0 or points[0, 0] >= enough:
            continue
        x = _into(m, True, b, a, room) if k == 0 else _into(m, False, a, b, room)
        _begin(x, noise, points[0, 0], enough)
        enclose(x.m, _WIDTH, looks, x.host, x.boxes, x.links, x.corners, Waiting(room[2], room[3], room[4]))
        count = _gather(m, x, noise, points, count)
    return count


@entry
def look_both(
    m: Rigid, noise: float, first: int, looks: float, a: Surface, b: Surface, room: GivenRoom, points: Array2
) -> None:  # fmt: skip
    """Run `look_at_points`, and `look_closer` if ``looks`` is more than 0."""
    count = look_at_points(m, noise, first, a, b, room, points)
    if looks > 0.0:
        look_closer(m, noise, looks, inf, a, b, room, points, count)


def surface_of(parts: Parts) -> tuple[Surface, Array]:
    """Return the surface of a body in the format of the kernels, and the normals of its parts; created once.

    The normals are one row of zeros if the parts bound no solid.
    """
    try:
        surface: tuple[Surface, Array] = parts._surface
    except AttributeError:
        surface = parts._surface = _find_surface(parts)
    return surface


def _find_surface(parts: Parts) -> tuple[Surface, Array]:
    skin = closed_skin(parts.solids)
    if isinstance(parts, Triangles):
        tree, seeds = parts.tree.arrays, seeds_of(parts.mesh)
        flat = NO_TREE[1] if skin is None else flat_of(parts.mesh)
    else:
        tree, seeds, flat = NO_TREE, thinned(parts.samples()), NO_TREE[1]
    normals = parts.outward(np.arange(parts.count))
    single = len(parts.solids) == 1 and bool((parts.solids[0][1] == IDENTITY[0]).all())
    planes = planes_of(parts.solids[0][0].skin) if single else NO_PLANES
    surface = *tree, seeds, *(skin or NO_TREE), flat, int(skin is not None), planes
    return surface, np.ascontiguousarray(normals if normals.any() else np.zeros((1, 3)))


def innermost(a: Parts, b: Parts, m: Array, noise: float, first: int, looks: int) -> Innermost:
    """Return the depth of two bodies by some points, where b is at m in a's frame; see `look_both`."""
    points = np.empty((FOUND_ROWS, COLUMNS))
    room = traversal_stack(), np.empty(STACK), *room_for(looks), np.empty((ROWS + 1, COLUMNS))
    look_both(tuple(m[:12].tolist()), noise, first, float(looks), surface_of(a)[0], surface_of(b)[0], room, points)
    return Innermost(max(points.item(0), 0.0), points[0, 1:4] if points[0, 0] >= 0.0 else None)


_STEPS = 40
_ENOUGH = 1e-3  #: length of a step that ends the climb, in units of the sum
_SHORTER = 0.6


class Work(NamedTuple):
    """Scratch of a tree traversal."""

    stack: Ints
    keys: Array


class Skin(NamedTuple):
    """The tree of a closed surface."""

    boxes: Array
    links: Ints
    corners: Array


class Balls(NamedTuple):
    """The radii of both balls about one point, negative if it is outside, and the direction in which they grow."""

    a: float
    b: float
    direction: Vec3


@kernel
def _inner_radius(
    p: Vec3, s: Skin, noise: float, distance: float, known_depth: float, work: Work
) -> tuple[float, Vec3]:
    """Return the distance of a point from a closed surface, negative if it is outside, and the direction inwards.

    ``distance`` leads to another point with a known depth. If the balls about both points overlap, both points are on
    the same side of the surface.
    """
    square, _, foot = to_point(p, 1e150, s.boxes, s.links, s.corners, work.stack, work.keys)
    d = sqrt(square)
    same_side = distance + 8.0 * noise < known_depth + d
    if d > 4.0 * noise and not same_side and not is_inside(p, s.boxes, s.links, s.corners, noise, work.stack):
        return -d, (0.0, 0.0, 0.0)
    f = 1.0 / d if d > 4.0 * noise else 0.0
    return d, (f * (p[0] - foot[0]), f * (p[1] - foot[1]), f * (p[2] - foot[2]))


@kernel
def _balls_at(
    m: Rigid, p: Vec3, noise: float, a: Skin, b: Skin, distance: float, near_balls: Balls, work: Work
) -> Balls:
    """Return the balls about a point of A's frame that is near another one with known balls."""
    radius_a, direction = _inner_radius(p, a, noise, distance, near_balls.a, work)
    if radius_a < 0.0:
        return Balls(radius_a, 0.0, direction)
    radius_b, direction_b = _inner_radius(turn_back(m, sub(p, offset(m))), b, noise, distance, near_balls.b, work)
    return Balls(radius_a, radius_b, add(direction, turn(m, direction_b)) if radius_b >= 0.0 else direction_b)


@entry
def climb(
    m: Rigid, noise: float, ba: Array2, la: Ints2, ca: Array2, bb: Array2, lb: Ints2, cb: Array2, stack: Ints2,
    keys: Array1, place: Array1,
) -> float:  # fmt: skip
    """Return the greatest sum of both radii, 0 if ``place`` is not in both solids; ``place`` becomes the centre."""
    a, b, p, work = Skin(ba, la, ca), Skin(bb, lb, cb), (place[0], place[1], place[2]), Work(stack, keys)
    balls = _balls_at(m, p, noise, a, b, inf, Balls(0.0, 0.0, p), work)
    if min(balls.a, balls.b) < 0.0:
        return 0.0
    direction, step = balls.direction, balls.a + balls.b
    for _ in range(_STEPS):
        length = sqrt(dot(direction, direction))
        if not (length > _ENOUGH and step > _ENOUGH * (balls.a + balls.b)):
            break
        q = along(p, direction, step / length)
        next_balls = _balls_at(m, q, noise, a, b, step, balls, work)
        # gradient ascent on the sum of two distance functions: a step that does not improve is shortened
        if min(next_balls.a, next_balls.b) >= 0.0 and next_balls.a + next_balls.b > balls.a + balls.b:
            p, direction, balls = q, next_balls.direction, next_balls
            continue
        step *= _SHORTER
        # across a ridge the gradients of both sides are averaged, which points along the ridge
        direction = add(scale(1.0 / length, direction), next_balls.direction)
    place[0], place[1], place[2] = p
    return balls.a + balls.b
