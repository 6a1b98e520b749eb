"""Drawings of robots at configurations and along paths, with colliding links or the closest pair marked.

A path is shown at evenly spaced configurations, with the collisions that a checker reports at each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import RobotError
from gjk3d.query.raycast import raycast
from gjk3d.robot import Checker, Robot
from gjk3d.robot.motions import PathCheck
from gjk3d.robot.timed import Moving, TrajectoryCheck
from gjk3d.robot.trajectories import Trajectory
from gjk3d.typing import Array, Ints, Number, Row, Rows, VectorLike
from gjk3d.viz.colors import COLORS, GREY, INK, SEPARATION, darker
from gjk3d.viz.drawing import LINES, MODEL, Drawing, Item, Style, camera_of, joined, placed, surface_of
from gjk3d.viz.image_files import telling
from gjk3d.viz.kinds.bodies import add, evenly
from gjk3d.wording import count, expected_names, format_bounds, format_depth, format_vector, number

# --- playback --------------------------------------------------------------------------------------------------------


Pair = tuple[str, str]


class State(NamedTuple):
    """The colliding pairs at one configuration, and the closest pair, which is the deepest pair in a collision."""

    pairs: tuple[Pair, ...]  #: pairs that collide, the deepest first
    distance: float  #: signed distance of the closest pair in metres; infinite if no pair is checked
    lower: float  #: bounds of the distance
    upper: float
    closest: Pair | None
    points: tuple[Array, Array]  #: the closest points of this pair in the world

    @property
    def hit(self) -> frozenset[str]:
        """Names of the links and objects that collide."""
        return frozenset(name for pair in self.pairs for name in pair)


def state_of(checker: Checker, q: Row) -> State:
    """Return the colliding pairs and the closest pair at a configuration."""
    collisions = checker.collisions(q)
    pairs = tuple(dict.fromkeys((collision.a, collision.b) for collision in collisions))
    near: Any = collisions[0] if collisions else checker.clearance(q)
    ends = near.point_a, near.point_b
    return State(pairs, float(near.distance), float(near.lower), float(near.upper), near.pair, ends)


class PathFrames(NamedTuple):
    """Evenly spaced configurations from the start of a path to its end, or to the first one that is not free."""

    free: bool
    verdict: str  #: result of the check of the path, as text
    q: Array  #: configurations, (frames, dof)
    where: list[str]  #: position of each configuration on the path, as text
    moved: dict[str, Array]  #: poses of moving obstacles by name, (frames, 4, 4)


def path_frames(
    checker: Checker, path: Any, moving: Moving | None, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    """Check waypoints or a trajectory, and return ``frames`` configurations along the path.

    Raises
    ------
    RobotError
        There are fewer than two frames, obstacles move along a path without times, or the path is invalid.
    """
    check_frames(frames)
    if isinstance(path, (Trajectory, Mapping)) or callable(path):
        return _over_time(checker, path, moving, certify, resolution, int(frames))
    if moving:
        raise RobotError("moving needs times, but waypoints are given. Pass gjk3d.robot.Trajectory(path, times)")
    return _over_edges(checker, path, certify, resolution, int(frames))


def _over_edges(
    checker: Checker, path: Rows, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    points = checker.robot.configurations(path, "path")[0]
    check = checker.path_free(points, certify=certify, resolution=resolution)
    if len(points) == 1:
        verdict = _verdict(check, "the only waypoint", "at the only waypoint")
        return PathFrames(check.free, verdict, np.repeat(points, frames, axis=0), ["at the only waypoint"] * frames, {})
    edges = len(points) - 1
    if check.edge is not None:
        points = np.concatenate([points[: check.edge + 1], np.asarray(check.configuration)[None]])
    q, edge = along(points, frames)
    where = [f"edge {k + 1} of {edges}, from waypoint {k + 1} to {k + 2}" for k in edge.tolist()]
    verdict = _verdict(
        check,
        f"{count(edges, 'edge')}, {_EVIDENCE[certify]}",
        "" if check.edge is None else f"on edge {check.edge + 1} of {edges}",
    )
    return PathFrames(check.free, verdict, q, where, {})


def _over_time(
    checker: Checker, path: Any, moving: Moving | None, certify: bool, resolution: Number | VectorLike, frames: int
) -> PathFrames:
    query = checker._timed_query(path, moving)
    check = checker.trajectory_free(path, moving=moving, certify=certify, resolution=resolution)
    start, end = query.trajectory.start, query.trajectory.end
    last = end if check.free else check.safe if np.isnan(check.hit) else check.hit
    times = np.linspace(start, last, frames)
    where = [f"at {number(time, 3)}, of {number(start, 3)} to {number(end, 3)}" for time in times]
    extent = f"from {number(start, 3)} to {number(end, 3)}, {_EVIDENCE[certify]}"
    verdict = _verdict(check, extent, f"at {number(last)}")
    return PathFrames(check.free, verdict, query.trajectory.at(times), where, query.moved(moving, times))


#: text about the extent of the check, by whether it is certified
_EVIDENCE = {True: "proven between samples too", False: "at every sample"}


def _verdict(check: PathCheck | TrajectoryCheck, extent: str, place: str) -> str:
    if check.free:
        return f"Free: {extent}"
    what = "Unresolved" if np.isnan(check.hit) else "Collision"
    return f"{what} {place}, {' with '.join(check.pair or ())}"


def check_frames(frames: Any) -> None:
    """Raise `RobotError` unless the number of frames is an integer of at least 2."""
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 2:
        raise RobotError(f"frames is {frames!r}, expected an integer of at least 2")


def along(points: Array, count: int) -> tuple[Array, Ints]:
    """Return ``count`` configurations along waypoints, and the index of the edge on which each configuration is.

    The greatest change of a joint value from one configuration to the next is the same along the path.
    """
    lengths = np.abs(np.diff(points, axis=0)).max(axis=1, initial=0.0)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0.0, ends[-1], count)
    edge = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(lengths) - 1)
    share = (at - ends[edge]) / np.where(lengths > 0.0, lengths, 1.0)[edge]
    share[-1], edge[-1] = 1.0, len(lengths) - 1  # exactly the last waypoint
    return points[edge] + share[:, None] * (points[edge + 1] - points[edge]), edge


# --- drawings --------------------------------------------------------------------------------------------------------


#: Colours of links in turn, obstacles, colliding links and the path of a link.
LINKS, THINGS, HIT, TRAIL = ("#56B4E9", "#2F8FC8"), GREY, SEPARATION, COLORS[1]
#: Direction to the camera from the front, the right and above, since arms reach forward along x.
VIEW = np.array([0.62, -0.66, 0.43]) / np.linalg.norm([0.62, -0.66, 0.43])
#: Rotations of `VIEW` about z, the smallest first.
_TURNS = Rotation.from_euler("z", np.array([0, 40, -40, 80, -80, 120, -120, 180])[:, None], degrees=True)
#: Directions to the camera from all sides, the usual one first.
VIEWS = _TURNS.apply(VIEW)
MOST_GHOSTS = 9
_MOST_NUMBERS = 8  #: greatest number of values of a configuration in the caption
_LINE = 46  #: number of characters of the caption for names of pairs
_UNIT = "m"  #: the unit of a URDF by its standard
#: Radius of surroundings that are shown completely, and of the picture of larger ones, in radii of the robot.
_ALL, _NEAR = 2.5, 1.5


def draw_robot(x: Robot | Checker, style: Style, *, q: Row | None = None, labels: bool = True) -> Drawing:
    """Draw a robot, and the obstacles of a Checker.

    Parameters
    ----------
    q : (dof,) or (n, dof) float, optional
        One or several configurations. The last is opaque, and the others are ghosts. By default all values are 0.
    labels : bool
        Whether the colliding or closest pair has a label.
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
            at, alpha = poses[part.link] @ part.local, fade * style.alpha(0, 1.0)
            for item in part.items:
                tone = darker(color) if item.look == LINES else color
                drawing.items.append(item.moved(at, color=tone, opacity=alpha))
    name, (center, radius) = style.name(0, robot.name or "robot"), drawing.ball
    drawing.words = [f"{name}: {count(len(robot.links), 'link')}, {count(len(robot.joint_names), 'joint')}"]
    if len(rows) == 1 and 0 < robot.dof <= _MOST_NUMBERS:
        drawing.words[0] += f", at {format_vector(rows[0], 3)}"
    drawing.key(name, style.color(0, LINKS))
    if isinstance(x, Checker) and x.objects:
        add_things(drawing, x, hit)
        if drawing.ball[1] > _ALL * radius:  # in a large hall the robot would be too small
            drawing.focus = center, _NEAR * radius
        drawing.key("obstacles", THINGS)
    if len(rows) > 1:
        drawing.words.append(f"{len(rows)} configurations, the last one opaque")
    if state is not None:
        drawing.words.append(words_for(state))
        if hit:
            drawing.view = _clear_view(drawing, state)
        add_state(drawing, state, labels)
    return drawing


def _clear_view(drawing: Drawing, state: State) -> Array:
    """Return the direction to the camera from which other bodies hide the least of a collision."""
    obstacles = [item for item in drawing.items if item.name not in state.hit]
    solid = [(item.vertices, item.faces) for item in obstacles if item.opacity == 1.0 and len(item.faces)]
    if not solid:
        return np.asarray(VIEW)
    eyes = np.array([camera_of(replace(drawing, view=view)).eye for view in VIEWS])
    places = (state.points[0] + state.points[1]) / 2 + 0.04 * drawing.ball[1] * np.vstack([np.eye(3), -np.eye(3)])
    starts = np.tile(places, (len(eyes), 1))
    hidden = raycast(Mesh(*joined(solid)), starts, np.repeat(eyes, len(places), axis=0) - starts).hit
    # a third of the surroundings of the collision may be hidden, since the links of the robot always hide some
    return np.asarray(VIEWS[np.argmin(np.maximum(hidden.reshape(len(eyes), -1).mean(axis=1), 1.0 / 3.0))])


def words_for(state: State) -> str:
    """Return one line of text for a state: its collisions, or its closest pair with the gap."""
    if state.pairs:
        lines = [f"{a} with {b}" for a, b in state.pairs]
        lengths = np.cumsum([len(text) + 2 for text in lines])
        listed = max(1, int(np.searchsorted(lengths, _LINE, side="right")))
        left, shown = len(lines) - listed, ", ".join(lines[:listed])
        more = f" and {count(left, 'pair')} more" if left else ""
        if state.lower > 0.0:
            return f"Too close: {shown}{more}, least gap {format_bounds(state.lower, state.upper, 4, _UNIT)}"
        return f"Collision: {shown}{more}, greatest depth {format_depth(state.lower, state.upper, 4, _UNIT)}"
    if state.closest is None:
        return "Free: no pair is checked"
    gap = format_bounds(state.lower, state.upper, 4, _UNIT)
    return f"Free: closest are {state.closest[0]} and {state.closest[1]}, {gap} apart"


class Part(NamedTuple):
    """A part that moves with a link: all bodies of the link together, or an attached object."""

    name: str
    link: int
    local: Array  #: (4, 4) pose in the frame of the link
    color: str  #: colour of a free part
    items: list[Item]  #: in the frame of the part


def parts_of(x: Robot | Checker, style: Style) -> list[Part]:
    """Return the moving parts of a robot, and the attached objects of a Checker."""
    robot = x.robot if isinstance(x, Checker) else x
    parts = []
    for k in range(len(robot.links)):
        bodies = [placed(*surface_of(body.shape), body.pose) for body in robot.bodies if body.link == k]
        if bodies:
            link_drawing, color = Drawing(), style.color(k, LINKS)
            link_drawing.body(*joined(bodies), color, look=MODEL, name=robot.links[k])
            parts.append(Part(robot.links[k], k, np.eye(4), color, link_drawing.items))
    for name, link in x.attached.items() if isinstance(x, Checker) else ():
        base_drawing = Drawing()
        add(base_drawing, x.shape(name), None, COLORS[1], 1.0, outline=False, name=name)
        parts.append(Part(name, robot.link_number(link), x.pose(name), COLORS[1], base_drawing.items))
    return parts


def labels_of(robot: Robot, names: Sequence[str]) -> dict[str, int]:
    """Return a dictionary from slider labels to columns of q. A joint with several values has several sliders."""
    labels: dict[str, int] = {}
    for name in names:
        if name not in robot.columns:
            raise RobotError(f"joints: {name!r} is not a joint that moves, {expected_names(name, robot.joint_names)}")
        columns = robot.columns[name]
        several = columns.stop - columns.start > 1
        for k, column in enumerate(range(columns.start, columns.stop)):
            labels[f"{name} {k}" if several else name] = column
    return labels


def slider_range(robot: Robot, column: int, value: float) -> tuple[float, float]:
    """Return the ends of a slider: the limits of the joint, or -pi and pi without limits, extended to ``value``."""
    low, high = float(robot.lower[column]), float(robot.upper[column])
    low, high = (low if np.isfinite(low) else -np.pi), (high if np.isfinite(high) else np.pi)
    return min(low, value), max(high, value)


def add_things(drawing: Drawing, checker: Checker, hit: frozenset[str]) -> None:
    """Add the obstacles of a checker. Obstacles with a name in ``hit`` are vermilion."""
    for name in checker.objects:
        color = HIT if name in hit else THINGS
        add(drawing, checker.shape(name), checker.pose(name), color, 1.0, outline=False, name=name)


def add_state(drawing: Drawing, state: State, labels: bool) -> None:
    """Mark the closest or deepest points of a state, and label the pair with these points."""
    if state.closest is None or not np.isfinite(state.distance):
        return
    a, b = state.points
    color = HIT if state.pairs else INK
    mark_ends(drawing, a, b, color)
    drawing.key("colliding links" if state.pairs else "closest points", color)
    if labels:
        drawing.label((a + b) / 2, " - ".join(state.closest), darker(color), state.points)


def mark_ends(drawing: Drawing, a: Array, b: Array, color: str) -> None:
    """Mark two points and the segment between them."""
    drawing.ends(a, b, 0.65 * drawing.ball[1], (color, color), color, ("", "", ""), framed=False)


#: Greatest number of configurations in the picture of a path.
_MOST_ON_PATH = 7


class Travel(NamedTuple):
    """A path with the result of the checker at each of its configurations, for pictures."""

    checker: Checker  #: copy of the checker, with moving obstacles at the end of the path
    way: PathFrames
    poses: Array  #: (frames, links, 4, 4)
    states: tuple[State, ...]
    link: str  #: name of the link whose path is drawn
    trace: Array  #: (frames, 3), the path of the origin of this link


def travel(checker: Checker, way: PathFrames, link: int = -1) -> Travel:
    """Return the states of a checker along a path, and the path of the origin of the link with the index ``link``."""
    copied, states = checker.copy(), []
    for k in telling("checking configuration", range(len(way.q)), len(way.q)):
        for name, poses in way.moved.items():
            copied.move(name, poses[k])
        states.append(state_of(copied, way.q[k]))
    links = checker.robot.link_poses(way.q)
    return Travel(copied, way, links, tuple(states), checker.robot.links[link], links[:, link, :3, 3].copy())


def draw_travel(x: Travel, style: Style) -> Drawing:
    """Draw a path as one picture: the last configuration opaque, earlier ones as ghosts, and the path of a link."""
    drawing = draw_robot(x.checker, style, q=x.way.q[evenly(len(x.way.q), _MOST_ON_PATH)])
    drawing.words[1:] = [x.way.verdict]
    drawing.lines(np.stack([x.trace[:-1], x.trace[1:]], axis=1), TRAIL, width=5.0, key=f"path of {x.link}")
    return drawing
