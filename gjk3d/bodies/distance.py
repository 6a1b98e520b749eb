"""What a body and anything else answer: whether they meet, how far apart they are, how deep they overlap."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies import walk
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.depth import depth
from gjk3d.bodies.gaps import LEAST, TIGHT_CURVED, TIGHT_POLYTOPE, distance_rows
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import APART, MeshPair, meet_many
from gjk3d.bodies.order import TIED, TURNED, Thing, in_order, order_of
from gjk3d.bodies.pair import BodyPair, Nearest
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.walk import bench, meet_rows
from gjk3d.convex.rows import NO_POSE, Rows, Wanted, empty_answers, in_chunks, later, mirror, take
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, relative
from gjk3d.results import Status
from gjk3d.typing import Array, Bools, Ints

_CHUNK = 256  #: rows a call into the kernels: of large bodies each may take a millisecond
_EX = np.array([1.0, 0.0, 0.0])


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
    check_an_end(b)
    return order, a, b, rows


def check_an_end(b: Thing) -> None:
    """Raise where the second of two in order has no end: then neither has."""
    if isinstance(b, HeightField) and b.bottom == -inf:
        raise UnsupportedPair(
            "two HeightFields: both go down without end; give one of them a bottom, HeightField(..., bottom=z), or make"
            " it a gjk3d.Mesh"
        )


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
            solve(a, b, few, Wanted(narrow.UNSIGNED), out, flags)
            answer[left] = ~(out[:, 1] > margin)
        else:
            for k in left.tolist():
                answer[k] = _at(a, b, rows, k, order)[0].meet()
    elif margin == 0.0 and isinstance(a, Mesh) and isinstance(b, Mesh):
        answer = _meshes_meet(a, b, rows, order)
    else:
        answer = np.array([_at(a, b, rows, k, order)[0].meet(max(margin, 0.0)) for k in range(rows.total)], dtype=bool)
    if margin < 0.0:
        for k in np.flatnonzero(answer).tolist():
            answer[k] = -depth(_at(a, b, rows, k, order)[0]).most <= margin
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


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of two of which one is a body."""
    check_no_log(wanted)
    order, a, b, rows = _ordered(a, b, rows)
    both = walked(a, b)
    if both is None:
        left = list(range(rows.total))
    else:
        told, parts = np.empty(rows.total, dtype=np.int64), np.empty((rows.total, 2), dtype=np.int64)
        one, two = (each.given for each in both)
        most, above = wanted.max_distance, float(np.nextafter(wanted.max_distance, inf))

        def run(start: int, stop: int) -> None:
            distance_rows(
                one, two, NO_POSE, NO_POSE, rows.a, rows.b, most, above, order, start, stop, bench(), told, out,
                flags, parts,
            )  # fmt: skip

        in_chunks(rows.total, rows.workers, run, _CHUNK)
        met = (told == walk.MEET) | (told == walk.HELD)
        asks_on = (told > walk.HELD) | (flags[:, 3] != 0) | (met & (wanted.mode != narrow.UNSIGNED))
        left = np.flatnonzero(asks_on).tolist()
    for k in left:
        x, row, turned = _at(a, b, rows, k, order)
        _solve_one(x, wanted, out[k], flags[k])
        _into_world(row, out[k])
        mirror(out, np.array([k]) if turned else False)


def _solve_one(x: BodyPair, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer at one pose, in the first's frame."""
    flags[:] = 0
    if x.meet():
        flags[0], flags[2] = _overlapping(x, wanted.mode, out)
    else:
        flags[0], flags[2] = _apart(x.nearest(wanted.max_distance), x.error, out)


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
    between = gap.row[9:12] - gap.row[6:9]
    length = float(np.linalg.norm(between))
    distance = min(max(float(gap.row[0]), gap.lower), gap.upper)
    normal = between / length if length > 0.0 else gap.row[3:6]
    lower = max(gap.lower, LEAST)
    out[:3], out[3:6] = (max(distance, lower), lower, max(gap.upper, lower)), normal
    out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + out[0] * normal
    promised = TIGHT_CURVED if gap.curved else TIGHT_POLYTOPE
    narrowly = gap.upper - gap.lower <= promised * error / ROUNDING + 4.0 * error
    return int(Status.BEYOND if gap.beyond else Status.SEPARATED), narrowly


def _overlapping(x: BodyPair, mode: int, out: Array) -> tuple[int, bool]:
    """Do as `_apart` where the two meet."""
    if mode == narrow.UNSIGNED:
        place = x.common_point()
        out[:3], out[3:6], out[6:9], out[9:12] = 0.0, _EX, place, place
        return int(Status.OVERLAPPING), True
    deep = depth(x)
    if deep.most == inf:
        raise UnsupportedPair("these overlap without end: no translation parts them")
    out[:3], out[3:6] = (-deep.most, -deep.most, 0.0 - deep.least), deep.normal
    out[6:9], out[9:12] = deep.place + 0.5 * deep.most * deep.normal, deep.place - 0.5 * deep.most * deep.normal
    relative_width, errors = x.tight_depth
    narrowly = deep.most - deep.least <= max(relative_width * x.error / ROUNDING, errors * x.error)
    # they meet, so there is a common point, to rounding; how deep they are besides is another question
    return int(Status.TOUCHING if narrowly and not deep.least > 0.0 else Status.OVERLAPPING), narrowly
