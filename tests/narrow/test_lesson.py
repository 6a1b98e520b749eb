"""The plain Python of the lesson "From 2D tutorials to 3D" computes the same results as the kernels."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.geometry import simplex
from tests.test_documents import only_python

GUIDE = Path(__file__).parents[2] / "examples" / "guides" / "from-2d-tutorials-to-3d.md"
EXACT = 1e-12
X = np.array([1.0, 0.0, 0.0])
CORNERS = gk.Box((2, 2, 2)).vertices


@pytest.fixture(scope="module")
def lesson():
    """Return a namespace with the definitions of the lesson."""
    names: dict = {}
    for example in doctest.DocTestParser().get_examples(only_python(GUIDE.read_text(encoding="utf-8"))):
        if example.source.startswith(("import ", "from ", "def ", "TINY", "FACES")):
            exec(example.source, names)
    return SimpleNamespace(**names)


def random_points(rng):
    """Return the vertices of a box, a cube, a hull, or a hull on a grid, which has many coplanar faces."""
    kind = rng.integers(4)
    if kind == 3:
        return rng.integers(-3, 4, (12, 3)) / 2
    points = rng.normal(size=(20, 3)) if kind == 2 else gk.Box(rng.uniform(1, 3, 3) if kind else (2, 2, 2)).vertices
    return points @ Rotation.random(rng=rng).as_matrix().T if rng.random() < 0.6 else points


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.full)])
def test_distances_and_depths_match_the_library(lesson, count):
    rng = np.random.default_rng(count)
    separated = 0
    for k in range(count):
        shift = rng.integers(-4, 5, 3) / 2 if k % 3 == 0 else rng.normal(size=3) * 1.5
        a, b = gk.ConvexHull(random_points(rng)), gk.ConvexHull(random_points(rng) + shift)
        expected = gk.signed_distance(a, b)
        support = lesson.difference(a, b)
        v, vertices, weights, lower = lesson.gjk(support, X)
        distance = np.linalg.norm(v)
        mean = sum(weight * vertex for weight, vertex in zip(weights, vertices, strict=True))
        if distance <= lesson.TINY:
            least, most, normal, mean = lesson.epa(support, vertices)
            assert most - least <= EXACT
            distance = -most
            assert mean[1] - mean[2] == pytest.approx(most * normal, abs=EXACT)
        else:
            assert distance - lower <= EXACT
            assert mean[1] - mean[2] == pytest.approx(v, abs=EXACT)
            separated += 1
        assert distance == pytest.approx(expected.distance, abs=EXACT)
    assert 0.1 * count < separated < 0.6 * count


@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.full)])
@pytest.mark.parametrize("grid", [False, True], ids=["general", "degenerate"])
def test_closest_points_of_simplices_match_the_library(lesson, grid, count):
    rng = np.random.default_rng(count)
    for k in range(count):
        size = 2 + k % 3
        points = (
            rng.integers(-2, 3, (size, 3)).astype(float) if grid else rng.normal(size=(size, 3)) + rng.normal(size=3)
        )
        ours = (lesson.closest_on_segment, lesson.closest_on_triangle, lesson.closest_on_tetrahedron)[size - 2]
        theirs = (simplex.closest_on_segment, simplex.closest_on_triangle, simplex.closest_on_tetrahedron)[size - 2]
        point, weights = ours(*points)
        expected = theirs(*map(tuple, points.tolist()), EXACT)[0]
        assert np.linalg.norm(point) == pytest.approx(np.linalg.norm(expected), abs=1e-11)
        assert point == pytest.approx(weights @ points, abs=1e-11)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(("a", "b", "offset", "depth"), [
    (gk.Sphere(1), gk.Box((2, 2, 2)), (0, 0.5, 0.25), 1.5),
    (gk.Cylinder(1, 2), gk.Cylinder(2, 4), (0, 2, 1), 1.0),
    (gk.Sphere(1), gk.Sphere(2), (0, 2, 0), 1.0),
])  # fmt: skip
def test_depth_bounds_of_curved_shapes_are_true(lesson, a, b, offset, depth):
    support = lesson.difference(a, b.placed(gk.Motion(None, offset).at(1)))
    _, vertices, _, _ = lesson.gjk(support, X)
    least, most, _, _ = lesson.epa(support, vertices, 1e-2)
    assert least <= depth + EXACT
    assert depth - EXACT <= most
    assert most - least <= 1e-2


def run_both_loops(lesson, a, b):
    """Return bounds of the lesson's signed distance, and (p - q) - depth * n, or None if the shapes are separated."""
    support = lesson.difference(a, b)
    v, vertices, _, lower = lesson.gjk(support, X)
    if np.linalg.norm(v) > lesson.TINY:
        return lower, np.linalg.norm(v), None
    least, most, normal, mean = lesson.epa(support, vertices)
    return -most, -least, mean[1] - mean[2] - most * normal


@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("edges", ["cubes", "boxes"])
@pytest.mark.parametrize("rotated", [False, True], ids=["parallel", "rotated"])
def test_witness_points_of_concentric_boxes_match_the_normal(lesson, rotated, edges, count):
    """Opposite faces have the same depth, so the witness points must belong to the face with the returned normal."""
    rng = np.random.default_rng(count)
    for _ in range(count):
        sizes = rng.uniform(0.5, 3, (2, 3)) if edges == "boxes" else np.ones((2, 3))
        first, second = Rotation.random(2, rng=rng).as_matrix()
        a = gk.ConvexHull(CORNERS * sizes[0] @ first.T)
        b = gk.ConvexHull(CORNERS * sizes[1] @ (second if rotated else first).T)
        least, most, offset = run_both_loops(lesson, a, b)
        assert most - least <= EXACT
        assert least == pytest.approx(gk.signed_distance(a, b).distance, abs=EXACT)
        assert np.abs(offset).max() <= 1e-11
        distance, normal, p, q = lesson.signed_distance(a, b)
        assert p - q == pytest.approx(-distance * normal, abs=1e-11)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.full)])
@pytest.mark.parametrize("noise", [0, 1e-15, 1e-13, 1e-11])
def test_collinear_tetrahedra_use_their_closest_edge(lesson, noise, count):
    rng = np.random.default_rng(count)
    for _ in range(count):
        origin, along = rng.normal(size=(2, 3))
        points = origin + rng.normal(size=(4, 1)) * along + noise * rng.normal(size=(4, 3))
        point, weights = lesson.closest_on_tetrahedron(*points)
        pairs = [lesson.closest_on_segment(points[i], points[j])[0] for i in range(4) for j in range(i)]
        assert np.linalg.norm(point) == pytest.approx(min(map(np.linalg.norm, pairs)), abs=1e-9)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.full)])
def test_large_flat_tetrahedra_use_their_closest_face(lesson, count):
    rng = np.random.default_rng(count)
    for _ in range(count):
        origin, *sides = rng.normal(size=(3, 3)) * 1e4
        points = origin + rng.normal(size=(4, 2)) @ np.array(sides)
        point, _ = lesson.closest_on_tetrahedron(*points)
        faces = [lesson.closest_on_triangle(*points[list(face[:3])])[0] for face in lesson.FACES]
        assert np.linalg.norm(point) == pytest.approx(min(map(np.linalg.norm, faces)), abs=1e-6)


@pytest.mark.parametrize("count", [8, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("thickness", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-16, 0.0, (5e-11, 3e-16)])
def test_depth_bounds_of_needles_are_true(lesson, thickness, count):
    """Normals of thin faces are inaccurate, so the lower bound of the depth has an error limited by the thickness."""
    rng = np.random.default_rng(count)
    size = np.array([1.0, *np.broadcast_to(thickness, 2)])
    for k in range(count):
        first, second = Rotation.random(2, rng=rng).as_matrix()
        shift = first @ (rng.normal(size=3) * 0.3 * size) if k % 2 else 0
        a = gk.ConvexHull(CORNERS / 2 * size @ first.T)
        b = gk.ConvexHull(CORNERS / 2 * size @ (second if k % 3 else first).T + shift)
        least, most, _ = run_both_loops(lesson, a, b)
        expected = gk.signed_distance(a, b).distance
        error = EXACT + min(size[1], 1e-16 / max(size[1], 1e-300))
        assert least <= expected + error
        assert expected <= most + error


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_start_tetrahedron_without_a_face_normal_is_flat(lesson, seed):
    rotation = Rotation.random(2, rng=np.random.default_rng(seed))[0].as_matrix()
    a = gk.ConvexHull(CORNERS / 2 * (1, 5e-11, 3e-16) @ rotation.T)
    support = lesson.difference(a, a)
    vertices, _ = lesson.start(support, lesson.gjk(support, X)[1])
    assert any(lesson.plane(vertices, face[:3]) is None for face in lesson.FACES)
    distance, normal, _, _ = lesson.signed_distance(a, a)
    assert -1e-6 <= distance <= 0  # the error of the normal is 1e-16 / 5e-11
    assert np.linalg.norm(normal) == pytest.approx(1)


def test_flat_difference_has_depth_0_and_its_normal(lesson):
    """Overlapping triangles in one plane have depth 0 and the normal of the plane."""
    a, b = (gk.Triangle(np.array([(0, 0, 1), (4, 0, 1), (0, 4, 1)]) - shift) for shift in (0, (1, 1, 0)))
    distance, normal, p, q = lesson.signed_distance(a, b)
    assert distance == 0
    assert abs(normal) == pytest.approx([0, 0, 1])
    assert p == pytest.approx(q)


def test_signed_distance_of_the_lesson_has_both_signs(lesson):
    for shift in (0.5, 3.0):
        a, b = gk.ConvexHull(CORNERS), gk.ConvexHull(CORNERS + (shift, 0, 0))
        distance, normal, p, q = lesson.signed_distance(a, b)
        assert distance == pytest.approx(shift - 2)
        assert normal == pytest.approx([1, 0, 0])
        assert q - p == pytest.approx(distance * normal)
