"""Proofs that can be handed on: weights that prove a distance, and a closed surface that proves a depth.

Both are about points of A - B, given exactly; whether they are points of A - B is for `gjk3d.exact.difference` to say.
A single normal proves a lower bound: that is `Difference.height`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, count
from math import lcm
from typing import NamedTuple

from gjk3d.exact.arithmetic import Root, Vec, cross, dot
from gjk3d.exact.bodies import scaled_vector
from gjk3d.exact.distance import foot

Number = Fraction | float
NOT_ROUND = "the surface does not go round the origin"


class Proof(NamedTuple):
    """What a certificate proves.

    Attributes
    ----------
    bound : Root or None
        An upper bound of the signed distance; None where it proves nothing.
    flaw : str
        Why it proves nothing.
    """

    bound: Root | None
    flaw: str = ""


def _integers(points: Iterable[Sequence[Number]]) -> tuple[list[Vec], int]:
    rows = [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in points]
    scale = lcm(*(x.denominator for row in rows for x in row))
    return [scaled_vector(row, scale) for row in rows], scale


def weights_proof(points: Iterable[Sequence[Number]], weights: Iterable[Number]) -> Proof:
    """Return the distance of a convex combination of points of A - B from the origin: apart, it bounds theirs.

    Examples
    --------
    >>> weights_proof([(3, 0, 0), (1, 2, 0)], (0.25, 0.75)).bound.bracket()[1] >= 2.1
    True
    >>> weights_proof([(3, 0, 0), (1, 2, 0)], (1.5, -0.5)).flaw
    'weight 1 is negative: -1/2'
    """
    rows = [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in points]
    shares = [Fraction(w) for w in weights]
    if len(rows) != len(shares):
        return Proof(None, f"{len(rows)} points have {len(shares)} weights")
    for i, w in enumerate(shares):
        if w < 0:
            return Proof(None, f"weight {i} is negative: {w}")
    total = sum(shares, Fraction(0))
    if total == 0:
        return Proof(None, "the weights sum to 0")
    # floats seldom sum to 1 exactly: what they are parts of is their sum
    mean = [sum((w * row[k] for w, row in zip(shares, rows, strict=True)), Fraction(0)) / total for k in range(3)]
    square = sum((c * c for c in mean), Fraction(0))
    p, q = square.numerator, square.denominator
    return Proof(Root(p, p * q) if p else Root(0))


def surface_proof(points: Iterable[Sequence[Number]], faces: Iterable[Sequence[int]]) -> Proof:
    """Return minus the least distance of a closed surface of points of A - B from the origin, if it goes round it.

    The winding number is constant within the ball that the surface does not touch and zero outside the hull of its
    points, so the ball is in the hull, and the hull is in A - B. The surface need not be convex.

    Parameters
    ----------
    points : iterable of three numbers
    faces : iterable of three ints
        Triangles, all wound one way.
    """
    vertices, scale = _integers(points)
    triangles = [(int(i), int(j), int(k)) for i, j, k in faces]
    for face in triangles:
        if not all(0 <= i < len(vertices) for i in face):
            return Proof(None, f"face {face} has no such vertices")
    edges = Counter(edge for i, j, k in triangles for edge in ((i, j), (j, k), (k, i)))
    for (i, j), uses in edges.items():
        if edges[j, i] != uses:
            return Proof(None, f"the surface is open, or turned over, along the edge {i}-{j}")
    corners = [(vertices[i], vertices[j], vertices[k]) for i, j, k in triangles]
    nearest = min((_distance(*abc) for abc in corners), default=Root(0))
    if nearest.num == 0:
        return Proof(Root(0) if corners else None, "" if corners else "there is no face")
    if winding(corners) == 0:
        return Proof(None, NOT_ROUND)
    return Proof(Root(-nearest.num, nearest.den * scale * scale))


def _distance(*triangle: Vec) -> Root:
    """Return the distance of a triangle from the origin."""
    sizes = (c for size in (1, 2, 3) for c in combinations(triangle, size))
    return min(found[2] for corners in sizes if (found := foot(*corners)) is not None)


def winding(corners: list[tuple[Vec, Vec, Vec]]) -> int:
    """Return how often a closed surface that does not touch the origin goes round it.

    The signed crossings of a ray that meets no edge. Of directions (1, k, k^2) no plane holds more than two.
    """
    solid = [(a, b, c) for a, b, c in corners if dot(a, cross(b, c))]  # the others are seen edge-on
    for k in count(1):
        ray = (1, k, k * k)
        total = 0
        for a, b, c in solid:
            sides = dot(ray, cross(a, b)), dot(ray, cross(b, c)), dot(ray, cross(c, a))
            if 0 in sides:
                break
            if min(sides) > 0 and dot(a, cross(b, c)) > 0:
                total += 1
            elif max(sides) < 0 and dot(a, cross(b, c)) < 0:
                total -= 1
        else:
            return total
    raise AssertionError("unreachable")
