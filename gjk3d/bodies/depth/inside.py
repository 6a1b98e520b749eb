"""Depth of the surface of one mesh inside another, closed one: the greatest distance from its surface, with bounds.

Lower bound: a point of the guest inside the host is as deep as its distance from the host's surface. Upper bound: the
depth is at most the distance from any single face of the host. That distance is greatest at a corner of a triangle, so
the face nearest to a triangle's centre bounds the depth of the whole triangle. A box is bounded by its radius, since
the distance is 1-Lipschitz. The item with the highest bound is split first until both bounds agree. A triangle is split
along the plane of a face that it crosses, which removes the part outside in one step, or between the two faces nearest
to its centre and to its farthest corner, each of which bounds its own side. Otherwise the longest edge is halved.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.depth.convex_faces import box_by_planes, depth_by_planes, flat_of, planes_of, triangle_by_planes
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_trees import STACK, to_point
from gjk3d.bodies.raycast import NO, YES, is_inside, side_by_rays, winds_about
from gjk3d.bodies.triangles import Triangle, meet, nearest_on, placed_triangle, read
from gjk3d.geometry.vec3 import NO_LENGTH, Rigid, Vec3, along, cross, dot, row3, sub
from gjk3d.geometry.vec3 import place as to_place
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

#: columns of the first row of the results; a depth of ENOUGH ends the search
LOWER, UPPER, COUNT, SPENT, NOISE, ENOUGH = range(6)
COLUMNS = 7  #: of that
SAMPLED = 4096  #: vertices of a mesh, of which those in the other's box are looked at first
SEEDS = 256  #: of these
ROWS = 32  #: deep points that are kept, behind the first row

Plane = tuple[float, float, float, float]  #: a unit normal and how far along it; zeros for none
NO_PLANE = (0.0, 0.0, 0.0, 0.0)


class Host(NamedTuple):
    """The closed surface, scratch, and the results; see `search`."""

    boxes: Array2
    links: Ints2
    corners: Array2
    flat: Ints2
    planes: Array2  #: those of its faces where it is convex, see `within_planes`
    stack: Ints2
    keys: Array1
    results: Array2


class Waiting(NamedTuple):
    """The items to split: a heap sorted by their bounds, items below 0 are boxes and others rows of the pool."""

    bounds: Array1
    items: Ints1
    pool: Array2


@kernel
def _store_point(d: float, p: Vec3, foot: Vec3, results: Array) -> None:
    """Store a point inside the host; it replaces the shallowest one if the rows are full."""
    results[0, LOWER] = max(results[0, LOWER], d)
    row = int(results[0, COUNT]) + 1
    if row < results.shape[0]:
        results[0, COUNT] += 1.0
    else:
        row = 1
        for k in range(2, results.shape[0]):
            if results[k, 0] < results[row, 0]:
                row = k
        if results[row, 0] >= d:
            return
    results[row, 0] = d
    for k in range(3):
        results[row, 1 + k], results[row, 4 + k] = p[k], foot[k]


@kernel
def _depth_at(p: Vec3, h: Host, away: float, known_depth: float) -> tuple[float, int]:
    """Return the distance of a point from the surface, negative or less if it is outside, and the nearest face.

    ``away`` leads to a point of ``known_depth``. If the balls about both points overlap, both points are on the same
    side.
    """
    h.results[0, SPENT] += 1.0
    noise = h.results[0, NOISE]
    if h.planes.shape[0] > 0:
        d, face = depth_by_planes(h.planes, p, -inf)
        if d > 4.0 * noise and d > 0.5 * h.results[0, LOWER]:
            _store_point(d, p, along(p, row3(h.planes, face), d), h.results)
        return d, face
    square, face, foot = to_point(p, 1e150, h.boxes, h.links, h.corners, h.stack, h.keys)
    d = sqrt(square)
    if d <= 4.0 * noise:
        return d, face
    outside = known_depth < 0.0
    # the ball test saves the inside test, which costs most
    if not away + 8.0 * noise < d + abs(known_depth):
        outside = not is_inside(p, h.boxes, h.links, h.corners, noise, h.stack)
    if outside:
        return -d, face
    if d > 0.5 * h.results[0, LOWER]:
        _store_point(d, p, foot, h.results)
    return d, face


@kernel
def _store_if_inside(p: Vec3, h: Host) -> None:
    """Store a point if it is inside; cheaper than `_depth_at` for points outside."""
    h.results[0, SPENT] += 1.0
    noise = h.results[0, NOISE]
    if h.planes.shape[0] > 0:
        least = max(4.0 * noise, 0.5 * h.results[0, LOWER])
        d, face = depth_by_planes(h.planes, p, least)
        if d > least:
            _store_point(d, p, along(p, row3(h.planes, face), d), h.results)
        return
    side = side_by_rays(p, h.boxes, h.links, h.corners, noise, h.stack)
    if side == NO:
        return
    square, _, foot = to_point(p, 1e150, h.boxes, h.links, h.corners, h.stack, h.keys)
    d = sqrt(square)
    # rays are unclear for most points on the surface, such as just after B was moved out: these points are dropped
    if d > 4.0 * noise and d > 0.5 * h.results[0, LOWER] and (side == YES or winds_about(p, h.corners)):
        _store_point(d, p, foot, h.results)


@inlined
def _misses_box(t: Triangle, n: Vec3, boxes: Array, i: int, noise: float) -> bool:
    """Return whether a triangle with normal n and a box are separated by the box's axes or the triangle's plane."""
    x, y, z = boxes[i, 0], boxes[i, 1], boxes[i, 2]
    far, wide = n[0] * (t[0][0] - x) + n[1] * (t[0][1] - y) + n[2] * (t[0][2] - z), 0.0
    for k in range(3):
        u, v, w = boxes[i, 6 + 3 * k], boxes[i, 7 + 3 * k], boxes[i, 8 + 3 * k]
        half = boxes[i, 3 + k]
        base = u * x + v * y + w * z
        p = u * t[0][0] + v * t[0][1] + w * t[0][2] - base
        q = u * t[1][0] + v * t[1][1] + w * t[1][2] - base
        r = u * t[2][0] + v * t[2][1] + w * t[2][2] - base
        if min(p, q, r) > half + 4.0 * noise or max(p, q, r) < -half - 4.0 * noise:
            return True
        wide += half * abs(u * n[0] + v * n[1] + w * n[2])
    return bool(abs(far) > wide + 4.0 * noise * (abs(n[0]) + abs(n[1]) + abs(n[2])))


@kernel
def _touched(t: Triangle, h: Host) -> int:
    """Return a face of the surface that a triangle touches or crosses, -1 for none."""
    n, noise = cross(sub(t[1], t[0]), sub(t[2], t[0])), h.results[0, NOISE]
    stack, links = h.stack, h.links
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if _misses_box(t, n, h.boxes, i, noise):
            continue
        if links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = links[i, 0], links[i, 0] + 1
            top += 2
            continue
        for k in range(links[i, 1], links[i, 1] + links[i, 2]):
            if meet(read(h.corners, k), t, noise):
                return k
    return -1


@kernel
def _from_flat(t: Triangle, face: int, h: Host) -> float:
    """Return the greatest distance of a triangle's corners from a face, or from it and a coplanar neighbour."""
    triangle, flat = read(h.corners, face), h.flat
    x, y, z = nearest_on(t[0], triangle)[0], nearest_on(t[1], triangle)[0], nearest_on(t[2], triangle)[0]
    best = max(x, y, z)
    for k in range(3):
        if flat[face, k] >= 0:
            neighbour = read(h.corners, flat[face, k])
            u, v, w = nearest_on(t[0], neighbour)[0], nearest_on(t[1], neighbour)[0], nearest_on(t[2], neighbour)[0]
            best = min(best, max(min(x, u), min(y, v), min(z, w)))
    return sqrt(best)


@kernel
def _of_triangle(t: Triangle, h: Host, near: Vec3, known_depth: float) -> tuple[float, Plane, float]:
    """Return an upper bound of a triangle's depth, negative if outside, a plane to split it, and its centre's depth.

    ``near`` is a point of ``known_depth``, which is 0 if unknown.
    """
    c, radius = middle(t)
    noise, least = h.results[0, NOISE], inf
    if h.planes.shape[0] > 0:
        least = triangle_by_planes(h.planes, t, h.results[0, LOWER]) + 2.0 * noise
        if not least > h.results[0, LOWER]:
            return least, NO_PLANE, 0.0
    off = sub(c, near)
    d, face = _depth_at(c, h, sqrt(dot(off, off)) if known_depth != 0.0 else inf, known_depth)
    lower = h.results[0, LOWER]
    if d < -radius - noise:
        return -1.0, NO_PLANE, d
    touched_face = -1
    if d < 0.0:
        touched_face = _touched(t, h)
        if touched_face < 0:
            return -1.0, NO_PLANE, d
    # the depth is 1-Lipschitz: d + radius bounds it, and so does the distance from the nearest face
    bound = float(min(least, min(d + radius, _from_flat(t, face, h)) + 2.0 * noise))
    if not bound > lower:
        return bound, NO_PLANE, d
    k, farthest = 0, -1.0
    for i in range(3):
        away, _ = nearest_on(t[i], read(h.corners, face))
        if away > farthest:
            k, farthest = i, away
    # no deeper than from either of two faces, so than their mean: it is convex, too
    _, second_face = _depth_at(t[k], h, radius if abs(d) > 4.0 * noise else inf, d)
    lower = h.results[0, LOWER]
    if second_face != face:
        farthest = 0.0
        for i in range(3):
            square_a, _ = nearest_on(t[i], read(h.corners, face))
            square_b, _ = nearest_on(t[i], read(h.corners, second_face))
            farthest = max(farthest, 0.5 * (sqrt(square_a) + sqrt(square_b)))
        bound = float(min(bound, farthest + 2.0 * noise, _from_flat(t, second_face, h) + 2.0 * noise))
    if not bound > lower:
        return bound, NO_PLANE, d
    if touched_face < 0 and d < radius:
        touched_face = _touched(t, h)
    plane = NO_PLANE
    if touched_face >= 0:
        plane = outside_of(read(h.corners, touched_face), t, c, radius, d, noise)
    if second_face != face and not cuts(t, plane, radius, noise):
        plane = between(read(h.corners, face), read(h.corners, second_face), c, t[k])
    return bound, plane if cuts(t, plane, radius, noise) else NO_PLANE, d


@kernel
def _of_box(m: Rigid, bg: Array, i: int, h: Host) -> float:
    """Return an upper bound of the depth of the content of a box, negative if it is outside."""
    x, y, z = bg[i, 0], bg[i, 1], bg[i, 2]
    c = (
        m[0] * x + m[1] * y + m[2] * z + m[9], m[3] * x + m[4] * y + m[5] * z + m[10],
        m[6] * x + m[7] * y + m[8] * z + m[11],
    )  # fmt: skip
    noise = h.results[0, NOISE]
    radius = sqrt(bg[i, 3] * bg[i, 3] + bg[i, 4] * bg[i, 4] + bg[i, 5] * bg[i, 5]) + noise
    h.results[0, SPENT] += 1.0
    if h.planes.shape[0] > 0:
        return float(box_by_planes(h.planes, m, bg, i, c) + 2.0 * noise)
    square, _, _ = to_point(c, 1e150, h.boxes, h.links, h.corners, h.stack, h.keys)
    d = sqrt(square)
    if d > radius + noise and not is_inside(c, h.boxes, h.links, h.corners, noise, h.stack):
        return -1.0
    return float(d + radius)


@kernel
def _wait(t: Triangle, key: float, count: int, used: int, h: Host, w: Waiting, near: Vec3, known_depth: float) -> int:
    """Add a triangle to the heap and the pool if it may be deeper than the lower bound; return the size of the heap."""
    bound, plane, d = _of_triangle(t, h, near, known_depth)
    bound = min(key, bound)
    if not bound > h.results[0, LOWER]:
        return count
    write(t, w.pool, used)
    w.pool[used, 9], w.pool[used, 10], w.pool[used, 11], w.pool[used, 12] = plane
    w.pool[used, DEEP] = d
    return push(w.bounds, w.items, count, bound, used)


@inlined
def in_box(p: Vec3, boxes: Array, more: float) -> bool:
    """Return whether a point is in the first box, enlarged on all sides."""
    x, y, z = p[0] - boxes[0, 0], p[1] - boxes[0, 1], p[2] - boxes[0, 2]
    return bool(
        abs(x * boxes[0, 6] + y * boxes[0, 7] + z * boxes[0, 8]) < boxes[0, 3] + more
        and abs(x * boxes[0, 9] + y * boxes[0, 10] + z * boxes[0, 11]) < boxes[0, 4] + more
        and abs(x * boxes[0, 12] + y * boxes[0, 13] + z * boxes[0, 14]) < boxes[0, 5] + more
    )


@kernel
def look_first(m: Rigid, seeds: Array, most: int, h: Host) -> None:
    """Test an even sample of at most ``most`` of the points that are in the host's box."""
    count = 0
    for k in range(seeds.shape[0]):
        if in_box(to_place(m, (seeds[k, 0], seeds[k, 1], seeds[k, 2])), h.boxes, 0.0):
            count += 1
    step, at = 1 + (count - 1) // most, 0
    for k in range(seeds.shape[0] if count > 0 else 0):
        p = to_place(m, (seeds[k, 0], seeds[k, 1], seeds[k, 2]))
        if in_box(p, h.boxes, 0.0):
            if at % step == 0:
                _store_if_inside(p, h)
            at += 1


@kernel
def enclose(
    m: Rigid, tolerance: float, budget: float, h: Host, bg: Array, lg: Ints, cg: Array, w: Waiting
) -> None:  # fmt: skip
    """Bound the depth of a guest's surface, at pose m in the host's frame, inside the host; see `search`."""
    heap, items, pool, results = w.bounds, w.items, w.pool, h.results
    count, used, last = push(heap, items, plain(0), _of_box(m, bg, plain(0), h), plain(-1)), 0, pool.shape[0] - PIECES
    while count > 0 and heap[0] > results[0, LOWER] * (1.0 + tolerance) + results[0, NOISE]:
        room = count + PIECES < heap.shape[0] and used + PIECES < last
        if results[0, SPENT] > budget or not room or results[0, LOWER] >= results[0, ENOUGH]:
            break
        key, item = heap[0], items[0]
        count = pop(heap, items, count)
        if item >= 0:
            near, _ = middle(read(pool, item))
            for k in range(cut(pool, item, last)):
                before = count
                count = _wait(read(pool, last + k), key, count, used, h, w, near, pool[item, DEEP])
                used += count - before
            continue
        i = -1 - item
        for n in range(2):
            if lg[i, 0] >= 0:
                j = lg[i, 0] + n
                # a child is no deeper than its parent: the smaller bound keeps the heap monotone
                bound = min(key, _of_box(m, bg, j, h))
                if bound > results[0, LOWER]:
                    count = push(heap, items, count, bound, -1 - j)
            elif n < lg[i, 2]:
                before = count
                count = _wait(placed_triangle(m, cg, lg[i, 1] + n), key, count, used, h, w, (0.0, 0.0, 0.0), 0.0)
                used += count - before
    results[0, UPPER] = max(results[0, LOWER], heap[0] if count > 0 else 0.0)


@entry
def search(
    m: Rigid, tolerance: float, budget: float, bh: Array2, lh: Ints2, ch: Array2, bg: Array2, lg: Ints2, cg: Array2,
    seeds: Array2, flat: Ints2, planes: Array2, stack: Ints2, keys: Array1, heap: Array1, items: Ints1, pool: Array2,
    results: Array2,
) -> None:  # fmt: skip
    """Compute bounds of the depth of a guest's surface, at pose m in the host's frame, inside the host.

    The first row of ``results`` contains the greatest known depth and the noise, and receives both bounds. The rows
    behind it are depths, points and the nearest points on the surface. Items below 0 are boxes, and others are rows of
    ``pool``. ``seeds`` are points of the guest, some of which are sampled first. See `flat_neighbours` for ``flat``.
    """
    h = Host(bh, lh, ch, flat, planes, stack, keys, results)
    look_first(m, seeds, int(min(budget, SEEDS)), h)
    enclose(m, tolerance, budget, h, bg, lg, cg, Waiting(heap, items, pool))


class Inner(NamedTuple):
    """Bounds of the depth of a surface inside a host, and deep points, the deepest first, in the host's frame."""

    lower: float
    upper: float
    depths: Array  #: (k,)
    points: Array  #: (k, 3)
    feet: Array  #: (k, 3) the nearest place on the host's surface of each


def inner(
    host: Mesh,
    guest: Mesh,
    m: Array,
    noise: float,
    tolerance: float,
    budget: int,
    known_depth: float,
) -> Inner:
    """Enclose how deep the surface of a guest lies inside a closed host, m being the guest's pose in the host's frame.

    Parameters
    ----------
    host, guest : Mesh
    m : (13,) float
        A pose row.
    noise : float
        Bound of the error of a place.
    tolerance : float
        Relative width of the bounds that is enough.
    budget : int
        Points that are looked at, at most: the bounds hold with however few.
    known_depth : float
        A depth that is known from elsewhere: what is no deeper is not looked at.
    """
    results = np.zeros((ROWS + 1, COLUMNS))
    results[0, LOWER], results[0, NOISE], results[0, ENOUGH] = known_depth, noise, inf
    trees = *tree_of(host.skin).arrays, *tree_of(guest).arrays
    pose = tuple(m[:12].tolist())
    search(
        pose, tolerance, float(budget), *trees, seeds_of(guest), flat_of(host), planes_of(host.skin),
        traversal_stack(), np.empty(STACK), *room_for(budget), results,
    )  # fmt: skip
    rows = results[1 : 1 + int(results[0, COUNT])]
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    return Inner(float(results[0, LOWER]), float(results[0, UPPER]), rows[:, 0], rows[:, 1:4], rows[:, 4:7])


def room_for(budget: int) -> tuple[Array, Ints, Array]:
    """Return the scratch of `search` for a budget of points."""
    size = budget + 64
    return np.empty(size), np.empty(size, dtype=np.int64), np.empty((size + PIECES, POOL))


def seeds_of(guest: Mesh) -> Array:
    """Return some vertices of a mesh."""
    return guest._cached("some vertices", lambda: thinned(guest._used))


def thinned(points: Array) -> Array:
    """Return an even sample of the points."""
    return points[:: max(1, -(-len(points) // SAMPLED))].copy()


POOL = 14  #: floats of a triangle that waits, of the plane that it is to be cut along, and how deep its middle is
DEEP = 13
PIECES = 3  #: that a triangle is cut into, at most
_SLIVER = 0.02  #: least part of a triangle's radius that a plane cuts off
_FINER = 0.25  #: size of a face that is crossed, in units of the triangle's, that is worth to be cut along


@inlined
def middle(t: Triangle) -> tuple[Vec3, float]:
    """Return the centre of a triangle, and the distance of its farthest corner."""
    f = 1.0 / 3.0
    c = (
        f * (t[0][0] + t[1][0] + t[2][0]), f * (t[0][1] + t[1][1] + t[2][1]), f * (t[0][2] + t[1][2] + t[2][2]),
    )  # fmt: skip
    x, y, z = sub(t[0], c), sub(t[1], c), sub(t[2], c)
    return c, sqrt(max(dot(x, x), dot(y, y), dot(z, z)))


@inlined
def _plane_of(t: Triangle) -> Plane:
    """Return the plane of a triangle, zeros if it is degenerate."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return NO_PLANE
    x, y, z = n[0] / length, n[1] / length, n[2] / length
    return x, y, z, x * t[0][0] + y * t[0][1] + z * t[0][2]


@kernel
def outside_of(face: Triangle, t: Triangle, c: Vec3, radius: float, d: float, noise: float) -> Plane:
    """Return the plane of a face that a triangle crosses, shifted a little outwards; d is negative if c is outside.

    The result is zeros if the face is much smaller than the triangle.
    """
    _, size = middle(face)
    x, y, z, far = _plane_of(face)
    if size < _FINER * radius:
        return NO_PLANE
    # where a triangle is cut bounds nothing: the noise keeps the cut off the face, where pieces would touch it
    above = x * c[0] + y * c[1] + z * c[2] > far
    return x, y, z, far + (4.0 * noise if above == (d < 0.0) else -4.0 * noise)


@kernel
def between(face_a: Triangle, face_b: Triangle, p: Vec3, q: Vec3) -> Plane:
    """Return the bisector plane of two faces' planes, on the sides of p and of q; zeros if there is none."""
    x, y, z, far = _plane_of(face_a)
    u, v, w, off = _plane_of(face_b)
    if x * p[0] + y * p[1] + z * p[2] < far:
        x, y, z, far = -x, -y, -z, -far
    if u * q[0] + v * q[1] + w * q[2] < off:
        u, v, w, off = -u, -v, -w, -off
    x, y, z, far = x - u, y - v, z - w, far - off
    length = sqrt(x * x + y * y + z * z)
    if not length > 1e-6:
        return NO_PLANE
    return x / length, y / length, z / length, far / length


@inlined
def _over(p: Vec3, plane: Plane) -> float:
    return plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] - plane[3]


@inlined
def cuts(t: Triangle, plane: Plane, radius: float, noise: float) -> bool:
    """Return whether a plane leaves some of a triangle on both sides."""
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    return bool(min(max(x, y, z), -min(x, y, z)) > max(16.0 * noise, _SLIVER * radius))


@kernel
def _halve(t: Triangle) -> tuple[Triangle, Triangle]:
    """Cut a triangle at the middle of its longest edge."""
    best, k = -1.0, 0
    for i in range(3):
        e = sub(t[(i + 1) % 3], t[i])
        if dot(e, e) > best:
            best, k = dot(e, e), i
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    half = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    return (a, half, c), (half, b, c)


@inlined
def write(t: Triangle, pool: Array, row: int) -> None:
    """Write the corners of a triangle into a row."""
    for k in range(3):
        pool[row, k], pool[row, 3 + k], pool[row, 6 + k] = t[0][k], t[1][k], t[2][k]


@inlined
def _crossing(a: Vec3, b: Vec3, x: float, y: float) -> Vec3:
    """Return the point of an edge on a plane, whose ends are x above and y below it, or the other way round."""
    f = x / (x - y)
    return a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])


@kernel
def cut(pool: Array, item: int, row: int) -> int:
    """Split a triangle along its plane, or in halves; write the pieces from a row on, and return their number."""
    t = read(pool, item)
    plane = (pool[item, 9], pool[item, 10], pool[item, 11], pool[item, 12])
    if plane[0] == 0.0 and plane[1] == 0.0 and plane[2] == 0.0:
        half_a, half_b = _halve(t)
        write(half_a, pool, row)
        write(half_b, pool, row + 1)
        return 2
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    k = 0 if (y > 0.0) == (z > 0.0) else (1 if (x > 0.0) == (z > 0.0) else 2)  # the corner that is alone on its side
    if k == 1:
        x, y, z = y, z, x
    elif k == 2:
        x, y, z = z, x, y
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    p, q = _crossing(a, b, x, y), _crossing(a, c, x, z)
    write((a, p, q), pool, row)
    write((p, b, c), pool, row + 1)
    write((p, c, q), pool, row + 2)
    return PIECES


@kernel
def push(heap: Array, items: Ints, count: int, key: float, item: int) -> int:
    """Insert an item into a heap with the greatest key first, and return its size."""
    k = count
    while k > 0 and heap[(k - 1) // 2] < key:
        heap[k], items[k] = heap[(k - 1) // 2], items[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k], items[k] = key, item
    return count + 1


@kernel
def pop(heap: Array, items: Ints, count: int) -> int:
    """Remove the first item of a heap, and return its size."""
    count -= 1
    key, item = heap[count], items[count]
    k = 0
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and heap[child + 1] > heap[child]:
            child += 1
        if not heap[child] > key:
            break
        heap[k], items[k] = heap[child], items[child]
        k = child
    heap[k], items[k] = key, item
    return count
