"""Where links are and how their points move, against pinocchio on real robots."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from example_robots import URDFS, Twin, robot, some, twin

from gjk3d.robot import Robot


@pytest.mark.parametrize("name", URDFS)
def test_links_are_where_pinocchio_has_them(name):
    one, other = robot(name), twin(name)
    q = some(one, 200)
    got = one.link_poses(q)
    assert got.shape == (200, len(one.links), 4, 4)
    assert np.abs(got - [other.poses(row) for row in q]).max() < 1e-12
    assert np.array_equal(got[7], one.link_poses(q[7]))


@pytest.mark.parametrize("name", URDFS)
def test_points_move_as_pinocchio_says(name):
    """The Jacobian of a point on each link; those of joints that mimic are added to the joint they follow."""
    one, other = robot(name), twin(name)
    rng = np.random.default_rng(1)
    q = some(one, 200, seed=1)
    # which number of q each of pinocchio's velocities follows, and how
    follow = np.zeros((other.model.nv, one.dof))
    for k in range(1, other.model.njoints):
        factor, joint = 1.0, other.joints[other.model.names[k]]
        while joint.mimic is not None:
            factor, joint = factor * joint.mimic.multiplier, other.joints[joint.mimic.joint]
        follow[other.model.joints[k].idx_v, one.columns[joint.name].start] = factor
    for k, row in enumerate(q):
        link = one.links[k % len(one.links)]
        point = rng.uniform(-1, 1, 3)
        got = one.jacobian(row, link, point)
        whole = pinocchio.computeFrameJacobian(
            other.model, other.data, other.numbers(row), other.frames[link], pinocchio.LOCAL_WORLD_ALIGNED
        )
        arm = one.link_poses(row)[one.link_number(link), :3, :3] @ point
        expected = (whole[:3] - np.cross(arm, whole[3:], axis=0)) @ follow
        assert got.shape == (3, one.dof)
        assert np.abs(got - expected).max() < 1e-12


EVERY = """<robot name="every">
  <link name="root"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
  <joint name="float" type="floating"><parent link="root"/><child link="a"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
  <joint name="plane" type="planar"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0" rpy="1 0 0"/>
    <axis xyz="AXIS"/></joint>
  <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 2 2"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="turn" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0 0.3 0"/><axis xyz="0 3 4"/>
    <mimic joint="again" multiplier="-0.5" offset="0.25"/><limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="again" type="continuous"><parent link="d"/><child link="e"/><origin rpy="0 0 2"/>
    <mimic joint="last" multiplier="3" offset="1"/></joint>
  <joint name="last" type="continuous"><parent link="e"/><child link="f"/></joint>
</robot>"""


def every(tmp_path, axis="0 0 1"):
    file = tmp_path / "every.urdf"
    file.write_text(EVERY.replace("AXIS", axis))
    return Robot.from_urdf(file), file


def test_every_kind_of_joint_as_pinocchio_has_it(tmp_path):
    one, file = every(tmp_path)
    other = Twin(file, one)
    assert one.joint_names == ("float", "plane", "slide", "last")
    assert one.dof == 11
    assert one.columns["plane"] == slice(6, 9)
    assert one.lower.tolist() == [*[-np.inf] * 9, -1, -np.inf]
    assert one.upper.tolist() == [*[np.inf] * 9, 2, np.inf]
    q = np.random.default_rng(2).uniform(-3, 3, (200, 11))
    q[0] = 0
    q[1, 3:6] = 1e-9
    q[2, 3:6] = (0, np.pi, 0)
    assert np.abs(one.link_poses(q) - [other.poses(row) for row in q]).max() < 1e-12


def test_a_joint_that_follows_one_that_follows(tmp_path):
    """Again = 3 last + 1; turn = -0.5 again + 0.25."""
    one, _ = every(tmp_path)
    k = one.links.index("d")
    assert one._chain.source[k] == one.columns["last"].start
    assert one._chain.multiplier[k] == -1.5
    assert one._chain.offset[k] == -0.25


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "-1 -2 3", "1e-8 0 -1"])
@pytest.mark.parametrize("small", [1.0, 1e-3, 1e-7, 0.0])
def test_the_jacobian_is_how_points_move(tmp_path, axis, small):
    """By central differences, rotation vectors near 0 and the series' end (1e-2) included."""
    one, _ = every(tmp_path, axis)
    rng = np.random.default_rng(3)
    for link in one.links:
        q, point, step = rng.uniform(-1, 1, one.dof), rng.uniform(-1, 1, 3), 1e-6
        q[3:6] *= small
        moved = np.concatenate([q + step * np.eye(one.dof), q - step * np.eye(one.dof)])
        place = one.link_poses(moved)[:, one.link_number(link)] @ [*point, 1.0]
        differences = (place[: one.dof] - place[one.dof :]).T[:3] / (2 * step)
        assert np.abs(one.jacobian(q, link, point) - differences).max() < 1e-8


@pytest.mark.parametrize("small", [1.0, 1e-3, 0.0])
def test_six_rows_have_the_turn_of_the_link(tmp_path, small):
    """The angular velocity moves the axes of the link: by central differences."""
    one, _ = every(tmp_path, "-1 -2 3")
    rng = np.random.default_rng(3)
    for link in one.links:
        q, point, step = rng.uniform(-1, 1, one.dof), rng.uniform(-1, 1, 3), 1e-6
        q[3:6] *= small
        six = one.jacobian(q, link, point, angular=True)
        assert np.array_equal(six[:3], one.jacobian(q, link, point))
        moved = np.concatenate([q + step * np.eye(one.dof), q - step * np.eye(one.dof)])
        turns = one.link_poses(moved)[:, one.link_number(link), :3, :3]
        rates = (turns[: one.dof] - turns[one.dof :]) / (2 * step)
        axes = one.link_poses(q)[one.link_number(link), :3, :3]
        assert np.abs(rates - np.cross(six[3:].T[:, :, None], axes[None], axisa=1, axisb=1, axisc=1)).max() < 1e-8
    assert one.jacobian(np.zeros((2, one.dof)), 0, angular=True).shape == (2, 6, one.dof)


def test_where_the_series_ends(tmp_path):
    """Rotation vectors a little shorter and longer than 1e-2 give the same Jacobian."""
    one, _ = every(tmp_path)
    q = np.zeros((2, one.dof))
    q[:, 3] = 1e-2 * (1 - 1e-12), 1e-2 * (1 + 1e-12)
    first, second = one.jacobian(q, "a", (1, 2, 3))
    assert np.abs(first - second).max() < 1e-12


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "-1 -2 3"])
def test_a_planar_joint_moves_in_its_plane(tmp_path, axis):
    one, _ = every(tmp_path, axis)
    n = np.fromstring(axis, sep=" ")
    base = one.link_poses(np.zeros(one.dof))[one.links.index("a")] @ one._chain.origin[one.links.index("b")]
    there = one.link_poses(one.configuration({"plane": (0.5, -2, 0.3)}))[one.links.index("b")]
    motion = np.linalg.inv(base) @ there
    assert motion[:3, 3] @ n == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(motion[:3, 3]) == pytest.approx(np.hypot(0.5, 2))
    assert motion[:3, :3] @ n == pytest.approx(n)
    if axis == "0 0 1":
        assert motion[:3, 3] == pytest.approx((0.5, -2, 0))


def test_one_and_many_are_the_same_bits():
    one = robot("panda")
    q = some(one, 5)
    points = np.random.default_rng(4).uniform(-1, 1, (5, 3))
    many = one.jacobian(q, "panda_link5", points)
    for k in range(5):
        assert np.array_equal(many[k], one.jacobian(q[k], "panda_link5", points[k]))
    frozen = q.astype(np.float32)
    frozen.setflags(write=False)
    assert np.array_equal(one.link_poses(frozen), one.link_poses(frozen.astype(np.float64)))
    frozen = np.asfortranarray(q)
    frozen.setflags(write=False)
    assert np.array_equal(one.link_poses(frozen), one.link_poses(q))


def test_no_configurations():
    one = robot("panda")
    assert one.link_poses(np.zeros((0, one.dof))).shape == (0, len(one.links), 4, 4)
    assert one.jacobian(np.zeros((0, one.dof)), 3).shape == (0, 3, one.dof)
