"""Proofs of depth for families of ties, where EPA in space would need a million triangles.

A ball fits into the difference of two solids of revolution with one axis direction if a disc fits into its section
through the axis and the origin: a polygon in integers shows that. Poses are rotations only to rounding and axes
parallel only to rounding; the sets judged have the exact symmetry, and the signed distance changes by no more than
the sets move (Hausdorff).

Ellipsoids with one centre and the same axes: see `gjk3d.narrow.ties`, whose argument holds for fractions too.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from gjk3d.exact.arithmetic import ZERO, Enclosure, FractionVec, Matrix, Root, Vec, columns, cross, dot
from gjk3d.exact.convex_sets import Body, Placement, Side, Term, place
from gjk3d.exact.difference import Difference

_STEPS = 400  #: vertices of a polygon
_IDENTITY: Matrix = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_Plane = tuple[int, int]


def prove_depth(a: Side, b: Side, proof: Enclosure) -> None:
    """Lower the upper bound of the signed distance as far as the symmetry of the pair proves, if it has one."""
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
    # where B's centre is, along the axis and across it
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
    """Return the axes of its frame that a body revolves about, exactly: none, one, or all three."""

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
    """Bound how far a body goes from the origin of its frame."""
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
    """Return the body with axis k turned to z, up or down."""
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
    """Grow a polygon in the section y = 0 of the difference until the disc in it is as large as wanted."""
    points: set[_Plane] = set()

    def ask(x: int, z: int) -> _Plane:
        p, _, _ = difference.support(difference.direction((x, 0, z)))
        return p[0], p[2]

    for x, z in ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)):
        points.add(ask(x, z))
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
        new = ask(q[1] - p[1], p[0] - q[0])
        if new in points or _turn(p, q, new) >= 0:
            return
        points.add(new)


def _turn(p: _Plane, q: _Plane, r: _Plane) -> int:
    """Return twice the area of the triangle, positive where r is to the left of pq."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _convex_hull(points: list[_Plane]) -> list[_Plane]:
    """Return the corners of the hull of sorted points, anticlockwise (Andrew's monotone chain)."""
    chains = []
    for run in (points, points[::-1]):
        chain: list[_Plane] = []
        for p in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


# --- ellipsoids round one centre --------------------------------------------------------------------------------------


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
    # `off` is of R_a' R_b: it has the stretch of R_b, and R_a' is the inverse of R_a only to the stretch of R_a
    error = moved + (off + 4 * a.at.stretch + 4 * b.at.stretch) * max(radii[1])
    depth = min(radii[0][i] + radii[1][order[i]] for i in range(3))
    proof.drop_high(Root.of(error - depth))


def _radii(body: Body) -> FractionVec | None:
    """Return the half axes of an ellipsoid round the origin of its frame, None where it is something else."""
    term = body.terms[0]
    centered = all(len(points) == 1 and not any(points[0]) for points in term.sets)
    if len(body.terms) > 1 or not centered or len(term.balls) != 1 or not _diagonal(term.balls[0]):
        return None
    x, y, z = (Fraction(abs(term.balls[0][i][i]), body.scale) for i in range(3))
    return x, y, z
