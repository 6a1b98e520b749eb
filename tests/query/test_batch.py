"""Pairs: many different pairs in one call are the plain functions' answers, for any number of threads."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
from strategies import SHAPES, build
from words import assert_names

import gjk3d as gk
from gjk3d.convex import batch
from gjk3d.narrow.solve import PAIR, TURN

FIELDS = ("distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations")
GROUND = ("halfspace", (0.0, 0.6, 0.8), 0.25)


def scene(count=40, seed=0, ground=True):
    """Shapes of every kind, several alike, at places where about half of the pairs overlap."""
    rng = np.random.default_rng(seed)
    specs = [*SHAPES.values(), ("hull", naive.unit_vectors(rng, 150))] + ([GROUND] if ground else [])
    distinct = [build(spec) for spec in specs]
    shapes = [distinct[k] for k in rng.integers(len(distinct), size=count)]
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, count)
    poses[:, :3, 3] = rng.normal(size=(count, 3)) * 0.5
    index = rng.integers(count, size=(400, 2))
    flat = np.array([isinstance(shape, gk.Halfspace) for shape in shapes])
    return shapes, poses, index[~flat[index].all(axis=1)]


def test_every_row_has_the_bits_of_the_plain_functions():
    shapes, poses, index = scene()
    pairs = gk.Pairs(shapes)
    hits = pairs.collide(index, poses)
    assert 0.3 < hits.mean() < 0.7
    near = pairs.collide(index, poses, margin=0.2)
    answers = {"distance": pairs.distance(index, poses), "signed_distance": pairs.signed_distance(index, poses)}
    for k, (i, j) in enumerate(index):
        what = shapes[i], shapes[j], poses[i][None], poses[j][None]
        assert hits[k] == gk.collide(*what)[0]
        assert near[k] == gk.collide(*what, margin=0.2)[0]
        for name, answer in answers.items():
            plain = getattr(gk, name)(*what)
            for field in FIELDS:
                assert np.array_equal(getattr(answer, field)[k], getattr(plain, field)[0]), (k, name, field)


def test_threads_change_no_bit():
    shapes, poses, index = scene(seed=1)
    index = np.tile(index, (5, 1))
    pairs = gk.Pairs(shapes)
    one = pairs.signed_distance(index, poses)
    for workers in (2, 3, 7):
        many = pairs.signed_distance(index, poses, workers=workers)
        for field in FIELDS:
            assert np.array_equal(getattr(one, field), getattr(many, field))
        assert np.array_equal(pairs.collide(index, poses), pairs.collide(index, poses, workers=workers))
    box, ball = gk.Box((1, 1, 1)), gk.ConvexHull(naive.unit_vectors(np.random.default_rng(0), 200))
    stack = np.tile(poses, (20, 1, 1))
    for query in (gk.distance, gk.signed_distance):
        one, two = query(box, ball, None, stack), query(box, ball, None, stack, workers=2)
        assert all(np.array_equal(getattr(one, field), getattr(two, field)) for field in FIELDS)
    assert np.array_equal(gk.collide(box, ball, None, stack), gk.collide(box, ball, None, stack, workers=2))


def test_turns_change_no_bit(monkeypatch):
    shapes, poses, index = scene(seed=7)
    pairs = gk.Pairs(shapes)
    stacked = poses[index]

    def answers():
        memory = pairs.memory(index)
        for _ in range(2):
            kept = pairs.collide(index, poses, memory=memory), pairs.signed_distance(index, poses, memory=memory)
        asked = pairs.signed_distance(index, stacked, workers=3), pairs.distance(index, poses)
        fields = [getattr(found, field) for found in (kept[1], *asked) for field in FIELDS]
        return [kept[0], pairs.collide(index, stacked, margin=0.2), memory._rows, *fields]

    as_asked = answers()
    monkeypatch.setattr(batch, "_CACHE", 0)
    monkeypatch.setattr(batch, "_BLOCK", 1000)
    monkeypatch.setattr(batch, "_WORTH", 1_000_000)
    by_shape = answers()
    assert all(np.array_equal(one, two) for one, two in zip(as_asked, by_shape, strict=True))


def test_every_pair_has_one_turn():
    rng = np.random.default_rng(8)
    table = np.zeros((5000, PAIR), dtype=np.int64)
    table[:, 1], table[:, 6] = rng.integers(0, 50, 5000) * 900, rng.integers(0, 1000, 5000) * 900
    batch.order_for_cache(table, 1_000_000)
    asked = np.arange(5000) + table[:, TURN]
    assert np.array_equal(np.sort(asked), np.arange(5000))
    blocks = 1 + 999 * 900 // batch._BLOCK
    assert np.count_nonzero(np.diff(table[asked, 1])) < 50 * blocks, "like shapes behind each other"
    batch.order_for_cache(table, 1000)
    assert not table[:, TURN].any()


def test_two_poses_a_pair():
    shapes, poses, index = scene(seed=2)
    pairs = gk.Pairs(shapes)
    one, two = pairs.signed_distance(index, poses), pairs.signed_distance(index, poses[index])
    assert all(np.array_equal(getattr(one, field), getattr(two, field)) for field in FIELDS)
    assert np.array_equal(one[3].pose_a, two[3].pose_a)
    assert np.array_equal(pairs.collide(index, poses), pairs.collide(index, poses[index]))


def test_a_row_knows_its_question_and_can_be_verified():
    shapes, poses, index = scene(seed=3)
    answer = gk.Pairs(shapes).signed_distance(index, poses)
    assert len(answer) == len(index)
    for k in (0, 7):
        i, j = index[k]
        row = answer[k]
        assert row.shape_a is shapes[i]
        assert row.shape_b is shapes[j]
        assert np.array_equal(row.pose_b, poses[j])
        assert gk.verify(row, shapes[i], shapes[j], poses[i], poses[j])
    some = answer[answer.distance < 0]
    assert (some.distance < 0).all()
    assert some[0].shape_a is shapes[index[answer.distance < 0][0, 0]]
    again = pickle.loads(pickle.dumps(answer))
    assert np.array_equal(again.distance, answer.distance)
    assert again[5].shape_a == answer[5].shape_a


def test_memory_keeps_booleans_and_bounds():
    shapes, poses, index = scene(seed=4)
    pairs = gk.Pairs(shapes)
    memory, touched = pairs.memory(index), pairs.memory(index)
    steps = [0, 0]
    for k in range(12):
        poses[:, 0, 3] += 0.02 * np.sin(k + np.arange(len(poses)))
        assert np.array_equal(pairs.collide(index, poses, memory=touched), pairs.collide(index, poses))
        warm, cold = pairs.distance(index, poses, memory=memory), pairs.distance(index, poses)
        assert np.array_equal(warm.status, cold.status)
        assert (np.maximum(warm.lower, cold.lower) <= np.minimum(warm.upper, cold.upper)).all()
        steps[0] += warm.iterations[warm.distance > 0].sum() if k else 0
        steps[1] += cold.iterations[cold.distance > 0].sum() if k else 0
    assert steps[0] < 0.8 * steps[1]
    memory.forget()
    fresh = pairs.distance(index, poses, memory=memory)
    assert np.array_equal(fresh.distance, pairs.distance(index, poses).distance)
    with pytest.raises(gk.errors.ShapeError) as caught:
        pairs.collide(index[:-1], poses, memory=memory)
    assert_names(caught.value, "memory", "400 pairs", "399")


def test_nothing_asked_nothing_answered():
    pairs = gk.Pairs([gk.Sphere(1)])
    assert pairs.collide([], np.eye(4)[None]).shape == (0,)
    assert len(pairs.signed_distance(np.zeros((0, 2), dtype=int), np.eye(4)[None])) == 0
    assert gk.Pairs([]).collide([], np.zeros((0, 4, 4))).shape == (0,)
    assert_names(repr(pickle.loads(pickle.dumps(pairs))), "Pairs", "1 shape")


@pytest.mark.parametrize(
    ("change", "error", "fragments"),
    [
        ({"index_pairs": [(0, 3)]}, gk.errors.ShapeError, ("index_pairs[0]", "[0, 3]", "3 shapes")),
        ({"index_pairs": [(0, -1)]}, gk.errors.ShapeError, ("index_pairs[0]", "[0, -1]")),
        ({"index_pairs": [0, 1]}, gk.errors.ShapeError, ("index_pairs", "(2,)", "(m, 2)")),
        ({"index_pairs": [(0.0, 1.0)]}, gk.errors.ShapeError, ("index_pairs", "float64")),
        ({"index_pairs": [(2, 2)]}, gk.errors.UnsupportedPair, ("Halfspace", "large Box")),
        ({"poses": np.eye(4)}, gk.errors.ShapeError, ("poses", "(4, 4)", "(n, 4, 4)")),
        ({"poses": np.tile(np.eye(4), (2, 1, 1))}, gk.errors.ShapeError, ("poses", "2 rows", "3 shapes")),
        (
            {"poses": np.tile(np.eye(4), (3, 2, 1, 1))},
            gk.errors.ShapeError,
            ("poses", "3 rows", "1, one for each row of index_pairs"),
        ),
        ({"poses": np.full((3, 4, 4), np.nan)}, gk.errors.PoseError, ("poses[0]", "[0, 0]", "nan")),
        (
            {"poses": [[np.eye(4), np.diag([2, 2, 2, 1])]]},
            gk.errors.PoseError,
            ("poses[:, 1][0]", "(2, 2, 2)", "shape.scaled"),
        ),
        ({"workers": 0}, gk.errors.ShapeError, ("workers", " 0", "1024")),
        ({"workers": "all"}, gk.errors.ShapeError, ("workers", "'all'", "1024")),
    ],
)
def test_what_is_wrong_is_said(change, error, fragments):
    pairs = gk.Pairs([gk.Sphere(1), gk.Box((1, 1, 1)), gk.Halfspace((0, 0, 1), 0)])
    question = {"index_pairs": [(0, 1)], "poses": np.tile(np.eye(4), (3, 1, 1))} | change
    for query in (pairs.collide, pairs.distance, pairs.signed_distance):
        with pytest.raises(error) as caught:
            query(**question)
        assert_names(caught.value, *fragments)


def test_shapes_are_checked():
    with pytest.raises(gk.errors.UnsupportedPair, match=r"shapes\[1\].*\bstr\b"):
        gk.Pairs([gk.Sphere(1), "ball"])
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.Pairs([gk.Sphere(1)] * 2).signed_distance([(0, 1)], np.tile(np.eye(4), (2, 1, 1)), depth="facets")
    assert_names(caught.value, "depth='facets'", "'auto'", "'epa'")
