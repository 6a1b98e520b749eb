"""Robots: read from URDF and SRDF, and checked, configurations and motions, against themselves and what is around.

A `Checker` asks; its `cell` is what the kernels of `walk` and `motion_cover` take. Planners are not here: `ompl` hands
motions to OMPL's, and is loaded when it is first asked for. `way` is what is known along a path. Pictures are in
`gjk3d.viz`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gjk3d.robot.all_pairs import RobotDistances
from gjk3d.robot.allowed import AllowedPair, AllowedPairs
from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.checker import Checker
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import MotionCheck, MotionStatus, PathCheck
from gjk3d.robot.path_proof import PathProof
from gjk3d.robot.results import RobotClearance, RobotCollision, RobotContact
from gjk3d.robot.safety_report import SafetyMotion, SafetyPlace, SafetyReport, SafetyRow
from gjk3d.robot.sampling import allow_by_sampling
from gjk3d.robot.scaled import scaled
from gjk3d.robot.spheres import LinkSpheres, RobotSpheres
from gjk3d.robot.swept import SweptPiece, SweptVolume
from gjk3d.robot.timed import TrajectoryCheck, TrajectoryClearance
from gjk3d.robot.trajectories import Trajectory
from gjk3d.robot.urdf import Joint, Mimic
from gjk3d.robot.validity import Reason, Validity

if TYPE_CHECKING:
    from gjk3d.robot import ompl as ompl

__all__ = [
    "AllowedPair",
    "AllowedPairs",
    "Body",
    "Checker",
    "Geometry",
    "Joint",
    "LinkSpheres",
    "Mimic",
    "MotionCheck",
    "MotionStatus",
    "PathCheck",
    "PathProof",
    "Reason",
    "Robot",
    "RobotClearance",
    "RobotCollision",
    "RobotContact",
    "RobotDistances",
    "RobotSpheres",
    "SafetyMotion",
    "SafetyPlace",
    "SafetyReport",
    "SafetyRow",
    "SweptPiece",
    "SweptVolume",
    "Trajectory",
    "TrajectoryCheck",
    "TrajectoryClearance",
    "Validity",
    "allow_by_sampling",
    "scaled",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name != "ompl":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import gjk3d.robot.ompl as planning

        return planning


def __dir__() -> list[str]:
    return sorted(__all__)
