"""How deep two triangles that cross are in each other, by the facets of their Minkowski difference.

These are both sides of either triangle, and the pairs of edges of which each looks away from the other triangle's rest.
Where edges are nearly parallel, or the nearest points are not those of these features, GJK and EPA answer.
"""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel
from gjk3d.bodies.facets import CLEAR_CUT, DEEP, OPEN, SURELY, WIDTH, Facet, put_deep
from gjk3d.bodies.triangles import Triangle, normal_of, place, read
from gjk3d.bodies.walk import Two
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, neg, scale, sub
from gjk3d.typing import Array, Ints


@kernel
def _over(p: Vec3, t: Triangle, n: Vec3) -> bool:
    """Tell whether a point of a triangle's plane lies in the triangle."""
    for k in range(3):
        q, r = t[k], t[(k + 1) % 3]
        if dot(cross(n, sub(r, q)), sub(p, q)) < 0.0:
            return False
    return True


@kernel
def _past_sides(flat: Triangle, other: Triangle, n: Vec3, turned: bool, found: Facet) -> Facet:
    """Try both sides of a triangle with unit normal n, which is the second of the two if these are turned."""
    x, y, z = dot(n, sub(other[0], flat[0])), dot(n, sub(other[1], flat[0])), dot(n, sub(other[2], flat[0]))
    low, high = min(x, y, z), max(x, y, z)
    gap = max(low, -high)
    if not gap > found.gap:
        return found
    end, way = (low, n) if low >= -high else (high, neg(n))
    corner = other[0] if x == end else other[1] if y == end else other[2]
    foot = along(corner, way, -gap)
    sure = _over(foot, flat, n)
    return Facet(gap, neg(way), corner, foot, sure) if turned else Facet(gap, way, foot, corner, sure)


@kernel
def _past_edges(s: Triangle, t: Triangle, found: Facet) -> Facet:
    """Try the pairs of edges."""
    for i in range(3):
        p, e = s[i], sub(s[(i + 1) % 3], s[i])
        third = sub(s[(i + 2) % 3], p)
        for j in range(3):
            q, f = t[j], sub(t[(j + 1) % 3], t[j])
            d = cross(e, f)
            d = neg(d) if dot(d, third) > 0.0 else d
            square, rise = dot(d, d), dot(d, sub(q, p))
            if (rise < 0.0) & (rise * rise > SURELY * (found.gap * found.gap) * square):
                continue  # no gap as wide, and no root needed to tell
            if dot(d, sub(t[(j + 2) % 3], q)) < 0.0 or not square > 0.0:
                continue
            far = sqrt(square)
            gap = rise / far
            if not gap > found.gap:
                continue
            if square < CLEAR_CUT * CLEAR_CUT * dot(e, e) * dot(f, f):
                return Facet(found.gap, found.normal, found.a, found.b, False)
            way = scale(1.0 / far, d)
            across = cross(f, way)
            r = dot(across, sub(q, p)) / dot(across, e)
            a = along(p, e, r)
            b = along(a, way, gap)
            u = dot(sub(b, q), f) / dot(f, f)
            found = Facet(gap, way, a, b, min(r, u) >= 0.0 and max(r, u) <= 1.0)
    return found


@kernel
def crossed(x: Two, p: int, q: int, out: Array, flags: Ints, row: int) -> int:
    """Answer how deep triangle p of A and q of B are: DEEP with its answer in a row, or OPEN."""
    s, t, clear = read(x.a.places, p), place(x.m, x.b.places, q), WIDTH * x.error
    n, m = normal_of(s), normal_of(t)
    if dot(n, n) == 0.0 or dot(m, m) == 0.0:
        return OPEN
    found = _past_sides(s, t, n, False, Facet(-inf, n, s[0], s[0], False))
    found = _past_sides(t, s, m, True, found)
    if found.gap > -clear:
        return OPEN
    found = _past_edges(s, t, found)
    if found.gap > -clear or not found.sure:
        return OPEN
    put_deep(found.normal, along(found.b, found.normal, -found.gap), found.b, found.gap, clear, out, flags, row)
    return DEEP
