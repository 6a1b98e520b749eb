"""The judge: is an answer true? Shown in rational arithmetic, without the solver."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite, lcm, sqrt, ulp
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.exact.arithmetic import Root, Vec, cross, dot, float_above, float_below, negative
from gjk3d.exact.bodies import Body, Placement, at_point, body_of, place, placement, same_set, scaled_vector, turned
from gjk3d.exact.difference import Difference
from gjk3d.exact.enclosure import Enclosure
from gjk3d.exact.signed import enclose
from gjk3d.poses import pose_rows
from gjk3d.results import Distance, Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace

_UNIT = 1e-12  #: how far from 1 the length of a normal may be, and from the sign law the points, as a part of the size
_PROMISED = {True: 1e-9, False: 1e-12}  #: widths of curved and of flat or rounded shapes, as parts of the size
_AXES: tuple[Vec, ...] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


class Verdict(NamedTuple):
    """What `verify` found; true where the answer is.

    Attributes
    ----------
    proven : bool
        Whether every claim of the answer is proven.
    refuted : bool
        Whether one of them is proven wrong. Neither means that the judge gave up.
    reasons : tuple of str
        What is refuted, or could not be proven; empty where all is well.
    lower, upper : float
        Bounds that the judge proved itself, of the signed distance; infinite where it had no need to.
    """

    proven: bool
    refuted: bool
    reasons: tuple[str, ...]
    lower: float
    upper: float

    @property
    def ok(self) -> bool:
        """Whether all is proven and nothing refuted."""
        return self.proven and not self.refuted

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        what = "proven" if self.ok else "refuted" if self.refuted else "unproven"
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"Verdict: {what}{why}, signed distance in [{self.lower:.17g}, {self.upper:.17g}]"


class _Case:
    """What was found about one answer so far."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.open: list[str] = []
        self.lower, self.upper = -inf, inf

    def verdict(self) -> Verdict:
        reasons = [*(f"refuted: {w}" for w in self.wrong), *(f"unprovable: {w}" for w in self.open)]
        return Verdict(not self.wrong and not self.open, bool(self.wrong), tuple(reasons), self.lower, self.upper)

    def take(self, proof: Enclosure, difference: Difference) -> None:
        """Keep the bounds that a proof found."""
        if proof.low is not None:
            self.lower = float_below(proof.low.bracket()[0] - difference.radius_high)
        if proof.high is not None:
            self.upper = float_above(proof.high.bracket()[1] - difference.radius_low)


class _Claim(NamedTuple):
    """An answer in exact numbers."""

    distance: Fraction
    lower: Fraction
    upper: Fraction
    normal: tuple[Fraction, Fraction, Fraction]
    point_a: tuple[Fraction, Fraction, Fraction]
    point_b: tuple[Fraction, Fraction, Fraction]
    status: Status
    tight: bool

    @property
    def unsigned(self) -> bool:
        """Whether it is read as of `distance`, whose truth is max(0, signed distance)."""
        return self.lower == 0

    @property
    def direction(self) -> Vec:
        """The normal in integers."""
        return scaled_vector(self.normal, lcm(*(c.denominator for c in self.normal)))


def verify(result: Distance, a: Shape, b: Shape, pose_a: Any = None, pose_b: Any = None) -> Verdict:
    """Judge one answer of `distance` or `signed_distance` in rational arithmetic, sharing no code with the solver.

    Shapes and poses are the fractions that their floats are; a pose is its matrix after the polar step. The judge
    proves the bounds by normals and points that it finds itself, and checks the sign law, the normal, the points, the
    status and the claim of tightness against them.

    Parameters
    ----------
    result : Distance
        Of one pair; of a stack take a row, ``result[i]``.
    a, b : Shape
        The shapes that were asked about.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        Where they were.

    Returns
    -------
    Verdict
        True where every claim is proven. A false claim is refuted; where the judge could do neither, as for a shape
        that it does not know, the reasons say what is unprovable.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Where the question is none that has an answer.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> from gjk3d.exact import verify
    >>> pose = np.eye(4); pose[0, 3] = 3
    >>> box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    >>> answer = gk.signed_distance(box, ball, None, pose)
    >>> bool(verify(answer, box, ball, None, pose)), bool(verify(answer, ball, box, None, pose))
    (True, False)
    """
    at_a, at_b = _question(result, a, b, pose_a, pose_b)
    case = _Case()
    for name, shape, carried in (("a", a, "shape_a"), ("b", b, "shape_b")):
        other = getattr(result, carried, shape)
        if not same_set(shape, other):
            case.wrong.append(f"the answer is about another shape: {name} is {shape!r}, there it was {other!r}")
    claim = _claim(result, case)
    if claim is None:
        return case.verdict()
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        _judge_plane(case, claim, a, b, at_a, at_b)
        return case.verdict()
    bodies = body_of(a), body_of(b)
    for shape, body in zip((a, b), bodies, strict=True):
        if body is None:
            case.open.append(f"a {type(shape).__name__} is not given by numbers that the judge knows")
    if bodies[0] is not None and bodies[1] is not None:
        slack = a._slack() + b._slack()
        _judge_cores(case, claim, place(bodies[0], at_a), place(bodies[1], at_b), at_a, at_b, slack)
    return case.verdict()


def _question(result: Distance, a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Placement, Placement]:
    if np.ndim(result.normal) != 1:
        raise TypeError("verify() is of one pair: take a row first, verify(result[i], ...)")
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise UnsupportedPair(f"verify: {name} is a {type(shape).__name__}, expected a shape such as gjk3d.Box")
    if isinstance(a, Halfspace) and isinstance(b, Halfspace):
        raise UnsupportedPair("verify: two half-spaces overlap without end")
    places = []
    for name, pose in (("pose_a", pose_a), ("pose_b", pose_b)):
        rows, stacked = pose_rows(pose, name)
        if stacked and len(rows) != 1:
            raise ShapeError(f"verify: {name} is a stack of {len(rows)} poses, expected the one of this row")
        places.append(placement(rows[0]))
    return places[0], places[1]


# --- what an answer says of itself ------------------------------------------------------------------------------------


def _claim(result: Distance, case: _Case) -> _Claim | None:
    """Return the answer in fractions, None where it is not even finite; note what contradicts itself."""
    numbers = [*(float(x) for x in (result.distance, result.lower, result.upper))]
    vectors = [np.asarray(v, dtype=float).tolist() for v in (result.normal, result.point_a, result.point_b)]
    if not all(isfinite(x) for x in (*numbers, *(x for v in vectors for x in v))):
        case.wrong.append("a number of it is not finite")
        return None
    distance, lower, upper = (Fraction(x) for x in numbers)
    normal, point_a, point_b = ((Fraction(v[0]), Fraction(v[1]), Fraction(v[2])) for v in vectors)
    claim = _Claim(distance, lower, upper, normal, point_a, point_b, Status(int(result.status)), bool(result.tight))
    if not lower <= distance <= upper:
        case.wrong.append(f"lower <= distance <= upper does not hold: {numbers[1]!r}, {numbers[0]!r}, {numbers[2]!r}")
    length2 = sum(c * c for c in normal)
    if not abs(length2 - 1) <= 2 * _UNIT:
        case.wrong.append(f"the normal has length {sqrt(length2)!r}")
    fitting = {
        Status.SEPARATED: lower > 0,
        Status.BEYOND: lower > 0,
        Status.OVERLAPPING: upper <= 0,
        Status.TOUCHING: lower <= 0 <= upper and claim.tight,
        Status.UNDECIDED: lower <= 0 <= upper and not claim.tight,
    }
    if not fitting[claim.status]:
        tight = "" if claim.tight else ", not tight"
        case.wrong.append(f"the status is {claim.status.name}, the interval [{numbers[1]!r}, {numbers[2]!r}]{tight}")
    return claim


class _Tolerance(NamedTuple):
    """What points and normals may miss: the laws hold to rounding, and to the width of the answer."""

    size: float
    world: float  #: what a float can hold at the place where the pair stands
    promised: float  #: the width that is promised

    def law(self) -> Fraction:
        """Of the sign law."""
        return Fraction(_UNIT * self.size + self.world)

    def points(self, claim: _Claim) -> Fraction:
        """Of a point's distance from its shape."""
        return max(Fraction(self.promised), claim.upper - claim.lower) + Fraction(self.world)


def _judge_form(case: _Case, claim: _Claim, allowed: _Tolerance) -> None:
    """Check what needs no shape but the pair's size."""
    gap = [q - p - claim.distance * n for p, q, n in zip(claim.point_a, claim.point_b, claim.normal, strict=True)]
    miss2 = sum(c * c for c in gap)
    if miss2 > allowed.law() ** 2:
        case.wrong.append(f"point_b - point_a misses distance * normal by {sqrt(miss2):.3g}")
    width = float(claim.upper - claim.lower)
    if claim.tight and width > 2 * allowed.promised:
        case.wrong.append(f"it is called tight and {width:.3g} wide, where {allowed.promised:.3g} is promised")


# --- two bounded bodies -----------------------------------------------------------------------------------------------


def _judge_cores(case: _Case, claim: _Claim, a: Body, b: Body, at_a: Placement, at_b: Placement, slack: float) -> None:
    difference = Difference(a, b)
    allowed = _tolerance(claim, [(a, at_a), (b, at_b)], slack, a.curved or b.curved)
    _judge_form(case, claim, allowed)
    n = claim.direction
    if not any(n):
        return
    proof = Enclosure(
        None if claim.unsigned else claim.lower + difference.radius_high,
        claim.upper + difference.radius_low,
    )
    enclose(difference, [n, *_around(n, difference)], proof)
    case.take(proof, difference)
    _note(case, claim, proof)
    if not (claim.unsigned and claim.status == Status.OVERLAPPING):
        _judge_normal(case, claim, difference, allowed)
    for name, point, body, outward in (
        ("point_a", claim.point_a, a, n),
        ("point_b", claim.point_b, b, negative(n)),
    ):
        _judge_point(case, name, point, body, outward, allowed.points(claim))


def _around(n: Vec, difference: Difference) -> list[Vec]:
    """Return directions close to n, so that a curved contact starts with a face and not with a point."""
    return []


def _note(case: _Case, claim: _Claim, proof: Enclosure) -> None:
    lower, upper = float(claim.lower), float(claim.upper)
    found = f"[{case.lower!r}, {case.upper!r}]"
    if proof.low_refuted or proof.high_refuted:
        case.wrong.append(f"the signed distance is in {found}, the answer says [{lower!r}, {upper!r}]")
        return
    if not proof.low_proven:
        case.open.append(f"lower is {lower!r}, and only {case.lower!r} could be proven")
    if not proof.high_proven:
        case.open.append(f"upper is {upper!r}, and only {case.upper!r} could be proven")


def _judge_normal(case: _Case, claim: _Claim, difference: Difference, allowed: _Tolerance) -> None:
    """The normal's own support gap is a lower bound, and as good as the answer is wide."""
    top = difference.height(claim.direction)
    gap = Root(-top.num, top.den)
    wanted = claim.distance - allowed.points(claim) + difference.radius_high
    if gap < Root.of(wanted):
        low = float(gap.bracket()[0] - difference.radius_high)
        case.wrong.append(f"moving along the normal parts them by {low!r} only, the distance is {float(claim.distance)!r}")


def _judge_point(
    case: _Case, name: str, point: tuple[Fraction, ...], body: Body, outward: Vec, tolerance: Fraction
) -> None:
    """Prove that a point is in its shape, or as close as rounding brings it."""
    difference = Difference(body, at_point(point))
    proof = Enclosure(None, tolerance + difference.radius_low)
    enclose(difference, [outward], proof)
    if proof.high_refuted:
        assert proof.low is not None
        away = float(proof.low.bracket()[0] - difference.radius_high)
        case.wrong.append(f"{name} is outside its shape by {away:.3g}")
    elif not proof.high_proven:
        case.open.append(f"{name} could not be proven to be in its shape")


def _tolerance(claim: _Claim, bodies: list[tuple[Body, Placement]], slack: float, curved: bool) -> _Tolerance:
    """Return what is allowed for bodies of this size, as `gjk3d.narrow` defines a pair's size."""
    size, centers, stretch = 0.0, [], 0.0
    for body, at in bodies:
        alone = Difference(body, at_point([Fraction(0)] * 3))
        origin = [Fraction(x, at.shift) for x in at.translation]
        # how far it reaches along each axis, as seen from the pose's origin
        reach = [Fraction(alone.support(axis)[2], alone.scale) for axis in _AXES]
        low = [float(-reach[2 * i + 1] - origin[i]) for i in range(3)]
        high = [float(reach[2 * i] - origin[i]) for i in range(3)]
        half = sqrt(sum((h - g) ** 2 for g, h in zip(low, high, strict=True))) / 2
        middle = [(g + h) / 2 for g, h in zip(low, high, strict=True)]
        off = sqrt(sum(m * m for m in middle))
        far = off > 4 * half  # then the core has a centre of its own
        size += half + (0.0 if far else off) + float(body.radius_high)
        centers.append([o + Fraction(m if far else 0.0) for o, m in zip(origin, middle, strict=True)])
        stretch = max(stretch, float(at.stretch))
    size += sqrt(sum(float(p - q) ** 2 for p, q in zip(*centers, strict=True)))
    return _allowed(claim, size, stretch, slack, curved)


def _allowed(claim: _Claim, size: float, stretch: float, slack: float, curved: bool) -> _Tolerance:
    world = 8 * ulp(max(float(abs(c)) for c in (*claim.point_a, *claim.point_b)))
    error = (64 * layout.UNIT_ROUNDOFF + 2 * stretch) * size + slack
    return _Tolerance(size, world, _PROMISED[curved] * size + 2 * error)


# --- a half-space -----------------------------------------------------------------------------------------------------


def _judge_plane(case: _Case, claim: _Claim, a: Shape, b: Shape, at_a: Placement, at_b: Placement) -> None:
    """One normal has a finite support gap, so it is the only one there is."""
    flip = isinstance(b, Halfspace)
    plane, shape, at_plane, at_shape = (b, a, at_b, at_a) if flip else (a, b, at_a, at_b)
    assert isinstance(plane, Halfspace)
    local = body_of(shape)
    if local is None:
        case.open.append(f"a {type(shape).__name__} is not given by numbers that the judge knows")
        return
    body = place(local, at_shape)
    m, offset = _world_plane(plane, at_plane)
    alone = Difference(body, at_point([Fraction(0)] * 3))
    _, _, top = alone.support(negative(m))
    # over m.m: the body's lowest point along m lies between these, and the plane at offset
    below = Fraction(-top, alone.scale)
    point, _, _ = alone.support(negative(m))
    above = Fraction(dot(m, point), alone.scale)
    low, high = _over_length(below - offset, m), _over_length(above - offset, m)
    proof = Enclosure(
        None if claim.unsigned else claim.lower + body.radius_high, claim.upper + body.radius_low
    )
    proof.raise_low(low, m)
    proof.drop_high(high if claim.upper < 0 or not claim.unsigned else max(high, Root(0)))
    case.take(proof, alone)
    _note(case, claim, proof)
    foot = [Fraction(c) for c in plane.normal.tolist()]
    foot = [c * Fraction(plane.offset) for c in foot]
    scale = lcm(*(c.denominator for c in foot))
    x, y, z = (c.numerator * (scale // c.denominator) for c in foot)
    size_of_plane = place(_point_body((x, y, z), scale), at_plane)
    allowed = _tolerance(
        claim, [(body, at_shape), (size_of_plane, at_plane)], shape._slack(), body.curved
    )
    _judge_form(case, claim, allowed)
    n = negative(claim.direction) if flip else claim.direction
    away = cross(n, m)
    if dot(n, m) <= 0 or dot(away, away) > Fraction(2 * _UNIT) ** 2 * dot(n, n) * dot(m, m):
        case.wrong.append("the normal is not the half-space's")
    on_plane, in_shape = (claim.point_b, claim.point_a) if flip else (claim.point_a, claim.point_b)
    beyond = sum((c * p for c, p in zip(m, on_plane, strict=True)), -offset)
    names = ("point_b", "point_a") if flip else ("point_a", "point_b")
    if not _over_length(beyond, m) < Root.of(allowed.points(claim)):
        case.wrong.append(f"{names[0]} is outside the half-space")
    _judge_point(case, names[1], in_shape, body, negative(m), allowed.points(claim))


def _point_body(p: Vec, scale: int) -> Body:
    return at_point(Fraction(c, scale) for c in p)


def _world_plane(plane: Halfspace, at: Placement) -> tuple[Vec, Fraction]:
    """Return m and c with ``m.x <= c`` the placed half-space: normals turn by the inverse transposed."""
    normal = [Fraction(c) for c in plane.normal.tolist()]
    scale = lcm(*(c.denominator for c in normal))
    n = scaled_vector((normal[0], normal[1], normal[2]), scale)
    r = at.rotation
    cofactors = cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])
    m = turned(cofactors, n)
    # x = (r / turn) y + t, n.y <= offset scale  <=>  m.(x - t) <= offset scale det(r) / turn
    det = dot(r[0], cofactors[0])
    t = Fraction(dot(m, at.translation), at.shift)
    return m, Fraction(plane.offset) * scale * Fraction(det, at.turn) + t


def _over_length(value: Fraction, m: Vec) -> Root:
    """Return value / |m|."""
    p, q = value.as_integer_ratio()
    return Root(p, q * q * dot(m, m))
