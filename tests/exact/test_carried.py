"""Certificates that answers carry: they prove both bounds by themselves, and a forged one is told from a true one."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import PAIRS, SHAPES, build, pairs, polytopes, random_poses
from words import assert_names

import gjk3d as gk
from gjk3d.exact import verify
from gjk3d.exact.arithmetic import ZERO, Enclosure
from gjk3d.exact.certificates import judge_carried, judge_foot
from gjk3d.exact.convex_sets import Difference, Placement, Side, body_of, place, placement, translation
from gjk3d.poses import pose_rows
from tests.exact.sentences import REASONS

QUERIES = [gk.signed_distance, gk.distance]
NUMBERS = ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations")


def alone(result, pose_a, pose_b):
    """What the certificate proves without anything that the judge finds itself, held against the answer's bounds."""
    places = [placement(pose_rows(pose)[0][0]) for pose in (pose_a, pose_b)]
    bodies = [body_of(shape) for shape in (result.shape_a, result.shape_b)]
    difference = Difference(*(place(body, at) for body, at in zip(bodies, places, strict=True)))
    sides = (Side(name, body, at) for name, body, at in zip("ab", bodies, places, strict=True))
    size = sum(gk.bounding_sphere(shape).radius for shape in (result.shape_a, result.shape_b))
    size += float(np.linalg.norm(result.point_a - result.point_b))
    unsigned = result.lower == 0.0
    proof = Enclosure(
        None if unsigned else Fraction(result.lower) + difference.radius_high,
        Fraction(result.upper) + difference.radius_low,
    )
    assert judge_carried(result.certificate, *sides, difference, Fraction(64 * 2.0**-53 * size), proof) == []
    return proof


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_certificates_of_every_pair_of_kinds_prove_both_bounds_by_themselves(seed):
    rng = np.random.default_rng(seed)
    kinds: dict[str, int] = {}
    for one, other in PAIRS:
        a, b = SHAPES[one], SHAPES[other]
        shape_a, shape_b = build(a), build(b)
        poses_a, poses_b = random_poses(rng, a, b, 2)
        for query in QUERIES:
            for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
                result = query(shape_a, shape_b, pose_a, pose_b, certificate=True)
                plain = query(shape_a, shape_b, pose_a, pose_b)
                for name in NUMBERS:
                    np.testing.assert_array_equal(getattr(result, name), getattr(plain, name))
                proof = alone(result, pose_a, pose_b)
                kind = result.certificate.kind
                kinds[kind] = kinds.get(kind, 0) + 1
                assert proof.low_proven
                assert proof.high_proven or kind == "section"
                verdict = verify(result, shape_a, shape_b, pose_a, pose_b)
                assert verdict, verdict
    assert set(kinds) == {"weights", "surface", "section"}
    assert kinds["section"] < 0.03 * sum(kinds.values())


@given(pairs(polytopes))
def test_certificates_of_nasty_polytopes_are_never_taken_for_forged(pair):
    check_nasty(pair)


@given(pairs())
def test_certificates_of_nasty_shapes_are_never_taken_for_forged(pair):
    check_nasty(pair)


def check_nasty(pair):
    a, pose_a, b, pose_b = pair
    a, b = build(a), build(b)
    for query in QUERIES:
        result, plain = query(a, b, pose_a, pose_b, certificate=True), query(a, b, pose_a, pose_b)
        for name in NUMBERS:
            np.testing.assert_array_equal(getattr(result, name), getattr(plain, name))
        verdict = verify(result, a, b, pose_a, pose_b)
        assert not any("certificate" in reason for reason in verdict.reasons), verdict
        assert verdict.proven or not verify(plain, a, b, pose_a, pose_b).proven


@pytest.mark.parametrize("name", SHAPES)
def test_swapped_pairs_have_certificates_too(name):
    rng = np.random.default_rng(9)
    a, b = SHAPES[name], SHAPES["rounded cone"]
    for pose_a, pose_b in zip(*random_poses(rng, a, b, 6), strict=True):
        for shapes, poses in (((build(a), build(b)), (pose_a, pose_b)), ((build(b), build(a)), (pose_b, pose_a))):
            result = gk.signed_distance(*shapes, *poses, certificate=True)
            proof = alone(result, *poses)
            assert proof.low_proven
            assert proof.high_proven or result.certificate.kind == "section"
            if result.certificate.kind == "surface":
                assert_outward(result)


def assert_outward(result):
    """The triangles are wound outward, as seen from the origin inside."""
    certificate = result.certificate
    worlds = []
    for points, pose in ((certificate.points_a, result.pose_a), (certificate.points_b, result.pose_b)):
        worlds.append(points @ pose[:3, :3].T + pose[:3, 3])
    corners = (worlds[0] - worlds[1])[certificate.faces]
    volumes = np.linalg.det(corners)
    assert volumes.sum() > 0.0


# kinds --------------------------------------------------------------------------------------------------------------


def deep():
    """A polytope and a curved shape in each other, both turned."""
    rng = np.random.default_rng(1)
    turns = naive.random_rotations(rng, 2)
    a, b = gk.ConvexHull(rng.normal(size=(12, 3))), gk.Cylinder(0.5, 1.0)
    return a, b, naive.pose(turns[0], (0.1, 0.2, 0.3)), naive.pose(turns[1], (0.4, 0.1, 0.2))


def boxes(x):
    pose = naive.pose(naive.random_rotations(np.random.default_rng(3), 1)[0], (x, 0.2, 0.1))
    return gk.Box((1, 2, 3)), gk.Box((2, 1, 1)), None, pose


def test_kinds_and_what_they_say():
    apart = gk.distance(*boxes(5), certificate=True).certificate
    assert apart.kind == "weights"
    assert len(apart.points_a) == len(apart.points_b) == len(apart.weights)
    assert apart.weights.sum() == pytest.approx(1)
    assert len(apart.faces) == 0
    assert set(np.abs(apart.points_a).ravel()) <= {0.5, 1.0, 1.5}  # vertices of the box, exactly
    assert set(np.abs(apart.points_b).ravel()) <= {0.5, 1.0}
    assert_names(repr(apart), "weights", f"{len(apart.weights)} pairs")
    inside = gk.signed_distance(*boxes(0.4), certificate=True).certificate
    assert inside.kind == "surface"
    assert len(inside.faces) == 2 * len(inside.points_a) - 4  # Euler: a closed surface
    assert len(inside.weights) == 0
    assert_names(repr(inside), "surface", f"{len(inside.faces)} triangles", f"{len(inside.points_a)} points")
    pin = gk.signed_distance(gk.Cylinder(1, 2), gk.Cylinder(0.5, 4), certificate=True).certificate
    assert (pin.kind, len(pin.points_a)) == ("section", 0)
    assert_names(repr(pin), "section", "upper bound")
    plane = gk.distance(gk.Sphere(1), gk.Halfspace((0, 0, 1), -3), certificate=True).certificate
    assert plane.kind == "plane"
    assert plane.support_a.tolist() == [0, 0, 0]
    assert plane.support_b.tolist() == [0, 0, -3]


def test_a_common_point_is_a_tetrahedron_round_the_origin():
    a, b, pose_a, pose_b = deep()
    result = gk.distance(a, b, pose_a, pose_b, certificate=True)
    assert result.upper == 0.0
    assert (result.certificate.kind, len(result.certificate.faces)) == ("surface", 4)


def test_certificates_are_read_only_and_travel():
    a, b, pose_a, pose_b = deep()
    result = gk.signed_distance(a, b, pose_a, pose_b, certificate=True)
    for name in result.certificate._fields[1:]:
        array = getattr(result.certificate, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    again = pickle.loads(pickle.dumps(result))
    for one, other in zip(again.certificate, result.certificate, strict=True):
        np.testing.assert_array_equal(one, other)
    assert verify(copy.deepcopy(result), a, b, pose_a, pose_b)


def test_no_certificate_is_kept_unasked():
    poses = np.tile(np.eye(4), (3, 1, 1))
    stack = gk.distance(gk.Sphere(1), gk.Sphere(2), None, poses)
    for result in (gk.distance(*boxes(5)), stack, stack[1], stack[1:], gk.Pair(*boxes(5)[:2]).distance()):
        assert result.certificate is None


def test_where_no_certificate_can_be_kept():
    box = gk.Box((1, 1, 1))
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.distance(box, box, np.tile(np.eye(4), (2, 1, 1)), certificate=True)
    assert_names(caught.value, "certificate=True", "one pair")
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.signed_distance(box, box, depth="facets", certificate=True)
    assert_names(caught.value, "certificate=True", "depth='auto'", "'epa'")


@pytest.mark.parametrize("options", [{"depth": "epa"}, {"tol": 1e-2}, {"max_distance": 0.5}, {"trace": True}])
def test_certificates_of_other_settings(options):
    for x in (0.4, 1.9, 5):
        question = boxes(x)
        result = gk.signed_distance(*question, **options, certificate=True)
        plain = gk.signed_distance(*question, **options)
        assert (result.lower, result.upper) == (plain.lower, plain.upper)
        assert alone(result, *question[2:]).done
        assert verify(result, *question)


@pytest.mark.parametrize("name", SHAPES)
def test_half_spaces(name):
    rng = np.random.default_rng(4)
    shape = build(SHAPES[name])
    for k in range(4):
        plane = gk.Halfspace(rng.normal(size=3), rng.normal())
        poses = [naive.pose(r, rng.normal(size=3) * 10.0 ** (k % 3)) for r in naive.random_rotations(rng, 2)]
        for query in QUERIES:
            result = query(plane, shape, *poses, certificate=True)
            assert result.certificate.kind == "plane"
            assert verify(result, plane, shape, *poses)
            mirrored = query(shape, plane, *poses[::-1], certificate=True)
            assert verify(mirrored, shape, plane, *poses[::-1])
            off = result.certificate.support_b + 1e-3
            forged = with_certificate(result, support_b=off)
            assert verify(forged, plane, shape, *poses).refuted
    other = gk.distance(*boxes(5), certificate=True).certificate
    result.certificate = other
    assert_refuted(verify(result, plane, shape, *poses), "'weights'")


# forged -------------------------------------------------------------------------------------------------------------


def with_certificate(result, **changes):
    forged = copy.copy(result)
    forged.certificate = result.certificate._replace(**changes)
    return forged


def assert_refuted(verdict, why):
    assert verdict.refuted, verdict
    assert any(REASONS["certificate"] in reason and why in reason for reason in verdict.reasons), verdict


def moved(rows, row, by):
    rows = rows.copy()
    rows[row] += by
    return rows


SURFACES = {
    "an open surface": (lambda c: {"faces": c.faces[1:]}, "the surface is open"),
    "no surface": (lambda c: {"faces": c.faces[:0]}, "there is no face"),
    "a face turned over": (lambda c: {"faces": np.vstack([c.faces[:1, ::-1], c.faces[1:]])}, "the surface is open"),
    "a vertex that is none": (
        lambda c: {"faces": np.where(c.faces == 0, 99, c.faces)},
        "the index of a missing vertex",
    ),
    "a vertex off its shape": (
        lambda c: {"points_a": moved(c.points_a, 0, 1e-6 * c.points_a[0])},
        "points_a[0] is out",
    ),
    "another off its shape": (lambda c: {"points_b": 2 * c.points_b}, "is outside its shape by"),
}
WEIGHTS = {
    "a negative weight": (
        lambda c: {"weights": c.weights * (-1, *(1,) * (len(c.weights) - 1))},
        "weight 0 is negative",
    ),
    "weights of nothing": (lambda c: {"weights": 0 * c.weights}, "the weights sum to 0"),
    "too few weights": (lambda c: {"weights": c.weights[1:]}, "weights has shape"),
    "a vertex off its shape": (lambda c: {"points_b": c.points_b * (1 + 1e-12)}, "points_b[0] is outside its shape"),
    "the shapes exchanged": (lambda c: {"points_a": c.points_b, "points_b": c.points_a}, "is outside its shape"),
}
BOTH = {
    "another normal": (lambda c: {"normal": np.roll(c.normal, 1)}, "not the farthest points along the normal"),
    "no normal": (lambda c: {"normal": 0 * c.normal}, "its normal is 0"),
    "another support point": (lambda c: {"support_a": -c.support_a}, "not the farthest points along the normal"),
    "a support point off its shape": (lambda c: {"support_b": 1.5 * c.support_b}, "support_b is outside its shape"),
    "no number": (lambda c: {"points_a": moved(c.points_a, 0, np.nan)}, "a number in points_a is not finite"),
    "ragged": (lambda c: {"points_a": c.points_a[1:]}, ", points_a "),
    "flat": (lambda c: {"normal": c.normal[:2]}, "normal is not a vector"),
    "no such kind": (lambda c: {"kind": "hope"}, "its kind is 'hope'"),
    "the kind of a half-space": (lambda c: {"kind": "plane"}, "its kind is 'plane'"),
    "faces that are no integers": (lambda c: {"faces": c.faces + 0.5}, "faces has"),
}


@pytest.mark.parametrize("name", SURFACES | BOTH)
@pytest.mark.parametrize("question", [boxes(0.4), deep()], ids=["boxes", "curved"])
def test_forged_surfaces_are_refuted(question, name):
    result = gk.signed_distance(*question, certificate=True)
    assert verify(result, *question)
    change, why = (SURFACES | BOTH)[name]
    assert_refuted(verify(with_certificate(result, **change(result.certificate)), *question), why)


@pytest.mark.parametrize("name", WEIGHTS | BOTH)
def test_forged_weights_are_refuted(name):
    question = boxes(5)
    result = gk.distance(*question, certificate=True)
    assert verify(result, *question)
    change, why = (WEIGHTS | BOTH)[name]
    assert_refuted(verify(with_certificate(result, **change(result.certificate)), *question), why)


def test_how_far_a_point_of_a_certificate_is_outside_its_shape_is_added_to_the_upper_bound():
    """Rounding may put a point of a curved core outside it, and nearer to the other shape than any of its points."""
    question = gk.Ellipsoid((1, 1, 2)), gk.Point(), None, naive.pose(translation=(3, 0, 0))
    result = gk.distance(*question, certificate=True)
    assert result.certificate.points_a.tolist() == [[1, 0, 0]]
    near = with_certificate(result, points_a=result.certificate.points_a + (1e-14, 0, 0))
    verdict = verify(near, *question)
    assert verdict
    assert 2.0 <= verdict.upper <= result.upper


def flaws_and_bound(certificate, a, b, at_a, at_b, tolerance):
    sides = Side("a", body_of(a), at_a), Side("b", body_of(b), at_b)
    difference, proof = Difference(*(place(side.body, side.at) for side in sides)), Enclosure(None, Fraction(10**6))
    return judge_carried(certificate, *sides, difference, Fraction(tolerance), proof), proof.high


def test_the_upper_bound_of_a_certificate_holds_for_a_pose_that_stretches():
    """A pose is a rotation only to rounding: how far a point is outside its shape is stretched with the shape."""
    a, b = gk.Ellipsoid((1, 1, 2)), gk.Point()
    certificate = gk.distance(a, b, None, naive.pose(translation=(3, 0, 0)), certificate=True).certificate
    certificate = certificate._replace(points_a=certificate.points_a + (1e-3, 0, 0))
    larger = Placement(((5, 0, 0), (0, 5, 0), (0, 0, 5)), 4, (0, 0, 0), 1, Fraction(9, 16))
    flaws, high = flaws_and_bound(certificate, a, b, larger, translation((Fraction(3), ZERO, ZERO)), 0.01)
    assert flaws == []
    assert high.bracket()[1] >= Fraction(7, 4)


SHORT = "support_a and support_b are not the farthest points along the normal"


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(
    ("far", "tolerance", "short", "flaws"),
    [
        (0, 2.0**-7, 3.9 * 2.0**-7, []),  # four tolerances
        (0, 2.0**-7, 4.1 * 2.0**-7, [SHORT]),
        (2**30, 0, 23.0 * 2.0**-22, []),  # two grains of each shape: 8 units in the last place of 2**30, and of less
        (2**30, 0, 25.0 * 2.0**-22, [SHORT]),
    ],
)
def test_support_points_may_fall_short_of_the_farthest_by_their_rounding(side, far, tolerance, short, flaws):
    a = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (far, 0, 0))
    pose = translation((Fraction(4), ZERO, ZERO))
    certificate = gk.distance(a, a, None, naive.pose(translation=(4, 0, 0)), certificate=True).certificate
    assert certificate.normal.tolist() == [1, 0, 0]
    name = f"support_{side}"
    inward = (-short if side == "a" else short, 0, 0)
    changed = certificate._replace(**{name: getattr(certificate, name) + inward})
    assert flaws_and_bound(changed, a, a, translation((ZERO, ZERO, ZERO)), pose, tolerance)[0] == flaws


@pytest.mark.parametrize(("off", "flawed"), [(7.0 * 2.0**-22, False), (9.0 * 2.0**-22, True)])
def test_a_point_may_be_outside_its_shape_by_what_floats_are_rounded_to_there(off, flawed):
    a = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (2**30, 0, 0))
    certificate = gk.distance(a, a, None, naive.pose(translation=(4, 0, 0)), certificate=True).certificate
    changed = certificate._replace(points_a=certificate.points_a + (off, 0, 0))
    flaws, _ = flaws_and_bound(
        changed, a, a, translation((ZERO, ZERO, ZERO)), translation((Fraction(4), ZERO, ZERO)), 0
    )
    assert bool(flaws) is flawed


def test_a_point_of_a_certificate_has_to_be_in_the_core_without_its_radius():
    question = gk.Box((1, 1, 1)).inflated(0.5), gk.Box((1, 1, 1)), None, naive.pose(translation=(4, 0, 0))
    result = gk.distance(*question, certificate=True)
    off = with_certificate(result, points_a=result.certificate.points_a + (0.25, 0, 0))
    assert_refuted(verify(off, *question), "points_a[0] is outside its shape by 0.25")


@pytest.mark.parametrize(
    ("far", "tolerance", "by", "words"),
    [
        (0, 2.0**-7, 3.9 * 2.0**-7, ""),
        (0, 2.0**-7, 4.1 * 2.0**-7, "is not the point nearest to the half-space"),
        (0, 2.0**-7, -0.9 * 2.0**-7, ""),
        (0, 2.0**-7, -1.1 * 2.0**-7, "is outside its shape"),
        (2**30, 0, 31.0 * 2.0**-22, ""),  # four grains of 8 units in the last place of 2**30
        (2**30, 0, 33.0 * 2.0**-22, "is not the point nearest to the half-space"),
        (2**30, 0, -7.0 * 2.0**-22, ""),
        (2**30, 0, -9.0 * 2.0**-22, "is outside its shape"),
    ],
)
def test_the_support_point_over_a_half_space_may_be_off_by_its_rounding(far, tolerance, by, words):
    a, up = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (0, 0, far + 2)), gk.Halfspace((0, 0, 1))
    certificate = gk.distance(a, up, certificate=True).certificate
    side = Side("a", body_of(a), translation((ZERO, ZERO, ZERO)))
    changed = certificate._replace(support_a=certificate.support_a + (0, 0, by))
    flaws = judge_foot(changed, side, (0, 0, 1), body_of(a), Fraction(tolerance))
    assert [flaw for flaw in flaws if words and words in flaw] == flaws
    assert bool(flaws) is bool(words)


def test_the_certificate_of_a_foreign_pair_is_refuted():
    question = boxes(5)
    result = gk.distance(*question, certificate=True)
    for other in ((gk.Box((1, 2, 3.5)), *question[1:]), (question[0], gk.ConvexHull(np.eye(3)), *question[2:])):
        foreign = copy.copy(result)
        foreign.certificate = gk.distance(*other, certificate=True).certificate
        assert_refuted(verify(foreign, *question), "")
    foreign.certificate = "proven, I swear"
    assert_refuted(verify(foreign, *question), "a str")


def test_a_true_certificate_does_not_make_a_false_answer_true():
    for question in (boxes(5), boxes(0.4), deep()):
        result = gk.signed_distance(*question, certificate=True)
        for by in (1e-6, -1e-6):
            false = copy.copy(result)
            false.lower, false.upper = result.lower + by, result.upper + by
            false.distance = result.distance + by
            false.point_b = false.point_a + false.distance * false.normal
            verdict = verify(false, *question)
            assert verdict.refuted
            assert any(REASONS["signed distance"] in reason for reason in verdict.reasons)


def test_a_certificate_that_proves_less_is_no_forgery():
    """A tetrahedron for EPA's whole polytope: what is missing is found anew."""
    question = deep()
    result = gk.signed_distance(*question, certificate=True)
    weak = copy.copy(result)
    weak.certificate = gk.distance(*question, certificate=True).certificate
    assert not alone(weak, *question[2:]).high_proven
    assert verify(weak, *question)
    # a surface beside the origin: it proves nothing
    beside = copy.copy(result)
    shift = result.certificate
    faces = shift.faces[[0, 0]].copy()
    faces[1] = faces[1, ::-1]
    beside.certificate = shift._replace(faces=faces)
    assert not alone(beside, *question[2:]).high_proven
    assert verify(beside, *question)
