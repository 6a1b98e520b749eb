"""Time of impact of two moving bodies: conservative advancement of pairs of boxes from both trees.

A box moves with its body. `gjk3d.narrow.toi` proves a time until which two boxes are apart, and the parts within them
are apart until then. If two boxes come closer than a fraction of their size, their children continue from that time,
with the earlier pair first. Parts are advanced until they touch. Pairs that are apart until the first known touch are
skipped.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.addresses import raise_pending
from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.bodies.base import PRISMS, TRIANGLES, Body, Parts, PartTree, column_gap, in_order, part_at
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.parts import complete, parts_of
from gjk3d.bodies.tree_collision import APART, PosedPair, TreeScratch, children, meet, tree_scratch, two_at
from gjk3d.bodies.triangles import Triangle, placed_triangle, read, vec_at
from gjk3d.convex.batch import Rows
from gjk3d.geometry.vec3 import Rigid, Vec3, add, box_pose, cross, dot, neg, offset, sub, turn, turn_back, unit
from gjk3d.geometry.vec3 import place as place_at
from gjk3d.narrow import toi
from gjk3d.narrow.toi import (
    CENTER,
    FREE,
    HIT,
    MOTION,
    REFERENCE,
    STARTED,
    TURN,
    UNRESOLVED,
    WAY,
    flight_of_parts,
    matrix_at,
    place,
    turning,
)
from gjk3d.narrow.toi import impact as advance
from gjk3d.poses import ROUNDING, pose_rows, relative
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import Box
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1

_NEAR = 0.5  #: distance of two boxes, relative to their sizes, below which their children replace them
_PIECE = 2.0  #: greatest sum of both turns in a piece of the motion, in radians
_STEPS = 2**20  #: first limit of steps in a piece. If it is reached, the piece is halved and the limit doubled.
_FEW = 0.25  #: the next piece is longer if a piece takes less than this share of the limit of steps
_MOST_STEPS = 2**24  #: limit of all steps, in addition to `_STEPS` for each piece that rotations need
_ASKED_BEFORE = 4  #: code in addition to those of `gjk3d.narrow.toi`: the start must be tested for an intersection
_BOX_FLOATS = layout.FLOAT_HEAD + 3
_PLACES = [*range(CENTER, TURN), *range(REFERENCE, MOTION)]  #: columns of the position of a body without its rotation


class BoxScratch(NamedTuple):
    """Two boxes in the format of `gjk3d.shapes.layout`, and scratch to advance them."""

    ints: Ints1
    floats: Array2
    work: Array1  #: `toi.PART_WORK` floats


class Course(NamedTuple):
    """Two moving bodies, and scratch."""

    a: PartTree
    b: PartTree
    motions: Array2
    clearance: float
    error: float  #: bound of the error of a position of one body relative to the other
    far: float  #: the clearance plus the rounding of two moving boxes
    steps: int  #: first limit of the steps in a piece of the motion
    most: int  #: limit of all steps, in addition to ``steps`` for each piece
    boxes: BoxScratch
    w: TreeScratch


class Progress(NamedTuple):
    """State of the search for the first touch."""

    code: int  #: FREE, HIT, UNRESOLVED or STARTED
    free: float  #: time until which the bodies are proven free
    hit: float  #: time of the first known touch, or infinite
    steps: int  #: number of steps so far


class RelativeMotion(NamedTuple):
    """The motion of a body relative to the other body, in A's frame at half time.

    A point x of the body has the relative velocity ``straight + cross(swing, x)``.
    """

    straight: Vec3
    swing: Vec3
    spin: Vec3  #: angular velocity of the body
    observer_spin: Vec3  #: angular velocity of the other body
    velocity: Vec3  #: velocity of the body's reference point relative to the other body's reference point
    center: Vec3  #: reference point of the body
    turned: float  #: length of ``spin``
    turned_by: float  #: length of ``observer_spin``


class Passing(NamedTuple):
    """The relative motion of two bodies between two times."""

    begin: float
    end: float
    m: Rigid  #: the pose of B in A's frame at half time
    a: RelativeMotion
    b: RelativeMotion


@kernel
def _box_of(c: Course, t: PartTree, i: int, f: Array, row: Array) -> Core:
    """Return the box of node i with its floats in ``f``, and write its pose row in the body's frame into ``row``."""
    square = 0.0
    for k in range(3):
        half = t.boxes[i, 3 + k]
        f[layout.FLOAT_HEAD + k] = half
        square += half * half
        for axis in range(3):
            row[3 * k + axis] = t.boxes[i, 6 + 3 * axis + k]
        row[9 + k] = t.boxes[i, k]
    row[12] = ROUNDING
    f[layout.RADIUS], f[layout.RHO] = t.rim, sqrt(square) * (1.0 + 1e-15)
    return Core(c.boxes.ints, f)


@kernel
def _pair_at(c: Course, t: float) -> PosedPair:
    place(c.motions[0], t, c.w.row_a)
    place(c.motions[1], t, c.w.row_b)
    return two_at(c.a, c.b, c.w.row_a, c.w.row_b)


@kernel
def _passing(c: Course, begin: float, end: float) -> Passing:
    m = _pair_at(c, begin + 0.5 * (end - begin)).m
    return passing(c.motions[0], c.motions[1], begin, end, c.w.row_a, m)


@kernel
def _boxes_free(c: Course, s: Passing, i: int, j: int) -> tuple[float, int]:
    """Return the time until which two boxes are proven apart during the interval of ``s``, and the number of steps.

    If nothing is proven, that time is the start of the interval.
    """
    gap, nearing = boxes_beyond(c.a, i, c.b, j, s)
    if gap > c.far:
        return s.end, 1
    floats, w = c.boxes.floats, c.w
    box_a, box_b = _box_of(c, c.a, i, floats[0], w.row_a), _box_of(c, c.b, j, floats[1], w.row_b)
    # all boxes over columns are equally deep, so only the horizontal sizes decide
    wide = c.a.boxes[i, 3] + c.a.boxes[i, 4] if c.a.kind == PRISMS else box_a.floats[layout.RHO]
    near = _NEAR * (wide + box_b.floats[layout.RHO] + c.a.rim + c.b.rim)
    if nearing < near and gap + nearing - c.far < near:
        return s.begin, 1
    x = flight_of_parts(
        box_a, w.row_a, box_b, w.row_b, c.motions, c.clearance + 4.0 * c.error, s.begin, s.end, c.boxes.work
    )  # fmt: skip
    code, free, _, steps = advance(x, near)
    return (s.begin if code == STARTED else free), steps


@kernel
def _parts_touch(c: Course, s: Passing, i: int, j: int, progress: Progress) -> Progress:
    """Return ``progress`` after advancing the parts of leaf i of A and leaf j of B over the interval of ``s``."""
    a, b, w = c.a, c.b, c.w
    code, first, hit, steps = progress
    columns, flat, begin = a.kind == PRISMS, a.kind == TRIANGLES and b.kind == TRIANGLES, s.begin
    far = c.far + boxes_beyond(a, i, b, j, s)[1] if columns else 0.0
    for q in range(b.links[j, 1], b.links[j, 1] + b.links[j, 2]):
        for p in range(a.links[i, 1], a.links[i, 1] + a.links[i, 2]):
            end = min(s.end, hit)
            # boxes of columns reach down to the bottom, so leaves overlap although their columns are far apart
            if columns and column_gap(s.m, a, p, b, j, w.box) > far:
                continue
            if flat and triangles_beyond(a, p, b, q, s) > c.far:
                continue
            part_a, part_b = part_at(a, p, w.floats_a, w.row_a), part_at(b, q, w.floats_b, w.row_b)
            outcome, free, touch, used = advance(
                flight_of_parts(part_a, w.row_a, part_b, w.row_b, c.motions, c.clearance, begin, end, c.boxes.work), 0.0
            )
            steps += used
            if outcome == FREE:
                continue
            first = min(first, free)
            if outcome == UNRESOLVED:
                code = UNRESOLVED if code == FREE else code
                continue
            # A pair that overlaps at time 0 overlaps at the start. At a later begin it counts as a touch at that time.
            if outcome == STARTED and begin == 0.0:
                return Progress(STARTED, 0.0, 0.0, steps)
            hit, code = touch, HIT
    return Progress(code, first, hit, steps)


@kernel
def _touch_between(c: Course, start: float, stop: float, progress: Progress, steps: int) -> tuple[Progress, float]:
    """Return ``progress`` after searching a piece of the motion, and the time until which the search is complete.

    The bodies are apart at the start of the piece. The search stops after ``steps`` more steps.
    """
    x, s, most = _pair_at(c, start), _passing(c, start, stop), progress.steps + steps
    stack, keys, top = c.w.stack, c.w.keys, 1
    stack[0, 0], stack[0, 1], keys[0] = 0, 0, start
    while top > 0 and progress.code != STARTED and progress.steps <= most:
        top -= 1
        i, j, t = stack[top, 0], stack[top, 1], keys[top]
        end = min(stop, progress.hit)
        # the known touch shortens the interval of all remaining pairs
        if t >= end:
            continue
        if t != s.begin or end != s.end:
            s = _passing(c, t, end)
        if c.a.links[i, 0] < 0 and c.b.links[j, 0] < 0:
            progress = _parts_touch(c, s, i, j, progress)
            continue
        i0, j0, i1, j1 = children(x, i, j)
        t0, steps_0 = _boxes_free(c, s, i0, j0)
        t1, steps_1 = _boxes_free(c, s, i1, j1)
        progress = Progress(progress.code, progress.free, progress.hit, progress.steps + steps_0 + steps_1)
        if t0 < t1:  # the pair that may touch earlier is first
            i0, j0, t0, i1, j1, t1 = i1, j1, t1, i0, j0, t0
        stack[top, 0], stack[top, 1], keys[top] = i0, j0, t0
        stack[top + 1, 0], stack[top + 1, 1], keys[top + 1] = i1, j1, t1
        top += 2
    reached = min(stop, progress.hit)
    for k in range(top):
        reached = min(reached, keys[k])
    return progress, reached


@kernel
def _first_touch(c: Course) -> Progress:
    """Return the first touch of two bodies that are apart at the start.

    Parts that rotate or slide along each other may be near each other many times. The motion is therefore searched
    piece by piece, and a piece that takes many steps is halved. A touch ends the search. If the limit of steps ends the
    search, the results of finished pieces remain valid.
    """
    pieces = max(1, ceil((turning(c.motions[0]) + turning(c.motions[1])) / _PIECE))
    progress, most = Progress(FREE, 1.0, inf, 1), c.most + pieces * c.steps
    start, length, steps = 0.0, 1.0 / pieces, c.steps
    while start < min(1.0, progress.hit) and progress.code != STARTED:
        stop = min(1.0, progress.hit, start + length)
        if progress.steps > most or not stop > start:
            code = UNRESOLVED if progress.code == FREE else progress.code
            return Progress(code, min(progress.free, start), progress.hit, progress.steps)
        before = progress.steps
        progress, start = _touch_between(c, start, stop, progress, steps)
        # the piece took too many steps, so it is halved and more steps are allowed until pieces get longer again
        if start < min(stop, progress.hit):
            length *= 0.5
            steps *= 2
        elif progress.steps - before < _FEW * steps:
            length = min(2.0 * length, 1.0 / pieces)
    return progress


@entry
def first_touch(
    a: PartTree, b: PartTree, motions: Array2, clearance: float, error: float, tested: bool, steps: int, most: int,
    boxes: BoxScratch, w: TreeScratch,
) -> tuple[int, float, float, int]:  # fmt: skip
    """Return a code of `gjk3d.narrow.toi`, the time until which two bodies are free, the time of touch, and the steps.

    The code is `_ASKED_BEFORE` if the bodies may intersect at the start. ``tested`` is whether the caller has tested
    the start. ``motions`` has the motion row of each body. ``steps`` is the first limit of the steps in a piece of the
    motion, and ``most`` limits the steps of all pieces beyond this number for each piece.
    """
    # the pose of either body has an error, and its rotation has the same error per radian
    far = clearance + 4.0 * error * (1.0 + turning(motions[0]) + turning(motions[1]))
    c = Course(a, b, motions, clearance, error, far, steps, most, boxes, w)
    if not tested:
        c.w.last[0] = -1
        if meet(_pair_at(c, 0.0), clearance, c.w) != APART:
            return _ASKED_BEFORE, 0.0, 0.0, 1
    progress = _first_touch(c)
    return progress.code, progress.free, progress.hit, progress.steps


_BOX = Box((1.0, 1.0, 1.0))._packed[0].copy()


def _near_path(a: Body, b: Parts, motions: Array) -> Parts:
    """Return the parts of a, an unbounded height field, with columns that are deep enough for the whole motion."""
    corners = np.abs(b.box.reshape(2, 3) - motions[1, REFERENCE:]).max(axis=0)
    reach = float(np.linalg.norm(corners))
    rotation = motions[0, :9].reshape(3, 3)
    offset_ab = motions[1, CENTER:WAY] - motions[0, CENTER:WAY]
    ends = np.stack([offset_ab, offset_ab + motions[1, WAY:TURN] - motions[0, WAY:TURN]])
    if motions[0, TURN:REFERENCE].any():
        far = float(np.linalg.norm(ends, axis=1).max())
        ends = np.stack([np.full(3, -far), np.full(3, far)])
    else:
        ends = ends @ rotation
    ends += motions[0, REFERENCE:]
    return a._parts_near(reach + 0.5 * float(np.ptp(ends, axis=0).max()), ends.mean(axis=0), pushed=False)


def impact(a: Any, b: Any, motions: Array, clearance: float) -> tuple[int, float, float, int]:
    """Return the result of `gjk3d.narrow.toi.impact` for a body and another object that is not a half-space.

    The result is a code, the time until which the pair is free, the time of touch, and the number of steps. ``motions``
    has the motion row of each object.
    """
    if not in_order(a, b, *motions):
        a, b, motions = b, a, motions[::-1]
    motions = np.ascontiguousarray(motions)
    second = parts_of(b)
    first = a._parts_near(second.reach, np.zeros(3))
    if first.endless:
        first = _near_path(a, second, motions)
    error = ROUNDING * (first.reach + second.reach + float(np.abs(motions[:, _PLACES]).sum()))
    tested = first.any_mapped or second.any_mapped
    boxes, matrices = BoxScratch(_BOX, np.zeros((2, _BOX_FLOATS)), np.empty(toi.PART_WORK)), np.empty((2, 4, 4))
    # The kernel stops if the bodies may intersect at the start. The exact test in Python decides, and then the kernel
    # runs again.
    while True:
        if tested:
            for k in range(2):
                matrix_at(motions[k : k + 1], 0.0, matrices[k])
            if pair_of(a, b, relative(*pose_rows(matrices)[0])).meet(clearance):
                return STARTED, 0.0, 0.0, 1
        result = first_touch(
            complete(first), complete(second), motions, clearance, error, tested, _STEPS, _MOST_STEPS, boxes,
            tree_scratch(),
        )  # fmt: skip
        if result[0] != _ASKED_BEFORE:
            return result
        tested = True


def impacts(a: Any, b: Any, rows: Rows, clearance: float, out: Array, flags: Ints) -> None:
    """Write the impact at each pair of motion rows in the format of `gjk3d.narrow.toi.impact_many`.

    A single motion applies to all rows.
    """
    for k in range(len(out)):
        motions = np.stack([rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]])
        code, free, hit, steps = impact(a, b, motions, clearance)
        out[k] = free, inf if code == FREE else free, inf if code in (FREE, UNRESOLVED) else hit
        flags[k] = code, steps
    raise_pending()


@inlined
def _length(v: Vec3) -> float:
    return sqrt(dot(v, v))


@kernel
def passing(ma: Array, mb: Array, begin: float, end: float, pose: Array, m: Rigid) -> Passing:
    """Return the relative motion of two bodies with the motion rows ma and mb.

    At half time A is at the pose row ``pose``, and B is at m in A's frame.
    """
    wa, wb = turn_back(pose, vec_at(ma, TURN)), turn_back(pose, vec_at(mb, TURN))
    v, a, b = turn_back(pose, sub(vec_at(mb, WAY), vec_at(ma, WAY))), vec_at(ma, REFERENCE), vec_at(mb, REFERENCE)
    center, swing = place_at(m, b), sub(wb, wa)
    straight = add(sub(v, cross(wb, center)), cross(wa, a))
    rate_a, rate_b = _length(wa), _length(wb)
    of_a = RelativeMotion(neg(straight), neg(swing), wa, wb, neg(v), a, rate_a, rate_b)
    return Passing(begin, end, m, of_a, RelativeMotion(straight, swing, wb, wa, v, center, rate_b, rate_a))


@inlined
def _going(s: RelativeMotion, x: Vec3) -> Vec3:
    """Return the relative velocity of the point x."""
    return add(s.straight, cross(s.swing, x))


@inlined
def _bending(s: RelativeMotion, x: Vec3, u: Vec3) -> Vec3:
    """Return the relative acceleration of the point x, whose relative velocity is u."""
    return sub(cross(s.swing, cross(s.spin, sub(x, s.center))), cross(s.observer_spin, add(s.velocity, u)))


@kernel
def _remainder(s: RelativeMotion, speed: float, arm: float, half: float) -> tuple[float, float]:
    """Return a bound of the relative acceleration of some points, and a bound of its rate of change.

    The points are within ``arm`` of the reference point, and their speed at half time is at most ``speed``.
    """
    swung, observer_rate = _length(s.swing) * s.turned * arm, s.turned_by
    gain = swung + observer_rate * _length(s.velocity)
    fastest = speed + half * gain
    return gain + observer_rate * fastest, swung * s.turned + observer_rate * (2.0 * gain + observer_rate * fastest)


@inlined
def _gap_beyond_face(t: float, half_width: float, x: Vec3, dx: Vec3, half_widths: Vec3, u: float, half: float) -> float:
    """Return a lower bound of the gap, to first order in time, between a moving box and a face of a fixed box.

    All coordinates are along the normal of the face, from the centre of the fixed box: ``half_width`` that of the face,
    ``t`` that of the moving box's centre, and ``x`` those of the unit vectors of the moving box's three axes.
    ``u`` and ``dx`` are the rates of ``t`` and ``x``. ``half`` is half the length of the time interval.
    """
    reach_x = half_widths[0] * (abs(x[0]) + half * abs(dx[0]))
    reach_y = half_widths[1] * (abs(x[1]) + half * abs(dx[1]))
    reach_z = half_widths[2] * (abs(x[2]) + half * abs(dx[2]))
    return abs(t) - half_width - reach_x - reach_y - reach_z - half * abs(u)


@kernel
def boxes_beyond(a: PartTree, i: int, b: PartTree, j: int, s: Passing) -> tuple[float, float]:
    """Return a lower bound of the gap of two boxes in the interval, and a bound of box j's travel in half of it."""
    p, q, half = a.boxes[i], b.boxes[j], 0.5 * (s.end - s.begin)
    axes = (p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], 0.0, 0.0, 0.0)
    at_a, at_b, of_a, of_b = vec_at(p, 0), place_at(s.m, vec_at(q, 0)), vec_at(p, 3), vec_at(q, 3)
    velocity_a, velocity_b = turn(axes, _going(s.a, at_a)), turn(axes, _going(s.b, at_b))
    m, w = box_pose(s.m, a.boxes, i, b.boxes, j), turn(axes, s.b.swing)
    x, y, z, t = (m[0], m[3], m[6]), (m[1], m[4], m[7]), (m[2], m[5], m[8]), offset(m)
    dx, dy, dz = cross(w, x), cross(w, y), cross(w, z)
    beyond_a = max(
        _gap_beyond_face(t[0], of_a[0], (m[0], m[1], m[2]), (dx[0], dy[0], dz[0]), of_b, velocity_b[0], half),
        _gap_beyond_face(t[1], of_a[1], (m[3], m[4], m[5]), (dx[1], dy[1], dz[1]), of_b, velocity_b[1], half),
        _gap_beyond_face(t[2], of_a[2], (m[6], m[7], m[8]), (dx[2], dy[2], dz[2]), of_b, velocity_b[2], half),
    )
    beyond_b = max(
        _gap_beyond_face(dot(t, x), of_b[0], x, dx, of_a, dot(velocity_a, x), half),
        _gap_beyond_face(dot(t, y), of_b[1], y, dy, of_a, dot(velocity_a, y), half),
        _gap_beyond_face(dot(t, z), of_b[2], z, dz, of_a, dot(velocity_a, z), half),
    )
    rho_a, rho_b, swing = of_a[0] + of_a[1] + of_a[2], of_b[0] + of_b[1] + of_b[2], _length(w)
    speed_a, speed_b = _length(velocity_a) + swing * rho_a, _length(velocity_b) + swing * rho_b
    bend_a, _ = _remainder(s.a, speed_a, _length(sub(at_a, s.a.center)) + rho_a, half)
    bend_b, _ = _remainder(s.b, speed_b, _length(sub(at_b, s.b.center)) + rho_b, half)
    # A second-order Taylor bound. The first-order term is in `_gap_beyond_face`, and bend / 2 t^2 bounds the remainder.
    square = 0.5 * half * half
    gap = max(beyond_a - square * bend_b, beyond_b - square * bend_a) - a.rim - b.rim
    return gap, half * (speed_b + swing * b.rim) + square * bend_b


@inlined
def _ahead(n: Vec3, s: RelativeMotion, x: Vec3, half: float) -> tuple[float, float]:
    """Return bounds of the travel of the point x along n and along -n in the time ``half``, to second order in time."""
    u = _going(s, x)
    along, bend = half * abs(dot(n, u)), 0.5 * half * half * dot(n, _bending(s, x, u))
    return along + max(0.0, bend), along - min(0.0, bend)


@kernel
def _beyond_plane(triangle: Triangle, moving: Triangle, s: RelativeMotion, half: float) -> float:
    """Return a lower bound of the gap between a triangle's plane and ``moving`` in an interval of 2 * ``half``."""
    n, o = unit(cross(sub(triangle[1], triangle[0]), sub(triangle[2], triangle[0]))), triangle[0]
    e, f = dot(n, sub(triangle[1], o)), dot(n, sub(triangle[2], o))
    above, below, speed, arm = inf, -inf, 0.0, 0.0
    for x in moving:
        t = dot(n, sub(x, o))
        up, down = _ahead(n, s, x, half)
        above, below = min(above, t - down), max(below, t + up)
        speed, arm = max(speed, _length(_going(s, x))), max(arm, _length(sub(x, s.center)))
    _, change = _remainder(s, speed, arm, half)
    return max(above - max(0.0, e, f), min(0.0, e, f) - below) - half * half * half / 6.0 * change


@kernel
def triangles_beyond(a: PartTree, i: int, b: PartTree, j: int, s: Passing) -> float:
    """Return a lower bound of the gap between triangle i of A and triangle j of B in the interval of ``s``."""
    half, p, q = 0.5 * (s.end - s.begin), read(a.places, i), placed_triangle(s.m, b.places, j)
    return max(_beyond_plane(p, q, s.b, half), _beyond_plane(q, p, s.a, half)) - a.rim - b.rim
