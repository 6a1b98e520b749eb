"""Scenes compared with queries of every pair, and scenes after any history compared with new scenes."""

from __future__ import annotations

import copy
import pickle
import threading

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import Gjk3dError, PoseError, SceneError, ShapeError, UnsupportedPair
from gjk3d.poses import pose_rows

HULL = np.random.default_rng(7).normal(size=(20, 3)) * 0.3
SHAPES = [
    gk.Box((0.5, 0.4, 0.3)),
    gk.Sphere(0.3),
    gk.Capsule(0.1, 0.5),
    gk.ConvexHull(HULL),
    gk.Cone(0.3, 0.5).placed(naive.pose(translation=(0.2, 0.0, 0.0))),
    gk.Box((0.2, 0.2, 0.2)).inflated(0.1),
    gk.MinkowskiSum(gk.Cylinder(0.1, 0.3), gk.Segment((0, 0, 0), (0.2, 0, 0))),
    gk.ConvexHull(HULL + (0, 0, 1)),
]
PLANES = [gk.Halfspace((0, 0, 1), -1.4), gk.Halfspace((1, 2, 0), -3.0)]


def poses(rng, count, spread=1.5):
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = naive.random_rotations(rng, count)
    out[:, :3, 3] = rng.uniform(-spread, spread, (count, 3))
    return out


def random_objects(seed, count, spread=1.5, planes=True):
    """Return name -> (shape, pose) with the names in random order."""
    rng = np.random.default_rng(seed)
    where = poses(rng, count, spread)
    shapes = [SHAPES[k] for k in rng.integers(0, len(SHAPES), count)]
    if planes and count > 2:
        shapes[0], shapes[1] = PLANES
        where[:2, :3, 3] = 0.0
    names = [f"part {k}" for k in rng.permutation(count)]
    return dict(zip(names, zip(shapes, where, strict=True), strict=True))


def scene_of(objects, order=None):
    scene = gk.Scene()
    for name in order or objects:
        scene.add(name, *objects[name])
    return scene


def is_plane(shape):
    return isinstance(shape, gk.Halfspace)


def every_pair(objects, others=None):
    """Return the signed distance of each pair from a single query."""
    distances = {}
    for a, (shape_a, pose_a) in objects.items():
        for b, (shape_b, pose_b) in (objects if others is None else others).items():
            if (others is not None or a < b) and not (is_plane(shape_a) and is_plane(shape_b)):
                distances[a, b] = gk.signed_distance(shape_a, shape_b, pose_a, pose_b)
    return distances


def colliding(every, margin=0.0):
    return sorted(pair for pair, result in every.items() if not result.lower > margin)


def closest(every, within=np.inf, k=None):
    return sorted((r.distance, pair) for pair, r in every.items() if r.lower <= within)[:k]


def listed(result):
    return [(row.distance, (a, b)) for a, b, row in result]


# --- against the definition ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40, 90])
@pytest.mark.parametrize("planes", [False, True])
def test_queries_agree_with_every_pair(count, planes):
    objects = random_objects(count, count, planes=planes)
    scene, every = scene_of(objects), every_pair(objects)
    assert len(scene) == count
    assert scene.names == sorted(objects)
    for margin in (0.0, 0.2, -0.1):
        assert scene.collisions(margin=margin) == colliding(every, margin)
        assert scene.collides(margin=margin) == bool(colliding(every, margin))
    for within in (0.0, 0.3, -0.1):
        assert listed(scene.closest(within=within)) == closest(every, within)
    for k in (1, 7, 10_000):
        assert listed(scene.closest(k=k)) == closest(every, k=k)
        assert listed(scene.closest(k=k, within=0.2)) == closest(every, 0.2, k)
    least = scene.clearance()
    if every:
        assert (least.distance, least.pair) == closest(every)[0]
        assert least.result.normal.tolist() == every[least.pair].normal.tolist()
    else:
        assert least == (np.inf, None, None)


@pytest.mark.parametrize("spread", [0.5, 20.0, 1000.0])
def test_crowded_and_sparse_scenes(spread):
    objects = random_objects(4, 50, spread, planes=False)
    scene, every = scene_of(objects), every_pair(objects)
    assert scene.collisions() == colliding(every)
    assert listed(scene.closest(k=5)) == closest(every, k=5)


def test_rows_contain_shapes_and_poses():
    objects = random_objects(3, 30)
    for a, b, row in scene_of(objects).closest(within=0.1):
        (shape_a, pose_a), (shape_b, pose_b) = objects[a], objects[b]
        assert (row.shape_a, row.shape_b) == (shape_a, shape_b)
        np.testing.assert_allclose(row.pose_a, pose_a, atol=1e-15)
        np.testing.assert_allclose(row.pose_b, pose_b, atol=1e-15)
        expected = gk.signed_distance(shape_a, shape_b, pose_a, pose_b)
        for field in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status"):
            np.testing.assert_array_equal(getattr(row, field), getattr(expected, field))


def test_pairs_that_touch_within_rounding_are_found():
    # the intervals of neighbours contain 0, but their boxes would be separated without slack
    scene = gk.Scene()
    for k in range(5):
        pose = naive.pose(translation=(k * np.nextafter(0.6, 1.0), 0.0, 0.0))
        scene.add(str(k), gk.Ellipsoid((0.3, 0.2, 0.1)), pose)
    every = every_pair({name: (scene.shape(name), scene.pose(name)) for name in scene})
    assert scene.collisions() == colliding(every) == [("0", "1"), ("1", "2"), ("2", "3"), ("3", "4")]


@pytest.mark.parametrize(("m", "n"), [(0, 5), (5, 0), (1, 1), (40, 30)])
def test_scene_against_scene(m, n):
    mine, theirs = random_objects(m, m), random_objects(100 + n, n)
    a, b, every = scene_of(mine), scene_of(theirs), every_pair(mine, theirs)
    assert a.collisions(b) == colliding(every)
    assert a.collides(b) == bool(colliding(every))
    assert b.collisions(a) == sorted((q, p) for p, q in colliding(every))
    assert listed(a.closest(b, within=0.2)) == closest(every, 0.2)
    assert listed(a.closest(b, k=4)) == closest(every, k=4)
    assert a.collisions() == colliding(every_pair(mine))  # the query between scenes changes neither scene


@pytest.mark.parametrize("shape", [*SHAPES[:4], PLANES[0]])
def test_scene_against_shape(shape):
    objects = random_objects(9, 50)
    scene = scene_of(objects)
    for pose in (None, naive.pose(translation=(0.5, 0.1, 0.2))):
        every = every_pair(objects, {None: (shape, pose)})
        assert scene.collisions(shape, pose) == colliding(every)
        assert scene.clearance(shape, pose)[:2] == closest(every)[0]
        assert scene.collides(shape, pose, margin=-5.0) is False


@pytest.mark.parametrize("index", [0, 1, 2, 11])
def test_single_object_against_all(index):
    objects = random_objects(11, 60)
    name = list(objects)[index]
    scene = scene_of(objects)
    every = {pair: result for pair, result in every_pair(objects).items() if name in pair}
    assert scene.collisions(name) == colliding(every)
    assert listed(scene.closest(name, k=5)) == closest(every, k=5)


def test_single_object_against_its_mask():
    scene = gk.Scene()
    for name, group in (("a", "floor"), ("b", "arm"), ("c", "arm"), ("d", "tool")):
        scene.add(name, gk.Sphere(0.5), group=group, mask=[group])
    assert scene.closest("b", k=5).pairs == [("b", "c")]
    assert scene.collisions("c") == [("b", "c")]


def test_shape_with_python_support_function():
    def ball(d):
        return 0.3 * d

    shape = gk.Support(ball, center=(0, 0, 0), radius=0.31)
    scene = gk.Scene()
    scene.add("a", shape)
    scene.add("b", gk.Sphere(0.2), naive.pose(translation=(0.45, 0, 0)))
    scene.add("c", gk.Sphere(0.2), naive.pose(translation=(-0.6, 0, 0)))
    assert scene.collisions() == [("a", "b")]


@pytest.mark.parametrize("within", [0.0, 0.2])
@pytest.mark.parametrize("most", [4, 1, None])
def test_contacts_agree_with_every_pair(within, most):
    objects = random_objects(31, 80)
    contacts = scene_of(objects).contacts(within=within, max_points=most)
    every = {pair: r for pair, r in every_pair(objects).items() if r.lower <= within}
    assert contacts.pairs == sorted(every)
    assert len(contacts) > 30
    for a, b, row in contacts:
        (shape_a, pose_a), (shape_b, pose_b) = objects[a], objects[b]
        expected = gk.contact(shape_a, shape_b, pose_a, pose_b, within=within, max_points=most)
        assert row.count == expected.count
        for field in ("points_a", "points_b", "gaps", "normal", "distance"):
            np.testing.assert_array_equal(getattr(row, field), getattr(expected, field))


def test_contacts_with_shape_and_of_empty_scene():
    objects = random_objects(32, 20)
    scene = scene_of(objects)
    floor = gk.Halfspace((0, 0, 1), 0.2)
    contacts = scene.contacts(floor)
    assert contacts.pairs == scene.collisions(floor)
    for name, second_name, row in contacts:
        assert second_name is None
        np.testing.assert_array_equal(row.points_a, gk.contact(objects[name][0], floor, objects[name][1]).points_a)
    empty = gk.Scene().contacts()
    assert len(empty) == 0
    assert empty.result.points.shape == (0, 4, 3)
    assert list(empty) == []


def test_rays_agree_with_every_object():
    objects = random_objects(41, 70)
    scene = scene_of(objects)
    rng = np.random.default_rng(1)
    origins = rng.uniform(-3, 3, (200, 3))
    directions = rng.normal(size=(200, 3)) * rng.uniform(0.1, 9, (200, 1))
    directions[:20] = (0, 0, -2)
    for far in (np.inf, 1.0):
        hits = {name: gk.raycast(s, origins, directions, p, max_distance=far) for name, (s, p) in objects.items()}
        result = scene.raycast(origins, directions, max_distance=far)
        assert len(set(result.name)) > 5
        for k in range(200):
            distance, name = min((hit.distance[k], name) for name, hit in hits.items())
            if distance == np.inf:
                assert not result.hit[k]
                assert result.name[k] is None
                assert np.isnan(result.point[k]).all()
                continue
            assert result.name[k] == name
            assert (result.hit[k], result.inside[k]) == (True, hits[name].inside[k])
            for field in ("distance", "normal", "point"):  # the scene stores corrected poses
                np.testing.assert_allclose(getattr(result, field)[k], getattr(hits[name], field)[k], atol=1e-13)
            assert result[k].name == name


def test_single_ray_and_broadcast_rays():
    scene = gk.Scene()
    assert scene.raycast((0, 0, 0), (1, 0, 0)).name is None
    scene.add("b", gk.Box((1, 1, 1)), naive.pose(translation=(3, 0, 0)))
    scene.add("a", gk.Box((1, 1, 1)), naive.pose(translation=(3, 0.5, 0)))
    scene.add("floor", gk.Halfspace((0, 0, 1), -2))
    hit = scene.raycast((0, 0.2, 0), (2, 0, 0))
    assert (hit.name, hit.distance, hit.point.tolist(), hit.inside) == ("a", 2.5, [2.5, 0.2, 0], False)
    assert_names(repr(hit), "RayHit", "2.5", "face", "(-1, 0, 0)", "'a'")
    assert scene.raycast((0, 0, 0), [(1, -0.1, 0), (0, 0, -1), (0, 0, 1)]).name == ["b", "floor", None]
    assert scene.raycast([(0, -0.2, 0), (0, 9, 0)], (1, 0, 0)).name == ["b", None]
    with pytest.raises(ShapeError) as caught:
        scene.raycast(np.zeros((2, 3)), np.ones((3, 3)))
    assert_names(caught.value, "origins", "2", "directions", "3 rows")
    with pytest.raises(ShapeError) as caught:
        scene.raycast((0, 0, 0), (0, 0, 0))
    assert_names(caught.value, "directions", "shape.signed_distances")


# --- changes ------------------------------------------------------------------------------------------------------


def all_results(scene):
    result = scene.closest(within=0.3)
    return scene.names, scene.allowed, scene.collisions(), listed(result), result.result.normal.tolist()


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from("aaammMrRlLq"), max_size=30))
def test_any_history_equals_new_scene(seed, history):
    rng = np.random.default_rng(seed)
    scene, objects, allowed = gk.Scene(), {}, set()
    for step in history:
        present = sorted(objects)
        if step == "a":
            name = f"part {rng.integers(0, 40)}"
            if name not in objects:
                objects[name] = (SHAPES[rng.integers(0, len(SHAPES))], poses(rng, 1, 1.0)[0])
                if rng.random() < 0.1:
                    objects[name] = (PLANES[0], np.eye(4))
                scene.add(name, *objects[name])
        elif step == "m" and present:
            name = present[rng.integers(0, len(present))]
            objects[name] = (objects[name][0], poses(rng, 1, 1.0)[0])
            scene.move(name, objects[name][1])
        elif step == "M" and present:
            some = list(rng.permutation(present)[: rng.integers(1, len(present) + 1)])
            where = poses(rng, len(some), 1.0)
            scene.move_many(some, where)
            objects.update({n: (objects[n][0], p) for n, p in zip(some, where, strict=True)})
        elif step in "rR" and present:
            name = present[rng.integers(0, len(present))]
            scene.remove(name)
            del objects[name]
            allowed = {pair for pair in allowed if name not in pair}
        elif step in "lL" and len(present) > 1:
            pair = tuple(sorted(rng.choice(present, 2, replace=False).tolist()))
            (scene.allow if step == "l" else scene.disallow)(*pair[::-1])
            (allowed.add if step == "l" else allowed.discard)(pair)
        elif step == "q":
            scene.collides()
    fresh = scene_of(objects, sorted(objects))
    for pair in allowed:
        fresh.allow(*pair)
    assert all_results(scene) == all_results(fresh)
    every = {pair: result for pair, result in every_pair(objects).items() if pair not in allowed}
    assert scene.collisions() == colliding(every)


def test_insertion_order_changes_no_bit():
    objects = random_objects(21, 80)
    names = list(objects)
    first = all_results(scene_of(objects))
    rng = np.random.default_rng(0)
    for _ in range(4):
        assert all_results(scene_of(objects, list(rng.permutation(names)))) == first
    many = gk.Scene()
    many.add_many(names, [objects[n][0] for n in names], np.array([objects[n][1] for n in names]))
    assert all_results(many) == first


def test_workers_change_no_bit():
    scene = scene_of(random_objects(22, 300))
    a, b = scene.closest(within=0.2), scene.closest(within=0.2, workers=3)
    assert a.pairs == b.pairs
    np.testing.assert_array_equal(a.result.distance, b.result.distance)
    assert scene.collisions(workers=2) == scene.collisions()


def test_tree_stays_correct_after_many_moves():
    rng = np.random.default_rng(2)
    objects = random_objects(2, 300, spread=4.0, planes=False)
    names = sorted(objects)
    scene = scene_of(objects)
    for _ in range(300):
        for name in rng.choice(names, 3, replace=False):
            pose = objects[name][1].copy()
            pose[:3, 3] = rng.uniform(-4, 4, 3) if rng.random() < 0.3 else pose[:3, 3] + rng.normal(size=3) * 0.05
            objects[name] = (objects[name][0], pose)
            scene.move(name, pose)
        scene.collides()
    assert scene.collisions() == scene_of(objects).collisions()
    assert len(scene.collisions()) > 20


def test_removed_shapes_are_released():
    rng = np.random.default_rng(3)
    scene, objects = gk.Scene(), {}
    for k in range(400):
        name = f"part {k % 7}"
        if name in objects:
            scene.remove(name)
        objects[name] = (gk.Box(rng.uniform(0.5, 1.5, 3)), poses(rng, 1, 1.0)[0])
        if k % 9 == 0:
            objects[name] = (PLANES[0], np.eye(4))
        scene.add(name, *objects[name])
        if k % 3 == 0:
            scene.collides()
    assert all_results(scene) == all_results(scene_of(objects))
    assert len(scene._objects.pairs) < 100


def test_copies_and_pickles_are_independent():
    objects = random_objects(5, 30)
    scene = scene_of(objects)
    scene.allow(*scene.collisions()[0])
    before = all_results(scene)
    twins = [copy.deepcopy(scene), scene.copy(), pickle.loads(pickle.dumps(scene))]
    for name in list(objects)[::2]:
        scene.remove(name)
    assert [all_results(twin) for twin in twins] == [before] * 3


# --- groups and allowed pairs -------------------------------------------------------------------------------------


def balls(groups):
    """Return a scene of balls that all overlap, from name -> (group, mask)."""
    scene = gk.Scene()
    for name, (group, mask) in groups.items():
        scene.add(name, gk.Sphere(1.0), group=group, mask=mask)
    return scene


def test_groups_and_masks():
    scene = balls(
        {
            "table": ("static", ["robot", "cargo"]),
            "wall": ("static", ["robot", "cargo"]),
            "arm": ("robot", None),
            "hand": ("robot", ["static", "cargo"]),
            "box": ("cargo", None),
            "ghost": ("nothing", []),
        }
    )
    assert scene.collisions() == [
        ("arm", "box"), ("arm", "table"), ("arm", "wall"), ("box", "hand"), ("box", "table"), ("box", "wall"),
        ("hand", "table"), ("hand", "wall"),
    ]  # fmt: skip
    assert scene.collisions("ghost") == []
    assert scene.collisions(gk.Point()) == [(name, None) for name in ("arm", "box", "hand", "table", "wall")]


def test_groups_match_by_name_between_scenes():
    a = balls({"x": ("one", ["two"]), "y": ("two", None)})
    b = balls({"p": ("two", None), "q": ("three", ["one"]), "r": ("one", ["one", "two"])})
    # the mask of x contains only group two; the masks of q and r exclude the groups of y and x
    assert a.collisions(b) == [("x", "p"), ("y", "p"), ("y", "r")]
    assert b.collisions(a) == [("p", "x"), ("p", "y"), ("r", "y")]


def test_half_spaces_have_groups():
    scene = balls({"ball": ("thing", None)})
    scene.add("floor", gk.Halfspace((0, 0, 1)), group="static", mask=["other"])
    scene.add("wall", gk.Halfspace((1, 0, 0)), group="static", mask=["thing"])
    assert scene.collisions() == [("ball", "wall")]
    assert scene.collisions("floor") == []
    assert scene.collisions("ball") == scene.collisions("wall") == [("ball", "wall")]


def test_allowed_pairs():
    scene = balls(dict.fromkeys("abc", ("default", None)))
    scene.allow("c", "a")
    assert scene.allowed == [("a", "c")]
    assert scene.collisions() == [("a", "b"), ("b", "c")]
    assert scene.collisions("a") == [("a", "b")]
    assert scene.clearance("c").pair == ("b", "c")
    scene.disallow("a", "c")
    assert scene.collisions() == [("a", "b"), ("a", "c"), ("b", "c")]
    scene.allow("a", "b")
    scene.remove("b")
    scene.add("b", gk.Sphere(1.0))  # a new object has no allowed pairs
    assert ("a", "b") in scene.collisions()


# --- invalid arguments --------------------------------------------------------------------------------------------


def nan_pose():
    pose = np.eye(4)
    pose[1, 3] = np.nan
    return pose


@pytest.mark.parametrize(
    ("ask", "error", "fragments"),
    [
        (lambda s: s.add("a", gk.Sphere(1)), SceneError, ("'a' already", "move it", "remove it")),
        (lambda s: s.add("", gk.Sphere(1)), SceneError, ("name", "''")),
        (lambda s: s.add(3, gk.Sphere(1)), SceneError, ("name", "3")),
        (lambda s: s.add("d", "box"), UnsupportedPair, ("'d'", "a str", "gjk3d.Box")),
        (
            lambda s: s.add("d", gk.Sphere(1), nan_pose()),
            PoseError,
            ("'d'", "[1, 3]", "nan"),
        ),
        (
            lambda s: s.add("d", gk.Sphere(1), np.tile(np.eye(4), (2, 1, 1))),
            PoseError,
            ("'d'", "(2, 4, 4)", "move_many"),
        ),
        (lambda s: s.add("d", gk.Sphere(1), group=2), SceneError, ("group", "2")),
        (lambda s: s.add("d", gk.Sphere(1), mask="all"), SceneError, ("mask", "['all']")),
        (lambda s: s.add("d", gk.Sphere(1), mask=[1]), SceneError, ("mask", "1")),
        (lambda s: s.add_many(["d", "a"], gk.Sphere(1)), SceneError, ("'a' already",)),
        (lambda s: s.add_many(["d", "d"], gk.Sphere(1)), SceneError, ("names", "'d'", "once")),
        (lambda s: s.add_many("de", gk.Sphere(1)), SceneError, ("names", "'de'")),
        (lambda s: s.add_many(["d", "e"], [gk.Sphere(1)]), SceneError, ("2 names", "1 shape,")),
        (lambda s: s.add_many(["d"], gk.Sphere(1), np.eye(4)), PoseError, ("poses", "(4, 4)", "(1, 4, 4)")),
        (lambda s: s.move("arm", np.eye(4)), SceneError, ("'arm'", "3")),
        (lambda s: s.move("chai", np.eye(4)), SceneError, ("'chai'", "'chair'")),
        (lambda s: s.move("a", nan_pose()), PoseError, ("'a'", "[1, 3]", "nan")),
        (lambda s: s.move_many(["a", "zz"], [np.eye(4)] * 2), SceneError, ("'zz'", "3")),
        (lambda s: s.move_many(["a", "a"], [np.eye(4)] * 2), SceneError, ("names", "'a'", "once")),
        (lambda s: s.move_many(["a", []], [np.eye(4)] * 2), SceneError, ("name", "[]")),
        (lambda s: s.move_many(["a", "b"], [np.eye(4), nan_pose()]), PoseError, ("poses[1]", "[1, 3]", "nan")),
        (lambda s: s.move_many(["a", "b"], [np.eye(4)]), PoseError, ("poses", "(1, 4, 4)", "(2, 4, 4)")),
        (lambda s: s.remove("zz"), SceneError, ("'zz'", "3")),
        (lambda s: s.allow("a", "zz"), SceneError, ("'zz'", "3")),
        (lambda s: s.allow("a", "a"), SceneError, ("'a'", "pair")),
        (lambda s: s.pose("zz"), SceneError, ("'zz'", "3")),
        (lambda s: s.collides("zz"), SceneError, ("'zz'", "3")),
        (lambda s: s.collides(3.0), UnsupportedPair, ("other", "a float", "gjk3d.Box")),
        (lambda s: s.collides(gk.Box), UnsupportedPair, ("other", "the class Box", "Box(...)")),
        (lambda s: s.collides(pose=np.eye(4)), SceneError, ("pose", "as other")),
        (lambda s: s.collides(gk.Sphere(1), nan_pose()), PoseError, ("'other'", "[1, 3]", "nan")),
        (lambda s: s.collisions(margin=np.nan), ShapeError, ("margin", "nan")),
        (lambda s: s.collisions(workers=0), ShapeError, ("workers", " 0", "1024")),
        (lambda s: s.closest(within="1"), SceneError, ("within", "'1'")),
        (lambda s: s.closest(within=np.nan), SceneError, ("within", "nan")),
        (lambda s: s.closest(k=0), SceneError, ("k", "0", "None")),
    ],
)
def test_invalid_arguments_raise(ask, error, fragments):
    scene = balls({"a": ("default", None), "b": ("default", None), "chair": ("default", None)})
    before = all_results(scene)
    with pytest.raises(error) as caught:
        ask(scene)
    assert_names(caught.value, *fragments)
    assert isinstance(caught.value, Gjk3dError)
    assert all_results(scene) == before


def test_too_many_groups_raise():
    scene = gk.Scene()
    for k in range(61):  # 62 groups with "default"
        scene.add(f"{k}", gk.Point(), group=f"g{k}")
    with pytest.raises(SceneError) as caught:
        scene.add("61", gk.Point(), group="g61")
    assert_names(caught.value, "'g61'", "62 groups")
    assert len(scene) == 61
    assert scene.collides()


def test_threads_change_and_query_a_scene():
    """A thread changes the scene while others query it. Compiled code would crash if arrays were replaced under it."""
    scene, errors = gk.Scene(), []
    for k in range(60):
        scene.add(f"still {k}", gk.Sphere(0.4), naive.pose(translation=(k * 0.7, 0, 0)))

    def change():
        for k in range(150):
            scene.add(f"new {k}", gk.Box((1, 1, 1)), naive.pose(translation=(k * 0.3, 0, 0)))
            scene.move(f"still {k % 60}", naive.pose(translation=(k * 0.2, 0, 0)))
            if k % 2:
                scene.remove(f"new {k}")

    def run_queries():
        try:
            for _ in range(25):
                scene.collisions()
                scene.clearance(scene.copy())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for work in (change, run_queries, run_queries)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors
    assert len(scene) == 60 + 75
    assert pickle.loads(pickle.dumps(scene)).collisions() == scene.collisions()


@pytest.mark.parametrize("many", [-1, 4096], ids=["blocks", "walk"])
@pytest.mark.parametrize("kind", ["Box", "Sphere", "Ellipsoid", "Mesh"])
def test_pairs_at_limit_within_rounding_are_found(kind, many, monkeypatch):
    """The limit equals the lower bound of the distance. Tight boxes are separated by slightly more due to rounding."""
    monkeypatch.setattr("gjk3d.scene.query.MANY", many)
    monkeypatch.setattr("gjk3d.scene.scene.MANY", many)
    size = 1e-6
    box = gk.Box((size, size, size))
    shapes = {"Box": box, "Sphere": gk.Sphere(0.5 * size), "Ellipsoid": gk.Ellipsoid((0.5 * size, size, size)),
              "Mesh": gk.Mesh(*box.surface())}  # fmt: skip
    shape, places = shapes[kind], (np.eye(4), naive.pose(translation=(1.0, 0.0, 0.0)))
    within = gk.signed_distance(shape, shape, *places).lower
    scene = gk.Scene()
    for name, place in zip("ab", places, strict=True):
        scene.add(name, shape, place)
    pair = [("a", "b")]
    assert gk.collide(shape, shape, *places, margin=within)
    assert scene.collides(margin=within)
    assert scene.collisions(margin=within) == pair
    assert scene.contacts(within=within).pairs == pair
    assert scene.closest(within=within).pairs == pair
    assert scene.closest(k=2, within=within).pairs == pair
    assert scene.contacts(within=within - 1e-12).pairs == []


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("many", [-1, 4096], ids=["blocks", "walk"])
@pytest.mark.parametrize("kind", ["Sphere", "Mesh"])
def test_closest_finds_pairs_at_limit_within_rounding(kind, many, count, monkeypatch):
    """The lower bound of the distance decides whether a pair is within the limit, for any k."""
    monkeypatch.setattr("gjk3d.scene.query.MANY", many)
    monkeypatch.setattr("gjk3d.scene.scene.MANY", many)
    shape = {"Sphere": gk.Sphere(5e-7), "Mesh": gk.Mesh(*gk.Box((1e-6, 1e-6, 1e-6)).surface())}[kind]
    places = [naive.pose(translation=(x, 0.0, 0.0)) for x in (0.0, 1.0, 3.0)]
    nearest = gk.signed_distance(shape, shape, *places[:2])
    assert nearest.lower < nearest.distance
    scene = gk.Scene()
    for name, place in zip("abc", places, strict=True):
        scene.add(name, shape, place)
    assert listed(scene.closest(k=count, within=nearest.lower)) == [(nearest.distance, ("a", "b"))]


def far_plane(rng, place, far):
    """Return a half-space, its pose and its normal. Large numbers cancel in the height of the origin over it."""
    pose = naive.pose(naive.random_rotations(rng, 1)[0])
    if place == "not quite rotated":
        pose[:3, :3] += rng.uniform(-2e-7, 2e-7, (3, 3))
    rotation = pose_rows(pose)[0][0, :9].reshape(3, 3)
    if place == "along the normal":
        pose[:3, 3] = far * rotation[:, 2]
        return gk.Halfspace((0, 0, 1), -far), pose, rotation[:, 2]
    pose[:3, 3] = far * rotation[:, 0]
    return gk.Halfspace((0, 0, 1)), pose, rotation[:, 2]


@pytest.mark.parametrize("many", [-1, 4096], ids=["blocks", "walk"])
@pytest.mark.parametrize("place", ["along the plane", "along the normal", "not quite rotated"])
@pytest.mark.parametrize("kind", ["Box", "Mesh"])
def test_contacts_with_far_half_space_are_found(kind, place, many, monkeypatch):
    """The error of a height grows with the distance of the pose. It must not hide contacts that `collide` reports."""
    monkeypatch.setattr("gjk3d.scene.query.MANY", many)
    monkeypatch.setattr("gjk3d.scene.scene.MANY", many)
    rng = np.random.default_rng(22)
    box = gk.Box((1e-3, 1e-3, 1e-3))
    shape = {"Box": box, "Mesh": gk.Mesh(*box.surface())}[kind]
    digits = 2e-13 if place == "not quite rotated" else 2e-14
    expected = []
    for far in 10.0 ** rng.uniform(3.0, 8.0, 20):
        plane, pose, normal = far_plane(rng, place, far)
        lowest = 5e-4 * np.abs(normal).sum()
        for rise in rng.uniform(-0.1, 1.5, 3) * digits * far:
            object_pose = naive.pose(translation=(lowest + rise) * normal)
            touches = gk.collide(plane, shape, pose, object_pose)
            expected.append(touches)
            pairs = [("object", "plane")] if touches else []
            scene, plane_only = gk.Scene(), gk.Scene()
            scene.add("plane", plane, pose)
            scene.add("object", shape, object_pose)
            plane_only.add("plane", plane, pose)
            assert scene.collides() == scene.collides("object") == plane_only.collides(shape, object_pose) == touches
            assert scene.collisions() == scene.collisions("plane") == pairs
            assert scene.contacts().pairs == scene.closest(within=0.0).pairs == pairs
            assert len(scene.closest(k=1, within=0.0)) == len(scene.closest(k=2, within=0.0)) == len(pairs)
            assert scene.clearance().distance == gk.signed_distance(plane, shape, pose, object_pose).distance
    assert any(expected)
    assert not all(expected)


def boxes_in(rng, count, groups=1):
    """Return corners, groups and masks of random axis-aligned boxes, and a scene of them."""
    low = rng.uniform(0, 3, (count, 3))
    high = low + rng.uniform(0.1, 0.8, (count, 3))
    group, mask = rng.integers(0, groups, count), rng.integers(0, 2, (count, groups)).astype(bool)
    scene = gk.Scene()
    for k in range(count):
        named = {"group": f"g{group[k]}", "mask": [f"g{j}" for j in np.flatnonzero(mask[k])]} if groups > 1 else {}
        scene.add(f"{k:03d}", gk.Box(high[k] - low[k]), naive.pose(translation=(low[k] + high[k]) / 2), **named)
    return low, high, group, mask, scene


def box_distances(first, second):
    """Return the distance of each box of ``first`` from each box of ``second``."""
    gaps = np.maximum(first[0][:, None] - second[1][None], second[0][None] - first[1][:, None])
    return np.linalg.norm(np.maximum(gaps, 0.0), axis=2)


@pytest.mark.parametrize(("m", "n"), [(0, 5), (1, 1), (1, 40), (90, 40)])
@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_boxes_of_two_scenes_agree_with_every_pair(m, n, margin):
    rng = np.random.default_rng(m + n)
    first, second = boxes_in(rng, m), boxes_in(rng, n)
    near = np.argwhere(box_distances(first, second) <= margin)
    assert first[4].collisions(second[4], margin=margin) == [(f"{i:03d}", f"{j:03d}") for i, j in near]


def test_excluded_groups_are_never_reported():
    boxes = boxes_in(np.random.default_rng(5), 150, 3)
    group, mask, scene = boxes[2:]
    near = np.triu(box_distances(boxes, boxes) <= 0.0, 1)
    allowed = near & mask[:, group].T & mask[:, group]
    assert 0 < allowed.sum() < near.sum()
    assert scene.collisions() == [(f"{i:03d}", f"{j:03d}") for i, j in np.argwhere(allowed)]
