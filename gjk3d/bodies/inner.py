"""How deep the surface of one mesh lies in another, closed one: the greatest distance from its surface, enclosed.

From below: a point of the one that lies inside is as deep as its distance from the other's surface. From above: what
lies inside is no deeper than it is far from any face of the other, a distance that is greatest at a corner of a
triangle, so the face nearest to a triangle's middle bounds the depth of all of it; a whole box bounds by its radius,
for the distance grows no faster than one moves. What has the highest bound is cut first until the two meet: a triangle
along the plane of a face that it crosses, so that what sticks out is left in one step, or between the two faces that
are nearest to its middle and its farthest corner, each of which bounds its own side; else at its longest edge.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.bvh import traversal_stack, tree_of
from gjk3d.bodies.raycast import is_inside
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.traversal import STACK, to_point
from gjk3d.bodies.triangles import Triangle, meet, nearest_on, place, read
from gjk3d.geometry.vec3 import Rigid, Vec3, cross, dot, sub
from gjk3d.geometry.vec3 import place as to_place
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

_LOWER, _UPPER, _FOUND, _SPENT, _NOISE = range(5)  #: columns of the first row of what is found
_KNOWN = 4096  #: vertices of a mesh, of which those in the other's box are looked at first
_SEEDS = 256  #: of these
_ROWS = 32  #: deep points that are kept, behind the first row
_POOL = 13  #: floats of a triangle that waits, and of the plane that it is to be cut along
_PIECES = 3  #: that a triangle is cut into, at most
_SLIVER = 0.02  #: least part of a triangle's radius that a plane cuts off
_FINER = 0.25  #: size of a face that is crossed, in units of the triangle's, that is worth to be cut along

Plane = tuple[float, float, float, float]  #: a unit normal and how far along it; zeros for none
_NO_PLANE = (0.0, 0.0, 0.0, 0.0)


@kernel
def _push(heap: Array, items: Ints, count: int, key: float, item: int) -> int:
    """Put an item into a heap, the greatest key first; return how many are in it."""
    k = count
    while k > 0 and heap[(k - 1) // 2] < key:
        heap[k], items[k] = heap[(k - 1) // 2], items[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k], items[k] = key, item
    return count + 1


@kernel
def _pop(heap: Array, items: Ints, count: int) -> int:
    """Take the first item out of a heap; return how many are left in it."""
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


@kernel
def _keep(d: float, p: Vec3, foot: Vec3, found: Array) -> None:
    """Note a point that lies inside, in place of the shallowest where there is no room."""
    found[0, _LOWER] = max(found[0, _LOWER], d)
    row = int(found[0, _FOUND]) + 1
    if row < found.shape[0]:
        found[0, _FOUND] += 1.0
    else:
        row = 1
        for k in range(2, found.shape[0]):
            if found[k, 0] < found[row, 0]:
                row = k
        if found[row, 0] >= d:
            return
    found[row, 0] = d
    for k in range(3):
        found[row, 1 + k], found[row, 4 + k] = p[k], foot[k]


@kernel
def _look(p: Vec3, bh: Array, lh: Ints, ch: Array, stack: Ints, keys: Array, found: Array) -> tuple[float, int]:
    """Return the distance of a point from the surface, negative where it lies outside, and the face that is nearest."""
    found[0, _SPENT] += 1.0
    noise = found[0, _NOISE]
    square, face, foot = to_point(p, 1e150, bh, lh, ch, stack, keys)
    d = sqrt(square)
    if d <= 4.0 * noise:
        return d, face
    if not is_inside(p, bh, lh, ch, noise, stack):
        return -d, face
    if d > 0.5 * found[0, _LOWER]:
        _keep(d, p, foot, found)
    return d, face


@inlined
def _misses_box(t: Triangle, n: Vec3, boxes: Array, i: int, noise: float) -> bool:
    """Tell whether a triangle with normal n and a box are apart, by the box's axes and the triangle's plane."""
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
def _touched(t: Triangle, bh: Array, lh: Ints, ch: Array, stack: Ints, noise: float) -> int:
    """Return a face of the surface that a triangle touches or crosses; -1 for none."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if _misses_box(t, n, bh, i, noise):
            continue
        if lh[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = lh[i, 0], lh[i, 0] + 1
            top += 2
            continue
        for k in range(lh[i, 1], lh[i, 1] + lh[i, 2]):
            if meet(read(ch, k), t, noise):
                return k
    return -1


@inlined
def _middle(t: Triangle) -> tuple[Vec3, float]:
    """Return the middle of a triangle, and how far its corners are from it."""
    f = 1.0 / 3.0
    c = (
        f * (t[0][0] + t[1][0] + t[2][0]), f * (t[0][1] + t[1][1] + t[2][1]), f * (t[0][2] + t[1][2] + t[2][2]),
    )  # fmt: skip
    x, y, z = sub(t[0], c), sub(t[1], c), sub(t[2], c)
    return c, sqrt(max(dot(x, x), dot(y, y), dot(z, z)))


@kernel
def _from_flat(t: Triangle, face: int, flat: Ints, ch: Array) -> float:
    """Return how far the corners of a triangle are at most from a face, or from it and a flat neighbour as one."""
    own = read(ch, face)
    x, y, z = nearest_on(t[0], own)[0], nearest_on(t[1], own)[0], nearest_on(t[2], own)[0]
    best = max(x, y, z)
    for k in range(3):
        if flat[face, k] >= 0:
            other = read(ch, flat[face, k])
            u, v, w = nearest_on(t[0], other)[0], nearest_on(t[1], other)[0], nearest_on(t[2], other)[0]
            best = min(best, max(min(x, u), min(y, v), min(z, w)))
    return sqrt(best)


@inlined
def _plane_of(t: Triangle) -> Plane:
    """Return the plane of a triangle, zeros where it has none."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    length = sqrt(dot(n, n))
    if not length > 0.0:
        return _NO_PLANE
    x, y, z = n[0] / length, n[1] / length, n[2] / length
    return x, y, z, x * t[0][0] + y * t[0][1] + z * t[0][2]


@kernel
def _outside_of(face: Triangle, t: Triangle, c: Vec3, radius: float, d: float, noise: float) -> Plane:
    """Return the plane of a face that a triangle crosses, a little outwards; d is negative where c is outside.

    Zeros where the face is much smaller than the triangle.
    """
    _, size = _middle(face)
    x, y, z, far = _plane_of(face)
    if size < _FINER * radius:
        return _NO_PLANE
    above = x * c[0] + y * c[1] + z * c[2] > far
    return x, y, z, far + (4.0 * noise if above == (d < 0.0) else -4.0 * noise)


@kernel
def _between(one: Triangle, other: Triangle, p: Vec3, q: Vec3) -> Plane:
    """Return the plane that halves the angle of two faces' planes, those that look to p and to q; zeros for none."""
    x, y, z, far = _plane_of(one)
    u, v, w, off = _plane_of(other)
    if x * p[0] + y * p[1] + z * p[2] < far:
        x, y, z, far = -x, -y, -z, -far
    if u * q[0] + v * q[1] + w * q[2] < off:
        u, v, w, off = -u, -v, -w, -off
    x, y, z, far = x - u, y - v, z - w, far - off
    length = sqrt(x * x + y * y + z * z)
    if not length > 1e-6:
        return _NO_PLANE
    return x / length, y / length, z / length, far / length


@kernel
def _of_triangle(
    t: Triangle, flat: Ints, bh: Array, lh: Ints, ch: Array, stack: Ints, keys: Array, found: Array
) -> tuple[float, Plane]:
    """Bound how deep a triangle lies inside, negative where it does not; say along what to cut it."""
    c, radius = _middle(t)
    noise = found[0, _NOISE]
    d, face = _look(c, bh, lh, ch, stack, keys, found)
    if d < -radius - noise:
        return -1.0, _NO_PLANE
    met = -1
    if d < 0.0:
        met = _touched(t, bh, lh, ch, stack, noise)
        if met < 0:
            return -1.0, _NO_PLANE
    bound = float(min(d + radius, _from_flat(t, face, flat, ch)) + 2.0 * noise)
    if not bound > found[0, _LOWER]:
        return bound, _NO_PLANE
    k, farthest = 0, -1.0
    for i in range(3):
        away, _ = nearest_on(t[i], read(ch, face))
        if away > farthest:
            k, farthest = i, away
    # no deeper than from either of two faces, so than their mean: it is convex, too
    _, other = _look(t[k], bh, lh, ch, stack, keys, found)
    if other != face:
        farthest = 0.0
        for i in range(3):
            one, _ = nearest_on(t[i], read(ch, face))
            two, _ = nearest_on(t[i], read(ch, other))
            farthest = max(farthest, 0.5 * (sqrt(one) + sqrt(two)))
        bound = float(min(bound, farthest + 2.0 * noise, _from_flat(t, other, flat, ch) + 2.0 * noise))
    if not bound > found[0, _LOWER]:
        return bound, _NO_PLANE
    if met < 0 and d < radius:
        met = _touched(t, bh, lh, ch, stack, noise)
    plane = _NO_PLANE
    if met >= 0:
        plane = _outside_of(read(ch, met), t, c, radius, d, noise)
    if other != face and not _cuts(t, plane, radius, noise):
        plane = _between(read(ch, face), read(ch, other), c, t[k])
    return bound, plane if _cuts(t, plane, radius, noise) else _NO_PLANE


@kernel
def _of_box(
    m: Rigid, bg: Array, i: int, bh: Array, lh: Ints, ch: Array, stack: Ints, keys: Array, found: Array
) -> float:
    """Bound how deep what is in a box lies inside, negative where it does not."""
    x, y, z = bg[i, 0], bg[i, 1], bg[i, 2]
    c = (
        m[0] * x + m[1] * y + m[2] * z + m[9], m[3] * x + m[4] * y + m[5] * z + m[10],
        m[6] * x + m[7] * y + m[8] * z + m[11],
    )  # fmt: skip
    radius = sqrt(bg[i, 3] * bg[i, 3] + bg[i, 4] * bg[i, 4] + bg[i, 5] * bg[i, 5]) + found[0, _NOISE]
    found[0, _SPENT] += 1.0
    square, _, _ = to_point(c, 1e150, bh, lh, ch, stack, keys)
    d = sqrt(square)
    if d > radius + found[0, _NOISE] and not is_inside(c, bh, lh, ch, found[0, _NOISE], stack):
        return -1.0
    return float(d + radius)


@kernel
def _halve(t: Triangle) -> tuple[Triangle, Triangle]:
    """Cut a triangle at the middle of its longest edge."""
    best, k = -1.0, 0
    for i in range(3):
        e = sub(t[(i + 1) % 3], t[i])
        if dot(e, e) > best:
            best, k = dot(e, e), i
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    return (a, middle, c), (middle, b, c)


@inlined
def _over(p: Vec3, plane: Plane) -> float:
    return plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] - plane[3]


@inlined
def _cuts(t: Triangle, plane: Plane, radius: float, noise: float) -> bool:
    """Tell whether a plane leaves some of a triangle on either side."""
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    return bool(min(max(x, y, z), -min(x, y, z)) > max(16.0 * noise, _SLIVER * radius))


@inlined
def _write(t: Triangle, pool: Array, row: int) -> None:
    for k in range(3):
        pool[row, k], pool[row, 3 + k], pool[row, 6 + k] = t[0][k], t[1][k], t[2][k]


@inlined
def _crossing(a: Vec3, b: Vec3, x: float, y: float) -> Vec3:
    """Return where an edge is whose ends are x above and y below a plane, or the other way round."""
    f = x / (x - y)
    return a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])


@kernel
def _cut(pool: Array, item: int, row: int) -> int:
    """Cut a triangle along its plane, or in halves; write the pieces from a row on, and return how many there are."""
    t = read(pool, item)
    plane = (pool[item, 9], pool[item, 10], pool[item, 11], pool[item, 12])
    if plane[0] == 0.0 and plane[1] == 0.0 and plane[2] == 0.0:
        one, two = _halve(t)
        _write(one, pool, row)
        _write(two, pool, row + 1)
        return 2
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    k = 0 if (y > 0.0) == (z > 0.0) else (1 if (x > 0.0) == (z > 0.0) else 2)  # the corner that is alone on its side
    if k == 1:
        x, y, z = y, z, x
    elif k == 2:
        x, y, z = z, x, y
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    p, q = _crossing(a, b, x, y), _crossing(a, c, x, z)
    _write((a, p, q), pool, row)
    _write((p, b, c), pool, row + 1)
    _write((p, c, q), pool, row + 2)
    return _PIECES


@kernel
def _wait(
    t: Triangle, key: float, count: int, used: int, flat: Ints, bh: Array, lh: Ints, ch: Array, stack: Ints,
    keys: Array, heap: Array, items: Ints, pool: Array, found: Array,
) -> int:  # fmt: skip
    """Put a triangle into the heap and the pool, where it may be deeper than what is known; return how many wait."""
    bound, plane = _of_triangle(t, flat, bh, lh, ch, stack, keys, found)
    bound = min(key, bound)
    if not bound > found[0, _LOWER]:
        return count
    _write(t, pool, used)
    pool[used, 9], pool[used, 10], pool[used, 11], pool[used, 12] = plane
    return _push(heap, items, count, bound, used)


@inlined
def _in_box(p: Vec3, boxes: Array, i: int) -> bool:
    x, y, z = p[0] - boxes[i, 0], p[1] - boxes[i, 1], p[2] - boxes[i, 2]
    return bool(
        abs(x * boxes[i, 6] + y * boxes[i, 7] + z * boxes[i, 8]) < boxes[i, 3]
        and abs(x * boxes[i, 9] + y * boxes[i, 10] + z * boxes[i, 11]) < boxes[i, 4]
        and abs(x * boxes[i, 12] + y * boxes[i, 13] + z * boxes[i, 14]) < boxes[i, 5]
    )


@kernel
def _look_first(
    m: Rigid, seeds: Array, most: int, bh: Array, lh: Ints, ch: Array, stack: Ints, keys: Array, found: Array
) -> None:
    """Look at no more than so many, evenly, of the points that lie in the host's box."""
    count = 0
    for k in range(seeds.shape[0]):
        if _in_box(to_place(m, (seeds[k, 0], seeds[k, 1], seeds[k, 2])), bh, 0):
            count += 1
    step, at = 1 + (count - 1) // most, 0
    for k in range(seeds.shape[0] if count > 0 else 0):
        p = to_place(m, (seeds[k, 0], seeds[k, 1], seeds[k, 2]))
        if _in_box(p, bh, 0):
            if at % step == 0:
                _look(p, bh, lh, ch, stack, keys, found)
            at += 1


@entry
def search(
    m: Rigid, tolerance: float, budget: float, bh: Array2, lh: Ints2, ch: Array2, bg: Array2, lg: Ints2, cg: Array2,
    seeds: Array2, flat: Ints2, stack: Ints2, keys: Array1, heap: Array1, items: Ints1, pool: Array2, found: Array2,
) -> None:  # fmt: skip
    """Enclose how deep the surface of a guest, at pose m in the host's frame, lies inside the host.

    The first row of ``found`` holds the greatest depth known and the noise, and gets both bounds of the greatest; those
    behind it depths, points and the nearest places on the surface. Items below 0 are boxes, others rows of ``pool``.
    ``seeds`` are points of the guest, some of which are looked at first; ``flat`` see `_flat_neighbours`.
    """
    _look_first(m, seeds, int(min(budget, _SEEDS)), bh, lh, ch, stack, keys, found)
    count, used, last = (
        _push(heap, items, 0, _of_box(m, bg, 0, bh, lh, ch, stack, keys, found), -1),
        0,
        pool.shape[0] - _PIECES,
    )
    while count > 0 and heap[0] > found[0, _LOWER] * (1.0 + tolerance) + found[0, _NOISE]:
        room = count + _PIECES < heap.shape[0] and used + _PIECES < last
        if found[0, _SPENT] > budget or not room:
            break
        key, item = heap[0], items[0]
        count = _pop(heap, items, count)
        if item >= 0:
            for k in range(_cut(pool, item, last)):
                before, piece = count, read(pool, last + k)
                count = _wait(piece, key, count, used, flat, bh, lh, ch, stack, keys, heap, items, pool, found)
                used += count - before
            continue
        i = -1 - item
        for n in range(2):
            if lg[i, 0] >= 0:
                j = lg[i, 0] + n
                bound = min(key, _of_box(m, bg, j, bh, lh, ch, stack, keys, found))
                if bound > found[0, _LOWER]:
                    count = _push(heap, items, count, bound, -1 - j)
            elif n < lg[i, 2]:
                before, piece = count, place(m, cg, lg[i, 1] + n)
                count = _wait(piece, key, count, used, flat, bh, lh, ch, stack, keys, heap, items, pool, found)
                used += count - before
    found[0, _UPPER] = max(found[0, _LOWER], heap[0] if count > 0 else 0.0)


class Inner(NamedTuple):
    """Bounds of how deep a surface lies inside, and deep points, the deepest first, all in the host's frame."""

    lower: float
    upper: float
    depths: Array  #: (k,)
    points: Array  #: (k, 3)
    feet: Array  #: (k, 3) the nearest place on the host's surface of each


def inner(
    host: TriangleSurface, guest: TriangleSurface, m: Array, noise: float, tolerance: float, budget: int, known: float
) -> Inner:
    """Enclose how deep the surface of a guest lies inside a closed host, m being the guest's pose in the host's frame.

    Parameters
    ----------
    host, guest : TriangleSurface
    m : (13,) float
        A pose row.
    noise : float
        Bound of the error of a place.
    tolerance : float
        Relative width of the bounds that is enough.
    budget : int
        Points that are looked at, at most: the bounds hold with however few.
    known : float
        A depth that is known from elsewhere: what is no deeper is not looked at.
    """
    size = budget + 64
    found = np.zeros((_ROWS + 1, 7))
    found[0, _LOWER], found[0, _NOISE] = known, noise
    room = np.empty(size), np.empty(size, dtype=np.int64), np.empty((size + _PIECES, _POOL))
    trees = *tree_of(host.skin).arrays, *tree_of(guest).arrays
    pose = tuple(m[:12].tolist())
    seeds = guest._cached("some vertices", lambda: _thinned(guest._used, _KNOWN))
    flat = host.skin._cached("flat neighbours", lambda: _flat_neighbours(tree_of(host.skin).corners))
    search(
        pose, tolerance, float(budget), *trees, seeds, flat, traversal_stack(), np.empty(STACK),
        *room, found,
    )  # fmt: skip
    rows = found[1 : 1 + int(found[0, _FOUND])]
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    return Inner(float(found[0, _LOWER]), float(found[0, _UPPER]), rows[:, 0], rows[:, 1:4], rows[:, 4:7])


def _thinned(points: Array, most: int) -> Array:
    """Return at most so many of the points, evenly."""
    return points[:: max(1, -(-len(points) // most))].copy()


def _flat_neighbours(corners: Array) -> Ints:
    """Return of each triangle, (m, 9), those that make one flat, convex quadrilateral with it, (m, 3); -1 for none."""
    count = len(corners)
    _, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    faces, v = number.reshape(-1, 3), corners.reshape(-1, 3, 3)
    flat = np.full((count, 3), -1, dtype=np.int64)
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    order = np.lexsort(np.sort(ends, axis=1).T)
    same = (np.sort(ends[order[1:]], axis=1) == np.sort(ends[order[:-1]], axis=1)).all(axis=1)
    one, two = order[:-1][same], order[1:][same]
    (f, i), (g, j) = np.divmod(one, 3), np.divmod(two, 3)
    a, b, c, d = v[f, i], v[f, (i + 1) % 3], v[f, (i + 2) % 3], v[g, (j + 2) % 3]
    n = np.cross(b - a, c - a)
    size = ROUNDING * float(np.abs(corners).max(initial=0.0)) * np.linalg.norm(n, axis=1)
    good = (size > 0.0) & (np.abs(((d - a) * n).sum(axis=1)) <= size)
    good &= (np.cross(b - a, d - a) * n).sum(axis=1) <= 0.0  # one on either side of the edge
    good &= (np.cross(a - c, d - a) * n).sum(axis=1) >= 0.0
    good &= (np.cross(b - d, c - b) * n).sum(axis=1) >= 0.0
    flat[f[good], i[good]], flat[g[good], j[good]] = g[good], f[good]
    return flat
