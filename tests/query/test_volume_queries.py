"""Overlap and distance of bounding volumes of all kinds, compared with bounded least squares and closed forms."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
from message_checks import assert_names
from scipy.optimize import lsq_linear

import gjk3d as gk
from gjk3d.convex.solve import placed_box
from gjk3d.errors import PoseError, ShapeError
from gjk3d.poses import pose_rows
from gjk3d.query.volumes import _pack_pairs
from gjk3d.shapes import layout
from gjk3d.shapes.layout import Core


def random_volumes(rng, kind, count, spread=0.8):
    """Return random volumes of one kind, including flat and tiny ones."""
    middle = rng.normal(size=(count, 3)) * spread
    if kind == "sphere":
        return gk.BoundingSphere(middle, rng.uniform(0, 1.5, count))
    lengths = rng.uniform(0, 3, (count, 3)) * (rng.random((count, 3)) > 0.1)
    if kind == "aabb":
        return gk.AABB(middle - lengths / 2, middle + lengths / 2)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = naive.random_rotations(rng, count), middle
    return gk.OBB(poses, lengths)


def parts(volume):
    """Return the centre, the half axes as columns, and the radius of one volume."""
    if isinstance(volume, gk.BoundingSphere):
        return volume.center, np.zeros((3, 3)), volume.radius
    if isinstance(volume, gk.AABB):
        return (volume.low + volume.high) / 2, np.diag(volume.high - volume.low) / 2, 0.0
    return volume.pose[:3, 3], volume.pose[:3, :3] * volume.extents / 2, 0.0


def slow_distance(a, b):
    """Return the distance of two boxes or balls by bounded least squares over their local coordinates."""
    (p, axes_a, r), (q, axes_b, s) = parts(a), parts(b)
    solution = lsq_linear(np.hstack([axes_a, -axes_b]), q - p, (-1.0, 1.0), method="bvls", tol=1e-14, max_iter=500)
    return max(0.0, float(np.linalg.norm(solution.fun)) - r - s)


KINDS = ("sphere", "aabb", "obb")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_overlap_and_distance_equal_least_squares(kind, other, rng):
    a, b = random_volumes(rng, kind, 120), random_volumes(rng, other, 120)
    hits, far = a.overlaps(b), a.distance(b)
    truth = np.array([slow_distance(a[k], b[k]) for k in range(120)])
    assert 0.25 < hits.mean() < 0.75
    np.testing.assert_allclose(far, truth, rtol=0, atol=2e-8)  # the accuracy of the least squares solution
    np.testing.assert_array_equal(hits, far <= 0.0)
    assert hits[truth < 1e-12].all()
    assert not hits[truth > 1e-7].any()
    np.testing.assert_allclose(b.distance(a), far, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(b.overlaps(a), hits)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_all_pairs_equal_single_queries(kind, other, rng):
    a, b = random_volumes(rng, kind, 7), random_volumes(rng, other, 5)
    hits, far = a.overlaps(b, all_pairs=True), a.distance(b, all_pairs=True)
    assert hits.shape == far.shape == (7, 5)
    for i in range(7):
        np.testing.assert_array_equal(hits[i], a[i].overlaps(b))
        np.testing.assert_array_equal(far[:, 2], a.distance(b[2]))
        for j in range(5):
            assert a[i].overlaps(b[j]) is bool(hits[i, j])
            assert a[i].distance(b[j]) == far[i, j]
    assert a[:0].overlaps(b, all_pairs=True).shape == (0, 5)
    assert a[:0].distance(b[:0]).shape == (0,)
    assert a[:0].overlaps(b[0]).shape == (0,)
    assert a[0].overlaps(b[0], all_pairs=True).shape == (1, 1)


def test_more_pairs_than_one_block(monkeypatch, rng):
    a, b = random_volumes(rng, "obb", 9), random_volumes(rng, "aabb", 8)
    hits = a.overlaps(b, all_pairs=True)
    monkeypatch.setattr("gjk3d.query.volumes._BLOCK", 7)
    np.testing.assert_array_equal(a.overlaps(b, all_pairs=True), hits)


@pytest.mark.parametrize("angle", [0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_nearly_parallel_boxes_that_share_a_point_overlap(angle, rng):
    """The cross product of nearly parallel edges is mostly rounding and must not separate overlapping boxes."""
    count = 400
    a = random_volumes(rng, "obb", count)
    poses = a.pose.copy()
    axis = naive.unit_vectors(rng, count)
    cross = np.cross(np.eye(3), axis[:, None, :])
    poses[:, :3, :3] = (np.eye(3) + angle * cross) @ poses[:, :3, :3]
    extents = a.extents * rng.uniform(0.5, 2, (count, 3))
    # a point near a corner, edge or face of B is moved into A; the second case separates B along a face normal
    inside = rng.uniform(-1, 1, (count, 3)) * (a.extents / 2) * 0.999999
    corner = np.sign(rng.normal(size=(count, 3))) * extents / 2 * rng.choice([1.0, 0.3], (count, 3)) * 0.999999
    target = np.einsum("nij,nj->ni", a.pose[:, :3, :3], inside) + a.pose[:, :3, 3]
    poses[:, :3, 3] = target - np.einsum("nij,nj->ni", poses[:, :3, :3], corner)
    solid = (a.extents > 0).all(axis=1)  # whether a flat box contains a point depends on rounding
    assert solid.mean() > 0.5
    assert gk.OBB(poses, extents).overlaps(a)[solid].all()
    reach = np.linalg.norm(a.extents, axis=1) / 2 + np.linalg.norm(extents, axis=1) / 2
    separated = poses.copy()
    separated[:, :3, 3] = a.pose[:, :3, 3] + a.pose[:, :3, 0] * (a.extents[:, :1] / 2 + 1e-9 + reach[:, None])
    assert not gk.OBB(separated, extents).overlaps(a).any()


def test_touching_volumes_overlap_and_one_ulp_separates():
    box = gk.AABB((0, 0, 0), (1, 1, 1))
    assert box.overlaps(gk.AABB((1, 1, 1), (2, 2, 2)))
    above = np.nextafter(1.0, 2.0)
    assert not box.overlaps(gk.AABB((above, 0, 0), (2, 1, 1)))
    assert 0 < box.distance(gk.AABB((above, 0, 0), (2, 1, 1))) <= above - 1.0
    ball = gk.BoundingSphere((0, 0, 0), 1)
    assert ball.overlaps(gk.BoundingSphere((2, 0, 0), 1))
    assert not ball.overlaps(gk.BoundingSphere((2 + 1e-14, 0, 0), 1))


def test_distance_of_volumes_is_at_most_that_of_shapes(rng):
    shapes = [gk.Cone(1, 2), gk.Ellipsoid((0.5, 1, 1.5)), gk.ConvexHull(rng.normal(size=(40, 3)))]
    poses = np.tile(np.eye(4), (300, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = naive.random_rotations(rng, 300), rng.normal(size=(300, 3)) * 3
    for a in shapes:
        for b in shapes:
            truth = gk.distance(a, b, None, poses)
            hits = gk.collide(a, b, None, poses)
            for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
                assert (fit(a).distance(fit(b, poses)) <= truth.upper).all()
                assert fit(a).overlaps(fit(b, poses))[hits].all()


def test_contains_equals_the_definition(rng):
    for kind in KINDS:
        stack = random_volumes(rng, kind, 40)
        points = rng.normal(size=(40, 3)) * 2
        hits = stack.contains(points, all_pairs=True)
        for k in range(40):
            middle, axes, radius = parts(stack[k])
            if kind == "sphere":
                truth = np.linalg.norm(points - middle, axis=1) <= radius
            else:
                local = np.linalg.lstsq(axes, (points - middle).T, rcond=None)[0].T
                off = np.linalg.norm(local @ axes.T - (points - middle), axis=1)
                truth = (np.abs(local) <= 1).all(axis=1) & (off < 1e-12)
            np.testing.assert_array_equal(hits[k], truth)
            np.testing.assert_array_equal(stack[k].contains(points), truth)
            assert stack[k].contains(points[3]) is bool(truth[3])
        np.testing.assert_array_equal(stack.contains(points), hits.diagonal())
        if kind != "sphere":
            corners = stack.corners
            assert all(stack[k].contains(corners[k]).all() for k in range(40))


def test_placed_volumes_contain_the_placed_points(rng):
    poses = np.tile(np.eye(4), (30, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = naive.random_rotations(rng, 30), rng.normal(size=(30, 3)) * 1e3
    for kind in KINDS:
        stack = random_volumes(rng, kind, 30)
        moved = stack.placed(poses)
        local = np.array([stack[k].shape.support(naive.unit_vectors(rng, 50)) for k in range(30)
                          if stack[k].volume > 0])  # fmt: skip
        full = np.array([k for k in range(30) if stack[k].volume > 0])
        assert len(full) > 10
        world = np.einsum(
            "nij,nkj->nki", poses[full, :3, :3], local * 0.999999 + 0.000001 * local.mean(axis=1)[:, None]
        )
        world += poses[full, None, :3, 3]
        assert all(moved[k].contains(world[n]).all() for n, k in enumerate(full))
        assert moved[2] == stack[2].placed(poses[2])
        assert stack.placed(poses[4])[2] == stack[2].placed(poses[4])
        assert stack[3].placed(poses)[5] == stack[3].placed(poses[5])
        most = {"sphere": 1.0, "obb": 1.0, "aabb": np.inf}[kind]  # an axis-aligned box grows when it is rotated
        assert (moved.volume[full] <= most * stack.volume[full] * (1 + 1e-6)).all()


# comparisons in rational numbers ------------------------------------------------------------------------------------


def tilted_poses(rng, count, far):
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = naive.random_rotations(rng, count), rng.normal(size=(count, 3)) * far
    return poses


def rational_pose(pose):
    """Return the rotation of a pose, its matrix after one polar step, and its translation in rational numbers."""
    row = pose_rows(pose)[0][0]
    return naive.exact(row[:9].reshape(3, 3)), naive.exact(row[9:12])


def length_above(vector):
    return naive.sqrt_above(vector @ vector)


def test_exactly_touching_spheres_overlap():
    rng = np.random.default_rng(31)
    centers, others, radii = rng.normal(size=(300, 3)), rng.normal(size=(300, 3)), rng.uniform(0.0, 0.1, 300)
    gaps = [length_above(offset) for offset in naive.exact(others) - naive.exact(centers)]
    rest = [naive.float_above(gap - Fraction(radius)) for gap, radius in zip(gaps, radii.tolist(), strict=True)]
    a, b = gk.BoundingSphere(centers, radii), gk.BoundingSphere(others, rest)
    assert a.overlaps(b).all()
    assert not a.distance(b).any()


def test_sphere_contains_exact_points_on_its_surface():
    rng = np.random.default_rng(32)
    centers, points = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    radii = [naive.float_above(length_above(offset)) for offset in naive.exact(points) - naive.exact(centers)]
    assert gk.BoundingSphere(centers, radii).contains(points).all()


def test_distances_of_volumes_are_exact_lower_bounds():
    rng = np.random.default_rng(33)
    centers, others, radii = rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + 5.0, rng.uniform(0.0, 1.0, (2, 300))
    offsets = naive.exact(others) - naive.exact(centers)
    far = gk.BoundingSphere(centers, radii[0]).distance(gk.BoundingSphere(others, radii[1]))
    for k, sums in enumerate(naive.exact(radii).sum(axis=0) + naive.exact(far)):
        assert sums**2 <= offsets[k] @ offsets[k]
    far = gk.AABB(centers - 5.0, centers).distance(gk.AABB(others, others + 5.0))
    for k, gaps in enumerate(np.maximum(offsets, Fraction(0))):
        assert Fraction(far[k]) ** 2 <= gaps @ gaps


#: magnitudes of the centres, of the volumes and of the translations, so that the rounding of each can dominate
SIZES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1e3)]


@pytest.mark.parametrize(("center", "size", "far"), SIZES)
def test_placed_sphere_contains_its_exact_diameters(center, size, far):
    rng = np.random.default_rng(34)
    centers, radii, poses = (
        rng.normal(size=(50, 3)) * center,
        rng.uniform(0.5, 1.0, 50) * size,
        tilted_poses(rng, 50, far),
    )
    moved = gk.BoundingSphere(centers, radii).placed(poses)
    for k in range(50):
        turn, shift = rational_pose(poses[k])
        for axis in np.vstack([np.eye(3), -np.eye(3)]):
            end = naive.exact(centers[k]) + Fraction(radii[k]) * naive.exact(axis)
            offset = turn @ end + shift - naive.exact(moved.center[k])
            assert offset @ offset <= Fraction(moved.radius[k]) ** 2


@pytest.mark.parametrize(("center", "size", "far"), SIZES)
def test_placed_aabb_contains_its_exact_corners(center, size, far):
    rng = np.random.default_rng(35)
    middle, halves, poses = (
        rng.normal(size=(30, 3)) * center,
        rng.uniform(0.5, 1.0, (30, 3)) * size,
        tilted_poses(rng, 30, far),
    )
    boxes = gk.AABB(middle - halves, middle + halves)
    moved = boxes.placed(poses)
    for k in range(30):
        turn, shift = rational_pose(poses[k])
        corners = naive.exact(boxes.corners[k]) @ turn.T + shift
        assert (corners.min(axis=0) >= naive.exact(moved.low[k])).all()
        assert (corners.max(axis=0) <= naive.exact(moved.high[k])).all()


def test_aabb_of_a_small_distant_shape_contains_its_exact_corners():
    rng = np.random.default_rng(37)
    poses = tilted_poses(rng, 50, 1e6)
    for pose, extents in zip(poses, 10.0 ** rng.uniform(-6.0, -4.0, (50, 3)), strict=True):
        box, (turn, shift) = gk.Box(extents), rational_pose(pose)
        placed = naive.exact(placed_box(Core(*box._packed), False, pose_rows(pose)[0], 0))
        corners = naive.exact(gk.AABB(-0.5 * extents, 0.5 * extents).corners) @ turn.T + shift
        assert (corners.min(axis=0) >= placed[:3]).all()
        assert (corners.max(axis=0) <= placed[3:]).all()


@pytest.mark.parametrize(("center", "size", "far"), SIZES)
def test_placed_obb_contains_its_exact_corners(center, size, far):
    rng = np.random.default_rng(36)
    box_poses, poses = tilted_poses(rng, 20, center), tilted_poses(rng, 20, far)
    extents = 10.0 ** rng.uniform(-4.0, 0.0, (20, 3)) * size  # in thin boxes the rounding of the long edges matters
    moved = gk.OBB(box_poses, extents).placed(poses)
    signs = naive.exact(np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1))
    for k in range(20):
        turn, shift = rational_pose(poses[k])
        edges, middle = naive.exact(box_poses[k, :3, :3]), naive.exact(box_poses[k, :3, 3])
        corners = turn @ (edges @ (signs * naive.exact(extents[k])[:, None] / 2) + middle[:, None]) + shift[:, None]
        offsets = corners - naive.exact(moved.pose[k, :3, 3])[:, None]
        local = naive.inverse(naive.exact(moved.pose[k, :3, :3])) @ offsets
        assert (2 * abs(local) <= naive.exact(moved.extents[k])[:, None]).all()


def test_obb_contains_its_corners_far_from_the_origin():
    rng = np.random.default_rng(38)
    boxes = gk.OBB(tilted_poses(rng, 100, 1e6), rng.uniform(0.0, 1.0, (100, 3)))
    for k, corners in enumerate(boxes.corners):
        assert boxes[k].contains(corners).all()


@pytest.mark.parametrize("far", [0.0, 1.0, 1e3])
def test_obb_contains_exact_points_on_its_faces(far):
    rng = np.random.default_rng(37)
    poses, points = tilted_poses(rng, 50, far), rng.normal(size=(50, 3))
    extents = np.empty((50, 3))
    for k, pose in enumerate(poses):
        local = naive.inverse(naive.exact(pose[:3, :3])) @ (naive.exact(points[k]) - naive.exact(pose[:3, 3]))
        extents[k] = [naive.float_above(2 * abs(c)) for c in local]
    assert gk.OBB(poses, extents).contains(points).all()


def test_cores_of_aabbs_contain_them_exactly():
    rng = np.random.default_rng(39)
    low, lengths = rng.normal(size=(100, 3)), rng.uniform(0.0, 1.0, (100, 3))
    boxes = gk.AABB(low, low + lengths)
    _, halves, _, rows = boxes._cores()
    middle, half = naive.exact(rows[:, 9:12]), naive.exact(halves)
    assert (middle - half <= naive.exact(boxes.low)).all()
    assert (middle + half >= naive.exact(boxes.high)).all()
    every = np.arange(100)
    table = _pack_pairs(boxes, boxes, every, every)[1].reshape(200, -1)
    for half, reach in zip(naive.exact(table[:, layout.FLOAT_HEAD :]), table[:, layout.RHO], strict=True):
        assert half @ half <= Fraction(reach) ** 2


def test_volumes_are_immutable_values(rng):
    for kind in KINDS:
        stack = random_volumes(rng, kind, 5)
        for volume in (stack, stack[2], stack[1:3], stack[[0, 4]], stack[np.arange(5) > 2]):
            for copied in (pickle.loads(pickle.dumps(volume)), copy.deepcopy(volume)):
                assert copied == volume
                assert hash(copied) == hash(volume)
        assert len(stack[1:3]) == 2
        assert stack[1:3][1] == stack[2]
        assert stack[0] != stack[1]
        assert repr(stack) == f"{type(stack).__name__}: 5 volumes"
        with pytest.raises(AttributeError, match="immutable"):
            stack.volume = 1
        with pytest.raises(ValueError, match="read-only"):
            getattr(stack, stack._names[0])[0] = 1
        with pytest.raises(TypeError, match=r"len\(\)"):
            len(stack[0])
        with pytest.raises(TypeError, match=r"one volume.*indexed"):
            stack[0][0]
        with pytest.raises(TypeError, match=r"stack of 5.*volumes\[i\]"):
            _ = stack.shape
    assert gk.AABB((0, 0, 0), (1, 2, 3)).volume == 6.0
    assert gk.BoundingSphere((0, 0, 0), 3.0).volume == pytest.approx(36 * np.pi)
    assert gk.AABB([(0, 0, 0)], [(1, 2, 3)]).volume.tolist() == [6.0]


def test_invalid_input_raises():
    ball, stack = gk.BoundingSphere((0, 0, 0), 1), gk.BoundingSphere(np.zeros((3, 3)), np.ones(3))
    for call, kind, fragments in [
        (lambda: gk.BoundingSphere((0, 0, 0), -1), ShapeError, ("BoundingSphere", "radius", "-1")),
        (lambda: gk.BoundingSphere((0, 0), 1), ShapeError, ("BoundingSphere", "center", "(1, 2)")),
        (lambda: gk.BoundingSphere((0, 0, np.nan), 1), ShapeError, ("center[0]", "nan")),
        (lambda: gk.BoundingSphere(np.zeros((2, 3)), [1, 2, 3]), ShapeError, ("stack of 3", "center is a stack of 2")),
        (lambda: gk.BoundingSphere(np.zeros((2, 3)), 1), ShapeError, ("radius is a single row", "stack of 2")),
        (lambda: gk.AABB((0, 0, 0), (1, -1, 1)), ShapeError, ("AABB", "low", "high", "-1.0")),
        (lambda: gk.OBB(np.eye(4), (1, -1, 1)), ShapeError, ("OBB", "extents", "-1")),
        (lambda: gk.OBB(np.eye(4)[None], (1, 1, 1)), ShapeError, ("OBB: pose is a stack of 1", "single row")),
        (lambda: gk.OBB(2 * np.eye(4), (1, 1, 1)), PoseError, ("OBB: pose", "[0.0, 0.0, 0.0, 2.0]")),
        (lambda: ball.overlaps(gk.Sphere(1)), ShapeError, ("Sphere", "gjk3d.aabb(shape, pose)")),
        (lambda: stack.distance(stack[:2]), ShapeError, ("3 volumes", "2 volumes", "all_pairs=True")),
        (lambda: stack.contains(np.zeros((2, 3))), ShapeError, ("3 volumes", "2 points", "all_pairs=True")),
        (lambda: ball.contains((0, 0)), ShapeError, ("points", "(1, 2)")),
        (lambda: stack.placed(np.tile(np.eye(4), (2, 1, 1))), ShapeError, ("placed", "2 poses", "3 volumes")),
    ]:
        with pytest.raises(kind) as caught:
            call()
        assert_names(caught.value, *fragments)
