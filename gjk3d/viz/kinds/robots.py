"""Robots at a configuration, or along a path: what collides is vermilion, else the closest pair is marked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot import Checker, PathCheck, Robot, Trajectory, TrajectoryCheck
from gjk3d.robot.moving import Moving
from gjk3d.typing import Array, Ints, Number, Row, Rows, VectorLike
from gjk3d.viz.drawing import COLORS, GREY, INK, LINES, MODEL, SEPARATION, Drawing, Item, Label, Style, darker
from gjk3d.viz.kinds.bodies import add, evenly
from gjk3d.viz.layout import placed
from gjk3d.viz.progress import telling
from gjk3d.viz.triangles import joined, surface_of
from gjk3d.wording import count, depth, number, told

Pair = tuple[str, str]

#: Links by turns; vermilion is for those that collide.
LINKS, THINGS, HIT = ("#56B4E9", "#2F8FC8"), GREY, SEPARATION
#: From the front, from the right and from above: an arm reaches forward, along x.
VIEW = np.array([0.62, -0.66, 0.43]) / np.linalg.norm([0.62, -0.66, 0.43])
MOST_GHOSTS = 9
_LINE = 46  # letters of the pairs that are told: the line has room for so many
_UNIT = "m"  # of a URDF, by its standard
#: How much of the surroundings is in the picture, in sizes of the robot.
_ROOM = 1.5


class State(NamedTuple):
    """What a checker says of one configuration."""

    pairs: tuple[Pair, ...]  #: that collide, the deepest first
    distance: float  #: of the closest pair, or the deepest; infinite where no pair is checked
    lower: float  #: bounds of it
    upper: float
    closest: Pair | None
    points: tuple[Array, Array]

    @property
    def hit(self) -> frozenset[str]:
        """Names of the links and objects that collide."""
        return frozenset(name for pair in self.pairs for name in pair)


def draw_robot(x: Robot | Checker, style: Style, *, q: Row | None = None, labels: bool = True) -> Drawing:
    """Draw a robot, and of a Checker what stands around it.

    Parameters
    ----------
    q : (dof,) or (n, dof) float, optional
        A configuration, or several: the last is solid, those before are ghosts. All 0 by default.
    labels : bool
        Name those that collide, or are closest.
    """
    robot = x.robot if isinstance(x, Checker) else x
    rows = robot.configurations(np.zeros(robot.dof) if q is None else q)[0]
    drawing = Drawing(view=VIEW)
    if not len(rows):
        return drawing
    state = state_of(x, rows[-1]) if isinstance(x, Checker) else None
    hit = state.hit if state is not None else frozenset()
    parts = parts_of(x, style)
    shown = evenly(len(rows), MOST_GHOSTS)
    for k, i in enumerate(shown):
        ghost = k < len(shown) - 1
        fade = 0.10 + 0.15 * k / max(len(shown) - 1, 1) if ghost else 1.0
        poses = robot.link_poses(rows[i])
        for part in parts:
            color = HIT if part.name in hit and not ghost else part.color
            drawing.items += [
                item.moved(
                    poses[part.link] @ part.local,
                    color=darker(color) if item.look == LINES else color,
                    opacity=fade * style.alpha(0, 1.0),
                )
                for item in part.items
            ]
    center, radius = drawing.ball
    if isinstance(x, Checker) and x.objects:
        add_things(drawing, x, hit)
        drawing.focus = center, _ROOM * radius  # a hall around it would leave no robot to be seen
    drawing.key(style.name(0, robot.name or "robot"), style.color(0, LINKS))
    if isinstance(x, Checker) and x.objects:
        drawing.key("around it", THINGS)
    drawing.words = [style.name(0, robot.name or "robot")]
    if len(rows) > 1:
        drawing.words.append(f"{len(rows)} configurations, the last one solid")
    if state is not None:
        drawing.words.append(words_for(state))
        add_state(drawing, state, labels)
    return drawing


def state_of(checker: Checker, q: Row) -> State:
    """Ask who collides at a configuration, and where none does, who is closest."""
    found = checker.collisions(q)
    if found:
        pairs = tuple(dict.fromkeys((each.a, each.b) for each in found))
        deepest = found[0]
        ends = deepest.point_a, deepest.point_b
        return State(pairs, deepest.distance, deepest.lower, deepest.upper, deepest.pair, ends)
    near = checker.clearance(q)
    ends = near.point_a, near.point_b
    return State((), float(near.distance), float(near.lower), float(near.upper), near.pair, ends)


def words_for(state: State) -> str:
    """Say what a state is in one line."""
    if state.pairs:
        each = [f"{a} with {b}" for a, b in state.pairs]
        lengths = np.cumsum([len(text) + 2 for text in each])
        count = max(1, int(np.searchsorted(lengths, _LINE, side="right")))
        left = len(each) - count
        shown = ", ".join(each[:count])
        more = f" and {left} pair{'' if left == 1 else 's'} more" if left else ""
        if state.lower > 0.0:
            return f"Too close: {shown}{more}; least gap {told(state.lower, state.upper, 4, _UNIT)}"
        return f"Collision: {shown}{more}; deepest {depth(state.lower, state.upper, 4, _UNIT)}"
    if state.closest is None:
        return "Free: no pair is checked"
    gap = told(state.lower, state.upper, 4, _UNIT)
    return f"Free: closest are {state.closest[0]} and {state.closest[1]}, {gap} apart"


class Part(NamedTuple):
    """What moves with a link: the link itself, all of its bodies together, or an attached object."""

    name: str
    link: int
    local: Array  #: (4, 4), in the frame of the link
    color: str  #: while it is free
    items: list[Item]  #: in its own frame


def parts_of(x: Robot | Checker, style: Style) -> list[Part]:
    """Return what moves of a robot, and of a Checker what is attached to it too."""
    robot = x.robot if isinstance(x, Checker) else x
    found = []
    for k in range(len(robot.links)):
        bodies = [placed(*surface_of(body.shape), body.pose) for body in robot.bodies if body.link == k]
        if bodies:
            one, color = Drawing(), style.color(k, LINKS)
            one.body(*joined(bodies), color, look=MODEL, name=robot.links[k])
            found.append(Part(robot.links[k], k, np.eye(4), color, one.items))
    for name, link in x.attached.items() if isinstance(x, Checker) else ():
        one = Drawing()
        add(one, x.shape(name), None, COLORS[1], 1.0, outline=False, name=name)
        found.append(Part(name, robot.link_number(link), x.pose(name), COLORS[1], one.items))
    return found


def add_things(drawing: Drawing, checker: Checker, hit: frozenset[str]) -> None:
    """Add what stands around."""
    for name in checker.objects:
        color = HIT if name in hit else THINGS
        add(drawing, checker.shape(name), checker.pose(name), color, 1.0, outline=False, name=name)


def add_state(drawing: Drawing, state: State, labels: bool) -> None:
    """Mark the points that are closest, or deepest, and name whose they are."""
    if state.closest is None or not np.isfinite(state.distance):
        return
    a, b = state.points
    color = HIT if state.pairs else INK
    size = drawing.ball[1]
    add_ends(drawing, a, b, size, color)
    drawing.key("who collides" if state.pairs else "closest points", color)
    if labels:
        middle = (a + b) / 2
        text = f"{state.closest[0]} - {state.closest[1]}"
        drawing.labels.append(Label(middle + 0.05 * size * np.array([0.0, 0.0, 1.0]), text, darker(color)))


def add_ends(drawing: Drawing, a: Array, b: Array, size: float, color: str) -> None:
    """Mark two points and what is between them, smaller than elsewhere: a robot has narrow places."""
    drawing.ends(a, b, 0.65 * size, (color, color), color, framed=False)


#: Ghosts of a path.
_MOST_ON_PATH = 7


class Way(NamedTuple):
    """Where a robot goes, evenly, from its first configuration to its last, or to the first that is not free."""

    free: bool
    verdict: str  #: what is known of it, in words
    q: Array  #: (frames, dof)
    where: list[str]  #: of each frame, in words
    moved: dict[str, Array]  #: where obstacles are that move, by name, (frames, 4, 4)


class Travel(NamedTuple):
    """A way as it is shown."""

    checker: Checker  #: at its end
    way: Way
    poses: Array  #: (frames, links, 4, 4)
    states: tuple[State, ...]
    trace: Array  #: (frames, 3), the way of one link


def travel(
    checker: Checker,
    path: Any,
    *,
    moving: Moving | None = None,
    certify: bool = False,
    resolution: Number | VectorLike = 0.05,
    frames: int = 60,
    link: str | int | None = None,
) -> Travel:
    """Ask about a path, and about configurations along it; see `gjk3d.viz.motion`."""
    check_frames(frames)
    robot = checker.robot
    traced = len(robot.links) - 1 if link is None else robot.link_number(link)
    if isinstance(path, Trajectory) or callable(path):
        way = _over_time(checker, path, moving, certify, resolution, int(frames))
    elif moving:
        raise RobotError("moving: waypoints have no times: pass gjk3d.robot.Trajectory(path, times), or a spline")
    else:
        way = _over_edges(checker, path, certify, resolution, int(frames))
    there, states = checker.copy(), []
    for k in telling("asking about configuration", range(len(way.q)), len(way.q)):
        for name, poses in way.moved.items():
            there.move(name, poses[k])
        states.append(state_of(there, way.q[k]))
    links = robot.link_poses(way.q)
    return Travel(there, way, links, tuple(states), links[:, traced, :3, 3].copy())


def _over_edges(checker: Checker, path: Rows, certify: bool, resolution: Number | VectorLike, frames: int) -> Way:
    points = checker.robot.configurations(path, "path")[0]
    found = checker.path_free(points, certify=certify, resolution=resolution)
    if len(points) == 1:
        verdict = _verdict(found, "the only waypoint", "at the only waypoint")
        return Way(found.free, verdict, np.repeat(points, frames, axis=0), ["at the only waypoint"] * frames, {})
    edges = len(points) - 1
    if found.edge is not None:
        points = np.concatenate([points[: found.edge + 1], np.asarray(found.configuration)[None]])
    q, edge = along(points, frames)
    where = [f"edge {k}, from waypoint {k} to {k + 1} of {edges}" for k in edge.tolist()]
    verdict = _verdict(found, count(edges, "edge"), f"on edge {found.edge}")
    return Way(found.free, verdict, q, where, {})


def _over_time(
    checker: Checker, path: Any, moving: Moving | None, certify: bool, resolution: Number | VectorLike, frames: int
) -> Way:
    one = checker._asked(path, moving)
    found = checker.trajectory_free(path, moving=moving, certify=certify, resolution=resolution)
    start, end = one.trajectory.start, one.trajectory.end
    last = end if found.free else found.safe if np.isnan(found.hit) else found.hit
    times = np.linspace(start, last, frames)
    where = [f"at {number(time, 3)}, of {number(start, 3)} to {number(end, 3)}" for time in times]
    verdict = _verdict(found, f"from {number(start, 3)} to {number(end, 3)}", f"at {number(last)}")
    return Way(found.free, verdict, one.trajectory.at(times), where, one.moved(moving, times))


def _verdict(found: PathCheck | TrajectoryCheck, whole: str, place: str) -> str:
    if found.free:
        return f"Free: {whole}"
    what = "Unresolved" if np.isnan(found.hit) else "Collision"
    return f"{what} {place}, {' with '.join(found.pair or ())}"


def check_frames(frames: Any) -> None:
    """Refuse a number of pictures that is none, or too few to move."""
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 2:
        raise RobotError(f"frames is {frames!r}, expected a whole number of at least 2")


def along(points: Array, count: int) -> tuple[Array, Ints]:
    """Return configurations evenly along waypoints, by the joint that moves most, and the edge that each is on."""
    lengths = np.abs(np.diff(points, axis=0)).max(axis=1) if points.shape[1] else np.zeros(len(points) - 1)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0.0, ends[-1], count)
    edge = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(lengths) - 1)
    length = lengths[edge]
    share = np.where(length > 0.0, (at - ends[edge]) / np.where(length > 0.0, length, 1.0), 0.0)
    share[-1] = 1.0
    edge[-1] = len(lengths) - 1
    return points[edge] + share[:, None] * (points[edge + 1] - points[edge]), edge


def draw_travel(x: Travel, style: Style) -> Drawing:
    """Draw a path as one picture: ghosts, the last configuration solid, the line that a link leaves."""
    drawing = draw_robot(x.checker, style, q=x.way.q[evenly(len(x.way.q), _MOST_ON_PATH)])
    drawing.words = [style.name(0, x.checker.robot.name or "robot"), x.way.verdict]
    color = COLORS[1] if x.way.free else HIT
    drawing.lines(np.stack([x.trace[:-1], x.trace[1:]], axis=1), color, width=5.0)
    return drawing
