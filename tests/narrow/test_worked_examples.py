"""Worked examples from the GJK and EPA documents that this library generalises: triangle A, quadrilateral B, in 2D.

Polygons become prisms over z in [-20, 20], so that z never matters and the results in 3D equal those in 2D. A planar
reference implementation replays the iterations of the documents (tests/test_naive.py). Here the results are compared.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import naive
import naive_2d
import numpy as np
import pytest

import gjk3d as gk

A = [(4, 11), (4, 5), (9, 9)]
B = [(5, 7), (7, 3), (10, 2), (12, 7)]
EXACT = 1e-12
WAYS = ["auto", "epa", "facets"]


def prism(polygon, half=20.0):
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (-half, half)])


def flat(polygon):
    return gk.ConvexHull([(x, y, 0.0) for x, y in polygon])


def shift(x, y, z=0.0):
    return naive.pose(translation=(x, y, z))


def moved(polygon, x, y):
    return [(p + Fraction(x), q + Fraction(y)) for p, q in polygon]


def signed_distance_2d(a, b):
    """Return sd * |sd| of two polygons exactly, from edge normals in overlap, from vertices and edges if separated."""
    corners = [(p[0] - q[0], p[1] - q[1]) for p in a for q in b]
    heights = []
    for p in corners:
        for q in corners:
            n = (q[1] - p[1], p[0] - q[0])
            n2 = Fraction(n[0] ** 2 + n[1] ** 2)
            if n2:
                height = max(n[0] * x + n[1] * y for x, y in corners)
                heights.append(height * abs(height) / n2)
    inside = min(heights)
    if inside >= 0:
        return -inside
    feet = [naive_2d._nearest_2d(p, q) for p in corners for q in corners]
    return min(x * x + y * y for x, y in feet)


def root(square):
    return sqrt(abs(square)) * (1 if square > 0 else -1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("x", "y"), [(0, 0), (3, -1), (1.5, 0), (4, 2), (-1, 5.5), (7, 0), (1, 1), (-3, 2), (-5, 0), (0, -8), (0.25, 7.5)]
)
def test_signed_distance_of_prisms_equals_that_of_polygons(x, y, way):
    square = signed_distance_2d(A, moved(B, x, y))
    result = gk.signed_distance(prism(A), prism(B), None, shift(x, y), depth=way)
    assert result.distance == pytest.approx(root(square), rel=EXACT, abs=EXACT)
    assert Fraction(result.lower) * abs(Fraction(result.lower)) <= square
    assert square <= Fraction(result.upper) * abs(Fraction(result.upper))
    assert result.tight
    assert gk.collide(prism(A), prism(B), None, shift(x, y)) == (square <= 0)


# 1. overlap ---------------------------------------------------------------------------------------------------------


def test_item_1_overlap():
    """The depth is 6 / sqrt(41), across A's edge (4, 5)-(9, 9). The document states only that they overlap."""
    square = signed_distance_2d(A, B)
    assert square == Fraction(-36, 41)
    assert gk.collide(prism(A), prism(B)) is True
    result = gk.signed_distance(prism(A), prism(B))
    assert result.status == gk.Status.OVERLAPPING
    assert result.distance == pytest.approx(-6 / sqrt(41), rel=EXACT)
    assert result.normal == pytest.approx(np.array([4, -5, 0]) / sqrt(41), abs=EXACT)
    # after the minimum separating translation they touch, in 3D as in 2D
    push = result.separation_vector
    assert push[2] == pytest.approx(0, abs=EXACT)
    pushed = gk.signed_distance(prism(A), prism(B), None, shift(*push))
    assert pushed.distance == pytest.approx(0, abs=EXACT * 20)
    depth, normal = naive.signed_distance(naive.body(("hull", prism(A).points)), naive.body(("hull", prism(B).points)))
    assert result.distance == pytest.approx(depth, rel=EXACT)
    assert result.normal == pytest.approx(normal, abs=EXACT)


def test_item_1_simplex_contains_the_origin():
    """Of the two simplices of the document, only the second contains the origin."""
    line = gk.Segment((0, 0, -5), (0, 0, 5))
    for triangle, contains in [([(4, 2), (-8, -2), (-6, 9)], False), ([(4, 2), (-8, -2), (-1, -2)], True)]:
        assert gk.collide(gk.Triangle([(x, y, 0) for x, y in triangle]), line) is contains


def test_item_1_support_point_of_the_difference():
    """The support point of the Minkowski difference of the prisms is found without its 48 vertex pairs."""
    assert len(prism(A).points) * len(prism(B).points) == 6 * 8
    d = np.array([-336.0, -480.0, 0.0])
    assert (prism(A).support(d) - prism(B).support(-d))[:2] == pytest.approx([-8, -2])


# 2. distance --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [gk.distance, gk.signed_distance])
def test_item_2_distance(query):
    result = query(prism(A), prism(B), None, shift(3, -1))
    assert result.status == gk.Status.SEPARATED
    assert result.distance == pytest.approx(11 / sqrt(41), rel=EXACT)
    assert result.distance == pytest.approx(1.717911, abs=1e-6)
    assert result.point_a[:2] == pytest.approx([284 / 41, 301 / 41], rel=EXACT)
    assert result.point_b[:2] == pytest.approx([8, 6], rel=EXACT)
    assert result.point_a[2] == pytest.approx(result.point_b[2], abs=EXACT * 20)
    assert -20 <= result.point_a[2] <= 20
    # the closest point of A - B is (-44/41, 55/41)
    assert (result.point_a - result.point_b)[:2] == pytest.approx([-44 / 41, 55 / 41], rel=EXACT)
    assert result.normal == pytest.approx(np.array([44, -55, 0]) / (11 * sqrt(41)), abs=EXACT)
    assert not gk.collide(prism(A), prism(B), None, shift(3, -1))


def test_item_2_weights():
    """The weights 24/41 of (1, 3) and 17/41 of (-4, -1) apply to (9, 9) and (4, 5) on A's edge."""
    point = gk.distance(prism(A), prism(B), None, shift(3, -1)).point_a[:2]
    assert point == pytest.approx(24 / 41 * np.array([9, 9]) + 17 / 41 * np.array([4, 5]), rel=EXACT)


# 3. exact cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("x", "y", "contact"), [(1.5, 0, (6.5, 7)), (4, 2, (9, 9))], ids=["vertex on edge", "vertex on vertex"]
)
def test_item_3_touching(x, y, contact, way):
    result = gk.signed_distance(prism(A), prism(B), None, shift(x, y), depth=way)
    assert result.status == gk.Status.TOUCHING
    assert result.distance == pytest.approx(0, abs=20 * EXACT)
    assert result.point_a[:2] == pytest.approx(contact, rel=EXACT)
    assert result.point_b[:2] == pytest.approx(contact, rel=EXACT)
    assert np.linalg.norm(result.normal) == pytest.approx(1)
    assert gk.collide(prism(A), prism(B), None, shift(x, y)) is True


@pytest.mark.parametrize("way", WAYS)
def test_item_3_origin_in_the_middle_of_the_first_segment(way):
    square = signed_distance_2d(A, moved(B, -1, 5.5))
    assert square == Fraction(-289, 4 * 29)  # -8.5 / sqrt 29
    result = gk.signed_distance(prism(A), prism(B), None, shift(-1, 5.5), depth=way)
    assert result.distance == pytest.approx(-8.5 / sqrt(29), rel=EXACT)
    assert result.status == gk.Status.OVERLAPPING


def test_item_3_nearest_feature_is_a_vertex():
    result = gk.distance(prism(A), prism(B), None, shift(7, 0))
    assert result.distance == pytest.approx(sqrt(13), rel=EXACT)
    assert result.point_a[:2] == pytest.approx([9, 9], rel=EXACT)
    assert result.point_b[:2] == pytest.approx([12, 7], rel=EXACT)


# 4. flat input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("x", "y"), [(0, 0), (1.5, 0), (4, 2), (-1, 5.5), (3, -1), (7, 0), (-2, 1)])
def test_item_4_flat_hulls(x, y, way):
    square = signed_distance_2d(A, moved(B, x, y))
    result = gk.signed_distance(flat(A), flat(B), None, shift(x, y), depth=way)
    assert gk.collide(flat(A), flat(B), None, shift(x, y)) == (square <= 0)
    assert result.distance == pytest.approx(max(root(square), 0), rel=EXACT, abs=20 * EXACT)
    assert result.tight
    assert gk.distance(flat(A), flat(B), None, shift(x, y)).distance == pytest.approx(max(root(square), 0), abs=1e-11)


@pytest.mark.parametrize(("height", "distance"), [(0.0, 0.0), (1.0, 1.0), (-0.25, 0.25)])
def test_item_4_flat_hulls_above_each_other(height, distance):
    result = gk.signed_distance(flat(A), flat(B), None, shift(0, 0, height))
    assert result.distance == pytest.approx(distance, abs=20 * EXACT)


def test_item_4_flat_hull_through_prism_has_a_depth():
    """The depth of a flat hull at half the height of the prism is the depth in 2D, because the caps are far."""
    result = gk.signed_distance(flat(A), prism(B))
    assert result.distance == pytest.approx(root(signed_distance_2d(A, B)), rel=EXACT)


# 5. curved ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "offset", "sd"),
    [
        (gk.Sphere(1), gk.Sphere(2), (4, 4, 7), 6),
        (gk.Sphere(1), gk.Sphere(2), (1, 2, 2), 0),
        (gk.Sphere(1), gk.Sphere(2), (0, 2, 0), -1),
        (gk.Sphere(1), gk.Sphere(2), (0, 0, 0), -3),
        (gk.Sphere(1), gk.Box((2, 2, 2)), (4, 5, 1), 4),
        (gk.Sphere(1), gk.Box((2, 2, 2)), (3, 0, 0), 1),
        (gk.Sphere(1), gk.Box((2, 2, 2)), (0, -2, 0), 0),
        (gk.Sphere(1), gk.Box((2, 2, 2)), (0, 0.5, 0.25), -1.5),
        (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (0, 5, 0), 2),
        (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (0, 0, 7), 4),
        (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (6, 0, 7), 5),
        (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (0, 2, 1), -1),
        (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (0, 1, 2.5), -0.5),
    ],
)
def test_item_5_curved(a, b, offset, sd):
    result = gk.signed_distance(a, b, None, shift(*offset))
    assert result.distance == pytest.approx(sd, rel=1e-9, abs=1e-9)
    assert result.lower <= sd + 1e-14
    assert sd - 1e-14 <= result.upper
    assert result.tight


def test_item_5_crossed_cylinders():
    """The distance is that of the perpendicular axes minus both radii, independent of the offset along the axes."""
    crossed = naive.pose([[1, 0, 0], [0, 0, -1], [0, 1, 0]], (3.5, 0.25, -0.5))
    result = gk.signed_distance(gk.Cylinder(1, 4), gk.Cylinder(2, 6), None, crossed)
    assert result.distance == pytest.approx(0.5, rel=1e-9)
    assert result.normal == pytest.approx([1, 0, 0], abs=1e-6)


# 6. EPA -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("offset", "sd"),
    [
        ((0, 0, 0), -2),  # coincident centres: all face normals of the box give the same depth
        ((2, 0, 0), 0),  # shifted by exactly its extent: the origin is on a face of the Minkowski difference
        ((2, 2, 0), 0),  # on an edge
        ((2, 2, 2), 0),  # on a vertex
        ((2, 0.5, -0.25), 0),
        ((1, 0, 0), -1),
        ((0, 0, 1.5), -0.5),
        ((1, 1, 1), -1),
        ((3, 0, 0), 1),
        ((3, 3, 0), sqrt(2)),
    ],
)
def test_item_6_boxes(offset, sd, way):
    box = gk.Box((2, 2, 2))
    result = gk.signed_distance(box, box, None, shift(*offset), depth=way)
    assert result.distance == pytest.approx(sd, rel=EXACT, abs=6 * EXACT)
    assert result.lower <= sd * (1 + 4e-16)
    assert sd * (1 - 4e-16) <= result.upper
    assert result.tight
    error = result.point_b - result.point_a - result.distance * result.normal
    assert np.abs(error).max() < 6 * EXACT


@pytest.mark.parametrize("way", WAYS)
def test_item_6_identical_hulls(way):
    points = np.random.default_rng(1).normal(size=(20, 3))
    hull = gk.ConvexHull(points)
    expected, _ = naive.signed_distance(naive.body(("hull", points)), naive.body(("hull", points)))
    result = gk.signed_distance(hull, hull, depth=way)
    assert result.distance == pytest.approx(expected, rel=EXACT)
    assert result.tight


@pytest.mark.parametrize("way", WAYS)
def test_item_6_cube_inside_another(way):
    """The separating translation of a small cube in a large one leads through the nearest side."""
    result = gk.signed_distance(gk.Box((10, 10, 10)), gk.Box((1, 1, 1)), None, shift(2, 1, 0.5), depth=way)
    assert result.distance == pytest.approx(-3.5, rel=EXACT)
    assert result.normal == pytest.approx([1, 0, 0], abs=EXACT)
    assert gk.collide(gk.Box((10, 10, 10)), gk.Box((1, 1, 1)), None, shift(2, 1, 0.5)) is True


@pytest.mark.parametrize(
    "point", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (1, 1, -1), (0.5, 0.25, 0), (0.1, 0.2, 0.3)]
)
def test_item_6_origin_anywhere_on_the_first_polytope(point):
    """The origin is inside, on an edge of, or outside the Minkowski difference, which is an octahedron."""
    octahedron = np.vstack([np.eye(3), -np.eye(3)]) * 2
    expected, _ = naive.hull_signed_distance(octahedron - np.array(point))
    result = gk.signed_distance(gk.ConvexHull(octahedron), gk.Point(point), depth="epa")
    assert result.distance == pytest.approx(expected, rel=EXACT, abs=4 * EXACT)
    assert result.tight


def test_item_6_epa_on_a_separated_pair_equals_gjk():
    for x, y in [(3, -1), (7, 0), (0, -9)]:
        gjk = gk.signed_distance(prism(A), prism(B), None, shift(x, y))
        epa = gk.signed_distance(prism(A), prism(B), None, shift(x, y), depth="epa")
        assert epa.distance == pytest.approx(gjk.distance, rel=EXACT)
        assert epa.iterations > gjk.iterations
        assert gjk.distance > 0


def test_trace_contains_the_steps():
    """The trace contains GJK and, in overlap, EPA steps. Tracing does not change the distance."""
    result = gk.signed_distance(prism(A), prism(B), trace=True)
    assert len(result.trace.gjk) >= 2
    assert len(result.trace.epa) >= 1
    separated = gk.signed_distance(prism(A), prism(B), None, shift(3, -1), trace=True)
    assert len(separated.trace.gjk) >= 2
    assert separated.distance == gk.signed_distance(prism(A), prism(B), None, shift(3, -1)).distance
