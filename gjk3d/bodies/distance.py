"""What a body and anything else answer: whether they meet, how far apart they are, how deep they overlap."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies import walk
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.depth import depths
from gjk3d.bodies.gaps import LEAST, TIGHT_CURVED, TIGHT_POLYTOPE
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import APART, MeshPair, meet_many
from gjk3d.bodies.order import TIED, TURNED, Thing, in_order, order_of
from gjk3d.bodies.pair import BodyPair, Nearest
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.search import LEAST as LEAST_DEPTH
from gjk3d.bodies.search import MOST, NORMAL, PLACE
from gjk3d.bodies.shelf import Shelf
from gjk3d.bodies.touch import ANSWERED, BOUNDS, DEPTHS, NORMALS, distance_rows
from gjk3d.bodies.walk import bench, meet_each, meet_rows
from gjk3d.convex.rows import NO_POSE, Rows, Wanted, empty_answers, in_chunks, later, mirror, take
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, relative, relatives
from gjk3d.results import Status
from gjk3d.typing import Array, Bools, Ints

_CHUNK = 256  #: rows a call into the kernels: of large bodies each may take a millisecond


def pair_of(a: Body, b: Thing, m: Array) -> BodyPair:
    """Return two things of which the first is a body, m being the pose of b in a's frame."""
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return MeshPair.of(a, b, m)
    second = parts_of(b)
    return BodyPair(a._parts_near(second.reach, m[9:12]), second, m)


def _ordered(a: Any, b: Any, rows: Rows) -> tuple[int, Body, Any, Rows]:
    """Return the order of two, and the two as the kernels see them, as far as they are not TIED."""
    order = order_of(a, b)
    if order == TURNED:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    return order, a, b, rows


def _at(a: Body, b: Any, rows: Rows, k: int, order: int) -> tuple[BodyPair, Array, bool]:
    """Return the two at one row, the pose of what comes first of them, and whether they are turned round."""
    one, two = rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0]
    if order == TIED and not in_order(a, b, one, two):
        return pair_of(b, a, relative(two, one)), two, True
    return pair_of(a, b, relative(one, two)), one, order == TURNED


def walked(a: Body, b: Any) -> tuple[Parts, Parts] | None:
    """Return the parts of two that the traversals answer; two meshes have their own, and users' functions none."""
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return None
    first, second = a._as_parts(), parts_of(b)
    return None if first.any_mapped or second.any_mapped else (first, second)


def collide(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell at which rows two meet, one of them a body, or come within a margin."""
    order, a, b, rows = _ordered(a, b, rows)
    both = walked(a, b)
    if both is not None:
        told = np.empty(rows.total, dtype=np.int64)
        one, two = (parts.given for parts in both)

        def run(start: int, stop: int) -> None:
            meet_rows(one, two, NO_POSE, NO_POSE, rows.a, rows.b, order, max(margin, 0.0), start, stop, bench(), told)

        in_chunks(rows.total, rows.workers, run, _CHUNK)
        answer: Bools = (told == walk.MEET) | (told == walk.HELD)
        left = np.flatnonzero(told > walk.HELD)
        if margin > 0.0 and len(left):  # by the distance, so that a boolean says what its lower bound does
            few = Rows(take(rows.a, left), take(rows.b, left), len(left), True, rows.workers)
            out, flags = empty_answers(len(left))
            solve(a, b, few, Wanted(narrow.UNSIGNED, normals=False), out, flags)
            answer[left] = ~(out[:, 1] > margin)
        else:
            for k in left.tolist():
                answer[k] = _at(a, b, rows, k, order)[0].meet()
    elif isinstance(a, Mesh) and isinstance(b, Mesh):
        answer = _meshes_within(a, b, rows, margin) if margin > 0.0 else _meshes_meet(a, b, rows, order)
    else:
        answer = np.array([_at(a, b, rows, k, order)[0].meet(max(margin, 0.0)) for k in range(rows.total)], dtype=bool)
    if margin < 0.0:
        for deep in _depths(a, b, rows, order, np.flatnonzero(answer)):
            answer[deep.which] = -deep.found[:, MOST] <= margin
    return answer


def collide_beside(a: Body, shelf: Shelf, each: Ints, rows: Rows, margin: float) -> Bools:
    """Do as `collide` of a body and shapes of a shelf, one at each pose, and a margin of at least 0."""
    told, one = np.empty(rows.total, dtype=np.int64), a._as_parts().given

    def run(start: int, stop: int) -> None:
        meet_each(one, shelf.given, each, rows.a, rows.b, margin, start, stop, bench(), told)

    in_chunks(rows.total, rows.workers, run, _CHUNK)
    answer: Bools = (told == walk.MEET) | (told == walk.HELD)
    for k in np.flatnonzero(told > walk.HELD).tolist():
        few = Rows(rows.a[k : k + 1], rows.b[k : k + 1], 1, True)
        answer[k] = collide(a, shelf.things[each[k]], few, margin)[0]
    return answer


def _meshes_meet(a: Mesh, b: Mesh, rows: Rows, order: int) -> Bools:
    """Do as `collide` does for two meshes."""
    first, second, turned = later(rows)
    answer = np.empty(rows.total, dtype=bool)
    turned &= order == TIED
    for some, mine, theirs, p, q in ((~turned, a, b, first, second), (turned, b, a, second, first)):
        if some.any():
            answer[some] = meet_many(mine, theirs, p[some], q[some]) != APART
    return answer


def _meshes_within(a: Mesh, b: Mesh, rows: Rows, margin: float) -> Bools:
    """Do as `collide` does for two meshes and a margin above 0: a boolean says what the lower bound does."""
    away = sum(float(np.abs(each[:, 9:12]).max(initial=0.0)) for each in (rows.a, rows.b))
    size = tree_of(a).reach + tree_of(b).reach + away
    out, flags = empty_answers(rows.total)
    solve(a, b, rows, Wanted(narrow.UNSIGNED, margin + walk.CLOSE * size, normals=False), out, flags)
    near = np.flatnonzero((out[:, 2] > margin) & (flags[:, 0] != Status.BEYOND))
    if len(near):
        few = Rows(take(rows.a, near), take(rows.b, near), len(near), True, rows.workers)
        again, flags = empty_answers(len(near))
        solve(a, b, few, Wanted(narrow.UNSIGNED, normals=False), again, flags)
        out[near] = again
    answer: Bools = ~(out[:, 1] > margin)
    return answer


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of two of which one is a body."""
    check_no_log(wanted)
    order, a, b, rows = _ordered(a, b, rows)
    met, asked = _told(a, b, rows, order, wanted, out, flags)
    unsigned = wanted.mode == narrow.UNSIGNED
    if not unsigned:
        for deep in _depths(a, b, rows, order, np.flatnonzero(met)):
            _overlapping(deep, out, flags)
        asked &= ~met
    for k in np.flatnonzero(asked).tolist():
        x, row, turned = _at(a, b, rows, k, order)
        flags[k] = 0
        if met[k]:
            place, normal = x.common_point()
            out[k, :3], out[k, 3:6], out[k, 6:9], out[k, 9:12] = 0.0, normal, place, place
            flags[k, 0], flags[k, 2] = Status.OVERLAPPING, 1
        else:
            flags[k, 0], flags[k, 2] = _apart(x.nearest(wanted.max_distance), x.error, out[k])
        _into_world(row, out[k])
        mirror(out, np.array([k]) if turned else False)


def _told(a: Body, b: Any, rows: Rows, order: int, wanted: Wanted, out: Array, flags: Ints) -> tuple[Bools, Bools]:
    """Answer distances of what the traversals do; return at which rows two meet, and at which they are to be asked."""
    first, second = a._as_parts(), parts_of(b)
    if first.any_mapped or second.any_mapped:
        return collide(a, b, rows, 0.0), np.ones(rows.total, dtype=bool)
    told, parts = np.empty(rows.total, dtype=np.int64), np.empty((rows.total, 2), dtype=np.int64)
    faces = isinstance(a, Mesh) and isinstance(b, Mesh)
    level = DEPTHS if wanted.mode != narrow.UNSIGNED else NORMALS if wanted.normals else BOUNDS
    most, above = wanted.max_distance, float(np.nextafter(wanted.max_distance, inf))

    def run(start: int, stop: int) -> None:
        distance_rows(
            first.given, second.given, faces, level, NO_POSE, NO_POSE, rows.a, rows.b, most, above, order, start,
            stop, bench(), told, out, flags, parts,
        )  # fmt: skip

    in_chunks(rows.total, rows.workers, run, _CHUNK)
    met = (told == walk.MEET) | (told == walk.HELD)
    unclear = (told > walk.HELD) & (told != ANSWERED)
    asked = unclear | (flags[:, 3] != 0)
    for k in np.flatnonzero(unclear).tolist():
        met[k] = _at(a, b, rows, k, order)[0].meet()
    return met, asked


class Group(NamedTuple):
    """Two bodies at some rows, in the order in which the kernels see them there."""

    which: Ints
    a: Any
    b: Any
    ours: Parts
    theirs: Parts
    rows_a: Array
    rows_b: Array
    turned: bool  #: whether the two were turned round


def groups(a: Any, b: Any, rows: Rows, order: int, which: Ints) -> Iterator[Group]:
    """Yield two at those rows that have their parts, and their order, in common."""
    first, second = (each[which % len(each)] for each in (rows.a, rows.b))
    everywhere = np.arange(len(which))
    each = [(everywhere, False)]
    if order == TIED:
        later = np.array([p.tolist() > q.tolist() for p, q in zip(first, second, strict=True)], dtype=bool)
        each = [(np.flatnonzero(~later), False), (np.flatnonzero(later), True)]
    for some, turned in each:
        x, y, p, q = (b, a, second[some], first[some]) if turned else (a, b, first[some], second[some])
        theirs, turned = parts_of(y), turned or order == TURNED
        for ours, of in parts_near(x, np.full(len(some), theirs.reach), p, q):
            yield Group(which[some[of]], x, y, ours, theirs, p[of], q[of], turned)


def parts_near(x: Body, reaches: Array, rows_x: Array, rows_y: Array) -> Iterator[tuple[Parts, Ints]]:
    """Yield the parts that are asked about at some pose rows, and at which, beside what reaches so far there."""
    if not isinstance(x, HeightField):
        if len(rows_x):
            yield x._as_parts(), np.arange(len(rows_x))
        return
    near = [
        x._parts_near(float(reach), relative(p, q)[9:12]) for reach, p, q in zip(reaches, rows_x, rows_y, strict=True)
    ]
    for ours in dict.fromkeys(near):
        yield ours, np.flatnonzero([each is ours for each in near])


class _Deep(NamedTuple):
    """What `depths` found of a `Group`."""

    which: Ints
    found: Array  #: (n, 8)
    errors: Array
    rows: Array  #: of what came first of the two
    turned: bool  #: whether the two were turned round
    tight: tuple[float, float]  #: widths that are promised, in units of the size and of the error


def _depths(a: Body, b: Any, rows: Rows, order: int, which: Ints) -> Iterator[_Deep]:
    """Yield how deep two are at the rows at which they meet, as `depths` has it."""
    for x in groups(a, b, rows, order, which):
        tight = (MeshPair if isinstance(x.a, Mesh) and isinstance(x.b, Mesh) else BodyPair).tight_depth
        m = relatives(x.rows_a, x.rows_b)
        errors = ROUNDING * (x.ours.reach + x.theirs.reach + np.abs(m[:, 9:12]).max(axis=1))
        yield _Deep(x.which, depths(x.ours, x.theirs, m, rows.workers), errors, x.rows_a, x.turned, tight)


def _into_world(row: Array, out: Array) -> None:
    turn = row[:9].reshape(3, 3)
    for column, shift in ((3, 0.0), (6, row[9:12]), (9, row[9:12])):
        out[column : column + 3] = turn @ out[column : column + 3] + shift


def check_no_log(wanted: Wanted) -> None:
    """Raise where a trace is asked for."""
    if wanted.log is not None:
        raise UnsupportedPair("trace is of convex shapes: ask about the hull(), or about the parts of the mesh")


def _apart(gap: Nearest, error: float, out: Array) -> tuple[int, bool]:
    """Write one answer, of two that are proven apart, in the first's frame.

    Returns its status, and whether its interval is as narrow as promised.
    """
    distance, normal = min(max(float(gap.row[0]), gap.lower), gap.upper), gap.row[3:6]
    lower = max(gap.lower, LEAST)
    out[:3], out[3:6] = (max(distance, lower), lower, max(gap.upper, lower)), normal
    out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + out[0] * normal
    promised = TIGHT_CURVED if gap.curved else TIGHT_POLYTOPE
    narrowly = gap.upper - gap.lower <= promised * error / ROUNDING + 4.0 * error
    return int(Status.BEYOND if gap.beyond else Status.SEPARATED), narrowly


def _overlapping(deep: _Deep, out: Array, flags: Ints) -> None:
    """Write the signed distances of two that meet.

    Where the depth may be 0, rows of two that touch keep their normal.
    """
    least, most = deep.found[:, LEAST_DEPTH], deep.found[:, MOST]
    if most.max() == inf:
        raise UnsupportedPair("these overlap without end: no translation parts them")
    turn = deep.rows[:, None, :9].reshape(-1, 1, 3, 3)
    both = (turn * deep.found[:, NORMAL : PLACE + 3].reshape(-1, 2, 1, 3)).sum(axis=3)  # the normal and the place
    half = (0.5 * most)[:, None] * both[:, 0]
    both[:, 1] += deep.rows[:, 9:12]
    answer = np.empty((len(most), narrow.FLOATS))
    answer[:, 0] = answer[:, 1] = -most
    answer[:, 2], answer[:, 3:6] = 0.0 - least, both[:, 0]
    answer[:, 6:9], answer[:, 9:12] = both[:, 1] + half, both[:, 1] - half
    mirror(answer, deep.turned)
    relative_width, errors = deep.tight
    narrowly = most - least <= np.maximum(relative_width * deep.errors / ROUNDING, errors * deep.errors)
    status = flags[deep.which, 0]
    for k in np.flatnonzero((status == Status.TOUCHING) | ((status == Status.UNDECIDED) & narrowly)).tolist():
        if not least[k] > 0.0:
            answer[k, 0], answer[k, 2:9] = max(out[deep.which[k], 0], -most[k]), out[deep.which[k], 2:9]
            answer[k, 9:12] = answer[k, 6:9] + answer[k, 0] * answer[k, 3:6]
    out[deep.which] = answer
    # they meet, so there is a common point, to rounding; how deep they are besides is another question
    marks = np.zeros((len(most), narrow.INTS), dtype=np.int64)
    marks[:, 0], marks[:, 2] = np.where(narrowly & ~(least > 0.0), Status.TOUCHING, Status.OVERLAPPING), narrowly
    flags[deep.which] = marks
