"""What the judge allows for rounding: each term in a case where the proof is false without it.

Poses that stretch stand for those that rounding leaves: what is a last bit there is a quarter here.
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
    """The pose that scales by quarters, and moves by eighths."""
    diagonal = (numerator, 0, 0), (0, numerator, 0), (0, 0, numerator)
    return Placement(diagonal, 4, shift, 8, abs(Fraction(numerator**2, 16) - 1))


RIGID = scaled(4)


@pytest.mark.parametrize("direction", [(1, 1, 0), (1, 2, 3), (5, -7, 11)])
def test_the_height_of_an_ellipsoid_is_not_below_its_closed_form(direction):
    radii = (1, 2, 3)
    height = Difference(body_of(gk.Ellipsoid(radii)), at_point(ORIGIN)).height(direction)
    exact = sum((r * n) ** 2 for r, n in zip(radii, direction, strict=True))
    assert height.signed_square >= Fraction(exact, sum(n * n for n in direction))


@pytest.mark.parametrize("numerator", [3, 5])
def test_the_radii_of_a_placed_ball_enclose_the_radius_of_its_image(numerator):
    placed = place(body_of(gk.Sphere(1)), scaled(numerator))
    assert placed.radius_low <= Fraction(numerator, 4) <= placed.radius_high


def test_bounds_of_the_judge_are_less_by_the_larger_radius_and_the_smaller():
    result = gk.distance(gk.Sphere(0.5), gk.Point((3, 0, 0)))
    claim, _ = claim_of(result)
    case, proof = Case([]), Enclosure()
    proof.raise_low(Root.of(3.0), (1, 0, 0))
    proof.drop_high(Root.of(3.0))
    case.judge_bounds(claim, proof, Fraction(1, 4), Fraction(3, 4))
    assert (case.lower, case.upper) == (2.25, 2.75)


def test_how_far_a_point_is_outside_a_placed_ball_is_bounded_by_both_radii():
    """The image of the unit ball has a radius of 3/4, and is known to have between 9/16 and 23/16."""
    body, point = place(body_of(gk.Sphere(1)), scaled(3)), (Fraction(2), ZERO, ZERO)
    assert bracket_outside(point, body, (1, 0, 0), Fraction(2), Fraction(2)) == (Fraction(9, 16), Fraction(23, 16))
    assert bracket_outside(point, body, (1, 0, 0), Fraction(1), Fraction(1)) == (Fraction(9, 16), None)


#: a pose as far from rigid as is accepted: after the polar step it still shrinks lengths by 3.6e-13
SHRINKING = np.diag([1 + 4.9e-7] * 3 + [1.0])
TRUE = 2 + 3.6e-13  #: the distance of two unit balls, where the one is shrunk so, with their centers 4 apart


def test_the_exact_distance_of_balls_encloses_the_stretch_of_poses():
    rows = pose_rows(np.array([SHRINKING, naive.pose(translation=(4, 0, 0))]))[0]
    found = exact_pair(gk.Sphere(1), gk.Sphere(1), *rows)
    assert found.lower < TRUE - 5e-13
    assert found.upper > TRUE + 3e-13


#: what the shrunk unit ball is beside, where: TRUE is how far it is away
BESIDE = [(gk.Sphere(1), (4, 0, 0)), (gk.Halfspace((-1, 0, 0), 0), (3, 0, 0))]


def claimed(beside, lower, upper, shift=0.0):
    """The verdict on bounds about TRUE, with the witness points moved apart or together."""
    other, place_b = beside
    pose = naive.pose(translation=place_b)
    result = gk.signed_distance(gk.Sphere(1), other, SHRINKING, pose)
    result.distance, result.lower, result.upper = TRUE + np.clip(0.0, lower, upper), TRUE + lower, TRUE + upper
    result.point_a = np.array([1.0 - shift, 0.0, 0.0])
    result.point_b = np.array([3.0 + shift, 0.0, 0.0])
    return gk.verify(result, gk.Sphere(1), other, SHRINKING, pose)


@pytest.mark.parametrize("beside", BESIDE, ids=["ball", "half-space"])
@pytest.mark.parametrize(
    ("lower", "upper", "proven"), [(-4e-12, 4e-12, True), (2e-13, 4e-12, False), (-4e-12, -2e-13, False)]
)
def test_bounds_have_to_hold_for_every_radius_that_a_pose_may_give_a_ball(beside, lower, upper, proven):
    assert claimed(beside, lower, upper).proven is proven


@pytest.mark.parametrize("beside", BESIDE, ids=["ball", "half-space"])
def test_the_errors_of_normal_and_witnesses_hold_for_every_radius_that_a_pose_may_give_a_ball(beside):
    verdict = claimed(beside, -4e-12, 4e-12, shift=5e-13)
    assert verdict.lower < TRUE - 9e-13
    assert verdict.upper > TRUE + 3e-13
    assert verdict.normal_error > 9e-13
    assert verdict.witness_error > 1e-12


def upper(a, b, at_a, at_b):
    """The signed distance that the symmetry of two placed shapes proves at most."""
    proof = Enclosure(None, Fraction(-1000))
    prove_depth(Side("a", body_of(a), at_a), Side("b", body_of(b), at_b), proof)
    return proof.high.bracket()[1]


def test_the_depth_of_solids_of_revolution_is_not_overstated_where_a_pose_stretches():
    wide, slim = gk.Cylinder(1, 4), gk.Cylinder(0.5, 4)
    # sideways the depth is the sum of the radii
    assert upper(wide, slim, RIGID, RIGID) == Fraction(-3, 2)
    assert upper(wide, slim, scaled(3), RIGID) >= -(Fraction(3, 4) + Fraction(1, 2))
    assert upper(slim, wide, RIGID, scaled(3)) >= -(Fraction(3, 4) + Fraction(1, 2))


def test_the_depth_of_solids_of_revolution_is_not_overstated_where_their_axes_are_askew():
    """A rod in a cone, turned by 1/200: in exact numbers by the rotation whose half angle has the tangent 1/400."""
    cone, rod = gk.Cone(1, 2), gk.Cylinder(0.05, 1)
    c, s, d = 400**2 - 1, 2 * 400, 400**2 + 1
    turned = Placement(((c, 0, s), (0, d, 0), (-s, 0, c)), d, (0, 0, 0), 1, ZERO)
    difference = Difference(body_of(cone), place(body_of(rod), turned))
    depths = [difference.height(n).bracket()[1] for n in ((2, 0, 1), (-2, 0, 1))]
    assert upper(cone, rod, RIGID, turned) >= -min(depths)
    assert upper(cone, rod, RIGID, RIGID) < -min(depths)


def test_the_depth_of_concentric_ellipsoids_is_not_overstated_where_they_are_off_centre():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((0.5, 1, 1.5))
    assert upper(a, b, RIGID, RIGID) == Fraction(-3, 2)
    assert upper(a, b, RIGID, scaled(4, (1, 0, 0))) >= Fraction(1, 8) - Fraction(3, 2)


def test_the_depth_of_concentric_ellipsoids_is_not_overstated_where_a_pose_stretches():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((0.001, 0.002, 0.003))
    assert upper(a, b, scaled(3), RIGID) >= -(Fraction(3, 4) + Fraction(0.001))


def test_the_depth_of_concentric_ellipsoids_is_not_overstated_where_their_axes_differ():
    a, b = gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((2, 1, 3))
    turned = Placement(((4, -3, 0), (3, 4, 0), (0, 0, 5)), 5, (0, 0, 0), 1, ZERO)
    depth = Difference(body_of(a), place(body_of(b), turned)).height((1, 0, 0)).bracket()[1]
    assert upper(a, b, RIGID, turned) >= -depth
    assert upper(a, b, RIGID, RIGID) < -depth


def allowed_at(claim, shape, places, slack=0.0):
    return allowance(claim, [(place(body_of(shape), at), at) for at in places], slack)


def allowed(shape, *, at_b=(0, 0, 0), quarters=4, slack=0.0, width=0, tight=True):
    """What is allowed for a shape at the origin and one at a place, in eighths, and for bounds of a width."""
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    claim = claim._replace(upper=claim.lower + width, tight=tight)
    return allowed_at(claim, shape, (RIGID, scaled(quarters, at_b)), slack)


POINT, BALL, ROD = gk.Point(), gk.Sphere(1), gk.Cylinder(3, 8)
SIZE = 4  #: of two points so far apart: their offset is all there is of it


def test_the_error_of_the_solver_has_a_part_of_each_cause():
    nothing = allowed(POINT)
    assert nothing.error == Fraction(1e-300)
    assert SIZE * 64 * UNIT_ROUNDOFF <= allowed(POINT, at_b=(32, 0, 0)).error < SIZE * 65 * UNIT_ROUNDOFF
    assert 0.5 <= allowed(POINT, slack=0.5).error < 0.51
    assert 2 * SIZE * Fraction(9, 16) <= allowed(POINT, at_b=(32, 0, 0), quarters=5).error < 2.1 * SIZE * 9 / 16


def test_the_error_of_the_solver_grows_with_the_distance_from_the_origin():
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    error = allowed_at(claim, POINT, [scaled(4, (2**63, 0, 0))] * 2).error
    assert Fraction(1, 2**33) <= error < Fraction(1, 2**32)


def test_the_size_of_a_pair_holds_the_radii():
    law = allowed(BALL, at_b=(32, 0, 0)).law
    assert Fraction(1e-12 * (SIZE + 2)) <= law < Fraction(1.01e-12 * (SIZE + 2))


def test_the_sign_law_is_left_a_part_of_the_size_and_the_grain_of_the_place():
    assert Fraction(1e-12 * SIZE) <= allowed(POINT, at_b=(32, 0, 0)).law < Fraction(1.01e-12 * SIZE)
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point()))
    far = claim._replace(point_a=(Fraction(2**60), ZERO, ZERO), point_b=(Fraction(2**60), ZERO, ZERO))
    grain = 8 * 2**8  # units in the last place of 2**60
    found = allowed_at(far, POINT, (RIGID, RIGID))
    assert grain <= found.law < 1.01 * grain
    assert grain <= found.points < 1.01 * grain


@pytest.mark.parametrize(("shape", "promise", "size"), [(POINT, 1e-12, 4), (ROD, 1e-9, 4 + 2 * 34**0.5)])
def test_a_tight_interval_may_be_twice_the_promised_width(shape, promise, size):
    found = allowed(shape, at_b=(32, 0, 0))
    assert 2.0 * promise * size <= found.promised < 2.1 * promise * size
    assert promise * size <= found.points < 1.1 * promise * size
    assert promise * size <= found.normal < 1.1 * promise * size
    assert 4.0 * 0.5 <= allowed(shape, at_b=(32, 0, 0), slack=0.5).promised < 4.1 * 0.5


def test_points_and_normals_may_miss_the_width_of_the_interval():
    tight, loose = (allowed(POINT, at_b=(32, 0, 0), width=Fraction(1, 4), tight=tight) for tight in (True, False))
    assert Fraction(1, 4) <= tight.points < 0.26
    assert Fraction(1, 4) <= tight.normal < 0.26
    assert 25 <= loose.normal < 26


# bodies of many parts -------------------------------------------------------------------------------------------------


def whole(name, part, origin=(0, 0, 0)):
    """A body of one part, of size 1."""
    return WorldBody(name, Union([part]), [], [], [], 1.0, tuple(map(Fraction, origin)), [])


def allowed_of_unions(part, *, place_b=(4, 0, 0), width=0):
    claim, _ = claim_of(gk.distance(gk.Point(), gk.Point((4, 0, 0))))
    claim = claim._replace(upper=claim.lower + width)
    return allowance_of(claim, whole("a", part), whole("b", part, place_b))


SHARP, CURVED = at_point(ORIGIN), body_of(gk.Cylinder(1, 1))
WHOLE_SIZE = 2 * (1 + 1 + 4)


def test_the_error_of_unions_is_the_rounding_of_their_size_and_place():
    error = 128 * UNIT_ROUNDOFF * WHOLE_SIZE
    found = allowed_of_unions(SHARP)
    assert error <= found.error < 1.01 * error
    assert error + 8 * 2.0**-50 <= found.law < 1.01 * (error + 8 * 2.0**-50)  # units in the last place of 4
    assert 2 * error + 8 * 2.0**-50 <= found.points < 1.01 * (2 * error + 8 * 2.0**-50)
    far = allowed_of_unions(SHARP, place_b=(2.0**40, 0, 0))
    assert far.law - far.error == 8 * Fraction(1, 2**12)


@pytest.mark.parametrize(("part", "promise"), [(SHARP, 1e-12), (CURVED, 1e-9)])
def test_an_interval_of_unions_may_be_as_wide_as_promised(part, promise):
    width = promise * WHOLE_SIZE + 16 * 128 * UNIT_ROUNDOFF * WHOLE_SIZE
    found = allowed_of_unions(part)
    assert width <= found.normal < 1.01 * width
    assert 2 * width <= found.promised < 2.02 * width


def test_points_of_curved_unions_may_miss_the_width_of_the_interval():
    assert 0.25 <= allowed_of_unions(CURVED, width=Fraction(1, 4)).points < 0.26
    assert allowed_of_unions(CURVED).points > 1e-9 * WHOLE_SIZE
    assert allowed_of_unions(SHARP, width=Fraction(1, 4)).points < 1e-12


def test_the_highest_part_of_a_union_is_that_of_rational_numbers():
    """In floats other parts are as high: points of one plane, moved by what the last bits of products hide."""
    rng = np.random.default_rng(3)
    for normal in rng.normal(size=(50, 3)):
        points = rng.normal(size=(20, 3))
        points[:, 2] = (1.0 - points[:, :2] @ normal[:2]) / normal[2]
        top, _ = Union([of_points([p]) for p in points]).top(np.arange(20), normal)
        _, scale = in_integers(fractions(normal))
        assert top == scale * (naive.exact(points) @ naive.exact(normal)).max()


def test_a_cut_between_parallel_planes_of_points_is_a_proof():
    """In floats the planes are as far apart as claimed, where rational numbers miss that by a last bit."""
    rng = np.random.default_rng(5)
    for normal in naive.unit_vectors(rng, 30):
        clouds = rng.normal(size=(2, 6, 3))
        low, high = (p + np.outer(h - p @ normal, normal) for p, h in zip(clouds, (0.0, 1.0), strict=True))
        least = Fraction(float((high @ normal).min() - (low @ normal).max()))
        a, b = (Union([of_points([p]) for p in points]) for points in (low, high))
        assert flaws_of_cut(find_cut(a, b, least, normal), a, b, least) == []


def test_two_parts_are_near_where_rational_numbers_say_so():
    """In floats some of these points are farther apart than in rational numbers."""
    rng = np.random.default_rng(6)
    for p, q in rng.normal(size=(150, 2, 3)):
        offset = naive.exact(q) - naive.exact(p)
        a, b = (Union([of_points([point])]) for point in (p, q))
        assert find_pair(a, b, naive.sqrt_above(offset @ offset), (q - p) / np.linalg.norm(q - p)) == (0, 0)


def test_the_span_of_a_ball_over_a_plane_lies_between_both_radii():
    stretched = span_of(Plane((0, 0, 1), ZERO), place(body_of(gk.Sphere(1)), scaled(5)))
    assert stretched == (Fraction(-25, 16), Fraction(-7, 16), Fraction(7, 16), Fraction(25, 16))
    oblique = span_of(Plane((1, 1, 0), ZERO), body_of(gk.Sphere(1)))
    assert oblique.low_in**2 < 2 < oblique.low_out**2
    assert oblique.high_in**2 < 2 < oblique.high_out**2


# arithmetic -----------------------------------------------------------------------------------------------------------


def rationals(seed):
    """Return rational numbers of both signs that no float is equal to."""
    rng = np.random.default_rng(seed)
    return [Fraction(int(p), int(q)) for p, q in rng.integers(-(10**17), 10**17, (100, 2)) if q]


def test_floats_next_to_a_rational_number_are_its_neighbours():
    for x in rationals(21):
        low, high = float_below(x), float_above(x)
        assert Fraction(low) <= x <= Fraction(high)
        assert Fraction(np.nextafter(low, np.inf)) > x > Fraction(np.nextafter(high, -np.inf))


@pytest.mark.parametrize("sign", [1, -1])
def test_fractions_round_a_root_hold_it_and_differ_by_its_last_digits(sign):
    for x in map(abs, rationals(22)):
        root = Root.sqrt(x)
        low, high = Root(sign * root.num, root.den).bracket()
        assert low < high
        assert min(low * low, high * high) < x < max(low * low, high * high)
        assert high - low <= Fraction(1, 2**200)
        square = Root.sqrt(x.numerator**2 / Fraction(4)).bracket()
        assert square == (Fraction(x.numerator, 2),) * 2


def test_floats_round_a_square_root_hold_it():
    for x in map(abs, rationals(23)):
        low, high = map(Fraction, sqrt_bounds(x))
        assert low * low < x < high * high
        assert float(high) == np.nextafter(float(low), np.inf)


# planes ---------------------------------------------------------------------------------------------------------------


def test_a_distance_of_a_body_from_a_plane_that_is_overstated_within_its_bounds_is_no_proof_of_the_normal():
    body, plane = gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Plane((0, 0, 1), -1.0)
    result = gk.signed_distance(body, plane)
    assert gk.verify(result, body, plane).proven
    result.distance += 1e-9
    result.upper = result.distance
    verdict = gk.verify(result, body, plane)
    assert any("along the normal the distance is less" in flaw for flaw in verdict.reasons)


@pytest.mark.parametrize("body", [gk.Box((1, 1, 1)), gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Sphere(0.5), None)])])
def test_the_error_of_the_normal_of_a_half_space_is_that_of_the_distance_along_it(body):
    question = gk.Halfspace((0, 0, 1)), body, None, naive.pose(translation=(0, 0, 3))
    result = gk.signed_distance(*question)
    result.distance += 1e-6
    assert 1e-6 <= gk.verify(result, *question).normal_error < 1.2e-6
