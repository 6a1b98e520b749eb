"""Queries of `Pairs` return the results of the single-pair functions, for any number of threads."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
from message_checks import assert_names
from strategies import SHAPES, build

import gjk3d as gk
from gjk3d.convex import batch
from gjk3d.narrow.solve import PAIR, TURN

FIELDS = ("distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations")
GROUND = ("halfspace", (0.0, 0.6, 0.8), 0.25)


def scene(count=40, seed=0, ground=True):
    """Return shapes of every kind with repetitions, poses at which about half of the pairs overlap, and pairs."""
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


def test_rows_equal_single_pair_queries():
    shapes, poses, index = scene()
    pairs = gk.Pairs(shapes)
    hits = pairs.collide(index, poses)
    assert 0.3 < hits.mean() < 0.7
    near = pairs.collide(index, poses, margin=0.2)
    results = {"distance": pairs.distance(index, poses), "signed_distance": pairs.signed_distance(index, poses)}
    for k, (i, j) in enumerate(index):
        pair = shapes[i], shapes[j], poses[i][None], poses[j][None]
        assert hits[k] == gk.collide(*pair)[0]
        assert near[k] == gk.collide(*pair, margin=0.2)[0]
        for name, result in results.items():
            plain = getattr(gk, name)(*pair)
            for field in FIELDS:
                assert np.array_equal(getattr(result, field)[k], getattr(plain, field)[0]), (k, name, field)


def test_results_are_independent_of_threads():
    shapes, poses, index = scene(seed=1)
    index = np.tile(index, (5, 1))
    pairs = gk.Pairs(shapes)
    serial = pairs.signed_distance(index, poses)
    for workers in (2, 3, 7):
        threaded = pairs.signed_distance(index, poses, workers=workers)
        for field in FIELDS:
            assert np.array_equal(getattr(serial, field), getattr(threaded, field))
        assert np.array_equal(pairs.collide(index, poses), pairs.collide(index, poses, workers=workers))
    box, ball = gk.Box((1, 1, 1)), gk.ConvexHull(naive.unit_vectors(np.random.default_rng(0), 200))
    stack = np.tile(poses, (20, 1, 1))
    for query in (gk.distance, gk.signed_distance):
        serial, parallel = query(box, ball, None, stack), query(box, ball, None, stack, workers=2)
        assert all(np.array_equal(getattr(serial, field), getattr(parallel, field)) for field in FIELDS)
    assert np.array_equal(gk.collide(box, ball, None, stack), gk.collide(box, ball, None, stack, workers=2))


def test_results_are_independent_of_the_processing_order(monkeypatch):
    shapes, poses, index = scene(seed=7)
    pairs = gk.Pairs(shapes)
    stacked = poses[index]

    def results():
        memory = pairs.memory(index)
        for _ in range(2):
            with_memory = pairs.collide(index, poses, memory=memory), pairs.signed_distance(index, poses, memory=memory)
        others = pairs.signed_distance(index, stacked, workers=3), pairs.distance(index, poses)
        fields = [getattr(result, field) for result in (with_memory[1], *others) for field in FIELDS]
        return [with_memory[0], pairs.collide(index, stacked, margin=0.2), memory._rows, *fields]

    in_order = results()
    monkeypatch.setattr(batch, "_CACHE", 0)
    monkeypatch.setattr(batch, "_BLOCK", 1000)
    monkeypatch.setattr(batch, "_WORTH", 1_000_000)
    by_shape = results()
    assert all(np.array_equal(a, b) for a, b in zip(in_order, by_shape, strict=True))


def test_processing_order_is_a_permutation():
    rng = np.random.default_rng(8)
    table = np.zeros((5000, PAIR), dtype=np.int64)
    table[:, 1], table[:, 6] = rng.integers(0, 50, 5000) * 900, rng.integers(0, 1000, 5000) * 900
    batch.order_for_cache(table, 1_000_000)
    order = np.arange(5000) + table[:, TURN]
    assert np.array_equal(np.sort(order), np.arange(5000))
    blocks = 1 + 999 * 900 // batch._BLOCK
    assert np.count_nonzero(np.diff(table[order, 1])) < 50 * blocks, "like shapes behind each other"
    batch.order_for_cache(table, 1000)
    assert not table[:, TURN].any()


def test_poses_per_pair_equal_poses_per_shape():
    shapes, poses, index = scene(seed=2)
    pairs = gk.Pairs(shapes)
    by_shape, by_pair = pairs.signed_distance(index, poses), pairs.signed_distance(index, poses[index])
    assert all(np.array_equal(getattr(by_shape, field), getattr(by_pair, field)) for field in FIELDS)
    assert np.array_equal(by_shape[3].pose_a, by_pair[3].pose_a)
    assert np.array_equal(pairs.collide(index, poses), pairs.collide(index, poses[index]))


def test_row_has_its_shapes_and_poses_and_verifies():
    shapes, poses, index = scene(seed=3)
    result = gk.Pairs(shapes).signed_distance(index, poses)
    assert len(result) == len(index)
    for k in (0, 7):
        i, j = index[k]
        row = result[k]
        assert row.shape_a is shapes[i]
        assert row.shape_b is shapes[j]
        assert np.array_equal(row.pose_b, poses[j])
        assert gk.verify(row, shapes[i], shapes[j], poses[i], poses[j])
    some = result[result.distance < 0]
    assert (some.distance < 0).all()
    assert some[0].shape_a is shapes[index[result.distance < 0][0, 0]]
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.distance, result.distance)
    assert again[5].shape_a == result[5].shape_a


def test_memory_changes_no_boolean_and_keeps_bounds_valid():
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


def test_empty_input_returns_empty_results():
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
def test_invalid_arguments_raise(change, error, fragments):
    pairs = gk.Pairs([gk.Sphere(1), gk.Box((1, 1, 1)), gk.Halfspace((0, 0, 1), 0)])
    arguments = {"index_pairs": [(0, 1)], "poses": np.tile(np.eye(4), (3, 1, 1))} | change
    for query in (pairs.collide, pairs.distance, pairs.signed_distance):
        with pytest.raises(error) as caught:
            query(**arguments)
        assert_names(caught.value, *fragments)


def test_invalid_shapes_and_depth_raise():
    with pytest.raises(gk.errors.UnsupportedPair, match=r"shapes\[1\].*\bstr\b"):
        gk.Pairs([gk.Sphere(1), "ball"])
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.Pairs([gk.Sphere(1)] * 2).signed_distance([(0, 1)], np.tile(np.eye(4), (2, 1, 1)), depth="facets")
    assert_names(caught.value, "depth='facets'", "'auto'", "'epa'")
