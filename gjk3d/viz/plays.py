"""What moves and what is said at each moment: of a robot's path, of a motion, and of one that meets something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gjk3d.query.motion import Motion
from gjk3d.query.time_of_impact import Impact, ImpactStatus
from gjk3d.query.wording import impact_words
from gjk3d.robot import Checker
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import COLORS, PALETTE, Drawing, Style
from gjk3d.viz.kinds import impacts, robots
from gjk3d.viz.kinds.bodies import add, matrices, words_for
from gjk3d.viz.kinds.robots import HIT, LINKS, THINGS, Travel
from gjk3d.viz.layout import called
from gjk3d.viz.paint import Mover
from gjk3d.viz.triangles import is_dots, solid_surface
from gjk3d.wording import number


class Moment(NamedTuple):
    """What is known at one moment."""

    lines: list[str]  #: under the title; the last says what is known
    hit: frozenset[str]  #: names of those that collide
    ends: tuple[Array, Array] | None  #: the closest points, or the deepest


@dataclass(frozen=True)
class Play:
    """All that an animation shows."""

    title: str
    verdict: str
    movers: list[Mover]
    moments: list[Moment]
    trace: Array  #: (frames, 3), the line that something leaves
    whole: Drawing  #: what has to be in the picture, whatever moves
    keys: list[tuple[str, str]]


def play_of(x: Travel | Impact | Motion, of: Any, title: str | None, frames: int) -> Play:
    """Return what happens on a path, up to an impact, or along a motion of something."""
    if isinstance(x, Travel):
        return play_of_travel(x, title or x.checker.robot.name or "robot")
    if isinstance(x, Impact):
        return play_of_impact(x, title, frames)
    if isinstance(x, Motion):
        return play_of_motion(x, of, title, frames)
    raise TypeError(f"a {type(x).__name__} is nothing that moves: give a Checker and a path, an Impact or a Motion")


def movers_of(checker: Checker, poses: Array, moved: Mapping[str, Array]) -> list[Mover]:
    """Return the links of a robot at (frames, links, 4, 4) poses, what is attached to them and what stands around.

    Of that ``moved`` has the poses (frames, 4, 4) of what moves.
    """
    parts = robots.parts_of(checker, Style())
    things = Drawing()
    robots.add_things(things, checker, frozenset())
    movers = [
        *(Mover(part.name, part.color, part.items, poses[:, part.link] @ part.local) for part in parts),
        *(Mover(item.name, THINGS, [item]) for item in things.items if item.name not in moved),
    ]
    for k, (name, own) in enumerate(moved.items()):
        one, color = Drawing(), PALETTE[k % len(PALETTE)]
        add(one, checker.shape(name), None, color, 1.0, outline=False, name=name)
        movers.append(Mover(name, color, one.items, own))
    return movers


def keys_of(robot: str, movers: list[Mover], moved: Mapping[str, Array], hit: str) -> list[tuple[str, str]]:
    """Return what the colours of `movers_of` mean; of many that move, those whose colour is not another's too."""
    moving = [(mover.name, mover.color) for mover in movers if mover.name in [*moved][: len(PALETTE)]]
    around = [("around it", THINGS)] if any(mover.poses is None for mover in movers) else []
    return [(robot, LINKS[0]), *moving, *around, (hit, HIT)]


def play_of_travel(there: Travel, title: str) -> Play:
    """Return a robot's path."""
    checker = there.checker
    whole = robots.draw_robot(checker, Style(), q=there.way.q, labels=False)
    moments = []
    for where, state in zip(there.way.where, there.states, strict=True):
        known = state.closest is not None and np.isfinite(state.distance)
        moments.append(Moment([where, robots.words_for(state)], state.hit, state.points if known else None))
    movers = movers_of(checker, there.poses, there.way.moved)
    keys = keys_of(title, movers, there.way.moved, "who collides")
    return Play(title, there.way.verdict, movers, moments, there.trace, whole, keys)


def play_of_impact(x: Impact, title: str | None, frames: int) -> Play:
    """Return two bodies up to where they meet, or to the end."""
    whole, said = impacts.draw_impact(x, Style()), impact_words(x)
    times = np.linspace(0.0, float(x.free_until), frames)
    sides = [("A", x.shape_a, x.motion_a), ("B", x.shape_b, x.motion_b)]
    movers = [_mover(*side, times, color) for side, color in zip(sides, COLORS, strict=True)]
    names = frozenset("AB") if x.status in (ImpactStatus.HIT, ImpactStatus.OVERLAPPING) else frozenset()
    moments = [Moment([f"at {number(time, 3)} of the motion"], frozenset(), None) for time in times[:-1]]
    moments.append(Moment(said, names, (x.point_a, x.point_b) if names else None))
    shape, motion = next(((s, m) for _, s, m in sides[::-1] if impacts.moves(m)), sides[1][1:])
    trace = impacts.track(shape, motion, times)
    heading = title or " and ".join(text[3:] for text, _ in whole.keys[:2])
    return Play(heading, said[0], movers, moments, trace, whole, [*whole.keys[:2], ("who collides", HIT)])


def play_of_motion(x: Motion, of: Any, title: str | None, frames: int) -> Play:
    """Return a body, or several side by side in one frame, along a motion."""
    if of is None:
        raise TypeError("a Motion has no body of its own: pass what moves, as viz.motion(motion, of=shape)")
    if x.stacked:
        raise TypeError(f"this Motion is {len(x)} motions, and one can be shown: take a row, motion[0]")
    bodies = of if isinstance(of, (list, tuple)) else [of]
    if not bodies:
        raise ValueError("there is nothing to move: the list is empty")
    times = np.linspace(0.0, 1.0, frames)
    movers = [_mover(words_for(body), body, x, times, PALETTE[k % len(PALETTE)]) for k, body in enumerate(bodies)]
    some = matrices(x.at(times[:: max(1, frames // 12)]))
    whole = Drawing([item.moved(pose) for mover in movers for item in mover.items for pose in some])
    moments = [Moment([f"at {number(time, 3)} of the motion"], frozenset(), None) for time in times]
    names = ", ".join(map(called, bodies))
    heading = title or names[:1].upper() + names[1:]
    keys = [(mover.name, mover.color) for mover in movers]
    return Play(heading, "A motion", movers, moments, impacts.track(bodies[0], x, times), whole, keys)


def _mover(name: str, shape: Any, motion: Motion, times: Array, color: str) -> Mover:
    """Return a body along a motion; a half-space stays where it is at the end."""
    one, plane = Drawing(), isinstance(shape, Halfspace)
    if is_dots(shape):
        one.body(*solid_surface(shape), color, name=name)
    else:
        add(one, shape, motion.at(times[-1]) if plane else None, color, 1.0, outline=False, name=name)
    return Mover(name, color, one.items, None if plane else matrices(motion.at(times)))
