"""The list of all shapes, and the selection of the support mapping by the kind of core.

A new shape needs a class, an entry in `SHAPES`, and an export in ``gjk3d/__init__.pyi``. A shape with a new kind of
core also needs a number in `layout`, features in `narrow.cores`, rays in `narrow.ray`, and an exact set in
`exact.convex_sets`. A shape that is composed of other shapes does not need a new kind of core.
"""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import inlined, kernel, single_entry
from gjk3d.geometry.vec3 import Vec3
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.composed import Composed, Rounded, place, pull_back, support_mapped
from gjk3d.shapes.curved import (
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Sphere,
    support_cone,
    support_cylinder,
    support_ellipsoid,
)
from gjk3d.shapes.halfspace import Halfspace, Plane
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import (
    Box,
    ConvexHull,
    Point,
    Segment,
    Tetrahedron,
    Triangle,
    look_up,
    support_box,
    support_hull,
    support_segment,
)
from gjk3d.typing import Array, Array1, Array2, Ints1

#: all shapes that are defined by numbers; a `Support` is defined by a function
SHAPES: tuple[type[Shape], ...] = (
    Point, Segment, Triangle, Tetrahedron, Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid,
    Plane, Halfspace,  # a subclass precedes its base class, for lookups by class
    ConvexHull, Rounded, Composed,
)  # fmt: skip

_HEAD = layout.FLOAT_HEAD
_KIND, _VERTICES, _PARTS = layout.KIND, layout.VERTICES, layout.PARTS
_INT_HEAD, _PART_INTS = layout.INT_HEAD, layout.PART_INTS
_POINT, _SEGMENT, _BOX, _HULL = layout.POINT, layout.SEGMENT, layout.BOX, layout.HULL
_CYLINDER, _CONE, _COMPOSED, _SUPPORT = layout.CYLINDER, layout.CONE, layout.COMPOSED, layout.SUPPORT


@inlined
def support_primitive(kind: int, count: int, f: Array, d: Vec3) -> Vec3:
    """Return the farthest point of a primitive along d, relative to the centre of the primitive.

    ``kind`` is a constant of `layout`, such as BOX. ``count`` is the vertex count of a hull, or the address of a user's
    support mapping. ``f`` contains the numbers that define the primitive, such as half extents.
    """
    if kind == _BOX:
        return support_box(f, d)
    if kind == _HULL:
        return support_hull(f, count, d)
    if kind == _POINT:
        return (0.0, 0.0, 0.0)
    if kind == _SEGMENT:
        return support_segment(f, d)
    if kind == _CYLINDER:
        return support_cylinder(f, d)
    if kind == _CONE:
        return support_cone(f, d)
    if kind == _SUPPORT:
        return support_mapped(count, f, d)
    return support_ellipsoid(f, d)


@kernel
def support_composed(core: Core, d: Vec3) -> Vec3:
    """Return the farthest point of a composed core along d, relative to the centre of the core.

    The core is the hull of terms, and each term is a sum of parts. The farthest point of a term is the sum of the
    farthest points of its parts. The farthest of these sums is returned.
    """
    q, f = core
    best = (0.0, 0.0, 0.0)
    most = 0.0
    first = True
    p = _INT_HEAD
    end = p + _PART_INTS * q[_PARTS]
    while p < end:
        term = q[p]
        x, y, z = 0.0, 0.0, 0.0
        while p < end and q[p] == term:
            at = q[p + 4]
            s = place(f, at, support_primitive(q[p + 1], q[p + 2], f[q[p + 3] :], pull_back(f, at, d)))
            x, y, z = x + s[0], y + s[1], z + s[2]
            p += _PART_INTS
        value = x * d[0] + y * d[1] + z * d[2]
        if first or value > most:
            first = False
            most = value
            best = (x, y, z)
    return best


@inlined
def support(core: Core, d: Vec3) -> Vec3:
    """Return the farthest point of a core along d, relative to the centre of the core. The radius is not included."""
    q, f = core
    kind = q[_KIND]
    if kind == _HULL and q[_PARTS] > 0:
        return look_up(q[_INT_HEAD:], f[_HEAD:], q[_VERTICES], q[_PARTS], d)
    if kind == _COMPOSED:
        return support_composed(core, d)
    return support_primitive(kind, q[_VERTICES], f[_HEAD:], d)


@kernel
def farthest_point(core: Core, d: Vec3) -> Vec3:
    """Return the farthest point of a shape along d, in the shape's frame. The radius is included; d has any length."""
    f = core.floats
    largest = max(abs(d[0]), abs(d[1]), abs(d[2]))
    if largest > 0.0:  # so that squares neither overflow nor vanish
        d = (d[0] / largest, d[1] / largest, d[2] / largest)
    p = support(core, d)
    length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    s = f[0] / length if length > 0.0 else 0.0
    return (f[1] + p[0] + s * d[0], f[2] + p[1] + s * d[1], f[3] + p[2] + s * d[2])


@single_entry
def support_rows(q: Ints1, f: Array1, directions: Array2, out: Array2) -> None:
    """Write the farthest points of a shape along directions (n, 3) to ``out`` (n, 3), as `farthest_point` does.

    ``q`` and ``f`` are the integers and floats of the shape, see `gjk3d.shapes.layout`.
    """
    core = Core(q, f)
    for k in range(directions.shape[0]):
        out[k, 0], out[k, 1], out[k, 2] = farthest_point(core, (directions[k, 0], directions[k, 1], directions[k, 2]))
