"""The judge: is an answer true? Shown in rational arithmetic, without the solver."""

from __future__ import annotations

from fractions import Fraction
from math import hypot, inf, isfinite, ulp
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.exact.arithmetic import FractionVec, Root, Vec, float_above, float_below, in_integers, negative, sqrt_bounds
from gjk3d.exact.bodies import Body, Placement, at_point, body_of, place, placement, same_set
from gjk3d.exact.carried import Side, judge_carried, judge_foot
from gjk3d.exact.difference import Difference
from gjk3d.exact.enclosure import Enclosure
from gjk3d.exact.plane import heights, place_plane
from gjk3d.exact.revolved import Placed, prove_depth
from gjk3d.exact.signed import enclose
from gjk3d.poses import pose_rows
from gjk3d.results import Distance, Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace

_UNIT = 1e-12  #: what a normal's length may miss of 1, and the points of the sign law, as a part of the size
_PROMISED = {True: 1e-9, False: 1e-12}  #: widths of curved and of flat or rounded shapes, as parts of the size
_LOOSE = 100  #: widths that the normal of an answer that is not tight may miss: its bound may be another normal's
_ROUGH = (Status.BEYOND, Status.UNDECIDED)  #: stopped early: their normals are on the way and prove nothing
_AXES: tuple[Vec, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_ORIGIN = (Fraction(0),) * 3


class Verdict(NamedTuple):
    """What `verify` found; as a boolean, whether all is proven.

    Attributes
    ----------
    proven : bool
        Every claim of the answer is proven.
    refuted : bool
        One of them is proven wrong. Neither means that the judge gave up.
    reasons : tuple of str
        What is refuted or could not be proven; empty where all is well.
    lower, upper : float
        Bounds of the signed distance that the judge found, as far as it had to look; infinite where it had not.
    """

    proven: bool
    refuted: bool
    reasons: tuple[str, ...]
    lower: float
    upper: float

    @property
    def ok(self) -> bool:
        """The same as ``proven``."""
        return self.proven

    def __bool__(self) -> bool:
        return self.proven

    def __repr__(self) -> str:
        what = "proven" if self.proven else "refuted" if self.refuted else "unproven"
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"Verdict: {what}{why} (signed distance in [{self.lower!r}, {self.upper!r}])"


class _Claim(NamedTuple):
    """An answer in exact numbers."""

    distance: Fraction
    lower: Fraction
    upper: Fraction
    normal: FractionVec
    point_a: FractionVec
    point_b: FractionVec
    status: Status
    tight: bool

    @property
    def unsigned(self) -> bool:
        """Whether it is read as of `distance`, whose truth is max(0, signed distance)."""
        return self.lower == 0


class _Case:
    """What was found about one answer so far."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.open: list[str] = []
        self.lower, self.upper = -inf, inf

    def verdict(self) -> Verdict:
        reasons = (*self.wrong, *(f"unprovable: {w}" for w in self.open))
        return Verdict(not reasons, bool(self.wrong), reasons, self.lower, self.upper)

    def judge_bounds(self, claim: _Claim, proof: Enclosure, radius_low: Fraction, radius_high: Fraction) -> None:
        """Compare the claim with what is proven about the cores."""
        if proof.low is not None:
            self.lower = float_below(proof.low.bracket()[0] - radius_high)
        if proof.high is not None:
            self.upper = float_above(proof.high.bracket()[1] - radius_low)
        lower, upper = float(claim.lower), float(claim.upper)
        if proof.low_refuted or proof.high_refuted:
            found = f"[{self.lower!r}, {self.upper!r}]"
            self.wrong.append(f"the signed distance is in {found}, not in [{lower!r}, {upper!r}]")
            return
        if not proof.low_proven:
            self.open.append(f"lower is {lower!r}, no more than {self.lower!r} could be proven")
        if not proof.high_proven:
            self.open.append(f"upper is {upper!r}, no less than {self.upper!r} could be proven")


def verify(result: Distance, a: Shape, b: Shape, pose_a: Any = None, pose_b: Any = None) -> Verdict:
    """Judge one answer of `distance` or `signed_distance` in rational arithmetic, sharing no code with the solver.

    Shapes and poses are the fractions that their floats are; a pose is its matrix after the polar step. The judge
    proves the bounds by the certificate that the answer carries, or else by normals and points that it finds itself,
    and holds the sign law, the normal, the points, the
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
        True where every claim is proven. A false claim is refuted; where the judge can do neither, as for a shape
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
    >>> bool(verify(answer, box, ball, None, pose)), bool(verify(answer, box, gk.Sphere(2), None, pose))
    (True, False)
    """
    at_a, at_b = _question(result, a, b, pose_a, pose_b)
    case = _Case()
    for name, shape in (("a", a), ("b", b)):
        other = getattr(result, f"shape_{name}", shape)
        if not same_set(shape, other):
            case.wrong.append(f"the answer is about another shape: {name} is {shape!r}, there it was {other!r}")
    claim = _claim(result, case)
    if claim is None:
        return case.verdict()
    judge = _judge_plane if isinstance(a, Halfspace) or isinstance(b, Halfspace) else _judge_cores
    judge(case, claim, a, b, at_a, at_b, result.certificate)
    return case.verdict()


def _question(result: Distance, a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Placement, Placement]:
    if not isinstance(result, Distance):
        raise TypeError(f"verify() judges what distance and signed_distance return, not a {type(result).__name__}")
    if np.ndim(result.normal) != 1:
        raise TypeError("verify() is of one pair: take a row first, verify(result[i], ...)")
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise UnsupportedPair(
                f"verify: {name} is a {type(shape).__name__}; answers about convex shapes are judged, such as gjk3d.Box"
            )
    if isinstance(a, Halfspace) and isinstance(b, Halfspace):
        raise UnsupportedPair("verify: two half-spaces overlap without end")
    places = []
    for name, pose in (("pose_a", pose_a), ("pose_b", pose_b)):
        rows, _ = pose_rows(pose, name)
        if len(rows) != 1:
            raise ShapeError(f"verify: {name} is a stack of {len(rows)} poses, expected the one of this row")
        places.append(placement(rows[0]))
    return places[0], places[1]


# --- what an answer says of itself ------------------------------------------------------------------------------------


def _claim(result: Distance, case: _Case) -> _Claim | None:
    """Return the answer in fractions, None where it is no numbers; note where it contradicts itself."""
    numbers = [float(x) for x in (result.distance, result.lower, result.upper)]
    vectors = [np.asarray(v, dtype=float).tolist() for v in (result.normal, result.point_a, result.point_b)]
    if not all(isfinite(x) for x in (*numbers, *(x for v in vectors for x in v))):
        case.wrong.append("a number in it is not finite")
        return None
    distance, lower, upper = (Fraction(x) for x in numbers)
    normal, point_a, point_b = ((Fraction(v[0]), Fraction(v[1]), Fraction(v[2])) for v in vectors)
    claim = _Claim(distance, lower, upper, normal, point_a, point_b, Status(int(result.status)), bool(result.tight))
    if not lower <= distance <= upper:
        case.wrong.append(f"lower <= distance <= upper does not hold: {numbers[1]!r}, {numbers[0]!r}, {numbers[2]!r}")
    length2 = sum((c * c for c in normal), Fraction(0))
    if abs(length2 - 1) > Fraction(2 * _UNIT):
        case.wrong.append(f"the normal has length {sqrt_bounds(length2)[0]!r}")
    fits = {
        Status.SEPARATED: lower > 0,
        Status.BEYOND: lower > 0,
        Status.OVERLAPPING: upper <= 0,
        Status.TOUCHING: lower <= 0 <= upper and claim.tight,
        Status.UNDECIDED: lower <= 0 <= upper and not claim.tight,
    }
    if not fits[claim.status]:
        tight = "" if claim.tight else ", not tight"
        case.wrong.append(f"the status is {claim.status.name}, the interval [{numbers[1]!r}, {numbers[2]!r}]{tight}")
    return claim if any(normal) else None


class _Allowed(NamedTuple):
    """What the laws leave to rounding, as lengths."""

    error: Fraction  #: of any number of the solver
    law: Fraction  #: of the sign law
    promised: Fraction  #: width of a tight interval, with room for another way to measure the size
    points: Fraction  #: how far from its shape a point may be
    normal: Fraction  #: how much less than the distance the normal's own support gap may be


def _allowed(claim: _Claim, bodies: list[tuple[Body, Placement]], slack: float) -> _Allowed:
    """Return what is allowed for bodies of this size."""
    size, stretch = _size(bodies)
    # a float holds no more at the place where the pair stands, nor where its poses' translations lead
    places = [*claim.point_a, *claim.point_b, *(Fraction(x, at.shift) for _, at in bodies for x in at.translation)]
    far = max(float(abs(c)) for c in places)
    world = Fraction(8 * ulp(far))
    # squares vanish below 1e-300, and the centres' offset is a sum in twice a float's digits
    error = 1e-300 + (64 * layout.UNIT_ROUNDOFF + 2 * stretch) * size + slack + 2.0**-93 * far
    promised = Fraction(_PROMISED[any(body.curved for body, _ in bodies)] * size + 2 * error)
    width = claim.upper - claim.lower
    return _Allowed(
        Fraction(error),
        Fraction(_UNIT * size) + world,
        2 * promised,
        max(promised, width) + world,
        max(promised, width if claim.tight else _LOOSE * width),
    )


def _size(bodies: list[tuple[Body, Placement]]) -> tuple[float, float]:
    """Return the pair's size, nearly as `gjk3d.narrow` defines it, and how far from rigid the poses are."""
    size, centers, stretch = 0.0, [], 0.0
    for body, at in bodies:
        alone = Difference(body, at_point(_ORIGIN))
        origin = [Fraction(x, at.shift) for x in at.translation]
        # the box round it, as seen from its frame's origin
        ends = [[Fraction(alone.support(s)[2], alone.scale) for s in (axis, negative(axis))] for axis in _AXES]
        half = hypot(*(float_above((high + low) / 2) for high, low in ends))
        middle = [(high - low) / 2 - o for (high, low), o in zip(ends, origin, strict=True)]
        off = hypot(*(float_above(m) for m in middle))
        far = off > 4 * half  # then its middle is its centre, and not the frame's origin
        size += half + (0.0 if far else off) + float_above(body.radius_high)
        centers.append([o + m if far else o for o, m in zip(origin, middle, strict=True)])
        stretch = max(stretch, float_above(at.stretch))
    size += hypot(*(float_above(p - q) for p, q in zip(*centers, strict=True)))
    return min(size, 1e300), stretch


def _judge_form(case: _Case, claim: _Claim, allowed: _Allowed) -> None:
    """Check what needs no more of the shapes than their size."""
    miss = [q - p - claim.distance * n for p, q, n in zip(claim.point_a, claim.point_b, claim.normal, strict=True)]
    square = sum((c * c for c in miss), Fraction(0))
    if square > allowed.law**2:
        case.wrong.append(f"point_b - point_a misses distance * normal by {sqrt_bounds(square)[0]:.3g}")
    width = claim.upper - claim.lower
    if claim.tight and width > allowed.promised:
        case.wrong.append(f"it is called tight and is {float_above(width):.3g} wide")


# --- two bounded bodies -----------------------------------------------------------------------------------------------


def _body(case: _Case, shape: Shape, at: Placement) -> Body | None:
    body = body_of(shape)
    if body is None:
        case.open.append(f"a {type(shape).__name__} is not given by numbers that the judge knows")
        return None
    return place(body, at)


def _judge_cores(
    case: _Case, claim: _Claim, a: Shape, b: Shape, at_a: Placement, at_b: Placement, certificate: Any
) -> None:
    body_a, body_b = _body(case, a, at_a), _body(case, b, at_b)
    if body_a is None or body_b is None:
        return
    allowed = _allowed(claim, [(body_a, at_a), (body_b, at_b)], a._slack() + b._slack())
    _judge_form(case, claim, allowed)
    difference = Difference(body_a, body_b)
    n, _ = in_integers(claim.normal)
    low = None if claim.unsigned else claim.lower + difference.radius_high
    proof = Enclosure(low, claim.upper + difference.radius_low)
    own_a, own_b = body_of(a), body_of(b)
    assert own_a is not None
    assert own_b is not None
    if certificate is not None:
        carried = judge_carried(certificate, Side("a", own_a, at_a), Side("b", own_b, at_b), difference, allowed.error)
        case.wrong += [f"its certificate is none: {flaw}" for flaw in carried.flaws]
        carried.add_to(proof)
    # what is not carried, or not enough, is found anew
    if claim.upper < 0 and not difference.exact and not proof.done:
        prove_depth(Placed(own_a, at_a), Placed(own_b, at_b), proof)
    if not proof.done:
        enclose(difference, n, proof)
    case.judge_bounds(claim, proof, difference.radius_low, difference.radius_high)
    if not (claim.unsigned and claim.status == Status.OVERLAPPING) and claim.status not in _ROUGH:
        _judge_normal(case, claim, n, difference, allowed)
    _judge_point(case, "point_a", claim.point_a, body_a, n, allowed)
    _judge_point(case, "point_b", claim.point_b, body_b, negative(n), allowed)


def _judge_normal(case: _Case, claim: _Claim, n: Vec, difference: Difference, allowed: _Allowed) -> None:
    """Check that the normal proves the answer: its own support gap is a lower bound."""
    top = difference.height(n)
    gap = Root(-top.num, top.den)
    if gap < Root.of(claim.distance - allowed.normal + difference.radius_high):
        found = float_below(gap.bracket()[0] - difference.radius_high)
        case.wrong.append(f"along the normal the distance is {found!r}, not {float(claim.distance)!r}")


def _judge_point(case: _Case, name: str, point: FractionVec, body: Body, outward: Vec, allowed: _Allowed) -> None:
    """Prove that a point is in its shape, or as close as rounding brings it."""
    difference = Difference(body, at_point(point))
    proof = Enclosure(None, allowed.points + difference.radius_low)
    enclose(difference, outward, proof)
    if proof.low is not None and proof.high_refuted:
        away = float_below(proof.low.bracket()[0] - difference.radius_high)
        case.wrong.append(f"{name} is outside its shape by {away:.3g}")
    elif not proof.high_proven:
        case.open.append(f"{name} could not be shown to be in its shape")


# --- a half-space -----------------------------------------------------------------------------------------------------


def _judge_plane(
    case: _Case, claim: _Claim, a: Shape, b: Shape, at_a: Placement, at_b: Placement, certificate: Any
) -> None:
    names = ("point_a", claim.point_a), ("point_b", claim.point_b)
    n, _ = in_integers(claim.normal)
    if isinstance(a, Halfspace):
        solid, shape, at_solid, at_shape, (on_solid, on_shape) = a, b, at_a, at_b, names
    else:
        assert isinstance(b, Halfspace)
        solid, shape, at_solid, at_shape, (on_shape, on_solid) = b, a, at_b, at_a, names
        n = negative(n)
    body = _body(case, shape, at_shape)
    if body is None:
        return
    plane = place_plane(solid, at_solid)
    x, y, z = (Fraction(c) * Fraction(solid.offset) for c in solid.normal.tolist())
    surface = place(at_point((x, y, z)), at_solid)
    allowed = _allowed(claim, [(body, at_shape), (surface, at_solid)], shape._slack())
    _judge_form(case, claim, allowed)
    low, high = heights(plane, body)
    proof = Enclosure(None if claim.unsigned else claim.lower + body.radius_high, claim.upper + body.radius_low)
    proof.raise_low(low, plane.normal)
    proof.drop_high(high)
    if certificate is not None:
        own = body_of(shape)
        assert own is not None
        side = Side("b" if shape is b else "a", own, at_shape)
        flaws = judge_foot(certificate, side, plane.normal, body, allowed.error)
        case.wrong += [f"its certificate is none: {flaw}" for flaw in flaws]
    case.judge_bounds(claim, proof, body.radius_low, body.radius_high)
    if not plane.is_along(n, Fraction(2 * _UNIT)):
        case.wrong.append("the normal is not the half-space's")
    beyond = sum((c * p for c, p in zip(plane.normal, on_solid[1], strict=True)), Fraction(0))
    if Root.of(allowed.points) < plane.height(beyond):
        case.wrong.append(f"{on_solid[0]} is outside the half-space")
    _judge_point(case, *on_shape, body, negative(plane.normal), allowed)
