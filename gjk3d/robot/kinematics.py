"""Kinematics: compiled poses of links and velocities of their points, over plain arrays with one row per link.

Links are numbered so that parents come first. A joint connects link ``i`` to link ``parent[i]`` (-1: the world). It has
an ``origin``, a (4, 4) transform in the parent, and then a motion by its ``kind`` about or along its unit ``axis``. The
first number of the joint is ``multiplier[i] * q[source[i]] + offset[i]``. ``source`` is the column of the joint itself
or of the joint that it mimics. Planar and floating joints also use the next columns.
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
#: how many of them are lengths, which come before the angles
LENGTHS = (0, 0, 1, 2, 3)
#: the largest angle of `small_turn`, up to which multiples of the 33 bits of a quarter turn are exact
LARGE_ANGLE = 1e5
#: adding and subtracting it rounds a number to an integer
_TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52
_QUARTERS = 0.6366197723675814  # 2 / pi
_QUARTER, _QUARTER_REST = 1.57079632673412561417, 6.07710050650619224932e-11  # pi / 2: 33 bits, and the next 53


class Chain(NamedTuple):
    """The links and joints of a robot as arrays, which the docstring of this module describes."""

    parent: Ints1
    kind: Ints1
    axis: Array2
    origin: Array3
    source: Ints1
    multiplier: Array1
    offset: Array1


@kernel
def plane_axes(n: Vec3) -> tuple[Vec3, Vec3]:
    """Return the axes x and y, rotated by the smallest rotation from z to n. The result for n = -z is x and -y."""
    if n[2] <= -1.0 + 1e-12:  # the smallest rotation is not unique at -z: use the half turn about x
        return (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    a = 1.0 / (1.0 + n[2])
    b = -n[0] * n[1] * a
    return (1.0 - n[0] * n[0] * a, b, -n[0]), (b, 1.0 - n[1] * n[1] * a, -n[1])


@inlined
def small_turn(x: float) -> tuple[float, float]:
    """Return the sine and the cosine of an angle up to `LARGE_ANGLE`, each within 2^-52.

    The polynomials are those of FDLIBM (Sun Microsystems, 1993), valid up to pi / 4.
    """
    # The code does not branch, so that a compiler can vectorise it. It does not call the system's library, so that an
    # angle has the same sine on all machines.
    # Cody and Waite: k quarter turns are subtracted in two parts, so that y keeps its low bits
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
    """Write the rotation about a unit axis into m (Rodrigues), with translation zero."""
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
    """Write the transform of one joint into m, (4, 4). ``kind`` is `FIXED` to `FLOATING`, ``value`` the first number.

    The further numbers of a planar or floating joint begin at q[column + 1].
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
    """Write the product a b of two rigid transforms into out, which may be a."""
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
    """Write the pose of every link at one configuration (dof,) into out (links, 4, 4); scratch is (4, 4)."""
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
    """Write the result of `link_poses` for n configurations (n, dof) into (n, links, 4, 4)."""
    for k in range(q.shape[0]):
        link_poses(chain, q[k], scratch, out[k])


@kernel
def along(q0: Array, q1: Array, t: float, q: Array) -> None:
    """Write the configuration at t on the line from q0 (t = 0) to q1 (t = 1) into q. Both ends are exact."""
    for j in range(q.shape[0]):
        q[j] = (1.0 - t) * q0[j] + t * q1[j]


@kernel
def rotated(m: Array, a: Vec3) -> Vec3:
    """Return vector a rotated by the pose m, (4, 4), without its translation."""
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
    """Add ``factor`` times axis x arm to a column of ``out``, and the axis to its last three rows if it has six."""
    _add(out, column, factor, cross(axis, arm))
    if out.shape[0] == 6:
        _add(out[3:], column, factor, axis)


@kernel
def _turning_rate(w: Vec3, k: int) -> Vec3:
    """Return the derivative of the rotation with rotation vector w by w[k], as an angular velocity.

    It is column k of 1 + (1 - cos t) / t^2 [w] + (t - sin t) / t^3 [w]^2, t = |w| (left Jacobian of SO(3), Chirikjian
    2012).
    """
    t = sqrt(dot(w, w))
    if t < 1e-2:  # a series, since the closed forms cancel. Its next terms are below 1e-16 of the sums.
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
    """Add the derivative of a point of a link with respect to q to out (3, dof), in world axes.

    With six rows, ``out`` also gets the angular velocities of the link. The point is in world coordinates. ``poses``
    (links, 4, 4) are the link poses at ``q``. Scratch is (4, 4).
    """
    axis, parent = chain.axis, chain.parent
    i = link
    # Only joints between the link and the root move the point. Columns are added to, since a mimic shares the column
    # of the joint that it follows.
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
    """Write the Jacobians of points (n, 3) in the frame of a link at n configurations into (n, 3 or 6, dof)."""
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
    """Write the gradient of a distance (dof,), and the Jacobians of the two points, (2, 3, dof).

    ``answer`` is a row of `solve`. ``link_a`` and ``link_b`` are the links of its two points, negative for the world.
    ``poses`` (links, 4, 4) are the link poses at ``q``. Scratch is (4, 4).
    """
    # The nearest points move on their shapes too, but to first order that does not change the distance (envelope
    # theorem). They are therefore treated as fixed to their links.
    out[:] = 0.0
    motions[:, :, :] = 0.0
    for side in range(2):
        link = link_a if side == 0 else link_b
        if link < 0:
            continue
        m, c = poses[link], 6 + 3 * side
        x, y, z = answer[c] - m[0, 3], answer[c + 1] - m[1, 3], answer[c + 2] - m[2, 3]
        # into the frame of the link and back, so that the bits are those of `many_point_jacobians`
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
    """Write the gradients of distances into ``out`` (rows, dof).

    A gradient is the normal times the difference of two Jacobians: that of the second point minus that of the first.
    ``answers`` are rows of `solve`. ``of`` has the configuration of each row; sorted configurations are fastest.
    ``links`` (rows, 2) are the links of the two points, negative for a point of the world. With ``every`` the Jacobians
    are written to ``moved`` (rows, 2, 3, dof). Otherwise ``moved`` is scratch (1, 2, 3, dof).
    """
    at = -1
    for k in range(links.shape[0]):
        a, b = links[k, 0], links[k, 1]
        if of[k] != at and (a >= 0 or b >= 0):
            at = of[k]
            link_poses(chain, q[at], scratch, poses)
        gradient_at(chain, q[of[k]], poses, a, b, answers[k], scratch, moved[k if every else 0], out[k])
