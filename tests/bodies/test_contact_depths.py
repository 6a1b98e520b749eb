"""Contacts come without the depth of the whole: it is found when it is read, and bounds no longer what is pushed."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies import distance
from tests.bodies.places import anywhere, at

FIELDS = ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight")
_TORUS = trimesh.creation.torus(0.45, 0.18, 16, 8)
TORUS = gk.Mesh(_TORUS.vertices, _TORUS.faces)
BOX, BALL, HULL = (
    gk.Box((0.7, 0.9, 1.1)), gk.Sphere(0.4), gk.ConvexHull(np.random.default_rng(5).normal(size=(32, 3)) * 0.4)
)  # fmt: skip
CUP = gk.Compound([(gk.Box((2, 2, 0.2)), at(0, 0, -0.5)), (gk.Box((0.2, 2, 1)), at(1, 0, 0))])


def same(found: Any, expected: Any, which: Any = ...) -> None:
    for field in FIELDS:
        one, two = (np.asarray(getattr(each, field))[which] for each in (found, expected))
        np.testing.assert_array_equal(one, two, field)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many depths are looked for."""
    depths_at, counted = distance.depths_at, []

    def count(a: Any, b: Any, rows: Any, workers: int = 1) -> Any:
        counted.append(len(rows))
        return depths_at(a, b, rows, workers)

    monkeypatch.setattr(distance, "depths_at", count)
    return counted


@pytest.mark.parametrize("other", [BOX, BALL, HULL, TORUS, CUP])
def test_depth_is_found_when_it_is_read(other: Any, asked: list[int]) -> None:
    rng = np.random.default_rng(11)
    poses = np.stack([anywhere(rng, 0.5) for _ in range(8)])
    many, single = gk.contact(TORUS, other, None, poses), gk.contact(TORUS, other, None, poses[0])
    rows = [many[k] for k in range(8)]
    assert asked == []
    same(single.result, gk.signed_distance(TORUS, other, None, poses[0]))
    expected = gk.signed_distance(TORUS, other, None, poses)
    assert many.count.astype(bool).sum() > 3
    same(many.result, expected, many.count > 0)  # of the others it is only known that they are apart
    assert many.result is many.result
    for k in np.flatnonzero(many.count):
        row = rows[k]
        same(row.result, expected[int(k)])
        assert (row.normal == many.normal[k]).all()
        assert row.status == many.status[k]
    assert asked


def test_it_is_of_the_poses_asked_about() -> None:
    """Also where the caller has moved on in the same arrays, in a copy, and behind a pickle."""
    poses = np.stack([at(0.5, 0.1, 0.2), at(0.4, -0.1, 0.1)])
    expected = gk.signed_distance(TORUS, BOX, None, poses.copy())
    found = [gk.contact(TORUS, BOX, None, poses) for _ in range(3)]
    row, one = found[0][1], gk.contact(TORUS, BOX, poses[0], None)
    of_one = gk.signed_distance(TORUS, BOX, poses[0].copy(), None)
    poses[:] = at(3, 3, 3)
    same(found[0].result, expected)
    same(copy.deepcopy(found[1]).result, expected)
    same(pickle.loads(pickle.dumps(found[2])).result, expected)
    same(row.result, expected[1])
    same(one.result, of_one)


@pytest.mark.parametrize("remember", [False, True])
def test_a_scene_that_moved_on(remember: bool) -> None:
    rng = np.random.default_rng(4)
    shapes = {f"part {k}": (TORUS, BOX, BALL, CUP, gk.Mesh(*BOX.surface()))[k % 5] for k in range(20)}
    scene = gk.Scene(remember=remember)
    for name, shape in shapes.items():
        scene.add(name, shape, anywhere(rng, 1.0))
    floor = gk.Halfspace((0, 0, 1), -0.6)
    scene.add("floor", floor)
    for _ in range(3):  # from the second on it remembers
        poses = {name: scene.pose(name) @ at(*rng.normal(size=3) * 1e-3) for name in shapes}
        for name, pose in poses.items():
            scene.move(name, pose)
        found = scene.contacts()
        rows = list(found)
    poses["floor"], shapes["floor"] = np.eye(4), floor
    for name in list(poses):
        scene.move(name, at(9, 9, 9))
    scene.remove("part 3")
    scene.add("new", gk.Sphere(3.0))  # in that place, and of another shape
    scene.collides()
    deep = [k for k, (a, b) in enumerate(found.pairs) if isinstance(shapes[a], gk.Mesh | gk.Compound)]
    assert len(deep) > 20
    for k, (a, b, row) in enumerate(rows):
        expected = gk.signed_distance(shapes[a], shapes[b], poses[a], poses[b])
        if k in deep or isinstance(shapes[b], gk.Mesh | gk.Compound):
            same(row.result, expected)
            same(found.result.result[k], expected)
            same(found.result[k].result, expected)
        one = gk.contact(shapes[a], shapes[b], poses[a], poses[b])
        if k in deep:
            for field in ("points_a", "points_b", "gaps", "normals"):
                np.testing.assert_array_equal(getattr(row, field), getattr(one, field), field)
    assert found.result.result[0].shape_a is shapes[found.pairs[0][0]]


def test_what_holds_the_other_has_its_point_of_depth() -> None:
    inside = at(0.05, 0.02, 0.01)
    case = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    for other in (gk.Sphere(0.2), gk.Mesh(*gk.Box((0.3, 0.3, 0.3)).surface())):
        found, deep = gk.contact(case, other, None, inside), gk.signed_distance(case, other, None, inside)
        assert found.count == 1
        assert found.gaps[0] == deep.distance
        np.testing.assert_array_equal(found.points_a[0], deep.point_a)
        np.testing.assert_array_equal(found.normals[0], deep.normal)


@pytest.mark.parametrize("other", [BOX, BALL, HULL, gk.Capsule(0.2, 0.8), gk.Cylinder(0.3, 0.9), TORUS])
def test_no_face_pushes_much_farther_than_the_whole_is_deep(other: Any) -> None:
    """Each gap is at most a translation that parts the two: nearly the shortest of these, moved or not."""
    rng, ratios = np.random.default_rng(8), []
    for _ in range(60):
        pose = at(*rng.normal(size=3) * 0.4, rotation=Rotation.random(rng=rng))
        found = gk.contact(TORUS, other, None, pose, max_points=None)
        if found.count and gk.meeting_faces(TORUS, other, None, pose).size:
            ratios.append(found.gaps.min() / found.lower)
    assert len(ratios) > 30
    assert np.median(ratios) <= 1.001
    assert np.percentile(ratios, 75) <= 1.1
    assert max(ratios) <= 2.0


def test_threads_read_one_contact() -> None:
    poses = np.stack([at(0.5, 0.1, 0.2), at(0.4, -0.1, 0.1)])
    expected = gk.signed_distance(TORUS, BOX, None, poses)
    for _ in range(20):
        found = gk.contact(TORUS, BOX, None, poses)
        with ThreadPoolExecutor(6) as pool:
            for read in [pool.submit(lambda x=found: x.result) for _ in range(6)]:
                same(read.result(), expected)


def test_none_of_a_stack_of_none() -> None:
    for other in (BOX, TORUS, gk.Plane((0, 0, 1), 0.0), gk.Halfspace((0, 0, 1), 0.0)):
        found = gk.contact(TORUS, other, None, np.empty((0, 4, 4)))
        assert (len(found), found.result.distance.shape) == (0, (0,))
