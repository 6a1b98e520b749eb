"""Kinematics: compiled poses of links and velocities of their points, over plain arrays with one row per link.

Links are numbered so that parents come first. Joint i connects link i to link ``parent[i]``, or to the world if
``parent[i]`` is -1. The pose of link i in the frame of its parent is ``origin[i]``, a (4, 4) transform, times the
motion of the joint. ``kind[i]`` is the type of the motion, and ``axis[i]`` its unit vector. The first value of the
joint is ``multiplier[i] * q[source[i]] + offset[i]``. ``source[i]`` is the first column of the joint in q, or the
column of the joint that it mimics. Planar and floating joints also use the next columns.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, unit
from gjk3d.typing import Array, Array1, Array2, Array3, Array4, Ints1, Ints2

FIXED, TURNING, SLIDING, PLANAR, FLOATING = range(5)
#: the number of columns of q for a joint of each kind
NUMBERS = (0, 1, 1, 3, 6)
#: the number of these columns that are lengths; the lengths come before the angles
LENGTHS = (0, 0, 1, 2, 3)
#: greatest angle for `small_turn`, in radians; up to it the multiples of `_QUARTER`, which has 33 bits, are exact
LARGE_ANGLE = 1e5
#: a number is rounded to an integer by adding and then subtracting this constant
_TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52
_QUARTERS = 0.6366197723675814  # 2 / pi
_QUARTER, _QUARTER_REST = 1.57079632673412561417, 6.07710050650619224932e-11  # pi / 2: 33 bits, and the next 53


class Chain(NamedTuple):
    """The links and joints of a robot as arrays (see the docstring of this module)."""

    parent: Ints1
    kind: Ints1
    axis: Array2
    origin: Array3
    source: Ints1
    multiplier: Array1
    offset: Array1


@kernel
def plane_axes(n: Vec3) -> tuple[Vec3, Vec3]:
    """Return the axes x and y after the smallest rotation that maps z to n. For n = -z the result is x and -y."""
    if n[2] <= -1.0 + 1e-12:  # the smallest rotation is not unique at -z: use the half turn about x
        return (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    a = 1.0 / (1.0 + n[2])
    b = -n[0] * n[1] * a
    return (1.0 - n[0] * n[0] * a, b, -n[0]), (b, 1.0 - n[1] * n[1] * a, -n[1])


@inlined
def small_turn(x: float) -> tuple[float, float]:
    """Return the sine and the cosine of an angle up to `LARGE_ANGLE`, each with an error of at most 2^-52.

    The polynomials are taken from FDLIBM (Sun Microsystems, 1993). They are valid up to pi / 4.
    """
    # The code does not branch, so that a compiler can vectorise it. It does not call the system's library, so that the
    # sine of an angle is the same on all machines.
    # Reduction of Cody and Waite: k quarter turns are subtracted in two parts, so that y keeps its low bits.
    k = (x * _QUARTERS + _TO_INTEGER) - _TO_INTEGER
    y = (x - k * _QUARTER) - k * _QUARTER_REST
    z = y * y
    a = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)
    a = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * a))
    a = y + y * z * a
    b = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11)
    b = -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * b)
    b = 1.0 - 0.5 * z + z * z * (4.16666666666666019037e-02 + z * b)
    f = k * 0.25
    f -= (f + _TO_INTEGER) - _TO_INTEGER  # which quarter: 0, 1/4, 1/2 or -1/2, -1/4
    odd, half = abs(f) == 0.25, abs(f) == 0.5
    s, c = b if odd else a, a if odd else b
    return -s if half or f == -0.25 else s, -c if half or f == 0.25 else c


@kernel
def sine_cosine(x: float) -> tuple[float, float]:
    """Return the sine and the cosine of an angle."""
    return small_turn(x) if abs(x) <= LARGE_ANGLE else (sin(x), cos(x))


@kernel
def _turn(m: Array, axis: Vec3, angle: float) -> None:
    """Write the rotation about a unit axis (Rodrigues' formula) to m (4, 4), with translation zero."""
    x, y, z = axis
    s, c = sine_cosine(angle)
    t = 1.0 - c
    m[0, 0], m[0, 1], m[0, 2] = c + t * x * x, t * x * y - s * z, t * x * z + s * y
    m[1, 0], m[1, 1], m[1, 2] = t * x * y + s * z, c + t * y * y, t * y * z - s * x
    m[2, 0], m[2, 1], m[2, 2] = t * x * z - s * y, t * y * z + s * x, c + t * z * z
    for i in range(3):
        if abs(axis[i]) == 1.0:
            m[i, i] = 1.0  # exact, while c + t is rounded
    m[0, 3] = m[1, 3] = m[2, 3] = m[3, 0] = m[3, 1] = m[3, 2] = 0.0
    m[3, 3] = 1.0


@kernel
def move(m: Array, kind: int, axis: Vec3, q: Array, column: int, value: float) -> None:
    """Write the motion of one joint to m (4, 4). ``value`` is the first value of the joint.

    ``kind`` is `FIXED`, `TURNING`, `SLIDING`, `PLANAR` or `FLOATING`. The further values of a planar or floating joint
    are q[column + 1] and the next columns.
    """
    if kind == 1:
        _turn(m, axis, value)
    elif kind == 3:
        u, v = plane_axes(axis)
        y = q[column + 1]
        _turn(m, axis, q[column + 2])
        m[0, 3], m[1, 3], m[2, 3] = value * u[0] + y * v[0], value * u[1] + y * v[1], value * u[2] + y * v[2]
    elif kind == 4:
        w = (q[column + 3], q[column + 4], q[column + 5])
        _turn(m, unit(w), sqrt(dot(w, w)))
        m[0, 3], m[1, 3], m[2, 3] = value, q[column + 1], q[column + 2]
    else:
        _turn(m, axis, 0.0)
        if kind == 2:
            m[0, 3], m[1, 3], m[2, 3] = value * axis[0], value * axis[1], value * axis[2]


@kernel
def product(a: Array, b: Array, out: Array) -> None:
    """Write the product a b of two rigid transforms (4, 4) to ``out``, which may be the array a."""
    for i in range(3):  # a row of a is read before the same row of out is written
        x, y, z, w = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        out[i, 0] = x * b[0, 0] + y * b[1, 0] + z * b[2, 0]
        out[i, 1] = x * b[0, 1] + y * b[1, 1] + z * b[2, 1]
        out[i, 2] = x * b[0, 2] + y * b[1, 2] + z * b[2, 2]
        out[i, 3] = x * b[0, 3] + y * b[1, 3] + z * b[2, 3] + w
    out[3, 0] = out[3, 1] = out[3, 2] = 0.0
    out[3, 3] = 1.0


@kernel
def link_poses(chain: Chain, q: Array, scratch: Array, out: Array) -> None:
    """Write the poses of all links at the configuration q (dof,) to ``out`` (links, 4, 4). ``scratch`` is (4, 4)."""
    parent, origin, axis = chain.parent, chain.origin, chain.axis
    for i in range(parent.shape[0]):
        m = out[i]
        if parent[i] >= 0:
            product(out[parent[i]], origin[i], m)
        else:
            for r in range(4):
                for c in range(4):
                    m[r, c] = origin[i, r, c]
        if chain.kind[i] != 0:
            k = chain.source[i]
            value = chain.multiplier[i] * q[k] + chain.offset[i]
            move(scratch, chain.kind[i], (axis[i, 0], axis[i, 1], axis[i, 2]), q, k, value)
            product(m, scratch, m)


@entry
def many_link_poses(
    chain: Chain, q: Array2, scratch: Array2, out: Array4,
) -> None:  # fmt: skip
    """Write the poses of all links at the configurations q (n, dof) to ``out`` (n, links, 4, 4)."""
    for k in range(q.shape[0]):
        link_poses(chain, q[k], scratch, out[k])


@kernel
def along(q0: Array, q1: Array, t: float, q: Array) -> None:
    """Write to q the configuration at t on the line from q0 (t = 0) to q1 (t = 1). Both ends are exact."""
    for j in range(q.shape[0]):
        q[j] = (1.0 - t) * q0[j] + t * q1[j]


@kernel
def rotated(m: Array, a: Vec3) -> Vec3:
    """Return the vector a rotated by the rotation of the pose m (4, 4)."""
    return (
        m[0, 0] * a[0] + m[0, 1] * a[1] + m[0, 2] * a[2],
        m[1, 0] * a[0] + m[1, 1] * a[1] + m[1, 2] * a[2],
        m[2, 0] * a[0] + m[2, 1] * a[1] + m[2, 2] * a[2],
    )


@kernel
def _add(out: Array, column: int, factor: float, v: Vec3) -> None:
    out[0, column] += factor * v[0]
    out[1, column] += factor * v[1]
    out[2, column] += factor * v[2]


@kernel
def _add_turn(out: Array, column: int, factor: float, axis: Vec3, arm: Vec3) -> None:
    """Add ``factor`` times the cross product of axis and arm to the first three rows of a column of ``out``.

    If ``out`` has six rows, ``factor`` times the axis is added to the last three rows of the column.
    """
    _add(out, column, factor, cross(axis, arm))
    if out.shape[0] == 6:
        _add(out[3:], column, factor, axis)


@kernel
def _turning_rate(w: Vec3, k: int) -> Vec3:
    """Return the derivative with respect to w[k] of the rotation with rotation vector w, as an angular velocity.

    The derivative is column k of the left Jacobian of SO(3) (Chirikjian 2012), which is
    1 + (1 - cos t) / t^2 [w] + (t - sin t) / t^3 [w]^2 with t = |w| and the matrix [w] of the cross product with w.
    """
    t = sqrt(dot(w, w))
    if t < 1e-2:  # a series, since the closed forms cancel; its next terms are below 1e-16 of the sums
        s = t * t
        a = 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s / 40320.0))
        b = 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0))
    else:
        half = sin(0.5 * t)
        a = 2.0 * half * half / (t * t)
        b = (t - sin(t)) / (t * t * t)
    e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    c = cross(w, e)
    d = cross(w, c)
    return (e[0] + a * c[0] + b * d[0], e[1] + a * c[1] + b * d[1], e[2] + a * c[2] + b * d[2])


@kernel
def _point_jacobian(chain: Chain, q: Array, poses: Array, link: int, point: Vec3, scratch: Array, out: Array) -> None:
    """Add the Jacobian of a point of a link, in world axes, to the first three rows of ``out`` (3 or 6, dof).

    If ``out`` has six rows, the Jacobian of the angular velocity of the link is added to the last three rows. ``point``
    is in world coordinates. ``poses`` (links, 4, 4) contains the link poses at ``q``. ``scratch`` is (4, 4).
    """
    axis, parent = chain.axis, chain.parent
    i = link
    # Only joints between the link and the root move the point. Several joints may add to one column, since a mimic
    # joint shares the column of the joint that it follows.
    while i >= 0:
        what = chain.kind[i]
        if what != 0:
            pose, column, rate = poses[i], chain.source[i], chain.multiplier[i]
            along = rotated(pose, (axis[i, 0], axis[i, 1], axis[i, 2]))
            arm = (point[0] - pose[0, 3], point[1] - pose[1, 3], point[2] - pose[2, 3])
            if what == 1:
                _add_turn(out, column, rate, along, arm)
            elif what == 2:
                _add(out, column, rate, along)
            else:
                base = chain.origin[i]
                if parent[i] >= 0:
                    product(poses[parent[i]], chain.origin[i], scratch)
                    base = scratch
                if what == 3:
                    u, v = plane_axes((axis[i, 0], axis[i, 1], axis[i, 2]))
                    _add(out, column, 1.0, rotated(base, u))
                    _add(out, column + 1, 1.0, rotated(base, v))
                    _add_turn(out, column + 2, 1.0, along, arm)
                else:
                    w = (q[column + 3], q[column + 4], q[column + 5])
                    for k in range(3):
                        _add(out, column + k, 1.0, (base[0, k], base[1, k], base[2, k]))
                        _add_turn(out, column + 3 + k, 1.0, rotated(base, _turning_rate(w, k)), arm)
        i = parent[i]


@entry
def many_point_jacobians(
    chain: Chain, q: Array2, link: int, points: Array2, scratch: Array2, poses: Array3, out: Array3,
) -> None:  # fmt: skip
    """Write the Jacobians of the points (n, 3) of a link at the configurations q (n, dof) to ``out`` (n, 3 or 6, dof).

    The last three of six rows are the Jacobian of the link's angular velocity. Points are in the frame of the link.
    ``scratch`` (4, 4) and ``poses`` (links, 4, 4) are scratch memory.
    """
    for k in range(q.shape[0]):
        link_poses(chain, q[k], scratch, poses)
        out[k, :, :] = 0.0
        m = poses[link]
        p = rotated(m, (points[k, 0], points[k, 1], points[k, 2]))
        p = (p[0] + m[0, 3], p[1] + m[1, 3], p[2] + m[2, 3])
        _point_jacobian(chain, q[k], poses, link, p, scratch, out[k])


@kernel
def gradient_at(
    chain: Chain, q: Array, poses: Array, link_a: int, link_b: int, answer: Array, scratch: Array, motions: Array,
    out: Array,
) -> None:  # fmt: skip
    """Write the gradient of a distance to ``out`` (dof,), and the nearest points' Jacobians to ``motions`` (2, 3, dof).

    ``answer`` is the distance's row of results of `narrow.solve`. ``link_a`` and ``link_b`` are the links of the two
    points, negative for the world. ``poses`` (links, 4, 4) contains the link poses at ``q``. ``scratch`` is (4, 4).
    """
    # The nearest points also move on their shapes, but to first order this motion does not change the distance
    # (envelope theorem). The points are therefore treated as fixed to their links.
    out[:] = 0.0
    motions[:, :, :] = 0.0
    for side in range(2):
        link = link_a if side == 0 else link_b
        if link < 0:
            continue
        m, c = poses[link], 6 + 3 * side
        x, y, z = answer[c] - m[0, 3], answer[c + 1] - m[1, 3], answer[c + 2] - m[2, 3]
        # to the frame of the link and back, so that all bits are the same as in `many_point_jacobians`
        p = rotated(m, (
            m[0, 0] * x + m[1, 0] * y + m[2, 0] * z, m[0, 1] * x + m[1, 1] * y + m[2, 1] * z,
            m[0, 2] * x + m[1, 2] * y + m[2, 2] * z,
        ))  # fmt: skip
        p = (p[0] + m[0, 3], p[1] + m[1, 3], p[2] + m[2, 3])
        _point_jacobian(chain, q, poses, link, p, scratch, motions[side])
        sign = -1.0 if side == 0 else 1.0
        for j in range(q.shape[0]):
            rate = answer[3] * motions[side, 0, j] + answer[4] * motions[side, 1, j]
            out[j] += sign * (rate + answer[5] * motions[side, 2, j])


@entry
def distance_gradients(
    chain: Chain, q: Array2, of: Ints1, links: Ints2, answers: Array2, scratch: Array2, poses: Array3, every: bool,
    moved: Array4, out: Array2,
) -> None:  # fmt: skip
    """Write the gradients of distances to ``out`` (rows, dof).

    A gradient is the normal times a difference of Jacobians: the Jacobian of the second point minus the Jacobian of the
    first point. ``answers`` contains the rows of results of `narrow.solve`. ``of`` (rows,) contains the index of the
    configuration of each row. Sorted indices are fastest. ``links`` (rows, 2) contains the links of the two points,
    negative for a point of the world. With ``every`` the Jacobians are written to ``moved`` (rows, 2, 3, dof).
    Otherwise ``moved`` is scratch memory (1, 2, 3, dof).
    """
    at = -1
    for k in range(links.shape[0]):
        a, b = links[k, 0], links[k, 1]
        if of[k] != at and (a >= 0 or b >= 0):
            at = of[k]
            link_poses(chain, q[at], scratch, poses)
        gradient_at(chain, q[of[k]], poses, a, b, answers[k], scratch, moved[k if every else 0], out[k])
