"""Whether points are inside the closed surface of a mesh, by its `WideTree`.

A point is inside if a ray from it leaves the surface more often than it enters. A ray that passes an edge closely is
replaced by one in another direction. If all are unclear, the solid angle of all triangles decides, for which general
position is not required (Jacobson et al., generalized winding numbers, 2013).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d._kernels.vectors import boxes_on_ray, lowest_bit
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_rays import SLANTED, Ray, leaf_hits, ray_on, triangle_at
from gjk3d.bodies.triangles import Triangle, solid_angle, vec_at
from gjk3d.bodies.wide_tree import PADDING, WideStack, WideTree, stack_of_thread, wide_tree_of
from gjk3d.convex.batch import in_chunks
from gjk3d.geometry.vec3 import Vec3, careful_cross, cross, dot, row3, sub, unit
from gjk3d.typing import Array, Array2, Bools, Bools1

_NEVER = 1e308
_SECOND, _THIRD = 0.0119, 0.0237
_MAIN = sqrt(1.0 - _SECOND**2 - _THIRD**2)  #: with these a unit vector
_TRIES = 6
_CHUNK = 4096  #: points per call of the kernel
NO_COUNT = -(2**40)  #: for a ray that passes an edge closely


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
    padding: float  #: by which both are moved


@inlined
def box_of(t: WideTree) -> Box:
    """Return the box of the mesh."""
    last = t.frames.shape[0] - 1
    return Box(vec_at(t.frames[last - 1], 0), vec_at(t.frames[last], 0), PADDING / t.scale)


@inlined
def is_in_box(p: Vec3, box: Box) -> bool:
    """Return whether a point is in a box."""
    a, b, _ = box
    return a[0] <= p[0] <= b[0] and a[1] <= p[1] <= b[1] and a[2] <= p[2] <= b[2]


@inlined
def _direction(attempt: int, p: Vec3, box: Box) -> Vec3:
    """Return the direction of a ray, off likely planes of symmetry; the first goes to the nearest side of the box."""
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
    """Return how many more exits than entries a ray has through the triangles of a leaf, or `NO_COUNT`."""
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
    """Return the number of exits of a ray from the surface less the number of entries, or `NO_COUNT`."""
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

    The result is `NO_COUNT` if no ray is clear, for example on the surface. The box of the tree is passed because it is
    needed often.
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
    """Return `turns_by_rays`, or the nearest integer to the winding number if no ray is clear, which is slow."""
    count = turns_by_rays(p, box, t, w)
    return round(winding_about(p, t)) if count == NO_COUNT else count


@inlined
def is_within(p: Vec3, box: Box, t: WideTree, w: WideStack) -> bool:
    """Return whether a point is inside the closed surface of a tree."""
    return turns_about(p, box, t, w) != 0


@single_entry
def points_within(points: Array2, start: int, stop: int, t: WideTree, w: WideStack, out: Bools1) -> None:
    """Write which points in the frame of a closed mesh are inside."""
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
