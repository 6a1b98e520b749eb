"""``gjk3d robot``: its commands."""

from __future__ import annotations

from cyclopts import App

from gjk3d.cli.robot.check import check
from gjk3d.cli.robot.info import info
from gjk3d.cli.robot.old import old
from gjk3d.cli.robot.pairs import pairs
from gjk3d.cli.robot.path import path

_HELP = """Tell what a robot is, and whether its configurations and paths are free.

Exits with 0 if all is free, with 1 if something collides or stays unresolved, with 2 if the input is bad, with 130
after Ctrl-C; then what was found so far is still printed.
"""

robot = App(name="robot", help=_HELP, usage="gjk3d robot COMMAND URDF [OPTIONS]")
robot.command(info, usage="gjk3d robot info URDF [OPTIONS]", sort_key=1)
robot.command(check, usage="gjk3d robot check URDF [CONFIGURATIONS] [OPTIONS]", sort_key=2)
robot.command(path, usage="gjk3d robot path URDF WAYPOINTS [OPTIONS]", sort_key=3)
robot.command(pairs, usage="gjk3d robot pairs URDF [OPTIONS]", sort_key=4)
robot.default(old)
