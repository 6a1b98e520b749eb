"""A translation that frees two bodies, found in a few looks: no two faces that meet push farther than that.

It is tried from what pairs of parts that meet know, the deepest one's own way and that of all together, and counts only
where nothing meets after it. How deep the two are it bounds from above, as `gjk3d.bodies.depth` does with more effort.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.part_tree import PartTree
from gjk3d.bodies.partings import shifted
from gjk3d.bodies.pushes import Met, vec_at
from gjk3d.bodies.traversal import crossings
from gjk3d.bodies.walk import APART, HELD, Bench, Two, held, meet, parts_at
from gjk3d.geometry.vec3 import Vec3, add, dot, scale, turn_back
from gjk3d.narrow.cores import support_pair
from gjk3d.narrow.solve import SIGNED, solve
from gjk3d.typing import Ints

_LOOKS, _CLOSE_LOOKS = 10, 5  #: along one direction, and of these the ones that go on by little
_LITTLE, _MUCH = 1.2, 2.0  #: times as far as before
_NEARLY = 1.01  #: times as far as the shortest is near enough
_ONLY = 0


class Outer(NamedTuple):
    """What is known to part two bodies: their convex hulls, or a translation so long."""

    a: PartTree
    b: PartTree
    of_hulls: bool  #: whether their ways out are tried
    known: bool  #: whether the translation is, so that none is looked for
    most: float


@kernel
def _is_free(x: Two, by: Vec3, meshes: bool, room: Ints, w: Bench) -> bool:
    """Tell whether two do not meet once B is moved; what is in doubt does."""
    there, a, b = shifted(x, by), x.a, x.b
    if not meshes:
        return bool(meet(there, 0.0, w) == APART)
    count = crossings(there.m, there.error, a.boxes, a.links, a.places, b.boxes, b.links, b.places, w.stack, room)
    return bool(count == 0 and held(there, w) != HELD)


@kernel
def _past_hulls(x: Two, outer: Outer, way: Vec3, near: float, w: Bench) -> float:
    """Return how far B is moved to be free of A's hull by the shortest way; a given one is it where that is so near."""
    if not outer.of_hulls:
        return outer.most
    c = parts_at(Two(outer.a, outer.b, x.m, x.error), _ONLY, _ONLY, w)
    way = turn_back(c.pose, way)
    reach, _, _ = support_pair(c, way)
    # off by the error of a support point, and of the poses that place the two and move one of them
    far = float(max(dot(way, reach) + c.radii, 0.0) + c.error + 4.0 * x.error)
    if far <= near:
        return far
    solve(c, SIGNED, inf, 0.0, w.room, w.room.simplex[:0], w.out, w.flags, _ONLY)
    return float(max(-w.out[0, 1], 0.0) + 4.0 * x.error)


@kernel
def freeing(x: Two, meshes: bool, f: Met, start: int, stop: int, outer: Outer, room: Ints, w: Bench) -> float:
    """Return how far B is moved to be free of A by the shortest of a few translations.

    ``room`` is that of one pair of parts.
    """
    deepest, best, all_of = -inf, start, (0.0, 0.0, 0.0)
    for j in range(start, stop):
        own = -f.out[j, 0]
        all_of = add(all_of, scale(max(own, 0.0), vec_at(f.out[j], 3)))
        if own > deepest:
            best, deepest = j, own
    least, far = float(max(-f.out[best, 2], 0.0)), float(max(-f.out[best, 1], 0.0) + 4.0 * x.error)
    way = vec_at(f.out[best], 3)  # what is free there is tested, so the errors in ``far`` bound nothing
    most = _past_hulls(x, outer, way, far + 8.0 * x.error, w)
    if most <= far * _NEARLY:
        return most
    w.last[0] = -1
    if _is_free(x, scale(far, way), meshes, room, w):
        return min(far, most)  # no shorter one parts these two
    # t is only where the search begins, and each place is tested
    length, t = sqrt(dot(all_of, all_of)), max(least, 4.0 * x.error)
    if not length > 0.0:
        return most
    for k in range(_LOOKS):
        t *= _LITTLE if k < _CLOSE_LOOKS else _MUCH
        if not t < most:
            break
        if _is_free(x, scale(t / length, all_of), meshes, room, w):
            return t
    return most
