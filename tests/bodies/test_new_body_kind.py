"""A new kind of body defines only its parts, and all queries support it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.bodies.base import Body
from gjk3d.bodies.parts import Copies, Parts
from tests.bodies.random_shapes import anywhere, at


class Fence(Body):
    """Posts in a row along x, as an example of a new kind of body."""

    __slots__ = ("count", "height", "step")
    count: int
    height: float
    step: float

    def __init__(self, count: int, step: float, height: float) -> None:
        self._set(count=count, step=step, height=height)

    def _build_parts(self) -> Parts:
        places = np.zeros((self.count, 3))
        places[:, 0] = self.step * np.arange(self.count)
        half = 0.5 * np.array([0.1, 0.1, self.height]) * (1.0 + 1e-15)
        boxes = np.hstack([places - half, places + half])
        post = gk.Box((0.1, 0.1, self.height))
        hull = gk.ConvexHull(np.concatenate([post.vertices + places[0], post.vertices + places[-1]]))
        return Copies([post], np.zeros(self.count, dtype=np.int64), places, boxes, lambda: hull)


FENCE = Fence(9, 0.5, 2.0)
COMPOUND = gk.Compound([(gk.Box((0.1, 0.1, 2.0)), at(0.5 * k, 0, 0)) for k in range(9)])
ELL = gk.Box((0.3, 0.3, 0.3)).surface()
OTHERS = [
    gk.Sphere(0.2), gk.Box((0.2, 3.0, 0.2)), gk.Mesh(ELL.vertices, ELL.faces),
    gk.PointCloud([(0, 0, 0), (0, 0, 1)], 0.2),
    gk.Compound([(gk.Capsule(0.1, 1.0), None), (gk.Sphere(0.3), at(0.4, 0, 0))]),
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: type(x).__name__)
def test_new_body_matches_an_equal_compound(other: object) -> None:
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(25):
        pose = anywhere(rng, 0.4)
        pose[0, 3] += 2.0
        hits.append(gk.collide(FENCE, other, None, pose))
        assert hits[-1] == gk.collide(COMPOUND, other, None, pose)
        mine, theirs = gk.signed_distance(FENCE, other, None, pose), gk.signed_distance(COMPOUND, other, None, pose)
        assert mine.lower <= theirs.upper
        assert theirs.lower <= mine.upper
        assert mine.status == theirs.status
        if not hits[-1]:
            assert mine.distance == pytest.approx(theirs.distance, rel=1e-9)
    assert 5 < sum(hits) < 22


def test_scenes_rays_planes_and_pickles_support_a_new_body() -> None:
    assert pickle.loads(pickle.dumps(FENCE)) == FENCE
    assert FENCE.bounds == pytest.approx(np.array([[-0.05, -0.05, -1.0], [4.05, 0.05, 1.0]]))
    assert gk.collide(FENCE, gk.Halfspace((0, 0, 1), -0.9))
    assert not gk.collide(FENCE, gk.Halfspace((0, 0, 1), -1.1))
    ray = gk.raycast(FENCE, [(0.75, -5, 0), (1.0, -5, 0)], (0, 1, 0))
    assert ray.hit.tolist() == [False, True]
    assert ray.distance[1] == pytest.approx(4.95)
    scene = gk.Scene()
    scene.add("fence", FENCE)
    scene.add("between", gk.Sphere(0.19), at(0.25, 0, 0))
    assert not scene.collides()
    assert scene.clearance().distance == pytest.approx(0.01)
    scene.move("between", at(0.3, 0, 0))
    assert scene.collisions() == [("between", "fence")]
    assert scene.contacts()[0][2].count >= 1


def test_contacts_with_the_ground_for_both_orders_of_names() -> None:
    ground = gk.HeightField(np.zeros((5, 5)), 1.0, origin=(-2, -2))
    cube = gk.Box((0.5, 0.5, 0.5)).surface()
    for name, shape, height in (
        ("a fence", FENCE, 1.0), ("a mesh", gk.Mesh(cube.vertices, cube.faces), 0.25), ("z", COMPOUND, 1.0),
    ):  # fmt: skip
        scene = gk.Scene()
        scene.add("ground", ground)
        scene.add(name, shape, at(-1.9 if height == 1.0 else 0.1, 0.1, height - 0.01))
        touch = scene.contacts(max_points=None)[0][2]
        up = touch.normals @ (0, 0, 1) if name > "ground" else touch.normals @ (0, 0, -1)
        assert (np.isclose(up, 1.0) & np.isclose(touch.gaps, -0.01)).sum() >= 4
