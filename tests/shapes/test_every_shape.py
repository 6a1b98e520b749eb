"""Every shape class compared with its naive twin, Monte Carlo sampling and its own surface."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
import strategies
from message_checks import assert_names
from strategies import SHAPES, sampled

import gjk3d as gk
from gjk3d.errors import ShapeError, UnboundedShapeError
from gjk3d.shapes.table import SHAPES as TABLE

DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), naive.unit_vectors(np.random.default_rng(7), 400)])
NAMES = sorted(SHAPES)


@pytest.fixture(params=NAMES)
def spec(request):
    return SHAPES[request.param]


@pytest.fixture
def shape(spec):
    return strategies.build(spec)


def height(shape, directions):
    return np.einsum("ij,ij->i", shape.support(directions), directions)


def test_every_class_of_the_table_is_tested():
    tried = {type(strategies.build(SHAPES[name])) for name in NAMES} | {gk.Halfspace, gk.Plane}
    assert tried == set(TABLE)


def test_support_agrees_with_naive_twin(spec, shape):
    far = height(shape, DIRECTIONS)
    twin = np.einsum("ij,ij->i", naive.body(spec).support(DIRECTIONS), DIRECTIONS)
    np.testing.assert_allclose(far, twin, rtol=0, atol=1e-14 * gk.bounding_sphere(shape).radius + 1e-15)
    np.testing.assert_array_equal(shape.support(DIRECTIONS[9]), shape.support(DIRECTIONS)[9])
    np.testing.assert_allclose(
        height(shape, DIRECTIONS), height(shape, 1e-200 * DIRECTIONS) * 1e200, rtol=1e-12, atol=1e-14
    )


def test_bounds_equal_support_along_axes(shape):
    low, high = shape.bounds
    np.testing.assert_array_equal(high, height(shape, np.eye(3)))
    np.testing.assert_array_equal(low, -height(shape, -np.eye(3)))


def test_surface_lies_on_the_shape(shape):
    surface = shape.surface(24)
    assert shape.contains(surface.vertices).all()
    high = (surface.vertices @ DIRECTIONS.T).max(axis=0)
    size = gk.bounding_sphere(shape).radius
    assert (high <= height(shape, DIRECTIONS) + 1e-12 * max(size, 1)).all()
    assert (high >= height(shape, DIRECTIONS) - 0.05 * size - 1e-15).all()


@pytest.mark.many
def test_volume_agrees_with_fine_surface(shape):
    v, faces = shape.surface(100)
    a, b, c = (v[faces[:, i]] if len(faces) else np.zeros((1, 3)) for i in range(3))
    inside = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    summed = isinstance(shape, gk.Composed)  # the volume of a composed shape is that of an inscribed surface
    assert inside <= shape.volume * (1 + (1e-3 if summed else 1e-9)) + 1e-12
    assert inside >= shape.volume * 0.99 - 1e-12


def test_contains_agrees_with_collide_of_a_point(spec, shape, rng):
    low, high = shape.bounds - 0.1, shape.bounds + 0.1
    points = rng.uniform(low[0], high[1], (300, 3))
    poses = np.tile(np.eye(4), (300, 1, 1))
    poses[:, :3, 3] = points
    inside = shape.contains(points)
    np.testing.assert_array_equal(inside, gk.collide(shape, gk.Point(), None, poses))
    # a point is outside if a direction separates it; no direction of the naive twin separates a point inside
    beyond = points @ DIRECTIONS.T - np.einsum("ij,ij->i", naive.body(spec).support(DIRECTIONS), DIRECTIONS)
    assert (beyond[inside] <= 1e-12).all()
    assert bool(shape.contains(points[0])) == inside[0]
    np.testing.assert_array_equal(shape.contains(points, workers=2), inside)


def test_shapes_are_immutable_values(shape):
    twin = pickle.loads(pickle.dumps(shape))
    assert twin == shape
    assert hash(twin) == hash(shape)
    assert twin._order == shape._order
    assert copy.deepcopy(shape) == shape
    assert shape != gk.Sphere(12345.0)
    assert repr(shape).startswith(type(shape).__name__)
    with pytest.raises(AttributeError, match="immutable"):
        shape.radius = 3
    for name in shape.__slots__:
        value = getattr(shape, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable


@pytest.mark.many
@pytest.mark.parametrize("factors", sampled([((0.5, 2.0, 3.0),), (2.0,), ((-1.0, 1.0, 1.0),), ((2.0, 2.0, 2.0),)], 2))
def test_support_of_scaled_shape(shape, factors):
    big = shape.scaled(factors)
    f = np.broadcast_to(factors, 3)
    # the support of the scaled shape along n is the support of the shape along f n
    np.testing.assert_allclose(height(big, DIRECTIONS), height(shape, DIRECTIONS * f), rtol=1e-12, atol=1e-12)
    assert big.volume == pytest.approx(shape.volume * abs(np.prod(f)), rel=5e-3, abs=1e-12)


@pytest.mark.many
def test_support_of_placed_and_inflated_shape(shape, rng):
    pose = naive.pose(naive.random_rotations(rng, 1)[0], (1.0, 2.0, -1.0))
    moved = shape.placed(pose)
    expected = height(shape, DIRECTIONS @ pose[:3, :3]) + DIRECTIONS @ pose[:3, 3]
    np.testing.assert_allclose(height(moved, DIRECTIONS), expected, rtol=0, atol=1e-12)
    assert shape.placed(np.eye(4)) is shape
    grown = shape.inflated(0.25)
    np.testing.assert_allclose(height(grown, DIRECTIONS), height(shape, DIRECTIONS) + 0.25, rtol=0, atol=1e-12)
    assert grown.volume > shape.volume
    assert shape.inflated(0).volume == shape.volume


def test_halfspace_methods_and_errors():
    floor = gk.Halfspace((0, 0, 2), 1)
    assert floor.offset == 0.5
    assert not hasattr(floor, "bounds")
    assert floor.volume == np.inf
    assert floor.contains([(9, 9, 0.5), (0, 0, 0.6)]).tolist() == [True, False]
    assert floor.inflated(1).offset == 1.5
    assert floor.scaled((1, 1, -2)).contains((0, 0, -0.9))
    assert not floor.scaled((1, 1, -2)).contains((0, 0, -1.1))
    tilted = floor.placed(naive.pose([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (3, 0, 0)))
    assert tilted == gk.Halfspace((1, 0, 0), 3.5)
    assert pickle.loads(pickle.dumps(floor)) == floor
    for call in (
        floor.surface,
        lambda: floor.support((0, 0, 1)),
        lambda: gk.bounding_sphere(floor),
        lambda: gk.obb(floor),
    ):
        with pytest.raises(UnboundedShapeError, match="large Box"):
            call()


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: gk.Sphere(0), ("Sphere:", "radius", "0", "Point")),
        (lambda: gk.Sphere(-1), ("Sphere:", "radius", "-1", "Point")),
        (lambda: gk.Sphere(float("nan")), ("Sphere:", "radius", "nan")),
        (lambda: gk.Sphere("1"), ("Sphere:", "radius", "'1'")),
        (lambda: gk.Sphere(True), ("Sphere:", "radius", "True")),
        (lambda: gk.Sphere(1j), ("Sphere:", "radius", "1j")),
        (lambda: gk.Sphere(1e60), ("Sphere:", "radius", "1e+60", "1e+50")),
        (lambda: gk.Box((1, 2)), ("Box:", "extents", "(1, 2)")),
        (lambda: gk.Box((1, 0, 2)), ("Box:", "extents", "[1.0, 0.0, 2.0]", "ConvexHull")),
        (lambda: gk.Box((1, np.inf, 2)), ("Box:", "extents", "inf")),
        (lambda: gk.Ellipsoid((1, -1, 2)), ("Ellipsoid:", "radii", "-1.0")),
        (lambda: gk.Capsule(1, -1), ("Capsule:", "height", "-1")),
        (lambda: gk.Cylinder(0, 0), ("Cylinder:", "radius", "0")),
        (lambda: gk.Triangle([(0, 0, 0)] * 4), ("Triangle:", "4 rows", "gk.ConvexHull")),
        (lambda: gk.Tetrahedron([(0, 0, 0)] * 3), ("Tetrahedron:", "3 rows", "gk.ConvexHull")),
        (lambda: gk.ConvexHull([]), ("ConvexHull:", "points", "empty")),
        (lambda: gk.ConvexHull(np.zeros((0, 3))), ("ConvexHull:", "points", "empty")),
        (lambda: gk.ConvexHull(np.zeros((3, 500))), ("ConvexHull:", "(3, 500)", "points.T")),
        (lambda: gk.ConvexHull(np.zeros((5, 2))), ("ConvexHull:", "(5, 2)", "(n, 3)")),
        (
            lambda: gk.ConvexHull([[0, 0, 0], [0, np.nan, 1]]),
            ("ConvexHull:", "points[1]", "nan", "1 of 2"),
        ),
        (lambda: gk.ConvexHull([[0, 0, 0], [0, 1]]), ("ConvexHull:", "points", "ragged", "row 1")),
        (lambda: gk.ConvexHull([["a", "b", "c"]]), ("ConvexHull:", "points", "dtype <U1")),
        (lambda: gk.ConvexHull(np.zeros((4, 3), complex)), ("ConvexHull:", "points", "dtype complex128")),
        (lambda: gk.ConvexHull(np.zeros((4, 3), bool)), ("ConvexHull:", "points", "dtype bool")),
        (lambda: gk.Halfspace((0, 0, 0)), ("Halfspace:", "normal", "[0, 0, 0]")),
        (lambda: gk.Sphere(1).inflated(-1), ("inflated:", "radius", "-1")),
        (lambda: gk.Sphere(1).scaled(0), ("scaled:", "factors", "[0.0, 0.0, 0.0]", "ConvexHull")),
        (lambda: gk.Sphere(1).scaled((1, 2)), ("scaled:", "factors", "(1, 2)")),
        (lambda: gk.Cone(1, 1).surface(2), ("resolution", "2", "3")),
        (lambda: gk.Capsule(1, 1).surface("fine"), ("resolution", "'fine'")),
        (lambda: gk.Box((1, 1, 1)).inflated(1).surface(10**6), ("resolution", "1000000", "4096")),
        (lambda: gk.Sphere(1).support((1, 2)), ("support:", "directions", "(1, 2)")),
        (lambda: gk.Sphere(1).contains(np.zeros((4, 2))), ("contains:", "points", "(4, 2)")),
        (lambda: gk.Halfspace((0, 0, 1), 0).contains((0, 0, 0), workers=0), ("workers", "0", "1")),
    ],
)
def test_invalid_arguments_raise(make, fragments):
    with pytest.raises(ShapeError) as caught:
        make()
    assert_names(caught.value, *fragments)


def test_numbers_of_any_real_type_are_converted():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    hull = gk.ConvexHull(points)
    for converted in (points.astype(np.float32), points.tolist(), np.asfortranarray(points), points[::-1][::-1]):
        assert gk.ConvexHull(converted) == hull
    assert gk.Sphere(np.float32(0.5)) == gk.Sphere(0.5)
    assert gk.Box(np.array([1, 2, 3])) == gk.Box((1.0, 2.0, 3.0))


@pytest.mark.parametrize("solid", [gk.Cylinder(0.4, 1), gk.Capsule(0.2, 1), gk.Cone(0.5, 2), gk.Ellipsoid((1, 2, 3))])
def test_oriented_box_follows_scaled_and_rotated_shape(solid, rng):
    stretched = solid.scaled((1, 2, 0.5))
    assert gk.obb(stretched).volume <= np.ptp(stretched.bounds, axis=0).prod() * (1 + 1e-12)
    turned = solid.placed(naive.pose(naive.random_rotations(rng, 1)[0], (5.0, 1.0, 2.0)))
    assert gk.obb(turned).volume <= gk.obb(solid).volume * (1 + 1e-9)


def test_oriented_box_of_collinear_points_has_one_length():
    # the points coincide if they are projected along the axis
    box = gk.obb(gk.ConvexHull([(1, 0, 0), (2, 0, 0), (4, 0, 0)]))
    np.testing.assert_allclose(np.sort(box.extents), (0, 0, 3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("radii", [(2.0, 1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 1.0, 2.0)])
def test_ellipsoid_with_two_equal_radii_is_not_a_ball(radii):
    ellipsoid = gk.Ellipsoid(radii)
    np.testing.assert_array_equal(ellipsoid.support(np.eye(3)), np.diag(radii))
    assert ellipsoid.volume == pytest.approx(8 / 3 * np.pi, rel=1e-15)


def test_centroid_of_pyramid_is_at_quarter_height():
    base = [(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)]
    np.testing.assert_allclose(gk.ConvexHull([*base, (0, 0, 4)]).centroid, (0, 0, 1), rtol=0, atol=1e-15)


def test_centroid_of_flat_kite():
    kite = gk.ConvexHull([(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -4, 0)])
    np.testing.assert_allclose(kite.centroid, (0, -1, 0), rtol=0, atol=1e-15)
