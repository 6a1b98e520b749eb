"""Objects of other libraries are accepted or refused with the conversion, and errors about typos suggest names."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import pyvista
import trimesh
from message_checks import assert_names

import gjk3d as gk

BOX = gk.Box((1, 1, 1))
POSE = np.array([[0.0, -1, 0, 5], [1, 0, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])
TRANSFORMS = {
    "coal": SimpleNamespace(getRotation=lambda: POSE[:3, :3], getTranslation=lambda: POSE[:3, 3]),
    "pinocchio": SimpleNamespace(homogeneous=POSE, rotation=POSE[:3, :3], translation=POSE[:3, 3]),
    "Drake": SimpleNamespace(GetAsMatrix4=lambda: POSE),
}
TOPPRA = SimpleNamespace(path_interval=np.array([0.0, 1.0]))
DRAKE = SimpleNamespace(get_segment_times=lambda: [0.0, 1.0])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_foreign_transforms_are_poses(name):
    pose = TRANSFORMS[name]
    expected = gk.distance(BOX, BOX, None, POSE)
    assert gk.distance(BOX, BOX, None, pose).distance == expected.distance
    assert np.array_equal(gk.aabb(BOX, pose).low, gk.aabb(BOX, POSE).low)
    scene = gk.Scene()
    scene.add("box", BOX, pose)
    assert np.array_equal(scene.pose("box"), POSE)


CALLS = {
    "a name of the package": (lambda: gk.colide, AttributeError, ("'colide'", "Did you mean 'collide'?")),
    "a name of a subpackage": (lambda: gk.viz.shw, AttributeError, ("'shw'", "Did you mean 'show'?")),
    "three numbers": (lambda: gk.Box(1, 2, 3), TypeError, ("Box((1, 2, 3))",)),
    "two radii": (lambda: gk.Ellipsoid(1, 2), TypeError, ("Ellipsoid((1, 2))",)),
    "a pose": (lambda: gk.collide(BOX, BOX, pose=POSE), TypeError, ("'pose'", "pose_a=", "pose_b=")),
    "points without faces": (
        lambda: gk.Mesh([(0, 0, 0)]),
        TypeError,
        ("faces", "a list", "gjk3d.Mesh(vertices, faces)"),
    ),
    "points of trimesh": (
        lambda: gk.Mesh(trimesh.PointCloud([(0, 0, 0)])),
        TypeError,
        ("gjk3d.PointCloud(cloud.vertices, radius)",),
    ),
    "points of pyvista": (
        lambda: gk.Scene().add("points", pyvista.PolyData(np.eye(3))),
        gk.errors.ShapeError,
        ("gjk3d.PointCloud(data.points, radius)",),
    ),
    "no plotter": (lambda: gk.viz.plot(BOX, 5), TypeError, ("plotter", "an int", "pyvista Plotter")),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_name_the_correct_call(name):
    call, kind, fragments = CALLS[name]
    with pytest.raises(kind) as caught:
        call()
    assert_names(caught.value, *fragments)


def test_error_raised_by_argument_is_unchanged():
    class Strange:
        def __array__(self, *args, **keywords):
            raise TypeError("not today")

    with pytest.raises(TypeError, match=r"^not today$"):
        gk.Box(Strange())


ROBOT = gk.robot.Robot.example()
CONFIGURATIONS = {
    "nothing": (None, ("None", "(2,)")),
    "a mapping": ({ROBOT.joint_names[0]: 0.1}, ("a dict", "robot.configuration(values)")),
    "a text": ("home", ("a str",)),
    "a trajectory of toppra": (TOPPRA, ("CubicHermiteSpline", "path_interval")),
    "a trajectory of Drake": (DRAKE, ("CubicHermiteSpline", "get_segment_times")),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_invalid_configurations_raise(name):
    value, fragments = CONFIGURATIONS[name]
    checker = gk.robot.Checker(ROBOT)
    for call in (checker.free, checker.path_free):
        with pytest.raises(gk.errors.RobotError) as caught:
            call(value)
        assert_names(caught.value, *fragments)
    if value in (TOPPRA, DRAKE):
        with pytest.raises(gk.errors.RobotError) as caught:
            checker.trajectory_free(value)
        assert_names(caught.value, *fragments)


def test_misspelled_joints_and_links_get_suggestions():
    checker = gk.robot.Checker(ROBOT)
    joint, link = ROBOT.joint_names[0], ROBOT.links[0]
    for call in (
        lambda: ROBOT.configuration({f"{joint}x": 0.1}),
        lambda: checker.allow(f"{link}x", link),
    ):
        with pytest.raises(gk.errors.RobotError, match="Did you mean"):
            call()


@pytest.mark.parametrize("shape", [gk.Halfspace((0, 0, 1)), gk.Plane((0, 0, 1)), gk.HeightField(np.zeros((3, 3)), 1.0)])
def test_unbounded_shapes_have_no_bounds(shape):
    assert not hasattr(shape, "bounds")
    with pytest.raises(gk.errors.UnboundedShapeError, match="bounds") as caught:
        assert shape.bounds is not None
    assert isinstance(caught.value, (ValueError, AttributeError))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


FOREIGN = {
    "trimesh": (trimesh.creation.box((1, 1, 1)), "from_trimesh"),
    "scene of trimesh": (trimesh.Scene([trimesh.creation.box((1, 1, 1))]), "from_trimesh"),
    "pyvista": (pyvista.Cube(), "from_pyvista"),
    "volume of pyvista": (pyvista.ImageData(dimensions=(2, 2, 2), origin=(-0.5, -0.5, -0.5)), "from_pyvista"),
    "blocks of pyvista": (pyvista.MultiBlock([pyvista.Cube()]), "from_pyvista"),
}
QUERIES = {
    "distance": lambda x: gk.distance(x, BOX),
    "collide": lambda x: gk.collide(BOX, x),
    "contact": lambda x: gk.contact(x, BOX),
    "raycast": lambda x: gk.raycast(x, (0, 0, 9), (0, 0, -1)),
    "aabb": lambda x: gk.aabb(x),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_meshes_become_scene_objects(name):
    mesh = FOREIGN[name][0]
    assert gk.Mesh(mesh).volume == pytest.approx(1.0)
    scene = gk.Scene()
    scene.add("alone", mesh)
    scene.add_many(["a", "b"], mesh)
    scene.add_many(["c", "d"], [mesh, gk.Sphere(1)])
    assert isinstance(scene.shape("alone"), gk.Mesh)
    assert scene.shape("a") is scene.shape("b")
    assert len(scene.collisions()) == 10
    checker = gk.robot.Checker(gk.robot.Robot.example(), {"first": (mesh, POSE)})
    checker.add("second", mesh)
    checker.attach("held", mesh, "hand")
    assert {type(checker.shape(name)) for name in ("first", "second", "held")} == {gk.Mesh}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_foreign_meshes_name_the_conversion(name, query):
    mesh, line = FOREIGN[name]
    with pytest.raises(gk.errors.UnsupportedPair, match=line):
        QUERIES[query](mesh)


def test_trimesh_name_and_unit_are_kept():
    part = trimesh.creation.box((1, 1, 1), metadata={"name": "part"})
    part.units = "mm"
    mesh = gk.Mesh(part)
    assert (mesh.name, mesh.unit) == ("part", "mm")
    assert (gk.Mesh(part, name="other").name, gk.Mesh(part, unit="m").unit) == ("other", "m")


def test_pyvista_mesh_is_drawn():
    plotter = gk.viz.plot(pyvista.Sphere(), off_screen=True)
    assert len(plotter.renderer.actors) > 0
    plotter.close()
