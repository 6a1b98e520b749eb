"""Scenes that remember against scenes that do not: the same pairs after any history, intervals that hold the truth."""

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
    """Return poses a step on: everything moves and turns by about ``size``."""
    out = where.copy()
    count = len(where)
    out[:, :3, :3] = Rotation.from_rotvec(rng.normal(size=(count, 3)) * size).as_matrix() @ where[:, :3, :3]
    out[:, :3, 3] += rng.normal(size=(count, 3)) * size
    return out


class Both:
    """A scene that remembers and one that does not, changed alike."""

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
        """Assert that the pairs are the same, and that both intervals may hold one truth; return the contacts."""
        warm, cold = self.scenes
        assert warm.collisions(margin=margin, workers=workers) == cold.collisions(margin=margin)
        found, expected = warm.contacts(within=within, workers=workers), cold.contacts(within=within)
        assert found.pairs == expected.pairs
        one, two = found.result.result, expected.result.result
        assert np.array_equal(one.status, two.status)
        assert (np.maximum(one.lower, two.lower) <= np.minimum(one.upper, two.upper)).all()
        assert ((one.lower <= one.distance) & (one.distance <= one.upper)).all()
        # no less is known
        slack = 2e-13 * np.abs(np.stack([warm.pose(name)[:3, 3] for name in warm.names])).max(initial=1.0)
        assert (one.upper - one.lower <= np.maximum(two.upper - two.lower, 0.0) + 20.0 * slack).all()
        assert (found.result.count > 0).all()
        assert np.allclose(one.point_b - one.point_a, one.distance[:, None] * one.normal, rtol=0.0, atol=1e-11)
        self.agree_on_closest(within, margin, workers)
        return found

    def agree_on_closest(self, within, margin, workers):
        """Assert that as many are closest, in order, and that one truth may be in both intervals of each rank."""
        warm, cold = self.scenes
        for asked in ({"within": within}, {"within": margin}, {"k": 3}, {"k": 2, "within": within}):
            near, expected = warm.closest(workers=workers, **asked), cold.closest(**asked)
            if "k" not in asked:
                assert set(near.pairs) == set(expected.pairs)
            one, two = near.result, expected.result
            assert len(near) == len(expected)
            assert (np.diff(one.distance) >= 0.0).all()
            assert (np.sort(one.lower) <= np.sort(two.upper)).all()
            assert (np.sort(two.lower) <= np.sort(one.upper)).all()


@pytest.fixture(autouse=True)
def _always_many(monkeypatch):
    monkeypatch.setattr(query, "MANY", -1)
    monkeypatch.setattr("gjk3d.scene.scene.MANY", -1)  # small scenes are asked in another way, which remembers nothing


def crowd(rng, count, shapes=SHAPES, spread=1.0):
    both = Both()
    for k, pose in enumerate(poses(rng, count, spread)):
        both.put(f"part {rng.integers(10**6)} {k}", shapes[rng.integers(len(shapes))], pose)
    return both


@pytest.mark.full
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((1e-9, 1e-3, 1e-2, 0.1)),
    st.lists(st.sampled_from("ssstarnlpmw"), min_size=3, max_size=14),
)
def test_any_walk_has_the_same_pairs(seed, size, history):
    rng = np.random.default_rng(seed)
    both = crowd(rng, 14)
    within = 0.0
    for step in history:
        names = sorted(both.there)
        name = names[rng.integers(len(names))] if names else None
        shape = SHAPES[rng.integers(len(SHAPES))]
        if step == "s" and names:
            both.step(rng, size)
        elif step == "t" and name:  # somewhere else, by itself
            both.there[name] = poses(rng, 1)[0]
            both.each("move", name, both.there[name])
        elif step == "a":
            both.put(f"more {rng.integers(100)}", shape, poses(rng, 1)[0])
        elif step == "r" and name:
            both.each("remove", name)
            del both.there[name]
        elif step == "n" and name:  # another name in the same place
            pose, shape = both.there.pop(name), both.scenes[0].shape(name)
            both.each("remove", name)
            both.put(f"{rng.integers(100)} {name}", shape, pose)
        elif step == "l" and len(names) > 1:
            both.each("allow", *rng.choice(names, 2, replace=False).tolist())
        elif step == "p" and name:  # another shape in the same place, or the same one scaled
            shape = shape if rng.random() < 0.5 else gk.ConvexHull(HULLS[1] * rng.uniform(0.5, 1.5))
            both.put(name, shape, both.there[name])
        elif step == "m":
            both.put(f"solid {rng.integers(3)}", PLANES[rng.integers(len(PLANES))], np.eye(4))
        elif step == "w":
            within = float(rng.choice((0.0, 0.1, 1.0)))
        both.agree(within, margin=float(rng.choice((0.0, 0.05, -0.05))))


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.sampled_from((1e-3, 5e-3, 2e-2)))
def test_depths_along_a_walk_hold_the_truth(seed, size):
    """Hulls and boxes: the depth is the least facet of all differences, to rounding."""
    rng = np.random.default_rng(seed)
    corners = naive.body(("box", (0.5, 0.4, 0.3))).points
    points = [np.asarray(corners), *HULLS[:2]]
    which = rng.integers(3, size=6).tolist()
    both = Both()
    for k, pose in zip(range(6), poses(rng, 6, 0.3), strict=True):
        both.put(str(k), [SHAPES[0], *SHAPES[3:5]][which[k]], pose)
    for _ in range(5):
        both.step(rng, size)
        found = both.agree()
        for a, b, row in found:
            placed = [points[which[int(n)]] @ both.there[n][:3, :3].T + both.there[n][:3, 3] for n in (a, b)]
            true, _ = naive.hull_signed_distance(naive.differences(*placed))
            assert row.lower - 1e-13 <= true <= row.upper + 1e-13
            assert row.upper - row.lower < 5e-12
            pushed = placed[1] - row.normal * row.result.lower  # out by the depth along the normal they are apart
            assert (placed[0] @ row.normal).max() <= (pushed @ row.normal).min() + 1e-12


def test_the_memory_answers():
    """Most depths of hulls are proven by one support point at the third step, and with rational numbers too."""
    rng = np.random.default_rng(1)
    both = crowd(rng, 60, SHAPES[3:6], 0.8)
    for _ in range(3):
        both.step(rng, 1e-3)
        found = both.agree()
    steps = found.result.result.iterations
    assert len(steps) > 100
    assert np.mean(steps == 1) > 0.7
    for k in np.flatnonzero(steps == 1)[:5]:
        a, b, row = found[int(k)]
        warm = both.scenes[0]
        assert gk.verify(row.result, warm.shape(a), warm.shape(b), warm.pose(a), warm.pose(b))


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_any_scale_and_place(scale, far):
    rng = np.random.default_rng(3)
    both = Both()
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
        one, two = warm.result.result, cold.result.result
        assert (np.maximum(one.lower, two.lower) <= np.minimum(one.upper, two.upper)).all()
        assert both.scenes[0].collisions() == both.scenes[1].collisions()


def test_workers_change_no_bit():
    rng = np.random.default_rng(5)
    walks = [crowd(np.random.default_rng(4), 400, spread=2.0).scenes[0] for _ in range(2)]
    names = walks[0].names
    where = np.array([walks[0].pose(name) for name in names])
    for _ in range(4):
        where = stepped(rng, where, 5e-3)
        answers = []
        for scene, workers in zip(walks, (1, 3), strict=True):
            scene.move_many(names, where)
            found = scene.contacts(workers=workers)
            answers.append((found.pairs, found.result._points, found.result.result.lower, found.result.result.upper))
            assert scene.collisions(workers=workers) == scene.collisions()
        assert answers[0][0] == answers[1][0]
        for one, two in zip(answers[0][1:], answers[1][1:], strict=True):
            np.testing.assert_array_equal(one, two)


def test_twins_whose_order_turns():
    """Equal shapes are put in order by their poses, which may turn from step to step."""
    hull = gk.ConvexHull(HULLS[2])
    both = Both()
    both.put("a", hull, np.eye(4))
    for x in (0.02, 0.01, -0.01, -0.02, 0.01):
        both.put("b", hull, naive.pose(translation=(0.01, 0.0, 0.0))) if "b" not in both.there else None
        both.each("move", "b", naive.pose(translation=(x, 0.05, 0.0)))
        both.agree()


def test_another_shape_in_the_place_of_one_is_asked_afresh():
    """What was kept of the shape before would be no points of this one, which is so alike that all else is kept."""
    box, large, small = gk.Box((1, 1, 1)), *(gk.ConvexHull(HULLS[2] * size) for size in (4.0, 3.97))
    both = Both()
    both.put("a", box, np.eye(4))
    both.put("b", large, naive.pose(translation=(0.3, 0.0, 0.0)))
    for k in (0, 1, 2, 1):
        both.each("move", "a", naive.pose(translation=(1e-3 * k, 0.0, 0.0)))
        both.agree()
    kept = both.scenes[0]._memory
    assert kept.cache.faces[0, 0] > 0
    both.put("b", small, both.there["b"])
    both.agree()
    assert len(kept.pairs)
    both.each("remove", "a")
    both.each("remove", "b")
    both.each("add", "b", box, np.eye(4))  # the slots are exchanged
    both.each("add", "a", large, naive.pose(translation=(0.3, 0.0, 0.0)))
    both.agree()


def test_few_things_that_are_fast_among_many_that_rest():
    rng = np.random.default_rng(8)
    both = crowd(rng, 120, spread=2.0)
    names = sorted(both.there)
    for _ in range(6):
        for name in names[:2]:
            both.each("move", name, poses(rng, 1, 2.0)[0])
        both.each("move", names[2], both.scenes[0].pose(names[2]) @ naive.pose(translation=(1e-3, 0.0, 0.0)))
        both.agree()


@pytest.mark.parametrize("share", [0.85, 1.01, 1.9])
def test_objects_that_outrun_the_enlargement_of_their_boxes_are_searched_again(share):
    """Boxes are larger by ten steps of 0.01. Both objects then close their gap, by a little over that share each."""
    enlargement, both, box = 0.1, Both(), gk.Box((1.0, 1.0, 1.0))
    start = np.array([0.0, 1.0 + 2.0 * share * enlargement])

    def place(x):
        return np.array([naive.pose(translation=(each, 0.0, 0.0)) for each in x])

    for name, pose in zip("ab", place(start), strict=True):
        both.put(name, box, pose)
    both.agree()
    both.each("move_many", ["a", "b"], place(start + 0.01))
    both.agree()
    kept = both.scenes[0]._memory
    assert kept._pad == pytest.approx(enlargement)
    assert len(kept.pairs) == int(share < 1.0)
    both.each("move_many", ["a", "b"], place(start + 0.01 + (share + 0.02) * enlargement * np.array([1, -1])))
    assert both.agree().pairs == [("a", "b")]


def test_too_many_pairs_are_not_remembered(monkeypatch):
    monkeypatch.setattr(coherence, "_MOST_PAIRS", 10)
    monkeypatch.setattr(coherence, "_PAIRS_PER_OBJECT", 1)
    rng = np.random.default_rng(9)
    both = crowd(rng, 30, spread=0.3)
    for _ in range(2):
        both.step(rng, 1e-3)
        both.agree()
    assert not len(both.scenes[0]._memory.pairs)
    assert both.scenes[0].contacts(within=np.inf).pairs == both.scenes[1].contacts(within=np.inf).pairs


def test_memory_is_no_larger_than_the_last_step():
    rng = np.random.default_rng(10)
    both = crowd(rng, 80, SHAPES[3:6], 0.5)
    kept = both.scenes[0]._memory
    for _ in range(3):
        both.step(rng, 1e-3)
        both.agree()
    assert len(kept.cache.faces) > 1000
    names = sorted(both.there)
    half = len(names) // 2
    for k in range(5):  # one half goes away from the other, and from each other, in steps that are no jumps
        where = np.array([both.there[name] for name in names])
        where[:half, 0, 3] += np.arange(half) * 0.02 * 2.0**k
        both.each("move_many", names, where)
        both.there = dict(zip(names, where, strict=True))
        found = both.agree()
        assert len(kept.cache.faces) <= 3 * len(found) + 10
        assert len(kept.cache.at) == len(kept.cache.axes) == len(kept.pairs)
    where[:, 0, 3] = np.arange(len(names)) * 5.0
    both.each("move_many", names, where)
    assert len(both.agree()) == 0
    assert len(kept.pairs) == len(kept.cache.at) == len(kept.cache.axes) == len(kept.cache.faces) == 0


def test_nothing_is_remembered_where_nothing_moves_or_all_jumps():
    rng = np.random.default_rng(11)
    both = crowd(rng, 20)
    kept = both.scenes[0]._memory
    for _ in range(3):
        both.agree()
        assert not len(kept.pairs)
    for _ in range(3):
        names = sorted(both.there)
        both.each("move_many", names, poses(rng, len(names)))
        both.agree()
        assert not len(kept.pairs)


def test_what_forgets():
    plain = gk.Scene(remember=False)
    assert plain._memory is None
    for scene in (gk.Scene(), plain):
        scene.add("a", gk.Box((1, 1, 1)))
        scene.add("b", SHAPES[4], naive.pose(translation=(0.3, 0.1, 0.0)))
        first = scene.contacts()
        for other in (scene.copy(), copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
            assert (other._memory is None) == (scene is plain)
            again = other.contacts()
            np.testing.assert_array_equal(again.result._points, first.result._points)


def test_reports_and_replay_never_answer_from_memory(monkeypatch, tmp_path):
    """What tells or repeats an answer has to have the same bits on any day."""

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


def test_the_closest_of_many_meshes_is_found_without_the_depth_of_all(monkeypatch):
    rng, torus, asked = np.random.default_rng(3), PLANES[1], []
    both = crowd(rng, 30, [*SHAPES[:3], torus], 0.6)
    ask = query.SceneQuery.distances

    def counted(self, pairs, *given):
        asked.append(len(self.by_kind(self.numbers(pairs))[1]))
        return ask(self, pairs, *given)

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
    assert 0 < sum(asked) < meet / 2
