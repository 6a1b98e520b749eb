"""Contacts compute the depth of the bodies only when it is read, so the depth does not limit the gaps of contacts."""

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
from tests.bodies.random_shapes import anywhere, at

FIELDS = ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight")
_TORUS = trimesh.creation.torus(0.45, 0.18, 16, 8)
TORUS = gk.Mesh(_TORUS.vertices, _TORUS.faces)
BOX, BALL, HULL = (
    gk.Box((0.7, 0.9, 1.1)), gk.Sphere(0.4), gk.ConvexHull(np.random.default_rng(5).normal(size=(32, 3)) * 0.4)
)  # fmt: skip
CUP = gk.Compound([(gk.Box((2, 2, 0.2)), at(0, 0, -0.5)), (gk.Box((0.2, 2, 1)), at(1, 0, 0))])


def assert_equal_fields(result: Any, expected: Any, which: Any = ...) -> None:
    for field in FIELDS:
        actual, desired = (np.asarray(getattr(item, field))[which] for item in (result, expected))
        np.testing.assert_array_equal(actual, desired, field)


@pytest.fixture
def depth_counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of rows of all computations of depths."""
    depths_at, counted = distance.depths_at, []

    def count(a: Any, b: Any, rows: Any, workers: int = 1) -> Any:
        counted.append(len(rows))
        return depths_at(a, b, rows, workers)

    monkeypatch.setattr(distance, "depths_at", count)
    return counted


@pytest.mark.parametrize("other", [BOX, BALL, HULL, TORUS, CUP])
def test_depth_is_computed_when_it_is_read(other: Any, depth_counts: list[int]) -> None:
    rng = np.random.default_rng(11)
    poses = np.stack([anywhere(rng, 0.5) for _ in range(8)])
    many, single = gk.contact(TORUS, other, None, poses), gk.contact(TORUS, other, None, poses[0])
    rows = [many[k] for k in range(8)]
    assert depth_counts == []
    assert_equal_fields(single.result, gk.signed_distance(TORUS, other, None, poses[0]))
    expected = gk.signed_distance(TORUS, other, None, poses)
    assert many.count.astype(bool).sum() > 3
    assert_equal_fields(many.result, expected, many.count > 0)  # the other rows are only proven to be separated
    assert many.result is many.result
    for k in np.flatnonzero(many.count):
        row = rows[k]
        assert_equal_fields(row.result, expected[int(k)])
        assert (row.normal == many.normal[k]).all()
        assert row.status == many.status[k]
    assert depth_counts


def test_depth_belongs_to_the_poses_of_the_query() -> None:
    """The caller changes the arrays of poses before the depth of a contact, a copy or a pickle is read."""
    poses = np.stack([at(0.5, 0.1, 0.2), at(0.4, -0.1, 0.1)])
    expected = gk.signed_distance(TORUS, BOX, None, poses.copy())
    contacts = [gk.contact(TORUS, BOX, None, poses) for _ in range(3)]
    row, single = contacts[0][1], gk.contact(TORUS, BOX, poses[0], None)
    of_single = gk.signed_distance(TORUS, BOX, poses[0].copy(), None)
    poses[:] = at(3, 3, 3)
    assert_equal_fields(contacts[0].result, expected)
    assert_equal_fields(copy.deepcopy(contacts[1]).result, expected)
    assert_equal_fields(pickle.loads(pickle.dumps(contacts[2])).result, expected)
    assert_equal_fields(row.result, expected[1])
    assert_equal_fields(single.result, of_single)


@pytest.mark.parametrize("remember", [False, True])
def test_depth_of_scene_contacts_after_moves(remember: bool) -> None:
    rng = np.random.default_rng(4)
    shapes = {f"part {k}": (TORUS, BOX, BALL, CUP, gk.Mesh(*BOX.surface()))[k % 5] for k in range(20)}
    scene = gk.Scene(remember=remember)
    for name, shape in shapes.items():
        scene.add(name, shape, anywhere(rng, 1.0))
    floor = gk.Halfspace((0, 0, 1), -0.6)
    scene.add("floor", floor)
    for _ in range(3):  # the scene starts warm from the second step
        poses = {name: scene.pose(name) @ at(*rng.normal(size=3) * 1e-3) for name in shapes}
        for name, pose in poses.items():
            scene.move(name, pose)
        contacts = scene.contacts()
        rows = list(contacts)
    poses["floor"], shapes["floor"] = np.eye(4), floor
    for name in list(poses):
        scene.move(name, at(9, 9, 9))
    scene.remove("part 3")
    scene.add("new", gk.Sphere(3.0))  # takes the slot of the removed object with another shape
    scene.collides()
    deep = [k for k, (a, b) in enumerate(contacts.pairs) if isinstance(shapes[a], gk.Mesh | gk.Compound)]
    assert len(deep) > 20
    for k, (a, b, row) in enumerate(rows):
        expected = gk.signed_distance(shapes[a], shapes[b], poses[a], poses[b])
        if k in deep or isinstance(shapes[b], gk.Mesh | gk.Compound):
            assert_equal_fields(row.result, expected)
            assert_equal_fields(contacts.result.result[k], expected)
            assert_equal_fields(contacts.result[k].result, expected)
        single = gk.contact(shapes[a], shapes[b], poses[a], poses[b])
        if k in deep:
            for field in ("points_a", "points_b", "gaps", "normals"):
                np.testing.assert_array_equal(getattr(row, field), getattr(single, field), field)
    assert contacts.result.result[0].shape_a is shapes[contacts.pairs[0][0]]


def test_containing_mesh_has_the_point_of_depth_as_contact() -> None:
    inside = at(0.05, 0.02, 0.01)
    case = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    for other in (gk.Sphere(0.2), gk.Mesh(*gk.Box((0.3, 0.3, 0.3)).surface())):
        contact, deep = gk.contact(case, other, None, inside), gk.signed_distance(case, other, None, inside)
        assert contact.count == 1
        assert contact.gaps[0] == deep.distance
        np.testing.assert_array_equal(contact.points_a[0], deep.point_a)
        np.testing.assert_array_equal(contact.normals[0], deep.normal)


@pytest.mark.parametrize("other", [BOX, BALL, HULL, gk.Capsule(0.2, 0.8), gk.Cylinder(0.3, 0.9), TORUS])
def test_deepest_gap_is_close_to_the_depth(other: Any) -> None:
    """The deepest gap is close to the shortest separating translation."""
    rng, ratios = np.random.default_rng(8), []
    for _ in range(60):
        pose = at(*rng.normal(size=3) * 0.4, rotation=Rotation.random(rng=rng))
        contact = gk.contact(TORUS, other, None, pose, max_points=None)
        if contact.count and gk.meeting_faces(TORUS, other, None, pose).size:
            ratios.append(contact.gaps.min() / contact.lower)
    assert len(ratios) > 30
    assert np.median(ratios) <= 1.001
    assert np.percentile(ratios, 75) <= 1.1
    assert max(ratios) <= 2.0


def test_threads_read_the_same_contact() -> None:
    poses = np.stack([at(0.5, 0.1, 0.2), at(0.4, -0.1, 0.1)])
    expected = gk.signed_distance(TORUS, BOX, None, poses)
    for _ in range(20):
        contacts = gk.contact(TORUS, BOX, None, poses)
        with ThreadPoolExecutor(6) as pool:
            for read in [pool.submit(lambda x=contacts: x.result) for _ in range(6)]:
                assert_equal_fields(read.result(), expected)


def test_empty_stack_has_empty_contacts() -> None:
    for other in (BOX, TORUS, gk.Plane((0, 0, 1), 0.0), gk.Halfspace((0, 0, 1), 0.0)):
        contacts = gk.contact(TORUS, other, None, np.empty((0, 4, 4)))
        assert (len(contacts), contacts.result.distance.shape) == (0, (0,))
