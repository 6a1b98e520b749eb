"""Proofs that can be handed on, and what those that an answer carries prove.

Both are about points of A - B, given exactly; whether they are points of A - B is for `gjk3d.exact.difference` to say.
A single normal proves a lower bound: that is `Difference.height`.

Its numbers are floats, so the points of a curved core are on it only to rounding: how far outside they may be is
proven too, and taken off the bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, count
from math import ulp
from typing import Any, NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import (
    ORIGIN,
    Enclosure,
    FractionVec,
    Root,
    Vec,
    common_scale,
    cross,
    dot,
    fractions,
    in_integers,
    negative,
    scaled_vector,
    stretched,
    sub,
)
from gjk3d.exact.convex_sets import Body, Side, at_point
from gjk3d.exact.difference import Difference
from gjk3d.exact.gjk_epa import foot
from gjk3d.exact.signed import bracket_outside
from gjk3d.results import Certificate
from gjk3d.wording import kind_of

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


def weights_proof(points: Iterable[Sequence[Number]], weights: Iterable[Number]) -> Proof:
    """Return the distance of a convex combination of points of A - B from the origin: apart, it bounds theirs.

    Examples
    --------
    >>> weights_proof([(3, 0, 0), (1, 2, 0)], (0.25, 0.75)).bound.bracket()[1] >= 2.1
    True
    >>> weights_proof([(3, 0, 0), (1, 2, 0)], (1.5, -0.5)).flaw
    'weight 1 is negative: -1/2'
    """
    rows = [fractions(p) for p in points]
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
    return Proof(Root.sqrt(sum((c * c for c in mean), Fraction(0))))


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
    rows = [fractions(p) for p in points]
    scale = common_scale(rows)
    vertices = [scaled_vector(p, scale) for p in rows]
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


_NEAR = 16  #: a bracket as narrow as this part of the tolerance is enough: its upper end is what is added


def judge_carried(
    certificate: Any, a: Side, b: Side, difference: Difference, tolerance: Fraction, proof: Enclosure
) -> list[str]:
    """Return what is wrong with a certificate about two bounded cores; where nothing is, ``proof`` has its bounds.

    Parameters
    ----------
    certificate : Certificate
    a, b : Side
    difference : Difference
        Of the placed cores.
    tolerance : Fraction
        How far outside its core rounding may have put a point.
    """
    flaw = _form(certificate, "weights", "surface", "section")
    if flaw:
        return [flaw]
    flaws: list[str] = []
    supports, points, outside, farthest = [], [], Fraction(0), 4 * tolerance
    for side in (a, b):
        support = fractions(getattr(certificate, f"support_{side.name}"))
        rows = [fractions(row) for row in getattr(certificate, f"points_{side.name}")]
        hints = {p: side.towards(d) for p, d in zip(rows, certificate.directions, strict=True) if any(d)}
        hints.setdefault(support, side.towards(certificate.normal))
        named = {f"support_{side.name}": support, **{f"points_{side.name}[{i}]": row for i, row in enumerate(rows)}}
        allowed = tolerance + _grain(named.values())
        off = {p: _outside(p, side.body, allowed, hints.get(p)) for p in set(named.values())}
        flaws += [
            f"{name} is outside its shape by {float(off[p]):.3g}" for name, p in named.items() if off[p] > allowed
        ]
        outside += max(off.values()) * (1 + side.at.stretch)
        farthest += 2 * _grain([support])
        supports.append(side.placed(support))
        points.append([side.placed(row) for row in rows])
    normal, _ = in_integers(fractions(certificate.normal))
    top = difference.height(normal)
    if not _reaches(sub(*supports), normal, top, farthest):
        flaws.append("support_a and support_b are not the farthest points along the normal")
    high, flaw = _upper(certificate, [sub(p, q) for p, q in zip(*points, strict=True)], outside)
    if flaw:
        flaws.append(flaw)
    if not flaws:
        proof.raise_low(Root(-top.num, top.den), normal)
        if high is not None:
            proof.drop_high(high)
    return flaws


def judge_foot(certificate: Any, side: Side, up: Vec, placed: Body, tolerance: Fraction) -> list[str]:
    """Return what is wrong with the certificate of a core beside a half-space with this normal."""
    flaw = _form(certificate, "plane")
    if flaw:
        return [flaw]
    name = f"support_{side.name}"
    point = fractions(getattr(certificate, name))
    allowed = tolerance + _grain([point])
    away = _outside(point, side.body, allowed)
    if away > allowed:
        return [f"{name} is outside its shape by {float(away):.3g}"]
    down = negative(up)
    top = Difference(placed, at_point(ORIGIN)).height(down)
    if not _reaches(side.placed(point), down, top, 4 * allowed):
        return [f"{name} is not the point nearest to the half-space"]
    return []


def _reaches(point: FractionVec, n: Vec, top: Root, tolerance: Fraction) -> bool:
    """Tell whether a point is as far along n as the support value says, but for rounding."""
    reached = dot(n, point)
    root = Root(reached.numerator, reached.denominator**2 * dot(n, n))
    return not root.bracket()[1] < top.bracket()[0] - tolerance


def _form(certificate: Any, *kinds: str) -> str:
    """Return what is wrong with a certificate's form; empty where it is one."""
    if not isinstance(certificate, Certificate):
        return f"it is {kind_of(certificate)}"
    if certificate.kind not in kinds:
        return f"its kind is {certificate.kind!r}"
    counts = {"points_a": len(certificate.points_a), "points_b": len(certificate.points_a)}
    counts["directions"] = len(certificate.points_a)
    counts["weights"] = len(certificate.points_a) if certificate.kind == "weights" else 0
    for name in ("normal", "support_a", "support_b"):
        if np.shape(getattr(certificate, name)) != (3,):
            return f"{name} is no vector"
    for name, rows in counts.items():
        if np.shape(getattr(certificate, name)) != ((rows,) if name == "weights" else (rows, 3)):
            return f"{name} has shape {np.shape(getattr(certificate, name))}, beside {counts['points_a']} points_a"
    for name in ("normal", "support_a", "support_b", *counts):
        if not np.isfinite(np.asarray(getattr(certificate, name), dtype=float)).all():
            return f"a number in {name} is not finite"
    if certificate.faces.dtype.kind not in "iu" or certificate.faces.shape[1:] != (3,):
        return f"faces has shape {certificate.faces.shape}"
    return "" if certificate.normal.any() else "its normal is 0"


def _grain(points: Iterable[FractionVec]) -> Fraction:
    """Return what the floats of points so far from the origin of their frame are rounded to, and some."""
    return Fraction(8 * ulp(max(float(abs(c)) for p in points for c in p)))


def _outside(point: FractionVec, body: Body, tolerance: Fraction, hint: Vec | None = None) -> Fraction:
    """Return how far a point is outside a core at most; where that is more than is allowed, at least.

    ``hint`` is a direction along which it may be the support point.
    """
    if len(body.terms) == 1 and len(body.terms[0].sets) == 1 and not body.curved:
        at, scale = in_integers(point)
        if body.scale % scale == 0 and stretched(at, body.scale // scale) in body.terms[0].sets[0]:
            return Fraction(0)
    if hint is None or not any(hint):
        hint = in_integers(point)[0] if any(point) else (1, 0, 0)
    core = body._replace(radius_low=Fraction(0), radius_high=Fraction(0))
    low, high = bracket_outside(point, core, hint, tolerance / _NEAR, tolerance)
    return high if high is not None else low if low > tolerance else 2 * tolerance


def _upper(certificate: Certificate, vectors: list[FractionVec], outside: Fraction) -> tuple[Root | None, str]:
    """Return the upper bound that a certificate proves, or what is wrong with it."""
    if certificate.kind not in ("weights", "surface"):
        return None, ""
    if certificate.kind == "weights":
        proof = weights_proof(vectors, np.asarray(certificate.weights, dtype=float).tolist())
    else:
        proof = surface_proof(vectors, certificate.faces.tolist())
    if proof.flaw == NOT_ROUND:  # near contact rounding decides that: it proves nothing, and is no forgery
        return None, ""
    if proof.bound is None or outside == 0:
        return proof.bound, proof.flaw
    return Root.of(proof.bound.bracket()[1] + outside), ""
