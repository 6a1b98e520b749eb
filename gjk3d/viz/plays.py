"""What moves and what is said at each moment: of a robot's path, of a motion, and of one that meets something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gjk3d.query.motion import Motion
from gjk3d.query.time_of_impact import Impact, ImpactStatus
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.viz.drawing import COLORS, LINES, MARK, PALETTE, Drawing, Item, Style
from gjk3d.viz.kinds import impacts, robots
from gjk3d.viz.kinds.bodies import add, matrices, words_for
from gjk3d.viz.kinds.robots import HIT, LINKS, THINGS, Travel
from gjk3d.viz.layout import called
from gjk3d.viz.triangles import is_dots, solid_surface
from gjk3d.wording import number


class Moment(NamedTuple):
    """What is known at one moment."""

    lines: list[str]  #: under the title; the last says what is known
    hit: frozenset[str]  #: names of those that collide
    ends: tuple[Array, Array] | None  #: the closest points, or the deepest


class Mover(NamedTuple):
    """A body that keeps its form."""

    name: str
    color: str  #: while it is free
    items: list[Item]  #: in its own frame
    poses: Array  #: (frames, 4, 4)


@dataclass(frozen=True)
class Play:
    """All that an animation shows."""

    title: str
    verdict: str
    movers: list[Mover]
    still: list[Item]
    moments: list[Moment]
    trace: Array  #: (frames, 3), the line that something leaves
    whole: Drawing  #: what has to be in the picture, whatever moves
    keys: list[tuple[str, str]]


def play_of_travel(there: Travel, title: str) -> Play:
    """Return a robot's path."""
    checker = there.checker
    movers = []
    for part in robots.parts_of(checker, Style()):
        one = Drawing()
        part._replace(local=np.eye(4)).add_to(one, np.eye(4), part.color)
        movers.append(Mover(part.name, part.color, one.items, there.poses[:, part.link] @ part.local))
    whole = robots.draw_robot(checker, Style(), q=there.q, labels=False)
    whole.items = [item for item in whole.items if item.look != LINES]
    still = [
        replace(item, color=THINGS if item.color == HIT else item.color)
        for item in whole.items
        if item.name in checker.objects
    ]
    moments = []
    for edge, state in zip(there.edge, there.states, strict=True):
        where = f"edge {edge}, from waypoint {edge} to {edge + 1} of {there.edges}"
        known = state.closest is not None and np.isfinite(state.distance)
        moments.append(Moment([where, robots.words_for(state)], state.hit, state.points if known else None))
    keys = [(title, LINKS[0]), *([("around it", THINGS)] if checker.objects else []), ("who collides", HIT)]
    return Play(title, there.verdict, movers, still, moments, there.trace, whole, keys)


def play_of_impact(x: Impact, title: str | None, frames: int) -> Play:
    """Return two bodies up to where they meet, or to the end."""
    if x.time.ndim == 2:
        raise TypeError(f"this impact is of {len(x)} motions, and one can be shown: take a row, impact[0]")
    until = float(x.free_until)
    times = np.linspace(0.0, until, frames)
    whole = impacts.draw_impact(x, Style())
    whole.items = [item for item in whole.items if item.look not in (LINES, MARK)]
    sides = [("A", x.shape_a, x.motion_a), ("B", x.shape_b, x.motion_b)]
    movers, still = [], []
    for (name, shape, motion), color in zip(sides, COLORS, strict=True):
        one = Drawing()
        if isinstance(shape, Halfspace):
            add(one, shape, motion.at(until), color, 1.0, around=whole.ball, name=name)
            still += one.items
        else:
            movers.append(_mover(name, shape, motion, times, color))
    names = frozenset("AB") if x.status in (ImpactStatus.HIT, ImpactStatus.OVERLAPPING) else frozenset()
    said = impacts.impact_words(x)
    moments = [Moment([f"at {number(time, 3)} of the motion"], frozenset(), None) for time in times[:-1]]
    moments.append(Moment(said, names, (x.point_a, x.point_b) if names else None))
    keys = [(f"{name}  {called(shape)}", color) for (name, shape, _), color in zip(sides, COLORS, strict=True)]
    shape, motion = next(((s, m) for _, s, m in sides[::-1] if impacts.moves(m)), sides[1][1:])
    trace = impacts.track(shape, motion, times)
    heading = title or f"{called(x.shape_a)} and {called(x.shape_b)}"
    return Play(heading, said[0], movers, still, moments, trace, whole, [*keys, ("who collides", HIT)])


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
    whole = Drawing()
    for mover in movers:
        for item in mover.items:
            for pose in mover.poses[:: max(1, frames // 12)]:
                whole.body(item.vertices @ pose[:3, :3].T + pose[:3, 3], item.faces, item.color)
    moments = [Moment([f"at {number(time, 3)} of the motion"], frozenset(), None) for time in times]
    trace = impacts.track(bodies[0], x, times)
    heading = title or ", ".join(mover.name for mover in movers)
    keys = [(mover.name, mover.color) for mover in movers]
    return Play(heading, "A motion", movers, [], moments, trace, whole, keys)


def _mover(name: str, shape: Any, motion: Motion, times: Array, color: str) -> Mover:
    one = Drawing()
    if is_dots(shape):
        one.body(*solid_surface(shape), color, outline=False, name=name)
    else:
        add(one, shape, None, color, 1.0, outline=False, name=name)
    return Mover(name, color, one.items, matrices(motion.at(times)))
