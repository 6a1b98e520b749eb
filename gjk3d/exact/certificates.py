"""Proofs of the bounds of a result from its certificate.

The points of a certificate prove an upper bound of the signed distance, because their differences are points of A - B.
The normal of a certificate proves a lower bound, see `Difference.height`. The numbers are floats, so a point of a
curved core may be outside the core by a rounding error. This error is proven too, and is added to the upper bound.

`prove_depth` proves the depth of two families of pairs. They have no certificate, since EPA would need a million
triangles for them:

- Two solids of revolution with parallel axes. A ball fits into their difference A - B if a disc fits into the section
  of A - B through the axis and the origin. A polygon in this section proves the disc. Poses are rotations, and axes are
  parallel, only up to rounding. Therefore the proof replaces the shapes by sets with exact symmetry. The signed
  distance changes at most by the sum of the Hausdorff distances between the shapes and these sets.
- Ellipsoids with a common centre and the same axes. The argument in `gjk3d.narrow.ties` holds for fractions too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, count, permutations
from math import ulp
from typing import Any, NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import (
    ORIGIN,
    ZERO,
    Enclosure,
    FractionVec,
    Matrix,
    Root,
    Vec,
    columns,
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
from gjk3d.exact.convex_sets import Body, Difference, Placement, Side, Term, at_point, place
from gjk3d.exact.gjk_epa import bracket_outside, foot
from gjk3d.results import Certificate
from gjk3d.wording import kind_of

Number = Fraction | float
NOT_ROUND = "the surface does not enclose the origin"


class Proof(NamedTuple):
    """The upper bound that a certificate proves.

    Attributes
    ----------
    bound : Root or None
        An upper bound of the signed distance. None if nothing is proven.
    flaw : str
        The reason why nothing is proven.
    """

    bound: Root | None
    flaw: str = ""


def weights_proof(points: Iterable[Sequence[Number]], weights: Iterable[Number]) -> Proof:
    """Return the upper bound that a convex combination of points of A - B proves: its distance from the origin.

    The weights are divided by their sum.

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
    # the sum of floats is seldom exactly 1
    mean = [sum((w * row[k] for w, row in zip(shares, rows, strict=True)), Fraction(0)) / total for k in range(3)]
    return Proof(Root.sqrt(sum((c * c for c in mean), Fraction(0))))


def surface_proof(points: Iterable[Sequence[Number]], faces: Iterable[Sequence[int]]) -> Proof:
    """Return the upper bound that a closed surface around the origin proves: minus its distance from the origin.

    The surface need not be convex. Its corners are points of A - B. The ball around the origin up to the surface is in
    the hull of the corners, because the winding number is constant in the ball, and zero outside the hull. The hull is
    in A - B.

    Parameters
    ----------
    points : iterable of three numbers
        Points of A - B.
    faces : iterable of three ints
        Triangles of the points, with a consistent orientation.
    """
    rows = [fractions(p) for p in points]
    scale = common_scale(rows)
    vertices = [scaled_vector(p, scale) for p in rows]
    triangles = [(int(i), int(j), int(k)) for i, j, k in faces]
    for face in triangles:
        if not all(0 <= i < len(vertices) for i in face):
            return Proof(None, f"face {face} has the index of a missing vertex")
    edges = Counter(edge for i, j, k in triangles for edge in ((i, j), (j, k), (k, i)))
    for (i, j), uses in edges.items():
        if edges[j, i] != uses:
            return Proof(None, f"the surface is open, or its orientation flips, at the edge {i}-{j}")
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
    return min(nearest[2] for corners in sizes if (nearest := foot(*corners)) is not None)


def winding(corners: list[tuple[Vec, Vec, Vec]]) -> int:
    """Return the winding number about the origin of a closed surface that does not contain the origin.

    It is the sum of the signs of the crossings of the surface and a ray that hits no edge. Such a ray exists, because a
    plane contains at most two of the directions (1, k, k^2).
    """
    faces = [abc for abc in corners if dot(abc[0], cross(abc[1], abc[2]))]  # planes through the origin are not crossed
    for k in count(1):
        ray = (1, k, k * k)
        total = 0
        for a, b, c in faces:
            sides = dot(ray, cross(a, b)), dot(ray, cross(b, c)), dot(ray, cross(c, a))
            if 0 in sides:
                break
            if min(sides) > 0 and dot(a, cross(b, c)) > 0:
                total += 1
            elif max(sides) < 0 and dot(a, cross(b, c)) < 0:
                total -= 1
        else:
            return total
    raise AssertionError("no ray from the origin avoids all edges of the surface. Please report this bug of gjk3d")


_NEAR = 16  #: ratio of the greatest to the first tolerance when a point is proven to be near a core


def judge_carried(
    certificate: Any, a: Side, b: Side, difference: Difference, tolerance: Fraction, proof: Enclosure
) -> list[str]:
    """Return the flaws of a certificate of two bounded cores. Bounds of a valid certificate are added to ``proof``.

    Parameters
    ----------
    certificate : Certificate
        The certificate of the result.
    a, b : Side
        The shapes.
    difference : Difference
        The difference of the placed cores.
    tolerance : Fraction
        The greatest distance of a point from its core that rounding can cause.
    proof : Enclosure
        The bounds to prove, and the bounds that are proven so far.
    """
    flaw = _form(certificate, "weights", "surface", "section")
    if flaw:
        return [flaw]
    flaws: list[str] = []
    supports, points, outside, farthest = [], [], Fraction(0), 4 * tolerance
    for side in (a, b):
        support = fractions(getattr(certificate, f"support_{side.name}"))
        rows = [fractions(row) for row in getattr(certificate, f"points_{side.name}")]
        # a point is probably the support point of the core along its direction
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
    """Return the flaws of a certificate of a shape and a half-space with the normal ``up``.

    ``placed`` is the core of the shape in world coordinates. See `judge_carried` for ``tolerance``.
    """
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
    """Return whether the height of a point along n is at least the support value ``top`` minus ``tolerance``."""
    reached = dot(n, point)
    root = Root(reached.numerator, reached.denominator**2 * dot(n, n))
    return not root.bracket()[1] < top.bracket()[0] - tolerance


def _form(certificate: Any, *kinds: str) -> str:
    """Return a flaw in the kind, the shapes of the arrays or the numbers of a certificate, or an empty text."""
    if not isinstance(certificate, Certificate):
        return f"it is {kind_of(certificate)}"
    if certificate.kind not in kinds:
        return f"its kind is {certificate.kind!r}"
    counts = {"points_a": len(certificate.points_a), "points_b": len(certificate.points_a)}
    counts["directions"] = len(certificate.points_a)
    counts["weights"] = len(certificate.points_a) if certificate.kind == "weights" else 0
    for name in ("normal", "support_a", "support_b"):
        if np.shape(getattr(certificate, name)) != (3,):
            return f"{name} is not a vector"
    for name, rows in counts.items():
        if np.shape(getattr(certificate, name)) != ((rows,) if name == "weights" else (rows, 3)):
            return f"{name} has shape {np.shape(getattr(certificate, name))}, points_a {counts['points_a']} rows"
    for name in ("normal", "support_a", "support_b", *counts):
        if not np.isfinite(np.asarray(getattr(certificate, name), dtype=float)).all():
            return f"a number in {name} is not finite"
    if certificate.faces.dtype.kind not in "iu" or certificate.faces.shape[1:] != (3,):
        return f"faces has shape {certificate.faces.shape}"
    return "" if certificate.normal.any() else "its normal is 0"


def _grain(points: Iterable[FractionVec]) -> Fraction:
    """Return an upper bound of the rounding error of the coordinates of points."""
    return Fraction(8 * ulp(max(float(abs(c)) for p in points for c in p)))


def _outside(point: FractionVec, body: Body, tolerance: Fraction, hint: Vec | None = None) -> Fraction:
    """Return an upper bound of the distance of a point from a core, 0 for a point inside.

    If no bound up to the tolerance is proven, the result is a number above the tolerance. ``hint`` is a direction along
    which the point may be the support point.
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
    """Return the upper bound that points of A - B prove, and the flaw of their certificate if they prove nothing.

    ``vectors`` are the points. ``outside`` is an upper bound of the distance of each point from A - B.
    """
    if certificate.kind not in ("weights", "surface"):
        return None, ""
    if certificate.kind == "weights":
        proof = weights_proof(vectors, np.asarray(certificate.weights, dtype=float).tolist())
    else:
        proof = surface_proof(vectors, certificate.faces.tolist())
    if proof.flaw == NOT_ROUND:  # near contact rounding can cause this, so the certificate is not wrong
        return None, ""
    if proof.bound is None or outside == 0:
        return proof.bound, proof.flaw
    return Root.of(proof.bound.bracket()[1] + outside), ""


_STEPS = 400  #: greatest number of vertices of a polygon
_IDENTITY: Matrix = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_Plane = tuple[int, int]


def prove_depth(a: Side, b: Side, proof: Enclosure) -> None:
    """Add to ``proof`` the upper bound that the symmetry of a pair proves. Pairs without symmetry are skipped."""
    for family in (_concentric, _revolved):
        if not proof.high_proven:
            family(a, b, proof)


# --- solids of revolution ---------------------------------------------------------------------------------------------


def _revolved(a: Side, b: Side, proof: Enclosure) -> None:
    axes_a, axes_b = _axes(a.body), _axes(b.body)
    if not axes_a or not axes_b or (len(axes_a) == 3 and len(axes_b) == 3):
        return
    k, j = (axes_a[0], axes_b[0])
    u, w = columns(a.at.rotation)[k], columns(b.at.rotation)[j]
    if len(axes_a) == 3:
        u = w
    elif len(axes_b) == 3:
        w = u
    off = cross(u, w)
    askew = Root(dot(off, off), dot(off, off) * dot(u, u) * dot(w, w)).bracket()[1] if any(off) else ZERO
    if askew > Fraction(1, 100):
        return
    angle = askew * (1 + askew)  # asin(x) <= x (1 + x) up to 1/100
    error = 4 * a.at.stretch * _reach(a.body) + (4 * b.at.stretch + angle) * _reach(b.body)
    # the coordinates of the centre of B, along the axis and at right angles to it
    o = _offset(a.at, b.at)
    along2 = dot(u, o)
    low, high = Root(along2.numerator, dot(u, u) * along2.denominator**2).bracket()
    square = dot(o, o) - along2**2 / dot(u, u)
    near, far = Root.sqrt(max(square, ZERO)).bracket()
    error += (high - low) + (far - near)  # the widths of the brackets, 2**-200
    turned_b = _axis_to_z(b.body, j, -1 if dot(u, w) < 0 else 1)
    moved = place(turned_b, _shift(near, low))
    _inscribe(Difference(_axis_to_z(a.body, k, 1), moved), error, proof)


def _axes(body: Body) -> list[int]:
    """Return the indices of the frame's axes that are axes of revolution of a body: none, one, or all three."""

    def about(k: int) -> bool:
        i, j = (k + 1) % 3, (k + 2) % 3
        return all(
            all(p[i] == 0 == p[j] for points in term.sets for p in points)
            and all(abs(ball[i][i]) == abs(ball[j][j]) and _diagonal(ball) for ball in term.balls)
            for term in body.terms
        )

    return [k for k in (2, 0, 1) if about(k)]


def _diagonal(ball: Matrix) -> bool:
    return all(ball[i][j] == 0 for i in range(3) for j in range(3) if i != j)


def _reach(body: Body) -> Fraction:
    """Return an upper bound of the distance of a body's points from the origin of its frame."""
    squares = []
    for term in body.terms:
        boxes = [tuple(max(abs(p[i]) for p in points) for i in range(3)) for points in term.sets]
        boxes += [tuple(sum(map(abs, row)) for row in ball) for ball in term.balls]
        squares.append(sum(sum(box[i] for box in boxes) ** 2 for i in range(3)))
    return Root.sqrt(Fraction(max(squares), body.scale**2)).bracket()[1]


def _offset(a: Placement, b: Placement) -> FractionVec:
    x, y, z = (Fraction(q, b.shift) - Fraction(p, a.shift) for p, q in zip(a.translation, b.translation, strict=True))
    return x, y, z


def _shift(x: Fraction, z: Fraction) -> Placement:
    shift = x.denominator * z.denominator
    return Placement(_IDENTITY, 1, (int(x * shift), 0, int(z * shift)), shift, ZERO)


def _axis_to_z(body: Body, k: int, sign: int) -> Body:
    """Return a body rotated so that its axis k becomes the z axis for ``sign`` 1, or the -z axis for ``sign`` -1."""
    order = ((k + 1) % 3, (k + 2) % 3, k)
    signs = (1, sign, sign)

    def turned(p: Vec) -> Vec:
        x, y, z = (signs[i] * p[order[i]] for i in range(3))
        return x, y, z

    terms = tuple(
        Term(
            tuple(tuple(turned(p) for p in points) for points in term.sets),
            tuple((turned(ball[order[0]]), turned(ball[order[1]]), turned(ball[order[2]])) for ball in term.balls),
        )
        for term in body.terms
    )
    return body._replace(terms=terms)


def _inscribe(difference: Difference, error: Fraction, proof: Enclosure) -> None:
    """Add vertices to a polygon in the section y = 0 of A - B until a disc in the polygon proves the wanted bound.

    A and B are the symmetric sets that replace the shapes. ``error`` is an upper bound of the change of the signed
    distance by this replacement.
    """
    points: set[_Plane] = set()

    def support_point(x: int, z: int) -> _Plane:
        p, _, _ = difference.support(difference.direction((x, 0, z)))
        return p[0], p[2]

    for x, z in ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)):
        points.add(support_point(x, z))
    while len(points) <= _STEPS:
        hull = _convex_hull(sorted(points))
        if len(hull) < 3:
            return
        edges = list(zip(hull, [*hull[1:], hull[0]], strict=True))
        radii = [Root(_turn(p, q, (0, 0)), ((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2) * difference.square)
                 for p, q in edges]  # fmt: skip
        least = radii.index(min(radii))
        if radii[least].num > 0:
            proof.drop_high(Root.of(error - radii[least].bracket()[0]))
        if proof.high_proven:
            return
        p, q = edges[least]
        new = support_point(q[1] - p[1], p[0] - q[0])
        if new in points or _turn(p, q, new) >= 0:
            return
        points.add(new)


def _turn(p: _Plane, q: _Plane, r: _Plane) -> int:
    """Return twice the signed area of the triangle p q r, positive if r is to the left of p q."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _convex_hull(points: list[_Plane]) -> list[_Plane]:
    """Return the corners of the convex hull of sorted points, anticlockwise (Andrew's monotone chain)."""
    chains = []
    for run in (points, points[::-1]):
        chain: list[_Plane] = []
        for p in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


# --- ellipsoids with a common centre ----------------------------------------------------------------------------------


def _concentric(a: Side, b: Side, proof: Enclosure) -> None:
    radii = [_radii(p.body) for p in (a, b)]
    if radii[0] is None or radii[1] is None:
        return
    turn = a.at.turn * b.at.turn
    relative = [[Fraction(dot(p, q), turn) for q in columns(b.at.rotation)] for p in columns(a.at.rotation)]
    order = max(permutations(range(3)), key=lambda p: sum(abs(relative[i][p[i]]) for i in range(3)))
    off = sum(abs(abs(relative[i][j]) - (j == order[i])) for i in range(3) for j in range(3))
    o = _offset(a.at, b.at)
    moved = sum(map(abs, o), ZERO) + 4 * a.at.stretch * max(radii[0])
    # `off` is an error of R_a' R_b. The stretch of R_b adds to it, and R_a' is the inverse of R_a up to its stretch
    error = moved + (off + 4 * a.at.stretch + 4 * b.at.stretch) * max(radii[1])
    depth = min(radii[0][i] + radii[1][order[i]] for i in range(3))
    proof.drop_high(Root.of(error - depth))


def _radii(body: Body) -> FractionVec | None:
    """Return the half axes of an ellipsoid whose centre and axes are those of its frame, or None for other bodies."""
    term = body.terms[0]
    centered = all(len(points) == 1 and not any(points[0]) for points in term.sets)
    if len(body.terms) > 1 or not centered or len(term.balls) != 1 or not _diagonal(term.balls[0]):
        return None
    x, y, z = (Fraction(abs(term.balls[0][i][i]), body.scale) for i in range(3))
    return x, y, z
