"""Swept volumes contain every moving point, and their pieces reach no farther beyond than the reported excess."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import robot as example_robot
from random_robots import random_robot
from test_trajectories import SPLINES, at, path_of

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from gjk3d.robot import Checker, Robot, Trajectory


def points_of(robot, rng, count=6):
    """Return random surface points of each body in the frame of its link."""
    points = []
    for body in robot.bodies:
        surface = body.shape.surface(12).vertices
        some = surface[rng.integers(len(surface), size=count)]
        points.append((robot.links[body.link], body.link, some @ body.pose[:3, :3].T + body.pose[:3, 3]))
    return points


def greatest_gap(swept, robot, way, count=40, seed=0):
    """Return the largest distance of any point from the pieces that must contain it at that time."""
    rng, worst = np.random.default_rng(seed), -np.inf
    points = points_of(robot, rng)
    for time in rng.uniform(way.start, way.end, count):
        poses = robot.link_poses(way.at(time))
        for name, link, local in points:
            shapes = [p.shape for p in swept.pieces if p.link == name and p.begin <= time <= p.end]
            assert shapes
            world = local @ poses[link][:3, :3].T + poses[link][:3, 3]
            for point in world:
                worst = max(worst, min(gk.signed_distance(gk.Point(point), shape).upper for shape in shapes))
    return worst


@pytest.mark.parametrize("kind", ["cubic", "uniform", "linear"])
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_swept_volume_contains_every_point(tmp_path, kind, seed):
    robot = random_robot(tmp_path, seed, links=4)
    way = Trajectory(SPLINES[kind](*path_of(robot, seed)))
    swept = Checker(robot).swept(way, excess=0.05)
    assert greatest_gap(swept, robot, way, 10) <= 1e-9
    assert swept.excess <= 0.06


@pytest.mark.full
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago"])
def test_free_of_swept_volume_is_free_of_the_robot(name):
    robot = example_robot(name, "hull" if name == "tiago" else "bodies")
    rng = np.random.default_rng(2)
    low, high = np.maximum(robot.lower, -1.5), np.minimum(robot.upper, 1.5)
    way = Trajectory(SPLINES["cubic"]([0.0, 1.0, 2.0], rng.uniform(low, high, (3, robot.dof)) * 0.3))
    checker = Checker(robot)
    checker.attach("tool", gk.Cylinder(0.02, 0.2), robot.links[-1])
    swept = checker.swept(way, excess=0.05)
    assert greatest_gap(swept, robot, way, 3) <= 1e-9
    assert {piece.link for piece in swept.pieces} == {robot.links[contact.link] for contact in robot.geometries} | {
        "tool"
    }
    boxes = swept.boxes()
    for box in boxes.values():
        assert (box[0] <= box[1]).all()
    # a ball that is free of the zones is free of the robot at every time
    zones = {name: (zone, None) for name, zone in swept.compounds().items()}
    balls = rng.uniform(-0.8, 0.8, (30, 3))
    ball = gk.Sphere(0.1)
    ball_robot = Robot.load(
        "<robot name='b'><link name='w'/><link name='b'><collision><geometry><sphere radius='0.1'/></geometry>"
        "</collision></link><joint name='j' type='floating'><parent link='w'/><child link='b'/></joint></robot>"
    )
    ball_checker = Checker(ball_robot, zones)
    free = ball_checker.free(np.column_stack([balls, np.zeros((30, 3))]))
    assert 0 < free.sum() < 30
    times = np.linspace(0.0, 2.0, 25)
    for center in balls[free]:
        now = Checker(robot, {"ball": (ball, at(*center))}, touching=[])
        hits = [contact for q in way.at(times) for contact in now.collisions(q) if contact.b == "ball"]
        assert not hits


@pytest.mark.full
def test_swept_volume_of_turning_rod():
    """A rod of 1 m turns by a right angle. The pieces contain the quarter disc and little more."""
    robot = Robot.load(
        "<robot name='r'><link name='w'/><link name='rod'><collision><origin xyz='0.5 0 0'/><geometry>"
        "<box size='1 0.02 0.02'/></geometry></collision></link><joint name='j' type='continuous'>"
        "<parent link='w'/><child link='rod'/><axis xyz='0 0 1'/></joint></robot>"
    )
    way = Trajectory([[0.0], [np.pi / 2]], times=[0.0, 1.0])
    swept = Checker(robot).swept(way, excess=0.004)
    zone = swept.compounds()["rod"]
    for angle in np.linspace(0.0, np.pi / 2, 91):
        for r in (0.0, 0.5, 0.9999):
            tip = gk.Point((r * np.cos(angle), r * np.sin(angle), 0.0))
            assert gk.signed_distance(zone, tip).distance < 0.0
        beyond = gk.Point((1.006 * np.cos(angle), 1.006 * np.sin(angle), 0.0))
        assert gk.signed_distance(zone, beyond).distance > 0.0
    assert swept.boxes()["rod"] == pytest.approx(np.array([[-0.01, -0.01, -0.01], [1, 1, 0.01]]), abs=0.005)
    # the first half of the time sweeps half of the quarter disc
    early = swept.during(0.0, 0.45).compounds()["rod"]
    assert gk.signed_distance(early, gk.Point((0.1, 0.9, 0))).distance > 0.1
    assert len(swept.mesh().faces) > 100
    assert swept.excess <= 0.004


def test_invalid_arguments_raise():
    checker = Checker(Robot.example())
    way = Trajectory([[0.0, 0.0], [1.0, 0.0]], times=[0.0, 1.0])
    for excess in (0.0, np.nan, "wide"):
        with pytest.raises(Gjk3dError, match=f"excess.*{excess!r}"):
            checker.swept(way, excess=excess)
    with pytest.raises(Gjk3dError, match=r"links.*'hand'.*list"):
        checker.swept(way, links="hand")
    with pytest.raises(Gjk3dError, match=r"'nobody'.*'beam', 'hand', 'post'"):
        checker.swept(way, links=["nobody"])
    with pytest.raises(Gjk3dError, match=r"'beam'.*120499.*excess"):
        checker.swept(way, excess=1e-9)
    assert {piece.link for piece in checker.swept(way, links=["hand"]).pieces} == {"hand"}


HELD = {
    "ellipsoid": gk.Ellipsoid((0.05, 0.1, 0.2)),
    "cone": gk.Cone(0.08, 0.25),
    "sum": gk.MinkowskiSum(gk.Ellipsoid((0.05, 0.03, 0.1)), gk.Box((0.1, 0.02, 0.02))),
    "flat": gk.MinkowskiSum(gk.Segment((0, 0, 0), (0.1, 0, 0)), gk.Segment((0, 0, 0), (0, 0.1, 0))),
    "compound": gk.Compound([(gk.Box((0.4, 0.02, 0.02)), at(0.2, 0, 0)), (gk.Cone(0.02, 0.4), at(0, 0, 0.2))]),
    "angle": gk.Compound([(gk.Box((0.4, 0.02, 0.02)), at(0.2, 0, 0)), (gk.Box((0.02, 0.02, 0.4)), at(0, 0, 0.2))]),
    "cloud": gk.PointCloud([(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0.1)], 0.02),
    "voxels": gk.VoxelGrid([[[True, True, True], [True, False, False]]], 0.05),
}


@pytest.mark.parametrize("kind", [*HELD, "mesh", "convex mesh"])
def test_swept_volume_contains_attached_object(kind):
    """Without motion the excess comes only from the pieces that contain the object. Their points are near it."""
    surface = HELD["angle"].surface()
    meshes = {
        "mesh": gk.Mesh(surface.vertices, surface.faces),
        "convex mesh": gk.Mesh(*gk.Box((0.1, 0.2, 0.3)).surface()),
    }
    shape = meshes.get(kind, HELD.get(kind))
    checker = Checker(Robot.example())
    pose = at(0.1, 0.2, 0.3)
    checker.attach("tool", shape, "hand", pose)
    still = checker.swept(Trajectory([[0.2, 0.1]] * 2, [0.0, 1.0]), excess=0.01, links=["tool"])
    moved = checker.swept(Trajectory([[0.2, 0.1], [0.9, -0.4]], [0.0, 1.0]), excess=0.01, links=["tool"])
    convex = kind in ("ellipsoid", "cone", "sum", "compound", "angle", "convex mesh")
    assert moved.excess <= (0.02 if convex else 0.4)
    rng = np.random.default_rng(0)
    world = checker.robot.link_poses([0.2, 0.1])[checker.robot.links.index("hand")] @ pose
    points = getattr(shape, {"cloud": "points", "mesh": "vertices", "convex mesh": "vertices"}.get(kind, ""), None)
    points = shape.surface().vertices if points is None else points
    points = points[rng.integers(len(points), size=40)] @ world[:3, :3].T + world[:3, 3]
    for swept in (still, moved):
        at_start = [piece.shape for piece in swept.pieces if piece.begin == 0.0]
        for point in points:
            assert min(gk.signed_distance(gk.Point(point), volume).lower for volume in at_start) <= 1e-9
    for piece in still.pieces:
        corners = np.asarray(piece.shape.core.vertices)
        some = rng.dirichlet(np.full(len(corners), 0.1), 60) @ corners
        for point in some:
            assert gk.distance(gk.Point(point), shape, None, world).lower <= still.excess - piece.shape.radius + 1e-9
