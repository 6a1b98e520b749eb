"""Scenes with memory compared with scenes without: equal pairs after any history, and intervals with the truth."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.scene import coherence, query
from gjk3d.scene.coherence import Memory

RNG = np.random.default_rng(7)
HULLS = [RNG.normal(size=(n, 3)) * 0.3 for n in (5, 12, 30)]
TORUS = trimesh.creation.torus(0.3, 0.1, 8, 6)
SHAPES = [
    gk.Box((0.5, 0.4, 0.3)),
    gk.Sphere(0.3),
    gk.Capsule(0.1, 0.5),
    *(gk.ConvexHull(points) for points in HULLS),
    gk.Cylinder(0.2, 0.4),
    gk.Ellipsoid((0.3, 0.2, 0.4)),
    gk.ConvexHull(HULLS[1]).inflated(0.05),
    gk.Point(),
    gk.Triangle(RNG.normal(size=(3, 3)) * 0.3),
    gk.MinkowskiSum(gk.Cylinder(0.1, 0.3), gk.Segment((0, 0, 0), (0.2, 0, 0))),
]
PLANES = [gk.Halfspace((0, 0, 1), -0.9), gk.Mesh(TORUS.vertices, TORUS.faces)]


def poses(rng, count, spread=1.0):
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = naive.random_rotations(rng, count)
    out[:, :3, 3] = rng.uniform(-spread, spread, (count, 3))
    return out


def stepped(rng, where, size):
    """Return poses after a step in which every object moves and turns by about ``size``."""
    out = where.copy()
    count = len(where)
    out[:, :3, :3] = Rotation.from_rotvec(rng.normal(size=(count, 3)) * size).as_matrix() @ where[:, :3, :3]
    out[:, :3, 3] += rng.normal(size=(count, 3)) * size
    return out


class TwoScenes:
    """A scene with memory and a scene without, which receive the same changes."""

    def __init__(self):
        self.scenes = gk.Scene(), gk.Scene(remember=False)
        self.there = {}

    def each(self, change, *given, **options):
        for scene in self.scenes:
            getattr(scene, change)(*given, **options)

    def put(self, name, shape, pose):
        if name in self.there:
            self.each("remove", name)
        self.each("add", name, shape, pose)
        self.there[name] = pose

    def step(self, rng, size):
        names = list(self.there)
        where = stepped(rng, np.array([self.there[name] for name in names]), size)
        self.each("move_many", names, where)
        self.there = dict(zip(names, where, strict=True))

    def agree(self, within=0.0, margin=0.0, workers=1):
        """Assert that pairs are equal and that the intervals of both scenes intersect. Return the contacts."""
        warm, cold = self.scenes
        assert warm.collisions(margin=margin, workers=workers) == cold.collisions(margin=margin)
        result, expected = warm.contacts(within=within, workers=workers), cold.contacts(within=within)
        assert result.pairs == expected.pairs
        with_memory, without_memory = result.result.result, expected.result.result
        assert np.array_equal(with_memory.status, without_memory.status)
        assert (
            np.maximum(with_memory.lower, without_memory.lower) <= np.minimum(with_memory.upper, without_memory.upper)
        ).all()
        assert ((with_memory.lower <= with_memory.distance) & (with_memory.distance <= with_memory.upper)).all()
        # the intervals of the scene with memory are not wider
        slack = 2e-13 * np.abs(np.stack([warm.pose(name)[:3, 3] for name in warm.names])).max(initial=1.0)
        assert (
            with_memory.upper - with_memory.lower
            <= np.maximum(without_memory.upper - without_memory.lower, 0.0) + 20.0 * slack
        ).all()
        assert (result.result.count > 0).all()
        assert np.allclose(
            with_memory.point_b - with_memory.point_a,
            with_memory.distance[:, None] * with_memory.normal,
            rtol=0.0,
            atol=1e-11,
        )
        self.agree_on_closest(within, margin, workers)
        return result

    def agree_on_closest(self, within, margin, workers):
        """Assert that both scenes return equally many closest pairs in order, with intervals that intersect."""
        warm, cold = self.scenes
        for options in ({"within": within}, {"within": margin}, {"k": 3}, {"k": 2, "within": within}):
            near, expected = warm.closest(workers=workers, **options), cold.closest(**options)
            if "k" not in options:
                assert set(near.pairs) == set(expected.pairs)
            with_memory, without_memory = near.result, expected.result
            assert len(near) == len(expected)
            assert (np.diff(with_memory.distance) >= 0.0).all()
            assert (np.sort(with_memory.lower) <= np.sort(without_memory.upper)).all()
            assert (np.sort(without_memory.lower) <= np.sort(with_memory.upper)).all()


@pytest.fixture(autouse=True)
def _always_many(monkeypatch):
    monkeypatch.setattr(query, "MANY", -1)
    monkeypatch.setattr("gjk3d.scene.scene.MANY", -1)  # small scenes use a path without memory


def crowd(rng, count, shapes=SHAPES, spread=1.0):
    both = TwoScenes()
    for k, pose in enumerate(poses(rng, count, spread)):
        both.put(f"part {rng.integers(10**6)} {k}", shapes[rng.integers(len(shapes))], pose)
    return both


@pytest.mark.full
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((1e-9, 1e-3, 1e-2, 0.1)),
    st.lists(st.sampled_from("ssstarnlpmw"), min_size=3, max_size=14),
)
def test_any_history_has_equal_pairs(seed, size, history):
    rng = np.random.default_rng(seed)
    both = crowd(rng, 14)
    within = 0.0
    for step in history:
        names = sorted(both.there)
        name = names[rng.integers(len(names))] if names else None
        shape = SHAPES[rng.integers(len(SHAPES))]
        if step == "s" and names:
            both.step(rng, size)
        elif step == "t" and name:  # move one object to a new pose
            both.there[name] = poses(rng, 1)[0]
            both.each("move", name, both.there[name])
        elif step == "a":
            both.put(f"more {rng.integers(100)}", shape, poses(rng, 1)[0])
        elif step == "r" and name:
            both.each("remove", name)
            del both.there[name]
        elif step == "n" and name:  # same shape and pose with a new name
            pose, shape = both.there.pop(name), both.scenes[0].shape(name)
            both.each("remove", name)
            both.put(f"{rng.integers(100)} {name}", shape, pose)
        elif step == "l" and len(names) > 1:
            both.each("allow", *rng.choice(names, 2, replace=False).tolist())
        elif step == "p" and name:  # new shape at the same pose
            shape = shape if rng.random() < 0.5 else gk.ConvexHull(HULLS[1] * rng.uniform(0.5, 1.5))
            both.put(name, shape, both.there[name])
        elif step == "m":
            both.put(f"solid {rng.integers(3)}", PLANES[rng.integers(len(PLANES))], np.eye(4))
        elif step == "w":
            within = float(rng.choice((0.0, 0.1, 1.0)))
        both.agree(within, margin=float(rng.choice((0.0, 0.05, -0.05))))


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.sampled_from((1e-3, 5e-3, 2e-2)))
def test_depth_intervals_contain_true_depth(seed, size):
    """For hulls and boxes the true depth is the least facet distance of the Minkowski difference."""
    rng = np.random.default_rng(seed)
    corners = naive.body(("box", (0.5, 0.4, 0.3))).points
    points = [np.asarray(corners), *HULLS[:2]]
    which = rng.integers(3, size=6).tolist()
    both = TwoScenes()
    for k, pose in zip(range(6), poses(rng, 6, 0.3), strict=True):
        both.put(str(k), [SHAPES[0], *SHAPES[3:5]][which[k]], pose)
    for _ in range(5):
        both.step(rng, size)
        contacts = both.agree()
        for a, b, row in contacts:
            placed = [points[which[int(n)]] @ both.there[n][:3, :3].T + both.there[n][:3, 3] for n in (a, b)]
            true, _ = naive.hull_signed_distance(naive.differences(*placed))
            assert row.lower - 1e-13 <= true <= row.upper + 1e-13
            assert row.upper - row.lower < 5e-12
            # a translation by the depth along the normal separates the shapes
            pushed = placed[1] - row.normal * row.result.lower
            assert (placed[0] @ row.normal).max() <= (pushed @ row.normal).min() + 1e-12


def test_memory_proves_most_depths_in_one_step():
    """At the third step one support point proves most depths of hulls. `verify` confirms some of them."""
    rng = np.random.default_rng(1)
    both = crowd(rng, 60, SHAPES[3:6], 0.8)
    for _ in range(3):
        both.step(rng, 1e-3)
        contacts = both.agree()
    steps = contacts.result.result.iterations
    assert len(steps) > 100
    assert np.mean(steps == 1) > 0.7
    for k in np.flatnonzero(steps == 1)[:5]:
        a, b, row = contacts[int(k)]
        warm = both.scenes[0]
        assert gk.verify(row.result, warm.shape(a), warm.shape(b), warm.pose(a), warm.pose(b))


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_pairs_agree_at_any_scale_and_distance(scale, far):
    rng = np.random.default_rng(3)
    both = TwoScenes()
    for k, pose in enumerate(poses(rng, 25, 0.7)):
        pose[:3, 3] = scale * (pose[:3, 3] + far)
        shape = SHAPES[(0, 2, 3, 4, 5)[k % 5]].scaled(scale)
        both.put(f"{k}", shape, pose)
    for _ in range(4):
        names = list(both.there)
        where = np.array([both.there[name] for name in names])
        where[:, :3, 3] /= scale
        where = stepped(rng, where, 5e-3)
        where[:, :3, 3] *= scale
        both.each("move_many", names, where)
        both.there = dict(zip(names, where, strict=True))
        warm, cold = (scene.contacts() for scene in both.scenes)
        assert warm.pairs == cold.pairs
        with_memory, without_memory = warm.result.result, cold.result.result
        assert (
            np.maximum(with_memory.lower, without_memory.lower) <= np.minimum(with_memory.upper, without_memory.upper)
        ).all()
        assert both.scenes[0].collisions() == both.scenes[1].collisions()


def test_workers_change_no_bit():
    rng = np.random.default_rng(5)
    walks = [crowd(np.random.default_rng(4), 400, spread=2.0).scenes[0] for _ in range(2)]
    names = walks[0].names
    where = np.array([walks[0].pose(name) for name in names])
    for _ in range(4):
        where = stepped(rng, where, 5e-3)
        results = []
        for scene, workers in zip(walks, (1, 3), strict=True):
            scene.move_many(names, where)
            contacts = scene.contacts(workers=workers)
            results.append(
                (contacts.pairs, contacts.result._points, contacts.result.result.lower, contacts.result.result.upper)
            )
            assert scene.collisions(workers=workers) == scene.collisions()
        assert results[0][0] == results[1][0]
        for a, b in zip(results[0][1:], results[1][1:], strict=True):
            np.testing.assert_array_equal(a, b)


def test_equal_shapes_that_change_their_order():
    """Equal shapes are ordered by their poses, so their order may change between steps."""
    hull = gk.ConvexHull(HULLS[2])
    both = TwoScenes()
    both.put("a", hull, np.eye(4))
    for x in (0.02, 0.01, -0.01, -0.02, 0.01):
        both.put("b", hull, naive.pose(translation=(0.01, 0.0, 0.0))) if "b" not in both.there else None
        both.each("move", "b", naive.pose(translation=(x, 0.05, 0.0)))
        both.agree()


def test_replaced_shape_does_not_use_cached_points():
    """Cached points of the old shape are no points of the new shape, whose other cached data would still be valid."""
    box, large, small = gk.Box((1, 1, 1)), *(gk.ConvexHull(HULLS[2] * size) for size in (4.0, 3.97))
    both = TwoScenes()
    both.put("a", box, np.eye(4))
    both.put("b", large, naive.pose(translation=(0.3, 0.0, 0.0)))
    for k in (0, 1, 2, 1):
        both.each("move", "a", naive.pose(translation=(1e-3 * k, 0.0, 0.0)))
        both.agree()
    memory = both.scenes[0]._memory
    assert memory.cache.faces[0, 0] > 0
    both.put("b", small, both.there["b"])
    both.agree()
    assert len(memory.pairs)
    both.each("remove", "a")
    both.each("remove", "b")
    both.each("add", "b", box, np.eye(4))  # the objects exchange their slots
    both.each("add", "a", large, naive.pose(translation=(0.3, 0.0, 0.0)))
    both.agree()


def test_few_fast_objects_among_many_fixed_ones():
    rng = np.random.default_rng(8)
    both = crowd(rng, 120, spread=2.0)
    names = sorted(both.there)
    for _ in range(6):
        for name in names[:2]:
            both.each("move", name, poses(rng, 1, 2.0)[0])
        both.each("move", names[2], both.scenes[0].pose(names[2]) @ naive.pose(translation=(1e-3, 0.0, 0.0)))
        both.agree()


@pytest.mark.parametrize("share", [0.85, 1.01, 1.9])
def test_objects_that_leave_enlarged_boxes_are_found(share):
    """Boxes are enlarged by ten steps of 0.01. Each object then moves by slightly more than the given share of that."""
    enlargement, both, box = 0.1, TwoScenes(), gk.Box((1.0, 1.0, 1.0))
    start = np.array([0.0, 1.0 + 2.0 * share * enlargement])

    def place(x):
        return np.array([naive.pose(translation=(coordinate, 0.0, 0.0)) for coordinate in x])

    for name, pose in zip("ab", place(start), strict=True):
        both.put(name, box, pose)
    both.agree()
    both.each("move_many", ["a", "b"], place(start + 0.01))
    both.agree()
    memory = both.scenes[0]._memory
    assert memory._pad == pytest.approx(enlargement)
    assert len(memory.pairs) == int(share < 1.0)
    both.each("move_many", ["a", "b"], place(start + 0.01 + (share + 0.02) * enlargement * np.array([1, -1])))
    assert both.agree().pairs == [("a", "b")]


def test_memory_is_dropped_for_too_many_pairs(monkeypatch):
    monkeypatch.setattr(coherence, "_MOST_PAIRS", 10)
    monkeypatch.setattr(coherence, "_PAIRS_PER_OBJECT", 1)
    rng = np.random.default_rng(9)
    both = crowd(rng, 30, spread=0.3)
    for _ in range(2):
        both.step(rng, 1e-3)
        both.agree()
    assert not len(both.scenes[0]._memory.pairs)
    assert both.scenes[0].contacts(within=np.inf).pairs == both.scenes[1].contacts(within=np.inf).pairs


def test_memory_size_is_that_of_the_last_step():
    rng = np.random.default_rng(10)
    both = crowd(rng, 80, SHAPES[3:6], 0.5)
    memory = both.scenes[0]._memory
    for _ in range(3):
        both.step(rng, 1e-3)
        both.agree()
    assert len(memory.cache.faces) > 1000
    names = sorted(both.there)
    half = len(names) // 2
    for k in range(5):  # half of the objects separate in steps too small to reset the memory
        where = np.array([both.there[name] for name in names])
        where[:half, 0, 3] += np.arange(half) * 0.02 * 2.0**k
        both.each("move_many", names, where)
        both.there = dict(zip(names, where, strict=True))
        contacts = both.agree()
        assert len(memory.cache.faces) <= 3 * len(contacts) + 10
        assert len(memory.cache.at) == len(memory.cache.axes) == len(memory.pairs)
    where[:, 0, 3] = np.arange(len(names)) * 5.0
    both.each("move_many", names, where)
    assert len(both.agree()) == 0
    assert len(memory.pairs) == len(memory.cache.at) == len(memory.cache.axes) == len(memory.cache.faces) == 0


def test_memory_is_empty_without_motion_or_after_jumps():
    rng = np.random.default_rng(11)
    both = crowd(rng, 20)
    memory = both.scenes[0]._memory
    for _ in range(3):
        both.agree()
        assert not len(memory.pairs)
    for _ in range(3):
        names = sorted(both.there)
        both.each("move_many", names, poses(rng, len(names)))
        both.agree()
        assert not len(memory.pairs)


def test_copies_start_without_memory():
    plain = gk.Scene(remember=False)
    assert plain._memory is None
    for scene in (gk.Scene(), plain):
        scene.add("a", gk.Box((1, 1, 1)))
        scene.add("b", SHAPES[4], naive.pose(translation=(0.3, 0.1, 0.0)))
        first = scene.contacts()
        for duplicate in (scene.copy(), copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
            assert (duplicate._memory is None) == (scene is plain)
            again = duplicate.contacts()
            np.testing.assert_array_equal(again.result._points, first.result._points)


def test_reports_and_replay_do_not_use_memory(monkeypatch, tmp_path):
    """Reports and replays must have equal bits in every run."""

    def remembers(*_, **__):
        raise AssertionError("asked a memory")

    for name in ("follow", "collisions", "distances_within"):
        monkeypatch.setattr(Memory, name, remembers)
    box = trimesh.creation.box((1, 1, 1))
    meshes = [gk.Mesh(box.vertices + (0.9 * k, 0, 0), box.faces) for k in range(3)]
    parts = tuple(gk.clash.AssemblyPart(f"part {k}", "", mesh) for k, mesh in enumerate(meshes))
    assert gk.clash.check(gk.clash.Assembly(parts), clearance=0.2).complete
    gk.replay.to_json(gk.signed_distance(SHAPES[0], SHAPES[4]), tmp_path / "one.json")
    assert gk.replay.run(tmp_path / "one.json").sameness.name == "SAME"
    with pytest.raises(AssertionError, match="asked a memory"):
        gk.Scene().collisions()


def test_closest_does_not_compute_depth_of_all_meshes(monkeypatch):
    rng, torus, counts = np.random.default_rng(3), PLANES[1], []
    both = crowd(rng, 30, [*SHAPES[:3], torus], 0.6)
    distances = query.SceneQuery.distances

    def counted(self, pairs, *given):
        counts.append(len(self.by_kind(self.numbers(pairs))[1]))
        return distances(self, pairs, *given)

    for _ in range(3):
        both.step(rng, 1e-3)
        warm, cold = (scene.closest(k=2) for scene in both.scenes)
    assert warm.pairs == cold.pairs
    assert (np.maximum(warm.result.lower, cold.result.lower) <= np.minimum(warm.result.upper, cold.result.upper)).all()
    scene = both.scenes[0]
    both.step(rng, 1e-3)
    monkeypatch.setattr(query.SceneQuery, "distances", counted)
    scene.closest(k=2)
    meet = sum(torus in (scene.shape(a), scene.shape(b)) for a, b in scene.collisions())
    assert 0 < sum(counts) < meet / 2
