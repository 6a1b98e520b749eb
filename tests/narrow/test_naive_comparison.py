"""Comparison with the naive twins: hulls and fractions for polytopes, closed forms and bounds for curved shapes."""

from __future__ import annotations

import itertools
from fractions import Fraction

import laws
import naive
import numpy as np
import peers
import pytest
import strategies
from hypothesis import given
from strategies import SHAPES, SOLID, build, is_polytope

import gjk3d as gk

FLAT_OR_SOLID = [name for name in SHAPES if is_polytope(SHAPES[name])]
CURVED = [name for name in SHAPES if not is_polytope(SHAPES[name])]
POLYTOPE_PAIRS = list(itertools.combinations_with_replacement(FLAT_OR_SOLID, 2))
CURVED_PAIRS = [(a, b) for a, b in strategies.CHOSEN_PAIRS if a in CURVED or b in CURVED]


def random_case(seed, name_a, name_b, count):
    """Return a pair of two random shapes of these kinds at random poses."""
    rng = np.random.default_rng(seed)
    a, b = strategies.random_spec(rng, name_a), strategies.random_spec(rng, name_b)
    return laws.Pair.random(rng, a, b, count)


def twins(pair):
    return [
        naive.bodies(pair.a, pose_a, pair.b, pose_b) for pose_a, pose_b in zip(pair.poses_a, pair.poses_b, strict=True)
    ]


@pytest.mark.parametrize(("name_a", "name_b"), POLYTOPE_PAIRS)
def test_polytopes_match_hull_of_all_differences(name_a, name_b):
    pair = random_case(1, name_a, name_b, 6)
    result = pair.signed()
    values, normals = zip(*(naive.signed_distance(a, b) for a, b in twins(pair)), strict=True)
    laws.at_most(np.abs(result.distance - values), 1e-12 * pair.size + pair.rounding, "signed distance")
    laws.at_most(result.lower, values + pair.rounding, "lower <= truth")
    laws.at_most(values, result.upper + pair.rounding, "truth <= upper")
    separated = np.array(values) > 1e-3 * pair.size
    turn = np.linalg.norm(result.normal - np.array(normals), axis=1)
    laws.at_most((turn * result.distance)[separated], (1e-9 * pair.size + 4 * pair.world)[separated], "normal")


def test_about_half_of_random_pairs_collide():
    hits = [random_case(1, *names, 20).collide() for names in itertools.combinations_with_replacement(SOLID, 2)]
    assert 0.3 < np.mean(hits) < 0.7
    assert all(3 <= hit.sum() <= 17 for hit in hits)


@pytest.mark.parametrize(("name_a", "name_b"), POLYTOPE_PAIRS)
def test_witness_points_match_quadratic_program(name_a, name_b):
    """The vector between the witness points of separated shapes is unique, although the points are not."""
    pair = random_case(2, name_a, name_b, 4)
    result = pair.apart()
    for k, (a, b) in enumerate(twins(pair)):
        value, point_a, point_b = naive.polytope_distance(a.points, b.points)
        expected = max(value - a.radius - b.radius, 0.0)
        assert result.distance[k] == pytest.approx(expected, rel=0, abs=1e-12 * pair.size[k] + pair.rounding[k])
        vector = (point_b - point_a) * (expected / value if value else 0.0)
        assert np.linalg.norm(result.point_b[k] - result.point_a[k] - vector) <= 1e-9 * pair.size[k] + pair.world[k]


def exact_square(pair, k):
    """Return sd * |sd| in fractions, for sharp polytopes without rotation, whose translations are exact."""
    points = [
        naive.exact(body.points) + naive.exact(poses[k, :3, 3])
        for body, poses in ((pair.body_a, pair.poses_a), (pair.body_b, pair.poses_b))
    ]
    return naive.exact_signed_square(*points)


def signed_square(x):
    return Fraction(float(x)) * abs(Fraction(float(x)))


@pytest.mark.parametrize(("name_a", "name_b"), [("box", "box"), ("tetrahedron", "box"), ("triangle", "tetrahedron")])
@pytest.mark.parametrize("far", [0.0, 1e7])
def test_bounds_contain_the_exact_value(name_a, name_b, far):
    """Rational arithmetic proves lower <= true distance <= upper without tolerance."""
    rng = np.random.default_rng(3)
    a, b = SHAPES[name_a], SHAPES[name_b]
    poses_a, poses_b = strategies.random_poses(rng, a, b, 6)
    poses_a[:, :3, :3] = poses_b[:, :3, :3] = np.eye(3)
    poses_b[:, :3, 3] = poses_a[:, :3, 3] + 0.7 * rng.normal(size=(6, 3))
    poses_b[3:, :3, 3] = poses_a[3:, :3, 3] + rng.integers(-2, 3, size=(3, 3)) / 2  # ties and touching
    poses_a[:, :3, 3] += far
    poses_b[:, :3, 3] += far
    pair = laws.Pair(a, poses_a, b, poses_b)
    result = pair.signed()
    by_epa = pair.signed(depth="epa")
    for k in range(6):
        truth = exact_square(pair, k)
        for answer in (result, by_epa):
            assert signed_square(answer.lower[k]) <= truth <= signed_square(answer.upper[k])
        assert pair.collide()[k] == (not result.lower[k] > 0)


@given(strategies.pairs(strategies.polytopes))
def test_difficult_polytopes_match_hull_of_all_differences(case):
    pair = laws.Pair(*case)
    result = pair.signed()
    value, normal = naive.signed_distance(*twins(pair)[0])
    # the naive facets of needles may be inaccurate, but the gap along the naive normal is a valid lower bound
    proven = pair.gap(normal)
    laws.at_most(proven, result.upper + pair.rounding, "truth <= upper")
    laws.at_most(np.abs(result.distance - value), 1e-11 * pair.size + pair.rounding, "signed distance")


#: shapes whose distance to a point has a closed form
CLOSED = [name for name in SHAPES if not {"squashed", "sum", "union"} & set(name.split())]


@pytest.mark.parametrize("name", CLOSED)
def test_spheres_match_closed_form_of_point_distance(name):
    """The distance of a sphere is that of its centre minus its radius, and a point has a distance in closed form."""
    spec = SHAPES[name]
    pair = laws.Pair.random(np.random.default_rng(4), ("sphere", 0.3), spec, 20)
    result = pair.signed()
    for k in range(20):
        turn = pair.poses_b[k, :3, :3]
        center = turn.T @ (pair.poses_a[k, :3, 3] - pair.poses_b[k, :3, 3])
        closed = naive.point_signed_distance(spec, center) - 0.3
        allowed = pair.promised[k] + pair.rounding[k]
        assert result.distance[k] == pytest.approx(closed, rel=0, abs=allowed)
        assert result.lower[k] <= closed + pair.rounding[k]
        assert closed <= result.upper[k] + pair.rounding[k]


def test_capsules_match_segment_distance():
    rng = np.random.default_rng(5)
    for _ in range(10):
        a, b = ("capsule", *rng.uniform(0.1, 1, 2)), ("capsule", *rng.uniform(0.1, 1, 2))
        pair = laws.Pair.random(rng, a, b, 10)
        result = pair.signed()
        for k, (body_a, body_b) in enumerate(twins(pair)):
            closed = naive.segment_distance(*body_a.points, *body_b.points) - a[1] - b[1]
            assert result.distance[k] == pytest.approx(closed, rel=0, abs=1e-12 * pair.size[k])
            assert result.lower[k] <= closed + pair.rounding[k]
            assert closed <= result.upper[k] + pair.rounding[k]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("cylinder", 0.5, 1.0), ("cylinder", 0.3, 2.0)),
        (("capsule", 0.5, 1.0), ("capsule", 0.3, 2.0)),
        (("box", (0.5, 1.0, 0.7)), ("box", (1.0, 2.0, 1.4))),
        (("ellipsoid", (0.5, 1.0, 0.7)), ("ellipsoid", (1.0, 2.0, 1.4))),
    ],
)
def test_aligned_pairs_match_point_distance_to_their_sum(a, b):
    """The difference of similar aligned shapes is of the same kind, and its distance to a point has a closed form."""
    rng = np.random.default_rng(6)
    poses_a, poses_b = strategies.random_poses(rng, a, b, 40)
    poses_b[:, :3, :3] = poses_a[:, :3, :3]
    offsets = rng.normal(size=(40, 3))
    poses_b[:, :3, 3] = poses_a[:, :3, 3] + np.einsum("nij,nj->ni", poses_a[:, :3, :3], offsets)
    pair = laws.Pair(a, poses_a, b, poses_b)
    result = pair.signed()
    closed = np.array([naive.point_signed_distance(naive.aligned_sum(a, b), offset) for offset in offsets])
    laws.at_most(result.lower, closed + pair.rounding, "lower <= truth")
    laws.at_most(closed, result.upper + pair.rounding, "truth <= upper")
    laws.at_most(np.abs(result.distance - closed), pair.promised + pair.rounding, "signed distance")
    assert result.tight.all()


@pytest.mark.parametrize(("name_a", "name_b"), CURVED_PAIRS)
def test_curved_pairs_match_naive_bounds(name_a, name_b):
    pair = random_case(7, name_a, name_b, 3)
    result = pair.signed()
    for k, (a, b) in enumerate(twins(pair)):
        lo, hi = naive.bracket(a, b)
        assert result.lower[k] <= hi + pair.rounding[k]
        assert lo <= result.upper[k] + pair.rounding[k]
        slack = pair.promised[k] + pair.rounding[k]
        assert lo - slack <= result.distance[k] <= hi + slack
        assert hi - lo <= 1e-4 * pair.size[k]


# other libraries, where they are accurate ---------------------------------------------------------------------------

COAL_POLYTOPES = ["tetrahedron", "sphere", "box", "capsule", "hull", "rounded box"]
COAL_ALL = COAL_POLYTOPES + ["cylinder", "cone", "ellipsoid", "rounded cone"]


def query_coal(pair):
    a, b = peers.coal_shape(pair.a), peers.coal_shape(pair.b)
    answers = [
        peers.coal_signed_distance(a, pose_a, b, pose_b)
        for pose_a, pose_b in zip(pair.poses_a, pair.poses_b, strict=True)
    ]
    return [np.array(column) for column in zip(*answers, strict=True)]


@pytest.mark.parametrize(("name_a", "name_b"), list(itertools.combinations_with_replacement(COAL_POLYTOPES, 2)))
def test_coal_agrees_on_polytopes(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(8), SHAPES[name_a], SHAPES[name_b], 40)
    result = pair.signed()
    distance, normal, _, _ = query_coal(pair)
    laws.at_most(np.abs(result.distance - distance), 1e-6 * pair.size, "coal's signed distance")
    separated = result.lower > 1e-3 * pair.size
    assert np.abs(result.normal - normal)[separated].max() < 1e-6


@pytest.mark.parametrize(
    ("name_a", "name_b"),
    [p for p in itertools.combinations_with_replacement(COAL_ALL, 2) if set(p) - set(COAL_POLYTOPES)],
)
def test_coal_agrees_on_separated_curved_shapes(name_a, name_b):
    """Results of coal are compared only where its normal proves its distance, since it fails for some curved pairs."""
    pair = laws.Pair.random(np.random.default_rng(9), SHAPES[name_a], SHAPES[name_b], 40)
    result = pair.signed()
    distance, normal, _, _ = query_coal(pair)
    sound = (np.abs(distance) < 100) & (np.abs(np.linalg.norm(normal, axis=1) - 1) < 1e-6)
    right = sound & (result.lower > 0) & (np.abs(pair.gap(np.where(sound[:, None], normal, 1.0)) - distance) < 1e-5)
    assert right.sum() >= 0.9 * np.sum(result.lower > 0)
    laws.at_most(np.abs(result.distance - distance)[right], 1e-6 * pair.size[right], "coal's distance")


@pytest.mark.parametrize(("name_a", "name_b"), [("sphere", "sphere"), ("sphere", "box"), ("box", "box")])
def test_fcl_agrees_on_spheres_and_boxes(name_a, name_b):
    pair = laws.Pair.random(np.random.default_rng(10), SHAPES[name_a], SHAPES[name_b], 60)
    result = pair.apart()
    a, b = peers.fcl_shape(pair.a), peers.fcl_shape(pair.b)
    for k in np.flatnonzero(result.lower > 1e-4 * pair.size):
        where = pair.poses_a[k], pair.poses_b[k]
        distance, _, _ = peers.fcl_distance(a, where[0], b, where[1])
        assert result.distance[k] == pytest.approx(distance, abs=1e-5 * pair.size[k])
        assert not peers.fcl_collide(a, where[0], b, where[1])
    deep = np.flatnonzero(pair.signed().upper < -1e-3 * pair.size)
    assert all(peers.fcl_collide(a, pair.poses_a[k], b, pair.poses_b[k]) for k in deep)
    assert len(deep) > 10


def test_supports_match_naive_twins():
    """The package and the naive twin build the same shape from each spec."""
    directions = naive.unit_vectors(np.random.default_rng(11), 200)
    for name, spec in SHAPES.items():
        heights = (build(spec).support(directions) * directions).sum(axis=1)
        assert np.allclose(heights, naive.body(spec).height(directions), rtol=1e-14, atol=1e-14), name
    assert isinstance(build(SHAPES["rounded cone"]), gk.Rounded)
