"""Table of invalid input: the class of each error, and the argument, value and remedy that its message names."""

from __future__ import annotations

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import FileError, Gjk3dError, PoseError, ShapeError, UnsupportedPair

BALL = gk.Sphere(1)
STRAIGHT = np.eye(4)


def moved(row, column, value):
    pose = np.eye(4)
    pose[row, column] = value
    return pose


SHAPES = {
    "not a number": (
        lambda: gk.ConvexHull([[0, 0, 0], [np.nan, 0, 1], [1, 1, 1]]),
        ("points[1]", "nan", "1 of 3"),
    ),
    "infinite": (lambda: gk.ConvexHull([[0, 0, 0], [np.inf, 0, 1]]), ("points[1]", "inf")),
    "transposed": (
        lambda: gk.ConvexHull(np.zeros((3, 500))),
        ("points", "(3, 500)", "points.T"),
    ),
    "of two columns": (lambda: gk.ConvexHull(np.zeros((5, 2))), ("points", "(5, 2)", "(n, 3)")),
    "empty": (lambda: gk.ConvexHull([]), ("points", "empty", "(n, 3)")),
    "of no rows": (lambda: gk.ConvexHull(np.zeros((0, 3))), ("points", "empty")),
    "ragged": (lambda: gk.ConvexHull([[0, 0, 0], [1, 2]]), ("points", "row 1", "[1, 2]")),
    "text": (lambda: gk.ConvexHull([["a", "b", "c"]]), ("points", "dtype <U1")),
    "booleans": (lambda: gk.ConvexHull(np.ones((4, 3), dtype=bool)), ("points", "dtype bool")),
    "complex": (lambda: gk.ConvexHull(np.ones((4, 3), dtype=complex)), ("points", "dtype complex128")),
    "objects": (lambda: gk.ConvexHull(np.array([[None, 1, 2]], dtype=object)), ("points", "dtype object")),
    "a zero radius": (lambda: gk.Sphere(0), ("Sphere:", "radius", "0", "Point")),
    "a negative radius": (lambda: gk.Capsule(-1, 2), ("Capsule:", "radius", "-1")),
    "no number for a radius": (lambda: gk.Cylinder(np.nan, 1), ("Cylinder:", "radius", "nan")),
    "a zero height": (lambda: gk.Cone(1, 0), ("Cone:", "height", "0")),
    "a flat box": (lambda: gk.Box((1, 0, 1)), ("Box:", "extents", "[1.0, 0.0, 1.0]", "ConvexHull")),
    "two extents": (lambda: gk.Box((1, 2)), ("Box:", "extents", "(1, 2)")),
    "a negative half axis": (lambda: gk.Ellipsoid((1, -1, 1)), ("Ellipsoid:", "radii", "[1.0, -1.0, 1.0]")),
    "no direction": (lambda: gk.Halfspace((0, 0, 0), 1), ("Halfspace:", "normal", "[0, 0, 0]")),
    "out of range": (lambda: gk.Sphere(1e60), ("Sphere:", "radius", "1e+60", "1e+50")),
    "a mesh out of range": (lambda: gk.Mesh(1e200 * np.eye(3), [(0, 1, 2)]), ("vertices", "1e+200", "1e+50")),
    "a mesh scaled out of range": (lambda: gk.Mesh(np.eye(3), [(0, 1, 2)]).scaled(1e-60), ("1e-60", "1e-50")),
    "ground out of range": (
        lambda: gk.HeightField(np.zeros((2, 2)), 1, (1e60, 0)),
        ("HeightField:", "origin", "1e+60", "1e+50"),
    ),
    "a cone scaled out of range": (lambda: gk.Cone(1, 1).scaled((1e60, 1, 2)), ("composed shape", "1e+60", "1e+50")),
    "four corners": (lambda: gk.Triangle(np.zeros((4, 3))), ("4 rows", "gk.ConvexHull")),
    "a negative inflation": (lambda: gk.Box((1, 1, 1)).inflated(-1), ("inflated", "radius", "-1")),
    "a scale of zero": (
        lambda: gk.Box((1, 1, 1)).scaled(0),
        ("scaled", "[0.0, 0.0, 0.0]", "ConvexHull"),
    ),
    "a face that is not there": (
        lambda: gk.Mesh(np.eye(3), [[0, 1, 5]]),
        ("faces[0]", "[0, 1, 5]", "3 vertices"),
    ),
}

POSES = {
    "transposed": (moved(0, 3, 2.0).T, ("pose_b", "[2.0, 0.0, 0.0, 1.0]", "its .T")),
    "scaled": (np.diag([2.0, 2, 2, 1]), ("pose_b", "(2, 2, 2)", "shape.scaled(...)")),
    "reflected": (np.diag([-1.0, 1, 1, 1]), ("pose_b", "determinant -1", "shape.scaled((-1, 1, 1))")),
    "sheared": (
        moved(0, 1, 0.5),
        ("pose_b", "R'R", "0.5", "1e-06", "Rotation.from_matrix(R)"),
    ),
    "written with few digits": (moved(0, 1, 1e-5), ("pose_b", "1e-05")),
    "not a number": (np.full((4, 4), np.nan), ("pose_b", "[0, 0]", "nan")),
    "infinitely far": (moved(0, 3, np.inf), ("pose_b", "[0, 3]", "inf")),
    "a rotation": (np.eye(3), ("pose_b", "(3, 3)", "(n, 4, 4)")),
    "three rows": (np.eye(4)[:3], ("pose_b", "(3, 4)", "[0, 0, 0, 1]")),
    "a quaternion": ([0, 0, 0, 1, 0, 0, 0], ("pose_b", "(7,)", "RigidTransform")),
    "a translation": ([0, 0, 1], ("pose_b", "(3,)", "pose[:3, 3] = t")),
    "text": ("identity", ("pose_b", "a str", "(4, 4)")),
    "booleans": (np.eye(4, dtype=bool), ("pose_b", "dtype bool")),
    "ragged": ([[1, 0, 0, 0], [0, 1]], ("pose_b", "ragged", "(4, 4)")),
    "one bad row of a stack": (
        np.stack([STRAIGHT, np.diag([2.0, 2, 2, 1])]),
        ("pose_b[1]", "(2, 2, 2)", "shape.scaled(...)"),
    ),
    "a last row of its own": (moved(3, 3, 0.5), ("pose_b", "[0.0, 0.0, 0.0, 0.5]", "[0, 0, 0, 1]")),
}

QUERIES = {
    "stacks of two lengths": (
        lambda: gk.collide(BALL, BALL, np.tile(STRAIGHT, (3, 1, 1)), np.tile(STRAIGHT, (4, 1, 1))),
        ShapeError,
        ("pose_a", "3 rows", "pose_b has 4"),
    ),
    "no shape": (
        lambda: gk.collide(BALL, [0, 0, 0]),
        UnsupportedPair,
        ("a list", "gjk3d.Box"),
    ),
    "a mesh": (
        lambda: gk.overlap(BALL, gk.load("data/nut.stl")),
        UnsupportedPair,
        ("a is a Sphere", "gjk3d.ConvexHull(a.surface().vertices)"),
    ),
    "two half-spaces": (
        lambda: gk.collide(*[gk.Halfspace((0, 0, 1), 0)] * 2),
        UnsupportedPair,
        ("Halfspace", "large Box"),
    ),
    "no margin": (
        lambda: gk.collide(BALL, BALL, margin=float("nan")),
        ShapeError,
        ("margin", "nan"),
    ),
    "a negative limit": (lambda: gk.distance(BALL, BALL, max_distance=-1), ShapeError, ("max_distance", "-1")),
    "a negative tolerance": (
        lambda: gk.distance(BALL, BALL, tol=-1),
        ShapeError,
        ("tol", "-1"),
    ),
    "an unknown way to depth": (
        lambda: gk.signed_distance(BALL, BALL, depth="sat"),
        ShapeError,
        ("depth", "'sat'", "'auto'"),
    ),
    "facets of a ball": (
        lambda: gk.signed_distance(BALL, gk.Cone(1, 1), depth="facets"),
        UnsupportedPair,
        ("depth='facets'", "Cone", "signed_distance"),
    ),
    "no file": (lambda: gk.load("nowhere.stl"), FileError, ("nowhere.stl",)),
    "no name": (lambda: gk.load(""), FileError, ("''", "file")),
    "a folder": (lambda: gk.load("data"), FileError, ("data is a folder", "file in it")),
}


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parents[1])


@pytest.mark.parametrize("what", SHAPES)
def test_invalid_shapes_raise(what):
    make, fragments = SHAPES[what]
    with pytest.raises(ShapeError) as caught:
        make()
    assert_names(caught.value, *fragments)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("query", [gk.collide, gk.distance, gk.signed_distance, gk.separating_axis])
@pytest.mark.parametrize("what", POSES)
def test_invalid_poses_raise(what, query):
    pose, fragments = POSES[what]
    shape = gk.Box((1, 1, 1))
    with pytest.raises(PoseError) as caught:
        query(shape, shape, None, pose)
    assert_names(caught.value, *fragments)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("what", QUERIES)
def test_invalid_queries_raise(what):
    call, error, fragments = QUERIES[what]
    with pytest.raises(error) as caught:
        call()
    assert_names(caught.value, *fragments)
    assert isinstance(caught.value, Gjk3dError)
    assert "\n" not in str(caught.value)
