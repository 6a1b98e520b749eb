"""Two balls about one point, each inside of one of two closed meshes: the meshes are as deep as both radii together.

For B to be free its ball must leave A's. The point climbs from one that both hold along the sum of the directions away
from both surfaces. The sum of the distances has ridges, where it goes on along the mean of the directions on either
side, as bundle methods do (Lemaréchal, Nondifferentiable optimization, 1989, 3).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.raycast import is_inside
from gjk3d.bodies.traversal import to_point
from gjk3d.geometry.vec3 import Rigid, Vec3, dot, offset, sub, turn, turn_back
from gjk3d.typing import Array, Array1, Array2, Ints, Ints2

_STEPS = 40
_ENOUGH = 1e-3  #: length of a step that ends the climb, in units of the sum
_SHORTER = 0.6


class Skin(NamedTuple):
    """The tree of a closed surface."""

    boxes: Array
    links: Ints
    corners: Array


@kernel
def _room(p: Vec3, s: Skin, noise: float, stack: Ints, keys: Array) -> tuple[float, Vec3]:
    """Return how far a point is inside of a closed surface, negative where it is not, and the direction inwards."""
    square, _, foot = to_point(p, 1e150, s.boxes, s.links, s.corners, stack, keys)
    d = sqrt(square)
    if d > 4.0 * noise and not is_inside(p, s.boxes, s.links, s.corners, noise, stack):
        return -d, (0.0, 0.0, 0.0)
    f = 1.0 / d if d > 4.0 * noise else 0.0
    return d, (f * (p[0] - foot[0]), f * (p[1] - foot[1]), f * (p[2] - foot[2]))


@kernel
def _both(m: Rigid, p: Vec3, noise: float, a: Skin, b: Skin, stack: Ints, keys: Array) -> tuple[float, Vec3]:
    """Return the sum of both radii about a point of A's frame, negative where not both hold it, and where it grows."""
    own, way = _room(p, a, noise, stack, keys)
    if own < 0.0:
        return own, way
    other, back = _room(turn_back(m, sub(p, offset(m))), b, noise, stack, keys)
    if other < 0.0:
        return other, back
    back = turn(m, back)
    return own + other, (way[0] + back[0], way[1] + back[1], way[2] + back[2])


@entry
def climb(
    m: Rigid, noise: float, ba: Array2, la: Ints2, ca: Array2, bb: Array2, lb: Ints2, cb: Array2, stack: Ints2,
    keys: Array1, place: Array1,
) -> float:  # fmt: skip
    """Return the greatest sum of both radii found, 0 where ``place`` is not in both; ``place`` becomes the middle."""
    a, b, p = Skin(ba, la, ca), Skin(bb, lb, cb), (place[0], place[1], place[2])
    best, way = _both(m, p, noise, a, b, stack, keys)
    step = best
    for _ in range(_STEPS):
        length = sqrt(dot(way, way))
        if not (length > _ENOUGH and step > _ENOUGH * best):
            break
        f = step / length
        q = (p[0] + f * way[0], p[1] + f * way[1], p[2] + f * way[2])
        found, there = _both(m, q, noise, a, b, stack, keys)
        if found > best:
            best, p, way = found, q, there
            continue
        step *= _SHORTER
        way = (way[0] / length + there[0], way[1] / length + there[1], way[2] / length + there[2])
    place[0], place[1], place[2] = p
    return max(best, 0.0)
