"""`verify` accepts true results, rejects false results, and reports which field is wrong."""

from __future__ import annotations

import copy
import itertools
from math import nan, sqrt

import naive
import numpy as np
import pytest
from hypothesis import given
from message_checks import assert_names
from strategies import CHOSEN_PAIRS, SHAPES, build, is_polytope, pairs, polytopes, random_poses

import gjk3d as gk
from gjk3d.exact import verify
from gjk3d.shapes.base import Shape
from tests.exact.messages import REASONS

S = gk.Status
QUERIES = [gk.signed_distance, gk.distance]


def altered(result, **changes):
    copied = copy.copy(result)
    for name, value in changes.items():
        setattr(copied, name, value)
    return copied


def with_sign_law(result, distance=None, normal=None, **changes):
    """Return the result with another distance or normal, and with the ``point_b`` that satisfies the sign law."""
    distance = result.distance if distance is None else distance
    normal = result.normal if normal is None else np.asarray(normal)
    point_b = result.point_a + distance * normal
    return altered(result, distance=distance, normal=normal, point_b=point_b, **changes)


def turned(normal, angle):
    side = np.cross(normal, [1, 0, 0] if abs(normal[0]) < 0.7 else [0, 1, 0])
    return np.cos(angle) * normal + np.sin(angle) * side / np.linalg.norm(side)


def assert_proven(verdict):
    assert verdict.ok, verdict
    assert verdict
    assert not verdict.refuted
    assert verdict.reasons == ()


def assert_refuted(verdict, why=""):
    assert not verdict.ok
    assert not verdict
    assert verdict.refuted, verdict
    assert any(why in reason for reason in verdict.reasons), verdict


# accepted -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_accepts_results_of_chosen_pairs(seed):
    rng = np.random.default_rng(seed)
    overlapping = []
    for kind_a, kind_b in CHOSEN_PAIRS:
        a, b = SHAPES[kind_a], SHAPES[kind_b]
        shape_a, shape_b = build(a), build(b)
        poses_a, poses_b = random_poses(rng, a, b, 2)
        for query in QUERIES:
            result = query(shape_a, shape_b, poses_a, poses_b)
            for k in range(2):
                verdict = verify(result[k], shape_a, shape_b, poses_a[k], poses_b[k])
                assert_proven(verdict)
                if query is gk.signed_distance:
                    assert verdict.lower <= result[k].upper
                    assert verdict.upper >= result[k].lower
        overlapping.append(float((result.status == S.OVERLAPPING).mean()))
    assert 0.3 < np.mean(overlapping) < 0.7


@given(pairs(polytopes))
def test_accepts_results_of_hard_polytopes(pair):
    a, pose_a, b, pose_b = pair
    shape_a, shape_b = build(a), build(b)
    for query in QUERIES:
        assert_proven(verify(query(shape_a, shape_b, pose_a, pose_b), shape_a, shape_b, pose_a, pose_b))


TOUCHING = {
    "face on face": (gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), (1, 0.25, 0)),
    "edge on edge": (gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), (1, 1, 0)),
    "vertex on vertex": (gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), (1, 1, 1)),
    "one below": (gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), (np.nextafter(1, 0), 0, 0)),
    "one above": (gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), (np.nextafter(1, 2), 0, 0)),
    "spheres": (gk.Sphere(1), gk.Sphere(0.5), (1.5, 0, 0)),
    "rounded": (gk.Box((1, 1, 1)).inflated(0.25), gk.Capsule(0.25, 1), (1, 0, 0)),
    "cylinder on box": (gk.Cylinder(0.5, 1), gk.Box((1, 1, 1)), (0, 0, 1)),
    "flat in one plane": (gk.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]),) * 2 + ((0.25, 0.25, 0),),
    "crossing segments": (gk.Segment((-1, 0, 0), (1, 0, 0)), gk.Segment((0, -1, 0), (0, 1, 0)), (0, 0, 0)),
    "points": (gk.Point(), gk.Point(), (0, 0, 0)),
}


@pytest.mark.parametrize("name", TOUCHING)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_accepts_contact(name, query, scale):
    a, b, where = TOUCHING[name]
    a, b = a.scaled(scale), b.scaled(scale)
    pose_a, pose_b = (
        naive.pose(translation=np.array((3, 1, 2)) * scale),
        naive.pose(translation=scale * np.array(where)),
    )
    pose_b[:3, 3] += pose_a[:3, 3]
    result = query(a, b, pose_a, pose_b)
    assert_proven(verify(result, a, b, pose_a, pose_b))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("one", ["box", "hull", "capsule", "cone", "squashed capsule"])
def test_accepts_results_of_early_termination(query, one):
    rng = np.random.default_rng(8)
    a, b = SHAPES[one], SHAPES["ellipsoid"]
    shape_a, shape_b = build(a), build(b)
    poses_a, poses_b = random_poses(rng, a, b, 12)
    seen = set()
    for options in ({"tol": 0.3}, {"tol": 1e-3}, {"max_distance": 0.0}, {"max_distance": 0.1}):
        result = query(shape_a, shape_b, poses_a, poses_b, **options)
        for k in range(len(poses_a)):
            assert_proven(verify(result[k], shape_a, shape_b, poses_a[k], poses_b[k]))
            seen.add(result[k].status)
    assert {S.SEPARATED, S.OVERLAPPING, S.BEYOND} <= seen


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("query", QUERIES)
def test_accepts_and_rejects_half_spaces(name, query):
    rng = np.random.default_rng(4)
    shape = build(SHAPES[name])
    for k in range(6):
        plane = gk.Halfspace(rng.normal(size=3), rng.normal())
        turns = naive.random_rotations(rng, 2)
        poses = [naive.pose(turns[i], rng.normal(size=3) * 10.0 ** (k % 3)) for i in range(2)]
        result = query(plane, shape, *poses)
        assert_proven(verify(result, plane, shape, *poses))
        mirrored = query(shape, plane, *poses[::-1])
        assert_proven(verify(mirrored, shape, plane, *poses[::-1]))
        assert_refuted(verify(with_sign_law(result, normal=-result.normal), plane, shape, *poses))
        assert_refuted(verify(with_sign_law(result, normal=turned(result.normal, 1e-6)), plane, shape, *poses))
        up = result.upper + 1e-6
        assert_refuted(verify(with_sign_law(result, up, lower=up, upper=up, status=S.SEPARATED), plane, shape, *poses))
        for by, why in ((1e3, REASONS["point outside the half-space"]), (-1e3, REASONS["point outside"])):
            off = {name: getattr(result, name) + by * result.normal for name in ("point_a", "point_b")}
            assert_refuted(verify(altered(result, **off), plane, shape, *poses), why)


def test_verdict_bounds_enclose_closed_form_distances():
    cases = [
        (gk.Sphere(1), gk.Sphere(2), (5, 0, 0), 2.0),
        (gk.Sphere(1), gk.Sphere(2), (1, 2, 2), 0.0),
        (gk.Sphere(1), gk.Box((2, 2, 2)), (3, 2, 0), sqrt(5) - 1),
        (gk.Cylinder(1, 2), gk.Cylinder(1, 2), (3, 0, 0), 1.0),
        (gk.Cylinder(1, 2), gk.Cylinder(1, 2), (0, 0, 1.5), -0.5),
        (gk.Ellipsoid((1, 2, 3)), gk.Ellipsoid((1, 2, 3)), (2.5, 0, 0), 0.5),
        (gk.Cone(1, 2), gk.Point(), (0, 0, 4), 3.0),
    ]
    for a, b, where, value in cases:
        pose = naive.pose(translation=where)
        verdict = verify(gk.signed_distance(a, b, None, pose), a, b, None, pose)
        assert_proven(verdict)
        assert verdict.lower <= value <= verdict.upper


# rejected -----------------------------------------------------------------------------------------------------------

_TURN = naive.random_rotations(np.random.default_rng(17), 2)
CASES = {
    "boxes apart": (gk.Box((1, 2, 3)), gk.Box((2, 1, 1)), _TURN[0], (3, 1, 0.5)),
    "boxes overlap": (gk.Box((1, 2, 3)), gk.Box((2, 1, 1)), _TURN[0], (0.6, 0.4, 0.2)),
    "boxes touch": (gk.Box((1, 2, 3)), gk.Box((2, 1, 1)), np.eye(3), (1.5, 0.5, 0.25)),
    "rounded apart": (gk.Box((1, 1, 1)).inflated(0.1), gk.Capsule(0.2, 1), _TURN[1], (1.5, 0.5, 1)),
    "rounded overlap shallow": (gk.Box((1, 1, 1)).inflated(0.1), gk.Capsule(0.2, 1), np.eye(3), (0.7, 0.1, 0)),
    "flat through solid": (gk.Triangle([(-2, 0, 0), (2, 1, 0), (0, -2, 0)]), gk.Box((1, 1, 1)), _TURN[0], (0, 0, 0.1)),
    "segments": (gk.Segment((0, 0, 0), (1, 0, 0)), gk.Segment((0, 0, 1), (0, 1, 1)), _TURN[1], (0, 0, 1)),
    "cones apart": (gk.Cone(1, 2), gk.Cone(0.5, 1), _TURN[0], (2, 1, 0)),
    "cone in ellipsoid": (gk.Cone(0.4, 1), gk.Ellipsoid((1, 2, 1.5)), _TURN[1], (0.2, 0.1, 0.4)),
    "cylinder and box": (gk.Cylinder(0.5, 2), gk.Box((1, 1, 1)), _TURN[1], (0.6, 0, 0.3)),
}


def query_and_arguments(name, query=gk.signed_distance):
    a, b, turn, where = CASES[name]
    pose_a, pose_b = naive.pose(_TURN[1], (5, -2, 1)), naive.pose(_TURN[1] @ turn, _TURN[1] @ where + (5, -2, 1))
    result = query(a, b, pose_a, pose_b)
    question = (a, b, pose_a, pose_b)
    assert_proven(verify(result, *question))
    return result, question


@pytest.fixture(params=list(CASES))
def case(request):
    return query_and_arguments(request.param)


def test_cases_cover_every_status():
    assert {query_and_arguments(name)[0].status for name in CASES} == {S.SEPARATED, S.TOUCHING, S.OVERLAPPING}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("way", [1, -1])
def test_rejects_interval_without_the_true_distance(name, query, way):
    result, question = query_and_arguments(name, query)
    by = way * 10 * max(result.upper - result.lower, 1e-14)
    lower, upper = result.lower + by, result.upper + by
    status = S.SEPARATED if lower > 0 else S.OVERLAPPING if upper < 0 else S.TOUCHING
    shifted = with_sign_law(result, result.distance + by, lower=lower, upper=upper, status=status)
    assert_refuted(verify(shifted, *question), "signed distance")


@pytest.mark.parametrize("by", [1e-13, 1e-9, 1e-3, 1.0])
@pytest.mark.parametrize("way", [1, -1])
def test_rejects_interval_next_to_the_true_distance(case, by, way):
    """The interval is on one side of the true distance, at least ``by`` away from it."""
    result, question = case
    middle = result.distance + way * (by + result.upper - result.lower)
    lower, upper = sorted((middle, middle + way * by))
    status = S.SEPARATED if lower > 0 else S.OVERLAPPING if upper <= 0 else S.TOUCHING
    assert_refuted(verify(with_sign_law(result, middle, lower=lower, upper=upper, status=status), *question))


def test_rejects_a_flipped_or_turned_normal(case):
    result, question = case
    assert_refuted(verify(altered(result, normal=-result.normal), *question))
    assert_refuted(verify(with_sign_law(result, normal=-result.normal), *question))
    assert_refuted(verify(with_sign_law(result, normal=turned(result.normal, 0.1)), *question))


@pytest.mark.parametrize(("angle", "proven"), [(1e-13, True), (1e-10, False), (1e-6, False)])
def test_normal_is_proven_only_within_the_promised_width(angle, proven):
    """The gap of two parallel faces along a tilted normal shrinks by half the width of the faces times the angle."""
    a, b, pose = gk.Box((1, 1, 1)), gk.Box((4, 4, 4)), naive.pose(translation=(3.5, 0, 0))
    result = gk.signed_distance(a, b, None, pose)
    verdict = verify(with_sign_law(result, normal=turned(result.normal, angle)), a, b, None, pose)
    assert verdict.proven is proven
    assert verdict.refuted is not proven
    assert 2.4 * angle < verdict.normal_error < 2.6 * angle


def test_rejects_normal_that_is_not_a_unit_vector(case):
    result, question = case
    for factor in (1 + 1e-9, 1 - 1e-11, 0.0, 1e200):
        assert_refuted(verify(altered(result, normal=result.normal * factor), *question), "length")
    assert_refuted(verify(altered(result, normal=result.normal * nan), *question), "finite")


def test_rejects_points_outside_their_shapes(case):
    result, question = case
    # Both points are on support planes of the normal, so a move along the normal puts one of them outside.
    for along, by in ((result.normal, 1e-6), (-result.normal, 1e-6), (turned(result.normal, 1.5), 10.0)):
        point_a_moved = altered(result, point_a=result.point_a + by * along)
        assert_refuted(verify(point_a_moved, *question), "differs")
        both_moved = altered(point_a_moved, point_b=result.point_b + by * along)
        assert_refuted(verify(both_moved, *question), REASONS["point outside"])
    assert_refuted(verify(altered(result, point_b=result.point_b * nan), *question), "finite")


def test_rejects_weights_that_are_not_convex():
    """The weights 1.5 and -0.5 of two vertices give a point outside the edge."""
    a, b = gk.Segment((0, 0, 0), (2, 0, 0)), gk.Segment((0, 0, 1), (2, 0, 1))
    result = gk.signed_distance(a, b)
    off = np.array([3.0, 0, 0])
    wrong = altered(result, point_a=off, point_b=off + (0, 0, 1))
    assert_refuted(verify(wrong, a, b), f"point_a is {REASONS['point outside']} by 1")


def test_rejects_a_wrong_status(case):
    result, question = case
    others = [status for status in S if status is not result.status]
    assert len(others) == len(S) - 1
    for status in others:
        assert_refuted(verify(altered(result, status=status), *question), "status")


def test_status_beyond_depends_on_max_distance():
    a, b, pose = gk.Box((1, 1, 1)), gk.Cylinder(0.5, 1), naive.pose(translation=(3, 0, 0))
    near, far = (gk.distance(a, b, None, pose, max_distance=limit) for limit in (2.5, 1.5))
    assert (near.status, far.status) == (S.SEPARATED, S.BEYOND)
    for result, wrong_status in ((near, S.BEYOND), (far, S.SEPARATED)):
        assert_proven(verify(result, a, b, None, pose))
        assert_refuted(verify(altered(result, status=wrong_status), a, b, None, pose), "max_distance")


@pytest.mark.parametrize("far", [(0, 0, 0), (1e8, 3, -2e5)])
def test_shapes_at_the_same_point_touch(far):
    """The depth of pairs of degenerate shapes at the same point is exactly 0, so both bounds must enclose 0."""
    origin, place = (0, 0, 0), naive.pose(translation=far)
    pair = gk.MinkowskiSum(gk.Point((1, 0, 0)), gk.Point((-1, 0, 0)))
    shapes = [gk.Point(origin), gk.Segment(origin, origin), gk.ConvexHull([origin]), gk.Tetrahedron([origin] * 4), pair]
    shapes += [gk.Point((1, 2, 3)).placed(naive.pose(translation=(-1, -2, -3))), gk.Segment(origin, (1, 0, 0))]
    for a, b in itertools.product(shapes, repeat=2):
        assert gk.collide(a, b, place, place)
        for query in QUERIES:
            result = query(a, b, place, place)
            assert result.lower <= 0.0 <= result.upper
            assert_proven(verify(result, a, b, place, place))


@pytest.mark.parametrize("status", [S.OVERLAPPING, S.TOUCHING, S.UNDECIDED])
@pytest.mark.parametrize("shape", [gk.Box((1, 1, 1)), gk.Cylinder(0.5, 1)])
def test_interval_from_zero_does_not_hide_a_depth(shape, status):
    """The interval is valid for `distance`, which is never negative, but not for `signed_distance`."""
    pose = naive.pose(translation=(0.5, 0.1, 0))
    for query in QUERIES:
        result = query(shape, shape, None, pose)
        wide = 0.25 if status is S.UNDECIDED else 0.0
        zero = with_sign_law(result, 0.0, lower=0.0, upper=wide, status=status, tight=wide == 0.0)
        verdict = verify(zero, shape, shape, None, pose)
        if query is gk.signed_distance:
            assert_refuted(verdict, REASONS["signed distance"])
        else:
            assert verdict.refuted is (status is S.TOUCHING)  # the shapes overlap, so no normal shows that they touch
    below = altered(result, lower=-0.25)
    assert_refuted(verify(below, shape, shape, None, pose), "max(0, ")


def test_rejects_a_distance_outside_its_interval(case):
    result, question = case
    assert_refuted(verify(with_sign_law(result, result.upper + 1e-9), *question), "distance <=")
    assert_refuted(verify(altered(result, lower=result.upper, upper=result.lower), *question))
    assert_refuted(verify(altered(result, lower=nan), *question), "finite")
    assert_refuted(verify(altered(result, upper=np.inf), *question), "finite")


def test_rejects_wide_interval_with_tight_flag(case):
    result, question = case
    assert not 0 < result.lower <= 0.01  # so the wider interval of separated shapes is still positive
    wide = altered(result, lower=result.lower - 0.01, upper=result.upper + (0.01 if result.upper > 0 else 0.0))
    assert_refuted(verify(wide, *question), "tight")
    # The bounds are true, but the status TOUCHING requires bounds within 1e-12 of 0.
    assert verify(altered(wide, tight=False), *question).refuted is (result.status is S.TOUCHING)


@pytest.mark.parametrize("query", QUERIES)
def test_rejects_common_point_of_separated_shapes(query):
    a, b = gk.Box((1, 1, 1)), gk.Box((1, 1, 1))
    pose = naive.pose(translation=(0.5, 0, 0))
    inside = query(a, b, None, pose)
    outside = naive.pose(translation=(1 + 1e-9, 0, 0))
    assert_refuted(verify(inside, a, b, None, outside))
    nothing = altered(query(a, b, None, outside), distance=0.0, lower=0.0, upper=0.0, status=S.OVERLAPPING)
    nothing.point_b = nothing.point_a
    assert_refuted(verify(nothing, a, b, None, outside), "signed distance")


def test_rejects_other_shapes_and_poses(case):
    result, (a, b, pose_a, pose_b) = case
    away = pose_b.copy()
    away[:3, 3] += 1e-3 * result.normal
    assert_refuted(verify(result, a, b, pose_a, away))
    assert_refuted(verify(result, a, b, pose_b, pose_a))
    for another in (gk.Sphere(1), gk.Box((1, 2, 3.5)), gk.Point((9, 9, 9)), gk.Cone(1, 1.5)):
        assert_refuted(verify(result, another, b, pose_a, pose_b), "another shape")
        assert_refuted(verify(result, a, another, pose_a, pose_b), "another shape")


def test_accepts_equal_shape_of_another_type():
    box = gk.Box((1, 2, 3))
    hull = gk.ConvexHull(box.vertices[::-1])
    result = gk.signed_distance(box, gk.Sphere(1), None, naive.pose(translation=(2, 2, 2)))
    assert_proven(verify(result, hull, gk.Sphere(1), None, result.pose_b))
    assert_proven(verify(result, hull, gk.Point().inflated(1), None, result.pose_b))
    assert_refuted(verify(result, hull, gk.Sphere(1 + 1e-15), None, result.pose_b), "another shape")


# other cases --------------------------------------------------------------------------------------------------------


def test_shape_of_unknown_class_is_unprovable():
    class Strange(Shape):
        __slots__ = ("inner",)

        def __init__(self, inner):
            self._set(inner=inner)

        def _pack(self):
            return self.inner._packed

    box = gk.Box((1, 1, 1))
    strange = Strange(box)
    for result, question in [
        (gk.signed_distance(strange, box), (strange, box)),
        (gk.distance(box, strange), (box, strange)),
    ]:
        verdict = verify(result, *question)
        assert not verdict.proven
        assert not verdict.refuted
        (reason,) = verdict.reasons
        assert_names(reason, "unprovable", "Strange", REASONS["unknown numbers"])


def test_invalid_arguments_raise():
    box = gk.Box((1, 1, 1))
    poses = np.tile(np.eye(4), (3, 1, 1))
    result = gk.signed_distance(box, box, None, poses)
    with pytest.raises(TypeError) as caught:
        verify(result, box, box, None, poses)
    assert_names(caught.value, "verify: result is a stack", "verify(result[i]")
    with pytest.raises(gk.errors.ShapeError) as caught:
        verify(result[0], box, box, None, poses)
    assert_names(caught.value, "pose_b", "stack of 3")
    with pytest.raises(gk.errors.PoseError, match="reflection"):
        verify(result[0], box, box, np.diag([1, 1, -1, 1]))
    with pytest.raises(gk.errors.UnsupportedPair, match=r"\ba\b.*\ba str\b.*gjk3d\.Box"):
        verify(result[0], "box", box)
    with pytest.raises(gk.errors.UnsupportedPair, match="half-spaces"):
        verify(result[0], gk.Halfspace((0, 0, 1)), gk.Halfspace((0, 0, 1)))
    assert_proven(verify(result[1], box, box, None, poses[1]))


def test_repr_of_verdict():
    box = gk.Box((1, 1, 1))
    pose = naive.pose(translation=(3, 0, 0))
    result = gk.signed_distance(box, box, None, pose)
    verdict = verify(result, box, box, None, pose)
    assert_names(repr(verdict), "Verdict: proven", "signed distance 2", "points", "normal")
    tolerances = verdict._replace(witness_error=1.201e-9, normal_error=np.inf).tolerances
    assert_names(tolerances, "points", "1.3e-09")
    assert "normal" not in tolerances
    wrong = repr(verify(altered(result, status=S.TOUCHING), box, box, None, pose))
    assert_names(wrong, "Verdict: refuted", "status", "TOUCHING", "[")


def test_curved_flag_of_bodies_matches_is_polytope():
    from gjk3d.exact.convex_sets import body_of

    for spec in SHAPES.values():
        body = body_of(build(spec))
        assert body is not None
        assert body.curved is not is_polytope(spec)
