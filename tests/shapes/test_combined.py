"""Sums, unions and sweeps: their parts and limits, and sweeps compared with hulls of doubled points."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import naive
import numpy as np
import pytest
from message_checks import assert_names
from strategies import SHAPES, build

import gjk3d as gk
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.shapes import layout

DIRECTIONS = naive.unit_vectors(np.random.default_rng(3), 200)
TURNED = naive.pose(naive.random_rotations(np.random.default_rng(4), 1)[0], (1.0, -0.5, 0.25))


def heights(shape, directions=DIRECTIONS):
    return np.einsum("ij,ij->i", shape.support(directions), directions)


@pytest.mark.parametrize("one", sorted(SHAPES))
@pytest.mark.parametrize("other", ["box", "rounded cone", "sum"])
def test_support_of_sums_adds_and_of_unions_is_the_maximum(one, other):
    a, b = build(SHAPES[one]), build(SHAPES[other]).placed(TURNED)
    scale = gk.bounding_sphere(a).radius + gk.bounding_sphere(b).radius + 2.0
    np.testing.assert_allclose(heights(gk.MinkowskiSum(a, b)), heights(a) + heights(b), rtol=0, atol=1e-14 * scale)
    union = gk.ConvexUnion(a, b, a)
    np.testing.assert_allclose(heights(union), np.maximum(heights(a), heights(b)), rtol=0, atol=1e-14 * scale)


def test_nested_shapes_are_flattened_and_share_radius():
    ball, box = gk.Sphere(0.5), gk.Box((1, 1, 1))
    assert gk.MinkowskiSum(ball, box)._packed[1][0] == 0.5
    assert gk.ConvexUnion(ball, box.inflated(0.5))._packed[1][0] == 0.5
    assert gk.ConvexUnion(ball, box)._packed[1][0] == 0.0
    nested = gk.MinkowskiSum(gk.ConvexUnion(ball, box), gk.ConvexUnion(gk.MinkowskiSum(box, box), ball)).scaled(
        (1, 2, 3)
    )
    assert repr(nested).startswith("Composed(")
    assert len(nested._terms()) == 4


def test_volumes_of_sums_and_unions():
    box = gk.Box((1, 2, 3))
    assert gk.MinkowskiSum(box, gk.Segment((0, 0, 0), (2, 0, 0))).volume == pytest.approx(18.0, rel=1e-14)
    assert gk.ConvexUnion(box, box.placed(naive.pose(None, (4, 0, 0)))).volume == pytest.approx(30.0, rel=1e-14)
    assert gk.MinkowskiSum(box, gk.Sphere(0.5)).volume == pytest.approx(box.inflated(0.5).volume, rel=1e-14)
    pill = gk.ConvexUnion(gk.Sphere(1), gk.Sphere(1).placed(naive.pose(None, (0, 0, 2))))
    assert pill.volume == pytest.approx(gk.Capsule(1, 2).volume, rel=1e-14)
    stadium = gk.MinkowskiSum(gk.Cylinder(1, 1), gk.Box((2, 1, 1)))
    assert stadium.volume == pytest.approx((np.pi + 2 * 2 + 2 * 1 + 2) * 2, rel=1e-3)


def test_combined_shapes_agree_with_equal_primitives(rng):
    # a capsule as a union, a box as a sum and a rounded box as a sum
    pairs = [
        (gk.Capsule(0.5, 2), gk.ConvexUnion(*(gk.Sphere(0.5).placed(naive.pose(None, (0, 0, z))) for z in (-1, 1)))),
        (gk.Box((3, 2, 1)), gk.MinkowskiSum(gk.Box((1, 1, 0.25)), gk.Box((2, 1, 0.75)))),
        (gk.Box((1, 1, 1)).inflated(0.25), gk.MinkowskiSum(gk.Sphere(0.25), gk.Box((1, 1, 1)))),
    ]
    cylinder = gk.Cylinder(0.5, 1)
    poses = np.array(
        [naive.pose(r, x) for r, x in zip(naive.random_rotations(rng, 40), rng.normal(size=(40, 3)) * 0.8, strict=True)]
    )
    for plain, combined in pairs:
        expected, result = (
            gk.signed_distance(plain, cylinder, None, poses),
            gk.signed_distance(combined, cylinder, None, poses),
        )
        np.testing.assert_allclose(expected.distance, result.distance, rtol=0, atol=4e-9)
        assert (np.maximum(expected.lower, result.lower) <= np.minimum(expected.upper, result.upper)).all()
        assert 5 <= (expected.distance < 0).sum() <= 35
        for k in (0, 7, 21):
            assert gk.verify(result[k], combined, cylinder, None, poses[k]).proven


def test_straight_sweep_equals_hull_of_doubled_points(rng):
    for _ in range(20):
        points, way = rng.normal(size=(8, 3)), rng.normal(size=3)
        swept, doubled = gk.Swept(gk.ConvexHull(points), way), gk.ConvexHull(np.vstack([points, points + way]))
        np.testing.assert_allclose(heights(swept), heights(doubled), rtol=0, atol=1e-13)
        box = gk.Box((1, 1, 1))
        poses = np.array([naive.pose(None, x) for x in rng.normal(size=(20, 3)) * 2])
        np.testing.assert_array_equal(gk.collide(swept, box, None, poses), gk.collide(doubled, box, None, poses))


def test_sweep_hits_between_its_ends():
    plate, bullet = gk.Box((0.01, 1, 1)), gk.Sphere(0.002)
    ends = np.array([naive.pose(None, (x, 0, 0)) for x in (-50, 50)])
    assert not gk.collide(plate, bullet, None, ends).any()
    assert gk.collide(gk.Swept(bullet.placed(ends[0]), (100, 0, 0)), plate)


@pytest.mark.parametrize("name", ["box", "cylinder", "rounded cone", "sharp sum"])
@pytest.mark.parametrize("pieces", [1, 3, 16])
def test_turning_sweep_contains_every_pose(name, pieces, rng):
    shape = build(SHAPES[name])
    motion = gk.Motion(TURNED, rng.normal(size=3), rng.normal(size=3) * 2, center=rng.normal(size=3))
    swept = gk.Swept(shape, motion, pieces)
    high = heights(swept)
    least = np.full(len(DIRECTIONS), -np.inf)
    for t in np.linspace(0, 1, 101):
        pose = motion.at(t)
        least = np.maximum(least, heights(shape, DIRECTIONS @ pose[:3, :3]) + DIRECTIONS @ pose[:3, 3])
    assert (high >= least - 1e-12).all()
    if pieces == 16:
        floats = shape._packed[1]
        assert (high - least).max() < 0.02 * motion._bend(floats[1:4], floats[4] + floats[0])


def exact_turn(angle):
    """Return the cosine and sine of a rational angle below 0.01 with more digits than a float."""
    terms = [Fraction(angle) ** k / factorial(k) for k in range(14)]
    return sum(terms[::4]) - sum(terms[2::4]), sum(terms[1::4]) - sum(terms[3::4])


@pytest.mark.parametrize("kind", ["point", "cloud"])
@pytest.mark.parametrize("seed", range(6))
def test_turning_sweep_about_far_centre_contains_exact_pose(seed, kind):
    """The rounding error of a point at a distance of 1e6 from the axis exceeds the bend of its path."""
    turn, radius, pieces = float(10.0 ** np.random.default_rng(seed).uniform(-6.0, -3.0)), 10**6, 16
    motion = gk.Motion(None, angular=(0.0, 0.0, turn), center=(radius, 0.0, 0.0))
    body = gk.Point() if kind == "point" else gk.PointCloud(np.zeros((1, 3)), 0.0)
    swept = gk.Swept(body, motion, pieces).hull() if kind == "cloud" else gk.Swept(body, motion, pieces)
    for k in range(2 * pieces + 1):
        cosine, sine = exact_turn(Fraction(turn) * Fraction(k, 2 * pieces))
        place = (radius * (1 - cosine), -radius * sine)
        for direction in ((-float(cosine), -float(sine), 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)):
            d, support = [Fraction(x) for x in direction], swept.support(direction).tolist()
            highest = d[0] * Fraction(support[0]) + d[1] * Fraction(support[1])
            assert d[0] * place[0] + d[1] * place[1] <= highest


def test_sweep_with_more_pieces_is_tighter():
    motion = gk.Motion(None, (1, 0, 0), (0, 0, 2.0))
    volumes = [gk.Swept(gk.Box((2, 0.1, 0.1)), motion, k).volume for k in (2, 8, 32)]
    assert volumes[0] > volumes[1] > volumes[2]


@pytest.mark.parametrize(
    ("call", "error", "fragments"),
    [
        (lambda: gk.MinkowskiSum(gk.Sphere(1), 3), ShapeError, ("MinkowskiSum: b", "int", "gjk3d.Box")),
        (
            lambda: gk.MinkowskiSum(gk.Halfspace((0, 0, 1)), gk.Sphere(1)),
            UnboundedShapeError,
            ("MinkowskiSum: a", "Halfspace", "large Box"),
        ),
        (lambda: gk.ConvexUnion(), ShapeError, ("ConvexUnion", "no shapes")),
        (lambda: gk.ConvexUnion(gk.Sphere(1), [gk.Sphere(2)]), ShapeError, ("shapes[1]", "list", "gjk3d.Box")),
        (lambda: gk.Swept(gk.Sphere(1), (1, 2)), ShapeError, ("motion", "(1, 2)")),
        (lambda: gk.Swept(gk.Sphere(1), (1, 2, np.nan)), ShapeError, ("motion", "nan")),
        (lambda: gk.Swept(gk.Sphere(1), gk.Motion([np.eye(4)] * 3)), ShapeError, ("3 rows", "motion[0]")),
        (lambda: gk.Swept(gk.Sphere(1), gk.Motion(angular=(0, 0, 1)), 0), ShapeError, ("pieces", "0")),
        (lambda: gk.ConvexUnion(*[gk.Sphere(1)] * 5000), ShapeError, ("5000 parts", "4096", "gjk3d.ConvexHull")),
    ],
)
def test_invalid_arguments_raise(call, error, fragments):
    with pytest.raises(error) as caught:
        call()
    assert_names(caught.value, *fragments)


def test_inflated_sum_adds_radius_of_its_core():
    core = gk.MinkowskiSum(gk.Sphere(0.5), gk.Box((1, 1, 1)))
    assert core.inflated(0.25)._packed[1][layout.RADIUS] == 0.75
