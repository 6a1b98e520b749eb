"""Cores so simple that a formula has their distance: points, segments and boxes, a point and a cylinder.

Where rounding may tell, no answer is given, and GJK finds one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.geometry.vec3 import (
    NO_LENGTH,
    Vec3,
    along,
    divide,
    dot,
    neg,
    offset,
    place,
    scale,
    sub,
    turn,
    turn_back,
    unit,
)
from gjk3d.narrow.box_box import as_boxes, is_boxes, seen_from_a
from gjk3d.narrow.box_gap import nearest_of_boxes
from gjk3d.narrow.cores import Cores, between_centers, direction_between, support_pair
from gjk3d.narrow.gjk import TOUCHING
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.typing import Array

_POINT, _SEGMENT, _BOX, _CYLINDER = layout.POINT, layout.SEGMENT, layout.BOX, layout.CYLINDER
_KIND, _HEAD = layout.KIND, layout.FLOAT_HEAD
_APART = 16.0  #: in units of `Cores.tiny`: how far witnesses and the vector between them may be apart


class Gap(NamedTuple):
    """The signed distance of two cores in A's frame, to within `Cores.error`."""

    settled: bool  #: whether it is known
    signed: float  #: 0 where nothing is known but that a and b are one common point
    n: Vec3  #: the normal, from A to B
    a: Vec3  #: the witnesses
    b: Vec3


@kernel
def has_formula(c: Cores) -> bool:
    """Tell whether there is a formula for two cores."""
    a, b = c.a.ints[_KIND], c.b.ints[_KIND]
    return bool((a <= _BOX and b <= _BOX) or (min(a, b) == _POINT and max(a, b) == _CYLINDER))


@kernel
def gap_of(c: Cores) -> Gap:
    """Return the signed distance of two cores that have a formula."""
    if c.a.ints[_KIND] == _POINT:
        if c.b.ints[_KIND] == _POINT:
            return between_points(c)
        if c.b.ints[_KIND] != _SEGMENT:
            signed, n, p = from_solid(c.b, neg(turn_back(c.m, offset(c.m))))
            return Gap(abs(signed) > TOUCHING * c.tiny, signed, neg(turn(c.m, n)), (0.0, 0.0, 0.0), place(c.m, p))
    elif c.b.ints[_KIND] == _POINT and c.a.ints[_KIND] != _SEGMENT:
        q = offset(c.m)
        signed, n, p = from_solid(c.a, q)
        return Gap(abs(signed) > TOUCHING * c.tiny, signed, n, p, q)
    return between_boxes(c) if is_boxes(c) else between_segments(c)


@kernel
def inside_both(c: Cores) -> tuple[Vec3, Vec3, Vec3]:
    """Return the direction from centre to centre, and of each core a point between them, of the balls that both hold.

    It is one point where these meet.
    """
    inner_a, inner_b = c.a.floats[layout.INNER], c.b.floats[layout.INNER]
    n, t = unit(direction_between(c.m)), between_centers(c.m)
    common = min(inner_a, t * (inner_a / (inner_a + inner_b)))
    if t > inner_a + inner_b:
        return n, scale(inner_a, n), scale(t - inner_b, n)
    return n, scale(common, n), scale(common, n)


@inlined
def between_points(c: Cores) -> Gap:
    """Return the distance of two points."""
    t = offset(c.m)
    length = sqrt(dot(t, t))
    clear = length > TOUCHING * c.tiny
    return Gap(clear, length, divide(t, length) if clear else t, (0.0, 0.0, 0.0), t)


@kernel
def half_vector(core: Core) -> Vec3:
    """Return the vector from the middle of a segment to an end; a point is a segment too."""
    f = core.floats
    return (f[_HEAD], f[_HEAD + 1], f[_HEAD + 2]) if core.ints[_KIND] == _SEGMENT else (0.0, 0.0, 0.0)


@kernel
def clamped(x: float, y: float) -> float:
    """Return x / y, or what is nearest to it from -1 to 1; 0 where y is 0."""
    return min(max(x / y, -1.0), 1.0) if y > 0.0 else 0.0


@kernel
def between_segments(c: Cores) -> Gap:
    """Return the distance of two segments (Ericson 2005, sec. 5.1.9); a support point proves it or leaves it unsettled.

    Of parallel ones that lie side by side the witnesses are some pair of points.
    """
    e, f, t = half_vector(c.a), turn(c.m, half_vector(c.b)), offset(c.m)
    ee, ff, ef, et, ft = dot(e, e), dot(f, f), dot(e, f), dot(e, t), dot(f, t)
    x = clamped(et * ff - ef * ft, ee * ff - ef * ef)
    y = clamped(ef * x - ft, ff)
    x = clamped(ef * y + et, ee)
    a, b = scale(x, e), along(t, f, y)
    v = sub(b, a)
    length = sqrt(dot(v, v))
    if not length > TOUCHING * c.tiny:
        return Gap(False, length, v, a, b)
    n = divide(v, length)
    w, _, _ = support_pair(c, n)
    return Gap(length + dot(n, w) <= c.tiny, length, n, a, b)


@kernel
def between_boxes(c: Cores) -> Gap:
    """Return the distance of a box and a box or segment; a support point proves it or leaves it unsettled."""
    flipped, h, g, m = as_boxes(c)
    r, a, b = nearest_of_boxes(h, g, m, c.tiny)
    if a == b:
        within = min(h[0] - abs(a[0]), min(h[1] - abs(a[1]), h[2] - abs(a[2])))
        common = place(c.m, a) if flipped else a
        return Gap(within > c.error, 0.0, unit(direction_between(c.m)), common, common)
    if flipped:
        r, a, b = seen_from_a(c, r, a, b)
    # 16 tiny are 256 u L, so more than the error, 64 u L, of rotations; what is farther off is left to GJK
    length, off = sqrt(dot(r, r)), sub(sub(b, a), r)
    if not length > TOUCHING * c.tiny or dot(off, off) > (c.error + _APART * c.tiny) * (c.error + _APART * c.tiny):
        return Gap(False, length, r, a, b)
    n = divide(r, length)
    w, _, _ = support_pair(c, n)
    return Gap(abs(length + dot(n, w)) <= c.tiny, length, n, a, b)


@kernel
def from_solid(core: Core, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Return the signed distance of a point from a box or cylinder, the normal there, and the surface's nearest point.

    The normal is one of the surface at that point to the last bit, be the point as near as it likes.
    """
    if core.ints[_KIND] == _BOX:
        return from_box(core.floats[_HEAD:], q)
    return from_cylinder(core.floats[_HEAD], core.floats[_HEAD + 1], q)


@inlined
def from_box(h: Array, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Do as `from_solid` does of a box with these half extents."""
    x, y, z = q
    p = (min(max(x, -h[0]), h[0]), min(max(y, -h[1]), h[1]), min(max(z, -h[2]), h[2]))
    v = sub(q, p)
    length = sqrt(dot(v, v))
    if length > 0.0:
        return length, divide(v, length), p
    to_x, to_y, to_z = h[0] - abs(x), h[1] - abs(y), h[2] - abs(z)
    if to_x <= to_y and to_x <= to_z:
        s = 1.0 if x >= 0.0 else -1.0
        return -to_x, (s, 0.0, 0.0), (s * h[0], y, z)
    if to_y <= to_z:
        s = 1.0 if y >= 0.0 else -1.0
        return -to_y, (0.0, s, 0.0), (x, s * h[1], z)
    s = 1.0 if z >= 0.0 else -1.0
    return -to_z, (0.0, 0.0, s), (x, y, s * h[2])


@inlined
def from_cylinder(r: float, h: float, q: Vec3) -> tuple[float, Vec3, Vec3]:
    """Do as `from_solid` does of a cylinder with this radius and half height."""
    x, y, z = q
    rho = sqrt(x * x + y * y)
    ux, uy = (x / rho, y / rho) if rho > NO_LENGTH else (1.0, 0.0)
    out, up, s = rho - r, abs(z) - h, 1.0 if z >= 0.0 else -1.0
    if out > 0.0 and up > 0.0:
        length = sqrt(out * out + up * up)
        k = out / length
        return length, (k * ux, k * uy, s * (up / length)), (r * ux, r * uy, s * h)
    if up >= out:  # above a cap, or nearer to it
        return up, (0.0, 0.0, s), (x, y, s * h)
    return out, (ux, uy, 0.0), (r * ux, r * uy, z)
