"""A subclass of a shape or body gives the results of its base class, and no code compares class names."""

from __future__ import annotations

import ast
import pickle
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from strategies import SHAPES, build

import gjk3d as gk
from gjk3d.exact import convex_sets
from gjk3d.replay.shapes import write_shape
from gjk3d.scene.objects import planes_of

PACKAGE = Path(gk.__file__).parent
BALL = gk.Sphere(0.2)
OBJECTS = {name: build(spec) for name, spec in SHAPES.items()} | {
    "plane": gk.Halfspace((0, 0, 1), 0.1),
    "mesh": gk.Mesh(*[np.asarray(x) for x in gk.Box((1, 2, 1)).surface()]),
    "compound": gk.Compound([(gk.Box((1, 1, 1)), None), (BALL, naive.pose(translation=(1, 0, 0)))]),
    "voxels": gk.VoxelGrid(np.ones((2, 3, 2), dtype=bool), 0.5),
    "cloud": gk.PointCloud(np.random.default_rng(1).normal(size=(40, 3)), 0.1),
    "thin plane": gk.Plane((0, 0, 1), 0.1),
    "shell": gk.Shell(gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), 0.2),
    "slab": gk.HeightField(np.zeros((5, 5)), (1.0, 0.5), (-2, -2), bottom=-0.5),
    "ground": gk.HeightField(np.zeros((5, 5)), 1.0, (-2, -2)),
}
POSES = np.array([naive.pose(translation=(0.3, 0.2, z)) for z in (3.0, 0.9, 0.25, 0.0, -3.0)])


def subclass(obj, **members):
    """Return a copy of an object whose class is a new subclass that pickle can import from this module."""
    base = type(obj)
    name = f"My{base.__name__}{len(members)}"
    made = type(name, (base,), {"__module__": __name__, **members})
    setattr(sys.modules[__name__], name, made)
    slots = dict.fromkeys(slot for cls in base.__mro__ for slot in cls.__dict__.get("__slots__", ()))
    copy = object.__new__(made)
    for slot in slots.keys() - {"__weakref__"}:
        object.__setattr__(copy, slot, getattr(obj, slot))
    object.__setattr__(copy, "_cache", {key: obj._cache[key] for key in obj._cache if key == "hull"})
    return copy


@pytest.fixture(params=[{}, {"__slots__": ()}], ids=["a dict of its own", "no slots"])
def members(request):
    return request.param


def numbers(result):
    return [np.asarray(getattr(result, name)).tolist() for name in ("distance", "lower", "upper", "normal", "status")]


@pytest.mark.parametrize("name", OBJECTS)
def test_subclass_gives_results_of_its_base(name, members, arm):
    base = OBJECTS[name]
    mine = subclass(base, **members)
    again = pickle.loads(pickle.dumps(mine))
    assert type(again) is type(mine)
    assert again == mine
    assert hash(again) == hash(mine)
    for obj in (mine, again):
        assert gk.collide(obj, BALL, None, POSES).tolist() == gk.collide(base, BALL, None, POSES).tolist()
        for query in (gk.distance, gk.signed_distance):
            assert numbers(query(obj, BALL, None, POSES)) == numbers(query(base, BALL, None, POSES))
            assert numbers(query(BALL, obj, POSES, None)) == numbers(query(BALL, base, POSES, None))
        rays = [gk.raycast(x, (0.3, 0.2, 5.0), [(0, 0, -1), (0.1, 0, -1), (0, 0, 1)]) for x in (obj, base)]
        assert rays[0].distance.tolist() == rays[1].distance.tolist()
        for pose in POSES:
            scenes = []
            for x in (obj, base):
                scene = gk.Scene()
                scene.add("a", x)
                scene.add("b", BALL, pose)
                free = gk.robot.Checker(arm, {"x": (x, np.linalg.inv(pose))}).free(np.zeros(0))
                points = [row.points_a.tolist() for *_, row in scene.contacts()]
                scenes.append((scene.collisions(), scene.clearance().distance, points, bool(free)))
            assert scenes[0] == scenes[1]


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    file = tmp_path_factory.mktemp("arm") / "arm.urdf"
    ball = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    file.write_text(f'<robot name="r"><link name="l">{ball}</link></robot>')
    return gk.robot.Robot.from_urdf(file)


@pytest.mark.parametrize("name", [name for name in OBJECTS if isinstance(OBJECTS[name], gk.shapes.base.Shape)])
def test_shape_subclass_has_contacts_proofs_and_replays(name, members):
    base = OBJECTS[name]
    mine = subclass(base, **members)
    contact, expected = (gk.contact(x, gk.Box((1, 1, 1)), None, POSES[1]) for x in (mine, base))
    assert contact.points_a.tolist() == expected.points_a.tolist()
    assert (convex_sets.body_of(mine) is None) == (convex_sets.body_of(base) is None)
    assert write_shape(mine) == write_shape(base)
    verdicts = [gk.verify(gk.signed_distance(x, BALL, None, POSES[2]), x, BALL, None, POSES[2]) for x in (mine, base)]
    assert verdicts[0] == verdicts[1]


def test_ball_below_subclassed_height_field_collides():
    class Terrain(gk.HeightField):
        pass

    scene = gk.Scene()
    scene.add("ground", Terrain(np.zeros((5, 5)), 1.0, (-2, -2)))
    scene.add("ball", BALL, naive.pose(translation=(0, 0, -3)))
    assert scene.collides()
    assert len(planes_of(scene.shape("ground"))) == 5


@pytest.mark.full
def test_no_code_compares_class_names():
    """Code may print ``type(x).__name__`` but must test types with isinstance."""
    compared, files = [], sorted(PACKAGE.rglob("*.py"))
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            sides += [node.subject] if isinstance(node, ast.Match) else []
            names = [x for side in sides for x in ast.walk(side) if isinstance(x, ast.Attribute)]
            if any(x.attr in ("__name__", "__qualname__") for x in names):
                compared.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert len(files) > 100
    assert compared == []
