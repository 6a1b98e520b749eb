"""Trees by address: a store returns the arrays of each body, and free space around a body contains no point of it."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.bodies.bvh import head_of, tree_in
from gjk3d.bodies.distance import collide
from gjk3d.bodies.parts import complete, parts_of
from gjk3d.bodies.raycast import ray_trees_of
from gjk3d.bodies.tree_collision import tree_scratch, two_at
from gjk3d.convex.batch import Rows
from gjk3d.engine.pairs import ShapeStore
from gjk3d.engine.store import NO, UNSURE, YES, free_around, free_distance, pair_collides, store_of, tree_at
from gjk3d.poses import pose_rows

BALL = gk.Mesh.from_trimesh(trimesh.creation.icosphere(2, radius=1.0))
TORUS = gk.Mesh.from_trimesh(trimesh.creation.torus(2.0, 0.5))
BODIES = {
    "closed": BALL,
    "torus": TORUS,
    "sheet": gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0.3)], [(0, 1, 2), (1, 3, 2)]),
    "cloud": gk.PointCloud([(0, 0, 0), (1, 0, 0), (0, 2, 0.5)], 0.1),
    "voxels": gk.VoxelGrid(np.indices((4, 4, 4)).sum(axis=0) % 3 == 0, 0.5),
    "compound": gk.Compound([(gk.Box((1, 2, 3)), None), (gk.Sphere(0.7), np.eye(4) + np.eye(4, k=3) * 2)]),
    "ground": gk.HeightField(np.arange(16.0).reshape(4, 4) % 3, 0.5, bottom=-1.0),
    "capsule": gk.Capsule(0.3, 1.0),
}


@pytest.mark.parametrize("name", BODIES)
def test_store_returns_the_arrays_of_the_tree_without_a_copy(name):
    store = store_of([None, BODIES[name]])
    tree, expected = tree_at(store, 1), parts_of(BODIES[name]).given
    for field, array, wanted in zip(expected._fields, tree, expected, strict=True):
        assert np.array_equal(array, wanted), field
        if np.size(wanted) and np.ndim(wanted):
            assert np.shares_memory(array, wanted), field


def test_bodies_with_the_same_parts_have_equal_heads():
    store = store_of([BALL, TORUS, BALL])
    assert np.array_equal(store.heads[0], store.heads[2])
    assert not np.array_equal(store.heads[0], store.heads[1])


@pytest.mark.parametrize("name", [name for name in BODIES if name != "ground"])
def test_free_distance_is_never_more_than_the_distance(name, rng):
    body, tree = BODIES[name], parts_of(BODIES[name]).given
    positive = 0
    for p in rng.uniform(-3.0, 3.0, (60, 3)):
        point = np.eye(4)
        point[:3, 3] = p
        true = gk.signed_distance(body, gk.Point((0, 0, 0)), None, point)
        free = free_distance(tree, tuple(p), 2.0, tree_scratch())
        assert 0.0 <= free <= min(max(true.upper, 0.0), 2.0) * (1.0 + 1e-12)
        positive += free > 0.0
    assert positive > 10


def test_point_inside_a_closed_body_is_not_free():
    assert free_distance(complete(parts_of(BALL)), (0.0, 0.0, 0.0), 0.5, tree_scratch()) == 0.0
    assert free_distance(complete(parts_of(TORUS)), (0.0, 0.0, 0.0), 0.5, tree_scratch()) == 0.5


def test_height_field_has_no_free_space():
    assert free_distance(parts_of(BODIES["ground"]).given, (0.0, 0.0, 50.0), 1.0, tree_scratch()) == 0.0


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_free_space_around_a_ball_excludes_rounding_errors(far):
    """A ball that touches the box has no free space, because the rounding term is subtracted."""
    pose = np.eye(4)
    pose[0, 3] = far
    box = parts_of(gk.Box((2.0, 2.0, 2.0))).given
    row = pose_rows(pose, "pose")[0][0]
    scratch, step = tree_scratch(), 2e-8 * (1.0 + far)
    assert free_around(box, row, (far + 2.0, 0.0, 0.0), 1.0, 1.0, scratch) <= 0.0
    assert free_around(box, row, (far + 2.0 + 0.2 * step, 0.0, 0.0), 1.0, 1.0, scratch) <= 0.0
    free = free_around(box, row, (far + 2.5, 0.0, 0.0), 1.0, 1.0, scratch)
    assert 0.5 - 2.0 * step <= free <= 0.5


@pytest.mark.parametrize(
    ("x", "margin", "verdict"),
    [(5.0, 0.0, NO), (0.5, 0.0, YES), (5.0, 4.0, YES), (0.5, -0.1, UNSURE), (5.0, -0.1, NO), (0.0, 0.0, YES)],
)
def test_pair_collides_returns_yes_no_or_unsure(x, margin, verdict):
    rows = pose_rows([np.eye(4), np.eye(4) + np.eye(4, k=3) * 0], "poses")[0]
    rows[1, 9] = x
    pair = two_at(complete(parts_of(BALL)), parts_of(gk.Sphere(0.25)).given, rows[0], rows[1])
    assert pair_collides(pair, margin, tree_scratch()) == verdict


@pytest.mark.parametrize("margin", [0.0, 0.1, -0.05])
def test_shape_store_collide_equals_collide_of_each_pair(margin, rng):
    """The pairs include equal bodies, a height field without a bottom and a support function of a user."""
    ground = gk.HeightField(np.arange(16.0).reshape(4, 4) % 3, 0.5)
    mapped = gk.Compound([(gk.Support(lambda d: d / np.linalg.norm(d), (0, 0, 0), 1.0), None)])
    shapes = [*BODIES.values(), BALL.refit(BALL.vertices), ground, mapped]
    store, count = ShapeStore(shapes), 400
    which = rng.integers(len(shapes), size=(count, 2))
    which = which[~((which == len(shapes) - 2).all(axis=1))]
    poses = np.tile(np.eye(4), (2 * len(which), 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, len(poses))
    poses[:, :3, 3] = rng.uniform(-1.6, 1.6, (len(poses), 3))
    rows, at = pose_rows(poses, "poses")[0], np.arange(len(poses)).reshape(-1, 2)
    hits = store.collide(which, store.table(which, at), rows, margin)
    for (i, j), (p, q), hit in zip(which.tolist(), at.tolist(), hits, strict=True):
        a, b = shapes[i], shapes[j]
        if a is b is BODIES["capsule"]:
            continue
        assert hit == collide(a, b, Rows(rows[p : p + 1], rows[q : q + 1], 1, True), margin)[0]
    assert 0.2 < hits.mean() < 0.98


@pytest.mark.parametrize("mesh", [BALL, BODIES["sheet"]], ids=["closed", "open"])
def test_head_returns_the_arrays_of_wide_trees_without_a_copy(mesh):
    for expected in ray_trees_of(mesh):
        tree = tree_in(np.array(head_of(expected)))
        for field, array, wanted in zip(expected._fields, tree, expected, strict=True):
            assert np.array_equal(array, wanted, equal_nan=True), field
            if np.ndim(wanted):
                assert array.dtype == wanted.dtype, field
                assert np.shares_memory(array, wanted), field
