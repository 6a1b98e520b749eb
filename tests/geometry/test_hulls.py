"""build_hull of all kinds of point sets: support, vertices, closed faces and measures."""

import itertools
import subprocess
import sys
from collections import Counter
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from gjk3d._kernels.decorators import MODE
from gjk3d.geometry.hulls import build_hull

TURN = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()
THIN = [1e-16, 1e-15, 1e-14, 1e-13, 1.2e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8]


def grid(count, extents=(1.0, 1.0, 1.0)):
    """Return a grid of points in a box, few of which are corners."""
    line = np.linspace(-0.5, 0.5, count)
    return np.array(list(itertools.product(line, repeat=3))) * extents


def size_of(points):
    return float(np.ptp(points, axis=0).max()) or 1.0


def face_normals(hull):
    a, b, c = np.moveaxis(hull.vertices[hull.faces], 1, 0)
    size = size_of(hull.vertices)
    normals = np.cross((b - a) / size, (c - a) / size)
    lengths = np.linalg.norm(normals, axis=1)
    return normals[lengths > 0] / lengths[lengths > 0, None]


def excess(points, hull, count=3000):
    """Return the largest h_points - h_vertices over random directions, axes and face normals."""
    directions = np.concatenate([np.random.default_rng(5).standard_normal((count, 3)), np.eye(3), -np.eye(3)])
    if len(hull.faces):
        normals = face_normals(hull)
        directions = np.concatenate([directions, normals[:: max(1, len(normals) // 2000)]])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    middle = points.mean(axis=0)
    worst = -np.inf
    for block in np.array_split(directions, 1 + len(points) * len(directions) // 10_000_000):
        ours = (block @ (hull.vertices - middle).T).max(axis=1)
        worst = max(worst, float(((block @ (points - middle).T).max(axis=1) - ours).max()))
    return worst


def check(points, slack=0.0):
    """Check the properties of every hull and return it. ``slack`` is a thickness that may be ignored."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    hull = build_hull(points)
    size = size_of(points)
    assert hull.vertices.dtype == np.float64
    assert hull.faces.dtype == np.int64
    assert hull.edges.dtype == np.int64
    assert hull.faces.shape[1:] == (3,)
    assert (np.diff(hull.indices) > 0).all()
    assert np.array_equal(hull.vertices, points[hull.indices])
    assert len(np.unique(hull.vertices, axis=0)) == len(hull.vertices)
    # the rounding error of differences of float sums of such coordinates
    rounding = 1e-15 * size + 4e-16 * float(np.abs(points - points.mean(axis=0)).max())
    above = excess(points, hull)
    assert above <= hull.defect + rounding
    assert above <= 1e-14 * size + slack
    assert 0.0 <= hull.defect <= 1e-13 * size + 3.0 * slack
    assert hull.area >= 0.0
    assert hull.volume >= 0.0
    assert len(hull.edges) == len(hull.angles)
    if hull.dimension >= 2:
        directed = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in hull.faces for i in range(3))
        assert set(directed.values()) == {1}
        assert all((b, a) in directed for a, b in directed)
        assert len(hull.edges) * 2 == len(directed)
        assert len(hull.faces) == 2 * len(np.unique(hull.faces)) - 4
    else:
        assert len(hull.faces) == 0
    return hull


def test_points_and_segments():
    point = check([[1.0, 2.0, 3.0]])
    assert (point.dimension, len(point.vertices), point.defect, point.mean_curvature) == (0, 1, 0.0, 0.0)
    many = check([[1.0, 2.0, 3.0]] * 7)
    assert (many.dimension, len(many.vertices), many.indices.tolist()) == (0, 1, [0])
    segment = check([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    assert (segment.dimension, segment.defect) == (1, 0.0)
    assert segment.mean_curvature == pytest.approx(3.0 * np.pi)
    line = check(np.outer(np.linspace(-3.0, 5.0, 50), [0.6, 0.0, 0.8]))
    assert (line.dimension, line.indices.tolist()) == (1, [0, 49])
    assert line.mean_curvature == pytest.approx(8.0 * np.pi)


def test_flat_sets():
    triangle = check([[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [0.0, 4.0, 1.0]])
    assert (triangle.dimension, triangle.defect, triangle.volume, len(triangle.faces)) == (2, 0.0, 0.0, 2)
    assert triangle.area == pytest.approx(12.0)
    assert triangle.mean_curvature == pytest.approx(np.pi / 2 * 12.0)
    for turn in (np.eye(3), TURN):
        square = check((grid(12) * [2.0, 1.0, 0.0]) @ turn.T)
        assert (square.dimension, len(square.vertices), len(square.faces)) == (2, 4, 4)
        assert square.area == pytest.approx(4.0)
        assert square.mean_curvature == pytest.approx(np.pi / 2 * 6.0)
    turn = np.linspace(0.0, 2.0 * np.pi, 1000, endpoint=False)
    disc = check(np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1) @ TURN.T)
    assert len(disc.vertices) == 1000
    assert disc.area == pytest.approx(2.0 * np.pi, rel=1e-4)


def test_box_keeps_its_corners_only():
    for turn in (np.eye(3), TURN):
        for count in (2, 3, 9):
            for extents in ((1.0, 1.0, 1.0), (1.0, 20.0, 300.0)):
                box = check(grid(count, extents) @ turn.T)
                assert (box.dimension, len(box.vertices), len(box.faces)) == (3, 8, 12)
                assert box.volume == pytest.approx(np.prod(extents), rel=1e-12)
                assert box.area == pytest.approx(2 * sum(a * b for a, b in itertools.combinations(extents, 2)))
                assert box.mean_curvature == pytest.approx(np.pi * sum(extents))
                assert np.sum(box.angles > 1e-9) == 12


def test_prism_with_points_on_edges_and_faces():
    corner = 2.0 * np.pi * np.arange(7) / 7
    ring = np.stack([np.cos(corner), np.sin(corner)], axis=1)
    t = np.linspace(0.0, 1.0, 6)[:, None, None]
    outline = ((1.0 - t) * ring + t * np.roll(ring, -1, axis=0)).reshape(-1, 2)
    levels = [np.column_stack([outline, np.full(len(outline), z)]) for z in np.linspace(0.0, 3.0, 5)]
    prism = np.concatenate(levels) @ TURN.T
    hull = check(prism)
    assert len(hull.vertices) == 14
    assert hull.volume == pytest.approx(3.0 * 3.5 * np.sin(2.0 * np.pi / 7))


def prism(count, turn):
    """Return the corners of a prism over a regular polygon."""
    angles = np.linspace(0.0, 2.0 * np.pi, count // 2, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    return np.concatenate([ring, ring + (0.0, 0.0, 1.0)]) @ turn.T + 5.0


@pytest.mark.skipif(MODE != "object", reason="times are those of machine code")
def test_large_faces_take_less_than_quadratic_time():
    def seconds(points):
        start = process_time()
        build_hull(points)
        return process_time() - start

    few = min(seconds(prism(5000, TURN)) for _ in range(3))
    many = min(seconds(prism(50000, TURN)) for _ in range(2))
    assert many < min(15.0 * few, 3.0)  # 0.6 s on an idle machine


@pytest.mark.parametrize("turn", [np.eye(3), TURN])
@pytest.mark.parametrize("more", [0, 3000])
def test_large_faces_are_flat(turn, more):
    points = prism(12000, turn)
    inside = np.random.default_rng(3).dirichlet(np.ones(4), more) @ points[[0, 2000, 4000, 9000]]
    top = np.random.default_rng(4).dirichlet(np.ones(3), more) @ points[[6000, 8000, 10000]]  # inside a face
    hull = check(np.concatenate([points, inside, top]), 1e-13)
    assert np.isin(np.arange(12000), hull.indices).all()
    assert hull.volume == pytest.approx(6000 * np.sin(2.0 * np.pi / 6000) / 2.0, rel=1e-10)
    within = np.abs(hull.vertices[hull.edges] @ turn[:, 2] - 5.0 * turn[:, 2].sum() - 0.5) > 0.5 - 1e-9
    across = within.all(axis=1) & (np.ptp(hull.vertices[hull.edges] @ turn[:, 2], axis=1) < 0.5)
    cap = across & (np.linalg.norm(np.diff(hull.vertices[hull.edges], axis=1)[:, 0], axis=1) > 0.01)
    assert cap.sum() > 1000
    assert hull.angles[cap].max() == 0.0


def test_order_and_duplicates_do_not_matter():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((60, 3))
    once = check(points)
    doubled = check(np.repeat(points, 3, axis=0))
    assert np.array_equal(once.vertices, doubled.vertices)
    assert np.array_equal(once.faces, doubled.faces)
    order = rng.permutation(60)
    shuffled = check(points[order])
    assert {tuple(v) for v in shuffled.vertices} == {tuple(v) for v in once.vertices}


def test_clusters_of_nearly_equal_points():
    rng = np.random.default_rng(4)
    corners = grid(2) @ TURN.T
    for spread in (1e-17, 1e-16, 1e-15, 1e-14, 1e-12):
        cloud = np.concatenate([corners + spread * rng.standard_normal((8, 3)) for _ in range(20)])
        hull = check(cloud)
        assert len(hull.vertices) >= 8
        assert spread > 1e-15 or len(hull.vertices) == 8


@pytest.mark.parametrize("thickness", THIN)
@pytest.mark.parametrize("turn", [np.eye(3), TURN], ids=["straight", "turned"])
def test_thin_boxes_and_clouds(thickness, turn):
    slack = 1.5 * thickness if thickness <= 1.5e-13 else 0.0
    rng = np.random.default_rng(6)
    for extents in ((1.0, 1.0, thickness), (1.0, thickness, thickness), (1.0, 1e-5, thickness)):
        box = check(grid(6, extents) @ turn.T, slack)
        if thickness >= 1e-12:
            assert (box.dimension, len(box.vertices)) == (3, 8)
            assert box.volume == pytest.approx(np.prod(extents), rel=1e-3)
        cloud = check((rng.standard_normal((150, 3)) * extents) @ turn.T, 8.0 * slack)
        assert cloud.dimension == 3 or thickness <= 2e-13
    plate = check(grid(6, (1.0, 1.0, thickness)) @ turn.T, slack)
    assert plate.dimension in ({2, 3} if 3e-14 < thickness < 3e-13 else {3} if thickness > 1e-13 else {2})


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-9, 1e9, 1e100])
def test_scales(scale):
    for points, count in ((grid(4) @ TURN.T, 8), (grid(4, (1, 1, 0)) @ TURN.T, 4), (grid(4, (1, 0, 0)) @ TURN.T, 2)):
        hull = build_hull(points * scale)
        assert len(hull.vertices) == count
        assert hull.defect <= 1e-14 * scale
    assert build_hull(grid(3) * 1e308).vertices.shape == (8, 3)
    assert build_hull(grid(3) * 1e-320).dimension == 3
    assert build_hull(np.array([[5e-324, 0.0, 0.0], [0.0, 0.0, 0.0]])).dimension == 1


@pytest.mark.parametrize("offset", [10.0, 1e3, 1e5, 1e7])
def test_hulls_far_from_the_origin(offset):
    shift = offset * np.array([1.0, -0.7, 0.3])
    assert len(check(grid(5) + np.round(shift)).vertices) == 8
    check(grid(5) @ TURN.T + shift)
    check(np.random.default_rng(7).standard_normal((300, 3)) + shift)
    # rounding at this offset makes flat sets thick, and a thickness of about 1e-13 is ignored
    check(grid(5, (1.0, 1.0, 0.0)) @ TURN.T + shift, 3e-13)
    check(grid(5, (1.0, 0.0, 0.0)) @ TURN.T + shift, 3e-13)


@pytest.mark.parametrize("sharpness", [1e-3, 1e-6, 1e-8, 1e-10])
def test_needle_tips_and_blades(sharpness):
    """A point beyond a sharp tip is far outside, although it is within rounding of every face plane."""
    rng = np.random.default_rng(8)
    ring = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.3], [0.0, 0.2, 1.0], [0.0, 0.1, -1.0]]) * sharpness
    tips = [[1.0 + s, 0.0, 0.0] for s in (0.0, 1e-9, 1e-7, 1e-5)] + [[-1.0, 0.0, 0.0]]
    for turn in (np.eye(3), TURN):
        hull = check(np.concatenate([ring, tips]) @ turn.T)
        assert 7 in hull.indices
        blade = np.concatenate([rng.uniform(-1, 1, (200, 3)) * (1.0, 1.0, sharpness)])
        blade[:, 2] *= 1.0 - np.abs(blade[:, 0])
        check(blade @ turn.T)


@pytest.mark.full
@pytest.mark.parametrize("name", ["sphere", "ball", "box", "turned box", "two spheres", "flat disc"])
def test_a_hundred_thousand_points(name):
    rng = np.random.default_rng(9)
    normal = rng.standard_normal((100_000, 3))
    unit = normal / np.linalg.norm(normal, axis=1)[:, None]
    ball = unit * rng.random((100_000, 1)) ** (1 / 3)
    points = {
        "sphere": unit,
        "ball": ball,
        "box": grid(46),
        "turned box": grid(46) @ TURN.T,
        "two spheres": np.concatenate([unit[:25_000], 0.9999 * unit[25_000:]]),
        "flat disc": (ball * (1.0, 1.0, 0.0)) @ TURN.T,
    }[name]
    hull = build_hull(points)
    assert excess(points, hull, 300) <= 4e-15
    assert len(hull.vertices) == {"box": 8, "turned box": 8, "sphere": 100_000}.get(name, len(hull.vertices))


def test_volume_equals_sum_of_tetrahedra():
    rng = np.random.default_rng(10)
    for count in (4, 5, 8, 30):
        points = rng.standard_normal((count, 3))
        hull = check(points)
        a, b, c = np.moveaxis(hull.vertices[hull.faces], 1, 0)
        outward = np.cross(b - a, c - a)
        assert (np.einsum("ij,ij->i", outward, a - hull.vertices.mean(axis=0)) > 0).all()
        assert ((hull.vertices[None] - a[:, None]) * outward[:, None]).sum(axis=2).max() <= 1e-13
        # the sum of tetrahedra with a common vertex is far more accurate than Monte Carlo
        apex = hull.vertices[0]
        volume = np.abs(np.einsum("ij,ij->i", np.cross(a - apex, b - apex), c - apex)).sum() / 6.0
        assert hull.volume == pytest.approx(volume, rel=1e-12)


coordinate = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-16, 1e-13, 3e-9, 1.0 + 2**-52, 1e-300]) | st.floats(-2.0, 2.0)


@given(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=25), st.booleans())
def test_hulls_of_extreme_coordinates(rows, turned):
    points = np.array(rows)
    check(points @ TURN.T if turned else points, 4e-13 * size_of(points))


@pytest.mark.full
@pytest.mark.skipif(MODE == "jit", reason="numba compiles in the process, and brings scipy")
def test_import_loads_neither_scipy_nor_numba():
    code = "import sys, gjk3d.geometry.hulls, gjk3d.shapes.measure; assert not {'scipy', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
