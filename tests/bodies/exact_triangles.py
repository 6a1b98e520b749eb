"""Slow reference implementations of triangle queries, exact or by brute force, which share no code with gjk3d."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

Vec = tuple[Fraction, Fraction, Fraction]


def vec(p: object) -> Vec:
    x, y, z = (Fraction(float(c)) for c in p)  # type: ignore[attr-defined]
    return x, y, z


def sub(a: Vec, b: Vec) -> Vec:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def dot(a: Vec, b: Vec) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def segment_hits(p: Vec, q: Vec, t: list[Vec]) -> bool:
    """Return whether a segment and a triangle of positive area intersect."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    dp, dq = dot(n, sub(p, t[0])), dot(n, sub(q, t[0]))
    if dp * dq > 0:
        return False
    if dp != dq:
        s = dp / (dp - dq)
        x = tuple(a + s * (b - a) for a, b in zip(p, q, strict=True))
        return all(dot(n, cross(sub(t[(i + 1) % 3], t[i]), sub(x, t[i]))) >= 0 for i in range(3))  # type: ignore[arg-type]
    # in the plane, the segment crosses an edge or has an end inside
    drop = max(range(3), key=lambda k: abs(n[k]))
    keep = [k for k in range(3) if k != drop]
    flat = [tuple(v[k] for k in keep) for v in (p, q, *t)]

    def turn(a: tuple, b: tuple, c: tuple) -> Fraction:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on(a: tuple, b: tuple, c: tuple) -> bool:
        return all(min(a[k], b[k]) <= c[k] <= max(a[k], b[k]) for k in range(2))

    def cut(a: tuple, b: tuple, c: tuple, d: tuple) -> bool:
        w, x, y, z = turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)
        if ((w > 0) != (x > 0)) and ((y > 0) != (z > 0)) and 0 not in (w, x, y, z):
            return True
        return (
            (w == 0 and on(a, b, c)) or (x == 0 and on(a, b, d)) or (y == 0 and on(c, d, a)) or (z == 0 and on(c, d, b))
        )

    corners = flat[2:]
    if any(cut(flat[0], flat[1], corners[i], corners[(i + 1) % 3]) for i in range(3)):
        return True
    turns = [turn(corners[i], corners[(i + 1) % 3], flat[0]) for i in range(3)]
    return all(s >= 0 for s in turns) or all(s <= 0 for s in turns)


def triangles_meet(a: object, b: object) -> bool:
    """Return whether two triangles of positive area intersect, in rational arithmetic."""
    p, q = [vec(v) for v in a], [vec(v) for v in b]  # type: ignore[attr-defined]
    return any(segment_hits(p[i], p[(i + 1) % 3], q) or segment_hits(q[i], q[(i + 1) % 3], p) for i in range(3))


def distance_by_planes(a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance of two separated triangles, over every pair of their corners, edges and faces.

    The nearest points of each pair solve a small linear system. Those within both features count (Karush-Kuhn-Tucker).
    """
    best = np.inf
    subsets = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]
    for s, t in product(subsets, subsets):
        p, q = a[list(s)], b[list(t)]
        u, v = (p[1:] - p[0]).T, (q[1:] - q[0]).T
        m = np.hstack([u, -v])
        x = np.linalg.lstsq(m, q[0] - p[0], rcond=None)[0] if m.shape[1] else np.zeros(0)
        w, z = x[: len(s) - 1], x[len(s) - 1 :]
        if min([1 - w.sum(), 1 - z.sum(), *w, *z]) < -1e-9:
            continue
        best = min(best, float(np.linalg.norm(p[0] + u @ w - q[0] - v @ z)))
    return best
