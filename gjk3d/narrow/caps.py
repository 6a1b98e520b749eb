"""Caps of directions round a summit in which a curved difference is proven to be as deep; see `gjk3d.narrow.summit`.

A polytope of chords cannot show the last digits of a curved depth: its faces are inside. A cap shows them at once, and
EPA has to do the rest of the directions only.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import kernel
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, perpendicular, row3, sub
from gjk3d.narrow.summit import FIRST, Summit
from gjk3d.typing import Array

#: radians, of a cap; up to the widest 2 / (1 + cos) is at most 1 + angle^2 / 3, and 0.9 of the least of 2 / that is
_LEAST_ANGLE, _WIDEST, _RISE = 0.02, 1.2, 1.2


class Cap(NamedTuple):
    """Directions round n, no farther from it than an angle, in which h is at least ``floor``.

    There, with unit n' at the angle t from n, h(n') >= sum l_j h_j(n') for any weights l of the branches h_j. With
    those of the summit the points alone give depth cos t. A branch adds to its point's share at least half of its
    second derivative at n times sin(t)^2, less by the factor 1 / (1 + sharp t): |D n'| - D n.D n' / |D n| is the square
    of what is across, by |D n'| + D n.D n' / |D n|, and |D n'| <= |D n| (1 + sharp t). Across an edge or in a face
    other weights let h grow with sin t itself, by the distance of the combination from the edge's ends or the face's
    rim.
    """

    n: Vec3
    floor: float
    cosine: float  #: of the angle, 2 where there is no cap


@kernel
def cap_round(s: Array, summit: Summit) -> Cap:
    """Return the cap of directions round a summit inside A - B in which no other is less deep; see `Cap`."""
    count, n, v, bend = summit
    x = perpendicular(n)
    y = cross(n, x)
    depth = dot(v, n)
    off = along(v, n, -depth)
    rest = sqrt(dot(off, off))
    nowhere = Cap(n, depth, 2.0)
    if not depth > 0.0:
        return nowhere
    curve, angle, floor, slope = 0.0, 1.0 if count == 3 else _WIDEST, depth, inf
    if count == 1:
        half = 0.5 * (bend.xx - bend.yy)
        curve = 0.5 * (bend.xx + bend.yy) - sqrt(half * half + bend.xy * bend.xy)
    elif count == 2:
        e = sub(row3(s, FIRST), row3(s, FIRST + 1))
        ex, ey = dot(e, x), dot(e, y)
        length = sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        across = bend.xx * ey * ey - 2.0 * bend.xy * ex * ey + bend.yy * ex * ex
        skew = abs(ex * ey * (bend.yy - bend.xx) + bend.xy * (ex * ex - ey * ey))
        if not across > depth:
            return nowhere
        share = 0.5 * (1.0 - depth / across)
        curve = (1.0 - share) * across
        # as the bend, never negative, turns away from the edge, what it gives falls to 0 at this sine at the latest
        sine = (sqrt(skew * skew + across * across) - skew) / across
        slope = share * min(s[FIRST, 9], s[FIRST + 1, 9]) * length
        angle = min(angle, _RISE * slope * sine / depth)
        slope /= across + 2.0 * skew
        floor -= abs(dot(e, n))
    else:
        margin = rim_of(s, x, y) - rest
        floor -= max(abs(dot(sub(row3(s, FIRST), v), n)), abs(dot(sub(row3(s, FIRST + 1), v), n)))
        floor -= abs(dot(sub(row3(s, FIRST + 2), v), n))
        angle = min(angle, 1.8 * margin / depth)  # tan(angle / 2) is less than 1.1 times half of it
    for _ in range(12):
        spare = 0.0 if count == 3 else curve / (1.0 + bend.sharp * angle) - depth * (1.0 + angle * angle / 3.0)
        if count == 3 or spare >= 1e-3 * curve:
            break
        angle *= 0.7
    if angle < _LEAST_ANGLE:
        return nowhere
    if count < 3:
        if not (spare > 0.0 and rest <= 0.025 * slope * spare):
            return nowhere
        floor -= rest * rest / spare
    square = 0.98 * angle * angle
    return Cap(n, floor, 1.0 - square * (0.5 - square / 24.0))


@kernel
def rim_of(s: Array, x: Vec3, y: Vec3) -> float:
    """Return how far the combination of three rows is from the edges of their triangle, seen along x and y."""
    w0, w1, w2 = row3(s, FIRST), row3(s, FIRST + 1), row3(s, FIRST + 2)
    x0, y0, x1, y1, x2, y2 = dot(w0, x), dot(w0, y), dot(w1, x), dot(w1, y), dot(w2, x), dot(w2, y)
    area = abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0))
    least = inf
    for i in range(3):
        px, py = (x1 - x2, x2 - x0, x0 - x1)[i], (y1 - y2, y2 - y0, y0 - y1)[i]
        least = min(least, s[FIRST + i, 9] * area / sqrt(px * px + py * py))
    return least


@kernel
def in_cap(cap: Cap, normal: Vec3, key: float) -> bool:
    """Tell whether a face can show less than the cap's floor in directions of the cap only.

    Where the ray along n meets the face at t, t n.normal >= key: so t is less than the floor only where n is nearer to
    the face's normal than the angle whose cosine is key / floor.
    """
    a, b = min(dot(normal, cap.n), 1.0), min(key / cap.floor, 1.0)
    return a > 0.0 and a * b - sqrt((1.0 - a * a) * (1.0 - b * b)) >= cap.cosine
