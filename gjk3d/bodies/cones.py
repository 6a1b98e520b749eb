"""Whether the normal of a contact is in the normal cone of the body at its point.

A body is the union of its parts, and an edge of a part need not be an edge of the body: two triangles of level ground
share one, and two boxes that abut share a face. A vector n is a proximal normal of the body at a point p if p is the
nearest point of the body to p + step n, for some step above 0 (Clarke, Optimization and Nonsmooth Analysis, 1983). At
a flat or concave edge only the normals of the faces are, at a convex edge all vectors between these.
"""

from __future__ import annotations

from math import inf

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.part_tree import OPEN, PRISMS, TRIANGLES, PartTree, nodes_apart, part_at
from gjk3d.bodies.triangles import middle_of, nearest_on, normal_of, read
from gjk3d.bodies.walk import Bench, Two, holds, parts_at
from gjk3d.geometry.vec3 import Rigid, Vec3, along, cross, dot, neg, offset, sub, turn_back
from gjk3d.narrow.solve import UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.typing import Array

SHORT, LONG = 1e-4, 1e-2  #: least and greatest step, of the size of the smaller part
_LEAST = 1e3  #: step, in units of the error of places
_PARALLEL = 1e-9  #: sine of the angle between vectors that count as parallel
_INWARDS = 1e-3  #: so far from its point towards the middle of a triangle is it looked at
_ONLY = 0
_HEAD, _RADIUS, _RHO = layout.FLOAT_HEAD, layout.RADIUS, layout.RHO


@inlined
def is_lone(t: PartTree) -> bool:
    """Tell whether a body is a single part."""
    return bool(t.links[0, 0] < 0 and t.links[0, 2] == 1)


@kernel
def part_size(t: PartTree, k: int, f: Array, row: Array) -> float:
    """Return how far part k reaches from its centre; ``f`` and ``row`` are room for it."""
    core = part_at(t, k, f, row)
    return float(core.floats[_RHO] + core.floats[_RADIUS])


@kernel
def step_for(size: float, depth: float, error: float) -> float:
    """Return the step of a proximal normal: the depth of a contact, within limits that the size of its parts sets.

    What is smaller than the depth is no feature of the contact. The limits keep the step above what rounding leaves
    between parts that abut, and below the size of features.
    """
    return max(min(max(depth, SHORT * size), LONG * size), _LEAST * error)


@kernel
def step_of(x: Two, p: int, q: int, depth: float, w: Bench) -> float:
    """Return the step of proximal normals for a contact of two parts, by the smaller of these; a point has no size."""
    one, two = part_size(x.a, p, w.floats_a, w.row_a), part_size(x.b, q, w.floats_b, w.row_b)
    return step_for(min(one, two) if min(one, two) > 0.0 else max(one, two), depth, x.error)


@kernel
def is_parallel(n: Vec3, m: Vec3) -> bool:
    """Tell whether two vectors have one direction, or opposite ones; the zero vector has all."""
    c = cross(n, m)
    return dot(c, c) <= _PARALLEL * _PARALLEL * dot(n, n) * dot(m, m)


@kernel
def _is_bare(t: PartTree, k: int, n: Vec3, w: Bench) -> bool:
    """Tell whether a vector is normal to a face of part k that no part covers: of a mesh, or the top of a column."""
    if t.kind == TRIANGLES:
        return t.floats[0] == 0.0 and is_parallel(n, normal_of(read(t.places, k)))
    if t.kind != PRISMS or not n[2] > 0.0:
        return False
    x = part_at(t, k, w.floats_a, w.row_a).floats[_HEAD:]
    u, v = (x[1] - x[0], x[7] - x[6], x[13] - x[12]), (x[2] - x[0], x[8] - x[6], x[14] - x[12])
    return is_parallel(n, cross(u, v))


@kernel
def _is_nearer(x: Two, k: int, p: Vec3, n: Vec3, step: float, share: float, w: Bench) -> bool:
    """Tell whether part k of A is nearer to p + step n than a share of the step; B is a point at that place."""
    if x.a.kind == TRIANGLES:
        radius = x.a.floats[0]
        _, near = nearest_on(offset(x.m), read(x.a.places, k))
        p, step = along(p, n, -radius), step + radius
    else:
        solve(parts_at(x, k, _ONLY, w), UNSIGNED, inf, 0.0, w.room, w.room.simplex[:0], w.out, w.flags, _ONLY)
        if not w.out[0, 0] > 0.0:
            return True
        near = (w.out[0, 6], w.out[0, 7], w.out[0, 8])
    # the same as |near - p - step n| < share * step, without the rounding of either length
    e = sub(near, p)
    ahead = dot(e, n)
    return ahead > x.error and dot(e, e) < 2.0 * step * ahead - (1.0 - share * share) * step * step


@kernel
def is_normal(
    t: PartTree, k: int, origin: PartTree, p: Vec3, n: Vec3, step: float, share: float, w: Bench
) -> bool:  # fmt: skip
    """Tell whether n is a proximal normal of a body at p, where it is one of part k; all are in the body's frame.

    With a ``share`` below 1 so is what leans from these by up to the angle of that cosine. ``origin`` is a body of one
    point at the origin.
    """
    if is_lone(t) and t.inside == OPEN:
        return True
    q = along(p, n, step)
    to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2])
    error = ROUNDING * (t.reach + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
    x, stack, bare = Two(t, origin, to, error), w.stack, _is_bare(t, k, n, w)
    stack[0, 0] = 0
    top = 0 if bare else 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if nodes_apart(to, t, i, origin, _ONLY, step):
            continue
        if t.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = t.links[i, 0], t.links[i, 0] + 1
            top += 2
            continue
        for j in range(t.links[i, 1], t.links[i, 1] + t.links[i, 2]):
            if j != k and _is_nearer(x, j, p, n, step, share, w):
                return False
    if t.inside == OPEN:
        return True
    # ahead of a corner of the wall between two closed parts may be the surface: ahead of the wall itself is the inside
    return not holds(t, along(q, sub(middle_of(read(t.places, k)), p), _INWARDS) if bare else q, w)


@kernel
def is_contact(
    x: Two, p: int, q: int, origin: PartTree, a: Vec3, b: Vec3, n: Vec3, step: float, share: float, w: Bench
) -> bool:  # fmt: skip
    """Tell whether n is a normal of both bodies, as `is_normal` does, at a on part p and against it at b on part q."""
    if not is_normal(x.a, p, origin, a, n, step, share, w):
        return False
    return is_normal(x.b, q, origin, turn_back(x.m, sub(b, offset(x.m))), turn_back(x.m, neg(n)), step, share, w)
