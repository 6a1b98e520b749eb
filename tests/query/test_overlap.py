"""What two polytopes have in common, against scipy's intersection of half-spaces and against plain numbers."""

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
def test_two_cubes_share_a_box_a_rectangle_an_edge_or_a_corner(shift, dimension, volume, centroid):
    both = gk.overlap(CUBE, CUBE, None, at(*shift))
    assert both.dimension == dimension
    assert len(both.vertices) == 2**dimension
    assert both.volume == pytest.approx(volume, abs=1e-15)
    assert np.allclose(both.centroid, centroid, atol=1e-15)


def test_none_where_they_are_apart_and_a_list_for_a_stack():
    poses = np.array([at(0, 0, 1.5), at(0, 0, 0.5), at(0, 0, np.nextafter(1, 2))])
    found = gk.overlap(CUBE, CUBE, None, poses)
    assert [hull is not None for hull in found] == gk.collide(CUBE, CUBE, None, poses).tolist()
    assert found[0] is None
    assert found[1].volume == pytest.approx(0.5)
    assert found[2].dimension == 2
    assert gk.overlap(CUBE, CUBE, None, poses[:0]) == []
    assert gk.overlap(CUBE, CUBE, None, poses[0]) is None


def test_a_flat_shape_cut_out_of_a_solid():
    square = gk.ConvexHull([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    both = gk.overlap(CUBE, square, None, at(0.75, 0, 0.2))
    assert both.dimension == 2
    assert np.allclose(both.bounds, [(-0.25, -0.5, 0.2), (0.5, 0.5, 0.2)])
    assert [len(polygon) for polygon in both.polygons] == [4, 4]
    needle = gk.Segment((0, 0, -2), (0, 0, 2))
    assert np.allclose(gk.overlap(needle, CUBE).bounds, [(0, 0, -0.5), (0, 0, 0.5)])
    assert np.allclose(gk.overlap(needle, square, at(0.5, 0.5, 0), None).vertices, [(0.5, 0.5, 0)])
    assert np.allclose(gk.overlap(gk.Point((0.1, 0, 0)), CUBE).vertices, [(0.1, 0, 0)])


def slow_corners(walls, size):
    """Where three walls meet in no other wall's outside, one triple after the other."""
    triples = np.array(list(itertools.combinations(range(len(walls)), 3)))
    normals, offsets = walls[triples, :3], -walls[triples, 3]
    clear = np.abs(np.linalg.det(normals)) > 1e-6
    places = np.linalg.solve(normals[clear], offsets[clear][..., None])[..., 0]
    return places[(places @ walls[:, :3].T + walls[:, 3] <= 1e-9 * size).all(axis=1)]


def test_corners_are_where_three_walls_meet():
    rng = np.random.default_rng(3)
    met = 0
    for k in range(60):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron"], 2))
        poses_a, poses_b = (p[0] for p in strategies.random_poses(rng, a, b, 1))
        shape_a, shape_b = build(a), build(b)
        both = gk.overlap(shape_a, shape_b, poses_a, poses_b)
        if both is None or both.dimension < 3:
            continue
        corners = [s.vertices @ p[:3, :3].T + p[:3, 3] for s, p in ((shape_a, poses_a), (shape_b, poses_b))]
        size = max(float(np.ptp(points, axis=0).max()) for points in corners)
        walls = np.unique(np.round(np.vstack([walls_of(points) for points in corners]), 12), axis=0)
        twin = slow_corners(walls, size)
        if both.volume < 1e-3 * size**3 or len(twin) < 4:
            continue
        met += 1
        gaps = np.linalg.norm(both.vertices[:, None] - twin[None], axis=2)
        assert gaps.min(axis=1).max() <= 1e-8 * size, k
        assert gaps.min(axis=0).max() <= 1e-5 * size, k
    assert met > 20


def test_one_question_and_a_stack_give_the_same_bits():
    rng = np.random.default_rng(5)
    for _ in range(10):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron", "hull"], 2))
        poses_a, poses_b = strategies.random_poses(rng, a, b, 8)
        shapes = build(a), build(b)
        stack = gk.overlap(*shapes, poses_a, poses_b)
        for k, found in enumerate(stack):
            for way in (np.array, np.ndarray.tolist, np.asfortranarray):
                one = gk.overlap(*shapes, way(poses_a[k]), way(poses_b[k]))
                assert (one is None) == (found is None)
                assert one is None or one.vertices.tobytes() == found.vertices.tobytes()


def test_an_overlap_is_a_hull_like_others_whatever_is_asked_of_it_first():
    def again():
        return gk.overlap(CUBE, CUBE, None, at(0.5, 0.25, 0.75))

    known = gk.ConvexHull(again().vertices)
    asks = [hash, repr, pickle.dumps, copy.deepcopy, lambda h: h.volume, lambda h: h.faces, lambda h: h._packed]
    asks += [lambda h: h == known, lambda h: gk.aabb(h), lambda h: gk.distance(h, CUBE), lambda h: h.polygons]
    for ask in asks:
        hull = again()
        ask(hull)
        assert hull == known
        assert hash(hull) == hash(known)
        assert hull.volume == known.volume
        assert hull.faces.tolist() == known.faces.tolist()
        assert pickle.loads(pickle.dumps(hull)) == known
        assert repr(hull) == repr(known)
        with pytest.raises(ValueError, match="read-only"):
            hull.vertices[0] = 0.0
        with pytest.raises(AttributeError, match="immutable"):
            hull._vertices = None
        with pytest.raises(AttributeError, match="'corners'"):
            getattr(hull, "corners")  # noqa: B009


def walls_of(points):
    return ConvexHull(points).equations


def test_solids_share_what_their_half_spaces_do():
    rng = np.random.default_rng(7)
    for k in range(60):
        a, b = (strategies.random_spec(rng, name) for name in rng.choice(["box", "tetrahedron", "hull"], 2))
        poses_a, poses_b = (p[0] for p in strategies.random_poses(rng, a, b, 1))
        shape_a, shape_b = build(a), build(b)
        apart = gk.signed_distance(shape_a, shape_b, poses_a, poses_b)
        both = gk.overlap(shape_a, shape_b, poses_a, poses_b)
        assert (both is None) == (apart.distance > 0), k
        if both is None or apart.distance > -1e-3:
            continue
        corners = [s.vertices @ p[:3, :3].T + p[:3, 3] for s, p in ((shape_a, poses_a), (shape_b, poses_b))]
        walls = np.vstack([walls_of(points) for points in corners])
        # the middle of the largest ball inside
        best = linprog([0, 0, 0, -1], np.c_[walls[:, :3], np.ones(len(walls))], -walls[:, 3], bounds=[(None, None)] * 4)
        inner = best.x[:3]
        twin = ConvexHull(HalfspaceIntersection(walls, inner).intersections)
        assert both.volume == pytest.approx(twin.volume, rel=1e-9)
        assert len(both.vertices) <= len(twin.points)
        for polygon in both.polygons:
            ring = both.vertices[polygon]
            across = np.cross(ring[1] - ring[0], ring[2] - ring[0])
            off = (both.vertices - ring[0]) @ across / np.linalg.norm(across)
            assert off.max() < 1e-9
            assert np.abs(off[polygon]).max() < 1e-9
        assert sorted(set(np.concatenate(both.polygons))) == list(range(len(both.vertices)))


@given(strategies.pairs(strategies._polytopes))
def test_any_overlap_lies_in_both_and_is_the_same_when_swapped(case):
    a, pose_a, b, pose_b = case
    shape_a, shape_b = build(a), build(b)
    both = gk.overlap(shape_a, shape_b, pose_a, pose_b)
    assert (both is not None) == gk.collide(shape_a, shape_b, pose_a, pose_b)
    if both is None:
        return
    bodies = naive.body(a, pose_a), naive.body(b, pose_b)
    size = max(body.size for body in bodies)
    offset = max(float(np.abs(pose[:3, 3]).max()) for pose in (pose_a, pose_b))
    for shape, pose in ((shape_a, pose_a), (shape_b, pose_b)):
        poses = np.tile(np.eye(4), (len(both.vertices), 1, 1))
        poses[:, :3, 3] = both.vertices
        outside = gk.distance(shape, gk.Point(), pose, poses)
        assert np.all(outside.lower <= 1e-11 * size + 1e-15 * offset)
    other = gk.overlap(shape_b, shape_a, pose_b, pose_a)
    assert both.volume == pytest.approx(other.volume, rel=1e-6, abs=1e-11 * size**3)
    assert np.allclose(both.bounds, other.bounds, rtol=0, atol=1e-9 * size + 1e-14 * offset)


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


def test_knife_edges_and_needles_end_where_they_do():
    """Beyond the edge of a plate thinner than rounding, all that its faces say is that a point is in their plane."""
    plate = gk.Tetrahedron([(-2, -2, -2e-12), (-2, -2, -1e-12), (-2, 0, -2e-12), (0, -2, -2e-12)])
    quarter = np.array([(0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1.0)])
    assert np.allclose(gk.overlap(plate, plate, None, quarter).vertices, [(0, -2, 0)], atol=1e-11)
    needle = gk.Tetrahedron([(0, 0, 1), (1e-13, 0, -1), (0, 1e-13, -1), (0, 0, -1)])
    assert np.allclose(gk.overlap(needle, needle, None, at(0, 0, 1.5)).bounds[:, 2], (0.5, 1))


def test_sums_unions_and_sweeps_of_polytopes_have_an_overlap():
    wide = gk.MinkowskiSum(CUBE, CUBE)  # twice as wide
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
        found = gk.overlap(shape, CUBE, None, at(*place))
        assert found.volume == pytest.approx(volume, abs=1e-12), (shape, place)
        assert gk.overlap(CUBE, shape, at(*place), None).volume == pytest.approx(volume, abs=1e-12)
        assert gk.overlap(shape, CUBE, None, at(0, 0, 9)) is None


def test_the_overlap_of_two_points_is_that_point():
    point = gk.Segment((-2, -2, -2), (-2, -2, -2))
    turn = naive.pose(Rotation.from_rotvec((np.pi / 4, 0, 0)).as_matrix(), (0, 0, 0))
    for pose in (None, turn):
        both = gk.overlap(point, point, pose, pose)
        assert both.vertices == pytest.approx(np.reshape(gk.aabb(point, pose).low, (1, 3)), abs=1e-12)


@given(strategies.pairs(strategies.polytopes.filter(lambda spec: naive.body(spec).radius == 0.0)))
def test_an_overlap_of_composed_polytopes_is_that_of_the_hulls_of_their_vertices(case):
    a, pose_a, b, pose_b = case
    shapes = build(a), build(b)
    both = gk.overlap(*shapes, pose_a, pose_b)
    assert (both is not None) == gk.collide(*shapes, pose_a, pose_b)
    twin = gk.overlap(*(gk.ConvexHull(naive.body(spec).points) for spec in (a, b)), pose_a, pose_b)
    size = max(naive.body(spec).size for spec in (a, b))
    # where they only just touch, one may have a common point that the other has not
    assert (both.volume if both else 0.0) == pytest.approx(twin.volume if twin else 0.0, rel=1e-6, abs=1e-9 * size**3)
