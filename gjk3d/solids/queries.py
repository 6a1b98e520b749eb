"""Unions of convex parts in the questions about two shapes: the family of pairs that one of them is in."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.asking import MIXED, family_of
from gjk3d.errors import UnsupportedPair
from gjk3d.families import Family, Rows, families
from gjk3d.meshes import queries as meshes  # adds the family of meshes first: ours goes in front of it
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.surfaces import relative
from gjk3d.narrow import solve as narrow
from gjk3d.results import Status
from gjk3d.shapes.base import Array, Ints, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.solids.base import ROUNDING, Solid, Union
from gjk3d.solids.between import Between, box_at
from gjk3d.solids.depths import depth
from gjk3d.solids.heights import HeightField
from gjk3d.solids.parts import parts_of

assert meshes is not None
_TIGHT = {False: 1e-12, True: 1e-9}  #: width that is promised, by whether a part is curved, in units of the size
_EX = np.array([1.0, 0.0, 0.0])


def _matches(a: Any, b: Any) -> bool:
    kinds = (Solid, Mesh, Shape)
    return isinstance(a, kinds) and isinstance(b, kinds) and (isinstance(a, Solid) or isinstance(b, Solid))


def _turned(a: Any, b: Any) -> bool:
    """Tell whether the kernels see b first: a solid comes before what is none, of two the lower of their content."""
    if isinstance(a, Solid) and isinstance(b, Solid):
        return a.order > b.order
    return not isinstance(a, Solid)


def _union(x: Any) -> Union:
    return x.union() if isinstance(x, Solid) else parts_of(x)


def _questions(a: Any, b: Any, rows: Rows) -> tuple[bool, Iterator[tuple[int, Array, Between]]]:
    """Return whether the two are exchanged; and of each row its number, the pose of the first, and the two."""
    turned = _turned(a, b)
    if turned:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    if isinstance(b, HeightField):
        raise UnsupportedPair(
            "two HeightFields: both go down without end; make one of them a gjk3d.Mesh or a Compound that has one"
        )
    second = _union(b)

    def each() -> Iterator[tuple[int, Array, Between]]:
        for k in range(rows.total):
            row_a, row_b = rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0]
            m = relative(row_a, row_b)
            yield k, row_a, Between(a.facing(box_at(second.box, m)), second, m)

    return turned, each()


def _with_plane(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Return the two with hulls in place of solids where one is a half-space: it is as far from these."""
    if not isinstance(a, Halfspace) and not isinstance(b, Halfspace):
        return None
    solid = b if isinstance(a, Halfspace) else a
    hull = None if isinstance(solid, HeightField) else solid.union().outline()
    if hull is None:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: use a large gjk3d.Box in place of the half-space"
        )
    return (a, hull) if isinstance(a, Halfspace) else (hull, b)


def _collide(a: Any, b: Any, rows: Rows, margin: float) -> NDArray[np.bool_]:
    hulls = _with_plane(a, b)
    if hulls is not None:
        return family_of(*hulls).collide(*hulls, rows, margin)
    answer = np.empty(rows.total, dtype=bool)
    for k, _, x in _questions(a, b, rows)[1]:
        overlap = x.meet(max(margin, 0.0))
        if margin < 0.0 and overlap:
            overlap = -depth(x).most <= margin
        answer[k] = overlap
    return answer


def _solve(
    a: Any, b: Any, rows: Rows, mode: int, max_distance: float, tol: float, out: Array, flags: Ints, log: Any
) -> None:
    if log is not None:
        raise UnsupportedPair("trace and certificate are of convex shapes: ask about the parts, or about the hull")
    hulls = _with_plane(a, b)
    if hulls is not None:
        family_of(*hulls).solve(*hulls, rows, mode, max_distance, tol, out, flags, None)
        return
    turned, questions = _questions(a, b, rows)
    for k, row, x in questions:
        flags[k] = 0
        flags[k, 0], flags[k, 2] = _answer(x, mode, max_distance, out[k])
        turn = row[:9].reshape(3, 3)
        out[k, 3:6] = turn @ out[k, 3:6]
        out[k, 6:9], out[k, 9:12] = turn @ out[k, 6:9] + row[9:12], turn @ out[k, 9:12] + row[9:12]
        if turned:
            out[k, 3:6] = 0.0 - out[k, 3:6]
            out[k, 6:12] = out[k, [9, 10, 11, 6, 7, 8]]


def _answer(x: Between, mode: int, max_distance: float, out: Array) -> tuple[int, bool]:
    """Write one answer in the first's frame; return its status, and whether its interval is as narrow as promised."""
    size = x.error / ROUNDING
    if not x.meet():
        gap = x.nearest(max_distance)
        way = gap.row[9:12] - gap.row[6:9]
        length = float(np.linalg.norm(way))
        distance = min(max(float(gap.row[0]), gap.lower), gap.upper)
        normal = way / length if length > 0.0 else gap.row[3:6]
        out[:3], out[3:6] = (distance, gap.lower, gap.upper), normal
        out[6:9], out[9:12] = gap.row[6:9], gap.row[6:9] + distance * normal
        narrowly = gap.upper - gap.lower <= _TIGHT[gap.curved] * size + 4.0 * x.error
        if gap.beyond:
            return int(Status.BEYOND), narrowly
        return int(Status.SEPARATED if gap.lower > 0.0 else Status.TOUCHING), narrowly
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
        pairs = next(some[met] for some, met in x.pieces() if met.any())
        place = x.solve(pairs[:1], narrow.UNSIGNED)[0][0, 6:9]
    return place


families.insert(0, Family(_matches, _solve, _collide))
MIXED.append(Solid)
