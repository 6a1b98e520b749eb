"""The ball about its centre that a core holds: by the support mapping, by scipy's facets, and in what it answers."""

from __future__ import annotations

from fractions import Fraction

import laws
import naive
import numpy as np
import strategies
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from strategies import SHAPES

import gjk3d as gk
from gjk3d.shapes import layout

DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), naive.unit_vectors(np.random.default_rng(11), 400)])


def inner(shape):
    return float(shape._packed[1][layout.INNER])


def lowest(shape, directions):
    """The least height of the core's surface over its centre."""
    floats = shape._packed[1]
    center, radius = floats[layout.CENTER : layout.CENTER + 3], floats[layout.RADIUS]
    return float((np.einsum("ij,ij->i", shape.support(directions) - center, directions) - radius).min())


@given(strategies.specs)
def test_no_core_is_lower_than_its_ball(spec):
    shape = strategies.build(spec)
    assert (
        0.0 <= inner(shape) <= max(lowest(shape, DIRECTIONS), 0.0) + 1e-13 * gk.bounding_sphere(shape).radius + 1e-299
    )


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # flat clouds hold no ball
@given(strategies.clouds(4, 20), strategies.scales, strategies.points, st.sampled_from([0.0, 1.0, 1e6]))
def test_no_facet_of_a_hull_is_nearer_in_rational_numbers(cloud, scale, shift, far):
    """The faces are a closed surface of vertices: where each of their planes is beyond a ball, so is the hull's own."""
    shape = gk.ConvexHull((cloud + far * np.asarray(shift)) * scale)
    radius = Fraction(inner(shape))
    assume(radius > 0)
    ints, floats = shape._packed
    numbers = floats[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 3 * ints[layout.VERTICES]]
    rows = [[Fraction(x) for x in row] for row in numbers.reshape(3, -1).T.tolist()]
    for i, j, k in shape.faces.tolist():
        a, e, f = rows[i], *([x - y for x, y in zip(rows[other], rows[i], strict=True)] for other in (j, k))
        n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
        height = sum(x * y for x, y in zip(n, a, strict=True))
        assert height >= 0
        assert height**2 >= radius**2 * sum(x * x for x in n)


def test_of_primitives_it_is_the_largest_ball():
    assert inner(gk.Box((1.0, 2.0, 3.0))) == 0.5
    assert inner(gk.Cylinder(0.5, 4.0)) == 0.5
    assert inner(gk.Ellipsoid((0.5, 1.0, 2.0))) == 0.5
    # the cone's slope: at (3/4, 0) half way up, its normal at (2, 3/2) / 2.5
    np.testing.assert_allclose(inner(gk.Cone(1.5, 2.0)), 0.75 * 2.0 / 2.5, rtol=1e-14)


def test_of_a_hull_it_ends_at_the_nearest_facet():
    rng = np.random.default_rng(5)
    for count in (4, 12, 64, 400):
        points = naive.unit_vectors(rng, count) * (0.5, 0.6, 0.4)
        facets = ConvexHull(points).equations
        shape = gk.ConvexHull(points)
        assert abs(inner(shape) - max(-facets[:, 3].max(), 0.0)) <= 1e-12
        assert inner(shape) <= max(lowest(shape, facets[:, :3].copy()), 0.0) + 1e-15
        far = gk.ConvexHull(points + 10.0)  # stored about its own middle
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        assert abs(inner(far) - max(-(facets[:, :3] @ middle + facets[:, 3]).max(), 0.0)) <= 1e-12


def test_it_is_nothing_where_the_centre_is_outside_or_the_hull_is_flat():
    corners = np.array([(x, y, z) for x in (0.1, 1) for y in (0.1, 1) for z in (0.1, 1)])
    assert inner(gk.ConvexHull(corners)) == 0.0
    assert inner(gk.ConvexHull(corners * (1, 1, 0))) == 0.0
    assert inner(gk.MinkowskiSum(gk.Box((1, 1, 1)), gk.Cylinder(1, 1))) == 0.0
    a = gk.ConvexHull(corners)
    off = np.eye(4)
    off[:3, 3] = -0.2  # the centres, which both lie outside, are near each other, and the hulls apart
    off[:3, :3] = np.diag([-1.0, -1.0, 1.0])
    assert not gk.collide(a, a, None, off)


def test_where_the_balls_meet_a_common_point_and_the_depth_are_those_of_a_trace():
    rng = np.random.default_rng(3)
    for a, b in (("hull", "cylinder"), ("cylinder", "cone"), ("hull", "hull"), ("ellipsoid", "cone"), ("box", "hull")):
        one, other = (strategies.build(SHAPES[name]) for name in (a, b))
        near = 0.9 * (inner(one) + inner(other))
        if not near > 0.0:
            points = naive.unit_vectors(rng, 40)
            one = gk.ConvexHull(points) if inner(one) == 0.0 else one
            other = gk.ConvexHull(points * (0.5, 0.7, 0.6)) if inner(other) == 0.0 else other
            near = 0.9 * (inner(one) + inner(other))
        assert near > 0.0
        for _ in range(5):
            pose = np.eye(4)
            pose[:3, :3] = naive.random_rotations(rng, 1)[0]
            # from centre to centre, in the frame of the first
            middle = [shape._packed[1][layout.CENTER : layout.CENTER + 3] for shape in (one, other)]
            pose[:3, 3] = middle[0] + near * naive.unit_vectors(rng, 1)[0] - pose[:3, :3] @ middle[1]
            assert gk.collide(one, other, None, pose)
            found = gk.distance(one, other, None, pose)
            assert found.distance == found.lower == found.upper == 0.0
            assert found.point_a.tolist() == found.point_b.tolist()
            assert gk.verify(found, one, other, None, pose)
            assert one.contains(found.point_a)
            assert other.inflated(1e-12).contains(pose[:3, :3].T @ (found.point_b - pose[:3, 3]))
            deep = gk.signed_distance(one, other, None, pose)
            shown = gk.signed_distance(one, other, None, pose, trace=True)
            assert max(deep.lower, shown.lower) <= min(deep.upper, shown.upper)
            assert deep.distance <= near - inner(one) - inner(other) + 1e-9
            assert gk.verify(deep, one, other, None, pose)


HOLDS = ["box", "capsule", "cylinder", "cone", "ellipsoid", "sphere", "segment", "point", "rounded cone", "disc"]
near = st.sampled_from([0.0, 1e-9, 0.5, 1.0, 1 - 1e-16, 1 + 1e-16, 1 - 1e-15, 1 + 1e-15, 1 - 1e-14, 1 + 1e-14, 1.01])


@given(
    st.sampled_from(HOLDS), st.sampled_from(HOLDS), st.integers(0, 2**20), near, st.booleans(),
    st.sampled_from([1.0, 1e-9, 1e9]), st.sampled_from([0.0, 1e6]),
)  # fmt: skip
def test_pairs_whose_balls_kiss_keep_the_laws(name_a, name_b, seed, share, rounded, scale, far):
    """Balls of the cores, or with the radii round them; the margins are the answer's own bounds and what is next."""
    rng = np.random.default_rng(seed)
    a, b = (
        strategies.thinned(rng, strategies.random_spec(rng, name), 3 * rng.integers(2)) for name in (name_a, name_b)
    )
    a, b = strategies.rescaled(a, scale), strategies.rescaled(b, scale)
    one, other = strategies.build(a), strategies.build(b)
    radii = one._packed[1][layout.RADIUS] + other._packed[1][layout.RADIUS] if rounded else 0.0
    apart = share * (inner(one) + inner(other) + radii)
    poses = [naive.pose(turn) for turn in naive.random_rotations(rng, 2)]
    poses[0][:3, 3] = far * scale * rng.normal(size=3)
    middles = [shape._packed[1][layout.CENTER : layout.CENTER + 3] for shape in (one, other)]
    at = poses[0][:3, 3] + poses[0][:3, :3] @ middles[0] + apart * naive.unit_vectors(rng, 1)[0]
    poses[1][:3, 3] = at - poses[1][:3, :3] @ middles[1]
    pair = laws.Pair(a, poses[0], b, poses[1])
    laws.all_laws(pair, tight=False, rng=rng)
    found = gk.signed_distance(one, other, *poses)
    for bound in (found.lower, found.upper, found.distance):
        for margin in (bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf)):
            assert gk.collide(one, other, *poses, margin=float(margin)) == (not found.lower > margin)
    assert gk.distance(one, other, *poses).lower <= max(found.upper, 0.0)


def test_a_bound_of_gjk_that_is_a_hair_above_that_of_epa_is_no_boolean_of_its_own():
    """Where balls meet the interval is EPA's alone: a margin at its lower end is not below it."""
    cases = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        ellipsoid = gk.Ellipsoid(10.0 ** rng.uniform(-9, -3, 3))
        point, pose = gk.Point(), naive.pose(naive.random_rotations(rng, 1)[0])
        pose[:3, 3] = 0.5 * inner(ellipsoid) * naive.unit_vectors(rng, 1)[0]
        found = gk.signed_distance(point, ellipsoid, None, pose)
        cases += found.lower < 0.0
        assert gk.collide(point, ellipsoid, None, pose, margin=float(found.lower))
    assert cases == 300
