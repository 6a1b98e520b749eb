"""A translation that frees two bodies, found in a few looks: no two faces that meet push farther than that.

It is tried from what pairs of parts that meet know, the deepest one's own way and that of all together, and counts only
where nothing meets after it. How deep the two are it bounds from above, as `gjk3d.bodies.depth` does with more effort.
"""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.partings import shifted
from gjk3d.bodies.pushes import Met, vec_at
from gjk3d.bodies.traversal import crossings
from gjk3d.bodies.walk import APART, HELD, Bench, Two, held, meet
from gjk3d.geometry.vec3 import Vec3, add, dot, scale
from gjk3d.typing import Ints

_LOOKS, _CLOSE_LOOKS = 10, 5  #: along one direction, and of these the ones that go on by little
_LITTLE, _MUCH = 1.2, 2.0  #: times as far as before


@kernel
def _is_free(x: Two, meshes: bool, room: Ints, w: Bench) -> bool:
    """Tell whether two do not meet; what is in doubt does."""
    if not meshes:
        return bool(meet(x, 0.0, w) == APART)
    a, b = x.a, x.b
    count = crossings(x.m, x.error, a.boxes, a.links, a.places, b.boxes, b.links, b.places, w.stack, room)
    return bool(count == 0 and held(x, w) != HELD)


@kernel
def freeing(x: Two, meshes: bool, f: Met, start: int, stop: int, most: float, room: Ints, w: Bench) -> float:
    """Return how far B is moved to be free of A by the shortest of a few translations; at most ``most``.

    ``room`` is that of one pair of parts.
    """
    deepest, best, all_of = -inf, start, (0.0, 0.0, 0.0)
    for j in range(start, stop):
        own = -f.out[j, 0]
        all_of = add(all_of, scale(max(own, 0.0), vec_at(f.out[j], 3)))
        if own > deepest:
            best, deepest = j, own
    error = 4.0 * x.error
    least, far = max(-f.out[best, 2], 0.0), max(-f.out[best, 1], 0.0) + error
    if far >= most:
        return most
    w.last[0] = -1
    if _is_free(shifted(x, scale(far, vec_at(f.out[best], 3))), meshes, room, w):
        return far  # no shorter one parts these two
    length = sqrt(dot(all_of, all_of))
    if length > 0.0:
        most = _freed_along(x, scale(1.0 / length, all_of), meshes, (max(least, error), most), room, w)
    return most


@kernel
def _freed_along(
    x: Two, way: Vec3, meshes: bool, limits: tuple[float, float], room: Ints, w: Bench
) -> float:  # fmt: skip
    """Return how far along a direction the two are free, the upper limit where that is not seen below it."""
    t, most = limits
    for k in range(_LOOKS):
        if not t < most:
            break
        if _is_free(shifted(x, scale(t, way)), meshes, room, w):
            return t
        t *= _LITTLE if k < _CLOSE_LOOKS else _MUCH
    return most
