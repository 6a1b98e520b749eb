"""Robots: reading URDF, SRDF and MJCF, and collision checks of configurations and motions.

A `Checker` has the queries. Its `cell` is the input of the kernels of `walk` and `motion_cover`. `ompl` connects a
checker to the planners of OMPL and is imported at first use. `playback` samples a path evenly for pictures, which are
in `gjk3d.viz`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.checker import Checker
from gjk3d.robot.derived import scaled
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import MotionCheck, MotionStatus, PathCheck, PathProof
from gjk3d.robot.results import Reason, RobotClearance, RobotCollision, RobotContact, RobotDistances, Validity
from gjk3d.robot.safety import SafetyMotion, SafetyPlace, SafetyReport, SafetyRow
from gjk3d.robot.sampling import allow_by_sampling
from gjk3d.robot.spheres import LinkSpheres, RobotSpheres
from gjk3d.robot.srdf import AllowedPair, AllowedPairs
from gjk3d.robot.swept import SweptPiece, SweptVolume
from gjk3d.robot.timed import TrajectoryCheck, TrajectoryClearance
from gjk3d.robot.trajectories import Trajectory
from gjk3d.robot.urdf import Joint, Mimic

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
