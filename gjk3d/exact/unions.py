"""The check of results for bodies, which are unions of convex parts and closed surfaces.

- A cut proves the lower bound of a separation, see `gjk3d.exact.cuts`. Winding numbers prove that no piece of a body is
  inside a closed surface of the other body.
- The witness points prove the upper bound of a separation. Each witness point is in a part.
- Two parts with a common point, or a point inside a closed surface, prove an overlap. A translation after which a cut
  proves a separation is an upper bound of the depth.

A body and a half-space or a plane are checked by the intervals of the parts along the normal. Heights are multiplied
by the length of the normal, so that they are rational. The ends of an interval are exact for polytopes, and have bounds
for curved and rounded parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ulp
from typing import NamedTuple

import numpy as np

from gjk3d.errors import UnsupportedPair
from gjk3d.exact.arithmetic import (
    ORIGIN,
    ZERO,
    Enclosure,
    FractionVec,
    Root,
    dot,
    float_above,
    float_below,
    fractions,
    in_integers,
    negative,
    sqrt_bounds,
    sub,
)
from gjk3d.exact.convex_sets import Body, Difference, Placement, at_point, place
from gjk3d.exact.cuts import (
    NO_PARTS,
    ClosedSurface,
    Union,
    WorldBody,
    exact_direction,
    find_cut,
    find_pair,
    flaws_of_cut,
    is_near,
)
from gjk3d.exact.gjk_epa import Plane, bracket_outside, place_plane
from gjk3d.exact.judge import (
    UNIT,
    Allowed,
    Case,
    Claim,
    Verdict,
    claim_of,
    judge_form,
    note_witnesses,
    on_plane,
    wanted,
)
from gjk3d.poses import ROUNDING
from gjk3d.results import Certificate, Distance, PartsCertificate, Status
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_SIDES = 4  #: greatest number of sides of a touch that a translation has to separate
_MOST_NEAR = 64  #: greatest number of parts near a point that are checked
_AHEAD = 1e4  #: step along the normal of a touch, relative to the tolerance of a witness point
#: greatest width of a tight interval relative to the size of the pair: for curved, rounded or overlapping bodies, and
#: for separated polytopes
_PROMISED = {True: 1e-9, False: 1e-12}
_OUT = "a closed surface of one body may enclose the other"


# --- the check of two bodies ------------------------------------------------------------------------------------------


def judge_unions(result: Distance, a: WorldBody, b: WorldBody, flaws: list[str]) -> Verdict:
    """Return the verdict on the result of a pair of bodies. ``flaws`` are contradictions that are already known."""
    claim, wrong = claim_of(result)
    case = Case([*wrong, *flaws])
    case.open += [*a.doubts, *b.doubts]
    if claim is None or case.open:
        return case.verdict()
    allowed = allowance_of(claim, a, b)
    judge_form(case, claim, allowed)
    off = [
        judge_point(case, claim, f"point_{body.name}", point, body, allowed)
        for body, point in ((a, claim.point_a), (b, claim.point_b))
        if not (claim.status == Status.OVERLAPPING and not claim.common)  # after the query, these points are inside
    ]
    if off:
        note_witnesses(case, off)
    carried = result.certificate
    if carried is not None:
        if not isinstance(carried, PartsCertificate):
            case.wrong.append(f"its certificate is not valid: it is {kind_of(carried)}")
            return case.verdict()
        flaw = _flaw_of_parts(carried, claim, a, b)
        if flaw:
            case.wrong.append(f"its certificate is not valid: {flaw}")
    if claim.status == Status.TOUCHING:
        _judge_normal(case, claim, a, b, allowed)
    if claim.lower >= 0:
        _judge_apart(case, claim, a, b, carried)
    else:
        _judge_depth_at_most(case, claim, a, b, carried)
    if carried is not None and len(carried.parts) == 2 and not case.wrong:
        case.upper = float_above(claim.upper)  # `_flaw_of_parts` has proven it for the parts of the certificate
    elif claim.upper > 0:
        _judge_near(case, claim, a, b, off)
    else:
        _judge_overlap(case, claim, a, b)
    return case.verdict()


def allowance_of(claim: Claim, a: WorldBody, b: WorldBody) -> Allowed:
    """Return the tolerances for a claim about two bodies."""
    far = float_above(sqrt_of(sub(a.origin, b.origin)))
    size = 2.0 * (a.size + b.size + far)
    error = Fraction(1e-300 + ROUNDING * size)
    world = Fraction(8 * ulp(max(float(abs(c)) for c in (*claim.point_a, *claim.point_b, *a.origin, *b.origin))))
    parts = [part for x in (a, b) for part in x.union.parts]
    curved = any(part.curved for part in parts)
    wide = claim.upper <= 0 or curved or any(part.radius_high for part in parts)
    promised = Fraction(_PROMISED[wide] * size) + 16 * error
    # for curved parts, the error of a witness point may be as large as the width of the interval
    points = max(promised, claim.upper - claim.lower) if curved and claim.upper > 0 else 2 * error
    return Allowed(error, error + world, 2 * promised, points + world, promised)


def sqrt_of(v: FractionVec) -> Fraction:
    """Return the length of a vector, rounded up to a float."""
    return Fraction(sqrt_bounds(dot(v, v))[1])


def judge_point(
    case: Case, claim: Claim, name: str, point: FractionVec, body: WorldBody, allowed: Allowed
) -> Fraction | None:
    """Prove that a witness point is in a body; return an upper bound of its distance from the body, None without proof.

    ``name`` is "point_a" or "point_b". A point outside the body, or without a proof, is added to ``case``.
    """
    error = None
    n, _ = in_integers(claim.normal)
    hint = n if name == "point_a" else negative(n)
    near = body.union.about(point, 2.0 * float_above(allowed.points))
    outside = len(near) <= _MOST_NEAR
    for k in near[:_MOST_NEAR]:
        low, high = bracket_outside(point, body.union.parts[k], hint, allowed.error / 64, allowed.points)
        outside &= low > allowed.points
        if high is not None and (error is None or high < error):
            error = high
        if error == 0:
            return error
    contained = [surface.holds(point) for surface in body.surfaces] if error is None else []
    if any(contained):
        error = Fraction(0)
    elif error is None and outside and None not in contained:
        case.wrong.append(f"{name} is outside of {body.name} by more than {float(allowed.points):.3g}")
    elif error is None:
        case.open.append(f"{name} could not be proven to be in {body.name}")
    return error


def _judge_normal(case: Case, claim: Claim, a: WorldBody, b: WorldBody, allowed: Allowed) -> None:
    """Refute the normal of two touching bodies if it does not lead out of A, or its opposite does not lead out of B.

    A short step from A's witness point along the normal must not end in or near A. The same holds for B with the
    opposite direction. If the bodies touch on several sides, the result has the normal of one side. Such a normal is
    not refuted.
    """
    step = Fraction(_AHEAD) * allowed.points
    nearer = step - 2 * allowed.points
    for body, start, ahead in ((a, claim.point_a, step), (b, claim.point_b, -step)):
        u, v, w = (ahead * c for c in claim.normal)
        x, y, z = start[0] + u, start[1] + v, start[2] + w
        hint, _ = in_integers((u, v, w))
        for k in body.union.about((x, y, z), float_above(step))[:_MOST_NEAR]:
            near = bracket_outside((x, y, z), body.union.parts[k], hint, nearer, nearer)[1] is not None
            if near and _is_on_one_side(claim, a, b, allowed):
                case.wrong.append(f"the normal leads from point_{body.name} along or into {body.name}")
                return


def _is_on_one_side(claim: Claim, a: WorldBody, b: WorldBody, allowed: Allowed) -> bool:
    """Return whether the bodies can be separated by a short translation of B.

    The directions of the translations are the normals of pairs of parts at the witness points.
    """
    within = float_above(allowed.points)
    for i in a.union.about(claim.point_a, within)[:_SIDES]:
        for j in b.union.about(claim.point_b, within)[:_SIDES]:
            separating = exact_direction(
                a.union.parts[i], b.union.parts[j], Fraction(-_noise(a, b)), _floats(claim.normal)
            )
            if separating is not None:
                length = sqrt_of(fractions(separating))
                x, y, z = (2 * allowed.points * c / length for c in fractions(separating))
                if not _flaw_of_apart(a, b.moved((x, y, z)), Fraction(0), claim):
                    return True
    return False


# --- bounds -----------------------------------------------------------------------------------------------------------


def _flaw_of_parts(carried: PartsCertificate, claim: Claim, a: WorldBody, b: WorldBody) -> str:
    """Return the flaw of the nearest parts of a certificate, or an empty text if they are valid or not given."""
    numbers = np.asarray(carried.parts)
    if numbers.shape == (0,):
        return ""
    counts = len(a.union.parts), len(b.union.parts)
    if numbers.shape != (2,) or numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < counts)).all():
        return "its nearest parts do not exist"
    p, q = a.union.parts[int(numbers[0])], b.union.parts[int(numbers[1])]
    return "" if is_near(p, q, claim.upper, _floats(claim.normal)) else "its nearest parts do not prove upper"


def _judge_apart(case: Case, claim: Claim, a: WorldBody, b: WorldBody, carried: PartsCertificate | None) -> None:
    """Prove or refute the claimed lower bound of a separation, and note the result in ``case``."""
    if claim.unsigned and claim.lower <= 0:
        return
    flaw = _flaw_of_apart(a, b, claim.lower, claim, carried)
    if flaw:
        _not_so_far(case, claim, a, b, flaw, carried)
        return
    case.lower = float_below(claim.lower)


def _flaw_of_apart(
    a: WorldBody, b: WorldBody, least: Fraction, claim: Claim, cut: PartsCertificate | None = None
) -> str:
    """Return the flaw of the proof that two bodies are at least ``least`` apart, or an empty text without a flaw."""
    proposed = find_cut(a.union, b.union, least, _floats(claim.normal)) if cut is None else cut
    if isinstance(proposed, str):
        return proposed
    flaws = flaws_of_cut(proposed, a.union, b.union, least)
    if flaws:
        return flaws[0]
    if len(proposed.ranges) == 1:
        return ""  # one plane separates the whole bodies
    for host, guest in ((a, b), (b, a)):
        for surface in host.surfaces:
            if any(surface.holds(point) is not False for point in guest.pieces):
                return _OUT
    return ""


def _judge_near(case: Case, claim: Claim, a: WorldBody, b: WorldBody, off: list[Fraction | None]) -> None:
    """Prove or refute the claimed upper bound of a separation by the witness points, or by the parts at them."""
    if len(off) == 2 and None not in off:
        # the distance of two points, one in each body
        between = sqrt_of(sub(claim.point_b, claim.point_a)) + sum((x for x in off if x is not None), Fraction(0))
        if between < claim.lower:
            case.wrong.append(f"two points in them are {float(between)!r} apart, but lower is {float(claim.lower)!r}")
        if between <= claim.upper:
            case.upper = float_above(between)
            return
    if _pair_there(claim, a, b):
        case.upper = float_above(claim.upper)
        return
    _not_so_near(case, claim, a, b, "the upper bound could not be proven by two parts")


def _pair_there(claim: Claim, a: WorldBody, b: WorldBody) -> tuple[int, int] | None:
    """Return the indices of two parts at the witness points that prove the claimed upper bound, or None."""
    ends = (claim.point_a, claim.point_b) if claim.upper > 0 else (_middle(claim),) * 2
    within = max(_noise(a, b), float_above(allowance_of(claim, a, b).points))
    for i in a.union.about(ends[0], within)[:_MOST_NEAR]:
        for j in b.union.about(ends[1], within)[:_MOST_NEAR]:
            if is_near(a.union.parts[i], b.union.parts[j], claim.upper, _floats(claim.normal)):
                return i, j
    return None


def _floats(v: FractionVec) -> Array:
    return np.array([float(c) for c in v])


def _moved(claim: Claim, a: WorldBody, b: WorldBody) -> Iterator[WorldBody]:
    """Yield body B translated by ``-lower``, first along the normal, then along other directions.

    Bodies may touch on several sides, and the result has the normal of one side. If two parts still touch after a
    translation, their normal is added to the direction of the next translation.
    """
    direction = claim.normal
    for _ in range(_SIDES):
        if not any(direction):  # the normals of the sides are opposite
            return
        length = sqrt_of(direction)
        x, y, z = (-claim.lower * c / length for c in direction)
        yield b.moved((x, y, z))
        pair = (
            find_pair(a.union, b.moved((x, y, z)).union, -claim.lower / 2, _floats(direction))
            if claim.upper >= 0
            else None
        )
        if pair is None:
            return
        separating = exact_direction(
            a.union.parts[pair[0]], b.union.parts[pair[1]], Fraction(-_noise(a, b)), _floats(direction)
        )
        if separating is None:
            return
        x, y, z = fractions(separating)
        direction = direction[0] / length + x, direction[1] / length + y, direction[2] / length + z


def _judge_depth_at_most(
    case: Case, claim: Claim, a: WorldBody, b: WorldBody, carried: PartsCertificate | None
) -> None:
    """Prove or refute the claimed lower bound of an overlap: B translated by ``-lower`` is separated from A."""
    flaws = []
    for moved in _moved(claim, a, b):
        flaw = _flaw_of_apart(a, moved, Fraction(0), claim, carried)
        if not flaw:
            case.lower = float_below(claim.lower)
            return
        flaws.append(flaw)
    _not_so_far(case, claim, a, b, f"after b is moved by -lower along the normal: {flaws[0]}", carried)


def _not_so_far(
    case: Case, claim: Claim, a: WorldBody, b: WorldBody, missing: str, carried: PartsCertificate | None
) -> None:
    """Refute the claimed lower bound if two parts are proven to be nearer than it, or if the certificate is not valid.

    Otherwise add the text ``missing`` to ``case``.
    """
    if carried is not None and not missing.endswith(_OUT):
        case.wrong.append(f"its certificate is not valid: {missing}")
        return
    most = claim.lower - Fraction(_noise(a, b))
    if find_pair(a.union, b.union, most, _floats(claim.normal)):
        case.upper = min(case.upper, float_above(most))
        case.wrong.append(f"the signed distance is at most {float(most)!r}, but lower is {float(claim.lower)!r}")
    else:
        case.open.append(f"lower is {float(claim.lower)!r}: {missing}")


def _judge_overlap(case: Case, claim: Claim, a: WorldBody, b: WorldBody) -> None:
    """Prove or refute the claimed upper bound of an overlap by two parts, or by a point inside a closed surface."""
    if (
        _pair_there(claim, a, b)
        or _holds_deep_point(claim, a, b)
        or _holds_deep_point(claim, b, a)
        or _holds_deep_part(claim, a, b)
        or _holds_deep_part(claim, b, a)
        or _deep_in_hulls(claim, a, b)
        or find_pair(a.union, b.union, claim.upper, _floats(claim.normal))
    ):
        case.upper = float_above(claim.upper)
        return
    missing = "neither two parts nor a point inside a closed surface prove the depth"
    _not_so_near(case, claim, a, b, missing)


def _not_so_near(case: Case, claim: Claim, a: WorldBody, b: WorldBody, missing: str) -> None:
    """Refute the claimed upper bound if the bodies are proven to be farther apart than it.

    Otherwise add the text ``missing`` to ``case``.
    """
    least = max(claim.upper, Fraction(0)) + Fraction(_noise(a, b))
    if not _flaw_of_apart(a, b, least, claim):
        case.lower = max(case.lower, float_below(least))
        case.wrong.append(f"the signed distance is at least {float(least)!r}, but upper is {float(claim.upper)!r}")
        return
    case.open.append(f"upper is {float(claim.upper)!r}: {missing}")


def _holds_deep_point(claim: Claim, host: WorldBody, guest: WorldBody) -> bool:
    """Return whether a point of ``guest`` is proven to be the claimed depth inside a closed surface of ``host``."""
    if not host.surfaces:
        return False
    if claim.upper == 0 and any(surface.holds(point) for surface in host.surfaces for point in guest.pieces):
        return True
    middle = _middle(claim)
    within = _noise(host, guest)
    for k in guest.union.about(middle, within)[:_MOST_NEAR]:
        hint, _ = in_integers(claim.normal)
        _, off = bracket_outside(middle, guest.union.parts[k], hint, Fraction(within) / 64, Fraction(within))
        # a point of the guest is at most ``off`` from the middle, and the ball around the middle is in the host
        if off is not None and any(_holds_ball(surface, middle, off - claim.upper, claim) for surface in host.surfaces):
            return True
    return len(guest.union.parts) == 1 and _holds_center(claim, host, guest.union.parts[0])


def _holds_center(claim: Claim, host: WorldBody, part: Body) -> bool:
    """Return whether a part is a ball whose centre is inside ``host`` by the claimed depth minus the radius."""
    vertices = [points for term in part.terms for points in term.sets]
    if part.curved or [len(points) for points in vertices] != [1]:
        return False
    x, y, z = (Fraction(c, part.scale) for c in vertices[0][0])
    deep = max(Fraction(0), -claim.upper - part.radius_low)
    return any(_holds_ball(surface, (x, y, z), deep, claim) for surface in host.surfaces)


def _holds_deep_part(claim: Claim, host: WorldBody, guest: WorldBody) -> bool:
    """Return whether a ball in a closed surface of ``host`` overlaps a part of ``guest`` by the claimed depth."""
    middle, noise = _middle(claim), _noise(host, guest)
    parts = [guest.union.parts[k] for k in guest.union.about(middle, noise)[:_MOST_NEAR]]
    for surface in host.surfaces if parts else ():
        radius = Fraction(_distance_from(surface, middle) - 0.0625 * noise)
        if radius > 0 and _holds_ball(surface, middle, radius, claim):
            ball = at_point(middle)._replace(radius_low=radius, radius_high=radius)
            if any(is_near(ball, part, claim.upper, _floats(claim.normal)) for part in parts):
                return True
    return False


def _distance_from(surface: ClosedSurface, point: FractionVec) -> float:
    """Return the distance of a point from a surface, up to rounding errors."""
    corners = np.array([[[c / surface.scale for c in corner] for corner in face] for face in surface.corners])
    corners -= _floats(point)
    edges = np.roll(corners, -1, axis=1) - corners
    normals = np.cross(edges[:, 0], edges[:, 1])
    lengths = np.linalg.norm(normals, axis=1)
    over = (np.einsum("kij,kj->ki", np.cross(edges, -corners), normals) >= 0.0).all(axis=1) & (lengths > 0.0)
    heights = np.abs(np.einsum("kj,kj->k", corners[over, 0], normals[over])) / lengths[over]
    squares = np.maximum((edges**2).sum(axis=2), 1e-300)
    feet = corners + np.clip(-(corners * edges).sum(axis=2) / squares, 0.0, 1.0)[..., None] * edges
    return float(min(heights.min(initial=np.inf), np.linalg.norm(feet, axis=2).min()))


def _holds_ball(surface: ClosedSurface, middle: FractionVec, radius: Fraction, claim: Claim) -> bool:
    """Return whether a closed surface is proven to enclose the ball with this centre and radius."""
    if not surface.holds(middle):
        return False
    center, faces = Union([at_point(middle)]), surface.faces()
    cut = find_cut(center, faces, radius, _floats(claim.normal))
    return not isinstance(cut, str) and not flaws_of_cut(cut, center, faces, radius)


def _deep_in_hulls(claim: Claim, a: WorldBody, b: WorldBody) -> bool:
    """Return whether a hull inside a closed surface is proven to overlap a part or a hull by the claimed depth."""
    ours, theirs = ([*x.hulls, *(x.union.parts if len(x.union.parts) <= _MOST_NEAR else ())] for x in (a, b))
    n = _floats(claim.normal)
    return any(
        is_near(p, q, claim.upper, n)
        for i, p in enumerate(ours)
        for j, q in enumerate(theirs)
        if i < len(a.hulls) or j < len(b.hulls)
    )


def _middle(claim: Claim) -> FractionVec:
    (x, y, z), (u, v, w) = claim.point_a, claim.point_b
    return (x + u) / 2, (y + v) / 2, (z + w) / 2


def _noise(a: WorldBody, b: WorldBody) -> float:
    return max(1e-300, ROUNDING * 4.0 * (a.union.reach + b.union.reach))


# --- certificates -----------------------------------------------------------------------------------------------------


def certificate_of(result: Distance, a: WorldBody, b: WorldBody) -> PartsCertificate:
    """Return the certificate of a result. Raise an UnsupportedPair error for bodies that cannot be checked."""
    claim, _ = claim_of(result)
    if claim is None or a.doubts or b.doubts:
        raise UnsupportedPair(f"certificate=True: {'; '.join((*a.doubts, *b.doubts))}. Leave out certificate=True.")
    none = np.empty((0, 4), dtype=np.int64), np.empty((0, 3))
    cut: PartsCertificate | str = PartsCertificate(a.union.order.copy(), b.union.order.copy(), *none, NO_PARTS)
    if claim.lower > 0 or not claim.unsigned:
        for moved in [b] if claim.lower >= 0 else _moved(claim, a, b):
            cut = find_cut(a.union, moved.union, max(claim.lower, Fraction(0)), _floats(claim.normal))
            if not isinstance(cut, str):
                break
    if isinstance(cut, str):
        raise UnsupportedPair(f"certificate=True: {cut}. Leave out certificate=True.")
    pair = _pair_there(claim, a, b)
    shown = claim.upper <= 0 and (
        _holds_deep_point(claim, a, b) or _holds_deep_point(claim, b, a) or _deep_in_hulls(claim, a, b)
    )
    if pair is None and not shown:
        pair = find_pair(a.union, b.union, claim.upper, _floats(claim.normal))
    certificate = cut._replace(parts=NO_PARTS if pair is None else np.array(pair, dtype=np.int64))
    for array in certificate:
        array.setflags(write=False)
    return certificate


class Span(NamedTuple):
    """The interval of a part's heights above a plane, with lower and upper bounds of both ends."""

    low_out: Fraction
    low_in: Fraction
    high_in: Fraction
    high_out: Fraction


def judge_beside(result: Distance, body: WorldBody, halfspace: Halfspace, at: Placement, flaws: list[str]) -> Verdict:
    """Return the verdict on a result of a body and a half-space or plane. ``flaws`` are known contradictions."""
    claim, wrong = claim_of(result)
    case = Case([*wrong, *flaws])
    case.open += body.doubts
    if claim is None or case.open:
        return case.verdict()
    first = body.name == "b"  # whether the half-space is A
    points = (claim.point_a, claim.point_b) if first else (claim.point_b, claim.point_a)
    surface = _surface(halfspace, at, "a" if first else "b")
    allowed = allowance_of(claim, surface, body)
    judge_form(case, claim, allowed)
    plane = place_plane(halfspace, at)
    low, high, (bottom, top) = _signed_distance([span_of(plane, part) for part in body.union.parts], halfspace._sides)
    proof = Enclosure(wanted(claim, ZERO), claim.upper)
    proof.raise_low(_length(plane, low), plane.normal)
    proof.drop_high(_length(plane, high))
    case.judge_bounds(claim, proof, ZERO, ZERO)
    n, _ = in_integers(claim.normal)
    n = n if first else negative(n)
    if halfspace._sides > 1.0 and dot(n, plane.normal) < 0:
        plane, bottom = Plane(negative(plane.normal), -plane.offset), -top
    if not plane.is_along(n, Fraction(2 * UNIT)):
        case.wrong.append("the normal is not the half-space's")
    elif claim.of_surfaces:
        error = max(claim.distance - _length(plane, bottom).bracket()[0], ZERO)
        case.normal_error = float_above(error)
        if error > allowed.normal:
            case.wrong.append(f"along the normal the distance is less than {float(claim.distance)!r}")
    off = on_plane(case, claim, plane, "point_a" if first else "point_b", points[0], halfspace, allowed)
    note_witnesses(case, [off, judge_point(case, claim, f"point_{body.name}", points[1], body, allowed)])
    carried = result.certificate
    if carried is not None and not (isinstance(carried, Certificate) and carried.kind == "plane"):
        case.wrong.append("its certificate is not that of a half-space")
    return case.verdict()


def _surface(halfspace: Halfspace, at: Placement, name: str) -> WorldBody:
    """Return a body that is one point on the surface of a half-space, for the computation of tolerances."""
    x, y, z = (Fraction(c) * Fraction(halfspace.offset) for c in halfspace.normal.tolist())
    point = place(at_point((x, y, z)), at)
    u, v, w = (Fraction(t, at.shift) for t in at.translation)
    return WorldBody(name, Union([point]), [], [], [], abs(halfspace.offset), (u, v, w), [])


def _length(plane: Plane, value: Fraction) -> Root:
    return plane.height(plane.offset + value)


def span_of(plane: Plane, part: Body) -> Span:
    """Return the `Span` of a part above a plane. Heights are multiplied by the length of the plane's normal."""
    n, down = plane.normal, negative(plane.normal)
    single = Difference(part, at_point(ORIGIN))
    shorter, longer = Root.sqrt(Fraction(dot(n, n))).bracket()
    inner, outer = part.radius_low * shorter, part.radius_high * longer
    up_point, _, up = single.support(n)
    low_point, _, low = single.support(down)
    return Span(
        Fraction(-low, single.scale) - outer - plane.offset,
        Fraction(dot(n, low_point), single.scale) - inner - plane.offset,
        Fraction(dot(n, up_point), single.scale) + inner - plane.offset,
        Fraction(up, single.scale) + outer - plane.offset,
    )


def _signed_distance(spans: list[Span], sides: float) -> tuple[Fraction, Fraction, tuple[Fraction, Fraction]]:
    """Return bounds of the signed distance, and the interval that gives the lower bound.

    All are multiplied by the length of the normal. ``sides`` is 1 for a half-space, and 2 for a plane.
    """
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
    """Return intervals in ascending order. Touching intervals are merged."""
    out: list[tuple[Fraction, Fraction]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = out[-1][0], max(high, out[-1][1])
        else:
            out.append((low, high))
    return out
