"""Test whether the normal of a contact is in the normal cone of the body at its point.

A body is the union of its parts. An edge of a part need not be an edge of the body, for example an edge between two
coplanar triangles, or the edges of a common face of two boxes. A vector n is a proximal normal of the body at a point p
if p is the nearest point of the body to p + step n, for some step above 0 (Clarke, Optimization and Nonsmooth Analysis,
1983). At a flat or concave edge only the normals of the faces are proximal. At a convex edge all vectors between these
are.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.part_tree import (
    BOTTOM,
    CELL,
    CELLS_Y,
    CELLS_Z,
    COPIES,
    ENDLESS,
    FIRST_FLOAT,
    FIRST_INT,
    FRONT,
    LEFT,
    OPEN,
    PITCH,
    PITCH_X,
    PITCH_Y,
    PRISMS,
    TRIANGLES,
    PartTree,
    part_at,
    top_of,
)
from gjk3d.bodies.tree_collision import APART, PosedPair, TreeScratch, holds, parts_at
from gjk3d.bodies.triangles import Triangle, middle_of, nearest_on, normal_of, read
from gjk3d.geometry.boxes import from_box
from gjk3d.geometry.vec3 import Rigid, Vec3, add, along, cross, dot, neg, offset, place, sub, turn, turn_back
from gjk3d.narrow.solve import UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core

SHORT, LONG = 1e-4, 1e-2  #: least and greatest step, relative to the size of the smaller part
_LEAST = 1e3  #: least step, in units of the error of positions
_PARALLEL = 1e-9  #: sine of the angle between vectors that count as parallel
_ROUNDED = 1e-9  #: tolerance of a position, in pitches
_INWARDS = 1e-3  #: share of the segment from the point to the middle of its triangle at which the probe starts
_ONLY = 0
_HEAD, _RADIUS, _RHO = layout.FLOAT_HEAD, layout.RADIUS, layout.RHO


class Probe(NamedTuple):
    """Parameters of the test of a normal."""

    step: float  #: distance of the probe from the point
    share: float  #: share of the step within which no other part may be. Below 1 the normal may be inclined.
    exact: bool  #: whether the point is exact up to rounding, as for a polytope
    inside: bool  #: whether the normal may lead into a closed mesh


@inlined
def shortest_probe(error: float, share: float, inside: bool) -> Probe:
    """Return the shortest probe that rounding allows."""
    return Probe(_LEAST * error, share, True, inside)


@kernel
def probe_at(a: Core, b: Core, error: float, depth: float, inside: bool) -> Probe:
    """Return the probe for the normal of a contact of two parts.

    The step is the depth, limited by the size of the smaller part, where a point has size 0. Details smaller than the
    depth are not features of the contact. The limits keep the step above the gaps that rounding leaves between adjacent
    parts, and below the size of features.
    """
    size_a, size_b = a.floats[_RHO] + a.floats[_RADIUS], b.floats[_RHO] + b.floats[_RADIUS]
    exact = a.ints[layout.POLYTOPE] != 0 and b.ints[layout.POLYTOPE] != 0
    size = float(min(size_a, size_b) if min(size_a, size_b) > 0.0 else max(size_a, size_b))
    return Probe(max(min(max(depth, SHORT * size), LONG * size), _LEAST * error), 1.0, exact, inside)


@kernel
def probe_of(x: PosedPair, p: int, q: int, depth: float, inside: bool, w: TreeScratch) -> Probe:
    """Return `probe_at` for two parts, given by their numbers among the leaves."""
    core_a, core_b = part_at(x.a, p, w.floats_a, w.row_a), part_at(x.b, q, w.floats_b, w.row_b)
    return probe_at(core_a, core_b, x.error, depth, inside)


@kernel
def is_parallel(n: Vec3, m: Vec3) -> bool:
    """Return whether two vectors are parallel or opposite. The zero vector is parallel to all."""
    c = cross(n, m)
    return dot(c, c) <= _PARALLEL * _PARALLEL * dot(n, n) * dot(m, m)


@kernel
def _is_bare(t: PartTree, k: int, n: Vec3) -> bool:
    """Return whether n is normal to an exposed face of part k, which is a face of a mesh or the top of a column."""
    if t.kind == PRISMS:
        return n[2] > 0.0 and is_parallel(n, normal_of(top_of(t, t.table[k, CELL])))
    return t.kind == TRIANGLES and t.floats[0] == 0.0 and is_parallel(n, normal_of(read(t.places, k)))


@kernel
def _is_close(near: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float, radius: float) -> bool:
    """Return whether a point is nearer to p + step n than the share of the step, with p rounded by a radius."""
    p, step = along(p, n, -radius), probe.step + radius
    # |near - p - step n| < share step, without the rounding of either length
    e = sub(near, p)
    square, ahead, slack = dot(e, e), dot(e, n), error if probe.exact else 0.0
    if square <= 16.0 * error * error or not ahead > error - 2.0 * slack:
        return False  # the point itself, or a point next to it
    return square < 2.0 * step * (ahead + slack) - (1.0 - probe.share * probe.share) * step * step


@kernel
def _is_triangle_near(
    t: Triangle, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float, radius: float
) -> bool:  # fmt: skip
    """Return `_is_close` for the point of a triangle nearest to q = p + step n."""
    # most triangles do not have a corner ahead of p
    ahead = max(dot(t[0], n), max(dot(t[1], n), dot(t[2], n))) - dot(along(p, n, -radius), n)
    if ahead < -4.0 * error:
        return False
    _, near = nearest_on(q, t)
    return _is_close(near, p, n, probe, error, radius)


@inlined
def _within(x: float, half: float) -> float:
    return min(max(x, -half), half)


@kernel
def _is_nearer(x: PosedPair, k: int, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether part k of A is too near to p + step n. B is a body of one point."""
    q = offset(x.m)
    if x.a.kind == TRIANGLES:
        return _is_triangle_near(read(x.a.places, k), q, p, n, probe, x.error, x.a.floats[0])
    core = part_at(x.a, k, w.floats_a, w.row_a)
    f, kind = core.floats, core.ints[layout.KIND]
    if kind == layout.BOX or kind == layout.POINT:
        middle = place(w.row_a, (f[layout.CENTER], f[layout.CENTER + 1], f[layout.CENTER + 2]))
        local, inner = turn_back(w.row_a, sub(q, middle)), (0.0, 0.0, 0.0)
        if kind == layout.BOX:
            inner = (_within(local[0], f[_HEAD]), _within(local[1], f[_HEAD + 1]), _within(local[2], f[_HEAD + 2]))
        e = sub(local, inner)
        if dot(e, e) <= f[_RADIUS] * f[_RADIUS]:
            return True
        return _is_close(add(turn(w.row_a, inner), middle), p, n, probe, x.error, f[_RADIUS])
    solve(parts_at(x, k, _ONLY, w), UNSIGNED, inf, 0.0, w.workspace, w.workspace.simplex[:0], w.out, w.flags, _ONLY)
    if not w.out[0, 0] > 0.0:
        return True
    return _is_close((w.out[0, 6], w.out[0, 7], w.out[0, 8]), p, n, probe, x.error, 0.0)


@inlined
def _is_left(a: Vec3, b: Vec3, p: Vec3) -> bool:
    """Return whether p is left of the line from a to b or on it, seen from above."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) >= 0.0


@kernel
def _is_ground_near(t: PartTree, k: int, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return whether p + step n is inside a column of the height field other than column k, or too near to its top."""
    q, own_cell = along(p, n, probe.step), t.table[k, CELL]
    if q[2] < t.floats[BOTTOM]:
        return bool(t.floats[ENDLESS] > -inf)
    nx, ny = t.places.shape[0] - 1, t.places.shape[1] - 1
    u, v = (q[0] - t.floats[LEFT]) / t.floats[PITCH_X], (q[1] - t.floats[FRONT]) / t.floats[PITCH_Y]
    du, dv = probe.step / t.floats[PITCH_X] + _ROUNDED, probe.step / t.floats[PITCH_Y] + _ROUNDED
    # only the cells within a step of q can be near
    for i in range(max(int(u - du), 0), min(int(u + du) + 1, nx)):
        for j in range(max(int(v - dv), 0), min(int(v + dv) + 1, ny)):
            for half in range(2):
                number = 2 * (i * ny + j) + half
                if number == own_cell:
                    continue
                a, b, c = top_of(t, number)
                under = dot(cross(sub(b, a), sub(c, a)), sub(q, a)) < 0.0
                if under and _is_left(a, b, q) and _is_left(b, c, q) and _is_left(c, a, q):
                    return True
                _, near = nearest_on(q, (a, b, c))
                if _is_close(near, p, n, probe, error, 0.0):
                    return True
    return False


@kernel
def _is_part_near(x: PosedPair, k: int, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether a part of A other than part k is too near to p + step n. B is a body of one point."""
    # the distance of a box bounds that of its parts up to rounding, and `_is_close` decides
    stack, q, far = w.stack, offset(x.m), x.a.rim + probe.step + x.error
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if from_box(q, x.a.boxes, i) > far * far:
            continue
        if x.a.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = x.a.links[i, 0], x.a.links[i, 0] + 1
            top += 2
            continue
        for j in range(x.a.links[i, 1], x.a.links[i, 1] + x.a.links[i, 2]):
            if j != k and _is_nearer(x, j, p, n, probe, w):
                return True
    return False


@inlined
def _is_neighbour_near(t: PartTree, k: int, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return whether a triangle across an edge of triangle k is too near to q = p + step n.

    These decide most normals at an edge that is flat or concave, without the tree. The tree has them in its table.
    """
    if t.kind == TRIANGLES and t.table.shape[0] > 1:
        for c in range(3):
            j = t.table[k, c]
            if j != k and _is_triangle_near(read(t.places, j), q, p, n, probe, error, t.floats[0]):
                return True
    return False


@kernel
def _is_cell_near(t: PartTree, k: int, q: Vec3, p: Vec3, n: Vec3, probe: Probe, error: float) -> bool:
    """Return the result of `_is_part_near` for a voxel grid from the cells around q = p + step n.

    A tree of a grid has the part of each cell in place of a skin, see `gjk3d.bodies.parts.Copies.in_cells`.
    """
    pitch, ny, nz, last = t.span[PITCH], int(t.span[CELLS_Y]), int(t.span[CELLS_Z]), k
    u, v, s = (q[0] - t.span[0]) / pitch, (q[1] - t.span[1]) / pitch, (q[2] - t.span[2]) / pitch
    reach = (probe.step + error) / pitch + _ROUNDED
    for i in range(max(int(u - reach), 0), min(int(u + reach) + 1, t.skin.shape[0] // (ny * nz))):
        for j in range(max(int(v - reach), 0), min(int(v + reach) + 1, ny)):
            for c in range(max(int(s - reach), 0), min(int(s + reach) + 1, nz)):
                part = t.skin[(i * ny + j) * nz + c]
                if part < 0 or part in (k, last):
                    continue
                last = part
                f = t.floats[t.table[part if t.table.shape[0] > 1 else 0, FIRST_FLOAT] + _HEAD :]
                middle = (t.places[part, 0], t.places[part, 1], t.places[part, 2])
                local = sub(q, middle)
                inner = (_within(local[0], f[0]), _within(local[1], f[1]), _within(local[2], f[2]))
                e = sub(local, inner)
                if dot(e, e) == 0.0 or _is_close(add(inner, middle), p, n, probe, error, 0.0):
                    return True
    return False


@inlined
def _is_single(t: PartTree) -> bool:
    """Return whether the body is a single part, or a cloud of balls."""
    lone = t.links[0, 0] < 0 and t.links[0, 2] == 1
    return lone or (t.kind == COPIES and t.ints[t.table[0, FIRST_INT] + layout.KIND] == layout.POINT)


@kernel
def is_sure(t: PartTree, k: int, n: Vec3, inside: bool) -> bool:
    """Return whether a normal of part k is certain without a probe, as for a single part, a face, or a ball of a cloud.

    ``inside`` allows for a normal that leads into a closed mesh.
    """
    return not (inside and t.inside != OPEN) and (_is_single(t) or _is_bare(t, k, n))


@kernel
def is_normal(t: PartTree, k: int, origin: PartTree, p: Vec3, n: Vec3, probe: Probe, w: TreeScratch) -> bool:
    """Return whether n, a proximal normal of part k at p, is a proximal normal of the body, all in the body's frame.

    ``origin`` is a body of one point at the origin.
    """
    bare, free_ahead = _is_bare(t, k, n), not probe.inside or t.inside == OPEN
    if free_ahead and (bare or _is_single(t)):
        return True
    q = along(p, n, probe.step)
    error = ROUNDING * (t.reach + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
    # the cells around the point replace the tree for a height field
    if not bare and t.kind == PRISMS and _is_ground_near(t, k, p, n, probe, error):
        return False
    if not bare and t.kind != PRISMS:
        to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2])
        if _is_neighbour_near(t, k, q, p, n, probe, error):
            return False
        if t.kind == COPIES and t.skin.shape[0] > 0:
            if _is_cell_near(t, k, q, p, n, probe, error):
                return False
        elif _is_part_near(PosedPair(t, origin, to, error), k, p, n, probe, w):
            return False
    if free_ahead:
        return True
    if not bare:
        return bool(holds(t, q, w) == APART)
    # a corner of the wall between two closed parts may be on the surface, so the probe starts next to it, on the wall
    start = along(p, sub(middle_of(read(t.places, k)), p), _INWARDS)
    # near its intersection with another part, a face inside the body is close to the outside
    ahead, near = along(start, n, probe.step), along(start, n, _LEAST * error)
    return bool(holds(t, ahead, w) == APART and holds(t, near, w) == APART)


@kernel
def is_contact(
    x: PosedPair, p: int, q: int, origin: PartTree, a: Vec3, b: Vec3, n: Vec3, probe: Probe, w: TreeScratch
) -> bool:  # fmt: skip
    """Return whether n at point a of part p, and -n at point b of part q, are normals of A and B as in `is_normal`."""
    if not is_normal(x.a, p, origin, a, n, probe, w):
        return False
    return is_normal(x.b, q, origin, turn_back(x.m, sub(b, offset(x.m))), turn_back(x.m, neg(n)), probe, w)
