"""A ray against the triangles of a mesh, and points inside its closed surface.

The first triangle on a ray is searched in the `WideTree` of the mesh.

The origin of a ray is moved to the box of the mesh before it is rounded to float32. The padding of the boxes therefore
does not depend on the distance of the origin. Triangles are tested against the float64 ray.

The products of a ray and a triangle lose their digits if the ray passes an edge closely, if it is nearly parallel to
the triangle, or if the triangle is thin. They are then computed with twice the digits.

A point is inside if a ray from the point does not leave the surface as often as it enters. A ray in another direction
replaces a ray that passes an edge closely. If all rays are unclear, the solid angles of all triangles decide. They do
not require general position (Jacobson et al., generalized winding numbers, 2013).
"""

from __future__ import annotations

from math import copysign, pi, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d._kernels.vectors import CLEAR, Line, Slabs, boxes_on_ray, lowest_bit, triangles_on_line
from gjk3d.bodies.bvh import PADDING, WideStack, WideTree, stack_of_thread, wide_tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.triangles import Triangle, nearest_on, solid_angle, vec_at
from gjk3d.convex.batch import in_chunks
from gjk3d.geometry.vec3 import Vec3, careful_cross, cross, dot, exact_cross, exact_triple, row3, sub, unit
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array2, Bools, Bools1

# --- a ray against triangles -----------------------------------------------------------------------------------------


#: Padding of boxes in units of the tree, whose coordinates are at most 1. In float32, with u = 2^-24, a box
#: is rounded by u, the origin and its shift by 2 u, a difference of two coordinates by 2 u, and the reciprocal, the
#: difference and their product by 3 u of a difference of at most 2: 11 u = 7e-7 together.
_PADDING = 1e-6
_STEEPEST = 1e30  #: greatest reciprocal of a direction; in the box a ray moves by at most 4e-30 along such an axis
_NEVER = 1e308


#: Rounding of twice the area of a line and an edge in float32, relative to the square of the radius r of a leaf.
#: Sheared corners are at most 3.5 r from the line and off by 14 u r. So the two products are off by 4 x 3.5 x 14 u r^2
#: and rounded by 37 u r^2: 233 u = 1.4e-5 together.
_RIM = 1.6e-5
#: Square of the sine of a corner times that of the angle between a ray and the plane, below which products are exact.
#: With rounded products the distance is off by 16 times their rounding at most.
SLANTED = 1.0 / 256.0
#: Rounding of a point on a ray by the transform to the mesh's frame, in units of the noise. A ray that passes an edge
#: at a greater distance misses it.
_GRAZING = 1.0 / 8.0
#: Rounding of a corner relative to the origin of a ray, in units of the noise. A triangle that is thinner, seen along
#: the ray, counts as a line.
_ROUNDED = 1.0 / 32.0


class Ray(NamedTuple):
    """A ray in the frame of a mesh, for tests of boxes and triangles."""

    origin: Vec3
    direction: Vec3  #: a unit vector
    noise: float  #: upper bound of the rounding of the distance between the ray and an edge
    begin: float  #: distance from the origin to the box of all triangles, negative if the ray misses the box
    begin_at: Vec3  #: the point at this distance, in units of the tree
    error: float  #: upper bound of the rounding of ``begin_at``, in units of the tree
    slabs: Slabs
    shear: Line  #: a line in the direction of the ray, whose point is not used


@inlined
def _reciprocal(x: float) -> float:
    if abs(x) * _STEEPEST < 1.0:
        return _STEEPEST if x >= 0.0 else -_STEEPEST
    return 1.0 / x


@inlined
def ray_on(p: Vec3, d: Vec3, t: WideTree) -> Ray:
    """Return the ray from p in the unit direction d, for tests of the boxes and triangles of a tree."""
    size = abs(p[0]) + abs(p[1]) + abs(p[2])
    noise = ROUNDING * (t.reach + size)
    around = t.reach + 4.0 * noise
    x, y, z = _reciprocal(d[0]), _reciprocal(d[1]), _reciprocal(d[2])
    enter, leave = 0.0, _NEVER
    for at, inverse in ((p[0], x), (p[1], y), (p[2], z)):
        a, b = (-around - at) * inverse, (around - at) * inverse
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    rounding = 1e-14 * (size + enter)
    begin = enter if enter <= leave + rounding and enter < 1e300 else -1.0
    error = min((noise + rounding) * t.scale, 1e9)
    o = ((p[0] + enter * d[0]) * t.scale, (p[1] + enter * d[1]) * t.scale, (p[2] + enter * d[2]) * t.scale)
    padding = _PADDING + error
    nx, ny, nz = copysign(padding, x), copysign(padding, y), copysign(padding, z)
    slabs = Slabs(
        0 if x > 0.0 else 3, 1 if y > 0.0 else 4, 2 if z > 0.0 else 5,
        o[0] + nx, o[1] + ny, o[2] + nz, o[0] - nx, o[1] - ny, o[2] - nz, x, y, z,
    )  # fmt: skip
    i, j, k, inverse = 0, 1, 2, z
    if abs(d[0]) >= abs(d[1]) and abs(d[0]) >= abs(d[2]):
        i, j, k, inverse = 1, 2, 0, x
    elif abs(d[1]) >= abs(d[2]):
        i, j, k, inverse = 2, 0, 1, y
    shear = Line(i, j, k, 0.0, 0.0, 0.0, d[i] * inverse, d[j] * inverse, inverse)
    return Ray(p, d, noise, begin, o, error, slabs, shear)


@inlined
def triangle_at(t: WideTree, face: int) -> Triangle:
    """Return the corners of a triangle of the mesh."""
    v, a, b, c = t.vertices, t.faces[face, 0], t.faces[face, 1], t.faces[face, 2]
    return (v[a, 0], v[a, 1], v[a, 2]), (v[b, 0], v[b, 1], v[b, 2]), (v[c, 0], v[c, 1], v[c, 2])


class LeafHits(NamedTuple):
    """Triangles of a leaf that the line of a ray may hit."""

    bits: int  #: see `triangles_on_line`
    along: float  #: distance from ``begin_at`` of the ray to the zero of `WideStack.distances`, in units of the tree
    slack: float  #: upper bound of the error of a distance, for the triangles that bits 8 to 15 mark


@inlined
def leaf_hits(ray: Ray, leaf: int, t: WideTree, w: WideStack) -> LeafHits:
    """Return the triangles of a leaf that the line of a ray may hit, and write distances to ``w.distances``."""
    f, o, d = t.frames[leaf], ray.begin_at, ray.direction
    x, y, z = o[0] - f[0], o[1] - f[1], o[2] - f[2]
    along = x * d[0] + y * d[1] + z * d[2]
    # the point of the line that is nearest to the centre
    x, y, z = x - along * d[0], y - along * d[1], z - along * d[2]
    radius = f[3] + ray.error + 1e-15 * (1.0 + abs(along))
    if x * x + y * y + z * z > 1.000001 * radius * radius:
        return LeafHits(plain(0), 0.0, 0.0)
    rim = (_RIM * radius + 32.0 * (radius - f[3])) * radius
    s, near = ray.shear, (x, y, z)
    line = Line(
        s.axis_x, s.axis_y, s.axis_z, near[s.axis_x], near[s.axis_y], near[s.axis_z], s.shear_x, s.shear_y, s.inverse_z
    )
    bits = triangles_on_line(t.corners, leaf, line, rim, w.distances)
    # three areas are off by the rim at most, and the distances of the corners by less than the radius
    return LeafHits(bits, -along, 10.0 / CLEAR * radius)


@kernel
def _along_rim(p: Vec3, d: Vec3, t: Triangle, noise: float) -> float:
    """Return the distance along a ray to the first triangle edge within ``noise`` of the ray, or `_NEVER`."""
    best = _NEVER
    for k in range(3):
        a, b = sub(t[k], p), sub(t[(k + 1) % 3], p)
        e = sub(b, a)
        along, step = dot(a, d), dot(e, d)
        across = (a[0] - along * d[0], a[1] - along * d[1], a[2] - along * d[2])
        turned = (e[0] - step * d[0], e[1] - step * d[1], e[2] - step * d[2])
        long = dot(turned, turned)
        at = 1.0 if step < 0.0 else 0.0  # the nearer end of an edge along the ray
        if long > noise * noise:
            at = min(max(-dot(across, turned) / long, 0.0), 1.0)
        off = (across[0] + at * turned[0], across[1] + at * turned[1], across[2] + at * turned[2])
        ahead = along + at * step
        if dot(off, off) <= noise * noise and 0.0 <= ahead < best:
            best = ahead
    return best


@inlined
def areas_on(d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return twice the signed areas, seen along d, of the triangles of the origin with the edges bc, ca and ab."""
    return (dot(d, cross(b, c)), dot(d, cross(c, a)), dot(d, cross(a, b)))


@inlined
def is_clear(areas: Vec3, rim: float) -> bool:
    """Return whether a line clearly hits a triangle: ``areas`` (`areas_on`) have one sign and sizes above ``rim``."""
    u, v, w = areas
    return min(u, v, w) > rim or max(u, v, w) < -rim


@inlined
def extent_of(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return the sum of the absolute values of all coordinates of a triangle."""
    return float(
        abs(a[0]) + abs(a[1]) + abs(a[2]) + abs(b[0]) + abs(b[1]) + abs(b[2]) + abs(c[0]) + abs(c[1]) + abs(c[2])
    )


@kernel
def hit_triangle(p: Vec3, d: Vec3, noise: float, t: Triangle) -> tuple[float, Vec3]:
    """Return the distance along a ray to a triangle, and a normal of the triangle that is not normalized.

    The rim of the triangle is widened by rounding. For a miss, the distance is `_NEVER`, and the normal is undefined.
    """
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    u, v, w = areas_on(d, a, b, c)
    rim = noise * extent_of(a, b, c)
    if min(u, v, w) < -rim and max(u, v, w) > rim:
        return _NEVER, d
    e, f = sub(t[1], t[0]), sub(t[2], t[0])
    n = cross(e, f)
    speed = dot(n, d)
    slanted = speed * speed < SLANTED * dot(e, e) * dot(f, f)
    if slanted:
        n = exact_cross(e, f)
        speed = dot(n, d)
    if not is_clear((u, v, w), rim):
        return _closely(p, d, noise, t), n
    height = dot(n, a)
    # rounding of an origin on the triangle is a distance in front of or behind it, divided by the sine of the angle
    if slanted and abs(height) <= noise * sqrt(dot(n, n)) and is_on(p, t, noise):
        return 0.0, n
    ahead = height / speed
    return (max(ahead, 0.0) if ahead >= -noise else _NEVER), n


@inlined
def to_triangle(p: Vec3, d: Vec3, noise: float, t: Triangle) -> float:
    """Return the distance along a ray to a triangle, or `_NEVER` for a miss, as `hit_triangle` does."""
    return hit_triangle(p, d, noise, t)[0]


@kernel
def is_on(p: Vec3, t: Triangle, noise: float) -> bool:
    """Return whether a point is on a triangle to within rounding."""
    return nearest_on(p, t)[0] <= noise * noise


@kernel
def outline(d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec3]:
    """Return the areas of `areas_on`, and for each corner the squared length, seen along d, of the opposite edge.

    The areas have nearly no cancellation error, even if d is nearly parallel to an edge or to the plane.
    """
    x, y, z = cross(d, sub(c, b)), cross(d, sub(a, c)), cross(d, sub(b, a))
    areas = (exact_triple(d, b, c), exact_triple(d, c, a), exact_triple(d, a, b))
    return areas, (dot(x, x), dot(y, y), dot(z, z))


@kernel
def _closely(p: Vec3, d: Vec3, noise: float, t: Triangle) -> float:
    """Return the distance of a triangle along a ray that is close to an edge or nearly parallel to the triangle.

    The distance is `_NEVER` for a miss.
    """
    if is_on(p, t, noise):
        return 0.0
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    (u, v, w), (x, y, z) = outline(d, a, b, c)
    total, flat = u + v + w, _ROUNDED * noise
    if (min(u, v, w) >= 0.0 or max(u, v, w) <= 0.0) and total * total > flat * flat * max(x, y, z):
        # a mean of the corners is on the triangle for any angle
        ahead = (u * dot(a, d) + v * dot(b, d) + w * dot(c, d)) / total
        return ahead if ahead >= 0.0 else _NEVER
    return _along_rim(p, d, t, _GRAZING * noise)


@inlined
def descend(w: WideStack, top: int, bits: int, node: int, t: WideTree) -> tuple[int, int]:
    """Push the children of ``node`` marked in ``bits``, except the nearest; return the stack size and the nearest."""
    lane = lowest_bit(bits)
    bits &= bits - 1
    nearest, key, base = plain(t.children[node, lane]), w.entries[lane], top
    while bits != 0:
        lane = lowest_bit(bits)
        bits &= bits - 1
        child, entered = plain(t.children[node, lane]), w.entries[lane]
        if entered < key:
            child, entered, nearest, key = nearest, key, child, entered
        place = top  # farther children are below nearer ones
        while place > base and w.keys[place - 1] < entered:
            w.keys[place], w.nodes[place] = w.keys[place - 1], w.nodes[place - 1]
            place -= 1
        w.keys[place], w.nodes[place] = entered, child
        top += 1
    return top, nearest


class FirstTriangle(NamedTuple):
    """The first triangle on a ray so far, and bounds of its distance from `Ray.begin_at`, in units of the tree."""

    face: int  #: -1 for none
    lower: float
    upper: float
    exact: float  #: distance from the ray's origin in units of the mesh, negative if it was not computed


@inlined
def _exactly(ray: Ray, face: int, t: WideTree) -> FirstTriangle:
    """Return triangle ``face`` with its exact distance along a ray."""
    exact = to_triangle(ray.origin, ray.direction, ray.noise, triangle_at(t, face))
    at = (exact - ray.begin) * t.scale
    return FirstTriangle(face, at, at, exact)


@inlined
def first_triangle(ray: Ray, far: float, exact: bool, t: WideTree, w: WideStack) -> FirstTriangle:
    """Return the first triangle on a ray up to the distance ``far``, with the face -1 if there is none.

    Without ``exact``, triangles are compared by the float32 bounds of their distances, and by their exact distances
    only if the bounds overlap. If the exact distance of the result is beyond ``far``, nearer triangles may have been
    discarded, and only a search with ``exact`` finds the first triangle.
    """
    end = (far - ray.begin) * t.scale
    hit, lower, upper, known, node, top = -1, end, end, far, 0, 0
    padding = _PADDING + ray.error
    limit = upper * 1.000001 + padding
    while True:
        if node < 0:
            leaf = -2 - node
            bits, along, slack = leaf_hits(ray, leaf, t, w)
            while bits & 255 != 0:
                lane = lowest_bit(bits)
                clear = not exact and (bits >> lane) & 256 != 0
                bits &= ~(1 << lane)
                face, at = plain(t.numbers[leaf, lane]), along + w.distances[lane]
                if clear and (at - slack > upper or at + slack < 0.0):
                    continue
                if clear and at + slack < lower:
                    hit, lower, upper, known = face, at - slack, at + slack, -1.0
                    continue
                # their bounds overlap, so the exact distances decide
                if known < 0.0:
                    hit, lower, upper, known = _exactly(ray, hit, t)
                    if known > far:
                        return FirstTriangle(hit, lower, upper, known)
                new = _exactly(ray, face, t)
                if new.exact < known or (new.exact == known and (hit < 0 or face < hit)):
                    hit, lower, upper, known = new
            limit = upper * 1.000001 + padding
        else:
            bits = boxes_on_ray(t.boxes, node, ray.slabs, limit, w.entries)
            if bits != 0:
                top, node = descend(w, top, bits, node, t)
                continue
        while top > 0 and w.keys[top - 1] > limit:
            top -= 1
        if top == 0:
            return FirstTriangle(hit, lower, upper, known)
        top -= 1
        node = w.nodes[top]


# --- points inside the surface ---------------------------------------------------------------------------------------


_SECOND, _THIRD = 0.0119, 0.0237
_MAIN = sqrt(1.0 - _SECOND**2 - _THIRD**2)  #: (_MAIN, _SECOND, _THIRD) is a unit vector
_TRIES = 6
_CHUNK = 4096  #: points per call of the kernel
NO_COUNT = -(2**40)  #: result for a ray that passes an edge closely


@kernel
def crossing(p: Vec3, d: Vec3, t: Triangle, noise: float) -> int:
    """Return 1 if a ray leaves through a triangle, -1 if it enters, 0 for a miss, or `NO_COUNT` close to an edge."""
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    u, v, w = dot(d, cross(b, c)), dot(d, cross(c, a)), dot(d, cross(a, b))
    # each is twice the projected area of a triangle, with an error below noise times its edges
    long = noise * (sqrt(dot(a, a)) + sqrt(dot(b, b)) + sqrt(dot(c, c)))
    if min(u, v, w) < -long and max(u, v, w) > long:
        return 0
    if min(u, v, w) <= long and max(u, v, w) >= -long:
        return NO_COUNT
    e, f = sub(t[1], t[0]), sub(t[2], t[0])
    n = careful_cross(e, f, SLANTED * dot(e, e) * dot(f, f))
    height = dot(n, a)
    if abs(height) <= noise * sqrt(dot(n, n)):
        return NO_COUNT
    if height / (u + v + w) > 0.0:
        return 1 if u + v + w > 0.0 else -1
    return 0


class Box(NamedTuple):
    """The box of a mesh, which contains all triangles with their rounding."""

    low: Vec3
    high: Vec3
    padding: float  #: by which both corners are moved outward


@inlined
def box_of(t: WideTree) -> Box:
    """Return the box of the mesh of a tree."""
    last = t.frames.shape[0] - 1
    return Box(vec_at(t.frames[last - 1], 0), vec_at(t.frames[last], 0), PADDING / t.scale)


@inlined
def is_in_box(p: Vec3, box: Box) -> bool:
    """Return whether a point is in a box."""
    a, b, _ = box
    return a[0] <= p[0] <= b[0] and a[1] <= p[1] <= b[1] and a[2] <= p[2] <= b[2]


@inlined
def _direction(attempt: int, p: Vec3, box: Box) -> Vec3:
    """Return the direction of the ray from p in attempt 0, 1, ... to decide whether p is inside a surface.

    The first ray leads to the nearest side of the box. All directions are oblique to likely planes of symmetry.
    """
    if attempt > 0:
        return unit((0.5361 + 0.217 * attempt, 0.3719 - 0.311 * attempt, 0.7577 - 0.173 * attempt * attempt))
    axis, sign, nearest = 0, 1.0, _NEVER
    for k in range(3):
        if box.high[k] - p[k] < nearest:
            axis, sign, nearest = k, 1.0, box.high[k] - p[k]
        if p[k] - box.low[k] < nearest:
            axis, sign, nearest = k, -1.0, p[k] - box.low[k]
    main = sign * _MAIN
    if axis == 0:
        return (main, _SECOND, _THIRD)
    return (_THIRD, main, _SECOND) if axis == 1 else (_SECOND, _THIRD, main)


@inlined
def _exits_in_leaf(ray: Ray, leaf: int, t: WideTree, w: WideStack) -> int:
    """Return the exits less the entries of a ray through the triangles of a leaf, or `NO_COUNT` close to an edge."""
    count, (bits, along, slack) = 0, leaf_hits(ray, leaf, t, w)
    while bits & 255 != 0:
        lane = lowest_bit(bits)
        flags = bits >> lane
        bits &= ~(1 << lane)
        ahead = along + w.distances[lane]
        if flags & 256 != 0 and ahead + slack < 0.0:
            continue
        if flags & 65536 != 0 and ahead > slack:
            # the flag is for the last axis, along which the ray may go in reverse
            count += 1 if (flags & 16777216 != 0) == (ray.shear.inverse_z > 0.0) else -1
            continue
        change = crossing(ray.origin, ray.direction, triangle_at(t, plain(t.numbers[leaf, lane])), ray.noise)
        if change == NO_COUNT:
            return NO_COUNT
        count += change
    return count


@inlined
def _exits(ray: Ray, t: WideTree, w: WideStack) -> int:
    """Return the exits of a ray from the surface less its entries, or `NO_COUNT` if it passes an edge closely."""
    if ray.begin < 0.0:
        return 0
    count, top = 0, 1
    w.nodes[0] = 0
    while top > 0:
        top -= 1
        node = w.nodes[top]
        if node < 0:
            change = _exits_in_leaf(ray, -2 - node, t, w)
            if change == NO_COUNT:
                return NO_COUNT
            count += change
            continue
        bits = boxes_on_ray(t.boxes, node, ray.slabs, 3e38, w.entries)
        while bits != 0:
            w.nodes[top] = plain(t.children[node, lowest_bit(bits)])
            bits &= bits - 1
            top += 1
    return count


@kernel
def winding_about(p: Vec3, t: WideTree) -> float:
    """Return the winding number of the triangles about a point (van Oosterom, Strackee, 1983)."""
    total = 0.0
    for face in range(t.faces.shape[0]):
        total += solid_angle(p, triangle_at(t, face))
    return total / (4.0 * pi)


@kernel
def turns_by_rays(p: Vec3, box: Box, t: WideTree, w: WideStack) -> int:
    """Return how often the closed surface of a tree winds about a point: 0 outside, negative for inward winding.

    The result is `NO_COUNT` if all rays pass edges closely, for example from a point on the surface. ``box`` is the
    result of `box_of`.
    """
    if not is_in_box(p, box):
        return 0
    for attempt in range(_TRIES):
        count = _exits(ray_on(p, _direction(attempt, p, box), t), t, w)
        if count != NO_COUNT:
            return count
    return NO_COUNT


@kernel
def turns_about(p: Vec3, box: Box, t: WideTree, w: WideStack) -> int:
    """Return how often the closed surface of a tree winds about a point, as `turns_by_rays` does.

    If all rays pass edges closely, the result is the rounded winding number, which is slow.
    """
    count = turns_by_rays(p, box, t, w)
    return round(winding_about(p, t)) if count == NO_COUNT else count


@inlined
def is_within(p: Vec3, box: Box, t: WideTree, w: WideStack) -> bool:
    """Return whether a point is inside the closed surface of a tree."""
    return turns_about(p, box, t, w) != 0


@single_entry
def points_within(points: Array2, start: int, stop: int, t: WideTree, w: WideStack, out: Bools1) -> None:
    """Write to ``out`` which of the points ``start`` to ``stop - 1``, in the frame of a closed mesh, are inside it."""
    box = box_of(t)
    for k in range(start, stop):
        out[k] = is_within(row3(points, k), box, t, w)


def holds(mesh: Mesh, points: Array, workers: int = 1) -> Bools:
    """Return which points, in the frame of a mesh, are inside its closed surface. All are outside an open mesh."""
    inside = np.zeros(len(points), dtype=bool)
    if len(points) and mesh.is_watertight:
        tree, points = wide_tree_of(mesh.skin), np.ascontiguousarray(points)

        def run(start: int, stop: int) -> None:
            points_within(points, start, stop, tree, stack_of_thread(), inside)

        in_chunks(len(points), workers, run, _CHUNK)
    return inside
