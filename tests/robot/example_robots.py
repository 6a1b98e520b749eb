"""Real robots from the package example-robot-data and their pinocchio models."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

import coal
import numpy as np
import pinocchio

import gjk3d as gk

SHARE = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
URDFS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "tiago": "tiago_pro_description/robots/tiago_pro.urdf",
}
SRDFS = {
    "panda": "panda_description/srdf/panda.srdf",
    "ur5": "ur_description/srdf/ur5.srdf",
    "talos": "talos_data/srdf/talos.srdf",
}


@cache
def robot(name, geometry="bodies"):
    return gk.robot.Robot.from_urdf(SHARE / URDFS[name], geometry=geometry)


def some(robot, n, seed=0):
    """Return n random configurations within the joint limits, clipped to [-3, 3]."""
    low, high = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    return np.random.default_rng(seed).uniform(low, high, (n, robot.dof))


class Twin:
    """The pinocchio model of a robot. Its mimic joints are independent, so they are set from the joints they follow."""

    def __init__(self, path, robot):
        self.robot = robot
        self.model = pinocchio.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.frames = {
            frame.name: k for k, frame in enumerate(self.model.frames) if frame.type == pinocchio.FrameType.BODY
        }
        self.joints = {joint.name: joint for joint in robot.joints if joint is not None}

    def value(self, name, q):
        mimic = self.joints[name].mimic
        if mimic is None:
            return q[self.robot.columns[name]]
        return mimic.multiplier * self.value(mimic.joint, q) + mimic.offset

    def numbers(self, q):
        """Return q in pinocchio's configuration coordinates."""
        out = pinocchio.neutral(self.model)
        for k in range(1, self.model.njoints):
            joint = self.model.joints[k]
            value = self.value(self.model.names[k], q)
            if self.joints[self.model.names[k]].type == "planar":
                value = [*value[:2], np.cos(value[2]), np.sin(value[2])]
            elif self.joints[self.model.names[k]].type == "floating":
                value = [*value[:3], *pinocchio.Quaternion(pinocchio.exp3(value[3:])).coeffs()]
            elif joint.nq == 2:
                value = [np.cos(value[0]), np.sin(value[0])]
            out[joint.idx_q : joint.idx_q + joint.nq] = value
        return out

    def poses(self, q):
        """Return the pose of every link."""
        pinocchio.framesForwardKinematics(self.model, self.data, self.numbers(q))
        return np.array([self.data.oMf[self.frames[name]].homogeneous for name in self.robot.links])


@cache
def twin(name):
    return Twin(SHARE / URDFS[name], robot(name))


def hulls_of(name, srdf=None):
    """Return pinocchio's collision geometry with meshes replaced by their hulls, and the link of each geometry.

    All collision pairs are active, except those that an SRDF disables.
    """
    reference = twin(name)
    shapes = pinocchio.buildGeomFromUrdf(
        reference.model,
        str(SHARE / URDFS[name]),
        pinocchio.GeometryType.COLLISION,
        package_dirs=[str(SHARE.parents[1])],
    )
    for item in shapes.geometryObjects:
        if isinstance(item.geometry, coal.BVHModelBase):
            item.geometry.buildConvexHull(True, "Qt")
            item.geometry = item.geometry.convex
    shapes.addAllCollisionPairs()
    if srdf:
        pinocchio.removeCollisionPairs(reference.model, shapes, str(srdf))
    return shapes, [reference.model.frames[item.parentFrame].name for item in shapes.geometryObjects]
