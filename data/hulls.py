"""Signed distance of two convex hulls by brute force, to write down what a solver must say.

No GJK and no EPA: all differences b - a of vertices, their convex hull (Qhull), and then

* origin outside: the nearest point over all triangles of that hull;
* origin inside: the nearest of all facet planes.

Both ends of the answer are then proven by scanning every vertex once more, and the two proofs must meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull


class Answer(NamedTuple):
    """Signed distance (negative in overlap), unit normal from A to B, and whether that normal is the only one."""

    distance: float
    normal: np.ndarray
    unique: bool


def extreme(points: np.ndarray) -> np.ndarray:
    """Keep the points that span the convex hull."""
    return points[ConvexHull(points).vertices]


def signed_distance(points_a: np.ndarray, points_b: np.ndarray) -> Answer:
    """Signed distance between the convex hulls of two point sets in space."""
    a, b = extreme(points_a), extreme(points_b)
    differences = (b[:, None] - a[None]).reshape(-1, 3)
    size = float(np.abs(differences).max())
    hull = ConvexHull(differences)
    # the separation along each facet normal, by support scans: exact planes, whatever Qhull merged
    outward = np.unique(np.round(hull.equations[:, :3], 15), axis=0)
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    reach = (a @ outward.T).min(axis=0) - (b @ outward.T).max(axis=0)  # < 0: the facet lies that deep; > 0: apart
    if np.all(reach <= 1e-12 * size):
        best = int(np.argmax(reach))
        inner = -float(hull.equations[:, 3].max())  # Qhull's own nearest plane, an independent lower bound
        if abs(inner + reach[best]) > 1e-11 * size:
            raise RuntimeError(f"the two depths do not meet: {-reach[best]} and {inner}")
        others = reach[np.linalg.norm(outward - outward[best], axis=1) > 1e-6]
        normal = -outward[best]
        return Answer(float(reach[best]), normal, bool(np.all(others < reach[best] - 1e-6 * size)))
    corners = differences[hull.simplices]
    points = closest_points(corners)
    point = points[int(np.argmin(np.einsum("ij,ij->i", points, points)))]
    upper = float(np.linalg.norm(point))
    normal = point / upper
    lower = gap(a, b, normal)
    if upper - lower > 1e-11 * size:
        raise RuntimeError(f"the two bounds do not meet: {lower} and {upper}")
    return Answer(upper, normal, True)


def gap(a: np.ndarray, b: np.ndarray, normal: np.ndarray) -> float:
    """Separation along a unit direction: a lower bound of the signed distance for any direction at all."""
    return float((b @ normal).min() - (a @ normal).max())


def closest_points(corners: np.ndarray) -> np.ndarray:
    """Point of each triangle (n, 3, 3) nearest to the origin: the foot on its plane, or else on one of its edges."""
    p, q, r = corners[:, 0], corners[:, 1], corners[:, 2]
    best = np.full_like(p, np.inf)
    square = np.full(len(p), np.inf)
    for s, t in ((p, q), (q, r), (r, p)):
        d = t - s
        length = np.einsum("ij,ij->i", d, d)
        f = np.clip(-np.einsum("ij,ij->i", s, d) / np.where(length > 0, length, 1.0), 0.0, 1.0)
        foot = s + f[:, None] * d
        here = np.einsum("ij,ij->i", foot, foot)
        nearer = here < square
        best[nearer], square[nearer] = foot[nearer], here[nearer]
    n = np.cross(q - p, r - p)
    nn = np.einsum("ij,ij->i", n, n)
    longest = np.maximum.reduce([np.einsum("ij,ij->i", t - s, t - s) for s, t in ((p, q), (q, r), (r, p))])
    flat = nn <= 1e-28 * longest**2  # needles: their edges have answered already
    foot = n * (np.einsum("ij,ij->i", n, p) / np.where(flat, 1.0, nn))[:, None]
    inside = ~flat
    for s, t in ((p, q), (q, r), (r, p)):
        inside &= np.einsum("ij,ij->i", np.cross(t - s, foot - s), n) >= 0
    best[inside] = foot[inside]
    return best
