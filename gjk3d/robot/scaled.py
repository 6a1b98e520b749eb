"""A robot with some links larger or smaller than they are, as MoveIt's link scale has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gjk3d.convex.checks import is_finite
from gjk3d.errors import RobotError
from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.model import Robot
from gjk3d.typing import Array, Number


def scaled(robot: Robot, factors: Mapping[str, Number]) -> Robot:
    """Return a robot whose links are scaled, each geometry about the middle of the box along its axes.

    For a fixed distance all round, `Checker.set_padding` and `Checker.set_margin` are exact and cost nothing.

    Parameters
    ----------
    robot : Robot
        It is not changed; its allowed pairs are copied.
    factors : mapping of str to float
        By link: how many times as large, above 0.

    Returns
    -------
    Robot
        The joints are where they were.

    Raises
    ------
    RobotError
        There is no such link, or a factor is not above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> larger = gk.robot.scaled(gk.robot.Robot.example(), {"hand": 1.2})
    >>> larger.bodies[2].shape, larger.bodies[2].pose[:3, 3].tolist()
    (Box(extents=[0.6, 0.12, 0.12]), [0.25, 0.0, 0.0])
    """
    by_link: dict[int, float] = {}
    for name, factor in factors.items():
        if not is_finite(factor) or not factor > 0.0:
            raise RobotError(f"scaled: the factor of {name!r} is {factor!r:.80}, expected a number above 0")
        by_link[robot.link_number(name)] = float(factor)
    bodies: list[Body] = []
    geometries: list[Geometry] = []
    for each in robot.geometries:
        own = robot.bodies[each.first : each.last]
        factor = by_link.get(each.link, 1.0)
        if factor == 1.0:
            bodies += own
            geometries.append(each)
            continue
        middle = each.hull.bounds.mean(axis=0)
        bodies += [_scaled(body, factor, middle) for body in own]
        geometries.append(_scaled(each._replace(hull=each.hull.scaled(factor)), factor, middle))
    new = robot._copied()
    new.bodies, new.geometries = tuple(bodies), tuple(geometries)
    return new


def _scaled(given: Any, factor: float, middle: Array) -> Any:
    """Return a body or a geometry about a point that stays where it is."""
    pose = given.pose.copy()
    pose[:3, 3] += pose[:3, :3] @ middle * (1.0 - factor)
    pose.setflags(write=False)
    moved = given._replace(pose=pose)
    return moved._replace(shape=given.shape.scaled(factor)) if isinstance(given, Body) else moved
