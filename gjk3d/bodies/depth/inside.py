"""Bounds of the depth of the surface of a mesh (the guest) inside a closed mesh (the host).

Some points of the guest are inside the host. The depth is the greatest distance of such a point from the host's
surface, so each of these distances is a lower bound. The distance of a point from any single face is an upper bound for
this point. For a triangle, that distance is greatest at a corner, so the face nearest to the triangle's centre bounds
the depth of the whole triangle. The depth in a box is bounded by the depth of its centre plus its radius, since the
distance is 1-Lipschitz.

The box or triangle with the highest upper bound is split first, until the lower and the upper bound agree. A triangle
that crosses a face is split along the plane of the face, so the part outside is removed in one step. Any other triangle
has a face that is nearest to its centre. Often another face is nearest to the corner that is farthest from the first
face. The triangle is split by the plane between these two faces, or else at its longest edge.

Two triangles that form a flat, convex quadrilateral count as one face. The planes of a convex host with few faces
replace all of these bounds.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import STACK, TriangleTree
from gjk3d.bodies.bvh import FLOATS32, head_of, stack_in, traversal_stack, tree_in, tree_of, wide_tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import NO_COUNT, box_of, is_within, turns_about, turns_by_rays
from gjk3d.bodies.tree_distance import to_point
from gjk3d.bodies.triangles import (
    Triangle,
    middle_of,
    nearest_on,
    placed_triangle,
    plane_normal,
    read,
    triangles_meet,
    vec_at,
)
from gjk3d.geometry.vec3 import NO_LENGTH, Rigid, Vec3, along, cross, divide, dot, row3, sub, turn_back
from gjk3d.geometry.vec3 import place as to_place
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array1, Array2, Floats32_1, Ints, Ints1, Ints2

#: columns of the first row of the results; a depth of ENOUGH ends the search
LOWER, UPPER, COUNT, SPENT, NOISE, ENOUGH = range(6)
COLUMNS = 7  #: number of columns of the results
ROWS = 32  #: greatest number of stored deep points after the first row: depth, point, nearest point of the surface
SAMPLED = 4096  #: greatest number of sampled vertices of a mesh
SEEDS = 256  #: greatest number of sampled vertices in the host's box that are tested first
POOL = 14  #: floats of a waiting triangle: its corners, the plane to cut it along, and the depth of its centre
CUT, DEEP = 9, 13  #: first column of the plane, and column of the depth
PIECES = 3  #: greatest number of pieces of a triangle that is cut
_SLIVER = 0.02  #: least share of a triangle's radius that a plane cuts off
_FINER = 0.25  #: least size of a face that a triangle is cut along, in units of the triangle's radius
_MOST = 128  #: greatest number of faces whose planes are used; the tree is faster for more faces
_SLACK = 1e-6  #: greatest difference of a convex mesh and its hull, in units of the size
_OFFSET, _MORE = 3, 4  #: columns after the outward normal: the offset, and by how much a bound may be too low

Plane = tuple[float, float, float, float]  #: a unit normal and the offset along it; zeros for no plane
NO_PLANE = (0.0, 0.0, 0.0, 0.0)
NO_PLANES = np.zeros((0, 5))


class Closed(NamedTuple):
    """The triangles of a closed surface in two trees."""

    tree: TriangleTree  #: binary tree, for queries of boxes and triangles
    wide: Ints1  #: head of a `WideTree`, for queries of points


class TraversalScratch(NamedTuple):
    """Scratch of a traversal of either tree of a `Closed`."""

    stack: Ints2
    keys: Array1
    floats32: Floats32_1


class Host(NamedTuple):
    """A closed surface, scratch, and the results; see `search`."""

    skin: Closed
    flat: Ints2  #: see `flat_neighbours`
    planes: Array2  #: see `planes_of`
    w: TraversalScratch
    results: Array2


class Guest(NamedTuple):
    """A surface whose points are tested against a host."""

    m: Rigid  #: pose of the guest in the host's frame
    tree: TriangleTree
    seeds: Array2  #: a sample of the vertices


class Waiting(NamedTuple):
    """Boxes and triangles that wait to be split, as a heap with the highest bound first.

    The item -1 - i is box i of the guest. An item of 0 or more is the row of a triangle in ``pool``.
    """

    bounds: Array1
    items: Ints1
    pool: Array2


# points -------------------------------------------------------------------------------------------------------------


@kernel
def _store_point(d: float, p: Vec3, foot: Vec3, results: Array) -> None:
    """Store a point inside the host. If all rows are full, it replaces the shallowest one if it is deeper."""
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
def _is_in(p: Vec3, skin: Closed, w: TraversalScratch) -> bool:
    t = tree_in(skin.wide)
    return is_within(p, box_of(t), t, stack_in(w.stack, w.floats32))


@kernel
def depth_in(
    p: Vec3, skin: Closed, noise: float, away: float, known_depth: float, w: TraversalScratch
) -> tuple[float, int, Vec3]:
    """Return the depth of a point in a closed surface, the nearest face, and the nearest point of this face.

    The depth is negative outside. ``away`` is the distance of p from another point, whose depth is ``known_depth``. The
    largest ball about a point that does not cross the surface has the point's distance from the surface as its radius.
    If the balls about the two points overlap, the points are on the same side of the surface.
    """
    square, face, foot = to_point(p, 1e150, skin.tree.boxes, skin.tree.links, skin.tree.corners, w.stack, w.keys)
    d = sqrt(square)
    if d <= 4.0 * noise:
        return d, face, foot
    outside = known_depth < 0.0
    # the ball test saves the inside test, which costs most
    if not away + 8.0 * noise < d + abs(known_depth):
        outside = not _is_in(p, skin, w)
    return (-d if outside else d), face, foot


@kernel
def _depth_at(p: Vec3, h: Host, away: float, known_depth: float) -> tuple[float, int]:
    """Return the depth of a point and the nearest face, see `depth_in`, and store the point if it is deep."""
    h.results[0, SPENT] += 1.0
    noise = h.results[0, NOISE]
    if h.planes.shape[0] > 0:
        d, face = depth_by_planes(h.planes, p, -inf)
        foot = along(p, row3(h.planes, face), d)
    else:
        d, face, foot = depth_in(p, h.skin, noise, away, known_depth, h.w)
    if d > 4.0 * noise and d > 0.5 * h.results[0, LOWER]:
        _store_point(d, p, foot, h.results)
    return d, face


@kernel
def _store_if_inside(p: Vec3, h: Host) -> None:
    """Store a point if it is deep inside the host. For points outside, this is cheaper than `_depth_at`."""
    h.results[0, SPENT] += 1.0
    noise = h.results[0, NOISE]
    if h.planes.shape[0] > 0:
        least = max(4.0 * noise, 0.5 * h.results[0, LOWER])
        d, face = depth_by_planes(h.planes, p, least)
        if d > least:
            _store_point(d, p, along(p, row3(h.planes, face), d), h.results)
        return
    tree, t, stack = h.skin.tree, tree_in(h.skin.wide), stack_in(h.w.stack, h.w.floats32)
    box = box_of(t)
    turns = turns_by_rays(p, box, t, stack)
    if turns == 0:
        return
    square, _, foot = to_point(p, 1e150, tree.boxes, tree.links, tree.corners, h.w.stack, h.w.keys)
    d = sqrt(square)
    # rays are unclear for most points on the surface, such as after B was moved out, and such points are not deep
    clear = turns != NO_COUNT
    if d > 4.0 * noise and d > 0.5 * h.results[0, LOWER] and (clear or turns_about(p, box, t, stack) != 0):
        _store_point(d, p, foot, h.results)


@inlined
def in_box(p: Vec3, boxes: Array, more: float) -> bool:
    """Return whether a point is in the root box of a tree, which is enlarged on all sides by ``more``."""
    x, y, z = p[0] - boxes[0, 0], p[1] - boxes[0, 1], p[2] - boxes[0, 2]
    return bool(
        abs(x * boxes[0, 6] + y * boxes[0, 7] + z * boxes[0, 8]) < boxes[0, 3] + more
        and abs(x * boxes[0, 9] + y * boxes[0, 10] + z * boxes[0, 11]) < boxes[0, 4] + more
        and abs(x * boxes[0, 12] + y * boxes[0, 13] + z * boxes[0, 14]) < boxes[0, 5] + more
    )


@kernel
def look_first(g: Guest, most: int, h: Host) -> None:
    """Test whether sampled vertices of the guest are inside the host, and store the deep ones.

    Only vertices in the host's bounding box are tested. If there are more than ``most``, every k-th of them is tested.
    """
    count = 0
    for k in range(g.seeds.shape[0]):
        if in_box(to_place(g.m, row3(g.seeds, k)), h.skin.tree.boxes, 0.0):
            count += 1
    step, at = 1 + (count - 1) // most, 0
    for k in range(g.seeds.shape[0] if count > 0 else 0):
        p = to_place(g.m, row3(g.seeds, k))
        if in_box(p, h.skin.tree.boxes, 0.0):
            if at % step == 0:
                _store_if_inside(p, h)
            at += 1


# bounds of triangles and boxes --------------------------------------------------------------------------------------


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
    """Return the index of a face of the host that a triangle touches or crosses, or -1."""
    n, noise = plane_normal(t), h.results[0, NOISE]
    stack, links = h.w.stack, h.skin.tree.links
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if _misses_box(t, n, h.skin.tree.boxes, i, noise):
            continue
        if links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = links[i, 0], links[i, 0] + 1
            top += 2
            continue
        for k in range(links[i, 1], links[i, 1] + links[i, 2]):
            if triangles_meet(read(h.skin.tree.corners, k), t, noise):
                return k
    return -1


@kernel
def _from_flat(t: Triangle, face: int, h: Host) -> float:
    """Return the greatest distance of a triangle's corners from a face of the host.

    A flat quadrilateral that contains the face replaces the face if the result is less.
    """
    triangle, flat = read(h.skin.tree.corners, face), h.flat
    x, y, z = nearest_on(t[0], triangle)[0], nearest_on(t[1], triangle)[0], nearest_on(t[2], triangle)[0]
    best = max(x, y, z)
    for k in range(3):
        if flat[face, k] >= 0:
            neighbour = read(h.skin.tree.corners, flat[face, k])
            u, v, w = nearest_on(t[0], neighbour)[0], nearest_on(t[1], neighbour)[0], nearest_on(t[2], neighbour)[0]
            best = min(best, max(min(x, u), min(y, v), min(z, w)))
    return sqrt(best)


@inlined
def _radius(t: Triangle, c: Vec3) -> float:
    """Return the distance of a triangle's farthest corner from the point c."""
    x, y, z = sub(t[0], c), sub(t[1], c), sub(t[2], c)
    return sqrt(max(dot(x, x), dot(y, y), dot(z, z)))


@kernel
def _of_triangle(t: Triangle, h: Host, near: Vec3, known_depth: float) -> tuple[float, Plane, float]:
    """Return an upper bound of a triangle's depth, a plane to split the triangle, and the depth of its centre.

    The bound is negative if the triangle is outside. ``known_depth`` is the depth of the point ``near``, 0 if unknown.
    """
    c = middle_of(t)
    radius = _radius(t, c)
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
    k, farthest, nearest_face = 0, -1.0, read(h.skin.tree.corners, face)
    for i in range(3):
        away, _ = nearest_on(t[i], nearest_face)
        if away > farthest:
            k, farthest = i, away
    # the depth is at most the distance from either of two faces, so it is at most their mean, which is convex too
    _, second_face = _depth_at(t[k], h, radius if abs(d) > 4.0 * noise else inf, d)
    second = read(h.skin.tree.corners, second_face)
    lower = h.results[0, LOWER]
    if second_face != face:
        farthest = 0.0
        for i in range(3):
            square_a, _ = nearest_on(t[i], nearest_face)
            square_b, _ = nearest_on(t[i], second)
            farthest = max(farthest, 0.5 * (sqrt(square_a) + sqrt(square_b)))
        bound = float(min(bound, farthest + 2.0 * noise, _from_flat(t, second_face, h) + 2.0 * noise))
    if not bound > lower:
        return bound, NO_PLANE, d
    if touched_face < 0 and d < radius:
        touched_face = _touched(t, h)
    plane = NO_PLANE
    if touched_face >= 0:
        plane = _beside_face(read(h.skin.tree.corners, touched_face), c, radius, d, noise)
    if second_face != face and not _cuts(t, plane, radius, noise):
        plane = _between(nearest_face, second, c, t[k])
    return bound, plane if _cuts(t, plane, radius, noise) else NO_PLANE, d


@kernel
def _of_box(m: Rigid, boxes: Array, i: int, h: Host) -> float:
    """Return an upper bound of the depth of the surface in guest box i at pose m, negative if the box is outside."""
    c, half = to_place(m, vec_at(boxes[i], 0)), vec_at(boxes[i], 3)
    noise = h.results[0, NOISE]
    radius = sqrt(dot(half, half)) + noise
    h.results[0, SPENT] += 1.0
    if h.planes.shape[0] > 0:
        return float(box_by_planes(h.planes, m, boxes, i, c) + 2.0 * noise)
    tree = h.skin.tree
    square, _, _ = to_point(c, 1e150, tree.boxes, tree.links, tree.corners, h.w.stack, h.w.keys)
    d = sqrt(square)
    if d > radius + noise and not _is_in(c, h.skin, h.w):
        return -1.0
    return float(d + radius)


# cuts ---------------------------------------------------------------------------------------------------------------


@inlined
def _plane_of(t: Triangle) -> Plane:
    """Return the plane of a triangle, zeros if it is degenerate."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return NO_PLANE
    n = divide(n, length)
    return n[0], n[1], n[2], dot(n, t[0])


@kernel
def _beside_face(face: Triangle, c: Vec3, radius: float, d: float, noise: float) -> Plane:
    """Return the plane of a face that a triangle crosses, shifted a little out of the host.

    The centre of the triangle is c, with the depth d, which is negative outside. The result is zeros if the face is
    much smaller than the triangle.
    """
    x, y, z, far = _plane_of(face)
    if _radius(face, middle_of(face)) < _FINER * radius:
        return NO_PLANE
    # the bounds do not depend on the position of a cut, and the noise keeps the pieces from touching the face
    above = x * c[0] + y * c[1] + z * c[2] > far
    return x, y, z, far + (4.0 * noise if above == (d < 0.0) else -4.0 * noise)


@kernel
def _between(face_a: Triangle, face_b: Triangle, p: Vec3, q: Vec3) -> Plane:
    """Return the plane that bisects the angle between the planes of two faces, or zeros if they are parallel.

    The angle is that between the side of ``face_a`` with p and the side of ``face_b`` with q.
    """
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
def _cuts(t: Triangle, plane: Plane, radius: float, noise: float) -> bool:
    """Return whether a plane cuts a triangle into pieces that are neither slivers nor within rounding errors."""
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    return bool(min(max(x, y, z), -min(x, y, z)) > max(16.0 * noise, _SLIVER * radius))


@inlined
def _write(t: Triangle, pool: Array, row: int) -> None:
    for k in range(3):
        pool[row, k], pool[row, 3 + k], pool[row, 6 + k] = t[0][k], t[1][k], t[2][k]


@kernel
def cut(pool: Array, item: int, row: int) -> int:
    """Split triangle ``item`` of the pool along its stored plane, and return the number of pieces.

    A triangle without a plane is halved at its longest edge. The pieces are written into the rows of the pool from
    ``row`` on.
    """
    t = read(pool, item)
    plane = (pool[item, CUT], pool[item, CUT + 1], pool[item, CUT + 2], pool[item, CUT + 3])
    if plane[0] == 0.0 and plane[1] == 0.0 and plane[2] == 0.0:
        longest, k = -1.0, 0
        for i in range(3):
            e = sub(t[(i + 1) % 3], t[i])
            if dot(e, e) > longest:
                longest, k = dot(e, e), i
        a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
        half = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
        _write((a, half, c), pool, row)
        _write((half, b, c), pool, row + 1)
        return 2
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    k = 0 if (y > 0.0) == (z > 0.0) else (1 if (x > 0.0) == (z > 0.0) else 2)  # the corner that is alone on its side
    if k == 1:
        x, y, z = y, z, x
    elif k == 2:
        x, y, z = z, x, y
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    p, q = along(a, sub(b, a), x / (x - y)), along(a, sub(c, a), x / (x - z))
    _write((a, p, q), pool, row)
    _write((p, b, c), pool, row + 1)
    _write((p, c, q), pool, row + 2)
    return PIECES


# branch and bound ---------------------------------------------------------------------------------------------------


@kernel
def _push(w: Waiting, count: int, bound: float, item: int) -> int:
    """Insert an item into the heap, and return its size."""
    k = count
    while k > 0 and w.bounds[(k - 1) // 2] < bound:
        w.bounds[k], w.items[k] = w.bounds[(k - 1) // 2], w.items[(k - 1) // 2]
        k = (k - 1) // 2
    w.bounds[k], w.items[k] = bound, item
    return count + 1


@kernel
def _pop(w: Waiting, count: int) -> int:
    """Remove the first item of the heap, and return the number of items that remain."""
    count -= 1
    bound, item = w.bounds[count], w.items[count]
    k = 0
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and w.bounds[child + 1] > w.bounds[child]:
            child += 1
        if not w.bounds[child] > bound:
            break
        w.bounds[k], w.items[k] = w.bounds[child], w.items[child]
        k = child
    w.bounds[k], w.items[k] = bound, item
    return count


@kernel
def _wait(t: Triangle, key: float, count: int, used: int, h: Host, w: Waiting, near: Vec3, known_depth: float) -> int:
    """Add a triangle to the heap and the pool if it may be deeper than the lower bound; return the size of the heap.

    ``key`` is a known upper bound of the triangle's depth, and ``count`` is the size of the heap. ``used`` is the first
    free row of the pool.
    """
    bound, plane, d = _of_triangle(t, h, near, known_depth)
    bound = min(key, bound)
    if not bound > h.results[0, LOWER]:
        return count
    _write(t, w.pool, used)
    w.pool[used, CUT], w.pool[used, CUT + 1], w.pool[used, CUT + 2], w.pool[used, CUT + 3] = plane
    w.pool[used, DEEP] = d
    return _push(w, count, bound, used)


@kernel
def enclose(g: Guest, tolerance: float, budget: float, h: Host, w: Waiting) -> None:
    """Bound the depth of a guest's surface inside the host by branch and bound. The results are those of `search`."""
    pool, results, links = w.pool, h.results, g.tree.links
    count, used, last = plain(0), 0, pool.shape[0] - PIECES
    count = _push(w, count, _of_box(g.m, g.tree.boxes, plain(0), h), plain(-1))
    while count > 0 and w.bounds[0] > results[0, LOWER] * (1.0 + tolerance) + results[0, NOISE]:
        room = count + PIECES < w.bounds.shape[0] and used + PIECES < last
        if results[0, SPENT] > budget or not room or results[0, LOWER] >= results[0, ENOUGH]:
            break
        key, item = w.bounds[0], w.items[0]
        count = _pop(w, count)
        if item >= 0:
            near = middle_of(read(pool, item))
            for k in range(cut(pool, item, last)):
                before = count
                count = _wait(read(pool, last + k), key, count, used, h, w, near, pool[item, DEEP])
                used += count - before
            continue
        i = -1 - item
        for n in range(2):
            if links[i, 0] >= 0:
                j = links[i, 0] + n
                # a child is at most as deep as its parent, and the smaller bound keeps the heap monotone
                bound = min(key, _of_box(g.m, g.tree.boxes, j, h))
                if bound > results[0, LOWER]:
                    count = _push(w, count, bound, -1 - j)
            elif n < links[i, 2]:
                before = count
                t = placed_triangle(g.m, g.tree.corners, links[i, 1] + n)
                count = _wait(t, key, count, used, h, w, (0.0, 0.0, 0.0), 0.0)
                used += count - before
    results[0, UPPER] = max(results[0, LOWER], w.bounds[0] if count > 0 else 0.0)


@entry
def search(g: Guest, tolerance: float, budget: float, h: Host, w: Waiting) -> None:
    """Compute bounds of the depth of a guest's surface inside the host.

    The first row of ``h.results`` contains the greatest known depth and the noise, and receives both bounds. Each other
    row receives a depth, the point at this depth, and the nearest point on the surface. Some of the guest's vertices
    are tested first.
    """
    look_first(g, int(min(budget, SEEDS)), h)
    enclose(g, tolerance, budget, h, w)


class Inner(NamedTuple):
    """Bounds of the depth of a surface inside a host, and deep points, the deepest first, in the host's frame."""

    lower: float
    upper: float
    depths: Array  #: (k,)
    points: Array  #: (k, 3)
    feet: Array  #: (k, 3) the point of the host's surface nearest to each of these points


def inner(host: Mesh, guest: Mesh, m: Array, noise: float, tolerance: float, budget: int, known_depth: float) -> Inner:
    """Return bounds of the depth of the surface of ``guest``, at pose row m in the frame of ``host``, inside ``host``.

    ``noise`` bounds the error of a position. The search ends when the relative width of the bounds is at most
    ``tolerance``. At most about ``budget`` points are tested. Depths up to ``known_depth`` are not searched for.
    """
    results = np.zeros((ROWS + 1, COLUMNS))
    results[0, LOWER], results[0, NOISE], results[0, ENOUGH] = known_depth, noise, inf
    skin = closed_of(host.skin)
    h = Host(skin, flat_of(host), planes_of(host.skin), traversal_scratch(), results)
    g = Guest(tuple(m[:12].tolist()), tree_of(guest).arrays, seeds_of(guest))
    search(g, tolerance, float(budget), h, waiting_for(budget))
    rows = results[1 : 1 + int(results[0, COUNT])]
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    return Inner(float(results[0, LOWER]), float(results[0, UPPER]), rows[:, 0], rows[:, 1:4], rows[:, 4:7])


def closed_of(skin: Mesh) -> Closed:
    """Return a closed mesh in the format of the kernels. The mesh must stay alive, since it owns the arrays."""
    return Closed(tree_of(skin).arrays, np.array(head_of(wide_tree_of(skin))))


def traversal_scratch() -> TraversalScratch:
    """Return scratch for a traversal."""
    return TraversalScratch(traversal_stack(), np.empty(STACK), np.empty(FLOATS32, dtype=np.float32))


def waiting_for(budget: int) -> Waiting:
    """Return the scratch of `search` for a budget of points."""
    size = budget + 64
    return Waiting(np.empty(size), np.empty(size, dtype=np.int64), np.empty((size + PIECES, POOL)))


def seeds_of(guest: Mesh) -> Array:
    """Return a sample of the vertices of a mesh."""
    return guest._cached("some vertices", lambda: thinned(guest._used))


def thinned(points: Array) -> Array:
    """Return an even sample of the points."""
    return points[:: max(1, -(-len(points) // SAMPLED))].copy()


# flat faces and convex hosts ----------------------------------------------------------------------------------------


def flat_of(host: Mesh) -> Ints:
    """Return the neighbours that form flat quadrilaterals with the triangles of a mesh's skin (`flat_neighbours`)."""
    skin, tree = host.skin, tree_of(host.skin)
    return skin._cached("flat neighbours", lambda: flat_neighbours(tree.corners, skin._places[skin.faces[tree.order]]))


def flat_neighbours(corners: Array, places: Ints) -> Ints:
    """Return the neighbours of each triangle that form a flat, convex quadrilateral with the triangle, (m, 3).

    The neighbour is -1 at an edge without such a triangle. ``corners``, (m, 9), are the triangles. ``places``, (m, 3),
    has the position indices of their corners, see `merged_places`.
    """
    flat = np.full(places.shape, -1, dtype=np.int64)
    ends = places, np.roll(places, -1, axis=1)
    edge = (np.minimum(*ends) * (places.max(initial=0) + 1) + np.maximum(*ends)).ravel()
    pair_up(corners, edge, np.argsort(edge, kind="stable"), ROUNDING * float(np.abs(corners).max(initial=0.0)), flat)
    return flat


@entry
def pair_up(corners: Array2, edge: Ints1, order: Ints1, noise: float, flat: Ints2) -> None:
    """Write the neighbours that form a flat, convex quadrilateral with each triangle into ``flat``.

    ``edge`` has a number for each edge of each triangle, which is equal for a common edge of two triangles. ``order``
    has the indices that sort these numbers.
    """
    for k in range(len(order) - 1):
        if edge[order[k]] != edge[order[k + 1]]:
            continue
        f, i, g, j = order[k] // 3, order[k] % 3, order[k + 1] // 3, order[k + 1] % 3
        p, q = corners[f], corners[g]
        a, b, c = vec_at(p, 3 * i), vec_at(p, 3 * ((i + 1) % 3)), vec_at(p, 3 * ((i + 2) % 3))
        d = vec_at(q, 3 * ((j + 2) % 3))
        n = cross(sub(b, a), sub(c, a))
        size = noise * sqrt(dot(n, n))
        if (
            size > 0.0
            and abs(dot(sub(d, a), n)) <= size
            and dot(cross(sub(b, a), sub(d, a)), n) <= 0.0  # the triangles are on both sides of the edge
            and dot(cross(sub(a, c), sub(d, a)), n) >= 0.0
            and dot(cross(sub(b, d), sub(c, b)), n) >= 0.0
        ):
            if flat[f, i] < 0:  # the second of three triangles at an edge is paired with the first
                flat[f, i] = g
            flat[g, j] = f


def planes_of(skin: Mesh) -> Array:
    """Return the planes of a convex mesh with few faces in the order of its tree, (k, 5), or no rows for other meshes.

    A row has the face's outward normal, the offset of its lowest corner, and how far the mesh may extend above that.
    """
    return skin._cached("planes within", lambda: _find_planes(skin))


def _find_planes(skin: Mesh) -> Array:
    tree = tree_of(skin)
    slack = skin._convex_slack if len(tree.order) <= _MOST else inf
    if not slack <= _SLACK * tree.reach:
        return NO_PLANES
    normals = skin._outward(tree.order)
    if not normals.any(axis=1).all():
        return NO_PLANES
    heights = np.einsum("ikj,ij->ik", tree.corners.reshape(-1, 3, 3), normals)  # a needle's normal is off by rounding
    low = heights.min(axis=1)
    return np.ascontiguousarray(np.column_stack([normals, low, slack + heights.max(axis=1) - low]))


@kernel
def depth_by_planes(planes: Array, p: Vec3, enough: float) -> tuple[float, int]:
    """Return the least distance of a point below the planes, and the index of the plane with this distance.

    The distance is negative above the plane. The scan stops at the first distance below ``enough``.
    """
    least, face = inf, 0
    for k in range(planes.shape[0]):
        d = planes[k, _OFFSET] - dot(row3(planes, k), p)
        if d < least:
            least, face = d, k
            if d < enough:
                break
    return least, face


@kernel
def triangle_by_planes(planes: Array, t: Triangle, enough: float) -> float:
    """Return an upper bound of a triangle's depth, which is negative if the triangle is outside.

    The scan of the planes stops at a bound below ``enough``.
    """
    bound = inf
    for k in range(planes.shape[0]):
        n = row3(planes, k)
        d = planes[k, _OFFSET] + planes[k, _MORE] - min(dot(n, t[0]), dot(n, t[1]), dot(n, t[2]))
        bound = min(bound, d)
        if bound < enough:
            break
    return bound


@kernel
def box_by_planes(planes: Array, m: Rigid, boxes: Array, i: int, c: Vec3) -> float:
    """Return an upper bound of the depth of the surface in the guest's box i at pose m, with centre c at this pose."""
    bound = inf
    for k in range(planes.shape[0]):
        n = row3(planes, k)
        v = turn_back(m, n)
        wide = 0.0
        for axis in range(3):
            wide += boxes[i, 3 + axis] * abs(dot(v, vec_at(boxes[i], 6 + 3 * axis)))
        bound = min(bound, planes[k, _OFFSET] + planes[k, _MORE] - dot(n, c) + wide)
    return bound
