"""Rays against every convex shape, compared with dense sampling, the general solver and supports of the naive twin."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
from message_checks import assert_names
from strategies import SHAPES, build

import gjk3d as gk
from gjk3d.errors import Gjk3dError

NAMES = sorted(SHAPES)
THIN = {"point", "segment", "triangle", "flat hull", "disc"}
SOLID = [name for name in NAMES if name not in THIN]


def rays_at(shape, count, rng):
    """Return origins outside the shape, and directions of which about half hit."""
    ball = gk.bounding_sphere(shape)
    center, radius = ball.center, ball.radius + 0.1
    origins = center + naive.unit_vectors(rng, count) * radius * rng.uniform(1.01, 4.0, (count, 1))
    aims = center + naive.unit_vectors(rng, count) * radius * rng.uniform(0.0, 1.3, (count, 1))
    return origins, (aims - origins) * rng.uniform(0.1, 10.0, (count, 1))


@pytest.mark.parametrize("name", SOLID)
def test_hits_agree_with_dense_sampling(name):
    shape = build(SHAPES[name])
    rng = np.random.default_rng(1)
    origins, directions = rays_at(shape, 60, rng)
    result = gk.raycast(shape, origins, directions)
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    reach = np.linalg.norm(origins - gk.bounding_sphere(shape).center, axis=1) + gk.bounding_sphere(shape).radius
    seen = 0
    for k in range(60):
        steps = np.linspace(0.0, reach[k], 2000)
        inside = shape.contains(origins[k] + steps[:, None] * units[k])
        if not inside.any():
            continue  # hits between two samples are counted below
        seen += 1
        assert result.hit[k]
        first = int(inside.argmax())
        low, high = steps[first - 1], steps[first]
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if shape.contains(origins[k] + middle * units[k]) else (middle, high)
        assert result.distance[k] == pytest.approx(high, abs=1e-9)
    assert 12 <= seen <= 57
    hit = result.hit
    assert hit.sum() - seen <= 3


@pytest.mark.parametrize("name", SOLID)
def test_hit_points_and_normals_are_on_the_surface(name):
    shape = build(SHAPES[name])
    origins, directions = rays_at(shape, 200, np.random.default_rng(2))
    result = gk.raycast(shape, origins, directions)
    hit = result.hit
    size = gk.bounding_sphere(shape).radius
    n, p = result.normal[hit], result.point[hit]
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-12)
    # the tangent plane at the point supports the shape, and the ray comes from outside
    heights = np.einsum("ij,ij->i", n, naive.body(SHAPES[name]).support(n))
    np.testing.assert_allclose(np.einsum("ij,ij->i", n, p), heights, rtol=0, atol=3e-6 * size)
    assert (np.einsum("ij,ij->i", n, directions[hit]) <= 1e-6 * np.linalg.norm(directions[hit], axis=1)).all()
    assert np.isnan(result.point[~hit]).all()
    assert np.isnan(result.normal[~hit]).all()
    assert np.isinf(result.distance[~hit]).all()


@pytest.mark.parametrize("name", NAMES)
def test_closed_forms_agree_with_general_solver(name):
    shape = build(SHAPES[name])
    general = gk.MinkowskiSum(shape, gk.Point())
    origins, directions = rays_at(shape, 150, np.random.default_rng(3))
    closed, iterated = gk.raycast(shape, origins, directions), gk.raycast(general, origins, directions)
    hit = closed.hit & iterated.hit
    assert (closed.hit != iterated.hit).sum() <= (0 if name in SOLID else 3)
    size = gk.bounding_sphere(shape).radius + 1.0
    np.testing.assert_allclose(closed.distance[hit], iterated.distance[hit], rtol=0, atol=2e-6 * size)
    assert (np.abs(closed.distance - iterated.distance)[hit] > 1e-11 * size).sum() <= 0.1 * hit.sum()  # grazing rays
    assert hit.sum() >= (20 if name in SOLID else 0)


@pytest.mark.parametrize("name", NAMES)
def test_hits_are_invariant_to_pose_scale_and_stacking(name, rng):
    shape = build(SHAPES[name])
    origins, directions = rays_at(shape, 40, np.random.default_rng(4))
    plain = gk.raycast(shape, origins, directions)
    for k in (0, 7, 39):
        single = gk.raycast(shape, origins[k], directions[k])
        assert single.hit == plain.hit[k] == plain[k].hit
        assert single.distance == plain.distance[k]
    pose = naive.pose(naive.random_rotations(rng, 1)[0], (3.0, -2.0, 1.0))
    moved = gk.raycast(shape, origins @ pose[:3, :3].T + pose[:3, 3], directions @ pose[:3, :3].T, pose)
    same = moved.hit & plain.hit
    assert (moved.hit != plain.hit).sum() <= (0 if name in SOLID else 2)
    np.testing.assert_allclose(moved.distance[same], plain.distance[same], rtol=0, atol=1e-6)
    assert (np.abs(moved.distance - plain.distance)[same] > 1e-11).sum() <= 0.1 * same.sum()
    poses = np.tile(pose, (40, 1, 1))
    many = gk.raycast(shape, origins @ pose[:3, :3].T + pose[:3, 3], directions @ pose[:3, :3].T, poses)
    np.testing.assert_array_equal(many.distance, moved.distance)
    if name in SOLID:
        larger = gk.raycast(shape.scaled(2.0**20), origins * 2.0**20, directions)
        np.testing.assert_allclose(larger.distance[same], plain.distance[same] * 2.0**20, rtol=1e-6)


@pytest.mark.parametrize("name", SOLID)
def test_rays_from_inside_hit_at_distance_zero(name, rng):
    shape = build(SHAPES[name])
    center = shape.surface().vertices.mean(axis=0)
    result = gk.raycast(shape, center, naive.unit_vectors(rng, 5))
    assert result.inside.all()
    assert result.hit.all()
    np.testing.assert_array_equal(result.distance, 0.0)
    np.testing.assert_array_equal(result.point, np.tile(center, (5, 1)))
    behind = gk.raycast(shape, center + [9.0, 0, 0], (1, 0, 0))
    assert not behind.hit


def test_known_hits():
    box = gk.Box((2, 2, 2))
    assert_names(repr(gk.raycast(box, (0, 0, 5), (0, 0, -3))), "RayHit", " 4", "face", "(0, 0, 1)")
    corner = gk.raycast(box, (2, 2, 2), (-1, -1, -1))
    assert corner.distance == pytest.approx(np.sqrt(3), rel=1e-15)
    # grazing: along a face, along an edge, at a tangent
    for start, way in (((-5, 1, 0), (1, 0, 0)), ((-5, 1, 1), (1, 0, 0))):
        assert gk.raycast(box, start, way).distance == 4.0
    assert not gk.raycast(box, (-5, 1 + 1e-12, 0), (1, 0, 0)).hit
    for round_one in (gk.Sphere(1), gk.Cylinder(1, 2), gk.Capsule(1, 2), gk.Ellipsoid((1, 1, 1))):
        assert gk.raycast(round_one, (-5, 1, 0), (1, 0, 0)).distance == pytest.approx(5.0, abs=1e-6)
        assert not gk.raycast(round_one, (-5, 1 + 1e-9, 0), (1, 0, 0)).hit
    assert gk.raycast(gk.Cone(1, 2), (0, 0, 5), (0, 0, -1)).distance == pytest.approx(4.0, abs=1e-12)
    np.testing.assert_allclose(gk.raycast(gk.Cone(1, 2), (5, 0, 0), (-1, 0, 0)).normal, np.array((2, 0, 1)) / 5**0.5)
    floor = gk.Halfspace((0, 0, 1), 1.0)
    assert gk.raycast(floor, (0, 0, 5), (0, 1, -1)).distance == pytest.approx(4 * np.sqrt(2))
    assert gk.raycast(floor, [(0, 0, 5), (0, 0, 0), (0, 0, 5)], [(0, 0, 1), (1, 0, 0), (1, 0, 0)]).hit.tolist() == [
        False,
        True,
        False,
    ]
    assert not gk.raycast(box, (5, 0, 0), (-1, 0, 0), max_distance=3.9).hit
    assert gk.raycast(box, (5, 0, 0), (-1, 0, 0), max_distance=4.1).hit
    assert not gk.raycast(box.inflated(0.5), (5, 0, 0), (-1, 0, 0), max_distance=3.4).hit
    assert gk.raycast(box.inflated(0.5), (5, 0, 0), (-1, 0, 0), max_distance=3.6).distance == pytest.approx(3.5)


def test_far_origins_and_sizes():
    for scale in (1e-9, 1.0, 1e9):
        for far in (10.0, 1e7):
            for shape in (
                gk.Sphere(scale),
                gk.Cylinder(scale, scale),
                gk.Box((2 * scale,) * 3),
                gk.Ellipsoid((scale,) * 3),
            ):
                hit = gk.raycast(shape, (far * scale, 0.1 * scale, 0.1 * scale), (-1, 0, 0))
                depth = (
                    1.0 if isinstance(shape, gk.Box) else np.sqrt(0.98 if not isinstance(shape, gk.Cylinder) else 0.99)
                )
                assert hit.distance == pytest.approx((far - depth) * scale, rel=1e-14 * max(far, 1))


def test_broadcasting_and_empty_stacks(rng):
    box = gk.Box((1, 1, 1))
    fan = gk.raycast(box, (3, 0, 0), naive.unit_vectors(rng, 50))
    assert len(fan) == 50
    sheet = gk.raycast(box, rng.uniform(-1, 1, (50, 3)) + (5, 0, 0), (-1, 0, 0))
    assert len(sheet) == 50
    assert 5 <= sheet.hit.sum() <= 45
    assert len(gk.raycast(box, np.zeros((0, 3)), (1, 0, 0))) == 0
    assert_names(repr(gk.raycast(box, np.zeros((0, 3)), (1, 0, 0))), "RayHit", "0 rays", "0 hit")


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        (lambda: gk.raycast(gk.Box((1, 1, 1)), (0, 0), (1, 0, 0)), ("raycast", "origins", "(2,)")),
        (
            lambda: gk.raycast(gk.Box((1, 1, 1)), (0, 0, 0), (0, 0, 0)),
            ("raycast", "directions", "shape.signed_distances"),
        ),
        (
            lambda: gk.raycast(gk.Box((1, 1, 1)), (0, 0, 0), [(1, 0, 0), (0, 0, 0)]),
            ("raycast", "directions[1]", "shape.signed_distances"),
        ),
        (lambda: gk.raycast(gk.Box((1, 1, 1)), (0, np.nan, 0), (1, 0, 0)), ("raycast", "origins", "nan")),
        (
            lambda: gk.raycast(gk.Box((1, 1, 1)), [(0, 0, 0), (0, np.inf, 0)], (1, 0, 0)),
            ("raycast", "origins[1]", "inf"),
        ),
        (
            lambda: gk.raycast(gk.Box((1, 1, 1)), np.zeros((3, 3)), np.ones((2, 3))),
            ("raycast", "origins", "3", "directions", "2 rows"),
        ),
        (
            lambda: gk.raycast(gk.Box((1, 1, 1)), (0, 0, 0), (1, 0, 0), max_distance=-1),
            ("raycast", "max_distance", "-1"),
        ),
        (lambda: gk.raycast("box", (0, 0, 0), (1, 0, 0)), ("shape", "a str")),
        (lambda: gk.raycast(gk.Box((1, 1, 1)), (0, 0, 0), (1, 0, 0), np.eye(3)), ("pose", "(3, 3)")),
        (lambda: gk.raycast(gk.Box((1, 1, 1)), [(0, 0, 0), (0, 0)], (1, 0, 0)), ("raycast", "origins", "ragged")),
    ],
)
def test_error_names_invalid_input(call, fragments):
    with pytest.raises(Gjk3dError) as caught:
        call()
    assert_names(caught.value, *fragments)


def test_ray_hit_has_no_truth_value():
    with pytest.raises(TypeError, match=r"\.hit"):
        bool(gk.raycast(gk.Box((1, 1, 1)), (5, 0, 0), (1, 0, 0)))


FIELDS = ("hit", "inside", "distance", "point", "normal", "origin", "direction")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "pose", [None, naive.pose(naive.random_rotations(np.random.default_rng(4), 1)[0], (0.3, -2, 5))]
)
def test_single_ray_equals_row_of_stack(name, pose):
    shape = build(SHAPES[name])
    rng = np.random.default_rng(6)
    origins, directions = rays_at(shape, 12, rng)
    origins[-3:] = rng.normal(size=(3, 3)) * 0.1
    if pose is not None:
        origins, directions = origins @ pose[:3, :3].T + pose[:3, 3], directions @ pose[:3, :3].T
    for limit in (np.inf, 1.5):
        stack = gk.raycast(shape, origins, directions, pose, max_distance=limit)
        for k in range(12):
            forms = [
                (origins[k], directions[k]),
                (tuple(origins[k].tolist()), directions[k].tolist()),
                (tuple(origins[k]), directions[k].astype(object).astype(float)[::-1][::-1]),
            ]
            for ray in forms:
                single = gk.raycast(shape, *ray, pose, max_distance=limit)
                for field in FIELDS:
                    expected = getattr(stack[k], field)
                    assert type(getattr(single, field)) is type(expected)
                    assert np.array_equal(getattr(single, field), expected, equal_nan=True), field
                assert repr(single) == repr(stack[k])


def test_integers_give_the_same_ray():
    shape = gk.Box((2, 2, 2))
    expected = gk.raycast(shape, np.array([5.0, 0.0, 0.0]), np.array([-2.0, 0.0, 0.0]))
    for ray in ([(5, 0, 0), (-2, 0, 0)], [[5, 0.0, 0], np.array([-2, 0, 0])], [(np.float64(5), 0, 0), (-2, 0, 0)]):
        assert repr(gk.raycast(shape, *ray)) == repr(expected)


@pytest.mark.parametrize(
    ("origin", "direction", "fragments"),
    [
        ((0, 0, np.nan), (1, 0, 0), ("origins", "nan")),
        ((0.0, np.inf, 0.0), (1.0, 0.0, 0.0), ("origins", "inf")),
        (np.zeros(3), np.array([0.0, np.nan, 1.0]), ("directions", "nan")),
        ((0.0, 0.0, 0.0), (0.0, -0.0, 0.0), ("directions", "shape.signed_distances")),
        (np.zeros(3), np.zeros(3), ("directions", "shape.signed_distances")),
        (("0", "0", "0"), (1, 0, 0), ("origins", "dtype <U1")),
        ((True, False, True), (1, 0, 0), ("origins", "dtype bool")),
        ((10**400, 0, 0), (1, 0, 0), ("origins", "dtype object")),
        ((0, 0), (1, 0, 0), ("origins", "(2,)")),
        (np.zeros(2), (1, 0, 0), ("origins", "(2,)")),
    ],
)
def test_error_of_single_ray_names_invalid_ray(origin, direction, fragments):
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.raycast(gk.Sphere(1), origin, direction)
    assert_names(caught.value, *fragments)


def test_error_of_single_ray_names_invalid_pose():
    with pytest.raises(gk.errors.PoseError) as caught:
        gk.raycast(gk.Sphere(1), (0.0, 0.0, 3.0), (0.0, 0.0, -1.0), np.diag([2.0, 2.0, 2.0, 1.0]))
    assert_names(caught.value, "pose", "(2, 2, 2)", "shape.scaled")


def test_ray_hit_copies_and_pickles_before_and_after_reading():
    for read in (False, True):
        hit = gk.raycast(gk.Sphere(1), (0.0, 0.0, 3.0), (0.0, 0.0, -1.0))
        if read:
            assert hit.point.tolist() == [0.0, 0.0, 1.0]
        for duplicate in (copy.copy(hit), copy.deepcopy(hit), pickle.loads(pickle.dumps(hit))):
            assert all(np.array_equal(getattr(duplicate, field), getattr(hit, field)) for field in FIELDS)
        with pytest.raises(AttributeError, match="'far'"):
            hit.far  # noqa: B018


def rays_to(targets, rng):
    """Return origins around the targets, and directions to them."""
    origins = rng.normal(size=targets.shape) * 4.0
    return origins, targets - origins


RIM = np.linspace(0.0, 2.0 * np.pi, 2000)
CORNERS = np.random.default_rng(3).normal(size=(20, 3))
EDGES = {
    "apex of a cone": (gk.Cone(1, 1), np.tile((0.0, 0.0, 0.5), (2000, 1))),
    "rim of a cone": (gk.Cone(1, 1), np.column_stack([np.cos(RIM), np.sin(RIM), np.full(2000, -0.5)])),
    "rim of a cylinder": (gk.Cylinder(1, 1), np.column_stack([np.cos(RIM), np.sin(RIM), np.full(2000, 0.5)])),
    "corner of a hull": (gk.ConvexHull(CORNERS), gk.ConvexHull(CORNERS).vertices[np.arange(2000) % 10]),
    "corner of a tetrahedron": (gk.Tetrahedron(CORNERS[:4]), CORNERS[np.arange(2000) % 4]),
    "point": (gk.Point((0.1, 0.2, 0.3)), np.tile((0.1, 0.2, 0.3), (2000, 1))),
}


@pytest.mark.parametrize("name", EDGES)
def test_rays_to_edges_and_corners_hit_and_normals_face_them(name, rng):
    """Up to rounding, the target is on the ray. A few targets are missed by more than the slack of a ray."""
    shape, targets = EDGES[name]
    origins, directions = rays_to(targets, rng)
    result = gk.raycast(shape, origins, directions)
    assert (~result.hit).sum() <= 4
    hit = result.hit & ~result.inside
    assert (np.einsum("ij,ij->i", result.normal[hit], result.direction[hit]) <= 1e-9).all()
    assert (np.linalg.norm(result.point[hit] - targets[hit], axis=1) < 1e-6).mean() > 0.3  # others hit a nearer part


@pytest.mark.parametrize("far", [1e2, 1e6, 1e9])
@pytest.mark.parametrize("name", ["union", "sum", "rounded box", "sphere", "cylinder"])
def test_distances_do_not_depend_on_the_place(name, far):
    """The origin is exact relative to the shape, so that a shape far away has the same hit."""
    shape, pose = build(SHAPES[name]), np.eye(4)
    ray = np.array((4.0, 0.25, 0.125)), (-1.0, 0.0, 0.03125)
    near = gk.raycast(shape, *ray)
    pose[:3, 3] = np.rint(far)
    result = gk.raycast(shape, pose[:3, 3] + ray[0], ray[1], pose)
    assert result.distance == pytest.approx(near.distance, abs=1e-12)


def test_rays_at_a_cone_from_a_lattice_agree_with_the_general_solver():
    """Rays along the axis, through the apex and the rim, and tangent rays have exact coordinates here."""
    cone = gk.Cone(1, 1)
    general = gk.MinkowskiSum(cone, gk.Point())
    steps = np.array((-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0))
    origins = np.stack(np.meshgrid(steps, steps[::2], steps, indexing="ij"), axis=-1).reshape(-1, 3)
    ways = np.stack(np.meshgrid(*[(-2.0, -1.0, 0.0, 1.0, 2.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    ways = ways[np.abs(ways).any(axis=1)]
    rays = origins.repeat(len(ways), axis=0), np.tile(ways, (len(origins), 1))
    result, expected = gk.raycast(cone, *rays), gk.raycast(general, *rays)
    assert result.hit.tolist() == expected.hit.tolist()
    hit = result.hit
    # the general solver stops before a surface that the ray only touches
    assert result.distance[hit] == pytest.approx(expected.distance[hit], abs=3e-6)
    assert (np.abs(result.distance[hit] - expected.distance[hit]) < 1e-9).mean() > 0.9
