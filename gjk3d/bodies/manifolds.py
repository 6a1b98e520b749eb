"""The points of contact of pairs of parts.

A triangle's two faces, and the five of a column, follow from their corners, and are made where a pair is looked at; the
faces of all other parts are those of their shapes, see `Faces`.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import inlined, kernel, plain
from gjk3d.bodies.base import Parts
from gjk3d.bodies.part_tree import PRISMS, PartTree, part_at, put_behind
from gjk3d.bodies.pushes import Met, vec_at
from gjk3d.bodies.walk import Bench, Two
from gjk3d.convex.patches import Faces as ShapeFaces
from gjk3d.convex.patches import faces_of
from gjk3d.geometry.vec3 import Vec3, cross, dot, neg, sub, turn_back
from gjk3d.narrow.cores import cores_at
from gjk3d.narrow.features import Loops, feature
from gjk3d.narrow.manifold import POINT, Sheets, patch, put_point
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array, Array1, Array2, Array3, Ints, Ints1, Ints2

MOST = 256  #: pairs of parts, the deepest, that are looked at for more than one point
_FIRST = 0
_FLAT = 1e-13  #: of a triangle's length: so narrow it is a segment, as in `gjk3d.geometry.hulls`
_INTS, _FLOATS = 25, 15  #: of the faces of a column
_SIDES = np.array([0, 3, 6, 10, 14, 18, 0, 1, 2, 3, 5, 4, 0, 3, 4, 1, 1, 4, 5, 2, 2, 5, 3, 0])  #: of a column
_BOTH = np.array([0, 3, 6, 0, 1, 2, 2, 1, 0])  #: of a triangle

#: the faces of shapes behind each other, and where those of each part begin in either; of a single row where of all
Faces = tuple[Ints1, Array1, Ints2]


@kernel
def _corner(core: Core, k: int) -> Vec3:
    n, f, head = core.ints[layout.VERTICES], core.floats, layout.FLOAT_HEAD
    return (f[head + k], f[head + n + k], f[head + 2 * n + k])


@inlined
def _put_normal(floats: Array, k: int, n: Vec3) -> None:
    """Write a vector's direction, 0 where it has none."""
    most = max(abs(n[0]), max(abs(n[1]), abs(n[2])))
    s = 1.0 / most if most > 0.0 else 0.0
    n = (s * n[0], s * n[1], s * n[2])
    s = 1.0 / sqrt(dot(n, n)) if most > 0.0 else 0.0
    floats[3 * k], floats[3 * k + 1], floats[3 * k + 2] = s * n[0], s * n[1], s * n[2]


@kernel
def _triangle_faces(core: Core, ints: Ints, floats: Array) -> None:
    """Write both sides of a triangle, or its longest edge where it is no wider than rounding."""
    p, q, r = _corner(core, 0), _corner(core, 1), _corner(core, 2)
    u, v, w = sub(q, p), sub(r, q), sub(p, r)
    n = cross(u, v)
    uu, vv, ww = dot(u, u), dot(v, v), dot(w, w)
    longest = max(uu, max(vv, ww))
    if sqrt(dot(n, n)) <= _FLAT * longest:
        first = 0 if uu == longest else 1 if vv == longest else 2
        ints[0], ints[1], ints[2] = 1 if longest > 0.0 else 0, 0, 2
        ints[3], ints[4] = first, (first + 1) % 3
        _put_normal(floats, 0, (0.0, 0.0, 0.0))
        return
    ints[0] = 2
    for k in range(9):
        ints[1 + k] = _BOTH[k]
    _put_normal(floats, 0, n)
    _put_normal(floats, 1, (-n[0], -n[1], -n[2]))


@kernel
def _column_faces(core: Core, ints: Ints, floats: Array) -> None:
    """Write the top, the bottom and the sides of a column."""
    ints[0] = 5
    for k in range(24):
        ints[1 + k] = _SIDES[k]
    p, q, r = _corner(core, 0), _corner(core, 1), _corner(core, 2)
    u, v, w = sub(q, p), sub(r, q), sub(p, r)
    _put_normal(floats, 0, cross(u, v))
    _put_normal(floats, 1, (0.0, 0.0, -1.0))
    _put_normal(floats, 2, (u[1], -u[0], 0.0))
    _put_normal(floats, 3, (v[1], -v[0], 0.0))
    _put_normal(floats, 4, (w[1], -w[0], 0.0))


@kernel
def _loops(t: PartTree, k: int, core: Core, faces: Faces, ints: Ints, floats: Array) -> Loops:
    """Return the faces of part k; ``ints`` and ``floats`` are room for them."""
    if core.ints[layout.KIND] == layout.HULL and core.ints[layout.VERTICES] == 3:
        _triangle_faces(core, ints, floats)
        return Loops(ints, floats)
    if t.kind == PRISMS:
        _column_faces(core, ints, floats)
        return Loops(ints, floats)
    r = k if faces[2].shape[0] > 1 else 0
    return Loops(faces[0][faces[2][r, 0] :], faces[1][faces[2][r, 1] :])


class Desk(NamedTuple):
    """Scratch: corners of features and polygons, the faces of a triangle or column each; most points of two parts."""

    corners: Array3
    plane: Array3
    ints: Ints2
    floats: Array2
    most: int


@kernel
def write_points(
    x: Two, w: Bench, faces_a: Faces, faces_b: Faces, f: Met, count: int, within: float, d: Desk, points: Array2
) -> int:  # fmt: skip
    """Write the points of the pairs of parts chosen, of many those of the first; return how many there are.

    What is written is as `gjk3d.narrow.manifold.patch` writes it, and a normal, in A's frame. That has the nearest
    points alone where B's feature is a point, so there A's is not looked for; a part of B is placed once for all of A's
    that follow each other.
    """
    written, sheets, last = 0, Sheets(d.corners[0], d.corners[1], d.plane), -1
    b, loops_b = part_at(x.b, _FIRST, w.floats_b, w.row_b), Loops(d.ints[1], d.floats[1])
    for i in range(count):
        j, found = f.some[i], 0
        p, q, n = f.pairs[j, 0], f.pairs[j, 1], vec_at(f.out[j], 3)
        if i < MOST and q != last:
            b, last = part_at(x.b, q, w.floats_b, w.row_b), q
            put_behind(x.m, w.row_b)
            loops_b = _loops(x.b, q, b, faces_b, d.ints[1], d.floats[1])
        if i < MOST and feature(b, loops_b, neg(turn_back(w.row_b, n)), sheets.vb).corners != 1:
            c = cores_at(part_at(x.a, p, w.floats_a, w.row_a), w.row_a, b, w.row_b)
            loops_a = _loops(x.a, p, c.a, faces_a, d.ints[0], d.floats[0])
            found = int(patch(c, False, loops_a, loops_b, f.out, j, within, d.most, sheets, points[written:]))
        else:
            found = 1
            put_point(points[written:], plain(0), vec_at(f.out[j], 6), n, f.out[j, 0], False)
        for k in range(written, written + found):
            points[k, POINT], points[k, POINT + 1], points[k, POINT + 2] = n
        written += found
    return written


def faces_in(parts: Parts) -> tuple[Faces, int]:
    """Return the faces of a body's parts as the kernel takes them, and the most corners that one of them has."""
    if not hasattr(parts, "_looped"):
        shapes, which = parts.made_of()
        found = faces_of(shapes or [None])
        parts._looped = (found.ints, found.floats, found.starts[which]), most_corners_in(found)
    faces: tuple[Faces, int] = parts._looped
    return faces


def most_corners_in(faces: ShapeFaces) -> int:
    """Return the most corners that a feature of some shapes has, triangles and columns not forgotten."""
    return max(4, int(faces.corners.max()))


#: `Desk` as entries take it
GivenDesk = tuple[Array3, Array3, Ints2, Array2, int]


@inlined
def desk_of(t: GivenDesk) -> Desk:
    """Return what Python handed over by names."""
    return Desk(t[0], t[1], t[2], t[3], t[4])


def desk(most_a: int, most_b: int) -> GivenDesk:
    """Return scratch for parts of which a feature has so many corners at most."""
    most = most_a + most_b + 4
    return (
        np.empty((2, max(most_a, most_b), 3)), np.empty((3, most, 2)), np.empty((2, _INTS), dtype=np.int64),
        np.empty((2, _FLOATS)), most,
    )  # fmt: skip
