"""Obstacles that move on their own: each hangs on a joint that slides and one that turns, both driven by the clock.

A `gjk3d.Motion` moves a point straight and turns the body round it. That is what a sliding joint and a turning one
behind it do, so a robot with two links more for each such obstacle, and the time as one number more of its
configurations, says where all are; whatever is asked about robots is answered for moving obstacles too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.narrow.motion import CENTER, REFERENCE, TURN, WAY
from gjk3d.poses import parts
from gjk3d.query.motion import Motion
from gjk3d.robot.cell import OBSTACLES, Cell, Rule
from gjk3d.robot.cell_build import Base, build
from gjk3d.robot.kinematics import FIXED, SLIDING, TURNING, Chain
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD, CollisionObject, outline
from gjk3d.typing import Array
from gjk3d.wording import kind_of

#: by the name of an obstacle: how it moves, over all of a trajectory or between two times of it
Moving = Mapping[str, Motion | tuple[Motion, tuple[float, float]]]


class Clocked(NamedTuple):
    """A cell whose configurations end with the time since the start."""

    cell: Cell
    slides: float  #: how far any obstacle slides, and turns, in a unit of time
    turns: float


class _Mover(NamedTuple):
    """How an obstacle moves: two joints, and where the shape is behind them."""

    way: Array  #: of the centre in a unit of time
    turn: Array
    begin: float  #: the time since the start at which it is at its first pose
    center: Array  #: there
    local: Array  #: the pose about the centre there


def clocked(
    base: Base, objects: Mapping[str, CollisionObject], margin: float, rules: Iterable[Rule], moving: Moving,
    times: tuple[float, float],
) -> Clocked:  # fmt: skip
    """Return the cell of a robot some of whose obstacles move between two times, first and last."""
    if not isinstance(moving, Mapping):
        raise RobotError(f"moving is {kind_of(moving)}, expected a gjk3d.Motion by the name of each obstacle")
    movers = {name: _mover(name, given, objects, times) for name, given in moving.items()}
    own = object.__new__(Base)
    own.robot = _with_carriers(base.robot, list(movers.values()), times[1] - times[0])
    own.slots, own.units, own.pairs = base.slots, base.units, base.pairs
    link = {name: len(base.robot.links) + 2 * k + 1 for k, name in enumerate(movers)}
    standing = frozenset(name for name, each in objects.items() if each.link == WORLD)
    # what hangs on the robot stands first of a pair; obstacles are not asked about each other
    every = [each for each in objects.values() if each.link != WORLD] + [
        each._replace(link=link[name], pose=movers[name].local, touch=each.touch | standing) if name in movers else each
        for name, each in objects.items()
        if name in standing
    ]
    slides, turns = (max((float(np.linalg.norm(each[k])) for each in movers.values()), default=0.0) for k in (0, 1))
    # what is said of all that stands holds for what stood, too
    said = [
        each for rule in rules for each in (rule, *(rule._replace(b=name) for name in movers if rule.b == OBSTACLES))
    ]
    return Clocked(build(own, every, margin, said), slides, turns)


def _mover(name: str, given: Any, objects: Mapping[str, CollisionObject], times: tuple[float, float]) -> _Mover:
    """Check and return how an obstacle moves."""
    motion, when = given if isinstance(given, tuple) and len(given) == 2 else (given, times)
    if name not in objects or objects[name].link != WORLD:
        names = ", ".join(repr(each.name) for each in objects.values() if each.link == WORLD)
        raise RobotError(f"moving: {name!r} is no obstacle; there is {names or 'none'}")
    if outline(objects[name].shape).plane is not None:
        raise RobotError(f"moving: {name!r} is {kind_of(objects[name].shape)}, which has no end: it stands")
    if not isinstance(motion, Motion) or motion.stacked:
        raise RobotError(f"moving: {name!r} has {motion!r:.80}, expected one gjk3d.Motion, or it and two times")
    try:
        first, last = map(float, when)
    except (TypeError, ValueError):
        first = last = nan
    if not (isfinite(first) and isfinite(last) and first < last):
        raise RobotError(f"moving: {name!r} has the times {when!r:.80}, expected two, one before the other")
    rotation, _ = parts(motion._rows)
    row, local = motion._rows[0], np.eye(4)
    local[:3, :3], local[:3, 3] = rotation[0], -rotation[0] @ row[REFERENCE : REFERENCE + 3]
    span = last - first
    return _Mover(
        row[WAY : WAY + 3] / span, row[TURN : TURN + 3] / span, first - times[0], row[CENTER : CENTER + 3], local
    )


def _with_carriers(robot: Robot, movers: Sequence[_Mover], duration: float) -> Robot:
    """Return a robot with two links more for each moving obstacle, and the time as its last number."""
    new = robot._copied()
    chain, count = robot._chain, len(robot.links)
    rows: list[tuple[Any, ...]] = []
    for k, mover in enumerate(movers):
        # on the root, which stands: a tree has one
        for parent, kind, rate in ((0, SLIDING, mover.way), (count + 2 * k, TURNING, mover.turn)):
            origin, size = np.eye(4), float(np.linalg.norm(rate))
            if parent == 0:
                origin[:3, 3] = mover.center
                origin = np.linalg.inv(chain.origin[0]) @ origin
            axis = rate / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
            rows.append((parent, kind if size > 0.0 else FIXED, axis, origin, robot.dof, size, -size * mover.begin))
    more = [np.array(column) for column in zip(*rows, strict=True)]
    new._chain = Chain(*(
        np.ascontiguousarray(np.concatenate([old, each.reshape(-1, *old.shape[1:]).astype(old.dtype)]))
        for old, each in zip(chain, more, strict=True)
    ))  # fmt: skip
    new.links = robot.links + tuple(f"(carrier {k})" for k in range(2 * len(movers)))
    new.joints = robot.joints + (None,) * (2 * len(movers))
    # nothing is fixed to a carrier but its obstacle, also where it does not move
    new.rigid = np.append(robot.rigid, np.arange(count, count + 2 * len(movers)))
    new.dof = robot.dof + 1
    new.lower, new.upper = np.append(robot.lower, 0.0), np.append(robot.upper, duration)
    return new
