"""A robot written as a URDF and read again; spheres round its links that cover them, by no more than is claimed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from chains import random_robot
from example_robots import robot, some
from words import assert_names

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, LinkSpheres, Robot, RobotSpheres, allow_by_sampling


def same(one, again, count=30):
    """Both have the same joints and links, and are as far from touching."""
    assert (again.name, again.links, again.columns) == (one.name, one.links, one.columns)
    assert [each and each[:4] for each in again.joints] == [each and each[:4] for each in one.joints]
    np.testing.assert_array_equal((again.lower, again.upper), (one.lower, one.upper))
    again.allowed = one.allowed
    q = some(one, count)
    np.testing.assert_allclose(again.link_poses(q), one.link_poses(q), atol=1e-13)
    ours, theirs = Checker(one), Checker(again)
    assert np.array_equal(ours.free(q), theirs.free(q))
    np.testing.assert_allclose(theirs.clearance(q).distance, ours.clearance(q).distance, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_round_trip_of_random_robots(tmp_path, seed):
    one = random_robot(tmp_path, seed)
    one.to_urdf(tmp_path / "again.urdf")
    same(one, Robot.load(tmp_path / "again.urdf"))
    one.to_urdf(tmp_path / "once more.urdf")
    assert (tmp_path / "again.urdf").read_text() == (tmp_path / "once more.urdf").read_text()


@pytest.mark.many
@pytest.mark.parametrize(("name", "geometry"), [("panda", "bodies"), ("ur5", "bodies"), ("ur5", "mesh")])
def test_round_trip_of_real_robots(tmp_path, name, geometry):
    one = robot(name, geometry)
    one.to_urdf(tmp_path / "r.urdf")
    again = Robot.load(tmp_path / "r.urdf", geometry="mesh" if geometry == "mesh" else "hull")
    assert len(again.geometries) == len(one.bodies)
    same(one, again, 10)


def text_of(shape):
    return f"<robot name='r'><link name='a'><collision><geometry>{shape}</geometry></collision></link></robot>"


def test_a_capsule_is_written_as_what_every_reader_has(tmp_path):
    one = Robot.load(text_of("<capsule radius='0.1' length='2'/>"))
    one.to_urdf(tmp_path / "r.urdf")
    again = Robot.load(tmp_path / "r.urdf")
    assert [body.shape for body in again.bodies] == [gk.Cylinder(0.1, 2), gk.Sphere(0.1), gk.Sphere(0.1)]
    assert [body.pose[2, 3] for body in again.bodies] == [0, -1, 1]
    Robot.load(text_of("<capsule radius='0.1' length='0'/>")).to_urdf(tmp_path / "r.urdf")
    assert [body.shape for body in Robot.load(tmp_path / "r.urdf").bodies] == [gk.Sphere(0.1)]


def test_an_ellipsoid_is_written_as_a_hull_round_it(tmp_path):
    pytest.importorskip("mujoco")
    one = Robot.load("<mujoco><worldbody><geom type='ellipsoid' size='.1 .2 .3'/></worldbody></mujoco>")
    one.to_urdf(tmp_path / "r.urdf")
    hull = Robot.load(tmp_path / "r.urdf").bodies[0].shape
    directions = np.random.default_rng(0).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    ball = directions * (0.1, 0.2, 0.3)
    assert hull.contains(ball).all()
    corners = np.asarray(hull.vertices) / (0.1, 0.2, 0.3)
    assert np.linalg.norm(corners, axis=1).max() < 1.04


# --- spheres ----------------------------------------------------------------------------------------------------------


def points_within(shape, count, rng):
    """Return points of a convex shape: mixtures of its support points, and these themselves."""
    ends = np.array([shape.support(d) for d in rng.normal(size=(60, 3))])
    weights = rng.dirichlet(np.full(len(ends), 0.1), count)
    return np.concatenate([ends, weights @ ends])


def check_spheres(one, excess, count=300):
    rng = np.random.default_rng(1)
    found = one.spheres(excess)
    assert 0.0 <= found.excess <= excess
    assert found.excess == max(each.excess for each in found.links.values())
    assert set(found.links) == {one.links[body.link] for body in one.bodies}
    for name, own in found.links.items():
        bodies = [body for body in one.bodies if one.links[body.link] == name]
        for body in bodies:
            points = points_within(body.shape, count, rng) @ body.pose[:3, :3].T + body.pose[:3, 3]
            gaps = np.linalg.norm(points[:, None] - own.centers, axis=2) - own.radii
            assert gaps.min(axis=1).max() <= 0.0
        out = rng.normal(size=(count, 3))
        which = rng.integers(len(own.centers), size=count)
        skin = own.centers[which] + own.radii[which, None] * out / np.linalg.norm(out, axis=1)[:, None]
        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, 3] = skin
        far = np.min([gk.distance(gk.Point(), b.shape, poses, b.pose).lower for b in bodies], axis=0)
        assert far.max() <= own.excess + 1e-12
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_spheres_cover_and_keep_their_excess(tmp_path, seed):
    scale = 10.0 ** (seed - 3)
    check_spheres(random_robot(tmp_path, seed, scale=scale), 0.05 * scale)


@pytest.mark.full
@pytest.mark.many
def test_spheres_of_a_real_robot():
    found = check_spheres(robot("panda"), 0.03)
    assert sum(len(each.radii) for each in found.links.values()) < 400


def test_what_spheres_are_written_to(tmp_path):
    one = Robot.example()
    found = one.spheres(0.05)
    count = sum(len(each.radii) for each in found.links.values())
    assert_names(repr(found), f"{len(found.links)} links", f"{count} spheres")
    found.to_urdf(tmp_path / "s.urdf")
    again = Robot.load(tmp_path / "s.urdf")
    assert again.links == one.links
    assert len(again.bodies) == sum(len(each.radii) for each in found.links.values())
    beam = [body for body in again.bodies if body.link == 1]
    assert [body.shape.radius for body in beam] == found.links["beam"].radii.tolist()
    assert [body.pose[:3, 3].tolist() for body in beam] == found.links["beam"].centers.tolist()
    found.to_curobo(tmp_path / "s.yml")
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load((tmp_path / "s.yml").read_text())["collision_spheres"]
    assert list(read) == list(found.links)
    assert [each["radius"] for each in read["hand"]] == found.links["hand"].radii.tolist()
    assert [each["center"] for each in read["hand"]] == found.links["hand"].centers.tolist()


def test_yaml_reads_any_name_and_number(tmp_path):
    """Numbers without a point, such as 1e-05, are text to YAML 1.1, which cuRobo reads with."""
    yaml = pytest.importorskip("yaml")
    names = ["a: b", "it's", '"', "\\", "a\nb", "\x7f", "\u2028", "null", "# c", "\U0001f600"]
    spheres = LinkSpheres(np.array([[1e-05, -3e-300, 2.0]]), np.array([2e22]), 1.0)
    RobotSpheres(Robot.example(), dict.fromkeys(names, spheres), 1.0).to_curobo(tmp_path / "s.yml")
    read = yaml.safe_load((tmp_path / "s.yml").read_text(encoding="utf-8"))["collision_spheres"]
    assert read == {name: [{"center": [1e-05, -3e-300, 2.0], "radius": 2e22}] for name in names}


@pytest.mark.parametrize("excess", [0.0, -1.0, np.nan, np.inf, "1", True, None])
def test_bad_excess(excess):
    with pytest.raises(RobotError, match=f"excess.*{re.escape(repr(excess))}"):
        Robot.example().spheres(excess)


def test_too_little_excess_says_what_would_do():
    with pytest.raises(RobotError, match=r"excess.*0\.0001.*'post'.*0\.2 x 0\.2 x 0\.2"):
        Robot.example().spheres(0.0001)


def test_progress_reaches_the_end():
    reports: list[float] = []
    one = Robot.example()
    assert one.spheres(0.05, progress=reports.append) == one.spheres(0.05)
    assert reports == [1 / 3, 2 / 3, 1.0]
    reports.clear()
    allowed = allow_by_sampling(one, 600, progress=reports.append)
    assert (reports, reports[0], reports[-1]) == (sorted(reports), 0.0, 1.0)
    assert allowed.proven == allow_by_sampling(one, 600).proven
