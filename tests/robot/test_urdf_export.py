"""Robots written as URDF and read again, and spheres that cover links with a bounded excess."""

from __future__ import annotations

import re

import numpy as np
import pytest
from example_robots import robot, some
from message_checks import assert_names
from random_robots import random_robot

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, LinkSpheres, Robot, RobotSpheres, allow_by_sampling


def assert_same(expected, again, count=30):
    """Assert that both robots have the same joints, links, collisions and clearances."""
    assert (again.name, again.links, again.columns) == (expected.name, expected.links, expected.columns)
    assert [joint and joint[:4] for joint in again.joints] == [joint and joint[:4] for joint in expected.joints]
    np.testing.assert_array_equal((again.lower, again.upper), (expected.lower, expected.upper))
    again.allowed = expected.allowed
    q = some(expected, count)
    np.testing.assert_allclose(again.link_poses(q), expected.link_poses(q), atol=1e-13)
    ours, theirs = Checker(expected), Checker(again)
    assert np.array_equal(ours.free(q), theirs.free(q))
    np.testing.assert_allclose(theirs.clearance(q).distance, ours.clearance(q).distance, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_round_trip_of_random_robots(tmp_path, seed):
    loaded = random_robot(tmp_path, seed)
    loaded.to_urdf(tmp_path / "again.urdf")
    assert_same(loaded, Robot.load(tmp_path / "again.urdf"))
    loaded.to_urdf(tmp_path / "once more.urdf")
    assert (tmp_path / "again.urdf").read_text() == (tmp_path / "once more.urdf").read_text()


@pytest.mark.many
@pytest.mark.parametrize(("name", "geometry"), [("panda", "bodies"), ("ur5", "bodies"), ("ur5", "mesh")])
def test_round_trip_of_real_robots(tmp_path, name, geometry):
    loaded = robot(name, geometry)
    loaded.to_urdf(tmp_path / "r.urdf")
    again = Robot.load(tmp_path / "r.urdf", geometry="mesh" if geometry == "mesh" else "hull")
    assert len(again.geometries) == len(loaded.bodies)
    assert_same(loaded, again, 10)


def text_of(shape):
    return f"<robot name='r'><link name='a'><collision><geometry>{shape}</geometry></collision></link></robot>"


def test_capsule_is_written_as_cylinder_and_spheres(tmp_path):
    loaded = Robot.load(text_of("<capsule radius='0.1' length='2'/>"))
    loaded.to_urdf(tmp_path / "r.urdf")
    again = Robot.load(tmp_path / "r.urdf")
    assert [body.shape for body in again.bodies] == [gk.Cylinder(0.1, 2), gk.Sphere(0.1), gk.Sphere(0.1)]
    assert [body.pose[2, 3] for body in again.bodies] == [0, -1, 1]
    Robot.load(text_of("<capsule radius='0.1' length='0'/>")).to_urdf(tmp_path / "r.urdf")
    assert [body.shape for body in Robot.load(tmp_path / "r.urdf").bodies] == [gk.Sphere(0.1)]


def test_ellipsoid_is_written_as_containing_hull(tmp_path):
    pytest.importorskip("mujoco")
    loaded = Robot.load("<mujoco><worldbody><geom type='ellipsoid' size='.1 .2 .3'/></worldbody></mujoco>")
    loaded.to_urdf(tmp_path / "r.urdf")
    hull = Robot.load(tmp_path / "r.urdf").bodies[0].shape
    directions = np.random.default_rng(0).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    ball = directions * (0.1, 0.2, 0.3)
    assert hull.contains(ball).all()
    corners = np.asarray(hull.vertices) / (0.1, 0.2, 0.3)
    assert np.linalg.norm(corners, axis=1).max() < 1.04


# --- spheres ----------------------------------------------------------------------------------------------------------


def points_within(shape, count, rng):
    """Return support points of a convex shape and random mixtures of them."""
    ends = np.array([shape.support(d) for d in rng.normal(size=(60, 3))])
    weights = rng.dirichlet(np.full(len(ends), 0.1), count)
    return np.concatenate([ends, weights @ ends])


def check_spheres(loaded, excess, count=300):
    rng = np.random.default_rng(1)
    result = loaded.spheres(excess)
    assert 0.0 <= result.excess <= excess
    assert result.excess == max(spheres.excess for spheres in result.links.values())
    assert set(result.links) == {loaded.links[body.link] for body in loaded.bodies}
    for name, link_spheres in result.links.items():
        bodies = [body for body in loaded.bodies if loaded.links[body.link] == name]
        for body in bodies:
            points = points_within(body.shape, count, rng) @ body.pose[:3, :3].T + body.pose[:3, 3]
            gaps = np.linalg.norm(points[:, None] - link_spheres.centers, axis=2) - link_spheres.radii
            assert gaps.min(axis=1).max() <= 0.0
        out = rng.normal(size=(count, 3))
        which = rng.integers(len(link_spheres.centers), size=count)
        skin = (
            link_spheres.centers[which] + link_spheres.radii[which, None] * out / np.linalg.norm(out, axis=1)[:, None]
        )
        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, 3] = skin
        far = np.min([gk.distance(gk.Point(), b.shape, poses, b.pose).lower for b in bodies], axis=0)
        assert far.max() <= link_spheres.excess + 1e-12
    return result


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_spheres_cover_links_within_excess(tmp_path, seed):
    scale = 10.0 ** (seed - 3)
    check_spheres(random_robot(tmp_path, seed, scale=scale), 0.05 * scale)


@pytest.mark.full
@pytest.mark.many
def test_number_of_spheres_of_panda():
    result = check_spheres(robot("panda"), 0.03)
    assert sum(len(spheres.radii) for spheres in result.links.values()) < 400


def test_spheres_are_written_as_urdf_and_yaml(tmp_path):
    loaded = Robot.example()
    result = loaded.spheres(0.05)
    count = sum(len(spheres.radii) for spheres in result.links.values())
    assert_names(repr(result), f"{len(result.links)} links", f"{count} spheres")
    result.to_urdf(tmp_path / "s.urdf")
    again = Robot.load(tmp_path / "s.urdf")
    assert again.links == loaded.links
    assert len(again.bodies) == sum(len(spheres.radii) for spheres in result.links.values())
    beam = [body for body in again.bodies if body.link == 1]
    assert [body.shape.radius for body in beam] == result.links["beam"].radii.tolist()
    assert [body.pose[:3, 3].tolist() for body in beam] == result.links["beam"].centers.tolist()
    result.to_curobo(tmp_path / "s.yml")
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load((tmp_path / "s.yml").read_text())["collision_spheres"]
    assert list(read) == list(result.links)
    assert [spheres["radius"] for spheres in read["hand"]] == result.links["hand"].radii.tolist()
    assert [spheres["center"] for spheres in read["hand"]] == result.links["hand"].centers.tolist()


def test_yaml_reads_any_name_and_number(tmp_path):
    """YAML 1.1, which cuRobo uses, reads numbers without a point such as 1e-05 as text."""
    yaml = pytest.importorskip("yaml")
    names = ["a: b", "it's", '"', "\\", "a\nb", "\x7f", "\u2028", "null", "# c", "\U0001f600"]
    spheres = LinkSpheres(np.array([[1e-05, -3e-300, 2.0]]), np.array([2e22]), 1.0)
    RobotSpheres(Robot.example(), dict.fromkeys(names, spheres), 1.0).to_curobo(tmp_path / "s.yml")
    read = yaml.safe_load((tmp_path / "s.yml").read_text(encoding="utf-8"))["collision_spheres"]
    assert read == {name: [{"center": [1e-05, -3e-300, 2.0], "radius": 2e22}] for name in names}


@pytest.mark.parametrize("excess", [0.0, -1.0, np.nan, np.inf, "1", True, None])
def test_invalid_excess_raises(excess):
    with pytest.raises(RobotError, match=f"excess.*{re.escape(repr(excess))}"):
        Robot.example().spheres(excess)


def test_too_small_excess_error_names_the_link():
    with pytest.raises(RobotError, match=r"excess.*0\.0001.*'post'.*0\.2 x 0\.2 x 0\.2"):
        Robot.example().spheres(0.0001)


def test_progress_reaches_the_end():
    reports: list[float] = []
    example = Robot.example()
    assert example.spheres(0.05, progress=reports.append) == example.spheres(0.05)
    assert reports == [1 / 3, 2 / 3, 1.0]
    reports.clear()
    allowed = allow_by_sampling(example, 600, progress=reports.append)
    assert (reports, reports[0], reports[-1]) == (sorted(reports), 0.0, 1.0)
    assert allowed.proven == allow_by_sampling(example, 600).proven
