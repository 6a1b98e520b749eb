"""Lower bounds of the depth of two bodies by points of both surfaces, and exit directions of the deepest points.

A point of one body inside the other has to leave it, and the nearest exit is at the nearest point of the surface. Two
balls with a common centre, each inside one of two solids, have to be separated. The sum of their radii therefore bounds
the depth from below.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import Parts, TriangleTree
from gjk3d.bodies.bvh import HEAD, NO_TREE, built, head_of, tree_of
from gjk3d.bodies.depth.inside import (
    COLUMNS,
    COUNT,
    ENOUGH,
    LOWER,
    NO_PLANES,
    NOISE,
    ROWS,
    SAMPLED,
    Closed,
    Guest,
    Host,
    TraversalScratch,
    Waiting,
    depth_in,
    enclose,
    flat_of,
    in_box,
    look_first,
    planes_of,
    seeds_of,
    thinned,
    traversal_scratch,
    waiting_for,
)
from gjk3d.bodies.parts import Triangles, joined_skins, only_skin, wide_skin
from gjk3d.bodies.triangles import set_vec, vec_at
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Rigid,
    Vec3,
    add,
    along,
    divide,
    dot,
    neg,
    offset,
    place,
    row3,
    scale,
    sub,
    turn,
    turn_back,
)
from gjk3d.typing import Array, Array1, Array2, Ints, Ints2

INNER = 6  #: greatest number of exit directions, the last of which is the sum of all exit vectors
SAME_WAY = 0.99  #: least cosine of the angle between similar directions
FOUND_ROWS = 4 * ROWS + 2  #: number of rows for the points of both surfaces
PLACE, EXIT = 1, 4  #: columns of a row after the depth: the point, and the vector to its exit
_STARTS = 4  #: greatest number of points from which `climb` starts
_WIDTH = 1e-3  #: sufficient relative width of the bounds of a surface
_STEPS = 40  #: greatest number of steps of `climb`
_ENOUGH = 1e-3  #: length of a step that ends `climb`, in units of the sum of the radii
_SHORTER = 0.6  #: factor of a step that did not improve the sum
_NO_SKIN = Closed(NO_TREE, np.zeros(HEAD, dtype=np.int64))


class Surface(NamedTuple):
    """The surface of a body, whose points are tested in the other body. A closed surface has an inside."""

    tree: TriangleTree  #: empty if the body is not a mesh
    seeds: Array2  #: some vertices
    skin: Closed  #: the closed surface, or no triangles
    flat: Ints2  #: see `flat_neighbours`
    planes: Array2  #: see `planes_of`
    solid: bool  #: whether it is closed


class PointScratch(NamedTuple):
    """Scratch of the traversals, and the results of one search."""

    traversal: TraversalScratch
    waiting: Waiting
    results: Array2


class Balls(NamedTuple):
    """The radii of two balls about a common centre, one in each solid, and the gradient of the sum of the radii.

    A radius is negative if the centre is outside a solid.
    """

    a: float
    b: float
    direction: Vec3


@kernel
def _inverse(m: Rigid) -> Rigid:
    t = turn_back(m, offset(m))
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], -t[0], -t[1], -t[2])


@kernel
def _write_near(m: Rigid, more: float, seeds: Array, boxes: Array, near: Array) -> int:
    """Write the seeds of a guest at pose m that are in the host's box enlarged by ``more``; return their number."""
    count = 0
    for k in range(seeds.shape[0]):
        if in_box(place(m, row3(seeds, k)), boxes, more):
            set_vec(near[count], 0, row3(seeds, k))
            count += 1
    return count


@kernel
def with_points_near(m: Rigid, most: float, a: Surface, b: Surface, near: Array) -> tuple[Surface, Surface]:
    """Return both surfaces, each with only those points that a move of up to ``most`` may bring inside the other."""
    if not most < inf:
        return a, b
    seeds_a, seeds_b = a.seeds, b.seeds
    if b.solid:
        seeds_a = near[: _write_near(_inverse(m), most, seeds_a, b.skin.tree.boxes, near)]
    if a.solid:
        seeds_b = near[SAMPLED : SAMPLED + _write_near(m, most, seeds_b, a.skin.tree.boxes, near[SAMPLED:])]
    near_a = Surface(a.tree, seeds_a, a.skin, a.flat, a.planes, a.solid)
    return near_a, Surface(b.tree, seeds_b, b.skin, b.flat, b.planes, b.solid)


# points of the surfaces ---------------------------------------------------------------------------------------------


@inlined
def _search_of(m: Rigid, a: Surface, b: Surface, in_b: bool, w: PointScratch) -> tuple[Host, Guest]:
    to, guest = (b, a) if in_b else (a, b)
    host = Host(to.skin, to.flat, to.planes, w.traversal, w.results)
    return host, Guest(_inverse(m) if in_b else m, guest.tree, guest.seeds)


@inlined
def _begin(h: Host, noise: float, lower: float, enough: float) -> None:
    for c in range(COLUMNS):
        h.results[0, c] = 0.0
    h.results[0, NOISE], h.results[0, LOWER], h.results[0, ENOUGH] = noise, max(lower, 0.0), enough


@kernel
def _insert_point(points: Array, count: int, depth: float, p: Vec3, exit_vector: Vec3) -> None:
    """Insert a point, its depth and its exit vector into the rows after the first, which are sorted by depth."""
    k = count + 1
    while k > 1 and points[k - 1, 0] < depth:
        for c in range(COLUMNS):
            points[k, c] = points[k - 1, c]
        k -= 1
    points[k, 0] = depth
    set_vec(points[k], PLACE, p)
    set_vec(points[k], EXIT, exit_vector)


@kernel
def _gather(m: Rigid, in_b: bool, h: Host, points: Array, count: int) -> int:
    """Add the points of a search and their exit vectors to ``points``, and return the number of points.

    ``in_b`` is whether B was the host of the search. The lower bound in the first row is raised.
    """
    hits, noise = h.results, h.results[0, NOISE]
    for k in range(1, 1 + int(hits[0, COUNT])):
        p = vec_at(hits[k], PLACE)
        exit_vector = sub(vec_at(hits[k], EXIT), p)
        if in_b:
            p, exit_vector = place(m, p), turn(m, neg(exit_vector))
        _insert_point(points, count, hits[k, 0], p, exit_vector)
        count += 1
    if count > 0 and (points[1, 0] - noise > points[0, 0] or points[0, 0] < 0.0):
        points[0, 0] = max(0.0, points[1, 0] - noise)
        set_vec(points[0], PLACE, vec_at(points[1], PLACE))
    return count


@kernel
def look_at_points(m: Rigid, noise: float, first: int, a: Surface, b: Surface, w: PointScratch, points: Array) -> int:
    """Bound the depth of two meshes from below by vertices of each, and return the number of points inside.

    At most ``first`` vertices of each mesh are tested. The rows of ``points`` after the first row are points inside the
    other mesh with their exit vectors, the deepest first. The first row has the lower bound, which is negative if no
    point of either mesh is known to be inside the other.
    """
    points[0, 0], count = -1.0, plain(0)
    for k in range(2):
        # only a closed surface has an inside
        in_b = k == 0
        if not (b.solid if in_b else a.solid):
            continue
        host, guest = _search_of(m, a, b, in_b, w)
        _begin(host, noise, points[0, 0], inf)
        look_first(guest, first, host)
        count = _gather(m, in_b, host, points, count)
    return count


@kernel
def look_closer(
    m: Rigid, noise: float, looks: float, enough: float, a: Surface, b: Surface, w: PointScratch, points: Array,
    count: int,
) -> int:  # fmt: skip
    """Search for deeper points of both surfaces after `look_at_points`, and return the number of points inside.

    At most about ``looks`` points of each surface are tested. A depth of ``enough`` ends the search.
    """
    for k in range(2):
        in_b = k == 0
        if not (b.solid if in_b else a.solid) or points[0, 0] >= enough:
            continue
        host, guest = _search_of(m, a, b, in_b, w)
        _begin(host, noise, points[0, 0], enough)
        enclose(guest, _WIDTH, looks, host, w.waiting)
        count = _gather(m, in_b, host, points, count)
    return count


@entry
def look_both(
    m: Rigid, noise: float, first: int, looks: float, a: Surface, b: Surface, w: PointScratch, points: Array2
) -> None:  # fmt: skip
    """Write the results of `look_at_points` into ``points``, and those of `look_closer` if ``looks`` is more than 0."""
    count = look_at_points(m, noise, first, a, b, w, points)
    if looks > 0.0:
        look_closer(m, noise, looks, inf, a, b, w, points, count)


@kernel
def _add_unit(units: Array, count: int, exit_vector: Vec3) -> int:
    """Append the unit vector along a vector unless a similar one is in the list, and return the length of the list."""
    length = sqrt(dot(exit_vector, exit_vector))
    if not length > NO_LENGTH:
        return count
    exit_vector = divide(exit_vector, length)
    for k in range(count):
        if dot(exit_vector, row3(units, k)) >= SAME_WAY:
            return count
    set_vec(units[count], 0, exit_vector)
    return count + 1


@kernel
def unit_directions(points: Array, count: int, units: Array) -> int:
    """Write distinct unit vectors along the exit vectors of the deepest points and along the sum of all exit vectors.

    Return the number of unit vectors.
    """
    written, total = 0, (0.0, 0.0, 0.0)
    for k in range(1, 1 + count):
        exit_vector = vec_at(points[k], EXIT)
        total = add(total, exit_vector)
        if written < INNER - 1:
            written = _add_unit(units, written, exit_vector)
    return _add_unit(units, written, total)


# balls --------------------------------------------------------------------------------------------------------------


@kernel
def _ball_in(
    p: Vec3, skin: Closed, noise: float, distance: float, known_depth: float, w: PointScratch
) -> tuple[float, Vec3]:
    """Return the depth of p (`depth_in`), and the unit vector from the nearest surface point to p, zero if outside."""
    d, _, foot = depth_in(p, skin, noise, distance, known_depth, w.traversal)
    f = 1.0 / d if d > 4.0 * noise else 0.0
    return d, scale(f, sub(p, foot))


@kernel
def _balls_at(
    m: Rigid, p: Vec3, noise: float, a: Closed, b: Closed, distance: float, near: Balls, w: PointScratch
) -> Balls:
    """Return the balls about p in A's frame.

    The balls about another point are ``near``, and ``distance`` is the distance of p from that point.
    """
    radius_a, direction = _ball_in(p, a, noise, distance, near.a, w)
    if radius_a < 0.0:
        return Balls(radius_a, 0.0, direction)
    radius_b, direction_b = _ball_in(turn_back(m, sub(p, offset(m))), b, noise, distance, near.b, w)
    return Balls(radius_a, radius_b, add(direction, turn(m, direction_b)) if radius_b >= 0.0 else direction_b)


@entry
def climb(m: Rigid, noise: float, a: Closed, b: Closed, w: PointScratch, center: Array1) -> float:
    """Move ``center`` to a local maximum of the sum of both balls' radii, and return the sum.

    The result is 0 if ``center`` is outside a solid.
    """
    p = (center[0], center[1], center[2])
    balls = _balls_at(m, p, noise, a, b, inf, Balls(0.0, 0.0, p), w)
    if min(balls.a, balls.b) < 0.0:
        return 0.0
    direction, step = balls.direction, balls.a + balls.b
    for _ in range(_STEPS):
        length = sqrt(dot(direction, direction))
        if not (length > _ENOUGH and step > _ENOUGH * (balls.a + balls.b)):
            break
        q = along(p, direction, step / length)
        next_balls = _balls_at(m, q, noise, a, b, step, balls, w)
        # gradient ascent on the sum of two distance functions: a step that does not improve is shortened
        if min(next_balls.a, next_balls.b) >= 0.0 and next_balls.a + next_balls.b > balls.a + balls.b:
            p, direction, balls = q, next_balls.direction, next_balls
            continue
        step *= _SHORTER
        # across a ridge the gradients of both sides are averaged, which points along the ridge
        direction = add(scale(1.0 / length, direction), next_balls.direction)
    center[0], center[1], center[2] = p
    return balls.a + balls.b


@inlined
def _far_from_all(points: Array, started: Ints, starts: int, k: int) -> bool:
    """Return whether point k is farther than half its depth from all starting points."""
    for i in range(starts):
        d = sub(vec_at(points[k], PLACE), vec_at(points[started[i]], PLACE))
        if 4.0 * dot(d, d) <= points[k, 0] * points[k, 0]:
            return False
    return True


@kernel
def grow_balls(m: Rigid, noise: float, a: Surface, b: Surface, w: PointScratch, points: Array, count: int) -> None:
    """Raise the lower bound of the depth of two solids by pairs of balls about the deepest points, see `climb`."""
    if not (a.solid and b.solid):
        return
    center, started, starts = w.results[0], w.waiting.items, 0
    for k in range(1, 1 + count):
        if starts == _STARTS:
            break
        if not _far_from_all(points, started, starts, k):
            continue
        started[starts] = k
        starts += 1
        set_vec(center, 0, vec_at(points[k], PLACE))
        deep = climb(m, noise, a.skin, b.skin, w, center) - 16.0 * noise  # covers the errors of the positions
        if deep > points[0, 0]:
            points[0, 0] = deep
            set_vec(points[0], PLACE, vec_at(center, 0))


# bodies -------------------------------------------------------------------------------------------------------------


def surface_of(parts: Parts) -> Surface:
    """Return the surface of a body in the format of the kernels, cached."""
    try:
        surface: Surface = parts._surface
    except AttributeError:
        solids, skin, tree, flat, planes = parts.solids, _NO_SKIN, NO_TREE, NO_TREE.links, NO_PLANES
        if isinstance(parts, Triangles):
            tree, seeds = parts.tree.arrays, seeds_of(parts.mesh)
            flat = flat_of(parts.mesh) if solids else flat
        else:
            seeds = thinned(parts.samples())
        if solids:
            only = only_skin(solids)
            surface_tree = built(*joined_skins(solids)) if only is None else tree_of(only)
            skin = Closed(surface_tree.arrays, np.array(head_of(wide_skin(parts))))
            planes = NO_PLANES if only is None else planes_of(only)
        surface = parts._surface = Surface(tree, seeds, skin, flat, planes, bool(solids))
    return surface


def outward_normals(parts: Parts) -> Array:
    """Return the outward normals of the parts of a body, or one row of zeros if no part has a normal, cached."""
    try:
        outward: Array = parts._outward
    except AttributeError:
        normals = parts.outward(np.arange(parts.count))
        outward = parts._outward = np.ascontiguousarray(normals if normals.any() else np.zeros((1, 3)))
    return outward


def point_scratch(looks: int) -> PointScratch:
    """Return scratch for a budget of points."""
    return PointScratch(traversal_scratch(), waiting_for(looks), np.empty((ROWS + 1, COLUMNS)))


def innermost(a: Parts, b: Parts, m: Array, noise: float, first: int, looks: int) -> tuple[float, Array | None]:
    """Return a lower bound of the depth of two bodies by points, and the common point at this depth, or None.

    B is at the pose row m in A's frame. At most ``first`` vertices of each surface are tested, and then at most
    ``looks`` further points of each surface.
    """
    points, w = np.empty((FOUND_ROWS, COLUMNS)), point_scratch(looks)
    look_both(tuple(m[:12].tolist()), noise, first, float(looks), surface_of(a), surface_of(b), w, points)
    return max(points.item(0), 0.0), points[0, 1:4] if points[0, 0] >= 0.0 else None
