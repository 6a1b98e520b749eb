"""Robots from URDF: where their links are, and what may touch what."""

from gjk3d.robot.allowed import AllowedPair, AllowedPairs
from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.checker import Checker
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import MotionCheck, MotionStatus, PathCheck
from gjk3d.robot.results import RobotClearance, RobotCollision, RobotContact
from gjk3d.robot.sampling import allow_by_sampling
from gjk3d.robot.urdf import Joint, Mimic

__all__ = [
    "AllowedPair",
    "AllowedPairs",
    "Body",
    "Checker",
    "Geometry",
    "Joint",
    "Mimic",
    "MotionCheck",
    "MotionStatus",
    "PathCheck",
    "Robot",
    "RobotClearance",
    "RobotCollision",
    "RobotContact",
    "allow_by_sampling",
]
