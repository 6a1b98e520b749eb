"""Overlap of two polytopes or meshes, compared with scipy's HalfspaceIntersection and with closed forms."""

from __future__ import annotations

import copy
import itertools
import pickle

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation
from strategies import SHAPES, build

import gjk3d as gk

CUBE = gk.Box((1, 1, 1))
SOLIDS = [SHAPES[name] for name in ("box", "tetrahedron", "hull")]


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


@pytest.mark.parametrize(
    ("shift", "dimension", "volume", "centroid"),
    [
        ((0, 0, 0), 3, 1.0, (0, 0, 0)),
        ((0.5, 0.5, 0.75), 3, 0.0625, (0.25, 0.25, 0.375)),
        ((0.25, 0, 1), 2, 0.0, (0.125, 0, 0.5)),
        ((1, 0.5, -1), 1, 0.0, (0.5, 0.25, -0.5)),
        ((1, 1, 1), 0, 0.0, (0.5, 0.5, 0.5)),
    ],
)
def test_overlap_of_two_cubes(shift, dimension, volume, centroid):
    overlap = gk.overlap(CUBE, CUBE, None, at(*shift))
    assert overlap.dimension == dimension
    assert len(overlap.vertices) == 2**dimension
    assert overlap.volume == pytest.approx(volume, abs=1e-15)
    assert np.allclose(overlap.centroid, centroid, atol=1e-15)


def test_stack_gives_a_list_with_none_for_separated_shapes():
    poses = np.array([at(0, 0, 1.5), at(0, 0, 0.5), at(0, 0, np.nextafter(1, 2))])
    overlaps = gk.overlap(CUBE, CUBE, None, poses)
    assert [hull is not None for hull in overlaps] == gk.collide(CUBE, CUBE, None, poses).tolist()
    assert overlaps[0] is None
    assert overlaps[1].volume == pytest.approx(0.5)
    assert overlaps[2].dimension == 2
    assert gk.overlap(CUBE, CUBE, None, poses[:0]) == []
    assert gk.overlap(CUBE, CUBE, None, poses[0]) is None


def test_overlap_with_flat_shape():
    square = gk.ConvexHull([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    overlap = gk.overlap(CUBE, square, None, at(0.75, 0, 0.2))
    assert overlap.dimension == 2
    assert np.allclose(overlap.bounds, [(-0.25, -0.5, 0.2), (0.5, 0.5, 0.2)])
    assert [len(polygon) for polygon in overlap.polygons] == [4, 4]
    needle = gk.Segment((0, 0, -2), (0, 0, 2))
    assert np.allclose(gk.overlap(needle, CUBE).bounds, [(0, 0, -0.5), (0, 0, 0.5)])
    assert np.allclose(gk.overlap(needle, square, at(0.5, 0.5, 0), None).vertices, [(0.5, 0.5, 0)])
    assert np.allclose(gk.overlap(gk.Point((0.1, 0, 0)), CUBE).vertices, [(0.1, 0, 0)])


def slow_corners(walls, size):
    """Return the intersections of all triples of planes that are not outside any other plane."""
    triples = np.array(list(itertools.combinations(range(len(walls)), 3)))
    normals, offsets = walls[triples, :3], -walls[triples, 3]
    clear = np.abs(np.linalg.det(normals)) > 1e-6
    places = np.linalg.solve(normals[clear], offsets[clear][..., None])[..., 0]
    return places[(places @ walls[:, :3].T + walls[:, 3] <= 1e-9 * size).all(axis=1)]


def test_vertices_are_intersections_of_three_planes():
    rng = np.random.default_rng(3)
    compared = 0
    for k in range(60):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron"], 2))
        poses_a, poses_b = (p[0] for p in strategies.random_poses(rng, a, b, 1))
        shape_a, shape_b = build(a), build(b)
        overlap = gk.overlap(shape_a, shape_b, poses_a, poses_b)
        if overlap is None or overlap.dimension < 3:
            continue
        corners = [s.vertices @ p[:3, :3].T + p[:3, 3] for s, p in ((shape_a, poses_a), (shape_b, poses_b))]
        size = max(float(np.ptp(points, axis=0).max()) for points in corners)
        walls = np.unique(np.round(np.vstack([walls_of(points) for points in corners]), 12), axis=0)
        expected = slow_corners(walls, size)
        if overlap.volume < 1e-3 * size**3 or len(expected) < 4:
            continue
        compared += 1
        gaps = np.linalg.norm(overlap.vertices[:, None] - expected[None], axis=2)
        assert gaps.min(axis=1).max() <= 1e-8 * size, k
        assert gaps.min(axis=0).max() <= 1e-5 * size, k
    assert compared > 20


def test_single_overlap_equals_row_of_stack():
    rng = np.random.default_rng(5)
    for _ in range(10):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron", "hull"], 2))
        poses_a, poses_b = strategies.random_poses(rng, a, b, 8)
        shapes = build(a), build(b)
        stack = gk.overlap(*shapes, poses_a, poses_b)
        for k, row in enumerate(stack):
            for convert in (np.array, np.ndarray.tolist, np.asfortranarray):
                single = gk.overlap(*shapes, convert(poses_a[k]), convert(poses_b[k]))
                assert (single is None) == (row is None)
                assert single is None or single.vertices.tobytes() == row.vertices.tobytes()


def test_lazy_overlap_equals_a_hull_after_any_first_access():
    def again():
        return gk.overlap(CUBE, CUBE, None, at(0.5, 0.25, 0.75))

    expected = gk.ConvexHull(again().vertices)
    accesses = [hash, repr, pickle.dumps, copy.deepcopy, lambda h: h.volume, lambda h: h.faces, lambda h: h._packed]
    accesses += [lambda h: h == expected, lambda h: gk.aabb(h), lambda h: gk.distance(h, CUBE), lambda h: h.polygons]
    for access in accesses:
        hull = again()
        access(hull)
        assert hull == expected
        assert hash(hull) == hash(expected)
        assert hull.volume == again().volume == pytest.approx(expected.volume, rel=1e-15)
        assert pickle.loads(pickle.dumps(hull)).volume == hull.volume
        assert hull.faces.tolist() == expected.faces.tolist()
        assert pickle.loads(pickle.dumps(hull)) == expected
        assert repr(hull) == repr(expected)
        with pytest.raises(ValueError, match="read-only"):
            hull.vertices[0] = 0.0
        with pytest.raises(AttributeError, match="immutable"):
            hull._vertices = None
        with pytest.raises(AttributeError, match="'corners'"):
            getattr(hull, "corners")  # noqa: B009


def walls_of(points):
    return ConvexHull(points).equations


def test_overlap_agrees_with_halfspace_intersection():
    rng = np.random.default_rng(7)
    for k in range(60):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron", "hull"], 2))
        poses_a, poses_b = (p[0] for p in strategies.random_poses(rng, a, b, 1))
        shape_a, shape_b = build(a), build(b)
        result = gk.signed_distance(shape_a, shape_b, poses_a, poses_b)
        overlap = gk.overlap(shape_a, shape_b, poses_a, poses_b)
        assert (overlap is None) == (result.distance > 0), k
        if overlap is None or result.distance > -1e-3:
            continue
        corners = [s.vertices @ p[:3, :3].T + p[:3, 3] for s, p in ((shape_a, poses_a), (shape_b, poses_b))]
        walls = np.vstack([walls_of(points) for points in corners])
        # the centre of the largest ball inside the overlap
        best = linprog([0, 0, 0, -1], np.c_[walls[:, :3], np.ones(len(walls))], -walls[:, 3], bounds=[(None, None)] * 4)
        inner = best.x[:3]
        expected = ConvexHull(HalfspaceIntersection(walls, inner).intersections)
        assert overlap.volume == pytest.approx(expected.volume, rel=1e-9)
        assert len(overlap.vertices) <= len(expected.points)
        for polygon in overlap.polygons:
            ring = overlap.vertices[polygon]
            across = np.cross(ring[1] - ring[0], ring[2] - ring[0])
            off = (overlap.vertices - ring[0]) @ across / np.linalg.norm(across)
            assert off.max() < 1e-9
            assert np.abs(off[polygon]).max() < 1e-9
        assert sorted(set(np.concatenate(overlap.polygons))) == list(range(len(overlap.vertices)))


@given(strategies.pairs(strategies._polytopes))
def test_overlap_is_inside_both_shapes_and_symmetric(case):
    a, pose_a, b, pose_b = case
    shape_a, shape_b = build(a), build(b)
    overlap = gk.overlap(shape_a, shape_b, pose_a, pose_b)
    assert (overlap is not None) == gk.collide(shape_a, shape_b, pose_a, pose_b)
    if overlap is None:
        return
    bodies = naive.body(a, pose_a), naive.body(b, pose_b)
    size = max(body.size for body in bodies)
    offset = max(float(np.abs(pose[:3, 3]).max()) for pose in (pose_a, pose_b))
    for shape, pose in ((shape_a, pose_a), (shape_b, pose_b)):
        poses = np.tile(np.eye(4), (len(overlap.vertices), 1, 1))
        poses[:, :3, 3] = overlap.vertices
        outside = gk.distance(shape, gk.Point(), pose, poses)
        assert np.all(outside.lower <= 1e-11 * size + 1e-15 * offset)
    swapped = gk.overlap(shape_b, shape_a, pose_b, pose_a)
    assert overlap.volume == pytest.approx(swapped.volume, rel=1e-6, abs=1e-11 * size**3)
    assert np.allclose(overlap.bounds, swapped.bounds, rtol=0, atol=1e-9 * size + 1e-14 * offset)


@pytest.mark.parametrize(
    "shape", [gk.Sphere(1), gk.Cylinder(1, 1), gk.Box((1, 1, 1)).inflated(0.1), gk.Halfspace((0, 0, 1))]
)
def test_only_polytopes_have_an_overlap(shape):
    with pytest.raises(gk.errors.UnsupportedPair, match=rf"\b{type(shape).__name__}\b.*(ConvexHull|large gjk3d\.Box)"):
        gk.overlap(CUBE, shape)


def test_centroids_and_polygons_of_hulls():
    turn = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix()
    prism = gk.ConvexHull(np.array([(x, y, z) for x, y in ((0, 0), (3, 0), (0, 3)) for z in (-1, 1)]) @ turn.T + 5)
    assert np.allclose(prism.centroid, turn @ (1, 1, 0) + 5, atol=1e-14)
    assert sorted(len(polygon) for polygon in prism.polygons) == [3, 3, 4, 4, 4]
    flat = gk.ConvexHull([(0, 0, 1), (3, 0, 1), (0, 3, 1), (1, 1, 1)])
    assert np.allclose(flat.centroid, (1, 1, 1), atol=1e-15)
    assert np.allclose(gk.ConvexHull([(0, 0, 0), (2, 0, 0), (0.1, 0, 0)]).centroid, (1, 0, 0))
    assert gk.ConvexHull([(0, 0, 0), (2, 0, 0)]).polygons == []


def test_overlap_of_thin_plates_and_needles_is_bounded():
    """The faces of a plate thinner than rounding do not bound the overlap at its edges."""
    plate = gk.Tetrahedron([(-2, -2, -2e-12), (-2, -2, -1e-12), (-2, 0, -2e-12), (0, -2, -2e-12)])
    quarter = np.array([(0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1.0)])
    assert np.allclose(gk.overlap(plate, plate, None, quarter).vertices, [(0, -2, 0)], atol=1e-11)
    needle = gk.Tetrahedron([(0, 0, 1), (1e-13, 0, -1), (0, 1e-13, -1), (0, 0, -1)])
    assert np.allclose(gk.overlap(needle, needle, None, at(0, 0, 1.5)).bounds[:, 2], (0.5, 1))


def test_sums_unions_and_sweeps_have_an_overlap():
    wide = gk.MinkowskiSum(CUBE, CUBE)  # a cube of size 2
    roof = gk.ConvexUnion(gk.Point((0, 0, 2.5)), CUBE)
    turn = naive.pose(Rotation.from_rotvec([0, 0, np.pi / 2]).as_matrix())
    for shape, place, volume in (
        (wide, (1, 1, 1), 0.125),
        (wide.placed(at(0, 0.5, 0)), (1, 1, 1), 0.25),
        (wide.scaled((1, 1, 0.5)).placed(turn), (1, 0, 0.5), 0.25),
        (gk.Rounded(wide, 0.0), (1, 0, 0), 0.5),
        (gk.Swept(CUBE, (2, 0, 0)), (2, 0, 0.25), 0.75),
        (gk.Swept(CUBE, gk.Motion.translation(None, (2, 0, 0))), (3, 0, 0), 0.0),
        (roof, (0, 0, 1), 7 / 12),
    ):
        overlap = gk.overlap(shape, CUBE, None, at(*place))
        assert overlap.volume == pytest.approx(volume, abs=1e-12), (shape, place)
        assert gk.overlap(CUBE, shape, at(*place), None).volume == pytest.approx(volume, abs=1e-12)
        assert gk.overlap(shape, CUBE, None, at(0, 0, 9)) is None


def test_overlap_of_two_points_is_the_point():
    point = gk.Segment((-2, -2, -2), (-2, -2, -2))
    turn = naive.pose(Rotation.from_rotvec((np.pi / 4, 0, 0)).as_matrix(), (0, 0, 0))
    for pose in (None, turn):
        overlap = gk.overlap(point, point, pose, pose)
        assert overlap.vertices == pytest.approx(np.reshape(gk.aabb(point, pose).low, (1, 3)), abs=1e-12)


@given(strategies.pairs(strategies.polytopes.filter(lambda spec: naive.body(spec).radius == 0.0)))
def test_overlap_of_composed_shapes_equals_that_of_hulls(case):
    a, pose_a, b, pose_b = case
    shapes = build(a), build(b)
    overlap = gk.overlap(*shapes, pose_a, pose_b)
    assert (overlap is not None) == gk.collide(*shapes, pose_a, pose_b)
    expected = gk.overlap(*(gk.ConvexHull(naive.body(spec).points) for spec in (a, b)), pose_a, pose_b)
    size = max(naive.body(spec).size for spec in (a, b))
    # if the shapes only touch, rounding decides whether there is a common point
    assert (overlap.volume if overlap else 0.0) == pytest.approx(
        expected.volume if expected else 0.0, rel=1e-6, abs=1e-9 * size**3
    )


def turned(seed, shift=(0, 0, 0)):
    return naive.pose(Rotation.random(random_state=seed).as_matrix(), shift)


def is_built(x):
    try:
        object.__getattribute__(x, "_vertices")
    except AttributeError:
        return False
    return True


def bulk_of(hull):
    """Return volume and centroid of an overlap before its vertices are built, and of the hull of its vertices."""
    volume, centroid = hull.volume, hull.centroid
    assert not is_built(hull)
    built = gk.ConvexHull(hull.vertices)
    assert hull.volume == volume
    return volume, centroid, built.volume, built.centroid


@pytest.mark.parametrize("count", [8, 24, 25, 300, 2048])
def test_volume_and_centroid_do_not_build_vertices(count):
    rng = np.random.default_rng(count)
    points = rng.normal(size=(2, count, 3))
    a, b = (gk.ConvexHull(cloud / np.linalg.norm(cloud, axis=1)[:, None]) for cloud in points)
    for shift in ((0.5, 0.25, 0.125), (1e-3, 0, 0), (0.9, 0.9, 0)):
        volume, centroid, built, middle = bulk_of(
            gk.overlap(a, b, turned(1, (3, 4, 5)), turned(2, np.add(shift, (3, 4, 5))))
        )
        assert volume == pytest.approx(built, rel=1e-11)
        assert np.allclose(centroid, middle, rtol=0, atol=1e-11)
    volume, centroid, *_ = bulk_of(gk.overlap(a, a))
    assert volume == pytest.approx(a.volume, rel=1e-12)
    assert np.allclose(centroid, a.centroid, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_coplanar_faces_count_once(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        a, b = (gk.ConvexHull(rng.integers(-2, 3, size=(12, 3)).astype(float)) for _ in range(2))
        world, local = turned(rng.integers(99), rng.normal(size=3)), np.eye(4)
        local[:3, :3] = Rotation.from_rotvec([0, 0, np.pi / 2 * rng.integers(4)]).as_matrix()
        local[:3, 3] = rng.choice([0, 0.25, 0.5, -1], 3)
        overlap = gk.overlap(a, b, world, world @ local)
        if overlap is None or overlap.volume < 1e-6:
            continue
        expected = HalfspaceIntersection(
            np.vstack([walls_of(a.vertices), walls_of(b.vertices @ local[:3, :3].T + local[:3, 3])]),
            world[:3, :3].T @ (overlap.centroid - world[:3, 3]),
        )
        assert overlap.volume == pytest.approx(ConvexHull(expected.intersections).volume, rel=1e-9)


def test_volume_with_nearly_parallel_faces():
    for angle in 10.0 ** -np.arange(2.0, 13.0):
        pose = naive.pose(Rotation.from_rotvec([angle, 2 * angle, 0]).as_matrix(), (0.25, 0.5, 0))
        assert gk.overlap(CUBE, CUBE, None, pose).volume == pytest.approx(0.375, abs=2 * angle + 1e-10)


def mesh_of(shape):
    return gk.Mesh(*shape.surface()[:2])


# a function, not a constant: manifold3d reports the cached solids of meshes that live until the end of the process
def cube():
    return mesh_of(CUBE)


FRAME_ARRAYS = (
    [(x, y, z) for z in (0, 1) for s in (2, 1) for x, y in ((-s, -s), (s, -s), (s, s), (-s, s))],
    [
        face
        for k in range(4)
        for j in [(k + 1) % 4]
        for face in (
            (k, 8 + j, 8 + k), (k, j, 8 + j), (4 + k, 12 + k, 12 + j), (4 + k, 12 + j, 4 + j),
            (8 + k, 8 + j, 12 + j), (8 + k, 12 + j, 12 + k), (k, 4 + j, j), (k, 4 + k, 4 + j),
        )
    ],
)  # fmt: skip


def frame():
    """Return a square plate with a square hole."""
    return gk.Mesh(*FRAME_ARRAYS)


def test_overlap_of_meshes_is_a_lazy_mesh():
    assert frame().is_watertight
    assert frame().volume == pytest.approx(12)
    overlap = gk.overlap(frame(), cube(), None, at(1.5, 0, 0.75))
    assert overlap.volume == pytest.approx(0.75)
    assert np.allclose(overlap.centroid, (1.5, 0, 0.625), atol=1e-12)
    assert not is_built(overlap)
    assert isinstance(overlap, gk.Mesh)
    assert overlap.is_watertight
    assert np.allclose(overlap.bounds, [(1, -0.5, 0.25), (2, 0.5, 1)])
    assert mesh_of(overlap.hull()).volume == pytest.approx(0.75)
    swapped = gk.overlap(cube(), frame(), at(1.5, 0, 0.75), None)
    assert pickle.loads(pickle.dumps(swapped)).volume == pytest.approx(0.75)
    assert gk.overlap(
        frame(), cube(), turned(3, (5, 6, 7)), turned(3, (5, 6, 7)) @ at(1.5, 0, 0.75)
    ).volume == pytest.approx(0.75)


def test_overlap_of_mesh_and_polytope_excludes_holes():
    assert gk.overlap(frame(), gk.Box((1, 1, 8))) is None
    assert gk.overlap(frame(), gk.Box((4, 4, 1))).volume == pytest.approx(6)
    assert gk.overlap(gk.Box((4, 4, 1)), frame(), None, at(0, 0, -0.25)).volume == pytest.approx(9)
    stack = gk.overlap(cube(), CUBE, np.array([at(0, 0, 3), at(0, 0, 0.25)]))
    assert stack[0] is None
    assert stack[1].volume == pytest.approx(0.75)
    assert gk.overlap(cube(), cube(), np.zeros((0, 4, 4))) == []


def test_intersecting_parts_of_a_mesh_are_united():
    part = cube()
    twice = gk.Mesh(np.vstack([part.vertices, part.vertices + (0.5, 0, 0)]), np.vstack([part.faces, part.faces + 8]))
    assert twice.volume == pytest.approx(2)
    assert gk.overlap(twice, gk.Box((9, 9, 9))).volume == pytest.approx(1.5)


@pytest.mark.parametrize("shift", [(0, 0, 1), (1, 1, 0), (1, 1, 1), (0.5, 0.25, 1)])
def test_touching_meshes_have_a_common_point_and_no_volume(shift):
    overlap = gk.overlap(cube(), cube(), None, at(*shift))
    assert overlap.volume == 0.0
    low, high = np.maximum(-0.5, np.subtract(shift, 0.5)), np.minimum(0.5, np.add(shift, 0.5))
    for points in (overlap.vertices, overlap.centroid):
        assert (points >= low - 1e-12).all()
        assert (points <= high + 1e-12).all()
    assert gk.overlap(cube(), cube(), None, at(*np.multiply(shift, 1.001))) is None


def test_open_meshes_and_other_bodies_raise(monkeypatch):
    square = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    with pytest.raises(gk.errors.ShapeError, match="b has 3 open edges"):
        gk.overlap(cube(), square)
    with pytest.raises(gk.errors.UnsupportedPair, match="b is flat"):
        gk.overlap(cube(), gk.Triangle([(0, 0, 0), (1, 0, 0), (0, 1, 0)]))
    with pytest.raises(gk.errors.UnsupportedPair, match=r"b is a Sphere.*ConvexHull"):
        gk.overlap(cube(), gk.Sphere(1))
    with pytest.raises(gk.errors.UnsupportedPair, match=r"PointCloud.*Mesh\(\*body"):
        gk.overlap(cube(), gk.PointCloud([(0, 0, 0)], 0.1))
    with pytest.raises(gk.errors.UnsupportedPair, match="a is in meters and b is in millimeters"):
        gk.overlap(cube().scaled(1, unit="meters"), cube().scaled(1, unit="millimeters"))
    assert gk.overlap(cube().scaled(1, unit="meters"), cube()).unit == "meters"
    monkeypatch.setattr("gjk3d.bodies.solids.available", lambda: False)
    with pytest.raises(ImportError, match=r"pip install 'gjk3d\[mesh\]'"):
        gk.overlap(cube(), cube())


def test_centroids_of_meshes():
    corners, faces = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    assert gk.Mesh(np.add(corners, 1e3), faces).centroid == pytest.approx([1000.25] * 3, rel=1e-14)
    assert gk.Mesh(corners, np.flip(faces, axis=1)).centroid == pytest.approx([0.25] * 3)
    assert np.allclose(frame().centroid, (0, 0, 0.5))
    assert gk.Mesh(corners, [(0, 1, 2), (0, 2, 1)]).centroid.shape == (3,)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_do_not_change_results(workers):
    poses = np.array([turned(k, (0.06 * k, 0, 0)) for k in range(40)])
    rough, box = gk.ConvexHull(np.random.default_rng(1).normal(size=(30, 3))), gk.Box((1, 2, 3))
    for a, b in ((rough, box), (cube(), rough)):
        serial, threaded = gk.overlap(a, b, None, poses), gk.overlap(a, b, None, poses, workers=workers)
        assert [x and (x.volume, x.vertices.tolist()) for x in serial] == [
            x and (x.volume, x.vertices.tolist()) for x in threaded
        ]
    assert gk.overlap(cube(), box, None, at(9, 0, 0) @ poses, workers=workers) == [None] * 40
    serial, threaded = (
        gk.separating_axis(rough, box, None, poses),
        gk.separating_axis(rough, box, None, poses, workers=workers),
    )
    assert serial.normal.tobytes() == threaded.normal.tobytes()
    steps = np.linspace(0.1, 9, 40)[:, None] * (1, 0, 0)
    serial, threaded = (gk.shapecast(rough, cube(), steps, None, at(8, 0, 0), workers=w) for w in (1, workers))
    assert serial.time.tobytes() == threaded.time.tobytes()
    for query in (gk.overlap, gk.separating_axis):
        with pytest.raises(gk.errors.ShapeError, match="workers"):
            query(CUBE, CUBE, workers=0)
