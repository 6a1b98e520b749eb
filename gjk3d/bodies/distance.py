"""What a body and anything else answer: whether they meet, how far apart they are, how deep they overlap."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.depth import depth
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.hulls import placing
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import APART, MeshPair, meet_many
from gjk3d.bodies.pair import BodyPair, FewParts, Nearest
from gjk3d.bodies.parts import box_at, parts_of
from gjk3d.convex.rows import Rows, Wanted, mirror
from gjk3d.convex.solve import way
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, WIDTH, relative
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, Ints

_TIGHT = {False: 1e-12, True: 1e-9}  #: width that is promised, by whether a part is curved, in units of the size
_EX = np.array([1.0, 0.0, 0.0])

Thing = Body | Shape


def in_order(a: Thing, b: Thing) -> bool:
    """Tell whether the kernels see a first: a body comes before a shape, of two the lower by their content."""
    if isinstance(a, Body) and isinstance(b, Body):
        return not a._order > b._order
    return isinstance(a, Body)


def pair_of(a: Body, b: Thing, m: Array) -> BodyPair:
    """Return two things of which the first is a body, m being the pose of b in a's frame."""
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return MeshPair.of(a, b, m)
    second = parts_of(b)
    return BodyPair(a._parts_near(box_at(second.box, m)), second, m)


def _ordered(a: Any, b: Any, rows: Rows) -> tuple[bool, Body, Any, Rows]:
    """Return whether the two are exchanged, and the two as the kernels see them."""
    swapped = not in_order(a, b)
    if swapped:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    check_an_end(b)
    return swapped, a, b, rows


def check_an_end(b: Thing) -> None:
    """Raise where the second of two in order has no end: then neither has."""
    if isinstance(b, HeightField):
        raise UnsupportedPair(
            "two HeightFields: both go down without end; make one of them a gjk3d.Mesh or a Compound that has one"
        )


def _at(a: Body, b: Any, rows: Rows, k: int) -> BodyPair:
    """Return the two at one row."""
    return pair_of(a, b, relative(rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0]))


def _few_parts(a: Body, b: Any) -> FewParts | None:
    """Return what asks all parts at once where these are few; kept until the body meets another."""
    if isinstance(a, HeightField) or not FewParts.takes(a._as_parts(), parts_of(b)):
        return None
    kept = a._cache.get("few parts")
    if kept is None or kept[0] is not b:
        kept = a._cache["few parts"] = b, FewParts(a._as_parts(), parts_of(b))
    few: FewParts = kept[1]
    return few


def collide(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell at which rows two meet, one of them a body, or come within a margin."""
    _, a, b, rows = _ordered(a, b, rows)
    if margin == 0.0 and isinstance(a, Mesh) and isinstance(b, Mesh):
        one, two = (np.ascontiguousarray(np.broadcast_to(row, (rows.total, WIDTH))) for row in (rows.a, rows.b))
        meets: Bools = meet_many(a, b, one, two) != APART
        return meets
    few = _few_parts(a, b)
    if few is not None:
        answer = few.collide(few.relative(rows), max(margin, 0.0))
    else:
        answer = np.array([_at(a, b, rows, k).meet(max(margin, 0.0)) for k in range(rows.total)], dtype=bool)
    if margin < 0.0:
        for k in np.flatnonzero(answer).tolist():
            answer[k] = -depth(_at(a, b, rows, k)).most <= margin
    return answer


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of two of which one is a body."""
    _check_no_log(wanted)
    swapped, a, b, rows = _ordered(a, b, rows)
    flags[:] = 0
    few = _few_parts(a, b)
    if few is not None:
        at = few.relative(rows)
        met = few.collide(at, 0.0)
        for k, gap in few.nearest(at, np.flatnonzero(~met), wanted.max_distance):
            flags[k, 0], flags[k, 2] = _apart(gap, float(at.errors[k]), out[k])
        for k in np.flatnonzero(met).tolist():
            flags[k, 0], flags[k, 2] = _overlapping(_at(a, b, rows, k), wanted.mode, out[k])
    else:
        for k in range(rows.total):
            x = _at(a, b, rows, k)
            if x.meet():
                flags[k, 0], flags[k, 2] = _overlapping(x, wanted.mode, out[k])
            else:
                flags[k, 0], flags[k, 2] = _apart(x.nearest(wanted.max_distance), x.error, out[k])
    turn = np.broadcast_to(rows.a[:, :9].reshape(-1, 3, 3), (rows.total, 3, 3))
    for column, shift in ((3, 0.0), (6, rows.a[:, 9:12]), (9, rows.a[:, 9:12])):
        out[:, column : column + 3] = (turn @ out[:, column : column + 3, None])[..., 0] + shift
    mirror(out, swapped)


def _check_no_log(wanted: Wanted) -> None:
    if wanted.log is not None:
        raise UnsupportedPair("trace and certificate are of convex shapes: ask about the hull(), or about the parts")


def _apart(gap: Nearest, error: float, out: Array) -> tuple[int, bool]:
    """Write one answer in the first's frame; return its status, and whether its interval is as narrow as promised."""
    between = gap.row[9:12] - gap.row[6:9]
    length = float(np.linalg.norm(between))
    distance = min(max(float(gap.row[0]), gap.lower), gap.upper)
    normal = between / length if length > 0.0 else gap.row[3:6]
    out[:3], out[3:6] = (distance, gap.lower, gap.upper), normal
    out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + distance * normal
    narrowly = gap.upper - gap.lower <= _TIGHT[gap.curved] * error / ROUNDING + 4.0 * error
    if not gap.lower > 0.0:
        return int(Status.TOUCHING), narrowly
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


# --- half-spaces: what has an end is as far from one, and as deep in it, as its hull ---------------------------------


def hulls_with_plane(a: Thing, b: Thing) -> tuple[Shape, Shape]:
    """Return the two, one of them a half-space, with its hull in place of the body."""
    if isinstance(b, Halfspace):
        return _hull_of(a, b), b
    assert isinstance(a, Halfspace)
    return a, _hull_of(b, a)


def _hull_of(body: Thing, plane: Halfspace) -> Shape:
    hull = None if isinstance(body, HeightField) else parts_of(body).hull()
    if hull is None:
        raise UnsupportedPair(
            f"{type(body).__name__} against {type(plane).__name__}: use a large gjk3d.Box in place of the half-space"
        )
    return hull


def _placing(a: Thing, b: Thing) -> float:
    return placing(b if isinstance(a, Halfspace) else a)


def collide_with_plane(a: Thing, b: Thing, rows: Rows, margin: float) -> Bools:
    """Tell whether a body and a half-space meet."""
    hulls = hulls_with_plane(a, b)
    return way(*hulls).collide(*hulls, rows, margin + _placing(a, b))


def solve_with_plane(a: Thing, b: Thing, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of a body and a half-space."""
    _check_no_log(wanted)
    hulls = hulls_with_plane(a, b)
    way(*hulls).solve(*hulls, rows, wanted, out, flags)
    error = _placing(a, b)
    unsigned = wanted.mode == narrow.UNSIGNED
    some = out[:, 2] > 0.0 if unsigned else slice(None)  # where they overlap it is 0, and no number
    out[some, 1], out[some, 2] = out[some, 1] - error, out[some, 2] + error
    if unsigned:
        out[:, 1] = np.maximum(out[:, 1], 0.0)
    apart, within = flags[:, 0] == Status.SEPARATED, flags[:, 0] == Status.OVERLAPPING
    flags[(apart & (out[:, 1] <= 0.0)) | (within & (out[:, 2] > 0.0)), 0] = Status.TOUCHING
