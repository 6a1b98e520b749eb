"""Shapes, bodies, bounding volumes and motions are immutable, hashable and picklable."""

import copy
import pickle

import numpy as np
import pytest
from strategies import SHAPES, build

import gjk3d as gk
from gjk3d.frozen import Frozen

SURFACE = gk.Box((1, 2, 1)).surface()
MAKE = {name: lambda spec=spec: build(spec) for name, spec in SHAPES.items()} | {
    "halfspace": lambda: gk.Halfspace((0, 0, 1), 0.1),
    "plane": lambda: gk.Plane((0, 0, 1), 0.1),
    "mesh": lambda: gk.Mesh(SURFACE.vertices, SURFACE.faces, name="part"),
    "compound": lambda: gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Sphere(1), np.eye(4))]),
    "voxels": lambda: gk.VoxelGrid(np.ones((2, 3, 2), dtype=bool), 0.5),
    "cloud": lambda: gk.PointCloud([(0, 0, 0), (1, 2, 3)], 0.1),
    "heights": lambda: gk.HeightField(np.zeros((5, 5)), 1.0, (-2, -2)),
    "ground with a bottom": lambda: gk.HeightField(np.zeros((5, 5)), (1.0, 2.0), (-2, -2), bottom=-1),
    "shell": lambda: gk.Shell(gk.Mesh(SURFACE.vertices, SURFACE.faces), 0.1),
    "ball": lambda: gk.BoundingSphere((1, 2, 3), 4),
    "boxes": lambda: gk.AABB([(0, 0, 0), (1, 1, 1)], [(1, 1, 1), (2, 2, 2)]),
    "turned box": lambda: gk.OBB(np.eye(4), (1, 2, 3)),
    "motion": lambda: gk.Motion(np.eye(4), (1, 0, 0), angular=(0, 0, 1)),
    "motions": lambda: gk.Motion(None, [(1, 0, 0), (2, 0, 0)]),
}


@pytest.mark.parametrize("name", MAKE)
def test_frozen_objects_compare_hash_pickle_and_copy(name):
    obj, twin = MAKE[name](), MAKE[name]()
    assert isinstance(obj, Frozen)
    assert obj == twin
    assert hash(obj) == hash(twin)
    assert len({obj, twin}) == 1
    again = pickle.loads(pickle.dumps(obj))
    assert type(again) is type(obj)
    assert again == obj
    assert hash(again) == hash(obj)
    assert copy.copy(obj) is obj
    assert copy.deepcopy(obj) is obj
    fields = type(obj)._field_names()
    assert fields
    for field in (*fields, "color"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(obj, field, 1)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(obj, field)
    for value in (getattr(again, field) for field in fields):
        assert not isinstance(value, np.ndarray) or not value.flags.writeable
    assert obj == twin


def test_different_objects_are_not_equal():
    objects = [make() for make in MAKE.values()]
    assert len(set(objects)) == len({repr(obj) for obj in objects})
    assert gk.AABB((0, 0, 0), (1, 1, 1)) != gk.AABB([(0, 0, 0)], [(1, 1, 1)])
    assert gk.Motion(None, (1, 0, 0)) != gk.Motion(None, (1, 0, 1))
    assert gk.Sphere(1) != gk.BoundingSphere((0, 0, 0), 1)
    assert gk.Sphere(1) != 1


def test_sign_of_zero_does_not_affect_equality():
    plus, minus = (gk.AABB((zero, 0, 0), (1, 1, 1)) for zero in (0.0, -0.0))
    assert plus == minus
    assert hash(plus) == hash(minus)


def test_unaligned_pickle_buffers_can_be_queried():
    mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    buffers = []
    text = pickle.dumps(mesh, protocol=5, buffer_callback=buffers.append)
    shifted = [memoryview(b"x" + bytes(buffer)).toreadonly()[1:] for buffer in buffers]
    assert len(shifted) == 2
    again = pickle.loads(text, buffers=shifted)
    assert again == mesh
    assert gk.raycast(again, (0.1, 0.2, 5), (0, 0, -1)).distance == 4.0
    assert again.signed_distances([(0, 0, 3)]).distance.tolist() == [2.0]
