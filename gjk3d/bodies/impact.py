"""When two moving bodies first touch: both trees walked at once, each pair of boxes advanced as convex shapes are.

A box moves with its body, so `gjk3d.narrow.toi` proves of two boxes up to which time they are apart, and what is in
them is apart until then. Where they come near each other, as boxes of their size go, their children go on from that
time, the sooner first; parts are advanced until they touch. What is apart until the first touch known is left.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.order import Thing, in_order
from gjk3d.bodies.part_tree import PRISMS, TRIANGLES, PartTree, column_gap, part_at
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.passing import Passing, boxes_beyond, passing, triangles_beyond
from gjk3d.bodies.walk import APART, Bench, Two, bench, meet, splits_first, two_at
from gjk3d.narrow import toi
from gjk3d.narrow.motion import CENTER, MOTION, REFERENCE, TURN, WAY, matrix_at, place
from gjk3d.narrow.toi import FREE, HIT, STARTED, UNRESOLVED, flight_of_parts, turning
from gjk3d.narrow.toi import impact as advance
from gjk3d.poses import ROUNDING, pose_rows, relative
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import Box
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1

_NEAR = 0.5  #: of the sizes of two boxes: nearer to each other they are opened
_PIECE = 2.0  #: radians of both turns: so long is a piece of the way, at most
_STEPS = 2**20  #: at a piece of the way, at first: where they are too few it is halved, and they are doubled
_FEW = 0.25  #: of these steps: after no more the next piece is longer
_MOST_STEPS = 2**24  #: in all, beside `_STEPS` for each piece that turns ask for: then the way is given up
_ASKED_BEFORE = 4  #: beside the codes of `gjk3d.narrow.toi`: whether they meet to begin with is to be asked
_BOX_FLOATS = layout.FLOAT_HEAD + 3
_PLACES = [*range(CENTER, TURN), *range(REFERENCE, MOTION)]  #: what says where a body is, but for its turn


class Course(NamedTuple):
    """Two bodies on their ways, and scratch."""

    a: PartTree
    b: PartTree
    motions: Array2
    clearance: float
    error: float  #: of a place of one next to one of the other
    far: float  #: more than the clearance by what rounding may make of two boxes on their ways
    steps: int  #: `_STEPS`
    most: int  #: `_MOST_STEPS`
    box: Ints1  #: a box as the kernels take it, but for its floats
    floats: Array2  #: those of two boxes
    work: Array1  #: of `toi.PART_WORK` floats
    w: Bench


class Found(NamedTuple):
    """What is known: a code, up to which time it is free, the first touch, and the steps taken."""

    code: int
    free: float
    hit: float
    steps: int


@kernel
def _box_of(c: Course, t: PartTree, i: int, f: Array, row: Array) -> Core:
    """Return the box of a node, and write its pose row in the body."""
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
    return Core(c.box, f)


@kernel
def _two(c: Course, t: float) -> Two:
    """Return both where they are at a time."""
    place(c.motions[0], t, c.w.row_a)
    place(c.motions[1], t, c.w.row_b)
    return two_at(c.a, c.b, c.w.row_a, c.w.row_b)


@kernel
def _passing(c: Course, begin: float, end: float) -> Passing:
    """Return how both go by each other between two times."""
    m = _two(c, begin + 0.5 * (end - begin)).m
    return passing(c.motions[0], c.motions[1], begin, end, c.w.row_a, m)


@kernel
def _boxes_free(c: Course, s: Passing, i: int, j: int) -> tuple[float, int]:
    """Return up to which time two boxes are proven to be apart, from the first they pass at on; and the steps."""
    beyond, nearing = boxes_beyond(c.a, i, c.b, j, s)
    if beyond > c.far:
        return s.end, 1
    one, two = _box_of(c, c.a, i, c.floats[0], c.w.row_a), _box_of(c, c.b, j, c.floats[1], c.w.row_b)
    # all boxes over columns are as deep: what opening them gains is across
    wide = c.a.boxes[i, 3] + c.a.boxes[i, 4] if c.a.kind == PRISMS else one.floats[layout.RHO]
    near = _NEAR * (wide + two.floats[layout.RHO] + c.a.rim + c.b.rim)
    if nearing < near and beyond + nearing - c.far < near:
        return s.begin, 1
    x = flight_of_parts(
        one, c.w.row_a, two, c.w.row_b, c.motions, c.clearance + 4.0 * c.error, s.begin, s.end, c.work
    )  # fmt: skip
    code, free, _, steps = advance(x, near)
    return (s.begin if code == STARTED else free), steps


@kernel
def _parts_touch(c: Course, s: Passing, i: int, j: int, known: Found) -> Found:
    """Advance the parts of two leaves from the first time they pass at on, and return what is known then."""
    a, b, w = c.a, c.b, c.w
    code, first, hit, steps = known
    columns, flat, begin = a.kind == PRISMS, a.kind == TRIANGLES and b.kind == TRIANGLES, s.begin
    far = c.far + boxes_beyond(a, i, b, j, s)[1] if columns else 0.0
    for q in range(b.links[j, 1], b.links[j, 1] + b.links[j, 2]):
        for p in range(a.links[i, 1], a.links[i, 1] + a.links[i, 2]):
            end = min(s.end, hit)
            if columns and column_gap(s.m, a, p, b, j, w.box) > far:
                continue
            if flat and triangles_beyond(a, p, b, q, s) > c.far:
                continue
            one, two = part_at(a, p, w.floats_a, w.row_a), part_at(b, q, w.floats_b, w.row_b)
            told, free, touch, taken = advance(
                flight_of_parts(one, w.row_a, two, w.row_b, c.motions, c.clearance, begin, end, c.work), 0.0
            )
            steps += taken
            if told == FREE:
                continue
            first = min(first, free)
            if told == UNRESOLVED:
                code = UNRESOLVED if code == FREE else code
                continue
            if told == STARTED and begin == 0.0:
                return Found(STARTED, 0.0, 0.0, steps)
            hit, code = touch, HIT
    return Found(code, first, hit, steps)


@kernel
def _touch_between(c: Course, start: float, stop: float, known: Found, steps: int) -> tuple[Found, float]:
    """Return what is known after a piece of the way, of two bodies that are apart where it starts.

    Beside it the time up to which all is known: what is left after so many steps is left out.
    """
    x, s, most = _two(c, start), _passing(c, start, stop), known.steps + steps
    stack, keys, top = c.w.stack, c.w.keys, 1
    stack[0, 0], stack[0, 1], keys[0] = 0, 0, start
    while top > 0 and known.code != STARTED and known.steps <= most:
        top -= 1
        i, j, t = stack[top, 0], stack[top, 1], keys[top]
        end = min(stop, known.hit)
        if t >= end:
            continue
        if t != s.begin or end != s.end:
            s = _passing(c, t, end)
        if c.a.links[i, 0] < 0 and c.b.links[j, 0] < 0:
            known = _parts_touch(c, s, i, j, known)
            continue
        if splits_first(x, i, j):
            i0, j0, i1, j1 = c.a.links[i, 0], j, c.a.links[i, 0] + 1, j
        else:
            i0, j0, i1, j1 = i, c.b.links[j, 0], i, c.b.links[j, 0] + 1
        t0, one = _boxes_free(c, s, i0, j0)
        t1, two = _boxes_free(c, s, i1, j1)
        known = Found(known.code, known.free, known.hit, known.steps + one + two)
        if t0 < t1:  # what may touch sooner is looked at first
            i0, j0, t0, i1, j1, t1 = i1, j1, t1, i0, j0, t0
        stack[top, 0], stack[top, 1], keys[top] = i0, j0, t0
        stack[top + 1, 0], stack[top + 1, 1], keys[top + 1] = i1, j1, t1
        top += 2
    reached = min(stop, known.hit)
    for k in range(top):
        reached = min(reached, keys[k])
    return known, reached


@kernel
def _first_touch(c: Course) -> Found:
    """Return what happens to two bodies that are apart to begin with.

    Parts that turn, or glide along each other, are near each other again and again, so a piece of the way is proven
    before the next is looked at, a shorter one where that takes many steps: what touches first ends it, and so much is
    known where it is given up.
    """
    pieces = max(1, ceil((turning(c.motions[0]) + turning(c.motions[1])) / _PIECE))
    known, most = Found(FREE, 1.0, inf, 1), c.most + pieces * c.steps
    start, length, steps = 0.0, 1.0 / pieces, c.steps
    while start < min(1.0, known.hit) and known.code != STARTED:
        stop = min(1.0, known.hit, start + length)
        if known.steps > most or not stop > start:
            code = UNRESOLVED if known.code == FREE else known.code
            return Found(code, min(known.free, start), known.hit, known.steps)
        before = known.steps
        known, start = _touch_between(c, start, stop, known, steps)
        if start < min(stop, known.hit):
            length *= 0.5
            steps *= 2
        elif known.steps - before < _FEW * steps:
            length = min(2.0 * length, 1.0 / pieces)
    return known


@entry
def first_touch(
    a: PartTree, b: PartTree, motions: Array2, clearance: float, error: float, asked: bool, steps: int, most: int,
    box: Ints1, w: Bench, floats: Array2, work: Array1,
) -> tuple[int, float, float, int]:  # fmt: skip
    """Return a code of `gjk3d.narrow.toi`, up to which time two bodies are free, when they touch, and the steps taken.

    Unless it was ``asked`` before, the code is another where they may meet to begin with. ``motions`` are the rows of
    both, ``steps`` and ``most`` are `_STEPS` and `_MOST_STEPS`, ``box`` the ints of a box; ``floats`` and ``work`` are
    scratch.
    """
    # either body is placed with an error, and its turn is off by as much at each radian
    far = clearance + 4.0 * error * (1.0 + turning(motions[0]) + turning(motions[1]))
    c = Course(a, b, motions, clearance, error, far, steps, most, box, floats, work, w)
    if not asked:
        c.w.last[0] = -1
        if meet(_two(c, 0.0), clearance, c.w) != APART:
            return _ASKED_BEFORE, 0.0, 0.0, 1
    known = _first_touch(c)
    return known.code, known.free, known.hit, known.steps


_BOX = Box((1.0, 1.0, 1.0))._packed[0].copy()


def _near_way(a: Body, b: Parts, motions: Array) -> Parts:
    """Return the parts of a for all of a way; what has no end is as deep as the whole way asks for."""
    corners = np.abs(b.box.reshape(2, 3) - motions[1, REFERENCE:]).max(axis=0)
    reach = float(np.linalg.norm(corners))
    turn = motions[0, :9].reshape(3, 3)
    apart = motions[1, CENTER:WAY] - motions[0, CENTER:WAY]
    ends = np.stack([apart, apart + motions[1, WAY:TURN] - motions[0, WAY:TURN]])
    if motions[0, TURN:REFERENCE].any():
        far = float(np.linalg.norm(ends, axis=1).max())
        ends = np.stack([np.full(3, -far), np.full(3, far)])
    else:
        ends = ends @ turn
    ends += motions[0, REFERENCE:]
    return a._parts_near(reach + 0.5 * float(np.ptp(ends, axis=0).max()), ends.mean(axis=0), pushed=False)


def _meet_at_first(a: Body, b: Thing, motions: Array, clearance: float) -> bool:
    """Tell whether two meet to begin with."""
    found = np.empty((2, 4, 4))
    for k in range(2):
        matrix_at(motions[k : k + 1], 0.0, found[k])
    return pair_of(a, b, relative(*pose_rows(found)[0])).meet(clearance)


def impact(a: Thing, b: Thing, motions: Array, clearance: float) -> tuple[int, float, float, int]:
    """Return what happens to two of which one is a body, and neither a half-space, as `gjk3d.narrow.toi.impact` does.

    ``motions`` are the rows of both.
    """
    if not in_order(a, b, *motions):
        a, b, motions = b, a, motions[::-1]
    assert isinstance(a, Body)
    motions = np.ascontiguousarray(motions)
    second = parts_of(b)
    first = a._parts_near(second.reach, np.zeros(3))
    if first.endless:
        first = _near_way(a, second, motions)
    error = ROUNDING * (first.reach + second.reach + float(np.abs(motions[:, _PLACES]).sum()))
    asked = first.any_mapped or second.any_mapped
    scratch = np.zeros((2, _BOX_FLOATS)), np.empty(toi.PART_WORK)
    while True:
        if asked and _meet_at_first(a, b, motions, clearance):
            return STARTED, 0.0, 0.0, 1
        found = first_touch(
            first.given, second.given, motions, clearance, error, asked, _STEPS, _MOST_STEPS, _BOX, bench(), *scratch
        )  # fmt: skip
        if found[0] != _ASKED_BEFORE:
            return found
        asked = True


def fill(a: Any, b: Any, first: Array, second: Array, clearance: float, out: Array, flags: Ints) -> None:
    """Answer motions, of each body one or as many as there are rows, as `gjk3d.narrow.toi.impact_many` does."""
    for k in range(len(out)):
        motions = np.stack([first[k % len(first)], second[k % len(second)]])
        code, free, hit, steps = impact(a, b, motions, clearance)
        out[k] = free, inf if code == FREE else free, inf if code in (FREE, UNRESOLVED) else hit
        flags[k] = code, steps
