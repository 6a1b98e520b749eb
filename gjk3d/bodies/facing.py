"""Which parts that are apart face each other: none of a solid lies between, and no other part is nearer."""

from __future__ import annotations

from math import inf

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.meetings import NEARLY
from gjk3d.bodies.part_tree import PartTree, nodes_apart
from gjk3d.bodies.partings import outward_at
from gjk3d.bodies.pushes import LEVEL, Met, vec_at
from gjk3d.bodies.walk import Bench, Two, parts_at
from gjk3d.geometry.vec3 import Rigid, Vec3, dot, offset, sub, turn, turn_back
from gjk3d.narrow.solve import UNSIGNED, solve
from gjk3d.poses import ROUNDING

_ONLY = 0


@kernel
def face_each_other(x: Two, f: Met, j: int) -> bool:
    """Tell whether a pair of faces is apart, and has none of either solid between them."""
    n = vec_at(f.out[j], 3)
    ours, theirs = outward_at(f.outward_a, f.pairs[j, 0]), turn(x.m, outward_at(f.outward_b, f.pairs[j, 1]))
    away_a, away_b = not f.pushes_a or dot(ours, n) >= -LEVEL, not f.pushes_b or dot(theirs, n) <= LEVEL
    return bool(f.out[j, 1] > 0.0 and away_a and away_b)


@kernel
def _nearest(parts: PartTree, point: PartTree, p: Vec3, within: float, w: Bench) -> float:
    """Return how far a point is from the nearest of some parts, infinite beyond a distance; ``point`` is the origin."""
    to: Rigid = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, p[0], p[1], p[2])
    error = ROUNDING * (parts.reach + max(abs(p[0]), max(abs(p[1]), abs(p[2]))))
    x, best = Two(parts, point, to, error), inf
    stack = w.stack
    stack[0, 0] = 0
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if nodes_apart(to, parts, i, point, _ONLY, min(best, within) + error):
            continue
        if parts.links[i, 0] >= 0:
            stack[top, 0], stack[top + 1, 0] = parts.links[i, 0], parts.links[i, 0] + 1
            top += 2
            continue
        for k in range(parts.links[i, 1], parts.links[i, 1] + parts.links[i, 2]):
            solve(parts_at(x, k, _ONLY, w), UNSIGNED, inf, 0.0, w.room, w.room.simplex[:0], w.out, w.flags, _ONLY)
            best = min(best, w.out[0, 0])
    return best


@kernel
def keep_mutual(x: Two, point: PartTree, f: Met, count: int, w: Bench) -> int:
    """Leave of the pairs chosen those that touch, or are apart with no part nearer to the point of either."""
    far, kept = 0.0, 0
    for i in range(count):
        if f.out[f.some[i], 1] > 0.0:
            far = max(far, f.out[f.some[i], 0])
    for i in range(count):
        j = f.some[i]
        if f.out[j, 1] > 0.0:
            least = f.out[j, 0] * (1.0 - NEARLY) - 4.0 * x.error
            own = turn_back(x.m, sub(vec_at(f.out[j], 6), offset(x.m)))
            if _nearest(x.a, point, vec_at(f.out[j], 9), far, w) < least or _nearest(x.b, point, own, far, w) < least:
                continue
        f.some[kept] = j
        kept += 1
    return kept
