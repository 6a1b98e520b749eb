"""`Pairs` with bodies among its shapes: the same bits as one by one."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from words import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair
from tests.bodies.every_kind import KINDS
from tests.bodies.places import anywhere

SHAPES = [
    *(make() for make in KINDS.values()), gk.Sphere(0.4), gk.Box((0.5, 0.6, 0.7)), gk.Halfspace((0, 0, 1), -4.0),
]  # fmt: skip
SHAPES = [getattr(x, "body", x) for x in SHAPES]
GROUND, PLANE = list(KINDS).index("ground"), len(SHAPES) - 1
ASKED = [
    (i, j) for i, j in product(range(len(SHAPES)), repeat=2) if i != j and {i, j} != {GROUND, PLANE}
]  # fmt: skip


def test_every_two_kinds_as_asked_one_by_one() -> None:
    rng = np.random.default_rng(7)
    pairs = gk.Pairs(SHAPES)
    index = np.array(ASKED * 2)
    poses = np.stack([[anywhere(rng, 0.5), anywhere(rng, 0.5)] for _ in index])
    poses[:, 1, :3, 3] += rng.normal(size=(len(index), 3)) * 1.5
    met = pairs.collide(index, poses)
    within = pairs.collide(index, poses, margin=0.3)
    apart = pairs.distance(index, poses)
    assert 20 < met.sum() < len(index) - 20
    for k, (i, j) in enumerate(index.tolist()):
        a, b, (pose_a, pose_b) = SHAPES[i], SHAPES[j], poses[k]
        assert met[k] == gk.collide(a, b, pose_a, pose_b)
        assert within[k] == gk.collide(a, b, pose_a, pose_b, margin=0.3)
        one = gk.distance(a, b, pose_a, pose_b)
        assert (one.lower, one.upper, one.status) == (apart.lower[k], apart.upper[k], apart.status[k])
        assert apart[k].shape_a is a
        assert apart[k].shape_b is b


def test_signed_distances_and_limits() -> None:
    rng = np.random.default_rng(8)
    pairs = gk.Pairs(SHAPES)
    index = np.array(ASKED[::3])
    poses = np.stack([anywhere(rng, 1.5) for _ in SHAPES])
    poses[GROUND, :3, :3] = np.eye(3)
    found = pairs.signed_distance(index, poses)
    near = pairs.distance(index, poses, max_distance=0.1)
    for k, (i, j) in enumerate(index.tolist()):
        one = gk.signed_distance(SHAPES[i], SHAPES[j], poses[i], poses[j])
        assert (one.distance, one.lower, one.upper) == (found.distance[k], found.lower[k], found.upper[k])
        assert near.lower[k] <= max(one.upper, 0.0)
        assert (near.status[k] == gk.Status.BEYOND) <= (one.upper > 0.1)


def test_memory_workers_and_pickles() -> None:
    pairs = gk.Pairs(SHAPES)
    poses = np.stack([anywhere(np.random.default_rng(k), 2.0) for k in range(len(SHAPES))])
    memory = pairs.memory(ASKED)
    for _ in range(2):
        assert (pairs.collide(ASKED, poses, memory=memory) == pairs.collide(ASKED, poses, workers=2)).all()
    again = pickle.loads(pickle.dumps(pairs))
    assert type(again) is gk.Pairs
    assert (again.collide(ASKED, poses) == pairs.collide(ASKED, poses)).all()


def test_what_is_refused() -> None:
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
