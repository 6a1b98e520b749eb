"""Whether the normal of a contact is in the normal cone of the body at its point.

A body is the union of its parts, and an edge of a part need not be an edge of the body: two triangles of level ground
share one, and two boxes that abut share a face. A vector n is a proximal normal of the body at a point p if p is the
nearest point of the body to p + step n, for some step above 0 (Clarke, Optimization and Nonsmooth Analysis, 1983). At
a flat or concave edge only the normals of the faces are, at a convex edge all vectors between these.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.part_tree import COPIES, FIRST_INT, OPEN, PRISMS, TRIANGLES, PartTree, nodes_apart, part_at
from gjk3d.bodies.triangles import middle_of, nearest_on, normal_of, read
from gjk3d.bodies.walk import Bench, Two, holds, parts_at
from gjk3d.geometry.vec3 import Rigid, Vec3, along, cross, dot, neg, offset, sub, turn_back
from gjk3d.narrow.solve import UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout

SHORT, LONG = 1e-4, 1e-2  #: least and greatest step, of the size of the smaller part
_LEAST = 1e3  #: step, in units of the error of places
_PARALLEL = 1e-9  #: sine of the angle between vectors that count as parallel
_INWARDS = 1e-3  #: so far from its point towards the middle of a triangle is it looked at
_ONLY = 0
_HEAD, _RADIUS, _RHO = layout.FLOAT_HEAD, layout.RADIUS, layout.RHO


class Look(NamedTuple):
    """How closely a normal is looked at."""

    step: float  #: ahead of its point
    share: float  #: of the step, that nothing may be nearer than: below 1 a normal may lean
    exact: bool  #: whether its point is known to rounding, as that of a polytope is


@inlined
def shortest_look(error: float, share: float) -> Look:
    """Return the closest look that rounding allows."""
    return Look(_LEAST * error, share, True)


@kernel
def look_of(x: Two, p: int, q: int, depth: float, w: Bench) -> Look:
    """Return how closely the normal of a contact of two parts is looked at.

    The step is the depth, within limits that the size of the smaller part sets; a point has no size. What is smaller
    than the depth is no feature of the contact. The limits keep the step above what rounding leaves between parts that
    abut, and below the size of features.
    """
    core = part_at(x.a, p, w.floats_a, w.row_a)
    one, exact = core.floats[_RHO] + core.floats[_RADIUS], core.ints[layout.POLYTOPE] != 0
    core = part_at(x.b, q, w.floats_b, w.row_b)
    two, exact = core.floats[_RHO] + core.floats[_RADIUS], exact and core.ints[layout.POLYTOPE] != 0
    size = float(min(one, two) if min(one, two) > 0.0 else max(one, two))
    return Look(max(min(max(depth, SHORT * size), LONG * size), _LEAST * x.error), 1.0, exact)


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
def _is_nearer(x: Two, k: int, p: Vec3, n: Vec3, look: Look, w: Bench) -> bool:
    """Tell whether part k of A is too near to p + step n, where B is a point."""
    step, share = look.step, look.share
    if x.a.kind == TRIANGLES:
        radius = x.a.floats[0]
        _, near = nearest_on(offset(x.m), read(x.a.places, k))
        p, step = along(p, n, -radius), step + radius
    else:
        solve(parts_at(x, k, _ONLY, w), UNSIGNED, inf, 0.0, w.room, w.room.simplex[:0], w.out, w.flags, _ONLY)
        if not w.out[0, 0] > 0.0:
            return True
        near = (w.out[0, 6], w.out[0, 7], w.out[0, 8])
    # |near - p - step n| < share step, without the rounding of either length
    e = sub(near, p)
    square, ahead, slack = dot(e, e), dot(e, n), x.error if look.exact else 0.0
    if square <= 16.0 * x.error * x.error or not ahead > x.error - 2.0 * slack:
        return False  # the same point, or one beside it
    return square < 2.0 * step * (ahead + slack) - (1.0 - share * share) * step * step


@kernel
def is_normal(t: PartTree, k: int, origin: PartTree, p: Vec3, n: Vec3, look: Look, w: Bench) -> bool:
    """Tell whether n is a proximal normal of a body at p, where it is one of part k; all are in the body's frame.

    ``origin`` is a body of one point at the origin. The balls of a cloud each count.
    """
    lone = t.links[0, 0] < 0 and t.links[0, 2] == 1
    balls = t.kind == COPIES and t.ints[t.table[0, FIRST_INT] + layout.KIND] == layout.POINT
    if (lone or balls) and t.inside == OPEN:
        return True
    q = along(p, n, look.step)
    to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2])
    error = ROUNDING * (t.reach + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
    x, stack, bare = Two(t, origin, to, error), w.stack, _is_bare(t, k, n, w)
    stack[0, 0] = 0
    top = 0 if bare else 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if nodes_apart(to, t, i, origin, _ONLY, look.step):
            continue
        if t.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = t.links[i, 0], t.links[i, 0] + 1
            top += 2
            continue
        for j in range(t.links[i, 1], t.links[i, 1] + t.links[i, 2]):
            if j != k and _is_nearer(x, j, p, n, look, w):
                return False
    if t.inside == OPEN:
        return True
    # ahead of a corner of the wall between two closed parts may be the surface: ahead of the wall itself is the inside
    return not holds(t, along(q, sub(middle_of(read(t.places, k)), p), _INWARDS) if bare else q, w)


@kernel
def is_contact(
    x: Two, p: int, q: int, origin: PartTree, a: Vec3, b: Vec3, n: Vec3, look: Look, w: Bench
) -> bool:  # fmt: skip
    """Tell whether n is a normal of both bodies, as `is_normal` does, at a on part p and against it at b on part q."""
    if not is_normal(x.a, p, origin, a, n, look, w):
        return False
    return is_normal(x.b, q, origin, turn_back(x.m, sub(b, offset(x.m))), turn_back(x.m, neg(n)), look, w)
