"""Certificates of results: a true certificate proves the bounds without a search, and a forged one is refuted."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from message_checks import assert_names
from strategies import PAIRS, SHAPES, build, pairs, polytopes, random_poses

import gjk3d as gk
from gjk3d.exact import verify
from gjk3d.exact.arithmetic import ZERO, Enclosure
from gjk3d.exact.certificates import judge_carried, judge_foot
from gjk3d.exact.convex_sets import Difference, Placement, Side, body_of, place, placement, translation
from gjk3d.poses import pose_rows
from tests.exact.messages import REASONS

QUERIES = [gk.signed_distance, gk.distance]
NUMBERS = ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations")


def prove_bounds(result, pose_a, pose_b):
    """Return which bounds of the result the certificate alone proves, without a search by `verify`."""
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
def test_certificate_of_each_pair_of_kinds_proves_both_bounds(seed):
    rng = np.random.default_rng(seed)
    kinds: dict[str, int] = {}
    for kind_a, kind_b in PAIRS:
        a, b = SHAPES[kind_a], SHAPES[kind_b]
        shape_a, shape_b = build(a), build(b)
        poses_a, poses_b = random_poses(rng, a, b, 2)
        for query in QUERIES:
            for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
                result = query(shape_a, shape_b, pose_a, pose_b, certificate=True)
                plain = query(shape_a, shape_b, pose_a, pose_b)
                for name in NUMBERS:
                    np.testing.assert_array_equal(getattr(result, name), getattr(plain, name))
                proof = prove_bounds(result, pose_a, pose_b)
                kind = result.certificate.kind
                kinds[kind] = kinds.get(kind, 0) + 1
                assert proof.low_proven
                assert proof.high_proven or kind == "section"
                verdict = verify(result, shape_a, shape_b, pose_a, pose_b)
                assert verdict, verdict
    assert set(kinds) == {"weights", "surface", "section"}
    assert kinds["section"] < 0.03 * sum(kinds.values())


@given(pairs(polytopes))
def test_certificates_of_hard_polytopes_are_accepted(pair):
    check_hard_pair(pair)


@given(pairs())
def test_certificates_of_hard_shapes_are_accepted(pair):
    check_hard_pair(pair)


def check_hard_pair(pair):
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
def test_certificates_of_swapped_pairs_prove_the_bounds(name):
    rng = np.random.default_rng(9)
    a, b = SHAPES[name], SHAPES["rounded cone"]
    for pose_a, pose_b in zip(*random_poses(rng, a, b, 6), strict=True):
        for shapes, poses in (((build(a), build(b)), (pose_a, pose_b)), ((build(b), build(a)), (pose_b, pose_a))):
            result = gk.signed_distance(*shapes, *poses, certificate=True)
            proof = prove_bounds(result, *poses)
            assert proof.low_proven
            assert proof.high_proven or result.certificate.kind == "section"
            if result.certificate.kind == "surface":
                assert_outward(result)


def assert_outward(result):
    """Assert that the triangles are oriented outward from the origin, which the surface encloses."""
    certificate = result.certificate
    worlds = []
    for points, pose in ((certificate.points_a, result.pose_a), (certificate.points_b, result.pose_b)):
        worlds.append(points @ pose[:3, :3].T + pose[:3, 3])
    corners = (worlds[0] - worlds[1])[certificate.faces]
    volumes = np.linalg.det(corners)
    assert volumes.sum() > 0.0


# kinds --------------------------------------------------------------------------------------------------------------


def deep():
    """Return a rotated polytope and a rotated cylinder that overlap."""
    rng = np.random.default_rng(1)
    rotations = naive.random_rotations(rng, 2)
    a, b = gk.ConvexHull(rng.normal(size=(12, 3))), gk.Cylinder(0.5, 1.0)
    return a, b, naive.pose(rotations[0], (0.1, 0.2, 0.3)), naive.pose(rotations[1], (0.4, 0.1, 0.2))


def boxes(x):
    pose = naive.pose(naive.random_rotations(np.random.default_rng(3), 1)[0], (x, 0.2, 0.1))
    return gk.Box((1, 2, 3)), gk.Box((2, 1, 1)), None, pose


def test_certificate_kind_arrays_and_repr():
    separated = gk.distance(*boxes(5), certificate=True).certificate
    assert separated.kind == "weights"
    assert len(separated.points_a) == len(separated.points_b) == len(separated.weights)
    assert separated.weights.sum() == pytest.approx(1)
    assert len(separated.faces) == 0
    assert set(np.abs(separated.points_a).ravel()) <= {0.5, 1.0, 1.5}  # exact vertices of the box
    assert set(np.abs(separated.points_b).ravel()) <= {0.5, 1.0}
    assert_names(repr(separated), "weights", f"{len(separated.weights)} pairs")
    inside = gk.signed_distance(*boxes(0.4), certificate=True).certificate
    assert inside.kind == "surface"
    assert len(inside.faces) == 2 * len(inside.points_a) - 4  # Euler characteristic of a closed surface
    assert len(inside.weights) == 0
    assert_names(repr(inside), "surface", f"{len(inside.faces)} triangles", f"{len(inside.points_a)} points")
    coaxial = gk.signed_distance(gk.Cylinder(1, 2), gk.Cylinder(0.5, 4), certificate=True).certificate
    assert (coaxial.kind, len(coaxial.points_a)) == ("section", 0)
    assert_names(repr(coaxial), "section", "upper bound")
    plane = gk.distance(gk.Sphere(1), gk.Halfspace((0, 0, 1), -3), certificate=True).certificate
    assert plane.kind == "plane"
    assert plane.support_a.tolist() == [0, 0, 0]
    assert plane.support_b.tolist() == [0, 0, -3]


def test_certificate_of_zero_distance_is_a_tetrahedron():
    a, b, pose_a, pose_b = deep()
    result = gk.distance(a, b, pose_a, pose_b, certificate=True)
    assert result.upper == 0.0
    assert (result.certificate.kind, len(result.certificate.faces)) == ("surface", 4)


def test_certificates_are_read_only_and_picklable():
    a, b, pose_a, pose_b = deep()
    result = gk.signed_distance(a, b, pose_a, pose_b, certificate=True)
    for name in result.certificate._fields[1:]:
        array = getattr(result.certificate, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    unpickled = pickle.loads(pickle.dumps(result))
    for copied, expected in zip(unpickled.certificate, result.certificate, strict=True):
        np.testing.assert_array_equal(copied, expected)
    assert verify(copy.deepcopy(result), a, b, pose_a, pose_b)


def test_certificate_is_none_by_default():
    poses = np.tile(np.eye(4), (3, 1, 1))
    stack = gk.distance(gk.Sphere(1), gk.Sphere(2), None, poses)
    for result in (gk.distance(*boxes(5)), stack, stack[1], stack[1:], gk.Pair(*boxes(5)[:2]).distance()):
        assert result.certificate is None


def test_unsupported_certificate_options_raise():
    box = gk.Box((1, 1, 1))
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.distance(box, box, np.tile(np.eye(4), (2, 1, 1)), certificate=True)
    assert_names(caught.value, "certificate=True", "one pair")
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.signed_distance(box, box, depth="facets", certificate=True)
    assert_names(caught.value, "certificate=True", "depth='auto'", "'epa'")


@pytest.mark.parametrize("options", [{"depth": "epa"}, {"tol": 1e-2}, {"max_distance": 0.5}, {"trace": True}])
def test_certificates_with_other_options_prove_the_bounds(options):
    for x in (0.4, 1.9, 5):
        question = boxes(x)
        result = gk.signed_distance(*question, **options, certificate=True)
        plain = gk.signed_distance(*question, **options)
        assert (result.lower, result.upper) == (plain.lower, plain.upper)
        assert prove_bounds(result, *question[2:]).done
        assert verify(result, *question)


@pytest.mark.parametrize("name", SHAPES)
def test_certificates_of_half_spaces(name):
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
            shifted = result.certificate.support_b + 1e-3
            forged = with_certificate(result, support_b=shifted)
            assert verify(forged, plane, shape, *poses).refuted
    weights = gk.distance(*boxes(5), certificate=True).certificate
    result.certificate = weights
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


def test_upper_bound_includes_the_offset_of_points_from_shapes():
    """Rounding may move a point out of a curved core and nearer to the other shape than any point of the core."""
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


def test_upper_bound_includes_the_stretch_of_the_pose():
    """A pose is a rotation only up to rounding, so the offset of a point from its shape is scaled with the shape."""
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
        (0, 2.0**-7, 3.9 * 2.0**-7, []),  # the limit is four tolerances
        (0, 2.0**-7, 4.1 * 2.0**-7, [SHORT]),
        # the limit is 24 * 2**-22: two times 8 units in the last place of 2**30 + 0.5 and of 2**30 - 0.5
        (2**30, 0, 23.0 * 2.0**-22, []),
        (2**30, 0, 25.0 * 2.0**-22, [SHORT]),
    ],
)
def test_support_points_may_fall_short_by_rounding(side, far, tolerance, short, flaws):
    a = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (far, 0, 0))
    pose = translation((Fraction(4), ZERO, ZERO))
    certificate = gk.distance(a, a, None, naive.pose(translation=(4, 0, 0)), certificate=True).certificate
    assert certificate.normal.tolist() == [1, 0, 0]
    name = f"support_{side}"
    inward = (-short if side == "a" else short, 0, 0)
    changed = certificate._replace(**{name: getattr(certificate, name) + inward})
    assert flaws_and_bound(changed, a, a, translation((ZERO, ZERO, ZERO)), pose, tolerance)[0] == flaws


@pytest.mark.parametrize(("off", "flawed"), [(7.0 * 2.0**-22, False), (9.0 * 2.0**-22, True)])
def test_points_may_be_outside_their_shape_by_rounding(off, flawed):
    a = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (2**30, 0, 0))
    certificate = gk.distance(a, a, None, naive.pose(translation=(4, 0, 0)), certificate=True).certificate
    changed = certificate._replace(points_a=certificate.points_a + (off, 0, 0))
    flaws, _ = flaws_and_bound(
        changed, a, a, translation((ZERO, ZERO, ZERO)), translation((Fraction(4), ZERO, ZERO)), 0
    )
    assert bool(flaws) is flawed


def test_certificate_points_outside_the_core_are_refuted():
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
        (2**30, 0, 31.0 * 2.0**-22, ""),  # the limit is four times 8 units in the last place of 2**30
        (2**30, 0, 33.0 * 2.0**-22, "is not the point nearest to the half-space"),
        (2**30, 0, -7.0 * 2.0**-22, ""),
        (2**30, 0, -9.0 * 2.0**-22, "is outside its shape"),
    ],
)
def test_support_point_over_a_half_space_may_be_off_by_rounding(far, tolerance, by, words):
    a, up = gk.ConvexHull(gk.Box((1, 1, 1)).vertices + (0, 0, far + 2)), gk.Halfspace((0, 0, 1))
    certificate = gk.distance(a, up, certificate=True).certificate
    side = Side("a", body_of(a), translation((ZERO, ZERO, ZERO)))
    changed = certificate._replace(support_a=certificate.support_a + (0, 0, by))
    flaws = judge_foot(changed, side, (0, 0, 1), body_of(a), Fraction(tolerance))
    assert [flaw for flaw in flaws if words and words in flaw] == flaws
    assert bool(flaws) is bool(words)


def test_certificate_of_another_pair_is_refuted():
    question = boxes(5)
    result = gk.distance(*question, certificate=True)
    for arguments in ((gk.Box((1, 2, 3.5)), *question[1:]), (question[0], gk.ConvexHull(np.eye(3)), *question[2:])):
        foreign = copy.copy(result)
        foreign.certificate = gk.distance(*arguments, certificate=True).certificate
        assert_refuted(verify(foreign, *question), "")
    foreign.certificate = "proven, I swear"
    assert_refuted(verify(foreign, *question), "a str")


def test_false_result_with_a_true_certificate_is_refuted():
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


def test_certificate_that_proves_less_is_not_refuted():
    """A tetrahedron replaces the polytope of EPA, and `verify` computes the bound that is not proven."""
    question = deep()
    result = gk.signed_distance(*question, certificate=True)
    weak = copy.copy(result)
    weak.certificate = gk.distance(*question, certificate=True).certificate
    assert not prove_bounds(weak, *question[2:]).high_proven
    assert verify(weak, *question)
    # a closed surface that does not enclose the origin proves nothing
    unproven = copy.copy(result)
    certificate = result.certificate
    faces = certificate.faces[[0, 0]].copy()
    faces[1] = faces[1, ::-1]
    unproven.certificate = certificate._replace(faces=faces)
    assert not prove_bounds(unproven, *question[2:]).high_proven
    assert verify(unproven, *question)
