"""Rounding terms of `verify`: each test is a case whose proof is false without one of the terms.

Rounded poses stretch lengths by a last bit. The poses of these tests stretch lengths by a quarter.
"""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.exact import exact_pair
from gjk3d.exact.arithmetic import (
    ORIGIN,
    ZERO,
    Enclosure,
    Root,
    float_above,
    float_below,
    fractions,
    in_integers,
    sqrt_bounds,
)
from gjk3d.exact.certificates import prove_depth
from gjk3d.exact.convex_sets import Difference, Placement, Side, at_point, body_of, of_points, place
from gjk3d.exact.cuts import Union, WorldBody, find_cut, find_pair, flaws_of_cut
from gjk3d.exact.gjk_epa import Plane, bracket_outside
from gjk3d.exact.judge import Case, allowance, claim_of
from gjk3d.exact.unions import allowance_of, span_of
from gjk3d.poses import UNIT_ROUNDOFF, pose_rows

IDENTITY = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def scaled(numerator, shift=(0, 0, 0)):
    """Return the placement that scales by ``numerator`` quarters and moves by ``shift`` eighths."""
    diagonal = (numerator, 0, 0), (0, numerator, 0), (0, 0, numerator)
    return Placement(diagonal, 4, shift, 8, abs(Fraction(numerator**2, 16) - 1))


RIGID = scaled(4)


@pytest.mark.parametrize("direction", [(1, 1, 0), (1, 2, 3), (5, -7, 11)])
def test_height_of_an_ellipsoid_is_not_below_closed_form(direction):
    radii = (1, 2, 3)
    height = Difference(body_of(gk.Ellipsoid(radii)), at_point(ORIGIN)).height(direction)
    exact = sum((r * n) ** 2 for r, n in zip(radii, direction, strict=True))
    assert height.signed_square >= Fraction(exact, sum(n * n for n in direction))


@pytest.mark.parametrize("numerator", [3, 5])
def test_radii_of_a_placed_ball_enclose_the_true_radius(numerator):
    placed = place(body_of(gk.Sphere(1)), scaled(numerator))
    assert placed.radius_low <= Fraction(numerator, 4) <= placed.radius_high


def test_judge_bounds_subtracts_both_bounds_of_the_radius():
    result = gk.distance(gk.Sphere(0.5), gk.Point((3, 0, 0)))
    claim, _ = claim_of(result)
    case, proof = Case([]), Enclosure()
    proof.raise_low(Root.of(3.0), (1, 0, 0))
    proof.drop_high(Root.of(3.0))
    case.judge_bounds(claim, proof, Fraction(1, 4), Fraction(3, 4))
    assert (case.lower, case.upper) == (2.25, 2.75)


def test_bracket_outside_uses_both_radii_of_a_placed_ball():
    """The image of the unit ball has a radius of 3/4, and its bounds put the point 9/16 to 23/16 outside."""
    body, point = place(body_of(gk.Sphere(1)), scaled(3)), (Fraction(2), ZERO, ZERO)
    assert bracket_outside(point, body, (1, 0, 0), Fraction(2), Fraction(2)) == (Fraction(9, 16), Fraction(23, 16))
    assert bracket_outside(point, body, (1, 0, 0), Fraction(1), Fraction(1)) == (Fraction(9, 16), None)


#: nearly the least rigid pose that is accepted: after the polar step it shrinks lengths by 3.6e-13
SHRINKING = np.diag([1 + 4.9e-7] * 3 + [1.0])
TRUE = 2 + 3.6e-13  #: distance of a unit ball in this pose and a unit ball, for a distance of 4 between the centers


def test_exact_distance_of_balls_includes_the_stretch_of_poses():
    rows = pose_rows(np.array([SHRINKING, naive.pose(translation=(4, 0, 0))]))[0]
    result = exact_pair(gk.Sphere(1), gk.Sphere(1), *rows)
    assert result.lower < TRUE - 5e-13
    assert result.upper > TRUE + 3e-13


#: shapes and their places, each at the distance TRUE from the shrunk unit ball
BESIDE = [(gk.Sphere(1), (4, 0, 0)), (gk.Halfspace((-1, 0, 0), 0), (3, 0, 0))]


def verdict_on(beside, lower, upper, shift=0.0):
    """Return the verdict on the bounds TRUE + lower and TRUE + upper, with witness points moved by ``shift``."""
    shape_b, place_b = beside
    pose = naive.pose(translation=place_b)
    result = gk.signed_distance(gk.Sphere(1), shape_b, SHRINKING, pose)
    result.distance, result.lower, result.upper = TRUE + np.clip(0.0, lower, upper), TRUE + lower, TRUE + upper
    result.point_a = np.array([1.0 - shift, 0.0, 0.0])
    result.point_b = np.array([3.0 + shift, 0.0, 0.0])
    return gk.verify(result, gk.Sphere(1), shape_b, SHRINKING, pose)


@pytest.mark.parametrize("beside", BESIDE, ids=["ball", "half-space"])
@pytest.mark.parametrize(
    ("lower", "upper", "proven"), [(-4e-12, 4e-12, True), (2e-13, 4e-12, False), (-4e-12, -2e-13, False)]
)
def test_bounds_must_hold_for_all_radii_of_a_placed_ball(beside, lower, upper, proven):
    assert verdict_on(beside, lower, upper).proven is proven


@pytest.mark.parametrize("beside", BESIDE, ids=["ball", "half-space"])
def test_reported_errors_hold_for_all_radii_of_a_placed_ball(beside):
    verdict = verdict_on(beside, -4e-12, 4e-12, shift=5e-13)
    assert verdict.lower < TRUE - 9e-13
    assert verdict.upper > TRUE + 3e-13
    assert verdict.normal_error > 9e-13
    assert verdict.witness_error > 1e-12


def proven_upper(a, b, at_a, at_b):
    """Return the upper bound of the signed distance that the symmetry of two placed shapes proves."""
    proof = Enclosure(None, Fraction(-1000))
    prove_depth(Side("a", body_of(a), at_a), Side("b", body_of(b), at_b), proof)
    return proof.high.bracket()[1]


def test_depth_of_revolved_shapes_includes_stretch_of_poses():
    wide, slim = gk.Cylinder(1, 4), gk.Cylinder(0.5, 4)
    # perpendicular to the axes the depth is the sum of the radii
    assert proven_upper(wide, slim, RIGID, RIGID) == Fraction(-3, 2)
    assert proven_upper(wide, slim, scaled(3), RIGID) >= -(Fraction(3, 4) + Fraction(1, 2))
    assert proven_upper(slim, wide, RIGID, scaled(3)) >= -(Fraction(3, 4) + Fraction(1, 2))


def test_depth_of_revolved_shapes_with_skew_axes_is_not_too_large():
    """The rod is rotated by about 1/200. The tangent of the half angle is 1/400, so the rotation matrix is rational."""
    cone, rod = gk.Cone(1, 2), gk.Cylinder(0.05, 1)
    c, s, d = 400**2 - 1, 2 * 400, 400**2 + 1
    turned = Placement(((c, 0, s), (0, d, 0), (-s, 0, c)), d, (0, 0, 0), 1, ZERO)
    difference = Difference(body_of(cone), place(body_of(rod), turned))
    depths = [difference.height(n).bracket()[1] for n in ((2, 0, 1), (-2, 0, 1))]
    assert proven_upper(cone, rod, RIGID, turned) >= -min(depths)
    assert proven_upper(cone, rod, RIGID, RIGID) < -min(depths)


def test_depth_of_ellipsoids_includes_the_offset_of_centers():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((0.5, 1, 1.5))
    assert proven_upper(a, b, RIGID, RIGID) == Fraction(-3, 2)
    assert proven_upper(a, b, RIGID, scaled(4, (1, 0, 0))) >= Fraction(1, 8) - Fraction(3, 2)


def test_depth_of_ellipsoids_includes_the_stretch_of_poses():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((0.001, 0.002, 0.003))
    assert proven_upper(a, b, scaled(3), RIGID) >= -(Fraction(3, 4) + Fraction(0.001))


def test_depth_of_ellipsoids_with_different_axes_is_not_too_large():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((2, 1, 3))
    turned = Placement(((4, -3, 0), (3, 4, 0), (0, 0, 5)), 5, (0, 0, 0), 1, ZERO)
    depth = Difference(body_of(a), place(body_of(b), turned)).height((1, 0, 0)).bracket()[1]
    assert proven_upper(a, b, RIGID, turned) >= -depth
    assert proven_upper(a, b, RIGID, RIGID) < -depth


def allowed_at(claim, shape, places, slack=0.0):
    return allowance(claim, [(place(body_of(shape), at), at) for at in places], slack)


def allowed(shape, *, at_b=(0, 0, 0), quarters=4, slack=0.0, width=0, tight=True):
    """Return the allowance for a shape at the origin and at ``at_b`` eighths, with bounds of the given width."""
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    claim = claim._replace(upper=claim.lower + width, tight=tight)
    return allowed_at(claim, shape, (RIGID, scaled(quarters, at_b)), slack)


POINT, BALL, ROD = gk.Point(), gk.Sphere(1), gk.Cylinder(3, 8)
SIZE = 4  #: size of a pair of two points with an offset of 4


def test_allowed_error_has_a_term_for_each_cause():
    coincident = allowed(POINT)
    assert coincident.error == Fraction(1e-300)
    assert SIZE * 64 * UNIT_ROUNDOFF <= allowed(POINT, at_b=(32, 0, 0)).error < SIZE * 65 * UNIT_ROUNDOFF
    assert 0.5 <= allowed(POINT, slack=0.5).error < 0.51
    assert 2 * SIZE * Fraction(9, 16) <= allowed(POINT, at_b=(32, 0, 0), quarters=5).error < 2.1 * SIZE * 9 / 16


def test_allowed_error_grows_with_distance_from_the_origin():
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    error = allowed_at(claim, POINT, [scaled(4, (2**63, 0, 0))] * 2).error
    assert Fraction(1, 2**33) <= error < Fraction(1, 2**32)


def test_size_of_a_pair_includes_the_radii():
    law = allowed(BALL, at_b=(32, 0, 0)).law
    assert Fraction(1e-12 * (SIZE + 2)) <= law < Fraction(1.01e-12 * (SIZE + 2))


def test_allowed_error_of_the_sign_law_has_two_terms():
    assert Fraction(1e-12 * SIZE) <= allowed(POINT, at_b=(32, 0, 0)).law < Fraction(1.01e-12 * SIZE)
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    far = claim._replace(point_a=(Fraction(2**60), ZERO, ZERO), point_b=(Fraction(2**60), ZERO, ZERO))
    rounding = 8 * 2**8  # 8 units in the last place of 2**60
    allowance_far = allowed_at(far, POINT, (RIGID, RIGID))
    assert rounding <= allowance_far.law < 1.01 * rounding
    assert rounding <= allowance_far.points < 1.01 * rounding


@pytest.mark.parametrize(("shape", "promise", "size"), [(POINT, 1e-12, 4), (ROD, 1e-9, 4 + 2 * 34**0.5)])
def test_tight_interval_may_have_twice_the_promised_width(shape, promise, size):
    limits = allowed(shape, at_b=(32, 0, 0))
    assert 2.0 * promise * size <= limits.promised < 2.1 * promise * size
    assert promise * size <= limits.points < 1.1 * promise * size
    assert promise * size <= limits.normal < 1.1 * promise * size
    assert 4.0 * 0.5 <= allowed(shape, at_b=(32, 0, 0), slack=0.5).promised < 4.1 * 0.5


def test_errors_of_points_and_normals_include_the_interval_width():
    tight, loose = (allowed(POINT, at_b=(32, 0, 0), width=Fraction(1, 4), tight=tight) for tight in (True, False))
    assert Fraction(1, 4) <= tight.points < 0.26
    assert Fraction(1, 4) <= tight.normal < 0.26
    assert 25 <= loose.normal < 26


# unions ---------------------------------------------------------------------------------------------------------------


def body_of_one_part(name, part, origin=(0, 0, 0)):
    """Return a body of one part with size 1."""
    return WorldBody(name, Union([part]), [], [], [], 1.0, tuple(map(Fraction, origin)), [])


def allowed_of_unions(part, *, place_b=(4, 0, 0), width=0):
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point((4, 0, 0))))
    claim = claim._replace(upper=claim.lower + width)
    return allowance_of(claim, body_of_one_part("a", part), body_of_one_part("b", part, place_b))


SHARP, CURVED = at_point(ORIGIN), body_of(gk.Cylinder(1, 1))
WHOLE_SIZE = 2 * (1 + 1 + 4)


def test_allowed_error_of_unions_has_terms_of_size_and_place():
    error = 128 * UNIT_ROUNDOFF * WHOLE_SIZE
    limits = allowed_of_unions(SHARP)
    assert error <= limits.error < 1.01 * error
    assert error + 8 * 2.0**-50 <= limits.law < 1.01 * (error + 8 * 2.0**-50)  # 8 units in the last place of 4
    assert 2 * error + 8 * 2.0**-50 <= limits.points < 1.01 * (2 * error + 8 * 2.0**-50)
    far = allowed_of_unions(SHARP, place_b=(2.0**40, 0, 0))
    assert far.law - far.error == 8 * Fraction(1, 2**12)


@pytest.mark.parametrize(("part", "promise"), [(SHARP, 1e-12), (CURVED, 1e-9)])
def test_interval_of_unions_may_have_twice_the_promised_width(part, promise):
    width = promise * WHOLE_SIZE + 16 * 128 * UNIT_ROUNDOFF * WHOLE_SIZE
    limits = allowed_of_unions(part)
    assert width <= limits.normal < 1.01 * width
    assert 2 * width <= limits.promised < 2.02 * width


def test_error_of_points_of_curved_unions_includes_the_width():
    assert 0.25 <= allowed_of_unions(CURVED, width=Fraction(1, 4)).points < 0.26
    assert allowed_of_unions(CURVED).points > 1e-9 * WHOLE_SIZE
    assert allowed_of_unions(SHARP, width=Fraction(1, 4)).points < 1e-12


def test_support_value_of_a_union_is_exact():
    """All points are in one plane up to rounding, so several points have the same height in floats."""
    rng = np.random.default_rng(3)
    for normal in rng.normal(size=(50, 3)):
        points = rng.normal(size=(20, 3))
        points[:, 2] = (1.0 - points[:, :2] @ normal[:2]) / normal[2]
        top, _ = Union([of_points([p]) for p in points]).top(np.arange(20), normal)
        _, scale = in_integers(fractions(normal))
        assert top == scale * (naive.exact(points) @ naive.exact(normal)).max()


def test_cut_between_parallel_planes_of_points_is_valid():
    """The gap of the planes is the claimed distance in floats, and may be smaller by a last bit in rational numbers."""
    rng = np.random.default_rng(5)
    for normal in naive.unit_vectors(rng, 30):
        clouds = rng.normal(size=(2, 6, 3))
        low, high = (p + np.outer(h - p @ normal, normal) for p, h in zip(clouds, (0.0, 1.0), strict=True))
        least = Fraction(float((high @ normal).min() - (low @ normal).max()))
        a, b = (Union([of_points([p]) for p in points]) for points in (low, high))
        assert flaws_of_cut(find_cut(a, b, least, normal), a, b, least) == []


def test_find_pair_compares_exact_distances():
    """The distance of some of these points is larger in floats than in rational numbers."""
    rng = np.random.default_rng(6)
    for p, q in rng.normal(size=(150, 2, 3)):
        offset = naive.exact(q) - naive.exact(p)
        a, b = (Union([of_points([point])]) for point in (p, q))
        assert find_pair(a, b, naive.sqrt_above(offset @ offset), (q - p) / np.linalg.norm(q - p)) == (0, 0)


def test_span_of_a_ball_along_a_plane_normal_uses_both_radii():
    stretched = span_of(Plane((0, 0, 1), ZERO), place(body_of(gk.Sphere(1)), scaled(5)))
    assert stretched == (Fraction(-25, 16), Fraction(-7, 16), Fraction(7, 16), Fraction(25, 16))
    oblique = span_of(Plane((1, 1, 0), ZERO), body_of(gk.Sphere(1)))
    assert oblique.low_in**2 < 2 < oblique.low_out**2
    assert oblique.high_in**2 < 2 < oblique.high_out**2


# arithmetic -----------------------------------------------------------------------------------------------------------


def rationals(seed):
    """Return rational numbers of both signs that are not equal to a float."""
    rng = np.random.default_rng(seed)
    return [Fraction(int(p), int(q)) for p, q in rng.integers(-(10**17), 10**17, (100, 2)) if q]


def test_float_below_and_above_are_the_nearest_floats():
    for x in rationals(21):
        low, high = float_below(x), float_above(x)
        assert Fraction(low) <= x <= Fraction(high)
        assert Fraction(np.nextafter(low, np.inf)) > x > Fraction(np.nextafter(high, -np.inf))


@pytest.mark.parametrize("sign", [1, -1])
def test_bracket_encloses_a_root_within_its_last_digits(sign):
    for x in map(abs, rationals(22)):
        root = Root.sqrt(x)
        low, high = Root(sign * root.num, root.den).bracket()
        assert low < high
        assert min(low * low, high * high) < x < max(low * low, high * high)
        assert high - low <= Fraction(1, 2**200)
        square = Root.sqrt(x.numerator**2 / Fraction(4)).bracket()
        assert square == (Fraction(x.numerator, 2),) * 2


def test_sqrt_bounds_enclose_the_root_with_adjacent_floats():
    for x in map(abs, rationals(23)):
        low, high = map(Fraction, sqrt_bounds(x))
        assert low * low < x < high * high
        assert float(high) == np.nextafter(float(low), np.inf)


# planes ---------------------------------------------------------------------------------------------------------------


def test_overstated_distance_from_a_plane_refutes_the_normal():
    body, plane = gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Plane((0, 0, 1), -1.0)
    result = gk.signed_distance(body, plane)
    assert gk.verify(result, body, plane).proven
    result.distance += 1e-9
    result.upper = result.distance
    verdict = gk.verify(result, body, plane)
    assert any("along the normal the distance is less" in flaw for flaw in verdict.reasons)


@pytest.mark.parametrize("body", [gk.Box((1, 1, 1)), gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Sphere(0.5), None)])])
def test_normal_error_of_a_half_space_is_the_distance_error(body):
    question = gk.Halfspace((0, 0, 1)), body, None, naive.pose(translation=(0, 0, 3))
    result = gk.signed_distance(*question)
    result.distance += 1e-6
    assert 1e-6 <= gk.verify(result, *question).normal_error < 1.2e-6
