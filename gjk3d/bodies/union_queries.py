"""Unions of convex parts in the questions about two shapes: pairs that one of them is in."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.between import Between, Nearest, Stack, box_at
from gjk3d.bodies.compound import parts_of
from gjk3d.bodies.depths import depth
from gjk3d.bodies.heights import HeightField
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.unions import Solid, Union
from gjk3d.convex.rows import Rows, Wanted
from gjk3d.convex.solve import way
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, relative
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, Ints

_TIGHT = {False: 1e-12, True: 1e-9}  #: width that is promised, by whether a part is curved, in units of the size
_EX = np.array([1.0, 0.0, 0.0])


def _turned(a: Any, b: Any) -> bool:
    """Tell whether the kernels see b first: a solid comes before what is none, of two the lower of their content."""
    if isinstance(a, Solid) and isinstance(b, Solid):
        return a._order > b._order
    return not isinstance(a, Solid)


def union_of(x: Any) -> Union:
    """Return the convex parts of a solid, a mesh or a shape."""
    return x.union() if isinstance(x, Solid) else parts_of(x)


def _ordered(a: Any, b: Any, rows: Rows) -> tuple[bool, Any, Any, Rows]:
    """Return the two as the kernels see them, and whether they are exchanged."""
    turned = _turned(a, b)
    if turned:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    if isinstance(b, HeightField):
        raise UnsupportedPair(
            "two HeightFields: both go down without end; make one of them a gjk3d.Mesh or a Compound that has one"
        )
    return turned, a, b, rows


def _between(a: Solid, b: Any, rows: Rows, k: int) -> Between:
    """Return the two at one row."""
    m = relative(rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0])
    second = union_of(b)
    return Between(a.facing(box_at(second.box, m)), second, m)


def _stack(a: Solid, b: Any) -> Stack | None:
    """Return what asks all parts at once where these are few; kept until the solid meets another."""
    if isinstance(a, HeightField) or not Stack.takes(a.union(), union_of(b)):
        return None
    kept = a._cache.get("stack")
    if kept is None or kept[0] is not b:
        kept = a._cache["stack"] = b, Stack(a.union(), union_of(b))
    stack: Stack = kept[1]
    return stack


def hulls_with_plane(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the two, one of them a half-space, with its hull in place of the solid: it is as far from that."""
    solid = b if isinstance(a, Halfspace) else a
    if isinstance(solid, Mesh):
        hull: Shape | None = solid.hull()
    else:
        hull = None if isinstance(solid, HeightField) else solid.union().outline()
    if hull is None:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: use a large gjk3d.Box in place of the half-space"
        )
    return (a, hull) if isinstance(a, Halfspace) else (hull, b)


def _placing(a: Any, b: Any) -> float:
    """Bound how far a corner of a solid's hull is from where it is meant: it went through the pose of its part."""
    solid = b if isinstance(a, Halfspace) else a
    return ROUNDING * float(solid.union().reach)


def collide_with_plane(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell whether a solid and a half-space meet, by the hull of the solid."""
    hulls = hulls_with_plane(a, b)
    return way(*hulls).collide(*hulls, rows, margin + _placing(a, b))


def solve_with_plane(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of a solid and a half-space, by the hull of the solid."""
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


def _check_no_log(wanted: Wanted) -> None:
    if wanted.log is not None:
        raise UnsupportedPair("trace and certificate are of convex shapes: ask about the parts, or about the hull")


def collide(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell at which rows two meet, one of them a solid, or come within a margin."""
    _, a, b, rows = _ordered(a, b, rows)
    stack = _stack(a, b)
    if stack is not None:
        answer = stack.collide(stack.relative(rows), max(margin, 0.0))
    else:
        answer = np.array([_between(a, b, rows, k).meet(max(margin, 0.0)) for k in range(rows.total)], dtype=bool)
    if margin < 0.0:
        for k in np.flatnonzero(answer).tolist():
            answer[k] = -depth(_between(a, b, rows, k)).most <= margin
    return answer


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of two of which one is a solid."""
    _check_no_log(wanted)
    mode, max_distance = wanted.mode, wanted.max_distance
    turned, a, b, rows = _ordered(a, b, rows)
    flags[:] = 0
    stack = _stack(a, b)
    if stack is not None:
        at = stack.relative(rows)
        met = stack.collide(at, 0.0)
        for k, gap in stack.nearest(at, np.flatnonzero(~met), max_distance):
            flags[k, 0], flags[k, 2] = _apart(gap, float(at.errors[k]), out[k])
        for k in np.flatnonzero(met).tolist():
            flags[k, 0], flags[k, 2] = _overlapping(_between(a, b, rows, k), mode, out[k])
    else:
        for k in range(rows.total):
            x = _between(a, b, rows, k)
            if x.meet():
                flags[k, 0], flags[k, 2] = _overlapping(x, mode, out[k])
            else:
                flags[k, 0], flags[k, 2] = _apart(x.nearest(max_distance), x.error, out[k])
    turn = np.broadcast_to(rows.a[:, :9].reshape(-1, 3, 3), (rows.total, 3, 3))
    for column, shift in ((3, 0.0), (6, rows.a[:, 9:12]), (9, rows.a[:, 9:12])):
        out[:, column : column + 3] = (turn @ out[:, column : column + 3, None])[..., 0] + shift
    if turned:
        out[:, 3:6] = 0.0 - out[:, 3:6]
        out[:, 6:12] = out[:, [9, 10, 11, 6, 7, 8]]


def _apart(gap: Nearest, error: float, out: Array) -> tuple[int, bool]:
    """Write one answer in the first's frame; return its status, and whether its interval is as narrow as promised."""
    way = gap.row[9:12] - gap.row[6:9]
    length = float(np.linalg.norm(way))
    distance = min(max(float(gap.row[0]), gap.lower), gap.upper)
    normal = way / length if length > 0.0 else gap.row[3:6]
    out[:3], out[3:6] = (distance, gap.lower, gap.upper), normal
    out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + distance * normal
    narrowly = gap.upper - gap.lower <= _TIGHT[gap.curved] * error / ROUNDING + 4.0 * error
    if gap.beyond:
        return int(Status.BEYOND), narrowly
    return int(Status.SEPARATED if gap.lower > 0.0 else Status.TOUCHING), narrowly


def _overlapping(x: Between, mode: int, out: Array) -> tuple[int, bool]:
    """Do as `_apart` where the two meet."""
    size = x.error / ROUNDING
    if mode == narrow.UNSIGNED:
        place = _common_point(x)
        out[:3], out[3:6], out[6:9], out[9:12] = 0.0, _EX, place, place
        return int(Status.OVERLAPPING), True
    deep = depth(x)
    if deep.most == inf:
        raise UnsupportedPair("these overlap without end: no translation parts them")
    out[:3], out[3:6] = (-deep.most, -deep.most, -deep.least), deep.normal
    out[6:9], out[9:12] = deep.place + 0.5 * deep.most * deep.normal, deep.place - 0.5 * deep.most * deep.normal
    narrowly = deep.most - deep.least <= _TIGHT[True] * size + 16.0 * x.error
    if deep.least > 0.0:
        return int(Status.OVERLAPPING), narrowly
    return int(Status.TOUCHING if narrowly else Status.UNDECIDED), narrowly


def _common_point(x: Between) -> Array:
    """Return a point of both, in the first's frame."""
    place = x.held()
    if place is None:
        pairs = next((some[met] for some, met in x.pieces() if met.any()), None)
        row = x.nearest().row if pairs is None else x.solve(pairs[:1], narrow.UNSIGNED)[0][0]
        place = row[6:9]
    return place
