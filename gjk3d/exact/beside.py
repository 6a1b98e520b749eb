"""The judge of answers about unions of convex sets beside a half-space or a plane: by what they cover along its normal.

Spans are counted in lengths of the normal, whose root is never taken, and are known from outside and from inside, which
is the same but for what is curved or rounded.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gjk3d.exact.arithmetic import (
    ORIGIN,
    ZERO,
    Enclosure,
    Root,
    dot,
    float_above,
    in_integers,
    negative,
)
from gjk3d.exact.claims import UNIT, claim_of
from gjk3d.exact.convex_sets import Body, Placement, at_point, place
from gjk3d.exact.cuts import Union
from gjk3d.exact.difference import Difference
from gjk3d.exact.judge import Case, Verdict, judge_form, note_witnesses, on_plane, wanted
from gjk3d.exact.signed import Plane, place_plane
from gjk3d.exact.unions import allowance_of, judge_point
from gjk3d.exact.wholes import Whole
from gjk3d.results import Certificate, Distance
from gjk3d.shapes.halfspace import Halfspace


class Span(NamedTuple):
    """What a part covers along a normal, at least and at most."""

    low_out: Fraction
    low_in: Fraction
    high_in: Fraction
    high_out: Fraction


def judge_beside(result: Distance, whole: Whole, solid: Halfspace, at: Placement, flaws: list[str]) -> Verdict:
    """Judge an answer about a body, which knows whether it is "a" or "b", and a half-space or a plane."""
    claim, wrong = claim_of(result)
    case = Case([*wrong, *flaws])
    case.open += whole.doubts
    if claim is None or case.open:
        return case.verdict()
    first = whole.name == "b"  # the half-space is
    points = (claim.point_a, claim.point_b) if first else (claim.point_b, claim.point_a)
    surface = _surface(solid, at, "a" if first else "b")
    allowed = allowance_of(claim, surface, whole)
    judge_form(case, claim, allowed)
    plane = place_plane(solid, at)
    low, high, (bottom, top) = _signed_distance([span_of(plane, part) for part in whole.union.parts], solid._sides)
    proof = Enclosure(wanted(claim, ZERO), claim.upper)
    proof.raise_low(_length(plane, low), plane.normal)
    proof.drop_high(_length(plane, high))
    case.judge_bounds(claim, proof, ZERO, ZERO)
    n, _ = in_integers(claim.normal)
    n = n if first else negative(n)
    if solid._sides > 1.0 and dot(n, plane.normal) < 0:
        plane, bottom = Plane(negative(plane.normal), -plane.offset), -top
    if not plane.is_along(n, Fraction(2 * UNIT)):
        case.wrong.append("the normal is not the half-space's")
    elif claim.of_surfaces:
        error = max(claim.distance - _length(plane, bottom).bracket()[0], ZERO)
        case.normal_error = float_above(error)
        if error > allowed.normal:
            case.wrong.append(f"along the normal the two are nearer than {float(claim.distance)!r}")
    off = on_plane(case, claim, plane, "point_a" if first else "point_b", points[0], solid, allowed)
    note_witnesses(case, [off, judge_point(case, claim, f"point_{whole.name}", points[1], whole, allowed)])
    carried = result.certificate
    if carried is not None and not (isinstance(carried, Certificate) and carried.kind == "plane"):
        case.wrong.append("its certificate is none of a half-space")
    return case.verdict()


def _surface(solid: Halfspace, at: Placement, name: str) -> Whole:
    """Return a point of the surface, for the size of the two."""
    x, y, z = (Fraction(c) * Fraction(solid.offset) for c in solid.normal.tolist())
    point = place(at_point((x, y, z)), at)
    u, v, w = (Fraction(t, at.shift) for t in at.translation)
    return Whole(name, Union([point]), [], [], [], abs(solid.offset), (u, v, w), [])


def _length(plane: Plane, value: Fraction) -> Root:
    return plane.height(plane.offset + value)


def span_of(plane: Plane, part: Body) -> Span:
    """Return what a part covers above a plane, in lengths of its normal."""
    n, down = plane.normal, negative(plane.normal)
    alone = Difference(part, at_point(ORIGIN))
    shorter, longer = Root.sqrt(Fraction(dot(n, n))).bracket()
    inner, outer = part.radius_low * shorter, part.radius_high * longer
    up_point, _, up = alone.support(n)
    low_point, _, low = alone.support(down)
    return Span(
        Fraction(-low, alone.scale) - outer - plane.offset,
        Fraction(dot(n, low_point), alone.scale) - inner - plane.offset,
        Fraction(dot(n, up_point), alone.scale) + inner - plane.offset,
        Fraction(up, alone.scale) + outer - plane.offset,
    )


def _signed_distance(spans: list[Span], sides: float) -> tuple[Fraction, Fraction, tuple[Fraction, Fraction]]:
    """Return bounds of the signed distance, in lengths of the normal, and the ends of what the lower one is of."""
    if sides == 1.0:
        low = min(span.low_out for span in spans)
        return low, min(span.low_in for span in spans), (low, low)
    outer = _merged([(span.low_out, span.high_out) for span in spans])
    inner = _merged([(span.low_in, span.high_in) for span in spans])
    nearest = min(outer, key=_away)
    return _away(nearest), min(map(_away, inner)), nearest


def _away(span: tuple[Fraction, Fraction]) -> Fraction:
    return max(span[0], -span[1])


def _merged(spans: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return spans in order, where those that touch are one."""
    out: list[tuple[Fraction, Fraction]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = out[-1][0], max(high, out[-1][1])
        else:
            out.append((low, high))
    return out
