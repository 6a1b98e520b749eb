"""Smallest balls and boxes compared with exhaustive searches, and Steiner's formula with closed forms."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.geometry.hulls import build_hull
from gjk3d.shapes.measure import measured, minimal_ball, oriented_box, steiner_volume
from tests import naive

TURN = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()
CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def slow_ball(points):
    """Return the radius of the smallest ball through 2, 3 or 4 points that contains all points."""
    best = np.inf if len(points) > 1 else 0.0
    for count in (2, 3, 4):
        for subset in combinations(range(len(points)), count):
            base = points[subset[0]]
            edges = points[list(subset[1:])] - base
            gram = edges @ edges.T
            if np.linalg.cond(gram) > 1e10:
                continue
            center = base + np.linalg.solve(gram, 0.5 * np.diag(gram)) @ edges
            reach = np.linalg.norm(points - center, axis=1).max()
            if reach <= np.linalg.norm(base - center) * (1.0 + 1e-9):
                best = min(best, reach)
    return best


def check_ball(points):
    points = np.ascontiguousarray(points, dtype=np.float64)
    center, radius = minimal_ball(points)
    reach = np.linalg.norm(points - center, axis=1)
    assert reach.max() <= radius
    assert radius <= reach.max() * (1.0 + 4e-15)
    # a smaller ball exists exactly if the centre is outside the convex hull of the touching points
    touching = points[reach >= radius * (1.0 - 1e-9)] - center
    pull = touching.mean(axis=0)
    for _ in range(2000):  # Frank-Wolfe iteration towards the point of their hull nearest to the centre
        step = touching[(touching @ pull).argmin()]
        gap = pull - step
        if pull @ gap <= 1e-14 * radius**2:
            break
        pull = pull - min(1.0, pull @ gap / (gap @ gap)) * gap
    assert np.linalg.norm(pull) <= 2e-2 * radius
    return center, radius


def test_smallest_balls_of_known_sets():
    center, radius = check_ball([[1.0, 2.0, 3.0]])
    assert (center.tolist(), radius) == ([1.0, 2.0, 3.0], 0.0)
    assert check_ball([[1.0, 2.0, 3.0]] * 4)[1] == 0.0
    assert check_ball([[0.0, 0.0, 0.0], [0.0, 0.0, 4.0], [0.0, 0.0, 1.0]])[1] == pytest.approx(2.0, rel=3e-15)
    assert check_ball([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])[1] == pytest.approx(2.5, rel=3e-15)
    assert check_ball(CUBE @ TURN.T)[1] == pytest.approx(np.sqrt(0.75), rel=3e-15)
    assert check_ball(CUBE * (1.0, 1.0, 0.0))[1] == pytest.approx(np.sqrt(0.5), rel=3e-15)
    assert check_ball(CUBE * (1.0, 1e-8, 1e-12) @ TURN.T)[1] == pytest.approx(0.5, rel=1e-14)
    center, radius = check_ball(CUBE + 1e7)
    assert center.tolist() == [1e7] * 3
    turn = np.linspace(0.0, 2.0 * np.pi, 999)
    assert check_ball(np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1))[1] == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_balls_and_boxes_of_any_scale(scale):
    center, radius = minimal_ball(CUBE * scale)
    assert radius == pytest.approx(np.sqrt(0.75) * scale, rel=1e-14)
    assert np.abs(center).max() <= 1e-15 * scale
    faces = build_hull(CUBE).faces
    _, extents = oriented_box(CUBE @ TURN.T * scale, faces)
    assert extents == pytest.approx(np.full(3, scale), rel=1e-14)


@given(st.integers(0, 2**32), st.integers(2, 9), st.sampled_from(["normal", "integers", "sphere", "flat"]))
def test_smallest_balls_agree_with_all_subsets(seed, count, kind):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, 3))
    if kind == "integers":
        points = rng.integers(-2, 3, (count, 3)).astype(np.float64)
    elif kind == "sphere":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == "flat":
        points = (points * (1.0, 1.0, 0.0)) @ TURN.T
    _, radius = check_ball(points)
    distinct = np.unique(points, axis=0)
    assert radius == pytest.approx(slow_ball(distinct), rel=1e-8, abs=1e-12)


def test_smallest_ball_of_many_points():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((100_000, 3))
    check_ball(points)
    assert check_ball(points / np.linalg.norm(points, axis=1)[:, None])[1] == pytest.approx(1.0, rel=1e-12)


def check_box(points):
    hull = build_hull(np.ascontiguousarray(points, dtype=np.float64))
    pose, extents = oriented_box(hull.vertices, hull.faces)
    turn = pose[:3, :3]
    size = float(np.ptp(hull.vertices, axis=0).max()) or 1.0
    assert np.abs(turn.T @ turn - np.eye(3)).max() < 1e-14
    assert np.linalg.det(turn) == pytest.approx(1.0)
    assert pose[3].tolist() == [0.0, 0.0, 0.0, 1.0]
    reach = np.abs((hull.vertices - pose[:3, 3]) @ turn)
    assert (reach - extents / 2).max() <= 1e-12 * size
    return hull, pose, extents


def slow_box(hull, scale=1.0):
    """Return the volume of the smallest box that is flush with a face and parallel to an edge."""
    best, vertices = np.inf, hull.vertices / scale
    for face in hull.faces:
        a, b, c = vertices[face]
        z = np.cross(b - a, c - a)
        z /= np.linalg.norm(z)
        for i, j in hull.edges:
            x = vertices[j] - vertices[i]
            x = x - (x @ z) * z
            if np.linalg.norm(x) > 1e-6:
                x /= np.linalg.norm(x)
                best = min(best, float(np.prod(np.ptp(vertices @ np.array([x, np.cross(z, x), z]).T, axis=0))))
    return best


def test_smallest_boxes_of_known_sets():
    for scale in ((1.0, 2.0, 3.0), (1.0, 2.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1e-9), (1.0, 1e-8, 1e-8)):
        for turn in (np.eye(3), TURN):
            _, _, extents = check_box((CUBE * scale) @ turn.T + (3.0, -2.0, 1.0))
            assert np.sort(extents) == pytest.approx(np.sort(scale), rel=1e-6, abs=2e-15)
    _, pose, extents = check_box([[1.0, 2.0, 3.0]])
    assert (pose[:3, 3].tolist(), extents.tolist()) == ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("count", [4, 5, 8, 20])
def test_boxes_are_no_larger_than_those_of_all_faces(count):
    rng = np.random.default_rng(count)
    for _ in range(5):
        hull, _, extents = check_box(rng.standard_normal((count, 3)) * (1.0, 2.0, 0.5))
        axes_box = float(np.prod(np.ptp(hull.vertices, axis=0)))
        assert float(np.prod(extents)) <= min(slow_box(hull), axes_box) * (1.0 + 1e-12)


@given(
    st.integers(0, 2**32),
    st.integers(3, 30),
    st.sampled_from(["normal", "integers", "sphere", "flat", "prism", "plate", "needle"]),
    st.sampled_from([1.0, 1e-30, 1e30]),
)
def test_boxes_of_special_sets_are_no_larger_than_all_faces(seed, count, kind, scale):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, 3))
    if kind == "integers":
        points = rng.integers(-2, 3, (count, 3)).astype(np.float64)
    elif kind == "sphere":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == "prism":
        turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
        ring = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
        points = np.concatenate([ring, ring + (0.0, 0.0, 1.0)])
    points = points * {"flat": (1.0, 1.0, 0.0), "plate": (1.0, 1.0, 1e-7), "needle": (1.0, 1e-4, 1e-5)}.get(kind, 1.0)
    hull, _, extents = check_box(scale * (points @ (TURN.T if kind != "integers" else np.eye(3))))
    if hull.dimension == 3:
        axes_box = float(np.prod(np.ptp(hull.vertices / scale, axis=0)))
        rounding = 1e-14 * float(np.prod(np.sort(extents / scale)[1:]))  # rounding of the thickness of a plate
        least = min(slow_box(hull, scale), axes_box)
        assert float(np.prod(extents / scale)) <= least * (1.0 + 1e-12) + rounding
    elif hull.dimension == 2:
        assert extents.min() <= 1e-13 * extents.max()


def test_smallest_box_of_large_hull():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((20_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    _, _, extents = check_box(points * (1.0, 2.0, 3.0) @ TURN.T)
    assert float(np.prod(extents)) <= 1.1 * 48.0  # only a sample of the normals of a smooth shape is tried


def test_steiner_formula():
    r = 0.7
    assert steiner_volume(0.0, 0.0, 0.0, r) == pytest.approx(4 / 3 * np.pi * r**3)
    for points, truth in (
        (CUBE, 1 + 6 * r + 3 * np.pi * r**2 + 4 / 3 * np.pi * r**3),
        ([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], 2 * np.pi * r**2 + 4 / 3 * np.pi * r**3),
        (CUBE * (1.0, 1.0, 0.0), 2 * r + 2 * np.pi * r**2 + 4 / 3 * np.pi * r**3),
    ):
        hull = build_hull(np.array(points))
        assert steiner_volume(hull.volume, hull.area, hull.mean_curvature, r) == pytest.approx(truth, rel=1e-13)


@pytest.mark.full
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_measures_by_support_points_agree_with_formulas(size):
    for shape in (gk.Ellipsoid((1, 2, 3)), gk.Cone(1.5, 1), gk.Box((1, 2, 3))):
        placed = shape.scaled((size,) * 3).placed(naive.pose(np.eye(3), (5 * size, -size, size)))
        result = measured(placed.support)
        assert result.volume == pytest.approx(shape.volume * size**3, rel=2e-3)
        fine = shape.surface(256)
        a, b, c = (fine.vertices[fine.faces[:, k]] for k in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        assert result.area == pytest.approx(area * size**2, rel=2e-3)
        # Steiner's formula: the curvature term is V(r) - V - A r - 4/3 pi r^3
        thick = measured(placed.inflated(size).support).volume / size**3
        share = thick - (result.volume / size**3 + result.area / size**2 + 4 / 3 * np.pi)
        assert result.curvature / size == pytest.approx(share, rel=2e-2)


def test_measures_of_flat_shapes():
    square = measured(gk.ConvexHull([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)]).support)
    assert (square.volume, square.area) == (0.0, pytest.approx(8.0))
    # the edge of length 8 has the angle pi, and half of the product counts
    assert square.curvature == pytest.approx(4 * np.pi)
    line = measured(gk.Segment((0, 0, 0), (0, 0, 3)).support)
    assert (line.volume, line.area) == (0.0, 0.0)
    assert measured(gk.Point((1, 2, 3)).support) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("thickness", [1e-7, 1e-8, 1e-9, 1e-10])
def test_box_of_thin_hull_is_no_thicker_than_its_faces(thickness):
    """The width of a thin hull differs strongly along normals that are nearly equal."""
    for seed in range(80):
        hull = gk.ConvexHull(np.random.default_rng(seed).normal(size=(8, 3)) * (1, 1, thickness))
        if hull.dimension < 3:
            continue
        v = hull.vertices
        normals = [np.cross(v[b] - v[a], v[c] - v[a]) for a, b, c in hull.faces]
        flush = min(np.ptp(v @ (n / np.linalg.norm(n))) for n in normals)
        assert gk.obb(hull).extents.min() <= flush * (1 + 1e-3) + 1e-14
