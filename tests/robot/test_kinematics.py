"""Link poses and Jacobians, compared with pinocchio on real robots."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from example_robots import URDFS, Twin, robot, some, twin

from gjk3d.robot import Robot


@pytest.mark.parametrize("name", URDFS)
def test_link_poses_agree_with_pinocchio(name):
    arm, reference = robot(name), twin(name)
    q = some(arm, 200)
    got = arm.link_poses(q)
    assert got.shape == (200, len(arm.links), 4, 4)
    assert np.abs(got - [reference.poses(row) for row in q]).max() < 1e-12
    assert np.array_equal(got[7], arm.link_poses(q[7]))


@pytest.mark.parametrize("name", URDFS)
def test_jacobian_agrees_with_pinocchio(name):
    """The Jacobian of a point on a link agrees. Columns of mimic joints are added to the joints they follow."""
    model, reference = robot(name), twin(name)
    rng = np.random.default_rng(1)
    q = some(model, 200, seed=1)
    # maps velocities of q to those of pinocchio, with the multipliers of mimic joints
    follow = np.zeros((reference.model.nv, model.dof))
    for k in range(1, reference.model.njoints):
        factor, joint = 1.0, reference.joints[reference.model.names[k]]
        while joint.mimic is not None:
            factor, joint = factor * joint.mimic.multiplier, reference.joints[joint.mimic.joint]
        follow[reference.model.joints[k].idx_v, model.columns[joint.name].start] = factor
    for k, row in enumerate(q):
        link = model.links[k % len(model.links)]
        point = rng.uniform(-1, 1, 3)
        got = model.jacobian(row, link, point)
        full = pinocchio.computeFrameJacobian(
            reference.model,
            reference.data,
            reference.numbers(row),
            reference.frames[link],
            pinocchio.LOCAL_WORLD_ALIGNED,
        )
        offset = model.link_poses(row)[model.link_number(link), :3, :3] @ point
        expected = (full[:3] - np.cross(offset, full[3:], axis=0)) @ follow
        assert got.shape == (3, model.dof)
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


def robot_of_all_joints(tmp_path, axis="0 0 1"):
    file = tmp_path / "every.urdf"
    file.write_text(EVERY.replace("AXIS", axis))
    return Robot.from_urdf(file), file


def test_all_joint_types_agree_with_pinocchio(tmp_path):
    model, file = robot_of_all_joints(tmp_path)
    reference = Twin(file, model)
    assert model.joint_names == ("float", "plane", "slide", "last")
    assert model.dof == 11
    assert model.columns["plane"] == slice(6, 9)
    assert model.lower.tolist() == [*[-np.inf] * 9, -1, -np.inf]
    assert model.upper.tolist() == [*[np.inf] * 9, 2, np.inf]
    q = np.random.default_rng(2).uniform(-3, 3, (200, 11))
    q[0] = 0
    q[1, 3:6] = 1e-9
    q[2, 3:6] = (0, np.pi, 0)
    assert np.abs(model.link_poses(q) - [reference.poses(row) for row in q]).max() < 1e-12


def test_mimic_of_mimic_joint_is_composed(tmp_path):
    """Mimic joints are composed: again = 3 last + 1 and turn = -0.5 again + 0.25."""
    model, _ = robot_of_all_joints(tmp_path)
    k = model.links.index("d")
    assert model._chain.source[k] == model.columns["last"].start
    assert model._chain.multiplier[k] == -1.5
    assert model._chain.offset[k] == -0.25


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "-1 -2 3", "1e-8 0 -1"])
@pytest.mark.parametrize("small", [1.0, 1e-3, 1e-7, 0.0])
def test_jacobian_equals_central_differences(tmp_path, axis, small):
    """The cases include rotation vectors near 0, where the Jacobian uses a series."""
    model, _ = robot_of_all_joints(tmp_path, axis)
    rng = np.random.default_rng(3)
    for link in model.links:
        q, point, step = rng.uniform(-1, 1, model.dof), rng.uniform(-1, 1, 3), 1e-6
        q[3:6] *= small
        moved = np.concatenate([q + step * np.eye(model.dof), q - step * np.eye(model.dof)])
        place = model.link_poses(moved)[:, model.link_number(link)] @ [*point, 1.0]
        differences = (place[: model.dof] - place[model.dof :]).T[:3] / (2 * step)
        assert np.abs(model.jacobian(q, link, point) - differences).max() < 1e-8


@pytest.mark.parametrize("small", [1.0, 1e-3, 0.0])
def test_angular_jacobian_equals_central_differences(tmp_path, small):
    """The angular rows equal central differences of the axes of the link."""
    model, _ = robot_of_all_joints(tmp_path, "-1 -2 3")
    rng = np.random.default_rng(3)
    for link in model.links:
        q, point, step = rng.uniform(-1, 1, model.dof), rng.uniform(-1, 1, 3), 1e-6
        q[3:6] *= small
        six = model.jacobian(q, link, point, angular=True)
        assert np.array_equal(six[:3], model.jacobian(q, link, point))
        moved = np.concatenate([q + step * np.eye(model.dof), q - step * np.eye(model.dof)])
        turns = model.link_poses(moved)[:, model.link_number(link), :3, :3]
        rates = (turns[: model.dof] - turns[model.dof :]) / (2 * step)
        axes = model.link_poses(q)[model.link_number(link), :3, :3]
        assert np.abs(rates - np.cross(six[3:].T[:, :, None], axes[None], axisa=1, axisb=1, axisc=1)).max() < 1e-8
    assert model.jacobian(np.zeros((2, model.dof)), 0, angular=True).shape == (2, 6, model.dof)


def test_jacobian_is_continuous_where_series_ends(tmp_path):
    """Rotation vectors slightly shorter and longer than 1e-2 give the same Jacobian."""
    model, _ = robot_of_all_joints(tmp_path)
    q = np.zeros((2, model.dof))
    q[:, 3] = 1e-2 * (1 - 1e-12), 1e-2 * (1 + 1e-12)
    first, second = model.jacobian(q, "a", (1, 2, 3))
    assert np.abs(first - second).max() < 1e-12


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "-1 -2 3"])
def test_planar_joint_moves_in_its_plane(tmp_path, axis):
    model, _ = robot_of_all_joints(tmp_path, axis)
    n = np.fromstring(axis, sep=" ")
    base = model.link_poses(np.zeros(model.dof))[model.links.index("a")] @ model._chain.origin[model.links.index("b")]
    pose = model.link_poses(model.configuration({"plane": (0.5, -2, 0.3)}))[model.links.index("b")]
    motion = np.linalg.inv(base) @ pose
    assert motion[:3, 3] @ n == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(motion[:3, 3]) == pytest.approx(np.hypot(0.5, 2))
    assert motion[:3, :3] @ n == pytest.approx(n)
    if axis == "0 0 1":
        assert motion[:3, 3] == pytest.approx((0.5, -2, 0))


def test_stack_equals_single_configurations_bit_for_bit():
    model = robot("panda")
    q = some(model, 5)
    points = np.random.default_rng(4).uniform(-1, 1, (5, 3))
    many = model.jacobian(q, "panda_link5", points)
    for k in range(5):
        assert np.array_equal(many[k], model.jacobian(q[k], "panda_link5", points[k]))
    frozen = q.astype(np.float32)
    frozen.setflags(write=False)
    assert np.array_equal(model.link_poses(frozen), model.link_poses(frozen.astype(np.float64)))
    frozen = np.asfortranarray(q)
    frozen.setflags(write=False)
    assert np.array_equal(model.link_poses(frozen), model.link_poses(q))


def test_empty_stack_of_configurations():
    model = robot("panda")
    assert model.link_poses(np.zeros((0, model.dof))).shape == (0, len(model.links), 4, 4)
    assert model.jacobian(np.zeros((0, model.dof)), 3).shape == (0, 3, model.dof)
