"""The entry point of a ray into a convex core, by closed forms.

All functions `enter_*` take the origin p and the unit direction d of the ray in the core's frame, with p relative to
the centre of the core. A ray is inside a convex body on one interval, or nowhere. For slabs and planes the interval is
between the last entry and the first exit (Cyrus, Beck, Generalized two- and three-dimensional clipping, 1978). For
round bodies the interval is measured from the point of the ray nearest to the centre, so that a far origin loses as few
digits as possible. A ray that grazes the body within the rounding error ``slack`` hits it.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import inlined, kernel, plain, single_entry
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3, along, divide, dot, neg, offset, row3, sub, turn, turn_back
from gjk3d.poses import GREATEST, UNIT_ROUNDOFF, check_row
from gjk3d.shapes import layout
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1

MISS, HIT, INSIDE, GENERAL = range(4)
#: rounding error of a point on a ray, in units of its distance and of the body's size
_SLACK = 64.0 * UNIT_ROUNDOFF
_GRAZING = 1e-6  #: greatest cosine of a normal and the direction of a ray that grazes a surface
_OBLIQUE = 1e4  #: greatest difference of two crossings of oblique planes that is tested further, in units of the slack
_KIND, _HEAD, _RADIUS, _CENTER, _RHO = layout.KIND, layout.FLOAT_HEAD, layout.RADIUS, layout.CENTER, layout.RHO
_POINT, _SEGMENT, _BOX, _HULL = layout.POINT, layout.SEGMENT, layout.BOX, layout.HULL
_CYLINDER, _CONE, _ELLIPSOID = layout.CYLINDER, layout.CONE, layout.ELLIPSOID

#: code (MISS, HIT, INSIDE, or GENERAL for a core without a closed form), distance along the ray, normal at the hit
Entry = tuple[int, float, Vec3]


@kernel
def enter_ball(p: Vec3, d: Vec3, radius: float, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into the ball around the origin."""
    if dot(p, p) <= radius * radius:
        return INSIDE, 0.0, neg(d)
    near = -dot(p, d)
    q = along(p, d, near)
    off = sqrt(dot(q, q))
    if off > radius + slack or near < 0.0:
        return MISS, inf, d
    t = max(near - sqrt(max((radius - off) * (radius + off), 0.0)), 0.0)
    n = along(p, d, t)
    length = sqrt(dot(n, n))
    if not (length > 0.0 and radius > 0.0):  # a point has no normal, and n is the rounding error
        return HIT, t, neg(d)
    return HIT, t, divide(n, length)


@kernel
def enter_capsule(p: Vec3, d: Vec3, half: Vec3, radius: float, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into a capsule.

    The capsule contains the points within ``radius`` of the segment from -half to half.
    """
    reach = sqrt(dot(half, half))
    if not reach > NO_LENGTH:
        return enter_ball(p, d, radius, slack)
    a = divide(half, reach)
    height, rise = dot(p, a), dot(d, a)
    s = min(max(height, -reach), reach)
    off = along(p, a, -s)
    if dot(off, off) <= radius * radius:
        return INSIDE, 0.0, neg(d)
    # The capsule is the union of two balls and a cylinder. Its entry is the first of the three.
    # The cylinder's entry counts only between the ends.
    best, t, n = enter_ball(along(p, a, -reach), d, radius, slack)
    code, entry, normal = enter_ball(along(p, a, reach), d, radius, slack)
    if code == HIT and entry < t:
        best, t, n = code, entry, normal
    across, moving = along(p, a, -height), along(d, a, -rise)
    square = dot(moving, moving)
    if square > 0.0:
        near = -dot(across, moving) / square
        q = along(across, moving, near)
        far = sqrt(dot(q, q))
        if far <= radius + slack:
            first = near - sqrt(max((radius - far) * (radius + far), 0.0) / square)
            if 0.0 <= first < t and abs(height + first * rise) <= reach:
                w = along(across, moving, first)
                length = sqrt(dot(w, w))
                if length > 0.0 and radius > 0.0:
                    return HIT, first, divide(w, length)
                return HIT, first, neg(d)
    return best, t, n


@kernel
def enter_halfspace(p: Vec3, d: Vec3, n: Vec3, thin: bool, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into the half-space n . x <= 0.

    If ``thin``, it is the entry into the plane n . x == 0.
    """
    if thin and dot(n, p) < 0.0:
        n = neg(n)
    above, speed = dot(n, p), -dot(n, d)
    if above <= slack:
        return INSIDE, 0.0, neg(d)
    if speed > 0.0:
        return HIT, above / speed, n
    return MISS, inf, d


@kernel
def clip(height: float, speed: float, limit: float, enter: float, leave: float) -> tuple[float, float, bool]:
    """Return the ends of the part of an interval with height + t speed <= limit, and whether the lower end was raised.

    ``enter`` and ``leave`` are the ends of the interval of t. If no t qualifies, the lower end exceeds the upper.
    """
    if speed < 0.0:
        t = (limit - height) / speed
        if t > enter:
            return t, leave, True
    elif speed > 0.0:
        return enter, min(leave, (limit - height) / speed), False
    elif height > limit:
        return inf, -inf, False
    return enter, leave, False


@kernel
def settled(enter: float, leave: float, n: Vec3, d: Vec3, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of a ray that is inside a body for t from ``enter`` to ``leave``.

    The ray begins at t = 0 and has the direction d. ``n`` is the normal at ``enter``. If ``enter`` exceeds ``leave`` by
    at most ``slack``, the rounding error, the ray still hits.
    """
    if enter > leave + slack or leave < 0.0:
        return MISS, inf, d
    if enter <= 0.0:
        return INSIDE, 0.0, neg(d)
    return HIT, enter, n


@kernel
def enter_box(p: Vec3, d: Vec3, f: Array, o: int, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into the box with half extents f[o:o+3]."""
    enter, leave = -inf, inf
    n = neg(d)
    for k in range(3):
        for side in range(2):
            s = 1.0 - 2.0 * side
            enter, leave, new = clip(s * p[k], s * d[k], f[o + k], enter, leave)
            if new:
                n = (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)
    return settled(enter, leave, n, d, slack)


@kernel
def enter_planes(p: Vec3, d: Vec3, planes: Array, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into an intersection of half-spaces n . x <= limit.

    A row of ``planes`` is n, then the limit.
    """
    enter, leave = -inf, inf
    best = -1
    for k in range(planes.shape[0]):
        height = planes[k, 0] * p[0] + planes[k, 1] * p[1] + planes[k, 2] * p[2]
        speed = planes[k, 0] * d[0] + planes[k, 1] * d[1] + planes[k, 2] * d[2]
        if speed == 0.0:
            if height > planes[k, 3]:
                enter, leave = inf, -inf
            continue
        # as in `clip`; the crossing direction is unpredictable, so both ends are computed without a branch
        t = (planes[k, 3] - height) / speed
        first, last = (t if speed < 0.0 else -inf), (t if speed > 0.0 else inf)
        best = k if first > enter else best
        enter = first if first > enter else enter
        leave = last if last < leave else leave
    n = neg(d)
    if best >= 0:
        n = row3(planes, best)
    if leave < enter <= leave + _OBLIQUE * slack and _passes(p, d, planes, slack):
        enter = leave
    return settled(enter, leave, n, d, slack)


@kernel
def _passes(p: Vec3, d: Vec3, planes: Array, slack: float) -> bool:
    """Return whether the ray p + t d passes through an intersection of half-spaces that is extended by ``slack``."""
    enter, leave = -inf, inf
    for k in range(planes.shape[0]):
        height, speed = dot(row3(planes, k), p), dot(row3(planes, k), d)
        enter, leave, _ = clip(height, speed, planes[k, 3] + slack, enter, leave)
    return enter <= leave


@kernel
def enter_cylinder(p: Vec3, d: Vec3, radius: float, half: float, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into the cylinder along z, centred at the origin."""
    enter, leave = -inf, inf
    n = neg(d)
    for side in range(2):
        s = 1.0 - 2.0 * side
        enter, leave, new = clip(s * p[2], s * d[2], half, enter, leave)
        if new:
            n = (0.0, 0.0, s)
    square = d[0] * d[0] + d[1] * d[1]
    if square > 0.0:
        near = -(p[0] * d[0] + p[1] * d[1]) / square
        x, y = p[0] + near * d[0], p[1] + near * d[1]
        # from the point nearest to the axis, because the quadratic formula cancels for far origins
        off = sqrt(x * x + y * y)
        if off > radius + slack:
            return MISS, inf, d
        reach = sqrt(max((radius - off) * (radius + off), 0.0) / square)
        leave = min(leave, near + reach)
        if near - reach > enter:
            enter = near - reach
            x, y = p[0] + enter * d[0], p[1] + enter * d[1]
            off = sqrt(x * x + y * y)
            n = (x / off, y / off, 0.0)
    elif sqrt(p[0] * p[0] + p[1] * p[1]) > radius:
        return MISS, inf, d
    return settled(enter, leave, n, d, slack)


@kernel
def enter_cone(p: Vec3, d: Vec3, radius: float, half: float, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into a cone along z.

    Its apex is at z = half, and its base at z = -half.
    """
    k = radius / (2.0 * half)
    w = half - p[2]  # depth below the apex
    off = sqrt(p[0] * p[0] + p[1] * p[1])
    if 0.0 <= w <= 2.0 * half and off <= k * w:
        return INSIDE, 0.0, neg(d)
    best, t, n = MISS, inf, d
    if d[2] > 0.0 and p[2] < -half:
        first = (-half - p[2]) / d[2]
        x, y = p[0] + first * d[0], p[1] + first * d[1]
        if sqrt(x * x + y * y) <= radius + slack:
            best, t, n = HIT, first, (0.0, 0.0, -1.0)
    # x^2 + y^2 = k^2 w^2, from the ray's point nearest to the apex
    q = (p[0], p[1], p[2] - half)
    near = -dot(q, d)
    q = along(q, d, near)
    a = d[0] * d[0] + d[1] * d[1] - k * k * d[2] * d[2]
    b = q[0] * d[0] + q[1] * d[1] - k * k * q[2] * d[2]
    c = q[0] * q[0] + q[1] * q[1] - k * k * q[2] * q[2]
    disc, passing = b * b - a * c, sqrt(dot(q, q))
    if disc < 0.0 and disc > -4.0 * slack * (1.0 + k * k) * (passing + slack):
        disc = 0.0
    # the ray enters the double cone at the root whose normal faces it
    h = -b - sqrt(max(disc, 0.0)) if b > 0.0 else -b + sqrt(max(disc, 0.0))
    over, under = (h, a) if b > 0.0 or h == 0.0 else (c, h)
    if disc >= 0.0 and under != 0.0:
        s = over / under
        z = q[2] + s * d[2]
        if -slack <= near + s < t and -2.0 * half - slack <= z <= slack:
            x, y = q[0] + s * d[0], q[1] + s * d[1]
            normal = (x, y, -k * k * z)
            length = sqrt(dot(normal, normal))
            best, t = HIT, max(near + s, 0.0)
            n = divide(normal, length) if length > slack else neg(d)
            if dot(n, d) > _GRAZING:  # near the apex, which has many normals
                n = neg(d)
    elif passing <= slack and 0.0 <= near < t:
        best, t, n = HIT, near, neg(d)
    return best, t, n


@kernel
def enter_ellipsoid(p: Vec3, d: Vec3, f: Array, o: int, slack: float) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into the ellipsoid with radii f[o:o+3].

    Scaling makes the ellipsoid a unit ball.
    """
    least = min(f[o], f[o + 1], f[o + 2])
    q = (p[0] / f[o], p[1] / f[o + 1], p[2] / f[o + 2])
    e = (d[0] / f[o], d[1] / f[o + 1], d[2] / f[o + 2])
    length = sqrt(dot(e, e))
    code, t, n = enter_ball(q, divide(e, length), 1.0, slack / least)
    if code != HIT:
        return code, t, neg(d)
    n = (n[0] / f[o], n[1] / f[o + 1], n[2] / f[o + 2])
    size = sqrt(dot(n, n))
    return HIT, t / length, divide(n, size)


@kernel
def enter(q: Ints, f: Array, planes: Array, p: Vec3, d: Vec3) -> Entry:
    """Return the entry (code, distance, normal) of the ray p + t d into a packed shape with integers q and floats f.

    The code is GENERAL if the core of the shape lacks a closed form. ``planes`` are the planes of a hull's faces. A
    half-space is stored as a point of its surface and one row of ``planes``, which is its normal and offset. A plane
    has two such rows.
    """
    kind, radius = q[_KIND], f[_RADIUS]
    slack = _SLACK * (sqrt(dot(p, p)) + f[_RHO] + radius)
    if kind == _POINT and planes.shape[0] > 0:
        more = slack + _SLACK * abs(planes[0, 3])
        return enter_halfspace(p, d, row3(planes, plain(0)), planes.shape[0] > 1, more)
    if kind == _POINT:
        return enter_ball(p, d, radius, slack)
    if kind == _SEGMENT:
        return enter_capsule(p, d, (f[_HEAD], f[_HEAD + 1], f[_HEAD + 2]), radius, slack)
    if radius > 0.0:  # with a radius, only points and segments have a closed form
        return GENERAL, inf, d
    if kind == _BOX:
        return enter_box(p, d, f, _HEAD, slack)
    if kind == _HULL and planes.shape[0] > 0:
        return enter_planes(p, d, planes, slack)
    if kind == _CYLINDER:
        return enter_cylinder(p, d, f[_HEAD], f[_HEAD + 1], slack)
    if kind == _CONE:
        return enter_cone(p, d, f[_HEAD], f[_HEAD + 1], slack)
    if kind == _ELLIPSOID:
        return enter_ellipsoid(p, d, f, _HEAD, slack)
    return GENERAL, inf, d


@kernel
def cast(q: Ints, f: Array, planes: Array, pose: Array, origin: Vec3, direction: Vec3, most: float) -> Entry:
    """Return the entry (code, distance, normal) of a ray into a shape at a pose row, in world coordinates.

    A hit beyond the distance ``most`` is a miss.
    """
    p = sub(turn_back(pose, sub(origin, offset(pose))), (f[_CENTER], f[_CENTER + 1], f[_CENTER + 2]))
    code, t, n = enter(q, f, planes, p, turn_back(pose, direction))
    if code == HIT and t > most:
        code, t = MISS, inf
    return code, t, turn(pose, n)


class RayCore(NamedTuple):
    """A packed shape and its planes, see `enter`."""

    ints: Ints1
    floats: Array1
    planes: Array2


@single_entry
def rays(
    shape: RayCore, poses: Array2, origins: Array2, directions: Array2, most: float, start: int, stop: int,
    out: Array2, codes: Ints1,
) -> None:  # fmt: skip
    """Write the codes of rays start to stop to ``codes``, and distances and normals in world coordinates to ``out``.

    A code is MISS, HIT, INSIDE, or GENERAL for a shape without a closed form. Rows with the code GENERAL do not contain
    a result.
    """
    for k in range(start, stop):
        origin = row3(origins, k if origins.shape[0] > 1 else 0)
        direction = row3(directions, k if directions.shape[0] > 1 else 0)
        pose = poses[k if poses.shape[0] > 1 else 0]
        codes[k], out[k, 0], n = cast(shape.ints, shape.floats, shape.planes, pose, origin, direction, most)
        out[k, 1], out[k, 2], out[k, 3] = n


@kernel
def write_ray(entry: Entry, origin: Vec3, d: Vec3, out: Array, k: int) -> None:
    """Write the distance, normal, point, unit direction and origin of a ray to row k of ``out``.

    After a miss the distance is inf, and the normal and the point are NaN.
    """
    code, t, n = entry
    far = t
    if code == MISS:
        t, far, n = inf, nan, (nan, nan, nan)
    out[k, 0] = t
    out[k, 1], out[k, 2], out[k, 3] = n
    out[k, 4], out[k, 5], out[k, 6] = along(origin, d, far)
    out[k, 7], out[k, 8], out[k, 9] = d
    out[k, 10], out[k, 11], out[k, 12] = origin


@kernel
def unit_of(direction: Vec3) -> tuple[Vec3, bool]:
    """Return the unit vector of a direction, and whether the direction is zero."""
    largest = max(abs(direction[0]), abs(direction[1]), abs(direction[2]))
    if largest == 0.0:
        return direction, True
    d = divide(direction, largest)
    return divide(d, sqrt(dot(d, d))), False


@inlined
def is_ray(origin: Vec3, direction: Vec3) -> bool:
    """Return whether all numbers of a ray are finite, and the coordinates of its origin are at most `GREATEST`."""
    x, y, z = origin
    near = abs(x) <= GREATEST and abs(y) <= GREATEST and abs(z) <= GREATEST
    return bool(near and dot(direction, (0.0, 0.0, 0.0)) == 0.0)


@single_entry
def ray_once(
    q: Ints1, f: Array1, planes: Array1, m: Array2, origin: Vec3, direction: Vec3, most: float, out: Array2
) -> int:
    """Write the result of one ray to row 0 of ``out``, see `write_ray`. Row 1 is scratch for the pose.

    Returns MISS, HIT, INSIDE or GENERAL, or -1 if the matrix ``m`` or the ray is invalid. ``planes`` is a flat array of
    four numbers per plane. A two-dimensional array with many rows would count as a batch, which waits until the kernels
    are compiled.
    """
    if not is_ray(origin, direction):
        return -1
    d, is_zero = unit_of(direction)
    if is_zero or check_row(m, out, plain(1)) != 0:
        return -1
    entry = cast(q, f, planes.reshape(planes.shape[0] // 4, 4), out[1], origin, d, most)
    write_ray(entry, origin, d, out, plain(0))
    return entry[0]
