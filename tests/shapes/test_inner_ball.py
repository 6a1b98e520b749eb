"""The inner ball of a core, compared with the support, with scipy's facets and with query results."""

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
    """Return the least height of the core's surface above its centre over the directions."""
    floats = shape._packed[1]
    center, radius = floats[layout.CENTER : layout.CENTER + 3], floats[layout.RADIUS]
    return float((np.einsum("ij,ij->i", shape.support(directions) - center, directions) - radius).min())


@given(strategies.specs)
def test_inner_ball_is_inside_the_core(spec):
    shape = strategies.build(spec)
    assert (
        0.0 <= inner(shape) <= max(lowest(shape, DIRECTIONS), 0.0) + 1e-13 * gk.bounding_sphere(shape).radius + 1e-299
    )


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # flat point clouds have no inner ball and are filtered
@given(strategies.clouds(4, 20), strategies.scales, strategies.points, st.sampled_from([0.0, 1.0, 1e6]))
def test_inner_ball_is_inside_all_facets_exactly(cloud, scale, shift, far):
    """The faces form a closed surface, so a ball inside all face planes is inside the hull."""
    shape = gk.ConvexHull((cloud + far * np.asarray(shift)) * scale)
    radius = Fraction(inner(shape))
    assume(radius > 0)
    ints, floats = shape._packed
    numbers = floats[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 3 * ints[layout.VERTICES]]
    rows = [[Fraction(x) for x in row] for row in numbers.reshape(3, -1).T.tolist()]
    for i, j, k in shape.faces.tolist():
        a, e, f = rows[i], *([x - y for x, y in zip(rows[corner], rows[i], strict=True)] for corner in (j, k))
        n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
        height = sum(x * y for x, y in zip(n, a, strict=True))
        assert height >= 0
        assert height**2 >= radius**2 * sum(x * x for x in n)


def test_inner_ball_of_primitives_is_the_largest_ball():
    assert inner(gk.Box((1.0, 2.0, 3.0))) == 0.5
    assert inner(gk.Cylinder(0.5, 4.0)) == 0.5
    assert inner(gk.Ellipsoid((0.5, 1.0, 2.0))) == 0.5
    # the cone's side passes (3/4, 0) at half height with the normal (2, 3/2) / 2.5
    np.testing.assert_allclose(inner(gk.Cone(1.5, 2.0)), 0.75 * 2.0 / 2.5, rtol=1e-14)


def test_inner_ball_of_hull_touches_nearest_facet():
    rng = np.random.default_rng(5)
    for count in (4, 12, 64, 400):
        points = naive.unit_vectors(rng, count) * (0.5, 0.6, 0.4)
        facets = ConvexHull(points).equations
        shape = gk.ConvexHull(points)
        assert abs(inner(shape) - max(-facets[:, 3].max(), 0.0)) <= 1e-12
        assert inner(shape) <= max(lowest(shape, facets[:, :3].copy()), 0.0) + 1e-15
        far = gk.ConvexHull(points + 10.0)  # the hull is stored relative to the centre of its bounds
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        assert abs(inner(far) - max(-(facets[:, :3] @ middle + facets[:, 3]).max(), 0.0)) <= 1e-12


def test_inner_radius_is_zero_for_outside_centre_or_flat_hull():
    corners = np.array([(x, y, z) for x in (0.1, 1) for y in (0.1, 1) for z in (0.1, 1)])
    assert inner(gk.ConvexHull(corners)) == 0.0
    assert inner(gk.ConvexHull(corners * (1, 1, 0))) == 0.0
    assert inner(gk.MinkowskiSum(gk.Box((1, 1, 1)), gk.Cylinder(1, 1))) == 0.0
    a = gk.ConvexHull(corners)
    off = np.eye(4)
    off[:3, 3] = -0.2  # both centres are outside their hulls and near each other, but the hulls are separated
    off[:3, :3] = np.diag([-1.0, -1.0, 1.0])
    assert not gk.collide(a, a, None, off)


def test_intersecting_inner_balls_give_point_and_depth():
    rng = np.random.default_rng(3)
    for a, b in (("hull", "cylinder"), ("cylinder", "cone"), ("hull", "hull"), ("ellipsoid", "cone"), ("box", "hull")):
        first, second = (strategies.build(SHAPES[name]) for name in (a, b))
        near = 0.9 * (inner(first) + inner(second))
        if not near > 0.0:
            points = naive.unit_vectors(rng, 40)
            first = gk.ConvexHull(points) if inner(first) == 0.0 else first
            second = gk.ConvexHull(points * (0.5, 0.7, 0.6)) if inner(second) == 0.0 else second
            near = 0.9 * (inner(first) + inner(second))
        assert near > 0.0
        for _ in range(5):
            pose = np.eye(4)
            pose[:3, :3] = naive.random_rotations(rng, 1)[0]
            # offset between the centres in the frame of the first shape
            middle = [shape._packed[1][layout.CENTER : layout.CENTER + 3] for shape in (first, second)]
            pose[:3, 3] = middle[0] + near * naive.unit_vectors(rng, 1)[0] - pose[:3, :3] @ middle[1]
            assert gk.collide(first, second, None, pose)
            result = gk.distance(first, second, None, pose)
            assert result.distance == result.lower == result.upper == 0.0
            assert result.point_a.tolist() == result.point_b.tolist()
            assert gk.verify(result, first, second, None, pose)
            assert first.contains(result.point_a)
            assert second.inflated(1e-12).contains(pose[:3, :3].T @ (result.point_b - pose[:3, 3]))
            deep = gk.signed_distance(first, second, None, pose)
            shown = gk.signed_distance(first, second, None, pose, trace=True)
            assert max(deep.lower, shown.lower) <= min(deep.upper, shown.upper)
            assert deep.distance <= near - inner(first) - inner(second) + 1e-9
            assert gk.verify(deep, first, second, None, pose)


HOLDS = ["box", "capsule", "cylinder", "cone", "ellipsoid", "sphere", "segment", "point", "rounded cone", "disc"]
near = st.sampled_from([0.0, 1e-9, 0.5, 1.0, 1 - 1e-16, 1 + 1e-16, 1 - 1e-15, 1 + 1e-15, 1 - 1e-14, 1 + 1e-14, 1.01])


@given(
    st.sampled_from(HOLDS), st.sampled_from(HOLDS), st.integers(0, 2**20), near, st.booleans(),
    st.sampled_from([1.0, 1e-9, 1e9]), st.sampled_from([0.0, 1e6]),
)  # fmt: skip
def test_pairs_with_kissing_inner_balls_satisfy_laws(name_a, name_b, seed, share, rounded, scale, far):
    """The balls are inner balls of the cores or include the radii. The margins are adjacent to the bounds."""
    rng = np.random.default_rng(seed)
    a, b = (
        strategies.thinned(rng, strategies.random_spec(rng, name), 3 * rng.integers(2)) for name in (name_a, name_b)
    )
    a, b = strategies.rescaled(a, scale), strategies.rescaled(b, scale)
    first, second = strategies.build(a), strategies.build(b)
    radii = first._packed[1][layout.RADIUS] + second._packed[1][layout.RADIUS] if rounded else 0.0
    gap = share * (inner(first) + inner(second) + radii)
    poses = [naive.pose(turn) for turn in naive.random_rotations(rng, 2)]
    poses[0][:3, 3] = far * scale * rng.normal(size=3)
    middles = [shape._packed[1][layout.CENTER : layout.CENTER + 3] for shape in (first, second)]
    at = poses[0][:3, 3] + poses[0][:3, :3] @ middles[0] + gap * naive.unit_vectors(rng, 1)[0]
    poses[1][:3, 3] = at - poses[1][:3, :3] @ middles[1]
    pair = laws.Pair(a, poses[0], b, poses[1])
    laws.all_laws(pair, tight=False, rng=rng)
    result = gk.signed_distance(first, second, *poses)
    for bound in (result.lower, result.upper, result.distance):
        for margin in (bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf)):
            assert gk.collide(first, second, *poses, margin=float(margin)) == (not result.lower > margin)
    assert gk.distance(first, second, *poses).lower <= max(result.upper, 0.0)


def test_collide_at_lower_bound_of_intersecting_balls():
    """If the inner balls intersect, EPA alone sets the interval. A margin at its lower end collides."""
    cases = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        ellipsoid = gk.Ellipsoid(10.0 ** rng.uniform(-9, -3, 3))
        point, pose = gk.Point(), naive.pose(naive.random_rotations(rng, 1)[0])
        pose[:3, 3] = 0.5 * inner(ellipsoid) * naive.unit_vectors(rng, 1)[0]
        result = gk.signed_distance(point, ellipsoid, None, pose)
        cases += result.lower < 0.0
        assert gk.collide(point, ellipsoid, None, pose, margin=float(result.lower))
    assert cases == 300
