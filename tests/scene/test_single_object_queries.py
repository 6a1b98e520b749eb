"""Queries about one object and boolean queries: the compiled traversal compared with the path for many pairs."""

from __future__ import annotations

import importlib
import pickle

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import PoseError, SceneError
from gjk3d.scene import pairs, query

RNG = np.random.default_rng(11)
SHAPES = [
    gk.Box((0.5, 0.4, 0.3)),
    gk.Sphere(0.3),
    gk.Capsule(0.1, 0.5),
    gk.ConvexHull(RNG.normal(size=(20, 3)) * 0.3),
    gk.Cylinder(0.2, 0.4).placed(naive.pose(translation=(0.2, 0.0, 0.0))),
    gk.Box((0.2, 0.2, 0.2)).inflated(0.1),
]
ODD = [
    gk.Halfspace((0, 0, 1), -1.0),
    gk.Mesh([(0, 0, 0), (0.4, 0, 0), (0, 0.4, 0), (0, 0, 0.4)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]),
    gk.VoxelGrid(np.ones((2, 2, 2), dtype=bool), 0.2),
]
scenes = importlib.import_module("gjk3d.scene.scene")
GROUPS = (("default", None), ("a", ("a", "b")), ("b", ("default",)))


def by_pairs(scene, question):
    """Return the result of ``question`` on a copy of the scene, computed by the path for many pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query, "TEST", pairs.LIST)
        patch.setattr(query, "FIRST", pairs.LIST)
        patch.setattr(query.SceneQuery, "nearest", lambda *_: None)
        return question(scene.copy())


def random_pose(rng, spread):
    pose = np.eye(4)
    pose[:3, :3] = naive.random_rotations(rng, 1)[0]
    pose[:3, 3] = rng.uniform(-spread, spread, 3)
    return pose


def fill(rng, count, shapes, spread=1.2):
    scene = gk.Scene()
    for k in rng.permutation(count):
        group, mask = GROUPS[int(rng.integers(len(GROUPS)))] if rng.random() < 0.3 else GROUPS[0]
        pose = random_pose(rng, spread)
        scene.add(f"part {k}", shapes[int(rng.integers(len(shapes)))], pose, group=group, mask=mask)
    names = scene.names
    for a, b in rng.permuted(np.tile(names, (count // 3, 1)), axis=1)[:, :2] if count > 1 else ():
        scene.allow(str(a), str(b))
    return scene


def as_rows(result):
    """Return all values of the nearest pairs as rows that can be compared bit by bit."""
    out = []
    for a, b, row in result:
        out.append((a, b, row.distance, row.lower, row.upper, *row.normal, *row.point_a, *row.point_b))
        out.append((row.status, row.tight, row.iterations, row.asked, row.shape_a, row.shape_b))
        out.append((row.pose_a.tolist(), row.pose_b.tolist()))
    return out


def assert_agrees_with_pairs(scene, *of, margins=(0.0, 0.2, -0.05)):
    for margin in margins:
        for method in ("collides", "collisions"):
            question = lambda s, method=method, margin=margin: getattr(s, method)(*of, margin=margin)  # noqa: E731
            assert question(scene) == by_pairs(scene, question)
    for options in ({}, {"k": 1, "within": 0.1}, {"k": 1, "within": -0.02}):
        question = lambda s, options=options: as_rows(s.closest(*of, **options))  # noqa: E731
        assert question(scene) == by_pairs(scene, question)
    least, expected = scene.clearance(*of), by_pairs(scene, lambda s: s.clearance(*of))
    assert (least.distance, least.pair) == (expected.distance, expected.pair)
    if expected.result is None:
        assert least.result is None
    else:
        assert as_rows([(None, None, least.result)]) == as_rows([(None, None, expected.result)])


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 9, 40]), st.booleans())
def test_queries_after_moves_agree_with_pairs(seed, count, odd):
    rng = np.random.default_rng(seed)
    scene = fill(rng, count, [*SHAPES, *ODD] if odd else SHAPES)
    for _ in range(4):
        name = scene.names[int(rng.integers(count))]
        scene.move(name, random_pose(rng, 1.2))
        assert_agrees_with_pairs(scene, name, margins=(float(rng.choice([0.0, 0.2, -0.05])),))
        shape = ([*SHAPES, *ODD] if odd else SHAPES)[int(rng.integers(3, len(SHAPES) + odd))]
        assert_agrees_with_pairs(scene, shape, random_pose(rng, 1.2), margins=(0.1,))
        assert_agrees_with_pairs(scene, margins=(0.0,))
        second = fill(rng, int(rng.integers(1, 8)), SHAPES)
        assert_agrees_with_pairs(scene, second, margins=(0.0,))
        assert_agrees_with_pairs(second, scene, margins=(0.1,))


@pytest.mark.full
def test_queried_shapes_are_not_added_to_the_scene():
    rng = np.random.default_rng(3)
    scene = fill(rng, 5, SHAPES)
    for k in range(200):  # shapes and objects are added and removed
        shape = gk.Sphere(0.1 + 0.001 * k)
        assert_agrees_with_pairs(scene, shape, random_pose(rng, 1.0), margins=(0.0,))
        if k % 10 == 0:
            scene.add(f"more {k}", SHAPES[k % len(SHAPES)], random_pose(rng, 1.2))
        if k % 20 == 19:
            scene.remove(scene.names[int(rng.integers(len(scene)))])
    assert len(scene) == len(scene.names) == 15
    assert len(scene._objects.shapes) < 3 * len(scene) + 64
    again = pickle.loads(pickle.dumps(scene))
    assert again.collisions() == scene.collisions()
    assert_agrees_with_pairs(again, SHAPES[0], np.eye(4))


def test_equal_distances_are_ordered_by_name():
    scene = gk.Scene()
    pose = np.eye(4)
    for name, x in (("c", 2.0), ("a", -2.0), ("d", 2.0), ("b", 0.0)):
        pose[0, 3] = x
        scene.add(name, gk.Sphere(0.5), pose)
    assert scene.clearance("b").pair == ("a", "b")
    assert scene.clearance("c").pair == ("c", "d")
    assert_agrees_with_pairs(scene, "b")
    assert_agrees_with_pairs(scene, gk.Sphere(0.5), np.eye(4))


def test_rejected_move_changes_nothing():
    scene = fill(np.random.default_rng(5), 12, SHAPES)
    before = scene.pose("part 1").tolist(), scene.collisions("part 1")
    bad = np.eye(4)
    bad[0, 0] = 2.0
    with pytest.raises(PoseError) as caught:
        scene.move("part 1", bad)
    assert_names(caught.value, "'part 1'", "(2, 1, 1)", "shape.scaled")
    with pytest.raises(PoseError) as caught:
        scene.collides(SHAPES[0], bad)
    assert_names(caught.value, "'other'", "(2, 1, 1)", "shape.scaled")
    with pytest.raises(SceneError) as caught:
        scene.move("part", np.eye(4))
    assert_names(caught.value, "'part'", "'part 9'")
    assert (scene.pose("part 1").tolist(), scene.collisions("part 1")) == before


def test_scene_raycast_equals_single_raycast():
    """The pose is rigid only to 4e-7, and it is made a rotation once."""
    pose = np.eye(4)
    pose[:3, :3] *= 1 + 4e-7
    for shape in (
        gk.Box((1, 1, 1)).inflated(0.5),
        gk.Cylinder(0.5, 1),
        gk.ConvexHull(np.random.default_rng(0).normal(size=(20, 3))),
    ):
        scene = gk.Scene()
        scene.add("a", shape, pose)
        expected = gk.raycast(shape, (5, 0.1, 0.2), (-1, 0, 0), pose)
        assert scene.raycast((5, 0.1, 0.2), (-1, 0, 0)).distance == expected.distance


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 12, 40]), st.sampled_from([1, 3]))
def test_queries_with_half_spaces_agree_with_pairs(seed, count, floors):
    """Half-spaces have any direction and may be moved, allowed or in groups, in either scene."""
    rng = np.random.default_rng(seed)
    scene, second = fill(rng, count, SHAPES), fill(rng, count, SHAPES)
    for k in range(floors):
        normal, offset = rng.normal(size=3), rng.uniform(-3.0, 0.5)
        group, mask = GROUPS[int(rng.integers(len(GROUPS)))]
        for target in (scene, second)[: int(rng.integers(1, 3))]:
            target.add(
                f"{'az'[k % 2]} floor {k}", gk.Halfspace(normal, offset), random_pose(rng, 0.5), group=group, mask=mask
            )
    scene.allow(scene.names[0], scene.names[-1])
    for _ in range(2):
        assert_agrees_with_pairs(scene)
        assert_agrees_with_pairs(scene, second)
        assert_agrees_with_pairs(scene, str(rng.choice(scene.names)))
        assert_agrees_with_pairs(scene, SHAPES[int(rng.integers(len(SHAPES)))], random_pose(rng, 1.0))
        scene.move(str(rng.choice(scene.names)), random_pose(rng, 1.5))


@pytest.mark.parametrize("ask", ["closest", "clearance", "collisions", "collides"])
def test_half_space_is_part_of_the_first_query(ask):
    scene = gk.Scene()
    for name, z in (("low", 0.9), ("high", 10)):
        scene.add(name, gk.Sphere(1), naive.pose(translation=(0, 0, z)))
    scene.add("floor", gk.Halfspace((0, 0, 1)))
    result = getattr(scene.copy(), ask)()
    assert {
        "closest": lambda: result.pairs == [("floor", "low")],
        "clearance": lambda: result.pair == ("floor", "low"),
        "collisions": lambda: result == [("floor", "low")],
        "collides": lambda: result,
    }[ask]()
    assert getattr(scene.copy(), ask)("floor") == result or ask in ("closest", "clearance")
    assert scene.clearance("low").pair == scene.clearance("floor").pair == ("floor", "low")


def first_by_each(scene, origin, direction, far):
    """Return the first hit of a ray over all shapes. Of equal distances the first name is returned."""
    hits = []
    for name in scene.names:
        hit = gk.raycast(scene.shape(name), origin, direction, scene.pose(name), max_distance=far)
        if hit.hit:
            hits.append((hit.distance, name, hit.inside))
    return min(hits, default=(np.inf, None, False))


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3, 9, 40]), st.booleans())
def test_single_rays_agree_with_stacks_and_objects(seed, count, odd):
    rng = np.random.default_rng(seed)
    scene = fill(rng, count, [*SHAPES[:5], *ODD] if odd else SHAPES)
    for k in range(int(rng.integers(3))):
        scene.add(f"floor {k}", gk.Halfspace(rng.normal(size=3), rng.uniform(-3.0, 0.0)))
    for _ in range(2):
        if len(scene):
            scene.move(str(rng.choice(scene.names)), random_pose(rng, 1.2))
        origins, directions = rng.uniform(-2, 2, (12, 3)), rng.normal(size=(12, 3))
        directions[:3] = np.eye(3)
        far = float(rng.choice([np.inf, 1.0]))
        ones = [scene.raycast(o, d, max_distance=far) for o, d in zip(origins, directions, strict=True)]
        many = scene.raycast(origins, directions, max_distance=far)
        for k, single in enumerate(ones):
            for row in (many[k], scene.raycast(origins[k : k + 1], directions[k], max_distance=far)[0]):
                assert (single.name, single.hit, single.inside, single.distance) == (
                    row.name,
                    row.hit,
                    row.inside,
                    row.distance,
                )
                for field in ("normal", "point", "origin", "direction"):
                    np.testing.assert_array_equal(getattr(single, field), getattr(row, field))
            distance, name, inside = first_by_each(scene, origins[k], directions[k], far)
            assert (single.name, single.inside) == (name, inside)
            # the ray starts near the origin, so the rounding error is proportional to the distance
            assert single.distance == pytest.approx(distance, abs=1e-12 * max(1.0, distance))


def test_ray_returns_first_name_of_equal_distances():
    scene = gk.Scene()
    for name in ("d", "b", "c", "a"):
        scene.add(name, gk.Box((1, 1, 1)), naive.pose(translation=(3, 0, 0)))
    scene.add("wall", gk.Halfspace((-1, 0, 0), -2.5))
    assert scene.raycast((0, 0.1, 0), (1, 0, 0)).name == "a"
    scene.remove("a")
    assert scene.raycast((0, 0.1, 0), (1, 0, 0)).name == "b"
    assert scene.raycast((3, 0.1, 0), (1, 0, 0)).inside
    scene.add("aa", gk.Halfspace((-1, 0, 0), -2.5))
    assert scene.raycast((0, 0.1, 0), (1, 0, 0)).name == "aa"
    assert scene.raycast((0, 0.1, 0), (-1, 0, 0)).name is None
