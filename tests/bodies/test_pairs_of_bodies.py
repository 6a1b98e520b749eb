"""`Pairs` with bodies among its shapes gives the bits of single queries."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair
from tests.bodies.every_kind import KINDS
from tests.bodies.random_shapes import anywhere

SHAPES = [
    *(make() for make in KINDS.values()), gk.Sphere(0.4), gk.Box((0.5, 0.6, 0.7)), gk.Halfspace((0, 0, 1), -4.0),
]  # fmt: skip
SHAPES = [getattr(x, "body", x) for x in SHAPES]
GROUND, PLANE = list(KINDS).index("ground"), len(SHAPES) - 1
INDEX_PAIRS = [
    (i, j) for i, j in product(range(len(SHAPES)), repeat=2) if i != j and {i, j} != {GROUND, PLANE}
]  # fmt: skip


def test_all_pairs_of_kinds_equal_single_queries() -> None:
    rng = np.random.default_rng(7)
    pairs = gk.Pairs(SHAPES)
    index = np.array(INDEX_PAIRS * 2)
    poses = np.stack([[anywhere(rng, 0.5), anywhere(rng, 0.5)] for _ in index])
    poses[:, 1, :3, 3] += rng.normal(size=(len(index), 3)) * 1.5
    met = pairs.collide(index, poses)
    within = pairs.collide(index, poses, margin=0.3)
    distances = pairs.distance(index, poses)
    assert 20 < met.sum() < len(index) - 20
    for k, (i, j) in enumerate(index.tolist()):
        a, b, (pose_a, pose_b) = SHAPES[i], SHAPES[j], poses[k]
        assert met[k] == gk.collide(a, b, pose_a, pose_b)
        assert within[k] == gk.collide(a, b, pose_a, pose_b, margin=0.3)
        single = gk.distance(a, b, pose_a, pose_b)
        assert (single.lower, single.upper, single.status) == (
            distances.lower[k],
            distances.upper[k],
            distances.status[k],
        )
        assert distances[k].shape_a is a
        assert distances[k].shape_b is b


def test_signed_distances_and_limits() -> None:
    rng = np.random.default_rng(8)
    pairs = gk.Pairs(SHAPES)
    index = np.array(INDEX_PAIRS[::3])
    poses = np.stack([anywhere(rng, 1.5) for _ in SHAPES])
    poses[GROUND, :3, :3] = np.eye(3)
    signed = pairs.signed_distance(index, poses)
    near = pairs.distance(index, poses, max_distance=0.1)
    for k, (i, j) in enumerate(index.tolist()):
        single = gk.signed_distance(SHAPES[i], SHAPES[j], poses[i], poses[j])
        assert (single.distance, single.lower, single.upper) == (signed.distance[k], signed.lower[k], signed.upper[k])
        assert near.lower[k] <= max(single.upper, 0.0)
        assert (near.status[k] == gk.Status.BEYOND) <= (single.upper > 0.1)


def test_memory_workers_and_pickles() -> None:
    pairs = gk.Pairs(SHAPES)
    poses = np.stack([anywhere(np.random.default_rng(k), 2.0) for k in range(len(SHAPES))])
    memory = pairs.memory(INDEX_PAIRS)
    for _ in range(2):
        assert (pairs.collide(INDEX_PAIRS, poses, memory=memory) == pairs.collide(INDEX_PAIRS, poses, workers=2)).all()
    again = pickle.loads(pickle.dumps(pairs))
    assert type(again) is gk.Pairs
    assert (again.collide(INDEX_PAIRS, poses) == pairs.collide(INDEX_PAIRS, poses)).all()


def test_unsupported_pairs_and_invalid_shapes_raise() -> None:
    poses = np.tile(np.eye(4), (len(SHAPES), 1, 1))
    pairs = gk.Pairs(SHAPES)
    with pytest.raises(UnsupportedPair) as caught:
        pairs.collide([(0, 1), (GROUND, PLANE)], poses)
    assert_names(caught.value, "gjk3d.Box", "bottom=z")
    with pytest.raises(UnsupportedPair, match="two HeightFields"):
        gk.Pairs([SHAPES[GROUND]] * 2).distance([(0, 1)], poses[:2])
    with pytest.raises(ShapeError) as caught:
        gk.Pairs(SHAPES[0])
    assert_names(caught.value, "shapes", "a Mesh")
