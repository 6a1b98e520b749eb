"""The check of results in rational arithmetic, independent of the solver.

A claim is a result in fractions. `gjk3d.verify` documents the tolerances.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from fractions import Fraction
from math import hypot, inf, isfinite, ulp
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.exact.arithmetic import (
    ORIGIN,
    Enclosure,
    FractionVec,
    Vec,
    dot,
    float_above,
    float_below,
    fractions,
    in_integers,
    negative,
    sqrt_bounds,
)
from gjk3d.exact.certificates import judge_carried, judge_foot, prove_depth
from gjk3d.exact.convex_sets import Body, Difference, Placement, Side, at_point, body_of, place, placement, same_set
from gjk3d.exact.gjk_epa import Plane as SignedPlane
from gjk3d.exact.gjk_epa import bracket_outside, enclose, heights, place_plane
from gjk3d.poses import UNIT_ROUNDOFF, pose_rows
from gjk3d.results import Distance, Status
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.wording import format_bounds, kind_of, with_article

UNIT = 1e-12  #: tolerance of the length of a normal, and of the sign law relative to the size of the pair
_UNSIGNED = 0  #: first entry of `Distance.asked` for `distance`
#: greatest width of a tight interval relative to the size of the pair: for curved shapes, and for all others
_PROMISED = {True: 1e-9, False: 1e-12}
_LOOSE = 100  #: if a result is not tight, tolerance of the gap along the normal relative to the width of the interval
_ROUGH = (Status.BEYOND, Status.UNDECIDED)  #: the search stopped early, so the normal does not prove the distance
_AXES: tuple[Vec, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Claim(NamedTuple):
    """A result in exact numbers. The fields are those of `gjk3d.Distance`."""

    distance: Fraction
    lower: Fraction
    upper: Fraction
    normal: FractionVec
    point_a: FractionVec
    point_b: FractionVec
    status: Status
    tight: bool
    unsigned: bool  #: whether the query is `distance`, whose true value is max(0, signed distance)

    @property
    def common(self) -> bool:
        """Whether both witness points are one common point of the shapes."""
        return self.unsigned and self.status == Status.OVERLAPPING

    @property
    def of_surfaces(self) -> bool:
        """Whether the normal proves the distance, and the witness points are on the surfaces."""
        return not self.common and self.status not in _ROUGH


def claim_of(result: Distance) -> tuple[Claim | None, list[str]]:
    """Return the claim of a result, and the contradictions in the result.

    The claim is None if a number of the result is not finite, or the normal is zero.
    """
    wrong: list[str] = []
    numbers = [float(x) for x in (result.distance, result.lower, result.upper)]
    vectors = [np.asarray(v, dtype=float).tolist() for v in (result.normal, result.point_a, result.point_b)]
    if not all(isfinite(x) for x in (*numbers, *(x for v in vectors for x in v))):
        return None, ["a number in it is not finite"]
    distance, lower, upper = (Fraction(x) for x in numbers)
    normal, point_a, point_b = (fractions(v) for v in vectors)
    mode, most, _, _ = result.asked
    status, tight, unsigned = Status(int(result.status)), bool(result.tight), mode == _UNSIGNED
    claim = Claim(distance, lower, upper, normal, point_a, point_b, status, tight, unsigned)
    if unsigned and lower < 0:
        wrong.append(f"distance() is max(0, signed distance), and lower is {numbers[1]!r}")
    if not lower <= distance <= upper:
        wrong.append(f"lower <= distance <= upper does not hold: {numbers[1]!r}, {numbers[0]!r}, {numbers[2]!r}")
    length2 = dot(normal, normal)
    if abs(length2 - 1) > Fraction(2 * UNIT):
        wrong.append(f"the normal has length {sqrt_bounds(length2)[0]!r}")
    # each status is a statement about the interval
    fits = {
        Status.SEPARATED: 0 < lower <= most,
        Status.BEYOND: lower > most,
        Status.OVERLAPPING: upper <= 0,
        Status.TOUCHING: lower <= 0 <= upper and tight,
        Status.UNDECIDED: lower <= 0 <= upper and not tight,
    }
    if not fits[status]:
        wide = "" if tight else ", not tight"
        limit = "" if most == inf else f", max_distance {float(most)!r}"
        wrong.append(f"the status is {status.name}, the interval [{numbers[1]!r}, {numbers[2]!r}]{wide}{limit}")
    return claim if any(normal) else None, wrong


class Allowed(NamedTuple):
    """The tolerances of a claim for rounding errors, in the unit of the shapes."""

    error: Fraction  #: rounding error of a number of the solver
    law: Fraction  #: greatest error of the sign law
    promised: Fraction  #: greatest width of a tight interval
    points: Fraction  #: greatest distance of a witness point from its shape
    normal: Fraction  #: greatest difference between the distance and the gap of the shapes along the normal


def allowance(claim: Claim, bodies: list[tuple[Body, Placement]], slack: float) -> Allowed:
    """Return the tolerances for a claim about two bodies. ``slack`` bounds the errors of their stored shapes."""
    size, stretch = _size(bodies)
    # the spacing of floats grows with the coordinates of the pair, and with the translations of its poses
    places = [*claim.point_a, *claim.point_b, *(Fraction(x, at.shift) for _, at in bodies for x in at.translation)]
    far = max(float(abs(c)) for c in places)
    world = Fraction(8 * ulp(far))
    # squares below 1e-300 underflow, and the offset of the centres is a sum with twice the digits of a float
    error = 1e-300 + (64 * UNIT_ROUNDOFF + 2 * stretch) * size + slack + 2.0**-93 * far
    promised = Fraction(_PROMISED[any(body.curved for body, _ in bodies)] * size + 2 * error)
    width = claim.upper - claim.lower
    return Allowed(
        Fraction(error),
        Fraction(UNIT * size) + world,
        2 * promised,
        max(promised, width) + world,
        max(promised, width if claim.tight else _LOOSE * width),
    )


def _size(bodies: list[tuple[Body, Placement]]) -> tuple[float, float]:
    """Return the size of a pair, nearly as `gjk3d.narrow` defines it, and the greatest stretch of both poses.

    The stretch of a pose is the greatest relative change of a length by its rotation matrix.
    """
    size, centers, stretch = 0.0, [], 0.0
    for body, at in bodies:
        single = Difference(body, at_point(ORIGIN))
        origin = [Fraction(x, at.shift) for x in at.translation]
        # the bounding box relative to the origin of its frame
        ends = [[Fraction(single.support(s)[2], single.scale) for s in (axis, negative(axis))] for axis in _AXES]
        half = hypot(*(float_above((high + low) / 2) for high, low in ends))
        middle = [(high - low) / 2 - o for (high, low), o in zip(ends, origin, strict=True)]
        off = hypot(*(float_above(m) for m in middle))
        far = off > 4 * half  # the centre of the core is the middle of its box, and not the origin of its frame
        size += half + (0.0 if far else off) + float_above(body.radius_high)
        centers.append([o + m if far else o for o, m in zip(origin, middle, strict=True)])
        stretch = max(stretch, float_above(at.stretch))
    size += hypot(*(float_above(p - q) for p, q in zip(*centers, strict=True)))
    return min(size, 1e300), stretch


_UP = Context(prec=2, rounding=ROUND_CEILING)


class Verdict(NamedTuple):
    """The result of `verify`. Its truth value is ``proven``.

    Attributes
    ----------
    proven : bool
        Whether every claim of the result is proven, up to the documented tolerances.
    refuted : bool
        Whether at least one claim is proven to be wrong. If ``proven`` and ``refuted`` are False, a claim could neither
        be proven nor be refuted.
    reasons : tuple of str
        The claims that are refuted or could not be proven. Empty if every claim is proven.
    lower, upper : float
        Bounds of the signed distance that `verify` proved. A bound that the proof did not need is infinite.
    witness_error : float
        Proven upper bound of the distance of each witness point from the surface of its shape. For the common point of
        an overlap, and after a search that stopped early, it bounds the distance from the solid shape, which is 0
        inside. Infinite if nothing is proven.
    normal_error : float
        The gap of the shapes along the normal is proven to be at least the distance minus this number. Infinite if
        nothing is proven, as for the common point of an overlap or after a search that stopped early.

    Examples
    --------
    >>> import gjk3d as gk
    >>> ball, point = gk.Sphere(1), gk.Point((3, 0, 0))
    >>> verdict = gk.verify(gk.distance(ball, point), ball, point)
    >>> verdict.ok, verdict.reasons, verdict.tolerances
    (True, (), 'witness points to 0, normal to 0')
    """

    proven: bool
    refuted: bool
    reasons: tuple[str, ...]
    lower: float
    upper: float
    witness_error: float = inf
    normal_error: float = inf

    @property
    def ok(self) -> bool:
        """The same as ``proven``."""
        return self.proven

    def __bool__(self) -> bool:
        return self.proven

    def __repr__(self) -> str:
        what = "proven" if self.proven else "refuted" if self.refuted else "unproven"
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        some = self.lower > -inf or self.upper < inf
        proven = f"signed distance {format_bounds(self.lower, self.upper)}" if some else ""
        bounds = ", ".join(filter(None, (proven, self.tolerances)))
        return f"Verdict: {what}{why}{f' ({bounds})' if bounds else ''}"

    @property
    def tolerances(self) -> str:
        """The proven errors of the witness points and of the normal as text, empty if none is proven."""
        errors = ("witness points", self.witness_error), ("normal", self.normal_error)
        return ", ".join(f"{name} to {float(_UP.create_decimal(error)):.2g}" for name, error in errors if error < inf)


class Case:
    """The findings about a result: refuted and unproven claims, and proven bounds."""

    def __init__(self, wrong: list[str]) -> None:
        self.wrong = wrong
        self.open: list[str] = []  #: claims that could not be proven
        self.lower, self.upper = -inf, inf
        self.witness_error = self.normal_error = inf

    def verdict(self) -> Verdict:
        """Return the verdict on the findings."""
        reasons = (*self.wrong, *(f"unprovable: {w}" for w in self.open))
        errors = self.witness_error, self.normal_error
        return Verdict(not reasons, bool(self.wrong), reasons, self.lower, self.upper, *errors)

    def judge_bounds(self, claim: Claim, proof: Enclosure, radius_low: Fraction, radius_high: Fraction) -> None:
        """Compare the bounds of the claim with the proven bounds of the distance of the cores.

        ``radius_low`` and ``radius_high`` are bounds of the sum of both rounding radii.
        """
        if proof.low is not None:
            self.lower = float_below(proof.low.bracket()[0] - radius_high)
        if proof.high is not None:
            self.upper = float_above(proof.high.bracket()[1] - radius_low)
        lower, upper = float(claim.lower), float(claim.upper)
        if proof.low_refuted or proof.high_refuted:
            proven = f"[{self.lower!r}, {self.upper!r}]"
            self.wrong.append(f"the signed distance is in {proven}, not in [{lower!r}, {upper!r}]")
            return
        if not proof.low_proven:
            self.open.append(f"lower is {lower!r}, but only {self.lower!r} could be proven")
        if not proof.high_proven:
            self.open.append(f"upper is {upper!r}, but only {self.upper!r} could be proven")


def verify(result: Distance, a: Shape, b: Shape, pose_a: Any = None, pose_b: Any = None) -> Verdict:
    """Return the verdict on the result of a pair of convex shapes. `gjk3d.verify` accepts non-convex bodies too.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        If a pose is not one rigid transform, a shape is not convex, or both are half-spaces.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> from gjk3d.exact import verify
    >>> pose = np.eye(4); pose[0, 3] = 3
    >>> box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    >>> verify(gk.signed_distance(box, ball, None, pose), box, ball, None, pose).witness_error < 1e-15
    True
    """
    at_a, at_b = _placements_of(result, a, b, pose_a, pose_b)
    claim, wrong = claim_of(result)
    case = Case(wrong)
    for name, shape in (("a", a), ("b", b)):
        queried = getattr(result, f"shape_{name}", shape)
        if not same_set(shape, queried):
            case.wrong.append(f"the result is about another shape: {name} is {shape!r}, but the query had {queried!r}")
    if claim is None:
        return case.verdict()
    judge = _judge_plane if (a._kind | b._kind) & Kind.PLANES else _judge_cores
    judge(case, claim, a, b, at_a, at_b, result.certificate)
    return case.verdict()


def _placements_of(result: Distance, a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Placement, Placement]:
    if not isinstance(result, Distance):
        raise TypeError(
            "verify() needs a result of distance, signed_distance, signed_distances, or of raycast with hits='first', "
            f"not {with_article(type(result).__name__)}"
        )
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise UnsupportedPair(f"verify: {name} is {kind_of(shape)}, expected a convex shape such as gjk3d.Box")
    if a._kind & Kind.PLANES and b._kind & Kind.PLANES:
        raise UnsupportedPair("verify: the overlap of half-spaces is unbounded. Use a large Box for one of them")
    row_a, row_b = one_row(result, pose_a, pose_b)
    return placement(row_a), placement(row_b)


def one_row(result: Distance, pose_a: Any, pose_b: Any) -> list[Array]:
    """Return the pose rows of two poses. Raise an error if the result is a stack, or a pose is a stack of several."""
    if np.ndim(result.normal) != 1:
        raise TypeError("verify: result is a stack of pairs, expected one pair. Use verify(result[i], ...)")
    placed_rows = []
    for name, pose in (("pose_a", pose_a), ("pose_b", pose_b)):
        rows, _ = pose_rows(pose, name)
        if len(rows) != 1:
            raise ShapeError(f"verify: {name} is a stack of {len(rows)} poses, expected one pose")
        placed_rows.append(rows[0])
    return placed_rows


def judge_form(case: Case, claim: Claim, allowed: Allowed) -> None:
    """Check that ``point_b - point_a`` is ``distance * normal``, and that a tight interval is narrow enough."""
    miss = [q - p - claim.distance * n for p, q, n in zip(claim.point_a, claim.point_b, claim.normal, strict=True)]
    square = sum((c * c for c in miss), Fraction(0))
    if square > allowed.law**2:
        case.wrong.append(f"point_b - point_a differs from distance * normal by {sqrt_bounds(square)[0]:.3g}")
    width = claim.upper - claim.lower
    if claim.tight and width > allowed.promised:
        case.wrong.append(f"it is marked as tight, but is {float_above(width):.3g} wide")


# --- two bounded shapes -----------------------------------------------------------------------------------------------


def _body(case: Case, shape: Shape, at: Placement) -> Body | None:
    body = body_of(shape)
    if body is None:
        case.open.append(f"a {type(shape).__name__} is not defined by numbers, so it cannot be checked")
        return None
    return place(body, at)


def _judge_cores(
    case: Case, claim: Claim, a: Shape, b: Shape, at_a: Placement, at_b: Placement, certificate: Any
) -> None:
    body_a, body_b = _body(case, a, at_a), _body(case, b, at_b)
    if body_a is None or body_b is None:
        return
    allowed = allowance(claim, [(body_a, at_a), (body_b, at_b)], a._slack() + b._slack())
    judge_form(case, claim, allowed)
    difference = Difference(body_a, body_b)
    n, _ = in_integers(claim.normal)
    proof = Enclosure(wanted(claim, difference.radius_high), claim.upper + difference.radius_low)
    core_a, core_b = body_of(a), body_of(b)
    assert core_a is not None
    assert core_b is not None
    side_a, side_b = Side("a", core_a, at_a), Side("b", core_b, at_b)
    if certificate is not None:
        flaws = judge_carried(certificate, side_a, side_b, difference, allowed.error, proof)
        case.wrong += [f"its certificate is not valid: {flaw}" for flaw in flaws]
    # search for the bounds that the certificate does not prove
    if claim.upper < 0 and not difference.exact and not proof.done:
        prove_depth(side_a, side_b, proof)
    if not proof.done:
        enclose(difference, n, proof)
    case.judge_bounds(claim, proof, difference.radius_low, difference.radius_high)
    if claim.of_surfaces:
        _judge_normal(case, claim, n, difference, allowed)
    sides = ("point_a", claim.point_a, body_a, n), ("point_b", claim.point_b, body_b, negative(n))
    note_witnesses(case, [_judge_point(case, claim, *side, allowed) for side in sides])


def wanted(claim: Claim, radius: Fraction) -> Fraction | None:
    """Return the lower bound to prove for cores whose radii sum to ``radius``, or None if no bound is needed."""
    return None if claim.unsigned and claim.lower <= 0 else claim.lower + radius


def _judge_normal(case: Case, claim: Claim, n: Vec, difference: Difference, allowed: Allowed) -> None:
    """Check that the gap of the shapes along the normal ``n`` is the distance, up to the tolerance."""
    gap = -difference.height(n).bracket()[1] - difference.radius_high
    error = max(claim.distance - gap, Fraction(0))
    case.normal_error = float_above(error)
    if error > allowed.normal:
        case.wrong.append(f"along the normal the distance is {float_below(gap)!r}, not {float(claim.distance)!r}")


def _judge_point(
    case: Case, claim: Claim, name: str, point: FractionVec, body: Body, outward: Vec, allowed: Allowed
) -> Fraction | None:
    """Prove that a witness point is in its shape. Return the witness error (see `Verdict`), or None without proof.

    A point inside a shape is at most as far from the surface as from the supporting plane along ``outward``.
    """
    low, high = bracket_outside(point, body, outward, allowed.error, allowed.points)
    if high is None:
        if low > allowed.points:
            case.wrong.append(f"{name} is outside its shape by {float_below(low):.3g}")
        else:
            case.open.append(f"{name} could not be proven to be in its shape")
        return None
    if not claim.of_surfaces:
        return high
    return max(high, Difference(body, at_point(point)).height(outward).bracket()[1] + body.radius_high)


def note_witnesses(case: Case, off: list[Fraction | None]) -> None:
    """Set the witness error of the case to the greatest of the errors ``off``, if none of them is None."""
    errors = [x for x in off if x is not None]
    if len(errors) == len(off):
        case.witness_error = float_above(max(errors))


# --- a half-space -----------------------------------------------------------------------------------------------------


def _judge_plane(
    case: Case, claim: Claim, a: Shape, b: Shape, at_a: Placement, at_b: Placement, certificate: Any
) -> None:
    names = ("point_a", claim.point_a), ("point_b", claim.point_b)
    n, _ = in_integers(claim.normal)
    if isinstance(a, Halfspace):
        halfspace, shape, at_halfspace, at_shape, (on_halfspace, on_shape) = a, b, at_a, at_b, names
    else:
        assert isinstance(b, Halfspace)
        halfspace, shape, at_halfspace, at_shape, (on_shape, on_halfspace) = b, a, at_b, at_a, names
        n = negative(n)
    body = _body(case, shape, at_shape)
    if body is None:
        return
    plane = place_plane(halfspace, at_halfspace)
    planes = [plane] if halfspace._sides == 1.0 else [plane, SignedPlane(negative(plane.normal), -plane.offset)]
    plane = next((face for face in planes if dot(face.normal, n) > 0), plane)
    x, y, z = (Fraction(c) * Fraction(halfspace.offset) for c in halfspace.normal.tolist())
    surface_point = place(at_point((x, y, z)), at_halfspace)
    allowed = allowance(claim, [(body, at_shape), (surface_point, at_halfspace)], shape._slack())
    judge_form(case, claim, allowed)
    proof = Enclosure(wanted(claim, body.radius_high), claim.upper + body.radius_low)
    # a plane is the intersection of two half-spaces: its signed distance is the greater of theirs
    proof.drop_high(max((heights(face, body)[1] for face in planes), key=lambda height: height.signed_square))
    for face in planes:
        proof.raise_low(heights(face, body)[0], face.normal)
    if certificate is not None:
        core = body_of(shape)
        assert core is not None
        side = Side("b" if shape is b else "a", core, at_shape)
        flaws = judge_foot(certificate, side, plane.normal, body, allowed.error)
        case.wrong += [f"its certificate is not valid: {flaw}" for flaw in flaws]
    case.judge_bounds(claim, proof, body.radius_low, body.radius_high)
    if not plane.is_along(n, Fraction(2 * UNIT)):
        case.wrong.append("the normal is not the half-space's")
    elif claim.of_surfaces:
        along = float_below(heights(plane, body)[0].bracket()[0] - body.radius_high)
        case.normal_error = max(0.0, float_above(claim.distance - Fraction(along)))
        if halfspace._sides > 1.0 and case.normal_error > allowed.normal:
            case.wrong.append(f"along the normal the distance is {along!r}, not {float(claim.distance)!r}")
    off = on_plane(case, claim, plane, *on_halfspace, halfspace, allowed)
    note_witnesses(case, [off, _judge_point(case, claim, *on_shape, body, negative(plane.normal), allowed)])


def on_plane(
    case: Case, claim: Claim, plane: SignedPlane, name: str, point: FractionVec, halfspace: Halfspace, allowed: Allowed
) -> Fraction:
    """Check that a witness point is in a half-space or on a plane, and return the witness error (see `Verdict`)."""
    inside, outside = plane.height(dot(plane.normal, point)).bracket()
    if outside > allowed.points or (halfspace._sides > 1.0 and -inside > allowed.points):
        case.wrong.append(f"{name} is outside the {'half-space' if halfspace._sides == 1.0 else 'plane'}")
    return max(-inside, outside) if claim.of_surfaces or halfspace._sides > 1.0 else max(Fraction(0), outside)
