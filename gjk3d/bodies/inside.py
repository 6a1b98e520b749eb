"""Whether points lie inside a closed mesh: how often a ray from them leaves it, less how often it enters.

A ray that passes an edge or corner too closely to tell is cast again another way. Where no way is clear, the solid
angle that the triangles fill decides, which needs no luck (Jacobson et al., generalized winding numbers, 2013).
"""

from __future__ import annotations

from math import atan2, pi, sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.triangles import read
from gjk3d.geometry.vec3 import Vec3, cross, dot, sub
from gjk3d.typing import Array, Ints

_UNCLEAR = -(2**40)
_TRIES = 6


@kernel
def _leavings(p: Vec3, d: Vec3, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints) -> int:
    """Count how often a ray leaves the surface less how often it enters, or say that it is unclear."""
    count = 0
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        x, y, z = p[0] - boxes[i, 0], p[1] - boxes[i, 1], p[2] - boxes[i, 2]
        near, far = 0.0, 1e308
        for k in range(3):
            a, b, c = boxes[i, 6 + 3 * k], boxes[i, 7 + 3 * k], boxes[i, 8 + 3 * k]
            o, s = a * x + b * y + c * z, a * d[0] + b * d[1] + c * d[2]
            half = boxes[i, 3 + k] + noise
            if abs(s) < 1e-12:
                if abs(o) > half:
                    far = -1.0
            else:
                t0, t1 = (-half - o) / s, (half - o) / s
                near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
        if near > far * (1.0 + 1e-12) + noise:
            continue
        if links[i, 0] >= 0:
            stack[top, 0] = links[i, 0]
            stack[top + 1, 0] = links[i, 0] + 1
            top += 2
            continue
        for k in range(links[i, 1], links[i, 1] + links[i, 2]):
            t = read(corners, k)
            a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
            u, v, w = dot(d, cross(b, c)), dot(d, cross(c, a)), dot(d, cross(a, b))
            # each is twice a triangle's area across the ray: off by less than noise times its edges
            long = noise * (sqrt(dot(a, a)) + sqrt(dot(b, b)) + sqrt(dot(c, c)))
            if min(u, v, w) < -long and max(u, v, w) > long:
                continue
            if min(u, v, w) <= long and max(u, v, w) >= -long:
                return _UNCLEAR
            n = cross(sub(b, a), sub(c, a))
            height = dot(n, a)
            ahead = height / (u + v + w)
            if abs(height) <= noise * sqrt(dot(n, n)):
                return _UNCLEAR
            if ahead > 0.0:
                count += 1 if u + v + w > 0.0 else -1
    return count


@kernel
def winding(p: Vec3, corners: Array) -> float:
    """Return how many times the triangles wind about p (van Oosterom, Strackee, 1983)."""
    total = 0.0
    for k in range(corners.shape[0]):
        t = read(corners, k)
        a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
        la, lb, lc = sqrt(dot(a, a)), sqrt(dot(b, b)), sqrt(dot(c, c))
        total += atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    return total / (2.0 * pi)


@kernel
def inside(points: Array, boxes: Array, links: Ints, corners: Array, noise: float, stack: Ints, answer: Ints) -> None:
    """Write for each point whether it lies inside the closed surface."""
    for k in range(points.shape[0]):
        p = (points[k, 0], points[k, 1], points[k, 2])
        count = _UNCLEAR
        for way in range(_TRIES):
            # directions on no likely plane of symmetry
            x, y, z = 0.5361 + 0.217 * way, 0.3719 - 0.311 * way, 0.7577 - 0.173 * way * way
            n = sqrt(x * x + y * y + z * z)
            count = _leavings(p, (x / n, y / n, z / n), boxes, links, corners, noise, stack)
            if count != _UNCLEAR:
                break
        if count == _UNCLEAR:
            answer[k] = int(abs(winding(p, corners)) > 0.5)
        else:
            answer[k] = int(count != 0)
