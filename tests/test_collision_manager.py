"""Scenarios of trimesh's own tests of its collision manager, rewritten for gjk3d with the same expected results.

After ``tests/test_collision.py`` of https://github.com/mikedh/trimesh (MIT), which the wheel does not contain.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

import gjk3d as gk

CUBE = trimesh.creation.box()


def along_x(far: float) -> NDArray[np.float64]:
    pose = np.eye(4)
    pose[0, 3] = far
    return pose


def manager_of(**places: float) -> gk.CollisionManager:
    manager = gk.CollisionManager()
    for name, far in places.items():
        manager.add_object(name, CUBE, along_x(far))
    return manager


def test_mesh_against_many_objects() -> None:
    manager = manager_of(cube0=0.0, cube1=5.0)
    assert manager.in_collision_single(CUBE) is True
    hit, names, data = manager.in_collision_single(CUBE, along_x(5.0), return_names=True, return_data=True)
    assert (hit, names) == (True, {"cube1"})
    (only,) = data
    assert only.depth == pytest.approx(1.0)
    assert np.linalg.norm(only.normal) == pytest.approx(1.0)
    away = manager.in_collision_single(CUBE, along_x(-5.0), return_names=True, return_data=True)
    assert away == (False, set(), [])


def test_objects_are_added_moved_and_removed() -> None:
    manager = manager_of(cube0=0.0, cube1=5.0)
    assert manager.in_collision_internal() is False
    manager.add_object("cube2", CUBE, along_x(5.0))
    assert manager.in_collision_internal(return_names=True) == (True, {("cube1", "cube2")})
    for far, hit in ((-5.0, False), (5.0, True)):
        manager.set_transform("cube2", along_x(far))
        assert manager.in_collision_internal() is hit
    manager.remove_object("cube2")
    assert manager.in_collision_internal() is False


def test_collisions_of_two_managers() -> None:
    manager, second = manager_of(cube0=0.0, cube1=5.0), manager_of(cube0=-5.0)
    assert manager.in_collision_other(second) is False
    second.add_object("cube3", CUBE, along_x(5.0))
    assert manager.in_collision_other(second) is True
    assert manager.in_collision_other(second, return_names=True) == (True, {("cube1", "cube3")})


def test_distances() -> None:
    manager = manager_of(cube1=5.0)
    assert manager.min_distance_single(CUBE, return_name=True) == (pytest.approx(4.0), "cube1")
    assert manager.min_distance_single(CUBE, along_x(5.75)) == pytest.approx(-0.25)
    manager.add_object("cube2", CUBE, along_x(-5.0))
    for far, nearest in ((2.0, "cube1"), (-2.0, "cube2")):
        assert manager.min_distance_single(CUBE, along_x(far), return_name=True) == (pytest.approx(2.0), nearest)
    assert manager.min_distance_internal(return_names=True) == (pytest.approx(9.0), ("cube1", "cube2"))
    manager.add_object("cube3", CUBE, along_x(2.0))
    assert manager.min_distance_internal(return_names=True) == (pytest.approx(2.0), ("cube1", "cube3"))
    manager.set_transform("cube3", along_x(-2.0))
    assert manager.min_distance_internal(return_names=True) == (pytest.approx(2.0), ("cube2", "cube3"))


def test_distances_of_two_managers() -> None:
    manager, second = manager_of(cube0=0.0, cube1=5.0), manager_of(cube4=-5.0)
    for name, far, expected in (("cube4", -5.0, 4.0), ("cube5", -2.0, 1.0)):
        if name not in second._objects.named:
            second.add_object(name, CUBE, along_x(far))
        distance, names, data = manager.min_distance_other(second, return_names=True, return_data=True)
        assert (distance, names) == (pytest.approx(expected), ("cube0", name))
        assert np.linalg.norm(data.point("cube0") - data.point(name)) == pytest.approx(expected)


@pytest.mark.full
def test_collisions_of_many_balls() -> None:
    numbers = np.random.default_rng(0).random((400, 4)) * (1.0, 30.0, 30.0, 30.0)
    balls = [trimesh.creation.icosphere(2, radius=r[0]).apply_translation(r[1:]) for r in numbers]
    manager, objects = gk.scene_to_collision(trimesh.Scene(balls))
    away = np.linalg.norm(numbers[:, None, 1:] - numbers[None, :, 1:], axis=2)
    reach = numbers[:, None, 0] + numbers[None, :, 0]
    sure = np.triu(away < 0.95 * reach, 1)  # overlaps even if the faceted balls are smaller than the spheres
    hit, names = manager.in_collision_internal(return_names=True)
    assert manager.in_collision_internal() is hit is True
    assert 10 < sure.sum() <= len(names) <= np.triu(away < reach, 1).sum()
    assert len(objects) == 400


def test_all_names_in_collision_are_returned() -> None:
    """No name is missing because earlier objects had many contacts."""
    probe = trimesh.creation.revolve(np.array([(0, 3), (3, 3), (3, 75), (127, 75), (127, 580), (0, 580)]), sections=32)
    manager, count = gk.CollisionManager(), 100
    for k in range(count):
        pose = along_x(30.0 * (k / count - 0.5))
        pose[2, 3] = -50.0
        manager.add_object(f"probe {k}", probe, transform=pose)
    anvil = trimesh.creation.box(extents=(200, 200, 200))
    assert manager.in_collision_single(anvil, return_names=True) == (True, {f"probe {k}" for k in range(count)})


def test_gearbox_scene_collides() -> None:
    scene = trimesh.load("data/gearbox.glb")
    manager, objects = gk.scene_to_collision(scene)
    assert manager.in_collision_internal() is True
    assert set(objects) == set(scene.graph.nodes_geometry)
