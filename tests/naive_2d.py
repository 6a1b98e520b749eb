"""GJK in two dimensions, step by step as in the documents, so that tests can compare their iterates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import Any


def _farthest(points: Sequence[Sequence[Any]], d: Sequence[Any]) -> tuple[Any, Any]:
    best = max(range(len(points)), key=lambda k: (points[k][0] * d[0] + points[k][1] * d[1], -k))
    return points[best][0], points[best][1]


def support_2d(a: Any, b: Any, d: Any) -> tuple[Any, Any]:
    """Return the point of A - B farthest along d, the first of equals."""
    p, q = _farthest(a, d), _farthest(b, (-d[0], -d[1]))
    return p[0] - q[0], p[1] - q[1]


def _towards(edge: Any, to: Any) -> tuple[Any, Any]:
    """Return the vector triple product (edge x to) x edge: perpendicular to the edge, on the side of ``to``."""
    z = edge[0] * to[1] - edge[1] * to[0]
    return -z * edge[1], z * edge[0]


def gjk_boolean_2d(a: Any, b: Any, d: Any) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether two polygons of integers or fractions overlap or touch, and all steps of the loop."""
    simplex = [support_2d(a, b, d)]
    steps = [{"d": d, "w": simplex[0]}]
    d = (-d[0], -d[1])
    while True:
        w = support_2d(a, b, d)
        progress = w[0] * d[0] + w[1] * d[1]
        step: dict[str, Any] = {"d": d, "w": w, "projection": progress}
        steps.append(step)
        if progress < 0:
            return False, steps
        to = (-w[0], -w[1])
        if len(simplex) == 1:
            edge = (simplex[0][0] - w[0], simplex[0][1] - w[1])
            simplex.append(w)
            d = _towards(edge, to)
            if d == (0, 0):  # the origin is on the edge
                return True, steps
            continue
        c, b_ = simplex
        ab, ac = (b_[0] - w[0], b_[1] - w[1]), (c[0] - w[0], c[1] - w[1])
        perps = [_reduced(_away(ab, ac)), _reduced(_away(ac, ab))]
        sides = [p[0] * to[0] + p[1] * to[1] for p in perps]
        step["ab.ao"], step["ac.ao"] = sides
        if sides[0] > 0:
            simplex, d = [b_, w], _towards(ab, to)
        elif sides[1] > 0:
            simplex, d = [c, w], _towards(ac, to)
        else:
            step["simplex"] = [c, b_, w]
            return True, steps
        step["dropped"] = c if sides[0] > 0 else b_


def _away(edge: Any, other: Any) -> tuple[Any, Any]:
    """Return the perpendicular of the edge that points away from the triangle's third corner."""
    x, y = _towards(edge, other)
    return -x, -y


def _reduced(v: Any) -> tuple[Any, Any]:
    """Divide a vector by the common factor of its coordinates, as the documents do."""
    scale = gcd(int(v[0]), int(v[1])) if all(int(x) == x for x in v) else 1
    return v[0] / Fraction(scale), v[1] / Fraction(scale)


def _nearest_2d(p: Any, q: Any) -> tuple[Any, Any]:
    edge = (q[0] - p[0], q[1] - p[1])
    length2 = edge[0] ** 2 + edge[1] ** 2
    t = -(p[0] * edge[0] + p[1] * edge[1]) / length2 if length2 else Fraction(0)
    t = min(max(t, Fraction(0)), Fraction(1))
    return p[0] + t * edge[0], p[1] + t * edge[1]


def gjk_distance_2d(a: Any, b: Any, d: Any, limit: int = 100) -> tuple[Any, list[dict[str, Any]]]:
    """Return the point of A - B nearest to the origin for separated polygons or None if endless, and all steps."""
    a, b = ([tuple(Fraction(x) for x in p) for p in polygon] for polygon in (a, b))
    p, q = support_2d(a, b, d), support_2d(a, b, (-d[0], -d[1]))
    steps: list[dict[str, Any]] = [{"simplex": [p, q]}]
    d = tuple(-x for x in _nearest_2d(p, q))
    for _ in range(limit):
        c = support_2d(a, b, d)
        progress = (c[0] - p[0]) * d[0] + (c[1] - p[1]) * d[1]
        steps.append({"d": d, "c": c, "difference": progress, "simplex": [p, q]})
        if progress <= 0:
            return (-d[0], -d[1]), steps
        near_p, near_q = _nearest_2d(p, c), _nearest_2d(c, q)
        if near_p[0] ** 2 + near_p[1] ** 2 < near_q[0] ** 2 + near_q[1] ** 2:
            q, d = c, (-near_p[0], -near_p[1])
        else:
            p, d = c, (-near_q[0], -near_q[1])
    return None, steps
