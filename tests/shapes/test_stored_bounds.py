"""Bounds stored with shapes are rounded to the safe side. Rational numbers check the last bits."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.shapes import layout
from gjk3d.shapes.layout import corners, hull_inner
from gjk3d.shapes.measure import minimal_ball


@pytest.mark.parametrize("make", [lambda p: gk.Segment(p[0], p[1]), lambda p: gk.Box(p[0]), gk.ConvexHull])
def test_stored_radius_bounds_the_core(make):
    rng = np.random.default_rng(41)
    for points in rng.uniform(0.5, 1.0, (60, 8, 3)):
        floats = make(points)._packed[1]
        reach = Fraction(float(floats[layout.RHO]))
        # the vertices of a hull, or half the extents of a segment or box
        numbers = floats[layout.FLOAT_HEAD :].reshape(3, -1).T
        assert all(point @ point <= reach**2 for point in naive.exact(numbers))


def test_stored_radius_bounds_union_of_points():
    rng = np.random.default_rng(42)
    for _ in range(60):
        ints, floats = gk.ConvexUnion(*(gk.Point(p) for p in rng.normal(size=(3, 3))))._packed
        offsets = floats[layout.FLOAT_HEAD :].reshape(ints[layout.PARTS], layout.PLACEMENT)[:, 9:]
        for offset in naive.exact(offsets):
            assert offset @ offset <= Fraction(float(floats[layout.RHO])) ** 2


def test_inner_ball_of_cone_is_inside_the_cone():
    rng = np.random.default_rng(43)
    for radius, height in rng.uniform(0.5, 2.0, (100, 2)).tolist():
        inner = Fraction(float(gk.Cone(radius, height)._packed[1][layout.INNER]))
        r, half = Fraction(radius), Fraction(height) / 2
        assert inner**2 <= half**2 * r**2 / (r**2 + 4 * half**2)


def test_inner_ball_of_hull_shrinks_with_slack():
    hull = gk.ConvexHull(gk.Box((2, 2, 2)).vertices)
    exact, rough = (hull_inner(hull.vertices[hull.faces], slack) for slack in (0.0, 0.125))
    assert rough <= exact - 2 * 0.125


def test_inner_ball_is_below_planes_of_thin_triangles():
    rng = np.random.default_rng(48)
    for a, edge, off in rng.normal(size=(100, 3, 3)):
        triangle = np.array([a, a + edge, a + 2.0 * edge + 1e-9 * off])
        p, q, r = naive.exact(triangle)
        normal = np.cross(q - p, r - p)
        if normal @ p < 0:
            triangle, normal = triangle[[0, 2, 1]], -normal
        assert Fraction(hull_inner(triangle[None], 0.0)) ** 2 <= (normal @ p) ** 2 / (normal @ normal)


def test_smallest_ball_contains_all_points():
    rng = np.random.default_rng(44)
    for count in (2, 3, 4, 30):
        for _ in range(20):
            points = rng.normal(size=(count, 3))
            center, radius = minimal_ball(points)
            assert all(v @ v <= Fraction(radius) ** 2 for v in naive.exact(points) - naive.exact(center))


@pytest.mark.parametrize("far", [0.0, 1.0])
def test_halfspace_contains_points_on_its_surface(far):
    rng = np.random.default_rng(45)
    for _ in range(100):
        plane = gk.Halfspace(rng.normal(size=3), far * rng.normal())
        normal, offset = naive.exact(plane.normal), Fraction(plane.offset)
        point = rng.normal(size=3) * 1e3
        k = int(np.argmax(np.abs(plane.normal)))
        others = [i for i in range(3) if i != k]
        level = (offset - normal[others] @ naive.exact(point[others])) / normal[k]
        point[k] = naive.float_below(level) if normal[k] > 0 else naive.float_above(level)
        assert normal @ naive.exact(point) <= offset
        assert plane.contains(point)


def test_support_of_sum_is_exact_within_slack():
    rng = np.random.default_rng(46)
    for pose in (naive.pose(turn, rng.normal(size=3)) for turn in naive.random_rotations(rng, 40)):
        shape = gk.MinkowskiSum(gk.Box((1, 2, 3)).placed(pose), gk.Segment((0, 0, 0), rng.normal(size=3)))
        slack = Fraction(float(shape._packed[1][layout.SLACK]))
        exact = np.full(3, Fraction(0))
        for part in shape._terms()[0]:
            exact += naive.exact(part.offset) + (naive.exact(corners(part)) @ naive.exact(part.matrix).T).max(axis=0)
        for i, axis in enumerate(np.eye(3)):
            assert abs(Fraction(float(shape.support(axis)[i])) - exact[i]) <= slack


def test_rotated_solid_of_revolution_keeps_its_axis():
    rng = np.random.default_rng(47)
    for turn in naive.random_rotations(rng, 15):
        for shape in (gk.Cylinder(1, 2), gk.Cone(1, 2), gk.Ellipsoid((1, 1, 2)), gk.Segment((0, 0, -1), (0, 0, 1))):
            ints, floats = shape.placed(naive.pose(turn))._packed
            assert ints[layout.SYMMETRY] == layout.REVOLVED
            axis = floats[layout.AXIS : layout.AXIS + 3]
            np.testing.assert_allclose(abs(axis @ turn[:, 2]), 1.0, rtol=0, atol=1e-15)
