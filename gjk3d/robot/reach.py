"""How far a slot may be from the axis of each joint, over all configurations: its reach.

A slot is walked outwards from its link through the whole tree. As seen from the next link it is swept round the axis
of a joint that turns, along that of one that slides: all of it stays in a cylinder, which is the set that is walked
on. So an arm that is folded by its limits alone counts as stretched, but a link that turns about its own length does
not count as turning about one end.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, perpendicular
from gjk3d.robot.kinematics import Chain, plane_axes
from gjk3d.robot.walk import Layout, core_of
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core
from gjk3d.shapes.table import support
from gjk3d.typing import Array, Array2, Ints1

_RADIUS, _CENTER, _SLACK = layout.RADIUS, layout.CENTER, layout.SLACK
#: directions round a half circle; a point farther than a height in each of them is not by more than this
_AROUND = 16
_WIDER = 1.0 / cos(pi / (2 * _AROUND))
_MORE = 1.0 + 1e-9  #: for rounding, and far more
PLANE = 1.001  #: how long the axes of `plane_axes` may be: next to -z they are rounded
#: a set is 12 floats: a shape's pose in the link, or a cylinder: its middle, its axis, radius, half its length
SET = 12


@kernel
def _height(exact: bool, s: Array, core: Core, d: Vec3) -> float:
    """Return how far the set goes along a unit direction."""
    if exact:
        e = (
            s[0] * d[0] + s[3] * d[1] + s[6] * d[2],
            s[1] * d[0] + s[4] * d[1] + s[7] * d[2],
            s[2] * d[0] + s[5] * d[1] + s[8] * d[2],
        )
        f, p = core.floats, support(core, e)
        center = (f[_CENTER], f[_CENTER + 1], f[_CENTER + 2])
        return float(dot(e, p) + dot(e, center) + dot(d, (s[9], s[10], s[11])) + f[_RADIUS] + f[_SLACK])
    c = d[0] * s[3] + d[1] * s[4] + d[2] * s[5]
    return float(d[0] * s[0] + d[1] * s[1] + d[2] * s[2] + s[7] * abs(c) + s[6] * sqrt(max(0.0, 1.0 - c * c)))


@kernel
def _around(exact: bool, s: Array, core: Core, at: Vec3, axis: Vec3) -> tuple[float, float, float]:
    """Return the cylinder about an axis through a point that the set lies in: radius, and from where to where."""
    u = perpendicular(axis)
    v = cross(axis, u)
    most = 0.0
    for k in range(_AROUND):
        c, n = cos(pi * k / _AROUND), sin(pi * k / _AROUND)
        d = (c * u[0] + n * v[0], c * u[1] + n * v[1], c * u[2] + n * v[2])
        back = (-d[0], -d[1], -d[2])
        x = dot(d, at)
        most = max(most, _height(exact, s, core, d) - x)
        most = max(most, _height(exact, s, core, back) + x)
    x = dot(axis, at)
    high = _height(exact, s, core, axis) - x
    low = -_height(exact, s, core, (-axis[0], -axis[1], -axis[2])) - x
    more = 1e-12 * (sqrt(dot(at, at)) + abs(x) + abs(high) + abs(low))
    return most * _WIDER * _MORE + more, low - more, high + more


@kernel
def _middle(exact: bool, s: Array, core: Core) -> Vec3:
    """Return a point in the midst of the set."""
    if exact:
        x, y, z = core.floats[_CENTER], core.floats[_CENTER + 1], core.floats[_CENTER + 2]
        return (
            s[0] * x + s[1] * y + s[2] * z + s[9],
            s[3] * x + s[4] * y + s[5] * z + s[10],
            s[6] * x + s[7] * y + s[8] * z + s[11],
        )
    return (s[0], s[1], s[2])


@kernel
def _put(s: Array, p: Vec3, axis: Vec3, radius: float, half: float) -> None:
    for k in range(3):
        s[k], s[3 + k] = p[k], axis[k]
    s[6], s[7] = radius, half


@kernel
def _sweep(
    exact: bool, s: Array, core: Core, what: int, a: Vec3, box: Array, sign: float,
    out: Array,
) -> float:  # fmt: skip
    """Write the set as it is seen from behind a joint, into out; return how far it may be from the joint's axis.

    ``what`` is the kind of the joint, a its axis. ``box`` has the middles of the joint's translation, then half its
    widths. ``sign`` is 1 on the way up, where the translation comes last, and -1 on the way down.
    """
    u, v = plane_axes(a)
    m = (0.0, 0.0, 0.0)  # the middle of the translation, and how far it goes from there
    far = 0.0
    if what == 2:
        m = (box[0] * a[0], box[0] * a[1], box[0] * a[2])
        far = box[3]
    elif what == 3:
        x, y = box[0], box[1]
        m = (x * u[0] + y * v[0], x * u[1] + y * v[1], x * u[2] + y * v[2])
        far = PLANE * sqrt(box[3] * box[3] + box[4] * box[4])
    elif what == 4:
        m = (box[0], box[1], box[2])
        far = sqrt(box[3] * box[3] + box[4] * box[4] + box[5] * box[5])
    m = (sign * m[0], sign * m[1], sign * m[2])
    zero = (0.0, 0.0, 0.0)
    at = zero
    if what == 2 or (sign < 0.0 and what != 1):
        at = _middle(exact, s, core)
    radius, low, high = _around(exact, s, core, at, a)
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    p = (at[0] + mid * a[0], at[1] + mid * a[1], at[2] + mid * a[2])
    if what == 1:
        _put(out, p, a, radius, half)
        return radius
    p = (p[0] + m[0], p[1] + m[1], p[2] + m[2])
    if what == 2:
        _put(out, p, a, radius, half + far)
        return 1.0
    if what == 3 and sign > 0.0:
        _put(out, p, a, radius + far, half)
        return radius
    if what == 4 and sign > 0.0:
        high, low = max(abs(low), abs(high)), 0.0
        reach = sqrt(radius * radius + high * high)
        _put(out, m, a, reach + far, reach + far)
        return reach
    # down: first the translation, then the turn about the joint's own origin
    along = dot(p, a)
    if what == 3:
        off = (p[0] - along * a[0], p[1] - along * a[1], p[2] - along * a[2])
        # the radius is enlarged by more than off is rounded, far by `PLANE`: `_MORE` holds the rounding of their sum
        reach = (sqrt(dot(off, off)) + radius + far) * _MORE
        _put(out, (along * a[0], along * a[1], along * a[2]), a, reach, half)
        return reach
    reach = (sqrt(dot(p, p)) + sqrt(radius * radius + half * half) + far) * _MORE
    _put(out, zero, a, reach, reach)
    return reach


@kernel
def _carry(exact: bool, m: Array, back: bool, s: Array) -> None:
    """Move a set by a rigid transform, or by its inverse."""
    count = 4 if exact else 2  # columns of a pose, or the middle and the axis of a cylinder
    for k in range(count):
        if exact:
            x, y, z = (s[k], s[3 + k], s[6 + k]) if k < 3 else (s[9], s[10], s[11])
            point = k == 3
        else:
            x, y, z = s[3 * k], s[3 * k + 1], s[3 * k + 2]
            point = k == 0
        w = 1.0 if point else 0.0
        if back:
            x, y, z = x - w * m[0, 3], y - w * m[1, 3], z - w * m[2, 3]
            x, y, z = (
                m[0, 0] * x + m[1, 0] * y + m[2, 0] * z,
                m[0, 1] * x + m[1, 1] * y + m[2, 1] * z,
                m[0, 2] * x + m[1, 2] * y + m[2, 2] * z,
            )
        else:
            x, y, z = (
                m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + w * m[0, 3],
                m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + w * m[1, 3],
                m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + w * m[2, 3],
            )
        if exact and k < 3:
            s[k], s[3 + k], s[6 + k] = x, y, z
        elif exact:
            s[9], s[10], s[11] = x, y, z
        else:
            s[3 * k], s[3 * k + 1], s[3 * k + 2] = x, y, z


@entry
def reaches(chain: Chain, layout: Layout, boxes: Array2, sets: Array2, known: Ints1, out: Array2) -> None:
    """Write how far each slot may be from the axis of each joint, (slots, links); 0 for fixed joints and the world's.

    ``boxes`` (links, 6) are the translations of joints, see `_sweep`. ``sets`` (links, 12) and ``known`` (links,) are
    scratch: the slot as seen from each link; known is 0 where it is not yet, 1 for a cylinder, 2 for the shape itself.
    """
    parent, kind, axis, origin, link = chain.parent, chain.kind, chain.axis, chain.origin, layout.link
    count = parent.shape[0]
    for k in range(link.shape[0]):
        for j in range(count):
            known[j] = 0
            out[k, j] = 0.0
        if link[k] < 0:
            continue
        core = core_of(layout, k)
        j = link[k]
        for n in range(12):
            sets[j, n] = layout.local[k, n]
        known[j] = 2
        while parent[j] >= 0:
            above = parent[j]
            for n in range(12):
                sets[above, n] = sets[j, n]
            known[above] = known[j]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(
                    known[j] == 2, sets[j], core, kind[j], a, boxes[j], 1.0, sets[above]
                )  # fmt: skip
                known[above] = 1
            _carry(known[above] == 2, origin[j], j < 0, sets[above])  # False; a literal would be a type of its own
            j = above
        for j in range(count):
            if known[j] != 0:
                continue
            above = parent[j]
            for n in range(12):
                sets[j, n] = sets[above, n]
            exact = known[above] == 2
            _carry(exact, origin[j], j >= 0, sets[j])
            known[j] = known[above]
            if kind[j] != 0:
                a = (axis[j, 0], axis[j, 1], axis[j, 2])
                out[k, j] = _sweep(exact, sets[j], core, kind[j], a, boxes[j], -1.0, sets[j])
                known[j] = 1
