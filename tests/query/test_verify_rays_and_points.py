"""`verify` proves correct results of rays and points for all kinds of shapes, and refutes changed results."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair

RING = trimesh.creation.torus(1.0, 0.3, 24, 12)
BALL = gk.Sphere(0.5).surface(12)
POSE = np.eye(4)
POSE[:3, :3], POSE[:3, 3] = Rotation.from_rotvec((0.1, 0.4, 0.2)).as_matrix(), (0.3, 0.2, 0.1)
SHAPES = {
    "ring": gk.Mesh(RING.vertices, RING.faces),
    "open": gk.Mesh(BALL.vertices, BALL.faces[:60]),
    "box": gk.Box((1, 2, 1)),
    "ball": gk.Sphere(0.8),
    "cylinder": gk.Cylinder(0.4, 1.0),
    "compound": gk.Compound([(gk.Box((1, 0.3, 0.3)), None), (gk.Sphere(0.4), POSE)]),
    "cloud": gk.PointCloud(BALL.vertices, 0.05),
    "voxels": gk.VoxelGrid(np.indices((3, 3, 3)).sum(axis=0) % 3 > 0, 0.3),
    "ground": gk.HeightField(np.arange(9.0).reshape(3, 3) % 2, 0.5, bottom=-1.0),
}


def rays_at(shape, rng, count=16):
    """Return rays, most of which hit the shape."""
    low, high = shape.bounds
    aims = rng.uniform(low, high, (count, 3)) @ POSE[:3, :3].T + POSE[:3, 3]
    starts = rng.uniform(-2, 2, (count, 3))
    return starts, aims - starts


@pytest.mark.parametrize("name", SHAPES)
def test_rays_are_proven_and_changed_rays_refuted(name, rng):
    shape, rays = SHAPES[name], rays_at(SHAPES[name], rng)
    for far in (np.inf, 1.5):
        assert gk.verify(gk.raycast(shape, *rays, POSE, max_distance=far), shape, (*rays, far), POSE).proven
    for change in (1.0 - 1e-9, 1.0 + 1e-9):
        hits = gk.raycast(shape, *rays, POSE)
        some = hits.hit & ~hits.inside
        assert some.any()
        hits.distance[some] *= change
        assert gk.verify(hits, shape, rays, POSE).refuted
    missed = gk.raycast(shape, *rays, POSE)
    k = int(np.flatnonzero(missed.hit & ~missed.inside)[0])
    missed.hit[k], missed.distance[k] = False, np.inf
    verdict = gk.verify(missed, shape, rays, POSE)
    assert verdict.refuted
    assert f"row {k}: the miss" in verdict.reasons[0]


@pytest.mark.parametrize("name", SHAPES)
def test_points_are_proven_and_changed_points_refuted(name, rng):
    shape, points = SHAPES[name], rng.uniform(-1.2, 1.2, (16, 3))
    for far in (np.inf, 0.3):
        near = shape.signed_distances(points, pose=POSE, max_distance=far)
        assert gk.verify(near, shape, points, POSE).proven
    for field, change in (("distance", 1e-9), ("lower", 1e-9), ("upper", -1e-9)):
        near = shape.signed_distances(points, pose=POSE)
        getattr(near, field)[:] += change
        assert gk.verify(near, shape, points, POSE).refuted, field
    far = shape.signed_distances(points, pose=POSE, max_distance=0.1)
    beyond = ~np.isfinite(far.distance)
    assert beyond.any()
    far.lower[beyond] = 10.0
    assert gk.verify(far, shape, points, POSE).refuted


def test_side_of_point_agrees_with_winding_number(rng):
    ring = SHAPES["ring"]
    points = np.vstack([RING.vertices[:8] * 0.99, RING.vertices[:8] * 1.01])
    near = ring.signed_distances(points)
    assert 0 < near.inside.sum() < 16
    assert gk.verify(near, ring, points).proven
    turned = near._replace(
        inside=~near.inside, distance=-near.distance, lower=-near.upper, upper=-near.lower, normal=-near.normal
    )
    verdict = gk.verify(turned, ring, points)
    assert verdict.refuted
    assert "winding number" in verdict.reasons[0]


def test_inner_triangles_count_only_if_they_enclose_volume():
    outer, inner = gk.Box((1, 1, 1)).surface(), gk.Box((0.4, 0.4, 0.4)).surface()
    nested = gk.Mesh(np.vstack([outer.vertices, inner.vertices]), np.vstack([outer.faces, inner.faces + 8]))
    stray = gk.Mesh(
        np.vstack([outer.vertices, [(0, 0, -0.2), (0.2, 0, -0.2), (0, 0, 0.2)]]), np.vstack([outer.faces, [(8, 9, 10)]])
    )
    points = np.array([(0.05, 0.1, 0.0), (0.3, -0.02, -0.1), (2.0, 0.0, 0.0)])
    for mesh, first in ((nested, -0.1), (stray, -0.4)):
        near = mesh.signed_distances(points)
        assert near.distance[0] == pytest.approx(first)
        assert gk.verify(near, mesh, points).proven


def test_verify_of_single_rays_and_stacks_of_poses(rng):
    ring, box = SHAPES["ring"], SHAPES["box"]
    assert gk.verify(gk.raycast(ring, (3, 0, 0.1), (-1, 0, 0)), ring, ((3, 0, 0.1), (-1, 0, 0))).proven
    assert gk.verify(gk.raycast(box, (0, 0.3, 0.1), (-1, 0, 0)), box, ((0, 0.3, 0.1), (-1, 0, 0))).proven
    poses = np.tile(np.eye(4), (50, 1, 1))
    poses[:, :3, 3] = rng.uniform(-0.5, 0.5, (50, 3))
    rays = np.tile((3.0, 0.1, 0.2), (50, 1)), np.tile((-1.0, 0.0, 0.0), (50, 1))
    hits = gk.raycast(ring, *rays, poses)
    assert gk.verify(hits, ring, rays, poses).proven
    assert not gk.verify(hits, ring, rays).proven


def test_grazing_ray_is_not_refuted():
    ball, rays = gk.Sphere(1.0), ((-3.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    verdict = gk.verify(gk.raycast(ball, *rays), ball, rays)
    assert not verdict.refuted


def test_verify_with_max_distance_and_without_sign(rng):
    cube = gk.Mesh(*gk.Box((4, 4, 4)).surface()[:2])
    points = np.array([(0, 0, 0), (1.9, 0, 0), (9, 0, 0)])
    for shape in (cube, gk.Box((4, 4, 4))):
        near = shape.signed_distances(points, max_distance=0.5)
        assert gk.verify(near, shape, points).proven
        near.upper[0] = -2.5
        assert gk.verify(near, shape, points).refuted
    verdict = gk.verify(cube.signed_distances(points, sign="none"), cube, points)
    assert not verdict.proven
    assert not verdict.refuted
    assert "signed distance" not in repr(verdict)


def test_alternatives_named_by_errors_work():
    field, rays = gk.HeightField(np.zeros((3, 3)), 1.0), ((0.7, 0.8, 2.0), (0.0, 0.0, -1.0))
    with pytest.raises(UnsupportedPair, match=r"HeightField.*\. Give it a bottom, HeightField\(\.\.\., bottom=z\)"):
        gk.verify(gk.raycast(field, *rays), field, rays)
    slab = gk.HeightField(field.heights, 1.0, bottom=-1.0)
    assert gk.verify(gk.raycast(slab, *rays), slab, rays).proven
    compound = gk.Compound([(gk.Box((1, 1, 1)), None)])
    with pytest.raises(ShapeError, match=r"directions is zero.*Use shape\.signed_distances for a point"):
        gk.raycast(compound, (0, 0, 0), (0, 0, 0))
    assert compound.signed_distances((0, 0, 0)).inside.all()


def test_hit_far_behind_shape_is_refuted():
    ring, rays = SHAPES["ring"], (np.array([(3.0, 0.1, 0.1)]), np.array([(-1.0, 0.0, 0.0)]))
    hits = gk.raycast(ring, *rays)
    hits.distance[:] = 1e308
    assert gk.verify(hits, ring, rays).refuted


def test_invalid_arguments_raise():
    plane, box, points = gk.Halfspace((0, 0, 1), 0.0), gk.Box((1, 1, 1)), np.zeros((2, 3))
    with pytest.raises(UnsupportedPair, match="a bounded shape, not a Halfspace"):
        gk.verify(plane.signed_distances(points), plane, points)
    every = gk.raycast(SHAPES["ring"], points, (1, 0, 0), hits="all")
    with pytest.raises(TypeError, match="of raycast with hits='first', not a RayHits"):
        gk.verify(every, SHAPES["ring"], (points, (1, 0, 0)))
    with pytest.raises(ShapeError, match="workers is 0"):
        gk.raycast(box, (3, 0, 0), (-1, 0, 0), workers=0)
    with pytest.raises(ShapeError, match="2 rows and b has 3 points"):
        gk.verify(box.signed_distances(points), box, np.zeros((3, 3)))
    with pytest.raises(ShapeError, match="1 rows and b has 2 rays"):
        gk.verify(gk.raycast(box, (3, 0, 0), (1, 0, 0)), box, (points, (1, 0, 0)))


@pytest.mark.parametrize("name", ["box", "ball", "cylinder"])
def test_rays_far_from_the_origin_are_not_refuted(name, rng):
    """The coordinates of a hit have the rounding of the place."""
    far = np.array((1e6, 2e6, 3e6))
    pose = POSE.copy()
    pose[:3, 3] += far
    starts, directions = rays_at(SHAPES[name], rng)
    result = gk.raycast(SHAPES[name], starts + far, directions, pose)
    assert not gk.verify(result, SHAPES[name], (starts + far, directions), pose).refuted
