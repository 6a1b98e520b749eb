"""What an answer says, in fractions, and what the laws leave to rounding."""

from __future__ import annotations

from fractions import Fraction
from math import hypot, inf, isfinite, ulp
from typing import NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import ORIGIN, FractionVec, Vec, dot, float_above, fractions, negative, sqrt_bounds
from gjk3d.exact.convex_sets import Body, Placement, at_point
from gjk3d.exact.difference import Difference
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.results import Distance, Status

UNIT = 1e-12  #: what a normal's length may miss of 1, and the points of the sign law, as a part of the size
_UNSIGNED = 0  #: the first entry of `Distance.asked` of what `distance` answered
_PROMISED = {True: 1e-9, False: 1e-12}  #: widths of curved and of flat or rounded shapes, as parts of the size
_LOOSE = 100  #: widths that the normal of an answer that is not tight may miss: its bound may be another normal's
_ROUGH = (Status.BEYOND, Status.UNDECIDED)  #: stopped early: their normals are on the way and prove nothing
_AXES: tuple[Vec, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Claim(NamedTuple):
    """An answer in exact numbers."""

    distance: Fraction
    lower: Fraction
    upper: Fraction
    normal: FractionVec
    point_a: FractionVec
    point_b: FractionVec
    status: Status
    tight: bool
    unsigned: bool  #: of `distance`, whose truth is max(0, signed distance)

    @property
    def common(self) -> bool:
        """Whether its witnesses are one point that the shapes share, anywhere in them."""
        return self.unsigned and self.status == Status.OVERLAPPING

    @property
    def of_surfaces(self) -> bool:
        """Whether its normal proves its distance, and its witnesses are on the surfaces."""
        return not self.common and self.status not in _ROUGH


def claim_of(result: Distance) -> tuple[Claim | None, list[str]]:
    """Return the answer in fractions, None where it is no numbers, and where it contradicts itself."""
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
    fits = {
        Status.SEPARATED: 0 < lower <= most,
        Status.BEYOND: lower > most,
        Status.OVERLAPPING: upper <= 0,
        Status.TOUCHING: lower <= 0 <= upper and tight,
        Status.UNDECIDED: lower <= 0 <= upper and not tight,
    }
    if not fits[status]:
        wide = "" if tight else ", not tight"
        beyond = "" if most == inf else f", max_distance {float(most)!r}"
        wrong.append(f"the status is {status.name}, the interval [{numbers[1]!r}, {numbers[2]!r}]{wide}{beyond}")
    return claim if any(normal) else None, wrong


class Allowed(NamedTuple):
    """What the laws leave to rounding, as lengths."""

    error: Fraction  #: of any number of the solver
    law: Fraction  #: of the sign law
    promised: Fraction  #: width of a tight interval, with room for another way to measure the size
    points: Fraction  #: how far outside its shape a point may be
    normal: Fraction  #: how much less than the distance the normal's own support gap may be


def allowance(claim: Claim, bodies: list[tuple[Body, Placement]], slack: float) -> Allowed:
    """Return what is allowed for bodies of this size."""
    size, stretch = _size(bodies)
    # a float holds no more at the place where the pair stands, nor where its poses' translations lead
    places = [*claim.point_a, *claim.point_b, *(Fraction(x, at.shift) for _, at in bodies for x in at.translation)]
    far = max(float(abs(c)) for c in places)
    world = Fraction(8 * ulp(far))
    # squares vanish below 1e-300, and the centres' offset is a sum in twice a float's digits
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
    """Return the pair's size, nearly as `gjk3d.narrow` defines it, and how far from rigid the poses are."""
    size, centers, stretch = 0.0, [], 0.0
    for body, at in bodies:
        alone = Difference(body, at_point(ORIGIN))
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
