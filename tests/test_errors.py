"""The table of bad input: what is refused, as what, and in which words: what, where, the value seen, the cure."""

from __future__ import annotations

import re

import numpy as np
import pytest

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
        "points[1] is [nan, 0.0, 1.0] (1 of 3 rows not finite)",
    ),
    "infinite": (lambda: gk.ConvexHull([[0, 0, 0], [np.inf, 0, 1]]), "points[1] is [inf, 0.0, 1.0]"),
    "transposed": (
        lambda: gk.ConvexHull(np.zeros((3, 500))),
        "has shape (3, 500), expected (n, 3): did you mean points.T?",
    ),
    "of two columns": (lambda: gk.ConvexHull(np.zeros((5, 2))), "has shape (5, 2), expected (n, 3)"),
    "empty": (lambda: gk.ConvexHull([]), "points is empty, expected (n, 3) with at least one row"),
    "of no rows": (lambda: gk.ConvexHull(np.zeros((0, 3))), "points is empty"),
    "ragged": (lambda: gk.ConvexHull([[0, 0, 0], [1, 2]]), "points is ragged: row 1 is [1, 2], expected 3 numbers"),
    "text": (lambda: gk.ConvexHull([["a", "b", "c"]]), "dtype <U1, expected real numbers"),
    "booleans": (lambda: gk.ConvexHull(np.ones((4, 3), dtype=bool)), "dtype bool"),
    "complex": (lambda: gk.ConvexHull(np.ones((4, 3), dtype=complex)), "dtype complex128"),
    "objects": (lambda: gk.ConvexHull(np.array([[None, 1, 2]], dtype=object)), "dtype object"),
    "a zero radius": (lambda: gk.Sphere(0), "radius is 0, expected more than 0; without a radius it is a Point"),
    "a negative radius": (lambda: gk.Capsule(-1, 2), "Capsule: radius is -1, expected more than 0"),
    "no number for a radius": (lambda: gk.Cylinder(np.nan, 1), "Cylinder: radius is nan, expected a finite number"),
    "a zero height": (lambda: gk.Cone(1, 0), "Cone: height is 0, expected more than 0"),
    "a flat box": (lambda: gk.Box((1, 0, 1)), "[1.0, 0.0, 1.0], expected more than 0 each; a flat box is a ConvexHull"),
    "two extents": (lambda: gk.Box((1, 2)), "extents is (1, 2), expected three real numbers"),
    "a negative half axis": (lambda: gk.Ellipsoid((1, -1, 1)), "radii are [1.0, -1.0, 1.0]"),
    "no direction": (lambda: gk.Halfspace((0, 0, 0), 1), "normal is [0, 0, 0], expected a direction"),
    "out of range": (lambda: gk.Sphere(1e60), "1e+60 are outside 1e-50 to 1e+50; use another unit"),
    "a mesh out of range": (lambda: gk.Mesh(1e200 * np.eye(3), [(0, 1, 2)]), "vertices: lengths of 1e+200 are outside"),
    "a mesh scaled out of range": (lambda: gk.Mesh(np.eye(3), [(0, 1, 2)]).scaled(1e-60), "1e-60 are outside 1e-50"),
    "ground out of range": (lambda: gk.HeightField(np.zeros((2, 2)), 1, (1e60, 0)), "HeightField: origin: lengths of"),
    "a cone scaled out of range": (lambda: gk.Cone(1, 1).scaled((1e60, 1, 2)), "lengths of 1e+60 are outside 1e-50"),
    "four corners": (lambda: gk.Triangle(np.zeros((4, 3))), "has 4 rows, expected 3; gk.ConvexHull takes any number"),
    "a negative inflation": (lambda: gk.Box((1, 1, 1)).inflated(-1), "inflated: radius is -1, expected at least 0"),
    "a scale of zero": (
        lambda: gk.Box((1, 1, 1)).scaled(0),
        "none may be 0: a flat shape is a ConvexHull of its points",
    ),
    "a face that is not there": (
        lambda: gk.Mesh(np.eye(3), [[0, 1, 5]]),
        "faces[0] is [0, 1, 5], but there are 3 vertices, 0 to 2",
    ),
}

POSES = {
    "transposed": (moved(0, 3, 2.0).T, "pose_b looks transposed: its last row is [2.0, 0.0, 0.0, 1.0]"),
    "scaled": (np.diag([2.0, 2, 2, 1]), "pose_b has scale (2, 2, 2); bake it into the shape with shape.scaled(...)"),
    "reflected": (np.diag([-1.0, 1, 1, 1]), "is a reflection (determinant -1); mirror the shape"),
    "sheared": (
        moved(0, 1, 0.5),
        "is not rigid: R'R is 0.5 from the identity, at most 1e-06 is allowed; orthonormalise",
    ),
    "written with few digits": (moved(0, 1, 1e-5), "is rigid only to 1e-05"),
    "not a number": (np.full((4, 4), np.nan), "is not finite: entry [0, 0] is nan"),
    "infinitely far": (moved(0, 3, np.inf), "is not finite: entry [0, 3] is inf"),
    "a rotation": (np.eye(3), "has shape (3, 3), expected (4, 4) or (n, 4, 4)"),
    "three rows": (np.eye(4)[:3], "has shape (3, 4), expected (4, 4) or (n, 4, 4); add the last row [0, 0, 0, 1]"),
    "a quaternion": ([0, 0, 0, 1, 0, 0, 0], "quaternions and vectors are not poses"),
    "a translation": ([0, 0, 1], "a translation t is the matrix with t in its last column"),
    "text": ("identity", "is a str, expected a (4, 4) matrix of real numbers"),
    "booleans": (np.eye(4, dtype=bool), "has dtype bool"),
    "ragged": ([[1, 0, 0, 0], [0, 1]], "is ragged: expected a (4, 4) matrix"),
    "one bad row of a stack": (np.stack([STRAIGHT, np.diag([2.0, 2, 2, 1])]), "pose_b[1] has scale (2, 2, 2)"),
    "a last row of its own": (moved(3, 3, 0.5), "has last row [0.0, 0.0, 0.0, 0.5], expected [0, 0, 0, 1]"),
}

QUESTIONS = {
    "stacks of two lengths": (
        lambda: gk.collide(BALL, BALL, np.tile(STRAIGHT, (3, 1, 1)), np.tile(STRAIGHT, (4, 1, 1))),
        ShapeError,
        "pose_a has 3 rows and pose_b 4",
    ),
    "no shape": (
        lambda: gk.collide(BALL, [0, 0, 0]),
        UnsupportedPair,
        "b is a list, expected a shape such as gjk3d.Box",
    ),
    "a mesh": (
        lambda: gk.overlap(BALL, gk.load("data/nut.stl")),
        UnsupportedPair,
        "pass its hull() to ask about its convex hull",
    ),
    "two half-spaces": (
        lambda: gk.collide(*[gk.Halfspace((0, 0, 1), 0)] * 2),
        UnsupportedPair,
        "use a large Box for one of them",
    ),
    "no margin": (
        lambda: gk.collide(BALL, BALL, margin=float("nan")),
        ShapeError,
        "margin is nan, expected one finite number",
    ),
    "a negative limit": (lambda: gk.distance(BALL, BALL, max_distance=-1), ShapeError, "max_distance is -1"),
    "a negative tolerance": (
        lambda: gk.distance(BALL, BALL, tol=-1),
        ShapeError,
        "tol is -1, expected a number, at least 0",
    ),
    "an unknown way to depth": (
        lambda: gk.signed_distance(BALL, BALL, depth="sat"),
        ShapeError,
        "depth is 'sat', expected 'auto'",
    ),
    "facets of a ball": (
        lambda: gk.signed_distance(BALL, gk.Cone(1, 1), depth="facets"),
        UnsupportedPair,
        "takes polytopes",
    ),
    "no file": (lambda: gk.load("nowhere.stl"), FileError, "there is no file nowhere.stl"),
    "no name": (lambda: gk.load(""), FileError, "'' names no file"),
    "a folder": (lambda: gk.load("data"), FileError, "data is a folder: name a file in it"),
}


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parents[1])


@pytest.mark.parametrize("what", SHAPES)
def test_shapes(what):
    make, text = SHAPES[what]
    with pytest.raises(ShapeError, match=re.escape(text)) as caught:
        make()
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("query", [gk.collide, gk.distance, gk.signed_distance, gk.separating_axis])
@pytest.mark.parametrize("what", POSES)
def test_poses(what, query):
    pose, text = POSES[what]
    shape = gk.Box((1, 1, 1))
    with pytest.raises(PoseError, match=re.escape(text)) as caught:
        query(shape, shape, None, pose)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("what", QUESTIONS)
def test_questions(what):
    ask, error, text = QUESTIONS[what]
    with pytest.raises(error, match=re.escape(text)) as caught:
        ask()
    assert isinstance(caught.value, Gjk3dError)
    assert "\n" not in str(caught.value)
