"""Robots from URDF: where their links are, and what may touch what."""

from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.model import Robot
from gjk3d.robot.urdf import Joint, Mimic

__all__ = ["Body", "Geometry", "Joint", "Mimic", "Robot"]
