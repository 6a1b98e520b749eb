"""Which reader a robot's file, or its text, is for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gjk3d.robot.files import read_root
from gjk3d.robot.mjcf import read_mjcf
from gjk3d.robot.urdf import Description, checked_collision, described


def read_any(
    source: str | os.PathLike[str], collision: str = "collision", arguments: Mapping[str, str] | None = None
) -> Description:
    """Read a URDF, a xacro or an MJCF, or the text of one; nothing is placed yet."""
    file, root = read_root(source, ("robot", "mujoco"), arguments)
    if root.tag == "mujoco":
        return read_mjcf(file, root, checked_collision(collision))
    return described(file, root, collision)
