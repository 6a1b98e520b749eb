"""How a triangle is cut in pieces that are easier to bound: along a plane, or in halves."""

from __future__ import annotations

from math import sqrt

from gjk3d._kernels.decorators import inlined, kernel
from gjk3d.bodies.triangles import Triangle, read
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3, cross, dot, sub
from gjk3d.typing import Array

POOL = 14  #: floats of a triangle that waits, of the plane that it is to be cut along, and how deep its middle is
DEEP = 13
PIECES = 3  #: that a triangle is cut into, at most
_SLIVER = 0.02  #: least part of a triangle's radius that a plane cuts off
_FINER = 0.25  #: size of a face that is crossed, in units of the triangle's, that is worth to be cut along

Plane = tuple[float, float, float, float]  #: a unit normal and how far along it; zeros for none
NO_PLANE = (0.0, 0.0, 0.0, 0.0)


@inlined
def middle(t: Triangle) -> tuple[Vec3, float]:
    """Return the middle of a triangle, and how far its corners are from it."""
    f = 1.0 / 3.0
    c = (
        f * (t[0][0] + t[1][0] + t[2][0]), f * (t[0][1] + t[1][1] + t[2][1]), f * (t[0][2] + t[1][2] + t[2][2]),
    )  # fmt: skip
    x, y, z = sub(t[0], c), sub(t[1], c), sub(t[2], c)
    return c, sqrt(max(dot(x, x), dot(y, y), dot(z, z)))


@inlined
def _plane_of(t: Triangle) -> Plane:
    """Return the plane of a triangle, zeros where it has none."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    length = sqrt(dot(n, n))
    if not length > NO_LENGTH:
        return NO_PLANE
    x, y, z = n[0] / length, n[1] / length, n[2] / length
    return x, y, z, x * t[0][0] + y * t[0][1] + z * t[0][2]


@kernel
def outside_of(face: Triangle, t: Triangle, c: Vec3, radius: float, d: float, noise: float) -> Plane:
    """Return the plane of a face that a triangle crosses, a little outwards; d is negative where c is outside.

    Zeros where the face is much smaller than the triangle.
    """
    _, size = middle(face)
    x, y, z, far = _plane_of(face)
    if size < _FINER * radius:
        return NO_PLANE
    # where a triangle is cut bounds nothing: the noise keeps the cut off the face, where pieces would touch it
    above = x * c[0] + y * c[1] + z * c[2] > far
    return x, y, z, far + (4.0 * noise if above == (d < 0.0) else -4.0 * noise)


@kernel
def between(one: Triangle, other: Triangle, p: Vec3, q: Vec3) -> Plane:
    """Return the plane that halves the angle of two faces' planes, those that look to p and to q; zeros for none."""
    x, y, z, far = _plane_of(one)
    u, v, w, off = _plane_of(other)
    if x * p[0] + y * p[1] + z * p[2] < far:
        x, y, z, far = -x, -y, -z, -far
    if u * q[0] + v * q[1] + w * q[2] < off:
        u, v, w, off = -u, -v, -w, -off
    x, y, z, far = x - u, y - v, z - w, far - off
    length = sqrt(x * x + y * y + z * z)
    if not length > 1e-6:
        return NO_PLANE
    return x / length, y / length, z / length, far / length


@inlined
def _over(p: Vec3, plane: Plane) -> float:
    return plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] - plane[3]


@inlined
def cuts(t: Triangle, plane: Plane, radius: float, noise: float) -> bool:
    """Tell whether a plane leaves some of a triangle on either side."""
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    return bool(min(max(x, y, z), -min(x, y, z)) > max(16.0 * noise, _SLIVER * radius))


@kernel
def _halve(t: Triangle) -> tuple[Triangle, Triangle]:
    """Cut a triangle at the middle of its longest edge."""
    best, k = -1.0, 0
    for i in range(3):
        e = sub(t[(i + 1) % 3], t[i])
        if dot(e, e) > best:
            best, k = dot(e, e), i
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    half = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    return (a, half, c), (half, b, c)


@inlined
def write(t: Triangle, pool: Array, row: int) -> None:
    """Write the corners of a triangle into a row."""
    for k in range(3):
        pool[row, k], pool[row, 3 + k], pool[row, 6 + k] = t[0][k], t[1][k], t[2][k]


@inlined
def _crossing(a: Vec3, b: Vec3, x: float, y: float) -> Vec3:
    """Return where an edge is whose ends are x above and y below a plane, or the other way round."""
    f = x / (x - y)
    return a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])


@kernel
def cut(pool: Array, item: int, row: int) -> int:
    """Cut a triangle along its plane, or in halves; write the pieces from a row on, and return how many there are."""
    t = read(pool, item)
    plane = (pool[item, 9], pool[item, 10], pool[item, 11], pool[item, 12])
    if plane[0] == 0.0 and plane[1] == 0.0 and plane[2] == 0.0:
        one, two = _halve(t)
        write(one, pool, row)
        write(two, pool, row + 1)
        return 2
    x, y, z = _over(t[0], plane), _over(t[1], plane), _over(t[2], plane)
    k = 0 if (y > 0.0) == (z > 0.0) else (1 if (x > 0.0) == (z > 0.0) else 2)  # the corner that is alone on its side
    if k == 1:
        x, y, z = y, z, x
    elif k == 2:
        x, y, z = z, x, y
    a, b, c = t[k], t[(k + 1) % 3], t[(k + 2) % 3]
    p, q = _crossing(a, b, x, y), _crossing(a, c, x, z)
    write((a, p, q), pool, row)
    write((p, b, c), pool, row + 1)
    write((p, c, q), pool, row + 2)
    return PIECES
