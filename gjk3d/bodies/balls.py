"""Two balls about one point, each inside of one of two closed meshes: the meshes are as deep as both radii together.

For B to be free its ball must leave A's. The point climbs from one that both hold along the sum of the directions away
from both surfaces. The sum of the distances has ridges, where it goes on along the mean of the directions on either
side, as bundle methods do (Lemaréchal, Nondifferentiable optimization, 1989, 3).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.raycast import is_inside
from gjk3d.bodies.traversal import to_point
from gjk3d.geometry.vec3 import Rigid, Vec3, add, along, dot, offset, scale, sub, turn, turn_back
from gjk3d.typing import Array, Array1, Array2, Ints, Ints2

_STEPS = 40
_ENOUGH = 1e-3  #: length of a step that ends the climb, in units of the sum
_SHORTER = 0.6


class Work(NamedTuple):
    """Room for a walk down a tree."""

    stack: Ints
    keys: Array


class Skin(NamedTuple):
    """The tree of a closed surface."""

    boxes: Array
    links: Ints
    corners: Array


class Balls(NamedTuple):
    """The radii of both balls about one point, negative where it is not inside, and the way along which they grow."""

    a: float
    b: float
    way: Vec3


@kernel
def _room(p: Vec3, s: Skin, noise: float, from_held: float, held: float, work: Work) -> tuple[float, Vec3]:
    """Return how far a point is inside of a closed surface, negative where it is not, and the direction inwards.

    Where it is from another point that is held, and how deep that is: balls that overlap lie on the same side.
    """
    square, _, foot = to_point(p, 1e150, s.boxes, s.links, s.corners, work.stack, work.keys)
    d = sqrt(square)
    same = from_held + 8.0 * noise < held + d
    if d > 4.0 * noise and not same and not is_inside(p, s.boxes, s.links, s.corners, noise, work.stack):
        return -d, (0.0, 0.0, 0.0)
    f = 1.0 / d if d > 4.0 * noise else 0.0
    return d, (f * (p[0] - foot[0]), f * (p[1] - foot[1]), f * (p[2] - foot[2]))


@kernel
def _both(m: Rigid, p: Vec3, noise: float, a: Skin, b: Skin, from_held: float, held: Balls, work: Work) -> Balls:
    """Return the balls about a point of A's frame, that far from one whose balls are known."""
    own, way = _room(p, a, noise, from_held, held.a, work)
    if own < 0.0:
        return Balls(own, 0.0, way)
    other, back = _room(turn_back(m, sub(p, offset(m))), b, noise, from_held, held.b, work)
    return Balls(own, other, add(way, turn(m, back)) if other >= 0.0 else back)


@entry
def climb(
    m: Rigid, noise: float, ba: Array2, la: Ints2, ca: Array2, bb: Array2, lb: Ints2, cb: Array2, stack: Ints2,
    keys: Array1, place: Array1,
) -> float:  # fmt: skip
    """Return the greatest sum of both radii found, 0 where ``place`` is not in both; ``place`` becomes the middle."""
    a, b, p, work = Skin(ba, la, ca), Skin(bb, lb, cb), (place[0], place[1], place[2]), Work(stack, keys)
    held = _both(m, p, noise, a, b, inf, Balls(0.0, 0.0, p), work)
    if min(held.a, held.b) < 0.0:
        return 0.0
    way, step = held.way, held.a + held.b
    for _ in range(_STEPS):
        length = sqrt(dot(way, way))
        if not (length > _ENOUGH and step > _ENOUGH * (held.a + held.b)):
            break
        q = along(p, way, step / length)
        there = _both(m, q, noise, a, b, step, held, work)
        if min(there.a, there.b) >= 0.0 and there.a + there.b > held.a + held.b:
            p, way, held = q, there.way, there
            continue
        step *= _SHORTER
        way = add(scale(1.0 / length, way), there.way)
    place[0], place[1], place[2] = p
    return held.a + held.b
