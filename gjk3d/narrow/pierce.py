"""Where a ray from the origin leaves EPA's polytope: the witness points of an overlap."""

from __future__ import annotations

from math import inf

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, cross, dot, neg, perpendicular, row3
from gjk3d.narrow.polytope import Polytope


@kernel
def seen_along(p: Polytope, f: int, e1: Vec3, e2: Vec3) -> Vec3:
    """Return the areas that the origin's image spans with the edges of a face seen along e1 x e2, edge opposite each.

    All are positive where the ray pierces the face from inside; this much cancels nothing.
    """
    a, b, c = row3(p.v, p.fi[f, 0]), row3(p.v, p.fi[f, 1]), row3(p.v, p.fi[f, 2])
    ax, ay, bx, by, cx, cy = dot(e1, a), dot(e2, a), dot(e1, b), dot(e2, b), dot(e1, c), dot(e2, c)
    return (bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx)


@kernel
def pierced(p: Polytope, faces: int, likely: int, n: Vec3, row: int) -> float:
    """Put the face hit by the ray from the origin along n into the simplex from a row on; return the ray's length.

    The witness points of an overlap: a convex combination of points of A - B that lies on n to the last bit, whatever
    stopped the loop. The face is ``likely``, else it is searched for.
    """
    s = p.simplex
    e1 = perpendicular(n)
    e2 = cross(n, e1)
    chosen = likely
    u = seen_along(p, likely, e1, e2)
    if not min(u[0], u[1], u[2]) > 0.0:
        chosen = -1
        best = -inf
        for f in range(faces):
            if p.fi[f, 6] != 1:
                continue
            w = seen_along(p, f, e1, e2)
            total = w[0] + w[1] + w[2]
            if total > 0.0:
                worst = min(w[0], w[1], w[2]) / total
                if worst > best:
                    best = worst
                    chosen = f
                    u = (max(w[0], 0.0), max(w[1], 0.0), max(w[2], 0.0))
        if chosen < 0:  # never seen; some point of the polytope all the same
            chosen = 0
            while p.fi[chosen, 6] != 1:
                chosen += 1
            u = (1.0, 0.0, 0.0)
    total = u[0] + u[1] + u[2]
    s[row, 9], s[row + 1, 9], s[row + 2, 9] = u[0] / total, u[1] / total, u[2] / total
    length = 0.0
    for i in range(3):
        for j in range(9):
            s[row + i, j] = p.v[p.fi[chosen, i], j]
        length += s[row + i, 9] * dot(n, row3(p.v, p.fi[chosen, i]))
    return length


@kernel
def reach_both_ways(p: Polytope, faces: int, chosen: int, n: Vec3, both: bool) -> tuple[float, float]:
    """Return how far the polytope reaches from an origin inside along n, and along -n where ``both`` are asked for."""
    if p.fi[chosen, 6] != 1:  # the last step removed it, and left its own faces
        chosen = faces - 1
    front, back = 0.0, 0.0
    for side in range(2 if both else 1):
        if side == 0:
            front = pierced(p, faces, chosen, n, 3 * side)
        else:
            back = pierced(p, faces, chosen, neg(n), 3 * side)
    return front, back
